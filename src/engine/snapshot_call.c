/* snapshot_call.c - opening and closing of what snapshot and seed share. */
#include "engine/snapshot_call.h"

#include "engine/snapshot.h"

static bool open_source(Stream *stream, Err *err)
{
    MssqlOptions options = source_mssql_options(stream->env, &stream->options->source,
                                                stream->options->capture_instance);

    return mssql_open(&options, &stream->mssql, err) && stream_find_table(stream, err);
}

bool snapshot_call_open(Env *env, const StreamOptions *options, SnapshotCall *out, Err *err)
{
    Stream *stream = &out->stream;

    *out = (SnapshotCall){.stream = {.env = env, .options = options, .arena = arena_new()}};
    if (options->facts.path.len && !options->app_id.len)
        return err_set(err, ERR_USAGE,
                       "with facts the stream's app_id is needed, under which they are kept: give "
                       "app_id, or leave facts out");
    if (!open_source(stream, err) ||
        !bronze_open(env->delta, &options->bronze, &stream->bronze, err) ||
        !stream_check_bronze(stream, err) ||
        !facts_open_if_exists(env->delta, &options->facts, &stream->facts, err))
        return false;
    out->names = snapshot_names(options, &stream->table, stream->arena, &out->name_count);
    return family_read(stream->facts, options->bronze.label, options->app_id, stream->arena,
                       &out->family, err);
}

void snapshot_call_close(SnapshotCall *call)
{
    facts_close(call->stream.facts);
    bronze_close(call->stream.bronze);
    mssql_close(call->stream.mssql);
    arena_close(call->stream.arena);
}
