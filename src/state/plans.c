/* plans.c - the plans table: its columns, its place, and the payloads it completes. */
#include "state/plans.h"

#include "base/list.h"
#include "delta/json_text.h"
#include "state/payload.h"
#include "state/payload_chunks.h"

#include <stdlib.h>

#define SUFFIX "_snapshot_plans"

struct Plans {
    DeltaContext *context;
    DeltaTable   *table;
    Arena        *arena;
};

static const Column plans_columns[] = {
    {{"snapshot", 8}, {.kind = TYPE_STRING}, {"LSN of the snapshot", 19}},
    {{"event", 5},
     {.kind = TYPE_STRING},
     {"Facts row that this row completes: snapshot_open, snapshot_plan or snapshot_chunk", 81}},
    {{"detail", 6},
     {.kind = TYPE_STRING},
     {"That row's detail whole, with the key values it leaves out, as JSON", 67}},
};
static const Schema plans_schema = {.columns = plans_columns, .column_count = 3};

/* --- opening --- */

static Str path_with_suffix(Arena *arena, Str path)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    return str_printf(arena, "%.*s" SUFFIX, STR_ARG(path));
}

static Str label_with_suffix(Arena *arena, Str label)
{
    if (!str_ends_with(label, STR("`"))) return path_with_suffix(arena, label);
    return str_printf(arena, "%.*s" SUFFIX "`", STR_ARG(str_slice(label, 0, label.len - 1)));
}

TableRef plans_ref_of_bronze(Arena *arena, const TableRef *bronze)
{
    return (TableRef){.label = label_with_suffix(arena, bronze->label),
                      .path  = path_with_suffix(arena, bronze->path)};
}

bool plans_open(DeltaContext *context, const TableRef *ref, Plans **out, Err *err)
{
    Arena *arena = arena_new();
    Plans *plans = ARENA_NEW(arena, Plans);

    plans->context = context;
    plans->arena   = arena;
    if (!table_ref_open_or_create(context, ref, KIND_PLANS, &plans_schema,
                                  STR("Key values of bronze's chunked snapshots; give it bronze's "
                                      "access"),
                                  &plans->table, err)) {
        arena_close(arena);
        plans = NULL;
    }
    *out = plans;
    return plans != NULL;
}

bool plans_open_if_exists(DeltaContext *context, const TableRef *ref, Plans **out, Err *err)
{
    bool exists;

    *out = NULL;
    if (!delta_table_exists(context, ref->path, &exists, NULL, err))
        return err_context(err, "plans table %.*s", STR_ARG(ref->label));
    return !exists || plans_open(context, ref, out, err);
}

void plans_close(Plans *plans)
{
    if (!plans) return;
    delta_table_close(plans->table);
    arena_close(plans->arena);
}

bool plans_append_once(Plans *plans, Str key, int64_t version, Lsn snapshot, Str event,
                       const Str *details, size_t count, DeltaOutcome *out, Err *err)
{
    Arena      *scratch = arena_new();
    RowBuilder *builder = row_builder_new(scratch, &plans_schema);
    DeltaTxn    txn     = {.app_id = key, .version = version};
    DeltaAppend append  = {.txn = key.len ? &txn : NULL, .purpose = STR("plans")};
    RowBlock    block;
    bool        ok;

    for (size_t i = 0; i < count; i++) {
        row_builder_begin(builder);
        row_builder_set_str(builder, 0, lsn_str(scratch, snapshot));
        row_builder_set_str(builder, 1, event);
        row_builder_set_str(builder, 2, details[i]);
    }
    block       = row_builder_block(builder);
    append.rows = row_stream_of_block(scratch, &plans_schema, &block);
    ok          = delta_table_append(plans->table, &append, out, NULL, err);
    row_stream_close(append.rows);
    arena_close(scratch);
    return ok || err_context(err, "plans");
}

/* --- completing --- */

bool plans_has(Plans *plans, Str key, int64_t version, bool *out, Err *err)
{
    int64_t newest;

    *out = false;
    if (!delta_table_refresh(plans->table, err)) return err_context(err, "plans");
    *out = delta_table_find_txn(plans->table, key, &newest) && newest >= version;
    return true;
}

bool plans_find_details(Plans *plans, Lsn snapshot, Str event, Arena *arena, Str **out,
                        size_t *count_out, Err *err)
{
    bool         ok      = false;
    Arena       *scratch = arena_new();
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block;
    Str          scan;
    LIST(Str) found = {0};

    if (!delta_table_refresh(plans->table, err)) goto done;
    if (!delta_scan_sql(plans->table, NULL, 0, &plans_schema, false, scratch, &scan, err))
        goto done;
    if (!duck_session_open(plans->context->duck, &session, err)) goto done;
    if (!duck_query(session,
                    str_printf(scratch,
                               "SELECT detail FROM (%.*s) AS p WHERE snapshot = '%s' AND event = "
                               "%.*s AND detail IS NOT NULL",
                               STR_ARG(scan), lsn_format(snapshot).text,
                               STR_ARG(duck_quote_literal(scratch, event))),
                    scratch, &rows, err))
        goto done;
    for (;;) {
        if (!row_stream_next(rows, &block, err)) goto done;
        if (block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++)
            *LIST_PUSH(arena, &found) = str_copy(arena, column_str(&block.columns[0], i));
    }
    *out       = found.items;
    *count_out = found.count;
    ok         = true;
done:
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "plans");
}

/* A row here, by the chunk and wave it has; a kind without those has -1 in both. */
typedef struct PlansRow {
    int64_t chunk, wave;
    size_t  order; /* as they were found */
    Str     detail;
} PlansRow;

static int compare_rows(const void *left, const void *right)
{
    const PlansRow *a = left, *b = right;

    if (a->chunk != b->chunk) return a->chunk < b->chunk ? -1 : 1;
    if (a->wave != b->wave) return a->wave < b->wave ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool is_same_place(const PlansRow *left, const PlansRow *right)
{
    return left->chunk == right->chunk && left->wave == right->wave;
}

static bool find_place(Str event, Str detail, Arena *scratch, PlansRow *out)
{
    ChunkPayload chunk;

    *out = (PlansRow){.chunk = -1, .wave = -1, .detail = detail};
    if (!str_equal_c(event, EVENT_SNAPSHOT_CHUNK)) return true;
    if (!payload_parse_chunk(detail, scratch, &chunk)) return false;
    out->chunk = chunk.chunk;
    out->wave  = chunk.wave;
    return true;
}

/* The rows of this snapshot and kind, by chunk and wave. */
static bool find_rows(Plans *plans, Lsn snapshot, Str event, Arena *arena, PlansRow **out,
                      size_t *count_out, Err *err)
{
    Str   *details;
    size_t count;

    *count_out = 0;
    *out       = NULL;
    if (!plans) return true;
    if (!plans_find_details(plans, snapshot, event, arena, &details, &count, err)) return false;
    *out = ARENA_ARRAY(arena, PlansRow, count + 1);
    for (size_t i = 0; i < count; i++) {
        PlansRow *row = &(*out)[*count_out];

        if (!find_place(event, details[i], arena, row)) continue;
        row->order = (*count_out)++;
    }
    if (*count_out) qsort(*out, *count_out, sizeof(PlansRow), compare_rows);
    return true;
}

/* Whether a row here says all that the facts say, which leave the key values out. */
static bool agrees(Str facts_detail, Str detail)
{
    JsonText facts, whole, value;
    size_t   bad_at;
    Str      key;

    if (!json_text_parse(facts_detail, &facts, &bad_at) ||
        !json_text_parse(detail, &whole, &bad_at))
        return false;
    for (size_t at = 0; json_text_next_member(facts, &at, &key, &value);)
        if (!str_equal(json_text_find_str(whole, key).text, value.text)) return false;
    return true;
}

/* The first row at a place that agrees with the facts, else the first: a stream that began on this bronze at the same S
 * under another name may have a plan of its own here. NULL: there is none. */
static const PlansRow *find_row(const PlansRow *rows, size_t count, const PlansRow *place,
                                Str facts_detail)
{
    size_t lo = 0, hi = count, first;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (compare_rows(&rows[middle], place) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    first = lo;
    if (first == count || !is_same_place(&rows[first], place)) return NULL;
    for (size_t i = first; i < count && is_same_place(&rows[i], place); i++)
        if (agrees(facts_detail, rows[i].detail)) return &rows[i];
    return &rows[first];
}

static bool fail_missing(const TableRef *ref, Str event, Lsn snapshot, const PlansRow *place,
                         Err *err)
{
    Arena *scratch = arena_new();
    Str    which   = STR_EMPTY;

    if (place->chunk >= 0)
        which = str_printf(scratch, " chunk %lld of wave %lld", (long long)place->chunk,
                           (long long)place->wave);
    err_set(err, ERR_STATE,
            "plans table %.*s has no row for %.*s%.*s of snapshot %s, which the facts announce: "
            "restore the table, or take a new snapshot",
            STR_ARG(ref->label), STR_ARG(event), STR_ARG(which), lsn_format(snapshot).text);
    arena_close(scratch);
    return false;
}

bool plans_complete_details(Plans *plans, const TableRef *ref, const FactsRow *const *rows,
                            size_t count, Lsn snapshot, Arena *arena, Str *out, Err *err)
{
    Arena    *scratch     = arena_new();
    PlansRow *found       = NULL;
    size_t    found_count = 0;
    bool      is_read = false, ok = true;

    for (size_t i = 0; ok && i < count; i++) {
        const FactsRow *row  = rows[i];
        const PlansRow *here = NULL;
        PlansRow        place;

        if (payload_has_key_values(row->event, row->detail)) {
            out[i] = str_copy(arena, row->detail);
            continue;
        }
        if (!find_place(row->event, row->detail, scratch, &place)) {
            ok = err_set(err, ERR_DAMAGED,
                         "a snapshot_chunk row of snapshot %s in the facts has no chunk and wave: "
                         "restore the facts, or take a new snapshot",
                         lsn_format(snapshot).text);
            break;
        }
        if (!is_read)
            ok = find_rows(plans, snapshot, row->event, scratch, &found, &found_count, err);
        is_read = true;
        if (ok) here = find_row(found, found_count, &place, row->detail);
        if (here)
            out[i] = str_copy(arena, here->detail);
        else
            ok = ok && fail_missing(ref, row->event, snapshot, &place, err);
    }
    arena_close(scratch);
    return ok;
}

bool plans_complete_detail(Plans *plans, const TableRef *ref, const FactsRow *row, Lsn snapshot,
                           Arena *arena, Str *out, Err *err)
{
    return plans_complete_details(plans, ref, &row, 1, snapshot, arena, out, err);
}
