/* odbc_socket.c - the sockets below the connections, for what no driver does by itself: ending a
 * call that waits for a server that says nothing, and noticing that a network has gone.
 *
 * FreeTDS tells its socket. With another driver it is found among the process's open files: it is
 * the one TCP socket that carries bytes while this connection, and none that is known already, has
 * its first statement answered.
 *
 * A driver may close its descriptor at any time, in any thread, and the number is somebody else's
 * then. So whatever is done to a socket is done through a duplicate of our own. */
#include "sqlconn/odbc_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A network that takes what is sent and gives nothing back is noticed after a minute: after
 * KEEP_IDLE_S without traffic a probe goes out each KEEP_INTERVAL_S, and what is sent must be
 * acknowledged in time too. */
#define KEEP_IDLE_S     30
#define KEEP_INTERVAL_S 5
#define KEEP_PROBES     6
#define UNACKED_MS      60000

/* --- duplicates --- */

#define FIRST_FD 3 /* never one of the standard streams, should the process have closed one */

static bool get_option(int fd, int level, int option, int *out)
{
    socklen_t len = sizeof *out;

    return getsockopt(fd, level, option, out, &len) == 0;
}

static bool is_tcp(int fd)
{
    int type = 0, ignored = 0;

    return get_option(fd, SOL_SOCKET, SO_TYPE, &type) && type == SOCK_STREAM &&
           get_option(fd, IPPROTO_TCP, TCP_NODELAY, &ignored);
}

static void close_socket(OdbcSocket *open)
{
    if (open->own >= 0) (void)close(open->own);
    open->own = -1;
}

/* `own` -1 where that number is no TCP socket, or there are too many open files. Nothing else is
 * duplicated: closing a duplicate of a file would end the locks that the process has on it. */
static OdbcSocket duplicate(int fd)
{
    OdbcSocket  out = {.own = is_tcp(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD) : -1};
    struct stat info;

    if (out.own >= 0 && (!is_tcp(out.own) || fstat(out.own, &info) != 0))
        close_socket(&out); /* the number changed hands in between */
    if (out.own >= 0) out.inode = info.st_ino;
    return out;
}

static bool get_info(const OdbcSocket *open, struct tcp_info *out, socklen_t *len)
{
    *len = sizeof *out;
    memset(out, 0, sizeof *out);
    return open->own >= 0 && getsockopt(open->own, IPPROTO_TCP, TCP_INFO, out, len) == 0;
}

/* --- open files --- */

typedef enum PeerKind { PEER_NONE, PEER_CONNECTING, PEER_PORT } PeerKind;

static PeerKind peer_of(const OdbcSocket *open, uint16_t *port_out)
{
    struct sockaddr_storage address = {0};
    socklen_t               len     = sizeof address;
    int                     listens = 0;

    if (getpeername(open->own, (struct sockaddr *)&address, &len) != 0)
        return errno == ENOTCONN && get_option(open->own, SOL_SOCKET, SO_ACCEPTCONN, &listens) &&
                       !listens
                   ? PEER_CONNECTING
                   : PEER_NONE;
    if (address.ss_family == AF_INET)
        *port_out = ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
    else if (address.ss_family == AF_INET6)
        *port_out = ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port);
    return PEER_PORT;
}

/* `open` is closed afterwards; `fd` is the number that led to it. */
typedef void (*UseSocket)(const OdbcSocket *open, int fd, PeerKind kind, uint16_t port, void *arg);

static void each_socket(UseSocket use, void *arg)
{
    DIR           *folder = opendir("/proc/self/fd");
    struct dirent *entry;

    if (!folder) return;
    while ((entry = readdir(folder))) {
        char    *end;
        long     fd   = strtol(entry->d_name, &end, 10);
        uint16_t port = 0;

        if (end == entry->d_name || *end || fd < 0 || fd > INT_MAX) continue;
        OdbcSocket open = duplicate((int)fd);
        if (open.own < 0) continue;
        PeerKind kind = peer_of(&open, &port);
        if (kind != PEER_NONE) use(&open, (int)fd, kind, port, arg);
        close_socket(&open);
    }
    (void)closedir(folder);
}

/* --- which one is ours --- */

#define CENSUS_MAX 256

typedef struct Counted {
    int      fd; /* where it was, which may have been closed since */
    uint64_t inode;
    uint64_t bytes; /* sent and received so far */
} Counted;

typedef struct Census {
    OdbcDriver *driver;
    uint16_t    port; /* 0: any */
    Counted     sockets[CENSUS_MAX];
    size_t      count;
} Census;

static bool count_bytes(const OdbcSocket *open, uint64_t *out)
{
    struct tcp_info info;
    socklen_t       len;

    if (!get_info(open, &info, &len) || len < offsetof(struct tcp_info, tcpi_segs_out))
        return false;
    *out = info.tcpi_bytes_acked + info.tcpi_bytes_received;
    return true;
}

/* By whatever number, the driver's or ours. The driver's `lock` is held. */
static bool is_taken(const OdbcDriver *driver, const OdbcSocket *open)
{
    for (const OdbcConn *conn = driver->conns; conn; conn = conn->next)
        if (conn->socket.own >= 0 && conn->socket.inode == open->inode) return true;
    return false;
}

static void count_socket(const OdbcSocket *open, int fd, PeerKind kind, uint16_t port, void *arg)
{
    Census  *census = arg;
    uint64_t bytes;

    if (kind != PEER_PORT || (census->port && port != census->port) || census->count == CENSUS_MAX)
        return;
    if (is_taken(census->driver, open) || !count_bytes(open, &bytes)) return;
    census->sockets[census->count++] = (Counted){fd, open->inode, bytes};
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

/* The one that has carried something since; `own` -1 when it is none or one of several. */
static OdbcSocket find_busy(const Census *census)
{
    OdbcSocket found = {.own = -1};

    for (size_t i = 0; i < census->count; i++) {
        const Counted *counted = &census->sockets[i];
        OdbcSocket     open    = duplicate(counted->fd);
        uint64_t       bytes;
        if (open.own < 0 || open.inode != counted->inode || !count_bytes(&open, &bytes) ||
            bytes == counted->bytes) {
            close_socket(&open);
        } else if (found.own < 0) {
            found = open;
        } else {
            bool is_other = open.inode != found.inode;
            close_socket(&open);
            if (!is_other) continue; /* it has two numbers */
            close_socket(&found);
            break;
        }
    }
    return found;
}

/* It takes the duplicate over. */
static void set_socket(OdbcConn *conn, OdbcSocket found)
{
    pthread_mutex_lock(&conn->driver->lock);
    pthread_mutex_lock(&conn->lock);
    close_socket(&conn->socket);
    conn->socket = found;
    pthread_mutex_unlock(&conn->lock);
    pthread_mutex_unlock(&conn->driver->lock);
}

void odbc_conn_keep_socket(OdbcConn *conn, int fd)
{
    set_socket(conn, duplicate(fd));
}

void odbc_conn_drop_socket(OdbcConn *conn)
{
    set_socket(conn, (OdbcSocket){.own = -1});
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
        odbc_conn_keep_socket(conn, (int)number);
    return conn->socket.own >= 0;
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
        if (conn->socket.own >= 0 || attempt == FIND_ATTEMPTS) break;
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
    int            fd         = conn->socket.own;

    if (fd < 0) return;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked_ms, sizeof unacked_ms);
}

/* --- cutting off --- */

static void cut_if_to_port(const OdbcSocket *open, int fd, PeerKind kind, uint16_t port, void *arg)
{
    const uint16_t *wanted = arg;

    (void)fd;
    if (kind == PEER_CONNECTING || port == *wanted) (void)shutdown(open->own, SHUT_RDWR);
}

#define STATE_ESTABLISHED 1 /* the kernel's TCP_ESTABLISHED; its name is not for programs */

static bool is_established(const OdbcSocket *open)
{
    struct tcp_info info;
    socklen_t       len;

    return get_info(open, &info, &len) && info.tcpi_state == STATE_ESTABLISHED;
}

/* False: that ends nobody's wait. One that had ended already may not be what is waited for:
 * Microsoft's driver has a way of connecting again by itself. The connection's lock is held. */
static bool shut(OdbcConn *conn)
{
    if (conn->socket.own < 0) return false;
    if (conn->family == DRIVER_FREETDS || is_established(&conn->socket))
        atomic_store(&conn->is_cut, true);
    (void)shutdown(conn->socket.own, SHUT_RDWR);
    return atomic_load(&conn->is_cut);
}

/* FreeTDS loses a wake-up when SQLCancel meets a thread that reads rows, which then waits for ever
 * (measured with 1.3.17: one in five), and with either driver a call that SQLCancel stops waits for
 * the server's word on it. A connection that is cut off waits for nobody: the reader gets an end of
 * file, the server ends the session. */
void odbc_conn_cut(OdbcConn *conn)
{
    pthread_mutex_lock(&conn->lock);
    if (!shut(conn) && conn->running) (void)SQLCancel(conn->running);
    pthread_mutex_unlock(&conn->lock);
}

void odbc_conn_stop(OdbcConn *conn)
{
    bool is_known;

    atomic_store(&conn->is_cancelled, true);
    pthread_mutex_lock(&conn->lock);
    is_known = conn->socket.own >= 0;
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
    bool is_over;

    conn->is_abandoned = true;
    pthread_mutex_lock(&conn->lock);
    is_over = shut(conn);
    pthread_mutex_unlock(&conn->lock);
    if (!is_over) (void)SQLCancel(stmt);
}

bool odbc_socket_silence_ms(const OdbcSocket *open, int64_t *out)
{
    struct tcp_info info;
    socklen_t       len;

    if (!get_info(open, &info, &len) || len <= offsetof(struct tcp_info, tcpi_last_data_recv) ||
        info.tcpi_state != STATE_ESTABLISHED)
        return false;
    *out = info.tcpi_last_data_recv;
    return true;
}
