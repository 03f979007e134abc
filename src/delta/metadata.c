/* metaData and protocol together: the header of a table at one version (delta.md 1.8, 2.2, 2.9). */
#include "delta/delta_internal.h"

#include <string.h>

static void parse_properties(JsonText configuration, Arena *arena, Metadata *out)
{
    Str      key;
    JsonText value;
    size_t   count = 0;

    for (size_t at = 0; json_text_next_member(configuration, &at, &key, &value);)
        count++;
    out->properties = ARENA_ARRAY(arena, DeltaProperty, count + 1);
    for (size_t at = 0; json_text_next_member(configuration, &at, &key, &value);) {
        if (value.kind != JSON_TEXT_STRING) continue;
        out->properties[out->property_count++] = (DeltaProperty){
            .key = json_text_unescape(key, arena), .value = json_text_str(value, arena)};
    }
}

static void parse_partition_columns(JsonText array, Arena *arena, StrList *out)
{
    JsonText item;
    size_t   count = 0;

    for (size_t at = 0; json_text_next_item(array, &at, &item);)
        count++;
    out->items = ARENA_ARRAY(arena, Str, count + 1);
    for (size_t at = 0; json_text_next_item(array, &at, &item);)
        out->items[out->count++] = json_text_str(item, arena);
}

static Str str_or_empty(Str str)
{
    return str.ptr ? str : STR_EMPTY;
}

static bool parse_metadata(JsonText body, Arena *arena, Metadata *out, Err *err)
{
    *out = (Metadata){
        .raw           = body,
        .id            = str_or_empty(json_text_str(json_text_find(body, "id"), arena)),
        .name          = str_or_empty(json_text_str(json_text_find(body, "name"), arena)),
        .description   = str_or_empty(json_text_str(json_text_find(body, "description"), arena)),
        .provider      = json_text_str(json_text_find(json_text_find(body, "format"), "provider"),
                                       arena),
        .schema_string = json_text_str(json_text_find(body, "schemaString"), arena),
    };
    if (out->provider.ptr == NULL) out->provider = STR("parquet"); /* the only one there is */
    parse_properties(json_text_find(body, "configuration"), arena, out);
    parse_partition_columns(json_text_find(body, "partitionColumns"), arena,
                            &out->partition_columns);
    if (out->schema_string.ptr == NULL)
        return err_set(err, ERR_DAMAGED, "DELTA-L06 its metaData has no schemaString");
    return true;
}

/* The protocol is judged first: what a table of a future protocol says besides may be beyond us. */
bool header_new(const LogPlace *place, int64_t version, Str protocol_raw, Str metadata_raw,
                Header **out, Err *err)
{
    Arena   *arena  = arena_new();
    Header  *header = ARENA_NEW(arena, Header);
    JsonText body;
    size_t   bad_at;

    header->arena        = arena;
    header->protocol_raw = str_copy(arena, protocol_raw);
    header->metadata_raw = str_copy(arena, metadata_raw);
    bool ok              = json_text_parse(header->protocol_raw, &body, &bad_at) &&
              protocol_parse(body, arena, &header->protocol);
    if (!ok) (void)err_set(err, ERR_DAMAGED, "DELTA-L06 its protocol has no versions");
    if (ok && !protocol_check_read(place, version, &header->protocol, err)) {
        arena_close(arena);
        return false; /* the message names the table */
    }
    if (ok && !json_text_parse(header->metadata_raw, &body, &bad_at))
        ok = err_set(err, ERR_DAMAGED, "DELTA-L06 its metaData is damaged");
    Metadata *metadata = &header->metadata;
    ok                 = ok && parse_metadata(body, arena, metadata, err) &&
         schema_string_parse(metadata->schema_string, arena, &metadata->fields, &metadata->schema,
                             err) &&
         mapping_parse(header, err);
    if (!ok) {
        arena_close(arena);
        return err_context(err, "table %.*s v%lld", STR_ARG(place->path), (long long)version);
    }
    *out = header;
    return true;
}

void header_close(Header *header)
{
    if (header) arena_close(header->arena);
}

/* --- properties --- */

static bool find_property(const Metadata *metadata, Str key, Str *value_out)
{
    for (size_t i = 0; i < metadata->property_count; i++) {
        if (!str_equal_ignoring_case(metadata->properties[i].key, key)) continue;
        *value_out = metadata->properties[i].value;
        return true;
    }
    return false;
}

bool header_find_property(const Header *header, Str key, Str *value_out)
{
    return find_property(&header->metadata, key, value_out);
}

bool header_property_is_true(const Header *header, const char *key)
{
    Str value;
    return header_find_property(header, str_from_c(key), &value) &&
           str_equal_ignoring_case(value, STR("true"));
}

int64_t header_property_i64(const Header *header, const char *key, int64_t fallback)
{
    Str     text;
    int64_t value;
    return header_find_property(header, str_from_c(key), &text) &&
                   str_parse_i64(str_trim(text), &value)
               ? value
               : fallback;
}

int64_t header_property_interval_us(const Header *header, const char *key, int64_t fallback)
{
    Str     text;
    int64_t value;
    return header_find_property(header, str_from_c(key), &text) &&
                   delta_interval_parse(text, &value)
               ? value
               : fallback;
}

/* Delta's own properties that ask nothing of the protocol. */
static bool is_plain_delta_key(Str key)
{
    const char *const keys[] = {
        "delta.appendOnly",
        "delta.checkpointInterval",
        "delta.logRetentionDuration",
        "delta.enableExpiredLogCleanup",
        "delta.deletedFileRetentionDuration",
        "delta.dataSkippingNumIndexedCols",
        "delta.dataSkippingStatsColumns",
        "delta.dataSkippingStringPrefixLength",
        "delta.setTransactionRetentionDuration",
        "delta.parquet.compression.codec",
        "delta.randomizeFilePrefixes",
        "delta.randomPrefixLength",
        "delta.isolationLevel",
        "delta.targetFileSize",
        "delta.tuneFileSizesForRewrites",
        "delta.autoOptimize.autoCompact",
        "delta.autoOptimize.optimizeWrite",
    };
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (str_equal_ignoring_case(key, str_from_c(keys[i]))) return true;
    return false;
}

/* Those that ask for a table feature. */
static const char *property_feature(Str key)
{
    static const char *const features[][2] = {
        {"delta.enableDeletionVectors", "deletionVectors"},
        {IN_COMMIT_ENABLED, "inCommitTimestamp"},
        {"delta.enableTypeWidening", "typeWidening"},
    };
    for (size_t i = 0; i < COUNT_OF(features); i++)
        if (str_equal_ignoring_case(key, str_from_c(features[i][0]))) return features[i][1];
    return NULL;
}

bool feature_needs_add_property(FeatureNeeds *needs, const DeltaProperty *property, Err *err)
{
    const char *feature = property_feature(property->key);

    if (feature) {
        if (str_equal_ignoring_case(property->value, STR("true")))
            feature_needs_add(needs, feature);
        return true;
    }
    if (!str_equal_ignoring_case(str_slice(property->key, 0, 6), STR("delta.")) ||
        is_plain_delta_key(property->key))
        return true;
    return err_set(err, ERR_UNSUPPORTED,
                   "the table property %.*s=%.*s needs a table feature that tidelake does not set",
                   STR_ARG(property->key), STR_ARG(property->value));
}

/* --- writing metaData --- */

static void write_properties(JsonWriter *json, const DeltaCreate *spec,
                             const ColumnMapping *mapping, Arena *arena)
{
    json_object_begin(json);
    for (size_t i = 0; i < spec->property_count; i++) {
        json_key(json, spec->properties[i].key);
        json_str(json, spec->properties[i].value);
    }
    if (mapping->mode != MAPPING_NONE) {
        json_member_str(json, MAPPING_MODE, STR("name"));
        json_member_str(json, MAPPING_MAX_ID,
                        str_printf(arena, "%lld", (long long)mapping->max_id));
    }
    json_object_end(json);
}

Str metadata_format(Arena *arena, const DeltaCreate *spec, const ColumnMapping *mapping, Str id,
                    int64_t created_ms)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);

    json_object_begin(&json);
    json_member_str(&json, "id", id);
    if (spec->description.len > 0) json_member_str(&json, "description", spec->description);
    json_key(&json, STR("format"));
    json_raw(&json, STR("{\"provider\":\"parquet\",\"options\":{}}"));
    json_member_str(&json, "schemaString", schema_string_format(arena, &spec->schema, mapping));
    json_key(&json, STR("partitionColumns"));
    json_raw(&json, STR("[]"));
    json_key(&json, STR("configuration"));
    write_properties(&json, spec, mapping, arena);
    json_member_i64(&json, "createdTime", created_ms);
    json_object_end(&json);
    return buf_str(&buf);
}

/* The old properties in their order, with new values where given, and what is new behind them. */
static void write_changed_properties(JsonWriter *json, const Metadata *metadata,
                                     const DeltaProperty *changes, size_t count)
{
    json_object_begin(json);
    for (size_t i = 0; i < metadata->property_count; i++) {
        DeltaProperty property = metadata->properties[i];
        for (size_t j = 0; j < count; j++)
            if (str_equal_ignoring_case(changes[j].key, property.key))
                property.value = changes[j].value;
        json_key(json, property.key);
        json_str(json, property.value);
    }
    for (size_t j = 0; j < count; j++) {
        Str old;
        if (find_property(metadata, changes[j].key, &old)) continue;
        json_key(json, changes[j].key);
        json_str(json, changes[j].value);
    }
    json_object_end(json);
}

Str metadata_change(Arena *arena, const Metadata *metadata, const SchemaChange *change,
                    const DeltaProperty *properties, size_t property_count, Str description)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);
    Str        key;
    JsonText   value;
    bool       has_configuration = false;

    json_object_begin(&json);
    for (size_t at = 0; json_text_next_member(metadata->raw, &at, &key, &value);) {
        if (value.kind == JSON_TEXT_NULL) continue;
        if (description.ptr && json_text_key_equals(key, STR("description"))) continue;
        json_key(&json, json_text_unescape(key, arena));
        if (json_text_key_equals(key, STR("schemaString"))) {
            json_str(&json, schema_string_change(arena, metadata->schema_string, change));
        } else if (json_text_key_equals(key, STR("configuration"))) {
            has_configuration = true;
            write_changed_properties(&json, metadata, properties, property_count);
        } else {
            json_raw(&json, value.text);
        }
    }
    if (!has_configuration) {
        json_key(&json, STR("configuration"));
        write_changed_properties(&json, metadata, properties, property_count);
    }
    if (description.len > 0) json_member_str(&json, "description", description);
    json_object_end(&json);
    return buf_str(&buf);
}
