/* tds_shape.h - how the types of TDS look on the wire, one word for each way. */
#ifndef TIDELAKE_TDS_SHAPE_H
#define TIDELAKE_TDS_SHAPE_H

#include "tds/tds_type.h"

#define TDS_MAX_LENGTH  0xFFFF /* as a length: a (max) type, or NULL */
#define TDS_PLP_NULL    UINT64_MAX
#define TDS_PLP_UNKNOWN (UINT64_MAX - 1)

typedef enum TdsShape {
    SHAPE_UNKNOWN,
    SHAPE_NULL,        /* nothing at all */
    SHAPE_BYTE_LENGTH, /* one byte of length in the type and in front of a value */
    SHAPE_DECIMAL,     /* that, with precision and scale */
    SHAPE_DATE,        /* nothing in the type */
    SHAPE_SCALE,       /* a scale in the type */
    SHAPE_BINARY,      /* two bytes of length, or (max) */
    SHAPE_TEXT,        /* that, with a collation */
    SHAPE_LOB,         /* four bytes of length */
    SHAPE_LOB_TEXT,    /* that, with a collation */
    SHAPE_XML,
    SHAPE_VARIANT
} TdsShape;

typedef struct TdsFixedForm {
    uint8_t fixed, nullable, length;
} TdsFixedForm;

TdsShape            tds_shape(uint8_t token);
const TdsFixedForm *tds_fixed_form(uint8_t fixed);                  /* NULL: it is none */
uint8_t             tds_fixed_of(uint8_t nullable, int32_t length); /* 0: there is none */
size_t              tds_time_bytes(uint8_t scale);
int64_t             tds_tick_unit(uint8_t scale); /* 100 ns in a unit of the scale */

#endif
