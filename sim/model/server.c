/* server.c - the server's databases, its clock and its zone. */
#include "sim/model/model_internal.h"

#include "base/limits.h"
#include "sim/model/virtual_clock.h"
#include "tds/tds_packet.h"

#define TEXT_REPL_BYTES 65536

#define FIRST_OBJECT_ID   901578250
#define FIRST_USER_SCHEMA 5

/* --- databases --- */

static SimDatabase *database_new(SimServer *server, Str name, bool is_system)
{
    SimDatabase *database = mem_alloc(sizeof *database);

    database->server         = server;
    database->arena          = arena_new();
    database->name           = str_copy(database->arena, name);
    database->id             = server->next_database_id++;
    database->is_system      = is_system;
    database->created_us     = sim_server_local_us(server);
    database->tables_by_name = map_new();
    database->tables_by_id   = map_new();
    database->next_object_id = FIRST_OBJECT_ID;
    database->next_schema_id = 1;
    atomic_store(&database->rowversion, 2000);
    int failed = pthread_rwlock_init(&database->catalog, NULL);
    failed |= pthread_mutex_init(&database->open_mutex, NULL);
    assert(failed == 0);
    versions_open(database);
    log_open(&database->log, rng_u64(sim_server_rng(server)));
    static const char *const schemas[] = {"dbo", "guest", "INFORMATION_SCHEMA", "sys"};
    for (size_t i = 0; i < COUNT_OF(schemas); i++)
        (void)database_add_schema(database, str_from_c(schemas[i]));
    assert(database->next_schema_id == FIRST_USER_SCHEMA);
    security_open(database);
    database->cdc = cdc_new(database);
    return database;
}

static void database_free(SimDatabase *database)
{
    if (database == NULL) return;
    cdc_close(database->cdc);
    log_clear(&database->log);
    versions_close(database);
    (void)pthread_mutex_destroy(&database->open_mutex);
    (void)pthread_mutex_destroy(&database->log.mutex);
    for (size_t i = 0; i < database->table_count; i++)
        table_free(database->tables[i]);
    mem_free(database->tables);
    database_free_modules(database);
    map_close(database->tables_by_name);
    map_close(database->tables_by_id);
    (void)pthread_rwlock_destroy(&database->catalog);
    arena_close(database->arena);
    mem_free(database);
}

Str sim_database_name(const SimDatabase *database)
{
    return database->name;
}

int32_t sim_database_id(const SimDatabase *database)
{
    return database->id;
}

const SimCollation *sim_database_collation(const SimDatabase *database)
{
    return atomic_load(&database->collation);
}

void sim_database_set_collation(SimDatabase *database, const SimCollation *collation)
{
    atomic_store(&database->collation, collation == sim_collation_default() ? NULL : collation);
}

bool sim_database_is_system(const SimDatabase *database)
{
    return database->is_system;
}

int64_t sim_database_created_us(const SimDatabase *database)
{
    return database->created_us;
}

static SimDatabase *find_database(SimServer *server, Str name)
{
    for (SimDatabase *database = server->databases; database != NULL; database = database->next)
        if (sim_name_equal(database->name, name)) return database;
    return NULL;
}

SimDatabase *sim_server_find_database(SimServer *server, Str name)
{
    (void)pthread_rwlock_rdlock(&server->lock);
    SimDatabase *database = find_database(server, name);
    (void)pthread_rwlock_unlock(&server->lock);
    return database;
}

bool sim_server_next_database(SimServer *server, size_t *at, SimDatabase **out)
{
    (void)pthread_rwlock_rdlock(&server->lock);
    SimDatabase *database = server->databases;
    for (size_t i = 0; i < *at && database != NULL; i++)
        database = database->next;
    (*at)++;
    (void)pthread_rwlock_unlock(&server->lock);
    *out = database;
    return database != NULL;
}

static SimDatabase *add_database(SimServer *server, Str name, bool is_system)
{
    SimDatabase **end = &server->databases;

    while (*end != NULL)
        end = &(*end)->next;
    *end = database_new(server, name, is_system);
    return *end;
}

bool sim_create_database(SimServer *server, Str name, SimError *error)
{
    if (tds_text_units(name) > LIMIT_IDENTIFIER_UNITS)
        return sim_error(
            error, 103, "The identifier that starts with '%.*s' is too long. Maximum length is %d.",
            STR_ARG(tds_text_cut(name, LIMIT_IDENTIFIER_UNITS)), LIMIT_IDENTIFIER_UNITS);
    (void)pthread_rwlock_wrlock(&server->lock);
    bool exists = find_database(server, name) != NULL;
    if (!exists) (void)add_database(server, name, false);
    (void)pthread_rwlock_unlock(&server->lock);
    return !exists || sim_error(error, 1801,
                                "Database '%.*s' already exists. Choose a different database name.",
                                STR_ARG(name));
}

bool sim_drop_database(SimServer *server, Str name, SimError *error)
{
    (void)pthread_rwlock_wrlock(&server->lock);
    SimDatabase *database = find_database(server, name);
    if (database != NULL && !database->is_system) {
        SimDatabase **at = &server->databases;
        while (*at != database)
            at = &(*at)->next;
        *at = database->next;
    }
    (void)pthread_rwlock_unlock(&server->lock);
    if (database == NULL)
        return sim_error(error, 3701,
                         "Cannot drop the database '%.*s', because it does not exist or you do not "
                         "have permission.",
                         STR_ARG(name));
    if (database->is_system)
        return sim_error(error, 3708,
                         "Cannot drop the database '%.*s' because it is a system database.",
                         STR_ARG(name));
    database_free(database);
    return true;
}

/* --- the server --- */

static SimModelOptions with_defaults(const SimModelOptions *given)
{
    SimModelOptions options = *given;

    if (options.server_version == 0) options.server_version = 2022;
    if (options.capture_interval_ms == 0) options.capture_interval_ms = 5000;
    if (options.idle_entry_ms == 0) options.idle_entry_ms = 305000;
    if (options.retention_minutes == 0) options.retention_minutes = 4320;
    if (str_is_empty(options.time_zone)) options.time_zone = STR("UTC");
    return options;
}

static void set_knobs(SimServer *server)
{
    for (int i = 0; i < SIM_KNOB_COUNT; i++)
        atomic_store(&server->knobs[i], sim_knob_spec((SimKnob)i)->initial);
    if (server->options.command_id_per_statement)
        atomic_store(&server->knobs[SIM_KNOB_COMMAND_ID_PER], 1);
}

static void add_system_databases(SimServer *server)
{
    static const char *const names[] = {"master", "tempdb", "model", "msdb"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        SimDatabase *database = add_database(server, str_from_c(names[i]), true);
        bool         allowed  = i == 0 || i == 3; /* master and msdb come with it */
        atomic_store(&database->snapshot_state, allowed ? SIM_SNAPSHOT_ON : SIM_SNAPSHOT_OFF);
    }
}

static void free_databases(SimServer *server)
{
    for (SimDatabase *database = server->databases, *next; database != NULL; database = next) {
        next = database->next;
        database_free(database);
    }
    server->databases = NULL;
}

bool sim_model_open(const SimModelOptions *options, SimServer **out, SimError *error)
{
    SimModelOptions full = with_defaults(options);
    const SimZone  *zone = sim_zone_find(full.time_zone);

    *out = NULL;
    if (zone == NULL)
        return sim_error(
            error, 9820,
            "The time zone parameter '%.*s' provided to AT TIME ZONE clause is invalid.",
            STR_ARG(full.time_zone));
    SimServer *server         = mem_alloc(sizeof *server);
    server->options           = full;
    server->arena             = arena_new();
    server->next_database_id  = 1;
    server->options.time_zone = sim_zone_name(zone);
    server->options.clock     = virtual_clock_new(full.clock, full.sched);
    atomic_store(&server->rng, full.rng);
    set_knobs(server);
    atomic_store(&server->zone, zone);
    atomic_store(&server->text_repl_set, TEXT_REPL_BYTES);
    sim_server_install_settings(server);
    int failed = pthread_rwlock_init(&server->lock, NULL);
    assert(failed == 0);
    lock_manager_open(&server->locks);
    server->slab = slab_new();
    if (server->options.one_at_a_time) server->turns = turns_new();
    add_system_databases(server);
    *out = server;
    return true;
}

void sim_model_close(SimServer *server)
{
    if (server == NULL) return;
    free_databases(server);
    for (size_t i = 0; i < server->seeded.count; i++)
        rng_close(server->seeded.items[i]);
    clock_close(server->options.clock);
    lock_manager_close(&server->locks);
    slab_close(server->slab);
    turns_free(server->turns);
    (void)pthread_rwlock_destroy(&server->lock);
    arena_close(server->arena);
    mem_free(server);
}

void sim_server_set_owner(SimServer *server, void *owner)
{
    server->owner = owner;
}

void *sim_server_owner(const SimServer *server)
{
    return server->owner;
}

Clock *sim_server_clock(const SimServer *server)
{
    return server->options.clock;
}

Sched *sim_server_sched(const SimServer *server)
{
    return server->options.sched;
}

Turns *sim_server_turns(const SimServer *server)
{
    return server->turns;
}

Rng *sim_server_rng(const SimServer *server)
{
    return atomic_load(&server->rng);
}

/* Another thread may be drawing from the one before, so that stays. */
static void use_seed(SimServer *server, uint64_t seed)
{
    Rng *rng = rng_new(seed);

    *LIST_PUSH(server->arena, &server->seeded) = rng; // NOLINT(bugprone-sizeof-expression)
    atomic_store(&server->rng, rng);
}

void sim_server_seed(SimServer *server, uint64_t seed)
{
    (void)pthread_rwlock_wrlock(&server->lock);
    use_seed(server, seed);
    for (SimDatabase *database = server->databases; database != NULL; database = database->next) {
        (void)pthread_mutex_lock(&database->log.mutex);
        database->log.random = rng_u64(sim_server_rng(server));
        (void)pthread_mutex_unlock(&database->log.mutex);
    }
    (void)pthread_rwlock_unlock(&server->lock);
}

int64_t sim_server_knob(const SimServer *server, SimKnob knob)
{
    return atomic_load_explicit(&server->knobs[knob], memory_order_relaxed);
}

void sim_server_set_knob(SimServer *server, SimKnob knob, int64_t value)
{
    atomic_store(&server->knobs[knob], value);
}

void sim_server_empty(SimServer *server, uint64_t seed)
{
    free_databases(server);
    (void)pthread_rwlock_wrlock(&server->lock);
    use_seed(server, seed);
    server->next_database_id = 1;
    server->logins.count     = 0;
    atomic_store(&server->next_txn_id, 0);
    atomic_store(&server->keeps_key_updates, false);
    set_knobs(server);
    add_system_databases(server);
    (void)pthread_rwlock_unlock(&server->lock);
}

int sim_server_version(const SimServer *server)
{
    return server->options.server_version;
}

const SimZone *sim_server_zone(const SimServer *server)
{
    return atomic_load(&server->zone);
}

bool sim_server_set_zone(SimServer *server, Str windows_name)
{
    const SimZone *zone = sim_zone_find(windows_name);
    if (zone != NULL) atomic_store(&server->zone, zone);
    return zone != NULL;
}

int64_t sim_server_local_us(const SimServer *server)
{
    return sim_zone_local_from_utc(sim_server_zone(server), clock_utc_us(server->options.clock));
}

int64_t sim_server_text_repl_bytes(const SimServer *server, bool as_set)
{
    return atomic_load(as_set ? &server->text_repl_set : &server->text_repl_bytes);
}

void sim_server_set_text_repl_bytes(SimServer *server, int64_t bytes)
{
    atomic_store(&server->text_repl_set, bytes);
}

void sim_server_install_settings(SimServer *server)
{
    atomic_store(&server->text_repl_bytes, atomic_load(&server->text_repl_set));
}

void sim_server_set_trace_flag(SimServer *server, int flag, bool on)
{
    if (flag == 8207) atomic_store(&server->keeps_key_updates, on);
}
