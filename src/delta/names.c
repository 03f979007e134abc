/* Names inside _delta_log (delta.md 1.1). Anything that is not one of ours to read is
 * LOG_FILE_OTHER. */
#include "delta/delta_internal.h"

/* `count` digits at the front of `*rest`, cut off; a number that does not fit is no number. */
static bool cut_digits(Str *rest, size_t count, int64_t *out)
{
    if (rest->len < count) return false;
    for (size_t i = 0; i < count; i++)
        if (rest->ptr[i] < '0' || rest->ptr[i] > '9') return false;
    if (!str_parse_i64(str_slice(*rest, 0, count), out)) return false;
    *rest = str_slice(*rest, count, rest->len);
    return true;
}

static bool cut_prefix(Str *rest, Str prefix)
{
    if (!str_starts_with(*rest, prefix)) return false;
    *rest = str_slice(*rest, prefix.len, rest->len);
    return true;
}

static bool is_uuid(Str text)
{
    if (text.len != 36) return false;
    for (size_t i = 0; i < text.len; i++) {
        char c      = text.ptr[i];
        bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        bool wants_hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (wants_hyphen ? c != '-' : !is_hex) return false;
    }
    return true;
}

static bool parse_part(Str rest, LogName *name)
{
    if (!cut_digits(&rest, 10, &name->part) || !cut_prefix(&rest, STR("."))) return false;
    if (!cut_digits(&rest, 10, &name->part_count) || !str_equal(rest, STR(".parquet")))
        return false;
    return name->part >= 1 && name->part <= name->part_count;
}

static bool parse_uuid(Str rest, LogName *name)
{
    if (!is_uuid(str_slice(rest, 0, 36))) return false;
    Str suffix    = str_slice(rest, 36, rest.len);
    name->is_json = str_equal(suffix, STR(".json"));
    return name->is_json || str_equal(suffix, STR(".parquet"));
}

LogName log_name_parse(Str name)
{
    LogName out  = {.kind = LOG_FILE_OTHER, .version = NO_VERSION};
    Str     rest = name;

    if (!cut_digits(&rest, LOG_VERSION_DIGITS, &out.version)) return out;
    if (str_equal(rest, STR(".json"))) out.kind = LOG_FILE_COMMIT;
    if (str_equal(rest, STR(".checkpoint.parquet"))) out.kind = LOG_FILE_CHECKPOINT;
    if (out.kind == LOG_FILE_OTHER && cut_prefix(&rest, STR(".checkpoint."))) {
        if (parse_part(rest, &out))
            out.kind = LOG_FILE_CHECKPOINT_PART;
        else if (parse_uuid(rest, &out))
            out.kind = LOG_FILE_CHECKPOINT_UUID;
    }
    return out;
}

Str log_name_version(Arena *arena, int64_t version)
{
    return str_printf(arena, "%020lld", (long long)version);
}

Str log_name_commit(Arena *arena, int64_t version)
{
    return str_printf(arena, "%020lld.json", (long long)version);
}

Str log_name_checkpoint(Arena *arena, int64_t version)
{
    return str_printf(arena, "%020lld.checkpoint.parquet", (long long)version);
}
