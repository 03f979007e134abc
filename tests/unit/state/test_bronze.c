#include "support/test_support.h"

#include "unit/state/state_test.h"

static const TableRef ref = {{"bronze", 6}, {"lake/bronze", 11}};

static Schema captured_columns(Lake *lake, bool with_note)
{
    Column *columns = ARENA_ARRAY(lake->arena, Column, 2);

    columns[0] = (Column){.name = STR("id"), .type = COLUMN_TYPE(TYPE_INTEGER)};
    columns[1] = (Column){.name = STR("note"), .type = COLUMN_TYPE(TYPE_STRING)};
    return (Schema){.columns = columns, .column_count = with_note ? 2 : 1};
}

static Bronze *open_bronze(Lake *lake)
{
    Bronze *bronze = NULL;

    assert_ok(bronze_open(&lake->delta, &ref, &bronze, &lake->err), &lake->err);
    return bronze;
}

/* One row of a batch, or (operation 0) of a snapshot. */
static DeltaWriter *stage_row(Lake *lake, Bronze *bronze, unsigned n, int operation,
                              const char *instance, bool is_chunk, DeltaAdd *add)
{
    Schema       captured = captured_columns(lake, false);
    DeltaWriter *writer   = NULL;

    assert_ok(bronze_prepare(bronze, &captured, true, &lake->err), &lake->err);
    assert_ok(bronze_writer_open(bronze, STR("test"), &writer, &lake->err), &lake->err);
    const Schema *schema  = delta_table_get_schema(bronze_get_table(bronze));
    RowBuilder   *builder = row_builder_new(lake->arena, schema);
    row_builder_begin(builder);
    row_builder_set_str(builder, 0, str_from_c(instance));
    row_builder_set_str(builder, 1, lsn_str(lake->arena, lsn_number(n)));
    row_builder_set_i64(builder, 3, operation);
    row_builder_set_i64(builder, 6, 1);
    if (operation == 0) row_builder_set_str(builder, 8, lsn_str(lake->arena, lsn_number(n)));
    if (is_chunk) row_builder_set_i64(builder, 9, 0);
    RowBlock   block = row_builder_block(builder);
    RowStream *rows  = row_stream_of_block(lake->arena, schema, &block);
    assert_ok(delta_writer_write(writer, rows, lake->arena, add, &lake->err), &lake->err);
    return writer;
}

static DeltaOutcome append_batch(Lake *lake, Bronze *bronze, int64_t id, unsigned n)
{
    DeltaAdd     add;
    BatchCounts  counts = {.rows = 1, .inserts = 1, .min_lsn = OPT_LSN(lsn_number(n))};
    DeltaWriter *writer = stage_row(lake, bronze, n, 2, "dbo_t", false, &add);
    DeltaOutcome outcome;

    assert_ok(bronze_append_batch(bronze, writer, &add, 1, STR("shop"), id, &counts, &outcome,
                                  &lake->err),
              &lake->err);
    delta_writer_close(writer);
    return outcome;
}

static void append_snapshot(Lake *lake, Bronze *bronze, unsigned n, const char *instance,
                            const char *time, bool is_chunk)
{
    DeltaAdd     add;
    DeltaWriter *writer = stage_row(lake, bronze, n, 0, instance, is_chunk, &add);
    Offset       at     = offset_of(n, time);

    assert_ok(
        bronze_append_snapshot(bronze, writer, &add, 1, str_from_c(instance), &at, &lake->err),
        &lake->err);
    delta_writer_close(writer);
}

static void nothing_is_created_before_rows_are_written(void **state)
{
    Lake   *lake   = lake_open(*state);
    Bronze *bronze = open_bronze(lake);
    bool    exists;

    assert_null(bronze_get_table(bronze));
    assert_ok(delta_table_exists(&lake->delta, ref.path, &exists, NULL, &lake->err), &lake->err);
    assert_false(exists);
    bronze_close(bronze);
    lake_close(lake);
}

static void columns_stand_in_the_order_of_creation(void **state) /* state.md 6 */
{
    Lake   *lake     = lake_open(*state);
    Bronze *bronze   = open_bronze(lake);
    Schema  captured = captured_columns(lake, true);
    Buf     names    = buf_new(lake->arena, 0);
    Str     version;

    assert_ok(bronze_prepare(bronze, &captured, true, &lake->err), &lake->err);
    const Schema *schema = delta_table_get_schema(bronze_get_table(bronze));
    for (size_t i = 0; i < schema->column_count; i++)
        buf_printf(&names, "%.*s ", STR_ARG(schema->columns[i].name));
    assert_str_is(buf_str(&names), "_capture_instance _start_lsn _seqval _operation _command_id "
                                   "_commit_ts id note _batch_id _snapshot _chunk ");
    assert_true(delta_table_find_property(bronze_get_table(bronze), STR("mssql_cdc.schema_version"),
                                          &version));
    assert_str_is(version, "2");
    bronze_close(bronze);
    lake_close(lake);
}

static void the_same_batch_is_written_once(void **state) /* T0.3, T2.10 */
{
    Lake   *lake   = lake_open(*state);
    Bronze *bronze = open_bronze(lake);

    assert_int_equal(append_batch(lake, bronze, 5, 1), DELTA_WRITTEN);
    assert_int_equal(append_batch(lake, bronze, 5, 2), DELTA_SKIPPED);
    assert_int_equal(append_batch(lake, bronze, 4, 3), DELTA_SKIPPED);
    assert_int_equal(append_batch(lake, bronze, 6, 4), DELTA_WRITTEN);
    assert_str_is(rows_of(lake, "lake/bronze", "SELECT _start_lsn FROM {} ORDER BY 1"),
                  "0x0000002A000000000001\n0x0000002A000000000004\n");
    bronze_close(bronze);
    lake_close(lake);
}

static void a_batch_is_found_with_its_counts(void **state) /* 2.7 */
{
    Lake       *lake   = lake_open(*state);
    Bronze     *bronze = open_bronze(lake);
    BatchCounts counts;
    bool        is_in, has_counts;

    assert_ok(bronze_find_batch(bronze, STR("shop"), 5, &is_in, &has_counts, &counts, &lake->err),
              &lake->err);
    assert_false(is_in); /* no table yet */
    (void)append_batch(lake, bronze, 5, 7);
    append_snapshot(lake, bronze, 8, "dbo_t", NULL, false); /* other commits come after it */
    for (int i = 0; i < 3; i++)
        (void)append_batch(lake, bronze, 6 + i, 9);
    assert_ok(bronze_find_batch(bronze, STR("shop"), 5, &is_in, &has_counts, &counts, &lake->err),
              &lake->err);
    assert_true(is_in && has_counts);
    assert_int_equal(counts.rows, 1);
    assert_true(lsn_equal(counts.min_lsn.lsn, lsn_number(7)));
    assert_ok(bronze_find_batch(bronze, STR("shop"), 9, &is_in, &has_counts, &counts, &lake->err),
              &lake->err);
    assert_false(is_in);
    bronze_close(bronze);
    lake_close(lake);
}

static bool find_snapshot(Lake *lake, Bronze *bronze, OptLsn above, Offset *out)
{
    Str  names[] = {STR("DBO_T"), STR("dbo_t_v2")};
    bool found;

    assert_ok(bronze_find_snapshot(bronze, names, 2, above, &found, out, &lake->err), &lake->err);
    return found;
}

static void the_newest_whole_snapshot_is_found_whatever_the_case_of_its_name(void **state)
{
    Lake   *lake   = lake_open(*state);
    Bronze *bronze = open_bronze(lake);
    OptLsn  none   = {.is_set = false};
    Offset  at;

    assert_false(find_snapshot(lake, bronze, none, &at));
    (void)append_batch(lake, bronze, 0, 90); /* a change is no snapshot, however new */
    append_snapshot(lake, bronze, 10, "dbo_t", "2026-09-28T15:10:00", false);
    append_snapshot(lake, bronze, 80, "dbo_other", NULL, false);
    append_snapshot(lake, bronze, 70, "dbo_t", NULL, true); /* of a chunked one */
    assert_true(find_snapshot(lake, bronze, none, &at));
    assert_true(lsn_equal(at.lsn, lsn_number(10)));
    append_snapshot(lake, bronze, 20, "Dbo_T", NULL, false);
    assert_true(find_snapshot(lake, bronze, none, &at));
    assert_true(lsn_equal(at.lsn, lsn_number(20)));
    assert_false(at.commit_ts.is_set); /* its own time, not the older one's */
    assert_false(find_snapshot(lake, bronze, OPT_LSN(lsn_number(20)), &at));
    bronze_close(bronze);
    lake_close(lake);
}

static void chunks_above_an_lsn_are_seen(void **state)
{
    Lake   *lake   = lake_open(*state);
    Bronze *bronze = open_bronze(lake);
    bool    has;

    append_snapshot(lake, bronze, 10, "dbo_t", NULL, false);
    assert_ok(bronze_has_chunks(bronze, (OptLsn){.is_set = false}, &has, &lake->err), &lake->err);
    assert_false(has);
    append_snapshot(lake, bronze, 30, "dbo_t", NULL, true);
    assert_ok(bronze_has_chunks(bronze, (OptLsn){.is_set = false}, &has, &lake->err), &lake->err);
    assert_true(has);
    assert_ok(bronze_has_chunks(bronze, OPT_LSN(lsn_number(30)), &has, &lake->err), &lake->err);
    assert_false(has);
    bronze_close(bronze);
    lake_close(lake);
}

static void a_new_column_comes_with_the_rows_that_first_carry_it(void **state) /* 6.5 */
{
    Lake        *lake   = lake_open(*state);
    Bronze      *bronze = open_bronze(lake);
    Schema       wider  = captured_columns(lake, true);
    DeltaWriter *writer = NULL;
    DeltaAdd     add;
    DeltaOutcome outcome;
    BatchCounts  counts = {.rows = 1};

    (void)append_batch(lake, bronze, 0, 1);
    assert_ok(bronze_prepare(bronze, &wider, true, &lake->err), &lake->err);
    assert_int_equal(delta_table_get_schema(bronze_get_table(bronze))->column_count, 10);
    assert_ok(bronze_writer_open(bronze, STR("test"), &writer, &lake->err), &lake->err);
    RowBuilder *builder = row_builder_new(lake->arena, &wider);
    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, 2);
    row_builder_set_str(builder, 1, STR("new"));
    RowBlock block = row_builder_block(builder);
    assert_ok(delta_writer_write(writer, row_stream_of_block(lake->arena, &wider, &block),
                                 lake->arena, &add, &lake->err),
              &lake->err);
    assert_ok(
        bronze_append_batch(bronze, writer, &add, 1, STR("shop"), 1, &counts, &outcome, &lake->err),
        &lake->err);
    delta_writer_close(writer);
    assert_str_is(rows_of(lake, "lake/bronze", "SELECT id, note FROM {} ORDER BY id"),
                  "1|-\n2|new\n");
    bronze_close(bronze);
    lake_close(lake);
}

static void a_wider_type_is_refused_and_a_narrower_one_taken(void **state) /* T6.12 */
{
    Lake   *lake     = lake_open(*state);
    Bronze *bronze   = open_bronze(lake);
    Schema  captured = captured_columns(lake, false);
    Column  column   = {.name = STR("ID"), .type = COLUMN_TYPE(TYPE_LONG)};
    Schema  other    = {.columns = &column, .column_count = 1};

    assert_ok(bronze_prepare(bronze, &captured, true, &lake->err), &lake->err);
    assert_false(bronze_prepare(bronze, &other, true, &lake->err));
    assert_err(
        &lake->err, ERR_SCHEMA_CHANGED,
        "column id has type INT, which does not hold the new type BIGINT; nothing was written; "
        "to have it widened, the owner has to run: ALTER TABLE delta.`lake/bronze` SET "
        "TBLPROPERTIES ('delta.enableTypeWidening'='true')");
    column.type = COLUMN_TYPE(TYPE_SHORT);
    assert_ok(bronze_prepare(bronze, &other, true, &lake->err), &lake->err);
    bronze_close(bronze);
    lake_close(lake);
}

static void other_peoples_tables_and_files_are_left_alone(void **state)
{
    Lake       *lake   = lake_open(*state);
    Bronze     *bronze = NULL;
    Schema      schema = captured_columns(lake, true);
    DeltaCreate spec   = {.schema = schema};
    DeltaTable *table  = NULL;

    put_text(lake, "lake/bronze/readme.txt", "mine");
    assert_false(bronze_open(&lake->delta, &ref, &bronze, &lake->err));
    assert_err(&lake->err, ERR_STATE, "lake/bronze holds files that are no Delta table");
    assert_ok(store_remove(lake->store, STR("lake/bronze/readme.txt"), &lake->err), &lake->err);
    assert_ok(delta_table_create(&lake->delta, ref.path, &spec, &table, NULL, &lake->err),
              &lake->err);
    delta_table_close(table);
    bronze = open_bronze(lake);
    assert_false(bronze_prepare(bronze, &schema, true, &lake->err));
    assert_err(&lake->err, ERR_STATE, "no bronze table");
    bronze_close(bronze);
    lake_close(lake);
}

static void silver_has_captured_columns_then_its_two(void **state) /* state.md 12 */
{
    Lake       *lake   = lake_open(*state);
    Bronze     *bronze = open_bronze(lake);
    Schema      wider  = captured_columns(lake, true);
    TableRef    at     = {STR("silver"), STR("lake/silver")};
    DeltaTable *silver = NULL;

    (void)append_batch(lake, bronze, 0, 1);
    assert_ok(bronze_prepare(bronze, &wider, true, &lake->err), &lake->err);
    assert_ok(silver_open_or_create(&lake->delta, &at,
                                    delta_table_get_schema(bronze_get_table(bronze)), false,
                                    &silver, &lake->err),
              &lake->err);
    const Schema *schema = delta_table_get_schema(silver);
    assert_int_equal(schema->column_count, 3);
    assert_str_is(schema->columns[0].name, "id");
    assert_str_is(schema->columns[1].name, "_start_lsn");
    assert_str_is(schema->columns[2].name, "_commit_ts");
    assert_true(bronze_is_metadata_column(STR("_CHUNK")));
    assert_false(bronze_is_metadata_column(STR("chunk")));
    delta_table_close(silver);
    bronze_close(bronze);
    lake_close(lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_created_before_rows_are_written),
        cmocka_unit_test(columns_stand_in_the_order_of_creation),
        cmocka_unit_test(the_same_batch_is_written_once),
        cmocka_unit_test(a_batch_is_found_with_its_counts),
        cmocka_unit_test(the_newest_whole_snapshot_is_found_whatever_the_case_of_its_name),
        cmocka_unit_test(chunks_above_an_lsn_are_seen),
        cmocka_unit_test(a_new_column_comes_with_the_rows_that_first_carry_it),
        cmocka_unit_test(a_wider_type_is_refused_and_a_narrower_one_taken),
        cmocka_unit_test(other_peoples_tables_and_files_are_left_alone),
        cmocka_unit_test(silver_has_captured_columns_then_its_two),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
