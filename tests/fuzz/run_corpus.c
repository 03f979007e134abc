/* Runs one fuzz target over the files of its corpus, so that inputs which once broke a parser are tests for ever.
 * Usage: corpus_NAME DIRECTORY. One TAP case per file; a crash is the failure. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_BYTES_MAX = 4096, INPUT_BYTES_MAX = 16 << 20 };

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The whole file in a block of exactly its size, so that the address sanitizer sees a read past the end. */
static bool run_file(const char *path)
{
    FILE    *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long     size = -1;
    bool     ok   = false;

    if (file == NULL) goto done;
    if (fseek(file, 0, SEEK_END) != 0) goto done;
    size = ftell(file);
    if (size < 0 || size > INPUT_BYTES_MAX) goto done;
    if (fseek(file, 0, SEEK_SET) != 0) goto done;
    data = malloc((size_t)size);
    if (data == NULL && size > 0) goto done;
    if (fread(data, 1, (size_t)size, file) != (size_t)size) goto done;
    ok = LLVMFuzzerTestOneInput(data, (size_t)size) == 0;
done:
    free(data);
    if (file != NULL) fclose(file);
    return ok;
}

int main(int argc, char **argv)
{
    struct dirent **entries   = NULL;
    int             count     = argc == 2 ? scandir(argv[1], &entries, is_visible, alphasort) : -1;
    bool            all_right = count > 0;

    if (count <= 0) {
        printf("1..1\nnot ok 1 - no corpus in %s\n", argc == 2 ? argv[1] : "(no directory given)");
    } else {
        printf("1..%d\n", count);
    }
    for (int i = 0; i < count; i++) {
        char path[PATH_BYTES_MAX];
        int  length = snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
        bool ok     = false;

        fprintf(stderr, "%s\n", entries[i]->d_name); /* what ran, should it crash */
        if (length > 0 && (size_t)length < sizeof path) ok = run_file(path);
        printf("%sok %d - %s\n", ok ? "" : "not ", i + 1, entries[i]->d_name);
        fflush(stdout);
        all_right = all_right && ok;
        free(entries[i]);
    }
    free(entries);
    return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
