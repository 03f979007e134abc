/* Statistics packed and unpacked: any text comes back, and that of usual writers gets small. */
#include "support/test_support.h"

#include "base/rng.h"
#include "delta/stats_pack.h"

#include <string.h>

#define USUAL                                                                               \
    "{\"numRecords\":%d,\"minValues\":{\"id\":%d000,\"at\":\"2026-01-0%dT00:00:00.000Z\"}," \
    "\"maxValues\":{\"id\":%d999,\"at\":\"2026-01-0%dT23:59:59.999Z\"},\"nullCount\":{\"id\":0}}"

static const StatsForm *assert_comes_back(StatsForms *forms, Str text, size_t *bytes_out)
{
    Arena           *arena  = arena_new();
    StatsPacker      packer = stats_packer(forms, arena);
    const StatsForm *form   = stats_pack(&packer, text);
    size_t           bytes  = packer.values.len;
    Str              values = str_copy(arena, buf_str(&packer.values));

    assert_true(str_equal(stats_unpack(form, values.ptr, arena), text));
    assert_ptr_equal(stats_pack(&packer, text), form); /* as the text after one of its form */
    assert_int_equal(packer.values.len, bytes);
    assert_true(bytes == 0 || memcmp(packer.values.ptr, values.ptr, bytes) == 0);
    if (bytes_out) *bytes_out = bytes;
    arena_close(arena);
    return form;
}

static void texts_of_one_form_share_it(void **state)
{
    StatsForms *forms = stats_forms_new();
    char        one[400], two[400];
    size_t      bytes = 0;
    (void)state;
    (void)snprintf(one, sizeof one, USUAL, 10, 1, 1, 1, 1);
    (void)snprintf(two, sizeof two, USUAL, 777, 20, 3, 20, 4);
    const StatsForm *first = assert_comes_back(forms, str_from_c(one), NULL);
    assert_non_null(first);
    assert_comes_back(forms, STR("{\"other\":1}"), NULL);
    assert_ptr_equal(assert_comes_back(forms, str_from_c(two), &bytes), first);
    assert_in_range(bytes, 1, strlen(two) / 3);
    stats_forms_close(forms);
}

static void odd_texts_come_back(void **state)
{
    const char *const texts[] = {"{}",
                                 "{",
                                 "\"",
                                 "\\",
                                 ":",
                                 "::",
                                 "{\"a\":",
                                 "{\"a\":\"",
                                 "{\"a\":\"\\",
                                 "{\"a\":\"x\\\"y\"}",
                                 "{\"a\":null,\"b\":[1,{\"c\":-1.5E+3}],\"d\":true}",
                                 "{\"a\" : 1 , \"b\" : \"x:y,}\"}",
                                 "{\"a:b\":\"\",\"\":\"0123456789-:.TZE\"}",
                                 "no JSON at all",
                                 "0",
                                 "12:",
                                 "\xff\xfe:\x80",
                                 "{\"a\":\"\xc3\xa4\",\"b\":\"\"}"};
    StatsForms       *forms   = stats_forms_new();
    (void)state;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT_OF(texts); i++)
            assert_comes_back(forms, str_from_c(texts[i]), NULL);
    assert_comes_back(forms, (Str){"a\0:\0\"", 5}, NULL);
    assert_null(assert_comes_back(forms, STR_EMPTY, NULL));
    stats_forms_close(forms);
}

/* More forms than a table may have: those too many are kept whole. */
static void random_texts_come_back(void **state)
{
    static const char letters[] = "{}[]\":,\\0179aT-.";
    StatsForms       *forms     = stats_forms_new();
    Rng              *rng       = rng_new(7);
    char              text[300];
    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t len = (size_t)rng_between(rng, 1, i % 100 == 0 ? 300 : 24);
        for (size_t j = 0; j < len; j++)
            text[j] = letters[rng_between(rng, 0, (int64_t)sizeof letters - 2)];
        assert_comes_back(forms, (Str){text, len}, NULL);
    }
    rng_close(rng);
    stats_forms_close(forms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_one_form_share_it),
        cmocka_unit_test(odd_texts_come_back),
        cmocka_unit_test(random_texts_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
