/* load_json.c - the files of a folder to load, and JSON values as SQL values. */
#include "sim/capture/load_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define DECIMAL_PREFIX  "DECIMAL("
#define FILE_BYTES_MOST (1024u * 1024u * 1024u)

bool load_refuse(Load *load, Str file, const char *fmt, ...)
{
    char    what[700];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return sim_error(load->error, 50000, "%.*s/%.*s: %s", STR_ARG(load->folder), STR_ARG(file),
                     what);
}

/* --- files --- */

static bool read_file(Load *load, Str file, bool is_needed, Str *out)
{
    Str   path   = str_printf(load->arena, "%.*s/%.*s", STR_ARG(load->folder), STR_ARG(file));
    FILE *stream = fopen(str_c(load->arena, path), "rb");
    Buf   text   = buf_new(load->arena, FILE_BYTES_MOST);
    char  block[65536];

    *out = (Str){NULL, 0};
    if (stream == NULL) return !is_needed || load_refuse(load, file, "the file cannot be opened");
    for (;;) {
        size_t count = fread(block, 1, sizeof block, stream);
        if (count == 0) break;
        buf_append_bytes(&text, block, count);
    }
    bool ok = ferror(stream) == 0;
    (void)fclose(stream);
    *out = buf_str(&text);
    return ok || load_refuse(load, file, "the file cannot be read");
}

static json_t *keep(Load *load, json_t *document)
{
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers
    if (document != NULL) *LIST_PUSH(load->arena, &load->documents) = document;
    return document;
}

static json_t *parse_text(Load *load, Str file, Str text)
{
    json_error_t reason;
    json_t *document = json_loadb(text.ptr, text.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, &reason);

    if (document == NULL) (void)load_refuse(load, file, "line %d: %s", reason.line, reason.text);
    return document;
}

bool load_document(Load *load, Str file, bool is_needed, json_t **out)
{
    Str text;

    *out = NULL;
    if (!read_file(load, file, is_needed, &text)) return false;
    if (text.ptr == NULL) return true;
    *out = keep(load, parse_text(load, file, text));
    if (*out == NULL) return false;
    return json_is_object(*out) || load_refuse(load, file, "it is no JSON object");
}

bool load_lines(Load *load, Str file, bool is_needed, json_t **out)
{
    Str text, line;

    *out = keep(load, json_array());
    if (!read_file(load, file, is_needed, &text)) return false;
    while (text.ptr != NULL && str_split_next(&text, '\n', &line)) {
        if (str_is_empty(str_trim(line))) continue;
        json_t *value = parse_text(load, file, line);
        if (value == NULL) return false;
        if (json_array_append_new(*out, value) != 0 || !json_is_object(value))
            return load_refuse(load, file, "a line is no JSON object");
    }
    return true;
}

/* --- values --- */

Str load_text(const json_t *value)
{
    if (!json_is_string(value)) return STR_EMPTY;
    return (Str){json_string_value(value), json_string_length(value)};
}

bool load_lsn(Load *load, Str file, const json_t *text, Lsn *out)
{
    if (!lsn_parse(load_text(text), out))
        return load_refuse(load, file, "\"%.*s\" is no LSN", STR_ARG(load_text(text)));
    load->last_lsn = lsn_max(load->last_lsn, *out);
    return true;
}

bool load_time(Load *load, Str file, const json_t *text, int64_t *out)
{
    SimType  type  = sim_type_time(SIM_DATETIME2, 7);
    SimValue given = sim_nvarchar(load->arena, load_text(text)), time;
    SimError bad   = SIM_ERROR_INIT;

    if (!json_is_string(text) || !sim_convert(&given, &type, 126, true, load->arena, &time, &bad))
        return load_refuse(load, file, "\"%.*s\" is no time", STR_ARG(load_text(text)));
    *out = sim_time_to_us(&time);
    return true;
}

bool load_type(Load *load, Str file, Str name, SimType *out)
{
    static const struct {
        const char *name, *type;
    } types[] = {{"BOOLEAN", "bit"},
                 {"TINYINT", "smallint"}, /* -128 to 127 there, 0 to 255 here */
                 {"SMALLINT", "smallint"},
                 {"INT", "int"},
                 {"BIGINT", "bigint"},
                 {"FLOAT", "real"},
                 {"DOUBLE", "float"},
                 {"DATE", "date"},
                 {"TIMESTAMP_NTZ", "datetime2(6)"},
                 {"TIMESTAMP", "datetimeoffset(7)"},
                 {"STRING", "nvarchar(4000)"},
                 {"BINARY", "varbinary(8000)"}};

    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (str_equal_ignoring_case(name, str_from_c(types[i].name)))
            return sim_type_parse(str_from_c(types[i].type), out);
    if (str_starts_with(name, STR(DECIMAL_PREFIX)) && sim_type_parse(name, out)) return true;
    return load_refuse(load, file, "the type %.*s cannot be loaded", STR_ARG(name));
}

/* Text for most types; numbers and truth as JSON has them. */
static bool json_scalar(Load *load, Str file, const json_t *value, const SimType *type,
                        SimValue *out)
{
    Str text = load_text(value);

    switch (json_typeof(value)) {
    case JSON_TRUE: *out = sim_int(1, SIM_BIT); return true;
    case JSON_FALSE: *out = sim_int(0, SIM_BIT); return true;
    case JSON_INTEGER: *out = sim_int(json_integer_value(value), SIM_BIGINT); return true;
    case JSON_REAL: *out = sim_float(json_real_value(value)); return true;
    case JSON_STRING:
        *out = sim_type_is_binary(type->kind) ? sim_varbinary(str_bytes(text))
                                              : sim_nvarchar(load->arena, text);
        return true;
    case JSON_NULL: *out = sim_null(*type); return true;
    case JSON_OBJECT:
    case JSON_ARRAY: break;
    }
    return load_refuse(load, file, "a value is an object or an array");
}

bool load_value(Load *load, Str file, const json_t *value, const SimType *type, SimValue *out)
{
    SimValue given;
    SimError bad = SIM_ERROR_INIT;

    *out = sim_null(*type);
    if (value == NULL || json_is_null(value)) return true;
    if (!json_scalar(load, file, value, type, &given)) return false;
    return sim_convert(&given, type, 0, false, load->arena, out, &bad) ||
           load_refuse(load, file, "a value does not fit its column: %s", bad.message);
}
