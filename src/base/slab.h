/* slab.h - memory for very many small things of many sizes, that come and go one by one: eight bytes are the finest step, and
 * a thing carries no header. Safe between threads. */
#ifndef TIDELAKE_BASE_SLAB_H
#define TIDELAKE_BASE_SLAB_H

#include <stddef.h>

typedef struct Slab Slab;

Slab *slab_new(void);
void  slab_close(
     Slab *slab); /* with everything of at most SLAB_BYTES_MOST that is left; accepts NULL */

#define SLAB_BYTES_MOST 2048 /* what is larger comes from the heap */

void *slab_alloc(Slab *slab, size_t size); /* not zeroed, aligned to 8, never NULL */
void  slab_free(void *ptr, size_t size);   /* `size` as it was asked for; accepts NULL */
/* Bytes of the pages that things are in now. */
size_t slab_used(Slab *slab);

#endif
