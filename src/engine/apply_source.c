/* apply_source.c - what apply asks the source: the table's instances, and its key. */
#include "engine/apply.h"

#include "base/buf.h"
#include "source/mssql.h"

static bool use_index_keys(const CaptureInstance *instance, Arena *arena, ApplyOptions *options,
                           Err *err)
{
    Str *keys = ARENA_ARRAY(arena, Str, instance->key_column_count + 1);

    if (instance->key_column_count == 0)
        return err_set(
            err, ERR_CONFIG,
            "capture instance %.*s has no unique index; name the key columns: `keys` of the stream "
            "in the configuration file, or --keys; a table without any can have no silver",
            STR_ARG(instance->name));
    for (size_t i = 0; i < instance->key_column_count; i++)
        keys[i] = str_copy(arena, instance->key_columns[i]);
    options->keys      = keys;
    options->key_count = instance->key_column_count;
    return true;
}

static bool refuse_key(const CaptureInstance *instance, Str key, Arena *arena, Err *err)
{
    Buf names = buf_new(arena, 0);

    for (size_t c = 0; c < instance->column_count; c++)
        buf_printf(&names, "%s%.*s", c ? ", " : "", STR_ARG(instance->columns[c].name));
    return err_set(err, ERR_CONFIG,
                   "key column %.*s is not captured by %.*s; it captures %.*s; name key columns "
                   "of these in `keys`",
                   STR_ARG(key), STR_ARG(instance->name), STR_ARG(buf_str(&names)));
}

/* Keys as given, spelled as captured. */
static bool use_given_keys(const CaptureInstance *instance, const Str *given, size_t count,
                           Arena *arena, ApplyOptions *options, Err *err)
{
    Str *keys = ARENA_ARRAY(arena, Str, count);

    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < instance->column_count && keys[i].len == 0; c++)
            if (str_equal_ignoring_case(instance->columns[c].name, given[i]))
                keys[i] = str_copy(arena, instance->columns[c].name);
        if (keys[i].len == 0) return refuse_key(instance, given[i], arena, err);
    }
    options->keys      = keys;
    options->key_count = count;
    return true;
}

bool apply_resolve(Env *env, const SourceOptions *source, Str capture_instance, const Str *keys,
                   size_t key_count, Arena *arena, ApplyOptions *options, Err *err)
{
    MssqlOptions open  = source_mssql_options(env, source, capture_instance);
    Mssql       *mssql = NULL;
    CaptureTable table;
    Str         *names;
    bool         ok = mssql_open(&open, &mssql, err) &&
              mssql_find_table(mssql, capture_instance, arena, &table, err);

    if (ok) {
        names = ARENA_ARRAY(arena, Str, table.instance_count + 1);
        for (size_t i = 0; i < table.instance_count; i++)
            names[i] = table.instances[i].name;
        names[table.instance_count] =
            capture_instance; /* rows of a snapshot carry the name as it was configured */
        options->instances      = names;
        options->instance_count = table.instance_count + 1;
        ok = key_count ? use_given_keys(&table.instances[table.configured], keys, key_count, arena,
                                        options, err)
                       : use_index_keys(&table.instances[table.configured], arena, options, err);
    }
    mssql_close(mssql);
    return ok || err_context(err, "%.*s", STR_ARG(capture_instance));
}
