/* arena.h - memory that is freed together.
 *
 * Three lifetimes use it: the process, the task (a command, a batch) and the fetch (reset per
 * block of rows). Allocation zeroes and never returns NULL: running out of memory ends the
 * process, which is safe because crashing is a tested path. Sizes that come from outside are
 * checked against base/limits.h first. Not thread-safe: one per thread. */
#ifndef TIDELAKE_BASE_ARENA_H
#define TIDELAKE_BASE_ARENA_H

#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_new(void);
void   arena_close(Arena *arena); /* accepts NULL */
/* Forgets everything allocated, keeps the memory for the next round (up to a bound). */
void arena_reset(Arena *arena);

void *arena_alloc(Arena *arena, size_t size); /* zeroed, aligned for any type */
/* zeroed; overflow ends the process */
void *arena_alloc_array(Arena *arena, size_t count, size_t size);
void *arena_alloc_uninit(Arena *arena, size_t size); /* not zeroed: for large buffers */
/* Grows the newest allocation in place; false when it is not the newest or its chunk is full.
 * New bytes are not zeroed. */
bool   arena_extend(Arena *arena, void *ptr, size_t old_size, size_t new_size);
size_t arena_used(const Arena *arena); /* bytes handed out since the last reset */
/* Calls `end` before the memory goes, at the next reset or close; the newest first. For what others
 * know by a name and must not find any more. */
void arena_at_end(Arena *arena, void (*end)(void *arg), void *arg);

#define ARENA_NEW(arena, Type)          ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, count) ((Type *)arena_alloc_array((arena), (count), sizeof(Type)))

/* Memory with an owner of its own, for what outlives arenas and is grown or freed alone
 * (long-lived tables, queues). Zeroed, never NULL. */
void *mem_alloc(size_t size);
void *mem_realloc(void *ptr, size_t size); /* new bytes are not zeroed */
void  mem_free(void *ptr);                 /* accepts NULL */
/* From now on blocks of 16 MiB or more, whoever allocates them, go back to the system when they are freed. Else glibc
 * learns from each that is freed to keep the next of its size. Once, at the start of a program. */
void mem_return_large_blocks(void);

#endif
