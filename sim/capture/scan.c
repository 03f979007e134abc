/* scan.c - scan sessions: cycles of capture one after the other, what they found, what stopped
 * them (sqlserver.md 2.16). */
#include "sim/capture/cdc_internal.h"

#define KEPT       1000 /* errors, sessions: the oldest go */
#define PHASE_LAST 7

/* --- what is shown of them --- */

void scan_note_error(SimCdc *cdc, const SimError *error)
{
    Lsn         lsn = LSN_ZERO, begin_lsn = LSN_ZERO;
    CommitNode *end  = NULL;
    CommitNode *node = log_first(&cdc->database->log, &end);

    if (node != NULL) {
        lsn       = node->commit_lsn;
        begin_lsn = node->begin_lsn;
    }
    (void)pthread_mutex_lock(&cdc->mutex);
    bool is_new = true; /* a job that tries again says nothing new */
    for (size_t i = 0; i < cdc->errors.count; i++)
        is_new &= cdc->errors.items[i].number != error->number ||
                  !lsn_equal(cdc->errors.items[i].start_lsn, lsn);
    if (is_new && cdc->errors.count < KEPT)
        *LIST_PUSH(cdc->arena, &cdc->errors) = (SimScanError){
            .time_us    = sim_server_local_us(cdc->database->server),
            .session_id = cdc->session_count + 1,
            .phase      = PHASE_LAST,
            .number     = error->number,
            .severity   = error->severity,
            .state      = error->state,
            .start_lsn  = lsn,
            .begin_lsn  = begin_lsn,
            .message    = str_copy(cdc->arena, str_from_c(error->message))};
    (void)pthread_mutex_unlock(&cdc->mutex);
}

/* A scan that found nothing counts in the row of the empty scans before it; with the mutex held. */
static SimScanSession *session_row(SimCdc *cdc, bool is_empty)
{
    SimScanSession *last = cdc->sessions.count > 0 ? &cdc->sessions.items[cdc->sessions.count - 1]
                                                   : NULL;

    if (is_empty && last != NULL && last->empty_count > 0) return last;
    if (cdc->sessions.count == KEPT) {
        memmove(cdc->sessions.items, cdc->sessions.items + 1,
                (KEPT - 1) * sizeof *cdc->sessions.items);
        cdc->sessions.count--;
    }
    SimScanSession *row = LIST_PUSH(cdc->arena, &cdc->sessions);
    *row                = (SimScanSession){.id = ++cdc->session_count};
    return row;
}

static void note_session(SimCdc *cdc, const ScanCounts *total, int64_t start_us, bool ok)
{
    bool is_empty = ok && total->transactions == 0 && total->ddl_count == 0;

    (void)pthread_mutex_lock(&cdc->mutex);
    SimScanSession *row = session_row(cdc, is_empty);
    row->start_us       = start_us;
    row->end_us         = sim_server_local_us(cdc->database->server);
    if (is_empty) {
        row->empty_count++;
    } else {
        row->has_failed      = !ok;
        row->start_lsn       = total->start_lsn;
        row->end_lsn         = total->end_lsn;
        row->transactions    = total->transactions;
        row->records         = total->records;
        row->commands        = total->rows;
        row->ddl_count       = total->ddl_count;
        row->first_begin_lsn = total->first_begin_lsn;
        row->last_commit_lsn = total->last_commit_lsn;
        row->last_commit_us  = total->last_commit_us;
    }
    (void)pthread_mutex_unlock(&cdc->mutex);
}

size_t sim_cdc_scan_sessions(SimDatabase *database, Arena *arena, SimScanSession **out)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    size_t count = cdc->sessions.count;
    *out         = ARENA_ARRAY(arena, SimScanSession, count + 1);
    if (count > 0) memcpy(*out, cdc->sessions.items, count * sizeof **out);
    (void)pthread_mutex_unlock(&cdc->mutex);
    return count;
}

/* --- scanning --- */

static void add_counts(ScanCounts *total, const ScanCounts *cycle)
{
    if (lsn_is_zero(total->start_lsn)) total->start_lsn = cycle->start_lsn;
    if (!lsn_is_zero(cycle->end_lsn)) total->end_lsn = cycle->end_lsn;
    if (total->transactions == 0) total->first_begin_lsn = cycle->first_begin_lsn;
    if (cycle->transactions > 0) {
        total->last_commit_lsn = cycle->last_commit_lsn;
        total->last_commit_us  = cycle->last_commit_us;
    }
    total->transactions += cycle->transactions;
    total->rows += cycle->rows;
    total->records += cycle->records;
    total->ddl_count += cycle->ddl_count;
    total->is_at_end = cycle->is_at_end;
}

bool scan_session(SimCdc *cdc, const ScanLimits *limits, ScanCounts *total, SimError *error)
{
    int64_t start_us = sim_server_local_us(cdc->database->server);
    bool    ok       = true;

    *total = (ScanCounts){.is_at_end = false};
    for (int64_t cycle = 0;
         ok && !total->is_at_end && (limits->cycles == 0 || cycle < limits->cycles); cycle++) {
        ScanCounts counts;
        ok = scan_cycle(cdc, limits, &counts, error);
        if (ok) add_counts(total, &counts);
    }
    note_session(cdc, total, start_us, ok);
    return ok;
}

bool sim_cdc_scan(SimDatabase *database, int64_t maxtrans, int64_t maxscans,
                  int64_t *transactions_out, int64_t *rows_out, SimError *error)
{
    ScanLimits limits = {.transactions = (size_t)maxtrans, .cycles = maxscans};
    ScanCounts total;
    bool       ok = scan_session(database->cdc, &limits, &total, error);

    if (transactions_out != NULL) *transactions_out = total.transactions;
    if (rows_out != NULL) *rows_out = total.rows;
    return ok;
}

bool sim_cdc_scan_now(SimDatabase *database, int64_t *transactions_out, int64_t *rows_out,
                      SimError *error)
{
    return sim_cdc_scan(database, sim_cdc_jobs(database).maxtrans, 0, transactions_out, rows_out,
                        error);
}

void sim_cdc_set_latency(SimDatabase *database, int64_t min_ms, int64_t max_ms)
{
    SimLog *log = &database->log;

    (void)pthread_mutex_lock(&log->mutex);
    log->latency_min_ms = MAX(min_ms, 0);
    log->latency_max_ms = MAX(max_ms, log->latency_min_ms);
    (void)pthread_mutex_unlock(&log->mutex);
}
