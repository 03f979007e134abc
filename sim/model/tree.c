/* tree.c - the B+tree. The first eight bytes of each key stand in the node as a number, so
 * that most comparisons touch the node alone. */
#include "sim/model/tree.h"

#include <assert.h>

#include "base/arena.h"

#define LEAF_ITEMS     128
#define INNER_CHILDREN 64
#define HEIGHT_MAX     16

struct TreeLeaf {
    TreeLeaf *previous, *next;
    uint32_t  count;
    uint64_t  heads[LEAF_ITEMS];
    Item     *items[LEAF_ITEMS];
};

/* Between two children: everything at or above it is in the right one. As short as it can be. */
typedef struct Separator {
    uint32_t len;
    uint8_t  bytes[];
} Separator;

typedef struct Inner {
    uint32_t   child_count;
    uint64_t   heads[INNER_CHILDREN - 1];
    Separator *separators[INNER_CHILDREN - 1];
    void      *children[INNER_CHILDREN];
} Inner;

/* The way down to a leaf. */
typedef struct Path {
    Inner   *inner[HEIGHT_MAX];
    uint32_t index[HEIGHT_MAX];
} Path;

static uint64_t key_head(const uint8_t *key, size_t len)
{
    uint64_t head = 0;
    size_t   have = len < 8 ? len : 8;

    for (size_t i = 0; i < have; i++)
        head |= (uint64_t)key[i] << (56 - 8 * i);
    return head;
}

static int compare_keys(Bytes key, Bytes want)
{
    return key_compare(key.ptr, key.len, want.ptr, want.len);
}

/* Compares an item whose key's head is known with a wanted key. */
static int compare_item(const Tree *tree, uint64_t head, const Item *item, uint64_t want_head,
                        Bytes want)
{
    uint8_t scratch[TREE_KEY_MOST];

    if (head != want_head) return head < want_head ? -1 : 1;
    return compare_keys(tree_key(tree, item, scratch), want);
}

void tree_init(Tree *tree, TreeReadKey read_key, const void *read_arg)
{
    TreeLeaf *leaf = mem_alloc(sizeof *leaf);
    *tree          = (Tree){
                 .root = leaf, .first = leaf, .last = leaf, .read_key = read_key, .read_arg = read_arg};
}

static void free_inner(Inner *inner)
{
    for (uint32_t i = 0; i + 1 < inner->child_count; i++)
        mem_free(inner->separators[i]);
    mem_free(inner);
}

static void free_inners(void *node, int height)
{
    if (height == 0) return;
    Inner *inner = node;
    for (uint32_t i = 0; i < inner->child_count; i++)
        free_inners(inner->children[i], height - 1);
    free_inner(inner);
}

void tree_clear(Tree *tree, void (*free_item)(void *arg, Item *item), void *arg)
{
    if (tree->root == NULL) return;
    free_inners(tree->root, tree->height);
    for (TreeLeaf *leaf = tree->first, *next; leaf != NULL; leaf = next) {
        next = leaf->next;
        if (free_item != NULL)
            for (uint32_t i = 0; i < leaf->count; i++)
                free_item(arg, leaf->items[i]);
        mem_free(leaf);
    }
    *tree = (Tree){.root = NULL};
}

/* Index of the child that holds `key`. */
static uint32_t inner_find(const Inner *inner, uint64_t head, Bytes key)
{
    uint32_t low = 0, high = inner->child_count - 1;

    while (low < high) {
        uint32_t         middle    = (low + high) / 2;
        const Separator *separator = inner->separators[middle];
        uint64_t         at        = inner->heads[middle];
        if (at < head ||
            (at == head && compare_keys((Bytes){separator->bytes, separator->len}, key) <= 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Index of the first item at or above `key`. */
static uint32_t leaf_find(const Tree *tree, const TreeLeaf *leaf, uint64_t head, Bytes key,
                          bool *found_out)
{
    uint32_t low = 0, high = leaf->count;

    *found_out = false;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int      order  = compare_item(tree, leaf->heads[middle], leaf->items[middle], head, key);
        if (order == 0) {
            *found_out = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static TreeLeaf *descend(const Tree *tree, uint64_t head, Bytes key, Path *path)
{
    void *node = tree->root;

    for (int level = tree->height; level > 0; level--) {
        Inner   *inner = node;
        uint32_t index = inner_find(inner, head, key);
        if (path != NULL) {
            path->inner[level - 1] = inner;
            path->index[level - 1] = index;
        }
        node = inner->children[index];
    }
    return node;
}

/* Above every key there is: where most new keys belong. */
static bool is_behind_last(const Tree *tree, uint64_t head, Bytes key)
{
    const TreeLeaf *leaf = tree->last;

    if (leaf->count == 0) return tree->count == 0;
    const Item *last = leaf->items[leaf->count - 1];
    if (last == tree->appended)
        return compare_keys((Bytes){tree->appended_key, tree->appended_len}, key) < 0;
    return compare_item(tree, leaf->heads[leaf->count - 1], last, head, key) < 0;
}

/* --- insert --- */

static void leaf_put(TreeLeaf *leaf, uint32_t index, Item *item, uint64_t head)
{
    size_t behind = leaf->count - index;

    memmove(&leaf->items[index + 1], &leaf->items[index], behind * sizeof(void *));
    memmove(&leaf->heads[index + 1], &leaf->heads[index], behind * sizeof leaf->heads[0]);
    leaf->items[index] = item;
    leaf->heads[index] = head;
    leaf->count++;
}

/* A new leaf behind `leaf` with its items from `from` on. */
static TreeLeaf *leaf_split(Tree *tree, TreeLeaf *leaf, uint32_t from)
{
    TreeLeaf *right = mem_alloc(sizeof *right);

    right->count = leaf->count - from;
    memcpy(right->items, &leaf->items[from], right->count * sizeof(void *));
    memcpy(right->heads, &leaf->heads[from], right->count * sizeof right->heads[0]);
    leaf->count     = from;
    right->previous = leaf;
    right->next     = leaf->next;
    leaf->next      = right;
    if (right->next != NULL)
        right->next->previous = right;
    else
        tree->last = right;
    return right;
}

/* The shortest key above `left` and not above `right`. */
static Separator *separator_between(Bytes left, Bytes right)
{
    uint32_t common = 0;

    while (common < left.len && common < right.len && left.ptr[common] == right.ptr[common])
        common++;
    assert(common < right.len);
    Separator *separator = mem_alloc(sizeof *separator + common + 1);
    separator->len       = common + 1;
    memcpy(separator->bytes, right.ptr, separator->len);
    return separator;
}

static void inner_put(Inner *inner, uint32_t index, Separator *separator, void *right)
{
    size_t behind = inner->child_count - 1 - index;

    memmove(&inner->separators[index + 1], &inner->separators[index], behind * sizeof(void *));
    memmove(&inner->heads[index + 1], &inner->heads[index], behind * sizeof inner->heads[0]);
    memmove(&inner->children[index + 2], &inner->children[index + 1], behind * sizeof(void *));
    inner->separators[index]   = separator;
    inner->heads[index]        = key_head(separator->bytes, separator->len);
    inner->children[index + 1] = right;
    inner->child_count++;
}

/* Halves a full inner node (at its right end: leaves it full but for one); the separator between
 * the halves goes up. */
static Inner *inner_split(Inner *inner, uint32_t index, Separator **up_out)
{
    Inner   *right = mem_alloc(sizeof *right);
    uint32_t keep  = index == inner->child_count - 1 ? inner->child_count - 1
                                                     : inner->child_count / 2;

    right->child_count = inner->child_count - keep;
    memcpy(right->children, &inner->children[keep], right->child_count * sizeof(void *));
    memcpy(right->separators, &inner->separators[keep], (right->child_count - 1) * sizeof(void *));
    memcpy(right->heads, &inner->heads[keep], (right->child_count - 1) * sizeof right->heads[0]);
    *up_out            = inner->separators[keep - 1];
    inner->child_count = keep;
    return right;
}

/* Hangs `right` behind the child the path went through, from the bottom up. */
static void insert_upwards(Tree *tree, const Path *path, Separator *separator, void *left,
                           void *right)
{
    for (int level = 0; level < tree->height; level++) {
        Inner   *inner = path->inner[level];
        uint32_t index = path->index[level];
        if (inner->child_count < INNER_CHILDREN) {
            inner_put(inner, index, separator, right);
            return;
        }
        Separator *up    = NULL;
        Inner     *other = inner_split(inner, index, &up);
        if (index < inner->child_count)
            inner_put(inner, index, separator, right);
        else
            inner_put(other, index - inner->child_count, separator, right);
        separator = up;
        left      = inner;
        right     = other;
    }
    Inner *root       = mem_alloc(sizeof *root);
    root->child_count = 1;
    root->children[0] = left;
    inner_put(root, 0, separator, right);
    tree->root = root;
    tree->height++;
    assert(tree->height < HEIGHT_MAX);
}

static void insert_into_full(Tree *tree, const Path *path, TreeLeaf *leaf, uint32_t index,
                             Item *item, uint64_t head, Bytes key)
{
    uint8_t   scratch[2][TREE_KEY_MOST];
    bool      at_end = index == LEAF_ITEMS && leaf->next == NULL;
    TreeLeaf *right  = leaf_split(tree, leaf, at_end ? LEAF_ITEMS : LEAF_ITEMS / 2);

    if (at_end || index > leaf->count)
        leaf_put(right, index - leaf->count, item, head);
    else
        leaf_put(leaf, index, item, head);
    const Item *last = leaf->items[leaf->count - 1], *first = right->items[0];
    Bytes       below = last == item ? key : tree_key(tree, last, scratch[0]);
    Bytes       above = first == item ? key : tree_key(tree, first, scratch[1]);
    insert_upwards(tree, path, separator_between(below, above), leaf, right);
}

static void note_appended(Tree *tree, const Item *item, Bytes key)
{
    const TreeLeaf *last = tree->last;

    if (item->key_len > 0 || last->items[last->count - 1] != item) return;
    assert(key.len <= TREE_KEY_MOST);
    memcpy(tree->appended_key, key.ptr, key.len);
    tree->appended_len = (uint8_t)key.len;
    tree->appended     = item;
}

bool tree_insert(Tree *tree, Item *item, Bytes key)
{
    Path      path;
    uint64_t  head = key_head(key.ptr, key.len);
    TreeLeaf *leaf = tree->last;
    uint32_t  index;
    bool      found = false;

    if (leaf->count < LEAF_ITEMS && is_behind_last(tree, head, key)) {
        index = leaf->count;
    } else {
        leaf  = descend(tree, head, key, &path);
        index = leaf_find(tree, leaf, head, key, &found);
        if (found) return false;
    }
    if (leaf->count < LEAF_ITEMS)
        leaf_put(leaf, index, item, head);
    else
        insert_into_full(tree, &path, leaf, index, item, head, key);
    note_appended(tree, item, key);
    tree->count++;
    tree->changes++;
    return true;
}

/* --- remove --- */

static void inner_take(Inner *inner, uint32_t index)
{
    uint32_t separator = index > 0 ? index - 1 : 0;

    if (inner->child_count > 1) {
        size_t behind = inner->child_count - 2 - separator;
        mem_free(inner->separators[separator]);
        memmove(&inner->separators[separator], &inner->separators[separator + 1],
                behind * sizeof(void *));
        memmove(&inner->heads[separator], &inner->heads[separator + 1],
                behind * sizeof inner->heads[0]);
    }
    memmove(&inner->children[index], &inner->children[index + 1],
            (inner->child_count - 1 - index) * sizeof(void *));
    inner->child_count--;
}

/* Takes an empty leaf out, and what became empty above it; the root stays. */
static void remove_leaf(Tree *tree, const Path *path, TreeLeaf *leaf)
{
    if (leaf->previous != NULL)
        leaf->previous->next = leaf->next;
    else
        tree->first = leaf->next;
    if (leaf->next != NULL)
        leaf->next->previous = leaf->previous;
    else
        tree->last = leaf->previous;
    mem_free(leaf);
    for (int level = 0; level < tree->height; level++) {
        Inner *inner = path->inner[level];
        inner_take(inner, path->index[level]);
        if (inner->child_count > 0) break;
        mem_free(inner); /* never the root: the tree has another leaf */
    }
    while (tree->height > 0 && ((Inner *)tree->root)->child_count == 1) {
        Inner *root = tree->root;
        tree->root  = root->children[0];
        tree->height--;
        free_inner(root);
    }
}

bool tree_remove(Tree *tree, const Item *item)
{
    Path      path;
    uint8_t   scratch[TREE_KEY_MOST];
    Bytes     key   = tree_key(tree, item, scratch);
    TreeLeaf *leaf  = descend(tree, key_head(key.ptr, key.len), key, &path);
    uint32_t  index = 0;

    while (index < leaf->count && leaf->items[index] != item)
        index++;
    if (index == leaf->count) return false;
    if (tree->appended == item) tree->appended = NULL;
    size_t behind = leaf->count - index - 1;
    memmove(&leaf->items[index], &leaf->items[index + 1], behind * sizeof(void *));
    memmove(&leaf->heads[index], &leaf->heads[index + 1], behind * sizeof leaf->heads[0]);
    leaf->count--;
    tree->count--;
    tree->changes++;
    if (leaf->count == 0 && tree->height > 0) remove_leaf(tree, &path, leaf);
    return true;
}

/* --- find and walk --- */

Item *tree_find(const Tree *tree, Bytes key)
{
    bool     found = false;
    uint64_t head  = key_head(key.ptr, key.len);

    if (is_behind_last(tree, head, key)) return NULL;
    TreeLeaf *leaf  = descend(tree, head, key, NULL);
    uint32_t  index = leaf_find(tree, leaf, head, key, &found);
    return found ? leaf->items[index] : NULL;
}

/* Moves a position behind a leaf's last item to the next leaf. */
static TreeAt settled(TreeLeaf *leaf, uint32_t index)
{
    if (index < leaf->count) return (TreeAt){leaf, index};
    return (TreeAt){leaf->next, 0};
}

TreeAt tree_seek(const Tree *tree, Bytes key, bool after)
{
    bool      found = false;
    uint64_t  head  = key_head(key.ptr, key.len);
    TreeLeaf *leaf  = descend(tree, head, key, NULL);
    uint32_t  index = leaf_find(tree, leaf, head, key, &found);
    return settled(leaf, index + (found && after));
}

TreeAt tree_seek_before(const Tree *tree, Bytes key)
{
    bool      found = false;
    uint64_t  head  = key_head(key.ptr, key.len);
    TreeLeaf *leaf  = descend(tree, head, key, NULL);
    uint32_t  index = leaf_find(tree, leaf, head, key, &found);

    if (index > 0) return (TreeAt){leaf, index - 1};
    if (leaf->previous == NULL) return (TreeAt){NULL, 0};
    return (TreeAt){leaf->previous, leaf->previous->count - 1};
}

TreeAt tree_first(const Tree *tree)
{
    return settled(tree->first, 0);
}

TreeAt tree_last(const Tree *tree)
{
    if (tree->last->count == 0) return (TreeAt){NULL, 0};
    return (TreeAt){tree->last, tree->last->count - 1};
}

Item *tree_item(TreeAt at)
{
    return at.leaf == NULL ? NULL : at.leaf->items[at.index];
}

TreeAt tree_next(TreeAt at)
{
    return settled(at.leaf, at.index + 1);
}

TreeAt tree_previous(TreeAt at)
{
    if (at.index > 0) return (TreeAt){at.leaf, at.index - 1};
    if (at.leaf->previous == NULL) return (TreeAt){NULL, 0};
    return (TreeAt){at.leaf->previous, at.leaf->previous->count - 1};
}

/* How the item stands to `key`. */
static int order_at(const Tree *tree, const TreeLeaf *leaf, uint32_t index, Bytes key)
{
    return compare_item(tree, leaf->heads[index], leaf->items[index], key_head(key.ptr, key.len),
                        key);
}

bool tree_leaf_is_below(const Tree *tree, TreeAt at, Bytes key)
{
    return order_at(tree, at.leaf, at.leaf->count - 1, key) < 0;
}

bool tree_leaf_is_from(const Tree *tree, TreeAt at, Bytes key)
{
    return order_at(tree, at.leaf, 0, key) >= 0;
}

static bool check_inner(const void *node, int height, const TreeLeaf **leaf)
{
    if (height == 0) {
        bool is_next = node == *leaf;
        if (is_next) *leaf = (*leaf)->next;
        return is_next;
    }
    const Inner *inner = node;
    if (inner->child_count == 0) return false;
    for (uint32_t i = 0; i < inner->child_count; i++)
        if (!check_inner(inner->children[i], height - 1, leaf)) return false;
    return true;
}

bool tree_check(const Tree *tree)
{
    const TreeLeaf *leaf = tree->first;
    uint8_t         scratch[2][TREE_KEY_MOST];
    Bytes           last  = {NULL, 0};
    size_t          count = 0;

    if (!check_inner(tree->root, tree->height, &leaf) || leaf != NULL) return false;
    for (TreeAt at = tree_first(tree); tree_item(at) != NULL; at = tree_next(at)) {
        const Item *item = tree_item(at);
        Bytes       key  = tree_key(tree, item, scratch[count % 2]);
        if (count > 0 && compare_keys(last, key) >= 0) return false;
        if (tree_find(tree, key) != item) return false;
        last = key;
        count++;
    }
    return count == tree->count;
}
