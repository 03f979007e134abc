/* row_set.c - chunks of a set of rows, and their three forms. */
#include "types/row_set.h"

#include <assert.h>
#include <string.h>

#define WORD_BITS       64
#define RUN_COUNT_BYTES 2 /* a chunk of runs says how many, where it is written down */

RowSet row_set_begin(Arena *arena)
{
    return (RowSet){.arena = arena};
}

/* --- filling --- */

static uint64_t low_bits(uint32_t count)
{
    return count >= WORD_BITS ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* Bits `from` to `last` of a chunk. */
static void set_bits(uint64_t *words, uint32_t from, uint32_t last)
{
    for (uint32_t word = from / WORD_BITS; word <= last / WORD_BITS; word++) {
        uint32_t base = word * WORD_BITS;
        uint32_t low  = from > base ? from - base : 0;
        uint32_t high = last - base >= WORD_BITS ? WORD_BITS : last - base + 1;
        words[word] |= low_bits(high) & ~low_bits(low);
    }
}

/* The next bit from `at` on that is set, or (`is_set` false) is not; ROW_SET_CHUNK_ROWS: none. */
static uint32_t find_bit(const uint64_t *words, uint32_t at, bool is_set)
{
    while (at < ROW_SET_CHUNK_ROWS) {
        uint64_t word = is_set ? words[at / WORD_BITS] : ~words[at / WORD_BITS];
        word &= ~low_bits(at % WORD_BITS);
        if (word != 0) return at / WORD_BITS * WORD_BITS + (uint32_t)__builtin_ctzll(word);
        at = (at / WORD_BITS + 1) * WORD_BITS;
    }
    return ROW_SET_CHUNK_ROWS;
}

static uint32_t count_runs(const uint64_t *words)
{
    uint32_t count = 0;
    uint64_t carry = 0; /* the bit before the word */

    for (size_t i = 0; i < ROW_SET_WORDS; i++) {
        count += (uint32_t)__builtin_popcountll(words[i] & ~(words[i] << 1 | carry));
        carry = words[i] >> (WORD_BITS - 1);
    }
    return count;
}

static void keep_array(RowSetChunk *chunk, const uint64_t *words, Arena *arena)
{
    size_t count = 0;

    chunk->form   = ROW_SET_ARRAY;
    chunk->values = ARENA_ARRAY(arena, uint16_t, chunk->count);
    for (uint32_t at = find_bit(words, 0, true); at < ROW_SET_CHUNK_ROWS;
         at          = find_bit(words, at + 1, true))
        chunk->values[count++] = (uint16_t)at;
}

static void keep_runs(RowSetChunk *chunk, const uint64_t *words, Arena *arena)
{
    size_t count = 0;

    chunk->form   = ROW_SET_RUNS;
    chunk->values = ARENA_ARRAY(arena, uint16_t, 2 * (size_t)chunk->run_count);
    for (uint32_t at = find_bit(words, 0, true); at < ROW_SET_CHUNK_ROWS;) {
        uint32_t end           = find_bit(words, at, false);
        chunk->values[count++] = (uint16_t)at;
        chunk->values[count++] = (uint16_t)(end - at - 1);
        at                     = find_bit(words, end, true);
    }
}

static RowSetChunk *new_chunk(RowSet *set)
{
    if (set->chunk_count == set->chunk_capacity) {
        size_t       capacity = set->chunk_capacity ? 2 * set->chunk_capacity : 4;
        RowSetChunk *chunks   = ARENA_ARRAY(set->arena, RowSetChunk, capacity);
        if (set->chunk_count > 0) memcpy(chunks, set->chunks, set->chunk_count * sizeof *chunks);
        set->chunks         = chunks;
        set->chunk_capacity = capacity;
    }
    return &set->chunks[set->chunk_count++];
}

static void close_chunk(RowSet *set)
{
    if (set->open_count == 0) return;

    RowSetChunk *chunk      = new_chunk(set);
    size_t       bits_bytes = ROW_SET_WORDS * sizeof(uint64_t);

    *chunk = (RowSetChunk){
        .base = set->open_base, .count = set->open_count, .run_count = count_runs(set->open)};
    size_t array_bytes = 2 * (size_t)chunk->count;
    size_t run_bytes   = RUN_COUNT_BYTES + 4 * (size_t)chunk->run_count;
    if (run_bytes < array_bytes && run_bytes < bits_bytes) {
        keep_runs(chunk, set->open, set->arena);
    } else if (chunk->count <= ROW_SET_ARRAY_MAX) {
        keep_array(chunk, set->open, set->arena);
    } else {
        chunk->form  = ROW_SET_BITS;
        chunk->words = ARENA_ARRAY(set->arena, uint64_t, ROW_SET_WORDS);
        memcpy(chunk->words, set->open, bits_bytes);
    }
    memset(set->open, 0, bits_bytes);
    set->open_count = 0;
}

void row_set_add(RowSet *set, uint64_t first, uint64_t last)
{
    assert(first >= set->next && last >= first && last < UINT64_MAX);
    if (!set->open) set->open = ARENA_ARRAY(set->arena, uint64_t, ROW_SET_WORDS);
    set->next = last + 1;
    set->row_count += last - first + 1;
    while (first <= last) {
        uint64_t base = first / ROW_SET_CHUNK_ROWS * ROW_SET_CHUNK_ROWS;
        uint64_t end  = last - base >= ROW_SET_CHUNK_ROWS ? base + ROW_SET_CHUNK_ROWS - 1 : last;
        if (base != set->open_base) close_chunk(set);
        set->open_base = base;
        set->open_count += (uint32_t)(end - first + 1);
        set_bits(set->open, (uint32_t)(first - base), (uint32_t)(end - base));
        first = end + 1;
    }
}

void row_set_end(RowSet *set)
{
    close_chunk(set);
    set->open = NULL;
}

/* --- reading --- */

static bool next_in_chunk(const RowSetChunk *chunk, uint32_t *index, uint32_t *first,
                          uint32_t *last)
{
    switch (chunk->form) {
    case ROW_SET_ARRAY:
        if (*index >= chunk->count) return false;
        *first = *last = chunk->values[(*index)++];
        while (*index < chunk->count && chunk->values[*index] == *last + 1)
            *last = chunk->values[(*index)++];
        return true;
    case ROW_SET_BITS:
        *first = find_bit(chunk->words, *index, true);
        if (*first == ROW_SET_CHUNK_ROWS) return false;
        *index = find_bit(chunk->words, *first, false);
        *last  = *index - 1;
        return true;
    case ROW_SET_RUNS:
        if (*index >= chunk->run_count) return false;
        *first = chunk->values[2 * (size_t)*index];
        *last  = *first + chunk->values[2 * (size_t)*index + 1];
        (*index)++;
        return true;
    }
    return false;
}

bool row_set_next(const RowSet *set, RowSetPlace *at, uint64_t *first_out, uint64_t *last_out)
{
    for (; at->chunk < set->chunk_count; *at = (RowSetPlace){.chunk = at->chunk + 1}) {
        uint32_t first, last;
        if (!next_in_chunk(&set->chunks[at->chunk], &at->index, &first, &last)) continue;
        *first_out = set->chunks[at->chunk].base + first;
        *last_out  = set->chunks[at->chunk].base + last;
        return true;
    }
    return false;
}

RowSet row_set_union(const RowSet *left, const RowSet *right, Arena *arena)
{
    RowSet        out   = row_set_begin(arena);
    const RowSet *in[2] = {left, right};
    RowSetPlace   at[2] = {{0}, {0}};
    uint64_t      first[2], last[2];
    bool          has[2];

    for (int i = 0; i < 2; i++)
        has[i] = row_set_next(in[i], &at[i], &first[i], &last[i]);
    while (has[0] || has[1]) {
        int i = !has[0] || (has[1] && first[1] < first[0]);
        if (last[i] >= out.next)
            row_set_add(&out, first[i] > out.next ? first[i] : out.next, last[i]);
        has[i] = row_set_next(in[i], &at[i], &first[i], &last[i]);
    }
    row_set_end(&out);
    return out;
}

/* The first chunk that ends behind `row`. */
static size_t find_chunk(const RowSet *set, uint64_t row)
{
    size_t low = 0, high = set->chunk_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row - set->chunks[middle].base < ROW_SET_CHUNK_ROWS || set->chunks[middle].base > row)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The index of the first value, or run, that ends at or behind `row`. */
static uint32_t find_value(const RowSetChunk *chunk, uint32_t row)
{
    bool     is_runs = chunk->form == ROW_SET_RUNS;
    uint32_t low = 0, high = is_runs ? chunk->run_count : chunk->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t last   = is_runs ? (uint32_t)chunk->values[2 * (size_t)middle] +
                                      chunk->values[2 * (size_t)middle + 1]
                                  : chunk->values[middle];
        if (last < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rows `from` to `last` of the chunk; flags[0] is that of `from`. */
static void clear_in_chunk(const RowSetChunk *chunk, uint32_t from, uint32_t last, bool *flags)
{
    uint32_t index = chunk->form == ROW_SET_BITS ? from : find_value(chunk, from);
    uint32_t first, end;

    while (next_in_chunk(chunk, &index, &first, &end) && first <= last) {
        if (first < from) first = from;
        if (end > last) end = last;
        memset(flags + (first - from), 0, (end - first + 1) * sizeof *flags);
    }
}

void row_set_clear_flags(const RowSet *set, uint64_t first, size_t count, bool *flags)
{
    if (count == 0) return;

    uint64_t end = first + count - 1;
    for (size_t i = find_chunk(set, first); i < set->chunk_count && set->chunks[i].base <= end;
         i++) {
        const RowSetChunk *chunk = &set->chunks[i];
        uint64_t           from  = first > chunk->base ? first - chunk->base : 0;
        uint64_t           last  = end - chunk->base >= ROW_SET_CHUNK_ROWS ? ROW_SET_CHUNK_ROWS - 1
                                                                           : end - chunk->base;
        clear_in_chunk(chunk, (uint32_t)from, (uint32_t)last, flags + (chunk->base + from - first));
    }
}

bool row_set_has(const RowSet *set, uint64_t row)
{
    bool is_absent = true;
    row_set_clear_flags(set, row, 1, &is_absent);
    return !is_absent;
}
