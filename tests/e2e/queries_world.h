/* queries_world.h - a tidesim of its own, as a child process, and a way to run scripts on it. */
#ifndef TIDELAKE_QUERIES_WORLD_H
#define TIDELAKE_QUERIES_WORLD_H

#include "support/test_support.h"

#include "base/buf.h"
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

/* A path of Microsoft's driver, NULL when it is not installed. */
const char *world_microsoft_driver(Arena *arena);

#endif
