/* Any bytes as the JSON texts of our tables and of the peer library's event files: what is accepted
 * holds what it must, and what we would write of it is read the same. */
#include "state/event_files.h"
#include "state/payload.h"
#include "state/payload_chunks.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_event(Str text, Arena *arena)
{
    FactsRow row;

    if (!event_file_parse(text, arena, &row)) return;
    assert(row.event.len > 0 && row.max_lsn.is_set && row.rows.is_set);
    assert(lsn_equal(row.max_lsn.lsn, row.end_lsn.lsn));
    assert(utf8_is_valid(row.detail));
    if (!str_equal_c(row.event, EVENT_DATA_SKIPPED)) assert(event_is_same(&row, &row));
}

static void try_batch(Str text, Arena *arena)
{
    BatchCounts counts, again;

    if (!payload_parse_batch(text, STR("shop"), 7, &counts)) return;
    Str  written = payload_batch(arena, &counts, 7, STR("shop"));
    bool is_read = payload_parse_batch(written, STR("shop"), 7, &again);
    assert(is_read);
    assert(str_equal(written, payload_batch(arena, &again, 7, STR("shop"))));
}

static void try_details(Str text, Arena *arena)
{
    ChunkedOpen              chunked;
    ChunkPlanPayload         plan;
    ChunkPayload             chunk;
    WaveTag                  tag;
    static const char *const events[] = {"snapshot_open", "snapshot_plan", "snapshot_chunk", ""};
    OpenDetail               open;

    if (!payload_parse_open(text, &open)) assert(!open.is_full);
    (void)payload_parse_chunked_open(text, arena, &chunked);
    (void)payload_parse_chunk_plan(text, arena, &plan);
    (void)payload_parse_chunk(text, arena, &chunk);
    (void)payload_parse_wave_tag(text, arena, &tag);
    for (size_t i = 0; i < COUNT_OF(events); i++)
        (void)payload_has_key_values(str_from_c(events[i]), text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_new();
    Str    text  = {(const char *)data, size};

    try_event(text, arena);
    try_batch(text, arena);
    try_details(text, arena);
    arena_close(arena);
    return 0;
}
