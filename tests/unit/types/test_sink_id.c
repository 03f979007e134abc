#include "support/test_support.h"

#include "types/sink_id.h"

static void a_family_is_the_app_id_and_its_generations(void **state) /* T0.1 */
{
    (void)state;
    assert_true(sink_id_is_of_family(STR("orders-v1"), STR("orders-v1")));
    assert_true(sink_id_is_of_family(STR("orders-v1.g12"), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR("orders-v10"), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR("orders-v1.g"), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR("orders-v1x.g1"), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR("orders-v1"), STR("orders.v1"))); /* the dot is literal */
    assert_false(sink_id_is_of_family(STR("orders-v1.g1 "), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR("orders-v1.g1.g2"), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR("orders-v1.G1"), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR("Orders-v1"), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR(""), STR("orders-v1")));
    assert_false(sink_id_is_of_family(STR("x.orders-v1"), STR("orders-v1")));
}

static void generation_zero_is_the_app_id_itself(void **state) /* state.md 3 */
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(sink_id_for_generation(arena, STR("shop"), 0), "shop");
    assert_str_is(sink_id_for_generation(arena, STR("shop"), 1), "shop.g1");
    assert_str_is(sink_id_for_generation(arena, STR("shop"), 12), "shop.g12");
    for (int64_t generation = 0; generation < 100; generation++)
        assert_true(sink_id_is_of_family(sink_id_for_generation(arena, STR("a.g1"), generation),
                                         STR("a.g1")));
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_is_the_app_id_and_its_generations),
        cmocka_unit_test(generation_zero_is_the_app_id_itself),
    };
    return RUN_TESTS(tests);
}
