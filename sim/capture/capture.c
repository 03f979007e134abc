/* capture.c - one cycle of capture: committed transactions from the log become change rows and
 * mapping entries, all at once (sqlserver.md 2.14, 2.16). */
#include "sim/capture/cdc_internal.h"

#define MASK_BYTES_MAX  512
#define DEADLOCK_ROUNDS 10

typedef struct HistoryNote {
    Instance   *instance;
    SimDdlEntry entry;
} HistoryNote;

typedef struct TypeNote { /* a captured column that got another type in this cycle */
    SimCapturedColumn *column;
    SimType            before;
} TypeNote;

/* What becomes visible with the cycle's commit. */
typedef struct CycleEvent {
    TxnEvent    base;
    SimCdc     *cdc;
    Arena      *arena;
    CommitNode *last; /* read up to here */
    CommitNode *cut;
    bool        has_entry;
    Lsn         max_lsn;
    LIST(Instance *) reached;
    LIST(HistoryNote) history;
    LIST(TypeNote) types;
} CycleEvent;

typedef struct Cycle {
    SimCdc     *cdc;
    SimTxn     *txn;
    CycleEvent *event;
    Arena      *scratch;
    CommitNode *node;
    int32_t     command_id; /* the last one given in this transaction */
    int64_t     rows;       /* of this transaction */
    ScanCounts *counts;
    SimError   *error;
    /* The column whose stored changes do not fit its new type. */
    const Instance          *stopped_by;
    const SimCapturedColumn *stopped_at;
    uint8_t                  mask[MASK_BYTES_MAX];
} Cycle;

/* --- the end of a cycle --- */

static void cycle_commit(TxnEvent *base, SimTxn *txn, Lsn lsn)
{
    CycleEvent *event = (CycleEvent *)base;
    SimCdc     *cdc   = event->cdc;

    (void)lsn;
    if (event->last != NULL) event->cut = log_cut(&txn->database->log, event->last);
    (void)pthread_mutex_lock(&cdc->mutex);
    if (event->has_entry) {
        cdc->max_lsn     = event->max_lsn;
        cdc->has_max_lsn = true;
    }
    for (size_t i = 0; i < event->reached.count; i++)
        event->reached.items[i]->is_reached = true;
    for (size_t i = 0; i < event->history.count; i++) {
        Instance   *instance                            = event->history.items[i].instance;
        SimDdlEntry entry                               = event->history.items[i].entry;
        entry.command                                   = str_copy(instance->arena, entry.command);
        *LIST_PUSH(instance->arena, &instance->history) = entry;
    }
    (void)pthread_mutex_unlock(&cdc->mutex);
}

static void cycle_rollback(TxnEvent *base, SimTxn *txn)
{
    CycleEvent *event = (CycleEvent *)base;

    (void)txn;
    (void)pthread_mutex_lock(&event->cdc->mutex);
    for (size_t i = event->types.count; i-- > 0;)
        event->types.items[i].column->type = event->types.items[i].before;
    (void)pthread_mutex_unlock(&event->cdc->mutex);
}

static void cycle_done(TxnEvent *base)
{
    CycleEvent *event = (CycleEvent *)base;

    for (CommitNode *node = event->cut, *next; node != NULL; node = next) {
        next = node->next;
        commit_node_free(node);
    }
    arena_close(event->arena);
    mem_free(event);
}

static CycleEvent *push_cycle_event(SimCdc *cdc, SimTxn *txn)
{
    CycleEvent *event = mem_alloc(sizeof *event);

    event->base = (TxnEvent){
        .commit = cycle_commit, .rollback = cycle_rollback, .done = cycle_done};
    event->cdc   = cdc;
    event->arena = arena_new();
    txn_push_event(txn, &event->base);
    return event;
}

static bool add_entry(Cycle *cycle)
{
    const CommitNode *node  = cycle->node;
    MappingEntry      entry = {.start_lsn = node->commit_lsn,
                               .begin_lsn = node->begin_lsn,
                               .begin_us  = node->begin_us,
                               .end_us    = node->commit_us,
                               .tran_id   = node->txn_id};

    cycle->event->has_entry = true;
    cycle->event->max_lsn   = node->commit_lsn;
    if (cycle->counts->transactions++ == 0) cycle->counts->first_begin_lsn = node->begin_lsn;
    cycle->counts->last_commit_lsn = node->commit_lsn;
    cycle->counts->last_commit_us  = node->commit_us;
    return mapping_add(cycle->txn, cycle->cdc->mapping, &entry, cycle->error);
}

/* --- rows --- */

/* Which instances take part in this transaction's changes of a table, oldest first. */
static size_t instances_of(const Cycle *cycle, const SimTable *table, Instance *out[2])
{
    size_t count = 0;

    (void)pthread_mutex_lock(&cycle->cdc->mutex);
    for (size_t i = 0; i < COUNT_OF(table->captures); i++) {
        Instance *instance = table->captures[i];
        if (instance == NULL || !instance->is_committed || instance->is_over) continue;
        if (lsn_compare(instance->start_lsn, cycle->node->commit_lsn) <= 0) out[count++] = instance;
    }
    (void)pthread_mutex_unlock(&cycle->cdc->mutex);
    return count;
}

/* Numbers operations of the transaction; with the knob, the rows of a statement share theirs. */
static int32_t next_command(Cycle *cycle, Instance *instance, const LogRecord *record)
{
    if (sim_server_knob(cycle->cdc->database->server, SIM_KNOB_COMMAND_ID_PER) == 0)
        return ++cycle->command_id;
    if (instance->command_txn_id != cycle->node->txn_id ||
        instance->command_statement != record->statement) {
        instance->command_txn_id    = cycle->node->txn_id;
        instance->command_statement = record->statement;
        instance->command_id        = ++cycle->command_id;
    }
    return instance->command_id;
}

static bool put_change(Cycle *cycle, Instance *instance, const LogRecord *record, int32_t operation,
                       int32_t command_id)
{
    bool        is_old = operation == 1 || operation == 3;
    ChangeImage image  = {.row   = is_old ? record->before : record->after,
                          .other = operation >= 3 ? (is_old ? record->after : record->before) : NULL,
                          .info  = record->info,
                          .operation  = operation,
                          .command_id = command_id,
                          .start_lsn  = cycle->node->commit_lsn,
                          .seqval     = record->lsn,
                          .mask       = cycle->mask,
                          .mask_len   = change_mask_len(instance)};
    SimRow     *row    = NULL;

    if (!write_begin(cycle->txn, instance->change_table, cycle->error)) return false;
    if (!change_row_build(instance, &image, cycle->scratch, &row, cycle->error)) return false;
    cycle->rows++;
    return write_insert_row(cycle->txn, instance->change_table, row, cycle->error);
}

static bool capture_update(Cycle *cycle, Instance *instance, const LogRecord *record)
{
    if (!change_mask_of(instance, record->info, record->before, record->after, cycle->mask) &&
        sim_server_knob(cycle->cdc->database->server, SIM_KNOB_UNCHANGED_UPDATE) == 0)
        return true;
    int32_t command_id = next_command(cycle, instance, record);
    if (record->kind == LOG_ROW_UPDATE)
        return put_change(cycle, instance, record, 3, command_id) &&
               put_change(cycle, instance, record, 4, command_id);
    change_mask_all(instance, cycle->mask);
    if (!put_change(cycle, instance, record, 1, command_id)) return false;
    cycle->command_id = MAX(cycle->command_id, command_id + 1); /* a key update takes two numbers */
    instance->command_id = command_id + 1;
    return put_change(cycle, instance, record, 2, command_id + 1);
}

static bool capture_row(Cycle *cycle, const LogRecord *record)
{
    Instance *instances[2];
    size_t    count = instances_of(cycle, record->table, instances);
    bool      ok    = true;

    for (size_t i = 0; ok && i < count; i++) {
        if (record->kind == LOG_ROW_UPDATE || record->kind == LOG_ROW_KEY_UPDATE) {
            ok = capture_update(cycle, instances[i], record);
            continue;
        }
        change_mask_all(instances[i], cycle->mask);
        ok = put_change(cycle, instances[i], record, record->kind == LOG_ROW_INSERT ? 2 : 1,
                        next_command(cycle, instances[i], record));
    }
    arena_reset(cycle->scratch);
    return ok;
}

/* --- DDL --- */

static SimCapturedColumn *captured_by_id(const Instance *instance, int32_t column_id)
{
    for (size_t i = 0; i < instance->column_count; i++)
        if (instance->columns[i].column_id == column_id) return &instance->columns[i];
    return NULL;
}

static SimType captured_type(const LogRecord *record)
{
    SimColumn column = {.type = record->ddl->type};

    for (size_t i = 0; i < record->info->column_count; i++)
        if (record->info->columns[i].column_id == record->ddl->column_id)
            column.is_identity = record->info->columns[i].is_identity;
    return change_column_type(&column);
}

/* The change table and its rows follow an ALTER COLUMN. */
static bool follow_type(Cycle *cycle, Instance *instance, SimCapturedColumn *column,
                        const LogRecord *record)
{
    SimType type    = captured_type(record);
    size_t  ordinal = CT_HEAD_COLUMNS + (size_t)column->ordinal - 1;

    if (!ddl_alter_column(cycle->txn, instance->change_table, ordinal, &type, true, cycle->error)) {
        cycle->stopped_at = column;
        cycle->stopped_by = instance;
        return false;
    }
    *LIST_PUSH(cycle->event->arena, &cycle->event->types) = (TypeNote){column, column->type};
    (void)pthread_mutex_lock(&cycle->cdc->mutex);
    column->type = type;
    (void)pthread_mutex_unlock(&cycle->cdc->mutex);
    return true;
}

static bool capture_ddl(Cycle *cycle, const LogRecord *record)
{
    static const int64_t minute_us = 60000000;
    Instance            *instances[2];
    size_t               count = instances_of(cycle, record->table, instances);
    const DdlNote       *ddl   = record->ddl;

    for (size_t i = 0; i < count; i++) {
        SimCapturedColumn *column   = captured_by_id(instances[i], ddl->column_id);
        bool               required = ddl->kind == DDL_ALTER_TYPE && column != NULL;
        *LIST_PUSH(cycle->event->arena, &cycle->event->history) = (HistoryNote){
            instances[i],
            {.lsn                    = record->lsn,
             .required_column_update = required,
             .command                = ddl->text,
             .time_us                = ddl->time_us / minute_us * minute_us}};
        if (required && !follow_type(cycle, instances[i], column, record)) return false;
    }
    return true;
}

static bool capture_drop(Cycle *cycle, const LogRecord *record)
{
    for (;;) {
        (void)pthread_mutex_lock(&cycle->cdc->mutex);
        Instance *instance = record->table->captures[0];
        (void)pthread_mutex_unlock(&cycle->cdc->mutex);
        if (instance == NULL) return true;
        if (!instance_remove(cycle->txn, instance, cycle->error)) return false;
    }
}

static bool capture_enable(Cycle *cycle, const LogRecord *record, bool *entry_out)
{
    if (record->instance->is_over) return true;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers
    *LIST_PUSH(cycle->event->arena, &cycle->event->reached) = record->instance;
    *entry_out                                              = true;
    return true;
}

/* --- a transaction, a cycle --- */

static bool capture_node(Cycle *cycle)
{
    bool needs_entry = false;
    bool ok          = true;

    cycle->command_id = 0;
    cycle->rows       = 0;
    cycle->counts->records += (int64_t)cycle->node->record_count;
    for (size_t i = 0; ok && i < cycle->node->record_count; i++) {
        const LogRecord *record = &cycle->node->records[i];
        switch (record->kind) {
        case LOG_ROW_INSERT:
        case LOG_ROW_DELETE:
        case LOG_ROW_UPDATE:
        case LOG_ROW_KEY_UPDATE: ok = capture_row(cycle, record); break;
        case LOG_DDL:
            cycle->counts->ddl_count++;
            ok = capture_ddl(cycle, record);
            break;
        case LOG_TABLE_DROP: ok = capture_drop(cycle, record); break;
        case LOG_ENABLE: ok = capture_enable(cycle, record, &needs_entry); break;
        }
    }
    cycle->counts->rows += cycle->rows;
    if (ok && (cycle->rows > 0 || needs_entry)) ok = add_entry(cycle);
    return ok;
}

static bool may_be_seen(const Cycle *cycle, const CommitNode *node, const ScanLimits *limits)
{
    return limits->everything || node->visible_ns == 0 ||
           node->visible_ns <= clock_monotonic_ns(sim_server_clock(cycle->cdc->database->server));
}

static bool run_cycle(Cycle *cycle, const ScanLimits *limits)
{
    SimLog     *log  = &cycle->cdc->database->log;
    CommitNode *end  = NULL;
    CommitNode *node = log_first(log, &end);
    bool        seen = node != NULL && may_be_seen(cycle, node, limits);

    cycle->counts->is_at_end = !seen;
    if (!seen) return true;
    cycle->event             = push_cycle_event(cycle->cdc, cycle->txn);
    cycle->counts->start_lsn = node->begin_lsn;
    for (size_t i = 0; seen && i < limits->transactions; i++) {
        cycle->node = node;
        if (!capture_node(cycle)) return false;
        cycle->event->last     = node;
        cycle->counts->end_lsn = node->commit_lsn;
        node                   = node == end ? NULL : log_node_next(log, node);
        seen                   = node != NULL && may_be_seen(cycle, node, limits);
    }
    cycle->counts->is_at_end = !seen;
    return true;
}

/* What the server says besides the error itself. */
static void say_what_is_wrong(const Cycle *cycle, SimError *out)
{
    if (cycle->stopped_at == NULL) return;
    const SimTableInfo *source = sim_table_info(cycle->stopped_by->source);
    (void)sim_error(
        out, 22976,
        "Could not alter column '%.*s' of change table '%.*s_CT' in response to a data type change "
        "in the corresponding column of the source table '[%.*s].[%.*s]'. The Change Data Capture "
        "meta data for source table '[%.*s].[%.*s]' no longer accurately reflects the source "
        "table. Refer to previous errors in the current session to identify the cause and correct "
        "any associated problems.",
        STR_ARG(cycle->stopped_at->name), STR_ARG(cycle->stopped_by->name), STR_ARG(source->schema),
        STR_ARG(source->name), STR_ARG(source->schema), STR_ARG(source->name));
}

static bool try_cycle(SimCdc *cdc, SimTxn *txn, const ScanLimits *limits, ScanCounts *counts,
                      SimError *more, SimError *error)
{
    Cycle cycle = {
        .cdc = cdc, .txn = txn, .scratch = arena_new(), .counts = counts, .error = error};
    bool ok = lock_take(txn, &cdc->scan_lock, LOCK_X, error);

    *counts = (ScanCounts){.is_at_end = true};
    if (ok && sim_cdc_is_enabled(cdc->database)) ok = run_cycle(&cycle, limits);
    arena_close(cycle.scratch);
    if (ok && cycle.event != NULL) return sim_txn_commit(txn, NULL, error);
    say_what_is_wrong(&cycle, more);
    sim_txn_rollback(txn);
    return ok;
}

bool scan_cycle(SimCdc *cdc, const ScanLimits *limits, ScanCounts *counts, SimError *error)
{
    SystemSession session;
    SimError      more = SIM_ERROR_INIT;
    bool          ok   = false;

    *counts = (ScanCounts){.is_at_end = false};
    if (!cdc_may_scan(cdc, error)) return false;
    versions_note_cycle(cdc->database);
    system_session_open(&session, cdc->database->server);
    for (int round = 0; !ok && round < DEADLOCK_ROUNDS; round++) {
        *error = SIM_ERROR_INIT;
        ok     = try_cycle(cdc, system_txn_begin(&session, cdc->database), limits, counts, &more,
                           error);
        if (!ok && error->number != 1205) break;
    }
    system_session_close(&session);
    if (!ok) scan_note_error(cdc, error);
    if (ok && counts->transactions > 0) cdc_captured(cdc);
    if (!ok && more.number != 0 && error->number != 1205) scan_note_error(cdc, &more);
    return ok;
}

/* --- idle entries --- */

static bool add_idle_entry(SimCdc *cdc, SimTxn *txn, bool *added_out, SimError *error)
{
    Lsn lsn;

    if (!lock_take(txn, &cdc->scan_lock, LOCK_X, error)) return false;
    if (!sim_cdc_is_enabled(cdc->database) || !log_idle_lsn(&cdc->database->log, &lsn)) return true;
    int64_t      now_us = sim_server_local_us(cdc->database->server);
    CycleEvent  *event  = push_cycle_event(cdc, txn);
    MappingEntry entry  = {.start_lsn = lsn, .begin_us = now_us, .end_us = now_us};
    event->has_entry    = true;
    event->max_lsn      = lsn;
    *added_out          = true;
    return mapping_add(txn, cdc->mapping, &entry, error);
}

bool idle_entry(SimCdc *cdc, bool *added_out, SimError *error)
{
    SystemSession session;

    *added_out = false;
    system_session_open(&session, cdc->database->server);
    SimTxn *txn = system_txn_begin(&session, cdc->database);
    bool    ok  = add_idle_entry(cdc, txn, added_out, error);
    if (ok && *added_out)
        ok = sim_txn_commit(txn, NULL, error);
    else
        sim_txn_rollback(txn);
    system_session_close(&session);
    if (ok && *added_out) cdc_captured(cdc);
    return ok;
}

bool sim_cdc_idle_now(SimDatabase *database, SimError *error)
{
    bool added = false;

    if (!sim_cdc_is_enabled(database))
        return sim_error(
            error, 22901,
            "The database '%.*s' is not enabled for Change Data Capture. Ensure that the correct "
            "database context is set and retry the operation. To report on "
            "the databases enabled for Change Data Capture, query the is_cdc_enabled column in the "
            "sys.databases catalog view.",
            STR_ARG(database->name));
    while (!added) { /* an entry never comes before a commit that it would pass */
        ScanLimits limits = {.transactions = SCAN_TRANSACTIONS, .everything = true};
        ScanCounts counts;
        if (!scan_session(database->cdc, &limits, &counts, error) ||
            !idle_entry(database->cdc, &added, error))
            return false;
    }
    return true;
}
