/* mssql_key.c - key bounds as text, and ranges of keys as seekable pieces (sqlserver.md 1.2, 1.5).
 * Pure functions. */
#include "source/mssql_text.h"

#include "base/json.h"
#include "base/list.h"

#include <string.h>

/* --- bounds --- */

/* What stands in the parentheses of a declared type. */
static Str type_argument(Str type_name)
{
    ptrdiff_t open = str_find_char(type_name, '(', 0);

    return open < 0 ? STR_EMPTY : str_slice(type_name, (size_t)open, type_name.len);
}

static bool plan_text_bound(const CapturedColumn *captured, Arena *arena, KeyColumn *out,
                            bool *can_bound_out, Err *err)
{
    bool is_unicode = captured->sql_type == SQL_TYPE_NCHAR ||
                      captured->sql_type == SQL_TYPE_NVARCHAR;

    if (is_unicode) {
        out->bound = str_printf(arena, "CAST(? AS %.*s)", STR_ARG(captured->sql_type_name));
        return true;
    }
    if (captured->collation.len ==
        0) { /* a cast in the database's code page would destroy the order (1.2) */
        *can_bound_out = false;
        return true;
    }
    if (!mssql_check_collation(captured->collation, err)) return false;
    out->bound = str_printf(arena, "CAST(? COLLATE %.*s AS %.*s)", STR_ARG(captured->collation),
                            STR_ARG(captured->sql_type_name));
    return true;
}

bool key_column_plan(const CapturedColumn *captured, bool is_last, bool is_single, Arena *arena,
                     KeyColumn *out, bool *can_bound_out, Err *err)
{
    Str type = captured->sql_type_name;

    *out           = (KeyColumn){.name        = captured->name,
                                 .sql_type    = captured->sql_type,
                                 .is_nullable = captured->is_nullable};
    *can_bound_out = true;
    if (!mssql_check_identifier(captured->name, err) || !mssql_check_type_name(type, err))
        return false;
    switch (captured->sql_type) {
    case SQL_TYPE_TINYINT:
    case SQL_TYPE_SMALLINT:
    case SQL_TYPE_INT:
    case SQL_TYPE_BIGINT: out->is_inlined = is_single; break;
    case SQL_TYPE_BIT:
    case SQL_TYPE_REAL:
    case SQL_TYPE_FLOAT:
    case SQL_TYPE_DECIMAL:
    case SQL_TYPE_MONEY:
    case SQL_TYPE_SMALLMONEY:
    case SQL_TYPE_DATE:
    case SQL_TYPE_DATETIME:
    case SQL_TYPE_SMALLDATETIME:
    case SQL_TYPE_UNIQUEIDENTIFIER: break;
    case SQL_TYPE_DATETIME2:
    case SQL_TYPE_DATETIMEOFFSET:
        *can_bound_out = is_last || str_find(type, STR("(7)"), 0) < 0;
        break;
    case SQL_TYPE_CHAR:
    case SQL_TYPE_VARCHAR:
    case SQL_TYPE_NCHAR:
    case SQL_TYPE_NVARCHAR: return plan_text_bound(captured, arena, out, can_bound_out, err);
    case SQL_TYPE_BINARY:
    case SQL_TYPE_VARBINARY:
        out->bound = str_printf(arena, "CONVERT(varbinary%.*s, ?, 1)",
                                STR_ARG(type_argument(type)));
        return true;
    case SQL_TYPE_ROWVERSION: out->bound = STR("CONVERT(binary(8), ?, 1)"); return true;
    case SQL_TYPE_TIME:
    case SQL_TYPE_TEXT:
    case SQL_TYPE_NTEXT:
    case SQL_TYPE_XML:
    case SQL_TYPE_IMAGE:
    case SQL_TYPE_OTHER: *can_bound_out = false; break;
    }
    out->bound = str_printf(arena, "CAST(? AS %.*s)", STR_ARG(type));
    return true;
}

static Str format_time_part(Arena *arena, SqlTypeKind kind, int64_t us)
{
    CivilTime t        = civil_from_us(us);
    bool      is_milli = kind == SQL_TYPE_DATETIME || kind == SQL_TYPE_SMALLDATETIME;
    int       digits   = is_milli ? 3 : 6;
    int       fraction = is_milli ? t.microsecond / 1000 : t.microsecond;

    return str_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d.%0*d%s", t.year, t.month, t.day, t.hour,
                      t.minute, t.second, digits, fraction,
                      kind == SQL_TYPE_DATETIMEOFFSET ? "+00:00" : "");
}

KeyPart key_format_part(Arena *arena, SqlTypeKind kind, const ColumnVector *column,
                        size_t row_index)
{
    char text[64];

    if (column_is_null(column, row_index)) return (KeyPart){.text = STR_EMPTY, .is_null = true};
    switch (column->type.kind) {
    case TYPE_BOOLEAN:
        return (KeyPart){.text = column_bool(column, row_index) ? STR("1") : STR("0")};
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
        return (KeyPart){
            .text = str_printf(arena, "%lld", (long long)column_i64(column, row_index))};
    case TYPE_FLOAT:
    case TYPE_DOUBLE: {
        size_t len = double_format_shortest(column_double(column, row_index), text);
        return (KeyPart){.text = str_copy(arena, (Str){text, len})};
    }
    case TYPE_DECIMAL: {
        size_t len = decimal_format(column_decimal(column, row_index), column->type.scale, text);
        return (KeyPart){.text = str_copy(arena, (Str){text, len})};
    }
    case TYPE_DATE: {
        CivilTime t = civil_from_us(column_i64(column, row_index) * 86400 * 1000000);
        return (KeyPart){.text = str_printf(arena, "%04d-%02d-%02d", t.year, t.month, t.day)};
    }
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        return (KeyPart){.text = format_time_part(arena, kind, column_i64(column, row_index))};
    case TYPE_STRING: return (KeyPart){.text = str_copy(arena, column_str(column, row_index))};
    case TYPE_BINARY: {
        Str hex = hex_encode(arena, str_bytes(column_str(column, row_index)), false);
        return (KeyPart){.text = str_printf(arena, "0x%.*s", STR_ARG(hex))};
    }
    case TYPE_NESTED: break; /* no source has it */
    }
    return (KeyPart){.is_null = true};
}

/* --- pieces --- */

typedef struct PieceBuilder {
    Arena *arena;
    LIST(KeyPiece) list;
} PieceBuilder;

static KeyPiece *piece_new(PieceBuilder *builder, size_t term_capacity)
{
    KeyPiece *piece = LIST_PUSH(builder->arena, &builder->list);

    piece->terms = ARENA_ARRAY(builder->arena, KeyTerm, term_capacity + 1);
    return piece;
}

static void add_term(KeyPiece *piece, size_t column, KeyOp op, bool is_hi)
{
    piece->terms[piece->term_count++] = (KeyTerm){column, op, is_hi};
}

static bool same_part(const KeyPart *left, const KeyPart *right)
{
    return left->is_null == right->is_null && (left->is_null || str_equal(left->text, right->text));
}

/* How many leading columns have the same bound text on both sides; at least one column is left
 * over. */
static size_t common_prefix(size_t column_count, const KeyPart *lo, const KeyPart *hi)
{
    size_t p = 0;

    if (!lo || !hi) return 0;
    while (p + 1 < column_count && same_part(&lo[p], &hi[p]))
        p++;
    return p;
}

KeyPieces key_pieces(Arena *arena, size_t column_count, const KeyPart *lo, const KeyPart *hi)
{
    PieceBuilder builder = {.arena = arena};
    size_t       n       = column_count;
    size_t       f       = common_prefix(n, lo, hi); /* the first column that may differ, from 0 */

    for (size_t j = n; lo && j-- > f + 1;) { /* lower pieces: equal before j, above lo at j */
        KeyPiece *piece = piece_new(&builder, n + 1);
        for (size_t i = 0; i < j; i++)
            add_term(piece, i, KEY_EQ, false);
        add_term(piece, j, j + 1 == n ? KEY_GE : KEY_GT, false);
        piece->has_residual  = hi != NULL;
        piece->residual_from = f;
    }
    KeyPiece *middle = piece_new(&builder, n + 2);
    for (size_t i = 0; i < f; i++)
        add_term(middle, i, KEY_EQ, false);
    if (lo) add_term(middle, f, f + 1 == n ? KEY_GE : KEY_GT, false);
    if (hi) add_term(middle, f, KEY_LT, true);
    for (size_t j = f + 1; hi && j < n; j++) { /* upper pieces: equal before j, below hi at j */
        KeyPiece *piece = piece_new(&builder, n + 2);
        for (size_t i = 0; i < f; i++)
            add_term(piece, i, KEY_EQ, false);
        for (size_t i = f; i < j; i++)
            add_term(piece, i, KEY_EQ, true);
        add_term(piece, j, KEY_LT, true);
        if (lo) add_term(piece, f, KEY_GT, false);
    }
    return (KeyPieces){builder.list.items, builder.list.count};
}

/* --- pieces as T-SQL --- */

typedef struct WhereWriter {
    Arena           *arena;
    Buf             *buf;
    KeyParams       *params;
    const KeyColumn *columns;
    const KeyPart   *lo, *hi;
} WhereWriter;

static bool write_bound(WhereWriter *writer, const KeyColumn *column, const KeyPart *part, Err *err)
{
    if (column->is_inlined) {
        /* one past bigint's maximum is a legal bound (1.4, Q24), so digits are checked, not the
         * range */
        Str  digits = part->text.len > 0 && part->text.ptr[0] == '-'
                          ? str_slice(part->text, 1, part->text.len)
                          : part->text;
        bool ok     = digits.len > 0 && digits.len <= 20;
        for (size_t i = 0; i < digits.len; i++)
            ok = ok && digits.ptr[i] >= '0' && digits.ptr[i] <= '9';
        if (!ok)
            return err_set(err, ERR_INTERNAL, "a bound of the integer key %.*s is no integer",
                           STR_ARG(column->name));
        buf_append(writer->buf, part->text);
        return true;
    }
    buf_append(writer->buf, column->bound);
    *LIST_PUSH(writer->arena, writer->params) = (SqlParam){.text = part->text};
    return true;
}

/* The table of 1.5: NULL is lowest. */
static bool write_term(WhereWriter *writer, const KeyTerm *term, Err *err)
{
    const KeyColumn *column  = &writer->columns[term->column];
    const KeyPart   *part    = &(term->is_hi ? writer->hi : writer->lo)[term->column];
    Str              name    = mssql_quote(writer->arena, column->name);
    bool             or_null = term->op == KEY_LT && column->is_nullable;

    if (part->is_null) {
        switch (term->op) {
        case KEY_EQ: buf_printf(writer->buf, "t.%.*s IS NULL", STR_ARG(name)); break;
        case KEY_GT: buf_printf(writer->buf, "t.%.*s IS NOT NULL", STR_ARG(name)); break;
        case KEY_GE: buf_append_c(writer->buf, "1 = 1"); break;
        case KEY_LT: buf_append_c(writer->buf, "1 = 0"); break;
        }
        return true;
    }
    static const char *const operators[] = {
        [KEY_EQ] = "=", [KEY_GT] = ">", [KEY_GE] = ">=", [KEY_LT] = "<"};
    buf_printf(writer->buf, "%st.%.*s %s ", or_null ? "(" : "", STR_ARG(name), operators[term->op]);
    if (!write_bound(writer, column, part, err)) return false;
    if (or_null) buf_printf(writer->buf, " OR t.%.*s IS NULL)", STR_ARG(name));
    return true;
}

/* (k_from ... k_n) < hi, written as "equal before, less here" over the columns. */
static bool write_residual(WhereWriter *writer, size_t from, size_t column_count, Err *err)
{
    buf_append_char(writer->buf, '(');
    for (size_t j = from; j < column_count; j++) {
        if (j > from) buf_append_c(writer->buf, " OR (");
        for (size_t i = from; i < j; i++) {
            if (!write_term(writer, &(KeyTerm){i, KEY_EQ, true}, err)) return false;
            buf_append_c(writer->buf, " AND ");
        }
        if (!write_term(writer, &(KeyTerm){j, KEY_LT, true}, err)) return false;
        if (j > from) buf_append_char(writer->buf, ')');
    }
    buf_append_char(writer->buf, ')');
    return true;
}

bool key_piece_where(Arena *arena, const KeyPiece *piece, const KeyColumn *columns,
                     size_t column_count, const KeyPart *lo, const KeyPart *hi, Buf *buf,
                     KeyParams *params, Err *err)
{
    WhereWriter writer = {arena, buf, params, columns, lo, hi};

    for (size_t i = 0; i < piece->term_count; i++) {
        if (i > 0) buf_append_c(buf, " AND ");
        if (!write_term(&writer, &piece->terms[i], err)) return false;
    }
    if (!piece->has_residual) return true;
    if (piece->term_count > 0) buf_append_c(buf, " AND ");
    return write_residual(&writer, piece->residual_from, column_count, err);
}
