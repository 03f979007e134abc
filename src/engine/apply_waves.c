/* apply_waves.c - waves of an open chunked snapshot. */
#include "engine/apply_waves.h"

#include "base/buf.h"
#include "delta/json_text.h"
#include "engine/chunk_state.h"

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

/* What is recorded while this reads is seen by the next call: the facts come first. */
static bool find_rows(Apply *apply, const FactsRow *open, Plans **plans_out, ChunkRows *out,
                      Err *err)
{
    TableRef   ref   = apply->options->plans.path.len
                           ? apply->options->plans
                           : plans_ref_of_bronze(apply->arena, &apply->options->bronze);
    ChunkQuery query = {.facts       = apply->facts,
                        .plans_ref   = &ref,
                        .target      = apply->options->bronze.label,
                        .snapshot    = open->max_lsn.lsn,
                        .open_detail = open->detail,
                        .with_bounds = true};
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
    bool          ok     = find_rows(apply, open, &plans, &found, err);
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
    default: return RANGE_NOTHING;
    }
}

/* --- rows that a chunk no longer had --- */

/* Ranges speak of silver's keys only when silver has the one key the chunks were cut along. */
static bool ranges_fit(const Apply *apply, ColumnType *type_out)
{
    const ApplyOptions *options = apply->options;
    ptrdiff_t           at;

    if (options->key_count != 1 || apply->waves.key_count != 1 ||
        !str_equal(options->keys[0], apply->waves.keys[0]))
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
    default: return false;
    }
}

/* "k >= lo AND k < hi"; a NULL key is in no range but one that is open on both sides. False: none. */
static bool append_range(const Apply *apply, ColumnType type, const WaveChunkRow *chunk, Buf *buf)
{
    Arena   *arena = apply->arena;
    Str      key   = duck_quote_identifier(arena, apply->options->keys[0]);
    Str      lo, hi;
    RangeEnd from = apply_range_end(arena, type, chunk->bounds.lo, true, &lo);
    RangeEnd to   = apply_range_end(arena, type, chunk->bounds.hi, false, &hi);

    if (from == RANGE_NOTHING || to == RANGE_NOTHING) return false;
    buf_append_c(buf, "true");
    if (from == RANGE_VALUE) buf_printf(buf, " AND t.%.*s >= %.*s", STR_ARG(key), STR_ARG(lo));
    if (to == RANGE_VALUE) buf_printf(buf, " AND t.%.*s < %.*s", STR_ARG(key), STR_ARG(hi));
    return true;
}

/* Files of silver with a key in any of the new ranges, by statistics. */
static size_t files_in_ranges(const Apply *apply, const DeltaFile ***out)
{
    const DeltaFile **files = ARENA_ARRAY(apply->arena, const DeltaFile *,
                                          delta_table_get_file_count(apply->silver) + 1);
    const DeltaFile  *file;
    size_t            count = 0;

    for (size_t at = 0; delta_table_next_file(apply->silver, &at, &file);) {
        bool may = false;

        for (size_t i = 0; !may && i < apply->waves.chunk_count; i++)
            may = delta_file_may_hold_range(apply->silver, file, apply->options->keys[0],
                                            apply->waves.chunks[i].lo_text, true,
                                            apply->waves.chunks[i].hi_text, false);
        if (may) files[count++] = file;
    }
    *out = files;
    return count;
}

/* The ends as statistics are compared with; what is no plain value is left open, which is wider. */
static void fill_texts(const Apply *apply, ColumnType type)
{
    for (size_t i = 0; i < apply->waves.chunk_count; i++) {
        WaveChunkRow *chunk = &apply->waves.chunks[i];
        Str           lo, hi;

        chunk->lo_text = chunk->hi_text = NULL;
        if (apply_range_end(apply->arena, type, chunk->bounds.lo, true, &lo) == RANGE_VALUE) {
            chunk->lo      = str_slice(lo, (size_t)str_find_char(lo, '\'', 0) + 1, lo.len);
            chunk->lo      = str_slice(chunk->lo, 0, (size_t)str_find_char(chunk->lo, '\'', 0));
            chunk->lo_text = &chunk->lo;
        }
        if (apply_range_end(apply->arena, type, chunk->bounds.hi, false, &hi) == RANGE_VALUE) {
            chunk->hi      = str_slice(hi, (size_t)str_find_char(hi, '\'', 0) + 1, hi.len);
            chunk->hi      = str_slice(chunk->hi, 0, (size_t)str_find_char(chunk->hi, '\'', 0));
            chunk->hi_text = &chunk->hi;
        }
    }
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
    Buf               ranges = buf_new(arena, 0);
    ColumnType        type;
    const DeltaFile **files;
    size_t            count;
    Str               scan;

    if (!apply->waves.is_open || apply->waves.chunk_count == 0) return true;
    if (!ranges_fit(apply, &type))
        return make_stale(apply, STR("SELECT NULL AS k, NULL AS lsn WHERE false"), err);
    fill_texts(apply, type);
    count = files_in_ranges(apply, &files);
    if (!delta_scan_sql(apply->silver, files, count, NULL, false, arena, &scan, err)) return false;
    for (size_t i = 0; i < apply->waves.chunk_count; i++) {
        const WaveChunkRow *chunk = &apply->waves.chunks[i];
        Buf                 range = buf_new(arena, 0);

        if (!append_range(apply, type, chunk, &range)) continue;
        buf_printf(&ranges, "%sWHEN %.*s THEN '%s'", ranges.len ? " " : "",
                   STR_ARG(buf_str(&range)), lsn_format(chunk->stamp).text);
    }
    if (ranges.len == 0)
        return make_stale(apply, STR("SELECT NULL AS k, NULL AS lsn WHERE false"), err);
    /* ranges are disjoint, so the first that holds a key is the only one */
    return make_stale(
        apply,
        str_printf(arena,
                   "SELECT r.k, r.lsn FROM (SELECT t.%.*s AS k, t._start_lsn AS own, CASE %.*s END "
                   "AS lsn FROM (%.*s) AS t) AS r WHERE r.lsn IS NOT NULL AND r.own < r.lsn AND "
                   "NOT EXISTS (SELECT 1 FROM (%.*s) AS c WHERE c.%.*s IS NOT DISTINCT FROM r.k)",
                   STR_ARG(key), STR_ARG(buf_str(&ranges)), STR_ARG(scan),
                   STR_ARG(apply->chunk_rows), STR_ARG(key)),
        err);
}
