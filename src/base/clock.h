/* clock.h - time, real or simulated. UTC microseconds since 1970 for what is written, monotonic
 * nanoseconds for durations. */
#ifndef TIDELAKE_BASE_CLOCK_H
#define TIDELAKE_BASE_CLOCK_H

#include "base/cancel.h"
#include "base/str.h"

typedef struct Clock Clock;
struct Clock {
    int64_t (*utc_us)(Clock *clock);
    int64_t (*monotonic_ns)(Clock *clock);
    /* Sleeps until the monotonic time, or until `cancel` (may be NULL) is requested. */
    void (*sleep_until)(Clock *clock, int64_t monotonic_ns, Cancel *cancel);
    void (*close)(Clock *clock);
};

Clock  *clock_new_real(void);
int64_t clock_utc_us(Clock *clock);
int64_t clock_monotonic_ns(Clock *clock);
void    clock_sleep_ms(Clock *clock, int64_t duration_ms, Cancel *cancel);
void    clock_close(Clock *clock); /* accepts NULL */

/* Civil time of a UTC instant; proleptic Gregorian, years 1 to 9999. */
typedef struct CivilTime {
    int32_t year, month, day, hour, minute, second, microsecond;
} CivilTime;

CivilTime civil_from_us(int64_t utc_us);
int64_t   civil_to_us(CivilTime civil);
int64_t civil_days_from_date(int32_t year, int32_t month, int32_t day); /* days since 1970-01-01 */

/* "2026-09-28T13:55:00.000": UTC, exactly three fraction digits, cut not rounded (state.md 1). */
Str time_format_ms(Arena *arena, int64_t utc_us);
/* "2026-09-28T13:55:00.000000": the same with exactly six (state.md 18). */
Str time_format_us(Arena *arena, int64_t utc_us);
/* "2026-09-28T13:55:00+00:00": whole seconds with offset (state.md 17.4). */
Str time_format_seconds_offset(Arena *arena, int64_t utc_us);
/* Takes 'T' or blank, 0 to 9 fraction digits (cut to microseconds), an optional "Z" or offset
 * ("+02:00", "+0200", "+02", a blank before it as in SQL Server's text). Years 1 to 9999,
 * seconds needed, nothing around it. */
bool time_parse(Str text, int64_t *utc_us_out) MUST_CHECK;

#endif
