/* server_convert.c - T-SQL types and values as TDS ones, and parameters back. */
#include "sim/server_internal.h"

#include <string.h>

#define DAYS_1900 693595 /* from 0001-01-01 to 1900-01-01 */
#define DECIMAL_BYTES(precision) \
    ((precision) <= 9 ? 5 : (precision) <= 19 ? 9 : (precision) <= 28 ? 13 : 17)
#define LOB_LENGTH         0x7FFFFFFF
#define VARIANT_TEXT_BYTES 8000
#define TIME_TEXT_BYTES    80

static TdsType text_type(uint8_t token, int32_t length, const SimCollation *collation)
{
    TdsType type = {.token = token, .length = length};

    sim_collation_wire(collation ? collation : sim_collation_default(), type.collation);
    return type;
}

/* Clients before 7.2 have no (max) types, clients before 7.3 no date and time types: they get what SQL Server gives them. */
static TdsType lob_or(uint8_t token, uint8_t old_token, const SimType *type, uint32_t tds_version,
                      bool is_text)
{
    int32_t length = type->length;

    if (length < 0 && tds_version < TDS_VERSION_72) {
        token  = old_token;
        length = LOB_LENGTH;
    }
    return is_text ? text_type(token, length, type->collation)
                   : (TdsType){.token = token, .length = length};
}

static TdsType time_type(uint8_t token, const SimType *type, uint32_t tds_version)
{
    if (tds_version < TDS_VERSION_73A) return text_type(TDS_TYPE_NVARCHAR, TIME_TEXT_BYTES, NULL);
    return (TdsType){
        .token = token, .length = token == TDS_TYPE_DATEN ? 3 : 0, .scale = type->scale};
}

TdsType tds_type_of_sim(const SimType *type, uint32_t tds_version)
{
    switch (type->kind) {
    case SIM_BIT: return (TdsType){.token = TDS_TYPE_BITN, .length = 1};
    case SIM_TINYINT: return (TdsType){.token = TDS_TYPE_INTN, .length = 1};
    case SIM_SMALLINT: return (TdsType){.token = TDS_TYPE_INTN, .length = 2};
    case SIM_INT: return (TdsType){.token = TDS_TYPE_INTN, .length = 4};
    case SIM_BIGINT: return (TdsType){.token = TDS_TYPE_INTN, .length = 8};
    case SIM_REAL: return (TdsType){.token = TDS_TYPE_FLTN, .length = 4};
    case SIM_FLOAT: return (TdsType){.token = TDS_TYPE_FLTN, .length = 8};
    case SIM_DECIMAL:
        return (TdsType){.token     = TDS_TYPE_NUMERICN,
                         .length    = DECIMAL_BYTES(type->precision),
                         .precision = type->precision,
                         .scale     = type->scale};
    case SIM_MONEY: return (TdsType){.token = TDS_TYPE_MONEYN, .length = 8};
    case SIM_SMALLMONEY: return (TdsType){.token = TDS_TYPE_MONEYN, .length = 4};
    case SIM_DATE: return time_type(TDS_TYPE_DATEN, type, tds_version);
    case SIM_TIME: return time_type(TDS_TYPE_TIMEN, type, tds_version);
    case SIM_DATETIME2: return time_type(TDS_TYPE_DATETIME2N, type, tds_version);
    case SIM_DATETIMEOFFSET: return time_type(TDS_TYPE_DATETIMEOFFSETN, type, tds_version);
    case SIM_DATETIME: return (TdsType){.token = TDS_TYPE_DATETIMEN, .length = 8};
    case SIM_SMALLDATETIME: return (TdsType){.token = TDS_TYPE_DATETIMEN, .length = 4};
    case SIM_CHAR: return text_type(TDS_TYPE_BIGCHAR, type->length, type->collation);
    case SIM_NCHAR: return text_type(TDS_TYPE_NCHAR, type->length, type->collation);
    case SIM_VARCHAR: return lob_or(TDS_TYPE_BIGVARCHAR, TDS_TYPE_TEXT, type, tds_version, true);
    case SIM_NVARCHAR: return lob_or(TDS_TYPE_NVARCHAR, TDS_TYPE_NTEXT, type, tds_version, true);
    case SIM_BINARY: return (TdsType){.token = TDS_TYPE_BIGBINARY, .length = type->length};
    case SIM_VARBINARY:
        return lob_or(TDS_TYPE_BIGVARBINARY, TDS_TYPE_IMAGE, type, tds_version, false);
    case SIM_ROWVERSION:
        return (TdsType){.token = TDS_TYPE_BIGBINARY, .length = 8, .user_type = 80};
    case SIM_UNIQUEIDENTIFIER: return (TdsType){.token = TDS_TYPE_GUID, .length = 16};
    case SIM_TEXT: return text_type(TDS_TYPE_TEXT, LOB_LENGTH, type->collation);
    case SIM_NTEXT: return text_type(TDS_TYPE_NTEXT, LOB_LENGTH, type->collation);
    case SIM_IMAGE: return (TdsType){.token = TDS_TYPE_IMAGE, .length = LOB_LENGTH};
    case SIM_XML: return (TdsType){.token = TDS_TYPE_XML, .length = -1};
    case SIM_VARIANT:
        return text_type(TDS_TYPE_NVARCHAR, VARIANT_TEXT_BYTES,
                         NULL); /* as its text, until variants travel */
    }
    return (TdsType){.token = TDS_TYPE_INTN, .length = 4};
}

static TdsValue as_text(const SimValue *value, Arena *arena)
{
    return (TdsValue){.bytes = sim_text_from_utf8(arena, sim_collation_default(), true,
                                                  sim_value_text(arena, value))};
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
    case SIM_VARIANT: return as_text(value, arena);
    case SIM_CHAR:
    case SIM_VARCHAR:
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

static SimType text_parameter(SimTypeKind kind, int32_t length)
{
    SimType type = sim_type(kind);

    type.length = length;
    type.collation =
        sim_collation_default(); /* clients send the login's collation, or five zero bytes */
    return type;
}

static bool integer_type(int32_t length, SimType *out)
{
    switch (length) {
    case 1: *out = sim_type(SIM_TINYINT); return true;
    case 2: *out = sim_type(SIM_SMALLINT); return true;
    case 4: *out = sim_type(SIM_INT); return true;
    case 8: *out = sim_type(SIM_BIGINT); return true;
    default: return false;
    }
}

static bool sim_type_of_tds(const TdsType *type, SimType *out)
{
    int32_t length = type->length < 0 && type->token < TDS_TYPE_BIGVARBINARY ? -type->length
                                                                             : type->length;

    switch (type->token) {
    case TDS_TYPE_INTN: return integer_type(length, out);
    case TDS_TYPE_BITN: *out = sim_type(SIM_BIT); return true;
    case TDS_TYPE_FLTN: *out = sim_type(length == 4 ? SIM_REAL : SIM_FLOAT); return true;
    case TDS_TYPE_MONEYN: *out = sim_type(length == 4 ? SIM_SMALLMONEY : SIM_MONEY); return true;
    case TDS_TYPE_DATETIMEN:
        *out = sim_type(length == 4 ? SIM_SMALLDATETIME : SIM_DATETIME);
        return true;
    case TDS_TYPE_DATEN: *out = sim_type(SIM_DATE); return true;
    case TDS_TYPE_TIMEN: *out = sim_type(SIM_TIME); break;
    case TDS_TYPE_DATETIME2N: *out = sim_type(SIM_DATETIME2); break;
    case TDS_TYPE_DATETIMEOFFSETN: *out = sim_type(SIM_DATETIMEOFFSET); break;
    case TDS_TYPE_DECIMALN:
    case TDS_TYPE_NUMERICN:
        *out           = sim_type(SIM_DECIMAL);
        out->precision = type->precision;
        break;
    case TDS_TYPE_GUID: *out = sim_type(SIM_UNIQUEIDENTIFIER); return true;
    case TDS_TYPE_BIGCHAR: *out = text_parameter(SIM_CHAR, length); return true;
    case TDS_TYPE_BIGVARCHAR: *out = text_parameter(SIM_VARCHAR, length); return true;
    case TDS_TYPE_NCHAR: *out = text_parameter(SIM_NCHAR, length); return true;
    case TDS_TYPE_NVARCHAR: *out = text_parameter(SIM_NVARCHAR, length); return true;
    case TDS_TYPE_TEXT: *out = text_parameter(SIM_VARCHAR, -1); return true;
    case TDS_TYPE_NTEXT: *out = text_parameter(SIM_NVARCHAR, -1); return true;
    case TDS_TYPE_XML: *out = text_parameter(SIM_NVARCHAR, -1); return true;
    case TDS_TYPE_BIGBINARY:
        *out        = sim_type(SIM_BINARY);
        out->length = length;
        return true;
    case TDS_TYPE_BIGVARBINARY:
        *out        = sim_type(SIM_VARBINARY);
        out->length = length;
        return true;
    case TDS_TYPE_IMAGE:
        *out        = sim_type(SIM_VARBINARY);
        out->length = -1;
        return true;
    default: return false;
    }
    out->scale = type->scale;
    return true;
}

bool sim_value_of_tds(const TdsType *type, const TdsValue *value, Arena *arena, SimValue *out)
{
    (void)arena;
    *out = (SimValue){.is_null = value->is_null};
    if (!sim_type_of_tds(type, &out->type)) return false;
    if (value->is_null) return true;
    if (sim_type_is_time(out->type.kind)) {
        bool is_old     = out->type.kind == SIM_DATETIME || out->type.kind == SIM_SMALLDATETIME;
        out->time.days  = value->time.days + (is_old ? DAYS_1900 : 0);
        out->time.ticks = value->time.ticks;
        out->time.offset_minutes = value->time.offset_minutes;
    } else if (out->type.kind == SIM_REAL || out->type.kind == SIM_FLOAT) {
        out->f64 = value->f64;
    } else if (out->type.kind == SIM_DECIMAL) {
        out->dec = value->dec;
    } else if (sim_type_is_number(out->type.kind) || out->type.kind == SIM_BIT) {
        out->i64 = value->i64;
    } else {
        out->bytes = value->bytes;
    }
    return true;
}
