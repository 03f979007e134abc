/* stream.h - changes into bronze, batch by batch (algorithms.md 2). */
#ifndef TIDELAKE_ENGINE_STREAM_H
#define TIDELAKE_ENGINE_STREAM_H

#include "engine/env.h"
#include "engine/source_options.h"
#include "state/control.h"
#include "state/table_ref.h"
#include "types/optional.h"
#include "types/schema.h"

typedef enum Trigger { TRIGGER_AVAILABLE_NOW, TRIGGER_INTERVAL, TRIGGER_CONTINUOUS } Trigger;
typedef enum StartingPoint { START_EARLIEST, START_LATEST, START_LSN } StartingPoint;

typedef struct StreamOptions {
    Str           capture_instance;
    SourceOptions source;
    TableRef      bronze;
    TableRef      facts;   /* path empty: no facts */
    TableRef      control; /* path empty: no verdict */
    TableRef      plans;   /* path empty: next to bronze */
    Granularity   granularity;
    Str           app_id;
    Str           checkpoint;      /* path of the directory */
    Str           library_metrics; /* the peer library's metricsPath, empty: its default place */
    Trigger       trigger;
    int64_t       interval_ms; /* of TRIGGER_INTERVAL */
    int64_t       poll_interval_ms;
    int64_t       max_commits_per_batch; /* 0: no limit */
    int64_t       max_batches;           /* 0: no limit */
    bool          bootstrap;
    bool          snapshot_chunked; /* its mode; needs facts */
    bool          starting_given;
    StartingPoint starting;
    Lsn           starting_lsn;
    bool          schema_change_fails; /* schema_change_policy: fail */
    bool          skips_lost_changes;  /* fail_on_data_loss: false */
    Schema        columns;             /* the `columns` option; none: what is captured */
    const Str    *snapshot_keys;
    size_t        snapshot_key_count;
    /* Told when the start is over and batches begin, from the stream's task; may be NULL. */
    void (*on_started)(void *arg);
    void *on_started_arg;
} StreamOptions;

typedef struct StreamResult {
    int64_t batches, rows;
    OptLsn  start_lsn, end_lsn;
    OptTime end_commit_ts;
    int64_t generation;
    OptLsn  snapshot; /* where the bootstrap started; unset without one */
} StreamResult;

/* Runs until the trigger is done, `env->cancel` is set (ERR_CANCELLED; everything resumable) or it
 * fails. `out` tells what was done in either case. */
bool stream_run(Env *env, const StreamOptions *options, StreamResult *out, Err *err) MUST_CHECK;

#endif
