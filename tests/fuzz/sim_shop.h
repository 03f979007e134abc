/* sim_shop.h - a small tidesim for fuzz targets: one database with a bit of everything, and somebody who stops what does not
 * end by itself. */
#ifndef TIDESIM_FUZZ_SHOP_H
#define TIDESIM_FUZZ_SHOP_H

#include "base/arena.h"
#include "sim/sim.h"

#include <assert.h>
#include <pthread.h>
#include <time.h>

#define SHOP_ITEMS_MOST 20000 /* of an answer; then the client has had enough */
#define SHOP_STEP_NS    500000000

typedef struct Shop {
    Clock          *clock;
    Sched          *sched;
    Rng            *rng;
    SimServer      *server;
    SimSession     *sessions[2];
    SimSink         sink; /* of these sessions */
    size_t          columns, items;
    pthread_t       watcher;
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    SimSession     *running; /* under `lock` */
    bool            is_over; /* under `lock` */
} Shop;

/* --- answers: whatever was asked, they have the form that clients rely on --- */

#define SHOP_OF(sink_) ((Shop *)((char *)(sink_)-offsetof(Shop, sink)))

UNUSED static bool shop_goes_on(SimSink *sink)
{
    return ++SHOP_OF(sink)->items < SHOP_ITEMS_MOST;
}

UNUSED static bool shop_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    assert(count > 0);
    for (size_t i = 0; i < count; i++)
        assert(utf8_is_valid(columns[i].name));
    SHOP_OF(sink)->columns = count;
    return shop_goes_on(sink);
}

UNUSED static bool shop_row(SimSink *sink, const SimValue *values, size_t count)
{
    assert(count == SHOP_OF(sink)->columns);
    assert(values);
    return shop_goes_on(sink);
}

UNUSED static bool shop_message(SimSink *sink, const SimError *message)
{
    assert(message->number >= 0);
    assert(message->severity >= 0 && message->severity <= 25);
    assert(message->state >= 0 && message->state <= 255);
    assert(message->line >= 0);
    return shop_goes_on(sink);
}

UNUSED static bool shop_done(SimSink *sink, const SimDone *done)
{
    assert(done->row_count >= 0);
    return shop_goes_on(sink);
}

UNUSED static bool shop_env_change(SimSink *sink, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    (void)kind;
    (void)new_value;
    (void)old_value;
    return shop_goes_on(sink);
}

UNUSED static bool shop_status(SimSink *sink, int32_t status)
{
    (void)status;
    return shop_goes_on(sink);
}

UNUSED static bool shop_value(SimSink *sink, Str name, const SimValue *value)
{
    assert(value);
    assert(utf8_is_valid(name));
    return shop_goes_on(sink);
}

/* --- who stops what runs too long --- */

UNUSED static void *shop_watch(void *arg)
{
    Shop *shop = arg;

    pthread_mutex_lock(&shop->lock);
    while (!shop->is_over) {
        SimSession     *running = shop->running;
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME,
                            &until); /* layers: a bound on a test, not its subject */
        until.tv_nsec += SHOP_STEP_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (!running)
            (void)pthread_cond_wait(&shop->changed, &shop->lock);
        else if (pthread_cond_timedwait(&shop->changed, &shop->lock, &until) != 0 &&
                 shop->running == running)
            sim_session_attention(running);
    }
    pthread_mutex_unlock(&shop->lock);
    return NULL;
}

UNUSED static void shop_say(Shop *shop, SimSession *running, bool is_over)
{
    pthread_mutex_lock(&shop->lock);
    shop->running = running;
    shop->is_over = is_over;
    pthread_cond_signal(&shop->changed);
    pthread_mutex_unlock(&shop->lock);
}

/* --- the whole --- */

/* False: the session is over. */
UNUSED static bool shop_batch(Shop *shop, SimSession *session, Str sql)
{
    bool goes_on;

    shop->items = shop->columns = 0;
    shop_say(shop, session, false);
    goes_on = sim_session_batch(session, sql, &shop->sink);
    shop_say(shop, NULL, false);
    sim_session_clear_attention(session);
    return goes_on;
}

UNUSED static SimSession *shop_session(Shop *shop)
{
    SimLoginRequest login   = {.user      = STR("sa"),
                               .password  = STR("secret"),
                               .database  = STR("shop"),
                               .app_name  = STR("fuzz"),
                               .host_name = STR("test"),
                               .odbc      = true};
    SimSession     *session = NULL;
    SimError        error   = SIM_ERROR_INIT;
    bool            ok      = sim_session_open(shop->server, &login, &session, &error) &&
              shop_batch(shop, session, STR("SET LOCK_TIMEOUT 0"));

    assert(ok);
    return session;
}

UNUSED static const char *const shop_schema[] = {
    "CREATE TABLE t(id int NOT NULL PRIMARY KEY, a int, b nvarchar(20), c decimal(9,2), d "
    "datetime2, e varbinary(max));"
    "CREATE TABLE u(id int IDENTITY(1,1) NOT NULL, t int REFERENCES t(id), v bigint NOT NULL "
    "DEFAULT 7,"
    " CONSTRAINT pk_u PRIMARY KEY (id)); CREATE INDEX ix_u ON u(v) INCLUDE (t);"
    "INSERT t VALUES (1, 10, N'one', 1.5, '2026-01-02', 0x01), (2, NULL, NULL, NULL, NULL, NULL), "
    "(3, 30, N'three', -3.25,"
    " '2026-03-04', 0x0203); INSERT u(t, v) VALUES (1, 5), (1, 6), (3, 5)",
    "CREATE VIEW w AS SELECT t.id, t.a, u.v FROM t JOIN u ON u.t = t.id",
    "CREATE PROCEDURE p @x int, @y nvarchar(10) = N'z', @z int OUTPUT AS BEGIN SELECT @z = "
    "COUNT(*) FROM t WHERE id > @x; SELECT"
    " @y AS y; RETURN 3 END",
    "EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table N'dbo', N't', NULL",
    "UPDATE t SET a = 11 WHERE id = 1; DELETE t WHERE id = 2; EXEC tidesim.capture"};

UNUSED static void shop_open(Shop *shop)
{
    SimOptions options = {
        .capture_interval_ms = -1, .login = STR("sa"), .password = STR("secret"), .seed = 7};
    SimError error = SIM_ERROR_INIT;
    bool     ok;

    *shop         = (Shop){.sink = {.columns       = shop_columns,
                                    .row           = shop_row,
                                    .message       = shop_message,
                                    .done          = shop_done,
                                    .env_change    = shop_env_change,
                                    .return_status = shop_status,
                                    .return_value  = shop_value}};
    options.clock = shop->clock = clock_new_real();
    options.sched = shop->sched = sched_new_real();
    options.rng = shop->rng = rng_new(7);
    pthread_mutex_init(&shop->lock, NULL);
    pthread_cond_init(&shop->changed, NULL);
    ok = pthread_create(&shop->watcher, NULL, shop_watch, shop) == 0;
    assert(ok);
    ok = sim_server_open(&options, &shop->server, &error);
    assert(ok);
    ok = sim_create_database(shop->server, STR("shop"), &error);
    assert(ok);
    for (size_t i = 0; i < COUNT_OF(shop->sessions); i++)
        shop->sessions[i] = shop_session(shop);
    for (size_t i = 0; i < COUNT_OF(shop_schema); i++) {
        ok = shop_batch(shop, shop->sessions[0], str_from_c(shop_schema[i]));
        assert(ok);
    }
}

UNUSED static void shop_close(Shop *shop)
{
    for (size_t i = 0; i < COUNT_OF(shop->sessions); i++)
        sim_session_close(shop->sessions[i]);
    shop_say(shop, NULL, true);
    pthread_join(shop->watcher, NULL);
    sim_server_close(shop->server);
    pthread_cond_destroy(&shop->changed);
    pthread_mutex_destroy(&shop->lock);
    rng_close(shop->rng);
    sched_close(shop->sched);
    clock_close(shop->clock);
}

#endif
