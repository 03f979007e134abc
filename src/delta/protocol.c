/* What a table asks of those who read and write it, and what this program can (delta.md 1.8). */
#include "delta/delta_internal.h"

#include <assert.h>

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
    X("columnMapping",             true,   USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 2, 5) \
    X("identityColumns",           false,  USE_YES,       USE_WHEN_IDLE, USE_WHEN_IDLE, 0, 6) \
    X("allowColumnDefaults",       false,  USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("timestampNtz",              true,   USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("typeWidening",              true,   USE_YES,       USE_YES,       USE_YES,       0, 0) \
    X("typeWidening-preview",      true,   USE_YES,       USE_YES,       USE_NO,        0, 0) \
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
 * variantType, geospatial and what comes next. */
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

bool header_has_change_feed(const Header *header)
{
    return header_property_is_true(header, "delta.enableChangeDataFeed") ||
           header_property_is_true(header, "delta.enableChangeDataCapture");
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
    if (kind == DELTA_CHANGES && header_has_change_feed(header))
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

bool type_can_widen(Str from, Str to)
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

bool header_check_read(const LogPlace *place, int64_t version, const Header *header, Err *err)
{
    if (!protocol_check_read(place, version, &header->protocol, err)) return false;
    if (!str_equal_c(header->metadata.provider, "parquet"))
        return err_set(
            err, ERR_UNSUPPORTED,
            "DELTA-P13 table %.*s v%lld: its files are %.*s, not parquet; nothing was read",
            STR_ARG(place->path), (long long)version, STR_ARG(header->metadata.provider));
    return true;
}

bool header_check_write(const LogPlace *place, int64_t version, const Header *header,
                        DeltaWriteKind kind, Err *err)
{
    if (!check_versions(place, version, &header->protocol, err)) return false;
    if (!check_write_features(place, version, &header->protocol, kind, err)) return false;
    if (header->metadata.mapping.mode == MAPPING_ID)
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

void feature_needs_add(FeatureNeeds *needs, const char *name)
{
    for (size_t i = 0; i < needs->count; i++)
        if (str_equal_c(str_from_c(needs->names[i]), name)) return;
    assert(needs->count < FEATURE_NEEDS_MAX);
    needs->names[needs->count++] = name;
}

void feature_needs_add_columns(FeatureNeeds *needs, const Schema *schema)
{
    for (size_t i = 0; i < schema->column_count; i++)
        if (schema->columns[i].type.kind == TYPE_TIMESTAMP_NTZ)
            feature_needs_add(needs, "timestampNtz");
}

static Feature known_feature(const char *name)
{
    Feature feature  = {0};
    bool    is_known = find_feature(str_from_c(name), &feature);
    assert(is_known); /* needs are ours */
    return feature;
}

/* Implied by versions that have no lists. */
static bool is_implied(const Protocol *protocol, const Feature *feature, bool for_reader)
{
    if (for_reader)
        return feature->legacy_reader > 0 && protocol->min_reader < 3 &&
               protocol->min_reader >= feature->legacy_reader;
    return feature->legacy_writer > 0 && protocol->min_writer < 7 &&
           protocol->min_writer >= feature->legacy_writer;
}

bool protocol_has_feature(const Protocol *protocol, const char *name)
{
    Feature feature = known_feature(name);
    Str     text    = str_from_c(name);

    return (str_list_has(&protocol->writer_features, text) ||
            is_implied(protocol, &feature, false)) &&
           (!feature.is_reader_feature || str_list_has(&protocol->reader_features, text) ||
            is_implied(protocol, &feature, true));
}

static bool lacks_listed(const StrList *before, const StrList *now)
{
    for (size_t i = 0; i < before->count; i++) {
        Feature known;
        if (!find_feature(before->items[i], &known) && !str_list_has(now, before->items[i]))
            return true;
    }
    return false;
}

bool protocol_is_lower(const Protocol *before, const Protocol *now)
{
    if (now->min_reader < before->min_reader || now->min_writer < before->min_writer) return true;
#define X(name, is_reader, can_read, can_write, can_rewrite, reader, writer) \
    if (protocol_has_feature(before, name) && !protocol_has_feature(now, name)) return true;
    FEATURES(X)
#undef X
    return lacks_listed(&before->reader_features, &now->reader_features) ||
           lacks_listed(&before->writer_features, &now->writer_features);
}

static bool needs_have_reader_feature(const FeatureNeeds *needs)
{
    for (size_t i = 0; i < needs->count; i++)
        if (known_feature(needs->names[i]).is_reader_feature) return true;
    return false;
}

/* The needs first, then what the old protocol listed or implied. */
static void write_list(JsonWriter *json, const char *key, const FeatureNeeds *needs,
                       const Protocol *old, bool for_reader)
{
    const StrList *listed  = for_reader ? &old->reader_features : &old->writer_features;
    FeatureNeeds   written = {0};

    json_key(json, str_from_c(key));
    json_array_begin(json);
    for (size_t i = 0; i < needs->count; i++)
        if (!for_reader || known_feature(needs->names[i]).is_reader_feature) {
            feature_needs_add(&written, needs->names[i]);
            json_str(json, str_from_c(needs->names[i]));
        }
    for (size_t i = 0; i < listed->count; i++) {
        bool is_new = true;
        for (size_t j = 0; j < written.count; j++)
            if (str_equal_c(listed->items[i], written.names[j])) is_new = false;
        if (is_new) json_str(json, listed->items[i]);
    }
#define X(name, is_reader, can_read, can_write, can_rewrite, reader, writer)                      \
    if (is_implied(old,                                                                           \
                   &(Feature){name, is_reader, can_read, can_write, can_rewrite, reader, writer}, \
                   for_reader))                                                                   \
        json_str(json, STR(name));
    FEATURES(X)
#undef X
    json_array_end(json);
}

static Str format_protocol(Arena *arena, const Protocol *old, const FeatureNeeds *needs)
{
    Buf        buf    = buf_new(arena, 0);
    JsonWriter json   = json_writer(&buf, false, false);
    int64_t    reader = needs_have_reader_feature(needs) ? 3 : old->min_reader;

    json_object_begin(&json);
    json_member_i64(&json, "minReaderVersion", reader);
    json_member_i64(&json, "minWriterVersion", 7);
    if (reader == 3) write_list(&json, "readerFeatures", needs, old, true);
    write_list(&json, "writerFeatures", needs, old, false);
    json_object_end(&json);
    return buf_str(&buf);
}

Str protocol_for_create(Arena *arena, const FeatureNeeds *needs)
{
    /* what version 2 implies stands in every list, in the order of state.md 4.1 */
    Str            implied[] = {STR("invariants"), STR("appendOnly")};
    const Protocol plain     = {.min_reader      = 1,
                                .min_writer      = 7,
                                .writer_features = {.items = implied, .count = COUNT_OF(implied)}};

    if (needs->count == 0)
        return str_copy(arena, STR("{\"minReaderVersion\":1,\"minWriterVersion\":2}"));
    if (needs->count == 1 && str_equal_c(str_from_c(needs->names[0]), "columnMapping"))
        return str_copy(arena, STR("{\"minReaderVersion\":2,\"minWriterVersion\":5}"));
    return format_protocol(arena, &plain, needs);
}

bool protocol_upgrade(Arena *arena, const Protocol *protocol, const FeatureNeeds *needs,
                      Str *json_out)
{
    FeatureNeeds missing = {0};

    for (size_t i = 0; i < needs->count; i++)
        if (!protocol_has_feature(protocol, needs->names[i]))
            feature_needs_add(&missing, needs->names[i]);
    if (missing.count == 0) return false;
    *json_out = format_protocol(arena, protocol, &missing);
    return true;
}
