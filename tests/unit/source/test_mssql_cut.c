/* What a table is cut along, and the questions about its key (algorithms.md 3.2, 4.4 to 4.7; Q24 to Q28). */
#include "table_fixture.h"

static const Str code_alone[] = {{"CODE", 4}};

static TableCut cut_along(SourceTest *test, TableFixture *fixture, const Str *names, size_t count)
{
    TableCut cut;

    assert_ok(mssql_cut_table(&fixture->table, names, count, test->arena, &cut, &test->err),
              &test->err);
    return cut;
}

static void a_table_is_cut_along_its_unique_index(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022};
    SourceTest              test;
    TableFixture            fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TableCut cut = cut_along(&test, &fixture, NULL, 0);
    assert_true(cut.can_bound && cut.is_integer && !cut.may_repeat);
    assert_int_equal(cut.why_refused.len, 0);
    table_begin(&fixture, 2);
    cut = cut_along(&test, &fixture, NULL, 0);
    assert_true(cut.can_bound && !cut.is_integer);
    table_begin(&fixture, 0);
    cut = cut_along(&test, &fixture, NULL, 0);
    assert_false(cut.can_bound);
    assert_str_is(cut.why_not, "the table has no unique index that CDC knows");
    source_test_close(&test);
}

static void chosen_columns_may_repeat_unless_they_are_the_index(void **state)
{
    static const FakeAnswer answers[]  = {FACTS_2022};
    static const Str        index[]    = {{"ID", 2}, {"code", 4}};
    static const Str        reversed[] = {{"code", 4}, {"id", 2}};
    SourceTest              test;
    TableFixture            fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 2);
    TableCut cut = cut_along(&test, &fixture, index, 2);
    assert_false(cut.may_repeat);
    assert_str_is(cut.names[0], "id"); /* as captured */
    assert_true(cut_along(&test, &fixture, reversed, 2).may_repeat);
    assert_true(cut_along(&test, &fixture, code_alone, 1).may_repeat);
    source_test_close(&test);
}

typedef struct Refusal {
    SqlTypeKind type;
    const char *name;
    bool        is_choice_only; /* a unique index may have it */
} Refusal;

static void what_cannot_be_cut_along_says_why(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022};
    static const Str        gone[] = {{"gone", 4}}, unknown[] = {{"nope", 4}};
    static const Refusal    refusals[] = {{SQL_TYPE_TIME, "time(7)", false},
                                          {SQL_TYPE_XML, "xml", false},
                                          {SQL_TYPE_NTEXT, "ntext", false},
                                          {SQL_TYPE_BIT, "bit", true},
                                          {SQL_TYPE_ROWVERSION, "timestamp", true}};
    SourceTest              test;
    TableFixture            fixture;
    TableCut                cut;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 2);
    cut = cut_along(&test, &fixture, gone, 1);
    assert_false(cut.can_bound);
    assert_true(str_find(cut.why_refused, STR("gone (int) is no longer a column"), 0) == 0);
    fixture.columns[1].collation = STR_EMPTY; /* not visible */
    cut                          = cut_along(&test, &fixture, NULL, 0);
    assert_false(cut.can_bound);
    assert_true(str_find(cut.why_not, STR("code (varchar(9)) has a collation"), 0) == 0);
    assert_int_equal(cut.why_refused.len, 0);
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        table_begin(&fixture, 2);
        fixture.columns[1].sql_type      = refusals[i].type;
        fixture.columns[1].sql_type_name = str_from_c(refusals[i].name);
        assert_int_equal(cut_along(&test, &fixture, NULL, 0).can_bound, refusals[i].is_choice_only);
        assert_true(cut_along(&test, &fixture, code_alone, 1).why_refused.len > 0);
    }
    assert_false(mssql_cut_table(&fixture.table, unknown, 1, test.arena, &cut, &test.err));
    assert_err(&test.err, ERR_USAGE, "nope");
    source_test_close(&test);
}

/* --- questions --- */

static void extents_of_many_intervals_are_one_question(void **state)
{
    static const FakeAnswer  answers[]   = {FACTS_2022,
                                            {.expect  = "AS key_min",
                                             .columns = "i INT, key_min INT, key_max INT",
                                             .rows    = "0|-3|9\n2|40|40\n"}};
    static const KeyInterval intervals[] = {
        {.has_from = false},
        {true, true, 10, 20},
        {true, true, 30, (WideKey)INT64_MAX + 1},
        {true, true, (WideKey)INT64_MIN - 5, 50}}; /* a grid line before bigint's first value */
    SourceTest   test;
    TableFixture fixture;
    KeyExtent    extents[4];

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TableCut cut    = cut_along(&test, &fixture, NULL, 0);
    Cutter  *cutter = cutter_new(test.arena, test.mssql, &fixture.table, &cut);
    assert_ok(cutter_find_extents(cutter, intervals, 4, extents, &test.err), &test.err);
    assert_true(extents[0].is_found && extents[0].min == -3 && extents[0].max == 9);
    assert_false(extents[1].is_found);
    assert_true(extents[2].is_found && extents[2].min == 40);
    const FakeCall *call = fake_server_call(test.server, "AS key_min", 0);
    assert_true(str_find(call->sql,
                         STR("FROM [dbo].[or]]ders] AS t WHERE t.[id] IS NOT NULL AND "
                             "t.[id] >= 10 AND t.[id] < 20 ORDER BY t.[id] DESC"),
                         0) > 0);
    assert_true(str_find(call->sql, STR("t.[id] >= 30 ORDER BY"), 0) > 0);
    assert_true(str_find(call->sql, STR("t.[id] IS NOT NULL AND t.[id] < 50 ORDER BY"), 0) > 0);
    cutter_close(cutter);
    assert_int_equal(fake_server_open_connections(test.server), 1);
    source_test_close(&test);
}

static void slices_of_many_grids_are_one_question(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         {.expect  = "COUNT_BIG",
                                          .columns = "i INT, b BIGINT, n BIGINT",
                                          .rows    = "1|7|2\n0|5|4\n0|-1|3\n"}};
    static const SliceGrid  grids[]   = {{{false, true, 0, 100}, 16}, {{true, true, 100, 200}, 3}};
    SourceTest              test;
    TableFixture            fixture;
    SliceCounts             counts[2];

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TableCut cut    = cut_along(&test, &fixture, NULL, 0);
    Cutter  *cutter = cutter_new(test.arena, test.mssql, &fixture.table, &cut);
    assert_ok(cutter_count_slices(cutter, grids, 2, test.arena, counts, &test.err), &test.err);
    assert_int_equal(counts[0].count, 2);
    assert_int_equal(counts[0].items[0].index, -1); /* ascending */
    assert_int_equal(counts[0].items[1].rows, 4);
    assert_int_equal(counts[1].count, 1);
    assert_int_equal(counts[1].items[0].index, 7);
    assert_true(str_find(fake_server_call(test.server, "COUNT_BIG", 0)->sql,
                         STR("q.o / CAST(3 AS bigint)"), 0) > 0);
    cutter_close(cutter);
    source_test_close(&test);
}

static void a_seek_stops_n_keys_on(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect = "OFFSET 1 ROWS", .columns = "code STRING", .rows = "C3\n"},
        {.expect = "OFFSET 9 ROWS", .columns = "code STRING"}};
    static const KeyPart lo[] = {{.text = {"C2", 2}}}, hi[] = {{.text = {"X", 1}}};
    SourceTest           test;
    TableFixture         fixture;
    const KeyPart       *bound;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TableCut cut    = cut_along(&test, &fixture, code_alone, 1);
    Cutter  *cutter = cutter_new(test.arena, test.mssql, &fixture.table, &cut);
    assert_ok(cutter_seek(cutter, lo, hi, 1, test.arena, &bound, &test.err), &test.err);
    assert_str_is(bound[0].text, "C3");
    const FakeCall *seek = fake_server_call(test.server, "OFFSET 1 ROWS", 0);
    assert_true(str_find(seek->sql,
                         STR("SELECT TOP (2) t.[code] FROM [dbo].[or]]ders] AS t WHERE t.[code] >= "
                             "CAST(? COLLATE Greek_CI_AS AS varchar(9)) AND t.[code] < CAST("),
                         0) > 0);
    assert_str_is(seek->params[0], "C2");
    assert_str_is(seek->params[1], "X");
    assert_ok(cutter_seek(cutter, NULL, NULL, 9, test.arena, &bound, &test.err), &test.err);
    assert_null(bound);
    cutter_close(cutter);
    source_test_close(&test);
}

static void the_last_key_is_the_greatest_in_every_column(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect =
             "SELECT TOP (1) t.[id], t.[code] FROM [dbo].[or]]ders] AS t ORDER BY t.[id] DESC, "
             "t.[code] DESC;",
         .columns = "id INT, code STRING",
         .rows    = "7|NULL\n"}};
    SourceTest     test;
    TableFixture   fixture;
    const KeyPart *last;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 2);
    TableCut cut    = cut_along(&test, &fixture, NULL, 0);
    Cutter  *cutter = cutter_new(test.arena, test.mssql, &fixture.table, &cut);
    assert_ok(cutter_find_last(cutter, test.arena, &last, &test.err), &test.err);
    assert_str_is(last[0].text, "7");
    assert_true(last[1].is_null);
    cutter_close(cutter);
    source_test_close(&test);
}

static void an_estimate_that_is_not_to_be_had_is_zero(void **state)
{
    static const FakeAnswer seen[]   = {FACTS_2022,
                                        {.expect  = "sp_spaceused",
                                         .columns = "name STRING, rows STRING, reserved STRING",
                                         .rows    = "orders|5                   |8 KB\n"}};
    static const FakeAnswer hidden[] = {
        FACTS_2022,
        {.expect = "sp_spaceused", .code = ERR_QUERY, .native = 15009, .message = "not there"}};
    const FakeAnswer *const tables[] = {seen, hidden};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        SourceTest   test;
        TableFixture fixture;
        int64_t      rows;

        source_test_open(&test, tables[i], 2);
        table_begin(&fixture, 2);
        TableCut cut    = cut_along(&test, &fixture, NULL, 0);
        Cutter  *cutter = cutter_new(test.arena, test.mssql, &fixture.table, &cut);
        assert_ok(cutter_estimate_rows(cutter, &rows, &test.err), &test.err);
        assert_int_equal(rows, i == 0 ? 5 : 0);
        assert_str_is(fake_server_call(test.server, "sp_spaceused", 0)->params[0],
                      "[dbo].[or]]ders]");
        cutter_close(cutter);
        source_test_close(&test);
    }
}

static void a_whole_snapshots_extent_stays_read_committed(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect = "AS key_min", .columns = "i INT, key_min INT, key_max INT", .rows = "0|0|9\n"}};
    static const KeyInterval whole = {.has_from = false};
    SourceTest               test;
    TableFixture             fixture;
    KeyExtent                extent;
    MssqlOptions             options = source_test_begin(&test, answers, COUNT_OF(answers));

    (void)state;
    options.lock_timeout_ms    = 250;
    options.isolation_snapshot = true;
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    table_begin(&fixture, 1);
    TableCut cut    = cut_along(&test, &fixture, NULL, 0);
    Cutter  *cutter = cutter_new(test.arena, test.mssql, &fixture.table, &cut);
    assert_ok(cutter_find_extents(cutter, &whole, 1, &extent, &test.err), &test.err);
    cutter_ignore_isolation(cutter);
    assert_ok(cutter_find_extents(cutter, &whole, 1, &extent, &test.err), &test.err);
    assert_true(str_starts_with(fake_server_call(test.server, "key_min", 0)->sql,
                                STR("SET LOCK_TIMEOUT 250; SET TRANSACTION ISOLATION LEVEL "
                                    "SNAPSHOT; SELECT")));
    assert_true(str_starts_with(fake_server_call(test.server, "key_min", 1)->sql,
                                STR("SET LOCK_TIMEOUT 250; SELECT")));
    cutter_close(cutter);
    source_test_close(&test);
}

static void a_question_that_fails_begins_again_on_a_new_connection(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect = "OFFSET", .code = ERR_SOURCE, .native = 0, .message = "gone", .times = 1},
        {.expect = "OFFSET", .columns = "code STRING", .rows = "C3\n"}};
    SourceTest     test;
    TableFixture   fixture;
    const KeyPart *bound;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TableCut cut    = cut_along(&test, &fixture, code_alone, 1);
    Cutter  *cutter = cutter_new(test.arena, test.mssql, &fixture.table, &cut);
    assert_ok(cutter_seek(cutter, NULL, NULL, 1, test.arena, &bound, &test.err), &test.err);
    assert_str_is(bound[0].text, "C3");
    assert_int_not_equal(fake_server_call(test.server, "OFFSET", 0)->connection,
                         fake_server_call(test.server, "OFFSET", 1)->connection);
    cutter_close(cutter);
    source_test_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_cut_along_its_unique_index),
        cmocka_unit_test(chosen_columns_may_repeat_unless_they_are_the_index),
        cmocka_unit_test(what_cannot_be_cut_along_says_why),
        cmocka_unit_test(extents_of_many_intervals_are_one_question),
        cmocka_unit_test(slices_of_many_grids_are_one_question),
        cmocka_unit_test(a_seek_stops_n_keys_on),
        cmocka_unit_test(the_last_key_is_the_greatest_in_every_column),
        cmocka_unit_test(an_estimate_that_is_not_to_be_had_is_zero),
        cmocka_unit_test(a_whole_snapshots_extent_stays_read_committed),
        cmocka_unit_test(a_question_that_fails_begins_again_on_a_new_connection),
    };
    return RUN_TESTS(tests);
}
