/* log.c - one event, one line, one write(2): lines of several threads and processes never mix. */
#include "base/log.h"

#include "base/arena.h"
#include "base/base_internal.h"
#include "base/buf.h"
#include "base/json.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define LINE_BYTES_MAX   ((size_t)64 << 10) /* a longer line is cut: a log is read by people */
#define STATUS_BYTES_MAX 512
#define ERASE_LINE       "\r\033[K"

struct Log {
    pthread_mutex_t lock;
    Clock          *clock;
    LogLevel        level;
    LogFormat       format;
    LogSink         sink; /* NULL: lines go to fd */
    void           *sink_arg;
    int             fd;
    bool            is_terminal;
    Arena          *arena; /* reset for each line */
    size_t          status_len;
    char            status[STATUS_BYTES_MAX];
};

static const char *level_name(LogLevel level, LogFormat format)
{
    bool upper = format == LOG_FORMAT_TEXT;

    switch (level) {
    case LOG_ERROR: return upper ? "ERROR" : "error";
    case LOG_WARN: return upper ? "WARN" : "warn";
    case LOG_INFO: return upper ? "INFO" : "info";
    case LOG_DEBUG: return upper ? "DEBUG" : "debug";
    case LOG_TRACE: return upper ? "TRACE" : "trace";
    }
    return "";
}

bool log_level_parse(Str text, LogLevel *out)
{
    for (LogLevel level = LOG_ERROR; level <= LOG_TRACE; level++) {
        if (!str_equal_ignoring_case(text, str_from_c(level_name(level, LOG_FORMAT_JSON))))
            continue;
        *out = level;
        return true;
    }
    return false;
}

static Log *new_log(Clock *clock, LogLevel level, LogFormat format)
{
    Log *log = mem_alloc(sizeof *log);

    if (pthread_mutex_init(&log->lock, NULL) != 0) base_fatal("no mutex");
    log->clock  = clock;
    log->level  = level;
    log->format = format;
    log->fd     = -1;
    log->arena  = arena_new();
    return log;
}

Log *log_new(Clock *clock, LogLevel level, LogFormat format, LogSink sink, void *sink_arg)
{
    Log *log = new_log(clock, level, format);

    log->sink     = sink;
    log->sink_arg = sink_arg;
    return log;
}

Log *log_new_fd(Clock *clock, LogLevel level, LogFormat format, int fd)
{
    Log *log = new_log(clock, level, format);

    log->fd          = fd;
    log->is_terminal = isatty(fd) == 1;
    return log;
}

Log *log_new_stderr(Clock *clock, LogLevel level, LogFormat format)
{
    return log_new_fd(clock, level, format, STDERR_FILENO);
}

void log_close(Log *log)
{
    if (log == NULL) return;
    log_set_status_line(log, STR_EMPTY);
    (void)pthread_mutex_destroy(&log->lock);
    arena_close(log->arena);
    mem_free(log);
}

bool log_is_on(const Log *log, LogLevel level)
{
    return level <= log->level;
}

/* A log that cannot be written is no reason to stop replicating, so errors end here. */
static void write_all(int fd, Str text)
{
    while (text.len > 0) {
        ssize_t written = write(fd, text.ptr, text.len);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text = str_slice(text, (size_t)written, text.len);
    }
}

/* ---- the text form ---- */

/* A control character or a malformed byte must not reach a terminal or split a line. */
static void append_escaped(Buf *buf, Str text, bool in_quotes)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at);
        char     bytes[4];

        if (in_quotes && (c == '"' || c == '\\')) {
            buf_append_char(buf, '\\');
            buf_append_char(buf, (char)c);
        } else if (c == '\n') {
            buf_append_c(buf, "\\n");
        } else if (c == '\t') {
            buf_append_c(buf, "\\t");
        } else if (c == '\r') {
            buf_append_c(buf, "\\r");
        } else if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
            buf_printf(buf, "\\u%04x", (unsigned)c);
        } else {
            buf_append_bytes(buf, bytes, utf8_encode(c, bytes));
        }
    }
}

static bool needs_quotes(Str value)
{
    for (size_t at = 0; at < value.len;) {
        uint32_t c = utf8_next(value, &at);
        if (c <= 0x20 || (c >= 0x7F && c <= 0xA0) || c == '"' || c == '\'' || c == '=') return true;
    }
    return value.len == 0;
}

static void append_text_value(Buf *buf, const LogField *field)
{
    char number[32];

    switch (field->type) {
    case LOG_FIELD_I64: buf_printf(buf, "%lld", (long long)field->i64); break;
    case LOG_FIELD_DOUBLE:
        buf_append_bytes(buf, number, double_format_shortest(field->number, number));
        break;
    case LOG_FIELD_BOOL: buf_append_c(buf, field->i64 ? "true" : "false"); break;
    case LOG_FIELD_STR:
        if (!needs_quotes(field->str)) {
            buf_append(buf, field->str);
            break;
        }
        buf_append_char(buf, '"');
        append_escaped(buf, field->str, true);
        buf_append_char(buf, '"');
        break;
    }
}

static void append_text_line(Buf *buf, Str time, LogLevel level, const char *module,
                             const char *message, const LogField *fields)
{
    buf_append(buf, time);
    buf_printf(buf, "Z %s %s ", level_name(level, LOG_FORMAT_TEXT), module);
    append_escaped(buf, str_from_c(message), false);
    for (const LogField *field = fields; field != NULL && field->key != NULL; field++) {
        buf_printf(buf, " %s=", field->key);
        append_text_value(buf, field);
    }
}

/* ---- the JSON form ---- */

static void append_json_field(JsonWriter *json, const LogField *field)
{
    switch (field->type) {
    case LOG_FIELD_I64: json_member_i64(json, field->key, field->i64); break;
    case LOG_FIELD_DOUBLE: json_member_double(json, field->key, field->number); break;
    case LOG_FIELD_BOOL: json_member_bool(json, field->key, field->i64 != 0); break;
    case LOG_FIELD_STR: json_member_str(json, field->key, field->str); break;
    }
}

static void append_json_line(Buf *buf, Arena *arena, Str time, LogLevel level, const char *module,
                             const char *message, const LogField *fields)
{
    JsonWriter json = json_writer(buf, false, false);

    json_object_begin(&json);
    json_member_str(&json, "ts", str_printf(arena, "%.*sZ", STR_ARG(time)));
    json_member_str(&json, "level", str_from_c(level_name(level, LOG_FORMAT_JSON)));
    json_member_str(&json, "module", str_from_c(module));
    json_member_str(&json, "message", str_from_c(message));
    for (const LogField *field = fields; field != NULL && field->key != NULL; field++)
        append_json_field(&json, field);
    json_object_end(&json);
}

/* ---- writing ---- */

static void write_line(Log *log, LogLevel level, Buf *line)
{
    if (log->sink != NULL) {
        log->sink(log->sink_arg, level, buf_str(line));
        return;
    }
    Buf out = buf_new(log->arena, 0);
    if (log->status_len > 0) buf_append_c(&out, ERASE_LINE);
    buf_append(&out, buf_str(line));
    buf_append_char(&out, '\n');
    buf_append_bytes(&out, log->status, log->status_len);
    write_all(log->fd, buf_str(&out));
}

/* A text line may be cut anywhere; half an object of JSON is none, so that one loses its fields. */
static void append_line(Log *log, Buf *line, Str time, LogLevel level, const char *module,
                        const char *message, const LogField *fields)
{
    const LogField truncated[] = {LOG_BOOL("truncated", true), LOG_NONE};

    switch (log->format) {
    case LOG_FORMAT_TEXT: append_text_line(line, time, level, module, message, fields); break;
    case LOG_FORMAT_JSON:
        append_json_line(line, log->arena, time, level, module, message, fields);
        if (!line->overflow) break;
        buf_clear(line);
        append_json_line(line, log->arena, time, level, module, message, truncated);
        break;
    }
}

void log_write(Log *log, LogLevel level, const char *module, const char *message,
               const LogField *fields)
{
    if (!log_is_on(log, level)) return;

    (void)pthread_mutex_lock(&log->lock);
    arena_reset(log->arena);
    Str time = time_format_ms(log->arena,
                              clock_utc_us(log->clock)); /* under the lock: times never run back */
    Buf line = buf_new(log->arena, LINE_BYTES_MAX);
    append_line(log, &line, time, level, module, message, fields);
    write_line(log, level, &line);
    (void)pthread_mutex_unlock(&log->lock);
}

void log_set_status_line(Log *log, Str line)
{
    if (!log->is_terminal) return;

    (void)pthread_mutex_lock(&log->lock);
    if (line.len > 0 || log->status_len > 0) {
        arena_reset(log->arena);
        Buf status = buf_new(log->arena, STATUS_BYTES_MAX);
        Buf out    = buf_new(log->arena, 0);
        append_escaped(&status, line, false);
        log->status_len = status.len;
        if (status.len > 0) memcpy(log->status, status.ptr, status.len);
        buf_append_c(&out, ERASE_LINE);
        buf_append(&out, buf_str(&status));
        write_all(log->fd, buf_str(&out));
    }
    (void)pthread_mutex_unlock(&log->lock);
}
