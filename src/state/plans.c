/* plans.c - the plans table: its columns, its place, and the payloads it completes. */
#include "state/plans.h"

#include "base/list.h"
#include "state/payload.h"
#include "state/payload_chunks.h"

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

static Str with_suffix(Arena *arena, Str name)
{
    if (str_ends_with(name, STR("`")))
        return str_printf(arena, "%.*s" SUFFIX "`", STR_ARG(str_slice(name, 0, name.len - 1)));
    while (name.len > 1 && name.ptr[name.len - 1] == '/')
        name.len--;
    return str_printf(arena, "%.*s" SUFFIX, STR_ARG(name));
}

static Str path_with_suffix(Arena *arena, Str path)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    return str_printf(arena, "%.*s" SUFFIX, STR_ARG(path));
}

TableRef plans_ref_of_bronze(Arena *arena, const TableRef *bronze)
{
    return (TableRef){.label = with_suffix(arena, bronze->label),
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

/* A row of the snapshot and event, and of its chunk and wave where it has those. */
static bool find_detail(Plans *plans, const FactsRow *row, Lsn snapshot, const ChunkPayload *chunk,
                        Arena *arena, Str *out, Err *err)
{
    Arena *scratch = arena_new();
    Str   *details;
    size_t count;
    bool   ok = plans_find_details(plans, snapshot, row->event, scratch, &details, &count, err);

    *out = STR_EMPTY;
    for (size_t i = 0; ok && i < count; i++) {
        ChunkPayload found;

        if (!chunk || (payload_parse_chunk(details[i], scratch, &found) &&
                       found.chunk == chunk->chunk && found.wave == chunk->wave))
            *out = str_copy(arena, details[i]);
    }
    arena_close(scratch);
    return ok;
}

static bool fail_missing(const TableRef *ref, const FactsRow *row, Lsn snapshot,
                         const ChunkPayload *chunk, Err *err)
{
    Arena *scratch = arena_new();
    Str    which = chunk ? str_printf(scratch, " chunk %lld of wave %lld", (long long)chunk->chunk,
                                      (long long)chunk->wave)
                         : STR_EMPTY;

    err_set(err, ERR_STATE,
            "plans table %.*s has no row for %.*s%.*s of snapshot %s, which the facts announce: "
            "restore the table, or take a new snapshot",
            STR_ARG(ref->label), STR_ARG(row->event), STR_ARG(which), lsn_format(snapshot).text);
    arena_close(scratch);
    return false;
}

bool plans_complete_detail(Plans *plans, const TableRef *ref, const FactsRow *row, Lsn snapshot,
                           Arena *arena, Str *out, Err *err)
{
    bool         is_chunk = str_equal_c(row->event, EVENT_SNAPSHOT_CHUNK);
    ChunkPayload chunk    = {0};

    if (payload_has_key_values(row->event, row->detail)) {
        *out = str_copy(arena, row->detail);
        return true;
    }
    if (is_chunk && !payload_parse_chunk(row->detail, arena, &chunk))
        return err_set(err, ERR_DAMAGED, "a snapshot_chunk row of %s has no chunk and wave",
                       lsn_format(snapshot).text);
    *out = STR_EMPTY;
    if (plans && !find_detail(plans, row, snapshot, is_chunk ? &chunk : NULL, arena, out, err))
        return false;
    return out->len > 0 || fail_missing(ref, row, snapshot, is_chunk ? &chunk : NULL, err);
}
