/* The JSON of other writers: what is accepted, what is refused and where, and that nothing is
 * changed. */
#include "support/test_support.h"

#include "delta/json_text.h"

#include <jansson.h>

static bool parses(const char *text, size_t *bad_at)
{
    JsonText value;
    return json_text_parse(str_from_c(text), &value, bad_at);
}

static void every_kind_of_value_is_taken(void **state)
{
    const char *const good[] = {"{}",
                                "[]",
                                " [ ] ",
                                "\"\"",
                                "0",
                                "-0",
                                "-12.50e+300",
                                "1E9",
                                "true",
                                "false",
                                "null",
                                "{\"a\":{\"b\":[1,2,{\"c\":null}]}}",
                                "\"\\u0000\\ud83c\\udf0a\\n\\/\"",
                                "123456789012345678901234567890123456789012345678901234567890"};
    size_t            bad_at;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        if (!parses(good[i], &bad_at)) fail_msg("refused at %zu: %s", bad_at, good[i]);
}

static void a_broken_text_is_refused_where_it_breaks(void **state)
{
    const struct {
        const char *text;
        size_t      bad_at;
    } cases[] = {{"", 0},         {"  ", 2},   {"{", 1},       {"{\"a\"", 4},
                 {"{\"a\":}", 5}, {"[1,]", 3}, {"[1 2]", 3},   {"{\"a\":1,}", 7},
                 {"01", 1},       {"1.", 2},   {"1e", 2},      {"-", 1},
                 {"+1", 0},       {"\"a", 2},  {"\"\\x\"", 2}, {"\"\\u12g4\"", 5},
                 {"tru", 3},      {"nan", 1},  {"{} x", 3},    {"\"a\nb\"", 2}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t bad_at = 0;
        if (parses(cases[i].text, &bad_at)) fail_msg("taken: %s", cases[i].text);
        if (bad_at != cases[i].bad_at)
            fail_msg("%s: %zu, not %zu", cases[i].text, bad_at, cases[i].bad_at);
    }
}

static void nesting_has_a_limit(void **state)
{
    char   text[1001];
    size_t bad_at;
    (void)state;
    memset(text, '[', 1000);
    text[1000] = '\0';
    assert_false(parses(text, &bad_at));
    assert_true(bad_at <= 200);
}

static JsonText value_of(const char *text)
{
    JsonText value  = {0};
    size_t   bad_at = 0;
    if (!json_text_parse(str_from_c(text), &value, &bad_at)) fail_msg("refused: %s", text);
    return value;
}

static void members_are_found_as_they_stand(void **state)
{
    Arena   *arena  = arena_new();
    JsonText object = value_of(" { \"a\" : 12345678901234567890123456.1234567890 , "
                               "\"b\\u0041\":\"x\\ty\" ,\"a\": [ 1 , {\"k\":2} ] }");
    int64_t  number;
    (void)state;

    JsonText array = json_text_find(object, "a"); /* the last of two */
    assert_int_equal(array.kind, JSON_TEXT_ARRAY);
    assert_str_is(array.text, "[ 1 , {\"k\":2} ]");
    assert_str_is(json_text_str(json_text_find(object, "bA"), arena), "x\ty");
    assert_int_equal(json_text_find(object, "b").kind, JSON_TEXT_NONE);
    assert_null(json_text_str(array, arena).ptr);

    JsonText item;
    size_t   at = 0;
    assert_true(json_text_next_item(array, &at, &item));
    assert_true(json_text_i64(item, &number));
    assert_int_equal(number, 1);
    assert_true(json_text_next_item(array, &at, &item));
    assert_true(json_text_i64(json_text_find(item, "k"), &number));
    assert_int_equal(number, 2);
    assert_false(json_text_next_item(array, &at, &item));

    Str key;
    at = 0;
    assert_true(json_text_next_member(object, &at, &key, &item));
    assert_str_is(item.text, "12345678901234567890123456.1234567890");
    assert_false(json_text_i64(item, &number));
    arena_close(arena);
}

static void escapes_become_the_characters_they_stand_for(void **state)
{
    Arena *arena = arena_new();
    (void)state;
    assert_str_is(
        json_text_str(value_of("\"\\ud83c\\udf0a\\u00e9\\\"\\\\\\/\\b\\f\\n\\r\\t\""), arena),
        "\xF0\x9F\x8C\x8A\xC3\xA9\"\\/\b\f\n\r\t");
    Str nul = json_text_str(value_of("\"a\\u0000b\""), arena);
    assert_int_equal(nul.len, 3);
    assert_memory_equal(nul.ptr, "a\0b", 3);
    assert_str_is(json_text_str(value_of("\"\\ud800x\""), arena),
                  "\xEF\xBF\xBDx"); /* half a character */
    arena_close(arena);
}

/* Random damage to a document: what we take another parser takes too, and the other way round. */
static void another_parser_agrees(void **state)
{
    const char *const seeds[] = {
        "{\"add\":{\"path\":\"a%20b\",\"size\":12,\"tags\":{\"x\":null},\"list\":[1,-2.5e3,true]}}",
        "[{\"a\":\"\\u00e9\\n\"},[],\"\",0,false]"};
    const char alphabet[] = "{}[]\",:\\0123456789.eE+-truefalsn u";
    (void)state;
    FOR_EACH_SEED (seed, 20000) {
        Rng   *rng = rng_new(seed);
        char   text[128];
        size_t len = (size_t)snprintf(text, sizeof text, "%s", seeds[seed % COUNT_OF(seeds)]);
        for (uint64_t i = rng_below(rng, 3); i-- > 0;) {
            size_t at = (size_t)rng_below(rng, len);
            if (rng_below(rng, 3) == 0)
                memmove(text + at, text + at + 1, len-- - at);
            else
                text[at] = alphabet[rng_below(rng, sizeof alphabet - 1)];
        }
        JsonText     value;
        size_t       bad_at;
        json_error_t error;
        bool         ours   = json_text_parse((Str){text, len}, &value, &bad_at);
        json_t      *theirs = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
        /* numbers that do not fit and lone surrogates are where we are meant to differ */
        bool differs = ours != (theirs != NULL) &&
                       !(ours && (strstr(error.text, "too big") ||
                                  strstr(error.text, "real number overflow") ||
                                  strstr(error.text, "Unicode")));
        if (differs) fail_msg("%d %d: %.*s (%s)", ours, theirs != NULL, (int)len, text, error.text);
        json_decref(theirs);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_taken),
        cmocka_unit_test(a_broken_text_is_refused_where_it_breaks),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(members_are_found_as_they_stand),
        cmocka_unit_test(escapes_become_the_characters_they_stand_for),
        property_test(another_parser_agrees),
    };
    return RUN_TESTS(tests);
}
