#include "support/test_support.h"

#include "cli/command.h"
#include "cli/stream_settings.h"

/* Parses the words after `tidelake stream`. */
static bool parse(Arena *arena, const char *const *words, Invocation *out, Err *err)
{
    char *argv[16];
    int   argc = 0;

    for (; words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc];
    *out = (Invocation){.arena = arena, .command = command_find(STR("stream"))};
    err_clear(err);
    return command_parse(argc, argv, out, err);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void options_take_their_value_in_both_forms(void **state)
{
    Arena     *arena = arena_new();
    Invocation invocation;
    Err        err = ERR_INIT;

    (void)state;
    assert_ok(parse(arena,
                    WORDS("dbo_a", "--app-id", "a-v1", "--bronze=lake/a", "--bootstrap", "--json",
                          "--max-batches", "3", "--snapshot-keys", "a, b"),
                    &invocation, &err),
              &err);
    assert_str_is(invocation.options.values[SET_APP_ID].text, "a-v1");
    assert_str_is(invocation.options.values[SET_BRONZE].text, "lake/a");
    assert_str_is(invocation.options.values[SET_BOOTSTRAP].text, "true");
    assert_int_equal(invocation.options.values[SET_SNAPSHOT_KEYS].item_count, 2);
    assert_true(invocation.json);
    assert_str_is(invocation.flags[FLAG_MAX_BATCHES], "3");
    assert_int_equal(invocation.arguments.count, 1);
    assert_ok(parse(arena, WORDS("--bootstrap=false", "--", "--odd-name"), &invocation, &err),
              &err);
    assert_str_is(invocation.options.values[SET_BOOTSTRAP].text, "false");
    assert_str_is(invocation.arguments.items[0], "--odd-name");
    arena_close(arena);
}

static void an_empty_option_counts_as_absent(void **state) /* algorithms.md 0.2 */
{
    Arena     *arena = arena_new();
    Invocation invocation;
    Err        err = ERR_INIT;

    (void)state;
    assert_ok(parse(arena, WORDS("--starting-lsn", ""), &invocation, &err), &err);
    assert_false(invocation.options.values[SET_STARTING_LSN].is_set);
    arena_close(arena);
}

static void a_wrong_option_is_refused_with_the_nearest_one(void **state)
{
    static const struct {
        const char *words[3];
        const char *message;
    } cases[]        = {{{"--bronz", "x"}, "did you mean --bronze?"},
                        {{"--maxcommits-per-batch", "1"}, "did you mean --max-commits-per-batch?"},
                        {{"--captur", "x"}, "did you mean --capture-instance?"},
                        {{"--silver", "x"},
                         "unknown option --silver: `tidelake stream` does not take it; it may stand in "
                                "the configuration file"},
                        {{"--app-id"}, "needs a value"},
                        {{"--json=yes"}, "takes no value"},
                        {{"--fail-on-data-loss", "false"},
                         "takes its value after an equals sign: --fail-on-data-loss=false"},
                        {{"--bootstrap", "True", "dbo_a"}, "--bootstrap=True"},
                        {{"--log-level", "loud"}, "error, warn, info, debug, trace"},
                        {{"--interval", "soon"}, "--interval: interval is"}};
    Arena     *arena = arena_new();
    Invocation invocation;
    Err        err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *words[4] = {cases[i].words[0], cases[i].words[1], cases[i].words[2], NULL};
        assert_false(parse(arena, words, &invocation, &err));
        assert_err(&err, ERR_USAGE, cases[i].message);
    }
    arena_close(arena);
}

/* What was meant is not ours to guess; a switch says the same again. */
static void an_option_given_twice_is_refused(void **state)
{
    static const struct {
        const char *words[5];
        const char *message;
    } cases[] = {
        {{"--interval", "5s", "--interval", "6s"}, "--interval is given twice: give it once"},
        {{"--interval=5s", "--interval=5s"}, "--interval is given twice"},
        {{"--fetch-rows", "1", "--fetch_rows", "2"}, "--fetch_rows is given twice"},
        {{"--starting-lsn", "", "--starting-lsn", "latest"}, "--starting-lsn is given twice"},
        {{"--snapshot-keys", "a", "--snapshot-keys", "b"}, "separated by commas"},
        {{"--bootstrap", "--bootstrap=false"}, "--bootstrap is given twice"},
        {{"-c", "a", "--config", "b"}, "--config is given twice"},
        {{"--log-level", "info", "--log-level=warn"}, "--log-level is given twice"},
        {{"--max-batches", "1", "--max-batches", "2"}, "--max-batches is given twice"}};
    Arena     *arena = arena_new();
    Invocation invocation;
    Err        err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_false(parse(arena, cases[i].words, &invocation, &err));
        assert_err(&err, ERR_USAGE, cases[i].message);
        assert_int_equal(err_exit_status(err.code), 2);
        err_clear(&err);
    }
    assert_ok(parse(arena, WORDS("--json", "--json", "--no-progress", "--no-progress"), &invocation,
                    &err),
              &err);
    assert_true(invocation.json);
    arena_close(arena);
}

static bool options_of(Arena *arena, const char *const *words, StreamOptions *out, Err *err)
{
    Invocation    invocation;
    ChosenStream *streams;
    size_t        count;

    return parse(arena, words, &invocation, err) &&
           choose_streams(&invocation, &streams, &count, err) &&
           stream_options_from_settings(&streams[0].settings, arena, out, err);
}

static void what_this_version_cannot_do_is_refused_before_anything_is_read(void **state) /* T12.1 */
{
#define COMPLETE \
    "dbo_a", "--connection", "Driver=x", "--bronze", "b", "--app-id", "a", "--checkpoint", "c"
    Arena        *arena = arena_new();
    StreamOptions options;
    Err           err = ERR_INIT;

    (void)state;
    assert_ok(options_of(arena, WORDS(COMPLETE), &options, &err), &err);
    assert_int_equal(options.trigger, TRIGGER_CONTINUOUS);
    assert_int_equal(options.starting, START_EARLIEST);
    assert_int_equal(options.source.lock_timeout_ms, -1);
    assert_ok(options_of(arena, WORDS(COMPLETE, "--snapshot", "chunked"), &options, &err), &err);
    assert_true(options.snapshot_chunked);
    assert_false(
        options_of(arena, WORDS(COMPLETE, "--snapshot", "chunked", "--bootstrap"), &options, &err));
    assert_err(&err, ERR_USAGE, "name one (--facts, lake.facts)");
    assert_false(
        options_of(arena, WORDS(COMPLETE, "--on-data-loss", "resnapshot"), &options, &err));
    assert_err(&err, ERR_USAGE, "resnapshot");
    assert_false(options_of(arena, WORDS(COMPLETE, "--snapshot-on-switch"), &options, &err));
    assert_err(&err, ERR_USAGE, "snapshot_on_switch");
    assert_ok(options_of(arena, WORDS(COMPLETE, "--fail-on-data-loss=no"), &options, &err), &err);
    assert_true(options.skips_lost_changes);
    assert_false(
        options_of(/* T12.2: for its own reason, not for what is not built */
                   arena, WORDS(COMPLETE, "--fail-on-data-loss=no", "--on-data-loss", "resnapshot"),
                   &options, &err));
    assert_err(&err, ERR_USAGE, "would be skipped, and the next run would not see the gap");
    assert_ok(options_of(arena, WORDS(COMPLETE, "--columns", "a INT, `b c` DECIMAL(9,2)"), &options,
                         &err),
              &err);
    assert_int_equal(options.columns.column_count, 2);
    assert_str_is(options.columns.columns[1].name, "b c");
    assert_false(options_of(arena, WORDS(COMPLETE, "--columns", "a TEXT"), &options, &err));
    assert_err(&err, ERR_USAGE, "--columns: columns: column a has type TEXT; allowed: BOOLEAN");
    assert_false(options_of(arena, WORDS(COMPLETE, "--bootstrap", "--starting-lsn", "latest"),
                            &options, &err));
    assert_err(&err, ERR_USAGE, "one or the other");
    assert_false(options_of(arena, WORDS("dbo_b", COMPLETE), &options, &err));
    assert_err(&err, ERR_USAGE, "--bronze would hold for 2 streams");
    assert_false(options_of(arena, WORDS("dbo_b", "dbo_a", "dbo_b"), &options, &err));
    assert_err(&err, ERR_USAGE, "dbo_b is named twice");
    arena_close(arena);
}

static void what_is_missing_is_named_with_its_option(void **state) /* T12.1 */
{
    Arena        *arena = arena_new();
    StreamOptions options;
    Err           err = ERR_INIT;

    (void)state;
    assert_false(
        options_of(arena, WORDS("dbo_a", "--connection", "x", "--bronze", "b", "--checkpoint", "c"),
                   &options, &err));
    assert_err(&err, ERR_USAGE, "--app-id");
    assert_false(options_of(arena, WORDS("--json"), &options, &err));
    assert_err(&err, ERR_USAGE, "--capture-instance (for example dbo_orders)");

    char name[102] = {0};
    memset(name, 'n', 101);
    assert_false(options_of(arena,
                            WORDS("--capture-instance", name, "--connection", "x", "--bronze", "b",
                                  "--app-id", "a", "--checkpoint", "c"),
                            &options, &err));
    assert_err(&err, ERR_USAGE, "capture_instance is 101 characters long, at most 100");
    assert_non_null(strstr(err.message, name));
    assert_false(options_of(arena,
                            WORDS("--capture-instance", "a\nb", "--connection", "x", "--bronze",
                                  "b", "--app-id", "a", "--checkpoint", "c"),
                            &options, &err));
    assert_err(&err, ERR_USAGE, "capture_instance holds a control character");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_take_their_value_in_both_forms),
        cmocka_unit_test(an_empty_option_counts_as_absent),
        cmocka_unit_test(a_wrong_option_is_refused_with_the_nearest_one),
        cmocka_unit_test(an_option_given_twice_is_refused),
        cmocka_unit_test(what_this_version_cannot_do_is_refused_before_anything_is_read),
        cmocka_unit_test(what_is_missing_is_named_with_its_option),
    };
    return RUN_TESTS(tests);
}
