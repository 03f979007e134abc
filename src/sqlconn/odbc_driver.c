/* odbc_driver.c - unixODBC's environment, and connections made of the user's string
 * (sqlserver.md 1.1). */
#include "sqlconn/odbc_internal.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void odbc_driver_close(SqlDriver *base)
{
    OdbcDriver *driver = (OdbcDriver *)base;

    odbc_watch_stop(driver);
    if (driver->env) SQLFreeHandle(SQL_HANDLE_ENV, driver->env);
    if (driver->conf_path.len) unlink(str_c(driver->conf_arena, driver->conf_path));
    pthread_mutex_destroy(&driver->find_lock);
    pthread_mutex_destroy(&driver->lock);
    arena_close(driver->conf_arena);
    arena_close(driver->arena); /* the driver lives in it */
}

/* --- which driver --- */

typedef SQLRETURN (*ListDrivers)(SQLHENV, SQLUSMALLINT, SQLCHAR *, SQLSMALLINT, SQLSMALLINT *,
                                 SQLCHAR *, SQLSMALLINT, SQLSMALLINT *);

/* The library of a registered driver ("Driver=libtdsodbc.so" among its attributes), or the driver
 * of a data source. The environment keeps the place in the list, so one thread at a time. */
static Str find_registered(OdbcDriver *driver, ListDrivers list, Str name, Arena *arena)
{
    SQLCHAR     found[256], attributes[1024];
    SQLSMALLINT found_len = 0, attributes_len = 0;
    Str         out = STR_EMPTY;

    pthread_mutex_lock(&driver->lock);
    for (SQLUSMALLINT direction = SQL_FETCH_FIRST; out.len == 0; direction = SQL_FETCH_NEXT) {
        SQLRETURN rc = list(driver->env, direction, found, sizeof(found), &found_len, attributes,
                            sizeof(attributes), &attributes_len);
        if (!odbc_is_ok(rc)) break;
        if (!str_equal_ignoring_case(str_from_c((const char *)found), name)) continue;
        size_t len = attributes_len < 0 ? 0 : MIN((size_t)attributes_len, sizeof(attributes) - 1);
        for (size_t i = 0; i < len; i++)
            if (attributes[i] == 0) attributes[i] = ' '; /* a list of NUL-terminated pairs */
        out = str_copy(arena, (Str){(const char *)attributes, len});
        if (len == 0) break;
    }
    pthread_mutex_unlock(&driver->lock);
    return out;
}

static DriverFamily find_family(OdbcDriver *driver, const ConnectionString *connection,
                                Arena *arena)
{
    Str          name = connection_find(connection, "Driver");
    Str          dsn  = connection_find(connection, "DSN");
    DriverFamily family;

    if (name.len == 0 && dsn.len == 0) return DRIVER_OTHER;
    if (name.len == 0) name = find_registered(driver, SQLDataSources, dsn, arena);
    family = driver_family(name);
    if (family == DRIVER_OTHER && name.len)
        family = driver_family(find_registered(driver, SQLDrivers, name, arena));
    return family;
}

/* --- the private freetds.conf of verified connections --- */

static bool write_text(int fd, Str text)
{
    for (size_t at = 0; at < text.len;) {
        ssize_t n = write(fd, text.ptr + at, text.len - at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += (size_t)n;
    }
    return true;
}

static bool write_conf(OdbcDriver *driver, Str text, Arena *scratch, Err *err)
{
    const char *path = str_c(scratch, driver->conf_path);
    const char *temp = str_c(scratch, str_printf(scratch, "%.*s.new", STR_ARG(driver->conf_path)));
    int         fd   = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool        ok;

    if (fd < 0)
        return err_set_errno(err, ERR_STORE, errno,
                             "cannot write %s (FreeTDS needs it for a verified connection)", temp);
    ok = write_text(fd, text) || err_set_errno(err, ERR_STORE, errno, "cannot write %s", temp);
    (void)close(fd);
    if (ok && rename(temp, path) != 0)
        ok = err_set_errno(err, ERR_STORE, errno, "cannot rename %s", temp);
    if (!ok) (void)unlink(temp);
    return ok;
}

/* Adds the section unless it is there. FREETDSCONF is set once, before the first verified
 * connection; FreeTDS goes on to the user's own files for sections it does not find in it. */
static bool add_conf_section(OdbcDriver *driver, const ConnectionPlan *plan, Err *err)
{
    Arena *scratch = arena_new();
    bool   ok      = true;

    pthread_mutex_lock(&driver->lock);
    if (str_find(driver->conf_text, plan->section, 0) < 0) {
        bool is_first = driver->conf_path.len == 0;
        if (is_first) { /* a folder that cannot be made is told by the write */
            (void)mkdir(str_c(scratch, driver->scratch_directory), 0700);
            driver->conf_path = str_printf(driver->conf_arena, "%.*s/freetds-%ld.conf",
                                           STR_ARG(driver->scratch_directory), (long)getpid());
        }
        Str text = str_printf(driver->conf_arena, "%.*s%.*s", STR_ARG(driver->conf_text),
                              STR_ARG(plan->section));
        ok       = write_conf(driver, text, scratch, err);
        if (ok) driver->conf_text = text;
        if (ok && is_first) setenv("FREETDSCONF", str_c(scratch, driver->conf_path), 1);
        if (!ok && is_first) driver->conf_path = STR_EMPTY;
    }
    pthread_mutex_unlock(&driver->lock);
    arena_close(scratch);
    return ok;
}

/* --- connecting --- */

static OdbcConn *conn_new(OdbcDriver *driver, DriverFamily family);

#define DATABASE_UNAVAILABLE 4060 /* it may be starting, or not exist */

/* unixODBC without the driver or data source, or SQL Server out of reach. */
static void explain_connect(OdbcConn *conn, const ConnectionString *connection, Err *err)
{
    static const char *const missing[] = {"IM002", "IM003", "01000"};
    static const char *const places[]  = {"Server", "Servername", "DSN"};
    char                     what[200] = "cannot connect";
    size_t                   length;

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        Str place = connection_find(connection, places[i]);
        if (place.len == 0) continue;
        snprintf(what, sizeof(what), "cannot connect to %.*s", STR_ARG(place));
        break;
    }
    odbc_fail(SQL_HANDLE_DBC, conn->dbc, conn, what, err);
    length = strlen(err->message);
    if (err->code == ERR_LOGIN || err->native == DATABASE_UNAVAILABLE)
        snprintf(err->message + length, sizeof(err->message) - length,
                 "; check user, password and database");
    for (size_t i = 0; i < COUNT_OF(missing); i++) {
        if (strcmp(err->sqlstate, missing[i]) != 0 || err->native != 0) continue;
        Err cause = *err;
        err_set(err, ERR_CONFIG, "%s; `odbcinst -q -d` lists the drivers that are installed",
                cause.message);
        snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", cause.sqlstate);
    }
}

static bool odbc_driver_connect(SqlDriver *base, Str text, int64_t login_timeout_s, SqlConn **out,
                                Err *err)
{
    OdbcDriver      *driver  = (OdbcDriver *)base;
    Arena           *scratch = arena_new();
    OdbcConn        *conn    = NULL;
    bool             ok      = false;
    ConnectionString connection;
    ConnectionPlan   plan;
    size_t           units;
    SQLSMALLINT      ignored;

    if (driver->cancel && !cancel_check(driver->cancel, err)) goto done;
    if (!connection_parse(scratch, text, &connection, err)) goto done;
    DriverFamily family = find_family(driver, &connection, scratch);
    if (!connection_plan(scratch, &connection, family, &plan, err)) goto done;
    if (plan.needs_section && !add_conf_section(driver, &plan, err)) goto done;

    conn       = conn_new(driver, family);
    conn->port = plan.port;
    if (!odbc_is_ok(SQLAllocHandle(SQL_HANDLE_DBC, driver->env, &conn->dbc))) {
        odbc_fail(SQL_HANDLE_ENV, driver->env, NULL, "unixODBC gave no connection", err);
        goto done;
    }
    /* The handle is not needed by drivers without the attribute, so its answer is not either. */
    SQLSetConnectAttrW(conn->dbc, SQL_ATTR_LOGIN_TIMEOUT,
                       (SQLPOINTER)(uintptr_t)(login_timeout_s > 0 ? login_timeout_s : 30),
                       SQL_IS_UINTEGER);

    SQLWCHAR *wide = odbc_utf16(scratch, plan.text, &units);
    if (units > INT16_MAX) {
        err_set(err, ERR_CONFIG, "the connection string is longer than %d characters", INT16_MAX);
        goto done;
    }
    int       handle = odbc_block_begin(conn, NULL);
    SQLRETURN rc = SQLDriverConnectW(conn->dbc, NULL, wide, (SQLSMALLINT)units, NULL, 0, &ignored,
                                     SQL_DRIVER_NOPROMPT);
    odbc_block_end(conn, handle);
    conn->is_connected = odbc_is_ok(rc);
    if (!conn->is_connected) {
        explain_connect(conn, &connection, err);
        goto done;
    }
    sqlconn_set_silence_timeout(&conn->base, login_timeout_s); /* it belongs to the login */
    ok = odbc_conn_run_first(conn, STR("SET TEXTSIZE 2147483647; SET DEADLOCK_PRIORITY LOW"), err);
    sqlconn_set_silence_timeout(&conn->base, 0);
    odbc_conn_keep_alive(conn);
done:
    if (ok)
        *out = &conn->base;
    else if (conn)
        conn->base.close(&conn->base);
    arena_close(scratch);
    return ok;
}

static void odbc_conn_cancel(SqlConn *base)
{
    OdbcConn *conn = (OdbcConn *)base;

    atomic_store(&conn->is_cancelled, true);
    odbc_conn_cut(conn);
}

static void forget(OdbcConn *conn)
{
    OdbcDriver *driver = conn->driver;

    pthread_mutex_lock(&driver->lock);
    for (OdbcConn **at = &driver->conns; *at; at = &(*at)->next)
        if (*at == conn) {
            *at = conn->next;
            break;
        }
    pthread_mutex_unlock(&driver->lock);
}

static void odbc_conn_close(SqlConn *base)
{
    OdbcConn *conn = (OdbcConn *)base;

    forget(conn);
    odbc_conn_drop_socket(conn);
    if (conn->dbc) {
        if (conn->is_connected) SQLDisconnect(conn->dbc);
        SQLFreeHandle(SQL_HANDLE_DBC, conn->dbc);
    }
    pthread_mutex_destroy(&conn->lock);
    mem_free(conn);
}

static OdbcConn *conn_new(OdbcDriver *driver, DriverFamily family)
{
    OdbcConn *conn = mem_alloc(sizeof(*conn));

    conn->base          = (SqlConn){.query   = odbc_conn_query,
                                    .cancel  = odbc_conn_cancel,
                                    .is_dead = odbc_conn_is_dead,
                                    .close   = odbc_conn_close};
    conn->base.can_join = true;
    conn->driver        = driver;
    conn->family        = family;
    conn->socket.own    = -1;
    pthread_mutex_init(&conn->lock, NULL);
    pthread_mutex_lock(&driver->lock);
    conn->next    = driver->conns;
    driver->conns = conn;
    pthread_mutex_unlock(&driver->lock);
    return conn;
}

bool sqldriver_odbc_open(Log *log, Cancel *cancel, Str scratch_directory, SqlDriver **out, Err *err)
{
    Arena      *arena  = arena_new();
    OdbcDriver *driver = ARENA_NEW(arena, OdbcDriver);

    *out               = NULL;
    driver->base       = (SqlDriver){.connect = odbc_driver_connect, .close = odbc_driver_close};
    driver->arena      = arena;
    driver->conf_arena = arena_new();
    driver->log        = log;
    driver->cancel     = cancel;
    driver->scratch_directory = str_copy(arena, scratch_directory);
    pthread_mutex_init(&driver->lock, NULL);
    pthread_mutex_init(&driver->find_lock, NULL);
    if (!odbc_watch_start(driver, err)) {
        odbc_driver_close(&driver->base);
        return false;
    }
    if (!odbc_is_ok(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &driver->env)) ||
        !odbc_is_ok(
            SQLSetEnvAttr(driver->env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0))) {
        odbc_driver_close(&driver->base);
        return err_set(err, ERR_INTERNAL, "unixODBC gave no environment");
    }
    *out = &driver->base;
    return true;
}
