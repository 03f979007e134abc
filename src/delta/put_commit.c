/* One commit file, put where there is none (delta.md 2.10), and the waiting between attempts
 * (2.11). */
#include "delta/delta_internal.h"

#include <errno.h>

#define PUT_TRIES       4 /* of one text, when the store failed and nothing landed */
#define BACK_OFF_MS_MIN 50
#define BACK_OFF_MS_MAX 5000

bool log_check_cancel(const DeltaContext *context, Err *err)
{
    return !context->cancel || cancel_check(context->cancel, err);
}

bool log_back_off(DeltaContext *context, int attempt, Err *err)
{
    int64_t limit_ms = BACK_OFF_MS_MIN;
    for (int i = 1; i < attempt && limit_ms < BACK_OFF_MS_MAX; i++)
        limit_ms *= 2;
    limit_ms = MIN(limit_ms, BACK_OFF_MS_MAX);
    clock_sleep_ms(context->clock, rng_between(context->rng, 0, limit_ms), context->cancel);
    return log_check_cancel(context, err);
}

/* A machine that cannot write now will not be able to in a moment. */
static bool is_lasting(const Err *err)
{
    switch (err->native) {
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EACCES:
    case EPERM:
    case ENOTDIR:
    case ENAMETOOLONG: return true;
    default: return err->code != ERR_STORE;
    }
}

static bool has_txn_id(Str text, Str file, Str txn_id, Arena *arena)
{
    ActionReader reader  = action_reader(text, file, arena);
    Err          ignored = ERR_INIT;
    Action       action;
    bool         found;

    while (action_next(&reader, &found, &action, &ignored) && found)
        if (action.kind == ACTION_COMMIT_INFO) return str_equal(action.commit_info.txn_id, txn_id);
    return false;
}

typedef enum Landed { LANDED_OURS, LANDED_OTHERS, LANDED_NOTHING, LANDED_UNKNOWN } Landed;

/* Only the log itself tells whether our text is in it. */
static Landed look_what_landed(const LogPlace *place, Str path, Str txn_id)
{
    Arena *arena = arena_new();
    Err    err   = ERR_INIT;
    Bytes  bytes;
    Landed landed;

    if (store_read(place->context->store, path, LIMIT_LOG_FILE_BYTES, arena, &bytes, &err))
        landed = has_txn_id(bytes_str(bytes), path, txn_id, arena) ? LANDED_OURS : LANDED_OTHERS;
    else
        landed = err.code == ERR_NOT_FOUND ? LANDED_NOTHING : LANDED_UNKNOWN;
    arena_close(arena);
    return landed;
}

/* True when the outcome is settled, false to try again or (`*failed`) to give up with `err` as
 * the store set it. */
static bool settle(const LogPlace *place, Str path, Str txn_id, int attempt, PutOutcome *out,
                   bool *failed, Err *err)
{
    bool   is_conflict = err->code == ERR_CONFLICT;
    Landed landed      = look_what_landed(place, path, txn_id);

    switch (landed) {
    case LANDED_OURS: *out = PUT_DONE; return true;
    case LANDED_OTHERS: *out = PUT_TAKEN; return true;
    case LANDED_NOTHING:
        if (is_conflict) { /* removed at once: whoever did it, the version was taken */
            *out = PUT_TAKEN;
            return true;
        }
        *failed = is_lasting(err) || attempt >= PUT_TRIES;
        return false;
    case LANDED_UNKNOWN:
        *failed = true;
        err_context(err, "whether it is in the log is not known");
        return false;
    }
    return false;
}

bool log_put_commit(const LogPlace *place, int64_t version, Str text, Str txn_id, PutOutcome *out,
                    Err *err)
{
    Arena *arena  = arena_new();
    Str    path   = store_join(arena, place->log_path, log_name_commit(arena, version));
    bool   done   = false;
    bool   failed = false;

    for (int attempt = 1; !done && !failed; attempt++) {
        err_clear(err);
        if (store_put_new(place->context->store, path, str_bytes(text), err)) {
            *out = PUT_DONE;
            done = true;
            break;
        }
        done = settle(place, path, txn_id, attempt, out, &failed, err);
        if (done || failed) break;
        log_warn(place->context->log, "delta", "a commit could not be written and is tried again",
                 LOG_STR("file", path), LOG_I64("attempt", attempt),
                 LOG_TEXT("error", err->message));
        failed = !log_back_off(place->context, attempt, err);
    }
    if (done) err_clear(err);
    arena_close(arena);
    return done;
}
