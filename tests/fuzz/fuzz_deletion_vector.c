/* Any bytes as a deletion vector: what is accepted has as many bits as it counts, all below the
 * limit, and any text is Z85 or is refused. */
#include "delta/deletion_vector.h"

#include <assert.h>

#define ROW_LIMIT 200000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena       *arena = arena_new();
    DeletionBits bits;
    VectorDamage damage;
    Bytes        decoded;
    uint64_t     found = 0;

    if (deletion_bits_read((Bytes){data, size}, ROW_LIMIT, arena, &bits, &damage)) {
        assert(bits.bit_count <= ROW_LIMIT);
        for (uint64_t i = 0; i < bits.bit_count; i++)
            found += bits.bytes[i / 8] >> (7 - i % 8) & 1;
        assert(found == bits.row_count);
    } else {
        assert(damage.what && damage.at <= size);
    }
    if (z85_decode((Str){(const char *)data, size}, arena, &decoded))
        assert(decoded.len == size / 5 * 4);
    arena_close(arena);
    return 0;
}
