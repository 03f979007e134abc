#include "support/test_support.h"

#include "cli/template.h"

static Settings settings_of(const char *bronze, const char *app_id, const char *checkpoint)
{
    Settings settings = {0};

    settings.values[SET_ROOT]   = (SettingValue){.is_set = true, .text = STR("/lake")};
    settings.values[SET_BRONZE] = (SettingValue){
        .is_set = true, .text = str_from_c(bronze), .origin = STR("f.yaml:3")};
    settings.values[SET_APP_ID] = (SettingValue){
        .is_set = true, .text = str_from_c(app_id), .origin = STR("f.yaml:4")};
    settings.values[SET_CHECKPOINT] = (SettingValue){
        .is_set = true, .text = str_from_c(checkpoint), .origin = STR("f.yaml:5")};
    return settings;
}

static ChosenStream stream(const char *name, Settings settings)
{
    return (ChosenStream){.name = str_from_c(name), .settings = settings};
}

static void a_default_makes_a_name_for_each_stream(void **state) /* T10.1 */
{
    Arena       *arena    = arena_new();
    Settings     shared   = settings_of("bronze/{ci}", "{ci}-v1", "ckpt/{ci}/{ci}");
    ChosenStream chosen[] = {stream("dbo_a", shared), stream("dbo_{ci}", shared)};
    Err          err      = ERR_INIT;

    (void)state;
    chosen[1].settings.values[SET_BRONZE].label = STR("main.{ci}");
    assert_false(template_needs_source(chosen, 2));
    assert_ok(template_fill(chosen, 2, NULL, arena, &err), &err);
    assert_str_is(chosen[0].settings.values[SET_BRONZE].text, "bronze/dbo_a");
    assert_str_is(chosen[0].settings.values[SET_APP_ID].text, "dbo_a-v1");
    assert_str_is(chosen[0].settings.values[SET_CHECKPOINT].text, "ckpt/dbo_a/dbo_a");
    assert_str_is(chosen[1].settings.values[SET_BRONZE].text, "bronze/dbo_{ci}"); /* once */
    assert_str_is(chosen[1].settings.values[SET_BRONZE].label, "main.dbo_{ci}");
    chosen[0].settings.values[SET_SILVER] = (SettingValue){.is_set = true,
                                                           .text   = STR("s/{schema}/{table}")};
    assert_true(template_needs_source(chosen, 2));
    arena_close(arena);
}

static void a_default_without_a_mark_is_refused(void **state) /* T10.3 */
{
    static const struct {
        SettingId   id;
        const char *text;
        bool        ok;
    } cases[]           = {{SET_APP_ID, "orders-v1", false},    {SET_APP_ID, "{table}-v1", false},
                           {SET_APP_ID, "{ci}", true},          {SET_CHECKPOINT, "ckpt", false},
                           {SET_CHECKPOINT, "ckpt/{ci}", true}, {SET_BRONZE, "bronze", false},
                           {SET_BRONZE, "b/{schema}", false},   {SET_BRONZE, "b/{table}", true},
                           {SET_SILVER, "silver", false}};
    Settings streams[3] = {0};
    Config   config     = {.streams = streams, .stream_count = 3};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Err err                           = ERR_INIT;
        config.shared                     = (Settings){0};
        config.shared.values[cases[i].id] = (SettingValue){
            .is_set = true, .text = str_from_c(cases[i].text), .origin = STR("f.yaml:7")};
        assert_int_equal(template_check_defaults(&config, &err), cases[i].ok);
        if (cases[i].ok) continue;
        assert_err(&err, ERR_CONFIG, "{ci}");
        assert_non_null(strstr(err.message, "f.yaml:7"));
        assert_non_null(strstr(err.message, cases[i].text));
        assert_non_null(strstr(err.message, setting_spec(cases[i].id)->key));
        /* One stream alone may take it, where the others have their own. */
        streams[1].values[cases[i].id].is_set = streams[2].values[cases[i].id].is_set = true;
        err_clear(&err);
        assert_ok(template_check_defaults(&config, &err), &err);
        streams[1].values[cases[i].id].is_set = streams[2].values[cases[i].id].is_set = false;
    }
}

static void streams_that_come_to_one_name_are_refused(void **state)
{
    static const struct {
        const char *bronze, *app_id, *checkpoint, *message;
    } cases[]    = {{"bronze/./a/", "b-v1", "c/b", "bronze of stream dbo_b is /lake/bronze/a"},
                    {"/lake//bronze/a", "b-v1", "c/b", "bronze of stream dbo_a already"},
                    {"bronze/b", "a-v1", "c/b", "app_id of stream dbo_b is a-v1"},
                    {"bronze/b", "b-v1", "/lake/c/a", "checkpoint of stream dbo_b"},
                    {"silver/a", "b-v1", "c/b", "silver of stream dbo_a already"}};
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ChosenStream chosen[] = {
            stream("dbo_a", settings_of("bronze/a", "a-v1", "c/a")),
            stream("dbo_b", settings_of(cases[i].bronze, cases[i].app_id, cases[i].checkpoint))};
        Err err = ERR_INIT;

        chosen[0].settings.values[SET_SILVER] = (SettingValue){.is_set = true,
                                                               .text   = STR("silver/a")};
        assert_false(template_fill(chosen, 2, NULL, arena, &err));
        assert_err(&err, ERR_CONFIG, cases[i].message);
    }
    arena_close(arena);
}

static void a_name_that_makes_no_folder_is_refused(void **state)
{
    static const char *const names[] = {"a/b", "..", "a\\b"};
    Arena                   *arena   = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        ChosenStream chosen[] = {stream(names[i], settings_of("b/{ci}", "{ci}", "c/{ci}"))};
        Err          err      = ERR_INIT;

        assert_false(template_fill(chosen, 1, NULL, arena, &err));
        assert_err(&err, ERR_CONFIG, "cannot be part of a path");
        assert_non_null(strstr(err.message, names[i]));
    }
    ChosenStream own[] = {stream("a/b", settings_of("b/x", "{ci}", "c/x"))};
    Err          err   = ERR_INIT;
    assert_ok(template_fill(own, 1, NULL, arena, &err), &err);
    arena_close(arena);
}

/* In what streams share; a name of one stream's own may hold braces. */
static void a_word_in_braces_that_stands_for_nothing_is_refused(void **state)
{
    static const struct {
        const char *bronze, *label, *unknown;
    } cases[]           = {{"b/{table}/{tabel}", "", "{tabel}"},
                           {"b/{schema}/{table}/{capture_instance}", "", "{capture_instance}"},
                           {"b/{}/{1}/{{ci}", "", NULL},
                           {"b/{ci}{", "", NULL},
                           {"b/{ci}", "main.{CI}", "{CI}"}};
    Arena   *arena      = arena_new();
    Settings streams[2] = {0};
    Config   config     = {.streams = streams, .stream_count = 2};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Err err = ERR_INIT;

        config.shared                          = settings_of(cases[i].bronze, "{ci}", "c/{ci}");
        config.shared.values[SET_BRONZE].label = str_from_c(cases[i].label);
        assert_int_equal(template_check_defaults(&config, &err), !cases[i].unknown);
        if (!cases[i].unknown) continue;
        assert_err(&err, ERR_CONFIG, "f.yaml:3: bronze is ");
        assert_non_null(strstr(err.message, "stands for nothing; allowed: {ci}"));
        assert_non_null(strstr(err.message, cases[i].unknown));
    }
    ChosenStream own[] = {stream("dbo_a", settings_of("b/{y}", "{y}", "c/{y}"))};
    Err          err   = ERR_INIT;
    assert_ok(template_fill(own, 1, NULL, arena, &err), &err);
    assert_str_is(own[0].settings.values[SET_BRONZE].text, "b/{y}");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_default_makes_a_name_for_each_stream),
        cmocka_unit_test(a_default_without_a_mark_is_refused),
        cmocka_unit_test(streams_that_come_to_one_name_are_refused),
        cmocka_unit_test(a_name_that_makes_no_folder_is_refused),
        cmocka_unit_test(a_word_in_braces_that_stands_for_nothing_is_refused),
    };

    return RUN_TESTS(tests);
}
