/* backfill_forecast.c - what a call tells of the rest of its snapshot: once in a log line, then in the progress of
 * each wave. */
#include "engine/backfill_internal.h"

#include <math.h>

void backfill_note_chunk(Backfill *backfill, int64_t wave, int64_t rows, double seconds, double mb)
{
    *LIST_PUSH(backfill->arena, &backfill->measured) = (ReadChunk){wave, rows, seconds, mb};
}

/* Chunks and rows up to the next wave, those that are on their way into the tables among them. */
static SnapshotRest rest_of(const Backfill *backfill)
{
    const ChunkState *state = &backfill->state;

    return (SnapshotRest){
        .row_estimate = state->opened.extent.is_integer ? state->opened.extent.row_estimate : 0,
        .chunk_count  = (int64_t)state->plan.chunk_count,
        .chunk_rows   = state->plan.chunk_rows,
        .chunks_done  = backfill->chunks_read,
        .rows_done    = backfill->rows_recorded +
                     (backfill->committing ? backfill->committing->rows : 0)};
}

static OptDouble headroom_now(const Backfill *backfill)
{
    const Headroom *known = &backfill->headroom;

    if (!known->hours.is_set || !known->written_at.is_set) return (OptDouble){.is_set = false};
    return OPT_DOUBLE(known->hours.value - backfill_age_hours(backfill, known->written_at));
}

static double round_to(double value, double parts)
{
    return round(value * parts) / parts;
}

static Str format_hours(OptDouble hours, Arena *arena)
{
    return hours.is_set ? str_printf(arena, "%.2f", round_to(hours.value, 100) + 0.0) /* no -0 */
                        : STR("unknown");
}

bool backfill_tell_forecast(Backfill *backfill, Err *err)
{
    SnapshotRest rest     = rest_of(backfill);
    ReadPace     pace     = plan_read_pace(backfill->measured.items, backfill->measured.count,
                                           backfill->context.connections);
    Forecast     forecast = plan_forecast(&rest, &pace);
    Log         *log      = backfill->env->log;
    Str          name     = backfill->options->stream.capture_instance;
    OptDouble    headroom;
    double       hours = forecast.seconds / 3600;

    if (backfill->is_foretold || !forecast.is_known) return true;
    if (!facts_find_headroom(backfill->facts, backfill->state.open->sink_id,
                             &backfill->headroom.hours, &backfill->headroom.written_at, err))
        return false;
    backfill->is_foretold = true;
    headroom              = headroom_now(backfill);
    log_info(log, "backfill", "forecast: what is left of the snapshot", LOG_STR("stream", name),
             LOG_I64("rows", forecast.rows), LOG_DOUBLE("mb", round_to(forecast.mb, 10)),
             LOG_I64("rows_per_s", llround(forecast.rows_per_second)),
             LOG_DOUBLE("mb_per_s", round_to(forecast.mb_per_second, 100)),
             LOG_DOUBLE("seconds", round_to(forecast.seconds, 10)),
             LOG_STR("headroom_hours", format_hours(headroom, backfill->arena)));
    if (headroom.is_set && hours > headroom.value)
        log_warn(log, "backfill",
                 "the rest of the snapshot will not fit into the retention headroom: it completes "
                 "only while the stream runs beside it without a gap; read it faster (more "
                 "connections), or raise the CDC retention",
                 LOG_STR("stream", name),
                 LOG_STR("hours", format_hours(OPT_DOUBLE(hours), backfill->arena)),
                 LOG_STR("headroom_hours", format_hours(headroom, backfill->arena)));
    return true;
}

ChunkProgress backfill_progress(const Backfill *backfill, int64_t wave)
{
    SnapshotRest rest = rest_of(backfill);

    return (ChunkProgress){.done           = backfill->result->chunks_done,
                           .total          = (int64_t)backfill->state.plan.chunk_count,
                           .wave           = wave,
                           .rows_left      = plan_rows_left(&rest),
                           .began_ns       = backfill->began_ns,
                           .headroom_hours = headroom_now(backfill)};
}
