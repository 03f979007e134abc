/* mssql_grant.c - permissions (Q23), and what the errors of reads mean, with the way out
 * (sqlserver.md 1.12, 1.13; algorithms.md 12.3). */
#include "source/mssql_internal.h"

#include <stdio.h>

static Str grant_text(const Mssql *mssql, Str object, Arena *arena)
{
    return str_printf(arena, "GRANT SELECT ON %.*s TO %.*s", STR_ARG(object),
                      STR_ARG(mssql_quote(arena, mssql->facts.user_name)));
}

bool mssql_can_read_on(SqlConn *conn, Str capture_instance, bool *can_out, bool *is_denied_out,
                       Err *err)
{
    Arena   *scratch  = arena_new();
    SqlParam params[] = {param_str(capture_instance), param_str(capture_instance)};
    Rows     rows     = {0};
    Lsn      min_lsn;
    bool     is_null = true;
    bool     ok      = mssql_rows_on(
                 conn,
                 STR("SELECT HAS_PERMS_BY_NAME(N'cdc.' + QUOTENAME(? + N'_CT'), N'OBJECT', N'SELECT') AS "
                              "can_read,\n"
                              "       CONVERT(char(22), sys.fn_cdc_get_min_lsn(?), 1) AS min_lsn;"),
                 params, 2, 1, scratch, &rows, err);

    *can_out       = false;
    *is_denied_out = false;
    if (ok && rows.block.row_count != 1)
        ok = err_set(err, ERR_QUERY, "the server does not tell a permission");
    if (ok) ok = rows_lsn(&rows, 0, 1, &min_lsn, &is_null, err);
    if (ok) {
        *can_out = rows_i64(&rows, 0, 0, 0) == 1;
        /* 0 also for what does not exist: denied only when the instance is there */
        *is_denied_out = !*can_out && !is_null && !lsn_is_zero(min_lsn);
    }
    arena_close(scratch);
    return ok;
}

typedef struct GrantCall {
    Str  capture_instance;
    bool can, is_denied;
} GrantCall;

static bool call_grant(Mssql *mssql, void *arg, Err *err)
{
    GrantCall *call = arg;

    return mssql_can_read_on(mssql->meta, call->capture_instance, &call->can, &call->is_denied,
                             err);
}

bool mssql_can_read_changes(Mssql *mssql, const CaptureInstance *instance, Arena *arena,
                            bool *can_out, Str *grant_out, Err *err)
{
    GrantCall call = {.capture_instance = instance->name};

    *grant_out = STR_EMPTY;
    if (!mssql_retry(mssql, "can_read_changes", call_grant, &call, err)) return false;
    *can_out = !call.is_denied;
    if (call.is_denied)
        *grant_out = grant_text(mssql, mssql_change_table(arena, instance->name), arena);
    return true;
}

/* Another code and message, the same numbers; the driver's text stays as the cause. */
static bool reword(Err *err, ErrCode code, Str text)
{
    Err cause = *err;

    err_set(err, code, "%.*s (%s)", STR_ARG(text), cause.message);
    err->native = cause.native;
    snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", cause.sqlstate);
    return false;
}

static bool is_denied(SqlConn *conn, Str capture_instance)
{
    Err  ignored = ERR_INIT;
    bool can, denied;

    if (!conn || sqlconn_is_dead(conn)) return true; /* the error's own word is taken */
    return !mssql_can_read_on(conn, capture_instance, &can, &denied, &ignored) || denied;
}

bool mssql_explain_change_error(const Mssql *mssql, SqlConn *conn, Str capture_instance, Err *err)
{
    Arena *scratch = arena_new();
    Str    table   = mssql_change_table(scratch, capture_instance);

    if ((err->native == 229 || err->native == 230) && is_denied(conn, capture_instance))
        reword(err, ERR_PERMISSION,
               str_printf(scratch,
                          "the login may not read the change table %.*s: run %.*s (each capture "
                          "instance has its own change table)",
                          STR_ARG(table), STR_ARG(grant_text(mssql, table, scratch))));
    else if (err->native == 208)
        reword(
            err, ERR_SOURCE_STATE,
            str_printf(
                scratch,
                "the change table %.*s of capture instance %.*s is gone: the instance was disabled",
                STR_ARG(table), STR_ARG(capture_instance)));
    else if (err->native == 207)
        reword(err, ERR_SCHEMA_CHANGED,
               str_printf(scratch,
                          "the change table %.*s lacks a column that is read: a captured column, "
                          "or __$command_id on SQL Server 2012 to 2016 without "
                          "KB3030352 (set include_command_id: false)",
                          STR_ARG(table)));
    else if (err->code == ERR_SCHEMA_CHANGED && err->native == 0)
        reword(err, ERR_SCHEMA_CHANGED,
               str_printf(scratch,
                          "a column of the change table %.*s changed after the batch was planned: "
                          "restart the stream, it infers the columns again and resumes here",
                          STR_ARG(table)));
    else if (err->native == 22981)
        reword(err, ERR_SOURCE_STATE,
               str_printf(scratch,
                          "capture instance %.*s: not found, or the login lacks SELECT on the "
                          "captured columns or is not in its "
                          "gating role",
                          STR_ARG(capture_instance)));
    arena_close(scratch);
    return false;
}

static bool is_value_error(int32_t native)
{
    return native == 241 || native == 242 || native == 245 || native == 8114 || native == 8115 ||
           native == 8169;
}

bool mssql_explain_table_error(const Mssql *mssql, Str source_schema, Str source_table, Err *err)
{
    Arena *scratch = arena_new();
    Str    table   = str_printf(scratch, "%.*s.%.*s", STR_ARG(mssql_quote(scratch, source_schema)),
                                STR_ARG(mssql_quote(scratch, source_table)));

    if (err->native == 229 || err->native == 230)
        reword(err, ERR_PERMISSION,
               str_printf(scratch, "the login may not read the source table %.*s: run %.*s",
                          STR_ARG(table), STR_ARG(grant_text(mssql, table, scratch))));
    else if (err->native == 208)
        reword(err, ERR_SOURCE_STATE,
               str_printf(scratch,
                          "the source table %.*s is gone or not visible to the login: when it was "
                          "renamed, run this again; else grant SELECT on it",
                          STR_ARG(table)));
    else if (err->native == 207)
        reword(err, ERR_SCHEMA_CHANGED,
               str_printf(scratch,
                          "the source table %.*s lost a column that was to be read: run this "
                          "again, it goes on without that column",
                          STR_ARG(table)));
    else if (err->code == ERR_SCHEMA_CHANGED && err->native == 0)
        reword(err, ERR_SCHEMA_CHANGED,
               str_printf(scratch,
                          "a column of the source table %.*s changed meanwhile: run this again, it "
                          "goes on, or says what bronze needs for that",
                          STR_ARG(table)));
    else if (is_value_error(err->native))
        reword(err, ERR_SCHEMA_CHANGED,
               str_printf(scratch,
                          "a key column of %.*s has another type than when the bounds were "
                          "planned: run this again, and when that ends the same way, change the "
                          "type back or begin anew with a new bronze table, app_id and checkpoint",
                          STR_ARG(table)));
    else if (err->code == ERR_LOCK_TIMEOUT)
        reword(err, ERR_LOCK_TIMEOUT,
               str_printf(scratch,
                          "%.*s: another transaction held a lock for longer than lock_timeout_ms "
                          "(%lld); nothing was committed: run this again once that transaction is "
                          "over, set lock_timeout_ms higher, or isolation to snapshot",
                          STR_ARG(table), (long long)mssql->options.lock_timeout_ms));
    else if (err->native == 3952 || err->native == 3954)
        reword(err, ERR_SOURCE_STATE,
               str_printf(scratch,
                          "%.*s cannot be read under snapshot isolation: run ALTER DATABASE %.*s "
                          "SET ALLOW_SNAPSHOT_ISOLATION ON, "
                          "or set isolation to readCommitted",
                          STR_ARG(table), STR_ARG(mssql_quote(scratch, mssql->facts.database))));
    arena_close(scratch);
    return false;
}
