#include "support/test_support.h"

#include "unit/state/state_test.h"

static const TableRef ref = {{"control", 7}, {"lake/control", 12}};

static Control *open_control(Lake *lake)
{
    Control *control = NULL;

    assert_ok(control_open(&lake->delta, &ref, &control, &lake->err), &lake->err);
    return control;
}

static OptTime advance(Lake *lake, Control *control, const char *table, unsigned n,
                       const char *time)
{
    Offset  end = offset_of(n, time);
    OptTime finalized;

    assert_ok(
        control_advance(control, str_from_c(table), &end, GRANULARITY_HOUR, &finalized, &lake->err),
        &lake->err);
    return finalized;
}

static ControlRow read_row(Lake *lake, Control *control, const char *table)
{
    ControlRow row;

    assert_ok(control_read(control, str_from_c(table), &row, &lake->err), &lake->err);
    return row;
}

static void a_time_is_cut_to_its_period(void **state) /* T8.1 */
{
    int64_t us = time_of("2026-09-28T14:37:12.345"), before = time_of("1969-12-31T23:59:59");

    (void)state;
    assert_int_equal(granularity_truncate(GRANULARITY_MINUTE, us), time_of("2026-09-28T14:37:00"));
    assert_int_equal(granularity_truncate(GRANULARITY_HOUR, us), time_of("2026-09-28T14:00:00"));
    assert_int_equal(granularity_truncate(GRANULARITY_DAY, us), time_of("2026-09-28T00:00:00"));
    assert_int_equal(granularity_truncate(GRANULARITY_DAY, before), time_of("1969-12-31T00:00:00"));
}

static void granularity_is_read_in_any_case(void **state)
{
    Granularity got;

    (void)state;
    assert_true(granularity_parse(STR("Day"), &got));
    assert_int_equal(got, GRANULARITY_DAY);
    assert_false(granularity_parse(STR("week"), &got));
    assert_false(granularity_parse(STR_EMPTY, &got));
}

static void a_verdict_never_moves_back(void **state) /* T8.1 */
{
    Lake    *lake    = lake_open(*state);
    Control *control = open_control(lake);

    assert_false(read_row(lake, control, "b").exists);
    assert_int_equal(advance(lake, control, "b", 2, "2026-09-28T15:10:00").utc_us,
                     time_of("2026-09-28T15:00:00"));
    assert_int_equal(advance(lake, control, "b", 1, "2026-09-28T13:10:00").utc_us,
                     time_of("2026-09-28T15:00:00"));
    assert_int_equal(advance(lake, control, "b", 3, "2026-09-28T15:59:59").utc_us,
                     time_of("2026-09-28T15:00:00"));
    ControlRow row = read_row(lake, control, "b");
    assert_true(lsn_equal(row.end_lsn.lsn, lsn_number(2)));
    assert_int_equal(row.end_commit_ts.utc_us, time_of("2026-09-28T15:10:00"));
    assert_int_equal(row.updated_at.utc_us, TEST_UTC_US);
    assert_int_equal(advance(lake, control, "b", 4, "2026-09-28T16:00:00").utc_us,
                     time_of("2026-09-28T16:00:00"));
    control_close(control);
    lake_close(lake);
}

static void an_end_without_commit_time_moves_nothing(void **state)
{
    Lake    *lake    = lake_open(*state);
    Control *control = open_control(lake);

    assert_false(advance(lake, control, "b", 2, NULL).is_set);
    assert_false(read_row(lake, control, "b").exists);
    (void)advance(lake, control, "b", 2, "2026-09-28T15:10:00");
    assert_true(advance(lake, control, "b", 3, NULL).is_set);
    control_close(control);
    lake_close(lake);
}

static void a_position_is_set_beside_the_verdict(void **state) /* state.md 11 */
{
    Lake    *lake    = lake_open(*state);
    Control *control = open_control(lake);
    OptLsn   none    = {.is_set = false};

    (void)advance(lake, control, "b", 1, "2026-09-28T15:10:00");
    assert_ok(control_set_position(control, STR("s"), OPT_LSN(lsn_number(7)),
                                   OPT_LSN(lsn_number(3)), none, (OptI64){.is_set = false},
                                   &lake->err),
              &lake->err);
    ControlRow row = read_row(lake, control, "s");
    assert_true(row.exists);
    assert_true(lsn_equal(row.applied_lsn.lsn, lsn_number(7)));
    assert_true(lsn_equal(row.snapshot_lsn.lsn, lsn_number(3)));
    assert_false(row.finalized_until.is_set);
    (void)advance(lake, control, "s", 9, "2026-09-28T16:10:00"); /* NULL verdict: it is set */
    row = read_row(lake, control, "s");
    assert_int_equal(row.finalized_until.utc_us, time_of("2026-09-28T16:00:00"));
    assert_true(lsn_equal(row.applied_lsn.lsn, lsn_number(7)));
    assert_int_equal(read_row(lake, control, "b").finalized_until.utc_us,
                     time_of("2026-09-28T15:00:00"));
    control_close(control);
    lake_close(lake);
}

static int64_t version_of(Lake *lake)
{
    DeltaTable *table = NULL;
    int64_t     version;

    assert_ok(delta_table_open(&lake->delta, ref.path, &table, &lake->err), &lake->err);
    version = delta_table_get_version(table);
    delta_table_close(table);
    return version;
}

static void what_is_recorded_already_is_not_written_again(void **state)
{
    Lake    *lake    = lake_open(*state);
    Control *control = open_control(lake);
    OptLsn   none    = {.is_set = false};

    for (int i = 0; i < 3; i++) {
        (void)advance(lake, control, "b", 1, "2026-09-28T15:10:00");
        assert_ok(control_set_position(control, STR("b"), OPT_LSN(lsn_number(7)), none, none,
                                       (OptI64){.is_set = false}, &lake->err),
                  &lake->err);
        assert_int_equal(version_of(lake), 2);
    }
    control_close(control);
    lake_close(lake);
}

static void two_writers_both_get_their_rows_in(void **state) /* T8.5 */
{
    Lake    *lake  = lake_open(*state);
    Control *left  = open_control(lake);
    Control *right = open_control(lake);

    (void)advance(lake, left, "a", 1, "2026-09-28T15:10:00");
    (void)advance(lake, right, "b", 1, "2026-09-28T16:10:00"); /* stands at an older version */
    (void)advance(lake, left, "a", 2, "2026-09-28T17:10:00");
    assert_str_is(rows_of(lake, "lake/control",
                          "SELECT table_name, finalized_until FROM {} ORDER BY table_name"),
                  "a|2026-09-28T17:00:00.000000\nb|2026-09-28T16:00:00.000000\n");
    control_close(left);
    control_close(right);
    lake_close(lake);
}

static void names_with_quotes_are_one_row_each(void **state)
{
    Lake    *lake    = lake_open(*state);
    Control *control = open_control(lake);

    (void)advance(lake, control, "it's", 1, "2026-09-28T15:10:00");
    (void)advance(lake, control, "it''s", 1, "2026-09-28T16:10:00");
    assert_int_equal(read_row(lake, control, "it's").finalized_until.utc_us,
                     time_of("2026-09-28T15:00:00"));
    control_close(control);
    lake_close(lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_cut_to_its_period),
        cmocka_unit_test(granularity_is_read_in_any_case),
        cmocka_unit_test(a_verdict_never_moves_back),
        cmocka_unit_test(an_end_without_commit_time_moves_nothing),
        cmocka_unit_test(a_position_is_set_beside_the_verdict),
        cmocka_unit_test(what_is_recorded_already_is_not_written_again),
        cmocka_unit_test(two_writers_both_get_their_rows_in),
        cmocka_unit_test(names_with_quotes_are_one_row_each),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
