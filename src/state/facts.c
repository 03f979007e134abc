/* facts.c - the facts table: its columns as data, rows in and out of them. */
#include "state/facts.h"

#include "base/list.h"
#include "types/sink_id.h"

#include <string.h>

/* How a member of FactsRow is held. */
typedef enum MemberKind {
    MEMBER_STR,
    MEMBER_I64,
    MEMBER_DOUBLE,
    MEMBER_TIME,
    MEMBER_LSN
} MemberKind;

typedef struct FactsColumn {
    const char *name;
    TypeKind    type;
    MemberKind  member;
    size_t      offset; /* of the member in FactsRow */
    const char *comment;
} FactsColumn;

#define AT(member) offsetof(FactsRow, member)

/* Creation order (state.md 7). */
/* clang-format off */
static const FactsColumn facts_columns[] = {
    {"app_id", TYPE_STRING, MEMBER_STR, AT(app_id), "Name of the stream's generation this row is about"},
    {"batch_id", TYPE_LONG, MEMBER_I64, AT(batch_id), "Micro-batch; NULL on snapshot events"},
    {"rows", TYPE_LONG, MEMBER_I64, AT(rows), "Rows written; 0 on events that write none"},
    {"min_lsn", TYPE_STRING, MEMBER_LSN, AT(min_lsn), "Smallest commit LSN of the rows, or the event's LSN"},
    {"max_lsn", TYPE_STRING, MEMBER_LSN, AT(max_lsn), "Largest commit LSN of the rows, or the event's LSN"},
    {"min_commit_ts", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(min_commit_ts), "Earliest commit time, UTC"},
    {"max_commit_ts", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(max_commit_ts), "Latest commit time, UTC"},
    {"deletes", TYPE_LONG, MEMBER_I64, AT(deletes), "Rows with operation 1"},
    {"inserts", TYPE_LONG, MEMBER_I64, AT(inserts), "Rows with operation 2"},
    {"updates", TYPE_LONG, MEMBER_I64, AT(updates), "Rows with operation 4; an update counts once"},
    {"started_at", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(started_at), "When the work began, UTC"},
    {"duration_ms", TYPE_LONG, MEMBER_I64, AT(duration_ms), "From started_at to the end of the write to bronze"},
    {"source_rtt_ms", TYPE_DOUBLE, MEMBER_DOUBLE, AT(source_rtt_ms), "Median round trip to the source"},
    {"read_seconds", TYPE_DOUBLE, MEMBER_DOUBLE, AT(read_seconds), "Time spent reading, summed over connections"},
    {"read_mb", TYPE_DOUBLE, MEMBER_DOUBLE, AT(read_mb), "Column bytes read / 1e6"},
    {"network_wait_ms", TYPE_LONG, MEMBER_I64, AT(network_wait_ms), "Time the source waited for this reader to take rows"},
    {"retention_watermark_ts", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(retention_watermark_ts), "Commit time of the oldest change the source still had, UTC"},
    {"retention_headroom_hours", TYPE_DOUBLE, MEMBER_DOUBLE, AT(retention_headroom_hours), "Hours between that change and the stream's position"},
    {"event", TYPE_STRING, MEMBER_STR, AT(event), "NULL for a micro-batch, else what happened: bootstrap, resnapshot, snapshot_open, snapshot_plan, snapshot_chunk, schema_change, capture_instance_switched, data_skipped"},
    {"lost_from_ts", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(lost_from_ts), "Start of a gap of lost changes, UTC"},
    {"lost_to_ts", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(lost_to_ts), "End of a gap of lost changes, UTC"},
    {"source_max_commit_ts", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(source_max_commit_ts), "Newest commit the source had captured, UTC"},
    {"capture_lag_seconds", TYPE_DOUBLE, MEMBER_DOUBLE, AT(capture_lag_seconds), "Reader's clock minus source_max_commit_ts"},
    {"ingestion_lag_seconds", TYPE_DOUBLE, MEMBER_DOUBLE, AT(ingestion_lag_seconds), "source_max_commit_ts minus the stream's position"},
    {"end_lsn", TYPE_STRING, MEMBER_LSN, AT(end_lsn), "The stream's position after the batch"},
    {"end_commit_ts", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(end_commit_ts), "Its commit time, UTC; NULL when no commit has that LSN"},
    {"detail", TYPE_STRING, MEMBER_STR, AT(detail), "Text or JSON of the event; warnings of a batch"},
    {"target", TYPE_STRING, MEMBER_STR, AT(target), "Bronze table the row is about"},
    {"written_at", TYPE_TIMESTAMP_NTZ, MEMBER_TIME, AT(written_at), "When this row was written, UTC"},
};
/* clang-format on */

struct Facts {
    DeltaContext *context;
    DeltaTable   *table;
    Arena        *arena;
    Schema        schema;
};

static Schema facts_schema(Arena *arena)
{
    Column *columns = ARENA_ARRAY(arena, Column, COUNT_OF(facts_columns));

    for (size_t i = 0; i < COUNT_OF(facts_columns); i++)
        columns[i] = (Column){.name    = str_from_c(facts_columns[i].name),
                              .type    = COLUMN_TYPE(facts_columns[i].type),
                              .comment = str_from_c(facts_columns[i].comment)};
    return (Schema){.columns = columns, .column_count = COUNT_OF(facts_columns)};
}

bool facts_open(DeltaContext *context, const TableRef *ref, Facts **out, Err *err)
{
    Arena *arena = arena_new();
    Facts *facts = ARENA_NEW(arena, Facts);

    facts->context = context;
    facts->arena   = arena;
    facts->schema  = facts_schema(arena);
    if (!table_ref_open_or_create(
            context, ref, KIND_FACTS, &facts->schema,
            STR("What the replication did: a row per micro-batch and per event"), &facts->table,
            err)) {
        arena_close(arena);
        *out = NULL;
        return false;
    }
    *out = facts;
    return true;
}

bool facts_open_if_exists(DeltaContext *context, const TableRef *ref, Facts **out, Err *err)
{
    bool exists = false;

    *out = NULL;
    if (ref->path.len && !delta_table_exists(context, ref->path, &exists, NULL, err)) return false;
    return !exists || facts_open(context, ref, out, err);
}

void facts_close(Facts *facts)
{
    if (!facts) return;
    delta_table_close(facts->table);
    arena_close(facts->arena);
}

/* --- writing --- */

FactsRow facts_event_row(Str event, Lsn lsn, OptTime commit_ts)
{
    return (FactsRow){.event         = event,
                      .rows          = OPT_I64(0),
                      .deletes       = OPT_I64(0),
                      .inserts       = OPT_I64(0),
                      .updates       = OPT_I64(0),
                      .min_lsn       = OPT_LSN(lsn),
                      .max_lsn       = OPT_LSN(lsn),
                      .end_lsn       = OPT_LSN(lsn),
                      .min_commit_ts = commit_ts,
                      .max_commit_ts = commit_ts,
                      .end_commit_ts = commit_ts};
}

static void set_member(RowBuilder *builder, size_t column, const FactsColumn *spec,
                       const FactsRow *row)
{
    const char *member = (const char *)row + spec->offset;

    switch (spec->member) {
    case MEMBER_STR: {
        const Str *text = (const void *)member;
        if (text->len) row_builder_set_str(builder, column, *text);
        break;
    }
    case MEMBER_I64: {
        const OptI64 *number = (const void *)member;
        if (number->is_set) row_builder_set_i64(builder, column, number->value);
        break;
    }
    case MEMBER_DOUBLE: {
        const OptDouble *number = (const void *)member;
        if (number->is_set) row_builder_set_double(builder, column, number->value);
        break;
    }
    case MEMBER_TIME: {
        const OptTime *time = (const void *)member;
        if (time->is_set) row_builder_set_i64(builder, column, time->utc_us);
        break;
    }
    case MEMBER_LSN: {
        const OptLsn *lsn = (const void *)member;
        if (lsn->is_set)
            row_builder_set_str(builder, column, str_from_c(lsn_format(lsn->lsn).text));
        break;
    }
    }
}

static bool append_rows(Facts *facts, FactsRow *rows, size_t count, const DeltaTxn *txn,
                        DeltaOutcome *out, Err *err)
{
    bool        ok;
    Arena      *scratch = arena_new();
    RowBuilder *builder = row_builder_new(scratch, &facts->schema);
    int64_t     now_us  = clock_utc_us(facts->context->clock);
    RowBlock    block;
    DeltaAppend append = {.txn = txn, .purpose = STR("facts")};

    for (size_t i = 0; i < count; i++) {
        rows[i].written_at = OPT_TIME(now_us);
        row_builder_begin(builder);
        for (size_t c = 0; c < COUNT_OF(facts_columns); c++)
            set_member(builder, c, &facts_columns[c], &rows[i]);
    }
    block       = row_builder_block(builder);
    append.rows = row_stream_of_block(scratch, &facts->schema, &block);
    ok          = delta_table_append(facts->table, &append, out, NULL, err);
    row_stream_close(append.rows);
    arena_close(scratch);
    return ok || err_context(err, "facts");
}

bool facts_append_batch(Facts *facts, Str sink_id, int64_t batch_id, FactsRow *rows, size_t count,
                        DeltaOutcome *out, Err *err)
{
    Arena   *scratch = arena_new();
    DeltaTxn txn     = {.app_id  = str_printf(scratch, "%.*s#facts", STR_ARG(sink_id)),
                        .version = batch_id};
    bool     ok      = append_rows(facts, rows, count, &txn, out, err);

    arena_close(scratch);
    return ok;
}

bool facts_append_event(Facts *facts, Str app_id, int64_t txn_version, FactsRow *row,
                        DeltaOutcome *out, Err *err)
{
    Arena   *scratch = arena_new();
    DeltaTxn txn     = {.app_id  = str_printf(scratch, "%.*s#events", STR_ARG(app_id)),
                        .version = txn_version};
    bool     ok      = append_rows(facts, row, 1, txn_version < 0 ? NULL : &txn, out, err);

    arena_close(scratch);
    return ok;
}

bool facts_append_once(Facts *facts, Str key, int64_t version, FactsRow *rows, size_t count,
                       DeltaOutcome *out, Err *err)
{
    DeltaTxn txn = {.app_id = key, .version = version};

    return append_rows(facts, rows, count, &txn, out, err);
}

/* --- reading --- */

/* Decides by statistics whether a file has to be read. */
typedef bool (*FactsFilter)(const DeltaTable *table, const DeltaFile *file, Str arg);

static bool may_hold_events(const DeltaTable *table, const DeltaFile *file, Str arg)
{
    Str low = STR(EVENT_BOOTSTRAP), high = STR(EVENT_SNAPSHOT_PLAN); /* every snapshot's event */

    (void)arg;
    return delta_file_may_hold_range(table, file, STR("event"), &low, true, &high, true);
}

static bool may_hold_app_id(const DeltaTable *table, const DeltaFile *file, Str app_id)
{
    return delta_file_may_hold_range(table, file, STR("app_id"), &app_id, true, &app_id, true);
}

static bool may_hold_anything(const DeltaTable *table, const DeltaFile *file, Str arg)
{
    (void)table, (void)file, (void)arg;
    return true;
}

static bool scan_files(Facts *facts, DuckSession *session, const char *select, Str where,
                       const DeltaFile **files, size_t count, Arena *arena, RowStream **out,
                       Err *err)
{
    Str scan;

    if (!delta_scan_sql(facts->table, files, count, NULL, false, arena, &scan, err)) return false;
    return duck_query(session,
                      str_printf(arena, "SELECT %s FROM (%.*s) AS f WHERE %.*s", select,
                                 STR_ARG(scan), STR_ARG(where)),
                      arena, out, err);
}

/* Runs `select` over the files of the version the table stands at that pass the filter: every batch
 * adds a file, so reading them all would make each call dearer than the one before. */
static bool query_facts(Facts *facts, DuckSession *session, const char *select, Str where,
                        FactsFilter filter, Str filter_arg, Arena *arena, RowStream **out, Err *err)
{
    const DeltaFile **files = ARENA_ARRAY(arena, const DeltaFile *,
                                          delta_table_get_file_count(facts->table) + 1);
    const DeltaFile  *file;
    size_t            count = 0;

    for (size_t at = 0; delta_table_next_file(facts->table, &at, &file);)
        if (filter(facts->table, file, filter_arg)) files[count++] = file;
    return scan_files(facts, session, select, where, files, count, arena, out, err);
}

/* The key of every batch's commit tells the newest; rows are asked only where it is not known. */
static bool find_last_key(Facts *facts, Str sink_id, OptI64 *out)
{
    Arena *scratch = arena_new();

    out->is_set = delta_table_find_txn(
        facts->table, str_printf(scratch, "%.*s#facts", STR_ARG(sink_id)), &out->value);
    arena_close(scratch);
    return out->is_set;
}

bool facts_find_last_batch(Facts *facts, Str sink_id, OptI64 *out, Err *err)
{
    bool         ok      = false;
    Arena       *scratch = arena_new();
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block;
    Str          where = str_printf(scratch, "event IS NULL AND app_id = %.*s",
                                    STR_ARG(duck_quote_literal(scratch, sink_id)));

    *out = (OptI64){.is_set = false};
    if (!delta_table_refresh(facts->table, err)) goto done;
    if (find_last_key(facts, sink_id, out)) {
        ok = true;
        goto done;
    }
    if (!duck_session_open(facts->context->duck, &session, err)) goto done;
    if (!query_facts(facts, session, "max(batch_id)", where, may_hold_app_id, sink_id, scratch,
                     &rows, err))
        goto done;
    if (!row_stream_next(rows, &block, err)) goto done;
    if (block.row_count == 1 && !column_is_null(&block.columns[0], 0))
        *out = OPT_I64(column_i64(&block.columns[0], 0));
    ok = true;
done:
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "facts");
}

bool facts_has_batch(Facts *facts, Str sink_id, int64_t batch_id, bool *out, Err *err)
{
    Arena  *scratch = arena_new();
    int64_t version;
    bool    ok = delta_table_refresh(facts->table, err);

    *out = ok &&
           delta_table_find_txn(facts->table, str_printf(scratch, "%.*s#facts", STR_ARG(sink_id)),
                                &version) &&
           version >= batch_id;
    arena_close(scratch);
    return ok || err_context(err, "facts");
}

/* `arg`: a time as text. */
static bool may_hold_end(const DeltaTable *table, const DeltaFile *file, Str arg)
{
    return delta_file_may_hold_range(table, file, STR("end_commit_ts"), &arg, true, NULL, false);
}

bool facts_has_read_to(Facts *facts, Str target, int64_t commit_us, bool *out, Err *err)
{
    Arena       *scratch = arena_new();
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block;
    Str          time  = time_format_us(scratch, commit_us);
    Str          where = str_printf(scratch,
                                    "event IS NULL AND batch_id IS NOT NULL AND target = %.*s AND "
                                             "end_commit_ts >= TIMESTAMP '%.*s'",
                                    STR_ARG(duck_quote_literal(scratch, target)), STR_ARG(time));
    bool         ok    = delta_table_refresh(facts->table, err) &&
              duck_session_open(facts->context->duck, &session, err) &&
              query_facts(facts, session, "count(*) > 0", where, may_hold_end, time, scratch, &rows,
                          err) &&
              row_stream_next(rows, &block, err);

    *out = ok && block.row_count == 1 && column_bool(&block.columns[0], 0);
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "facts");
}

/* Text of a column, empty for NULL. */
static Str text_at(const RowBlock *block, size_t column, size_t row, Arena *arena)
{
    return column_is_null(&block->columns[column], row)
               ? STR_EMPTY
               : str_copy(arena, column_str(&block->columns[column], row));
}

/* What events are read for, in the order of event_members. */
#define EVENT_SELECT                                                                        \
    "app_id, event, \"rows\", min_lsn, max_lsn, min_commit_ts, max_commit_ts, started_at, " \
    "duration_ms, lost_from_ts, lost_to_ts, detail, written_at, read_seconds, read_mb"

static const size_t event_members[] = {
    AT(app_id),        AT(event),         AT(rows),       AT(min_lsn),      AT(max_lsn),
    AT(min_commit_ts), AT(max_commit_ts), AT(started_at), AT(duration_ms),  AT(lost_from_ts),
    AT(lost_to_ts),    AT(detail),        AT(written_at), AT(read_seconds), AT(read_mb)};

static const FactsColumn *find_spec(size_t offset)
{
    for (size_t i = 0; i < COUNT_OF(facts_columns); i++)
        if (facts_columns[i].offset == offset) return &facts_columns[i];
    return NULL;
}

static bool get_lsn_member(const FactsColumn *spec, Str text, OptLsn *out, Err *err)
{
    *out = (OptLsn){.is_set = true};
    return lsn_parse(text, &out->lsn) ||
           err_set(err, ERR_DAMAGED, "an event's row holds \"%.*s\" as %s, which is no LSN",
                   STR_ARG(text), spec->name);
}

static bool get_member(const FactsColumn *spec, const ColumnVector *column, size_t row,
                       Arena *arena, FactsRow *out, Err *err)
{
    char *member = (char *)out + spec->offset;

    if (column_is_null(column, row)) return true;
    switch (spec->member) {
    case MEMBER_STR: *(Str *)(void *)member = str_copy(arena, column_str(column, row)); break;
    case MEMBER_I64: *(OptI64 *)(void *)member = OPT_I64(column_i64(column, row)); break;
    case MEMBER_TIME: *(OptTime *)(void *)member = OPT_TIME(column_i64(column, row)); break;
    case MEMBER_DOUBLE:
        *(OptDouble *)(void *)member = (OptDouble){true, column_double(column, row)};
        break;
    case MEMBER_LSN:
        return get_lsn_member(spec, column_str(column, row), (OptLsn *)(void *)member, err);
    }
    return true;
}

static bool read_event_row(const RowBlock *block, size_t row, Arena *arena, FactsRow *out, Err *err)
{
    *out = (FactsRow){.app_id = STR_EMPTY};
    for (size_t i = 0; i < COUNT_OF(event_members); i++)
        if (!get_member(find_spec(event_members[i]), &block->columns[i], row, arena, out, err))
            return false;
    return true;
}

/* Rows of events, of a family when `family_of` is not empty. */
static bool find_events(Facts *facts, Str where, FactsFilter filter, Str filter_arg, Str family_of,
                        Arena *arena, FactsRow **out, size_t *count_out, Err *err)
{
    bool         ok      = false;
    Arena       *scratch = arena_new();
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block;
    LIST(FactsRow) found = {0};

    if (!delta_table_refresh(facts->table, err)) goto done;
    if (!duck_session_open(facts->context->duck, &session, err)) goto done;
    if (!query_facts(facts, session, EVENT_SELECT, where, filter, filter_arg, scratch, &rows, err))
        goto done;
    for (;;) {
        if (!row_stream_next(rows, &block, err)) goto done;
        if (block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++) {
            FactsRow row;
            if (!read_event_row(&block, i, arena, &row, err)) goto done;
            if (family_of.len == 0 || sink_id_is_of_family(row.app_id, family_of))
                *LIST_PUSH(arena, &found) = row;
        }
    }
    *out       = found.items;
    *count_out = found.count;
    ok         = true;
done:
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "facts");
}

bool facts_find_snapshots(Facts *facts, Str target, Str family_of, Arena *arena, FactsRow **out,
                          size_t *count_out, Err *err)
{
    Arena *scratch = arena_new();
    Str    where   = str_printf(scratch,
                                "event IN ('bootstrap', 'resnapshot', 'snapshot_open') AND target = "
                                     "%.*s ORDER BY written_at, max_lsn",
                                STR_ARG(duck_quote_literal(scratch, target)));
    bool   ok      = find_events(facts, where, may_hold_events, STR_EMPTY, family_of, arena, out,
                                 count_out, err);

    arena_close(scratch);
    return ok;
}

bool facts_find_chunks(Facts *facts, Str target, Str family_of, Lsn snapshot, Arena *arena,
                       FactsRow **out, size_t *count_out, Err *err)
{
    Arena *scratch = arena_new();
    Str    where   = str_printf(scratch,
                                "event IN ('snapshot_plan', 'snapshot_chunk') AND target = %.*s "
                                     "AND contains(detail, '%s') ORDER BY written_at",
                                STR_ARG(duck_quote_literal(scratch, target)), lsn_format(snapshot).text);
    bool   ok      = find_events(facts, where, may_hold_events, STR_EMPTY, family_of, arena, out,
                                 count_out, err);

    arena_close(scratch);
    return ok;
}

/* --- the newest row of a stream's batches --- */

/* Files that may hold one, the newest first; `next_out`: no row of the others is newer than this. */
static size_t batch_files(const Facts *facts, Str sink_id, Arena *arena, const DeltaFile ***out,
                          OptTime *next_out)
{
    const DeltaFile **files = ARENA_ARRAY(arena, const DeltaFile *,
                                          delta_table_get_file_count(facts->table) + 1);
    const DeltaFile  *file;
    const Str         zero   = STR("0");
    OptTime           newest = {.is_set = false};
    size_t            count  = 0;

    *next_out = (OptTime){.is_set = true, .utc_us = INT64_MIN};
    for (size_t at = 0; delta_table_next_file(facts->table, &at, &file);) {
        DeltaBounds bounds;
        OptTime     last;

        if (!may_hold_app_id(facts->table, file, sink_id) ||
            !delta_file_may_hold_range(facts->table, file, STR("batch_id"), &zero, true, NULL,
                                       false))
            continue;
        last.is_set = delta_file_find_bounds(facts->table, file, STR("written_at"), arena,
                                             &bounds) &&
                      bounds.max.ptr && time_parse(bounds.max, &last.utc_us);
        if (!last.is_set) next_out->is_set = false; /* it may hold any */
        files[count++] = file;
        if (last.is_set && (!newest.is_set || last.utc_us > newest.utc_us)) {
            OptTime before   = newest;
            files[count - 1] = files[0];
            files[0]         = file;
            newest           = last;
            last             = before;
        }
        if (last.is_set) next_out->utc_us = MAX(next_out->utc_us, last.utc_us);
    }
    *out = files;
    return count;
}

static bool read_headroom(Facts *facts, DuckSession *session, Str sink_id, const DeltaFile **files,
                          size_t count, OptDouble *hours_out, OptTime *written_at_out, Arena *arena,
                          Err *err)
{
    RowStream *rows  = NULL;
    Str        where = str_printf(arena,
                                  "event IS NULL AND batch_id IS NOT NULL AND app_id = %.*s "
                                         "ORDER BY written_at DESC LIMIT 1",
                                  STR_ARG(duck_quote_literal(arena, sink_id)));
    RowBlock   block;
    bool       ok = scan_files(facts, session, "retention_headroom_hours, written_at", where, files,
                               count, arena, &rows, err) &&
              row_stream_next(rows, &block, err);

    *hours_out      = (OptDouble){.is_set = false};
    *written_at_out = (OptTime){.is_set = false};
    if (ok && block.row_count == 1) {
        if (!column_is_null(&block.columns[0], 0))
            *hours_out = (OptDouble){true, column_double(&block.columns[0], 0)};
        if (!column_is_null(&block.columns[1], 0))
            *written_at_out = OPT_TIME(column_i64(&block.columns[1], 0));
    }
    row_stream_close(rows);
    return ok;
}

/* One file as a rule; all of them where the newest row of its file is some other stream's. */
bool facts_find_headroom(Facts *facts, Str sink_id, OptDouble *hours_out, OptTime *written_at_out,
                         Err *err)
{
    Arena            *scratch = arena_new();
    DuckSession      *session = NULL;
    const DeltaFile **files;
    OptTime           next;
    size_t            count;
    bool              ok = delta_table_refresh(facts->table, err) &&
              duck_session_open(facts->context->duck, &session, err);

    *hours_out      = (OptDouble){.is_set = false};
    *written_at_out = (OptTime){.is_set = false};
    if (ok) {
        count = batch_files(facts, sink_id, scratch, &files, &next);
        if (count > 0 && next.is_set)
            ok = read_headroom(facts, session, sink_id, files, 1, hours_out, written_at_out,
                               scratch, err);
        if (ok && count > 0 &&
            !(next.is_set && written_at_out->is_set && written_at_out->utc_us >= next.utc_us))
            ok = read_headroom(facts, session, sink_id, files, count, hours_out, written_at_out,
                               scratch, err);
    }
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "facts");
}

bool facts_find_events(Facts *facts, Str sink_id, Str event, Lsn lsn, Arena *arena, FactsRow **out,
                       size_t *count_out, Err *err)
{
    Arena *scratch = arena_new();
    Str    where   = str_printf(scratch, "event = %.*s AND app_id = %.*s AND max_lsn = '%s'",
                                STR_ARG(duck_quote_literal(scratch, event)),
                                STR_ARG(duck_quote_literal(scratch, sink_id)), lsn_format(lsn).text);
    bool ok = find_events(facts, where, may_hold_app_id, sink_id, STR_EMPTY, arena, out, count_out,
                          err);

    arena_close(scratch);
    return ok;
}

/* A file of one target says so in its statistics, unless rows of it were deleted since. */
static bool is_target_of_a_file(Facts *facts, Str target)
{
    Arena           *scratch = arena_new();
    const DeltaFile *file;
    bool             found = false;

    for (size_t at = 0; !found && delta_table_next_file(facts->table, &at, &file);) {
        DeltaBounds bounds;
        found = delta_file_count_rows(file) == file->row_count &&
                delta_file_find_bounds(facts->table, file, STR("target"), scratch, &bounds) &&
                bounds.min.ptr && bounds.max.ptr && str_equal(bounds.min, target) &&
                str_equal(bounds.max, target);
        arena_reset(scratch);
    }
    arena_close(scratch);
    return found;
}

bool facts_find_targets(Facts *facts, Str known, size_t limit, Arena *arena, bool *is_known,
                        Str **out, size_t *count_out, Err *err)
{
    bool         ok      = false;
    Arena       *scratch = arena_new();
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block;
    LIST(Str) found = {0};

    *out       = NULL;
    *count_out = 0;
    *is_known  = false;
    if (!delta_table_refresh(facts->table, err)) goto done;
    *is_known = is_target_of_a_file(facts, known);
    if (*is_known) {
        ok = true;
        goto done;
    }
    if (!duck_session_open(facts->context->duck, &session, err)) goto done;
    if (!query_facts(facts, session, "DISTINCT target", STR("target IS NOT NULL ORDER BY target"),
                     may_hold_anything, STR_EMPTY, scratch, &rows, err))
        goto done;
    for (;;) {
        if (!row_stream_next(rows, &block, err)) goto done;
        if (block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++) {
            Str target = text_at(&block, 0, i, arena);
            *is_known  = *is_known || str_equal(target, known);
            if (found.count < limit) *LIST_PUSH(arena, &found) = target;
        }
    }
    *out       = found.items;
    *count_out = found.count;
    ok         = true;
done:
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "facts");
}
