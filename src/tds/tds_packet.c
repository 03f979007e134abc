/* tds_packet.c - framing. */
#include "tds/tds_packet.h"

#include <assert.h>
#include <string.h>

#define OUT_BYTES ((size_t)64 << 10)

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

static bool read_packet(TdsTransport *transport, Buf *body, TdsMessage *message, bool is_first,
                        bool *is_last, bool *is_end, Err *err)
{
    uint8_t header[TDS_HEADER_BYTES];
    size_t  got, len;
    char   *room;

    if (!read_full(transport, header, sizeof header, &got, err)) return false;
    *is_end = got == 0 && is_first;
    if (*is_end) return true;
    if (got < sizeof header)
        return err_set(err, ERR_DAMAGED, "the connection ended inside a packet header");
    len = (size_t)header[2] << 8 | header[3];
    if (len < TDS_HEADER_BYTES || (!is_first && header[0] != (uint8_t)message->type))
        return err_set(err, ERR_DAMAGED, "malformed packet header: type 0x%02x, length %zu",
                       header[0], len);
    message->type = (TdsPacketType)header[0];
    message->status |= header[1];
    *is_last = (header[1] & TDS_STATUS_END) != 0;
    len -= TDS_HEADER_BYTES;
    room = buf_reserve(body, len);
    if (!room)
        return err_set(err, ERR_DAMAGED, "a message is larger than %zu bytes",
                       TDS_MAX_MESSAGE_BYTES);
    if (!read_full(transport, (uint8_t *)room, len, &got, err)) return false;
    if (got < len) return err_set(err, ERR_DAMAGED, "the connection ended inside a packet");
    buf_advance(body, len);
    return true;
}

bool tds_read_message(TdsTransport *transport, Arena *arena, TdsMessage *out, bool *is_end_out,
                      Err *err)
{
    Buf  body    = buf_new(arena, TDS_MAX_MESSAGE_BYTES);
    bool is_last = false;

    *out = (TdsMessage){.status = 0};
    for (bool is_first = true; !is_last; is_first = false) {
        if (!read_packet(transport, &body, out, is_first, &is_last, is_end_out, err)) return false;
        if (*is_end_out) return true;
    }
    out->body = str_bytes(buf_str(&body));
    return true;
}

/* --- out --- */

struct TdsWriter {
    TdsTransport *transport;
    size_t        packet_bytes;
    uint8_t      *buf;    /* finished packets, then the one being filled */
    size_t        packet; /* where the current packet begins */
    size_t        at;     /* next byte */
    size_t        end;    /* end of the current packet */
    uint8_t       type;
    uint16_t      spid;
    uint8_t       packet_id;
    bool          failed;
    Err           err;
};

TdsWriter *tds_writer_new(TdsTransport *transport)
{
    TdsWriter *writer = mem_alloc(sizeof *writer);

    writer->transport    = transport;
    writer->packet_bytes = TDS_DEFAULT_PACKET_BYTES;
    writer->buf          = mem_alloc(OUT_BYTES + TDS_MAX_PACKET_BYTES);
    return writer;
}

void tds_writer_close(TdsWriter *writer)
{
    if (!writer) return;
    mem_free(writer->buf);
    mem_free(writer);
}

void tds_writer_set_packet_bytes(TdsWriter *writer, size_t packet_bytes)
{
    assert(packet_bytes >= TDS_MIN_PACKET_BYTES && packet_bytes <= TDS_MAX_PACKET_BYTES);
    writer->packet_bytes = packet_bytes;
}

size_t tds_writer_get_packet_bytes(const TdsWriter *writer)
{
    return writer->packet_bytes;
}
bool tds_writer_has_failed(const TdsWriter *writer)
{
    return writer->failed;
}

static void begin_packet(TdsWriter *writer)
{
    writer->packet = writer->at;
    writer->at += TDS_HEADER_BYTES;
    writer->end = writer->packet + writer->packet_bytes;
}

static void finish_packet(TdsWriter *writer, uint8_t status)
{
    uint8_t *header = writer->buf + writer->packet;
    size_t   len    = writer->at - writer->packet;

    header[0] = writer->type;
    header[1] = status;
    header[2] = (uint8_t)(len >> 8);
    header[3] = (uint8_t)len;
    header[4] = (uint8_t)(writer->spid >> 8);
    header[5] = (uint8_t)writer->spid;
    header[6] = ++writer->packet_id;
    header[7] = 0;
}

static void send(TdsWriter *writer, size_t len)
{
    if (!writer->failed &&
        !writer->transport->write(writer->transport, writer->buf, len, &writer->err))
        writer->failed = true;
}

static void next_packet(TdsWriter *writer)
{
    finish_packet(writer, 0);
    if (writer->at >= OUT_BYTES) {
        send(writer, writer->at);
        writer->at = 0;
    }
    begin_packet(writer);
}

void tds_writer_begin(TdsWriter *writer, TdsPacketType type, uint16_t spid)
{
    writer->type      = (uint8_t)type;
    writer->spid      = spid;
    writer->packet_id = 0;
    writer->at        = 0;
    begin_packet(writer);
}

void tds_writer_flush(TdsWriter *writer)
{
    size_t done = writer->packet, open = writer->at - writer->packet;

    if (done == 0) return;
    send(writer, done);
    memmove(writer->buf, writer->buf + done, open);
    writer->packet = 0;
    writer->at     = open;
    writer->end    = writer->packet_bytes;
}

bool tds_writer_end(TdsWriter *writer, Err *err)
{
    finish_packet(writer, TDS_STATUS_END);
    send(writer, writer->at);
    writer->at = 0;
    return !writer->failed || err_copy(err, &writer->err);
}

void tds_put_bytes(TdsWriter *writer, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;

    while (len > writer->end - writer->at) {
        size_t room = writer->end - writer->at;
        memcpy(writer->buf + writer->at, from, room);
        writer->at += room;
        from += room;
        len -= room;
        next_packet(writer);
    }
    if (len) memcpy(writer->buf + writer->at, from, len);
    writer->at += len;
}

static void put_little(TdsWriter *writer, uint64_t value, size_t len)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    tds_put_bytes(writer, bytes, len);
}

void tds_put_u8(TdsWriter *writer, uint8_t value)
{
    tds_put_bytes(writer, &value, 1);
}
void tds_put_u16(TdsWriter *writer, uint16_t value)
{
    put_little(writer, value, 2);
}
void tds_put_u32(TdsWriter *writer, uint32_t value)
{
    put_little(writer, value, 4);
}
void tds_put_u64(TdsWriter *writer, uint64_t value)
{
    put_little(writer, value, 8);
}
void tds_put_u32_be(TdsWriter *writer, uint32_t value)
{
    put_little(writer, __builtin_bswap32(value), 4);
}

static void put_varchar(TdsWriter *writer, Str text, size_t length_bytes, size_t most)
{
    Arena   *scratch = arena_new();
    uint8_t *utf16   = arena_alloc_uninit(scratch, text.len * 2 + 2);
    size_t   units   = MIN(utf8_to_utf16le(text, utf16), most);

    put_little(writer, units, length_bytes);
    tds_put_bytes(writer, utf16, units * 2);
    arena_close(scratch);
}

void tds_put_b_varchar(TdsWriter *writer, Str text)
{
    put_varchar(writer, text, 1, 255);
}
void tds_put_us_varchar(TdsWriter *writer, Str text)
{
    put_varchar(writer, text, 2, 65535);
}
