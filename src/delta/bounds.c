/* Reading statistics back (delta.md 2.4): which files can hold what is looked for. They come
 * from every writer there is, so whatever cannot be understood means that the file may hold it. */
#include "delta/delta_internal.h"

#include <assert.h>

/* Readers add what writers may have cut off a maximum. */
#define CUT_OFF_US 999

typedef struct Comparable {
    union {
        int64_t i64;
        double  number;
        Int128  decimal;
        Str     str;
    };
} Comparable;

/* A column as statistics know it. */
typedef struct StatsColumn {
    Str        name;
    ColumnType type;
    bool       was_float; /* its bounds prove nothing */
} StatsColumn;

static bool find_column(const DeltaTable *table, Str name, StatsColumn *out)
{
    const Metadata *metadata = &table_header(table)->metadata;
    ptrdiff_t       index    = schema_find(&metadata->schema, name);

    if (index < 0) return false;
    *out = (StatsColumn){.name      = metadata->mapping.stored.columns[index].name,
                         .type      = metadata->schema.columns[index].type,
                         .was_float = metadata->fields[index].was_float};
    return true;
}

static Str bound_text(JsonText stats, const char *side, Str column, Arena *arena)
{
    JsonText value = json_text_find_str(json_text_find(stats, side), column);
    if (value.kind == JSON_TEXT_STRING) return json_text_str(value, arena);
    if (value.kind == JSON_TEXT_NUMBER || value.kind == JSON_TEXT_BOOL) return value.text;
    return (Str){NULL, 0};
}

static bool find_bounds(const StatsColumn *column, const DeltaFile *file, Arena *arena,
                        DeltaBounds *out)
{
    JsonText stats;
    size_t   bad_at;

    *out     = (DeltaBounds){.min = {NULL, 0}, .max = {NULL, 0}, .null_count = -1};
    Str text = delta_file_get_stats(file, arena);
    if (text.len == 0 || !utf8_is_valid(text) || !json_text_parse(text, &stats, &bad_at))
        return false;
    if (!column->was_float) {
        out->min = bound_text(stats, "minValues", column->name, arena);
        out->max = bound_text(stats, "maxValues", column->name, arena);
    }
    JsonText nulls = json_text_find_str(json_text_find(stats, "nullCount"), column->name);
    if (!json_text_i64(nulls, &out->null_count) || out->null_count < 0) out->null_count = -1;
    return out->min.ptr || out->max.ptr || out->null_count >= 0;
}

bool delta_file_find_bounds(const DeltaTable *table, const DeltaFile *file, Str column,
                            Arena *arena, DeltaBounds *out)
{
    StatsColumn found;

    *out = (DeltaBounds){.min = {NULL, 0}, .max = {NULL, 0}, .null_count = -1};
    if (!find_column(table, column, &found) || !find_bounds(&found, file, arena, out)) return false;
    out->min = out->min.ptr ? str_copy(arena, out->min)
                            : out->min; /* the file's text may go with the next refresh */
    out->max = out->max.ptr ? str_copy(arena, out->max) : out->max;
    return true;
}

static bool parse_time(Str text, Arena *arena, int64_t *out)
{
    if (text.len == 10)
        text = str_printf(arena, "%.*sT00:00:00",
                          STR_ARG(text)); /* a date, from before a widening */
    return time_parse(text, out);
}

static bool parse_value(ColumnType type, Str text, Arena *arena, Comparable *out)
{
    switch (type.kind) {
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG: return str_parse_i64(text, &out->i64);
    case TYPE_FLOAT:
        if (!str_parse_double(text, &out->number)) return false;
        out->number = (double)(float)out->number;
        return true;
    case TYPE_DOUBLE: return str_parse_double(text, &out->number);
    case TYPE_DECIMAL: return decimal_parse(text, type.precision, type.scale, &out->decimal);
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ: return parse_time(text, arena, &out->i64);
    case TYPE_STRING: out->str = text; return true;
    case TYPE_BOOLEAN:
    case TYPE_BINARY:
    case TYPE_NESTED: return false;
    }
    return false;
}

static int compare(ColumnType type, const Comparable *left, const Comparable *right)
{
    switch (type.kind) {
    case TYPE_FLOAT:
    case TYPE_DOUBLE: return left->number < right->number ? -1 : left->number > right->number;
    case TYPE_DECIMAL: return int128_compare(left->decimal, right->decimal);
    case TYPE_STRING: return str_compare(left->str, right->str);
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ: return left->i64 < right->i64 ? -1 : left->i64 > right->i64;
    case TYPE_BOOLEAN:
    case TYPE_BINARY:
    case TYPE_NESTED: break;
    }
    assert(false); /* parse_value refused them */
    return 0;
}

static bool is_time(ColumnType type)
{
    return type.kind == TYPE_TIMESTAMP || type.kind == TYPE_TIMESTAMP_NTZ;
}

/* The file ends below `low`. */
static bool ends_below(ColumnType type, Str max, Str low, bool low_inclusive, Arena *arena)
{
    Comparable end, start;

    if (!max.ptr || !parse_value(type, max, arena, &end) || !parse_value(type, low, arena, &start))
        return false;
    if (is_time(type)) end.i64 += CUT_OFF_US;
    int order = compare(type, &end, &start);
    return order < 0 || (order == 0 && !low_inclusive);
}

/* The file starts above `high`. */
static bool starts_above(ColumnType type, Str min, Str high, bool high_inclusive, Arena *arena)
{
    Comparable start, end;

    if (!min.ptr || !parse_value(type, min, arena, &start) || !parse_value(type, high, arena, &end))
        return false;
    int order = compare(type, &start, &end);
    return order > 0 || (order == 0 && !high_inclusive);
}

bool delta_file_may_hold_range(const DeltaTable *table, const DeltaFile *file, Str column,
                               const Str *low, bool low_inclusive, const Str *high,
                               bool high_inclusive)
{
    StatsColumn found;
    DeltaBounds bounds;
    bool        may = true;

    if ((!low && !high) || !find_column(table, column, &found)) return true;
    Arena *arena = arena_new();
    if (find_bounds(&found, file, arena, &bounds)) {
        bool is_all_null = file->row_count >= 0 && bounds.null_count == file->row_count;
        may              = !is_all_null &&
              !(low && ends_below(found.type, bounds.max, *low, low_inclusive, arena)) &&
              !(high && starts_above(found.type, bounds.min, *high, high_inclusive, arena));
    }
    arena_close(arena);
    return may;
}

bool delta_file_may_hold_null(const DeltaTable *table, const DeltaFile *file, Str column)
{
    StatsColumn found;
    DeltaBounds bounds;

    if (!find_column(table, column, &found)) return true;
    Arena *arena = arena_new();
    bool   may   = !find_bounds(&found, file, arena, &bounds) || bounds.null_count != 0;
    arena_close(arena);
    return may;
}
