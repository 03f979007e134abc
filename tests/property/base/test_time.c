/* Times: what is formatted reads back, and their text order is time order. */
#include "support/test_support.h"

#include "base/clock.h"

#define YEAR_1_US    INT64_C(-62135596800000000)
#define YEAR_9999_US INT64_C(253402300799999999)

static int64_t any_time(Rng *rng)
{
    if (rng_below(rng, 2) == 0) return rng_between(rng, YEAR_1_US, YEAR_9999_US);
    return rng_between(rng, -1000000000, 1000000000) * 1000; /* near 1970 */
}

static int64_t floor_to(int64_t value, int64_t unit)
{
    int64_t rest = value % unit;
    return value - (rest < 0 ? rest + unit : rest);
}

static int64_t parsed(Str text)
{
    int64_t utc_us = 0;

    if (!time_parse(text, &utc_us)) fail_msg("not a time: %.*s", STR_ARG(text));
    return utc_us;
}

static void what_is_formatted_reads_back(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Arena *arena = arena_new();
        Rng   *rng   = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            int64_t time = any_time(rng);
            assert_int_equal(parsed(time_format_us(arena, time)), time);
            assert_int_equal(parsed(time_format_ms(arena, time)), floor_to(time, 1000));
            assert_int_equal(parsed(time_format_seconds_offset(arena, time)),
                             floor_to(time, 1000000));
            assert_int_equal(civil_to_us(civil_from_us(time)), time);
        }
        rng_close(rng);
        arena_close(arena);
    }
}

static void text_order_is_time_order(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Arena *arena = arena_new();
        Rng   *rng   = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            int64_t left  = any_time(rng);
            int64_t right = left + rng_between(rng, -2000000, 2000000);
            if (right < YEAR_1_US || right > YEAR_9999_US) continue;
            int order = str_compare(time_format_us(arena, left), time_format_us(arena, right));
            assert_int_equal(order, (left > right) - (left < right));
        }
        rng_close(rng);
        arena_close(arena);
    }
}

static void an_offset_moves_the_instant_by_itself(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Arena  *arena   = arena_new();
        Rng    *rng     = rng_new(seed);
        int64_t time    = rng_between(rng, YEAR_1_US / 2, YEAR_9999_US / 2);
        int64_t minutes = rng_between(rng, -14 * 60, 14 * 60);
        int     size    = (int)(minutes < 0 ? -minutes : minutes);
        Str     local   = time_format_us(arena, time + minutes * 60 * 1000000);
        Str text = str_printf(arena, "%s%c%02d:%02d", local.ptr, minutes < 0 ? '-' : '+', size / 60,
                              size % 60);

        assert_int_equal(parsed(text), time);
        rng_close(rng);
        arena_close(arena);
    }
}

/* Any bytes: an answer, no crash, and what is accepted is a time between years 1 and 9999. */
static void any_bytes_are_read_or_refused(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Arena *arena = arena_new();
        Rng   *rng   = rng_new(seed);
        for (int i = 0; i < 200; i++) {
            Str     base   = time_format_us(arena, any_time(rng));
            char   *text   = mem_alloc(base.len + 6);
            size_t  len    = base.len;
            int64_t utc_us = 0;

            memcpy(text, base.ptr, len);
            memcpy(text + len, "+02:00", 6);
            len += 6 * (size_t)rng_below(rng, 2);
            for (uint64_t changes = rng_below(rng, 3); changes > 0; changes--)
                text[rng_below(rng, len)] = "0123456789-:.T Z+x"[rng_below(rng, 18)];
            len -= (size_t)rng_below(rng, len);
            text = mem_realloc(text,
                               len); /* so that the address sanitizer sees a read past the end */
            if (time_parse((Str){text, len}, &utc_us)) {
                assert_true(utc_us >= YEAR_1_US);
                assert_true(utc_us <= YEAR_9999_US);
            }
            mem_free(text);
        }
        rng_close(rng);
        arena_close(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(what_is_formatted_reads_back),
        property_test(text_order_is_time_order),
        property_test(an_offset_moves_the_instant_by_itself),
        property_test(any_bytes_are_read_or_refused),
    };
    return RUN_TESTS(tests);
}
