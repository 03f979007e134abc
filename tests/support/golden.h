/* golden.h - bytes we promised, kept under tests/golden/. Include test_support.h first.
 *
 * A difference fails the test and shows where. When the change is meant, one command writes the
 * files anew, and a person reads the diff:
 *
 *   TIDELAKE_GOLDEN=refresh meson test -C build/san --suite golden */
#ifndef TIDELAKE_TEST_GOLDEN_H
#define TIDELAKE_TEST_GOLDEN_H

#include "support/test_support.h"

/* `file` is below tests/golden/. */
#define assert_golden(file, got) golden_check((file), (got), __FILE__, __LINE__)

UNUSED static void golden_path(const char *file, char *out, size_t size)
{
    const char *root = getenv("TIDELAKE_SOURCE_ROOT");
    (void)snprintf(out, size, "%s/tests/golden/%s", root ? root : ".", file);
}

UNUSED static void golden_refresh(const char *path, Str got)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(got.ptr, 1, got.len, file) != got.len || fclose(file) != 0)
        fail_msg("%s could not be written", path);
    print_message("# written: %s\n", path);
}

UNUSED static void golden_check(const char *file, Str got, const char *test, int line)
{
    const char *mode = getenv("TIDELAKE_GOLDEN");
    char        path[4096];
    size_t      at = 0, line_number = 1;

    golden_path(file, path, sizeof path);
    if (mode && strcmp(mode, "refresh") == 0) {
        golden_refresh(path, got);
        return;
    }
    FILE *golden = fopen(path, "rb");
    if (!golden) fail_msg("no %s; TIDELAKE_GOLDEN=refresh writes it", path);
    for (int c; (c = fgetc(golden)) != EOF || at < got.len; at++) {
        if (c != EOF && at < got.len && (unsigned char)got.ptr[at] == c) {
            line_number += c == '\n';
            continue;
        }
        (void)fclose(golden);
        print_error("%s differs in line %zu, byte %zu. Got:\n%.*s\n", path, line_number, at,
                    STR_ARG(got));
        _fail(test, line);
    }
    (void)fclose(golden);
}

#endif
