/* test_load.c - a database loaded from a folder shows what the folder's files say: by the queries of a stream, with later
 * commits above. The folder of this directory always; every folder, or archive of one, in TIDESIM_CASES when it is set. */
#include "sim/capture/load.h"
#include "sim/sim.h"
#include "support/test_support.h"

#include <dirent.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/list.h"

extern char **environ;

/* --- a server, and answers as text --- */

typedef struct Row {
    Str   *values; /* ptr NULL: NULL */
    size_t count;
} Row;

typedef struct Harbour {
    SimSink     sink; /* first: callbacks find it */
    Arena      *arena;
    Clock      *clock;
    Sched      *sched;
    Rng        *rng;
    SimServer  *server;
    SimSession *session;
    LIST(Row) rows;
    Str error;
} Harbour;

static bool on_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    Harbour *harbour = (Harbour *)sink;

    (void)columns;
    (void)count;
    harbour->rows.count = 0;
    return true;
}

static Str value_as_text(Arena *arena, const SimValue *value)
{
    SimType  type  = sim_type_sized(SIM_NVARCHAR, -1);
    SimError error = SIM_ERROR_INIT;
    SimValue text;

    if (value->is_null) return (Str){NULL, 0};
    if (sim_type_is_binary(value->type.kind)) return hex_encode(arena, value->bytes, true);
    if (value->type.kind == SIM_FLOAT || value->type.kind == SIM_REAL)
        return str_printf(arena, "%.17g", value->f64);
    assert_true(sim_convert(value, &type, sim_type_is_time(value->type.kind) ? 121 : 0, false,
                            arena, &text, &error));
    return sim_value_text(arena, &text);
}

static bool on_row(SimSink *sink, const SimValue *values, size_t count)
{
    Harbour *harbour = (Harbour *)sink;
    Row     *row     = LIST_PUSH(harbour->arena, &harbour->rows);

    *row = (Row){.values = ARENA_ARRAY(harbour->arena, Str, count + 1), .count = count};
    for (size_t i = 0; i < count; i++) {
        Str text       = value_as_text(harbour->arena, &values[i]);
        row->values[i] = text.ptr == NULL ? text : str_copy(harbour->arena, text);
    }
    return true;
}

static bool on_message(SimSink *sink, const SimError *message)
{
    Harbour *harbour = (Harbour *)sink;

    if (message->severity > 10 && harbour->error.len == 0)
        harbour->error = str_printf(harbour->arena, "%d: %s", message->number, message->message);
    return true;
}

static bool on_done(SimSink *sink, const SimDone *done)
{
    (void)sink;
    (void)done;
    return true;
}

static bool on_env(SimSink *sink, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    (void)sink;
    (void)kind;
    (void)new_value;
    (void)old_value;
    return true;
}

static bool on_status(SimSink *sink, int32_t status)
{
    (void)sink;
    (void)status;
    return true;
}

static bool on_value(SimSink *sink, Str name, const SimValue *value)
{
    (void)sink;
    (void)name;
    (void)value;
    return true;
}

static void run(Harbour *harbour, const char *sql)
{
    harbour->error      = STR_EMPTY;
    harbour->rows.count = 0;
    assert_true(sim_session_batch(harbour->session, str_from_c(sql), &harbour->sink));
}

static void run_well(Harbour *harbour, const char *sql)
{
    run(harbour, sql);
    if (harbour->error.len > 0) print_error("%s\n%.*s\n", sql, STR_ARG(harbour->error));
    assert_int_equal(harbour->error.len, 0);
}

static Harbour *harbour_open(void)
{
    Arena   *arena   = arena_new();
    Harbour *harbour = ARENA_NEW(arena, Harbour);
    SimError error   = SIM_ERROR_INIT;

    *harbour           = (Harbour){.sink  = {.columns       = on_columns,
                                             .row           = on_row,
                                             .message       = on_message,
                                             .done          = on_done,
                                             .env_change    = on_env,
                                             .return_status = on_status,
                                             .return_value  = on_value},
                                   .arena = arena,
                                   .clock = clock_new_real(),
                                   .sched = sched_new_real(),
                                   .rng   = rng_new(5)};
    SimOptions options = {.clock               = harbour->clock,
                          .sched               = harbour->sched,
                          .rng                 = harbour->rng,
                          .capture_interval_ms = -1,
                          .login               = STR("sa"),
                          .password            = STR("secret")};
    assert_true(sim_server_open(&options, &harbour->server, &error));
    SimLoginRequest login = {.user = STR("sa"), .password = STR("secret"), .odbc = true};
    assert_true(sim_session_open(harbour->server, &login, &harbour->session, &error));
    run_well(harbour, "CREATE DATABASE harbour");
    run_well(harbour, "USE harbour");
    return harbour;
}

static void harbour_close(Harbour *harbour)
{
    sim_session_close(harbour->session);
    sim_server_close(harbour->server);
    rng_close(harbour->rng);
    sched_close(harbour->sched);
    clock_close(harbour->clock);
    arena_close(harbour->arena);
}

static Str cell(const Harbour *harbour, size_t row, size_t column)
{
    assert_true(row < harbour->rows.count && column < harbour->rows.items[row].count);
    return harbour->rows.items[row].values[column];
}

static void assert_cell(const Harbour *harbour, size_t row, size_t column, Str want)
{
    Str got = cell(harbour, row, column);

    if ((got.ptr == NULL) == (want.ptr == NULL) && str_equal(got, want)) return;
    print_error("row %zu, column %zu: want %.*s, got %.*s\n", row, column,
                want.ptr == NULL ? 4 : (int)want.len, want.ptr == NULL ? "NULL" : want.ptr,
                got.ptr == NULL ? 4 : (int)got.len, got.ptr == NULL ? "NULL" : got.ptr);
    fail();
}

/* --- what the files say --- */

static Str json_str(const json_t *value)
{
    return json_is_string(value) ? (Str){json_string_value(value), json_string_length(value)}
                                 : (Str){NULL, 0};
}

static json_t *read_json(Harbour *harbour, const char *folder, const char *file)
{
    return json_load_file(str_c(harbour->arena, str_printf(harbour->arena, "%s/%s", folder, file)),
                          JSON_ALLOW_NUL, NULL);
}

/* JSON Lines: an array, empty without the file. */
static json_t *read_lines(Harbour *harbour, const char *folder, Str file)
{
    FILE *stream = fopen(
        str_c(harbour->arena, str_printf(harbour->arena, "%s/%.*s", folder, STR_ARG(file))), "rb");
    json_t *lines = json_array();

    while (stream != NULL) {
        json_t *line = json_loadf(stream, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, NULL);
        if (line == NULL) break;
        assert_int_equal(json_array_append_new(lines, line), 0);
    }
    if (stream != NULL) (void)fclose(stream);
    return lines;
}

static Str wanted_text(Arena *arena, const json_t *value, Str type)
{
    Str text = json_str(value);

    if (value == NULL || json_is_null(value)) return (Str){NULL, 0};
    if (json_is_boolean(value)) return json_is_true(value) ? STR("1") : STR("0");
    if (json_is_integer(value))
        return str_printf(arena, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value) && str_equal_c(type, "FLOAT"))
        return str_printf(arena, "%.17g", (double)(float)json_real_value(value));
    if (json_is_real(value)) return str_printf(arena, "%.17g", json_real_value(value));
    if (str_equal_c(type, "BINARY")) return hex_encode(arena, str_bytes(text), true);
    if (!str_equal_c(type, "TIMESTAMP_NTZ")) return text;
    return str_printf(arena, "%.*s %.*s", STR_ARG(str_slice(text, 0, 10)),
                      STR_ARG(str_slice(text, 11, text.len)));
}

static void append_columns(Buf *sql, const json_t *columns, const char *alias)
{
    for (size_t i = 0; i < json_array_size(columns); i++)
        buf_printf(sql, ", %s[%s]", alias,
                   json_string_value(json_array_get(json_array_get(columns, i), 0)));
}

static void assert_values(const Harbour *harbour, size_t row, size_t first, const json_t *columns,
                          const json_t *values)
{
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *pair = json_array_get(columns, i);
        assert_cell(harbour, row, first + i,
                    wanted_text(harbour->arena,
                                json_object_get(values, json_string_value(json_array_get(pair, 0))),
                                json_str(json_array_get(pair, 1))));
    }
}

/* The commit time of the mapping, with a blank for the T. */
static Str commit_time(Harbour *harbour, const json_t *mapping, Str lsn)
{
    for (size_t i = 0; i < json_array_size(mapping); i++) {
        const json_t *line = json_array_get(mapping, i);
        if (str_equal(json_str(json_object_get(line, "start_lsn")), lsn))
            return wanted_text(harbour->arena, json_object_get(line, "tran_end_time"),
                               STR("TIMESTAMP_NTZ"));
    }
    fail();
    return STR_EMPTY;
}

static Str upper_hex(Arena *arena, Str lsn)
{
    return str_printf(arena, "%.*s", STR_ARG(str_slice(lsn, 2, lsn.len)));
}

/* Q16 */
static void check_changes(Harbour *harbour, const char *folder, const char *name,
                          const json_t *columns, const json_t *mapping)
{
    Buf     sql   = buf_new(harbour->arena, 0);
    json_t *lines = read_lines(harbour, folder,
                               str_printf(harbour->arena, "changes/%s.jsonl", name));

    buf_printf(&sql, "SELECT c.[__$start_lsn], c.[__$seqval], c.[__$operation], c.[__$command_id], "
                     "m.tran_end_time");
    append_columns(&sql, columns, "c.");
    buf_printf(&sql,
               " FROM cdc.[%s_CT] AS c INNER JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = "
               "c.[__$start_lsn] ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], "
               "c.[__$operation]",
               name);
    run_well(harbour, str_c(harbour->arena, buf_str(&sql)));
    assert_int_equal(harbour->rows.count, json_array_size(lines));
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        Str           lsn  = json_str(json_object_get(line, "start_lsn"));
        assert_cell(harbour, i, 0, upper_hex(harbour->arena, lsn));
        assert_cell(harbour, i, 1,
                    upper_hex(harbour->arena, json_str(json_object_get(line, "seqval"))));
        assert_cell(harbour, i, 2,
                    wanted_text(harbour->arena, json_object_get(line, "operation"), STR_EMPTY));
        assert_cell(harbour, i, 3,
                    wanted_text(harbour->arena, json_object_get(line, "command_id"), STR_EMPTY));
        assert_cell(harbour, i, 4, commit_time(harbour, mapping, lsn));
        assert_values(harbour, i, 5, columns, json_object_get(line, "row"));
    }
    json_decref(lines);
}

/* Q07, Q19, Q20, Q21 */
static void check_instance(Harbour *harbour, const char *folder, const char *name,
                           const json_t *instance, Str min_lsn)
{
    Arena        *arena   = harbour->arena;
    const json_t *columns = json_object_get(instance, "columns");
    const char   *table   = json_string_value(json_object_get(instance, "table"));
    const char   *cut     = strchr(table, '_');
    json_t       *ddl     = read_lines(harbour, folder, str_printf(arena, "ddl/%s.jsonl", name));

    run_well(harbour, str_c(arena, str_printf(arena, "SELECT sys.fn_cdc_get_min_lsn('%s')", name)));
    assert_cell(harbour, 0, 0, upper_hex(arena, min_lsn));
    run_well(harbour,
             str_c(arena, str_printf(arena,
                                     "EXEC sys.sp_cdc_help_change_data_capture @source_schema = "
                                     "N'%.*s', @source_name = N'%s'",
                                     (int)(cut - table), table, cut + 1)));
    bool found = false;
    for (size_t i = 0; i < harbour->rows.count; i++) {
        if (!str_equal_c(cell(harbour, i, 2), name)) continue;
        found = true;
        assert_cell(harbour, i, 5, upper_hex(arena, min_lsn));
    }
    assert_true(found);
    run_well(harbour,
             str_c(arena, str_printf(arena, "EXEC sys.sp_cdc_get_captured_columns '%s'", name)));
    assert_int_equal(harbour->rows.count, json_array_size(columns));
    for (size_t i = 0; i < json_array_size(columns); i++)
        assert_cell(harbour, i, 3, json_str(json_array_get(json_array_get(columns, i), 0)));
    run_well(harbour,
             str_c(arena, str_printf(arena, "EXEC sys.sp_cdc_get_ddl_history '%s'", name)));
    assert_int_equal(harbour->rows.count, json_array_size(ddl));
    for (size_t i = 0; i < json_array_size(ddl); i++) {
        const json_t *line = json_array_get(ddl, i);
        assert_cell(harbour, i, 4, json_str(json_object_get(line, "command")));
        assert_cell(harbour, i, 5, upper_hex(arena, json_str(json_object_get(line, "lsn"))));
    }
    json_decref(ddl);
}

static void check_mapping(Harbour *harbour, const json_t *mapping)
{
    run_well(harbour,
             "SELECT start_lsn, tran_end_time FROM cdc.lsn_time_mapping ORDER BY start_lsn");
    assert_int_equal(harbour->rows.count, json_array_size(mapping));
    for (size_t i = 0; i < json_array_size(mapping); i++) {
        Str lsn = json_str(json_object_get(json_array_get(mapping, i), "start_lsn"));
        assert_cell(harbour, i, 0, upper_hex(harbour->arena, lsn));
        assert_cell(harbour, i, 1, commit_time(harbour, mapping, lsn));
    }
    run_well(harbour, "SELECT sys.fn_cdc_get_max_lsn()");
    assert_cell(harbour, 0, 0,
                upper_hex(harbour->arena, json_str(json_object_get(
                                              json_array_get(mapping, json_array_size(mapping) - 1),
                                              "start_lsn"))));
}

static size_t count_matches(const Harbour *harbour, const json_t *columns, const json_t *values)
{
    size_t matches = 0;

    for (size_t row = 0; row < harbour->rows.count; row++) {
        bool same = true;
        for (size_t i = 0; i < json_array_size(columns); i++) {
            const json_t *pair = json_array_get(columns, i);
            Str           want = wanted_text(
                          harbour->arena, json_object_get(values, json_string_value(json_array_get(pair, 0))),
                          json_str(json_array_get(pair, 1)));
            Str got = cell(harbour, row, i + 1);
            same &= (want.ptr == NULL) == (got.ptr == NULL) && str_equal(want, got);
        }
        matches += same;
    }
    return matches;
}

/* Every row of the file is in the table, and no other. */
static void check_rows(Harbour *harbour, const char *folder, const char *table,
                       const json_t *columns)
{
    Arena      *arena = harbour->arena;
    Buf         sql   = buf_new(arena, 0);
    const char *cut   = strchr(table, '_');
    json_t     *rows  = read_json(harbour, folder,
                                  str_c(arena, str_printf(arena, "tables/%s.json", table)));
    const char *key;
    json_t     *row;

    buf_printf(&sql, "SELECT 1");
    append_columns(&sql, columns, "");
    buf_printf(&sql, " FROM [%.*s].[%s]", (int)(cut - table), table, cut + 1);
    run_well(harbour, str_c(arena, buf_str(&sql)));
    assert_int_equal(harbour->rows.count, json_object_size(rows));
    json_object_foreach(rows, key, row) assert_true(count_matches(harbour, columns, row) > 0);
    json_decref(rows);
}

/* A commit after loading is captured by what captures the table, above all that was loaded. */
static void check_going_on(Harbour *harbour, const char *table, const char *name)
{
    Arena      *arena = harbour->arena;
    const char *cut   = strchr(table, '_');

    run_well(harbour, "SELECT sys.fn_cdc_get_max_lsn()");
    Str before = cell(harbour, 0, 0);
    run_well(harbour, str_c(arena, str_printf(arena, "DELETE TOP (1) FROM [%.*s].[%s]",
                                              (int)(cut - table), table, cut + 1)));
    run_well(harbour, "EXEC tidesim.scan_now");
    run_well(harbour,
             str_c(arena, str_printf(arena,
                                     "SELECT MAX(c.[__$start_lsn]), MIN(c.[__$seqval]) FROM "
                                     "cdc.[%s_CT] AS c WHERE c.[__$start_lsn] > 0x%.*s",
                                     name, STR_ARG(before))));
    Str lsn = cell(harbour, 0, 0), seqval = cell(harbour, 0, 1);
    assert_true(str_compare(lsn, before) > 0);
    assert_true(str_compare(seqval, before) > 0 && str_compare(seqval, lsn) < 0);
    run_well(harbour, "SELECT sys.fn_cdc_get_max_lsn()");
    assert_cell(harbour, 0, 0, lsn);
}

static void check_folder(const char *folder)
{
    Harbour    *harbour = harbour_open();
    Arena      *arena   = harbour->arena;
    SimError    error   = SIM_ERROR_INIT;
    const char *name;
    json_t     *instance;

    if (!sim_load_folder(sim_server_find_database(harbour->server, STR("harbour")),
                         str_from_c(folder), &error)) {
        print_error("%s: %s\n", folder, error.message);
        fail();
    }
    json_t *instances = read_json(harbour, folder, "instances.json");
    json_t *min_lsn   = read_json(harbour, folder, "min_lsn.json");
    json_t *mapping   = read_lines(harbour, folder, STR("lsn_time_mapping.jsonl"));
    assert_true(json_object_size(instances) > 0 && json_array_size(mapping) > 0);
    check_mapping(harbour, mapping);
    json_object_foreach(instances, name, instance)
    {
        const json_t *columns = json_object_get(instance, "columns");
        check_instance(harbour, folder, name, instance, json_str(json_object_get(min_lsn, name)));
        check_changes(harbour, folder, name, columns, mapping);
    }
    json_object_foreach(instances, name, instance)
    {
        const char *table = json_string_value(json_object_get(instance, "table"));
        run_well(
            harbour,
            str_c(arena,
                  str_printf(arena, "EXEC sys.sp_cdc_help_change_data_capture N'%.*s', N'%s'",
                             (int)(strchr(table, '_') - table), table, strchr(table, '_') + 1)));
        Str newest = cell(harbour, harbour->rows.count - 1, 2);
        if (!str_equal_c(newest, name)) continue; /* the newest has the table's columns */
        check_rows(harbour, folder, table, json_object_get(instance, "columns"));
        check_going_on(harbour, table, name);
    }
    json_decref(instances);
    json_decref(min_lsn);
    json_decref(mapping);
    harbour_close(harbour);
}

/* --- tests --- */

static const char *own_folder(Arena *arena)
{
    const char *root = getenv("TIDELAKE_SOURCE_ROOT");
    return str_c(arena, str_printf(arena, "%s/tests/unit/sim/source", root != NULL ? root : "."));
}

static void a_loaded_folder_shows_what_its_files_say(void **state)
{
    Arena *arena = arena_new();
    (void)state;

    check_folder(own_folder(arena));
    arena_close(arena);
}

static void what_is_not_in_files_follows_from_them(void **state)
{
    Harbour *harbour = harbour_open();
    (void)state;

    run_well(harbour, str_c(harbour->arena, str_printf(harbour->arena, "EXEC tidesim.load N'%s'",
                                                       own_folder(harbour->arena))));
    /* an entry that no transaction stands behind is an idle one */
    run_well(harbour, "SELECT start_lsn FROM cdc.lsn_time_mapping WHERE tran_id = 0x00");
    assert_int_equal(harbour->rows.count, 1);
    assert_cell(harbour, 0, 0, STR("0000003C000FFFFF0061"));
    /* instances come in the order of their creation, the key is the table's */
    run_well(harbour, "EXEC sys.sp_cdc_help_change_data_capture N'dbo', N'berth'");
    assert_int_equal(harbour->rows.count, 2);
    assert_cell(harbour, 0, 2, STR("dbo_berth"));
    assert_cell(harbour, 1, 2, STR("dbo_berth_2"));
    assert_cell(harbour, 1, 12, STR("2030-05-01 09:03:00.250"));
    assert_cell(harbour, 1, 13, STR("[pier], [no]"));
    /* the dropped column is gone from the table and NULL in what comes */
    run(harbour, "SELECT old_name FROM dbo.berth");
    assert_true(str_starts_with(harbour->error, STR("207:")));
    run_well(harbour, "DELETE FROM dbo.berth WHERE pier = N'A'; EXEC tidesim.scan_now");
    run_well(harbour,
             "SELECT TOP (1) old_name, no FROM cdc.dbo_berth_CT ORDER BY [__$start_lsn] DESC");
    assert_cell(harbour, 0, 0, (Str){NULL, 0});
    assert_cell(harbour, 0, 1, STR("1"));
    /* the loaded LSNs end the largest block of their file of the log: the next one begins */
    run_well(harbour, "SELECT CONVERT(varchar(14), sys.fn_cdc_get_max_lsn(), 1)");
    assert_cell(harbour, 0, 0, STR("0x0000003D0000"));
    /* masks are those of the changed columns; ALTER COLUMN alone needs an update of columns */
    run_well(harbour, "SELECT [__$update_mask] FROM cdc.dbo_berth_CT WHERE [__$operation] = 4");
    assert_cell(harbour, 0, 0, STR("3C"));
    run_well(harbour, "EXEC sys.sp_cdc_get_ddl_history 'dbo_berth'");
    assert_cell(harbour, 0, 3, STR("0"));
    assert_cell(harbour, 0, 6, STR("2030-05-01 09:02:00.000"));
    /* times that are no ticks of a datetime stay what they are, and are found */
    run_well(harbour, "SELECT sys.fn_cdc_map_time_to_lsn('largest less than or equal', "
                      "'2030-05-01T09:02:01')");
    assert_cell(harbour, 0, 0, STR("0000003C000FFFFF0021"));
    harbour_close(harbour);
}

static void what_cannot_be_loaded_is_refused_with_its_file(void **state)
{
    Harbour *harbour = harbour_open();
    (void)state;

    run(harbour, "EXEC tidesim.load N'/nothing/here'");
    assert_str_is(harbour->error, "50000: /nothing/here/instances.json: the file cannot be opened");
    run(harbour, "EXEC tidesim.load");
    assert_str_is(harbour->error, "50000: load needs @folder.");
    run_well(harbour, "EXEC sys.sp_cdc_enable_db");
    run(harbour, str_c(harbour->arena, str_printf(harbour->arena, "EXEC tidesim.load N'%s'",
                                                  own_folder(harbour->arena))));
    assert_true(str_starts_with(harbour->error,
                                STR("50000: The database 'harbour' has change data capture")));
    harbour_close(harbour);
}

/* --- other people's folders --- */

static void run_program(const char *const *argv)
{
    pid_t pid    = 0;
    int   status = 0;

    union { /* posix_spawn does not change them */
        const char *const *ours;
        char *const       *theirs;
    } cast = {.ours = argv};
    assert_int_equal(posix_spawnp(&pid, argv[0], NULL, NULL, cast.theirs, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static size_t check_archive(Arena *arena, Str path, Str name)
{
    char        place[] = "/tmp/test_load_XXXXXX";
    const char *folder  = NULL;

    assert_non_null(mkdtemp(place));
    const char *unpack[] = {"tar", "-xzf", str_c(arena, path), "-C", place, NULL};
    const char *remove[] = {"rm", "-rf", place, NULL};
    run_program(unpack);
    folder = str_c(arena, str_printf(arena, "%s/%.*s/source", place, STR_ARG(name)));
    check_folder(folder);
    run_program(remove);
    return 1;
}

static void every_folder_of_the_cases_shows_what_its_files_say(void **state)
{
    const char    *root  = getenv("TIDESIM_CASES");
    DIR           *cases = root != NULL ? opendir(root) : NULL;
    Arena         *arena = arena_new();
    size_t         count = 0;
    struct dirent *entry;
    (void)state;

    assert_true((root == NULL) == (cases == NULL)); /* a folder that is named is there */
    while (cases != NULL && (entry = readdir(cases)) != NULL) {
        Str name = str_copy(arena, str_from_c(entry->d_name));
        Str path = str_printf(arena, "%s/%.*s", root, STR_ARG(name));
        if (str_ends_with(name, STR(".tar.gz"))) {
            count += check_archive(arena, path, str_slice(name, 0, name.len - 7));
            continue;
        }
        struct stat about;
        const char *folder = str_c(arena, str_printf(arena, "%.*s/source", STR_ARG(path)));
        if (stat(folder, &about) != 0) continue;
        check_folder(folder);
        count++;
    }
    if (cases != NULL) {
        (void)closedir(cases);
        assert_true(count > 0);
    }
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_folder_shows_what_its_files_say),
        cmocka_unit_test(what_is_not_in_files_follows_from_them),
        cmocka_unit_test(what_cannot_be_loaded_is_refused_with_its_file),
        cmocka_unit_test(every_folder_of_the_cases_shows_what_its_files_say),
    };
    return RUN_TESTS(tests);
}
