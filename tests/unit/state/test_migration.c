/* Tables of every schema version there was: brought up to date when a writer opens them, once,
 * whatever dies or races on the way (state.md 5). */
#include "support/test_support.h"

#include "unit/state/state_test.h"

#include "state/plans.h"
#include "state/report.h"

#define PATH "lake/old"

static const TableRef ref = {{"old", 3}, {PATH, 8}};

/* The version a kind has now, and which version added which column: the page, not the code. */
static const struct {
    TableKind   kind;
    int64_t     newest;
    const char *name;
} kinds[] = {
    {KIND_BRONZE, 2, "bronze"},   {KIND_FACTS, 14, "facts"},  {KIND_PLANS, 1, "plans"},
    {KIND_CONTROL, 4, "control"}, {KIND_SILVER, 0, "silver"}, {KIND_REPORT, 0, "report"},
};

static const struct {
    TableKind   kind;
    int64_t     version;
    const char *column;
} added[] = {
    {KIND_BRONZE, 2, "_snapshot"},
    {KIND_BRONZE, 2, "_chunk"},
    {KIND_FACTS, 1, "source_rtt_ms"},
    {KIND_FACTS, 1, "read_seconds"},
    {KIND_FACTS, 1, "read_mb"},
    {KIND_FACTS, 1, "network_wait_ms"},
    {KIND_FACTS, 2, "retention_watermark_ts"},
    {KIND_FACTS, 2, "retention_headroom_hours"},
    {KIND_FACTS, 3, "event"},
    {KIND_FACTS, 3, "lost_from_ts"},
    {KIND_FACTS, 3, "lost_to_ts"},
    {KIND_FACTS, 4, "source_max_commit_ts"},
    {KIND_FACTS, 4, "capture_lag_seconds"},
    {KIND_FACTS, 4, "ingestion_lag_seconds"},
    {KIND_FACTS, 5, "end_lsn"},
    {KIND_FACTS, 5, "end_commit_ts"},
    {KIND_FACTS, 6, "detail"},
    {KIND_CONTROL, 1, "applied_lsn"},
    {KIND_CONTROL, 1, "snapshot_lsn"},
    {KIND_CONTROL, 2, "open_snapshot_lsn"},
    {KIND_CONTROL, 2, "snapshot_wave"},
};

static Schema id_schema(Lake *lake)
{
    Column *column = ARENA_NEW(lake->arena, Column);

    *column = (Column){.name = STR("id"), .type = COLUMN_TYPE(TYPE_INTEGER)};
    return (Schema){.columns = column, .column_count = 1};
}

static bool open_bronze_to_write(Lake *lake, const TableRef *at, Err *err)
{
    Bronze *bronze   = NULL;
    Schema  captured = id_schema(lake);
    bool    ok       = bronze_open(&lake->delta, at, &bronze, err) &&
              bronze_prepare(bronze, &captured, true, err);

    bronze_close(bronze);
    return ok;
}

/* Opens as the writers of that kind do. */
static bool open_kind(Lake *lake, TableKind kind, const TableRef *at, Err *err)
{
    Facts      *facts    = NULL;
    Plans      *plans    = NULL;
    Control    *control  = NULL;
    DeltaTable *table    = NULL;
    Schema      captured = id_schema(lake);
    bool        ok       = false;

    switch (kind) {
    case KIND_BRONZE: return open_bronze_to_write(lake, at, err);
    case KIND_FACTS: ok = facts_open(&lake->delta, at, &facts, err); break;
    case KIND_PLANS: ok = plans_open(&lake->delta, at, &plans, err); break;
    case KIND_CONTROL: ok = control_open(&lake->delta, at, &control, err); break;
    case KIND_SILVER:
        ok = silver_open_or_create(&lake->delta, at, &captured, true, &table, err);
        break;
    case KIND_REPORT: ok = report_open(&lake->delta, at, &table, err); break;
    }
    facts_close(facts);
    plans_close(plans);
    control_close(control);
    delta_table_close(table);
    return ok;
}

static DeltaTable *open_table(Lake *lake, const char *path)
{
    DeltaTable *table = NULL;

    assert_ok(delta_table_open(&lake->delta, str_from_c(path), &table, &lake->err), &lake->err);
    return table;
}

/* The columns of a table made now. */
static Schema newest_schema(Lake *lake, TableKind kind)
{
    TableRef at = {STR("new"), STR("lake/new")};

    assert_ok(open_kind(lake, kind, &at, &lake->err), &lake->err);
    DeltaTable *table  = open_table(lake, "lake/new");
    Schema      schema = schema_copy(lake->arena, delta_table_get_schema(table));
    delta_table_close(table);
    return schema;
}

static bool had(TableKind kind, int64_t version, Str column)
{
    for (size_t i = 0; i < COUNT_OF(added); i++)
        if (added[i].kind == kind && str_equal_c(column, added[i].column))
            return added[i].version <= version;
    return true;
}

static void assert_message(const Err *err, const char *part)
{
    char text[2048];

    err_format(err, text, sizeof text);
    if (!strstr(text, part)) fail_msg("\"%s\" is not in \"%s\"", part, text);
}

/* A table as a release of that version made it; version 0 has no property. */
static void make_old(Lake *lake, TableKind kind, int64_t version, const char *min_version)
{
    Schema        newest  = newest_schema(lake, kind);
    Column       *columns = ARENA_ARRAY(lake->arena, Column, newest.column_count);
    DeltaProperty properties[2];
    DeltaCreate   spec  = {.schema = {.columns = columns}, .properties = properties};
    DeltaTable   *table = NULL;

    for (size_t i = 0; i < newest.column_count; i++)
        if (had(kind, version, newest.columns[i].name))
            columns[spec.schema.column_count++] = newest.columns[i];
    if (version > 0)
        properties[spec.property_count++] = (DeltaProperty){
            STR("mssql_cdc.schema_version"), str_printf(lake->arena, "%lld", (long long)version)};
    if (min_version)
        properties[spec.property_count++] = (DeltaProperty){STR("mssql_cdc.min_version"),
                                                            str_from_c(min_version)};
    assert_ok(delta_table_create(&lake->delta, ref.path, &spec, &table, NULL, &lake->err),
              &lake->err);
    delta_table_close(table);
}

static int64_t table_version(Lake *lake)
{
    DeltaTable *table   = open_table(lake, PATH);
    int64_t     version = delta_table_get_version(table);

    delta_table_close(table);
    return version;
}

/* Every column once and of the type it has in a new table; stamped with `stamp`. */
static void assert_up_to_date(Lake *lake, TableKind kind, const char *stamp)
{
    Schema        newest = newest_schema(lake, kind);
    DeltaTable   *table  = open_table(lake, PATH);
    const Schema *schema = delta_table_get_schema(table);
    Str           found  = STR("0");

    assert_int_equal(schema->column_count, newest.column_count);
    for (size_t i = 0; i < newest.column_count; i++) {
        ptrdiff_t at = schema_find(schema, newest.columns[i].name);
        assert_true(at >= 0);
        assert_true(column_type_equal(schema->columns[at].type, newest.columns[i].type));
    }
    (void)delta_table_find_property(table, STR("mssql_cdc.schema_version"), &found);
    assert_str_is(found, stamp);
    delta_table_close(table);
}

static Str text_of(Lake *lake, int64_t number)
{
    return str_printf(lake->arena, "%lld", (long long)number);
}

static void every_version_of_every_kind_is_brought_up_to_date(void **state)
{
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (int64_t version = 0; version <= kinds[k].newest; version++) {
            Lake *lake = lake_open(*state);

            assert_int_equal(table_kind_version(kinds[k].kind), kinds[k].newest);
            make_old(lake, kinds[k].kind, version, NULL);
            assert_ok(open_kind(lake, kinds[k].kind, &ref, &lake->err), &lake->err);
            assert_up_to_date(lake, kinds[k].kind,
                              str_c(lake->arena, text_of(lake, kinds[k].newest)));
            assert_int_equal(table_version(lake), version < kinds[k].newest ? 1 : 0);
            assert_ok(open_kind(lake, kinds[k].kind, &ref, &lake->err), &lake->err);
            assert_int_equal(table_version(lake), version < kinds[k].newest ? 1 : 0);
            assert_int_equal(lake->lines.warning_count, 0);
            lake_close(lake);
        }
}

/* The library dies between a change and its stamp: the columns are there already. */
static void columns_that_are_there_are_left_alone(void **state)
{
    Lake        *lake = lake_open(*state);
    DeltaTable  *table;
    Column       columns[] = {{.name = STR("END_LSN"), .type = COLUMN_TYPE(TYPE_STRING)},
                              {.name = STR("network_wait_ms"), .type = COLUMN_TYPE(TYPE_LONG)}};
    Schema       schema    = {.columns = columns, .column_count = 2};
    DeltaCommit  commit    = {.operation = STR("ADD COLUMNS"), .schema = &schema};
    DeltaOutcome outcome;

    make_old(lake, KIND_FACTS, 0, NULL);
    table = open_table(lake, PATH);
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &lake->err), &lake->err);
    delta_table_close(table);
    assert_ok(open_kind(lake, KIND_FACTS, &ref, &lake->err), &lake->err);
    assert_up_to_date(lake, KIND_FACTS, "14");
    assert_int_equal(table_version(lake), 2);
    lake_close(lake);
}

static void rows_before_and_after_stand_side_by_side(void **state)
{
    Lake        *lake  = lake_open(*state);
    Facts       *facts = NULL;
    DeltaTable  *table;
    DeltaOutcome outcome;
    FactsRow     row = {.app_id   = STR("shop"),
                        .batch_id = OPT_I64(1),
                        .rows     = OPT_I64(3),
                        .end_lsn  = OPT_LSN(lsn_number(9)),
                        .detail   = STR("x"),
                        .target   = STR("b")};

    make_old(lake, KIND_FACTS, 0, NULL);
    table                 = open_table(lake, PATH);
    const Schema *schema  = delta_table_get_schema(table);
    RowBuilder   *builder = row_builder_new(lake->arena, schema);
    row_builder_begin(builder);
    row_builder_set_str(builder, 0, STR("shop"));
    row_builder_set_i64(builder, 1, 0);
    RowBlock    block  = row_builder_block(builder);
    DeltaAppend append = {.rows    = row_stream_of_block(lake->arena, schema, &block),
                          .purpose = STR("test")};
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &lake->err), &lake->err);
    row_stream_close(append.rows);
    delta_table_close(table);
    assert_ok(facts_open(&lake->delta, &ref, &facts, &lake->err), &lake->err);
    assert_ok(facts_append_batch(facts, STR("shop"), 1, &row, 1, &outcome, &lake->err), &lake->err);
    OptI64 last;
    assert_ok(facts_find_last_batch(facts, STR("shop"), &last, &lake->err), &lake->err);
    assert_int_equal(last.value, 1);
    facts_close(facts);
    assert_str_is(
        rows_of(lake, PATH,
                "SELECT batch_id, \"rows\", event, end_lsn, detail FROM {} ORDER BY batch_id"),
        "0|-|-|-|-\n1|3|-|0x0000002A000000000009|x\n");
    lake_close(lake);
}

static void a_table_that_asks_for_more_is_refused_before_anything_is_written(void **state)
{
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        Lake *lake   = lake_open(*state);
        Str   needed = text_of(lake, kinds[k].newest + 1);
        Err   err    = ERR_INIT;

        make_old(lake, kinds[k].kind, 0, str_c(lake->arena, needed));
        assert_false(open_kind(lake, kinds[k].kind, &ref, &err));
        assert_int_equal(err.code, ERR_STATE);
        assert_message(&err, PATH);
        assert_message(&err, kinds[k].name);
        assert_message(
            &err, str_c(lake->arena, str_printf(lake->arena, "version %.*s ", STR_ARG(needed))));
        assert_message(&err, str_c(lake->arena, str_printf(lake->arena, "knows %lld",
                                                           (long long)kinds[k].newest)));
        assert_int_equal(table_version(lake), 0);
        lake_close(lake);
    }
}

static void a_table_of_a_newer_release_is_written_with_one_warning(void **state)
{
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        Lake *lake = lake_open(*state);

        make_old(lake, kinds[k].kind, kinds[k].newest + 3,
                 str_c(lake->arena, text_of(lake, kinds[k].newest)));
        assert_ok(open_kind(lake, kinds[k].kind, &ref, &lake->err), &lake->err);
        assert_int_equal(lake->lines.warning_count, 1);
        assert_int_equal(table_version(lake), 0);
        lake_close(lake);
    }
}

static void somebody_elses_column_of_the_name_stops_it(void **state)
{
    Lake        *lake   = lake_open(*state);
    Column       column = {.name = STR("detail"), .type = COLUMN_TYPE(TYPE_INTEGER)};
    Schema       schema = {.columns = &column, .column_count = 1};
    DeltaCommit  commit = {.operation = STR("ADD COLUMNS"), .schema = &schema};
    DeltaOutcome outcome;
    DeltaTable  *table;
    Err          err = ERR_INIT;

    make_old(lake, KIND_FACTS, 2, NULL);
    table = open_table(lake, PATH);
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &lake->err), &lake->err);
    delta_table_close(table);
    assert_false(open_kind(lake, KIND_FACTS, &ref, &err));
    assert_int_equal(err.code, ERR_STATE);
    assert_message(&err, "detail");
    assert_message(&err, "INT");
    assert_message(&err, "STRING");
    assert_int_equal(table_version(lake), 1);
    lake_close(lake);
}

static void a_damaged_property_is_named(void **state)
{
    static const char *const keys[] = {"mssql_cdc.schema_version", "mssql_cdc.min_version"};

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        Lake         *lake     = lake_open(*state);
        Schema        schema   = newest_schema(lake, KIND_FACTS);
        DeltaProperty property = {str_from_c(keys[i]), i ? STR("-1") : STR("x")};
        DeltaCreate   spec     = {.schema = schema, .properties = &property, .property_count = 1};
        DeltaTable   *table    = NULL;
        Err           err      = ERR_INIT;

        assert_ok(delta_table_create(&lake->delta, ref.path, &spec, &table, NULL, &lake->err),
                  &lake->err);
        delta_table_close(table);
        assert_false(open_kind(lake, KIND_FACTS, &ref, &err));
        assert_int_equal(err.code, ERR_STATE);
        assert_message(&err, keys[i]);
        lake_close(lake);
    }
}

static uint64_t count_steps(void **state, bool count_reads)
{
    Lake     *lake  = lake_open(*state);
    FaultPlan plan  = {.count_reads = count_reads};
    Store    *inner = lake->store;

    make_old(lake, KIND_FACTS, 0, NULL);
    lake->delta.store = store_fault_new(inner, &plan);
    assert_ok(open_kind(lake, KIND_FACTS, &ref, &lake->err), &lake->err);
    store_close(lake->delta.store);
    lake_close(lake);
    return plan.step_count;
}

/* Failed once, or dead, before or after any step: the table is as it was or as it shall be, and
 * the next run finishes. */
static void a_crash_at_any_step_leaves_old_or_new(void **state)
{
    for (int reads = 0; reads <= 1; reads++) {
        uint64_t steps = count_steps(state, reads);

        assert_true(steps > 0);
        for (uint64_t step = 1; step <= steps; step++)
            for (int after = 0; after <= 1; after++)
                for (int crash = 0; crash <= 1; crash++) {
                    Lake     *lake = lake_open(*state);
                    FaultPlan plan = {.fail_at_step = step,
                                      .after_effect = after,
                                      .crash        = crash,
                                      .count_reads  = reads};
                    Err       err  = ERR_INIT;

                    make_old(lake, KIND_FACTS, 0, NULL);
                    lake->delta.store = store_fault_new(lake->store, &plan);
                    (void)!open_kind(lake, KIND_FACTS, &ref, &err);
                    store_close(lake->delta.store);
                    lake->delta.store = lake->store;
                    if (table_version(lake) > 0) assert_up_to_date(lake, KIND_FACTS, "14");
                    assert_ok(open_kind(lake, KIND_FACTS, &ref, &lake->err), &lake->err);
                    assert_up_to_date(lake, KIND_FACTS, "14");
                    assert_int_equal(table_version(lake), 1);
                    lake_close(lake);
                }
    }
}

/* --- a second migrator --- */

typedef struct Rival {
    Lake       *lake;
    const char *stamp; /* it writes, in the moment before our commit */
    bool        has_run;
} Rival;

static void write_first(void *arg, uint64_t step, const char *operation, Str path)
{
    Rival        *rival    = arg;
    DeltaProperty property = {STR("mssql_cdc.schema_version"), str_from_c(rival->stamp)};
    DeltaCommit   commit   = {.operation          = STR("SET TBLPROPERTIES"),
                              .set_properties     = &property,
                              .set_property_count = 1};
    DeltaContext  own      = rival->lake->delta;
    DeltaTable   *table    = NULL;
    DeltaOutcome  outcome;
    Schema        columns;
    Err           err = ERR_INIT;

    (void)step, (void)operation, (void)path;
    if (rival->has_run) return;
    rival->has_run = true;
    own.store      = rival->lake->store;
    columns        = newest_schema(
               &(Lake){.arena = rival->lake->arena, .store = rival->lake->store, .delta = own},
               KIND_FACTS);
    commit.schema = &columns;
    assert_ok(delta_table_open(&own, ref.path, &table, &err), &err);
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &err), &err);
    delta_table_close(table);
}

/* Another run migrates at the same moment: whoever loses finds nothing left to do, and never sets a
 * stamp back that a newer release wrote. */
static void a_second_migrator_does_no_harm(void **state)
{
    static const struct {
        const char *stamp;
        const char *left;
        int64_t     version; /* of the Delta table, in the end */
        int         warnings;
    } cases[] = {{"14", "14", 1, 0}, {"4", "14", 2, 0}, {"15", "15", 1, 1}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Lake     *lake  = lake_open(*state);
        Rival     rival = {.lake = lake, .stamp = cases[i].stamp};
        FaultPlan plan  = {.only_path_containing = STR("_delta_log/00000000000000000001.json"),
                           .on_step              = write_first,
                           .on_step_arg          = &rival};

        make_old(lake, KIND_FACTS, 0, NULL);
        lake->delta.store = store_fault_new(lake->store, &plan);
        assert_ok(open_kind(lake, KIND_FACTS, &ref, &lake->err), &lake->err);
        store_close(lake->delta.store);
        lake->delta.store = lake->store;
        assert_true(rival.has_run);
        assert_int_equal(table_version(lake), cases[i].version);
        assert_int_equal(lake->lines.warning_count, cases[i].warnings);
        assert_up_to_date(lake, KIND_FACTS, cases[i].left);
        lake_close(lake);
    }
}

/* --- plans --- */

static void the_plans_stand_next_to_bronze(void **state) /* state.md 2 */
{
    static const char *const cases[][2] = {
        {"bronze.orders", "bronze.orders_snapshot_plans"},
        {"`a b`.`orders`", "`a b`.`orders_snapshot_plans`"},
        {"/lake/bronze/orders", "/lake/bronze/orders_snapshot_plans"},
        {"/lake/bronze/orders//", "/lake/bronze/orders_snapshot_plans"},
        {"s3://b/x?region=eu", "s3://b/x?region=eu_snapshot_plans"},
    };
    Lake *lake = lake_open(*state);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TableRef bronze = {str_from_c(cases[i][0]), STR("/lake/b/")};
        TableRef plans  = plans_ref_of_bronze(lake->arena, &bronze);
        assert_str_is(plans.label, cases[i][1]);
        assert_str_is(plans.path, "/lake/b_snapshot_plans");
    }
    lake_close(lake);
}

static void put_plan(Lake *lake, const char *event, const char *detail)
{
    DeltaTable   *table   = open_table(lake, PATH);
    const Schema *schema  = delta_table_get_schema(table);
    RowBuilder   *builder = row_builder_new(lake->arena, schema);
    DeltaOutcome  outcome;

    row_builder_begin(builder);
    row_builder_set_str(builder, 0, lsn_str(lake->arena, lsn_number(1)));
    row_builder_set_str(builder, 1, str_from_c(event));
    row_builder_set_str(builder, 2, str_from_c(detail));
    RowBlock    block  = row_builder_block(builder);
    DeltaAppend append = {.rows    = row_stream_of_block(lake->arena, schema, &block),
                          .purpose = STR("test")};
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &lake->err), &lake->err);
    row_stream_close(append.rows);
    delta_table_close(table);
}

/* state.md 10.2: a row that has its key values is whole, null bounds too; else the plans have them;
 * and what neither has is never read as an open bound. */
static void a_facts_row_is_completed_from_the_plans(void **state)
{
    static const struct {
        const char *event, *detail, *whole; /* whole NULL: refused */
    } cases[] = {
        {"snapshot_open", "{\"mode\": \"chunked\", \"keys\": []}",
         "{\"mode\": \"chunked\", \"keys\": []}"},
        {"snapshot_open", "{\"mode\": \"chunked\"}", "{\"keys\": [\"id\"], \"plan\": null}"},
        {"snapshot_plan", "{\"chunk_count\": 2}", "{\"chunks\": [[null, 3], [3, null]]}"},
        {"snapshot_chunk", "{\"wave\": 0, \"chunk\": 0, \"lo\": null, \"hi\": null}",
         "{\"wave\": 0, \"chunk\": 0, \"lo\": null, \"hi\": null}"},
        {"snapshot_chunk", "{\"wave\": 1, \"chunk\": 1}",
         "{\"wave\": 1, \"chunk\": 1, \"lo\": 3, \"hi\": null}"},
        {"snapshot_chunk", "{\"wave\": 0, \"chunk\": 1}",
         "{\"wave\": 0, \"chunk\": 1, \"lo\": 3, \"hi\": 5}"},
        {"snapshot_chunk", "{\"wave\": 7, \"chunk\": 1}", NULL},
    };
    Lake  *lake  = lake_open(*state);
    Plans *plans = NULL;

    assert_ok(plans_open_if_exists(&lake->delta, &ref, &plans, &lake->err), &lake->err);
    assert_null(plans);
    assert_ok(plans_open(&lake->delta, &ref, &plans, &lake->err), &lake->err);
    put_plan(lake, "snapshot_open", "{\"keys\": [\"id\"], \"plan\": null}");
    put_plan(lake, "snapshot_plan", "{\"chunks\": [[null, 3], [3, null]]}");
    put_plan(lake, "snapshot_chunk", "{\"wave\": 0, \"chunk\": 1, \"lo\": 3, \"hi\": 5}");
    put_plan(lake, "snapshot_chunk", "{\"wave\": 1, \"chunk\": 1, \"lo\": 3, \"hi\": null}");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FactsRow row = {.event = str_from_c(cases[i].event), .detail = str_from_c(cases[i].detail)};
        Str      whole;
        Err      err = ERR_INIT;
        bool     ok  = plans_complete_detail(plans, &ref, &row, lsn_number(1), lake->arena, &whole,
                                             &err);
        assert_int_equal(ok, cases[i].whole != NULL);
        if (ok) assert_str_is(whole, cases[i].whole);
        if (!ok) { /* T12.1: plans table, snapshot, event, chunk */
            assert_int_equal(err.code, ERR_STATE);
            assert_message(&err, "plans table old");
            assert_message(&err, "0x0000002A000000000001");
            assert_message(&err, "snapshot_chunk");
            assert_message(&err, "chunk 1 of wave 7");
        }
        ok = plans_complete_detail(NULL, &ref, &row, lsn_number(1), lake->arena, &whole, &err);
        assert_int_equal(ok, payload_has_key_values(row.event, row.detail));
    }
    plans_close(plans);
    assert_ok(plans_open_if_exists(&lake->delta, &ref, &plans, &lake->err), &lake->err);
    assert_non_null(plans);
    plans_close(plans);
    lake_close(lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_of_every_kind_is_brought_up_to_date),
        cmocka_unit_test(columns_that_are_there_are_left_alone),
        cmocka_unit_test(rows_before_and_after_stand_side_by_side),
        cmocka_unit_test(a_table_that_asks_for_more_is_refused_before_anything_is_written),
        cmocka_unit_test(a_table_of_a_newer_release_is_written_with_one_warning),
        cmocka_unit_test(somebody_elses_column_of_the_name_stops_it),
        cmocka_unit_test(a_damaged_property_is_named),
        cmocka_unit_test(a_crash_at_any_step_leaves_old_or_new),
        cmocka_unit_test(a_second_migrator_does_no_harm),
        cmocka_unit_test(the_plans_stand_next_to_bronze),
        cmocka_unit_test(a_facts_row_is_completed_from_the_plans),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
