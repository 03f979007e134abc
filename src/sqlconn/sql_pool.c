/* sql_pool.c - connections that have nothing to do, kept for the next who needs one.
 *
 * Only a clean connection is kept: every statement on it was read to its end and none failed, so
 * nothing is pending and, with autocommit, no transaction is open. */
#include "sqlconn/sqlconn_internal.h"

#include <assert.h>
#include <pthread.h>

typedef struct KeptConn {
    SqlConn *conn;
    Str      connection;
    Arena   *arena; /* holds the string */
    int64_t  since_ns;
} KeptConn;

struct SqlPool {
    Clock          *clock;
    int64_t         idle_ns_max;
    pthread_mutex_t lock; /* guards what follows; held for no call that may wait */
    KeptConn        kept[SQL_POOL_CONNECTIONS_MAX]; /* the longest idle first */
    size_t          count;
};

void sqldriver_keep_connections(SqlDriver *driver, Clock *clock, int64_t idle_ms_max)
{
    SqlPool *pool = mem_alloc(sizeof(*pool));

    assert(!driver->pool);
    *pool = (SqlPool){.clock = clock, .idle_ns_max = idle_ms_max * 1000000};
    pthread_mutex_init(&pool->lock, NULL);
    driver->pool = pool;
}

static KeptConn take_at(SqlPool *pool, size_t index)
{
    KeptConn taken = pool->kept[index];

    pool->count--;
    for (size_t i = index; i < pool->count; i++)
        pool->kept[i] = pool->kept[i + 1];
    return taken;
}

static void discard(KeptConn kept)
{
    sqlconn_close(kept.conn);
    arena_close(kept.arena);
}

/* One that has been idle for too long, or (with a string) any whose string begins with it. */
static bool take_old(SqlPool *pool, Str connection, KeptConn *out)
{
    int64_t now_ns = clock_monotonic_ns(pool->clock);
    bool    found  = false;

    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->count && !found; i++) {
        found = now_ns - pool->kept[i].since_ns > pool->idle_ns_max ||
                (connection.ptr && str_starts_with(pool->kept[i].connection, connection));
        if (found) *out = take_at(pool, i);
    }
    pthread_mutex_unlock(&pool->lock);
    return found;
}

static void close_old(SqlPool *pool, Str connection)
{
    KeptConn old;

    while (take_old(pool, connection, &old))
        discard(old);
}

void sqldriver_close_idle(SqlDriver *driver)
{
    if (driver->pool) close_old(driver->pool, (Str){NULL, 0});
}

void sqldriver_close_kept(SqlDriver *driver, Str connection)
{
    if (driver->pool) close_old(driver->pool, connection);
}

SqlConn *sqldriver_take_kept(SqlDriver *driver, Str connection)
{
    SqlPool *pool  = driver->pool;
    KeptConn taken = {NULL, STR_EMPTY, NULL, 0};

    if (!pool) return NULL;
    close_old(pool, (Str){NULL, 0});
    pthread_mutex_lock(&pool->lock);
    for (size_t i = pool->count; i > 0 && !taken.conn; i--) /* the one that was used last */
        if (str_equal(pool->kept[i - 1].connection, connection)) taken = take_at(pool, i - 1);
    pthread_mutex_unlock(&pool->lock);
    if (!taken.conn) return NULL;
    arena_close(taken.arena);
    taken.conn->is_reused = true;
    return taken.conn;
}

static bool put(SqlPool *pool, KeptConn kept)
{
    bool has_room;

    pthread_mutex_lock(&pool->lock);
    has_room = pool->count < SQL_POOL_CONNECTIONS_MAX;
    if (has_room) pool->kept[pool->count++] = kept;
    pthread_mutex_unlock(&pool->lock);
    return has_room;
}

void sqldriver_give_back(SqlDriver *driver, Str connection, SqlConn *conn)
{
    SqlPool *pool = driver->pool;

    if (!conn) return;
    if (!pool || conn->has_failed || conn->open_results > 0 || sqlconn_is_dead(conn)) {
        sqlconn_close(conn);
        return;
    }
    Arena   *arena = arena_new();
    KeptConn kept  = {conn, str_copy(arena, connection), arena, clock_monotonic_ns(pool->clock)};
    if (!put(pool, kept)) discard(kept);
}

void sql_pool_close(SqlPool *pool)
{
    if (!pool) return;
    while (pool->count > 0)
        discard(take_at(pool, 0));
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool);
}
