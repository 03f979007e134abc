/* tds_token.c - response tokens. */
#include "tds/tds_token.h"

#include "tds/tds_internal.h"

#include <string.h>

#define NO_COLUMNS           0xFFFF
#define COLUMN_IS_EXPRESSION 0x04
#define COLUMN_IS_HIDDEN     0x10
#define MESSAGE_UNITS        4000 /* of a message's text, so that the token's length can say it */

static bool is_lob(uint8_t token)
{
    return token == TDS_TYPE_TEXT || token == TDS_TYPE_NTEXT || token == TDS_TYPE_IMAGE;
}

static void put_user_type(TdsWriter *writer, uint32_t tds_version, uint32_t user_type)
{
    if (tds_version >= TDS_VERSION_72)
        tds_put_u32(writer, user_type);
    else
        tds_put_u16(writer, (uint16_t)user_type);
}

void tds_put_columns(TdsWriter *writer, uint32_t tds_version, const TdsColumn *columns,
                     size_t count)
{
    tds_put_u8(writer, TDS_TOKEN_COLMETADATA);
    tds_put_u16(writer, (uint16_t)count);
    for (size_t i = 0; i < count; i++) {
        put_user_type(writer, tds_version, columns[i].type.user_type);
        tds_put_u16(writer, columns[i].flags);
        tds_put_type(writer, &columns[i].type);
        if (is_lob(columns[i].type.token)) { /* the table's name, which we do not know */
            if (tds_version >= TDS_VERSION_72) tds_put_u8(writer, 1);
            tds_put_us_varchar(writer, STR_EMPTY);
        }
        tds_put_b_varchar(writer, columns[i].name);
    }
}

void tds_put_no_columns(TdsWriter *writer)
{
    tds_put_u8(writer, TDS_TOKEN_COLMETADATA);
    tds_put_u16(writer, NO_COLUMNS);
}

void tds_put_hidden_column(TdsWriter *writer, uint32_t tds_version, size_t count)
{
    bool   has_parts = tds_version >= TDS_VERSION_72;
    size_t described = MIN(count, (size_t)UINT8_MAX);

    tds_put_u8(writer, TDS_TOKEN_TABNAME); /* one table, without a name */
    tds_put_u16(writer, has_parts ? 3 : 2);
    if (has_parts) tds_put_u8(writer, 1);
    tds_put_u16(writer, 0);
    tds_put_u8(writer, TDS_TOKEN_COLINFO);
    tds_put_u16(writer, (uint16_t)(3 * described));
    for (size_t i = 0; i < described; i++) {
        size_t column = i + 1 == described ? count : i + 1;
        tds_put_u8(writer, (uint8_t)column);
        tds_put_u8(writer, 0); /* of no table */
        tds_put_u8(writer, COLUMN_IS_EXPRESSION | (column == count ? COLUMN_IS_HIDDEN : 0));
    }
}

static bool has_null(const TdsValue *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].is_null) return true;
    return false;
}

static void put_null_bits(TdsWriter *writer, const TdsValue *values, size_t count)
{
    size_t   len = (count + 7) / 8;
    uint8_t *at  = tds_room(writer, len);

    memset(at, 0, len);
    for (size_t i = 0; i < count; i++)
        if (values[i].is_null) at[i / 8] |= (uint8_t)(1u << (i % 8));
    writer->at = at + len;
}

void tds_put_row(TdsWriter *writer, uint32_t tds_version, const TdsColumn *columns,
                 const TdsValue *values, size_t count)
{
    if (tds_version < TDS_VERSION_73B || !has_null(values, count)) {
        tds_put_u8(writer, TDS_TOKEN_ROW);
        for (size_t i = 0; i < count; i++)
            tds_put_value(writer, &columns[i].type, &values[i]);
        return;
    }
    tds_put_u8(writer, TDS_TOKEN_NBCROW);
    put_null_bits(writer, values, count);
    for (size_t i = 0; i < count; i++)
        if (!values[i].is_null) tds_put_value(writer, &columns[i].type, &values[i]);
}

static void put_null_flags(TdsWriter *writer, const bool *is_null, size_t count)
{
    size_t   len = (count + 7) / 8;
    uint8_t *at  = tds_room(writer, len);

    memset(at, 0, len);
    for (size_t i = 0; i < count; i++)
        at[i / 8] |= (uint8_t)(is_null[i] << (i % 8));
    writer->at = at + len;
}

void tds_put_encoded_row(TdsWriter *writer, uint32_t tds_version, const TdsColumn *columns,
                         const Bytes *encoded, const bool *is_null, const TdsValue *values,
                         size_t count)
{
    bool omits_nulls = tds_version >= TDS_VERSION_73B && memchr(is_null, 1, count) != NULL;

    tds_put_u8(writer, omits_nulls ? TDS_TOKEN_NBCROW : TDS_TOKEN_ROW);
    if (omits_nulls) put_null_flags(writer, is_null, count);
    for (size_t i = 0; i < count;) {
        if (omits_nulls && is_null[i]) {
            i++;
        } else if (encoded[i].ptr == NULL) {
            tds_put_value(writer, &columns[i].type, &values[i]);
            i++;
        } else {
            Bytes run = encoded[i++];
            while (i < count && encoded[i].ptr == run.ptr + run.len && !(omits_nulls && is_null[i]))
                run.len += encoded[i++].len;
            tds_put_bytes(writer, run.ptr, run.len);
        }
    }
}

void tds_put_done(TdsWriter *writer, uint32_t tds_version, uint8_t token, uint16_t status,
                  uint16_t command, uint64_t row_count)
{
    tds_put_u8(writer, token);
    tds_put_u16(writer, status);
    tds_put_u16(writer, command);
    if (tds_version >= TDS_VERSION_72)
        tds_put_u64(writer, row_count);
    else
        tds_put_u32(writer, (uint32_t)row_count);
}

void tds_put_message(TdsWriter *writer, uint32_t tds_version, bool is_error,
                     const TdsServerMessage *message)
{
    Str    text       = tds_text_cut(message->text, MESSAGE_UNITS);
    Str    server     = tds_text_cut(message->server, UINT8_MAX);
    Str    procedure  = tds_text_cut(message->procedure, UINT8_MAX);
    size_t line_bytes = tds_version >= TDS_VERSION_72 ? 4 : 2;
    size_t units      = tds_text_units(text) + tds_text_units(server) + tds_text_units(procedure);

    tds_put_u8(writer, is_error ? TDS_TOKEN_ERROR : TDS_TOKEN_INFO);
    tds_put_u16(writer, (uint16_t)(4 + 1 + 1 + 2 + 1 + 1 + 2 * units + line_bytes));
    tds_put_u32(writer, (uint32_t)message->number);
    tds_put_u8(writer, message->state);
    tds_put_u8(writer, message->severity);
    tds_put_us_varchar(writer, text);
    tds_put_b_varchar(writer, server);
    tds_put_b_varchar(writer, procedure);
    if (line_bytes == 4)
        tds_put_u32(writer, (uint32_t)message->line);
    else
        tds_put_u16(writer, (uint16_t)message->line);
}

void tds_put_return_status(TdsWriter *writer, int32_t status)
{
    tds_put_u8(writer, TDS_TOKEN_RETURNSTATUS);
    tds_put_u32(writer, (uint32_t)status);
}

void tds_put_return_value(TdsWriter *writer, uint32_t tds_version, uint16_t ordinal, Str name,
                          const TdsType *type, const TdsValue *value)
{
    tds_put_u8(writer, TDS_TOKEN_RETURNVALUE);
    tds_put_u16(writer, ordinal);
    tds_put_b_varchar(writer, name);
    tds_put_u8(writer, 1); /* an output parameter */
    put_user_type(writer, tds_version, type->user_type);
    tds_put_u16(writer, TDS_COLUMN_NULLABLE);
    tds_put_type(writer, type);
    tds_put_value(writer, type, value);
}

void tds_put_env_text(TdsWriter *writer, uint8_t kind, Str new_value, Str old_value)
{
    Str    after = tds_text_cut(new_value, UINT8_MAX), before = tds_text_cut(old_value, UINT8_MAX);
    size_t units = tds_text_units(after) + tds_text_units(before);

    tds_put_u8(writer, TDS_TOKEN_ENVCHANGE);
    tds_put_u16(writer, (uint16_t)(3 + 2 * units));
    tds_put_u8(writer, kind);
    tds_put_b_varchar(writer, after);
    tds_put_b_varchar(writer, before);
}

void tds_put_env_bytes(TdsWriter *writer, uint8_t kind, Bytes new_value, Bytes old_value)
{
    tds_put_u8(writer, TDS_TOKEN_ENVCHANGE);
    tds_put_u16(writer, (uint16_t)(3 + new_value.len + old_value.len));
    tds_put_u8(writer, kind);
    tds_put_u8(writer, (uint8_t)new_value.len);
    tds_put_bytes(writer, new_value.ptr, new_value.len);
    tds_put_u8(writer, (uint8_t)old_value.len);
    tds_put_bytes(writer, old_value.ptr, old_value.len);
}

void tds_put_login_ack(TdsWriter *writer, uint32_t tds_version, Str program, uint8_t major,
                       uint8_t minor, uint16_t build)
{
    tds_put_u8(writer, TDS_TOKEN_LOGINACK);
    tds_put_u16(writer, (uint16_t)(1 + 4 + 1 + 2 * tds_text_units(program) + 4));
    tds_put_u8(writer, 1); /* interface: T-SQL */
    tds_put_u32_be(writer, tds_version);
    tds_put_b_varchar(writer, program);
    tds_put_u8(writer, major);
    tds_put_u8(writer, minor);
    tds_put_u8(writer, (uint8_t)(build >> 8));
    tds_put_u8(writer, (uint8_t)build);
}
