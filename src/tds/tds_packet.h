/* tds_packet.h - messages out of packets and packets out of messages, on any transport (sqlserver.md 2.2). */
#ifndef TIDELAKE_TDS_TDS_PACKET_H
#define TIDELAKE_TDS_TDS_PACKET_H

#include "tds/tds.h"

/* Bytes in and out; a socket, later TLS on one, in tests a buffer. */
typedef struct TdsTransport TdsTransport;
struct TdsTransport {
    /* At least one byte, or 0 at the end; false on an error. */
    bool (*read)(TdsTransport *transport, uint8_t *buf, size_t size, size_t *got_out, Err *err);
    bool (*write)(TdsTransport *transport, const uint8_t *bytes, size_t len,
                  Err *err); /* all of it */
};

typedef struct TdsMessage {
    TdsPacketType type;
    uint8_t       status; /* reset and ignore bits of the first and last packet */
    Bytes         body;   /* in the arena given */
} TdsMessage;

/* The next whole message. `is_end_out`: the peer closed between messages. ERR_DAMAGED: a malformed header or a message past the limit; the connection is then unusable. */
bool tds_read_message(TdsTransport *transport, Arena *arena, TdsMessage *out, bool *is_end_out,
                      Err *err) MUST_CHECK;

/* A response (or request) on its way out, in packets of one size; written to the transport when some 64 KiB are full. After a failed write
 * everything else is dropped and tds_writer_end returns the error. */
typedef struct TdsWriter TdsWriter;
TdsWriter               *tds_writer_new(TdsTransport *transport);
void                     tds_writer_close(TdsWriter *writer);               /* accepts NULL */
void   tds_writer_set_packet_bytes(TdsWriter *writer, size_t packet_bytes); /* between messages */
size_t tds_writer_get_packet_bytes(const TdsWriter *writer);
void   tds_writer_begin(TdsWriter *writer, TdsPacketType type, uint16_t spid);
/* Sends what is there with the end-of-message bit. */
bool tds_writer_end(TdsWriter *writer, Err *err) MUST_CHECK;
bool tds_writer_has_failed(const TdsWriter *writer);
/* Sends full packets now, so that a slow result shows; the message goes on. */
void tds_writer_flush(TdsWriter *writer);

void tds_put_bytes(TdsWriter *writer, const void *bytes, size_t len);
void tds_put_u8(TdsWriter *writer, uint8_t value);
void tds_put_u16(TdsWriter *writer, uint16_t value); /* little-endian */
void tds_put_u32(TdsWriter *writer, uint32_t value);
void tds_put_u64(TdsWriter *writer, uint64_t value);
void tds_put_u32_be(TdsWriter *writer, uint32_t value);
/* UTF-16LE of UTF-8 text behind its length in units: one byte (B_VARCHAR), two (US_VARCHAR). Cut to what the length can say. */
void tds_put_b_varchar(TdsWriter *writer, Str text);
void tds_put_us_varchar(TdsWriter *writer, Str text);

#endif
