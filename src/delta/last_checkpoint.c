/* `_last_checkpoint`: a hint where the newest checkpoint is, never more (delta.md 1.3). It may
 * be stale, empty or torn, and reading must not fail because of it. */
#include "delta/delta_internal.h"
#include "delta/md5.h"

#include <stdlib.h>

#define HINT_LIMIT_BYTES ((size_t)64 << 20)

typedef struct Leaf {
    Str path, value;
} Leaf;

typedef struct Leaves {
    Arena *arena;
    LIST(Leaf) list;
} Leaves;

/* Upper-case hex; all but A-Z a-z 0-9 - . _ ~ is encoded, and quoted. */
static Str quote(Arena *arena, Str text)
{
    return str_printf(arena, "\"%.*s\"", STR_ARG(store_encode_component(arena, text)));
}

static Str join_path(Arena *arena, Str path, Str element)
{
    if (path.len == 0) return element;
    return str_printf(arena, "%.*s+%.*s", STR_ARG(path), STR_ARG(element));
}

static void collect_leaves(Leaves *leaves, JsonText value, Str path)
{
    Arena   *arena = leaves->arena;
    JsonText child;
    Str      key;
    size_t   position = 0;

    if (value.kind == JSON_TEXT_OBJECT) {
        for (size_t at = 0; json_text_next_member(value, &at, &key, &child);) {
            if (path.len == 0 && json_text_key_equals(key, STR("checksum"))) continue;
            collect_leaves(leaves, child,
                           join_path(arena, path, quote(arena, json_text_unescape(key, arena))));
        }
    } else if (value.kind == JSON_TEXT_ARRAY) {
        for (size_t at = 0; json_text_next_item(value, &at, &child); position++)
            collect_leaves(leaves, child,
                           join_path(arena, path, str_printf(arena, "%zu", position)));
    } else {
        bool is_string = value.kind == JSON_TEXT_STRING;
        Str  text      = is_string ? quote(arena, json_text_str(value, arena)) : value.text;
        *LIST_PUSH(arena, &leaves->list) = (Leaf){.path = path, .value = text};
    }
}

static int compare_leaves(const void *left, const void *right)
{
    return str_compare(((const Leaf *)left)->path, ((const Leaf *)right)->path);
}

Str last_checkpoint_canonical(JsonText object, Arena *arena)
{
    Leaves leaves = {.arena = arena};
    Buf    buf    = buf_new(arena, 0);

    collect_leaves(&leaves, object, STR_EMPTY);
    if (leaves.list.count > 1)
        qsort(leaves.list.items, leaves.list.count, sizeof(Leaf), compare_leaves);
    for (size_t i = 0; i < leaves.list.count; i++) {
        if (i > 0) buf_append_char(&buf, ',');
        buf_append(&buf, leaves.list.items[i].path);
        buf_append_char(&buf, '=');
        buf_append(&buf, leaves.list.items[i].value);
    }
    return buf_str(&buf);
}

static bool checksum_matches(JsonText object, Arena *arena)
{
    Str     want = json_text_str(json_text_find(object, "checksum"), arena);
    uint8_t digest[MD5_BYTES];

    if (want.ptr == NULL) return true;
    md5_digest(str_bytes(last_checkpoint_canonical(object, arena)), digest);
    return str_equal_ignoring_case(want, hex_encode(arena, (Bytes){digest, MD5_BYTES}, false));
}

static bool announces_adaptive_metadata(JsonText object, Arena *arena)
{
    Str type = json_text_str(json_text_find(object, "checkpointType"), arena);
    if (json_text_find(object, "amtCheckpoint").kind != JSON_TEXT_NONE) return true;
    return type.ptr && !str_equal_c(type, "classic") && !str_equal_c(type, "v2") &&
           !str_equal_c(type, "V2") && !str_equal_c(type, "CLASSIC");
}

bool last_checkpoint_read(const LogPlace *place, Arena *arena, LastCheckpoint *out, Err *err)
{
    Str      path    = store_join(arena, place->log_path, STR("_last_checkpoint"));
    Err      ignored = ERR_INIT;
    Bytes    bytes;
    JsonText object;
    size_t   bad_at;

    err_clear(err);
    if (!store_read(place->context->store, path, HINT_LIMIT_BYTES, arena, &bytes, &ignored))
        return false;
    if (!utf8_is_valid(bytes_str(bytes)) || !json_text_parse(bytes_str(bytes), &object, &bad_at))
        return false;
    if (object.kind != JSON_TEXT_OBJECT || !checksum_matches(object, arena)) return false;
    if (announces_adaptive_metadata(object, arena))
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-P10 table %.*s: %.*s announces adaptive metadata (reader feature "
                       "\"adaptiveMetadata-preview\"), which is not supported; nothing was read",
                       STR_ARG(place->path), STR_ARG(path));
    if (!json_text_i64(json_text_find(object, "numOfAddFiles"), &out->add_count))
        out->add_count = -1;
    return json_text_i64(json_text_find(object, "version"), &out->version) && out->version >= 0;
}
