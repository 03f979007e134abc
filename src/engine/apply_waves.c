/* apply_waves.c - waves of an open chunked snapshot. */
#include "engine/apply_waves.h"

#include "base/buf.h"
#include "delta/json_text.h"
#include "engine/chunk_state.h"

#include <stdlib.h>

#define RANGES_COMPARED_MOST 64 /* with the statistics of a file, one by one */

/* --- which chunks are new --- */

/* The newest wave applied before this call, -1 for none; all count anew in a rebuild, and for another snapshot. */
static int64_t applied_before(const Apply *apply)
{
    const ControlRow *row = &apply->silver_row;

    if (apply->plan.rebuild || !row->open_snapshot_lsn.is_set || !row->snapshot_wave.is_set ||
        !lsn_equal(row->open_snapshot_lsn.lsn, apply->waves.snapshot))
        return -1;
    return row->snapshot_wave.value;
}

void apply_choose_waves(Apply *apply)
{
    ApplyWaves *waves = &apply->waves;
    int64_t     after = applied_before(apply), newest = after, last_counted = -1;
    size_t      kept = 0;

    if (apply->plan.snapshot.is_set && lsn_compare(waves->snapshot, apply->plan.snapshot.lsn) <= 0)
        *waves = (ApplyWaves){.is_open = false};
    if (!waves->is_open) return;
    for (size_t i = 0; i < waves->chunk_count; i++) {
        const WaveChunkRow *chunk = &waves->chunks[i];

        if (chunk->wave <= after) continue;
        if (kept == 0 || lsn_compare(chunk->stamp, waves->oldest_stamp) < 0)
            waves->oldest_stamp = chunk->stamp;
        newest = MAX(newest, chunk->wave);
        apply->result->waves_applied += chunk->wave != last_counted; /* they come in order */
        last_counted          = chunk->wave;
        waves->chunks[kept++] = *chunk;
    }
    waves->chunk_count = kept;
    waves->newest_wave = newest < 0 ? (OptI64){0} : OPT_I64(newest);
}

static TableRef plans_ref(const Apply *apply)
{
    return apply->options->plans.path.len
               ? apply->options->plans
               : plans_ref_of_bronze(apply->arena, &apply->options->bronze);
}

/* What is recorded while this reads is seen by the next call: the facts come first. */
static bool find_rows(Apply *apply, const FactsRow *open, bool with_bounds, Plans **plans_out,
                      ChunkRows *out, Err *err)
{
    TableRef   ref   = plans_ref(apply);
    ChunkQuery query = {.facts       = apply->facts,
                        .plans_ref   = &ref,
                        .target      = apply->options->bronze.label,
                        .snapshot    = open->max_lsn.lsn,
                        .open_detail = open->detail,
                        .with_bounds = with_bounds};
    FactsRow  *rows;
    size_t     count;

    if (!chunk_rows_find(&query, apply->arena, &rows, &count, err) ||
        !plans_open_if_exists(apply->env->delta, &ref, plans_out, err))
        return false;
    query.plans = *plans_out;
    return chunk_rows_complete(&query, rows, count, apply->arena, out, err);
}

bool apply_read_waves(Apply *apply, const FactsRow *open, Err *err)
{
    Plans        *plans  = NULL;
    ChunkRows     found  = {.count = 0};
    bool          ok     = find_rows(apply, open, true, &plans, &found, err);
    WaveChunkRow *chunks = ARENA_ARRAY(apply->arena, WaveChunkRow, found.count + 1);

    plans_close(plans);
    for (size_t i = 0; i < found.count; i++)
        chunks[i] = (WaveChunkRow){.chunk  = found.chunks[i].chunk,
                                   .wave   = found.chunks[i].wave,
                                   .bounds = found.chunks[i].bounds,
                                   .stamp  = found.chunks[i].stamp};
    apply->waves = (ApplyWaves){.is_open     = true,
                                .snapshot    = open->max_lsn.lsn,
                                .keys        = found.opened.keys,
                                .key_count   = found.opened.key_count,
                                .chunks      = chunks,
                                .chunk_count = found.count};
    return ok;
}

/* --- rows that move while chunks are read --- */

#define CLOCKS_APART_MOST_US \
    INT64_C(60000000) /* the source's and that of whoever completed the snapshot */

/* Whether an update may take a row from one chunk into another and leave silver's key as it was. Between the reads of
 * the two, no chunk has the row. False where the plans are gone, and with them what it was cut on. */
static bool can_rows_move(Apply *apply, const FactsRow *open, bool *out, Err *err)
{
    const ApplyOptions *options = apply->options;
    TableRef            ref     = plans_ref(apply);
    ChunkedOpen         opened;
    ChunkRows           found = {.count = 0};
    Plans              *plans = NULL;
    bool                exists;

    *out = false;
    if (!delta_table_exists(apply->env->delta, ref.path, &exists, NULL, err)) return false;
    if (!exists &&
        !(payload_parse_chunked_open(open->detail, apply->arena, &opened) && opened.has_bounds))
        return true;
    bool ok = find_rows(apply, open, false, &plans, &found, err);
    plans_close(plans);
    for (size_t i = 0; ok && found.count > 1 && i < found.opened.key_count; i++) {
        bool is_of_key = false;

        for (size_t k = 0; k < options->key_count; k++)
            is_of_key = is_of_key ||
                        str_equal_ignoring_case(found.opened.keys[i], options->keys[k]);
        *out = *out || !is_of_key;
    }
    return ok;
}

bool apply_hold_moving_rows(Apply *apply, Announced *announced, Err *err)
{
    const ControlRow *row = &apply->silver_row;
    bool              can_move, has_passed;

    if (!announced->done || (row->snapshot_lsn.is_set &&
                             lsn_compare(row->snapshot_lsn.lsn, announced->completed.lsn) >= 0))
        return true;
    if (!can_rows_move(apply, announced->done, &can_move, err)) return false;
    if (!can_move) return true;
    if (!facts_has_read_to(apply->facts, apply->options->bronze.label,
                           announced->done_at.utc_us + CLOCKS_APART_MOST_US, &has_passed, err))
        return false;
    if (has_passed) return true;
    log_info(apply->env->log, "apply",
             "the snapshot is complete; silver and its verdict wait for the stream to pass the "
             "time of its last chunk: an update may have moved a row from chunk to chunk",
             LOG_STR("silver", apply->options->silver.label),
             LOG_TEXT("snapshot", lsn_format(announced->completed.lsn).text));
    announced_reopen(announced);
    return true;
}

/* --- ends of ranges --- */

/* "2026-01-03T00:00:00.1234567" as microseconds; `finer`: digits below them that are not zero. */
static bool parse_timestamp(Str text, int64_t *us_out, bool *finer)
{
    ptrdiff_t dot = str_find_char(text, '.', 0);

    *finer = false;
    for (size_t i = dot < 0 ? text.len : (size_t)dot + 7; i < text.len; i++)
        *finer = *finer || text.ptr[i] != '0';
    return time_parse(text, us_out);
}

static RangeEnd timestamp_end(Arena *arena, Str text, bool is_lower, Str *literal_out)
{
    int64_t us;
    bool    finer;

    if (!parse_timestamp(text, &us, &finer)) return RANGE_NOTHING;
    if (is_lower && finer) {
        us++; /* keys of the bound's own microsecond may stand on either side of it */
        if (us > civil_to_us((CivilTime){9999, 12, 31, 23, 59, 59, 999999})) return RANGE_NOTHING;
    }
    *literal_out = str_printf(arena, "TIMESTAMP '%.*s'", STR_ARG(time_format_us(arena, us)));
    return RANGE_VALUE;
}

/* Digits only get here: a JSON number without fraction, or the same as text. */
static RangeEnd integer_end(Arena *arena, Str digits, bool is_lower, Str *literal_out)
{
    int64_t value;

    if (str_parse_i64(digits, &value)) {
        *literal_out = str_printf(arena, "CAST('%lld' AS BIGINT)", (long long)value);
        return RANGE_VALUE;
    }
    return is_lower ? RANGE_NOTHING : RANGE_OPEN; /* one past the greatest key */
}

RangeEnd apply_range_end(Arena *arena, ColumnType type, Str json, bool is_lower, Str *literal_out)
{
    JsonText value;
    size_t   bad_at;
    Str      text;
    int64_t  us;

    *literal_out = STR_EMPTY;
    if (!json_text_parse(json, &value, &bad_at)) return RANGE_NOTHING;
    if (value.kind == JSON_TEXT_NULL) return RANGE_OPEN;
    text = value.kind == JSON_TEXT_STRING ? json_text_str(value, arena) : value.text;
    switch (type.kind) {
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG: return integer_end(arena, text, is_lower, literal_out);
    case TYPE_DATE:
        text = str_slice(text, 0, MIN(text.len, (size_t)10));
        if (!time_parse(str_printf(arena, "%.*sT00:00:00", STR_ARG(text)), &us))
            return RANGE_NOTHING;
        *literal_out = str_printf(arena, "DATE '%.*s'", STR_ARG(text));
        return RANGE_VALUE;
    case TYPE_TIMESTAMP_NTZ: return timestamp_end(arena, text, is_lower, literal_out);
    case TYPE_BOOLEAN:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_TIMESTAMP:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_NESTED: return RANGE_NOTHING;
    }
    return RANGE_NOTHING;
}

/* --- rows that a chunk no longer had --- */

/* Ranges speak of silver's keys only when silver has the one key the chunks were cut along. */
static bool ranges_fit(const Apply *apply, ColumnType *type_out)
{
    const ApplyOptions *options = apply->options;
    ptrdiff_t           at;

    if (options->key_count != 1 || apply->waves.key_count != 1 ||
        !str_equal_ignoring_case(options->keys[0], apply->waves.keys[0]))
        return false;
    at = schema_find(apply->sql.silver, options->keys[0]);
    if (at < 0) return false;
    *type_out = apply->sql.silver->columns[at].type;
    switch (type_out->kind) {
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
    case TYPE_DATE:
    case TYPE_TIMESTAMP_NTZ: return true;
    case TYPE_BOOLEAN:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_TIMESTAMP:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_NESTED: return false;
    }
    return false;
}

/* A chunk's ends as SQL. */
typedef struct KeyRange {
    int64_t  chunk;
    RangeEnd from, to;
    Str      lo, hi;
    Lsn      stamp;
} KeyRange;

static int compare_ranges(const void *left, const void *right)
{
    const KeyRange *a = left, *b = right;

    return (a->chunk > b->chunk) - (a->chunk < b->chunk);
}

/* The ranges of the new chunks that say something, in the order of the key, which is that of the plan. */
static KeyRange *make_ranges(const Apply *apply, ColumnType type, size_t *count_out)
{
    const ApplyWaves *waves  = &apply->waves;
    KeyRange         *ranges = ARENA_ARRAY(apply->arena, KeyRange, waves->chunk_count + 1);
    size_t            kept   = 0;

    *count_out = 0;
    for (size_t i = 0; i < waves->chunk_count; i++) {
        const WaveChunkRow *chunk = &waves->chunks[i];
        KeyRange            range = {.chunk = chunk->chunk, .stamp = chunk->stamp};

        range.from = apply_range_end(apply->arena, type, chunk->bounds.lo, true, &range.lo);
        range.to   = apply_range_end(apply->arena, type, chunk->bounds.hi, false, &range.hi);
        if (range.from != RANGE_NOTHING && range.to != RANGE_NOTHING)
            ranges[(*count_out)++] = range;
    }
    if (*count_out) qsort(ranges, *count_out, sizeof(KeyRange), compare_ranges);
    for (size_t i = 0; i < *count_out; i++) {
        if (kept > 0 && ranges[kept - 1].chunk == ranges[i].chunk) {
            ranges[kept - 1].stamp = lsn_max(ranges[kept - 1].stamp, ranges[i].stamp);
            continue; /* recorded by two attempts */
        }
        if (kept == 0 || ranges[i].from == RANGE_VALUE) ranges[kept++] = ranges[i];
    }
    *count_out = kept;
    return ranges;
}

/* The stamp of the range that holds a key, NULL: none does. "k >= lo AND k < hi"; a NULL key is in no range but one
 * that is open on both sides. */
static void append_leaf(Buf *buf, Str key, const KeyRange *range)
{
    buf_append_c(buf, "CASE WHEN true");
    if (range->from == RANGE_VALUE)
        buf_printf(buf, " AND t.%.*s >= %.*s", STR_ARG(key), STR_ARG(range->lo));
    if (range->to == RANGE_VALUE)
        buf_printf(buf, " AND t.%.*s < %.*s", STR_ARG(key), STR_ARG(range->hi));
    buf_printf(buf, " THEN '%s' END", lsn_format(range->stamp).text);
}

/* Of many ranges, halves: a key meets few of them, however many there are. All but the first have a lower end. */
static void append_stamp_of_key(Buf *buf, Str key, const KeyRange *ranges, size_t count)
{
    size_t middle = count / 2;

    if (count == 1) {
        append_leaf(buf, key, ranges);
        return;
    }
    buf_printf(buf, "CASE WHEN t.%.*s < %.*s THEN ", STR_ARG(key), STR_ARG(ranges[middle].lo));
    append_stamp_of_key(buf, key, ranges, middle);
    buf_append_c(buf, " ELSE ");
    append_stamp_of_key(buf, key, &ranges[middle], count - middle);
    buf_append_c(buf, " END");
}

/* What statistics are compared with: the literal without SQL around it. NULL: open. */
static const Str *plain_text(RangeEnd end, Str literal, Str *out)
{
    if (end != RANGE_VALUE) return NULL;
    *out = str_slice(literal, (size_t)str_find_char(literal, '\'', 0) + 1, literal.len);
    *out = str_slice(*out, 0, (size_t)str_find_char(*out, '\'', 0));
    return out;
}

static bool may_hold_key(const Apply *apply, const DeltaFile *file, const KeyRange *first,
                         const KeyRange *last)
{
    Str lo, hi;

    return delta_file_may_hold_range(apply->silver, file, apply->options->keys[0],
                                     plain_text(first->from, first->lo, &lo), true,
                                     plain_text(last->to, last->hi, &hi), false);
}

/* Files of silver with a key in any of the ranges, by statistics; of many ranges, with a key between the ends of all. */
static size_t files_in_ranges(const Apply *apply, const KeyRange *ranges, size_t count,
                              const DeltaFile ***out)
{
    const DeltaFile **files = ARENA_ARRAY(apply->arena, const DeltaFile *,
                                          delta_table_get_file_count(apply->silver) + 1);
    const DeltaFile  *file;
    size_t            file_count = 0;

    for (size_t at = 0; count > 0 && delta_table_next_file(apply->silver, &at, &file);) {
        size_t i = 0;

        if (!may_hold_key(apply, file, &ranges[0], &ranges[count - 1])) continue;
        while (count <= RANGES_COMPARED_MOST && i < count &&
               !may_hold_key(apply, file, &ranges[i], &ranges[i]))
            i++;
        if (i < count) files[file_count++] = file;
    }
    *out = files;
    return file_count;
}

static bool make_stale(Apply *apply, Str select, Err *err)
{
    return duck_execute(
        apply->session,
        str_printf(apply->arena, "CREATE OR REPLACE TEMP TABLE stale AS %.*s", STR_ARG(select)),
        NULL, err);
}

bool apply_find_stale(Apply *apply, Err *err)
{
    Arena            *arena  = apply->arena;
    Str               key    = duck_quote_identifier(arena, apply->options->keys[0]);
    Buf               stamps = buf_new(arena, 0);
    ColumnType        type;
    KeyRange         *ranges;
    const DeltaFile **files;
    size_t            count = 0, file_count = 0;
    Str               scan;

    if (!apply->waves.is_open || apply->waves.chunk_count == 0) return true;
    if (ranges_fit(apply, &type)) {
        ranges     = make_ranges(apply, type, &count);
        file_count = files_in_ranges(apply, ranges, count, &files);
    }
    if (file_count == 0 || count == 0)
        return make_stale(apply, STR("SELECT NULL AS k, NULL AS lsn WHERE false"), err);
    if (!delta_scan_sql(apply->silver, files, file_count, NULL, false, arena, &scan, err))
        return false;
    append_stamp_of_key(&stamps, key, ranges, count);
    return make_stale(
        apply,
        str_printf(arena,
                   "SELECT r.k, r.lsn FROM (SELECT t.%.*s AS k, t._start_lsn AS own, %.*s AS lsn "
                   "FROM (%.*s) AS t) AS r WHERE r.lsn IS NOT NULL AND r.own < r.lsn AND "
                   "NOT EXISTS (SELECT 1 FROM (%.*s) AS c WHERE c.%.*s IS NOT DISTINCT FROM r.k)",
                   STR_ARG(key), STR_ARG(buf_str(&stamps)), STR_ARG(scan),
                   STR_ARG(apply->chunk_rows), STR_ARG(key)),
        err);
}
