/* What the JSON writer writes, jansson reads back as the same. */
#include "support/test_support.h"

#include "base/json.h"

#include <jansson.h>

static Str any_text(Rng *rng, Arena *arena)
{
    Buf    buf   = buf_new(arena, 0);
    size_t count = (size_t)rng_below(rng, 20);

    for (size_t i = 0; i < count; i++) {
        char     bytes[4];
        uint32_t c = (uint32_t)rng_below(rng, rng_below(rng, 3) == 0 ? 0x110000 : 0x80);
        buf_append_bytes(&buf, bytes,
                         utf8_encode(c == 0 ? 1 : c, bytes)); /* jansson refuses NUL by default */
    }
    return buf_str(&buf);
}

/* Writes any value and builds what it should read as. */
static json_t *write_any(JsonWriter *json, Rng *rng, Arena *arena, int depth)
{
    json_t *want = NULL;
    Str     text = STR_EMPTY;
    int64_t whole;
    double  real;

    switch (rng_below(rng, depth > 3 ? 5 : 7)) {
    case 0: json_null_value(json); return json_null();
    case 1: json_bool(json, true); return json_true();
    case 2:
        whole = (int64_t)(rng_u64(rng) >> rng_below(rng, 64));
        json_i64(json, whole);
        return json_integer(whole);
    case 3:
        real = (double)rng_between(rng, -1000000, 1000000) / 1000;
        json_double(json, real);
        return json_real(real);
    case 4:
        text = any_text(rng, arena);
        json_str(json, text);
        return json_stringn(text.ptr, text.len);
    case 5:
        want = json_array();
        json_array_begin(json);
        for (uint64_t i = rng_below(rng, 5); i > 0; i--)
            json_array_append_new(want, write_any(json, rng, arena, depth + 1));
        json_array_end(json);
        return want;
    default:
        want = json_object();
        json_object_begin(json);
        for (uint64_t i = rng_below(rng, 5); i > 0; i--) {
            Str key = str_printf(arena, "%s\xC3\xA4\"%d", str_c(arena, any_text(rng, arena)),
                                 (int)i);
            json_key(json, key);
            json_object_set_new(want, key.ptr, write_any(json, rng, arena, depth + 1));
        }
        json_object_end(json);
        return want;
    }
}

static void jansson_reads_what_was_written(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 1000) {
        Arena       *arena = arena_new();
        Rng         *rng   = rng_new(seed);
        Buf          buf   = buf_new(arena, 0);
        JsonWriter   json  = json_writer(&buf, seed % 2, seed / 2 % 2);
        json_t      *want  = write_any(&json, rng, arena, 0);
        json_error_t trouble;
        json_t      *got = json_loadb(buf.ptr, buf.len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES,
                                      &trouble);

        if (got == NULL) fail_msg("%s: %.*s", trouble.text, STR_ARG(buf_str(&buf)));
        if (!json_equal(want, got)) fail_msg("reads otherwise: %.*s", STR_ARG(buf_str(&buf)));
        if (json.ascii)
            for (size_t i = 0; i < buf.len; i++)
                assert_true((unsigned char)buf.ptr[i] < 0x7F);
        json_decref(want);
        json_decref(got);
        rng_close(rng);
        arena_close(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(jansson_reads_what_was_written),
    };
    return RUN_TESTS(tests);
}
