/* queries_world.c - starting and stopping tidesim, scripts, rows as text. */
#include "e2e/queries_world.h"

#include "base/list.h"

#include <glob.h>

#define PASSWORD "Tide.Sim.1"

const char *world_microsoft_driver(Arena *arena)
{
    static const char *const patterns[] = {"build*/py/lib/python3*/site-packages/mssql_python_odbc/"
                                           "libs/linux/debian_ubuntu/x86_64/lib/libmsodbcsql-*.so*",
                                           "/opt/microsoft/msodbcsql18/lib64/libmsodbcsql-*.so*"};
    const char              *named      = getenv("TIDELAKE_MICROSOFT_ODBC");
    glob_t                   found;
    const char              *path = NULL;

    if (named && named[0]) return named;
    for (size_t i = 0; i < COUNT_OF(patterns) && !path; i++) {
        if (glob(patterns[i], 0, NULL, &found) == 0 && found.gl_pathc > 0)
            path = str_c(arena, str_from_c(found.gl_pathv[0]));
        globfree(&found);
    }
    return path;
}

/* --- the server --- */

static void read_ready_line(World *world, int fd)
{
    char        line[256];
    size_t      len  = 0;
    const char *word = "tidesim ready 127.0.0.1:";

    while (len + 1 < sizeof(line) && read(fd, line + len, 1) == 1 && line[len] != '\n')
        len++;
    line[len] = 0;
    if (strncmp(line, word, strlen(word)) != 0) fail_msg("tidesim said: %s", line);
    world->port = str_copy(world->arena, str_from_c(line + strlen(word)));
}

static void start_server(World *world)
{
    const char *root    = getenv("TIDELAKE_BUILD_ROOT");
    const char *program = str_c(world->arena,
                                str_printf(world->arena, "%s/tidesim", root ? root : "build"));
    int         fds[2];

    if (pipe(fds) != 0) fail_msg("no pipe");
    world->server = fork();
    if (world->server == 0) {
        (void)dup2(fds[1], STDOUT_FILENO);
        (void)close(fds[0]);
        (void)close(fds[1]);
        (void)execl(program, program, "serve", "--listen", "127.0.0.1:0", "--database", "shop",
                    "--time-zone", "Eastern Standard Time", "--clock", "virtual",
                    "--capture-interval", "manual", "--idle-entry", "24h", "--seed", "7",
                    "--log-level", "error", (char *)NULL);
        _exit(127);
    }
    (void)close(fds[1]);
    read_ready_line(world, fds[0]);
    (void)close(fds[0]);
}

/* --- scripts and rows --- */

Str world_connection(World *world, const char *user, const char *password, const char *database)
{
    return str_printf(world->arena,
                      "Driver=%.*s;Server=127.0.0.1,%.*s;Database=%s;UID=%s;PWD={%s};Encrypt=no",
                      STR_ARG(world->driver), STR_ARG(world->port), database, user, password);
}

void world_run(World *world, const char *sql)
{
    Err err = ERR_INIT;

    if (!sqlconn_execute(world->admin, str_from_c(sql), &err)) fail_msg("%s\n%s", sql, err.message);
}

static int compare_lines(const void *left, const void *right)
{
    return str_compare(*(const Str *)left, *(const Str *)right);
}

bool world_rows(World *world, RowStream *stream, bool sorted, Str *out)
{
    RowBlock block;
    LIST(Str) lines = {0};
    bool ok;

    while ((ok = row_stream_next(stream, &block, &world->err)) && block.row_count > 0)
        for (size_t row = 0; row < block.row_count; row++) {
            Buf buf = buf_new(world->arena, 0);
            for (size_t c = 0; c < block.column_count; c++) {
                if (c > 0) buf_append_char(&buf, '|');
                bool is_null = column_is_null(&block.columns[c], row);
                buf_append(&buf, is_null ? STR("NULL")
                                         : column_format(world->arena, &block.columns[c], row));
            }
            *LIST_PUSH(world->arena, &lines) = buf_str(&buf);
        }
    if (sorted && lines.count > 1) qsort(lines.items, lines.count, sizeof(Str), compare_lines);
    Buf all = buf_new(world->arena, 0);
    for (size_t i = 0; i < lines.count; i++) {
        buf_append(&all, lines.items[i]);
        buf_append_char(&all, '\n');
    }
    *out = buf_str(&all);
    return ok;
}

Str world_query(World *world, const char *sql)
{
    SqlQuery   query = {.text = str_from_c(sql)};
    SqlResult *result;
    Str        text = STR_EMPTY;

    assert_ok(sqlconn_query(world->admin, &query, &result, &world->err), &world->err);
    assert_ok(world_rows(world, &result->stream, false, &text), &world->err);
    sqlresult_close(result);
    return text;
}

/* --- the world --- */

static void keep_line(void *arg, LogLevel level, Str line)
{
    World *world = arg;

    (void)level;
    buf_append(&world->log_text, line);
    buf_append_char(&world->log_text, '\n');
}

static void create_tables(World *world)
{
    world_run(world, "EXEC tidesim.clock_set '2026-06-15T16:00:00'");
    world_run(world, "EXEC sys.sp_cdc_enable_db");
    world_run(world, "EXEC tidesim.capture_mode 'shop', 'manual'");
    world_run(world,
              "CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, code varchar(16) NULL, note "
              "nvarchar(50) NULL, price decimal(10,2) NULL, wide decimal(38,10) NULL, "
              "ratio float NULL, small real NULL, flag bit NULL, tiny tinyint NULL, short smallint "
              "NULL, big bigint NULL, day date NULL, at datetime NULL, "
              "at2 datetime2(7) NULL, g uniqueidentifier NULL, bin varbinary(20) NULL, fixbin "
              "binary(4) NULL, fixed char(4) NULL, nfixed nchar(4) NULL, cash money NULL)");
    world_run(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                     "N'orders', @role_name = NULL");
    world_run(world, "CREATE TABLE dbo.[odd]]name] (a int NOT NULL, b varchar(9) NOT NULL, c "
                     "nvarchar(9) NULL, CONSTRAINT pk_odd PRIMARY KEY (a, b))");
    world_run(world, "INSERT INTO dbo.[odd]]name] SELECT value % 7, CONCAT('k', value), IIF(value "
                     "% 3 = 0, NULL, CONCAT(N'n', value % 5)) FROM GENERATE_SERIES(1, 60)");
    world_run(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                     "N'odd]name', @capture_instance = N'odd', @role_name = NULL");
}

World *world_open(const char *driver)
{
    World *world = mem_alloc(sizeof(*world));

    world->arena    = arena_new();
    world->driver   = str_from_c(driver);
    world->clock    = clock_new_real();
    world->rng      = rng_new(7);
    world->cancel   = cancel_new();
    world->log_text = buf_new(world->arena, 0);
    world->log      = log_new(world->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_line, world);
    start_server(world);
    assert_ok(sqldriver_odbc_open(world->log, world->cancel, STR("/tmp"), &world->sql, &world->err),
              &world->err);
    assert_ok(sqldriver_connect(world->sql, world_connection(world, "sa", PASSWORD, "shop"), 10,
                                &world->admin, &world->err),
              &world->err);
    create_tables(world);
    return world;
}

void world_close(World *world)
{
    mssql_close(world->mssql);
    sqlconn_close(world->admin);
    sqldriver_close(world->sql);
    (void)kill(world->server, SIGTERM);
    (void)waitpid(world->server, NULL, 0);
    log_close(world->log);
    cancel_close(world->cancel);
    rng_close(world->rng);
    clock_close(world->clock);
    arena_close(world->arena);
    mem_free(world);
}

MssqlOptions world_options(World *world)
{
    return (MssqlOptions){.driver             = world->sql,
                          .clock              = world->clock,
                          .rng                = world->rng,
                          .log                = world->log,
                          .cancel             = world->cancel,
                          .connection         = world_connection(world, "sa", PASSWORD, "shop"),
                          .time_zone          = STR("auto"),
                          .connect_timeout_s  = 10,
                          .lock_timeout_ms    = -1,
                          .include_command_id = true,
                          .name               = STR("dbo_orders")};
}

Mssql *world_mssql(World *world)
{
    MssqlOptions options = world_options(world);

    if (!world->mssql) assert_ok(mssql_open(&options, &world->mssql, &world->err), &world->err);
    return world->mssql;
}

/* --- questions of several tests --- */

Lsn world_max_lsn(World *world)
{
    Lsn  lsn;
    bool is_null;

    assert_ok(mssql_max_lsn(world_mssql(world), &lsn, &is_null, &world->err), &world->err);
    assert_false(is_null);
    return lsn;
}

void world_scan(World *world)
{
    world_run(world, "EXEC tidesim.scan_now 'shop'");
}

CaptureTable world_find(World *world, const char *name)
{
    CaptureTable table;

    assert_ok(
        mssql_find_table(world_mssql(world), str_from_c(name), world->arena, &table, &world->err),
        &world->err);
    return table;
}

Schema world_captured_schema(World *world, const CaptureInstance *instance)
{
    Column *columns = ARENA_ARRAY(world->arena, Column, instance->column_count + 1);
    size_t  count   = 0;

    for (size_t i = 0; i < instance->column_count; i++)
        if (instance->columns[i].has_type)
            columns[count++] = (Column){instance->columns[i].name, instance->columns[i].type,
                                        STR_EMPTY};
    return (Schema){columns, count};
}

static const TableCut uncut = {.column_count = 0};

/* The whole table as it is now. */
TableRead world_whole_table(World *world, const CaptureTable *table, const Schema *schema)
{
    Lsn now = world_max_lsn(world);

    return (TableRead){.table         = table,
                       .cut           = &uncut,
                       .columns       = schema,
                       .instance_name = STR("x"),
                       .stamp         = {.lsn = now},
                       .snapshot      = now};
}

Str world_read_part(World *world, const CaptureTable *table, const TableCut *cut,
                    const PartPlan *plan, size_t part, int64_t *rows)
{
    Schema     schema = world_captured_schema(world, &table->instances[0]);
    TableRead  read   = world_whole_table(world, table, &schema);
    RowStream *stream;
    Str        text = STR_EMPTY;

    read.cut = cut;
    read.lo  = part > 0 ? plan->bounds[part - 1] : NULL;
    read.hi  = part + 1 < plan->part_count ? plan->bounds[part] : NULL;
    assert_ok(mssql_read_table(world_mssql(world), &read, rows, &stream, &world->err), &world->err);
    assert_ok(world_rows(world, stream, true, &text), &world->err);
    row_stream_close(stream);
    return text;
}

/* --- with every driver there is --- */

/* A driver's world, opened by the first test that needs it. */
typedef struct Slot {
    const char *name, *driver; /* driver NULL: not installed */
    World      *world;
} Slot;

World *world_of(void **state)
{
    return ((Slot *)*state)->world;
}

static int open_slot(void **state)
{
    Slot *slot = *state;

    if (!slot->world) slot->world = world_open(slot->driver);
    err_clear(&slot->world->err);
    return 0;
}

int world_run_cases(const char *group, const struct CMUnitTest *cases, size_t case_count)
{
    Arena             *arena   = arena_new();
    Slot               slots[] = {{.name = "FreeTDS", .driver = "FreeTDS"},
                                  {.name = "Microsoft", .driver = world_microsoft_driver(arena)}};
    struct CMUnitTest *tests = ARENA_ARRAY(arena, struct CMUnitTest, COUNT_OF(slots) * case_count);
    size_t             count = 0;
    int                failed;

    for (size_t s = 0; s < COUNT_OF(slots); s++) {
        if (!slots[s].driver) /* the script that runs it makes a skipped case of this line */
            (void)printf("# %s: its driver is not installed (TIDELAKE_MICROSOFT_ODBC names it)\n",
                         slots[s].name);
        for (size_t i = 0; i < case_count && slots[s].driver; i++) {
            struct CMUnitTest *test = &tests[count++];

            *test      = cases[i];
            test->name = str_c(arena, str_printf(arena, "%s: %s", slots[s].name, cases[i].name));
            test->setup_func    = open_slot;
            test->initial_state = &slots[s];
        }
    }
    failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    for (size_t s = 0; s < COUNT_OF(slots); s++)
        if (slots[s].world) world_close(slots[s].world);
    arena_close(arena);
    return failed;
}
