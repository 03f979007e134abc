/* module.c - procedures and views: text with a name, made and dropped inside transactions. A
 * module is never changed: ALTER puts another one in its place, so whoever runs the old one goes on. */
#include "sim/model/model_internal.h"

bool database_has_module_key(SimDatabase *database, Str key)
{
    for (size_t i = 0; i < database->modules.count; i++)
        if (database->modules.items[i]->is_listed &&
            str_equal(database->modules.items[i]->key, key))
            return true;
    return false;
}

void database_free_modules(SimDatabase *database)
{
    for (size_t i = 0; i < database->modules.count; i++)
        arena_close(database->modules.items[i]->arena);
}

/* --- names, inside transactions --- */
typedef struct ModuleEvent {
    TxnEvent     base;
    ModuleEntry *added, *removed; /* either may be NULL */
} ModuleEvent;

static void list_module(SimDatabase *database, ModuleEntry *entry, bool is_listed)
{
    if (entry == NULL) return;
    (void)pthread_rwlock_wrlock(&database->catalog);
    entry->is_listed = is_listed;
    (void)pthread_rwlock_unlock(&database->catalog);
}

static void module_rollback(TxnEvent *event, SimTxn *txn)
{
    const ModuleEvent *change = (const ModuleEvent *)event;

    list_module(txn->database, change->added, false);
    list_module(txn->database, change->removed, true);
}

static void module_done(TxnEvent *event)
{
    mem_free(event);
}

static void push_module_event(SimTxn *txn, ModuleEntry *added, ModuleEntry *removed)
{
    ModuleEvent *event = mem_alloc(sizeof *event);

    *event = (ModuleEvent){.base    = {.rollback = module_rollback, .done = module_done},
                           .added   = added,
                           .removed = removed};
    txn_note_write(txn);
    txn_push_event(txn, &event->base);
}

static ModuleEntry *entry_of(SimDatabase *database, const SimModule *module)
{
    for (size_t i = 0; i < database->modules.count; i++)
        if (&database->modules.items[i]->module == module) return database->modules.items[i];
    return NULL;
}

bool sim_create_module(SimTxn *txn, const SimModule *spec, Arena *arena, const SimModule *replaces,
                       const SimModule **out, SimError *error)
{
    SimDatabase *database = txn->database;
    ModuleEntry *entry    = ARENA_NEW(arena, ModuleEntry);
    int64_t      now      = sim_server_local_us(database->server);
    Str          schema   = str_is_empty(spec->schema) ? STR("dbo") : spec->schema;

    if (!sim_database_has_schema(database, schema)) {
        arena_close(arena);
        return sim_error(error, 2760,
                         "The specified schema name \"%.*s\" either does not exist or you do not "
                         "have permission to use it.",
                         STR_ARG(schema));
    }
    entry->module             = *spec;
    entry->module.schema      = str_copy(arena, schema);
    entry->module.name        = str_copy(arena, spec->name);
    entry->module.text        = str_copy(arena, spec->text);
    entry->module.object_id   = replaces ? replaces->object_id : database_next_object_id(database);
    entry->module.created_us  = replaces ? replaces->created_us : now;
    entry->module.modified_us = now;
    entry->key                = name_key(arena, schema, spec->name);
    entry->arena              = arena;
    (void)pthread_rwlock_wrlock(&database->catalog);
    ModuleEntry *old     = replaces ? entry_of(database, replaces) : NULL;
    bool         is_free = replaces ? old != NULL && old->is_listed
                                    : map_find(database->tables_by_name, entry->key) == NULL &&
                                  !database_has_module_key(database, entry->key);
    if (is_free) {
        if (old) old->is_listed = false;
        entry->is_listed = true;
        // NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers
        *LIST_PUSH(database->arena, &database->modules) = entry;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    if (!is_free) {
        arena_close(arena);
        return sim_error(error, 2714, "There is already an object named '%.*s' in the database.",
                         STR_ARG(spec->name));
    }
    push_module_event(txn, entry, old);
    *out = &entry->module;
    return true;
}

bool sim_drop_module(SimTxn *txn, const SimModule *module, SimError *error)
{
    SimDatabase *database = txn->database;

    (void)pthread_rwlock_wrlock(&database->catalog);
    ModuleEntry *entry  = entry_of(database, module);
    bool         listed = entry != NULL && entry->is_listed;
    if (listed) entry->is_listed = false;
    (void)pthread_rwlock_unlock(&database->catalog);
    if (!listed)
        return sim_error(error, 3701,
                         "Cannot drop the %s '%.*s', because it does not exist or you do not have "
                         "permission.",
                         module->kind == SIM_MODULE_VIEW ? "view" : "procedure",
                         STR_ARG(module->name));
    push_module_event(txn, NULL, entry);
    return true;
}

/* --- finding --- */
const SimModule *sim_database_find_module(SimDatabase *database, Str schema, Str name)
{
    const SimModule *found = NULL;

    (void)pthread_rwlock_rdlock(&database->catalog);
    if (database->modules.count > 0) {
        Arena *scratch = arena_new();
        Str    key     = name_key(scratch, str_is_empty(schema) ? STR("dbo") : schema, name);
        for (size_t i = 0; i < database->modules.count && !found; i++)
            if (database->modules.items[i]->is_listed &&
                str_equal(database->modules.items[i]->key, key))
                found = &database->modules.items[i]->module;
        arena_close(scratch);
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return found;
}

bool sim_database_next_module(SimDatabase *database, size_t *at, const SimModule **out)
{
    *out = NULL;
    (void)pthread_rwlock_rdlock(&database->catalog);
    while (*at < database->modules.count && *out == NULL) {
        const ModuleEntry *entry = database->modules.items[(*at)++];
        if (entry->is_listed) *out = &entry->module;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return *out != NULL;
}
