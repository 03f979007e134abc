/* Positions in the log (Q06 to Q09, Q14, Q15). */
#include "source_test.h"

static void nulls_and_zeros_are_told_apart(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect = "fn_cdc_get_max_lsn", .columns = "max_lsn STRING", .rows = "NULL\n"},
        {.expect = "fn_cdc_get_min_lsn", .columns = "min_lsn STRING", .rows = "NULL\n", .times = 1},
        {.expect  = "fn_cdc_get_min_lsn",
         .columns = "min_lsn STRING",
         .rows    = "0x00000000000000000000\n",
         .times   = 1},
        {.expect  = "fn_cdc_get_min_lsn",
         .columns = "min_lsn STRING",
         .rows    = "0x00000000000000000001\n"}};
    SourceTest test;
    Lsn        lsn;
    bool       flag;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(mssql_max_lsn(test.mssql, &lsn, &flag, &test.err), &test.err);
    assert_true(flag && lsn_is_zero(lsn));
    for (int i = 0; i < 3; i++) {
        assert_ok(mssql_min_lsn(test.mssql, STR("dbo_orders"), &lsn, &flag, &test.err), &test.err);
        assert_int_equal(flag, i == 2);
    }
    assert_str_is(fake_server_call(test.server, "fn_cdc_get_min_lsn", 0)->params[0], "dbo_orders");
    source_test_close(&test);
}

static void an_lsn_of_another_length_is_a_protocol_error(void **state)
{
    static const char *const bad[] = {"0x01\n", "0x0000000000000000000001\n",
                                      "00000000000000000000AB\n", "\n"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const FakeAnswer answers[] = {
            FACTS_2022,
            {.expect = "fn_cdc_get_max_lsn", .columns = "max_lsn STRING", .rows = bad[i]}};
        SourceTest test;
        Lsn        lsn;
        bool       flag;
        source_test_open(&test, answers, COUNT_OF(answers));
        assert_false(mssql_max_lsn(test.mssql, &lsn, &flag, &test.err));
        assert_err(&test.err, ERR_QUERY, "10 bytes");
        source_test_close(&test);
    }
}

static void neighbours_are_the_servers(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         {.expect  = "fn_cdc_increment_lsn",
                                          .columns = "lsn STRING",
                                          .rows    = "0x00000000000000000003\n"},
                                         {.expect  = "fn_cdc_decrement_lsn",
                                          .columns = "lsn STRING",
                                          .rows    = "0x00000000000000000001\n"}};
    SourceTest              test;
    Lsn                     lsn;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(mssql_next_lsn(test.mssql, lsn_of("0x02"), &lsn, &test.err), &test.err);
    assert_true(lsn_equal(lsn, lsn_of("0x03")));
    assert_ok(mssql_previous_lsn(test.mssql, lsn_of("0x02"), &lsn, &test.err), &test.err);
    assert_true(lsn_equal(lsn, lsn_of("0x01")));
    assert_str_is(fake_server_call(test.server, "decrement", 0)->params[0],
                  "0x00000000000000000002");
    assert_ok(mssql_previous_lsn(test.mssql, LSN_ZERO, &lsn, &test.err), &test.err);
    assert_true(lsn_is_zero(lsn));
    source_test_close(&test);
}

static void the_nth_commit_is_unset_at_the_end(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "TOP (4)",
         .columns = "end_lsn STRING, commits INT",
         .rows    = "0x00000000000000000009|4\n",
         .times   = 1},
        {.expect = "TOP (4)", .columns = "end_lsn STRING, commits INT", .rows = "NULL|0\n"}};
    SourceTest test;
    Lsn        lsn;
    bool       is_set;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(mssql_nth_commit(test.mssql, lsn_of("0x02"), 4, &lsn, &is_set, &test.err), &test.err);
    assert_true(is_set && lsn_equal(lsn, lsn_of("0x09")));
    assert_ok(mssql_nth_commit(test.mssql, lsn_of("0x09"), 4, &lsn, &is_set, &test.err), &test.err);
    assert_false(is_set);
    source_test_close(&test);
}

static void split_points_come_with_their_row_counts(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "NTILE(2)",
         .columns = "last_lsn STRING, next_lsn STRING, row_count BIGINT",
         .rows    = "0x00000000000000000002|0x00000000000000000003|60000\n0x00000000000000000004|"
                    "0x00000000000000000005|59999\n"}};
    SourceTest test;
    SplitTile *tiles;
    size_t     count;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(mssql_split_tiles(test.mssql, STR("dbo_orders"), lsn_of("0x01"), lsn_of("0x09"), 2,
                                test.arena, &tiles, &count, &test.err),
              &test.err);
    assert_int_equal(count, 2);
    assert_true(lsn_equal(tiles[0].last_lsn, lsn_of("0x02")) &&
                lsn_equal(tiles[1].next_lsn, lsn_of("0x05")));
    assert_int_equal(tiles[0].row_count, 60000);
    assert_str_is(fake_server_call(test.server, "NTILE", 0)->params[1], "0x00000000000000000009");
    source_test_close(&test);
}

static void one_row_tells_whether_a_range_has_any(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         {.expect  = "SELECT TOP (1) CONVERT(char(22), c.",
                                          .columns = "first_lsn STRING",
                                          .rows    = "0x00000000000000000002\n",
                                          .times   = 1},
                                         {.expect  = "SELECT TOP (1) CONVERT(char(22), c.",
                                          .columns = "first_lsn STRING",
                                          .rows    = ""}};
    SourceTest              test;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    for (int i = 0; i < 2; i++) {
        bool has;
        assert_ok(mssql_has_changes(test.mssql, STR("dbo_orders"), lsn_of("0x01"), lsn_of("0x09"),
                                    &has, &test.err),
                  &test.err);
        assert_int_equal(has, i == 0);
    }
    assert_str_is(fake_server_call(test.server, "TOP (1)", 0)->params[1], "0x00000000000000000009");
    source_test_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_row_tells_whether_a_range_has_any),
        cmocka_unit_test(nulls_and_zeros_are_told_apart),
        cmocka_unit_test(an_lsn_of_another_length_is_a_protocol_error),
        cmocka_unit_test(neighbours_are_the_servers),
        cmocka_unit_test(the_nth_commit_is_unset_at_the_end),
        cmocka_unit_test(split_points_come_with_their_row_counts),
    };
    return RUN_TESTS(tests);
}
