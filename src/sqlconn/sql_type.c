/* sql_type.c - SQL Server's type names, and the lake's type of each (state.md 6.1). */
#include "sqlconn/sqlconn_internal.h"

typedef struct TypeName {
    const char *name;
    SqlTypeKind kind;
} TypeName;

static const TypeName type_names[] = {
    {"bit", SQL_TYPE_BIT},
    {"tinyint", SQL_TYPE_TINYINT},
    {"smallint", SQL_TYPE_SMALLINT},
    {"int", SQL_TYPE_INT},
    {"bigint", SQL_TYPE_BIGINT},
    {"real", SQL_TYPE_REAL},
    {"float", SQL_TYPE_FLOAT},
    {"decimal", SQL_TYPE_DECIMAL},
    {"numeric", SQL_TYPE_DECIMAL},
    {"money", SQL_TYPE_MONEY},
    {"smallmoney", SQL_TYPE_SMALLMONEY},
    {"date", SQL_TYPE_DATE},
    {"time", SQL_TYPE_TIME},
    {"datetime", SQL_TYPE_DATETIME},
    {"smalldatetime", SQL_TYPE_SMALLDATETIME},
    {"datetime2", SQL_TYPE_DATETIME2},
    {"datetimeoffset", SQL_TYPE_DATETIMEOFFSET},
    {"char", SQL_TYPE_CHAR},
    {"varchar", SQL_TYPE_VARCHAR},
    {"nchar", SQL_TYPE_NCHAR},
    {"nvarchar", SQL_TYPE_NVARCHAR},
    {"sysname", SQL_TYPE_NVARCHAR},
    {"text", SQL_TYPE_TEXT},
    {"ntext", SQL_TYPE_NTEXT},
    {"xml", SQL_TYPE_XML},
    {"binary", SQL_TYPE_BINARY},
    {"varbinary", SQL_TYPE_VARBINARY},
    {"image", SQL_TYPE_IMAGE},
    {"timestamp", SQL_TYPE_ROWVERSION},
    {"rowversion", SQL_TYPE_ROWVERSION},
    {"uniqueidentifier", SQL_TYPE_UNIQUEIDENTIFIER},
};

SqlTypeKind sql_type_kind(Str name)
{
    ptrdiff_t cut  = str_find_char(name, ' ', 0); /* "int identity" */
    Str       base = cut < 0 ? name : str_slice(name, 0, (size_t)cut);

    cut = str_find_char(base, '(', 0); /* "decimal(10,2)", "numeric() identity" */
    if (cut >= 0) base = str_slice(base, 0, (size_t)cut);
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (str_equal_ignoring_case(base, str_from_c(type_names[i].name)))
            return type_names[i].kind;
    return SQL_TYPE_OTHER;
}

bool sql_type_to_column_type(SqlTypeKind kind, uint8_t precision, uint8_t scale, ColumnType *out)
{
    switch (kind) {
    case SQL_TYPE_BIT: *out = COLUMN_TYPE(TYPE_BOOLEAN); return true;
    case SQL_TYPE_TINYINT:
    case SQL_TYPE_SMALLINT: *out = COLUMN_TYPE(TYPE_SHORT); return true;
    case SQL_TYPE_INT: *out = COLUMN_TYPE(TYPE_INTEGER); return true;
    case SQL_TYPE_BIGINT: *out = COLUMN_TYPE(TYPE_LONG); return true;
    case SQL_TYPE_REAL: *out = COLUMN_TYPE(TYPE_FLOAT); return true;
    case SQL_TYPE_FLOAT: *out = COLUMN_TYPE(TYPE_DOUBLE); return true;
    case SQL_TYPE_DECIMAL:
        *out = DECIMAL_TYPE(precision, scale);
        return precision >= 1 && precision <= 38 && scale <= precision;
    case SQL_TYPE_MONEY: *out = DECIMAL_TYPE(19, 4); return true;
    case SQL_TYPE_SMALLMONEY: *out = DECIMAL_TYPE(10, 4); return true;
    case SQL_TYPE_DATE: *out = COLUMN_TYPE(TYPE_DATE); return true;
    case SQL_TYPE_DATETIME:
    case SQL_TYPE_SMALLDATETIME:
    case SQL_TYPE_DATETIME2: *out = COLUMN_TYPE(TYPE_TIMESTAMP_NTZ); return true;
    case SQL_TYPE_DATETIMEOFFSET: *out = COLUMN_TYPE(TYPE_TIMESTAMP); return true;
    case SQL_TYPE_TIME:
    case SQL_TYPE_CHAR:
    case SQL_TYPE_VARCHAR:
    case SQL_TYPE_NCHAR:
    case SQL_TYPE_NVARCHAR:
    case SQL_TYPE_TEXT:
    case SQL_TYPE_NTEXT:
    case SQL_TYPE_XML:
    case SQL_TYPE_UNIQUEIDENTIFIER: *out = COLUMN_TYPE(TYPE_STRING); return true;
    case SQL_TYPE_BINARY:
    case SQL_TYPE_VARBINARY:
    case SQL_TYPE_IMAGE:
    case SQL_TYPE_ROWVERSION: *out = COLUMN_TYPE(TYPE_BINARY); return true;
    case SQL_TYPE_OTHER: return false;
    }
    return false;
}
