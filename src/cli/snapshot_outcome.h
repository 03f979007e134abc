/* snapshot_outcome.h - the commands that put one whole snapshot into bronze, from the choice of the stream to the result. */
#ifndef TIDELAKE_CLI_SNAPSHOT_OUTCOME_H
#define TIDELAKE_CLI_SNAPSHOT_OUTCOME_H

#include "cli/command.h"
#include "engine/snapshot.h"

/* What the engine does for one such command, with what it needs besides the stream. */
typedef bool (*SnapshotWork)(Env *env, const StreamOptions *options, void *arg, SnapshotResult *out,
                             Err *err);

bool snapshot_command_run(Invocation *invocation, SnapshotWork work, void *arg,
                          Err *err) MUST_CHECK;

#endif
