/* cmd_snapshot.c - `tidelake snapshot`: one full snapshot of one table. */
#include "cli/snapshot_outcome.h"

static bool take(Env *env, const StreamOptions *options, void *arg, SnapshotResult *out, Err *err)
{
    const bool *takes_another = arg;

    return snapshot_run(env, options, *takes_another, out, err);
}

bool cmd_snapshot(Invocation *invocation, Err *err)
{
    bool takes_another = invocation_has(invocation, FLAG_RESNAPSHOT);

    return snapshot_command_run(invocation, take, &takes_another, err);
}
