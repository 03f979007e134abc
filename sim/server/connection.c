/* connection.c - one client that is logged in: requests and attentions until it leaves. */
#include "sim/server/server_internal.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define CURSOR_FETCH     7                   /* sp_cursorfetch by number */
#define LOGIN_BYTES_MOST ((size_t)128 << 10) /* a message of somebody who is not known yet */

void connection_log(const Connection *connection, LogLevel level, const char *message,
                    const char *reason)
{
    int32_t session = connection->session ? sim_session_id(connection->session) : 0;

    if (connection->log)
        log_at(connection->log, level, "tds", message, LOG_I64("session", session),
               LOG_TEXT("reason", reason));
}

void connection_begin_response(Connection *connection)
{
    connection_end_watch(connection);
    connection->socket.begins = true;
    tds_writer_begin(connection->writer, TDS_PACKET_RESPONSE,
                     connection->session ? (uint16_t)sim_session_id(connection->session) : 0);
}

bool connection_send_response(Connection *connection)
{
    Err  ignored = ERR_INIT; /* the client is gone: nobody to tell */
    bool ok      = tds_writer_end(connection->writer, &ignored);

    if (connection->session)
        sim_session_add_io(connection->session, connection->socket.bytes_sent,
                           connection->socket.blocked_ns);
    connection->socket.bytes_sent = connection->socket.blocked_ns = 0;
    return ok;
}

/* --- requests --- */

/* An error of the connection's own, with the DONE behind it. */
static void put_error(Connection *connection, const SimError *error)
{
    SimSink *sink = &connection->sink.sink;
    SimDone  done = {.kind           = SIM_DONE_STATEMENT,
                     .has_error      = true,
                     .in_transaction = sim_session_transaction(connection->session) != 0};

    if (sink->message(sink, error)) (void)sink->done(sink, &done);
}

/* What came cannot be read, so what follows cannot either: the connection ends. */
static bool refuse_stream(Connection *connection)
{
    SimError error = SIM_ERROR_INIT;

    connection_log(connection, LOG_WARN, "client hung up on", "a request cannot be read");
    (void)sim_error(&error, 4002,
                    "The incoming tabular data stream (TDS) protocol stream is incorrect. The "
                    "stream ended unexpectedly.");
    put_error(connection, &error);
    return false;
}

static bool run_batch(Connection *connection, TdsCursor *cursor)
{
    Str text = tds_get_text(cursor, tds_left(cursor) / 2, connection->arena);

    return sim_session_batch(connection->session, text, &connection->sink.sink);
}

static bool refuse_value(Connection *connection, size_t index, const TdsParameter *parameter)
{
    SimError error = SIM_ERROR_INIT;

    (void)sim_error(&error, 8023,
                    "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol "
                    "stream is incorrect. Parameter %zu (\"%.*s\"): The supplied value is not a "
                    "valid instance of its data type. Check the source data for invalid values.",
                    index + 1, STR_ARG(parameter->name));
    put_error(connection, &error);
    return false;
}

static bool refuse_type(Connection *connection, uint8_t type)
{
    SimError error = SIM_ERROR_INIT;

    (void)sim_not_supported(&error, "%s",
                            type == TDS_TYPE_TABLE ? "a table-valued parameter"
                                                   : "a parameter of a user-defined type");
    put_error(connection, &error);
    return true;
}

static bool convert_parameters(Connection *connection, const TdsRpc *rpc, SimParameter **out)
{
    SimParameter *parameters = ARENA_ARRAY(connection->arena, SimParameter,
                                           rpc->parameters.count + 1);

    for (size_t i = 0; i < rpc->parameters.count; i++) {
        const TdsParameter *from = &rpc->parameters.items[i];
        parameters[i]            = (SimParameter){
                       .name = from->name, .is_output = from->is_output, .is_default = from->is_default};
        if (!sim_value_of_tds(&from->type, &from->value, connection->arena, &parameters[i].value))
            return refuse_value(connection, i, from);
    }
    *out = parameters;
    return true;
}

/* A client that asks for no columns has those of the cursor or of its last execution. They are the same for sure where rows of
 * an open cursor go on; a statement that is prepared anew with parameters of other types may have others, and its client
 * reads rows by whatever it was told last. */
static bool omits_columns(const TdsRpc *rpc)
{
    return rpc->proc_id == CURSOR_FETCH && (rpc->flags & TDS_RPC_NO_METADATA) != 0;
}

/* False when the connection must close. */
static bool run_rpcs(Connection *connection, TdsCursor *cursor)
{
    TdsSink *sink = &connection->sink;

    while (!sink->ended_by_attention) {
        TdsRpc        rpc;
        SimParameter *parameters;
        bool          has;

        if (!tds_get_rpc(cursor, connection->client.tds_version, connection->arena, &has, &rpc))
            return refuse_stream(connection);
        if (has && rpc.unreadable) return refuse_type(connection, rpc.unreadable);
        if (!has || !convert_parameters(connection, &rpc, &parameters)) return true;
        sink->parameters      = parameters;
        sink->parameter_count = rpc.parameters.count;
        sink->next_output     = 0;
        sink->omits_columns   = omits_columns(&rpc);
        if (!sim_session_rpc(connection->session, rpc.proc_id, rpc.name, parameters,
                             rpc.parameters.count, &sink->sink))
            return false;
    }
    return true;
}

static bool run_transaction(Connection *connection, TdsCursor *cursor)
{
    TdsTransactionRequest request;
    SimError              error = SIM_ERROR_INIT;

    if (!tds_get_transaction_request(cursor, connection->arena, &request))
        return refuse_stream(connection);
    if (request.kind != SIM_TM_BEGIN && request.kind != SIM_TM_COMMIT &&
        request.kind != SIM_TM_ROLLBACK && request.kind != SIM_TM_SAVE) {
        (void)sim_not_supported(&error, "transaction manager request %d", request.kind);
        put_error(connection, &error);
        return true;
    }
    return sim_session_transaction_request(connection->session, (SimTmRequest)request.kind,
                                           request.name, request.isolation, request.begins_next,
                                           request.next_isolation, &connection->sink.sink);
}

static bool is_in_transaction(Connection *connection, uint64_t descriptor)
{
    SimError error = SIM_ERROR_INIT;

    if (descriptor == 0 || descriptor == sim_session_transaction(connection->session)) return true;
    (void)sim_error(&error, 3989,
                    "New request is not allowed to start because it should come with valid "
                    "transaction descriptor.");
    put_error(connection, &error);
    return false;
}

static bool run_request(Connection *connection, const TdsMessage *message)
{
    TdsCursor cursor = tds_cursor(message->body);
    uint64_t  descriptor;
    bool      keeps_transaction = (message->status & TDS_STATUS_RESET_KEEP_TRANSACTION) != 0;

    if (keeps_transaction || (message->status & TDS_STATUS_RESET))
        sim_session_reset(connection->session, keeps_transaction, &connection->sink.sink);
    if (!tds_get_headers(&cursor, connection->client.tds_version, &descriptor))
        return refuse_stream(connection);
    if (!is_in_transaction(connection, descriptor)) return true;
    if (message->type == TDS_PACKET_BATCH) return run_batch(connection, &cursor);
    if (message->type == TDS_PACKET_RPC) return run_rpcs(connection, &cursor);
    if (message->type == TDS_PACKET_TRANSACTION) return run_transaction(connection, &cursor);
    return refuse_stream(connection);
}

/* --- attentions ---
 *
 * While a request runs, the listener's thread watches the socket: what can be read then is an attention, or the end. It
 * looks without taking, so that messages are read in one place. Watching stops before the response's last packet
 * leaves, since the client's next request may come right behind that. */

static void watch(Connection *connection, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT,
                                .data   = {.ptr = connection}};

    (void)epoll_ctl(connection->watch, operation, connection->socket.socket, &event);
}

static void run_begin(Connection *connection, bool is_loading)
{
    pthread_mutex_lock(&connection->lock);
    connection->is_running    = true;
    connection->is_loading    = is_loading;
    connection->saw_attention = false;
    if (connection->saw_end) sim_session_hang_up(connection->session);
    pthread_mutex_unlock(&connection->lock);
}

static void watch_begin(Connection *connection)
{
    run_begin(connection, false);
    watch(connection, EPOLL_CTL_ADD);
    /* What is decrypted already the socket does not tell of. */
    if (connection->tls && tls_transport_has_pending(connection->tls))
        connection_notice(connection);
}

/* Whether an attention came, which this response then answers; false when the client is gone. */
static bool run_end(Connection *connection, bool *saw_attention_out)
{
    bool saw_end;

    (void)epoll_ctl(connection->watch, EPOLL_CTL_DEL, connection->socket.socket, NULL);
    pthread_mutex_lock(&connection->lock);
    connection->is_running = connection->is_loading = false;
    *saw_attention_out                              = connection->saw_attention;
    saw_end                                         = connection->saw_end;
    pthread_mutex_unlock(&connection->lock);
    sim_session_clear_attention(connection->session);
    return !saw_end;
}

static TlsPeek peek(const Connection *connection, uint8_t *byte_out)
{
    ssize_t got;

    if (connection->tls) return tls_transport_peek(connection->tls, byte_out);
    got = recv(connection->socket.socket, byte_out, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 1) return TLS_PEEK_BYTE;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? TLS_PEEK_NOTHING : TLS_PEEK_END;
}

void connection_notice(Connection *connection)
{
    uint8_t type = 0;

    pthread_mutex_lock(&connection->lock);
    if (connection->is_running) {
        switch (peek(connection, &type)) {
        case TLS_PEEK_BYTE: connection->saw_attention = type == TDS_PACKET_ATTENTION; break;
        case TLS_PEEK_END: connection->saw_end = true; break;
        case TLS_PEEK_NOTHING: /* half a record */ watch(connection, EPOLL_CTL_MOD); break;
        }
        if (connection->saw_end)
            sim_session_hang_up(connection->session);
        else if (connection->saw_attention)
            sim_session_attention(connection->session);
    }
    pthread_mutex_unlock(&connection->lock);
}

void connection_stop(Connection *connection)
{
    pthread_mutex_lock(&connection->lock);
    (void)shutdown(connection->socket.socket, SHUT_RDWR);
    connection->saw_end = true;
    if (connection->is_running) sim_session_hang_up(connection->session);
    pthread_mutex_unlock(&connection->lock);
}

/* Of a session that waits for its next request the socket is all there is to close; one that runs says so itself. */
static void hang_up_if_idle(void *arg)
{
    Connection *connection = arg;

    pthread_mutex_lock(&connection->lock);
    if (!connection->is_running) (void)shutdown(connection->socket.socket, SHUT_RDWR);
    if (connection->is_loading) /* it may wait for the client's next packet, but can tell */
        (void)shutdown(connection->socket.socket, SHUT_RD);
    pthread_mutex_unlock(&connection->lock);
}

/* In a message of its own, behind what was stopped: tedious waits for it there, as SQL Server sends it. */
static bool acknowledge(Connection *connection)
{
    bool in_transaction = sim_session_transaction(connection->session) != 0;

    connection_begin_response(connection);
    tds_put_done(connection->writer, connection->client.tds_version, TDS_TOKEN_DONE,
                 TDS_DONE_ATTN | (in_transaction ? TDS_DONE_INXACT : 0), SIM_COMMAND_ATTENTION, 0);
    return connection_send_response(connection);
}

/* The response's end, and what follows it. */
static bool finish(Connection *connection, bool is_rpc, bool goes_on)
{
    tds_sink_finish(&connection->sink, is_rpc);
    if (!connection_send_response(connection) || !goes_on || connection->sink.is_fatal)
        return false;
    return !connection->sink.ended_by_attention || acknowledge(connection);
}

static bool answer_request(Connection *connection, const TdsMessage *message)
{
    bool goes_on, saw_attention;

    connection_begin_response(connection);
    tds_sink_begin(&connection->sink);
    watch_begin(connection);
    goes_on = run_request(connection, message);
    if (connection->watched.is_armed) connection->wire.flush(&connection->wire, 0);
    goes_on = run_end(connection, &saw_attention) && goes_on;
    if (sim_session_breaks_off(connection->session)) return false;
    if (saw_attention) {
        connection->owed++;
        connection->sink.ended_by_attention = true;
    }
    return finish(connection, message->type == TDS_PACKET_RPC, goes_on);
}

/* Nobody watches the socket meanwhile: what stands in it is the load itself. An attention comes between its packets. */
static bool answer_bulk(Connection *connection, const TdsMessage *first)
{
    bool goes_on = false, was_cut = false, by_attention = false, ignored;

    connection_begin_response(connection);
    tds_sink_begin(&connection->sink);
    if (!sim_session_expects_bulk(connection->session)) {
        (void)refuse_stream(connection);
    } else {
        run_begin(connection, true);
        goes_on = connection_run_bulk(connection, first, &was_cut, &by_attention);
        goes_on = run_end(connection, &ignored) && goes_on;
    }
    if (sim_session_breaks_off(connection->session)) return false;
    if (was_cut && !by_attention) { /* taken back in its last packet: this answers it */
        tds_put_done(connection->writer, connection->client.tds_version, TDS_TOKEN_DONE,
                     TDS_DONE_ATTN, SIM_COMMAND_ATTENTION, 0);
        return connection_send_response(connection) && goes_on;
    }
    if (was_cut) connection->sink.ended_by_attention = true;
    return finish(connection, false, goes_on);
}

static bool answer_attention(Connection *connection, bool is_ignored_request)
{
    if (connection->owed > 0 &&
        !is_ignored_request) { /* the response of the request it stopped has answered it */
        connection->owed--;
        return true;
    }
    return acknowledge(connection);
}

/* --- all of it --- */

static bool answer(Connection *connection, const TdsMessage *message)
{
    if (!connection->session) {
        if (message->type == TDS_PACKET_PRELOGIN)
            return connection_answer_prelogin(connection, message->body);
        if (message->type != TDS_PACKET_LOGIN7 || !connection_take_login(connection) ||
            !connection_answer_login(connection, message->body))
            return false;
        sim_session_on_kill(connection->session, hang_up_if_idle, connection);
        return true;
    }
    if (message->type == TDS_PACKET_ATTENTION) return answer_attention(connection, false);
    if (message->type == TDS_PACKET_BULK) return answer_bulk(connection, message);
    if (message->status & TDS_STATUS_IGNORE) return answer_attention(connection, true);
    return answer_request(connection, message);
}

/* False: the client has left, or is to be hung up on. */
static bool answer_next(Connection *connection)
{
    size_t     limit = connection->session ? TDS_MAX_MESSAGE_BYTES : LOGIN_BYTES_MOST;
    TdsMessage message;
    Err        err = ERR_INIT;
    bool       is_end;

    arena_reset(connection->arena);
    if (tds_read_message(connection->transport, connection->arena, limit, &message, &is_end, &err))
        return !is_end && answer(connection, &message);
    connection_log(connection, err.code == ERR_DAMAGED ? LOG_WARN : LOG_DEBUG, "client hung up on",
                   err.message);
    return false;
}

void connection_run(Connection *connection)
{
    connection->arena     = arena_new();
    connection->transport = &connection->socket.transport;
    connection->writer    = tds_writer_new(connection->transport);
    if (server_begin_strict(connection))
        while (answer_next(connection))
            continue;
    if (!connection->resets) (void)shutdown(connection->socket.socket, SHUT_RDWR);
    tds_sink_close(&connection->sink);
    sim_session_close(connection->session);
    tds_writer_close(connection->writer);
    tls_transport_close(connection->tls);
    arena_close(connection->arena);
}
