/* Deletion vectors: bytes written by hand, of every kind of container and with every kind of
 * damage, and tables whose rows they hide. */
#include "support/test_support.h"

#include "delta/deletion_vector.h"
#include "delta_test.h"

#define BITMAP_BYTES 8192
#define FEATURES     "\"deletionVectors\",\"timestampNtz\""
/* {3, 4, 7, 11, 18, 29} */
#define SIX            \
    "d1d33964"         \
    "0100000000000000" \
    "00000000"         \
    "3a300000"         \
    "01000000"         \
    "00000500"         \
    "10000000"         \
    "030004000700"     \
    "0b0012001d00"
#define SIX_Z85 "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
#define SIX_INLINE                                         \
    "{\"storageType\":\"i\",\"pathOrInlineDv\":\"" SIX_Z85 \
    "\",\"sizeInBytes\":44,\"cardinality\":6}"
#define ONE_BUCKET     \
    "d1d33964"         \
    "0100000000000000" \
    "00000000"
#define UUID_Z85  "ab^-aqEH.-t@S}K{vb[*k^"
#define UUID_FILE "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"

static Bytes unhex(Arena *arena, const char *hex)
{
    Bytes bytes;
    assert_true(hex_decode(arena, str_from_c(hex), &bytes));
    return bytes;
}

static void assert_positions(const char *hex, const uint64_t *want, size_t count)
{
    Arena       *arena = arena_new();
    RowSet       rows;
    VectorDamage damage;
    RowSetPlace  place = {0};
    uint64_t     at    = 0, first, last;

    assert_true(deletion_rows_read(unhex(arena, hex), INT64_MAX, arena, &rows, &damage));
    assert_int_equal(rows.row_count, count);
    assert_int_equal(rows.next, count > 0 ? want[count - 1] + 1 : 0);
    while (row_set_next(&rows, &place, &first, &last))
        for (; first <= last; first++)
            assert_int_equal(first, want[at++]);
    assert_int_equal(at, count);
    Bytes written = deletion_rows_write(&rows, arena);
    assert_true(str_equal(hex_encode(arena, written, false), str_from_c(hex)));
    arena_close(arena);
}

static void every_kind_of_container_is_read_and_written(void **state)
{
    uint64_t six[] = {3, 4, 7, 11, 18, 29}, run[62];
    uint64_t four[22];
    size_t   count = 0;
    (void)state;

    assert_positions(SIX, six, COUNT_OF(six));
    assert_positions("d1d33964"
                     "0000000000000000",
                     NULL, 0);
    uint64_t far[] = {0, (UINT64_C(1) << 32) + 5}; /* two buckets */
    assert_positions("d1d33964"
                     "0200000000000000"
                     "00000000"
                     "3a300000"
                     "01000000"
                     "00000000"
                     "10000000"
                     "0000"
                     "01000000"
                     "3a300000"
                     "01000000"
                     "00000000"
                     "10000000"
                     "0500",
                     far, 2);
    uint64_t ends[] = {0, 9}; /* as Databricks wrote them */
    assert_positions(ONE_BUCKET "3a300000"
                                "01000000"
                                "00000100"
                                "10000000"
                                "00000900",
                     ends, 2);
    for (uint64_t i = 0; i < 60; i++)
        run[i] = i;
    assert_positions(ONE_BUCKET "3b300000"
                                "01"
                                "00003b00"
                                "010000003b00",
                     run, 60);
    run[60] = 70000; /* a run and an array */
    assert_positions(ONE_BUCKET "3b300100"
                                "01"
                                "00003b00"
                                "01000000"
                                "010000003b00"
                                "7011",
                     run, 61);
    for (uint64_t key = 0; key < 3; key++) {
        if (key == 1) four[count++] = (key << 16) + 7;
        for (uint64_t i = 5; key != 1 && i < 15; i++)
            four[count++] = (key << 16) + i;
    }
    four[count++] = (UINT64_C(3) << 16) + 7; /* runs and arrays, enough of them to have offsets */
    assert_positions(ONE_BUCKET "3b300300"
                                "05"
                                "00000900"
                                "01000000"
                                "02000900"
                                "03000000"
                                "25000000"
                                "2b000000"
                                "2d000000"
                                "33000000"
                                "010005000900"
                                "0700"
                                "010005000900"
                                "0700",
                     four, count);
}

static void a_bitmap_container_is_read(void **state)
{
    Arena       *arena = arena_new();
    Bytes        head  = unhex(arena, ONE_BUCKET "3a300000"
                                                         "01000000"
                                                         "0000ff7f"
                                                         "10000000");
    uint8_t     *bytes = ARENA_ARRAY(arena, uint8_t, head.len + BITMAP_BYTES);
    RowSet       rows;
    VectorDamage damage;
    (void)state;

    memcpy(bytes, head.ptr, head.len);
    memset(bytes + head.len, 0xAA, BITMAP_BYTES); /* every odd position */
    Bytes data = {bytes, head.len + BITMAP_BYTES};
    assert_true(deletion_rows_read(data, 65536, arena, &rows, &damage));
    assert_int_equal(rows.row_count, 32768);
    for (uint64_t i = 0; i < 65536; i++)
        assert_int_equal(row_set_has(&rows, i), i % 2);
    assert_int_equal(rows.next, 65536);
    Bytes again = deletion_rows_write(&rows, arena);
    assert_true(str_equal(bytes_str(again), bytes_str(data)));
    assert_false(deletion_rows_read(data, 65535, arena, &rows, &damage));
    assert_string_equal(damage.what, "a position beyond the rows of the file");
    assert_int_equal(damage.at, data.len - 1);
    bytes[head.len + 5] = 0;
    assert_false(deletion_rows_read(data, 65536, arena, &rows, &damage));
    assert_string_equal(damage.what, "a bitmap has not as many positions as it says");
    assert_int_equal(damage.at, head.len);
    arena_close(arena);
}

static void damage_is_told_with_its_place(void **state)
{
    static const struct {
        const char *hex, *what;
        size_t      at;
    } cases[] = {
        {"d1d339", "it ends too early", 0},
        {"d2d33964", "its magic number is another", 0},
        {"d1d33964"
         "01000000",
         "it ends too early", 4},
        {"d1d33964"
         "0100000000000000",
         "it ends too early", 12},
        {"d1d33964"
         "0100000000000000"
         "00000080",
         "the keys of the bitmaps do not grow", 12},
        {"d1d33964"
         "0200000000000000"
         "00000000"
         "3a300000"
         "00000000"
         "00000000",
         "the keys of the bitmaps do not grow", 24},
        {ONE_BUCKET "3c300000", "no Roaring bitmap begins like this", 16},
        {ONE_BUCKET "3a300100", "no Roaring bitmap begins like this", 16},
        {ONE_BUCKET "3a300000"
                    "01000100",
         "too many containers", 20},
        {ONE_BUCKET "3a300000"
                    "01000000"
                    "00000100"
                    "10000000"
                    "0300",
         "it ends too early", 32},
        {ONE_BUCKET "3a300000"
                    "01000000"
                    "00000100"
                    "10000000"
                    "03000300",
         "the positions of an array do not grow", 34},
        {ONE_BUCKET "3a300000"
                    "01000000"
                    "00000000"
                    "11000000"
                    "0300",
         "a container does not lie where its offset says", 32},
        {ONE_BUCKET "3a300000"
                    "02000000"
                    "01000000"
                    "01000000"
                    "18000000"
                    "1a000000"
                    "03000300",
         "the keys of the containers do not grow", 42},
        {ONE_BUCKET "3b300000"
                    "01"
                    "00003c00"
                    "010000003b00",
         "runs have not as many positions as they say", 25},
        {ONE_BUCKET "3b300000"
                    "01"
                    "00000500"
                    "020000000200"
                    "02000200",
         "runs that overlap or leave their container", 31},
        {ONE_BUCKET "3b300000"
                    "01"
                    "00000100"
                    "0100ffff0100",
         "runs that overlap or leave their container", 27},
        {ONE_BUCKET "3a300000"
                    "01000000"
                    "03000000"
                    "10000000"
                    "400d",
         "a position beyond the rows of the file", 32},
        {SIX "00", "something stands behind its end", 44},
        /* {0, 2^32 + 5} */
        {"d1d33964"
         "0200000000000000"
         "00000000"
         "3a300000"
         "01000000"
         "00000000"
         "10000000"
         "0000"
         "01000000"
         "3a300000"
         "01000000"
         "00000000"
         "10000000"
         "0500",
         "a position beyond the rows of the file", 54},
    };
    Arena *arena = arena_new();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        RowSet       rows;
        VectorDamage damage;
        assert_false(deletion_rows_read(unhex(arena, cases[i].hex), 200000, arena, &rows, &damage));
        assert_string_equal(damage.what, cases[i].what);
        assert_int_equal(damage.at, cases[i].at);
        assert_false(damage.is_obsolete);
    }
    arena_close(arena);
}

/* Wherever it is cut, it is damaged; no byte behind the cut is looked at. */
static void a_cut_vector_is_never_read(void **state)
{
    Arena *arena = arena_new();
    Bytes  whole = unhex(arena, SIX);
    (void)state;

    for (size_t len = 0; len < whole.len; len++) {
        uint8_t     *part = mem_alloc(len + 1); /* the sanitizer watches its end */
        RowSet       rows;
        VectorDamage damage;
        memcpy(part, whole.ptr, len);
        assert_false(deletion_rows_read((Bytes){part, len}, 30, arena, &rows, &damage));
        assert_true(damage.at <= len);
        mem_free(part);
    }
    arena_close(arena);
}

static void z85_and_the_checksum_are_those_of_others(void **state)
{
    Arena *arena = arena_new();
    Bytes  bytes;
    (void)state;

    assert_true(z85_decode(STR(SIX_Z85), arena, &bytes));
    assert_true(str_equal(hex_encode(arena, bytes, false), STR(SIX)));
    assert_int_equal(crc32_of(bytes), 0xacd74a79);
    assert_int_equal(crc32_of(str_bytes(STR("123456789"))), 0xCBF43926);
    assert_true(str_equal(z85_encode(bytes, arena), STR(SIX_Z85)));
    for (size_t len = 0; len <= 40; len++) { /* padded with NUL */
        uint8_t raw[40];
        for (size_t i = 0; i < len; i++)
            raw[i] = (uint8_t)(i * 37 + len);
        assert_true(z85_decode(z85_encode((Bytes){raw, len}, arena), arena, &bytes));
        assert_int_equal(bytes.len, (len + 3) / 4 * 4);
        assert_memory_equal(bytes.ptr, raw, len);
        for (size_t i = len; i < bytes.len; i++)
            assert_int_equal(bytes.ptr[i], 0);
    }
    assert_true(z85_decode(STR("^Bg9^0000000000"), arena, &bytes));
    assert_true(str_equal(hex_encode(arena, bytes, false), STR("d1d339640000000000000000")));
    assert_false(z85_decode(STR("^Bg9"), arena, &bytes));
    assert_false(z85_decode(STR("^Bg9~"), arena, &bytes));
    assert_false(z85_decode(STR("#####"), arena, &bytes)); /* 85^5 - 1 does not fit 32 bits */
    arena_close(arena);
}

/* --- tables --- */

static Str path_of_only_file(DeltaTable *table, Arena *arena)
{
    const DeltaFile *file = NULL;
    assert_true(delta_table_next_file(table, &(size_t){0}, &file));
    return str_copy(arena, file->path);
}

/* A table of `rows` rows in one file, which version 2 adds anew with a vector. */
static void put_vector_table(World *world, int64_t rows, const char *descriptor)
{
    DeltaTable *table = create_table(world, "t");
    append_rows(world, table, 0, rows);
    Str path = path_of_only_file(table, world->arena);
    delta_table_close(table);
    put_commit_str(
        world, "t", 2,
        str_printf(world->arena,
                   "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                   "\"readerFeatures\":[" FEATURES "],\"writerFeatures\":[" FEATURES "]}}\n"
                   "{\"remove\":{\"path\":\"%.*s\",\"deletionTimestamp\":1,\"dataChange\":true}}\n"
                   "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":1,"
                   "\"modificationTime\":1,\"dataChange\":true,"
                   "\"stats\":\"{\\\"numRecords\\\":%lld}\",\"deletionVector\":%s}}\n",
                   STR_ARG(path), STR_ARG(path), (long long)rows, descriptor));
}

static void put_bytes(World *world, const char *path, const char *hex)
{
    assert_ok(store_put_new(world->store, str_from_c(path), unhex(world->arena, hex), &world->err),
              &world->err);
}

#define SUM_OF_IDS "SELECT coalesce(sum(id), 0) FROM %s"

static void deleted_rows_are_not_read(void **state)
{
    World *world = world_new_local(state);
    put_vector_table(world, 40, SIX_INLINE);
    DeltaTable      *table = open_table(world, "t");
    const DeltaFile *file  = NULL;
    assert_int_equal(count_rows(world, table), 34);
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 780 - 72);
    assert_int_equal(query_table(world, table, "SELECT count(*) FROM %s WHERE \"__$row\" <> id"),
                     0);
    assert_int_equal(query_table(world, table, "SELECT count(*) FROM %s WHERE id IN (3, 11, 29)"),
                     0);
    assert_true(delta_table_next_file(table, &(size_t){0}, &file));
    assert_int_equal(file->row_count, 40);
    assert_int_equal(delta_file_count_rows(file), 34);
    /* beside a file without one */
    append_rows(world, table, 100, 10);
    assert_int_equal(count_rows(world, table), 44);
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 780 - 72 + 1045);
    assert_int_equal(query_table(world, table, "SELECT count(DISTINCT \"__$file\") FROM %s"), 2);
    delta_table_close(table);
    world_close(world);
}

/* Two files with vectors, one of them empty. */
static void each_file_has_its_own_vector(void **state)
{
    World *world = world_new_local(state);
    put_vector_table(world, 40, SIX_INLINE);
    DeltaTable *table = open_table(world, "t");
    append_rows(world, table, 100, 10);
    const DeltaFile *file = NULL;
    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        if (file->row_count == 10) break;
    put_commit_str(
        world, "t", 4,
        str_printf(world->arena,
                   "{\"remove\":{\"path\":\"%.*s\",\"dataChange\":true}}\n"
                   "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":1,"
                   "\"modificationTime\":1,\"dataChange\":true,"
                   "\"stats\":\"{\\\"numRecords\\\":10}\",\"deletionVector\":{\"storageType\":"
                   "\"i\",\"pathOrInlineDv\":\"^Bg9^0000000000\",\"sizeInBytes\":12,"
                   "\"cardinality\":0}}}\n",
                   STR_ARG(file->path), STR_ARG(file->path)));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_int_equal(count_rows(world, table), 44);
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 780 - 72 + 1045);
    delta_table_close(table);
    world_close(world);
}

/* A rewrite reads what is left, and its remove names the vector, so nothing is live twice. */
static void a_rewrite_takes_the_vector_away(void **state)
{
    World *world = world_new_local(state);
    put_vector_table(world, 40, SIX_INLINE);
    DeltaTable      *table  = open_table(world, "t");
    const DeltaFile *file   = NULL;
    DeltaCommit      commit = {.operation     = STR("DELETE"),
                               .removes       = &file,
                               .remove_count  = 1,
                               .user_metadata = STR_EMPTY};
    DeltaOutcome     outcome;
    assert_true(delta_table_next_file(table, &(size_t){0}, &file));
    assert_ok(delta_table_check_writable(table, DELTA_CHANGES, &world->err), &world->err);
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(count_rows(world, table), 0);
    assert_true(str_find(read_text(world, commit_path(world, "t", 3)),
                         STR("\"deletionVector\":" SIX_INLINE), 0) > 0);
    delta_table_close(table);
    world_close(world);
}

#define IN_FILE(offset, size, count)                                                \
    "{\"storageType\":\"u\",\"pathOrInlineDv\":\"" UUID_Z85 "\",\"offset\":" offset \
    ",\"sizeInBytes\":" size ",\"cardinality\":" count "}"
#define SIX_FRAME "0000002c" SIX "acd74a79"

static void a_vector_is_found_in_its_file(void **state)
{
    World *world = world_new_local(state);
    put_vector_table(world, 40, IN_FILE("53", "44", "6"));
    put_bytes(world, "t/" UUID_FILE, "01" SIX_FRAME SIX_FRAME);
    DeltaTable *table = open_table(world, "t");
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 780 - 72);
    delta_table_close(table);
    world_close(world);
}

static void assert_refused(void **state, const char *descriptor, const char *hex, ErrCode code,
                           const char *message)
{
    World *world = world_new_local(state);
    Str    sql;
    put_vector_table(world, 40, descriptor);
    if (hex) put_bytes(world, "t/" UUID_FILE, hex);
    DeltaTable *table = open_table(world, "t");
    assert_false(delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &sql, &world->err));
    assert_err(&world->err, code, message);
    delta_table_close(table);
    world_close(world);
}

static void a_damaged_vector_is_refused(void **state)
{
    static const struct {
        const char *descriptor, *hex;
        ErrCode     code;
        const char *message;
    } cases[] = {
        {IN_FILE("1", "44", "6"), NULL, ERR_DAMAGED, "DELTA-L08 table t: the deletion vector"},
        {IN_FILE("1", "44", "6"), "", ERR_DAMAGED,
         "DELTA-D01 table t: the deletion vector of file "},
        {IN_FILE("1", "44", "6"), "02" SIX_FRAME, ERR_DAMAGED,
         "is damaged: t/" UUID_FILE ", byte 0: no file of deletion vectors begins like this"},
        {IN_FILE("0", "44", "6"), "01" SIX_FRAME, ERR_DAMAGED, "byte 0: no vector can lie here"},
        {IN_FILE("2", "44", "6"), "01" SIX_FRAME, ERR_DAMAGED,
         "byte 2: the file ends before the vector does"},
        {IN_FILE("99999", "44", "6"), "01" SIX_FRAME, ERR_DAMAGED, "byte 99999: the file ends"},
        {IN_FILE("1", "43", "6"), "01" SIX_FRAME, ERR_DAMAGED,
         "byte 1: the vector's size is not the one in the log"},
        {IN_FILE("1", "44", "6"), "010000002c" SIX "acd74a78", ERR_DAMAGED,
         "byte 49: the checksum is not that of the vector"},
        {IN_FILE("1", "44", "5"), "01" SIX_FRAME, ERR_DAMAGED,
         "byte 1: it has 6 positions, 5 in the log"},
        {IN_FILE("1", "12", "0"),
         "010000000c"
         "d1d339640000000000000000"
         "00000000",
         ERR_DAMAGED, "byte 17: the checksum"},
        {"{\"storageType\":\"i\",\"pathOrInlineDv\":\"~\",\"sizeInBytes\":44,\"cardinality\":6}",
         NULL, ERR_DAMAGED, "in the log, byte 0: it is no Z85"},
        {"{\"storageType\":\"i\",\"pathOrInlineDv\":\"" SIX_Z85
         "\",\"sizeInBytes\":40,\"cardinality\":6}",
         NULL, ERR_DAMAGED, "in the log, byte 44: its size is not the one in the log"},
        {"{\"storageType\":\"i\",\"pathOrInlineDv\":\"^Bg8^00000\",\"sizeInBytes\":8,"
         "\"cardinality\":6}",
         NULL, ERR_DAMAGED, "in the log, byte 0: its magic number is another"},
        {"{\"storageType\":\"u\",\"pathOrInlineDv\":\"short\",\"offset\":1,\"sizeInBytes\":44,"
         "\"cardinality\":6}",
         NULL, ERR_DAMAGED, "no proper pathOrInlineDv"},
        {"{\"storageType\":\"p\",\"pathOrInlineDv\":\"beside.bin\",\"offset\":1,"
         "\"sizeInBytes\":44,\"cardinality\":6}",
         NULL, ERR_DAMAGED, "no proper pathOrInlineDv"},
        {"{\"storageType\":\"p\",\"pathOrInlineDv\":\"s3://b/x.bin\",\"offset\":1,"
         "\"sizeInBytes\":44,\"cardinality\":6}",
         NULL, ERR_UNSUPPORTED, "DELTA-L07"},
        {"{\"storageType\":\"r\",\"pathOrInlineDv\":\"x.bin\",\"sizeInBytes\":44,"
         "\"cardinality\":6}",
         NULL, ERR_UNSUPPORTED, "DELTA-D03 table t"},
        {"{\"storageType\":\"i\",\"pathOrInlineDv\":\"" SIX_Z85 "\",\"cardinality\":6}", NULL,
         ERR_DAMAGED, "no proper sizeInBytes"},
        {"{\"storageType\":\"i\",\"pathOrInlineDv\":\"" SIX_Z85
         "\",\"sizeInBytes\":44,\"cardinality\":-6}",
         NULL, ERR_DAMAGED, "no proper cardinality"},
        {IN_FILE("1", "8", "0"),
         "0100000008d0d3396400000000"
         "b6d33745",
         ERR_UNSUPPORTED, "DELTA-D02 table t"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_refused(state, cases[i].descriptor, cases[i].hex, cases[i].code, cases[i].message);
}

/* A position that the file has no row for. */
static void a_vector_longer_than_its_file_is_refused(void **state)
{
    World *world = world_new_local(state);
    Str    sql;
    put_vector_table(world, 29, SIX_INLINE);
    DeltaTable *table = open_table(world, "t");
    assert_false(delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &sql, &world->err));
    assert_err(&world->err, ERR_DAMAGED, "byte 42: a position beyond the rows of the file");
    delta_table_close(table);
    world_close(world);
}

static void a_vector_at_an_absolute_path_is_read(void **state)
{
    World *world = world_new_local(state);
    put_vector_table(world, 40,
                     str_printf(world->arena,
                                "{\"storageType\":\"p\",\"pathOrInlineDv\":\"file://%s/away/x%%20y."
                                "bin\",\"offset\":1,\"sizeInBytes\":44,\"cardinality\":6}",
                                world->folder)
                         .ptr);
    put_bytes(world, "away/x y.bin", "01" SIX_FRAME);
    DeltaTable *table = open_table(world, "t");
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 780 - 72);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_container_is_read_and_written),
        cmocka_unit_test(a_bitmap_container_is_read),
        cmocka_unit_test(damage_is_told_with_its_place),
        cmocka_unit_test(a_cut_vector_is_never_read),
        cmocka_unit_test(z85_and_the_checksum_are_those_of_others),
        cmocka_unit_test(deleted_rows_are_not_read),
        cmocka_unit_test(each_file_has_its_own_vector),
        cmocka_unit_test(a_rewrite_takes_the_vector_away),
        cmocka_unit_test(a_vector_is_found_in_its_file),
        cmocka_unit_test(a_damaged_vector_is_refused),
        cmocka_unit_test(a_vector_longer_than_its_file_is_refused),
        cmocka_unit_test(a_vector_at_an_absolute_path_is_read),
    };
    return RUN_DELTA_TESTS(tests);
}
