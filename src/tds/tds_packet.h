/* tds_packet.h - messages out of packets and packets out of messages, on any transport
 * (sqlserver.md 2.2). */
#ifndef TIDELAKE_TDS_TDS_PACKET_H
#define TIDELAKE_TDS_TDS_PACKET_H

#include "tds/tds.h"

#include <sys/uio.h>

/* Bytes in and out; a socket, later TLS on one, in tests a buffer. */
typedef struct TdsTransport TdsTransport;
struct TdsTransport {
    /* At least one byte, or 0 at the end; false on an error. */
    bool (*read)(TdsTransport *transport, uint8_t *buf, size_t size, size_t *got_out, Err *err);
    /* All of it. */
    bool (*write)(TdsTransport *transport, const uint8_t *bytes, size_t len, Err *err);
    /* May be NULL. All of the parts, one behind the other; it may change the array. */
    bool (*write_parts)(TdsTransport *transport, struct iovec *parts, size_t count, Err *err);
};

typedef struct TdsMessage {
    TdsPacketType type;
    uint8_t       status; /* bits of all its packets */
    Bytes         body;   /* in the arena given */
} TdsMessage;

typedef struct TdsPacketHeader {
    TdsPacketType type;
    uint8_t       status;
    size_t        body_bytes; /* behind the header */
    bool          is_end;     /* there was none: the peer closed */
} TdsPacketHeader;

/* Packet by packet, for messages that are read as they come. ERR_DAMAGED: as below. */
bool tds_read_packet_header(TdsTransport *transport, TdsPacketHeader *out, Err *err) MUST_CHECK;
bool tds_read_packet_body(TdsTransport *transport, uint8_t *to, size_t len, Err *err) MUST_CHECK;

/* The next whole message, of at most `limit_bytes`; of a bulk load its first packet alone (tds_bulk.h).
 * `is_end_out`: the peer closed between messages. It never reads a byte more than the message has.
 * ERR_DAMAGED: a malformed header or a message past the limit; the connection is then unusable. */
bool tds_read_message(TdsTransport *transport, Arena *arena, size_t limit_bytes, TdsMessage *out,
                      bool *is_end_out, Err *err) MUST_CHECK;

/* A response (or request) on its way out, in packets of one size; written to the transport when
 * some 64 KiB are full. After a failed write everything else is dropped and tds_writer_end returns
 * the error. */
typedef struct TdsWriter TdsWriter;

TdsWriter *tds_writer_new(TdsTransport *transport);
void       tds_writer_close(TdsWriter *writer);                           /* accepts NULL */
void tds_writer_set_packet_bytes(TdsWriter *writer, size_t packet_bytes); /* not within a message */
void tds_writer_set_transport(TdsWriter *writer, TdsTransport *transport); /* nor this */
void tds_writer_begin(TdsWriter *writer, TdsPacketType type, uint16_t spid);
/* Status bits of the message's first packet besides the end: reset, for a client. Before 64 KiB are
 * put. Returns the transport's error if a write failed since tds_writer_begin. */
bool tds_writer_end_with(TdsWriter *writer, uint8_t status, Err *err) MUST_CHECK;
bool tds_writer_end(TdsWriter *writer, Err *err) MUST_CHECK;
/* Sends what was put as packets that end nothing, all but the last `keep_bytes`. */
bool tds_writer_flush(TdsWriter *writer, size_t keep_bytes, Err *err) MUST_CHECK;
bool tds_writer_has_failed(const TdsWriter *writer);

void tds_put_bytes(TdsWriter *writer, const void *bytes, size_t len);
void tds_put_u8(TdsWriter *writer, uint8_t value);
void tds_put_u16(TdsWriter *writer, uint16_t value); /* little-endian */
void tds_put_u32(TdsWriter *writer, uint32_t value);
void tds_put_u64(TdsWriter *writer, uint64_t value);
void tds_put_u32_be(TdsWriter *writer, uint32_t value);

/* Text travels as UTF-16LE, here from UTF-8. */
size_t tds_text_units(Str text);
/* The longest beginning of `text` that has at most so many units. */
Str  tds_text_cut(Str text, size_t units_most);
void tds_put_text(TdsWriter *writer, Str text); /* without a length */
/* Behind its length in units: one byte (B_VARCHAR), two (US_VARCHAR). Cut to what the length can
 * say. */
void tds_put_b_varchar(TdsWriter *writer, Str text);
void tds_put_us_varchar(TdsWriter *writer, Str text);

#endif
