/* checkpoint.c - Spark's checkpoint directory, read and written. */
#include "state/checkpoint.h"

#include "base/json.h"
#include "base/limits.h"

#include <jansson.h>
#include <string.h>

#define KEEP_BATCHES    100 /* what Spark keeps of each log */
#define PURGE_EVERY     50  /* batches between two clean-ups */
#define COMMIT_TEXT     "v1\n{\"nextBatchWatermarkMs\":0}"
#define GENERATION_FILE "_mssql_cdc_generation.json"

typedef struct Position {
    bool    is_set;
    int64_t batch_id;
    Offset  end;
} Position;

struct Checkpoint {
    Store   *store;
    Clock   *clock;
    Rng     *rng;
    Arena   *arena;
    Str      root; /* as given */
    Str      path; /* of the live generation */
    int64_t  generation;
    bool     has_generation_start;
    Offset   generation_start;
    bool     has_metadata;
    Position committed, planned;
    bool     has_start;
    Offset   start;      /* of batch 0, as the run that planned it recorded */
    int64_t  begun_ms;   /* names the record of this run's start; 0: none */
    int64_t  planned_ms; /* batchTimestampMs of the newest offset; 0: unknown */
    Str      conf;       /* line 2's conf object of the newest offset, as text */
};

static Str offsets_path(const Checkpoint *checkpoint, Arena *arena, int64_t batch_id)
{
    return str_printf(arena, "%.*s/offsets/%lld", STR_ARG(checkpoint->path), (long long)batch_id);
}

static Str commits_path(const Checkpoint *checkpoint, Arena *arena, int64_t batch_id)
{
    return str_printf(arena, "%.*s/commits/%lld", STR_ARG(checkpoint->path), (long long)batch_id);
}

/* --- reading --- */

/* The largest batch number among the names of a directory, -1 if none. */
static bool find_largest(Checkpoint *checkpoint, const char *folder, int64_t *out, Err *err)
{
    Arena    *scratch = arena_new();
    StoreList list;
    bool      ok = store_list_after(checkpoint->store,
                                    store_join(scratch, checkpoint->path, str_from_c(folder)), STR_EMPTY,
                                    scratch, &list, err);

    *out = -1;
    for (size_t i = 0; ok && i < list.count; i++) {
        int64_t number;
        if (str_parse_i64(list.entries[i].name, &number) && number >= 0) *out = MAX(*out, number);
    }
    arena_close(scratch);
    return ok;
}

/* Reads a file that may be missing. */
static bool read_if_exists(Checkpoint *checkpoint, Str path, Arena *arena, bool *found, Str *out,
                           Err *err)
{
    Err   why = ERR_INIT;
    Bytes bytes;

    *found = store_read(checkpoint->store, path, LIMIT_STATE_FILE_BYTES, arena, &bytes, &why);
    if (*found) *out = bytes_str(bytes);
    return *found || why.code == ERR_NOT_FOUND || err_copy(err, &why);
}

/* Batch 0's start stands in a file that only this record of the batch points to, so that a run
 * that lost the race for the batch cannot move it. */
static Str start_path(const Checkpoint *checkpoint, Arena *arena, int64_t batch_ms)
{
    return str_printf(arena, "%.*s/_tidelake/start-%lld", STR_ARG(checkpoint->path),
                      (long long)batch_ms);
}

/* Keeps the conf map of line 2, so that the next file carries it on, and the batch's time. */
static void keep_batch_line(Checkpoint *checkpoint, Str line)
{
    json_t *object = json_loadb(line.ptr, line.len, 0, NULL);
    json_t *conf   = json_object_get(object, "conf");
    json_t *time   = json_object_get(object, "batchTimestampMs");
    char   *text = json_is_object(conf) ? json_dumps(conf, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

    checkpoint->planned_ms = json_is_integer(time) ? json_integer_value(time) : 0;
    if (text) checkpoint->conf = str_copy(checkpoint->arena, str_from_c(text));
    free(text);
    json_decref(object);
}

static bool read_offset(Checkpoint *checkpoint, int64_t batch_id, Offset *out, Err *err)
{
    Arena *scratch = arena_new();
    Str    path    = offsets_path(checkpoint, scratch, batch_id);
    Bytes  bytes;
    Str    rest, version, batch, offset;
    bool   ok = store_read(checkpoint->store, path, LIMIT_STATE_FILE_BYTES, scratch, &bytes, err);

    if (ok) {
        rest = bytes_str(bytes);
        ok   = str_split_next(&rest, '\n', &version) && str_split_next(&rest, '\n', &batch) &&
             str_split_next(&rest, '\n', &offset);
        if (!ok)
            err_set(err, ERR_STATE,
                    "%.*s is cut short; restore the checkpoint directory from a copy",
                    STR_ARG(path));
        else if (!str_equal_c(str_trim(version), "v1"))
            ok = err_set(err, ERR_STATE, "%.*s has format \"%.*s\", this program reads v1",
                         STR_ARG(path), STR_ARG(str_trim(version)));
        else
            ok = offset_parse_json(str_trim(offset), out, err) ||
                 err_context(err, "%.*s", STR_ARG(path));
        if (ok) keep_batch_line(checkpoint, batch);
    }
    arena_close(scratch);
    return ok;
}

static bool read_generation(Checkpoint *checkpoint, Err *err)
{
    Arena  *scratch = arena_new();
    Str     path    = store_join(scratch, checkpoint->root, STR(GENERATION_FILE)), text;
    bool    found, ok = read_if_exists(checkpoint, path, scratch, &found, &text, err);
    json_t *object     = ok && found ? json_loadb(text.ptr, text.len, 0, NULL) : NULL;
    json_t *generation = json_object_get(object, "generation");
    Str     lsn        = str_from_c(json_string_value(json_object_get(object, "snapshot_lsn")));
    Str     time       = str_from_c(json_string_value(json_object_get(object, "commit_ts")));

    if (ok && found && !json_is_integer(generation))
        ok = err_set(err, ERR_STATE, "%.*s is damaged: no generation in it; restore it from a copy",
                     STR_ARG(path));
    if (ok && found) {
        checkpoint->generation           = json_integer_value(generation);
        checkpoint->has_generation_start = lsn_parse(lsn, &checkpoint->generation_start.lsn);
        checkpoint->generation_start.commit_ts.is_set =
            time.len > 0 && time_parse(time, &checkpoint->generation_start.commit_ts.utc_us);
        if (checkpoint->generation > 0 && !checkpoint->has_generation_start)
            ok = err_set(
                err, ERR_STATE,
                "%.*s names generation %lld without its snapshot_lsn; restore it from a copy",
                STR_ARG(path), (long long)checkpoint->generation);
    }
    if (ok && checkpoint->generation > 0)
        checkpoint->path = str_printf(checkpoint->arena, "%.*s/_generations/%lld",
                                      STR_ARG(checkpoint->root), (long long)checkpoint->generation);
    json_decref(object);
    arena_close(scratch);
    return ok;
}

/* Needed as long as batch 0 is planned and not done. */
static bool read_start(Checkpoint *checkpoint, Err *err)
{
    Arena *scratch = arena_new();
    Str    path    = start_path(checkpoint, scratch, checkpoint->planned_ms), text;
    bool   ok      = read_if_exists(checkpoint, path, scratch, &checkpoint->has_start, &text, err);

    if (ok && checkpoint->has_start)
        ok = offset_parse_json(str_trim(text), &checkpoint->start, err) ||
             err_context(err, "%.*s", STR_ARG(path));
    arena_close(scratch);
    return ok;
}

static bool read_positions(Checkpoint *checkpoint, Err *err)
{
    int64_t committed, planned;

    if (!find_largest(checkpoint, "commits", &committed, err) ||
        !find_largest(checkpoint, "offsets", &planned, err))
        return false;
    if (planned < committed)
        return err_set(err, ERR_STATE,
                       "checkpoint %.*s has commits/%lld but no offsets/%lld; restore the "
                       "directory from a copy",
                       STR_ARG(checkpoint->path), (long long)committed, (long long)committed);
    if (planned > committed + 1)
        return err_set(err, ERR_STATE,
                       "checkpoint %.*s has offsets/%lld while the last finished batch is %lld; "
                       "restore the directory from a copy",
                       STR_ARG(checkpoint->path), (long long)planned, (long long)committed);
    if (committed >= 0) {
        checkpoint->committed = (Position){.is_set = true, .batch_id = committed};
        if (!read_offset(checkpoint, committed, &checkpoint->committed.end, err)) return false;
    }
    if (planned > committed) {
        checkpoint->planned = (Position){.is_set = true, .batch_id = planned};
        if (!read_offset(checkpoint, planned, &checkpoint->planned.end, err)) return false;
        if (planned == 0 && !read_start(checkpoint, err)) return false;
    }
    return true;
}

bool checkpoint_open(Store *store, Clock *clock, Rng *rng, Str path, Checkpoint **out, Err *err)
{
    Arena      *arena      = arena_new();
    Checkpoint *checkpoint = ARENA_NEW(arena, Checkpoint);
    StoreEntry  entry;
    Err         why = ERR_INIT;
    bool        ok;

    *checkpoint      = (Checkpoint){.store = store,
                                    .clock = clock,
                                    .rng   = rng,
                                    .arena = arena,
                                    .root  = str_copy(arena, path),
                                    .conf  = STR("{}")};
    checkpoint->path = checkpoint->root;
    ok               = read_generation(checkpoint, err);
    if (ok) {
        checkpoint->has_metadata = store_stat(
            store, store_join(arena, checkpoint->path, STR("metadata")), &entry, &why);
        ok = checkpoint->has_metadata || why.code == ERR_NOT_FOUND || err_copy(err, &why);
    }
    ok = ok && read_positions(checkpoint, err);
    if (!ok) {
        arena_close(arena);
        checkpoint = NULL;
    }
    *out = checkpoint;
    return ok || err_context(err, "checkpoint");
}

void checkpoint_close(Checkpoint *checkpoint)
{
    if (checkpoint) arena_close(checkpoint->arena);
}

Str checkpoint_get_path(const Checkpoint *checkpoint)
{
    return checkpoint->path;
}

int64_t checkpoint_get_generation(const Checkpoint *checkpoint)
{
    return checkpoint->generation;
}

bool checkpoint_has_generation_start(const Checkpoint *checkpoint, Offset *out)
{
    *out = checkpoint->generation_start;
    return checkpoint->generation > 0 && checkpoint->has_generation_start;
}

bool checkpoint_has_metadata(const Checkpoint *checkpoint)
{
    return checkpoint->has_metadata;
}

static bool find_position(const Position *position, int64_t *batch_id_out, Offset *end_out)
{
    *batch_id_out = position->batch_id;
    *end_out      = position->end;
    return position->is_set;
}

bool checkpoint_find_committed(const Checkpoint *checkpoint, int64_t *batch_id_out, Offset *end_out)
{
    return find_position(&checkpoint->committed, batch_id_out, end_out);
}

bool checkpoint_find_planned(const Checkpoint *checkpoint, int64_t *batch_id_out, Offset *end_out)
{
    return find_position(&checkpoint->planned, batch_id_out, end_out);
}

bool checkpoint_find_start(const Checkpoint *checkpoint, Offset *out)
{
    *out = checkpoint->start;
    return checkpoint->has_start;
}

/* --- writing --- */

/* A sidecar that Hadoop left beside a file we are about to write again would make it unreadable to
 * Spark. */
static bool remove_sidecar(Checkpoint *checkpoint, const char *folder, int64_t batch_id, Err *err)
{
    Arena *scratch = arena_new();
    bool   ok      = store_remove(checkpoint->store,
                                  str_printf(scratch, "%.*s/%s/.%lld.crc", STR_ARG(checkpoint->path),
                                             folder, (long long)batch_id),
                                  err);

    arena_close(scratch);
    return ok;
}

static bool put_metadata(Checkpoint *checkpoint, Arena *scratch, Err *err)
{
    Err why = ERR_INIT;
    Str text;

    if (checkpoint->has_metadata) return true;
    text = str_printf(scratch, "{\"id\":\"%.*s\"}", STR_ARG(rng_uuid4(checkpoint->rng, scratch)));
    checkpoint->has_metadata = store_put_new(checkpoint->store,
                                             store_join(scratch, checkpoint->path, STR("metadata")),
                                             str_bytes(text), &why) ||
                               why.code == ERR_CONFLICT;
    return checkpoint->has_metadata || err_copy(err, &why);
}

bool checkpoint_begin(Checkpoint *checkpoint, const Offset *start, Err *err)
{
    Arena *scratch = arena_new();
    bool   ok      = put_metadata(checkpoint, scratch, err);
    Str    text    = offset_format_json(scratch, start);

    checkpoint->begun_ms = clock_utc_us(checkpoint->clock) / 1000;
    while (ok) {
        Err why = ERR_INIT;
        if (store_put_new(checkpoint->store, start_path(checkpoint, scratch, checkpoint->begun_ms),
                          str_bytes(text), &why))
            break;
        ok = why.code == ERR_CONFLICT || err_copy(err, &why);
        checkpoint->begun_ms++; /* an earlier attempt, or another run's */
    }
    if (ok) {
        checkpoint->has_start = true;
        checkpoint->start     = *start;
    }
    arena_close(scratch);
    return ok || err_context(err, "checkpoint %.*s", STR_ARG(checkpoint->path));
}

bool checkpoint_plan(Checkpoint *checkpoint, int64_t batch_id, const Offset *end, Err *err)
{
    Arena  *scratch = arena_new();
    Err     why     = ERR_INIT;
    int64_t now_ms  = batch_id == 0 && checkpoint->begun_ms > 0
                          ? checkpoint->begun_ms
                          : clock_utc_us(checkpoint->clock) / 1000;
    Str     text    = str_printf(
               scratch, "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":%lld,\"conf\":%.*s}\n%.*s",
               (long long)now_ms, STR_ARG(checkpoint->conf), STR_ARG(offset_format_json(scratch, end)));
    bool ok = remove_sidecar(checkpoint, "offsets", batch_id, &why) &&
              store_put_new(checkpoint->store, offsets_path(checkpoint, scratch, batch_id),
                            str_bytes(text), &why);

    if (!ok && why.code == ERR_CONFLICT)
        err_set(err, ERR_STATE,
                "another run planned batch %lld of checkpoint %.*s; only one may use it at a time: "
                "stop the other one",
                (long long)batch_id, STR_ARG(checkpoint->path));
    else if (!ok)
        err_copy(err, &why);
    else
        checkpoint->planned = (Position){.is_set = true, .batch_id = batch_id, .end = *end};
    arena_close(scratch);
    return ok || err_context(err, "checkpoint");
}

/* Removes the files of batches that nothing needs any more. Best effort: a left-over harms nobody.
 */
static void purge(Checkpoint *checkpoint, int64_t batch_id)
{
    static const char *const folders[] = {"offsets", "commits"};
    Arena                   *scratch   = arena_new();
    Err                      ignored   = ERR_INIT;

    for (size_t f = 0; f < COUNT_OF(folders); f++) {
        StoreList list;
        Str       folder = store_join(scratch, checkpoint->path, str_from_c(folders[f]));
        if (!store_list_after(checkpoint->store, folder, STR_EMPTY, scratch, &list, &ignored))
            continue;
        for (size_t i = 0; i < list.count; i++) {
            int64_t number;
            if (!str_parse_i64(list.entries[i].name, &number) || number > batch_id - KEEP_BATCHES)
                continue;
            if (!store_remove(checkpoint->store, store_join(scratch, folder, list.entries[i].name),
                              &ignored))
                break;
        }
    }
    arena_close(scratch);
}

/* Batch 0 is done: nothing asks for its start any more. */
static void remove_starts(Checkpoint *checkpoint)
{
    Arena    *scratch = arena_new();
    Err       ignored = ERR_INIT;
    Str       folder  = store_join(scratch, checkpoint->path, STR("_tidelake"));
    StoreList list;

    if (store_list_after(checkpoint->store, folder, STR("start-"), scratch, &list, &ignored))
        for (size_t i = 0; i < list.count; i++)
            if (str_starts_with(list.entries[i].name, STR("start-")) &&
                !store_remove(checkpoint->store, store_join(scratch, folder, list.entries[i].name),
                              &ignored))
                break;
    arena_close(scratch);
}

bool checkpoint_commit(Checkpoint *checkpoint, int64_t batch_id, Err *err)
{
    Arena *scratch = arena_new();
    Err    why     = ERR_INIT;
    bool   ok      = remove_sidecar(checkpoint, "commits", batch_id, &why) &&
              store_put_new(checkpoint->store, commits_path(checkpoint, scratch, batch_id),
                            str_bytes(STR(COMMIT_TEXT)), &why);

    /* The content never differs, so whoever wrote it first wrote ours. */
    ok = ok || why.code == ERR_CONFLICT || err_copy(err, &why);
    if (ok) {
        checkpoint->committed      = checkpoint->planned;
        checkpoint->planned.is_set = false;
        if (batch_id == 0) remove_starts(checkpoint);
        if (batch_id % PURGE_EVERY == 0 && batch_id > KEEP_BATCHES) purge(checkpoint, batch_id);
    }
    arena_close(scratch);
    return ok || err_context(err, "checkpoint %.*s", STR_ARG(checkpoint->path));
}
