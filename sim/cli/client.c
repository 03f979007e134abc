/* client.c - a TDS client of one connection, which reads each response whole. */
#define _GNU_SOURCE
#include "sim/cli/client.h"

#include "sim/server/server_internal.h"
#include "tds/tds_response.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PACKET_BYTES  16384
#define IN_BYTES      ((size_t)64 << 10)
#define RESPONSE_MOST ((size_t)1 << 30) /* of one response, which is held in memory */

/* --- the socket --- */

typedef struct ClientTransport {
    TdsTransport transport; /* first */
    int          socket;
    uint8_t     *in; /* received and not read yet */
    size_t       in_at, in_len;
} ClientTransport;

static bool client_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    ClientTransport *transport = (ClientTransport *)base;
    ssize_t          got;

    if (transport->in_at == transport->in_len) {
        do
            got = recv(transport->socket, transport->in, IN_BYTES, 0);
        while (got < 0 && errno == EINTR);
        if (got < 0) return err_set_errno(err, ERR_SOURCE, errno, "the connection broke");
        transport->in_at  = 0;
        transport->in_len = (size_t)got;
    }
    *got_out = MIN(size, transport->in_len - transport->in_at);
    memcpy(buf, transport->in + transport->in_at, *got_out);
    transport->in_at += *got_out;
    return true;
}

static bool client_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    ClientTransport *transport = (ClientTransport *)base;

    while (len > 0) {
        ssize_t sent = send(transport->socket, bytes, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return err_set_errno(err, ERR_SOURCE, errno, "the connection broke");
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

struct SqlClient {
    ClientTransport transport;
    TdsWriter      *writer;
    Arena          *arena; /* of a response */
    Arena          *row_arena;
    uint32_t        tds_version;
    uint64_t        transaction; /* its descriptor; 0: none */
    Str             address;
};

/* --- messages --- */

static bool read_response(SqlClient *client, TdsResponse *out, Err *err)
{
    TdsMessage message;
    bool       is_end;

    if (!tds_read_message(&client->transport.transport, client->arena, RESPONSE_MOST, &message,
                          &is_end, err))
        return false;
    if (is_end) return err_set(err, ERR_SOURCE, "the server closed the connection");
    *out = tds_response(message.body, client->tds_version, client->arena);
    return true;
}

static void copy_text(char *to, size_t size, Str text)
{
    (void)snprintf(to, size, "%.*s", STR_ARG(text));
}

static SimError error_of(const TdsServerMessage *message)
{
    SimError error = {.number   = message->number,
                      .severity = message->severity,
                      .state    = message->state,
                      .line     = message->line};

    copy_text(error.message, sizeof error.message, message->text);
    error.long_message = message->text;
    copy_text(error.procedure, sizeof error.procedure, message->procedure);
    return error;
}

/* --- results --- */

typedef struct Columns {
    SimResultColumn *items;
    SimValue        *values;
} Columns;

static bool send_columns(const TdsResponse *response, Arena *arena, Columns *columns, SimSink *sink)
{
    columns->items  = ARENA_ARRAY(arena, SimResultColumn, response->column_count + 1);
    columns->values = ARENA_ARRAY(arena, SimValue, response->column_count + 1);
    for (size_t i = 0; i < response->column_count; i++) {
        const TdsColumn *from = &response->columns[i];
        columns->items[i]     = (SimResultColumn){
                .name        = from->name,
                .type        = sim_type_of_tds(&from->type),
                .is_nullable = (from->flags & TDS_COLUMN_NULLABLE) != 0,
                .is_identity = (from->flags & TDS_COLUMN_IDENTITY) != 0,
                .is_computed = (from->flags & TDS_COLUMN_COMPUTED) != 0};
    }
    return sink->columns(sink, columns->items, response->column_count);
}

/* *bad_out: a value that its type cannot have. */
static bool send_row(const TdsResponse *response, Arena *arena, Columns *columns, SimSink *sink,
                     bool *bad_out)
{
    for (size_t i = 0; i < response->column_count; i++)
        if (!sim_value_of_tds(&response->columns[i].type, &response->values[i], arena,
                              &columns->values[i])) {
            *bad_out = true;
            return false;
        }
    return sink->row(sink, columns->values, response->column_count);
}

static bool send_done(const TdsItem *item, SimSink *sink)
{
    SimDone done = {.kind           = item->token == TDS_TOKEN_DONEPROC     ? SIM_DONE_PROC
                                      : item->token == TDS_TOKEN_DONEINPROC ? SIM_DONE_IN_PROC
                                                                            : SIM_DONE_STATEMENT,
                    .has_count      = (item->done.status & TDS_DONE_COUNT) != 0,
                    .has_error      = (item->done.status & TDS_DONE_ERROR) != 0,
                    .in_transaction = (item->done.status & TDS_DONE_INXACT) != 0,
                    .is_attention   = (item->done.status & TDS_DONE_ATTN) != 0,
                    .command        = item->done.command,
                    .row_count      = (int64_t)item->done.row_count};

    return sink->done(sink, &done);
}

static void note_env(SqlClient *client, const TdsItem *item)
{
    TdsCursor descriptor;

    if (item->env.kind == SIM_ENV_COMMIT_TRAN || item->env.kind == SIM_ENV_ROLLBACK_TRAN)
        client->transaction = 0;
    if (item->env.kind != SIM_ENV_BEGIN_TRAN) return;
    descriptor          = tds_cursor(item->env.new_bytes);
    client->transaction = tds_get_u64(&descriptor);
}

static bool send_item(SqlClient *client, const TdsResponse *response, const TdsItem *item,
                      Columns *columns, SimSink *sink, bool *bad_out)
{
    SimError message;

    switch (item->kind) {
    case TDS_ITEM_COLUMNS: return send_columns(response, client->arena, columns, sink);
    case TDS_ITEM_ROW: return send_row(response, client->row_arena, columns, sink, bad_out);
    case TDS_ITEM_MESSAGE:
        message = error_of(&item->message.text);
        return sink->message(sink, &message);
    case TDS_ITEM_DONE: return send_done(item, sink);
    case TDS_ITEM_ENV: note_env(client, item); return true;
    case TDS_ITEM_END:
    case TDS_ITEM_RETURN_STATUS:
    case TDS_ITEM_RETURN_VALUE:
    case TDS_ITEM_LOGIN_ACK:
    case TDS_ITEM_OTHER: break;
    }
    return true;
}

static bool send_items(SqlClient *client, TdsResponse *response, SimSink *sink, Err *err)
{
    Columns columns = {0};
    TdsItem item;
    bool    is_bad = false;

    do {
        arena_reset(client->row_arena);
        if (!tds_next_item(response, client->row_arena, &item))
            return err_set(err, ERR_SOURCE,
                           "the server's answer cannot be read, at byte %zu (token 0x%02x)",
                           response->cursor.at, item.token);
        if (!send_item(client, response, &item, &columns, sink, &is_bad))
            return err_set(err, is_bad ? ERR_SOURCE : ERR_FAILED,
                           is_bad ? "the server sent a value that its type cannot have"
                                  : "the output cannot be written");
    } while (item.kind != TDS_ITEM_END);
    return true;
}

bool sql_client_batch(SqlClient *client, Str sql, SimSink *sink, Err *err)
{
    TdsResponse response;

    arena_reset(client->arena);
    tds_writer_begin(client->writer, TDS_PACKET_BATCH, 0);
    tds_put_headers(client->writer, client->tds_version, client->transaction);
    tds_put_text(client->writer, sql);
    return (tds_writer_end(client->writer, err) && read_response(client, &response, err) &&
            send_items(client, &response, sink, err)) ||
           err_context(err, "%.*s", STR_ARG(client->address));
}

/* --- opening --- */

static bool connect_socket(SqlClient *client, const char *host, const char *port, Err *err)
{
    struct addrinfo  hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int              code = getaddrinfo(host, port, &hints, &found), one = 1, fd = -1;

    if (code != 0) return err_set(err, ERR_SOURCE, "%s: %s", host, gai_strerror(code));
    for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
            (void)err_set_errno(err, ERR_SOURCE, errno, "no server answers");
            (void)close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0) return false;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    client->transport.socket = fd;
    return true;
}

static bool open_socket(SqlClient *client, Err *err)
{
    ptrdiff_t   colon = str_find_last_char(client->address, ':');
    Str         host  = str_slice(client->address, 0, (size_t)MAX(colon, 0));
    const char *port  = str_c(client->arena,
                              str_slice(client->address, (size_t)(colon + 1), client->address.len));

    if (str_starts_with(host, STR("[")) && str_ends_with(host, STR("]")))
        host = str_slice(host, 1, host.len - 1);
    return connect_socket(client, str_c(client->arena, host), port, err);
}

static bool say_hello(SqlClient *client, Err *err)
{
    TdsMessage  message;
    TdsPrelogin prelogin;
    bool        is_end;

    tds_writer_begin(client->writer, TDS_PACKET_PRELOGIN, 0);
    tds_put_prelogin(client->writer, 0, 1, 0, TDS_ENCRYPT_NOT_SUP, false);
    if (!tds_writer_end(client->writer, err) ||
        !tds_read_message(&client->transport.transport, client->arena, RESPONSE_MOST, &message,
                          &is_end, err))
        return false;
    if (is_end || !tds_parse_prelogin(message.body, &prelogin))
        return err_set(err, ERR_SOURCE, "who listens there is no SQL Server");
    return prelogin.encryption != TDS_ENCRYPT_REQ ||
           err_set(err, ERR_SOURCE, "the server requires encryption, which this client has not");
}

/* The first error of the answer, or the acknowledgement. */
static bool read_login_answer(SqlClient *client, Err *err)
{
    TdsResponse response;
    TdsItem     item;
    bool        is_in = false;

    if (!read_response(client, &response, err)) return false;
    do {
        if (!tds_next_item(&response, client->arena, &item))
            return err_set(err, ERR_SOURCE, "who listens there is no SQL Server");
        if (item.kind == TDS_ITEM_LOGIN_ACK) {
            is_in               = true;
            client->tds_version = item.login_ack.tds_version;
        }
        if (item.kind == TDS_ITEM_MESSAGE && item.message.is_error) {
            (void)err_set(err, ERR_LOGIN, "%.*s", STR_ARG(item.message.text.text));
            err->native = item.message.text.number;
            return false;
        }
    } while (item.kind != TDS_ITEM_END);
    return is_in || err_set(err, ERR_LOGIN, "the server neither accepted nor refused the login");
}

static bool log_in(SqlClient *client, Str user, Str password, Str database, Err *err)
{
    TdsLogin login = {.tds_version   = TDS_VERSION_74,
                      .packet_bytes  = PACKET_BYTES,
                      .user          = user,
                      .password      = password,
                      .app           = STR("tidesim"),
                      .server        = client->address,
                      .database      = database,
                      .odbc          = true,
                      .asks_features = true};

    tds_writer_begin(client->writer, TDS_PACKET_LOGIN7, 0);
    tds_put_login(client->writer, &login);
    if (!tds_writer_end(client->writer, err) || !read_login_answer(client, err)) return false;
    tds_writer_set_packet_bytes(client->writer, PACKET_BYTES);
    return true;
}

bool sql_client_open(Str address, Str user, Str password, Str database, SqlClient **out, Err *err)
{
    SqlClient *client = mem_alloc(sizeof *client);

    client->transport = (ClientTransport){.transport = {.read = client_read, .write = client_write},
                                          .socket    = -1,
                                          .in        = mem_alloc(IN_BYTES)};
    client->writer    = tds_writer_new(&client->transport.transport);
    client->arena     = arena_new();
    client->row_arena = arena_new();
    client->tds_version = TDS_VERSION_74;
    client->address     = address;
    *out                = NULL;
    if (!open_socket(client, err) || !say_hello(client, err) ||
        !log_in(client, user, password, database, err)) {
        (void)err_context(err, "%.*s", STR_ARG(address));
        sql_client_close(client);
        return false;
    }
    *out = client;
    return true;
}

void sql_client_close(SqlClient *client)
{
    if (!client) return;
    if (client->transport.socket >= 0) (void)close(client->transport.socket);
    tds_writer_close(client->writer);
    arena_close(client->arena);
    arena_close(client->row_arena);
    mem_free(client->transport.in);
    mem_free(client);
}

void sql_client_break(void *client)
{
    (void)shutdown(((SqlClient *)client)->transport.socket, SHUT_RDWR);
}
