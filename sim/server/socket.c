/* socket.c - a socket as a TdsTransport that acts like a slow link when told to. */
#include "sim/server/server_internal.h"

#include <errno.h>
#include <sys/socket.h>

#define SLICE_MS    5 /* a shaped link carries pieces of so long */
#define SLICE_BYTES 1460
#define BUFFER_NS   20000000

/* Around whatever waits for the client or the link. */
static bool rest(SocketTransport *transport)
{
    return transport->session && sim_session_rest(transport->session);
}

static void resume(SocketTransport *transport, bool rests)
{
    if (rests) sim_session_resume(transport->session);
}

/* What is there, without a wait if `flags` say so. */
static bool receive(SocketTransport *transport, uint8_t *buf, size_t size, int flags,
                    ssize_t *got_out)
{
    do
        *got_out = recv(transport->socket, buf, size, flags);
    while (*got_out < 0 && errno == EINTR);
    return *got_out >= 0;
}

static bool socket_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    SocketTransport *transport = (SocketTransport *)base;
    ssize_t          got;
    bool             ok = receive(transport, buf, size, MSG_DONTWAIT, &got);

    if (!ok && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        bool rests = rest(transport);
        ok         = receive(transport, buf, size, 0, &got);
        resume(transport, rests);
    }
    if (!ok) return err_set_errno(err, ERR_SOURCE, errno, "the client's socket failed");
    *got_out = (size_t)got;
    return true;
}

/* Waits until the link has carried what was sent before, and takes it for `len` bytes more. A link has a buffer, so a
 * server that was late for a moment catches up. */
static void take_link(SocketTransport *transport, size_t len)
{
    int64_t carry_ns = (int64_t)((double)len * 1e9 / (double)transport->link.bytes_per_s);
    bool    rests    = rest(transport);
    int64_t now_ns;

    transport->clock->sleep_until(transport->clock, transport->link_free_ns, transport->stop);
    resume(transport, rests);
    now_ns                  = clock_monotonic_ns(transport->clock);
    transport->link_free_ns = MAX(transport->link_free_ns, now_ns - BUFFER_NS) + carry_ns;
}

/* Sends at least a byte. What the kernel takes at once costs no time of waiting. */
static bool send_some(SocketTransport *transport, const uint8_t *bytes, size_t len,
                      size_t *sent_out, Err *err)
{
    ssize_t sent = send(transport->socket, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        int64_t began_ns = clock_monotonic_ns(transport->clock);
        bool    rests    = rest(transport);
        do
            sent = send(transport->socket, bytes, len, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        transport->blocked_ns += clock_monotonic_ns(transport->clock) - began_ns;
        resume(transport, rests);
    }
    if (sent < 0 && errno != EINTR)
        return err_set_errno(err, ERR_SOURCE, errno, "the client's socket failed");
    *sent_out = sent < 0 ? 0 : (size_t)sent;
    return true;
}

/* The same of some parts at once; `sent_out` of all of them together. */
static bool send_parts(SocketTransport *transport, struct iovec *parts, size_t count,
                       size_t *sent_out, Err *err)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    ssize_t       sent    = sendmsg(transport->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        int64_t began_ns = clock_monotonic_ns(transport->clock);
        bool    rests    = rest(transport);
        do
            sent = sendmsg(transport->socket, &message, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        transport->blocked_ns += clock_monotonic_ns(transport->clock) - began_ns;
        resume(transport, rests);
    }
    if (sent < 0 && errno != EINTR)
        return err_set_errno(err, ERR_SOURCE, errno, "the client's socket failed");
    *sent_out = sent < 0 ? 0 : (size_t)sent;
    return true;
}

static bool send_all(SocketTransport *transport, const uint8_t *bytes, size_t len, Err *err)
{
    while (len > 0) {
        size_t sent = 0;
        if (!send_some(transport, bytes, len, &sent, err)) return false;
        bytes += sent;
        len -= sent;
    }
    return true;
}

static bool send_shaped(SocketTransport *transport, const uint8_t *bytes, size_t len, Err *err)
{
    size_t slice = (size_t)MAX(transport->link.bytes_per_s * SLICE_MS / 1000, (int64_t)SLICE_BYTES);

    while (len > 0) {
        size_t part = MIN(slice, len);
        take_link(transport, part);
        if (!send_all(transport, bytes, part, err)) return false;
        bytes += part;
        len -= part;
    }
    return true;
}

static bool is_shaped(const SocketTransport *transport)
{
    const SimLink *link = &transport->link;
    return link->rtt_ms > 0 || link->jitter_ms > 0 || link->bytes_per_s > 0;
}

/* A response goes over one link to its end. */
static void begin_response(SocketTransport *transport)
{
    uint32_t version = sim_link_version(transport->server);
    bool     rests;

    transport->begins = false;
    if (version != transport->link_version)
        transport->link = sim_link_for(transport->server, transport->login, transport->app);
    transport->link_version = version;
    if (!is_shaped(transport)) return;
    rests = rest(transport);
    clock_sleep_ms(transport->clock,
                   transport->link.rtt_ms + sim_link_jitter_ms(transport->server, &transport->link),
                   transport->stop);
    resume(transport, rests);
    transport->link_free_ns = MAX(transport->link_free_ns, clock_monotonic_ns(transport->clock));
}

static void report(SocketTransport *transport)
{
    if (!transport->session) return;
    sim_session_add_io(transport->session, transport->bytes_sent, transport->blocked_ns);
    transport->bytes_sent = transport->blocked_ns = 0;
}

/* Before the client can have the bytes, so that whoever asks after its answer finds them counted. */
static void report_bytes(SocketTransport *transport, size_t len)
{
    transport->bytes_sent += (int64_t)len;
    report(transport);
}

static bool send_over_link(SocketTransport *transport, const uint8_t *bytes, size_t len, Err *err)
{
    int64_t began_ns   = clock_monotonic_ns(transport->clock);
    int64_t blocked_ns = transport->blocked_ns;
    bool    ok;

    if (transport->begins) begin_response(transport);
    ok = transport->link.bytes_per_s > 0 ? send_shaped(transport, bytes, len, err)
                                         : send_all(transport, bytes, len, err);
    transport->blocked_ns = blocked_ns + clock_monotonic_ns(transport->clock) - began_ns;
    return ok;
}

/* Nothing to wait for: what it costs is the kernel's. */
static bool is_plain(SocketTransport *transport)
{
    if (transport->begins && sim_link_version(transport->server) == transport->link_version)
        transport->begins = is_shaped(transport);
    return !transport->begins && !is_shaped(transport);
}

static bool socket_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    SocketTransport *transport = (SocketTransport *)base;
    bool             ok;

    report_bytes(transport, len);
    ok = is_plain(transport) ? send_all(transport, bytes, len, err)
                             : send_over_link(transport, bytes, len, err);
    report(transport);
    return ok;
}

static bool socket_write_parts(TdsTransport *base, struct iovec *parts, size_t count, Err *err)
{
    SocketTransport *transport = (SocketTransport *)base;
    size_t           len       = 0;

    for (size_t at = 0; at < count; at++)
        len += parts[at].iov_len;
    report_bytes(transport, len);
    for (size_t at = 0; at < count;) {
        size_t sent = 0;
        if (!is_plain(transport)) {
            if (!send_over_link(transport, parts[at].iov_base, parts[at].iov_len, err))
                return false;
            at++;
            continue;
        }
        if (!send_parts(transport, parts + at, count - at, &sent, err)) return false;
        for (; at < count && sent >= parts[at].iov_len; at++)
            sent -= parts[at].iov_len;
        if (sent > 0) {
            parts[at].iov_base = (uint8_t *)parts[at].iov_base + sent;
            parts[at].iov_len -= sent;
        }
    }
    report(transport);
    return true;
}

void socket_transport_init(SocketTransport *transport, int socket, Clock *clock, Cancel *stop,
                           SimServer *server)
{
    *transport = (SocketTransport){.transport    = {.read        = socket_read,
                                                    .write       = socket_write,
                                                    .write_parts = socket_write_parts},
                                   .socket       = socket,
                                   .clock        = clock,
                                   .stop         = stop,
                                   .server       = server,
                                   .link         = sim_link_for(server, STR_EMPTY, STR_EMPTY),
                                   .link_version = sim_link_version(server)};
}

void socket_transport_log_in(SocketTransport *transport, SimSession *session, Str login, Str app)
{
    transport->session      = session;
    transport->login        = login;
    transport->app          = app;
    transport->link_version = sim_link_version(transport->server);
    transport->link         = sim_link_for(transport->server, login, app);
}
