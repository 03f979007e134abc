/* time_zone.h - Windows time zone names and today's rules of each, for the server's local clock and
 * AT TIME ZONE (sqlserver.md 2.11).
 *
 * A compact table of rules, not the history of a zone: the present rules apply to every year.
 * Static data, compare by pointer. */
#ifndef TIDESIM_TIME_ZONE_H
#define TIDESIM_TIME_ZONE_H

#include "base/str.h"

typedef struct SimZone SimZone;

const SimZone *sim_zone_utc(void);
const SimZone *sim_zone_find(Str windows_name); /* ignoring case; NULL if unknown */
Str            sim_zone_name(const SimZone *zone);
bool sim_zone_next(size_t *at, const SimZone **out); /* all of them, by name: sys.time_zone_info */

/* Minutes east of UTC at a UTC time (microseconds since 1970). */
int     sim_zone_offset_at_utc(const SimZone *zone, int64_t utc_us);
int64_t sim_zone_local_from_utc(const SimZone *zone, int64_t utc_us);
bool    sim_zone_is_dst_at_utc(const SimZone *zone, int64_t utc_us);
/* AT TIME ZONE of a local time: one in a gap is moved forward by the gap, with the offset after it;
 * one that happens twice takes the offset before the change. `local_us_out` is the local time meant
 * (moved when in a gap); may be NULL. */
int sim_zone_offset_at_local(const SimZone *zone, int64_t local_us, int64_t *local_us_out);

#endif
