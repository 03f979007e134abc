/* Parts of a whole table: every row in one, none empty that rows were counted for (algorithms.md 3.2). */
#include "support/test_support.h"

#include "engine/plan_parts.h"
#include "support/key_column.h"
#include "support/key_rows.h"

static int64_t bound_value(const KeyPart *bound)
{
    int64_t value = 0;

    assert_true(str_parse_i64(bound->text, &value));
    return value;
}

static void steps_of_an_integer_key_are_of_one_width(void **state) /* T3.2 */
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Arena         *arena  = arena_new();
        Rng           *rng    = rng_new(seed);
        int64_t        parts  = rng_between(rng, 1, 16);
        int64_t        keys[] = {(int64_t)rng_u64(rng), (int64_t)rng_u64(rng)};
        KeyColumnModel model  = {.keys = keys, .count = 2};
        CutSource      source = key_column_source(&model);
        TableCut       cut    = {.column_count = 1, .can_bound = true, .is_integer = true};
        PartPlan       plan;
        Err            err = {0};

        if (rng_below(rng, 2)) keys[1] = keys[0] / 2 + rng_between(rng, 0, 20);
        if (rng_below(rng, 2)) keys[0] = keys[1] / 2;
        if (keys[0] > keys[1]) {
            int64_t swap = keys[0];
            keys[0]      = keys[1];
            keys[1]      = swap;
        }
        WideKey span = (WideKey)keys[1] - keys[0] + 1;
        assert_true(plan_parts(&source, &cut, parts, arena, &plan, &err));
        assert_true((WideKey)plan.part_count == (span < parts ? span : parts));
        WideKey from = keys[0];
        for (size_t i = 0; i < plan.part_count; i++) {
            bool    is_last = i + 1 == plan.part_count;
            WideKey to      = is_last ? (WideKey)keys[1] + 1 : bound_value(plan.bounds[i]);
            WideKey narrow  = span / (WideKey)plan.part_count;

            assert_true(to - from == narrow || to - from == narrow + 1);
            from = to;
        }
        rng_close(rng);
        arena_close(arena);
    }
}

static void fill(KeyRows *model, Rng *rng, Arena *arena, bool may_repeat)
{
    model->count = 1 + rng_below(rng, 40);
    model->rows  = ARENA_ARRAY(arena, KeyRow, model->count);
    for (size_t i = 0; i < model->count; i++) {
        KeyPart *part = &model->rows[i].parts[0];

        if (may_repeat && rng_below(rng, 6) == 0)
            part->is_null = true;
        else if (may_repeat)
            part->text = str_printf(arena, "%c",
                                    (int)('A' + rng_below(rng, 3) * 32 + rng_below(rng, 4)));
        else
            part->text = str_printf(arena, "%04zu", i);
    }
    qsort(model->rows, model->count, sizeof(KeyRow), compare_key_row);
}

static size_t rows_in(const KeyRows *model, const PartPlan *plan, size_t part)
{
    const KeyPart *lo    = part > 0 ? plan->bounds[part - 1] : NULL;
    const KeyPart *hi    = part + 1 < plan->part_count ? plan->bounds[part] : NULL;
    size_t         count = 0;

    for (size_t i = 0; i < model->count; i++)
        count += range_holds(model, lo, hi, &model->rows[i]);
    return count;
}

static void tiles_hold_every_row_once(void **state) /* T3.2, T3.9, T3.10 */
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Arena    *arena  = arena_new();
        Rng      *rng    = rng_new(seed);
        KeyRows   model  = {.column_count = 1};
        CutSource source = key_rows_source(&model);
        TableCut  cut    = {.column_count = 1, .can_bound = true, .may_repeat = seed % 2};
        int64_t   parts  = rng_between(rng, 1, 9);
        bool      is_right;
        PartPlan  plan;
        size_t    seen = 0;
        Err       err  = {0};

        fill(&model, rng, arena, cut.may_repeat);
        is_right       = rng_below(rng, 2);
        model.estimate = is_right ? (int64_t)model.count : rng_between(rng, 0, 80);
        assert_true(plan_parts(&source, &cut, parts, arena, &plan, &err));
        assert_in_range(plan.part_count, 1, parts);
        for (size_t i = 0; i < plan.part_count; i++) {
            size_t rows = rows_in(&model, &plan, i), even = model.count / plan.part_count;

            assert_true(rows > 0);
            if (is_right && !cut.may_repeat) assert_true(rows == even || rows == even + 1);
            seen += rows;
        }
        assert_int_equal(seen, model.count);
        rng_close(rng);
        arena_close(arena);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {property_test(steps_of_an_integer_key_are_of_one_width),
                                       property_test(tiles_hold_every_row_once)};

    return RUN_TESTS(cases);
}
