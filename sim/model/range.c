/* range.c - the key ranges a SERIALIZABLE transaction has read, into which nobody else may
 * bring a row before it ends (sqlserver.md 2.12).
 *
 * SQL Server locks the keys it finds and the gaps before them; here the range itself is locked, so
 * what lies just outside is free. A table that many ranges of one transaction were read from is
 * locked as a whole. */
#include "sim/model/model_internal.h"

#define RANGES_MAX 256 /* of a transaction, in one table */

struct RangeLock {
    LockResource resource;
    RangeLock   *next, *next_of_txn;
    SimTxn      *txn;
    SimTable    *table;
    const Tree  *tree; /* NULL: every one */
    bool         is_update, has_low, has_high;
    size_t       low_len, high_len;
    uint8_t      keys[]; /* low, then high */
};

static Bytes low_of(const RangeLock *range)
{
    return (Bytes){range->keys, range->low_len};
}

static Bytes high_of(const RangeLock *range)
{
    return (Bytes){range->keys + range->low_len, range->high_len};
}

static int compare(Bytes left, Bytes right)
{
    return key_compare(left.ptr, left.len, right.ptr, right.len);
}

static bool is_in(const RangeLock *range, Bytes key)
{
    if (range->has_low && compare(key, low_of(range)) < 0) return false;
    return !range->has_high || compare(key, high_of(range)) < 0;
}

typedef struct Wanted {
    const Tree *tree;
    Str         low, high;
    bool        for_update;
} Wanted;

static bool overlaps(const RangeLock *range, const Wanted *wanted)
{
    if (range->tree != NULL && wanted->tree != NULL && range->tree != wanted->tree) return false;
    if (range->has_low && wanted->high.ptr != NULL &&
        compare(str_bytes(wanted->high), low_of(range)) <= 0)
        return false;
    return !range->has_high || wanted->low.ptr == NULL ||
           compare(str_bytes(wanted->low), high_of(range)) < 0;
}

static bool covers(const RangeLock *range, const Wanted *wanted)
{
    if (wanted->for_update && !range->is_update) return false;
    if (range->tree == NULL) return true;
    if (range->tree != wanted->tree) return false;
    if (range->has_low &&
        (wanted->low.ptr == NULL || compare(str_bytes(wanted->low), low_of(range)) < 0))
        return false;
    return !range->has_high ||
           (wanted->high.ptr != NULL && compare(str_bytes(wanted->high), high_of(range)) <= 0);
}

static bool is_mine(const RangeLock *range, const SimTxn *txn)
{
    return range->txn == txn || range->txn->waiter == txn->waiter;
}

static bool has_already(const SimTxn *txn, const SimTable *table, const Wanted *wanted,
                        size_t *count_out)
{
    *count_out = 0;
    for (const RangeLock *range = txn->ranges; range != NULL; range = range->next_of_txn) {
        if (range->table != table) continue;
        if (covers(range, wanted)) return true;
        (*count_out)++;
    }
    return false;
}

static RangeLock *range_new(SimTxn *txn, SimTable *table, const Wanted *wanted)
{
    RangeLock *range = mem_alloc(sizeof *range + wanted->low.len + wanted->high.len);

    range->txn       = txn;
    range->table     = table;
    range->tree      = wanted->tree;
    range->is_update = wanted->for_update;
    range->has_low   = wanted->low.ptr != NULL;
    range->has_high  = wanted->high.ptr != NULL;
    range->low_len   = wanted->low.len;
    range->high_len  = wanted->high.len;
    range->resource  = (LockResource){.table = table, .range = range};
    if (wanted->low.len) memcpy(range->keys, wanted->low.ptr, wanted->low.len);
    if (wanted->high.len) memcpy(range->keys + wanted->low.len, wanted->high.ptr, wanted->high.len);
    return range;
}

/* Somebody else's range for update that the wanted one would overlap. */
static RangeLock *find_rival(const SimTxn *txn, const SimTable *table, const Wanted *wanted)
{
    if (!wanted->for_update) return NULL;
    for (RangeLock *range = table->ranges; range != NULL; range = range->next)
        if (range->is_update && !is_mine(range, txn) && overlaps(range, wanted)) return range;
    return NULL;
}

static void add_range(SimTxn *txn, SimTable *table, const Wanted *wanted)
{
    RangeLock *range  = range_new(txn, table, wanted);
    LockMode   mode   = wanted->for_update ? LOCK_RANGE_U : LOCK_RANGE_S;
    SimError   unused = SIM_ERROR_INIT;

    LockAnswer answer = lock_ask(txn, &range->resource, mode, &unused);
    assert(answer == LOCK_GRANTED); /* nobody else knows it yet */
    range->next        = table->ranges;
    table->ranges      = range;
    range->next_of_txn = txn->ranges;
    txn->ranges        = range;
    atomic_fetch_add(&table->range_count, 1);
}

bool range_take(SimTxn *txn, SimTable *table, const Tree *tree, Str low, Str high, bool for_update,
                SimError *error)
{
    Wanted wanted = {tree, low, high, for_update};
    size_t count  = 0;

    if (has_already(txn, table, &wanted, &count)) return true;
    if (count >= RANGES_MAX) wanted = (Wanted){.tree = NULL, .for_update = for_update};
    for (;;) {
        LockAnswer answer = LOCK_GRANTED;
        latch_exclusive(table);
        RangeLock *rival = find_rival(txn, table, &wanted);
        if (rival != NULL)
            answer = lock_ask(txn, &rival->resource, LOCK_RANGE_U, error);
        else
            add_range(txn, table, &wanted);
        latch_release(table);
        if (rival == NULL) return true;
        if (answer == LOCK_REFUSED) return false;
        if (answer == LOCK_QUEUED && !lock_wait(txn, error)) return false;
        lock_give_back_last(txn);
    }
}

/* The key a row takes in the range's tree, if it comes to a new one there. */
static bool comes_to(const RangeLock *range, SimTxn *txn, Body *body, Str place_key,
                     const SimRow *row, const SimRow *before, Bytes *key_out)
{
    Buf *key = NULL;

    if (range->tree == &body->trees[0] || range->tree == NULL) {
        *key_out = str_bytes(place_key);
        return before == NULL || before->flags & ROW_TOMBSTONE;
    }
    for (size_t i = 0; i < body->info->index_count; i++) {
        const SimIndex *index = body->info->indexes[i];
        if (body_tree(body, index) != range->tree) continue;
        key = txn_key(txn);
        row_index_key(body->info, index, row, key);
        size_t len = key->len;
        *key_out   = (Bytes){(const uint8_t *)key->ptr, len};
        if (before == NULL || before->flags & ROW_TOMBSTONE) return true;
        row_index_key(body->info, index, before, key);
        const uint8_t *bytes = (const uint8_t *)key->ptr;
        *key_out             = (Bytes){bytes, len};
        return key_compare(bytes, len, bytes + len, key->len - len) != 0;
    }
    return false;
}

/* In the whole table every new key counts, of any index. */
static bool changes_a_key(SimTxn *txn, const Body *body, const SimRow *row, const SimRow *before)
{
    for (size_t i = 0; i < body->info->index_count; i++) {
        Buf *key = txn_key(txn);
        row_index_key(body->info, body->info->indexes[i], row, key);
        size_t len = key->len;
        row_index_key(body->info, body->info->indexes[i], before, key);
        const uint8_t *bytes = (const uint8_t *)key->ptr;
        if (key_compare(bytes, len, bytes + len, key->len - len) != 0) return true;
    }
    return false;
}

LockAnswer range_ask(SimTxn *txn, SimTable *table, Body *body, Str place_key, const SimRow *row,
                     const SimRow *before, SimError *error)
{
    Arena     *arena  = NULL;
    LockAnswer answer = LOCK_GRANTED;

    if (atomic_load_explicit(&table->range_count, memory_order_relaxed) == 0 ||
        row->flags & ROW_TOMBSTONE)
        return LOCK_GRANTED;
    arena     = arena_new();
    place_key = str_copy(arena, place_key); /* it may be in the buffer that is about to be used */
    for (RangeLock *range = table->ranges; range != NULL; range = range->next) {
        Bytes key;
        if (is_mine(range, txn)) continue;
        bool comes = comes_to(range, txn, body, place_key, row, before, &key) && is_in(range, key);
        if (!comes && range->tree == NULL && before != NULL && !(before->flags & ROW_TOMBSTONE))
            comes = changes_a_key(txn, body, row, before);
        if (!comes) continue;
        answer = lock_ask(txn, &range->resource, LOCK_RANGE_I, error);
        assert(answer != LOCK_GRANTED); /* its transaction holds it */
        break;
    }
    arena_close(arena);
    return answer;
}

void ranges_release(SimTxn *txn)
{
    LockManager *manager = &txn->database->server->locks;

    for (RangeLock *range = txn->ranges, *next; range != NULL; range = next) {
        next            = range->next_of_txn;
        SimTable *table = range->table;
        latch_exclusive(table);
        RangeLock **at = &table->ranges;
        while (*at != range)
            at = &(*at)->next;
        *at = range->next;
        atomic_fetch_sub(&table->range_count, 1);
        latch_release(table);
        lock_end_range(manager, &range->resource); /* freed when the last one lets it go */
    }
    txn->ranges = NULL;
}

const LockResource *range_next(const SimTable *table, const LockResource *after)
{
    const RangeLock *range = after == NULL ? table->ranges : after->range->next;
    return range != NULL ? &range->resource : NULL;
}
