/* The statistics an add carries (delta.md 2.4): what libduckdb says of a file's columns, in the
 * forms that every reader takes. A bound that has no such form is left out, which readers take
 * as unknown. */
#include "delta/delta_internal.h"

#define INDEXED_COLUMNS_DEFAULT 32
#define PREFIX_CHARS_MAX        65536
#define PREFIX_CHARS_DEFAULT    32
#define MS_US                   1000

/* --- which columns --- */

/* A comma list of names, in backquotes where needed. */
static bool list_names_column(Str list, Str name, Arena *arena)
{
    Str part;
    while (str_split_next(&list, ',', &part)) {
        part = str_trim(part);
        if (part.len >= 2 && part.ptr[0] == '`' && part.ptr[part.len - 1] == '`') {
            Buf buf = buf_new(arena, 0);
            for (size_t i = 1; i + 1 < part.len; i++) {
                buf_append_char(&buf, part.ptr[i]);
                if (part.ptr[i] == '`' && i + 2 < part.len && part.ptr[i + 1] == '`') i++;
            }
            part = buf_str(&buf);
        }
        if (str_equal_ignoring_case(part, name)) return true;
    }
    return false;
}

/* Our own columns start with an underscore, and what finds rows again is among them. */
static bool is_own_column(Str name)
{
    return str_starts_with(name, STR("_"));
}

StatsPlan stats_plan_new(const Header *header, const Schema *schema, bool has_clustering,
                         Arena *arena)
{
    int64_t   count    = header_property_i64(header, "delta.dataSkippingNumIndexedCols",
                                             INDEXED_COLUMNS_DEFAULT);
    int64_t   prefix   = header_property_i64(header, "delta.dataSkippingStringPrefixLength",
                                             PREFIX_CHARS_DEFAULT);
    Str       list     = STR_EMPTY;
    bool      has_list = header_find_property(header, STR("delta.dataSkippingStatsColumns"), &list);
    StatsPlan plan     = {
            .is_indexed          = ARENA_ARRAY(arena, bool, schema->column_count + 1),
            .string_prefix_chars = PREFIX_CHARS_DEFAULT,
            .says_tight = str_list_has(&header->protocol.writer_features, STR("deletionVectors"))};

    if (prefix >= 1 && prefix <= PREFIX_CHARS_MAX) plan.string_prefix_chars = (size_t)prefix;

    for (size_t i = 0; i < schema->column_count; i++) {
        Str  name          = schema->columns[i].name;
        bool by_position   = count < 0 || (int64_t)i < count;
        plan.is_indexed[i] = has_clustering ||
                             (has_list ? list_names_column(list, name, arena) : by_position) ||
                             (schema->column_count > INDEXED_COLUMNS_DEFAULT &&
                              is_own_column(name));
    }
    return plan;
}

/* --- one bound --- */

static bool format_time_bound(Str text, bool is_max, bool has_zone, Arena *arena, Str *out)
{
    int64_t us;

    if (has_zone && str_ends_with(text, STR("+00"))) text = str_slice(text, 0, text.len - 3);
    if (!time_parse(text, &us)) return false;
    int64_t rest = us % MS_US;
    if (rest < 0) rest += MS_US;
    us -= rest;
    if (is_max && rest > 0)
        us += MS_US; /* up: not every reader adds the millisecond that was cut off */
    if (civil_from_us(us).year > 9999) return false;
    *out = str_printf(arena, "\"%.*s%s\"", STR_ARG(time_format_ms(arena, us)), has_zone ? "Z" : "");
    return true;
}

static bool format_date_bound(Str text, Arena *arena, Str *out)
{
    int64_t us;
    if (!time_parse(str_printf(arena, "%.*sT00:00:00", STR_ARG(text)), &us)) return false;
    *out = str_printf(arena, "\"%.*s\"", STR_ARG(text));
    return true;
}

static bool format_decimal_bound(ColumnType type, Str text, Arena *arena, Str *out)
{
    Int128 unscaled;
    char   plain[48];

    if (!decimal_parse(text, type.precision, type.scale, &unscaled)) return false;
    size_t len = decimal_format(unscaled, type.scale, plain);
    *out       = str_copy(arena, (Str){plain, len});
    return true;
}

/* Integers and floats are JSON numbers already, or (inf, nan) none. */
static bool format_number_bound(Str text, Arena *arena, Str *out)
{
    JsonText number;
    size_t   bad_at;

    if (!json_text_parse(text, &number, &bad_at) || number.kind != JSON_TEXT_NUMBER) return false;
    *out = str_copy(arena, number.text);
    return true;
}

/* Bytes of the first `count` code points, or the whole text when it is shorter. */
static size_t prefix_bytes(Str text, size_t count)
{
    size_t at = 0;
    while (count-- > 0 && at < text.len)
        (void)utf8_next(text, &at);
    return at;
}

Str stats_string_min(Str text, size_t prefix_chars)
{
    return str_slice(text, 0, prefix_bytes(text, prefix_chars));
}

/* Cuts behind k code points and puts something larger than any that may follow there; k grows
 * where nothing is larger. */
bool stats_string_max(Str text, size_t prefix_chars, Arena *arena, Str *out)
{
    size_t at = prefix_bytes(text, prefix_chars);

    for (size_t k = prefix_chars; k <= 2 * prefix_chars; k++) {
        if (at >= text.len) {
            *out = text;
            return true;
        }
        size_t   cut = at;
        uint32_t c   = utf8_next(text, &at);
        if (c == 0x10FFFF) continue;

        char   tie[4];
        size_t tie_len = utf8_encode(c < 0x7F ? 0x7F : 0x10FFFF, tie);
        *out = str_printf(arena, "%.*s%.*s", STR_ARG(str_slice(text, 0, cut)), (int)tie_len, tie);
        return true;
    }
    return false;
}

static bool format_string_bound(Str text, bool is_max, size_t prefix_chars, Arena *arena, Str *out)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);
    Str        cut;

    if (!utf8_is_valid(text)) return false;
    if (is_max) {
        if (!stats_string_max(text, prefix_chars, arena, &cut)) return false;
    } else {
        cut = stats_string_min(text, prefix_chars);
    }
    json_str(&json, cut);
    *out = buf_str(&buf);
    return true;
}

bool stats_format_bound(ColumnType type, Str text, bool is_max, size_t prefix_chars, Arena *arena,
                        Str *out)
{
    switch (type.kind) {
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
    case TYPE_FLOAT:
    case TYPE_DOUBLE: return format_number_bound(text, arena, out);
    case TYPE_DECIMAL: return format_decimal_bound(type, text, arena, out);
    case TYPE_DATE: return format_date_bound(text, arena, out);
    case TYPE_TIMESTAMP: return format_time_bound(text, is_max, true, arena, out);
    case TYPE_TIMESTAMP_NTZ: return format_time_bound(text, is_max, false, arena, out);
    case TYPE_STRING: return format_string_bound(text, is_max, prefix_chars, arena, out);
    case TYPE_BOOLEAN:
    case TYPE_BINARY:
    case TYPE_NESTED: return false;
    }
    return false;
}

/* --- the document --- */

static void write_bounds(JsonWriter *json, const Schema *schema, const StatsPlan *plan,
                         const DuckFile *file, bool is_max, Arena *arena)
{
    json_key(json, is_max ? STR("maxValues") : STR("minValues"));
    json_object_begin(json);
    for (size_t i = 0; i < schema->column_count && i < file->column_count; i++) {
        const DuckColumnStats *stats = &file->columns[i];
        Str                    bound;
        if (!plan->is_indexed[i] || !stats->has_bounds || stats->null_count >= file->row_count)
            continue;
        if (!stats_format_bound(schema->columns[i].type, is_max ? stats->max : stats->min, is_max,
                                plan->string_prefix_chars, arena, &bound))
            continue;
        json_key(json, schema->columns[i].name);
        json_raw(json, bound);
    }
    json_object_end(json);
}

Str stats_format(const Schema *schema, const StatsPlan *plan, const DuckFile *file, Arena *arena)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);

    json_object_begin(&json);
    json_member_i64(&json, "numRecords", file->row_count);
    write_bounds(&json, schema, plan, file, false, arena);
    write_bounds(&json, schema, plan, file, true, arena);
    json_key(&json, STR("nullCount"));
    json_object_begin(&json);
    for (size_t i = 0; i < schema->column_count && i < file->column_count; i++) {
        if (!plan->is_indexed[i] || file->columns[i].null_count < 0) continue;
        json_key(&json, schema->columns[i].name);
        json_i64(&json, file->columns[i].null_count);
    }
    json_object_end(&json);
    if (plan->says_tight) json_member_bool(&json, "tightBounds", true);
    json_object_end(&json);
    return buf_str(&buf);
}
