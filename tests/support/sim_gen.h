/* sim_gen.h - random values of every T-SQL type, with the extremes and the near-equal ones
 * over-represented. */
#ifndef TIDELAKE_SUPPORT_SIM_GEN_H
#define TIDELAKE_SUPPORT_SIM_GEN_H

#include "support/test_support.h"

#include "sim/value/value_internal.h"

#include <math.h>

UNUSED static int64_t gen_i64(Rng *rng, int64_t from, int64_t to)
{
    int64_t small = rng_between(rng, -3, 3);

    switch (rng_below(rng, 5)) {
    case 0: return from;
    case 1: return to;
    case 2: return MAX(from, MIN(to, small));
    default: return rng_between(rng, from, to);
    }
}

UNUSED static double gen_double(Rng *rng)
{
    uint64_t bits  = rng_u64(rng);
    double   value = 0;

    switch (rng_below(rng, 4)) {
    case 0: return (double)rng_between(rng, -5, 5);
    case 1: return -0.0;
    case 2: return (double)rng_between(rng, -100000, 100000) / 1000;
    default: memcpy(&value, &bits, sizeof value); return isfinite(value) ? value : 1e308;
    }
}

UNUSED static Wide gen_wide(Rng *rng, int precision)
{
    UWide limit = wide_power_of_ten((int)rng_between(rng, 0, precision));
    UWide value = ((UWide)rng_u64(rng) << 64 | rng_u64(rng)) % limit;

    if (rng_below(rng, 8) == 0) value = wide_power_of_ten(precision) - 1;
    return rng_below(rng, 2) == 0 ? (Wide)value : -(Wide)value;
}

/* Letters of few kinds, so that texts often agree in part. */
UNUSED static Str gen_text(Rng *rng, Arena *arena)
{
    static const char *const pieces[] = {"a",
                                         "A",
                                         "b",
                                         "B",
                                         "z",
                                         "n",
                                         "N",
                                         "i",
                                         "I",
                                         " ",
                                         " ",
                                         "  ",
                                         "-",
                                         "'",
                                         "\t",
                                         "\x01",
                                         "!",
                                         "~",
                                         "0",
                                         "9",
                                         "s",
                                         "ss",
                                         "\xC3\xA1",
                                         "\xC3\x81",
                                         "\xC3\x9F",
                                         "\xC3\xA6",
                                         "ae",
                                         "\xC5\x9F",
                                         "\xC4\xB1",
                                         "\xC4\xB0",
                                         "\xCE\xB1",
                                         "\xCE\x91",
                                         "\xCE\xA9",
                                         "\xCF\x82",
                                         "\xD0\x99",
                                         "\xD0\xB9",
                                         "e\xCC\x81",
                                         "\xC3\xA9",
                                         "\xCC\x81",
                                         "\xEF\xBC\xA1",
                                         "\xE4\xB8\x80",
                                         "\xF0\x9F\x98\x80",
                                         "\xC2\xA0",
                                         "\xE2\x82\xAC",
                                         "\xEF\xBF\xBD"};
    Str                      out      = STR_EMPTY;

    for (uint64_t count = rng_below(rng, 6); count > 0; count--)
        out = str_printf(arena, "%.*s%s", STR_ARG(out), pieces[rng_below(rng, COUNT_OF(pieces))]);
    return out;
}

UNUSED static Bytes gen_bytes(Rng *rng, Arena *arena, size_t size)
{
    uint8_t *bytes = ARENA_ARRAY(arena, uint8_t, size + 1);

    for (size_t i = 0; i < size; i++)
        bytes[i] = rng_below(rng, 3) == 0
                       ? 0
                       : (uint8_t)(rng_below(rng, 3) == 0 ? 0xFF : rng_below(rng, 256));
    return (Bytes){bytes, size};
}

UNUSED static SimType gen_type(Rng *rng, SimTypeKind kind)
{
    SimType type = sim_type(kind);

    if (kind == SIM_DECIMAL) {
        int precision = (int)rng_between(rng, 1, 38);
        type          = sim_type_decimal(precision, (int)rng_between(rng, 0, precision));
    } else if (kind == SIM_TIME || kind == SIM_DATETIME2 || kind == SIM_DATETIMEOFFSET) {
        type = sim_type_time(kind, (int)rng_between(rng, 0, 7));
    } else if (sim_type_is_text(kind) || kind == SIM_BINARY || kind == SIM_VARBINARY) {
        type = sim_type_sized(kind, rng_between(rng, 1, 30));
    }
    return type;
}

UNUSED static void gen_time(Rng *rng, SimValue *out)
{
    const SimType *type = &out->type;
    int64_t        unit = (int64_t)wide_power_of_ten(7 - type->scale);
    bool           old  = type->kind == SIM_DATETIME || type->kind == SIM_SMALLDATETIME;
    int64_t        from = type->kind == SIM_DATETIME        ? 639905
                          : type->kind == SIM_SMALLDATETIME ? DAYS_TO_1900
                                                            : 0;
    int64_t        to = type->kind == SIM_SMALLDATETIME ? DAYS_TO_1900 + UINT16_MAX : DAYS_TO_9999;

    if (type->kind != SIM_TIME) out->time.days = (int32_t)gen_i64(rng, from, to);
    if (type->kind == SIM_DATETIME) out->time.ticks = gen_i64(rng, 0, DATETIME_TICKS_PER_DAY - 1);
    if (type->kind == SIM_SMALLDATETIME) out->time.ticks = gen_i64(rng, 0, 1439);
    if (!old && type->kind != SIM_DATE)
        out->time.ticks = gen_i64(rng, 0, TICKS_PER_DAY / unit - 1) * unit;
    if (type->kind == SIM_DATETIMEOFFSET) {
        out->time.days           = (int32_t)MAX(1, MIN(out->time.days, DAYS_TO_9999 - 1));
        out->time.offset_minutes = (int16_t)rng_between(rng, -840, 840);
    }
}

/* A value of the type; never NULL. */
UNUSED static SimValue gen_value(Rng *rng, Arena *arena, const SimType *type)
{
    SimValue value = {.type = *type};

    switch (type->kind) {
    case SIM_BIT: value.i64 = rng_between(rng, 0, 1); break;
    case SIM_TINYINT: value.i64 = gen_i64(rng, 0, UINT8_MAX); break;
    case SIM_SMALLINT: value.i64 = gen_i64(rng, INT16_MIN, INT16_MAX); break;
    case SIM_INT:
    case SIM_SMALLMONEY: value.i64 = gen_i64(rng, INT32_MIN, INT32_MAX); break;
    case SIM_BIGINT:
    case SIM_MONEY: value.i64 = gen_i64(rng, INT64_MIN, INT64_MAX); break;
    case SIM_FLOAT: value.f64 = gen_double(rng); break;
    case SIM_REAL: value.f64 = (double)(float)fmax(-3e38, fmin(3e38, gen_double(rng))); break;
    case SIM_DECIMAL: value.dec = wide_to(gen_wide(rng, type->precision)); break;
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: gen_time(rng, &value); break;
    case SIM_CHAR:
    case SIM_VARCHAR:
    case SIM_TEXT:
        value.bytes = sim_text_from_utf8(arena, type->collation, false, gen_text(rng, arena));
        break;
    case SIM_NCHAR:
    case SIM_NVARCHAR:
    case SIM_NTEXT:
    case SIM_XML:
        value.bytes = sim_text_from_utf8(arena, type->collation, true, gen_text(rng, arena));
        break;
    case SIM_BINARY:
    case SIM_VARBINARY:
    case SIM_IMAGE:
    case SIM_VARIANT: value.bytes = gen_bytes(rng, arena, rng_below(rng, 6)); break;
    case SIM_ROWVERSION: value.bytes = gen_bytes(rng, arena, 8); break;
    case SIM_UNIQUEIDENTIFIER: value.bytes = gen_bytes(rng, arena, 16); break;
    }
    return value;
}

#endif
