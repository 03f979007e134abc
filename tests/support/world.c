/* world.c - see world.h. */
#include "support/test_support.h"

#include "support/world.h"

#include "base/buf.h"
#include "base/list.h"

struct World {
    Arena       *arena;
    Sched       *sched;
    Clock       *clock;
    Rng         *rng;
    Duck        *duck;
    SimServer   *server;
    SimDatabase *database;
    Store       *store;
    Log         *log;
    SqlDriver   *admin_driver;
    SqlConn     *admin;
    DeltaContext delta;
    LIST(Str) lines;
    uint64_t process_count;
    uint64_t seed;
    size_t   large_row_bytes;
};

#define CONNECTION "UID=sa;PWD=pw;DATABASE=shop"

static const char *const lake_paths[] = {BRONZE, SILVER, FACTS, CONTROL};

/* --- opening --- */

int world_duck_setup(void **state)
{
    Err         err     = ERR_INIT;
    Duck       *duck    = NULL;
    DuckOptions options = {
        .memory_limit_bytes = INT64_C(1) << 30, .threads = 1, .temp_directory = STR("/tmp")};

    if (!duck_open(&options, &duck, &err)) return -1;
    *state = duck;
    return 0;
}

int world_duck_teardown(void **state)
{
    duck_close(*state);
    return 0;
}

static void check_sim(bool ok, const SimError *error)
{
    if (!ok) fail_msg("tidesim: error %d: %s", error->number, error->message);
}

static void keep_line(void *arg, LogLevel level, Str line)
{
    World *world = arg;

    (void)level;
    *LIST_PUSH(world->arena, &world->lines) = str_copy(world->arena, line);
}

static SqlConn *connect_admin(World *world, const char *connection)
{
    Err      err  = ERR_INIT;
    SqlConn *conn = NULL;

    assert_ok(sqldriver_connect(world->admin_driver, str_from_c(connection), 0, &conn, &err), &err);
    return conn;
}

static void open_server(World *world, int version)
{
    SimOptions options = {.clock               = world->clock,
                          .sched               = world->sched,
                          .rng                 = world->rng,
                          .capture_interval_ms = -1,
                          .idle_entry_ms       = INT64_C(1000) * 3600 * 24 * 3650,
                          .retention_minutes   = 4320,
                          .server_version      = version,
                          .login               = STR("sa"),
                          .password            = STR("pw")};
    SimError   error   = SIM_ERROR_INIT;

    check_sim(sim_server_open(&options, &world->server, &error), &error);
    world->admin_driver = sim_sql_driver_new(
        &(SimSqlOptions){.server = world->server, .sched = world->sched});
    world->admin = connect_admin(world, "UID=sa;PWD=pw;DATABASE=master");
    world_exec(world, "CREATE DATABASE shop");
    sqlconn_close(world->admin);
    world->admin = connect_admin(world, CONNECTION);
    world_exec(world, "EXEC sys.sp_cdc_enable_db");
    world->database = sim_server_find_database(world->server, STR("shop"));
    assert_non_null(world->database);
    (void)sim_cdc_set_mode(world->database, SIM_CAPTURE_MANUAL);
}

World *world_open(void **state, uint64_t seed)
{
    return world_open_version(state, seed, 2022);
}

World *world_open_version(void **state, uint64_t seed, int version)
{
    Arena *arena = arena_new();
    World *world = ARENA_NEW(arena, World);

    world->arena = arena;
    world->seed  = seed;
    world->duck  = *state;
    world->sched = sched_new_simulated(seed, WORLD_START_US, &world->clock);
    world->rng   = rng_new(seed * 7919 + 1);
    world->log   = log_new(world->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_line, world);
    world->store = store_memory_new(world->clock, world->sched);
    world->delta = (DeltaContext){.store       = world->store,
                                  .clock       = world->clock,
                                  .rng         = world->rng,
                                  .duck        = world->duck,
                                  .log         = world->log,
                                  .engine_info = STR("tidelake/test"),
                                  .compression = DUCK_UNCOMPRESSED};
    open_server(world, version);
    return world;
}

void world_close(World *world)
{
    sqlconn_close(world->admin);
    sqldriver_close(world->admin_driver);
    sim_server_close(world->server);
    store_close(world->store);
    log_close(world->log);
    rng_close(world->rng);
    sched_close(world->sched);
    arena_close(world->arena);
}

void world_set_large_rows(World *world, size_t bytes)
{
    world->large_row_bytes = world->delta.large_row_bytes = bytes;
}

Arena *world_arena(World *world)
{
    return world->arena;
}

Store *world_store(World *world)
{
    return world->store;
}

Clock *world_clock(World *world)
{
    return world->clock;
}

Sched *world_sched(World *world)
{
    return world->sched;
}

Rng *world_rng(World *world)
{
    return world->rng;
}

DeltaContext *world_delta(World *world)
{
    return &world->delta;
}

size_t world_line_count(const World *world, const char *part)
{
    size_t count = 0;

    for (size_t i = 0; i < world->lines.count; i++)
        count += str_find(world->lines.items[i], str_from_c(part), 0) >= 0;
    return count;
}

Str world_log_text(World *world)
{
    Buf buf = buf_new(world->arena, 0);

    for (size_t i = 0; i < world->lines.count; i++) {
        buf_append(&buf, world->lines.items[i]);
        buf_append_char(&buf, '\n');
    }
    return buf_str(&buf);
}

static uint64_t hash_bytes(Bytes bytes)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < bytes.len; i++)
        hash = (hash ^ bytes.ptr[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Files of one folder; a Parquet file shows as the hash of its bytes. */
static void append_folder(World *world, Str folder, Buf *buf)
{
    StoreList list;
    Err       err = ERR_INIT;

    assert_ok(store_list_after(world->store, folder, STR_EMPTY, world->arena, &list, &err), &err);
    for (size_t i = 0; i < list.count; i++) {
        Str   path = store_join(world->arena, folder, list.entries[i].name);
        Bytes bytes;

        buf_printf(buf, "%.*s %lld\n", STR_ARG(path), (long long)list.entries[i].size_bytes);
        assert_ok(store_read(world->store, path, (size_t)1 << 24, world->arena, &bytes, &err),
                  &err);
        if (str_ends_with(path, STR(".parquet"))) {
            buf_printf(buf, "%016llx\n", (unsigned long long)hash_bytes(bytes));
            continue;
        }
        buf_append(buf, bytes_str(bytes));
        buf_append_char(buf, '\n');
    }
}

Str world_store_text(World *world)
{
    Buf buf = buf_new(world->arena, 0);

    for (size_t i = 0; i < COUNT_OF(lake_paths); i++) {
        append_folder(world, str_from_c(lake_paths[i]), &buf);
        append_folder(world, store_join(world->arena, str_from_c(lake_paths[i]), STR("_delta_log")),
                      &buf);
    }
    append_folder(world, STR(CHECKPOINT), &buf);
    append_folder(world, STR(CHECKPOINT "/offsets"), &buf);
    append_folder(world, STR(CHECKPOINT "/commits"), &buf);
    append_folder(world, STR(CHECKPOINT "/_tidelake"), &buf);
    return buf_str(&buf);
}

/* --- the source --- */

#define TEXT_LIMIT ((size_t)1 << 20)

PRINTF(2, 0) static Str format_text(Arena *arena, const char *fmt, va_list args)
{
    char *text = mem_alloc(TEXT_LIMIT);
    int   len  = vsnprintf(text, TEXT_LIMIT, fmt, args);

    assert_true(len >= 0 && (size_t)len < TEXT_LIMIT);
    Str copy = str_copy(arena, (Str){text, (size_t)len});
    mem_free(text);
    return copy;
}

static void exec_text(World *world, Str sql)
{
    Err err = ERR_INIT;

    if (!sqlconn_execute(world->admin, sql, &err)) print_error("# %.*s\n", STR_ARG(sql));
    assert_ok(err.code == ERR_NONE, &err);
}

void world_exec(World *world, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    Str sql = format_text(world->arena, fmt, args);
    va_end(args);
    exec_text(world, sql);
}

void world_create(World *world, const char *name, const char *columns)
{
    world_exec(world, "CREATE TABLE dbo.%s (%s)", name, columns);
    world_exec(world,
               "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'%s', "
               "@role_name = NULL, @supports_net_changes = 0",
               name);
    world_scan(world);
}

void world_scan(World *world)
{
    SimError error = SIM_ERROR_INIT;

    check_sim(sim_cdc_scan_now(world->database, NULL, NULL, &error), &error);
}

void world_idle(World *world)
{
    SimError error = SIM_ERROR_INIT;

    check_sim(sim_cdc_idle_now(world->database, &error), &error);
}

void world_pass_minutes(World *world, int64_t minutes)
{
    int64_t now_us  = clock_utc_us(world->clock);
    int64_t then_us = (now_us / 60000000 + minutes) * 60000000;

    world->clock->sleep_until(world->clock,
                              clock_monotonic_ns(world->clock) + (then_us - now_us) * 1000, NULL);
}

Lsn world_max_lsn(World *world)
{
    Lsn lsn = LSN_ZERO;

    (void)sim_cdc_max_lsn(world->database, &lsn);
    return lsn;
}

Lsn world_commit(World *world, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    Str sql = format_text(world->arena, fmt, args);
    va_end(args);
    world_pass_minutes(world, 1);
    exec_text(world, sql);
    world_scan(world);
    return world_max_lsn(world);
}

void world_cleanup(World *world, Lsn low_water_mark)
{
    SimError error = SIM_ERROR_INIT;

    check_sim(sim_cdc_cleanup(world->database, STR_EMPTY, low_water_mark, 5000, &error), &error);
}

void world_set_property(World *world, const char *path, const char *key, const char *value)
{
    DeltaTable   *table    = NULL;
    DeltaProperty property = {str_from_c(key), str_from_c(value)};
    DeltaCommit   commit   = {.operation          = STR("SET TBLPROPERTIES"),
                              .set_properties     = &property,
                              .set_property_count = 1};
    DeltaOutcome  outcome;
    Err           err = ERR_INIT;

    assert_ok(delta_table_open(&world->delta, str_from_c(path), &table, &err), &err);
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &err), &err);
    delta_table_close(table);
}

/* --- processes --- */

static void keep_process_line(void *arg, LogLevel level, Str line)
{
    Process *process = arg;

    keep_line(process->world, level,
              str_printf(process->world->arena, "%s %.*s", process->name, STR_ARG(line)));
}

Process *process_open(World *world, const char *name)
{
    Process *process = ARENA_NEW(world->arena, Process);

    process->world  = world;
    process->name   = name;
    process->store  = store_fault_new(world->store, &process->plan);
    process->rng    = rng_new(world->seed * 104729 + ++world->process_count);
    process->log    = log_new(world->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_process_line, process);
    process->cancel = cancel_new();
    process->sql    = sim_sql_driver_new(&(SimSqlOptions){.server          = world->server,
                                                          .sched           = world->sched,
                                                          .process         = &process->plan,
                                                          .large_row_bytes = world->large_row_bytes});
    sqldriver_keep_connections(process->sql, world->clock, 60000);
    process->delta = (DeltaContext){.store           = process->store,
                                    .clock           = world->clock,
                                    .rng             = process->rng,
                                    .duck            = world->duck,
                                    .log             = process->log,
                                    .cancel          = process->cancel,
                                    .engine_info     = STR("tidelake/test"),
                                    .compression     = DUCK_UNCOMPRESSED,
                                    .large_row_bytes = world->large_row_bytes};
    process->env   = (Env){.clock  = world->clock,
                           .rng    = process->rng,
                           .sched  = world->sched,
                           .sql    = process->sql,
                           .store  = process->store,
                           .duck   = world->duck,
                           .log    = process->log,
                           .cancel = process->cancel,
                           .delta  = &process->delta};
    return process;
}

void process_close(Process *process)
{
    sqldriver_close_kept(process->sql, STR(CONNECTION));
    assert_int_equal(sim_sql_driver_open_connections(process->sql), 0);
    sqldriver_close(process->sql);
    cancel_close(process->cancel);
    log_close(process->log);
    rng_close(process->rng);
    store_close(process->store);
}

void process_tell_all(Process *process)
{
    log_close(process->log);
    process->log     = log_new(process->world->clock, LOG_DEBUG, LOG_FORMAT_TEXT, keep_process_line,
                               process);
    process->env.log = process->delta.log = process->log;
}

StreamOptions world_stream_options(void)
{
    return (StreamOptions){
        .capture_instance = STR("dbo_orders"),
        .source           = {.connection         = STR(CONNECTION),
                             .time_zone          = STR("auto"),
                             .connect_timeout_s  = 15,
                             .lock_timeout_ms    = -1,
                             .fetch_rows         = 10000,
                             .num_partitions     = 1,
                             .include_command_id = true},
        .bronze           = {STR(BRONZE), STR(BRONZE)},
        .facts            = {STR(FACTS), STR(FACTS)},
        .control          = {STR(CONTROL), STR(CONTROL)},
        .granularity      = GRANULARITY_HOUR,
        .app_id           = STR(APP_ID),
        .checkpoint       = STR(CHECKPOINT),
        .trigger          = TRIGGER_AVAILABLE_NOW,
        .interval_ms      = 1000,
        .poll_interval_ms = 1000,
    };
}

ApplyOptions world_apply_options(const Str *keys, size_t key_count)
{
    static const Str instances[] = {{"dbo_orders", 10}};

    return (ApplyOptions){.bronze           = {STR(BRONZE), STR(BRONZE)},
                          .silver           = {STR(SILVER), STR(SILVER)},
                          .control          = {STR(CONTROL), STR(CONTROL)},
                          .facts            = {STR(FACTS), STR(FACTS)},
                          .granularity      = GRANULARITY_HOUR,
                          .instances        = instances,
                          .instance_count   = 1,
                          .keys             = keys,
                          .key_count        = key_count,
                          .deletion_vectors = true};
}

bool process_stream(Process *process, const StreamOptions *options)
{
    process->err = ERR_INIT;
    process->ok  = stream_run(&process->env, options, &process->stream, &process->err);
    return process->ok;
}

bool process_apply(Process *process, const ApplyOptions *options)
{
    process->err = ERR_INIT;
    process->ok  = apply_run(&process->env, options, &process->apply, &process->err);
    return process->ok;
}

static void run_stream(void *arg)
{
    Process *process = arg;

    (void)process_stream(process, &process->options);
}

void process_spawn_stream(Process *process, const StreamOptions *options)
{
    process->options = *options;
    process->task    = sched_spawn(process->world->sched, process->name, run_stream, process);
}

void process_join(Process *process)
{
    sched_join(process->world->sched, process->task);
    process->task = NULL;
}

StreamResult world_stream(World *world, const StreamOptions *options)
{
    Process     *process = process_open(world, "stream");
    StreamResult result;

    assert_ok(process_stream(process, options), &process->err);
    result = process->stream;
    process_close(process);
    return result;
}

ApplyResult world_apply(World *world, const ApplyOptions *options)
{
    Process    *process = process_open(world, "apply");
    ApplyResult result;

    assert_ok(process_apply(process, options), &process->err);
    result = process->apply;
    process_close(process);
    return result;
}

/* --- looking --- */

static void append_rows(Arena *arena, const RowBlock *block, Buf *buf)
{
    for (size_t row = 0; row < block->row_count; row++) {
        for (size_t i = 0; i < block->column_count; i++) {
            if (i) buf_append_char(buf, '|');
            if (column_is_null(&block->columns[i], row))
                buf_append_char(buf, '-');
            else
                buf_append(buf, column_format(arena, &block->columns[i], row));
        }
        buf_append_char(buf, '\n');
    }
}

static Str drain_rows(World *world, RowStream *rows)
{
    Buf      buf = buf_new(world->arena, 0);
    Err      err = ERR_INIT;
    RowBlock block;

    do {
        assert_ok(row_stream_next(rows, &block, &err), &err);
        append_rows(world->arena, &block, &buf);
    } while (block.row_count > 0);
    row_stream_close(rows);
    return buf_str(&buf);
}

/* The query with scans in place of {path}; false when a table is not there. */
static bool put_scans(World *world, Str sql, Str *out)
{
    Buf buf = buf_new(world->arena, 0);

    for (size_t i = 0; i < sql.len; i++) {
        DeltaTable *table = NULL;
        Err         err   = ERR_INIT;
        size_t      end   = i;
        Str         scan;

        if (sql.ptr[i] != '{') {
            buf_append_char(&buf, sql.ptr[i]);
            continue;
        }
        while (sql.ptr[end] != '}')
            end++;
        if (!delta_table_open(&world->delta, str_slice(sql, i + 1, end), &table, &err)) {
            assert_err(&err, ERR_NOT_FOUND, "");
            return false;
        }
        assert_ok(delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &scan, &err), &err);
        buf_append(&buf, scan);
        delta_table_close(table);
        i = end;
    }
    *out = buf_str(&buf);
    return true;
}

Str world_rows(World *world, const char *fmt, ...)
{
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    Err          err     = ERR_INIT;
    va_list      args;
    Str          sql, text;

    va_start(args, fmt);
    sql = format_text(world->arena, fmt, args);
    va_end(args);
    if (!put_scans(world, sql, &sql)) return STR("no table\n");
    assert_ok(duck_session_open(world->duck, &session, &err), &err);
    assert_ok(duck_query(session, sql, world->arena, &rows, &err), &err);
    text = drain_rows(world, rows);
    duck_session_close(session);
    return text;
}

Str world_source_rows(World *world, const char *fmt, ...)
{
    SqlQuery   query  = {0};
    SqlResult *result = NULL;
    Err        err    = ERR_INIT;
    va_list    args;

    va_start(args, fmt);
    query.text = format_text(world->arena, fmt, args);
    va_end(args);
    assert_ok(sqlconn_query(world->admin, &query, &result, &err), &err);
    return drain_rows(world, &result->stream);
}

int64_t world_version(World *world, const char *path)
{
    DeltaTable *table = NULL;
    Err         err   = ERR_INIT;
    int64_t     version;

    if (!delta_table_open(&world->delta, str_from_c(path), &table, &err)) {
        assert_err(&err, ERR_NOT_FOUND, "");
        return -1;
    }
    version = delta_table_get_version(table);
    delta_table_close(table);
    return version;
}

/* --- what must always hold --- */

static int compare_strs(const void *left, const void *right)
{
    const Str *a = left, *b = right;

    return str_compare(*a, *b);
}

/* The lines of a text in byte order: the two sides have other collations. */
static Str sort_lines(Arena *arena, Str text)
{
    LIST(Str) lines = {0};
    Buf buf         = buf_new(arena, 0);
    Str rest        = text, line;

    while (rest.len > 0 && str_split_next(&rest, '\n', &line))
        if (line.len) *LIST_PUSH(arena, &lines) = line;
    if (lines.count) qsort(lines.items, lines.count, sizeof(Str), compare_strs);
    for (size_t i = 0; i < lines.count; i++)
        buf_printf(&buf, "%.*s\n", STR_ARG(lines.items[i]));
    return buf_str(&buf);
}

static void assert_same_lines(World *world, Str got, Str want, const char *what)
{
    got  = sort_lines(world->arena, got);
    want = sort_lines(world->arena, want);
    if (str_equal(got, want)) return;
    fail_msg("%s differ, seed %llu\nwant\n%.*s got\n%.*s", what, (unsigned long long)world->seed,
             STR_ARG(want), STR_ARG(got));
}

void assert_silver_is_source(World *world, const char *table, const char *columns)
{
    assert_same_lines(world, world_rows(world, "SELECT %s FROM {" SILVER "}", columns),
                      world_source_rows(world, "SELECT %s FROM dbo.%s", columns, table),
                      "silver and source");
}

void assert_bronze_is_complete(World *world, const char *name, Lsn start)
{
    Str got  = world_rows(world, "SELECT _start_lsn, _seqval, _operation FROM {" BRONZE "} WHERE "
                                  "_operation <> 0");
    Str want = world_source_rows(
        world,
        "SELECT CONVERT(varchar(22), [__$start_lsn], 1), CONVERT(varchar(22), [__$seqval], 1), "
        "[__$operation] FROM cdc.dbo_%s_CT WHERE [__$start_lsn] > CONVERT(binary(10), '%s', 1)",
        name, lsn_format(start).text);

    if (str_equal_c(got, "no table\n")) got = STR_EMPTY;
    assert_same_lines(world, got, want, "changes in bronze and at the source");
}

void assert_facts_once(World *world)
{
    if (world_version(world, FACTS) < 0) return;
    assert_rows(world, "",
                "SELECT app_id, batch_id, count(*) FROM {" FACTS "} WHERE event IS NULL GROUP BY "
                "ALL HAVING count(*) > 1");
    assert_rows(world, "",
                "SELECT app_id, event, count(*) FROM {" FACTS "} WHERE event = 'bootstrap' GROUP "
                "BY ALL HAVING count(*) > 1");
    if (world_version(world, BRONZE) < 0) return;
    assert_rows(world, "",
                "SELECT f.batch_id, f.\"rows\", b.n FROM (SELECT * FROM {" FACTS "} WHERE event IS "
                "NULL) f FULL JOIN (SELECT _batch_id, count(*) AS n FROM {" BRONZE "} WHERE "
                "_operation <> 0 GROUP BY 1) b ON f.batch_id = b._batch_id WHERE f.\"rows\" IS "
                "DISTINCT FROM coalesce(b.n, 0)");
}

static void assert_log_readable(World *world, const char *path)
{
    int64_t newest = world_version(world, path);

    for (int64_t version = 0; version <= newest; version++) {
        DeltaTable      *table = NULL;
        Err              err   = ERR_INIT;
        const DeltaFile *file;

        assert_ok(delta_table_open_version(&world->delta, str_from_c(path), version, &table, &err),
                  &err);
        for (size_t at = 0; delta_table_next_file(table, &at, &file);) {
            StoreEntry entry;
            Str        full = store_join(world->arena, str_from_c(path), file->path);
            assert_ok(store_stat(world->store, full, &entry, &err), &err);
            assert_int_equal(entry.size_bytes, file->size_bytes);
        }
        delta_table_close(table);
    }
}

void assert_logs_readable(World *world)
{
    for (size_t i = 0; i < COUNT_OF(lake_paths); i++)
        assert_log_readable(world, lake_paths[i]);
}
