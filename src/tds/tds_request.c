/* tds_request.c - requests. */
#include "tds/tds_request.h"

#define HEADER_TRANSACTION 2
#define PARAMETERS_MOST    2100 /* SQL Server's own limit */
#define NAME_IS_ID         0xFFFF
#define STATUS_OUTPUT      1
#define STATUS_DEFAULT     2

bool tds_get_headers(TdsCursor *cursor, uint32_t tds_version, uint64_t *transaction_out)
{
    TdsCursor headers;
    uint32_t  total;

    *transaction_out = 0;
    if (tds_version < TDS_VERSION_72) return true;
    total = tds_get_u32(cursor);
    if (cursor->failed || total < 4) return false;
    headers = tds_cursor(tds_get_bytes(cursor, total - 4));
    while (!cursor->failed && tds_left(&headers) > 0) {
        uint32_t  len  = tds_get_u32(&headers);
        uint16_t  type = tds_get_u16(&headers);
        TdsCursor data;

        if (headers.failed || len < 6) return false;
        data = tds_cursor(tds_get_bytes(&headers, len - 6));
        if (headers.failed) return false;
        if (type == HEADER_TRANSACTION) *transaction_out = tds_get_u64(&data);
    }
    return !cursor->failed;
}

void tds_put_headers(TdsWriter *writer, uint32_t tds_version, uint64_t transaction)
{
    if (tds_version < TDS_VERSION_72) return;
    tds_put_u32(writer, 22); /* all of it */
    tds_put_u32(writer, 18); /* the one header */
    tds_put_u16(writer, HEADER_TRANSACTION);
    tds_put_u64(writer, transaction);
    tds_put_u32(writer, 1); /* outstanding requests */
}

/* Between two calls of a message. */
static uint8_t separator(uint32_t tds_version)
{
    return tds_version >= TDS_VERSION_72 ? 0xFF : 0x80;
}

/* Their descriptions are long, and nothing behind them is used. */
static bool is_unreadable(const TdsCursor *cursor)
{
    return tds_left(cursor) > 0 &&
           (cursor->ptr[cursor->at] == TDS_TYPE_TABLE || cursor->ptr[cursor->at] == TDS_TYPE_UDT);
}

static bool get_parameter(TdsCursor *cursor, Arena *arena, TdsParameter *out)
{
    uint8_t status;

    out->name       = tds_get_text(cursor, tds_get_u8(cursor), arena);
    status          = tds_get_u8(cursor);
    out->is_output  = (status & STATUS_OUTPUT) != 0;
    out->is_default = (status & STATUS_DEFAULT) != 0;
    if (is_unreadable(cursor)) {
        out->type = (TdsType){.token = cursor->ptr[cursor->at]};
        return true;
    }
    return !cursor->failed && tds_get_type(cursor, &out->type) &&
           tds_get_value(cursor, &out->type, arena, &out->value);
}

bool tds_get_rpc(TdsCursor *cursor, uint32_t tds_version, Arena *arena, bool *has_out, TdsRpc *out)
{
    uint16_t name_units;

    *out     = (TdsRpc){.proc_id = 0};
    *has_out = tds_left(cursor) > 0;
    if (!*has_out) return true;
    name_units = tds_get_u16(cursor);
    if (name_units == NAME_IS_ID)
        out->proc_id = tds_get_u16(cursor);
    else
        out->name = tds_get_text(cursor, name_units, arena);
    out->flags = tds_get_u16(cursor);
    while (!cursor->failed && tds_left(cursor) > 0) {
        if (cursor->ptr[cursor->at] == separator(tds_version)) {
            cursor->at++;
            break;
        }
        if (out->parameters.count == PARAMETERS_MOST) return false;
        TdsParameter *parameter = LIST_PUSH(arena, &out->parameters);
        if (!get_parameter(cursor, arena, parameter)) return false;
        if (parameter->type.token == TDS_TYPE_TABLE || parameter->type.token == TDS_TYPE_UDT) {
            out->unreadable = parameter->type.token;
            cursor->at      = cursor->len;
        }
    }
    return !cursor->failed;
}

void tds_put_rpc(TdsWriter *writer, uint16_t proc_id, Str name, uint16_t flags)
{
    if (proc_id) {
        tds_put_u16(writer, NAME_IS_ID);
        tds_put_u16(writer, proc_id);
    } else {
        tds_put_us_varchar(writer, name);
    }
    tds_put_u16(writer, flags);
}

void tds_put_parameter(TdsWriter *writer, const TdsParameter *parameter)
{
    tds_put_b_varchar(writer, parameter->name);
    tds_put_u8(writer, (uint8_t)((parameter->is_output ? STATUS_OUTPUT : 0) |
                                 (parameter->is_default ? STATUS_DEFAULT : 0)));
    tds_put_type(writer, &parameter->type);
    tds_put_parameter_value(writer, &parameter->type, &parameter->value);
}

void tds_put_rpc_separator(TdsWriter *writer, uint32_t tds_version)
{
    tds_put_u8(writer, separator(tds_version));
}

bool tds_get_transaction_request(TdsCursor *cursor, Arena *arena, TdsTransactionRequest *out)
{
    *out = (TdsTransactionRequest){.kind = tds_get_u16(cursor)};
    if (out->kind == 5) {
        out->isolation = tds_get_u8(cursor);
        out->name      = tds_get_text(cursor, tds_get_u8(cursor) / 2u, arena);
    } else if (out->kind == 7 || out->kind == 8) {
        out->name        = tds_get_text(cursor, tds_get_u8(cursor) / 2u, arena);
        out->begins_next = (tds_get_u8(cursor) & 1) != 0;
        if (out->begins_next) {
            out->next_isolation = tds_get_u8(cursor);
            out->next_name      = tds_get_text(cursor, tds_get_u8(cursor) / 2u, arena);
        }
    } else if (out->kind == 9) {
        out->name = tds_get_text(cursor, tds_get_u8(cursor) / 2u, arena);
    }
    return !cursor->failed;
}
