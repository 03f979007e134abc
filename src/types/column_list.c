#include "types/column_list.h"

#include "base/buf.h"
#include "base/list.h"

typedef LIST(Column) Columns;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(Str text, size_t *at)
{
    while (*at < text.len && is_blank(text.ptr[*at]))
        (*at)++;
}

static bool quoted_name(Str text, size_t *at, Arena *arena, Str *out, Err *err)
{
    Buf buf = buf_new(arena, 0);

    for ((*at)++; *at < text.len; (*at)++) {
        if (text.ptr[*at] == '`') {
            if (*at + 1 >= text.len || text.ptr[*at + 1] != '`') {
                (*at)++;
                *out = buf_str(&buf);
                return true;
            }
            (*at)++;
        }
        buf_append_char(&buf, text.ptr[*at]);
    }
    return err_set(err, ERR_USAGE, "a name in backquotes has no end");
}

static bool take_name(Str text, size_t *at, Arena *arena, Str *out, Err *err)
{
    size_t begin;

    *out = STR_EMPTY;
    skip_blanks(text, at);
    if (*at < text.len && text.ptr[*at] == '`') {
        if (!quoted_name(text, at, arena, out, err)) return false;
    } else {
        begin = *at;
        while (*at < text.len && !is_blank(text.ptr[*at]) && text.ptr[*at] != ':' &&
               text.ptr[*at] != ',')
            (*at)++;
        *out = str_copy(arena, str_slice(text, begin, *at));
    }
    return out->len > 0 || err_set(err, ERR_USAGE, "a column has no name");
}

/* Up to the comma outside of parentheses. */
static Str take_type(Str text, size_t *at)
{
    size_t begin;
    int    depth = 0;

    skip_blanks(text, at);
    if (*at < text.len && text.ptr[*at] == ':') (*at)++;
    begin = *at;
    for (; *at < text.len && (depth > 0 || text.ptr[*at] != ','); (*at)++)
        depth += (text.ptr[*at] == '(') - (text.ptr[*at] == ')');
    return str_trim(str_slice(text, begin, *at));
}

static bool add_column(Columns *columns, Str name, Str type_text, Arena *arena, Err *err)
{
    Schema     so_far = {columns->items, columns->count};
    ColumnType type;

    if (type_text.len == 0)
        return err_set(err, ERR_USAGE, "column %.*s has no type", STR_ARG(name));
    if (!column_type_parse_sql(type_text, &type))
        return err_set(err, ERR_USAGE,
                       "column %.*s has type %.*s; allowed: BOOLEAN, SMALLINT, INT, BIGINT, FLOAT, "
                       "DOUBLE, DECIMAL(p,s), DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING, BINARY",
                       STR_ARG(name), STR_ARG(type_text));
    if (schema_find(&so_far, name) >= 0)
        return err_set(err, ERR_USAGE, "column %.*s is listed twice", STR_ARG(name));
    *LIST_PUSH(arena, columns) = (Column){.name = name, .type = type};
    return true;
}

bool column_list_parse(Str text, Arena *arena, Schema *out, Err *err)
{
    Columns columns = {0};
    size_t  at      = 0;

    do {
        Str name;
        if (!take_name(text, &at, arena, &name, err)) return false;
        if (!add_column(&columns, name, take_type(text, &at), arena, err)) return false;
    } while (at < text.len && text.ptr[at++] == ',');
    *out = (Schema){columns.items, columns.count};
    return true;
}
