/* plan_wave.c - the width of a wave. */
#include "engine/plan_wave.h"

#include <assert.h>
#include <math.h>

int64_t plan_wave_chunks(int64_t connections, const WavePace *pace, int64_t chunk_count,
                         int64_t left)
{
    double rounds = 1;

    assert(connections >= 1);
    if (pace->round_seconds > 0 && pace->target_seconds > 0) {
        rounds = pace->target_seconds / pace->round_seconds;
        if (pace->rest_seconds >= 0)
            rounds = fmin(rounds, pace->rest_seconds / pace->round_seconds);
        rounds = fmax(1, floor(fmin(rounds, (double)chunk_count)));
    }
    int64_t chunks = (int64_t)rounds * connections;
    return chunks < left ? chunks : left;
}

#define ROUND_TRIPS_WORTH 50 /* of rows behind each round trip */

size_t plan_wave_request(double round_trip_seconds, double chunk_seconds, size_t left)
{
    double worth = ROUND_TRIPS_WORTH * round_trip_seconds;

    if (left <= 1 || !(worth > 0) || !(chunk_seconds > 0)) return left > 1 ? 1 : left;
    double count = fmax(1, ceil(worth / chunk_seconds));
    return count < (double)left ? (size_t)count : left;
}

double plan_wave_pace(double seconds, int64_t chunks, int64_t connections)
{
    assert(connections >= 1);
    if (!(seconds > 0) || chunks < 1) return 0;
    return seconds / (double)((chunks + connections - 1) / connections);
}
