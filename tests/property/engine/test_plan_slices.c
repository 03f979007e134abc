/* Whatever the keys, the chunks tile the table up to its MAX (T4.8). */
#include "support/test_support.h"

#include "support/key_column.h"

#define KEYS 200

static int64_t random_key(Rng *rng, uint64_t shape)
{
    switch (shape) {
    case 0: return (int64_t)rng_below(rng, 400) - 200;          /* dense, with repeats */
    case 1: return (int64_t)rng_below(rng, 1000000000) - 50000; /* sparse */
    case 2: return (int64_t)rng_u64(rng);                       /* the whole of bigint */
    case 3: return (int64_t)rng_below(rng, 5) * 1000003;        /* few values, often */
    default:
        switch (rng_below(rng, 4)) { /* a cluster and the ends */
        case 0: return INT64_MAX - (int64_t)rng_below(rng, 2);
        case 1: return INT64_MIN + (int64_t)rng_below(rng, 2);
        default: return (int64_t)rng_below(rng, 150);
        }
    }
}

static void assert_chunk(const KeyColumnModel *model, const KeyInterval *chunk, int64_t chunk_rows,
                         size_t *seen)
{
    const int64_t *first = NULL, *last = NULL;
    int64_t        held = 0;

    for (size_t i = 0; i < model->count; i++) {
        if (!interval_holds(chunk, model->keys[i])) continue;
        if (!first) first = &model->keys[i];
        last = &model->keys[i];
        held++;
    }
    assert_true(held > 0);
    if (held > chunk_rows) assert_true(*first == *last);
    *seen += (size_t)held;
}

static void chunks_tile_up_to_max(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Rng           *rng   = rng_new(seed);
        Arena         *arena = arena_new();
        uint64_t       shape = rng_below(rng, 5);
        KeyColumnModel model = {.keys = ARENA_ARRAY(arena, int64_t, KEYS + 5)};
        size_t         count = 1 + rng_below(rng, KEYS), late = rng_below(rng, 6), seen = 0;
        int64_t        chunk_rows = 1 + (int64_t)rng_below(rng, 40);
        CutSource      source     = key_column_source(&model);
        SlicePlan      plan;
        Err            err = {0};

        for (; model.count < count; model.count++)
            model.keys[model.count] = random_key(rng, shape);
        qsort(model.keys, model.count, sizeof *model.keys, compare_keys);
        KeyExtent extent = key_column_extent(&model);
        for (size_t i = 0; i < late; i++)
            model.keys[model.count++] = random_key(rng, shape);
        qsort(model.keys, model.count, sizeof *model.keys, compare_keys);

        assert_true(plan_slices(&source, extent, (int64_t)rng_below(rng, 401), chunk_rows, arena,
                                &plan, &err));
        assert_true(plan.ends[plan.chunk_count - 1] == (WideKey)extent.max + 1);
        for (size_t i = 0; i < plan.chunk_count; i++) {
            KeyInterval chunk = {i > 0, true, i ? plan.ends[i - 1] : 0, plan.ends[i]};

            if (i > 0) assert_true(chunk.from < chunk.hi);
            assert_chunk(&model, &chunk, chunk_rows, &seen);
        }
        size_t wanted = 0;
        for (size_t i = 0; i < model.count; i++)
            wanted += model.keys[i] <= extent.max;
        assert_int_equal(seen, wanted);
        arena_close(arena);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {property_test(chunks_tile_up_to_max)};

    return RUN_TESTS(cases);
}
