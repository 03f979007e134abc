/* A bound column of UTF-16 becomes Strs. */
#include "support/test_support.h"

#include "sqlconn/sqlconn_internal.h"

#define STRIDE 22

static void cells_become_utf8_and_nulls_stay_nulls(void **state)
{
    static const uint8_t cells[5][STRIDE] = {
        {'a', 0, 'b', 0, 'c', 0, 0xFF, 0xFF}, /* what stands behind the length is not read */
        {0},
        {0},
        {0xE9, 0, 0xAC, 0x20, 0x3D, 0xD8, 0x00, 0xDE}, /* e acute, euro, a pair */
        {0x3D, 0xD8, 'x', 0},                          /* half a pair */
    };
    static const int64_t lengths[5] = {6, -1, 0, 8, 4};
    Arena               *arena      = arena_new();
    const Str           *strs       = utf16_cells_to_str(arena, &cells[0][0], STRIDE, lengths, 5);

    (void)state;
    assert_str_is(strs[0], "abc");
    assert_null(strs[1].ptr);
    assert_int_equal(strs[2].len, 0);
    assert_non_null(strs[2].ptr);
    assert_str_is(strs[3], "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    assert_str_is(strs[4], "\xEF\xBF\xBDx");
    arena_close(arena);
}

static void random_text_comes_back(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 200) {
        Arena   *arena = arena_new();
        Rng     *rng   = rng_new(seed);
        size_t   rows = 1 + rng_below(rng, 50), units_max = 1 + rng_below(rng, 40);
        size_t   stride  = (units_max + 1) * 2;
        uint8_t *cells   = arena_alloc(arena, rows * stride);
        int64_t *lengths = ARENA_ARRAY(arena, int64_t, rows);
        Str     *want    = ARENA_ARRAY(arena, Str, rows);

        for (size_t i = 0; i < rows; i++) {
            char   text[256];
            size_t len = 0, units = 0;
            while (units + 2 <= units_max && rng_below(rng, 8) > 0) {
                static const uint32_t starts[] = {0x20, 0x80, 0x800, 0x10000};
                uint32_t c = starts[rng_below(rng, 4)] + (uint32_t)rng_below(rng, 0x50);
                len += utf8_encode(c, text + len);
                units += c >= 0x10000 ? 2 : 1;
            }
            want[i]    = str_copy(arena, (Str){text, len});
            lengths[i] = rng_below(rng, 5) == 0
                             ? -1
                             : (int64_t)(2 * utf8_to_utf16le(want[i], cells + i * stride));
        }
        const Str *got = utf16_cells_to_str(arena, cells, stride, lengths, rows);
        for (size_t i = 0; i < rows; i++) {
            if (lengths[i] < 0)
                assert_null(got[i].ptr);
            else
                assert_true(str_equal(got[i], want[i]));
        }
        rng_close(rng);
        arena_close(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_become_utf8_and_nulls_stay_nulls),
        property_test(random_text_comes_back),
    };
    return RUN_TESTS(tests);
}
