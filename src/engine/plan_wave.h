/* plan_wave.h - how many chunks the next wave takes, and who reads them (algorithms.md 4.10, 4.11).
 * Pure. */
#ifndef TIDELAKE_ENGINE_PLAN_WAVE_H
#define TIDELAKE_ENGINE_PLAN_WAVE_H

#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct WavePace {
    double round_seconds;  /* of the wave before; 0: unknown */
    double target_seconds; /* of a wave; 0: always one round */
    double rest_seconds;   /* until the call must end; negative: no limit */
} WavePace;

/* Whole rounds of one chunk per connection, at least one round, cut at the plan's end. `left`: chunks
 * from the next one on. */
int64_t plan_wave_chunks(int64_t connections, const WavePace *pace, int64_t chunk_count,
                         int64_t left);

/* How many chunks one request of a connection should ask for, so that the round trip before its first row is at most a
 * fiftieth of the time their rows take: 1 where a chunk takes that long by itself, or nothing is known yet (0). */
size_t plan_wave_request(double round_trip_seconds, double chunk_seconds, size_t left);

/* Seconds per round of a wave that took `seconds` for `chunks`; 0 when unknown. */
double plan_wave_pace(double seconds, int64_t chunks, int64_t connections);

#endif
