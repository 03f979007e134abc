/* group.c - GROUP BY: a stream when the input comes in the groups' order, else a hash table. */
#include "sim/exec/ints.h"
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

typedef struct GroupRow {
    SimValue       *keys;
    AggregateState *states;
} GroupRow;

typedef struct Group {
    Op                    op;
    Op                   *input;
    NodeList              keys;
    SlotList              key_slots;
    AggregateCall *const *calls;
    size_t                call_count;
    bool                  is_scalar, is_ordered;
    Arena                *arena, *scratch, *result;
    KeyTable              table;
    size_t                at;
    IntGroups             ints;
    bool                  has_ints; /* the groups are there */
    bool                  was_open; /* opened again and again, for few rows: not worth the steps */
    GroupRow             *current;  /* ordered: the group that grows */
    Str                   current_key;
    bool                  is_done;
} Group;

static GroupRow *group_row(Group *group, Exec *exec)
{
    GroupRow *row = ARENA_NEW(group->arena, GroupRow);

    row->keys   = ARENA_ARRAY(group->arena, SimValue, group->keys.count + 1);
    row->states = ARENA_ARRAY(group->arena, AggregateState, group->call_count + 1);
    for (size_t i = 0; i < group->keys.count; i++) {
        const SimValue *value = node_eval(group->keys.items[i], exec);
        if (!value) return NULL;
        row->keys[i] = value_copy(group->arena, value);
    }
    return row;
}

static bool group_add(Group *group, GroupRow *row, Exec *exec)
{
    for (size_t i = 0; i < group->call_count; i++)
        if (!aggregate_add(&row->states[i], group->calls[i], exec, group->arena)) return false;
    return true;
}

static bool group_emit(Group *group, GroupRow *row, Exec *exec)
{
    arena_reset(group->result);
    for (size_t i = 0; i < group->keys.count; i++)
        exec->slots[group->key_slots.items[i]] = value_copy(group->result, &row->keys[i]);
    for (size_t i = 0; i < group->call_count; i++)
        if (!aggregate_result(&row->states[i], group->calls[i], exec, group->result,
                              &exec->slots[group->calls[i]->slot]))
            return false;
    return true;
}

static bool group_key(Group *group, Exec *exec, Buf *key)
{
    bool has_null = false;

    arena_reset(group->scratch);
    exec->scratch = group->scratch;
    *key          = buf_new(group->scratch, 0);
    return key_of_nodes(exec, group->keys.items, group->keys.count, key, &has_null);
}

static bool group_collect(Group *group, Exec *exec)
{
    Pull      pull;
    Buf       key;
    GroupRow *only = NULL;

    if (group->is_scalar) {
        only                                                = group_row(group, exec);
        key_table_add(&group->table, STR_EMPTY, NULL)->data = only;
    }
    while ((pull = op_next(group->input, exec)) == PULL_ROW) {
        GroupRow *row = only;
        if (only) {
            arena_reset(group->scratch);
            exec->scratch = group->scratch;
        } else {
            if (!group_key(group, exec, &key)) return false;
            KeyEntry *entry = key_table_add(&group->table, buf_str(&key), NULL);
            if (!entry->data) entry->data = group_row(group, exec);
            row = entry->data;
        }
        if (!row || !group_add(group, row, exec)) return false;
    }
    op_close(group->input, exec);
    return pull == PULL_END;
}

/* The groups as integers; `has_ints` false: they have to be made row by row. */
static bool group_ints(Group *group, Exec *exec)
{
    group->has_ints = false;
    if (group->was_open) return true;
    group->was_open = true;
    if (!ints_group(exec, group->arena, group->input, &group->keys, group->calls, group->call_count,
                    &group->ints, &group->has_ints))
        return false;
    if (group->has_ints && group->is_scalar && group->ints.count == 0) group->has_ints = false;
    IntSum sums = {0};
    for (size_t i = 0; group->has_ints && i < group->ints.count * group->call_count; i++) {
        SimValue ignored;
        sums            = group->ints.items[i / group->call_count].sums[i % group->call_count];
        group->has_ints = ints_result(group->calls[i % group->call_count], &sums, &ignored);
    }
    if (!group->has_ints) op_close(group->input, exec);
    return true;
}

static Pull group_next_ints(Group *group, Exec *exec)
{
    if (group->at >= group->ints.count) return PULL_END;
    const IntGroup *row = &group->ints.items[group->at++];
    if (group->keys.count > 0) {
        SimValue key = {.type = group->keys.items[0]->type};
        key.i64      = row->key;
        exec_set_slot(exec, group->key_slots.items[0], &key);
    }
    for (size_t i = 0; i < group->call_count; i++)
        (void)ints_result(group->calls[i], &row->sums[i], &exec->slots[group->calls[i]->slot]);
    return PULL_ROW;
}

static bool group_open(Op *op, Exec *exec)
{
    Group *group = (Group *)op;

    if (!group->arena) {
        group->arena   = exec_arena(exec);
        group->scratch = exec_arena(exec);
        group->result  = exec_arena(exec);
    }
    arena_reset(group->arena);
    key_table_init(&group->table, group->arena);
    group->at      = 0;
    group->current = NULL;
    group->is_done = false;
    if (!group_ints(group, exec)) return false;
    if (group->has_ints) return true;
    if (!op_open(group->input, exec)) return false;
    return group->is_ordered || group_collect(group, exec);
}

/* The next whole group of an ordered input. */
static Pull group_stream(Group *group, Exec *exec)
{
    Buf key;

    while (!group->is_done) {
        Pull pull = op_next(group->input, exec);
        if (pull == PULL_ERROR) return pull;
        if (pull == PULL_END) {
            group->is_done = true;
            if (!group->current) return PULL_END;
            return group_emit(group, group->current, exec) ? PULL_ROW : PULL_ERROR;
        }
        if (!group_key(group, exec, &key)) return PULL_ERROR;
        if (group->current && str_equal(group->current_key, buf_str(&key))) {
            if (!group_add(group, group->current, exec)) return PULL_ERROR;
            continue;
        }
        bool      had_one = group->current != NULL;
        GroupRow *old     = group->current;
        if (!had_one) arena_reset(group->arena);
        GroupRow *row = group_row(group, exec);
        if (!row || !group_add(group, row, exec)) return PULL_ERROR;
        group->current     = row;
        group->current_key = str_copy(group->arena, buf_str(&key));
        if (!had_one) continue;
        return group_emit(group, old, exec) ? PULL_ROW : PULL_ERROR;
    }
    return PULL_END;
}

static Pull group_next(Op *op, Exec *exec)
{
    Group *group = (Group *)op;

    if (group->has_ints) return group_next_ints(group, exec);
    if (group->is_ordered) return group_stream(group, exec);
    if (group->at >= group->table.count) return PULL_END;
    return group_emit(group, group->table.entries[group->at++].data, exec) ? PULL_ROW : PULL_ERROR;
}

static void group_close(Op *op, Exec *exec)
{
    op_close(((Group *)op)->input, exec);
}

Op *op_group(Arena *arena, Op *input, const NodeList *keys, const SlotList *key_slots,
             AggregateCall *const *calls, size_t call_count, bool is_scalar, bool is_ordered)
{
    Group *group = ARENA_NEW(arena, Group);

    group->op = (Op){
        .open = group_open, .next = group_next, .close = group_close, .at_most_one = is_scalar};
    group->input      = input;
    group->keys       = *keys;
    group->key_slots  = *key_slots;
    group->calls      = calls;
    group->call_count = call_count;
    group->is_scalar  = is_scalar;
    group->is_ordered = is_ordered && !is_scalar;
    for (size_t i = 0; i < keys->count; i++) {
        op_add_slot(arena, &group->op, key_slots->items[i]);
        group->keys.items[i] = node_fold_constants(arena, keys->items[i]);
    }
    for (size_t i = 0; i < call_count; i++) {
        op_add_slot(arena, &group->op, calls[i]->slot);
        if (calls[i]->arg) calls[i]->arg = node_fold_constants(arena, calls[i]->arg);
    }
    if (group->is_ordered) {
        for (size_t i = 0; i < input->order.count; i++) {
            size_t k = 0;
            while (k < keys->count && (keys->items[k]->kind != NODE_SLOT ||
                                       keys->items[k]->slot != input->order.items[i].slot))
                k++;
            if (k == keys->count) break;
            *LIST_PUSH(arena, &group->op.order) = (OrderSlot){key_slots->items[k],
                                                              input->order.items[i].descending};
        }
        group->op.order_is_unique = group->op.order.count == keys->count;
    }
    return &group->op;
}
