#include "support/test_support.h"

#include "base/buf.h"
#include "support/key_column.h"

static Str format_key(Arena *arena, WideKey key)
{
    if (key > INT64_MAX) return STR("9223372036854775808");
    return str_printf(arena, "%lld", (long long)key);
}

/* "[-,2) [2,4)" and "2,2" for the rows, planned on `keys` where the open had found `extent`. */
static void assert_plan_of(int64_t *keys, size_t count, KeyExtent extent, int64_t estimate,
                           int64_t chunk_rows, const char *want, const char *want_rows)
{
    Arena         *arena  = arena_new();
    KeyColumnModel model  = {.keys = keys, .count = count};
    CutSource      source = key_column_source(&model);
    SlicePlan      plan;
    Err            err = {0};
    Buf            got = buf_new(arena, 0), rows = buf_new(arena, 0);

    qsort(keys, count, sizeof *keys, compare_keys);
    assert_true(plan_slices(&source, extent, estimate, chunk_rows, arena, &plan, &err));
    for (size_t i = 0; i < plan.chunk_count; i++) {
        KeyInterval chunk = {i > 0, true, i ? plan.ends[i - 1] : 0, plan.ends[i]};
        size_t      held  = 0;

        for (size_t k = 0; k < count; k++)
            held += interval_holds(&chunk, keys[k]);
        buf_printf(&got, "%s[%.*s,%.*s)", i ? " " : "",
                   STR_ARG(i ? format_key(arena, chunk.from) : STR("-")),
                   STR_ARG(format_key(arena, chunk.hi)));
        buf_printf(&rows, "%s%zu", i ? "," : "", held);
    }
    assert_str_is(buf_str(&got), want);
    assert_str_is(buf_str(&rows), want_rows);
    arena_close(arena);
}

#define ASSERT_PLAN(estimate, chunk_rows, want, want_rows, ...)                                \
    do {                                                                                       \
        int64_t        keys_[] = {__VA_ARGS__};                                                \
        KeyColumnModel all_    = {.keys = keys_, .count = COUNT_OF(keys_)};                    \
        qsort(keys_, COUNT_OF(keys_), sizeof *keys_, compare_keys);                            \
        assert_plan_of(keys_, COUNT_OF(keys_), key_column_extent(&all_), estimate, chunk_rows, \
                       want, want_rows);                                                       \
    } while (0)

static void slices_are_counted_split_and_packed(void **state) /* T4.5 */
{
    (void)state;
    ASSERT_PLAN(8, 2, "[-,2) [2,4) [4,6) [6,8)", "2,2,2,2", 0, 1, 2, 3, 4, 5, 6, 7);
    ASSERT_PLAN(15, 4, "[-,5) [5,9) [9,493) [493,1000001)", "4,4,4,3", 1, 2, 3, 4, 5, 6, 7, 8, 9,
                10, 11, 12, 500, 900, 1000000);
    ASSERT_PLAN(14, 4, "[-,7) [7,8) [8,13)", "2,9,3", 1, 2, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 9, 12);
    ASSERT_PLAN(0, 3, "[-,-1) [-1,0) [0,6)", "3,1,3", -20, -19, -3, -1, 0, 4, 5);
    ASSERT_PLAN(0, 1, "[-,9223372036854775807) [9223372036854775807,9223372036854775808)", "1,1",
                INT64_MIN, INT64_MAX);
}

static void a_dense_cluster_far_from_the_rest_is_split_to_its_own_grid(void **state) /* T4.5 */
{
    int64_t keys[1006];
    size_t  n = 0;

    (void)state;
    for (int64_t key = 1000; key < 2000; key++)
        keys[n++] = key;
    for (int64_t key = 10000; key <= 50000; key += 10000)
        keys[n++] = key;
    keys[n++] = 9000000;
    assert_plan_of(keys, n, (KeyExtent){true, 1000, 9000000}, 1006, 400,
                   "[-,1400) [1400,1800) [1800,9000001)", "400,400,206");
}

static void what_changed_since_the_open_does_not_move_the_ends(void **state) /* T4.6, T4.7 */
{
    int64_t fewer[] = {0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11};
    int64_t more[]  = {3, 10, 11, 12, 13, 14, 15, 40};

    (void)state;
    assert_plan_of(fewer, COUNT_OF(fewer), (KeyExtent){true, 0, 11}, 12, 3,
                   "[-,4) [4,7) [7,10) [10,12)", "3,3,3,2");
    assert_plan_of(more, COUNT_OF(more), (KeyExtent){true, 10, 15}, 6, 2,
                   "[-,11) [11,13) [13,15) [15,16)", "2,2,2,1");
}

static void a_table_emptied_since_the_open_is_one_chunk(void **state) /* T4.9 */
{
    int64_t none[1];

    (void)state;
    assert_plan_of(none, 0, (KeyExtent){true, -5, 11}, 12, 3, "[-,12)", "0");
}

/* 400 crowded places, each split again: two questions a level, not two a place. */
static void questions_grow_with_the_levels_alone(void **state)
{
    Arena         *arena  = arena_new();
    KeyColumnModel model  = {.keys = ARENA_ARRAY(arena, int64_t, 20000)};
    CutSource      source = key_column_source(&model);
    SlicePlan      plan;
    Err            err = {0};

    (void)state;
    for (int64_t place = 0; place < 400; place++)
        for (int64_t i = 0; i < 50; i++)
            model.keys[model.count++] = place * 1000000 + i;
    assert_true(plan_slices(&source, key_column_extent(&model), 20000, 10, arena, &plan, &err));
    assert_true(plan.chunk_count >= 2000);
    assert_true(model.count_calls <= 3);
    assert_int_equal(model.extent_calls, model.count_calls - 1);
    arena_close(arena);
}

/* A hundred million keys that nobody stores: `dense` of them from 1 on, the others `step` apart. */
typedef struct ComputedKeys {
    int64_t dense, count, step;
    int     count_calls, extent_calls;
} ComputedKeys;

static int64_t computed_key(const ComputedKeys *keys, int64_t index)
{
    return index < keys->dense ? index + 1 : keys->dense + (index - keys->dense + 1) * keys->step;
}

/* How many keys are below `end`. */
static int64_t keys_below(const ComputedKeys *keys, WideKey end)
{
    int64_t low = 0, high = keys->count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (computed_key(keys, middle) < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool computed_counts(void *context, const SliceGrid *grids, size_t grid_count, Arena *arena,
                            SliceCounts *out, Err *err)
{
    ComputedKeys *keys = context;

    (void)err;
    keys->count_calls++;
    for (size_t g = 0; g < grid_count; g++) {
        const KeyInterval *interval = &grids[g].interval;
        int64_t            at       = interval->has_from ? keys_below(keys, interval->from) : 0;
        int64_t            end  = interval->has_hi ? keys_below(keys, interval->hi) : keys->count;
        LIST(SliceCount) counts = {0};

        while (at < end) { /* a slice with keys */
            int64_t     index = floor_divide(computed_key(keys, at), grids[g].width);
            int64_t     next  = MIN(keys_below(keys, (WideKey)(index + 1) * grids[g].width), end);
            SliceCount *count = LIST_PUSH(arena, &counts);
            *count            = (SliceCount){index, next - at};
            at                = next;
        }
        out[g] = (SliceCounts){counts.items, counts.count};
    }
    return true;
}

static bool computed_extents(void *context, const KeyInterval *intervals, size_t count,
                             KeyExtent *out, Err *err)
{
    ComputedKeys *keys = context;

    (void)err;
    keys->extent_calls++;
    for (size_t i = 0; i < count; i++) {
        int64_t from = keys_below(keys, intervals[i].from), to = keys_below(keys, intervals[i].hi);
        out[i] = (KeyExtent){from < to, 0, 0};
        if (from < to)
            out[i] = (KeyExtent){true, computed_key(keys, from), computed_key(keys, to - 1)};
    }
    return true;
}

/* Each level asks for counts once, and once for the extents of what is counted again. */
static void a_hundred_million_rows_take_two_questions_a_level(void **state)
{
    static const struct {
        int64_t dense, step;
        int     levels;
    } shapes[] = {{100000000, 1, 1},
                  {0, 92233720368, 1},
                  {99999000, 9223372036854, 2},
                  {50000000, 184467440736, 4}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        Arena       *arena = arena_new();
        ComputedKeys keys  = {.dense = shapes[i].dense, .count = 100000000, .step = shapes[i].step};
        CutSource    source = {
               .context = &keys, .find_extents = computed_extents, .count_slices = computed_counts};
        KeyExtent extent = {true, computed_key(&keys, 0), computed_key(&keys, keys.count - 1)};
        SlicePlan plan;
        Err       err  = {0};
        int64_t   seen = 0;

        assert_true(plan_slices(&source, extent, keys.count, 1000000, arena, &plan, &err));
        assert_in_range(plan.chunk_count, 100, 120);
        for (size_t c = 0; c < plan.chunk_count; c++) {
            int64_t below = keys_below(&keys, plan.ends[c]);
            assert_in_range(below - seen, 1, 1000000);
            seen = below;
        }
        assert_int_equal(seen, keys.count);
        assert_int_equal(keys.count_calls, shapes[i].levels);
        assert_int_equal(keys.extent_calls, keys.count_calls - 1);
        arena_close(arena);
    }
}

static bool refuse_counts(void *context, const SliceGrid *grids, size_t grid_count, Arena *arena,
                          SliceCounts *out, Err *err)
{
    (void)context, (void)grids, (void)grid_count, (void)arena, (void)out;
    return err_set(err, ERR_SOURCE, "gone");
}

static void an_error_of_the_source_is_the_plans(void **state)
{
    Arena    *arena  = arena_new();
    CutSource source = {.count_slices = refuse_counts, .find_extents = key_column_extents};
    SlicePlan plan;
    Err       err = {0};

    (void)state;
    assert_false(plan_slices(&source, (KeyExtent){true, 1, 9}, 9, 3, arena, &plan, &err));
    assert_err(&err, ERR_SOURCE, "gone");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(slices_are_counted_split_and_packed),
        cmocka_unit_test(a_dense_cluster_far_from_the_rest_is_split_to_its_own_grid),
        cmocka_unit_test(what_changed_since_the_open_does_not_move_the_ends),
        cmocka_unit_test(a_table_emptied_since_the_open_is_one_chunk),
        cmocka_unit_test(questions_grow_with_the_levels_alone),
        cmocka_unit_test(a_hundred_million_rows_take_two_questions_a_level),
        cmocka_unit_test(an_error_of_the_source_is_the_plans)};

    return RUN_TESTS(cases);
}
