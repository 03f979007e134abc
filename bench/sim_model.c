/* sim_model.c - what tidesim's model does in a second, without parser and socket: a floor under
 * every figure that has a simulated server in it (sqlserver.md 2.18).
 *
 *   bench-sim-model [ROWS]
 *
 * Inserts ROWS rows (a million) in one transaction, scans them, seeks them, commits them one by one
 * under CDC and captures them. Rows a second of CPU time, because the machine is shared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "sim/capture/cdc.h"
#include "sim/model/model.h"

typedef struct Bench {
    SimServer   *server;
    SimDatabase *database;
    SimWaiter    waiter;
    int64_t      rows;
} Bench;

static double cpu_seconds(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void check(bool ok, const SimError *error)
{
    if (ok) return;
    (void)fprintf(stderr, "bench-sim-model: %d %s\n", error->number, error->message);
    exit(1);
}

static void print_rate(const char *what, int64_t count, double seconds)
{
    (void)printf("%-34s %8.2f million/s\n", what, (double)count / seconds / 1e6);
}

static SimTxn *begin(Bench *bench)
{
    SimTxn *txn = sim_txn_begin(bench->database, &bench->waiter, SIM_READ_COMMITTED);
    sim_txn_statement_begin(txn);
    return txn;
}

static void commit(SimTxn *txn)
{
    SimError error = SIM_ERROR_INIT;
    sim_txn_statement_end(txn);
    check(sim_txn_commit(txn, NULL, &error), &error);
}

/* dbo.<name>(id bigint, a int, made datetime, code varchar(16)) */
static SimTable *make_table(Bench *bench, Str name)
{
    static const char *const names[] = {"id", "a", "made", "code"};
    static const char *const types[] = {"bigint", "int", "datetime", "varchar(16)"};
    SimColumn                columns[4];
    SimIndexColumn           id    = {.column_id = 1};
    SimIndex                 key   = {.is_unique      = true,
                                      .is_clustered   = true,
                                      .is_primary_key = true,
                                      .columns        = &id,
                                      .column_count   = 1};
    SimTableSpec             spec  = {.schema       = STR("dbo"),
                                      .name         = name,
                                      .columns      = columns,
                                      .column_count = 4,
                                      .indexes      = &key,
                                      .index_count  = 1};
    SimError                 error = SIM_ERROR_INIT;
    SimTable                *table = NULL;

    for (size_t i = 0; i < 4; i++) {
        columns[i] = (SimColumn){.name = str_from_c(names[i]), .is_nullable = i > 0};
        check(sim_type_parse(str_from_c(types[i]), &columns[i].type), &error);
    }
    SimTxn *txn = begin(bench);
    check(sim_create_table(txn, &spec, &table, &error), &error);
    commit(txn);
    return table;
}

static void insert(SimTxn *txn, SimTable *table, int64_t id)
{
    SimError error     = SIM_ERROR_INIT;
    SimType  text      = sim_type(SIM_VARCHAR);
    SimValue values[4] = {sim_int(id, SIM_BIGINT),
                          sim_int(id % 1000, SIM_INT),
                          sim_datetime_from_us(id * 1000),
                          {.type = text, .bytes = {(const uint8_t *)"code of row", 11}}};

    check(sim_insert(txn, table, values, &error), &error);
}

static void bench_insert(Bench *bench, SimTable *table)
{
    double  before = cpu_seconds();
    SimTxn *txn    = begin(bench);

    for (int64_t id = 0; id < bench->rows; id++)
        insert(txn, table, id);
    commit(txn);
    print_rate("rows inserted in one transaction", bench->rows, cpu_seconds() - before);
}

/* `decodes`: every column as a value; else its wire bytes. */
static void bench_scan(Bench *bench, SimTable *table, bool decodes)
{
    SimError             error   = SIM_ERROR_INIT;
    SimScanOptions       options = {.isolation = SIM_READ_COMMITTED};
    SimScan             *scan    = NULL;
    size_t               count   = 0;
    uint64_t             bytes   = 0;
    const SimRow *const *rows;
    double               before = cpu_seconds();
    SimTxn              *txn    = begin(bench);

    check(sim_scan_open(txn, table, NULL, &options, &scan, &error), &error);
    do {
        check(sim_scan_next(scan, &rows, &count, &error), &error);
        for (size_t i = 0; i < count; i++)
            for (size_t column = 0; column < 4; column++) {
                SimValue value;
                if (decodes) sim_row_value(table, rows[i], column, &value);
                bytes += decodes ? value.is_null : sim_row_wire(table, rows[i], column).len;
            }
    } while (count > 0);
    sim_scan_close(scan);
    commit(txn);
    print_rate(decodes ? "rows scanned, decoded" : "rows scanned, wire bytes", bench->rows,
               cpu_seconds() - before);
    if (!decodes)
        (void)printf("%-34s %8.1f bytes a row\n", "  of them", (double)bytes / (double)bench->rows);
}

static void bench_seek(Bench *bench, SimTable *table)
{
    SimError error  = SIM_ERROR_INIT;
    int64_t  seeks  = bench->rows / 5;
    double   before = cpu_seconds();
    SimTxn  *txn    = begin(bench);

    for (int64_t i = 0; i < seeks; i++) {
        SimValue             key     = sim_int(i * 7919 % bench->rows, SIM_BIGINT);
        SimRange             range   = {.equal = &key, .equal_count = 1};
        SimScanOptions       options = {.isolation = SIM_READ_COMMITTED, .limit_hint = 1};
        SimScan             *scan    = NULL;
        size_t               count   = 0;
        const SimRow *const *rows;
        check(sim_scan_open(txn, table, &range, &options, &scan, &error), &error);
        check(sim_scan_next(scan, &rows, &count, &error), &error);
        sim_scan_close(scan);
    }
    commit(txn);
    print_rate("seeks of a key", seeks, cpu_seconds() - before);
}

static void enable(Bench *bench, Str name)
{
    SimError       error = SIM_ERROR_INIT;
    SimEnableTable args  = {.source_schema = STR("dbo"), .source_name = name};
    SimTxn        *txn   = begin(bench);

    check(sim_cdc_enable_database(txn, &error), &error);
    commit(txn);
    txn = begin(bench);
    check(sim_cdc_enable_table(txn, &args, &error), &error);
    commit(txn);
}

static void bench_capture(Bench *bench, const char *what)
{
    SimError error  = SIM_ERROR_INIT;
    int64_t  rows   = 0;
    double   before = cpu_seconds();

    check(sim_cdc_scan_now(bench->database, NULL, &rows, &error), &error);
    print_rate(what, rows, cpu_seconds() - before);
}

static void bench_commits(Bench *bench, SimTable *table)
{
    int64_t commits = bench->rows / 5;
    double  before  = cpu_seconds();

    for (int64_t id = 0; id < commits; id++) {
        SimTxn *txn = begin(bench);
        insert(txn, table, id);
        commit(txn);
    }
    print_rate("commits of one row, to capture", commits, cpu_seconds() - before);
    bench_capture(bench, "rows captured, a commit each");
    SimTxn *txn = begin(bench);
    for (int64_t id = commits; id < commits + bench->rows; id++)
        insert(txn, table, id);
    commit(txn);
    bench_capture(bench, "rows captured, one commit");
}

int main(int argc, char **argv)
{
    Bench           bench   = {.rows = 1000000};
    Clock          *clock   = clock_new_real();
    Sched          *sched   = sched_new_real();
    Rng            *rng     = rng_new(1);
    SimModelOptions options = {
        .clock = clock, .sched = sched, .rng = rng, .capture_interval_ms = -1};
    SimError error = SIM_ERROR_INIT;

    if (argc > 1 && (!str_parse_i64(str_from_c(argv[1]), &bench.rows) || bench.rows < 10)) {
        (void)fprintf(stderr, "usage: bench-sim-model [ROWS]\n");
        return 2;
    }
    check(sim_model_open(&options, &bench.server, &error), &error);
    check(sim_create_database(bench.server, STR("bench"), &error), &error);
    bench.database = sim_server_find_database(bench.server, STR("bench"));
    bench.waiter   = (SimWaiter){
          .session_id = 51, .lock_timeout_ms = -1, .wake = queue_new(sched, 1)};
    SimTable *plain = make_table(&bench, STR("plain"));
    bench_insert(&bench, plain);
    bench_scan(&bench, plain, false);
    bench_scan(&bench, plain, true);
    bench_seek(&bench, plain);
    SimTable *captured = make_table(&bench, STR("captured"));
    enable(&bench, STR("captured"));
    bench_commits(&bench, captured);
    queue_free(bench.waiter.wake);
    sim_model_close(bench.server);
    rng_close(rng);
    sched_close(sched);
    clock_close(clock);
    return 0;
}
