/* mapping.c - cdc.lsn_time_mapping: which commit was when (sqlserver.md 2.13, 2.15). Looked at
 * without waiting: only committed entries count. */
#include "sim/capture/cdc_internal.h"

enum { MAP_START_LSN, MAP_BEGIN_TIME, MAP_END_TIME, MAP_TRAN_ID, MAP_BEGIN_LSN, MAP_COLUMNS };

#define TRAN_ID_BYTES 6
#define DAYS_TO_1970  719162
#define DAY_US        INT64_C(86400000000)

SimValue lsn_value(const Lsn *lsn)
{
    return sim_binary((Bytes){lsn->bytes, LSN_BYTES}, LSN_BYTES);
}

static SimColumn mapping_column(const char *name, SimTypeKind kind, int32_t length,
                                bool is_nullable)
{
    SimColumn column = {
        .name = str_from_c(name), .type = sim_type(kind), .is_nullable = is_nullable};
    if (length > 0) column.type.length = length;
    return column;
}

bool mapping_create(SimTxn *txn, SimTable **out, SimError *error)
{
    SimColumn columns[MAP_COLUMNS] = {
        [MAP_START_LSN]  = mapping_column("start_lsn", SIM_BINARY, LSN_BYTES, false),
        [MAP_BEGIN_TIME] = mapping_column("tran_begin_time", SIM_DATETIME, 0, true),
        [MAP_END_TIME]   = mapping_column("tran_end_time", SIM_DATETIME, 0, true),
        [MAP_TRAN_ID]    = mapping_column("tran_id", SIM_VARBINARY, 10, true),
        [MAP_BEGIN_LSN]  = mapping_column("tran_begin_lsn", SIM_BINARY, LSN_BYTES, true),
    };
    SimIndexColumn by_lsn    = {.column_id = MAP_START_LSN + 1};
    SimIndexColumn by_time   = {.column_id = MAP_END_TIME + 1};
    SimIndex       indexes[] = {
              {.name         = STR("lsn_time_mapping_clustered_idx"),
               .is_unique    = true,
               .is_clustered = true,
               .columns      = &by_lsn,
               .column_count = 1},
              {.name = STR("lsn_time_mapping_nonunique_idx"), .columns = &by_time, .column_count = 1},
    };
    SimTableSpec spec = {.schema       = STR("cdc"),
                         .name         = STR("lsn_time_mapping"),
                         .columns      = columns,
                         .column_count = MAP_COLUMNS,
                         .indexes      = indexes,
                         .index_count  = COUNT_OF(indexes),
                         .is_system    = true};
    return sim_create_table(txn, &spec, out, error);
}

/* A time in the type of the mapping's columns: datetime, or datetime2(3) where loaded times are no
 * ticks of 1/300 s. */
static SimValue mapping_time(const SimTable *mapping, int64_t local_us)
{
    const SimType *type  = &sim_table_info(mapping)->columns[MAP_END_TIME].type;
    SimValue       value = sim_datetime_from_us(local_us);

    if (type->kind == SIM_DATETIME) return value;
    int64_t day_us = local_us - (int64_t)(value.time.days - DAYS_TO_1970) * DAY_US;
    if (day_us < 0) { /* rounded up to the next day */
        value.time.days--;
        day_us += DAY_US;
    }
    value.type       = *type;
    value.time.ticks = day_us / 1000 * 10000;
    return value;
}

bool mapping_keep_milliseconds(SimTxn *txn, SimTable *mapping, SimError *error)
{
    SimType type = sim_type_time(SIM_DATETIME2, 3);

    return ddl_alter_column(txn, mapping, MAP_BEGIN_TIME, &type, true, error) &&
           ddl_alter_column(txn, mapping, MAP_END_TIME, &type, true, error);
}

bool mapping_add(SimTxn *txn, SimTable *mapping, const MappingEntry *entry, SimError *error)
{
    uint8_t id[TRAN_ID_BYTES] = {0};
    size_t  id_len            = entry->tran_id != 0 ? TRAN_ID_BYTES : 1;
    SimRow *row               = NULL;

    for (size_t i = 0; i < id_len; i++)
        id[i] = (uint8_t)(entry->tran_id >> (8 * (id_len - 1 - i)));
    SimValue values[MAP_COLUMNS] = {
        [MAP_START_LSN]  = lsn_value(&entry->start_lsn),
        [MAP_BEGIN_TIME] = mapping_time(mapping, entry->begin_us),
        [MAP_END_TIME]   = mapping_time(mapping, entry->end_us),
        [MAP_TRAN_ID]    = sim_varbinary((Bytes){id, id_len}),
        [MAP_BEGIN_LSN]  = lsn_value(&entry->begin_lsn),
    };
    if (!write_begin(txn, mapping, error)) return false;
    if (!row_encode(mapping, sim_table_info(mapping), values, NULL, &row, error)) return false;
    return write_insert_row(txn, mapping, row, error);
}

/* --- looking --- */

static void entry_lsn(const SimRow *row, Lsn *out)
{
    Bytes wire = row_wire(row, MAP_START_LSN);
    memcpy(out->bytes, wire.ptr + 2, LSN_BYTES);
}

static void entry_end_time(SimTable *mapping, const SimRow *row, SimValue *out)
{
    sim_row_value(mapping, row, MAP_END_TIME, out);
}

static const SimRow *find_entry(SimTable *mapping, Lsn lsn, Arena *scratch)
{
    Buf      key   = buf_new(scratch, 0);
    SimValue value = lsn_value(&lsn);

    sim_sort_key(&value, false, &key);
    Item *place = tree_find(&table_body(mapping)->trees[0], str_bytes(buf_str(&key)));
    return place != NULL ? row_committed(place_head(place)) : NULL;
}

static Tree *time_tree(SimTable *mapping)
{
    Body *body = table_body(mapping);
    return body_tree(body, body->info->indexes[1]);
}

/* From a position in the order of time: the first committed entry in that direction. */
static bool committed_from(TreeAt at, bool backwards, Lsn *lsn_out, SimTable *mapping,
                           SimValue *time_out)
{
    for (; tree_item(at) != NULL; at = backwards ? tree_previous(at) : tree_next(at)) {
        const Item   *place = tree_item(at)->ref;
        const SimRow *row   = row_committed(place_head(place));
        if (row == NULL) continue;
        entry_lsn(row, lsn_out);
        if (time_out != NULL) entry_end_time(mapping, row, time_out);
        return true;
    }
    return false;
}

/* The key of a time; `after`: above every entry of that time. */
static Bytes time_key(const SimValue *time, bool after, Arena *scratch)
{
    Buf key = buf_new(scratch, 0);

    sim_sort_key(time, false, &key);
    if (after) buf_append_bytes(&key, "\xFF\xFF\xFF\xFF", 4); /* an LSN's key begins with 1 */
    return str_bytes(buf_str(&key));
}

bool mapping_lowered(SimTable *mapping, Lsn lsn, Lsn *out)
{
    Arena   *scratch = arena_new();
    SimValue time;

    latch_shared(mapping);
    const SimRow *row = find_entry(mapping, lsn, scratch);
    bool          ok  = row != NULL;
    if (ok) {
        entry_end_time(mapping, row, &time);
        ok = committed_from(tree_seek(time_tree(mapping), time_key(&time, false, scratch), false),
                            false, out, mapping, NULL);
    }
    latch_release(mapping);
    arena_close(scratch);
    return ok;
}

bool mapping_at_age(SimTable *mapping, int64_t retention_us, Lsn *out)
{
    Arena   *scratch = arena_new();
    SimValue newest, time;
    Lsn      lsn;

    latch_shared(mapping);
    Tree *tree = time_tree(mapping);
    bool  ok   = committed_from(tree_last(tree), true, &lsn, mapping, &newest);
    if (ok) {
        SimValue cut = mapping_time(mapping, sim_time_to_us(&newest) - retention_us);
        ok = committed_from(tree_seek_before(tree, time_key(&cut, true, scratch)), true, &lsn,
                            mapping, &time) &&
             committed_from(tree_seek(tree, time_key(&time, false, scratch), false), false, out,
                            mapping, NULL);
    }
    latch_release(mapping);
    arena_close(scratch);
    return ok;
}

/* --- functions on it --- */

static SimTable *mapping_of(SimDatabase *database)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    SimTable *mapping = cdc->is_enabled ? cdc->mapping : NULL;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return mapping;
}

SimTable *sim_cdc_mapping_table(SimDatabase *database)
{
    return mapping_of(database);
}

bool sim_cdc_map_lsn_to_time(SimDatabase *database, Lsn lsn, int64_t *local_us_out)
{
    SimTable *mapping = mapping_of(database);
    SimValue  time;

    if (mapping == NULL) return false;
    Arena *scratch = arena_new();
    latch_shared(mapping);
    const SimRow *row = find_entry(mapping, lsn, scratch);
    if (row != NULL) {
        entry_end_time(mapping, row, &time);
        *local_us_out = sim_time_to_us(&time);
    }
    latch_release(mapping);
    arena_close(scratch);
    return row != NULL;
}

bool sim_cdc_map_time_to_lsn(SimDatabase *database, SimTimeToLsn op, const SimValue *datetime,
                             Lsn *out)
{
    SimTable *mapping = mapping_of(database);
    bool      found   = false;

    if (mapping == NULL || datetime->is_null) return false;
    Arena   *scratch = arena_new();
    SimValue time    = *datetime;
    if (sim_table_info(mapping)->columns[MAP_END_TIME].type.kind != SIM_DATETIME)
        time = mapping_time(mapping, sim_time_to_us(datetime));
    latch_shared(mapping);
    Tree *tree = time_tree(mapping);
    switch (op) {
    case SIM_LARGEST_LESS:
        found = committed_from(tree_seek_before(tree, time_key(&time, false, scratch)), true, out,
                               mapping, NULL);
        break;
    case SIM_LARGEST_LESS_OR_EQUAL:
        found = committed_from(tree_seek_before(tree, time_key(&time, true, scratch)), true, out,
                               mapping, NULL);
        break;
    case SIM_SMALLEST_GREATER:
        found = committed_from(tree_seek(tree, time_key(&time, true, scratch), false), false, out,
                               mapping, NULL);
        break;
    case SIM_SMALLEST_GREATER_OR_EQUAL:
        found = committed_from(tree_seek(tree, time_key(&time, false, scratch), false), false, out,
                               mapping, NULL);
        break;
    }
    latch_release(mapping);
    arena_close(scratch);
    return found;
}
