/* civil.c - dates and the text of instants: proleptic Gregorian, UTC. */
#include "base/clock.h"

#include "base/arena.h"

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_DAY    (INT64_C(86400) * US_PER_SECOND)
#define DAYS_PER_ERA  146097 /* 400 years */

/* Years begin in March here, so that the leap day is the last of its year (Hinnant,
 * "chrono-compatible date algorithms"). */
int64_t civil_days_from_date(int32_t year, int32_t month, int32_t day)
{
    int64_t y   = (int64_t)year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

    return era * DAYS_PER_ERA + doe - 719468;
}

static CivilTime date_from_days(int64_t days)
{
    int64_t   z     = days + 719468;
    int64_t   era   = (z >= 0 ? z : z - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
    int64_t   doe   = z - era * DAYS_PER_ERA;
    int64_t   yoe   = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t   doy   = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t   mp    = (5 * doy + 2) / 153;
    CivilTime civil = {0};

    civil.day   = (int32_t)(doy - (153 * mp + 2) / 5 + 1);
    civil.month = (int32_t)(mp < 10 ? mp + 3 : mp - 9);
    civil.year  = (int32_t)(yoe + era * 400 + (civil.month <= 2));
    return civil;
}

CivilTime civil_from_us(int64_t utc_us)
{
    int64_t us_of_day = utc_us % US_PER_DAY;
    int64_t days      = utc_us / US_PER_DAY;

    if (us_of_day < 0) {
        us_of_day += US_PER_DAY;
        days--;
    }
    CivilTime civil   = date_from_days(days);
    int64_t   seconds = us_of_day / US_PER_SECOND;
    civil.hour        = (int32_t)(seconds / 3600);
    civil.minute      = (int32_t)(seconds / 60 % 60);
    civil.second      = (int32_t)(seconds % 60);
    civil.microsecond = (int32_t)(us_of_day % US_PER_SECOND);
    return civil;
}

int64_t civil_to_us(CivilTime civil)
{
    int64_t days    = civil_days_from_date(civil.year, civil.month, civil.day);
    int64_t seconds = (int64_t)civil.hour * 3600 + (int64_t)civil.minute * 60 + civil.second;

    return days * US_PER_DAY + seconds * US_PER_SECOND + civil.microsecond;
}

Str time_format_ms(Arena *arena, int64_t utc_us)
{
    CivilTime t = civil_from_us(utc_us);
    return str_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", (int)t.year, (int)t.month,
                      (int)t.day, (int)t.hour, (int)t.minute, (int)t.second,
                      (int)t.microsecond / 1000);
}

Str time_format_us(Arena *arena, int64_t utc_us)
{
    CivilTime t = civil_from_us(utc_us);
    return str_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d.%06d", (int)t.year, (int)t.month,
                      (int)t.day, (int)t.hour, (int)t.minute, (int)t.second, (int)t.microsecond);
}

Str time_format_seconds_offset(Arena *arena, int64_t utc_us)
{
    CivilTime t = civil_from_us(utc_us);
    return str_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d+00:00", (int)t.year, (int)t.month,
                      (int)t.day, (int)t.hour, (int)t.minute, (int)t.second);
}

/* ---- reading ---- */

typedef struct Cursor {
    Str    text;
    size_t at;
} Cursor;

static bool take_char(Cursor *cursor, char c)
{
    if (cursor->at >= cursor->text.len || cursor->text.ptr[cursor->at] != c) return false;
    cursor->at++;
    return true;
}

/* Exactly `digits` digits, in [from, to]. */
static bool take_number(Cursor *cursor, size_t digits, int32_t from, int32_t to, int32_t *out)
{
    int32_t value = 0;

    for (size_t i = 0; i < digits; i++, cursor->at++) {
        if (cursor->at >= cursor->text.len) return false;
        char c = cursor->text.ptr[cursor->at];
        if (c < '0' || c > '9') return false;
        value = value * 10 + (c - '0');
    }
    *out = value;
    return value >= from && value <= to;
}

static int32_t days_in_month(int32_t year, int32_t month)
{
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    if (month == 2) return is_leap ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static bool take_date(Cursor *cursor, CivilTime *civil)
{
    return take_number(cursor, 4, 1, 9999, &civil->year) && take_char(cursor, '-') &&
           take_number(cursor, 2, 1, 12, &civil->month) && take_char(cursor, '-') &&
           take_number(cursor, 2, 1, days_in_month(civil->year, civil->month), &civil->day);
}

static bool take_clock(Cursor *cursor, CivilTime *civil)
{
    return take_number(cursor, 2, 0, 23, &civil->hour) && take_char(cursor, ':') &&
           take_number(cursor, 2, 0, 59, &civil->minute) && take_char(cursor, ':') &&
           take_number(cursor, 2, 0, 59, &civil->second);
}

/* 1 to 9 digits behind the point; those below the microsecond are dropped. */
static bool take_fraction(Cursor *cursor, CivilTime *civil)
{
    size_t digits = 0;

    for (; digits < 9 && cursor->at < cursor->text.len; digits++, cursor->at++) {
        char c = cursor->text.ptr[cursor->at];
        if (c < '0' || c > '9') break;
        if (digits < 6) civil->microsecond = civil->microsecond * 10 + (c - '0');
    }
    for (size_t i = digits; i < 6; i++)
        civil->microsecond *= 10;
    return digits > 0;
}

/* Nothing, "Z", or +hh, +hhmm, +hh:mm with either sign; a blank may stand before it, as SQL
 * Server writes. */
static bool take_zone(Cursor *cursor, int64_t *offset_minutes_out)
{
    int32_t hours   = 0;
    int32_t minutes = 0;

    *offset_minutes_out = 0;
    if (cursor->at == cursor->text.len) return true;
    if (take_char(cursor, 'Z')) return true;

    (void)take_char(cursor, ' ');
    bool negative = take_char(cursor, '-');
    if (!negative && !take_char(cursor, '+')) return false;
    if (!take_number(cursor, 2, 0, 23, &hours)) return false;
    if (cursor->at < cursor->text.len) {
        (void)take_char(cursor, ':');
        if (!take_number(cursor, 2, 0, 59, &minutes)) return false;
    }
    int64_t offset_minutes = (int64_t)hours * 60 + minutes;
    *offset_minutes_out    = negative ? -offset_minutes : offset_minutes;
    return true;
}

bool time_parse(Str text, int64_t *utc_us_out)
{
    Cursor    cursor         = {.text = text};
    CivilTime civil          = {0};
    int64_t   offset_minutes = 0;

    if (!take_date(&cursor, &civil)) return false;
    if (!take_char(&cursor, 'T') && !take_char(&cursor, ' ')) return false;
    if (!take_clock(&cursor, &civil)) return false;
    if (take_char(&cursor, '.') && !take_fraction(&cursor, &civil)) return false;
    if (!take_zone(&cursor, &offset_minutes)) return false;
    if (cursor.at != text.len) return false;

    int64_t utc_us = civil_to_us(civil) - offset_minutes * 60 * US_PER_SECOND;
    int32_t year   = civil_from_us(utc_us).year; /* the offset may lead out of years 1 to 9999 */
    if (year < 1 || year > 9999) return false;
    *utc_us_out = utc_us;
    return true;
}
