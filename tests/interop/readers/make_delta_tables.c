/* Writes tables for check_delta_tables.py to read with other programs: every type at its
 * extremes, before, at and after the checkpoint at version 10; rows removed and rewritten; a
 * column added; comments, descriptions and userMetadata.
 *
 *   make_delta_tables FOLDER */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define TYPE_COLUMNS 16

static const Column type_columns[TYPE_COLUMNS] = {
    {{"id", 2}, {.kind = TYPE_LONG}, {"row number", 10}},
    {{"c_bool", 6}, {.kind = TYPE_BOOLEAN}, {"", 0}},
    {{"c_short", 7}, {.kind = TYPE_SHORT}, {"", 0}},
    {{"c_int", 5}, {.kind = TYPE_INTEGER}, {"", 0}},
    {{"c_long", 6}, {.kind = TYPE_LONG}, {"", 0}},
    {{"c_float", 7}, {.kind = TYPE_FLOAT}, {"", 0}},
    {{"c_double", 8}, {.kind = TYPE_DOUBLE}, {"", 0}},
    {{"c_dec4", 6}, {.kind = TYPE_DECIMAL, .precision = 4, .scale = 1}, {"", 0}},
    {{"c_dec9", 6}, {.kind = TYPE_DECIMAL, .precision = 9, .scale = 9}, {"", 0}},
    {{"c_dec18", 7}, {.kind = TYPE_DECIMAL, .precision = 18, .scale = 2}, {"", 0}},
    {{"c_dec38", 7}, {.kind = TYPE_DECIMAL, .precision = 38, .scale = 0}, {"", 0}},
    {{"c_date", 6}, {.kind = TYPE_DATE}, {"", 0}},
    {{"c_ts", 4}, {.kind = TYPE_TIMESTAMP}, {"", 0}},
    {{"c_ntz", 5}, {.kind = TYPE_TIMESTAMP_NTZ}, {"", 0}},
    {{"c_str", 5}, {.kind = TYPE_STRING}, {"a \"quoted\" comment \xF0\x9F\x8C\x8A", 23}},
    {{"c_bin", 5}, {.kind = TYPE_BINARY}, {"", 0}},
};

static Schema type_schema(void)
{
    return (Schema){.columns = type_columns, .column_count = TYPE_COLUMNS};
}

static Int128 decimal_of(const char *text, uint8_t precision, uint8_t scale)
{
    Int128 value;
    if (!decimal_parse(str_from_c(text), precision, scale, &value))
        fail_msg("no decimal: %s", text);
    return value;
}

static int64_t us_of(int year, int month, int day, int hour, int minute, int second, int us)
{
    return civil_to_us((CivilTime){year, month, day, hour, minute, second, us});
}

static void set_row(RowBuilder *rows, int sign)
{
    bool low = sign < 0;
    row_builder_set_i64(rows, 1, low ? 0 : 1);
    row_builder_set_i64(rows, 2, low ? INT16_MIN : INT16_MAX);
    row_builder_set_i64(rows, 3, low ? INT32_MIN : INT32_MAX);
    row_builder_set_i64(rows, 4, low ? INT64_MIN : INT64_MAX);
    row_builder_set_double(rows, 5, low ? -3.4028234663852886e38 : 1.401298464324817e-45);
    row_builder_set_double(rows, 6, low ? -1.7976931348623157e308 : 5e-324);
    row_builder_set_decimal(rows, 7, decimal_of(low ? "-999.9" : "999.9", 4, 1));
    row_builder_set_decimal(rows, 8, decimal_of(low ? "-0.999999999" : "0.999999999", 9, 9));
    row_builder_set_decimal(
        rows, 9, decimal_of(low ? "-9999999999999999.99" : "9999999999999999.99", 18, 2));
    row_builder_set_decimal(rows, 10,
                            decimal_of(low ? "-99999999999999999999999999999999999999"
                                           : "99999999999999999999999999999999999999",
                                       38, 0));
    row_builder_set_i64(rows, 11,
                        low ? civil_days_from_date(1, 1, 1) : civil_days_from_date(9999, 12, 31));
    row_builder_set_i64(rows, 12,
                        low ? us_of(1, 1, 1, 0, 0, 0, 0) : us_of(9999, 12, 31, 23, 59, 59, 999999));
    row_builder_set_i64(rows, 13,
                        low ? us_of(1, 1, 1, 0, 0, 0, 0) : us_of(9999, 12, 31, 23, 59, 59, 999999));
    row_builder_set_str(rows, 14,
                        low ? STR("")
                            : STR("\xF4\x8F\xBF\xBF\xF0\x9F\x8C\x8A it's \"text\"\n\\ and more "
                                  "than thirty-two code points of it"));
    row_builder_set_str(rows, 15, low ? STR("") : ((Str){"\0\xFF\x80 binary", 10}));
}

/* Rows: lowest, highest, all NULL, something ordinary. */
static RowStream *type_rows(Arena *arena, int64_t from)
{
    Schema *schema      = ARENA_NEW(arena, Schema);
    *schema             = type_schema();
    RowBuilder *builder = row_builder_new(arena, schema);
    RowBlock   *block   = ARENA_NEW(arena, RowBlock);

    for (int64_t i = 0; i < 4; i++) {
        row_builder_begin(builder);
        row_builder_set_i64(builder, 0, from + i);
        if (i < 2) set_row(builder, i == 0 ? -1 : 1);
        if (i < 3) continue;
        row_builder_set_i64(builder, 2, 7);
        row_builder_set_double(builder, 5, 0.1);
        row_builder_set_double(builder, 6, -0.0);
        row_builder_set_decimal(builder, 9, decimal_of("-0.50", 18, 2));
        row_builder_set_i64(builder, 12, us_of(1899, 12, 31, 23, 59, 59, 999001));
        row_builder_set_i64(builder, 13, us_of(2026, 9, 28, 13, 55, 0, 123001));
        row_builder_set_str(builder, 14, STR("plain"));
    }
    *block = row_builder_block(builder);
    return row_stream_of_block(arena, schema, block);
}

static void append(World *world, DeltaTable *table, RowStream *rows, int64_t batch)
{
    DeltaTxn    txn    = {STR("orders-v1"), batch};
    DeltaAppend append = {
        .rows          = rows,
        .txn           = &txn,
        .user_metadata = str_printf(world->arena, "{\"batch_id\":%lld}", (long long)batch),
        .purpose       = STR("interop")};
    DeltaOutcome outcome;
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
}

static DeltaTable *create(World *world, const char *path, const Schema *schema)
{
    DeltaTable   *table    = NULL;
    DeltaProperty property = {STR("mssql_cdc.schema_version"), STR("1")};
    DeltaCreate   spec     = {.schema         = *schema,
                              .description    = STR("Every type, \xC3\xA9"),
                              .properties     = &property,
                              .property_count = 1};
    assert_ok(
        delta_table_create(&world->context, str_from_c(path), &spec, &table, NULL, &world->err),
        &world->err);
    return table;
}

static void make_types(World *world, int64_t versions)
{
    Schema      schema = type_schema();
    DeltaTable *table  = create(
         world, str_printf(world->arena, "types_%02lld", (long long)versions).ptr, &schema);
    for (int64_t version = 1; version <= versions; version++)
        append(world, table, type_rows(world->arena, version * 4), version);
    delta_table_close(table);
}

static DeltaAdd write_query(World *world, DeltaTable *table, const char *format,
                            const Schema *schema, DeltaWriter **writer)
{
    DuckSession *session = NULL;
    Str          scan;
    DeltaAdd     add;
    const char  *at = strstr(format, "%s");

    assert_ok(delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &scan, &world->err),
              &world->err);
    Str sql = str_printf(world->arena, "%.*s%.*s%s", (int)(at - format), format, STR_ARG(scan),
                         at + 2);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(delta_writer_open(table, STR("apply"), schema, writer, &world->err), &world->err);
    assert_ok(delta_writer_write_query(*writer, session, sql, world->arena, &add, &world->err),
              &world->err);
    assert_ok(delta_writer_publish(*writer, &add, 1, &world->err), &world->err);
    duck_session_close(session);
    return add;
}

/* Every file replaced by one that has the odd ids, at version `at`. */
static void make_rewritten(World *world, int64_t at)
{
    Schema      schema = test_schema(world->arena);
    DeltaTable *table  = create(
         world, str_printf(world->arena, "rewritten_%02lld", (long long)at).ptr, &schema);
    DeltaWriter     *writer = NULL;
    const DeltaFile *removes[64];
    size_t           count = 0;
    const DeltaFile *file;
    DeltaOutcome     outcome;

    for (int64_t version = 1; version < at; version++)
        append_rows(world, table, version * 10, 10);
    DeltaAdd add = write_query(world, table, "SELECT * FROM %s WHERE id % 2 = 1 ORDER BY id", NULL,
                               &writer);
    for (size_t i = 0; delta_table_next_file(table, &i, &file);)
        removes[count++] = file;
    DeltaCommit commit = {.operation        = STR("MERGE"),
                          .adds             = &add,
                          .add_count        = 1,
                          .removes          = removes,
                          .remove_count     = count,
                          .read_whole_table = true};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    delta_writer_close(writer);
    append_rows(world, table, 1000, 5);
    delta_table_close(table);
}

/* A table without NTZ columns gets two columns, one of them NTZ, with its first rows for them. */
static void make_widened(World *world)
{
    Column       first[] = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR("key")},
                            {STR("name"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY}};
    Column       more[]  = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                            {STR("amount"), DECIMAL_TYPE(10, 2), STR("what it costs")},
                            {STR("at"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR_EMPTY}};
    Schema       schema = {first, 2}, wider = {more, 3};
    DeltaTable  *table  = create(world, "widened", &schema);
    DeltaWriter *writer = NULL;
    DeltaOutcome outcome;
    Column       same[]  = {first[0], first[1]};
    Schema       narrow  = {same, 2};
    RowBuilder  *builder = row_builder_new(world->arena, &narrow);

    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, 1);
    row_builder_set_str(builder, 1, STR("old"));
    RowBlock block = row_builder_block(builder);
    append(world, table, row_stream_of_block(world->arena, &narrow, &block), 1);
    DeltaAdd    add    = write_query(world, table,
                                     "SELECT id + 1 AS id, 'new' AS name, 12.50 AS amount, TIMESTAMP "
                                           "'2026-01-02 03:04:05.678901' AS at FROM %s",
                                     &wider, &writer);
    DeltaCommit commit = {.operation       = STR("WRITE"),
                          .adds            = &add,
                          .add_count       = 1,
                          .schema          = &wider,
                          .is_blind_append = true};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    delta_writer_close(writer);
    delta_table_close(table);
}

int main(int argc, char **argv)
{
    void *duck = NULL;

    if (argc != 2 || duck_setup(&duck) != 0) {
        (void)fprintf(stderr, "usage: make_delta_tables FOLDER\n");
        return 2;
    }
    World *world             = world_of(duck, 7);
    world->store             = store_local_new(str_from_c(argv[1]));
    world->context.store     = world->store;
    const int64_t versions[] = {1, 9, 10, 11, 23};
    for (size_t i = 0; i < COUNT_OF(versions); i++)
        make_types(world, versions[i]);
    make_rewritten(world, 3);
    make_rewritten(world, 10);
    make_widened(world);
    world_close(world);
    return duck_teardown(&duck);
}
