/* apply_sql.c - the SQL of apply: newest row per key, what it meets in silver, what the files
 * become.
 *
 * Columns of our own begin with `__$`, as CDC's do: no captured column is called so. */
#include "engine/apply_internal.h"

#include "base/buf.h"

static Str quoted(const ApplySql *sql, Str name)
{
    return duck_quote_identifier(sql->arena, name);
}

/* "a.k1, a.k2"; alias "" for bare names. */
static Str key_list(const ApplySql *sql, const char *alias)
{
    Buf buf = buf_new(sql->arena, 0);

    for (size_t i = 0; i < sql->key_count; i++) {
        Str key = quoted(sql, sql->keys[i]);
        buf_printf(&buf, "%s%s%s%.*s", i ? ", " : "", alias, *alias ? "." : "", STR_ARG(key));
    }
    return buf_str(&buf);
}

/* Silver's columns out of a relation that may lack some. */
static Str silver_columns(const ApplySql *sql, const char *alias)
{
    Buf buf = buf_new(sql->arena, 0);

    for (size_t i = 0; i < sql->silver->column_count; i++) {
        Str name = quoted(sql, sql->silver->columns[i].name);
        buf_printf(&buf, "%s%s.%.*s", i ? ", " : "", alias, STR_ARG(name));
    }
    return buf_str(&buf);
}

/* The same out of bronze, where a column that only silver has is NULL. */
static Str silver_columns_of_bronze(const ApplySql *sql, const Schema *bronze)
{
    Buf buf = buf_new(sql->arena, 0);

    for (size_t i = 0; i < sql->silver->column_count; i++) {
        const Column *column = &sql->silver->columns[i];
        Str           name   = quoted(sql, column->name);
        Str           type   = duck_type_name(sql->arena, column->type);

        if (schema_find(bronze, column->name) >= 0)
            buf_printf(&buf, "%sCAST(b.%.*s AS %.*s) AS %.*s", i ? ", " : "", STR_ARG(name),
                       STR_ARG(type), STR_ARG(name));
        else
            buf_printf(&buf, "%sCAST(NULL AS %.*s) AS %.*s", i ? ", " : "", STR_ARG(type),
                       STR_ARG(name));
    }
    return buf_str(&buf);
}

/* The order of rows of one key, newest first (1.2): NULL ranks below any value. */
static Str newest_first(const ApplySql *sql, const Schema *bronze)
{
    bool has_command_id = schema_find(bronze, STR("_command_id")) >= 0;

    return str_printf(
        sql->arena,
        "b._start_lsn DESC NULLS LAST, %sb._seqval DESC NULLS LAST, b._operation DESC NULLS LAST",
        has_command_id ? "b._command_id DESC NULLS LAST, " : "");
}

Str apply_sql_select_changes(const ApplySql *sql, Str bronze_scan, const ApplyPlan *plan)
{
    Buf buf = buf_new(sql->arena, 0);

    buf_printf(&buf, "SELECT * FROM (%.*s) AS s WHERE (s._operation <> 0", STR_ARG(bronze_scan));
    if (plan->after.is_set)
        buf_printf(&buf, " AND s._start_lsn > '%s'", lsn_format(plan->after.lsn).text);
    buf_append_c(&buf, ")");
    if (plan->with_snapshot_rows)
        buf_printf(&buf, " OR (s._operation = 0 AND coalesce(s._snapshot, s._start_lsn) = '%s')",
                   lsn_format(plan->snapshot.lsn).text);
    return buf_str(&buf);
}

Str apply_sql_select_chunks(const ApplySql *sql, Str bronze_scan, const ApplyWaves *waves)
{
    Buf buf = buf_new(sql->arena, 0);

    buf_printf(&buf,
               "SELECT * FROM (%.*s) AS s WHERE s._operation = 0 AND s._snapshot = '%s' AND "
               "s._chunk IN (",
               STR_ARG(bronze_scan), lsn_format(waves->snapshot).text);
    for (size_t i = 0; i < waves->chunk_count; i++)
        buf_printf(&buf, "%s%lld", i ? ", " : "", (long long)waves->chunks[i].chunk);
    buf_append_char(&buf, ')');
    return buf_str(&buf);
}

/* A row of bronze that says no more than "this key was deleted at that stamp". */
static Str stale_as_bronze(const ApplySql *sql, const Schema *bronze)
{
    Buf buf = buf_new(sql->arena, 0);

    buf_append_c(&buf, "SELECT ");
    for (size_t i = 0; i < bronze->column_count; i++) {
        const Column *column = &bronze->columns[i];
        const char   *value  = "NULL";
        Str           name   = quoted(sql, column->name);

        if (str_equal_c(column->name, "_start_lsn"))
            value = "lsn";
        else if (str_equal_c(column->name, "_operation"))
            value = "1";
        else if (sql->key_count == 1 && str_equal_ignoring_case(column->name, sql->keys[0]))
            value = "k";
        buf_printf(&buf, "%sCAST(%s AS %.*s) AS %.*s", i ? ", " : "", value,
                   STR_ARG(duck_type_name(sql->arena, column->type)), STR_ARG(name));
    }
    buf_append_c(&buf, " FROM stale");
    return buf_str(&buf);
}

/* An earlier change of such a key ranks below its chunk row, so only those from the oldest stamp on count; those
 * above `after` are among the changes already. */
Str apply_sql_add_waves(const ApplySql *sql, Str changes, Str bronze_scan, Str chunk_rows,
                        const Schema *bronze, const ApplyPlan *plan, const ApplyWaves *waves)
{
    Buf buf = buf_new(sql->arena, 0);

    buf_printf(&buf, "%.*s UNION ALL BY NAME %.*s UNION ALL BY NAME %.*s", STR_ARG(changes),
               STR_ARG(chunk_rows), STR_ARG(stale_as_bronze(sql, bronze)));
    if (!plan->after.is_set) return buf_str(&buf);
    buf_printf(&buf,
               " UNION ALL BY NAME SELECT s.* FROM (%.*s) AS s WHERE s._operation <> 0 AND "
               "s._start_lsn > '%s' AND s._start_lsn >= '%s' AND s._start_lsn <= '%s' AND EXISTS "
               "(SELECT 1 FROM (%.*s) AS c WHERE ",
               STR_ARG(bronze_scan), lsn_format(waves->snapshot).text,
               lsn_format(waves->oldest_stamp).text, lsn_format(plan->after.lsn).text,
               STR_ARG(chunk_rows));
    for (size_t i = 0; i < sql->key_count; i++) {
        Str key = quoted(sql, sql->keys[i]);
        buf_printf(&buf, "%sc.%.*s IS NOT DISTINCT FROM s.%.*s", i ? " AND " : "", STR_ARG(key),
                   STR_ARG(key));
    }
    buf_append_char(&buf, ')');
    return buf_str(&buf);
}

static Str newest_per_key(const ApplySql *sql, Str changes, const Schema *bronze, Str columns)
{
    return str_printf(sql->arena,
                      "SELECT %.*s FROM (%.*s) AS b QUALIFY row_number() OVER (PARTITION BY %.*s "
                      "ORDER BY %.*s) = 1",
                      STR_ARG(columns), STR_ARG(changes), STR_ARG(key_list(sql, "b")),
                      STR_ARG(newest_first(sql, bronze)));
}

Str apply_sql_make_chg(const ApplySql *sql, Str changes, const Schema *bronze)
{
    Str columns = str_printf(sql->arena, "%.*s, b._operation AS \"__$operation\"",
                             STR_ARG(silver_columns_of_bronze(sql, bronze)));
    Str newest  = newest_per_key(sql, changes, bronze, columns);

    return str_printf(sql->arena,
                      "CREATE OR REPLACE TEMP TABLE chg AS SELECT *, row_number() OVER () AS "
                      "\"__$id\" FROM (%.*s)",
                      STR_ARG(newest));
}

Str apply_sql_fill(const ApplySql *sql, Str changes, const Schema *bronze)
{
    Str columns = str_printf(sql->arena, "%.*s, b._operation AS \"__$operation\"",
                             STR_ARG(silver_columns_of_bronze(sql, bronze)));
    Str newest  = newest_per_key(sql, changes, bronze, columns);

    return str_printf(sql->arena,
                      "SELECT %.*s FROM (%.*s) AS n WHERE n.\"__$operation\" NOT IN (1, 3)",
                      STR_ARG(silver_columns(sql, "n")), STR_ARG(newest));
}

Str apply_sql_has_null_keys(const ApplySql *sql)
{
    Buf buf = buf_new(sql->arena, 0);

    buf_append_c(&buf, "SELECT count(*) FROM chg WHERE ");
    for (size_t i = 0; i < sql->key_count; i++) {
        Str key = quoted(sql, sql->keys[i]);
        buf_printf(&buf, "%s%.*s IS NULL", i ? " OR " : "", STR_ARG(key));
    }
    return buf_str(&buf);
}

static Str keys_match(const ApplySql *sql, const char *operator)
{
    Buf buf = buf_new(sql->arena, 0);

    for (size_t i = 0; i < sql->key_count; i++) {
        Str key = quoted(sql, sql->keys[i]);
        buf_printf(&buf, "%st.%.*s %s c.%.*s", i ? " AND " : "", STR_ARG(key), operator,
                   STR_ARG(key));
    }
    return buf_str(&buf);
}

/* Rows with NULL in a key are joined in a branch of their own: the null-safe comparison keeps
 * filters out of the scan (delta.md 2.8). */
Str apply_sql_make_hit(const ApplySql *sql, Str silver_scan, bool has_null_keys, bool rebuild)
{
    Buf         buf     = buf_new(sql->arena, 0);
    Str         scan    = silver_scan;
    const char *columns = "t.\"__$file\", t.\"__$row\", c.\"__$id\", c.\"__$operation\", "
                          "coalesce(c._start_lsn > t._start_lsn, true) AS \"__$newer\"";

    buf_printf(&buf, "CREATE OR REPLACE TEMP TABLE hit AS ");
    if (rebuild) {
        buf_printf(&buf, "SELECT %s FROM (%.*s) AS t LEFT JOIN chg AS c ON %.*s", columns,
                   STR_ARG(scan), STR_ARG(keys_match(sql, "IS NOT DISTINCT FROM")));
        return buf_str(&buf);
    }
    buf_printf(&buf, "SELECT %s FROM (%.*s) AS t JOIN chg AS c ON %.*s", columns, STR_ARG(scan),
               STR_ARG(keys_match(sql, "=")));
    if (has_null_keys) {
        Buf nulls = buf_new(sql->arena, 0);
        for (size_t i = 0; i < sql->key_count; i++) {
            Str key = quoted(sql, sql->keys[i]);
            buf_printf(&nulls, "%sc.%.*s IS NULL", i ? " OR " : "", STR_ARG(key));
        }
        buf_printf(&buf, " UNION ALL SELECT %s FROM (%.*s) AS t JOIN chg AS c ON %.*s WHERE %.*s",
                   columns, STR_ARG(scan), STR_ARG(keys_match(sql, "IS NOT DISTINCT FROM")),
                   STR_ARG(buf_str(&nulls)));
    }
    return buf_str(&buf);
}

Str apply_sql_make_rewritten(const ApplySql *sql, const DeltaFile *const *files, size_t count)
{
    Buf buf = buf_new(sql->arena, 0);

    buf_append_c(&buf, "CREATE OR REPLACE TEMP TABLE rewritten AS SELECT unnest(CAST([");
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "%s%.*s", i ? ", " : "",
                   STR_ARG(duck_quote_literal(sql->arena, files[i]->path)));
    buf_append_c(&buf, "] AS VARCHAR[])) AS path");
    return buf_str(&buf);
}

Str apply_sql_make_home(void)
{
    return STR(
        "CREATE OR REPLACE TEMP TABLE home AS SELECT h.\"__$id\" AS id, min(r.path) AS path, "
        "bool_and(h.\"__$newer\") AS newer FROM hit AS h LEFT JOIN rewritten AS r ON r.path = "
        "h.\"__$file\" WHERE h.\"__$id\" IS NOT NULL GROUP BY 1");
}

Str apply_sql_rewrite(const ApplySql *sql, Str file_scan, Str path)
{
    Str name = duck_quote_literal(sql->arena, path);

    return str_printf(
        sql->arena,
        "SELECT %.*s FROM (%.*s) AS t WHERE NOT EXISTS (SELECT 1 FROM hit AS h WHERE "
        "h.\"__$file\" = %.*s AND h.\"__$row\" = t.\"__$row\" AND h.\"__$newer\") "
        "UNION ALL SELECT %.*s FROM chg AS c JOIN home ON home.id = c.\"__$id\" WHERE "
        "c.\"__$operation\" NOT IN (1, 3) AND home.newer AND home.path = %.*s",
        STR_ARG(silver_columns(sql, "t")), STR_ARG(file_scan), STR_ARG(name),
        STR_ARG(silver_columns(sql, "c")), STR_ARG(name));
}

Str apply_sql_make_fresh(void)
{
    return STR("CREATE OR REPLACE TEMP TABLE fresh AS SELECT c.\"__$id\" AS id FROM chg AS c LEFT "
               "JOIN home ON home.id = c.\"__$id\" WHERE c.\"__$operation\" NOT IN (1, 3) AND "
               "(home.id IS NULL OR (home.newer AND home.path IS NULL))");
}

Str apply_sql_inserts(const ApplySql *sql)
{
    return str_printf(sql->arena, "SELECT %.*s FROM chg AS c JOIN fresh ON fresh.id = c.\"__$id\"",
                      STR_ARG(silver_columns(sql, "c")));
}
