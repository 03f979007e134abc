/* What stands in the files: the type of every column (delta.md 3.1), and every value as it went in.
 */
#include "duck_test.h"

#include <float.h>
#include <math.h>

/* clang-format off */
static const Column every_type[] = {
    {{"c_bool", 6},  {TYPE_BOOLEAN, 0, 0, NULL},       {"", 0}},
    {{"c_short", 7}, {TYPE_SHORT, 0, 0, NULL},         {"", 0}},
    {{"c_int", 5},   {TYPE_INTEGER, 0, 0, NULL},       {"", 0}},
    {{"c_long", 6},  {TYPE_LONG, 0, 0, NULL},          {"", 0}},
    {{"c_float", 7}, {TYPE_FLOAT, 0, 0, NULL},         {"", 0}},
    {{"c_double", 8},{TYPE_DOUBLE, 0, 0, NULL},        {"", 0}},
    {{"c_d4", 4},    {TYPE_DECIMAL, 4, 2, NULL},       {"", 0}},
    {{"c_d9", 4},    {TYPE_DECIMAL, 9, 0, NULL},       {"", 0}},
    {{"c_d18", 5},   {TYPE_DECIMAL, 18, 4, NULL},      {"", 0}},
    {{"c_d19", 5},   {TYPE_DECIMAL, 19, 4, NULL},      {"", 0}},
    {{"c_d38", 5},   {TYPE_DECIMAL, 38, 10, NULL},     {"", 0}},
    {{"c_date", 6},  {TYPE_DATE, 0, 0, NULL},          {"", 0}},
    {{"c_ts", 4},    {TYPE_TIMESTAMP, 0, 0, NULL},     {"", 0}},
    {{"c_ntz", 5},   {TYPE_TIMESTAMP_NTZ, 0, 0, NULL}, {"", 0}},
    {{"c_str", 5},   {TYPE_STRING, 0, 0, NULL},        {"", 0}},
    {{"c_bin", 5},   {TYPE_BINARY, 0, 0, NULL},        {"", 0}},
};
/* clang-format on */
#define TYPE_COUNT COUNT_OF(every_type)
#define FIRST_DAY  (-719162)            /* 0001-01-01 */
#define LAST_DAY   2932896              /* 9999-12-31 */
#define FIRST_US   (-62135596800000000) /* 0001-01-01 00:00:00 */
#define LAST_US    253402300799999999   /* 9999-12-31 23:59:59.999999 */

static Schema every_type_schema(void)
{
    return (Schema){every_type, TYPE_COUNT};
}

static Int128 decimal(const char *digits, uint8_t precision)
{
    Int128 value;
    assert_true(decimal_parse(str_from_c(digits), precision, 0, &value));
    return value;
}

static void set_decimals(RowBuilder *builder, const char *d4, const char *d9, const char *d18,
                         const char *d19, const char *d38)
{
    row_builder_set_decimal(builder, 6, decimal(d4, 4));
    row_builder_set_decimal(builder, 7, decimal(d9, 9));
    row_builder_set_decimal(builder, 8, decimal(d18, 18));
    row_builder_set_decimal(builder, 9, decimal(d19, 19));
    row_builder_set_decimal(builder, 10, decimal(d38, 38));
}

static void add_smallest(RowBuilder *builder)
{
    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, 0);
    row_builder_set_i64(builder, 1, INT16_MIN);
    row_builder_set_i64(builder, 2, INT32_MIN);
    row_builder_set_i64(builder, 3, INT64_MIN);
    row_builder_set_double(builder, 4, -(double)FLT_MAX);
    row_builder_set_double(builder, 5, -DBL_MAX);
    set_decimals(builder, "-9999", "-999999999", "-999999999999999999", "-9999999999999999999",
                 "-99999999999999999999999999999999999999");
    row_builder_set_i64(builder, 11, FIRST_DAY);
    row_builder_set_i64(builder, 12, FIRST_US);
    row_builder_set_i64(builder, 13, FIRST_US);
    row_builder_set_str(builder, 14, STR(""));
    row_builder_set_str(builder, 15, STR(""));
}

static void add_largest(RowBuilder *builder)
{
    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, 1);
    row_builder_set_i64(builder, 1, INT16_MAX);
    row_builder_set_i64(builder, 2, INT32_MAX);
    row_builder_set_i64(builder, 3, INT64_MAX);
    row_builder_set_double(builder, 4, (double)FLT_MAX);
    row_builder_set_double(builder, 5, DBL_MAX);
    set_decimals(builder, "9999", "999999999", "999999999999999999", "9999999999999999999",
                 "99999999999999999999999999999999999999");
    row_builder_set_i64(builder, 11, LAST_DAY);
    row_builder_set_i64(builder, 12, LAST_US);
    row_builder_set_i64(builder, 13, LAST_US);
    row_builder_set_str(builder, 14, STR("\xF4\x8F\xBF\xBF longer than twelve bytes"));
    row_builder_set_str(builder, 15, STR("\xFF\x00\xFE longer than twelve bytes"));
}

static void add_odd(RowBuilder *builder)
{
    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, 1);
    row_builder_set_i64(builder, 1, -1);
    row_builder_set_i64(builder, 2, 0);
    row_builder_set_i64(builder, 3, 1);
    row_builder_set_double(builder, 4, (double)FLT_MIN);
    row_builder_set_double(builder, 5, 4.9406564584124654e-324);
    set_decimals(builder, "0", "-1", "1", "-5", "12345678901234567890123456789");
    row_builder_set_i64(builder, 11, 0);
    row_builder_set_i64(builder, 12, -1);
    row_builder_set_i64(builder, 13, 1);
    row_builder_set_str(builder, 14, STR("NUL \0 'quoted' \"too\"\n"));
    row_builder_set_str(builder, 15, STR("exactly12byt"));
}

static RowBlock extreme_rows(Arena *arena, const Schema *schema)
{
    RowBuilder *builder = row_builder_new(arena, schema);
    add_smallest(builder);
    add_largest(builder);
    row_builder_begin(builder); /* NULL in every column */
    add_odd(builder);
    return row_builder_block(builder);
}

static void assert_same_value(Arena *arena, const ColumnVector *want, const ColumnVector *got,
                              size_t row)
{
    assert_true(column_type_equal(want->type, got->type));
    assert_int_equal(column_is_null(want, row), column_is_null(got, row));
    if (column_is_null(want, row)) return;
    if (column_type_is_text(want->type))
        assert_true(str_equal(column_str(want, row), column_str(got, row)));
    else
        assert_memory_equal((const char *)want->data + row * column_type_width(want->type),
                            (const char *)got->data + row * column_type_width(got->type),
                            column_type_width(want->type));
    assert_true(str_equal(column_format(arena, want, row), column_format(arena, got, row)));
}

static Str write_extremes(DuckWorld *world, const DuckWriteOptions *options, RowBlock *block_out,
                          DuckFile *file)
{
    Schema schema   = every_type_schema();
    Str    path     = path_in(world, "extremes.parquet");
    *block_out      = extreme_rows(world->arena, &schema);
    RowStream *rows = row_stream_of_block(world->arena, &schema, block_out);
    assert_ok(duck_parquet_write(world->duck, rows, path, options, world->arena, file, &world->err),
              &world->err);
    row_stream_close(rows);
    return path;
}

static void every_value_comes_back_as_it_went_in(void **state)
{
    DuckWorld            *world          = *state;
    const DuckCompression compressions[] = {DUCK_ZSTD, DUCK_SNAPPY, DUCK_UNCOMPRESSED};
    Schema                schema         = every_type_schema();

    for (size_t k = 0; k < COUNT_OF(compressions); k++) {
        DuckWriteOptions options = write_options();
        RowBlock         want, got, rest;
        DuckFile         file;
        RowStream       *rows = NULL;

        options.compression = compressions[k];
        Str path            = write_extremes(world, &options, &want, &file);
        Str from            = duck_read_parquet_sql(world->arena, &path, 1, &schema);
        Str sql = str_printf(world->arena, "SELECT * FROM %.*s ORDER BY file_row_number",
                             STR_ARG(from));
        assert_ok(duck_query(world->session, sql, world->arena, &rows, &world->err), &world->err);
        assert_ok(row_stream_next(rows, &got, &world->err), &world->err);
        assert_int_equal(got.row_count, want.row_count);
        assert_true(schema_equal(&rows->schema, &schema));
        for (size_t row = 0; row < want.row_count; row++)
            for (size_t i = 0; i < TYPE_COUNT; i++)
                assert_same_value(world->arena, &want.columns[i], &got.columns[i], row);
        assert_ok(row_stream_next(rows, &rest, &world->err), &world->err);
        assert_int_equal(rest.row_count, 0);
        row_stream_close(rows);
        assert_int_equal(unlink(str_c(world->arena, path)), 0);
    }
}

/* delta.md 3.1, row by row. */
static void every_type_is_written_as_spark_reads_it(void **state)
{
    DuckWorld       *world   = *state;
    DuckWriteOptions options = write_options();
    DuckFile         file;
    RowBlock         block;
    Str              path = write_extremes(world, &options, &block, &file);

    assert_query(
        world,
        str_printf(
            world->arena,
            "SELECT name, type, type_length, repetition_type, converted_type, scale, precision, "
            "logical_type, field_id FROM parquet_schema('%.*s') OFFSET 1",
            STR_ARG(path)),
        "c_bool|BOOLEAN|NULL|OPTIONAL|NULL|NULL|NULL|NULL|NULL\n"
        "c_short|INT32|NULL|OPTIONAL|INT_16|NULL|NULL|NULL|NULL\n"
        "c_int|INT32|NULL|OPTIONAL|INT_32|NULL|NULL|NULL|NULL\n"
        "c_long|INT64|NULL|OPTIONAL|INT_64|NULL|NULL|NULL|NULL\n"
        "c_float|FLOAT|NULL|OPTIONAL|NULL|NULL|NULL|NULL|NULL\n"
        "c_double|DOUBLE|NULL|OPTIONAL|NULL|NULL|NULL|NULL|NULL\n"
        "c_d4|INT32|NULL|OPTIONAL|DECIMAL|2|4|DecimalType(scale=2, precision=4)|NULL\n"
        "c_d9|INT32|NULL|OPTIONAL|DECIMAL|0|9|DecimalType(scale=0, precision=9)|NULL\n"
        "c_d18|INT64|NULL|OPTIONAL|DECIMAL|4|18|DecimalType(scale=4, precision=18)|NULL\n"
        "c_d19|FIXED_LEN_BYTE_ARRAY|16|OPTIONAL|DECIMAL|4|19|DecimalType(scale=4, "
        "precision=19)|NULL\n"
        "c_d38|FIXED_LEN_BYTE_ARRAY|16|OPTIONAL|DECIMAL|10|38|DecimalType(scale=10, "
        "precision=38)|NULL\n"
        "c_date|INT32|NULL|OPTIONAL|DATE|NULL|NULL|NULL|NULL\n"
        "c_ts|INT64|NULL|OPTIONAL|TIMESTAMP_MICROS|NULL|NULL|TimestampType(isAdjustedToUTC=1, "
        "unit=TimeUnit(MILLIS="
        "<null>, MICROS=MicroSeconds(), NANOS=<null>))|NULL\n"
        "c_ntz|INT64|NULL|OPTIONAL|TIMESTAMP_MICROS|NULL|NULL|TimestampType(isAdjustedToUTC=0, "
        "unit=TimeUnit(MILLIS="
        "<null>, MICROS=MicroSeconds(), NANOS=<null>))|NULL\n"
        "c_str|BYTE_ARRAY|NULL|OPTIONAL|UTF8|NULL|NULL|NULL|NULL\n"
        "c_bin|BYTE_ARRAY|NULL|OPTIONAL|NULL|NULL|NULL|NULL|NULL\n");
}

/* delta.md 3.3: 1, 3, 10, 11 */
static void pages_are_v1_without_bloom_filters_and_spark_finds_its_key(void **state)
{
    DuckWorld       *world   = *state;
    DuckWriteOptions options = write_options();
    DuckFile         file;
    RowBlock         block;

    options.tidelake_version = STR("it's 1.0");
    Str path                 = write_extremes(world, &options, &block, &file);
    assert_query(world,
                 str_printf(world->arena,
                            "SELECT DISTINCT compression, bloom_filter_offset IS NULL, "
                            "contains(encodings, 'DELTA') OR "
                            "contains(encodings, 'BYTE_STREAM') FROM parquet_metadata('%.*s')",
                            STR_ARG(path)),
                 "ZSTD|true|false\n");
    assert_query(
        world,
        str_printf(world->arena,
                   "SELECT decode(key), decode(value) FROM parquet_kv_metadata('%.*s') ORDER BY 1",
                   STR_ARG(path)),
        "org.apache.spark.version|3.5.0\ntidelake.version|it's 1.0\n");
    struct stat status;
    assert_int_equal(stat(str_c(world->arena, path), &status), 0);
    assert_int_equal(status.st_size, file.size_bytes);
    assert_int_equal(file.row_count, 4);
}

static void a_column_name_may_hold_anything(void **state)
{
    DuckWorld   *world     = *state;
    const Column columns[] = {
        {STR("it's \"q\""), COLUMN_TYPE(TYPE_LONG), STR("")},
        {STR("a.b; DROP TABLE x--"), COLUMN_TYPE(TYPE_LONG), STR("")},
        {STR("\xF0\x9F\x90\xA2 \xE4\xBD\xA0"), COLUMN_TYPE(TYPE_LONG), STR("")},
        {STR("select"), COLUMN_TYPE(TYPE_DOUBLE), STR("")},
        {STR("\"\""), COLUMN_TYPE(TYPE_STRING), STR("")},
    };
    Schema           schema  = {columns, COUNT_OF(columns)};
    RowBuilder      *builder = row_builder_new(world->arena, &schema);
    DuckWriteOptions options = write_options();
    DuckFile         file;
    Str              path = path_in(world, "it's [odd]* \xC3\xA9.parquet");

    row_builder_begin(builder);
    for (size_t i = 0; i < 3; i++)
        row_builder_set_i64(builder, i, (int64_t)i + 1);
    row_builder_set_double(builder, 3, 1.5);
    row_builder_set_str(builder, 4, STR("text"));
    RowBlock   block = row_builder_block(builder);
    RowStream *rows  = row_stream_of_block(world->arena, &schema, &block);
    assert_ok(
        duck_parquet_write(world->duck, rows, path, &options, world->arena, &file, &world->err),
        &world->err);
    for (size_t i = 0; i < schema.column_count; i++) {
        assert_true(str_equal(file.columns[i].name, columns[i].name));
        assert_true(file.columns[i].has_bounds);
    }
    assert_str_is(file.columns[2].min, "3");
    assert_str_is(file.columns[4].max, "text");
    Str from = duck_read_parquet_sql(world->arena, &path, 1, &schema);
    assert_query(world, str_printf(world->arena, "SELECT * FROM %.*s", STR_ARG(from)),
                 "1|2|3|1.5|text\n");
}

static void negative_zero_is_written_as_zero(void **state)
{
    DuckWorld       *world     = *state;
    const Column     columns[] = {{STR("f"), COLUMN_TYPE(TYPE_FLOAT), STR("")},
                                  {STR("d"), COLUMN_TYPE(TYPE_DOUBLE), STR("")}};
    Schema           schema    = {columns, 2};
    RowBuilder      *builder   = row_builder_new(world->arena, &schema);
    DuckWriteOptions options   = write_options();
    DuckFile         file;
    RowBlock         got;
    RowStream       *rows = NULL;
    Str              path = path_in(world, "z.parquet"), copy = path_in(world, "copy.parquet");

    row_builder_begin(builder);
    row_builder_set_double(builder, 0, -0.0);
    row_builder_set_double(builder, 1, -0.0);
    RowBlock block = row_builder_block(builder);
    assert_ok(duck_parquet_write(world->duck, row_stream_of_block(world->arena, &schema, &block),
                                 path, &options, world->arena, &file, &world->err),
              &world->err);
    assert_str_is(file.columns[1].max, "0.0");
    assert_ok(duck_copy_query(world->session,
                              STR("SELECT CAST('-0.0' AS FLOAT), CAST('-0.0' AS DOUBLE)"), &schema,
                              copy, &options, world->arena, &file, &world->err),
              &world->err);
    assert_str_is(file.columns[0].min, "0.0");
    Str both[] = {path, copy};
    Str from   = duck_read_parquet_sql(world->arena, both, 2, &schema);
    assert_ok(duck_query(world->session,
                         str_printf(world->arena, "SELECT * FROM %.*s", STR_ARG(from)),
                         world->arena, &rows, &world->err),
              &world->err);
    for (size_t seen = 0; seen < 2; seen += got.row_count) {
        assert_ok(row_stream_next(rows, &got, &world->err), &world->err);
        assert_true(got.row_count > 0);
        for (size_t row = 0; row < got.row_count; row++)
            for (size_t i = 0; i < 2; i++)
                assert_false(signbit(column_double(&got.columns[i], row)));
    }
    row_stream_close(rows);
}

/* delta.md 5.6: columns a file lacks are NULL, narrower ones are cast, whatever file comes first.
 */
static void files_of_older_schemas_are_read_as_the_newest(void **state)
{
    DuckWorld       *world      = *state;
    const Column     narrow[]   = {{STR("id"), COLUMN_TYPE(TYPE_SHORT), STR("")},
                                   {STR("amount"), DECIMAL_TYPE(5, 2), STR("")},
                                   {STR("gone"), COLUMN_TYPE(TYPE_LONG), STR("")}};
    const Column     wide[]     = {{STR("added"), COLUMN_TYPE(TYPE_STRING), STR("")},
                                   {STR("id"), COLUMN_TYPE(TYPE_LONG), STR("")},
                                   {STR("amount"), DECIMAL_TYPE(12, 4), STR("")}};
    Schema           old_schema = {narrow, 3}, new_schema = {wide, 3};
    DuckWriteOptions options = write_options();
    DuckFile         file;
    Str              paths[] = {path_in(world, "old.parquet"), path_in(world, "new.parquet")};

    assert_ok(duck_copy_query(world->session, STR("SELECT 1, 1.25, 7"), &old_schema, paths[0],
                              &options, world->arena, &file, &world->err),
              &world->err);
    assert_ok(duck_copy_query(world->session, STR("SELECT 'x', 5000000000, 12345678.1234"),
                              &new_schema, paths[1], &options, world->arena, &file, &world->err),
              &world->err);
    for (int i = 0; i < 2; i++) {
        Str from = duck_read_parquet_sql(world->arena, paths, 2, &new_schema);
        assert_query(
            world,
            str_printf(world->arena,
                       "SELECT *, parse_filename(filename), file_row_number FROM %.*s ORDER BY id",
                       STR_ARG(from)),
            "NULL|1|1.2500|old.parquet|0\nx|5000000000|12345678.1234|new.parquet|0\n");
        Str first = paths[0];
        paths[0]  = paths[1];
        paths[1]  = first;
    }
}

/* A folder called x=3 must not become a column, and a pattern must not match its neighbours. */
static void paths_are_taken_as_they_are(void **state)
{
    DuckWorld       *world     = *state;
    const Column     columns[] = {{STR("x"), COLUMN_TYPE(TYPE_LONG), STR("")}};
    Schema           schema    = {columns, 1};
    DuckWriteOptions options   = write_options();
    DuckFile         file;
    const char      *folders[] = {"x=3", "x[1]", "x1", "x*", "x?", "x%20", "x\\", "x{1,2}"};

    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        Str folder = path_in(world, folders[i]);
        assert_int_equal(mkdir(str_c(world->arena, folder), 0777), 0);
        Str path = str_printf(world->arena, "%.*s/f.parquet", STR_ARG(folder));
        Str sql  = str_printf(world->arena, "SELECT %zu", 100 + i);
        assert_ok(duck_copy_query(world->session, sql, &schema, path, &options, world->arena, &file,
                                  &world->err),
                  &world->err);
    }
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        Str path = str_printf(world->arena, "%s/%s/f.parquet", world->dir, folders[i]);
        Str from = duck_read_parquet_sql(world->arena, &path, 1, &schema);
        Str want = str_printf(world->arena, "%zu|%.*s\n", 100 + i, STR_ARG(path));
        assert_query(world, str_printf(world->arena, "SELECT x, filename FROM %.*s", STR_ARG(from)),
                     want.ptr);
    }
}

static void no_files_are_no_rows(void **state)
{
    DuckWorld *world  = *state;
    Schema     schema = every_type_schema();
    Str        from   = duck_read_parquet_sql(world->arena, NULL, 0, &schema);
    assert_query(world,
                 str_printf(world->arena, "SELECT count(*), max(c_d38) FROM %.*s", STR_ARG(from)),
                 "0|NULL\n");
    assert_query(world, str_printf(world->arena, "SELECT * FROM %.*s AS t", STR_ARG(from)), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        duck_test(every_value_comes_back_as_it_went_in),
        duck_test(every_type_is_written_as_spark_reads_it),
        duck_test(pages_are_v1_without_bloom_filters_and_spark_finds_its_key),
        duck_test(a_column_name_may_hold_anything),
        duck_test(negative_zero_is_written_as_zero),
        duck_test(files_of_older_schemas_are_read_as_the_newest),
        duck_test(paths_are_taken_as_they_are),
        duck_test(no_files_are_no_rows),
    };
    return RUN_TESTS(tests);
}
