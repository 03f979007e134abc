/* optional.h - values that may be unknown, for rows with NULLs. */
#ifndef TIDELAKE_TYPES_OPTIONAL_H
#define TIDELAKE_TYPES_OPTIONAL_H

#include "types/offset.h"

typedef struct OptI64 {
    bool    is_set;
    int64_t value;
} OptI64;

typedef struct OptDouble {
    bool   is_set;
    double value;
} OptDouble;

typedef struct OptLsn {
    bool is_set;
    Lsn  lsn;
} OptLsn;

#define OPT_I64(number)        ((OptI64){.is_set = true, .value = (number)})
#define OPT_DOUBLE(number)     ((OptDouble){.is_set = true, .value = (number)})
#define OPT_LSN(position)      ((OptLsn){.is_set = true, .lsn = (position)})
#define OPT_TIME(microseconds) ((OptTime){.is_set = true, .utc_us = (microseconds)})

#endif
