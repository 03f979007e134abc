#include "support/test_support.h"

#include "support/apply_lake.h"

#define PUT(lake, ...) \
    put_rows((lake), (const BronzeRow[]){__VA_ARGS__}, COUNT_OF(((const BronzeRow[]){__VA_ARGS__})))

static void a_snapshot_then_changes_become_the_current_rows(void **state)
{
    ApplyLake   lake = apply_lake_open(*state);
    ApplyResult result;

    PUT(&lake, {10, 0, 0, 0, 1, "a"}, {10, 0, 0, 0, 2, "b"});
    result = apply_now(&lake);
    assert_true(result.rebuilt);
    assert_true(lsn_equal(result.applied_lsn.lsn, lsn_number(10)));
    assert_silver(&lake, "1=a 2=b");
    PUT(&lake, {11, 1, 1, 3, 1, "a"}, {11, 1, 1, 4, 1, "A"}, {12, 1, 2, 2, 3, "c"},
        {13, 1, 3, 1, 2, "b"});
    result = apply_now(&lake);
    assert_false(result.rebuilt);
    assert_true(lsn_equal(result.applied_lsn.lsn, lsn_number(13)));
    assert_int_equal(result.rows_written, 2);
    assert_int_equal(result.rows_deleted, 1);
    assert_silver(&lake, "1=A 3=c");
    apply_lake_close(&lake);
}

static void nothing_new_commits_nothing(void **state)
{
    ApplyLake lake = apply_lake_open(*state);

    PUT(&lake, {10, 0, 0, 0, 1, "a"}, {11, 1, 1, 2, 2, "b"});
    (void)apply_now(&lake);
    int64_t version = silver_version(&lake);
    (void)apply_now(&lake);
    assert_int_equal(silver_version(&lake), version);
    apply_lake_close(&lake);
}

static void a_missing_bronze_is_a_warning(void **state) /* 7.1 step 3 */
{
    ApplyLake   lake   = apply_lake_open(*state);
    ApplyResult result = apply_now(&lake);

    assert_false(result.bronze_found);
    assert_int_equal(lake.lake->lines.warning_count, 1);
    apply_lake_close(&lake);
}

static void a_key_update_moves_the_row(void **state) /* T7.9 */
{
    ApplyLake lake = apply_lake_open(*state);

    PUT(&lake, {10, 0, 0, 0, 6, "x"}, {10, 0, 0, 0, 7, "y"}, {10, 0, 0, 0, 8, "z"});
    (void)apply_now(&lake);
    PUT(&lake, {11, 1, 1, 3, 6, "x"}, {11, 1, 1, 4, 66, "x"});
    PUT(&lake, {12, 1, 1, 2, 9, "n"}, {12, 2, 2, 3, 9, "n"}, {12, 2, 2, 4, 9, "m"},
        {12, 3, 3, 1, 9, "m"});
    PUT(&lake, {13, 1, 1, 1, 7, "y"}, {13, 2, 2, 2, 7, "again"});
    (void)apply_now(&lake);
    assert_silver(&lake, "7=again 8=z 66=x");
    apply_lake_close(&lake);
}

static void a_null_key_is_one_row(void **state) /* T7.10 */
{
    ApplyLake lake = apply_lake_open(*state);

    PUT(&lake, {10, 0, 0, 0, 1, "a"});
    (void)apply_now(&lake);
    PUT(&lake, {11, 1, 1, 2, NULL_KEY, "n"});
    (void)apply_now(&lake);
    assert_silver(&lake, "1=a -=n");
    PUT(&lake, {12, 1, 1, 3, NULL_KEY, "n"}, {12, 1, 1, 4, NULL_KEY, "m"});
    (void)apply_now(&lake);
    assert_silver(&lake, "1=a -=m");
    PUT(&lake, {13, 1, 1, 1, NULL_KEY, "m"});
    (void)apply_now(&lake);
    assert_silver(&lake, "1=a");
    apply_lake_close(&lake);
}

/* A batch of the facts, of whatever table. */
static void put_facts_of(ApplyLake *lake, const char *target)
{
    Facts       *facts = NULL;
    TableRef     ref   = {STR("facts"), STR("lake/facts")};
    FactsRow     row   = {.app_id = STR("x"), .target = str_from_c(target), .rows = OPT_I64(0)};
    DeltaOutcome outcome;

    assert_ok(facts_open(&lake->lake->delta, &ref, &facts, &lake->lake->err), &lake->lake->err);
    assert_ok(facts_append_batch(facts, STR("x"), 0, &row, 1, &outcome, &lake->lake->err),
              &lake->lake->err);
    facts_close(facts);
}

/* The last warning holds both. */
static void assert_warned(const ApplyLake *lake, const char *what, const char *of)
{
    assert_non_null(strstr(lake->lake->lines.last, what));
    assert_non_null(strstr(lake->lake->lines.last, of));
}

static void without_command_ids_seqval_decides(void **state) /* T7.11 */
{
    ApplyLake lake = apply_lake_open(*state);

    lake.without_command_id = true;
    PUT(&lake, {10, 0, 0, 0, 1, "a"});
    PUT(&lake, {11, 0, 1, 3, 1, "a"}, {11, 0, 1, 4, 1, "b"}, {11, 0, 2, 3, 1, "b"},
        {11, 0, 2, 4, 1, "c"});
    put_facts_of(&lake, BRONZE_PATH); /* else they are warned of, too */
    (void)apply_now(&lake);
    assert_silver(&lake, "1=c");
    assert_int_equal(lake.lake->lines.warning_count, 1);
    assert_warned(&lake, "bronze has no _command_id", BRONZE_PATH);
    apply_lake_close(&lake);
}

static void set_position(ApplyLake *lake, OptLsn applied, OptLsn snapshot)
{
    Control *control = NULL;
    TableRef ref     = {STR("control"), STR("lake/control")};
    Lake    *in      = lake->lake;

    assert_ok(control_open(&in->delta, &ref, &control, &in->err), &in->err);
    assert_ok(control_set_position(control, STR(SILVER_PATH), applied, snapshot,
                                   (OptLsn){.is_set = false}, (OptI64){.is_set = false}, &in->err),
              &in->err);
    control_close(control);
}

static void a_position_set_back_changes_no_row(void **state) /* T7.12 */
{
    ApplyLake   lake = apply_lake_open(*state);
    ApplyResult result;

    PUT(&lake, {10, 0, 0, 0, 1, "a"}, {10, 0, 0, 0, 2, "b"});
    PUT(&lake, {11, 1, 1, 1, 2, "b"}, {12, 1, 2, 3, 1, "a"}, {12, 1, 2, 4, 1, "c"});
    PUT(&lake, {13, 1, 1, 2, 3, "d"}, {14, 1, 1, 1, 3, "d"});
    (void)apply_now(&lake);
    assert_silver(&lake, "1=c");
    int64_t version = silver_version(&lake);
    set_position(&lake, OPT_LSN(LSN_ZERO), OPT_LSN(lsn_number(10)));
    result = apply_now(&lake);
    assert_silver(&lake, "1=c");
    assert_int_equal(silver_version(&lake), version);
    assert_true(lsn_equal(result.applied_lsn.lsn, lsn_number(14)));
    assert_str_is(rows_of(lake.lake, "lake/control",
                          "SELECT right(applied_lsn, 4), right(snapshot_lsn, 4) FROM {} WHERE "
                          "table_name = '" SILVER_PATH "'"),
                  "000E|000A\n");
    apply_lake_close(&lake);
}

static void a_silver_table_that_is_gone_is_built_again(void **state)
{
    ApplyLake   lake = apply_lake_open(*state);
    Lake       *in   = lake.lake;
    ApplyResult result;
    StoreList   files;

    PUT(&lake, {10, 0, 0, 0, 1, "a"}, {10, 0, 0, 0, 2, "b"});
    PUT(&lake, {20, 1, 1, 2, 3, "c"});
    (void)apply_now(&lake);
    static const char *const folders[] = {SILVER_PATH, SILVER_PATH "/_delta_log"};
    for (size_t f = 0; f < COUNT_OF(folders); f++) {
        Str folder = str_from_c(folders[f]);
        assert_ok(store_list_after(in->delta.store, folder, STR_EMPTY, in->arena, &files, &in->err),
                  &in->err);
        for (size_t i = 0; i < files.count; i++)
            assert_ok(store_remove(in->delta.store,
                                   store_join(in->arena, folder, files.entries[i].name), &in->err),
                      &in->err);
    }
    PUT(&lake, {30, 1, 1, 1, 1, NULL});
    result = apply_now(&lake);
    assert_true(result.rebuilt);
    assert_int_equal(result.rows_written, 2);
    assert_silver(&lake, "2=b 3=c");
    apply_lake_close(&lake);
}

static void a_snapshot_at_the_applied_lsn_rebuilds_once(void **state) /* T7.3 */
{
    ApplyLake lake = apply_lake_open(*state);

    PUT(&lake, {1, 1, 1, 2, 1, "a"}, {2, 1, 1, 2, 2, "b"});
    assert_true(apply_now(&lake).rebuilt);
    PUT(&lake, {2, 0, 0, 0, 1, "a"}, {2, 0, 0, 0, 2, "b"}, {2, 0, 0, 0, 3, "old"});
    assert_true(apply_now(&lake).rebuilt);
    assert_silver(&lake, "1=a 2=b 3=old");
    int64_t version = silver_version(&lake);
    assert_false(apply_now(&lake).rebuilt);
    assert_int_equal(silver_version(&lake), version);
    apply_lake_close(&lake);
}

static void an_older_whole_snapshot_is_ignored(void **state) /* T7.3 */
{
    ApplyLake lake = apply_lake_open(*state);

    PUT(&lake, {50, 0, 0, 0, 1, "a"}, {51, 1, 1, 2, 2, "b"});
    (void)apply_now(&lake);
    PUT(&lake, {30, 0, 0, 0, 9, "ghost"});
    assert_false(apply_now(&lake).rebuilt);
    assert_silver(&lake, "1=a 2=b");
    apply_lake_close(&lake);
}

static void a_rebuild_removes_what_is_nowhere_and_keeps_what_is_newer(void **state) /* 7.4 */
{
    ApplyLake lake = apply_lake_open(*state);

    PUT(&lake, {10, 0, 0, 0, 1, "a"}, {10, 0, 0, 0, 2, "b"}, {10, 0, 0, 0, 3, "c"});
    PUT(&lake, {11, 1, 1, 3, 1, "a"}, {11, 1, 1, 4, 1, "A"});
    (void)apply_now(&lake);
    PUT(&lake, {20, 0, 0, 0, 1, "A"}, {20, 0, 0, 0, 4, "d"}, {21, 1, 1, 1, 4, "d"},
        {22, 1, 1, 2, 5, "e"});
    assert_true(apply_now(&lake).rebuilt);
    assert_silver(&lake, "1=A 5=e");
    apply_lake_close(&lake);
}

static void the_event_of_an_emptied_table_empties_silver_once(void **state) /* T7.4 */
{
    ApplyLake    lake  = apply_lake_open(*state);
    Facts       *facts = NULL;
    TableRef     ref   = {STR("facts"), STR("lake/facts")};
    FactsRow     row   = {.app_id  = STR("shop.g1"),
                          .event   = STR(EVENT_RESNAPSHOT),
                          .rows    = OPT_I64(0),
                          .max_lsn = OPT_LSN(lsn_number(30)),
                          .target  = STR(BRONZE_PATH)};
    DeltaOutcome outcome;

    PUT(&lake, {10, 0, 0, 0, 1, "a"}, {11, 1, 1, 2, 2, "b"});
    (void)apply_now(&lake);
    assert_ok(facts_open(&lake.lake->delta, &ref, &facts, &lake.lake->err), &lake.lake->err);
    assert_ok(facts_append_event(facts, STR("shop"), 1, &row, &outcome, &lake.lake->err),
              &lake.lake->err);
    facts_close(facts);
    assert_true(apply_now(&lake).rebuilt);
    assert_silver(&lake, "");
    int64_t version = silver_version(&lake);
    (void)apply_now(&lake);
    assert_int_equal(silver_version(&lake), version);
    apply_lake_close(&lake);
}

static void key_updates_in_three_shapes(void **state) /* case A1 */
{
    const BronzeRow rows[] = {
        {20, 1, 1, 1, 5, "ash"}, {20, 1, 1, 2, 6, "ash"}, {30, 1, 1, 3, 6, "ash"},
        {30, 1, 1, 4, 7, "ash"}, {40, 1, 1, 1, 1, "oak"}, {40, 2, 2, 1, 2, "elm"},
        {40, 3, 1, 2, 2, "oak"}, {40, 4, 2, 2, 1, "elm"},
    };

    for (int one_by_one = 0; one_by_one <= 1; one_by_one++) {
        ApplyLake lake = apply_lake_open(*state);
        PUT(&lake, {10, 0, 0, 0, 1, "oak"}, {10, 0, 0, 0, 2, "elm"}, {10, 0, 0, 0, 5, "ash"});
        if (one_by_one) (void)apply_now(&lake);
        for (size_t i = COUNT_OF(rows); i-- > 0;) /* not in their order */
            put_rows(&lake, &rows[i], 1);
        (void)apply_now(&lake);
        (void)apply_now(&lake);
        assert_silver(&lake, "1=elm 2=oak 7=ash");
        apply_lake_close(&lake);
    }
}

static void one_commit_with_many_updates(void **state) /* case A2 */
{
    ApplyLake lake = apply_lake_open(*state);

    PUT(&lake, {10, 0, 0, 0, 1, "5"}, {10, 0, 0, 0, 2, "7"});
    (void)apply_now(&lake);
    PUT(&lake, {20, 1, 1, 3, 1, "5"}, {20, 1, 1, 4, 1, "10"}, {20, 2, 2, 3, 1, "10"},
        {20, 2, 2, 4, 1, "20"}, {20, 3, 3, 3, 1, "20"}, {20, 3, 3, 4, 1, "15"},
        {20, 4, 4, 1, 2, "7"});
    (void)apply_now(&lake);
    assert_silver(&lake, "1=15");
    apply_lake_close(&lake);
}

static void inserts_and_deletes_of_one_commit(void **state) /* case A3 */
{
    ApplyLake lake = apply_lake_open(*state);

    PUT(&lake, {10, 0, 0, 0, 11, "1.00"});
    (void)apply_now(&lake);
    PUT(&lake, {20, 1, 1, 2, 10, "2.00"}, {20, 2, 2, 1, 10, "2.00"}, {30, 1, 1, 1, 11, "1.00"},
        {30, 2, 2, 2, 11, "3.50"}, {40, 1, 1, 2, 12, "9.00"}, {50, 1, 1, 1, 12, "9.00"},
        {60, 1, 1, 1, 13, "4.00"});
    (void)apply_now(&lake);
    assert_silver(&lake, "11=3.50");
    set_position(&lake, OPT_LSN(lsn_number(10)), OPT_LSN(lsn_number(10)));
    (void)apply_now(&lake); /* L20 to L60 again after L60 */
    assert_silver(&lake, "11=3.50");
    apply_lake_close(&lake);
}

static void rows_of_another_instance_stop_the_call(void **state) /* 7.2 */
{
    ApplyLake    lake = apply_lake_open(*state);
    ApplyResult  result;
    Lake        *in     = lake.lake;
    DeltaWriter *writer = NULL;
    DeltaAdd     add;
    Offset       at = offset_of(30, NULL);

    PUT(&lake, {10, 0, 0, 0, 1, "a"});
    (void)apply_now(&lake);
    assert_ok(bronze_writer_open(lake.bronze, STR("test"), &writer, &in->err), &in->err);
    const Schema *schema  = delta_table_get_schema(bronze_get_table(lake.bronze));
    RowBuilder   *builder = row_builder_new(in->arena, schema);
    set_row(&lake, builder, schema, &(BronzeRow){30, 1, 1, 2, 1, "other"});
    row_builder_set_str(builder, 0, STR("dbo_t_v2"));
    RowBlock block = row_builder_block(builder);
    assert_ok(delta_writer_write(writer, row_stream_of_block(in->arena, schema, &block), in->arena,
                                 &add, &in->err),
              &in->err);
    assert_ok(bronze_append_snapshot(lake.bronze, writer, &add, 1, STR("dbo_t_v2"), &at, &in->err),
              &in->err);
    delta_writer_close(writer);
    assert_false(try_apply(&lake, true, &result));
    assert_err(&in->err, ERR_STATE, BRONZE_PATH); /* T12.1, 12.5 */
    assert_err(&in->err, ERR_STATE, "rows of capture instance dbo_t_v2");
    assert_err(&in->err, ERR_STATE, "for dbo_t,");
    assert_err(&in->err, ERR_STATE, "name the stream");
    assert_silver(&lake, "1=a");
    apply_lake_close(&lake);
}

static void put_chunk_row(ApplyLake *lake, unsigned lsn)
{
    Lake         *in     = lake->lake;
    DeltaWriter  *writer = NULL;
    DeltaAdd      add;
    Offset        at     = offset_of(lsn, NULL);
    const Schema *schema = delta_table_get_schema(bronze_get_table(lake->bronze));
    RowBuilder   *builder;

    assert_ok(bronze_writer_open(lake->bronze, STR("test"), &writer, &in->err), &in->err);
    builder = row_builder_new(in->arena, schema);
    set_row(lake, builder, schema, &(BronzeRow){lsn, 0, 0, 0, 1, "chunk"});
    row_builder_set_i64(builder, (size_t)schema_find(schema, STR("_chunk")), 0);
    RowBlock block = row_builder_block(builder);
    assert_ok(delta_writer_write(writer, row_stream_of_block(in->arena, schema, &block), in->arena,
                                 &add, &in->err),
              &in->err);
    assert_ok(bronze_append_snapshot(lake->bronze, writer, &add, 1, STR("dbo_t"), &at, &in->err),
              &in->err);
    delta_writer_close(writer);
}

static void chunks_that_no_open_announces_stop_the_call(void **state) /* 7.2, T7.6 */
{
    ApplyLake   lake = apply_lake_open(*state);
    ApplyResult result;

    PUT(&lake, {10, 0, 0, 0, 1, "a"});
    put_facts_of(&lake, "bronze.other");
    (void)apply_now(&lake); /* bronze under another name than in the facts: as yet a warning */
    assert_silver(&lake, "1=a");
    assert_int_equal(lake.lake->lines.warning_count, 1);
    assert_warned(&lake, "the facts have no row for this bronze name", "bronze.other");
    put_chunk_row(&lake, 40);
    assert_false(try_apply(&lake, false, &result));
    assert_err(&lake.lake->err, ERR_STATE, "pass the facts table"); /* T12.1, 12.5 */
    assert_err(&lake.lake->err, ERR_STATE, BRONZE_PATH);
    assert_false(try_apply(&lake, true, &result));
    assert_err(&lake.lake->err, ERR_STATE, BRONZE_PATH); /* the name, the facts, who is in them */
    assert_err(&lake.lake->err, ERR_STATE, "the facts facts");
    assert_err(&lake.lake->err, ERR_STATE, "bronze.other");
    apply_lake_close(&lake);
}

static void without_facts_the_verdict_waits(void **state) /* 7.7 */
{
    ApplyLake   lake = apply_lake_open(*state);
    ApplyResult result;
    Control    *control = NULL;
    TableRef    ref     = {STR("control"), STR("lake/control")};
    Offset      end     = offset_of(20, "2026-09-28T15:10:00");
    Lake       *in      = lake.lake;

    assert_ok(control_open(&in->delta, &ref, &control, &in->err), &in->err);
    assert_ok(control_advance(control, STR(BRONZE_PATH), &end, GRANULARITY_HOUR, NULL, &in->err),
              &in->err);
    control_close(control);
    PUT(&lake, {10, 0, 0, 0, 1, "a"});
    assert_ok(try_apply(&lake, false, &result), &in->err);
    assert_false(result.finalized_until.is_set);
    assert_int_equal(in->lines.warning_count, 1);
    assert_warned(&lake, "without facts silver's verdict is not advanced", SILVER_PATH);
    result = apply_now(&lake);
    assert_int_equal(result.finalized_until.utc_us, time_of("2026-09-28T15:00:00"));
    apply_lake_close(&lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_then_changes_become_the_current_rows),
        cmocka_unit_test(nothing_new_commits_nothing),
        cmocka_unit_test(a_missing_bronze_is_a_warning),
        cmocka_unit_test(a_key_update_moves_the_row),
        cmocka_unit_test(a_null_key_is_one_row),
        cmocka_unit_test(without_command_ids_seqval_decides),
        cmocka_unit_test(a_position_set_back_changes_no_row),
        cmocka_unit_test(a_silver_table_that_is_gone_is_built_again),
        cmocka_unit_test(a_snapshot_at_the_applied_lsn_rebuilds_once),
        cmocka_unit_test(an_older_whole_snapshot_is_ignored),
        cmocka_unit_test(a_rebuild_removes_what_is_nowhere_and_keeps_what_is_newer),
        cmocka_unit_test(the_event_of_an_emptied_table_empties_silver_once),
        cmocka_unit_test(key_updates_in_three_shapes),
        cmocka_unit_test(one_commit_with_many_updates),
        cmocka_unit_test(inserts_and_deletes_of_one_commit),
        cmocka_unit_test(rows_of_another_instance_stop_the_call),
        cmocka_unit_test(chunks_that_no_open_announces_stop_the_call),
        cmocka_unit_test(without_facts_the_verdict_waits),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
