/* odbc_watch.c - a server that takes a statement and never answers.
 *
 * The network is alive then, so keepalive sees nothing, and the drivers' own limits end in a cancel
 * that waits for the same server (measured: two minutes with Microsoft's). So a thread looks at
 * what waits, twice a second, and cuts off what has waited for too long without a single byte. */
#include "sqlconn/odbc_internal.h"

#include <time.h>

#define LOOK_EVERY_NS 500000000

int64_t odbc_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void look_at(OdbcConn *conn)
{
    int64_t silence_ms = 0;
    bool    is_over    = false;

    pthread_mutex_lock(&conn->lock);
    int64_t limit_ns = conn->silence_ns_max;
    if (limit_ns > 0 && conn->running && odbc_now_ns() - conn->running_since_ns > limit_ns)
        is_over = odbc_socket_silence_ms(&conn->socket, &silence_ms) &&
                  silence_ms * 1000000 > limit_ns;
    if (is_over) atomic_store(&conn->is_silent, true);
    pthread_mutex_unlock(&conn->lock);
    if (is_over) odbc_conn_cut(conn);
}

static void *watch(void *arg)
{
    OdbcDriver *driver = arg;

    pthread_mutex_lock(&driver->lock);
    while (!driver->watch_ends) {
        struct timespec until;

        for (OdbcConn *conn = driver->conns; conn; conn = conn->next)
            look_at(conn);
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_EVERY_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        (void)pthread_cond_timedwait(&driver->watch_wakes, &driver->lock, &until);
    }
    pthread_mutex_unlock(&driver->lock);
    return NULL;
}

void odbc_watch_start(OdbcDriver *driver)
{
    pthread_cond_init(&driver->watch_wakes, NULL);
    driver->watch_ends = pthread_create(&driver->watch, NULL, watch, driver) != 0;
}

void odbc_watch_stop(OdbcDriver *driver)
{
    bool was_there;

    pthread_mutex_lock(&driver->lock);
    was_there          = !driver->watch_ends;
    driver->watch_ends = true;
    pthread_cond_signal(&driver->watch_wakes);
    pthread_mutex_unlock(&driver->lock);
    if (was_there) (void)pthread_join(driver->watch, NULL);
    pthread_cond_destroy(&driver->watch_wakes);
}
