#include "support/test_support.h"

#include "cli/config.h"

typedef struct Fixture {
    Arena      *arena;
    const char *folder;
    Str         path;
} Fixture;

static int set_up(void **state)
{
    Fixture *fixture = test_calloc(1, sizeof *fixture);

    fixture->arena  = arena_new();
    fixture->folder = test_dir_new(fixture->arena);
    fixture->path   = str_printf(fixture->arena, "%s/tidelake.yaml", fixture->folder);
    *state          = fixture;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *fixture = *state;

    test_dir_remove(fixture->folder);
    arena_close(fixture->arena);
    test_free(fixture);
    return 0;
}

static bool read_text(Fixture *fixture, const char *text, Config *out, Err *err)
{
    FILE *file = fopen(fixture->path.ptr, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    err_clear(err);
    return config_read(fixture->path, NULL, 0, fixture->arena, out, err);
}

static void a_stream_takes_its_own_values_over_defaults_over_the_tables(void **state)
{
    Config   config;
    Err      err     = ERR_INIT;
    Settings options = {0}, settings;

    assert_ok(read_text(*state,
                        "source: {connection: \"Driver=FreeTDS;PWD=a b;\"}\n"
                        "defaults:\n  trigger: interval\n  interval: 5s\n"
                        "streams:\n"
                        "  - capture_instance: dbo_a\n    bronze: {path: bronze/a, label: "
                        "main.bronze.a}\n    interval: 1m\n"
                        "  - {capture_instance: dbo_b, snapshot_keys: [x, 'y z']}\n",
                        &config, &err),
              &err);
    assert_int_equal(config.stream_count, 2);
    settings = config_stream(&config, 0, &options);
    assert_str_is(settings_text(&settings, SET_CONNECTION), "Driver=FreeTDS;PWD=a b;");
    assert_str_is(settings_text(&settings, SET_TRIGGER), "interval");
    assert_int_equal(settings_duration_ms(&settings, SET_INTERVAL), 60000);
    assert_str_is(settings.values[SET_BRONZE].text, "bronze/a");
    assert_str_is(settings.values[SET_BRONZE].label, "main.bronze.a");
    assert_int_equal(settings_integer(&settings, SET_CONNECT_TIMEOUT, -1), 30);
    options.values[SET_INTERVAL] = (SettingValue){.is_set = true, .text = STR("2s")};
    settings                     = config_stream(&config, 1, &options);
    assert_int_equal(settings_duration_ms(&settings, SET_INTERVAL), 2000);
    assert_int_equal(settings.values[SET_SNAPSHOT_KEYS].item_count, 2);
    assert_str_is(settings.values[SET_SNAPSHOT_KEYS].items[1], "y z");
}

static void isolation_is_taken_in_any_case_and_the_option_wins(void **state) /* T4.21 */
{
    static const struct {
        const char *in_file, *option, *want;
    } cases[] = {{"SNAPSHOT", NULL, "snapshot"},
                 {"Snapshot", NULL, "snapshot"},
                 {"READCOMMITTED", NULL, "readCommitted"},
                 {"snapshot", "ReadCommitted", "readCommitted"},
                 {"readCommitted", "SnapShot", "snapshot"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Fixture *fixture = *state;
        Config   config;
        Err      err     = ERR_INIT;
        Settings options = {0}, settings;
        Str      text    = str_printf(fixture->arena,
                                      "defaults: {isolation: %s}\nstreams:\n  - "
                                              "{capture_instance: dbo_a}\n",
                                      cases[i].in_file);

        assert_ok(read_text(fixture, str_c(fixture->arena, text), &config, &err), &err);
        if (cases[i].option)
            options.values[SET_ISOLATION] = (SettingValue){.is_set = true,
                                                           .text   = str_from_c(cases[i].option)};
        settings = config_stream(&config, 0, &options);
        assert_true(str_equal_ignoring_case(settings_text(&settings, SET_ISOLATION),
                                            str_from_c(cases[i].want)));
    }
}

static void an_error_names_file_line_and_the_nearest_key(void **state)
{
    static const struct {
        const char *text, *line, *message;
    } cases[] = {
        {"source:\n  conection: x\n", ":2", "did you mean connection?"},
        {"lake:\n  root: a\n\nstreems: []\n", ":4", "did you mean streams?"},
        {"defaults:\n  trigger: sometimes\n", ":2", "available-now|interval|continuous"},
        {"defaults:\n  interval: 5s\n  interval: 6s\n", ":3", "given twice"},
        {"defaults:\n  isolation: dirty\n", ":2", "uncommitted rows are never read"}, /* T4.21 */
        {"streams:\n  - bronze: b\n", ":2", "no capture_instance"},
        {"streams:\n  dbo_a: {}\n", ":2", "streams is a list"},
        {"source:\n  fetch_rows: many\n", ":2", "whole number"},
        {"source:\n  connection: \"${NO_SUCH_VARIABLE_HERE}\"\n", ":2", "NO_SUCH_VARIABLE_HERE"},
        {"source: {connection: [a]}\n", ":1", "single value"},
        {"source:\n\tconnection: x\n", ":2", "token"},
        {"streams:\n  - {capture_instance: a, app_id: s}\n  - {capture_instance: b, app_id: s}\n",
         ":3", "already that of another stream"},
        {"streams:\n  - {capture_instance: a, app_id: s}\n  - {capture_instance: a, app_id: t}\n",
         ":3: capture_instance a is already", "already that of another stream"},
        {"defaults:\n  trigger: interval\n  silver: null\n", ":3", "leave it out: silver"},
        {"lake: {facts: ~}\n", ":1", "leave it out: facts"},
        {"lake:\n  facts: {path: null}\n", ":2", "leave it out: path"},
        {"lake:\n  facts:\n    path: f\n    label: ~\n", ":4", "leave it out: label"},
        {"lake:\n  facts:\n    path:\n", ":3", "not empty is wanted for path"},
        {"lake:\n  facts: {path: a, path: b}\n", ":2", "given twice: path"},
        {"lake:\n  facts: {label: a}\n", ":2", "a table needs a path"},
        {"defaults: {snapshot_keys: [a, null]}\n", ":1", "a name is wanted here, not null"},
        {"lake: {root: a}\nlake: {facts: f}\n", ":2", "given twice: lake"},
        {"defaults: {connection: x}\n", ":1", "unknown key connection"}};
    Config config;
    Err    err = ERR_INIT;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_false(read_text(*state, cases[i].text, &config, &err));
        assert_err(&err, ERR_CONFIG, cases[i].message);
        assert_non_null(strstr(err.message, cases[i].line));
    }
}

static void values_are_filled_from_the_environment(void **state)
{
    Config config;
    Err    err = ERR_INIT;

    assert_int_equal(setenv("TIDELAKE_TEST_SECRET", "pass;word}", 1), 0);
    assert_ok(read_text(*state, "source: {connection: \"PWD={${TIDELAKE_TEST_SECRET}};X=$1\"}\n",
                        &config, &err),
              &err);
    assert_str_is(config.shared.values[SET_CONNECTION].text, "PWD={pass;word}};X=$1");
}

static void a_variable_that_is_not_set_matters_to_who_uses_the_key(void **state)
{
    static const SettingId looks[] = {SET_MEMORY_LIMIT}, streams[] = {SET_CONNECTION};
    Fixture               *fixture = *state;
    Config                 config;
    Err                    err = ERR_INIT;

    assert_false(read_text(fixture,
                           "source: {connection: \"PWD=${TIDELAKE_TEST_NOT_SET}\"}\n"
                           "streams: [{capture_instance: \"${TIDELAKE_TEST_NOT_SET}\"}]\n",
                           &config, &err));
    assert_err(&err, ERR_CONFIG, "tidelake.yaml:1: the environment has no variable");
    err_clear(&err);
    assert_ok(config_read(fixture->path, looks, COUNT_OF(looks), fixture->arena, &config, &err),
              &err);
    assert_false(config.shared.values[SET_CONNECTION].is_set);
    assert_false(
        config_read(fixture->path, streams, COUNT_OF(streams), fixture->arena, &config, &err));
    assert_err(&err, ERR_CONFIG, "TIDELAKE_TEST_NOT_SET");
    /* a wrong key stays an error for everybody */
    assert_false(
        read_text(fixture, "sources: {connection: \"${TIDELAKE_TEST_NOT_SET}\"}\n", &config, &err));
    assert_err(&err, ERR_CONFIG, "unknown key sources");
}

static void an_empty_file_is_a_configuration(void **state)
{
    Config config;
    Err    err = ERR_INIT;

    assert_ok(read_text(*state, "", &config, &err), &err);
    assert_ok(read_text(*state, "# nothing yet\nsource:\n", &config, &err), &err);
    assert_int_equal(config.stream_count, 0);
}

static void a_missing_file_says_so(void **state)
{
    Config config;
    Err    err = ERR_INIT;

    (void)state;
    assert_false(config_read(STR("/nowhere/tidelake.yaml"), NULL, 0, ((Fixture *)*state)->arena,
                             &config, &err));
    assert_err(&err, ERR_CONFIG, "/nowhere/tidelake.yaml");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_stream_takes_its_own_values_over_defaults_over_the_tables),
        CASE(isolation_is_taken_in_any_case_and_the_option_wins),
        CASE(an_error_names_file_line_and_the_nearest_key),
        CASE(values_are_filled_from_the_environment),
        CASE(a_variable_that_is_not_set_matters_to_who_uses_the_key),
        CASE(an_empty_file_is_a_configuration),
        CASE(a_missing_file_says_so),
    };
    return RUN_TESTS(tests);
}
