/* tds_token.h - the tokens of a server's response (sqlserver.md 2.4, 2.5). */
#ifndef TIDELAKE_TDS_TDS_TOKEN_H
#define TIDELAKE_TDS_TDS_TOKEN_H

#include "tds/tds_type.h"

enum { /* flags of a column */
       TDS_COLUMN_NULLABLE          = 0x01,
       TDS_COLUMN_CASE_SENSITIVE    = 0x02,
       TDS_COLUMN_UPDATABLE_UNKNOWN = 0x08,
       TDS_COLUMN_IDENTITY          = 0x10,
       TDS_COLUMN_COMPUTED          = 0x20,
};

typedef struct TdsColumn {
    Str      name; /* UTF-8 */
    TdsType  type;
    uint16_t flags;
} TdsColumn;

typedef struct TdsServerMessage { /* ERROR or INFO */
    int32_t number, line;
    uint8_t state, severity;
    Str     text, server, procedure;
} TdsServerMessage;

void tds_put_columns(TdsWriter *writer, uint32_t tds_version, const TdsColumn *columns,
                     size_t count);
/* COLMETADATA without columns: those of before. */
void tds_put_no_columns(TdsWriter *writer);
/* TABNAME and COLINFO behind the columns: none can be written to, and the last one is not to be shown. */
void tds_put_hidden_column(TdsWriter *writer, uint32_t tds_version, size_t count);
/* ROW, or NBCROW when the client understands it and a value is NULL. */
void tds_put_row(TdsWriter *writer, uint32_t tds_version, const TdsColumn *columns,
                 const TdsValue *values, size_t count);
/* The same of columns some of which are bytes already: `encoded[i].ptr` is what tds_put_value would put, NULL included,
 * `is_null` says so of every column. Bytes that follow each other in memory are put at once. */
void tds_put_encoded_row(TdsWriter *writer, uint32_t tds_version, const TdsColumn *columns,
                         const Bytes *encoded, const bool *is_null, const TdsValue *values,
                         size_t count);
void tds_put_done(TdsWriter *writer, uint32_t tds_version, uint8_t token, uint16_t status,
                  uint16_t command, uint64_t row_count);
void tds_put_message(TdsWriter *writer, uint32_t tds_version, bool is_error,
                     const TdsServerMessage *message);
void tds_put_return_status(TdsWriter *writer, int32_t status);
void tds_put_return_value(TdsWriter *writer, uint32_t tds_version, uint16_t ordinal, Str name,
                          const TdsType *type, const TdsValue *value);
void tds_put_env_text(TdsWriter *writer, uint8_t kind, Str new_value, Str old_value);
void tds_put_env_bytes(TdsWriter *writer, uint8_t kind, Bytes new_value, Bytes old_value);
void tds_put_login_ack(TdsWriter *writer, uint32_t tds_version, Str program, uint8_t major,
                       uint8_t minor, uint16_t build);

#endif
