/* compact.c - looks at the tables now and then; a look is a probe for newer versions. */
#include "engine/compact.h"

#include "delta/maintain.h"

#define FIRST_MS    1000
#define LOOK_MS     10000
#define FILES_LEAST 10 /* a few small files beside large ones are not worth it */
#define UNKNOWN     ((int64_t)-1)

typedef struct Watched {
    const CompactTable *table;
    int64_t             version;    /* newest known, UNKNOWN: not looked at yet */
    bool                has_failed; /* the last look */
    int64_t             since;      /* the version of the last compaction, or what stands for it */
} Watched;

struct Compactor {
    Env         *env;
    Arena       *arena;
    DeltaContext context; /* with a wish to stop of its own */
    Watched     *watched;
    size_t       count;
    Queue       *stop; /* what comes out of it is the end */
    bool         finish;
    Task        *task;
};

/* The first of a streak is worth a warning. */
static void note_failure(const Compactor *compactor, Watched *watched, const Err *why)
{
    char text[ERR_TEXT_BYTES];

    if (why->code == ERR_CANCELLED || why->code == ERR_NOT_FOUND) return;
    err_format(why, text, sizeof text);
    log_at(compactor->env->log, watched->has_failed ? LOG_DEBUG : LOG_WARN, "compact",
           "a table was not compacted", LOG_STR("table", watched->table->path),
           LOG_TEXT("error", text));
    watched->has_failed = true;
}

/* Every commit adds a file or more, and a compaction leaves few: so many commits were made since
 * the last one at most. */
static int64_t count_small_files(const DeltaTable *table)
{
    const DeltaFile *file;
    int64_t          count = 0;

    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        count += file->size_bytes < DELTA_TARGET_BYTES_DEFAULT;
    return count;
}

static bool first_look(Compactor *compactor, Watched *watched, Err *err)
{
    DeltaTable *table = NULL;

    if (!delta_table_open(&compactor->context, watched->table->path, &table, err)) return false;
    watched->version = delta_table_get_version(table);
    watched->since   = watched->version - count_small_files(table);
    delta_table_close(table);
    return true;
}

static bool compact(Compactor *compactor, Watched *watched, Err *err)
{
    DeltaOptimize  options = {.files_least = FILES_LEAST, .purpose = STR("compact")};
    DeltaOptimized result;
    DeltaTable    *table    = NULL;
    int64_t        began_ns = clock_monotonic_ns(compactor->env->clock);

    if (!delta_table_open(&compactor->context, watched->table->path, &table, err)) return false;
    bool ok = delta_table_optimize(table, &options, &result, err);
    if (result.commit_count > 0)
        log_info(compactor->env->log, "compact", "small files were put together",
                 LOG_STR("table", watched->table->path), LOG_I64("files", result.removed_count),
                 LOG_I64("into", result.added_count), LOG_I64("bytes", result.added_bytes),
                 LOG_I64("groups_dropped", result.dropped_count),
                 LOG_I64("duration_ms",
                         (clock_monotonic_ns(compactor->env->clock) - began_ns) / 1000000));
    watched->version = delta_table_get_version(table);
    delta_table_close(table);
    return ok;
}

/* After a failure, too, the next try is as many commits away: it must not eat what the streams
 * need. */
static void look(Compactor *compactor, Watched *watched)
{
    Err  err = ERR_INIT;
    bool ok  = watched->version == UNKNOWN
                   ? first_look(compactor, watched, &err)
                   : delta_find_newest_version(&compactor->context, watched->table->path,
                                               watched->version, &watched->version, &err);

    if (ok && watched->version - watched->since >= watched->table->commits) {
        ok             = compact(compactor, watched, &err);
        watched->since = watched->version;
    }
    if (ok)
        watched->has_failed = false;
    else
        note_failure(compactor, watched, &err);
}

static void look_at_all(Compactor *compactor)
{
    Err ignored = ERR_INIT;

    for (size_t i = 0; i < compactor->count; i++)
        if (cancel_check(compactor->context.cancel, &ignored))
            look(compactor, &compactor->watched[i]);
}

static void run(void *arg)
{
    Compactor *compactor = arg;
    int64_t    wait_ms   = FIRST_MS;
    void      *end;

    sched_give_way(compactor->env->sched);
    for (; !queue_pop(compactor->stop, wait_ms, &end); wait_ms = LOOK_MS)
        look_at_all(compactor);
    if (compactor->finish) look_at_all(compactor);
}

Compactor *compactor_start(Env *env, const CompactTable *tables, size_t count)
{
    Arena     *arena     = arena_new();
    Compactor *compactor = ARENA_NEW(arena, Compactor);

    if (count == 0) {
        arena_close(arena);
        return NULL;
    }
    compactor->env            = env;
    compactor->arena          = arena;
    compactor->context        = *env->delta;
    compactor->context.cancel = cancel_new();
    compactor->watched        = ARENA_ARRAY(arena, Watched, count);
    compactor->count          = count;
    for (size_t i = 0; i < count; i++)
        compactor->watched[i] = (Watched){.table = &tables[i], .version = UNKNOWN};
    compactor->stop = queue_new(env->sched, 1);
    compactor->task = sched_spawn(env->sched, "compact", run, compactor);
    return compactor;
}

void compactor_stop(Compactor *compactor, bool finish)
{
    if (!compactor) return;
    compactor->finish = finish;
    if (!finish) cancel_request(compactor->context.cancel);
    (void)queue_push(compactor->stop, compactor);
    sched_join(compactor->env->sched, compactor->task);
    queue_free(compactor->stop);
    cancel_close(compactor->context.cancel);
    arena_close(compactor->arena);
}
