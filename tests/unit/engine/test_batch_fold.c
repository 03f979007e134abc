#include "support/test_support.h"

#include "engine/batch_fold.h"

#include <math.h>

static int64_t time_of(const char *text)
{
    int64_t us;

    assert_true(time_parse(str_from_c(text), &us));
    return us;
}

static Lsn at(uint8_t n)
{
    Lsn lsn = LSN_ZERO;

    lsn.bytes[9] = n;
    return lsn;
}

static ChangeMetrics range(int64_t rows, uint8_t low, uint8_t high)
{
    return (ChangeMetrics){.rows                 = rows,
                           .inserts              = rows,
                           .min_lsn              = at(low),
                           .max_lsn              = at(high),
                           .min_commit_ts        = OPT_TIME(low * INT64_C(1000000)),
                           .max_commit_ts        = OPT_TIME(high * INT64_C(1000000)),
                           .rtt_ms               = 1.0,
                           .read_seconds         = 0.5,
                           .read_bytes           = 1000,
                           .network_wait_ms      = 3,
                           .capture_lag_seconds  = NAN,
                           .min_lsn_after_is_set = true};
}

static void counts_are_sums_and_ranges_widen(void **state)
{
    ChangeMetrics ranges[] = {range(2, 5, 6), range(0, 0, 0), range(3, 2, 9)};
    BatchCounts   counts   = batch_fold_counts(ranges, COUNT_OF(ranges));

    (void)state;
    assert_int_equal(counts.rows, 5);
    assert_int_equal(counts.inserts, 5);
    assert_true(lsn_equal(counts.min_lsn.lsn, at(2)));
    assert_true(lsn_equal(counts.max_lsn.lsn, at(9)));
    assert_int_equal(counts.min_commit_ts.utc_us, 2000000);
    assert_int_equal(counts.max_commit_ts.utc_us, 9000000);
}

static void an_empty_batch_has_counts_zero_and_no_ranges(void **state) /* T11.3 */
{
    ChangeMetrics empty  = range(0, 0, 0);
    BatchCounts   counts = batch_fold_counts(&empty, 1);
    FactsRow      row    = {.rows = {.is_set = false}};

    (void)state;
    empty.read_bytes = 0;
    batch_set_counts(&counts, &row);
    batch_fold_metrics(&empty, 1, &counts, at(7), &row);
    assert_true(row.rows.is_set && row.rows.value == 0);
    assert_false(row.min_lsn.is_set);
    assert_false(row.max_commit_ts.is_set);
    assert_true(row.read_mb.is_set && row.read_mb.value == 0);
    assert_true(lsn_equal(row.end_lsn.lsn, at(7)));
}

static void a_batch_without_a_range_measures_nothing(void **state) /* state.md 7 */
{
    BatchCounts counts = {0};
    FactsRow    row    = {.rows = {.is_set = false}};

    (void)state;
    batch_fold_metrics(NULL, 0, &counts, at(7), &row);
    assert_false(row.end_lsn.is_set);
    assert_false(row.read_seconds.is_set);
    assert_false(row.source_rtt_ms.is_set);
    assert_false(row.network_wait_ms.is_set);
}

static void headroom_is_70_05_hours(void **state) /* T11.1 */
{
    ChangeMetrics last   = range(1, 1, 1);
    int64_t       t0     = time_of("2026-09-28T14:00:00");
    BatchCounts   counts = batch_fold_counts(&last, 1);
    FactsRow      row    = {.rows = {.is_set = false}};

    (void)state;
    last.retention_watermark_ts = OPT_TIME(t0 - INT64_C(70) * 3600 * 1000000);
    last.end_commit_ts          = OPT_TIME(t0 + 3 * 60 * INT64_C(1000000));
    batch_fold_metrics(&last, 1, &counts, at(1), &row);
    assert_true(fabs(row.retention_headroom_hours.value - 70.05) < 1e-9);
}

static void the_position_is_the_end_else_the_last_change(void **state)
{
    ChangeMetrics last   = range(1, 1, 10);
    BatchCounts   counts = batch_fold_counts(&last, 1);
    FactsRow      row    = {.rows = {.is_set = false}};

    (void)state;
    last.source_max_commit_ts = OPT_TIME(70000000);
    batch_fold_metrics(&last, 1, &counts, at(10), &row);
    assert_true(fabs(row.ingestion_lag_seconds.value - 60.0) < 1e-9); /* from the last change */
    last.end_commit_ts = OPT_TIME(70000000);
    batch_fold_metrics(&last, 1, &counts, at(10), &row);
    assert_true(row.ingestion_lag_seconds.value == 0);
    assert_false(row.capture_lag_seconds.is_set);
    assert_false(row.retention_headroom_hours.is_set);
}

static void the_round_trip_is_the_median_of_the_known_ones(void **state)
{
    ChangeMetrics ranges[] = {range(1, 1, 1), range(1, 1, 1), range(1, 1, 1), range(1, 1, 1)};
    BatchCounts   counts   = batch_fold_counts(ranges, 4);
    FactsRow      row      = {.rows = {.is_set = false}};

    (void)state;
    ranges[0].rtt_ms = 9.96;
    ranges[1].rtt_ms = -1;
    ranges[2].rtt_ms = 1.0;
    ranges[3].rtt_ms = 2.04;
    batch_fold_metrics(ranges, 4, &counts, at(1), &row);
    assert_true(row.source_rtt_ms.value == 2.0);
    ranges[1].rtt_ms = 3.0;
    batch_fold_metrics(ranges, 4, &counts, at(1), &row);
    assert_true(row.source_rtt_ms.value == 2.5); /* (2.04 + 3.0) / 2 = 2.52 */
    assert_true(row.read_seconds.value == 2.0);
    assert_true(row.read_mb.value == 0.004);
}

static void a_wait_that_one_range_cannot_tell_is_unknown(void **state)
{
    ChangeMetrics ranges[] = {range(1, 1, 1), range(1, 1, 1)};
    BatchCounts   counts   = batch_fold_counts(ranges, 2);
    FactsRow      row      = {.rows = {.is_set = false}};

    (void)state;
    batch_fold_metrics(ranges, 2, &counts, at(1), &row);
    assert_int_equal(row.network_wait_ms.value, 6);
    row                       = (FactsRow){.rows = {.is_set = false}};
    ranges[1].network_wait_ms = -1;
    batch_fold_metrics(ranges, 2, &counts, at(1), &row);
    assert_false(row.network_wait_ms.is_set);
}

static void numbers_are_rounded_half_away_from_zero(void **state)
{
    (void)state;
    assert_true(round_to(2.25, 1) == 2.3);
    assert_true(round_to(-2.25, 1) == -2.3);
    assert_true(round_to(70.049999, 2) == 70.05);
    assert_true(round_to(3, 0) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_sums_and_ranges_widen),
        cmocka_unit_test(an_empty_batch_has_counts_zero_and_no_ranges),
        cmocka_unit_test(a_batch_without_a_range_measures_nothing),
        cmocka_unit_test(headroom_is_70_05_hours),
        cmocka_unit_test(the_position_is_the_end_else_the_last_change),
        cmocka_unit_test(the_round_trip_is_the_median_of_the_known_ones),
        cmocka_unit_test(a_wait_that_one_range_cannot_tell_is_unknown),
        cmocka_unit_test(numbers_are_rounded_half_away_from_zero),
    };
    return RUN_TESTS(tests);
}
