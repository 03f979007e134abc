/* tds_request.c - requests. */
#include "tds/tds_request.h"

#define HEADER_TRANSACTION 2
#define PARAMETERS_MOST    2100 /* SQL Server's own limit */

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

static bool is_separator(uint8_t byte, uint32_t tds_version)
{
    return byte == (tds_version >= TDS_VERSION_72 ? 0xFF : 0x80);
}

static bool get_parameter(TdsCursor *cursor, Arena *arena, TdsParameter *out)
{
    uint8_t status;

    out->name       = tds_get_text(cursor, tds_get_u8(cursor), arena);
    status          = tds_get_u8(cursor);
    out->is_output  = (status & 1) != 0;
    out->is_default = (status & 2) != 0;
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
    if (name_units == 0xFFFF)
        out->proc_id = tds_get_u16(cursor);
    else
        out->name = tds_get_text(cursor, name_units, arena);
    out->flags = tds_get_u16(cursor);
    while (!cursor->failed && tds_left(cursor) > 0) {
        if (is_separator(cursor->ptr[cursor->at], tds_version)) {
            cursor->at++;
            break;
        }
        if (out->parameters.count == PARAMETERS_MOST) return false;
        if (!get_parameter(cursor, arena, LIST_PUSH(arena, &out->parameters))) return false;
    }
    return !cursor->failed;
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
