/* source_options.c - the options of a stream as those of a connection. */
#include "engine/source_options.h"

MssqlOptions source_mssql_options(const Env *env, const SourceOptions *source, Str name)
{
    return (MssqlOptions){.driver             = env->sql,
                          .clock              = env->clock,
                          .rng                = env->rng,
                          .log                = env->log,
                          .cancel             = env->cancel,
                          .connection         = source->connection,
                          .time_zone          = source->time_zone,
                          .connect_timeout_s  = source->connect_timeout_s,
                          .silence_timeout_s  = source->silence_timeout_s,
                          .lock_timeout_ms    = source->lock_timeout_ms,
                          .fetch_rows         = source->fetch_rows,
                          .include_command_id = source->include_command_id,
                          .isolation_snapshot = source->isolation_snapshot,
                          .name               = name};
}
