/* Which columns a stream reads, as what types, and what it does when they change (algorithms.md 6.2,
 * 6.5, 12). */
#include "support/test_support.h"

#include "support/shop.h"
#include "types/column_list.h"

static StreamOptions stream_of(World *world, const char *columns)
{
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Err           err     = ERR_INIT;

    if (columns)
        assert_ok(
            column_list_parse(str_from_c(columns), world_arena(world), &options.columns, &err),
            &err);
    return options;
}

static void refuse(World *world, const StreamOptions *options, ErrCode code, const char *text)
{
    Process *process = process_open(world, "refused");

    assert_false(process_stream(process, options));
    assert_err(&process->err, code, text);
    process_close(process);
}

/* --- columns CDC cannot give --- */

static void values_cdc_does_not_give_never_reach_silver(void **state) /* case A14 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_create(world, "orders",
                 "id int NOT NULL PRIMARY KEY, a int, b int, c AS (a + b), note text NULL, doc "
                 "varchar(max) NULL");
    world_commit(world, "INSERT INTO dbo.orders (id, a, b, note, doc) VALUES (1, 1, 2, 'n', 'd')");
    options = shop_bootstrap();
    (void)world_stream(world, &options);
    world_commit(world, "UPDATE dbo.orders SET a = 5 WHERE id = 1");
    (void)world_stream(world, &options);
    assert_rows(world, "0|1|2|n|d\n3|1|2|-|-\n4|5|2|n|d\n",
                "SELECT _operation, a, b, note, doc FROM {" BRONZE "} ORDER BY _operation");
    assert_rows(world, "1\n",
                "SELECT count(*) FROM {" FACTS "} WHERE event IS NULL AND contains(detail, "
                "'computed columns are left out, CDC gives no values for them: c')");
    ApplyOptions apply = shop_apply();
    (void)world_apply(world, &apply);
    assert_rows(world, "1|5|2|n|d\n", "SELECT id, a, b, note, doc FROM {" SILVER "}");
    world_commit(world, "INSERT INTO dbo.orders (id, a, b, note, doc) VALUES (2, 1, 1, 'm', 'e')");
    world_commit(world, "DELETE dbo.orders WHERE id = 1");
    (void)world_stream(world, &options);
    assert_rows(world, "5|2|-|d\n",
                "SELECT a, b, note, doc FROM {" BRONZE "} WHERE _operation = 1");
    (void)world_apply(world, &apply);
    assert_rows(world, "2|1|1|m|e\n", "SELECT id, a, b, note, doc FROM {" SILVER "}");
    world_close(world);
}

/* --- the option --- */

static void listed_columns_are_read_as_their_types(void **state) /* T12.1 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_create(world, "orders",
                 "id int NOT NULL PRIMARY KEY, note varchar(20) NULL, amount decimal(9,2) NULL, "
                 "twice AS (id * 2), day date NULL, tiny tinyint NULL, small real NULL");
    world_commit(world,
                 "INSERT INTO dbo.orders VALUES (1, 'left out', 1.25, '2026-01-02', 255, 0.5)");
    options                = stream_of(world,
                                       "amount DECIMAL(20,4), ID BIGINT, twice INT, day TIMESTAMP_NTZ, tiny "
                                                      "DECIMAL(3,0), small DOUBLE");
    options.bootstrap      = true; /* the snapshot too */
    options.starting_given = false;
    (void)world_stream(world, &options);
    world_commit(world, "UPDATE dbo.orders SET amount = 99.99 WHERE id = 1");
    (void)world_stream(world, &options);
    assert_rows(
        world,
        "0|1.2500|1|-|2026-01-02T00:00:00.000000|255|0.5\n3|1.2500|1|-|2026-01-02T00:00:00.000000|"
        "255|0.5\n4|99.9900|1|-|2026-01-02T00:00:00.000000|255|0.5\n",
        "SELECT _operation, amount, id, twice, day, tiny, small FROM {" BRONZE
        "} ORDER BY _operation");
    assert_rows(world, "DECIMAL(20,4)|BIGINT|INTEGER|TIMESTAMP|DOUBLE\n",
                "SELECT typeof(amount), typeof(id), typeof(twice), typeof(day), typeof(small) FROM "
                "{" BRONZE "} LIMIT 1");
    assert_rows(world, "0\n",
                "SELECT count(*) FROM (DESCRIBE SELECT * FROM {" BRONZE "}) WHERE column_name = "
                "'note'");
    assert_rows(world, "true|true\n",
                "SELECT contains(detail, '`columns` leaves out columns that dbo_orders captures: "
                "note'), contains(detail, 'computed columns are NULL in every row, CDC gives no "
                "values for them: twice') FROM {" FACTS "} WHERE contains(detail, 'warnings')");
    world_close(world);
}

static void a_list_that_cannot_be_read_touches_nothing(void **state) /* T12.1 */
{
    static const struct {
        const char *list, *parts[4];
    } cases[] = {
        {"id INT, nope STRING", {"nope", "dbo_orders", "id, note", "new instance"}},
        {"id SMALLINT", {"id", "SMALLINT", "type INT or a wider one", "dbo_orders"}},
        {"id INT, note BINARY", {"note", "BINARY", "varchar(20)", "STRING"}},
    };
    World *world = shop_open(state, 1);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        StreamOptions options = stream_of(world, cases[i].list);
        for (size_t j = 0; j < COUNT_OF(cases[i].parts); j++)
            refuse(world, &options, ERR_USAGE, cases[i].parts[j]);
    }
    assert_str_is(world_store_text(world), "");
    world_close(world);
}

static void a_column_that_cannot_be_read_is_left_out_by_the_list(void **state) /* T12.1 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_create(world, "orders",
                 "id int NOT NULL PRIMARY KEY, any_ sql_variant NULL, note varchar(9) NULL");
    options = stream_of(world, NULL);
    refuse(world, &options, ERR_SOURCE_STATE, "any_");
    refuse(world, &options, ERR_SOURCE_STATE, "sql_variant");
    refuse(world, &options, ERR_SOURCE_STATE, "dbo_orders");
    refuse(world, &options, ERR_SOURCE_STATE, "`columns`");
    options = stream_of(world, "id INT, note STRING");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 5, 'x')");
    (void)world_stream(world, &options);
    assert_rows(world, "1|x\n", "SELECT id, note FROM {" BRONZE "}");
    world_close(world);

    world = world_open(state, 2);
    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, _Commit_TS datetime NULL");
    options = stream_of(world, NULL);
    refuse(world, &options, ERR_USAGE, "_Commit_TS");
    refuse(world, &options, ERR_USAGE, "_start_lsn, _seqval");
    refuse(world, &options, ERR_USAGE, "`columns`");
    options = stream_of(world, "id INT");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, '2026-01-01')");
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "1");
    world_close(world);
}

/* --- DDL --- */

static void a_type_that_grows_stops_and_one_that_fits_goes_on(void **state) /* T6.1, T12.1 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;
    Process      *process;
    Lsn           ddl;

    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, amount decimal(18,2) NULL");
    options         = stream_of(world, NULL);
    options.trigger = TRIGGER_CONTINUOUS;
    process         = process_open(world, "stream");
    process_spawn_stream(process, &options);
    (void)world_commit(world, "INSERT INTO dbo.orders VALUES (1, 1.5)");
    (void)world_commit(world, "INSERT INTO dbo.orders VALUES (2, 2.5)");
    world_pass_minutes(world, 1);
    ddl = world_commit(world, "ALTER TABLE dbo.orders ALTER COLUMN amount decimal(10,1) NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (3, 3.5)"); /* it still fits */
    world_pass_minutes(world, 1);
    world_commit(world, "ALTER TABLE dbo.orders ALTER COLUMN amount decimal(20,4) NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (4, 2.2525)");
    process_join(process);
    (void)ddl;
    assert_false(process->ok);
    static const char *const parts[] = {"dbo_orders",    "amount",
                                        "decimal(20,4)", "DECIMAL(18,2)",
                                        "DDL at LSN",    "ALTER COLUMN amount decimal(20,4)",
                                        "restart",       "delta.enableTypeWidening"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        assert_err(&process->err, ERR_SCHEMA_CHANGED, parts[i]);
    process_close(process);
    assert_bronze_ids(world, "1 2 3");
    assert_rows(world, "1.50\n2.50\n3.50\n", "SELECT amount FROM {" BRONZE "} ORDER BY id");
    assert_rows(world, "1\n",
                "SELECT count(*) FROM {" FACTS "} WHERE event = 'schema_change' AND "
                "contains(detail, 'decimal(10,1)')");
    world_close(world);
}

static void a_dropped_column_is_null_from_then_on(void **state) /* T6.2, T12.1 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = stream_of(world, NULL);
    Process      *process;

    options.trigger = TRIGGER_CONTINUOUS;
    process         = process_open(world, "stream");
    process_spawn_stream(process, &options);
    (void)shop_insert(world, 1);
    world_pass_minutes(world, 1);
    world_exec(world, "ALTER TABLE dbo.orders ADD extra int NULL");
    world_exec(world, "ALTER TABLE dbo.orders DROP COLUMN note");
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 7)");
    world_pass_minutes(world, 1);
    cancel_request(process->cancel);
    process_join(process);
    assert_int_equal(process->err.code, ERR_CANCELLED);
    process_close(process);
    assert_rows(world, "1|n1\n2|-\n", "SELECT id, note FROM {" BRONZE "} ORDER BY id");
    assert_rows(
        world, "true|false\nfalse|true\n",
        "SELECT contains(detail, 'ADD extra'), contains(detail, 'DROP COLUMN note') FROM {" FACTS
        "} WHERE event = 'schema_change' ORDER BY min_lsn");
    /* A run that begins afterwards reads it as NULL as well. */
    options.trigger = TRIGGER_AVAILABLE_NOW;
    world_commit(world, "INSERT INTO dbo.orders VALUES (3, 8)");
    (void)world_stream(world, &options);
    assert_rows(world, "1|n1\n2|-\n3|-\n", "SELECT id, note FROM {" BRONZE "} ORDER BY id");
    assert_facts_once(world);

    options.schema_change_fails = true;
    world_exec(world, "ALTER TABLE dbo.orders ADD more int NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (4, 8, 9)");
    static const char *const parts[] = {"dbo_orders", "DDL at LSN 0x", "ADD more",
                                        "a rerun meets it again", "restart once with classify"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        refuse(world, &options, ERR_SCHEMA_CHANGED, parts[i]);
    world_close(world);
}

static void a_listed_column_that_grows_names_the_list(void **state) /* T12.1 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;
    Process      *process;

    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, a int NULL");
    options         = stream_of(world, "id INT, a INT");
    options.trigger = TRIGGER_CONTINUOUS;
    process         = process_open(world, "stream");
    process_spawn_stream(process, &options);
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 1)");
    world_pass_minutes(world, 1);
    world_exec(world, "ALTER TABLE dbo.orders ALTER COLUMN a bigint NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 3000000000)");
    process_join(process);
    assert_err(&process->err, ERR_SCHEMA_CHANGED, "`columns`");
    assert_err(&process->err, ERR_SCHEMA_CHANGED, "bigint");
    process_close(process);
    assert_bronze_ids(world, "1");
    world_close(world);
}

static void another_collation_than_the_databases_is_a_warning(void **state)
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_create(world, "orders",
                 "id int NOT NULL PRIMARY KEY, greek varchar(9) COLLATE Greek_CI_AS NULL, wide "
                 "nvarchar(9) COLLATE Greek_CI_AS NULL, plain varchar(9) NULL");
    options = stream_of(world, NULL);
    (void)world_stream(world, &options);
    assert_int_equal(world_line_count(world, "columns=greek "), 1);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_cdc_does_not_give_never_reach_silver),
        cmocka_unit_test(listed_columns_are_read_as_their_types),
        cmocka_unit_test(a_list_that_cannot_be_read_touches_nothing),
        cmocka_unit_test(a_column_that_cannot_be_read_is_left_out_by_the_list),
        cmocka_unit_test(a_type_that_grows_stops_and_one_that_fits_goes_on),
        cmocka_unit_test(a_dropped_column_is_null_from_then_on),
        cmocka_unit_test(a_listed_column_that_grows_names_the_list),
        cmocka_unit_test(another_collation_than_the_databases_is_a_warning),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
