/* duck.c - the two instances, their connections, and how one statement is run and stopped. */
#include "duck/duck_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- errors --- */

typedef struct SystemError {
    int         number;
    const char *text; /* as libduckdb quotes it */
} SystemError;

static int32_t find_errno(Str message)
{
    static const SystemError errors[] = {
        {ENOSPC, "No space left on device"},
        {EDQUOT, "Disk quota exceeded"},
        {EROFS, "Read-only file system"},
        {EACCES, "Permission denied"},
        {ENOENT, "No such file"},
        {ENOENT, "No files found that match"},
        {EMFILE, "Too many open files"},
        {EFBIG, "File too large"},
        {ENOTDIR, "Not a directory"},
        {EISDIR, "Is a directory"},
    };
    for (size_t i = 0; i < COUNT_OF(errors); i++)
        if (str_find(message, str_from_c(errors[i].text), 0) >= 0) return errors[i].number;
    return 0;
}

/* One line, without what may follow: an excerpt of the SQL text, advice about settings that are
 * ours, a stack. */
static void one_line(Str message, char *out, size_t size)
{
    static const char *const tails[] = {"\n\nLINE ", "\nPossible solutions", "\n\nStack Trace"};

    for (size_t i = 0; i < COUNT_OF(tails); i++) {
        ptrdiff_t tail = str_find(message, str_from_c(tails[i]), 0);
        if (tail >= 0) message = str_slice(message, 0, (size_t)tail);
    }
    message = str_trim(message);
    (void)snprintf(out, size, "%.*s", STR_ARG(message));
    for (char *at = out; *at != '\0'; at++)
        if (*at == '\n' || *at == '\r') *at = ' ';
}

bool duck_set_err(Err *err, const char *message)
{
    Str  text = str_from_c(message && *message ? message : "libduckdb gave no reason");
    char line[1000];

    one_line(text, line, sizeof(line));
    if (str_starts_with(text, STR("INTERRUPT")))
        return err_set(err, ERR_CANCELLED, "the query was stopped on request");
    if (str_starts_with(text, STR("Out of Memory Error")))
        return err_set(err, ERR_LIMIT, "libduckdb: %s; raise memory_limit", line);
    if (!str_starts_with(text, STR("IO Error")))
        return err_set(err, ERR_QUERY_ENGINE, "libduckdb: %s", line);
    err_set(err, ERR_STORE, "libduckdb: %s", line);
    err->native = find_errno(text);
    return false;
}

/* --- instances --- */

static void set_config(duckdb_config config, const char *name, const char *value)
{
    duckdb_state state = duckdb_set_config(config, name, value);
    assert(state == DuckDBSuccess); /* names and values are ours */
}

static void configure(const Duck *duck, InstanceKind kind, duckdb_config config)
{
    char text[32];

    set_config(config, "autoinstall_known_extensions", "false");
    set_config(config, "autoload_known_extensions", "false");
    set_config(config, "preserve_insertion_order", "false");
    set_config(config, "enable_external_file_cache",
               "false"); /* by path and time: a memfd's may recur */
    set_config(config, "temp_directory", duck->temp_directory);
    if (kind == INSTANCE_WRITER || duck->options.threads > 0) {
        (void)snprintf(text, sizeof(text), "%d",
                       kind == INSTANCE_WRITER ? 1 : duck->options.threads);
        set_config(config, "threads", text);
    }
    if (duck->options.memory_limit_bytes > 0) {
        int64_t share = duck->options.memory_limit_bytes / INSTANCE_COUNT;
        (void)snprintf(text, sizeof(text), "%lldB", (long long)share);
        set_config(config, "memory_limit", text);
    }
}

static bool set_up(Duck *duck, InstanceKind kind, duckdb_database database, Err *err)
{
    duckdb_connection connection = NULL;
    duckdb_result     result;

    if (duckdb_connect(database, &connection) != DuckDBSuccess)
        return err_set(err, ERR_QUERY_ENGINE, "libduckdb refused a connection");
    bool ok = duckdb_query(connection, "SET GLOBAL TimeZone = 'UTC'", &result) == DuckDBSuccess;
    if (!ok) duck_set_err(err, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    if (ok && kind == INSTANCE_WRITER) ok = duck_register_rows(connection, duck, err);
    if (ok && kind == INSTANCE_QUERY) ok = duck_register_row_filter(connection, duck, err);
    if (ok && kind == INSTANCE_QUERY) ok = duck_register_adds(connection, duck, err);
    duckdb_disconnect(&connection);
    return ok;
}

/* libduckdb makes the folder when it spills, but not those above it. What fails here is told by the
 * query that needs the folder. */
static void make_temp_parents(const Duck *duck)
{
    char *path = duck->temp_directory;
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (slash == path) continue;
        *slash = '\0';
        (void)mkdir(path, 0700); /* rows are spilled there */
        *slash = '/';
    }
}

static bool open_database(Duck *duck, InstanceKind kind, duckdb_database *out, Err *err)
{
    duckdb_config config  = NULL;
    char         *message = NULL;

    if (duckdb_create_config(&config) != DuckDBSuccess)
        return err_set(err, ERR_QUERY_ENGINE, "libduckdb made no configuration");
    configure(duck, kind, config);
    make_temp_parents(duck);
    bool ok = duckdb_open_ext(NULL, out, config, &message) == DuckDBSuccess;
    if (!ok) duck_set_err(err, message);
    duckdb_free(message);
    duckdb_destroy_config(&config);
    if (ok && !set_up(duck, kind, *out, err)) {
        duckdb_close(out);
        ok = false;
    }
    return ok;
}

/* A waker: runs on any thread. An idle connection forgets the interrupt when its next statement
 * starts. */
static void interrupt_all(void *arg)
{
    Duck *duck = arg;
    (void)pthread_mutex_lock(&duck->lock);
    for (Connection *at = duck->connections; at; at = at->next)
        duckdb_interrupt(at->raw);
    (void)pthread_mutex_unlock(&duck->lock);
}

bool duck_open(const DuckOptions *options, Duck **out, Err *err)
{
    Duck *duck   = mem_alloc(sizeof(Duck));
    Str   folder = options->temp_directory;

    duck->options        = *options;
    duck->temp_directory = mem_alloc(folder.len + 1);
    if (folder.len > 0) memcpy(duck->temp_directory, folder.ptr, folder.len);
    if (pthread_mutex_init(&duck->open_lock, NULL) != 0 ||
        pthread_mutex_init(&duck->lock, NULL) != 0 ||
        pthread_mutex_init(&duck->room_lock, NULL) != 0) {
        mem_free(duck->temp_directory);
        mem_free(duck);
        return err_set(err, ERR_INTERNAL, "a lock could not be made");
    }
    if (options->cancel)
        duck->cancel_handle = cancel_register(options->cancel, interrupt_all, duck);
    *out = duck;
    return true;
}

void duck_close(Duck *duck)
{
    if (!duck) return;
    duck_close_copies(duck);
    assert(!duck->connections);
    if (duck->options.cancel) cancel_unregister(duck->options.cancel, duck->cancel_handle);
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        duckdb_close(&duck->databases[i]);
    duck_forget_row_filters(duck);
    (void)pthread_mutex_destroy(&duck->open_lock);
    (void)pthread_mutex_destroy(&duck->lock);
    (void)pthread_mutex_destroy(&duck->room_lock);
    mem_free(duck->temp_directory);
    mem_free(duck);
}

const char *duck_version(void)
{
    return duckdb_library_version();
}

/* --- connections --- */

static bool get_database(Duck *duck, InstanceKind kind, duckdb_database *out, Err *err)
{
    (void)pthread_mutex_lock(&duck->open_lock);
    bool ok = duck->databases[kind] || open_database(duck, kind, &duck->databases[kind], err);
    *out    = duck->databases[kind];
    (void)pthread_mutex_unlock(&duck->open_lock);
    return ok;
}

bool duck_connect(Duck *duck, InstanceKind kind, Connection *connection, Err *err)
{
    duckdb_database database = NULL;

    *connection = (Connection){.duck = duck};
    if (!get_database(duck, kind, &database, err)) return false;
    if (duckdb_connect(database, &connection->raw) != DuckDBSuccess) {
        *connection = (Connection){0};
        return err_set(err, ERR_QUERY_ENGINE, "libduckdb refused a connection");
    }
    (void)pthread_mutex_lock(&duck->lock);
    connection->next = duck->connections;
    if (connection->next) connection->next->previous = connection;
    duck->connections = connection;
    (void)pthread_mutex_unlock(&duck->lock);
    return true;
}

void duck_disconnect(Connection *connection)
{
    Duck *duck = connection->duck;
    if (!connection->raw) return;
    (void)pthread_mutex_lock(&duck->lock);
    if (connection->next) connection->next->previous = connection->previous;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        duck->connections = connection->next;
    (void)pthread_mutex_unlock(&duck->lock);
    duckdb_disconnect(&connection->raw);
    *connection = (Connection){0};
}

/* --- statements --- */

bool duck_prepare_sql(Connection *connection, Str sql, duckdb_prepared_statement *out, Err *err)
{
    Arena *scratch = arena_new();
    bool   ok      = duckdb_prepare(connection->raw, str_c(scratch, sql), out) == DuckDBSuccess;

    if (!ok) {
        duck_set_err(err, duckdb_prepare_error(*out));
        duckdb_destroy_prepare(out);
    }
    arena_close(scratch);
    return ok;
}

/* A statement forgets earlier interrupts when it becomes pending, and only then. So the wish to
 * stop is looked at again after that, and no interrupt falls between (delta.md 5.13). What is
 * pending must be executed: dropped, it would keep its database from closing. */
bool duck_run_prepared(Connection *connection, duckdb_prepared_statement statement,
                       bool is_streaming, duckdb_result *out, Err *err)
{
    duckdb_pending_result pending = NULL;
    const Cancel         *cancel  = connection->duck->options.cancel;

    *out = (duckdb_result){0};
    if (cancel && !cancel_check(cancel, err)) return false;
    duckdb_state state = is_streaming ? duckdb_pending_prepared_streaming(statement, &pending)
                                      : duckdb_pending_prepared(statement, &pending);
    bool         ok    = state == DuckDBSuccess || duck_set_err(err, duckdb_pending_error(pending));
    if (ok && cancel && cancel_is_requested(cancel)) duckdb_interrupt(connection->raw);
    if (ok && duckdb_execute_pending(pending, out) != DuckDBSuccess)
        ok = duck_set_err(err, duckdb_result_error(out));
    duckdb_destroy_pending(&pending);
    return ok;
}

bool duck_run_sql(Connection *connection, Str sql, bool is_streaming, duckdb_result *out, Err *err)
{
    duckdb_prepared_statement statement = NULL;

    *out = (duckdb_result){0};
    if (!duck_prepare_sql(connection, sql, &statement, err)) return false;
    bool ok = duck_run_prepared(connection, statement, is_streaming, out, err);
    duckdb_destroy_prepare(&statement);
    return ok;
}

bool duck_fetch(duckdb_result *result, duckdb_data_chunk *out, Err *err)
{
    *out = duckdb_fetch_chunk(*result);
    if (*out && duckdb_data_chunk_get_size(*out) == 0) duckdb_destroy_data_chunk(out);
    if (*out) return true;
    const char *message = duckdb_result_error(result);
    return !message || !*message || duck_set_err(err, message);
}
