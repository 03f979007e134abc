/* template.c - one name for many streams: marks in braces become the names of each, and no two may come to one. */
#include "cli/template.h"

#include "base/buf.h"
#include "cli/wire.h"
#include "source/mssql.h"

/* What makes a stream, in the order it is told of. */
static const SettingId own_names[] = {SET_APP_ID, SET_CHECKPOINT, SET_BRONZE, SET_SILVER,
                                      SET_PLANS};

static bool holds(Str text, const char *part)
{
    return str_find(text, str_from_c(part), 0) >= 0;
}

static bool is_table(SettingId id)
{
    return id == SET_BRONZE || id == SET_SILVER || id == SET_PLANS;
}

bool template_tells_streams_apart(SettingId id, Str text)
{
    return holds(text, "{ci}") || (is_table(id) && holds(text, "{table}"));
}

static bool is_mark(Str text)
{
    return str_equal_c(text, "{ci}") || str_equal_c(text, "{schema}") ||
           str_equal_c(text, "{table}");
}

static bool is_word(Str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!(text.ptr[i] == '_' || (text.ptr[i] >= 'a' && text.ptr[i] <= 'z') ||
              (text.ptr[i] >= 'A' && text.ptr[i] <= 'Z')))
            return false;
    return text.len > 0;
}

/* A word in braces that stands for nothing would become part of every stream's path, braces and all. One stream's own
 * name may hold what it likes. */
static bool check_marks(const SettingValue *value, SettingId id, Str text, Err *err)
{
    ptrdiff_t open, close;

    for (size_t at = 0; (open = str_find_char(text, '{', at)) >= 0; at = (size_t)open + 1) {
        if ((close = str_find_char(text, '}', (size_t)open)) < 0) return true;
        Str mark = str_slice(text, (size_t)open, (size_t)close + 1);
        if (is_word(str_slice(mark, 1, mark.len - 1)) && !is_mark(mark))
            return err_set(err, ERR_CONFIG,
                           "%.*s: %s is \"%.*s\", and %.*s stands for nothing; allowed: {ci}, the "
                           "capture instance, {schema} and {table}, its source table",
                           STR_ARG(value->origin), setting_spec(id)->key, STR_ARG(text),
                           STR_ARG(mark));
    }
    return true;
}

bool template_check_defaults(const Config *config, Err *err)
{
    for (size_t i = 0; i < COUNT_OF(own_names); i++) {
        SettingId           id     = own_names[i];
        const SettingValue *shared = &config->shared.values[id];
        size_t              users  = 0;

        if (!check_marks(shared, id, shared->text, err) ||
            !check_marks(shared, id, shared->label, err))
            return false;
        for (size_t s = 0; s < config->stream_count; s++)
            users += !config->streams[s].values[id].is_set;
        if (!shared->is_set || users < 2 || template_tells_streams_apart(id, shared->text))
            continue;
        return err_set(err, ERR_CONFIG,
                       "%.*s: %s is \"%.*s\" for %zu streams, each needs its own: put {ci} into "
                       "it, which stands for the capture instance",
                       STR_ARG(shared->origin), setting_spec(id)->key, STR_ARG(shared->text),
                       users);
    }
    return true;
}

bool template_needs_source(const ChosenStream *streams, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; n < COUNT_OF(own_names); n++) {
            const SettingValue *value = &streams[i].settings.values[own_names[n]];
            if (holds(value->text, "{schema}") || holds(value->text, "{table}") ||
                holds(value->label, "{schema}") || holds(value->label, "{table}"))
                return true;
        }
    return false;
}

/* --- filling --- */

typedef struct Names {
    Str ci, schema, table; /* the last two empty: not asked for */
} Names;

/* "." and "..", and what holds a separator, would lead elsewhere. */
static bool check_part(const SettingValue *value, SettingId id, Str part, Err *err)
{
    bool is_bad = part.len == 0 || str_equal_c(part, ".") || str_equal_c(part, "..");

    for (size_t i = 0; i < part.len; i++)
        is_bad = is_bad || part.ptr[i] == '/' || part.ptr[i] == '\\' ||
                 (unsigned char)part.ptr[i] < 0x20;
    return !is_bad || id == SET_APP_ID ||
           err_set(err, ERR_CONFIG,
                   "%.*s: %s: the name \"%.*s\" cannot be part of a path; give this stream a %s of "
                   "its own",
                   STR_ARG(value->origin), setting_spec(id)->key, STR_ARG(part),
                   setting_spec(id)->key);
}

static bool fill_text(const SettingValue *value, SettingId id, const Names *names, Str text,
                      Arena *arena, Str *out, Err *err)
{
    const struct {
        Str mark, part;
    } marks[] = {
        {STR("{ci}"), names->ci}, {STR("{schema}"), names->schema}, {STR("{table}"), names->table}};
    Buf    buf = buf_new(arena, 0);
    size_t at  = 0;

    while (at < text.len) {
        Str    rest = str_slice(text, at, text.len);
        size_t i    = 0;
        while (i < COUNT_OF(marks) && !str_starts_with(rest, marks[i].mark))
            i++;
        if (i == COUNT_OF(marks)) {
            buf_append_char(&buf, text.ptr[at++]);
            continue;
        }
        if (!check_part(value, id, marks[i].part, err)) return false;
        buf_append(&buf, marks[i].part);
        at += marks[i].mark.len;
    }
    *out = buf_str(&buf);
    return true;
}

static bool fill_stream(ChosenStream *stream, const Names *names, Arena *arena, Err *err)
{
    for (size_t i = 0; i < COUNT_OF(own_names); i++) {
        SettingValue *value = &stream->settings.values[own_names[i]];
        if (!value->is_set) continue;
        if (!fill_text(value, own_names[i], names, value->text, arena, &value->text, err) ||
            !fill_text(value, own_names[i], names, value->label, arena, &value->label, err))
            return false;
    }
    return true;
}

/* One listing of the source for all. */
static bool ask_source(const ChosenStream *streams, Names *names, size_t count, Env *env,
                       Arena *arena, Err *err)
{
    SourceOptions source = source_options_from_settings(&streams[0].settings);
    MssqlOptions  open   = source_mssql_options(env, &source, STR("all streams"));
    SourceTable  *tables = ARENA_ARRAY(arena, SourceTable, count);
    Str          *wanted = ARENA_ARRAY(arena, Str, count);
    Mssql        *mssql  = NULL;
    bool          ok;

    if (source.connection.len == 0)
        return err_set(err, ERR_CONFIG,
                       "{schema} and {table} are asked from the source, and `connection` is "
                       "missing, or names a variable that the environment lacks: give it under "
                       "`source` in the configuration file, and set the variable; or write the "
                       "names of %.*s out",
                       STR_ARG(streams[0].name));
    for (size_t i = 0; i < count; i++)
        wanted[i] = streams[i].name;
    ok = mssql_open(&open, &mssql, err) &&
         mssql_find_source_tables(mssql, wanted, count, arena, tables, err);
    for (size_t i = 0; ok && i < count; i++) {
        names[i].schema = tables[i].schema;
        names[i].table  = tables[i].name;
    }
    mssql_close(mssql);
    return ok;
}

/* A path of the lake without what does not change it. */
static Str plain_path(Arena *arena, const Settings *settings, Str text)
{
    Str rest = wire_lake_path(arena, settings, text), part;
    Buf buf  = buf_new(arena, 0);

    if (str_starts_with(rest, STR("/"))) buf_append_c(&buf, "/");
    while (str_split_next(&rest, '/', &part)) {
        if (part.len == 0 || str_equal_c(part, ".")) continue;
        if (buf.len > 0 && buf_str(&buf).ptr[buf.len - 1] != '/') buf_append_c(&buf, "/");
        buf_append(&buf, part);
    }
    return buf_str(&buf);
}

/* A name as it came out. Tables compare with tables, whatever they are for. */
typedef struct Used {
    const ChosenStream *stream;
    SettingId           id, kind;
    Str                 name;
} Used;

static bool check_unused(const Used *used, size_t count, const Used *mine, Err *err)
{
    for (size_t i = 0; i < count; i++)
        if (used[i].kind == mine->kind && str_equal(used[i].name, mine->name))
            return err_set(err, ERR_CONFIG,
                           "%.*s: %s of stream %.*s is %.*s, which is %s of stream %.*s already: "
                           "each needs its own",
                           STR_ARG(mine->stream->settings.values[mine->id].origin),
                           setting_spec(mine->id)->key, STR_ARG(mine->stream->name),
                           STR_ARG(mine->name), setting_spec(used[i].id)->key,
                           STR_ARG(used[i].stream->name));
    return true;
}

/* Two streams into one table or one checkpoint are a mistake, never a wish. */
static bool check_distinct(const ChosenStream *streams, size_t count, Arena *arena, Err *err)
{
    Used  *used  = ARENA_ARRAY(arena, Used, count * COUNT_OF(own_names));
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t n = 0; n < COUNT_OF(own_names); n++) {
            SettingId id   = own_names[n];
            Str       text = settings_text(&streams[i].settings, id);
            Used      mine = {.stream = &streams[i], .id = id, .kind = id, .name = text};

            if (text.len == 0) continue;
            if (id != SET_APP_ID) mine.name = plain_path(arena, &streams[i].settings, text);
            if (is_table(id)) mine.kind = SET_BRONZE;
            if (!check_unused(used, known, &mine, err)) return false;
            used[known++] = mine;
        }
    return true;
}

bool template_fill(ChosenStream *streams, size_t count, Env *env, Arena *arena, Err *err)
{
    Names *names = ARENA_ARRAY(arena, Names, count);

    if (template_needs_source(streams, count) &&
        !ask_source(streams, names, count, env, arena, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        names[i].ci = streams[i].name;
        if (!fill_stream(&streams[i], &names[i], arena, err)) return false;
    }
    return check_distinct(streams, count, arena, err);
}
