/* source_options.h - how the source is reached (cli.md, sqlserver.md 1). */
#ifndef TIDELAKE_ENGINE_SOURCE_OPTIONS_H
#define TIDELAKE_ENGINE_SOURCE_OPTIONS_H

#include "base/str.h"
#include "engine/env.h"
#include "source/mssql.h"

/* How to reach the source; shared by everything that reads it. */
typedef struct SourceOptions {
    Str     connection;
    Str     time_zone; /* "auto", "UTC" or a Windows zone name */
    int64_t connect_timeout_s;
    int64_t silence_timeout_s; /* 0: for ever */
    int64_t lock_timeout_ms;   /* -1: wait */
    int64_t fetch_rows;
    int64_t num_partitions; /* at least 1 */
    bool    isolation_snapshot;
    bool    include_command_id;
} SourceOptions;

/* What mssql_open is given for them; `name` is what messages and traces call the connection. The
 * result points to what `env` and `source` point to. */
MssqlOptions source_mssql_options(const Env *env, const SourceOptions *source, Str name);

#endif
