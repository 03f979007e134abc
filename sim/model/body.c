/* body.c - a table's rows in their trees, the entries of its other indexes, and the memory of
 * versions nobody needs any more. */
#include "sim/model/model_internal.h"

/* --- latches --- */

/* A writer waits in the turnstile, where new readers queue behind it; so readers without end do not
 * keep it out. */
void latch_shared(SimTable *table)
{
    (void)pthread_mutex_lock(&table->turnstile);
    (void)pthread_mutex_unlock(&table->turnstile);
    (void)pthread_rwlock_rdlock(&table->latch);
}

void latch_exclusive(SimTable *table)
{
    (void)pthread_mutex_lock(&table->turnstile);
    (void)pthread_rwlock_wrlock(&table->latch);
    (void)pthread_mutex_unlock(&table->turnstile);
}

void latch_release(SimTable *table)
{
    (void)pthread_rwlock_unlock(&table->latch);
}

void table_set_body(SimTable *table, Body *body)
{
    latch_exclusive(table);
    atomic_store_explicit(&table->body, body, memory_order_release);
    atomic_store_explicit(&table->info, body->info, memory_order_release);
    latch_release(table);
}

/* --- pins: who may still point to old versions --- */

static void pin_unlink(SimTable *table, Pin *pin)
{
    if (pin->previous != NULL)
        pin->previous->next = pin->next;
    else
        table->oldest_pin = pin->next;
    if (pin->next != NULL)
        pin->next->previous = pin->previous;
    else
        table->newest_pin = pin->previous;
    pin->is_set = false;
}

static void limbo_push(SimTable *table, SimRow *row)
{
    if (table->limbo_count == table->limbo_capacity) {
        size_t capacity = table->limbo_capacity ? 2 * table->limbo_capacity : 64;
        Limbo *limbo    = mem_alloc(capacity * sizeof *limbo);
        for (size_t i = 0; i < table->limbo_count; i++)
            limbo[i] = table->limbo[(table->limbo_first + i) % table->limbo_capacity];
        mem_free(table->limbo);
        table->limbo          = limbo;
        table->limbo_capacity = capacity;
        table->limbo_first    = 0;
    }
    table->limbo[(table->limbo_first + table->limbo_count++) % table->limbo_capacity] = (Limbo){
        row, table->epoch};
}

/* Frees what retired before the oldest pin was set. */
static void limbo_drain(SimTable *table)
{
    while (table->limbo_count > 0) {
        Limbo *oldest = &table->limbo[table->limbo_first];
        if (table->oldest_pin != NULL && table->oldest_pin->epoch < oldest->epoch) return;
        row_release(oldest->row);
        table->limbo_first = (table->limbo_first + 1) % table->limbo_capacity;
        table->limbo_count--;
    }
}

void pin_set(SimTable *table, Pin *pin)
{
    (void)pthread_mutex_lock(&table->pin_lock);
    if (pin->is_set) pin_unlink(table, pin);
    *pin = (Pin){.previous = table->newest_pin, .epoch = table->epoch, .is_set = true};
    if (pin->previous != NULL)
        pin->previous->next = pin;
    else
        table->oldest_pin = pin;
    table->newest_pin = pin;
    (void)pthread_mutex_unlock(&table->pin_lock);
}

void pin_clear(SimTable *table, Pin *pin)
{
    if (!pin->is_set) return;
    (void)pthread_mutex_lock(&table->pin_lock);
    pin_unlink(table, pin);
    limbo_drain(table);
    (void)pthread_mutex_unlock(&table->pin_lock);
}

void row_retire(SimTable *table, SimRow *row)
{
    (void)pthread_mutex_lock(&table->pin_lock);
    if (table->oldest_pin == NULL && table->limbo_count == 0) {
        row_release(row);
    } else {
        table->epoch++;
        limbo_push(table, row);
        limbo_drain(table);
    }
    (void)pthread_mutex_unlock(&table->pin_lock);
}

/* --- bodies --- */

static size_t item_bytes(size_t key_len)
{
    return offsetof(Item, key) + key_len;
}

Item *item_new(Slab *slab, void *ref, Bytes key, Bytes suffix)
{
    assert(key.len + suffix.len <= UINT16_MAX); /* row_check_keys has seen to it */
    Item *item = slab_alloc(slab, item_bytes(key.len + suffix.len));

    item->ref     = ref;
    item->key_len = (uint16_t)(key.len + suffix.len);
    atomic_init(&item->flags, 0);
    if (key.len) memcpy(item->key, key.ptr, key.len);
    if (suffix.len) memcpy(item->key + key.len, suffix.ptr, suffix.len);
    return item;
}

void item_free(Item *item)
{
    if (item != NULL) slab_free(item, item_bytes(item->key_len));
}

Slab *table_slab(const SimTable *table)
{
    return table->database->server->slab;
}

static void init_trees(Body *body)
{
    tree_init(&body->trees[0], body->reader != NULL ? key_reader_read : NULL, body->reader);
    for (size_t i = 1; i < body->tree_count; i++)
        tree_init(&body->trees[i], NULL, NULL);
}

Body *body_new(const SimTableInfo *info, Slab *slab)
{
    Body *body = mem_alloc(sizeof *body);

    body->info      = info;
    body->slab      = slab;
    body->clustered = info->index_count > 0 && info->indexes[0]->is_clustered ? info->indexes[0]
                                                                              : NULL;
    if (body->clustered != NULL) body->reader = key_reader_new(info, body->clustered);
    body->tree_count = info->index_count + (body->clustered == NULL);
    body->trees      = mem_alloc(body->tree_count * sizeof *body->trees);
    init_trees(body);
    return body;
}

static void free_place(void *arg, Item *place)
{
    for (SimRow *row = place->ref, *previous; row != NULL; row = previous) {
        previous = row->previous;
        row_release(row);
    }
    place_free(arg, place);
}

static void free_entry(void *arg, Item *entry)
{
    (void)arg;
    item_free(entry);
}

void body_free_rows(Body *body, SimServer *server)
{
    for (size_t i = body->tree_count; i-- > 1;)
        tree_clear(&body->trees[i], free_entry, NULL);
    tree_clear(&body->trees[0], free_place, server);
    init_trees(body);
}

void body_free(Body *body, SimServer *server)
{
    if (body == NULL) return;
    body_free_rows(body, server);
    for (size_t i = 0; i < body->tree_count; i++)
        tree_clear(&body->trees[i], NULL, NULL);
    mem_free(body->trees);
    mem_free(body->reader);
    mem_free(body);
}

Tree *body_tree(const Body *body, const SimIndex *index)
{
    if (index == NULL) return &body->trees[0];
    for (size_t i = 0; i < body->info->index_count; i++)
        if (body->info->indexes[i] == index) return &body->trees[i + (body->clustered == NULL)];
    return NULL;
}

void body_place_key(const Body *body, const SimRow *row, Buf *out)
{
    if (body->clustered != NULL) row_index_key(body->info, body->clustered, row, out);
}

bool body_place_is_unique(const Body *body)
{
    return body->clustered != NULL && body->clustered->is_unique;
}

static Item *place_new(Body *body, Bytes key)
{
    static const Bytes none = {NULL, 0};
    uint8_t            id[8];

    if (body->reader != NULL) return item_new(body->slab, NULL, none, none);
    if (body_place_is_unique(body)) return item_new(body->slab, NULL, key, none);
    uint64_t number = ++body->next_row_id;
    for (size_t i = 0; i < 8; i++)
        id[i] = (uint8_t)(number >> (56 - 8 * i));
    return item_new(body->slab, NULL, key, (Bytes){id, 8});
}

Item *body_add_place(Body *body, Bytes key)
{
    Item *place = place_new(body, key);

    if (tree_insert(&body->trees[0], place, body->reader != NULL ? key : item_key(place)))
        return place;
    item_free(place);
    return NULL;
}

/* --- entries of the other indexes: their key, then the place's --- */

static size_t first_index(const Body *body)
{
    return body->clustered != NULL ? 1 : 0;
}

static Tree *tree_of_index(Body *body, size_t i)
{
    return &body->trees[i + (body->clustered == NULL)];
}

void body_entry_key(const Body *body, const SimIndex *index, const SimRow *row, const Item *place,
                    Buf *out)
{
    buf_clear(out);
    row_index_key(body->info, index, row, out);
    if (body->reader != NULL)
        body_place_key(body, row, out);
    else
        buf_append_bytes(out, place->key, place->key_len);
}

static Item *find_entry(Body *body, size_t i, const SimRow *row, const Item *place, Buf *scratch)
{
    body_entry_key(body, body->info->indexes[i], row, place, scratch);
    return tree_find(tree_of_index(body, i), str_bytes(buf_str(scratch)));
}

static bool has_columns(const SimRow *row)
{
    return row != NULL && !(row->flags & ROW_TOMBSTONE);
}

static void mark_stale(Item *entry)
{
    if (entry != NULL) atomic_fetch_or(&entry->flags, ITEM_STALE);
}

void body_add_entries(Body *body, Item *place, SimRow *row, const SimRow *before, Buf *scratch)
{
    for (size_t i = first_index(body); i < body->info->index_count; i++) {
        Item *old = has_columns(before) ? find_entry(body, i, before, place, scratch) : NULL;
        if (!has_columns(row)) {
            mark_stale(old);
            continue;
        }
        Item *entry = find_entry(body, i, row, place, scratch);
        if (entry != NULL && entry == old) continue;
        mark_stale(old);
        if (entry != NULL) { /* a key it had before in this transaction */
            mark_stale(entry);
            continue;
        }
        entry = item_new(body->slab, place, str_bytes(buf_str(scratch)), (Bytes){NULL, 0});
        atomic_init(&entry->flags, before != NULL ? ITEM_STALE : 0);
        bool added = tree_insert(tree_of_index(body, i), entry, item_key(entry));
        assert(added);
    }
}

/* Some version below `row` still has this entry's key. */
static bool chain_has_key(Body *body, size_t i, const SimRow *from, const Item *place,
                          const Item *entry, Buf *scratch)
{
    for (const SimRow *row = from; row != NULL; row = row->previous)
        if (has_columns(row) && find_entry(body, i, row, place, scratch) == entry) return true;
    return false;
}

void body_remove_entries(Body *body, Item *place, SimRow *row, const SimRow *before, Buf *scratch)
{
    if (!has_columns(row)) return;
    for (size_t i = first_index(body); i < body->info->index_count; i++) {
        Item *entry = find_entry(body, i, row, place, scratch);
        if (entry == NULL || chain_has_key(body, i, before, place, entry, scratch)) continue;
        (void)tree_remove(tree_of_index(body, i), entry);
        item_free(entry);
    }
}

void body_drop_entries(Body *body, Item *place, const SimRow *gone, Buf *scratch)
{
    if (!has_columns(gone)) return;
    for (size_t i = first_index(body); i < body->info->index_count; i++) {
        Item *entry = find_entry(body, i, gone, place, scratch);
        if (entry == NULL || chain_has_key(body, i, place_head(place), place, entry, scratch))
            continue;
        (void)tree_remove(tree_of_index(body, i), entry);
        item_free(entry);
    }
}

void body_settle_alone(SimTable *table, Body *body, Item *place, Buf *scratch)
{
    SimRow *head = place_head(place);

    for (size_t i = first_index(body); has_columns(head) && i < body->info->index_count; i++) {
        Item *entry = find_entry(body, i, head, place, scratch);
        if (entry != NULL) atomic_fetch_and(&entry->flags, (uint8_t)~ITEM_STALE);
    }
    if (has_columns(head) || atomic_load(&place->flags) & ITEM_KEPT) return;
    (void)tree_remove(&body->trees[0], place);
    row_retire(table, head);
    place_free(table->database->server, place);
}
