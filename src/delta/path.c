/* Paths of data files: percent coding (delta.md 2.3), and where an add action points (1.13). */
#include "delta/delta_internal.h"

#include <string.h>

static bool is_alnum(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool stays(char c)
{
    return is_alnum(c) || (c != '\0' && strchr("-._~/=@!$&'()*+,", c));
}

Str delta_path_encode(Arena *arena, Str path)
{
    Buf buf = buf_new(arena, 0);
    for (size_t i = 0; i < path.len; i++) {
        if (stays(path.ptr[i]))
            buf_append_char(&buf, path.ptr[i]);
        else
            buf_printf(&buf, "%%%02X", (unsigned)(unsigned char)path.ptr[i]);
    }
    return buf_str(&buf);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

Str delta_path_decode(Arena *arena, Str path)
{
    if (str_find_char(path, '%', 0) < 0) return path;

    Buf buf = buf_new(arena, 0);
    for (size_t i = 0; i < path.len; i++) {
        bool has_two = path.ptr[i] == '%' && i + 2 < path.len && hex_value(path.ptr[i + 1]) >= 0 &&
                       hex_value(path.ptr[i + 2]) >= 0;
        if (!has_two) {
            buf_append_char(&buf, path.ptr[i]);
            continue;
        }
        buf_append_char(&buf, (char)(hex_value(path.ptr[i + 1]) * 16 + hex_value(path.ptr[i + 2])));
        i += 2;
    }
    return buf_str(&buf);
}

/* Length of the scheme of "file:/x", 0 without one (RFC 3986). */
static size_t scheme_len(Str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if (c == ':') return i;
        if (!is_alnum(c) && (i == 0 || (c != '+' && c != '-' && c != '.'))) return 0;
    }
    return 0;
}

Str delta_path_canonical(Arena *arena, Str path)
{
    if (str_starts_with(path, STR("file:/"))) path = str_slice(path, 5, path.len);
    while (str_starts_with(path, STR("//")))
        path = str_slice(path, 1, path.len);
    return delta_path_decode(arena, path);
}

static bool leaves_table(Str path)
{
    Str part;
    while (str_split_next(&path, '/', &part))
        if (str_equal(part, STR(".."))) return true;
    return false;
}

bool delta_path_resolve(Str table_path, Str add_path, Arena *arena, Str *out, Err *err)
{
    Str    decoded = delta_path_decode(arena, add_path);
    size_t scheme  = scheme_len(add_path);

    if (memchr(decoded.ptr, '\0', decoded.len) || leaves_table(decoded))
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-L07 %.*s: the path of file %.*s leads out of the table",
                       STR_ARG(table_path), STR_ARG(add_path));
    if (scheme == 0 && !str_starts_with(decoded, STR("/"))) {
        *out = store_join(arena, table_path, decoded);
        return true;
    }
    if (str_equal(str_slice(add_path, 0, scheme), STR("file")))
        decoded = str_slice(decoded, scheme + 1, decoded.len);
    while (str_starts_with(decoded, STR("//")))
        decoded = str_slice(decoded, 1, decoded.len);
    if (!str_starts_with(decoded, STR("/")))
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-L07 %.*s: file %.*s lies in a store that is not configured",
                       STR_ARG(table_path), STR_ARG(add_path));
    *out = decoded;
    return true;
}
