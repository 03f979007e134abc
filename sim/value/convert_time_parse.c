/* Dates and times from text: the ISO forms, yyyymmdd, numbers with separators in the order of the
 * style (mdy by default), month names, times with AM and PM, offsets (sqlserver.md 2.10, 2.11). */
#include "sim/value/convert_internal.h"

typedef enum DateOrder { ORDER_MDY, ORDER_DMY, ORDER_YMD } DateOrder;
typedef enum Outcome { OUTCOME_OK, OUTCOME_SYNTAX, OUTCOME_RANGE } Outcome;

typedef struct Reader {
    Str       text;
    size_t    at;
    DateOrder order;
    bool      needs_t;        /* styles 126 and 127 */
    int       fraction_limit; /* digits */
    bool      takes_offset, takes_zulu;
    /* what was found */
    bool    has_date, has_time, has_offset;
    int64_t year, month, day;
    int64_t ticks;
    int     offset_minutes;
    /* a date with a month's name: its numbers in order */
    bool    has_month_name;
    int64_t numbers[2];
    int     digits[2];
    int     number_count;
} Reader;

static char here(const Reader *reader)
{
    return reader->at < reader->text.len ? reader->text.ptr[reader->at] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_blanks(Reader *reader)
{
    while (here(reader) == ' ' || here(reader) == '\t')
        reader->at++;
}

/* Digits as a number; more than nine of them are no number of ours. */
static bool read_number(Reader *reader, int64_t *out, int *digits_out)
{
    *out        = 0;
    *digits_out = 0;
    while (is_digit(here(reader))) {
        if (++*digits_out > 9) return false;
        *out = *out * 10 + (here(reader) - '0');
        reader->at++;
    }
    return *digits_out > 0;
}

static int64_t full_year(int64_t year, int digits)
{
    if (digits > 2) return year;
    return year < 50 ? 2000 + year : 1900 + year;
}

/* --- time --- */
static bool read_fraction(Reader *reader, bool is_milliseconds)
{
    int64_t number = 0;
    int     digits = 0;

    if (!read_number(reader, &number, &digits)) return false;
    if (is_milliseconds) {
        if (digits > 3) return false;
        reader->ticks += number * 10000;
        return true;
    }
    if (digits > reader->fraction_limit) return false;
    reader->ticks += number * (int64_t)wide_power_of_ten(7 - digits);
    return true;
}

/* AM or PM, 0 if there is none. */
static int read_half(Reader *reader)
{
    size_t before = reader->at;
    int    half   = 0;

    skip_blanks(reader);
    Str word = str_slice(reader->text, reader->at, reader->at + 2);
    if (str_equal_ignoring_case(word, STR("AM"))) half = 1;
    if (str_equal_ignoring_case(word, STR("PM"))) half = 2;
    reader->at = half != 0 ? reader->at + 2 : before;
    return half;
}

static Outcome read_offset(Reader *reader)
{
    int64_t hours   = 0;
    int64_t minutes = 0;
    int     digits  = 0;

    if (here(reader) == 'Z' || here(reader) == 'z') {
        reader->at++;
        reader->has_offset = true;
        return reader->takes_zulu ? OUTCOME_OK : OUTCOME_SYNTAX;
    }
    size_t before = reader->at;
    skip_blanks(reader);
    char sign = here(reader);
    if (sign != '+' && sign != '-') {
        reader->at = before;
        return OUTCOME_OK;
    }
    reader->at++;
    if (!reader->takes_offset || !read_number(reader, &hours, &digits) || digits > 2 ||
        here(reader) != ':')
        return OUTCOME_SYNTAX;
    reader->at++;
    if (!read_number(reader, &minutes, &digits) || digits != 2 || minutes > 59)
        return OUTCOME_SYNTAX;
    minutes += hours * 60;
    if (minutes > INT64_C(14) * 60) return OUTCOME_RANGE;
    reader->offset_minutes = (int)(sign == '-' ? -minutes : minutes);
    reader->has_offset     = true;
    return OUTCOME_OK;
}

/* From the hour on, which was read. */
static Outcome read_time(Reader *reader, int64_t hour, int hour_digits)
{
    int64_t minute = 0;
    int64_t second = 0;
    int     digits = 0;

    if (reader->has_time || hour_digits > 2) return OUTCOME_SYNTAX;
    reader->ticks = 0;
    if (here(reader) == ':') {
        reader->at++;
        if (!read_number(reader, &minute, &digits) || digits > 2) return OUTCOME_SYNTAX;
        if (here(reader) == ':') {
            reader->at++;
            if (!read_number(reader, &second, &digits) || digits > 2) return OUTCOME_SYNTAX;
            if (here(reader) == '.' || here(reader) == ':') {
                bool is_milliseconds = here(reader) == ':';
                reader->at++;
                if (!read_fraction(reader, is_milliseconds)) return OUTCOME_SYNTAX;
            }
        }
    }
    int half = read_half(reader);
    if (half != 0) {
        if (hour > 12) return half == 1 ? OUTCOME_RANGE : (hour > 23 ? OUTCOME_RANGE : OUTCOME_OK);
        if (half == 1 && hour == 12) hour = 0;
        if (half == 2 && hour < 12) hour += 12;
    }
    if (hour > 23 || minute > 59 || second > 59) return OUTCOME_RANGE;
    reader->ticks += ((hour * 60 + minute) * 60 + second) * TICKS_PER_SECOND;
    reader->has_time = true;
    return read_offset(reader);
}

/* --- dates --- */
static void set_date(Reader *reader, int64_t year, int64_t month, int64_t day)
{
    reader->has_date = true;
    reader->year     = year;
    reader->month    = month;
    reader->day      = day;
}

/* n1 separator n2 separator n3; the first number was read. */
static Outcome read_separated(Reader *reader, int64_t first, int first_digits)
{
    int64_t second        = 0;
    int64_t third         = 0;
    int     second_digits = 0;
    int     third_digits  = 0;
    char    separator     = here(reader);

    reader->at++;
    if (reader->has_date || !read_number(reader, &second, &second_digits)) return OUTCOME_SYNTAX;
    if (here(reader) != separator) return OUTCOME_SYNTAX;
    reader->at++;
    if (!read_number(reader, &third, &third_digits)) return OUTCOME_SYNTAX;
    if (first_digits > 4 || second_digits > 2 || third_digits > 4 || first_digits == 3 ||
        third_digits == 3)
        return OUTCOME_SYNTAX;
    if (first_digits == 4) {
        if (third_digits > 2) return OUTCOME_SYNTAX;
        bool turned = reader->order == ORDER_DMY && reader->fraction_limit == 3;
        set_date(reader, first, turned ? third : second, turned ? second : third);
    } else if (reader->order == ORDER_YMD && third_digits <= 2) {
        set_date(reader, full_year(first, first_digits), second, third);
    } else if (reader->order == ORDER_DMY) {
        set_date(reader, full_year(third, third_digits), second, first);
    } else {
        set_date(reader, full_year(third, third_digits), first, second);
    }
    return OUTCOME_OK;
}

static bool read_month_name(Reader *reader)
{
    size_t start = reader->at;

    while (is_letter(here(reader)))
        reader->at++;
    Str word = str_slice(reader->text, start, reader->at);
    for (int i = 0; i < 12; i++) {
        Str full = str_from_c(month_names[i]);
        if (!str_equal_ignoring_case(word, full) &&
            !str_equal_ignoring_case(word, str_slice(full, 0, 3)))
            continue;
        if (reader->has_month_name) return false;
        reader->has_month_name = true;
        reader->month          = i + 1;
        return true;
    }
    reader->at = start;
    return false;
}

/* The numbers beside a month's name: the one of four digits is the year, of two short ones the
 * second. */
static Outcome finish_named(Reader *reader)
{
    int64_t month = reader->month;

    if (reader->has_date || reader->number_count == 0) return OUTCOME_SYNTAX;
    if (reader->number_count == 1) {
        set_date(reader, full_year(reader->numbers[0], reader->digits[0]), month, 1);
        return reader->digits[0] == 3 ? OUTCOME_SYNTAX : OUTCOME_OK;
    }
    int year = reader->digits[0] == 4 ? 0 : 1;
    if (reader->digits[year] == 3 || reader->digits[1 - year] > 2) return OUTCOME_SYNTAX;
    set_date(reader, full_year(reader->numbers[year], reader->digits[year]), month,
             reader->numbers[1 - year]);
    return OUTCOME_OK;
}

static Outcome read_from_number(Reader *reader)
{
    int64_t number = 0;
    int     digits = 0;

    if (!read_number(reader, &number, &digits)) return OUTCOME_SYNTAX;
    if (here(reader) == ':') return read_time(reader, number, digits);
    if (here(reader) == '/' || here(reader) == '-' || here(reader) == '.')
        return read_separated(reader, number, digits);
    size_t before  = reader->at;
    bool   is_half = read_half(reader) != 0;
    reader->at     = before;
    if (is_half) return read_time(reader, number, digits);
    if (digits == 8 && !reader->has_date) {
        set_date(reader, number / 10000, number / 100 % 100, number % 100);
        return OUTCOME_OK;
    }
    if (digits == 6 && !reader->has_date) {
        set_date(reader, full_year(number / 10000, 2), number / 100 % 100, number % 100);
        return OUTCOME_OK;
    }
    if (digits > 4 || reader->number_count == 2) return OUTCOME_SYNTAX;
    reader->numbers[reader->number_count]  = number;
    reader->digits[reader->number_count++] = digits;
    return OUTCOME_OK;
}

/* A bare year, when nothing else was said of the date. */
static Outcome finish_numbers(Reader *reader)
{
    if (reader->has_month_name) return finish_named(reader);
    if (reader->number_count == 0) return OUTCOME_OK;
    if (reader->number_count > 1 || reader->digits[0] != 4 || reader->has_date)
        return OUTCOME_SYNTAX;
    set_date(reader, reader->numbers[0], 1, 1);
    return OUTCOME_OK;
}

static Outcome read_all(Reader *reader)
{
    skip_blanks(reader);
    while (reader->at < reader->text.len) {
        Outcome outcome = OUTCOME_OK;
        char    c       = here(reader);
        if (is_digit(c)) {
            outcome = read_from_number(reader);
        } else if ((c == 'T' || c == 't') && reader->has_date && !reader->has_time &&
                   is_digit(reader->at + 1 < reader->text.len ? reader->text.ptr[reader->at + 1]
                                                              : ' ')) {
            int64_t hour   = 0;
            int     digits = 0;
            reader->at++;
            outcome = read_number(reader, &hour, &digits) && digits == 2 && here(reader) == ':'
                          ? read_time(reader, hour, digits)
                          : OUTCOME_SYNTAX;
        } else if (is_letter(c)) {
            outcome = read_month_name(reader) ? OUTCOME_OK : OUTCOME_SYNTAX;
        } else if (c == ',' && reader->has_month_name) {
            reader->at++;
        } else {
            outcome = OUTCOME_SYNTAX;
        }
        if (outcome != OUTCOME_OK) return outcome;
        skip_blanks(reader);
    }
    return finish_numbers(reader);
}

/* yyyy-mm-dd, alone or followed by T and a time. */
static Outcome read_iso(Reader *reader)
{
    Str text = str_trim(reader->text);

    if (text.len < 10 || text.ptr[4] != '-' || text.ptr[7] != '-') return OUTCOME_SYNTAX;
    if (text.len > 10 && text.ptr[10] != 'T' && text.ptr[10] != 't') return OUTCOME_SYNTAX;
    return read_all(reader);
}

static bool order_of(int style, DateOrder *out)
{
    switch (style % 100) {
    case 0:
    case 1:
    case 7:
    case 8:
    case 9:
    case 10:
    case 14:
    case 22: *out = ORDER_MDY; return true;
    case 3:
    case 4:
    case 5:
    case 6:
    case 13: *out = ORDER_DMY; return true;
    case 2:
    case 11:
    case 12:
    case 20:
    case 21:
    case 23:
    case 24:
    case 25:
    case 26:
    case 27: *out = ORDER_YMD; return true;
    default: return false;
    }
}

static bool failed(const Conversion *conversion, Outcome outcome)
{
    SimTypeKind to = conversion->to->kind;

    if (outcome == OUTCOME_RANGE && (to == SIM_DATETIME || to == SIM_SMALLDATETIME))
        return sim_error(
            conversion->error, 242,
            "The conversion of a %s data type to a %s data type resulted in an out-of-range value.",
            sim_type_name(conversion->value->type.kind), sim_type_name(to));
    if (to == SIM_SMALLDATETIME)
        return sim_error(
            conversion->error, 295,
            "Conversion failed when converting character string to smalldatetime data type.");
    return sim_error(conversion->error, 241,
                     "Conversion failed when converting date and/or time from character string.");
}

bool time_parse_text(const Conversion *conversion, Str text, SimValue *out)
{
    SimTypeKind to     = conversion->to->kind;
    bool        is_old = to == SIM_DATETIME || to == SIM_SMALLDATETIME;
    int32_t     days   = DAYS_TO_1900;
    bool        is_iso = conversion->style == 126 || conversion->style == 127;
    Reader      reader = {.text           = text,
                          .fraction_limit = is_old ? 3 : 7,
                          .takes_offset   = !is_old,
                          .takes_zulu     = true};

    if (conversion->style == 130 || conversion->style == 131)
        return sim_not_supported(conversion->error, "style %d of CONVERT", conversion->style);
    if (conversion->style < 0 || conversion->style > 127 ||
        !order_of(conversion->style, &reader.order))
        return sim_error(
            conversion->error, 281,
            "%d is not a valid style number when converting from a character string to %s.",
            conversion->style, sim_type_name(to));
    Outcome outcome = is_iso ? read_iso(&reader) : read_all(&reader);
    if (outcome == OUTCOME_OK && reader.has_date &&
        !date_to_days(reader.year, reader.month, reader.day, &days))
        outcome = OUTCOME_RANGE;
    if (outcome != OUTCOME_OK) return failed(conversion, outcome);
    if (to == SIM_SMALLDATETIME) /* by way of datetime: 29.999 s is half a minute */
        reader.ticks = (reader.ticks * 3 + 50000) / 100000 * 100000 / 3;
    return time_make(conversion->to, days, reader.ticks, (int16_t)reader.offset_minutes, out) ||
           failed(conversion, OUTCOME_RANGE);
}
