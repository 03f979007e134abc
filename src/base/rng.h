/* rng.h - all randomness of the program: file ids, jitter, simulation. Seeded once; the same
 * seed gives the same sequence. Thread-safe (a lock), because file ids are made on several
 * threads. */
#ifndef TIDELAKE_BASE_RNG_H
#define TIDELAKE_BASE_RNG_H

#include "base/str.h"

typedef struct Rng Rng;

Rng     *rng_new(uint64_t seed);
Rng     *rng_new_from_entropy(void); /* getrandom */
void     rng_close(Rng *rng);        /* accepts NULL */
uint64_t rng_u64(Rng *rng);
uint64_t rng_below(Rng *rng, uint64_t bound);             /* uniform in [0, bound); bound > 0 */
int64_t  rng_between(Rng *rng, int64_t from, int64_t to); /* uniform in [from, to] */
double   rng_double(Rng *rng);                            /* uniform in [0, 1) */
Str      rng_uuid4(Rng *rng, Arena *arena);               /* lower case with hyphens */

#endif
