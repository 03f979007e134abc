/* server_connection.c - one client: prelogin, login, then requests until it leaves. */
#include "sim/server_internal.h"

#include <sys/socket.h>

#define SERVER_NAME   STR("TIDESIM")
#define VERSION_BUILD 4135
#define MAX_MESSAGES  16

typedef struct Incoming {
    Arena     *arena;
    TdsMessage message;
} Incoming;

static uint8_t major_version(int year)
{
    switch (year) {
    case 2016: return 13;
    case 2017: return 14;
    case 2019: return 15;
    case 2025: return 17;
    default: return 16;
    }
}

static bool send_response(Connection *connection)
{
    Err  ignored = ERR_INIT;
    bool ok;

    if (connection->latency_ms > 0)
        clock_sleep_ms(connection->socket.clock, connection->latency_ms, NULL);
    ok = tds_writer_end(connection->writer, &ignored);
    if (connection->session)
        sim_session_add_io(connection->session, connection->socket.bytes_sent,
                           connection->socket.blocked_ns);
    connection->socket.bytes_sent = connection->socket.blocked_ns = 0;
    return ok;
}

static void begin_response(Connection *connection)
{
    tds_writer_begin(connection->writer, TDS_PACKET_RESPONSE,
                     connection->session ? (uint16_t)sim_session_id(connection->session) : 0);
}

/* --- prelogin and login --- */

static bool answer_prelogin(Connection *connection, Bytes body)
{
    TdsPrelogin prelogin;

    if (!tds_parse_prelogin(body, &prelogin)) return false;
    begin_response(connection);
    tds_put_prelogin(connection->writer, major_version(sim_server_version(connection->server)), 0,
                     VERSION_BUILD, TDS_ENCRYPT_NOT_SUP, prelogin.asked_fed_auth);
    if (!send_response(connection)) return false;
    /* A client that insists on encryption leaves by itself; one that does not goes on in the clear. */
    return true;
}

static void put_info(Connection *connection, int32_t number, uint8_t state, const char *text)
{
    TdsServerMessage message = {.number   = number,
                                .line     = 1,
                                .state    = state,
                                .severity = 0,
                                .text     = str_from_c(text),
                                .server   = SERVER_NAME};

    tds_put_message(connection->writer, connection->tds_version, false, &message);
}

static bool refuse_login(Connection *connection, const SimError *error)
{
    TdsServerMessage message = {.number   = error->number,
                                .line     = 1,
                                .state    = error->state,
                                .severity = error->severity,
                                .text     = str_from_c(error->message),
                                .server   = SERVER_NAME};

    begin_response(connection);
    tds_put_message(connection->writer, connection->tds_version, true, &message);
    tds_put_done(connection->writer, connection->tds_version, TDS_TOKEN_DONE, TDS_DONE_ERROR, 0, 0);
    (void)send_response(connection);
    return false;
}

static size_t negotiated_packet_bytes(uint32_t asked)
{
    if (asked == 0) return TDS_DEFAULT_PACKET_BYTES;
    return MIN(MAX((size_t)asked, (size_t)TDS_MIN_PACKET_BYTES), (size_t)TDS_MAX_PACKET_BYTES);
}

static bool accept_login(Connection *connection, const TdsLogin *login)
{
    Arena  *scratch      = arena_new();
    Str     database     = sim_session_database(connection->session);
    size_t  packet_bytes = negotiated_packet_bytes(login->packet_bytes);
    uint8_t collation[5];
    bool    ok;

    begin_response(connection);
    tds_put_env_text(connection->writer, SIM_ENV_DATABASE, database, STR("master"));
    put_info(connection, 5701, 2,
             str_c(scratch,
                   str_printf(scratch, "Changed database context to '%.*s'.", STR_ARG(database))));
    sim_collation_wire(sim_collation_default(), collation);
    tds_put_env_bytes(connection->writer, SIM_ENV_COLLATION, (Bytes){collation, sizeof collation},
                      (Bytes){collation, 0});
    tds_put_env_text(connection->writer, SIM_ENV_LANGUAGE, STR("us_english"), STR_EMPTY);
    put_info(connection, 5703, 1, "Changed language setting to us_english.");
    tds_put_login_ack(connection->writer, connection->tds_version, STR("Microsoft SQL Server"),
                      major_version(sim_server_version(connection->server)), 0, VERSION_BUILD);
    tds_put_env_text(connection->writer, SIM_ENV_PACKET_SIZE,
                     str_printf(scratch, "%zu", packet_bytes), STR("4096"));
    if (login->asks_features) tds_put_feature_ack(connection->writer, login);
    tds_put_done(connection->writer, connection->tds_version, TDS_TOKEN_DONE, 0, 0, 0);
    ok = send_response(connection);
    tds_writer_set_packet_bytes(connection->writer, packet_bytes);
    arena_close(scratch);
    return ok;
}

static bool log_in(Connection *connection, Bytes body, Arena *arena)
{
    TdsLogin        login;
    SimLoginRequest request;
    SimError        error = SIM_ERROR_INIT;

    if (!tds_parse_login(body, arena, &login)) return false;
    connection->tds_version = login.tds_version;
    if (login.integrated || login.asks_fed_auth || login.changes_password) {
        (void)sim_error(&error, 18452,
                        "Login failed. The login is from an untrusted domain and cannot be used "
                        "with Integrated authentication.");
        return refuse_login(connection, &error);
    }
    request = (SimLoginRequest){.user             = login.user,
                                .password         = login.password,
                                .database         = login.database,
                                .app_name         = login.app,
                                .host_name        = login.host,
                                .language         = login.language,
                                .odbc             = login.odbc,
                                .read_only_intent = login.read_only_intent};
    if (!sim_session_open(connection->server, &request, &connection->session, &error))
        return refuse_login(connection, &error);
    tds_sink_init(&connection->sink, connection->writer, connection->tds_version, SERVER_NAME);
    return accept_login(connection, &login);
}

/* --- requests --- */

static bool run_batch(Connection *connection, TdsCursor *cursor, Arena *arena)
{
    return sim_session_batch(connection->session, tds_get_text(cursor, tds_left(cursor) / 2, arena),
                             &connection->sink.sink);
}

static bool convert_parameters(const TdsRpc *rpc, Arena *arena, SimParameter **out)
{
    SimParameter *parameters = ARENA_ARRAY(arena, SimParameter, rpc->parameters.count + 1);

    for (size_t i = 0; i < rpc->parameters.count; i++) {
        const TdsParameter *from = &rpc->parameters.items[i];
        parameters[i]            = (SimParameter){
                       .name = from->name, .is_output = from->is_output, .is_default = from->is_default};
        if (!sim_value_of_tds(&from->type, &from->value, arena, &parameters[i].value)) return false;
    }
    *out = parameters;
    return true;
}

/* False when the connection must close; `*bad_out`: the message could not be understood. */
static bool run_rpcs(Connection *connection, TdsCursor *cursor, Arena *arena, bool *bad_out)
{
    for (;;) {
        TdsRpc        rpc;
        SimParameter *parameters;
        bool          has;

        if (!tds_get_rpc(cursor, connection->tds_version, arena, &has, &rpc) ||
            (has && !convert_parameters(&rpc, arena, &parameters))) {
            *bad_out = true;
            return true;
        }
        if (!has) return true;
        if (!sim_session_rpc(connection->session, rpc.proc_id, rpc.name, parameters,
                             rpc.parameters.count, &connection->sink.sink))
            return false;
    }
}

static bool run_transaction(Connection *connection, TdsCursor *cursor, Arena *arena, bool *bad_out)
{
    TdsTransactionRequest request;

    if (!tds_get_transaction_request(cursor, arena, &request) ||
        (request.kind != 5 && request.kind != 7 && request.kind != 8 && request.kind != 9)) {
        *bad_out = true;
        return true;
    }
    return sim_session_transaction_request(connection->session, (SimTmRequest)request.kind,
                                           request.name, request.isolation, request.begins_next,
                                           request.next_isolation, &connection->sink.sink);
}

static void put_protocol_error(Connection *connection)
{
    SimError error = SIM_ERROR_INIT;

    (void)sim_error(&error, 4002,
                    "The incoming tabular data stream (TDS) protocol stream is incorrect. The "
                    "stream ended unexpectedly.");
    (void)connection->sink.sink.message(&connection->sink.sink, &error);
}

static bool check_transaction(Connection *connection, uint64_t descriptor)
{
    SimError error = SIM_ERROR_INIT;

    if (descriptor == sim_session_transaction(connection->session) || descriptor == 0) return true;
    (void)sim_error(&error, 3989,
                    "New request is not allowed to start because it should come with valid "
                    "transaction descriptor.");
    (void)connection->sink.sink.message(&connection->sink.sink, &error);
    return false;
}

static bool answer_request(Connection *connection, const TdsMessage *message, Arena *arena)
{
    TdsCursor cursor = tds_cursor(message->body);
    uint64_t  descriptor;
    bool      bad = false, keep = true;

    begin_response(connection);
    connection->sink.ended_by_attention = false;
    if (message->status & (TDS_STATUS_RESET | TDS_STATUS_RESET_KEEP_TRANSACTION))
        sim_session_reset(connection->session,
                          (message->status & TDS_STATUS_RESET_KEEP_TRANSACTION) != 0,
                          &connection->sink.sink);
    if (!tds_get_headers(&cursor, connection->tds_version, &descriptor)) {
        bad = true;
    } else if (check_transaction(connection, descriptor)) {
        if (message->type == TDS_PACKET_BATCH)
            keep = run_batch(connection, &cursor, arena);
        else if (message->type == TDS_PACKET_RPC)
            keep = run_rpcs(connection, &cursor, arena, &bad);
        else if (message->type == TDS_PACKET_TRANSACTION)
            keep = run_transaction(connection, &cursor, arena, &bad);
        else
            bad = true;
    }
    if (bad) put_protocol_error(connection);
    tds_sink_finish(&connection->sink, message->type == TDS_PACKET_RPC);
    if (connection->sink.ended_by_attention) connection->attentions_answered++;
    return send_response(connection) && keep && !connection->sink.is_fatal;
}

static bool answer_attention(Connection *connection)
{
    if (connection->attentions_answered > 0) { /* the request it stopped has answered it */
        connection->attentions_answered--;
        return true;
    }
    begin_response(connection);
    tds_put_done(connection->writer, connection->tds_version, TDS_TOKEN_DONE, TDS_DONE_ATTN, 0, 0);
    return send_response(connection);
}

static bool answer(Connection *connection, const TdsMessage *message, Arena *arena)
{
    if (message->type == TDS_PACKET_PRELOGIN && !connection->session)
        return answer_prelogin(connection, message->body);
    if (message->type == TDS_PACKET_LOGIN7 && !connection->session)
        return log_in(connection, message->body, arena);
    if (!connection->session) return false;
    if (message->type == TDS_PACKET_ATTENTION || (message->status & TDS_STATUS_IGNORE))
        return answer_attention(connection);
    return answer_request(connection, message, arena);
}

/* --- the two tasks of a connection --- */

static void read_messages(void *arg)
{
    Connection *connection = arg;

    for (;;) {
        Arena    *arena    = arena_new();
        Incoming *incoming = ARENA_NEW(arena, Incoming);
        Err       err      = ERR_INIT;
        bool      is_end;

        incoming->arena = arena;
        if (!tds_read_message(&connection->socket.transport, arena, &incoming->message, &is_end,
                              &err) ||
            is_end) {
            arena_close(arena);
            break;
        }
        if (incoming->message.type == TDS_PACKET_ATTENTION && connection->session)
            sim_session_attention(connection->session);
        if (!queue_push(connection->messages, incoming)) {
            arena_close(arena);
            break;
        }
    }
    /* Whatever runs has nobody to answer to any more. */
    if (connection->session) sim_session_attention(connection->session);
    queue_close(connection->messages);
}

void connection_run(Connection *connection)
{
    void *item;

    connection->writer   = tds_writer_new(&connection->socket.transport);
    connection->messages = queue_new(connection->sched, MAX_MESSAGES);
    connection->reader   = sched_spawn(connection->sched, "tds-reader", read_messages, connection);
    while (queue_pop(connection->messages, -1, &item)) {
        Incoming *incoming = item;
        bool      go_on    = answer(connection, &incoming->message, incoming->arena);
        arena_close(incoming->arena);
        if (!go_on) break;
    }
    queue_close(connection->messages);
    (void)shutdown(connection->socket.socket, SHUT_RDWR);
    sched_join(connection->sched, connection->reader);
    while (queue_try_pop(connection->messages, &item))
        arena_close(((Incoming *)item)->arena);
    queue_free(connection->messages);
    if (connection->session) tds_sink_close(&connection->sink);
    sim_session_close(connection->session);
    tds_writer_close(connection->writer);
}
