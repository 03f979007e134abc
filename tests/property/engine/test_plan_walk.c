/* Whatever the keys, a walk's chunks tile the table (T4.11 for unique keys, T4.15 for a column that repeats). */
#include "support/test_support.h"

#include "base/list.h"
#include "support/key_rows.h"

#define ROWS_MAX 60

typedef LIST(const KeyPart *) BoundList;

static KeyPart random_part(Rng *rng, Arena *arena, unsigned values, bool nullable)
{
    unsigned value = (unsigned)rng_below(rng, values);

    if (nullable && rng_below(rng, 8) == 0) return (KeyPart){.is_null = true};
    return (KeyPart){.text = str_printf(arena, "%c%02u", rng_below(rng, 2) ? 'k' : 'K', value)};
}

static void fill(KeyRows *model, Rng *rng, Arena *arena, bool repeats)
{
    size_t want = 1 + rng_below(rng, ROWS_MAX);

    model->rows  = ARENA_ARRAY(arena, KeyRow, ROWS_MAX + 1);
    model->count = 0;
    for (size_t tries = 0; tries < 4 * want && model->count < want; tries++) {
        KeyRow row    = {.parts[0] = random_part(rng, arena, repeats ? 9 : 60, repeats)};
        bool   is_new = true;

        row.parts[1] = repeats ? (KeyPart){.is_null = true} : random_part(rng, arena, 4, false);
        for (size_t i = 0; i < model->count && !repeats; i++)
            is_new = is_new && compare_key_row(&model->rows[i], &row) != 0;
        if (is_new) model->rows[model->count++] = row;
    }
    qsort(model->rows, model->count, sizeof *model->rows, compare_key_row);
}

static size_t rows_between(const KeyRows *model, const KeyPart *lo, const KeyPart *hi)
{
    size_t n = 0;

    for (size_t i = 0; i < model->count; i++)
        n += range_holds(model, lo, hi, &model->rows[i]);
    return n;
}

static void walk_all(KeyRows *model, const KeyWalk *walk, Arena *arena, BoundList *bounds)
{
    CutSource      source = key_rows_source(model);
    const KeyPart *at     = NULL;
    Err            err    = {0};

    for (;;) {
        assert_true(plan_walk_next(&source, walk, at, arena, &at, &err));
        if (!at) break;
        *LIST_PUSH(arena, bounds) = at;
        assert_true(bounds->count <= ROWS_MAX);
    }
    assert_true(plan_walk_last(&source, walk, arena, &at, &err));
    *LIST_PUSH(arena, bounds) = at;
}

/* Every row up to MAX, which is the row at `max`, is in one chunk; none is empty. */
static void assert_tiles(const KeyRows *model, const BoundList *bounds, const KeyWalk *walk,
                         size_t max)
{
    const KeyPart *end  = bounds->items[bounds->count - 1];
    size_t         seen = 0, wanted = end ? rows_between(model, NULL, end) : model->count;

    for (size_t i = 0; i < bounds->count; i++) {
        size_t held = rows_between(model, i ? bounds->items[i - 1] : NULL, bounds->items[i]);

        assert_true(held >= 1);
        if (!walk->may_repeat) assert_true((int64_t)held <= walk->chunk_rows + 1);
        seen += held;
    }
    assert_int_equal(seen, wanted);
    for (size_t k = 0; k <= max; k++)
        assert_true(range_holds(model, NULL, end, &model->rows[k]));
}

/* What was inserted above MAX since it was found: any number of the rows. */
static size_t choose_max(const KeyRows *model, Rng *rng)
{
    return rng_below(rng, 3) ? model->count - 1 : (size_t)rng_below(rng, model->count);
}

static void unique_keys_are_tiled(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Rng      *rng    = rng_new(seed);
        Arena    *arena  = arena_new();
        KeyRows   model  = {.column_count = 2};
        BoundList bounds = {0};
        KeyWalk   walk   = {.column_count = 2, .chunk_rows = 1 + (int64_t)rng_below(rng, 10)};

        fill(&model, rng, arena, false);
        size_t max = choose_max(&model, rng);
        walk.max   = model.rows[max].parts;
        walk_all(&model, &walk, arena, &bounds);
        assert_tiles(&model, &bounds, &walk, max);
        const KeyPart *end = bounds.items[bounds.count - 1];
        if (max + 1 == model.count) assert_null(end);
        if (max + 1 < model.count) /* the first key after MAX */
            assert_int_equal(compare_key(end, model.rows[max + 1].parts, 2), 0);
        arena_close(arena);
        rng_close(rng);
    }
}

/* Each value in one chunk only: no bound lies within a run of equal values. */
static void values_that_repeat_are_never_split(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Rng      *rng    = rng_new(seed);
        Arena    *arena  = arena_new();
        KeyRows   model  = {.column_count = 1};
        BoundList bounds = {0};
        KeyWalk   walk   = {
                .column_count = 1, .chunk_rows = 1 + (int64_t)rng_below(rng, 10), .may_repeat = true};

        fill(&model, rng, arena, true);
        size_t max = choose_max(&model, rng);
        walk.max   = model.rows[max].parts;
        walk_all(&model, &walk, arena, &bounds);
        assert_tiles(&model, &bounds, &walk, max);
        for (size_t i = 0; i < bounds.count && bounds.items[i]; i++) /* the last end, too */
            for (size_t k = 0; k + 1 < model.count; k++)
                if (compare_key(model.rows[k].parts, model.rows[k + 1].parts, 1) == 0)
                    assert_int_equal(
                        range_holds(&model, NULL, bounds.items[i], &model.rows[k]),
                        range_holds(&model, NULL, bounds.items[i], &model.rows[k + 1]));
        arena_close(arena);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {property_test(unique_keys_are_tiled),
                                       property_test(values_that_repeat_are_never_split)};

    return RUN_TESTS(cases);
}
