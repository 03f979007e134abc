/* Small memory: what is handed out overlaps nothing, comes back, and threads may share it. */
#include "base/arena.h"
#include "base/slab.h"

#include "support/test_support.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define THINGS 20000

typedef struct Thing {
    uint8_t *bytes;
    size_t   size;
    uint8_t  mark;
} Thing;

static size_t size_at(size_t i)
{
    return 1 + (i * 7919) % (SLAB_BYTES_MOST + 200); /* some too large for a page */
}

static void assert_whole(const Thing *thing)
{
    for (size_t i = 0; i < thing->size; i++)
        assert_int_equal(thing->bytes[i], thing->mark);
}

static void make(Slab *slab, Thing *thing, size_t i)
{
    *thing = (Thing){slab_alloc(slab, size_at(i)), size_at(i), (uint8_t)(i * 31)};
    assert_int_equal((uintptr_t)thing->bytes % 8, 0);
    memset(thing->bytes, thing->mark, thing->size);
}

static void things_do_not_overlap_and_can_be_given_back_in_any_order(void **state)
{
    Slab  *slab   = slab_new();
    Thing *things = mem_alloc(THINGS * sizeof *things);

    (void)state;
    for (size_t i = 0; i < THINGS; i++)
        make(slab, &things[i], i);
    for (size_t i = 0; i < THINGS; i += 3) {
        assert_whole(&things[i]);
        slab_free(things[i].bytes, things[i].size);
        make(slab, &things[i], i * 5 + 1);
    }
    for (size_t i = 0; i < THINGS; i++) {
        size_t at = i * 7 % THINGS; /* 7 does not divide it */
        assert_whole(&things[at]);
        slab_free(things[at].bytes, things[at].size);
    }
    assert_int_equal(slab_used(slab), 0); /* every page was given back */
    slab_free(NULL, 8);
    mem_free(things);
    slab_close(slab);
}

static void a_page_serves_another_size_later(void **state)
{
    Slab  *slab   = slab_new();
    Thing *things = mem_alloc(THINGS * sizeof *things);
    size_t used[2];

    (void)state;
    for (size_t size = 0; size < 2; size++) {
        for (size_t i = 0; i < THINGS; i++)
            things[i].bytes = slab_alloc(slab, size ? 48 : 40);
        used[size] = slab_used(slab);
        for (size_t i = 0; i < THINGS; i++)
            slab_free(things[i].bytes, size ? 48 : 40);
    }
    assert_true(used[0] <= (size_t)THINGS * 42 + 65536);
    assert_true(used[1] <= (size_t)THINGS * 50 + 65536);
    mem_free(things);
    slab_close(slab);
}

static void *churn(void *arg)
{
    Thing things[64] = {{NULL, 0, 0}};

    for (size_t i = 0; i < THINGS; i++) {
        Thing *thing = &things[i % 64];
        if (thing->bytes) assert_whole(thing);
        slab_free(thing->bytes, thing->size);
        make(arg, thing, i);
    }
    for (size_t i = 0; i < 64; i++)
        slab_free(things[i].bytes, things[i].size);
    return NULL;
}

static void threads_share_it(void **state)
{
    Slab     *slab = slab_new();
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, slab), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(slab_used(slab), 0);
    slab_close(slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_do_not_overlap_and_can_be_given_back_in_any_order),
        cmocka_unit_test(a_page_serves_another_size_later),
        cmocka_unit_test(threads_share_it),
    };

    return cmocka_run_group_tests_name("slab", tests, NULL, NULL);
}
