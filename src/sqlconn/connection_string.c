/* connection_string.c - ODBC connection strings: taking them apart, quoting, hiding secrets. */
#include "base/buf.h"
#include "base/list.h"
#include "sqlconn/sqlconn_internal.h"

/* The value that starts with '{' at `at`: up to its closing brace, "}}" standing for one. */
static bool parse_braced(Arena *arena, Str text, size_t *at, Str *out)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = *at + 1; i < text.len; i++) {
        if (text.ptr[i] != '}') {
            buf_append_char(&buf, text.ptr[i]);
        } else if (i + 1 < text.len && text.ptr[i + 1] == '}') {
            buf_append_char(&buf, '}');
            i++;
        } else {
            *at  = i + 1;
            *out = buf_str(&buf);
            return true;
        }
    }
    return false;
}

static size_t skip_blanks(Str text, size_t at)
{
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t' || text.ptr[at] == '\n' ||
                             text.ptr[at] == '\r'))
        at++;
    return at;
}

static bool parse_part(Arena *arena, Str text, size_t *at, ConnectionPart *part, Err *err)
{
    size_t    start  = *at;
    ptrdiff_t equals = str_find_char(text, '=', start);
    ptrdiff_t semi   = str_find_char(text, ';', start);

    if (equals < 0 || (semi >= 0 && semi < equals))
        return err_set(err, ERR_CONFIG,
                       "the connection string has a part without '=': keyword=value parts are "
                       "separated by ';', and a "
                       "value that holds ';' is put in braces");
    part->keyword = str_trim(str_slice(text, start, (size_t)equals));
    size_t pos    = skip_blanks(text, (size_t)equals + 1);
    if (pos < text.len && text.ptr[pos] == '{') {
        if (!parse_braced(arena, text, &pos, &part->value))
            return err_set(err, ERR_CONFIG,
                           "the connection string has a '{' without its '}' (keyword %.*s)",
                           STR_ARG(part->keyword));
        part->text = str_trim(str_slice(text, start, pos));
        pos        = skip_blanks(text, pos);
        if (pos < text.len && text.ptr[pos] != ';')
            return err_set(err, ERR_CONFIG,
                           "the connection string has text after the '}' of keyword %.*s",
                           STR_ARG(part->keyword));
    } else {
        ptrdiff_t end = str_find_char(text, ';', pos);
        size_t    to  = end < 0 ? text.len : (size_t)end;
        part->value   = str_trim(str_slice(text, pos, to));
        part->text    = str_trim(str_slice(text, start, to));
        pos           = to;
    }
    *at = pos + 1;
    return true;
}

bool connection_parse(Arena *arena, Str text, ConnectionString *out, Err *err)
{
    LIST(ConnectionPart) parts = {0};
    size_t at                  = 0;

    while ((at = skip_blanks(text, at)) < text.len) {
        if (text.ptr[at] == ';') {
            at++;
            continue;
        }
        if (!parse_part(arena, text, &at, LIST_PUSH(arena, &parts), err)) return false;
    }
    if (parts.count == 0) return err_set(err, ERR_CONFIG, "the connection string is empty");
    *out = (ConnectionString){parts.items, parts.count};
    return true;
}

Str connection_find(const ConnectionString *connection, const char *keyword)
{
    for (size_t i = 0; i < connection->part_count; i++)
        if (str_equal_ignoring_case(connection->parts[i].keyword, str_from_c(keyword)))
            return connection->parts[i].value;
    return (Str){NULL, 0};
}

static bool needs_braces(Str value)
{
    if (value.len == 0) return false;
    for (size_t i = 0; i < value.len; i++)
        if (str_find_char(STR("[]{}(),;?*=!@"), value.ptr[i], 0) >= 0) return true;
    return str_trim(value).len != value.len;
}

Str connection_format_part(Arena *arena, const char *keyword, Str value)
{
    Buf buf = buf_new(arena, 0);

    if (!needs_braces(value)) return str_printf(arena, "%s=%.*s", keyword, STR_ARG(value));
    buf_printf(&buf, "%s={", keyword);
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '}') buf_append_char(&buf, '}');
        buf_append_char(&buf, value.ptr[i]);
    }
    buf_append_char(&buf, '}');
    return buf_str(&buf);
}

static bool is_secret(Arena *arena, Str keyword)
{
    static const char *const words[] = {"pwd",   "pass",       "secret",
                                        "token", "credential", "clientkey"};
    Str                      lower   = str_lower_ascii(arena, keyword);

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_find(lower, str_from_c(words[i]), 0) >= 0) return true;
    return false;
}

Str sql_connection_redact(Arena *arena, Str connection)
{
    ConnectionString parsed = {0};
    Err              err    = ERR_INIT;
    Buf              buf    = buf_new(arena, 0);

    if (!connection_parse(arena, connection, &parsed, &err))
        return STR("(a connection string that cannot be read)");
    for (size_t i = 0; i < parsed.part_count; i++) {
        const ConnectionPart *part = &parsed.parts[i];
        if (i > 0) buf_append_char(&buf, ';');
        if (is_secret(arena, part->keyword))
            buf_printf(&buf, "%.*s=***", STR_ARG(part->keyword));
        else
            buf_append(&buf, part->text);
    }
    return buf_str(&buf);
}
