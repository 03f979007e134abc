/* The bytes of the log: version 0, a batch's append, a merge, a new column, and the hint beside
 * a checkpoint. */
#include "support/golden.h"

#include "unit/delta/delta_test.h"

static DeltaAdd golden_add(const char *path)
{
    return (DeltaAdd){.path        = str_from_c(path),
                      .size_bytes  = 6260,
                      .modified_ms = 1767225590000,
                      .row_count   = 4,
                      .stats = STR("{\"numRecords\":4,\"minValues\":{\"id\":1},\"maxValues\":{"
                                   "\"id\":4},\"nullCount\":{\"id\":0}}")};
}

static void commit(World *world, DeltaTable *table, const DeltaCommit *commit)
{
    DeltaOutcome outcome;
    assert_ok(delta_table_commit(table, commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
}

static void the_log_is_written_byte_by_byte(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    assert_golden("delta/create.json", read_text(world, commit_path(world, "t", 0)));

    DeltaTxn txn    = {STR("orders-v1"), 1842};
    DeltaAdd adds[] = {
        golden_add("part-00000-0f8d72c2-95ec-4854-9abc-4dcb546f61dc.c000.zstd.parquet"),
        golden_add("part-00001-67594f96-cac8-4520-a6dd-6ba0018e0163.c000.zstd.parquet")};
    commit(world, table,
           &(DeltaCommit){
               .user_metadata   = STR("{\"rows\":4,\"batch_id\":1842,\"app_id\":\"orders-v1\"}"),
               .txn             = &txn,
               .adds            = adds,
               .add_count       = 2,
               .is_blind_append = true});
    assert_golden("delta/append.json", read_text(world, commit_path(world, "t", 1)));

    const DeltaFile *file;
    size_t           at           = 0;
    DeltaPair        parameters[] = {{STR("predicate"), STR("[\"(t.id = s.id)\"]")}};
    DeltaPair        metrics[]    = {{STR("numSourceRows"), STR("3")},
                                     {STR("numTargetRowsInserted"), STR("1")},
                                     {STR("executionTimeMs"), STR("17")}};
    assert_true(delta_table_next_file(table, &at, &file));
    DeltaAdd merged = golden_add(
        "part-00000-d6f1d349-952c-4996-bb29-38731e807240.c000.zstd.parquet");
    commit(world, table,
           &(DeltaCommit){.operation        = STR("MERGE"),
                          .parameters       = parameters,
                          .parameter_count  = 1,
                          .metrics          = metrics,
                          .metric_count     = 3,
                          .adds             = &merged,
                          .add_count        = 1,
                          .removes          = &file,
                          .remove_count     = 1,
                          .read_whole_table = true,
                          .user_metadata    = STR_EMPTY});
    assert_golden("delta/merge.json", read_text(world, commit_path(world, "t", 2)));

    Column        column   = {STR("Gr\xC3\xB6\xC3\x9F"
                                           "e"),
                              DECIMAL_TYPE(19, 4), STR("how \"large\"")};
    Schema        added    = {&column, 1};
    DeltaProperty property = {STR("mssql_cdc.schema_version"), STR("2")};
    commit(world, table,
           &(DeltaCommit){.operation          = STR("ADD COLUMNS"),
                          .schema             = &added,
                          .set_properties     = &property,
                          .set_property_count = 1,
                          .user_metadata      = STR_EMPTY});
    assert_golden("delta/add_columns.json", read_text(world, commit_path(world, "t", 3)));
    delta_table_close(table);
    world_close(world);
}

/* A table with a name that Delta refuses; a column more, a type made wider where that is allowed,
 * and in-commit timestamps switched on. */
static void a_mapped_table_is_written_byte_by_byte(void **state)
{
    World        *world     = world_new(state);
    DeltaTable   *table     = NULL;
    Column        columns[] = {{STR("Order Id"), COLUMN_TYPE(TYPE_INTEGER), STR("the key")},
                               {STR("at"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR_EMPTY},
                               {STR("more, later"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY}};
    DeltaProperty property  = {STR("mssql_cdc.schema_version"), STR("2")};
    DeltaCreate   spec      = {.schema         = {columns, 2},
                               .description    = STR("mapped"),
                               .properties     = &property,
                               .property_count = 1};
    assert_ok(delta_table_create(&world->context, STR("t"), &spec, &table, NULL, &world->err),
              &world->err);
    assert_golden("delta/mapped_create.json", read_text(world, commit_path(world, "t", 0)));

    DeltaProperty allow = {STR("delta.enableTypeWidening"), STR("true")};
    commit(world, table,
           &(DeltaCommit){.operation          = STR("SET TBLPROPERTIES"),
                          .set_properties     = &allow,
                          .set_property_count = 1,
                          .user_metadata      = STR_EMPTY});
    columns[0].type = COLUMN_TYPE(TYPE_LONG);
    Schema wider    = {columns, 3};
    commit(world, table,
           &(DeltaCommit){.operation     = STR("ADD COLUMNS"),
                          .schema        = &wider,
                          .may_widen     = true,
                          .user_metadata = STR_EMPTY});
    assert_golden("delta/mapped_change.json", read_text(world, commit_path(world, "t", 2)));

    DeltaProperty timed = {STR("delta.enableInCommitTimestamps"), STR("true")};
    commit(world, table,
           &(DeltaCommit){.operation          = STR("SET TBLPROPERTIES"),
                          .set_properties     = &timed,
                          .set_property_count = 1,
                          .user_metadata      = STR_EMPTY});
    assert_golden("delta/in_commit.json", read_text(world, commit_path(world, "t", 3)));
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_is_written_byte_by_byte),
        cmocka_unit_test(a_mapped_table_is_written_byte_by_byte),
    };
    return RUN_DELTA_TESTS(tests);
}
