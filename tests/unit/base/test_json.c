#include "support/test_support.h"

#include "base/json.h"

static int make_arena(void **state)
{
    *state = arena_new();
    return 0;
}

static int close_arena(void **state)
{
    arena_close(*state);
    return 0;
}

static void write_sample(JsonWriter *json)
{
    json_object_begin(json);
    json_member_str(json, "lsn", STR("0x2A"));
    json_member_i64(json, "batch", -7);
    json_member_double(json, "seconds", 0.25);
    json_member_bool(json, "ok", true);
    json_member_null(json, "none");
    json_key(json, STR("list"));
    json_array_begin(json);
    json_i64(json, INT64_MIN);
    json_raw(json, STR("9223372036854775808"));
    json_object_begin(json);
    json_object_end(json);
    json_array_begin(json);
    json_array_end(json);
    json_null_value(json);
    json_bool(json, false);
    json_array_end(json);
    json_object_end(json);
}

/* state.md 1: the two spacings. */
static void both_spacings_are_those_of_the_peer(void **state)
{
    Buf        spaced      = buf_new(*state, 0);
    Buf        tight       = buf_new(*state, 0);
    JsonWriter spaced_json = json_writer(&spaced, true, true);
    JsonWriter tight_json  = json_writer(&tight, false, true);

    write_sample(&spaced_json);
    write_sample(&tight_json);
    assert_str_is(
        buf_str(&spaced),
        "{\"lsn\": \"0x2A\", \"batch\": -7, \"seconds\": 0.25, \"ok\": true, \"none\": null, "
        "\"list\": [-9223372036854775808, 9223372036854775808, {}, [], null, false]}");
    assert_str_is(buf_str(&tight),
                  "{\"lsn\":\"0x2A\",\"batch\":-7,\"seconds\":0.25,\"ok\":true,\"none\":null,"
                  "\"list\":[-9223372036854775808,9223372036854775808,{},[],null,false]}");
}

static Str quoted(Arena *arena, Str value, bool ascii)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, true, ascii);

    json_str(&json, value);
    return buf_str(&buf);
}

static void text_is_escaped_as_python_does(void **state)
{
    assert_str_is(quoted(*state, STR("a\"b\\c/\b\f\n\r\t\x01\x1F\x7F"), true),
                  "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
    assert_str_is(quoted(*state, STR("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), true),
                  "\"\\u00e4\\u20ac\\ud83d\\ude00\"");
    assert_str_is(quoted(*state, STR("\0"), true), "\"\\u0000\"");
    assert_str_is(quoted(*state, STR("\xFF"), true), "\"\\ufffd\"");
    assert_str_is(quoted(*state, (Str){NULL, 0}, true), "\"\"");
}

static void raw_text_keeps_utf8_as_sparks_to_json_does(void **state)
{
    assert_str_is(quoted(*state, STR("\xC3\xA4\xF0\x9F\x98\x80\n\x0B\x7F"), false),
                  "\"\xC3\xA4\xF0\x9F\x98\x80\\n\\u000B\x7F\"");
    assert_str_is(quoted(*state, STR("a\xC3"), false), "\"a\xEF\xBF\xBD\"");
}

static void what_json_cannot_say_is_null(void **state)
{
    Buf        buf  = buf_new(*state, 0);
    JsonWriter json = json_writer(&buf, false, true);
    double     zero = 0;

    json_array_begin(&json);
    json_double(&json, zero / zero);
    json_double(&json, 1 / zero);
    json_double(&json, -1 / zero);
    json_array_end(&json);
    assert_str_is(buf_str(&buf), "[null,null,null]");
}

static void doubles_look_like_pythons_repr(void **state)
{
    const struct {
        double      value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {100.0, "100.0"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {9999999999999998.0, "9999999999999998.0"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {1e22, "1e+22"},
        {1e300, "1e+300"},
        {0.0001, "0.0001"},
        {0.00012, "0.00012"},
        {0.00001, "1e-05"},
        {0.000012345, "1.2345e-05"},
        {5e-324, "5e-324"},
        {1.5e-323, "1.5e-323"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {(double)0.1f, "0.10000000149011612"}, /* state.md 18 */
        {0x1p-44, "5.684341886080802e-14"},    /* the nearer text of 16 digits does not read back */
        {0x1p-1074, "5e-324"},
        {0x1p89, "6.189700196426902e+26"},
        {9007199254740993.0, "9007199254740992.0"},
        {4.35, "4.35"},
        {0.3, "0.3"},
        {2.5e-7, "2.5e-07"},
        {1e100, "1e+100"},
    };
    char   text[32];
    double zero = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t len = double_format_shortest(cases[i].value, text);
        assert_str_is(((Str){text, len}), cases[i].text);
    }
    assert_str_is(((Str){text, double_format_shortest(zero / zero, text)}), "nan");
    assert_str_is(((Str){text, double_format_shortest(-1 / zero, text)}), "-inf");
}

#define with_arena(test) cmocka_unit_test_setup_teardown(test, make_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_arena(both_spacings_are_those_of_the_peer),
        with_arena(text_is_escaped_as_python_does),
        with_arena(raw_text_keeps_utf8_as_sparks_to_json_does),
        with_arena(what_json_cannot_say_is_null),
        with_arena(doubles_look_like_pythons_repr),
    };
    return RUN_TESTS(tests);
}
