/* row.c - rows that are kept, keys made of values, and a hash table of keys. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <string.h>

void op_add_slot(Arena *arena, Op *op, int slot)
{
    for (size_t i = 0; i < op->slots.count; i++)
        if (op->slots.items[i] == slot) return;
    *LIST_PUSH(arena, &op->slots) = slot;
}

void op_add_slots(Arena *arena, Op *op, const SlotList *slots)
{
    for (size_t i = 0; i < slots->count; i++)
        op_add_slot(arena, op, slots->items[i]);
}

void op_keep_order(Op *op, const Op *from)
{
    op->order           = from->order;
    op->constants       = from->constants;
    op->order_is_unique = from->order_is_unique;
    op->at_most_one     = from->at_most_one;
}

static bool slot_is_constant(const Op *op, int slot)
{
    for (size_t i = 0; i < op->constants.count; i++)
        if (op->constants.items[i] == slot) return true;
    return false;
}

bool op_has_order(const Op *op, const SortItems *items)
{
    size_t at = 0;

    if (op->at_most_one) return true;
    for (size_t i = 0; i < items->count; i++) {
        const Node *node = items->items[i].node;
        if (node->kind != NODE_SLOT) {
            if (node_is_constant(node)) continue;
            return false;
        }
        if (slot_is_constant(op, node->slot)) continue;
        while (at < op->order.count && slot_is_constant(op, op->order.items[at].slot))
            at++;
        if (at == op->order.count) return op->order_is_unique;
        if (op->order.items[at].slot != node->slot ||
            op->order.items[at].descending != items->items[i].descending)
            return false;
        at++;
    }
    return true;
}

SimValue *tuple_save(Arena *arena, Exec *exec, const SlotList *slots)
{
    SimValue *tuple = arena_alloc_uninit(arena, (slots->count ? slots->count : 1) * sizeof *tuple);

    for (size_t i = 0; i < slots->count; i++)
        tuple[i] = value_copy(arena, exec_slot(exec, slots->items[i]));
    return tuple;
}

void tuple_restore(Exec *exec, const SlotList *slots, const SimValue *tuple)
{
    for (size_t i = 0; i < slots->count; i++)
        exec_set_slot(exec, slots->items[i], &tuple[i]);
}

bool key_is_whole(Exec *exec, const Buf *key)
{
    return !key->overflow ||
           sim_not_supported(exec->error, "a key of more than %zu bytes to sort or compare by",
                             key->limit);
}

bool key_of_nodes(Exec *exec, Node *const *nodes, size_t count, Buf *out, bool *has_null_out)
{
    *has_null_out = false;
    for (size_t i = 0; i < count; i++) {
        const SimValue *value = node_eval(nodes[i], exec);
        if (!value) return false;
        *has_null_out |= value->is_null;
        sim_sort_key(value, false, out);
    }
    return key_is_whole(exec, out);
}

/* --- hash table --- */
void key_table_init(KeyTable *table, Arena *arena)
{
    *table = (KeyTable){.arena = arena};
}

static void key_table_grow(KeyTable *table)
{
    size_t capacity = table->capacity ? table->capacity * 2 : 64;

    KeyEntry *entries = arena_alloc_uninit(table->arena, capacity * sizeof *entries);
    if (table->count) memcpy(entries, table->entries, table->count * sizeof *entries);
    table->entries      = entries;
    table->capacity     = capacity;
    table->bucket_count = capacity * 2;
    table->buckets      = arena_alloc(table->arena, table->bucket_count * sizeof *table->buckets);
    for (size_t i = 0; i < table->count; i++) {
        size_t at = (size_t)entries[i].hash & (table->bucket_count - 1);
        while (table->buckets[at])
            at = (at + 1) & (table->bucket_count - 1);
        table->buckets[at] = (uint32_t)i + 1;
    }
}

static KeyEntry *key_table_lookup(const KeyTable *table, Str key, uint64_t hash, size_t *at_out)
{
    size_t at = (size_t)hash & (table->bucket_count - 1);

    for (; table->buckets[at]; at = (at + 1) & (table->bucket_count - 1)) {
        KeyEntry *entry = &table->entries[table->buckets[at] - 1];
        if (entry->hash == hash && str_equal(entry->key, key)) return entry;
    }
    if (at_out) *at_out = at;
    return NULL;
}

KeyEntry *key_table_find(const KeyTable *table, Str key)
{
    return table->count == 0 ? NULL : key_table_lookup(table, key, str_hash(key), NULL);
}

KeyEntry *key_table_add(KeyTable *table, Str key, bool *is_new)
{
    uint64_t hash = str_hash(key);
    size_t   at   = 0;

    if (table->count == table->capacity) key_table_grow(table);
    KeyEntry *entry = key_table_lookup(table, key, hash, &at);
    if (is_new) *is_new = entry == NULL;
    if (entry) return entry;
    entry              = &table->entries[table->count++];
    *entry             = (KeyEntry){.key = str_copy(table->arena, key), .hash = hash};
    table->buckets[at] = (uint32_t)table->count;
    return entry;
}
