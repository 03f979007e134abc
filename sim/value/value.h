/* value.h - T-SQL types and values, their order, their conversions (sqlserver.md 2.9 to 2.11). No
 * I/O, no tables. */
#ifndef TIDESIM_VALUE_H
#define TIDESIM_VALUE_H

#include "base/arena.h"
#include "base/str.h"
#include "sim/value/error.h"
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

/* `precision`: of a decimal, and as reported for other numbers; of an integer literal the number of
 * its digits, which count beside a decimal (10.5 / 3 has scale 6). */
typedef struct SimType {
    SimTypeKind kind;
    uint8_t     precision;
    uint8_t     scale;      /* decimal, time, datetime2, datetimeoffset */
    bool        is_numeric; /* a decimal that goes by the name numeric: nothing else differs */
    int32_t     length;     /* bytes of char, nchar, binary and their var forms; -1: (max) */
    const SimCollation *collation; /* character types; NULL: the database's */
} SimType;

/* A value. Text is held as it travels: varchar in its collation's code page, nvarchar as UTF-16LE.
 * Bytes are borrowed. The ticks of a time are 100 ns since midnight, but 1/300 s for datetime and
 * minutes for smalldatetime. A sql_variant is held as its base value. */
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
            int64_t ticks;
        } time;
        Bytes bytes; /* every other type; uniqueidentifier: the 16 bytes of the wire */
    };
} SimValue;

/* What grows here stops at this size, where a SQL Server goes on to 2 GB (7119): as much as one request may bring.
 * In functions that widen to UTF-16 the bytes of that count. */
#define SIM_VALUE_BYTES_MOST ((size_t)256 << 20)
bool sim_value_too_long(SimError *error); /* 50001; always false */

/* --- types --- */
/* With the kind's default length, precision and scale. */
SimType sim_type(SimTypeKind kind);
SimType sim_type_decimal(int precision, int scale);
SimType sim_type_numeric(int precision, int scale);
SimType sim_type_time(SimTypeKind kind, int scale); /* TIME, DATETIME2, DATETIMEOFFSET */
/* char, binary and their kin, in characters; -1 or more than the type holds: max. */
SimType sim_type_sized(SimTypeKind kind, int64_t characters);
/* A type name with its arguments, -1 standing for none and -2 for max. `for_cast`: char without a
 * length is 30 long rather than 1. Errors 243, 131, 1001, 1002, 2715, 2716, 2750, 2751. */
bool sim_type_make(Str name, int64_t first, int64_t second, bool for_cast, SimType *out,
                   SimError *error) MUST_CHECK;
/* "the type json" for one that came with version 2025; else NULL. Nothing here has them. */
const char *sim_type_of_2025(Str text);
/* "decimal(10,2)", "nvarchar(max)", "datetime2(7)" in any case; also sysname, integer, numeric,
 * rowversion, ... */
bool sim_type_parse(Str text, SimType *out) MUST_CHECK;
/* As sys.types names it, with its arguments. */
Str         sim_type_format(Arena *arena, const SimType *type);
const char *sim_type_name(SimTypeKind kind);
const char *sim_type_word(const SimType *type); /* its name, which tells numeric from decimal */
bool        sim_type_equal(const SimType *left, const SimType *right);
bool        sim_type_is_text(SimTypeKind kind);    /* char, varchar, nchar, nvarchar */
bool        sim_type_is_unicode(SimTypeKind kind); /* nchar, nvarchar, ntext, xml */
bool        sim_type_is_integer(SimTypeKind kind); /* bit excluded */
bool        sim_type_is_number(SimTypeKind kind);
bool        sim_type_is_time(SimTypeKind kind);   /* any date or time */
bool        sim_type_is_binary(SimTypeKind kind); /* binary, varbinary, rowversion, image */
/* text, ntext, image: 306 where they are compared or sorted. */
bool sim_type_is_lob(SimTypeKind kind);
int  sim_type_precedence(SimTypeKind kind); /* higher wins in mixed expressions */
/* The type of an expression that mixes two (CASE, UNION, comparison, arithmetic operands). 206 when
 * neither becomes the other by itself. Text of two different collations is 468: whoever knows that
 * one side's collation is explicit sets the other's to it before. */
bool sim_type_unify(const SimType *left, const SimType *right, SimType *out,
                    SimError *error) MUST_CHECK;

/* --- collations; NULL stands for the default --- */
const SimCollation *sim_collation_default(void);  /* SQL_Latin1_General_CP1_CI_AS */
const SimCollation *sim_collation_find(Str name); /* ignoring case; NULL if unknown */
const SimCollation      *
sim_collation_next(size_t *at); /* all of them, from *at 0 on; NULL at the end */
Str  sim_collation_name(const SimCollation *collation);
void sim_collation_wire(const SimCollation *collation, uint8_t out[5]);
/* The first that looks so on the wire; the default where none does, as with the five zero bytes that some clients send. */
const SimCollation *sim_collation_of_wire(const uint8_t wire[5]);
int                 sim_collation_code_page(const SimCollation *collation); /* 65001: UTF-8 */
uint32_t            sim_collation_lcid(const SimCollation *collation);
bool                sim_collation_is_utf8(const SimCollation *collation);
bool                sim_collation_is_case_sensitive(const SimCollation *collation);
/* The shorter text counts as padded with blanks. */
int sim_text_compare(const SimCollation *collation, bool unicode, Bytes left, Bytes right);
/* The same number for two characters exactly when the collation takes them for equal. */
uint64_t sim_text_fold(const SimCollation *collation, bool unicode, uint32_t code_point);
Str      sim_text_to_utf8(Arena *arena, const SimCollation *collation, bool unicode, Bytes text);
/* '?' for what the code page lacks. */
Bytes sim_text_from_utf8(Arena *arena, const SimCollation *collation, bool unicode, Str utf8);
/* The same text for another collation or width. Borrowed when nothing changes. */
Bytes sim_text_recode(Arena *arena, const SimCollation *from, bool from_unicode,
                      const SimCollation *to, bool to_unicode, Bytes text);
/* UPPER and LOWER. */
Bytes sim_text_case(Arena *arena, const SimCollation *collation, bool unicode, bool upper,
                    Bytes text);
/* Identifiers compare ignoring case under the default collation. */
bool sim_name_equal(Str left, Str right);

/* --- values --- */
SimValue sim_null(SimType type);
SimValue sim_int(int64_t value, SimTypeKind kind); /* BIT, TINYINT ... BIGINT, MONEY */
SimValue sim_float(double value);
SimValue sim_decimal(Int128 unscaled, uint8_t precision, uint8_t scale);
SimValue sim_numeric(Int128 unscaled, uint8_t precision, uint8_t scale);
SimValue sim_nvarchar(Arena *arena, Str utf8);    /* nvarchar(length of it) */
SimValue sim_varchar(Arena *arena, Str utf8);     /* in the default collation */
SimValue sim_binary(Bytes bytes, int32_t length); /* binary(length) */
SimValue sim_varbinary(Bytes bytes);
SimValue sim_datetime_from_us(int64_t local_us); /* since 1970, rounded to 1/300 s */
/* Any date or time as microseconds since 1970: local, or UTC for datetimeoffset. */
int64_t sim_time_to_us(const SimValue *value);
/* UTF-8 text of a character value, hex of a binary one, else what CONVERT makes of it; for
 * messages. */
Str sim_value_text(Arena *arena, const SimValue *value);
/* The same value with bytes of its own in `arena`. */
SimValue sim_value_copy(Arena *arena, const SimValue *value);

/* Order of two values of comparable types by SQL Server's rules, NULL below everything: for
 * sorting; three-valued logic is the executor's. Errors: 206, 305, 306, 468 and those of
 * conversions. */
bool sim_compare(const SimValue *left, const SimValue *right, int *out, SimError *error) MUST_CHECK;
/* The same for two values of exactly the same type, for indexes: cannot fail. */
int sim_compare_same(const SimValue *left, const SimValue *right);
/* A byte key whose memcmp order is sim_compare_same's, appended to `out`. No key is the beginning
 * of another, so keys of several columns may be joined. */
typedef struct Buf Buf;
void               sim_sort_key(const SimValue *value, bool descending, Buf *out);
/* The most bytes that the key of a value of this type has; 0: that depends on the value. */
size_t sim_sort_key_most(const SimType *type);

/* CAST and CONVERT; style 0 is the default. `implicit` refuses what SQL Server does not convert by
 * itself. Text and binary are cut to the type's length: storing, which refuses that (2628, 8152),
 * is the caller's. Errors 206, 241, 242, 245, 257, 529, 8114, 8115, 8169, ... */
bool sim_convert(const SimValue *value, const SimType *to, int style, bool implicit, Arena *arena,
                 SimValue *out, SimError *error) MUST_CHECK;
/* What SQL Server says when it compiles a statement that needs the conversion: 529 (not allowed at
 * all), 257 (needs CONVERT), 206 (implicit, and clashing). True: it may be tried. */
bool sim_convert_check(const SimType *from, const SimType *to, bool implicit,
                       SimError *error) MUST_CHECK;

/* The type of left op right, for + - * / % & | ^. 402, 8117, 206 where SQL Server refuses the
 * operands. */
bool sim_arithmetic_type(char op, const SimType *left, const SimType *right, SimType *out,
                         SimError *error) MUST_CHECK;
/* NULL in, NULL out. + joins text and binary. Errors 8115, 8134. */
bool sim_arithmetic(char op, const SimValue *left, const SimValue *right, Arena *arena,
                    SimValue *out, SimError *error) MUST_CHECK;
bool sim_negate(const SimValue *value, Arena *arena, SimValue *out, SimError *error) MUST_CHECK;

#endif
