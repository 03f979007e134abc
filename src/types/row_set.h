/* row_set.h - a set of row numbers of one file, as deletion vectors hold them.
 *
 * Kept in chunks of 65,536 rows, each in the smallest of three forms, so memory follows what is in
 * the set and not how large the numbers are. Filled once in growing order, then only read, by any
 * number of threads. */
#ifndef TIDELAKE_TYPES_ROW_SET_H
#define TIDELAKE_TYPES_ROW_SET_H

#include "base/arena.h"

#include <stdint.h>

#define ROW_SET_CHUNK_ROWS 65536
#define ROW_SET_ARRAY_MAX  4096 /* more of them take less room as bits */
#define ROW_SET_WORDS      (ROW_SET_CHUNK_ROWS / 64)

typedef enum RowSetForm {
    ROW_SET_ARRAY, /* `values`: the rows */
    ROW_SET_BITS,  /* `words`: ROW_SET_WORDS, the lowest row in the lowest bit */
    ROW_SET_RUNS,  /* `values`: pairs of a first row and how many follow it */
} RowSetForm;

typedef struct RowSetChunk {
    uint64_t   base; /* row number of its row 0 */
    uint32_t   count;
    RowSetForm form;
    uint32_t   run_count;
    uint16_t  *values;
    uint64_t  *words;
} RowSetChunk;

typedef struct RowSet {
    Arena       *arena;
    RowSetChunk *chunks;
    size_t       chunk_count, chunk_capacity;
    uint64_t     row_count;
    uint64_t     next; /* 1 + the last row, 0: none */
    /* While it is filled: the newest chunk as bits. */
    uint64_t *open;
    uint64_t  open_base;
    uint32_t  open_count;
} RowSet;

RowSet row_set_begin(Arena *arena);
/* The rows `first` to `last`, none below those added before. */
void row_set_add(RowSet *set, uint64_t first, uint64_t last);
/* After the last one; before anything reads the set. */
void   row_set_end(RowSet *set);
RowSet row_set_union(const RowSet *left, const RowSet *right, Arena *arena);
bool   row_set_has(const RowSet *set, uint64_t row);
/* Sets flags[i] to false where row `first` + i is in the set. */
void row_set_clear_flags(const RowSet *set, uint64_t first, size_t count, bool *flags);
/* Ranges of neighbouring rows, as long as they come in one chunk; `at` begins all zero. */
typedef struct RowSetPlace {
    size_t   chunk;
    uint32_t index; /* of a value, a run or a bit */
} RowSetPlace;
bool row_set_next(const RowSet *set, RowSetPlace *at, uint64_t *first_out, uint64_t *last_out);

#endif
