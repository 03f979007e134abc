/* streams.h - several streams side by side, a task each (algorithms.md 10). */
#ifndef TIDELAKE_ENGINE_STREAMS_H
#define TIDELAKE_ENGINE_STREAMS_H

#include "engine/stream.h"

typedef struct StreamRun {
    StreamOptions options; /* on_started is set by streams_run */
    StreamResult  result;
    bool          was_run; /* false: a start before its own failed */
    bool          ok;
    Err           err;
    /* of streams_run alone */
    Env   *env;
    Queue *news;
    Task  *task;
    bool   has_started;
    bool   is_one_of_many;
} StreamRun;

/* Starts one stream after the other, each when the start of the one before is over (its bootstrap
 * among it), and waits until all have ended. Every run tells how it went.
 *
 * A start that fails stops those that run already and the call; those not yet started stay so. A
 * stream that fails later fails alone, and so does one whose login lacks a permission: that is a
 * grant of its own table. */
void streams_run(Env *env, StreamRun *runs, size_t count);

#endif
