/* list.c - how LIST_PUSH makes room. */
#include "base/list.h"

#include "base/base_internal.h"

#define LIST_ITEMS_MIN 8

void list_grow(Arena *arena, void **items, size_t *count, size_t *capacity, size_t item_size)
{
    /* `*items` is really a `T *`, which must not be read or written as a `void *`: hence memcpy. */
    char *ptr;
    memcpy(&ptr, items, sizeof ptr);

    if (*count == *capacity) {
        size_t wanted = *capacity ? *capacity * 2 : LIST_ITEMS_MIN;
        if (wanted < *capacity || wanted > SIZE_MAX / item_size) base_fatal("out of memory");
        if (ptr == NULL || !arena_extend(arena, ptr, *capacity * item_size, wanted * item_size)) {
            char *moved = arena_alloc_uninit(arena, wanted * item_size);
            if (ptr != NULL) memcpy(moved, ptr, *count * item_size);
            ptr = moved;
            memcpy(items, &ptr, sizeof ptr);
        }
        *capacity = wanted;
    }
    memset(ptr + *count * item_size, 0, item_size);
    (*count)++;
}
