/* read_parallel.c - a few tasks take parts from a list until none is left; results come back
 * through one queue. */
#include "engine/read_parallel.h"

#include "base/limits.h"
#include "base/list.h"

#include <stdatomic.h>

typedef struct PartResult {
    size_t    index;
    bool      ok;
    Err       err;
    Arena    *arena; /* holds the adds */
    DeltaAdds adds;
    bool      is_told; /* that there are no further rows of it */
} PartResult;

/* What the readers of one call share besides the queues. */
typedef struct Shared {
    atomic_bool     must_stop;   /* what is read is of no use: a part failed, or nobody wants it */
    atomic_bool     is_shown;    /* to who shows progress */
    _Atomic int64_t rows, bytes; /* so far, for progress */
    int64_t         began_ns;
} Shared;

typedef struct Reader {
    Env             *env;
    Mssql           *mssql;
    const ReadParts *parts;
    Queue           *todo; /* PartResult *, index set */
    Queue           *done;
    Queue           *over; /* one for each part: its last row has come, or it failed */
    Shared          *shared;
    Task            *task;
} Reader;

struct ReadRun {
    Env             *env;
    const ReadParts *parts;
    Arena           *arena;
    Queue           *todo, *done, *over;
    PartResult      *results;
    Reader          *readers;
    size_t           reader_count;
    Shared           shared;
    size_t           over_count; /* parts whose end was waited for */
    bool             has_failed; /* one of them */
    bool             is_told;    /* to who shows progress, that it is over */
};

/* The rows of a part, as long as somebody wants them; counted. */
typedef struct WantedRows {
    RowStream     base;
    RowStream    *inner;
    const Reader *reader;
    PartResult   *part;
    int64_t       rows, bytes;
} WantedRows;

static char rows_came, part_failed; /* what `over` holds */

static void tell_over(const Reader *reader, PartResult *part, bool ok)
{
    if (part->is_told) return;
    part->is_told = true;
    if (reader->parts->on_over) reader->parts->on_over(reader->parts->arg, part->index);
    (void)queue_push(reader->over, ok ? &rows_came : &part_failed);
}

static void tell(const Env *env, const ReadParts *parts, const Shared *shared, bool is_over)
{
    Progress progress = {.name     = parts->name,
                         .what     = parts->what,
                         .unit     = "rows",
                         .done     = atomic_load(&shared->rows),
                         .total    = parts->row_total,
                         .bytes    = atomic_load(&shared->bytes),
                         .began_ns = shared->began_ns,
                         .is_over  = is_over,
                         .chunks   = parts->chunks};

    if (atomic_load(&shared->is_shown)) env->on_progress(env->on_progress_arg, &progress);
}

static void count_block(WantedRows *wanted, const RowBlock *block)
{
    Shared *shared = wanted->reader->shared;
    int64_t rows = (int64_t)block->row_count, bytes = 0;

    for (size_t i = 0; i < block->column_count; i++)
        bytes += (int64_t)column_size_bytes(&block->columns[i], block->row_count);
    wanted->rows += rows;
    wanted->bytes += bytes;
    (void)atomic_fetch_add(&shared->rows, rows);
    (void)atomic_fetch_add(&shared->bytes, bytes);
    tell(wanted->reader->env, wanted->reader->parts, shared, false);
}

/* What a failed attempt counted is read again. */
static void uncount(const WantedRows *wanted)
{
    (void)atomic_fetch_sub(&wanted->reader->shared->rows, wanted->rows);
    (void)atomic_fetch_sub(&wanted->reader->shared->bytes, wanted->bytes);
}

static bool wanted_next(RowStream *stream, RowBlock *out, Err *err)
{
    WantedRows   *wanted = (WantedRows *)stream;
    const Reader *reader = wanted->reader;

    if (atomic_load(&reader->shared->must_stop))
        return err_set(err, ERR_CANCELLED, "what is read is not wanted any more");
    if (!cancel_check(reader->env->cancel, err)) return false;
    if (!row_stream_next(wanted->inner, out, err)) return false;
    if (out->row_count == 0) tell_over(reader, wanted->part, true);
    if (reader->env->on_progress && out->row_count > 0) count_block(wanted, out);
    return true;
}

static void wanted_release(RowStream *stream)
{
    row_stream_release(((WantedRows *)stream)->inner);
}

/* Reads what must be empty: there is no table yet for rows to go to. */
static bool drain_empty(RowStream *rows, Err *err)
{
    RowBlock block;

    if (!row_stream_next(rows, &block, err)) return false;
    return block.row_count == 0 ||
           err_set(err, ERR_INTERNAL,
                   "the source returned rows where it had counted none; nothing was committed");
}

static bool read_once(Reader *reader, PartResult *part, Err *err)
{
    Arena     *arena  = arena_new();
    RowStream *rows   = NULL;
    bool       ok     = reader->parts->open(reader->parts->arg, part->index, arena, &rows, err);
    WantedRows wanted = {.inner = rows, .reader = reader, .part = part};

    if (ok)
        wanted.base = (RowStream){
            .schema = rows->schema, .next = wanted_next, .release = wanted_release};
    if (ok && !reader->parts->writer)
        ok = drain_empty(&wanted.base, err);
    else if (ok)
        ok = delta_writer_write_files(reader->parts->writer, &wanted.base, part->arena, &part->adds,
                                      err);
    if (!ok) uncount(&wanted);
    row_stream_close(rows);
    arena_close(arena);
    return ok;
}

static void read_part(Reader *reader, PartResult *part)
{
    int  own     = 1;
    int *attempt = reader->parts->attempts ? &reader->parts->attempts[part->index] : &own;

    for (;; (*attempt)++) {
        err_clear(&part->err);
        part->adds = (DeltaAdds){0};
        part->ok   = read_once(reader, part, &part->err);
        if (part->ok || atomic_load(&reader->shared->must_stop) || *attempt == 0 ||
            !mssql_should_retry_read(reader->mssql, reader->parts->method, *attempt, &part->err))
            return;
        arena_reset(part->arena);
    }
}

static void read_tasks_parts(void *arg)
{
    Reader *reader = arg;
    void   *item;

    while (queue_pop(reader->todo, -1, &item)) {
        read_part(reader, item);
        tell_over(reader, item, ((PartResult *)item)->ok);
        if (!queue_push(reader->done, item)) return;
    }
}

/* Waits for the results; keeps the first error and gives out no further part after it. */
static bool collect(ReadRun *run, Err *err)
{
    size_t count = run->parts->count;
    bool   ok    = true;

    for (size_t i = 0; i < count; i++) {
        void       *item;
        PartResult *part;

        if (!queue_pop(run->done, -1, &item)) return false;
        part = item;
        if (!part->ok && ok) {
            ok = err_copy(err, &part->err);
            atomic_store(&run->shared.must_stop, true);
            while (queue_try_pop(run->todo, &item))
                count--;
        }
    }
    return ok;
}

/* The files of all parts, in their order. */
static DeltaAdds join_adds(const PartResult *results, size_t count, Arena *arena)
{
    DeltaAdds all = {0};

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < results[i].adds.count; j++)
            *LIST_PUSH(arena, &all) = delta_add_copy(arena, &results[i].adds.items[j]);
    return all;
}

ReadRun *read_run_start(Env *env, Mssql *mssql, const ReadParts *parts, Arena *arena)
{
    ReadRun *run   = ARENA_NEW(arena, ReadRun);
    size_t   count = MAX(parts->count, (size_t)1);

    run->env          = env;
    run->parts        = parts;
    run->arena        = arena;
    run->reader_count = (size_t)MIN(MIN(parts->partitions, (int64_t)parts->count),
                                    (int64_t)LIMIT_PARTITIONS);
    run->todo         = queue_new(env->sched, count);
    run->done         = queue_new(env->sched, count);
    run->over         = queue_new(env->sched, count);
    run->results      = ARENA_ARRAY(arena, PartResult, parts->count + 1);
    run->readers      = ARENA_ARRAY(arena, Reader, run->reader_count + 1);
    if (env->on_progress) run->shared.began_ns = clock_monotonic_ns(env->clock);
    atomic_store(&run->shared.is_shown, !parts->is_hidden);
    for (size_t i = 0; i < parts->count; i++) {
        run->results[i] = (PartResult){.index = i, .arena = arena_new()};
        (void)queue_push(run->todo, &run->results[i]); /* there is room for all */
    }
    for (size_t i = 0; i < run->reader_count; i++) {
        run->readers[i]      = (Reader){.env    = env,
                                        .mssql  = mssql,
                                        .parts  = parts,
                                        .todo   = run->todo,
                                        .done   = run->done,
                                        .over   = run->over,
                                        .shared = &run->shared};
        run->readers[i].task = sched_spawn(env->sched, "reader", read_tasks_parts,
                                           &run->readers[i]);
    }
    return run;
}

static void tell_is_over(ReadRun *run)
{
    if (run->env->on_progress && !run->is_told) tell(run->env, run->parts, &run->shared, true);
    run->is_told = true;
}

bool read_run_wait(ReadRun *run, size_t count)
{
    void *item = NULL;

    for (; run->over_count < count && !run->has_failed; run->over_count++)
        run->has_failed = !queue_pop(run->over, -1, &item) || item == &part_failed;
    if (run->has_failed) return false;
    if (count == run->parts->count) tell_is_over(run);
    return true;
}

void read_run_stop(ReadRun *run)
{
    atomic_store(&run->shared.must_stop, true);
}

void read_run_show(ReadRun *run)
{
    atomic_store(&run->shared.is_shown, true);
}

bool read_run_finish(ReadRun *run, DeltaAdds *adds_out, Err *err)
{
    bool ok;

    *adds_out = (DeltaAdds){0};
    ok        = collect(run, err);
    queue_close(run->todo);
    for (size_t i = 0; i < run->reader_count; i++)
        sched_join(run->env->sched, run->readers[i].task);
    queue_close(run->done);
    queue_close(run->over);
    if (ok) *adds_out = join_adds(run->results, run->parts->count, run->arena);
    for (size_t i = 0; i < run->parts->count; i++)
        arena_close(run->results[i].arena);
    queue_free(run->todo);
    queue_free(run->done);
    queue_free(run->over);
    tell_is_over(run);
    return ok;
}

bool read_parts(Env *env, Mssql *mssql, const ReadParts *parts, Arena *arena, DeltaAdds *adds_out,
                Err *err)
{
    return read_run_finish(read_run_start(env, mssql, parts, arena), adds_out, err);
}

int64_t read_parts_rows(const DeltaAdds *adds)
{
    int64_t rows = 0;

    for (size_t i = 0; i < adds->count; i++)
        rows += adds->items[i].row_count;
    return rows;
}
