#include "support/test_support.h"

#include "base/map.h"

static void values_are_found_replaced_and_removed(void **state)
{
    Map *map = map_new();
    int  one = 1;
    int  two = 2;

    (void)state;
    assert_null(map_find(map, STR("a")));
    assert_null(map_remove(map, STR("a")));
    assert_null(map_put(map, STR("a"), &one));
    assert_ptr_equal(map_find(map, STR("a")), &one);
    assert_ptr_equal(map_put(map, STR("a"), &two), &one);
    assert_int_equal(map_count(map), 1);
    assert_ptr_equal(map_remove(map, STR("a")), &two);
    assert_null(map_find(map, STR("a")));
    assert_int_equal(map_count(map), 0);
    assert_null(map_put(map, STR(""), &one)); /* the empty key is a key */
    assert_ptr_equal(map_find(map, (Str){NULL, 0}), &one);
    map_close(map);
    map_close(NULL);
}

static void iteration_is_in_order_of_insertion(void **state)
{
    const char *keys[] = {"z", "m", "a", "q", "b"};
    Map        *map    = map_new();
    size_t      at     = 0;
    size_t      index  = 0;
    Str         key    = STR_EMPTY;
    void       *value  = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        (void)map_put(map, str_from_c(keys[i]), &keys[i]);
    (void)map_remove(map, STR("m"));
    (void)map_put(map, STR("z"), &keys[0]); /* replacing does not move it */
    const char *want[] = {"z", "a", "q", "b"};
    while (map_next(map, &at, &key, &value))
        assert_str_is(key, want[index++]);
    assert_int_equal(index, COUNT_OF(want));
    map_close(map);
}

typedef struct Model {
    bool   is_there[300];
    size_t order[300]; /* when it was put in */
} Model;

/* Against an array that is searched from end to end. */
static void any_sequence_of_calls_agrees_with_a_plain_array(void **state)
{
    char names[300][16];

    (void)state;
    for (int i = 0; i < 300; i++)
        (void)snprintf(names[i], sizeof names[i], "k%d", i);
    FOR_EACH_SEED (seed, 50) {
        Rng   *rng   = rng_new(seed);
        Map   *map   = map_new();
        Model  model = {.is_there = {false}};
        size_t count = 0;

        for (size_t step = 1; step < 3000; step++) {
            size_t i   = (size_t)rng_below(rng, 1 + seed * 6 % 300);
            Str    key = str_from_c(names[i]);
            if (rng_below(rng, 2) == 0) {
                void *before = map_put(map, key, &model.order[i]);
                assert_ptr_equal(before, model.is_there[i] ? &model.order[i] : NULL);
                if (!model.is_there[i]) model.order[i] = step, count++;
                model.is_there[i] = true;
            } else {
                void *before = map_remove(map, key);
                assert_ptr_equal(before, model.is_there[i] ? &model.order[i] : NULL);
                count -= model.is_there[i];
                model.is_there[i] = false;
            }
            assert_int_equal(map_count(map), count);
        }
        size_t at   = 0;
        size_t last = 0;
        size_t seen = 0;
        Str    key;
        void  *value;
        for (; map_next(map, &at, &key, &value); seen++) {
            assert_true(*(size_t *)value > last);
            last = *(size_t *)value;
            assert_ptr_equal(map_find(map, key), value);
        }
        assert_int_equal(seen, count);
        map_close(map);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_replaced_and_removed),
        cmocka_unit_test(iteration_is_in_order_of_insertion),
        property_test(any_sequence_of_calls_agrees_with_a_plain_array),
    };
    return RUN_TESTS(tests);
}
