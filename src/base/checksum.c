/* checksum.c - four lanes of eight bytes each, mixed at the end. */
#include "base/checksum.h"

#include "base/macros.h"

#include <string.h>

#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

/* Little-endian, whatever the machine. */
static uint64_t load_4(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

static uint64_t load_8(const uint8_t *at)
{
    return load_4(at) | load_4(at + 4) << 32;
}

static uint64_t round_of(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * PRIME_2, 31) * PRIME_1;
}

static void add_stripe(Checksum *sum, const uint8_t *at)
{
    for (size_t i = 0; i < COUNT_OF(sum->lanes); i++)
        sum->lanes[i] = round_of(sum->lanes[i], load_8(at + 8 * i));
}

Checksum checksum_begin(void)
{
    return (Checksum){.lanes = {PRIME_1 + PRIME_2, PRIME_2, 0, (uint64_t)0 - PRIME_1}};
}

void checksum_add(Checksum *sum, Bytes data)
{
    const uint8_t *at   = data.ptr;
    size_t         left = data.len, held = sum->length % CHECKSUM_STRIPE;

    sum->length += data.len;
    if (held > 0) {
        size_t taken = MIN(left, CHECKSUM_STRIPE - held);

        memcpy(sum->rest + held, at, taken);
        if (held + taken < CHECKSUM_STRIPE) return;
        add_stripe(sum, sum->rest);
        at += taken;
        left -= taken;
    }
    for (; left >= CHECKSUM_STRIPE; left -= CHECKSUM_STRIPE, at += CHECKSUM_STRIPE)
        add_stripe(sum, at);
    if (left > 0) memcpy(sum->rest, at, left);
}

static uint64_t join_lanes(const Checksum *sum)
{
    const uint64_t *lanes = sum->lanes;
    uint64_t        all;

    if (sum->length < CHECKSUM_STRIPE) return PRIME_5;
    all = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (size_t i = 0; i < COUNT_OF(sum->lanes); i++)
        all = (all ^ round_of(0, lanes[i])) * PRIME_1 + PRIME_4;
    return all;
}

uint64_t checksum_end(const Checksum *sum)
{
    uint64_t       all  = join_lanes(sum) + sum->length;
    const uint8_t *at   = sum->rest;
    size_t         left = sum->length % CHECKSUM_STRIPE;

    for (; left >= 8; left -= 8, at += 8)
        all = rotate(all ^ round_of(0, load_8(at)), 27) * PRIME_1 + PRIME_4;
    if (left >= 4) {
        all = rotate(all ^ load_4(at) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        left -= 4;
        at += 4;
    }
    for (; left > 0; left--, at++)
        all = rotate(all ^ *at * PRIME_5, 11) * PRIME_1;
    all = (all ^ all >> 33) * PRIME_2;
    all = (all ^ all >> 29) * PRIME_3;
    return all ^ all >> 32;
}

uint64_t checksum_of(Bytes data)
{
    Checksum sum = checksum_begin();

    checksum_add(&sum, data);
    return checksum_end(&sum);
}
