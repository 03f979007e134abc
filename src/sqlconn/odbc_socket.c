/* odbc_socket.c - the sockets below the connections, for what no driver does by itself: ending a
 * call that waits for a server that says nothing, and noticing that a network has gone.
 *
 * FreeTDS tells its socket once it is connected. While it logs in, and with other drivers always,
 * the sockets are found among the process's open files by the server's port. */
#include "sqlconn/odbc_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A network that takes what is sent and gives nothing back is noticed after a minute: after
 * KEEP_IDLE_S without traffic a probe goes out each KEEP_INTERVAL_S, and what is sent must be
 * acknowledged in time too. */
#define KEEP_IDLE_S     30
#define KEEP_INTERVAL_S 5
#define KEEP_PROBES     6
#define UNACKED_MS      60000

typedef enum PeerKind { PEER_NONE, PEER_CONNECTING, PEER_PORT } PeerKind;

static PeerKind peer_of(int fd, uint16_t *port_out)
{
    struct sockaddr_storage address = {0};
    socklen_t               len     = sizeof address;
    int                     type = 0, listens = 0;
    socklen_t               type_len = sizeof type, listens_len = sizeof listens;

    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) != 0 || type != SOCK_STREAM)
        return PEER_NONE;
    if (getpeername(fd, (struct sockaddr *)&address, &len) != 0) {
        bool is_tcp = getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &listens, &listens_len) == 0;

        listens_len = sizeof listens;
        return is_tcp && errno == ENOTCONN &&
                       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_len) == 0 &&
                       !listens
                   ? PEER_CONNECTING
                   : PEER_NONE;
    }
    if (address.ss_family == AF_INET)
        *port_out = ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
    else if (address.ss_family == AF_INET6)
        *port_out = ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port);
    else
        return PEER_NONE;
    return PEER_PORT;
}

typedef void (*UseSocket)(int fd);

/* Every socket of the process that is connected to that port, or (when `with_connecting`) on its
 * way to one. */
static void each_socket(uint16_t port, bool with_connecting, UseSocket use)
{
    DIR           *folder = opendir("/proc/self/fd");
    struct dirent *entry;

    if (!folder) return;
    while ((entry = readdir(folder))) {
        char    *end;
        long     fd   = strtol(entry->d_name, &end, 10);
        uint16_t peer = 0;

        if (end == entry->d_name || *end || fd < 0 || fd > INT_MAX || fd == dirfd(folder)) continue;
        PeerKind kind = peer_of((int)fd, &peer);
        if ((kind == PEER_PORT && peer == port) || (kind == PEER_CONNECTING && with_connecting))
            use((int)fd);
    }
    (void)closedir(folder);
}

static void cut(int fd)
{
    (void)shutdown(fd, SHUT_RDWR);
}

void odbc_sockets_cut(uint16_t port)
{
    if (port) each_socket(port, true, cut);
}

static void keep_alive(int fd)
{
    const int      on = 1, idle = KEEP_IDLE_S, interval = KEEP_INTERVAL_S, probes = KEEP_PROBES;
    const unsigned unacked_ms = UNACKED_MS;

    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked_ms, sizeof unacked_ms);
}

void odbc_conn_keep_alive(OdbcConn *conn)
{
    if (conn->socket >= 0)
        keep_alive(conn->socket);
    else if (conn->port)
        each_socket(conn->port, false, keep_alive);
}

#define SQL_INFO_FREETDS_SOCKET 1301

void odbc_conn_find_socket(OdbcConn *conn)
{
    uint64_t    socket = UINT64_MAX;
    SQLSMALLINT length = 0;

    if (conn->family != DRIVER_FREETDS) return;
    if (odbc_is_ok(
            SQLGetInfoW(conn->dbc, SQL_INFO_FREETDS_SOCKET, &socket, sizeof(socket), &length)) &&
        socket <= INT_MAX)
        conn->socket = (int)socket;
}

/* FreeTDS loses a wake-up when SQLCancel meets a thread that reads rows, which then waits for ever
 * (measured with 1.3.17: one in five), and with either driver a call that SQLCancel stops waits for
 * the server's word on it. A connection that is cut off waits for nobody: the reader gets an end of
 * file, the server ends the session. */
void odbc_conn_cut(OdbcConn *conn)
{
    atomic_store(&conn->is_cancelled, true);
    pthread_mutex_lock(&conn->lock);
    if (conn->socket >= 0)
        (void)shutdown(conn->socket, SHUT_RDWR);
    else if (conn->port)
        odbc_sockets_cut(conn->port);
    else if (conn->running)
        (void)SQLCancel(conn->running);
    pthread_mutex_unlock(&conn->lock);
}

void odbc_conn_abandon(OdbcConn *conn, SQLHSTMT stmt)
{
    conn->is_abandoned = true;
    if (conn->socket >= 0)
        (void)shutdown(conn->socket, SHUT_RDWR);
    else
        (void)SQLCancel(stmt);
}
