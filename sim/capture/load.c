/* load.c - a database as a folder describes it: tables with their rows, instances, change rows, the mapping, DDL history. What
 * is committed afterwards gets LSNs above all that. */
#include "sim/capture/load.h"

#include "sim/capture/load_internal.h"

#include <stdlib.h>

#define MINUTE_US INT64_C(60000000)
#define TICK_MS   10 /* times of a datetime are n * 10 / 3 ms, shown as .000, .003, .007 */

/* --- transactions of our own --- */

static SimTxn *begin(Load *load)
{
    SimTxn *txn = sim_txn_begin(load->database, &load->waiter, SIM_READ_COMMITTED);
    sim_txn_statement_begin(txn);
    return txn;
}

static bool end(Load *load, SimTxn *txn, bool ok)
{
    sim_txn_statement_end(txn);
    if (ok) return sim_txn_commit(txn, NULL, load->error);
    sim_txn_rollback(txn);
    return false;
}

/* --- the mapping --- */

static bool is_a_tick(int64_t us)
{
    int64_t ms = us / 1000 % TICK_MS;
    return us % 1000 == 0 && (ms == 0 || ms == 3 || ms == 7);
}

/* Files made without a server hold any millisecond; then the mapping keeps them too. */
static bool enable_database(Load *load)
{
    bool    all_ticks = true;
    SimTxn *txn       = begin(load);

    for (size_t i = 0; i < load->entries.count; i++)
        all_ticks &= is_a_tick(load->entries.items[i].end_us);
    bool ok = sim_cdc_enable_database(txn, load->error) &&
              (all_ticks ||
               mapping_keep_milliseconds(txn, load->database->cdc->mapping, load->error));
    return end(load, txn, ok);
}

static bool add_entries(Load *load)
{
    SimTable *mapping = sim_cdc_mapping_table(load->database);
    SimTxn   *txn     = begin(load);
    bool      ok      = true;

    for (size_t i = 0; ok && i < load->entries.count; i++) {
        const LoadEntry *from  = &load->entries.items[i];
        MappingEntry     entry = {.start_lsn = from->lsn,
                                  .begin_lsn = from->lsn,
                                  .begin_us  = from->end_us,
                                  .end_us    = from->end_us};
        if (!from->is_idle)
            entry.tran_id = atomic_fetch_add(&load->database->server->next_txn_id, 1);
        ok = mapping_add(txn, mapping, &entry, load->error);
    }
    return end(load, txn, ok);
}

/* --- instances --- */

static Instance *made_instance(Load *load, Str name)
{
    SimCdc *cdc = load->database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    Instance *instance = instance_find(cdc, name);
    (void)pthread_mutex_unlock(&cdc->mutex);
    return instance;
}

static bool captures(const LoadInstance *instance, Str column)
{
    for (size_t i = 0; i < json_array_size(instance->columns); i++)
        if (sim_name_equal(load_text(json_array_get(json_array_get(instance->columns, i), 0)),
                           column))
            return true;
    return false;
}

static bool enable_instance(Load *load, SimTxn *txn, const LoadInstance *from)
{
    size_t count    = json_array_size(from->columns);
    Str   *names    = ARENA_ARRAY(load->arena, Str, count + 1);
    bool   has_keys = from->table->keys.count > 0;

    for (size_t i = 0; i < count; i++)
        names[i] = load_text(json_array_get(json_array_get(from->columns, i), 0));
    for (size_t i = 0; i < from->table->keys.count; i++)
        has_keys &= captures(from, from->table->keys.items[i]);
    SimEnableTable args = {.source_schema         = from->table->schema,
                           .source_name           = from->table->name,
                           .capture_instance      = from->name,
                           .captured_columns      = names,
                           .captured_column_count = count,
                           .supports_net_changes  = has_keys,
                           .net_changes_given     = true};
    return sim_cdc_enable_table(txn, &args, load->error);
}

/* Columns the source has lost since go as soon as no later instance needs them. */
static bool drop_columns(Load *load, SimTxn *txn, size_t instance)
{
    LoadTable *table = load->instances.items[instance].table;

    for (size_t i = 0; i < table->dropped.count; i++) {
        Str  column    = table->dropped.items[i];
        bool is_needed = sim_table_find_column(table->table, column) < 0;
        for (size_t later = instance + 1; later < load->instances.count; later++)
            is_needed |= load->instances.items[later].table == table &&
                         captures(&load->instances.items[later], column);
        if (!is_needed && !sim_drop_column(txn, table->table, column, STR_EMPTY, load->error))
            return false;
    }
    return true;
}

static bool enable_instances(Load *load)
{
    for (size_t i = 0; i < load->instances.count; i++) {
        SimTxn *txn = begin(load);
        bool    ok  = enable_instance(load, txn, &load->instances.items[i]) &&
                  drop_columns(load, txn, i);
        if (!end(load, txn, ok)) return false;
    }
    return true;
}

/* The time of an entry, or of the last one below. */
static int64_t time_of(const Load *load, Lsn lsn)
{
    int64_t us = load->entries.count > 0 ? load->entries.items[0].end_us : 0;

    for (size_t i = 0; i < load->entries.count; i++)
        if (lsn_compare(load->entries.items[i].lsn, lsn) <= 0) us = load->entries.items[i].end_us;
    return us;
}

static bool alters_a_type(Str command)
{
    return str_find(command, STR("ALTER COLUMN"), 0) >= 0;
}

static bool set_instance(Load *load, LoadInstance *from)
{
    Instance *instance = made_instance(load, from->name);
    Str       file     = str_printf(load->arena, "ddl/%.*s.jsonl", STR_ARG(from->name));
    bool      ok       = true;

    if (!from->has_create_time) from->create_us = time_of(load, from->start_lsn);
    (void)pthread_mutex_lock(&load->database->cdc->mutex);
    instance->start_lsn  = from->start_lsn;
    instance->is_reached = true;
    instance->create_us  = from->create_us;
    for (size_t i = 0; ok && i < json_array_size(from->ddl); i++) {
        const json_t *line    = json_array_get(from->ddl, i);
        Str           command = load_text(json_object_get(line, "command"));
        SimDdlEntry   entry   = {.command                = str_copy(instance->arena, command),
                                 .required_column_update = alters_a_type(command)};
        ok                    = load_lsn(load, file, json_object_get(line, "lsn"), &entry.lsn);
        entry.time_us         = time_of(load, entry.lsn) / MINUTE_US * MINUTE_US;
        if (ok) *LIST_PUSH(instance->arena, &instance->history) = entry;
    }
    (void)pthread_mutex_unlock(&load->database->cdc->mutex);
    return ok;
}

/* --- change rows --- */

typedef struct ChangeLine {
    const json_t *row;
    Lsn           start_lsn, seqval;
    int64_t       operation, command_id;
} ChangeLine;

static bool read_change(Load *load, Str file, const json_t *line, ChangeLine *out)
{
    *out = (ChangeLine){.row        = json_object_get(line, "row"),
                        .operation  = json_integer_value(json_object_get(line, "operation")),
                        .command_id = json_integer_value(json_object_get(line, "command_id"))};
    if (!json_is_object(out->row) || out->operation < 1 || out->operation > 4)
        return load_refuse(load, file, "a line has no row, or no operation from 1 to 4");
    return load_lsn(load, file, json_object_get(line, "start_lsn"), &out->start_lsn) &&
           load_lsn(load, file, json_object_get(line, "seqval"), &out->seqval);
}

/* The other image of an update is the line beside it. */
static const json_t *other_image(const json_t *lines, size_t at, const ChangeLine *change)
{
    bool is_old = change->operation == 3;

    if (change->operation < 3 || (!is_old && at == 0)) return NULL;
    return json_object_get(json_array_get(lines, is_old ? at + 1 : at - 1), "row");
}

static void update_mask(const Instance *instance, const json_t *row, const json_t *other,
                        Arena *scratch, uint8_t *mask)
{
    size_t len = change_mask_len(instance);

    change_mask_all(instance, mask);
    if (other == NULL) return;
    memset(mask, 0, len);
    for (size_t i = 0; i < instance->column_count; i++) {
        const char   *name = str_c(scratch, instance->columns[i].name);
        const json_t *left = json_object_get(row, name), *right = json_object_get(other, name);
        bool          both = left != NULL && right != NULL;
        if (both ? !json_equal(left, right) : left != right)
            mask[len - 1 - i / 8] |= (uint8_t)(1u << (i % 8));
    }
}

static bool put_change(Load *load, SimTxn *txn, const Instance *instance, Str file,
                       const ChangeLine *change, const json_t *other, Arena *scratch)
{
    SimTable           *table  = instance->change_table;
    const SimTableInfo *info   = sim_table_info(table);
    SimValue           *values = ARENA_ARRAY(scratch, SimValue, info->column_count);
    size_t              len    = change_mask_len(instance);
    uint8_t            *mask   = ARENA_ARRAY(scratch, uint8_t, len + 1);
    SimRow             *row    = NULL;

    update_mask(instance, change->row, other, scratch, mask);
    values[0] = lsn_value(&change->start_lsn);
    values[1] = sim_null(info->columns[1].type);
    values[2] = lsn_value(&change->seqval);
    values[3] = sim_int(change->operation, SIM_INT);
    values[4] = sim_varbinary((Bytes){mask, len});
    for (size_t i = 0; i < instance->column_count; i++) {
        const SimColumn *column = &info->columns[CT_HEAD_COLUMNS + i];
        if (!load_value(load, file, json_object_get(change->row, str_c(scratch, column->name)),
                        &column->type, &values[CT_HEAD_COLUMNS + i]))
            return false;
    }
    values[info->column_count - 1] = sim_int(change->command_id, SIM_INT);
    return row_encode(table, info, values, NULL, &row, load->error) &&
           write_insert_row(txn, table, row, load->error);
}

static bool add_changes(Load *load, const LoadInstance *from)
{
    const Instance *instance = made_instance(load, from->name);
    Str             file     = str_printf(load->arena, "changes/%.*s.jsonl", STR_ARG(from->name));
    SimTxn         *txn      = begin(load);
    Arena          *scratch  = arena_new();
    bool            ok       = write_begin(txn, instance->change_table, load->error);

    for (size_t i = 0; ok && i < json_array_size(from->changes); i++) {
        ChangeLine change;
        ok = read_change(load, file, json_array_get(from->changes, i), &change) &&
             put_change(load, txn, instance, file, &change, other_image(from->changes, i, &change),
                        scratch);
        arena_reset(scratch);
    }
    arena_close(scratch);
    return end(load, txn, ok);
}

/* --- all of it --- */

/* What loading itself has written to the log is nothing for capture to read. */
static void finish(Load *load)
{
    SimCdc *cdc = load->database->cdc;
    SimLog *log = &load->database->log;

    (void)pthread_mutex_lock(&log->mutex);
    log_clear(log);
    (void)pthread_mutex_unlock(&log->mutex);
    log_continue_after(log, load->last_lsn);
    if (load->entries.count == 0) return;
    (void)pthread_mutex_lock(&cdc->mutex);
    cdc->has_max_lsn = true;
    cdc->max_lsn     = load->entries.items[load->entries.count - 1].lsn;
    (void)pthread_mutex_unlock(&cdc->mutex);
}

static bool make_all(Load *load)
{
    if (!load_make_tables(load) || !enable_database(load) || !enable_instances(load)) return false;
    for (size_t i = 0; i < load->instances.count; i++)
        if (!set_instance(load, &load->instances.items[i]) ||
            !add_changes(load, &load->instances.items[i]))
            return false;
    if (!add_entries(load)) return false;
    finish(load);
    return true;
}

/* Capture waits until everything is in place. */
static bool make_all_apart(Load *load)
{
    SystemSession session;

    system_session_open(&session, load->database->server);
    SimTxn *guard = system_txn_begin(&session, load->database);
    bool    ok    = lock_take(guard, &load->database->cdc->scan_lock, LOCK_X, load->error) &&
              make_all(load);
    sim_txn_rollback(guard);
    system_session_close(&session);
    return ok;
}

bool sim_load_folder(SimDatabase *database, Str folder, SimError *error)
{
    Load load = {.database = database, .arena = arena_new(), .folder = folder, .error = error};
    bool ok   = !sim_cdc_is_enabled(database) ||
              sim_error(error, 50000,
                        "The database '%.*s' has change data capture already; a folder is loaded "
                        "into one that has not.",
                        STR_ARG(database->name));

    load.waiter = (SimWaiter){.session_id      = -1,
                              .lock_timeout_ms = SYSTEM_LOCK_MS,
                              .wake            = queue_new(sim_server_sched(database->server), 1)};
    ok          = ok && load_read(&load) && make_all_apart(&load);
    queue_free(load.waiter.wake);
    for (size_t i = 0; i < load.documents.count; i++)
        json_decref(load.documents.items[i]);
    arena_close(load.arena);
    return ok;
}
