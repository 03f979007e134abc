/* Bounds of chunks as values of silver's key: the ranges of a plan tile the keys, and no range takes a key that may
 * belong to its neighbour (algorithms.md 7.6). */
#include "support/test_support.h"

#include "engine/apply_waves.h"

#define BOUNDS_MAX 6

typedef struct Bound {
    int64_t value; /* an integer, a day, or units of 100 ns */
    Str     json;
} Bound;

static int compare_bounds(const void *left, const void *right)
{
    const Bound *a = left, *b = right;

    return (a->value > b->value) - (a->value < b->value);
}

static int64_t value_of(ColumnType type, Str literal)
{
    ptrdiff_t from  = str_find_char(literal, '\'', 0);
    Str       text  = str_slice(literal, (size_t)from + 1, literal.len);
    int64_t   value = 0;

    text = str_slice(text, 0, (size_t)str_find_char(text, '\'', 0));
    if (type.kind == TYPE_LONG) {
        assert_true(str_parse_i64(text, &value));
        return value;
    }
    Arena *arena = arena_new();
    if (type.kind == TYPE_DATE) text = str_printf(arena, "%.*sT00:00:00", STR_ARG(text));
    assert_true(time_parse(text, &value));
    arena_close(arena);
    return value;
}

/* The test that a range makes of a key, in the key's own unit (days as their first microsecond). */
static bool range_holds(Arena *arena, ColumnType type, Str lo, Str hi, int64_t key)
{
    Str      from_text, to_text;
    RangeEnd from = apply_range_end(arena, type, lo, true, &from_text);
    RangeEnd to   = apply_range_end(arena, type, hi, false, &to_text);

    if (from == RANGE_NOTHING || to == RANGE_NOTHING) return false;
    return (from == RANGE_OPEN || key >= value_of(type, from_text)) &&
           (to == RANGE_OPEN || key < value_of(type, to_text));
}

static int64_t any_number(Rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0: return INT64_MIN + (int64_t)rng_below(rng, 3);
    case 1: return INT64_MAX - (int64_t)rng_below(rng, 3);
    default: return rng_between(rng, -20, 20);
    }
}

static void integers_and_dates_are_in_one_range(void **state) /* T7.13, T7.16 */
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Arena     *arena   = arena_new();
        Rng       *rng     = rng_new(seed);
        bool       is_date = seed % 2;
        ColumnType type    = COLUMN_TYPE(is_date ? TYPE_DATE : TYPE_LONG);
        size_t     count   = rng_below(rng, BOUNDS_MAX);
        Bound      bounds[BOUNDS_MAX];
        int        held = 0;
        int64_t key = is_date ? rng_between(rng, -20, 20) * INT64_C(86400000000) : any_number(rng);

        for (size_t i = 0; i < count; i++) {
            bounds[i].value = is_date ? rng_between(rng, -20, 20) : any_number(rng);
            if (is_date) {
                Str day = str_slice(time_format_us(arena, bounds[i].value * INT64_C(86400000000)),
                                    0, 10);
                bounds[i].json = str_printf(arena, "\"%.*s%s\"", STR_ARG(day),
                                            rng_below(rng, 2) ? "T00:00:00.0000000" : "");
            } else {
                bounds[i].json = str_printf(arena, rng_below(rng, 2) ? "%lld" : "\"%lld\"",
                                            (long long)bounds[i].value);
            }
        }
        if (count) qsort(bounds, count, sizeof(Bound), compare_bounds);
        for (size_t i = 0; i <= count; i++) /* the last ends one past the greatest key there is */
            held += range_holds(arena, type, i ? bounds[i - 1].json : STR("null"),
                                i < count             ? bounds[i].json
                                : is_date || seed % 3 ? STR("null")
                                                      : STR("9223372036854775808"),
                                key);
        assert_int_equal(held, 1);
        rng_close(rng);
        arena_close(arena);
    }
}

static void a_time_is_never_in_the_wrong_range(void **state) /* T7.13, T7.15 */
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Arena     *arena = arena_new();
        Rng       *rng   = rng_new(seed);
        ColumnType type  = COLUMN_TYPE(TYPE_TIMESTAMP_NTZ);
        size_t     count = rng_below(rng, BOUNDS_MAX);
        Bound      bounds[BOUNDS_MAX];
        int64_t    key      = rng_between(rng, -5, 5); /* microseconds */
        int        held     = 0;
        bool       is_split = false; /* a bound lies within the key's microsecond */

        for (size_t i = 0; i < count; i++) {
            int64_t ticks = rng_between(rng, -50, 50);
            int64_t us    = ticks >= 0 ? ticks / 10 : -((9 - ticks) / 10);
            int64_t digit = ticks - us * 10;

            bounds[i] = (Bound){ticks,
                                str_printf(arena, "\"%.*s%lld\"",
                                           STR_ARG(time_format_us(arena, us)), (long long)digit)};
            is_split  = is_split || (us == key && digit > 0);
        }
        if (count) qsort(bounds, count, sizeof(Bound), compare_bounds);
        for (size_t i = 0; i <= count; i++) {
            if (!range_holds(arena, type, i ? bounds[i - 1].json : STR("null"),
                             i < count ? bounds[i].json : STR("null"), key))
                continue;
            held++;
            /* whatever the digit was that the lake has not */
            assert_true(i == 0 || key * 10 >= bounds[i - 1].value);
            assert_true(i == count || key * 10 + 9 < bounds[i].value);
        }
        assert_int_equal(held, is_split ? 0 : 1);
        rng_close(rng);
        arena_close(arena);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {property_test(integers_and_dates_are_in_one_range),
                                       property_test(a_time_is_never_in_the_wrong_range)};

    return RUN_TESTS(cases);
}
