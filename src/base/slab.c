/* slab.c - pages of 64 KiB, each of things of one size; a page is found from a thing by its address.
 *
 * A class of sizes has a list of pages with room. A page whose last thing is freed goes back to the slab, for any class. Under
 * the address sanitizer everything comes from the heap, so that it watches each thing. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "base/slab.h"

#include "base/arena.h"
#include "base/base_internal.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define SLAB_IS_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLAB_IS_HEAP 1
#endif
#endif
#ifndef SLAB_IS_HEAP
#define SLAB_IS_HEAP 0
#endif

#define PAGE_BYTES   ((size_t)64 << 10)
#define REGION_BYTES ((size_t)4 << 20) /* fetched at once */
#define LARGE_BYTES  ((size_t)2 << 20) /* a large page of the machine */
#define FINE_MOST    512               /* steps of 8 up to here, of 64 behind */
#define FINE_CLASSES (FINE_MOST / 8)
#define CLASS_COUNT  (FINE_CLASSES + (SLAB_BYTES_MOST - FINE_MOST) / 64)

typedef struct Page {
    Slab        *slab;
    struct Page *previous, *next; /* of its class, while it has room */
    void        *free;            /* things given back, each points to the next */
    uint32_t     class_index, used, made, capacity;
} Page;

typedef struct Class {
    pthread_mutex_t mutex;
    Page           *pages; /* with room */
} Class;

typedef struct Region {
    struct Region *next;
    char          *first; /* REGION_BYTES from here */
} Region;

struct Slab {
    Class           classes[CLASS_COUNT];
    pthread_mutex_t mutex; /* of what follows; after a class's */
    Region         *regions;
    char           *fresh, *fresh_end; /* of the newest region: pages never used */
    Page           *free;              /* pages given back */
    size_t          used_bytes;
};

static size_t class_of(size_t size)
{
    if (size <= FINE_MOST) return size > 8 ? (size - 1) / 8 : 0;
    return FINE_CLASSES + (size - FINE_MOST - 1) / 64;
}

static size_t bytes_of(size_t class_index)
{
    return class_index < FINE_CLASSES ? 8 * (class_index + 1)
                                      : FINE_MOST + 64 * (class_index - FINE_CLASSES + 1);
}

Slab *slab_new(void)
{
    Slab *slab   = mem_alloc(sizeof *slab);
    int   failed = pthread_mutex_init(&slab->mutex, NULL);

    for (size_t i = 0; i < CLASS_COUNT; i++)
        failed |= pthread_mutex_init(&slab->classes[i].mutex, NULL);
    assert(failed == 0);
    return slab;
}

void slab_close(Slab *slab)
{
    if (slab == NULL) return;
    for (Region *region = slab->regions, *next; region != NULL; region = next) {
        next = region->next;
        (void)munmap(region->first, REGION_BYTES);
        mem_free(region);
    }
    for (size_t i = 0; i < CLASS_COUNT; i++)
        (void)pthread_mutex_destroy(&slab->classes[i].mutex);
    (void)pthread_mutex_destroy(&slab->mutex);
    mem_free(slab);
}

/* --- pages --- */

/* `align` is a power of two. */
static char *map_aligned(size_t align)
{
    char *start = mmap(NULL, REGION_BYTES + align, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) base_fatal("out of memory");
    size_t skip = (align - ((uintptr_t)start & (align - 1))) & (align - 1);
    if (skip > 0) (void)munmap(start, skip);
    (void)munmap(start + skip + REGION_BYTES, align - skip);
    return start + skip;
}

/* With the slab's mutex. Not from the heap, where what lasts would stand between what a statement
 * takes and gives back. What needs more than one region will need many: large pages save it most
 * page faults. */
static void fetch_region(Slab *slab)
{
    Region *region = mem_alloc(sizeof *region);
    bool    large  = slab->regions != NULL;

    *region = (Region){.next  = slab->regions,
                       .first = map_aligned(large ? LARGE_BYTES : PAGE_BYTES)};
    if (large) (void)madvise(region->first, REGION_BYTES, MADV_HUGEPAGE);
    slab->regions   = region;
    slab->fresh     = region->first;
    slab->fresh_end = region->first + REGION_BYTES;
}

static Page *fetch_page(Slab *slab)
{
    if (slab->free != NULL) {
        Page *page = slab->free;
        slab->free = page->next;
        return page;
    }
    if (slab->fresh == slab->fresh_end) fetch_region(slab);
    slab->fresh += PAGE_BYTES;
    return (Page *)(void *)(slab->fresh - PAGE_BYTES);
}

static Page *page_new(Slab *slab, size_t class_index)
{
    (void)pthread_mutex_lock(&slab->mutex);
    Page *page = fetch_page(slab);
    slab->used_bytes += PAGE_BYTES;
    (void)pthread_mutex_unlock(&slab->mutex);
    *page = (Page){.slab        = slab,
                   .class_index = (uint32_t)class_index,
                   .capacity    = (uint32_t)((PAGE_BYTES - sizeof *page) / bytes_of(class_index))};
    return page;
}

static void page_free(Slab *slab, Page *page)
{
    (void)pthread_mutex_lock(&slab->mutex);
    page->next = slab->free;
    slab->free = page;
    slab->used_bytes -= PAGE_BYTES;
    (void)pthread_mutex_unlock(&slab->mutex);
}

static void page_link(Class *class, Page *page)
{
    page->previous = NULL;
    page->next     = class->pages;
    if (page->next != NULL) page->next->previous = page;
    class->pages = page;
}

static void page_unlink(Class *class, Page *page)
{
    if (page->next != NULL) page->next->previous = page->previous;
    if (page->previous != NULL)
        page->previous->next = page->next;
    else
        class->pages = page->next;
}

/* --- things --- */

void *slab_alloc(Slab *slab, size_t size)
{
    if (SLAB_IS_HEAP || size > SLAB_BYTES_MOST) return mem_realloc(NULL, size);
    size_t class_index = class_of(size);
    Class *class       = &slab->classes[class_index];

    (void)pthread_mutex_lock(&class->mutex);
    if (class->pages == NULL) page_link(class, page_new(slab, class_index));
    Page *page  = class->pages;
    void *thing = page->free;
    if (thing != NULL)
        page->free = *(void **)thing;
    else
        thing = (char *)(page + 1) + bytes_of(class_index) * page->made++;
    if (++page->used == page->capacity) page_unlink(class, page);
    (void)pthread_mutex_unlock(&class->mutex);
    return thing;
}

void slab_free(void *ptr, size_t size)
{
    if (SLAB_IS_HEAP || ptr == NULL || size > SLAB_BYTES_MOST) {
        mem_free(ptr);
        return;
    }
    Page *page   = (Page *)(void *)((char *)ptr - ((uintptr_t)ptr & (PAGE_BYTES - 1)));
    Slab *slab   = page->slab;
    Class *class = &slab->classes[page->class_index];

    assert(page->class_index == class_of(size));
    (void)pthread_mutex_lock(&class->mutex);
    if (page->used == page->capacity) page_link(class, page);
    *(void **)ptr = page->free;
    page->free    = ptr;
    bool is_empty = --page->used == 0;
    if (is_empty) page_unlink(class, page);
    (void)pthread_mutex_unlock(&class->mutex);
    if (is_empty) page_free(slab, page);
}

size_t slab_used(Slab *slab)
{
    (void)pthread_mutex_lock(&slab->mutex);
    size_t used = slab->used_bytes;
    (void)pthread_mutex_unlock(&slab->mutex);
    return used;
}
