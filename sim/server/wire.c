/* wire.c - what faults do to a connection: sends what there is, breaks it off, or counts what leaves
 * (sqlserver.md 2.17). */
#define _GNU_SOURCE
#include "sim/server/server_internal.h"

#include <poll.h>
#include <sys/socket.h>

#define LOOK_MS 50 /* how often a silent connection looks whether it is over */

static Connection *of(SimWire *wire)
{
    return (Connection *)((char *)wire - offsetof(Connection, wire));
}

static void wire_flush(SimWire *wire, size_t keep_bytes)
{
    Err ignored = ERR_INIT; /* the session finds out when it sends */

    (void)!tds_writer_flush(of(wire)->writer, keep_bytes, &ignored);
}

/* Until the client closes its end, the listener stops, or the session is dropped or killed: each shuts the socket down. */
static void be_silent(Connection *connection)
{
    struct pollfd socket  = {.fd = connection->socket.socket, .events = POLLRDHUP};
    bool          is_over = false;

    while (!is_over) {
        if (poll(&socket, 1, LOOK_MS) > 0) return;
        pthread_mutex_lock(&connection->lock);
        is_over = connection->saw_end;
        pthread_mutex_unlock(&connection->lock);
        is_over = is_over || (connection->session && sim_session_is_killed(connection->session));
    }
}

static void wire_cut(SimWire *wire, SimCut how)
{
    Connection   *connection = of(wire);
    struct linger abort      = {.l_onoff = 1, .l_linger = 0};

    if (connection->is_cut) return;
    connection->is_cut = true;
    switch (how) {
    case SIM_CUT_CLOSE: break;
    case SIM_CUT_RESET: /* closing sends it; a shutdown would be a FIN */
        connection->resets = true;
        (void)setsockopt(connection->socket.socket, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
        break;
    case SIM_CUT_SILENCE: be_silent(connection); break;
    }
}

static void wire_drop(SimWire *wire)
{
    connection_stop(of(wire));
}

/* --- counting what leaves --- */

/* How many of these bytes, which begin with a packet, lie before the place; all of them: it comes later. */
static size_t bytes_before(WatchTransport *watch, const uint8_t *bytes, size_t len)
{
    size_t at = 0;

    if (!watch->counts_packets) {
        at = (size_t)MIN(watch->left, (int64_t)len);
        watch->left -= (int64_t)at;
        return at;
    }
    while (at < len && watch->left > 0) {
        at += (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        watch->left--;
    }
    return at;
}

static bool watched_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    WatchTransport *watch      = (WatchTransport *)base;
    Connection     *connection = watch->connection;
    size_t          before     = watch->left > 0 ? bytes_before(watch, bytes, len) : len;
    bool            is_there   = watch->left == 0 && watch->is_armed;

    if (before > 0 && !connection->transport->write(connection->transport, bytes, before, err))
        return false;
    if (is_there) {
        watch->is_armed = false;
        if (!sim_session_watched(connection->session) || connection->is_cut)
            return err_set(err, ERR_SOURCE, "a fault broke the connection off");
    }
    return before == len ||
           connection->transport->write(connection->transport, bytes + before, len - before, err);
}

static void wire_watch(SimWire *wire, bool counts_packets, int64_t n)
{
    Connection *connection = of(wire);

    wire_flush(wire, 0); /* what came before the statement does not count */
    connection->watched = (WatchTransport){.transport      = {.write = watched_write},
                                           .connection     = connection,
                                           .counts_packets = counts_packets,
                                           .left           = n,
                                           .is_armed       = true};
    tds_writer_set_transport(connection->writer, &connection->watched.transport);
}

void connection_end_watch(Connection *connection)
{
    connection->watched.is_armed = false;
    tds_writer_set_transport(connection->writer, connection->transport);
}

void connection_wire_init(Connection *connection)
{
    connection->wire = (SimWire){
        .flush = wire_flush, .cut = wire_cut, .watch = wire_watch, .drop = wire_drop};
}
