/* What a commit changes in the header: columns at the end, properties, and the protocol that
 * they need (delta.md 2.9). Planned against the newest header in every attempt, so a winner that
 * brought the same change leaves nothing to do. */
#include "delta/delta_internal.h"

#include "delta/header_change.h"

static bool fail_mapped_name(const LogPlace *place, Str name, Err *err)
{
    return err_set(err, ERR_SCHEMA_CHANGED,
                   "table %.*s: the new column %.*s has a character that Delta takes only with "
                   "column mapping, and this "
                   "table has none; nothing was written. The owner has to run: ALTER TABLE "
                   "delta.`%.*s` SET TBLPROPERTIES "
                   "('delta.columnMapping.mode'='name','delta.minReaderVersion'='2','delta."
                   "minWriterVersion'='5')",
                   STR_ARG(place->path), STR_ARG(name), STR_ARG(place->path));
}

static bool check_known_column(const LogPlace *place, const Column *have, const Column *want,
                               Arena *arena, Err *err)
{
    if (column_type_fits(want->type, true, have->type)) return true;
    return err_set(err, ERR_SCHEMA_CHANGED,
                   "table %.*s: column %.*s has type %.*s, which does not hold the new type %.*s",
                   STR_ARG(place->path), STR_ARG(have->name),
                   STR_ARG(column_type_sql_name(arena, have->type)),
                   STR_ARG(column_type_sql_name(arena, want->type)));
}

static bool find_added(const LogPlace *place, const Header *header, const Schema *schema,
                       Arena *arena, Schema *added_out, Err *err)
{
    const Schema *have  = &header->metadata.schema;
    Column       *added = ARENA_ARRAY(arena, Column, schema->column_count + 1);
    size_t        count = 0;

    for (size_t i = 0; i < schema->column_count; i++) {
        const Column *want  = &schema->columns[i];
        ptrdiff_t     index = schema_find(have, want->name);
        if (index >= 0) {
            if (!check_known_column(place, &have->columns[index], want, arena, err)) return false;
            continue;
        }
        if (schema_forbidden_char(want->name)) return fail_mapped_name(place, want->name, err);
        added[count++] = *want;
    }
    *added_out = (Schema){.columns = added, .column_count = count};
    if (have->column_count + count > LIMIT_COLUMNS)
        return err_set(err, ERR_LIMIT, "table %.*s: %zu columns are more than %d",
                       STR_ARG(place->path), have->column_count + count, LIMIT_COLUMNS);
    return schema_check_names(added_out, err) ||
           err_context(err, "table %.*s", STR_ARG(place->path));
}

static bool properties_differ(const Header *header, const DeltaProperty *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Str value;
        if (!header_find_property(header, properties[i].key, &value) ||
            !str_equal(value, properties[i].value))
            return true;
    }
    return false;
}

static bool check_properties(const LogPlace *place, const DeltaCommit *commit, Err *err)
{
    for (size_t i = 0; i < commit->set_property_count; i++)
        if (!property_check_settable(commit->set_properties[i].key, commit->set_properties[i].value,
                                     err))
            return err_context(err, "table %.*s", STR_ARG(place->path));
    return true;
}

bool header_change_plan(const LogPlace *place, const Header *header, const DeltaCommit *commit,
                        Arena *arena, HeaderChange *out, Err *err)
{
    Schema added = {0};

    *out = (HeaderChange){.metadata = STR_EMPTY, .protocol = STR_EMPTY};
    if (commit->schema && !find_added(place, header, commit->schema, arena, &added, err))
        return false;
    if (!check_properties(place, commit, err)) return false;
    out->schema = schema_merge(arena, &header->metadata.schema, &added);
    if (added.column_count == 0 &&
        !properties_differ(header, commit->set_properties, commit->set_property_count))
        return true;
    out->metadata = metadata_change(arena, &header->metadata, &added, commit->set_properties,
                                    commit->set_property_count);
    Str protocol;
    if (protocol_upgrade(arena, &header->protocol, &added, &protocol)) out->protocol = protocol;
    return true;
}
