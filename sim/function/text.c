/* Functions that make and measure text. Those that look for text in text are in
 * function/search.c. */
#include "sim/function/function_internal.h"

#include "base/buf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TAG_NONE, TAG_LEFT, TAG_RIGHT, TAG_BOTH, TAG_UPPER, TAG_LOWER };

/* --- lengths --- */
static bool type_length(const Typing *typing, SimType *out)
{
    *out = sim_type(typing->args[0].length < 0 && !sim_type_is_number(typing->args[0].kind)
                        ? SIM_BIGINT
                        : SIM_INT);
    if (sim_type_is_time(typing->args[0].kind)) *out = sim_type(SIM_INT);
    return true;
}

static bool type_len(const Typing *typing, SimType *out)
{
    if (sim_type_is_lob(typing->args[0].kind) || typing->args[0].kind == SIM_XML)
        return refuse_argument(typing, 0);
    return type_length(typing, out);
}

static bool call_len(const Call *call, SimValue *out)
{
    Text text;

    if (!text_arg(call, 0, &text)) return false;
    size_t len = text_len(&text);
    while (len > 0 && text_unit(&text, len - 1) == ' ')
        len--;
    out->i64 = (int64_t)len;
    return true;
}

static bool call_datalength(const Call *call, SimValue *out)
{
    const SimValue *value = &call->args[0];

    if (sim_type_is_number(value->type.kind) || sim_type_is_time(value->type.kind))
        out->i64 = sim_type_is_time(value->type.kind) || value->type.kind == SIM_DECIMAL
                       ? value->type.length
                       : sim_type(value->type.kind).length;
    else
        out->i64 = (int64_t)value->bytes.len;
    return true;
}

/* --- parts --- */
static bool type_part(const Typing *typing, SimType *out)
{
    int64_t length = 0;
    size_t  at     = typing->count - 1; /* LEFT(x, n), SUBSTRING(x, from, n) */
    int64_t width  = text_width(&typing->args[0]);

    if (sim_type_is_binary(typing->args[0].kind) && typing->function->tag == TAG_NONE) {
        *out = sim_type_sized(SIM_VARBINARY, width);
        return true;
    }
    if (!type_of_text(typing, out)) return false;
    if (constant_i64(typing, at, &length) && length >= 0 && (width < 0 || length < width) &&
        length <= 4000)
        return type_sized(out->kind, length, &typing->args[0], out);
    return true;
}

static bool negative_length(const Call *call)
{
    return sim_error(call->error, call->function->tag == TAG_NONE ? 537 : 536,
                     "Invalid length parameter passed to the %s function.",
                     call->function->tag == TAG_RIGHT  ? "right"
                     : call->function->tag == TAG_LEFT ? "left"
                                                       : "LEFT or SUBSTRING");
}

static bool call_side(const Call *call, SimValue *out)
{
    Text    text;
    int64_t count = 0;

    if (!text_arg(call, 0, &text) || !i64_arg(call, 1, &count)) return false;
    if (count < 0) return negative_length(call);
    size_t len  = text_len(&text);
    size_t kept = (uint64_t)count < len ? (size_t)count : len;
    Text   part = call->function->tag == TAG_LEFT ? text_slice(&text, 0, kept)
                                                  : text_slice(&text, len - kept, len);
    return set_text(call, &part, out);
}

/* Places before the first count as well: SUBSTRING('abc', 0, 2) is 'a'. */
static bool call_substring(const Call *call, SimValue *out)
{
    Text    text;
    int64_t start  = 0;
    int64_t length = 0;
    bool    binary = sim_type_is_binary(call->args[0].type.kind);

    if (binary)
        text = (Text){call->args[0].bytes, NULL, false};
    else if (!text_arg(call, 0, &text))
        return false;
    if (!i64_arg(call, 1, &start) || !i64_arg(call, 2, &length)) return false;
    if (length < 0) return negative_length(call);
    Wide len  = (Wide)text_len(&text);
    Wide from = MIN(MAX((Wide)start - 1, 0), len);
    Wide to   = MAX(MIN((Wide)start - 1 + length, len), from);
    Text part = text_slice(&text, (size_t)from, (size_t)to);
    if (!binary) return set_text(call, &part, out);
    out->bytes = part.bytes;
    return true;
}

static bool type_stuff(const Typing *typing, SimType *out)
{
    int64_t one  = text_width(&typing->args[0]);
    int64_t two  = text_width(&typing->args[3]);
    bool    wide = sim_type_is_unicode(typing->args[0].kind) ||
                sim_type_is_unicode(typing->args[3].kind);

    if (one < 0 || two < 0)
        return type_sized(wide ? SIM_NVARCHAR : SIM_VARCHAR, -1, &typing->args[0], out);
    return type_sized(wide ? SIM_NVARCHAR : SIM_VARCHAR, MIN(one + two, wide ? 4000 : 8000),
                      &typing->args[0], out);
}

/* Two texts made alike. */
static bool text_pair(const Call *call, size_t first, size_t second, Text *one, Text *two)
{
    if (!text_arg(call, first, one) || !text_arg(call, second, two)) return false;
    if (one->wide) text_widen(call, two);
    if (two->wide) text_widen(call, one);
    return true;
}

static void append(Buf *buf, Text part)
{
    buf_append_bytes(buf, part.bytes.ptr, part.bytes.len);
}

static Text text_of(const Buf *buf, const Text *like)
{
    Text text      = *like;
    text.bytes.ptr = buf->len > 0 ? (const uint8_t *)buf->ptr : (const uint8_t *)"";
    text.bytes.len = buf->len;
    return text;
}

static bool call_stuff(const Call *call, SimValue *out)
{
    Text    text, piece;
    int64_t start  = 0;
    int64_t length = 0;
    Buf     buf    = text_buf(call);

    if (!text_pair(call, 0, 3, &text, &piece) || !i64_arg(call, 1, &start) ||
        !i64_arg(call, 2, &length))
        return false;
    size_t len = text_len(&text);
    if (start < 1 || length < 0 || (uint64_t)start > len) {
        out->is_null = true;
        return true;
    }
    append(&buf, text_slice(&text, 0, (size_t)start - 1));
    append(&buf, piece);
    append(&buf, text_slice(&text, (size_t)start - 1 + (size_t)MIN((uint64_t)length, (uint64_t)len),
                            len));
    Text whole = text_of(&buf, &text);
    return set_text(call, &whole, out);
}

/* --- case, blanks, order --- */
static bool call_case(const Call *call, SimValue *out)
{
    Text text;

    if (!text_arg(call, 0, &text)) return false;
    text.bytes = sim_text_case(call->arena, text.collation, text.wide,
                               call->function->tag == TAG_UPPER, text.bytes);
    return set_text(call, &text, out);
}

static bool is_among(const Text *characters, uint32_t unit)
{
    for (size_t i = 0; i < text_len(characters); i++) {
        if (text_unit(characters, i) == unit) return true;
    }
    return false;
}

static bool call_trim(const Call *call, SimValue *out)
{
    Text text;
    Text blank = {{(const uint8_t *)" ", 1}, NULL, false};

    if (call->count > 1 ? !text_pair(call, 0, 1, &text, &blank) : !text_arg(call, 0, &text))
        return false;
    size_t from = 0;
    size_t to   = text_len(&text);
    while (call->function->tag != TAG_RIGHT && from < to &&
           is_among(&blank, text_unit(&text, from)))
        from++;
    while (call->function->tag != TAG_LEFT && to > from &&
           is_among(&blank, text_unit(&text, to - 1)))
        to--;
    Text part = text_slice(&text, from, to);
    return set_text(call, &part, out);
}

static bool call_reverse(const Call *call, SimValue *out)
{
    Text text;
    Buf  buf = text_buf(call);

    if (!text_arg(call, 0, &text)) return false;
    for (size_t i = text_len(&text); i-- > 0;)
        append(&buf, text_slice(&text, i, i + 1));
    Text whole = text_of(&buf, &text);
    return set_text(call, &whole, out);
}

/* --- repetition --- */
static bool type_replicate(const Typing *typing, SimType *out)
{
    int64_t count = 0;
    int64_t width = text_width(&typing->args[0]);

    if (!type_of_text(typing, out)) return false;
    if (width < 0) return true;
    int64_t limit = out->kind == SIM_NVARCHAR ? 4000 : 8000;
    if (!constant_i64(typing, 1, &count) || count < 0 || count > limit || width * count > limit)
        count = -1;
    return type_sized(out->kind, count < 0 ? limit : width * count, &typing->args[0], out);
}

static bool call_replicate(const Call *call, SimValue *out)
{
    Text    text;
    int64_t count = 0;

    if (!text_arg(call, 0, &text) || !i64_arg(call, 1, &count)) return false;
    if (count < 0) {
        out->is_null = true;
        return true;
    }
    size_t limit = call->type->length < 0
                       ? SIM_VALUE_BYTES_MOST
                       : 8000; /* the bounded types are cut, as the server does */
    Buf    buf   = text_buf(call);
    if (text.bytes.len > 0 && (uint64_t)count > limit / text.bytes.len + 1) {
        if (call->type->length < 0) return sim_value_too_long(call->error);
        count = (int64_t)(limit / text.bytes.len + 1);
    }
    for (int64_t i = 0; i < count && text.bytes.len > 0; i++)
        append(&buf, text);
    Text whole = text_of(&buf, &text);
    return set_text(call, &whole, out);
}

static bool type_space(const Typing *typing, SimType *out)
{
    int64_t count = 0;

    if (!constant_i64(typing, 0, &count) || count < 0 || count > 8000) count = 8000;
    *out = sim_type_sized(SIM_VARCHAR, count);
    return true;
}

static bool call_space(const Call *call, SimValue *out)
{
    int64_t count = 0;

    if (!i64_arg(call, 0, &count)) return false;
    if (count < 0) {
        out->is_null = true;
        return true;
    }
    size_t   len   = (size_t)MIN(count, (int64_t)8000);
    uint8_t *bytes = (uint8_t *)arena_alloc_uninit(call->arena, len + 1);
    memset(bytes, ' ', len);
    out->bytes = (Bytes){bytes, len};
    return true;
}

/* --- CONCAT --- */
static bool type_concat(const Typing *typing, SimType *out)
{
    const SimType *first = NULL;
    int64_t        total = 0;
    bool           wide  = false;

    for (size_t i = 0; i < typing->count; i++) {
        int64_t width = text_width(&typing->args[i]);
        if (sim_type_is_lob(typing->args[i].kind) || typing->args[i].kind == SIM_XML)
            return refuse_argument(typing, i);
        total = total < 0 || width < 0
                    ? -1
                    : total + width * (typing->function->tag == TAG_BOTH && i == 0
                                           ? (int64_t)typing->count
                                           : 1);
        if (sim_type_is_unicode(typing->args[i].kind)) wide = true;
        if (first == NULL && sim_type_is_text(typing->args[i].kind)) first = &typing->args[i];
    }
    if (total >= 0) total = MIN(total, wide ? 4000 : 8000);
    return type_sized(wide ? SIM_NVARCHAR : SIM_VARCHAR, total, first, out);
}

static bool append_arg(const Call *call, size_t index, Buf *buf)
{
    Text text;

    if (call->args[index].is_null) return true;
    if (!text_arg(call, index, &text)) return false;
    if (2 * text_len(&text) > buf->limit - buf->len) return sim_value_too_long(call->error);
    text_widen(call, &text);
    append(buf, text);
    return true;
}

/* NULLs count as nothing. */
static bool call_concat(const Call *call, SimValue *out)
{
    Buf  buf   = text_buf(call);
    Text whole = {{(const uint8_t *)"", 0}, call->type->collation, true};

    for (size_t i = 0; i < call->count; i++) {
        if (!append_arg(call, i, &buf)) return false;
    }
    whole = text_of(&buf, &whole);
    return set_text(call, &whole, out);
}

static bool call_concat_ws(const Call *call, SimValue *out)
{
    Buf  buf   = text_buf(call);
    Text whole = {{(const uint8_t *)"", 0}, call->type->collation, true};
    bool first = true;

    for (size_t i = 1; i < call->count; i++) {
        if (call->args[i].is_null) continue;
        if (!first && !append_arg(call, 0, &buf)) return false;
        first = false;
        if (!append_arg(call, i, &buf)) return false;
    }
    whole = text_of(&buf, &whole);
    return set_text(call, &whole, out);
}

/* --- single characters --- */
static bool type_char(const Typing *typing, SimType *out)
{
    (void)typing;
    *out = sim_type_sized(SIM_CHAR, 1);
    return true;
}

static bool call_char(const Call *call, SimValue *out)
{
    int64_t  code  = 0;
    uint8_t *bytes = (uint8_t *)arena_alloc(call->arena, 1);

    if (!i64_arg(call, 0, &code)) return false;
    out->is_null = code < 0 || code > 255;
    bytes[0]     = (uint8_t)code;
    out->bytes   = (Bytes){bytes, 1};
    return true;
}

static bool type_nchar(const Typing *typing, SimType *out)
{
    (void)typing;
    *out = sim_type_sized(SIM_NCHAR, 1);
    return true;
}

static bool call_nchar(const Call *call, SimValue *out)
{
    int64_t  code  = 0;
    uint8_t *bytes = (uint8_t *)arena_alloc(call->arena, 2);

    if (!i64_arg(call, 0, &code)) return false;
    out->is_null = code < 0 || code > 0xFFFF;
    bytes[0]     = (uint8_t)(code & 0xFF);
    bytes[1]     = (uint8_t)((uint64_t)code >> 8 & 0xFF);
    out->bytes   = (Bytes){bytes, 2};
    return true;
}

static bool call_ascii(const Call *call, SimValue *out)
{
    SimType  to    = sim_type_sized(SIM_VARCHAR, -1);
    SimValue value = {0};

    if (!sim_convert(&call->args[0], &to, 0, false, call->arena, &value, call->error)) return false;
    out->is_null = value.bytes.len == 0;
    if (!out->is_null) out->i64 = value.bytes.ptr[0];
    return true;
}

static bool call_unicode(const Call *call, SimValue *out)
{
    Text text;

    if (!text_arg(call, 0, &text)) return false;
    text_widen(call, &text);
    out->is_null = text_len(&text) == 0;
    if (!out->is_null) out->i64 = text_unit(&text, 0);
    return true;
}

/* --- names --- */
static bool type_quotename(const Typing *typing, SimType *out)
{
    return type_sized(SIM_NVARCHAR, 258, &typing->args[0], out);
}

/* NULL for names longer than 128 characters and for what is no quote. */
static bool call_quotename(const Call *call, SimValue *out)
{
    Text     text;
    Text     quote = {{(const uint8_t *)"[\0", 2}, NULL, true};
    Buf      buf   = text_buf(call);
    uint32_t open  = '[';

    if (!text_arg(call, 0, &text)) return false;
    if (call->count > 1 && !text_arg(call, 1, &quote)) return false;
    text_widen(call, &text);
    if (text_len(&quote) > 0) open = text_unit(&quote, 0);
    uint32_t close = open == '[' || open == ']'   ? ']'
                     : open == '(' || open == ')' ? ')'
                     : open == '{' || open == '}' ? '}'
                     : open == '<' || open == '>' ? '>'
                                                  : open;
    open           = close == ']'   ? '['
                     : close == ')' ? '('
                     : close == '}' ? '{'
                     : close == '>' ? '<'
                                    : close;
    bool known = close == ']' || close == ')' || close == '}' || close == '>' || close == '\'' ||
                 close == '"' || close == '`';
    if (!known || text_len(&text) > 128) {
        out->is_null = true;
        return true;
    }
    const char pair[4] = {(char)open, 0, (char)close, 0};
    buf_append_bytes(&buf, pair, 2);
    for (size_t i = 0; i < text_len(&text); i++) {
        append(&buf, text_slice(&text, i, i + 1));
        if (text_unit(&text, i) == close) buf_append_bytes(&buf, pair + 2, 2);
    }
    buf_append_bytes(&buf, pair + 2, 2);
    Text whole = text_of(&buf, &text);
    return set_text(call, &whole, out);
}

static bool type_sysname(const Typing *typing, SimType *out)
{
    (void)typing;
    *out = sim_type_sized(SIM_NVARCHAR, 128);
    return true;
}

/* Part n of a name, counted from the right: 1 the object, 2 the schema. NULL for what is no
 * name. */
static bool call_parsename(const Call *call, SimValue *out)
{
    Text    text;
    int64_t wanted = 0;
    Str     parts[4];
    size_t  count = 0;

    if (!text_arg(call, 0, &text) || !i64_arg(call, 1, &wanted)) return false;
    text_widen(call, &text);
    Str name     = sim_text_to_utf8(call->arena, NULL, true, text.bytes);
    out->is_null = true;
    for (size_t at = 0;;) {
        Buf  buf    = text_buf(call);
        char closer = at < name.len && name.ptr[at] == '['   ? ']'
                      : at < name.len && name.ptr[at] == '"' ? '"'
                                                             : '\0';
        if (closer != '\0') at++;
        for (; at < name.len; at++) {
            if (closer == '\0' && name.ptr[at] == '.') break;
            if (closer != '\0' && name.ptr[at] == closer) {
                if (at + 1 >= name.len || name.ptr[at + 1] != closer) break;
                at++;
            }
            buf_append_char(&buf, name.ptr[at]);
        }
        if (closer != '\0' && at >= name.len) return true;
        if (closer != '\0') at++;
        if (count == COUNT_OF(parts)) return true;
        parts[count++] = buf_str(&buf);
        if (at >= name.len) break;
        if (name.ptr[at] != '.') return true;
        at++;
    }
    if (wanted < 1 || (uint64_t)wanted > count || parts[count - (size_t)wanted].len == 0)
        return true;
    out->is_null = false;
    return set_utf8(call, parts[count - (size_t)wanted], out);
}

/* --- numbers as text --- */
static bool type_str(const Typing *typing, SimType *out)
{
    int64_t length = 10;

    (void)constant_i64(typing, 1, &length);
    *out = sim_type_sized(SIM_VARCHAR, length < 1 || length > 8000 ? 8000 : length);
    return true;
}

static bool call_str(const Call *call, SimValue *out)
{
    double  number   = 0;
    int64_t length   = 10;
    int64_t decimals = 0;
    char    text[512];

    if (!f64_arg(call, 0, &number)) return false;
    if (call->count > 1 && !i64_arg(call, 1, &length)) return false;
    if (call->count > 2 && !i64_arg(call, 2, &decimals)) return false;
    if (length < 1 || length > 8000 || decimals < 0) {
        out->is_null = true;
        return true;
    }
    decimals = MIN(decimals, (int64_t)16);
    int len  = snprintf(text, sizeof text, "%.*f", (int)decimals, number);
    while (len > length && decimals > 0)
        len = snprintf(text, sizeof text, "%.*f", (int)--decimals, number);
    if (len > length) {
        char *stars = (char *)arena_alloc_uninit(call->arena, (size_t)length);
        memset(stars, '*', (size_t)length);
        return set_utf8(call, (Str){stars, (size_t)length}, out);
    }
    return set_utf8(call, str_printf(call->arena, "%*s", (int)length, text), out);
}

static bool type_hex_text(const Typing *typing, SimType *out)
{
    (void)typing;
    *out = sim_type_sized(SIM_NVARCHAR, -1);
    return true;
}

static bool call_hex_text(const Call *call, SimValue *out)
{
    SimType  to    = sim_type_sized(SIM_VARBINARY, -1);
    SimValue value = {0};

    if (!sim_convert(&call->args[0], &to, 0, false, call->arena, &value, call->error)) return false;
    return set_utf8(
        call,
        str_printf(call->arena, "0x%.*s", STR_ARG(hex_encode(call->arena, value.bytes, false))),
        out);
}

static bool type_refused(const Typing *typing, SimType *out)
{
    (void)out;
    return sim_not_supported(typing->error, "the function %s", typing->function->name);
}

static const SimFunction text_functions[] = {
    {"LEN", 1, 1, false, false, TAG_NONE, type_len, call_len},
    {"DATALENGTH", 1, 1, false, false, TAG_NONE, type_length, call_datalength},
    {"LEFT", 2, 2, false, false, TAG_LEFT, type_part, call_side},
    {"RIGHT", 2, 2, false, false, TAG_RIGHT, type_part, call_side},
    {"SUBSTRING", 3, 3, false, false, TAG_NONE, type_part, call_substring},
    {"STUFF", 4, 4, false, false, TAG_NONE, type_stuff, call_stuff},
    {"UPPER", 1, 1, false, false, TAG_UPPER, type_of_text, call_case},
    {"LOWER", 1, 1, false, false, TAG_LOWER, type_of_text, call_case},
    {"LTRIM", 1, 2, false, false, TAG_LEFT, type_of_text, call_trim},
    {"RTRIM", 1, 2, false, false, TAG_RIGHT, type_of_text, call_trim},
    {"TRIM", 1, 2, false, false, TAG_BOTH, type_of_text, call_trim},
    {"REVERSE", 1, 1, false, false, TAG_NONE, type_of_text, call_reverse},
    {"REPLICATE", 2, 2, false, false, TAG_NONE, type_replicate, call_replicate},
    {"SPACE", 1, 1, false, false, TAG_NONE, type_space, call_space},
    {"CONCAT", 2, ARGS_ANY, false, true, TAG_NONE, type_concat, call_concat},
    {"CONCAT_WS", 3, ARGS_ANY, false, true, TAG_BOTH, type_concat, call_concat_ws},
    {"CHAR", 1, 1, false, false, TAG_NONE, type_char, call_char},
    {"NCHAR", 1, 1, false, false, TAG_NONE, type_nchar, call_nchar},
    {"ASCII", 1, 1, false, false, TAG_NONE, type_int, call_ascii},
    {"UNICODE", 1, 1, false, false, TAG_NONE, type_int, call_unicode},
    {"QUOTENAME", 1, 2, false, false, TAG_NONE, type_quotename, call_quotename},
    {"PARSENAME", 2, 2, false, false, TAG_NONE, type_sysname, call_parsename},
    {"STR", 1, 3, false, false, TAG_NONE, type_str, call_str},
    {"FN_VARBINTOHEXSTR", 1, 1, false, false, TAG_NONE, type_hex_text, call_hex_text},
    {"FORMAT", 2, 3, false, false, TAG_NONE, type_refused, NULL},
    {"SOUNDEX", 1, 1, false, false, TAG_NONE, type_refused, NULL},
    {"DIFFERENCE", 2, 2, false, false, TAG_NONE, type_refused, NULL},
    {"STRING_ESCAPE", 2, 2, false, false, TAG_NONE, type_refused, NULL},
    {"CHECKSUM", 1, ARGS_ANY, false, false, TAG_NONE, type_refused, NULL},
    {"BINARY_CHECKSUM", 1, ARGS_ANY, false, false, TAG_NONE, type_refused, NULL},
    {"FORMATMESSAGE", 1, ARGS_ANY, false, false, TAG_NONE, type_refused, NULL},
    {"DATETRUNC", 2, 2, true, false, TAG_NONE, type_refused, NULL},
    {"DATE_BUCKET", 3, 4, true, false, TAG_NONE, type_refused, NULL},
    {"COMPRESS", 1, 1, false, false, TAG_NONE, type_refused, NULL},
    {"DECOMPRESS", 1, 1, false, false, TAG_NONE, type_refused, NULL},
    {"ISJSON", 1, 2, false, false, TAG_NONE, type_refused, NULL},
    {"JSON_VALUE", 2, 2, false, false, TAG_NONE, type_refused, NULL},
    {"JSON_QUERY", 1, 2, false, false, TAG_NONE, type_refused, NULL},
    {"JSON_MODIFY", 3, 3, false, false, TAG_NONE, type_refused, NULL},
};

const SimFunction *function_find_text(Str name)
{
    return function_find_among(text_functions, COUNT_OF(text_functions), name);
}
