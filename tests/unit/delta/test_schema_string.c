/* Spark's schema JSON: read, written, and changed without touching what we do not know. */
#include "support/test_support.h"

#include "types/nested_type.h"
#include "unit/delta/delta_test.h"

static void types_are_read_by_their_names(void **state)
{
    Arena *arena = arena_new();
    Err    err   = ERR_INIT;
    Field *fields;
    Schema schema;
    (void)state;
    assert_ok(schema_string_parse(
                  STR("{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"decimal( 10 , 2 "
                      ")\",\"nullable\":false,\"metadata\":{\"comment\":\"x \\u00e9\"}},"
                      "{\"name\":\"b\",\"type\":\"byte\",\"nullable\":true,\"metadata\":{\"__CHAR_"
                      "VARCHAR_TYPE_STRING\":\"char(3)\"}}]}"),
                  arena, &fields, &schema, &err),
              &err);
    assert_int_equal(schema.column_count, 2);
    assert_true(column_type_equal(schema.columns[0].type, DECIMAL_TYPE(10, 2)));
    assert_str_is(schema.columns[0].comment, "x \xC3\xA9");
    assert_true(column_type_equal(schema.columns[1].type, COLUMN_TYPE(TYPE_SHORT)));
    assert_true(fields[1].is_foreign);
    arena_close(arena);
}

static void a_type_we_cannot_read_names_its_column(void **state)
{
    const struct {
        const char *text, *message;
        ErrCode     code;
    } cases[] = {
        {"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"variant\"}]}",
         "DELTA-S01 column a has type variant", ERR_UNSUPPORTED},
        {"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"array\"}}]}",
         "DELTA-S01 column a has a type that is no Spark type", ERR_UNSUPPORTED},
        {"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"set\"}}]}",
         "DELTA-S01 column a has a type that is no Spark type", ERR_UNSUPPORTED},
        {"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"array\","
         "\"elementType\":\"variant\"}}]}",
         "DELTA-S01 column a has type variant", ERR_UNSUPPORTED},
        {"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"struct\","
         "\"fields\":[]}}]}",
         "DELTA-S01 column a has a struct without fields", ERR_UNSUPPORTED},
        {"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"struct\","
         "\"fields\":[{\"type\":\"long\"}]}}]}",
         "DELTA-S01 column a has a struct with a field without a name", ERR_UNSUPPORTED},
        {"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"decimal(39,0)\"}]}",
         "DELTA-S01 column a", ERR_UNSUPPORTED},
        {"{\"type\":\"struct\",\"fields\":[{\"type\":\"long\"}]}", "DELTA-L06", ERR_DAMAGED},
        {"{\"type\":\"struct\"}", "DELTA-L06", ERR_DAMAGED},
        {"{\"type\":\"struct\",\"fields\":[", "DELTA-L06", ERR_DAMAGED},
    };
    Arena *arena = arena_new();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Err    err = ERR_INIT;
        Field *fields;
        Schema schema;
        assert_false(schema_string_parse(str_from_c(cases[i].text), arena, &fields, &schema, &err));
        assert_err(&err, cases[i].code, cases[i].message);
    }
    arena_close(arena);
}

#define NESTED_FIELDS                                                                         \
    "{\"name\":\"list\",\"type\":{\"type\":\"array\",\"elementType\":{\"type\":\"map\","      \
    "\"keyType\":"                                                                            \
    "\"string\",\"valueType\":\"byte\",\"valueContainsNull\":true},\"containsNull\":false}}," \
    "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a "                \
    "b\",\"type\":\"date\","                                                                  \
    "\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":7,"                           \
    "\"delta.columnMapping.physicalName\":\"col-x\"}}]}},"                                    \
    "{\"name\":\"v\",\"type\":\"void\"},"                                                     \
    "{\"name\":\"u\",\"type\":{\"type\":\"udt\",\"class\":\"Point\",\"sqlType\":\"double\"}}"

static void arrays_maps_and_structs_are_read_and_never_written(void **state)
{
    static const char *const names[] = {"ARRAY<MAP<STRING, SMALLINT>>", "STRUCT<`a b`: DATE>",
                                        "VOID", "DOUBLE"};
    Arena                   *arena   = arena_new();
    Err                      err     = ERR_INIT;
    Field                   *fields;
    Schema                   schema;

    (void)state;
    assert_ok(schema_string_parse(STR("{\"type\":\"struct\",\"fields\":[" NESTED_FIELDS "]}"),
                                  arena, &fields, &schema, &err),
              &err);
    assert_int_equal(schema.column_count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_str_is(column_type_sql_name(arena, schema.columns[i].type), names[i]);
        assert_true(fields[i].is_foreign);
    }
    const NestedField *mapped = &schema.columns[1].type.nested->fields[0];
    assert_str_is(mapped->physical_name, "col-x");
    assert_int_equal(mapped->field_id, 7);
    arena_close(arena);
}

static Str nested_arrays(Arena *arena, int depth)
{
    Buf text = buf_new(arena, 0);

    buf_append_c(&text, "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":");
    for (int i = 0; i < depth; i++)
        buf_append_c(&text, "{\"type\":\"array\",\"elementType\":");
    buf_append_c(&text, "\"long\"");
    for (int i = 0; i < depth; i++)
        buf_append_char(&text, '}');
    buf_append_c(&text, "}]}");
    return buf_str(&text);
}

static void types_are_nested_up_to_a_depth(void **state)
{
    Arena *arena = arena_new();
    Err    err   = ERR_INIT;
    Field *fields;
    Schema schema;

    (void)state;
    assert_ok(
        schema_string_parse(nested_arrays(arena, LIMIT_NESTING), arena, &fields, &schema, &err),
        &err);
    assert_false(schema_string_parse(nested_arrays(arena, LIMIT_NESTING + 2), arena, &fields,
                                     &schema, &err));
    assert_err(&err, ERR_UNSUPPORTED, "DELTA-S01 column a has a type nested too deeply");
    arena_close(arena);
}

static void a_schema_comes_back_as_it_was_written(void **state)
{
    Arena *arena = arena_new();
    Err    err   = ERR_INIT;
    Field *fields;
    Schema schema, want = test_schema(arena);
    (void)state;
    Str text = schema_string_format(arena, &want, &(ColumnMapping){0});
    assert_str_is(
        text, "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":"
              "true,\"metadata\":{\"comment\":\"the key\"}},"
              "{\"name\":\"name\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},{\"name\":"
              "\"at\",\"type\":\"timestamp_ntz\",\"nullable\":true,\"metadata\":{}}]}");
    assert_ok(schema_string_parse(text, arena, &fields, &schema, &err), &err);
    assert_true(schema_equal(&schema, &want));
    arena_close(arena);
}

#define ODD_FIELD                                                                     \
    " { \"metadata\" : "                                                              \
    "{\"a.b\":[1,2.50],\"delta.columnMapping.id\":123456789012345678901234567890} , " \
    "\"nullable\":false, \"type\":\"long\",\"name\":\"a\",\"x\":null } "

static Str append_columns(Arena *arena, Str text, const Schema *added)
{
    SchemaChange change = {.added = *added, .mapping = &(ColumnMapping){0}};
    return schema_string_change(arena, text, &change);
}

static void columns_are_added_and_the_rest_stays(void **state)
{
    Arena *arena  = arena_new();
    Column column = {STR("new"), COLUMN_TYPE(TYPE_DATE), STR("says \"so\"")};
    Schema added  = {&column, 1};
    (void)state;
    assert_str_is(
        append_columns(arena, STR("{\"fields\":[" ODD_FIELD "],\"type\":\"struct\"}"), &added),
        "{\"fields\":[" ODD_FIELD
        ",{\"name\":\"new\",\"type\":\"date\",\"nullable\":true,\"metadata\":{"
        "\"comment\":\"says \\\"so\\\"\"}}],\"type\":\"struct\"}");
    assert_str_is(append_columns(arena, STR("{\"type\":\"struct\",\"fields\":[ ]}"), &added),
                  "{\"type\":\"struct\",\"fields\":[ "
                  "{\"name\":\"new\",\"type\":\"date\",\"nullable\":true,\"metadata\":{\"comment\":"
                  "\"says \\\"so\\\"\"}}]}");
    arena_close(arena);
}

static void names_are_judged_as_delta_does(void **state)
{
    (void)state;
    for (const char *c = " ,;{}()\n\t="; *c; c++)
        assert_int_equal(schema_forbidden_char((Str){c, 1}), *c);
    assert_int_equal(schema_forbidden_char(STR("Gr\xC3\xB6\xC3\x9F"
                                               "e.[x]'\"`%-")),
                     0);
    Column columns[] = {{STR("a"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                        {STR("B"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                        {STR("b"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    Schema schema    = {columns, 3};
    Err    err       = ERR_INIT;
    assert_false(schema_check_names(&schema, &err));
    assert_err(&err, ERR_UNSUPPORTED, "the column name b occurs twice");
    columns[2].name = STR("");
    assert_false(schema_check_names(&schema, &err));
    assert_err(&err, ERR_UNSUPPORTED, "empty name");
    schema.column_count = 2;
    assert_true(schema_check_names(&schema, &err));
}

/* Unknown members of metaData and unknown field metadata survive an own change. */
static void a_changed_table_keeps_what_others_put_there(void **state)
{
    World *world = world_new(state);
    put_commit(
        world, "t", 0,
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
        "{\"metaData\":{\"createdTime\":17,\"id\":\"the "
        "id\",\"name\":\"n\",\"format\":{\"provider\":\"parquet\",\"options\":{\"k\":\"v\"}},"
        "\"mystery\":[1.50,{\"a\":null}],"
        "\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","
        "\\\"nullable\\\":false,\\\"metadata\\\":{\\\"odd\\\":1.0e2}}]}\",\"partitionColumns\":[],"
        "\"configuration\":{\"owner.key\":\"1\",\"mssql_cdc.schema_version\":\"1\"}}}\n");
    DeltaTable   *table        = open_table(world, "t");
    Column        columns[]    = {{STR("ID"), COLUMN_TYPE(TYPE_INTEGER), STR_EMPTY},
                                  {STR("at"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR_EMPTY}};
    Schema        schema       = {columns, 2};
    DeltaProperty properties[] = {{STR("mssql_cdc.schema_version"), STR("2")},
                                  {STR("mssql_cdc.new"), STR("x")}};
    DeltaCommit   commit       = {.operation          = STR("ADD COLUMNS"),
                                  .schema             = &schema,
                                  .set_properties     = properties,
                                  .set_property_count = 2,
                                  .user_metadata      = STR_EMPTY};
    DeltaOutcome  outcome;
    int64_t       version;
    assert_ok(delta_table_commit(table, &commit, &outcome, &version, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
    assert_int_equal(version, 1);
    Str text = read_text(world, commit_path(world, "t", 1));
    assert_true(
        str_find(text,
                 STR("{\"metaData\":{\"createdTime\":17,\"id\":\"the "
                     "id\",\"name\":\"n\",\"format\":{\"provider\":\"parquet\",\"options\":{\"k\":"
                     "\"v\"}},\"mystery\":[1.50,{\"a\":null}],"
                     "\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":"
                     "\\\"long\\\",\\\"nullable\\\":false,\\\"metadata\\\":{\\\"odd\\\":1.0e2}},"
                     "{\\\"name\\\":\\\"at\\\",\\\"type\\\":\\\"timestamp_ntz\\\",\\\"nullable\\\":"
                     "true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],"
                     "\"configuration\":{\"owner.key\":\"1\",\"mssql_cdc.schema_version\":\"2\","
                     "\"mssql_cdc.new\":\"x\"}}}\n"),
                 0) > 0);
    assert_true(str_find(text,
                         STR("{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                             "\"readerFeatures\":[\"timestampNtz\"],\"writerFeatures\":["
                             "\"timestampNtz\",\"appendOnly\",\"invariants\"]}}\n"),
                         0) > 0);
    assert_int_equal(delta_table_get_schema(table)->column_count, 2);
    /* once more: there is nothing left to change */
    assert_ok(delta_table_commit(table, &commit, &outcome, &version, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_SKIPPED);
    assert_int_equal(version, 1);
    delta_table_close(table);
    world_close(world);
}

/* Versions of the old protocol imply features; all of them are named when one is added. */
static void an_upgrade_forgets_no_feature(void **state)
{
    Arena       *arena  = arena_new();
    Column       column = {STR("at"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR_EMPTY};
    Schema       added  = {&column, 1};
    Protocol     protocol;
    FeatureNeeds needs = {0};
    JsonText     body;
    size_t       bad_at;
    Str          out;
    (void)state;
    feature_needs_add_columns(&needs, &added);
    assert_true(
        json_text_parse(STR("{\"minReaderVersion\":2,\"minWriterVersion\":6}"), &body, &bad_at) &&
        protocol_parse(body, arena, &protocol));
    assert_true(protocol_upgrade(arena, &protocol, &needs, &out));
    assert_str_is(
        out,
        "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"timestampNtz\","
        "\"columnMapping\"],\"writerFeatures\":[\"timestampNtz\",\"appendOnly\",\"invariants\","
        "\"checkConstraints\",\"changeDataFeed\",\"generatedColumns\",\"columnMapping\","
        "\"identityColumns\"]}");
    assert_true(json_text_parse(STR("{\"minReaderVersion\":1,\"minWriterVersion\":7,"
                                    "\"writerFeatures\":[\"rowTracking\",\"domainMetadata\"]}"),
                                &body, &bad_at) &&
                protocol_parse(body, arena, &protocol));
    assert_true(protocol_upgrade(arena, &protocol, &needs, &out));
    assert_str_is(
        out, "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"timestampNtz\"],"
             "\"writerFeatures\":[\"timestampNtz\",\"rowTracking\",\"domainMetadata\"]}");
    assert_true(json_text_parse(out, &body, &bad_at) && protocol_parse(body, arena, &protocol));
    assert_false(protocol_upgrade(arena, &protocol, &needs, &out));
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_read_by_their_names),
        cmocka_unit_test(a_type_we_cannot_read_names_its_column),
        cmocka_unit_test(arrays_maps_and_structs_are_read_and_never_written),
        cmocka_unit_test(types_are_nested_up_to_a_depth),
        cmocka_unit_test(a_schema_comes_back_as_it_was_written),
        cmocka_unit_test(columns_are_added_and_the_rest_stays),
        cmocka_unit_test(names_are_judged_as_delta_does),
        cmocka_unit_test(a_changed_table_keeps_what_others_put_there),
        cmocka_unit_test(an_upgrade_forgets_no_feature),
    };
    return RUN_DELTA_TESTS(tests);
}
