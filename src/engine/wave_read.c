/* wave_read.c - a partition reads every N-th chunk of the wave, one after the other, into one file. */
#include "engine/wave.h"

#include "engine/plan_wave.h"
#include "engine/read_parallel.h"
#include "engine/snapshot.h"

#include <stdatomic.h>

struct WaveRead {
    const WaveContext *context;
    Wave              *wave;
    size_t             partitions;
    int               *attempts;  /* by partition, since it got further: ReadParts.attempts */
    size_t            *furthest;  /* by partition: the first chunk that was never read to its end */
    bool              *has_asked; /* by partition: for all that it reads */
    Queue             *last_requests; /* one for each partition: it has, or it failed first */
    atomic_bool        has_failed;
    ReadParts          parts;
    ReadRun           *run;
};

/* The chunks of one partition as one stream of rows. */
typedef struct PartRows {
    RowStream  stream;
    WaveRead  *read;
    size_t     index, at; /* of the wave's chunks */
    RowStream *inner;     /* of a request; NULL: the next one has to be sent */
    int64_t    rows;      /* of the chunk that were handed on */
    int64_t    began_ns, answered_ns;
    bool       asks_singly; /* a request of several chunks failed */
} PartRows;

static char asked_for_all, ended_first; /* what `last_requests` holds */

static void tell_asked(const PartRows *part, char *what)
{
    WaveRead *read = part->read;

    if (!read->has_asked[part->index]) (void)queue_push(read->last_requests, what);
    read->has_asked[part->index] = true;
}

static int64_t now_ns(const PartRows *part)
{
    return clock_monotonic_ns(part->read->context->env->clock);
}

/* The chunks of this partition that go into the request of the one it is at. */
static size_t add_behind(const PartRows *part, TablePart *behind)
{
    const WaveContext *context = part->read->context;
    const Wave        *wave    = part->read->wave;
    size_t             step    = part->read->partitions;
    size_t             left    = (wave->chunk_count - part->at + step - 1) / step;
    size_t             depth   = plan_wave_request(mssql_round_trip(context->mssql),
                                                   context->chunk_seconds[part->index], left);

    depth = part->asks_singly ? 1 : MIN(depth, (size_t)TABLE_PARTS_MAX);
    for (size_t i = 0; i + 1 < depth; i++) {
        const WaveChunk *chunk = &wave->chunks[part->at + (i + 1) * step];

        behind[i] = (TablePart){.lo = chunk->lo, .hi = chunk->hi, .chunk = OPT_I64(chunk->index)};
    }
    return depth - 1;
}

static void begin_chunk(PartRows *part)
{
    WaveChunk *chunk = &part->read->wave->chunks[part->at];

    chunk->rows = chunk->bytes = 0;
    part->rows                 = 0;
    part->began_ns             = now_ns(part);
}

static bool send_request(PartRows *part, Err *err)
{
    const WaveContext *context = part->read->context;
    Wave              *wave    = part->read->wave;
    WaveChunk         *chunk   = &wave->chunks[part->at];
    TablePart          behind[TABLE_PARTS_MAX];
    TableRead          read = {.table         = context->table,
                               .cut           = context->cut,
                               .lo            = chunk->lo,
                               .hi            = chunk->hi,
                               .columns       = context->captured,
                               .instance_name = context->instance_name,
                               .stamp         = wave->stamp,
                               .snapshot      = context->state->open->at.lsn,
                               .chunk         = OPT_I64(chunk->index),
                               .behind        = behind,
                               .behind_count  = add_behind(part, behind)};

    begin_chunk(part);
    if (part->at + (read.behind_count + 1) * part->read->partitions >= wave->chunk_count)
        tell_asked(part, &asked_for_all);
    if (!mssql_read_table(context->mssql, &read, &part->rows, &part->inner, err)) return false;
    part->answered_ns = now_ns(part);
    return true;
}

/* The chunk is read to its end: the next one of this partition, and whether its rows were asked for too. */
static bool end_chunk(PartRows *part, Err *err)
{
    WaveRead  *read  = part->read;
    WaveChunk *chunk = &read->wave->chunks[part->at];
    int64_t    now   = now_ns(part);
    bool       has_next;

    chunk->rows                               = part->rows;
    chunk->seconds                            = (double)(now - part->began_ns) / 1e9;
    read->context->chunk_seconds[part->index] = (double)MAX(now - part->answered_ns, 1) / 1e9;
    part->at += read->partitions;
    if (part->at > read->furthest[part->index]) { /* what failed before is behind it */
        read->furthest[part->index] = part->at;
        read->attempts[part->index] = 1;
    }
    if (part->at < read->wave->chunk_count) begin_chunk(part);
    if (!mssql_next_part(part->inner, &has_next, err)) return false;
    part->answered_ns = now_ns(part);
    if (has_next) return true;
    row_stream_close(part->inner);
    part->inner = NULL;
    return true;
}

static bool fail(const PartRows *part, Err *err)
{
    const Wave *wave = part->read->wave;

    return err_context(err, "chunk %lld of wave %lld", (long long)wave->chunks[part->at].index,
                       (long long)wave->number);
}

/* A block of the chunk it is at, or none: the chunk has ended, and it is at the next one. */
static bool read_block(PartRows *part, RowBlock *out, Err *err)
{
    if (!part->inner && !send_request(part, err)) return false;
    if (!row_stream_next(part->inner, out, err)) return false;
    return out->row_count > 0 || end_chunk(part, err);
}

/* No row of the chunk was handed on, so that it can be asked for again by itself, and what was read before it stays. */
static bool may_ask_again(PartRows *part, Err *err)
{
    WaveRead *read    = part->read;
    int      *attempt = &read->attempts[part->index];

    if (part->rows > 0 || atomic_load(&read->has_failed)) return false;
    row_stream_close(part->inner);
    part->inner       = NULL;
    part->asks_singly = true;
    if (!mssql_should_retry_read(read->context->mssql, "read chunk", *attempt, err)) {
        *attempt = 0;
        return false;
    }
    ++*attempt;
    err_clear(err);
    return true;
}

static bool part_next(RowStream *stream, RowBlock *out, Err *err)
{
    PartRows *part = (PartRows *)stream;
    Wave     *wave = part->read->wave;

    while (part->at < wave->chunk_count) {
        if (!read_block(part, out, err)) {
            (void)fail(part, err);
            if (may_ask_again(part, err)) continue;
            if (part->read->attempts[part->index] == 0) atomic_store(&part->read->has_failed, true);
            return false;
        }
        if (out->row_count == 0) continue;
        for (size_t i = 0; i < out->column_count; i++)
            wave->chunks[part->at].bytes += (int64_t)column_size_bytes(&out->columns[i],
                                                                       out->row_count);
        return true;
    }
    *out = (RowBlock){.row_count = 0};
    return true;
}

static void part_release(RowStream *stream)
{
    row_stream_release(((PartRows *)stream)->inner);
}

static void part_close(RowStream *stream)
{
    PartRows *part = (PartRows *)stream;

    row_stream_close(part->inner);
    part->inner = NULL;
    tell_asked(part, &ended_first);
}

static bool open_part(void *arg, size_t index, Arena *arena, RowStream **out, Err *err)
{
    WaveRead          *read    = arg;
    const WaveContext *context = read->context;
    PartRows          *part    = ARENA_NEW(arena, PartRows);

    (void)err;
    *part = (PartRows){
        .stream      = {.schema  = bronze_row_schema(arena, context->captured,
                                                     context->options->source.include_command_id),
                        .next    = part_next,
                        .close   = part_close,
                        .release = part_release},
        .read        = read,
        .index       = index,
        .at          = index,
        .asks_singly = read->attempts[index] > 1};
    *out = &part->stream;
    return true;
}

Str wave_purpose(const WaveContext *context, Arena *arena)
{
    return str_printf(arena, "backfill.%.*s", STR_ARG(context->options->app_id));
}

/* Waits for the first connection that has asked for all that it will read of this wave. */
static void await_last_request(WaveRead *read)
{
    const WaveContext *context = read->context;
    void              *item    = NULL;

    if (queue_pop(read->last_requests, -1, &item) && item == &asked_for_all &&
        context->on_last_request)
        context->on_last_request(context->on_last_request_arg);
}

static WaveRead *wave_read_new(const WaveContext *context, Wave *wave)
{
    WaveRead *read = ARENA_NEW(wave->arena, WaveRead);

    read->context    = context;
    read->wave       = wave;
    read->partitions = MIN(wave->chunk_count, (size_t)context->connections);
    read->attempts   = ARENA_ARRAY(wave->arena, int, read->partitions + 1);
    read->furthest   = ARENA_ARRAY(wave->arena, size_t, read->partitions + 1);
    read->has_asked  = ARENA_ARRAY(wave->arena, bool, read->partitions + 1);
    for (size_t i = 0; i < read->partitions; i++) {
        read->attempts[i] = 1;
        read->furthest[i] = i;
    }
    return read;
}

bool wave_read(const WaveContext *context, Bronze *bronze, Wave *wave, Err *err)
{
    WaveRead *read = wave_read_new(context, wave);

    if (!bronze_prepare(bronze, context->captured, context->options->source.include_command_id,
                        err))
        return false;
    if (!bronze_writer_open(bronze, wave_purpose(context, wave->arena), &wave->writer, err))
        return false;
    read->parts         = (ReadParts){.method     = "read chunk",
                                      .what       = "backfill",
                                      .chunks     = &wave->progress,
                                      .name       = context->options->capture_instance,
                                      .count      = read->partitions,
                                      .partitions = context->connections,
                                      .open       = open_part,
                                      .attempts   = read->attempts,
                                      .arg        = read,
                                      .writer     = wave->writer};
    read->last_requests = queue_new(context->env->sched, read->partitions);
    read->run           = read_run_start(context->env, context->mssql, &read->parts, wave->arena);
    wave->read          = read;
    await_last_request(read);
    return read_run_wait_rows(read->run) || wave_finish_read(wave, err);
}

bool wave_finish_read(Wave *wave, Err *err)
{
    WaveRead *read = wave->read;
    DeltaAdds adds;
    bool      ok;

    if (!read) return true;
    wave->read = NULL;
    ok         = read_run_finish(read->run, &adds, err);
    queue_free(read->last_requests);
    wave->adds      = adds.items;
    wave->add_count = adds.count;
    wave->rows      = read_parts_rows(&adds);
    return ok;
}

void wave_close(Wave *wave)
{
    Err ignored = ERR_INIT; /* what was read is not wanted */

    if (!wave) return;
    if (!wave_finish_read(wave, &ignored)) err_clear(&ignored);
    delta_writer_close(wave->writer);
    arena_close(wave->arena); /* the wave lives in it */
}
