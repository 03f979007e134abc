/* snapshot_call.c - opening and closing of what snapshot and seed share. */
#include "engine/snapshot_call.h"

#include "engine/snapshot.h"

static bool open_source(Stream *stream, Err *err)
{
    MssqlOptions options = source_mssql_options(stream->env, &stream->options->source,
                                                stream->options->capture_instance);

    return mssql_open(&options, &stream->mssql, err) && stream_find_table(stream, err);
}

/* Refusals must leave no table behind, so one that is not there is made by whoever writes its first row. */
static bool open_facts(Stream *stream, Err *err)
{
    const TableRef *ref    = &stream->options->facts;
    bool            exists = false;

    if (ref->path.len && !delta_table_exists(stream->env->delta, ref->path, &exists, NULL, err))
        return false;
    return !exists || facts_open(stream->env->delta, ref, &stream->facts, err);
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
        !stream_check_bronze(stream, err) || !open_facts(stream, err))
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
