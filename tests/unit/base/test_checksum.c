/* A checksum that is stored must be the same on every machine and in every release. */
#include "support/test_support.h"

#include "base/arena.h"
#include "base/checksum.h"

static void known_texts_give_known_sums(void **state)
{
    (void)state;
    assert_true(checksum_of(str_bytes(STR(""))) == UINT64_C(0xEF46DB3751D8E999));
    assert_true(checksum_of(str_bytes(STR("a"))) == UINT64_C(0xD24EC4F1A98C6E5B));
    assert_true(checksum_of(str_bytes(STR("abc"))) == UINT64_C(0x44BC2CF5AD770999));
    assert_true(checksum_of(str_bytes(STR("Nobody inspects the spammish repetition"))) ==
                UINT64_C(0xFBCEA83C8A378BF1));
    /* a stripe, eight bytes and three */
    assert_true(checksum_of(str_bytes(STR("The quick brown fox jumps over the lazy dog"))) ==
                UINT64_C(0x0B242D361FDA71BC));
}

/* Every cut of a text gives what the whole gives; a changed bit anywhere gives something else. */
static void it_does_not_matter_where_a_text_is_cut(void **state)
{
    uint8_t  text[101];
    uint64_t whole;

    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 37);
    whole = checksum_of((Bytes){text, sizeof text});
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        Checksum sum = checksum_begin();

        checksum_add(&sum, (Bytes){text, cut / 2});
        checksum_add(&sum, (Bytes){text + cut / 2, cut - cut / 2});
        checksum_add(&sum, (Bytes){text + cut, sizeof text - cut});
        assert_true(checksum_end(&sum) == whole);
    }
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] ^= 1;
        assert_true(checksum_of((Bytes){text, sizeof text}) != whole);
        text[i] ^= 1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_give_known_sums),
        cmocka_unit_test(it_does_not_matter_where_a_text_is_cut),
    };
    return RUN_TESTS(tests);
}
