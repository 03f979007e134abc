/* time_zone.c - the table of zones and the arithmetic of their two changes a year. */
#include "sim/value/time_zone.h"

#include "base/clock.h"

#define MINUTE_US INT64_C(60000000)
#define DAY_US    (1440 * MINUTE_US)

typedef enum ChangeClock { WALL, UTC_CLOCK } ChangeClock;

/* The week-th Sunday of a month (5: the last), minutes after midnight by the wall clock before the
 * change, or by UTC. */
typedef struct ZoneChange {
    int         month, week, minute;
    ChangeClock clock;
} ZoneChange;

typedef struct ZoneRule {
    int        saved_minutes;
    ZoneChange begin, end; /* of summer time */
} ZoneRule;

struct SimZone {
    const char     *name;
    int             offset_minutes; /* standard time */
    const ZoneRule *rule;           /* NULL: one offset all year */
};

static const ZoneRule rule_eu          = {60, {3, 5, 60, UTC_CLOCK}, {10, 5, 60, UTC_CLOCK}};
static const ZoneRule rule_us          = {60, {3, 2, 120, WALL}, {11, 1, 120, WALL}};
static const ZoneRule rule_australia   = {60, {10, 1, 120, WALL}, {4, 1, 180, WALL}};
static const ZoneRule rule_lord_howe   = {30, {10, 1, 120, WALL}, {4, 1, 120, WALL}};
static const ZoneRule rule_new_zealand = {60, {9, 5, 120, WALL}, {4, 1, 180, WALL}};

/* In the order of their names. */
/* clang-format off */
static const SimZone zones[] = {
    {"Afghanistan Standard Time", 270, NULL},
    {"Alaskan Standard Time", -540, &rule_us},
    {"Arab Standard Time", 180, NULL},
    {"Arabian Standard Time", 240, NULL},
    {"Argentina Standard Time", -180, NULL},
    {"Atlantic Standard Time", -240, &rule_us},
    {"AUS Central Standard Time", 570, NULL},
    {"AUS Eastern Standard Time", 600, &rule_australia},
    {"Bangladesh Standard Time", 360, NULL},
    {"Cen. Australia Standard Time", 570, &rule_australia},
    {"Central America Standard Time", -360, NULL},
    {"Central Europe Standard Time", 60, &rule_eu},
    {"Central European Standard Time", 60, &rule_eu},
    {"Central Standard Time", -360, &rule_us},
    {"China Standard Time", 480, NULL},
    {"E. Africa Standard Time", 180, NULL},
    {"E. Australia Standard Time", 600, NULL},
    {"E. South America Standard Time", -180, NULL},
    {"Eastern Standard Time", -300, &rule_us},
    {"FLE Standard Time", 120, &rule_eu},
    {"GMT Standard Time", 0, &rule_eu},
    {"Greenwich Standard Time", 0, NULL},
    {"GTB Standard Time", 120, &rule_eu},
    {"Hawaiian Standard Time", -600, NULL},
    {"India Standard Time", 330, NULL},
    {"Iran Standard Time", 210, NULL},
    {"Korea Standard Time", 540, NULL},
    {"Lord Howe Standard Time", 630, &rule_lord_howe},
    {"Mountain Standard Time", -420, &rule_us},
    {"Myanmar Standard Time", 390, NULL},
    {"Nepal Standard Time", 345, NULL},
    {"New Zealand Standard Time", 720, &rule_new_zealand},
    {"Newfoundland Standard Time", -210, &rule_us},
    {"Pacific Standard Time", -480, &rule_us},
    {"Pakistan Standard Time", 300, NULL},
    {"Romance Standard Time", 60, &rule_eu},
    {"Russian Standard Time", 180, NULL},
    {"SA Pacific Standard Time", -300, NULL},
    {"SE Asia Standard Time", 420, NULL},
    {"Singapore Standard Time", 480, NULL},
    {"South Africa Standard Time", 120, NULL},
    {"Tokyo Standard Time", 540, NULL},
    {"Turkey Standard Time", 180, NULL},
    {"US Mountain Standard Time", -420, NULL},
    {"UTC", 0, NULL},
    {"W. Central Africa Standard Time", 60, NULL},
    {"W. Europe Standard Time", 60, &rule_eu},
    {"West Asia Standard Time", 300, NULL},
};
/* clang-format on */

const SimZone *sim_zone_find(Str windows_name)
{
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        if (str_equal_ignoring_case(str_from_c(zones[i].name), windows_name)) return &zones[i];
    return NULL;
}

const SimZone *sim_zone_utc(void)
{
    return sim_zone_find(STR("UTC"));
}

Str sim_zone_name(const SimZone *zone)
{
    return str_from_c(zone->name);
}

bool sim_zone_next(size_t *at, const SimZone **out)
{
    if (*at >= COUNT_OF(zones)) return false;
    *out = &zones[(*at)++];
    return true;
}

static int days_in_month(int32_t year, int month)
{
    int64_t first = civil_days_from_date(year, month, 1);
    int64_t next  = month == 12 ? civil_days_from_date(year + 1, 1, 1)
                                : civil_days_from_date(year, month + 1, 1);
    return (int)(next - first);
}

/* Days since 1970 of the week-th Sunday; 1970-01-01 was a Thursday. */
static int64_t sunday_of(int32_t year, int month, int week)
{
    int64_t first   = civil_days_from_date(year, month, 1);
    int     weekday = (int)(((first + 4) % 7 + 7) % 7); /* 0: Sunday */
    int     day     = 1 + (7 - weekday) % 7 + 7 * (week - 1);

    while (day > days_in_month(year, month))
        day -= 7;
    return first + day - 1;
}

static int64_t change_at_utc(const ZoneChange *change, int32_t year, int offset_before)
{
    int64_t us = sunday_of(year, change->month, change->week) * DAY_US + change->minute * MINUTE_US;
    return change->clock == UTC_CLOCK ? us : us - offset_before * MINUTE_US;
}

bool sim_zone_is_dst_at_utc(const SimZone *zone, int64_t utc_us)
{
    const ZoneRule *rule = zone->rule;

    if (rule == NULL) return false;
    int32_t year  = civil_from_us(utc_us + zone->offset_minutes * MINUTE_US).year;
    int64_t begin = change_at_utc(&rule->begin, year, zone->offset_minutes);
    int64_t end   = change_at_utc(&rule->end, year, zone->offset_minutes + rule->saved_minutes);
    if (begin < end) return utc_us >= begin && utc_us < end;
    return utc_us >= begin || utc_us < end; /* the southern summer spans the new year */
}

int sim_zone_offset_at_utc(const SimZone *zone, int64_t utc_us)
{
    return zone->offset_minutes +
           (sim_zone_is_dst_at_utc(zone, utc_us) ? zone->rule->saved_minutes : 0);
}

int64_t sim_zone_local_from_utc(const SimZone *zone, int64_t utc_us)
{
    return utc_us + sim_zone_offset_at_utc(zone, utc_us) * MINUTE_US;
}

int sim_zone_offset_at_local(const SimZone *zone, int64_t local_us, int64_t *local_us_out)
{
    int     standard    = zone->offset_minutes;
    int     summer      = standard + (zone->rule != NULL ? zone->rule->saved_minutes : 0);
    bool    as_summer   = sim_zone_offset_at_utc(zone, local_us - summer * MINUTE_US) == summer;
    bool    as_standard = sim_zone_offset_at_utc(zone, local_us - standard * MINUTE_US) == standard;
    int64_t moved       = local_us;
    int offset = as_summer ? summer : standard; /* twice: the one before the change, summer time */

    if (!as_summer && !as_standard) { /* in the gap */
        moved += (summer - standard) * MINUTE_US;
        offset = summer;
    }
    if (local_us_out != NULL) *local_us_out = moved;
    return offset;
}
