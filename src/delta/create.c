/* Version 0 (delta.md 2.2). */
#include "delta/delta_internal.h"

/* Names that differ only in the case of letters beyond ASCII: libduckdb knows all letters. */
static bool check_folded_names(DeltaContext *context, const Schema *schema, Err *err)
{
    Arena       *arena   = arena_new();
    Buf          sql     = buf_new(arena, 0);
    DuckSession *session = NULL;
    int64_t      index   = -1;

    buf_append_c(&sql, "SELECT coalesce(min(i), -1)::BIGINT FROM (SELECT i, row_number() OVER "
                       "(PARTITION BY lower(n) ORDER BY i) AS r FROM (VALUES ");
    for (size_t i = 0; i < schema->column_count; i++)
        buf_printf(&sql, "%s(%zu, %.*s)", i > 0 ? ", " : "", i,
                   STR_ARG(duck_quote_literal(arena, schema->columns[i].name)));
    buf_append_c(&sql, ") AS t(i, n)) WHERE r = 2");
    bool ok = duck_session_open(context->duck, &session, err) &&
              duck_query_i64(session, buf_str(&sql), &index, NULL, err);
    duck_session_close(session);
    arena_close(arena);
    return ok && (index < 0 || schema_fail_twice(schema->columns[index].name, err));
}

static bool is_ascii(Str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80) return false;
    return true;
}

bool delta_schema_check(DeltaContext *context, const Schema *schema, Err *err)
{
    size_t foreign = 0;

    for (size_t i = 0; i < schema->column_count; i++)
        foreign += !is_ascii(schema->columns[i].name);
    return schema_check_names(schema, err) &&
           (foreign == 0 || check_folded_names(context, schema, err));
}

/* The features that the table needs, and how its columns stand in files. */
static bool plan_spec(DeltaContext *context, const DeltaCreate *spec, Arena *arena,
                      FeatureNeeds *needs, ColumnMapping *mapping, Err *err)
{
    ColumnMapping base = {.mode = MAPPING_NONE};

    *needs = (FeatureNeeds){0};
    if (spec->schema.column_count == 0 || spec->schema.column_count > LIMIT_COLUMNS)
        return err_set(err, ERR_LIMIT, "a table has 1 to %d columns, not %zu", LIMIT_COLUMNS,
                       spec->schema.column_count);
    for (size_t i = 0; i < spec->schema.column_count; i++)
        if (schema_forbidden_char(spec->schema.columns[i].name)) base.mode = MAPPING_NAME;
    if (base.mode != MAPPING_NONE) feature_needs_add(needs, "columnMapping");
    feature_needs_add_columns(needs, &spec->schema);
    for (size_t i = 0; i < spec->property_count; i++)
        if (!feature_needs_add_property(needs, &spec->properties[i], err)) return false;
    *mapping = mapping_extend(arena, context->rng, &base, &spec->schema, NULL);
    return delta_schema_check(context, &spec->schema, err);
}

static bool has_in_commit_times(const FeatureNeeds *needs)
{
    for (size_t i = 0; i < needs->count; i++)
        if (str_equal_c(str_from_c(needs->names[i]), "inCommitTimestamp")) return true;
    return false;
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

static Str build_text(DeltaContext *context, const DeltaCreate *spec, const FeatureNeeds *needs,
                      const ColumnMapping *mapping, Str txn_id, Arena *arena)
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
        .in_commit_ms    = has_in_commit_times(needs) ? now_ms : -1,
        .operation       = STR("CREATE TABLE"),
        .parameters      = parameters,
        .parameter_count = COUNT_OF(parameters),
        .txn_id          = txn_id,
        .is_blind_append = true,
    };

    commit_write_info(&buf, context, &head);
    commit_write_raw(&buf, "protocol", protocol_for_create(arena, needs));
    commit_write_raw(&buf, "metaData",
                     metadata_format(arena, spec, mapping, rng_uuid4(context->rng, arena), now_ms));
    return buf_str(&buf);
}

static bool put_version_0(DeltaContext *context, Str path, const DeltaCreate *spec,
                          bool *created_out, Err *err)
{
    Arena   *arena = arena_new();
    LogPlace place = {
        .context = context, .path = path, .log_path = store_join(arena, path, STR("_delta_log"))};
    Str           txn_id = rng_uuid4(context->rng, arena);
    FeatureNeeds  needs;
    ColumnMapping mapping;
    PutOutcome    outcome;

    bool ok = plan_spec(context, spec, arena, &needs, &mapping, err) ||
              err_context(err, "table %.*s", STR_ARG(path));
    ok = ok && log_put_commit(&place, 0, build_text(context, spec, &needs, &mapping, txn_id, arena),
                              txn_id, &outcome, err);
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
        if (!put_version_0(context, path, spec, &created, err)) return false;
    }
    if (created_out) *created_out = created;
    return delta_table_open(context, path, out, err);
}
