/* plan_forecast.h - how long the rest of a chunked snapshot will take (algorithms.md 4.19). Pure. */
#ifndef TIDELAKE_ENGINE_PLAN_FORECAST_H
#define TIDELAKE_ENGINE_PLAN_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A chunk that was read. NaN: nobody measured it. */
typedef struct ReadChunk {
    int64_t wave, rows;
    double  seconds, mb;
} ReadChunk;

/* What the newest waves read together, and how long that took. */
typedef struct ReadPace {
    double rows, mb, seconds;
} ReadPace;

/* Of the last few waves among `chunks`, which stand by wave and in the plan's order. A wave takes as long as the
 * connection that was busy longest. */
ReadPace plan_read_pace(const ReadChunk *chunks, size_t count, int64_t connections);

typedef struct SnapshotRest {
    int64_t row_estimate; /* of the table, at the open; 0: none was made */
    int64_t chunk_count, chunk_rows;
    int64_t chunks_done, rows_done;
} SnapshotRest;

/* The estimate is the server's, or what the plan's chunks hold when they are full; never more than what is left of
 * the plan can hold. */
int64_t plan_rows_left(const SnapshotRest *rest);

typedef struct Forecast {
    bool    is_known; /* something was measured, and something is left */
    int64_t rows;
    double  mb, rows_per_second, mb_per_second, seconds;
} Forecast;

Forecast plan_forecast(const SnapshotRest *rest, const ReadPace *pace);

#endif
