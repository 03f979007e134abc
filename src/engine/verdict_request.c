/* verdict_request.c - the verdict looked at and moved by hand. */
#include "engine/announced.h"
#include "engine/verdict.h"
#include "state/bronze.h"
#include "state/checkpoint.h"

#define US_PER_SECOND INT64_C(1000000)

static OptI64 age_of(OptTime time, int64_t now_us)
{
    return time.is_set ? OPT_I64((now_us - time.utc_us) / US_PER_SECOND)
                       : (OptI64){.is_set = false};
}

bool verdict_read(Env *env, const TableRef *control_ref, Str table_label, VerdictState *out,
                  Err *err)
{
    Control *control = NULL;
    bool     ok      = control_open_if_exists(env->delta, control_ref, &control, err);
    int64_t  now_us;

    *out = (VerdictState){.row = {.exists = false}};
    if (ok && control) ok = control_read(control, table_label, &out->row, err);
    if (ok && !control)
        log_warn(env->log, "verdict",
                 "no control table yet: before the first batch that is expected, else the name is "
                 "wrong",
                 LOG_STR("control", control_ref->label), LOG_STR("path", control_ref->path));
    control_close(control);
    now_us             = clock_utc_us(env->clock);
    out->verdict_age_s = age_of(out->row.finalized_until, now_us);
    out->move_age_s    = age_of(out->row.updated_at, now_us);
    return ok;
}

bool verdict_is_final(const VerdictState *state, int64_t until_us)
{
    return state->row.finalized_until.is_set && until_us <= state->row.finalized_until.utc_us;
}

/* --- moving it --- */

static void tell_stays(Env *env, Str table, const char *why)
{
    log_warn(env->log, "verdict", "verdict stays where it is", LOG_STR("table", table),
             LOG_TEXT("reason", why));
}

static bool advance(Env *env, const VerdictOptions *options, Str table, const Offset *end, Err *err)
{
    Control *control = NULL;
    bool     ok      = control_open(env->delta, &options->control, &control, err) &&
              control_advance(control, table, end, options->granularity, NULL, err);

    control_close(control);
    return ok;
}

bool verdict_advance_bronze(Env *env, const VerdictOptions *options, VerdictState *out, Err *err)
{
    Str         table      = options->bronze.label;
    Checkpoint *checkpoint = NULL;
    Offset      end;
    int64_t     batch_id;
    bool ok = checkpoint_open(env->store, env->clock, env->rng, options->checkpoint, &checkpoint,
                              err);

    if (ok && !checkpoint_find_committed(checkpoint, &batch_id, &end))
        tell_stays(env, table, "the checkpoint has no committed batch");
    else if (ok && !end.commit_ts.is_set)
        tell_stays(env, table, "the end of the last batch has no commit time");
    else if (ok)
        ok = advance(env, options, table, &end, err);
    checkpoint_close(checkpoint);
    return ok && verdict_read(env, &options->control, table, out, err);
}

/* Why silver may lack something at or below its position; NULL: it does not. The position was read before. */
static bool find_hold(Env *env, const VerdictOptions *options, const ControlRow *row,
                      Bronze *bronze, const char **out, Err *err)
{
    Arena    *scratch = arena_new();
    Facts    *facts   = NULL;
    OptLsn    rebuilt = row->snapshot_lsn;
    Announced announced;
    Offset    whole;
    bool      exists, found, has_chunks;
    bool      ok = delta_table_exists(env->delta, options->silver.path, &exists, NULL, err) &&
              facts_open_if_exists(env->delta, &options->facts, &facts, err) &&
              announced_read(facts, options->bronze.label, scratch, &announced, err) &&
              bronze_find_snapshot(bronze, NULL, 0, rebuilt, &found, &whole, err) &&
              bronze_has_chunks(bronze, rebuilt, &has_chunks, err);

    *out = NULL;
    if (ok && !exists)
        *out = "there is no silver table: run apply";
    else if (ok && (row->open_snapshot_lsn.is_set || announced_is_open(&announced)))
        *out = "a chunked snapshot is open: run backfill until it is done, then stream and apply";
    else if (ok && (found ||
                    (announced.completed.is_set &&
                     (!rebuilt.is_set || lsn_compare(announced.completed.lsn, rebuilt.lsn) > 0))))
        *out = "silver is not built from the newest snapshot yet: run apply";
    else if (ok && !announced.opened && has_chunks)
        *out = "bronze holds rows of a chunked snapshot that these facts do not announce";
    facts_close(facts);
    arena_close(scratch);
    return ok;
}

static bool advance_to_position(Env *env, const VerdictOptions *options, const ControlRow *row,
                                Err *err)
{
    Str         table  = options->silver.label;
    Bronze     *bronze = NULL;
    const char *hold   = NULL;
    Offset      end    = {.lsn = row->applied_lsn.lsn};
    bool        ok     = bronze_open(env->delta, &options->bronze, &bronze, err) &&
              find_hold(env, options, row, bronze, &hold, err);

    if (ok && !hold) {
        ok = bronze_find_commit_ts(bronze, end.lsn, &end.commit_ts, err);
        if (!end.commit_ts.is_set)
            hold = "bronze has no commit time of the newest change applied: apply moves the "
                   "verdict with bronze's";
    }
    if (ok && hold) tell_stays(env, table, hold);
    if (ok && !hold) ok = advance(env, options, table, &end, err);
    bronze_close(bronze);
    return ok;
}

bool verdict_advance_silver(Env *env, const VerdictOptions *options, VerdictState *out, Err *err)
{
    Str          table = options->silver.label;
    VerdictState before;

    if (!verdict_read(env, &options->control, table, &before, err)) return false;
    if (!options->facts.path.len)
        tell_stays(env, table, "without the facts table nothing tells of open snapshots");
    else if (!before.row.applied_lsn.is_set)
        tell_stays(env, table, "nothing is applied yet");
    else if (!advance_to_position(env, options, &before.row, err))
        return false;
    return verdict_read(env, &options->control, table, out, err);
}
