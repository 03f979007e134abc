/* What a table asks of those who read and write it, and what this program can (delta.md 1.8). */
#include "delta/delta_internal.h"

typedef enum FeatureUse {
    USE_YES,       /* supported, or nothing to do */
    USE_WHEN_IDLE, /* supported as long as it is not active: check_active decides */
    USE_NO,        /* DELTA-P10, P11 */
    USE_CATALOG,   /* DELTA-P12 */
} FeatureUse;

typedef struct Feature {
    const char *name;
    bool        is_reader_feature;
    FeatureUse  read;
    FeatureUse  write;
    FeatureUse  rewrite;                      /* removing files */
    int         legacy_reader, legacy_writer; /* versions that imply it, 0: none */
} Feature;

/* clang-format off */
#define FEATURES(X) \
    /* name                        reader  read           write          rewrite        legacy */ \
    X("appendOnly",                false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 2) \
    X("invariants",                false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 2) \
    X("checkConstraints",          false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 3) \
    X("changeDataFeed",            false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 4) \
    X("generatedColumns",          false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 4) \
    X("columnMapping",             true,   USE_WHEN_IDLE, USE_WHEN_IDLE, USE_WHEN_IDLE, 2, 5) \
    X("identityColumns",           false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 6) \
    X("allowColumnDefaults",       false,  USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("timestampNtz",              true,   USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("deletionVectors",           true,   USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("v2Checkpoint",              true,   USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("vacuumProtocolCheck",       true,   USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("domainMetadata",            false,  USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("clustering",                false,  USE_YES,       USE_YES,       USE_NO,        0, 0) \
    X("checkpointProtection",      false,  USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("materializePartitionColumns", false, USE_YES,      USE_YES,       USE_YES,       0, 0) \
    X("inCommitTimestamp",         false,  USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("rowTracking",               false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 0) \
    X("icebergCompatV1",           false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 0) \
    X("icebergCompatV2",           false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 0) \
    X("icebergCompatV3",           false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 0) \
    X("icebergWriterCompatV1",     false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 0) \
    X("catalogManaged",            true,   USE_CATALOG,   USE_CATALOG,   USE_CATALOG,   0, 0) \
    X("catalogOwned-preview",      true,   USE_CATALOG,   USE_CATALOG,   USE_CATALOG,   0, 0) \
    X("coordinatedCommits-preview", false, USE_YES,       USE_CATALOG,   USE_CATALOG,   0, 0)
/* Known by name and refused until they are implemented, like every feature that is not listed:
 * typeWidening, variantType, geospatial and what comes next. */
/* clang-format on */

static bool find_feature(Str name, Feature *out)
{
#define X(feature, is_reader, can_read, can_write, can_rewrite, reader, writer)                 \
    if (str_equal_c(name, feature)) {                                                           \
        *out = (Feature){feature, is_reader, can_read, can_write, can_rewrite, reader, writer}; \
        return true;                                                                            \
    }
    FEATURES(X)
#undef X
    return false;
}

bool str_list_has(const StrList *list, Str text)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_equal(list->items[i], text)) return true;
    return false;
}

static StrList parse_list(JsonText array, Arena *arena)
{
    StrList  list = {.is_present = array.kind == JSON_TEXT_ARRAY};
    JsonText item;
    size_t   count = 0;

    for (size_t at = 0; json_text_next_item(array, &at, &item);)
        count++;
    list.items = ARENA_ARRAY(arena, Str, count + 1);
    for (size_t at = 0; json_text_next_item(array, &at, &item);)
        list.items[list.count++] = json_text_str(item, arena);
    return list;
}

bool protocol_parse(JsonText body, Arena *arena, Protocol *out)
{
    *out = (Protocol){
        .reader_features = parse_list(json_text_find(body, "readerFeatures"), arena),
        .writer_features = parse_list(json_text_find(body, "writerFeatures"), arena),
    };
    return json_text_i64(json_text_find(body, "minReaderVersion"), &out->min_reader) &&
           json_text_i64(json_text_find(body, "minWriterVersion"), &out->min_writer);
}

static bool refuse(const LogPlace *place, int64_t version, const char *code, Str feature,
                   bool is_write, Err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "%s table %.*s v%lld: %s feature \"%.*s\" is not supported; nothing was %s; the "
                   "program that added it may drop it (ALTER TABLE ... DROP FEATURE %.*s)",
                   code, STR_ARG(place->path), (long long)version, is_write ? "writer" : "reader",
                   STR_ARG(feature), is_write ? "written" : "read", STR_ARG(feature));
}

static bool refuse_catalog(const LogPlace *place, int64_t version, Str feature, bool is_write,
                           Err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "DELTA-P12 table %.*s v%lld: commits of this table go through its catalog "
                   "(feature \"%.*s\"); "
                   "nothing was %s; use a program that asks the catalog",
                   STR_ARG(place->path), (long long)version, STR_ARG(feature),
                   is_write ? "written" : "read");
}

static bool check_versions(const LogPlace *place, int64_t version, const Protocol *protocol,
                           Err *err)
{
    if (protocol->min_reader < 1 || protocol->min_reader > 3)
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-P01 table %.*s v%lld needs reader version %lld; tidelake implements "
                       "1-3; nothing was read",
                       STR_ARG(place->path), (long long)version, (long long)protocol->min_reader);
    bool has_lists = (protocol->min_reader < 3 || protocol->reader_features.is_present) &&
                     (protocol->min_writer != 7 || protocol->writer_features.is_present);
    if (!has_lists || (protocol->min_reader == 3 && protocol->min_writer < 7))
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-P03 table %.*s v%lld: malformed protocol, reader version %lld and "
                       "writer version %lld "
                       "do not go with its lists of features",
                       STR_ARG(place->path), (long long)version, (long long)protocol->min_reader,
                       (long long)protocol->min_writer);
    return true;
}

bool protocol_check_read(const LogPlace *place, int64_t version, const Protocol *protocol, Err *err)
{
    if (!check_versions(place, version, protocol, err)) return false;
    for (size_t i = 0; i < protocol->reader_features.count; i++) {
        Str     name = protocol->reader_features.items[i];
        Feature feature;
        if (!find_feature(name, &feature) || feature.read == USE_NO)
            return refuse(place, version, "DELTA-P10", name, false, err);
        if (feature.read == USE_CATALOG) return refuse_catalog(place, version, name, false, err);
    }
    return true;
}

static bool check_write_features(const LogPlace *place, int64_t version, const Protocol *protocol,
                                 DeltaWriteKind kind, Err *err)
{
    if (protocol->min_writer < 1 || protocol->min_writer > 7)
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-P02 table %.*s v%lld needs writer version %lld; tidelake implements "
                       "1-7; nothing was "
                       "written",
                       STR_ARG(place->path), (long long)version, (long long)protocol->min_writer);
    for (size_t i = 0; i < protocol->writer_features.count; i++) {
        Str     name = protocol->writer_features.items[i];
        Feature feature;
        bool    is_known = find_feature(name, &feature);
        if (is_known && feature.write == USE_CATALOG)
            return refuse_catalog(place, version, name, true, err);
        if (!is_known || feature.write == USE_NO ||
            (kind != DELTA_APPENDS && feature.rewrite == USE_NO))
            return refuse(place, version, "DELTA-P11", name, true, err);
    }
    return true;
}

/* --- what the header's properties and columns make active --- */

static bool refuse_active(const LogPlace *place, int64_t version, const char *code, Err *err,
                          const char *what, Str name)
{
    return err_set(err, ERR_UNSUPPORTED, "%s table %.*s v%lld: %s%s%.*s%s; nothing was written",
                   code, STR_ARG(place->path), (long long)version, what, name.len ? " \"" : "",
                   STR_ARG(name), name.len ? "\"" : "");
}

static bool has_prefix_ignoring_case(Str text, Str prefix)
{
    return str_equal_ignoring_case(str_slice(text, 0, prefix.len), prefix);
}

static bool check_properties(const LogPlace *place, int64_t version, const Header *header,
                             DeltaWriteKind kind, Err *err)
{
    if (kind == DELTA_CHANGES && header_property_is_true(header, "delta.appendOnly"))
        return refuse_active(place, version, "DELTA-W01", err,
                             "the table is append-only (delta.appendOnly)", STR_EMPTY);
    for (size_t i = 0; i < header->metadata.property_count; i++) {
        const Str prefix = STR("delta.constraints.");
        Str       key    = header->metadata.properties[i].key;
        if (has_prefix_ignoring_case(key, prefix))
            return refuse_active(place, version, "DELTA-W03", err, "it has a check constraint",
                                 str_slice(key, prefix.len, key.len));
    }
    bool has_feed = header_property_is_true(header, "delta.enableChangeDataFeed") ||
                    header_property_is_true(header, "delta.enableChangeDataCapture");
    if (kind == DELTA_CHANGES && has_feed)
        return refuse_active(place, version, "DELTA-W11", err,
                             "change data feed is enabled; tidelake cannot maintain it for MERGE",
                             STR_EMPTY);
    bool tracks_rows = header_property_is_true(header, "delta.enableRowTracking") ||
                       str_list_has(&header->protocol.writer_features, STR("rowTracking"));
    if (tracks_rows && !header_property_is_true(header, "delta.rowTrackingSuspended"))
        return refuse_active(place, version, "DELTA-W08", err, "row tracking is enabled",
                             STR_EMPTY);
    return true;
}

static bool check_iceberg(const LogPlace *place, int64_t version, const Header *header, Err *err)
{
    const char *const keys[] = {"delta.enableIcebergCompatV1", "delta.enableIcebergCompatV2",
                                "delta.enableIcebergCompatV3", "delta.enableIcebergWriterCompatV1"};
    bool is_active = str_list_has(&header->protocol.writer_features, STR("icebergWriterCompatV1"));

    for (size_t i = 0; i < COUNT_OF(keys); i++)
        is_active = is_active || header_property_is_true(header, keys[i]);
    if (!is_active) return true;
    return refuse_active(
        place, version, "DELTA-W09", err,
        "the table is kept Iceberg-compatible (UniForm); tidelake does not maintain that",
        STR_EMPTY);
}

static bool has_metadata_prefix(const Field *field, Str prefix)
{
    Str      key;
    JsonText value;
    for (size_t at = 0; json_text_next_member(field->metadata, &at, &key, &value);)
        if (str_starts_with(key, prefix)) return true;
    return false;
}

static bool check_columns(const LogPlace *place, int64_t version, const Header *header, Err *err)
{
    for (size_t i = 0; i < header->metadata.schema.column_count; i++) {
        const Field *field = &header->metadata.fields[i];
        Str          name  = field->column.name;
        if (json_text_find(field->metadata, "delta.invariants").kind != JSON_TEXT_NONE)
            return refuse_active(place, version, "DELTA-W02", err,
                                 "an invariant is declared on column", name);
        if (json_text_find(field->metadata, "delta.generationExpression").kind != JSON_TEXT_NONE)
            return refuse_active(place, version, "DELTA-W04", err,
                                 "this column is generated:", name);
        if (has_metadata_prefix(field, STR("delta.identity.")))
            return refuse_active(place, version, "DELTA-W05", err,
                                 "this is an identity column:", name);
        if (field->is_foreign)
            return refuse_active(place, version, "DELTA-S02", err,
                                 "tidelake does not write the type of column", name);
    }
    return true;
}

/* Column mapping counts only when the protocol supports it (1.10). */
static Str mapping_mode(const Header *header)
{
    const Protocol *protocol = &header->protocol;
    Str             mode;
    bool            has_feature = protocol->min_reader == 2 ||
                       str_list_has(&protocol->reader_features, STR("columnMapping")) ||
                       str_list_has(&protocol->writer_features, STR("columnMapping"));

    if (!has_feature || !header_find_property(header, STR("delta.columnMapping.mode"), &mode))
        return STR("none");
    return mode;
}

static bool can_widen(Str from, Str to)
{
    ColumnType left, right;
    bool       from_is_byte = str_equal_c(from, "byte");

    if (from_is_byte) from = STR("short");
    if (!column_type_parse_delta(from, &left) || !column_type_parse_delta(to, &right)) return false;
    if (left.kind == TYPE_DATE && right.kind == TYPE_TIMESTAMP_NTZ) return true;
    if (left.kind == TYPE_FLOAT && right.kind == TYPE_DOUBLE) return true;
    if (left.kind == TYPE_DECIMAL && right.kind == TYPE_DECIMAL)
        return right.scale >= left.scale &&
               right.precision - left.precision >= right.scale - left.scale;
    if (left.kind > TYPE_LONG || left.kind < TYPE_SHORT) return false;
    if (right.kind == TYPE_DOUBLE) return left.kind != TYPE_LONG;
    if (right.kind == TYPE_DECIMAL)
        return right.precision - right.scale >= (left.kind == TYPE_LONG ? 20 : 10);
    return right.kind <= TYPE_LONG && (right.kind > left.kind || from_is_byte) &&
           right.kind >= TYPE_SHORT;
}

static bool check_type_changes(const LogPlace *place, int64_t version, const Field *field,
                               Arena *arena, Err *err)
{
    JsonText changes = json_text_find(field->metadata, "delta.typeChanges");
    JsonText change;

    for (size_t at = 0; json_text_next_item(changes, &at, &change);) {
        Str from = json_text_str(json_text_find(change, "fromType"), arena);
        Str to   = json_text_str(json_text_find(change, "toType"), arena);
        if (!can_widen(from, to))
            return err_set(err, ERR_UNSUPPORTED,
                           "DELTA-P14 table %.*s v%lld: column %.*s was changed from %.*s to %.*s, "
                           "which is no type "
                           "widening; nothing was read",
                           STR_ARG(place->path), (long long)version, STR_ARG(field->column.name),
                           STR_ARG(from), STR_ARG(to));
    }
    return true;
}

bool header_check_read(const LogPlace *place, int64_t version, const Header *header, Err *err)
{
    bool ok = protocol_check_read(place, version, &header->protocol, err);
    if (!ok) return false;
    if (!str_equal_c(header->metadata.provider, "parquet"))
        return err_set(
            err, ERR_UNSUPPORTED,
            "DELTA-P13 table %.*s v%lld: its files are %.*s, not parquet; nothing was read",
            STR_ARG(place->path), (long long)version, STR_ARG(header->metadata.provider));
    if (!str_equal_c(mapping_mode(header), "none"))
        return refuse(place, version, "DELTA-P10", STR("columnMapping"), false, err);

    Arena *scratch = arena_new();
    for (size_t i = 0; ok && i < header->metadata.schema.column_count; i++)
        ok = check_type_changes(place, version, &header->metadata.fields[i], scratch, err);
    arena_close(scratch);
    return ok;
}

bool header_check_write(const LogPlace *place, int64_t version, const Header *header,
                        DeltaWriteKind kind, Err *err)
{
    if (!check_versions(place, version, &header->protocol, err)) return false;
    if (!check_write_features(place, version, &header->protocol, kind, err)) return false;
    if (str_equal_c(mapping_mode(header), "id"))
        return refuse_active(place, version, "DELTA-W07", err, "columns are mapped by id",
                             STR_EMPTY);
    if (!check_properties(place, version, header, kind, err)) return false;
    if (!check_iceberg(place, version, header, err)) return false;
    if (header->metadata.partition_columns.count > 0)
        return refuse_active(place, version, "DELTA-W10", err,
                             "tidelake does not write partitioned tables", STR_EMPTY);
    return check_columns(place, version, header, err);
}

/* --- the protocol of tables we write --- */

static bool needs_ntz(const Schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (schema->columns[i].type.kind == TYPE_TIMESTAMP_NTZ) return true;
    return false;
}

Str protocol_for_create(Arena *arena, const Schema *schema)
{
    if (!needs_ntz(schema))
        return str_copy(arena, STR("{\"minReaderVersion\":1,\"minWriterVersion\":2}"));
    return str_copy(
        arena,
        STR("{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"timestampNtz\"],"
            "\"writerFeatures\":[\"timestampNtz\",\"invariants\",\"appendOnly\"]}"));
}

static void write_list(JsonWriter *json, const char *key, Str first, const StrList *rest,
                       const Protocol *legacy, bool is_reader)
{
    json_key(json, str_from_c(key));
    json_array_begin(json);
    json_str(json, first);
    for (size_t i = 0; i < rest->count; i++)
        if (!str_equal(rest->items[i], first)) json_str(json, rest->items[i]);
#define X(feature, reader_feature, can_read, can_write, can_rewrite, legacy_reader, legacy_writer) \
    if (is_reader                                                                                  \
            ? legacy_reader > 0 && legacy->min_reader == legacy_reader                             \
            : legacy_writer > 0 && legacy->min_writer < 7 && legacy->min_writer >= legacy_writer)  \
        json_str(json, STR(feature));
    FEATURES(X)
#undef X
    json_array_end(json);
}

bool protocol_upgrade(Arena *arena, const Protocol *protocol, const Schema *added, Str *json_out)
{
    const Str  ntz  = STR("timestampNtz");
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);

    if (!needs_ntz(added) || (str_list_has(&protocol->reader_features, ntz) &&
                              str_list_has(&protocol->writer_features, ntz)))
        return false;
    json_object_begin(&json);
    json_member_i64(&json, "minReaderVersion", 3);
    json_member_i64(&json, "minWriterVersion", 7);
    write_list(&json, "readerFeatures", ntz, &protocol->reader_features, protocol, true);
    write_list(&json, "writerFeatures", ntz, &protocol->writer_features, protocol, false);
    json_object_end(&json);
    *json_out = buf_str(&buf);
    return true;
}
