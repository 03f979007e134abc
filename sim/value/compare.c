/* The order of values, and byte keys that have the same order (sqlserver.md 2.11). */
#include "sim/value/value_internal.h"

#include "base/buf.h"
#include "sim/value/collation_internal.h"

#include <string.h>

static int order_i64(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right ? 1 : 0;
}

static int order_wide(Wide left, Wide right)
{
    return left < right ? -1 : left > right ? 1 : 0;
}

static int order_double(double left, double right)
{
    return left < right ? -1 : left > right ? 1 : 0;
}

/* The shorter is padded with zero bytes. */
static int order_binary(Bytes left, Bytes right)
{
    size_t common = MIN(left.len, right.len);
    int    order  = common == 0 ? 0 : memcmp(left.ptr, right.ptr, common);

    if (order != 0) return order < 0 ? -1 : 1;
    for (size_t i = common; i < left.len; i++) {
        if (left.ptr[i] != 0) return 1;
    }
    for (size_t i = common; i < right.len; i++) {
        if (right.ptr[i] != 0) return -1;
    }
    return 0;
}

/* The last group of the text decides first. */
static const uint8_t guid_order[16] = {10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3};

static int order_guid(Bytes left, Bytes right)
{
    for (size_t i = 0; i < sizeof guid_order; i++) {
        uint8_t one = left.ptr[guid_order[i]];
        uint8_t two = right.ptr[guid_order[i]];
        if (one != two) return one < two ? -1 : 1;
    }
    return 0;
}

static int order_time(const SimValue *left, const SimValue *right)
{
    if (left->time.days != right->time.days) return left->time.days < right->time.days ? -1 : 1;
    return order_i64(left->time.ticks, right->time.ticks);
}

int sim_compare_same(const SimValue *left, const SimValue *right)
{
    if (left->is_null || right->is_null) return left->is_null ? (right->is_null ? 0 : -1) : 1;
    switch (left->type.kind) {
    case SIM_BIT:
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT:
    case SIM_MONEY:
    case SIM_SMALLMONEY: return order_i64(left->i64, right->i64);
    case SIM_REAL:
    case SIM_FLOAT: return order_double(left->f64, right->f64);
    case SIM_DECIMAL: return order_wide(wide_from(left->dec), wide_from(right->dec));
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: return order_time(left, right);
    case SIM_CHAR:
    case SIM_VARCHAR:
    case SIM_TEXT: return sim_text_compare(left->type.collation, false, left->bytes, right->bytes);
    case SIM_NCHAR:
    case SIM_NVARCHAR:
    case SIM_NTEXT:
    case SIM_XML: return sim_text_compare(left->type.collation, true, left->bytes, right->bytes);
    case SIM_BINARY:
    case SIM_VARBINARY:
    case SIM_ROWVERSION:
    case SIM_IMAGE:
    case SIM_VARIANT: return order_binary(left->bytes, right->bytes);
    case SIM_UNIQUEIDENTIFIER: return order_guid(left->bytes, right->bytes);
    }
    return 0;
}

/* Exact numbers of any kinds, without converting: whole parts first, then what is behind the
 * point. */
static int compare_exact(const SimValue *left, const SimValue *right)
{
    Wide one, two;
    int  one_scale, two_scale;

    value_as_decimal(left, &one, &one_scale);
    value_as_decimal(right, &two, &two_scale);
    Wide one_unit = (Wide)wide_power_of_ten(one_scale);
    Wide two_unit = (Wide)wide_power_of_ten(two_scale);
    if (one / one_unit != two / two_unit) return order_wide(one / one_unit, two / two_unit);
    int  scale    = MAX(one_scale, two_scale);
    Wide one_rest = one % one_unit * (Wide)wide_power_of_ten(scale - one_scale);
    Wide two_rest = two % two_unit * (Wide)wide_power_of_ten(scale - two_scale);
    return order_wide(one_rest, two_rest);
}

static bool refuse(const SimType *type, SimError *error)
{
    if (sim_type_is_lob(type->kind))
        return sim_error(error, 306,
                         "The text, ntext, and image data types cannot be compared or sorted, "
                         "except when using IS NULL or LIKE operator.");
    if (type->kind == SIM_XML)
        return sim_error(error, 305,
                         "The XML data type cannot be compared or sorted, except when using the IS "
                         "NULL operator.");
    return true;
}

/* Both converted to the type that wins. Values are small and the arena lives for one comparison. */
static bool compare_converted(const SimValue *left, const SimValue *right, int *out,
                              SimError *error)
{
    SimType  common;
    SimValue one, two;
    Arena   *scratch = arena_new();
    bool     ok      = false;

    if (!sim_type_unify(&left->type, &right->type, &common, error)) goto done;
    if (sim_type_is_text(common.kind) || sim_type_is_binary(common.kind)) common.length = -1;
    if (common.kind == SIM_DATETIME2 || common.kind == SIM_TIME ||
        common.kind == SIM_DATETIMEOFFSET)
        common = sim_type_time(common.kind,
                               7); /* a tick of datetime is finer than its three digits */
    if (!sim_convert(left, &common, 0, true, scratch, &one, error)) goto done;
    if (!sim_convert(right, &common, 0, true, scratch, &two, error)) goto done;
    *out = sim_compare_same(&one, &two);
    ok   = true;
done:
    arena_close(scratch);
    return ok;
}

bool sim_compare(const SimValue *left, const SimValue *right, int *out, SimError *error)
{
    SimTypeKind one  = left->type.kind;
    SimTypeKind two  = right->type.kind;
    bool        wide = sim_type_is_unicode(one);

    if (!refuse(&left->type, error) || !refuse(&right->type, error)) return false;
    if (left->is_null || right->is_null) {
        *out = left->is_null ? (right->is_null ? 0 : -1) : 1;
        return true;
    }
    if (value_is_exact(one) && value_is_exact(two)) {
        *out = one != SIM_DECIMAL && one == two ? order_i64(left->i64, right->i64)
                                                : compare_exact(left, right);
        return true;
    }
    if (sim_type_is_text(one) && sim_type_is_text(two) && wide == sim_type_is_unicode(two)) {
        const SimCollation *collation = left->type.collation != NULL ? left->type.collation
                                                                     : right->type.collation;
        if (right->type.collation == NULL || right->type.collation == collation) {
            *out = sim_text_compare(collation, wide, left->bytes, right->bytes);
            return true;
        }
    }
    if (sim_type_is_binary(one) && sim_type_is_binary(two)) {
        *out = order_binary(left->bytes, right->bytes);
        return true;
    }
    if (one == two && !sim_type_is_text(one)) {
        *out = sim_compare_same(left, right);
        return true;
    }
    return compare_converted(left, right, out, error);
}

/* --- sort keys --- */
static void append_big_endian(Buf *out, uint64_t value, int bytes)
{
    uint8_t text[8];

    for (int i = 0; i < bytes; i++)
        text[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
    buf_append_bytes(out, text, (size_t)bytes);
}

static void append_signed(Buf *out, int64_t value, int bytes)
{
    append_big_endian(out, (uint64_t)value ^ (UINT64_C(1) << (bytes * 8 - 1)), bytes);
}

static void append_double(Buf *out, double value)
{
    double   plain = value + 0.0; /* -0 is 0 */
    uint64_t bits;

    memcpy(&bits, &plain, sizeof bits);
    append_big_endian(out, bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63, 8);
}

static void append_decimal(Buf *out, const SimValue *value)
{
    Wide number = wide_from(value->dec);

    if (value->type.precision <= 18) {
        append_signed(out, (int64_t)number, 8);
    } else {
        append_signed(out, (int64_t)(number >> 64), 8);
        append_big_endian(out, (uint64_t)(UWide)number, 8);
    }
}

/* Zero bytes at the end do not count. A zero inside is 00 FF, the end 00 00. */
static void append_binary(Buf *out, Bytes bytes)
{
    size_t len = bytes.len, zeros = 2, at = 0;

    while (len > 0 && bytes.ptr[len - 1] == 0)
        len--;
    for (size_t i = 0; i < len; i++)
        zeros += bytes.ptr[i] == 0;
    char *text = buf_reserve(out, len + zeros);
    if (text == NULL) return;
    for (size_t i = 0; i < len; i++) {
        text[at++] = (char)bytes.ptr[i];
        if (bytes.ptr[i] == 0) text[at++] = (char)(uint8_t)0xFF;
    }
    text[at++] = 0;
    text[at++] = 0;
    buf_advance(out, at);
}

static void append_time(Buf *out, const SimValue *value)
{
    if (value->type.kind != SIM_TIME) append_big_endian(out, (uint64_t)value->time.days, 3);
    if (value->type.kind != SIM_DATE) append_big_endian(out, (uint64_t)value->time.ticks, 5);
}

static void append_guid(Buf *out, Bytes bytes)
{
    for (size_t i = 0; i < sizeof guid_order; i++)
        buf_append_char(out, (char)bytes.ptr[guid_order[i]]);
}

static void append_key(const SimValue *value, Buf *out)
{
    switch (value->type.kind) {
    case SIM_BIT:
    case SIM_TINYINT: append_big_endian(out, (uint64_t)value->i64, 1); break;
    case SIM_SMALLINT: append_signed(out, value->i64, 2); break;
    case SIM_INT:
    case SIM_SMALLMONEY: append_signed(out, value->i64, 4); break;
    case SIM_BIGINT:
    case SIM_MONEY: append_signed(out, value->i64, 8); break;
    case SIM_REAL:
    case SIM_FLOAT: append_double(out, value->f64); break;
    case SIM_DECIMAL: append_decimal(out, value); break;
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: append_time(out, value); break;
    case SIM_CHAR:
    case SIM_VARCHAR:
    case SIM_TEXT: collation_sort_key(value->type.collation, false, value->bytes, out); break;
    case SIM_NCHAR:
    case SIM_NVARCHAR:
    case SIM_NTEXT:
    case SIM_XML: collation_sort_key(value->type.collation, true, value->bytes, out); break;
    case SIM_BINARY:
    case SIM_VARBINARY:
    case SIM_ROWVERSION:
    case SIM_IMAGE:
    case SIM_VARIANT: append_binary(out, value->bytes); break;
    case SIM_UNIQUEIDENTIFIER: append_guid(out, value->bytes); break;
    }
}

void sim_sort_key(const SimValue *value, bool descending, Buf *out)
{
    size_t start = out->len;

    buf_append_char(out, value->is_null ? 0 : 1);
    if (!value->is_null) append_key(value, out);
    if (!descending) return;
    for (size_t i = start; i < out->len; i++)
        out->ptr[i] = (char)~out->ptr[i];
}

size_t sim_sort_key_most(const SimType *type)
{
    switch (type->kind) {
    case SIM_BIT:
    case SIM_TINYINT: return 1 + 1;
    case SIM_SMALLINT: return 1 + 2;
    case SIM_INT:
    case SIM_SMALLMONEY: return 1 + 4;
    case SIM_BIGINT:
    case SIM_MONEY:
    case SIM_REAL:
    case SIM_FLOAT:
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: return 1 + 8;
    case SIM_DECIMAL:
    case SIM_UNIQUEIDENTIFIER: return 1 + 16;
    case SIM_ROWVERSION: return 1 + 2 * 8 + 2;
    case SIM_BINARY:
    case SIM_VARBINARY: return type->length > 0 ? 1 + 2 * (size_t)type->length + 2 : 0;
    case SIM_CHAR:
    case SIM_VARCHAR:
    case SIM_NCHAR:
    case SIM_NVARCHAR:
    case SIM_TEXT:
    case SIM_NTEXT:
    case SIM_IMAGE:
    case SIM_XML:
    case SIM_VARIANT: return 0;
    }
    return 0;
}
