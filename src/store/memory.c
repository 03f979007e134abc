/* A store in memory, for tests and simulation. Names are kept in order, so listings and everything
 * else are the same in every run. Contents live in plain memory; what libduckdb must read or write
 * is a memfd, which it opens as /proc/self/fd/N. */
#define _GNU_SOURCE /* memfd_create */
#include "base/clock.h"
#include "base/limits.h"
#include "base/list.h"
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGING_FOLDER "_tidelake_staging"

typedef struct MemoryFile {
    char    *path;
    size_t   path_len;
    int      fd;   /* the content when it is a memfd; else -1 */
    uint8_t *data; /* the content when it is not */
    size_t   len;
    int64_t  modified_utc_us;
    bool     is_staged;   /* below a run's folder: written by whoever has its local path */
    bool     is_sealed;   /* staged, and durable */
    bool     is_unsynced; /* published, but its name is not durable yet */
    bool     was_fetched; /* somebody knows its number, so the descriptor stays open to the end */
} MemoryFile;

typedef struct MemoryRun {
    char  *folder;    /* with a '/' at its end */
    size_t table_len; /* of the table's path, with which it begins */
    bool   is_held;
} MemoryRun;

typedef struct MemoryStore {
    Store           base;
    Clock          *clock;
    Sched          *sched;
    pthread_mutex_t lock;
    MemoryFile    **files; /* in the order of their paths */
    size_t          file_count, file_capacity;
    MemoryFile    **retired; /* removed, and fetched before */
    size_t          retired_count, retired_capacity;
    MemoryRun     **runs;
    size_t          run_count, run_capacity;
} MemoryStore;

typedef struct MemoryStaging {
    StoreStaging base;
    MemoryRun   *run;
} MemoryStaging;

typedef struct MemoryPath {
    char   text[LIMIT_PATH_BYTES];
    size_t len;
} MemoryPath;

/* --- arrays with an owner of their own --- */

static void insert_ptr(void ***items, size_t *count, size_t *capacity, size_t at, void *item)
{
    if (*count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 16;
        *items    = mem_realloc(*items, *capacity * sizeof(void *));
    }
    memmove(*items + at + 1, *items + at, (*count - at) * sizeof(void *));
    (*items)[at] = item;
    (*count)++;
}

static void remove_ptr(void **items, size_t *count, size_t at)
{
    (*count)--;
    memmove(items + at, items + at + 1, (*count - at) * sizeof(void *));
}

/* --- paths --- */

/* Doubled slashes and "." go, so that one file has one name. */
static bool normalize(Str path, MemoryPath *out, Err *err)
{
    Str rest = path, part;

    out->len = 0;
    if (path.len == 0) return err_set_errno(err, ERR_STORE, EINVAL, "an empty path names no file");
    if (path.len + 2 > sizeof(out->text))
        return err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.200s...", path.ptr);
    if (memchr(path.ptr, '\0', path.len))
        return err_set_errno(err, ERR_STORE, EINVAL, "a path must not hold a NUL character");
    bool is_absolute = path.ptr[0] == '/';
    while (str_split_next(&rest, '/', &part)) {
        if (part.len == 0 || str_equal_c(part, ".")) continue;
        if (out->len > 0 || is_absolute) out->text[out->len++] = '/';
        memcpy(out->text + out->len, part.ptr, part.len);
        out->len += part.len;
    }
    out->text[out->len] = '\0';
    return true;
}

static Str path_str(const MemoryPath *path)
{
    return (Str){path->text, path->len};
}

static Str file_path(const MemoryFile *file)
{
    return (Str){file->path, file->path_len};
}

/* The first file whose path is not before `path`. */
static size_t lower_bound(const MemoryStore *memory, Str path)
{
    size_t lo = 0, hi = memory->file_count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (str_compare(file_path(memory->files[middle]), path) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static size_t file_size(const MemoryFile *file)
{
    struct stat status;
    if (file->fd < 0) return file->len;
    return fstat(file->fd, &status) == 0 ? (size_t)status.st_size : 0;
}

/* A staged file comes into being with its first byte, as on a disk. */
static bool is_visible(const MemoryFile *file)
{
    return !file->is_staged || file_size(file) > 0;
}

static MemoryFile *find(const MemoryStore *memory, Str path)
{
    size_t at = lower_bound(memory, path);
    if (at == memory->file_count || !str_equal(file_path(memory->files[at]), path)) return NULL;
    return memory->files[at];
}

static bool is_directory(const MemoryStore *memory, const MemoryPath *path)
{
    MemoryPath prefix = *path;
    if (prefix.len + 1 >= sizeof(prefix.text)) return false;
    prefix.text[prefix.len++] = '/';
    for (size_t at = lower_bound(memory, path_str(&prefix)); at < memory->file_count; at++) {
        if (!str_starts_with(file_path(memory->files[at]), path_str(&prefix))) break;
        if (is_visible(memory->files[at])) return true;
    }
    return false;
}

static bool is_below_a_file(const MemoryStore *memory, const MemoryPath *path)
{
    Str above = path_str(path);
    for (ptrdiff_t slash; (slash = str_find_last_char(above, '/')) > 0;) {
        above = str_slice(above, 0, (size_t)slash);
        if (find(memory, above)) return true;
    }
    return false;
}

/* --- contents --- */

/* Fewer files than a simulation may need can be open at first. */
static int new_memfd(void)
{
    int fd = memfd_create("tidelake", MFD_CLOEXEC);
    if (fd >= 0 || errno != EMFILE) return fd;

    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return -1;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? memfd_create("tidelake", MFD_CLOEXEC) : -1;
}

static bool write_memfd(int fd, const uint8_t *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t count = pwrite(fd, data + done, len - done, (off_t)done);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) done += (size_t)count;
    }
    return true;
}

static bool read_memfd(int fd, uint8_t *into, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t count = pread(fd, into + done, len - done, (off_t)done);
        if (count == 0 || (count < 0 && errno != EINTR)) return false;
        if (count > 0) done += (size_t)count;
    }
    return true;
}

static void free_file(MemoryFile *file)
{
    if (file->fd >= 0) close(file->fd);
    mem_free(file->data);
    mem_free(file->path);
    mem_free(file);
}

/* Takes the file at `at` out of the listing. A number somebody knows must not come to mean another
 * file. */
static void drop_file(MemoryStore *memory, size_t at)
{
    MemoryFile *file = memory->files[at];

    remove_ptr((void **)memory->files, &memory->file_count, at);
    if (!file->was_fetched) {
        free_file(file);
        return;
    }
    insert_ptr((void ***)&memory->retired, &memory->retired_count, &memory->retired_capacity,
               memory->retired_count, file);
}

static MemoryFile *add_file(MemoryStore *memory, Str path)
{
    MemoryFile *file = mem_alloc(sizeof(MemoryFile));

    file->fd       = -1;
    file->path     = mem_alloc(path.len + 1);
    file->path_len = path.len;
    memcpy(file->path, path.ptr, path.len);
    file->modified_utc_us = clock_utc_us(memory->clock);
    insert_ptr((void ***)&memory->files, &memory->file_count, &memory->file_capacity,
               lower_bound(memory, path), file);
    return file;
}

static void add_content(MemoryStore *memory, Str path, Bytes data)
{
    MemoryFile *file = add_file(memory, path);
    file->data       = mem_alloc(data.len + 1);
    file->len        = data.len;
    if (data.len > 0) memcpy(file->data, data.ptr, data.len);
}

/* --- the calls; each holds the lock from where it looks to where it is done --- */

static bool begin(Store *store, Str path, const char *what, MemoryPath *where, Err *err)
{
    MemoryStore *memory = (MemoryStore *)store;
    if (memory->sched) sched_point(memory->sched, what);
    if (!normalize(path, where, err)) return false;
    if (pthread_mutex_lock(&memory->lock) != 0)
        return err_set(err, ERR_INTERNAL, "a lock could not be taken");
    return true;
}

static bool end(Store *store, bool ok)
{
    (void)pthread_mutex_unlock(&((MemoryStore *)store)->lock);
    return ok;
}

static bool find_readable(const MemoryStore *memory, const MemoryPath *where, MemoryFile **out,
                          Err *err)
{
    *out = find(memory, path_str(where));
    if (*out && is_visible(*out)) return true;
    if (is_directory(memory, where))
        return err_set_errno(err, ERR_STORE, EISDIR, "%s: could not be read", where->text);
    if (is_below_a_file(memory, where))
        return err_set_errno(err, ERR_STORE, ENOTDIR, "%s: could not be read", where->text);
    return err_set_errno(err, ERR_NOT_FOUND, ENOENT, "%s", where->text);
}

static bool read_file(const MemoryStore *memory, const MemoryPath *where, size_t limit_bytes,
                      Arena *arena, Bytes *out, Err *err)
{
    MemoryFile *file;
    if (!find_readable(memory, where, &file, err)) return false;
    size_t len = file_size(file);
    if (len > limit_bytes)
        return err_set(err, ERR_LIMIT, "%s: has more than the %zu bytes that are read", where->text,
                       limit_bytes);
    uint8_t *data = arena_alloc_uninit(arena, len + 1);
    if (file->fd < 0)
        memcpy(data, file->data, len);
    else if (!read_memfd(file->fd, data, len))
        return err_set_errno(err, ERR_STORE, errno, "%s: could not be read", where->text);
    *out = (Bytes){data, len};
    return true;
}

static bool memory_read(Store *store, Str path, size_t limit_bytes, Arena *arena, Bytes *out,
                        Err *err)
{
    MemoryPath where;
    if (!begin(store, path, "store read", &where, err)) return false;
    return end(store, read_file((MemoryStore *)store, &where, limit_bytes, arena, out, err));
}

static void fill_entry(const MemoryFile *file, StoreEntry *out)
{
    *out = (StoreEntry){.name            = STR_EMPTY,
                        .size_bytes      = (int64_t)file_size(file),
                        .modified_utc_us = file->modified_utc_us};
}

static bool memory_stat(Store *store, Str path, StoreEntry *out, Err *err)
{
    MemoryPath  where;
    MemoryFile *file;
    if (!begin(store, path, "store stat", &where, err)) return false;
    bool ok = find_readable((MemoryStore *)store, &where, &file, err);
    if (ok) fill_entry(file, out);
    return end(store, ok);
}

static bool check_parent(const MemoryStore *memory, const MemoryPath *where, Err *err)
{
    return !is_below_a_file(memory, where) ||
           err_set_errno(err, ERR_STORE, ENOTDIR, "%s: the directory could not be made",
                         where->text);
}

static bool check_free(const MemoryStore *memory, const MemoryPath *where, Err *err)
{
    if (!check_parent(memory, where, err)) return false;
    if (!find(memory, path_str(where)) && !is_directory(memory, where)) return true;
    return err_set_errno(err, ERR_CONFLICT, EEXIST, "%s: exists already", where->text);
}

static bool memory_put_new(Store *store, Str path, Bytes data, Err *err)
{
    MemoryPath where;
    if (!begin(store, path, "store put_new", &where, err)) return false;
    bool ok = check_free((MemoryStore *)store, &where, err);
    if (ok) add_content((MemoryStore *)store, path_str(&where), data);
    return end(store, ok);
}

static void drop_path(MemoryStore *memory, Str path)
{
    size_t at = lower_bound(memory, path);
    if (at < memory->file_count && str_equal(file_path(memory->files[at]), path))
        drop_file(memory, at);
}

static void drop_stale_checksum(MemoryStore *memory, const MemoryPath *where)
{
    ptrdiff_t  slash = str_find_last_char(path_str(where), '/');
    size_t     name  = (size_t)(slash + 1);
    MemoryPath checksum;
    int len = snprintf(checksum.text, sizeof(checksum.text), "%.*s.%s.crc", (int)name, where->text,
                       where->text + name);
    if (len > 0 && (size_t)len < sizeof(checksum.text))
        drop_path(memory, (Str){checksum.text, (size_t)len});
}

static bool memory_replace(Store *store, Str path, Bytes data, Err *err)
{
    MemoryStore *memory = (MemoryStore *)store;
    MemoryPath   where;
    if (!begin(store, path, "store replace", &where, err)) return false;
    if (!check_parent(memory, &where, err)) return end(store, false);
    if (is_directory(memory, &where))
        return end(store,
                   err_set_errno(err, ERR_STORE, EISDIR, "%s: could not be replaced", where.text));
    drop_stale_checksum(memory, &where);
    drop_path(memory, path_str(&where));
    add_content(memory, path_str(&where), data);
    return end(store, true);
}

typedef LIST(StoreEntry) EntryList;

static void list_files(const MemoryStore *memory, const MemoryPath *directory, Str after,
                       Arena *arena, StoreList *out)
{
    EntryList entries = {0};
    Str       prefix  = str_printf(arena, "%s/", directory->text);
    Str       from    = str_printf(arena, "%s/%.*s", directory->text, STR_ARG(after));

    for (size_t at = lower_bound(memory, from); at < memory->file_count; at++) {
        const MemoryFile *file = memory->files[at];
        if (!str_starts_with(file_path(file), prefix)) break;
        Str name = str_slice(file_path(file), prefix.len, file->path_len);
        if (str_equal(name, after) || str_find_char(name, '/', 0) >= 0 || !is_visible(file))
            continue;
        StoreEntry *entry = LIST_PUSH(arena, &entries);
        fill_entry(file, entry);
        entry->name = str_copy(arena, name);
    }
    *out = (StoreList){.entries = entries.items, .count = entries.count};
}

static bool memory_list_after(Store *store, Str directory, Str after, Arena *arena, StoreList *out,
                              Err *err)
{
    MemoryStore *memory = (MemoryStore *)store;
    MemoryPath   where;

    *out = (StoreList){0};
    if (!begin(store, directory, "store list_after", &where, err)) return false;
    bool ok = !find(memory, path_str(&where)) && !is_below_a_file(memory, &where);
    if (!ok) err_set_errno(err, ERR_STORE, ENOTDIR, "%s: could not be read", where.text);
    if (ok) list_files(memory, &where, after, arena, out);
    return end(store, ok);
}

static bool memory_remove(Store *store, Str path, Err *err)
{
    MemoryStore *memory = (MemoryStore *)store;
    MemoryPath   where;
    if (!begin(store, path, "store remove", &where, err)) return false;
    bool ok = !is_directory(memory, &where);
    if (ok)
        drop_path(memory, path_str(&where));
    else
        err_set_errno(err, ERR_STORE, EISDIR, "%s: could not be removed", where.text);
    return end(store, ok);
}

/* Folders are what paths have before their last slash; their time is that of the newest file in
 * them. */
typedef LIST(StoreChild) ChildList;

static void add_child(Arena *arena, const MemoryFile *file, Str rest, ChildList *children)
{
    ptrdiff_t slash = str_find_char(rest, '/', 0);
    Str       name  = slash < 0 ? rest : str_slice(rest, 0, (size_t)slash);

    StoreChild *last = children->count > 0 ? &children->items[children->count - 1] : NULL;
    if (slash >= 0 && last && last->is_directory && str_equal(last->name, name)) {
        last->modified_utc_us = MAX(last->modified_utc_us, file->modified_utc_us);
        return; /* paths with the same folder stand together */
    }
    *LIST_PUSH(arena,
               children) = (StoreChild){.name         = str_copy(arena, name),
                                        .is_directory = slash >= 0,
                                        .size_bytes   = slash >= 0 ? 0 : (int64_t)file_size(file),
                                        .modified_utc_us = file->modified_utc_us};
}

static int compare_children(const void *left, const void *right)
{
    return str_compare(((const StoreChild *)left)->name, ((const StoreChild *)right)->name);
}

static bool memory_list_children(Store *store, Str directory, Arena *arena, StoreChildren *out,
                                 Err *err)
{
    MemoryStore *memory = (MemoryStore *)store;
    MemoryPath   where;
    ChildList    children = {0};

    *out = (StoreChildren){0};
    if (!begin(store, directory, "store list_children", &where, err)) return false;
    Str prefix = str_printf(arena, "%s%s", where.text, where.len > 0 ? "/" : "");
    for (size_t at = lower_bound(memory, prefix); at < memory->file_count; at++) {
        const MemoryFile *file = memory->files[at];
        if (!str_starts_with(file_path(file), prefix)) break;
        if (is_visible(file))
            add_child(arena, file, str_slice(file_path(file), prefix.len, file->path_len),
                      &children);
    }
    if (children.count > 1)
        qsort(children.items, children.count, sizeof(StoreChild), compare_children);
    *out = (StoreChildren){.items = children.items, .count = children.count};
    return end(store, true);
}

/* Without files there is no folder. */
static bool memory_remove_directory(Store *store, Str path, bool *removed_out, Err *err)
{
    MemoryPath where;
    *removed_out = false;
    return begin(store, path, "store remove_directory", &where, err) && end(store, true);
}

static bool make_memfd(MemoryFile *file, Err *err)
{
    if (file->fd >= 0) return true;
    int fd = new_memfd();
    if (fd < 0 || !write_memfd(fd, file->data, file->len)) {
        int error = errno;
        if (fd >= 0) close(fd);
        return err_set_errno(err, ERR_STORE, error, "%s: no memfd", file->path);
    }
    mem_free(file->data);
    file->data = NULL;
    file->fd   = fd;
    return true;
}

static bool memory_fetch_local(Store *store, Str path, Arena *arena, Str *local_out, Err *err)
{
    MemoryPath  where;
    MemoryFile *file;
    if (!begin(store, path, "store fetch_local", &where, err)) return false;
    bool ok = find_readable((MemoryStore *)store, &where, &file, err) && make_memfd(file, err);
    if (ok) {
        file->was_fetched = true;
        *local_out        = str_printf(arena, "/proc/self/fd/%d", file->fd);
    }
    return end(store, ok);
}

static void memory_close(Store *store)
{
    MemoryStore *memory = (MemoryStore *)store;

    for (size_t i = 0; i < memory->file_count; i++)
        free_file(memory->files[i]);
    for (size_t i = 0; i < memory->retired_count; i++)
        free_file(memory->retired[i]);
    for (size_t i = 0; i < memory->run_count; i++) {
        mem_free(memory->runs[i]->folder);
        mem_free(memory->runs[i]);
    }
    mem_free(memory->files);
    mem_free(memory->retired);
    mem_free(memory->runs);
    (void)pthread_mutex_destroy(&memory->lock);
    mem_free(memory);
}

/* --- staging --- */

static void drop_below(MemoryStore *memory, Str prefix)
{
    size_t at = lower_bound(memory, prefix);
    while (at < memory->file_count && str_starts_with(file_path(memory->files[at]), prefix))
        drop_file(memory, at);
}

static void drop_run(MemoryStore *memory, size_t at)
{
    MemoryRun *run = memory->runs[at];
    drop_below(memory, str_from_c(run->folder));
    remove_ptr((void **)memory->runs, &memory->run_count, at);
    mem_free(run->folder);
    mem_free(run);
}

static bool memory_staging_open(Store *store, Str table_path, Str purpose, Str run_id,
                                StoreStaging **out, Err *err)
{
    MemoryStore *memory = (MemoryStore *)store;
    MemoryPath   table;
    char         folder[LIMIT_PATH_BYTES];

    if (!begin(store, table_path, "store staging_open", &table, err)) return false;
    int purpose_len = snprintf(folder, sizeof(folder), "%s/" STAGING_FOLDER "/%.*s/", table.text,
                               STR_ARG(purpose));
    int len = snprintf(folder, sizeof(folder), "%s/" STAGING_FOLDER "/%.*s/%.*s/", table.text,
                       STR_ARG(purpose), STR_ARG(run_id));
    if (len < 0 || (size_t)len >= sizeof(folder))
        return end(store, err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.200s...", table.text));
    if (find(memory, path_str(&table)) || is_below_a_file(memory, &table))
        return end(store, err_set_errno(err, ERR_STORE, ENOTDIR,
                                        "%s: the directory could not be made", table.text));
    for (size_t i = memory->run_count; i-- > 0;)
        if (!memory->runs[i]->is_held &&
            strncmp(memory->runs[i]->folder, folder, (size_t)purpose_len) == 0)
            drop_run(memory, i);

    MemoryRun *run = mem_alloc(sizeof(MemoryRun));
    run->is_held   = true;
    run->table_len = table.len;
    run->folder    = mem_alloc((size_t)len + 1);
    memcpy(run->folder, folder, (size_t)len);
    insert_ptr((void ***)&memory->runs, &memory->run_count, &memory->run_capacity,
               memory->run_count, run);

    MemoryStaging *staging = mem_alloc(sizeof(MemoryStaging));
    staging->base.store    = store;
    staging->run           = run;
    *out                   = &staging->base;
    return end(store, true);
}

static void count_below(const MemoryStore *memory, Str prefix, StoreDeadRun *out)
{
    for (size_t at = lower_bound(memory, prefix); at < memory->file_count; at++) {
        if (!str_starts_with(file_path(memory->files[at]), prefix)) break;
        if (!is_visible(memory->files[at])) continue;
        out->file_count++;
        out->size_bytes += (int64_t)file_size(memory->files[at]);
    }
}

static bool memory_staging_sweep(Store *store, Str table_path, bool dry_run, Arena *arena,
                                 StoreDeadRuns *out, int64_t *held_out, Err *err)
{
    MemoryStore *memory = (MemoryStore *)store;
    MemoryPath   table;
    LIST(StoreDeadRun) dead = {0};

    *out      = (StoreDeadRuns){0};
    *held_out = 0;
    if (!begin(store, table_path, "store staging_sweep", &table, err)) return false;
    Str top = str_printf(arena, "%s/" STAGING_FOLDER "/", table.text);
    for (size_t i = memory->run_count; i-- > 0;) {
        const MemoryRun *run    = memory->runs[i];
        Str              folder = str_from_c(run->folder);
        if (!str_starts_with(folder, top)) continue;
        *held_out += run->is_held;
        if (run->is_held) continue;
        StoreDeadRun *found = LIST_PUSH(arena, &dead);
        found->name         = str_copy(arena, str_slice(folder, top.len, folder.len - 1));
        count_below(memory, folder, found);
        if (!dry_run) drop_run(memory, i);
    }
    *out = (StoreDeadRuns){.items = dead.items, .count = dead.count};
    return end(store, true);
}

static bool staged_path(const StoreStaging *staging, Str name, MemoryPath *out, Err *err)
{
    int len = snprintf(out->text, sizeof(out->text), "%s%.*s",
                       ((const MemoryStaging *)staging)->run->folder, STR_ARG(name));
    if (len < 0 || (size_t)len >= sizeof(out->text))
        return err_set_errno(err, ERR_STORE, ENAMETOOLONG, "%.*s", STR_ARG(name));
    out->len = (size_t)len;
    return true;
}

static bool memory_staging_file(StoreStaging *staging, Str name, Arena *arena, Str *local_out,
                                Err *err)
{
    MemoryStore *memory = (MemoryStore *)staging->store;
    MemoryPath   path, where;

    if (!staged_path(staging, name, &path, err)) return false;
    if (!begin(staging->store, path_str(&path), "store staging_file", &where, err)) return false;
    MemoryFile *file = find(memory, path_str(&where));
    if (!file) {
        int fd = new_memfd();
        if (fd < 0)
            return end(staging->store,
                       err_set_errno(err, ERR_STORE, errno, "%s: no memfd", where.text));
        file              = add_file(memory, path_str(&where));
        file->fd          = fd;
        file->is_staged   = true;
        file->was_fetched = true;
    }
    *local_out = str_printf(arena, "/proc/self/fd/%d", file->fd);
    return end(staging->store, true);
}

static void rename_file(MemoryStore *memory, MemoryFile *file, Str path)
{
    remove_ptr((void **)memory->files, &memory->file_count, lower_bound(memory, file_path(file)));
    mem_free(file->path);
    file->path     = mem_alloc(path.len + 1);
    file->path_len = path.len;
    memcpy(file->path, path.ptr, path.len);
    insert_ptr((void ***)&memory->files, &memory->file_count, &memory->file_capacity,
               lower_bound(memory, path), file);
}

/* Right in the folder of the run's table, whose names wait for store_staging_sync. */
static bool is_in_table_folder(const MemoryRun *run, Str path)
{
    ptrdiff_t slash = str_find_last_char(path, '/');
    return slash >= 0 &&
           str_equal((Str){path.ptr, (size_t)slash}, (Str){run->folder, run->table_len});
}

static bool memory_staging_publish(StoreStaging *staging, Str name, Str path, StoreEntry *out,
                                   Err *err)
{
    MemoryStore *memory = (MemoryStore *)staging->store;
    MemoryPath   from, where;

    if (!staged_path(staging, name, &from, err)) return false;
    if (!begin(staging->store, path, "store staging_publish", &where, err)) return false;
    MemoryFile *file = find(memory, path_str(&from));
    bool        ok   = file && is_visible(file);
    if (!ok) err_set_errno(err, ERR_NOT_FOUND, ENOENT, "%s: could not be opened", from.text);
    ok = ok && check_free(memory, &where, err);
    if (ok) {
        rename_file(memory, file, path_str(&where));
        file->is_staged = file->is_sealed = false;
        file->is_unsynced = is_in_table_folder(((MemoryStaging *)staging)->run, path_str(&where));
        file->modified_utc_us = clock_utc_us(memory->clock);
        if (out) fill_entry(file, out);
    }
    return end(staging->store, ok);
}

static bool memory_staging_sync(StoreStaging *staging, Err *err)
{
    MemoryStore *memory = (MemoryStore *)staging->store;
    MemoryPath   where;
    const char  *folder = ((MemoryStaging *)staging)->run->folder;

    if (!begin(staging->store, str_from_c(folder), "store staging_sync", &where, err)) return false;
    for (size_t i = 0; i < memory->file_count; i++)
        memory->files[i]->is_unsynced = false;
    return end(staging->store, true);
}

static bool memory_staging_seal(StoreStaging *staging, const Str *names, size_t count, Str seal,
                                Bytes data, Err *err)
{
    MemoryStore *memory = (MemoryStore *)staging->store;
    MemoryPath   path, where;
    MemoryFile  *file;
    bool         ok = true;

    if (!staged_path(staging, seal, &path, err)) return false;
    if (!begin(staging->store, path_str(&path), "store staging_seal", &where, err)) return false;
    for (size_t i = 0; ok && i < count; i++) {
        ok   = staged_path(staging, names[i], &path, err);
        file = ok ? find(memory, path_str(&path)) : NULL;
        if (ok && (!file || !is_visible(file)))
            ok = err_set_errno(err, ERR_NOT_FOUND, ENOENT, "%s: could not be opened", path.text);
        if (ok) file->is_sealed = true;
    }
    if (!ok) return end(staging->store, false);
    drop_path(memory, path_str(&where));
    file            = add_file(memory, path_str(&where));
    file->fd        = new_memfd();
    file->is_staged = file->is_sealed = true;
    if (file->fd < 0 || !write_memfd(file->fd, data.ptr, data.len))
        ok = err_set_errno(err, ERR_STORE, errno, "%s: no memfd", where.text);
    return end(staging->store, ok);
}

static bool memory_staging_take(Store *store, Str table_path, Str purpose, Arena *arena,
                                StoreStagings *out, Err *err)
{
    MemoryStore *memory = (MemoryStore *)store;
    MemoryPath   table;
    LIST(StoreStaging *) taken = {0};

    *out = (StoreStagings){0};
    if (!begin(store, table_path, "store staging_take", &table, err)) return false;
    Str prefix = str_printf(arena, "%s/" STAGING_FOLDER "/%.*s/", table.text, STR_ARG(purpose));
    for (size_t i = 0; i < memory->run_count; i++) {
        MemoryRun *run = memory->runs[i];

        if (run->is_held || !str_starts_with(str_from_c(run->folder), prefix)) continue;
        MemoryStaging *staging    = mem_alloc(sizeof(MemoryStaging));
        run->is_held              = true;
        staging->base.store       = store;
        staging->run              = run;
        *LIST_PUSH(arena, &taken) = &staging->base;
    }
    *out = (StoreStagings){.items = taken.items, .count = taken.count};
    return end(store, true);
}

static void leave_staging(StoreStaging *staging, bool keep_files)
{
    MemoryStore *memory = (MemoryStore *)staging->store;
    MemoryRun   *run    = ((MemoryStaging *)staging)->run;

    if (memory->sched && !keep_files) sched_point(memory->sched, "store staging_close");
    (void)pthread_mutex_lock(&memory->lock);
    run->is_held = false;
    for (size_t i = 0; i < memory->run_count && !keep_files; i++)
        if (memory->runs[i] == run) drop_run(memory, i);
    (void)pthread_mutex_unlock(&memory->lock);
    mem_free(staging);
}

static bool memory_staging_is_there(StoreStaging *staging)
{
    (void)staging;
    return true; /* nobody removes the folder of a run that is held */
}

static void memory_staging_close(StoreStaging *staging)
{
    leave_staging(staging, false);
}

static void memory_staging_abandon(StoreStaging *staging)
{
    leave_staging(staging, true);
}

void store_memory_lose_power(Store *store)
{
    MemoryStore *memory = (MemoryStore *)store;

    (void)pthread_mutex_lock(&memory->lock);
    for (size_t i = memory->file_count; i-- > 0;)
        if (memory->files[i]->is_unsynced ||
            (memory->files[i]->is_staged && !memory->files[i]->is_sealed))
            drop_file(memory, i);
    (void)pthread_mutex_unlock(&memory->lock);
}

Store *store_memory_new(Clock *clock, Sched *sched)
{
    MemoryStore *memory = mem_alloc(sizeof(MemoryStore));

    assert(clock);
    int failed = pthread_mutex_init(&memory->lock, NULL);
    assert(failed == 0);
    memory->clock = clock;
    memory->sched = sched;
    memory->base  = (Store){
         .read             = memory_read,
         .stat             = memory_stat,
         .put_new          = memory_put_new,
         .replace          = memory_replace,
         .list_after       = memory_list_after,
         .remove           = memory_remove,
         .fetch_local      = memory_fetch_local,
         .list_children    = memory_list_children,
         .remove_directory = memory_remove_directory,
         .staging_sweep    = memory_staging_sweep,
         .staging_open     = memory_staging_open,
         .staging_file     = memory_staging_file,
         .staging_publish  = memory_staging_publish,
         .staging_sync     = memory_staging_sync,
         .staging_seal     = memory_staging_seal,
         .staging_take     = memory_staging_take,
         .staging_is_there = memory_staging_is_there,
         .staging_close    = memory_staging_close,
         .staging_abandon  = memory_staging_abandon,
         .close            = memory_close,
    };
    return &memory->base;
}
