/* map.c - open addressing over an array of entries that keeps the order of insertion. */
#include "base/map.h"

#include "base/arena.h"

#include <assert.h>
#include <string.h>

#define SLOT_EMPTY \
    0 /* else 1 + the entry's index; a removed entry keeps its slot until the next rehash */
#define SLOTS_MIN 16

typedef struct Entry {
    Str      key;
    void    *value; /* NULL: removed */
    uint64_t hash;
} Entry;

struct Map {
    Entry  *entries; /* slot_count / 2 of them */
    size_t *slots;   /* slot_count, a power of two */
    size_t  entry_count;
    size_t  live_count;
    size_t  slot_count;
};

Map *map_new(void)
{
    return mem_alloc(sizeof(Map));
}

void map_close(Map *map)
{
    if (map == NULL) return;
    mem_free(map->entries);
    mem_free(map->slots);
    mem_free(map);
}

size_t map_count(const Map *map)
{
    return map->live_count;
}

static Entry *find_entry(const Map *map, Str key, uint64_t hash)
{
    if (map->slot_count == 0) return NULL;
    size_t mask = map->slot_count - 1;
    for (size_t at = hash & mask; map->slots[at] != SLOT_EMPTY; at = (at + 1) & mask) {
        Entry *entry = &map->entries[map->slots[at] - 1];
        if (entry->value != NULL && entry->hash == hash && str_equal(entry->key, key)) return entry;
    }
    return NULL;
}

static void fill_slot(Map *map, size_t index)
{
    size_t mask = map->slot_count - 1;
    size_t at   = map->entries[index].hash & mask;

    while (map->slots[at] != SLOT_EMPTY)
        at = (at + 1) & mask;
    map->slots[at] = index + 1;
}

/* Drops removed entries and makes the table at least twice as large as what lives in it. */
static void rehash(Map *map)
{
    size_t slot_count = SLOTS_MIN;
    size_t kept       = 0;

    while (slot_count < 4 * (map->live_count + 1))
        slot_count *= 2;
    Entry *entries = mem_alloc(slot_count / 2 * sizeof *entries);
    for (size_t i = 0; i < map->entry_count; i++)
        if (map->entries[i].value != NULL) entries[kept++] = map->entries[i];

    mem_free(map->entries);
    mem_free(map->slots);
    map->entries     = entries;
    map->entry_count = kept;
    map->slots       = mem_alloc(slot_count * sizeof *map->slots);
    map->slot_count  = slot_count;
    for (size_t i = 0; i < kept; i++)
        fill_slot(map, i);
}

void *map_find(const Map *map, Str key)
{
    const Entry *entry = find_entry(map, key, str_hash(key));
    return entry ? entry->value : NULL;
}

void *map_put(Map *map, Str key, void *value)
{
    uint64_t hash  = str_hash(key);
    Entry   *entry = find_entry(map, key, hash);

    assert(value != NULL);
    if (entry != NULL) {
        void *before = entry->value;
        entry->value = value;
        entry->key =
            key; /* the new key's bytes live as long as the new value; the old ones may go */
        return before;
    }
    if (map->entry_count >= map->slot_count / 2) rehash(map);
    map->entries[map->entry_count] = (Entry){.key = key, .value = value, .hash = hash};
    fill_slot(map, map->entry_count);
    map->entry_count++;
    map->live_count++;
    return NULL;
}

void *map_remove(Map *map, Str key)
{
    Entry *entry = find_entry(map, key, str_hash(key));
    if (entry == NULL) return NULL;

    void *before = entry->value;
    entry->value = NULL;
    entry->key   = STR_EMPTY;
    map->live_count--;
    return before;
}

bool map_next(const Map *map, size_t *at, Str *key_out, void **value_out)
{
    for (; *at < map->entry_count; (*at)++) {
        const Entry *entry = &map->entries[*at];
        if (entry->value == NULL) continue;
        *key_out   = entry->key;
        *value_out = entry->value;
        (*at)++;
        return true;
    }
    return false;
}
