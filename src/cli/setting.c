/* setting.c - the table of keys, and the values' checks. */
#include "cli/setting.h"

#include "cli/nearest.h"
#include "types/column_list.h"
#include "types/lsn.h"

#include <assert.h>
#include <stdio.h>

static const SettingSpec specs[SETTING_COUNT] = {
#define X(id, key, section, type, default_text, least, values, help) \
    {key, section, type, default_text, least, values, help},
    SETTINGS(X)
#undef X
};

const SettingSpec *setting_spec(SettingId id)
{
    return &specs[id];
}

static bool same_key(Str left, Str right, bool allow_dashes)
{
    if (left.len != right.len) return false;
    for (size_t i = 0; i < left.len; i++)
        if (left.ptr[i] != right.ptr[i] &&
            !(allow_dashes && left.ptr[i] == '-' && right.ptr[i] == '_'))
            return false;
    return true;
}

int setting_find(Str key, bool allow_dashes)
{
    for (int i = 0; i < SETTING_COUNT; i++)
        if (same_key(key, str_from_c(specs[i].key), allow_dashes)) return i;
    return -1;
}

Str setting_nearest(Str key, int section)
{
    Nearest nearest = nearest_to(key);

    for (int i = 0; i < SETTING_COUNT; i++)
        if (section < 0 || specs[i].section == (Section)section)
            nearest_offer(&nearest, str_from_c(specs[i].key));
    return nearest.best;
}

/* --- parsing --- */

bool parse_bool(Str text, bool *out)
{
    static const struct {
        const char *word;
        bool        value;
    } words[] = {{"true", true},   {"yes", true}, {"y", true},  {"1", true},
                 {"false", false}, {"no", false}, {"n", false}, {"0", false}};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_equal_ignoring_case(text, str_from_c(words[i].word))) {
            *out = words[i].value;
            return true;
        }
    return false;
}

typedef struct Unit {
    const char *name;
    int64_t     factor;
} Unit;

static bool parse_with_unit(Str text, const Unit *units, size_t count, int64_t *out)
{
    size_t  digits = 0;
    int64_t number;

    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    if (!str_parse_i64(str_slice(text, 0, digits), &number)) return false;
    for (size_t i = 0; i < count; i++)
        if (str_equal_ignoring_case(str_slice(text, digits, text.len), str_from_c(units[i].name))) {
            if (number > INT64_MAX / units[i].factor) return false;
            *out = number * units[i].factor;
            return true;
        }
    return false;
}

bool parse_decimal(Str text, double *out)
{
    return !str_starts_with(text, STR("-")) && str_parse_double(text, out);
}

bool parse_duration_ms(Str text, int64_t *out)
{
    static const Unit units[] = {{"ms", 1},      {"s", 1000},    {"m", 60000},
                                 {"min", 60000}, {"h", 3600000}, {"d", 86400000}};

    return parse_with_unit(text, units, COUNT_OF(units), out);
}

bool parse_size_bytes(Str text, int64_t *out)
{
    static const Unit units[] = {{"", 1},         {"B", 1},           {"KB", 1000},
                                 {"MB", 1000000}, {"GB", 1000000000}, {"TB", 1000000000000}};

    return parse_with_unit(text, units, COUNT_OF(units), out);
}

/* What the list of allowed values does not say. */
static const char *advice(SettingId id)
{
    switch ((int)id) {
    case SET_ISOLATION: return "; uncommitted rows are never read";
    case SET_MAX_COMMITS_PER_BATCH: return "; leave it out for no limit";
    default: return "";
    }
}

static bool is_one_of(Str text, const char *values)
{
    Str rest = str_from_c(values), word;

    while (values && str_split_next(&rest, '|', &word))
        if (str_equal_ignoring_case(text, word)) return true;
    return false;
}

/* --- checks --- */

static bool refuse(const SettingValue *value, const SettingSpec *spec, Str text,
                   const char *allowed, Err *err)
{
    bool is_option = str_starts_with(value->origin, STR("--"));

    return err_set(err, is_option ? ERR_USAGE : ERR_CONFIG, "%.*s: %s is \"%.*s\"; allowed: %s%s",
                   STR_ARG(value->origin), spec->key, STR_ARG(text), allowed,
                   advice((SettingId)(spec - specs)));
}

static bool check_number(const SettingSpec *spec, const SettingValue *value, Err *err)
{
    int64_t number;
    char    allowed[120];

    if (is_one_of(value->text, spec->values)) return true;
    if (str_parse_i64(value->text, &number) && number >= spec->least) return true;
    (void)snprintf(allowed, sizeof allowed, "a whole number from %lld on%s%s",
                   (long long)spec->least, spec->values ? ", or " : "",
                   spec->values ? spec->values : "");
    return refuse(value, spec, value->text, allowed, err);
}

static bool check_decimal(const SettingSpec *spec, const SettingValue *value, Err *err)
{
    double number;
    char   allowed[120];

    if (is_one_of(value->text, spec->values)) return true;
    if (parse_decimal(value->text, &number) && number >= (double)spec->least) return true;
    (void)snprintf(allowed, sizeof allowed, "a number from %lld on, decimals too%s%s",
                   (long long)spec->least, spec->values ? ", or " : "",
                   spec->values ? spec->values : "");
    return refuse(value, spec, value->text, allowed, err);
}

static bool check_duration(const SettingSpec *spec, const SettingValue *value, Err *err)
{
    int64_t ms;

    if (parse_duration_ms(value->text, &ms) && ms >= MAX(spec->least, 1)) return true;
    return refuse(value, spec, value->text,
                  spec->least ? "a time of at least 100ms: 100ms, 10s, 5m, 2h"
                              : "a time: 100ms, 10s, 5m, 2h, 30d",
                  err);
}

static bool check_columns(const SettingSpec *spec, const SettingValue *value, Err *err)
{
    Arena *scratch = arena_new();
    Schema columns;
    Err    why = ERR_INIT;
    bool   ok  = column_list_parse(value->text, scratch, &columns, &why);

    if (!ok)
        err_set(err, str_starts_with(value->origin, STR("--")) ? ERR_USAGE : ERR_CONFIG,
                "%.*s: %s: %s; wanted: a name and a type each, as in id BIGINT, amount "
                "DECIMAL(18,2)",
                STR_ARG(value->origin), spec->key, why.message);
    arena_close(scratch);
    return ok;
}

bool setting_check(SettingId id, const SettingValue *value, Err *err)
{
    const SettingSpec *spec = &specs[id];
    bool               flag;
    int64_t            number;
    Lsn                lsn;

    switch (spec->type) {
    case SETTING_TEXT:
    case SETTING_TABLE:
        return value->text.len > 0 || id == SET_ROOT ||
               refuse(value, spec, value->text, "a text that is not empty", err);
    case SETTING_CHOICE:
        return is_one_of(value->text, spec->values) ||
               refuse(value, spec, value->text, spec->values, err);
    case SETTING_BOOL:
        return parse_bool(value->text, &flag) ||
               refuse(value, spec, value->text, "true, false, yes, no", err);
    case SETTING_INTEGER: return check_number(spec, value, err);
    case SETTING_DECIMAL: return check_decimal(spec, value, err);
    case SETTING_DURATION: return check_duration(spec, value, err);
    case SETTING_SIZE:
        return (parse_size_bytes(value->text, &number) && number > 0) ||
               refuse(value, spec, value->text, "a size: 512MB, 1GB", err);
    case SETTING_LIST:
        return value->item_count > 0 || refuse(value, spec, value->text, "one or more names", err);
    case SETTING_COLUMNS: return check_columns(spec, value, err);
    case SETTING_LSN:
        return is_one_of(value->text, "earliest|latest") || lsn_parse(value->text, &lsn) ||
               refuse(value, spec, value->text,
                      "earliest, latest or an LSN (0x and up to 20 hex digits)", err);
    }
    return true;
}

/* --- reads --- */

Str settings_text(const Settings *settings, SettingId id)
{
    const SettingValue *value = &settings->values[id];

    return value->is_set            ? value->text
           : specs[id].default_text ? str_from_c(specs[id].default_text)
                                    : STR_EMPTY;
}

bool settings_is_given(const Settings *settings, SettingId id)
{
    return settings->values[id].is_set;
}

bool settings_bool(const Settings *settings, SettingId id)
{
    bool value = false;
    bool ok    = parse_bool(settings_text(settings, id), &value);

    assert(ok);
    return value;
}

int64_t settings_integer(const Settings *settings, SettingId id, int64_t when_word)
{
    int64_t value;

    return str_parse_i64(settings_text(settings, id), &value) ? value : when_word;
}

double settings_decimal(const Settings *settings, SettingId id, double when_word)
{
    double value;

    return parse_decimal(settings_text(settings, id), &value) ? value : when_word;
}

int64_t settings_duration_ms(const Settings *settings, SettingId id)
{
    int64_t value = 0;
    bool    ok    = parse_duration_ms(settings_text(settings, id), &value);

    assert(ok);
    return value;
}

int64_t settings_size_bytes(const Settings *settings, SettingId id)
{
    int64_t value = 0;
    bool    ok    = parse_size_bytes(settings_text(settings, id), &value);

    assert(ok);
    return value;
}
