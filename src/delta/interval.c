/* Interval texts of table properties (delta.md 1.8): "interval 30 days", "1 week 2 hours". */
#include "delta/delta_internal.h"

typedef struct Unit {
    const char *name;
    int64_t     us;
} Unit;

#define SECOND_US INT64_C(1000000)

static bool find_unit(Str word, int64_t *us_out)
{
    const Unit units[] = {
        {"microsecond", 1},           {"millisecond", 1000},      {"second", SECOND_US},
        {"minute", 60 * SECOND_US},   {"hour", 3600 * SECOND_US}, {"day", 86400 * SECOND_US},
        {"week", 604800 * SECOND_US},
    };
    if (word.len > 1 && (word.ptr[word.len - 1] == 's' || word.ptr[word.len - 1] == 'S'))
        word.len--;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (!str_equal_ignoring_case(word, str_from_c(units[i].name))) continue;
        *us_out = units[i].us;
        return true;
    }
    return false;
}

static bool next_word(Str *rest, Str *out)
{
    while (str_split_next(rest, ' ', out))
        if (out->len > 0) return true;
    return false;
}

bool delta_interval_parse(Str text, int64_t *us_out)
{
    Str     rest = str_trim(text);
    Str     word;
    int64_t total = 0;

    if (!next_word(&rest, &word)) return false;
    if (str_equal_ignoring_case(word, STR("interval")) && !next_word(&rest, &word)) return false;
    do {
        int64_t number, unit_us, part_us;
        if (!str_parse_i64(word, &number) || !next_word(&rest, &word) || !find_unit(word, &unit_us))
            return false;
        if (__builtin_mul_overflow(number, unit_us, &part_us) ||
            __builtin_add_overflow(total, part_us, &total))
            return false;
    } while (next_word(&rest, &word));
    *us_out = total;
    return true;
}
