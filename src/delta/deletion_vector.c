/* Descriptors of deletion vectors, and the files they lie in. */
#include "delta/deletion_vector.h"

#include <string.h>

#define FILE_FORMAT    1
#define Z85_UUID_CHARS 20
#define UUID_BYTES     ((size_t)16)
#define FRAME_BYTES    ((size_t)4) /* the size before a vector, and the checksum behind it */
#define ROW_LIMIT      ((uint64_t)INT64_MAX) /* what the format has room for */

typedef struct Descriptor {
    Str     storage, path;
    int64_t offset, size_bytes, cardinality;
} Descriptor;

/* --- encodings --- */

static const char z85_alphabet[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   ".-:+=^!/*?&<>()[]{}@%$#";

static int z85_value(char c)
{
    const char *found = c ? strchr(z85_alphabet, c) : NULL;
    return found ? (int)(found - z85_alphabet) : -1;
}

bool z85_decode(Str text, Arena *arena, Bytes *out)
{
    uint8_t *bytes = ARENA_ARRAY(arena, uint8_t, text.len / 5 * 4 + 1);

    if (text.len % 5 != 0) return false;
    for (size_t group = 0; group < text.len / 5; group++) {
        uint64_t value = 0;
        for (size_t i = 0; i < 5; i++) {
            int digit = z85_value(text.ptr[5 * group + i]);
            if (digit < 0) return false;
            value = value * 85 + (uint64_t)digit;
        }
        if (value > UINT32_MAX) return false;
        for (size_t i = 0; i < 4; i++)
            bytes[4 * group + i] = (uint8_t)(value >> (24 - 8 * i));
    }
    *out = (Bytes){bytes, text.len / 5 * 4};
    return true;
}

Str z85_encode(Bytes bytes, Arena *arena)
{
    Buf buf = buf_new(arena, 0);

    for (size_t at = 0; at < bytes.len; at += 4) {
        uint32_t value = 0, power = 85 * 85 * 85 * 85;
        for (size_t i = at; i < at + 4; i++)
            value = value << 8 | (i < bytes.len ? bytes.ptr[i] : 0);
        for (; power > 0; power /= 85)
            buf_append_char(&buf, z85_alphabet[value / power % 85]);
    }
    return buf_str(&buf);
}

/* Four bits at a time. */
uint32_t crc32_of(Bytes data)
{
    uint32_t table[16], crc = UINT32_MAX;

    for (uint32_t i = 0; i < COUNT_OF(table); i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    for (size_t i = 0; i < data.len; i++) {
        crc ^= data.ptr[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static uint32_t big_endian_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* --- descriptors --- */

static JsonText vector_of(const DeltaFile *file, Arena *arena)
{
    JsonText extra = {.kind = JSON_TEXT_OBJECT,
                      .text = str_printf(arena, "{%.*s}", STR_ARG(file->extra_members))};
    return json_text_find(extra, "deletionVector");
}

bool delta_file_has_vector(const DeltaFile *file)
{
    if (str_find(file->extra_members, STR("\"deletionVector\""), 0) < 0) return false;
    Arena *arena = arena_new();
    bool   found = vector_of(file, arena).kind != JSON_TEXT_NONE;
    arena_close(arena);
    return found;
}

int64_t delta_file_count_rows(const DeltaFile *file)
{
    int64_t deleted = 0;

    if (file->row_count < 0 || !delta_file_has_vector(file)) return file->row_count;
    Arena *arena = arena_new();
    bool   known = json_text_i64(json_text_find(vector_of(file, arena), "cardinality"), &deleted) &&
                 deleted >= 0 && deleted <= file->row_count;
    arena_close(arena);
    return known ? file->row_count - deleted : -1;
}

/* What is wrong with a vector, and where. `where` names what was read. */
static bool fail_damaged(const VectorReader *reader, const DeltaFile *file, Str where, size_t at,
                         const char *what, Err *err)
{
    return err_set(err, ERR_DAMAGED,
                   "DELTA-D01 table %.*s: the deletion vector of file %.*s is damaged: %.*s, byte "
                   "%zu: %s",
                   STR_ARG(reader->place->path), STR_ARG(file->path), STR_ARG(where), at, what);
}

static bool parse_descriptor(const VectorReader *reader, const DeltaFile *file, Descriptor *out,
                             Err *err)
{
    JsonText    body    = vector_of(file, reader->arena);
    JsonText    offset  = json_text_find(body, "offset");
    bool        is_here = offset.kind != JSON_TEXT_NONE && offset.kind != JSON_TEXT_NULL;
    const char *lack    = NULL;

    *out = (Descriptor){
        .storage = json_text_str(json_text_find(body, "storageType"), reader->arena),
        .path    = json_text_str(json_text_find(body, "pathOrInlineDv"), reader->arena),
    };
    if (is_here && (!json_text_i64(offset, &out->offset) || out->offset < 0)) lack = "offset";
    if (!json_text_i64(json_text_find(body, "cardinality"), &out->cardinality) ||
        out->cardinality < 0)
        lack = "cardinality";
    if (!json_text_i64(json_text_find(body, "sizeInBytes"), &out->size_bytes) ||
        out->size_bytes < 0)
        lack = "sizeInBytes";
    if (!out->path.ptr) lack = "pathOrInlineDv";
    if (!out->storage.ptr) lack = "storageType";
    if (!lack) return true;
    return err_set(err, ERR_DAMAGED,
                   "DELTA-D01 table %.*s: the deletion vector of file %.*s is damaged: its "
                   "descriptor has no proper %s",
                   STR_ARG(reader->place->path), STR_ARG(file->path), lack);
}

bool vector_path_of_uuid(Str text, Arena *arena, Str *out)
{
    Bytes uuid;
    if (text.len < Z85_UUID_CHARS) return false;
    Str prefix = str_slice(text, 0, text.len - Z85_UUID_CHARS);
    if (!z85_decode(str_slice(text, prefix.len, text.len), arena, &uuid)) return false;

    Str hex = hex_encode(arena, uuid, false);
    *out = str_printf(arena, "%.*s%sdeletion_vector_%.*s-%.*s-%.*s-%.*s-%.*s.bin", STR_ARG(prefix),
                      prefix.len > 0 ? "/" : "", STR_ARG(str_slice(hex, 0, 8)),
                      STR_ARG(str_slice(hex, 8, 12)), STR_ARG(str_slice(hex, 12, 16)),
                      STR_ARG(str_slice(hex, 16, 20)), STR_ARG(str_slice(hex, 20, 2 * UUID_BYTES)));
    return true;
}

static bool resolve(const VectorReader *reader, const DeltaFile *file, const Descriptor *descriptor,
                    Str *out, Err *err)
{
    Str  path    = descriptor->path;
    bool is_uuid = str_equal_c(descriptor->storage, "u");

    if (!is_uuid && !str_equal_c(descriptor->storage, "p"))
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-D03 table %.*s: the deletion vector of file %.*s is stored in a way "
                       "tidelake does not know (\"%.*s\"); nothing was read",
                       STR_ARG(reader->place->path), STR_ARG(file->path),
                       STR_ARG(descriptor->storage));
    bool is_good = is_uuid ? vector_path_of_uuid(descriptor->path, reader->arena, &path)
                           : str_starts_with(path, STR("/")) || str_find(path, STR(":/"), 0) > 0;
    if (!is_good)
        return err_set(err, ERR_DAMAGED,
                       "DELTA-D01 table %.*s: the deletion vector of file %.*s is damaged: its "
                       "descriptor has no proper pathOrInlineDv",
                       STR_ARG(reader->place->path), STR_ARG(file->path));
    return delta_path_resolve(reader->place->path, path, reader->arena, out, err);
}

/* --- the bytes --- */

VectorReader vector_reader_open(const LogPlace *place, Arena *arena)
{
    return (VectorReader){.place = place, .arena = arena, .files = map_new()};
}

void vector_reader_close(VectorReader *reader)
{
    map_close(reader->files);
}

static bool read_whole(VectorReader *reader, const DeltaFile *file, Str path, Bytes *out, Err *err)
{
    Bytes *known = map_find(reader->files, path);
    if (known) {
        *out = *known;
        return true;
    }
    if (!store_read(reader->place->context->store, path, LIMIT_VECTOR_FILE_BYTES, reader->arena,
                    out, err)) {
        if (err->code != ERR_NOT_FOUND)
            return err_context(err, "table %.*s", STR_ARG(reader->place->path));
        return err_set(err, ERR_DAMAGED,
                       "DELTA-L08 table %.*s: the deletion vector of file %.*s is gone: %.*s was "
                       "removed by VACUUM",
                       STR_ARG(reader->place->path), STR_ARG(file->path), STR_ARG(path));
    }
    known  = ARENA_NEW(reader->arena, Bytes);
    *known = *out;
    (void)map_put(reader->files, path, known);
    return true;
}

static bool cut_from_file(const VectorReader *reader, const DeltaFile *file,
                          const Descriptor *descriptor, Str where, Bytes whole, Bytes *out,
                          Err *err)
{
    size_t at = (size_t)descriptor->offset, size = (size_t)descriptor->size_bytes;

    if (whole.len == 0 || whole.ptr[0] != FILE_FORMAT)
        return fail_damaged(reader, file, where, 0, "no file of deletion vectors begins like this",
                            err);
    if (at == 0) return fail_damaged(reader, file, where, at, "no vector can lie here", err);
    if (at > whole.len || whole.len - at < 2 * FRAME_BYTES ||
        size > whole.len - at - 2 * FRAME_BYTES)
        return fail_damaged(reader, file, where, at, "the file ends before the vector does", err);
    if (big_endian_u32(whole.ptr + at) != size)
        return fail_damaged(reader, file, where, at, "the vector's size is not the one in the log",
                            err);
    *out = (Bytes){whole.ptr + at + FRAME_BYTES, size};
    if (crc32_of(*out) != big_endian_u32(out->ptr + size))
        return fail_damaged(reader, file, where, at + FRAME_BYTES + size,
                            "the checksum is not that of the vector", err);
    return true;
}

static bool read_inline(const VectorReader *reader, const DeltaFile *file,
                        const Descriptor *descriptor, Str where, Bytes *out, Err *err)
{
    size_t size = (size_t)descriptor->size_bytes;

    if (!z85_decode(descriptor->path, reader->arena, out))
        return fail_damaged(reader, file, where, 0, "it is no Z85", err);
    if (size > out->len || out->len - size > 3)
        return fail_damaged(reader, file, where, out->len, "its size is not the one in the log",
                            err);
    out->len = size;
    return true;
}

static bool check_count(const VectorReader *reader, const DeltaFile *file,
                        const Descriptor *descriptor, const RowSet *rows, Str where, Err *err)
{
    if (rows->row_count == (uint64_t)descriptor->cardinality) return true;
    return err_set(err, ERR_DAMAGED,
                   "DELTA-D01 table %.*s: the deletion vector of file %.*s is damaged: %.*s, byte "
                   "%lld: it has %llu positions, %lld in the log",
                   STR_ARG(reader->place->path), STR_ARG(file->path), STR_ARG(where),
                   (long long)descriptor->offset, (unsigned long long)rows->row_count,
                   (long long)descriptor->cardinality);
}

bool vector_reader_read(VectorReader *reader, const DeltaFile *file, Arena *arena, RowSet *out,
                        Err *err)
{
    Descriptor   descriptor;
    VectorDamage damage;
    Bytes        data  = {NULL, 0}, whole;
    size_t       start = 0;
    Str          where = STR("in the log");
    uint64_t     limit = ROW_LIMIT;

    if (!parse_descriptor(reader, file, &descriptor, err)) return false;
    if (str_equal_c(descriptor.storage, "i")) {
        if (!read_inline(reader, file, &descriptor, where, &data, err)) return false;
    } else {
        if (!resolve(reader, file, &descriptor, &where, err) ||
            !read_whole(reader, file, where, &whole, err) ||
            !cut_from_file(reader, file, &descriptor, where, whole, &data, err))
            return false;
        start = (size_t)descriptor.offset + FRAME_BYTES;
    }
    if (file->row_count >= 0 && (uint64_t)file->row_count < limit)
        limit = (uint64_t)file->row_count;
    if (deletion_rows_read(data, limit, arena, out, &damage))
        return check_count(reader, file, &descriptor, out, where, err);
    if (!damage.is_obsolete)
        return fail_damaged(reader, file, where, start + damage.at, damage.what, err);
    return err_set(
        err, ERR_UNSUPPORTED,
        "DELTA-D02 table %.*s: the deletion vector of file %.*s has the obsolete format: "
        "%.*s, byte %zu; nothing was read",
        STR_ARG(reader->place->path), STR_ARG(file->path), STR_ARG(where), start);
}
