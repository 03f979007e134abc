/* tds_raw.c - a client that costs next to nothing: logs in, sends a batch, reads the packets of the
 * response and throws them away; the rows are those of the last DONE. What is left is the server.
 *
 *   bench-tds-raw ADDRESS DATABASE PASSWORD [CONNECTIONS [REPEATS]] < SQL
 *
 * Prints "rows R bytes B wall_s W median_us U": all rows and bytes, the time from the first request
 * to the last response, and the median of one batch's time. Each connection sends the batch
 * REPEATS times; "{n}" in it becomes the connection's number. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tds/tds_login.h"
#include "tds/tds_response.h"

#define READ_BYTES       ((size_t)1 << 20)
#define TAIL_BYTES       4096 /* of the response, to show an error from */
#define DONE_BYTES       13   /* from TDS 7.2 on */
#define CONNECTIONS_MOST 64
#define REPEATS_MOST     1000000

typedef struct Reader {
    TdsTransport transport; /* first */
    int          socket;
    TdsWriter   *writer;
    Arena       *arena;
    Str          address, database, password, sql;
    uint8_t     *buffer;
    size_t       have;             /* bytes of the next packet that came with the last ones */
    uint8_t      tail[TAIL_BYTES]; /* the end of the response */
    size_t       tail_len;
    int64_t      repeats;
    uint64_t     rows, bytes;
    int64_t     *times_ns;
} Reader;

static void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "bench-tds-raw: %s: %s\n", what, why);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- the connection --- */

static bool reader_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    ssize_t got;

    do
        got = recv(((Reader *)base)->socket, buf, size, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) return err_set_errno(err, ERR_SOURCE, errno, "the connection broke");
    *got_out = (size_t)got;
    return true;
}

static bool reader_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    while (len > 0) {
        ssize_t sent = send(((Reader *)base)->socket, bytes, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return err_set_errno(err, ERR_SOURCE, errno, "the connection broke");
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

static int open_socket(Str address, Arena *arena)
{
    struct addrinfo  hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int              on    = 1;
    size_t           colon = address.len;

    while (colon > 0 && address.ptr[colon - 1] != ':')
        colon--;
    if (colon == 0) fail("address", "it is HOST:PORT");
    const char *host       = str_c(arena, str_slice(address, 0, colon - 1));
    const char *port       = str_c(arena, str_slice(address, colon, address.len));
    int         resolution = getaddrinfo(host, port, &hints, &found);
    if (resolution != 0) fail("address", gai_strerror(resolution));
    int fd = socket(found->ai_family, found->ai_socktype, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        fail("connect", strerror(errno));
    freeaddrinfo(found);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void must(bool ok, const char *what, const Err *err)
{
    if (!ok) fail(what, err->message);
}

static void log_in(Reader *reader)
{
    TdsLogin   login = {.tds_version  = TDS_VERSION_74,
                        .packet_bytes = TDS_MAX_PACKET_BYTES,
                        .host         = STR("bench"),
                        .user         = STR("sa"),
                        .password     = reader->password,
                        .app          = STR("bench-tds-raw"),
                        .database     = reader->database};
    TdsMessage message;
    TdsItem    item;
    Err        err = ERR_INIT;
    bool       is_end, is_in = false;

    tds_writer_begin(reader->writer, TDS_PACKET_PRELOGIN, 0);
    tds_put_prelogin(reader->writer, 0, 0, 0, TDS_ENCRYPT_NOT_SUP, false);
    must(tds_writer_end(reader->writer, &err), "prelogin", &err);
    must(tds_read_message(&reader->transport, reader->arena, READ_BYTES, &message, &is_end, &err),
         "prelogin", &err);
    tds_writer_begin(reader->writer, TDS_PACKET_LOGIN7, 0);
    tds_put_login(reader->writer, &login);
    must(tds_writer_end(reader->writer, &err), "login", &err);
    must(tds_read_message(&reader->transport, reader->arena, READ_BYTES, &message, &is_end, &err),
         "login", &err);
    TdsResponse response = tds_response(message.body, TDS_VERSION_74, reader->arena);
    while (tds_next_item(&response, reader->arena, &item) && item.kind != TDS_ITEM_END) {
        if (item.kind == TDS_ITEM_MESSAGE && item.message.is_error)
            fail("login", str_c(reader->arena, item.message.text.text));
        is_in |= item.kind == TDS_ITEM_LOGIN_ACK;
    }
    if (!is_in) fail("login", "no acknowledgement");
    tds_writer_set_packet_bytes(reader->writer, TDS_MAX_PACKET_BYTES);
}

static void *connect_reader(void *arg)
{
    Reader *reader = arg;

    reader->transport = (TdsTransport){.read = reader_read, .write = reader_write};
    reader->arena     = arena_new();
    reader->socket    = open_socket(reader->address, reader->arena);
    reader->writer    = tds_writer_new(&reader->transport);
    reader->buffer    = mem_alloc(READ_BYTES);
    reader->times_ns  = mem_alloc((size_t)reader->repeats * sizeof(int64_t));
    log_in(reader);
    return NULL;
}

/* --- a batch --- */

static void send_batch(Reader *reader)
{
    static const uint8_t headers[22] = {22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0,
                                        0,  0, 0, 0, 0,  0, 0, 1, 0, 0, 0};
    Err                  err         = ERR_INIT;

    tds_writer_begin(reader->writer, TDS_PACKET_BATCH, 0);
    tds_put_bytes(reader->writer, headers, sizeof headers);
    tds_put_text(reader->writer, reader->sql);
    must(tds_writer_end(reader->writer, &err), "batch", &err);
}

static void keep_tail(Reader *reader, const uint8_t *bytes, size_t len)
{
    size_t old   = MIN(reader->tail_len, TAIL_BYTES - MIN(len, TAIL_BYTES));
    size_t added = MIN(len, TAIL_BYTES);

    memmove(reader->tail, reader->tail + reader->tail_len - old, old);
    memcpy(reader->tail + old, bytes + len - added, added);
    reader->tail_len = old + added;
}

/* Reads over one packet of the buffer; false: it is not whole yet. */
static bool take_packet(Reader *reader, const uint8_t *at, size_t left, size_t *len_out,
                        bool *is_last_out)
{
    if (left < TDS_HEADER_BYTES) return false;
    *len_out = (size_t)at[2] << 8 | at[3];
    if (*len_out < TDS_HEADER_BYTES) fail("response", "a malformed packet");
    if (left < *len_out) return false;
    *is_last_out = (at[1] & TDS_STATUS_END) != 0;
    keep_tail(reader, at + TDS_HEADER_BYTES, *len_out - TDS_HEADER_BYTES);
    return true;
}

static void count_rows(Reader *reader)
{
    const uint8_t *done = reader->tail + reader->tail_len - DONE_BYTES;

    if (reader->tail_len < DONE_BYTES || done[0] < TDS_TOKEN_DONE) fail("response", "no DONE");
    if (done[1] & TDS_DONE_ERROR) {
        TdsResponse response = tds_response((Bytes){reader->tail, reader->tail_len}, TDS_VERSION_74,
                                            reader->arena);
        TdsItem     item;
        while (tds_next_item(&response, reader->arena, &item) && item.kind != TDS_ITEM_END)
            if (item.kind == TDS_ITEM_MESSAGE)
                fail("batch", str_c(reader->arena, item.message.text.text));
        fail("batch", "an error");
    }
    uint64_t rows = 0;
    for (int i = 7; i >= 0; i--)
        rows = rows << 8 | done[5 + i];
    if (done[1] & TDS_DONE_COUNT) reader->rows += rows;
}

static void read_response(Reader *reader)
{
    bool is_last = false;

    reader->tail_len = 0;
    while (!is_last) {
        ssize_t got = recv(reader->socket, reader->buffer + reader->have, READ_BYTES - reader->have,
                           0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) fail("response", got < 0 ? strerror(errno) : "the server hung up");
        reader->have += (size_t)got;
        reader->bytes += (uint64_t)got;
        size_t at = 0, len;
        while (!is_last &&
               take_packet(reader, reader->buffer + at, reader->have - at, &len, &is_last))
            at += len;
        memmove(reader->buffer, reader->buffer + at, reader->have - at);
        reader->have -= at;
    }
    count_rows(reader);
}

static void *run_reader(void *arg)
{
    Reader *reader = arg;

    for (int64_t i = 0; i < reader->repeats; i++) {
        int64_t began_ns = now_ns();
        send_batch(reader);
        read_response(reader);
        reader->times_ns[i] = now_ns() - began_ns;
    }
    return NULL;
}

/* --- all of them --- */

static Str read_sql(Arena *arena)
{
    Buf    text = buf_new(arena, 0);
    char   part[65536];
    size_t got;

    while ((got = fread(part, 1, sizeof part, stdin)) > 0)
        buf_append(&text, (Str){part, got});
    return buf_str(&text);
}

/* `sql` with the connection's number in it. */
static Str numbered(Arena *arena, Str sql, size_t number)
{
    Buf    text = buf_new(arena, 0);
    char   digits[24];
    size_t from = 0;

    (void)snprintf(digits, sizeof digits, "%zu", number);
    for (size_t i = 0; i + 3 <= sql.len; i++) {
        if (memcmp(sql.ptr + i, "{n}", 3) != 0) continue;
        buf_append(&text, str_slice(sql, from, i));
        buf_append_c(&text, digits);
        from = i + 3;
    }
    buf_append(&text, str_slice(sql, from, sql.len));
    return buf_str(&text);
}

static void for_each(Reader *readers, size_t count, void *(*work)(void *arg))
{
    pthread_t threads[CONNECTIONS_MOST];

    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, &readers[i]) != 0) fail("thread", "none");
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
}

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void print_totals(Reader *readers, size_t count, int64_t wall_ns)
{
    uint64_t rows = 0, bytes = 0;

    for (size_t i = 0; i < count; i++) {
        rows += readers[i].rows;
        bytes += readers[i].bytes;
    }
    qsort(readers[0].times_ns, (size_t)readers[0].repeats, sizeof(int64_t), compare_times);
    printf("rows %" PRIu64 " bytes %" PRIu64 " wall_s %.6f median_us %.1f\n", rows, bytes,
           (double)wall_ns / 1e9, (double)readers[0].times_ns[readers[0].repeats / 2] / 1e3);
}

int main(int argc, char **argv)
{
    static Reader readers[CONNECTIONS_MOST];
    Arena        *arena = arena_new();
    int64_t       count = 1, repeats = 1;

    if (argc < 4 || argc > 6 || (argc > 4 && !str_parse_i64(str_from_c(argv[4]), &count)) ||
        (argc > 5 && !str_parse_i64(str_from_c(argv[5]), &repeats)) || count < 1 ||
        count > CONNECTIONS_MOST || repeats < 1 || repeats > REPEATS_MOST) {
        (void)fprintf(stderr, "usage: bench-tds-raw ADDRESS DATABASE PASSWORD [CONNECTIONS "
                              "[REPEATS]] < SQL\n");
        return 2;
    }
    Str sql = read_sql(arena);
    for (size_t i = 0; i < (size_t)count; i++)
        readers[i] = (Reader){.address  = str_from_c(argv[1]),
                              .database = str_from_c(argv[2]),
                              .password = str_from_c(argv[3]),
                              .sql      = numbered(arena, sql, i),
                              .repeats  = repeats};
    for_each(readers, (size_t)count, connect_reader);
    int64_t began_ns = now_ns();
    for_each(readers, (size_t)count, run_reader);
    print_totals(readers, (size_t)count, now_ns() - began_ns);
    for (size_t i = 0; i < (size_t)count; i++) {
        (void)close(readers[i].socket);
        tds_writer_close(readers[i].writer);
        mem_free(readers[i].buffer);
        mem_free(readers[i].times_ns);
        arena_close(readers[i].arena);
    }
    arena_close(arena);
    return 0;
}
