/* log.h - one event, one line, on stderr (cli.md, style.md 8).
 *
 * 2031-03-04T10:11:12.345Z INFO stream batch committed batch=41 end_lsn=0x00... duration_ms=913
 *
 * or with --log-format json one object a line: {"ts","level","module","message",fields...}, the
 * level in lower case. Messages are stable and in the past tense; fields are typed pairs with
 * units in their names. Secrets and key values have no way in (key values at trace alone). */
#ifndef TIDELAKE_BASE_LOG_H
#define TIDELAKE_BASE_LOG_H

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"

typedef enum LogLevel { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE } LogLevel;
typedef enum LogFormat { LOG_FORMAT_TEXT, LOG_FORMAT_JSON } LogFormat;

typedef struct LogField {
    const char *key; /* NULL ends a list */
    enum { LOG_FIELD_I64, LOG_FIELD_DOUBLE, LOG_FIELD_STR, LOG_FIELD_BOOL } type;
    int64_t i64;
    double  number;
    Str     str;
} LogField;

#define LOG_I64(name, value) \
    ((LogField){.key = (name), .type = LOG_FIELD_I64, .i64 = (int64_t)(value)})
#define LOG_DOUBLE(name, value) \
    ((LogField){.key = (name), .type = LOG_FIELD_DOUBLE, .number = (value)})
#define LOG_STR(name, value) ((LogField){.key = (name), .type = LOG_FIELD_STR, .str = (value)})
#define LOG_TEXT(name, value) \
    ((LogField){.key = (name), .type = LOG_FIELD_STR, .str = str_from_c(value)})
#define LOG_BOOL(name, value) ((LogField){.key = (name), .type = LOG_FIELD_BOOL, .i64 = (value)})
/* LOG_LSN is in types/lsn.h */

typedef struct Log Log;
/* Receives finished lines without the line feed. Called under the log's lock. */
typedef void (*LogSink)(void *arg, LogLevel level, Str line);

Log *log_new(Clock *clock, LogLevel level, LogFormat format, LogSink sink, void *sink_arg);
Log *log_new_stderr(Clock *clock, LogLevel level, LogFormat format);
/* what log_new_stderr does, elsewhere; fd is borrowed */
Log *log_new_fd(Clock *clock, LogLevel level, LogFormat format, int fd);
void log_close(Log *log); /* accepts NULL */
bool log_is_on(const Log *log, LogLevel level);
bool log_level_parse(Str text, LogLevel *out) MUST_CHECK;
/* A line redrawn in place under the log lines, "" to remove it; only log_new_stderr's on a
 * terminal shows it. */
void log_set_status_line(Log *log, Str line);

void log_write(Log *log, LogLevel level, const char *module, const char *message,
               const LogField *fields);

/* At least one field is needed by the macro; LOG_NONE stands for none. */
#define LOG_NONE ((LogField){.key = NULL})
#define log_at(log, level, module, message, ...)                                      \
    (log_is_on((log), (level)) ? log_write((log), (level), (module), (message),       \
                                           (const LogField[]){__VA_ARGS__, LOG_NONE}) \
                               : (void)0)
#define log_error(log, module, message, ...) log_at(log, LOG_ERROR, module, message, __VA_ARGS__)
#define log_warn(log, module, message, ...)  log_at(log, LOG_WARN, module, message, __VA_ARGS__)
#define log_info(log, module, message, ...)  log_at(log, LOG_INFO, module, message, __VA_ARGS__)
#define log_debug(log, module, message, ...) log_at(log, LOG_DEBUG, module, message, __VA_ARGS__)
#define log_trace(log, module, message, ...) log_at(log, LOG_TRACE, module, message, __VA_ARGS__)

#endif
