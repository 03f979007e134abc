/* join.c - nested loops and hash joins. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

static void slots_to_null(Exec *exec, const SlotList *slots)
{
    for (size_t i = 0; i < slots->count; i++)
        exec_null_slot(exec, slots->items[i]);
}

/* --- nested loops --- */
typedef struct NestedLoop {
    Op       op;
    JoinKind kind;
    Op      *left, *right;
    Node    *condition;
    Arena   *scratch;
    bool     right_open, matched;
    unsigned turns;
} NestedLoop;

static bool nested_open(Op *op, Exec *exec)
{
    NestedLoop *join = (NestedLoop *)op;

    if (!join->scratch) join->scratch = exec_arena(exec);
    join->right_open = false;
    return op_open(join->left, exec);
}

static Pull nested_next(Op *op, Exec *exec)
{
    NestedLoop *join = (NestedLoop *)op;

    for (;;) {
        if (!join->right_open) {
            Pull pull = op_next(join->left, exec);
            if (pull != PULL_ROW) return pull;
            if (!op_open(join->right, exec)) return PULL_ERROR;
            join->right_open = true;
            join->matched    = false;
        }
        /* Rows that are kept on both sides reach nobody else who looks. */
        if ((++join->turns & 1023) == 0 && !exec_check(exec)) return PULL_ERROR;
        Pull pull = op_next(join->right, exec);
        if (pull == PULL_ERROR) return pull;
        if (pull == PULL_END) {
            op_close(join->right, exec);
            join->right_open = false;
            if (join->kind == JOIN_INNER || join->matched) continue;
            slots_to_null(exec, &join->right->slots);
            return PULL_ROW;
        }
        if (join->condition) {
            arena_reset(join->scratch);
            exec->scratch = join->scratch;
            Truth truth   = join->condition->test(join->condition, exec);
            if (truth == TRUTH_ERROR) return PULL_ERROR;
            if (truth != TRUTH_TRUE) continue;
        }
        join->matched = true;
        return PULL_ROW;
    }
}

static void nested_close(Op *op, Exec *exec)
{
    NestedLoop *join = (NestedLoop *)op;

    op_close(join->left, exec);
    op_close(join->right, exec);
    join->right_open = false;
}

Op *op_nested_loop(Arena *arena, JoinKind kind, Op *left, Op *right, Node *condition)
{
    NestedLoop *join = ARENA_NEW(arena, NestedLoop);

    join->op        = (Op){.open = nested_open, .next = nested_next, .close = nested_close};
    join->kind      = kind;
    join->left      = left;
    join->right     = right;
    join->condition = condition ? node_fold_constants(arena, condition) : NULL;
    op_add_slots(arena, &join->op, &left->slots);
    op_add_slots(arena, &join->op, &right->slots);
    join->op.order           = left->order;
    join->op.constants       = left->constants;
    join->op.order_is_unique = left->order_is_unique && right->at_most_one;
    join->op.at_most_one     = left->at_most_one && right->at_most_one;
    return &join->op;
}

/* --- hash join --- */
typedef struct HashRow HashRow;
struct HashRow {
    HashRow  *next;
    SimValue *tuple;
    bool      matched;
};
typedef struct HashJoin {
    Op       op;
    JoinKind kind;
    Op      *left, *right;
    NodeList left_keys, right_keys;
    Node    *condition;
    Arena   *arena, *scratch;
    KeyTable table;
    LIST(HashRow *) rows; /* the right side, for FULL */
    HashRow *candidate;
    bool     has_left, matched, is_built, in_tail;
    size_t   tail;
} HashJoin;

static bool hash_build(HashJoin *join, Exec *exec)
{
    Pull pull;

    key_table_init(&join->table, join->arena);
    if (!op_open(join->right, exec)) return false;
    while ((pull = op_next(join->right, exec)) == PULL_ROW) {
        bool has_null = false;
        arena_reset(join->scratch);
        exec->scratch = join->scratch;
        Buf key       = buf_new(join->scratch, 0);
        if (!key_of_nodes(exec, join->right_keys.items, join->right_keys.count, &key, &has_null))
            return false;
        if (has_null && join->kind != JOIN_FULL) continue;
        HashRow *row = ARENA_NEW(join->arena, HashRow);
        row->tuple   = tuple_save(join->arena, exec, &join->right->slots);
        if (join->kind == JOIN_FULL) *LIST_PUSH(join->arena, &join->rows) = row;
        if (has_null) continue;
        KeyEntry *entry = key_table_add(&join->table, buf_str(&key), NULL);
        HashRow **end   = (HashRow **)&entry->data; /* rows of a key in order of arrival */
        while (*end)
            end = &(*end)->next;
        *end = row;
    }
    op_close(join->right, exec);
    return pull == PULL_END;
}

static bool hash_open(Op *op, Exec *exec)
{
    HashJoin *join = (HashJoin *)op;

    if (!join->arena) {
        join->arena   = exec_arena(exec);
        join->scratch = exec_arena(exec);
    }
    arena_reset(join->arena);
    join->rows.items = NULL;
    join->rows.count = join->rows.capacity = join->tail = 0;
    join->has_left = join->in_tail = false;
    return hash_build(join, exec) && op_open(join->left, exec);
}

static bool hash_probe(HashJoin *join, Exec *exec)
{
    bool has_null = false;

    arena_reset(join->scratch);
    exec->scratch = join->scratch;
    Buf key       = buf_new(join->scratch, 0);
    if (!key_of_nodes(exec, join->left_keys.items, join->left_keys.count, &key, &has_null))
        return false;
    KeyEntry *entry = has_null ? NULL : key_table_find(&join->table, buf_str(&key));
    join->candidate = entry ? entry->data : NULL;
    join->has_left  = true;
    join->matched   = false;
    return true;
}

static Pull hash_tail(HashJoin *join, Exec *exec)
{
    join->in_tail = true;
    while (join->tail < join->rows.count) {
        HashRow *row = join->rows.items[join->tail++];
        if (row->matched) continue;
        slots_to_null(exec, &join->left->slots);
        tuple_restore(exec, &join->right->slots, row->tuple);
        return PULL_ROW;
    }
    return PULL_END;
}

static Pull hash_next(Op *op, Exec *exec)
{
    HashJoin *join = (HashJoin *)op;

    if (join->in_tail) return hash_tail(join, exec);
    for (;;) {
        if (!join->has_left) {
            Pull pull = op_next(join->left, exec);
            if (pull == PULL_END && join->kind == JOIN_FULL) return hash_tail(join, exec);
            if (pull != PULL_ROW) return pull;
            if (!hash_probe(join, exec)) return PULL_ERROR;
        }
        while (join->candidate) {
            HashRow *row    = join->candidate;
            join->candidate = row->next;
            tuple_restore(exec, &join->right->slots, row->tuple);
            if (join->condition) {
                arena_reset(join->scratch);
                exec->scratch = join->scratch;
                Truth truth   = join->condition->test(join->condition, exec);
                if (truth == TRUTH_ERROR) return PULL_ERROR;
                if (truth != TRUTH_TRUE) continue;
            }
            join->matched = row->matched = true;
            return PULL_ROW;
        }
        join->has_left = false;
        if (join->kind == JOIN_INNER || join->matched) continue;
        slots_to_null(exec, &join->right->slots);
        return PULL_ROW;
    }
}

static void hash_close(Op *op, Exec *exec)
{
    HashJoin *join = (HashJoin *)op;

    op_close(join->left, exec);
    op_close(join->right, exec);
}

Op *op_hash_join(Arena *arena, JoinKind kind, Op *left, Op *right, const NodeList *left_keys,
                 const NodeList *right_keys, Node *condition)
{
    HashJoin *join = ARENA_NEW(arena, HashJoin);

    join->op         = (Op){.open = hash_open, .next = hash_next, .close = hash_close};
    join->kind       = kind;
    join->left       = left;
    join->right      = right;
    join->left_keys  = *left_keys;
    join->right_keys = *right_keys;
    join->condition  = condition ? node_fold_constants(arena, condition) : NULL;
    op_add_slots(arena, &join->op, &left->slots);
    op_add_slots(arena, &join->op, &right->slots);
    if (kind != JOIN_FULL) {
        join->op.order     = left->order;
        join->op.constants = left->constants;
    }
    return &join->op;
}
