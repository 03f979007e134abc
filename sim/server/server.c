/* server.c - the listener: one thread accepts connections, gives each a task of its own, and watches the sockets of those
 * that run a request, so that an attention is seen at once. */
#define _GNU_SOURCE
#include "sim/server/server.h"

#include "sim/server/server_internal.h"

#include "base/list.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG          256
#define CONNECTIONS_MOST 2000
#define EVENTS_MOST      64
#define PAUSE_MS         50 /* when the system gives no more sockets */

struct SimListener {
    Arena           *arena;
    SimServer       *server;
    Clock           *clock;
    Sched           *sched;
    Cancel          *stop;
    SimListenOptions options;
    int              socket;
    int              watch; /* epoll */
    int              wake;  /* eventfd: a connection has ended, or all must */
    Str              address;
    Task            *task;
    /* Of the task alone, until it has ended. */
    LIST(Connection *) connections;
};

/* --- connections --- */

typedef struct Start {
    Connection   connection; /* first */
    SimListener *listener;
} Start;

static void wake_listener(SimListener *listener)
{
    const uint64_t one = 1;

    (void)!write(listener->wake, &one, sizeof one);
}

static void run_connection(void *arg)
{
    Start *start = arg;

    connection_run(&start->connection);
    atomic_store(&start->connection.is_done, true);
    wake_listener(start->listener);
}

static void free_connection(Connection *connection)
{
    sched_join(connection->sched, connection->task);
    (void)close(connection->socket.socket);
    pthread_mutex_destroy(&connection->lock);
    mem_free(connection);
}

/* Frees those that have ended. */
static void reap(SimListener *listener, bool all)
{
    size_t kept = 0;

    for (size_t i = 0; i < listener->connections.count; i++) {
        Connection *connection = listener->connections.items[i];
        if (all || atomic_load(&connection->is_done))
            free_connection(connection);
        else
            listener->connections.items[kept++] = connection;
    }
    listener->connections.count = kept;
}

static void start_connection(SimListener *listener, int socket)
{
    Start      *start      = mem_alloc(sizeof *start);
    Connection *connection = &start->connection;
    int         one        = 1;

    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    start->listener                = listener;
    connection->server             = listener->server;
    connection->sched              = listener->sched;
    connection->watch              = listener->watch;
    connection->log                = listener->options.log;
    connection->offered            = listener->options.tls;
    connection->must_encrypt       = listener->options.requires_encryption;
    connection->client.tds_version = TDS_VERSION_74;
    pthread_mutex_init(&connection->lock, NULL);
    socket_transport_init(&connection->socket, socket, listener->clock, listener->stop,
                          listener->server);
    connection_wire_init(connection);
    *LIST_PUSH(listener->arena, &listener->connections) = connection;
    connection->task = sched_spawn(listener->sched, "tds", run_connection, start);
}

static void accept_connection(SimListener *listener)
{
    int socket = accept4(listener->socket, NULL, NULL, SOCK_CLOEXEC);

    if (socket >= 0 && listener->connections.count < CONNECTIONS_MOST)
        start_connection(listener, socket);
    else if (socket >= 0)
        (void)close(socket);
    else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        clock_sleep_ms(listener->clock, PAUSE_MS, listener->stop);
}

/* --- the thread --- */

static void drain_wake(SimListener *listener)
{
    uint64_t count;

    (void)!read(listener->wake, &count, sizeof count);
}

static void listen_on(void *arg)
{
    SimListener       *listener = arg;
    struct epoll_event events[EVENTS_MOST];

    while (!cancel_is_requested(listener->stop)) {
        int  count    = epoll_wait(listener->watch, events, EVENTS_MOST, -1);
        bool has_room = false, has_ended = false;

        for (int i = 0; i < count; i++) {
            void *who = events[i].data.ptr;
            if (who == &listener->socket)
                has_room = true;
            else if (who == &listener->wake)
                has_ended = true;
            else
                connection_notice(who);
        }
        if (has_ended) {
            drain_wake(listener);
            reap(listener, false);
        }
        if (has_room) accept_connection(listener);
    }
}

/* --- listening --- */

static bool split_address(Arena *arena, Str address, const char **host, const char **port, Err *err)
{
    ptrdiff_t colon = str_find_last_char(address, ':');
    Str       name;

    if (colon <= 0 || (size_t)colon + 1 >= address.len)
        return err_set(
            err, ERR_USAGE,
            "the address \"%.*s\" is none; allowed: HOST:PORT, for example 127.0.0.1:14330",
            STR_ARG(address));
    name = str_slice(address, 0, (size_t)colon);
    if (str_starts_with(name, STR("[")) && str_ends_with(name, STR("]")))
        name = str_slice(name, 1, name.len - 1);
    *host = str_c(arena, name);
    *port = str_c(arena, str_slice(address, (size_t)colon + 1, address.len));
    return true;
}

static bool bind_socket(SimListener *listener, const char *host, const char *port, Err *err)
{
    struct addrinfo  hints = {.ai_family   = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags    = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found, *at;
    int              one = 1, code = getaddrinfo(host, port, &hints, &found);
    bool             ok;

    if (code != 0)
        return err_set(err, ERR_USAGE, "cannot listen on %s:%s: %s", host, port,
                       gai_strerror(code));
    for (at = found; at->ai_next &&
                     at->ai_family != AF_INET;) /* a name that is both: clients take it for IPv4 */
        at = at->ai_next;
    if (at->ai_family != AF_INET) at = found;
    listener->socket = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                              at->ai_protocol);
    ok               = listener->socket >= 0 &&
         setsockopt(listener->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
         bind(listener->socket, at->ai_addr, at->ai_addrlen) == 0 &&
         listen(listener->socket, BACKLOG) == 0;
    if (!ok) err_set_errno(err, ERR_FAILED, errno, "cannot listen on %s:%s", host, port);
    freeaddrinfo(found);
    return ok;
}

static bool name_address(SimListener *listener, const char *host, Err *err)
{
    struct sockaddr_storage bound = {.ss_family = AF_UNSPEC};
    socklen_t               len   = sizeof bound;
    char                    port[16];

    if (getsockname(listener->socket, (struct sockaddr *)&bound, &len) != 0 ||
        getnameinfo((struct sockaddr *)&bound, len, NULL, 0, port, sizeof port, NI_NUMERICSERV) !=
            0)
        return err_set_errno(err, ERR_FAILED, errno, "the listening address is not known");
    listener->address = str_printf(listener->arena,
                                   bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return true;
}

static bool watch_fd(SimListener *listener, int fd, void *who, Err *err)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = who}};

    return epoll_ctl(listener->watch, EPOLL_CTL_ADD, fd, &event) == 0 ||
           err_set_errno(err, ERR_FAILED, errno, "sockets cannot be watched");
}

static bool open_watch(SimListener *listener, Err *err)
{
    listener->watch = epoll_create1(EPOLL_CLOEXEC);
    listener->wake  = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (listener->watch < 0 || listener->wake < 0)
        return err_set_errno(err, ERR_FAILED, errno, "sockets cannot be watched");
    return watch_fd(listener, listener->socket, &listener->socket, err) &&
           watch_fd(listener, listener->wake, &listener->wake, err);
}

static void free_listener(SimListener *listener)
{
    if (listener->socket >= 0) (void)close(listener->socket);
    if (listener->watch >= 0) (void)close(listener->watch);
    if (listener->wake >= 0) (void)close(listener->wake);
    sched_close(listener->sched);
    clock_close(listener->clock);
    cancel_close(listener->stop);
    arena_close(listener->arena);
}

bool sim_listener_open(SimServer *server, const SimListenOptions *options, SimListener **out,
                       Err *err)
{
    Arena       *arena    = arena_new();
    SimListener *listener = ARENA_NEW(arena, SimListener);
    const char  *host = NULL, *port = NULL;

    *out      = NULL;
    *listener = (SimListener){.arena   = arena,
                              .server  = server,
                              .options = *options,
                              .clock   = clock_new_real(),
                              .sched   = sched_new_real(),
                              .stop    = cancel_new(),
                              .socket  = -1,
                              .watch   = -1,
                              .wake    = -1};
    if (!split_address(arena, options->address, &host, &port, err) ||
        !bind_socket(listener, host, port, err) || !name_address(listener, host, err) ||
        !open_watch(listener, err)) {
        free_listener(listener);
        return false;
    }
    listener->task = sched_spawn(listener->sched, "tds-listener", listen_on, listener);
    *out           = listener;
    return true;
}

Str sim_listener_address(const SimListener *listener)
{
    return listener->address;
}

void sim_listener_close(SimListener *listener)
{
    if (!listener) return;
    cancel_request(listener->stop);
    wake_listener(listener);
    sched_join(listener->sched, listener->task);
    for (size_t i = 0; i < listener->connections.count; i++)
        connection_stop(listener->connections.items[i]);
    reap(listener, true);
    free_listener(listener);
}
