/* Bytes of a client, or of a server, in each place where they are read. The first byte chooses the place. What was read as a
 * call is put again and must read the same. */
#include "base/arena.h"
#include "tds/tds_bulk.h"
#include "tds/tds_login.h"
#include "tds/tds_request.h"
#include "tds/tds_response.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PRELOGIN,
    LOGIN,
    CALLS,
    OLD_CALLS,
    TRANSACTION,
    RESPONSE,
    OLD_RESPONSE,
    PACKETS,
    BULK,
    OLD_BULK,
    PLACES
};

/* --- a transport of bytes --- */

typedef struct Source {
    TdsTransport transport; /* first */
    TdsCursor    bytes;
    Buf         *written;
} Source;

static bool source_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    TdsCursor *bytes = &((Source *)base)->bytes;
    Bytes      part  = tds_get_bytes(bytes, MIN(MIN(size, tds_left(bytes)), (size_t)7));

    (void)err;
    if (part.len) memcpy(buf, part.ptr, part.len);
    *got_out = part.len;
    return true;
}

static bool source_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    (void)err;
    buf_append_bytes(((Source *)base)->written, bytes, len);
    return true;
}

/* --- calls --- */

/* What the server's side never puts: fixed forms, decimals of odd lengths, variants of what it cannot hold. */
static void normalize(TdsParameter *parameter)
{
    bool is_decimal = parameter->type.token == TDS_TYPE_DECIMALN ||
                      parameter->type.token == TDS_TYPE_NUMERICN;

    if (is_decimal) parameter->type.length = 17;
    if (parameter->value.is_null) parameter->type.is_fixed = false;
}

static bool is_bytes(const TdsType *type)
{
    switch (type->token) {
    case TDS_TYPE_BIGVARCHAR:
    case TDS_TYPE_NVARCHAR:
    case TDS_TYPE_BIGVARBINARY:
    case TDS_TYPE_TEXT:
    case TDS_TYPE_GUID: return true;
    default: return false;
    }
}

static void check_same(const TdsParameter *left, const TdsParameter *right)
{
    assert(left->type.token == right->type.token);
    assert(left->value.is_null == right->value.is_null);
    if (left->value.is_null) return;
    if (left->type.token == TDS_TYPE_INTN) assert(left->value.i64 == right->value.i64);
    if (!is_bytes(&left->type)) return;
    assert(left->value.bytes.len == right->value.bytes.len);
    assert(left->value.bytes.len == 0 ||
           memcmp(left->value.bytes.ptr, right->value.bytes.ptr, left->value.bytes.len) == 0);
}

static void put_again(const TdsRpc *rpc, Arena *arena)
{
    Buf        written = buf_new(arena, 0);
    Source     source  = {.transport = {.read = source_read, .write = source_write},
                          .written   = &written};
    TdsWriter *writer  = tds_writer_new(&source.transport);
    TdsMessage message;
    TdsCursor  cursor;
    TdsRpc     again;
    Err        err = ERR_INIT;
    bool       has, ok;

    tds_writer_begin(writer, TDS_PACKET_RPC, 0);
    tds_put_rpc(writer, rpc->proc_id, rpc->name, rpc->flags);
    for (size_t i = 0; i < rpc->parameters.count; i++) {
        normalize(&rpc->parameters.items[i]);
        tds_put_parameter(writer, &rpc->parameters.items[i]);
    }
    ok = tds_writer_end(writer, &err);
    assert(ok);
    source.bytes = tds_cursor(str_bytes(buf_str(&written)));
    ok = tds_read_message(&source.transport, arena, TDS_MAX_MESSAGE_BYTES, &message, &has, &err);
    assert(ok);
    cursor = tds_cursor(message.body);
    ok     = tds_get_rpc(&cursor, TDS_VERSION_74, arena, &has, &again);
    assert(ok);
    assert(again.parameters.count == rpc->parameters.count);
    for (size_t i = 0; i < again.parameters.count; i++)
        check_same(&again.parameters.items[i], &rpc->parameters.items[i]);
    tds_writer_close(writer);
}

/* A name of 255 units reads as the separator of calls when it is put first. */
static bool can_be_put(const TdsRpc *rpc)
{
    if (rpc->unreadable) return false;
    for (size_t i = 0; i < rpc->parameters.count; i++)
        if (tds_text_units(rpc->parameters.items[i].name) > 128 ||
            rpc->parameters.items[i].type.token == TDS_TYPE_VARIANT)
            return false;
    return rpc->proc_id != 0 || tds_text_units(rpc->name) < 0xFFFF;
}

static void read_calls(TdsCursor cursor, uint32_t tds_version, Arena *arena)
{
    uint64_t transaction;
    TdsRpc   rpc;
    bool     has = true;

    if (!tds_get_headers(&cursor, tds_version, &transaction)) return;
    while (has && tds_get_rpc(&cursor, tds_version, arena, &has, &rpc))
        if (has && can_be_put(&rpc)) put_again(&rpc, arena);
}

/* --- the rest --- */

static void read_response(Bytes bytes, uint32_t tds_version, Arena *arena)
{
    TdsResponse response = tds_response(bytes, tds_version, arena);
    TdsItem     item     = {.kind = TDS_ITEM_OTHER};

    while (item.kind != TDS_ITEM_END && tds_next_item(&response, arena, &item))
        continue;
}

static void read_packets(Bytes bytes, Arena *arena)
{
    Source     source = {.transport = {.read = source_read, .write = source_write},
                         .bytes     = tds_cursor(bytes)};
    TdsMessage message;
    Err        err    = ERR_INIT;
    bool       is_end = false;

    while (!is_end && tds_read_message(&source.transport, arena, 1 << 16, &message, &is_end, &err))
        assert(message.body.len <= 1 << 16);
}

/* A bulk load from its first packet on. */
static void read_bulk(Bytes bytes, uint32_t tds_version, Arena *arena)
{
    Source      source = {.transport = {.read = source_read, .write = source_write},
                          .bytes     = tds_cursor(bytes)};
    TdsMessage  message;
    Err         err    = ERR_INIT;
    bool        is_end = false;
    Arena      *rows   = arena_new();
    TdsBulkItem item   = TDS_BULK_COLUMNS;

    if (tds_read_message(&source.transport, arena, 1 << 16, &message, &is_end, &err) && !is_end &&
        message.type == TDS_PACKET_BULK) {
        TdsBulk bulk = tds_bulk_begin(&source.transport, tds_version, &message, arena);
        while (item == TDS_BULK_COLUMNS || item == TDS_BULK_ROW) {
            arena_reset(rows);
            item = tds_bulk_next(&bulk, rows);
        }
        if (item != TDS_BULK_LOST && tds_bulk_skip(&bulk)) assert(bulk.is_last);
        tds_bulk_end(&bulk);
    }
    arena_close(rows);
}

static void read_login(Bytes bytes, Arena *arena)
{
    TdsLogin login;

    if (!tds_parse_login(bytes, arena, &login)) return;
    assert(utf8_is_valid(login.user));
    assert(utf8_is_valid(login.password));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena                *arena  = arena_new();
    Bytes                 bytes  = {data + (size ? 1 : 0), size ? size - 1 : 0};
    TdsCursor             cursor = tds_cursor(bytes);
    TdsPrelogin           prelogin;
    TdsTransactionRequest request;
    bool                  ignored = false;

    switch (size ? data[0] % PLACES : PLACES) {
    case PRELOGIN: ignored = tds_parse_prelogin(bytes, &prelogin); break;
    case LOGIN: read_login(bytes, arena); break;
    case CALLS: read_calls(cursor, TDS_VERSION_74, arena); break;
    case OLD_CALLS: read_calls(cursor, TDS_VERSION_71, arena); break;
    case TRANSACTION: ignored = tds_get_transaction_request(&cursor, arena, &request); break;
    case RESPONSE: read_response(bytes, TDS_VERSION_74, arena); break;
    case OLD_RESPONSE: read_response(bytes, TDS_VERSION_71, arena); break;
    case PACKETS: read_packets(bytes, arena); break;
    case BULK: read_bulk(bytes, TDS_VERSION_74, arena); break;
    case OLD_BULK: read_bulk(bytes, TDS_VERSION_71, arena); break;
    default: break;
    }
    (void)ignored;
    arena_close(arena);
    return 0;
}
