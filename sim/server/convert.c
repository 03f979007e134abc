/* convert.c - T-SQL types and values as TDS ones, and parameters back. */
#include "sim/server/server_internal.h"

#include <math.h>
#include <string.h>

#define DAYS_1753   639905 /* from 0001-01-01 */
#define DAYS_1900   693595
#define DAYS_9999   3652058 /* to 9999-12-31 */
#define TICKS_A_DAY INT64_C(864000000000)
#define OFFSET_MOST INT64_C(840) /* minutes */
#define DECIMAL_BYTES(precision) \
    ((precision) <= 9 ? 5 : (precision) <= 19 ? 9 : (precision) <= 28 ? 13 : 17)
#define LOB_LENGTH      0x7FFFFFFF
#define VARIANT_LENGTH  8009
#define LENGTH_MOST     8000
#define TIME_TEXT_BYTES 80

/* --- types out --- */

static TdsType plain_type(uint8_t token, int32_t length)
{
    return (TdsType){.token = token, .length = length};
}

static TdsType text_type(uint8_t token, int32_t length, const SimCollation *collation)
{
    TdsType type = {.token = token, .length = length};

    sim_collation_wire(collation ? collation : sim_collation_default(), type.collation);
    return type;
}

/* Columns of a UTF-8 collation are nvarchar to a client that does not know such a thing. */
static bool widens(const SimType *type, const TdsClient *client)
{
    return !client->knows_utf8 && (type->kind == SIM_CHAR || type->kind == SIM_VARCHAR) &&
           type->collation && sim_collation_is_utf8(type->collation);
}

/* Clients before 7.2 have no (max) types. */
static TdsType lob_type(uint8_t token, uint8_t old_token, const SimType *type, int32_t length,
                        const TdsClient *client)
{
    if (length < 0 && client->tds_version < TDS_VERSION_72)
        return text_type(old_token, LOB_LENGTH, type->collation);
    return text_type(token, length, type->collation);
}

static TdsType varchar_type(const SimType *type, const TdsClient *client)
{
    if (!widens(type, client))
        return lob_type(type->kind == SIM_CHAR ? TDS_TYPE_BIGCHAR : TDS_TYPE_BIGVARCHAR,
                        TDS_TYPE_TEXT, type, type->length, client);
    return lob_type(TDS_TYPE_NVARCHAR, TDS_TYPE_NTEXT, type,
                    type->length > LENGTH_MOST / 2 ? -1 : type->length * 2, client);
}

/* Clients before 7.3 have neither date nor time types: they get their text, as from SQL Server. */
static TdsType time_type(uint8_t token, const SimType *type, const TdsClient *client)
{
    if (client->tds_version < TDS_VERSION_73A)
        return text_type(TDS_TYPE_NVARCHAR, TIME_TEXT_BYTES, NULL);
    return (TdsType){
        .token = token, .length = token == TDS_TYPE_DATEN ? 3 : 0, .scale = type->scale};
}

TdsType tds_type_of_sim(const SimType *type, const TdsClient *client)
{
    switch (type->kind) {
    case SIM_BIT: return plain_type(TDS_TYPE_BITN, 1);
    case SIM_TINYINT: return plain_type(TDS_TYPE_INTN, 1);
    case SIM_SMALLINT: return plain_type(TDS_TYPE_INTN, 2);
    case SIM_INT: return plain_type(TDS_TYPE_INTN, 4);
    case SIM_BIGINT: return plain_type(TDS_TYPE_INTN, 8);
    case SIM_REAL: return plain_type(TDS_TYPE_FLTN, 4);
    case SIM_FLOAT: return plain_type(TDS_TYPE_FLTN, 8);
    case SIM_DECIMAL:
        return (TdsType){.token     = type->is_numeric ? TDS_TYPE_NUMERICN : TDS_TYPE_DECIMALN,
                         .length    = DECIMAL_BYTES(type->precision),
                         .precision = type->precision,
                         .scale     = type->scale};
    case SIM_MONEY: return plain_type(TDS_TYPE_MONEYN, 8);
    case SIM_SMALLMONEY: return plain_type(TDS_TYPE_MONEYN, 4);
    case SIM_DATE: return time_type(TDS_TYPE_DATEN, type, client);
    case SIM_TIME: return time_type(TDS_TYPE_TIMEN, type, client);
    case SIM_DATETIME2: return time_type(TDS_TYPE_DATETIME2N, type, client);
    case SIM_DATETIMEOFFSET: return time_type(TDS_TYPE_DATETIMEOFFSETN, type, client);
    case SIM_DATETIME: return plain_type(TDS_TYPE_DATETIMEN, 8);
    case SIM_SMALLDATETIME: return plain_type(TDS_TYPE_DATETIMEN, 4);
    case SIM_CHAR:
    case SIM_VARCHAR: return varchar_type(type, client);
    case SIM_NCHAR: return text_type(TDS_TYPE_NCHAR, type->length, type->collation);
    case SIM_NVARCHAR:
        return lob_type(TDS_TYPE_NVARCHAR, TDS_TYPE_NTEXT, type, type->length, client);
    case SIM_BINARY: return plain_type(TDS_TYPE_BIGBINARY, type->length);
    case SIM_VARBINARY:
        return lob_type(TDS_TYPE_BIGVARBINARY, TDS_TYPE_IMAGE, type, type->length, client);
    case SIM_ROWVERSION:
        return (TdsType){.token = TDS_TYPE_BIGBINARY, .length = 8, .user_type = 80};
    case SIM_UNIQUEIDENTIFIER: return plain_type(TDS_TYPE_GUID, 16);
    case SIM_TEXT: return text_type(TDS_TYPE_TEXT, LOB_LENGTH, type->collation);
    case SIM_NTEXT: return text_type(TDS_TYPE_NTEXT, LOB_LENGTH, type->collation);
    case SIM_IMAGE: return plain_type(TDS_TYPE_IMAGE, LOB_LENGTH);
    case SIM_XML: return lob_type(TDS_TYPE_XML, TDS_TYPE_NTEXT, type, -1, client);
    case SIM_VARIANT: return plain_type(TDS_TYPE_VARIANT, VARIANT_LENGTH);
    }
    return plain_type(TDS_TYPE_INTN, 4);
}

/* --- values out --- */

static TdsValue as_text(const SimValue *value, Arena *arena)
{
    return (TdsValue){.bytes = sim_text_from_utf8(arena, sim_collation_default(), true,
                                                  sim_value_text(arena, value))};
}

static bool is_wide(uint8_t token)
{
    return token == TDS_TYPE_NVARCHAR || token == TDS_TYPE_NTEXT;
}

static Bytes text_of(const SimValue *value, const SimType *column, const TdsType *wire,
                     Arena *arena)
{
    if (!is_wide(wire->token)) return value->bytes;
    return sim_text_recode(arena, column->collation, false, column->collation, true, value->bytes);
}

static TdsValue variant_of(const SimValue *value, Arena *arena)
{
    static const TdsClient newest  = {.tds_version = TDS_VERSION_74, .knows_utf8 = true};
    TdsVariant            *variant = ARENA_NEW(arena, TdsVariant);

    variant->type  = tds_type_of_sim(&value->type, &newest);
    variant->value = tds_value_of_sim(value, &value->type, &variant->type, arena);
    if (sim_type_is_text(value->type.kind) || sim_type_is_binary(value->type.kind)) {
        variant->value.bytes.len = MIN(variant->value.bytes.len, (size_t)LENGTH_MOST);
        variant->type.length     = MAX(variant->type.length, (int32_t)variant->value.bytes.len);
    }
    return (TdsValue){.variant = variant};
}

TdsValue tds_value_of_sim(const SimValue *value, const SimType *column, const TdsType *wire,
                          Arena *arena)
{
    TdsValue out = {.is_null = value->is_null};

    if (value->is_null) return out;
    switch (column->kind) {
    case SIM_BIT:
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT:
    case SIM_MONEY:
    case SIM_SMALLMONEY: out.i64 = value->i64; return out;
    case SIM_REAL:
    case SIM_FLOAT: out.f64 = value->f64; return out;
    case SIM_DECIMAL: out.dec = value->dec; return out;
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET:
        if (wire->token == TDS_TYPE_NVARCHAR) return as_text(value, arena);
        out.time.days           = value->time.days;
        out.time.ticks          = value->time.ticks;
        out.time.offset_minutes = value->time.offset_minutes;
        return out;
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
        out.time.days  = value->time.days - DAYS_1900;
        out.time.ticks = value->time.ticks;
        return out;
    case SIM_VARIANT: return variant_of(value, arena);
    case SIM_CHAR:
    case SIM_VARCHAR: out.bytes = text_of(value, column, wire, arena); return out;
    case SIM_NCHAR:
    case SIM_NVARCHAR:
    case SIM_BINARY:
    case SIM_VARBINARY:
    case SIM_ROWVERSION:
    case SIM_UNIQUEIDENTIFIER:
    case SIM_TEXT:
    case SIM_NTEXT:
    case SIM_IMAGE:
    case SIM_XML: out.bytes = value->bytes; return out;
    }
    return out;
}

/* --- parameters --- */

static SimType integer_type(int32_t length)
{
    return sim_type(length == 1   ? SIM_TINYINT
                    : length == 2 ? SIM_SMALLINT
                    : length == 4 ? SIM_INT
                                  : SIM_BIGINT);
}

/* A length of 0, which clients send for empty text and NULL, is no length of a T-SQL type. */
static SimType sized_type(SimTypeKind kind, const TdsType *type)
{
    int32_t least = sim_type_is_unicode(kind) ? 2 : 1;
    SimType sized = sim_type(kind);

    sized.length = type->length < 0 || type->length > LENGTH_MOST ? -1 : MAX(type->length, least);
    if (sim_type_is_text(kind)) sized.collation = sim_collation_of_wire(type->collation);
    return sized;
}

SimType sim_type_of_tds(const TdsType *type)
{
    switch (type->token) {
    case TDS_TYPE_NULL: return sim_type(SIM_INT); /* as an untyped NULL is */
    case TDS_TYPE_INTN: return integer_type(type->length);
    case TDS_TYPE_BITN: return sim_type(SIM_BIT);
    case TDS_TYPE_FLTN: return sim_type(type->length == 4 ? SIM_REAL : SIM_FLOAT);
    case TDS_TYPE_MONEYN: return sim_type(type->length == 4 ? SIM_SMALLMONEY : SIM_MONEY);
    case TDS_TYPE_DATETIMEN: return sim_type(type->length == 4 ? SIM_SMALLDATETIME : SIM_DATETIME);
    case TDS_TYPE_DATEN: return sim_type(SIM_DATE);
    case TDS_TYPE_TIMEN: return sim_type_time(SIM_TIME, type->scale);
    case TDS_TYPE_DATETIME2N: return sim_type_time(SIM_DATETIME2, type->scale);
    case TDS_TYPE_DATETIMEOFFSETN: return sim_type_time(SIM_DATETIMEOFFSET, type->scale);
    case TDS_TYPE_DECIMALN: return sim_type_decimal(type->precision, type->scale);
    case TDS_TYPE_NUMERICN: return sim_type_numeric(type->precision, type->scale);
    case TDS_TYPE_GUID: return sim_type(SIM_UNIQUEIDENTIFIER);
    case TDS_TYPE_BIGCHAR: return sized_type(SIM_CHAR, type);
    case TDS_TYPE_NCHAR: return sized_type(SIM_NCHAR, type);
    case TDS_TYPE_BIGBINARY: return sized_type(SIM_BINARY, type);
    case TDS_TYPE_BIGVARCHAR:
    case TDS_TYPE_TEXT: return sized_type(SIM_VARCHAR, type);
    case TDS_TYPE_NVARCHAR:
    case TDS_TYPE_NTEXT:
    case TDS_TYPE_XML: return sized_type(SIM_NVARCHAR, type);
    case TDS_TYPE_BIGVARBINARY:
    case TDS_TYPE_IMAGE: return sized_type(SIM_VARBINARY, type);
    default: break;
    }
    return sim_type(SIM_VARIANT);
}

static bool is_within(int64_t value, int64_t from, int64_t to)
{
    return value >= from && value <= to;
}

/* Days and ticks as the client sent them become those of a SimValue. */
static bool set_time(const TdsValue *value, SimValue *out)
{
    int64_t days_from = 0, days_to = DAYS_9999, ticks_to = TICKS_A_DAY - 1;
    int32_t shift = 0;

    switch (out->type.kind) {
    case SIM_DATETIME:
        days_from = DAYS_1753;
        ticks_to  = 25920000 - 1;
        shift     = DAYS_1900;
        break;
    case SIM_SMALLDATETIME:
        days_from = DAYS_1900;
        ticks_to  = 1440 - 1;
        shift     = DAYS_1900;
        break;
    default: break;
    }
    if (!is_within((int64_t)value->time.days + shift, days_from, days_to)) return false;
    out->time.days           = value->time.days + shift;
    out->time.ticks          = value->time.ticks;
    out->time.offset_minutes = value->time.offset_minutes;
    return is_within(value->time.ticks, 0, ticks_to) &&
           is_within(value->time.offset_minutes, -OFFSET_MOST, OFFSET_MOST);
}

static bool set_decimal(const TdsValue *value, SimValue *out)
{
    Int128 magnitude = value->dec.upper < 0 ? int128_negate(value->dec) : value->dec;
    char   digits[48];
    size_t len = decimal_format(magnitude, 0, digits);

    out->dec = value->dec;
    return len <= out->type.precision;
}

/* Fixed-length types are as long as they say. */
static Bytes padded(Bytes bytes, const SimType *type, Arena *arena)
{
    size_t   length = (size_t)type->length;
    uint8_t *full;
    uint8_t  blank = type->kind == SIM_BINARY ? 0 : ' ';

    if (bytes.len >= length) return bytes;
    full = arena_alloc(arena, length);
    if (bytes.len) memcpy(full, bytes.ptr, bytes.len);
    for (size_t i = bytes.len; i < length; i++)
        full[i] = type->kind == SIM_NCHAR && i % 2 == 1 ? 0 : blank;
    return (Bytes){full, length};
}

static bool is_padded(const SimType *type)
{
    return type->length > 0 &&
           (type->kind == SIM_CHAR || type->kind == SIM_NCHAR || type->kind == SIM_BINARY);
}

bool sim_value_of_tds(const TdsType *type, const TdsValue *value, Arena *arena, SimValue *out)
{
    SimType as = sim_type_of_tds(type);

    return sim_typed_value_of_tds(type, &as, value, arena, out);
}

bool sim_typed_value_of_tds(const TdsType *type, const SimType *sim_type, const TdsValue *value,
                            Arena *arena, SimValue *out)
{
    if (type->token == TDS_TYPE_VARIANT && !value->is_null)
        return sim_value_of_tds(&value->variant->type, &value->variant->value, arena, out);
    *out = (SimValue){.type = *sim_type, .is_null = value->is_null};
    if (value->is_null) return true;
    if (sim_type_is_time(out->type.kind)) return set_time(value, out);
    if (out->type.kind == SIM_DECIMAL) return set_decimal(value, out);
    if (out->type.kind == SIM_REAL || out->type.kind == SIM_FLOAT) {
        out->f64 = value->f64;
        return isfinite(value->f64);
    }
    if (sim_type_is_number(out->type.kind) || out->type.kind == SIM_BIT)
        out->i64 = value->i64;
    else
        out->bytes = is_padded(&out->type) ? padded(value->bytes, &out->type, arena) : value->bytes;
    return true;
}
