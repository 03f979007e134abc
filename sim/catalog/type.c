/* type.c - types as the catalogue and the ODBC procedures describe them. */
#include "sim/catalog/catalog_internal.h"

const TypeFacts *catalog_facts(const SimType *type)
{
    /* kind, system_type_id, TDS token, fixed length or 0, precision, scale, ODBC type */
    static const TypeFacts facts[] = {
        {SIM_BIT, 104, 0x68, 1, 1, 0, -7},         {SIM_TINYINT, 48, 0x26, 1, 3, 0, -6},
        {SIM_SMALLINT, 52, 0x26, 2, 5, 0, 5},      {SIM_INT, 56, 0x26, 4, 10, 0, 4},
        {SIM_BIGINT, 127, 0x26, 8, 19, 0, -5},     {SIM_REAL, 59, 0x6D, 4, 24, 0, 7},
        {SIM_FLOAT, 62, 0x6D, 8, 53, 0, 6},        {SIM_DECIMAL, 106, 0x6A, 0, 18, 0, 3},
        {SIM_MONEY, 60, 0x6E, 8, 19, 4, 3},        {SIM_SMALLMONEY, 122, 0x6E, 4, 10, 4, 3},
        {SIM_DATE, 40, 0x28, 3, 10, 0, -9},        {SIM_TIME, 41, 0x29, 0, 16, 7, -9},
        {SIM_DATETIME, 61, 0x6F, 8, 23, 3, 11},    {SIM_SMALLDATETIME, 58, 0x6F, 4, 16, 0, 11},
        {SIM_DATETIME2, 42, 0x2A, 0, 27, 7, -9},   {SIM_DATETIMEOFFSET, 43, 0x2B, 0, 34, 7, -9},
        {SIM_CHAR, 175, 0xAF, 0, 0, 0, 1},         {SIM_VARCHAR, 167, 0xA7, 0, 0, 0, 12},
        {SIM_NCHAR, 239, 0xEF, 0, 0, 0, -8},       {SIM_NVARCHAR, 231, 0xE7, 0, 0, 0, -9},
        {SIM_BINARY, 173, 0xAD, 0, 0, 0, -2},      {SIM_VARBINARY, 165, 0xA5, 0, 0, 0, -3},
        {SIM_ROWVERSION, 189, 0xAD, 8, 0, 0, -2},  {SIM_UNIQUEIDENTIFIER, 36, 0x24, 16, 0, 0, -11},
        {SIM_TEXT, 35, 0x23, 16, 0, 0, -1},        {SIM_NTEXT, 99, 0x63, 16, 0, 0, -10},
        {SIM_IMAGE, 34, 0x22, 16, 0, 0, -4},       {SIM_XML, 241, 0xF1, -1, 0, 0, -10},
        {SIM_VARIANT, 98, 0x62, 8016, 0, 0, -150},
    };

    static const TypeFacts numeric = {SIM_DECIMAL, 108, 0x6C, 0, 18, 0, 2};

    if (type->is_numeric) return &numeric;
    for (size_t i = 0; i < COUNT_OF(facts); i++)
        if (facts[i].kind == type->kind) return &facts[i];
    return &facts[0];
}

int catalog_type_id(const SimType *type)
{
    return catalog_facts(type)->type_id;
}

int catalog_tds_type(const SimType *type)
{
    return catalog_facts(type)->tds_type;
}

static int time_bytes(int scale)
{
    return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

int catalog_max_length(const SimType *type)
{
    if (type->kind == SIM_DECIMAL)
        return type->precision <= 9    ? 5
               : type->precision <= 19 ? 9
               : type->precision <= 28 ? 13
                                       : 17;
    if (type->kind == SIM_TIME) return time_bytes(type->scale);
    if (type->kind == SIM_DATETIME2) return time_bytes(type->scale) + 3;
    if (type->kind == SIM_DATETIMEOFFSET) return time_bytes(type->scale) + 5;
    if (type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY) return type->length;
    return catalog_facts(type)->length;
}

int catalog_precision(const SimType *type)
{
    static const int time_digits[] = {8, 10, 11, 12, 13, 14, 15, 16};
    int              scale         = MIN(type->scale, 7);

    if (type->kind == SIM_DECIMAL) return type->precision;
    if (type->kind == SIM_TIME) return time_digits[scale];
    if (type->kind == SIM_DATETIME2) return time_digits[scale] + 11;
    if (type->kind == SIM_DATETIMEOFFSET) return time_digits[scale] + 18;
    return catalog_facts(type)->precision;
}

int catalog_scale(const SimType *type)
{
    if (type->kind == SIM_DECIMAL || type->kind == SIM_TIME || type->kind == SIM_DATETIME2 ||
        type->kind == SIM_DATETIMEOFFSET)
        return type->scale;
    return catalog_facts(type)->scale;
}
