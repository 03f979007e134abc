/* sort.c - sorting: keys made once per row, compared as bytes; with a limit only the first rows are kept. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct SortRow {
    Str       key;
    SimValue *tuple;
    size_t    number; /* of arrival: equal keys keep their order */
} SortRow;

typedef struct Sort {
    Op        op;
    Op       *input;
    SortItems items;
    Node     *limit, *offset;
    Arena    *arena, *scratch;
    LIST(SortRow) rows;
    size_t at;
    size_t keep; /* 0: all */
} Sort;

static int sort_compare(const void *left, const void *right)
{
    const SortRow *a = left, *b = right;
    size_t         len   = MIN(a->key.len, b->key.len);
    int            order = len ? memcmp(a->key.ptr, b->key.ptr, len) : 0;

    if (order != 0) return order;
    if (a->key.len != b->key.len) return a->key.len < b->key.len ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool sort_number(Node *node, Exec *exec, int64_t *out)
{
    SimType  bigint = sim_type(SIM_BIGINT);
    SimValue number;

    if (!node) return true;
    const SimValue *value = node_eval(node, exec);
    if (!value) return false;
    if (value->is_null) return true;
    if (!sim_convert(value, &bigint, 0, true, exec->scratch, &number, exec->error)) return false;
    *out += MAX(number.i64, 0);
    return true;
}

static bool sort_key(Sort *sort, Exec *exec, Buf *out)
{
    for (size_t i = 0; i < sort->items.count; i++) {
        const SimValue *value = node_eval(sort->items.items[i].node, exec);
        if (!value) return false;
        sim_sort_key(value, sort->items.items[i].descending, out);
    }
    return key_is_whole(exec, out);
}

/* A heap with the last of the kept rows at its root. */
static void heap_down(SortRow *rows, size_t count, size_t at)
{
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= count) return;
        if (child + 1 < count && sort_compare(&rows[child], &rows[child + 1]) < 0) child++;
        if (sort_compare(&rows[at], &rows[child]) >= 0) return;
        SortRow held = rows[at];
        rows[at]     = rows[child];
        rows[child]  = held;
        at           = child;
    }
}

static void sort_take(Sort *sort, Exec *exec, Str key, size_t number)
{
    SortRow row = {.key = key, .number = number};

    if (sort->keep > 0 && sort->rows.count == sort->keep) {
        if (sort_compare(&row, &sort->rows.items[0]) >= 0) return;
        row.key             = str_copy(sort->arena, key);
        row.tuple           = tuple_save(sort->arena, exec, &sort->op.slots);
        sort->rows.items[0] = row;
        heap_down(sort->rows.items, sort->rows.count, 0);
        return;
    }
    row.key                              = str_copy(sort->arena, key);
    row.tuple                            = tuple_save(sort->arena, exec, &sort->op.slots);
    *LIST_PUSH(sort->arena, &sort->rows) = row;
    if (sort->keep > 0 && sort->rows.count == sort->keep)
        for (size_t i = sort->keep / 2 + 1; i-- > 0;)
            heap_down(sort->rows.items, sort->rows.count, i);
}

static bool sort_open(Op *op, Exec *exec)
{
    Sort   *sort = (Sort *)op;
    int64_t keep = 0;
    Pull    pull;

    if (!sort->arena) {
        sort->arena   = exec_arena(exec);
        sort->scratch = exec_arena(exec);
    }
    arena_reset(sort->arena);
    sort->rows.items = NULL;
    sort->rows.count = sort->rows.capacity = sort->at = 0;
    exec->scratch                                     = sort->scratch;
    if (sort->limit &&
        (!sort_number(sort->limit, exec, &keep) || !sort_number(sort->offset, exec, &keep)))
        return false;
    sort->keep = (size_t)keep;
    if (!op_open(sort->input, exec)) return false;
    for (size_t number = 0; (pull = op_next(sort->input, exec)) == PULL_ROW; number++) {
        arena_reset(sort->scratch);
        exec->scratch = sort->scratch;
        Buf key       = buf_new(sort->scratch, 0);
        if (!sort_key(sort, exec, &key)) return false;
        sort_take(sort, exec, buf_str(&key), number);
    }
    op_close(sort->input, exec);
    if (pull == PULL_ERROR) return false;
    if (sort->rows.count > 1)
        qsort(sort->rows.items, sort->rows.count, sizeof *sort->rows.items, sort_compare);
    return true;
}

static Pull sort_next(Op *op, Exec *exec)
{
    Sort *sort = (Sort *)op;

    if (sort->at >= sort->rows.count) return PULL_END;
    tuple_restore(exec, &op->slots, sort->rows.items[sort->at++].tuple);
    return PULL_ROW;
}

static void sort_close(Op *op, Exec *exec)
{
    Sort *sort = (Sort *)op;

    op_close(sort->input, exec);
    sort->rows.count = 0;
}

Op *op_sort(Arena *arena, Op *input, const SortItems *items)
{
    Sort *sort = ARENA_NEW(arena, Sort);

    sort->op = (Op){
        .open = sort_open, .next = sort_next, .close = sort_close, .slots = input->slots};
    sort->input          = input;
    sort->items          = *items;
    sort->op.constants   = input->constants;
    sort->op.at_most_one = input->at_most_one;
    for (size_t i = 0; i < items->count; i++) {
        const SortItem *item = &items->items[i];
        if (item->node->kind != NODE_SLOT) break;
        *LIST_PUSH(arena, &sort->op.order) = (OrderSlot){item->node->slot, item->descending};
    }
    return &sort->op;
}

void op_sort_set_limit(Op *op, Node *limit, Node *offset)
{
    ((Sort *)op)->limit  = limit;
    ((Sort *)op)->offset = offset;
}

int64_t op_sort_count(const Op *op)
{
    return (int64_t)((const Sort *)op)->rows.count;
}
