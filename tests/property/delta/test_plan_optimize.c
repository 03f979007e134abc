/* Which files become one (delta.md 2.16), for whatever sizes: each is in one group at most, groups
 * fit the target, and what is left alone is not worth it. */
#include "support/test_support.h"

#include "base/rng.h"
#include "delta/plan_optimize.h"

#define FILES_MOST 300

static int64_t any_size(Rng *rng, int64_t target)
{
    switch (rng_below(rng, 4)) {
    case 0: return (int64_t)rng_below(rng, 100);
    case 1: return (int64_t)rng_below(rng, (uint64_t)target);
    case 2: return target + (int64_t)rng_below(rng, 3) - 1;
    default: return (int64_t)rng_below(rng, (uint64_t)target * 3);
    }
}

static PlanFile any_file(Rng *rng, int64_t target)
{
    PlanFile file = {.size_bytes = any_size(rng, target),
                     .row_count  = (int64_t)rng_below(rng, 1000)};
    if (rng_below(rng, 4) == 0) file.deleted_count = (int64_t)rng_below(rng, 1000);
    file.deleted_count = MIN(file.deleted_count, file.row_count);
    if (rng_below(rng, 20) == 0) file.row_count = -1;
    if (rng_below(rng, 20) == 0) file.deleted_count = -1;
    return file;
}

static bool must_be_purged(const PlanFile *file)
{
    return file->deleted_count != 0 && (file->deleted_count < 0 || file->row_count <= 0 ||
                                        file->deleted_count > file->row_count / 20);
}

static void every_file_is_in_one_group_at_most_and_every_group_is_worth_it(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 500) {
        Rng     *rng    = rng_new(seed);
        Arena   *arena  = arena_new();
        int64_t  target = 1 + (int64_t)rng_below(rng, 5000);
        size_t   count  = rng_below(rng, FILES_MOST);
        size_t   least  = rng_below(rng, 6);
        PlanFile files[FILES_MOST];
        int      seen[FILES_MOST] = {0};
        size_t   before           = 0;

        for (size_t i = 0; i < count; i++)
            files[i] = any_file(rng, target);
        OptimizePlan plan = plan_optimize(files, count, target, least, arena);
        for (size_t b = 0; b < plan.bin_count; b++) {
            const PlanBin *bin    = &plan.bins[b];
            int64_t        sum    = 0;
            bool           purges = false;
            assert_true(bin->file_count > 0);
            for (size_t i = 0; i < bin->file_count; i++) {
                const PlanFile *file = &files[bin->files[i]];
                if (i > 0) assert_true(bin->files[i] > bin->files[i - 1]);
                assert_int_equal(seen[bin->files[i]]++, 0);
                assert_true(file->size_bytes < target || must_be_purged(file));
                purges |= must_be_purged(file);
                sum += file->deleted_count > 0 && file->row_count > 0
                           ? (int64_t)((double)file->size_bytes *
                                       (1 - (double)file->deleted_count / (double)file->row_count))
                           : file->size_bytes;
            }
            assert_true(sum <= target || bin->file_count == 1);
            assert_int_equal(sum, bin->size_bytes);
            assert_true(purges || bin->file_count >= MAX(least, 2));
            if (b > 0) assert_true(bin->files[0] > before);
            before = bin->files[0];
        }
        for (size_t i = 0; i < count; i++)
            if (must_be_purged(&files[i])) assert_int_equal(seen[i], 1);
        arena_close(arena);
        rng_close(rng);
    }
}

/* Two files left over that fit into one would have been put together. */
static void nothing_that_fits_together_is_left_over(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 300) {
        Rng     *rng    = rng_new(seed);
        Arena   *arena  = arena_new();
        int64_t  target = 100 + (int64_t)rng_below(rng, 1000);
        size_t   count  = 2 + rng_below(rng, 20); /* no more than groups are open at once */
        PlanFile files[32];
        bool     is_in[32] = {false};

        for (size_t i = 0; i < count; i++)
            files[i] = (PlanFile){.size_bytes = any_size(rng, target), .row_count = 10};
        OptimizePlan plan = plan_optimize(files, count, target, 2, arena);
        for (size_t b = 0; b < plan.bin_count; b++)
            for (size_t i = 0; i < plan.bins[b].file_count; i++)
                is_in[plan.bins[b].files[i]] = true;
        for (size_t i = 0; i < count; i++)
            for (size_t j = i + 1; j < count; j++)
                assert_true(is_in[i] || is_in[j] ||
                            files[i].size_bytes + files[j].size_bytes > target ||
                            files[i].size_bytes >= target || files[j].size_bytes >= target);
        arena_close(arena);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(every_file_is_in_one_group_at_most_and_every_group_is_worth_it),
        property_test(nothing_that_fits_together_is_left_over),
    };
    return RUN_TESTS(tests);
}
