/* catalog.c - tables and their descriptions, and how names find them. */
#include "sim/model/model_internal.h"

/* --- names --- */

static void append_name(Buf *out, Arena *arena, Str name)
{
    SimValue value       = sim_nvarchar(arena, name);
    value.type.collation = sim_collation_default();
    sim_sort_key(&value, false, out);
}

Str name_key(Arena *arena, Str schema, Str name)
{
    Buf key = buf_new(arena, 0);

    append_name(&key, arena, schema);
    append_name(&key, arena, name);
    return buf_str(&key);
}

static Str default_schema(Str schema)
{
    return str_is_empty(schema) ? STR("dbo") : schema;
}

/* --- descriptions --- */

SimColumn column_copy(SimTable *table, Str table_name, const SimColumn *column)
{
    Arena    *arena = table->arena;
    SimColumn copy  = *column;

    copy.name         = str_copy(arena, column->name);
    copy.default_name = str_copy(arena, column->default_name);
    if (column->default_value != NULL && column->default_object_id == 0) {
        copy.default_object_id = database_next_object_id(table->database);
        if (str_is_empty(column->default_name))
            copy.default_name = str_printf(
                arena, "DF__%.*s__%.*s__%08X", STR_ARG(str_slice(table_name, 0, 9)),
                STR_ARG(str_slice(column->name, 0, 5)), (unsigned)copy.default_object_id);
    }
    return copy;
}

static Str made_up_name(Arena *arena, const SimIndex *index, Str table, int32_t object_id)
{
    const char *prefix = index->is_primary_key ? "PK" : index->is_unique_constraint ? "UQ" : "IX";
    Str         shown  = str_slice(table, 0, 8);
    return str_printf(arena, "%s__%.*s__%08X%08X", prefix, STR_ARG(shown), (unsigned)object_id,
                      (unsigned)index->index_id);
}

SimIndex *index_copy(SimTable *table, Str table_name, const SimIndex *spec)
{
    Arena    *arena = table->arena;
    SimIndex *index = ARENA_NEW(arena, SimIndex);

    *index         = *spec;
    index->name    = str_copy(arena, spec->name);
    index->columns = ARENA_ARRAY(arena, SimIndexColumn, spec->column_count);
    memcpy(index->columns, spec->columns, spec->column_count * sizeof *index->columns);
    index->included = ARENA_ARRAY(arena, int32_t, spec->included_count + 1);
    for (size_t i = 0; i < spec->included_count; i++)
        index->included[i] = spec->included[i];
    if (index->object_id == 0 && (index->is_primary_key || index->is_unique_constraint))
        index->object_id = database_next_object_id(table->database);
    if (str_is_empty(index->name)) {
        index->is_system_named = true;
        index->name            = made_up_name(arena, index, table_name, table->object_id);
    }
    return index;
}

static void copy_indexes(SimTable *table, const SimTableSpec *spec, SimIndex **out)
{
    size_t at = 0;

    for (int pass = 0; pass < 2; pass++) /* the clustered one first */
        for (size_t i = 0; i < spec->index_count; i++) {
            if (spec->indexes[i].is_clustered != (pass == 0)) continue;
            SimIndex numbered = spec->indexes[i];
            numbered.index_id = numbered.is_clustered
                                    ? 1
                                    : (int32_t)(at + 1) + (at == 0 || !out[0]->is_clustered);
            out[at++]         = index_copy(table, spec->name, &numbered);
        }
}

static SimTableInfo *info_of_spec(SimTable *table, const SimTableSpec *spec)
{
    Arena        *arena   = table->arena;
    SimTableInfo *info    = ARENA_NEW(arena, SimTableInfo);
    SimColumn    *columns = ARENA_ARRAY(arena, SimColumn, spec->column_count);
    SimIndex    **indexes = ARENA_ARRAY(arena, SimIndex *, spec->index_count);

    for (size_t i = 0; i < spec->column_count; i++) {
        columns[i]           = column_copy(table, spec->name, &spec->columns[i]);
        columns[i].column_id = (int32_t)i + 1;
    }
    copy_indexes(table, spec, indexes);
    *info = (SimTableInfo){.object_id    = table->object_id,
                           .schema       = str_copy(arena, default_schema(spec->schema)),
                           .name         = str_copy(arena, spec->name),
                           .columns      = columns,
                           .column_count = spec->column_count,
                           .indexes      = indexes,
                           .index_count  = spec->index_count,
                           .created_us   = sim_server_local_us(table->database->server),
                           .is_system    = spec->is_system,
                           .is_temporary = spec->is_temporary};
    return info;
}

SimTableInfo *info_clone(SimTable *table, const SimTableInfo *info, SimColumn **columns_out,
                         SimIndex ***indexes_out)
{
    Arena        *arena   = table->arena;
    SimTableInfo *clone   = ARENA_NEW(arena, SimTableInfo);
    SimColumn    *columns = ARENA_ARRAY(arena, SimColumn, info->column_count + 1);
    SimIndex    **indexes = ARENA_ARRAY(arena, SimIndex *, info->index_count + 1);

    memcpy(columns, info->columns, info->column_count * sizeof *columns);
    memcpy(indexes, info->indexes, info->index_count * sizeof(SimIndex *));
    *clone         = *info;
    clone->columns = columns;
    clone->indexes = indexes;
    clone->schema_version++;
    *columns_out = columns;
    if (indexes_out != NULL) *indexes_out = indexes;
    return clone;
}

/* --- tables --- */

int32_t database_next_object_id(SimDatabase *database)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    int32_t id = database->next_object_id;
    /* As the server spreads them; a step coprime to the range visits every id. */
    database->next_object_id = (int32_t)(((int64_t)id + 16000057) % 2000000011);
    (void)pthread_rwlock_unlock(&database->catalog);
    return id;
}

bool sim_database_has_foreign_keys(const SimDatabase *database)
{
    return atomic_load(&database->has_foreign_keys);
}

SimTable *table_new(SimDatabase *database, const SimTableSpec *spec, int32_t object_id)
{
    SimTable *table = mem_alloc(sizeof *table);

    table->database       = database;
    table->object_id      = object_id;
    table->is_system      = spec->is_system;
    table->is_temporary   = spec->is_temporary;
    table->arena          = arena_new();
    table->next_column_id = (int32_t)spec->column_count + 1;
    table->lock.table     = table;
    int failed            = pthread_mutex_init(&table->turnstile, NULL);
    failed |= pthread_mutex_init(&table->pin_lock, NULL);
    failed |= pthread_rwlock_init(&table->latch, NULL);
    assert(failed == 0);
    const SimTableInfo *info = info_of_spec(table, spec);
    table->name_key          = name_key(table->arena, info->schema, info->name);
    table_set_body(table, body_new(info, database->server->slab));
    return table;
}

void table_free(SimTable *table)
{
    if (table == NULL) return;
    body_free(table_body(table), table->database->server);
    for (size_t i = 0; i < table->limbo_count; i++)
        row_release(table->limbo[(table->limbo_first + i) % table->limbo_capacity].row);
    mem_free(table->limbo);
    for (size_t i = 0; i < table->adopted.count; i++)
        arena_close(table->adopted.items[i]);
    arena_close(table->arena);
    (void)pthread_rwlock_destroy(&table->latch);
    (void)pthread_mutex_destroy(&table->pin_lock);
    (void)pthread_mutex_destroy(&table->turnstile);
    mem_free(table);
}

void sim_table_adopt(SimTable *table, Arena *arena)
{
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers
    *LIST_PUSH(table->arena, &table->adopted) = arena;
}

const SimTableInfo *sim_table_info(const SimTable *table)
{
    return atomic_load_explicit(&table->info, memory_order_acquire);
}

ptrdiff_t sim_table_find_column(const SimTable *table, Str name)
{
    const SimTableInfo *info = sim_table_info(table);

    for (size_t i = 0; i < info->column_count; i++)
        if (str_equal(info->columns[i].name, name)) return (ptrdiff_t)i;
    for (size_t i = 0; i < info->column_count; i++)
        if (sim_name_equal(info->columns[i].name, name)) return (ptrdiff_t)i;
    return -1;
}

int64_t sim_table_row_count(const SimTable *table)
{
    return atomic_load(&table->row_count);
}

int64_t sim_table_size_bytes(const SimTable *table)
{
    return atomic_load(&table->size_bytes);
}

SimDatabase *sim_table_database(const SimTable *table)
{
    return table->database;
}

bool sim_table_is_dropped(const SimTable *table)
{
    return atomic_load(&table->is_dropped);
}

bool sim_table_is_captured(const SimTable *table)
{
    return atomic_load(&table->capture_count) > 0;
}

/* --- identity --- */

static const SimColumn *identity_column(const SimTable *table)
{
    const SimTableInfo *info = sim_table_info(table);

    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].is_identity) return &info->columns[i];
    return NULL;
}

static bool fits_identity(const SimType *type, int64_t value)
{
    switch (type->kind) {
    case SIM_TINYINT: return value >= 0 && value <= UINT8_MAX;
    case SIM_SMALLINT: return value >= INT16_MIN && value <= INT16_MAX;
    case SIM_INT: return value >= INT32_MIN && value <= INT32_MAX;
    default: return true; /* a decimal's own conversion looks */
    }
}

bool identity_after(const SimColumn *column, const int64_t *last, int64_t *out, SimError *error)
{
    *out = column->identity_seed;
    if ((last == NULL || !__builtin_add_overflow(*last, column->identity_step, out)) &&
        fits_identity(&column->type, *out))
        return true;
    (void)sim_error(error, 8115, "Arithmetic overflow error converting IDENTITY to data type %s.",
                    sim_type_word(&column->type));
    error->state = 1;
    return false;
}

bool sim_next_identity(SimTable *table, int64_t *out, SimError *error)
{
    const SimColumn *column = identity_column(table);

    assert(column != NULL);
    (void)pthread_mutex_lock(&table->pin_lock);
    int64_t last = atomic_load(&table->identity);
    bool    ok   = identity_after(column, atomic_load(&table->identity_is_used) ? &last : NULL, out,
                                  error);
    if (ok) {
        atomic_store(&table->identity, *out);
        atomic_store(&table->identity_is_used, true);
    }
    (void)pthread_mutex_unlock(&table->pin_lock);
    return ok;
}

void sim_note_identity(SimTable *table, int64_t value)
{
    const SimColumn *column = identity_column(table);

    assert(column != NULL);
    (void)pthread_mutex_lock(&table->pin_lock);
    int64_t last  = atomic_load(&table->identity);
    bool    later = column->identity_step > 0 ? value > last : value < last;
    if (later || !atomic_load(&table->identity_is_used)) atomic_store(&table->identity, value);
    atomic_store(&table->identity_is_used, true);
    (void)pthread_mutex_unlock(&table->pin_lock);
}

int64_t sim_table_identity_current(const SimTable *table)
{
    const SimColumn *column = identity_column(table);

    if (atomic_load(&table->identity_is_used)) return atomic_load(&table->identity);
    return column != NULL ? column->identity_seed : 0;
}

bool sim_table_identity_last(const SimTable *table, int64_t *out)
{
    *out = atomic_load(&table->identity);
    return atomic_load(&table->identity_is_used);
}

uint64_t sim_last_rowversion(const SimDatabase *database)
{
    return atomic_load(&database->rowversion);
}

uint64_t sim_next_rowversion(SimDatabase *database)
{
    return atomic_fetch_add(&database->rowversion, 1) + 1;
}

/* --- finding --- */

static Str id_key(const SimTable *table)
{
    return (Str){(const char *)&table->object_id, sizeof table->object_id};
}

static void list_table(SimDatabase *database, SimTable *table)
{
    for (size_t i = database->table_count; i-- > 0;) /* a rollback of DROP TABLE brings one back */
        if (database->tables[i] == table) return;
    if (database->table_count == database->table_capacity) {
        database->table_capacity = database->table_capacity ? 2 * database->table_capacity : 16;
        database->tables = mem_realloc(database->tables, database->table_capacity * sizeof(void *));
    }
    database->tables[database->table_count++] = table;
}

bool database_add_table(SimDatabase *database, SimTable *table)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    bool is_free = map_find(database->tables_by_name, table->name_key) == NULL &&
                   !database_has_module_key(database, table->name_key);
    if (is_free) {
        (void)map_put(database->tables_by_name, table->name_key, table);
        (void)map_put(database->tables_by_id, id_key(table), table);
        list_table(database, table);
        atomic_store(&table->is_dropped, false);
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return is_free;
}

bool database_rename_table(SimDatabase *database, SimTable *table, Str key)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    const void *other = map_find(database->tables_by_name, key);
    bool is_free = (other == NULL && !database_has_module_key(database, key)) || other == table;
    if (is_free) {
        (void)map_remove(database->tables_by_name, table->name_key);
        table->name_key = key;
        (void)map_put(database->tables_by_name, key, table);
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return is_free;
}

void database_forget_table(SimDatabase *database, SimTable *table)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    size_t at = database->table_count;
    while (at > 0 && database->tables[at - 1] != table)
        at--;
    if (at > 0) {
        memmove(&database->tables[at - 1], &database->tables[at],
                (database->table_count - at) * sizeof(void *));
        database->table_count--;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
}

void database_remove_table(SimDatabase *database, SimTable *table)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    if (map_find(database->tables_by_name, table->name_key) == table)
        (void)map_remove(database->tables_by_name, table->name_key);
    (void)map_remove(database->tables_by_id, id_key(table));
    atomic_store(&table->is_dropped, true);
    (void)pthread_rwlock_unlock(&database->catalog);
}

SimTable *sim_database_find_table(SimDatabase *database, Str schema, Str name)
{
    Arena *scratch = arena_new();
    Str    key     = name_key(scratch, default_schema(schema), name);

    (void)pthread_rwlock_rdlock(&database->catalog);
    SimTable *table = map_find(database->tables_by_name, key);
    (void)pthread_rwlock_unlock(&database->catalog);
    arena_close(scratch);
    return table;
}

SimTable *sim_database_find_table_by_id(SimDatabase *database, int32_t object_id)
{
    Str key = {(const char *)&object_id, sizeof object_id};

    (void)pthread_rwlock_rdlock(&database->catalog);
    SimTable *table = map_find(database->tables_by_id, key);
    (void)pthread_rwlock_unlock(&database->catalog);
    return table;
}

bool sim_database_next_table(SimDatabase *database, size_t *at, SimTable **out)
{
    *out = NULL;
    (void)pthread_rwlock_rdlock(&database->catalog);
    while (*at < database->table_count && *out == NULL) {
        SimTable *table = database->tables[(*at)++];
        if (!atomic_load(&table->is_dropped)) *out = table;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return *out != NULL;
}

/* --- schemas --- */

static SchemaName *find_schema(SimDatabase *database, Str schema)
{
    for (size_t i = 0; i < database->schemas.count; i++) {
        SchemaName *name = &database->schemas.items[i];
        if (!name->is_dropped && sim_name_equal(name->name, schema)) return name;
    }
    return NULL;
}

bool sim_database_has_schema(SimDatabase *database, Str schema)
{
    return sim_database_schema_id(database, schema) != 0;
}

int32_t sim_database_schema_id(SimDatabase *database, Str schema)
{
    (void)pthread_rwlock_rdlock(&database->catalog);
    const SchemaName *name = find_schema(database, default_schema(schema));
    int32_t           id   = name != NULL ? name->id : 0;
    (void)pthread_rwlock_unlock(&database->catalog);
    return id;
}

bool sim_database_next_schema(SimDatabase *database, size_t *at, Arena *arena, Str *name_out,
                              int32_t *id_out)
{
    bool found = false;

    (void)pthread_rwlock_rdlock(&database->catalog);
    while (*at < database->schemas.count && !found) {
        const SchemaName *name = &database->schemas.items[(*at)++];
        if (name->is_dropped) continue;
        *name_out = str_copy(arena, name->name);
        *id_out   = name->id;
        found     = true;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return found;
}

bool database_add_schema(SimDatabase *database, Str schema)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    bool is_new = find_schema(database, schema) == NULL;
    if (is_new) {
        int32_t id                                      = database->next_schema_id++;
        *LIST_PUSH(database->arena, &database->schemas) = (SchemaName){
            .name = str_copy(database->arena, schema), .id = id};
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return is_new;
}

bool database_drop_schema(SimDatabase *database, Str schema)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    SchemaName *name = find_schema(database, schema);
    if (name != NULL) name->is_dropped = true;
    (void)pthread_rwlock_unlock(&database->catalog);
    return name != NULL;
}
