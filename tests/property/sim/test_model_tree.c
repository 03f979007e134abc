/* The tree against a sorted array: random inserts, removals, seeks in both directions; of items with keys, and of items whose
 * keys are read from what they point to. */
#include "support/test_support.h"

#include "sim/model/tree.h"

#define ITEMS_MAX 3000

typedef struct Oracle {
    Item  *items[ITEMS_MAX];
    size_t count;
} Oracle;

static Bytes key_of(const Item *item)
{
    return item->key_len > 0 ? item_key(item) : item_key(item->ref);
}

static Bytes read_key(const void *arg, const Item *item, uint8_t *scratch)
{
    Bytes key = item_key(item->ref);

    assert_string_equal(arg, "the argument");
    memcpy(scratch, key.ptr, key.len);
    return (Bytes){scratch, key.len};
}

static int compare(const Item *left, const Item *right)
{
    Bytes one = key_of(left), two = key_of(right);
    return key_compare(one.ptr, one.len, two.ptr, two.len);
}

/* Index of the first item at or above the key. */
static size_t oracle_at(const Oracle *oracle, const Item *key)
{
    size_t at = 0;
    while (at < oracle->count && compare(oracle->items[at], key) < 0)
        at++;
    return at;
}

static bool oracle_has(const Oracle *oracle, size_t at, const Item *key)
{
    return at < oracle->count && compare(oracle->items[at], key) == 0;
}

/* Short keys of few letters, so that many share a prefix and some are prefixes of others. */
static Item *random_item(Arena *arena, Rng *rng, uint64_t letters, size_t len_max)
{
    size_t len    = (size_t)rng_below(rng, len_max) + 1;
    Item  *item   = arena_alloc(arena, sizeof *item + len);
    item->key_len = (uint16_t)len;
    for (size_t i = 0; i < len; i++)
        item->key[i] = (uint8_t)rng_below(rng, letters);
    return item;
}

static void check_walks(const Tree *tree, const Oracle *oracle, const Item *key)
{
    size_t at    = oracle_at(oracle, key);
    bool   has   = oracle_has(oracle, at, key);
    TreeAt above = tree_seek(tree, key_of(key), false);
    TreeAt after = tree_seek(tree, key_of(key), true);
    TreeAt below = tree_seek_before(tree, key_of(key));

    assert_ptr_equal(tree_find(tree, key_of(key)), has ? oracle->items[at] : NULL);
    assert_ptr_equal(tree_item(above), at < oracle->count ? oracle->items[at] : NULL);
    assert_ptr_equal(tree_item(after), at + has < oracle->count ? oracle->items[at + has] : NULL);
    assert_ptr_equal(tree_item(below), at > 0 ? oracle->items[at - 1] : NULL);
    for (size_t i = at; i < at + 70 && i < oracle->count; i++, above = tree_next(above))
        assert_ptr_equal(tree_item(above), oracle->items[i]);
    for (size_t i = at; i-- > 0 && i + 70 > at; below = tree_previous(below))
        assert_ptr_equal(tree_item(below), oracle->items[i]);
}

/* What is said of a leaf holds for its items, one by one. */
static void check_leaves(const Tree *tree, const Item *key)
{
    TreeAt next;

    for (TreeAt at = tree_first(tree); tree_item(at) != NULL; at = next) {
        TreeAt item  = at;
        bool   below = true, from = true;
        for (; tree_item(item) != NULL && item.leaf == at.leaf; item = tree_next(item)) {
            below &= compare(tree_item(item), key) < 0;
            from &= compare(tree_item(item), key) >= 0;
        }
        next = item;
        assert_int_equal(tree_leaf_is_below(tree, at, key_of(key)), below);
        assert_int_equal(tree_leaf_is_from(tree, at, key_of(key)), from);
    }
}

static void step(Tree *tree, Oracle *oracle, Arena *arena, Rng *rng, uint64_t insert_share)
{
    Item  *keyed = random_item(arena, rng, 6, 12), *item = keyed;
    size_t at = oracle_at(oracle, item);

    if (tree->read_key != NULL) item = arena_alloc(arena, sizeof *item);

    if (rng_below(rng, 100) < insert_share && oracle->count < ITEMS_MAX) {
        bool is_new = !oracle_has(oracle, at, keyed);
        assert_int_equal(tree_insert(tree, item, item_key(keyed)), is_new);
        item->ref = keyed; /* only now: a row comes to its place when that is in the tree */
        if (!is_new) return;
        memmove(&oracle->items[at + 1], &oracle->items[at], (oracle->count - at) * sizeof(Item *));
        oracle->items[at] = item;
        oracle->count++;
    } else if (oracle->count > 0) {
        at = MIN(at, oracle->count - 1);
        assert_true(tree_remove(tree, oracle->items[at]));
        memmove(&oracle->items[at], &oracle->items[at + 1],
                (oracle->count - at - 1) * sizeof(Item *));
        oracle->count--;
    }
}

static void compare_with_array(TreeReadKey read)
{
    FOR_EACH_SEED (seed, 30) {
        Rng    *rng    = rng_new(seed);
        Arena  *arena  = arena_new();
        Oracle *oracle = arena_alloc(arena, sizeof *oracle);
        Tree    tree;

        tree_init(&tree, read, "the argument");
        for (int round = 0; round < 6; round++) {
            uint64_t share = round % 2 == 0 ? 80 : 25; /* it grows, then shrinks */
            for (int i = 0; i < 1000; i++)
                step(&tree, oracle, arena, rng, share);
            assert_int_equal(tree.count, oracle->count);
            assert_true(tree_check(&tree));
            for (int i = 0; i < 50; i++)
                check_walks(&tree, oracle, random_item(arena, rng, 6, 12));
            for (int i = 0; i < 10; i++)
                check_leaves(&tree, random_item(arena, rng, 6, 12));
        }
        tree_clear(&tree, NULL, NULL);
        arena_close(arena);
        rng_close(rng);
    }
}

static void tree_agrees_with_a_sorted_array(void **state)
{
    (void)state;
    compare_with_array(NULL);
}

static void tree_of_keys_elsewhere_agrees_with_a_sorted_array(void **state)
{
    (void)state;
    compare_with_array(read_key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(tree_agrees_with_a_sorted_array),
        property_test(tree_of_keys_elsewhere_agrees_with_a_sorted_array),
    };
    return RUN_TESTS(tests);
}
