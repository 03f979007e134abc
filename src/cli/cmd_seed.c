/* cmd_seed.c - `tidelake seed`: a copy in the place of a snapshot. */
#include "base/clock.h"
#include "cli/snapshot_outcome.h"
#include "engine/seed.h"
#include "types/lsn.h"

#define CLOCK_SKEW_US (5 * INT64_C(60000000)) /* that clocks may differ by */

/* No copy began in the future: a local time was given as UTC, and changes would be lost. */
static bool check_as_of(Env *env, const SeedOptions *seed, Err *err)
{
    int64_t now_us = clock_utc_us(env->clock);
    bool    ok     = !seed->as_of.is_set || seed->as_of.utc_us <= now_us + CLOCK_SKEW_US;
    Arena  *scratch;

    if (ok) return true;
    scratch = arena_new();
    err_set(err, ERR_USAGE,
            "--as-of is %.*s UTC, which is still to come (it is %.*s UTC): a time without an "
            "offset is UTC; give a local one with its offset, as in 2026-09-28T15:55:00+02:00",
            STR_ARG(time_format_ms(scratch, seed->as_of.utc_us)),
            STR_ARG(time_format_ms(scratch, now_us)));
    arena_close(scratch);
    return false;
}

static bool append(Env *env, const StreamOptions *options, void *arg, SnapshotResult *out, Err *err)
{
    return check_as_of(env, arg, err) && seed_run(env, options, arg, out, err);
}

/* 0x... is an LSN, all else a time, which no digits alone are. */
static bool read_as_of(Str text, SeedOptions *out, Err *err)
{
    bool is_lsn = str_starts_with(text, STR("0x")) || str_starts_with(text, STR("0X"));

    if (is_lsn && lsn_parse(text, &out->as_of_lsn)) return true;
    out->as_of.is_set = !is_lsn && time_parse(text, &out->as_of.utc_us);
    return out->as_of.is_set ||
           err_set(err, ERR_USAGE,
                   "--as-of is \"%.*s\"; allowed: a time, UTC or with its offset "
                   "(2026-09-28T13:55:00, 2026-09-28T15:55:00+02:00), or an LSN (0x and up to 20 "
                   "hex digits)",
                   STR_ARG(text));
}

static bool read_options(const Invocation *invocation, SeedOptions *out, Err *err)
{
    *out = (SeedOptions){
        .from                   = invocation->flags[FLAG_FROM],
        .allows_missing_columns = invocation_has(invocation, FLAG_ALLOW_MISSING_COLUMNS),
        .reseeds                = invocation_has(invocation, FLAG_RESEED)};
    if (out->from.len == 0)
        return err_set(err, ERR_USAGE,
                       "--from is missing: the folder of a Delta table, or Parquet or CSV files "
                       "('copy/*.parquet')");
    if (invocation->flags[FLAG_AS_OF_COMMIT].len == 0)
        return err_set(err, ERR_USAGE,
                       "--as-of is missing: when the copy began to be read "
                       "(2026-09-28T13:55:00, UTC), or an LSN recorded before that");
    return read_as_of(invocation->flags[FLAG_AS_OF_COMMIT], out, err);
}

/* What the shell made of a pattern without quotes: its first file is --from's, the others are arguments. */
static bool check_arguments(const Invocation *invocation, Err *err)
{
    if (invocation->arguments.count <= 1) return true;
    return err_set(err, ERR_USAGE,
                   "tidelake seed takes one capture instance, and %.*s and %.*s are given; a "
                   "pattern of files stands in quotes: --from 'copy/*.parquet'",
                   STR_ARG(invocation->arguments.items[0]),
                   STR_ARG(invocation->arguments.items[1]));
}

bool cmd_seed(Invocation *invocation, Err *err)
{
    SeedOptions options;

    return check_arguments(invocation, err) && read_options(invocation, &options, err) &&
           snapshot_command_run(invocation, append, &options, err);
}
