/* backfill_stop.c - what ends a call before its snapshot is complete. */
#include "engine/backfill_internal.h"

#include <math.h>

double backfill_seconds_since(const Backfill *backfill, int64_t began_ns)
{
    return (double)(clock_monotonic_ns(backfill->env->clock) - began_ns) / 1e9;
}

bool backfill_is_out_of_time(const Backfill *backfill)
{
    return backfill->options->max_seconds.is_set &&
           backfill_seconds_since(backfill, backfill->began_ns) >=
               backfill->options->max_seconds.value;
}

void backfill_pause_for(Backfill *backfill, BackfillState state, Str reason)
{
    backfill->result->state  = state;
    backfill->result->reason = reason;
}

/* A row may come from a machine whose clock is ahead of this one: it is new, and no reason to see more headroom. */
double backfill_age_hours(const Backfill *backfill, OptTime written_at)
{
    return fmax(0, (double)(clock_utc_us(backfill->env->clock) - written_at.utc_us) / 3600e6);
}

static bool check_headroom(Backfill *backfill, Err *err)
{
    double    least = backfill->options->min_headroom_hours.value;
    OptDouble headroom;
    OptTime   written_at;

    if (!backfill->options->min_headroom_hours.is_set) return true;
    if (!facts_find_headroom(backfill->facts, backfill->state.open->sink_id, &headroom, &written_at,
                             err))
        return false;
    if (!headroom.is_set || !written_at.is_set) {
        backfill_pause_for(
            backfill, BACKFILL_WAITING_METRICS,
            str_printf(backfill->result_arena,
                       "stream %.*s has not written how far it is from the retention yet",
                       STR_ARG(backfill->state.open->sink_id)));
        return true;
    }
    double age = backfill_age_hours(backfill, written_at);
    if (headroom.value - age < least)
        backfill_pause_for(
            backfill, BACKFILL_WAITING_HEADROOM,
            str_printf(backfill->result_arena,
                       "%.2f hours of headroom are left (%.2f in a row %.2f hours old), and "
                       "min_headroom_hours is %.2f",
                       headroom.value - age, headroom.value, age, least));
    return true;
}

static bool check_pause_file(Backfill *backfill, Err *err)
{
    Str        path = store_join(backfill->result_arena, backfill->options->stream.checkpoint,
                                 STR("_tidelake/pause"));
    StoreEntry entry;
    Err        found = ERR_INIT;

    if (backfill->options->stream.checkpoint.len == 0) return true;
    if (store_stat(backfill->env->store, path, &entry, &found)) {
        backfill_pause_for(
            backfill, BACKFILL_PAUSED,
            str_printf(backfill->result_arena, "%.*s is there: remove it to go on", STR_ARG(path)));
        return true;
    }
    if (found.code == ERR_NOT_FOUND) return true;
    (void)err_copy(err, &found);
    return err_context(err,
                       "whether to pause cannot be told, so no further wave starts; a file of this "
                       "name pauses, none goes on");
}

bool backfill_check_pause(Backfill *backfill, bool *must_pause, Err *err)
{
    backfill->result->state = BACKFILL_RUNNING;
    if (!check_pause_file(backfill, err)) return false;
    if (backfill->result->state == BACKFILL_RUNNING && !check_headroom(backfill, err)) return false;
    *must_pause = backfill->result->state != BACKFILL_RUNNING;
    return true;
}

bool backfill_is_at_limit(const Backfill *backfill)
{
    return (backfill->options->max_waves.is_set &&
            backfill_waves_begun(backfill) >= backfill->options->max_waves.value) ||
           backfill_is_out_of_time(backfill);
}
