/* batch_plan.c - the ranges of a batch, and the questions that come before and after their read:
 * what the table looks like now, DDL, and the retention guard (algorithms.md 2.4, 2.5, 6.2). */
#include "engine/batch_internal.h"

bool stream_ask_ahead(Stream *stream, Lsn end, bool with_end_time, Err *err)
{
    int64_t       partitions = stream->options->source.num_partitions;
    PlanQuestions plan       = {.table         = &stream->table,
                                .start         = stream->position.lsn,
                                .end           = end,
                                .with_end_time = with_end_time};

    if (lsn_compare(end, plan.start) <= 0) return true; /* no ranges: nothing is asked */
    if (partitions > 1) plan.tiles = partitions;
    plan.with_existence = !bronze_get_table(stream->bronze);
    return mssql_ask_plan_ahead(stream->mssql, &plan, err);
}

/* --- the table as it is now --- */

/* Looks at the table as it is now: a second instance, DDL inside the batch. */
static bool check_source(Batch *batch, Err *err)
{
    Stream      *stream = batch->stream;
    CaptureTable now    = {0};
    DdlEvent    *ddl;
    size_t       count;

    if (!mssql_find_table(stream->mssql, stream->options->capture_instance, batch->arena, &now,
                          err))
        return false;
    if (!stream_check_instances(&now, err)) return false;
    stream->configured_is_gone = now.configured_is_gone;
    if (!mssql_find_ddl(stream->mssql, &now.instances[0], stream->position.lsn, batch->end.lsn,
                        batch->arena, &ddl, &count, err))
        return false;
    if (count == 0) return true;
    if (stream->options->schema_change_fails)
        return err_set(err, ERR_SCHEMA_CHANGED,
                       "%.*s: DDL at LSN %s: %.*s; schema_change_policy is fail, and a rerun meets "
                       "it again: restart once with classify to pass it",
                       STR_ARG(now.instances[0].name), lsn_format(ddl[0].lsn).text,
                       STR_ARG(str_slice(ddl[0].command, 0, 200)));
    if (!stream_check_ddl(stream, ddl, count, err)) return false;
    for (size_t i = 0; i < count; i++)
        if (!batch_add_ddl(batch, &ddl[i], err)) return false;
    return true;
}

/* --- the guard --- */

static bool lost(Batch *batch, Lsn from, Lsn low, Err *err)
{
    const Stream *stream = batch->stream;
    Str           gone   = STR_EMPTY;

    if (stream->configured_is_gone)
        gone = str_printf(batch->arena,
                          ", or capture instance %.*s, which does not exist any more, was disabled "
                          "before the stream had read it",
                          STR_ARG(stream->options->capture_instance));
    return err_set(err, ERR_DATA_LOSS,
                   "the changes of %.*s from LSN %s on are gone, the oldest left is %s: CDC "
                   "cleanup took them before they were read%.*s. The table needs a new snapshot: "
                   "lengthen the retention (sys.sp_cdc_change_job) and start again with "
                   "--bootstrap with a new bronze table, app_id and checkpoint; the old "
                   "tables stay valid up to their verdict. fail_on_data_loss: false goes on at the "
                   "oldest left instead, and the changes in between are lost for good",
                   STR_ARG(stream->table.instances[0].name), lsn_format(from).text,
                   lsn_format(low).text, STR_ARG(gone));
}

/* Where the batch is read from: its first LSN, or where what is left begins. `is_empty`: nothing
 * of it is left. */
static bool guard(Batch *batch, Lsn *from, bool *is_empty, Err *err)
{
    Stream *stream = batch->stream;
    Lsn     low;
    bool    is_set;

    *is_empty = false;
    if (!mssql_min_lsn(stream->mssql, stream->table.instances[0].name, &low, &is_set, err))
        return false;
    if (!is_set)
        return err_set(err, ERR_SOURCE_STATE,
                       "capture instance %.*s has no low end: it does not exist any more, the "
                       "login may not see it, or capture has not processed its creation "
                       "yet; retry once the capture job ran",
                       STR_ARG(stream->table.instances[0].name));
    if (!plan_is_lost(*from, low, is_set)) return true;
    if (!stream->options->skips_lost_changes) return lost(batch, *from, low, err);
    if (!batch_add_skip(batch, *from, low, STR_EMPTY, err)) return false;
    *from     = low;
    *is_empty = lsn_compare(low, batch->end.lsn) > 0;
    return true;
}

static bool split(Batch *batch, Lsn from, Err *err)
{
    Stream    *stream = batch->stream;
    SplitTile *tiles  = NULL;
    PlanTile  *plan;
    size_t     count      = 0;
    int64_t    partitions = stream->options->source.num_partitions;

    if (partitions > 1 &&
        !mssql_split_tiles(stream->mssql, stream->table.instances[0].name, from, batch->end.lsn,
                           partitions, batch->arena, &tiles, &count, err))
        return false;
    plan = ARENA_ARRAY(batch->arena, PlanTile, count + 1);
    for (size_t i = 0; i < count; i++) {
        batch->row_total += tiles[i].row_count;
        plan[i] = (PlanTile){.last_lsn  = tiles[i].last_lsn,
                             .next_lsn  = tiles[i].next_lsn,
                             .row_count = tiles[i].row_count};
    }
    plan_split(from, batch->end.lsn, plan, count, RANGE_ROWS_FLOOR, batch->arena, &batch->ranges,
               &batch->range_count);
    return true;
}

bool batch_plan_ranges(Batch *batch, Err *err)
{
    Stream *stream = batch->stream;
    Lsn     from;
    bool    is_empty;

    if (lsn_compare(batch->end.lsn, stream->position.lsn) <= 0) return true;
    if (!check_source(batch, err)) return false;
    if (!mssql_next_lsn(stream->mssql, stream->position.lsn, &from, err)) return false;
    if (!guard(batch, &from, &is_empty, err)) return false;
    return is_empty || split(batch, from, err);
}

/* --- after the read --- */

/* Cleanup moves the low end first and deletes afterwards, so a range it could have reached shows. */
static bool check_range(Batch *batch, size_t index, Err *err)
{
    const Stream        *stream = batch->stream;
    const ChangeMetrics *range  = &batch->metrics[index];
    Lsn                  from   = batch->ranges[index].from;

    if (!range->min_lsn_after_is_set)
        return err_set(err, ERR_SOURCE_STATE,
                       "capture instance %.*s went away while it was read, so rows may be "
                       "missing; nothing was committed",
                       STR_ARG(stream->table.instances[0].name));
    if (!plan_is_lost(from, range->min_lsn_after, true)) return true;
    if (!stream->options->skips_lost_changes) return lost(batch, from, range->min_lsn_after, err);
    return batch_add_skip(batch, from, range->min_lsn_after,
                          STR("cleanup passed the start of the range while it was read; the rows "
                              "that were still there are in bronze"),
                          err);
}

bool batch_check_read(Batch *batch, int64_t written, Err *err)
{
    int64_t rows = 0;

    for (size_t i = 0; i < batch->range_count; i++) {
        if (!check_range(batch, i, err)) return false;
        rows += batch->metrics[i].rows;
    }
    return rows == written ||
           err_set(err, ERR_INTERNAL, "read %lld rows and wrote %lld; nothing was committed",
                   (long long)rows, (long long)written);
}

/* --- a batch whose rows are in --- */

/* What the attempt that wrote the rows skipped was to be in its facts, which a crash took. Cleanup
 * may have moved on since, so no more is said than that there was a gap at most up to the first row
 * that is in. */
static bool find_skip_again(Batch *batch, Err *err)
{
    Stream *stream = batch->stream;
    OptLsn  first  = batch->counts.min_lsn;
    Lsn     from, low;
    bool    is_set;

    if (!stream->options->skips_lost_changes || !first.is_set) return true;
    if (!mssql_next_lsn(stream->mssql, stream->position.lsn, &from, err)) return false;
    if (!mssql_min_lsn(stream->mssql, stream->table.instances[0].name, &low, &is_set, err))
        return false;
    if (!plan_is_lost(from, low, is_set)) return true;
    return batch_add_skip(batch, from, lsn_compare(low, first.lsn) < 0 ? low : first.lsn,
                          STR("found when the facts of a batch were written again after a crash; "
                              "cleanup may have come before its read or later"),
                          err);
}

bool batch_find_events_again(Batch *batch, Err *err)
{
    Stream   *stream = batch->stream;
    Err       why    = ERR_INIT;
    DdlEvent *ddl;
    size_t    count;

    if (!mssql_find_ddl(stream->mssql, &stream->table.instances[0], stream->position.lsn,
                        batch->end.lsn, batch->arena, &ddl, &count, &why))
        return why.code != ERR_CANCELLED && why.code != ERR_SOURCE ? true : err_copy(err, &why);
    for (size_t i = 0; i < count; i++)
        if (!batch_add_ddl(batch, &ddl[i], err)) return false;
    return find_skip_again(batch, err);
}
