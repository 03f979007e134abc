/* What a driver answers with, as the client side sees it: cells and lengths of a column become values
 * or are refused; messages of the server lose the values they quote; a connection string is split.
 *
 * The first byte chooses: m (a message), k (a connection string), or how the cells are decoded; then
 * come scale, precision, the width of a cell, and for each row its length and its bytes. */
#include "sqlconn/odbc_internal.h"

#include <assert.h>
#include <string.h>

#define ROWS_MAX 70

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Input {
    const uint8_t *data;
    size_t         size, at;
} Input;

static unsigned next_byte(Input *input)
{
    return input->at < input->size ? input->data[input->at++] : 0;
}

static void next_bytes(Input *input, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)next_byte(input);
}

/* The types of the lake that a way of decoding gives, and how wide its cells are. */
static OdbcColumn column_of(Decode decode, Input *input)
{
    unsigned   scale = next_byte(input) % 39, precision = next_byte(input) % 38 + 1;
    unsigned   width   = next_byte(input);
    ColumnType decimal = DECIMAL_TYPE((uint8_t)precision, (uint8_t)MIN(scale, precision));
    OdbcColumn column  = {
         .decode = decode, .scale = (uint8_t)scale, .precision = (uint8_t)precision};

    switch (decode) {
    case DECODE_DIRECT: column.type = COLUMN_TYPE(TYPE_LONG), column.cell_bytes = 8; break;
    case DECODE_NUMERIC:
        column.type = decimal, column.cell_bytes = sizeof(SQL_NUMERIC_STRUCT);
        break;
    case DECODE_MONEY: column.type = DECIMAL_TYPE(19, 4), column.cell_bytes = 8; break;
    case DECODE_DECIMAL_TEXT: column.type = decimal, column.cell_bytes = 48; break;
    case DECODE_I64:
        column.type       = width % 3 == 0   ? COLUMN_TYPE(TYPE_SHORT)
                            : width % 3 == 1 ? COLUMN_TYPE(TYPE_INTEGER)
                                             : decimal;
        column.cell_bytes = 8;
        break;
    case DECODE_DATE:
        column.type = COLUMN_TYPE(TYPE_DATE), column.cell_bytes = sizeof(SQL_DATE_STRUCT);
        break;
    case DECODE_TIMESTAMP:
    case DECODE_DATETIME:
        column.type       = COLUMN_TYPE(TYPE_TIMESTAMP_NTZ),
        column.cell_bytes = sizeof(SQL_TIMESTAMP_STRUCT);
        break;
    case DECODE_GUID:
        column.type = COLUMN_TYPE(TYPE_STRING), column.cell_bytes = sizeof(SQLGUID);
        break;
    case DECODE_DATETIMEOFFSET:
        column.type = COLUMN_TYPE(TYPE_TIMESTAMP), column.cell_bytes = 72;
        break;
    case DECODE_TIME: column.type = COLUMN_TYPE(TYPE_STRING), column.cell_bytes = 72; break;
    case DECODE_TEXT:
        column.type = COLUMN_TYPE(TYPE_STRING), column.cell_bytes = 2 * (width + 1);
        break;
    case DECODE_BINARY:
        column.type = COLUMN_TYPE(TYPE_BINARY), column.cell_bytes = width + 1;
        break;
    }
    return column;
}

/* What drivers give: NULL, the cell's width, other lengths, and the ones that are no length. */
static SQLLEN length_of(unsigned choice, size_t cell_bytes)
{
    if (choice < 32) return SQL_NULL_DATA;
    if (choice < 36) return SQL_NO_TOTAL;
    if (choice < 40) return (SQLLEN)cell_bytes * 2;
    if (choice < 128) return (SQLLEN)cell_bytes;
    return (SQLLEN)(choice - 128);
}

static void check_vector(const ColumnVector *vector, size_t rows, Arena *arena)
{
    for (size_t i = 0; i < rows; i++) {
        if (column_is_null(vector, i)) continue;
        Str text = column_format(arena, vector, i);
        assert(vector->type.kind != TYPE_STRING || utf8_is_valid(text));
        if (vector->type.kind == TYPE_DECIMAL) {
            Int128 again;
            assert(decimal_parse(text, vector->type.precision, vector->type.scale, &again));
        }
    }
}

static void decode(Input *input, unsigned choice, Arena *arena)
{
    OdbcColumn   column = column_of((Decode)(choice % (DECODE_BINARY + 1)), input);
    size_t       rows   = 0;
    ColumnVector vector;
    Err          err = ERR_INIT;

    column.cells   = arena_alloc(arena, ROWS_MAX * column.cell_bytes);
    column.lengths = ARENA_ARRAY(arena, SQLLEN, ROWS_MAX);
    for (; rows < ROWS_MAX && input->at < input->size; rows++) {
        column.lengths[rows] = length_of(next_byte(input), column.cell_bytes);
        next_bytes(input, column.cells + rows * column.cell_bytes, column.cell_bytes);
    }
    if (odbc_decode(&column, rows, arena, &vector, &err))
        check_vector(&vector, rows, arena);
    else
        assert(err.code == ERR_QUERY || err.code == ERR_SCHEMA_CHANGED);
}

static void split(Str text, Arena *arena)
{
    ConnectionString connection;
    ConnectionPlan   plan;
    Err              err = ERR_INIT;

    for (DriverFamily family = DRIVER_FREETDS; family <= DRIVER_OTHER; family++) {
        err_clear(&err);
        if (!connection_parse(arena, text, &connection, &err) ||
            !connection_plan(arena, &connection, family, &plan, &err))
            assert(err.code == ERR_CONFIG);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;

    Arena *arena = arena_new();
    Input  input = {.data = data, .size = size, .at = 1};
    Str    text  = str_copy(arena, bytes_str((Bytes){data + 1, size - 1}));
    if (data[0] == 'm')
        assert(sql_error_strip_values(arena, text).len <= text.len + 64);
    else if (data[0] == 'k')
        split(text, arena);
    else
        decode(&input, data[0], arena);
    arena_close(arena);
    return 0;
}
