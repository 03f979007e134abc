/* event_files.c - event-<kind>-<lsn>.json becomes a row of the facts. */
#include "state/event_files.h"

#include "base/limits.h"
#include "base/list.h"

#include <jansson.h>

#define PREFIX "event-"
#define SUFFIX ".json"

static Str member(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_string(value) ? (Str){json_string_value(value), json_string_length(value)}
                                 : STR_EMPTY;
}

/* Null, absent and "" are unset; what is no time makes the file none of ours. */
static bool time_member(const json_t *object, const char *key, OptTime *out)
{
    Str text = member(object, key);

    *out = (OptTime){.is_set = text.len > 0};
    return !out->is_set || time_parse(text, &out->utc_us);
}

static bool is_event(Str kind)
{
    return str_equal_c(kind, EVENT_SCHEMA_CHANGE) || str_equal_c(kind, EVENT_SWITCHED) ||
           str_equal_c(kind, EVENT_DATA_SKIPPED);
}

bool event_file_parse(Str text, Arena *arena, FactsRow *row)
{
    json_t *object = json_loadb(text.ptr, text.len, JSON_ALLOW_NUL, NULL);
    Str     kind   = member(object, "event");
    Lsn     lsn;
    OptTime time, lost_from, lost_to;
    bool ok = json_is_object(object) && is_event(kind) && lsn_parse(member(object, "lsn"), &lsn) &&
              time_member(object, "commit_ts", &time) &&
              time_member(object, "lost_from_ts", &lost_from) &&
              time_member(object, "lost_to_ts", &lost_to);

    if (ok) {
        *row              = facts_event_row(str_copy(arena, kind), lsn, time);
        row->detail       = str_copy(arena, member(object, "detail"));
        row->lost_from_ts = lost_from;
        row->lost_to_ts   = lost_to;
    }
    json_decref(object);
    return ok;
}

bool event_files_read(Store *store, Str folder, Log *log, Arena *arena, EventFile **out,
                      size_t *count_out, Err *err)
{
    Arena    *scratch = arena_new();
    StoreList list;
    LIST(EventFile) files = {0};
    bool ok               = store_list_after(store, folder, STR(PREFIX), scratch, &list, err);

    for (size_t i = 0; ok && i < list.count; i++) {
        Str      name = list.entries[i].name;
        Str      path = store_join(arena, folder, name);
        Err      why  = ERR_INIT;
        Bytes    bytes;
        FactsRow row;

        if (!str_starts_with(name, STR(PREFIX))) break; /* listed in order */
        if (!str_ends_with(name, STR(SUFFIX))) continue;
        if (store_read(store, path, LIMIT_STATE_FILE_BYTES, scratch, &bytes, &why) &&
            event_file_parse(bytes_str(bytes), arena, &row))
            *LIST_PUSH(arena, &files) = (EventFile){.path = path, .row = row};
        else if (why.code == ERR_CANCELLED)
            ok = err_copy(err, &why);
        else
            log_warn(log, "state", "a file that holds no event was left where it is",
                     LOG_STR("file", path));
    }
    *out       = files.items;
    *count_out = files.count;
    arena_close(scratch);
    return ok || err_context(err, "event files");
}

/* The first LSN that a skip left out. */
static Str skipped_from(json_t *detail)
{
    return member(detail, "from");
}

static bool is_same_skip(Str left, Str right)
{
    json_t *first  = json_loadb(left.ptr, left.len, JSON_ALLOW_NUL, NULL);
    json_t *second = json_loadb(right.ptr, right.len, JSON_ALLOW_NUL, NULL);
    bool    same   = str_equal(skipped_from(first), skipped_from(second));

    json_decref(first);
    json_decref(second);
    return same;
}

bool event_is_same(const FactsRow *left, const FactsRow *right)
{
    if (!str_equal(left->event, right->event)) return false;
    if (str_equal_c(left->event, EVENT_DATA_SKIPPED))
        return is_same_skip(left->detail, right->detail);
    return left->max_lsn.is_set && right->max_lsn.is_set &&
           lsn_equal(left->max_lsn.lsn, right->max_lsn.lsn);
}
