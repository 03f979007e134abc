/* What stands next to a wave's staged files. */
#include "support/test_support.h"

#include "state/payload_staged.h"

static void a_wave_reads_back_as_it_was(void **state)
{
    Arena     *arena    = arena_new();
    TagChunk   chunks[] = {{.chunk        = 3,
                            .bounds       = {STR("null"), STR("\"\\u00e9\"")},
                            .rows         = OPT_I64(7),
                            .high_lsn     = OPT_LSN(LSN_ZERO),
                            .read_seconds = 0.25,
                            .read_mb      = 1.000001},
                           {.chunk        = 4,
                            .bounds       = {STR("\"\\u00e9\""), STR("[1, null]")},
                            .is_last      = true,
                            .rows         = OPT_I64(0),
                            .high_lsn     = OPT_LSN(LSN_ZERO),
                            .read_seconds = 0,
                            .read_mb      = 0}};
    StagedWave wave     = {.tag        = {.key         = STR("orders-v1#snap.0x01"),
                                          .wave        = 2,
                                          .attempt     = STR("staged"),
                                          .chunks      = chunks,
                                          .chunk_count = 2},
                           .stamp_ts   = OPT_TIME(1796688000000000),
                           .started_us = 5,
                           .sealed_us  = 6,
                           .read       = STR("dbo_orders, \"id\" 3(0,0)")};
    StagedWave back;
    Str        text;

    (void)state;
    assert_true(lsn_parse(STR("0x0000002A000001000001"), &wave.tag.stamp));
    text = payload_staged(arena, &wave);
    assert_true(payload_parse_staged(text, arena, &back));
    assert_true(str_equal(payload_staged(arena, &back), text));
    assert_true(back.stamp_ts.is_set);
    assert_int_equal(back.stamp_ts.utc_us, 1796688000000000);
    assert_int_equal(back.tag.chunk_count, 2);
    assert_str_is(back.tag.chunks[1].bounds.hi, "[1, null]");
    assert_true(back.tag.chunks[0].read_mb == 1.000001);
    arena_close(arena);
}

static void another_release_s_text_is_none(void **state)
{
    static const char *const texts[] = {"",
                                        "{}",
                                        "[1]",
                                        "{\"form\": 2}",
                                        "{\"form\": 1}",
                                        "{\"form\": 1, \"tag\": {}, \"read\": \"\"}"};
    Arena                   *arena   = arena_new();
    StagedWave               wave;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_false(payload_parse_staged(str_from_c(texts[i]), arena, &wave));
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_reads_back_as_it_was),
        cmocka_unit_test(another_release_s_text_is_none),
    };
    return RUN_TESTS(tests);
}
