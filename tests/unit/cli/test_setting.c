#include "support/test_support.h"

#include "cli/nearest.h"
#include "cli/setting.h"

static SettingValue value_of(const char *text)
{
    return (SettingValue){.is_set = true, .text = str_from_c(text), .origin = STR("--x")};
}

static void every_default_passes_its_own_check(void **state)
{
    (void)state;
    for (int i = 0; i < SETTING_COUNT; i++) {
        const SettingSpec *spec  = setting_spec((SettingId)i);
        SettingValue       value = value_of(spec->default_text);
        Err                err   = ERR_INIT;

        if (spec->default_text && spec->default_text[0])
            assert_ok(setting_check((SettingId)i, &value, &err), &err);
        assert_int_equal(setting_find(str_from_c(spec->key), false), i);
    }
}

static void a_typo_in_a_boolean_never_turns_a_guard_off(void **state) /* T12.2 */
{
    SettingValue value = value_of("ture");
    Err          err   = ERR_INIT;

    (void)state;
    assert_false(setting_check(SET_FAIL_ON_DATA_LOSS, &value, &err));
    assert_err(&err, ERR_USAGE, "fail_on_data_loss");
    assert_non_null(strstr(err.message, "ture"));
}

static void booleans_are_read_in_any_case(void **state)
{
    static const char *const yes[] = {"true", "TRUE", "yes", "Y", "1"}, *const no[] = {"false",
                                                                                       "No", "n",
                                                                                       "0"};
    bool flag;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(yes); i++)
        assert_true(parse_bool(str_from_c(yes[i]), &flag) && flag);
    for (size_t i = 0; i < COUNT_OF(no); i++)
        assert_true(parse_bool(str_from_c(no[i]), &flag) && !flag);
    assert_false(parse_bool(STR(""), &flag));
    assert_false(parse_bool(STR("on"), &flag));
}

static void numbers_keep_to_their_least(void **state)
{
    static const struct {
        SettingId   id;
        const char *text;
        bool        ok;
    } cases[] = {{SET_NUM_PARTITIONS, "auto", true},
                 {SET_NUM_PARTITIONS, "0", false},
                 {SET_NUM_PARTITIONS, "-1", false},
                 {SET_NUM_PARTITIONS, "4", true},
                 {SET_MAX_COMMITS_PER_BATCH, "0", false},
                 {SET_MAX_COMMITS_PER_BATCH, "null", true},
                 {SET_CONNECT_TIMEOUT, "0", true},
                 {SET_CONNECT_TIMEOUT, "x", false},
                 {SET_SILENCE_TIMEOUT, "0", true},
                 {SET_SILENCE_TIMEOUT, "-1", false},
                 {SET_LOCK_TIMEOUT_MS, "null", true},
                 {SET_MIN_HEADROOM_HOURS, "0.05", true},
                 {SET_MIN_HEADROOM_HOURS, "null", true},
                 {SET_TARGET_WAVE_SECONDS, "0.5", true},
                 {SET_TARGET_WAVE_SECONDS, "0", true},
                 {SET_TARGET_WAVE_SECONDS, "null", false},
                 {SET_TARGET_WAVE_SECONDS, "-0", false},
                 {SET_LOCK_TIMEOUT_MS, "-1", false},
                 {SET_POLL_INTERVAL, "50ms", false},
                 {SET_POLL_INTERVAL, "1s", true},
                 {SET_INTERVAL, "10", false},
                 {SET_TRIGGER, "now", false},
                 {SET_ISOLATION, "READCOMMITTED", true},
                 {SET_ISOLATION, "uncommitted", false},
                 {SET_STARTING_LSN, "0x2A", true},
                 {SET_STARTING_LSN, "0x", false},
                 {SET_STARTING_LSN, "latest", true},
                 {SET_MEMORY_LIMIT, "0GB", false},
                 {SET_COMPRESSION, "gzip", false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SettingValue value = value_of(cases[i].text);
        Err          err   = ERR_INIT;
        assert_int_equal(setting_check(cases[i].id, &value, &err), cases[i].ok);
        if (!cases[i].ok) assert_err(&err, ERR_USAGE, setting_spec(cases[i].id)->key);
    }
}

static void a_bad_value_is_named_with_what_is_allowed(void **state) /* T12.1, T12.2 */
{
    static const struct {
        SettingId   id;
        const char *text, *parts[3];
    } cases[] = {
        {SET_NUM_PARTITIONS, "none", {"num_partitions", "from 1 on", "auto"}},
        {SET_FETCH_ROWS, "0", {"fetch_rows", "from 1 on", "\"0\""}},
        {SET_MAX_COMMITS_PER_BATCH,
         "0",
         {"max_commits_per_batch", "\"0\"", "leave it out for no limit"}},
        {SET_CONNECT_TIMEOUT, "-1", {"connect_timeout", "from 0 on", "\"-1\""}},
        {SET_LOCK_TIMEOUT_MS, "soon", {"lock_timeout_ms", "from 0 on", "\"soon\""}},
        {SET_FAIL_ON_DATA_LOSS, "ture", {"fail_on_data_loss", "true, false", "\"ture\""}},
        {SET_SCHEMA_CHANGE_POLICY,
         "ignore",
         {"schema_change_policy", "classify|fail", "\"ignore\""}},
        {SET_ISOLATION,
         "readUncommitted",
         {"isolation", "readCommitted|snapshot", "uncommitted rows are never read"}},
        {SET_SNAPSHOT, "none", {"snapshot", "full|chunked", "\"none\""}},
        {SET_ON_DATA_LOSS, "skip", {"on_data_loss", "fail|resnapshot", "\"skip\""}},
        {SET_GRANULARITY, "week", {"granularity", "minute|hour|day", "\"week\""}},
        {SET_CHUNK_ROWS, "0", {"chunk_rows", "from 1 on", "\"0\""}},
        {SET_TARGET_WAVE_SECONDS, "-1", {"target_wave_seconds", "from 0 on", "\"-1\""}},
        {SET_TARGET_WAVE_SECONDS, "nan", {"target_wave_seconds", "decimals too", "\"nan\""}},
        {SET_TARGET_WAVE_SECONDS, "1e999", {"target_wave_seconds", "from 0 on", "\"1e999\""}},
        {SET_MIN_HEADROOM_HOURS, "-0.5", {"min_headroom_hours", "or null", "\"-0.5\""}},
        {SET_MIN_HEADROOM_HOURS, "inf", {"min_headroom_hours", "decimals too", "\"inf\""}},
        {SET_MIN_HEADROOM_HOURS, "0,5", {"min_headroom_hours", "a number", "\"0,5\""}},
        {SET_STARTING_LSN, "0xZZ", {"starting_lsn", "earliest, latest or an LSN", "0xZZ"}},
        {SET_COLUMNS, "id", {"columns", "column id has no type", "id BIGINT"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SettingValue value = value_of(cases[i].text);
        Err          err   = ERR_INIT;

        assert_false(setting_check(cases[i].id, &value, &err));
        for (size_t j = 0; j < COUNT_OF(cases[i].parts); j++)
            assert_err(&err, ERR_USAGE, cases[i].parts[j]);
        value.origin = STR("tidelake.yaml:7"); /* as a key of the file it names the line */
        assert_false(setting_check(cases[i].id, &value, &err));
        assert_err(&err, ERR_CONFIG, "tidelake.yaml:7");
    }
}

static void decimals_are_read_as_they_stand(void **state)
{
    Settings settings = {0};

    (void)state;
    assert_true(settings_decimal(&settings, SET_TARGET_WAVE_SECONDS, 1) == 300);
    assert_true(settings_decimal(&settings, SET_MIN_HEADROOM_HOURS, -1) == -1);
    settings.values[SET_MIN_HEADROOM_HOURS] = (SettingValue){.is_set = true, .text = STR("0.05")};
    assert_true(settings_decimal(&settings, SET_MIN_HEADROOM_HOURS, -1) == 0.05);
}

static void durations_and_sizes_have_units(void **state)
{
    int64_t value;

    (void)state;
    assert_true(parse_duration_ms(STR("250ms"), &value) && value == 250);
    assert_true(parse_duration_ms(STR("2h"), &value) && value == 7200000);
    assert_true(parse_duration_ms(STR("30d"), &value) && value == INT64_C(2592000000));
    assert_false(parse_duration_ms(STR("99999999999999999d"), &value));
    assert_false(parse_duration_ms(STR("1.5s"), &value));
    assert_true(parse_size_bytes(STR("512MB"), &value) && value == 512000000);
    assert_false(parse_size_bytes(STR("GB"), &value));
}

static void the_nearest_key_is_named(void **state)
{
    (void)state;
    assert_str_is(setting_nearest(STR("snapshott"), SECTION_STREAM), "snapshot");
    assert_str_is(setting_nearest(STR("conection"), SECTION_SOURCE), "connection");
    assert_int_equal(setting_nearest(STR("zzzzzzzzzzzz"), -1).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_passes_its_own_check),
        cmocka_unit_test(a_typo_in_a_boolean_never_turns_a_guard_off),
        cmocka_unit_test(booleans_are_read_in_any_case),
        cmocka_unit_test(numbers_keep_to_their_least),
        cmocka_unit_test(a_bad_value_is_named_with_what_is_allowed),
        cmocka_unit_test(decimals_are_read_as_they_stand),
        cmocka_unit_test(durations_and_sizes_have_units),
        cmocka_unit_test(the_nearest_key_is_named),
    };
    return RUN_TESTS(tests);
}
