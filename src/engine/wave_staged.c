/* wave_staged.c - the note next to a wave's staged files, and whether it tells of the very wave that comes next. */
#include "engine/wave_staged.h"

#include "base/buf.h"
#include "base/list.h"
#include "state/payload_staged.h"

#include <math.h>

typedef struct Candidate {
    DeltaStaged *files; /* NULL: it is somebody's by now */
    StagedWave   wave;
} Candidate;

struct StagedWaves {
    Candidate *items;
    size_t     count;
};

/* --- sealing --- */

/* Everything that decides what a row of a chunk looks like, but its bounds and stamp. */
static Str describe_read(const WaveContext *context, Arena *arena)
{
    const Schema *captured = context->captured;
    Buf           buf      = buf_new(arena, 0);

    buf_printf(&buf, "%.*s, command id %d, cut on", STR_ARG(context->instance_name),
               (int)context->options->source.include_command_id);
    for (size_t i = 0; i < context->cut->column_count; i++)
        buf_printf(&buf, " %.*s", STR_ARG(context->cut->names[i]));
    for (size_t i = 0; i < captured->column_count; i++)
        buf_printf(&buf, ", %.*s %d(%d,%d)", STR_ARG(captured->columns[i].name),
                   (int)captured->columns[i].type.kind, (int)captured->columns[i].type.precision,
                   (int)captured->columns[i].type.scale);
    return buf_str(&buf);
}

bool wave_seal(const WaveContext *context, Wave *wave, Err *err)
{
    StagedWave note;

    if (wave->rows == 0 || wave->is_sealed) return true;
    note            = (StagedWave){.tag        = wave_tag(context, wave, STR("staged"), wave->arena),
                                   .stamp_ts   = wave->stamp.commit_ts,
                                   .started_us = wave->started_us,
                                   .sealed_us  = clock_utc_us(context->env->clock),
                                   .read       = describe_read(context, wave->arena)};
    wave->is_sealed = delta_writer_seal(wave->writer, wave->adds, wave->add_count,
                                        payload_staged(wave->arena, &note), err);
    return wave->is_sealed;
}

bool wave_find_high(Mssql *mssql, Wave *wave, Err *err)
{
    bool is_null;

    wave->has_high = true;
    if (!mssql_ask_newest_ahead(mssql, LSN_ZERO, err) ||
        !mssql_max_lsn(mssql, &wave->high.lsn, &is_null, err))
        return false;
    if (lsn_compare(wave->high.lsn, wave->stamp.lsn) <= 0) {
        wave->high = wave->stamp;
        return true;
    }
    return mssql_commit_time(mssql, wave->high.lsn, &wave->high.commit_ts, err);
}

/* --- taking --- */

static void tell_removed(const WaveContext *context, int64_t wave, Str why)
{
    log_info(context->env->log, "backfill", "staged files of a call that ended were removed",
             LOG_STR("stream", context->options->capture_instance), LOG_I64("wave", wave),
             LOG_STR("why", why));
}

static bool is_of_use(const WaveContext *context, const StagedWave *wave, Str read, Str *why)
{
    *why = STR("they are of another snapshot");
    if (!str_equal(wave->tag.key, context->key)) return false;
    *why = STR("they were read otherwise than this call reads");
    return str_equal(wave->read, read) &&
           lsn_compare(wave->tag.stamp, context->state->open->at.lsn) >= 0;
}

bool staged_waves_take(const WaveContext *context, Bronze *bronze, Arena *arena, StagedWaves **out,
                       Err *err)
{
    StagedWaves  *staged = ARENA_NEW(arena, StagedWaves);
    Str           read   = describe_read(context, arena), why;
    DeltaStaged **found;
    size_t        count;

    *out = staged;
    if (!bronze_take_staged(bronze, wave_purpose(context, arena), arena, &found, &count, err))
        return false;
    staged->items = ARENA_ARRAY(arena, Candidate, count + 1);
    for (size_t i = 0; i < count; i++) {
        Candidate candidate = {.files = found[i]};
        Str       note      = str_copy(arena, delta_staged_note(found[i]));

        why = STR("another release wrote them");
        if (payload_parse_staged(note, arena, &candidate.wave) &&
            is_of_use(context, &candidate.wave, read, &why)) {
            staged->items[staged->count++] = candidate;
        } else {
            tell_removed(context, candidate.wave.tag.wave, why);
            delta_staged_drop(found[i]);
        }
    }
    return true;
}

/* The plan's chunk; an end that was open when it was planned may have been found since. */
static bool is_planned_chunk(const ChunkPlanPayload *plan, const TagChunk *chunk, int64_t index)
{
    const ChunkBounds *bounds  = &plan->chunks[index];
    bool               is_last = index + 1 == (int64_t)plan->chunk_count;

    return chunk->chunk == index && chunk->is_last == is_last && chunk->rows.is_set &&
           str_equal(chunk->bounds.lo, bounds->lo) &&
           (str_equal(chunk->bounds.hi, bounds->hi) ||
            (is_last && str_equal(bounds->hi, BOUND_OPEN)));
}

static bool is_this_wave(const WaveContext *context, const WaveTag *tag, int64_t first,
                         const Wave *wave)
{
    const ChunkPlanPayload *plan = &context->state->plan;

    if (tag->wave != wave->number || tag->chunk_count == 0 ||
        (wave->chunk_count > 0 && wave->chunk_count != tag->chunk_count))
        return false;
    for (size_t i = 0; i < tag->chunk_count; i++) {
        const TagChunk *chunk = &tag->chunks[i];
        int64_t         index = first + (int64_t)i;

        if (index >= (int64_t)plan->chunk_count || !is_planned_chunk(plan, chunk, index))
            return false;
        if (wave->chunk_count > 0 && (wave->chunks[i].index != index ||
                                      !str_equal(wave->chunks[i].bounds.lo, chunk->bounds.lo) ||
                                      !str_equal(wave->chunks[i].bounds.hi, chunk->bounds.hi)))
            return false;
    }
    return true;
}

/* The wave as the run that died had it when its read had ended. */
static void fill_wave(const WaveContext *context, const StagedWave *staged, Wave *wave)
{
    const WaveTag *tag = &staged->tag;

    wave->stamp      = (Offset){.lsn = tag->stamp, .commit_ts = staged->stamp_ts};
    wave->high       = wave->stamp; /* nobody knows any more */
    wave->has_high   = true;
    wave->started_us = staged->started_us;
    wave->idle_us    = MAX(0, clock_utc_us(context->env->clock) - staged->sealed_us);
    wave->is_taken = wave->is_sealed = true;
    wave->chunks                     = ARENA_ARRAY(wave->arena, WaveChunk, tag->chunk_count);
    wave->chunk_count                = tag->chunk_count;
    for (size_t i = 0; i < tag->chunk_count; i++) {
        const TagChunk *chunk = &tag->chunks[i];
        wave->chunks[i]       = (WaveChunk){.index   = chunk->chunk,
                                            .bounds  = chunk->bounds,
                                            .is_last = chunk->is_last,
                                            .rows    = chunk->rows.value,
                                            .bytes   = llround(chunk->read_mb * 1e6),
                                            .seconds = chunk->read_seconds};
        wave->rows += wave->chunks[i].rows;
    }
}

bool staged_waves_find(StagedWaves *staged, const WaveContext *context, Bronze *bronze,
                       int64_t first, Wave *wave, bool *taken, Err *err)
{
    *taken = false;
    for (size_t i = 0; i < staged->count && !*taken; i++) {
        Candidate   *candidate = &staged->items[i];
        DeltaStaged *files     = candidate->files;
        Str          why;

        if (!files || !is_this_wave(context, &candidate->wave.tag, first, wave)) continue;
        if (!bronze_prepare(bronze, context->captured, context->options->source.include_command_id,
                            err))
            return false;
        candidate->files = NULL;
        if (!bronze_open_staged(bronze, files, wave->arena, &wave->writer, &wave->adds,
                                &wave->add_count, &why, err))
            return false;
        *taken = wave->writer != NULL;
        if (*taken)
            fill_wave(context, &candidate->wave, wave);
        else
            tell_removed(context, wave->number, why);
    }
    if (*taken)
        log_info(
            context->env->log, "backfill", "a wave was read before: its staged files are taken",
            LOG_STR("stream", context->options->capture_instance), LOG_I64("wave", wave->number),
            LOG_I64("chunks", (int64_t)wave->chunk_count), LOG_I64("rows", wave->rows));
    return true;
}

void staged_waves_close(StagedWaves *staged, int64_t next)
{
    for (size_t i = 0; staged && i < staged->count; i++) {
        Candidate *candidate = &staged->items[i];

        if (candidate->files && candidate->wave.tag.wave >= next)
            delta_staged_leave(candidate->files);
        else
            delta_staged_drop(candidate->files);
        candidate->files = NULL;
    }
}
