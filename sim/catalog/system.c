/* system.c - the objects every database has on its own: those that work here, and names of those that do not, which scripts
 * count and cross-join. */
#include "sim/catalog/catalog_internal.h"
#include "sim/session/session_function_internal.h"

enum { FIRST_ID = -101 };

static const VirtualTable *const *view_lists(size_t *count)
{
    static const VirtualTable *const lists[] = {catalog_object_views,     catalog_server_views,
                                                catalog_security_views,   catalog_activity_views,
                                                catalog_constraint_views, catalog_module_views,
                                                catalog_cdc_views};
    *count                                   = COUNT_OF(lists);
    return lists;
}

static const ViewText *const *text_lists(size_t *count)
{
    static const ViewText *const lists[] = {catalog_schema_views, catalog_information_views,
                                            catalog_dynamic_views};
    *count                               = COUNT_OF(lists);
    return lists;
}

static const ProcEntry *const *proc_lists(size_t *count)
{
    static const ProcEntry *const lists[] = {session_procs, cdc_procs, catalog_procs, text_procs};
    *count                                = COUNT_OF(lists);
    return lists;
}

static bool give(SystemObject *object, Str schema, Str name, const char *type)
{
    object->schema    = schema;
    object->name      = name;
    object->type[0]   = type[0];
    object->type[1]   = type[1];
    object->type[2]   = '\0';
    object->object_id = object->object_id ? object->object_id - 1 : FIRST_ID;
    object->at++;
    return true;
}

static void next_list(SystemObject *object)
{
    object->list++;
    object->at     = 0;
    object->second = 0;
}

/* The word at `offset` of a text of words; false: there is none. */
static bool word_at(const char *text, size_t offset, Str *out)
{
    Str rest = str_from_c(text);

    if (offset >= rest.len) return false;
    rest          = str_slice(rest, offset, rest.len);
    ptrdiff_t end = str_find_char(rest, ' ', 0);
    *out          = end < 0 ? rest : str_slice(rest, 0, (size_t)end);
    return true;
}

static Str word_text(Str word)
{
    return str_equal_c(word, "-") ? STR_EMPTY : word;
}

/* `at` is where the first word begins, `second` the second. */
static bool next_name(Arena *arena, SystemObject *object, const SystemNames *names)
{
    Str first, second;

    if (!word_at(names->second, object->second, &second)) {
        if (word_at(names->first, object->at, &first)) object->at += first.len + 1;
        object->second = 0;
        (void)word_at(names->second, 0, &second);
    }
    if (!word_at(names->first, object->at, &first)) return false;
    object->second += second.len + 1;
    Str name = str_printf(arena, "%s%.*s%.*s", names->prefix, STR_ARG(word_text(first)),
                          STR_ARG(word_text(second)));
    (void)give(object, STR("sys"), name, names->type);
    object->at--; /* it is counted in words here */
    return true;
}

static bool next_of_list(Arena *arena, SystemObject *object, bool *is_end)
{
    size_t                     views = 0, texts = 0, procs = 0, list = object->list;
    const VirtualTable *const *view_list = view_lists(&views);
    const ViewText *const     *text_list = text_lists(&texts);
    const ProcEntry *const    *proc_list = proc_lists(&procs);

    *is_end = false;
    if (list < views) {
        const VirtualTable *view = &view_list[list][object->at];
        while (view->name && str_equal_c(str_from_c(view->schema), "cdc")) /* of one database */
            view = &view_list[list][++object->at];
        return view->name && give(object, str_from_c(view->schema), str_from_c(view->name), "V");
    }
    list -= views;
    if (list < texts) {
        const ViewText *text = &text_list[list][object->at];
        return text->name && give(object, str_from_c(text->schema), str_from_c(text->name), "V");
    }
    list -= texts;
    if (list < procs) {
        const ProcEntry *entry = &proc_list[list][object->at];
        return entry->name &&
               give(object, STR("sys"), str_from_c(entry->name), list == 0 ? "X" : "P");
    }
    list -= procs;
    *is_end = system_names[list].type == NULL;
    return !*is_end && next_name(arena, object, &system_names[list]);
}

bool system_object_next(Arena *arena, SystemObject *object)
{
    bool is_end = false;

    while (!is_end) {
        if (next_of_list(arena, object, &is_end)) return true;
        next_list(object);
    }
    return false;
}

bool system_object_find(Arena *arena, Str schema, Str name, SystemObject *out)
{
    *out = (SystemObject){.at = 0};
    while (system_object_next(arena, out))
        if (sim_name_equal(out->name, name) &&
            (str_is_empty(schema) ? sim_name_equal(out->schema, STR("sys"))
                                  : sim_name_equal(out->schema, schema)))
            return true;
    return false;
}

bool system_object_find_id(Arena *arena, int32_t object_id, SystemObject *out)
{
    *out = (SystemObject){.at = 0};
    if (object_id > FIRST_ID) return false;
    while (system_object_next(arena, out))
        if (out->object_id == object_id) return true;
    return false;
}

bool system_name_is_known(Arena *arena, Str name)
{
    SystemObject object;

    return system_object_find(arena, STR("sys"), name, &object);
}

const char *system_type_desc(const char *type)
{
    static const struct {
        const char *type, *desc;
    } names[] = {{"U", "USER_TABLE"},
                 {"V", "VIEW"},
                 {"P", "SQL_STORED_PROCEDURE"},
                 {"X", "EXTENDED_STORED_PROCEDURE"},
                 {"FN", "SQL_SCALAR_FUNCTION"},
                 {"IF", "SQL_INLINE_TABLE_VALUED_FUNCTION"},
                 {"TF", "SQL_TABLE_VALUED_FUNCTION"},
                 {"S", "SYSTEM_TABLE"},
                 {"IT", "INTERNAL_TABLE"},
                 {"PK", "PRIMARY_KEY_CONSTRAINT"},
                 {"UQ", "UNIQUE_CONSTRAINT"},
                 {"D", "DEFAULT_CONSTRAINT"},
                 {"C", "CHECK_CONSTRAINT"},
                 {"F", "FOREIGN_KEY_CONSTRAINT"}};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal_c(str_from_c(names[i].type), type)) return names[i].desc;
    return "USER_TABLE";
}
