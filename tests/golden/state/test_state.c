/* The files and texts that state.md fixes byte for byte, as one run writes them: a checkpoint after
 * two batches, userMetadata and details, the schemas of our tables, a facts and a control row. */
#include "support/test_support.h"

#include "support/golden.h"

#include "state/plans.h"
#include "state/report.h"
#include "unit/state/state_test.h"

static void line(Buf *out, const char *name, Str text)
{
    buf_printf(out, "%s\n%.*s\n\n", name, STR_ARG(text));
}

static void a_checkpoint_after_two_batches(void **state)
{
    Lake       *lake       = lake_open(NULL);
    Checkpoint *checkpoint = NULL;
    Buf         out        = buf_new(lake->arena, 0);
    Offset      start      = offset_of(1, NULL);
    Offset      ends[]     = {offset_of(1, NULL), offset_of(0x51, "2026-09-28T13:55:00")};

    (void)state;
    assert_ok(
        checkpoint_open(lake->store, lake->clock, lake->rng, STR("cp"), &checkpoint, &lake->err),
        &lake->err);
    assert_ok(checkpoint_begin(checkpoint, &start, &lake->err), &lake->err);
    line(&out, "_tidelake/start-<ms>", read_text(lake, "cp/_tidelake/start-1796008191067"));
    for (int64_t id = 0; id < 2; id++) {
        assert_ok(checkpoint_plan(checkpoint, id, &ends[id], &lake->err), &lake->err);
        assert_ok(checkpoint_commit(checkpoint, id, &lake->err), &lake->err);
    }
    checkpoint_close(checkpoint);
    line(&out, "metadata", read_text(lake, "cp/metadata"));
    line(&out, "offsets/0", read_text(lake, "cp/offsets/0"));
    line(&out, "commits/0", read_text(lake, "cp/commits/0"));
    line(&out, "offsets/1", read_text(lake, "cp/offsets/1"));
    line(&out, "commits/1", read_text(lake, "cp/commits/1"));
    assert_golden("state/checkpoint.txt", buf_str(&out));
    lake_close(lake);
}

static void texts_of_commits_and_details(void **state)
{
    Lake       *lake = lake_open(NULL);
    Buf         out  = buf_new(lake->arena, 0);
    Offset      at = offset_of(0x11, "2026-09-28T13:52:00"), unknown = offset_of(0x11, NULL);
    Str         some[] = {STR("computed columns are left out: \"a\\b\""), STR("\xf0\x9f\x8c\x8a")};
    BatchCounts counts = {.rows          = 4,
                          .deletes       = 1,
                          .inserts       = 1,
                          .updates       = 1,
                          .min_lsn       = OPT_LSN(lsn_number(0x11)),
                          .max_lsn       = OPT_LSN(lsn_number(0x31)),
                          .min_commit_ts = OPT_TIME(time_of("2026-09-28T13:53:00")),
                          .max_commit_ts = OPT_TIME(time_of("2026-09-28T13:54:00"))};

    (void)state;
    line(&out, "bronze userMetadata of a batch",
         payload_batch(lake->arena, &counts, 1, STR("shop")));
    line(&out, "of a whole snapshot", payload_snapshot(lake->arena, STR("dbo_t"), &at));
    line(&out, "without a commit time", payload_snapshot(lake->arena, STR("dbo_t"), &unknown));
    line(&out, "facts detail of a full open", payload_full_open(lake->arena, 0));
    line(&out, "of a batch with warnings", payload_warnings(lake->arena, some, 2));
    line(&out, "of a skip",
         payload_skip(lake->arena, lsn_number(0x11), lsn_number(0x31), STR_EMPTY));
    line(
        &out, "of one that is not certain",
        payload_skip(lake->arena, lsn_number(0x11), lsn_number(0x31), STR("cleanup \xe2\x80\xa6")));
    assert_golden("state/payloads.txt", buf_str(&out));
    lake_close(lake);
}

static void append_schema(Lake *lake, Buf *out, const char *path)
{
    DeltaTable *table = NULL;
    Str         version;

    assert_ok(delta_table_open(&lake->delta, str_from_c(path), &table, &lake->err), &lake->err);
    const Schema *schema = delta_table_get_schema(table);
    assert_true(delta_table_find_property(table, STR("mssql_cdc.schema_version"), &version));
    buf_printf(out, "%s, schema version %.*s: %.*s\n", path, STR_ARG(version),
               STR_ARG(delta_table_get_description(table)));
    for (size_t i = 0; i < schema->column_count; i++)
        buf_printf(out, "  %.*s %.*s -- %.*s\n", STR_ARG(schema->columns[i].name),
                   STR_ARG(column_type_delta_name(lake->arena, schema->columns[i].type)),
                   STR_ARG(schema->columns[i].comment));
    buf_append_char(out, '\n');
    delta_table_close(table);
}

static void the_schemas_of_our_tables(void **state)
{
    Lake       *lake     = lake_open(*state);
    Buf         out      = buf_new(lake->arena, 0);
    Column      column   = {.name = STR("id"), .type = DECIMAL_TYPE(10, 2)};
    Schema      captured = {.columns = &column, .column_count = 1};
    TableRef    refs[]   = {{STR("b"), STR("bronze")},  {STR("f"), STR("facts")},
                            {STR("c"), STR("control")}, {STR("s"), STR("silver")},
                            {STR("p"), STR("plans")},   {STR("r"), STR("report")}};
    Bronze     *bronze   = NULL;
    Facts      *facts    = NULL;
    Control    *control  = NULL;
    DeltaTable *silver = NULL, *report = NULL;
    Plans      *plans = NULL;

    assert_ok(bronze_open(&lake->delta, &refs[0], &bronze, &lake->err), &lake->err);
    assert_ok(bronze_prepare(bronze, &captured, true, &lake->err), &lake->err);
    assert_ok(facts_open(&lake->delta, &refs[1], &facts, &lake->err), &lake->err);
    assert_ok(control_open(&lake->delta, &refs[2], &control, &lake->err), &lake->err);
    assert_ok(silver_open_or_create(&lake->delta, &refs[3],
                                    delta_table_get_schema(bronze_get_table(bronze)), false,
                                    &silver, &lake->err),
              &lake->err);
    assert_ok(plans_open(&lake->delta, &refs[4], &plans, &lake->err), &lake->err);
    assert_ok(report_open(&lake->delta, &refs[5], &report, &lake->err), &lake->err);
    for (size_t i = 0; i < COUNT_OF(refs); i++)
        append_schema(lake, &out, str_c(lake->arena, refs[i].path));
    assert_golden("state/schemas.txt", buf_str(&out));
    delta_table_close(silver);
    delta_table_close(report);
    plans_close(plans);
    control_close(control);
    facts_close(facts);
    bronze_close(bronze);
    lake_close(lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoint_after_two_batches),
        cmocka_unit_test(texts_of_commits_and_details),
        cmocka_unit_test(the_schemas_of_our_tables),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
