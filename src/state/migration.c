/* migration.c - every migration there has been, in order, and how a table gets those it lacks. */
#include "state/migration.h"

#include "state/conflict_retry.h"

#include <assert.h>

#define SCHEMA_VERSION_PROPERTY "mssql_cdc.schema_version"
#define MIN_VERSION_PROPERTY    "mssql_cdc.min_version"
#define MOST_COLUMNS            4 /* of one migration */

/* One step: its place in the list is its number, so none is ever changed, moved or taken out. One
 * without columns changed the meaning, and so the comments, of what was there: nobody reads those
 * back, so only the number is written. */
typedef struct Migration {
    const char *what;
    const char *columns[MOST_COLUMNS + 1]; /* added, nullable; NULL ends them */
} Migration;

/* clang-format off */
static const Migration bronze_migrations[] = {
    {"capture instance comments",                 {NULL}},
    {"snapshot and chunk columns",                {"_snapshot", "_chunk", NULL}},
};

static const Migration facts_migrations[] = {
    {"network and read metrics",                  {"source_rtt_ms", "read_seconds", "read_mb", "network_wait_ms", NULL}},
    {"retention headroom",                        {"retention_watermark_ts", "retention_headroom_hours", NULL}},
    {"snapshot events",                           {"event", "lost_from_ts", "lost_to_ts", NULL}},
    {"lag metrics",                               {"source_max_commit_ts", "capture_lag_seconds", "ingestion_lag_seconds", NULL}},
    {"end offset",                                {"end_lsn", "end_commit_ts", NULL}},
    {"source change events",                      {"detail", NULL}},
    {"chunked snapshot events",                   {NULL}},
    {"snapshot plans and modes",                  {NULL}},
    {"full snapshot opens per run",               {NULL}},
    {"skipped changes",                           {NULL}},
    {"possible skips",                            {NULL}},
    {"planning warnings",                         {NULL}},
    {"key values in the plans table",             {NULL}},
    {"snapshots after a capture instance switch", {NULL}},
};

static const Migration plans_migrations[] = {
    {"snapshots after a capture instance switch", {NULL}},
};

static const Migration control_migrations[] = {
    {"position of silver",                        {"applied_lsn", "snapshot_lsn", NULL}},
    {"position in an open snapshot",              {"open_snapshot_lsn", "snapshot_wave", NULL}},
    {"open snapshots after a loss too",           {NULL}},
    {"the verdict over a gap",                    {NULL}},
};

/* By TableKind. Silver and the report have had none. */
static const struct {
    const char      *name;
    const Migration *migrations;
    size_t           count;
} kinds[] = {
    [KIND_BRONZE]  = {"bronze",  bronze_migrations,  COUNT_OF(bronze_migrations)},
    [KIND_FACTS]   = {"facts",   facts_migrations,   COUNT_OF(facts_migrations)},
    [KIND_PLANS]   = {"plans",   plans_migrations,   COUNT_OF(plans_migrations)},
    [KIND_CONTROL] = {"control", control_migrations, COUNT_OF(control_migrations)},
    [KIND_SILVER]  = {"silver",  NULL, 0},
    [KIND_REPORT]  = {"report",  NULL, 0},
};
/* clang-format on */

const char *table_kind_name(TableKind kind)
{
    return kinds[kind].name;
}

int64_t table_kind_version(TableKind kind)
{
    return (int64_t)kinds[kind].count;
}

DeltaProperty table_kind_property(TableKind kind, Arena *arena)
{
    return (DeltaProperty){.key   = STR(SCHEMA_VERSION_PROPERTY),
                           .value = str_printf(arena, "%lld", (long long)table_kind_version(kind))};
}

/* A property that holds a number; absent reads as 0. */
static bool read_number(const DeltaTable *table, Str key, int64_t *out, Err *err)
{
    Str text;

    *out = 0;
    if (!delta_table_find_property(table, key, &text)) return true;
    if (str_parse_i64(text, out) && *out >= 0) return true;
    return err_set(
        err, ERR_STATE,
        "table %.*s: property %.*s is \"%.*s\", not a number; set it back to what it was",
        STR_ARG(delta_table_get_path(table)), STR_ARG(key), STR_ARG(text));
}

/* The table's version, unless it may not be written at all. */
static bool read_version(const DeltaTable *table, TableKind kind, int64_t *out, Err *err)
{
    int64_t known = table_kind_version(kind);
    int64_t needed;

    if (!read_number(table, STR(MIN_VERSION_PROPERTY), &needed, err) ||
        !read_number(table, STR(SCHEMA_VERSION_PROPERTY), out, err))
        return false;
    return needed <= known ||
           err_set(err, ERR_STATE,
                   "table %.*s asks for a program that knows schema version %lld of %s tables "
                   "(" MIN_VERSION_PROPERTY "), this one knows %lld; use a newer release",
                   STR_ARG(delta_table_get_path(table)), (long long)needed, kinds[kind].name,
                   (long long)known);
}

/* Somebody's own column of that name would take our values for what they are not. */
static bool check_present(const DeltaTable *table, TableKind kind, const Column *want, Err *err)
{
    const Schema *have  = delta_table_get_schema(table);
    ptrdiff_t     index = schema_find(have, want->name);
    Arena        *scratch;

    if (index < 0 || column_type_fits(want->type, false, have->columns[index].type)) return true;
    scratch = arena_new();
    err_set(err, ERR_STATE,
            "table %.*s has a column %.*s of type %.*s, where a %s table has %.*s: rename that "
            "column, and start again",
            STR_ARG(delta_table_get_path(table)), STR_ARG(want->name),
            STR_ARG(column_type_sql_name(scratch, have->columns[index].type)), kinds[kind].name,
            STR_ARG(column_type_sql_name(scratch, want->type)));
    arena_close(scratch);
    return false;
}

/* The columns of the migrations from `version` on; those that the table has already are among
 * them, and the commit leaves them alone. */
static bool find_columns(const DeltaTable *table, TableKind kind, int64_t version,
                         const Schema *schema, Arena *arena, Schema *out, Err *err)
{
    Column *columns = ARENA_ARRAY(arena, Column, kinds[kind].count * MOST_COLUMNS + 1);
    size_t  count   = 0;

    for (size_t i = (size_t)version; i < kinds[kind].count; i++)
        for (const char *const *name = kinds[kind].migrations[i].columns; *name; name++) {
            ptrdiff_t index = schema_find(schema, str_from_c(*name));
            assert(index >= 0);
            if (!check_present(table, kind, &schema->columns[index], err)) return false;
            columns[count++] = schema->columns[index];
        }
    *out = (Schema){.columns = columns, .column_count = count};
    return true;
}

static bool commit_missing(DeltaTable *table, TableKind kind, int64_t version, const Schema *schema,
                           DeltaOutcome *out, Err *err)
{
    Arena        *scratch  = arena_new();
    DeltaProperty property = table_kind_property(kind, scratch);
    Schema        columns;
    DeltaPair     parameters[] = {
            {STR("properties"), str_printf(scratch, "{\"%s\":\"%.*s\"}", SCHEMA_VERSION_PROPERTY,
                                           STR_ARG(property.value))}};
    DeltaCommit commit = {.operation          = STR("SET TBLPROPERTIES"),
                          .parameters         = parameters,
                          .parameter_count    = COUNT_OF(parameters),
                          .set_properties     = &property,
                          .set_property_count = 1,
                          .read_header        = true};
    bool        ok     = find_columns(table, kind, version, schema, scratch, &columns, err);

    if (ok && columns.column_count > 0) {
        commit.operation = STR("ADD COLUMNS");
        commit.schema    = &columns;
    }
    ok = ok && delta_table_commit(table, &commit, out, NULL, err);
    arena_close(scratch);
    return ok;
}

bool table_migrate(DeltaContext *context, DeltaTable *table, TableKind kind, const Schema *schema,
                   Err *err)
{
    int64_t       known = table_kind_version(kind);
    ConflictRetry retry = conflict_retry_begin(context);

    for (;;) {
        Err          why = ERR_INIT;
        int64_t      found;
        DeltaOutcome outcome;

        if (!read_version(table, kind, &found, err)) return false;
        if (found > known)
            log_warn(context->log, "state", "table was migrated by a newer release",
                     LOG_STR("table", delta_table_get_path(table)),
                     LOG_I64("schema_version", found), LOG_I64("known_version", known));
        if (found >= known) return true;
        if (commit_missing(table, kind, found, schema, &outcome, &why)) {
            log_info(context->log, "state", "table migrated",
                     LOG_STR("table", delta_table_get_path(table)), LOG_I64("from", found),
                     LOG_I64("to", known));
            return true;
        }
        if (!conflict_retry_wait(&retry, context, &why, err)) return false;
        if (!delta_table_refresh(table, err)) return false;
    }
}
