/* proc_type.c - sp_datatype_info, and how ODBC and JDBC see a column's type. */
#include "sim/catalog/catalog_internal.h"

/* --- columns --- */
int catalog_odbc_type(const SimType *type, bool version3)
{
    if (!version3) return catalog_facts(type)->odbc_type;
    switch ((int)type->kind) {
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2: return 93;
    case SIM_DATE: return 91;
    case SIM_TIME: return -154;
    case SIM_DATETIMEOFFSET: return -155;
    case SIM_XML: return -152;
    default: return catalog_facts(type)->odbc_type;
    }
}

int catalog_odbc_precision(const SimType *type)
{
    int length = catalog_max_length(type);

    if (type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY)
        return length < 0 ? 0 : sim_type_is_unicode(type->kind) ? length / 2 : length;
    if (type->kind == SIM_UNIQUEIDENTIFIER) return 36;
    if (type->kind == SIM_XML) return 0;
    if (sim_type_is_lob(type->kind)) return type->kind == SIM_NTEXT ? 1073741823 : 2147483647;
    if (type->kind == SIM_ROWVERSION) return 8;
    if (type->kind == SIM_VARIANT) return 8000;
    return catalog_precision(type);
}

int catalog_odbc_length(const SimType *type, bool version3)
{
    int length = catalog_max_length(type);

    if (type->kind == SIM_DECIMAL) return type->precision + 2;
    if (type->kind == SIM_MONEY) return 21;
    if (type->kind == SIM_SMALLMONEY) return 12;
    if (type->kind == SIM_DATETIME || type->kind == SIM_SMALLDATETIME) return 16;
    if (type->kind == SIM_TEXT || type->kind == SIM_IMAGE) return 2147483647;
    if (type->kind == SIM_NTEXT) return 2147483646;
    if (type->kind == SIM_VARIANT) return 8000;
    if (sim_type_is_time(type->kind)) {
        if (!version3) return 2 * catalog_precision(type); /* shown as nvarchar */
        return type->kind == SIM_DATE        ? 6
               : type->kind == SIM_TIME      ? 12
               : type->kind == SIM_DATETIME2 ? 16
                                             : 20;
    }
    return length < 0 ? 0 : length;
}

Str catalog_odbc_type_name(Arena *arena, const SimColumn *column)
{
    Str name = column->type.kind == SIM_ROWVERSION ? STR("timestamp")
                                                   : str_from_c(sim_type_word(&column->type));
    if (!column->is_identity) return name;
    return column->type.kind == SIM_DECIMAL ? str_printf(arena, "%.*s() identity", STR_ARG(name))
                                            : str_printf(arena, "%.*s identity", STR_ARG(name));
}

/* --- sp_datatype_info --- */
typedef struct TypeRow {
    const char *name;
    int         odbc2, odbc3, precision;
    const char *prefix, *suffix, *create; /* NULL where there is none */
    int nullable, searchable, is_unsigned, money, automatic, min_scale, max_scale, sub, radix,
        user_type; /* -1 stands for NULL */
} TypeRow;

/* clang-format off */
static const TypeRow type_rows[] = { /* by ODBC 3 type */
    {"datetimeoffset",       -9, -155, 34,         "'",  "'",  "scale",           1, 3, -1, 0, -1, 0, 7,  0, -1, 0},
    {"time",                 -9, -154, 16,         "'",  "'",  "scale",           1, 3, -1, 0, -1, 0, 7,  0, -1, 0},
    {"xml",                 -10, -152, 0,          "N'", "'",  NULL,              1, 0, -1, 0, -1, -1, -1, -1, -1, 0},
    {"sql_variant",        -150, -150, 8000,       NULL, NULL, NULL,              1, 2, -1, 0, -1, 0, 0,  -1, 10, 39},
    {"uniqueidentifier",    -11,  -11, 36,         "'",  "'",  NULL,              1, 2, -1, 0, -1, -1, -1, -1, -1, 37},
    {"ntext",               -10,  -10, 1073741823, "N'", "'",  NULL,              1, 1, -1, 0, -1, -1, -1, -1, -1, 0},
    {"nvarchar",             -9,   -9, 4000,       "N'", "'",  "max length",      1, 3, -1, 0, -1, -1, -1, -1, -1, 0},
    {"sysname",              -9,   -9, 128,        "N'", "'",  NULL,              0, 3, -1, 0, -1, -1, -1, -1, -1, 18},
    {"nchar",                -8,   -8, 4000,       "N'", "'",  "length",          1, 3, -1, 0, -1, -1, -1, -1, -1, 0},
    {"bit",                  -7,   -7, 1,          NULL, NULL, NULL,              1, 2, -1, 0, -1, 0, 0,  -1, -1, 16},
    {"tinyint",              -6,   -6, 3,          NULL, NULL, NULL,              1, 2, 1,  0, 0,  0, 0,  -1, 10, 5},
    {"tinyint identity",     -6,   -6, 3,          NULL, NULL, NULL,              0, 2, 1,  0, 1,  0, 0,  -1, 10, 5},
    {"bigint",               -5,   -5, 19,         NULL, NULL, NULL,              1, 2, 0,  0, 0,  0, 0,  -1, 10, 0},
    {"bigint identity",      -5,   -5, 19,         NULL, NULL, NULL,              0, 2, 0,  0, 1,  0, 0,  -1, 10, 0},
    {"image",                -4,   -4, 2147483647, "0x", NULL, NULL,              1, 0, -1, 0, -1, -1, -1, -1, -1, 20},
    {"varbinary",            -3,   -3, 8000,       "0x", NULL, "max length",      1, 2, -1, 0, -1, -1, -1, -1, -1, 4},
    {"binary",               -2,   -2, 8000,       "0x", NULL, "length",          1, 2, -1, 0, -1, -1, -1, -1, -1, 3},
    {"timestamp",            -2,   -2, 8,          "0x", NULL, NULL,              0, 2, -1, 0, -1, -1, -1, -1, -1, 80},
    {"text",                 -1,   -1, 2147483647, "'",  "'",  NULL,              1, 1, -1, 0, -1, -1, -1, -1, -1, 19},
    {"char",                  1,    1, 8000,       "'",  "'",  "length",          1, 3, -1, 0, -1, -1, -1, -1, -1, 1},
    {"numeric",               2,    2, 38,         NULL, NULL, "precision,scale", 1, 2, 0,  0, 0,  0, 38, -1, 10, 10},
    {"numeric() identity",    2,    2, 38,         NULL, NULL, "precision",       0, 2, 0,  0, 1,  0, 0,  -1, 10, 10},
    {"decimal",               3,    3, 38,         NULL, NULL, "precision,scale", 1, 2, 0,  0, 0,  0, 38, -1, 10, 24},
    {"money",                 3,    3, 19,         "$",  NULL, NULL,              1, 2, 0,  1, 0,  4, 4,  -1, 10, 11},
    {"smallmoney",            3,    3, 10,         "$",  NULL, NULL,              1, 2, 0,  1, 0,  4, 4,  -1, 10, 21},
    {"decimal() identity",    3,    3, 38,         NULL, NULL, "precision",       0, 2, 0,  0, 1,  0, 0,  -1, 10, 24},
    {"int",                   4,    4, 10,         NULL, NULL, NULL,              1, 2, 0,  0, 0,  0, 0,  -1, 10, 7},
    {"int identity",          4,    4, 10,         NULL, NULL, NULL,              0, 2, 0,  0, 1,  0, 0,  -1, 10, 7},
    {"smallint",              5,    5, 5,          NULL, NULL, NULL,              1, 2, 0,  0, 0,  0, 0,  -1, 10, 6},
    {"smallint identity",     5,    5, 5,          NULL, NULL, NULL,              0, 2, 0,  0, 1,  0, 0,  -1, 10, 6},
    {"float",                 6,    6, 53,         NULL, NULL, NULL,              1, 2, 0,  0, 0,  -1, -1, -1, 2, 8},
    {"real",                  7,    7, 24,         NULL, NULL, NULL,              1, 2, 0,  0, 0,  -1, -1, -1, 2, 23},
    {"varchar",              12,   12, 8000,       "'",  "'",  "max length",      1, 3, -1, 0, -1, -1, -1, -1, -1, 2},
    {"date",                 -9,   91, 10,         "'",  "'",  NULL,              1, 3, -1, 0, -1, -1, 0,  1, -1, 0},
    {"datetime2",            -9,   93, 27,         "'",  "'",  "scale",           1, 3, -1, 0, -1, 0, 7,  3, -1, 0},
    {"datetime",             11,   93, 23,         "'",  "'",  NULL,              1, 3, -1, 0, -1, 3, 3,  3, -1, 12},
    {"smalldatetime",        11,   93, 16,         "'",  "'",  NULL,              1, 3, -1, 0, -1, 0, 0,  3, -1, 22},
};
/* clang-format on */

static SimValue text_or_null(ProcCall *call, const char *text)
{
    return text ? value_text(call->arena, str_from_c(text)) : value_null();
}

static SimValue number_or_null(int number)
{
    return number < 0 ? value_null() : value_int(number);
}

static bool send_type(ProcCall *call, const TypeRow *from, bool version3)
{
    int      odbc  = version3 ? from->odbc3 : from->odbc2;
    bool     dated = odbc == 91 || odbc == 93 || odbc == 11;
    SimValue name  = value_text(call->arena, str_from_c(from->name));
    SimValue row[] = {name,
                      value_int(odbc),
                      value_int(from->precision),
                      text_or_null(call, from->prefix),
                      text_or_null(call, from->suffix),
                      text_or_null(call, from->create),
                      value_int(from->nullable),
                      value_int(0),
                      value_int(from->searchable),
                      number_or_null(from->is_unsigned),
                      value_int(from->money),
                      number_or_null(from->automatic),
                      name,
                      number_or_null(from->min_scale),
                      number_or_null(from->max_scale),
                      value_int(dated ? 9 : odbc),
                      dated ? value_int(odbc == 91 ? 1 : 3) : value_null(),
                      number_or_null(from->radix),
                      value_null(),
                      value_int(from->user_type)};
    return proc_row(call, row, COUNT_OF(row));
}

bool sp_datatype_info(ProcCall *call)
{
    static const ResultSpec specs[] = {{"TYPE_NAME", "sysname"},
                                       {"DATA_TYPE", "smallint"},
                                       {"PRECISION", "int"},
                                       {"LITERAL_PREFIX", "varchar(32)"},
                                       {"LITERAL_SUFFIX", "varchar(32)"},
                                       {"CREATE_PARAMS", "varchar(32)"},
                                       {"NULLABLE", "smallint"},
                                       {"CASE_SENSITIVE", "smallint"},
                                       {"SEARCHABLE", "smallint"},
                                       {"UNSIGNED_ATTRIBUTE", "smallint"},
                                       {"MONEY", "smallint"},
                                       {"AUTO_INCREMENT", "smallint"},
                                       {"LOCAL_TYPE_NAME", "sysname"},
                                       {"MINIMUM_SCALE", "smallint"},
                                       {"MAXIMUM_SCALE", "smallint"},
                                       {"SQL_DATA_TYPE", "smallint"},
                                       {"SQL_DATETIME_SUB", "smallint"},
                                       {"NUM_PREC_RADIX", "int"},
                                       {"INTERVAL_PRECISION", "smallint"},
                                       {"USERTYPE", "smallint"}};
    int64_t                 wanted = 0, version = 2, rows = 0;

    if (!proc_i64(call, 0, &wanted) || !proc_i64(call, 1, &version) ||
        !proc_columns(call, specs, COUNT_OF(specs)))
        return false;
    for (size_t i = 0; i < COUNT_OF(type_rows); i++) {
        int odbc = version >= 3 ? type_rows[i].odbc3 : type_rows[i].odbc2;
        if (wanted != 0 && wanted != odbc) continue;
        if (!send_type(call, &type_rows[i], version >= 3)) return false;
        rows++;
    }
    return proc_done(call, rows);
}
