/* chunk_state.c - facts rows and plans rows of one snapshot put together. */
#include "engine/chunk_state.h"

#include "base/list.h"

#include <stdlib.h>

typedef struct Reading {
    Plans          *plans;
    const TableRef *plans_ref;
    Lsn             snapshot;
    Arena          *arena;
} Reading;

static bool complete(const Reading *reading, const FactsRow *row, Str *out, Err *err)
{
    return plans_complete_detail(reading->plans, reading->plans_ref, row, reading->snapshot,
                                 reading->arena, out, err);
}

static bool read_open(const Reading *reading, ChunkState *state, Err *err)
{
    FactsRow row = {.event = STR(EVENT_SNAPSHOT_OPEN), .detail = state->open->detail};
    Str      detail;

    state->is_in_facts = state->open->chunked.has_bounds;
    if (!complete(reading, &row, &detail, err)) return false;
    if (!payload_parse_chunked_open(detail, reading->arena, &state->opened) ||
        !state->opened.has_bounds)
        return err_set(err, ERR_DAMAGED, "the open row of snapshot %s cannot be read",
                       lsn_format(reading->snapshot).text);
    return true;
}

static bool read_plan(const Reading *reading, const FactsRow *row, ChunkState *state, Err *err)
{
    Str detail;

    if (!complete(reading, row, &detail, err)) return false;
    state->is_planned = payload_parse_chunk_plan(detail, reading->arena, &state->plan) &&
                        state->plan.has_bounds;
    return state->is_planned || err_set(err, ERR_DAMAGED, "the plan of snapshot %s cannot be read",
                                        lsn_format(reading->snapshot).text);
}

static int compare_chunks(const void *left, const void *right)
{
    const RecordedChunk *a = left, *b = right;

    if (a->chunk != b->chunk) return a->chunk < b->chunk ? -1 : 1;
    return (a->wave > b->wave) - (a->wave < b->wave);
}

static bool read_chunk(const Reading *reading, const FactsRow *row, RecordedChunk *out,
                       bool *is_ours, Err *err)
{
    ChunkPayload chunk;

    if (!payload_parse_chunk(row->detail, reading->arena, &chunk))
        return err_set(err, ERR_DAMAGED, "a chunk's row of snapshot %s cannot be read",
                       lsn_format(reading->snapshot).text);
    *is_ours = chunk.snapshot.is_set && lsn_equal(chunk.snapshot.lsn, reading->snapshot);
    *out     = (RecordedChunk){.chunk       = chunk.chunk,
                               .wave        = chunk.wave,
                               .is_last     = chunk.is_last,
                               .rows        = row->rows,
                               .duration_ms = row->duration_ms,
                               .stamp       = row->min_lsn.lsn};
    return true;
}

bool chunk_state_read(Facts *facts, Plans *plans, const TableRef *plans_ref, Str target, Str app_id,
                      const SnapshotOpen *open, Arena *arena, ChunkState *out, Err *err)
{
    Reading reading            = {plans, plans_ref, open->at.lsn, arena};
    LIST(RecordedChunk) chunks = {0};
    FactsRow *rows;
    size_t    count, kept = 0;

    *out = (ChunkState){.open = open};
    if (!facts_find_chunks(facts, target, app_id, open->at.lsn, arena, &rows, &count, err))
        return false;
    if (!read_open(&reading, out, err)) return false;
    for (size_t i = 0; i < count; i++) {
        RecordedChunk chunk;
        bool          is_ours = false;

        if (str_equal_c(rows[i].event, EVENT_SNAPSHOT_PLAN)) {
            if (!out->is_planned && !read_plan(&reading, &rows[i], out, err)) return false;
            continue;
        }
        if (!read_chunk(&reading, &rows[i], &chunk, &is_ours, err)) return false;
        if (is_ours) *LIST_PUSH(arena, &chunks) = chunk;
    }
    if (chunks.count) qsort(chunks.items, chunks.count, sizeof(RecordedChunk), compare_chunks);
    for (size_t i = 0; i < chunks.count; i++) /* two attempts of a wave may have recorded one */
        if (kept == 0 || chunks.items[kept - 1].chunk != chunks.items[i].chunk)
            chunks.items[kept++] = chunks.items[i];
    out->recorded       = chunks.items;
    out->recorded_count = kept;
    return true;
}

const RecordedChunk *chunk_state_last(const ChunkState *state)
{
    return state->recorded_count ? &state->recorded[state->recorded_count - 1] : NULL;
}
