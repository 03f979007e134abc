/* tds_response.h - a server's response as a client reads it: one token after the other. */
#ifndef TIDELAKE_TDS_TDS_RESPONSE_H
#define TIDELAKE_TDS_TDS_RESPONSE_H

#include "tds/tds_token.h"

typedef enum TdsItemKind {
    TDS_ITEM_END,
    TDS_ITEM_COLUMNS, /* `columns` of the response */
    TDS_ITEM_ROW,     /* `values` of the response */
    TDS_ITEM_MESSAGE,
    TDS_ITEM_DONE,
    TDS_ITEM_ENV,
    TDS_ITEM_RETURN_STATUS,
    TDS_ITEM_RETURN_VALUE,
    TDS_ITEM_LOGIN_ACK,
    TDS_ITEM_OTHER, /* read over: ORDER, FEATUREEXTACK, ... */
} TdsItemKind;

typedef struct TdsItem {
    TdsItemKind kind;
    uint8_t     token;
    union {
        struct {
            bool             is_error;
            TdsServerMessage text;
        } message;
        struct {
            uint16_t status, command;
            uint64_t row_count;
        } done;
        struct {
            uint8_t kind;
            bool    is_text; /* else the values are in `old_bytes`, `new_bytes` */
            Str     new_text, old_text;
            Bytes   new_bytes, old_bytes;
        } env;
        int32_t return_status;
        struct {
            uint16_t ordinal;
            Str      name;
            TdsType  type;
            TdsValue value;
        } return_value;
        struct {
            uint32_t tds_version;
            Str      program;
            uint8_t  major, minor;
            uint16_t build;
        } login_ack;
    };
} TdsItem;

typedef struct TdsResponse {
    TdsCursor  cursor;
    uint32_t   tds_version;
    Arena     *arena; /* of the columns */
    TdsColumn *columns;
    TdsValue  *values;
    size_t     column_count;
} TdsResponse;

/* `body`, the message, and `arena` must outlive it. */
TdsResponse tds_response(Bytes body, uint32_t tds_version, Arena *arena);
/* The next token; text and values that are not bytes of the message go to `arena`. False: a token that is
 * not known or not whole, after which nothing more can be read. */
bool tds_next_item(TdsResponse *response, Arena *arena, TdsItem *out) MUST_CHECK;

#endif
