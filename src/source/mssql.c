/* mssql.c - opening the source: a `meta` connection, what the server and database are (Q01), and
 * the clock of its commit times. */
#include "source/mssql_cut_internal.h"

#include <string.h>

/* What connections of a kind are kept under; empty: they are not. Reads of the table set the session's options, so
 * theirs serve only reads that set the same. */
static Str kept_under(const Mssql *mssql, ConnKind kind)
{
    switch (kind) {
    case CONN_CHANGE: return mssql->options.connection;
    case CONN_TABLE: return mssql->table_connection;
    case CONN_META:
    case CONN_KEYS: break;
    }
    return STR_EMPTY;
}

bool mssql_connect(Mssql *mssql, ConnKind kind, SqlConn **out, Err *err)
{
    const MssqlOptions *options = &mssql->options;
    Str                 kept    = kept_under(mssql, kind);

    *out = kept.len > 0 ? sqldriver_take_kept(options->driver, kept) : NULL;
    if (!*out && !sqldriver_connect(options->driver, options->connection,
                                    options->connect_timeout_s, out, err))
        return false;
    bool may_wait = kind == CONN_TABLE || kind == CONN_KEYS;
    sqlconn_set_silence_timeout(*out, may_wait ? 0 : options->silence_timeout_s);
    return true;
}

void mssql_give_back(Mssql *mssql, ConnKind kind, SqlConn *conn)
{
    sqldriver_give_back(mssql->options.driver, kept_under(mssql, kind), conn);
}

static const char server_facts_sql[] =
    "SELECT CAST(SERVERPROPERTY('ProductMajorVersion') AS int)      AS major_version,\n"
    "       CAST(SERVERPROPERTY('EngineEdition') AS int)            AS engine_edition,\n"
    "       CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) AS product_version,\n"
    "       d.name, d.collation_name, d.compatibility_level, d.is_cdc_enabled,\n"
    "       d.snapshot_isolation_state, d.is_read_committed_snapshot_on, d.is_read_only,\n"
    "       CAST(DATABASEPROPERTYEX(d.name, 'Updateability') AS nvarchar(20)) AS updateability,\n"
    "       ORIGINAL_LOGIN() AS login_name, USER_NAME() AS user_name, @@SPID AS spid\n"
    "FROM sys.databases AS d\n"
    "WHERE d.database_id = DB_ID();";

static bool read_facts(Mssql *mssql, Arena *scratch, Err *err) /* Q01 */
{
    Rows   rows = {0};
    size_t major, edition, name, cdc, snapshot, updateability, user, collation;

    if (!mssql_rows_on(mssql->meta, str_from_c(server_facts_sql), NULL, 0, 1, scratch, &rows, err))
        return false;
    if (rows.block.row_count != 1)
        return err_set(err, ERR_SOURCE_STATE,
                       "the server does not list the database of the connection");
    if (!rows_find(&rows, "major_version", &major, err) ||
        !rows_find(&rows, "engine_edition", &edition, err) ||
        !rows_find(&rows, "name", &name, err) || !rows_find(&rows, "is_cdc_enabled", &cdc, err) ||
        !rows_find(&rows, "snapshot_isolation_state", &snapshot, err) ||
        !rows_find(&rows, "updateability", &updateability, err) ||
        !rows_find(&rows, "collation_name", &collation, err) ||
        !rows_find(&rows, "user_name", &user, err))
        return false;
    mssql->facts = (ServerFacts){
        .major_version            = rows_i64(&rows, 0, major, 0),
        .engine_edition           = rows_i64(&rows, 0, edition, 0),
        .database                 = str_copy(mssql->arena, rows_str(&rows, 0, name)),
        .user_name                = str_copy(mssql->arena, rows_str(&rows, 0, user)),
        .collation                = str_copy(mssql->arena, rows_str(&rows, 0, collation)),
        .is_cdc_enabled           = rows_i64(&rows, 0, cdc, 0) != 0,
        .is_read_only             = str_equal_ignoring_case(rows_str(&rows, 0, updateability),
                                                            STR("READ_ONLY")),
        .snapshot_isolation_state = rows_i64(&rows, 0, snapshot, 0),
    };
    return true;
}

static void warn_about_facts(const Mssql *mssql)
{
    const ServerFacts *facts = &mssql->facts;

    if (facts->is_read_only)
        log_warn(
            mssql->options.log, "source",
            "the database is a readable secondary: stamps read there may be behind the primary",
            LOG_STR("database", facts->database));
    if (mssql->options.isolation_snapshot && facts->snapshot_isolation_state != 1)
        log_warn(mssql->options.log, "source",
                 "snapshot isolation is asked for and the database does not allow it: ALTER "
                 "DATABASE ... SET ALLOW_SNAPSHOT_ISOLATION ON",
                 LOG_STR("database", facts->database),
                 LOG_I64("snapshot_isolation_state", facts->snapshot_isolation_state));
}

static bool call_open(Mssql *mssql, void *arg, Err *err)
{
    Arena *scratch = arena_new();
    bool   ok      = read_facts(mssql, scratch, err);

    (void)arg;
    if (ok && !mssql->facts.is_cdc_enabled)
        ok = err_set(err, ERR_SOURCE_STATE,
                     "CDC is not enabled in database %.*s: run sys.sp_cdc_enable_db there, then "
                     "sys.sp_cdc_enable_table",
                     STR_ARG(mssql->facts.database));
    ok = ok && mssql_resolve_clock(mssql, mssql->meta, err);
    arena_close(scratch);
    return ok;
}

static Str table_connection(const Mssql *mssql)
{
    Buf key = buf_new(mssql->arena, 0);

    buf_append(&key, mssql->options.connection);
    buf_append_char(&key, '\n');
    append_read_prefix(mssql, true, &key);
    return buf_str(&key);
}

bool mssql_open(const MssqlOptions *options, Mssql **out, Err *err)
{
    Arena *arena = arena_new();
    Mssql *mssql = ARENA_NEW(arena, Mssql);

    *out                      = NULL;
    mssql->arena              = arena;
    mssql->cache_arena        = arena_new();
    mssql->last_arena         = arena_new();
    mssql->options            = *options;
    mssql->options.connection = str_copy(arena, options->connection);
    mssql->options.time_zone  = str_copy(
         arena, str_is_empty(options->time_zone) ? STR("auto") : options->time_zone);
    mssql->options.name     = str_copy(arena, options->name);
    mssql->table_connection = table_connection(mssql);
    if (!mssql_retry(mssql, "open", call_open, NULL, err)) {
        mssql_close(mssql);
        return false;
    }
    warn_about_facts(mssql);
    *out = mssql;
    return true;
}

Str mssql_get_collation(const Mssql *mssql)
{
    return mssql->facts.collation;
}

void mssql_close(Mssql *mssql)
{
    if (!mssql) return;
    sqlconn_close(mssql->meta);
    arena_close(mssql->cache_arena);
    arena_close(mssql->last_arena);
    arena_close(mssql->arena); /* the Mssql lives in it */
}
