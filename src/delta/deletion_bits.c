/* Roaring bitmaps in the portable format, as deletion vectors have them. The bytes are walked
 * twice: to check them and find the last position, then to set the bits. */
#include "delta/deletion_vector.h"

#define MAGIC          UINT32_C(1681511377)
#define MAGIC_OBSOLETE UINT32_C(1681511376)
#define COOKIE_PLAIN   12346 /* no container of runs */
#define COOKIE_RUNS    12347
#define OFFSETS_MIN    4 /* containers that bring offsets along beside runs */
#define ARRAY_MAX      4096
#define BITMAP_BYTES   8192
#define CONTAINER_ROWS 65536
#define CONTAINERS_MAX 65536

typedef struct Walk {
    Bytes         data;
    size_t        at;
    uint64_t      row_limit;
    DeletionBits *out; /* bytes NULL: only check */
    VectorDamage *damage;
} Walk;

static bool fail_at(Walk *walk, size_t at, const char *what)
{
    *walk->damage = (VectorDamage){.what = what, .at = at};
    return false;
}

static bool take(Walk *walk, size_t len, const uint8_t **out)
{
    if (len > walk->data.len - walk->at) return fail_at(walk, walk->at, "it ends too early");
    *out = walk->data.ptr + walk->at;
    walk->at += len;
    return true;
}

static uint64_t little_endian(const uint8_t *bytes, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static uint32_t u16_at(const uint8_t *bytes, size_t index)
{
    return (uint32_t)little_endian(bytes + 2 * index, 2);
}

static bool take_number(Walk *walk, size_t len, uint64_t *out)
{
    const uint8_t *bytes;
    if (!take(walk, len, &bytes)) return false;
    *out = little_endian(bytes, len);
    return true;
}

/* Positions `from` to `last`, which grow from call to call. */
static bool put_range(Walk *walk, size_t at, uint64_t from, uint64_t last)
{
    DeletionBits *out = walk->out;

    if (last >= walk->row_limit) return fail_at(walk, at, "a position beyond the rows of the file");
    out->row_count += last - from + 1;
    out->bit_count = last + 1;
    for (uint64_t i = from; out->bytes && i <= last; i++)
        out->bytes[i / 8] |= (uint8_t)(0x80 >> (i % 8));
    return true;
}

static bool walk_array(Walk *walk, uint64_t base, size_t count)
{
    const uint8_t *bytes;
    size_t         start = walk->at;

    if (!take(walk, 2 * count, &bytes)) return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t position = base + u16_at(bytes, i);
        if (i > 0 && u16_at(bytes, i) <= u16_at(bytes, i - 1))
            return fail_at(walk, start + 2 * i, "the positions of an array do not grow");
        if (!put_range(walk, start + 2 * i, position, position)) return false;
    }
    return true;
}

static bool walk_bitmap(Walk *walk, uint64_t base, size_t count)
{
    const uint8_t *bytes;
    size_t         start = walk->at, found = 0;

    if (!take(walk, BITMAP_BYTES, &bytes)) return false;
    for (size_t i = 0; i < BITMAP_BYTES; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            uint64_t position = base + 8 * i + bit;
            if (!(bytes[i] & (1U << bit))) continue;
            found++;
            if (!put_range(walk, start + i, position, position)) return false;
        }
    }
    if (found != count)
        return fail_at(walk, start, "a bitmap has not as many positions as it says");
    return true;
}

static bool walk_runs(Walk *walk, uint64_t base, size_t count)
{
    uint64_t       run_count;
    const uint8_t *bytes;
    size_t         start = walk->at, found = 0;
    uint32_t       next = 0; /* the first position that the next run may have */

    if (!take_number(walk, 2, &run_count) || !take(walk, 4 * (size_t)run_count, &bytes))
        return false;
    for (size_t i = 0; i < run_count; i++) {
        uint32_t from = u16_at(bytes, 2 * i), length = u16_at(bytes, 2 * i + 1) + 1;
        if (from < next || from + length > CONTAINER_ROWS)
            return fail_at(walk, start + 2 + 4 * i, "runs that overlap or leave their container");
        if (!put_range(walk, start + 2 + 4 * i, base + from, base + from + length - 1))
            return false;
        next = from + length;
        found += length;
    }
    if (found != count) return fail_at(walk, start, "runs have not as many positions as they say");
    return true;
}

/* The heads of the containers of one bitmap. */
typedef struct Heads {
    size_t         count;
    const uint8_t *run_flags; /* NULL: no runs */
    const uint8_t *keys;      /* pairs: key, cardinality - 1 */
    const uint8_t *offsets;   /* NULL: none */
} Heads;

static bool walk_heads(Walk *walk, Heads *out)
{
    size_t   start = walk->at;
    uint64_t cookie, count;

    *out = (Heads){.count = 0};
    if (!take_number(walk, 4, &cookie)) return false;
    if ((cookie & 0xFFFF) == COOKIE_RUNS) {
        count = (cookie >> 16) + 1;
        if (!take(walk, ((size_t)count + 7) / 8, &out->run_flags)) return false;
    } else if (cookie == COOKIE_PLAIN) {
        if (!take_number(walk, 4, &count)) return false;
        if (count > CONTAINERS_MAX) return fail_at(walk, start + 4, "too many containers");
    } else {
        return fail_at(walk, start, "no Roaring bitmap begins like this");
    }
    out->count = (size_t)count;
    if (!take(walk, 4 * out->count, &out->keys)) return false;
    return (out->run_flags && out->count < OFFSETS_MIN) ||
           take(walk, 4 * out->count, &out->offsets);
}

static bool walk_container(Walk *walk, const Heads *heads, size_t index, size_t start,
                           uint64_t bucket)
{
    uint32_t key   = u16_at(heads->keys, 2 * index);
    size_t   count = u16_at(heads->keys, 2 * index + 1) + 1;
    uint64_t base  = bucket << 32 | (uint64_t)key << 16;

    if (index > 0 && key <= u16_at(heads->keys, 2 * (index - 1)))
        return fail_at(walk, walk->at, "the keys of the containers do not grow");
    if (heads->offsets && little_endian(heads->offsets + 4 * index, 4) != walk->at - start)
        return fail_at(walk, walk->at, "a container does not lie where its offset says");
    if (heads->run_flags && (heads->run_flags[index / 8] >> (index % 8) & 1))
        return walk_runs(walk, base, count);
    return count <= ARRAY_MAX ? walk_array(walk, base, count) : walk_bitmap(walk, base, count);
}

static bool walk_bucket(Walk *walk, uint64_t bucket)
{
    size_t start = walk->at;
    Heads  heads;

    if (!walk_heads(walk, &heads)) return false;
    for (size_t i = 0; i < heads.count; i++)
        if (!walk_container(walk, &heads, i, start, bucket)) return false;
    return true;
}

static bool walk_vector(Walk *walk)
{
    uint64_t magic, bucket_count, bucket, before = 0;

    walk->at      = 0;
    *walk->out    = (DeletionBits){.bytes = walk->out->bytes};
    *walk->damage = (VectorDamage){.what = NULL};
    if (!take_number(walk, 4, &magic)) return false;
    if (magic != MAGIC) {
        (void)fail_at(walk, 0, "its magic number is another");
        walk->damage->is_obsolete = magic == MAGIC_OBSOLETE;
        return false;
    }
    if (!take_number(walk, 8, &bucket_count)) return false;
    for (uint64_t i = 0; i < bucket_count; i++) {
        size_t at = walk->at;
        if (!take_number(walk, 4, &bucket)) return false;
        if (bucket > INT32_MAX || (i > 0 && bucket <= before))
            return fail_at(walk, at, "the keys of the bitmaps do not grow");
        if (!walk_bucket(walk, bucket)) return false;
        before = bucket;
    }
    return walk->at == walk->data.len || fail_at(walk, walk->at, "something stands behind its end");
}

bool deletion_bits_read(Bytes data, uint64_t row_limit, Arena *arena, DeletionBits *out,
                        VectorDamage *damage)
{
    Walk walk = {.data = data, .row_limit = row_limit, .out = out, .damage = damage};

    out->bytes = NULL;
    if (!walk_vector(&walk)) return false;
    out->bytes = ARENA_ARRAY(arena, uint8_t, (size_t)(out->bit_count / 8) + 1);
    return walk_vector(&walk);
}
