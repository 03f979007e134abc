#include "support/test_support.h"

#include "base/buf.h"
#include "engine/plan_parts.h"
#include "support/key_column.h"
#include "support/key_rows.h"

static Str format_parts(Arena *arena, const PartPlan *plan)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i + 1 < plan->part_count; i++) {
        const KeyPart *bound = plan->bounds[i];
        buf_printf(&buf, "%s%.*s", i ? " " : "",
                   STR_ARG(bound->is_null ? STR("NULL") : bound->text));
    }
    return buf_str(&buf);
}

static void assert_steps(int64_t min, int64_t max, int64_t parts, const char *want)
{
    Arena         *arena  = arena_new();
    int64_t        keys[] = {min, max};
    KeyColumnModel model  = {.keys = keys, .count = 2};
    CutSource      source = key_column_source(&model);
    TableCut       cut    = {.column_count = 1, .can_bound = true, .is_integer = true};
    PartPlan       plan;
    Err            err = {0};

    assert_true(plan_parts(&source, &cut, parts, arena, &plan, &err));
    assert_str_is(format_parts(arena, &plan), want);
    arena_close(arena);
}

static void an_integer_key_is_cut_into_equal_steps(void **state) /* T3.2 */
{
    (void)state;
    assert_steps(0, 9, 4, "2 5 7");
    assert_steps(5, 5, 4, "");
    assert_steps(5, 6, 4, "6");
    assert_steps(0, 9, 1, "");
    assert_steps(INT64_MIN, INT64_MAX, 2, "0");
}

static void assert_tiles(const char *keys, int64_t estimate, int64_t parts, bool may_repeat,
                         const char *want)
{
    Arena    *arena  = arena_new();
    KeyRows   model  = {.column_count = 1, .estimate = estimate};
    CutSource source = key_rows_source(&model);
    TableCut  cut    = {.column_count = 1, .can_bound = true, .may_repeat = may_repeat};
    PartPlan  plan;
    Err       err  = {0};
    Str       left = str_from_c(keys), word;

    model.rows = ARENA_ARRAY(arena, KeyRow, left.len + 1);
    while (str_split_next(&left, ' ', &word))
        model.rows[model.count++].parts[0] = (KeyPart){.text = word};
    assert_true(plan_parts(&source, &cut, parts, arena, &plan, &err));
    assert_str_is(format_parts(arena, &plan), want);
    arena_close(arena);
}

static void another_key_is_cut_into_tiles_of_rows(void **state) /* T3.2, T3.9, T3.10 */
{
    (void)state;
    assert_tiles("c0 c1 c2 c3 c4", 5, 4, false, "c2 c3 c4");
    assert_tiles("0 1 2 3 4 5 6 7 8 9", 2, 4, false,
                 "1"); /* an estimate too low: the last is long */
    assert_tiles("0 1 2 3 4 5 6 7 8 9", 100, 4, false, "");
    assert_tiles("0 1 2", 0, 4, false, "");
    assert_tiles("a b b b b b b c", 8, 4, true, "b"); /* a value is in one part, none is empty */
}

static void a_table_without_bounds_is_one_part(void **state)
{
    Arena    *arena  = arena_new();
    CutSource source = {0}; /* not asked */
    TableCut  cut    = {.column_count = 1, .is_integer = true};
    PartPlan  plan;
    Err       err = {0};

    (void)state;
    assert_true(plan_parts(&source, &cut, 4, arena, &plan, &err));
    assert_int_equal(plan.part_count, 1);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(an_integer_key_is_cut_into_equal_steps),
                                       cmocka_unit_test(another_key_is_cut_into_tiles_of_rows),
                                       cmocka_unit_test(a_table_without_bounds_is_one_part)};

    return RUN_TESTS(cases);
}
