/* duck_checkpoint_typed.c - the part of a checkpoint's query that makes typed statistics of texts
 * (delta.md 2.13). */
#include "duck/duck_checkpoint.h"

#include "duck/duck_internal.h"

bool duck_checkpoint_has_bounds(ColumnType type)
{
    return type.kind != TYPE_BOOLEAN && type.kind != TYPE_BINARY && type.kind != TYPE_NESTED;
}

static void append_texts(Buf *sql, const char *name, const Schema *typed, bool is_count)
{
    const char *comma = "";

    buf_printf(sql, ", %s STRUCT(", name);
    for (size_t i = 0; i < typed->column_count; i++) {
        if (is_count ? typed->columns[i].type.kind == TYPE_NESTED
                     : !duck_checkpoint_has_bounds(typed->columns[i].type))
            continue;
        buf_printf(sql, "%sc%zu %s", comma, i, is_count ? "BIGINT" : "VARCHAR");
        comma = ", ";
    }
    if (comma[0] == '\0') buf_append_c(sql, "nothing VARCHAR");
    buf_append_char(sql, ')');
}

void duck_append_typed_columns(Buf *sql, const Schema *typed)
{
    buf_append_c(sql, ", 'parsed': 'STRUCT(numRecords BIGINT, tightBounds BOOLEAN");
    append_texts(sql, "min", typed, false);
    append_texts(sql, "max", typed, false);
    append_texts(sql, "nulls", typed, true);
    buf_append_c(sql, ")'");
}

/* A struct without members is none: what has no column to speak of is left out. */
static void append_values(Buf *sql, const char *name, const char *from, const Schema *typed,
                          bool is_count)
{
    const char *comma = "";
    Buf         list  = buf_new(sql->arena, 0);

    for (size_t i = 0; i < typed->column_count; i++) {
        const Column *column = &typed->columns[i];
        if (is_count ? column->type.kind == TYPE_NESTED : !duck_checkpoint_has_bounds(column->type))
            continue;
        buf_append_c(&list, comma);
        duck_append_identifier(&list, column->name);
        if (is_count)
            buf_printf(&list, " := parsed.%s.c%zu", from, i);
        else
            buf_printf(&list, " := TRY_CAST(parsed.%s.c%zu AS %.*s)", from, i,
                       STR_ARG(duck_type_name(sql->arena, column->type)));
        comma = ", ";
    }
    if (list.len > 0) buf_printf(sql, ", %s := struct_pack(%.*s)", name, STR_ARG(buf_str(&list)));
}

void duck_append_typed_select(Buf *sql, const Schema *typed)
{
    buf_append_c(sql, "* EXCLUDE (parsed) REPLACE (CASE WHEN \"add\" IS NULL THEN NULL ELSE "
                      "struct_insert(\"add\", stats_parsed := CASE WHEN parsed IS NULL THEN NULL "
                      "ELSE struct_pack(\"numRecords\" := parsed.numRecords");
    append_values(sql, "\"minValues\"", "min", typed, false);
    append_values(sql, "\"maxValues\"", "max", typed, false);
    append_values(sql, "\"nullCount\"", "nulls", typed, true);
    buf_append_c(sql, ", \"tightBounds\" := parsed.tightBounds) END) END AS \"add\")");
}
