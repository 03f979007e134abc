/* Tables whose columns have other names in their files (delta.md 1.10, 2.2): made, appended to,
 * rewritten, extended, raced for, and read by name and by id. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define COLUMNS 4

/* One column per character that asks for mapping, and what else people call columns. */
static Schema odd_schema(Arena *arena)
{
    Column *columns = ARENA_ARRAY(arena, Column, COLUMNS);
    columns[0]      = (Column){STR("Order Id"), COLUMN_TYPE(TYPE_LONG), STR("the key")};
    columns[1]      = (Column){STR("a,;{}()=\n\tb"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY};
    columns[2]      = (Column){STR("na[me]\"'`.x"), COLUMN_TYPE(TYPE_INTEGER), STR_EMPTY};
    columns[3]      = (Column){STR("\xF0\x9F\x98\x80"), COLUMN_TYPE(TYPE_DATE), STR_EMPTY};
    return (Schema){.columns = columns, .column_count = COLUMNS};
}

static DeltaTable *create_odd(World *world)
{
    DeltaTable *table = NULL;
    DeltaCreate spec  = {.schema = odd_schema(world->arena), .description = STR_EMPTY};
    assert_ok(delta_table_create(&world->context, STR("t"), &spec, &table, NULL, &world->err),
              &world->err);
    return table;
}

/* Two rows, (id, "x", 10 * id, NULL) and the next id. */
static RowStream *odd_rows(World *world, const Schema *schema, int64_t id)
{
    RowBuilder *builder = row_builder_new(world->arena, schema);
    RowBlock   *block   = ARENA_NEW(world->arena, RowBlock);
    for (int64_t i = id; i < id + 2; i++) {
        row_builder_begin(builder);
        row_builder_set_i64(builder, 0, i);
        row_builder_set_str(builder, 1, STR("x"));
        row_builder_set_i64(builder, 2, 10 * i);
        if (schema->column_count > COLUMNS) row_builder_set_i64(builder, COLUMNS, 100 * i);
    }
    *block = row_builder_block(builder);
    return row_stream_of_block(world->arena, schema, block);
}

static void append_odd(World *world, DeltaTable *table, int64_t id)
{
    Schema *schema     = ARENA_NEW(world->arena, Schema);
    *schema            = odd_schema(world->arena);
    DeltaAppend append = {
        .rows = odd_rows(world, schema, id), .purpose = STR("test"), .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
}

static const DeltaFile *file_at(const DeltaTable *table, size_t index)
{
    const DeltaFile *file = NULL;
    for (size_t at = 0, i = 0; i <= index; i++)
        assert_true(delta_table_next_file(table, &at, &file));
    return file;
}

static Str stored_name(const DeltaTable *table, size_t column)
{
    return table_header(table)->metadata.mapping.stored.columns[column].name;
}

/* A number about a file itself; `%s` stands for its path. */
static int64_t query_file(World *world, const DeltaFile *file, const char *format)
{
    DuckSession *session = NULL;
    Str          local;
    int64_t      number;
    const char  *at   = strstr(format, "%s");
    Str          path = str_printf(world->arena, "t/%.*s", STR_ARG(file->path));

    assert_ok(store_fetch_local(world->store, path, world->arena, &local, &world->err),
              &world->err);
    Str sql = str_printf(world->arena, "%.*s%.*s%s", (int)(at - format), format,
                         STR_ARG(duck_quote_literal(world->arena, local)), at + 2);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(duck_query_i64(session, sql, &number, NULL, &world->err), &world->err);
    duck_session_close(session);
    return number;
}

static void a_refused_name_makes_a_mapped_table(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_odd(world);
    Str         text  = read_text(world, commit_path(world, "t", 0));
    assert_true(str_find(text,
                         STR("{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}"),
                         0) > 0);
    assert_true(str_find(text,
                         STR("\"configuration\":{\"delta.columnMapping.mode\":\"name\","
                             "\"delta.columnMapping.maxColumnId\":\"4\"}"),
                         0) > 0);
    for (size_t i = 0; i < COLUMNS; i++) {
        Str name = stored_name(table, i);
        assert_true(str_starts_with(name, STR("col-")));
        assert_int_equal(name.len, 4 + 36);
        assert_int_equal(table_header(table)->metadata.mapping.ids[i], (int)i + 1);
        assert_true(str_equal(delta_table_get_schema(table)->columns[i].name,
                              odd_schema(world->arena).columns[i].name));
    }
    assert_str_is(delta_table_get_schema(table)->columns[0].comment, "the key");
    delta_table_close(table);
    world_close(world);
}

static void with_other_features_the_protocol_lists_them_all(void **state)
{
    World      *world     = world_new(state);
    Column      columns[] = {{STR("at what"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR_EMPTY}};
    DeltaCreate spec      = {.schema = {columns, 1}, .description = STR_EMPTY};
    DeltaTable *table;
    assert_ok(delta_table_create(&world->context, STR("t"), &spec, &table, NULL, &world->err),
              &world->err);
    assert_true(
        str_find(read_text(world, commit_path(world, "t", 0)),
                 STR("{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                     "\"readerFeatures\":[\"columnMapping\",\"timestampNtz\"],\"writerFeatures\":["
                     "\"columnMapping\",\"timestampNtz\",\"invariants\",\"appendOnly\"]}}"),
                 0) > 0);
    delta_table_close(table);
    world_close(world);
}

static void files_and_statistics_have_the_stored_names(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_odd(world);
    append_odd(world, table, 1);
    const DeltaFile *file  = file_at(table, 0);
    Str              stats = delta_file_get_stats(file, world->arena);
    Str              want  = str_printf(world->arena, "\"minValues\":{\"%.*s\":1,\"%.*s\":\"x\"",
                                        STR_ARG(stored_name(table, 0)), STR_ARG(stored_name(table, 1)));
    assert_true(str_find(stats, want, 0) > 0);
    assert_true(str_find(stats, STR("Order"), 0) < 0);
    assert_int_equal(query_file(world, file,
                                "SELECT count(*) FROM parquet_schema(%s) WHERE name LIKE 'col-%' "
                                "AND field_id BETWEEN 1 AND 4"),
                     COLUMNS);
    assert_int_equal(
        query_file(world, file,
                   "SELECT list_distinct(list(field_id)).len() FROM parquet_schema(%s) "
                   "WHERE field_id IS NOT NULL"),
        COLUMNS);
    /* asked for by the names that people know */
    DeltaBounds bounds;
    assert_true(delta_file_find_bounds(table, file, STR("na[me]\"'`.x"), world->arena, &bounds));
    assert_str_is(bounds.max, "20");
    Str three = STR("3"), two = STR("2");
    assert_false(
        delta_file_may_hold_range(table, file, STR("Order Id"), &three, true, NULL, false));
    assert_true(delta_file_may_hold_range(table, file, STR("order id"), &two, true, NULL, false));
    assert_false(delta_file_may_hold_null(table, file, STR("Order Id")));
    assert_true(delta_file_may_hold_null(table, file, STR("\xF0\x9F\x98\x80")));
    assert_int_equal(query_table(world, table,
                                 "SELECT sum(\"Order Id\" + \"na[me]\"\"'`.x\") FROM %s WHERE "
                                 "\"a,;{}()=\n\tb\" = 'x' AND \"\xF0\x9F\x98\x80\" IS NULL"),
                     33);
    delta_table_close(table);
    world_close(world);
}

static void a_mapped_table_is_rewritten(void **state)
{
    World       *world   = world_new(state);
    DeltaTable  *table   = create_odd(world);
    DuckSession *session = NULL;
    DeltaWriter *writer  = NULL;
    DeltaAdd     add;
    Str          scan;
    DeltaOutcome outcome;
    append_odd(world, table, 1);
    append_odd(world, table, 3);
    const DeltaFile *old = file_at(table, 0);
    assert_ok(delta_scan_sql(table, &old, 1, NULL, false, world->arena, &scan, &world->err),
              &world->err);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(delta_writer_open(table, STR("apply"), NULL, &writer, &world->err), &world->err);
    Str sql = str_printf(world->arena, "SELECT * FROM %.*s WHERE \"Order Id\" %% 2 = 0",
                         STR_ARG(scan));
    assert_ok(delta_writer_write_query(writer, session, sql, world->arena, &add, &world->err),
              &world->err);
    assert_int_equal(add.row_count, 1);
    assert_ok(delta_writer_publish(writer, &add, 1, &world->err), &world->err);
    DeltaCommit commit = {.operation     = STR("MERGE"),
                          .adds          = &add,
                          .add_count     = 1,
                          .removes       = &old,
                          .remove_count  = 1,
                          .user_metadata = STR_EMPTY};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    delta_writer_close(writer);
    duck_session_close(session);
    assert_int_equal(count_rows(world, table), 3);
    assert_int_equal(query_table(world, table, "SELECT sum(\"Order Id\") FROM %s"), 2 + 3 + 4);
    /* a checkpoint keeps the names, and a table that begins there reads the same */
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    delta_table_close(table);
    for (int64_t version = 0; version <= 2; version++)
        assert_ok(
            store_remove(world->store, str_from_c(commit_path(world, "t", version)), &world->err),
            &world->err);
    table = open_table(world, "t");
    assert_int_equal(query_table(world, table, "SELECT sum(\"Order Id\") FROM %s"), 2 + 3 + 4);
    append_odd(world, table, 5);
    assert_int_equal(query_table(world, table, "SELECT sum(\"Order Id\") FROM %s"), 20);
    delta_table_close(table);
    world_close(world);
}

/* --- columns that come later --- */

/* The odd columns and one more. */
static Schema *longer_schema(World *world, Str name)
{
    Schema *schema  = ARENA_NEW(world->arena, Schema);
    Column *columns = ARENA_ARRAY(world->arena, Column, COLUMNS + 1);
    Schema  odd     = odd_schema(world->arena);
    for (size_t i = 0; i < COLUMNS; i++)
        columns[i] = odd.columns[i];
    columns[COLUMNS] = (Column){name, COLUMN_TYPE(TYPE_LONG), STR("new")};
    *schema          = (Schema){.columns = columns, .column_count = COLUMNS + 1};
    return schema;
}

/* Writes rows with the new column; `rival` (or NULL) is committed between write and commit. */
static bool append_longer(World *world, DeltaTable *table, Str name, const char *rival)
{
    Schema      *schema = longer_schema(world, name);
    DeltaWriter *writer = NULL;
    DeltaAdd     add;
    DeltaOutcome outcome;
    assert_ok(delta_writer_open(table, STR("test"), schema, &writer, &world->err), &world->err);
    assert_ok(
        delta_writer_write(writer, odd_rows(world, schema, 7), world->arena, &add, &world->err),
        &world->err);
    assert_ok(delta_writer_publish(writer, &add, 1, &world->err), &world->err);
    if (rival) put_commit(world, "t", delta_table_get_version(table) + 1, rival);
    DeltaCommit commit = {
        .schema = schema, .adds = &add, .add_count = 1, .user_metadata = STR_EMPTY};
    bool ok = delta_table_commit(table, &commit, &outcome, NULL, &world->err);
    delta_writer_close(writer);
    return ok;
}

static void a_new_column_gets_the_next_id_and_its_files_have_it(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_odd(world);
    append_odd(world, table, 1);
    assert_ok(append_longer(world, table, STR("more, now"), NULL), &world->err);
    assert_int_equal(table_header(table)->metadata.mapping.ids[COLUMNS], COLUMNS + 1);
    Str max_id;
    assert_true(delta_table_find_property(table, STR("delta.columnMapping.maxColumnId"), &max_id));
    assert_str_is(max_id, "5");
    assert_int_equal(
        query_file(world, file_at(table, 1),
                   "SELECT count(*) FROM parquet_schema(%s) WHERE name LIKE 'col-%' AND "
                   "field_id = 5"),
        1);
    assert_int_equal(query_table(world, table, "SELECT sum(\"more, now\") FROM %s"), 1500);
    assert_int_equal(
        query_table(world, table, "SELECT count(*) FROM %s WHERE \"more, now\" IS NULL"), 2);
    /* without rows as well, and never an id twice */
    DeltaCommit  commit = {.schema        = longer_schema(world, STR("later")),
                           .operation     = STR("ADD COLUMNS"),
                           .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(table_header(table)->metadata.mapping.ids[COLUMNS + 1], COLUMNS + 2);
    assert_false(str_equal(stored_name(table, COLUMNS), stored_name(table, COLUMNS + 1)));
    delta_table_close(table);
    world_close(world);
}

/* The metaData of the table as it stands, with one column more. */
static const char *rival_adds(World *world, const DeltaTable *table, const char *name)
{
    Column        column  = {str_from_c(name), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    ColumnMapping mapping = table_header(table)->metadata.mapping;
    Schema        added   = {&column, 1};
    DeltaProperty max_id  = {STR("delta.columnMapping.maxColumnId"), STR("5")};
    Schema        all     = schema_merge(world->arena, delta_table_get_schema(table), &added);
    mapping               = mapping_extend(world->arena, world->context.rng, &mapping, &all, NULL);
    SchemaChange change   = {.added = added, .mapping = &mapping};
    Str body = metadata_change(world->arena, &table_header(table)->metadata, &change, &max_id, 1,
                               (Str){NULL, 0});
    return str_printf(world->arena, "{\"metaData\":%.*s}\n", STR_ARG(body)).ptr;
}

/* Files have names and ids in them, so they are no use when another writer took these. */
static void a_winner_with_a_column_of_its_own_is_a_conflict(void **state)
{
    const char *const names[] = {"more", "other"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        World      *world = world_new(state);
        DeltaTable *table = create_odd(world);
        append_odd(world, table, 1);
        assert_false(append_longer(world, table, STR("more"), rival_adds(world, table, names[i])));
        assert_err(&world->err, ERR_CONFLICT, "and changed column more");
        assert_false(file_exists(world, commit_path(world, "t", 3)));
        err_clear(&world->err);
        assert_ok(append_longer(world, table, STR("more"), NULL), &world->err); /* again */
        assert_int_equal(query_table(world, table, "SELECT sum(more) FROM %s"), 1500);
        assert_int_equal(delta_table_get_schema(table)->column_count,
                         COLUMNS + 1 + (size_t)(i == 1));
        delta_table_close(table);
        world_close(world);
    }
}

/* A winner who changes what does not concern the files is none. */
static void an_append_goes_behind_a_winner_with_another_property(void **state)
{
    World        *world    = world_new(state);
    DeltaTable   *table    = create_odd(world);
    SchemaChange  none     = {.mapping = &table_header(table)->metadata.mapping};
    DeltaProperty property = {STR("owner.key"), STR("1")};
    Str body = metadata_change(world->arena, &table_header(table)->metadata, &none, &property, 1,
                               (Str){NULL, 0});
    const char *lines = str_printf(world->arena, "{\"metaData\":%.*s}\n", STR_ARG(body)).ptr;
    assert_ok(append_longer(world, table, STR("more"), lines), &world->err);
    Str value;
    assert_true(delta_table_find_property(table, STR("owner.key"), &value));
    assert_int_equal(query_table(world, table, "SELECT sum(more) FROM %s"), 1500);
    delta_table_close(table);
    world_close(world);
}

/* --- by id --- */

/* The table with its columns found by id, and all physical names changed. */
static DeltaTable *switch_to_ids(World *world, DeltaTable *table)
{
    Buf       text    = buf_new(world->arena, 0);
    Str       lines   = read_text(world, commit_path(world, "t", 0));
    int64_t   version = delta_table_get_version(table) + 1;
    ptrdiff_t start   = str_find(lines, STR("{\"metaData\""), 0);
    assert_true(start > 0);
    for (size_t i = (size_t)start; i < lines.len; i++) {
        Str rest = str_slice(lines, i, lines.len);
        if (str_starts_with(rest, STR("mode\":\"name\""))) {
            buf_append_c(&text, "mode\":\"id\"");
            i += strlen("mode\":\"name\"") - 1;
        } else if (str_starts_with(rest, STR("col-"))) {
            buf_append_c(&text, "new-");
            i += 3;
        } else {
            buf_append_char(&text, lines.ptr[i]);
        }
    }
    put_commit_str(world, "t", version, buf_str(&text));
    delta_table_close(table);
    return open_table(world, "t");
}

static void columns_are_found_by_id(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_odd(world);
    append_odd(world, table, 1);
    table = switch_to_ids(world, table);
    assert_true(str_starts_with(stored_name(table, 0), STR("new-")));
    assert_int_equal(query_table(world, table,
                                 "SELECT sum(\"Order Id\" + \"na[me]\"\"'`.x\") FROM %s WHERE "
                                 "\"a,;{}()=\n\tb\" = 'x' AND \"\xF0\x9F\x98\x80\" IS NULL"),
                     33);
    DeltaOutcome outcome;
    assert_false(try_append(world, table, 1, 1, NULL, &outcome));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-W07");
    delta_table_close(table);
    world_close(world);
}

/* It would be NULL throughout. */
static void a_file_without_ids_is_refused_there(void **state)
{
    World      *world  = world_new_local(state);
    DeltaTable *table  = create_odd(world);
    Schema      schema = odd_schema(world->arena);
    DuckFile    file;
    append_odd(world, table, 1);
    table                    = switch_to_ids(world, table);
    Str              local   = str_printf(world->arena, "%s/t/with[out].parquet", world->folder);
    DuckWriteOptions options = {.tidelake_version = STR("test")};
    assert_ok(duck_parquet_write(world->context.duck, odd_rows(world, &schema, 3), local, &options,
                                 world->arena, &file, &world->err),
              &world->err);
    put_commit(world, "t", 3,
               str_printf(world->arena,
                          "{\"add\":{\"path\":\"with%%5Bout%%5D.parquet\",\"partitionValues\":{},"
                          "\"size\":%lld,\"modificationTime\":1,\"dataChange\":true}}\n",
                          (long long)file.size_bytes)
                   .ptr);
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    Str scan;
    assert_false(delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &scan, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED,
               "DELTA-S03 table t v3: its columns are found by field id, and file "
               "with%5Bout%5D.parquet has no field ids; nothing was read");
    const DeltaFile *good = file_at(table, 0);
    if (str_find(good->path, STR("with"), 0) == 0) good = file_at(table, 1);
    err_clear(&world->err);
    assert_ok(delta_scan_sql(table, &good, 1, NULL, false, world->arena, &scan, &world->err),
              &world->err);
    delta_table_close(table);
    world_close(world);
}

/* Values of partition columns stand in the log, under the stored names as well. */
static void partition_values_have_stored_names(void **state)
{
    World           *world     = world_new_local(state);
    Column           column    = {STR("col-2"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    Schema           schema    = {&column, 1};
    int64_t          numbers[] = {4, 5};
    ColumnVector     vector    = {.type = column.type, .data = numbers};
    RowBlock         block     = {&vector, 1, 2};
    DuckWriteOptions options   = {.tidelake_version = STR("test")};
    DuckFile         file;
    put_commit(world, "t", 0,
               "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}\n{\"metaData\":{"
               "\"id\":\"x\",\"partitionColumns\":[\"the day\"],\"schemaString\":\"{\\\"fields\\\":"
               "[{\\\"name\\\":\\\"the day\\\",\\\"type\\\":\\\"date\\\",\\\"metadata\\\":{"
               "\\\"delta.columnMapping.id\\\":1,\\\"delta.columnMapping.physicalName\\\":"
               "\\\"col-1\\\"}},{\\\"name\\\":\\\"the number\\\",\\\"type\\\":\\\"long\\\","
               "\\\"metadata\\\":{\\\"delta.columnMapping.id\\\":2,"
               "\\\"delta.columnMapping.physicalName\\\":\\\"col-2\\\"}}]}\",\"configuration\":{"
               "\"delta.columnMapping.mode\":\"name\"}}}\n"
               "{\"add\":{\"path\":\"f.parquet\",\"partitionValues\":{\"col-1\":\"2026-01-02\"},"
               "\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n");
    assert_ok(duck_parquet_write(world->context.duck,
                                 row_stream_of_block(world->arena, &schema, &block),
                                 str_printf(world->arena, "%s/t/f.parquet", world->folder),
                                 &options, world->arena, &file, &world->err),
              &world->err);
    DeltaTable *table = open_table(world, "t");
    assert_int_equal(query_table(world, table,
                                 "SELECT sum(\"the number\") FROM %s WHERE \"the day\" = DATE "
                                 "'2026-01-02'"),
                     9);
    delta_table_close(table);
    world_close(world);
}

/* The owner's statement fits the protocol that the table has. */
static void without_mapping_names_are_refused_before_anything_is_written(void **state)
{
    World      *world  = world_new(state);
    Column      odd    = {STR("Order Id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    Schema      schema = {&odd, 1};
    DeltaTable *table  = create_table(world, "t");
    assert_false(delta_table_check_schema(table, &schema, true, &world->err));
    assert_err(&world->err, ERR_SCHEMA_CHANGED, "the new column Order Id has a character");
    assert_err(&world->err, ERR_SCHEMA_CHANGED,
               "ALTER TABLE delta.`t` SET TBLPROPERTIES ('delta.columnMapping.mode'='name',"
               "'delta.feature.columnMapping'='supported')");
    assert_int_equal(delta_table_get_version(table), 0);
    delta_table_close(table);
    world_close(world);

    world = world_new(state);
    put_commit(world, "t", 0,
               "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n{\"metaData\":{"
               "\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[]}\",\"configuration\":{}}}\n");
    table = open_table(world, "t");
    assert_false(delta_table_check_schema(table, &schema, true, &world->err));
    assert_err(&world->err, ERR_SCHEMA_CHANGED,
               "('delta.columnMapping.mode'='name','delta.minReaderVersion'='2',"
               "'delta.minWriterVersion'='5')");
    delta_table_close(table);
    world_close(world);
}

/* What Spark's statement leaves: files without ids under the names that columns had, and ids and
 * names for what comes. */
static void a_table_that_was_switched_to_mapping_goes_on(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    append_rows(world, table, 1, 2);
    put_commit(
        world, "t", 2,
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
        "\"columnMapping\",\"timestampNtz\"],\"writerFeatures\":[\"columnMapping\","
        "\"timestampNtz\"]}}\n{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{"
        "\\\"fields\\\":["
        "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\",\\\"metadata\\\":{"
        "\\\"delta.columnMapping.id\\\":1,\\\"delta.columnMapping.physicalName\\\":\\\"id\\\"}},"
        "{\\\"name\\\":\\\"the name\\\",\\\"type\\\":\\\"string\\\",\\\"metadata\\\":{"
        "\\\"delta.columnMapping.id\\\":2,\\\"delta.columnMapping.physicalName\\\":\\\"name\\\"}},"
        "{\\\"name\\\":\\\"at\\\",\\\"type\\\":\\\"timestamp_ntz\\\",\\\"metadata\\\":{"
        "\\\"delta.columnMapping.id\\\":3,\\\"delta.columnMapping.physicalName\\\":\\\"at\\\"}}]}"
        "\","
        "\"configuration\":{\"delta.columnMapping.mode\":\"name\","
        "\"delta.columnMapping.maxColumnId\":\"3\"}}}\n");
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_int_equal(
        query_table(world, table, "SELECT count(*) FROM %s WHERE \"the name\" LIKE 'name %'"), 2);
    Column      odd    = {STR("Order Id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    Schema      schema = {&odd, 1};
    DeltaCommit commit = {
        .schema = &schema, .operation = STR("ADD COLUMNS"), .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(table_header(table)->metadata.mapping.ids[3], 4);
    assert_str_is(stored_name(table, 1), "name");
    assert_true(str_starts_with(stored_name(table, 3), STR("col-")));
    assert_int_equal(
        query_table(world, table, "SELECT count(*) FROM %s WHERE \"Order Id\" IS NULL"), 2);
    delta_table_close(table);
    world_close(world);
}

/* Nobody makes such a table, and a log may still say it. */
static void a_table_without_columns_is_no_trouble(void **state)
{
    World *world = world_new(state);
    Str    scan;
    put_commit(world, "t", 0,
               "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}\n{\"metaData\":{"
               "\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[]}\",\"configuration\":{"
               "\"delta.columnMapping.mode\":\"name\"}}}\n{\"add\":{\"path\":\"f\","
               "\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n");
    put_text(world, "t/f", "x");
    DeltaTable *table = open_table(world, "t");
    assert_ok(delta_scan_sql(table, NULL, 0, NULL, true, world->arena, &scan, &world->err),
              &world->err);
    delta_table_close(table);
    world_close(world);
}

/* --- fields within columns --- */

#define NESTED_SCHEMA                                                                         \
    "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"place\\\",\\\"type\\\":{" \
    "\\\"type\\\":"                                                                           \
    "\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"the "                                   \
    "city\\\",\\\"type\\\":\\\"string\\\",\\\"nullable\\\":"                                  \
    "true,\\\"metadata\\\":{\\\"delta.columnMapping.id\\\":2,"                                \
    "\\\"delta.columnMapping.physicalName\\\":\\\"col-2\\\"}}]},\\\"nullable\\\":true,"       \
    "\\\"metadata\\\":{"                                                                      \
    "\\\"delta.columnMapping.id\\\":1,\\\"delta.columnMapping.physicalName\\\":\\\"col-1\\\"}}]}"

/* A commit with one file whose struct calls its field `field`. */
static void put_nested_file(World *world, int64_t version, const char *header, const char *field)
{
    DuckSession *session = NULL;
    Str          sql     = str_printf(world->arena,
                                      "COPY (SELECT {'%s': 'Oslo'} AS \"col-1\") TO '%s/t/%lld.parquet' (FORMAT "
                                                   "parquet, FIELD_IDS "
                                                   "{'col-1': {__duckdb_field_id: 1, '%s': 2}})",
                                      field, world->folder, (long long)version, field);

    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(duck_execute(session, sql, NULL, &world->err), &world->err);
    duck_session_close(session);
    put_commit(world, "t", version,
               str_printf(world->arena,
                          "%s{\"add\":{\"path\":\"%lld.parquet\",\"partitionValues\":{},\"size\":1,"
                          "\"modificationTime\":1,\"dataChange\":true}}\n",
                          header, (long long)version)
                   .ptr);
}

static void fields_within_columns_are_found_by_the_names_that_files_have(void **state)
{
    const char *const modes[] = {"name", "id"};

    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        World *world  = world_new_local(state);
        Str    header = str_printf(
               world->arena,
               "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}\n{\"metaData\":{\"id\":"
                  "\"x\",\"format\":{\"provider\":\"parquet\"},\"partitionColumns\":[],"
                  "\"schemaString\":\"" NESTED_SCHEMA "\",\"configuration\":{"
                  "\"delta.columnMapping.mode\":\"%s\",\"delta.columnMapping.maxColumnId\":\"2\"}}}\n",
               modes[i]);
        put_text(world, "t/_delta_log/.folder", "made for the files beside it");
        put_nested_file(world, 0, header.ptr, "col-2");
        DeltaTable *table = open_table(world, "t");
        assert_int_equal(
            query_table(world, table, "SELECT count(*) FROM %s WHERE place.\"the city\" = 'Oslo'"),
            1);
        put_nested_file(world, 1, "", "was");
        assert_ok(delta_table_refresh(table, &world->err), &world->err);
        Str  scan;
        bool ok = delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &scan, &world->err);
        if (i == 0) /* by name a file that has no such field has NULL there */
            assert_ok(ok, &world->err);
        else
            assert_err(
                &world->err, ERR_UNSUPPORTED,
                "DELTA-S03 table t v1: its columns are found by field id, and file 1.parquet "
                "has a field within column place under another name");
        delta_table_close(table);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_name_makes_a_mapped_table),
        cmocka_unit_test(with_other_features_the_protocol_lists_them_all),
        cmocka_unit_test(files_and_statistics_have_the_stored_names),
        cmocka_unit_test(a_mapped_table_is_rewritten),
        cmocka_unit_test(a_new_column_gets_the_next_id_and_its_files_have_it),
        cmocka_unit_test(a_winner_with_a_column_of_its_own_is_a_conflict),
        cmocka_unit_test(an_append_goes_behind_a_winner_with_another_property),
        cmocka_unit_test(columns_are_found_by_id),
        cmocka_unit_test(a_file_without_ids_is_refused_there),
        cmocka_unit_test(fields_within_columns_are_found_by_the_names_that_files_have),
        cmocka_unit_test(partition_values_have_stored_names),
        cmocka_unit_test(without_mapping_names_are_refused_before_anything_is_written),
        cmocka_unit_test(a_table_that_was_switched_to_mapping_goes_on),
        cmocka_unit_test(a_table_without_columns_is_no_trouble),
    };
    return RUN_DELTA_TESTS(tests);
}
