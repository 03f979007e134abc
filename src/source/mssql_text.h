/* mssql_text.h - T-SQL text: the few things that are inlined, each after its own validator
 * (sqlserver.md 1.2), and the seekable pieces of key ranges (1.5). Pure functions. */
#ifndef TIDELAKE_SOURCE_MSSQL_TEXT_H
#define TIDELAKE_SOURCE_MSSQL_TEXT_H

#include "base/buf.h"
#include "source/mssql.h"

/* --- validators; they run again on values that came from the server --- */
bool mssql_check_identifier(Str  name,
                            Err *err) MUST_CHECK; /* 1 to 128 UTF-16 units, no control characters */
bool mssql_check_capture_instance(Str name, Err *err) MUST_CHECK; /* at most 100 */
bool mssql_check_type_name(Str name, Err *err) MUST_CHECK;
bool mssql_check_collation(Str name, Err *err) MUST_CHECK;
bool mssql_check_zone(Str name, Err *err) MUST_CHECK;
/* [name], every ] doubled. The name was checked. */
void buf_append_identifier(Buf *buf, Str name);
Str  mssql_quote(Arena *arena, Str name);
/* cdc.[<ci>_CT] */
Str mssql_change_table(Arena *arena, Str capture_instance);
/* "[a], [b]" into names; ERR_INTERNAL for anything else. NULL or empty: none. */
bool mssql_parse_column_list(Str text, Arena *arena, const Str **out, size_t *count_out,
                             Err *err) MUST_CHECK;

/* The declared type from what Q20 tells: "decimal(10,2)", "varchar(max)"; -1 stands for NULL. */
Str mssql_declared_type(Arena *arena, Str data_type, int64_t length, int64_t precision,
                        int64_t scale, int64_t datetime_precision);

/* --- keys --- */
typedef struct KeyColumn {
    Str         name;
    SqlTypeKind sql_type;
    Str         bound; /* what a parameter is converted with: "CAST(? AS bigint)" */
    bool        is_nullable;
    bool        is_inlined; /* the single integer key: bounds are literals */
} KeyColumn;

/* `can_bound_out` false: the type has no bound (1.2), or its collation is not visible, or scale 7
 * ahead of the last column (1.5). */
bool key_column_plan(const CapturedColumn *captured, bool is_last, bool is_single, Arena *arena,
                     KeyColumn *out, bool *can_bound_out, Err *err) MUST_CHECK;
/* The bound text of a value (1.2). */
KeyPart key_format_part(Arena *arena, SqlTypeKind kind, const ColumnVector *column,
                        size_t row_index);

typedef enum KeyOp { KEY_EQ, KEY_GT, KEY_GE, KEY_LT } KeyOp;

typedef struct KeyTerm {
    size_t column;
    KeyOp  op;
    bool   is_hi; /* compared with hi's part, else lo's */
} KeyTerm;

/* All terms hold, and when has_residual, (k_residual_from ... k_n) < hi row by row. */
typedef struct KeyPiece {
    KeyTerm *terms;
    size_t   term_count;
    bool     has_residual;
    size_t   residual_from;
} KeyPiece;

typedef struct KeyPieces {
    KeyPiece *pieces;
    size_t    piece_count;
} KeyPieces;

/* [lo, hi) as disjoint pieces of the seekable shape (1.5); NULL bounds are open. Both open: one
 * piece without terms. */
KeyPieces key_pieces(Arena *arena, size_t column_count, const KeyPart *lo, const KeyPart *hi);

typedef struct KeyParams { /* a LIST(SqlParam) */
    SqlParam *items;
    size_t    count, capacity;
} KeyParams;

/* The WHERE text of a piece with alias t, empty without terms; its parameters are added in the
 * order of their '?'. */
bool key_piece_where(Arena *arena, const KeyPiece *piece, const KeyColumn *columns,
                     size_t column_count, const KeyPart *lo, const KeyPart *hi, Buf *buf,
                     KeyParams *params, Err *err) MUST_CHECK;

#endif
