/* Conversions between dates and times, and what they share: calendar, ranges, rounding
 * (sqlserver.md 2.11). */
#include "sim/value/convert_internal.h"

const char *const month_names[12] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

/* --- calendar --- */
int days_in_month(int64_t year, int64_t month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool             leap     = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : days[month - 1];
}

bool date_to_days(int64_t year, int64_t month, int64_t day, int32_t *out)
{
    if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 ||
        day > days_in_month(year, month))
        return false;
    int64_t y = month <= 2 ? year - 1 : year; /* years begin in March, so the odd day comes last */
    int64_t m = (month + 9) % 12;
    int64_t days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + day - 1;
    *out         = (int32_t)(days - 306); /* 0001-01-01 is 0 */
    return true;
}

DateParts date_from_days(int32_t days)
{
    int64_t n           = (int64_t)days + 306;
    int64_t century     = (4 * n + 3) / 146097;
    int64_t in_century  = n - 146097 * century / 4;
    int64_t year        = (4 * in_century + 3) / 1461;
    int64_t day_of_year = in_century - 1461 * year / 4;
    int64_t month       = (5 * day_of_year + 2) / 153;
    int64_t day         = day_of_year - (153 * month + 2) / 5 + 1;

    return (DateParts){.year  = (int32_t)(100 * century + year + (month >= 10 ? 1 : 0)),
                       .month = (int32_t)(month >= 10 ? month - 9 : month + 3),
                       .day   = (int32_t)day};
}

/* --- making values --- */
static int64_t round_ticks(int64_t ticks, int scale)
{
    int64_t unit = (int64_t)wide_power_of_ten(7 - scale);

    return (ticks + unit / 2) / unit * unit;
}

static bool make_offset(const SimType *to, int64_t days, int64_t ticks, int16_t offset_minutes,
                        SimValue *out)
{
    int64_t utc = ticks - (int64_t)offset_minutes * 60 * TICKS_PER_SECOND;

    if (utc < 0) {
        utc += TICKS_PER_DAY;
        days--;
    } else if (utc >= TICKS_PER_DAY) {
        utc -= TICKS_PER_DAY;
        days++;
    }
    if (days < 0 || days > DAYS_TO_9999) return false;
    out->type                = *to;
    out->time.days           = (int32_t)days;
    out->time.ticks          = utc;
    out->time.offset_minutes = offset_minutes;
    return true;
}

bool time_make(const SimType *to, int64_t days, int64_t ticks, int16_t offset_minutes,
               SimValue *out)
{
    int64_t lowest = 0;

    *out = (SimValue){.type = *to};
    switch (to->kind) {
    case SIM_DATETIME:
        ticks  = (ticks * 3 + 50000) / 100000;
        lowest = 639905; /* 1753-01-01 */
        if (ticks >= DATETIME_TICKS_PER_DAY) {
            ticks -= DATETIME_TICKS_PER_DAY;
            days++;
        }
        break;
    case SIM_SMALLDATETIME:
        ticks  = (ticks + 30 * TICKS_PER_SECOND) / (60 * TICKS_PER_SECOND);
        lowest = DAYS_TO_1900;
        if (ticks >= 1440) {
            ticks -= 1440;
            days++;
        }
        if (days > DAYS_TO_1900 + UINT16_MAX) return false;
        break;
    case SIM_DATE: ticks = 0; break;
    default: {
        int64_t rounded = round_ticks(ticks, to->scale);
        if (rounded < TICKS_PER_DAY) {
            ticks = rounded;
        } else if (to->kind == SIM_TIME) {
            ticks = 0; /* midnight, the day is lost */
        } else if (days >= DAYS_TO_9999) {
            ticks = TICKS_PER_DAY -
                    (int64_t)wide_power_of_ten(7 - to->scale); /* the last moment stays */
        } else {
            ticks = rounded - TICKS_PER_DAY;
            days++;
        }
        break;
    }
    }
    if (to->kind == SIM_TIME) days = 0;
    if (days < lowest || days > DAYS_TO_9999) return false;
    if (to->kind == SIM_DATETIMEOFFSET) return make_offset(to, days, ticks, offset_minutes, out);
    out->time.days  = (int32_t)days;
    out->time.ticks = ticks;
    return true;
}

void time_local(const SimValue *value, int64_t *days_out, int64_t *ticks_out)
{
    int64_t days  = value->type.kind == SIM_TIME ? DAYS_TO_1900 : value->time.days;
    int64_t ticks = value_ticks(value);

    if (value->type.kind == SIM_DATETIMEOFFSET) {
        ticks += (int64_t)value->time.offset_minutes * 60 * TICKS_PER_SECOND;
        if (ticks < 0) {
            ticks += TICKS_PER_DAY;
            days--;
        } else if (ticks >= TICKS_PER_DAY) {
            ticks -= TICKS_PER_DAY;
            days++;
        }
    }
    *days_out  = days;
    *ticks_out = ticks;
}

/* --- from other types --- */
static bool out_of_range(const Conversion *conversion)
{
    return sim_error(
        conversion->error, 242,
        "The conversion of a %s data type to a %s data type resulted in an out-of-range value.",
        sim_type_name(conversion->value->type.kind), sim_type_name(conversion->to->kind));
}

static bool from_time(const Conversion *conversion, SimValue *out)
{
    const SimValue *value = conversion->value;
    int64_t         days  = 0;
    int64_t         ticks = 0;
    int16_t         shift = value->type.kind == SIM_DATETIMEOFFSET ? value->time.offset_minutes : 0;

    if (value->type.kind == SIM_DATETIMEOFFSET && conversion->to->kind == SIM_DATETIMEOFFSET) {
        SimType plain = sim_type_time(SIM_DATETIME2, conversion->to->scale); /* rounds as UTC */
        if (!time_make(&plain, value->time.days, value->time.ticks, 0, out))
            return out_of_range(conversion);
        out->type                = *conversion->to;
        out->time.offset_minutes = shift;
        return true;
    }
    if (value->type.kind == SIM_DATETIME &&
        conversion->to->kind == SIM_SMALLDATETIME) { /* 29.998 s is below the half */
        time_local(value, &days, &ticks);
        ticks = value->time.ticks * 10 / 3 * 10000;
        return time_make(conversion->to, days, ticks, 0, out) || out_of_range(conversion);
    }
    time_local(value, &days, &ticks);
    return time_make(conversion->to, days, ticks, 0, out) || out_of_range(conversion);
}

/* A number is days since 1900, with fractions of them. */
static bool from_number(const Conversion *conversion, SimValue *out)
{
    const SimValue *value = conversion->value;
    double          days  = 0;

    if (value->type.kind == SIM_FLOAT || value->type.kind == SIM_REAL) {
        days = value->f64;
    } else {
        Wide number = 0;
        int  scale  = 0;
        value_as_decimal(value, &number, &scale);
        days = (double)number / (double)wide_power_of_ten(scale);
    }
    if (!(days > -53691 && days < 2958464)) return overflow_error(conversion, "expression");
    int64_t whole = (int64_t)days;
    if (days < (double)whole) whole--;
    int64_t ticks = (int64_t)((days - (double)whole) * 86400.0 * 300.0 + 0.5); /* 1/300 s */
    if (ticks >= DATETIME_TICKS_PER_DAY) {
        ticks = 0;
        whole++;
    }
    return time_make(conversion->to, whole + DAYS_TO_1900, (ticks * 100000 + 1) / 3, 0, out) ||
           overflow_error(conversion, "expression");
}

static uint64_t big_endian(Bytes bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes.len; i++)
        value = value << 8 | bytes.ptr[i];
    return value;
}

/* datetime from its eight bytes, shorter ones filled up at the left; the newer types are not read
 * back. */
static bool from_binary(const Conversion *conversion, SimValue *out)
{
    Bytes    bytes = conversion->value->bytes;
    size_t   width = conversion->to->kind == SIM_DATETIME ? 8 : 4;
    unsigned half  = (unsigned)width * 4;

    if (conversion->to->kind != SIM_DATETIME && conversion->to->kind != SIM_SMALLDATETIME)
        return sim_not_supported(conversion->error, "converting binary to %s",
                                 sim_type_name(conversion->to->kind));
    if (bytes.len > width) bytes = (Bytes){bytes.ptr + (bytes.len - width), width};
    uint64_t bits  = big_endian(bytes);
    int64_t  ticks = (int64_t)(bits & ((UINT64_C(1) << half) - 1));
    int64_t  days  = width == 8 ? (int64_t)(int32_t)(uint32_t)(bits >> half)
                                : (int64_t)(bits >> half);
    int64_t  limit = width == 8 ? DATETIME_TICKS_PER_DAY : 1440;
    if (ticks >= limit) return overflow_error(conversion, "expression");
    int64_t fine = width == 8 ? (ticks * 100000 + 1) / 3 : ticks * 60 * TICKS_PER_SECOND;
    return time_make(conversion->to, days + DAYS_TO_1900, fine, 0, out) ||
           overflow_error(conversion, "expression");
}

bool convert_to_time(const Conversion *conversion, SimValue *out)
{
    SimTypeKind from = conversion->value->type.kind;

    if (sim_type_is_time(from)) return from_time(conversion, out);
    if (sim_type_is_number(from)) return from_number(conversion, out);
    if (sim_type_is_text(from))
        return time_parse_text(conversion, conversion_text(conversion), out);
    return from_binary(conversion, out);
}
