/* chunk_state.c - facts rows and plans rows of one snapshot put together. */
#include "engine/chunk_state.h"

#include <stdlib.h>

#define WAY_OUT \
    ": restore the facts and the plans table %.*s from copies of one time, or take a new snapshot"

static bool fail_unreadable(const ChunkQuery *query, const char *what, Err *err)
{
    return err_set(err, ERR_DAMAGED, "%.*s: %s of snapshot %s cannot be read" WAY_OUT,
                   STR_ARG(query->target), what, lsn_format(query->snapshot).text,
                   STR_ARG(query->plans_ref->label));
}

static bool fail_lacking(const ChunkQuery *query, int64_t chunk, const char *what, Err *err)
{
    return err_set(err, ERR_DAMAGED, "%.*s: chunk %lld of snapshot %s has no %s" WAY_OUT,
                   STR_ARG(query->target), (long long)chunk, lsn_format(query->snapshot).text, what,
                   STR_ARG(query->plans_ref->label));
}

static bool complete_one(const ChunkQuery *query, const FactsRow *row, Arena *arena, Str *out,
                         Err *err)
{
    return plans_complete_detail(query->plans, query->plans_ref, row, query->snapshot, arena, out,
                                 err);
}

static bool read_open(const ChunkQuery *query, Arena *arena, ChunkRows *out, Err *err)
{
    FactsRow row = {.event = STR(EVENT_SNAPSHOT_OPEN), .detail = query->open_detail};
    Str      detail;

    if (!complete_one(query, &row, arena, &detail, err)) return false;
    return (payload_parse_chunked_open(detail, arena, &out->opened) && out->opened.has_bounds) ||
           fail_unreadable(query, "the open row", err);
}

static bool read_plan(const ChunkQuery *query, const FactsRow *row, Arena *arena, ChunkRows *out,
                      Err *err)
{
    Str detail;

    if (!complete_one(query, row, arena, &detail, err)) return false;
    out->is_planned = payload_parse_chunk_plan(detail, arena, &out->plan) && out->plan.has_bounds;
    return out->is_planned || fail_unreadable(query, "the plan", err);
}

static bool read_chunk(const ChunkQuery *query, const FactsRow *row, Arena *arena,
                       RecordedChunk *out, bool *is_ours, Err *err)
{
    ChunkPayload chunk;

    if (!payload_parse_chunk(row->detail, arena, &chunk))
        return fail_unreadable(query, "a chunk's row", err);
    *is_ours = chunk.snapshot.is_set && lsn_equal(chunk.snapshot.lsn, query->snapshot);
    *out     = (RecordedChunk){.chunk        = chunk.chunk,
                               .wave         = chunk.wave,
                               .is_last      = chunk.is_last,
                               .rows         = row->rows,
                               .duration_ms  = row->duration_ms,
                               .read_seconds = row->read_seconds,
                               .read_mb      = row->read_mb,
                               .stamp        = row->min_lsn.lsn};
    return !*is_ours || row->min_lsn.is_set || fail_lacking(query, chunk.chunk, "stamp", err);
}

/* `rows` are those of the chunks, in their order. */
static bool add_bounds(const ChunkQuery *query, const FactsRow *const *rows, RecordedChunk *chunks,
                       size_t count, Arena *arena, Err *err)
{
    Str *details = ARENA_ARRAY(arena, Str, count + 1);

    if (!plans_complete_details(query->plans, query->plans_ref, rows, count, query->snapshot, arena,
                                details, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        ChunkPayload whole;

        if (!payload_parse_chunk(details[i], arena, &whole) || !whole.has_bounds)
            return fail_lacking(query, chunks[i].chunk, "bounds", err);
        chunks[i].bounds = whole.bounds;
    }
    return true;
}

static int compare_by_wave(const void *left, const void *right)
{
    const RecordedChunk *a = left, *b = right;

    if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
    return (a->chunk > b->chunk) - (a->chunk < b->chunk);
}

bool chunk_rows_find(const ChunkQuery *query, Arena *arena, FactsRow **rows_out, size_t *count_out,
                     Err *err)
{
    return facts_find_chunks(query->facts, query->target, query->app_id, query->snapshot, arena,
                             rows_out, count_out, err);
}

bool chunk_rows_complete(const ChunkQuery *query, const FactsRow *rows, size_t count, Arena *arena,
                         ChunkRows *out, Err *err)
{
    const FactsRow **of_chunks = ARENA_ARRAY(arena, const FactsRow *, count + 1);

    *out = (ChunkRows){.chunks = ARENA_ARRAY(arena, RecordedChunk, count + 1)};
    if (!read_open(query, arena, out, err)) return false;
    for (size_t i = 0; i < count; i++) {
        bool is_ours = false;

        if (str_equal_c(rows[i].event, EVENT_SNAPSHOT_PLAN)) {
            if (query->with_plan && !out->is_planned &&
                !read_plan(query, &rows[i], arena, out, err))
                return false;
            continue;
        }
        if (!read_chunk(query, &rows[i], arena, &out->chunks[out->count], &is_ours, err))
            return false;
        if (is_ours) of_chunks[out->count++] = &rows[i];
    }
    if (query->with_bounds && !add_bounds(query, of_chunks, out->chunks, out->count, arena, err))
        return false;
    if (out->count) qsort(out->chunks, out->count, sizeof(RecordedChunk), compare_by_wave);
    return true;
}

/* --- how far it is --- */

static int compare_chunks(const void *left, const void *right)
{
    const RecordedChunk *a = left, *b = right;

    if (a->chunk != b->chunk) return a->chunk < b->chunk ? -1 : 1;
    return (a->wave > b->wave) - (a->wave < b->wave);
}

bool chunk_state_read(Facts *facts, Plans *plans, const TableRef *plans_ref, Str target, Str app_id,
                      const SnapshotOpen *open, Arena *arena, ChunkState *out, Err *err)
{
    ChunkQuery query = {.facts       = facts,
                        .plans       = plans,
                        .plans_ref   = plans_ref,
                        .target      = target,
                        .app_id      = app_id,
                        .snapshot    = open->at.lsn,
                        .open_detail = open->detail,
                        .with_plan   = true};
    FactsRow  *rows;
    size_t     count, kept = 0;
    ChunkRows  found;

    *out = (ChunkState){.open = open, .is_in_facts = open->chunked.has_bounds};
    if (!chunk_rows_find(&query, arena, &rows, &count, err) ||
        !chunk_rows_complete(&query, rows, count, arena, &found, err))
        return false;
    if (found.count) qsort(found.chunks, found.count, sizeof(RecordedChunk), compare_chunks);
    for (size_t i = 0; i < found.count; i++) /* two attempts of a wave may have recorded one */
        if (kept == 0 || found.chunks[kept - 1].chunk != found.chunks[i].chunk)
            found.chunks[kept++] = found.chunks[i];
    out->opened         = found.opened;
    out->is_planned     = found.is_planned;
    out->plan           = found.plan;
    out->recorded       = found.chunks;
    out->recorded_count = kept;
    return true;
}

const RecordedChunk *chunk_state_last(const ChunkState *state)
{
    return state->recorded_count ? &state->recorded[state->recorded_count - 1] : NULL;
}
