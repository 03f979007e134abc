/* offset.c - the JSON of an offset, as the stream's checkpoint holds it. */
#include "types/offset.h"

#include "base/json.h"

#include <jansson.h>

Str offset_format_json(Arena *arena, const Offset *offset)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    json_member_str(&json, "lsn", lsn_str(arena, offset->lsn));
    json_member_str(&json, "commit_ts",
                    offset->commit_ts.is_set ? time_format_ms(arena, offset->commit_ts.utc_us)
                                             : STR_EMPTY);
    json_object_end(&json);
    return buf_str(&buf);
}

static bool read_lsn(const json_t *root, Lsn *out, Err *err)
{
    const json_t *member = json_object_get(root, "lsn");

    if (!json_is_string(member))
        return err_set(err, ERR_DAMAGED, "the offset has no text member \"lsn\"");
    Str text = {json_string_value(member), json_string_length(member)};
    return lsn_parse(text, out) ||
           err_set(err, ERR_DAMAGED, "the offset's lsn \"%.60s\" is not an LSN",
                   json_string_value(member));
}

static bool read_commit_ts(const json_t *root, OptTime *out, Err *err)
{
    const json_t *member = json_object_get(root, "commit_ts");

    *out = (OptTime){.is_set = false};
    if (member == NULL || json_is_null(member)) return true;
    if (!json_is_string(member))
        return err_set(err, ERR_DAMAGED, "the offset's commit_ts is not a text");
    Str text = {json_string_value(member), json_string_length(member)};
    if (text.len == 0) return true;

    out->is_set = time_parse(text, &out->utc_us);
    return out->is_set ||
           err_set(err, ERR_DAMAGED, "the offset's commit_ts \"%.60s\" is not a time",
                   json_string_value(member));
}

bool offset_parse_json(Str text, Offset *out, Err *err)
{
    bool         ok     = false;
    Offset       offset = {.lsn = LSN_ZERO};
    json_error_t trouble;
    json_t *root = json_loadb(text.len ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES, &trouble);

    if (root == NULL) {
        err_set(err, ERR_DAMAGED, "the offset is not JSON: %s", trouble.text);
        goto done;
    }
    if (!json_is_object(root)) {
        err_set(err, ERR_DAMAGED, "the offset is not a JSON object");
        goto done;
    }
    if (!read_lsn(root, &offset.lsn, err)) goto done;
    if (!read_commit_ts(root, &offset.commit_ts, err)) goto done;
    *out = offset;
    ok   = true;
done:
    json_decref(root);
    return ok;
}
