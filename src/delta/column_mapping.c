/* Column mapping (delta.md 1.10, 2.2): the names and ids under which columns stand in data files
 * and statistics, when those are not the names that people see. */
#include "delta/delta_internal.h"

#define ID_MAX INT32_MAX

static bool fail_field(const Field *field, const char *what, Err *err)
{
    return err_set(err, ERR_DAMAGED, "DELTA-L06 column %.*s %s in a table whose columns are mapped",
                   STR_ARG(field->column.name), what);
}

/* Counts only when the protocol supports it. */
static bool has_feature(const Protocol *protocol)
{
    const Str name = STR("columnMapping");

    return protocol->min_reader == 2 || str_list_has(&protocol->reader_features, name) ||
           str_list_has(&protocol->writer_features, name);
}

static bool parse_mode(const Header *header, MappingMode *out, Err *err)
{
    Str text;

    *out = MAPPING_NONE;
    if (!has_feature(&header->protocol) || !header_find_property(header, STR(MAPPING_MODE), &text))
        return true;
    if (str_equal_ignoring_case(text, STR("name"))) *out = MAPPING_NAME;
    if (str_equal_ignoring_case(text, STR("id"))) *out = MAPPING_ID;
    if (*out != MAPPING_NONE || str_equal_ignoring_case(text, STR("none"))) return true;
    return err_set(err, ERR_UNSUPPORTED,
                   "DELTA-P10 reader feature \"columnMapping\" in mode \"%.*s\" is not supported; "
                   "nothing was read",
                   STR_ARG(text));
}

static bool parse_field(const Field *field, Arena *arena, Column *stored, int32_t *id_out, Err *err)
{
    Str     name = json_text_str(json_text_find(field->metadata, MAPPING_NAME_KEY), arena);
    int64_t id;

    if (name.len == 0) return fail_field(field, "has no " MAPPING_NAME_KEY, err);
    if (!json_text_i64(json_text_find(field->metadata, MAPPING_ID_KEY), &id) || id < 1 ||
        id > ID_MAX)
        return fail_field(field, "has no " MAPPING_ID_KEY, err);
    *stored      = field->column;
    stored->name = name;
    *id_out      = (int32_t)id;
    return true;
}

static bool check_unique(const Metadata *metadata, Err *err)
{
    const ColumnMapping *mapping = &metadata->mapping;
    Arena               *arena   = arena_new();
    Map                 *names = map_new(), *ids = map_new();
    bool                 ok = true;

    for (size_t i = 0; ok && i < mapping->stored.column_count; i++) {
        const Field *field = &metadata->fields[i];
        Str          id    = str_printf(arena, "%d", mapping->ids[i]);
        if (map_put(names, mapping->stored.columns[i].name, arena))
            ok = fail_field(field, "shares its " MAPPING_NAME_KEY " with another one", err);
        else if (map_put(ids, id, arena))
            ok = fail_field(field, "shares its " MAPPING_ID_KEY " with another one", err);
    }
    map_close(names);
    map_close(ids);
    arena_close(arena);
    return ok;
}

bool mapping_parse(Header *header, Err *err)
{
    Metadata      *metadata = &header->metadata;
    ColumnMapping *mapping  = &metadata->mapping;
    size_t         count    = metadata->schema.column_count;

    *mapping = (ColumnMapping){.stored = metadata->schema};
    if (!parse_mode(header, &mapping->mode, err)) return false;
    if (mapping->mode == MAPPING_NONE) return true;

    Column *stored = ARENA_ARRAY(header->arena, Column, count + 1);
    mapping->ids   = ARENA_ARRAY(header->arena, int32_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        if (!parse_field(&metadata->fields[i], header->arena, &stored[i], &mapping->ids[i], err))
            return false;
        mapping->max_id = MAX(mapping->max_id, mapping->ids[i]);
    }
    mapping->stored = (Schema){.columns = stored, .column_count = count};
    mapping->max_id = MAX(mapping->max_id, header_property_i64(header, MAPPING_MAX_ID, 0));
    if (mapping->max_id > ID_MAX - LIMIT_COLUMNS) /* room for every column that may come */
        return err_set(err, ERR_DAMAGED, "DELTA-L06 " MAPPING_MAX_ID " is %lld",
                       (long long)mapping->max_id);
    return check_unique(metadata, err);
}

/* What a file that was written for the commit calls a column that the table does not have yet. */
static bool find_written(const DeltaAdd *wrote, Str name, Str *stored_out, int32_t *id_out)
{
    if (!wrote || !wrote->schema || !wrote->mapping || !wrote->mapping->ids) return false;
    ptrdiff_t index = schema_find(wrote->schema, name);
    if (index < 0) return false;
    *stored_out = wrote->mapping->stored.columns[index].name;
    *id_out     = wrote->mapping->ids[index];
    return true;
}

ColumnMapping mapping_extend(Arena *arena, Rng *rng, const ColumnMapping *base,
                             const Schema *schema, const DeltaAdd *wrote)
{
    ColumnMapping mapping = {.mode = base->mode, .stored = *schema, .max_id = base->max_id};
    Column       *stored;

    if (mapping.mode == MAPPING_NONE) return mapping;
    stored      = ARENA_ARRAY(arena, Column, schema->column_count + 1);
    mapping.ids = ARENA_ARRAY(arena, int32_t, schema->column_count + 1);
    for (size_t i = 0; i < schema->column_count; i++) {
        stored[i] = schema->columns[i];
        if (i < base->stored.column_count) {
            stored[i].name = base->stored.columns[i].name;
            mapping.ids[i] = base->ids[i];
        } else if (!find_written(wrote, stored[i].name, &stored[i].name, &mapping.ids[i]) ||
                   mapping.ids[i] <= base->max_id) {
            stored[i].name = str_printf(arena, "col-%.*s", STR_ARG(rng_uuid4(rng, arena)));
            mapping.ids[i] = (int32_t)(mapping.max_id + 1); /* columns are few: LIMIT_COLUMNS */
        }
        mapping.max_id = MAX(mapping.max_id, mapping.ids[i]);
    }
    mapping.stored = (Schema){.columns = stored, .column_count = schema->column_count};
    return mapping;
}

ColumnMapping *mapping_copy(Arena *arena, const ColumnMapping *mapping)
{
    ColumnMapping *copy  = ARENA_NEW(arena, ColumnMapping);
    size_t         count = mapping->stored.column_count;

    *copy        = *mapping;
    copy->stored = schema_copy(arena, &mapping->stored);
    if (!mapping->ids) return copy;
    copy->ids = ARENA_ARRAY(arena, int32_t, count + 1);
    for (size_t i = 0; i < count; i++)
        copy->ids[i] = mapping->ids[i];
    return copy;
}

bool mapping_same_column(const ColumnMapping *left, size_t left_index, const ColumnMapping *right,
                         size_t right_index)
{
    if (left->mode == MAPPING_NONE && right->mode == MAPPING_NONE) return true;
    return left->ids && right->ids && left->ids[left_index] == right->ids[right_index] &&
           str_equal(left->stored.columns[left_index].name,
                     right->stored.columns[right_index].name);
}
