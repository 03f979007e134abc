/* recursive.c - recursive common tables. As on the server the rows found last are the ones followed first: the anchor's rows come out, then the last of
 * them is taken, what it leads to comes out, and so on. */
#include "sim/plan/bind_internal.h"

typedef struct Work {
    SimValue *values;
    int64_t   level;
} Work;

typedef struct Recursive {
    Op            op;
    UnionBranches anchors, members;
    SlotList      slots;     /* what it provides */
    SlotList      row_slots; /* the row the members see */
    int64_t       limit;     /* levels; 0: none */
    Arena        *arena, *scratch;
    LIST(Work) stack;
    size_t  at;         /* the branch that gives rows, anchors first */
    bool    is_open;    /* that branch is */
    bool    is_anchors; /* anchors still give rows */
    int64_t level;      /* of the row the members see */
    int64_t produced;
} Recursive;

static bool recursive_open(Op *op, Exec *exec)
{
    Recursive *all = (Recursive *)op;

    if (!all->arena) {
        all->arena   = exec_arena(exec);
        all->scratch = exec_arena(exec);
    }
    arena_reset(all->arena);
    all->stack.items = NULL;
    all->stack.count = all->stack.capacity = all->at = 0;
    all->is_anchors                                  = true;
    all->is_open                                     = false;
    all->level                                       = 0;
    return true;
}

/* The next row of the branches; END when they are through. */
static Pull next_of(Recursive *all, UnionBranches *branches, Exec *exec)
{
    for (; all->at < branches->count; all->at++) {
        UnionBranch *branch = &branches->items[all->at];
        if (!all->is_open && !op_open(branch->op, exec)) return PULL_ERROR;
        all->is_open = true;
        Pull pull    = op_next(branch->op, exec);
        if (pull == PULL_ERROR) return pull;
        if (pull == PULL_END) {
            op_close(branch->op, exec);
            all->is_open = false;
            continue;
        }
        Work *work   = LIST_PUSH(all->arena, &all->stack);
        work->level  = all->level + 1;
        work->values = ARENA_ARRAY(all->arena, SimValue, branch->assigns.count + 1);
        arena_reset(all->scratch);
        exec->scratch = all->scratch;
        for (size_t i = 0; i < branch->assigns.count; i++) {
            const SimValue *value = node_eval(branch->assigns.items[i].node, exec);
            if (!value) return PULL_ERROR;
            work->values[i] = value_copy(all->arena, value);
        }
        for (size_t i = 0; i < branch->assigns.count; i++)
            exec_set_slot(exec, all->slots.items[i], &work->values[i]);
        return PULL_ROW;
    }
    return PULL_END;
}

static Pull recursive_next(Op *op, Exec *exec)
{
    Recursive *all = (Recursive *)op;

    if (!exec_check(exec)) return PULL_ERROR;
    if (all->is_anchors) {
        Pull pull = next_of(all, &all->anchors, exec);
        if (pull != PULL_END) return pull;
        all->is_anchors = false;
        all->at         = all->members.count;
    }
    for (;;) {
        if (all->at >= all->members.count) {
            if (all->stack.count == 0) return PULL_END;
            Work work  = all->stack.items[--all->stack.count];
            all->level = work.level;
            all->at    = 0;
            for (size_t i = 0; i < all->row_slots.count; i++)
                exec_set_slot(exec, all->row_slots.items[i], &work.values[i]);
        }
        Pull pull = next_of(all, &all->members, exec);
        if (pull == PULL_END) continue;
        if (pull == PULL_ROW && all->limit > 0 && all->level > all->limit) {
            sim_error(exec->error, 530,
                      "The statement terminated. The maximum recursion %lld has been exhausted "
                      "before statement completion.",
                      (long long)all->limit);
            return PULL_ERROR;
        }
        return pull;
    }
}

static void recursive_close(Op *op, Exec *exec)
{
    Recursive *all = (Recursive *)op;

    for (size_t i = 0; i < all->anchors.count; i++)
        op_close(all->anchors.items[i].op, exec);
    for (size_t i = 0; i < all->members.count; i++)
        op_close(all->members.items[i].op, exec);
    all->is_open = false;
}

Op *op_recursive(Arena *arena, const UnionBranches *anchors, const UnionBranches *members,
                 const SlotList *slots, const SlotList *row_slots, int64_t limit)
{
    Recursive *all = ARENA_NEW(arena, Recursive);

    all->op        = (Op){.open = recursive_open, .next = recursive_next, .close = recursive_close};
    all->anchors   = *anchors;
    all->members   = *members;
    all->slots     = *slots;
    all->row_slots = *row_slots;
    all->limit     = limit;
    op_add_slots(arena, &all->op, slots);
    return &all->op;
}
