/* test_docs.c - the reference names every key with its default, every exit code, every command. */
#include "support/test_support.h"

#include "base/limits.h"
#include "cli/command.h"
#include "store/store.h"

static Str read_file(Arena *arena, const char *name)
{
    Store      *store = store_local_new(STR_EMPTY);
    const char *root  = getenv("TIDELAKE_SOURCE_ROOT");
    Bytes       bytes;
    Err         err = ERR_INIT;

    assert_ok(store_read(store, str_printf(arena, "%s/%s", root ? root : ".", name),
                         LIMIT_CONFIG_BYTES, arena, &bytes, &err),
              &err);
    store_close(store);
    return bytes_str(bytes);
}

/* The line of a table that begins with `key`. */
static Str row_of(Arena *arena, Str text, const char *key)
{
    ptrdiff_t at = str_find(text, str_printf(arena, "\n| `%s` |", key), 0);
    ptrdiff_t end;

    if (at < 0) fail_msg("docs/configuration.md has no row for %s", key);
    end = str_find_char(text, '\n', (size_t)at + 1);
    return str_slice(text, (size_t)at + 1, end < 0 ? text.len : (size_t)end);
}

static void every_key_is_in_the_reference_with_its_default(void **state)
{
    Arena *arena = arena_new();
    Str    text  = read_file(arena, "docs/configuration.md");

    (void)state;
    for (int i = 0; i < SETTING_COUNT; i++) {
        const SettingSpec *spec = setting_spec((SettingId)i);
        Str                row  = row_of(arena, text, spec->key);
        if (!spec->default_text || !spec->default_text[0]) continue;
        if (str_find(row, str_printf(arena, "`%s`", spec->default_text), 0) < 0)
            fail_msg("docs/configuration.md: %s lacks its default %s", spec->key,
                     spec->default_text);
    }
    arena_close(arena);
}

static void every_exit_code_is_in_the_reference(void **state)
{
    Arena *arena = arena_new();
    Str    text  = read_file(arena, "docs/configuration.md");

    (void)state;
#define X(code, exit_status, retry, meaning) \
    assert_true(str_find(text, str_printf(arena, "\n| %d", exit_status), 0) >= 0);
    ERR_CODES(X)
#undef X
    arena_close(arena);
}

static void every_command_is_in_the_readme(void **state)
{
    Arena         *arena = arena_new();
    Str            text  = read_file(arena, "README.md");
    size_t         count;
    const Command *commands = command_list(&count);

    (void)state;
    for (size_t i = 0; i < count; i++)
        assert_true(str_find(text, str_printf(arena, "tidelake %s", commands[i].name), 0) >= 0);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_in_the_reference_with_its_default),
        cmocka_unit_test(every_exit_code_is_in_the_reference),
        cmocka_unit_test(every_command_is_in_the_readme),
    };
    return RUN_TESTS(tests);
}
