#define _GNU_SOURCE /* flock beside POSIX */
#include "cli/run_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX    "tidelake-run-"
#define DEPTH_MAX 4 /* folders in folders: libduckdb makes one */

/* --- removing --- */

static void remove_all_in(int folder_fd, int depth)
{
    int            copy_fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0);
    DIR           *folder  = copy_fd >= 0 ? fdopendir(copy_fd) : NULL;
    struct dirent *found;

    if (!folder) {
        if (copy_fd >= 0) close(copy_fd);
        return;
    }
    rewinddir(folder);
    while ((found = readdir(folder)) != NULL) {
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
        if (unlinkat(folder_fd, found->d_name, 0) == 0 || depth == DEPTH_MAX) continue;
        int inner_fd = openat(folder_fd, found->d_name,
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner_fd < 0) continue;
        remove_all_in(inner_fd, depth + 1);
        close(inner_fd);
        (void)unlinkat(folder_fd, found->d_name, AT_REMOVEDIR);
    }
    closedir(folder);
}

/* Dead is the run whose lock can be taken. Another user's folder is none of ours, whatever its name. */
static void remove_if_dead(int root_fd, const char *name)
{
    struct stat status;
    int         folder_fd = openat(root_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder_fd < 0) return;
    if (fstat(folder_fd, &status) == 0 && status.st_uid == geteuid() &&
        flock(folder_fd, LOCK_EX | LOCK_NB) == 0) {
        remove_all_in(folder_fd, 0);
        (void)unlinkat(root_fd, name, AT_REMOVEDIR);
    }
    close(folder_fd);
}

static void remove_dead_runs(const char *root)
{
    DIR           *folders = opendir(root);
    struct dirent *found;

    if (!folders) return;
    while ((found = readdir(folders)) != NULL)
        if (strncmp(found->d_name, PREFIX, strlen(PREFIX)) == 0)
            remove_if_dead(dirfd(folders), found->d_name);
    closedir(folders);
}

/* --- making --- */

/* Between the making and the lock another run may take the folder for a dead one's and remove it: it counts when it still
 * has its name once it is locked. -1: it has not, or could not be made. */
static int make_locked(const char *path)
{
    struct stat named, opened;
    int         fd;

    if (mkdir(path, 0700) != 0) return -1; /* rows are spilled there */
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
        return fd;
    close(fd);
    return -1;
}

RunFolder run_folder_open(Str root, Arena *arena, Rng *rng)
{
    RunFolder folder = {.lock_fd = -1};

    remove_dead_runs(str_c(arena, root));
    for (int i = 0; i < 5 && folder.lock_fd < 0; i++) {
        folder.path    = str_printf(arena, "%.*s/" PREFIX "%ld-%llx", STR_ARG(root), (long)getpid(),
                                    (unsigned long long)rng_u64(rng));
        folder.lock_fd = make_locked(str_c(arena, folder.path));
    }
    return folder;
}

void run_folder_close(RunFolder *folder)
{
    Arena *scratch;

    if (folder->lock_fd < 0) return;
    scratch = arena_new();
    remove_all_in(folder->lock_fd, 0);
    (void)rmdir(str_c(scratch, folder->path));
    close(folder->lock_fd);
    folder->lock_fd = -1;
    arena_close(scratch);
}
