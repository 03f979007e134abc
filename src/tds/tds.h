/* tds.h - the constants of TDS 7.1 to 7.4 (sqlserver.md 2.2 to 2.9). */
#ifndef TIDELAKE_TDS_TDS_H
#define TIDELAKE_TDS_TDS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define TDS_HEADER_BYTES         8
#define TDS_DEFAULT_PACKET_BYTES 4096
#define TDS_MIN_PACKET_BYTES     512
#define TDS_MAX_PACKET_BYTES     32767
#define TDS_MAX_MESSAGE_BYTES    ((size_t)256 << 20) /* a request larger than that is refused */

typedef enum TdsPacketType {
    TDS_PACKET_BATCH       = 0x01,
    TDS_PACKET_RPC         = 0x03,
    TDS_PACKET_RESPONSE    = 0x04,
    TDS_PACKET_ATTENTION   = 0x06,
    TDS_PACKET_BULK        = 0x07,
    TDS_PACKET_TRANSACTION = 0x0E,
    TDS_PACKET_LOGIN7      = 0x10,
    TDS_PACKET_SSPI        = 0x11,
    TDS_PACKET_PRELOGIN    = 0x12,
} TdsPacketType;

enum { /* status bits of a packet */
       TDS_STATUS_END                    = 0x01,
       TDS_STATUS_IGNORE                 = 0x02,
       TDS_STATUS_RESET                  = 0x08,
       TDS_STATUS_RESET_KEEP_TRANSACTION = 0x10,
};

enum { /* tokens */
       TDS_TOKEN_RETURNSTATUS  = 0x79,
       TDS_TOKEN_COLMETADATA   = 0x81,
       TDS_TOKEN_TABNAME       = 0xA4,
       TDS_TOKEN_COLINFO       = 0xA5,
       TDS_TOKEN_ORDER         = 0xA9,
       TDS_TOKEN_ERROR         = 0xAA,
       TDS_TOKEN_INFO          = 0xAB,
       TDS_TOKEN_RETURNVALUE   = 0xAC,
       TDS_TOKEN_LOGINACK      = 0xAD,
       TDS_TOKEN_FEATUREEXTACK = 0xAE,
       TDS_TOKEN_ROW           = 0xD1,
       TDS_TOKEN_NBCROW        = 0xD2,
       TDS_TOKEN_ENVCHANGE     = 0xE3,
       TDS_TOKEN_SESSIONSTATE  = 0xE4,
       TDS_TOKEN_DONE          = 0xFD,
       TDS_TOKEN_DONEPROC      = 0xFE,
       TDS_TOKEN_DONEINPROC    = 0xFF,
};

enum { /* status bits of a DONE */
       TDS_DONE_MORE     = 0x01,
       TDS_DONE_ERROR    = 0x02,
       TDS_DONE_INXACT   = 0x04,
       TDS_DONE_COUNT    = 0x10,
       TDS_DONE_ATTN     = 0x20,
       TDS_DONE_SRVERROR = 0x100,
};

enum {                                  /* type tokens */
       TDS_TYPE_NULL            = 0x1F, /* of a parameter that is NULL and has no type */
       TDS_TYPE_IMAGE           = 0x22,
       TDS_TYPE_TEXT            = 0x23,
       TDS_TYPE_GUID            = 0x24,
       TDS_TYPE_INTN            = 0x26,
       TDS_TYPE_DATEN           = 0x28,
       TDS_TYPE_TIMEN           = 0x29,
       TDS_TYPE_DATETIME2N      = 0x2A,
       TDS_TYPE_DATETIMEOFFSETN = 0x2B,
       TDS_TYPE_INT1            = 0x30,
       TDS_TYPE_BIT             = 0x32,
       TDS_TYPE_INT2            = 0x34,
       TDS_TYPE_INT4            = 0x38,
       TDS_TYPE_DATETIM4        = 0x3A,
       TDS_TYPE_FLT4            = 0x3B,
       TDS_TYPE_MONEY           = 0x3C,
       TDS_TYPE_DATETIME        = 0x3D,
       TDS_TYPE_FLT8            = 0x3E,
       TDS_TYPE_VARIANT         = 0x62,
       TDS_TYPE_NTEXT           = 0x63,
       TDS_TYPE_BITN            = 0x68,
       TDS_TYPE_DECIMALN        = 0x6A,
       TDS_TYPE_NUMERICN        = 0x6C,
       TDS_TYPE_FLTN            = 0x6D,
       TDS_TYPE_MONEYN          = 0x6E,
       TDS_TYPE_DATETIMEN       = 0x6F,
       TDS_TYPE_MONEY4          = 0x7A,
       TDS_TYPE_INT8            = 0x7F,
       TDS_TYPE_BIGVARBINARY    = 0xA5,
       TDS_TYPE_BIGVARCHAR      = 0xA7,
       TDS_TYPE_BIGBINARY       = 0xAD,
       TDS_TYPE_BIGCHAR         = 0xAF,
       TDS_TYPE_NVARCHAR        = 0xE7,
       TDS_TYPE_NCHAR           = 0xEF,
       TDS_TYPE_UDT             = 0xF0, /* user-defined, and a table: neither is read */
       TDS_TYPE_XML             = 0xF1,
       TDS_TYPE_TABLE           = 0xF3,
};

#define TDS_VERSION_71  0x71000001u
#define TDS_VERSION_72  0x72090002u
#define TDS_VERSION_73A 0x730A0003u
#define TDS_VERSION_73B 0x730B0003u
#define TDS_VERSION_74  0x74000004u
#define TDS_VERSION_80  0x08000000u /* 7.4 inside of TLS; only its name is in no order with these */

/* --- reading bytes that somebody else sent: every read is checked, an overrun sets `failed` and gives zeros --- */
typedef struct TdsCursor {
    const uint8_t *ptr;
    size_t         len;
    size_t         at;
    bool           failed;
} TdsCursor;

TdsCursor tds_cursor(Bytes bytes);
uint8_t   tds_get_u8(TdsCursor *cursor);
uint16_t  tds_get_u16(TdsCursor *cursor); /* little-endian */
uint32_t  tds_get_u32(TdsCursor *cursor);
uint64_t  tds_get_u64(TdsCursor *cursor);
uint16_t  tds_get_u16_be(TdsCursor *cursor);
uint32_t  tds_get_u32_be(TdsCursor *cursor);
Bytes     tds_get_bytes(TdsCursor *cursor, size_t len);
size_t    tds_left(const TdsCursor *cursor);
/* A text of `unit_count` UTF-16 units, as UTF-8 in `arena`. */
Str tds_get_text(TdsCursor *cursor, size_t unit_count, Arena *arena);

#endif
