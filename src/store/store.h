/* store.h - files at paths: the only way anything we keep reaches a disk (delta.md 2.1, 2.10;
 * style.md 7).
 *
 * Paths are '/'-separated. An absolute path is itself; a relative one is under the store's root.
 * Directories come into being with the first file in them. Every write is all or nothing and
 * durable when the call returns: a crash at any instruction leaves the old content, the new
 * content, or nothing where there was nothing. One contract test runs against every implementation.
 *
 * Errors: ERR_NOT_FOUND (no such file), ERR_CONFLICT (put_new, publish: the path exists),
 * ERR_UNSUPPORTED (a file system without links and exclusive rename), ERR_STORE (anything else;
 * errno in native, the path in the message). A directory where a file is meant is ERR_STORE. */
#ifndef TIDELAKE_STORE_STORE_H
#define TIDELAKE_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/sched.h"
#include "base/str.h"

#include <stdatomic.h>

typedef struct StoreEntry {
    Str     name; /* last component; directories are not listed */
    int64_t size_bytes;
    int64_t modified_utc_us;
} StoreEntry;

typedef struct StoreList {
    StoreEntry *entries; /* sorted bytewise by name */
    size_t      count;
} StoreList;

/* What a folder holds, for whoever tidies up. */
typedef struct StoreChild {
    Str     name;
    bool    is_directory;
    int64_t size_bytes;
    int64_t modified_utc_us;
} StoreChild;

typedef struct StoreChildren {
    StoreChild *items; /* sorted bytewise by name */
    size_t      count;
} StoreChildren;

/* A staging folder whose run is dead. */
typedef struct StoreDeadRun {
    Str     name; /* "<purpose>/<run id>" */
    int64_t file_count, size_bytes;
} StoreDeadRun;

/* The folders of dead runs that were taken over. */
typedef struct StoreStagings {
    struct StoreStaging **items;
    size_t                count;
} StoreStagings;

/* What a staged file is. */
typedef struct StoreMeasure {
    int64_t  size_bytes;
    uint64_t checksum; /* base/checksum.h */
} StoreMeasure;

typedef struct StoreDeadRuns {
    StoreDeadRun *items;
    size_t        count;
} StoreDeadRuns;

typedef struct Store        Store;
typedef struct StoreStaging StoreStaging;

/* The interface. Call through the functions below, never through the members. */
struct Store {
    bool (*read)(Store *store, Str path, size_t limit_bytes, Arena *arena, Bytes *out, Err *err);
    bool (*stat)(Store *store, Str path, StoreEntry *out, Err *err);
    bool (*put_new)(Store *store, Str path, Bytes data, Err *err);
    bool (*replace)(Store *store, Str path, Bytes data, Err *err);
    bool (*list_after)(Store *store, Str directory, Str after, Arena *arena, StoreList *out,
                       Err *err);
    bool (*remove)(Store *store, Str path, Err *err);
    bool (*list_children)(Store *store, Str directory, Arena *arena, StoreChildren *out, Err *err);
    bool (*remove_directory)(Store *store, Str path, bool *removed_out, Err *err);
    bool (*fetch_local)(Store *store, Str path, Arena *arena, Str *local_out, Err *err);
    bool (*staging_open)(Store *store, Str table_path, Str purpose, Str run_id, StoreStaging **out,
                         Err *err);
    bool (*staging_file)(StoreStaging *staging, Str name, Arena *arena, Str *local_out, Err *err);
    bool (*staging_publish)(StoreStaging *staging, Str name, Str path, StoreEntry *out, Err *err);
    bool (*staging_sync)(StoreStaging *staging, Err *err);
    bool (*staging_seal)(StoreStaging *staging, const Str *names, size_t count, Str seal,
                         Bytes data, Err *err);
    bool (*staging_take)(Store *store, Str table_path, Str purpose, Arena *arena,
                         StoreStagings *out, Err *err);
    bool (*staging_is_there)(StoreStaging *staging);
    void (*staging_close)(StoreStaging *staging);
    void (*staging_abandon)(StoreStaging *staging);
    bool (*staging_sweep)(Store *store, Str table_path, bool dry_run, Arena *arena,
                          StoreDeadRuns *out, int64_t *held_out, Err *err);
    void (*close)(Store *store);
};

struct StoreStaging { /* implementations embed it as their first member */
    Store      *store;
    atomic_uint unpublished; /* files that it was asked for and that were not published */
};

/* --- files --- */

/* Whole content. ERR_LIMIT when larger than limit_bytes. */
bool store_read(Store *store, Str path, size_t limit_bytes, Arena *arena, Bytes *out,
                Err *err) MUST_CHECK;
/* Size and time; out->name is not set. */
bool store_stat(Store *store, Str path, StoreEntry *out, Err *err) MUST_CHECK;
/* Exclusive: of several callers exactly one succeeds, the rest get ERR_CONFLICT. A reader never
 * sees part of it. */
bool store_put_new(Store *store, Str path, Bytes data, Err *err) MUST_CHECK;
/* Atomic: a reader sees the old content or the new. Removes a stale Hadoop checksum sibling
 * `.<name>.crc` first (delta.md 2.10). */
bool store_replace(Store *store, Str path, Bytes data, Err *err) MUST_CHECK;
/* The files of a directory whose names sort after `after` ("" for all), without temporary files of
 * this store. A directory that does not exist is empty. */
bool store_list_after(Store *store, Str directory, Str after, Arena *arena, StoreList *out,
                      Err *err) MUST_CHECK;
/* Removing what is not there succeeds. */
bool store_remove(Store *store, Str path, Err *err) MUST_CHECK;
/* The files and folders of a directory, symbolic links and what is neither left out. A directory
 * that does not exist is empty. */
bool store_list_children(Store *store, Str directory, Arena *arena, StoreChildren *out,
                         Err *err) MUST_CHECK;
/* Removes an empty directory; one that holds something, or is not there, stays as it is. */
bool store_remove_directory(Store *store, Str path, bool *removed_out, Err *err) MUST_CHECK;
/* A local path that libduckdb can read the file at, good until the store is closed. ERR_NOT_FOUND
 * when the file is gone. */
bool store_fetch_local(Store *store, Str path, Arena *arena, Str *local_out, Err *err) MUST_CHECK;
void store_close(Store *store); /* accepts NULL; every staging must be closed */

/* `directory`/`name` in `arena`; no doubled '/'. */
Str store_join(Arena *arena, Str directory, Str name);
/* Percent-encodes for one path component: keeps A-Z a-z 0-9 - . _ ~ and encodes all else. */
Str store_encode_component(Arena *arena, Str text);

/* --- staging: data files before their commit (delta.md 2.1) ---
 * `<table>/_tidelake_staging/<purpose>/<run id>/`, held by an advisory lock as long as the staging
 * is open. Opening one removes the folders of the same purpose whose lock can be taken: those of
 * dead runs. `purpose` says what and for whom ("stream.orders-v1", "apply"); it is percent-encoded.
 * Several threads may stage and publish files of one staging at a time. */
bool store_staging_open(Store *store, Str table_path, Str purpose, Rng *rng, StoreStaging **out,
                        Err *err) MUST_CHECK;
/* A local path a new file called `name` may be written at by libduckdb. Nothing is created. */
bool store_staging_file(StoreStaging *staging, Str name, Arena *arena, Str *local_out,
                        Err *err) MUST_CHECK;
/* The same, written here. ERR_STORE. */
bool store_staging_put(StoreStaging *staging, Str name, Bytes data, Err *err) MUST_CHECK;
/* Makes the staged file durable and moves it to `path`, never replacing. `out` (may be NULL) gets
 * its size and time. Several files may be published before one store_staging_sync, which makes
 * their names in the table's folder durable; names in other folders are durable at once. */
bool store_staging_publish(StoreStaging *staging, Str name, Str path, StoreEntry *out,
                           Err *err) MUST_CHECK;
bool store_staging_sync(StoreStaging *staging, Err *err) MUST_CHECK;
/* Whether it may serve as if it had just been opened: all that was staged was published, and its folder is where it
 * was. */
bool store_staging_is_fresh(StoreStaging *staging);
/* Removes what was not published, and the folder. Accepts NULL. */
void store_staging_close(StoreStaging *staging);
/* Lets go of it as the death of a process does: the lock goes, the files stay for the next run to
 * remove. For simulated crashes. Accepts NULL. */
void store_staging_abandon(StoreStaging *staging);
/* --- staged files that outlive their run ---
 * Makes the staged files `names` durable, then writes `data` next to them under the name `seal`, whole or not
 * at all: who finds the seal finds the files. */
bool store_staging_seal(StoreStaging *staging, const Str *names, size_t count, Str seal, Bytes data,
                        Err *err) MUST_CHECK;
/* Takes the folders of dead runs of a purpose over, each under its lock as if it had been opened: the caller
 * closes (which removes them) or abandons every one. Before store_staging_open of that purpose, which
 * removes them. */
bool store_staging_take(Store *store, Str table_path, Str purpose, Arena *arena, StoreStagings *out,
                        Err *err) MUST_CHECK;
/* A staged file's content, or its size and checksum. ERR_NOT_FOUND: it is not there, or empty. */
bool store_staging_read(StoreStaging *staging, Str name, size_t limit_bytes, Arena *arena,
                        Bytes *out, Err *err) MUST_CHECK;
bool store_staging_measure(StoreStaging *staging, Str name, StoreMeasure *out, Err *err) MUST_CHECK;

/* The folders of dead runs below a table, whatever their purpose, those whose lock can be taken;
 * removed unless `dry_run`. `held_out` (may be NULL): how many somebody holds. */
bool store_staging_sweep(Store *store, Str table_path, bool dry_run, Arena *arena,
                         StoreDeadRuns *out, int64_t *held_out, Err *err) MUST_CHECK;

/* --- implementations --- */

/* Local disk. `root` is where relative paths start; "" for the working directory. */
Store *store_local_new(Str root);

/* In memory, for tests and simulation: deterministic, times from `clock`. Staged and fetched files
 * are memfds (/proc/self/fd/N). Each call is a sched_point when `sched` is given. Several
 * "processes" of a simulation share one. */
typedef struct Clock Clock;
Store               *store_memory_new(Clock *clock, Sched *sched);
/* What a power failure leaves: staged files that were not sealed are gone, and so are published ones whose names no
 * store_staging_sync made durable. Runs that still hold a staging must be over
 * (store_staging_abandon). */
void store_memory_lose_power(Store *store);

/* Wraps another store (not owned) and fails or "crashes" at a chosen step. A step is one call that
 * changes something: put_new, replace, remove, remove_directory, staging_publish, staging_sync,
 * staging_seal, staging_sweep (reads can be counted too). After a crash, closing a staging abandons it. */
typedef struct FaultPlan {
    uint64_t fail_at_step; /* 1 is the first step; 0: never */
    bool     after_effect; /* the effect lands, the answer is lost */
    bool     crash;        /* every call after that one fails too: the process is dead */
    bool     count_reads;  /* reads, stats, listings and fetches are steps too */
    uint64_t step_count;   /* steps so far */
    uint64_t fetch_count;  /* store_fetch_local calls so far */
    bool     has_crashed;  /* set by the crash; read by a simulated SqlConn of the process too */
    int      error_errno;  /* errno reported, e.g. ENOSPC, EROFS; 0: EIO */
    Str      only_path_containing; /* "" for every path: steps on others are not counted */
    /* Told of every step before it is taken, without a lock, so it may let others run; may be NULL. */
    void (*on_step)(void *arg, uint64_t step, const char *operation, Str path);
    void *on_step_arg;
} FaultPlan;
Store *store_fault_new(Store *inner, FaultPlan *plan); /* `plan` is borrowed */

#endif
