/* tds_internal.h - the insides of a writer, so that values are stored straight into its buffer. */
#ifndef TIDELAKE_TDS_INTERNAL_H
#define TIDELAKE_TDS_INTERNAL_H

#include "tds/tds_packet.h"

#define TDS_ROOM_BYTES ((size_t)16 << 10) /* the most that one store may ask for */

struct TdsWriter {
    TdsTransport *transport;
    size_t        packet_bytes;
    uint8_t      *payload; /* what was put and not sent yet */
    uint8_t      *at;      /* its end */
    uint8_t      *end;     /* of the buffer */
    uint8_t      *headers; /* of the packets being sent */
    struct iovec *parts;   /* header and body of each */
    size_t        packet_count;
    uint8_t      *joined; /* for a transport without write_parts; NULL: not needed so far */
    uint8_t       type;
    uint16_t      spid;
    uint8_t       packet_id;
    bool          failed;
    Err           err;
};

/* Sends every packet that is full and not the last. */
void tds_writer_spill(TdsWriter *writer);

/* `len` bytes to store to, at most TDS_ROOM_BYTES; whoever stores moves `at` on. */
static inline uint8_t *tds_room(TdsWriter *writer, size_t len)
{
    if ((size_t)(writer->end - writer->at) < len) tds_writer_spill(writer);
    return writer->at;
}

/* Little-endian stores that return what comes behind. The compiler makes one move of each. */
static inline uint8_t *tds_store_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    return at + 2;
}

static inline uint8_t *tds_store_u32(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
    return at + 4;
}

static inline uint8_t *tds_store_u64(uint8_t *at, uint64_t value)
{
    return tds_store_u32(tds_store_u32(at, (uint32_t)value), (uint32_t)(value >> 32));
}

#endif
