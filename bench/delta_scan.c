/* delta_scan.c - what deletion vectors add to a scan.
 *
 * delta-scan FOLDER ROWS ROUNDS   makes a table of 12 columns in 4 files, deletes 2 % of its rows by
 * vector, wherever they are, and reads all columns, then one, of the version before that and of the
 * one after by turns. Prints: all_ratio RATIO all_s SECONDS one_ratio RATIO one_s SECONDS (medians of
 * the rounds' ratios, and of the seconds without vectors) delete_s SECONDS (of the commit). */
#define _POSIX_C_SOURCE 200809L
#include "base/buf.h"
#include "delta/delta.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FILES      4
#define ROUNDS_MAX 1000
#define DELETED_OF 50 /* one row of so many, on average */

/* clang-format off */
#define COLUMNS(X) \
    X(id,      COLUMN_TYPE(TYPE_LONG),          "i") \
    X(a,       COLUMN_TYPE(TYPE_INTEGER),       "i % 1000") \
    X(b,       COLUMN_TYPE(TYPE_INTEGER),       "CASE WHEN i % 10 = 0 THEN NULL ELSE i % 77 END") \
    X(c,       COLUMN_TYPE(TYPE_SHORT),         "i % 300") \
    X(amount,  DECIMAL_TYPE(18, 2),             "CAST(i % 100000 AS DECIMAL(18,2))") \
    X(ratio,   COLUMN_TYPE(TYPE_DOUBLE),        "i / 3.0") \
    X(name,    COLUMN_TYPE(TYPE_STRING),        "'name of row ' || i") \
    X(code,    COLUMN_TYPE(TYPE_STRING),        "'C' || i % 4096") \
    X(made,    COLUMN_TYPE(TYPE_DATE),          "DATE '2001-01-01' + CAST(i % 9000 AS INTEGER)") \
    X(changed, COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), "TIMESTAMP '2026-01-01' + to_seconds(i % 1000000)") \
    X(flag,    COLUMN_TYPE(TYPE_BOOLEAN),       "i % 2 = 0") \
    X(ref,     COLUMN_TYPE(TYPE_STRING),        "md5(CAST(i AS VARCHAR))")
/* clang-format on */

typedef struct Bench {
    DeltaContext context;
    Arena       *arena;
    DuckSession *session;
    Str          path;
    int64_t      rows;
    int          rounds;
    Err          err;
} Bench;

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], compare);
    return values[count / 2];
}

static bool create(Bench *bench, DeltaTable **out)
{
#define X(name, type, sql) {STR(#name), type, STR_EMPTY},
    Column columns[] = {COLUMNS(X)};
#undef X
    DeltaProperty property = {STR("delta.enableDeletionVectors"), STR("true")};
    DeltaCreate   spec     = {
              .schema = {columns, COUNT_OF(columns)}, .properties = &property, .property_count = 1};

    return delta_table_create(&bench->context, bench->path, &spec, out, NULL, &bench->err);
}

static bool fill(Bench *bench, DeltaTable *table, int64_t *version)
{
    DeltaWriter *writer = NULL;
    DeltaAdd     adds[FILES];
    DeltaOutcome outcome;
    int64_t      share = bench->rows / FILES;
    bool         ok    = delta_writer_open(table, STR("bench"), NULL, &writer, &bench->err);

    for (int64_t i = 0; ok && i < FILES; i++) {
        Buf select = buf_new(bench->arena, 0);
        buf_append_c(&select, "SELECT ");
#define X(name, type, sql) buf_append_c(&select, sql " AS " #name ", ");
        COLUMNS(X)
#undef X
        buf_printf(&select, "0 AS nothing FROM range(%lld, %lld) r(i)", (long long)(i * share),
                   (long long)((i + 1) * share));
        Str columns = str_printf(bench->arena, "SELECT * EXCLUDE (nothing) FROM (%.*s)",
                                 STR_ARG(buf_str(&select)));
        ok = delta_writer_write_query(writer, bench->session, columns, bench->arena, &adds[i],
                                      &bench->err);
    }
    DeltaCommit commit = {.adds = adds, .add_count = FILES, .is_blind_append = true};
    ok                 = ok && delta_writer_publish(writer, adds, FILES, &bench->err) &&
         delta_table_commit(table, &commit, &outcome, version, &bench->err);
    delta_writer_close(writer);
    return ok;
}

static bool delete_some(Bench *bench, DeltaTable *table, double *seconds)
{
    DeltaWriter     *writer = NULL;
    DeltaDeletion    deletions[FILES];
    const DeltaFile *file;
    size_t           count = 0;
    DeltaOutcome     outcome;

    for (size_t at = 0; delta_table_next_file(table, &at, &file); count++) {
        RowSet *rows = ARENA_NEW(bench->arena, RowSet);
        *rows        = row_set_begin(bench->arena);
        for (int64_t row = 0; row < file->row_count; row++)
            if (rng_below(bench->context.rng, DELETED_OF) == 0)
                row_set_add(rows, (uint64_t)row, (uint64_t)row);
        row_set_end(rows);
        deletions[count] = (DeltaDeletion){.file = file, .rows = rows};
    }
    double      began  = now_s();
    DeltaCommit commit = {
        .operation = STR("DELETE"), .deletions = deletions, .deletion_count = count};
    bool ok = delta_writer_open(table, STR("bench"), NULL, &writer, &bench->err) &&
              delta_writer_delete_rows(writer, deletions, count, bench->arena, &bench->err) &&
              delta_writer_publish(writer, NULL, 0, &bench->err) &&
              delta_table_commit(table, &commit, &outcome, NULL, &bench->err);
    *seconds = now_s() - began;
    delta_writer_close(writer);
    return ok;
}

static bool scan(Bench *bench, DeltaTable *table, const char *what, double *seconds)
{
    Arena     *arena = arena_new();
    RowStream *rows  = NULL;
    RowBlock   block;
    Str        from;
    double     began = now_s();
    bool       ok    = delta_scan_sql(table, NULL, 0, NULL, false, arena, &from, &bench->err);

    Str sql = ok ? str_printf(arena, "SELECT %s FROM %.*s", what, STR_ARG(from)) : STR_EMPTY;
    ok      = ok && duck_query(bench->session, sql, arena, &rows, &bench->err) &&
         row_stream_next(rows, &block, &bench->err);
    row_stream_close(rows);
    *seconds = now_s() - began;
    arena_close(arena);
    return ok;
}

/* By turns, in an order that changes, so that neither has the warmer machine. */
static bool compare_scans(Bench *bench, DeltaTable *whole, DeltaTable *less, const char *name,
                          const char *what)
{
    double ratios[ROUNDS_MAX], times[ROUNDS_MAX], other, ignored;
    bool   ok = scan(bench, whole, what, &ignored) && scan(bench, less, what, &ignored);

    for (int i = 0; ok && i < bench->rounds; i++) {
        bool first = i % 2 == 0;
        ok         = scan(bench, first ? whole : less, what, first ? &times[i] : &other) &&
             scan(bench, first ? less : whole, what, first ? &other : &times[i]);
        ratios[i] = other / times[i];
    }
    if (ok)
        printf("%s_ratio %.3f %s_s %.4f ", name, median(ratios, bench->rounds), name,
               median(times, bench->rounds));
    return ok;
}

static bool run(Bench *bench)
{
    DeltaTable *table = NULL, *whole = NULL;
    int64_t     version;
    double      seconds;
    Buf         all = buf_new(bench->arena, 0);

#define X(name, type, sql) buf_append_c(&all, "max(" #name "), ");
    COLUMNS(X)
#undef X
    buf_append_c(&all, "count(*)");
    bool ok = duck_session_open(bench->context.duck, &bench->session, &bench->err) &&
              create(bench, &table) && fill(bench, table, &version) &&
              delete_some(bench, table, &seconds) &&
              delta_table_open_version(&bench->context, bench->path, version, &whole,
                                       &bench->err) &&
              compare_scans(bench, whole, table, "all", str_c(bench->arena, buf_str(&all))) &&
              compare_scans(bench, whole, table, "one", "max(ratio)");
    if (ok) printf("delete_s %.4f\n", seconds);
    delta_table_close(whole);
    delta_table_close(table);
    duck_session_close(bench->session);
    return ok;
}

static void print_line(void *arg, LogLevel level, Str line)
{
    (void)arg;
    (void)level;
    (void)fprintf(stderr, "%.*s\n", STR_ARG(line));
}

int main(int argc, char **argv)
{
    Duck       *duck    = NULL;
    DuckOptions options = {.temp_directory = STR("/tmp")};
    Bench       bench   = {.err = ERR_INIT};

    if (argc != 4) return 2;
    bench.path   = str_from_c(argv[1]);
    bench.rows   = strtoll(argv[2], NULL, 10);
    bench.rounds = (int)strtol(argv[3], NULL, 10);
    if (bench.rows < FILES || bench.rounds < 1 || bench.rounds > ROUNDS_MAX) return 2;
    if (!duck_open(&options, &duck, &bench.err)) return 1;
    Clock *clock  = clock_new_real();
    Log   *log    = log_new(clock, LOG_WARN, LOG_FORMAT_TEXT, print_line, NULL);
    Store *store  = store_local_new(STR_EMPTY);
    Rng   *rng    = rng_new_from_entropy();
    bench.arena   = arena_new();
    bench.context = (DeltaContext){.store       = store,
                                   .clock       = clock,
                                   .rng         = rng,
                                   .duck        = duck,
                                   .log         = log,
                                   .engine_info = STR("tidelake/bench"),
                                   .compression = DUCK_ZSTD};
    bool ok       = run(&bench);
    if (!ok) {
        char text[1024];
        err_format(&bench.err, text, sizeof text);
        (void)fprintf(stderr, "%s\n", text);
    }
    arena_close(bench.arena);
    duck_close(duck);
    store_close(store);
    rng_close(rng);
    log_close(log);
    clock_close(clock);
    return ok ? 0 : 1;
}
