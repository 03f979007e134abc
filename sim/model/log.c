/* log.c - log sequence numbers, and committed changes until capture has read them
 * (sqlserver.md 2.13). */
#include "sim/model/model_internal.h"

#define FIRST_VLF      0x2A
#define BLOCKS_PER_VLF (1u << 20)

static uint64_t log_random(SimLog *log)
{
    uint64_t z = (log->random += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void log_open(SimLog *log, uint64_t seed)
{
    *log       = (SimLog){.vlf = FIRST_VLF, .random = seed};
    int failed = pthread_mutex_init(&log->mutex, NULL);
    assert(failed == 0);
    log->block = 0x10;
}

void commit_node_free(CommitNode *node)
{
    if (node == NULL) return;
    for (size_t i = 0; i < node->record_count; i++)
        cdc_record_free(&node->records[i]);
    mem_free(node->records);
    mem_free(node);
}

void log_clear(SimLog *log)
{
    for (CommitNode *node = log->first, *next; node != NULL; node = next) {
        next = node->next;
        commit_node_free(node);
    }
    log->first = log->last = NULL;
}

/* A flush ends the block. */
static void next_block(SimLog *log)
{
    log->slot = 0;
    log->block += 8 + (uint32_t)(log_random(log) % 57);
    if (log->block < BLOCKS_PER_VLF) return;
    log->vlf++;
    log->block = 0x10;
}

static Lsn next_lsn(SimLog *log)
{
    Lsn lsn;

    if (log->slot == UINT16_MAX) next_block(log);
    log->slot++;
    for (unsigned i = 0; i < 4; i++) {
        lsn.bytes[i]     = (uint8_t)(log->vlf >> (24 - 8 * i));
        lsn.bytes[4 + i] = (uint8_t)(log->block >> (24 - 8 * i));
    }
    lsn.bytes[8] = (uint8_t)(log->slot >> 8);
    lsn.bytes[9] = (uint8_t)log->slot;
    return lsn;
}

Lsn log_next(SimLog *log)
{
    (void)pthread_mutex_lock(&log->mutex);
    Lsn lsn = next_lsn(log);
    (void)pthread_mutex_unlock(&log->mutex);
    return lsn;
}

static uint32_t big_endian(const uint8_t *bytes, unsigned count)
{
    uint32_t number = 0;

    for (unsigned i = 0; i < count; i++)
        number = number << 8 | bytes[i];
    return number;
}

void log_continue_after(SimLog *log, Lsn lsn)
{
    (void)pthread_mutex_lock(&log->mutex);
    Lsn now = next_lsn(log);
    if (lsn_compare(now, lsn) <= 0) {
        log->vlf   = big_endian(lsn.bytes, 4);
        log->block = big_endian(lsn.bytes + 4, 4);
        next_block(log);
    }
    (void)pthread_mutex_unlock(&log->mutex);
}

static LogRecord *push_record(CommitNode *node)
{
    if (node->record_count == node->record_capacity) {
        node->record_capacity = node->record_capacity ? 2 * node->record_capacity : 2;
        node->records = mem_realloc(node->records, node->record_capacity * sizeof *node->records);
    }
    return &node->records[node->record_count++];
}

void log_append(SimTxn *txn, LogRecord record)
{
    if (txn->node == NULL) txn->node = mem_alloc(sizeof *txn->node);
    record.undo_at   = txn->undo_count;
    record.statement = txn->statement;
    if (record.before != NULL) row_hold(record.before);
    if (record.after != NULL) row_hold(record.after);
    *push_record(txn->node) = record;
}

void log_undo_to(SimTxn *txn, size_t undo_at)
{
    CommitNode *node = txn->node;

    if (node == NULL) return;
    while (node->record_count > 0 && node->records[node->record_count - 1].undo_at > undo_at)
        cdc_record_free(&node->records[--node->record_count]);
}

static int64_t visible_ns(SimLog *log, SimServer *server)
{
    int64_t spread_ms = log->latency_max_ms - log->latency_min_ms;

    if (log->latency_max_ms == 0) return 0;
    int64_t ms = log->latency_min_ms + (int64_t)(log_random(log) % (uint64_t)(spread_ms + 1));
    return clock_monotonic_ns(sim_server_clock(server)) + ms * 1000000;
}

Lsn log_commit(SimTxn *txn)
{
    SimLog *log    = &txn->database->log;
    int64_t now_us = txn->begin_us != 0 || txn->node != NULL
                         ? sim_server_local_us(txn->database->server)
                         : 0;

    (void)pthread_mutex_lock(&log->mutex);
    Lsn      lsn    = next_lsn(log);
    uint64_t number = ++log->commit_count;
    next_block(log);
    atomic_store_explicit(&txn->state, (number + 1) << 1,
                          memory_order_release); /* visible from here on */
    versions_note_commit(txn->database, (number + 1) << 1);
    for (size_t i = 0; txn->body_count > 0 && i < txn->undo_count; i++)
        if (txn->undo[i].kind == UNDO_BODY)
            atomic_store(&txn->undo[i].table->altered_state, (number + 1) << 1);
    for (size_t i = 0; txn->event_count > 0 && i < txn->undo_count; i++)
        if (txn->undo[i].kind == UNDO_EVENT && txn->undo[i].event->commit != NULL)
            txn->undo[i].event->commit(txn->undo[i].event, txn, lsn);
    CommitNode *node = txn->node;
    if (node != NULL && node->record_count > 0 && log->is_kept) {
        node->begin_lsn  = txn->first_lsn;
        node->commit_lsn = lsn;
        node->begin_us   = txn->begin_us;
        node->commit_us  = now_us;
        node->txn_id     = txn->id;
        node->visible_ns = visible_ns(log, txn->database->server);
        if (log->last != NULL)
            log->last->next = node;
        else
            log->first = node;
        log->last = node;
        txn->node = NULL;
    }
    (void)pthread_mutex_unlock(&log->mutex);
    return lsn;
}

CommitNode *log_first(SimLog *log, CommitNode **end_out)
{
    (void)pthread_mutex_lock(&log->mutex);
    CommitNode *first = log->first;
    *end_out          = log->last;
    (void)pthread_mutex_unlock(&log->mutex);
    return first;
}

Lsn log_newest(SimLog *log)
{
    (void)pthread_mutex_lock(&log->mutex);
    Lsn lsn = log->last != NULL ? log->last->commit_lsn : LSN_ZERO;
    (void)pthread_mutex_unlock(&log->mutex);
    return lsn;
}

bool log_waits(SimLog *log, Lsn lsn)
{
    (void)pthread_mutex_lock(&log->mutex);
    bool waits = log->first != NULL && lsn_compare(log->first->commit_lsn, lsn) <= 0;
    (void)pthread_mutex_unlock(&log->mutex);
    return waits;
}

CommitNode *log_node_next(SimLog *log, CommitNode *node)
{
    (void)pthread_mutex_lock(&log->mutex);
    CommitNode *next = node->next;
    (void)pthread_mutex_unlock(&log->mutex);
    return next;
}

CommitNode *log_cut(SimLog *log, CommitNode *last)
{
    CommitNode *cut = log->first;

    log->first = last->next;
    if (log->first == NULL) log->last = NULL;
    last->next = NULL;
    return cut;
}

bool log_idle_lsn(SimLog *log, Lsn *out)
{
    (void)pthread_mutex_lock(&log->mutex);
    bool is_idle = log->first == NULL;
    if (is_idle) {
        *out = next_lsn(log);
        next_block(log);
    }
    (void)pthread_mutex_unlock(&log->mutex);
    return is_idle;
}
