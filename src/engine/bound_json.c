/* bound_json.c - numbers keep their text, so that no bound passes through a double. */
#include "engine/bound_json.h"

#include "base/json.h"
#include "delta/json_text.h"

typedef enum BoundForm { BOUND_TEXT, BOUND_NUMBER, BOUND_BOOL } BoundForm;

static BoundForm form_of(SqlTypeKind type)
{
    switch (type) {
    case SQL_TYPE_TINYINT:
    case SQL_TYPE_SMALLINT:
    case SQL_TYPE_INT:
    case SQL_TYPE_BIGINT:
    case SQL_TYPE_REAL:
    case SQL_TYPE_FLOAT: return BOUND_NUMBER;
    case SQL_TYPE_BIT: return BOUND_BOOL;
    case SQL_TYPE_DECIMAL:
    case SQL_TYPE_MONEY:
    case SQL_TYPE_SMALLMONEY:
    case SQL_TYPE_DATE:
    case SQL_TYPE_TIME:
    case SQL_TYPE_DATETIME:
    case SQL_TYPE_SMALLDATETIME:
    case SQL_TYPE_DATETIME2:
    case SQL_TYPE_DATETIMEOFFSET:
    case SQL_TYPE_CHAR:
    case SQL_TYPE_VARCHAR:
    case SQL_TYPE_NCHAR:
    case SQL_TYPE_NVARCHAR:
    case SQL_TYPE_TEXT:
    case SQL_TYPE_NTEXT:
    case SQL_TYPE_XML:
    case SQL_TYPE_BINARY:
    case SQL_TYPE_VARBINARY:
    case SQL_TYPE_IMAGE:
    case SQL_TYPE_ROWVERSION:
    case SQL_TYPE_UNIQUEIDENTIFIER:
    case SQL_TYPE_OTHER: return BOUND_TEXT;
    }
    return BOUND_TEXT;
}

static void write_part(JsonWriter *json, SqlTypeKind type, const KeyPart *part)
{
    if (part->is_null) {
        json_null_value(json);
        return;
    }
    switch (form_of(type)) {
    case BOUND_NUMBER: json_raw(json, part->text); break;
    case BOUND_BOOL: json_bool(json, str_equal_c(part->text, "1")); break;
    case BOUND_TEXT: json_str(json, part->text); break;
    }
}

Str bound_to_json(Arena *arena, const TableCut *cut, const KeyPart *parts)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, true, true);

    if (!parts) return STR("null");
    if (cut->column_count == 1) {
        write_part(&json, cut_column_type(cut, 0), &parts[0]);
        return buf_str(&buf);
    }
    json_array_begin(&json);
    for (size_t i = 0; i < cut->column_count; i++)
        write_part(&json, cut_column_type(cut, i), &parts[i]);
    json_array_end(&json);
    return buf_str(&buf);
}

/* What JSON has for the column decides; a number where text is wanted, or the reverse, is another table's. */
static bool read_part(Arena *arena, SqlTypeKind type, JsonText value, KeyPart *out)
{
    BoundForm form = form_of(type);

    *out = (KeyPart){.is_null = value.kind == JSON_TEXT_NULL};
    switch (value.kind) {
    case JSON_TEXT_NULL: return true;
    case JSON_TEXT_NUMBER: out->text = str_copy(arena, value.text); return form == BOUND_NUMBER;
    case JSON_TEXT_BOOL:
        out->text = str_equal_c(value.text, "true") ? STR("1") : STR("0");
        return form == BOUND_BOOL;
    case JSON_TEXT_STRING:
        out->text = str_copy(arena, json_text_str(value, arena));
        return form == BOUND_TEXT;
    case JSON_TEXT_NONE:
    case JSON_TEXT_ARRAY:
    case JSON_TEXT_OBJECT: return false;
    }
    return false;
}

static Str names_of(Arena *arena, const TableCut *cut)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < cut->column_count; i++)
        buf_printf(&buf, "%s%.*s", i ? ", " : "", STR_ARG(cut->names[i]));
    return buf_str(&buf);
}

bool bound_from_json(Arena *arena, const TableCut *cut, Str json, const KeyPart **out, Err *err)
{
    KeyPart *parts = ARENA_ARRAY(arena, KeyPart, cut->column_count + 1);
    JsonText value, item;
    size_t   bad_at, n = 0;
    bool     ok = json_text_parse(json, &value, &bad_at);

    *out = NULL;
    if (ok && value.kind == JSON_TEXT_NULL) return true;
    if (ok && value.kind == JSON_TEXT_ARRAY && cut->column_count > 1) {
        for (size_t at = 0; ok && json_text_next_item(value, &at, &item); n++)
            ok = n < cut->column_count &&
                 read_part(arena, cut_column_type(cut, n), item, &parts[n]);
    } else if (ok && cut->column_count == 1) {
        ok = read_part(arena, cut_column_type(cut, 0), value, &parts[0]);
        n  = 1;
    }
    /* the value itself is the source's, and stays out of messages */
    if (!ok || n != cut->column_count)
        return err_set(err, ERR_SCHEMA_CHANGED,
                       "a bound of the snapshot's plan does not fit the columns it was cut on "
                       "(%.*s); was the type of one changed? Change it back, or begin anew with a "
                       "new bronze table, app_id and checkpoint",
                       STR_ARG(names_of(arena, cut)));
    *out = parts;
    return true;
}
