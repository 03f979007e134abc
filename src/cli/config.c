/* config.c - the file as libyaml's document, walked with the table of settings in hand. */
#include "cli/config.h"

#include "base/buf.h"
#include "base/environment.h"
#include "base/limits.h"
#include "base/list.h"
#include "cli/nearest.h"
#include "store/store.h"

#include <yaml.h>

typedef struct Reader {
    Arena           *arena;
    Str              path;
    yaml_document_t *document;
    Config          *config;
    const SettingId *used; /* what the command takes; NULL: everything */
    size_t           used_count;
    bool             has_gap; /* the value just read names a variable that is not set */
} Reader;

static bool is_used(const Reader *reader, SettingId id)
{
    for (size_t i = 0; i < reader->used_count; i++)
        if (reader->used[i] == id) return true;
    return !reader->used;
}

static Str scalar(const yaml_node_t *node)
{
    return (Str){(const char *)node->data.scalar.value, node->data.scalar.length};
}

static Str origin(const Reader *reader, const yaml_node_t *node)
{
    return str_printf(reader->arena, "%.*s:%zu", STR_ARG(reader->path), node->start_mark.line + 1);
}

static bool fail(const Reader *reader, const yaml_node_t *node, Err *err, const char *what,
                 Str name)
{
    return err_set(err, ERR_CONFIG, "%.*s: %s %.*s", STR_ARG(origin(reader, node)), what,
                   STR_ARG(name));
}

/* Fills `${NAME}`; an unknown name is an error, a lone `$` stays. */
static bool substitute(Reader *reader, const yaml_node_t *node, Str text, Str *out, Err *err)
{
    Buf    buf = buf_new(reader->arena, LIMIT_CONFIG_BYTES);
    size_t at  = 0;

    for (;;) {
        ptrdiff_t begin = str_find(text, STR("${"), at);
        ptrdiff_t end   = begin < 0 ? -1 : str_find_char(text, '}', (size_t)begin);
        Str       name, value;

        if (begin < 0 || end < 0) break;
        name = str_slice(text, (size_t)begin + 2, (size_t)end);
        if (!environment_find(str_c(reader->arena, name), &value)) {
            reader->has_gap = true;
            return fail(reader, node, err, "the environment has no variable", name);
        }
        buf_append(&buf, str_slice(text, at, (size_t)begin));
        buf_append(&buf, value);
        at = (size_t)end + 1;
    }
    buf_append(&buf, str_slice(text, at, text.len));
    *out = buf_str(&buf);
    return true;
}

static bool read_scalar(Reader *reader, const yaml_node_t *node, Str *out, Err *err)
{
    if (node->type != YAML_SCALAR_NODE)
        return fail(reader, node, err, "a single value is wanted here", STR_EMPTY);
    return substitute(reader, node, scalar(node), out, err);
}

/* YAML's own word for nothing, which would else name a table. */
static bool is_null(const yaml_node_t *node)
{
    Str text = node->type == YAML_SCALAR_NODE ? scalar(node) : STR_EMPTY;

    return text.len > 0 && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (str_equal_c(text, "~") || str_equal_ignoring_case(text, STR("null")));
}

/* The same within a value: the name of something, which null cannot be. */
static bool read_name(Reader *reader, const yaml_node_t *node, Str *out, Err *err)
{
    if (is_null(node)) return fail(reader, node, err, "a name is wanted here, not", scalar(node));
    return read_scalar(reader, node, out, err);
}

static bool read_list(Reader *reader, const yaml_node_t *node, SettingValue *value, Err *err)
{
    LIST(Str) items = {0};

    if (node->type == YAML_SCALAR_NODE) {
        if (!read_scalar(reader, node, LIST_PUSH(reader->arena, &items), err)) return false;
    } else if (node->type == YAML_SEQUENCE_NODE) {
        for (yaml_node_item_t *item = node->data.sequence.items.start;
             item < node->data.sequence.items.top; item++)
            if (!read_name(reader, yaml_document_get_node(reader->document, *item),
                           LIST_PUSH(reader->arena, &items), err))
                return false;
    } else {
        return fail(reader, node, err, "a list of names is wanted here", STR_EMPTY);
    }
    value->items      = items.items;
    value->item_count = items.count;
    return true;
}

/* {path: ..., label: ...} */
static bool read_table(Reader *reader, const yaml_node_t *node, SettingValue *value, Err *err)
{
    if (node->type != YAML_MAPPING_NODE) return read_scalar(reader, node, &value->text, err);
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key  = yaml_document_get_node(reader->document, pair->key);
        const yaml_node_t *text = yaml_document_get_node(reader->document, pair->value);
        Str                name, *into;

        if (!read_scalar(reader, key, &name, err)) return false;
        if (!str_equal_c(name, "path") && !str_equal_c(name, "label"))
            return fail(reader, key, err, "a table has path and label, not", name);
        into = str_equal_c(name, "path") ? &value->text : &value->label;
        if (into->ptr) return fail(reader, key, err, "key given twice:", name);
        if (is_null(text))
            return fail(reader, key, err, "null is no value of this key, leave it out:", name);
        if (!read_scalar(reader, text, into, err)) return false;
        if (into->len == 0)
            return fail(reader, key, err, "a text that is not empty is wanted for", name);
    }
    return value->text.ptr || fail(reader, node, err, "a table needs a path", STR_EMPTY);
}

static bool is_name(SettingType type)
{
    return type == SETTING_TEXT || type == SETTING_TABLE || type == SETTING_LIST;
}

/* A key that the command does not use stays unset when its variable is: looking into a table must
 * not ask for the source's password. */
static bool read_value(Reader *reader, SettingId id, const yaml_node_t *node, SettingValue *value,
                       Err *err)
{
    bool ok = false;

    *value          = (SettingValue){.is_set = true, .origin = origin(reader, node)};
    reader->has_gap = false;
    if (is_null(node) && is_name(setting_spec(id)->type))
        return fail(reader, node, err, "null is no value of this key, leave it out:",
                    str_from_c(setting_spec(id)->key));
    switch (setting_spec(id)->type) {
    case SETTING_LIST: ok = read_list(reader, node, value, err); break;
    case SETTING_TABLE: ok = read_table(reader, node, value, err); break;
    case SETTING_TEXT:
    case SETTING_CHOICE:
    case SETTING_BOOL:
    case SETTING_INTEGER:
    case SETTING_DECIMAL:
    case SETTING_DURATION:
    case SETTING_SIZE:
    case SETTING_COLUMNS:
    case SETTING_LSN: ok = read_scalar(reader, node, &value->text, err); break;
    }
    if (reader->has_gap && !is_used(reader, id)) {
        *value = (SettingValue){.is_set = false};
        err_clear(err);
        return true;
    }
    return ok && setting_check(id, value, err);
}

static bool unknown_key(const Reader *reader, const yaml_node_t *node, Str key, Str near, Err *err)
{
    if (near.len)
        return err_set(err, ERR_CONFIG, "%.*s: unknown key %.*s; did you mean %.*s?",
                       STR_ARG(origin(reader, node)), STR_ARG(key), STR_ARG(near));
    return fail(reader, node, err, "unknown key", key);
}

/* A mapping whose keys are settings of one section. */
static bool read_section(Reader *reader, const yaml_node_t *node, Section section, Settings *out,
                         Err *err)
{
    if (node->type == YAML_SCALAR_NODE && scalar(node).len == 0) return true; /* an empty section */
    if (node->type != YAML_MAPPING_NODE)
        return fail(reader, node, err, "keys with values are wanted here", STR_EMPTY);
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
        Str                name;
        int                id;

        if (!read_scalar(reader, key, &name, err)) return false;
        id = setting_find(name, false);
        if (id < 0 || setting_spec((SettingId)id)->section != section)
            return unknown_key(reader, key, name, setting_nearest(name, (int)section), err);
        if (out->values[id].is_set) return fail(reader, key, err, "key given twice:", name);
        if (!read_value(reader, (SettingId)id,
                        yaml_document_get_node(reader->document, pair->value), &out->values[id],
                        err))
            return false;
    }
    return true;
}

static bool read_streams(Reader *reader, const yaml_node_t *node, Err *err)
{
    size_t count;

    if (node->type != YAML_SEQUENCE_NODE)
        return fail(reader, node, err,
                    "streams is a list: one entry per table, each beginning with '-'", STR_EMPTY);
    count = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    reader->config->streams      = ARENA_ARRAY(reader->arena, Settings, count + 1);
    reader->config->stream_count = count;
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *item = yaml_document_get_node(reader->document,
                                                         node->data.sequence.items.start[i]);
        if (!read_section(reader, item, SECTION_STREAM, &reader->config->streams[i], err))
            return false;
        if (is_used(reader, SET_CAPTURE_INSTANCE) &&
            !reader->config->streams[i].values[SET_CAPTURE_INSTANCE].is_set)
            return fail(reader, item, err, "this stream has no capture_instance", STR_EMPTY);
    }
    return true;
}

/* Whether a pair before this one has the same key. */
static bool is_second(const Reader *reader, const yaml_node_t *mapping,
                      const yaml_node_pair_t *pair, Str name)
{
    for (yaml_node_pair_t *at = mapping->data.mapping.pairs.start; at < pair; at++) {
        const yaml_node_t *key = yaml_document_get_node(reader->document, at->key);
        if (key->type == YAML_SCALAR_NODE && str_equal(scalar(key), name)) return true;
    }
    return false;
}

static bool read_top(Reader *reader, const yaml_node_t *root, Err *err)
{
    static const char *const names[] = {"source", "lake", "defaults", "streams"};

    if (!root || (root->type == YAML_SCALAR_NODE && scalar(root).len == 0)) return true;
    if (root->type != YAML_MAPPING_NODE)
        return fail(reader, root, err, "the file has the keys source, lake, defaults, streams",
                    STR_EMPTY);
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key   = yaml_document_get_node(reader->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(reader->document, pair->value);
        Str                name;
        bool               ok;

        if (!read_scalar(reader, key, &name, err)) return false;
        if (is_second(reader, root, pair, name))
            return fail(reader, key, err, "key given twice:", name);
        if (str_equal_c(name, "source")) {
            ok = read_section(reader, value, SECTION_SOURCE, &reader->config->shared, err);
        } else if (str_equal_c(name, "lake")) {
            ok = read_section(reader, value, SECTION_LAKE, &reader->config->shared, err);
        } else if (str_equal_c(name, "defaults")) {
            ok = read_section(reader, value, SECTION_STREAM, &reader->config->shared, err);
        } else if (str_equal_c(name, "streams")) {
            ok = read_streams(reader, value, err);
        } else {
            Nearest nearest = nearest_to(name);
            for (size_t i = 0; i < COUNT_OF(names); i++)
                nearest_offer(&nearest, str_from_c(names[i]));
            ok = unknown_key(reader, key, name, nearest.best, err);
        }
        if (!ok) return false;
    }
    return true;
}

/* Two streams of one file must not share what makes a stream, nor the name they go by in arguments and results. */
static bool check_distinct(const Config *config, SettingId id, Err *err)
{
    for (size_t i = 0; i < config->stream_count; i++)
        for (size_t j = 0; j < i; j++) {
            const SettingValue *left  = &config->streams[j].values[id],
                               *right = &config->streams[i].values[id];
            if (left->is_set && right->is_set && str_equal(left->text, right->text))
                return err_set(err, ERR_CONFIG,
                               "%.*s: %s %.*s is already that of another stream (%.*s)",
                               STR_ARG(right->origin), setting_spec(id)->key, STR_ARG(right->text),
                               STR_ARG(left->origin));
        }
    return true;
}

static bool parse(Reader *reader, Bytes text, Err *err)
{
    yaml_parser_t   parser;
    yaml_document_t document;
    bool            ok;

    if (!yaml_parser_initialize(&parser))
        return err_set(err, ERR_FAILED, "libyaml could not start");
    yaml_parser_set_input_string(&parser, text.ptr, text.len);
    if (!yaml_parser_load(&parser, &document)) {
        err_set(err, ERR_CONFIG, "%.*s:%zu: %s%s%s", STR_ARG(reader->path),
                parser.problem_mark.line + 1, parser.problem ? parser.problem : "not YAML",
                parser.context ? " " : "", parser.context ? parser.context : "");
        yaml_parser_delete(&parser);
        return false;
    }
    reader->document = &document;
    ok               = read_top(reader, yaml_document_get_root_node(&document), err);
    reader->document = NULL;
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    return ok;
}

bool config_read(Str path, const SettingId *used, size_t used_count, Arena *arena, Config *out,
                 Err *err)
{
    Store *files  = store_local_new(STR_EMPTY);
    Reader reader = {
        .arena = arena, .path = path, .config = out, .used = used, .used_count = used_count};
    Bytes text;
    bool  ok;

    *out = (Config){.path = path};
    ok   = store_read(files, path, LIMIT_CONFIG_BYTES, arena, &text, err);
    if (!ok && err->code == ERR_NOT_FOUND) {
        err_set(err, ERR_CONFIG, "there is no configuration file %.*s", STR_ARG(path));
    } else if (!ok && err->code == ERR_STORE) {
        err->code = ERR_CONFIG; /* nothing was touched */
        err_context(err, "the configuration file");
    }
    ok = ok && parse(&reader, text, err) && check_distinct(out, SET_CAPTURE_INSTANCE, err) &&
         check_distinct(out, SET_APP_ID, err) && check_distinct(out, SET_CHECKPOINT, err) &&
         check_distinct(out, SET_BRONZE, err) && check_distinct(out, SET_SILVER, err);
    store_close(files);
    return ok;
}

Settings config_stream(const Config *config, size_t stream, const Settings *options)
{
    Settings merged = config->shared;

    for (int i = 0; i < SETTING_COUNT; i++) {
        if (stream < config->stream_count && config->streams[stream].values[i].is_set)
            merged.values[i] = config->streams[stream].values[i];
        if (options->values[i].is_set) merged.values[i] = options->values[i];
    }
    return merged;
}
