/* apply_lake.h - bronze rows put down by hand and silver read back: what apply does, without a
 * source. Include test_support.h first.
 *
 * The table has a key `id` (INT, may be NULL) and `v` (STRING). LSNs, command ids and seqvals are
 * numbers, as in the cases. */
#ifndef TIDELAKE_SUPPORT_APPLY_LAKE_H
#define TIDELAKE_SUPPORT_APPLY_LAKE_H

#include "engine/apply.h"
#include "support/change_order.h"
#include "unit/state/state_test.h"

#define BRONZE_PATH "lake/bronze"
#define SILVER_PATH "lake/silver"

/* One bronze row. Operation 0 is a snapshot's: `cmd` and `seq` are NULL, `_snapshot` is `lsn`, unless the lake says that
 * it is a chunk's. */
typedef struct BronzeRow {
    unsigned    lsn;
    int         cmd;
    unsigned    seq;
    int         op;
    int64_t     key; /* NULL_KEY: NULL */
    const char *v;   /* NULL: NULL */
} BronzeRow;

#define NULL_KEY (-1000)

typedef struct ApplyLake {
    Lake      *lake;
    bool       without_command_id;
    bool       without_vectors; /* silver that is made takes no deletion vectors */
    ColumnType key_type;        /* of what is put down from now on */
    const Str *keys;            /* of silver; NULL: id */
    size_t     key_count;
    const Str *instances; /* the table's; NULL: dbo_t */
    size_t     instance_count;
    unsigned   snapshot; /* not 0: rows of operation 0 are of `chunk` of this one, stamped by LSN */
    int        chunk;
    const int *row_chunks;  /* of each row put down; NULL: `chunk` for all */
    Str     newer_instance; /* of the rows put down from now on, which have v's values in w too */
    Bronze *bronze;
    int64_t batches;
} ApplyLake;

UNUSED static ApplyLake apply_lake_open(Duck *duck)
{
    ApplyLake out = {.lake = lake_open(duck), .key_type = COLUMN_TYPE(TYPE_INTEGER)};
    TableRef  ref = {STR(BRONZE_PATH), STR(BRONZE_PATH)};

    assert_ok(bronze_open(&out.lake->delta, &ref, &out.bronze, &out.lake->err), &out.lake->err);
    return out;
}

UNUSED static void apply_lake_close(ApplyLake *lake)
{
    bronze_close(lake->bronze);
    lake_close(lake->lake);
}

UNUSED static void set_row(ApplyLake *lake, RowBuilder *builder, const Schema *schema,
                           const BronzeRow *row)
{
    Arena *arena = lake->lake->arena;
    Str    lsn   = lsn_str(arena, lsn_number(row->lsn));

#define AT(name) (size_t) schema_find(schema, STR(name))
    row_builder_begin(builder);
    row_builder_set_str(builder, AT("_capture_instance"),
                        lake->newer_instance.len ? lake->newer_instance : STR("dbo_t"));
    row_builder_set_str(builder, AT("_start_lsn"), lsn);
    row_builder_set_i64(builder, AT("_operation"), row->op);
    row_builder_set_i64(builder, AT("_commit_ts"), TEST_UTC_US + row->lsn * INT64_C(60000000));
    if (row->key != NULL_KEY) row_builder_set_i64(builder, AT("id"), row->key);
    if (row->v) row_builder_set_str(builder, AT("v"), str_from_c(row->v));
    if (row->v && lake->newer_instance.len)
        row_builder_set_str(builder, AT("w"), str_from_c(row->v));
    if (row->op == 0 && lake->snapshot) {
        row_builder_set_str(builder, AT("_snapshot"), lsn_str(arena, lsn_number(lake->snapshot)));
        row_builder_set_i64(builder, AT("_chunk"), lake->chunk);
    } else if (row->op == 0) {
        row_builder_set_str(builder, AT("_snapshot"), lsn);
    } else {
        row_builder_set_str(builder, AT("_seqval"), lsn_str(arena, lsn_number(row->seq)));
        if (!lake->without_command_id) row_builder_set_i64(builder, AT("_command_id"), row->cmd);
        row_builder_set_i64(builder, AT("_batch_id"), lake->batches);
    }
#undef AT
}

/* The table's columns, the key as it comes. */
UNUSED static const Schema *rows_schema(ApplyLake *lake)
{
    const Schema *have    = delta_table_get_schema(bronze_get_table(lake->bronze));
    Schema       *schema  = ARENA_NEW(lake->lake->arena, Schema);
    Column       *columns = ARENA_ARRAY(lake->lake->arena, Column, have->column_count + 1);

    *schema = schema_copy(lake->lake->arena, have);
    for (size_t i = 0; i < schema->column_count; i++) {
        columns[i] = schema->columns[i];
        if (str_equal_c(columns[i].name, "id")) columns[i].type = lake->key_type;
    }
    schema->columns = columns;
    if (lake->newer_instance.len && schema_find(schema, STR("w")) < 0)
        columns[schema->column_count++] = (Column){.name = STR("w"),
                                                   .type = COLUMN_TYPE(TYPE_STRING)};
    return schema;
}

/* One bronze commit of these rows. */
UNUSED static void put_rows(ApplyLake *lake, const BronzeRow *rows, size_t count)
{
    const Column columns[] = {{.name = {"id", 2}, .type = lake->key_type},
                              {.name = {"v", 1}, .type = {.kind = TYPE_STRING}},
                              {.name = {"w", 1}, .type = {.kind = TYPE_STRING}}};
    const Schema captured  = {.columns = columns, .column_count = lake->newer_instance.len ? 3 : 2};
    Lake        *in        = lake->lake;
    DeltaWriter *writer    = NULL;
    DeltaAdd     add;
    DeltaOutcome outcome;
    BatchCounts  counts = {.rows = (int64_t)count};

    if (count == 0) return;
    assert_ok(bronze_prepare(lake->bronze, &captured, !lake->without_command_id, &in->err),
              &in->err);
    assert_ok(bronze_writer_open(lake->bronze, STR("test"), &writer, &in->err), &in->err);
    const Schema *schema  = rows_schema(lake);
    RowBuilder   *builder = row_builder_new(in->arena, schema);
    for (size_t i = 0; i < count; i++) {
        if (lake->row_chunks) lake->chunk = lake->row_chunks[i];
        set_row(lake, builder, schema, &rows[i]);
    }
    RowBlock block = row_builder_block(builder);
    assert_ok(delta_writer_write(writer, row_stream_of_block(in->arena, schema, &block), in->arena,
                                 &add, &in->err),
              &in->err);
    assert_ok(bronze_append_batch(lake->bronze, writer, &add, 1, STR("shop"), lake->batches++,
                                  &counts, &outcome, &in->err),
              &in->err);
    delta_writer_close(writer);
}

UNUSED static bool try_apply(ApplyLake *lake, bool with_facts, ApplyResult *out)
{
    static const Str keys[]      = {{"id", 2}};
    static const Str instances[] = {{"dbo_t", 5}};
    Lake            *in          = lake->lake;
    Env              env         = {.clock = in->clock,
                                    .rng   = in->rng,
                                    .sched = in->sched,
                                    .store = in->delta.store,
                                    .duck  = in->delta.duck,
                                    .log   = in->log,
                                    .delta = &in->delta};
    ApplyOptions     options     = {.bronze           = {STR(BRONZE_PATH), STR(BRONZE_PATH)},
                                    .silver           = {STR(SILVER_PATH), STR(SILVER_PATH)},
                                    .control          = {STR("control"), STR("lake/control")},
                                    .granularity      = GRANULARITY_HOUR,
                                    .instances        = lake->instances ? lake->instances : instances,
                                    .instance_count   = lake->instances ? lake->instance_count : 1,
                                    .keys             = lake->keys ? lake->keys : keys,
                                    .key_count        = lake->keys ? lake->key_count : 1,
                                    .deletion_vectors = !lake->without_vectors};

    if (with_facts) options.facts = (TableRef){STR("facts"), STR("lake/facts")};
    in->err = ERR_INIT;
    return apply_run(&env, &options, out, &in->err);
}

UNUSED static ApplyResult apply_now(ApplyLake *lake)
{
    ApplyResult result;

    assert_ok(try_apply(lake, true, &result), &lake->lake->err);
    return result;
}

/* "1=a 2=b -=c": keys in order, NULL last. */
UNUSED static Str silver_text(ApplyLake *lake)
{
    return rows_of(
        lake->lake, SILVER_PATH,
        "SELECT coalesce(string_agg(coalesce(id::VARCHAR, '-') || '=' || coalesce(v, '-'), "
        "' ' ORDER BY id NULLS LAST, v), '') FROM {}");
}

#define assert_silver(lake, want) assert_str_is(str_trim(silver_text(lake)), (want))

UNUSED static int64_t silver_version(ApplyLake *lake)
{
    DeltaTable *table = NULL;
    int64_t     version;

    assert_ok(delta_table_open(&lake->lake->delta, STR(SILVER_PATH), &table, &lake->lake->err),
              &lake->lake->err);
    version = delta_table_get_version(table);
    delta_table_close(table);
    return version;
}

#endif
