/* Scalar functions: finding and typing them, and arguments as text. */
#include "sim/function/function_internal.h"

#include <string.h>

const SimFunction *function_find_among(const SimFunction *functions, size_t count, Str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal_ignoring_case(name, str_from_c(functions[i].name))) return &functions[i];
    }
    return NULL;
}

const SimFunction *sim_function_find(Str name)
{
    const SimFunction *found = function_find_text(name);

    if (found == NULL) found = function_find_date(name);
    if (found == NULL) found = function_find_math(name);
    if (found == NULL) found = function_find_search(name);
    if (found == NULL) found = function_find_hash(name);
    return found;
}

bool sim_function_takes_datepart(const SimFunction *function)
{
    return function->takes_datepart;
}

/* --- typing --- */
static bool wrong_count(const SimFunction *function, SimError *error)
{
    Arena *arena = arena_new();
    Str    name  = str_lower_ascii(arena, str_from_c(function->name));

    if (function->max_args == ARGS_ANY)
        sim_error(error, 189, "The %.*s function requires %d to 254 arguments.", STR_ARG(name),
                  (int)function->min_args);
    else if (function->min_args == function->max_args)
        sim_error(error, 174, "The %.*s function requires %d argument(s).", STR_ARG(name),
                  (int)function->min_args);
    else
        sim_error(error, 189, "The %.*s function requires %d to %d arguments.", STR_ARG(name),
                  (int)function->min_args, (int)function->max_args);
    arena_close(arena);
    return false;
}

bool sim_function_type(const SimFunction *function, const SimType *args,
                       const SimValue *const *constants, size_t count, SimType *out,
                       SimError *error)
{
    Typing typing = {function, args, constants, count, error};

    if (count < function->min_args ||
        (count > function->max_args && function->max_args != ARGS_ANY))
        return wrong_count(function, error);
    return function->type(&typing, out);
}

bool sim_function_call(const SimFunction *function, const SimType *type, const SimValue *args,
                       size_t count, Arena *arena, SimValue *out, SimError *error)
{
    Call call = {function, type, args, count, arena, error};

    for (size_t i = 0; i < count && !function->takes_nulls; i++) {
        if (!args[i].is_null) continue;
        *out = sim_null(*type);
        return true;
    }
    SimValue result = {.type = *type};
    if (!function->call(&call, &result)) return false;
    *out = result;
    return true;
}

bool type_int(const Typing *typing, SimType *out)
{
    (void)typing;
    *out = sim_type(SIM_INT);
    return true;
}

bool type_float(const Typing *typing, SimType *out)
{
    SimTypeKind kind = typing->args[0].kind;

    *out = sim_type(SIM_FLOAT);
    return sim_type_is_number(kind) || sim_type_is_text(kind) || refuse_argument(typing, 0);
}

bool type_sized(SimTypeKind kind, int64_t length, const SimType *from, SimType *out)
{
    *out           = sim_type_sized(kind, length);
    out->collation = from != NULL && sim_type_is_text(from->kind) ? from->collation : NULL;
    return true;
}

int64_t text_width(const SimType *type)
{
    switch (type->kind) {
    case SIM_CHAR:
    case SIM_VARCHAR:
    case SIM_BINARY:
    case SIM_VARBINARY: return type->length;
    case SIM_NCHAR:
    case SIM_NVARCHAR: return type->length < 0 ? -1 : type->length / 2;
    case SIM_TEXT:
    case SIM_NTEXT:
    case SIM_IMAGE:
    case SIM_XML: return -1;
    case SIM_BIT: return 1;
    case SIM_TINYINT: return 4;
    case SIM_SMALLINT: return 6;
    case SIM_INT: return 12;
    case SIM_BIGINT: return 24;
    case SIM_DECIMAL: return 41;
    case SIM_UNIQUEIDENTIFIER: return 36;
    case SIM_REAL:
    case SIM_FLOAT: return 23;
    case SIM_MONEY:
    case SIM_SMALLMONEY:
    case SIM_ROWVERSION: return 30;
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: return 34;
    case SIM_VARIANT: return 4000;
    }
    return 30;
}

bool type_of_text(const Typing *typing, SimType *out)
{
    const SimType *from = &typing->args[0];

    if (from->kind == SIM_IMAGE || from->kind == SIM_XML || from->kind == SIM_VARIANT)
        return refuse_argument(typing, 0);
    return type_sized(sim_type_is_unicode(from->kind) ? SIM_NVARCHAR : SIM_VARCHAR,
                      text_width(from), from, out);
}

bool refuse_argument(const Typing *typing, size_t index)
{
    char   name[32];
    size_t len = 0;

    for (const char *c = typing->function->name; *c != '\0' && len + 1 < sizeof name; c++)
        name[len++] = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    name[len] = '\0';
    return sim_error(typing->error, 8116,
                     "Argument data type %s is invalid for argument %d of %s function.",
                     sim_type_word(&typing->args[index]), (int)index + 1, name);
}

bool constant_i64(const Typing *typing, size_t index, int64_t *out)
{
    if (typing->constants == NULL || index >= typing->count || typing->constants[index] == NULL)
        return false;
    const SimValue *value = typing->constants[index];
    if (value->is_null || !sim_type_is_integer(value->type.kind)) return false;
    *out = value->i64;
    return true;
}

/* --- arguments --- */
bool text_arg(const Call *call, size_t index, Text *out)
{
    const SimValue *value = &call->args[index];
    SimValue        text  = *value;
    SimTypeKind     kind  = value->type.kind;

    if (!sim_type_is_text(kind)) {
        bool    wide = sim_type_is_unicode(kind);
        SimType to   = sim_type_sized(wide ? SIM_NVARCHAR : SIM_VARCHAR, -1);
        to.collation = call->type->collation;
        if (!sim_convert(value, &to, 0, false, call->arena, &text, call->error)) return false;
    }
    *out = (Text){text.bytes, text.type.collation, sim_type_is_unicode(text.type.kind)};
    if (!out->wide && sim_collation_is_utf8(out->collation)) text_widen(call, out);
    return true;
}

void text_widen(const Call *call, Text *text)
{
    if (text->wide) return;
    text->bytes = sim_text_recode(call->arena, text->collation, false, text->collation, true,
                                  text->bytes);
    text->wide  = true;
}

size_t text_len(const Text *text)
{
    return text->wide ? text->bytes.len / 2 : text->bytes.len;
}

Text text_slice(const Text *text, size_t from, size_t to)
{
    size_t len  = text_len(text);
    size_t step = text->wide ? 2 : 1;
    Text   part = *text;

    to             = MIN(to, len);
    from           = MIN(from, to);
    part.bytes.ptr = text->bytes.ptr + from * step;
    part.bytes.len = (to - from) * step;
    return part;
}

uint32_t text_unit(const Text *text, size_t index)
{
    if (!text->wide) return text->bytes.ptr[index];
    return (uint32_t)text->bytes.ptr[index * 2] | (uint32_t)text->bytes.ptr[index * 2 + 1] << 8;
}

Buf text_buf(const Call *call)
{
    return buf_new(call->arena, SIM_VALUE_BYTES_MOST + 2);
}

bool set_text(const Call *call, const Text *text, SimValue *out)
{
    SimType from   = sim_type_sized(text->wide ? SIM_NVARCHAR : SIM_VARCHAR, -1);
    from.collation = text->collation;

    SimValue value = {.type = from, .bytes = text->bytes};
    if (text->bytes.len > SIM_VALUE_BYTES_MOST) return sim_value_too_long(call->error);
    return sim_convert(&value, call->type, 0, false, call->arena, out, call->error);
}

bool set_utf8(const Call *call, Str text, SimValue *out)
{
    Text wide = {sim_text_from_utf8(call->arena, NULL, true, text), call->type->collation, true};

    return set_text(call, &wide, out);
}

bool i64_arg(const Call *call, size_t index, int64_t *out)
{
    SimType  to    = sim_type(SIM_BIGINT);
    SimValue value = {0};

    if (!sim_convert(&call->args[index], &to, 0, false, call->arena, &value, call->error))
        return false;
    *out = value.i64;
    return true;
}

bool f64_arg(const Call *call, size_t index, double *out)
{
    SimType  to    = sim_type(SIM_FLOAT);
    SimValue value = {0};

    if (!sim_convert(&call->args[index], &to, 0, false, call->arena, &value, call->error))
        return false;
    *out = value.f64;
    return true;
}
