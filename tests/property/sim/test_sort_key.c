/* Sort keys have the order of comparison, for every type and every collation: whatever sorts by
 * bytes (indexes, ORDER BY, GROUP BY) agrees with what compares values (sqlserver.md 2.11). */
#include "support/sim_gen.h"

#include "base/buf.h"

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

static int compare_keys(Str left, Str right)
{
    size_t common = MIN(left.len, right.len);
    int    order  = common == 0 ? 0 : memcmp(left.ptr, right.ptr, common);

    if (order != 0) return sign(order);
    assert_int_equal(left.len, right.len); /* no key is the beginning of another */
    return 0;
}

/* The generator makes binaries of any length. */
static bool is_of_its_length(const SimValue *value)
{
    return !sim_type_is_binary(value->type.kind) || value->type.length <= 0 ||
           value->bytes.len <= (size_t)value->type.length;
}

static Str key_of(Arena *arena, const SimValue *value, bool descending)
{
    Buf    buf  = buf_new(arena, 0);
    size_t most = sim_sort_key_most(&value->type);

    sim_sort_key(value, descending, &buf);
    if (most > 0 && is_of_its_length(value)) assert_in_range(buf.len, 1, most);
    return buf_str(&buf);
}

static void check_pair(Arena *arena, const SimValue *left, const SimValue *right)
{
    int order = sim_compare_same(left, right);
    int up    = compare_keys(key_of(arena, left, false), key_of(arena, right, false));
    int down  = compare_keys(key_of(arena, left, true), key_of(arena, right, true));

    if (order == up && order == -down && order == -sim_compare_same(right, left)) return;
    fail_msg("%s, %.*s: compare %d, keys %d and %d\n left %.*s\nright %.*s",
             sim_type_name(left->type.kind), STR_ARG(sim_collation_name(left->type.collation)),
             order, up, down, STR_ARG(hex_encode(arena, left->bytes, false)),
             STR_ARG(hex_encode(arena, right->bytes, false)));
}

static SimValue any_value(Rng *rng, Arena *arena, const SimType *type)
{
    return rng_below(rng, 20) == 0 ? sim_null(*type) : gen_value(rng, arena, type);
}

static void keys_have_the_order_of_comparison_for_every_type(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 100) {
        Rng   *rng   = rng_new(seed);
        Arena *arena = arena_new();
        for (int kind = 0; kind <= SIM_IMAGE; kind++) {
            SimType type = gen_type(rng, (SimTypeKind)kind);
            for (int i = 0; i < 20; i++) {
                SimValue left  = any_value(rng, arena, &type);
                SimValue right = any_value(rng, arena, &type);
                check_pair(arena, &left, &right);
                check_pair(arena, &left, &left);
            }
        }
        arena_close(arena);
        rng_close(rng);
    }
}

static void keys_have_the_order_of_comparison_under_every_collation(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 30) {
        Rng   *rng   = rng_new(seed);
        Arena *arena = arena_new();
        for (size_t at = 0;;) {
            SimType type = sim_type_sized(rng_below(rng, 2) == 0 ? SIM_VARCHAR : SIM_NVARCHAR, 30);
            type.collation = sim_collation_next(&at);
            if (type.collation == NULL) break;
            for (int i = 0; i < 20; i++) {
                SimValue left  = gen_value(rng, arena, &type);
                SimValue right = gen_value(rng, arena, &type);
                check_pair(arena, &left, &right);
            }
        }
        arena_close(arena);
        rng_close(rng);
    }
}

/* Any bytes at all, UTF-8 or not, whole UTF-16 units or surrogates alone: still an order. */
static void keys_have_the_order_of_comparison_for_broken_text(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 30) {
        Rng   *rng   = rng_new(seed);
        Arena *arena = arena_new();
        for (size_t at = 0;;) {
            bool    wide   = rng_below(rng, 2) == 0;
            SimType type   = sim_type_sized(wide ? SIM_NVARCHAR : SIM_VARCHAR, 30);
            type.collation = sim_collation_next(&at);
            if (type.collation == NULL) break;
            for (int i = 0; i < 10; i++) {
                SimValue left = {
                    .type  = type,
                    .bytes = gen_bytes(rng, arena, rng_below(rng, 5) * (wide ? 2 : 1))};
                SimValue right = {
                    .type  = type,
                    .bytes = gen_bytes(rng, arena, rng_below(rng, 5) * (wide ? 2 : 1))};
                check_pair(arena, &left, &right);
            }
        }
        arena_close(arena);
        rng_close(rng);
    }
}

/* Keys of several columns one behind the other compare as the columns do, one after the other. */
static void keys_can_be_joined(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 500) {
        Rng   *rng       = rng_new(seed);
        Arena *arena     = arena_new();
        Buf    left_key  = buf_new(arena, 0);
        Buf    right_key = buf_new(arena, 0);
        int    want      = 0;
        for (int column = 0; column < 3; column++) {
            SimType  type       = gen_type(rng, (SimTypeKind)rng_below(rng, SIM_TEXT));
            bool     descending = rng_below(rng, 2) == 0;
            SimValue left       = any_value(rng, arena, &type);
            SimValue right      = rng_below(rng, 2) == 0 ? left : any_value(rng, arena, &type);
            int      order      = sim_compare_same(&left, &right);
            if (want == 0) want = descending ? -order : order;
            sim_sort_key(&left, descending, &left_key);
            sim_sort_key(&right, descending, &right_key);
        }
        if (want != 0) {
            size_t common = MIN(left_key.len, right_key.len);
            assert_int_equal(sign(memcmp(left_key.ptr, right_key.ptr, common)), want);
        } else {
            assert_true(str_equal(buf_str(&left_key), buf_str(&right_key)));
        }
        arena_close(arena);
        rng_close(rng);
    }
}

/* What is equal folds to the same characters when the texts are single ones, so LIKE and =
 * agree. */
static void single_characters_fold_as_they_compare(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 20) {
        Rng   *rng   = rng_new(seed);
        Arena *arena = arena_new();
        for (size_t at = 0;;) {
            const SimCollation *collation = sim_collation_next(&at);
            if (collation == NULL) break;
            for (int i = 0; i < 50; i++) {
                uint32_t points[2];
                Bytes    texts[2];
                for (int side = 0; side < 2; side++) {
                    char     utf8[4];
                    uint32_t point = (uint32_t)rng_below(rng, 0x250) + 0x21;
                    if (point == 0xDF || point == 0xE6 || point == 0xC6 || point == 0x152 ||
                        point == 0x153)
                        point = 'x'; /* count as two letters */
                    points[side] = point;
                    texts[side]  = sim_text_from_utf8(arena, collation, true,
                                                      (Str){utf8, utf8_encode(point, utf8)});
                }
                bool equal  = sim_text_compare(collation, true, texts[0], texts[1]) == 0;
                bool folded = sim_text_fold(collation, true, points[0]) ==
                              sim_text_fold(collation, true, points[1]);
                assert_int_equal(equal, folded);
            }
        }
        arena_close(arena);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(keys_have_the_order_of_comparison_for_every_type),
        property_test(keys_have_the_order_of_comparison_under_every_collation),
        property_test(keys_have_the_order_of_comparison_for_broken_text),
        property_test(keys_can_be_joined),
        property_test(single_characters_fold_as_they_compare),
    };
    return RUN_TESTS(tests);
}
