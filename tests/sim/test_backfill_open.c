/* Opening a chunked snapshot, and who may (algorithms.md 4.4, 4.7, 4.14). */
#include "support/test_support.h"

#include "support/backfill.h"

static void one_mode_at_a_time(void **state) /* T4.36b, T4.37 */
{
    World          *world = shop_open(state, 1);
    StreamOptions   full = shop_bootstrap(), chunked = shop_chunked();
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "stream");
    BackfillResult  result;

    shop_open_snapshot(world, 4);
    assert_false(process_stream(process, &full));
    assert_err(&process->err, ERR_STATE, "a chunked snapshot at LSN 0x");
    assert_err(&process->err, ERR_STATE, "(generation 0)");
    assert_err(&process->err, ERR_STATE, "tidelake backfill");
    process_close(process);
    world_close(world);

    world = shop_open(state, 1);
    shop_fill(world, 0, 4);
    shop_crash_at(world, &full, BRONZE "/part-", false);
    process = process_open(world, "stream");
    assert_false(process_stream(process, &chunked));
    assert_err(&process->err, ERR_STATE, "a full snapshot at LSN 0x");
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_STATE, "a full snapshot at LSN 0x");
    process_close(process);
    (void)world_stream(world, &full);
    StreamResult reused = world_stream(world, &chunked); /* opens nothing */
    assert_true(reused.snapshot.is_set);
    assert_int_equal(world_line_count(world, "no chunked one is opened"), 1);
    assert_rows(world, "full\n",
                "SELECT DISTINCT json_extract_string(detail, '$.mode') FROM {" FACTS
                "} WHERE event = 'snapshot_open'");
    world_close(world);
}

static void what_was_opened_on_other_columns_is_not_planned(void **state) /* T4.17, T12.1 */
{
    static const Str note[] = {{"note", 4}}, unknown[] = {{"nope", 4}};
    World           *world   = shop_open(state, 1);
    StreamOptions    stream  = shop_chunked();
    BackfillOptions  options = shop_backfill(2, 2);
    Process         *process = process_open(world, "stream");
    BackfillResult   result;

    shop_fill(world, 0, 6);
    stream.snapshot_keys      = unknown;
    stream.snapshot_key_count = 1;
    assert_false(process_stream(process, &stream));
    assert_err(&process->err, ERR_USAGE, "nope");
    assert_int_equal(world_version(world, PLANS), -1);
    stream.snapshot_keys = note;
    assert_ok(process_stream(process, &stream), &process->err);
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_STATE, "opened cut on note, and this run would cut on id");
    assert_err(&process->err, ERR_STATE, lsn_format(result.snapshot.lsn).text);
    assert_err(&process->err, ERR_STATE, "set snapshot_keys to the columns it was opened with");
    assert_err(&process->err, ERR_STATE, BRONZE);
    assert_rows(world, "snapshot_open\n", "SELECT event FROM {" PLANS "}"); /* nothing planned */
    options.stream.snapshot_keys      = note;
    options.stream.snapshot_key_count = 1;
    process_close(process);
    assert_backfill_done(world, &options, 6);
    world_close(world);
}

static void a_table_that_was_empty_is_complete(void **state) /* T4.13, case A11 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    StreamOptions   stream  = shop_chunked();

    world_commit(world, "CREATE TABLE dbo.other (a int)");
    (void)world_stream(world, &stream);
    shop_fill(world, 0, 3);
    (void)world_stream(world, &stream);
    assert_backfill_done(world, &options, 3); /* it reads what is there when it is read */
    assert_silver_follows(world);
    world_close(world);
}

/* --- one open --- */

static Str opened_at(World *world)
{
    return str_trim(
        world_rows(world, "SELECT max_lsn FROM {" FACTS "} WHERE event = 'snapshot_open'"));
}

/* Each S that was tried has its plans row; the facts name the one that counts. */
static void a_death_before_the_facts_row_opens_again(void **state) /* T4.4 */
{
    World          *world   = shop_open(state, 1);
    StreamOptions   stream  = shop_chunked();
    BackfillOptions options = shop_backfill(2, 2);

    shop_fill(world, 0, 4);
    shop_crash_at(world, &stream, FACTS_COMMIT(1), false);
    assert_rows(world, "1\n", "SELECT count(*) FROM {" PLANS "}");
    shop_fill(world, 10, 2);
    (void)shop_run_chunked(world);
    assert_rows(world, "1\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_open'");
    assert_rows(world, "2|2\n",
                "SELECT count(*), count(DISTINCT snapshot) FROM {" PLANS
                "} WHERE event = 'snapshot_open'");
    Str opened = opened_at(world);
    assert_backfill_done(world, &options, 6);
    assert_str_is(str_trim(world_rows(world, "SELECT DISTINCT _snapshot FROM {" BRONZE "}")),
                  str_c(world_arena(world), opened));
    assert_rows(world, "6\n",
                "SELECT \"rows\" FROM {" FACTS "} WHERE event = 'bootstrap' AND max_lsn = '%s'",
                str_c(world_arena(world), opened));
    world_close(world);
}

/* --- two at the same instant --- */

typedef struct OtherRun {
    World *world;
    bool   commits_before, dies, has_run;
} OtherRun;

static void let_other_open(void *arg, uint64_t step, const char *operation, Str path)
{
    OtherRun     *other  = arg;
    StreamOptions stream = shop_chunked();

    (void)step, (void)operation, (void)path;
    if (other->has_run) return;
    other->has_run = true;
    if (other->commits_before) shop_fill(other->world, 10, 1);
    if (other->dies)
        shop_crash_at(other->world, &stream, FACTS_COMMIT(1), true);
    else
        (void)world_stream(other->world, &stream);
}

/* Whoever writes the facts row first opens it, at that S for both; it does not matter whether both saw the same S. */
static void two_opens_at_once_are_one(void **state)
{
    for (int i = 0; i < 4; i++) {
        World          *world   = shop_open(state, 1);
        StreamOptions   stream  = shop_chunked();
        BackfillOptions options = shop_backfill(2, 2);
        OtherRun        other   = {.world = world, .commits_before = i % 2 == 1, .dies = i < 2};
        Process        *process = process_open(world, "first");

        shop_fill(world, 0, 4);
        process->plan = (FaultPlan){.only_path_containing = STR(FACTS_COMMIT(1)),
                                    .on_step              = let_other_open,
                                    .on_step_arg          = &other};
        if (process_stream(process, &stream))
            assert_true(other.dies);
        else /* the checkpoint is one run's, whoever opened */
            assert_err(&process->err, ERR_STATE, "another run planned batch 0");
        assert_true(other.has_run);
        Str opened = opened_at(world); /* one row, or this is no LSN */
        if (process->ok) assert_str_is(opened, lsn_format(process->stream.snapshot.lsn).text);
        process_close(process);
        StreamResult again = shop_run_chunked(world);
        assert_str_is(opened, lsn_format(again.snapshot.lsn).text);
        assert_rows(world, other.commits_before ? "2\n" : "1\n",
                    "SELECT count(*) FROM {" PLANS "}");
        assert_backfill_done(world, &options, 4 + other.commits_before);
        assert_chunks_recorded(world);
        assert_silver_follows(world);
        world_close(world);
    }
}

/* --- a full run in between --- */

/* The chunked open came between the full run's lock and its own open row: the full run stops, and its row holds nothing. */
static void a_full_run_that_was_overtaken_holds_no_mode(void **state) /* T4.39 */
{
    World          *world   = shop_open(state, 1);
    StreamOptions   full    = shop_bootstrap();
    BackfillOptions options = shop_backfill(2, 2);
    OtherRun        other   = {.world = world};
    Process        *process = process_open(world, "full");

    shop_fill(world, 0, 4);
    process->plan = (FaultPlan){.only_path_containing = STR(FACTS_COMMIT(1)),
                                .on_step              = let_other_open,
                                .on_step_arg          = &other};
    assert_false(process_stream(process, &full));
    assert_err(&process->err, ERR_STATE, "another run came first");
    assert_err(&process->err, ERR_STATE, "a chunked snapshot at LSN 0x");
    process_close(process);
    assert_rows(world, "1|1\n",
                "SELECT count(*) FILTER (json_extract_string(detail, '$.mode') = 'chunked'), "
                "count(*) FILTER (json_extract_string(detail, '$.mode') = 'full') FROM {" FACTS
                "} WHERE event = 'snapshot_open'");
    assert_backfill_done(world, &options, 4);
    assert_silver_follows(world);
    world_close(world);
}

/* By hand: an open of a later generation that nobody has closed. */
static void put_full_open(World *world, Lsn lsn)
{
    Facts       *facts = NULL;
    TableRef     ref   = {STR(FACTS), STR(FACTS)};
    DeltaOutcome outcome;
    Err          err = ERR_INIT;
    FactsRow     row = {.app_id  = STR(APP_ID ".g1"),
                        .event   = STR("snapshot_open"),
                        .target  = STR(BRONZE),
                        .rows    = OPT_I64(0),
                        .max_lsn = OPT_LSN(lsn),
                        .detail  = STR("{\"mode\": \"full\", \"generation\": 1}")};

    assert_ok(facts_open(world_delta(world), &ref, &facts, &err), &err);
    assert_ok(facts_append_event(facts, STR(APP_ID), -1, &row, &outcome, &err), &err);
    facts_close(facts);
}

static void a_full_open_of_a_later_generation_keeps_backfill_out(void **state) /* T4.39, T12.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "backfill");
    BackfillResult  result;

    shop_open_snapshot(world, 4);
    shop_fill(world, 10, 1);
    Lsn lsn = world_max_lsn(world);
    put_full_open(world, lsn);
    int64_t facts = world_version(world, FACTS);
    assert_false(process_backfill(process, &options, &result));
    const char *const parts[] = {BRONZE,
                                 "a full snapshot",
                                 lsn_format(lsn).text,
                                 "generation 1",
                                 "has not completed",
                                 "rerun the stream with snapshot: full",
                                 "or wait until CDC's cleanup has passed that LSN"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        assert_err(&process->err, ERR_STATE, parts[i]);
    process_close(process);
    assert_int_equal(world_version(world, FACTS), facts);
    assert_rows(world, "1\n", "SELECT count(*) FROM {" PLANS "}");
    assert_int_equal(world_version(world, BRONZE), -1);
    world_close(world);
}

/* --- what it can be cut along --- */

/* Opening along these columns is refused, and no table came to be. */
static void refuse_keys(World *world, const Str *keys, size_t count, const char *const *parts)
{
    StreamOptions stream  = shop_chunked();
    Process      *process = process_open(world, "refused");

    stream.snapshot_keys      = keys;
    stream.snapshot_key_count = count;
    assert_false(process_stream(process, &stream));
    for (size_t i = 0; parts[i]; i++)
        assert_err(&process->err, ERR_USAGE, parts[i]);
    process_close(process);
    assert_int_equal(world_version(world, PLANS), -1);
    if (world_version(world, FACTS) >= 0)
        assert_rows(world, "0\n", "SELECT count(*) FROM {" FACTS "}");
}

static void a_column_that_cannot_be_cut_along_is_refused(void **state) /* T4.16, T4.46, T12.1 */
{
    static const struct {
        Str         keys[2];
        const char *parts[4];
    } cases[] = {
        {{{"flag", 4}}, {"snapshot_keys", "flag", "bit", "no order"}},
        {{{"at", 2}}, {"snapshot_keys", "at", "time", "cannot be told to the server exactly"}},
        {{{"fine", 4}, {"id", 2}},
         {"snapshot_keys", "fine", "datetime2(7)", "cannot be told to the server exactly"}},
        {{{"doc", 3}}, {"snapshot_keys", "doc", "xml", "cannot"}},
        {{{"ver", 3}}, {"snapshot_keys", "ver", "timestamp", "every update moves its row"}},
        {{{"id", 2}, {"ver", 3}},
         {"snapshot_keys", "ver", "timestamp", "every update moves its row"}},
        {{{"nope", 4}}, {"snapshot_keys", "nope", "dbo_orders", "does not capture"}},
        {{{"id", 2}, {"ID", 2}}, {"snapshot_keys", "id", "twice"}},
    };
    World *world = world_open(state, 1);

    world_create(world, "orders",
                 "id int NOT NULL PRIMARY KEY, flag bit, at time(3), fine datetime2(7), doc xml, "
                 "ver rowversion");
    world_commit(world, "INSERT INTO dbo.orders (id, flag) VALUES (1, 1), (2, 0), (3, 1)");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *parts[] = {cases[i].parts[0], cases[i].parts[1], cases[i].parts[2],
                               cases[i].parts[3], NULL};
        refuse_keys(world, cases[i].keys, cases[i].keys[1].len ? 2 : 1, parts);
    }
    world_close(world);
}

/* A unique index may hold what is no choice of one's own. */
static void an_index_with_a_rowversion_is_planned_and_read(void **state) /* T4.46 */
{
    World          *world   = world_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    world_create(world, "orders",
                 "id int NOT NULL, ver rowversion NOT NULL, note varchar(20), "
                 "PRIMARY KEY (id, ver)");
    world_commit(world,
                 "INSERT INTO dbo.orders (id, note) VALUES (1, 'a'), (1, 'b'), (1, 'c'), (2, "
                 "'d'), (3, 'e')");
    (void)shop_run_chunked(world);
    BackfillResult result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(result.chunks_total.value, 2);
    assert_rows(world, "1|a|0\n1|b|0\n1|c|1\n2|d|1\n3|e|1\n",
                "SELECT id, note, _chunk FROM {" BRONZE "} ORDER BY id, note");
    world_close(world);
}

static void a_table_without_a_way_to_cut_it_is_warned_of_once(void **state) /* T4.52, T12.1 */
{
    static const struct {
        const char *columns;
        const char *why;
    } cases[] = {
        {"id int NULL, note varchar(20) NULL", "no unique index"},
        {"id time(3) NOT NULL PRIMARY KEY, note varchar(20) NULL", "id (time(3))"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World          *world   = world_open(state, 1);
        BackfillOptions options = shop_backfill(1, 2);

        world_create(world, "orders", cases[i].columns);
        world_commit(world, "INSERT INTO dbo.orders VALUES (%s, 'a'), (%s, 'b'), (%s, 'c')",
                     i ? "'10:00'" : "1", i ? "'11:00'" : "2", i ? "'12:00'" : "3");
        (void)shop_run_chunked(world);
        (void)shop_run_chunked(world); /* opened before: nothing is said again */
        assert_int_equal(world_line_count(world, "WARN snapshot"), 1);
        assert_int_equal(world_line_count(world, cases[i].why), 1);
        assert_int_equal(world_line_count(world, "snapshot_keys"), 1);
        BackfillResult result = world_backfill(world, &options);
        assert_int_equal(result.chunks_total.value, 1);
        assert_int_equal(result.rows, 3);
        world_close(world);
    }
}

/* "c0 int NOT NULL, c1 int NOT NULL": what `fmt` makes of each number below `count`. */
static const char *list_columns(World *world, int count, const char *fmt)
{
    Str list = STR_EMPTY;

    for (int i = 0; i < count; i++)
        list = str_printf(world_arena(world), "%.*s%sc%d%s", STR_ARG(list), i ? ", " : "", i, fmt);
    return str_c(world_arena(world), list);
}

/* All columns but the last are equal in pairs of rows, so that ranges begin and end in the middle of each. */
static void create_wide_key(World *world, int columns)
{
    Str values = STR_EMPTY;

    for (int i = 0; i < columns; i++)
        values = str_printf(world_arena(world), "%.*s%s%s", STR_ARG(values), i ? ", " : "",
                            i + 1 < columns ? "value / 5" : "value");
    world_exec(world, "CREATE TABLE dbo.orders (%s, PRIMARY KEY (%s))",
               list_columns(world, columns, " int NOT NULL"), list_columns(world, columns, ""));
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL, @supports_net_changes = 0");
    world_commit(world, "INSERT INTO dbo.orders SELECT %s FROM GENERATE_SERIES(0, 19)",
                 str_c(world_arena(world), values));
}

/* Between two keys of 16 columns a statement would need more parameters than the server takes. */
static void a_key_of_more_columns_than_a_statement_has_room_for_is_one_chunk(void **state)
{
    for (int columns = 15; columns <= 16; columns++) {
        World          *world   = world_open(state, 1);
        BackfillOptions options = shop_backfill(3, 2);
        BackfillResult  result;

        create_wide_key(world, columns);
        (void)shop_run_chunked(world);
        assert_int_equal(world_line_count(world, "WARN snapshot"), columns == 16);
        assert_int_equal(world_line_count(world, "a key of 16 columns is more than a statement"),
                         columns == 16);
        result = world_backfill(world, &options);
        assert_int_equal(result.state, BACKFILL_DONE);
        assert_int_equal(result.chunks_total.value, columns == 16 ? 1 : 7);
        assert_rows(world, "20|20\n",
                    "SELECT count(*), count(DISTINCT c%d) FROM {" BRONZE "} WHERE _operation = 0",
                    columns - 1);
        (void)shop_run_chunked(world);
        Str          key   = str_printf(world_arena(world), "c%d", columns - 1);
        ApplyOptions apply = world_apply_options(&key, 1);
        (void)world_apply(world, &apply);
        assert_silver_is_source(world, "orders", list_columns(world, columns, ""));
        world_close(world);
    }
}

/* Nobody would find out but by planning, and then the snapshot is open. */
static void so_many_columns_are_no_choice(void **state)
{
    World *world = world_open(state, 1);
    Str    names[16];

    world_create(
        world, "orders",
        str_c(world_arena(world), str_printf(world_arena(world), "id int NOT NULL PRIMARY KEY, %s",
                                             list_columns(world, 16, " int NULL"))));
    world_commit(world, "INSERT INTO dbo.orders (id) VALUES (1), (2), (3)");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        names[i] = str_printf(world_arena(world), "c%zu", i);
    refuse_keys(world, names, COUNT_OF(names),
                (const char *const[]){"snapshot_keys", "16 columns", "15 columns", NULL});
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mode_at_a_time),
        cmocka_unit_test(what_was_opened_on_other_columns_is_not_planned),
        cmocka_unit_test(a_table_that_was_empty_is_complete),
        cmocka_unit_test(a_death_before_the_facts_row_opens_again),
        cmocka_unit_test(two_opens_at_once_are_one),
        cmocka_unit_test(a_full_run_that_was_overtaken_holds_no_mode),
        cmocka_unit_test(a_full_open_of_a_later_generation_keeps_backfill_out),
        cmocka_unit_test(a_column_that_cannot_be_cut_along_is_refused),
        cmocka_unit_test(an_index_with_a_rowversion_is_planned_and_read),
        cmocka_unit_test(a_table_without_a_way_to_cut_it_is_warned_of_once),
        cmocka_unit_test(a_key_of_more_columns_than_a_statement_has_room_for_is_one_chunk),
        cmocka_unit_test(so_many_columns_are_no_choice),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
