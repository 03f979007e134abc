/* Conversions there and back, and operators against each other, on random values (sqlserver.md
 * 2.10, 2.11). */
#include "support/sim_gen.h"

#include "base/clock.h"
#include "sim/function/function.h"

static SimValue convert(Arena *arena, const SimValue *value, const SimType *to, int style)
{
    SimValue out;
    SimError error = SIM_ERROR_INIT;

    if (!sim_convert(value, to, style, false, arena, &out, &error))
        fail_msg("%s to %s, style %d: %s (%.*s)", sim_type_name(value->type.kind),
                 sim_type_name(to->kind), style, error.message,
                 STR_ARG(sim_value_text(arena, value)));
    return out;
}

static void assert_same(Arena *arena, const SimValue *want, const SimValue *got)
{
    if (want->type.kind == got->type.kind && sim_compare_same(want, got) == 0) return;
    fail_msg("%s: want %.*s, got %.*s", sim_type_name(want->type.kind),
             STR_ARG(sim_value_text(arena, want)), STR_ARG(sim_value_text(arena, got)));
}

/* A style under which the text of the type says everything. */
static int exact_style(SimTypeKind kind)
{
    switch (kind) {
    case SIM_FLOAT:
    case SIM_REAL: return 3;
    case SIM_MONEY:
    case SIM_SMALLMONEY: return 2;
    case SIM_BINARY:
    case SIM_VARBINARY:
    case SIM_ROWVERSION: return 1;
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: return 121;
    default: return 0;
    }
}

static void text_of_a_value_reads_back(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Rng   *rng   = rng_new(seed);
        Arena *arena = arena_new();
        for (int kind = 0; kind <= SIM_UNIQUEIDENTIFIER; kind++) {
            if (kind >= SIM_CHAR && kind <= SIM_NVARCHAR) continue;
            SimType  type = gen_type(rng, (SimTypeKind)kind);
            SimType  text = sim_type_sized(rng_below(rng, 2) == 0 ? SIM_VARCHAR : SIM_NVARCHAR, -1);
            SimValue value = gen_value(rng, arena, &type);
            if (kind == SIM_BINARY || kind == SIM_VARBINARY)
                type.length = MAX((int32_t)value.bytes.len, 1);
            SimValue shown = convert(arena, &value, &text, exact_style((SimTypeKind)kind));
            SimValue back  = convert(arena, &shown, &type, exact_style((SimTypeKind)kind));
            assert_same(arena, &value, &back);
        }
        arena_close(arena);
        rng_close(rng);
    }
}

static void styles_126_and_127_read_back(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 500) {
        static const SimTypeKind kinds[] = {SIM_DATETIME, SIM_DATETIME2, SIM_DATETIMEOFFSET};
        Rng                     *rng     = rng_new(seed);
        Arena                   *arena   = arena_new();
        for (size_t i = 0; i < COUNT_OF(kinds); i++) {
            SimType  type  = gen_type(rng, kinds[i]);
            SimType  text  = sim_type_sized(SIM_NVARCHAR, 40);
            SimValue value = gen_value(rng, arena, &type);
            for (int style = 126; style <= 127; style++) {
                SimValue shown = convert(arena, &value, &text, style);
                SimValue back  = convert(arena, &shown, &type, style);
                assert_same(arena, &value, &back);
            }
        }
        arena_close(arena);
        rng_close(rng);
    }
}

static void binary_of_a_number_reads_back(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        static const SimTypeKind kinds[] = {SIM_BIT,           SIM_TINYINT,         SIM_SMALLINT,
                                            SIM_INT,           SIM_BIGINT,          SIM_MONEY,
                                            SIM_SMALLMONEY,    SIM_DECIMAL,         SIM_DATETIME,
                                            SIM_SMALLDATETIME, SIM_UNIQUEIDENTIFIER};
        Rng                     *rng     = rng_new(seed);
        Arena                   *arena   = arena_new();
        for (size_t i = 0; i < COUNT_OF(kinds); i++) {
            SimType  type   = gen_type(rng, kinds[i]);
            SimType  binary = sim_type_sized(SIM_VARBINARY, 30);
            SimValue value  = gen_value(rng, arena, &type);
            SimValue bytes  = convert(arena, &value, &binary, 0);
            SimValue back   = convert(arena, &bytes, &type, 0);
            assert_same(arena, &value, &back);
        }
        arena_close(arena);
        rng_close(rng);
    }
}

/* Wider types hold narrower ones. */
static void widening_and_narrowing_changes_nothing(void **state)
{
    static const struct {
        SimTypeKind narrow, wide;
    } pairs[] = {{SIM_TINYINT, SIM_SMALLINT},
                 {SIM_SMALLINT, SIM_INT},
                 {SIM_INT, SIM_BIGINT},
                 {SIM_INT, SIM_FLOAT},
                 {SIM_INT, SIM_MONEY},
                 {SIM_REAL, SIM_FLOAT},
                 {SIM_SMALLMONEY, SIM_MONEY},
                 {SIM_DATE, SIM_DATETIME2},
                 {SIM_DATETIME, SIM_DATETIME2},
                 {SIM_SMALLDATETIME, SIM_DATETIME},
                 {SIM_DATETIME2, SIM_DATETIMEOFFSET},
                 {SIM_TIME, SIM_DATETIME2}};

    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Rng   *rng   = rng_new(seed);
        Arena *arena = arena_new();
        for (size_t i = 0; i < COUNT_OF(pairs); i++) {
            SimType  narrow = gen_type(rng, pairs[i].narrow);
            SimType  wide   = sim_type(pairs[i].wide);
            SimValue value  = gen_value(rng, arena, &narrow);
            SimValue wider  = convert(arena, &value, &wide, 0);
            SimValue back   = convert(arena, &wider, &narrow, 0);
            int      order  = 9;
            SimError error;
            assert_same(arena, &value, &back);
            assert_true(sim_compare(&value, &wider, &order, &error));
            assert_int_equal(order, 0);
        }
        arena_close(arena);
        rng_close(rng);
    }
}

static void unicode_holds_every_code_page(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 100) {
        Rng   *rng   = rng_new(seed);
        Arena *arena = arena_new();
        for (size_t at = 0;;) {
            SimType narrow   = sim_type_sized(SIM_VARCHAR, -1);
            narrow.collation = sim_collation_next(&at);
            if (narrow.collation == NULL) break;
            SimType wide   = sim_type_sized(SIM_NVARCHAR, -1);
            wide.collation = narrow.collation;
            SimValue value = gen_value(rng, arena, &narrow);
            SimValue wider = convert(arena, &value, &wide, 0);
            SimValue back  = convert(arena, &wider, &narrow, 0);
            assert_int_equal(value.bytes.len, back.bytes.len);
            assert_memory_equal(value.bytes.len > 0 ? value.bytes.ptr : (const uint8_t *)"",
                                back.bytes.len > 0 ? back.bytes.ptr : (const uint8_t *)"",
                                value.bytes.len);
        }
        arena_close(arena);
        rng_close(rng);
    }
}

/* The calendar is base's. */
static void dates_agree_with_the_civil_calendar(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 2000) {
        Rng      *rng   = rng_new(seed);
        Arena    *arena = arena_new();
        SimType   type  = sim_type(SIM_DATE);
        SimType   text  = sim_type_sized(SIM_VARCHAR, 10);
        SimValue  value = gen_value(rng, arena, &type);
        SimValue  shown = convert(arena, &value, &text, 0);
        CivilTime civil = civil_from_us(sim_time_to_us(&value));
        Str       want  = str_printf(arena, "%04d-%02d-%02d", (int)civil.year, (int)civil.month,
                                     (int)civil.day);
        assert_true(str_equal(want, (Str){(const char *)shown.bytes.ptr, shown.bytes.len}));
        arena_close(arena);
        rng_close(rng);
    }
}

static bool calculate(char op, const SimValue *left, const SimValue *right, Arena *arena,
                      SimValue *out)
{
    SimError error = SIM_ERROR_INIT;

    if (sim_arithmetic(op, left, right, arena, out, &error)) return true;
    if (error.number != 8115 && error.number != 8134)
        fail_msg("%c: %d %s", op, error.number, error.message);
    return false;
}

/* Sums and products that fit are undone; a quotient times the divisor is at most one unit away. */
static void decimal_operators_undo_each_other(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 3000) {
        Rng    *rng    = rng_new(seed);
        Arena  *arena  = arena_new();
        SimType one    = sim_type_decimal((int)rng_between(rng, 1, 17), 0);
        SimType two    = sim_type_decimal((int)rng_between(rng, 1, 17), 0);
        one.scale      = (uint8_t)rng_between(rng, 0, MIN(one.precision, 6));
        two.scale      = (uint8_t)rng_between(rng, 0, MIN(two.precision, 6));
        SimValue left  = gen_value(rng, arena, &one);
        SimValue right = gen_value(rng, arena, &two);
        SimValue sum, back, product, rest;
        SimError error = SIM_ERROR_INIT;
        int      order = 9;
        assert_true(calculate('+', &left, &right, arena, &sum));
        assert_true(calculate('-', &sum, &right, arena, &back));
        assert_true(sim_compare(&back, &left, &order, &error));
        assert_int_equal(order, 0);
        assert_true(calculate('*', &left, &right, arena, &product));
        assert_true(wide_from(product.dec) == wide_from(left.dec) * wide_from(right.dec));
        if (wide_from(right.dec) != 0) {
            assert_true(calculate('/', &product, &right, arena, &back));
            assert_true(sim_compare(&back, &left, &order, &error));
            assert_int_equal(order, 0);
            assert_true(
                calculate('%', &left, &right, arena, &rest)); /* left - rest is a multiple */
            assert_true(calculate('-', &left, &rest, arena, &back));
            assert_true(calculate('%', &back, &right, arena, &rest));
            assert_true(wide_from(rest.dec) == 0);
        }
        arena_close(arena);
        rng_close(rng);
    }
}

/* Large ones may overflow, and never give digits their type has no room for. */
static void decimal_results_fit_their_type(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 3000) {
        Rng     *rng   = rng_new(seed);
        Arena   *arena = arena_new();
        SimType  one   = gen_type(rng, SIM_DECIMAL);
        SimType  two   = gen_type(rng, SIM_DECIMAL);
        SimValue left  = gen_value(rng, arena, &one);
        SimValue right = gen_value(rng, arena, &two);
        SimValue out;
        for (const char *op = "+-*/%"; *op != '\0'; op++) {
            if (!calculate(*op, &left, &right, arena, &out)) continue;
            assert_true(wide_fits(wide_from(out.dec), out.type.precision));
            assert_true(out.type.scale <= out.type.precision && out.type.precision <= 38);
        }
        arena_close(arena);
        rng_close(rng);
    }
}

static void integers_overflow_and_never_wrap(void **state)
{
    static const SimTypeKind kinds[] = {SIM_TINYINT, SIM_SMALLINT, SIM_INT, SIM_BIGINT};

    (void)state;
    FOR_EACH_SEED (seed, 3000) {
        Rng     *rng   = rng_new(seed);
        Arena   *arena = arena_new();
        SimType  type  = sim_type(kinds[rng_below(rng, COUNT_OF(kinds))]);
        SimValue left  = gen_value(rng, arena, &type);
        SimValue right = gen_value(rng, arena, &type);
        SimValue out;
        Wide     lowest  = type.kind == SIM_TINYINT ? 0 : -((Wide)1 << (type.length * 8 - 1));
        Wide     highest = type.kind == SIM_TINYINT ? 255 : -lowest - 1;
        for (const char *op = "+-*"; *op != '\0'; op++) {
            Wide want = *op == '+'   ? (Wide)left.i64 + right.i64
                        : *op == '-' ? (Wide)left.i64 - right.i64
                                     : (Wide)left.i64 * right.i64;
            bool fits = want >= lowest && want <= highest;
            assert_int_equal(calculate(*op, &left, &right, arena, &out), fits);
            if (fits) assert_true(out.i64 == want);
        }
        arena_close(arena);
        rng_close(rng);
    }
}

/* Adding n of a part moves by n boundaries of it, for the parts that are all as long. */
static void dateadd_and_datediff_agree(void **state)
{
    static const char *const parts[] = {"year", "quarter", "month",  "day",        "week",
                                        "hour", "minute",  "second", "millisecond"};

    (void)state;
    FOR_EACH_SEED (seed, 2000) {
        Rng               *rng   = rng_new(seed);
        Arena             *arena = arena_new();
        const SimFunction *diff  = sim_function_find(STR("DATEDIFF_BIG"));
        const char        *part  = parts[rng_below(rng, COUNT_OF(parts))];
        SimType  type = gen_type(rng, rng_below(rng, 2) == 0 ? SIM_DATETIME2 : SIM_DATETIME);
        SimType  big  = sim_type(SIM_BIGINT);
        SimValue date = gen_value(rng, arena, &type);
        SimValue moved, args[3], out;
        SimError error  = SIM_ERROR_INIT;
        int64_t  number = gen_i64(rng, -100000, 100000);
        if (strcmp(part, "millisecond") == 0) type.kind = SIM_DATETIME2; /* datetime rounds them */
        if (date.type.kind == SIM_DATETIME && strcmp(part, "millisecond") == 0)
            date = convert(arena, &date, &type, 0);
        if (sim_date_add(str_from_c(part), number, &date, &moved, &error)) {
            args[0] = sim_nvarchar(arena, str_from_c(part));
            args[1] = date;
            args[2] = moved;
            assert_true(sim_function_call(diff, &big, args, 3, arena, &out, &error));
            if (strcmp(part, "millisecond") != 0 || date.type.scale >= 3)
                assert_int_equal(out.i64, number);
        } else {
            assert_int_equal(error.number, 517);
        }
        arena_close(arena);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(text_of_a_value_reads_back),
        property_test(styles_126_and_127_read_back),
        property_test(binary_of_a_number_reads_back),
        property_test(widening_and_narrowing_changes_nothing),
        property_test(unicode_holds_every_code_page),
        property_test(dates_agree_with_the_civil_calendar),
        property_test(decimal_operators_undo_each_other),
        property_test(decimal_results_fit_their_type),
        property_test(integers_overflow_and_never_wrap),
        property_test(dateadd_and_datediff_agree),
    };
    return RUN_TESTS(tests);
}
