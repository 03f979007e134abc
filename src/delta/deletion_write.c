/* New deletion vectors (delta.md 2.7): what a file's old one covers and the rows that go now, all
 * of one commit in one file, each behind its size and before its checksum. */
#include "delta/deletion_vector.h"

#define FILE_FORMAT 1

typedef struct VectorsRun {
    const LogPlace *place;
    VectorReader    reader;
    Arena          *arena;
    Str             uuid_z85;
    Buf             file;
} VectorsRun;

static void put_big_endian(Buf *buf, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_append_char(buf, (char)(value >> shift & 0xFF));
}

static Str z85_of_uuid(Str uuid, Arena *arena)
{
    Buf   hex = buf_new(arena, 0);
    Bytes bytes;

    for (size_t i = 0; i < uuid.len; i++)
        if (uuid.ptr[i] != '-') buf_append_char(&hex, uuid.ptr[i]);
    return hex_decode(arena, buf_str(&hex), &bytes) ? z85_encode(bytes, arena) : STR_EMPTY;
}

/* --- statistics --- */

static bool is_false(JsonText value)
{
    bool truth;
    return json_text_bool(value, &truth) && !truth;
}

/* Bounds that held for every row hold for fewer, but no longer need be met. Where the counts of
 * NULL were of the rows left by an older vector, nobody can tell any more what they are. */
Str stats_with_vector(Str stats, int64_t row_count, bool had_vector, Arena *arena)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);
    JsonText   object, value;
    size_t     bad_at;
    Str        key;
    bool       is_known = stats.len > 0 && json_text_parse(stats, &object, &bad_at) &&
                    object.kind == JSON_TEXT_OBJECT;
    bool drops_counts = is_known && had_vector && !is_false(json_text_find(object, "tightBounds"));

    json_object_begin(&json);
    json_member_i64(&json, "numRecords", row_count);
    for (size_t at = 0; is_known && json_text_next_member(object, &at, &key, &value);) {
        if (json_text_key_equals(key, STR("numRecords")) ||
            json_text_key_equals(key, STR("tightBounds")) || value.kind == JSON_TEXT_NULL ||
            (drops_counts && json_text_key_equals(key, STR("nullCount"))))
            continue;
        json_key(&json, json_text_unescape(key, arena));
        json_raw(&json, value.text);
    }
    json_member_bool(&json, "tightBounds", false);
    json_object_end(&json);
    return buf_str(&buf);
}

/* --- vectors --- */

/* The log need not say how many rows a file has; its own footer does. */
static bool count_rows(const VectorsRun *run, const DeltaFile *file, int64_t *out, Err *err)
{
    DeltaContext *context = run->place->context;
    Column        column  = {.name = STR("no column of it"), .type = COLUMN_TYPE(TYPE_BOOLEAN)};
    Schema        schema  = {.columns = &column, .column_count = 1};
    DuckSession  *session = NULL;
    Str           path, local;

    *out = file->row_count;
    if (file->row_count >= 0) return true;
    if (!delta_path_resolve(run->place->path, file->path, run->arena, &path, err) ||
        !store_fetch_local(context->store, path, run->arena, &local, err))
        return false;
    Str  sql = str_printf(run->arena, "SELECT count(*) FROM %.*s",
                          STR_ARG(duck_read_parquet_sql(run->arena, &local, 1, &schema)));
    bool ok  = duck_session_open(context->duck, &session, err) &&
              duck_query_i64(session, sql, out, NULL, err);
    duck_session_close(session);
    return ok;
}

static Str put_vector(VectorsRun *run, const RowSet *rows)
{
    Bytes      bytes  = deletion_rows_write(rows, run->arena);
    Buf        buf    = buf_new(run->arena, 0);
    JsonWriter json   = json_writer(&buf, false, false);
    size_t     offset = run->file.len;

    put_big_endian(&run->file, (uint32_t)bytes.len);
    buf_append_bytes(&run->file, bytes.ptr, bytes.len);
    put_big_endian(&run->file, crc32_of(bytes));
    json_object_begin(&json);
    json_member_str(&json, "storageType", STR("u"));
    json_member_str(&json, "pathOrInlineDv", run->uuid_z85);
    json_member_i64(&json, "offset", (int64_t)offset);
    json_member_i64(&json, "sizeInBytes", (int64_t)bytes.len);
    json_member_i64(&json, "cardinality", (int64_t)rows->row_count);
    json_object_end(&json);
    return buf_str(&buf);
}

static bool build_one(VectorsRun *run, DeltaDeletion *deletion, Err *err)
{
    const DeltaFile *file = deletion->file;
    RowSet           all  = *deletion->rows, old;

    deletion->had_vector = delta_file_has_vector(file);
    if (!count_rows(run, file, &deletion->row_count, err)) return false;
    if (deletion->had_vector) {
        if (!vector_reader_read(&run->reader, file, run->arena, &old, err)) return false;
        all = row_set_union(&old, deletion->rows, run->arena);
    }
    if (all.next > (uint64_t)deletion->row_count)
        return err_set(err, ERR_DAMAGED,
                       "table %.*s: file %.*s has %lld rows by its numRecords, and row %llu of it "
                       "was to be deleted; its statistics are wrong",
                       STR_ARG(run->place->path), STR_ARG(file->path),
                       (long long)deletion->row_count, (unsigned long long)all.next - 1);
    deletion->deleted_rows = (int64_t)all.row_count;
    deletion->vector = deletion->stats = STR_EMPTY;
    if (deletion->deleted_rows == deletion->row_count) return true;
    deletion->vector = put_vector(run, &all);
    deletion->stats = stats_with_vector(delta_file_get_stats(file, run->arena), deletion->row_count,
                                        deletion->had_vector, run->arena);
    return true;
}

bool vectors_build(const LogPlace *place, DeltaDeletion *deletions, size_t count, Str uuid,
                   Arena *arena, Bytes *out, Err *err)
{
    Arena     *scratch = arena_new();
    VectorsRun run     = {.place    = place,
                          .reader   = vector_reader_open(place, scratch),
                          .arena    = arena,
                          .uuid_z85 = z85_of_uuid(uuid, arena),
                          .file     = buf_new(arena, LIMIT_VECTOR_FILE_BYTES)};
    bool       ok      = true;

    buf_append_char(&run.file, FILE_FORMAT);
    for (size_t i = 0; ok && i < count; i++)
        ok = build_one(&run, &deletions[i], err);
    vector_reader_close(&run.reader);
    arena_close(scratch);
    if (ok && run.file.overflow)
        ok = err_set(err, ERR_LIMIT, "the deletion vectors of one commit have more than %zu bytes",
                     (size_t)LIMIT_VECTOR_FILE_BYTES);
    *out = run.file.len > 1 ? str_bytes(buf_str(&run.file)) : (Bytes){NULL, 0};
    return ok;
}
