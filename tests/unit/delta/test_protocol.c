/* The gates of delta.md 1.8 (test 7 of 7): a table per line, what is said, and that nothing was
 * written. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define FEATURES(readers, writers)                                                \
    "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[" readers \
    "],\"writerFeatures\":[" writers "]}"
#define WRITER_FEATURES(writers) \
    "{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[" writers "]}"
#define LEGACY(reader, writer) "{\"minReaderVersion\":" #reader ",\"minWriterVersion\":" #writer "}"

/* Of the field "id", in a schemaString. */
#define MAPPED                          \
    "\\\"delta.columnMapping.id\\\":1," \
    "\\\"delta.columnMapping.physicalName\\\":\\\"col-1\\\""

#define FIELD(name, metadata) \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"long\\\",\\\"metadata\\\":{" metadata "}}"
#define NAMED(name)  "\\\"delta.columnMapping.physicalName\\\":\\\"" name "\\\""
#define NUMBERED(id) "\\\"delta.columnMapping.id\\\":" #id

typedef struct Gate {
    const char *protocol;
    const char *configuration; /* "" */
    const char *field_metadata;
    const char *extra;        /* of the metaData */
    const char *read_code;    /* NULL: opens */
    const char *append_code;  /* NULL: appends */
    const char *rewrite_code; /* NULL: rewrites */
} Gate;

/* clang-format off */
static const Gate gates[] = {
    /* versions */
    {LEGACY(4, 7), "", "", "", "DELTA-P01 table t v0 needs reader version 4", NULL, NULL},
    {LEGACY(0, 2), "", "", "", "DELTA-P01", NULL, NULL},
    {LEGACY(1, 8), "", "", "", NULL, "DELTA-P02 table t v0 needs writer version 8", "DELTA-P02"},
    {LEGACY(1, 0), "", "", "", NULL, "DELTA-P02", "DELTA-P02"},
    {LEGACY(3, 7), "", "", "", "DELTA-P03", NULL, NULL},
    {LEGACY(1, 7), "", "", "", "DELTA-P03", NULL, NULL},
    {"{\"minReaderVersion\":3,\"minWriterVersion\":6,\"readerFeatures\":[]}", "", "", "",
     "DELTA-P03", NULL, NULL},
    {"{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[]}", "", "", "",
     "DELTA-P03", NULL, NULL},
    {"{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[],\"writerFeatures\":["
     "\"columnMapping\"]}",
     "", "", "", NULL, NULL, NULL},
    {LEGACY(1, 1), "", "", "", NULL, NULL, NULL},
    {LEGACY(1, 2), "", "", "", NULL, NULL, NULL},
    {LEGACY(1, 6), "", "", "", NULL, NULL, NULL},
    {LEGACY(2, 5), "", "", "", NULL, NULL, NULL},
    /* features of readers: those we read, those not yet, those never */
    {FEATURES("\"timestampNtz\"", "\"timestampNtz\""), "", "", "", NULL, NULL, NULL},
    {FEATURES("\"vacuumProtocolCheck\"", "\"vacuumProtocolCheck\""), "", "", "", NULL, NULL, NULL},
    {FEATURES("\"deletionVectors\"", "\"deletionVectors\""), "", "", "", NULL, NULL, NULL},
    {FEATURES("\"v2Checkpoint\"", "\"v2Checkpoint\""), "", "", "", NULL, NULL, NULL},
    {FEATURES("\"typeWidening\"", "\"typeWidening\""), "", "", "", NULL, NULL, NULL},
    {FEATURES("\"typeWidening-preview\"", "\"typeWidening-preview\""), "", "", "", NULL, NULL,
     "DELTA-P11 table t v0: writer feature \"typeWidening-preview\""},
    {FEATURES("\"variantType\"", "\"variantType\""), "", "", "",
     "DELTA-P10 table t v0: reader feature \"variantType\"", NULL, NULL},
    {FEATURES("\"variantType-preview\"", "\"variantType-preview\""), "", "", "", "DELTA-P10", NULL,
     NULL},
    {FEATURES("\"variantShredding\"", "\"variantShredding\""), "", "", "", "DELTA-P10", NULL, NULL},
    {FEATURES("\"variantShredding-preview\"", "\"variantShredding-preview\""), "", "", "",
     "DELTA-P10", NULL, NULL},
    {FEATURES("\"geospatial\"", "\"geospatial\""), "", "", "", "DELTA-P10", NULL, NULL},
    {FEATURES("\"redirectReaderWriter-preview\"", "\"redirectReaderWriter-preview\""), "", "", "",
     "DELTA-P10", NULL, NULL},
    {FEATURES("\"adaptiveMetadata-preview\"", "\"adaptiveMetadata-preview\""), "", "", "",
     "DELTA-P10", NULL, NULL},
    {FEATURES("\"from the future\"", "\"from the future\""), "", "", "",
     "DELTA-P10 table t v0: reader feature \"from the future\"", NULL, NULL},
    {FEATURES("\"catalogManaged\"", "\"catalogManaged\""), "", "", "",
     "DELTA-P12 table t v0: commits of this table go through its catalog", NULL, NULL},
    {FEATURES("\"catalogOwned-preview\"", "\"catalogOwned-preview\""), "", "", "", "DELTA-P12",
     NULL, NULL},
    /* column mapping: the feature without the mode does nothing, the mode without the feature
     * neither */
    {LEGACY(2, 5), "\"delta.columnMapping.mode\":\"name\"", MAPPED, "", NULL, NULL, NULL},
    {LEGACY(2, 5), "\"delta.columnMapping.mode\":\"id\"", MAPPED, "", NULL,
     "DELTA-W07 table t v0: columns are mapped by id; nothing was written", "DELTA-W07"},
    {LEGACY(2, 5), "\"delta.columnMapping.mode\":\"none\"", "", "", NULL, NULL, NULL},
    {LEGACY(2, 5), "\"delta.columnMapping.mode\":\"place\"", MAPPED, "",
     "DELTA-P10 reader feature \"columnMapping\" in mode \"place\" is not supported; nothing was "
     "read", NULL, NULL},
    {LEGACY(1, 2), "\"delta.columnMapping.mode\":\"name\"", "", "", NULL, NULL, NULL},
    {FEATURES("\"columnMapping\"", "\"columnMapping\""), "\"delta.columnMapping.mode\":\"NAME\"",
     MAPPED, "", NULL, NULL, NULL},
    {FEATURES("", "\"columnMapping\""), "\"delta.columnMapping.mode\":\"name\"", MAPPED, "", NULL,
     NULL, NULL},
    {"{\"minReaderVersion\":2,\"minWriterVersion\":7,\"writerFeatures\":[\"columnMapping\"]}",
     "\"delta.columnMapping.mode\":\"id\"", MAPPED, "", NULL, "DELTA-W07", "DELTA-W07"},
    /* features of writers */
    {WRITER_FEATURES("\"from the future\""), "", "", "", NULL,
     "DELTA-P11 table t v0: writer feature \"from the future\" is not supported; nothing was "
     "written",
     "DELTA-P11"},
    {WRITER_FEATURES("\"collations\""), "", "", "", NULL, "DELTA-P11", "DELTA-P11"},
    {WRITER_FEATURES("\"redirect-writer-only-preview\""), "", "", "", NULL, "DELTA-P11",
     "DELTA-P11"},
    {WRITER_FEATURES("\"redirectWriterOnly-preview\""), "", "", "", NULL, "DELTA-P11", "DELTA-P11"},
    {WRITER_FEATURES("\"collations-preview\""), "", "", "", NULL, "DELTA-P11", "DELTA-P11"},
    {WRITER_FEATURES("\"catalogManaged\""), "", "", "", NULL, "DELTA-P12", "DELTA-P12"},
    {WRITER_FEATURES("\"coordinatedCommits-preview\""), "", "", "", NULL, "DELTA-P12", "DELTA-P12"},
    {WRITER_FEATURES("\"domainMetadata\",\"clustering\""), "", "", "", NULL, NULL,
     "DELTA-P11 table t v0: writer feature \"clustering\""},
    {WRITER_FEATURES("\"checkpointProtection\",\"materializePartitionColumns\",\"domainMetadata\""),
     "", "", "", NULL, NULL, NULL},
    {WRITER_FEATURES("\"appendOnly\",\"invariants\",\"checkConstraints\",\"changeDataFeed\","
                     "\"generatedColumns\",\"columnMapping\",\"identityColumns\""),
     "", "", "", NULL, NULL, NULL},
    {WRITER_FEATURES("\"appendOnly\""), "\"delta.appendOnly\":\"true\"", "", "", NULL, NULL,
     "DELTA-W01"},
    {LEGACY(1, 2), "\"DELTA.appendonly\":\"TRUE\"", "", "", NULL, NULL, "DELTA-W01"},
    {LEGACY(1, 2), "\"delta.appendOnly\":\"false\"", "", "", NULL, NULL, NULL},
    {LEGACY(1, 2), "", "\\\"delta.invariants\\\":\\\"{}\\\"", "", NULL,
     "DELTA-W02 table t v0: an invariant is declared on column \"id\"", "DELTA-W02"},
    {LEGACY(1, 3), "\"delta.constraints.positive\":\"id > 0\"", "", "", NULL,
     "DELTA-W03 table t v0: it has a check constraint \"positive\"", "DELTA-W03"},
    {LEGACY(1, 4), "", "\\\"delta.generationExpression\\\":\\\"1\\\"", "", NULL, "DELTA-W04",
     "DELTA-W04"},
    {LEGACY(1, 6), "", "\\\"delta.identity.start\\\":1", "", NULL, "DELTA-W05", "DELTA-W05"},
    {WRITER_FEATURES("\"allowColumnDefaults\""), "", "\\\"CURRENT_DEFAULT\\\":\\\"0\\\"", "", NULL,
     NULL, NULL},
    {WRITER_FEATURES("\"rowTracking\",\"domainMetadata\""), "\"delta.enableRowTracking\":\"true\"",
     "", "", NULL, "DELTA-W08", "DELTA-W08"},
    {WRITER_FEATURES("\"rowTracking\",\"domainMetadata\""), "", "", "", NULL, "DELTA-W08",
     "DELTA-W08"},
    {WRITER_FEATURES("\"rowTracking\",\"domainMetadata\""),
     "\"delta.rowTrackingSuspended\":\"true\"", "", "", NULL, NULL, NULL},
    {WRITER_FEATURES("\"icebergCompatV2\""), "\"delta.enableIcebergCompatV2\":\"true\"", "", "",
     NULL, "DELTA-W09", "DELTA-W09"},
    {WRITER_FEATURES("\"icebergCompatV1\",\"icebergCompatV2\",\"icebergCompatV3\""), "", "", "",
     NULL, NULL, NULL},
    {WRITER_FEATURES("\"icebergWriterCompatV1\""), "", "", "", NULL, "DELTA-W09", "DELTA-W09"},
    {LEGACY(1, 2), "", "", "\"partitionColumns\":[\"id\"],", NULL, "DELTA-W10", "DELTA-W10"},
    {LEGACY(1, 4), "\"delta.enableChangeDataFeed\":\"true\"", "", "", NULL, NULL, "DELTA-W11"},
    {LEGACY(1, 4), "\"delta.enableChangeDataCapture\":\"true\"", "", "", NULL, NULL, "DELTA-W11"},
    /* the rest */
    {LEGACY(1, 2), "", "", "\"format\":{\"provider\":\"orc\"},",
     "DELTA-P13 table t v0: its files are orc", NULL, NULL},
    {LEGACY(1, 2), "",
     "\\\"delta.typeChanges\\\":[{\\\"fromType\\\":\\\"string\\\",\\\"toType\\\":\\\"long\\\"}]",
     "", "DELTA-P14", NULL, NULL},
    {LEGACY(1, 2), "",
     "\\\"delta.typeChanges\\\":[{\\\"fromType\\\":\\\"short\\\",\\\"toType\\\":\\\"long\\\"}]", "",
     NULL, NULL, NULL},
};
/* clang-format on */

static void put_gate(World *world, const Gate *gate)
{
    put_commit(
        world, "t", 0,
        str_printf(
            world->arena,
            "{\"protocol\":%s}\n{\"metaData\":{\"id\":\"x\",%s\"schemaString\":\"{\\\"type\\\":"
            "\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","
            "\\\"nullable\\\":true,\\\"metadata\\\":{%s}}]}\",\"configuration\":{%s}}}\n"
            "{\"add\":{\"path\":\"old.parquet\",\"partitionValues\":{},\"size\":1,"
            "\"modificationTime\":1,\"dataChange\":true}}\n",
            gate->protocol, gate->extra, gate->field_metadata, gate->configuration)
            .ptr);
}

static bool try_write(World *world, DeltaTable *table, bool rewrite)
{
    Column           column = {STR("id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    Schema           schema = {&column, 1};
    int64_t          value  = 7;
    ColumnVector     vector = {.type = column.type, .data = &value};
    RowBlock         block  = {&vector, 1, 1};
    DeltaAppend      append = {.rows          = row_stream_of_block(world->arena, &schema, &block),
                               .purpose       = STR("test"),
                               .user_metadata = STR_EMPTY};
    const DeltaFile *file;
    size_t           at = 0;
    DeltaOutcome     outcome;

    if (!rewrite) return delta_table_append(table, &append, &outcome, NULL, &world->err);
    assert_true(delta_table_next_file(table, &at, &file));
    DeltaCommit commit = {
        .operation = STR("MERGE"), .removes = &file, .remove_count = 1, .user_metadata = STR_EMPTY};
    return delta_table_commit(table, &commit, &outcome, NULL, &world->err);
}

static void check_write(World *world, const Gate *gate, bool rewrite, const char *code)
{
    DeltaTable *table = open_table(world, "t");
    bool        ok    = try_write(world, table, rewrite);
    Err         err   = ERR_INIT;

    if (ok != (code == NULL))
        fail_msg("%s %s: %s", rewrite ? "rewrite" : "append", gate->protocol,
                 ok ? "was written" : world->err.message);
    if (code) {
        assert_err(&world->err, ERR_UNSUPPORTED, code);
        assert_int_equal(
            delta_table_check_writable(table, rewrite ? DELTA_CHANGES : DELTA_APPENDS, &err), 0);
        assert_err(&err, ERR_UNSUPPORTED, code);
        assert_false(file_exists(world, commit_path(world, "t", 1)));
        assert_int_equal(count_files(world, "t"), 0); /* no data file either */
    }
    err_clear(&world->err);
    delta_table_close(table);
}

static void every_line_of_the_table_is_kept(void **state)
{
    for (size_t i = 0; i < COUNT_OF(gates); i++) {
        const Gate *gate = &gates[i];
        for (int rewrite = 0; rewrite <= 1; rewrite++) {
            World      *world = world_new(state);
            DeltaTable *table = NULL;
            put_gate(world, gate);
            if (gate->read_code) {
                if (delta_table_open(&world->context, STR("t"), &table, &world->err))
                    fail_msg("opened: %s", gate->protocol);
                assert_err(&world->err, ERR_UNSUPPORTED, gate->read_code);
                assert_int_equal(count_files(world, "t/_delta_log"), 1);
            } else {
                check_write(world, gate, rewrite, rewrite ? gate->rewrite_code : gate->append_code);
            }
            world_close(world);
        }
    }
}

/* W06: NULL for a column with a default would be a wrong row. */
static void a_default_is_not_overridden_by_silence(void **state)
{
    World *world = world_new(state);
    put_commit(
        world, "t", 0,
        "{\"protocol\":" WRITER_FEATURES(
            "\"allowColumnDefaults\"") "}\n{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{"
                                       "\\\"type\\\":\\\"struct\\\",\\\"fields\\\":["
                                       "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","
                                       "\\\"nullable\\\":true,\\\"metadata\\\":{}},"
                                       "{\\\"name\\\":\\\"n\\\",\\\"type\\\":\\\"long\\\","
                                       "\\\"nullable\\\":true,\\\"metadata\\\":{\\\"CURRENT_"
                                       "DEFAULT\\\":\\\"5\\\"}}]}\",\"configuration\":{}}}\n");
    DeltaTable *table = open_table(world, "t");
    assert_false(try_write(world, table, false));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-W06 table t: column n has a default value");
    assert_int_equal(count_files(world, "t"), 0);
    delta_table_close(table);
    world_close(world);
}

/* A table whose columns cannot be told apart is damaged, and says which one. */
static void columns_of_a_mapped_table_have_names_and_ids(void **state)
{
    static const struct {
        const char *fields, *properties, *message;
    } cases[] = {
        {FIELD("a", ""), "", "column a has no delta.columnMapping.physicalName"},
        {FIELD("a", NAMED("x")), "", "column a has no delta.columnMapping.id"},
        {FIELD("a", NAMED("x") "," NUMBERED(0)), "", "column a has no delta.columnMapping.id"},
        {FIELD("a", NAMED("x") "," NUMBERED(1)) "," FIELD("b", NAMED("x") "," NUMBERED(2)), "",
         "column b shares its delta.columnMapping.physicalName with another one"},
        {FIELD("a", NAMED("x") "," NUMBERED(1)) "," FIELD("b", NAMED("y") "," NUMBERED(1)), "",
         "column b shares its delta.columnMapping.id with another one"},
        {FIELD("a", NAMED("x") "," NUMBERED(1)),
         ",\"delta.columnMapping.maxColumnId\":\"2147483647\"",
         "delta.columnMapping.maxColumnId is 2147483647"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World      *world = world_new(state);
        DeltaTable *table = NULL;
        put_commit(
            world, "t", 0,
            str_printf(world->arena,
                       "{\"protocol\":" LEGACY(
                           2, 5) "}\n{\"metaData\":{\"id\":\"x\","
                                 "\"schemaString\":\"{\\\"fields\\\":[%s]}\",\"configuration\":{"
                                 "\"delta.columnMapping.mode\":\"name\"%s}}}\n",
                       cases[i].fields, cases[i].properties)
                .ptr);
        assert_false(delta_table_open(&world->context, STR("t"), &table, &world->err));
        assert_err(&world->err, ERR_DAMAGED, cases[i].message);
        assert_err(&world->err, ERR_DAMAGED, "DELTA-L06");
        world_close(world);
    }
}

/* Who reads a table whose commits somebody else orders is told that there may be newer ones. */
static void a_coordinated_table_may_be_stale(void **state)
{
    World *world = world_new(state);
    put_gate(world, &(Gate){WRITER_FEATURES("\"coordinatedCommits-preview\""), "", "", "", NULL,
                            NULL, NULL});
    DeltaTable *table = open_table(world, "t");
    assert_int_equal(world->lines.warning_count, 1);
    assert_non_null(strstr(world->lines.last, "this view may be stale"));
    delta_table_close(table);
    world_close(world);
}

/* A winner may bring a feature in at any time: the table stands where it stood, and says why. */
static void a_feature_that_arrives_later_is_refused_then(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    append_rows(world, table, 1, 1);
    put_commit(world, "t", 2,
               "{\"protocol\":" FEATURES("\"timestampNtz\",\"variantType\"",
                                         "\"timestampNtz\",\"variantType\"") "}\n");
    assert_false(delta_table_refresh(table, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-P10 table t v2");
    assert_int_equal(delta_table_get_version(table), 1);
    DeltaOutcome outcome;
    assert_false(try_append(world, table, 2, 1, NULL, &outcome));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-P10 table t v2");
    assert_false(file_exists(world, commit_path(world, "t", 3)));
    delta_table_close(table);
    /* the versions before are still to be had */
    DeltaTable *old = NULL;
    assert_ok(delta_table_open_version(&world->context, STR("t"), 1, &old, &world->err),
              &world->err);
    assert_int_equal(count_rows(world, old), 1);
    delta_table_close(old);
    world_close(world);
}

/* Deletion vectors without the feature: other readers would bring deleted rows back. */
static void a_deletion_vector_is_never_read_past(void **state)
{
    World *world = world_new(state);
    put_gate(world, &gates[10]);
    put_commit(world, "t", 1,
               "{\"add\":{\"path\":\"f\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,"
               "\"dataChange\":true,\"deletionVector\":{\"storageType\":\"i\",\"pathOrInlineDv\":"
               "\"x\",\"sizeInBytes\":1,\"cardinality\":1}}}\n");
    DeltaTable *table = NULL;
    assert_false(delta_table_open(&world->context, STR("t"), &table, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED,
               "DELTA-P03 table t v1: malformed protocol, it lacks the reader feature "
               "\"deletionVectors\" and file f has one");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_of_the_table_is_kept),
        cmocka_unit_test(a_default_is_not_overridden_by_silence),
        cmocka_unit_test(columns_of_a_mapped_table_have_names_and_ids),
        cmocka_unit_test(a_coordinated_table_may_be_stale),
        cmocka_unit_test(a_feature_that_arrives_later_is_refused_then),
        cmocka_unit_test(a_deletion_vector_is_never_read_past),
    };
    return RUN_DELTA_TESTS(tests);
}
