/* A table cut into parts and chunks by what tidesim answers, through FreeTDS's driver and, where it is installed,
 * Microsoft's. */
#include "e2e/queries_world.h"
#include "engine/plan_slices.h"
#include "engine/plan_walk.h"

/* CDC's capture has run, so that there is an LSN to stamp rows with. */
static World *captured_world(void **state)
{
    World *world = world_of(state);

    world_scan(world);
    return world;
}

/* For any number of parts, each row once. */
static void check_parts(World *world, const char *name, const Str *keys, size_t key_count,
                        int64_t row_count, int64_t least_parts)
{
    CaptureTable table = world_find(world, name);

    for (int64_t n = 1; n <= 6; n++) {
        TableCut cut;
        PartPlan plan;
        int64_t  total = 0, rows = 0;
        assert_ok(mssql_cut_table(&table, keys, key_count, world->arena, &cut, &world->err),
                  &world->err);
        Cutter   *cutter = cutter_new(world->arena, world_mssql(world), &table, &cut);
        CutSource source = cut_source_of_cutter(cutter);
        assert_ok(plan_parts(&source, &cut, n, world->arena, &plan, &world->err), &world->err);
        cutter_close(cutter);
        assert_in_range(plan.part_count, MIN(n, least_parts), n);
        Buf all = buf_new(world->arena, 0);
        for (size_t i = 0; i < plan.part_count; i++) {
            buf_append(&all, world_read_part(world, &table, &cut, &plan, i, &rows));
            total += rows;
        }
        assert_int_equal(total, row_count);
        Str    text  = buf_str(&all), line;
        size_t lines = 0;
        while (str_split_next(&text, '\n', &line) && line.len > 0) {
            assert_int_equal(str_find(text, line, 0), -1); /* keys differ, so no row comes twice */
            lines++;
        }
        assert_int_equal(lines, row_count);
    }
}

static void a_table_is_cut_into_parts_that_hold_each_row_once(void **state) /* Q24, Q25, Q28, Q29 */
{
    static const Str b_alone[] = {{"b", 1}}, nullable[] = {{"c", 1}};
    World           *world = captured_world(state);

    check_parts(world, "odd", NULL, 0, 60, 6);
    check_parts(world, "odd", b_alone, 1, 60, 6);
    check_parts(world, "odd", nullable, 1, 60, 2); /* values repeat, NULLs lowest */
    world_run(world, "INSERT INTO dbo.orders (id) SELECT value FROM GENERATE_SERIES(1, 20)");
    check_parts(world, "dbo_orders", NULL, 0, 20, 6);
}

static int64_t rows_between(World *world, const CaptureTable *table, const TableCut *cut,
                            const KeyPart *lo, const KeyPart *hi)
{
    const KeyPart *bounds[] = {lo, hi};
    PartPlan       plan     = {bounds, 3}; /* below lo, the chunk, from hi on */
    int64_t        rows     = 0;

    if (lo && hi) {
        (void)world_read_part(world, table, cut, &plan, 1, &rows);
    } else {
        plan = (PartPlan){lo ? &bounds[0] : &bounds[1], lo || hi ? 2 : 1};
        (void)world_read_part(world, table, cut, &plan, lo ? 1 : 0, &rows);
    }
    return rows;
}

/* An integer key in clusters, with the ends of bigint: no chunk above ten rows, none empty (Q24, Q26). */
static void an_integer_key_is_cut_into_chunks(void **state)
{
    World       *world = captured_world(state);
    CaptureTable table;
    TableCut     cut;
    SlicePlan    plan;
    KeyInterval  whole = {.has_from = false};
    KeyExtent    extent;
    int64_t      total = 0;

    world_run(world, "CREATE TABLE dbo.spread (k bigint NOT NULL PRIMARY KEY)");
    world_run(world, "INSERT INTO dbo.spread SELECT value FROM GENERATE_SERIES(1, 55) UNION ALL "
                     "SELECT -3000000000 + value FROM GENERATE_SERIES(1, 25) UNION ALL SELECT v "
                     "FROM (VALUES (CAST(-9223372036854775808 AS bigint)), (9223372036854775807)) "
                     "AS e(v)");
    world_run(world, "EXEC sys.sp_cdc_enable_table N'dbo', N'spread', NULL");
    table = world_find(world, "dbo_spread");
    assert_ok(mssql_cut_table(&table, NULL, 0, world->arena, &cut, &world->err), &world->err);
    assert_true(cut.is_integer);
    Cutter   *cutter = cutter_new(world->arena, world_mssql(world), &table, &cut);
    CutSource source = cut_source_of_cutter(cutter);
    assert_ok(cutter_find_extents(cutter, &whole, 1, &extent, &world->err), &world->err);
    assert_true(extent.min == INT64_MIN && extent.max == INT64_MAX);
    assert_ok(plan_slices(&source, extent, 82, 10, world->arena, &plan, &world->err), &world->err);
    for (size_t i = 0; i < plan.chunk_count; i++) {
        KeyPart ends[2];

        for (size_t e = 0; e < 2; e++) {
            WideKey end     = e == 0 ? (i ? plan.ends[i - 1] : 0) : plan.ends[i];
            ends[e].text    = end > INT64_MAX ? STR("9223372036854775808")
                                              : str_printf(world->arena, "%lld", (long long)end);
            ends[e].is_null = false;
        }
        int64_t rows = rows_between(world, &table, &cut, i ? &ends[0] : NULL, &ends[1]);
        assert_in_range(rows, 1, 10);
        total += rows;
    }
    assert_int_equal(total, 82);
    cutter_close(cutter);
}

/* Two columns of a unique index, then one that repeats and is NULL now and then (Q27, Q28). */
static void other_keys_are_cut_into_chunks(void **state)
{
    static const Str nullable[] = {{"c", 1}};
    World           *world      = captured_world(state);
    CaptureTable     table      = world_find(world, "odd");

    for (size_t pass = 0; pass < 2; pass++) {
        TableCut       cut;
        KeyWalk        walk  = {.chunk_rows = 9};
        const KeyPart *lo    = NULL, *hi;
        int64_t        total = 0, held;

        assert_ok(
            mssql_cut_table(&table, pass ? nullable : NULL, pass, world->arena, &cut, &world->err),
            &world->err);
        Cutter   *cutter  = cutter_new(world->arena, world_mssql(world), &table, &cut);
        CutSource source  = cut_source_of_cutter(cutter);
        walk.column_count = cut.column_count;
        walk.may_repeat   = cut.may_repeat;
        assert_ok(cutter_find_last(cutter, world->arena, &walk.max, &world->err), &world->err);
        do {
            assert_ok(plan_walk_next(&source, &walk, lo, world->arena, &hi, &world->err),
                      &world->err);
            bool is_last = !hi;
            if (is_last)
                assert_ok(plan_walk_last(&source, &walk, world->arena, &hi, &world->err),
                          &world->err);
            held = rows_between(world, &table, &cut, lo, hi);
            assert_true(held >= 1);
            if (pass == 0) assert_true(held <= 10);
            total += held;
            lo = hi;
            if (is_last) break;
        } while (true);
        assert_int_equal(total, 60);
        cutter_close(cutter);
    }
}

static const struct CMUnitTest cases[] = {
    cmocka_unit_test(a_table_is_cut_into_parts_that_hold_each_row_once),
    cmocka_unit_test(an_integer_key_is_cut_into_chunks),
    cmocka_unit_test(other_keys_are_cut_into_chunks),
};

int main(void)
{
    return world_run_cases("cuts", cases, COUNT_OF(cases));
}
