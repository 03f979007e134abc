/* fsync_floor.c - the durable writes that a batch of a few changes needs at least, and nothing
 * else: a planned offset, two data files, two commits, a commit file; each written, synced, named
 * and its folder synced.
 *
 * fsync-floor FOLDER ROUNDS     prints the median milliseconds of a round */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void durable_file(int folder, const char *name, size_t size)
{
    static const char bytes[8192];
    int               file = openat(folder, ".tmp", O_CREAT | O_TRUNC | O_WRONLY, 0644);

    if (file < 0 || write(file, bytes, size) != (ssize_t)size || fsync(file) != 0 ||
        close(file) != 0 || linkat(folder, ".tmp", folder, name, 0) != 0 ||
        unlinkat(folder, ".tmp", 0) != 0 || fsync(folder) != 0) {
        perror("fsync-floor");
        exit(1);
    }
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
    int    rounds = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
    int    folder = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
    double times[1000];
    char   name[32];

    if (rounds < 1 || rounds > 1000 || folder < 0) return 2;
    for (int round = 0; round < rounds; round++) {
        static const size_t sizes[] = {100, 6000, 1500, 8000, 1500, 29};
        double              began   = now_ms();
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            (void)snprintf(name, sizeof name, "%d-%zu", round, i);
            durable_file(folder, name, sizes[i]);
        }
        times[round] = now_ms() - began;
    }
    qsort(times, (size_t)rounds, sizeof times[0], compare);
    printf("%.3f\n", times[rounds / 2]);
    return 0;
}
