/* LSNs as 80-bit numbers, bytes and text: all three have one order. */
#include "support/test_support.h"

#include "types/lsn.h"

__extension__ typedef unsigned __int128 Uint128;

#define LSN_LIMIT ((Uint128)1 << 80)

static Uint128 number_of(Lsn lsn)
{
    Uint128 number = 0;

    for (size_t i = 0; i < LSN_BYTES; i++)
        number = number << 8 | lsn.bytes[i];
    return number;
}

static Lsn lsn_of(Uint128 number)
{
    Lsn lsn = LSN_ZERO;

    for (size_t i = LSN_BYTES; i > 0; i--, number >>= 8)
        lsn.bytes[i - 1] = (uint8_t)number;
    return lsn;
}

/* Large, small, and with long runs of 0 or F, where carries happen. */
static Uint128 any_number(Rng *rng)
{
    Uint128 number = ((Uint128)rng_u64(rng) << 64 | rng_u64(rng)) % LSN_LIMIT;
    Uint128 low    = ((Uint128)1 << rng_below(rng, 80)) - 1;

    switch (rng_below(rng, 4)) {
    case 0: return number | low;
    case 1: return number & ~low;
    case 2: return number & low;
    default: return number;
    }
}

static void text_order_byte_order_and_number_order_agree(void **state) /* T0.2 */
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Rng *rng = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            Uint128 left       = any_number(rng);
            Uint128 right      = rng_below(rng, 2) ? any_number(rng)
                                                   : (left + rng_below(rng, 3) - 1) % LSN_LIMIT;
            int     want       = (left > right) - (left < right);
            LsnText left_text  = lsn_format(lsn_of(left));
            LsnText right_text = lsn_format(lsn_of(right));

            assert_int_equal(lsn_compare(lsn_of(left), lsn_of(right)), want);
            assert_int_equal(str_compare(str_from_c(left_text.text), str_from_c(right_text.text)),
                             want);
            assert_int_equal(lsn_equal(lsn_of(left), lsn_of(right)), want == 0);
            assert_true(number_of(lsn_max(lsn_of(left), lsn_of(right))) == MAX(left, right));
            assert_true(number_of(lsn_min(lsn_of(left), lsn_of(right))) == MIN(left, right));
        }
        rng_close(rng);
    }
}

static void every_spelling_of_a_number_is_the_same_lsn(void **state) /* T0.2 */
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Arena *arena = arena_new();
        Rng   *rng   = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            Lsn lsn  = lsn_of(any_number(rng));
            Lsn back = LSN_ZERO;
            Str text = str_slice(lsn_str(arena, lsn), 2, LSN_TEXT_CHARS);

            assert_int_equal(text.len, 20);
            while (text.len > 1 && text.ptr[0] == '0' && rng_below(rng, 4) > 0)
                text = str_slice(text, 1, text.len);
            if (rng_below(rng, 2)) text = str_lower_ascii(arena, text);
            const char *prefixes[] = {"", "0x", "0X", "  0x", "\t"};
            text = str_printf(arena, "%s%.*s%s", prefixes[rng_below(rng, 5)], STR_ARG(text),
                              rng_below(rng, 2) ? " " : "");
            if (!lsn_parse(text, &back) || !lsn_equal(lsn, back)) fail_msg("\"%s\"", text.ptr);
        }
        rng_close(rng);
        arena_close(arena);
    }
}

static void steps_are_those_of_the_number(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Rng *rng = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            Uint128 number = any_number(rng);
            Lsn     lsn    = lsn_of(number);
            assert_true(number_of(lsn_increment(lsn)) == MIN(number + 1, LSN_LIMIT - 1));
            assert_true(number_of(lsn_decrement(lsn)) == (number == 0 ? 0 : number - 1));
        }
        rng_close(rng);
    }
}

/* Against the grammar: blanks, an optional prefix, 1 to 20 hex digits, blanks. */
static bool is_lsn_text(const char *text, size_t len)
{
    size_t at     = 0;
    size_t digits = 0;

    while (at < len && strchr(" \t\n\v\f\r", text[at]) != NULL && text[at] != '\0')
        at++;
    if (len - at >= 2 && text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X')) at += 2;
    for (; at < len && text[at] != '\0' && strchr("0123456789abcdefABCDEF", text[at]) != NULL; at++)
        digits++;
    while (at < len && strchr(" \t\n\v\f\r", text[at]) != NULL && text[at] != '\0')
        at++;
    return at == len && digits >= 1 && digits <= 20;
}

static void any_bytes_are_read_as_the_grammar_says(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 500) {
        Rng *rng = rng_new(seed);
        for (int i = 0; i < 200; i++) {
            const char *alphabet = "00000123456789abcdefABCDEFxxXX  \tg.";
            size_t      len      = (size_t)rng_below(rng, 28);
            char       *text     = mem_alloc(len); /* exactly so long */
            Lsn         out      = LSN_ZERO;

            for (size_t at = 0; at < len; at++)
                text[at] = rng_below(rng, 50) == 0
                               ? (char)rng_below(rng, 256)
                               : alphabet[rng_below(rng, i % 2 ? 26 : strlen(alphabet))];
            if (lsn_parse((Str){text, len}, &out) != is_lsn_text(text, len))
                fail_msg("\"%.*s\"", (int)len, text);
            mem_free(text);
        }
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(text_order_byte_order_and_number_order_agree),
        property_test(every_spelling_of_a_number_is_the_same_lsn),
        property_test(steps_are_those_of_the_number),
        property_test(any_bytes_are_read_as_the_grammar_says),
    };
    return RUN_TESTS(tests);
}
