/* wire.h - picks the real implementations: the only place that names them. */
#ifndef TIDELAKE_CLI_WIRE_H
#define TIDELAKE_CLI_WIRE_H

#include "base/signal_watch.h"
#include "cli/command.h"
#include "cli/run_folder.h"
#include "engine/env.h"

typedef struct ProgressLine ProgressLine;

typedef struct Wire { /* owns what `env` points to */
    Env           env;
    DeltaContext  delta;
    SignalWatch  *signals;
    ProgressLine *progress;
    RunFolder     scratch;
    Arena        *arena;
} Wire;

/* Opens it all; wire_close it even when it failed. `settings` may be those of any stream: memory
 * limit and compression are shared. `with_source`: opens unixODBC too. ERR_INTERNAL when a library
 * does not start. */
bool wire_open(Invocation *invocation, const Settings *settings, bool with_source, Wire *out,
               Err *err) MUST_CHECK;
void wire_close(Wire *wire);
/* 130 or 143 when a signal stopped the run, else what `err` stands for. */
int wire_exit_status(const Wire *wire, const Err *err);

/* A path of the configuration as the store takes it: relative ones start in `lake.root`. */
Str wire_lake_path(Arena *arena, const Settings *settings, Str path);

#endif
