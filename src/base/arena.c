/* arena.c - memory in chunks that are freed together; also the only caller of malloc. */
#include "base/arena.h"

#include "base/base_internal.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Under the address sanitizer what the arena has not handed out is poisoned, so that a use after
 * arena_reset is found. */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#define POISON(ptr, size)   __asan_poison_memory_region((ptr), (size))
#define UNPOISON(ptr, size) __asan_unpoison_memory_region((ptr), (size))
#else
#define POISON(ptr, size)   ((void)(ptr), (void)(size))
#define UNPOISON(ptr, size) ((void)(ptr), (void)(size))
#endif

#define ALIGNMENT       alignof(max_align_t)
#define CHUNK_BYTES_MIN ((size_t)16 << 10)
#define CHUNK_BYTES_MAX ((size_t)1 << 20)
#define LARGE_BYTES     (16 << 20)
#define KEPT_BYTES_MAX  ((size_t)64 << 20) /* what arena_reset keeps for the next round */

typedef struct Chunk {
    struct Chunk *next;
    size_t        capacity;
    size_t        used;
    alignas(max_align_t) char bytes[];
} Chunk;

typedef struct End {
    struct End *next;
    void (*run)(void *arg);
    void *arg;
} End;

struct Arena {
    End   *ends;       /* in the arena's own memory */
    Chunk *current;    /* newest first; allocation happens in the first */
    Chunk *spare;      /* kept by arena_reset, empty */
    size_t next_bytes; /* capacity of the next new chunk */
    size_t used;
};

void base_fatal(const char *what)
{
    char line[128];
    int  len = snprintf(line, sizeof line, "tidelake: %s\n", what);

    if (len > 0) {
        ssize_t written = write(STDERR_FILENO, line, (size_t)len);
        (void)written;
    }
    _exit(1);
}

void *mem_alloc(size_t size)
{
    void *ptr = calloc(1, size ? size : 1);
    if (ptr == NULL) base_fatal("out of memory");
    return ptr;
}

void *mem_realloc(void *ptr, size_t size)
{
    void *moved = realloc(ptr, size ? size : 1);
    if (moved == NULL) base_fatal("out of memory");
    return moved;
}

void mem_free(void *ptr)
{
    free(ptr);
}

void mem_return_large_blocks(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES / 4); /* no longer derived from the other */
#endif
}

Arena *arena_new(void)
{
    Arena *arena      = mem_alloc(sizeof *arena);
    arena->next_bytes = CHUNK_BYTES_MIN;
    return arena;
}

static void free_chunk(Chunk *chunk)
{
    UNPOISON(chunk->bytes, chunk->capacity);
    free(chunk);
}

static void free_chunks(Chunk *chunk)
{
    while (chunk != NULL) {
        Chunk *next = chunk->next;
        free_chunk(chunk);
        chunk = next;
    }
}

void arena_at_end(Arena *arena, void (*end)(void *arg), void *arg)
{
    End *entry  = ARENA_NEW(arena, End);
    *entry      = (End){.next = arena->ends, .run = end, .arg = arg};
    arena->ends = entry;
}

static void run_ends(Arena *arena)
{
    for (End *end = arena->ends; end != NULL; end = end->next)
        end->run(end->arg);
    arena->ends = NULL;
}

void arena_close(Arena *arena)
{
    if (arena == NULL) return;
    run_ends(arena);
    free_chunks(arena->current);
    free_chunks(arena->spare);
    mem_free(arena);
}

void arena_reset(Arena *arena)
{
    size_t kept = 0;

    run_ends(arena);
    for (Chunk *chunk = arena->spare; chunk != NULL; chunk = chunk->next)
        kept += chunk->capacity;
    for (Chunk *chunk = arena->current, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        if (chunk->capacity > KEPT_BYTES_MAX - kept) {
            free_chunk(chunk);
            continue;
        }
        kept += chunk->capacity;
        chunk->used  = 0;
        chunk->next  = arena->spare;
        arena->spare = chunk;
        POISON(chunk->bytes, chunk->capacity);
    }
    arena->current = NULL;
    arena->used    = 0;
}

/* The smallest spare chunk that holds `size`, taken off the list: a large one stays for a large
 * request. */
static Chunk *take_spare(Arena *arena, size_t size)
{
    Chunk **best = NULL;

    for (Chunk **at = &arena->spare; *at != NULL; at = &(*at)->next)
        if ((*at)->capacity >= size && (best == NULL || (*at)->capacity < (*best)->capacity))
            best = at;
    if (best == NULL) return NULL;

    Chunk *chunk = *best;
    *best        = chunk->next;
    return chunk;
}

static Chunk *new_chunk(Arena *arena, size_t size)
{
    size_t capacity = MAX(size, arena->next_bytes);

    if (capacity > SIZE_MAX - sizeof(Chunk)) base_fatal("out of memory");
    Chunk *chunk = malloc(sizeof(Chunk) + capacity);
    if (chunk == NULL) base_fatal("out of memory");
    *chunk = (Chunk){.capacity = capacity};
    POISON(chunk->bytes, capacity);
    arena->next_bytes = MIN(arena->next_bytes * 2, CHUNK_BYTES_MAX);
    return chunk;
}

static void *alloc_from_new_chunk(Arena *arena, size_t size)
{
    Chunk *chunk = take_spare(arena, size);
    Chunk *first = arena->current;

    if (chunk == NULL) chunk = new_chunk(arena, size);
    chunk->used = size;

    /* The chunk with more room left is the one to go on with. */
    if (first != NULL && first->capacity - first->used > chunk->capacity - size) {
        chunk->next = first->next;
        first->next = chunk;
    } else {
        chunk->next    = first;
        arena->current = chunk;
    }
    return chunk->bytes;
}

/* Size 0 gives a valid pointer too, one that nothing else has. */
static size_t round_up(size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT) base_fatal("out of memory");
    return size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *arena_alloc_uninit(Arena *arena, size_t size)
{
    size_t rounded = round_up(size);
    Chunk *chunk   = arena->current;
    void  *ptr;

    if (chunk != NULL && chunk->capacity - chunk->used >= rounded) {
        ptr = chunk->bytes + chunk->used;
        chunk->used += rounded;
    } else {
        ptr = alloc_from_new_chunk(arena, rounded);
    }
    arena->used += rounded;
    UNPOISON(ptr, size);
    return ptr;
}

void *arena_alloc(Arena *arena, size_t size)
{
    void *ptr = arena_alloc_uninit(arena, size);
    memset(ptr, 0, size);
    return ptr;
}

void *arena_alloc_array(Arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) base_fatal("out of memory");
    return arena_alloc(arena, count * size);
}

bool arena_extend(Arena *arena, void *ptr, size_t old_size, size_t new_size)
{
    Chunk *chunk       = arena->current;
    size_t old_rounded = round_up(old_size);
    size_t new_rounded = round_up(new_size);

    assert(new_size >= old_size);
    if (chunk == NULL || chunk->used < old_rounded) return false;
    if ((char *)ptr != chunk->bytes + chunk->used - old_rounded) return false; /* not the newest */
    if (new_rounded - old_rounded > chunk->capacity - chunk->used) return false;

    chunk->used += new_rounded - old_rounded;
    arena->used += new_rounded - old_rounded;
    UNPOISON(ptr, new_size);
    return true;
}

size_t arena_used(const Arena *arena)
{
    return arena->used;
}
