/* Aggregates: their types and the sums they keep (sqlserver.md 2.10). */
#include "sim/function/aggregate.h"

#include "sim/value/value_internal.h"

#include <math.h>
#include <string.h>

static const SimAggregate aggregates[] = {
    {"COUNT", SIM_COUNT, 1},
    {"COUNT_BIG", SIM_COUNT_BIG, 1},
    {"SUM", SIM_SUM, 1},
    {"AVG", SIM_AVG, 1},
    {"MIN", SIM_MIN, 1},
    {"MAX", SIM_MAX, 1},
    {"STRING_AGG", SIM_STRING_AGG, 2},
    {"STDEV", SIM_STDEV, 1},
    {"STDEVP", SIM_STDEVP, 1},
    {"VAR", SIM_VAR, 1},
    {"VARP", SIM_VARP, 1},
    {"__$BYTES_OR", SIM_BYTES_OR, 1},
};

const SimAggregate *sim_aggregate_find(Str name)
{
    for (size_t i = 0; i < COUNT_OF(aggregates); i++) {
        if (str_equal_ignoring_case(name, str_from_c(aggregates[i].name))) return &aggregates[i];
    }
    return NULL;
}

/* --- types --- */
static bool is_float(SimTypeKind kind)
{
    return kind == SIM_FLOAT || kind == SIM_REAL;
}

static bool refuse(const SimAggregate *aggregate, const SimType *arg, SimError *error)
{
    static const char *const names[] = {"count",      "count_big", "sum",    "avg", "min",  "max",
                                        "string_agg", "stdev",     "stdevp", "var", "varp", "or"};

    return sim_error(error, 8117, "Operand data type %s is invalid for %s operator.",
                     arg->kind == SIM_DECIMAL ? "numeric" : sim_type_name(arg->kind),
                     names[aggregate->kind]);
}

static SimType sum_type(const SimType *arg, bool is_average)
{
    SimType type;

    switch (arg->kind) {
    case SIM_BIGINT: return sim_type(SIM_BIGINT);
    case SIM_MONEY:
    case SIM_SMALLMONEY: return sim_type(SIM_MONEY);
    case SIM_REAL:
    case SIM_FLOAT: return sim_type(SIM_FLOAT);
    case SIM_DECIMAL:
        type = sim_type_decimal(DECIMAL_DIGITS_MAX, is_average ? MAX(arg->scale, 6) : arg->scale);
        type.is_numeric = arg->is_numeric;
        return type;
    default: return sim_type(SIM_INT);
    }
}

static SimType text_type(const SimType *arg)
{
    bool    wide = sim_type_is_unicode(arg->kind) || !sim_type_is_text(arg->kind);
    SimType type = sim_type_sized(wide ? SIM_NVARCHAR : SIM_VARCHAR,
                                  sim_type_is_text(arg->kind) && arg->length < 0 ? -1
                                  : wide                                         ? 4000
                                                                                 : 8000);

    type.collation = arg->collation;
    return type;
}

bool sim_aggregate_type(const SimAggregate *aggregate, const SimType *arg, SimType *out,
                        SimError *error)
{
    static const SimType row     = {.kind = SIM_INT}; /* COUNT(*) has no argument */
    const SimType       *operand = arg != NULL ? arg : &row;
    SimTypeKind          kind    = operand->kind;
    bool                 bad     = sim_type_is_lob(kind) || kind == SIM_XML;

    switch (aggregate->kind) {
    case SIM_COUNT:
    case SIM_COUNT_BIG:
        if (bad) return refuse(aggregate, operand, error);
        *out = sim_type(aggregate->kind == SIM_COUNT ? SIM_INT : SIM_BIGINT);
        return true;
    case SIM_SUM:
    case SIM_AVG:
        if (!sim_type_is_number(kind) || kind == SIM_BIT) return refuse(aggregate, operand, error);
        *out = sum_type(operand, aggregate->kind == SIM_AVG);
        return true;
    case SIM_MIN:
    case SIM_MAX:
        if (bad || kind == SIM_BIT) return refuse(aggregate, operand, error);
        *out = *operand;
        if (sim_type_is_integer(kind)) *out = sim_type(kind);
        return true;
    case SIM_STRING_AGG:
        if (bad || sim_type_is_binary(kind)) return refuse(aggregate, operand, error);
        *out = text_type(operand);
        return true;
    case SIM_STDEV:
    case SIM_STDEVP:
    case SIM_VAR:
    case SIM_VARP:
        if (!sim_type_is_number(kind) || kind == SIM_BIT) return refuse(aggregate, operand, error);
        *out = sim_type(SIM_FLOAT);
        return true;
    case SIM_BYTES_OR:
        if (kind != SIM_VARBINARY) return refuse(aggregate, operand, error);
        *out = *operand;
        return true;
    }
    return true;
}

/* --- adding up --- */
void sim_accumulator_init(SimAccumulator *accumulator, const SimAggregate *aggregate,
                          const SimType *type, Arena *arena)
{
    *accumulator = (SimAccumulator){.aggregate = aggregate, .type = *type, .arena = arena};
}

static bool overflow(const SimType *type, SimError *error)
{
    return sim_error(error, 8115,
                     "Arithmetic overflow error converting expression to data type %s.",
                     type->kind == SIM_DECIMAL ? "numeric" : sim_type_name(type->kind));
}

static double as_double(const SimValue *value)
{
    Wide number = 0;
    int  scale  = 0;

    if (is_float(value->type.kind)) return value->f64;
    value_as_decimal(value, &number, &scale);
    return (double)number / (double)wide_power_of_ten(scale);
}

/* Sums of int overflow as int only when they are asked for: a later row may bring them back. */
static bool add_number(SimAccumulator *accumulator, const SimValue *value, SimError *error)
{
    Wide number = 0;
    int  scale  = 0;

    if (is_float(accumulator->type.kind)) {
        accumulator->sum_f64 += as_double(value);
        return !isinf(accumulator->sum_f64) || overflow(&accumulator->type, error);
    }
    value_as_decimal(value, &number, &scale);
    accumulator->best.type.scale = (uint8_t)scale; /* that of the sum */
    Wide sum                     = wide_from(accumulator->sum_dec) + number;
    if (!wide_fits(sum, DECIMAL_DIGITS_MAX)) return overflow(&accumulator->type, error);
    accumulator->sum_dec = wide_to(sum);
    return true;
}

static void add_statistics(SimAccumulator *accumulator, double number)
{
    double delta =
        number -
        accumulator->sum_f64; /* the mean so far; Welford's sums stay exact where squares cancel */

    accumulator->sum_f64 += delta / (double)accumulator->count;
    accumulator->sum_squares += delta * (number - accumulator->sum_f64);
}

static void append_bytes(SimAccumulator *accumulator, Bytes bytes)
{
    if (bytes.len == 0) return;
    if (accumulator->bytes_len + bytes.len > accumulator->bytes_capacity) {
        size_t   capacity = MAX((accumulator->bytes_len + bytes.len) * 2, (size_t)64);
        uint8_t *grown    = (uint8_t *)arena_alloc_uninit(accumulator->arena, capacity);
        if (accumulator->bytes_len > 0) memcpy(grown, accumulator->bytes, accumulator->bytes_len);
        accumulator->bytes          = grown;
        accumulator->bytes_capacity = capacity;
    }
    memcpy(accumulator->bytes + accumulator->bytes_len, bytes.ptr, bytes.len);
    accumulator->bytes_len += bytes.len;
}

/* Keeps a copy in a buffer that is used again. */
static void keep_best(SimAccumulator *accumulator, const SimValue *value)
{
    accumulator->best = *value;
    if (sim_type_is_number(value->type.kind) || sim_type_is_time(value->type.kind)) return;
    accumulator->bytes_len = 0;
    append_bytes(accumulator, value->bytes);
    accumulator->best.bytes = (Bytes){
        accumulator->bytes != NULL ? accumulator->bytes : (const uint8_t *)"", value->bytes.len};
}

static bool append_text(SimAccumulator *accumulator, const SimValue *value, SimError *error)
{
    SimType  to    = sim_type_sized(accumulator->type.kind, -1);
    SimValue text  = {0};
    Arena   *arena = accumulator->arena;
    size_t   limit = accumulator->type.length < 0 ? SIM_VALUE_BYTES_MOST : 8000;

    to.collation = accumulator->type.collation;
    if (!sim_convert(value, &to, 0, false, arena, &text, error)) return false;
    if (accumulator->bytes_len + text.bytes.len > limit && accumulator->type.length < 0)
        return sim_value_too_long(error);
    if (accumulator->bytes_len + text.bytes.len > limit)
        return sim_error(error, 9829,
                         "STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB "
                         "types to avoid result truncation.");
    append_bytes(accumulator, text.bytes);
    return true;
}

bool sim_accumulator_add(SimAccumulator *accumulator, const SimValue *value,
                         const SimValue *separator, SimError *error)
{
    int order = 0;

    if (value != NULL && value->is_null) {
        accumulator->skipped_null = true;
        return true;
    }
    accumulator->count++;
    if (value == NULL) return true; /* COUNT(*) */
    switch (accumulator->aggregate->kind) {
    case SIM_COUNT:
    case SIM_COUNT_BIG: return true;
    case SIM_SUM:
    case SIM_AVG: return add_number(accumulator, value, error);
    case SIM_MIN:
    case SIM_MAX:
        if (accumulator->has_value) order = sim_compare_same(value, &accumulator->best);
        if (!accumulator->has_value ||
            (accumulator->aggregate->kind == SIM_MIN ? order < 0 : order > 0))
            keep_best(accumulator, value);
        accumulator->has_value = true;
        return true;
    case SIM_STRING_AGG:
        if (accumulator->has_value && separator != NULL && !separator->is_null &&
            !append_text(accumulator, separator, error))
            return false;
        accumulator->has_value = true;
        return append_text(accumulator, value, error);
    case SIM_STDEV:
    case SIM_STDEVP:
    case SIM_VAR:
    case SIM_VARP: add_statistics(accumulator, as_double(value)); return true;
    case SIM_BYTES_OR:
        if (!accumulator->has_value) keep_best(accumulator, value);
        accumulator->has_value = true;
        for (size_t i = 0; i < MIN(value->bytes.len, accumulator->bytes_len); i++)
            accumulator->bytes[i] |= value->bytes.ptr[i];
        return true;
    }
    return true;
}

/* --- results --- */
static bool sum_result(const SimAccumulator *accumulator, SimValue *out, SimError *error)
{
    Wide sum = wide_from(accumulator->sum_dec);

    if (is_float(accumulator->type.kind)) {
        out->f64 = accumulator->sum_f64;
        if (accumulator->aggregate->kind == SIM_AVG) out->f64 /= (double)accumulator->count;
        return true;
    }
    if (accumulator->aggregate->kind == SIM_AVG) {
        if (accumulator->type.kind == SIM_DECIMAL) {
            SimValue total = sim_decimal(wide_to(sum), DECIMAL_DIGITS_MAX,
                                         accumulator->best.type.scale);
            SimValue count = sim_int(accumulator->count, SIM_BIGINT);
            SimValue whole = {0};
            if (!sim_arithmetic('/', &total, &count, accumulator->arena, &whole, error))
                return false;
            return sim_convert(&whole, &accumulator->type, 0, false, accumulator->arena, out,
                               error);
        }
        sum /= accumulator->count;
    }
    if (accumulator->type.kind == SIM_DECIMAL) {
        out->dec = wide_to(sum);
        return true;
    }
    bool is_small = accumulator->type.kind == SIM_INT;
    if (sum < (is_small ? INT32_MIN : INT64_MIN) || sum > (is_small ? INT32_MAX : INT64_MAX))
        return overflow(&accumulator->type, error);
    out->i64 = (int64_t)sum;
    return true;
}

static void statistics_result(const SimAccumulator *accumulator, SimValue *out)
{
    SimAggregateKind kind      = accumulator->aggregate->kind;
    bool             is_sample = kind == SIM_STDEV || kind == SIM_VAR;
    double           divisor   = (double)(accumulator->count - (is_sample ? 1 : 0));

    out->is_null = divisor <= 0;
    if (out->is_null) return;
    double variance = accumulator->sum_squares / divisor;
    out->f64        = kind == SIM_STDEV || kind == SIM_STDEVP ? sqrt(variance) : variance;
}

bool sim_accumulator_result(const SimAccumulator *accumulator, SimValue *out, SimError *error)
{
    *out = (SimValue){.type = accumulator->type};
    switch (accumulator->aggregate->kind) {
    case SIM_COUNT:
        if (accumulator->count > INT32_MAX) return overflow(&accumulator->type, error);
        out->i64 = accumulator->count;
        return true;
    case SIM_COUNT_BIG: out->i64 = accumulator->count; return true;
    case SIM_SUM:
    case SIM_AVG:
        out->is_null = accumulator->count == 0;
        return out->is_null || sum_result(accumulator, out, error);
    case SIM_MIN:
    case SIM_MAX:
    case SIM_BYTES_OR:
        out->is_null = !accumulator->has_value;
        if (out->is_null) return true;
        *out      = accumulator->best;
        out->type = accumulator->type;
        return true;
    case SIM_STRING_AGG:
        out->is_null = !accumulator->has_value;
        out->bytes = (Bytes){accumulator->bytes != NULL ? accumulator->bytes : (const uint8_t *)"",
                             accumulator->bytes_len};
        return true;
    case SIM_STDEV:
    case SIM_STDEVP:
    case SIM_VAR:
    case SIM_VARP: statistics_result(accumulator, out); return true;
    }
    return true;
}

bool sim_accumulator_skipped_null(const SimAccumulator *accumulator)
{
    return accumulator->skipped_null;
}
