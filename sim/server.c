/* server.c - the listener: accepts connections and gives each tasks of its own. */
#define _GNU_SOURCE
#include "sim/server.h"

#include "sim/server_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_POLL_MS 200
#define BACKLOG        256

struct SimListener {
    Arena           *arena;
    SimServer       *server;
    Clock           *clock;
    Sched           *sched;
    SimListenOptions options;
    int              socket;
    Str              address;
    Task            *acceptor;
    atomic_bool      stopping;
    pthread_mutex_t  lock;
    LIST(Connection *) connections;
};

/* --- the socket as a transport --- */

static bool socket_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    SocketTransport *transport = (SocketTransport *)base;

    for (;;) {
        ssize_t got = recv(transport->socket, buf, size, 0);
        if (got >= 0) {
            *got_out = (size_t)got;
            return true;
        }
        if (errno != EINTR)
            return err_set_errno(err, ERR_SOURCE, errno, "the client's socket failed");
    }
}

/* Slows down to the link's pace: bytes take as long as they would. */
static void pace(SocketTransport *transport, size_t len)
{
    if (transport->bandwidth > 0)
        clock_sleep_ms(transport->clock, (int64_t)len * 1000 / transport->bandwidth, NULL);
}

static bool socket_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    SocketTransport *transport = (SocketTransport *)base;
    int64_t          began_ns  = clock_monotonic_ns(transport->clock);

    pace(transport, len);
    while (len > 0) {
        ssize_t sent = send(transport->socket, bytes, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return err_set_errno(err, ERR_SOURCE, errno, "the client's socket failed");
        bytes += sent;
        len -= (size_t)sent;
        transport->bytes_sent += sent;
    }
    transport->blocked_ns += clock_monotonic_ns(transport->clock) - began_ns;
    return true;
}

void socket_transport_init(SocketTransport *transport, int socket, Clock *clock, int64_t bandwidth)
{
    *transport = (SocketTransport){.transport = {.read = socket_read, .write = socket_write},
                                   .socket    = socket,
                                   .clock     = clock,
                                   .bandwidth = bandwidth};
}

/* --- connections --- */

static void run_connection(void *arg)
{
    Connection *connection = arg;

    connection_run(connection);
    atomic_store(&connection->is_done, true);
}

static void free_connection(Connection *connection)
{
    sched_join(connection->sched, connection->task);
    (void)close(connection->socket.socket);
    mem_free(connection);
}

/* Joins what has ended; with the lock held by nobody else, since only the acceptor and close call it. */
static void reap(SimListener *listener, bool all)
{
    size_t kept = 0;

    pthread_mutex_lock(&listener->lock);
    for (size_t i = 0; i < listener->connections.count; i++) {
        Connection *connection = listener->connections.items[i];
        if (all || atomic_load(&connection->is_done))
            free_connection(connection);
        else
            listener->connections.items[kept++] = connection;
    }
    listener->connections.count = kept;
    pthread_mutex_unlock(&listener->lock);
}

static void start_connection(SimListener *listener, int socket)
{
    Connection *connection = mem_alloc(sizeof *connection);
    int         one        = 1;

    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connection->listener    = listener;
    connection->server      = listener->server;
    connection->sched       = listener->sched;
    connection->latency_ms  = listener->options.latency_ms;
    connection->tds_version = TDS_VERSION_74;
    socket_transport_init(&connection->socket, socket, listener->clock,
                          listener->options.bandwidth);
    pthread_mutex_lock(&listener->lock);
    *LIST_PUSH(listener->arena, &listener->connections) = connection;
    connection->task = sched_spawn(listener->sched, "tds", run_connection, connection);
    pthread_mutex_unlock(&listener->lock);
}

static void accept_connections(void *arg)
{
    SimListener *listener = arg;

    while (!atomic_load(&listener->stopping)) {
        struct pollfd waiting = {.fd = listener->socket, .events = POLLIN};
        int           socket;

        if (poll(&waiting, 1, ACCEPT_POLL_MS) > 0) {
            socket = accept4(listener->socket, NULL, NULL, SOCK_CLOEXEC);
            if (socket >= 0) start_connection(listener, socket);
        }
        reap(listener, false);
    }
}

/* --- listening --- */

static bool split_address(Arena *arena, Str address, const char **host, const char **port, Err *err)
{
    ptrdiff_t colon = str_find_last_char(address, ':');

    if (colon <= 0 || (size_t)colon + 1 >= address.len)
        return err_set(err, ERR_USAGE,
                       "--listen is \"%.*s\"; allowed: HOST:PORT, for example 127.0.0.1:14330",
                       STR_ARG(address));
    *host = str_c(arena, str_slice(address, 0, (size_t)colon));
    *port = str_c(arena, str_slice(address, (size_t)colon + 1, address.len));
    return true;
}

static bool bind_socket(SimListener *listener, const char *host, const char *port, Err *err)
{
    struct addrinfo  hints = {.ai_family   = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags    = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found;
    int              one = 1, code = getaddrinfo(host, port, &hints, &found);
    bool             ok;

    if (code != 0)
        return err_set(err, ERR_USAGE, "cannot listen on %s:%s: %s", host, port,
                       gai_strerror(code));
    listener->socket = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC,
                              found->ai_protocol);
    ok               = listener->socket >= 0 &&
         setsockopt(listener->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
         bind(listener->socket, found->ai_addr, found->ai_addrlen) == 0 &&
         listen(listener->socket, BACKLOG) == 0;
    if (!ok) err_set_errno(err, ERR_FAILED, errno, "cannot listen on %s:%s", host, port);
    freeaddrinfo(found);
    return ok;
}

static bool name_address(SimListener *listener, const char *host, Err *err)
{
    struct sockaddr_storage bound;
    socklen_t               len = sizeof bound;
    char                    port[16];

    if (getsockname(listener->socket, (struct sockaddr *)&bound, &len) != 0 ||
        getnameinfo((struct sockaddr *)&bound, len, NULL, 0, port, sizeof port, NI_NUMERICSERV) !=
            0)
        return err_set_errno(err, ERR_FAILED, errno, "the listening address is not known");
    listener->address = str_printf(listener->arena, "%s:%s", host, port);
    return true;
}

bool sim_listener_open(SimServer *server, const SimListenOptions *options, SimListener **out,
                       Err *err)
{
    Arena       *arena    = arena_new();
    SimListener *listener = ARENA_NEW(arena, SimListener);
    const char  *host, *port;

    listener->arena   = arena;
    listener->server  = server;
    listener->options = *options;
    listener->socket  = -1;
    *out              = NULL;
    if (!split_address(arena, options->address, &host, &port, err) ||
        !bind_socket(listener, host, port, err) || !name_address(listener, host, err)) {
        if (listener->socket >= 0) (void)close(listener->socket);
        arena_close(arena);
        return false;
    }
    listener->clock =
        clock_new_real(); /* sockets live in real time, whatever the server's clock says */
    listener->sched = sched_new_real();
    pthread_mutex_init(&listener->lock, NULL);
    listener->acceptor = sched_spawn(listener->sched, "tds-listener", accept_connections, listener);
    *out               = listener;
    return true;
}

Str sim_listener_address(const SimListener *listener)
{
    return listener->address;
}

void sim_listener_close(SimListener *listener)
{
    if (!listener) return;
    atomic_store(&listener->stopping, true);
    sched_join(listener->sched, listener->acceptor);
    pthread_mutex_lock(&listener->lock);
    for (size_t i = 0; i < listener->connections.count; i++)
        (void)shutdown(listener->connections.items[i]->socket.socket, SHUT_RDWR);
    pthread_mutex_unlock(&listener->lock);
    reap(listener, true);
    (void)close(listener->socket);
    pthread_mutex_destroy(&listener->lock);
    sched_close(listener->sched);
    clock_close(listener->clock);
    arena_close(listener->arena);
}
