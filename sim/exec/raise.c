/* raise.c - PRINT, RAISERROR and THROW: what a batch says itself (sqlserver.md 2.5). */
#include "sim/session/session_internal.h"

#include "tds/tds_packet.h"

#include <string.h>

#define SUBSTITUTIONS_MOST 20
#define MESSAGE_UNITS_MOST 2047
#define USER_MESSAGE       50000

static void set_message(SimError *error, Str text)
{
    text       = tds_text_cut(text, SIM_MESSAGE_UNITS_MOST);
    size_t len = MIN(text.len, sizeof error->message - 1);

    while (len < text.len && len > 0 && ((uint8_t)text.ptr[len] & 0xC0) == 0x80)
        len--; /* not within a character */
    if (len > 0) memcpy(error->message, text.ptr, len);
    error->message[len] = '\0';
}

bool run_print(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue value, text;
    SimType  type = sim_type_sized(SIM_NVARCHAR, 4000);

    if (!run_expression(session, stmt->expr, arena, &value, error)) return false;
    if (value.type.kind == SIM_VARCHAR || value.type.kind == SIM_CHAR) {
        type           = sim_type_sized(SIM_VARCHAR, 8000);
        type.collation = value.type.collation;
    }
    text = sim_null(type);
    if (!value.is_null && !sim_convert(&value, &type, 0, true, arena, &text, error)) return false;
    Str      utf8    = text.is_null ? STR(" ") : sim_value_text(arena, &text);
    SimError message = {.state = 1, .line = stmt->line};
    set_message(&message, utf8);
    if (tds_text_units(utf8) > SIM_MESSAGE_UNITS_MOST) message.long_message = utf8;
    session_send_message(session, &message);
    return true;
}

/* --- the text of a RAISERROR --- */

/* A place of the format that an argument goes to: %[flags][width][.precision][h|l|I64]type. */
typedef struct Place {
    bool    is_left, has_sign, has_zeros, has_hash, has_blank, has_precision, is_wide;
    int64_t width, precision;
    char    type;
} Place;

typedef struct Formatter {
    Arena          *arena;
    Str             format;
    size_t          at; /* in `format` */
    const SimValue *args;
    size_t          count, used;
    SimError       *error;
} Formatter;

static bool refuse_format(Formatter *formatter, size_t from)
{
    Str rest = str_slice(formatter->format, from, formatter->format.len);
    return sim_error(formatter->error, 2787, "Invalid format specification: '%.*s'.",
                     STR_ARG(rest));
}

static bool refuse_argument(Formatter *formatter)
{
    return sim_error(
        formatter->error, 2786,
        "The data type of substitution parameter %zu does not match the expected type of "
        "the format specification.",
        formatter->used);
}

static char next_char(const Formatter *formatter)
{
    return formatter->at < formatter->format.len ? formatter->format.ptr[formatter->at] : '\0';
}

/* A number of the format, or an argument's where it says *. More than a message can hold is as good as that. */
static bool read_size(Formatter *formatter, int64_t *out)
{
    *out = 0;
    if (next_char(formatter) == '*') {
        formatter->at++;
        if (formatter->used == formatter->count) return true;
        const SimValue *arg = &formatter->args[formatter->used++];
        if (!sim_type_is_integer(arg->type.kind)) return refuse_argument(formatter);
        *out = arg->is_null ? 0 : MIN(MAX(arg->i64, 0), (int64_t)MESSAGE_UNITS_MOST + 1);
        return true;
    }
    for (; next_char(formatter) >= '0' && next_char(formatter) <= '9'; formatter->at++)
        *out = MIN(*out * 10 + (next_char(formatter) - '0'), (int64_t)MESSAGE_UNITS_MOST + 1);
    return true;
}

static void read_flags(Formatter *formatter, Place *place)
{
    for (;; formatter->at++) {
        switch (next_char(formatter)) {
        case '-': place->is_left = true; break;
        case '+': place->has_sign = true; break;
        case '0': place->has_zeros = true; break;
        case '#': place->has_hash = true; break;
        case ' ': place->has_blank = true; break;
        default: return;
        }
    }
}

/* Behind the %. */
static bool read_place(Formatter *formatter, Place *out)
{
    size_t from = formatter->at - 1;
    Str    rest;

    *out = (Place){.width = 0};
    read_flags(formatter, out);
    if (!read_size(formatter, &out->width)) return false;
    if (next_char(formatter) == '.') {
        formatter->at++;
        out->has_precision = true;
        if (!read_size(formatter, &out->precision)) return false;
    }
    rest = str_slice(formatter->format, formatter->at, formatter->format.len);
    if (str_starts_with(rest, STR("I64"))) {
        out->is_wide = true;
        formatter->at += 3;
    } else if (next_char(formatter) == 'h' || next_char(formatter) == 'l') {
        formatter->at++;
    }
    out->type = next_char(formatter);
    if (out->type == '\0' || !strchr("diosuxX", out->type)) return refuse_format(formatter, from);
    formatter->at++;
    return true;
}

static void append_repeated(Buf *out, char filler, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        buf_append_char(out, filler);
}

static void append_padded(Buf *out, const Place *place, Str sign, Str body, bool takes_zeros)
{
    int64_t fill  = place->width - (int64_t)(tds_text_units(sign) + tds_text_units(body));
    bool    zeros = takes_zeros && place->has_zeros && !place->is_left;

    if (!place->is_left && !zeros) append_repeated(out, ' ', fill);
    buf_append(out, sign);
    if (zeros) append_repeated(out, '0', fill);
    buf_append(out, body);
    if (place->is_left) append_repeated(out, ' ', fill);
}

static bool put_text(Formatter *formatter, const Place *place, const SimValue *arg, Buf *out)
{
    if (!sim_type_is_text(arg->type.kind)) return refuse_argument(formatter);
    Str text = sim_value_text(formatter->arena, arg);
    if (place->has_precision) text = tds_text_cut(text, (size_t)place->precision);
    append_padded(out, place, STR_EMPTY, text, false);
    return true;
}

static Str digits_of(Arena *arena, const Place *place, uint64_t value)
{
    switch (place->type) {
    case 'o': return str_printf(arena, "%llo", (unsigned long long)value);
    case 'x': return str_printf(arena, "%llx", (unsigned long long)value);
    case 'X': return str_printf(arena, "%llX", (unsigned long long)value);
    default: return str_printf(arena, "%llu", (unsigned long long)value);
    }
}

static bool put_number(Formatter *formatter, const Place *place, const SimValue *arg, Buf *out)
{
    bool     is_signed = place->type == 'd' || place->type == 'i';
    bool     is_long   = arg->type.kind == SIM_BIGINT;
    uint64_t magnitude;
    Buf      body = buf_new(formatter->arena, 0);
    Str      sign = STR_EMPTY, digits;

    if (!sim_type_is_integer(arg->type.kind) || (is_long && !place->is_wide))
        return refuse_argument(formatter);
    if (is_signed) {
        magnitude = arg->i64 < 0 ? -(uint64_t)arg->i64 : (uint64_t)arg->i64;
        sign      = arg->i64 < 0       ? STR("-")
                    : place->has_sign  ? STR("+")
                    : place->has_blank ? STR(" ")
                                       : STR_EMPTY;
    } else {
        magnitude = is_long ? (uint64_t)arg->i64 : (uint32_t)arg->i64;
        if (place->has_hash && magnitude != 0)
            sign = place->type == 'x' ? STR("0x") : place->type == 'X' ? STR("0X") : STR_EMPTY;
    }
    digits = digits_of(formatter->arena, place, magnitude);
    append_repeated(&body, '0', place->precision - (int64_t)digits.len);
    buf_append(&body, digits);
    append_padded(out, place, sign, buf_str(&body), !place->has_precision);
    return true;
}

static bool put_argument(Formatter *formatter, const Place *place, Buf *out)
{
    if (formatter->used == formatter->count) {
        buf_append_c(out, "(null)");
        return true;
    }
    const SimValue *arg = &formatter->args[formatter->used++];
    if (arg->is_null) {
        append_padded(out, place, STR_EMPTY, STR("(null)"), false);
        return true;
    }
    return place->type == 's' ? put_text(formatter, place, arg, out)
                              : put_number(formatter, place, arg, out);
}

static bool format_message(Formatter *formatter, Str *out)
{
    Buf   buf = buf_new(formatter->arena, 0);
    Place place;

    while (formatter->at < formatter->format.len) {
        char next = formatter->format.ptr[formatter->at++];
        if (next != '%') {
            buf_append_char(&buf, next);
        } else if (next_char(formatter) == '%') {
            formatter->at++;
            buf_append_char(&buf, '%');
        } else if (!read_place(formatter, &place) || !put_argument(formatter, &place, &buf)) {
            return false;
        }
    }
    *out = buf_str(&buf);
    if (tds_text_units(*out) > MESSAGE_UNITS_MOST)
        *out = str_printf(formatter->arena, "%.*s...",
                          STR_ARG(tds_text_cut(*out, MESSAGE_UNITS_MOST - 3)));
    return true;
}

/* --- RAISERROR --- */

static bool to_int(const SimValue *value, Arena *arena, int64_t *out, SimError *error)
{
    SimType  type = sim_type(SIM_INT);
    SimValue converted;

    *out = 0;
    if (value->is_null) return true;
    if (!sim_convert(value, &type, 0, true, arena, &converted, error)) return false;
    *out = converted.i64;
    return true;
}

/* WITH LOG, NOWAIT, SETERROR. */
static bool has_option(const Stmt *stmt, const char *name)
{
    for (size_t i = 0; i < stmt->words.count; i++)
        if (str_equal_ignoring_case(stmt->words.items[i], str_from_c(name))) return true;
    return false;
}

/* What was said so far leaves; without this it waits for a full packet, or for the end of the batch. */
static void send_now(SimSession *session)
{
    if (session->wire) session->wire->flush(session->wire, 0);
}

/* One of sys.messages, where users have none of their own here. */
static bool refuse_number(int64_t number, int64_t severity, int64_t state, SimError *error)
{
    if (number < 13000 || number == USER_MESSAGE)
        return sim_error(error, 2732,
                         "Error number %lld is invalid. The number must be from 13000 through "
                         "2147483647 and it cannot be 50000.",
                         (long long)number);
    return sim_error(error, 18054,
                     "Error %lld, severity %lld, state %lld was raised, but no message with that "
                     "error number was found in sys.messages. If error is larger than 50000, make "
                     "sure the user-defined message is added using sp_addmessage.",
                     (long long)number, (long long)severity, (long long)state);
}

bool run_raiserror(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue values[3 + SUBSTITUTIONS_MOST];
    size_t   count = stmt->args.count;
    int64_t  severity, state, number;
    Str      text;

    if (count > COUNT_OF(values))
        return sim_error(error, 2747,
                         "Too many substitution parameters for RAISERROR. Cannot exceed 20 "
                         "substitution parameters.");
    for (size_t i = 0; i < count; i++)
        if (!run_expression(session, stmt->args.items[i], arena, &values[i], error)) return false;
    if (!to_int(&values[1], arena, &severity, error) || !to_int(&values[2], arena, &state, error))
        return false;
    severity = MIN(MAX(severity, 0), 25);
    state    = state < 0 ? 1 : MIN(state, 255);
    if (severity > 18 && !has_option(stmt, "LOG"))
        return sim_error(
            error, 2754,
            "Error severity levels greater than 18 can only be specified by members of "
            "the sysadmin role, using the WITH LOG option.");
    if (sim_type_is_number(values[0].type.kind))
        return to_int(&values[0], arena, &number, error) &&
               refuse_number(number, severity, state, error);
    Formatter formatter = {.arena  = arena,
                           .format = sim_value_text(arena, &values[0]),
                           .args   = values + 3,
                           .count  = count - 3,
                           .error  = error};
    if (!format_message(&formatter, &text)) return false;
    SimError raised = {.number   = USER_MESSAGE,
                       .severity = (uint8_t)severity,
                       .state    = (uint8_t)state,
                       .line     = stmt->line};
    set_message(&raised, text);
    if (raised.severity <= 10) {
        if (!session_send_message(session, &raised)) return session_alive(session, error);
        if (has_option(stmt, "NOWAIT")) send_now(session);
        return true;
    }
    *error = raised;
    return false;
}

/* --- THROW --- */

static bool rethrow(SimSession *session, SimError *error)
{
    if (!session->has_caught)
        return sim_error(error, 10704,
                         "To rethrow an error, a THROW statement must be used inside a CATCH "
                         "block. Insert the THROW statement inside a CATCH "
                         "block, or add error parameters to the THROW statement.");
    *error            = session->caught;
    error->ends_batch = true;
    return false;
}

bool run_throw(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue values[3];
    int64_t  number, state;

    if (stmt->args.count == 0) return rethrow(session, error);
    if (stmt->args.count != 3) return sim_error(error, 102, "Incorrect syntax near 'THROW'.");
    for (size_t i = 0; i < 3; i++)
        if (!run_expression(session, stmt->args.items[i], arena, &values[i], error)) return false;
    if (!to_int(&values[0], arena, &number, error) || !to_int(&values[2], arena, &state, error))
        return false;
    if (number < USER_MESSAGE)
        return sim_error(error, 35100,
                         "Error number %lld in the THROW statement is outside the valid range. "
                         "Specify an error number in the valid range of 50000 to 2147483647.",
                         (long long)number);
    *error = (SimError){.number     = (int32_t)number,
                        .severity   = 16,
                        .state      = (uint8_t)MIN(MAX(state, 0), 255),
                        .line       = stmt->line,
                        .ends_batch = true};
    set_message(error, sim_value_text(arena, &values[1]));
    return false;
}
