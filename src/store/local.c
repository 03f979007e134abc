/* Files on a local disk. A new content is always complete and durable under a temporary name before
 * it gets its own, by a link or a rename, and the directory is synced before we say so
 * (delta.md 2.10). */
#define _GNU_SOURCE /* renameat2 */
#include "base/list.h"
#include "store/local_internal.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEMP_NAME_TRIES 16
#define READ_TRIES      40 /* a file that grows while it is read doubles the buffer each time */

/* --- paths --- */

bool local_resolve(const LocalStore *local, Str path, LocalPath *out, Err *err)
{
    Str root = path.len > 0 && path.ptr[0] == '/' ? STR_EMPTY : local->root;

    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    if (path.len == 0) return err_set_errno(err, ERR_STORE, EINVAL, "an empty path names no file");
    if (memchr(path.ptr, '\0', path.len))
        return err_set_errno(err, ERR_STORE, EINVAL, "a path must not hold a NUL character");
    if (root.len + path.len + 2 > sizeof(out->text))
        return err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.200s...", path.ptr);

    /* "./" keeps libduckdb from taking "~x" or "file:x" for something else */
    bool needs_root = path.ptr[0] != '/';
    if (needs_root && root.len == 0) root = STR(".");
    bool needs_slash = needs_root && root.ptr[root.len - 1] != '/';
    (void)snprintf(out->text, sizeof(out->text), "%.*s%s%.*s", STR_ARG(root),
                   needs_slash ? "/" : "", STR_ARG(path));

    char *slash = strrchr(out->text, '/');
    assert(slash);
    out->name        = slash + 1;
    size_t dir_bytes = slash == out->text ? 1 : (size_t)(slash - out->text);
    memcpy(out->directory, out->text, dir_bytes);
    out->directory[dir_bytes] = '\0';
    return true;
}

void local_entry_from_stat(const struct stat *status, StoreEntry *out)
{
    out->name            = STR_EMPTY;
    out->size_bytes      = (int64_t)status->st_size;
    out->modified_utc_us = (int64_t)status->st_mtim.tv_sec * 1000000 +
                           (int64_t)status->st_mtim.tv_nsec / 1000;
}

/* --- directories --- */

int local_sync(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result;
}

bool local_sync_directory(int directory_fd, const char *directory, Err *err)
{
    if (local_sync(directory_fd) == 0) return true;
    if (errno == EINVAL)
        return true; /* a file system that cannot sync directories keeps them in order itself */
    return err_set_errno(err, ERR_STORE, errno, "%s: the directory could not be made durable",
                         directory);
}

/* One directory below one that exists. Whoever makes it also makes its name durable. */
static bool make_directory(const char *directory, Err *err)
{
    if (mkdir(directory, 0777) != 0) {
        int         error = errno;
        struct stat status;
        if (stat(directory, &status) == 0) {
            if (S_ISDIR(status.st_mode)) return true;
            error = ENOTDIR;
        }
        return err_set_errno(err, ERR_STORE, error, "%s: the directory could not be made",
                             directory);
    }
    char        parent[LIMIT_PATH_BYTES];
    const char *slash = strrchr(directory, '/');
    size_t      len   = !slash ? 0 : slash == directory ? 1 : (size_t)(slash - directory);
    (void)snprintf(parent, sizeof(parent), "%.*s", len > 0 ? (int)len : 1,
                   len > 0 ? directory : ".");

    int  fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 ? local_sync_directory(fd, parent, err)
                      : err_set_errno(err, ERR_STORE, errno,
                                      "%s: the directory could not be opened", parent);
    if (fd >= 0) close(fd);
    return ok;
}

bool local_make_directories(const char *directory, Err *err)
{
    char part[LIMIT_PATH_BYTES];
    for (const char *at = directory; *at != '\0';) {
        at = strchr(at + 1, '/');
        if (!at) break;
        (void)snprintf(part, sizeof(part), "%.*s", (int)(at - directory), directory);
        if (!make_directory(part, err)) return false;
    }
    return make_directory(directory, err);
}

bool local_open_directory(const char *directory, int *fd_out, Err *err)
{
    *fd_out = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd_out < 0 && errno == ENOENT) {
        if (!local_make_directories(directory, err)) return false;
        *fd_out = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return *fd_out >= 0 ||
           err_set_errno(err, ERR_STORE, errno, "%s: the directory could not be opened", directory);
}

/* --- writing --- */

static bool write_all(int fd, Bytes data)
{
    for (size_t done = 0; done < data.len;) {
        ssize_t count = write(fd, data.ptr + done, data.len - done);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) done += (size_t)count;
    }
    return true;
}

typedef struct TempFile {
    char name[NAME_MAX + 1];
} TempFile;

static int open_temp(LocalStore *local, int directory_fd, const char *name, TempFile *temp)
{
    for (int i = 0; i < TEMP_NAME_TRIES; i++) {
        (void)snprintf(temp->name, sizeof(temp->name), ".%.200s.%016llx%016llx.tmp", name,
                       (unsigned long long)rng_u64(local->rng),
                       (unsigned long long)rng_u64(local->rng));
        int fd = openat(directory_fd, temp->name,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    errno = EEXIST;
    return -1;
}

/* The content, complete and durable, under a temporary name beside `path`. Nothing is left when it
 * fails. */
static bool write_temp(LocalStore *local, int directory_fd, const LocalPath *path, Bytes data,
                       TempFile *temp, Err *err)
{
    int fd = open_temp(local, directory_fd, path->name, temp);
    if (fd < 0) return err_set_errno(err, ERR_STORE, errno, "%s: could not be created", path->text);

    bool ok    = write_all(fd, data) && local_sync(fd) == 0;
    int  error = errno;
    if (close(fd) != 0 && ok) {
        ok    = false;
        error = errno;
    }
    if (ok) return true;
    (void)unlinkat(directory_fd, temp->name, 0);
    return err_set_errno(err, ERR_STORE, error, "%s: could not be written", path->text);
}

typedef enum Moved { MOVED, MOVE_EXISTS, MOVE_UNSUPPORTED, MOVE_FAILED } Moved;

static bool is_same_file(const LocalMove *move)
{
    struct stat from, to;
    return fstatat(move->from_fd, move->from, &from, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstatat(move->to_fd, move->to, &to, AT_SYMLINK_NOFOLLOW) == 0 &&
           from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

static Moved move_by_link(const LocalMove *move)
{
    if (linkat(move->from_fd, move->from, move->to_fd, move->to, 0) != 0) {
        if (errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP || errno == EMLINK)
            return MOVE_UNSUPPORTED;
        if (errno != EEXIST) return MOVE_FAILED;
        if (!is_same_file(move)) return MOVE_EXISTS; /* else NFS lost the answer of our own link */
    }
    (void)unlinkat(move->from_fd, move->from, 0);
    return MOVED;
}

static Moved move_by_rename(const LocalMove *move)
{
    if (renameat2(move->from_fd, move->from, move->to_fd, move->to, RENAME_NOREPLACE) == 0)
        return MOVED;
    if (errno == EEXIST) return MOVE_EXISTS;
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? MOVE_UNSUPPORTED
                                                                     : MOVE_FAILED;
}

bool local_move_new(const LocalMove *move, Err *err)
{
    Moved moved = move->rename_first ? move_by_rename(move) : move_by_link(move);
    if (moved == MOVE_UNSUPPORTED)
        moved = move->rename_first ? move_by_link(move) : move_by_rename(move);
    switch (moved) {
    case MOVED: return true;
    case MOVE_EXISTS:
        return err_set_errno(err, ERR_CONFLICT, EEXIST, "%s: exists already", move->path);
    case MOVE_FAILED:
        return err_set_errno(err, ERR_STORE, errno, "%s: could not get its name", move->path);
    case MOVE_UNSUPPORTED: break;
    }
    return err_set(err, ERR_UNSUPPORTED,
                   "%s: DELTA-C01 this file system has neither hard links nor exclusive rename; "
                   "use the object store "
                   "directly",
                   move->path);
}

static bool local_put_new(Store *store, Str path, Bytes data, Err *err)
{
    LocalStore *local = (LocalStore *)store;
    LocalPath   where;
    TempFile    temp;
    struct stat status;
    int         fd = -1;
    bool        ok = false;

    if (!local_resolve(local, path, &where, err)) return false;
    if (!local_open_directory(where.directory, &fd, err)) return false;
    if (fstatat(fd, where.name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        err_set_errno(err, ERR_CONFLICT, EEXIST, "%s: exists already", where.text);
        goto done;
    }
    if (!write_temp(local, fd, &where, data, &temp, err)) goto done;
    LocalMove move = {
        .from_fd = fd, .from = temp.name, .to_fd = fd, .to = where.name, .path = where.text};
    ok = local_move_new(&move, err);
    if (!ok) (void)unlinkat(fd, temp.name, 0);
    ok = ok && local_sync_directory(fd, where.directory, err);
done:
    close(fd);
    return ok;
}

/* Hadoop's checksum of the old content would make the new one unreadable to Spark, so it goes
 * first, durably. */
static bool remove_stale_checksum(int directory_fd, const LocalPath *path, Err *err)
{
    char name[NAME_MAX + 1];
    int  len = snprintf(name, sizeof(name), ".%s.crc", path->name);

    if (len < 0 || (size_t)len >= sizeof(name)) return true; /* such a file cannot exist */
    if (unlinkat(directory_fd, name, 0) == 0)
        return local_sync_directory(directory_fd, path->directory, err);
    return errno == ENOENT || err_set_errno(err, ERR_STORE, errno, "%s/%s: could not be removed",
                                            path->directory, name);
}

static bool local_replace(Store *store, Str path, Bytes data, Err *err)
{
    LocalStore *local = (LocalStore *)store;
    LocalPath   where;
    TempFile    temp;
    int         fd = -1;
    bool        ok = false;

    if (!local_resolve(local, path, &where, err)) return false;
    if (!local_open_directory(where.directory, &fd, err)) return false;
    if (!write_temp(local, fd, &where, data, &temp, err)) goto done;
    ok = remove_stale_checksum(fd, &where, err);
    if (ok && renameat(fd, temp.name, fd, where.name) != 0)
        ok = err_set_errno(err, ERR_STORE, errno, "%s: could not be replaced", where.text);
    if (!ok) (void)unlinkat(fd, temp.name, 0);
    ok = ok && local_sync_directory(fd, where.directory, err);
done:
    close(fd);
    return ok;
}

static bool local_remove(Store *store, Str path, Err *err)
{
    LocalPath where;
    int       fd = -1;
    bool      ok = true;

    if (!local_resolve((LocalStore *)store, path, &where, err)) return false;
    if (unlink(where.text) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return true;
        return err_set_errno(err, ERR_STORE, errno, "%s: could not be removed", where.text);
    }
    fd = open(where.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ||
               err_set_errno(err, ERR_STORE, errno, "%s: could not be opened", where.directory);
    ok = local_sync_directory(fd, where.directory, err);
    close(fd);
    return ok;
}

/* --- reading --- */

static bool refuse_read(Err *err, int error, const char *path)
{
    if (error == ENOENT) return err_set_errno(err, ERR_NOT_FOUND, error, "%s", path);
    return err_set_errno(err, ERR_STORE, error, "%s: could not be read", path);
}

static bool read_up_to(int fd, uint8_t *into, size_t size, size_t *len_out)
{
    for (*len_out = 0; *len_out < size;) {
        ssize_t count = pread(fd, into + *len_out, size - *len_out, (off_t)*len_out);
        if (count == 0) return true;
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) *len_out += (size_t)count;
    }
    return true;
}

static bool read_open_file(int fd, const char *path, size_t limit_bytes, Arena *arena, Bytes *out,
                           Err *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0) return refuse_read(err, errno, path);

    size_t expected = (size_t)status.st_size;
    for (int i = 0; i < READ_TRIES; i++) {
        if (expected > limit_bytes)
            return err_set(err, ERR_LIMIT, "%s: has more than the %zu bytes that are read", path,
                           limit_bytes);
        uint8_t *data = arena_alloc_uninit(arena,
                                           expected + 1); /* one more shows whether it ends there */
        size_t   len  = 0;
        if (!read_up_to(fd, data, expected + 1, &len)) return refuse_read(err, errno, path);
        if (len <= expected) {
            *out = (Bytes){data, len};
            return true;
        }
        expected = expected * 2 + 4096;
        if (expected > limit_bytes && len <= limit_bytes) expected = limit_bytes;
    }
    return err_set(err, ERR_STORE, "%s: grew faster than it could be read", path);
}

static bool local_read(Store *store, Str path, size_t limit_bytes, Arena *arena, Bytes *out,
                       Err *err)
{
    LocalPath where;
    if (!local_resolve((LocalStore *)store, path, &where, err)) return false;
    int fd = open(where.text, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return refuse_read(err, errno, where.text);
    bool ok = read_open_file(fd, where.text, limit_bytes, arena, out, err);
    close(fd);
    return ok;
}

static bool stat_file(const LocalPath *where, StoreEntry *out, Err *err)
{
    struct stat status;
    if (stat(where->text, &status) != 0) return refuse_read(err, errno, where->text);
    if (S_ISDIR(status.st_mode)) return refuse_read(err, EISDIR, where->text);
    local_entry_from_stat(&status, out);
    return true;
}

static bool local_stat(Store *store, Str path, StoreEntry *out, Err *err)
{
    LocalPath where;
    return local_resolve((LocalStore *)store, path, &where, err) && stat_file(&where, out, err);
}

static bool local_fetch_local(Store *store, Str path, Arena *arena, Str *local_out, Err *err)
{
    LocalPath  where;
    StoreEntry entry;
    if (!local_resolve((LocalStore *)store, path, &where, err)) return false;
    if (!stat_file(&where, &entry, err)) return false;
    *local_out = str_copy(arena, str_from_c(where.text));
    return true;
}

static int compare_entries(const void *left, const void *right)
{
    return str_compare(((const StoreEntry *)left)->name, ((const StoreEntry *)right)->name);
}

/* Temporary files of our own (of a write under way, or of one that died) are nobody's business. */
static bool is_temp_name(Str name)
{
    return name.len > 0 && name.ptr[0] == '.' && str_ends_with(name, STR(".tmp"));
}

typedef LIST(StoreEntry) EntryList;

static bool list_open_directory(DIR *directory, const char *path, Str after, Arena *arena,
                                EntryList *entries, Err *err)
{
    struct dirent *found;
    struct stat    status;

    for (errno = 0; (found = readdir(directory)) != NULL; errno = 0) {
        Str name = str_from_c(found->d_name);
        if (str_compare(name, after) <= 0 || is_temp_name(name) || found->d_type == DT_DIR)
            continue;
        if (fstatat(dirfd(directory), found->d_name, &status, 0) != 0) {
            if (errno == ENOENT) continue; /* removed since */
            return refuse_read(err, errno, path);
        }
        if (S_ISDIR(status.st_mode)) continue;
        StoreEntry *entry = LIST_PUSH(arena, entries);
        local_entry_from_stat(&status, entry);
        entry->name = str_copy(arena, name);
    }
    return errno == 0 || refuse_read(err, errno, path);
}

static bool local_list_after(Store *store, Str directory, Str after, Arena *arena, StoreList *out,
                             Err *err)
{
    LocalPath where;
    EntryList entries = {0};

    *out = (StoreList){0};
    if (!local_resolve((LocalStore *)store, directory, &where, err)) return false;
    DIR *open_directory = opendir(where.text);
    if (!open_directory) return errno == ENOENT || refuse_read(err, errno, where.text);
    bool ok = list_open_directory(open_directory, where.text, after, arena, &entries, err);
    closedir(open_directory);
    if (!ok) return false;
    if (entries.count > 1) qsort(entries.items, entries.count, sizeof(StoreEntry), compare_entries);
    *out = (StoreList){.entries = entries.items, .count = entries.count};
    return true;
}

static void local_close(Store *store)
{
    LocalStore *local = (LocalStore *)store;
    rng_close(local->rng);
    mem_free(local);
}

Store *store_local_new(Str root)
{
    LocalStore *local = mem_alloc(sizeof(LocalStore) + root.len + 1);
    char       *text  = (char *)(local + 1);

    if (root.len > 0) memcpy(text, root.ptr, root.len);
    local->root = (Str){text, root.len};
    local->rng  = rng_new_from_entropy();
    local->base = (Store){
        .read             = local_read,
        .stat             = local_stat,
        .put_new          = local_put_new,
        .replace          = local_replace,
        .list_after       = local_list_after,
        .remove           = local_remove,
        .fetch_local      = local_fetch_local,
        .list_children    = local_list_children,
        .remove_directory = local_remove_directory,
        .staging_sweep    = local_staging_sweep,
        .staging_open     = local_staging_open,
        .staging_file     = local_staging_file,
        .staging_publish  = local_staging_publish,
        .staging_sync     = local_staging_sync,
        .staging_seal     = local_staging_seal,
        .staging_take     = local_staging_take,
        .staging_is_there = local_staging_is_there,
        .staging_close    = local_staging_close,
        .staging_abandon  = local_staging_abandon,
        .close            = local_close,
    };
    return &local->base;
}
