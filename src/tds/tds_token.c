/* tds_token.c - response tokens. */
#include "tds/tds_token.h"

#include <string.h>

#define MOST_COLUMNS 4096

/* A token whose length stands in front of its content is built aside first. Units of UTF-16. */
static size_t units_of(Str text)
{
    size_t units = 0;

    for (size_t at = 0; at < text.len;)
        units += utf8_next(text, &at) > 0xFFFF ? 2 : 1;
    return units;
}

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

static bool has_null(const TdsValue *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].is_null) return true;
    return false;
}

void tds_put_row(TdsWriter *writer, uint32_t tds_version, const TdsColumn *columns,
                 const TdsValue *values, size_t count)
{
    bool nbc = tds_version >= TDS_VERSION_73B && has_null(values, count);

    tds_put_u8(writer, nbc ? TDS_TOKEN_NBCROW : TDS_TOKEN_ROW);
    if (nbc) {
        uint8_t bits[MOST_COLUMNS / 8] = {0};
        for (size_t i = 0; i < count; i++)
            if (values[i].is_null) bits[i / 8] |= (uint8_t)(1u << (i % 8));
        tds_put_bytes(writer, bits, (count + 7) / 8);
    }
    for (size_t i = 0; i < count; i++)
        if (!nbc || !values[i].is_null) tds_put_value(writer, &columns[i].type, &values[i]);
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
    Str    text       = message->text;
    size_t line_bytes = tds_version >= TDS_VERSION_72 ? 4 : 2;
    size_t length     = 4 + 1 + 1 + 2 + 2 * units_of(text) + 1 + 2 * units_of(message->server) + 1 +
                    2 * units_of(message->procedure) + line_bytes;

    tds_put_u8(writer, is_error ? TDS_TOKEN_ERROR : TDS_TOKEN_INFO);
    tds_put_u16(writer, (uint16_t)length);
    tds_put_u32(writer, (uint32_t)message->number);
    tds_put_u8(writer, message->state);
    tds_put_u8(writer, message->severity);
    tds_put_us_varchar(writer, text);
    tds_put_b_varchar(writer, message->server);
    tds_put_b_varchar(writer, message->procedure);
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
    tds_put_u8(writer, TDS_TOKEN_ENVCHANGE);
    tds_put_u16(writer, (uint16_t)(3 + 2 * (units_of(new_value) + units_of(old_value))));
    tds_put_u8(writer, kind);
    tds_put_b_varchar(writer, new_value);
    tds_put_b_varchar(writer, old_value);
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
    tds_put_u16(writer, (uint16_t)(1 + 4 + 1 + 2 * units_of(program) + 4));
    tds_put_u8(writer, 1); /* interface: T-SQL */
    tds_put_u32_be(writer, tds_version);
    tds_put_b_varchar(writer, program);
    tds_put_u8(writer, major);
    tds_put_u8(writer, minor);
    tds_put_u8(writer, (uint8_t)(build >> 8));
    tds_put_u8(writer, (uint8_t)build);
}
