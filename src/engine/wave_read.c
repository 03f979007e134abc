/* wave_read.c - a partition reads every N-th chunk of the wave, one after the other, into one file. */
#include "engine/wave.h"

#include "engine/bound_json.h"
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
    bool              *has_turn;  /* by partition: on its lane */
    bool              *has_asked; /* by partition: for all that it reads */
    Queue             *last_requests; /* one for each partition: it has, or it failed first */
    atomic_bool        has_failed;    /* for good, or nobody wants it: nothing is asked again */
    _Atomic int64_t    through_ns;    /* when the first lane was through; 0: none is */
    ReadParts          parts;
    ReadRun           *run;
};

/* The chunks of one partition as one stream of rows. */
typedef struct PartRows {
    RowStream stream;
    WaveRead *read;
    WaveLane *lane;
    Arena    *arena;
    size_t    index, at; /* of the wave's chunks */
    bool      is_begun;  /* the chunk it is at: its rows come next */
    int64_t   rows;      /* of the chunk that were handed on */
    int64_t   began_ns;
    bool      asks_singly; /* a request of several chunks failed */
} PartRows;

static char asked_for_all, ended_first; /* what `last_requests` holds */

static void tell_asked(WaveRead *read, size_t index, char *what)
{
    if (!read->has_asked[index]) (void)queue_push(read->last_requests, what);
    read->has_asked[index] = true;
}

static int64_t now_ns(const PartRows *part)
{
    return clock_monotonic_ns(part->read->context->env->clock);
}

static int64_t plan_count(const PartRows *part)
{
    return (int64_t)part->read->context->state->plan.chunk_count;
}

/* Of this wave, behind the one it is at. */
static size_t parts_left(const PartRows *part)
{
    return (part->read->wave->chunk_count - part->at - 1) / part->read->partitions;
}

/* The n-th chunk from the one it is at that this lane will read, 0 being that one: first those of this wave, then of
 * the next ones, whose plan is the lanes' in turn. -1: there is none that could be asked for by now. */
static int64_t chunk_ahead(const PartRows *part, size_t n)
{
    const Wave *wave  = part->read->wave;
    size_t      left  = parts_left(part);
    int64_t     count = plan_count(part), index;

    if (n <= left) return wave->chunks[part->at + n * part->read->partitions].index;
    if (wave->is_last_of_call) return -1;
    index = wave->chunks[wave->chunk_count - 1].index + 1 + (int64_t)part->index +
            (int64_t)(n - left - 1) * part->read->context->connections;
    /* where an open end is by then, only its wave finds */
    return index >= count ||
                   (index + 1 == count &&
                    str_equal(part->read->context->state->plan.chunks[index].hi, BOUND_OPEN))
               ? -1
               : index;
}

static bool find_bounds(const PartRows *part, int64_t index, TablePart *out, Err *err)
{
    const WaveContext *context = part->read->context;
    const Wave        *wave    = part->read->wave;
    const ChunkBounds *bounds  = &context->state->plan.chunks[index];
    int64_t            first   = wave->chunks[0].index;

    out->chunk = OPT_I64(index);
    if (index < first + (int64_t)wave->chunk_count) {
        out->lo = wave->chunks[index - first].lo;
        out->hi = wave->chunks[index - first].hi;
        return true;
    }
    return bound_from_json(part->arena, context->cut, bounds->lo, &out->lo, err) &&
           bound_from_json(part->arena, context->cut, bounds->hi, &out->hi, err);
}

/* The chunks that go into the request of the one it is at. */
static bool choose_parts(const PartRows *part, TablePart *parts, size_t *count_out, Err *err)
{
    const WaveContext *context = part->read->context;
    size_t  depth = plan_wave_request(mssql_round_trip(context->mssql), part->lane->chunk_seconds,
                                      TABLE_PARTS_MAX);
    int64_t index;

    if (part->asks_singly) depth = 1;
    *count_out = 0;
    while (*count_out < depth && (index = chunk_ahead(part, *count_out)) >= 0) {
        if (!find_bounds(part, index, &parts[*count_out], err)) return false;
        ++*count_out;
    }
    return true;
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
    WaveLane          *lane    = part->lane;
    TablePart          parts[TABLE_PARTS_MAX];
    size_t             count;

    begin_chunk(part);
    if (!choose_parts(part, parts, &count, err)) return false;
    if (count > parts_left(part) + 1) wave_lane_note_ahead(context->lanes, lane);
    if (count > parts_left(part)) tell_asked(part->read, part->index, &asked_for_all);
    TableRead read = {.table         = context->table,
                      .cut           = context->cut,
                      .lo            = parts[0].lo,
                      .hi            = parts[0].hi,
                      .columns       = context->captured,
                      .instance_name = context->instance_name,
                      .stamp         = wave->stamp,
                      .snapshot      = context->state->open->at.lsn,
                      .chunk         = parts[0].chunk,
                      .behind        = parts + 1,
                      .behind_count  = count - 1};

    for (size_t i = 0; i < count; i++)
        lane->asked[i] = parts[i].chunk.value;
    lane->asked_count = count;
    lane->asked_at    = 0;
    if (!mssql_read_table(context->mssql, &read, &part->rows, &lane->rows, err)) return false;
    lane->answered_ns = now_ns(part);
    return true;
}

/* The request has the rows of this chunk next, and nobody looked for them yet. */
static bool was_asked_ahead(const PartRows *part)
{
    const WaveLane *lane = part->lane;

    return lane->rows && mssql_parts_behind(lane->rows) > 0 &&
           lane->asked_at + 1 < lane->asked_count &&
           lane->asked[lane->asked_at + 1] == part->read->wave->chunks[part->at].index;
}

/* Its rows come next: of the request at hand, or of a new one. */
static bool open_chunk(PartRows *part, Err *err)
{
    WaveLane *lane = part->lane;

    if (!was_asked_ahead(part)) {
        wave_lane_drop(lane);
        return send_request(part, err);
    }
    begin_chunk(part);
    lane->asked_at++;
    if (mssql_parts_behind(lane->rows) > parts_left(part))
        tell_asked(part->read, part->index, &asked_for_all);
    if (!mssql_next_part(lane->rows, &part->read->wave->stamp, &part->rows, err)) return false;
    lane->answered_ns = now_ns(part);
    return true;
}

static void end_chunk(PartRows *part)
{
    WaveRead  *read  = part->read;
    WaveChunk *chunk = &read->wave->chunks[part->at];
    int64_t    now   = now_ns(part);

    chunk->rows               = part->rows;
    chunk->seconds            = (double)(now - part->began_ns) / 1e9;
    part->lane->chunk_seconds = (double)MAX(now - part->lane->answered_ns, 1) / 1e9;
    part->is_begun            = false;
    part->at += read->partitions;
    if (part->at > read->furthest[part->index]) { /* what failed before is behind it */
        read->furthest[part->index] = part->at;
        read->attempts[part->index] = 1;
    }
    /* a late error was seen by now, and the connection is free for somebody else */
    if (mssql_parts_behind(part->lane->rows) == 0) wave_lane_drop(part->lane);
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
    part->is_begun = part->is_begun || open_chunk(part, err);
    if (!part->is_begun || !row_stream_next(part->lane->rows, out, err)) return false;
    if (out->row_count == 0) end_chunk(part);
    return true;
}

/* No row of the chunk was handed on, so that it can be asked for again by itself, and what was read before it stays. */
static bool may_ask_again(PartRows *part, Err *err)
{
    WaveRead *read    = part->read;
    int      *attempt = &read->attempts[part->index];

    if (part->rows > 0 || atomic_load(&read->has_failed)) return false;
    wave_lane_drop(part->lane);
    part->is_begun    = false;
    part->asks_singly = true;
    if (!mssql_should_retry_read(read->context->mssql, "read chunk", *attempt, err)) {
        *attempt = 0;
        return false;
    }
    if (atomic_load(&read->has_failed)) return false;
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
    row_stream_release(((PartRows *)stream)->lane->rows);
}

/* After its last row the lane may be another wave's already. */
static void part_close(RowStream *stream)
{
    PartRows *part = (PartRows *)stream;

    if (part->at < part->read->wave->chunk_count) wave_lane_drop(part->lane);
    tell_asked(part->read, part->index, &ended_first);
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
        .lane        = wave_lane_at(context->lanes, index),
        .arena       = arena,
        .index       = index,
        .at          = index,
        .asks_singly = read->attempts[index] > 1};
    if (!read->has_turn[index]) wave_lane_take(part->lane);
    read->has_turn[index] = true;
    *out                  = &part->stream;
    return true;
}

/* The last row of a partition has come, or it failed for the last time. */
static void part_is_over(void *arg, size_t index)
{
    WaveRead *read = arg;
    int64_t   none = 0;

    (void)atomic_compare_exchange_strong(&read->through_ns, &none,
                                         clock_monotonic_ns(read->context->env->clock));
    if (read->has_turn[index]) wave_lane_give(read->context->lanes, index, read->wave->number);
    read->has_turn[index] = false;
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
    read->has_turn   = ARENA_ARRAY(wave->arena, bool, read->partitions + 1);
    read->has_asked  = ARENA_ARRAY(wave->arena, bool, read->partitions + 1);
    for (size_t i = 0; i < read->partitions; i++) {
        read->attempts[i] = 1;
        read->furthest[i] = i;
    }
    return read;
}

bool wave_begin_read(const WaveContext *context, Bronze *bronze, Wave *wave, Err *err)
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
                                      .is_hidden  = wave->is_hidden,
                                      .name       = context->options->capture_instance,
                                      .count      = read->partitions,
                                      .partitions = context->connections,
                                      .open       = open_part,
                                      .on_over    = part_is_over,
                                      .attempts   = read->attempts,
                                      .arg        = read,
                                      .writer     = wave->writer};
    read->last_requests = queue_new(context->env->sched, read->partitions);
    read->run           = read_run_start(context->env, context->mssql, &read->parts, wave->arena);
    wave->read          = read;
    return true;
}

bool wave_await_lane(Wave *wave)
{
    WaveRead *read = wave->read;

    if (!read) return true;
    await_last_request(read);
    return read_run_wait(read->run, 1);
}

double wave_lane_seconds(const Wave *wave)
{
    return wave->read ? (double)(atomic_load(&wave->read->through_ns) - wave->began_ns) / 1e9 : 0;
}

bool wave_await_rows(Wave *wave, Err *err)
{
    WaveRead *read = wave->read;

    return !read || read_run_wait(read->run, read->partitions) || wave_finish_read(wave, err);
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

void wave_show(Wave *wave)
{
    if (wave->read) read_run_show(wave->read->run);
}

size_t wave_lane_count(const Wave *wave)
{
    return wave->read ? wave->read->partitions : 0;
}

void wave_close(Wave *wave)
{
    Err ignored = ERR_INIT; /* what was read is not wanted */

    if (!wave) return;
    if (wave->read) {
        atomic_store(&wave->read->has_failed, true);
        read_run_stop(wave->read->run);
    }
    if (!wave_finish_read(wave, &ignored)) err_clear(&ignored);
    delta_writer_close(wave->writer);
    arena_close(wave->arena); /* the wave lives in it */
}
