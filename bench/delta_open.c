/* delta_open.c - what opening and appending to a large Delta table cost.
 *
 * delta-open checkpoint FOLDER VERSION   writes the checkpoint of a version
 * delta-open open FOLDER ROUNDS          prints: open_s SECONDS cpu_s SECONDS bytes_per_file BYTES files COUNT
 * delta-open append FOLDER ROUNDS        prints: append_ms MS fsync_ms MS, medians of appends of
 *                                        one small file that wrote no checkpoint */
#define _GNU_SOURCE /* syscall, malloc_trim */
#include "delta/delta.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX          1000
#define CHECKPOINT_INTERVAL 10

typedef struct Bench {
    DeltaContext context;
    Str          path;
    int          number; /* rounds, or a version */
    Err          err;
} Bench;

static double fsync_ms; /* spent in fsync since it was set to 0 */

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int timed_fsync(long call, int file)
{
    double began  = now_ms();
    int    result = (int)syscall(call, file);

    fsync_ms += now_ms() - began;
    return result;
}

/* In place of the C library's, for the whole program. */
int fsync(int file)
{
    return timed_fsync(SYS_fsync, file);
}

int fdatasync(int file)
{
    return timed_fsync(SYS_fdatasync, file);
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

static bool checkpoint(Bench *bench)
{
    DeltaTable *table = NULL;
    bool        ok = delta_table_open_version(&bench->context, bench->path, bench->number, &table,
                                              &bench->err) &&
              delta_table_checkpoint(table, &bench->err);

    delta_table_close(table);
    return ok;
}

/* Memory of the process that is there. What is freed before the two looks at it goes back first. */
static size_t resident_bytes(void)
{
    unsigned long long total = 0, resident = 0;
    FILE              *file = fopen("/proc/self/statm", "r");

    (void)malloc_trim(0);
    if (!file || fscanf(file, "%llu %llu", &total, &resident) != 2) resident = 0;
    if (file) (void)fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

static bool open_rounds(Bench *bench)
{
    double times[ROUNDS_MAX], cpu[ROUNDS_MAX];
    size_t held = 0, files = 0;

    for (int i = 0; i < bench->number; i++) {
        DeltaTable *table = NULL;
        clock_t     spent = clock();
        double      began = now_ms();
        if (!delta_table_open(&bench->context, bench->path, &table, &bench->err)) return false;
        times[i]      = (now_ms() - began) / 1e3;
        cpu[i]        = (double)(clock() - spent) / CLOCKS_PER_SEC;
        files         = delta_table_get_file_count(table);
        size_t before = resident_bytes();
        delta_table_close(table);
        held = before - resident_bytes();
    }
    printf("open_s %.4f cpu_s %.4f bytes_per_file %.1f files %zu\n", median(times, bench->number),
           median(cpu, bench->number), (double)held / (double)files, files);
    return true;
}

static bool append_one(Bench *bench, DeltaTable *table, int64_t id)
{
    Arena        *arena   = arena_new();
    const Schema *schema  = delta_table_get_schema(table);
    RowBuilder   *builder = row_builder_new(arena, schema);
    DeltaAppend   append  = {.purpose = STR("bench"), .user_metadata = STR_EMPTY};
    DeltaOutcome  outcome;

    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, id);
    row_builder_set_str(builder, 1, STR("a row"));
    RowBlock block = row_builder_block(builder);
    append.rows    = row_stream_of_block(arena, schema, &block);
    bool ok        = delta_table_append(table, &append, &outcome, NULL, &bench->err);
    arena_close(arena);
    return ok;
}

static bool append_rounds(Bench *bench)
{
    DeltaTable *table = NULL;
    double      times[ROUNDS_MAX], synced[ROUNDS_MAX];
    int         count = 0;
    bool        ok    = delta_table_open(&bench->context, bench->path, &table, &bench->err) &&
              append_one(bench, table, 0); /* the first opens libduckdb's writer */

    while (ok && count < bench->number) {
        bool   checkpoints = (delta_table_get_version(table) + 1) % CHECKPOINT_INTERVAL == 0;
        double began       = now_ms();
        fsync_ms           = 0;
        ok                 = append_one(bench, table, count);
        if (checkpoints) continue;
        synced[count]  = fsync_ms;
        times[count++] = now_ms() - began;
    }
    delta_table_close(table);
    if (ok) printf("append_ms %.3f fsync_ms %.3f\n", median(times, count), median(synced, count));
    return ok;
}

static void print_line(void *arg, LogLevel level, Str line)
{
    (void)arg;
    (void)level;
    (void)fprintf(stderr, "%.*s\n", STR_ARG(line));
}

static bool run(Bench *bench, const char *what)
{
    if (strcmp(what, "checkpoint") == 0) return checkpoint(bench);
    if (strcmp(what, "open") == 0) return open_rounds(bench);
    if (strcmp(what, "append") == 0) return append_rounds(bench);
    return err_set(&bench->err, ERR_CONFIG, "delta-open checkpoint|open|append FOLDER NUMBER");
}

int main(int argc, char **argv)
{
    int         number  = argc == 4 ? (int)strtol(argv[3], NULL, 10) : 0;
    Duck       *duck    = NULL;
    DuckOptions options = {.temp_directory = STR("/tmp")};
    Bench       bench   = {.number = number, .err = ERR_INIT};

    if (argc != 4 || number < 1) return 2;
    if (!duck_open(&options, &duck, &bench.err)) return 1;
    Clock *clock  = clock_new_real();
    Log   *log    = log_new(clock, LOG_WARN, LOG_FORMAT_TEXT, print_line, NULL);
    Store *store  = store_local_new(STR_EMPTY);
    Rng   *rng    = rng_new_from_entropy();
    bench.path    = str_from_c(argv[2]);
    bench.context = (DeltaContext){.store       = store,
                                   .clock       = clock,
                                   .rng         = rng,
                                   .duck        = duck,
                                   .log         = log,
                                   .engine_info = STR("tidelake/bench"),
                                   .compression = DUCK_ZSTD};
    bool ok = (strcmp(argv[1], "checkpoint") == 0 || number <= ROUNDS_MAX) && run(&bench, argv[1]);
    if (!ok) {
        char text[1024];
        err_format(&bench.err, text, sizeof text);
        (void)fprintf(stderr, "%s\n", text);
    }
    duck_close(duck);
    store_close(store);
    rng_close(rng);
    log_close(log);
    clock_close(clock);
    return ok ? 0 : 1;
}
