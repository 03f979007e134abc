/* UTF-16 and UTF-8 against plain conversions that take one unit, one byte at a time. */
#include "support/test_support.h"

#include "base/buf.h"

/* Mostly ASCII with stretches of everything else, in blocks of exactly their size. */
static uint16_t any_unit(Rng *rng)
{
    switch (rng_below(rng, 12)) {
    case 0: return (uint16_t)rng_below(rng, 0x10000);
    case 1: return (uint16_t)rng_between(rng, 0xD800, 0xDFFF);
    case 2: return (uint16_t)rng_between(rng, 0x80, 0x7FF);
    default: return (uint16_t)rng_below(rng, 0x80);
    }
}

static uint8_t *any_utf16(Rng *rng, size_t unit_count)
{
    uint8_t *utf16 = mem_alloc(2 * unit_count);

    for (size_t i = 0; i < unit_count; i++) {
        uint16_t unit    = any_unit(rng);
        utf16[2 * i]     = (uint8_t)unit;
        utf16[2 * i + 1] = (uint8_t)(unit >> 8);
    }
    return utf16;
}

static uint32_t unit_at(const uint8_t *utf16, size_t index)
{
    return (uint32_t)(utf16[2 * index] | utf16[2 * index + 1] << 8);
}

static Str plain_utf8(Arena *arena, const uint8_t *utf16, size_t unit_count)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < unit_count; i++) {
        uint32_t c   = unit_at(utf16, i);
        uint32_t low = i + 1 < unit_count ? unit_at(utf16, i + 1) : 0;
        char     bytes[4];
        if (c >= 0xD800 && c < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
            c = 0x10000 + (c - 0xD800) * 0x400 + (low - 0xDC00);
            i++;
        }
        buf_append_bytes(&buf, bytes, utf8_encode(c, bytes));
    }
    return buf_str(&buf);
}

static void utf16_converts_as_unit_by_unit(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 2000) {
        Arena   *arena      = arena_new();
        Rng     *rng        = rng_new(seed);
        size_t   unit_count = (size_t)rng_below(rng, 80);
        uint8_t *utf16      = any_utf16(rng, unit_count);
        char    *out        = mem_alloc(3 * unit_count);
        size_t   len        = utf16le_to_utf8(utf16, unit_count, out);

        assert_true(len <= 3 * unit_count);
        assert_true(utf8_is_valid((Str){out, len}));
        assert_true(str_equal((Str){out, len}, plain_utf8(arena, utf16, unit_count)));
        mem_free(out);
        mem_free(utf16);
        rng_close(rng);
        arena_close(arena);
    }
}

static bool has_lone_surrogate(const uint8_t *utf16, size_t unit_count)
{
    for (size_t i = 0; i < unit_count; i++) {
        uint32_t unit = unit_at(utf16, i);
        if (unit < 0xD800 || unit >= 0xE000) continue;
        if (unit >= 0xDC00 || i + 1 == unit_count) return true;
        uint32_t low = unit_at(utf16, ++i);
        if (low < 0xDC00 || low >= 0xE000) return true;
    }
    return false;
}

static void utf16_comes_back_but_for_lone_surrogates(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 2000) {
        Rng     *rng        = rng_new(seed);
        size_t   unit_count = (size_t)rng_below(rng, 60);
        uint8_t *utf16      = any_utf16(rng, unit_count);
        char    *text       = mem_alloc(3 * unit_count);
        size_t   len        = utf16le_to_utf8(utf16, unit_count, text);
        uint8_t *back       = mem_alloc(2 * len);
        size_t   back_count = utf8_to_utf16le((Str){text, len}, back);

        assert_int_equal(back_count, unit_count); /* one U+FFFD per lone surrogate */
        bool is_same = memcmp(back, utf16, 2 * unit_count) == 0;
        assert_int_equal(is_same, !has_lone_surrogate(utf16, unit_count));
        mem_free(back);
        mem_free(text);
        mem_free(utf16);
        rng_close(rng);
    }
}

static char *any_bytes(Rng *rng, size_t len)
{
    char *bytes = mem_alloc(len);

    for (size_t i = 0; i < len;) {
        char     one[4];
        size_t   n = 1;
        uint64_t r = rng_below(rng, 10);
        one[0]     = (char)(r == 0 ? rng_below(rng, 256) : rng_below(rng, 128));
        if (r == 1) n = utf8_encode((uint32_t)rng_below(rng, 0x110000), one);
        for (size_t j = 0; j < n && i < len; j++)
            bytes[i++] = one[j];
    }
    return bytes;
}

/* Validity by decoding: every code point must encode to the very bytes it came from. */
static bool is_valid_by_decoding(Str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t   from = at;
        char     bytes[4];
        uint32_t c   = utf8_next(text, &at);
        size_t   len = utf8_encode(c, bytes);
        if (len != at - from || memcmp(bytes, text.ptr + from, len) != 0) return false;
    }
    return true;
}

static void any_bytes_become_valid_text(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 3000) {
        Rng     *rng   = rng_new(seed);
        size_t   len   = (size_t)rng_below(rng, 60);
        char    *bytes = any_bytes(rng, len);
        uint8_t *utf16 = mem_alloc(2 * len);
        size_t   count = utf8_to_utf16le((Str){bytes, len}, utf16);
        char    *back  = mem_alloc(3 * count);
        size_t   got   = utf16le_to_utf8(utf16, count, back);

        assert_true(count <= len);
        assert_true(utf8_is_valid((Str){back, got}));
        bool is_valid = utf8_is_valid((Str){bytes, len});
        assert_int_equal(is_valid, is_valid_by_decoding((Str){bytes, len}));
        assert_int_equal(is_valid, str_equal((Str){bytes, len}, (Str){back, got}));
        mem_free(back);
        mem_free(utf16);
        mem_free(bytes);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(utf16_converts_as_unit_by_unit),
        property_test(utf16_comes_back_but_for_lone_surrogates),
        property_test(any_bytes_become_valid_text),
    };
    return RUN_TESTS(tests);
}
