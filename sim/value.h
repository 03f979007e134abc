/* value.h - T-SQL types and values, their order, their conversions (sqlserver.md 2.9, 2.11). No I/O, no tables. */
#ifndef TIDESIM_VALUE_H
#define TIDESIM_VALUE_H

#include "base/arena.h"
#include "base/str.h"
#include "sim/error.h"
#include "types/column_type.h" /* Int128 */

typedef enum SimTypeKind {
    SIM_BIT,
    SIM_TINYINT,
    SIM_SMALLINT,
    SIM_INT,
    SIM_BIGINT,
    SIM_REAL,
    SIM_FLOAT,
    SIM_DECIMAL,
    SIM_MONEY,
    SIM_SMALLMONEY,
    SIM_DATE,
    SIM_TIME,
    SIM_DATETIME,
    SIM_SMALLDATETIME,
    SIM_DATETIME2,
    SIM_DATETIMEOFFSET,
    SIM_CHAR,
    SIM_VARCHAR,
    SIM_NCHAR,
    SIM_NVARCHAR,
    SIM_BINARY,
    SIM_VARBINARY,
    SIM_ROWVERSION,
    SIM_UNIQUEIDENTIFIER,
    SIM_TEXT,
    SIM_NTEXT,
    SIM_IMAGE,
    SIM_XML,
    SIM_VARIANT,
} SimTypeKind;

/* One of the collations of 2.11. Static data of collation.c; compare by pointer. */
typedef struct SimCollation SimCollation;

typedef struct SimType {
    SimTypeKind         kind;
    uint8_t             precision; /* decimal; also as reported for other numbers, but for an integer literal its digits, which
                                    * count beside a decimal: 10.5 / 3 has scale 6 */
    uint8_t             scale;     /* decimal, time, datetime2, datetimeoffset */
    int32_t             length;    /* bytes of char, nchar, binary and their var forms; -1: (max) */
    const SimCollation *collation; /* character types; NULL: the database's */
} SimType;

/* A value. Text is held as it travels: varchar in its collation's code page, nvarchar as UTF-16LE. Borrowed bytes. */
typedef struct SimValue {
    SimType type;
    bool    is_null;
    union {
        int64_t i64; /* bit and integers; money and smallmoney in ten-thousandths */
        double  f64; /* real and float */
        Int128  dec; /* decimal, unscaled */
        struct {
            int32_t days;           /* since 0001-01-01; 0 for time */
            int16_t offset_minutes; /* datetimeoffset; days and ticks are UTC */
            int64_t
                ticks; /* 100 ns since midnight; datetime: 1/300 s since midnight; smalldatetime: minutes */
        } time;
        Bytes
            bytes; /* every other type; uniqueidentifier: the 16 wire bytes; sql_variant is held as its base value */
    };
} SimValue;

/* --- types --- */
SimType sim_type(SimTypeKind kind); /* with the kind's default length, precision, scale */
/* A type name with its arguments, -1 standing for none and -2 for max. `for_cast`: char without a length is 30 long rather than 1. Errors 243, 131, 1001, 1002, 2715, ... */
bool sim_type_make(Str name, int64_t first, int64_t second, bool for_cast, SimType *out,
                   SimError *error) MUST_CHECK;
/* "decimal(10,2)", "nvarchar(max)", "datetime2(7)"; any case; alias names (sysname, integer, numeric, ...). */
bool        sim_type_parse(Str text, SimType *out) MUST_CHECK;
Str         sim_type_format(Arena         *arena,
                            const SimType *type); /* as sys.types has it, with its arguments */
const char *sim_type_name(SimTypeKind kind);
bool sim_type_is_text(SimTypeKind kind); /* char, varchar, nchar, nvarchar (not text, ntext) */
bool sim_type_is_unicode(SimTypeKind kind);
bool sim_type_is_integer(SimTypeKind kind); /* bit excluded */
bool sim_type_is_number(SimTypeKind kind);
bool sim_type_is_time(SimTypeKind kind);   /* any date or time */
bool sim_type_is_binary(SimTypeKind kind); /* binary, varbinary, rowversion, image */
bool sim_type_is_lob(
    SimTypeKind kind); /* text, ntext, image: 306 where they are compared or sorted */
bool    sim_type_equal(const SimType *left, const SimType *right);
SimType sim_type_decimal(int precision, int scale);
SimType sim_type_time(SimTypeKind kind, int scale); /* TIME, DATETIME2, DATETIMEOFFSET */
SimType sim_type_sized(SimTypeKind kind,
                       int64_t characters);    /* char, binary and their kin; -1 or too many: max */
int     sim_type_precedence(SimTypeKind kind); /* SQL Server's; higher wins in mixed expressions */
/* The type of an expression that mixes two (CASE, UNION, comparison, arithmetic operands). 206 when neither becomes the other by itself; text of two
 * different collations is 468: whoever knows that one side's collation is explicit sets the other's to it before. */
bool sim_type_unify(const SimType *left, const SimType *right, SimType *out,
                    SimError *error) MUST_CHECK;

/* --- collations --- */
const SimCollation *sim_collation_default(void);  /* SQL_Latin1_General_CP1_CI_AS */
const SimCollation *sim_collation_find(Str name); /* ignoring case; NULL if unknown */
Str                 sim_collation_name(const SimCollation *collation);
void                sim_collation_wire(const SimCollation *collation, uint8_t out[5]);
bool                sim_collation_is_utf8(const SimCollation *collation);
int                 sim_text_compare(const SimCollation *collation, bool unicode, Bytes left,
                                     Bytes right); /* trailing blanks padded */
Str   sim_text_to_utf8(Arena *arena, const SimCollation *collation, bool unicode, Bytes text);
Bytes sim_text_from_utf8(Arena *arena, const SimCollation *collation, bool unicode,
                         Str utf8); /* '?' for what the code page lacks */
/* The same text for another collation or width; '?' for what the code page lacks. Borrowed when nothing changes. */
Bytes    sim_text_recode(Arena *arena, const SimCollation *from, bool from_unicode,
                         const SimCollation *to, bool to_unicode, Bytes text);
Bytes    sim_text_case(Arena *arena, const SimCollation *collation, bool unicode, bool upper,
                       Bytes text);                              /* UPPER, LOWER */
int      sim_collation_code_page(const SimCollation *collation); /* 1252; 65001: UTF-8 */
uint32_t sim_collation_lcid(const SimCollation *collation);
bool     sim_collation_is_case_sensitive(const SimCollation *collation);
const SimCollation *
sim_collation_next(size_t *at); /* for (size_t at = 0; (c = sim_collation_next(&at)) != NULL;) */
/* Equal for two characters exactly when the collation takes them for equal. */
uint64_t sim_text_fold(const SimCollation *collation, bool unicode, uint32_t code_point);
/* Identifiers compare ignoring case under the default collation. */
bool sim_name_equal(Str left, Str right);

/* --- values --- */
SimValue sim_null(SimType type);
SimValue sim_int(int64_t value, SimTypeKind kind); /* BIT, TINYINT ... BIGINT */
SimValue sim_float(double value);
SimValue sim_nvarchar(Arena *arena, Str utf8);    /* nvarchar(length of it) */
SimValue sim_varchar(Arena *arena, Str utf8);     /* in the default collation */
SimValue sim_binary(Bytes bytes, int32_t length); /* binary(length) */
SimValue sim_varbinary(Bytes bytes);
SimValue sim_decimal(Int128 unscaled, uint8_t precision, uint8_t scale);
SimValue sim_bit(bool value);
/* The same value with bytes of its own in `arena`. */
SimValue sim_value_copy(Arena *arena, const SimValue *value);
SimValue sim_datetime_from_us(int64_t local_us); /* microseconds since 1970, rounded to 1/300 s */
int64_t  sim_time_to_us(
     const SimValue  *
        value); /* any date or time type as microseconds since 1970 (local, or UTC for datetimeoffset) */
Str sim_value_text(
    Arena *arena,
    const SimValue
        *value); /* UTF-8 text of a character value, else as CONVERT style 0 for messages */

/* Order of two values of comparable types, SQL Server's rules: NULL below everything (for sorting only; the executor handles three-valued logic). */
bool sim_compare(const SimValue *left, const SimValue *right, int *out, SimError *error) MUST_CHECK;
/* The same for two values of exactly the same type, for indexes: cannot fail. */
int sim_compare_same(const SimValue *left, const SimValue *right);
/* An order-preserving byte key of a value (memcmp order = sim_compare_same's), appended to `out`; NULL sorts first. Sort keys of text follow the collation. */
typedef struct Buf Buf;
void               sim_sort_key(const SimValue *value, bool descending, Buf *out);

/* CAST and CONVERT (style 0 is the default; implicit conversions set `implicit`, which refuses what SQL Server refuses). Errors 241, 242, 245, 8114, 8115, 8169, 2628, 529, ... */
bool sim_convert(const SimValue *value, const SimType *to, int style, bool implicit, Arena *arena,
                 SimValue *out, SimError *error) MUST_CHECK;
/* What SQL Server says when a statement that needs the conversion is compiled: 529 (not allowed at all), 257 (needs CONVERT), 206 (implicit, and
 * clashing). True: it may be tried. */
bool sim_convert_check(const SimType *from, const SimType *to, bool implicit,
                       SimError *error) MUST_CHECK;
/* The type of left op right. 402, 8117, 206 where SQL Server refuses the operands. */
bool sim_arithmetic_type(char op, const SimType *left, const SimType *right, SimType *out,
                         SimError *error) MUST_CHECK;
/* + - * / % & | ^ on two values, with SQL Server's result types. NULL in, NULL out. + concatenates text. */
bool sim_arithmetic(char op, const SimValue *left, const SimValue *right, Arena *arena,
                    SimValue *out, SimError *error) MUST_CHECK;
bool sim_negate(const SimValue *value, Arena *arena, SimValue *out, SimError *error) MUST_CHECK;

#endif
