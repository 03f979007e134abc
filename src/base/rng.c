/* rng.c - xoshiro256** behind a lock. */
#include "base/rng.h"

#include "base/arena.h"
#include "base/base_internal.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/random.h>

struct Rng {
    pthread_mutex_t lock;
    uint64_t        state[4];
};

__extension__ typedef unsigned __int128 Uint128;

/* splitmix64: spreads a seed of few bits over the whole state, which must not be all zero. */
static uint64_t next_seed(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

Rng *rng_new(uint64_t seed)
{
    Rng *rng = mem_alloc(sizeof *rng);

    if (pthread_mutex_init(&rng->lock, NULL) != 0) base_fatal("no mutex");
    for (size_t i = 0; i < COUNT_OF(rng->state); i++)
        rng->state[i] = next_seed(&seed);
    return rng;
}

Rng *rng_new_from_entropy(void)
{
    Rng   *rng  = rng_new(0);
    char  *at   = (char *)rng->state;
    size_t left = sizeof rng->state;

    while (left > 0) {
        ssize_t got = getrandom(at, left, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) base_fatal("no randomness from the system");
        at += got;
        left -= (size_t)got;
    }
    rng->state[0] |= 1; /* never all zero */
    return rng;
}

void rng_close(Rng *rng)
{
    if (rng == NULL) return;
    (void)pthread_mutex_destroy(&rng->lock);
    mem_free(rng);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

uint64_t rng_u64(Rng *rng)
{
    (void)pthread_mutex_lock(&rng->lock);
    uint64_t *s      = rng->state;
    uint64_t  result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t  t      = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    (void)pthread_mutex_unlock(&rng->lock);
    return result;
}

/* Lemire: the high half of a product, thrown again in the few cases that would favour some
 * results. */
uint64_t rng_below(Rng *rng, uint64_t bound)
{
    assert(bound > 0);
    uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        Uint128 product = (Uint128)rng_u64(rng) * bound;
        if ((uint64_t)product >= threshold) return (uint64_t)(product >> 64);
    }
}

int64_t rng_between(Rng *rng, int64_t from, int64_t to)
{
    assert(from <= to);
    uint64_t span = (uint64_t)to - (uint64_t)from + 1; /* 0: all 2^64 */
    uint64_t step = span == 0 ? rng_u64(rng) : rng_below(rng, span);
    return (int64_t)((uint64_t)from + step);
}

double rng_double(Rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

Str rng_uuid4(Rng *rng, Arena *arena)
{
    uint64_t high = (rng_u64(rng) & ~(uint64_t)0xF000) | 0x4000;                 /* version 4 */
    uint64_t low  = (rng_u64(rng) & ~((uint64_t)3 << 62)) | ((uint64_t)2 << 62); /* variant 10 */

    return str_printf(arena, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32),
                      (unsigned)(high >> 16 & 0xFFFF), (unsigned)(high & 0xFFFF),
                      (unsigned)(low >> 48), (unsigned long long)(low & 0xFFFFFFFFFFFFu));
}
