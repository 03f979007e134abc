/* backfill_internal.h - one call of backfill: its state, shared by what reads its waves and what stops it. */
#ifndef TIDELAKE_ENGINE_BACKFILL_INTERNAL_H
#define TIDELAKE_ENGINE_BACKFILL_INTERNAL_H

#include "base/list.h"
#include "engine/backfill.h"
#include "engine/plan_forecast.h"
#include "engine/stream_internal.h"
#include "engine/wave_staged.h"

/* How far the stream is from the retention, as its newest facts row has it. */
typedef struct Headroom {
    OptDouble hours;
    OptTime   written_at;
} Headroom;

/* A wave on its way into the tables, in a task of its own. */
typedef struct Committing {
    const WaveContext *context;
    Bronze            *bronze;
    Wave              *wave; /* the committing task's until it is over */
    int64_t            rows; /* that were read for it */
    Task              *task;
    Queue             *over; /* holds an item once it is */
    bool               ok;   /* this and the rest: once it is over */
    WaveRecord         record;
    bool               looks_for_headroom;
    Headroom           headroom;
    Err                err;
} Committing;

typedef struct Backfill {
    Env                   *env;
    const BackfillOptions *options;
    BackfillResult        *result;
    Arena                 *arena; /* of the call */
    Arena                 *result_arena;
    Mssql                 *mssql; /* of the reading task */
    Mssql                 *times; /* of the committing one; NULL until it asks */
    bool                   has_connected;
    Task        *opening_times; /* logins take round trips: they begin while the plan is made */
    Task       **opening_lanes; /* up to a NULL */
    Stream       stream;        /* the part of one that finds the table and its columns */
    TableCut     cut;
    Cutter      *cutter;
    TableRef     plans_ref;
    Facts       *facts;
    Plans       *plans;        /* NULL: no table yet */
    Facts       *commit_facts; /* a table is one task's: these are the committing one's */
    Plans       *commit_plans;
    Bronze      *bronze[2]; /* one is read into while the other commits */
    Family       family;
    ChunkState   state;
    WaveContext  context;
    StagedWaves *staged;     /* of calls that died */
    Wave        *reading;    /* the oldest wave whose rows are not all there; NULL: none */
    Committing  *committing; /* the one before it; NULL: none */
    int64_t      began_ns;
    double       pace;                  /* seconds per round of the last wave; 0: unknown */
    int64_t      next_chunk, next_wave; /* to begin */
    int64_t      next_commit;           /* the wave */
    int64_t      chunks_read;           /* of the plan: recorded, or on their way into the tables */
    bool         last_is_recorded;
    int64_t      rows_recorded;
    Lsn          newest_stamp;
    LIST(ReadChunk) measured; /* recorded ones, then this call's */
    Headroom headroom;
    int64_t  headroom_ns, headroom_looks; /* when it was looked for last */
    bool     is_foretold;
    bool     is_stamped_ahead; /* the lanes have the next wave's stamp */
} Backfill;

/* --- backfill_stop.c: limits of the call, the pause file, the headroom --- */
double backfill_seconds_since(const Backfill *backfill, int64_t began_ns);
bool   backfill_is_at_limit(const Backfill *backfill); /* no further wave starts in this call */
bool   backfill_is_out_of_time(const Backfill *backfill);
void   backfill_pause_for(Backfill *backfill, BackfillState state, Str reason);
double backfill_age_hours(const Backfill *backfill, OptTime written_at); /* of a row of the facts */
/* Whether something asks for a pause, before a wave and between the seeks of a plan. */
bool backfill_check_pause(Backfill *backfill, bool *must_pause, Err *err) MUST_CHECK;

/* --- backfill_wave.c: stamp, chunks and rows of the next wave --- */
/* The next wave's stamp, while the last chunks of this one are read: `arg` is the Backfill. */
void  backfill_stamp_ahead(void *arg);
Wave *backfill_wave_new(int64_t number);
/* Decides what the wave holds, and begins to read it. */
bool backfill_begin_wave(Backfill *backfill, Wave *wave, Err *err) MUST_CHECK;
/* The first connection is through with it. */
void backfill_note_pace(Backfill *backfill, const Wave *wave);
/* Waits for its last row. */
bool    backfill_end_read(Backfill *backfill, Wave *wave, Err *err) MUST_CHECK;
int64_t backfill_waves_begun(const Backfill *backfill); /* in this call */

/* --- backfill_loop.c: one wave after the other --- */
/* Until the snapshot is read or something asks for a pause: all that was read is in then. After an error the wave that
 * commits may not be (backfill_end_commit). */
bool backfill_run_waves(Backfill *backfill, Err *err) MUST_CHECK;
bool backfill_end_commit(Backfill *backfill, Err *err) MUST_CHECK;
/* A plan, when there is none yet; *is_planned false: something asked for a pause. */
bool backfill_make_plan(Backfill *backfill, bool *is_planned, Err *err) MUST_CHECK;
/* Begins to log in for the commits and, before a plan is made, for the lanes; once. */
void backfill_connect_ahead(Backfill *backfill);
void backfill_await_lanes(Backfill *backfill); /* until they are */

/* --- backfill_forecast.c --- */
void backfill_note_chunk(Backfill *backfill, int64_t wave, int64_t rows, double seconds, double mb);
/* One line, as soon as a pace is known; a warning when the retention is nearer than the end. */
bool          backfill_tell_forecast(Backfill *backfill, Err *err) MUST_CHECK;
ChunkProgress backfill_progress(const Backfill *backfill, int64_t wave);

#endif
