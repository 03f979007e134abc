/* login.c - how a client comes in: PRELOGIN and LOGIN7 (sqlserver.md 2.3, 2.4). */
#include "sim/server/server_internal.h"

#define SERVER_NAME STR("TIDESIM")
#define TLS_PACKET_BYTES \
    ((size_t)16383) /* the largest one that is encrypted: what a record holds */
#define VERSION_BUILD 4135

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

/* A client that is refused encryption it insists on, or is asked for what it has not, leaves by itself. */
bool connection_answer_prelogin(Connection *connection, Bytes body)
{
    TdsPrelogin   prelogin;
    TdsEncryption encryption;

    if (connection->has_prelogin || !tds_parse_prelogin(body, &prelogin)) return false;
    if (sim_server_is_silent(connection->server)) {
        connection->wire.cut(&connection->wire, SIM_CUT_SILENCE);
        return false;
    }
    connection->has_prelogin = true;
    encryption = server_choose_encryption(connection->offered != NULL, connection->must_encrypt,
                                          prelogin.encryption);
    connection->encrypts_login_only = encryption == TDS_ENCRYPT_OFF && !connection->is_strict;
    connection_begin_response(connection);
    tds_put_prelogin(connection->writer, major_version(sim_server_version(connection->server)), 0,
                     VERSION_BUILD, encryption, prelogin.asked_fed_auth);
    if (!connection_send_response(connection)) return false;
    return connection->is_strict || encryption == TDS_ENCRYPT_NOT_SUP ||
           server_handshake_in_tds(connection);
}

bool connection_take_login(Connection *connection)
{
    if (connection->encrypts_login_only) return server_end_login_tls(connection);
    if (connection->tls || !connection->must_encrypt) return true;
    connection_log(connection, LOG_WARN, "client hung up on",
                   "it does not encrypt, which this server requires");
    return false;
}

static void put_info(Connection *connection, int32_t number, uint8_t state, Str text)
{
    TdsServerMessage message = {
        .number = number, .line = 1, .state = state, .text = text, .server = SERVER_NAME};

    tds_put_message(connection->writer, connection->client.tds_version, false, &message);
}

static void put_login_error(Connection *connection, const SimError *error)
{
    TdsServerMessage message = {.number   = error->number,
                                .line     = 1,
                                .state    = error->state,
                                .severity = error->severity,
                                .text     = str_from_c(error->message),
                                .server   = SERVER_NAME};

    tds_put_message(connection->writer, connection->client.tds_version, true, &message);
}

static bool refuse_login(Connection *connection, const TdsLogin *login, const SimError *error)
{
    SimError failed = SIM_ERROR_INIT;

    connection_log(connection, LOG_WARN, "login refused", error->message);
    connection_begin_response(connection);
    put_login_error(connection, error);
    if (error->number == 4060) { /* SQL Server says it twice */
        (void)sim_error(&failed, 18456, "Login failed for user '%.*s'.", STR_ARG(login->user));
        failed.severity = 14;
        failed.state    = 1;
        put_login_error(connection, &failed);
    }
    tds_put_done(connection->writer, connection->client.tds_version, TDS_TOKEN_DONE, TDS_DONE_ERROR,
                 0, 0);
    (void)connection_send_response(connection);
    return false;
}

static size_t negotiated_packet_bytes(uint32_t asked, size_t most)
{
    if (asked == 0) return TDS_DEFAULT_PACKET_BYTES;
    return MIN(MAX((size_t)asked, (size_t)TDS_MIN_PACKET_BYTES), most);
}

static bool accept_login(Connection *connection, const TdsLogin *login)
{
    TdsWriter *writer       = connection->writer;
    uint32_t   tds_version  = connection->client.tds_version;
    Str        database     = sim_session_database(connection->session);
    size_t     packet_most  = connection->tls ? TLS_PACKET_BYTES : TDS_MAX_PACKET_BYTES;
    size_t     packet_bytes = negotiated_packet_bytes(login->packet_bytes, packet_most);
    bool       is_tds8      = login->asks_tds8 && connection->is_strict;
    uint8_t    collation[5];

    connection_begin_response(connection);
    tds_put_env_text(writer, SIM_ENV_DATABASE, database, STR("master"));
    put_info(
        connection, 5701, 2,
        str_printf(connection->arena, "Changed database context to '%.*s'.", STR_ARG(database)));
    sim_collation_wire(sim_collation_default(), collation);
    tds_put_env_bytes(writer, SIM_ENV_COLLATION, (Bytes){collation, sizeof collation},
                      (Bytes){collation, 0});
    Str language = sim_session_language(connection->session);
    tds_put_env_text(writer, SIM_ENV_LANGUAGE, language, STR_EMPTY);
    put_info(connection, 5703, 1,
             str_printf(connection->arena, "Changed language setting to %.*s.", STR_ARG(language)));
    tds_put_login_ack(writer, is_tds8 ? TDS_VERSION_80 : tds_version, STR("Microsoft SQL Server"),
                      major_version(sim_server_version(connection->server)), 0, VERSION_BUILD);
    tds_put_env_text(writer, SIM_ENV_PACKET_SIZE,
                     str_printf(connection->arena, "%zu", packet_bytes), STR("4096"));
    if (login->asks_features) tds_put_feature_ack(writer, login);
    tds_put_done(writer, tds_version, TDS_TOKEN_DONE, 0, 0, 0);
    if (!connection_send_response(connection)) return false;
    tds_writer_set_packet_bytes(writer, packet_bytes);
    return true;
}

bool connection_answer_login(Connection *connection, Bytes body)
{
    TdsLogin        login;
    SimLoginRequest request;
    SimError        error = SIM_ERROR_INIT;

    if (!tds_parse_login(body, connection->arena, &login)) return false;
    connection->client = (TdsClient){.tds_version = login.tds_version,
                                     .knows_utf8  = login.asks_utf8};
    if (login.integrated || login.asks_fed_auth || login.changes_password) {
        (void)sim_error(&error, 18452,
                        "Login failed. The login is from an untrusted domain and cannot be used "
                        "with Integrated authentication.");
        return refuse_login(connection, &login, &error);
    }
    request = (SimLoginRequest){
        .user      = login.user,
        .password  = login.password,
        .database  = login.recovered_database.len > 0 ? login.recovered_database : login.database,
        .app_name  = login.app,
        .host_name = login.host,
        .language  = login.language,
        .odbc      = login.odbc,
        .read_only_intent = login.read_only_intent,
        .wire             = &connection->wire,
        .stop             = connection->socket.stop,
        .is_encrypted     = connection->tls != NULL};
    if (!sim_session_open(connection->server, &request, &connection->session, &error))
        return !connection->is_cut && refuse_login(connection, &login, &error);
    socket_transport_log_in(&connection->socket, connection->session,
                            sim_session_login(connection->session),
                            sim_session_app(connection->session));
    tds_sink_init(&connection->sink, connection->writer, connection->session, &connection->client,
                  SERVER_NAME);
    login.acks_recovery = login.asks_recovery &&
                          sim_server_knob(connection->server, SIM_KNOB_SESSION_RECOVERY) != 0;
    connection->sink.tells_state = connection->sink.was_recoverable = login.acks_recovery;
    return accept_login(connection, &login);
}
