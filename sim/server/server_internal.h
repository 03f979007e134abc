/* server_internal.h - one TDS connection: its socket, its writer, its session. */
#ifndef TIDESIM_SERVER_INTERNAL_H
#define TIDESIM_SERVER_INTERNAL_H

#include "sim/server/server.h"
#include "sim/server/tls.h"
#include "tds/tds_login.h"
#include "tds/tds_request.h"
#include "tds/tds_token.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- the socket as a transport (server/socket.c) --- */

/* Shaped as a link that tests give it (control.h). TLS goes on top of it (tls.h). */
typedef struct SocketTransport {
    TdsTransport transport; /* first */
    int          socket;
    Clock       *clock;
    Cancel      *stop; /* ends every wait; may be NULL */
    SimServer   *server;
    SimSession  *session;      /* NULL: before the login */
    Str          login, app;   /* empty before the login */
    SimLink      link;         /* of the response that leaves */
    uint32_t     link_version; /* it is from */
    bool         begins;       /* the next write begins a response */
    int64_t      link_free_ns; /* when the link has carried what was sent */
    int64_t
        bytes_sent; /* since last asked, and the time spent waiting for the client or the link */
    int64_t blocked_ns;
} SocketTransport;

void socket_transport_init(SocketTransport *transport, int socket, Clock *clock, Cancel *stop,
                           SimServer *server);
/* From now on its link is that of this login; what it sends counts for the session. The texts outlive it. */
void socket_transport_log_in(SocketTransport *transport, SimSession *session, Str login, Str app);

/* --- types and values across the border (server/convert.c) --- */

typedef struct TdsClient { /* what the other side understands */
    uint32_t tds_version;
    bool     knows_utf8; /* asked for UTF-8 columns */
} TdsClient;

TdsType  tds_type_of_sim(const SimType *type, const TdsClient *client);
TdsValue tds_value_of_sim(const SimValue *value, const SimType *column, const TdsType *wire,
                          Arena *arena);
/* What came, as tds_get_type gave it. */
SimType sim_type_of_tds(const TdsType *type);
/* A parameter, or a value of a result. False: it is not one its type can have. */
bool sim_value_of_tds(const TdsType *type, const TdsValue *value, Arena *arena,
                      SimValue *out) MUST_CHECK;
/* The same, when sim_type_of_tds was asked before. */
bool sim_typed_value_of_tds(const TdsType *type, const SimType *sim_type, const TdsValue *value,
                            Arena *arena, SimValue *out) MUST_CHECK;

#define SIM_COMMAND_ATTENTION 0xFD /* "current command" of the DONE that acknowledges one */

/* --- results as tokens (server/sink.c) --- */

/* Whether the bytes the model stores under a column's type are those this client gets. */
typedef struct WireCopy {
    bool   is_same;
    bool   is_long; /* unless TEXTSIZE cuts them */
    size_t null_len;
} WireCopy;

/* The last DONE is held back, because only what follows tells whether it has MORE. */
typedef struct TdsSink {
    SimSink           sink; /* first */
    TdsWriter        *writer;
    TdsClient         client;
    const SimSession *session;   /* knows how much of long values the client wants */
    size_t            text_size; /* of the result set: long values are cut to so many bytes */
    Str               server_name;
    Arena            *columns_arena; /* reset per result set */
    Arena            *row_arena;     /* reset per row, for values that change on their way */
    TdsColumn        *columns;
    SimType          *sim_types;
    WireCopy         *copies;
    Bytes            *encoded; /* of a row: what needs no conversion */
    bool             *is_null;
    TdsValue         *values;
    size_t            column_count;
    bool              has_pending;
    SimDone           pending;
    bool ended_by_attention; /* the session has seen it: to be acknowledged behind the response */
    bool omits_columns;      /* the client has them from before */
    bool is_fatal;           /* a message of severity 20 or more was sent */
    const SimParameter *parameters; /* of the call that runs */
    size_t              parameter_count;
    size_t next_output; /* the parameter from where the next value that comes back is looked for */
    /* A client that may come back is told when it would not find its session as it was. */
    bool     tells_state, was_recoverable;
    uint32_t state_sequence;
} TdsSink;

void tds_sink_init(TdsSink *sink, TdsWriter *writer, const SimSession *session,
                   const TdsClient *client, Str server_name);
void tds_sink_close(TdsSink *sink); /* one that was never opened too */
/* Before a response. */
void tds_sink_begin(TdsSink *sink);
/* Writes the DONE held back, or an empty one where the request produced none. */
void tds_sink_finish(TdsSink *sink, bool is_rpc);

/* --- a connection (server/connection.c, server/login.c) --- */

/* In front of the connection's transport while a fault waits for a place in what it writes (server/wire.c). */
typedef struct WatchTransport {
    TdsTransport       transport; /* first */
    struct Connection *connection;
    bool               counts_packets, is_armed;
    int64_t            left;
} WatchTransport;

typedef struct Connection {
    SimServer      *server;
    SimSession     *session;
    SocketTransport socket;
    TlsTransport   *tls;       /* NULL: nothing is encrypted */
    TdsTransport   *transport; /* the one of these two that is in use */
    const SimTls   *offered;   /* NULL: no TLS */
    bool            must_encrypt;
    bool            encrypts_login_only;
    bool            is_strict;    /* TLS around everything (TDS 8) */
    bool            has_prelogin; /* it was answered */
    SimWire         wire;
    WatchTransport  watched;
    bool            is_cut; /* by a fault: nothing is sent any more */
    bool            resets; /* and the socket ends with an RST */
    TdsWriter      *writer;
    TdsSink         sink;
    TdsClient       client;
    Arena          *arena; /* of the request */
    Sched          *sched;
    Log            *log;
    Task           *task;
    int             owed;    /* attentions that were answered before they were read */
    atomic_bool     is_done; /* the task has ended and can be joined */
    /* What the listener's thread looks at while a request runs. */
    int             watch; /* epoll */
    pthread_mutex_t lock;
    bool            is_running;
    bool            is_loading; /* a bulk load, which it reads while it runs */
    bool            saw_attention;
    bool            saw_end;
} Connection;

void connection_begin_response(Connection *connection);
bool connection_send_response(Connection *connection); /* false: the client is gone */
void connection_log(const Connection *connection, LogLevel level, const char *message,
                    const char *reason);
/* PRELOGIN and LOGIN7 (server/login.c). False: hang up. */
bool connection_answer_prelogin(Connection *connection, Bytes body);
/* LOGIN7 was read as it was agreed, encrypted or not; its answer is what comes next. */
bool connection_take_login(Connection *connection);
bool connection_answer_login(Connection *connection, Bytes body);

/* --- faults (server/wire.c) --- */

void connection_wire_init(Connection *connection);
void connection_end_watch(Connection *connection);

/* --- encryption (server/tls.c) --- */

/* What a PRELOGIN is answered that asked for one of TdsEncryption. */
TdsEncryption server_choose_encryption(bool has_tls, bool is_required, uint8_t asked);
/* TLS's handshake in messages, behind the answered PRELOGIN; then everything is encrypted. False: hang up. */
bool server_handshake_in_tds(Connection *connection);
/* The login was the only thing to encrypt, and was read. */
bool server_end_login_tls(Connection *connection);
/* A client of TDS 8 begins with TLS. */
bool server_begin_strict(Connection *connection);

/* The rest of a bulk load (server/bulk.c). `was_cut_out`: the client stopped it, by an attention or by taking it back. */
bool connection_run_bulk(Connection *connection, const TdsMessage *first, bool *was_cut_out,
                         bool *by_attention_out);

/* Runs a connection to its end; the socket is closed by the caller. */
void connection_run(Connection *connection);
/* The socket can be read although a request runs: an attention, or the client is gone. From the
 * listener's thread. */
void connection_notice(Connection *connection);
/* Ends it from another thread, whatever it does. */
void connection_stop(Connection *connection);

#endif
