/* duck_parsed_stats.c - statistics that a checkpoint has as typed columns only (stats_parsed), as the
 * text an add would carry (delta.md 1.4, 2.4).
 *
 * A bound must never exclude a value that is there. What has no text in statistics, or none that
 * every reader takes, is left out, which means unknown. */
#include "base/clock.h"
#include "duck/duck_shape.h"

#include <math.h>

#define MS_US     1000
#define YEAR_MAX  9999
#define DAY_US    (INT64_C(86400) * 1000000)
#define DAYS_MAX  (INT64_MAX / DAY_US)
#define YEAR_MIN  1
#define DEPTH_MAX 64 /* of structs in structs; deeper ones are left out */

static bool is_civil(int64_t us)
{
    int32_t year = civil_from_us(us).year;
    return year >= YEAR_MIN && year <= YEAR_MAX;
}

/* Statistics have milliseconds; what is cut off a maximum is rounded up. */
static bool write_time(JsonWriter *json, int64_t us, bool is_max, bool has_zone, Arena *arena)
{
    int64_t rest = us % MS_US;

    if (rest < 0) rest += MS_US;
    if (us < INT64_MIN + MS_US || us > INT64_MAX - MS_US) return false;
    us += is_max && rest > 0 ? MS_US - rest : -rest;
    if (!is_civil(us)) return false;
    json_str(json,
             str_printf(arena, "%.*s%s", STR_ARG(time_format_ms(arena, us)), has_zone ? "Z" : ""));
    return true;
}

static bool write_date(JsonWriter *json, const ColumnVector *column, size_t row, Arena *arena)
{
    int64_t days = column_i64(column, row);

    if (days > DAYS_MAX || days < -DAYS_MAX || !is_civil(days * DAY_US)) return false;
    json_str(json, column_format(arena, column, row));
    return true;
}

static bool write_number(JsonWriter *json, const ColumnVector *column, size_t row, Arena *arena)
{
    json_raw(json, column_format(arena, column, row));
    return true;
}

static bool write_column(JsonWriter *json, const ColumnVector *column, const Values *values,
                         size_t row, bool is_max, Arena *arena)
{
    switch (column->type.kind) {
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
    case TYPE_DECIMAL: return write_number(json, column, row, arena);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return isfinite(column_double(column, row)) && write_number(json, column, row, arena);
    case TYPE_DATE: return write_date(json, column, row, arena);
    case TYPE_TIMESTAMP: return write_time(json, column_i64(column, row), is_max, true, arena);
    case TYPE_TIMESTAMP_NTZ: return write_time(json, column_i64(column, row), is_max, false, arena);
    case TYPE_STRING: json_str(json, duck_vector_str(values->vector, row)); return true;
    case TYPE_BOOLEAN:
    case TYPE_BINARY:
    case TYPE_NESTED: break;
    }
    return false;
}

static void write_struct(JsonWriter *json, const Shape *shape, const Values *values, idx_t row,
                         bool is_max, int depth, Arena *arena);

/* False: nothing was written behind the key, which must go, too. */
static bool write_bound(JsonWriter *json, const Shape *shape, const Values *values, idx_t row,
                        bool is_max, int depth, Arena *arena)
{
    ColumnVector column = {
        .type = shape->column, .data = values->data, .validity = values->validity};

    if (shape->type == DUCKDB_TYPE_TINYINT) {
        json_i64(json, ((const int8_t *)values->data)[row]);
        return true;
    }
    if (shape->is_column) return write_column(json, &column, values, row, is_max, arena);
    if (shape->type != DUCKDB_TYPE_STRUCT || depth >= DEPTH_MAX) return false;
    write_struct(json, shape, values, row, is_max, depth + 1, arena);
    return true;
}

static void write_struct(JsonWriter *json, const Shape *shape, const Values *values, idx_t row,
                         bool is_max, int depth, Arena *arena)
{
    json_object_begin(json);
    for (size_t i = 0; i < shape->child_count; i++) {
        JsonWriter before = *json;
        size_t     len    = json->buf->len;
        if (duck_values_is_null(&values->children[i], row)) continue;
        json_key(json, shape->children[i].name);
        if (write_bound(json, &shape->children[i], &values->children[i], row, is_max, depth, arena))
            continue;
        *json          = before;
        json->buf->len = len;
    }
    json_object_end(json);
}

void duck_write_stats(Buf *text, const Shape *shape, const Values *values, idx_t row)
{
    Arena     *arena = arena_new();
    JsonWriter json  = json_writer(text, false, false);
    size_t     start = text->len;

    json_object_begin(&json);
    for (size_t i = 0; i < shape->child_count; i++) {
        const Shape  *member = &shape->children[i];
        const Values *child  = &values->children[i];
        bool          is_max = str_equal_c(member->name, "maxValues");
        if (duck_values_is_null(child, row)) continue;
        if (member->type == DUCKDB_TYPE_STRUCT) {
            json_key(&json, member->name);
            write_struct(&json, member, child, row, is_max, 0, arena);
        } else if (member->type == DUCKDB_TYPE_BIGINT || member->type == DUCKDB_TYPE_INTEGER ||
                   member->type == DUCKDB_TYPE_BOOLEAN) {
            json_key(&json, member->name);
            duck_write_json(&json, member, child, row);
        }
    }
    json_object_end(&json);
    if (text->len - start <= sizeof "{}" - 1) text->len = start;
    arena_close(arena);
}
