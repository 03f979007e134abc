/* server.c - the server as its sessions see it: opening, the registry of sessions, logins. */
#include "sim/session/front_internal.h"

Front *front_of(SimServer *server)
{
    return sim_server_owner(server);
}

int front_version(const SimSession *session)
{
    return sim_server_version(session->server);
}

Str front_zone(const SimSession *session)
{
    return sim_zone_name(sim_server_zone(session->server));
}

void front_lock(Front *front)
{
    void *token = NULL;

    (void)queue_pop(front->lock, -1, &token);
}

void front_unlock(Front *front)
{
    (void)queue_push(front->lock, front);
}

SimSession *front_first_session(Front *front)
{
    return front->sessions;
}

bool sim_server_open(const SimOptions *options, SimServer **out, SimError *error)
{
    SimModelOptions model = {.clock                    = options->clock,
                             .sched                    = options->sched,
                             .rng                      = options->rng,
                             .log                      = options->log,
                             .server_version           = options->server_version,
                             .time_zone                = options->time_zone,
                             .capture_interval_ms      = options->capture_interval_ms,
                             .idle_entry_ms            = options->idle_entry_ms,
                             .retention_minutes        = options->retention_minutes,
                             .command_id_per_statement = options->command_id_per_statement,
                             .one_at_a_time            = options->one_at_a_time};
    Front          *front = mem_alloc(sizeof *front);

    if (!sim_model_open(&model, out, error)) {
        mem_free(front);
        return false;
    }
    front->server  = *out;
    front->clock   = sim_server_clock(*out);
    front->seed    = options->seed;
    front->chances = rng_new(options->seed);
    front->arena   = arena_new();
    front->lock    = queue_new(options->sched, 1);
    front->next_id = 51;
    (void)queue_push(front->lock, front);
    sim_server_set_owner(*out, front);
    sim_server_set_scan_hook(*out, control_scan_cycle, front);
    sim_control_remember_start(*out);
    front->login    = str_copy(front->arena,
                            str_is_empty(options->login) ? STR("sa") : options->login);
    front->password = str_copy(front->arena, options->password);
    if (sim_create_login(*out, front->login, front->password, true, error)) return true;
    sim_server_close(*out);
    *out = NULL;
    return false;
}

void sim_server_close(SimServer *server)
{
    if (!server) return;
    Front *front = front_of(server);
    atomic_store(&front->is_closing, true);
    control_front_close(front);
    sim_model_close(server);
    queue_close(front->lock);
    queue_free(front->lock);
    arena_close(front->arena);
    rng_close(front->chances);
    mem_free(front);
}

/* --- opening and closing sessions --- */
static void front_add(Front *front, SimSession *session)
{
    front_lock(front);
    session->id                = front->next_id++;
    session->waiter.session_id = session->id;
    SimSession **end           = &front->sessions;
    while (*end)
        end = &(*end)->next;
    *end = session;
    front_unlock(front);
}

static void front_remove(Front *front, SimSession *session)
{
    front_lock(front);
    for (SimSession **at = &front->sessions; *at; at = &(*at)->next)
        if (*at == session) {
            *at = session->next;
            break;
        }
    front_unlock(front);
}

static bool login_database(SimSession *session, const SimLoginRequest *login, SimError *error)
{
    SimError ignored = SIM_ERROR_INIT;
    Str      name    = str_is_empty(login->database) ? STR("master") : login->database;

    if (session_use_database(session, name, &ignored)) return true;
    return sim_error(error, 4060,
                     "Cannot open database \"%.*s\" requested by the login. The login failed.",
                     STR_ARG(name));
}

bool sim_session_open(SimServer *server, const SimLoginRequest *login, SimSession **out,
                      SimError *error)
{
    Front   *front = front_of(server);
    SimLogin found;

    *out = NULL;
    if (!control_login(front, login, error)) return false;
    if (!sim_check_login(server, login->user, login->password, &found)) {
        sim_error(error, 18456, "Login failed for user '%.*s'.", STR_ARG(login->user));
        error->severity = 14;
        error->state    = 1;
        return false;
    }
    SimSession *session       = mem_alloc(sizeof *session);
    session->server           = server;
    session->front            = front;
    session->arena            = arena_new();
    session->login            = (SimLogin){.name        = str_copy(session->arena, found.name),
                                           .is_sysadmin = found.is_sysadmin};
    session->app_name         = str_copy(session->arena, login->app_name);
    session->host_name        = str_copy(session->arena, login->host_name);
    session->login_us         = sim_server_local_us(server);
    session->request_us       = session->login_us;
    session->is_encrypted     = login->is_encrypted;
    session->waiter.wake      = queue_new(sim_server_sched(server), 1);
    session->waiter.turns     = login->is_aside ? NULL : sim_server_turns(server);
    session->waiter.turn      = &session->turn;
    session->prepared         = map_new();
    session->context          = map_new();
    session->next_handle      = 1;
    session->wire             = login->wire;
    session->is_aside         = login->is_aside;
    session->fetch_status     = -1;
    session->read_only_intent = login->read_only_intent;
    session->scope_identity = session->identity = sim_null(sim_type_numeric(38, 0));
    options_default(&session->options, login->odbc);
    Str language = login->language.len > 0 ? login->language : found.language;
    if (language.len > 0) session_set_language(&session->options, language);
    session->login_options = session->options;
    session_use_options(session);
    front_add(front, session);
    if (!login_database(session, login, error)) {
        sim_session_close(session);
        return false;
    }
    session->login_database = session->database;
    frame_push(session, false); /* temp tables of the session itself */
    *out = session;
    return true;
}

void session_drop_prepared(SimSession *session)
{
    size_t at = 0;
    Str    key;
    void  *value = NULL;

    while (map_next(session->prepared, &at, &key, &value))
        arena_close(((Prepared *)value)->arena);
    map_close(session->prepared);
    session->prepared = map_new();
}

void sim_session_close(SimSession *session)
{
    if (!session) return;
    session->sink = NULL;
    session_abandon(session);
    atomic_store(&session->waiter.attention, false);
    atomic_store(&session->waiter.killed, false);
    session_drop_temps(session, NULL);
    while (session->frame)
        frame_pop(session);
    cursors_free(&session->sql_cursors);
    front_remove(session->front, session);
    session_forget_bulk(session);
    session_drop_cursors(session);
    session_drop_prepared(session);
    map_close(session->prepared);
    map_close(session->context);
    queue_close(session->waiter.wake);
    queue_free(session->waiter.wake);
    arena_close(session->arena);
    mem_free(session);
}

int32_t sim_session_id(const SimSession *session)
{
    return session->id;
}

Str sim_session_login(const SimSession *session)
{
    return session->login.name;
}

Str sim_session_app(const SimSession *session)
{
    return session->app_name;
}

static bool same_settings(const SessionOptions *left, const SessionOptions *right)
{
    return left->isolation == right->isolation && left->nocount == right->nocount &&
           left->xact_abort == right->xact_abort &&
           left->implicit_transactions == right->implicit_transactions &&
           left->quoted_identifier == right->quoted_identifier &&
           left->ansi_nulls == right->ansi_nulls && left->ansi_padding == right->ansi_padding &&
           left->ansi_warnings == right->ansi_warnings && left->arithabort == right->arithabort &&
           left->concat_null_yields_null == right->concat_null_yields_null &&
           left->row_limit == right->row_limit && left->lock_timeout_ms == right->lock_timeout_ms &&
           left->deadlock_priority == right->deadlock_priority &&
           left->text_size == right->text_size && left->date_first == right->date_first &&
           str_equal_c(str_from_c(left->date_format), right->date_format) &&
           str_equal_c(str_from_c(left->language), right->language);
}

bool sim_session_is_recoverable(const SimSession *session)
{
    size_t at    = 0;
    Str    key   = STR_EMPTY;
    void  *value = NULL;

    return session->tran_count == 0 && session->temp_tables.count == 0 &&
           !map_next(session->prepared, &at, &key, &value) &&
           same_settings(&session->options, &session->login_options);
}

bool sim_session_is_killed(const SimSession *session)
{
    return atomic_load(&session->waiter.killed);
}

Str sim_session_language(const SimSession *session)
{
    return str_from_c(session->options.language);
}

Str sim_session_database(const SimSession *session)
{
    return sim_database_name(session->database);
}

bool sim_session_breaks_off(const SimSession *session)
{
    return session->close_wanted;
}

uint64_t sim_session_transaction(const SimSession *session)
{
    return session->tran_count > 0 ? session->descriptor : 0;
}

int64_t sim_session_text_size(const SimSession *session)
{
    return session->options.text_size;
}

bool sim_session_rest(SimSession *session)
{
    return turn_rest(session->waiter.turns, session->waiter.turn);
}

void sim_session_resume(SimSession *session)
{
    turn_take(session->waiter.turns, session->waiter.turn);
}

void sim_session_attention(SimSession *session)
{
    atomic_store(&session->waiter.attention, true);
    sim_waiter_wake(&session->waiter);
}

void sim_session_hang_up(SimSession *session)
{
    atomic_store(&session->is_gone, true);
    sim_session_attention(session);
}

void sim_session_clear_attention(SimSession *session)
{
    atomic_store(&session->waiter.attention, false);
}

void sim_session_on_kill(SimSession *session, void (*notify)(void *arg), void *arg)
{
    front_lock(session->front);
    session->on_kill     = notify;
    session->on_kill_arg = arg;
    front_unlock(session->front);
}

void session_stats_begin(SimSession *session)
{
    SessionStats *stats = &session->statement_stats;

    session->io_is_aside = false;
    atomic_store(&stats->rows_examined, 0);
    atomic_store(&stats->rows_returned, 0);
    atomic_store(&stats->seeks, 0);
    atomic_store(&stats->scans, 0);
    atomic_store(&stats->bytes_sent, 0);
    atomic_store(&stats->blocked_ns, 0);
    atomic_store(&stats->statements, 1);
    atomic_store(&stats->lock_waits, atomic_load(&session->waiter.lock_waits));
}

SimStats sim_session_stats(const SimSession *session, bool last_statement_only)
{
    const SessionStats *from  = last_statement_only ? &session->statement_stats : &session->stats;
    SimStats            stats = {.rows_examined = atomic_load(&from->rows_examined),
                                 .rows_returned = atomic_load(&from->rows_returned),
                                 .seeks         = atomic_load(&from->seeks),
                                 .scans         = atomic_load(&from->scans),
                                 .bytes_sent    = atomic_load(&from->bytes_sent),
                                 .blocked_ns    = atomic_load(&from->blocked_ns),
                                 .statements    = atomic_load(&from->statements)};

    stats.lock_waits = atomic_load(&session->waiter.lock_waits) - atomic_load(&from->lock_waits);
    return stats;
}

void sim_session_add_io(SimSession *session, int64_t bytes_sent, int64_t blocked_ns)
{
    stat_add(&session->stats.bytes_sent, bytes_sent);
    stat_add(&session->stats.blocked_ns, blocked_ns);
    if (session->io_is_aside) return;
    stat_add(&session->statement_stats.bytes_sent, bytes_sent);
    stat_add(&session->statement_stats.blocked_ns, blocked_ns);
}
