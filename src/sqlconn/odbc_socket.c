/* odbc_socket.c - the sockets below the connections, for what no driver does by itself: ending a
 * call that waits for a server that says nothing, and noticing that a network has gone.
 *
 * FreeTDS tells its socket. With another driver it is found among the process's open files: it is
 * the one TCP socket that carries bytes while this connection, and none that is known already, has
 * its first statement answered. */
#include "sqlconn/odbc_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* A network that takes what is sent and gives nothing back is noticed after a minute: after
 * KEEP_IDLE_S without traffic a probe goes out each KEEP_INTERVAL_S, and what is sent must be
 * acknowledged in time too. */
#define KEEP_IDLE_S     30
#define KEEP_INTERVAL_S 5
#define KEEP_PROBES     6
#define UNACKED_MS      60000

/* --- open files --- */

/* A number alone may have been given to another file since. */
static bool is_still(const OdbcSocket *open)
{
    struct stat info;

    return open->fd >= 0 && fstat(open->fd, &info) == 0 && info.st_ino == open->inode;
}

static OdbcSocket socket_of(int fd)
{
    struct stat info;

    if (fd < 0 || fstat(fd, &info) != 0) return (OdbcSocket){.fd = -1};
    return (OdbcSocket){.fd = fd, .inode = info.st_ino};
}

typedef enum PeerKind { PEER_NONE, PEER_CONNECTING, PEER_PORT } PeerKind;

static bool get_option(int fd, int level, int option, int *out)
{
    socklen_t len = sizeof *out;

    return getsockopt(fd, level, option, out, &len) == 0;
}

static PeerKind peer_of(int fd, uint16_t *port_out)
{
    struct sockaddr_storage address = {0};
    socklen_t               len     = sizeof address;
    int                     type = 0, listens = 0, ignored = 0;

    if (!get_option(fd, SOL_SOCKET, SO_TYPE, &type) || type != SOCK_STREAM ||
        !get_option(fd, IPPROTO_TCP, TCP_NODELAY, &ignored))
        return PEER_NONE;
    if (getpeername(fd, (struct sockaddr *)&address, &len) != 0)
        return errno == ENOTCONN && get_option(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens) && !listens
                   ? PEER_CONNECTING
                   : PEER_NONE;
    if (address.ss_family == AF_INET)
        *port_out = ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
    else if (address.ss_family == AF_INET6)
        *port_out = ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port);
    return PEER_PORT;
}

typedef void (*UseSocket)(int fd, PeerKind kind, uint16_t port, void *arg);

static void each_socket(UseSocket use, void *arg)
{
    DIR           *folder = opendir("/proc/self/fd");
    struct dirent *entry;

    if (!folder) return;
    while ((entry = readdir(folder))) {
        char    *end;
        long     fd   = strtol(entry->d_name, &end, 10);
        uint16_t port = 0;

        if (end == entry->d_name || *end || fd < 0 || fd > INT_MAX || fd == dirfd(folder)) continue;
        PeerKind kind = peer_of((int)fd, &port);
        if (kind != PEER_NONE) use((int)fd, kind, port, arg);
    }
    (void)closedir(folder);
}

/* --- which one is ours --- */

#define CENSUS_MAX 256

typedef struct Counted {
    OdbcSocket open;
    uint64_t   bytes; /* sent and received so far */
} Counted;

typedef struct Census {
    OdbcDriver *driver;
    uint16_t    port; /* 0: any */
    Counted     sockets[CENSUS_MAX];
    size_t      count;
} Census;

static bool count_bytes(int fd, uint64_t *out)
{
    struct tcp_info info;
    socklen_t       len = sizeof info;

    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 ||
        len < offsetof(struct tcp_info, tcpi_segs_out))
        return false;
    *out = info.tcpi_bytes_acked + info.tcpi_bytes_received;
    return true;
}

/* The driver's `lock` is held. */
static bool is_taken(const OdbcDriver *driver, const OdbcSocket *open)
{
    for (const OdbcConn *conn = driver->conns; conn; conn = conn->next)
        if (conn->socket.fd == open->fd && conn->socket.inode == open->inode) return true;
    return false;
}

static void count_socket(int fd, PeerKind kind, uint16_t port, void *arg)
{
    Census  *census = arg;
    Counted *counted;

    if (kind != PEER_PORT || (census->port && port != census->port) || census->count == CENSUS_MAX)
        return;
    counted       = &census->sockets[census->count];
    counted->open = socket_of(fd);
    if (counted->open.fd < 0 || is_taken(census->driver, &counted->open) ||
        !count_bytes(fd, &counted->bytes))
        return;
    census->count++;
}

static void take_census(OdbcConn *conn, Census *census)
{
    census->driver = conn->driver;
    census->port   = conn->port;
    census->count  = 0;
    pthread_mutex_lock(&conn->driver->lock);
    each_socket(count_socket, census);
    pthread_mutex_unlock(&conn->driver->lock);
}

/* The one that has carried something since; fd -1 when it is none or one of several. */
static OdbcSocket find_busy(const Census *census)
{
    OdbcSocket found = {.fd = -1};

    for (size_t i = 0; i < census->count; i++) {
        const Counted *counted = &census->sockets[i];
        uint64_t       bytes;
        if (!is_still(&counted->open) || !count_bytes(counted->open.fd, &bytes) ||
            bytes == counted->bytes)
            continue;
        if (found.fd >= 0) return (OdbcSocket){.fd = -1};
        found = counted->open;
    }
    return found;
}

static void set_socket(OdbcConn *conn, OdbcSocket found)
{
    pthread_mutex_lock(&conn->driver->lock);
    pthread_mutex_lock(&conn->lock);
    conn->socket = found;
    pthread_mutex_unlock(&conn->lock);
    pthread_mutex_unlock(&conn->driver->lock);
}

#define SQL_INFO_FREETDS_SOCKET 1301

static bool ask_freetds(OdbcConn *conn)
{
    uint64_t    number = UINT64_MAX;
    SQLSMALLINT length = 0;

    if (conn->family != DRIVER_FREETDS) return false;
    if (odbc_is_ok(
            SQLGetInfoW(conn->dbc, SQL_INFO_FREETDS_SOCKET, &number, sizeof(number), &length)) &&
        number <= INT_MAX)
        set_socket(conn, socket_of((int)number));
    return conn->socket.fd >= 0;
}

#define FIND_ATTEMPTS 3

bool odbc_conn_run_first(OdbcConn *conn, Str first, Err *err)
{
    Census *census;
    bool    ok;

    if (ask_freetds(conn)) return sqlconn_execute(&conn->base, first, err);
    census = mem_alloc(sizeof *census);
    pthread_mutex_lock(&conn->driver->find_lock);
    take_census(conn, census);
    ok = sqlconn_execute(&conn->base, first, err);
    for (int attempt = 1; ok; attempt++) {
        set_socket(conn, find_busy(census));
        if (conn->socket.fd >= 0 || attempt == FIND_ATTEMPTS) break;
        take_census(conn, census); /* another one was logging in just then */
        ok = sqlconn_execute(&conn->base, STR("SELECT 1;"), err);
    }
    pthread_mutex_unlock(&conn->driver->find_lock);
    mem_free(census);
    return ok;
}

/* --- keeping alive --- */

void odbc_conn_keep_alive(OdbcConn *conn)
{
    const int      on = 1, idle = KEEP_IDLE_S, interval = KEEP_INTERVAL_S, probes = KEEP_PROBES;
    const unsigned unacked_ms = UNACKED_MS;
    int            fd         = conn->socket.fd;

    if (fd < 0) return;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked_ms, sizeof unacked_ms);
}

/* --- cutting off --- */

static void cut_if_to_port(int fd, PeerKind kind, uint16_t port, void *arg)
{
    const uint16_t *wanted = arg;

    if (kind == PEER_CONNECTING || port == *wanted) (void)shutdown(fd, SHUT_RDWR);
}

/* FreeTDS loses a wake-up when SQLCancel meets a thread that reads rows, which then waits for ever
 * (measured with 1.3.17: one in five), and with either driver a call that SQLCancel stops waits for
 * the server's word on it. A connection that is cut off waits for nobody: the reader gets an end of
 * file, the server ends the session. */
void odbc_conn_cut(OdbcConn *conn)
{
    pthread_mutex_lock(&conn->lock);
    if (is_still(&conn->socket))
        (void)shutdown(conn->socket.fd, SHUT_RDWR);
    else if (conn->running)
        (void)SQLCancel(conn->running);
    pthread_mutex_unlock(&conn->lock);
}

void odbc_conn_stop(OdbcConn *conn)
{
    bool is_known;

    atomic_store(&conn->is_cancelled, true);
    pthread_mutex_lock(&conn->lock);
    is_known = conn->socket.fd >= 0;
    pthread_mutex_unlock(&conn->lock);
    if (!is_known && conn->port)
        each_socket(cut_if_to_port, &conn->port);
    else
        odbc_conn_cut(conn);
}

/* Without its socket Microsoft's driver waits four minutes for a server that says nothing to hear
 * of it (measured with 18.6). */
void odbc_conn_abandon(OdbcConn *conn, SQLHSTMT stmt)
{
    conn->is_abandoned = true;
    if (is_still(&conn->socket))
        (void)shutdown(conn->socket.fd, SHUT_RDWR);
    else
        (void)SQLCancel(stmt);
}

bool odbc_socket_silence_ms(const OdbcSocket *open, int64_t *out)
{
    struct tcp_info info;
    socklen_t       len = sizeof info;

    if (!is_still(open) || getsockopt(open->fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 ||
        len <= offsetof(struct tcp_info, tcpi_last_data_recv))
        return false;
    *out = info.tcpi_last_data_recv;
    return true;
}
