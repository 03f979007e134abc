/* Data files before their commit, on a local disk (delta.md 2.1): a folder per run under a lock
 * that dies with its process. */
#define _GNU_SOURCE /* flock beside POSIX */
#include "base/list.h"
#include "store/local_internal.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define STAGING_FOLDER "_tidelake_staging"
#define OPEN_TRIES \
    100 /* each failed try means that another process cleaned up at that very moment */

typedef struct LocalStaging {
    StoreStaging base;
    int          folder_fd; /* holds the lock */
    char         table[LIMIT_PATH_BYTES];
    char         top[LIMIT_PATH_BYTES];     /* <table>/_tidelake_staging */
    char         purpose[LIMIT_PATH_BYTES]; /* <table>/_tidelake_staging/<purpose> */
    char         folder[LIMIT_PATH_BYTES];  /* <purpose>/<run id> */
} LocalStaging;

static void remove_files_in(int folder_fd)
{
    int            copy_fd = fcntl(folder_fd, F_DUPFD_CLOEXEC,
                                   0); /* closedir closes it; the lock stays with folder_fd */
    DIR           *folder  = copy_fd >= 0 ? fdopendir(copy_fd) : NULL;
    struct dirent *found;

    if (!folder) {
        if (copy_fd >= 0) close(copy_fd);
        return;
    }
    rewinddir(folder);
    while ((found = readdir(folder)) != NULL)
        if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0)
            (void)unlinkat(folder_fd, found->d_name, 0);
    closedir(folder);
}

/* Removes the folder of a run that has died, which is the one whose lock can be taken. What cannot
 * be removed is left for the next run: it is in nobody's way. */
static void remove_if_dead(int purpose_fd, const char *run_id)
{
    int folder_fd = openat(purpose_fd, run_id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder_fd < 0) return;
    if (flock(folder_fd, LOCK_EX | LOCK_NB) == 0) {
        remove_files_in(folder_fd);
        (void)unlinkat(purpose_fd, run_id, AT_REMOVEDIR);
    }
    close(folder_fd);
}

static void remove_dead_runs(const char *purpose)
{
    DIR           *runs = opendir(purpose);
    struct dirent *found;

    if (!runs) return;
    while ((found = readdir(runs)) != NULL)
        if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0)
            remove_if_dead(dirfd(runs), found->d_name);
    closedir(runs);
}

/* --- sweeping --- */

static void count_files_in(int folder_fd, StoreDeadRun *run)
{
    int            copy_fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0);
    DIR           *folder  = copy_fd >= 0 ? fdopendir(copy_fd) : NULL;
    struct dirent *found;
    struct stat    status;

    if (!folder) {
        if (copy_fd >= 0) close(copy_fd);
        return;
    }
    rewinddir(folder);
    while ((found = readdir(folder)) != NULL) {
        if (fstatat(folder_fd, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISDIR(status.st_mode))
            continue;
        run->file_count++;
        run->size_bytes += (int64_t)status.st_size;
    }
    closedir(folder);
}

typedef struct Sweep {
    Arena  *arena;
    bool    dry_run;
    int64_t held_count;
    LIST(StoreDeadRun) runs;
} Sweep;

static void sweep_run(Sweep *sweep, int purpose_fd, const char *purpose, const char *run_id)
{
    int folder_fd = openat(purpose_fd, run_id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder_fd < 0) return;
    if (flock(folder_fd, LOCK_EX | LOCK_NB) == 0) {
        StoreDeadRun *run = LIST_PUSH(sweep->arena, &sweep->runs);
        run->name         = str_printf(sweep->arena, "%s/%s", purpose, run_id);
        count_files_in(folder_fd, run);
        if (!sweep->dry_run) {
            remove_files_in(folder_fd);
            (void)unlinkat(purpose_fd, run_id, AT_REMOVEDIR);
        }
    } else {
        sweep->held_count++;
    }
    close(folder_fd);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void sweep_purpose(Sweep *sweep, int top_fd, const char *purpose)
{
    int            fd = openat(top_fd, purpose, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR           *runs;
    struct dirent *found;

    if (fd < 0) return;
    runs = fdopendir(fd);
    if (!runs) {
        close(fd);
        return;
    }
    while ((found = readdir(runs)) != NULL)
        if (!is_dots(found->d_name)) sweep_run(sweep, dirfd(runs), purpose, found->d_name);
    closedir(runs);
    if (!sweep->dry_run) (void)unlinkat(top_fd, purpose, AT_REMOVEDIR); /* when it is empty */
}

bool local_staging_sweep(Store *store, Str table_path, bool dry_run, Arena *arena,
                         StoreDeadRuns *out, int64_t *held_out, Err *err)
{
    LocalPath      table;
    char           top[LIMIT_PATH_BYTES];
    Sweep          sweep = {.arena = arena, .dry_run = dry_run};
    struct dirent *found;

    *out      = (StoreDeadRuns){0};
    *held_out = 0;
    if (!local_resolve((const LocalStore *)store, table_path, &table, err)) return false;
    int len = snprintf(top, sizeof top, "%s/" STAGING_FOLDER, table.text);
    if (len < 0 || (size_t)len >= sizeof top)
        return err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.200s...", table.text);
    int fd = open(top, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
               err_set_errno(err, ERR_STORE, errno, "%s: could not be read", top);
    DIR *purposes = fdopendir(fd);
    if (!purposes) {
        close(fd);
        return err_set_errno(err, ERR_STORE, errno, "%s: could not be read", top);
    }
    while ((found = readdir(purposes)) != NULL)
        if (!is_dots(found->d_name)) sweep_purpose(&sweep, dirfd(purposes), found->d_name);
    closedir(purposes);
    if (!dry_run) (void)rmdir(top);
    *out      = (StoreDeadRuns){.items = sweep.runs.items, .count = sweep.runs.count};
    *held_out = sweep.held_count;
    return true;
}

/* --- opening --- */

static bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static bool join(char *out, size_t size, const char *directory, Str name)
{
    int len = snprintf(out, size, "%s/%.*s", directory, STR_ARG(name));
    return len > 0 && (size_t)len < size;
}

/* The folder that we hold is the one at its path. */
static bool is_named(const LocalStaging *staging)
{
    struct stat mine, named;

    return fstat(staging->folder_fd, &mine) == 0 && stat(staging->folder, &named) == 0 &&
           mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

/* Makes the run's folder and locks it. false with errno ENOENT when another run removed a folder in
 * between, which is a reason to try again. Nothing here needs to be durable. */
static bool enter_folder(LocalStaging *staging)
{
    if (!make_folder(staging->top) || !make_folder(staging->purpose) ||
        !make_folder(staging->folder))
        return false;
    staging->folder_fd = open(staging->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (staging->folder_fd < 0) return false;
    int locked;
    do
        locked = flock(staging->folder_fd, LOCK_EX);
    while (locked != 0 && errno == EINTR);
    if (locked == 0) {
        if (is_named(staging)) return true;
        errno = ENOENT;
    }
    int error = errno;
    close(staging->folder_fd);
    staging->folder_fd = -1;
    errno              = error;
    return false;
}

static bool staging_paths(LocalStaging *staging, Str table_path, Str purpose, Str run_id, Err *err)
{
    LocalPath table;

    if (!local_resolve((const LocalStore *)staging->base.store, table_path, &table, err))
        return false;
    memcpy(staging->table, table.text, sizeof(staging->table));
    bool fits = join(staging->top, sizeof(staging->top), staging->table, STR(STAGING_FOLDER)) &&
                join(staging->purpose, sizeof(staging->purpose), staging->top, purpose) &&
                join(staging->folder, sizeof(staging->folder), staging->purpose, run_id);
    return fits || err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.200s...", table.text);
}

bool local_staging_open(Store *store, Str table_path, Str purpose, Str run_id, StoreStaging **out,
                        Err *err)
{
    LocalStaging *staging = mem_alloc(sizeof(LocalStaging));
    bool          ok      = false;

    staging->base.store = store;
    staging->folder_fd  = -1;
    if (!staging_paths(staging, table_path, purpose, run_id, err)) goto done;
    if (!local_make_directories(staging->table, err)) goto done;
    remove_dead_runs(staging->purpose);
    for (int i = 0; i < OPEN_TRIES && !ok; i++) {
        ok = enter_folder(staging);
        if (!ok && errno != ENOENT) break;
    }
    if (!ok)
        err_set_errno(err, ERR_STORE, errno, "%s: the staging folder could not be made",
                      staging->folder);
done:
    if (ok)
        *out = &staging->base;
    else
        mem_free(staging);
    return ok;
}

bool local_staging_file(StoreStaging *staging, Str name, Arena *arena, Str *local_out, Err *err)
{
    LocalStaging *local = (LocalStaging *)staging;
    char          path[LIMIT_PATH_BYTES];

    if (name.len > NAME_MAX || !join(path, sizeof(path), local->folder, name))
        return err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.200s...", local->folder);
    *local_out = str_copy(arena, str_from_c(path));
    return true;
}

/* fsync works on a descriptor that can only read, so libduckdb's file is made durable after it was
 * closed. */
static bool sync_staged(LocalStaging *staging, const char *name, StoreEntry *out, Err *err)
{
    struct stat status;
    int         fd = openat(staging->folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_STORE, errno,
                             "%s/%s: could not be opened", staging->folder, name);
    /* VACUUM spares what is younger than its retention: the file begins to wait for its commit
     * now, however long ago it was written */
    (void)futimens(fd, NULL);
    bool ok    = local_sync(fd) == 0 && fstat(fd, &status) == 0;
    int  error = errno;
    close(fd);
    if (!ok)
        return err_set_errno(err, ERR_STORE, error, "%s/%s: could not be made durable",
                             staging->folder, name);
    if (out) local_entry_from_stat(&status, out);
    return true;
}

bool local_staging_publish(StoreStaging *staging, Str name, Str path, StoreEntry *out, Err *err)
{
    LocalStaging *local = (LocalStaging *)staging;
    LocalPath     where;
    char          from[NAME_MAX + 1];
    int           fd = -1;
    bool          ok = false;

    if (name.len >= sizeof(from))
        return err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.*s", STR_ARG(name));
    (void)snprintf(from, sizeof(from), "%.*s", STR_ARG(name));
    if (!local_resolve((const LocalStore *)staging->store, path, &where, err)) return false;
    if (!sync_staged(local, from, out, err)) return false;
    if (!local_open_directory(where.directory, &fd, err)) return false;
    LocalMove move = {.from_fd      = local->folder_fd,
                      .from         = from,
                      .to_fd        = fd,
                      .to           = where.name,
                      .path         = where.text,
                      .rename_first = true};
    ok             = local_move_new(&move, err);
    /* the table's own folder waits for store_staging_sync, any other is done now */
    if (ok && strcmp(where.directory, local->table) != 0)
        ok = local_sync_directory(fd, where.directory, err);
    close(fd);
    return ok;
}

bool local_staging_sync(StoreStaging *staging, Err *err)
{
    LocalStaging *local = (LocalStaging *)staging;
    int           fd    = -1;

    if (!local_open_directory(local->table, &fd, err)) return false;
    bool ok = local_sync_directory(fd, local->table, err);
    close(fd);
    return ok;
}

/* --- files that outlive their run --- */

static bool write_seal(LocalStaging *local, const char *name, Bytes data, Err *err)
{
    char temp[NAME_MAX + 1];
    int  len = snprintf(temp, sizeof temp, "%s.new", name), fd = -1;
    bool ok = len > 0 && (size_t)len < sizeof temp;

    if (ok)
        fd = openat(local->folder_fd, temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    0666);
    ok = fd >= 0;
    for (size_t done = 0; ok && done < data.len;) {
        ssize_t count = write(fd, data.ptr + done, data.len - done);
        ok            = count >= 0 || errno == EINTR;
        if (count > 0) done += (size_t)count;
    }
    ok = ok && local_sync(fd) == 0 && renameat(local->folder_fd, temp, local->folder_fd, name) == 0;
    int error = errno;
    if (fd >= 0) close(fd);
    return ok ||
           err_set_errno(err, ERR_STORE, error, "%s/%s: could not be written", local->folder, name);
}

/* The folder's own name, and those above it, were not made durable when it was opened. */
static bool sync_folders(LocalStaging *local, Err *err)
{
    const char *const above[] = {local->table, local->top, local->purpose};

    for (size_t i = 0; i < COUNT_OF(above); i++) {
        int  fd = -1;
        bool ok = local_open_directory(above[i], &fd, err) &&
                  local_sync_directory(fd, above[i], err);
        if (fd >= 0) close(fd);
        if (!ok) return false;
    }
    return local_sync_directory(local->folder_fd, local->folder, err);
}

bool local_staging_seal(StoreStaging *staging, const Str *names, size_t count, Str seal, Bytes data,
                        Err *err)
{
    LocalStaging *local = (LocalStaging *)staging;
    char          name[NAME_MAX + 1];

    for (size_t i = 0; i < count; i++) {
        if (names[i].len >= sizeof name)
            return err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.*s", STR_ARG(names[i]));
        (void)snprintf(name, sizeof name, "%.*s", STR_ARG(names[i]));
        if (!sync_staged(local, name, NULL, err)) return false;
    }
    (void)snprintf(name, sizeof name, "%.*s", STR_ARG(seal));
    /* whoever finds the seal looks whether the files are there: their names become durable with its own */
    return write_seal(local, name, data, err) && sync_folders(local, err);
}

/* The folder under our lock; NULL when somebody holds it or it is gone. */
static LocalStaging *take_run(const LocalStaging *purpose, int purpose_fd, const char *run_id)
{
    LocalStaging *run;
    int           fd = openat(purpose_fd, run_id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) return NULL;
    run            = mem_alloc(sizeof(LocalStaging));
    *run           = *purpose;
    run->folder_fd = fd;
    bool is_ours   = join(run->folder, sizeof run->folder, run->purpose, str_from_c(run_id)) &&
                   flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(run);
    if (is_ours) return run;
    close(fd);
    mem_free(run);
    return NULL;
}

bool local_staging_take(Store *store, Str table_path, Str purpose, Arena *arena, StoreStagings *out,
                        Err *err)
{
    LocalStaging  *place = mem_alloc(sizeof(LocalStaging)); /* large, for a stack */
    DIR           *runs  = NULL;
    struct dirent *found;
    LIST(StoreStaging *) taken = {0};

    *out              = (StoreStagings){0};
    place->base.store = store;
    bool ok           = staging_paths(place, table_path, purpose, STR("-"), err);
    if (ok) runs = opendir(place->purpose);
    while (runs && (found = readdir(runs)) != NULL) {
        LocalStaging *run = is_dots(found->d_name) ? NULL
                                                   : take_run(place, dirfd(runs), found->d_name);
        if (run) *LIST_PUSH(arena, &taken) = &run->base;
    }
    if (runs) closedir(runs);
    mem_free(place);
    *out = (StoreStagings){.items = taken.items, .count = taken.count};
    return ok;
}

bool local_staging_is_there(StoreStaging *staging)
{
    return is_named((LocalStaging *)staging);
}

void local_staging_close(StoreStaging *staging)
{
    LocalStaging *local = (LocalStaging *)staging;

    remove_files_in(local->folder_fd);
    (void)rmdir(local->folder); /* empty ones go; others are in use */
    (void)rmdir(local->purpose);
    (void)rmdir(local->top);
    local_staging_abandon(staging);
}

void local_staging_abandon(StoreStaging *staging)
{
    LocalStaging *local = (LocalStaging *)staging;
    close(local->folder_fd);
    mem_free(local);
}
