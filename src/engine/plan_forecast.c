/* plan_forecast.c - rows left, over the pace of the newest waves. */
#include "engine/plan_forecast.h"

#include "base/macros.h"

#include <assert.h>
#include <math.h>

#define WAVES_LOOKED_AT  4 /* a link's rate is not the same all day */
#define CONNECTIONS_MOST 64

/* Adds the wave that `chunks` are, if everything about it was measured. */
static void add_wave(ReadPace *pace, const ReadChunk *chunks, size_t count, int64_t connections)
{
    double   busy[CONNECTIONS_MOST] = {0}, longest = 0;
    size_t   lanes = (size_t)MIN(connections, (int64_t)CONNECTIONS_MOST);
    ReadPace wave  = {0};

    for (size_t i = 0; i < count; i++) {
        if (isnan(chunks[i].seconds) || isnan(chunks[i].mb)) return;
        busy[i % lanes] += chunks[i].seconds;
        longest = fmax(longest, busy[i % lanes]);
        wave.rows += (double)chunks[i].rows;
        wave.mb += chunks[i].mb;
    }
    pace->rows += wave.rows;
    pace->mb += wave.mb;
    pace->seconds += longest;
}

ReadPace plan_read_pace(const ReadChunk *chunks, size_t count, int64_t connections)
{
    ReadPace pace = {0};
    size_t   end  = count;

    assert(connections >= 1);
    for (int waves = 0; waves < WAVES_LOOKED_AT && end > 0; waves++) {
        size_t begin = end;

        while (begin > 0 && chunks[begin - 1].wave == chunks[end - 1].wave)
            begin--;
        add_wave(&pace, chunks + begin, end - begin, connections);
        end = begin;
    }
    return pace;
}

int64_t plan_rows_left(const SnapshotRest *rest)
{
    int64_t chunks_left = MAX(rest->chunk_count - rest->chunks_done, 0);
    double  most        = (double)chunks_left * (double)rest->chunk_rows;
    double  total       = rest->row_estimate > 0 ? (double)rest->row_estimate
                                                 : (double)rest->chunk_count * (double)rest->chunk_rows;
    double  left        = total - (double)rest->rows_done;

    if (left <= 0 && rest->chunks_done > 0) /* the table grew: the rest is like what was read */
        left = (double)rest->rows_done / (double)rest->chunks_done * (double)chunks_left;
    return (int64_t)fmax(0, fmin(left, fmin(most, 1e18)));
}

Forecast plan_forecast(const SnapshotRest *rest, const ReadPace *pace)
{
    Forecast forecast = {.rows = plan_rows_left(rest)};

    forecast.is_known = forecast.rows > 0 && pace->rows > 0 && pace->seconds > 0;
    if (!forecast.is_known) return forecast;
    forecast.rows_per_second = pace->rows / pace->seconds;
    forecast.mb_per_second   = pace->mb / pace->seconds;
    forecast.mb              = (double)forecast.rows * pace->mb / pace->rows;
    forecast.seconds         = (double)forecast.rows / forecast.rows_per_second;
    return forecast;
}
