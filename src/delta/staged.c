/* staged.c - staged files that outlive the run that wrote them: what stands next to them, and how another run takes
 * them over (delta.md 2.1). */
#include "delta/writer_internal.h"

#include "base/checksum.h"
#include "base/json.h"
#include "base/list.h"
#include "delta/json_text.h"

#include <stdio.h>

#define SEAL             STR("sealed.json")
#define SEAL_LIMIT_BYTES ((size_t)256 << 20)
#define SUM_DIGITS       16
/* A published file that nobody named yet may be a vacuum's prey one day: older ones are not relied on. */
#define PUBLISHED_FOR_US INT64_C(86400000000)

/* A file as the seal tells of it. */
typedef struct SealedFile {
    DeltaAdd     add;
    StoreMeasure measure;
} SealedFile;

struct DeltaStaged {
    DeltaContext *context;
    Arena        *arena;
    Str           table_path;
    StoreStaging *staging;
    Str           shape, note;
    LIST(SealedFile) files;
};

/* --- the seal: a line with the checksum of the JSON that follows --- */

static Str format_sum(Arena *arena, uint64_t sum)
{
    return str_printf(arena, "%016llx", (unsigned long long)sum);
}

/* What files are written for: those of one shape stand for each other. */
static Str shape_of(const DeltaWriter *writer, Arena *arena)
{
    return str_printf(arena, "%d %.*s", (int)writer->has_all_bounds,
                      STR_ARG(schema_string_format(arena, &writer->schema, &writer->mapping)));
}

static void write_file(JsonWriter *json, const DeltaAdd *add, Str sum)
{
    json_object_begin(json);
    json_member_str(json, "path", add->path);
    json_member_i64(json, "size", add->size_bytes);
    json_member_i64(json, "modified", add->modified_ms);
    json_member_i64(json, "rows", add->row_count);
    json_member_str(json, "stats", add->stats);
    json_member_str(json, "checksum", sum);
    json_object_end(json);
}

static bool measure_files(DeltaWriter *writer, const DeltaAdd *adds, size_t count, const Str *names,
                          StoreMeasure *measures, Err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!store_staging_measure(writer->staging, names[i], &measures[i], err)) return false;
        if (measures[i].size_bytes != adds[i].size_bytes)
            return err_set(err, ERR_STORE, "%.*s is %lld bytes long, and %lld were written",
                           STR_ARG(names[i]), (long long)measures[i].size_bytes,
                           (long long)adds[i].size_bytes);
    }
    return true;
}

bool delta_writer_seal(DeltaWriter *writer, const DeltaAdd *adds, size_t count, Str note, Err *err)
{
    Arena        *scratch  = arena_new();
    Buf           buf      = buf_new(scratch, SEAL_LIMIT_BYTES);
    JsonWriter    json     = json_writer(&buf, false, false);
    Str          *names    = ARENA_ARRAY(scratch, Str, count + 1);
    StoreMeasure *measures = ARENA_ARRAY(scratch, StoreMeasure, count + 1);
    Str           text;

    for (size_t i = 0; i < count; i++)
        names[i] = writer_staged_name(scratch, &adds[i]);
    bool ok = measure_files(writer, adds, count, names, measures, err);
    json_object_begin(&json);
    json_member_str(&json, "shape", shape_of(writer, scratch));
    json_key(&json, STR("files"));
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++)
        write_file(&json, &adds[i], format_sum(scratch, measures[i].checksum));
    json_array_end(&json);
    json_member_str(&json, "note", note);
    json_object_end(&json);
    text = buf_str(&buf);
    text = str_printf(scratch, "%.*s\n%.*s",
                      STR_ARG(format_sum(scratch, checksum_of(str_bytes(text)))), STR_ARG(text));
    ok   = ok && store_staging_seal(writer->staging, names, count, SEAL, str_bytes(text), err);
    arena_close(scratch);
    return ok || err_context(err, "table %.*s", STR_ARG(writer->table_path));
}

static bool parse_sum(Str text, uint64_t *out)
{
    *out = 0;
    if (text.len != SUM_DIGITS) return false;
    for (size_t i = 0; i < text.len; i++) {
        ptrdiff_t digit = str_find_char(STR("0123456789abcdef"), text.ptr[i], 0);
        if (digit < 0) return false;
        *out = *out << 4 | (uint64_t)digit;
    }
    return true;
}

static bool parse_file(JsonText text, Arena *arena, SealedFile *out)
{
    *out           = (SealedFile){0};
    out->add.path  = json_text_str(json_text_find(text, "path"), arena);
    out->add.stats = json_text_str(json_text_find(text, "stats"), arena);
    bool ok        = json_text_i64(json_text_find(text, "size"), &out->add.size_bytes) &&
              json_text_i64(json_text_find(text, "modified"), &out->add.modified_ms) &&
              json_text_i64(json_text_find(text, "rows"), &out->add.row_count) &&
              parse_sum(json_text_str(json_text_find(text, "checksum"), arena),
                        &out->measure.checksum);
    out->measure.size_bytes = out->add.size_bytes;
    return ok && out->add.path.ptr && out->add.stats.ptr && out->add.row_count > 0;
}

/* False: whatever this is, it is no seal that was written whole. */
static bool parse_seal(Str text, DeltaStaged *staged)
{
    uint64_t sum;
    size_t   bad_at;
    JsonText all, file;
    Str      json;

    if (text.len <= SUM_DIGITS + 1 || !parse_sum(str_slice(text, 0, SUM_DIGITS), &sum))
        return false;
    json = str_slice(text, SUM_DIGITS + 1, text.len);
    if (checksum_of(str_bytes(json)) != sum || !json_text_parse(json, &all, &bad_at)) return false;
    staged->shape  = json_text_str(json_text_find(all, "shape"), staged->arena);
    staged->note   = json_text_str(json_text_find(all, "note"), staged->arena);
    JsonText files = json_text_find(all, "files");
    if (!staged->shape.ptr || !staged->note.ptr || files.kind != JSON_TEXT_ARRAY) return false;
    for (size_t at = 0; json_text_next_item(files, &at, &file);)
        if (!parse_file(file, staged->arena, LIST_PUSH(staged->arena, &staged->files)))
            return false;
    return true;
}

/* --- taking over --- */

static DeltaStaged *staged_new(DeltaContext *context, Str table_path, StoreStaging *staging)
{
    Arena       *arena  = arena_new();
    DeltaStaged *staged = ARENA_NEW(arena, DeltaStaged);

    *staged = (DeltaStaged){.context    = context,
                            .arena      = arena,
                            .table_path = str_copy(arena, table_path),
                            .staging    = staging};
    return staged;
}

bool delta_staged_take(DeltaContext *context, Str table_path, Str purpose, Arena *arena,
                       DeltaStaged ***out, size_t *count_out, Err *err)
{
    StoreStagings taken;
    LIST(DeltaStaged *) found = {0};

    if (!store_staging_take(context->store, table_path, purpose, arena, &taken, err)) return false;
    for (size_t i = 0; i < taken.count; i++) {
        DeltaStaged *staged = staged_new(context, table_path, taken.items[i]);
        Err          why    = ERR_INIT;
        Bytes        seal;

        if (store_staging_read(staged->staging, SEAL, SEAL_LIMIT_BYTES, staged->arena, &seal,
                               &why) &&
            parse_seal(bytes_str(seal), staged))
            *LIST_PUSH(arena, &found) = staged;
        else
            delta_staged_drop(staged);
    }
    *out       = found.items;
    *count_out = found.count;
    return true;
}

Str delta_staged_note(const DeltaStaged *staged)
{
    return staged->note;
}

void delta_staged_drop(DeltaStaged *staged)
{
    if (!staged) return;
    store_staging_close(staged->staging);
    arena_close(staged->arena);
}

void delta_staged_leave(DeltaStaged *staged)
{
    if (!staged) return;
    store_staging_abandon(staged->staging);
    arena_close(staged->arena);
}

/* The file was moved into the table by the run that died, not long ago, and no commit came of it. */
static bool is_published(const DeltaStaged *staged, const DeltaAdd *add, Arena *scratch)
{
    Store *store = staged->context->store;
    Str    path  = store_join(scratch, staged->table_path, delta_path_decode(scratch, add->path));
    StoreEntry entry;
    Err        ignored = ERR_INIT;

    return store_stat(store, path, &entry, &ignored) && entry.size_bytes == add->size_bytes &&
           clock_utc_us(staged->context->clock) - entry.modified_utc_us < PUBLISHED_FOR_US;
}

static bool is_whole(const DeltaStaged *staged, Str *why)
{
    Arena *scratch = arena_new();
    bool   ok      = true;

    for (size_t i = 0; ok && i < staged->files.count; i++) {
        const SealedFile *file = &staged->files.items[i];
        StoreMeasure      now;
        Err               err = ERR_INIT;

        if (store_staging_measure(staged->staging, writer_staged_name(scratch, &file->add), &now,
                                  &err))
            ok = now.size_bytes == file->measure.size_bytes &&
                 now.checksum == file->measure.checksum;
        else
            ok = err.code == ERR_NOT_FOUND && is_published(staged, &file->add, scratch);
    }
    if (!ok) *why = STR("a file is damaged or gone");
    arena_close(scratch);
    return ok;
}

static DeltaAdd *adds_of(const DeltaStaged *staged, const DeltaWriter *writer, Arena *arena)
{
    DeltaAdd *adds   = ARENA_ARRAY(arena, DeltaAdd, staged->files.count + 1);
    Schema   *schema = ARENA_NEW(arena, Schema);

    *schema = schema_copy(arena, &writer->schema);
    for (size_t i = 0; i < staged->files.count; i++) {
        adds[i]                = delta_add_copy(arena, &staged->files.items[i].add);
        adds[i].schema         = schema;
        adds[i].mapping        = mapping_copy(arena, &writer->mapping);
        adds[i].has_all_bounds = writer->has_all_bounds;
    }
    return adds;
}

bool delta_writer_open_staged(DeltaTable *table, const Schema *schema, DeltaStaged *staged,
                              Arena *arena, DeltaWriter **out, DeltaAdd **adds_out,
                              size_t *count_out, Str *why_not, Err *err)
{
    DeltaWriter *writer = writer_new(table, schema);
    bool         ok     = delta_table_check_writable(table, DELTA_APPENDS, err);
    bool         fits   = ok && str_equal(shape_of(writer, staged->arena), staged->shape);

    *out     = NULL;
    *why_not = STR("bronze's columns have changed");
    if (fits && is_whole(staged, why_not)) {
        *out             = writer;
        *adds_out        = adds_of(staged, writer, arena);
        *count_out       = staged->files.count;
        writer->staging  = staged->staging;
        writer->is_taken = true;
        arena_close(staged->arena);
        return true;
    }
    delta_writer_close(writer);
    delta_staged_drop(staged);
    return ok || err_context(err, "table %.*s", STR_ARG(table->place.path));
}
