/* tds_bulk.c - the window over a bulk load, and its items. */
#include "tds/tds_bulk.h"

#include "tds/tds_internal.h"

#include <string.h>

#define WINDOW_BYTES ((size_t)64 << 10)
#define COLUMNS_MOST 4096

TdsBulk tds_bulk_begin(TdsTransport *transport, uint32_t tds_version, const TdsMessage *first,
                       Arena *arena)
{
    TdsBulk bulk = {.transport   = transport,
                    .tds_version = tds_version,
                    .arena       = arena,
                    .is_last     = (first->status & TDS_STATUS_END) != 0,
                    .is_cut      = (first->status & TDS_STATUS_IGNORE) != 0,
                    .len         = first->body.len};

    bulk.capacity = WINDOW_BYTES + UINT16_MAX;
    bulk.window   = mem_alloc(bulk.capacity);
    if (first->body.len) memcpy(bulk.window, first->body.ptr, first->body.len);
    return bulk;
}

void tds_bulk_end(TdsBulk *bulk)
{
    mem_free(bulk->window);
    bulk->window = NULL;
}

/* --- packets --- */

/* One packet behind what the window holds, which has room for the largest. */
static bool read_packet(TdsBulk *bulk)
{
    TdsPacketHeader header;

    if (!tds_read_packet_header(bulk->transport, &header, &bulk->err)) return false;
    if (header.is_end)
        return err_set(&bulk->err, ERR_DAMAGED, "the connection ended inside a bulk load");
    if (header.type == TDS_PACKET_ATTENTION && header.body_bytes == 0) {
        bulk->is_last = bulk->is_cut = bulk->by_attention = true;
        return true;
    }
    if (header.type != TDS_PACKET_BULK)
        return err_set(&bulk->err, ERR_DAMAGED,
                       "a packet of type 0x%02x came in the middle of a bulk load", header.type);
    if (!tds_read_packet_body(bulk->transport, bulk->window + bulk->len, header.body_bytes,
                              &bulk->err))
        return false;
    bulk->len += header.body_bytes;
    bulk->is_last |= (header.status & TDS_STATUS_END) != 0;
    bulk->is_cut |= (header.status & TDS_STATUS_IGNORE) != 0;
    return true;
}

/* More of the message behind what is left of it: a window full, or as much again. */
static bool fill(TdsBulk *bulk)
{
    size_t left = bulk->len - bulk->at;
    size_t want = MAX(2 * left, WINDOW_BYTES);

    if (left > TDS_BULK_ROW_BYTES_MOST)
        return err_set(&bulk->err, ERR_DAMAGED, "a row of a bulk load is larger than %zu bytes",
                       TDS_BULK_ROW_BYTES_MOST);
    if (bulk->at > 0) memmove(bulk->window, bulk->window + bulk->at, left);
    bulk->at  = 0;
    bulk->len = left;
    if (want + UINT16_MAX > bulk->capacity) {
        bulk->capacity = want + UINT16_MAX;
        bulk->window   = mem_realloc(bulk->window, bulk->capacity);
    }
    while (!bulk->is_last && bulk->len < want)
        if (!read_packet(bulk)) return false;
    return true;
}

bool tds_bulk_skip(TdsBulk *bulk)
{
    while (!bulk->is_last) {
        bulk->len = bulk->at = 0;
        if (!read_packet(bulk)) return false;
    }
    return true;
}

/* --- items --- */

static bool is_lob(uint8_t token)
{
    return token == TDS_TYPE_TEXT || token == TDS_TYPE_NTEXT || token == TDS_TYPE_IMAGE;
}

/* As a server sends them, but for the table's name, which is one text whatever the version. */
static TdsBulkItem read_columns(TdsBulk *bulk, TdsCursor *cursor)
{
    bool     is_wide = bulk->tds_version >= TDS_VERSION_72;
    uint16_t count   = tds_get_u16(cursor);

    if (count > COLUMNS_MOST) return TDS_BULK_BAD_TOKEN;
    bulk->columns      = ARENA_ARRAY(bulk->arena, TdsColumn, count + 1u);
    bulk->values       = ARENA_ARRAY(bulk->arena, TdsValue, count + 1u);
    bulk->column_count = count;
    for (size_t i = 0; i < count && !cursor->failed; i++) {
        TdsColumn *column    = &bulk->columns[i];
        uint32_t   user_type = is_wide ? tds_get_u32(cursor) : tds_get_u16(cursor);
        bulk->bad_column     = i;
        column->flags        = tds_get_u16(cursor);
        if (!tds_get_type(cursor, &column->type) || column->type.token == TDS_TYPE_XML)
            return TDS_BULK_BAD_TYPE; /* XML comes as nvarchar */
        column->type.user_type = user_type;
        if (is_lob(column->type.token))
            (void)tds_get_bytes(cursor, 2 * (size_t)tds_get_u16(cursor));
        column->name = tds_get_text(cursor, tds_get_u8(cursor), bulk->arena);
    }
    return TDS_BULK_COLUMNS;
}

static TdsBulkItem read_row(TdsBulk *bulk, TdsCursor *cursor, Arena *row_arena, bool has_null_bits)
{
    size_t count = bulk->column_count;
    Bytes  bits  = {NULL, 0};

    if (bulk->columns == NULL) return TDS_BULK_BAD_TOKEN;
    if (has_null_bits) bits = tds_get_bytes(cursor, (count + 7) / 8);
    for (size_t i = 0; i < count; i++) {
        if (bits.len > i / 8 && (bits.ptr[i / 8] >> (i % 8) & 1)) {
            bulk->values[i] = (TdsValue){.is_null = true};
        } else if (!tds_get_row_value(cursor, &bulk->columns[i].type, row_arena,
                                      &bulk->values[i])) {
            bulk->bad_column = i;
            return TDS_BULK_BAD_LENGTH;
        }
    }
    return TDS_BULK_ROW;
}

static TdsBulkItem read_item(TdsBulk *bulk, TdsCursor *cursor, Arena *row_arena)
{
    uint8_t token = tds_get_u8(cursor);

    switch (token) {
    case TDS_TOKEN_COLMETADATA: return read_columns(bulk, cursor);
    case TDS_TOKEN_ROW: return read_row(bulk, cursor, row_arena, false);
    case TDS_TOKEN_NBCROW: return read_row(bulk, cursor, row_arena, true);
    case TDS_TOKEN_DONE: return TDS_BULK_END;
    default: return TDS_BULK_BAD_TOKEN;
    }
}

/* An item that ends behind the window is read again once there is more of it; as the window doubles, that is not often. */
TdsBulkItem tds_bulk_next(TdsBulk *bulk, Arena *row_arena)
{
    for (;;) {
        TdsCursor   cursor = tds_cursor((Bytes){bulk->window + bulk->at, bulk->len - bulk->at});
        TdsBulkItem item   = read_item(bulk, &cursor, row_arena);
        if (!cursor.failed) {
            bulk->at += cursor.at;
            if (item != TDS_BULK_END) return item;
            /* A message that is to be forgotten says so in its last packet only. */
            if (!tds_bulk_skip(bulk)) return TDS_BULK_LOST;
            return bulk->is_cut ? TDS_BULK_CUT : TDS_BULK_END;
        }
        if (bulk->is_cut) return TDS_BULK_CUT;
        if (bulk->is_last && bulk->at == bulk->len && bulk->columns)
            return TDS_BULK_END; /* FreeTDS sends no DONE */
        if (bulk->is_last) return TDS_BULK_ENDS_EARLY;
        if (!fill(bulk)) return TDS_BULK_LOST;
    }
}
