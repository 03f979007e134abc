/* checksum.h - a 64-bit checksum of bytes (XXH64, seed 0): finds damage, keeps no secrets, and may be stored. */
#ifndef TIDELAKE_BASE_CHECKSUM_H
#define TIDELAKE_BASE_CHECKSUM_H

#include "base/str.h"

#define CHECKSUM_STRIPE 32

typedef struct Checksum {
    uint64_t lanes[4];
    uint64_t length;
    uint8_t  rest[CHECKSUM_STRIPE]; /* bytes that wait for their stripe to be full */
} Checksum;

Checksum checksum_begin(void);
void     checksum_add(Checksum *sum, Bytes data); /* cut wherever one likes */
uint64_t checksum_end(const Checksum *sum);
uint64_t checksum_of(Bytes data);

#endif
