/* The live files of a version: found by key, walked in the order in which they came. A table may
 * have millions of them, so an entry is a pointer, and the key stands in the file's own block. */
#include "delta/delta_internal.h"

#include <string.h>

#include "base/slab.h"

#include <assert.h>

#define SLOTS_MIN 16

/* `tag` keeps most lookups from following a pointer to a key that is another. */
typedef struct Slot {
    uint32_t place; /* 0: empty, else 1 + the entry's index */
    uint32_t tag;   /* of the key's hash */
} Slot;

struct FileSet {
    Slab      *slab;    /* the files */
    LiveFile **entries; /* half as many as slots; NULL: removed */
    Slot      *slots;   /* a power of two of them */
    size_t     entry_count, live_count, slot_count;
};

Str live_file_key(const LiveFile *live)
{
    return (Str){live->file.path.ptr, live->key_len};
}

FileSet *file_set_new(void)
{
    FileSet *set = mem_alloc(sizeof *set);
    set->slab    = slab_new();
    return set;
}

LiveFile *file_set_alloc(FileSet *set, size_t bytes)
{
    LiveFile *live = slab_alloc(set->slab, bytes);
    assert(bytes < (size_t)1 << 31); /* it came out of a file that was read whole */
    *live = (LiveFile){.bytes = (uint32_t)bytes & INT32_MAX};
    return live;
}

void file_set_free(LiveFile *live)
{
    if (live) slab_free(live, live->bytes);
}

void file_set_close(FileSet *set)
{
    if (!set) return;
    for (size_t i = 0; i < set->entry_count; i++)
        file_set_free(set->entries[i]);
    slab_close(set->slab);
    mem_free(set->entries);
    mem_free(set->slots);
    mem_free(set);
}

size_t file_set_count(const FileSet *set)
{
    return set->live_count;
}

/* The place of the entry with that key; NULL: there is none. */
static LiveFile **find_place(const FileSet *set, Str key, uint32_t tag)
{
    if (set->slot_count == 0) return NULL;
    size_t mask = set->slot_count - 1;
    for (size_t at = tag & mask; set->slots[at].place != 0; at = (at + 1) & mask) {
        LiveFile **place = &set->entries[set->slots[at].place - 1];
        if (set->slots[at].tag == tag && *place && str_equal(live_file_key(*place), key))
            return place;
    }
    return NULL;
}

/* By the path alone, so that the same path with another vector is met on the way. */
static uint32_t tag_of(Str key)
{
    const char *end = memchr(key.ptr, '\0', key.len);
    return (uint32_t)str_hash(end ? str_slice(key, 0, (size_t)(end - key.ptr)) : key);
}

bool file_set_has_twin(const FileSet *set, const LiveFile *live)
{
    uint32_t tag  = tag_of(live_file_key(live));
    size_t   mask = set->slot_count - 1;

    for (size_t at = tag & mask; set->slots[at].place != 0; at = (at + 1) & mask) {
        const LiveFile *other = set->entries[set->slots[at].place - 1];
        if (set->slots[at].tag == tag && other && other != live &&
            str_equal(other->file.path, live->file.path))
            return true;
    }
    return false;
}

static void fill_slot(FileSet *set, size_t index, uint32_t tag)
{
    size_t mask = set->slot_count - 1;
    size_t at   = tag & mask;

    while (set->slots[at].place != 0)
        at = (at + 1) & mask;
    set->slots[at] = (Slot){.place = (uint32_t)(index + 1), .tag = tag};
}

/* Drops removed entries and makes room for `count` live ones. */
static void rehash(FileSet *set, size_t count)
{
    size_t slot_count = SLOTS_MIN, kept = 0;

    while (slot_count / 2 < count)
        slot_count *= 2;
    LiveFile **entries = mem_alloc(slot_count / 2 * sizeof *entries);
    for (size_t i = 0; i < set->entry_count; i++)
        if (set->entries[i]) entries[kept++] = set->entries[i];
    mem_free(set->entries);
    mem_free(set->slots);
    set->entries     = entries;
    set->entry_count = kept;
    set->slots       = mem_alloc(slot_count * sizeof *set->slots);
    set->slot_count  = slot_count;
    for (size_t i = 0; i < kept; i++)
        fill_slot(set, i, tag_of(live_file_key(entries[i])));
}

void file_set_reserve(FileSet *set, size_t count)
{
    if (count > set->slot_count / 2) rehash(set, count);
}

void file_set_expect(const FileSet *set, Str key)
{
    if (set->slot_count > 0)
        __builtin_prefetch(&set->slots[tag_of(key) & (set->slot_count - 1)], 1);
}

LiveFile *file_set_find(const FileSet *set, Str key)
{
    LiveFile **place = find_place(set, key, tag_of(key));
    return place ? *place : NULL;
}

LiveFile *file_set_put(FileSet *set, LiveFile *live)
{
    uint32_t   tag   = tag_of(live_file_key(live));
    LiveFile **place = find_place(set, live_file_key(live), tag);

    if (place) {
        LiveFile *before = *place;
        *place           = live;
        return before;
    }
    if (set->entry_count >= set->slot_count / 2) rehash(set, 2 * (set->live_count + 1));
    set->entries[set->entry_count] = live;
    fill_slot(set, set->entry_count, tag);
    set->entry_count++;
    set->live_count++;
    return NULL;
}

LiveFile *file_set_remove(FileSet *set, Str key)
{
    LiveFile **place = find_place(set, key, tag_of(key));
    if (!place) return NULL;

    LiveFile *before = *place;
    *place           = NULL;
    set->live_count--;
    return before;
}

LiveFile *file_set_next(const FileSet *set, size_t *at)
{
    while (*at < set->entry_count) {
        LiveFile *live = set->entries[(*at)++];
        if (live) return live;
    }
    return NULL;
}
