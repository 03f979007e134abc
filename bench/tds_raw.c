/* tds_raw.c - a client that costs next to nothing: sends a batch, reads the packets of the response and throws them away.
 * What is left is the server.
 *
 *   bench-tds-raw [tls:]ADDRESS DATABASE PASSWORD [CONNECTIONS [REPEATS]] < SQL
 *
 * Prints "rows R bytes B wall_s W median_us U": all rows and bytes, the time from the first request to the last response, and
 * the median of one batch's time. The rows of a response are those of its last DONE. Each connection sends the batch REPEATS
 * times; "{n}" in it becomes the connection's number. */
#include "tds_client.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS_MOST 64
#define REPEATS_MOST     1000000

typedef struct Reader {
    Str          address, database, password, sql;
    BenchClient *client;
    int64_t      repeats;
    uint64_t     rows, bytes;
    int64_t     *times_ns;
} Reader;

static void *connect_reader(void *arg)
{
    Reader *reader = arg;

    reader->client   = bench_client_open(reader->address, reader->database, reader->password);
    reader->times_ns = mem_alloc((size_t)reader->repeats * sizeof(int64_t));
    return NULL;
}

static void *run_reader(void *arg)
{
    Reader  *reader = arg;
    uint64_t bytes;

    for (int64_t i = 0; i < reader->repeats; i++) {
        int64_t began_ns = bench_now_ns();
        bench_client_batch(reader->client, reader->sql);
        reader->rows += bench_client_discard(reader->client, &bytes);
        reader->bytes += bytes;
        reader->times_ns[i] = bench_now_ns() - began_ns;
    }
    return NULL;
}

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
        if (pthread_create(&threads[i], NULL, work, &readers[i]) != 0) bench_fail("thread", "none");
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
        (void)fprintf(stderr, "usage: bench-tds-raw [tls:]ADDRESS DATABASE PASSWORD [CONNECTIONS "
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
    int64_t began_ns = bench_now_ns();
    for_each(readers, (size_t)count, run_reader);
    print_totals(readers, (size_t)count, bench_now_ns() - began_ns);
    for (size_t i = 0; i < (size_t)count; i++) {
        bench_client_close(readers[i].client);
        mem_free(readers[i].times_ns);
    }
    arena_close(arena);
    return 0;
}
