/* aggregate.c - feeds accumulators: DISTINCT by key, WITHIN GROUP by holding values back. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <stdlib.h>

static void state_start(AggregateState *state, const AggregateCall *call, Arena *arena)
{
    if (state->is_started) return;
    state->is_started = true;
    state->separator  = sim_null(call->type);
    sim_accumulator_init(&state->accumulator, call->function, &call->type, arena);
}

static bool look_for_repeat(AggregateState *state, const SimValue *value, Exec *exec, Arena *arena,
                            bool *is_repeated_out)
{
    bool is_new = false;
    Buf  key    = buf_new(exec->scratch, 0);

    if (!state->seen) {
        state->seen = ARENA_NEW(arena, KeyTable);
        key_table_init(state->seen, arena);
    }
    sim_sort_key(value, false, &key);
    if (!key_is_whole(exec, &key)) return false;
    key_table_add(state->seen, buf_str(&key), &is_new);
    *is_repeated_out = !is_new;
    return true;
}

static bool add_piece(AggregateState *state, AggregateCall *call, const SimValue *value, Exec *exec,
                      Arena *arena)
{
    Buf key = buf_new(exec->scratch, 0);

    if (value->is_null) return true;
    SimValue kept = value_copy(arena, value);
    for (size_t i = 0; i < call->order.count; i++) {
        const SimValue *item = node_eval(call->order.items[i].node, exec);
        if (!item) return false;
        sim_sort_key(item, call->order.items[i].descending, &key);
    }
    if (!key_is_whole(exec, &key)) return false;
    AggregatePiece *piece = LIST_PUSH(arena, &state->pieces);
    *piece = (AggregatePiece){str_copy(arena, buf_str(&key)), state->pieces.count, kept};
    return true;
}

bool aggregate_add(AggregateState *state, AggregateCall *call, Exec *exec, Arena *arena)
{
    const SimValue *separator   = NULL;
    bool            is_repeated = false;

    state_start(state, call, arena);
    if (!call->arg) return sim_accumulator_add(&state->accumulator, NULL, NULL, exec->error);
    const SimValue *value = node_eval(call->arg, exec);
    if (!value) return false;
    if (call->distinct && !value->is_null) {
        if (!look_for_repeat(state, value, exec, arena, &is_repeated)) return false;
        if (is_repeated) return true;
    }
    if (call->separator) {
        separator = node_eval(call->separator, exec);
        if (!separator) return false;
    }
    if (call->order.count == 0)
        return sim_accumulator_add(&state->accumulator, value, separator, exec->error);
    if (separator && state->pieces.count == 0) state->separator = value_copy(arena, separator);
    return add_piece(state, call, value, exec, arena);
}

static int piece_compare(const void *left, const void *right)
{
    const AggregatePiece *a = left, *b = right;
    int                   order = str_compare(a->key, b->key);

    return order != 0 ? order : a->number < b->number ? -1 : 1;
}

bool aggregate_result(AggregateState *state, const AggregateCall *call, Exec *exec, Arena *arena,
                      SimValue *out)
{
    SimValue result;

    state_start(state, call, arena);
    if (state->pieces.count > 1)
        qsort(state->pieces.items, state->pieces.count, sizeof *state->pieces.items, piece_compare);
    for (size_t i = 0; i < state->pieces.count; i++)
        if (!sim_accumulator_add(&state->accumulator, &state->pieces.items[i].value,
                                 &state->separator, exec->error))
            return false;
    state->pieces.count = 0;
    if (!sim_accumulator_result(&state->accumulator, &result, exec->error)) return false;
    *out = value_copy(arena, &result);
    return true;
}
