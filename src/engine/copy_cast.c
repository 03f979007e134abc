/* copy_cast.c - libduckdb's casts round, cut and guess; the second expression tells when one of them did. */
#include "engine/copy_cast.h"

#include "base/buf.h"
#include "duck/duck.h"

typedef enum CopyKind {
    COPY_BOOLEAN,
    COPY_INTEGER,
    COPY_DECIMAL,
    COPY_FLOAT,
    COPY_DATE,
    COPY_TIME,
    COPY_TIMESTAMP,
    COPY_TIMESTAMP_NS,
    COPY_TIMESTAMP_TZ,
    COPY_TEXT,
    COPY_UUID,
    COPY_BINARY,
    COPY_NULL,
    COPY_OTHER
} CopyKind;

typedef struct Casting {
    Arena   *arena;
    Str      source; /* the expression */
    Str      source_type;
    CopyKind kind;
    Str      want_type;
} Casting;

static CopyKind kind_of(Str type)
{
    static const struct {
        const char *name;
        CopyKind    kind;
    } kinds[] = {
        {"BOOLEAN", COPY_BOOLEAN},
        {"TINYINT", COPY_INTEGER},
        {"SMALLINT", COPY_INTEGER},
        {"INTEGER", COPY_INTEGER},
        {"BIGINT", COPY_INTEGER},
        {"HUGEINT", COPY_INTEGER},
        {"UTINYINT", COPY_INTEGER},
        {"USMALLINT", COPY_INTEGER},
        {"UINTEGER", COPY_INTEGER},
        {"UBIGINT", COPY_INTEGER},
        {"UHUGEINT", COPY_INTEGER},
        {"FLOAT", COPY_FLOAT},
        {"DOUBLE", COPY_FLOAT},
        {"DATE", COPY_DATE},
        {"TIME", COPY_TIME},
        {"TIME_NS", COPY_TIME},
        {"TIMESTAMP", COPY_TIMESTAMP},
        {"TIMESTAMP_S", COPY_TIMESTAMP},
        {"TIMESTAMP_MS", COPY_TIMESTAMP},
        {"TIMESTAMP_NS", COPY_TIMESTAMP_NS},
        {"TIMESTAMP WITH TIME ZONE", COPY_TIMESTAMP_TZ},
        {"VARCHAR", COPY_TEXT},
        {"JSON", COPY_TEXT},
        {"UUID", COPY_UUID},
        {"BLOB", COPY_BINARY},
        {"\"NULL\"", COPY_NULL},
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (str_equal_c(type, kinds[i].name)) return kinds[i].kind;
    if (str_ends_with(type, STR("]"))) return COPY_OTHER; /* a list */
    if (str_starts_with(type, STR("DECIMAL("))) return COPY_DECIMAL;
    return str_starts_with(type, STR("ENUM(")) ? COPY_TEXT : COPY_OTHER;
}

static Str try_cast(const Casting *cast, Str source, Str type)
{
    return str_printf(cast->arena, "TRY_CAST(%.*s AS %.*s)", STR_ARG(source), STR_ARG(type));
}

/* `changed` (may be empty) is true for a value that came out as another one. */
static void set(const Casting *cast, CopyCast *out, Str value, Str changed)
{
    out->value = value;
    out->bad   = changed.len
                     ? str_printf(cast->arena,
                                  "%.*s IS NOT NULL AND (%.*s IS NULL OR coalesce(%.*s, true))",
                                  STR_ARG(cast->source), STR_ARG(value), STR_ARG(changed))
                     : str_printf(cast->arena, "%.*s IS NOT NULL AND %.*s IS NULL",
                                  STR_ARG(cast->source), STR_ARG(value));
}

static bool plainly(const Casting *cast, CopyCast *out)
{
    set(cast, out, try_cast(cast, cast->source, cast->want_type), STR_EMPTY);
    return true;
}

static bool as_it_is(Str value, CopyCast *out)
{
    *out = (CopyCast){.value = value, .bad = STR_EMPTY};
    return true;
}

/* A cast that rounds is noticed on the way back. */
static bool there_and_back(const Casting *cast, CopyCast *out)
{
    Str value = try_cast(cast, cast->source, cast->want_type);
    Str back  = try_cast(cast, value, cast->source_type);

    set(cast, out, value,
        str_printf(cast->arena, "%.*s <> %.*s", STR_ARG(back), STR_ARG(cast->source)));
    return true;
}

/* --- numbers --- */

/* Text is rounded too: compared with itself in a type of more fraction digits. */
static bool text_as_number(const Casting *cast, int whole_digits, int fraction_digits,
                           CopyCast *out)
{
    Str value = try_cast(cast, cast->source, cast->want_type);
    Str wide  = str_printf(cast->arena, "DECIMAL(38,%d)", 38 - whole_digits);
    Str left = try_cast(cast, cast->source, wide), right = try_cast(cast, value, wide);

    if (38 - whole_digits > fraction_digits)
        set(cast, out, value,
            str_printf(cast->arena, "%.*s <> %.*s", STR_ARG(left), STR_ARG(right)));
    else /* no type has more */
        set(cast, out, value,
            str_printf(cast->arena,
                       "NOT regexp_full_match(%.*s, '\\s*[-+]?[0-9]*(\\.[0-9]{0,%d}0*)?\\s*')",
                       STR_ARG(cast->source), fraction_digits));
    return true;
}

static bool to_boolean(const Casting *cast, CopyCast *out)
{
    switch (cast->kind) {
    case COPY_INTEGER:
    case COPY_DECIMAL:
    case COPY_FLOAT:
        set(cast, out, try_cast(cast, cast->source, cast->want_type),
            str_printf(cast->arena, "%.*s NOT IN (0, 1)", STR_ARG(cast->source)));
        return true;
    case COPY_TEXT: return plainly(cast, out);
    default: return false;
    }
}

static bool to_number(const Casting *cast, ColumnType want, CopyCast *out)
{
    bool is_decimal = want.kind == TYPE_DECIMAL;

    switch (cast->kind) {
    case COPY_BOOLEAN:
    case COPY_INTEGER: return plainly(cast, out);
    case COPY_DECIMAL:
    case COPY_FLOAT: return there_and_back(cast, out);
    case COPY_TEXT:
        return text_as_number(cast, is_decimal ? want.precision - want.scale : 20,
                              is_decimal ? want.scale : 0, out);
    default: return false;
    }
}

/* The nearest one is right: the copy holds digits of what was one. SQL Server has no NaN and no infinity: they stand for
 * something else, NULL mostly. */
static bool to_float(const Casting *cast, CopyCast *out)
{
    Str value = try_cast(cast, cast->source, cast->want_type);

    switch (cast->kind) {
    case COPY_INTEGER:
    case COPY_DECIMAL:
    case COPY_FLOAT:
    case COPY_TEXT:
        set(cast, out, value, str_printf(cast->arena, "NOT isfinite(%.*s)", STR_ARG(value)));
        return true;
    default: return false;
    }
}

/* --- times --- */

/* To the microsecond below, also before 1970, as what comes from the source is cut. */
static Str microseconds(const Casting *cast)
{
    return str_printf(
        cast->arena,
        "make_timestamp((epoch_ns(%.*s) - ((epoch_ns(%.*s) %% 1000) + 1000) %% 1000) // 1000)",
        STR_ARG(cast->source), STR_ARG(cast->source));
}

static bool to_date(const Casting *cast, CopyCast *out)
{
    Str value = try_cast(cast, cast->source, cast->want_type);
    Str left  = try_cast(cast, cast->source, STR("TIMESTAMP"));
    Str right = try_cast(cast, value, STR("TIMESTAMP"));

    switch (cast->kind) {
    case COPY_TIMESTAMP:
    case COPY_TIMESTAMP_NS:
    case COPY_TIMESTAMP_TZ:
        set(cast, out, value,
            str_printf(cast->arena, "%.*s <> %.*s", STR_ARG(left), STR_ARG(right)));
        return true;
    case COPY_TEXT:
        set(cast, out, value,
            str_printf(cast->arena, "%.*s <> %.*s OR NOT isfinite(%.*s)", STR_ARG(left),
                       STR_ARG(right), STR_ARG(value)));
        return true;
    default: return false;
    }
}

/* Text with an offset is an instant, and what time of day that was where the server stands is not known. */
static bool to_time_of_day(const Casting *cast, CopyCast *out)
{
    Str value = try_cast(cast, cast->source, cast->want_type);

    switch (cast->kind) {
    case COPY_DATE:
    case COPY_TIMESTAMP:
    case COPY_TIMESTAMP_TZ: return plainly(cast, out);
    case COPY_TIMESTAMP_NS: return as_it_is(microseconds(cast), out);
    case COPY_TEXT:
        set(cast, out, value,
            str_printf(cast->arena,
                       "regexp_matches(%.*s, ':[0-9.]+\\s*([zZ]|[-+][0-9]{2}(:?[0-9]{2})?)\\s*$') "
                       "OR NOT isfinite(%.*s)",
                       STR_ARG(cast->source), STR_ARG(value)));
        return true;
    default: return false;
    }
}

/* Without an offset it is UTC. SQL Server writes a blank in front of one. */
static bool to_instant(const Casting *cast, CopyCast *out)
{
    Str text;

    switch (cast->kind) {
    case COPY_DATE:
    case COPY_TIMESTAMP: return plainly(cast, out);
    case COPY_TIMESTAMP_NS:
        return as_it_is(str_printf(cast->arena, "CAST(%.*s AS %.*s)", STR_ARG(microseconds(cast)),
                                   STR_ARG(cast->want_type)),
                        out);
    case COPY_TEXT:
        text = str_printf(cast->arena, "regexp_replace(%.*s, '\\s+([-+][0-9:]+)\\s*$', '\\1')",
                          STR_ARG(cast->source));
        text = try_cast(cast, text, cast->want_type);
        set(cast, out, text, str_printf(cast->arena, "NOT isfinite(%.*s)", STR_ARG(text)));
        return true;
    default: return false;
    }
}

/* --- text and bytes --- */

/* "13:50:01.5" with nine fraction digits. */
static bool to_time_text(const Casting *cast, CopyCast *out)
{
    Str text = str_printf(cast->arena, "CAST(%.*s AS VARCHAR)", STR_ARG(cast->source));

    if (cast->kind != COPY_TEXT && cast->kind != COPY_TIME) return false;
    text = str_printf(cast->arena,
                      "CASE WHEN regexp_full_match(%.*s, "
                      "'([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\\.[0-9]{1,9})?') THEN left(%.*s, 8) || "
                      "'.' || rpad(substr(%.*s, 10), 9, '0') END",
                      STR_ARG(text), STR_ARG(text), STR_ARG(text));
    set(cast, out, text, STR_EMPTY);
    return true;
}

static bool to_identifier_text(const Casting *cast, CopyCast *out)
{
    if (cast->kind != COPY_TEXT && cast->kind != COPY_UUID) return false;
    set(cast, out,
        str_printf(cast->arena, "upper(CAST(%.*s AS VARCHAR))",
                   STR_ARG(try_cast(cast, cast->source, STR("UUID")))),
        STR_EMPTY);
    return true;
}

static bool to_text(const Casting *cast, SqlTypeKind sql_type, CopyCast *out)
{
    if (sql_type == SQL_TYPE_UNIQUEIDENTIFIER) return to_identifier_text(cast, out);
    if (sql_type == SQL_TYPE_TIME) return to_time_text(cast, out);
    if (cast->kind == COPY_OTHER) return false;
    if (cast->kind == COPY_BINARY) { /* as programs write text that mark none as such */
        set(cast, out, str_printf(cast->arena, "TRY(decode(%.*s))", STR_ARG(cast->source)),
            STR_EMPTY);
        return true;
    }
    return as_it_is(str_printf(cast->arena, "CAST(%.*s AS VARCHAR)", STR_ARG(cast->source)), out);
}

static bool to_bytes(const Casting *cast, CopyCast *out)
{
    if (cast->kind != COPY_TEXT) return false;
    set(cast, out,
        str_printf(cast->arena,
                   "CASE WHEN regexp_full_match(%.*s, '0[xX]([0-9a-fA-F]{2})*') THEN "
                   "unhex(substr(%.*s, 3)) END",
                   STR_ARG(cast->source), STR_ARG(cast->source)),
        STR_EMPTY);
    return true;
}

/* --- all --- */

bool copy_cast_sql(Arena *arena, Str source, Str source_type, ColumnType want, SqlTypeKind sql_type,
                   CopyCast *out)
{
    Casting cast = {.arena       = arena,
                    .source      = source,
                    .source_type = source_type,
                    .kind        = kind_of(source_type),
                    .want_type   = duck_type_name(arena, want)};

    if (cast.kind == COPY_NULL)
        return as_it_is(str_printf(arena, "CAST(NULL AS %.*s)", STR_ARG(cast.want_type)), out);
    if (want.kind == TYPE_STRING) return to_text(&cast, sql_type, out);
    if (str_equal(source_type, cast.want_type) && cast.kind != COPY_FLOAT)
        return as_it_is(source, out);
    switch (want.kind) {
    case TYPE_BOOLEAN: return to_boolean(&cast, out);
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
    case TYPE_DECIMAL: return to_number(&cast, want, out);
    case TYPE_FLOAT:
    case TYPE_DOUBLE: return to_float(&cast, out);
    case TYPE_DATE: return to_date(&cast, out);
    case TYPE_TIMESTAMP: return to_instant(&cast, out);
    case TYPE_TIMESTAMP_NTZ: return to_time_of_day(&cast, out);
    case TYPE_BINARY: return to_bytes(&cast, out);
    case TYPE_STRING:
    case TYPE_NESTED: break;
    }
    return false;
}
