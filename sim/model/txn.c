/* txn.c - transactions: what they did, in order, so that it can be undone or made final. */
#include "sim/model/model_internal.h"

#define LATCH_STEPS 256 /* entries settled before the latch is let go */

SimTxn *sim_txn_begin(SimDatabase *database, SimWaiter *waiter, SimIsolation isolation)
{
    SimTxn *txn = mem_alloc(sizeof *txn);

    txn->database  = database;
    txn->waiter    = waiter;
    txn->isolation = isolation;
    (void)pthread_mutex_lock(&database->open_mutex);
    txn->id        = atomic_fetch_add(&database->server->next_txn_id, 1) + 1;
    txn->next_open = database->open_txns;
    if (txn->next_open != NULL) txn->next_open->previous_open = txn;
    database->open_txns = txn;
    (void)pthread_mutex_unlock(&database->open_mutex);
    return txn;
}

bool sim_txn_has_written(const SimTxn *txn)
{
    return txn->undo_count > 0;
}

static void unlist_open(SimTxn *txn)
{
    SimDatabase *database = txn->database;

    (void)pthread_mutex_lock(&database->open_mutex);
    if (txn->previous_open != NULL)
        txn->previous_open->next_open = txn->next_open;
    else
        database->open_txns = txn->next_open;
    if (txn->next_open != NULL) txn->next_open->previous_open = txn->previous_open;
    (void)pthread_mutex_unlock(&database->open_mutex);
}

uint64_t sim_txn_id(const SimTxn *txn)
{
    return txn->id;
}

Buf *txn_key(SimTxn *txn)
{
    if (txn->scratch == NULL) {
        txn->scratch = arena_new();
        txn->key     = buf_new(txn->scratch, 0);
    }
    buf_clear(&txn->key);
    return &txn->key;
}

/* Room for one more in an array of a transaction. */
static void *grown(void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity) return items;
    *capacity = *capacity ? 2 * *capacity : 4;
    return mem_realloc(items, *capacity * item_size);
}

/* --- statements --- */

void sim_txn_statement_begin(SimTxn *txn)
{
    txn->statement++;
}

void sim_txn_statement_end(SimTxn *txn)
{
    if (txn->statement_view.is_set) {
        view_close(txn->database, &txn->statement_view);
        versions_collect(txn->database);
    }
    for (size_t i = 0; i < txn->statement_lock_count; i++)
        lock_give_back(txn, txn->statement_locks[i].resource, txn->statement_locks[i].mode);
    txn->statement_lock_count = 0;
}

bool sim_lock_table(SimTxn *txn, SimTable *table, SimTableLock mode, bool to_end, SimError *error)
{
    static const LockMode modes[] = {
        [SIM_LOCK_SCHEMA] = LOCK_SCH_S, [SIM_LOCK_SHARED] = LOCK_S, [SIM_LOCK_EXCLUSIVE] = LOCK_X};

    if (!lock_take(txn, &table->lock, modes[mode], error)) return false;
    if (to_end) return true;
    txn->statement_locks = grown(txn->statement_locks, txn->statement_lock_count,
                                 &txn->statement_lock_capacity, sizeof *txn->statement_locks);
    txn->statement_locks[txn->statement_lock_count++] = (StatementLock){&table->lock, modes[mode]};
    return true;
}

/* --- levels --- */

void sim_txn_set_isolation(SimTxn *txn, SimIsolation isolation)
{
    if (txn->isolation == isolation) return;
    (void)pthread_mutex_lock(&txn->database->open_mutex); /* ALTER DATABASE looks at it */
    txn->isolation = isolation;
    (void)pthread_mutex_unlock(&txn->database->open_mutex);
}

void sim_txn_join(SimTxn *txn, const SimTxn *first)
{
    if (first->access == TXN_OTHER) txn->access = TXN_OTHER;
}

void sim_txn_set_secondary(SimTxn *txn)
{
    txn->is_lagging = true;
}

bool sim_txn_is_secondary(const SimTxn *txn)
{
    return txn->is_lagging;
}

/* Where allowing SNAPSHOT stands decides about those who begin now. */
static bool check_allowed(const SimTxn *txn, SimError *error)
{
    Str name = txn->database->name;

    switch (sim_database_snapshot_state(txn->database)) {
    case SIM_SNAPSHOT_ON: return true;
    case SIM_SNAPSHOT_OFF:
        return sim_error(error, 3952,
                         "Snapshot isolation transaction failed accessing database '%.*s' because "
                         "snapshot isolation is not allowed in this database. "
                         "Use ALTER DATABASE to allow snapshot isolation.",
                         STR_ARG(name));
    case SIM_SNAPSHOT_TURNS_OFF:
        return sim_error(
            error, 3954,
            "Snapshot isolation transaction failed to start in database '%.*s' because the ALTER "
            "DATABASE command that disallows snapshot isolation had started before this "
            "transaction began. The database is in transition to OFF state. You will either need "
            "to change the isolation level of the transaction or re-enable the snapshot isolation "
            "in the database.",
            STR_ARG(name));
    case SIM_SNAPSHOT_TURNS_ON:
        return sim_error(
            error, 3956,
            "Snapshot isolation transaction failed to start in database '%.*s' because the ALTER "
            "DATABASE command which enables snapshot isolation for this database has not finished "
            "yet. The database is in transition to pending ON state. You must wait until the "
            "ALTER DATABASE Command completes successfully.",
            STR_ARG(name));
    }
    return false;
}

bool txn_access(SimTxn *txn, const SimTable *table, SimIsolation isolation, SimError *error)
{
    if (!table_has_versions(table)) return true;
    if (txn->view.is_set && isolation == SIM_SNAPSHOT) return true;
    if (isolation != SIM_SNAPSHOT) {
        if (txn->access == TXN_NO_ACCESS) txn->access = TXN_OTHER;
        return true;
    }
    if (txn->access == TXN_OTHER)
        return sim_error(
            error, 3951,
            "Transaction failed in database '%.*s' because the statement was run under snapshot "
            "isolation but the transaction did not start in snapshot isolation. You cannot change "
            "the isolation level of the transaction to snapshot after the transaction has started "
            "unless the transaction was originally started under snapshot isolation level.",
            STR_ARG(txn->database->name));
    if (!txn->is_lagging && !check_allowed(txn, error)) return false;
    txn->access = TXN_SNAPSHOT;
    view_open(txn->database, &txn->view, txn->is_lagging);
    return true;
}

/* --- what was done --- */

void txn_note_write(SimTxn *txn)
{
    if (txn->begin_us != 0) return;
    txn->begin_us  = sim_server_local_us(txn->database->server);
    txn->first_lsn = log_next(&txn->database->log);
}

static Undo *push_undo(SimTxn *txn, UndoKind kind, SimTable *table)
{
    txn->undo  = grown(txn->undo, txn->undo_count, &txn->undo_capacity, sizeof *txn->undo);
    Undo *undo = &txn->undo[txn->undo_count++];
    *undo      = (Undo){.kind = kind, .table = table};
    txn->body_count += kind == UNDO_BODY;
    txn->event_count += kind == UNDO_EVENT;
    return undo;
}

void txn_push_row(SimTxn *txn, SimTable *table, SimRow *row)
{
    push_undo(txn, UNDO_ROW, table)->row = row;
    txn->written++;
}

void txn_push_body(SimTxn *txn, SimTable *table, Body *before, Body *after)
{
    Undo *undo   = push_undo(txn, UNDO_BODY, table);
    undo->before = before;
    undo->after  = after;
}

void txn_push_event(SimTxn *txn, TxnEvent *event)
{
    push_undo(txn, UNDO_EVENT, NULL)->event = event;
}

typedef struct OuterEvent {
    TxnEvent base;
    void (*undo)(void *arg);
    void *arg;
} OuterEvent;

static void outer_rollback(TxnEvent *event, SimTxn *txn)
{
    const OuterEvent *outer = (const OuterEvent *)event;

    (void)txn;
    outer->undo(outer->arg);
}

static void outer_done(TxnEvent *event)
{
    mem_free(((OuterEvent *)event)->arg);
    mem_free(event);
}

void sim_txn_on_rollback(SimTxn *txn, void (*undo)(void *arg), void *arg)
{
    OuterEvent *event = mem_alloc(sizeof *event);

    *event = (OuterEvent){
        .base = {.rollback = outer_rollback, .done = outer_done}, .undo = undo, .arg = arg};
    txn_push_event(txn, &event->base);
}

TableDelta *txn_delta(const SimTxn *txn, const SimTable *table)
{
    for (size_t i = txn->delta_count; i-- > 0;)
        if (txn->deltas[i].table == table) return &txn->deltas[i];
    return NULL;
}

void txn_count_rows(SimTxn *txn, SimTable *table, int64_t rows, int64_t bytes)
{
    TableDelta *delta = txn_delta(txn, table);

    if (delta == NULL) {
        txn->deltas = grown(txn->deltas, txn->delta_count, &txn->delta_capacity,
                            sizeof *txn->deltas);
        delta       = &txn->deltas[txn->delta_count++];
        *delta      = (TableDelta){.table = table};
    }
    delta->rows += rows;
    delta->bytes += bytes;
}

/* --- undo --- */

static int64_t columns_size(const SimRow *row)
{
    return row == NULL || row->flags & ROW_TOMBSTONE ? 0 : (int64_t)row_size(row);
}

static int64_t is_live(const SimRow *row)
{
    return row != NULL && !(row->flags & ROW_TOMBSTONE);
}

static void undo_row(SimTxn *txn, SimTable *table, SimRow *row)
{
    Body   *body   = table_body(table);
    Item   *place  = row->place;
    SimRow *before = row->previous;

    latch_exclusive(table);
    assert(place->ref == row);
    if (body->tree_count > 1) body_remove_entries(body, place, row, before, txn_key(txn));
    if (before == NULL) (void)tree_remove(&body->trees[0], place); /* its key may be the row's */
    place->ref = before;
    txn_count_rows(txn, table, is_live(before) - is_live(row),
                   columns_size(before) - columns_size(row));
    row_retire(table, row);
    if (before == NULL) {
        place_free(table->database->server, place);
    } else if ((atomic_load_explicit(&before->stamp, memory_order_relaxed) & 1) == 0 &&
               (before->previous != NULL || before->flags & ROW_TOMBSTONE)) {
        versions_trim(table, body, place, txn_key(txn)); /* it may have waited for us */
    }
    latch_release(table);
}

static void undo_body(SimTxn *txn, SimTable *table, Body *before, Body *after)
{
    table_set_body(table, before);
    body_free(after, txn->database->server);
}

static void undo_event(SimTxn *txn, TxnEvent *event)
{
    event->rollback(event, txn);
    event->is_rolled_back = true;
    event->next           = txn->rolled_back;
    txn->rolled_back      = event;
}

void sim_txn_undo_to(SimTxn *txn, uint64_t mark)
{
    log_undo_to(txn, (size_t)mark);
    while (txn->undo_count > mark) {
        Undo undo = txn->undo[--txn->undo_count];
        txn->body_count -= undo.kind == UNDO_BODY;
        txn->event_count -= undo.kind == UNDO_EVENT;
        switch (undo.kind) {
        case UNDO_ROW: undo_row(txn, undo.table, undo.row); break;
        case UNDO_BODY: undo_body(txn, undo.table, undo.before, undo.after); break;
        case UNDO_EVENT: undo_event(txn, undo.event); break;
        }
    }
}

uint64_t sim_txn_mark(const SimTxn *txn)
{
    return txn->undo_count;
}

/* --- the end --- */

/* DDL of the same transaction copied the rows into another body later: this one goes as a whole. */
static bool is_copied_later(const SimTxn *txn, size_t at)
{
    if (txn->body_count == 0) return false;
    for (size_t i = at + 1; i < txn->undo_count; i++)
        if (txn->undo[i].kind == UNDO_BODY && txn->undo[i].table == txn->undo[at].table)
            return true;
    return false;
}

static void settle_row(SimTxn *txn, SimTable *table, SimRow *row)
{
    Item *place = row->place;

    if (place->ref != row)
        return; /* a later version of ours stands in front, and takes this one along */
    atomic_store_explicit(&row->stamp, atomic_load_explicit(&txn->state, memory_order_relaxed),
                          memory_order_release);
    if (row->previous != NULL || row->flags & ROW_TOMBSTONE)
        versions_trim(table, table_body(table), place, txn_key(txn));
}

/* Makes the transaction's newest versions plain committed ones, and lets go of what they replaced.
 * Other writers still keep away. */
static void settle_rows(SimTxn *txn)
{
    SimTable *latched = NULL;
    size_t    steps   = 0;

    for (size_t i = 0; i < txn->undo_count; i++) {
        const Undo *undo = &txn->undo[i];
        if (undo->kind != UNDO_ROW || is_copied_later(txn, i)) continue;
        if (latched != NULL && (latched != undo->table || ++steps == LATCH_STEPS)) {
            latch_release(latched);
            latched = NULL;
        }
        if (latched == NULL) {
            latched = undo->table;
            steps   = 0;
            latch_exclusive(latched);
        }
        settle_row(txn, undo->table, undo->row);
    }
    if (latched != NULL) latch_release(latched);
}

static void apply_deltas(SimTxn *txn)
{
    for (size_t i = 0; i < txn->delta_count; i++) {
        const TableDelta *delta = &txn->deltas[i];
        atomic_fetch_add(&delta->table->row_count, delta->rows);
        atomic_fetch_add(&delta->table->size_bytes, delta->bytes);
    }
}

/* After the locks: nobody waits for the transaction any more. */
static void finish(SimTxn *txn)
{
    for (TxnEvent *event = txn->rolled_back, *next; event != NULL; event = next) {
        next = event->next;
        event->done(event);
    }
    if (txn->body_count + txn->event_count == 0) return;
    for (size_t i = 0; i < txn->undo_count; i++) {
        const Undo *undo = &txn->undo[i];
        if (undo->kind == UNDO_BODY) {
            versions_forget(undo->table, undo->before);
            body_free(undo->before, txn->database->server);
        }
        if (undo->kind == UNDO_EVENT) undo->event->done(undo->event);
    }
}

static void close_views(SimTxn *txn)
{
    view_close(txn->database, &txn->view);
    view_close(txn->database, &txn->statement_view);
}

static void txn_free(SimTxn *txn)
{
    versions_collect(txn->database);
    unlist_open(txn);
    commit_node_free(txn->node);
    mem_free(txn->undo);
    mem_free(txn->deltas);
    mem_free(txn->statement_locks);
    arena_close(txn->scratch);
    mem_free(txn);
}

bool sim_txn_commit(SimTxn *txn, Lsn *lsn_out, SimError *error)
{
    Lsn lsn = LSN_ZERO;

    (void)error;
    if (txn->undo_count > 0) {
        lsn = log_commit(txn);
        close_views(txn);
        settle_rows(txn);
        apply_deltas(txn);
    }
    close_views(txn);
    ranges_release(txn);
    lock_release_all(txn);
    finish(txn);
    txn_free(txn);
    if (lsn_out != NULL) *lsn_out = lsn;
    return true;
}

void sim_txn_rollback(SimTxn *txn)
{
    if (txn->undo_count > 0) sim_txn_undo_to(txn, 0);
    atomic_store(&txn->state, 1);
    close_views(txn);
    ranges_release(txn);
    lock_release_all(txn);
    finish(txn);
    txn_free(txn);
}
