/* odbc_watch.c - a server that takes a statement and never answers.
 *
 * The network is alive then, so keepalive sees nothing, and the drivers' own limits end in a cancel
 * that waits for the same server (measured: two minutes with Microsoft's). So a thread looks at
 * what waits, twice a second, and cuts off what has waited for too long without a single byte, and
 * what a stop came too early for. */
#include "sqlconn/odbc_internal.h"

#define LOOK_EVERY_MS 500

static void look_at(OdbcConn *conn)
{
    int64_t silence_ms = 0;
    bool    is_over    = false;
    bool    is_login; /* where there was no socket yet when the stop came, there may be one now */

    pthread_mutex_lock(&conn->lock);
    int64_t limit_ns = conn->silence_ns_max;
    if (limit_ns > 0 && conn->running &&
        clock_monotonic_ns(conn->driver->clock) - conn->running_since_ns > limit_ns)
        is_over = odbc_socket_silence_ms(&conn->socket, &silence_ms) &&
                  silence_ms * 1000000 > limit_ns;
    if (is_over) atomic_store(&conn->is_silent, true);
    is_login = conn->is_blocked && !conn->running;
    pthread_mutex_unlock(&conn->lock);
    if (is_over) odbc_conn_cut(conn);
    if (is_login && conn->driver->cancel && cancel_is_requested(conn->driver->cancel))
        odbc_conn_stop(conn);
}

static void *watch(void *arg)
{
    OdbcDriver *driver = arg;

    while (!cancel_is_requested(driver->watch_stop)) {
        pthread_mutex_lock(&driver->lock);
        for (OdbcConn *conn = driver->conns; conn; conn = conn->next)
            look_at(conn);
        pthread_mutex_unlock(&driver->lock);
        clock_sleep_ms(driver->clock, LOOK_EVERY_MS, driver->watch_stop);
    }
    return NULL;
}

bool odbc_watch_start(OdbcDriver *driver, Err *err)
{
    int result;

    driver->clock      = clock_new_real();
    driver->watch_stop = cancel_new();
    result             = pthread_create(&driver->watch, NULL, watch, driver);
    driver->is_watched = result == 0;
    return driver->is_watched ||
           err_set_errno(err, ERR_INTERNAL, result,
                         "cannot start the thread that watches over connections");
}

void odbc_watch_stop(OdbcDriver *driver)
{
    cancel_request(driver->watch_stop);
    if (driver->is_watched) (void)pthread_join(driver->watch, NULL);
    cancel_close(driver->watch_stop);
    clock_close(driver->clock);
}
