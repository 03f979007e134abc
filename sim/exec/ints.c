/* ints.c - expressions over integers as a list of steps, each over a batch of rows.
 *
 * The steps compute every branch of a CASE for every row. A value that does not fit its type, or a division by zero, may be
 * of a branch that is not taken, so it is no error here: the statement is run again row by row, which knows. */
#include "sim/exec/ints.h"

#include <string.h>

#include "sim/session/front_internal.h"
#include "sim/session/session_internal.h"

#define STEPS_MOST 64

typedef enum StepKind {
    STEP_CONSTANT,
    STEP_COLUMN,
    STEP_ARITHMETIC,
    STEP_CHECK,
    STEP_CHOOSE
} StepKind;

typedef struct Step {
    StepKind  kind;
    char      op;        /* ARITHMETIC */
    CompareOp compare;   /* CHOOSE: left, right, then, otherwise */
    int       args[4];   /* steps before */
    int64_t   low, high; /* what the type can hold */
    int64_t   constant;
    int64_t  *values;
} Step;

typedef struct Program {
    Exec  *exec;
    Arena *arena;
    Op    *input;
    Step   steps[STEPS_MOST];
    int    step_count;
    size_t ordinals[STEPS_MOST];
    int    columns[STEPS_MOST]; /* their steps */
    size_t column_count;
    bool   failed; /* evaluating a constant */
} Program;

/* --- compiling --- */

static bool int_range(const SimType *type, int64_t *low, int64_t *high)
{
    switch (type->kind) {
    case SIM_TINYINT:
        *low  = 0;
        *high = UINT8_MAX;
        return true;
    case SIM_SMALLINT:
        *low  = INT16_MIN;
        *high = INT16_MAX;
        return true;
    case SIM_INT:
        *low  = INT32_MIN;
        *high = INT32_MAX;
        return true;
    case SIM_BIGINT:
        *low  = INT64_MIN;
        *high = INT64_MAX;
        return true;
    default: return false;
    }
}

/* -1: there are too many. */
static int add_step(Program *program, const SimType *type, StepKind kind)
{
    Step step = {.kind = kind};

    if (program->step_count == STEPS_MOST || !int_range(type, &step.low, &step.high)) return -1;
    step.values                         = ARENA_ARRAY(program->arena, int64_t, SIM_SCAN_ROWS);
    program->steps[program->step_count] = step;
    return program->step_count++;
}

static int compile(Program *program, Node *node);

static int compile_constant(Program *program, Node *node)
{
    const SimValue *value = node_eval(node, program->exec);

    if (!value) program->failed = true;
    if (!value || value->is_null) return -1;
    int at = add_step(program, &value->type, STEP_CONSTANT);
    for (size_t i = 0; at >= 0 && i < SIM_SCAN_ROWS; i++)
        program->steps[at].values[i] = value->i64;
    if (at >= 0) program->steps[at].constant = value->i64;
    return at;
}

/* A column of the scan below, or what an operator in between computes under that slot. */
static int compile_slot(Program *program, const Node *node)
{
    size_t      ordinal;
    const Node *made = op_computed(program->input, node->slot);

    if (made)
        return made->kind == NODE_SLOT && made->slot == node->slot
                   ? -1
                   : compile(program, (Node *)(uintptr_t)made);
    if (node->is_nullable ||
        !op_scan_ordinal(op_below_computes(program->input), node->slot, &ordinal))
        return -1;
    for (size_t i = 0; i < program->column_count; i++)
        if (program->ordinals[i] == ordinal) return program->columns[i];
    int at = add_step(program, &node->type, STEP_COLUMN);
    if (at < 0) return -1;
    program->ordinals[program->column_count]  = ordinal;
    program->columns[program->column_count++] = at;
    return at;
}

static int compile_parts(Program *program, const Node *node, StepKind kind, Node *const *parts,
                         size_t count)
{
    int args[4] = {-1, -1, -1, -1};

    for (size_t i = 0; i < count; i++) {
        args[i] = parts[i] ? compile(program, parts[i]) : -1;
        if (args[i] < 0) return -1;
    }
    int at = add_step(program, &node->type, kind);
    for (size_t i = 0; at >= 0 && i < count; i++)
        program->steps[at].args[i] = args[i];
    return at;
}

/* CASE WHEN left op right THEN value ELSE value END. */
static int compile_case(Program *program, const Node *node)
{
    const Node *test = node->args[0];

    if (node->arg_count != 3 || test->kind != NODE_COMPARE) return -1;
    Node *parts[] = {test->args[0], test->args[1], node->args[1], node->args[2]};
    int   at      = compile_parts(program, node, STEP_CHOOSE, parts, 4);
    if (at >= 0) program->steps[at].compare = test->compare;
    return at;
}

static bool is_one_of(char op, const char *ops)
{
    return op != 0 && str_find_char(str_from_c(ops), op, 0) >= 0;
}

static int compile(Program *program, Node *node)
{
    int at;

    if (node->is_volatile || node->query || node->is_try) return -1;
    if (node->kind == NODE_SLOT) return compile_slot(program, node);
    if (node->kind == NODE_CONST || node_is_constant(node)) return compile_constant(program, node);
    if (node->eval == eval_arithmetic && is_one_of(node->op, "+-*/%")) {
        at = compile_parts(program, node, STEP_ARITHMETIC, node->args, 2);
        if (at >= 0) program->steps[at].op = node->op;
        return at;
    }
    if (node->eval == eval_convert && node->arg_count == 1)
        return compile_parts(program, node, STEP_CHECK, node->args, 1);
    return node->eval == eval_case ? compile_case(program, node) : -1;
}

/* SUM converts to a wider number first, which changes nothing of an integer. */
static Node *without_decimal(Node *node)
{
    bool widens = node->eval == eval_convert && node->arg_count == 1 &&
                  node->type.kind == SIM_DECIMAL && node->type.precision >= 19 &&
                  node->type.scale == 0;

    return widens ? node->args[0] : node;
}

/* -1: not one of these; COUNT(*) needs none. */
static int compile_call(Program *program, const AggregateCall *call)
{
    if (call->distinct || call->separator || call->order.count > 0) return -1;
    switch (call->function->kind) {
    case SIM_COUNT:
    case SIM_COUNT_BIG: return call->arg ? compile(program, call->arg) : STEPS_MOST;
    case SIM_SUM: return call->arg ? compile(program, without_decimal(call->arg)) : -1;
    case SIM_MIN:
    case SIM_MAX: return call->arg ? compile(program, call->arg) : -1;
    case SIM_AVG:
    case SIM_STRING_AGG:
    case SIM_STDEV:
    case SIM_STDEVP:
    case SIM_VAR:
    case SIM_VARP:
    case SIM_BYTES_OR: break;
    }
    return -1;
}

/* --- running --- */

static bool run_arithmetic(const Step *step, const int64_t *left, const int64_t *right,
                           size_t count)
{
    int64_t *out = step->values;
    bool     bad = false;

    switch (step->op) {
    case '+':
        for (size_t i = 0; i < count; i++)
            bad |= __builtin_add_overflow(left[i], right[i], &out[i]);
        break;
    case '-':
        for (size_t i = 0; i < count; i++)
            bad |= __builtin_sub_overflow(left[i], right[i], &out[i]);
        break;
    case '*':
        for (size_t i = 0; i < count; i++)
            bad |= __builtin_mul_overflow(left[i], right[i], &out[i]);
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            if (right[i] == 0 || right[i] == -1) return false; /* the one value that overflows */
            out[i] = step->op == '/' ? left[i] / right[i] : left[i] % right[i];
        }
        break;
    }
    return !bad;
}

static bool is_within(const Step *step, size_t count)
{
    bool bad = false;

    if (step->low == INT64_MIN) return true;
    for (size_t i = 0; i < count; i++)
        bad |= (step->values[i] < step->low) | (step->values[i] > step->high);
    return !bad;
}

static bool holds(CompareOp op, int64_t left, int64_t right)
{
    switch (op) {
    case CMP_LT: return left < right;
    case CMP_LE: return left <= right;
    case CMP_GT: return left > right;
    case CMP_GE: return left >= right;
    case CMP_EQ: return left == right;
    case CMP_NE: return left != right;
    }
    return false;
}

static bool run_step(Program *program, Step *step, size_t count)
{
    const int64_t *args[4] = {NULL, NULL, NULL, NULL};

    for (size_t i = 0; i < 4; i++)
        if (step->args[i] >= 0) args[i] = program->steps[step->args[i]].values;
    switch (step->kind) {
    case STEP_CONSTANT:
    case STEP_COLUMN: return true;
    case STEP_ARITHMETIC:
        return run_arithmetic(step, args[0], args[1], count) && is_within(step, count);
    case STEP_CHECK:
        memcpy(step->values, args[0], count * sizeof(int64_t));
        return is_within(step, count);
    case STEP_CHOOSE:
        for (size_t i = 0; i < count; i++)
            step->values[i] = holds(step->compare, args[0][i], args[1][i]) ? args[2][i]
                                                                           : args[3][i];
        return is_within(step, count);
    }
    return false;
}

static bool run_steps(Program *program, size_t count)
{
    for (int i = 0; i < program->step_count; i++)
        if (!run_step(program, &program->steps[i], count)) return false;
    return true;
}

/* --- groups --- */

static uint64_t key_hash(int64_t key)
{
    return ((uint64_t)key * 0x9E3779B97F4A7C15u) >> 32;
}

static void grow(IntGroups *groups, Arena *arena)
{
    size_t    capacity = groups->capacity ? 2 * groups->capacity : 64;
    IntGroup *items    = ARENA_ARRAY(arena, IntGroup, capacity);

    if (groups->count) memcpy(items, groups->items, groups->count * sizeof *items);
    groups->items        = items;
    groups->capacity     = capacity;
    groups->bucket_count = 2 * capacity;
    groups->buckets      = ARENA_ARRAY(arena, uint32_t, groups->bucket_count);
    for (size_t i = 0; i < groups->count; i++) {
        size_t at = key_hash(items[i].key) & (groups->bucket_count - 1);
        while (groups->buckets[at])
            at = (at + 1) & (groups->bucket_count - 1);
        groups->buckets[at] = (uint32_t)i + 1;
    }
}

static IntSum *sums_of(IntGroups *groups, Arena *arena, int64_t key, size_t call_count)
{
    if (groups->count == groups->capacity) grow(groups, arena);
    size_t at = key_hash(key) & (groups->bucket_count - 1);
    for (; groups->buckets[at]; at = (at + 1) & (groups->bucket_count - 1))
        if (groups->items[groups->buckets[at] - 1].key == key)
            return groups->items[groups->buckets[at] - 1].sums;
    IntGroup *group = &groups->items[groups->count++];
    *group          = (IntGroup){key, ARENA_ARRAY(arena, IntSum, call_count + 1)};
    for (size_t i = 0; i < call_count; i++)
        group->sums[i] = (IntSum){.least = INT64_MAX, .most = INT64_MIN};
    groups->buckets[at] = (uint32_t)groups->count;
    return group->sums;
}

static Int128 plus(Int128 sum, int64_t value)
{
    uint64_t lower = sum.lower + (uint64_t)value;

    return (Int128){.lower = lower,
                    .upper = sum.upper + (value < 0 ? -1 : 0) + (lower < sum.lower ? 1 : 0)};
}

static void add_run(IntSum *sum, const int64_t *values, size_t from, size_t to)
{
    sum->count += (int64_t)(to - from);
    if (!values) return;
    for (size_t i = from; i < to; i++) {
        sum->sum = plus(sum->sum, values[i]);
        sum->left_bigint |= sum->sum.upper != ((int64_t)sum->sum.lower < 0 ? -1 : 0);
        if (values[i] < sum->least) sum->least = values[i];
        if (values[i] > sum->most) sum->most = values[i];
    }
}

/* Rows of one key mostly come together: a run of them is looked up once. */
static void add_batch(Program *program, IntGroups *groups, int key, const int *args,
                      size_t call_count, size_t count)
{
    const int64_t *keys = key >= 0 ? program->steps[key].values : NULL;

    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && (!keys || keys[to] == keys[from]);)
            to++;
        IntSum *sums = sums_of(groups, program->arena, keys ? keys[from] : 0, call_count);
        for (size_t i = 0; i < call_count; i++)
            add_run(&sums[i], args[i] < STEPS_MOST ? program->steps[args[i]].values : NULL, from,
                    to);
    }
}

static bool run_program(Program *program, SimScan *scan, IntGroups *out, int key, const int *args,
                        size_t call_count, bool *done_out)
{
    int64_t *columns[STEPS_MOST];
    size_t   count;

    for (size_t i = 0; i < program->column_count; i++)
        columns[i] = program->steps[program->columns[i]].values;
    for (;;) {
        if (!exec_check(program->exec)) return false;
        if (!sim_scan_next_ints(scan, program->ordinals, program->column_count, columns, &count,
                                program->exec->error))
            return false;
        if (count == 0) break;
        if (!run_steps(program, count)) return true; /* row by row, then */
        add_batch(program, out, key, args, call_count, count);
    }
    *done_out = true;
    return true;
}

/* Of a table whose rows are computed: a count needs no row, the ends of the leading column two. */
static bool is_known_by_its_ends(const Program *program, const int *args,
                                 AggregateCall *const *calls, size_t call_count, const Op *scan_op)
{
    for (size_t i = 0; i < call_count; i++) {
        bool is_end = calls[i]->function->kind == SIM_MIN || calls[i]->function->kind == SIM_MAX;
        if (!is_end && (calls[i]->arg || calls[i]->function->kind == SIM_SUM)) return false;
        if (!is_end) continue;
        if (program->steps[args[i]].kind != STEP_COLUMN || scan_op->order.count == 0) return false;
        size_t ordinal;
        if (!op_scan_ordinal(scan_op, scan_op->order.items[0].slot, &ordinal)) return false;
        if (program->columns[0] != args[i] || program->ordinals[0] != ordinal) return false;
    }
    return true;
}

static bool run_ends(Program *program, SimScan *scan, IntGroups *out, const int *args,
                     size_t call_count, bool *done_out)
{
    int64_t  left = sim_scan_rows_left(scan);
    int64_t *columns[STEPS_MOST];
    size_t   count;

    *done_out = true;
    for (size_t i = 0; i < program->column_count; i++)
        columns[i] = program->steps[program->columns[i]].values;
    if (left == 0) return true;
    for (int end = 0; end < 2; end++) {
        if (!sim_scan_next_ints(scan, program->ordinals, program->column_count, columns, &count,
                                program->exec->error))
            return false;
        if (count == 0) break; /* the first batch had them all */
        add_batch(program, out, -1, args, call_count, count);
        sim_scan_pass(scan, sim_scan_rows_left(scan) - 1);
    }
    for (size_t i = 0; i < call_count; i++)
        out->items[0].sums[i].count = left;
    return true;
}

bool ints_group(Exec *exec, Arena *arena, Op *input, const NodeList *keys,
                AggregateCall *const *calls, size_t call_count, IntGroups *out, bool *done_out)
{
    Program *program = ARENA_NEW(arena, Program);
    int     *args    = ARENA_ARRAY(arena, int, call_count + 1);
    int      key     = -1;

    *done_out      = false;
    *out           = (IntGroups){.count = 0};
    program->exec  = exec;
    program->arena = arena;
    program->input = input;
    if (atomic_load(&exec->session->front->hook_count) > 0) return true; /* they count rows */
    if (keys->count > 1 || !op_scan_is_bare(op_below_computes(input))) return true;
    exec->scratch = arena;
    if (keys->count == 1) {
        key = compile(program, keys->items[0]);
        if (key < 0) return !program->failed;
    }
    for (size_t i = 0; i < call_count; i++) {
        args[i] = compile_call(program, calls[i]);
        if (args[i] < 0) return !program->failed;
    }
    SimScan *scan = NULL;
    if (!op_open(input, exec)) return false;
    scan = op_scan_model(op_below_computes(input));
    if (!scan) { /* the bounds say that it is empty */
        *done_out = true;
        return true;
    }
    bool knows = keys->count == 0 && sim_scan_rows_left(scan) >= 0 &&
                 is_known_by_its_ends(program, args, calls, call_count, op_below_computes(input));
    bool ok = knows ? run_ends(program, scan, out, args, call_count, done_out)
                    : run_program(program, scan, out, key, args, call_count, done_out);
    op_scan_note(op_below_computes(input), exec);
    op_close(input, exec);
    return ok;
}

static SimValue null_of(const AggregateCall *call)
{
    return sim_null(call->type);
}

bool ints_result(const AggregateCall *call, const IntSum *sum, SimValue *out)
{
    bool    is_count = call->function->kind == SIM_COUNT || call->function->kind == SIM_COUNT_BIG;
    int64_t low, high;
    int64_t number = is_count                          ? sum->count
                     : call->function->kind == SIM_MIN ? sum->least
                                                       : sum->most;

    *out = (SimValue){.type = call->type};
    if (!is_count && sum->count == 0) {
        *out = null_of(call);
        return true;
    }
    if (call->function->kind == SIM_SUM) {
        out->dec = sum->sum;
        if (call->type.kind == SIM_DECIMAL)
            return call->type.precision == 38 && call->type.scale == 0;
        if (sum->left_bigint) return false; /* even if it came back */
        number = (int64_t)sum->sum.lower;
    }
    out->i64 = number;
    return int_range(&call->type, &low, &high) && number >= low && number <= high;
}
