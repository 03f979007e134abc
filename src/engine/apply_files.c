/* apply_files.c - file bounds as a temp table, joined with the changed keys. */
#include "engine/apply_files.h"

#include "base/buf.h"

/* _index, then per key column: text of min, of max (NULL: unknown), and whether it may hold NULL.
 */
static Schema bounds_schema(const ApplySql *sql, Arena *arena)
{
    Column *columns = ARENA_ARRAY(arena, Column, 1 + 3 * sql->key_count);
    size_t  count   = 0;

    columns[count++] = (Column){.name = STR("_index"), .type = COLUMN_TYPE(TYPE_LONG)};
    for (size_t i = 0; i < sql->key_count; i++) {
        columns[count++] = (Column){.name = str_printf(arena, "lo%zu", i),
                                    .type = COLUMN_TYPE(TYPE_STRING)};
        columns[count++] = (Column){.name = str_printf(arena, "hi%zu", i),
                                    .type = COLUMN_TYPE(TYPE_STRING)};
        columns[count++] = (Column){.name = str_printf(arena, "nulls%zu", i),
                                    .type = COLUMN_TYPE(TYPE_BOOLEAN)};
    }
    return (Schema){.columns = columns, .column_count = count};
}

static void add_bounds(DeltaTable *silver, const DeltaFile *file, const ApplySql *sql, Arena *arena,
                       RowBuilder *builder)
{
    for (size_t i = 0; i < sql->key_count; i++) {
        DeltaBounds bounds = {.null_count = -1};
        bool        known  = delta_file_find_bounds(silver, file, sql->keys[i], arena, &bounds);

        if (known && bounds.min.ptr) row_builder_set_str(builder, 1 + 3 * i, bounds.min);
        if (known && bounds.max.ptr) row_builder_set_str(builder, 2 + 3 * i, bounds.max);
        row_builder_set_i64(builder, 3 + 3 * i, !known || bounds.null_count != 0);
    }
}

static bool load_bounds(DeltaTable *silver, DuckSession *session, const ApplySql *sql, Arena *arena,
                        const DeltaFile ***files_out, Err *err)
{
    Schema            schema  = bounds_schema(sql, arena);
    RowBuilder       *builder = row_builder_new(arena, &schema);
    const DeltaFile **files   = ARENA_ARRAY(arena, const DeltaFile *,
                                            delta_table_get_file_count(silver) + 1);
    size_t            count   = 0;
    RowBlock          block;

    for (size_t at = 0; delta_table_next_file(silver, &at, &files[count]); count++) {
        row_builder_begin(builder);
        row_builder_set_i64(builder, 0, (int64_t)count);
        add_bounds(silver, files[count], sql, arena, builder);
    }
    *files_out = files;
    block      = row_builder_block(builder);
    return duck_execute(session, STR("DROP TABLE IF EXISTS file_bounds"), NULL, err) &&
           duck_load(session, STR("file_bounds"), row_stream_of_block(arena, &schema, &block), err);
}

/* Writers cut a maximum time to milliseconds (delta.md 2.4). */
static const char *cut_off(ColumnType type)
{
    bool is_time = type.kind == TYPE_TIMESTAMP || type.kind == TYPE_TIMESTAMP_NTZ;

    return is_time ? " + INTERVAL 999 MICROSECONDS" : "";
}

/* A bound that does not read as the key's type (an old file of a widened column, a cut text)
 * excludes nothing. */
static Str candidates_sql(const ApplySql *sql, Arena *arena)
{
    Buf buf = buf_new(arena, 0);

    buf_append_c(
        &buf,
        "SELECT b._index FROM file_bounds AS b WHERE EXISTS (SELECT 1 FROM chg AS c WHERE true");
    for (size_t i = 0; i < sql->key_count; i++) {
        ptrdiff_t at   = schema_find(sql->silver, sql->keys[i]);
        Str       type = duck_type_name(arena, sql->silver->columns[at].type);
        Str       key  = duck_quote_identifier(arena, sql->keys[i]);

        buf_printf(
            &buf,
            " AND ((c.%.*s IS NULL AND b.nulls%zu) OR (c.%.*s IS NOT NULL AND (TRY_CAST(b.lo%zu AS "
            "%.*s) IS NULL OR c.%.*s >= TRY_CAST(b.lo%zu AS %.*s)) "
            "AND (TRY_CAST(b.hi%zu AS %.*s) IS NULL OR c.%.*s <= TRY_CAST(b.hi%zu AS %.*s)%s)))",
            STR_ARG(key), i, STR_ARG(key), i, STR_ARG(type), STR_ARG(key), i, STR_ARG(type), i,
            STR_ARG(type), STR_ARG(key), i, STR_ARG(type), cut_off(sql->silver->columns[at].type));
    }
    buf_append_c(&buf, ") ORDER BY b._index");
    return buf_str(&buf);
}

bool apply_find_candidates(DeltaTable *silver, DuckSession *session, const ApplySql *sql,
                           Arena *arena, const DeltaFile ***out, size_t *count_out, Err *err)
{
    const DeltaFile **files;
    RowStream        *rows = NULL;
    RowBlock          block;
    size_t            count = 0;
    bool              ok    = false;

    *count_out = 0;
    *out       = NULL;
    if (delta_table_get_file_count(silver) == 0) return true;
    if (!load_bounds(silver, session, sql, arena, &files, err)) goto done;
    if (!duck_query(session, candidates_sql(sql, arena), arena, &rows, err)) goto done;
    *out = ARENA_ARRAY(arena, const DeltaFile *, delta_table_get_file_count(silver) + 1);
    for (;;) {
        if (!row_stream_next(rows, &block, err)) goto done;
        if (block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++)
            (*out)[count++] = files[column_i64(&block.columns[0], i)];
    }
    *count_out = count;
    ok         = true;
done:
    row_stream_close(rows);
    return ok;
}
