/* control.c - the control table: one row per tracked table, rewritten whole, because it is as small
 * as the list of tables. */
#include "state/control.h"

#include "base/list.h"
#include "state/conflict_retry.h"

#include <string.h>

#define US_PER_MINUTE INT64_C(60000000)

enum {
    COL_TABLE_NAME,
    COL_FINALIZED_UNTIL,
    COL_END_LSN,
    COL_END_COMMIT_TS,
    COL_UPDATED_AT,
    COL_APPLIED_LSN,
    COL_SNAPSHOT_LSN,
    COL_OPEN_SNAPSHOT_LSN,
    COL_SNAPSHOT_WAVE,
    COL_COUNT
};

static const struct {
    const char *name;
    TypeKind    type;
    const char *comment;
} control_columns[COL_COUNT] = {
    {"table_name", TYPE_STRING, "The tracked table, bronze or silver, as its stream names it"},
    {"finalized_until", TYPE_TIMESTAMP_NTZ,
     "Every period that ends at or before it is complete, UTC; never moves back. Over a recorded "
     "gap: nothing more will arrive"},
    {"end_lsn", TYPE_STRING, "Position that last moved it"},
    {"end_commit_ts", TYPE_TIMESTAMP_NTZ, "Commit time of that position, UTC"},
    {"updated_at", TYPE_TIMESTAMP_NTZ, "When it last moved, UTC"},
    {"applied_lsn", TYPE_STRING, "Silver: newest change applied"},
    {"snapshot_lsn", TYPE_STRING, "Silver: snapshot last rebuilt from"},
    {"open_snapshot_lsn", TYPE_STRING, "Silver: open chunked snapshot being applied"},
    {"snapshot_wave", TYPE_INTEGER, "Silver: last wave of it that is in"},
};

struct Control {
    DeltaContext *context;
    DeltaTable   *table;
    Arena        *arena;
    Schema        schema;
};

bool granularity_parse(Str text, Granularity *out)
{
    static const struct {
        const char *name;
        Granularity value;
    } names[] = {
        {"minute", GRANULARITY_MINUTE}, {"hour", GRANULARITY_HOUR}, {"day", GRANULARITY_DAY}};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal_ignoring_case(text, str_from_c(names[i].name))) {
            *out = names[i].value;
            return true;
        }
    return false;
}

int64_t granularity_truncate(Granularity granularity, int64_t utc_us)
{
    int64_t period_us = US_PER_MINUTE;
    int64_t within;

    switch (granularity) {
    case GRANULARITY_MINUTE: break;
    case GRANULARITY_HOUR: period_us = 60 * US_PER_MINUTE; break;
    case GRANULARITY_DAY: period_us = 24 * 60 * US_PER_MINUTE; break;
    }
    within = utc_us % period_us;
    return utc_us - (within < 0 ? within + period_us : within);
}

/* Without its table. */
static Control *control_new(DeltaContext *context)
{
    Arena   *arena   = arena_new();
    Control *control = ARENA_NEW(arena, Control);
    Column  *columns = ARENA_ARRAY(arena, Column, COL_COUNT);

    for (size_t i = 0; i < COL_COUNT; i++)
        columns[i] = (Column){.name    = str_from_c(control_columns[i].name),
                              .type    = COLUMN_TYPE(control_columns[i].type),
                              .comment = str_from_c(control_columns[i].comment)};
    control->context = context;
    control->arena   = arena;
    control->schema  = (Schema){.columns = columns, .column_count = COL_COUNT};
    return control;
}

bool control_open(DeltaContext *context, const TableRef *ref, Control **out, Err *err)
{
    Control *control = control_new(context);

    if (!table_ref_open_or_create(context, ref, KIND_CONTROL, &control->schema,
                                  STR("Up to when each table is complete, and how far silver is"),
                                  &control->table, err)) {
        control_close(control);
        control = NULL;
    }
    *out = control;
    return control != NULL;
}

bool control_open_if_exists(DeltaContext *context, const TableRef *ref, Control **out, Err *err)
{
    Control *control = control_new(context);
    bool     ok      = table_ref_open_if_exists(context, ref, &control->table, err);

    if (!control->table) {
        control_close(control);
        control = NULL;
    }
    *out = control;
    return ok || err_context(err, "control table %.*s", STR_ARG(ref->label));
}

void control_close(Control *control)
{
    if (!control) return;
    delta_table_close(control->table);
    arena_close(control->arena);
}

/* --- rows --- */

static OptTime time_at(const RowBlock *block, size_t column, size_t row)
{
    const ColumnVector *vector = &block->columns[column];

    return column_is_null(vector, row) ? (OptTime){.is_set = false}
                                       : OPT_TIME(column_i64(vector, row));
}

static bool lsn_at(const RowBlock *block, size_t column, size_t row, OptLsn *out, Err *err)
{
    const ColumnVector *vector = &block->columns[column];

    *out = (OptLsn){.is_set = !column_is_null(vector, row)};
    if (!out->is_set || lsn_parse(column_str(vector, row), &out->lsn)) return true;
    return err_set(err, ERR_DAMAGED, "column %s holds \"%.*s\", which is no LSN",
                   control_columns[column].name, STR_ARG(column_str(vector, row)));
}

static bool row_at(const RowBlock *block, size_t row, ControlRow *out, Err *err)
{
    const ColumnVector *wave = &block->columns[COL_SNAPSHOT_WAVE];

    *out = (ControlRow){.exists          = true,
                        .finalized_until = time_at(block, COL_FINALIZED_UNTIL, row),
                        .end_commit_ts   = time_at(block, COL_END_COMMIT_TS, row),
                        .updated_at      = time_at(block, COL_UPDATED_AT, row)};
    if (!column_is_null(wave, row)) out->snapshot_wave = OPT_I64(column_i64(wave, row));
    return lsn_at(block, COL_END_LSN, row, &out->end_lsn, err) &&
           lsn_at(block, COL_APPLIED_LSN, row, &out->applied_lsn, err) &&
           lsn_at(block, COL_SNAPSHOT_LSN, row, &out->snapshot_lsn, err) &&
           lsn_at(block, COL_OPEN_SNAPSHOT_LSN, row, &out->open_snapshot_lsn, err);
}

/* The SELECT of our columns, by name; rows of one table or of all the others. */
static bool select_rows(Control *control, Str table_name, bool others, Arena *arena, Str *sql_out,
                        Err *err)
{
    Str scan;
    Str name = duck_quote_literal(arena, table_name);

    if (!delta_scan_sql(control->table, NULL, 0, &control->schema, false, arena, &scan, err))
        return false;
    *sql_out = str_printf(arena,
                          "SELECT * FROM (%.*s) AS c WHERE table_name IS %sDISTINCT FROM %.*s",
                          STR_ARG(scan), others ? "" : "NOT ", STR_ARG(name));
    return true;
}

/* Reads the row at the version the table stands at. */
static bool read_row(Control *control, Str table_name, ControlRow *out, Err *err)
{
    bool         ok      = false;
    Arena       *scratch = arena_new();
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block;
    Str          sql;

    *out = (ControlRow){.exists = false};
    if (!duck_session_open(control->context->duck, &session, err)) goto done;
    if (!select_rows(control, table_name, false, scratch, &sql, err)) goto done;
    if (!duck_query(session, sql, scratch, &rows, err)) goto done;
    if (!row_stream_next(rows, &block, err)) goto done;
    if (block.row_count > 0 && !row_at(&block, 0, out, err)) goto done;
    ok = block.row_count <= 1 ||
         err_set(err, ERR_DAMAGED,
                 "%zu rows for table %.*s, there must be one; delete all but the newest",
                 block.row_count, STR_ARG(table_name));
done:
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(scratch);
    return ok;
}

bool control_read(Control *control, Str table_name, ControlRow *out, Err *err)
{
    bool ok = delta_table_refresh(control->table, err) && read_row(control, table_name, out, err);

    return ok ||
           err_context(err, "control table %.*s", STR_ARG(delta_table_get_path(control->table)));
}

static bool list_names(Control *control, DuckSession *session, Arena *arena, Str **out,
                       size_t *count_out, Err *err)
{
    LIST(Str) names = {0};
    RowStream *rows = NULL;
    RowBlock   block;
    Str        scan;
    bool ok = delta_scan_sql(control->table, NULL, 0, &control->schema, false, arena, &scan, err) &&
              duck_query(session,
                         str_printf(arena,
                                    "SELECT table_name FROM (%.*s) WHERE table_name IS NOT NULL "
                                    "ORDER BY 1",
                                    STR_ARG(scan)),
                         arena, &rows, err);

    while (ok) {
        ok = row_stream_next(rows, &block, err);
        if (!ok || block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++)
            *LIST_PUSH(arena, &names) = str_copy(arena, column_str(&block.columns[0], i));
    }
    row_stream_close(rows);
    *out       = names.items;
    *count_out = names.count;
    return ok;
}

bool control_list(Control *control, Arena *arena, Str **out, size_t *count_out, Err *err)
{
    DuckSession *session = NULL;
    bool         ok      = delta_table_refresh(control->table, err) &&
              duck_session_open(control->context->duck, &session, err) &&
              list_names(control, session, arena, out, count_out, err);

    duck_session_close(session);
    return ok ||
           err_context(err, "control table %.*s", STR_ARG(delta_table_get_path(control->table)));
}

/* --- writing --- */

static void set_lsn(RowBuilder *builder, size_t column, OptLsn lsn)
{
    if (lsn.is_set) row_builder_set_str(builder, column, str_from_c(lsn_format(lsn.lsn).text));
}

static void set_time(RowBuilder *builder, size_t column, OptTime time)
{
    if (time.is_set) row_builder_set_i64(builder, column, time.utc_us);
}

static RowStream *stream_of_row(Control *control, Str table_name, const ControlRow *row,
                                Arena *arena)
{
    RowBuilder *builder = row_builder_new(arena, &control->schema);
    RowBlock   *block   = ARENA_NEW(arena, RowBlock);

    row_builder_begin(builder);
    row_builder_set_str(builder, COL_TABLE_NAME, table_name);
    set_time(builder, COL_FINALIZED_UNTIL, row->finalized_until);
    set_lsn(builder, COL_END_LSN, row->end_lsn);
    set_time(builder, COL_END_COMMIT_TS, row->end_commit_ts);
    set_time(builder, COL_UPDATED_AT, row->updated_at);
    set_lsn(builder, COL_APPLIED_LSN, row->applied_lsn);
    set_lsn(builder, COL_SNAPSHOT_LSN, row->snapshot_lsn);
    set_lsn(builder, COL_OPEN_SNAPSHOT_LSN, row->open_snapshot_lsn);
    if (row->snapshot_wave.is_set)
        row_builder_set_i64(builder, COL_SNAPSHOT_WAVE, row->snapshot_wave.value);
    *block = row_builder_block(builder);
    return row_stream_of_block(arena, &control->schema, block);
}

/* Every live file of the table, which one commit replaces by one file. */
static size_t list_files(Control *control, Arena *arena, const DeltaFile ***out)
{
    const DeltaFile **files = ARENA_ARRAY(arena, const DeltaFile *,
                                          delta_table_get_file_count(control->table) + 1);
    size_t            count = 0;

    for (size_t at = 0; delta_table_next_file(control->table, &at, &files[count]);)
        count++;
    *out = files;
    return count;
}

/* Rewrites the table with this row in place of the one it has. */
static bool write_row(Control *control, Str table_name, const ControlRow *row, Err *err)
{
    bool              ok      = false;
    Arena            *scratch = arena_new();
    DuckSession      *session = NULL;
    DeltaWriter      *writer  = NULL;
    DeltaAdd          adds[2] = {{.row_count = 0}, {.row_count = 0}};
    DeltaOutcome      outcome;
    const DeltaFile **files;
    size_t            file_count = list_files(control, scratch, &files);
    DeltaCommit       commit     = {.operation        = STR("MERGE"),
                                    .removes          = files,
                                    .remove_count     = file_count,
                                    .read_whole_table = true};
    Str               sql;

    if (!duck_session_open(control->context->duck, &session, err)) goto done;
    if (!delta_writer_open(control->table, STR("control"), NULL, &writer, err)) goto done;
    if (!delta_writer_write(writer, stream_of_row(control, table_name, row, scratch), scratch,
                            &adds[0], err))
        goto done;
    if (file_count > 0) {
        if (!select_rows(control, table_name, true, scratch, &sql, err)) goto done;
        if (!delta_writer_write_query(writer, session, sql, scratch, &adds[1], err)) goto done;
    }
    commit.adds      = adds;
    commit.add_count = adds[1].row_count > 0 ? 2 : 1;
    if (!delta_writer_publish(writer, adds, commit.add_count, err)) goto done;
    ok = delta_table_commit(control->table, &commit, &outcome, NULL, err);
done:
    delta_writer_finish(writer, control->table);
    duck_session_close(session);
    arena_close(scratch);
    return ok;
}

/* Changes `row`; false when there is nothing to write. */
typedef bool (*ControlChange)(Control *control, const void *arg, ControlRow *row);

/* Reads, changes and writes one row; a lost race starts over. */
static bool update_row(Control *control, Str table_name, ControlChange change, const void *arg,
                       ControlRow *row, Err *err)
{
    ConflictRetry retry = conflict_retry_begin(control->context);

    for (;;) {
        Err why = ERR_INIT;

        if (!control_read(control, table_name, row, err)) return false;
        if (!change(control, arg, row)) return true;
        row->exists = true;
        if (write_row(control, table_name, row, &why)) return true;
        if (!conflict_retry_wait(&retry, control->context, &why, err)) break;
    }
    return err_context(err, "control table %.*s", STR_ARG(delta_table_get_path(control->table)));
}

typedef struct Verdict {
    const Offset *end;
    int64_t       finalized_us;
} Verdict;

static bool change_verdict(Control *control, const void *arg, ControlRow *row)
{
    const Verdict *verdict = arg;

    if (row->finalized_until.is_set && row->finalized_until.utc_us >= verdict->finalized_us)
        return false;
    row->finalized_until = OPT_TIME(verdict->finalized_us);
    row->end_lsn         = OPT_LSN(verdict->end->lsn);
    row->end_commit_ts   = verdict->end->commit_ts;
    row->updated_at      = OPT_TIME(clock_utc_us(control->context->clock));
    return true;
}

bool control_advance(Control *control, Str table_name, const Offset *end, Granularity granularity,
                     OptTime *finalized_out, Err *err)
{
    ControlRow row = {.exists = false};
    bool       ok;

    if (end->commit_ts.is_set) {
        Verdict verdict = {
            .end = end, .finalized_us = granularity_truncate(granularity, end->commit_ts.utc_us)};
        ok = update_row(control, table_name, change_verdict, &verdict, &row, err);
    } else {
        ok = finalized_out ? control_read(control, table_name, &row, err) : true;
    }
    if (ok && finalized_out) *finalized_out = row.finalized_until;
    return ok || err_context(err, "verdict of %.*s", STR_ARG(table_name));
}

static bool opt_lsn_equal(OptLsn left, OptLsn right)
{
    return left.is_set == right.is_set && (!left.is_set || lsn_equal(left.lsn, right.lsn));
}

static bool change_position(Control *control, const void *arg, ControlRow *row)
{
    const ControlRow *position = arg;

    (void)control;
    if (opt_lsn_equal(row->applied_lsn, position->applied_lsn) &&
        opt_lsn_equal(row->snapshot_lsn, position->snapshot_lsn) &&
        opt_lsn_equal(row->open_snapshot_lsn, position->open_snapshot_lsn) &&
        row->snapshot_wave.is_set == position->snapshot_wave.is_set &&
        row->snapshot_wave.value == position->snapshot_wave.value)
        return false;
    row->applied_lsn       = position->applied_lsn;
    row->snapshot_lsn      = position->snapshot_lsn;
    row->open_snapshot_lsn = position->open_snapshot_lsn;
    row->snapshot_wave     = position->snapshot_wave;
    return true;
}

bool control_set_position(Control *control, Str table_name, OptLsn applied, OptLsn snapshot,
                          OptLsn open_snapshot, OptI64 wave, Err *err)
{
    ControlRow position = {.applied_lsn       = applied,
                           .snapshot_lsn      = snapshot,
                           .open_snapshot_lsn = open_snapshot,
                           .snapshot_wave     = wave};
    ControlRow row;
    bool       ok = update_row(control, table_name, change_position, &position, &row, err);

    return ok || err_context(err, "position of %.*s", STR_ARG(table_name));
}
