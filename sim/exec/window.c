/* window.c - window functions over an input that comes sorted by partition and order. A partition is kept whole, except for functions that
 * only look back: those stream. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

typedef struct WindowRow {
    SimValue *tuple;
    SimValue *results;
    bool      starts_peers; /* differs from the row before in its order */
} WindowRow;

typedef struct WindowOp {
    Op                 op;
    Op                *input;
    NodeList           partition, order;
    WindowCall *const *calls;
    size_t             call_count;
    bool               streams;
    Arena             *arena, *scratch, *next_arena;
    LIST(WindowRow) rows;
    size_t    at;
    Str       partition_key, order_key; /* of the row before, in next_arena */
    bool      has_before, has_pending, is_done;
    SimValue *pending; /* the first row of the next partition */
    int64_t   number, rank, dense_rank;
    SimValue *before; /* LAG: the value of the row before, per call */
    Arena    *before_arena[2];
    int       before_at;
} WindowOp;

static bool window_keys(WindowOp *window, Exec *exec, bool *new_partition, bool *new_peers)
{
    bool has_null = false;

    arena_reset(window->scratch);
    exec->scratch = window->scratch;
    Buf partition = buf_new(window->scratch, 0), order = buf_new(window->scratch, 0);
    if (!key_of_nodes(exec, window->partition.items, window->partition.count, &partition,
                      &has_null))
        return false;
    if (!key_of_nodes(exec, window->order.items, window->order.count, &order, &has_null))
        return false;
    *new_partition = !window->has_before || !str_equal(window->partition_key, buf_str(&partition));
    *new_peers     = *new_partition || !str_equal(window->order_key, buf_str(&order));
    window->has_before = true;
    if (*new_peers) {
        arena_reset(window->next_arena);
        window->partition_key = str_copy(window->next_arena, buf_str(&partition));
        window->order_key     = str_copy(window->next_arena, buf_str(&order));
    }
    return true;
}

static bool window_open(Op *op, Exec *exec)
{
    WindowOp *window = (WindowOp *)op;

    if (!window->arena) {
        window->arena           = exec_arena(exec);
        window->scratch         = exec_arena(exec);
        window->next_arena      = exec_arena(exec);
        window->before_arena[0] = exec_arena(exec);
        window->before_arena[1] = exec_arena(exec);
    }
    arena_reset(window->arena);
    window->rows.items = NULL;
    window->rows.count = window->rows.capacity = window->at = 0;
    window->has_before = window->has_pending = window->is_done = false;
    return op_open(window->input, exec);
}

/* --- streaming --- */
static bool stream_lag(WindowOp *window, Exec *exec, size_t i, bool new_partition)
{
    WindowCall     *call  = window->calls[i];
    const SimValue *value = node_eval(call->arg, exec);
    SimValue        old   = window->before[i];

    if (!value) return false;
    SimValue kept = value_copy(window->before_arena[window->before_at], value);
    if (new_partition) {
        exec->slots[call->slot] = sim_null(call->type);
        if (call->otherwise) {
            const SimValue *otherwise = node_eval(call->otherwise, exec);
            if (!otherwise ||
                !value_store(exec, otherwise, &call->type, exec->scratch, &exec->slots[call->slot]))
                return false;
        }
    } else {
        exec->slots[call->slot] = old;
    }
    window->before[i] = kept;
    return true;
}

static Pull window_stream(WindowOp *window, Exec *exec)
{
    bool new_partition = false, new_peers = false;
    Pull pull = op_next(window->input, exec);

    if (pull != PULL_ROW) return pull;
    if (!window_keys(window, exec, &new_partition, &new_peers)) return PULL_ERROR;
    if (new_partition) window->number = window->rank = window->dense_rank = 0;
    window->number++;
    if (new_peers) {
        window->rank = window->number;
        window->dense_rank++;
    }
    window->before_at ^= 1; /* the values of the row before stay valid for this one */
    arena_reset(window->before_arena[window->before_at]);
    for (size_t i = 0; i < window->call_count; i++) {
        WindowCall *call  = window->calls[i];
        int64_t     value = call->kind == WINDOW_ROW_NUMBER ? window->number
                            : call->kind == WINDOW_RANK     ? window->rank
                                                            : window->dense_rank;
        if (call->kind == WINDOW_LAG) {
            if (!stream_lag(window, exec, i, new_partition)) return PULL_ERROR;
        } else {
            exec->slots[call->slot] = sim_int(value, SIM_BIGINT);
        }
    }
    return PULL_ROW;
}

/* --- whole partitions --- */
static bool window_keep(WindowOp *window, Exec *exec, bool new_peers)
{
    WindowRow *row    = LIST_PUSH(window->arena, &window->rows);
    row->starts_peers = new_peers;
    row->tuple        = tuple_save(window->arena, exec, &window->input->slots);
    row->results      = ARENA_ARRAY(window->arena, SimValue, window->call_count + 1);
    return true;
}

/* Reads the next partition; the row behind it is kept aside. */
static bool window_fill(WindowOp *window, Exec *exec)
{
    bool new_partition = false, new_peers = false;
    Pull pull = PULL_END;

    if (window->has_pending) tuple_restore(exec, &window->input->slots, window->pending);
    arena_reset(window->arena);
    window->rows.items = NULL;
    window->rows.count = window->rows.capacity = window->at = 0;
    if (window->has_pending) {
        window->has_pending = false;
        window_keep(window, exec, true);
    }
    while (!window->is_done && (pull = op_next(window->input, exec)) == PULL_ROW) {
        if (!window_keys(window, exec, &new_partition, &new_peers)) return false;
        if (new_partition && window->rows.count > 0) {
            window->pending     = tuple_save(window->next_arena, exec, &window->input->slots);
            window->has_pending = true;
            return true;
        }
        window_keep(window, exec, new_peers);
    }
    window->is_done = window->is_done || pull == PULL_END;
    return pull != PULL_ERROR;
}

static bool window_number(WindowOp *window, Exec *exec, Node *node, int64_t *out)
{
    SimType         bigint = sim_type(SIM_BIGINT);
    SimValue        number;
    const SimValue *value = node_eval(node, exec);

    (void)window;
    if (!value) return false;
    if (value->is_null) return true;
    if (!sim_convert(value, &bigint, 0, true, exec->scratch, &number, exec->error)) return false;
    *out = number.i64;
    return true;
}

static bool fill_ranks(WindowOp *window, size_t at)
{
    int64_t rank = 0, dense_rank = 0;

    for (size_t i = 0; i < window->rows.count; i++) {
        WindowRow *row = &window->rows.items[i];
        if (row->starts_peers) {
            rank = (int64_t)i + 1;
            dense_rank++;
        }
        row->results[at] = sim_int(window->calls[at]->kind == WINDOW_ROW_NUMBER ? (int64_t)i + 1
                                   : window->calls[at]->kind == WINDOW_RANK     ? rank
                                                                                : dense_rank,
                                   SIM_BIGINT);
    }
    return true;
}

static bool fill_ntile(WindowOp *window, Exec *exec, size_t at)
{
    int64_t tiles = 0, count = (int64_t)window->rows.count;

    tuple_restore(exec, &window->input->slots, window->rows.items[0].tuple);
    if (!window_number(window, exec, window->calls[at]->arg, &tiles)) return false;
    if (tiles <= 0)
        return sim_error(
            exec->error, 4175,
            "The function 'ntile' takes only a positive int or bigint expression as its input.");
    int64_t size = count / tiles, larger = count % tiles;
    for (int64_t i = 0; i < count; i++) {
        int64_t in_larger = larger * (size + 1);
        int64_t tile = i < in_larger ? i / (size + 1) : larger + (i - in_larger) / MAX(size, 1);
        window->rows.items[i].results[at] = sim_int(tile + 1, SIM_BIGINT);
    }
    return true;
}

static size_t first_peer(const WindowOp *window, size_t row)
{
    while (row > 0 && !window->rows.items[row].starts_peers)
        row--;
    return row;
}

static size_t peers_end(const WindowOp *window, size_t row)
{
    do
        row++;
    while (row < window->rows.count && !window->rows.items[row].starts_peers);
    return row;
}

/* Rows start to end - 1 of the partition; none when start is not below end. */
static void frame_of(const WindowOp *window, const WindowCall *call, size_t row, size_t *start_out,
                     size_t *end_out)
{
    int64_t count = (int64_t)window->rows.count, at = (int64_t)row, start = 0, end = count;

    switch (call->start.kind) {
    case FRAME_UNBOUNDED_PRECEDING: break;
    case FRAME_PRECEDING: start = at - MIN(call->start.offset, count); break;
    case FRAME_CURRENT: start = call->is_range ? (int64_t)first_peer(window, row) : at; break;
    case FRAME_FOLLOWING: start = at + MIN(call->start.offset, count); break;
    case FRAME_UNBOUNDED_FOLLOWING: start = count; break;
    }
    switch (call->end.kind) {
    case FRAME_UNBOUNDED_PRECEDING: end = 0; break;
    case FRAME_PRECEDING: end = at - MIN(call->end.offset, count) + 1; break;
    case FRAME_CURRENT: end = call->is_range ? (int64_t)peers_end(window, row) : at + 1; break;
    case FRAME_FOLLOWING: end = at + MIN(call->end.offset, count) + 1; break;
    case FRAME_UNBOUNDED_FOLLOWING: break;
    }
    *start_out = (size_t)MAX(start, 0);
    *end_out   = (size_t)MAX(MIN(end, count), 0);
}

static bool fill_offset(WindowOp *window, Exec *exec, size_t at)
{
    WindowCall *call = window->calls[at];

    for (size_t i = 0; i < window->rows.count; i++) {
        int64_t offset = 1, from = 0;
        tuple_restore(exec, &window->input->slots, window->rows.items[i].tuple);
        if (call->offset && !window_number(window, exec, call->offset, &offset)) return false;
        if (offset < 0)
            return sim_error(
                exec->error, 8730,
                "Offset parameter for Lag and Lead functions cannot be a negative value.");
        offset = MIN(offset, (int64_t)window->rows.count);
        if (call->kind == WINDOW_LAG)
            from = (int64_t)i - offset;
        else if (call->kind == WINDOW_LEAD)
            from = (int64_t)i + offset;
        else if (call->has_frame) {
            size_t end = 0, start = 0;
            frame_of(window, call, i, &start, &end);
            from = start >= end                       ? -1
                   : call->kind == WINDOW_FIRST_VALUE ? (int64_t)start
                                                      : (int64_t)end - 1;
        } else if (call->kind == WINDOW_LAST_VALUE) { /* up to the last peer */
            from = (int64_t)i;
            while ((size_t)from + 1 < window->rows.count &&
                   !window->rows.items[from + 1].starts_peers)
                from++;
        }
        Node *node = call->arg;
        if (from < 0 || (size_t)from >= window->rows.count)
            node = call->otherwise;
        else
            tuple_restore(exec, &window->input->slots, window->rows.items[from].tuple);
        window->rows.items[i].results[at] = sim_null(call->type);
        if (!node) continue;
        const SimValue *value = node_eval(node, exec);
        SimValue        stored;
        if (!value || !value_store(exec, value, &call->type, window->arena, &stored)) return false;
        window->rows.items[i].results[at] = value_copy(window->arena, &stored);
    }
    return true;
}

/* Without ORDER BY the whole partition; with it everything up to the row's last peer. */
static bool fill_aggregate(WindowOp *window, Exec *exec, size_t at)
{
    AggregateCall *call    = &window->calls[at]->aggregate;
    AggregateState state   = {.is_started = false};
    bool           running = window->order.count > 0;

    for (size_t i = 0; i < window->rows.count;) {
        size_t end = i;
        do {
            tuple_restore(exec, &window->input->slots, window->rows.items[end].tuple);
            arena_reset(window->scratch);
            exec->scratch = window->scratch;
            if (!aggregate_add(&state, call, exec, window->arena)) return false;
            end++;
        } while (end < window->rows.count && (!running || !window->rows.items[end].starts_peers));
        SimValue result;
        if (!aggregate_result(&state, call, exec, window->arena, &result)) return false;
        for (; i < end; i++)
            window->rows.items[i].results[at] = result;
    }
    return true;
}

static bool add_rows(WindowOp *window, Exec *exec, AggregateCall *call, AggregateState *state,
                     size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        tuple_restore(exec, &window->input->slots, window->rows.items[i].tuple);
        arena_reset(window->scratch);
        exec->scratch = window->scratch;
        if (!aggregate_add(state, call, exec, window->arena)) return false;
    }
    return true;
}

/* A frame that only grows is added up as it does; one that moves is added up for each row. */
static bool fill_framed(WindowOp *window, Exec *exec, size_t at)
{
    WindowCall    *window_call = window->calls[at];
    AggregateCall *call        = &window_call->aggregate;
    AggregateState state       = {.is_started = false};
    size_t         done        = 0;
    bool           grows       = window_call->start.kind == FRAME_UNBOUNDED_PRECEDING;

    for (size_t i = 0; i < window->rows.count; i++) {
        size_t start = 0, end = 0;
        frame_of(window, window_call, i, &start, &end);
        if (!grows) {
            state = (AggregateState){.is_started = false};
            done  = start;
        }
        if (end > done && !add_rows(window, exec, call, &state, done, end)) return false;
        done = MAX(done, end);
        if (!aggregate_result(&state, call, exec, window->arena,
                              &window->rows.items[i].results[at]))
            return false;
    }
    return true;
}

static bool window_compute(WindowOp *window, Exec *exec)
{
    for (size_t i = 0; i < window->call_count; i++) {
        bool ok = true;
        arena_reset(window->scratch);
        exec->scratch = window->scratch;
        switch (window->calls[i]->kind) {
        case WINDOW_ROW_NUMBER:
        case WINDOW_RANK:
        case WINDOW_DENSE_RANK: ok = fill_ranks(window, i); break;
        case WINDOW_NTILE: ok = fill_ntile(window, exec, i); break;
        case WINDOW_LAG:
        case WINDOW_LEAD:
        case WINDOW_FIRST_VALUE:
        case WINDOW_LAST_VALUE: ok = fill_offset(window, exec, i); break;
        case WINDOW_AGGREGATE:
            ok = window->calls[i]->has_frame ? fill_framed(window, exec, i)
                                             : fill_aggregate(window, exec, i);
            break;
        }
        if (!ok) return false;
    }
    return true;
}

static Pull window_next(Op *op, Exec *exec)
{
    WindowOp *window = (WindowOp *)op;

    if (window->streams) return window_stream(window, exec);
    if (window->at >= window->rows.count) {
        if (window->is_done && !window->has_pending) return PULL_END;
        if (!window_fill(window, exec)) return PULL_ERROR;
        if (window->rows.count == 0) return PULL_END;
        if (!window_compute(window, exec)) return PULL_ERROR;
    }
    WindowRow *row = &window->rows.items[window->at++];
    tuple_restore(exec, &window->input->slots, row->tuple);
    for (size_t i = 0; i < window->call_count; i++)
        exec->slots[window->calls[i]->slot] = row->results[i];
    return PULL_ROW;
}

static void window_close(Op *op, Exec *exec)
{
    op_close(((WindowOp *)op)->input, exec);
}

static bool call_streams(const WindowCall *call)
{
    return call->kind == WINDOW_ROW_NUMBER || call->kind == WINDOW_RANK ||
           call->kind == WINDOW_DENSE_RANK || (call->kind == WINDOW_LAG && !call->offset);
}

Op *op_window(Arena *arena, Op *input, const NodeList *partition, const SortItems *order,
              WindowCall *const *calls, size_t call_count)
{
    WindowOp *window = ARENA_NEW(arena, WindowOp);

    window->op         = (Op){.open = window_open, .next = window_next, .close = window_close};
    window->input      = input;
    window->partition  = *partition;
    window->calls      = calls;
    window->call_count = call_count;
    window->streams    = true;
    window->before     = ARENA_ARRAY(arena, SimValue, call_count + 1);
    for (size_t i = 0; i < order->count; i++)
        *LIST_PUSH(arena, &window->order) = order->items[i].node;
    op_add_slots(arena, &window->op, &input->slots);
    for (size_t i = 0; i < call_count; i++) {
        window->streams &= call_streams(calls[i]);
        op_add_slot(arena, &window->op, calls[i]->slot);
    }
    op_keep_order(&window->op, input);
    return &window->op;
}
