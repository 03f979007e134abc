/* What bronze becomes when the columns of a run are others than its own, and that a run which it
 * does not suit writes nothing at all (algorithms.md 6.5, state.md 4.3). */
#include "support/test_support.h"

#include "support/shop.h"
#include "types/column_list.h"

static void with_columns(World *world, StreamOptions *options, const char *columns)
{
    Err err = ERR_INIT;

    options->columns = (Schema){0};
    if (columns)
        assert_ok(
            column_list_parse(str_from_c(columns), world_arena(world), &options->columns, &err),
            &err);
}

/* The run ends, and the lake is byte for byte what it was. */
static void refuse_untouched(World *world, const StreamOptions *options, ErrCode code,
                             const char *text)
{
    Process *process = process_open(world, "refused");
    Str      before  = world_store_text(world);

    assert_false(process_stream(process, options));
    assert_err(&process->err, code, text);
    process_close(process);
    assert_true(str_equal(before, world_store_text(world)));
}

static void allow_widening(World *world)
{
    DeltaTable   *table    = NULL;
    Err           err      = ERR_INIT;
    DeltaProperty property = {STR("delta.enableTypeWidening"), STR("true")};
    DeltaCommit   commit   = {.operation          = STR("SET TBLPROPERTIES"),
                              .set_properties     = &property,
                              .set_property_count = 1,
                              .user_metadata      = STR_EMPTY};
    DeltaOutcome  outcome;

    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &err), &err);
    delta_table_close(table);
}

#define AMOUNTS "SELECT _operation, amount, typeof(amount) FROM {" BRONZE "} ORDER BY 1, 2"

static World *amounts_open(void **state, StreamOptions *options)
{
    World *world = world_open(state, 1);

    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, amount int NULL");
    *options = shop_bootstrap();
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 10)");
    with_columns(world, options, "id INT, amount INT");
    (void)world_stream(world, options);
    return world;
}

static void a_wider_type_waits_for_the_owners_leave(void **state) /* T6.10, T6.12 */
{
    StreamOptions options;
    World        *world = amounts_open(state, &options);

    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 20)");
    with_columns(world, &options, "id INT, amount BIGINT");
    refuse_untouched(world, &options, ERR_SCHEMA_CHANGED,
                     "column amount has type INT, which does not hold the new type BIGINT");
    refuse_untouched(world, &options, ERR_SCHEMA_CHANGED,
                     "ALTER TABLE delta.`" BRONZE
                     "` SET TBLPROPERTIES ('delta.enableTypeWidening'='true')");
    allow_widening(world);
    (void)world_stream(world, &options);
    assert_rows(world, "0|10|BIGINT\n2|20|BIGINT\n", AMOUNTS);

    /* and a narrower one is written as the table's */
    world_commit(world, "INSERT INTO dbo.orders VALUES (3, 30)");
    with_columns(world, &options, "id INT, amount INT");
    (void)world_stream(world, &options);
    assert_rows(world, "0|10|BIGINT\n2|20|BIGINT\n2|30|BIGINT\n", AMOUNTS);
    assert_logs_readable(world);
    world_close(world);
}

static void a_type_that_is_no_widening_stays_refused(void **state)
{
    StreamOptions options;
    World        *world = amounts_open(state, &options);

    allow_widening(world);
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 20)");
    with_columns(world, &options, "id INT, amount DECIMAL(12,2)");
    refuse_untouched(world, &options, ERR_SCHEMA_CHANGED,
                     "column amount has type INT, which does not hold the new type DECIMAL(12,2); "
                     "nothing was written; write to a new table");
    world_close(world);
}

/* A crash anywhere around the commit that widens: the rerun finishes, and nothing is doubled. */
static void a_widening_survives_a_crash(void **state)
{
    for (int after_effect = 0; after_effect <= 1; after_effect++) {
        StreamOptions options;
        World        *world = amounts_open(state, &options);

        allow_widening(world);
        world_commit(world, "INSERT INTO dbo.orders VALUES (2, 3000)");
        with_columns(world, &options, "id INT, amount BIGINT");
        shop_crash_at(world, &options, BRONZE "/_delta_log/", after_effect);
        (void)world_stream(world, &options);
        assert_rows(world, "0|10|BIGINT\n2|3000|BIGINT\n", AMOUNTS);
        assert_logs_readable(world);
        world_close(world);
    }
}

/* A bronze that was made without such a name, and one that was made with it. */
static void a_name_that_delta_refuses_needs_a_mapped_table(void **state)
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_create(
        world, "orders",
        "id int NOT NULL PRIMARY KEY, [the note] varchar(20) NULL, [more, later] int NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'n1', 11)");
    options = shop_bootstrap();
    with_columns(world, &options, "id INT");
    (void)world_stream(world, &options);
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 'n2', 22)");
    with_columns(world, &options, NULL);
    refuse_untouched(world, &options, ERR_SCHEMA_CHANGED,
                     "the new column the note has a character that Delta takes only with column "
                     "mapping");
    refuse_untouched(world, &options, ERR_SCHEMA_CHANGED, "'delta.columnMapping.mode'='name'");
    world_close(world);

    world = world_open(state, 2);
    world_create(
        world, "orders",
        "id int NOT NULL PRIMARY KEY, [the note] varchar(20) NULL, [more, later] int NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'n1', 11)");
    options = shop_bootstrap();
    with_columns(world, &options, "id INT, `the note` STRING");
    (void)world_stream(world, &options);
    ApplyOptions apply = shop_apply();
    (void)world_apply(world, &apply);
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 'n2', 22)");
    with_columns(world, &options, NULL);
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_rows(world, "1|n1|-\n2|n2|22\n",
                "SELECT id, \"the note\", \"more, later\" FROM {" SILVER "} ORDER BY id");
    assert_logs_readable(world);
    world_close(world);
}

/* The seventh digit of a key is not in the lake. */
static void keys_that_become_one_are_told(void **state)
{
    World           *world = world_open(state, 1);
    StreamOptions    options;
    ApplyOptions     apply;
    static const Str keys[] = {{"at", 2}};

    world_create(world, "orders", "at datetime2(7) NOT NULL PRIMARY KEY, note varchar(9) NULL");
    world_commit(world,
                 "INSERT INTO dbo.orders VALUES ('2026-01-02T03:04:05.1234561', 'a'), "
                 "('2026-01-02T03:04:05.1234562', 'b'), ('2026-01-02T03:04:05.1234570', 'c')");
    options = shop_bootstrap();
    apply   = world_apply_options(keys, 1);
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_rows(world, "2\n", "SELECT count(*) FROM {" SILVER "}");
    assert_int_equal(world_line_count(world, "key column at is datetime2(7), and the lake holds "
                                             "microseconds"),
                     1);
    assert_int_equal(world_line_count(world, "silver holds the newest of each silver=lake/silver/"
                                             "orders rows=1"),
                     1);
    world_commit(world, "INSERT INTO dbo.orders VALUES ('2026-01-02T03:04:06.0000001', 'd'), "
                        "('2026-01-02T03:04:06.0000002', 'e')");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_int_equal(world_line_count(world, "silver holds the newest of each"), 2);
    assert_rows(world, "true\n",
                "SELECT bool_or(contains(detail, 'seventh digit')) FROM {" FACTS "}");
    /* what is there, changes and goes is no second row */
    world_commit(world, "UPDATE dbo.orders SET note = 'C' WHERE note = 'c'");
    world_commit(world, "DELETE dbo.orders WHERE note = 'C'");
    world_commit(world, "INSERT INTO dbo.orders VALUES ('2026-01-02T03:04:05.1234570', 'cc')");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_int_equal(world_line_count(world, "silver holds the newest of each"), 2);
    world_close(world);

    /* six digits are held */
    world = world_open(state, 2);
    world_create(world, "orders", "at datetime2(6) NOT NULL PRIMARY KEY, note varchar(9) NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES ('2026-01-02T03:04:05.123456', 'a')");
    options = shop_bootstrap();
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_int_equal(world_line_count(world, "microsecond"), 0);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wider_type_waits_for_the_owners_leave),
        cmocka_unit_test(a_type_that_is_no_widening_stays_refused),
        cmocka_unit_test(a_widening_survives_a_crash),
        cmocka_unit_test(a_name_that_delta_refuses_needs_a_mapped_table),
        cmocka_unit_test(keys_that_become_one_are_told),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
