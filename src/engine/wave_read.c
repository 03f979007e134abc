/* wave_read.c - a partition reads every N-th chunk of the wave, one after the other, into one file. */
#include "engine/wave.h"

#include "engine/read_parallel.h"
#include "engine/snapshot.h"

typedef struct WaveRead {
    const WaveContext *context;
    Wave              *wave;
    size_t             partitions;
} WaveRead;

/* The chunks of one partition as one stream of rows. */
typedef struct PartRows {
    RowStream  stream;
    WaveRead  *read;
    size_t     at; /* of the wave's chunks */
    RowStream *inner;
    int64_t    rows, began_ns;
} PartRows;

static bool open_chunk(PartRows *part, Err *err)
{
    const WaveContext *context = part->read->context;
    Wave              *wave    = part->read->wave;
    WaveChunk         *chunk   = &wave->chunks[part->at];
    TableRead          read    = {.table         = context->table,
                                  .cut           = context->cut,
                                  .lo            = chunk->lo,
                                  .hi            = chunk->hi,
                                  .columns       = context->captured,
                                  .instance_name = context->instance_name,
                                  .stamp         = wave->stamp,
                                  .snapshot      = context->state->open->at.lsn,
                                  .chunk         = OPT_I64(chunk->index)};

    chunk->rows = chunk->bytes = 0;
    part->began_ns             = clock_monotonic_ns(context->env->clock);
    return mssql_read_table(context->mssql, &read, &part->rows, &part->inner, err);
}

static void close_chunk(PartRows *part)
{
    WaveChunk *chunk = &part->read->wave->chunks[part->at];
    int64_t    now   = clock_monotonic_ns(part->read->context->env->clock);

    chunk->rows    = part->rows;
    chunk->seconds = (double)(now - part->began_ns) / 1e9;
    row_stream_close(part->inner);
    part->inner = NULL;
    part->at += part->read->partitions;
}

static bool fail(const PartRows *part, Err *err)
{
    const Wave *wave = part->read->wave;

    return err_context(err, "chunk %lld of wave %lld", (long long)wave->chunks[part->at].index,
                       (long long)wave->number);
}

static bool part_next(RowStream *stream, RowBlock *out, Err *err)
{
    PartRows *part = (PartRows *)stream;
    Wave     *wave = part->read->wave;

    while (part->at < wave->chunk_count) {
        if (!part->inner && !open_chunk(part, err)) return fail(part, err);
        if (!row_stream_next(part->inner, out, err)) return fail(part, err);
        if (out->row_count > 0) {
            for (size_t i = 0; i < out->column_count; i++)
                wave->chunks[part->at].bytes += (int64_t)column_size_bytes(&out->columns[i],
                                                                           out->row_count);
            return true;
        }
        close_chunk(part);
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
}

static bool open_part(void *arg, size_t index, Arena *arena, RowStream **out, Err *err)
{
    WaveRead          *read    = arg;
    const WaveContext *context = read->context;
    PartRows          *part    = ARENA_NEW(arena, PartRows);

    (void)err;
    *part = (PartRows){
        .stream = {.schema  = bronze_row_schema(arena, context->captured,
                                                context->options->source.include_command_id),
                   .next    = part_next,
                   .close   = part_close,
                   .release = part_release},
        .read   = read,
        .at     = index};
    *out = &part->stream;
    return true;
}

Str wave_purpose(const WaveContext *context, Arena *arena)
{
    return str_printf(arena, "backfill.%.*s", STR_ARG(context->options->app_id));
}

bool wave_read(const WaveContext *context, Bronze *bronze, Wave *wave, Err *err)
{
    WaveRead  read = {.context    = context,
                      .wave       = wave,
                      .partitions = MIN(wave->chunk_count, (size_t)context->connections)};
    DeltaAdds adds;
    ReadParts parts = {.method         = "read chunk",
                       .what           = "backfill",
                       .chunks         = &wave->progress,
                       .name           = context->options->capture_instance,
                       .count          = read.partitions,
                       .partitions     = context->connections,
                       .open           = open_part,
                       .arg            = &read,
                       .on_waiting     = context->on_waiting,
                       .on_waiting_arg = context->on_waiting_arg};

    if (!bronze_prepare(bronze, context->captured, context->options->source.include_command_id,
                        err))
        return false;
    if (!bronze_writer_open(bronze, wave_purpose(context, wave->arena), &wave->writer, err))
        return false;
    parts.writer = wave->writer;
    if (!read_parts(context->env, context->mssql, &parts, wave->arena, &adds, err)) return false;
    wave->adds      = adds.items;
    wave->add_count = adds.count;
    wave->rows      = read_parts_rows(&adds);
    return true;
}

void wave_close(Wave *wave)
{
    if (!wave) return;
    delta_writer_close(wave->writer);
    arena_close(wave->arena); /* the wave lives in it */
}
