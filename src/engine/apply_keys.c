/* apply_keys.c - keys that are several in the source and one in the lake. datetime2(7) and
 * datetimeoffset(7) lose their seventh digit (state.md 6.1), so rows can fall on each other; that
 * silver then has one of them is said, never silently done. */
#include "engine/apply_internal.h"

#include "base/buf.h"

static bool has_time_key(const ApplySql *sql, const Schema *bronze)
{
    for (size_t i = 0; i < sql->key_count; i++) {
        ptrdiff_t index = schema_find(bronze, sql->keys[i]);
        if (index < 0) continue;
        TypeKind kind = bronze->columns[index].type.kind;
        if (kind == TYPE_TIMESTAMP || kind == TYPE_TIMESTAMP_NTZ) return true;
    }
    return false;
}

/* A row that is inserted where one of its key is already, or is there twice in one snapshot. The
 * overlap of a snapshot with the changes after it is neither. */
bool apply_count_merged_keys(const ApplySql *sql, DuckSession *session, Str changes,
                             const Schema *bronze, int64_t *out, Err *err)
{
    Buf  text           = buf_new(sql->arena, 0);
    bool has_command_id = schema_find(bronze, STR("_command_id")) >= 0;

    *out = 0;
    if (!has_time_key(sql, bronze)) return true;
    buf_append_c(&text, "SELECT count(*) FROM (SELECT b._operation AS o, lag(b._operation) OVER "
                        "(PARTITION BY ");
    for (size_t i = 0; i < sql->key_count; i++)
        buf_printf(&text, "%sb.%.*s", i > 0 ? ", " : "",
                   STR_ARG(duck_quote_identifier(sql->arena, sql->keys[i])));
    buf_printf(&text,
               " ORDER BY b._start_lsn NULLS FIRST, %sb._seqval NULLS FIRST, b._operation) AS p "
               "FROM (%.*s) AS b) WHERE (o = 2 AND p IN (2, 4)) OR (o = 0 AND p = 0)",
               has_command_id ? "b._command_id NULLS FIRST, " : "", STR_ARG(changes));
    return duck_query_i64(session, buf_str(&text), out, NULL, err);
}
