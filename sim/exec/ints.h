/* ints.h - grouping over integers, a thousand rows at a time: what counts the rows of slices of a key. */
#ifndef TIDESIM_EXEC_INTS_H
#define TIDESIM_EXEC_INTS_H

#include "sim/plan/bind_internal.h"

/* One aggregate of one group. */
typedef struct IntSum {
    int64_t count, least, most;
    Int128  sum;
    bool    left_bigint; /* the sum did, at some row */
} IntSum;

typedef struct IntGroup {
    int64_t key;
    IntSum *sums; /* of each call */
} IntGroup;

typedef struct IntGroups {
    IntGroup *items;
    size_t    count, capacity;
    uint32_t *buckets; /* number of the group + 1 */
    size_t    bucket_count;
} IntGroups;

/* Groups what `input` gives by at most one key, if every expression is plain arithmetic on integer columns of one table
 * that are NOT NULL. `*done_out` false: it is not, or a value overflowed; whoever asked goes row by row, from the start. */
bool ints_group(Exec *exec, Arena *arena, Op *input, const NodeList *keys,
                AggregateCall *const *calls, size_t call_count, IntGroups *out, bool *done_out);
/* The value of an aggregate; false: it does not fit its type. */
bool ints_result(const AggregateCall *call, const IntSum *sum, SimValue *out);

#endif
