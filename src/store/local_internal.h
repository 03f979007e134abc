/* What the parts of the local store share: paths, durable directories, and names given without
 * replacing. */
#ifndef TIDELAKE_STORE_LOCAL_INTERNAL_H
#define TIDELAKE_STORE_LOCAL_INTERNAL_H

#include "base/limits.h"
#include "store/store.h"

#include <sys/stat.h>

typedef struct LocalStore {
    Store base;
    Rng  *rng; /* names of temporary files */
    Str   root;
} LocalStore;

/* A path as the system takes it. `name` is its last component, inside `text`. */
typedef struct LocalPath {
    char        text[LIMIT_PATH_BYTES];
    char        directory[LIMIT_PATH_BYTES];
    const char *name;
} LocalPath;

bool local_resolve(const LocalStore *local, Str path, LocalPath *out, Err *err) MUST_CHECK;
/* Makes the directory and what is missing above it, durably. */
bool local_make_directories(const char *directory, Err *err) MUST_CHECK;
/* Opens the directory, which is made when it is missing. */
bool local_open_directory(const char *directory, int *fd_out, Err *err) MUST_CHECK;
/* Makes the names in it durable. */
bool local_sync_directory(int directory_fd, const char *directory, Err *err) MUST_CHECK;
/* fsync that a signal cannot cut short. */
int  local_sync(int fd);
void local_entry_from_stat(const struct stat *status, StoreEntry *out);

/* Moves a finished file to a name that must not exist yet (ERR_CONFLICT). A link is tried first for
 * what others race for, an exclusive rename for names that are ours alone; each is the other's
 * substitute where a file system lacks one (delta.md 2.10). */
typedef struct LocalMove {
    int         from_fd, to_fd; /* directories */
    const char *from, *to;      /* names in them */
    const char *path;           /* the target, for messages */
    bool        rename_first;
} LocalMove;
bool local_move_new(const LocalMove *move, Err *err) MUST_CHECK;

bool local_staging_open(Store *store, Str table_path, Str purpose, Str run_id, StoreStaging **out,
                        Err *err) MUST_CHECK;
bool local_staging_file(StoreStaging *staging, Str name, Arena *arena, Str *local_out,
                        Err *err) MUST_CHECK;
bool local_staging_publish(StoreStaging *staging, Str name, Str path, StoreEntry *out,
                           Err *err) MUST_CHECK;
bool local_staging_sync(StoreStaging *staging, Err *err) MUST_CHECK;
bool local_staging_seal(StoreStaging *staging, const Str *names, size_t count, Str seal, Bytes data,
                        Err *err) MUST_CHECK;
bool local_staging_take(Store *store, Str table_path, Str purpose, Arena *arena, StoreStagings *out,
                        Err *err) MUST_CHECK;
bool local_staging_is_there(StoreStaging *staging);
void local_staging_close(StoreStaging *staging);
void local_staging_abandon(StoreStaging *staging);
bool local_staging_sweep(Store *store, Str table_path, bool dry_run, Arena *arena,
                         StoreDeadRuns *out, int64_t *held_out, Err *err) MUST_CHECK;

bool local_list_children(Store *store, Str directory, Arena *arena, StoreChildren *out,
                         Err *err) MUST_CHECK;
bool local_remove_directory(Store *store, Str path, bool *removed_out, Err *err) MUST_CHECK;

#endif
