/* queries_world.h - a tidesim of its own, as a child process, and a way to run scripts on it. */
#ifndef TIDELAKE_QUERIES_WORLD_H
#define TIDELAKE_QUERIES_WORLD_H

#include "support/test_support.h"

#include "base/buf.h"
#include "engine/plan_parts.h"
#include "source/mssql.h"

typedef struct World {
    Arena     *arena;
    Clock     *clock;
    Rng       *rng;
    Log       *log;
    Buf        log_text;
    Cancel    *cancel;
    pid_t      server;
    Str        port;
    Str        driver; /* as Driver= takes it */
    SqlDriver *sql;
    SqlConn   *admin;
    Mssql     *mssql;
    Err        err;
} World;

/* A connection string for that login. */
Str world_connection(World *world, const char *user, const char *password, const char *database);
/* Starts tidesim in zone Eastern Standard Time with the tables of this test. */
World       *world_open(const char *driver);
void         world_close(World *world);
void         world_run(World *world, const char *sql); /* as sa; fails the test */
MssqlOptions world_options(World *world);
Mssql       *world_mssql(World *world); /* opened once, as sa */
/* Rows of a stream as text, values by '|', rows by '\n'; sorted when `sorted`. False: `err` is set.
 */
bool world_rows(World *world, RowStream *stream, bool sorted, Str *out);
Str  world_query(World *world, const char *sql);

Lsn          world_max_lsn(World *world);
void         world_scan(World *world); /* CDC's capture, now */
CaptureTable world_find(World *world, const char *name);
Schema       world_captured_schema(World *world, const CaptureInstance *instance);
/* The whole table as it is now. */
TableRead world_whole_table(World *world, const CaptureTable *table, const Schema *schema);
/* The rows of one part as sorted text; `*rows` says how many. */
Str world_read_part(World *world, const CaptureTable *table, const TableCut *cut,
                    const PartPlan *plan, size_t part, int64_t *rows);

/* A path of Microsoft's driver, NULL when it is not installed. */
const char *world_microsoft_driver(Arena *arena);

/* Runs the cases once through each driver that is installed; returns how many failed. Each finds its driver's world,
 * which the first that needs it opens, by world_of. */
int    world_run_cases(const char *group, const struct CMUnitTest *cases, size_t case_count);
World *world_of(void **state);

#endif
