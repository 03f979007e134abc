/* Tests of sim/model/tree.c beyond what the property tests reach. */
#include "support/test_support.h"

#include "sim/model/tree.h"

static Item *item_of(Arena *arena, uint32_t number)
{
    Item *item    = arena_alloc(arena, sizeof *item + 4);
    item->key_len = 4;
    for (unsigned i = 0; i < 4; i++)
        item->key[i] = (uint8_t)(number >> (24 - 8 * i));
    return item;
}

static bool insert(Tree *tree, Item *item)
{
    return tree_insert(tree, item, item_key(item));
}

static uint32_t number_of(const Item *item)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++)
        number = number << 8 | item->key[i];
    return number;
}

static void rising_keys_fill_their_leaves(void **state)
{
    Arena *arena = arena_new();
    Tree   tree;
    (void)state;

    tree_init(&tree, NULL, NULL);
    for (uint32_t i = 0; i < 64 * 64; i++)
        assert_true(insert(&tree, item_of(arena, i)));
    assert_true(tree_check(&tree));
    assert_int_equal(tree.height, 1); /* 64 full leaves under one node */
    tree_clear(&tree, NULL, NULL);
    arena_close(arena);
}

static void falling_keys_stay_in_order(void **state)
{
    Arena   *arena = arena_new();
    Tree     tree;
    uint32_t want = 0;
    (void)state;

    tree_init(&tree, NULL, NULL);
    for (uint32_t i = 20000; i-- > 0;)
        assert_true(insert(&tree, item_of(arena, i)));
    assert_true(tree_check(&tree));
    for (TreeAt at = tree_first(&tree); tree_item(at) != NULL; at = tree_next(at))
        assert_int_equal(number_of(tree_item(at)), want++);
    assert_int_equal(want, 20000);
    for (TreeAt at = tree_last(&tree); tree_item(at) != NULL; at = tree_previous(at))
        assert_int_equal(number_of(tree_item(at)), --want);
    tree_clear(&tree, NULL, NULL);
    arena_close(arena);
}

static void a_key_is_taken_once(void **state)
{
    Arena *arena = arena_new();
    Tree   tree;
    (void)state;

    tree_init(&tree, NULL, NULL);
    assert_true(insert(&tree, item_of(arena, 7)));
    assert_false(insert(&tree, item_of(arena, 7)));
    assert_false(tree_remove(&tree, item_of(arena, 7))); /* another item of the same key */
    assert_int_equal(tree.count, 1);
    tree_clear(&tree, NULL, NULL);
    arena_close(arena);
}

static void a_tree_emptied_from_the_left_is_usable(void **state)
{
    Arena *arena = arena_new();
    Tree   tree;
    (void)state;

    tree_init(&tree, NULL, NULL);
    for (uint32_t i = 0; i < 10000; i++)
        assert_true(insert(&tree, item_of(arena, i)));
    while (tree.count > 0)
        assert_true(tree_remove(&tree, tree_item(tree_first(&tree))));
    assert_true(tree_check(&tree));
    assert_int_equal(tree.height, 0);
    assert_null(tree_item(tree_first(&tree)));
    assert_null(tree_item(tree_last(&tree)));
    assert_true(insert(&tree, item_of(arena, 3)));
    assert_int_equal(number_of(tree_item(tree_first(&tree))), 3);
    tree_clear(&tree, NULL, NULL);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rising_keys_fill_their_leaves),
        cmocka_unit_test(falling_keys_stay_in_order),
        cmocka_unit_test(a_key_is_taken_once),
        cmocka_unit_test(a_tree_emptied_from_the_left_is_usable),
    };
    return RUN_TESTS(tests);
}
