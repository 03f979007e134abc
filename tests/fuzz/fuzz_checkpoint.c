/* A checkpoint of any bytes. The first byte says what follows: the lines of one in JSON (j), a
 * Parquet file (p), or lines that are written as Parquet and read back (w), which gives what the
 * lines alone give. What is refused is damage with the file's name, or a form that is not supported. */
#include "delta/delta_internal.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#define JSON_NAME    "00000000000000000003.checkpoint.aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.json"
#define PARQUET_NAME "00000000000000000003.checkpoint.parquet"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop_line(void *arg, LogLevel level, Str line)
{
    (void)arg;
    (void)level;
    (void)line;
}

/* Opening libduckdb takes longer than a thousand inputs. It stays open until the process ends. */
static Duck *duck_of_process(void)
{
    static Duck *duck;
    DuckOptions  options = {
         .memory_limit_bytes = INT64_C(1) << 29, .threads = 1, .temp_directory = STR("/tmp")};
    Err err = ERR_INIT;

    if (!duck) {
        bool ok = duck_open(&options, &duck, &err);
        assert(ok);
    }
    return duck;
}

static bool load(DeltaContext *context, const char *name, Bytes bytes, LogState *state, Err *err)
{
    LogPlace   place   = {.context = context, .path = STR("t"), .log_path = STR("t/_delta_log")};
    Str        names[] = {str_from_c(name)};
    LogSegment segment = {.version            = 3,
                          .checkpoint_version = 3,
                          .checkpoint_names   = names,
                          .checkpoint_count   = 1,
                          .checkpoint_is_json = strcmp(name, JSON_NAME) == 0,
                          .hinted_adds        = -1};
    Arena     *arena   = arena_new();
    bool ok = store_put_new(context->store, store_join(arena, place.log_path, names[0]), bytes,
                            err);

    assert(ok);
    ok = checkpoint_load(state, &place, &segment, err);
    if (!ok && err->code == ERR_DAMAGED)
        assert(strstr(err->message, "0000003") || strstr(err->context, "0000003"));
    arena_close(arena);
    return ok;
}

/* The lines' actions once as they are and once through Parquet. */
static void compare_ways(DeltaContext *context, Str lines)
{
    Arena    *arena = arena_new();
    LogPlace  place = {.context = context, .path = STR("t"), .log_path = STR("t/_delta_log")};
    LogState *want = log_state_new(), *got = log_state_new();
    Err       err     = ERR_INIT;
    Str       ndjson  = str_printf(arena, "/tmp/tidelake-fuzz-%ld.json", (long)getpid());
    Str       parquet = str_printf(arena, "/tmp/tidelake-fuzz-%ld.parquet", (long)getpid());
    Store    *disk    = store_local_new(STR_EMPTY);
    Bytes     bytes;

    if (log_state_apply_commit(want, &place, 3, lines, STR("file"), false, NULL, &err) &&
        store_replace(disk, ndjson, str_bytes(lines), &err) &&
        duck_checkpoint_write(context->duck, ndjson, parquet, NULL, &err)) {
        bool ok = store_read(disk, parquet, (size_t)1 << 26, arena, &bytes, &err);
        assert(ok);
        if (load(context, PARQUET_NAME, bytes, got, &err))
            assert(file_set_count(got->files) <=
                   file_set_count(want->files) + map_count(want->tombstones));
        (void)unlink(parquet.ptr);
    }
    (void)unlink(ndjson.ptr);
    store_close(disk);
    log_state_close(want);
    log_state_close(got);
    arena_close(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;

    Clock       *clock   = clock_new_real();
    DeltaContext context = {.clock = clock,
                            .store = store_memory_new(clock, NULL),
                            .duck  = duck_of_process(),
                            .log   = log_new(clock, LOG_ERROR, LOG_FORMAT_TEXT, drop_line, NULL)};
    LogState    *state   = log_state_new();
    Bytes        rest    = {data + 1, size - 1};
    Err          err     = ERR_INIT;

    if (data[0] == 'w')
        compare_ways(&context, bytes_str(rest));
    else
        (void)!load(&context, data[0] == 'p' ? PARQUET_NAME : JSON_NAME, rest, state, &err);
    log_state_close(state);
    store_close(context.store);
    log_close(context.log);
    clock_close(clock);
    return 0;
}
