/* CAST and CONVERT: which conversions there are, and the way to the one that does it (sqlserver.md
 * 2.10). */
#include "sim/value/convert_internal.h"

/* --- which are allowed --- */
typedef enum Allowed { ALLOWED_NOT, ALLOWED_EXPLICIT, ALLOWED_IMPLICIT } Allowed;

static bool is_number_of_days(SimTypeKind kind)
{
    return kind == SIM_DATETIME || kind == SIM_SMALLDATETIME;
}

static bool is_float(SimTypeKind kind)
{
    return kind == SIM_FLOAT || kind == SIM_REAL;
}

static bool is_money(SimTypeKind kind)
{
    return kind == SIM_MONEY || kind == SIM_SMALLMONEY;
}

static Allowed from_number(SimTypeKind from, SimTypeKind to)
{
    if (sim_type_is_number(to) || is_number_of_days(to)) return ALLOWED_IMPLICIT;
    if (sim_type_is_text(to)) return is_money(from) ? ALLOWED_EXPLICIT : ALLOWED_IMPLICIT;
    if (to == SIM_BINARY || to == SIM_VARBINARY)
        return is_float(from) ? ALLOWED_EXPLICIT : ALLOWED_IMPLICIT;
    if (to == SIM_ROWVERSION) return is_float(from) ? ALLOWED_NOT : ALLOWED_IMPLICIT;
    return ALLOWED_NOT;
}

static Allowed from_time(SimTypeKind from, SimTypeKind to)
{
    if (sim_type_is_time(to))
        return (from == SIM_DATE && to == SIM_TIME) || (from == SIM_TIME && to == SIM_DATE)
                   ? ALLOWED_NOT
                   : ALLOWED_IMPLICIT;
    if (sim_type_is_text(to)) return ALLOWED_IMPLICIT;
    if (sim_type_is_number(to)) return is_number_of_days(from) ? ALLOWED_EXPLICIT : ALLOWED_NOT;
    if (to == SIM_BINARY || to == SIM_VARBINARY) return ALLOWED_EXPLICIT;
    return ALLOWED_NOT;
}

static Allowed from_text(SimTypeKind to)
{
    if (to == SIM_BINARY || to == SIM_VARBINARY || to == SIM_ROWVERSION || to == SIM_IMAGE)
        return ALLOWED_EXPLICIT;
    return ALLOWED_IMPLICIT;
}

static Allowed from_binary(SimTypeKind from, SimTypeKind to)
{
    if (is_float(to) || to == SIM_TEXT || to == SIM_NTEXT) return ALLOWED_NOT;
    if (sim_type_is_number(to) || sim_type_is_binary(to) || sim_type_is_text(to))
        return ALLOWED_IMPLICIT;
    if (sim_type_is_time(to))
        return is_number_of_days(to)    ? ALLOWED_IMPLICIT
               : from == SIM_ROWVERSION ? ALLOWED_NOT
                                        : ALLOWED_EXPLICIT;
    if (to == SIM_UNIQUEIDENTIFIER || to == SIM_XML)
        return from == SIM_ROWVERSION ? ALLOWED_NOT : ALLOWED_IMPLICIT;
    return ALLOWED_NOT;
}

static Allowed from_lob(SimTypeKind from, SimTypeKind to)
{
    if (from == SIM_IMAGE)
        return to == SIM_BINARY || to == SIM_VARBINARY || to == SIM_ROWVERSION ? ALLOWED_IMPLICIT
                                                                               : ALLOWED_NOT;
    if (sim_type_is_text(to) || to == SIM_TEXT || to == SIM_NTEXT || to == SIM_XML)
        return ALLOWED_IMPLICIT;
    return ALLOWED_NOT;
}

static Allowed allowed(SimTypeKind from, SimTypeKind to)
{
    if (from == to || to == SIM_VARIANT)
        return sim_type_is_lob(from) && to == SIM_VARIANT ? ALLOWED_NOT : ALLOWED_IMPLICIT;
    if (from == SIM_VARIANT) return ALLOWED_EXPLICIT;
    if (sim_type_is_number(from)) return from_number(from, to);
    if (sim_type_is_time(from)) return from_time(from, to);
    if (sim_type_is_text(from)) return from_text(to);
    if (sim_type_is_lob(from)) return from_lob(from, to);
    if (sim_type_is_binary(from)) return from_binary(from, to);
    if (from == SIM_UNIQUEIDENTIFIER)
        return sim_type_is_text(to) || to == SIM_BINARY || to == SIM_VARBINARY ? ALLOWED_IMPLICIT
                                                                               : ALLOWED_NOT;
    return sim_type_is_text(to) || to == SIM_BINARY || to == SIM_VARBINARY ? ALLOWED_EXPLICIT
                                                                           : ALLOWED_NOT; /* xml */
}

const char *type_message_name(SimTypeKind kind)
{
    return kind == SIM_DECIMAL ? "numeric" : sim_type_name(kind);
}

bool sim_convert_check(const SimType *from, const SimType *to, bool implicit, SimError *error)
{
    const char *from_name = sim_type_word(from);
    const char *to_name   = sim_type_word(to);
    Allowed     how       = allowed(from->kind, to->kind);

    if (how == ALLOWED_IMPLICIT || (how == ALLOWED_EXPLICIT && !implicit)) return true;
    if (how == ALLOWED_EXPLICIT)
        return sim_error(error, 257,
                         "Implicit conversion from data type %s to %s is not allowed. Use the "
                         "CONVERT function to run this query.",
                         from_name, to_name);
    if (implicit)
        return sim_error(error, 206, "Operand type clash: %s is incompatible with %s", from_name,
                         to_name);
    return sim_error(error, 529, "Explicit conversion from data type %s to %s is not allowed.",
                     from_name, to_name);
}

/* --- doing it --- */
bool overflow_error(const Conversion *conversion, const char *from)
{
    return sim_error(conversion->error, 8115,
                     "Arithmetic overflow error converting %s to data type %s.", from,
                     type_message_name(conversion->to->kind));
}

Str conversion_text(const Conversion *conversion)
{
    const SimValue *value = conversion->value;

    return sim_text_to_utf8(conversion->arena, value->type.collation,
                            sim_type_is_unicode(value->type.kind), value->bytes);
}

static bool holds_bytes(SimTypeKind kind)
{
    return sim_type_is_text(kind) || sim_type_is_binary(kind) || sim_type_is_lob(kind) ||
           kind == SIM_XML;
}

/* The same type, or one that differs in nothing a value shows. */
static bool is_same(const SimType *from, const SimType *to)
{
    if (from->kind != to->kind) return false;
    if (holds_bytes(from->kind))
        return from->length == to->length &&
               (to->collation == NULL || to->collation == from->collation) &&
               from->kind != SIM_CHAR && from->kind != SIM_NCHAR && from->kind != SIM_BINARY;
    if (from->kind == SIM_DECIMAL && from->precision != to->precision) return false;
    return from->scale == to->scale;
}

static SimType result_type(const SimValue *value, const SimType *to)
{
    SimType type = *to;

    if (type.collation == NULL &&
        (sim_type_is_text(type.kind) || type.kind == SIM_TEXT || type.kind == SIM_NTEXT))
        type.collation = value->type.collation;
    return type;
}

static bool convert(const Conversion *conversion, SimValue *out)
{
    SimTypeKind to = conversion->to->kind;

    if (sim_type_is_number(to)) return convert_to_number(conversion, out);
    if (sim_type_is_time(to)) return convert_to_time(conversion, out);
    if (sim_type_is_binary(to)) return convert_to_binary(conversion, out);
    if (to == SIM_UNIQUEIDENTIFIER) return convert_to_guid(conversion, out);
    if (to == SIM_XML) return convert_to_xml(conversion, out);
    if (to == SIM_VARIANT) {
        *out = *conversion->value;
        return true;
    }
    return convert_to_text(conversion, out);
}

bool sim_convert(const SimValue *value, const SimType *to, int style, bool implicit, Arena *arena,
                 SimValue *out, SimError *error)
{
    SimType    type       = result_type(value, to);
    Conversion conversion = {value, &type, style, arena, error};

    if (value->is_null) {
        *out = sim_null(type);
        return true;
    }
    if (is_same(&value->type, &type)) {
        *out      = *value;
        out->type = type;
        return true;
    }
    if (!sim_convert_check(&value->type, &type, implicit, error)) return false;
    SimValue result = {.type = type};
    if (!convert(&conversion, &result)) return false;
    *out = result;
    return true;
}
