/* Offsets: what is written reads back, to the millisecond. */
#include "support/test_support.h"

#include "types/offset.h"

static void an_offset_comes_back_from_its_json(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 2000) {
        Arena *arena  = arena_new();
        Rng   *rng    = rng_new(seed);
        Offset offset = {
            .commit_ts = {rng_below(rng, 4) > 0, rng_between(rng, 0, INT64_C(250000000000000000))}};
        Offset back = {.lsn = LSN_ZERO};
        Err    err  = ERR_INIT;

        for (size_t i = 0; i < LSN_BYTES; i++)
            offset.lsn.bytes[i] = (uint8_t)rng_u64(rng);
        Str text = offset_format_json(arena, &offset);
        assert_ok(offset_parse_json(text, &back, &err), &err);
        assert_true(lsn_equal(offset.lsn, back.lsn));
        assert_int_equal(offset.commit_ts.is_set, back.commit_ts.is_set);
        if (back.commit_ts.is_set)
            assert_int_equal(back.commit_ts.utc_us, offset.commit_ts.utc_us / 1000 * 1000);
        assert_true(
            str_equal(text, offset_format_json(arena, &back))); /* and is written the same again */
        rng_close(rng);
        arena_close(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(an_offset_comes_back_from_its_json),
    };
    return RUN_TESTS(tests);
}
