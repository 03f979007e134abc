/* tds_type.h - types and values as they travel (sqlserver.md 2.9), in a form that knows neither tables nor collations. */
#ifndef TIDELAKE_TDS_TDS_TYPE_H
#define TIDELAKE_TDS_TDS_TYPE_H

#include "tds/tds_packet.h"
#include "types/column_type.h"

typedef struct TdsType {
    uint8_t  token;  /* TDS_TYPE_...; the nullable form */
    int32_t  length; /* bytes; -1: (max) */
    uint8_t  precision;
    uint8_t  scale;
    uint8_t  collation[5];
    uint32_t user_type; /* 80: rowversion */
} TdsType;

typedef struct TdsValue {
    bool is_null;
    union {
        int64_t i64; /* bits, integers; money in ten-thousandths */
        double  f64;
        Int128  dec; /* unscaled */
        struct {
            int32_t
                days; /* DATEN, DATETIME2N, DATETIMEOFFSETN: since 0001-01-01; DATETIMEN: since 1900-01-01 */
            int16_t offset_minutes;
            int64_t ticks; /* TIMEN and its kin: 100 ns; DATETIMEN 8: 1/300 s; 4: minutes */
        } time;
        Bytes bytes;
    };
} TdsValue;

/* TYPE_INFO. Fixed-length tokens (INT4, BIT, ...) read as their nullable forms. False: an unknown token or a cursor that failed. */
bool tds_get_type(TdsCursor *cursor, TdsType *out) MUST_CHECK;
void tds_put_type(TdsWriter *writer, const TdsType *type);
/* `version`: 7.1 has no (max) types. */
bool tds_get_value(TdsCursor *cursor, const TdsType *type, Arena *arena, TdsValue *out) MUST_CHECK;
void tds_put_value(TdsWriter *writer, const TdsType *type, const TdsValue *value);

#endif
