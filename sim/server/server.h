/* server.h - tidesim on a socket: TDS 7.1 to 7.4 in front of sessions (sqlserver.md 2.2 to 2.7). */
#ifndef TIDESIM_SERVER_H
#define TIDESIM_SERVER_H

#include "base/err.h"
#include "sim/sim.h"

typedef struct SimListener SimListener;
struct SimTls;
typedef struct SimListenOptions {
    Str  address; /* "127.0.0.1:14330"; port 0 picks a free one */
    Log *log;     /* may be NULL */
    /* What clients that ask for encryption get (tls.h); NULL: none. It outlives the listener. */
    const struct SimTls *tls;
    bool                 requires_encryption; /* of everybody */
} SimListenOptions;

/* Accepts connections on threads of its own until closed: one for each connection and one that accepts and
 * sees attentions. Sockets live in real time, whatever the server's clock says. ERR_USAGE: an address that is none;
 * ERR_FAILED: it cannot be had. */
bool sim_listener_open(SimServer *server, const SimListenOptions *options, SimListener **out,
                       Err *err) MUST_CHECK;
Str  sim_listener_address(const SimListener *listener); /* "127.0.0.1:40123" */
void sim_listener_close(SimListener *listener);         /* drops every connection; accepts NULL */

#endif
