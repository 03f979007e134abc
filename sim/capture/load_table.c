/* load_table.c - what a folder to load holds: tables, instances, commits; and the tables made of it. */
#include "sim/capture/load_internal.h"

#include <stdlib.h>

#define KEY_CHARACTERS 400

/* --- tables and their columns --- */

static LoadTable *find_table(Load *load, Str id)
{
    for (size_t i = 0; i < load->tables.count; i++)
        if (str_equal(load->tables.items[i]->id, id)) return load->tables.items[i];
    return NULL;
}

static LoadColumn *find_column(LoadTable *table, Str name)
{
    for (size_t i = 0; i < table->columns.count; i++)
        if (sim_name_equal(table->columns.items[i].name, name)) return &table->columns.items[i];
    return NULL;
}

static bool copy_names(Load *load, Str file, const json_t *names, Str **out, size_t *count_out)
{
    LIST(Str) list = {.items = NULL};

    if (names != NULL && !json_is_array(names)) return load_refuse(load, file, "no list of names");
    for (size_t i = 0; i < json_array_size(names); i++)
        *LIST_PUSH(load->arena, &list) = load_text(json_array_get(names, i));
    *out       = list.items;
    *count_out = list.count;
    return true;
}

/* "schema_table": what follows the first underscore is the table's name. */
static bool new_table(Load *load, Str id, const json_t *keys, const json_t *dropped,
                      LoadTable **out)
{
    LoadTable *table = ARENA_NEW(load->arena, LoadTable);
    ptrdiff_t  at    = str_find_char(id, '_', 0);
    Str        file  = str_printf(load->arena, "tables/%.*s.json", STR_ARG(id));

    if (at <= 0 || (size_t)at + 1 >= id.len)
        return load_refuse(load, STR("instances.json"), "the table %.*s is not named schema_table",
                           STR_ARG(id));
    *table = (LoadTable){.id     = id,
                         .schema = str_slice(id, 0, (size_t)at),
                         .name   = str_slice(id, (size_t)at + 1, id.len)};
    if (!load_document(load, file, false, &table->rows) ||
        !copy_names(load, STR("keys.json"), json_object_get(keys, str_c(load->arena, id)),
                    &table->keys.items, &table->keys.count) ||
        !copy_names(load, STR("dropped.json"), json_object_get(dropped, str_c(load->arena, id)),
                    &table->dropped.items, &table->dropped.count))
        return false;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers
    *LIST_PUSH(load->arena, &load->tables) = table;
    *out                                   = table;
    return true;
}

static bool is_listed(const Str *names, size_t count, Str name)
{
    for (size_t i = 0; i < count; i++)
        if (sim_name_equal(names[i], name)) return true;
    return false;
}

/* A table has every column that one of its instances has, in the order they are met. */
static bool add_columns(Load *load, LoadInstance *instance)
{
    Str        file  = STR("instances.json");
    LoadTable *table = instance->table;

    for (size_t i = 0; i < json_array_size(instance->columns); i++) {
        const json_t *pair = json_array_get(instance->columns, i);
        Str           name = load_text(json_array_get(pair, 0));
        SimType       type;
        if (str_is_empty(name)) return load_refuse(load, file, "a column has no name");
        if (!load_type(load, file, load_text(json_array_get(pair, 1)), &type)) return false;
        LoadColumn *column = find_column(table, name);
        if (column == NULL) {
            column  = LIST_PUSH(load->arena, &table->columns);
            *column = (LoadColumn){.name   = name,
                                   .key    = str_c(load->arena, name),
                                   .is_key = is_listed(table->keys.items, table->keys.count, name)};
        }
        column->type = type;                               /* the newest instance's */
        if (column->is_key && type.kind == SIM_NVARCHAR) { /* by code point, and fit for an index */
            column->type           = sim_type_sized(SIM_NVARCHAR, KEY_CHARACTERS);
            column->type.collation = sim_collation_find(STR("Latin1_General_BIN2"));
        }
    }
    return true;
}

/* --- instances --- */

static int compare_instances(const void *left, const void *right)
{
    const LoadInstance *one = left, *two = right;

    if (one->has_create_time != two->has_create_time) return one->has_create_time ? 1 : -1;
    if (one->create_us != two->create_us) return one->create_us > two->create_us ? 1 : -1;
    return lsn_compare(one->start_lsn, two->start_lsn);
}

static bool read_instance(Load *load, const char *key, const json_t *from, const json_t *min_lsn)
{
    LoadInstance  instance = {.name    = str_copy(load->arena, str_from_c(key)),
                              .columns = json_object_get(from, "columns")};
    Str           file     = STR("instances.json");
    const json_t *created  = json_object_get(from, "created");
    Str           changes  = str_printf(load->arena, "changes/%.*s.jsonl", STR_ARG(instance.name));
    Str           ddl      = str_printf(load->arena, "ddl/%.*s.jsonl", STR_ARG(instance.name));

    instance.table = find_table(load, load_text(json_object_get(from, "table")));
    if (instance.table == NULL || !json_is_array(instance.columns))
        return load_refuse(load, file, "%s has no table, or no columns", key);
    instance.has_create_time = created != NULL && !json_is_null(created);
    if (instance.has_create_time && !load_time(load, file, created, &instance.create_us))
        return false;
    if (!load_lsn(load, STR("min_lsn.json"), json_object_get(min_lsn, key), &instance.start_lsn) ||
        !load_lines(load, changes, false, &instance.changes) ||
        !load_lines(load, ddl, false, &instance.ddl))
        return false;
    *LIST_PUSH(load->arena, &load->instances) = instance;
    return true;
}

static bool read_instances(Load *load)
{
    json_t     *instances, *keys, *dropped, *min_lsn, *from;
    const char *key;
    LoadTable  *table;

    if (!load_document(load, STR("instances.json"), true, &instances) ||
        !load_document(load, STR("keys.json"), true, &keys) ||
        !load_document(load, STR("min_lsn.json"), true, &min_lsn) ||
        !load_document(load, STR("dropped.json"), false, &dropped))
        return false;
    json_object_foreach(instances, key, from)
    {
        Str id = load_text(json_object_get(from, "table"));
        if (find_table(load, id) == NULL && !new_table(load, id, keys, dropped, &table))
            return false;
        if (!read_instance(load, key, from, min_lsn)) return false;
    }
    if (load->instances.count > 1)
        qsort(load->instances.items, load->instances.count, sizeof *load->instances.items,
              compare_instances);
    for (size_t i = 0; i < load->instances.count; i++)
        if (!add_columns(load, &load->instances.items[i])) return false;
    return true;
}

/* --- commits --- */

static void note_lsns(Load *load, Map *known, const json_t *lines, const char *key)
{
    for (size_t i = 0; i < json_array_size(lines); i++) {
        Str lsn = load_text(json_object_get(json_array_get(lines, i), key));
        if (!str_is_empty(lsn)) (void)map_put(known, str_lower_ascii(load->arena, lsn), load);
    }
}

static bool read_entry(Load *load, Str file, Map *known, const json_t *line)
{
    const json_t *lsn   = json_object_get(line, "start_lsn");
    LoadEntry     entry = {.is_idle = false};

    if (!load_lsn(load, file, lsn, &entry.lsn) ||
        !load_time(load, file, json_object_get(line, "tran_end_time"), &entry.end_us))
        return false;
    entry.is_idle = map_find(known, str_lower_ascii(load->arena, load_text(lsn))) == NULL;
    *LIST_PUSH(load->arena, &load->entries) = entry;
    return true;
}

/* An entry without a transaction behind it is an idle one. The journal knows also those whose
 * changes cleanup has taken away. */
static bool read_mapping(Load *load)
{
    Str     file = STR("lsn_time_mapping.jsonl");
    json_t *lines, *history;
    Map    *known = map_new();
    bool    ok    = load_lines(load, file, true, &lines) &&
              load_lines(load, STR("history.jsonl"), false, &history);

    if (ok) note_lsns(load, known, history, "lsn");
    for (size_t i = 0; ok && i < load->instances.count; i++)
        note_lsns(load, known, load->instances.items[i].changes, "start_lsn");
    for (size_t i = 0; ok && i < json_array_size(lines); i++)
        ok = read_entry(load, file, known, json_array_get(lines, i));
    map_close(known);
    return ok;
}

/* --- widths --- */

static void widen_for(LoadColumn *column, const json_t *row)
{
    size_t bytes = load_text(json_object_get(row, column->key)).len;

    if (column->type.length > 0 && bytes > (size_t)column->type.length / 2 && !column->is_key)
        column->type.length = -1;
}

/* Text that may be longer than a page holds is stored as (max). */
static void widen(Load *load, LoadTable *table)
{
    for (size_t c = 0; c < table->columns.count; c++) {
        LoadColumn *column = &table->columns.items[c];
        const char *key;
        json_t     *row;
        if (column->type.kind != SIM_NVARCHAR && column->type.kind != SIM_VARBINARY) continue;
        json_object_foreach(table->rows, key, row) widen_for(column, row);
        for (size_t i = 0; i < load->instances.count; i++) {
            if (load->instances.items[i].table != table) continue;
            const json_t *changes = load->instances.items[i].changes;
            for (size_t at = 0; at < json_array_size(changes); at++)
                widen_for(column, json_object_get(json_array_get(changes, at), "row"));
        }
    }
}

bool load_read(Load *load)
{
    if (!read_instances(load) || !read_mapping(load)) return false;
    for (size_t i = 0; i < load->tables.count; i++)
        widen(load, load->tables.items[i]);
    return true;
}

/* --- making tables --- */

static bool insert_rows(Load *load, SimTxn *txn, LoadTable *from)
{
    Str         file   = str_printf(load->arena, "tables/%.*s.json", STR_ARG(from->id));
    SimValue   *values = ARENA_ARRAY(load->arena, SimValue, from->columns.count + 1);
    const char *key;
    json_t     *row;

    json_object_foreach(from->rows, key, row)
    {
        for (size_t c = 0; c < from->columns.count; c++) {
            const LoadColumn *column = &from->columns.items[c];
            if (!load_value(load, file, json_object_get(row, column->key), &column->type,
                            &values[c]))
                return false;
        }
        if (!sim_insert(txn, from->table, values, load->error)) return false;
    }
    return true;
}

static bool make_table(Load *load, SimTxn *txn, LoadTable *from)
{
    size_t          count   = from->columns.count;
    SimColumn      *columns = ARENA_ARRAY(load->arena, SimColumn, count + 1);
    SimIndexColumn *key     = ARENA_ARRAY(load->arena, SimIndexColumn, from->keys.count + 1);

    for (size_t i = 0; i < count; i++)
        columns[i] = (SimColumn){.name        = from->columns.items[i].name,
                                 .type        = from->columns.items[i].type,
                                 .is_nullable = !from->columns.items[i].is_key};
    for (size_t i = 0; i < from->keys.count; i++) {
        const LoadColumn *column = find_column(from, from->keys.items[i]);
        if (column == NULL)
            return load_refuse(load, STR("keys.json"), "%.*s is no column of %.*s",
                               STR_ARG(from->keys.items[i]), STR_ARG(from->id));
        key[i].column_id = (int32_t)(column - from->columns.items) + 1;
    }
    SimIndex     index = {.name           = str_printf(load->arena, "PK_%.*s", STR_ARG(from->name)),
                          .is_unique      = true,
                          .is_clustered   = true,
                          .is_primary_key = true,
                          .columns        = key,
                          .column_count   = from->keys.count};
    SimTableSpec spec  = {.schema       = from->schema,
                          .name         = from->name,
                          .columns      = columns,
                          .column_count = count,
                          .indexes      = &index,
                          .index_count  = from->keys.count > 0};
    return (sim_database_has_schema(load->database, from->schema) ||
            sim_create_schema(txn, from->schema, load->error)) &&
           sim_create_table(txn, &spec, &from->table, load->error) && insert_rows(load, txn, from);
}

bool load_make_tables(Load *load)
{
    SimTxn *txn = sim_txn_begin(load->database, &load->waiter, SIM_READ_COMMITTED);
    bool    ok  = true;

    sim_txn_statement_begin(txn);
    for (size_t i = 0; ok && i < load->tables.count; i++)
        ok = make_table(load, txn, load->tables.items[i]);
    sim_txn_statement_end(txn);
    if (ok) return sim_txn_commit(txn, NULL, load->error);
    sim_txn_rollback(txn);
    return false;
}
