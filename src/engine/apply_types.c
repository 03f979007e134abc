/* apply_types.c - may silver take what bronze has? Its types stay as they were made (algorithms.md
 * 6.5), and bronze's may have been widened since: a value goes over unchanged, or not at all. */
#include "engine/apply_internal.h"

#include "base/buf.h"

static bool count_misfits(const ApplySql *sql, DuckSession *session, Str changes, Str name,
                          ColumnType type, int64_t *out, Err *err)
{
    Buf text   = buf_new(sql->arena, 0);
    Str quoted = duck_quote_identifier(sql->arena, name);

    buf_printf(&text,
               "SELECT count(*) FROM (%.*s) AS s WHERE s.%.*s IS NOT NULL AND TRY_CAST(s.%.*s AS "
               "%.*s) IS DISTINCT FROM s.%.*s",
               STR_ARG(changes), STR_ARG(quoted), STR_ARG(quoted),
               STR_ARG(duck_type_name(sql->arena, type)), STR_ARG(quoted));
    return duck_query_i64(session, buf_str(&text), out, NULL, err);
}

bool apply_check_types(const ApplySql *sql, DuckSession *session, Str changes, const Schema *bronze,
                       Err *err)
{
    for (size_t i = 0; i < sql->silver->column_count; i++) {
        const Column *silver = &sql->silver->columns[i];
        ptrdiff_t     index  = schema_find(bronze, silver->name);
        int64_t       count;

        if (index < 0 || column_type_fits(bronze->columns[index].type, false, silver->type))
            continue;
        if (!count_misfits(sql, session, changes, bronze->columns[index].name, silver->type, &count,
                           err))
            return false;
        if (count == 0) continue;
        return err_set(err, ERR_SCHEMA_CHANGED,
                       "column %.*s is %.*s in silver and %.*s in bronze, where %lld changed rows "
                       "have a value that silver's type does not hold; nothing was written. "
                       "Silver's types are never changed: move its folder away, and the next call "
                       "builds it again with bronze's",
                       STR_ARG(silver->name),
                       STR_ARG(column_type_sql_name(sql->arena, silver->type)),
                       STR_ARG(column_type_sql_name(sql->arena, bronze->columns[index].type)),
                       (long long)count);
    }
    return true;
}
