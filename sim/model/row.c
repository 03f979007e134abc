/* row.c - rows as bytes: each column as TDS sends it, with a table of where each begins
 * (sqlserver.md 2.9, 2.18). */
#include "sim/model/model_internal.h"

/* --- widths on the wire --- */

typedef enum WireForm { WIRE_LEN1, WIRE_LEN2, WIRE_PLP, WIRE_TEXT, WIRE_VARIANT } WireForm;

static WireForm wire_form(const SimType *type)
{
    switch (type->kind) {
    case SIM_BIT:
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT:
    case SIM_REAL:
    case SIM_FLOAT:
    case SIM_DECIMAL:
    case SIM_MONEY:
    case SIM_SMALLMONEY:
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET:
    case SIM_UNIQUEIDENTIFIER: return WIRE_LEN1;
    case SIM_CHAR:
    case SIM_NCHAR:
    case SIM_BINARY:
    case SIM_ROWVERSION: return WIRE_LEN2;
    case SIM_VARCHAR:
    case SIM_NVARCHAR:
    case SIM_VARBINARY: return type->length < 0 ? WIRE_PLP : WIRE_LEN2;
    case SIM_TEXT:
    case SIM_NTEXT:
    case SIM_IMAGE: return WIRE_TEXT;
    case SIM_XML: return WIRE_PLP;
    case SIM_VARIANT: return WIRE_VARIANT;
    }
    return WIRE_LEN2;
}

bool type_is_lob(const SimType *type)
{
    WireForm form = wire_form(type);
    return form == WIRE_PLP || form == WIRE_TEXT;
}

bool sim_type_same(const SimType *left, const SimType *right)
{
    if (left->kind != right->kind || left->length != right->length ||
        left->collation != right->collation)
        return false;
    if (left->kind == SIM_DECIMAL && left->precision != right->precision) return false;
    return left->scale == right->scale;
}

static size_t time_width(uint8_t scale)
{
    return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

static size_t decimal_width(uint8_t precision)
{
    return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

/* Bytes of a value of fixed width, without its length. */
static size_t fixed_width(const SimType *type)
{
    switch (type->kind) {
    case SIM_BIT:
    case SIM_TINYINT: return 1;
    case SIM_SMALLINT: return 2;
    case SIM_INT:
    case SIM_REAL:
    case SIM_SMALLMONEY:
    case SIM_SMALLDATETIME: return 4;
    case SIM_BIGINT:
    case SIM_FLOAT:
    case SIM_MONEY:
    case SIM_DATETIME: return 8;
    case SIM_DECIMAL: return decimal_width(type->precision);
    case SIM_DATE: return 3;
    case SIM_TIME: return time_width(type->scale);
    case SIM_DATETIME2: return time_width(type->scale) + 3;
    case SIM_DATETIMEOFFSET: return time_width(type->scale) + 5;
    case SIM_UNIQUEIDENTIFIER: return 16;
    case SIM_CHAR:
    case SIM_NCHAR:
    case SIM_BINARY:
    case SIM_ROWVERSION:
    case SIM_VARCHAR:
    case SIM_NVARCHAR:
    case SIM_VARBINARY:
    case SIM_TEXT:
    case SIM_NTEXT:
    case SIM_IMAGE:
    case SIM_XML:
    case SIM_VARIANT: break;
    }
    return 0;
}

/* --- little-endian numbers --- */

static void put_le(uint8_t *out, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_le(const uint8_t *in, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)in[i] << (8 * i);
    return value;
}

static int64_t get_le_signed(const uint8_t *in, size_t width)
{
    uint64_t value = get_le(in, width);
    unsigned shift = (unsigned)(64 - 8 * width);
    return (int64_t)(value << shift) >> shift;
}

/* --- values of fixed width --- */

#define DAYS_TO_1900 693595 /* from 0001-01-01 */

static const int64_t powers_of_ten[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

static void put_decimal(const SimType *type, Int128 value, uint8_t *out)
{
    bool   negative  = value.upper < 0;
    Int128 magnitude = negative ? int128_negate(value) : value;
    size_t width     = decimal_width(type->precision) - 1;

    out[0] = !negative;
    put_le(out + 1, magnitude.lower, width < 8 ? width : 8);
    if (width > 8) put_le(out + 9, (uint64_t)magnitude.upper, width - 8);
}

static Int128 get_decimal(const uint8_t *in, size_t len)
{
    size_t width     = len - 1;
    Int128 magnitude = {.lower = get_le(in + 1, width < 8 ? width : 8)};

    if (width > 8) magnitude.upper = (int64_t)get_le(in + 9, width - 8);
    return in[0] ? magnitude : int128_negate(magnitude);
}

static void put_float(const SimValue *value, size_t width, uint8_t *out)
{
    float single = (float)value->f64;
    if (width == 4)
        memcpy(out, &single, 4);
    else
        memcpy(out, &value->f64, 8);
}

static double get_float(Bytes data)
{
    float  single;
    double wide;
    if (data.len == 4) {
        memcpy(&single, data.ptr, 4);
        return (double)single;
    }
    memcpy(&wide, data.ptr, 8);
    return wide;
}

static void put_time(const SimType *type, const SimValue *value, uint8_t *out)
{
    size_t width = time_width(type->scale);
    put_le(out, (uint64_t)(value->time.ticks / powers_of_ten[7 - type->scale]), width);
    if (type->kind != SIM_TIME) put_le(out + width, (uint64_t)value->time.days, 3);
    if (type->kind == SIM_DATETIMEOFFSET)
        put_le(out + width + 3, (uint64_t)value->time.offset_minutes, 2);
}

static void get_time(const SimType *type, const uint8_t *in, SimValue *out)
{
    size_t width    = time_width(type->scale);
    out->time.ticks = (int64_t)get_le(in, width) * powers_of_ten[7 - type->scale];
    if (type->kind != SIM_TIME) out->time.days = (int32_t)get_le(in + width, 3);
    if (type->kind == SIM_DATETIMEOFFSET)
        out->time.offset_minutes = (int16_t)get_le_signed(in + width + 3, 2);
}

static void put_fixed(const SimType *type, const SimValue *value, uint8_t *out)
{
    switch (type->kind) {
    case SIM_BIT:
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT:
    case SIM_SMALLMONEY: put_le(out, (uint64_t)value->i64, fixed_width(type)); break;
    case SIM_MONEY:
        put_le(out, (uint64_t)value->i64 >> 32, 4);
        put_le(out + 4, (uint64_t)value->i64 & 0xFFFFFFFF, 4);
        break;
    case SIM_REAL:
    case SIM_FLOAT: put_float(value, fixed_width(type), out); break;
    case SIM_DECIMAL: put_decimal(type, value->dec, out); break;
    case SIM_DATE: put_le(out, (uint64_t)value->time.days, 3); break;
    case SIM_TIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: put_time(type, value, out); break;
    case SIM_DATETIME:
        put_le(out, (uint64_t)(int64_t)(value->time.days - DAYS_TO_1900), 4);
        put_le(out + 4, (uint64_t)value->time.ticks, 4);
        break;
    case SIM_SMALLDATETIME:
        put_le(out, (uint64_t)(int64_t)(value->time.days - DAYS_TO_1900), 2);
        put_le(out + 2, (uint64_t)value->time.ticks, 2);
        break;
    case SIM_UNIQUEIDENTIFIER: memcpy(out, value->bytes.ptr, 16); break;
    case SIM_CHAR:
    case SIM_NCHAR:
    case SIM_BINARY:
    case SIM_ROWVERSION:
    case SIM_VARCHAR:
    case SIM_NVARCHAR:
    case SIM_VARBINARY:
    case SIM_TEXT:
    case SIM_NTEXT:
    case SIM_IMAGE:
    case SIM_XML:
    case SIM_VARIANT: break;
    }
}

static void get_fixed(const SimType *type, Bytes data, SimValue *out)
{
    switch (type->kind) {
    case SIM_BIT:
    case SIM_TINYINT: out->i64 = data.ptr[0]; break;
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT:
    case SIM_SMALLMONEY: out->i64 = get_le_signed(data.ptr, data.len); break;
    case SIM_MONEY:
        out->i64 = (int64_t)(get_le(data.ptr, 4) << 32 | get_le(data.ptr + 4, 4));
        break;
    case SIM_REAL:
    case SIM_FLOAT: out->f64 = get_float(data); break;
    case SIM_DECIMAL: out->dec = get_decimal(data.ptr, data.len); break;
    case SIM_DATE: out->time.days = (int32_t)get_le(data.ptr, 3); break;
    case SIM_TIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: get_time(type, data.ptr, out); break;
    case SIM_DATETIME:
        out->time.days  = (int32_t)get_le_signed(data.ptr, 4) + DAYS_TO_1900;
        out->time.ticks = (int64_t)get_le(data.ptr + 4, 4);
        break;
    case SIM_SMALLDATETIME:
        out->time.days  = (int32_t)get_le(data.ptr, 2) + DAYS_TO_1900;
        out->time.ticks = (int64_t)get_le(data.ptr + 2, 2);
        break;
    case SIM_UNIQUEIDENTIFIER: out->bytes = data; break;
    case SIM_CHAR:
    case SIM_NCHAR:
    case SIM_BINARY:
    case SIM_ROWVERSION:
    case SIM_VARCHAR:
    case SIM_NVARCHAR:
    case SIM_VARBINARY:
    case SIM_TEXT:
    case SIM_NTEXT:
    case SIM_IMAGE:
    case SIM_XML:
    case SIM_VARIANT: break;
    }
}

/* --- sql_variant: base type token, its properties, its bytes --- */

typedef struct VariantForm {
    uint8_t     token;
    uint8_t     property_len;
    SimTypeKind kind;
} VariantForm;

/* clang-format off */
static const VariantForm variant_forms[] = {
    {0x32, 0, SIM_BIT},          {0x30, 0, SIM_TINYINT},        {0x34, 0, SIM_SMALLINT},       {0x38, 0, SIM_INT},
    {0x7F, 0, SIM_BIGINT},       {0x3B, 0, SIM_REAL},           {0x3E, 0, SIM_FLOAT},          {0x6A, 2, SIM_DECIMAL},
    {0x3C, 0, SIM_MONEY},        {0x7A, 0, SIM_SMALLMONEY},     {0x28, 0, SIM_DATE},           {0x29, 1, SIM_TIME},
    {0x3D, 0, SIM_DATETIME},     {0x3A, 0, SIM_SMALLDATETIME},  {0x2A, 1, SIM_DATETIME2},      {0x2B, 1, SIM_DATETIMEOFFSET},
    {0xAF, 7, SIM_CHAR},         {0xA7, 7, SIM_VARCHAR},        {0xEF, 7, SIM_NCHAR},          {0xE7, 7, SIM_NVARCHAR},
    {0xAD, 2, SIM_BINARY},       {0xA5, 2, SIM_VARBINARY},      {0x24, 0, SIM_UNIQUEIDENTIFIER},
};
/* clang-format on */

static const VariantForm numeric_form = {0x6C, 2, SIM_DECIMAL};

static const VariantForm *variant_form_of(const SimType *type)
{
    if (type->is_numeric) return &numeric_form;
    for (size_t i = 0; i < COUNT_OF(variant_forms); i++)
        if (variant_forms[i].kind == type->kind) return &variant_forms[i];
    return NULL;
}

static const VariantForm *variant_form_of_token(uint8_t token)
{
    if (token == numeric_form.token) return &numeric_form;
    for (size_t i = 0; i < COUNT_OF(variant_forms); i++)
        if (variant_forms[i].token == token) return &variant_forms[i];
    return NULL;
}

static size_t variant_size(const SimValue *value)
{
    const VariantForm *form = variant_form_of(&value->type);
    if (value->is_null || form == NULL) return 4;
    size_t width = fixed_width(&value->type);
    return 4u + 2u + form->property_len + (width ? width : value->bytes.len);
}

static void variant_put(const SimValue *value, uint8_t *out)
{
    const VariantForm *form = variant_form_of(&value->type);
    size_t             size = variant_size(value);

    put_le(out, size - 4, 4);
    if (size == 4) return;
    assert(form != NULL);
    out[4]        = form->token;
    out[5]        = form->property_len;
    uint8_t *data = out + 6;
    if (form->property_len == 7) {
        const SimCollation *collation = value->type.collation ? value->type.collation
                                                              : sim_collation_default();
        sim_collation_wire(collation, data);
        put_le(data + 5, (uint64_t)value->type.length, 2);
    } else if (value->type.kind == SIM_DECIMAL) {
        data[0] = value->type.precision;
        data[1] = value->type.scale;
    } else if (form->property_len == 2) {
        put_le(data, (uint64_t)value->type.length, 2);
    } else if (form->property_len == 1) {
        data[0] = value->type.scale;
    }
    data += form->property_len;
    if (fixed_width(&value->type) != 0)
        put_fixed(&value->type, value, data);
    else if (value->bytes.len)
        memcpy(data, value->bytes.ptr, value->bytes.len);
}

static void variant_get(Bytes wire, SimValue *out)
{
    const VariantForm *form = wire.len > 6 ? variant_form_of_token(wire.ptr[4]) : NULL;

    if (form == NULL) {
        out->is_null = true;
        return;
    }
    const uint8_t *property = wire.ptr + 6;
    out->type               = sim_type(form->kind);
    out->type.is_numeric    = form == &numeric_form;
    if (form->property_len == 7) {
        out->type.collation = sim_collation_of_wire(property);
        out->type.length    = (int32_t)get_le(property + 5, 2);
    } else if (form->kind == SIM_DECIMAL) {
        out->type.precision = property[0];
        out->type.scale     = property[1];
    } else if (form->property_len == 2) {
        out->type.length = (int32_t)get_le(property, 2);
    } else if (form->property_len == 1) {
        out->type.scale = property[0];
    }
    Bytes data = {property + form->property_len, wire.len - 6 - form->property_len};
    if (fixed_width(&out->type) != 0)
        get_fixed(&out->type, data, out);
    else
        out->bytes = data;
}

/* --- one column --- */

#define TEXT_HEADER_BYTES 29 /* length of the pointer, the pointer, the timestamp, the length */

size_t wire_size(const SimType *type, const SimValue *value)
{
    switch (wire_form(type)) {
    case WIRE_LEN1: return value->is_null ? 1 : 1 + fixed_width(type);
    case WIRE_LEN2: return value->is_null ? 2 : 2 + value->bytes.len;
    case WIRE_PLP:
        return value->is_null ? 8 : 8 + 4 + value->bytes.len + (value->bytes.len ? 4 : 0);
    case WIRE_TEXT: return value->is_null ? 1 : TEXT_HEADER_BYTES + value->bytes.len;
    case WIRE_VARIANT: return variant_size(value);
    }
    return 0;
}

static void put_bytes(uint8_t *out, Bytes bytes)
{
    if (bytes.len) memcpy(out, bytes.ptr, bytes.len);
}

static void put_plp(const SimValue *value, uint8_t *out)
{
    size_t len = value->bytes.len;
    put_le(out, len, 8);
    out += 8;
    if (len) {
        put_le(out, len, 4);
        put_bytes(out + 4, value->bytes);
        out += 4 + len;
    }
    put_le(out, 0, 4);
}

static void put_text(const SimValue *value, uint8_t *out)
{
    out[0] = 16;
    memset(out + 1, 0xFE, 24); /* a pointer and a timestamp that mean nothing */
    put_le(out + 25, value->bytes.len, 4);
    put_bytes(out + TEXT_HEADER_BYTES, value->bytes);
}

void wire_put(const SimType *type, const SimValue *value, uint8_t *out)
{
    if (value->is_null) {
        put_bytes(out, wire_null(type));
        return;
    }
    switch (wire_form(type)) {
    case WIRE_LEN1:
        out[0] = (uint8_t)fixed_width(type);
        put_fixed(type, value, out + 1);
        break;
    case WIRE_LEN2:
        put_le(out, value->bytes.len, 2);
        put_bytes(out + 2, value->bytes);
        break;
    case WIRE_PLP: put_plp(value, out); break;
    case WIRE_TEXT: put_text(value, out); break;
    case WIRE_VARIANT: variant_put(value, out); break;
    }
}

Bytes wire_null(const SimType *type)
{
    static const uint8_t zeros[4] = {0};
    static const uint8_t ones[8]  = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

    switch (wire_form(type)) {
    case WIRE_LEN1:
    case WIRE_TEXT: return (Bytes){zeros, 1};
    case WIRE_LEN2: return (Bytes){ones, 2};
    case WIRE_PLP: return (Bytes){ones, 8};
    case WIRE_VARIANT: return (Bytes){zeros, 4};
    }
    return (Bytes){zeros, 1};
}

static bool wire_is_null(const SimType *type, Bytes wire)
{
    Bytes null = wire_null(type);
    return wire.len == null.len && memcmp(wire.ptr, null.ptr, null.len) == 0;
}

void wire_get(const SimType *type, Bytes wire, SimValue *out)
{
    *out = (SimValue){.type = *type, .is_null = wire_is_null(type, wire)};
    if (out->is_null) return;
    switch (wire_form(type)) {
    case WIRE_LEN1: get_fixed(type, (Bytes){wire.ptr + 1, wire.len - 1}, out); break;
    case WIRE_LEN2: out->bytes = (Bytes){wire.ptr + 2, wire.len - 2}; break;
    case WIRE_PLP:
        out->bytes = wire.len == 12 ? (Bytes){wire.ptr + 8, 0}
                                    : (Bytes){wire.ptr + 12, wire.len - 16};
        break;
    case WIRE_TEXT:
        out->bytes = (Bytes){wire.ptr + TEXT_HEADER_BYTES, wire.len - TEXT_HEADER_BYTES};
        break;
    case WIRE_VARIANT: variant_get(wire, out); break;
    }
}

/* --- whole rows --- */

static size_t row_bytes(size_t column_count, size_t size, uint8_t flags)
{
    return offsetof(SimRow, bytes) + column_count * row_offset_width(flags) + size;
}

static SimRow *row_init(SimRow *row, size_t column_count, uint8_t flags)
{
    row->previous = NULL;
    row->place    = NULL;
    atomic_init(&row->stamp, STAMP_SYSTEM);
    atomic_init(&row->refs, 1);
    row->column_count = (uint16_t)column_count;
    row->flags        = flags;
    return row;
}

static uint8_t flags_of_size(size_t size)
{
    return size <= UINT8_MAX ? ROW_TINY : size > UINT16_MAX ? ROW_WIDE : 0;
}

static RowBuild build_into(SimRow *row, size_t size)
{
    return (RowBuild){.row = row, .at = row->bytes + row_offsets_size(row), .size = size};
}

RowBuild row_build_begin(Slab *slab, size_t column_count, size_t size)
{
    uint8_t flags = flags_of_size(size);
    SimRow *row   = slab_alloc(slab, row_bytes(column_count, size, flags));

    return build_into(row_init(row, column_count, flags), size);
}

RowBuild row_build_in(Arena *arena, size_t column_count, size_t size)
{
    uint8_t flags = flags_of_size(size);
    SimRow *row   = arena_alloc_uninit(arena, row_bytes(column_count, size, flags));

    return build_into(row_init(row, column_count, flags), size);
}

uint8_t *row_build_column(RowBuild *build, size_t len)
{
    SimRow  *row    = build->row;
    uint8_t *out    = build->at;
    size_t   end    = (size_t)(out - row->bytes) - row_offsets_size(row) + len;
    uint32_t wide   = (uint32_t)end;
    uint16_t narrow = (uint16_t)end;

    assert(build->ordinal < row->column_count);
    assert(end <= build->size);
    if (row->flags & ROW_TINY)
        row->bytes[build->ordinal] = (uint8_t)end;
    else if (row->flags & ROW_WIDE)
        memcpy(row->bytes + 4 * build->ordinal, &wide, 4);
    else
        memcpy(row->bytes + 2 * build->ordinal, &narrow, 2);
    build->ordinal++;
    build->at += len;
    return out;
}

void row_build_copy(RowBuild *build, Bytes wire)
{
    memcpy(row_build_column(build, wire.len), wire.ptr, wire.len);
}

/* Of a key that stands in the rows alone the tombstone has a copy, as its one column. */
SimRow *row_tombstone(const SimTable *table, const SimRow *before)
{
    const Body *body = table_body(table);
    uint8_t     scratch[TREE_KEY_MOST];
    Bytes       key = {NULL, 0};

    if (body->reader != NULL) key = key_reader_read_row(body->reader, before, scratch);
    RowBuild build = row_build_begin(table_slab(table), body->reader != NULL, key.len);
    if (body->reader != NULL) row_build_copy(&build, key);
    build.row->flags |= ROW_TOMBSTONE;
    return build.row;
}

static bool refuse_null(const SimTable *table, const SimTableInfo *info, const SimColumn *column,
                        bool is_update, SimError *error)
{
    return sim_error(error, 515,
                     "Cannot insert the value NULL into column '%.*s', table '%.*s.%.*s.%.*s'; "
                     "column does not allow nulls. %s fails.",
                     STR_ARG(column->name), STR_ARG(table->database->name), STR_ARG(info->schema),
                     STR_ARG(info->name), is_update ? "UPDATE" : "INSERT");
}

#define ROWVERSION_BYTES 8

static bool needs_rowversion(const SimColumn *column, const SimValue *value, const SimRow *before,
                             size_t ordinal)
{
    if (column->type.kind != SIM_ROWVERSION) return false;
    if (value->is_null) return true;
    Bytes old = before != NULL ? row_wire(before, ordinal) : (Bytes){NULL, 0};
    return old.len == 2 + ROWVERSION_BYTES && value->bytes.len == ROWVERSION_BYTES &&
           memcmp(old.ptr + 2, value->bytes.ptr, ROWVERSION_BYTES) == 0;
}

static SimValue next_rowversion(const SimTable *table, SimType type,
                                uint8_t bytes[ROWVERSION_BYTES])
{
    uint64_t number = sim_next_rowversion(table->database);

    for (size_t i = 0; i < ROWVERSION_BYTES; i++)
        bytes[i] = (uint8_t)(number >> (56 - 8 * i));
    return (SimValue){.type = type, .bytes = {bytes, ROWVERSION_BYTES}};
}

static bool check_columns(const SimTable *table, const SimTableInfo *info, const SimValue *values,
                          bool is_update, size_t *size_out, SimError *error)
{
    size_t size = 0;

    for (size_t i = 0; i < info->column_count; i++) {
        const SimColumn *column = &info->columns[i];
        bool             filled = column->type.kind == SIM_ROWVERSION && values[i].is_null;
        if (values[i].is_null && !column->is_nullable && !filled)
            return refuse_null(table, info, column, is_update, error);
        size += filled ? 2 + ROWVERSION_BYTES : wire_size(&column->type, &values[i]);
    }
    if (size > UINT32_MAX) return sim_not_supported(error, "a row of more than 4 GiB");
    *size_out = size;
    return true;
}

bool row_encode(const SimTable *table, const SimTableInfo *info, const SimValue *values,
                const SimRow *before, SimRow **out, SimError *error)
{
    size_t size = 0;

    if (!check_columns(table, info, values, before != NULL, &size, error)) return false;
    RowBuild build = row_build_begin(table_slab(table), info->column_count, size);
    for (size_t i = 0; i < info->column_count; i++) {
        SimValue         made;
        uint8_t          bytes[ROWVERSION_BYTES];
        const SimColumn *column = &info->columns[i];
        const SimValue  *value  = &values[i];
        if (needs_rowversion(column, value, before, i)) {
            made  = next_rowversion(table, column->type, bytes);
            value = &made;
        }
        wire_put(&column->type, value, row_build_column(&build, wire_size(&column->type, value)));
    }
    *out = build.row;
    if (row_check_keys(info, build.row, error)) return true;
    row_release(build.row);
    *out = NULL;
    return false;
}

void row_hold(SimRow *row)
{
    atomic_fetch_add_explicit(&row->refs, 1, memory_order_relaxed);
}

void row_release(SimRow *row)
{
    if (row == NULL) return;
    if (atomic_fetch_sub_explicit(&row->refs, 1, memory_order_acq_rel) == 1)
        slab_free(row, row_bytes(row->column_count, row_size(row), row->flags));
}

size_t info_ordinal(const SimTableInfo *info, int32_t column_id)
{
    size_t ordinal = 0;

    while (ordinal < info->column_count && info->columns[ordinal].column_id != column_id)
        ordinal++;
    assert(ordinal < info->column_count);
    return ordinal;
}

#define CLUSTERED_KEY_MOST 900
#define OTHER_KEY_MOST     1700

static size_t key_data_len(const SimTableInfo *info, const SimIndex *index, const SimRow *row)
{
    size_t len = 0;

    for (size_t i = 0; i < index->column_count; i++) {
        SimValue value;
        size_t   ordinal = info_ordinal(info, index->columns[i].column_id);
        size_t   fixed   = fixed_width(&info->columns[ordinal].type);
        wire_get(&info->columns[ordinal].type, row_wire(row, ordinal), &value);
        if (!value.is_null) len += fixed != 0 ? fixed : value.bytes.len;
    }
    return len;
}

bool row_check_keys(const SimTableInfo *info, const SimRow *row, SimError *error)
{
    if (row_size(row) <= CLUSTERED_KEY_MOST) return true;
    for (size_t i = 0; i < info->index_count; i++) {
        const SimIndex *index = info->indexes[i];
        size_t          most  = index->is_clustered ? CLUSTERED_KEY_MOST : OTHER_KEY_MOST;
        size_t          len   = key_data_len(info, index, row);
        if (len <= most) continue;
        (void)sim_error(error, 1946,
                        "Operation failed. The index entry of length %zu bytes for the index "
                        "'%.*s' exceeds the maximum length of %zu bytes for %s indexes.",
                        len, STR_ARG(index->name), most,
                        index->is_clustered ? "clustered" : "nonclustered");
        error->state = 3;
        return false;
    }
    return true;
}

void row_index_key(const SimTableInfo *info, const SimIndex *index, const SimRow *row, Buf *out)
{
    for (size_t i = 0; i < index->column_count; i++) {
        SimValue value;
        size_t   ordinal = info_ordinal(info, index->columns[i].column_id);
        wire_get(&info->columns[ordinal].type, row_wire(row, ordinal), &value);
        sim_sort_key(&value, index->columns[i].descending, out);
    }
}

void sim_row_value(const SimTable *table, const SimRow *row, size_t ordinal, SimValue *out)
{
    wire_get(&sim_table_info(table)->columns[ordinal].type, row_wire(row, ordinal), out);
}

Bytes sim_row_wire(const SimTable *table, const SimRow *row, size_t ordinal)
{
    (void)table;
    return row_wire(row, ordinal);
}

void sim_wire_value(const SimType *type, Bytes wire, SimValue *out)
{
    wire_get(type, wire, out);
}
