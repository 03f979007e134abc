/* Values: constructors, copies, times as microseconds. Conversions are in value/convert.c, order in
 * value/compare.c. */
#include "sim/value/value_internal.h"

#include <string.h>

SimValue sim_null(SimType type)
{
    return (SimValue){.type = type, .is_null = true};
}

SimValue sim_int(int64_t value, SimTypeKind kind)
{
    return (SimValue){.type = sim_type(kind), .i64 = value};
}

SimValue sim_float(double value)
{
    return (SimValue){.type = sim_type(SIM_FLOAT), .f64 = value};
}

SimValue sim_decimal(Int128 unscaled, uint8_t precision, uint8_t scale)
{
    return (SimValue){.type = sim_type_decimal(precision, scale), .dec = unscaled};
}

SimValue sim_numeric(Int128 unscaled, uint8_t precision, uint8_t scale)
{
    return (SimValue){.type = sim_type_numeric(precision, scale), .dec = unscaled};
}

SimValue sim_nvarchar(Arena *arena, Str utf8)
{
    Bytes bytes = sim_text_from_utf8(arena, NULL, true, utf8);

    return (SimValue){.type  = sim_type_sized(SIM_NVARCHAR, (int64_t)(bytes.len / 2)),
                      .bytes = bytes};
}

SimValue sim_varchar(Arena *arena, Str utf8)
{
    Bytes bytes = sim_text_from_utf8(arena, NULL, false, utf8);

    return (SimValue){.type = sim_type_sized(SIM_VARCHAR, (int64_t)bytes.len), .bytes = bytes};
}

SimValue sim_binary(Bytes bytes, int32_t length)
{
    return (SimValue){.type = sim_type_sized(SIM_BINARY, length), .bytes = bytes};
}

SimValue sim_varbinary(Bytes bytes)
{
    return (SimValue){.type = sim_type_sized(SIM_VARBINARY, (int64_t)bytes.len), .bytes = bytes};
}

static bool has_bytes(SimTypeKind kind)
{
    return !sim_type_is_number(kind) && !sim_type_is_time(kind);
}

SimValue sim_value_copy(Arena *arena, const SimValue *value)
{
    SimValue copy = *value;

    if (value->is_null || !has_bytes(value->type.kind)) return copy;
    uint8_t *bytes = (uint8_t *)arena_alloc_uninit(arena, value->bytes.len + 1);
    if (value->bytes.len > 0) memcpy(bytes, value->bytes.ptr, value->bytes.len);
    copy.bytes.ptr = bytes;
    return copy;
}

bool sim_value_too_long(SimError *error)
{
    return sim_not_supported(error, "a value that grows past %zu bytes", SIM_VALUE_BYTES_MOST);
}

/* Microseconds since 1970, rounded half up to 1/300 s. */
SimValue sim_datetime_from_us(int64_t local_us)
{
    int64_t day_us = INT64_C(86400000000);
    int64_t days   = local_us / day_us - (local_us % day_us < 0 ? 1 : 0);
    int64_t rest   = local_us - days * day_us;
    int64_t ticks  = (rest * 3 + 5000) / 10000;

    if (ticks >= DATETIME_TICKS_PER_DAY) {
        ticks -= DATETIME_TICKS_PER_DAY;
        days++;
    }
    return (SimValue){.type = sim_type(SIM_DATETIME),
                      .time = {.days = (int32_t)(days + DAYS_TO_1970), .ticks = ticks}};
}

int64_t value_ticks(const SimValue *value)
{
    if (value->type.kind == SIM_DATETIME)
        return (value->time.ticks * 100000 + 1) / 3; /* the nearest 100 ns */
    if (value->type.kind == SIM_SMALLDATETIME) return value->time.ticks * 60 * TICKS_PER_SECOND;
    return value->time.ticks;
}

int64_t sim_time_to_us(const SimValue *value)
{
    int64_t days = value->type.kind == SIM_TIME ? 0 : value->time.days - (int64_t)DAYS_TO_1970;

    /* A datetime shows whole milliseconds: .000, .003, .007. */
    if (value->type.kind == SIM_DATETIME)
        return days * INT64_C(86400000000) + (value->time.ticks * 10 + 1) / 3 * 1000;
    return days * INT64_C(86400000000) + value_ticks(value) / 10;
}

Str sim_value_text(Arena *arena, const SimValue *value)
{
    SimType     to    = sim_type_sized(SIM_NVARCHAR, -1);
    SimValue    text  = {0};
    SimError    error = SIM_ERROR_INIT;
    SimTypeKind kind  = value->type.kind;

    if (value->is_null) return STR("NULL");
    if (sim_type_is_text(kind) || kind == SIM_TEXT || kind == SIM_NTEXT || kind == SIM_XML)
        return sim_text_to_utf8(arena, value->type.collation, sim_type_is_unicode(kind),
                                value->bytes);
    if (sim_type_is_binary(kind))
        return str_printf(arena, "0x%.*s", STR_ARG(hex_encode(arena, value->bytes, true)));
    if (!sim_convert(value, &to, 0, false, arena, &text, &error)) return STR("?");
    return sim_text_to_utf8(arena, NULL, true, text.bytes);
}
