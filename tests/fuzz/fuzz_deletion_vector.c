/* Any bytes as a deletion vector: what is accepted has as many rows as it counts, all below the
 * limit, and is read again from what is written of it; any text is Z85 or is refused. */
#include "delta/deletion_vector.h"

#include <assert.h>

#define ROW_LIMIT 200000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena       *arena = arena_new();
    RowSet       rows, again;
    VectorDamage damage;
    Bytes        decoded;
    uint64_t     found = 0;

    if (deletion_rows_read((Bytes){data, size}, ROW_LIMIT, arena, &rows, &damage)) {
        assert(rows.next <= ROW_LIMIT);
        for (uint64_t i = 0; i < rows.next; i++)
            found += row_set_has(&rows, i);
        assert(found == rows.row_count);
        Bytes written = deletion_rows_write(&rows, arena);
        assert(deletion_rows_read(written, ROW_LIMIT, arena, &again, &damage));
        assert(str_equal(bytes_str(written), bytes_str(deletion_rows_write(&again, arena))));
        assert(again.row_count == rows.row_count && again.next == rows.next);
    } else {
        assert(damage.what && damage.at <= size);
    }
    if (z85_decode((Str){(const char *)data, size}, arena, &decoded))
        assert(decoded.len == size / 5 * 4);
    arena_close(arena);
    return 0;
}
