/* Roaring bitmaps in the portable format, as deletion vectors have them: read with every doubt
 * told, and written with runs where those are shorter, as Spark does. */
#include "base/buf.h"
#include "delta/deletion_vector.h"

#define MAGIC          UINT32_C(1681511377)
#define MAGIC_OBSOLETE UINT32_C(1681511376)
#define COOKIE_PLAIN   12346 /* no container of runs */
#define COOKIE_RUNS    12347
#define OFFSETS_MIN    4 /* containers that bring offsets along beside runs */
#define BITMAP_BYTES   8192
#define CONTAINERS_MAX 65536

typedef struct Walk {
    Bytes         data;
    size_t        at;
    uint64_t      row_limit;
    RowSet       *out;
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
    if (last >= walk->row_limit) return fail_at(walk, at, "a position beyond the rows of the file");
    row_set_add(walk->out, from, last);
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
        for (unsigned bit = 0, last; bytes[i] >> bit != 0; bit = last + 1) {
            while (!(bytes[i] >> bit & 1))
                bit++;
            for (last = bit; last < 7 && bytes[i] >> (last + 1) & 1;)
                last++;
            found += last - bit + 1;
            if (!put_range(walk, start + i, base + 8 * i + bit, base + 8 * i + last)) return false;
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
        if (from < next || from + length > ROW_SET_CHUNK_ROWS)
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
    return count <= ROW_SET_ARRAY_MAX ? walk_array(walk, base, count)
                                      : walk_bitmap(walk, base, count);
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

bool deletion_rows_read(Bytes data, uint64_t row_limit, Arena *arena, RowSet *out,
                        VectorDamage *damage)
{
    Walk walk = {.data = data, .row_limit = row_limit, .out = out, .damage = damage};

    *out = row_set_begin(arena);
    if (!walk_vector(&walk)) return false;
    row_set_end(out);
    return true;
}

/* --- writing --- */

static void put_number(Buf *buf, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_append_char(buf, (char)(value >> (8 * i) & 0xFF));
}

static size_t container_bytes(const RowSetChunk *chunk)
{
    switch (chunk->form) {
    case ROW_SET_ARRAY: return 2 * (size_t)chunk->count;
    case ROW_SET_BITS: return BITMAP_BYTES;
    case ROW_SET_RUNS: return 2 + 4 * (size_t)chunk->run_count;
    }
    return 0;
}

static void write_container(Buf *buf, const RowSetChunk *chunk)
{
    switch (chunk->form) {
    case ROW_SET_ARRAY:
        for (size_t i = 0; i < chunk->count; i++)
            put_number(buf, chunk->values[i], 2);
        return;
    case ROW_SET_BITS:
        for (size_t i = 0; i < ROW_SET_WORDS; i++)
            put_number(buf, chunk->words[i], sizeof *chunk->words);
        return;
    case ROW_SET_RUNS:
        put_number(buf, chunk->run_count, 2);
        for (size_t i = 0; i < 2 * (size_t)chunk->run_count; i++)
            put_number(buf, chunk->values[i], 2);
        return;
    }
}

/* The cookie, and which containers are runs. */
static void write_cookie(Buf *buf, const RowSetChunk *chunks, size_t count, bool has_runs)
{
    if (!has_runs) {
        put_number(buf, COOKIE_PLAIN, 4);
        put_number(buf, count, 4);
        return;
    }
    put_number(buf, COOKIE_RUNS | (uint64_t)(count - 1) << 16, 4);
    for (size_t i = 0; i < count; i += 8) {
        unsigned flags = 0;
        for (size_t bit = 0; bit < 8 && i + bit < count; bit++)
            flags |= (unsigned)(chunks[i + bit].form == ROW_SET_RUNS) << bit;
        put_number(buf, flags, 1);
    }
}

/* One 32-bit bitmap: the chunks of one bucket. */
static void write_bucket(Buf *buf, const RowSetChunk *chunks, size_t count)
{
    size_t start    = buf->len;
    bool   has_runs = false;

    for (size_t i = 0; i < count; i++)
        has_runs = has_runs || chunks[i].form == ROW_SET_RUNS;
    write_cookie(buf, chunks, count, has_runs);
    for (size_t i = 0; i < count; i++) {
        put_number(buf, chunks[i].base >> 16, 2);
        put_number(buf, chunks[i].count - 1, 2);
    }
    if (!has_runs || count >= OFFSETS_MIN) {
        size_t at = buf->len - start + 4 * count;
        for (size_t i = 0; i < count; i++) {
            put_number(buf, at, 4);
            at += container_bytes(&chunks[i]);
        }
    }
    for (size_t i = 0; i < count; i++)
        write_container(buf, &chunks[i]);
}

/* How many chunks from `from` on are of its bucket. */
static size_t bucket_chunks(const RowSet *rows, size_t from)
{
    size_t end = from;
    while (end < rows->chunk_count && rows->chunks[end].base >> 32 == rows->chunks[from].base >> 32)
        end++;
    return end - from;
}

Bytes deletion_rows_write(const RowSet *rows, Arena *arena)
{
    Buf      buf          = buf_new(arena, 0);
    uint64_t bucket_count = 0;

    for (size_t i = 0; i < rows->chunk_count; i += bucket_chunks(rows, i))
        bucket_count++;
    put_number(&buf, MAGIC, 4);
    put_number(&buf, bucket_count, 8);
    for (size_t i = 0; i < rows->chunk_count;) {
        size_t count = bucket_chunks(rows, i);
        put_number(&buf, rows->chunks[i].base >> 32, 4);
        write_bucket(&buf, rows->chunks + i, count);
        i += count;
    }
    return str_bytes(buf_str(&buf));
}
