#include "support/test_support.h"

#include "unit/state/state_test.h"

static const TableRef ref = {{"facts", 5}, {"lake/facts", 10}};

static Facts *open_facts(Lake *lake)
{
    Facts *facts = NULL;

    assert_ok(facts_open(&lake->delta, &ref, &facts, &lake->err), &lake->err);
    return facts;
}

static FactsRow batch_row(int64_t id)
{
    return (FactsRow){.app_id       = STR("shop"),
                      .batch_id     = OPT_I64(id),
                      .rows         = OPT_I64(4),
                      .min_lsn      = OPT_LSN(lsn_number(0x11)),
                      .max_lsn      = OPT_LSN(lsn_number(0x31)),
                      .read_seconds = OPT_DOUBLE(0.125),
                      .target       = STR("lake/bronze")};
}

static void append(Lake *lake, Facts *facts, int64_t id, DeltaOutcome want)
{
    FactsRow     rows[2] = {batch_row(id), batch_row(id)};
    DeltaOutcome outcome;

    rows[1].event = STR("schema_change");
    assert_ok(facts_append_batch(facts, STR("shop"), id, rows, 2, &outcome, &lake->err),
              &lake->err);
    assert_int_equal(outcome, want);
}

static void a_new_table_has_the_columns_of_0_8_0_in_order(void **state) /* state.md 7 */
{
    Lake       *lake  = lake_open(*state);
    Facts      *facts = open_facts(lake);
    DeltaTable *table = NULL;
    Buf         names = buf_new(lake->arena, 0);
    Str         version;

    assert_ok(delta_table_open(&lake->delta, ref.path, &table, &lake->err), &lake->err);
    const Schema *schema = delta_table_get_schema(table);
    assert_int_equal(schema->column_count, 29);
    for (size_t i = 0; i < schema->column_count; i++) {
        buf_printf(&names, "%s%.*s", i ? " " : "", STR_ARG(schema->columns[i].name));
        assert_true(schema->columns[i].comment.len > 0);
    }
    assert_str_is(
        buf_str(&names),
        "app_id batch_id rows min_lsn max_lsn min_commit_ts max_commit_ts deletes inserts "
        "updates started_at duration_ms source_rtt_ms read_seconds read_mb "
        "network_wait_ms retention_watermark_ts retention_headroom_hours event "
        "lost_from_ts lost_to_ts source_max_commit_ts capture_lag_seconds "
        "ingestion_lag_seconds end_lsn end_commit_ts detail target written_at");
    assert_true(delta_table_find_property(table, STR("mssql_cdc.schema_version"), &version));
    assert_str_is(version, "14");
    delta_table_close(table);
    facts_close(facts);
    lake_close(lake);
}

static void a_batch_and_its_events_are_one_commit_once(void **state) /* T2.12 */
{
    Lake  *lake  = lake_open(*state);
    Facts *facts = open_facts(lake);

    append(lake, facts, 5, DELTA_WRITTEN);
    append(lake, facts, 5, DELTA_SKIPPED);
    append(lake, facts, 4, DELTA_SKIPPED);
    assert_str_is(rows_of(lake, "lake/facts",
                          "SELECT app_id, batch_id, \"rows\", min_lsn, event, read_seconds, "
                          "deletes, written_at FROM {} ORDER BY event NULLS FIRST"),
                  "shop|5|4|0x0000002A000000000011|-|0.125|-|2026-11-30T03:09:51.067000\n"
                  "shop|5|4|0x0000002A000000000011|schema_change|0.125|-|"
                  "2026-11-30T03:09:51.067000\n");
    facts_close(facts);
    lake_close(lake);
}

static void the_last_batch_is_that_of_the_sink_id_alone(void **state)
{
    Lake  *lake  = lake_open(*state);
    Facts *facts = open_facts(lake);
    OptI64 last;
    bool   has;

    assert_ok(facts_find_last_batch(facts, STR("shop"), &last, &lake->err), &lake->err);
    assert_false(last.is_set);
    append(lake, facts, 5, DELTA_WRITTEN);
    assert_ok(facts_find_last_batch(facts, STR("shop"), &last, &lake->err), &lake->err);
    assert_int_equal(last.value, 5);
    assert_ok(facts_find_last_batch(facts, STR("shop.g1"), &last, &lake->err), &lake->err);
    assert_false(last.is_set);
    assert_ok(facts_has_batch(facts, STR("shop"), 5, &has, &lake->err), &lake->err);
    assert_true(has);
    assert_ok(facts_has_batch(facts, STR("shop"), 6, &has, &lake->err), &lake->err);
    assert_false(has);
    facts_close(facts);
    lake_close(lake);
}

static void add_event(Lake *lake, Facts *facts, const char *app_id, const char *event, unsigned n,
                      int64_t version)
{
    FactsRow     row = {.app_id  = str_from_c(app_id),
                        .event   = str_from_c(event),
                        .max_lsn = OPT_LSN(lsn_number(n)),
                        .target  = STR("lake/bronze"),
                        .detail  = STR("{}")};
    DeltaOutcome outcome;

    clock_sleep_ms(lake->clock, 1000, NULL);
    assert_ok(facts_append_event(facts, row.app_id, version, &row, &outcome, &lake->err),
              &lake->err);
}

static FactsRow headroom_row(const char *app_id, int64_t batch_id, OptDouble headroom)
{
    return (FactsRow){.app_id                   = str_from_c(app_id),
                      .batch_id                 = OPT_I64(batch_id),
                      .target                   = STR("lake/bronze"),
                      .retention_headroom_hours = headroom};
}

static void add_batches(Lake *lake, Facts *facts, int64_t batch_id, FactsRow *rows, size_t count)
{
    DeltaOutcome outcome;

    clock_sleep_ms(lake->clock, 1000, NULL);
    assert_ok(
        facts_append_batch(facts, rows[0].app_id, batch_id, rows, count, &outcome, &lake->err),
        &lake->err);
}

static void assert_headroom(Lake *lake, Facts *facts, const char *app_id, double want)
{
    OptDouble hours;
    OptTime   written_at;

    assert_ok(facts_find_headroom(facts, str_from_c(app_id), &hours, &written_at, &lake->err),
              &lake->err);
    assert_int_equal(hours.is_set, want >= 0);
    if (want >= 0) assert_true(hours.value == want);
}

static void the_headroom_is_that_of_the_newest_batch(void **state)
{
    Lake    *lake  = lake_open(*state);
    Facts   *facts = open_facts(lake);
    FactsRow rows[2];

    assert_headroom(lake, facts, "shop", -1);
    add_event(lake, facts, "shop", EVENT_SNAPSHOT_OPEN, 1, -1);
    assert_headroom(lake, facts, "shop", -1);
    rows[0] = headroom_row("shop", 0, OPT_DOUBLE(7));
    add_batches(lake, facts, 0, rows, 1);
    rows[0] = headroom_row("shop", 1, OPT_DOUBLE(6));
    add_batches(lake, facts, 1, rows, 1);
    assert_headroom(lake, facts, "shop", 6);
    /* newer rows of the stream that are no batches, and newer batches of others, tell nothing */
    add_event(lake, facts, "shop", EVENT_BOOTSTRAP, 2, 0);
    rows[0] = headroom_row("other", 2, OPT_DOUBLE(1));
    add_batches(lake, facts, 2, rows, 1);
    assert_headroom(lake, facts, "shop", 6);
    /* statistics would let the newest file hold one: it holds other streams' alone */
    rows[0] = headroom_row("other", 10, OPT_DOUBLE(1));
    rows[1] = headroom_row("zoo", 10, OPT_DOUBLE(2));
    add_batches(lake, facts, 10, rows, 2);
    assert_headroom(lake, facts, "shop", 6);
    rows[0] = headroom_row("shop", 11, (OptDouble){.is_set = false}); /* it does not know */
    add_batches(lake, facts, 11, rows, 1);
    assert_headroom(lake, facts, "shop", -1);
    facts_close(facts);
    lake_close(lake);
}

static void snapshot_events_are_found_over_the_family(void **state) /* state.md 3 */
{
    Lake     *lake  = lake_open(*state);
    Facts    *facts = open_facts(lake);
    FactsRow *rows;
    size_t    count;

    append(lake, facts, 5, DELTA_WRITTEN);
    add_event(lake, facts, "shop", EVENT_SNAPSHOT_OPEN, 1, -1);
    add_event(lake, facts, "shop.g1", EVENT_RESNAPSHOT, 2, -1);
    add_event(lake, facts, "shop.gx", EVENT_BOOTSTRAP, 3, -1);
    assert_ok(facts_find_snapshots(facts, STR("lake/bronze"), STR("shop"), lake->arena, &rows,
                                   &count, &lake->err),
              &lake->err);
    assert_int_equal(count, 2);
    assert_str_is(rows[0].event, EVENT_SNAPSHOT_OPEN);
    assert_true(lsn_equal(rows[1].max_lsn.lsn, lsn_number(2)));
    assert_ok(facts_find_snapshots(facts, STR("lake/bronze"), STR_EMPTY, lake->arena, &rows, &count,
                                   &lake->err),
              &lake->err);
    assert_int_equal(count, 3);
    assert_ok(facts_find_snapshots(facts, STR("lake/bronze/"), STR_EMPTY, lake->arena, &rows,
                                   &count, &lake->err),
              &lake->err);
    assert_int_equal(count, 0); /* another spelling is another table */
    facts_close(facts);
    lake_close(lake);
}

static void an_event_with_a_key_is_written_once(void **state) /* state.md 15 */
{
    Lake  *lake  = lake_open(*state);
    Facts *facts = open_facts(lake);

    add_event(lake, facts, "shop", EVENT_BOOTSTRAP, 1, 0);
    add_event(lake, facts, "shop", EVENT_BOOTSTRAP, 2, 0);
    add_event(lake, facts, "shop", EVENT_SNAPSHOT_OPEN, 3, -1);
    add_event(lake, facts, "shop", EVENT_SNAPSHOT_OPEN, 3, -1);
    assert_str_is(rows_of(lake, "lake/facts",
                          "SELECT event, max_lsn, count(*) FROM {} GROUP BY ALL ORDER BY ALL"),
                  "bootstrap|0x0000002A000000000001|1\n"
                  "snapshot_open|0x0000002A000000000003|2\n");
    facts_close(facts);
    lake_close(lake);
}

static void a_known_target_is_known_and_others_are_listed(void **state)
{
    Lake  *lake  = lake_open(*state);
    Facts *facts = open_facts(lake);
    Str   *targets;
    size_t count;
    bool   is_known;

    append(lake, facts, 0, DELTA_WRITTEN);
    append(lake, facts, 1, DELTA_WRITTEN);
    assert_ok(facts_find_targets(facts, STR("lake/bronze"), 50, lake->arena, &is_known, &targets,
                                 &count, &lake->err),
              &lake->err);
    assert_true(is_known);
    assert_ok(facts_find_targets(facts, STR("lake/bronze/"), 50, lake->arena, &is_known, &targets,
                                 &count, &lake->err),
              &lake->err);
    assert_false(is_known);
    assert_int_equal(count, 1);
    assert_str_is(targets[0], "lake/bronze");
    facts_close(facts);
    lake_close(lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_table_has_the_columns_of_0_8_0_in_order),
        cmocka_unit_test(a_batch_and_its_events_are_one_commit_once),
        cmocka_unit_test(the_last_batch_is_that_of_the_sink_id_alone),
        cmocka_unit_test(the_headroom_is_that_of_the_newest_batch),
        cmocka_unit_test(snapshot_events_are_found_over_the_family),
        cmocka_unit_test(an_event_with_a_key_is_written_once),
        cmocka_unit_test(a_known_target_is_known_and_others_are_listed),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
