/* Version 0 (delta.md 2.2). */
#include "delta/delta_internal.h"

static bool check_spec(Str path, const DeltaCreate *spec, Err *err)
{
    for (size_t i = 0; i < spec->property_count; i++)
        if (!property_check_settable(spec->properties[i].key, spec->properties[i].value, err))
            return err_context(err, "table %.*s", STR_ARG(path));
    if (spec->schema.column_count == 0 || spec->schema.column_count > LIMIT_COLUMNS)
        return err_set(err, ERR_LIMIT, "table %.*s: a table has 1 to %d columns, not %zu",
                       STR_ARG(path), LIMIT_COLUMNS, spec->schema.column_count);
    for (size_t i = 0; i < spec->schema.column_count; i++) {
        Str name = spec->schema.columns[i].name;
        if (schema_forbidden_char(name))
            return err_set(err, ERR_UNSUPPORTED,
                           "table %.*s: the column name \"%.*s\" has a character that Delta takes "
                           "only with column "
                           "mapping (blank , ; { } ( ) newline tab =), which tidelake does not "
                           "write yet; nothing was "
                           "created",
                           STR_ARG(path), STR_ARG(name));
    }
    return schema_check_names(&spec->schema, err) || err_context(err, "table %.*s", STR_ARG(path));
}

static Str properties_json(const DeltaCreate *spec, Arena *arena)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);

    json_object_begin(&json);
    for (size_t i = 0; i < spec->property_count; i++) {
        json_key(&json, spec->properties[i].key);
        json_str(&json, spec->properties[i].value);
    }
    json_object_end(&json);
    return buf_str(&buf);
}

static Str build_text(DeltaContext *context, const DeltaCreate *spec, Str txn_id, Arena *arena)
{
    Buf       buf          = buf_new(arena, LIMIT_LOG_FILE_BYTES);
    int64_t   now_ms       = clock_utc_us(context->clock) / 1000;
    DeltaPair parameters[] = {
        {STR("isManaged"), STR("false")},
        {STR("partitionBy"), STR("[]")},
        {STR("properties"), properties_json(spec, arena)},
    };
    CommitHead head = {
        .version         = 0,
        .now_ms          = now_ms,
        .in_commit_ms    = -1,
        .operation       = STR("CREATE TABLE"),
        .parameters      = parameters,
        .parameter_count = COUNT_OF(parameters),
        .txn_id          = txn_id,
        .is_blind_append = true,
    };

    commit_write_info(&buf, context, &head);
    commit_write_raw(&buf, "protocol", protocol_for_create(arena, &spec->schema));
    commit_write_raw(&buf, "metaData",
                     metadata_format(arena, spec, rng_uuid4(context->rng, arena), now_ms));
    return buf_str(&buf);
}

static bool put_version_0(DeltaContext *context, Str path, const DeltaCreate *spec,
                          bool *created_out, Err *err)
{
    Arena   *arena = arena_new();
    LogPlace place = {
        .context = context, .path = path, .log_path = store_join(arena, path, STR("_delta_log"))};
    Str        txn_id = rng_uuid4(context->rng, arena);
    PutOutcome outcome;

    bool ok = log_put_commit(&place, 0, build_text(context, spec, txn_id, arena), txn_id, &outcome,
                             err);
    if (ok) *created_out = outcome == PUT_DONE;
    arena_close(arena);
    return ok || err_context(err, "creating table %.*s", STR_ARG(path));
}

bool delta_table_create(DeltaContext *context, Str path, const DeltaCreate *spec, DeltaTable **out,
                        bool *created_out, Err *err)
{
    bool exists = false, has_other_files = false, created = false;

    if (!delta_table_exists(context, path, &exists, &has_other_files, err)) return false;
    if (!exists) {
        if (has_other_files)
            return err_set(err, ERR_STATE,
                           "%.*s holds files that belong to no Delta table; move them away or "
                           "choose another path",
                           STR_ARG(path));
        if (!check_spec(path, spec, err) || !put_version_0(context, path, spec, &created, err))
            return false;
    }
    if (created_out) *created_out = created;
    return delta_table_open(context, path, out, err);
}
