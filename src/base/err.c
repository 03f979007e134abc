/* err.c - errors as values: a code, the first cause, and what the callers were doing. */
#include "base/err.h"

#include "base/str.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text that was cut inside a character, or that quotes what another program said, must not make a
 * log line or a JSON document invalid. */
static void replace_malformed_bytes(char *text)
{
    Str    whole = str_from_c(text);
    size_t at    = 0;

    while (at < whole.len) {
        size_t from = at;
        if (utf8_next(whole, &at) == 0xFFFD && at == from + 1) text[from] = '?';
    }
}

/* Bounded copy of `from`; `to` is always terminated and valid. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t len = MIN(strlen(from), size - 1);

    memcpy(to, from, len);
    to[len] = '\0';
    replace_malformed_bytes(to);
}

/* Through a second buffer, because the arguments may be the texts of `err` itself. */
static void set_message(Err *err, ErrCode code, const char *fmt, va_list args) PRINTF(3, 0);
static void set_message(Err *err, ErrCode code, const char *fmt, va_list args)
{
    char message[sizeof err->message];
    int  len = vsnprintf(message, sizeof message, fmt, args);

    if (len < 0) message[0] = '\0';
    *err = (Err){.code = code};
    copy_text(err->message, sizeof err->message, message);
}

bool err_set(Err *err, ErrCode code, const char *fmt, ...)
{
    va_list args;

    assert(err != NULL);
    va_start(args, fmt);
    set_message(err, code, fmt, args);
    va_end(args);
    return false;
}

bool err_set_errno(Err *err, ErrCode code, int errno_value, const char *fmt, ...)
{
    char    cause[128];
    va_list args;

    assert(err != NULL);
    va_start(args, fmt);
    set_message(err, code, fmt, args);
    va_end(args);

    err->native = errno_value;
    if (strerror_r(errno_value, cause, sizeof cause) != 0)
        (void)snprintf(cause, sizeof cause, "errno %d", errno_value);
    size_t len = strlen(err->message);
    (void)snprintf(err->message + len, sizeof err->message - len, "%s%s", len ? ": " : "", cause);
    return false;
}

bool err_context(Err *err, const char *fmt, ...)
{
    char    outer[sizeof err->context];
    char    joined[2 * sizeof err->context + 2];
    va_list args;

    assert(err != NULL);
    va_start(args, fmt);
    int len = vsnprintf(outer, sizeof outer, fmt, args);
    va_end(args);
    if (len < 0) return false;
    size_t said = strlen(outer);
    if (said && strncmp(err->context, outer, said) == 0 &&
        (err->context[said] == '\0' || err->context[said] == ':'))
        return false; /* a caller in the same module said it */

    (void)snprintf(joined, sizeof joined, "%s%s%s", outer, err->context[0] ? ": " : "",
                   err->context);
    copy_text(err->context, sizeof err->context, joined);
    return false;
}

bool err_copy(Err *err, const Err *from)
{
    assert(err != NULL);
    assert(from != NULL);
    if (err != from) *err = *from;
    return false;
}

void err_clear(Err *err)
{
    *err = ERR_INIT;
}

int err_exit_status(ErrCode code)
{
    switch (code) {
#define X(name, exit_status, retry, meaning) \
    case name: return exit_status;
        ERR_CODES(X)
#undef X
    }
    return 1;
}

bool err_can_retry(const Err *err)
{
    switch (err->code) {
#define X(name, exit_status, retry, meaning) \
    case name: return retry;
        ERR_CODES(X)
#undef X
    }
    return false;
}

const char *err_code_name(ErrCode code)
{
    switch (code) {
#define X(name, exit_status, retry, meaning) \
    case name: return #name;
        ERR_CODES(X)
#undef X
    }
    return "ERR_UNKNOWN";
}

const char *err_code_meaning(ErrCode code)
{
    switch (code) {
#define X(name, exit_status, retry, meaning) \
    case name: return meaning;
        ERR_CODES(X)
#undef X
    }
    return "unknown error";
}

void err_format(const Err *err, char *buf, size_t size)
{
    const char *message     = err->message[0] ? err->message : err_code_meaning(err->code);
    char        details[64] = "";

    assert(size > 0);
    if (err->sqlstate[0] && err->native != 0)
        (void)snprintf(details, sizeof details, " (SQLSTATE %s, error %d)", err->sqlstate,
                       (int)err->native);
    else if (err->sqlstate[0])
        (void)snprintf(details, sizeof details, " (SQLSTATE %s)", err->sqlstate);
    else if (err->native != 0)
        (void)snprintf(details, sizeof details, " (error %d)", (int)err->native);

    (void)snprintf(buf, size, "%s%s%s%s", err->context, err->context[0] ? ": " : "", message,
                   details);
    replace_malformed_bytes(buf);
}
