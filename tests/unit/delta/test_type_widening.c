/* Columns whose type became wider (delta.md 1.12, 2.9; algorithms.md 6.5): read from files of the
 * old type, every pair there is, and widened by an append where the owner allows it. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define WIDENING                                                                        \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[" \
    "\"typeWidening\",\"timestampNtz\"],\"writerFeatures\":[\"typeWidening\","          \
    "\"timestampNtz\"]}}\n"

/* --- reading --- */

typedef struct Pair {
    const char *from, *to;  /* as Delta calls them */
    const char *type;       /* of the file, as libduckdb calls it */
    const char *low, *high; /* values as the file has them */
} Pair;

static const Pair pairs[] = {
    {"byte", "short", "TINYINT", "-128", "127"},
    {"byte", "integer", "TINYINT", "-128", "127"},
    {"byte", "long", "TINYINT", "-128", "127"},
    {"short", "integer", "SMALLINT", "-32768", "32767"},
    {"short", "long", "SMALLINT", "-32768", "32767"},
    {"integer", "long", "INTEGER", "-2147483648", "2147483647"},
    {"float", "double", "FLOAT", "-0.5", "16777216.0"},
    {"byte", "double", "TINYINT", "-128", "127"},
    {"short", "double", "SMALLINT", "-32768", "32767"},
    {"integer", "double", "INTEGER", "-2147483648", "2147483647"},
    {"date", "timestamp_ntz", "DATE", "0001-01-01", "9999-12-31"},
    {"decimal(5,2)", "decimal(6,2)", "DECIMAL(5,2)", "-999.99", "999.99"},
    {"decimal(5,2)", "decimal(7,4)", "DECIMAL(5,2)", "-999.99", "999.99"},
    {"decimal(5,2)", "decimal(38,10)", "DECIMAL(5,2)", "-999.99", "999.99"},
    {"decimal(18,0)", "decimal(19,0)", "DECIMAL(18,0)", "-999999999999999999",
     "999999999999999999"},
    {"byte", "decimal(10,0)", "TINYINT", "-128", "127"},
    {"byte", "decimal(12,2)", "TINYINT", "-128", "127"},
    {"short", "decimal(10,0)", "SMALLINT", "-32768", "32767"},
    {"short", "decimal(12,2)", "SMALLINT", "-32768", "32767"},
    {"integer", "decimal(10,0)", "INTEGER", "-2147483648", "2147483647"},
    {"integer", "decimal(38,28)", "INTEGER", "-2147483648", "2147483647"},
    {"long", "decimal(20,0)", "BIGINT", "-9223372036854775808", "9223372036854775807"},
    {"long", "decimal(30,10)", "BIGINT", "-9223372036854775808", "9223372036854775807"},
};

static Str metadata_line(World *world, const char *type, const char *from, const char *properties)
{
    Str changes = STR_EMPTY;
    if (from)
        changes = str_printf(world->arena,
                             "\\\"delta.typeChanges\\\":[{\\\"fromType\\\":\\\"%s\\\","
                             "\\\"toType\\\":\\\"%s\\\"}]",
                             from, type);
    return str_printf(
        world->arena,
        "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\"},"
        "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{"
        "\\\"name\\\":\\\"c\\\",\\\"type\\\":\\\"%s\\\",\\\"nullable\\\":true,"
        "\\\"metadata\\\":{%.*s}}]}\",\"partitionColumns\":[],\"configuration\":{%s}}}\n",
        type, STR_ARG(changes), properties);
}

static void put_header(World *world, const char *type, const char *from, const char *more)
{
    Str line = metadata_line(world, type, from, "");
    put_commit(world, "t", 0, str_printf(world->arena, WIDENING "%.*s%s", STR_ARG(line), more).ptr);
}

/* Two values of the old type in a file, as it was written before. */
static void write_old_file(World *world, const Pair *pair)
{
    DuckSession *session = NULL;
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(
        duck_execute(session,
                     str_printf(world->arena,
                                "COPY (SELECT CAST(v AS %s) AS c FROM (VALUES ('%s'), ('%s'), "
                                "(NULL)) AS t(v)) TO '%s/t/old.parquet' (FORMAT parquet)",
                                pair->type, pair->low, pair->high, world->folder),
                     NULL, &world->err),
        &world->err);
    duck_session_close(session);
}

static void files_of_the_old_type_are_read_as_the_new_one(void **state)
{
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        const Pair *pair  = &pairs[i];
        World      *world = world_new_local(state);
        bool        quote = strcmp(pair->from, "date") == 0;
        const char *zero  = quote ? "T00:00:00" : "";
        put_header(
            world, pair->to, pair->from,
            str_printf(world->arena,
                       "{\"add\":{\"path\":\"old.parquet\",\"partitionValues\":{},\"size\":1,"
                       "\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{"
                       "\\\"numRecords\\\":3,\\\"minValues\\\":{\\\"c\\\":%s%s%s},"
                       "\\\"maxValues\\\":{\\\"c\\\":%s%s%s}}\"}}\n",
                       quote ? "\\\"" : "", pair->low, quote ? "\\\"" : "", quote ? "\\\"" : "",
                       pair->high, quote ? "\\\"" : "")
                .ptr);
        write_old_file(world, pair);
        DeltaTable *table = open_table(world, "t");
        Str type = duck_type_name(world->arena, delta_table_get_schema(table)->columns[0].type);
        const char *query = str_printf(world->arena,
                                       "SELECT count(*) FROM (SELECT c FROM %%s) WHERE (c = CAST("
                                       "'%s%s' AS %.*s) OR c = CAST('%s%s' AS %.*s) OR c IS NULL) "
                                       "AND typeof(c) = '%.*s'",
                                       pair->low, zero, STR_ARG(type), pair->high, zero,
                                       STR_ARG(type), STR_ARG(type))
                                .ptr;
        if (query_table(world, table, query) != 3) fail_msg("%s to %s", pair->from, pair->to);
        /* its statistics are still good for finding it, and never hide it */
        const DeltaFile *file;
        size_t           at = 0;
        assert_true(delta_table_next_file(table, &at, &file));
        Str high = str_from_c(pair->high);
        if (quote) high = str_printf(world->arena, "%sT00:00:00.000000", pair->high);
        assert_true(delta_file_may_hold_range(table, file, STR("c"), &high, true, NULL, false));
        delta_table_close(table);
        world_close(world);
    }
}

/* Every type against every other: what the list above has not is no widening. */
static void any_other_change_is_refused(void **state)
{
    static const char *const types[] = {
        "byte",         "short",         "integer",       "long",          "float",
        "double",       "decimal(5,2)",  "decimal(6,2)",  "decimal(7,4)",  "decimal(6,4)",
        "decimal(9,0)", "decimal(10,0)", "decimal(12,2)", "decimal(19,0)", "decimal(20,0)",
        "date",         "timestamp",     "timestamp_ntz", "string",        "binary",
        "boolean"};
    static const char *const more[][2] = {
        /* what decimals add to the list among these types */
        {"byte", "decimal(19,0)"},          {"byte", "decimal(20,0)"},
        {"short", "decimal(19,0)"},         {"short", "decimal(20,0)"},
        {"integer", "decimal(12,2)"},       {"integer", "decimal(19,0)"},
        {"integer", "decimal(20,0)"},       {"decimal(5,2)", "decimal(12,2)"},
        {"decimal(6,2)", "decimal(12,2)"},  {"decimal(6,4)", "decimal(7,4)"},
        {"decimal(9,0)", "decimal(10,0)"},  {"decimal(9,0)", "decimal(12,2)"},
        {"decimal(9,0)", "decimal(19,0)"},  {"decimal(9,0)", "decimal(20,0)"},
        {"decimal(10,0)", "decimal(12,2)"}, {"decimal(10,0)", "decimal(19,0)"},
        {"decimal(10,0)", "decimal(20,0)"}, {"decimal(19,0)", "decimal(20,0)"},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        for (size_t j = 0; j < COUNT_OF(types); j++) {
            bool is_allowed = false;
            if (i == j) continue;
            for (size_t k = 0; k < COUNT_OF(pairs); k++)
                is_allowed |= strcmp(pairs[k].from, types[i]) == 0 &&
                              strcmp(pairs[k].to, types[j]) == 0;
            for (size_t k = 0; k < COUNT_OF(more); k++)
                is_allowed |= strcmp(more[k][0], types[i]) == 0 &&
                              strcmp(more[k][1], types[j]) == 0;
            if (type_can_widen(str_from_c(types[i]), str_from_c(types[j])) != is_allowed)
                fail_msg("%s to %s", types[i], types[j]);
        }
    World *world = world_new(state);
    put_header(world, "integer", "long", "");
    DeltaTable *table = NULL;
    assert_false(delta_table_open(&world->context, STR("t"), &table, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED,
               "DELTA-P14 column c was changed from long to integer, which is no type "
               "widening; nothing was read");
    world_close(world);
    /* fields of nested columns have records of their own */
    world = world_new(state);
    put_commit(
        world, "t", 0,
        WIDENING
        "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":"
        "\\\"c\\\",\\\"type\\\":{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":"
        "\\\"f\\\",\\\"type\\\":\\\"string\\\",\\\"metadata\\\":{\\\"delta.typeChanges\\\":["
        "{\\\"fromType\\\":\\\"long\\\",\\\"toType\\\":\\\"string\\\"}]}}]},\\\"metadata\\\":"
        "{}}]}\",\"configuration\":{}}}\n");
    assert_false(delta_table_open(&world->context, STR("t"), &table, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-P14 column c was changed from long to string");
    world_close(world);
}

/* Bounds of a float in ten digits are not those of the double it became. */
static void bounds_of_a_former_float_prove_nothing(void **state)
{
    World *world = world_new(state);
    put_header(world, "double", "float",
               "{\"add\":{\"path\":\"f\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,"
               "\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":1,\\\"minValues\\\":{"
               "\\\"c\\\":0.1},\\\"maxValues\\\":{\\\"c\\\":0.1}}\"}}\n");
    DeltaTable      *table = open_table(world, "t");
    const DeltaFile *file;
    size_t           at = 0;
    assert_true(delta_table_next_file(table, &at, &file));
    Str real = STR("0.10000000149011612"); /* what the file holds */
    assert_true(delta_file_may_hold_range(table, file, STR("c"), &real, true, &real, true));
    delta_table_close(table);
    world_close(world);
}

/* --- widening --- */

static DeltaTable *table_of(World *world, const char *type, const char *properties)
{
    Str line = metadata_line(world, type, NULL, properties);
    put_commit(world, "t", 0, str_printf(world->arena, WIDENING "%.*s", STR_ARG(line)).ptr);
    return open_table(world, "t");
}

#define ALLOWED "\"delta.enableTypeWidening\":\"true\""

/* Commits one row of that type. */
static bool append_as(World *world, DeltaTable *table, ColumnType type, int64_t value,
                      bool may_widen, DeltaOutcome *out)
{
    Column       column  = {STR("C"), type, STR_EMPTY}; /* names in any case */
    Schema       schema  = {&column, 1};
    RowBuilder  *builder = row_builder_new(world->arena, &schema);
    DeltaWriter *writer  = NULL;
    DeltaAdd     add;
    row_builder_begin(builder);
    if (type.kind == TYPE_DOUBLE)
        row_builder_set_double(builder, 0, (double)value);
    else if (type.kind == TYPE_DECIMAL)
        row_builder_set_decimal(builder, 0, int128_from_i64(value));
    else
        row_builder_set_i64(builder, 0, value);
    RowBlock block = row_builder_block(builder);
    assert_ok(delta_writer_open(table, STR("test"), &schema, &writer, &world->err), &world->err);
    assert_ok(delta_writer_write(writer, row_stream_of_block(world->arena, &schema, &block),
                                 world->arena, &add, &world->err),
              &world->err);
    assert_ok(delta_writer_publish(writer, &add, 1, &world->err), &world->err);
    DeltaCommit commit = {.adds          = &add,
                          .add_count     = 1,
                          .schema        = &schema,
                          .may_widen     = may_widen,
                          .user_metadata = STR_EMPTY};
    bool        ok     = delta_table_commit(table, &commit, out, NULL, &world->err);
    delta_writer_close(writer);
    return ok;
}

/* T6.10 */
static void a_wider_type_widens_the_column_where_the_owner_allowed_it(void **state)
{
    const struct {
        const char *have;
        ColumnType  want;
        const char *to; /* NULL: refused */
    } cases[] = {
        {"short", COLUMN_TYPE(TYPE_INTEGER), "integer"},
        {"short", COLUMN_TYPE(TYPE_LONG), "long"},
        {"integer", COLUMN_TYPE(TYPE_LONG), "long"},
        {"float", COLUMN_TYPE(TYPE_DOUBLE), "double"},
        {"date", COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), "timestamp_ntz"},
        {"decimal(10,2)", DECIMAL_TYPE(12, 4), "decimal(12,4)"},
        {"decimal(10,2)", DECIMAL_TYPE(12, 2), "decimal(12,2)"},
        /* legal to Delta, but no program does it unasked */
        {"integer", COLUMN_TYPE(TYPE_DOUBLE), NULL},
        {"integer", DECIMAL_TYPE(10, 0), NULL},
        /* no widening */
        {"decimal(10,2)", DECIMAL_TYPE(10, 4), NULL},
        {"decimal(10,2)", DECIMAL_TYPE(12, 5), NULL},
        {"timestamp_ntz", COLUMN_TYPE(TYPE_TIMESTAMP), NULL},
        {"string", COLUMN_TYPE(TYPE_LONG), NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World       *world = world_new_local(state);
        DeltaTable  *table = table_of(world, cases[i].have, ALLOWED);
        DeltaOutcome outcome;
        bool         ok = append_as(world, table, cases[i].want, 7, true, &outcome);
        if (ok != (cases[i].to != NULL)) fail_msg("%s: %s", cases[i].have, world->err.message);
        if (!ok) {
            assert_err(&world->err, ERR_SCHEMA_CHANGED, "which does not hold the new type");
            assert_false(file_exists(world, commit_path(world, "t", 1)));
        } else {
            Str change = str_printf(
                world->arena,
                "\\\"type\\\":\\\"%s\\\",\\\"nullable\\\":true,\\\"metadata\\\":{"
                "\\\"delta.typeChanges\\\":[{\\\"fromType\\\":\\\"%s\\\",\\\"toType\\\":\\\"%s\\\"}"
                "]}",
                cases[i].to, cases[i].have, cases[i].to);
            assert_true(str_find(read_text(world, commit_path(world, "t", 1)), change, 0) > 0);
            assert_str_is(column_type_delta_name(world->arena,
                                                 delta_table_get_schema(table)->columns[0].type),
                          cases[i].to);
            assert_int_equal(count_rows(world, table), 1);
        }
        delta_table_close(table);
        world_close(world);
    }
}

static void a_second_widening_is_written_behind_the_first(void **state)
{
    World       *world = world_new_local(state);
    DeltaTable  *table = table_of(world, "short", ALLOWED);
    DeltaOutcome outcome;
    assert_ok(append_as(world, table, COLUMN_TYPE(TYPE_SHORT), 1, true, &outcome), &world->err);
    assert_ok(append_as(world, table, COLUMN_TYPE(TYPE_INTEGER), 100000, true, &outcome),
              &world->err);
    assert_ok(append_as(world, table, COLUMN_TYPE(TYPE_LONG), INT64_C(10000000000), true, &outcome),
              &world->err);
    assert_true(str_find(read_text(world, commit_path(world, "t", 3)),
                         STR("[{\\\"fromType\\\":\\\"short\\\",\\\"toType\\\":\\\"integer\\\"},{"
                             "\\\"fromType\\\":\\\"integer\\\",\\\"toType\\\":\\\"long\\\"}]"),
                         0) > 0);
    assert_int_equal(query_table(world, table, "SELECT sum(c)::BIGINT FROM %s"),
                     INT64_C(10000100001));
    delta_table_close(table);
    world_close(world);
}

static void without_the_owners_leave_nothing_is_widened(void **state)
{
    static const struct {
        const char *properties;
        bool        may_widen, tells_how;
    } cases[] = {
        {"", true, true},
        {"\"delta.enableTypeWidening\":\"false\"", true, true},
        {ALLOWED, false, false}, /* silver never is */
        {"", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World       *world = world_new_local(state);
        DeltaTable  *table = table_of(world, "integer", cases[i].properties);
        DeltaOutcome outcome;
        assert_false(
            append_as(world, table, COLUMN_TYPE(TYPE_LONG), 7, cases[i].may_widen, &outcome));
        assert_err(&world->err, ERR_SCHEMA_CHANGED,
                   "column c has type INT, which does not hold the new type BIGINT; nothing was "
                   "written");
        if (cases[i].tells_how)
            assert_err(
                &world->err, ERR_SCHEMA_CHANGED,
                "ALTER TABLE delta.`t` SET TBLPROPERTIES ('delta.enableTypeWidening'='true')");
        assert_false(file_exists(world, commit_path(world, "t", 1)));
        delta_table_close(table);
        world_close(world);
    }
}

/* The property is no leave where the protocol has the preview of the feature, whose records of
 * changes need what no new writer knows. */
static void the_preview_of_the_feature_widens_nothing(void **state)
{
    World       *world = world_new_local(state);
    Str          line  = metadata_line(world, "integer", NULL, ALLOWED);
    DeltaOutcome outcome;
    put_commit(world, "t", 0,
               str_printf(world->arena,
                          "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                          "\"readerFeatures\":[\"typeWidening-preview\"],\"writerFeatures\":["
                          "\"typeWidening-preview\"]}}\n%.*s",
                          STR_ARG(line))
                   .ptr);
    DeltaTable *table = open_table(world, "t");
    assert_false(append_as(world, table, COLUMN_TYPE(TYPE_LONG), 7, true, &outcome));
    assert_err(&world->err, ERR_SCHEMA_CHANGED, "which does not hold the new type BIGINT");
    assert_ok(append_as(world, table, COLUMN_TYPE(TYPE_INTEGER), 7, true, &outcome), &world->err);
    delta_table_close(table);
    world_close(world);
}

/* T6.12 */
static void a_narrower_type_is_written_as_the_tables(void **state)
{
    World       *world = world_new_local(state);
    DeltaTable  *table = table_of(world, "long", ALLOWED);
    DeltaOutcome outcome;
    assert_ok(append_as(world, table, COLUMN_TYPE(TYPE_INTEGER), 7, true, &outcome), &world->err);
    assert_true(str_find(read_text(world, commit_path(world, "t", 1)), STR("metaData"), 0) < 0);
    assert_int_equal(
        query_table(world, table, "SELECT count(*) FROM %s WHERE c = 7 AND typeof(c) = 'BIGINT'"),
        1);
    delta_table_close(table);
    world_close(world);
}

/* A file of the type that the column had is no file of the column any more: the batch is written
 * again, whole. */
static void a_winner_that_widened_the_column_is_a_conflict(void **state)
{
    World       *world = world_new_local(state);
    DeltaTable  *table = table_of(world, "integer", ALLOWED);
    Str          line  = metadata_line(world, "long", "integer", ALLOWED);
    DeltaOutcome outcome;
    put_commit_str(world, "t", 1, line);
    assert_false(append_as(world, table, COLUMN_TYPE(TYPE_INTEGER), 7, true, &outcome));
    assert_err(&world->err, ERR_CONFLICT, "and changed column c");
    err_clear(&world->err);
    assert_ok(append_as(world, table, COLUMN_TYPE(TYPE_INTEGER), 7, true, &outcome), &world->err);
    assert_int_equal(query_table(world, table, "SELECT sum(c)::BIGINT FROM %s"), 7);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_the_old_type_are_read_as_the_new_one),
        cmocka_unit_test(any_other_change_is_refused),
        cmocka_unit_test(bounds_of_a_former_float_prove_nothing),
        cmocka_unit_test(a_wider_type_widens_the_column_where_the_owner_allowed_it),
        cmocka_unit_test(a_second_widening_is_written_behind_the_first),
        cmocka_unit_test(without_the_owners_leave_nothing_is_widened),
        cmocka_unit_test(the_preview_of_the_feature_widens_nothing),
        cmocka_unit_test(a_narrower_type_is_written_as_the_tables),
        cmocka_unit_test(a_winner_that_widened_the_column_is_a_conflict),
    };
    return RUN_DELTA_TESTS(tests);
}
