/* batch.c - one micro-batch: read, bronze, facts, commit, verdict, in that order (algorithms.md 2.1,
 * 2.6 to 2.8). Its ranges and guards are batch_plan.c's.
 *
 * The order is what a crash between any two steps rests on: data first (bronze), then what
 * announces it (facts), then what completes it (commits/<n>), the verdict last. */
#include "engine/batch_internal.h"

#include "engine/batch_fold.h"
#include "engine/left_events.h"
#include "engine/read_parallel.h"

/* --- warnings --- */

void stream_warn(Stream *stream, Str text)
{
    for (size_t i = 0; i < stream->warnings.count; i++)
        if (str_equal(stream->warnings.items[i], text)) return;
    *LIST_PUSH(stream->arena, &stream->warnings) = text;
    log_warn(stream->env->log, "stream", "warning",
             LOG_STR("stream", stream->options->capture_instance), LOG_STR("text", text));
}

bool stream_refresh_clock(Stream *stream, Err *err)
{
    Str warning = STR_EMPTY;

    if (!mssql_refresh_clock(stream->mssql, stream->arena, &warning, err)) return false;
    if (warning.len) stream_warn(stream, warning);
    return true;
}

/* --- reading --- */

static bool open_range(void *arg, size_t index, Arena *arena, RowStream **out, Err *err)
{
    Batch      *batch  = arg;
    Stream     *stream = batch->stream;
    ChangeRange range  = {.instance  = &stream->table.instances[0],
                          .from      = batch->ranges[index].from,
                          .to        = batch->ranges[index].to,
                          .is_last   = index + 1 == batch->range_count,
                          .batch_end = batch->end.lsn};

    batch->metrics[index] = (ChangeMetrics){0};
    return mssql_read_changes(stream->mssql, &range, &stream->captured, stream->next_batch, arena,
                              &batch->metrics[index], out, err);
}

/* Bronze comes into being with the first rows: before, one question tells whether there are any. */
static bool needs_bronze(Batch *batch, bool *out, Err *err)
{
    Stream *stream = batch->stream;

    *out = batch->range_count > 0;
    if (!*out || bronze_get_table(stream->bronze)) return true;
    return mssql_has_changes(stream->mssql, stream->table.instances[0].name, batch->ranges[0].from,
                             batch->end.lsn, out, err);
}

/* Only a replay may find its batch written: a new one was written by a run we know nothing of, up
 * to an end that is not ours. */
static bool check_written(Batch *batch, DeltaOutcome outcome, const char *table, Err *err)
{
    const Stream *stream = batch->stream;

    return outcome == DELTA_WRITTEN || batch->is_replay ||
           err_set(err, ERR_STATE,
                   "another run wrote this batch of app_id %.*s into %s: two streams use the "
                   "app_id with checkpoints of their own; stop both, and start with a new app_id "
                   "and checkpoint",
                   STR_ARG(stream->sink_id), table);
}

static bool read_and_append(Batch *batch, Err *err)
{
    Stream      *stream = batch->stream;
    DeltaWriter *writer = NULL;
    DeltaAdds    adds;
    DeltaOutcome outcome;
    bool         needed, ok = false;
    ReadParts    parts = {.method     = "read changes",
                          .what       = "batch",
                          .name       = stream->options->capture_instance,
                          .row_total  = batch->row_total,
                          .count      = batch->range_count,
                          .partitions = stream->options->source.num_partitions,
                          .open       = open_range,
                          .arg        = batch};

    batch->metrics = ARENA_ARRAY(batch->arena, ChangeMetrics, batch->range_count + 1);
    if (!needs_bronze(batch, &needed, err)) goto done;
    if (needed) {
        if (!bronze_prepare(stream->bronze, &stream->captured,
                            stream->options->source.include_command_id, err))
            goto done;
        if (!bronze_writer_open(stream->bronze,
                                str_printf(batch->arena, "stream.%.*s", STR_ARG(stream->sink_id)),
                                &writer, err))
            goto done;
    }
    parts.writer = writer;
    mssql_forget_ahead(stream->mssql); /* what is asked from here on is younger than the rows */
    if (!read_parts(stream->env, stream->mssql, &parts, batch->arena, &adds, err)) goto done;
    if (!batch_check_read(batch, read_parts_rows(&adds), err)) goto done;
    batch->counts = batch_fold_counts(batch->metrics, batch->range_count);
    ok            = adds.count == 0 ||
         (bronze_append_batch(stream->bronze, writer, adds.items, adds.count, stream->sink_id,
                              stream->next_batch, &batch->counts, &outcome, err) &&
          check_written(batch, outcome, "bronze", err));
done:
    bronze_writer_finish(stream->bronze, writer);
    return ok;
}

/* --- facts, commit, verdict --- */

static bool write_facts(Batch *batch, Err *err)
{
    Stream      *stream = batch->stream;
    FactsRow    *rows, *left;
    size_t       left_count;
    DeltaOutcome outcome;
    /* Without a range, warnings wait for the next batch with one (2.4). */
    bool has_range = batch->range_count > 0 ||
                     (batch->is_done && lsn_compare(batch->end.lsn, stream->position.lsn) > 0);
    size_t warning_count = has_range ? stream->warnings.count : 0;

    if (!stream->facts) return true;
    if (!left_events_find(stream, batch->events.items, batch->events.count, batch->arena, &left,
                          &left_count, err))
        return false;
    rows    = ARENA_ARRAY(batch->arena, FactsRow, batch->events.count + left_count + 1);
    rows[0] = (FactsRow){
        .app_id      = stream->sink_id,
        .batch_id    = OPT_I64(stream->next_batch),
        .target      = stream->options->bronze.label,
        .started_at  = batch->started_at,
        .duration_ms = OPT_I64(batch->duration_ms),
        .detail      = payload_warnings(batch->arena, stream->warnings.items, warning_count)};
    batch_set_counts(&batch->counts, &rows[0]);
    batch_fold_metrics(batch->metrics, batch->range_count, &batch->counts, batch->end.lsn,
                       &rows[0]);
    if (batch->range_count == 0 && has_range) {
        /* Known from the plan, though nothing was measured again. */
        rows[0].end_lsn       = OPT_LSN(batch->end.lsn);
        rows[0].end_commit_ts = batch->end.commit_ts;
    }
    for (size_t i = 0; i < batch->events.count; i++)
        rows[i + 1] = batch->events.items[i];
    for (size_t i = 0; i < left_count; i++)
        rows[batch->events.count + i + 1] = left[i];
    if (!facts_append_batch(stream->facts, stream->sink_id, stream->next_batch, rows,
                            batch->events.count + left_count + 1, &outcome, err) ||
        !check_written(batch, outcome, "the facts", err))
        return false;
    left_events_settle(stream, outcome == DELTA_WRITTEN);
    if (outcome == DELTA_WRITTEN && has_range)
        stream->warnings.count = 0; /* a skipped row carried none: they wait for the next */
    return true;
}

static bool finish(Batch *batch, Err *err)
{
    Stream *stream = batch->stream;

    if (!write_facts(batch, err)) return false;
    if (!checkpoint_commit(stream->checkpoint, stream->next_batch, err)) return false;
    verdict_tracker_offer(stream->verdict, &batch->end);
    stream->result->batches++;
    stream->result->rows += batch->counts.rows;
    log_info(stream->env->log, "stream", "batch committed",
             LOG_STR("stream", stream->options->capture_instance),
             LOG_I64("batch", stream->next_batch), LOG_I64("rows", batch->counts.rows),
             LOG_LSN("end_lsn", batch->end.lsn), LOG_I64("duration_ms", batch->duration_ms),
             LOG_BOOL("replay", batch->is_replay));
    return true;
}

/* The rows that are in must be those that were planned, or this batch's are nowhere. */
static bool check_counts(Batch *batch, Err *err)
{
    const Stream *stream = batch->stream;
    OptLsn        max    = batch->counts.max_lsn;

    return !max.is_set || lsn_compare(max.lsn, batch->end.lsn) <= 0 ||
           err_set(err, ERR_STATE,
                   "bronze holds this batch of app_id %.*s with rows up to %s, but checkpoint %.*s "
                   "planned it up to %s: another run wrote it; restore the checkpoint that belongs "
                   "to the table, or use a new app_id with a new checkpoint",
                   STR_ARG(stream->sink_id), lsn_format(max.lsn).text,
                   STR_ARG(stream->options->checkpoint), lsn_format(batch->end.lsn).text);
}

/* A batch whose rows are in counts as processed: nothing of it can be lost any more (2.7). */
static bool find_earlier_attempt(Batch *batch, Err *err)
{
    Stream *stream = batch->stream;
    bool    is_in, has_counts, facts_in = false;

    if (!batch->is_replay) return true;
    if (!bronze_find_batch(stream->bronze, stream->sink_id, stream->next_batch, &is_in, &has_counts,
                           &batch->counts, err))
        return false;
    batch->is_done = is_in && has_counts;
    if (batch->is_done) return check_counts(batch, err);
    batch->counts = (BatchCounts){0};
    if (stream->facts &&
        !facts_has_batch(stream->facts, stream->sink_id, stream->next_batch, &facts_in, err))
        return false;
    batch->is_done = facts_in && !is_in; /* its row is in and no rows are: it had none */
    return true;
}

bool stream_run_batch(Stream *stream, const Offset *end, bool is_replay, Err *err)
{
    Batch   batch = {.stream = stream, .arena = arena_new(), .end = *end, .is_replay = is_replay};
    int64_t began_us = clock_utc_us(stream->env->clock);
    bool    ok       = false;

    batch.started_at = OPT_TIME(began_us);
    if (!find_earlier_attempt(&batch, err)) goto done;
    if (!batch.is_done) {
        if (!batch_plan_ranges(&batch, err)) goto done;
        began_us         = clock_utc_us(stream->env->clock);
        batch.started_at = OPT_TIME(began_us); /* planning does not count (11) */
        if (!read_and_append(&batch, err)) goto done;
    } else if (!batch_find_events_again(&batch, err)) {
        goto done;
    }
    batch.duration_ms = (clock_utc_us(stream->env->clock) - began_us + 500) / 1000;
    ok                = finish(&batch, err);
done:
    arena_close(batch.arena);
    return ok;
}
