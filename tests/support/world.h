/* world.h - a whole tidelake on simulated time: a tidesim server in-process, one lake in memory,
 * and processes that use both behind faults of their own.
 *
 * A World lives on one simulated scheduler, so a seed decides every order of events, and the same
 * seed gives the same run. Helpers that must succeed fail the test when they do not. Include
 * test_support.h first. */
#ifndef TIDELAKE_SUPPORT_WORLD_H
#define TIDELAKE_SUPPORT_WORLD_H

#include "engine/apply.h"
#include "engine/stream.h"
#include "sim/sim.h"
#include "state/facts.h"
#include "state/payload.h"
#include "store/store.h"
#include "support/sim_sqlconn.h"

#define WORLD_START_US INT64_C(1796688000000000) /* 2026-12-08T00:00:00Z */
#define BRONZE         "lake/bronze/orders"
#define SILVER         "lake/silver/orders"
#define FACTS          "lake/facts"
#define CONTROL        "lake/control"
#define CHECKPOINT     "checkpoints/orders"
#define APP_ID         "orders-v1"

typedef struct World World;

/* One run of the program: it can die, and what it holds dies with it. */
typedef struct Process {
    World       *world;
    const char  *name;
    FaultPlan    plan; /* of its store; set before its first step */
    Store       *store;
    SqlDriver   *sql;
    Rng         *rng;
    Log         *log;
    Cancel      *cancel;
    DeltaContext delta;
    Env          env;
    Task        *task;
    /* what the last run gave */
    bool          ok;
    Err           err;
    StreamResult  stream;
    ApplyResult   apply;
    StreamOptions options;
} Process;

/* --- the world --- */

/* libduckdb takes a moment to open: one for a test program, as group set-up and tear-down. */
int world_duck_setup(void **state);
int world_duck_teardown(void **state);

World *world_open(void **state, uint64_t seed);
/* A server of that version: 2016 ... 2025. */
World *world_open_version(void **state, uint64_t seed, int version);
/* Rows with that much text get data files of their own, in processes that are opened from now on. */
void world_set_large_rows(World *world, size_t bytes);
void world_close(World *world); /* every process must be closed */

Arena        *world_arena(World *world);
Store        *world_store(World *world); /* the lake itself, without faults */
Clock        *world_clock(World *world);
Sched        *world_sched(World *world);
Rng          *world_rng(World *world); /* for the test's own choices */
DeltaContext *world_delta(World *world);
/* Lines of every process so far, "name LEVEL ...". */
size_t world_line_count(const World *world, const char *part);
Str    world_log_text(World *world);
/* Paths and contents of everything in the lake, Parquet as a hash. */
Str world_store_text(World *world);

/* --- the source --- */

/* A batch on the administrator's session. */
void world_exec(World *world, const char *fmt, ...) PRINTF(2, 3);
/* dbo.NAME(COLUMNS) with CDC on it: capture instance dbo_NAME, captured from now on. */
void world_create(World *world, const char *name, const char *columns);
void world_scan(World *world); /* what is committed becomes captured */
void world_idle(World *world); /* an idle entry in cdc.lsn_time_mapping */
/* Time passes, to the next whole minute `minutes` further on. */
void world_pass_minutes(World *world, int64_t minutes);
/* Commits and captures one batch of statements, a minute after the last; its LSN. */
Lsn world_commit(World *world, const char *fmt, ...) PRINTF(2, 3);
Lsn world_max_lsn(World *world);
/* Cleanup of every instance up to (not including) `low_water_mark`. */
void world_cleanup(World *world, Lsn low_water_mark);

/* --- the lake --- */

/* A table property, by a commit of somebody else's. */
void world_set_property(World *world, const char *path, const char *key, const char *value);

/* --- processes --- */

Process *process_open(World *world, const char *name);
void     process_close(Process *process);
/* Its log from now on at debug, the last level that holds no key values. */
void process_tell_all(Process *process);

/* dbo_orders into BRONZE with facts, control, checkpoint; available-now, one connection. */
StreamOptions world_stream_options(void);
ApplyOptions  world_apply_options(const Str *keys, size_t key_count);
bool          process_stream(Process *process, const StreamOptions *options);
bool          process_apply(Process *process, const ApplyOptions *options);
/* The same as a task of its own; process_join waits for it. */
void process_spawn_stream(Process *process, const StreamOptions *options);
void process_join(Process *process);

/* A fresh process that must succeed. */
StreamResult world_stream(World *world, const StreamOptions *options);
ApplyResult  world_apply(World *world, const ApplyOptions *options);

/* --- looking --- */

/* Rows as text, "a|b|c\n" a row, NULL as "-", in the query's order; tables stand in braces:
 * "SELECT id FROM {lake/silver/orders} ORDER BY id". Missing tables give "no table\n". */
Str world_rows(World *world, const char *sql, ...) PRINTF(2, 3);
/* The same of a query on the source. */
Str     world_source_rows(World *world, const char *sql, ...) PRINTF(2, 3);
int64_t world_version(World *world, const char *path); /* -1: no table */

#define assert_rows(world, want, ...) \
    test_assert_str(world_rows((world), __VA_ARGS__), (want), __FILE__, __LINE__)

/* Silver equals the source table, row by row. */
void assert_silver_is_source(World *world, const char *table, const char *columns);
/* Every change of dbo_NAME after `start` is in bronze once, and nothing else. */
void assert_bronze_is_complete(World *world, const char *name, Lsn start);
/* One facts row per batch, and it tells what bronze holds. */
void assert_facts_once(World *world);
/* Every version of every table opens, and its files exist. */
void assert_logs_readable(World *world);

#endif
