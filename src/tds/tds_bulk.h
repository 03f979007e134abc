/* tds_bulk.h - a bulk load (packets of type 0x07): columns and rows that are read as they come, because the message may be
 * larger than memory (sqlserver.md 2.9). */
#ifndef TIDELAKE_TDS_TDS_BULK_H
#define TIDELAKE_TDS_TDS_BULK_H

#include "tds/tds_token.h"

#define TDS_BULK_ROW_BYTES_MOST TDS_MAX_MESSAGE_BYTES /* a row larger than that is refused */

typedef enum TdsBulkItem {
    TDS_BULK_COLUMNS,
    TDS_BULK_ROW,
    TDS_BULK_END,        /* its DONE, or the end of the message behind a row */
    TDS_BULK_CUT,        /* the client stopped it */
    TDS_BULK_ENDS_EARLY, /* the message is over in the middle of an item, or without columns */
    TDS_BULK_BAD_TYPE,   /* of the column `bad_column` */
    TDS_BULK_BAD_LENGTH, /* of that column's value */
    TDS_BULK_BAD_TOKEN,
    TDS_BULK_LOST, /* the connection is gone: `err` */
} TdsBulkItem;

/* Memory: one window of some 64 KiB, or twice the largest row. */
typedef struct TdsBulk {
    TdsTransport *transport;
    uint32_t      tds_version;
    Arena        *arena; /* of the columns */
    TdsColumn    *columns;
    TdsValue     *values; /* of the row; bytes are good until the next call */
    size_t        column_count;
    size_t        bad_column;
    bool          is_last;      /* the message's last packet has come */
    bool          is_cut;       /* told to forget the message */
    bool          by_attention; /* by an attention, which was read */
    Err           err;
    uint8_t      *window; /* what has come and was not read yet begins at `at` */
    size_t        capacity, len, at;
} TdsBulk;

/* `first`: the message as tds_read_message gave it, its first packet. */
TdsBulk tds_bulk_begin(TdsTransport *transport, uint32_t tds_version, const TdsMessage *first,
                       Arena *arena);
/* The next item. After anything but columns and rows there is no other. */
TdsBulkItem tds_bulk_next(TdsBulk *bulk, Arena *row_arena);
/* Reads over what is left, so that the next message can be read. False: the connection is lost. */
bool tds_bulk_skip(TdsBulk *bulk) MUST_CHECK;
void tds_bulk_end(TdsBulk *bulk);

#endif
