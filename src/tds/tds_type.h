/* tds_type.h - types and values as they travel (sqlserver.md 2.9), in a form that knows neither
 * tables nor collations. */
#ifndef TIDELAKE_TDS_TDS_TYPE_H
#define TIDELAKE_TDS_TDS_TYPE_H

#include "tds/tds_packet.h"
#include "types/column_type.h"

typedef struct TdsType {
    uint8_t  token;     /* TDS_TYPE_...; the nullable form */
    bool     is_fixed;  /* read as INT4 or its kin: no length in front of a value */
    uint8_t  precision; /* decimals */
    uint8_t  scale;     /* decimals, times */
    uint8_t  collation[5];
    int32_t  length;    /* bytes; -1: (max) */
    uint32_t user_type; /* 80: rowversion */
} TdsType;

typedef struct TdsVariant TdsVariant;
typedef struct TdsValue {
    bool is_null;
    union {
        int64_t i64; /* bits, integers; money in ten-thousandths */
        double  f64;
        Int128  dec; /* unscaled */
        struct {
            int32_t days; /* since 0001-01-01; of a DATETIMEN since 1900-01-01 */
            int16_t offset_minutes;
            int64_t ticks; /* 100 ns; of a DATETIMEN of 8 bytes 1/300 s, of 4 bytes minutes */
        } time;
        Bytes             bytes; /* text, binary, GUID */
        const TdsVariant *variant;
    };
} TdsValue;

struct TdsVariant { /* sql_variant: a value with a type of its own */
    TdsType  type;  /* no (max) type, no other variant */
    TdsValue value; /* not NULL */
};

/* TYPE_INFO. Fixed-length tokens (INT4, BIT, ...) read as their nullable forms. False: an unknown
 * token, a length, precision or scale that no such type has, or a cursor that failed. */
bool tds_get_type(TdsCursor *cursor, TdsType *out) MUST_CHECK;
void tds_put_type(TdsWriter *writer, const TdsType *type);

/* A parameter's value. Bytes are the cursor's where they are in one piece, else the arena's. False: it
 * ends too early, or is longer than its type, or has a length its type cannot have. That a value is in
 * the range of its type (a date after 9999, a NaN) is the receiver's to check. */
bool tds_get_value(TdsCursor *cursor, const TdsType *type, Arena *arena, TdsValue *out) MUST_CHECK;
/* The same in a row, where text, ntext and image have a pointer in front. */
bool tds_get_row_value(TdsCursor *cursor, const TdsType *type, Arena *arena,
                       TdsValue *out) MUST_CHECK;
/* A value in a row or of an output parameter; it must fit its type. */
void tds_put_value(TdsWriter *writer, const TdsType *type, const TdsValue *value);
/* A value of a parameter, where text, ntext and image have no pointer. */
void tds_put_parameter_value(TdsWriter *writer, const TdsType *type, const TdsValue *value);

#endif
