/* tds_bulk.c - a bulk load of rows of six columns, as fast as they can be sent.
 *
 *   bench-tds-bulk [tls:]ADDRESS DATABASE PASSWORD TABLE ROWS
 *
 * The table has (id int, a int, made datetime, big bigint, c int, code varchar(16)). Prints "rows R wall_s W". */
#include "tds_client.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 6

static void put_rows(TdsWriter *writer, int64_t count)
{
    static const TdsColumn columns[COLUMNS] = {
        {STR_INIT("id"), {.token = TDS_TYPE_INTN, .length = 4}, 0},
        {STR_INIT("a"), {.token = TDS_TYPE_INTN, .length = 4}, 0},
        {STR_INIT("made"), {.token = TDS_TYPE_DATETIMEN, .length = 8}, 0},
        {STR_INIT("big"), {.token = TDS_TYPE_INTN, .length = 8}, 0},
        {STR_INIT("c"), {.token = TDS_TYPE_INTN, .length = 4}, 0},
        {STR_INIT("code"), {.token = TDS_TYPE_BIGVARCHAR, .length = 16}, 0}};
    static const char code[] = "code of row";

    tds_put_columns(writer, TDS_VERSION_74, columns, COLUMNS);
    for (int64_t id = 1; id <= count; id++) {
        TdsValue values[COLUMNS] = {{.i64 = id},
                                    {.i64 = id % 1000},
                                    {.time = {.days = 46000}},
                                    {.i64 = id * 7},
                                    {.i64 = id % 77},
                                    {.bytes = {(const uint8_t *)code, sizeof code - 1}}};
        tds_put_row(writer, TDS_VERSION_74, columns, values, COLUMNS);
    }
    tds_put_done(writer, TDS_VERSION_74, TDS_TOKEN_DONE, 0, 0, 0);
}

int main(int argc, char **argv)
{
    char     sql[512];
    int64_t  count;
    uint64_t bytes;
    Err      err = ERR_INIT;

    if (argc != 6 || !str_parse_i64(str_from_c(argv[5]), &count) || count < 1) {
        (void)fprintf(stderr, "usage: bench-tds-bulk [tls:]ADDRESS DATABASE PASSWORD TABLE ROWS\n");
        return 2;
    }
    BenchClient *client = bench_client_open(str_from_c(argv[1]), str_from_c(argv[2]),
                                            str_from_c(argv[3]));
    (void)snprintf(sql, sizeof sql,
                   "INSERT BULK %s (id int, a int, made datetime, big bigint, c int, code "
                   "varchar(16))",
                   argv[4]);
    int64_t began_ns = bench_now_ns();
    bench_client_batch(client, str_from_c(sql));
    (void)bench_client_discard(client, &bytes);
    tds_writer_begin(bench_client_writer(client), TDS_PACKET_BULK, 0);
    put_rows(bench_client_writer(client), count);
    if (!tds_writer_end(bench_client_writer(client), &err)) bench_fail("rows", err.message);
    uint64_t rows = bench_client_discard(client, &bytes);
    printf("rows %" PRIu64 " wall_s %.6f\n", rows, (double)(bench_now_ns() - began_ns) / 1e9);
    bench_client_close(client);
    return 0;
}
