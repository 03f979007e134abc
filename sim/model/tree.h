/* tree.h - a B+tree over byte keys, each key once. Not locked: the table's latch does that.
 *
 * Items are made by the caller, key included, and only pointed to. Leaves are linked, so walking
 * costs nothing; appending at the right end is a comparison, and leaves filled that way are full. A
 * leaf is given back when its last item goes; leaves are never merged, which suits tables that are
 * emptied from one end. */
#ifndef TIDESIM_MODEL_TREE_H
#define TIDESIM_MODEL_TREE_H

#include <stdatomic.h>
#include <string.h>

#include "base/str.h"

#define TREE_KEY_MOST 64 /* bytes of a key that is not in its item */

/* A row's place in the clustered order (ref: its newest version) or an entry of another index (ref:
 * that place). */
typedef struct Item { /* there are as many as rows: no byte is lost between these */
    void        *ref;
    uint16_t     key_len; /* 0: the key is read from what `ref` points to */
    atomic_uchar flags;
    uint8_t      key[];
} Item;

typedef struct TreeLeaf TreeLeaf;

/* Reads the key of an item that has none of its own; `scratch` is of TREE_KEY_MOST bytes. */
typedef Bytes (*TreeReadKey)(const void *arg, const Item *item, uint8_t *scratch);

typedef struct Tree {
    void       *root; /* a leaf at height 0 */
    int         height;
    TreeLeaf   *first, *last;
    size_t      count;
    uint64_t    changes; /* grows with every insert and remove; a position is good while it stays */
    TreeReadKey read_key;
    const void *read_arg;
    const Item *appended; /* the item whose key stands here, so that appending reads nothing */
    uint8_t     appended_len, appended_key[TREE_KEY_MOST];
} Tree;

/* A position: an item, or the end. */
typedef struct TreeAt {
    TreeLeaf *leaf; /* NULL: past either end */
    uint32_t  index;
} TreeAt;

/* `read_key` may be NULL, when every item has its key. */
void tree_init(Tree *tree, TreeReadKey read_key, const void *read_arg);
/* Frees the nodes, and each item through `free_item` unless that is NULL. */
void tree_clear(Tree *tree, void (*free_item)(void *arg, Item *item), void *arg);

/* `key` is the item's, which cannot be read from it yet; false: an item has this key already. */
bool  tree_insert(Tree *tree, Item *item, Bytes key);
bool  tree_remove(Tree *tree, const Item *item); /* false: it is not there */
Item *tree_find(const Tree *tree, Bytes key);
/* The smallest item of a key at or above `key` (just above it, when `after`). */
TreeAt tree_seek(const Tree *tree, Bytes key, bool after);
/* The largest item of a key below `key`. */
TreeAt tree_seek_before(const Tree *tree, Bytes key);
TreeAt tree_first(const Tree *tree);
TreeAt tree_last(const Tree *tree);
Item  *tree_item(TreeAt at); /* NULL at an end */
TreeAt tree_next(TreeAt at);
TreeAt tree_previous(TreeAt at);
/* Whether every item of the position's leaf is below `key`; at or above it. */
bool tree_leaf_is_below(const Tree *tree, TreeAt at, Bytes key);
bool tree_leaf_is_from(const Tree *tree, TreeAt at, Bytes key);
/* Order of keys, order of links, counts; for tests. */
bool tree_check(const Tree *tree);

static inline int key_compare(const uint8_t *left, size_t left_len, const uint8_t *right,
                              size_t right_len)
{
    size_t common = left_len < right_len ? left_len : right_len;
    int    order  = common ? memcmp(left, right, common) : 0;
    return order ? order : (left_len > right_len) - (left_len < right_len);
}

static inline Bytes item_key(const Item *item)
{
    return (Bytes){item->key, item->key_len};
}

static inline Bytes tree_key(const Tree *tree, const Item *item, uint8_t *scratch)
{
    return item->key_len > 0 ? item_key(item) : tree->read_key(tree->read_arg, item, scratch);
}

#endif
