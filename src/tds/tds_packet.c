/* tds_packet.c - framing. */
#include "tds/tds_packet.h"

#include "tds/tds_internal.h"

#include <assert.h>
#include <string.h>

#define SEND_BYTES    ((size_t)64 << 10)
#define PAYLOAD_BYTES (SEND_BYTES + TDS_ROOM_BYTES)
#define PACKETS_MOST  (PAYLOAD_BYTES / (TDS_MIN_PACKET_BYTES - TDS_HEADER_BYTES) + 1)
#define PACKETS_BYTES (PAYLOAD_BYTES + PACKETS_MOST * TDS_HEADER_BYTES)

/* --- in --- */

static bool read_full(TdsTransport *transport, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    *got_out = 0;
    while (*got_out < size) {
        size_t got;
        if (!transport->read(transport, buf + *got_out, size - *got_out, &got, err)) return false;
        if (got == 0) return true;
        *got_out += got;
    }
    return true;
}

static bool is_packet_type(uint8_t type)
{
    switch ((TdsPacketType)type) {
    case TDS_PACKET_BATCH:
    case TDS_PACKET_RPC:
    case TDS_PACKET_RESPONSE:
    case TDS_PACKET_ATTENTION:
    case TDS_PACKET_BULK:
    case TDS_PACKET_TRANSACTION:
    case TDS_PACKET_LOGIN7:
    case TDS_PACKET_SSPI:
    case TDS_PACKET_PRELOGIN: return true;
    }
    return false;
}

bool tds_read_packet_header(TdsTransport *transport, TdsPacketHeader *out, Err *err)
{
    uint8_t bytes[TDS_HEADER_BYTES];
    size_t  got, len;

    *out = (TdsPacketHeader){.is_end = true};
    if (!read_full(transport, bytes, sizeof bytes, &got, err)) return false;
    if (got == 0) return true;
    if (got < sizeof bytes)
        return err_set(err, ERR_DAMAGED, "the connection ended inside a packet header");
    len = (size_t)bytes[2] << 8 | bytes[3];
    if (len < TDS_HEADER_BYTES || !is_packet_type(bytes[0]))
        return err_set(err, ERR_DAMAGED, "malformed packet header: type 0x%02x, length %zu",
                       bytes[0], len);
    *out = (TdsPacketHeader){
        .type = (TdsPacketType)bytes[0], .status = bytes[1], .body_bytes = len - TDS_HEADER_BYTES};
    return true;
}

bool tds_read_packet_body(TdsTransport *transport, uint8_t *to, size_t len, Err *err)
{
    size_t got;

    if (!read_full(transport, to, len, &got, err)) return false;
    return got == len || err_set(err, ERR_DAMAGED, "the connection ended inside a packet");
}

/* One packet behind those that `body` holds. `*is_end`: nothing came, and nothing had to. */
static bool read_packet(TdsTransport *transport, Buf *body, TdsMessage *message, bool is_first,
                        bool *is_end, Err *err)
{
    TdsPacketHeader header;
    char           *room;

    if (!tds_read_packet_header(transport, &header, err)) return false;
    *is_end = header.is_end && is_first;
    if (*is_end) return true;
    if (header.is_end)
        return err_set(err, ERR_DAMAGED, "the connection ended inside a packet header");
    if (!is_first && header.type != message->type)
        return err_set(err, ERR_DAMAGED, "malformed packet header: type 0x%02x, length %zu",
                       header.type, header.body_bytes + TDS_HEADER_BYTES);
    message->type = header.type;
    message->status |= header.status;
    if (header.body_bytes == 0) return true;
    room = buf_reserve(body, header.body_bytes);
    if (!room) return err_set(err, ERR_DAMAGED, "a message is larger than %zu bytes", body->limit);
    if (!tds_read_packet_body(transport, (uint8_t *)room, header.body_bytes, err)) return false;
    buf_advance(body, header.body_bytes);
    return true;
}

bool tds_read_message(TdsTransport *transport, Arena *arena, size_t limit_bytes, TdsMessage *out,
                      bool *is_end_out, Err *err)
{
    Buf body = buf_new(arena, limit_bytes);

    *out = (TdsMessage){.status = 0};
    for (bool is_first = true; !(out->status & TDS_STATUS_END); is_first = false) {
        if (!read_packet(transport, &body, out, is_first, is_end_out, err)) return false;
        if (*is_end_out) return true;
        if (out->type == TDS_PACKET_BULK) break; /* the rest is read as it comes */
    }
    out->body = str_bytes(buf_str(&body));
    return true;
}

/* --- out --- */

TdsWriter *tds_writer_new(TdsTransport *transport)
{
    TdsWriter *writer = mem_alloc(sizeof *writer);

    writer->transport    = transport;
    writer->packet_bytes = TDS_DEFAULT_PACKET_BYTES;
    writer->payload      = mem_alloc(PAYLOAD_BYTES);
    writer->headers      = mem_alloc(PACKETS_MOST * TDS_HEADER_BYTES);
    writer->parts        = mem_alloc(2 * PACKETS_MOST * sizeof *writer->parts);
    writer->at           = writer->payload;
    writer->end          = writer->payload + PAYLOAD_BYTES;
    return writer;
}

void tds_writer_close(TdsWriter *writer)
{
    if (!writer) return;
    mem_free(writer->payload);
    mem_free(writer->headers);
    mem_free(writer->parts);
    mem_free(writer->joined);
    mem_free(writer);
}

void tds_writer_set_packet_bytes(TdsWriter *writer, size_t packet_bytes)
{
    assert(packet_bytes >= TDS_MIN_PACKET_BYTES && packet_bytes <= TDS_MAX_PACKET_BYTES);
    writer->packet_bytes = packet_bytes;
}

void tds_writer_set_transport(TdsWriter *writer, TdsTransport *transport)
{
    writer->transport = transport;
}

bool tds_writer_has_failed(const TdsWriter *writer)
{
    return writer->failed;
}

/* A packet of payload that stays where it is: its header, then the body. */
static void frame_packet(TdsWriter *writer, uint8_t *body, size_t body_len, uint8_t status)
{
    size_t   len = body_len + TDS_HEADER_BYTES;
    uint8_t *to  = writer->headers + writer->packet_count * TDS_HEADER_BYTES;

    to[0] = writer->type;
    to[1] = status;
    to[2] = (uint8_t)(len >> 8);
    to[3] = (uint8_t)len;
    to[4] = (uint8_t)(writer->spid >> 8);
    to[5] = (uint8_t)writer->spid;
    to[6] = ++writer->packet_id;
    to[7] = 0;

    struct iovec *parts = &writer->parts[2 * writer->packet_count++];
    parts[0]            = (struct iovec){to, TDS_HEADER_BYTES};
    parts[1]            = (struct iovec){body, body_len};
}

/* One buffer for a transport that wants it so. */
static bool write_joined(TdsWriter *writer)
{
    size_t len = 0;

    if (!writer->joined) writer->joined = mem_alloc(PACKETS_BYTES);
    for (size_t i = 0; i < 2 * writer->packet_count; i++) {
        if (writer->parts[i].iov_len)
            memcpy(writer->joined + len, writer->parts[i].iov_base, writer->parts[i].iov_len);
        len += writer->parts[i].iov_len;
    }
    return writer->transport->write(writer->transport, writer->joined, len, &writer->err);
}

static bool write_packets(TdsWriter *writer)
{
    if (!writer->transport->write_parts) return write_joined(writer);
    return writer->transport->write_parts(writer->transport, writer->parts,
                                          2 * writer->packet_count, &writer->err);
}

/* Frames and sends what is there: all of it with `is_last`, else all but the last packet, which
 * must not be empty when its turn comes. */
static void send_payload(TdsWriter *writer, bool is_last, uint8_t status)
{
    size_t   body_most = writer->packet_bytes - TDS_HEADER_BYTES;
    uint8_t *from      = writer->payload;
    size_t   left      = (size_t)(writer->at - from);

    writer->packet_count = 0;
    while (left > body_most) {
        frame_packet(writer, from, body_most, status);
        from += body_most;
        left -= body_most;
    }
    if (is_last) frame_packet(writer, from, left, status | TDS_STATUS_END);
    if (!writer->failed && writer->packet_count > 0 && !write_packets(writer))
        writer->failed = true;
    if (is_last) left = 0;
    memmove(writer->payload, from, left);
    writer->at = writer->payload + left;
}

void tds_writer_spill(TdsWriter *writer)
{
    send_payload(writer, false, 0);
}

bool tds_writer_flush(TdsWriter *writer, size_t keep_bytes, Err *err)
{
    size_t   body_most = writer->packet_bytes - TDS_HEADER_BYTES;
    uint8_t *from      = writer->payload;
    size_t   put       = (size_t)(writer->at - from);
    size_t   left      = put > keep_bytes ? put - keep_bytes : 0;

    writer->packet_count = 0;
    while (left > 0) {
        size_t body_len = MIN(left, body_most);
        frame_packet(writer, from, body_len, 0);
        from += body_len;
        left -= body_len;
    }
    if (!writer->failed && writer->packet_count > 0 && !write_packets(writer))
        writer->failed = true;
    left = (size_t)(writer->at - from);
    memmove(writer->payload, from, left);
    writer->at = writer->payload + left;
    return !writer->failed || err_copy(err, &writer->err);
}

void tds_writer_begin(TdsWriter *writer, TdsPacketType type, uint16_t spid)
{
    writer->type      = (uint8_t)type;
    writer->spid      = spid;
    writer->packet_id = 0;
    writer->at        = writer->payload;
}

bool tds_writer_end_with(TdsWriter *writer, uint8_t status, Err *err)
{
    send_payload(writer, true, status);
    return !writer->failed || err_copy(err, &writer->err);
}

bool tds_writer_end(TdsWriter *writer, Err *err)
{
    return tds_writer_end_with(writer, 0, err);
}

void tds_put_bytes(TdsWriter *writer, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;

    while (len > 0) {
        size_t part = MIN(len, TDS_ROOM_BYTES);
        memcpy(tds_room(writer, part), from, part);
        writer->at += part;
        from += part;
        len -= part;
    }
}

void tds_put_u8(TdsWriter *writer, uint8_t value)
{
    *tds_room(writer, 1) = value;
    writer->at++;
}

void tds_put_u16(TdsWriter *writer, uint16_t value)
{
    writer->at = tds_store_u16(tds_room(writer, 2), value);
}

void tds_put_u32(TdsWriter *writer, uint32_t value)
{
    writer->at = tds_store_u32(tds_room(writer, 4), value);
}

void tds_put_u64(TdsWriter *writer, uint64_t value)
{
    writer->at = tds_store_u64(tds_room(writer, 8), value);
}

void tds_put_u32_be(TdsWriter *writer, uint32_t value)
{
    tds_put_u32(writer, __builtin_bswap32(value));
}

/* --- text --- */

/* Units of the beginning that fits `most`, whose end goes to `*end_out`. */
static size_t units_within(Str text, size_t most, size_t *end_out)
{
    size_t units = 0, at = 0;

    *end_out = 0;
    while (at < text.len) {
        units += utf8_next(text, &at) > 0xFFFF ? 2 : 1;
        if (units > most) return units;
        *end_out = at;
    }
    return units;
}

size_t tds_text_units(Str text)
{
    size_t end;

    return units_within(text, SIZE_MAX, &end);
}

Str tds_text_cut(Str text, size_t units_most)
{
    size_t end;

    (void)units_within(text, units_most, &end);
    return str_slice(text, 0, end);
}

void tds_put_text(TdsWriter *writer, Str text)
{
    while (text.len > 0) {
        size_t part = text.len;
        if (part > TDS_ROOM_BYTES / 2) { /* not through the middle of a character */
            part = TDS_ROOM_BYTES / 2;
            for (int back = 0; back < 3 && ((uint8_t)text.ptr[part] & 0xC0) == 0x80; back++)
                part--;
        }
        writer->at += 2 * utf8_to_utf16le(str_slice(text, 0, part), tds_room(writer, 2 * part));
        text = str_slice(text, part, text.len);
    }
}

void tds_put_b_varchar(TdsWriter *writer, Str text)
{
    Str cut = tds_text_cut(text, UINT8_MAX);

    tds_put_u8(writer, (uint8_t)tds_text_units(cut));
    tds_put_text(writer, cut);
}

void tds_put_us_varchar(TdsWriter *writer, Str text)
{
    Str cut = tds_text_cut(text, UINT16_MAX);

    tds_put_u16(writer, (uint16_t)tds_text_units(cut));
    tds_put_text(writer, cut);
}
