/* script.c - reading scripts and finding GO. */
#include "sim/cli/script.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>

#define SCRIPT_BYTES_MOST ((size_t)512 << 20)
#define READ_BYTES        ((size_t)64 << 10)
#define REPEAT_MOST       1000000000

/* --- GO --- */

static size_t skip_blanks(Str line, size_t at)
{
    while (at < line.len && (line.ptr[at] == ' ' || line.ptr[at] == '\t' || line.ptr[at] == '\r'))
        at++;
    return at;
}

static bool is_letter(char c, char lower)
{
    return c == lower || c == lower - 'a' + 'A';
}

/* GO, or GO and a count; a comment may follow. */
static bool is_go(Str line, int64_t *repeat_out)
{
    size_t at = skip_blanks(line, 0), from;

    if (at + 2 > line.len || !is_letter(line.ptr[at], 'g') || !is_letter(line.ptr[at + 1], 'o'))
        return false;
    at += 2;
    from        = skip_blanks(line, at);
    *repeat_out = 1;
    if (from > at) {
        at = from;
        while (at < line.len && line.ptr[at] >= '0' && line.ptr[at] <= '9')
            at++;
        if (at > from &&
            (!str_parse_i64(str_slice(line, from, at), repeat_out) || *repeat_out > REPEAT_MOST))
            return false;
        at = skip_blanks(line, at);
    }
    return at == line.len || str_starts_with(str_slice(line, at, line.len), STR("--"));
}

/* --- what a line leaves open --- */

typedef struct Scan {
    char quote;         /* ', " or ]: the end of what is open; 0: nothing is */
    int  comment_depth; /* of block comments, which nest */
} Scan;

static bool is_plain(const Scan *scan)
{
    return scan->quote == 0 && scan->comment_depth == 0;
}

/* At `at`; returns how many bytes were understood. */
static size_t scan_step(Scan *scan, Str line, size_t at)
{
    char c    = line.ptr[at];
    char next = at + 1 < line.len ? line.ptr[at + 1] : '\0';

    if (scan->quote) {
        if (c == scan->quote && next == scan->quote) return 2; /* a doubled one stands for itself */
        if (c == scan->quote) scan->quote = 0;
        return 1;
    }
    if (c == '/' && next == '*') {
        scan->comment_depth++;
        return 2;
    }
    if (scan->comment_depth > 0) {
        if (c != '*' || next != '/') return 1;
        scan->comment_depth--;
        return 2;
    }
    if (c == '-' && next == '-') return line.len - at;
    if (c == '\'' || c == '"') scan->quote = c;
    if (c == '[') scan->quote = ']';
    return 1;
}

static void scan_line(Scan *scan, Str line)
{
    for (size_t at = 0; at < line.len;)
        at += scan_step(scan, line, at);
}

/* --- batches --- */

static void add_batch(Script *script, Arena *arena, Str text, int32_t first_line, int64_t repeat)
{
    if (str_trim(text).len == 0) return;
    *LIST_PUSH(arena, &script->batches) = (ScriptBatch){
        .text = text, .first_line = first_line, .repeat = repeat};
}

void script_split(Str name, Str text, Arena *arena, Script *out)
{
    Scan    scan  = {.quote = 0};
    size_t  start = 0, at = 0;
    int32_t line_number = 0, first_line = 1;

    *out = (Script){.name = name};
    while (at < text.len) {
        ptrdiff_t end  = str_find_char(text, '\n', at);
        size_t    next = end < 0 ? text.len : (size_t)end + 1;
        Str       line = str_slice(text, at, end < 0 ? text.len : (size_t)end);
        int64_t   repeat;

        line_number++;
        if (is_plain(&scan) && is_go(line, &repeat)) {
            add_batch(out, arena, str_slice(text, start, at), first_line, repeat);
            start      = next;
            first_line = line_number + 1;
        } else {
            scan_line(&scan, line);
        }
        at = next;
    }
    add_batch(out, arena, str_slice(text, start, text.len), first_line, 1);
}

/* --- files --- */

static bool read_all(FILE *file, Buf *buf)
{
    for (;;) {
        char  *room = buf_reserve(buf, READ_BYTES);
        size_t got;
        if (!room) return false;
        got = fread(room, 1, READ_BYTES, file);
        buf_advance(buf, got);
        if (got == 0) return ferror(file) == 0;
    }
}

/* Where the first byte is that belongs to no character. */
static size_t find_bad_utf8(Str text)
{
    size_t at = 0;

    while (at < text.len) {
        size_t from = at;
        (void)utf8_next(text, &at);
        if (!utf8_is_valid(str_slice(text, from, at))) return from;
    }
    return at;
}

/* `at` of the first unit of UTF-16 that belongs to no character: half of a pair, or half of a unit. */
static bool find_bad_utf16(Str bytes, size_t *at)
{
    for (; *at + 1 < bytes.len; *at += 2) {
        uint8_t high = (uint8_t)bytes.ptr[*at + 1];
        if (high < 0xD8 || high > 0xDF) continue;
        if (high > 0xDB || *at + 3 >= bytes.len || ((uint8_t)bytes.ptr[*at + 3] & 0xFC) != 0xDC)
            return true;
        *at += 2;
    }
    return *at < bytes.len;
}

/* UTF-8, or UTF-16 behind its mark. Other bytes would come back as something else than they are. */
static bool decode(Str name, Str bytes, Arena *arena, Str *out, Err *err)
{
    size_t at = 2, units;
    char  *utf8;

    if (!str_starts_with(bytes, STR("\xFF\xFE"))) {
        size_t mark = str_starts_with(bytes, STR("\xEF\xBB\xBF")) ? 3 : 0;
        *out        = str_slice(bytes, mark, bytes.len);
        return utf8_is_valid(*out) ||
               err_set(err, ERR_FAILED, "%.*s is not UTF-8: byte 0x%02X at offset %zu",
                       STR_ARG(name), (uint8_t)bytes.ptr[mark + find_bad_utf8(*out)],
                       mark + find_bad_utf8(*out));
    }
    if (find_bad_utf16(bytes, &at))
        return err_set(err, ERR_FAILED, "%.*s is not UTF-16: half a character at offset %zu",
                       STR_ARG(name), at);
    units = (bytes.len - 2) / 2;
    utf8  = arena_alloc_uninit(arena, units * 3 + 1);
    *out  = (Str){utf8, utf16le_to_utf8(str_bytes(bytes).ptr + 2, units, utf8)};
    return true;
}

bool script_read(Str path, Arena *arena, Script *out, Err *err)
{
    bool  is_stdin = str_equal_c(path, "-");
    Str   name     = is_stdin ? STR("stdin") : path;
    FILE *file     = is_stdin ? stdin : fopen(str_c(arena, path), "rb");
    Buf   buf      = buf_new(arena, SCRIPT_BYTES_MOST);
    Str   text     = STR_EMPTY;
    bool  ok;

    if (!file) return err_set_errno(err, ERR_FAILED, errno, "cannot read %.*s", STR_ARG(name));
    ok = read_all(file, &buf);
    if (buf.overflow)
        (void)err_set(err, ERR_FAILED, "%.*s is longer than %zu MiB", STR_ARG(name),
                      SCRIPT_BYTES_MOST >> 20);
    else if (!ok)
        (void)err_set_errno(err, ERR_FAILED, errno, "cannot read %.*s", STR_ARG(name));
    if (!is_stdin) (void)fclose(file);
    if (!ok || !decode(name, buf_str(&buf), arena, &text, err)) return false;
    script_split(name, text, arena, out);
    return true;
}
