/* Shortest text of doubles: it reads back, nothing shorter does, and it looks like Python's
 * repr. */
#include "support/test_support.h"

#include "base/json.h"

#include <math.h>

static double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Doubles of every kind: any bits, few digits, integers, powers of two and their neighbours,
 * subnormals. */
static double any_double(Rng *rng)
{
    double value = 0;

    switch (rng_below(rng, 6)) {
    case 0: value = double_from_bits(rng_u64(rng)); break;
    case 1:
        value = (double)rng_between(rng, -1000000, 1000000) / pow(10, (double)rng_below(rng, 10));
        break;
    case 2: value = (double)(int64_t)(rng_u64(rng) >> rng_below(rng, 64)); break;
    case 3: value = ldexp(1, (int)rng_between(rng, -1074, 1023)); break;
    case 4:
        value = double_from_bits(((uint64_t)rng_below(rng, 2047) << 52) + rng_below(rng, 5) - 2);
        break;
    case 5: value = double_from_bits(rng_u64(rng) >> (12 + rng_below(rng, 52))); break;
    }
    return isfinite(value) ? value : 1.5;
}

static size_t count_digits(const char *text)
{
    size_t count   = 0;
    size_t zeros   = 0;
    bool   started = false;

    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9') continue;
        started = started || *text != '0';
        if (!started) continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

/* Whether some text of `digits` digits reads back: the nearest one of that length, or one of its
 * neighbours. */
static bool reads_back_with(double value, size_t digits)
{
    char text[40];

    (void)snprintf(text, sizeof text, "%.*e", (int)digits - 1, value);
    double unit = strtod(strchr(text, 'e') + 1, NULL) - (double)digits +
                  1; /* power of ten of the last digit */
    for (int step = -1; step <= 1; step++) {
        char   neighbour[80];
        char  *e = strchr(text, 'e');
        char   mantissa[40];
        size_t len = 0;
        for (const char *c = text; c < e; c++)
            if (*c != '.') mantissa[len++] = *c;
        mantissa[len]   = '\0';
        long long whole = strtoll(mantissa, NULL, 10) + step;
        (void)snprintf(neighbour, sizeof neighbour, "%llde%d", whole, (int)unit);
        if (strtod(neighbour, NULL) == value) return true;
    }
    return false;
}

static void the_shortest_text_reads_back_and_none_is_shorter(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Rng *rng = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            double value = any_double(rng);
            char   text[32];
            double back = 0;
            size_t len  = double_format_shortest(value, text);

            assert_true(len < sizeof text);
            assert_true(str_parse_double((Str){text, len}, &back));
            if (memcmp(&back, &value, sizeof value) != 0) fail_msg("%s is not %a", text, value);
            size_t digits = count_digits(text);
            assert_true(digits <= 17);
            if (digits > 1 && value != 0 && reads_back_with(value, digits - 1))
                fail_msg("%s could be shorter", text);
        }
        rng_close(rng);
    }
}

static bool has_python(void)
{
    return system("python3 -c 'pass' >/dev/null 2>&1") == 0;
}

/* The oracle: every line is `hex float, our text`, and Python says which lines it would write
 * otherwise. */
static void the_text_is_pythons_repr(void **state)
{
    Arena      *arena  = arena_new();
    Rng        *rng    = rng_new(test_env_number("TIDELAKE_SEED", 1));
    const char *dir    = NULL;
    const char *script = "import sys\n"
                         "bad = [l for l in open(sys.argv[1]) if repr(float.fromhex(l.split()[0])) "
                         "!= l.split()[1]]\n"
                         "sys.stderr.writelines(bad[:10])\n"
                         "sys.exit(bool(bad))\n";

    (void)state;
    if (!has_python()) {
        rng_close(rng);
        arena_close(arena);
        skip();
    }
    dir        = test_dir_new(arena);
    Str   path = str_printf(arena, "%s/doubles", dir);
    FILE *file = fopen(path.ptr, "w");
    assert_non_null(file);
    for (int i = 0; i < 50000; i++) {
        double value = any_double(rng);
        char   text[32];
        size_t len = double_format_shortest(value, text);
        (void)fprintf(file, "%a %.*s\n", value, (int)len, text);
    }
    (void)fclose(file);
    Str command = str_printf(arena, "python3 -c '%s' '%s'", script, path.ptr);
    int status  = system(command.ptr);
    test_dir_remove(dir);
    rng_close(rng);
    arena_close(arena);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(the_shortest_text_reads_back_and_none_is_shorter),
        cmocka_unit_test(the_text_is_pythons_repr),
    };
    return RUN_TESTS(tests);
}
