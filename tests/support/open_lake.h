/* open_lake.h - a chunked snapshot put down by hand: its open, its chunks with their rows, its completion, in facts and
 * plans of either shape. Include test_support.h first.
 *
 * A chunk is put down in the order of a wave: bronze, plans, facts. */
#ifndef TIDELAKE_SUPPORT_OPEN_LAKE_H
#define TIDELAKE_SUPPORT_OPEN_LAKE_H

#include "state/payload_chunks.h"
#include "state/plans.h"
#include "support/apply_lake.h"

#define PLANS_PATH BRONZE_PATH "_snapshot_plans"

#define PUT(lake, ...) \
    put_rows((lake), (const BronzeRow[]){__VA_ARGS__}, COUNT_OF(((const BronzeRow[]){__VA_ARGS__})))

/* Rows of one chunk's read. */
#define PUT_CHUNK(open, number, ...)              \
    do {                                          \
        (open)->lake.snapshot = (open)->snapshot; \
        (open)->lake.chunk    = (number);         \
        PUT(&(open)->lake, __VA_ARGS__);          \
        (open)->lake.snapshot = 0;                \
    } while (0)

typedef struct OpenLake {
    ApplyLake  lake;
    unsigned   snapshot;
    bool       is_old;      /* key values stand in the facts, as before 0.7.0 */
    const Str *cut_columns; /* of the chunks; NULL: id */
    size_t     cut_column_count;
    int64_t    events;
} OpenLake;

UNUSED static OpenLake open_lake_open(Duck *duck, unsigned snapshot)
{
    return (OpenLake){.lake = apply_lake_open(duck), .snapshot = snapshot};
}

UNUSED static void open_lake_close(OpenLake *open)
{
    apply_lake_close(&open->lake);
}

/* Rows of the facts, and their whole payloads in the plans; `wholes` NULL: none. */
UNUSED static void put_announcements(OpenLake *open, FactsRow *rows, const Str *wholes,
                                     size_t count)
{
    Lake        *lake       = open->lake.lake;
    TableRef     facts_ref  = {STR("facts"), STR("lake/facts")};
    TableRef     bronze_ref = {STR(BRONZE_PATH), STR(BRONZE_PATH)};
    TableRef     plans_ref  = plans_ref_of_bronze(lake->arena, &bronze_ref);
    Str          key        = str_printf(lake->arena, "t-v1#hand.%lld", (long long)open->events++);
    Facts       *facts      = NULL;
    Plans       *plans      = NULL;
    DeltaOutcome outcome;

    for (size_t i = 0; i < count; i++) {
        rows[i].app_id = STR("t-v1");
        rows[i].target = STR(BRONZE_PATH);
    }
    if (!open->is_old && wholes) {
        assert_ok(plans_open(&lake->delta, &plans_ref, &plans, &lake->err), &lake->err);
        assert_ok(plans_append_once(plans, key, 0, lsn_number(open->snapshot), rows[0].event,
                                    wholes, count, &outcome, &lake->err),
                  &lake->err);
        plans_close(plans);
    }
    assert_ok(facts_open(&lake->delta, &facts_ref, &facts, &lake->err), &lake->err);
    assert_ok(facts_append_once(facts, key, 0, rows, count, &outcome, &lake->err), &lake->err);
    facts_close(facts);
}

UNUSED static void put_open(OpenLake *open)
{
    static const Str id[]   = {{"id", 2}};
    Arena           *arena  = open->lake.lake->arena;
    OptLsn           lsn    = OPT_LSN(lsn_number(open->snapshot));
    ChunkedOpen      detail = {.is_resnapshot = true,
                               .generation    = OPT_I64(1),
                               .has_bounds    = true,
                               .keys          = open->cut_columns ? open->cut_columns : id,
                               .key_count     = open->cut_columns ? open->cut_column_count : 1,
                               .extent        = {.max = STR("\"unused\"")}};
    FactsRow         row    = {.event   = STR(EVENT_SNAPSHOT_OPEN),
                               .min_lsn = lsn,
                               .max_lsn = lsn,
                               .detail  = payload_chunked_open(arena, &detail, open->is_old)};

    Str whole = payload_chunked_open(arena, &detail, true);
    put_announcements(open, &row, &whole, 1);
}

typedef struct HandChunk {
    int64_t     chunk;
    const char *lo, *hi; /* JSON; "null": open */
} HandChunk;

/* A wave's chunks, whose rows were put into bronze before. */
UNUSED static void put_wave(OpenLake *open, int64_t wave, unsigned stamp, const HandChunk *chunks,
                            size_t count)
{
    Arena    *arena  = open->lake.lake->arena;
    FactsRow *rows   = ARENA_ARRAY(arena, FactsRow, count);
    Str      *wholes = ARENA_ARRAY(arena, Str, count);

    for (size_t i = 0; i < count; i++) {
        ChunkPayload payload = {.snapshot   = OPT_LSN(lsn_number(open->snapshot)),
                                .wave       = wave,
                                .chunk      = chunks[i].chunk,
                                .has_bounds = true,
                                .bounds     = {str_from_c(chunks[i].lo), str_from_c(chunks[i].hi)}};
        rows[i]              = (FactsRow){.event   = STR(EVENT_SNAPSHOT_CHUNK),
                                          .rows    = OPT_I64(0),
                                          .min_lsn = OPT_LSN(lsn_number(stamp)),
                                          .max_lsn = OPT_LSN(lsn_number(stamp)),
                                          .detail  = payload_chunk(arena, &payload, open->is_old)};
        wholes[i]            = payload_chunk(arena, &payload, true);
    }
    put_announcements(open, rows, wholes, count);
}

UNUSED static void put_chunk(OpenLake *open, int64_t wave, int64_t chunk, unsigned stamp,
                             const char *lo, const char *hi)
{
    put_wave(open, wave, stamp, &(HandChunk){chunk, lo, hi}, 1);
}

UNUSED static void put_completion(OpenLake *open)
{
    OptLsn   lsn = OPT_LSN(lsn_number(open->snapshot));
    FactsRow row = {
        .event = STR(EVENT_RESNAPSHOT), .rows = OPT_I64(0), .min_lsn = lsn, .max_lsn = lsn};

    put_announcements(open, &row, NULL, 1);
}

#endif
