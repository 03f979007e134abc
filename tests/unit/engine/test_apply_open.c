/* Silver while a chunked snapshot is open, from rows put down by hand (algorithms.md 7.2 to 7.7): a re-snapshot behind
 * changes that were lost, so that silver holds keys which the table no longer has. */
#include "support/test_support.h"

#include "support/open_lake.h"

#include "delta/maintain.h"

static ApplyResult apply_open(OpenLake *open)
{
    return apply_now(&open->lake);
}

#define assert_open_silver(open, want) assert_silver(&(open)->lake, (want))

static Str control_text(OpenLake *open)
{
    return rows_of(open->lake.lake, "lake/control",
                   "SELECT right(applied_lsn, 4), right(snapshot_lsn, 4), right(open_snapshot_lsn, "
                   "4), snapshot_wave FROM {} WHERE table_name = '" SILVER_PATH "'");
}

static void a_bootstrap_wave_by_wave(void **state) /* T7.7 */
{
    OpenLake open = open_lake_open(*state, 100);

    put_open(&open);
    PUT(&open.lake, {101, 1, 1, 1, 2, "2"}, {102, 1, 1, 2, 10, "10"}, {111, 1, 1, 1, 5, "5"});
    (void)apply_open(&open);
    assert_open_silver(&open, "10=10");
    assert_str_is(control_text(&open), "006F|-|0064|-\n");
    PUT_CHUNK(&open, 0, {110, 0, 0, 0, 1, "1"}, {110, 0, 0, 0, 3, "3"});
    PUT_CHUNK(&open, 1, {110, 0, 0, 0, 4, "4"}, {110, 0, 0, 0, 5, "5"}, {110, 0, 0, 0, 6, "6"});
    put_chunk(&open, 0, 0, 110, "null", "4");
    put_chunk(&open, 0, 1, 110, "4", "7");
    PUT(&open.lake, {112, 1, 1, 3, 4, "4"}, {112, 1, 1, 4, 4, "4'"});
    assert_int_equal(apply_open(&open).waves_applied, 1);
    assert_open_silver(&open, "1=1 3=3 4=4' 6=6 10=10"); /* 5 is not brought back */
    assert_str_is(control_text(&open), "0070|-|0064|0\n");
    PUT_CHUNK(&open, 2, {120, 0, 0, 0, 7, "7"}, {120, 0, 0, 0, 8, "8"}, {120, 0, 0, 0, 10, "10"});
    put_chunk(&open, 1, 2, 120, "7", "null");
    PUT(&open.lake, {121, 1, 1, 1, 1, "1"}, {122, 1, 1, 3, 6, "6"}, {122, 1, 1, 4, 66, "6"});
    assert_int_equal(apply_open(&open).waves_applied, 1);
    assert_open_silver(&open, "3=3 4=4' 7=7 8=8 10=10 66=6");
    assert_str_is(control_text(&open), "007A|-|0064|1\n");
    put_completion(&open);
    assert_true(apply_open(&open).rebuilt);
    assert_open_silver(&open, "3=3 4=4' 7=7 8=8 10=10 66=6");
    assert_str_is(control_text(&open), "007A|0064|-|-\n");
    int64_t version = silver_version(&open.lake);
    (void)apply_open(&open);
    assert_int_equal(silver_version(&open.lake), version);
    open_lake_close(&open);
}

static void put_first_images(OpenLake *open)
{
    PUT(&open->lake, {10, 1, 1, 2, 1, "a"}, {10, 2, 2, 2, 2, "a"}, {10, 3, 3, 2, 3, "a"},
        {10, 4, 4, 2, 4, "a"}, {10, 5, 5, 2, 5, "a"}, {10, 6, 6, 2, 6, "a"},
        {10, 7, 7, 2, NULL_KEY, "a"});
    (void)apply_open(open);
}

static void each_wave_takes_what_its_ranges_lack(void **state) /* T7.14, T7.18 */
{
    for (int is_old = 0; is_old <= 1; is_old++) {
        OpenLake open = open_lake_open(*state, 100);
        bool     has_plans;

        open.is_old = is_old;
        put_first_images(&open);
        put_open(&open);
        PUT_CHUNK(&open, 0, {110, 0, 0, 0, 1, "a"});
        PUT_CHUNK(&open, 1, {110, 0, 0, 0, 3, "a"});
        put_chunk(&open, 0, 0, 110, "null", "3");
        put_chunk(&open, 0, 1, 110, "3", "5");
        PUT(&open.lake, {112, 1, 1, 1, 4, "a"}, {113, 1, 1, 2, 4, "new"});
        assert_int_equal(apply_open(&open).rows_deleted, 1);
        assert_open_silver(&open, "1=a 3=a 4=new 5=a 6=a -=a");
        PUT_CHUNK(&open, 2, {120, 0, 0, 0, 5, "a"});
        put_chunk(&open, 1, 2, 120, "5", "null");
        assert_int_equal(apply_open(&open).rows_deleted, 1);
        assert_open_silver(&open, "1=a 3=a 4=new 5=a -=a");
        put_completion(&open);
        (void)apply_open(&open);
        assert_open_silver(&open, "1=a 3=a 4=new 5=a");
        assert_ok(delta_table_exists(&open.lake.lake->delta, STR(PLANS_PATH), &has_plans, NULL,
                                     &open.lake.lake->err),
                  &open.lake.lake->err);
        assert_int_equal(has_plans, !is_old); /* apply makes none */
        open_lake_close(&open);
    }
}

/* All of bronze in one file, so that statistics tell its snapshots not apart. */
static void compact_bronze(OpenLake *open)
{
    Lake          *lake    = open->lake.lake;
    DeltaTable    *table   = NULL;
    DeltaOptimize  options = {.purpose = STR("compact")};
    DeltaOptimized done;

    assert_ok(delta_table_open(&lake->delta, STR(BRONZE_PATH), &table, &lake->err), &lake->err);
    assert_ok(delta_table_optimize(table, &options, &done, &lake->err), &lake->err);
    assert_int_equal(delta_table_get_file_count(table), 1);
    delta_table_close(table);
}

/* A loss in the middle of a snapshot: the one opened then is the one, from its first wave on. */
static void a_newer_open_takes_the_place_of_an_older_one(void **state) /* T7.8 */
{
    OpenLake open = open_lake_open(*state, 100);

    put_open(&open);
    PUT_CHUNK(&open, 0, {110, 0, 0, 0, 1, "old"}, {110, 0, 0, 0, 2, "old"});
    put_chunk(&open, 0, 0, 110, "null", "4");
    (void)apply_open(&open);
    assert_open_silver(&open, "1=old 2=old");
    PUT_CHUNK(&open, 1, {120, 0, 0, 0, 5, "old"});
    put_chunk(&open, 1, 1, 120, "4", "7");

    open.snapshot = 150;
    put_open(&open);
    assert_int_equal(apply_open(&open).waves_applied, 0); /* 5 waits for nothing any more */
    assert_open_silver(&open, "1=old 2=old");
    assert_str_is(control_text(&open), "-|-|0096|-\n");
    PUT_CHUNK(&open, 0, {160, 0, 0, 0, 1, "new"}, {160, 0, 0, 0, 3, "new"});
    put_chunk(&open, 0, 0, 160, "null", "null");
    compact_bronze(&open);
    assert_int_equal(apply_open(&open).waves_applied, 1);
    assert_open_silver(&open, "1=new 3=new");
    assert_str_is(control_text(&open), "-|-|0096|0\n");
    put_completion(&open);
    assert_true(apply_open(&open).rebuilt);
    assert_open_silver(&open, "1=new 3=new");

    open.snapshot = 100; /* by a call that knew nothing of it */
    PUT_CHUNK(&open, 2, {170, 0, 0, 0, 9, "old"});
    put_chunk(&open, 2, 2, 170, "7", "null");
    int64_t version = silver_version(&open.lake);
    assert_int_equal(apply_open(&open).waves_applied, 0);
    assert_int_equal(silver_version(&open.lake), version);
    assert_str_is(control_text(&open), "0096|0096|-|-\n");
    open_lake_close(&open);
}

static int64_t us_of(const char *fraction)
{
    Str     text = str_from_c(fraction);
    int64_t us, whole = time_of("2026-01-03T00:00:03");

    assert_true(str_parse_i64(text, &us));
    return whole + us;
}

static void a_bound_within_a_microsecond_takes_neither_side(void **state) /* T7.15 */
{
    OpenLake open  = open_lake_open(*state, 100);
    int64_t  below = us_of("123455"), own = us_of("123456"), above = us_of("123457");

    open.lake.key_type = COLUMN_TYPE(TYPE_TIMESTAMP_NTZ);
    PUT(&open.lake, {10, 1, 1, 2, below, "a"}, {10, 2, 2, 2, own, "b"}, {10, 3, 3, 2, above, "c"},
        {10, 4, 4, 2, us_of("500000"), "d"});
    (void)apply_open(&open);
    put_open(&open);
    put_chunk(&open, 0, 0, 110, "null", "\"2026-01-03T00:00:03.1234567\"");
    assert_int_equal(apply_open(&open).rows_deleted, 1);
    assert_open_silver(
        &open, "2026-01-03 00:00:03.123456=b 2026-01-03 00:00:03.123457=c 2026-01-03 00:00:03.5=d");
    PUT_CHUNK(&open, 1, {120, 0, 0, 0, us_of("500000"), "d"});
    put_chunk(&open, 1, 1, 120, "\"2026-01-03T00:00:03.1234567\"", "null");
    assert_int_equal(apply_open(&open).rows_deleted, 1);
    assert_open_silver(&open, "2026-01-03 00:00:03.123456=b 2026-01-03 00:00:03.5=d");
    put_completion(&open);
    (void)apply_open(&open);
    assert_open_silver(&open, "2026-01-03 00:00:03.5=d");
    open_lake_close(&open);
}

static void dates_are_ranges_of_days(void **state) /* T7.16 */
{
    OpenLake open = open_lake_open(*state, 100);
    int64_t  d1   = civil_days_from_date(2026, 1, 1);

    open.lake.key_type = COLUMN_TYPE(TYPE_DATE);
    PUT(&open.lake, {10, 1, 1, 2, d1, "1"}, {10, 2, 2, 2, d1 + 1, "2"}, {115, 1, 1, 2, d1 + 2, "3"},
        {10, 4, 4, 2, d1 + 3, "4"}, {10, 5, 5, 2, d1 + 4, "5"}, {10, 6, 6, 2, d1 + 5, "6"},
        {10, 7, 7, 2, NULL_KEY, "0"});
    (void)apply_open(&open);
    put_open(&open);
    PUT_CHUNK(&open, 1, {120, 0, 0, 0, d1 + 4, "5'"});
    put_chunk(&open, 0, 0, 110, "\"2026-01-02\"", "\"2026-01-04T00:00:00.0000000\"");
    put_chunk(&open, 0, 1, 120, "\"2026-01-04\"", "\"2026-01-06\"");
    ApplyResult result = apply_open(&open);
    assert_int_equal(result.rows_deleted, 2); /* d2 and d4 */
    assert_int_equal(result.rows_written, 1);
    assert_open_silver(&open, "2026-01-01=1 2026-01-03=3 2026-01-05=5' 2026-01-06=6 -=0");
    open_lake_close(&open);
}

/* The stamp, not the bound, is what a later change is compared with. */
static void a_change_at_the_stamp_or_behind_it_outranks_the_range(void **state)
{
    OpenLake open = open_lake_open(*state, 100);

    PUT(&open.lake, {10, 1, 1, 2, 1, "a"}, {10, 2, 2, 2, 2, "a"}, {10, 3, 3, 2, 3, "a"});
    (void)apply_open(&open);
    put_open(&open);
    put_chunk(&open, 0, 0, 110, "null", "null");
    PUT(&open.lake, {109, 1, 1, 2, 1, "before"}, {110, 1, 1, 2, 2, "at"},
        {111, 1, 1, 2, 3, "after"});
    (void)apply_open(&open);
    assert_open_silver(&open, "2=at 3=after");
    open_lake_close(&open);
}

static void other_keys_wait_for_the_end(void **state) /* T7.17 */
{
    static const Str both[] = {{"id", 2}, {"v", 1}}, second[] = {{"v", 1}};

    for (int is_composite = 0; is_composite <= 1; is_composite++) {
        OpenLake open = open_lake_open(*state, 100);

        open.cut_columns      = is_composite ? both : second;
        open.cut_column_count = is_composite ? 2 : 1;
        if (is_composite) {
            open.lake.keys      = both;
            open.lake.key_count = 2;
        }
        PUT(&open.lake, {10, 1, 1, 2, 1, "a"}, {10, 2, 2, 2, 2, "b"});
        (void)apply_open(&open);
        put_open(&open);
        PUT_CHUNK(&open, 0, {110, 0, 0, 0, 1, "a"}, {110, 0, 0, 0, 3, "c"});
        put_chunk(&open, 0, 0, 110, "null", is_composite ? "[9, \"z\"]" : "\"z\"");
        ApplyResult result = apply_open(&open);
        assert_int_equal(result.rows_deleted, 0);
        assert_int_equal(result.waves_applied, 1);
        assert_open_silver(&open, "1=a 2=b 3=c");
        put_completion(&open);
        assert_true(apply_open(&open).rebuilt);
        assert_open_silver(&open, "1=a 3=c");
        open_lake_close(&open);
    }
}

static void commits_around_a_chunks_stamp_and_read(void **state) /* case A6 */
{
    OpenLake open = open_lake_open(*state, 10);

    PUT(&open.lake, {5, 1, 1, 2, 9, "q"}); /* stale: its delete was lost */
    (void)apply_open(&open);
    put_open(&open);
    PUT(&open.lake, {15, 1, 1, 1, 2, "b"});
    PUT_CHUNK(&open, 0, {20, 0, 0, 0, 1, "a"}, {20, 0, 0, 0, 3, "x"}, {20, 0, 0, 0, 4, "d"});
    put_chunk(&open, 0, 0, 20, "null", "null");
    PUT(&open.lake, {25, 1, 1, 3, 3, "c"}, {25, 1, 1, 4, 3, "x"});
    (void)apply_open(&open);
    assert_open_silver(&open, "1=a 3=x 4=d");
    put_completion(&open);
    PUT(&open.lake, {30, 1, 1, 1, 4, "d"}, {40, 1, 1, 2, 2, "z"});
    (void)apply_open(&open);
    (void)apply_open(&open);
    assert_open_silver(&open, "1=a 2=z 3=x");
    open_lake_close(&open);
}

static OptTime verdict_of(OpenLake *open, const char *table)
{
    TableRef   ref     = {STR("control"), STR("lake/control")};
    Lake      *lake    = open->lake.lake;
    Control   *control = NULL;
    ControlRow row;

    assert_ok(control_open(&lake->delta, &ref, &control, &lake->err), &lake->err);
    assert_ok(control_read(control, str_from_c(table), &row, &lake->err), &lake->err);
    control_close(control);
    return row.finalized_until;
}

static void bronze_is_final(OpenLake *open, unsigned lsn, const char *time)
{
    TableRef ref     = {STR("control"), STR("lake/control")};
    Lake    *lake    = open->lake.lake;
    Control *control = NULL;
    Offset   end     = offset_of(lsn, time);

    assert_ok(control_open(&lake->delta, &ref, &control, &lake->err), &lake->err);
    assert_ok(control_advance(control, STR(BRONZE_PATH), &end, GRANULARITY_HOUR, NULL, &lake->err),
              &lake->err);
    control_close(control);
}

static void the_verdict_is_held_while_the_snapshot_is_open(void **state) /* T7.19 */
{
    OpenLake open = open_lake_open(*state, 100);

    PUT(&open.lake, {11, 1, 1, 2, 1, "a"});
    bronze_is_final(&open, 11, "2026-12-08T05:10:00");
    (void)apply_open(&open);
    assert_int_equal(verdict_of(&open, SILVER_PATH).utc_us, time_of("2026-12-08T05:00:00"));
    put_open(&open);
    PUT_CHUNK(&open, 0, {110, 0, 0, 0, 1, "a"});
    put_chunk(&open, 0, 0, 110, "null", "null");
    bronze_is_final(&open, 112, "2026-12-08T07:10:00");
    ApplyResult held = apply_open(&open);
    assert_int_equal(held.finalized_until.utc_us, time_of("2026-12-08T05:00:00"));
    assert_int_equal(verdict_of(&open, SILVER_PATH).utc_us, time_of("2026-12-08T05:00:00"));
    put_completion(&open);
    (void)apply_open(&open);
    assert_int_equal(verdict_of(&open, SILVER_PATH).utc_us, time_of("2026-12-08T07:00:00"));
    open_lake_close(&open);
}

/* As after a crash between the merge and the position. */
static void a_wave_whose_position_was_lost_changes_no_row(void **state) /* T7.12 */
{
    OpenLake open    = open_lake_open(*state, 100);
    TableRef ref     = {STR("control"), STR("lake/control")};
    Lake    *lake    = open.lake.lake;
    Control *control = NULL;
    OptLsn   none    = {.is_set = false};

    put_first_images(&open);
    put_open(&open);
    PUT_CHUNK(&open, 0, {110, 0, 0, 0, 1, "a"}, {110, 0, 0, 0, 3, "a"});
    put_chunk(&open, 0, 0, 110, "null", "5");
    PUT(&open.lake, {112, 1, 1, 1, 3, "a"}, {113, 1, 1, 2, 2, "back"});
    (void)apply_open(&open);
    assert_open_silver(&open, "1=a 2=back 5=a 6=a -=a");
    int64_t version = silver_version(&open.lake);
    assert_ok(control_open(&lake->delta, &ref, &control, &lake->err), &lake->err);
    assert_ok(control_set_position(control, STR(SILVER_PATH), OPT_LSN(lsn_number(10)), none,
                                   OPT_LSN(lsn_number(100)), (OptI64){.is_set = false}, &lake->err),
              &lake->err);
    control_close(control);
    assert_int_equal(apply_open(&open).waves_applied, 1);
    assert_open_silver(&open, "1=a 2=back 5=a 6=a -=a");
    assert_int_equal(silver_version(&open.lake), version);
    assert_str_is(control_text(&open), "0071|-|0064|0\n");
    open_lake_close(&open);
}

static void a_recorded_chunk_without_its_bounds_stops_the_call(void **state) /* T4.1 */
{
    for (int is_applied = 0; is_applied <= 1; is_applied++) {
        OpenLake    open = open_lake_open(*state, 100);
        ApplyResult result;
        StoreList   list;
        Lake       *lake = open.lake.lake;

        put_open(&open);
        PUT_CHUNK(&open, 0, {110, 0, 0, 0, 1, "a"});
        put_chunk(&open, 0, 0, 110, "null", "2");
        if (is_applied) (void)apply_open(&open);
        /* the newest commit of the plans goes, and with it the chunk's row */
        assert_ok(store_list_after(lake->store, STR(PLANS_PATH "/_delta_log"), STR_EMPTY,
                                   lake->arena, &list, &lake->err),
                  &lake->err);
        assert_ok(store_remove(lake->store,
                               store_join(lake->arena, STR(PLANS_PATH "/_delta_log"),
                                          list.entries[list.count - 1].name),
                               &lake->err),
                  &lake->err);
        assert_false(try_apply(&open.lake, true, &result));
        assert_err(&lake->err, ERR_STATE, PLANS_PATH);
        assert_err(&lake->err, ERR_STATE, "chunk 0 of wave 0");
        open_lake_close(&open);
    }
}

static void a_newer_instance_needs_to_be_known(void **state) /* T7.5 */
{
    static const Str both[] = {{"dbo_t", 5}, {"DBO_T2", 6}};
    ApplyLake        lake   = apply_lake_open(*state);
    ApplyResult      result;

    PUT(&lake, {10, 0, 0, 0, 1, "a"}, {10, 0, 0, 0, 2, "b"});
    (void)apply_now(&lake);
    lake.newer_instance = STR("dbo_t2");
    PUT(&lake, {20, 1, 1, 3, 1, "a"}, {20, 1, 1, 4, 1, "A"});
    assert_false(try_apply(&lake, true, &result));
    assert_err(&lake.lake->err, ERR_STATE, "capture instance dbo_t2");
    assert_silver(&lake, "1=a 2=b");
    lake.instances      = both;
    lake.instance_count = 2;
    (void)apply_now(&lake);
    assert_silver(&lake, "1=A 2=b");
    assert_str_is(rows_of(lake.lake, SILVER_PATH, "SELECT id, w FROM {} ORDER BY id"),
                  "1|A\n2|-\n");
    apply_lake_close(&lake);
}

/* Bronze as it was before it had _snapshot and _chunk. */
static void make_legacy_bronze(Lake *lake)
{
    static const Column columns[] = {
        {.name = {"_capture_instance", 17}, .type = {.kind = TYPE_STRING}},
        {.name = {"_start_lsn", 10}, .type = {.kind = TYPE_STRING}},
        {.name = {"_seqval", 7}, .type = {.kind = TYPE_STRING}},
        {.name = {"_operation", 10}, .type = {.kind = TYPE_INTEGER}},
        {.name = {"_command_id", 11}, .type = {.kind = TYPE_INTEGER}},
        {.name = {"_commit_ts", 10}, .type = {.kind = TYPE_TIMESTAMP_NTZ}},
        {.name = {"_batch_id", 9}, .type = {.kind = TYPE_LONG}},
        {.name = {"id", 2}, .type = {.kind = TYPE_INTEGER}},
        {.name = {"v", 1}, .type = {.kind = TYPE_STRING}},
    };
    static const struct {
        unsigned lsn;
        int      op, id;
    } rows[]               = {{30, 0, 1}, {30, 0, 2}, {25, 2, 9}, {31, 2, 3}, {32, 1, 2}};
    const Schema  schema   = {.columns = columns, .column_count = COUNT_OF(columns)};
    DeltaProperty property = {STR("mssql_cdc.schema_version"), STR("1")};
    DeltaCreate   spec     = {.schema = schema, .properties = &property, .property_count = 1};
    RowBuilder   *builder  = row_builder_new(lake->arena, &schema);
    DeltaTable   *table    = NULL;
    DeltaOutcome  outcome;

    assert_ok(delta_table_create(&lake->delta, STR(BRONZE_PATH), &spec, &table, NULL, &lake->err),
              &lake->err);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        row_builder_begin(builder);
        row_builder_set_str(builder, 0, STR("dbo_t"));
        row_builder_set_str(builder, 1, lsn_str(lake->arena, lsn_number(rows[i].lsn)));
        if (rows[i].op) row_builder_set_str(builder, 2, lsn_str(lake->arena, lsn_number(1)));
        row_builder_set_i64(builder, 3, rows[i].op);
        if (rows[i].op) row_builder_set_i64(builder, 4, 1);
        row_builder_set_i64(builder, 7, rows[i].id);
        row_builder_set_str(builder, 8, STR("x"));
    }
    RowBlock    block  = row_builder_block(builder);
    DeltaAppend append = {.rows    = row_stream_of_block(lake->arena, &schema, &block),
                          .purpose = STR("test")};
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &lake->err), &lake->err);
    row_stream_close(append.rows);
    delta_table_close(table);
}

static void legacy_snapshot_rows_name_their_own_lsn(void **state) /* T7.2 */
{
    ApplyLake lake = apply_lake_open(*state);

    make_legacy_bronze(lake.lake);
    ApplyResult result = apply_now(&lake);
    assert_true(result.rebuilt);
    assert_true(lsn_equal(result.applied_lsn.lsn, lsn_number(32)));
    assert_silver(&lake, "1=x 3=x"); /* 9 is older than the snapshot and not in it */
    assert_str_is(rows_of(lake.lake, "lake/control",
                          "SELECT right(snapshot_lsn, 4) FROM {} WHERE table_name = '" SILVER_PATH
                          "'"),
                  "001E\n");
    assert_false(apply_now(&lake).rebuilt);
    apply_lake_close(&lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bootstrap_wave_by_wave),
        cmocka_unit_test(each_wave_takes_what_its_ranges_lack),
        cmocka_unit_test(a_newer_open_takes_the_place_of_an_older_one),
        cmocka_unit_test(a_bound_within_a_microsecond_takes_neither_side),
        cmocka_unit_test(dates_are_ranges_of_days),
        cmocka_unit_test(a_change_at_the_stamp_or_behind_it_outranks_the_range),
        cmocka_unit_test(other_keys_wait_for_the_end),
        cmocka_unit_test(commits_around_a_chunks_stamp_and_read),
        cmocka_unit_test(the_verdict_is_held_while_the_snapshot_is_open),
        cmocka_unit_test(a_wave_whose_position_was_lost_changes_no_row),
        cmocka_unit_test(a_recorded_chunk_without_its_bounds_stops_the_call),
        cmocka_unit_test(a_newer_instance_needs_to_be_known),
        cmocka_unit_test(legacy_snapshot_rows_name_their_own_lsn),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
