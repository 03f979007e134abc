/* filter.c - the small operators: one row, filter, compute, limit, distinct, spool. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <assert.h>
#include <math.h>

/* --- one row, for SELECT without FROM --- */
typedef struct SingleRow {
    Op   op;
    bool is_done;
} SingleRow;

static bool single_open(Op *op, Exec *exec)
{
    (void)exec;
    ((SingleRow *)op)->is_done = false;
    return true;
}

static Pull single_next(Op *op, Exec *exec)
{
    SingleRow *single = (SingleRow *)op;

    (void)exec;
    if (single->is_done) return PULL_END;
    single->is_done = true;
    return PULL_ROW;
}

static void single_close(Op *op, Exec *exec)
{
    (void)op;
    (void)exec;
}

Op *op_single_row(Arena *arena)
{
    SingleRow *single = ARENA_NEW(arena, SingleRow);

    single->op = (Op){.open            = single_open,
                      .next            = single_next,
                      .close           = single_close,
                      .at_most_one     = true,
                      .order_is_unique = true};
    return &single->op;
}

/* --- filter --- */
typedef struct Filter {
    Op     op;
    Op    *input;
    Node  *predicate;
    Arena *scratch;
    bool   is_startup,
        is_open; /* a predicate without slots is tested once, before the input is opened */
} Filter;

static bool filter_open(Op *op, Exec *exec)
{
    Filter *filter = (Filter *)op;

    filter->is_open = false;
    if (!filter->scratch) filter->scratch = exec_arena(exec);
    if (filter->is_startup) {
        exec->scratch = filter->scratch;
        Truth truth   = filter->predicate->test(filter->predicate, exec);
        if (truth == TRUTH_ERROR) return false;
        if (truth != TRUTH_TRUE) return true;
    }
    filter->is_open = true;
    return op_open(filter->input, exec);
}

static Pull filter_next(Op *op, Exec *exec)
{
    Filter *filter = (Filter *)op;

    if (!filter->is_open) return PULL_END;
    for (;;) {
        Pull pull = op_next(filter->input, exec);
        if (pull != PULL_ROW || filter->is_startup) return pull;
        arena_reset(filter->scratch);
        exec->scratch = filter->scratch;
        Truth truth   = filter->predicate->test(filter->predicate, exec);
        if (truth == TRUTH_ERROR) return PULL_ERROR;
        if (truth == TRUTH_TRUE) return PULL_ROW;
    }
}

static void filter_close(Op *op, Exec *exec)
{
    Filter *filter = (Filter *)op;

    op_close(filter->input, exec);
    filter->is_open = false;
}

Op *op_filter(Arena *arena, Op *input, Node *predicate)
{
    Filter *filter = ARENA_NEW(arena, Filter);

    filter->op = (Op){
        .open = filter_open, .next = filter_next, .close = filter_close, .slots = input->slots};
    filter->input      = input;
    filter->predicate  = node_fold_constants(arena, predicate);
    filter->is_startup = node_is_constant(predicate);
    op_keep_order(&filter->op, input);
    return &filter->op;
}

/* --- compute --- */
typedef struct Compute {
    Op         op;
    Op        *input;
    AssignList assigns;
    Arena     *scratch;
} Compute;

static bool compute_open(Op *op, Exec *exec)
{
    Compute *compute = (Compute *)op;

    if (!compute->scratch) compute->scratch = exec_arena(exec);
    return op_open(compute->input, exec);
}

static Pull compute_next(Op *op, Exec *exec)
{
    Compute *compute = (Compute *)op;
    Pull     pull    = op_next(compute->input, exec);

    if (pull != PULL_ROW) return pull;
    arena_reset(compute->scratch);
    exec->scratch = compute->scratch;
    for (size_t i = 0; i < compute->assigns.count; i++) {
        const SimValue *value = node_eval(compute->assigns.items[i].node, exec);
        if (!value) return PULL_ERROR;
        exec->slots[compute->assigns.items[i].slot] = *value;
    }
    return PULL_ROW;
}

static void compute_close(Op *op, Exec *exec)
{
    op_close(((Compute *)op)->input, exec);
}

static int64_t compute_skip(Op *op, Exec *exec, int64_t rows)
{
    Compute *compute = (Compute *)op;

    if (!compute->input->skip) return 0;
    for (size_t i = 0; i < compute->assigns.count; i++) /* anything else might fail */
        if (compute->assigns.items[i].node->kind != NODE_SLOT) return 0;
    return compute->input->skip(compute->input, exec, rows);
}

Node *op_computed(const Op *op, int slot)
{
    for (; op->open == compute_open; op = ((const Compute *)op)->input)
        for (size_t i = 0; i < ((const Compute *)op)->assigns.count; i++)
            if (((const Compute *)op)->assigns.items[i].slot == slot)
                return ((const Compute *)op)->assigns.items[i].node;
    return NULL;
}

Op *op_below_computes(Op *op)
{
    while (op->open == compute_open)
        op = ((Compute *)op)->input;
    return op;
}

Op *op_compute(Arena *arena, Op *input, const AssignList *assigns, bool keep_input)
{
    Compute *compute = ARENA_NEW(arena, Compute);

    compute->op = (Op){
        .open = compute_open, .next = compute_next, .close = compute_close, .skip = compute_skip};
    compute->input   = input;
    compute->assigns = *assigns;
    if (keep_input) op_add_slots(arena, &compute->op, &input->slots);
    for (size_t i = 0; i < assigns->count; i++) {
        assigns->items[i].node = node_fold_constants(arena, assigns->items[i].node);
        op_add_slot(arena, &compute->op, assigns->items[i].slot);
    }
    op_keep_order(&compute->op, input);
    return &compute->op;
}

/* --- TOP, OFFSET, FETCH --- */
typedef struct Limit {
    Op        op;
    Op       *input;
    LimitSpec spec;
    bool      is_unlimited;
    int64_t   skip, left;
    Arena    *scratch;
    Arena    *tie_arena;
    Str       tie;
    bool      in_ties;
} Limit;

static bool limit_number(Node *node, Exec *exec, const char *what, int64_t *out)
{
    SimType         bigint = sim_type(SIM_BIGINT);
    SimValue        number;
    const SimValue *value = node_eval(node, exec);

    if (!value) return false;
    if (value->is_null)
        return sim_error(exec->error, 1014, "A TOP or FETCH clause contains an invalid value.");
    if (!sim_convert(value, &bigint, 0, true, exec->scratch, &number, exec->error)) return false;
    if (number.i64 < 0 && *what == 'T')
        return sim_error(exec->error, 1014, "A TOP or FETCH clause contains an invalid value.");
    if (number.i64 < 0)
        return sim_error(exec->error, 10742,
                         "The offset specified in a OFFSET clause may not be negative.");
    *out = number.i64;
    return true;
}

/* TOP PERCENT: the part of the input's rows, the last begun one whole. The input is a sort, which has them all. */
static bool limit_percent(Limit *limit, Exec *exec)
{
    SimType         type = sim_type(SIM_FLOAT);
    SimValue        percent;
    const SimValue *value = node_eval(limit->spec.top, exec);

    if (!value) return false;
    if (value->is_null)
        return sim_error(exec->error, 1014, "A TOP or FETCH clause contains an invalid value.");
    if (!sim_convert(value, &type, 0, true, exec->scratch, &percent, exec->error)) return false;
    if (!(percent.f64 >= 0 && percent.f64 <= 100))
        return sim_error(exec->error, 1031, "Percent values must be between 0 and 100.");
    if (!op_open(limit->input, exec)) return false;
    limit->left = (int64_t)ceil((double)op_sort_count(limit->input) * percent.f64 / 100);
    return true;
}

static bool limit_open(Op *op, Exec *exec)
{
    Limit *limit = (Limit *)op;

    if (!limit->scratch) limit->scratch = exec_arena(exec);
    if (!limit->tie_arena) limit->tie_arena = exec_arena(exec);
    exec->scratch       = limit->scratch;
    limit->skip         = 0;
    limit->left         = 0;
    limit->in_ties      = false;
    limit->is_unlimited = !limit->spec.top && !limit->spec.fetch;
    if (limit->spec.percent) return limit_percent(limit, exec);
    if (limit->spec.offset && !limit_number(limit->spec.offset, exec, "OFFSET", &limit->skip))
        return false;
    if (limit->spec.top && !limit_number(limit->spec.top, exec, "TOP", &limit->left)) return false;
    if (limit->spec.fetch && !limit_number(limit->spec.fetch, exec, "TOP", &limit->left))
        return false;
    if (limit->left > 0 || limit->is_unlimited) return op_open(limit->input, exec);
    return !op_scan_locks_table(limit->input) || op_open(limit->input, exec);
}

static bool limit_tie(Limit *limit, Exec *exec, Str *out)
{
    Buf buf = buf_new(limit->scratch, 0);

    arena_reset(limit->scratch);
    buf           = buf_new(limit->scratch, 0);
    exec->scratch = limit->scratch;
    for (size_t i = 0; i < limit->spec.ties.count; i++) {
        const SimValue *value = node_eval(limit->spec.ties.items[i].node, exec);
        if (!value) return false;
        sim_sort_key(value, false, &buf);
    }
    *out = buf_str(&buf);
    return key_is_whole(exec, &buf);
}

/* OFFSET, as far as the input can do without its rows. */
static void limit_pass(Limit *limit, Exec *exec)
{
    if (limit->skip > 0 && limit->input->skip)
        limit->skip -= limit->input->skip(limit->input, exec, limit->skip);
}

static int64_t limit_skip(Op *op, Exec *exec, int64_t rows)
{
    Limit  *limit = (Limit *)op;
    int64_t most  = limit->is_unlimited ? rows : MIN(rows, limit->left);

    if (limit->spec.with_ties || !limit->input->skip || most == 0) return 0;
    limit_pass(limit, exec);
    if (limit->skip > 0) return 0;
    int64_t passed = limit->input->skip(limit->input, exec, most);
    if (!limit->is_unlimited) limit->left -= passed;
    return passed;
}

static Pull limit_next(Op *op, Exec *exec)
{
    Limit *limit = (Limit *)op;
    Str    key   = STR_EMPTY;
    Pull   pull;

    if (limit->left == 0 && !limit->is_unlimited && !limit->in_ties) return PULL_END;
    limit_pass(limit, exec);
    for (; limit->skip > 0; limit->skip--)
        if ((pull = op_next(limit->input, exec)) != PULL_ROW) return pull;
    pull = op_next(limit->input, exec);
    if (pull != PULL_ROW || limit->is_unlimited) return pull;
    if (limit->in_ties) {
        if (!limit_tie(limit, exec, &key)) return PULL_ERROR;
        return str_equal(key, limit->tie) ? PULL_ROW : PULL_END;
    }
    if (--limit->left == 0 && limit->spec.with_ties) {
        if (!limit_tie(limit, exec, &key)) return PULL_ERROR;
        arena_reset(limit->tie_arena);
        limit->tie     = str_copy(limit->tie_arena, key);
        limit->in_ties = true;
    }
    return PULL_ROW;
}

static void limit_close(Op *op, Exec *exec)
{
    Limit *limit = (Limit *)op;

    op_close(limit->input, exec);
}

Op *op_limit(Arena *arena, Op *input, const LimitSpec *spec)
{
    Limit *limit = ARENA_NEW(arena, Limit);

    limit->op    = (Op){.open  = limit_open,
                        .next  = limit_next,
                        .close = limit_close,
                        .skip  = limit_skip,
                        .slots = input->slots};
    limit->input = input;
    limit->spec  = *spec;
    op_keep_order(&limit->op, input);
    if (spec->top && !spec->percent && spec->top->kind == NODE_CONST && spec->top->value.i64 <= 1 &&
        !spec->with_ties)
        limit->op.at_most_one = true;
    return &limit->op;
}

/* --- DISTINCT --- */
typedef struct Distinct {
    Op       op;
    Op      *input;
    NodeList keys;
    KeyTable seen;
    Arena   *arena, *scratch;
} Distinct;

static bool distinct_open(Op *op, Exec *exec)
{
    Distinct *distinct = (Distinct *)op;

    if (!distinct->arena) {
        distinct->arena   = exec_arena(exec);
        distinct->scratch = exec_arena(exec);
    }
    arena_reset(distinct->arena);
    key_table_init(&distinct->seen, distinct->arena);
    return op_open(distinct->input, exec);
}

static Pull distinct_next(Op *op, Exec *exec)
{
    Distinct *distinct = (Distinct *)op;

    for (;;) {
        bool is_new = false, has_null = false;
        Pull pull = op_next(distinct->input, exec);
        if (pull != PULL_ROW) return pull;
        arena_reset(distinct->scratch);
        exec->scratch = distinct->scratch;
        Buf key       = buf_new(distinct->scratch, 0);
        if (!key_of_nodes(exec, distinct->keys.items, distinct->keys.count, &key, &has_null))
            return PULL_ERROR;
        key_table_add(&distinct->seen, buf_str(&key), &is_new);
        if (is_new) return PULL_ROW;
    }
}

static void distinct_close(Op *op, Exec *exec)
{
    op_close(((Distinct *)op)->input, exec);
}

Op *op_distinct(Arena *arena, Op *input, const NodeList *keys)
{
    Distinct *distinct = ARENA_NEW(arena, Distinct);

    distinct->op    = (Op){.open  = distinct_open,
                           .next  = distinct_next,
                           .close = distinct_close,
                           .slots = input->slots};
    distinct->input = input;
    distinct->keys  = *keys;
    op_keep_order(&distinct->op, input);
    return &distinct->op;
}

/* --- spool --- */
typedef struct Spool {
    Op     op;
    Op    *input;
    Arena *arena;
    LIST(SimValue *) rows;
    size_t at;
    bool   is_filled;
} Spool;

static bool spool_open(Op *op, Exec *exec)
{
    Spool *spool = (Spool *)op;

    spool->at = 0;
    if (spool->is_filled) return true;
    if (!spool->arena) spool->arena = exec_arena(exec);
    arena_reset(spool->arena);
    spool->rows.items = NULL;
    spool->rows.count = spool->rows.capacity = 0;
    if (!op_open(spool->input, exec)) return false;
    Pull pull;
    while ((pull = op_next(spool->input, exec)) == PULL_ROW)
        *LIST_PUSH(spool->arena, &spool->rows) = tuple_save(spool->arena, exec, &op->slots);
    op_close(spool->input, exec);
    spool->is_filled = pull == PULL_END;
    return spool->is_filled;
}

static Pull spool_next(Op *op, Exec *exec)
{
    Spool *spool = (Spool *)op;

    if (spool->at >= spool->rows.count) return PULL_END;
    tuple_restore(exec, &op->slots, spool->rows.items[spool->at++]);
    return PULL_ROW;
}

/* Rows are kept for the next opening. */
static void spool_close(Op *op, Exec *exec)
{
    (void)op;
    (void)exec;
}

Op *op_spool(Arena *arena, Op *input)
{
    Spool *spool = ARENA_NEW(arena, Spool);

    spool->op = (Op){
        .open = spool_open, .next = spool_next, .close = spool_close, .slots = input->slots};
    spool->input = input;
    op_keep_order(&spool->op, input);
    return &spool->op;
}
