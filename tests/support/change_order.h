/* change_order.h - which of a key's bronze rows is the latest (algorithms.md 1.2), in plain C: the
 * oracle for what apply and reconcile say in SQL. */
#ifndef TIDELAKE_TEST_CHANGE_ORDER_H
#define TIDELAKE_TEST_CHANGE_ORDER_H

#include "types/lsn.h"

/* The ordering key of a bronze row. Chunk and snapshot rows have neither command id nor seqval. */
typedef struct ChangeOrder {
    Lsn     start_lsn;
    bool    has_command_id;
    int32_t command_id;
    bool    has_seqval;
    Lsn     seqval;
    int32_t operation; /* 0 snapshot, 1 delete, 2 insert, 3 before and 4 after an update */
} ChangeOrder;

static inline int change_order_compare_i32(bool has_left, int32_t left, bool has_right,
                                           int32_t right)
{
    if (has_left != has_right) return has_left ? 1 : -1; /* NULL before any value */
    if (!has_left) return 0;
    return (left > right) - (left < right);
}

/* -1, 0 or 1; the larger one is the later one. `with_command_id`: bronze has that column. */
static inline int change_order_compare(const ChangeOrder *left, const ChangeOrder *right,
                                       bool with_command_id)
{
    int order = lsn_compare(left->start_lsn, right->start_lsn);

    if (order == 0 && with_command_id)
        order = change_order_compare_i32(left->has_command_id, left->command_id,
                                         right->has_command_id, right->command_id);
    if (order == 0) order = left->has_seqval - right->has_seqval;
    if (order == 0 && left->has_seqval) order = lsn_compare(left->seqval, right->seqval);
    if (order == 0) order = change_order_compare_i32(true, left->operation, true, right->operation);
    return order;
}

/* A key whose latest row is a delete or the before-image of an update is absent. */
static inline bool change_order_is_absent(const ChangeOrder *latest)
{
    return latest->operation == 1 || latest->operation == 3;
}

#endif
