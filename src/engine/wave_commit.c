/* wave_commit.c - rows first, then the plans rows, then the facts rows that announce them. */
#include "engine/wave.h"

#include "base/list.h"

#include <math.h>

/* One wave on its way into the tables. */
typedef struct Commit {
    const WaveContext *context;
    Bronze            *bronze;
    Wave              *wave;
    Arena             *arena;
    WaveTag            tag; /* in force */
} Commit;

static double round_mb(int64_t bytes)
{
    return round((double)bytes) / 1e6;
}

static Str new_attempt(Rng *rng, Arena *arena)
{
    Str uuid = rng_uuid4(rng, arena);
    Buf buf  = buf_new(arena, 0);

    for (size_t i = 0; i < uuid.len; i++)
        if (uuid.ptr[i] != '-') buf_append_char(&buf, uuid.ptr[i]);
    return buf_str(&buf);
}

WaveTag wave_tag(const WaveContext *context, const Wave *wave, Str attempt, Arena *arena)
{
    TagChunk *chunks = ARENA_ARRAY(arena, TagChunk, wave->chunk_count + 1);

    for (size_t i = 0; i < wave->chunk_count; i++) {
        const WaveChunk *chunk = &wave->chunks[i];
        chunks[i]              = (TagChunk){.chunk        = chunk->index,
                                            .bounds       = chunk->bounds,
                                            .is_last      = chunk->is_last,
                                            .rows         = OPT_I64(chunk->rows),
                                            .high_lsn     = OPT_LSN(wave->high.lsn),
                                            .read_seconds = chunk->seconds,
                                            .read_mb      = round_mb(chunk->bytes)};
    }
    return (WaveTag){.key         = context->key,
                     .wave        = wave->number,
                     .stamp       = wave->stamp.lsn,
                     .attempt     = attempt,
                     .chunks      = chunks,
                     .chunk_count = wave->chunk_count};
}

/* --- an earlier attempt --- */

static int64_t rows_of(const ChunkCount *counts, size_t count, int64_t chunk)
{
    for (size_t i = 0; i < count; i++)
        if (counts[i].chunk == chunk) return counts[i].rows;
    return 0;
}

/* A release that could not count before it committed left the rows out. */
static bool fill_counts(Commit *commit, Err *err)
{
    WaveTag    *tag    = &commit->tag;
    TagChunk   *chunks = ARENA_ARRAY(commit->arena, TagChunk, tag->chunk_count + 1);
    bool        needs  = false;
    ChunkCount *counts;
    size_t      count;

    for (size_t i = 0; i < tag->chunk_count; i++) {
        chunks[i] = tag->chunks[i];
        needs     = needs || !chunks[i].rows.is_set;
        if (!chunks[i].high_lsn.is_set) chunks[i].high_lsn = OPT_LSN(tag->stamp);
    }
    tag->chunks = chunks;
    if (!needs || tag->chunk_count == 0) return true;
    if (!bronze_count_chunks(commit->bronze, commit->context->state->open->at.lsn, chunks[0].chunk,
                             commit->arena, &counts, &count, err))
        return false;
    for (size_t i = 0; i < tag->chunk_count; i++)
        chunks[i].rows = OPT_I64(rows_of(counts, count, chunks[i].chunk));
    return true;
}

/* The bounds an attempt read a chunk with: the wave's own when it took the chunk, else the plan's. */
static void find_bounds(const Commit *commit, int64_t index, TagChunk *out)
{
    const ChunkPlanPayload *plan = &commit->context->state->plan;
    const Wave             *wave = commit->wave;

    out->bounds  = plan->chunks[index];
    out->is_last = index + 1 == (int64_t)plan->chunk_count;
    for (size_t i = 0; i < wave->chunk_count; i++)
        if (wave->chunks[i].index == index) out->bounds = wave->chunks[i].bounds;
}

/* The history has lost the commit: its rows tell what it held, up to the last chunk with any. */
static bool rebuild_tag(Commit *commit, bool *found, Err *err)
{
    const ChunkState *state = commit->context->state;
    int64_t           first = commit->wave->chunks[0].index, last;
    ChunkCount       *counts;
    size_t            count;
    TagChunk         *chunks;
    Lsn               stamp;

    *found = false;
    if (!bronze_count_chunks(commit->bronze, state->open->at.lsn, first, commit->arena, &counts,
                             &count, err))
        return false;
    if (count == 0) return true;
    last = counts[count - 1].chunk;
    if (last >= (int64_t)state->plan.chunk_count)
        return err_set(err, ERR_DAMAGED,
                       "%.*s holds rows of chunk %lld of snapshot %s, and its plan has %zu chunks: "
                       "restore the plans and facts tables, or take a new snapshot",
                       STR_ARG(commit->context->options->bronze.label), (long long)last,
                       lsn_format(state->open->at.lsn).text, state->plan.chunk_count);
    stamp  = counts[0].stamp;
    chunks = ARENA_ARRAY(commit->arena, TagChunk, (size_t)(last - first) + 1);
    for (size_t i = 1; i < count; i++)
        stamp = lsn_min(stamp, counts[i].stamp);
    for (int64_t i = first; i <= last; i++) {
        TagChunk *chunk = &chunks[i - first];

        *chunk = (TagChunk){.chunk        = i,
                            .rows         = OPT_I64(rows_of(counts, count, i)),
                            .high_lsn     = OPT_LSN(stamp),
                            .read_seconds = NAN,
                            .read_mb      = NAN};
        find_bounds(commit, i, chunk);
    }
    commit->tag = (WaveTag){.key         = commit->context->key,
                            .wave        = commit->wave->number,
                            .stamp       = stamp,
                            .chunks      = chunks,
                            .chunk_count = (size_t)(last - first) + 1};
    *found      = true;
    return true;
}

/* What the wave holds when an earlier attempt wrote it; `is_in` false: none did. */
static bool find_earlier(Commit *commit, bool *is_in, Err *err)
{
    WaveTag tag;
    bool    has_tag, found = true;

    if (!bronze_find_wave(commit->bronze, commit->context->key, commit->wave->number, commit->arena,
                          is_in, &has_tag, &tag, err))
        return false;
    if (!*is_in) return true;
    if (has_tag)
        commit->tag = tag;
    else if (!rebuild_tag(commit, &found, err))
        return false;
    if (!found)
        return err_set(
            err, ERR_DAMAGED,
            "%.*s records wave %lld of snapshot %s (transaction %.*s), but neither its "
            "history nor its rows show it: restore the table, or take a new snapshot",
            STR_ARG(commit->context->options->bronze.label), (long long)commit->wave->number,
            lsn_format(commit->context->state->open->at.lsn).text, STR_ARG(commit->context->key));
    return fill_counts(commit, err);
}

/* --- the three writes --- */

static bool append_rows(Commit *commit, Err *err)
{
    Wave        *wave = commit->wave;
    DeltaOutcome outcome;
    bool         is_in;

    commit->tag = wave_tag(commit->context, wave,
                           new_attempt(commit->context->env->rng, commit->arena), commit->arena);
    if (wave->rows > 0) {
        if (!bronze_append_wave(commit->bronze, wave->writer, wave->adds, wave->add_count,
                                &commit->tag, &outcome, err))
            return false;
        if (outcome == DELTA_WRITTEN) return true;
        return find_earlier(commit, &is_in, err);
    }
    if (!find_earlier(commit, &is_in, err)) return false;
    return is_in || !wave->is_known ||
           err_set(err, ERR_INTERNAL, "wave %lld was in bronze, and is no longer",
                   (long long)wave->number);
}

static ChunkPayload payload_of(const Commit *commit, const TagChunk *chunk)
{
    return (ChunkPayload){.snapshot   = OPT_LSN(commit->context->state->open->at.lsn),
                          .wave       = commit->wave->number,
                          .chunk      = chunk->chunk,
                          .has_bounds = true,
                          .bounds     = chunk->bounds,
                          .is_last    = chunk->is_last};
}

static Str record_key(const Commit *commit)
{
    return str_printf(commit->arena, "%.*s#snapchunks.%s",
                      STR_ARG(commit->context->options->app_id),
                      lsn_format(commit->context->state->open->at.lsn).text);
}

/* Which of the wave's chunks are among a snapshot's; its other waves have many more. */
static const bool *find_announced(const Commit *commit, const Str *details, size_t count)
{
    const WaveTag *tag   = &commit->tag;
    bool          *found = ARENA_ARRAY(commit->arena, bool, tag->chunk_count + 1);

    for (size_t i = 0; i < count; i++) {
        ChunkPayload detail;

        if (!payload_parse_chunk(details[i], commit->arena, &detail) ||
            detail.wave != commit->wave->number)
            continue;
        for (size_t c = 0; c < tag->chunk_count; c++)
            found[c] = found[c] || tag->chunks[c].chunk == detail.chunk;
    }
    return found;
}

static bool append_plans(const Commit *commit, Str key, const Str *details, size_t count,
                         DeltaOutcome *out, Err *err)
{
    return plans_append_once(commit->context->plans, key, commit->wave->number,
                             commit->context->state->open->at.lsn, STR(EVENT_SNAPSHOT_CHUNK),
                             details, count, out, err);
}

/* The wave was announced before, by an attempt that died or by another call. Rows that it has in bronze by now
 * count; and of what is recorded, no chunk may lack its bounds. */
static bool follow_announced(Commit *commit, Err *err)
{
    Arena       *arena = commit->arena;
    Str         *known, *missing;
    size_t       known_count, missing_count = 0;
    const bool  *is_announced;
    DeltaOutcome outcome;
    bool         is_in;

    if (commit->wave->rows == 0 && !find_earlier(commit, &is_in, err)) return false;
    if (!plans_find_details(commit->context->plans, commit->context->state->open->at.lsn,
                            STR(EVENT_SNAPSHOT_CHUNK), arena, &known, &known_count, err))
        return false;
    is_announced = find_announced(commit, known, known_count);
    missing      = ARENA_ARRAY(arena, Str, commit->tag.chunk_count + 1);
    for (size_t i = 0; i < commit->tag.chunk_count; i++) {
        ChunkPayload payload = payload_of(commit, &commit->tag.chunks[i]);

        if (!is_announced[i]) missing[missing_count++] = payload_chunk(arena, &payload, true);
    }
    return missing_count == 0 ||
           append_plans(commit, STR_EMPTY, missing, missing_count, &outcome, err);
}

static bool write_plans(Commit *commit, Err *err)
{
    const WaveTag *tag     = &commit->tag;
    Str           *details = ARENA_ARRAY(commit->arena, Str, tag->chunk_count + 1);
    DeltaOutcome   outcome;

    if (!commit->context->plans || commit->context->state->is_in_facts) return true;
    for (size_t i = 0; i < tag->chunk_count; i++) {
        ChunkPayload payload = payload_of(commit, &tag->chunks[i]);
        details[i]           = payload_chunk(commit->arena, &payload, true);
    }
    return append_plans(commit, record_key(commit), details, tag->chunk_count, &outcome, err) &&
           (outcome == DELTA_WRITTEN || follow_announced(commit, err));
}

static bool time_of(const Commit *commit, Lsn lsn, OptTime *out, Err *err)
{
    const Wave *wave = commit->wave;

    *out = wave->stamp.commit_ts;
    if (lsn_equal(lsn, wave->stamp.lsn)) return true;
    *out = wave->high.commit_ts;
    if (lsn_equal(lsn, wave->high.lsn)) return true;
    Mssql *times;

    return commit->context->open_times(commit->context->open_times_arg, &times, err) &&
           mssql_commit_time(times, lsn, out, err);
}

static OptDouble known(double value)
{
    return isnan(value) ? (OptDouble){.is_set = false} : OPT_DOUBLE(value);
}

static bool write_facts(const Commit *commit, int64_t duration_ms, DeltaOutcome *out, Err *err)
{
    const WaveContext  *context = commit->context;
    const SnapshotOpen *open    = context->state->open;
    const WaveTag      *tag     = &commit->tag;
    FactsRow           *rows    = ARENA_ARRAY(commit->arena, FactsRow, tag->chunk_count + 1);
    OptTime             stamp_ts, high_ts;

    if (!time_of(commit, tag->stamp, &stamp_ts, err)) return false;
    for (size_t i = 0; i < tag->chunk_count; i++) {
        const TagChunk *chunk   = &tag->chunks[i];
        ChunkPayload    payload = payload_of(commit, chunk);

        if (!time_of(commit, chunk->high_lsn.lsn, &high_ts, err)) return false;

        rows[i] = (FactsRow){
            .app_id        = open->sink_id,
            .event         = STR(EVENT_SNAPSHOT_CHUNK),
            .target        = context->options->bronze.label,
            .rows          = chunk->rows,
            .deletes       = OPT_I64(0),
            .inserts       = OPT_I64(0),
            .updates       = OPT_I64(0),
            .min_lsn       = OPT_LSN(tag->stamp),
            .max_lsn       = chunk->high_lsn,
            .min_commit_ts = stamp_ts,
            .max_commit_ts = high_ts,
            .started_at    = OPT_TIME(commit->wave->started_us),
            .duration_ms   = OPT_I64(duration_ms),
            .read_seconds  = known(chunk->read_seconds),
            .read_mb       = known(chunk->read_mb),
            .detail        = payload_chunk(commit->arena, &payload, context->state->is_in_facts),
        };
    }
    return facts_append_once(context->facts, record_key(commit), commit->wave->number, rows,
                             tag->chunk_count, out, err);
}

/* Another call recorded the wave first: what its rows say is what the wave holds. */
static bool read_record(const Commit *commit, WaveRecord *out, Err *err)
{
    const WaveContext *context = commit->context;
    FactsRow          *rows;
    size_t             count;

    if (!facts_find_chunks(context->facts, context->options->bronze.label, context->options->app_id,
                           context->state->open->at.lsn, commit->arena, &rows, &count, err))
        return false;
    *out = (WaveRecord){.wave = commit->wave->number, .last_chunk = -1};
    for (size_t i = 0; i < count; i++) {
        ChunkPayload chunk;

        if (!str_equal_c(rows[i].event, EVENT_SNAPSHOT_CHUNK) ||
            !payload_parse_chunk(rows[i].detail, commit->arena, &chunk) ||
            chunk.wave != commit->wave->number)
            continue;
        out->chunks++;
        out->rows += rows[i].rows.is_set ? rows[i].rows.value : 0;
        out->stamp      = lsn_max(out->stamp, rows[i].min_lsn.lsn);
        out->is_last    = out->is_last || chunk.is_last;
        out->last_chunk = MAX(out->last_chunk, chunk.chunk);
    }
    return out->chunks > 0 ||
           err_set(
               err, ERR_DAMAGED,
               "the facts record wave %lld of snapshot %s of %.*s, but hold no row of it: restore "
               "the facts, or take a new snapshot",
               (long long)commit->wave->number, lsn_format(context->state->open->at.lsn).text,
               STR_ARG(context->options->bronze.label));
}

static WaveRecord record_of_tag(const WaveTag *tag)
{
    WaveRecord record = {
        .wave = tag->wave, .chunks = (int64_t)tag->chunk_count, .stamp = tag->stamp};

    for (size_t i = 0; i < tag->chunk_count; i++) {
        record.rows += tag->chunks[i].rows.is_set ? tag->chunks[i].rows.value : 0;
        record.last_chunk = tag->chunks[i].chunk;
        record.is_last    = record.is_last || tag->chunks[i].is_last;
    }
    return record;
}

/* What the reading task had no time for. */
static bool seal(const WaveContext *context, Wave *wave, Err *err)
{
    Mssql *times;

    if (wave->is_known) return true;
    return wave_finish_read(wave, err) && wave_seal(context, wave, err) &&
           (wave->has_high || (context->open_times(context->open_times_arg, &times, err) &&
                               wave_find_high(times, wave, err)));
}

bool wave_commit(const WaveContext *context, Bronze *bronze, Wave *wave, WaveRecord *out, Err *err)
{
    Commit commit = {.context = context, .bronze = bronze, .wave = wave, .arena = wave->arena};
    DeltaOutcome outcome = DELTA_SKIPPED;
    int64_t      duration_ms;
    bool         ok = seal(context, wave, err) && append_rows(&commit, err);

    duration_ms = (clock_utc_us(context->env->clock) - wave->started_us - wave->idle_us + 500) /
                  1000;
    ok = ok && write_plans(&commit, err) && write_facts(&commit, duration_ms, &outcome, err);
    if (ok && outcome == DELTA_SKIPPED)
        ok = read_record(&commit, out, err);
    else if (ok)
        *out = record_of_tag(&commit.tag);
    return ok || err_context(err, "wave %lld", (long long)wave->number);
}
