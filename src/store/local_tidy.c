/* Folders of a local disk as those see them who tidy up: with the folders in them, and without
 * following a symbolic link anywhere. */
#define _GNU_SOURCE /* DT_.. beside POSIX */
#include "base/list.h"
#include "store/local_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef LIST(StoreChild) ChildList;

static int compare_children(const void *left, const void *right)
{
    return str_compare(((const StoreChild *)left)->name, ((const StoreChild *)right)->name);
}

static bool refuse(Err *err, int error, const char *path)
{
    return err_set_errno(err, ERR_STORE, error, "%s: could not be read", path);
}

static bool list_open_directory(DIR *directory, const char *path, Arena *arena, ChildList *children,
                                Err *err)
{
    struct dirent *found;
    struct stat    status;
    StoreEntry     entry;

    for (errno = 0; (found = readdir(directory)) != NULL; errno = 0) {
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
        if (fstatat(dirfd(directory), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            if (errno == ENOENT) continue; /* removed since */
            return refuse(err, errno, path);
        }
        if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) continue;
        local_entry_from_stat(&status, &entry);
        *LIST_PUSH(arena,
                   children) = (StoreChild){.name = str_copy(arena, str_from_c(found->d_name)),
                                            .is_directory    = S_ISDIR(status.st_mode),
                                            .size_bytes      = entry.size_bytes,
                                            .modified_utc_us = entry.modified_utc_us};
    }
    return errno == 0 || refuse(err, errno, path);
}

bool local_list_children(Store *store, Str directory, Arena *arena, StoreChildren *out, Err *err)
{
    LocalPath where;
    ChildList children = {0};

    *out = (StoreChildren){0};
    if (!local_resolve((LocalStore *)store, directory, &where, err)) return false;
    DIR *open_directory = opendir(where.text);
    if (!open_directory) return errno == ENOENT || refuse(err, errno, where.text);
    bool ok = list_open_directory(open_directory, where.text, arena, &children, err);
    closedir(open_directory);
    if (!ok) return false;
    if (children.count > 1)
        qsort(children.items, children.count, sizeof(StoreChild), compare_children);
    *out = (StoreChildren){.items = children.items, .count = children.count};
    return true;
}

bool local_remove_directory(Store *store, Str path, bool *removed_out, Err *err)
{
    LocalPath where;

    *removed_out = false;
    if (!local_resolve((LocalStore *)store, path, &where, err)) return false;
    *removed_out = rmdir(where.text) == 0;
    if (*removed_out || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) return true;
    return err_set_errno(err, ERR_STORE, errno, "%s: could not be removed", where.text);
}
