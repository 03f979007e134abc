/* Types by name, their mixes, and values made and copied (sqlserver.md 2.9, 2.10). */
#include "support/sim_eval.h"

static void assert_type(const char *text, const char *want, int length)
{
    Arena  *arena = arena_new();
    SimType type;

    if (!sim_type_parse(str_from_c(text), &type)) fail_msg("%s is no type", text);
    assert_str_is(sim_type_format(arena, &type), want);
    assert_int_equal(type.length, length);
    arena_close(arena);
}

static void types_are_known_by_all_their_names(void **state)
{
    SimType type;

    (void)state;
    assert_type("int", "int", 4);
    assert_type("INTEGER", "int", 4);
    assert_type("decimal(10, 2)", "decimal(10,2)", 9);
    assert_type("numeric", "numeric(18,0)", 9);
    assert_type("dec(38,38)", "decimal(38,38)", 17);
    assert_type("float(24)", "real", 4);
    assert_type("float(25)", "float", 8);
    assert_type("double precision", "float", 8);
    assert_type("varchar(10)", "varchar(10)", 10);
    assert_type("varchar", "varchar(1)", 1);
    assert_type("nvarchar(MAX)", "nvarchar(max)", -1);
    assert_type("national character varying(7)", "nvarchar(7)", 14);
    assert_type("sysname", "nvarchar(128)", 256);
    assert_type("rowversion", "timestamp", 8);
    assert_type("datetime2", "datetime2(7)", 8);
    assert_type("datetime2(2)", "datetime2(2)", 6);
    assert_type("time(0)", "time(0)", 3);
    assert_type("datetimeoffset(3)", "datetimeoffset(3)", 9);
    assert_false(sim_type_parse(STR("foo"), &type));
    assert_false(sim_type_parse(STR("varchar(8001)"), &type));
    assert_false(sim_type_parse(STR("varchar(0)"), &type));
    assert_false(sim_type_parse(STR("nvarchar(4001)"), &type));
    assert_false(sim_type_parse(STR("char(max)"), &type));
    assert_false(sim_type_parse(STR("decimal(39)"), &type));
    assert_false(sim_type_parse(STR("decimal(5,6)"), &type));
    assert_false(sim_type_parse(STR("time(8)"), &type));
    assert_false(sim_type_parse(STR("int(4)"), &type));
    assert_false(sim_type_parse(STR("varchar(10"), &type));
    assert_false(sim_type_parse(STR(""), &type));
}

static void wrong_types_have_errors_of_their_own(void **state)
{
    SimType  type;
    SimError error = SIM_ERROR_INIT;

    (void)state;
    assert_false(sim_type_make(STR("foo"), -1, -1, true, &type, &error));
    assert_int_equal(error.number, 243);
    assert_false(sim_type_make(STR("foo"), -1, -1, false, &type, &error));
    assert_int_equal(error.number, 2715);
    assert_false(sim_type_make(STR("varchar"), 9000, -1, false, &type, &error));
    assert_int_equal(error.number, 131);
    assert_false(sim_type_make(STR("varchar"), 0, -1, false, &type, &error));
    assert_int_equal(error.number, 1001);
    assert_false(sim_type_make(STR("decimal"), 40, -1, false, &type, &error));
    assert_int_equal(error.number, 2750);
    assert_false(sim_type_make(STR("decimal"), 5, 6, false, &type, &error));
    assert_int_equal(error.number, 2751);
    assert_false(sim_type_make(STR("time"), 8, -1, false, &type, &error));
    assert_int_equal(error.number, 1002);
    assert_true(sim_type_make(STR("char"), -1, -1, true, &type, &error));
    assert_int_equal(type.length, 30);
}

static void assert_mix(const char *left, const char *right, const char *want)
{
    Arena   *arena = arena_new();
    SimType  one, two, out;
    SimError error = SIM_ERROR_INIT;

    assert_true(sim_type_parse(str_from_c(left), &one));
    assert_true(sim_type_parse(str_from_c(right), &two));
    if (!sim_type_unify(&one, &two, &out, &error))
        fail_msg("%s and %s: %s", left, right, error.message);
    assert_str_is(sim_type_format(arena, &out), want);
    if (!sim_type_unify(&two, &one, &out, &error))
        fail_msg("%s and %s: %s", right, left, error.message);
    assert_str_is(sim_type_format(arena, &out), want);
    out = one; /* into one of the two, as over the branches of a CASE */
    assert_true(sim_type_unify(&out, &two, &out, &error));
    assert_str_is(sim_type_format(arena, &out), want);
    out = two;
    assert_true(sim_type_unify(&one, &out, &out, &error));
    assert_str_is(sim_type_format(arena, &out), want);
    arena_close(arena);
}

static void mixed_types_follow_precedence(void **state)
{
    SimType  one = sim_type(SIM_DATE), two = sim_type(SIM_INT), out;
    SimError error = SIM_ERROR_INIT;

    (void)state;
    assert_mix("int", "bigint", "bigint");
    assert_mix("int", "varchar(10)", "int");
    assert_mix("decimal(5,2)", "decimal(10,0)", "decimal(12,2)");
    assert_mix("decimal(38,0)", "decimal(10,5)", "decimal(38,0)");
    assert_mix("decimal(5,2)", "int", "decimal(12,2)");
    assert_mix("float", "decimal(5,2)", "float");
    assert_mix("money", "int", "money");
    assert_mix("varchar(5)", "nvarchar(3)", "nvarchar(5)");
    assert_mix("char(5)", "varchar(9)", "varchar(9)");
    assert_mix("nchar(5)", "varchar(9)", "nvarchar(9)");
    assert_mix("varchar(max)", "nvarchar(3)", "nvarchar(max)");
    assert_mix("binary(5)", "varbinary(2)", "varbinary(5)");
    assert_mix("date", "datetime2(3)", "datetime2(3)");
    assert_mix("datetime2(3)", "datetimeoffset(1)", "datetimeoffset(3)");
    assert_mix("datetime", "int", "datetime");
    assert_mix("uniqueidentifier", "varchar(36)", "uniqueidentifier");
    assert_false(sim_type_unify(&one, &two, &out, &error));
    assert_int_equal(error.number, 206);
    one = sim_type(SIM_TIME);
    two = sim_type(SIM_DATE);
    assert_false(sim_type_unify(&one, &two, &out, &error));
    assert_int_equal(error.number, 206);
}

static void texts_of_two_collations_do_not_mix(void **state)
{
    SimType  one = sim_type_sized(SIM_VARCHAR, 5), two = sim_type_sized(SIM_VARCHAR, 5), out;
    SimError error = SIM_ERROR_INIT;

    (void)state;
    one.collation = sim_collation_find(STR("Greek_CI_AS"));
    assert_true(sim_type_unify(&one, &two, &out, &error));
    assert_ptr_equal(out.collation, one.collation);
    two.collation = sim_collation_find(STR("Turkish_CI_AS"));
    assert_false(sim_type_unify(&one, &two, &out, &error));
    assert_int_equal(error.number, 468);
    assert_non_null(strstr(error.message, "Turkish_CI_AS"));
}

static void literals_have_the_smallest_type_that_holds_them(void **state)
{
    (void)state;
    assert_typed("1", "1 int");
    assert_typed("2147483648", "2147483648 numeric(10,0)");
    assert_typed("1.50", "1.50 numeric(3,2)");
    assert_typed(".5", "0.5 numeric(1,1)");
    assert_typed("1.", "1 numeric(1,0)");
    assert_typed("000123", "123 int");
    assert_typed("1e2", "100 float");
    assert_typed("1e", "1 float");
    assert_typed("$1.5", "1.50 money");
    assert_typed("0xABC", "0x0ABC varbinary(2)");
    assert_typed("0x", "0x varbinary(1)");
    assert_typed("'abc'", "abc varchar(3)");
    assert_typed("''", " varchar(1)");
    assert_typed("N'a''b'", "a'b nvarchar(3)");
    assert_fails("1e400", 168);
    assert_fails("123456789012345678901234567890123456789", 1007);
}

static void times_convert_to_microseconds_and_back(void **state)
{
    SimValue value = sim_datetime_from_us(
        INT64_C(1577934245003333)); /* 2020-01-02 03:04:05.003333 */
    Arena   *arena = arena_new();
    SimValue moment;
    SimError error;

    (void)state;
    assert_int_equal(sim_time_to_us(&value), INT64_C(1577934245003000));
    value = sim_datetime_from_us(-1); /* the last tick of 1969 is 1.7 ms away, midnight nearer */
    assert_int_equal(sim_time_to_us(&value), 0);
    value = sim_datetime_from_us(INT64_C(-86400000000));
    assert_int_equal(sim_time_to_us(&value), INT64_C(-86400000000));
    assert_true(sim_eval("CAST('2020-01-02 03:04:05.1234567 +02:00' AS datetimeoffset)", arena,
                         &moment, &error));
    assert_int_equal(sim_time_to_us(&moment), INT64_C(1577927045123456));
    arena_close(arena);
}

static void copies_have_bytes_of_their_own(void **state)
{
    uint8_t  bytes[] = {1, 2, 3};
    Arena   *arena   = arena_new();
    SimValue value   = sim_varbinary((Bytes){bytes, sizeof bytes});
    SimValue copy    = sim_value_copy(arena, &value);

    (void)state;
    bytes[0] = 9;
    assert_int_equal(copy.bytes.ptr[0], 1);
    assert_int_equal(copy.bytes.len, 3);
    copy = sim_int(5, SIM_INT);
    assert_int_equal(sim_value_copy(arena, &copy).i64, 5);
    arena_close(arena);
}

static void errors_know_their_severity(void **state)
{
    SimError error;

    (void)state;
    assert_false(sim_error(&error, 1205, "Transaction (Process ID %d) was deadlocked", 51));
    assert_int_equal(error.severity, 13);
    assert_true(error.ends_batch);
    assert_true(error.rolls_back);
    assert_false(sim_error(&error, 2627, "x"));
    assert_int_equal(error.severity, 14);
    assert_false(error.ends_batch);
    assert_false(sim_error(&error, 102, "x"));
    assert_int_equal(error.severity, 15);
    assert_false(sim_not_supported(&error, "a %s", "thing"));
    assert_int_equal(error.number, SIM_NOT_SUPPORTED);
    assert_string_equal(error.message, "tidesim: a thing is not supported");
    const int before = (int)sizeof error.message - 2; /* no half character at the end */
    assert_false(sim_error(&error, 50000, "%0*d\xC3\xB1", before, 0));
    assert_int_equal(strlen(error.message), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_known_by_all_their_names),
        cmocka_unit_test(wrong_types_have_errors_of_their_own),
        cmocka_unit_test(mixed_types_follow_precedence),
        cmocka_unit_test(texts_of_two_collations_do_not_mix),
        cmocka_unit_test(literals_have_the_smallest_type_that_holds_them),
        cmocka_unit_test(times_convert_to_microseconds_and_back),
        cmocka_unit_test(copies_have_bytes_of_their_own),
        cmocka_unit_test(errors_know_their_severity),
    };
    return RUN_TESTS(tests);
}
