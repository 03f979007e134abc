/* Silver that loses rows by deletion vector, and silver that does not (delta.md 2.8). */
#include "support/test_support.h"

#include "base/buf.h"
#include "support/apply_lake.h"

#define PUT(lake, ...) \
    put_rows((lake), (const BronzeRow[]){__VA_ARGS__}, COUNT_OF(((const BronzeRow[]){__VA_ARGS__})))

/* Keys 1 to 20, all in one file. */
static void put_twenty(ApplyLake *lake)
{
    BronzeRow rows[20];

    for (int i = 0; i < 20; i++)
        rows[i] = (BronzeRow){10, 0, 0, 0, i + 1, "s"};
    put_rows(lake, rows, COUNT_OF(rows));
    (void)apply_now(lake);
}

static DeltaTable *open_silver(ApplyLake *lake)
{
    DeltaTable *table = NULL;
    assert_ok(delta_table_open(&lake->lake->delta, STR(SILVER_PATH), &table, &lake->lake->err),
              &lake->lake->err);
    return table;
}

static int by_rows(const void *left, const void *right)
{
    const DeltaFile *const *a = left, *const *b = right;
    return (*a)->row_count < (*b)->row_count ? 1 : -1;
}

/* "20-1 1": per file its rows, less those its vector covers, the largest first. */
static Str files_text(ApplyLake *lake)
{
    DeltaTable      *table = open_silver(lake);
    const DeltaFile *files[16];
    size_t           count = 0;
    Buf              buf   = buf_new(lake->lake->arena, 0);

    for (size_t at = 0; delta_table_next_file(table, &at, &files[count]);)
        count++;
    qsort(files, count, sizeof files[0], by_rows);
    for (size_t i = 0; i < count; i++) {
        int64_t deleted = files[i]->row_count - delta_file_count_rows(files[i]);
        buf_printf(&buf, "%s%lld", i ? " " : "", (long long)files[i]->row_count);
        if (delta_file_has_vector(files[i])) buf_printf(&buf, "-%lld", (long long)deleted);
    }
    delta_table_close(table);
    return buf_str(&buf);
}

#define assert_files(lake, want) assert_str_is(files_text(lake), (want))

/* The last commit's metrics, without the time it took. */
static void assert_metrics(ApplyLake *lake, const char *want)
{
    DeltaHistoryEntry *entries;
    size_t             count;

    assert_ok(delta_table_history(&lake->lake->delta, STR(SILVER_PATH), 0, -1, lake->lake->arena,
                                  &entries, &count, &lake->lake->err),
              &lake->lake->err);
    assert_str_is(entries[0].operation, "MERGE");
    ptrdiff_t time = str_find(entries[0].metrics_json, STR(",\"executionTimeMs\""), 0);
    assert_true(time > 0);
    assert_str_is(str_slice(entries[0].metrics_json, 0, (size_t)time), want);
}

static void few_rows_go_by_vector_and_more_take_the_file_along(void **state)
{
    ApplyLake lake = apply_lake_open(*state);

    put_twenty(&lake);
    assert_files(&lake, "20");
    PUT(&lake, {11, 1, 1, 3, 5, "s"}, {11, 1, 1, 4, 5, "new"}, {12, 1, 1, 1, 7, "s"},
        {13, 1, 1, 2, 30, "more"});
    (void)apply_now(&lake);
    assert_files(&lake, "20-2 2");
    assert_metrics(&lake, "{\"numSourceRows\":\"3\",\"numTargetRowsInserted\":\"1\","
                          "\"numTargetRowsUpdated\":\"1\",\"numTargetRowsDeleted\":\"1\","
                          "\"numTargetRowsCopied\":\"0\",\"numOutputRows\":\"2\","
                          "\"numTargetFilesAdded\":\"1\",\"numTargetFilesRemoved\":\"0\","
                          "\"numTargetDeletionVectorsAdded\":\"1\","
                          "\"numTargetDeletionVectorsUpdated\":\"0\","
                          "\"numTargetDeletionVectorsRemoved\":\"0\"");
    PUT(&lake, {14, 1, 1, 1, 1, "s"}, {15, 1, 1, 1, 2, "s"}); /* 4 of 20: the most there may be */
    (void)apply_now(&lake);
    assert_files(&lake, "20-4 2");
    PUT(&lake, {16, 1, 1, 3, 20, "s"}, {16, 1, 1, 4, 20, "last"}, {16, 2, 2, 1, 30, "more"});
    (void)apply_now(&lake); /* the fifth; and half of the small file */
    assert_files(&lake, "16 1");
    assert_metrics(&lake, "{\"numSourceRows\":\"2\",\"numTargetRowsInserted\":\"0\","
                          "\"numTargetRowsUpdated\":\"1\",\"numTargetRowsDeleted\":\"1\","
                          "\"numTargetRowsCopied\":\"16\",\"numOutputRows\":\"17\","
                          "\"numTargetFilesAdded\":\"2\",\"numTargetFilesRemoved\":\"2\","
                          "\"numTargetDeletionVectorsAdded\":\"0\","
                          "\"numTargetDeletionVectorsUpdated\":\"0\","
                          "\"numTargetDeletionVectorsRemoved\":\"1\"");
    assert_silver(&lake, "3=s 4=s 5=new 6=s 8=s 9=s 10=s 11=s 12=s 13=s 14=s 15=s 16=s 17=s 18=s "
                         "19=s 20=last");
    apply_lake_close(&lake);
}

static void without_vectors_every_file_that_is_met_is_written_anew(void **state)
{
    ApplyLake lake = apply_lake_open(*state);

    lake.without_vectors = true;
    put_twenty(&lake);
    DeltaTable *table = open_silver(&lake);
    Str         value;
    assert_false(delta_table_takes_vectors(table));
    assert_false(delta_table_find_property(table, STR("delta.enableDeletionVectors"), &value));
    delta_table_close(table);
    PUT(&lake, {11, 1, 1, 3, 5, "s"}, {11, 1, 1, 4, 5, "new"});
    (void)apply_now(&lake);
    assert_files(&lake, "20");
    lake.without_vectors = false; /* a table that is there keeps to what it has */
    PUT(&lake, {12, 1, 1, 1, 7, "s"});
    (void)apply_now(&lake);
    assert_files(&lake, "19");
    apply_lake_close(&lake);
}

static void set_property(ApplyLake *lake, const char *value)
{
    DeltaTable   *table    = open_silver(lake);
    DeltaProperty property = {STR("delta.enableDeletionVectors"), str_from_c(value)};
    DeltaCommit   commit   = {.operation          = STR("SET TBLPROPERTIES"),
                              .set_properties     = &property,
                              .set_property_count = 1};
    DeltaOutcome  outcome;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &lake->lake->err),
              &lake->lake->err);
    delta_table_close(table);
}

/* The table's property decides, whoever set it; a vector that is there is honoured either way. */
static void the_owner_turns_vectors_on_and_off(void **state)
{
    ApplyLake lake = apply_lake_open(*state);

    lake.without_vectors = true;
    put_twenty(&lake);
    set_property(&lake, "true");
    PUT(&lake, {11, 1, 1, 1, 5, "s"});
    (void)apply_now(&lake);
    assert_files(&lake, "20-1");
    set_property(&lake, "false");
    PUT(&lake, {12, 1, 1, 1, 5, "s"}, {13, 1, 1, 2, 21, "n"}); /* 5 is covered: met no more */
    (void)apply_now(&lake);
    assert_files(&lake, "20-1 1");
    PUT(&lake, {14, 1, 1, 1, 6, "s"});
    (void)apply_now(&lake);
    assert_files(&lake, "18 1");
    assert_silver(&lake, "1=s 2=s 3=s 4=s 7=s 8=s 9=s 10=s 11=s 12=s 13=s 14=s 15=s 16=s 17=s 18=s "
                         "19=s 20=s 21=n");
    apply_lake_close(&lake);
}

/* The same rows again, a rebuild, a NULL key: as without vectors. */
static void rows_that_a_vector_covers_are_met_no_more(void **state)
{
    ApplyLake lake = apply_lake_open(*state);

    put_twenty(&lake);
    PUT(&lake, {11, 1, 1, 2, NULL_KEY, "n"}, {11, 2, 2, 1, 3, "s"});
    (void)apply_now(&lake);
    PUT(&lake, {12, 1, 1, 2, 3, "back"}); /* in a row of its own, the old one stays covered */
    (void)apply_now(&lake);
    assert_files(&lake, "20-1 1 1");
    PUT(&lake, {13, 1, 1, 3, 3, "back"}, {13, 1, 1, 4, 3, "third"});
    (void)apply_now(&lake);
    assert_files(&lake, "20-1 1 1");
    assert_silver(&lake, "1=s 2=s 3=third 4=s 5=s 6=s 7=s 8=s 9=s 10=s 11=s 12=s 13=s 14=s 15=s "
                         "16=s 17=s 18=s 19=s 20=s -=n");
    PUT(&lake, {13, 1, 2, 1, NULL_KEY, "n"});
    for (int key = 1; key <= 19; key++) /* a whole snapshot: key 20 and the NULL key are gone */
        PUT(&lake, {14, 0, 0, 0, key, key == 9 ? "nine" : "s"});
    (void)apply_now(&lake);
    assert_silver(&lake, "1=s 2=s 3=s 4=s 5=s 6=s 7=s 8=s 9=nine 10=s 11=s 12=s 13=s 14=s 15=s "
                         "16=s 17=s 18=s 19=s");
    apply_lake_close(&lake);
}

/* Two rows of one key, as a merge of another program may leave them: told, and the change replaces
 * both with one. */
static void several_rows_of_a_key_become_one(void **state)
{
    ApplyLake lake = apply_lake_open(*state);

    put_twenty(&lake);
    DeltaTable  *table   = open_silver(&lake);
    DeltaWriter *writer  = NULL;
    DuckSession *session = NULL;
    Err         *err     = &lake.lake->err;
    DeltaAdd     add;
    DeltaOutcome outcome;
    assert_ok(duck_session_open(lake.lake->delta.duck, &session, err), err);
    assert_ok(delta_writer_open(table, STR("test"), NULL, &writer, err), err);
    assert_ok(delta_writer_write_query(
                  writer, session,
                  STR("SELECT CAST(4 AS INTEGER) AS id, 'twice' AS v, '0x0000000A' AS _start_lsn"),
                  lake.lake->arena, &add, err),
              err);
    assert_ok(delta_writer_publish(writer, &add, 1, err), err);
    DeltaCommit commit = {.adds = &add, .add_count = 1};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, err), err);
    delta_writer_close(writer);
    duck_session_close(session);
    delta_table_close(table);

    int usual = lake.lake->lines.warning_count; /* of a call whose facts know no such table */
    PUT(&lake, {11, 1, 1, 3, 4, "s"}, {11, 1, 1, 4, 4, "once"});
    (void)apply_now(&lake);
    assert_int_equal(lake.lake->lines.warning_count, 2 * usual + 1);
    assert_non_null(strstr(lake.lake->lines.last, "several rows of one key"));
    assert_silver(&lake, "1=s 2=s 3=s 4=once 5=s 6=s 7=s 8=s 9=s 10=s 11=s 12=s 13=s 14=s 15=s "
                         "16=s 17=s 18=s 19=s 20=s");
    apply_lake_close(&lake);
}

/* Another writer of silver, who gets in right before the merge's commit. */
typedef struct Rival {
    ApplyLake *lake;
    FaultPlan  plan;
    Store     *inner;
    int        times;
    bool       touches;   /* takes a key that the merge inserts, so that its new rows are others */
    int        published; /* files of ours that came into silver */
} Rival;

static void append_to_silver(ApplyLake *lake, DeltaContext *context, int key)
{
    DeltaTable  *table   = NULL;
    DeltaWriter *writer  = NULL;
    DuckSession *session = NULL;
    Err          err     = ERR_INIT;
    DeltaAdd     add;
    DeltaOutcome outcome;
    Str          row = str_printf(lake->lake->arena,
                                  "SELECT CAST(%d AS INTEGER) AS id, 'rival' AS v, "
                                           "'0xFFFFFFFFFFFFFFFFFFFF' AS _start_lsn",
                                  key);

    assert_ok(delta_table_open(context, STR(SILVER_PATH), &table, &err), &err);
    assert_ok(duck_session_open(context->duck, &session, &err), &err);
    assert_ok(delta_writer_open(table, STR("rival"), NULL, &writer, &err), &err);
    assert_ok(delta_writer_write_query(writer, session, row, lake->lake->arena, &add, &err), &err);
    assert_ok(delta_writer_publish(writer, &add, 1, &err), &err);
    DeltaCommit commit = {.adds = &add, .add_count = 1};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &err), &err);
    delta_writer_close(writer);
    duck_session_close(session);
    delta_table_close(table);
}

static void rival_step(void *arg, uint64_t step, const char *operation, Str path)
{
    Rival *rival = arg;
    (void)step;

    if (str_find(path, STR(SILVER_PATH "/part-"), 0) >= 0) rival->published++;
    if (rival->times == 0 || strcmp(operation, "put_new") != 0 ||
        str_find(path, STR(SILVER_PATH "/_delta_log/"), 0) < 0)
        return;
    DeltaContext context = rival->lake->lake->delta;
    context.store        = rival->inner;
    append_to_silver(rival->lake, &context,
                     rival->touches ? 40 : 100 + rival->times); /* 40 is ours too */
    rival->times--;
}

static size_t count_in_silver(ApplyLake *lake)
{
    StoreList list;
    assert_ok(store_list_after(lake->lake->delta.store, STR(SILVER_PATH), STR_EMPTY,
                               lake->lake->arena, &list, &lake->lake->err),
              &lake->lake->err);
    return list.count;
}

/* delta.md 2.11: after a lost race the match runs again, and the file of new rows is taken again
 * while they are the same. Nothing that was written in vain is left. */
static void a_lost_race_writes_new_rows_once(void **state)
{
    for (int touches = 0; touches <= 1; touches++) {
        ApplyLake lake  = apply_lake_open(*state);
        Rival     rival = {.lake = &lake, .times = 2, .touches = touches};

        put_twenty(&lake);
        PUT(&lake, {11, 1, 1, 3, 5, "s"}, {11, 1, 1, 4, 5, "new"}, {12, 1, 1, 2, 40, "ours"},
            {12, 1, 2, 2, 41, "ours"});
        size_t before = count_in_silver(&lake);
        rival.inner   = lake.lake->delta.store;
        rival.plan    = (FaultPlan){
               .on_step = rival_step, .on_step_arg = &rival, .only_path_containing = STR_EMPTY};
        lake.lake->delta.store = store_fault_new(rival.inner, &rival.plan);
        if (touches) rival.times = 1;
        (void)apply_now(&lake);
        assert_int_equal(rival.times, 0);
        store_close(lake.lake->delta.store);
        lake.lake->delta.store = rival.inner;
        /* the rival's rows are newer than any change */
        if (touches) {
            assert_silver(&lake, "1=s 2=s 3=s 4=s 5=new 6=s 7=s 8=s 9=s 10=s 11=s 12=s 13=s 14=s "
                                 "15=s 16=s 17=s 18=s 19=s 20=s 40=rival 41=ours");
            assert_int_equal(rival.published, 3); /* written, removed, and written without 40 */
            assert_int_equal(count_in_silver(&lake),
                             before + 1 + 2); /* the rival's, rows, vectors */
        } else {
            assert_silver(&lake,
                          "1=s 2=s 3=s 4=s 5=new 6=s 7=s 8=s 9=s 10=s 11=s 12=s 13=s 14=s 15=s "
                          "16=s 17=s 18=s 19=s 20=s 40=ours 41=ours 101=rival 102=rival");
            assert_int_equal(rival.published, 1); /* in three attempts */
            assert_int_equal(count_in_silver(&lake), before + 2 + 2);
        }
        apply_lake_close(&lake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_go_by_vector_and_more_take_the_file_along),
        cmocka_unit_test(without_vectors_every_file_that_is_met_is_written_anew),
        cmocka_unit_test(the_owner_turns_vectors_on_and_off),
        cmocka_unit_test(rows_that_a_vector_covers_are_met_no_more),
        cmocka_unit_test(several_rows_of_a_key_become_one),
        cmocka_unit_test(a_lost_race_writes_new_rows_once),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
