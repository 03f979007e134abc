/* Dates and times as text, by style (sqlserver.md 2.10). */
#include "sim/value/convert_internal.h"

#include "base/buf.h"

typedef struct Shown { /* a value taken apart */
    Arena    *arena;
    DateParts date;
    int       hour, minute, second;
    int64_t   fraction; /* of a second, in 10^-digits */
    int       digits;
    bool      has_date, has_time, has_offset;
    int       offset_minutes;
} Shown;

static Shown take_apart(const SimValue *value, Arena *arena)
{
    Shown   shown = {.arena    = arena,
                     .has_date = value->type.kind != SIM_TIME,
                     .has_time = value->type.kind != SIM_DATE};
    int64_t days  = 0;
    int64_t ticks = 0;

    time_local(value, &days, &ticks);
    shown.date   = date_from_days((int32_t)days);
    shown.digits = value->type.kind == SIM_DATETIME ? 3
                   : value->type.kind == SIM_SMALLDATETIME || value->type.kind == SIM_DATE
                       ? 0
                       : value->type.scale;
    if (value->type.kind == SIM_DATETIME)
        ticks = (value->time.ticks * 10 + 1) / 3 * 10000; /* whole milliseconds: .000, .003, .007 */
    int64_t seconds = ticks / TICKS_PER_SECOND;
    shown.hour      = (int)(seconds / 3600);
    shown.minute    = (int)(seconds / 60 % 60);
    shown.second    = (int)(seconds % 60);
    shown.fraction  = ticks % TICKS_PER_SECOND / (int64_t)wide_power_of_ten(7 - shown.digits);
    if (value->type.kind == SIM_DATETIMEOFFSET) {
        shown.has_offset     = true;
        shown.offset_minutes = value->time.offset_minutes;
    }
    return shown;
}

/* A template: Y year, y its last two digits, M D month and day in two digits, N a month's short
 * name, d a day padded with a blank, h hour of 24, H of 12 padded with a blank, m s minutes and
 * seconds, f the fraction with its dot, F with a colon, P AM or PM. */
static void put(const Shown *shown, char code, Buf *out)
{
    int hour12 = shown->hour % 12 == 0 ? 12 : shown->hour % 12;

    switch (code) {
    case 'Y': buf_printf(out, "%04d", (int)shown->date.year); break;
    case 'y': buf_printf(out, "%02d", (int)shown->date.year % 100); break;
    case 'M': buf_printf(out, "%02d", (int)shown->date.month); break;
    case 'D': buf_printf(out, "%02d", (int)shown->date.day); break;
    case 'd': buf_printf(out, "%2d", (int)shown->date.day); break;
    case 'N': buf_printf(out, "%.3s", month_names[shown->date.month - 1]); break;
    case 'h': buf_printf(out, "%02d", shown->hour); break;
    case 'H': buf_printf(out, "%2d", hour12); break;
    case 'm': buf_printf(out, "%02d", shown->minute); break;
    case 's': buf_printf(out, "%02d", shown->second); break;
    case 'f':
    case 'F':
        if (shown->digits > 0)
            buf_printf(out, "%c%0*lld", code == 'f' ? '.' : ':', shown->digits,
                       (long long)shown->fraction);
        break;
    case 'P': buf_append_c(out, shown->hour < 12 ? "AM" : "PM"); break;
    default: buf_append_char(out, code); break;
    }
}

typedef struct Style {
    int         number;
    const char *date, *time; /* templates; NULL: not shown */
    const char *between;
} Style;

static const Style styles[] = {
    {0, "N d Y", "H:mP", " "},      {1, "M/D/y", NULL, ""},        {2, "y.M.D", NULL, ""},
    {3, "D/M/y", NULL, ""},         {4, "D.M.y", NULL, ""},        {5, "D-M-y", NULL, ""},
    {6, "D N y", NULL, ""},         {7, "N D, y", NULL, ""},       {8, NULL, "h:m:s", ""},
    {9, "N d Y", "H:m:sFP", " "},   {10, "M-D-y", NULL, ""},       {11, "y/M/D", NULL, ""},
    {12, "yMD", NULL, ""},          {13, "D N Y", "h:m:sF", " "},  {14, NULL, "h:m:sF", ""},
    {20, "Y-M-D", "h:m:s", " "},    {21, "Y-M-D", "h:m:sf", " "},  {22, "M/D/y", "H:m:s P", " "},
    {23, "Y-M-D", NULL, ""},        {24, NULL, "h:m:s", ""},       {25, "Y-M-D", "h:m:sf", " "},
    {100, "N d Y", "H:mP", " "},    {101, "M/D/Y", NULL, ""},      {102, "Y.M.D", NULL, ""},
    {103, "D/M/Y", NULL, ""},       {104, "D.M.Y", NULL, ""},      {105, "D-M-Y", NULL, ""},
    {106, "D N Y", NULL, ""},       {107, "N D, Y", NULL, ""},     {108, NULL, "h:m:s", ""},
    {109, "N d Y", "H:m:sFP", " "}, {110, "M-D-Y", NULL, ""},      {111, "Y/M/D", NULL, ""},
    {112, "YMD", NULL, ""},         {113, "D N Y", "h:m:sF", " "}, {114, NULL, "h:m:sF", ""},
    {120, "Y-M-D", "h:m:s", " "},   {121, "Y-M-D", "h:m:sf", " "}, {126, "Y-M-D", "h:m:sf", "T"},
    {127, "Y-M-D", "h:m:sf", "T"},
};

static void put_template(const Shown *shown, const char *template, Buf *out)
{
    for (; *template != '\0'; template ++)
        put(shown, *template, out);
}

static void put_offset(const Shown *shown, bool is_iso, Buf *out)
{
    int minutes = shown->offset_minutes < 0 ? -shown->offset_minutes : shown->offset_minutes;

    buf_printf(out, "%s%c%02d:%02d", is_iso ? "" : " ", shown->offset_minutes < 0 ? '-' : '+',
               minutes / 60, minutes % 60);
}

static const Style *find_style(int number)
{
    for (size_t i = 0; i < COUNT_OF(styles); i++) {
        if (styles[i].number == number) return &styles[i];
    }
    return NULL;
}

bool time_format(const SimValue *value, int style, Arena *arena, Str *out)
{
    bool     is_old  = value->type.kind == SIM_DATETIME || value->type.kind == SIM_SMALLDATETIME;
    bool     is_iso  = style == 126 || style == 127;
    SimValue instant = *value;
    Buf      buf     = buf_new(arena, 128);

    const Style *found = find_style(style == 0 && !is_old ? 121 : style);
    if (found == NULL) return false;
    bool zulu = style == 127 && value->type.kind == SIM_DATETIMEOFFSET;
    if (zulu) instant.time.offset_minutes = 0;
    Shown shown = take_apart(&instant, arena);
    if (is_iso && shown.fraction == 0) shown.digits = 0; /* left out when it is zero */
    const char *date = shown.has_date ? found->date : NULL;
    const char *time = shown.has_time ? found->time : NULL;
    if (date != NULL) put_template(&shown, date, &buf);
    if (date != NULL && time != NULL) buf_append_c(&buf, found->between);
    if (time != NULL) put_template(&shown, time, &buf);
    if (zulu)
        buf_append_char(&buf, 'Z');
    else if (shown.has_offset && time != NULL)
        put_offset(&shown, is_iso, &buf);
    *out = buf_str(&buf);
    return true;
}
