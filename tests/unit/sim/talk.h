/* talk.h - several sessions of one server, each of which may run a batch on a thread of its own.
 * Answers are short: rows apart by ';', values by '|', errors as "!number". Header-only; include it
 * after test_support.h. */
#ifndef TIDESIM_TESTS_TALK_H
#define TIDESIM_TESTS_TALK_H

#include "base/buf.h"
#include "sim/sim.h"

typedef struct Talks { /* a server and the session that looks at the others */
    Arena       *arena;
    Clock       *clock;
    Sched       *sched;
    Rng         *rng;
    bool         one_at_a_time;
    SimServer   *server;
    struct Talk *watcher;
} Talks;

typedef struct Talk {
    SimSink     sink; /* first: callbacks find the talk by it */
    Talks      *talks;
    SimSession *session;
    Arena      *arena; /* of the answer */
    Buf         out;
    Str         sql;
    Task       *task;
    bool        is_closed;
    atomic_bool is_done;
} Talk;

UNUSED static bool talk_on_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    (void)sink, (void)columns, (void)count;
    return true;
}

UNUSED static bool talk_on_row(SimSink *sink, const SimValue *values, size_t count)
{
    Talk   *talk = (Talk *)sink;
    SimType text = sim_type_sized(SIM_NVARCHAR, -1);

    if (talk->out.len > 0) buf_append_char(&talk->out, ';');
    for (size_t i = 0; i < count; i++) {
        SimValue value;
        SimError error = SIM_ERROR_INIT;
        if (i > 0) buf_append_char(&talk->out, '|');
        if (values[i].is_null)
            buf_append_c(&talk->out, "NULL");
        else if (sim_type_is_binary(values[i].type.kind))
            buf_append(&talk->out, hex_encode(talk->arena, values[i].bytes, true));
        else if (sim_convert(&values[i], &text, 0, false, talk->arena, &value, &error))
            buf_append(&talk->out, sim_value_text(talk->arena, &value));
    }
    return true;
}

UNUSED static bool talk_on_message(SimSink *sink, const SimError *message)
{
    Talk *talk = (Talk *)sink;

    if (message->severity <= 10) return true;
    if (talk->out.len > 0) buf_append_char(&talk->out, ';');
    buf_printf(&talk->out, "!%d", message->number);
    return true;
}

UNUSED static bool talk_on_done(SimSink *sink, const SimDone *done)
{
    (void)sink, (void)done;
    return true;
}

UNUSED static bool talk_on_env(SimSink *sink, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    (void)sink, (void)kind, (void)new_value, (void)old_value;
    return true;
}

UNUSED static bool talk_on_status(SimSink *sink, int32_t status)
{
    (void)sink, (void)status;
    return true;
}

UNUSED static bool talk_on_value(SimSink *sink, Str name, const SimValue *value)
{
    (void)sink, (void)name, (void)value;
    return true;
}

UNUSED static Talk *talk_login(Talks *talks, const char *database, bool read_only_intent)
{
    Talk           *talk  = ARENA_NEW(talks->arena, Talk);
    SimError        error = SIM_ERROR_INIT;
    SimLoginRequest login = {.user             = STR("sa"),
                             .password         = STR("secret"),
                             .database         = str_from_c(database),
                             .odbc             = true,
                             .read_only_intent = read_only_intent};

    talk->sink  = (SimSink){.columns       = talk_on_columns,
                            .row           = talk_on_row,
                            .message       = talk_on_message,
                            .done          = talk_on_done,
                            .env_change    = talk_on_env,
                            .return_status = talk_on_status,
                            .return_value  = talk_on_value};
    talk->talks = talks;
    talk->arena = arena_new();
    talk->out   = buf_new(talk->arena, 0);
    if (!sim_session_open(talks->server, &login, &talk->session, &error))
        fail_msg("no session: %s", error.message);
    return talk;
}

UNUSED static Talk *talk_open(Talks *talks)
{
    return talk_login(talks, "shop", false);
}

UNUSED static void talk_close(Talk *talk)
{
    sim_session_close(talk->session);
    arena_close(talk->arena);
}

/* --- one batch --- */
UNUSED static Str talk_run(Talk *talk, Str sql)
{
    arena_reset(talk->arena);
    talk->out = buf_new(talk->arena, 0);
    if (!sim_session_batch(talk->session, sql, &talk->sink)) talk->is_closed = true;
    return buf_str(&talk->out);
}

#define assert_says(talk, sql, want) assert_str_is(talk_run((talk), STR(sql)), (want))
#define do_run(talk, sql)            assert_str_is(talk_run((talk), STR(sql)), "")

UNUSED static void talk_body(void *arg)
{
    Talk *talk = arg;

    (void)talk_run(talk, talk->sql);
    atomic_store(&talk->is_done, true);
}

UNUSED static void talk_start(Talk *talk, Str sql)
{
    talk->sql = sql;
    atomic_store(&talk->is_done, false);
    talk->task = sched_spawn(talk->talks->sched, "talk", talk_body, talk);
}

UNUSED static Str talk_finish(Talk *talk)
{
    sched_join(talk->talks->sched, talk->task);
    talk->task = NULL;
    return buf_str(&talk->out);
}

#define assert_finishes(talk, want) assert_str_is(talk_finish(talk), (want))

/* Waits, 20 s at most, until sys.dm_exec_requests shows the session in a wait of that type. */
UNUSED static void talk_await(Talk *talk, const char *wait_type, const Talk *blocker)
{
    Talks *talks = talk->talks;
    Str    got   = STR_EMPTY;
    char   sql[200], want[200];

    (void)snprintf(sql, sizeof sql,
                   "SELECT status, wait_type, blocking_session_id FROM sys.dm_exec_requests WHERE "
                   "session_id = %d",
                   (int)sim_session_id(talk->session));
    (void)snprintf(want, sizeof want, "suspended|%s|%d", wait_type,
                   blocker != NULL ? (int)sim_session_id(blocker->session) : 0);
    for (int i = 0; i < 4000; i++) {
        got = talk_run(talks->watcher, str_from_c(sql));
        if (str_equal_c(got, want)) return;
        clock_sleep_ms(talks->clock, 5, NULL);
    }
    fail_msg("want %s, got %.*s; it said %s", want, STR_ARG(got),
             atomic_load(&talk->is_done) ? talk->out.ptr : "nothing yet");
}

static inline Talks *talks_start(Talks *talks)
{
    SimError   error   = SIM_ERROR_INIT;
    SimOptions options = {.clock               = talks->clock,
                          .sched               = talks->sched,
                          .rng                 = talks->rng,
                          .capture_interval_ms = -1,
                          .one_at_a_time       = talks->one_at_a_time,
                          .login               = STR("sa"),
                          .password            = STR("secret")};

    if (!sim_server_open(&options, &talks->server, &error)) fail_msg("%s", error.message);
    talks->watcher = talk_login(talks, "master", false);
    do_run(talks->watcher, "CREATE DATABASE shop");
    return talks;
}

static inline Talks *talks_on_threads(bool one_at_a_time)
{
    Arena *arena = arena_new();
    Talks *talks = ARENA_NEW(arena, Talks);

    talks->arena         = arena;
    talks->clock         = clock_new_real();
    talks->sched         = sched_new_real();
    talks->rng           = rng_new(11);
    talks->one_at_a_time = one_at_a_time;
    return talks_start(talks);
}

/* A server with the empty database shop; on threads, on threads that go one at a time, or on a scheduler that the seed
 * drives. */
UNUSED static Talks *talks_open(void)
{
    return talks_on_threads(false);
}

UNUSED static Talks *talks_open_one_at_a_time(void)
{
    return talks_on_threads(true);
}

UNUSED static Talks *talks_open_simulated(uint64_t seed)
{
    Arena *arena = arena_new();
    Talks *talks = ARENA_NEW(arena, Talks);

    talks->arena = arena;
    talks->sched = sched_new_simulated(seed, INT64_C(1767225600000000), &talks->clock);
    talks->rng   = rng_new(seed);
    return talks_start(talks);
}

UNUSED static void talks_close(Talks *talks)
{
    bool simulated = sched_is_simulated(talks->sched); /* the clock is its own then */

    talk_close(talks->watcher);
    sim_server_close(talks->server);
    rng_close(talks->rng);
    if (!simulated) clock_close(talks->clock);
    sched_close(talks->sched);
    arena_close(talks->arena);
}

/* Two who talk about one table, which the first has made. */
typedef struct Pair {
    Talks *talks;
    Talk  *one, *two;
} Pair;

UNUSED static Pair pair_open(const char *table, const char *options)
{
    Pair pair = {.talks = talks_open()};

    pair.one = talk_open(pair.talks);
    assert_str_is(talk_run(pair.one, str_from_c(table)), "");
    if (options[0] != '\0') assert_str_is(talk_run(pair.one, str_from_c(options)), "");
    pair.two = talk_open(pair.talks);
    return pair;
}

UNUSED static void pair_close(Pair *pair)
{
    talk_close(pair->one);
    talk_close(pair->two);
    talks_close(pair->talks);
}

#endif
