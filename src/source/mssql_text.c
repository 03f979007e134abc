/* mssql_text.c - names and types that are inlined in T-SQL: validated, quoted (sqlserver.md 1.2).
 */
#include "source/mssql_text.h"

#include "base/limits.h"
#include "base/list.h"

static bool check_name(Str name, size_t units_max, const char *what, Err *err)
{
    size_t units = 0;

    if (name.len == 0) return err_set(err, ERR_USAGE, "%s is empty", what);
    if (!utf8_is_valid(name)) return err_set(err, ERR_USAGE, "%s is not valid UTF-8", what);
    for (size_t at = 0; at < name.len;) {
        uint32_t c = utf8_next(name, &at);
        if (c < 0x20 || (c >= 0x7F && c < 0xA0))
            return err_set(err, ERR_USAGE, "%s holds a control character", what);
        units += c >= 0x10000 ? 2 : 1;
    }
    if (units > units_max)
        return err_set(err, ERR_USAGE, "%s is longer than %zu characters: %.*s...", what, units_max,
                       STR_ARG(str_slice(name, 0, 40)));
    return true;
}

bool mssql_check_identifier(Str name, Err *err)
{
    return check_name(name, LIMIT_IDENTIFIER_UNITS, "an identifier", err);
}

bool mssql_check_capture_instance(Str name, Err *err)
{
    return check_name(name, LIMIT_CAPTURE_INSTANCE_CHARS, "the capture instance", err);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || is_digit(c);
}

static bool is_letter_or_digit(char c)
{
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

/* ^[a-z0-9]+(\((max|[0-9]+(,[0-9]+)?)\))?$ */
static bool is_type_name(Str name)
{
    size_t at = 0;

    while (at < name.len && is_lower_or_digit(name.ptr[at]))
        at++;
    if (at == 0) return false;
    if (at == name.len) return true;
    Str rest = str_slice(name, at, name.len);
    if (str_equal_c(rest, "(max)")) return true;
    if (rest.len < 3 || rest.ptr[0] != '(' || rest.ptr[rest.len - 1] != ')') return false;

    Str    numbers = str_slice(rest, 1, rest.len - 1);
    size_t commas  = 0;
    char   last    = ',';
    for (size_t i = 0; i < numbers.len; i++) {
        char c = numbers.ptr[i];
        if (c == ',' && (last == ',' || ++commas > 1)) return false;
        if (c != ',' && !is_digit(c)) return false;
        last = c;
    }
    return last != ',';
}

bool mssql_check_type_name(Str name, Err *err)
{
    return is_type_name(name) ||
           err_set(err, ERR_INTERNAL, "\"%.*s\" is no type name", STR_ARG(name));
}

bool mssql_check_collation(Str name, Err *err)
{
    bool ok = name.len > 0;

    for (size_t i = 0; i < name.len; i++)
        ok = ok && (is_letter_or_digit(name.ptr[i]) || name.ptr[i] == '_');
    return ok || err_set(err, ERR_INTERNAL, "\"%.*s\" is no collation name", STR_ARG(name));
}

bool mssql_check_zone(Str name, Err *err)
{
    bool ok = name.len > 0 && name.len <= 128;

    for (size_t i = 0; i < name.len && ok; i++)
        ok = is_letter_or_digit(name.ptr[i]) || str_find_char(STR(" ._+-/()"), name.ptr[i], 0) >= 0;
    return ok || err_set(err, ERR_CONFIG,
                         "\"%.*s\" is no Windows time zone name; sys.time_zone_info lists those "
                         "the server knows",
                         STR_ARG(name));
}

void buf_append_identifier(Buf *buf, Str name)
{
    buf_append_char(buf, '[');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == ']') buf_append_char(buf, ']');
        buf_append_char(buf, name.ptr[i]);
    }
    buf_append_char(buf, ']');
}

Str mssql_quote(Arena *arena, Str name)
{
    Buf buf = buf_new(arena, 0);

    buf_append_identifier(&buf, name);
    return buf_str(&buf);
}

Str mssql_change_table(Arena *arena, Str capture_instance)
{
    Buf buf = buf_new(arena, 0);

    buf_append_c(&buf, "cdc.");
    buf_append_identifier(&buf, str_printf(arena, "%.*s_CT", STR_ARG(capture_instance)));
    return buf_str(&buf);
}

/* A bracketed name at `*at`, "]]" standing for "]". */
static bool parse_bracketed(Str text, size_t *at, Arena *arena, Str *out)
{
    Buf buf = buf_new(arena, 0);

    if (*at >= text.len || text.ptr[*at] != '[') return false;
    for (size_t i = *at + 1; i < text.len; i++) {
        if (text.ptr[i] != ']') {
            buf_append_char(&buf, text.ptr[i]);
        } else if (i + 1 < text.len && text.ptr[i + 1] == ']') {
            buf_append_char(&buf, ']');
            i++;
        } else {
            *at  = i + 1;
            *out = buf_str(&buf);
            return out->len > 0;
        }
    }
    return false;
}

bool mssql_parse_column_list(Str text, Arena *arena, const Str **out, size_t *count_out, Err *err)
{
    LIST(Str) names = {0};
    size_t at       = 0;

    text       = str_trim(text);
    *out       = NULL;
    *count_out = 0;
    while (at < text.len) {
        if (names.count > 0) {
            if (text.ptr[at] != ',')
                return err_set(err, ERR_INTERNAL,
                               "the server listed key columns in an unknown form");
            at++;
        }
        while (at < text.len && text.ptr[at] == ' ')
            at++;
        if (!parse_bracketed(text, &at, arena, LIST_PUSH(arena, &names)))
            return err_set(err, ERR_INTERNAL, "the server listed key columns in an unknown form");
        while (at < text.len && text.ptr[at] == ' ')
            at++;
    }
    *out       = names.items;
    *count_out = names.count;
    return true;
}

Str mssql_declared_type(Arena *arena, Str data_type, int64_t length, int64_t precision,
                        int64_t scale, int64_t datetime_precision)
{
    Str name = str_lower_ascii(arena, data_type);

    switch (sql_type_kind(name)) {
    case SQL_TYPE_DECIMAL:
        return str_printf(arena, "%.*s(%lld,%lld)", STR_ARG(name), (long long)MAX(precision, 1),
                          (long long)MAX(scale, 0));
    case SQL_TYPE_CHAR:
    case SQL_TYPE_VARCHAR:
    case SQL_TYPE_NCHAR:
    case SQL_TYPE_NVARCHAR:
    case SQL_TYPE_BINARY:
    case SQL_TYPE_VARBINARY:
        if (length < 0) return str_printf(arena, "%.*s(max)", STR_ARG(name));
        return str_printf(arena, "%.*s(%lld)", STR_ARG(name), (long long)length);
    case SQL_TYPE_TIME:
    case SQL_TYPE_DATETIME2:
    case SQL_TYPE_DATETIMEOFFSET:
        return str_printf(arena, "%.*s(%lld)", STR_ARG(name),
                          (long long)(datetime_precision < 0 ? 7 : datetime_precision));
    default: return name;
    }
}
