/* list.h - growing arrays in an arena: a struct {T *items; size_t count, capacity;} per element
 * type. */
#ifndef TIDELAKE_BASE_LIST_H
#define TIDELAKE_BASE_LIST_H

#include "base/arena.h"

#define LIST(Type)       \
    struct {             \
        Type  *items;    \
        size_t count;    \
        size_t capacity; \
    }

/* Pointer to a new zeroed element at the end. Earlier pointers into `items` may move. */
#define LIST_PUSH(arena, list)                                                                  \
    (list_grow((arena), (void **)&(list)->items, &(list)->count, &(list)->capacity,             \
               sizeof(*(list)->items)), /* NOLINT(bugprone-sizeof-expression): pointers, too */ \
     &(list)->items[(list)->count - 1])

void list_grow(Arena *arena, void **items, size_t *count, size_t *capacity, size_t item_size);

#endif
