/* key_rows.h - rows with keys of several columns in memory, in the order of a case-insensitive server, NULL
 * first; answers what plan_walk asks. */
#ifndef TIDELAKE_TESTS_KEY_ROWS_H
#define TIDELAKE_TESTS_KEY_ROWS_H

#include "engine/plan_walk.h"

#include <ctype.h>

#define KEY_ROWS_COLUMNS 2

typedef struct KeyRow {
    KeyPart parts[KEY_ROWS_COLUMNS];
} KeyRow;

typedef struct KeyRows {
    KeyRow *rows; /* in order */
    size_t  count, column_count;
    size_t  cut_len;  /* a bound keeps that many characters of its last part: 0 all of them */
    int64_t estimate; /* of the rows */
    int     seeks;
} KeyRows;

UNUSED static int compare_part(const KeyPart *left, const KeyPart *right)
{
    if (left->is_null || right->is_null) return right->is_null - left->is_null;
    for (size_t i = 0; i < left->text.len && i < right->text.len; i++) {
        int a = tolower((unsigned char)left->text.ptr[i]);
        int b = tolower((unsigned char)right->text.ptr[i]);
        if (a != b) return a < b ? -1 : 1;
    }
    return (left->text.len > right->text.len) - (left->text.len < right->text.len);
}

UNUSED static int compare_key(const KeyPart *left, const KeyPart *right, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int order = compare_part(&left[i], &right[i]);
        if (order != 0) return order;
    }
    return 0;
}

UNUSED static int compare_key_row(const void *left, const void *right)
{
    return compare_key(((const KeyRow *)left)->parts, ((const KeyRow *)right)->parts,
                       KEY_ROWS_COLUMNS);
}

UNUSED static bool range_holds(const KeyRows *model, const KeyPart *lo, const KeyPart *hi,
                               const KeyRow *row)
{
    return (!lo || compare_key(row->parts, lo, model->column_count) >= 0) &&
           (!hi || compare_key(row->parts, hi, model->column_count) < 0);
}

UNUSED static bool key_rows_bound(void *context, const KeyPart *lo, const KeyPart *hi, int64_t n,
                                  Arena *arena, const KeyPart **out, Err *err)
{
    KeyRows *model = context;

    (void)err;
    model->seeks++;
    *out = NULL;
    for (size_t i = 0; i < model->count; i++) {
        if (!range_holds(model, lo, hi, &model->rows[i]) || n-- > 0) continue;
        KeyPart *bound = ARENA_ARRAY(arena, KeyPart, model->column_count);
        for (size_t c = 0; c < model->column_count; c++)
            bound[c] = model->rows[i].parts[c];
        KeyPart *last = &bound[model->column_count - 1];
        if (model->cut_len && last->text.len > model->cut_len) last->text.len = model->cut_len;
        *out = bound;
        return true;
    }
    return true;
}

UNUSED static bool key_rows_estimate(void *context, int64_t *rows_out, Err *err)
{
    (void)err;
    *rows_out = ((KeyRows *)context)->estimate;
    return true;
}

UNUSED static CutSource key_rows_source(KeyRows *model)
{
    return (CutSource){
        .context = model, .estimate_rows = key_rows_estimate, .seek = key_rows_bound};
}

#endif
