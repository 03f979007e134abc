/* table_ref.c - opening our tables, and the schema version each carries. */
#include "state/table_ref.h"

#define SCHEMA_VERSION_PROPERTY "mssql_cdc.schema_version"
#define MIN_VERSION_PROPERTY    "mssql_cdc.min_version"

static const char *kind_name(TableKind kind)
{
    switch (kind) {
    case KIND_BRONZE: return "bronze";
    case KIND_FACTS: return "facts";
    case KIND_CONTROL: return "control";
    case KIND_SILVER: return "silver";
    }
    return "";
}

int64_t table_kind_version(TableKind kind)
{
    switch (kind) {
    case KIND_BRONZE: return 2;
    case KIND_FACTS: return 14;
    case KIND_CONTROL: return 4;
    case KIND_SILVER: return 0;
    }
    return 0;
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

bool table_kind_check(const DeltaTable *table, TableKind kind, Log *log, Err *err)
{
    int64_t known = table_kind_version(kind);
    int64_t found, needed;
    Str     path = delta_table_get_path(table);

    if (!read_number(table, STR(MIN_VERSION_PROPERTY), &needed, err)) return false;
    if (!read_number(table, STR(SCHEMA_VERSION_PROPERTY), &found, err)) return false;
    if (needed > known)
        return err_set(err, ERR_STATE,
                       "table %.*s asks for a program that knows schema version %lld of %s tables, "
                       "this one knows %lld; "
                       "use a newer release",
                       STR_ARG(path), (long long)needed, kind_name(kind), (long long)known);
    if (found < known)
        return err_set(err, ERR_UNSUPPORTED,
                       "table %.*s is a %s table of schema version %lld; this release writes "
                       "version %lld and cannot "
                       "migrate yet: let mssql-cdc-pyspark 0.8.0 open it once",
                       STR_ARG(path), kind_name(kind), (long long)found, (long long)known);
    if (found > known)
        log_warn(log, "state", "table was migrated by a newer release", LOG_STR("table", path),
                 LOG_I64("schema_version", found), LOG_I64("known_version", known));
    return true;
}

bool table_ref_open_if_exists(DeltaContext *context, const TableRef *ref, DeltaTable **out,
                              Err *err)
{
    Err why = ERR_INIT;

    *out = NULL;
    if (delta_table_open(context, ref->path, out, &why)) return true;
    if (why.code == ERR_NOT_FOUND) return true;
    return err_copy(err, &why);
}

bool table_ref_open_or_create(DeltaContext *context, const TableRef *ref, TableKind kind,
                              const Schema *schema, Str description, DeltaTable **out, Err *err)
{
    bool        ok      = false;
    DeltaTable *table   = NULL;
    Arena      *scratch = arena_new();

    if (!table_ref_open_if_exists(context, ref, &table, err)) goto done;
    if (!table) {
        DeltaProperty property = table_kind_property(kind, scratch);
        DeltaCreate   spec     = {.schema         = *schema,
                                  .description    = description,
                                  .properties     = &property,
                                  .property_count = 1};
        if (!delta_table_create(context, ref->path, &spec, &table, NULL, err)) goto done;
    }
    if (!table_kind_check(table, kind, context->log, err)) goto done;
    DeltaWriteKind write = kind == KIND_CONTROL || kind == KIND_SILVER ? DELTA_CHANGES
                                                                       : DELTA_APPENDS;
    ok                   = delta_table_check_writable(table, write, err);
done:
    arena_close(scratch);
    if (!ok) {
        delta_table_close(table);
        table = NULL;
    }
    *out = table;
    return ok || err_context(err, "%s table %.*s", kind_name(kind), STR_ARG(ref->label));
}
