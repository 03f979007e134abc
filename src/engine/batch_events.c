/* batch_events.c - what a batch meets besides rows: a row each in its facts commit (2.8, 5.7, 6.2). */
#include "engine/batch_internal.h"

#define DDL_DETAIL_CHARS 500

/* An event of the batch at an LSN of the source. */
static FactsRow *add_event(Batch *batch, const char *name, Lsn lsn, OptTime time)
{
    Stream   *stream = batch->stream;
    FactsRow *row    = LIST_PUSH(batch->arena, &batch->events);

    *row          = facts_event_row(str_from_c(name), lsn, time);
    row->app_id   = stream->sink_id;
    row->batch_id = OPT_I64(stream->next_batch);
    row->target   = stream->options->bronze.label;
    return row;
}

bool batch_add_ddl(Batch *batch, const DdlEvent *ddl, Err *err)
{
    Stream *stream = batch->stream;
    OptTime time;
    size_t  at = 0;

    if (!mssql_commit_time_at_or_before(stream->mssql, ddl->lsn, &time, err)) return false;
    for (size_t chars = 0; chars < DDL_DETAIL_CHARS && at < ddl->command.len; chars++)
        (void)utf8_next(ddl->command, &at);

    FactsRow *row = add_event(batch, "schema_change", ddl->lsn, time);
    row->detail   = str_slice(ddl->command, 0, at);
    log_warn(stream->env->log, "stream", "schema changed",
             LOG_STR("stream", stream->options->capture_instance), LOG_LSN("lsn", ddl->lsn),
             LOG_STR("ddl", row->detail));
    return true;
}

bool batch_add_skip(Batch *batch, Lsn from, Lsn low, Str reason, Err *err)
{
    Stream *stream = batch->stream;
    OptTime time;

    if (!mssql_commit_time(stream->mssql, low, &time, err)) return false;

    FactsRow *row     = add_event(batch, EVENT_DATA_SKIPPED, low, time);
    row->lost_from_ts = stream->position.commit_ts;
    row->lost_to_ts   = time;
    row->detail       = payload_skip(batch->arena, from, low, reason);
    log_warn(stream->env->log, "stream",
             reason.len ? "changes may be missing: cleanup came while they were read"
                        : "changes are skipped: cleanup removed them before they were read",
             LOG_STR("stream", stream->options->capture_instance),
             LOG_STR("capture_instance", stream->table.instances[0].name), LOG_LSN("from", from),
             LOG_LSN("to", low), LOG_STR("reason", reason));
    return true;
}
