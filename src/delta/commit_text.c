/* The lines of a commit as we write them (delta.md 2.5): commitInfo first, compact, no nulls. */
#include "delta/delta_internal.h"

static void begin_line(JsonWriter *json, Buf *buf, const char *action)
{
    *json = json_writer(buf, false, false);
    json_object_begin(json);
    json_key(json, str_from_c(action));
}

static void end_line(JsonWriter *json, Buf *buf)
{
    json_object_end(json);
    buf_append_char(buf, '\n');
}

/* Values are strings, whatever they hold: Spark's history reader takes nothing else. */
static void write_pairs(JsonWriter *json, const char *key, const DeltaPair *pairs, size_t count)
{
    json_key(json, str_from_c(key));
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        json_key(json, pairs[i].key);
        json_str(json, pairs[i].value);
    }
    json_object_end(json);
}

void commit_write_info(Buf *buf, const DeltaContext *context, const CommitHead *head)
{
    JsonWriter json;

    begin_line(&json, buf, "commitInfo");
    json_object_begin(&json);
    if (head->in_commit_ms >= 0) json_member_i64(&json, "inCommitTimestamp", head->in_commit_ms);
    json_member_i64(&json, "timestamp", head->now_ms);
    json_member_str(&json, "operation", head->operation);
    write_pairs(&json, "operationParameters", head->parameters, head->parameter_count);
    if (head->version > 0) json_member_i64(&json, "readVersion", head->version - 1);
    json_member_str(&json, "isolationLevel", STR("Serializable"));
    json_member_bool(&json, "isBlindAppend", head->is_blind_append);
    write_pairs(&json, "operationMetrics", head->metrics, head->metric_count);
    if (head->user_metadata.len > 0) json_member_str(&json, "userMetadata", head->user_metadata);
    json_member_str(&json, "engineInfo", context->engine_info);
    json_member_str(&json, "txnId", head->txn_id);
    json_object_end(&json);
    end_line(&json, buf);
}

void commit_write_raw(Buf *buf, const char *action, Str body)
{
    JsonWriter json;

    begin_line(&json, buf, action);
    json_raw(&json, body);
    end_line(&json, buf);
}

void commit_write_txn(Buf *buf, const DeltaTxn *txn, int64_t now_ms)
{
    JsonWriter json;

    begin_line(&json, buf, "txn");
    json_object_begin(&json);
    json_member_str(&json, "appId", txn->app_id);
    json_member_i64(&json, "version", txn->version);
    json_member_i64(&json, "lastUpdated", now_ms);
    json_object_end(&json);
    end_line(&json, buf);
}

void commit_write_domain(Buf *buf, const DeltaDomain *domain)
{
    JsonWriter json;

    begin_line(&json, buf, "domainMetadata");
    json_object_begin(&json);
    json_member_str(&json, "domain", domain->name);
    json_member_str(&json, "configuration", domain->configuration);
    json_member_bool(&json, "removed", domain->is_removed);
    json_object_end(&json);
    end_line(&json, buf);
}

void commit_write_add(Buf *buf, const DeltaAdd *add, bool data_change)
{
    JsonWriter json;

    begin_line(&json, buf, "add");
    json_object_begin(&json);
    json_member_str(&json, "path", add->path);
    json_key(&json, STR("partitionValues"));
    json_raw(&json, STR("{}"));
    json_member_i64(&json, "size", add->size_bytes);
    json_member_i64(&json, "modificationTime", add->modified_ms);
    json_member_bool(&json, "dataChange", data_change);
    if (add->stats.len > 0) json_member_str(&json, "stats", add->stats);
    json_object_end(&json);
    end_line(&json, buf);
}

/* What the add said of itself goes into its remove byte by byte: partition values, deletion
 * vector, row ids. */
static void write_copied(JsonWriter *json, JsonText extra, const char *key)
{
    JsonText value = json_text_find(extra, key);
    if (value.kind == JSON_TEXT_NONE) return;
    json_key(json, str_from_c(key));
    json_raw(json, value.text);
}

static void write_partition_values(JsonWriter *json, JsonText extra)
{
    JsonText value = json_text_find(extra, "partitionValues");

    json_key(json, STR("partitionValues"));
    json_raw(json, value.kind == JSON_TEXT_NONE ? STR("{}") : value.text);
}

/* The file again, as its add had it, with its new vector. */
void commit_write_vector(Buf *buf, const DeltaFile *file, const DeltaDeletion *deletion)
{
    static const char *const kept[] = {"tags", "baseRowId", "defaultRowCommitVersion",
                                       "clusteringProvider"};
    Arena                   *arena  = arena_new();
    JsonText                 extra  = {.kind = JSON_TEXT_OBJECT,
                                       .text = str_printf(arena, "{%.*s}", STR_ARG(file->extra_members))};
    JsonWriter               json;

    begin_line(&json, buf, "add");
    json_object_begin(&json);
    json_member_str(&json, "path", file->path);
    write_partition_values(&json, extra);
    json_member_i64(&json, "size", file->size_bytes);
    json_member_i64(&json, "modificationTime", file->modified_ms);
    json_member_bool(&json, "dataChange", true);
    json_member_str(&json, "stats", deletion->stats);
    for (size_t i = 0; i < COUNT_OF(kept); i++)
        write_copied(&json, extra, kept[i]);
    json_key(&json, STR("deletionVector"));
    json_raw(&json, deletion->vector);
    json_object_end(&json);
    end_line(&json, buf);
    arena_close(arena);
}

void commit_write_remove(Buf *buf, const DeltaFile *file, int64_t now_ms, bool data_change)
{
    Arena     *arena = arena_new();
    Str        text  = str_printf(arena, "{%.*s}", STR_ARG(file->extra_members));
    JsonText   extra = {.kind = JSON_TEXT_OBJECT, .text = text};
    JsonWriter json;

    begin_line(&json, buf, "remove");
    json_object_begin(&json);
    json_member_str(&json, "path", file->path);
    json_member_i64(&json, "deletionTimestamp", now_ms);
    json_member_bool(&json, "dataChange", data_change);
    json_member_bool(&json, "extendedFileMetadata", true);
    write_partition_values(&json, extra);
    json_member_i64(&json, "size", file->size_bytes);
    write_copied(&json, extra, "deletionVector");
    write_copied(&json, extra, "baseRowId");
    write_copied(&json, extra, "defaultRowCommitVersion");
    json_object_end(&json);
    end_line(&json, buf);
    arena_close(arena);
}
