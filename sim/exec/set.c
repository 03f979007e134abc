/* set.c - UNION ALL, EXCEPT, INTERSECT. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

/* --- UNION ALL: one branch after the other, streamed --- */
typedef struct UnionAll {
    Op            op;
    UnionBranches branches;
    Arena        *scratch;
    size_t        at;
    bool          is_open;
} UnionAll;

static bool union_open(Op *op, Exec *exec)
{
    UnionAll *all = (UnionAll *)op;

    if (!all->scratch) all->scratch = exec_arena(exec);
    all->at      = 0;
    all->is_open = false;
    return true;
}

static Pull union_next(Op *op, Exec *exec)
{
    UnionAll *all = (UnionAll *)op;

    for (; all->at < all->branches.count; all->at++) {
        UnionBranch *branch = &all->branches.items[all->at];
        if (!all->is_open && !op_open(branch->op, exec)) return PULL_ERROR;
        all->is_open = true;
        Pull pull    = op_next(branch->op, exec);
        if (pull == PULL_ERROR) return pull;
        if (pull == PULL_END) {
            op_close(branch->op, exec);
            all->is_open = false;
            continue;
        }
        arena_reset(all->scratch);
        exec->scratch = all->scratch;
        for (size_t i = 0; i < branch->assigns.count; i++) {
            const Assign *assign = &branch->assigns.items[i];
            if (assign->node->kind == NODE_SLOT && exec->wires[assign->node->slot].is_pending) {
                exec->wires[assign->slot] = exec->wires[assign->node->slot];
                continue;
            }
            const SimValue *value = node_eval(assign->node, exec);
            if (!value) return PULL_ERROR;
            exec_set_slot(exec, assign->slot, value);
        }
        return PULL_ROW;
    }
    return PULL_END;
}

static int64_t union_skip(Op *op, Exec *exec, int64_t rows)
{
    UnionAll *all = (UnionAll *)op;

    if (!all->is_open || all->at == all->branches.count) return 0;
    Op *input = all->branches.items[all->at].op;
    for (size_t i = 0; i < all->branches.items[all->at].assigns.count; i++)
        if (all->branches.items[all->at].assigns.items[i].node->kind != NODE_SLOT) return 0;
    return input->skip ? input->skip(input, exec, rows) : 0;
}

static void union_close(Op *op, Exec *exec)
{
    UnionAll *all = (UnionAll *)op;

    for (size_t i = 0; i < all->branches.count; i++)
        op_close(all->branches.items[i].op, exec);
    all->is_open = false;
}

Op *op_union_all(Arena *arena, const UnionBranches *branches, const SlotList *slots)
{
    UnionAll *all = ARENA_NEW(arena, UnionAll);

    all->op = (Op){
        .open = union_open, .next = union_next, .close = union_close, .skip = union_skip};
    all->branches = *branches;
    for (size_t i = 0; i < branches->count; i++)
        for (size_t a = 0; a < branches->items[i].assigns.count; a++)
            all->branches.items[i].assigns.items[a].node = node_fold_constants(
                arena, branches->items[i].assigns.items[a].node);
    op_add_slots(arena, &all->op, slots);
    return &all->op;
}

/* --- EXCEPT and INTERSECT: the right side as a set, the left side without repetition --- */
typedef struct SetExcept {
    Op       op;
    Op      *left, *right;
    NodeList left_keys, right_keys;
    bool     intersect;
    KeyTable right_set, seen;
    Arena   *arena, *scratch;
} SetExcept;

static bool except_key(SetExcept *set, Exec *exec, const NodeList *keys, Buf *out)
{
    bool has_null = false;

    arena_reset(set->scratch);
    exec->scratch = set->scratch;
    *out          = buf_new(set->scratch, 0);
    return key_of_nodes(exec, keys->items, keys->count, out, &has_null);
}

static bool except_open(Op *op, Exec *exec)
{
    SetExcept *set = (SetExcept *)op;
    Buf        key;
    Pull       pull;

    if (!set->arena) {
        set->arena   = exec_arena(exec);
        set->scratch = exec_arena(exec);
    }
    arena_reset(set->arena);
    key_table_init(&set->right_set, set->arena);
    key_table_init(&set->seen, set->arena);
    if (!op_open(set->right, exec)) return false;
    while ((pull = op_next(set->right, exec)) == PULL_ROW) {
        if (!except_key(set, exec, &set->right_keys, &key)) return false;
        key_table_add(&set->right_set, buf_str(&key), NULL);
    }
    op_close(set->right, exec);
    return pull == PULL_END && op_open(set->left, exec);
}

static Pull except_next(Op *op, Exec *exec)
{
    SetExcept *set = (SetExcept *)op;
    Buf        key;
    Pull       pull;

    while ((pull = op_next(set->left, exec)) == PULL_ROW) {
        bool is_new = false;
        if (!except_key(set, exec, &set->left_keys, &key)) return PULL_ERROR;
        if ((key_table_find(&set->right_set, buf_str(&key)) != NULL) != set->intersect) continue;
        key_table_add(&set->seen, buf_str(&key), &is_new);
        if (is_new) return PULL_ROW;
    }
    return pull;
}

static void except_close(Op *op, Exec *exec)
{
    SetExcept *set = (SetExcept *)op;

    op_close(set->left, exec);
    op_close(set->right, exec);
}

Op *op_set_except(Arena *arena, Op *left, Op *right, const NodeList *left_keys,
                  const NodeList *right_keys, bool intersect)
{
    SetExcept *set = ARENA_NEW(arena, SetExcept);

    set->op = (Op){
        .open = except_open, .next = except_next, .close = except_close, .slots = left->slots};
    set->left       = left;
    set->right      = right;
    set->left_keys  = *left_keys;
    set->right_keys = *right_keys;
    set->intersect  = intersect;
    op_keep_order(&set->op, left);
    return &set->op;
}
