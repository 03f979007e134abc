/* Date functions: DATEADD, DATEDIFF, DATEPART and their kin, dates from parts, offsets
 * (sqlserver.md 2.10). */
#include "sim/function/function_internal.h"

#include "sim/value/convert_internal.h"

typedef enum DatePart {
    PART_YEAR,
    PART_QUARTER,
    PART_MONTH,
    PART_DAYOFYEAR,
    PART_DAY,
    PART_WEEK,
    PART_WEEKDAY,
    PART_ISO_WEEK,
    PART_HOUR,
    PART_MINUTE,
    PART_SECOND,
    PART_MILLISECOND,
    PART_MICROSECOND,
    PART_NANOSECOND,
    PART_TZOFFSET,
} DatePart;

static const char *const part_names[] = {
    "year", "quarter", "month",  "dayofyear",   "day",         "week",       "weekday", "iso_week",
    "hour", "minute",  "second", "millisecond", "microsecond", "nanosecond", "tzoffset"};

static const struct {
    const char *name;
    DatePart    part;
} part_words[] = {
    {"year", PART_YEAR},
    {"yy", PART_YEAR},
    {"yyyy", PART_YEAR},
    {"quarter", PART_QUARTER},
    {"qq", PART_QUARTER},
    {"q", PART_QUARTER},
    {"month", PART_MONTH},
    {"mm", PART_MONTH},
    {"m", PART_MONTH},
    {"dayofyear", PART_DAYOFYEAR},
    {"dy", PART_DAYOFYEAR},
    {"y", PART_DAYOFYEAR},
    {"day", PART_DAY},
    {"dd", PART_DAY},
    {"d", PART_DAY},
    {"week", PART_WEEK},
    {"wk", PART_WEEK},
    {"ww", PART_WEEK},
    {"weekday", PART_WEEKDAY},
    {"dw", PART_WEEKDAY},
    {"w", PART_WEEKDAY},
    {"iso_week", PART_ISO_WEEK},
    {"isowk", PART_ISO_WEEK},
    {"isoww", PART_ISO_WEEK},
    {"hour", PART_HOUR},
    {"hh", PART_HOUR},
    {"minute", PART_MINUTE},
    {"mi", PART_MINUTE},
    {"n", PART_MINUTE},
    {"second", PART_SECOND},
    {"ss", PART_SECOND},
    {"s", PART_SECOND},
    {"millisecond", PART_MILLISECOND},
    {"ms", PART_MILLISECOND},
    {"microsecond", PART_MICROSECOND},
    {"mcs", PART_MICROSECOND},
    {"nanosecond", PART_NANOSECOND},
    {"ns", PART_NANOSECOND},
    {"tzoffset", PART_TZOFFSET},
    {"tz", PART_TZOFFSET},
};

static bool find_part(Str word, DatePart *out)
{
    for (size_t i = 0; i < COUNT_OF(part_words); i++) {
        if (!str_equal_ignoring_case(word, str_from_c(part_words[i].name))) continue;
        *out = part_words[i].part;
        return true;
    }
    return false;
}

static const char *lower_name(const SimFunction *function, char out[32])
{
    size_t len = 0;

    for (const char *c = function->name; *c != '\0' && len < 31; c++)
        out[len++] = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    out[len] = '\0';
    return out;
}

static bool part_of_call(const Call *call, DatePart *out)
{
    char name[32];
    Str  word = sim_value_text(call->arena, &call->args[0]);

    if (find_part(word, out)) return true;
    return sim_error(call->error, 155, "'%.*s' is not a recognized %s option.", STR_ARG(word),
                     lower_name(call->function, name));
}

/* *known_out false: the word is not at hand yet, and the call will look at it. */
static bool part_of_typing(const Typing *typing, DatePart *out, bool *known_out)
{
    char   name[32];
    Arena *arena = arena_new();
    bool   ok    = true;

    *out       = PART_DAY;
    *known_out = typing->constants != NULL && typing->constants[0] != NULL &&
                 !typing->constants[0]->is_null;
    if (*known_out) {
        Str word = sim_value_text(arena, typing->constants[0]);
        ok       = find_part(word, out);
        if (!ok)
            sim_error(typing->error, 155, "'%.*s' is not a recognized %s option.", STR_ARG(word),
                      lower_name(typing->function, name));
    }
    arena_close(arena);
    return ok;
}

/* --- what goes with which type --- */
static bool is_date_part(DatePart part)
{
    return part <= PART_ISO_WEEK;
}

static bool part_fits(DatePart part, SimTypeKind kind, bool to_add)
{
    if (part == PART_TZOFFSET)
        return !to_add && (kind == SIM_DATETIMEOFFSET || kind == SIM_DATETIME2);
    if (part == PART_ISO_WEEK && to_add) return false;
    if (kind == SIM_DATE) return is_date_part(part);
    if (kind == SIM_TIME) return !is_date_part(part);
    if (to_add && (kind == SIM_DATETIME || kind == SIM_SMALLDATETIME))
        return part != PART_MICROSECOND && part != PART_NANOSECOND;
    return true;
}

static bool refuse_part(const char *function, DatePart part, SimTypeKind kind, SimError *error)
{
    return sim_error(error, 9810,
                     "The datepart %s is not supported by date function %s for data type %s.",
                     part_names[part], function, sim_type_name(kind));
}

/* What a text or a number stands for where a date is wanted. */
static SimType date_type(const SimType *type, bool to_add)
{
    if (sim_type_is_time(type->kind)) return *type;
    if (sim_type_is_text(type->kind) && !to_add) return sim_type_time(SIM_DATETIMEOFFSET, 7);
    return sim_type(SIM_DATETIME);
}

static bool is_date_like(const SimType *type)
{
    return sim_type_is_time(type->kind) || sim_type_is_text(type->kind) ||
           sim_type_is_number(type->kind);
}

static bool date_arg(const Call *call, size_t index, bool to_add, SimValue *out)
{
    SimType to = date_type(&call->args[index].type, to_add);

    return sim_convert(&call->args[index], &to, 0, false, call->arena, out, call->error);
}

/* --- DATEADD --- */
static bool type_dateadd(const Typing *typing, SimType *out)
{
    DatePart part;
    bool     known;

    if (!part_of_typing(typing, &part, &known)) return false;
    if (!is_date_like(&typing->args[2])) return refuse_argument(typing, 2);
    *out = date_type(&typing->args[2], true);
    return !known || part_fits(part, out->kind, true) ||
           refuse_part("dateadd", part, out->kind, typing->error);
}

static bool add_months(Wide months, int64_t *days)
{
    DateParts date  = date_from_days((int32_t)*days);
    Wide      index = (Wide)date.year * 12 + (date.month - 1) + months;
    int32_t   moved = 0;

    if (index < 12 || index >= (Wide)10000 * 12) return false;
    int64_t year  = (int64_t)(index / 12);
    int64_t month = (int64_t)(index % 12) + 1;
    if (!date_to_days(year, month, MIN(date.day, days_in_month(year, month)), &moved)) return false;
    *days = moved;
    return true;
}

/* Ticks of 100 ns in one of the part; nanoseconds round. */
static Wide part_ticks(DatePart part, int64_t number)
{
    switch (part) {
    case PART_HOUR: return (Wide)number * 3600 * TICKS_PER_SECOND;
    case PART_MINUTE: return (Wide)number * 60 * TICKS_PER_SECOND;
    case PART_SECOND: return (Wide)number * TICKS_PER_SECOND;
    case PART_MILLISECOND: return (Wide)number * 10000;
    case PART_MICROSECOND: return (Wide)number * 10;
    default: return (Wide)(number < 0 ? (number - 50) / 100 : (number + 50) / 100);
    }
}

static bool add_part(DatePart part, int64_t number, int64_t *days, int64_t *ticks, bool wraps)
{
    Wide day = *days;

    switch (part) {
    case PART_YEAR: return add_months((Wide)number * 12, days);
    case PART_QUARTER: return add_months((Wide)number * 3, days);
    case PART_MONTH: return add_months(number, days);
    case PART_DAYOFYEAR:
    case PART_DAY:
    case PART_WEEKDAY: day += number; break;
    case PART_WEEK: day += (Wide)number * 7; break;
    default: {
        Wide total = (Wide)*ticks + part_ticks(part, number);
        Wide carry = total / TICKS_PER_DAY;
        Wide rest  = total % TICKS_PER_DAY;
        if (rest < 0) {
            rest += TICKS_PER_DAY;
            carry--;
        }
        *ticks = (int64_t)rest;
        if (!wraps) day += carry;
        break;
    }
    }
    if (day < 0 || day > DAYS_TO_9999) return false;
    *days = (int64_t)day;
    return true;
}

bool sim_date_add(Str datepart, int64_t number, const SimValue *date, SimValue *out,
                  SimError *error)
{
    SimType  type  = date->type;
    DatePart part  = PART_DAY;
    int64_t  days  = type.kind == SIM_TIME ? DAYS_TO_1900 : date->time.days;
    int64_t  ticks = value_ticks(date);

    if (!find_part(datepart, &part))
        return sim_error(error, 155, "'%.*s' is not a recognized dateadd option.",
                         STR_ARG(datepart));
    if (!part_fits(part, type.kind, true)) return refuse_part("dateadd", part, type.kind, error);
    if (type.kind == SIM_DATETIMEOFFSET)
        time_local(date, &days, &ticks); /* months go by the local calendar */
    if (!add_part(part, number, &days, &ticks, type.kind == SIM_TIME) ||
        !time_make(&type, days, ticks,
                   type.kind == SIM_DATETIMEOFFSET ? date->time.offset_minutes : 0, out))
        return sim_error(error, 517, "Adding a value to a '%s' column caused an overflow.",
                         sim_type_word(&type));
    return true;
}

static bool call_dateadd(const Call *call, SimValue *out)
{
    SimValue date;
    int64_t  number = 0;

    if (!date_arg(call, 2, true, &date) || !i64_arg(call, 1, &number)) return false;
    return sim_date_add(sim_value_text(call->arena, &call->args[0]), number, &date, out,
                        call->error);
}

/* --- DATEDIFF --- */
static bool type_datediff(const Typing *typing, SimType *out)
{
    DatePart part;
    bool     known;

    if (!part_of_typing(typing, &part, &known)) return false;
    for (size_t i = 1; i < 3; i++) {
        char name[32];
        if (!is_date_like(&typing->args[i])) return refuse_argument(typing, i);
        if (part == PART_TZOFFSET || part == PART_ISO_WEEK)
            return refuse_part(lower_name(typing->function, name), part,
                               date_type(&typing->args[i], false).kind, typing->error);
    }
    *out = sim_type(typing->function->tag == SIM_BIGINT ? SIM_BIGINT : SIM_INT);
    return true;
}

static int64_t floor_div(int64_t number, int64_t divisor)
{
    return number / divisor - (number % divisor < 0 ? 1 : 0);
}

/* Boundaries crossed: the number of the part the moment lies in, counted from the beginning of
 * time. */
static Wide part_number(DatePart part, int64_t days, int64_t ticks)
{
    DateParts date = date_from_days((int32_t)days);

    switch (part) {
    case PART_YEAR: return date.year;
    case PART_QUARTER: return (Wide)date.year * 4 + (date.month - 1) / 3;
    case PART_MONTH: return (Wide)date.year * 12 + date.month;
    case PART_WEEK:
        return floor_div(days + 1, 7); /* weeks begin on Sunday: 0001-01-01 was a Monday */
    case PART_HOUR: return (Wide)days * 24 + ticks / (3600 * TICKS_PER_SECOND);
    case PART_MINUTE: return (Wide)days * 1440 + ticks / (60 * TICKS_PER_SECOND);
    case PART_SECOND: return (Wide)days * 86400 + ticks / TICKS_PER_SECOND;
    case PART_MILLISECOND: return (Wide)days * 86400000 + ticks / 10000;
    case PART_MICROSECOND: return (Wide)days * 86400000000 + ticks / 10;
    case PART_NANOSECOND: return ((Wide)days * TICKS_PER_DAY + ticks) * 100;
    default: return days;
    }
}

/* Instants: what an offset says of the clock on the wall does not matter. A datetime counts in the
 * milliseconds it shows. */
static void instant_of(const SimValue *value, int64_t *days, int64_t *ticks)
{
    *days  = value->type.kind == SIM_TIME ? DAYS_TO_1900 : value->time.days;
    *ticks = value_ticks(value);
    if (value->type.kind == SIM_DATETIME) *ticks = (value->time.ticks * 10 + 1) / 3 * 10000;
}

static bool call_datediff(const Call *call, SimValue *out)
{
    DatePart part;
    SimValue from, to;
    int64_t  from_days, from_ticks, to_days, to_ticks;

    if (!part_of_call(call, &part)) return false;
    if (!date_arg(call, 1, false, &from) || !date_arg(call, 2, false, &to)) return false;
    instant_of(&from, &from_days, &from_ticks);
    instant_of(&to, &to_days, &to_ticks);
    Wide count = part_number(part, to_days, to_ticks) - part_number(part, from_days, from_ticks);
    bool big   = call->function->tag == SIM_BIGINT;
    if (count < (big ? INT64_MIN : INT32_MIN) || count > (big ? INT64_MAX : INT32_MAX))
        return sim_error(call->error, 535,
                         "The %s function resulted in an overflow. The number of dateparts "
                         "separating two date/time instances is too large. Try to use "
                         "%s with a less precise datepart.",
                         big ? "datediff_big" : "datediff", big ? "datediff_big" : "datediff");
    out->i64 = (int64_t)count;
    return true;
}

/* --- DATEPART --- */
static bool type_datepart(const Typing *typing, SimType *out)
{
    DatePart part;
    char     name[32];
    bool     known;

    if (!part_of_typing(typing, &part, &known)) return false;
    if (!is_date_like(&typing->args[1])) return refuse_argument(typing, 1);
    SimTypeKind kind = date_type(&typing->args[1], false).kind;
    if (known && !part_fits(part, kind, false))
        return refuse_part(lower_name(typing->function, name), part, kind, typing->error);
    *out = typing->function->tag == SIM_NVARCHAR ? sim_type_sized(SIM_NVARCHAR, 30)
                                                 : sim_type(SIM_INT);
    return true;
}

static int64_t iso_week(int32_t days)
{
    int32_t   thursday = days - days % 7 + 3; /* its year is the week's */
    DateParts date     = date_from_days(thursday);
    int32_t   first    = 0;

    if (!date_to_days(date.year, 1, 1, &first)) return 1;
    return (thursday - first) / 7 + 1;
}

static int64_t part_value(DatePart part, const SimValue *value)
{
    int64_t days  = 0;
    int64_t ticks = 0;
    int32_t first = 0;

    time_local(value, &days, &ticks);
    if (value->type.kind == SIM_DATETIME) ticks = (value->time.ticks * 10 + 1) / 3 * 10000;
    DateParts date = date_from_days((int32_t)days);
    (void)date_to_days(date.year, 1, 1, &first);
    switch (part) {
    case PART_YEAR: return date.year;
    case PART_QUARTER: return (date.month - 1) / 3 + 1;
    case PART_MONTH: return date.month;
    case PART_DAYOFYEAR: return days - first + 1;
    case PART_DAY: return date.day;
    case PART_WEEK: return (days + 1) / 7 - ((int64_t)first + 1) / 7 + 1;
    case PART_WEEKDAY: return (days + 1) % 7 + 1; /* DATEFIRST 7 */
    case PART_ISO_WEEK: return iso_week((int32_t)days);
    case PART_HOUR: return ticks / (3600 * TICKS_PER_SECOND);
    case PART_MINUTE: return ticks / (60 * TICKS_PER_SECOND) % 60;
    case PART_SECOND: return ticks / TICKS_PER_SECOND % 60;
    case PART_MILLISECOND: return ticks % TICKS_PER_SECOND / 10000;
    case PART_MICROSECOND: return ticks % TICKS_PER_SECOND / 10;
    case PART_NANOSECOND: return ticks % TICKS_PER_SECOND * 100;
    case PART_TZOFFSET:
        return value->type.kind == SIM_DATETIMEOFFSET ? value->time.offset_minutes : 0;
    }
    return 0;
}

/* The part, which must fit the type, and the moment. */
static bool part_and_date(const Call *call, DatePart *part, SimValue *value)
{
    char name[32];

    if (!part_of_call(call, part) || !date_arg(call, 1, false, value)) return false;
    return part_fits(*part, value->type.kind, false) ||
           refuse_part(lower_name(call->function, name), *part, value->type.kind, call->error);
}

static bool call_datepart(const Call *call, SimValue *out)
{
    DatePart part;
    SimValue value;

    if (!part_and_date(call, &part, &value)) return false;
    out->i64 = part_value(part, &value);
    return true;
}

static bool call_datename(const Call *call, SimValue *out)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    DatePart                 part;
    SimValue                 value;

    if (!part_and_date(call, &part, &value)) return false;
    int64_t number = part_value(part, &value);
    if (part == PART_MONTH) return set_utf8(call, str_from_c(month_names[number - 1]), out);
    if (part == PART_WEEKDAY) return set_utf8(call, str_from_c(days[number - 1]), out);
    if (part == PART_TZOFFSET) {
        int64_t size = number < 0 ? -number : number;
        return set_utf8(call,
                        str_printf(call->arena, "%c%02d:%02d", number < 0 ? '-' : '+',
                                   (int)(size / 60), (int)(size % 60)),
                        out);
    }
    return set_utf8(call, str_printf(call->arena, "%lld", (long long)number), out);
}

/* YEAR, MONTH, DAY: a number is a date too. */
static bool type_simple_part(const Typing *typing, SimType *out)
{
    if (!is_date_like(&typing->args[0]) || typing->args[0].kind == SIM_TIME)
        return refuse_argument(typing, 0);
    return type_int(typing, out);
}

static bool call_simple_part(const Call *call, SimValue *out)
{
    SimValue value;

    if (!date_arg(call, 0, false, &value)) return false;
    out->i64 = part_value((DatePart)call->function->tag, &value);
    return true;
}

/* --- making dates --- */
static bool type_date(const Typing *typing, SimType *out)
{
    (void)typing;
    *out = sim_type(SIM_DATE);
    return true;
}

static bool call_eomonth(const Call *call, SimValue *out)
{
    SimType  to     = sim_type(SIM_DATE);
    SimValue date   = {0};
    int64_t  months = 0;
    int32_t  last   = 0;

    if (!sim_convert(&call->args[0], &to, 0, false, call->arena, &date, call->error)) return false;
    if (call->count > 1 && !i64_arg(call, 1, &months)) return false;
    int64_t days = date.time.days;
    if (!add_months(months, &days))
        return sim_error(call->error, 517, "Adding a value to a 'date' column caused an overflow.");
    DateParts parts = date_from_days((int32_t)days);
    (void)date_to_days(parts.year, parts.month, days_in_month(parts.year, parts.month), &last);
    out->time.days = last;
    return true;
}

static bool type_from_parts(const Typing *typing, SimType *out)
{
    SimTypeKind kind  = (SimTypeKind)typing->function->tag;
    int64_t     scale = 0;

    *out = sim_type(kind);
    if (kind != SIM_DATETIME2 && kind != SIM_TIME && kind != SIM_DATETIMEOFFSET) return true;
    if (!constant_i64(typing, typing->count - 1, &scale))
        return sim_error(typing->error, 10760,
                         "Scale argument is not valid. Valid expressions for data type %s scale "
                         "argument are integer constants and integer constant expressions.",
                         sim_type_name(kind));
    if (scale < 0 || scale > 7)
        return sim_error(typing->error, 1002, "Specified scale %lld is invalid.", (long long)scale);
    *out = sim_type_time(kind, (int)scale);
    return true;
}

static bool bad_parts(const Call *call)
{
    return sim_error(
        call->error, 289,
        "Cannot construct data type %s, some of the arguments have values which are not valid.",
        sim_type_word(call->type));
}

/* The arguments in order: year to day, hour to second, the fraction, the offset's two, the
 * scale. */
static bool call_from_parts(const Call *call, SimValue *out)
{
    SimTypeKind kind     = call->type->kind;
    bool        has_date = kind != SIM_TIME;
    int64_t     n[10]    = {0}; /* at most ten arguments */
    int32_t     days     = DAYS_TO_1900;

    for (size_t i = 0; i < call->count; i++) {
        if (!i64_arg(call, i, &n[i])) return false;
    }
    size_t at = 0;
    if (has_date) {
        if (!date_to_days(n[0], n[1], n[2], &days)) return bad_parts(call);
        at = 3;
    }
    int64_t hour     = kind == SIM_DATE ? 0 : n[at];
    int64_t minute   = kind == SIM_DATE ? 0 : n[at + 1];
    int64_t second   = kind == SIM_DATE || kind == SIM_SMALLDATETIME ? 0 : n[at + 2];
    int64_t fraction = kind == SIM_DATE || kind == SIM_SMALLDATETIME ? 0 : n[at + 3];
    int     digits   = kind == SIM_DATETIME ? 3 : call->type->scale;
    int64_t limit    = (int64_t)wide_power_of_ten(digits);
    int64_t offset   = kind == SIM_DATETIMEOFFSET ? n[7] * 60 + n[8] : 0;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 ||
        fraction < 0 || fraction >= MAX(limit, (int64_t)1) || offset < -840 || offset > 840)
        return bad_parts(call);
    int64_t ticks = ((hour * 60 + minute) * 60 + second) * TICKS_PER_SECOND +
                    fraction * (int64_t)wide_power_of_ten(7 - digits);
    return time_make(call->type, days, ticks, (int16_t)offset, out) || bad_parts(call);
}

/* --- offsets --- */
static bool type_offset(const Typing *typing, SimType *out)
{
    const SimType *from  = &typing->args[0];
    int            scale = from->kind == SIM_DATETIME ? 3
                           : from->kind == SIM_DATETIME2 || from->kind == SIM_DATETIMEOFFSET ||
                        from->kind == SIM_TIME
                               ? from->scale
                               : 7;

    if (!sim_type_is_time(from->kind) && !sim_type_is_text(from->kind))
        return refuse_argument(typing, 0);
    *out = sim_type_time(SIM_DATETIMEOFFSET, scale);
    return true;
}

static bool bad_zone(const Call *call)
{
    char name[32];

    return sim_error(call->error, 9812, "The timezone provided to builtin function %s is invalid.",
                     lower_name(call->function, name));
}

/* '+hh:mm' or minutes. */
static bool offset_arg(const Call *call, size_t index, int16_t *out)
{
    int64_t minutes = 0;
    Text    text;

    if (sim_type_is_text(call->args[index].type.kind)) {
        if (!text_arg(call, index, &text)) return false;
        Str zone = str_trim(sim_text_to_utf8(call->arena, text.collation, text.wide, text.bytes));
        if (zone.len != 6 || (zone.ptr[0] != '+' && zone.ptr[0] != '-') || zone.ptr[3] != ':')
            return bad_zone(call);
        int64_t hours = 0;
        if (!str_parse_i64(str_slice(zone, 1, 3), &hours) ||
            !str_parse_i64(str_slice(zone, 4, 6), &minutes) || hours < 0 || minutes < 0 ||
            minutes > 59)
            return bad_zone(call);
        minutes += hours * 60;
        if (zone.ptr[0] == '-') minutes = -minutes;
    } else if (!i64_arg(call, index, &minutes)) {
        return false;
    }
    if (minutes < -840 || minutes > 840) return bad_zone(call);
    *out = (int16_t)minutes;
    return true;
}

static bool call_switchoffset(const Call *call, SimValue *out)
{
    int16_t offset = 0;

    if (!sim_convert(&call->args[0], call->type, 0, false, call->arena, out, call->error) ||
        !offset_arg(call, 1, &offset))
        return false;
    out->time.offset_minutes = offset;
    return true;
}

/* The clock on the wall stays, the offset is put beside it. */
static bool call_todatetimeoffset(const Call *call, SimValue *out)
{
    int16_t  offset = 0;
    int64_t  days   = 0;
    int64_t  ticks  = 0;
    SimValue date;

    if (!date_arg(call, 0, false, &date) || !offset_arg(call, 1, &offset)) return false;
    time_local(&date, &days, &ticks);
    return time_make(call->type, days, ticks, offset, out) ||
           sim_error(call->error, 517,
                     "Adding a value to a 'datetimeoffset' column caused an overflow.");
}

static bool call_isdate(const Call *call, SimValue *out)
{
    SimType  to      = sim_type(SIM_DATETIME);
    SimValue value   = {0};
    SimError ignored = SIM_ERROR_INIT;

    out->i64 = 0;
    if (call->args[0].is_null || !sim_type_is_text(call->args[0].type.kind)) return true;
    Text text;
    if (!text_arg(call, 0, &text)) return false;
    if (text_len(&text) == 0) return true;
    out->i64 = sim_convert(&call->args[0], &to, 0, false, call->arena, &value, &ignored) ? 1 : 0;
    return true;
}

static const SimFunction date_functions[] = {
    {"DATEADD", 3, 3, true, false, 0, type_dateadd, call_dateadd},
    {"DATEDIFF", 3, 3, true, false, SIM_INT, type_datediff, call_datediff},
    {"DATEDIFF_BIG", 3, 3, true, false, SIM_BIGINT, type_datediff, call_datediff},
    {"DATEPART", 2, 2, true, false, SIM_INT, type_datepart, call_datepart},
    {"DATENAME", 2, 2, true, false, SIM_NVARCHAR, type_datepart, call_datename},
    {"YEAR", 1, 1, false, false, PART_YEAR, type_simple_part, call_simple_part},
    {"MONTH", 1, 1, false, false, PART_MONTH, type_simple_part, call_simple_part},
    {"DAY", 1, 1, false, false, PART_DAY, type_simple_part, call_simple_part},
    {"EOMONTH", 1, 2, false, false, 0, type_date, call_eomonth},
    {"DATEFROMPARTS", 3, 3, false, false, SIM_DATE, type_from_parts, call_from_parts},
    {"DATETIMEFROMPARTS", 7, 7, false, false, SIM_DATETIME, type_from_parts, call_from_parts},
    {"DATETIME2FROMPARTS", 8, 8, false, false, SIM_DATETIME2, type_from_parts, call_from_parts},
    {"SMALLDATETIMEFROMPARTS", 5, 5, false, false, SIM_SMALLDATETIME, type_from_parts,
     call_from_parts},
    {"TIMEFROMPARTS", 5, 5, false, false, SIM_TIME, type_from_parts, call_from_parts},
    {"DATETIMEOFFSETFROMPARTS", 10, 10, false, false, SIM_DATETIMEOFFSET, type_from_parts,
     call_from_parts},
    {"SWITCHOFFSET", 2, 2, false, false, 0, type_offset, call_switchoffset},
    {"TODATETIMEOFFSET", 2, 2, false, false, 0, type_offset, call_todatetimeoffset},
    {"ISDATE", 1, 1, false, true, 0, type_int, call_isdate},
};

const SimFunction *function_find_date(Str name)
{
    return function_find_among(date_functions, COUNT_OF(date_functions), name);
}
