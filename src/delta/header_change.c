/* What a commit changes in the header: columns at the end, wider types, comments, description,
 * properties, and the protocol that they need (delta.md 2.9). Planned against the newest header in
 * every attempt, so a winner that brought the same change leaves nothing to do. */
#include "delta/header_change.h"

typedef struct Planner {
    const LogPlace    *place;
    const Header      *header;
    const DeltaCommit *commit;
    Arena             *arena;
    SchemaChange       schema;
    ColumnChange      *columns; /* a column of the table each */
    size_t             changed_count;
    DeltaProperty     *properties; /* that differ from the table's */
    size_t             property_count;
    FeatureNeeds       needs;
} Planner;

/* --- columns --- */

static bool fail_mapped_name(const Planner *planner, Str name, Err *err)
{
    Str         path = planner->place->path;
    const char *way  = planner->header->protocol.min_writer >= 7
                           ? "'delta.feature.columnMapping'='supported'"
                           : "'delta.minReaderVersion'='2','delta.minWriterVersion'='5'";

    return err_set(err, ERR_SCHEMA_CHANGED,
                   "table %.*s: the new column %.*s has a character that Delta takes only with "
                   "column mapping, and this table has none; nothing was written. The owner has to "
                   "run: ALTER TABLE delta.`%.*s` SET TBLPROPERTIES "
                   "('delta.columnMapping.mode'='name',%s), which raises the protocol for every "
                   "reader and writer of the table",
                   STR_ARG(path), STR_ARG(name), STR_ARG(path), way);
}

static bool is_reserved_for_feed(Str name)
{
    static const char *const names[] = {"_change_type", "_commit_version", "_commit_timestamp"};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal_ignoring_case(name, str_from_c(names[i]))) return true;
    return false;
}

static bool check_new_name(const Planner *planner, Str name, Err *err)
{
    if (planner->header->metadata.mapping.mode == MAPPING_NONE && schema_forbidden_char(name))
        return fail_mapped_name(planner, name, err);
    if (!header_has_change_feed(planner->header) || !is_reserved_for_feed(name)) return true;
    return err_set(err, ERR_SCHEMA_CHANGED,
                   "table %.*s: the new column %.*s has a name that the table's change data feed "
                   "reserves; nothing was written. The owner has to run: ALTER TABLE delta.`%.*s` "
                   "SET TBLPROPERTIES ('delta.enableChangeDataFeed'='false')",
                   STR_ARG(planner->place->path), STR_ARG(name), STR_ARG(planner->place->path));
}

/* The pairs that we widen ourselves: those that Spark takes without being told the type. */
static bool is_usual_widening(ColumnType have, ColumnType want)
{
    if (have.kind == TYPE_DECIMAL) return want.kind == TYPE_DECIMAL;
    if (have.kind == TYPE_FLOAT) return want.kind == TYPE_DOUBLE;
    if (have.kind == TYPE_DATE) return want.kind == TYPE_TIMESTAMP_NTZ;
    return want.kind == TYPE_SHORT || want.kind == TYPE_INTEGER || want.kind == TYPE_LONG;
}

static bool can_widen(const Planner *planner, const Column *have, const Column *want)
{
    return is_usual_widening(have->type, want->type) &&
           type_can_widen(column_type_delta_name(planner->arena, have->type),
                          column_type_delta_name(planner->arena, want->type));
}

static bool is_widening_allowed(const Header *header)
{
    return header_property_is_true(header, "delta.enableTypeWidening") &&
           protocol_has_feature(&header->protocol, "typeWidening");
}

static bool fail_type(const Planner *planner, const Column *have, const Column *want, Err *err)
{
    Str  path      = planner->place->path;
    bool could_be  = planner->commit->may_widen && can_widen(planner, have, want);
    Str  statement = str_printf(planner->arena,
                                "to have it widened, the owner has to run: ALTER TABLE delta.`%.*s` "
                                 "SET TBLPROPERTIES ('delta.enableTypeWidening'='true')",
                                STR_ARG(path));
    Str  way_out   = could_be ? statement
                              : STR("write to a new table, or rewrite this one with the wider type");

    return err_set(err, ERR_SCHEMA_CHANGED,
                   "table %.*s: column %.*s has type %.*s, which does not hold the new type %.*s; "
                   "nothing was written; %.*s",
                   STR_ARG(path), STR_ARG(have->name),
                   STR_ARG(column_type_sql_name(planner->arena, have->type)),
                   STR_ARG(column_type_sql_name(planner->arena, want->type)), STR_ARG(way_out));
}

static bool plan_known_column(Planner *planner, size_t index, const Column *want, Err *err)
{
    const Field *field = &planner->header->metadata.fields[index];

    if (column_type_fits(want->type, false, field->column.type)) return true;
    if (!planner->commit->may_widen || !is_widening_allowed(planner->header) ||
        !can_widen(planner, &field->column, want))
        return fail_type(planner, &field->column, want, err);
    planner->columns[index].is_widened = true;
    planner->columns[index].type       = want->type;
    planner->changed_count++;
    feature_needs_add_columns(&planner->needs, &(Schema){.columns = want, .column_count = 1});
    return true;
}

static bool plan_columns(Planner *planner, Err *err)
{
    const Schema *have   = &planner->header->metadata.schema;
    const Schema *schema = planner->commit->schema;
    Column       *added  = ARENA_ARRAY(planner->arena, Column, schema->column_count + 1);
    size_t        count  = 0;

    for (size_t i = 0; i < schema->column_count; i++) {
        const Column *want  = &schema->columns[i];
        ptrdiff_t     index = schema_find(have, want->name);
        if (index >= 0) {
            if (!plan_known_column(planner, (size_t)index, want, err)) return false;
            continue;
        }
        if (!check_new_name(planner, want->name, err)) return false;
        added[count++] = *want;
    }
    planner->schema.added = (Schema){.columns = added, .column_count = count};
    feature_needs_add_columns(&planner->needs, &planner->schema.added);
    if (have->column_count + count > LIMIT_COLUMNS)
        return err_set(err, ERR_LIMIT, "table %.*s: %zu columns are more than %d",
                       STR_ARG(planner->place->path), have->column_count + count, LIMIT_COLUMNS);
    return true;
}

static void plan_comments(Planner *planner)
{
    const Schema *have  = &planner->header->metadata.schema;
    const Schema *given = planner->commit->comments;

    for (size_t i = 0; given && i < given->column_count; i++) {
        ptrdiff_t index = schema_find(have, given->columns[i].name);
        Str       text  = given->columns[i].comment;
        if (index < 0 || str_equal(have->columns[index].comment, text)) continue;
        planner->columns[index].comment = text.ptr ? text : STR_EMPTY;
        planner->changed_count++;
    }
}

/* --- properties --- */

static void put_property(Planner *planner, const char *key, Str value)
{
    Str old;

    if (header_find_property(planner->header, str_from_c(key), &old) && str_equal(old, value))
        return;
    planner->properties[planner->property_count++] = (DeltaProperty){.key   = str_from_c(key),
                                                                     .value = value};
}

static Str number(Arena *arena, int64_t value)
{
    return str_printf(arena, "%lld", (long long)value);
}

#define OWN_PROPERTIES 3

static bool plan_properties(Planner *planner, int64_t version, const InCommit *in_commit, Err *err)
{
    const DeltaCommit *commit = planner->commit;

    planner->properties = ARENA_ARRAY(planner->arena, DeltaProperty,
                                      commit->set_property_count + OWN_PROPERTIES);
    for (size_t i = 0; i < commit->set_property_count; i++) {
        const DeltaProperty *property = &commit->set_properties[i];
        Str                  old;
        if (!feature_needs_add_property(&planner->needs, property, err))
            return err_context(err, "table %.*s", STR_ARG(planner->place->path));
        if (header_find_property(planner->header, property->key, &old) &&
            str_equal(old, property->value))
            continue;
        planner->properties[planner->property_count++] = *property;
    }
    if (!in_commit->is_first) return true;
    put_property(planner, IN_COMMIT_ENABLED_VERSION, number(planner->arena, version));
    put_property(planner, IN_COMMIT_ENABLED_TIMESTAMP, number(planner->arena, in_commit->ms));
    return true;
}

/* --- together --- */

static const DeltaAdd *first_add(const DeltaCommit *commit)
{
    for (size_t i = 0; i < commit->add_count; i++)
        if (commit->adds[i].row_count != 0) return &commit->adds[i];
    return NULL;
}

/* The columns afterwards, and how they stand in files. */
static bool plan_result(Planner *planner, HeaderChange *out, Err *err)
{
    const Metadata *metadata = &planner->header->metadata;
    Rng            *rng      = planner->place->context->rng;
    Schema  merged  = schema_merge(planner->arena, &metadata->schema, &planner->schema.added);
    Column *columns = ARENA_ARRAY(planner->arena, Column, merged.column_count + 1);

    for (size_t i = 0; i < merged.column_count; i++) {
        columns[i] = merged.columns[i];
        if (i < metadata->schema.column_count && planner->columns[i].is_widened)
            columns[i].type = planner->columns[i].type;
    }
    out->schema  = (Schema){.columns = columns, .column_count = merged.column_count};
    out->mapping = mapping_extend(planner->arena, rng, &metadata->mapping, &out->schema,
                                  first_add(planner->commit));
    if (out->mapping.max_id != metadata->mapping.max_id)
        put_property(planner, MAPPING_MAX_ID, number(planner->arena, out->mapping.max_id));
    return planner->schema.added.column_count == 0 ||
           delta_schema_check(planner->place->context, &out->schema, err) ||
           err_context(err, "table %.*s", STR_ARG(planner->place->path));
}

static bool changes_description(const Planner *planner)
{
    Str description = planner->commit->description;
    return description.ptr && !str_equal(description, planner->header->metadata.description);
}

static void write_actions(Planner *planner, HeaderChange *out)
{
    bool describes = changes_description(planner);
    Str  protocol;

    bool changes = planner->schema.added.column_count > 0 || planner->changed_count > 0 ||
                   planner->property_count > 0 || describes;
    bool upgrades = (changes || planner->commit->domain_count > 0) &&
                    protocol_upgrade(planner->arena, &planner->header->protocol, &planner->needs,
                                     &protocol);

    if (upgrades) out->protocol = protocol;
    if (!changes) return;
    planner->schema.columns = planner->columns;
    planner->schema.mapping = &out->mapping;
    out->metadata = metadata_change(planner->arena, &planner->header->metadata, &planner->schema,
                                    planner->properties, planner->property_count,
                                    describes ? planner->commit->description : (Str){NULL, 0});
}

bool header_change_plan(const LogPlace *place, const Header *header, const DeltaCommit *commit,
                        int64_t version, const InCommit *in_commit, Arena *arena, HeaderChange *out,
                        Err *err)
{
    Planner planner = {
        .place  = place,
        .header = header,
        .commit = commit,
        .arena  = arena,
    };

    *out            = (HeaderChange){.metadata = STR_EMPTY, .protocol = STR_EMPTY};
    planner.columns = ARENA_ARRAY(arena, ColumnChange, header->metadata.schema.column_count + 1);
    if (commit->schema && !plan_columns(&planner, err)) return false;
    plan_comments(&planner);
    if (commit->domain_count > 0) feature_needs_add(&planner.needs, "domainMetadata");
    if (!plan_properties(&planner, version, in_commit, err)) return false;
    if (!plan_result(&planner, out, err)) return false;
    write_actions(&planner, out);
    return true;
}

bool delta_table_check_schema(const DeltaTable *table, const Schema *schema, bool may_widen,
                              Err *err)
{
    Arena       *arena     = arena_new();
    DeltaCommit  commit    = {.schema = schema, .may_widen = may_widen};
    InCommit     in_commit = {.ms = -1};
    HeaderChange change;

    bool ok = header_change_plan(&table->place, table_header(table), &commit,
                                 table->state->version + 1, &in_commit, arena, &change, err);
    arena_close(arena);
    return ok;
}
