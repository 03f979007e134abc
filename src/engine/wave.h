/* wave.h - chunks that are read and committed together (algorithms.md 4.11, 4.13). */
#ifndef TIDELAKE_ENGINE_WAVE_H
#define TIDELAKE_ENGINE_WAVE_H

#include "engine/chunk_state.h"
#include "engine/env.h"
#include "engine/stream.h"
#include "engine/wave_lanes.h"
#include "source/mssql_cut.h"
#include "state/bronze_waves.h"

typedef struct WaveChunk {
    int64_t        index; /* in the plan */
    ChunkBounds    bounds;
    const KeyPart *lo, *hi;
    bool           is_last;
    /* of the read */
    int64_t rows, bytes;
    double  seconds;
} WaveChunk;

typedef struct WaveRead WaveRead;

typedef struct Wave {
    int64_t      number;
    WaveChunk   *chunks; /* in the plan's order */
    size_t       chunk_count;
    Offset       stamp; /* L, recorded before the read */
    Offset       high;  /* max_lsn after it */
    bool         has_high;
    int64_t      started_us; /* UTC */
    int64_t      began_ns;   /* the same, monotonic */
    bool         is_known;   /* bronze held it before: it was not read again */
    bool         is_taken;   /* nor was this one: a run that died had read it */
    bool         is_sealed;  /* its staged files outlive this run */
    int64_t      idle_us;    /* between that run's read and this one */
    int64_t      rows;
    DeltaWriter *writer;
    bool         is_last_of_call; /* nothing is asked for behind it */
    WaveRead
        *read; /* its rows or files are on their way (wave_finish_read); NULL: they are there */
    DeltaAdd     *adds; /* of what the partitions wrote */
    size_t        add_count;
    ChunkProgress progress;
    bool          is_hidden; /* its progress, until wave_show */
    Arena        *arena;     /* of all this */
} Wave;

/* What stays the same from wave to wave. */
typedef struct WaveContext {
    Env                 *env;
    const StreamOptions *options;
    Mssql               *mssql; /* of the reading task */
    const CaptureTable  *table;
    const TableCut      *cut;
    const Schema        *captured;
    const ChunkState    *state;
    Str                  instance_name; /* for _capture_instance */
    Str                  key;           /* <app_id>#snap.<S> */
    int64_t              connections;
    WaveLanes           *lanes; /* as many */
    Facts               *facts;
    Plans               *plans; /* NULL: the snapshot finishes in the facts alone */
    /* Told when the first connection has sent its last request of a wave: the next wave's stamp may be taken. */
    void (*on_last_request)(void *arg);
    void *on_last_request_arg;
    /* The connection of the committing task, opened when it is first wanted. */
    bool (*open_times)(void *arg, Mssql **out, Err *err);
    void *open_times_arg;
} WaveContext;

/* Whose staged files a wave's are; in `arena`. */
Str wave_purpose(const WaveContext *context, Arena *arena);

/* Begins to read the wave's chunks into staged files of `bronze`, over at most `connections` connections: each as soon as
 * it is through with the wave before. A failed one is read again under the same stamp. Every wave that was begun is
 * closed or finished, in the order they were begun in. */
bool wave_begin_read(const WaveContext *context, Bronze *bronze, Wave *wave, Err *err) MUST_CHECK;
/* Until the first connection is through with it: the next wave may begin. False: the read failed, and wave_await_rows
 * tells how. At once for a wave that is not being read. */
bool wave_await_lane(Wave *wave);
/* How long that took from the wave's beginning, in seconds; 0: it was not read now. */
double wave_lane_seconds(const Wave *wave);
/* Until all are; the last rows may be on their way into the files yet. */
bool wave_await_rows(Wave *wave, Err *err) MUST_CHECK;
/* It is the one whose progress is shown from now on: it was begun next to another one. */
void wave_show(Wave *wave);
/* It is read on the first so many lanes; 0: it is there. */
size_t wave_lane_count(const Wave *wave);
/* Until they are in. By either task. */
bool wave_finish_read(Wave *wave, Err *err) MUST_CHECK;
/* What makes the staged rows outlive this run (wave_staged.h); a wave without rows leaves nothing. Then how far the log
 * was when the last row had come, which is informational. By either task: not while the reading connections would wait
 * for it. */
bool wave_seal(const WaveContext *context, Wave *wave, Err *err) MUST_CHECK;
bool wave_find_high(Mssql *mssql, Wave *wave, Err *err) MUST_CHECK;
void wave_close(Wave *wave); /* staged files that were not published are removed; accepts NULL */

/* What its commit says of it. In `arena`. */
WaveTag wave_tag(const WaveContext *context, const Wave *wave, Str attempt, Arena *arena);

/* What a wave's commit recorded. */
typedef struct WaveRecord {
    int64_t wave, last_chunk, chunks, rows;
    Lsn     stamp; /* the newest */
    bool    is_last;
} WaveRecord;

/* Bronze, then plans, then facts; a wave that is not sealed yet is first. What an earlier attempt of the wave committed
 * counts instead of what was read now. A failure leaves what was written: the next attempt goes on from there. */
bool wave_commit(const WaveContext *context, Bronze *bronze, Wave *wave, WaveRecord *out,
                 Err *err) MUST_CHECK;

#endif
