/* T-SQL types: names, arguments, precedence, and what a mix of two becomes (sqlserver.md 2.9 to
 * 2.11). */
#include "sim/value/value_internal.h"

#include <string.h>

enum { ARG_NONE = -1, ARG_MAX = -2, PRECEDENCE_TOP = 30 };

typedef enum TypeArgs {
    ARGS_NONE,
    ARGS_BYTES,
    ARGS_UNITS,
    ARGS_DECIMAL,
    ARGS_FLOAT,
    ARGS_SCALE
} TypeArgs;

typedef struct TypeInfo {
    const char *name;
    uint8_t     precision, scale;
    int32_t     length;
    uint8_t     precedence; /* position in SQL Server's list, 1 wins */
    TypeArgs    args;
} TypeInfo;

/* clang-format off */
static const TypeInfo types[] = {
    [SIM_BIT]              = {"bit", 1, 0, 1, 19, ARGS_NONE},
    [SIM_TINYINT]          = {"tinyint", 3, 0, 1, 18, ARGS_NONE},
    [SIM_SMALLINT]         = {"smallint", 5, 0, 2, 17, ARGS_NONE},
    [SIM_INT]              = {"int", 10, 0, 4, 16, ARGS_NONE},
    [SIM_BIGINT]           = {"bigint", 19, 0, 8, 15, ARGS_NONE},
    [SIM_REAL]             = {"real", 24, 0, 4, 11, ARGS_NONE},
    [SIM_FLOAT]            = {"float", 53, 0, 8, 10, ARGS_FLOAT},
    [SIM_DECIMAL]          = {"decimal", 18, 0, 9, 12, ARGS_DECIMAL},
    [SIM_MONEY]            = {"money", 19, 4, 8, 13, ARGS_NONE},
    [SIM_SMALLMONEY]       = {"smallmoney", 10, 4, 4, 14, ARGS_NONE},
    [SIM_DATE]             = {"date", 10, 0, 3, 8, ARGS_NONE},
    [SIM_TIME]             = {"time", 16, 7, 5, 9, ARGS_SCALE},
    [SIM_DATETIME]         = {"datetime", 23, 3, 8, 6, ARGS_NONE},
    [SIM_SMALLDATETIME]    = {"smalldatetime", 16, 0, 4, 7, ARGS_NONE},
    [SIM_DATETIME2]        = {"datetime2", 27, 7, 8, 5, ARGS_SCALE},
    [SIM_DATETIMEOFFSET]   = {"datetimeoffset", 34, 7, 10, 4, ARGS_SCALE},
    [SIM_CHAR]             = {"char", 0, 0, 1, 28, ARGS_BYTES},
    [SIM_VARCHAR]          = {"varchar", 0, 0, 1, 27, ARGS_BYTES},
    [SIM_NCHAR]            = {"nchar", 0, 0, 2, 26, ARGS_UNITS},
    [SIM_NVARCHAR]         = {"nvarchar", 0, 0, 2, 25, ARGS_UNITS},
    [SIM_BINARY]           = {"binary", 0, 0, 1, 30, ARGS_BYTES},
    [SIM_VARBINARY]        = {"varbinary", 0, 0, 1, 29, ARGS_BYTES},
    [SIM_ROWVERSION]       = {"timestamp", 0, 0, 8, 23, ARGS_NONE},
    [SIM_UNIQUEIDENTIFIER] = {"uniqueidentifier", 0, 0, 16, 24, ARGS_NONE},
    [SIM_TEXT]             = {"text", 0, 0, -1, 21, ARGS_NONE},
    [SIM_NTEXT]            = {"ntext", 0, 0, -1, 20, ARGS_NONE},
    [SIM_IMAGE]            = {"image", 0, 0, -1, 22, ARGS_NONE},
    [SIM_XML]              = {"xml", 0, 0, -1, 3, ARGS_NONE},
    [SIM_VARIANT]          = {"sql_variant", 0, 0, 8016, 2, ARGS_NONE},
};

static const struct {
    const char *name;
    SimTypeKind kind;
} aliases[] = {
    {"integer", SIM_INT}, {"numeric", SIM_DECIMAL}, {"dec", SIM_DECIMAL},
    {"rowversion", SIM_ROWVERSION}, {"character", SIM_CHAR}, {"character varying", SIM_VARCHAR},
    {"char varying", SIM_VARCHAR}, {"national character", SIM_NCHAR}, {"national char", SIM_NCHAR},
    {"national character varying", SIM_NVARCHAR}, {"national char varying", SIM_NVARCHAR},
    {"national text", SIM_NTEXT}, {"binary varying", SIM_VARBINARY}, {"double precision", SIM_FLOAT},
};
/* clang-format on */

SimType sim_type(SimTypeKind kind)
{
    return (SimType){.kind      = kind,
                     .precision = types[kind].precision,
                     .scale     = types[kind].scale,
                     .length    = types[kind].length};
}

const char *sim_type_name(SimTypeKind kind)
{
    return types[kind].name;
}

const char *sim_type_word(const SimType *type)
{
    return type->is_numeric ? "numeric" : types[type->kind].name;
}

bool sim_type_is_text(SimTypeKind kind)
{
    return kind >= SIM_CHAR && kind <= SIM_NVARCHAR;
}

bool sim_type_is_unicode(SimTypeKind kind)
{
    return kind == SIM_NCHAR || kind == SIM_NVARCHAR || kind == SIM_NTEXT || kind == SIM_XML;
}

bool sim_type_is_binary(SimTypeKind kind)
{
    return kind == SIM_BINARY || kind == SIM_VARBINARY || kind == SIM_ROWVERSION ||
           kind == SIM_IMAGE;
}

bool sim_type_is_integer(SimTypeKind kind)
{
    return kind >= SIM_TINYINT && kind <= SIM_BIGINT;
}

bool sim_type_is_number(SimTypeKind kind)
{
    return kind <= SIM_SMALLMONEY;
}

bool sim_type_is_time(SimTypeKind kind)
{
    return kind >= SIM_DATE && kind <= SIM_DATETIMEOFFSET;
}

bool sim_type_is_lob(SimTypeKind kind)
{
    return kind == SIM_TEXT || kind == SIM_NTEXT || kind == SIM_IMAGE;
}

int sim_type_precedence(SimTypeKind kind)
{
    return PRECEDENCE_TOP + 1 - types[kind].precedence;
}

static int32_t decimal_length(int precision)
{
    return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

/* Precision and storage of the types that have a scale. */
static void set_scale(SimType *type, uint8_t scale)
{
    int32_t time_length = scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
    uint8_t fraction    = (uint8_t)(scale == 0 ? 0 : scale + 1);

    type->scale = scale;
    if (type->kind == SIM_TIME) {
        type->precision = (uint8_t)(8 + fraction);
        type->length    = time_length;
    } else if (type->kind == SIM_DATETIME2) {
        type->precision = (uint8_t)(19 + fraction);
        type->length    = time_length + 3;
    } else if (type->kind == SIM_DATETIMEOFFSET) {
        type->precision = (uint8_t)(26 + fraction);
        type->length    = time_length + 5;
    }
}

SimType sim_type_decimal(int precision, int scale)
{
    return (SimType){.kind      = SIM_DECIMAL,
                     .precision = (uint8_t)precision,
                     .scale     = (uint8_t)scale,
                     .length    = decimal_length(precision)};
}

SimType sim_type_numeric(int precision, int scale)
{
    SimType type = sim_type_decimal(precision, scale);

    type.is_numeric = true;
    return type;
}

SimType sim_type_time(SimTypeKind kind, int scale)
{
    SimType type = sim_type(kind);

    set_scale(&type, (uint8_t)scale);
    return type;
}

SimType sim_type_sized(SimTypeKind kind, int64_t characters)
{
    SimType type  = sim_type(kind);
    bool    wide  = types[kind].args == ARGS_UNITS;
    int64_t limit = wide ? 4000 : 8000;
    bool    fixed = kind == SIM_CHAR || kind == SIM_NCHAR || kind == SIM_BINARY;

    if (types[kind].args != ARGS_BYTES && !wide) return type;
    if (characters < 0 || characters > limit) {
        type.length = fixed ? (int32_t)(wide ? limit * 2 : limit) : -1;
    } else {
        if (characters == 0) characters = 1;
        type.length = (int32_t)(wide ? characters * 2 : characters);
    }
    return type;
}

/* --- names --- */
static bool find_kind(Str name, SimTypeKind *out)
{
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (str_equal_ignoring_case(name, str_from_c(types[i].name))) {
            *out = (SimTypeKind)i;
            return true;
        }
    }
    for (size_t i = 0; i < COUNT_OF(aliases); i++) {
        if (str_equal_ignoring_case(name, str_from_c(aliases[i].name))) {
            *out = aliases[i].kind;
            return true;
        }
    }
    return false;
}

static bool is_missing(Str name)
{
    return str_equal_ignoring_case(name, STR("geometry")) ||
           str_equal_ignoring_case(name, STR("geography")) ||
           str_equal_ignoring_case(name, STR("hierarchyid"));
}

const char *sim_type_of_2025(Str text)
{
    Str       name  = str_trim(text);
    ptrdiff_t paren = str_find_char(name, '(', 0);

    if (paren >= 0) name = str_trim(str_slice(name, 0, (size_t)paren));
    if (str_equal_ignoring_case(name, STR("json"))) return "the type json";
    return str_equal_ignoring_case(name, STR("vector")) ? "the type vector" : NULL;
}

static bool no_arguments(Str name, int64_t first, SimError *error)
{
    if (first == ARG_NONE) return true;
    return sim_error(
        error, 2716,
        "Column, parameter, or variable #1: Cannot specify a column width on data type %.*s.",
        STR_ARG(name));
}

static bool set_length(Str name, int64_t first, int64_t second, bool for_cast, SimType *type,
                       SimError *error)
{
    bool    wide  = types[type->kind].args == ARGS_UNITS;
    bool    fixed = type->kind == SIM_CHAR || type->kind == SIM_NCHAR || type->kind == SIM_BINARY;
    int64_t limit = wide ? 4000 : 8000;

    if (second != ARG_NONE)
        return sim_error(error, 1002, "Line 1: Specified scale %lld is invalid.",
                         (long long)second);
    if (first == ARG_NONE) first = for_cast ? 30 : 1;
    if (first == ARG_MAX && fixed) return sim_error(error, 102, "Incorrect syntax near 'max'.");
    if (first == ARG_MAX) {
        type->length = -1;
        return true;
    }
    if (first < 1)
        return sim_error(error, 1001, "Line 1: Length or precision specification %lld is invalid.",
                         (long long)first);
    if (first > limit)
        return sim_error(error, 131,
                         "The size (%lld) given to the type '%.*s' exceeds the maximum allowed for "
                         "any data type (8000).",
                         (long long)first, STR_ARG(name));
    type->length = (int32_t)(wide ? first * 2 : first);
    return true;
}

static bool set_decimal(int64_t first, int64_t second, SimType *type, SimError *error)
{
    if (first == ARG_NONE) first = 18;
    if (second == ARG_NONE) second = 0;
    if (first < 1)
        return sim_error(error, 1001, "Line 1: Length or precision specification %lld is invalid.",
                         (long long)first);
    if (first > DECIMAL_DIGITS_MAX)
        return sim_error(error, 2750,
                         "Column or parameter #1: Specified column precision %lld is greater than "
                         "the maximum precision of 38.",
                         (long long)first);
    if (second < 0 || second > first)
        return sim_error(error, 2751,
                         "Column or parameter #1: Specified column scale %lld is greater than the "
                         "specified precision of %lld.",
                         (long long)second, (long long)first);
    *type = sim_type_decimal((int)first, (int)second);
    return true;
}

static bool set_float(int64_t first, SimType *type, SimError *error)
{
    if (first == ARG_NONE) return true;
    if (first < 1 || first > 53)
        return sim_error(error, 2750,
                         "Column or parameter #1: Specified column precision %lld is greater than "
                         "the maximum precision of 53.",
                         (long long)first);
    *type = sim_type(first <= 24 ? SIM_REAL : SIM_FLOAT);
    return true;
}

bool sim_type_make(Str name, int64_t first, int64_t second, bool for_cast, SimType *out,
                   SimError *error)
{
    SimTypeKind kind = SIM_INT;

    if (str_equal_ignoring_case(name, STR("sysname"))) {
        *out = sim_type_sized(SIM_NVARCHAR, 128);
        return no_arguments(name, first, error);
    }
    if (!find_kind(name, &kind)) {
        if (is_missing(name)) return sim_not_supported(error, "the type %.*s", STR_ARG(name));
        if (for_cast)
            return sim_error(error, 243, "Type %.*s is not a defined system type.", STR_ARG(name));
        return sim_error(error, 2715,
                         "Column, parameter, or variable #1: Cannot find data type %.*s.",
                         STR_ARG(name));
    }
    *out = sim_type(kind);
    switch (types[kind].args) {
    case ARGS_NONE: return no_arguments(name, first, error);
    case ARGS_BYTES:
    case ARGS_UNITS: return set_length(name, first, second, for_cast, out, error);
    case ARGS_DECIMAL:
        if (!set_decimal(first, second, out, error)) return false;
        out->is_numeric = str_equal_ignoring_case(name, STR("numeric"));
        return true;
    case ARGS_FLOAT: return set_float(first, out, error);
    case ARGS_SCALE:
        if (first == ARG_NONE) return true;
        if (first < 0 || first > 7)
            return sim_error(error, 1002, "Line 1: Specified scale %lld is invalid.",
                             (long long)first);
        set_scale(out, (uint8_t)first);
        return true;
    }
    return true;
}

/* One argument of a type's text: a number or max. */
static bool parse_argument(Str text, int64_t *out)
{
    Str word = str_trim(text);

    if (str_equal_ignoring_case(word, STR("max"))) {
        *out = ARG_MAX;
        return true;
    }
    return str_parse_i64(word, out) && *out >= 0;
}

bool sim_type_parse(Str text, SimType *out)
{
    Str       whole  = str_trim(text);
    ptrdiff_t open   = str_find_char(whole, '(', 0);
    int64_t   first  = ARG_NONE;
    int64_t   second = ARG_NONE;
    SimError  error  = SIM_ERROR_INIT;

    if (open >= 0) {
        if (whole.ptr[whole.len - 1] != ')') return false;
        Str       args  = str_slice(whole, (size_t)open + 1, whole.len - 1);
        ptrdiff_t comma = str_find_char(args, ',', 0);
        if (comma >= 0 && !parse_argument(str_slice(args, (size_t)comma + 1, args.len), &second))
            return false;
        if (!parse_argument(comma >= 0 ? str_slice(args, 0, (size_t)comma) : args, &first))
            return false;
        whole = str_trim(str_slice(whole, 0, (size_t)open));
    }
    return sim_type_make(whole, first, second, false, out, &error);
}

Str sim_type_format(Arena *arena, const SimType *type)
{
    const char *name = sim_type_word(type);

    switch (types[type->kind].args) {
    case ARGS_NONE:
    case ARGS_FLOAT: return str_from_c(name);
    case ARGS_BYTES:
    case ARGS_UNITS:
        if (type->length < 0) return str_printf(arena, "%s(max)", name);
        return str_printf(
            arena, "%s(%d)", name,
            (int)(types[type->kind].args == ARGS_UNITS ? type->length / 2 : type->length));
    case ARGS_DECIMAL:
        return str_printf(arena, "%s(%d,%d)", name, (int)type->precision, (int)type->scale);
    case ARGS_SCALE: return str_printf(arena, "%s(%d)", name, (int)type->scale);
    }
    return str_from_c(name);
}

bool sim_type_equal(const SimType *left, const SimType *right)
{
    bool has_scale = left->kind == SIM_DECIMAL || types[left->kind].args == ARGS_SCALE;

    if (left->kind != right->kind || left->collation != right->collation) return false;
    if (left->kind == SIM_DECIMAL && left->precision != right->precision) return false;
    if (has_scale) return left->scale == right->scale;
    return sim_type_is_number(left->kind) || left->length == right->length;
}

/* --- mixing two types --- */
static bool is_text_or_binary(SimTypeKind kind)
{
    return sim_type_is_text(kind) || kind == SIM_BINARY || kind == SIM_VARBINARY;
}

/* What converts implicitly in an expression, from the lower type to the higher one. */
static bool can_mix(SimTypeKind low, SimTypeKind high)
{
    if (low == high || high == SIM_VARIANT) return low == high || !sim_type_is_lob(low);
    if (low == SIM_VARIANT || high == SIM_XML) return high == SIM_XML && is_text_or_binary(low);
    if (sim_type_is_text(low)) return !(high == SIM_IMAGE);
    if (low == SIM_BINARY || low == SIM_VARBINARY)
        return !(high == SIM_TEXT || high == SIM_NTEXT || high == SIM_FLOAT || high == SIM_REAL ||
                 sim_type_is_time(high)) ||
               high == SIM_DATETIME || high == SIM_SMALLDATETIME;
    if (sim_type_is_number(low))
        return sim_type_is_number(high) || high == SIM_DATETIME || high == SIM_SMALLDATETIME;
    if (sim_type_is_time(low))
        return sim_type_is_time(high) && !(low == SIM_TIME && high == SIM_DATE);
    if (low == SIM_ROWVERSION)
        return sim_type_is_number(high) && high != SIM_FLOAT && high != SIM_REAL;
    if (low == SIM_TEXT) return high == SIM_NTEXT;
    return false;
}

/* Integers as the decimals that hold them. */
static void as_decimal_type(const SimType *type, int *precision_out, int *scale_out)
{
    *precision_out = type->precision > 0 ? type->precision : 18;
    *scale_out     = sim_type_is_number(type->kind) ? type->scale : 0;
}

static SimType unify_decimals(const SimType *left, const SimType *right)
{
    int left_precision, left_scale, right_precision, right_scale;

    as_decimal_type(left, &left_precision, &left_scale);
    as_decimal_type(right, &right_precision, &right_scale);
    int whole = MAX(left_precision - left_scale, right_precision - right_scale);
    int scale = MAX(left_scale, right_scale);
    if (whole + scale > DECIMAL_DIGITS_MAX) scale = MAX(0, DECIMAL_DIGITS_MAX - whole);
    SimType type    = sim_type_decimal(MIN(whole + scale, DECIMAL_DIGITS_MAX), scale);
    type.is_numeric = left->is_numeric || right->is_numeric;
    return type;
}

static int64_t characters_of(const SimType *type)
{
    if (type->length < 0) return -1;
    return sim_type_is_unicode(type->kind) ? type->length / 2 : type->length;
}

static SimType unify_strings(const SimType *low, const SimType *high)
{
    SimTypeKind kind  = high->kind;
    int64_t     left  = characters_of(low);
    int64_t     right = characters_of(high);

    /* nchar with varchar is nvarchar, as one of them varies. */
    if (kind == SIM_NCHAR && (low->kind == SIM_VARCHAR || low->kind == SIM_NVARCHAR))
        kind = SIM_NVARCHAR;
    SimType type = sim_type_sized(kind, left < 0 || right < 0 ? -1 : MAX(left, right));
    if (left < 0 || right < 0) type.length = -1;
    return type;
}

static bool unify_collations(const SimType *left, const SimType *right, SimType *out,
                             SimError *error)
{
    if (!sim_type_is_text(out->kind)) return true;
    out->collation = left->collation != NULL ? left->collation : right->collation;
    if (left->collation == NULL || right->collation == NULL || left->collation == right->collation)
        return true;
    Str one = sim_collation_name(left->collation);
    Str two = sim_collation_name(right->collation);
    return sim_error(
        error, 468,
        "Cannot resolve the collation conflict between \"%.*s\" and \"%.*s\" in the expression.",
        STR_ARG(two), STR_ARG(one));
}

bool sim_type_unify(const SimType *left_type, const SimType *right_type, SimType *out,
                    SimError *error)
{
    const SimType  one = *left_type, two = *right_type; /* `out` may be one of them */
    const SimType *left = &one, *right = &two;
    bool           left_wins = sim_type_precedence(left->kind) >= sim_type_precedence(right->kind);
    const SimType *high      = left_wins ? left : right;
    const SimType *low       = left_wins ? right : left;

    if (!can_mix(low->kind, high->kind))
        return sim_error(error, 206, "Operand type clash: %s is incompatible with %s",
                         sim_type_word(low), sim_type_word(high));
    *out           = *high;
    out->collation = NULL;
    if (high->kind == SIM_DECIMAL && sim_type_is_number(low->kind)) {
        *out = unify_decimals(left, right);
    } else if (sim_type_is_integer(high->kind)) {
        *out = sim_type(high->kind); /* a literal's digits count no longer */
    } else if (types[high->kind].args == ARGS_SCALE && sim_type_is_time(low->kind)) {
        set_scale(out, MAX(high->scale, low->scale));
    } else if (is_text_or_binary(high->kind) && is_text_or_binary(low->kind)) {
        *out = unify_strings(low, high);
    }
    return unify_collations(left, right, out, error);
}
