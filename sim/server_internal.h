/* server_internal.h - one TDS connection: its socket, its writer, its session. */
#ifndef TIDESIM_SERVER_INTERNAL_H
#define TIDESIM_SERVER_INTERNAL_H

#include "sim/server.h"
#include "tds/tds_login.h"
#include "tds/tds_request.h"
#include "tds/tds_token.h"

#include <stdatomic.h>

/* A socket as a TdsTransport, shaped by the listener's options. A transport with TLS would wrap it. */
typedef struct SocketTransport {
    TdsTransport transport; /* first */
    int          socket;
    Clock       *clock;
    int64_t      bandwidth;  /* bytes a second; 0: no limit */
    int64_t      bytes_sent; /* since last asked */
    int64_t      blocked_ns; /* time spent in writes */
} SocketTransport;

void socket_transport_init(SocketTransport *transport, int socket, Clock *clock, int64_t bandwidth);

/* Turns what a session produces into tokens. The last DONE is held back, because only what follows tells whether it has MORE. */
typedef struct TdsSink {
    SimSink    sink; /* first */
    TdsWriter *writer;
    uint32_t   tds_version;
    Str        server_name;
    Arena     *columns_arena; /* reset per result set */
    Arena     *row_arena;     /* reset per row, for conversions older clients need */
    TdsColumn *columns;
    SimType   *sim_types;
    TdsValue  *values;
    size_t     column_count;
    bool       has_pending;
    SimDone    pending;
    bool       ended_by_attention;
    bool       is_fatal; /* a message of severity 20 or more was sent */
} TdsSink;

void tds_sink_init(TdsSink *sink, TdsWriter *writer, uint32_t tds_version, Str server_name);
void tds_sink_close(TdsSink *sink);
/* Writes the DONE held back, or an empty one where the request produced none. */
void tds_sink_finish(TdsSink *sink, bool is_rpc);

/* Types and values across the border. */
TdsType  tds_type_of_sim(const SimType *type, uint32_t tds_version);
TdsValue tds_value_of_sim(const SimValue *value, const SimType *column, const TdsType *wire,
                          Arena *arena);
bool     sim_value_of_tds(const TdsType *type, const TdsValue *value, Arena *arena,
                          SimValue *out) MUST_CHECK;

typedef struct Connection {
    SimListener    *listener;
    SimServer      *server;
    SimSession     *session;
    SocketTransport socket;
    TdsWriter      *writer;
    TdsSink         sink;
    uint32_t        tds_version;
    Sched          *sched;
    Task           *task;   /* answers requests */
    Task           *reader; /* reads messages, so that an attention is seen while a request runs */
    Queue          *messages; /* Incoming * */
    int64_t         latency_ms;
    atomic_bool     is_done;             /* the task has ended and can be joined */
    int             attentions_answered; /* by the end of a running request */
} Connection;

/* Runs a connection to its end; the socket is closed by the caller. */
void connection_run(Connection *connection);

#endif
