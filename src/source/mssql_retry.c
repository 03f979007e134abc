/* mssql_retry.c - the retry policy (sqlserver.md 1.14): at most 3 more attempts after a transient
 * error, each on a new connection, after a wait drawn from 1-2 s, 2-4 s, 4-8 s. Constants, not
 * options. */
#include "source/mssql_internal.h"

#define ATTEMPTS 4

/* The wait after attempt 1, 2 or 3, uniform in its interval. */
static int64_t draw_wait_ms(Rng *rng, int attempt)
{
    int64_t low = (int64_t)1000 << (attempt - 1);

    return rng_between(rng, low, 2 * low);
}

static bool wait_and_retry(Mssql *mssql, const char *method, int attempt, const Err *err)
{
    const MssqlOptions *options = &mssql->options;

    if (options->cancel && cancel_is_requested(options->cancel)) return false;
    if (attempt >= ATTEMPTS) {
        log_error(options->log, "source", "the source failed for the last time, giving up",
                  LOG_STR("capture_instance", options->name), LOG_TEXT("method", method),
                  LOG_I64("attempts", attempt), LOG_I64("native", err->native),
                  LOG_TEXT("sqlstate", err->sqlstate), LOG_TEXT("error", err->message));
        return false;
    }

    int64_t wait_ms = draw_wait_ms(options->rng, attempt);
    log_warn(options->log, "source", "the source failed, trying again",
             LOG_STR("capture_instance", options->name), LOG_TEXT("method", method),
             LOG_I64("attempt", attempt), LOG_I64("wait_ms", wait_ms),
             LOG_I64("native", err->native), LOG_TEXT("sqlstate", err->sqlstate),
             LOG_TEXT("error", err->message));
    clock_sleep_ms(options->clock, wait_ms, options->cancel);
    return !(options->cancel && cancel_is_requested(options->cancel));
}

static bool run_once(Mssql *mssql, MssqlCall call, void *arg, Err *err)
{
    if (!mssql->meta && !mssql_connect(mssql, CONN_META, &mssql->meta, err)) return false;
    return call(mssql, arg, err);
}

bool mssql_retry(Mssql *mssql, const char *method, MssqlCall call, void *arg, Err *err)
{
    bool ok;

    if (mssql->retry_depth > 0)
        return run_once(mssql, call, arg, err); /* the outer method runs again as a whole */
    sqldriver_close_idle(mssql->options.driver);
    mssql->retry_depth++;
    for (int attempt = 1;; attempt++) {
        ok = run_once(mssql, call, arg, err);
        if (ok) break;
        if (err->code == ERR_SOURCE || (mssql->meta && sqlconn_is_dead(mssql->meta))) {
            sqlconn_close(mssql->meta);
            mssql->meta = NULL;
            sqldriver_close_kept(mssql->options.driver, mssql->options.connection);
        }
        if (err->code != ERR_SOURCE || !wait_and_retry(mssql, method, attempt, err)) break;
        err_clear(err);
    }
    mssql->retry_depth--;
    if (!ok && err->code == ERR_SOURCE && mssql->options.cancel &&
        cancel_is_requested(mssql->options.cancel))
        return err_set(err, ERR_CANCELLED, "stopped on request while the source did not answer");
    return ok;
}

/* A lock that was not given in time is one failed attempt of a read; a question that plans raises it
 * at once, since the lock is likely still held (1.13). */
bool mssql_should_retry_read(Mssql *mssql, const char *method, int attempt, const Err *err)
{
    return (err->code == ERR_SOURCE || err->code == ERR_LOCK_TIMEOUT) &&
           wait_and_retry(mssql, method, attempt, err);
}
