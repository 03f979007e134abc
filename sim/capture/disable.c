/* disable.c - the end of an instance, and what DDL asks about instances (sqlserver.md 2.15,
 * 2.16). */
#include "sim/capture/cdc_internal.h"

typedef struct RemoveEvent {
    TxnEvent  base;
    Instance *instance;
} RemoveEvent;

static void set_over(const SimTxn *txn, Instance *instance, bool is_over)
{
    (void)pthread_mutex_lock(&txn->database->cdc->mutex);
    instance->is_over = is_over;
    instance_capture(instance, !is_over);
    (void)pthread_mutex_unlock(&txn->database->cdc->mutex);
}

static void remove_rollback(TxnEvent *event, SimTxn *txn)
{
    set_over(txn, ((RemoveEvent *)event)->instance, false);
}

static void remove_done(TxnEvent *event)
{
    mem_free(event);
}

bool instance_remove(SimTxn *txn, Instance *instance, SimError *error)
{
    if (!sim_drop_table(txn, instance->change_table, error)) return false;
    RemoveEvent *event = mem_alloc(sizeof *event);
    event->base        = (TxnEvent){.rollback = remove_rollback, .done = remove_done};
    event->instance    = instance;
    set_over(txn, instance, true);
    txn_push_event(txn, &event->base);
    return true;
}

static bool not_enabled(const SimTableInfo *info, SimError *error)
{
    return sim_error(
        error, 22985,
        "Change data capture has not been enabled for source table '%.*s.%.*s'. Specify the name "
        "of a table enabled for Change Data Capture. To report on the "
        "tables enabled for Change Data Capture, query the is_tracked_by_cdc column in the "
        "sys.tables catalog view.",
        STR_ARG(info->schema), STR_ARG(info->name));
}

static bool check_disable(SimTxn *txn, SimTable *source, Str schema, Str name, SimError *error)
{
    if (!cdc_is_on(txn->database->cdc, txn))
        return sim_error(
            error, 22901,
            "The database '%.*s' is not enabled for Change Data Capture. Ensure that the correct "
            "database context is set and retry the operation. To report on "
            "the databases enabled for Change Data Capture, query the is_cdc_enabled column in the "
            "sys.databases catalog view.",
            STR_ARG(txn->database->name));
    if (source == NULL)
        return sim_error(
            error, 22931,
            "Source table '%.*s.%.*s' does not exist in the current database. Ensure that the "
            "correct database context is set. Specify a valid schema and table "
            "name for the database.",
            STR_ARG(schema), STR_ARG(name));
    return true;
}

bool sim_cdc_disable_table(SimTxn *txn, Str schema, Str name, Str capture_instance, SimError *error)
{
    SimCdc *cdc     = txn->database->cdc;
    bool    all     = sim_name_equal(capture_instance, STR("all"));
    size_t  removed = 0;

    if (!lock_take(txn, &cdc->ddl_lock, LOCK_X, error)) return false;
    SimTable *source = sim_database_find_table(txn->database, schema, name);
    if (!check_disable(txn, source, schema, name, error)) return false;
    const SimTableInfo *info = sim_table_info(source);
    if (!sim_table_is_captured(source)) return not_enabled(info, error);
    if (!lock_take(txn, &cdc->scan_lock, LOCK_X, error)) return false;
    if (!lock_take(txn, &source->lock, LOCK_SCH_M, error)) return false;
    for (size_t i = COUNT_OF(source->captures); i-- > 0;) { /* from the end: the list closes up */
        Instance *instance = source->captures[i];
        if (instance == NULL || !(all || sim_name_equal(instance->name, capture_instance)))
            continue;
        if (!instance_remove(txn, instance, error)) return false;
        removed++;
    }
    return removed > 0 ||
           sim_error(error, 22960,
                     "Change data capture instance '%.*s' has not been enabled for the source "
                     "table '%.*s.%.*s'. Use sys.sp_cdc_help_change_data_capture to "
                     "verify the capture instance name and retry the operation.",
                     STR_ARG(capture_instance), STR_ARG(info->schema), STR_ARG(info->name));
}

/* --- questions of DDL and of writes; under a lock on the table --- */

bool cdc_uses_index(const SimTable *table, Str index_name)
{
    for (size_t i = 0; i < COUNT_OF(table->captures); i++)
        if (table->captures[i] != NULL && !str_is_empty(index_name) &&
            sim_name_equal(table->captures[i]->index_name, index_name))
            return true;
    return false;
}

bool cdc_captures_column(const SimTable *table, int32_t column_id)
{
    for (size_t i = 0; i < COUNT_OF(table->captures); i++)
        for (size_t at = 0; table->captures[i] != NULL && at < table->captures[i]->column_count;
             at++)
            if (table->captures[i]->columns[at].column_id == column_id) return true;
    return false;
}

bool cdc_check_lob(const SimTable *table, const SimTableInfo *info, const SimRow *row,
                   SimError *error)
{
    int64_t limit = atomic_load(&table->database->server->text_repl_bytes);

    for (size_t i = 0; limit >= 0 && i < info->column_count; i++) {
        const SimColumn *column = &info->columns[i];
        if (!type_is_lob(&column->type) || column->is_computed ||
            (int64_t)row_wire(row, i).len <= limit)
            continue;
        SimValue value;
        wire_get(&column->type, row_wire(row, i), &value);
        if (value.is_null || (int64_t)value.bytes.len <= limit ||
            !cdc_captures_column(table, column->column_id))
            continue;
        return sim_error(
            error, 7139,
            "Length of LOB data (%zu) to be replicated exceeds configured maximum %d. Use the "
            "stored procedure sp_configure to increase the configured maximum "
            "value for max text repl size option, which defaults to 65536. A configured value of "
            "-1 indicates no limit, other that the limit imposed by the data type.",
            value.bytes.len, (int)limit);
    }
    return true;
}
