/* mssql_instance.c - capture instances: listing them (Q18, Q19), and which table a configured name
 * means (algorithms.md 6.1). */
#include "source/mssql_columns.h"
#include "source/mssql_internal.h"

#include "base/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define INSTANCES_LIMIT 20000

typedef struct Listing {
    CaptureInstance *items;
    size_t           count;
} Listing;

static bool read_instance(const Rows *rows, size_t row, Arena *arena, CaptureInstance *out,
                          Err *err)
{
    size_t schema, table, name, start_lsn, create_date, keys;
    bool   is_null;

    if (!rows_find(rows, "source_schema", &schema, err) ||
        !rows_find(rows, "source_table", &table, err) ||
        !rows_find(rows, "capture_instance", &name, err) ||
        !rows_find(rows, "start_lsn", &start_lsn, err) ||
        !rows_find(rows, "create_date", &create_date, err) ||
        !rows_find(rows, "index_column_list", &keys, err))
        return false;
    *out = (CaptureInstance){
        .name           = str_copy(arena, rows_str(rows, row, name)),
        .source_schema  = str_copy(arena, rows_str(rows, row, schema)),
        .source_table   = str_copy(arena, rows_str(rows, row, table)),
        .create_date_us = rows_i64(rows, row, create_date, 0),
    };
    if (!rows_lsn(rows, row, start_lsn, &out->start_lsn, &is_null, err)) return false;
    out->has_start_lsn = !is_null && !lsn_is_zero(out->start_lsn);
    return mssql_parse_column_list(rows_str(rows, row, keys), arena, &out->key_columns,
                                   &out->key_column_count, err);
}

SqlQuery mssql_table_question(Arena *arena, Str schema, Str table)
{
    return mssql_question(
        arena,
        STR("EXEC sys.sp_cdc_help_change_data_capture @source_schema = ?, @source_name = ?;"),
        (SqlParam[]){param_str(schema), param_str(table)}, 2);
}

/* Every instance, or those of one table. */
static bool list_instances(SqlConn *conn, Str schema, Str table, Arena *arena, Listing *out,
                           Err *err)
{
    Arena   *scratch  = arena_new();
    Rows     rows     = {0};
    SqlQuery question = table.len > 0
                            ? mssql_table_question(scratch, schema, table)
                            : mssql_question(scratch,
                                             STR("EXEC sys.sp_cdc_help_change_data_capture;"), NULL,
                                             0);
    bool     ok       = mssql_answer_on(conn, &question, INSTANCES_LIMIT, scratch, &rows, err);

    *out = (Listing){0};
    if (ok) out->items = ARENA_ARRAY(arena, CaptureInstance, rows.block.row_count + 1);
    for (size_t i = 0; ok && i < rows.block.row_count; i++, out->count++)
        ok = read_instance(&rows, i, arena, &out->items[i], err);
    arena_close(scratch);
    return ok;
}

/* --- which one a name means --- */

typedef struct Match {
    bool                   found;
    bool                   is_gone; /* found by the default name of its table */
    const CaptureInstance *instance;
} Match;

static bool is_default_name(const CaptureInstance *instance, Str name, Arena *scratch)
{
    Str usual = str_printf(scratch, "%.*s_%.*s", STR_ARG(instance->source_schema),
                           STR_ARG(instance->source_table));

    return str_equal_ignoring_case(usual, name);
}

static bool same_table(const CaptureInstance *left, const CaptureInstance *right)
{
    return str_equal(left->source_schema, right->source_schema) &&
           str_equal(left->source_table, right->source_table);
}

/* Exactly, else the one match ignoring case. */
static bool match_name(const Listing *listing, Str name, Match *out, Err *err)
{
    *out = (Match){0};
    for (size_t i = 0; i < listing->count; i++)
        if (str_equal(listing->items[i].name, name)) {
            *out = (Match){.found = true, .instance = &listing->items[i]};
            return true;
        }
    for (size_t i = 0; i < listing->count; i++) {
        const CaptureInstance *instance = &listing->items[i];
        if (!str_equal_ignoring_case(instance->name, name)) continue;
        if (out->found)
            return err_set(err, ERR_SOURCE_STATE,
                           "capture instance %.*s: both %.*s and %.*s match it ignoring case; "
                           "configure the exact name",
                           STR_ARG(name), STR_ARG(out->instance->name), STR_ARG(instance->name));
        *out = (Match){.found = true, .instance = instance};
    }
    return true;
}

/* A name that is gone still leads to its table when it is that table's default one. */
static void match_default(const Listing *listing, Str name, Arena *scratch, Match *out)
{
    for (size_t i = 0; i < listing->count; i++) {
        const CaptureInstance *instance = &listing->items[i];
        if (!is_default_name(instance, name, scratch)) continue;
        if (out->found && !same_table(out->instance, instance)) { /* two tables: it means neither */
            *out = (Match){0};
            return;
        }
        *out = (Match){.found = true, .is_gone = true, .instance = instance};
    }
}

/* Of what may be the table that was meant: one name holds the other's, without a leading schema. */
static bool is_similar(const CaptureInstance *instance, Str name, Arena *scratch)
{
    Str       wanted = str_lower_ascii(scratch, name);
    Str       have   = str_lower_ascii(scratch, instance->name);
    Str       table  = str_lower_ascii(scratch, instance->source_table);
    ptrdiff_t cut    = str_find_char(wanted, '_', 0);
    Str       tail   = cut < 0 ? wanted : str_slice(wanted, (size_t)cut + 1, wanted.len);

    if (tail.len == 0) return false;
    return str_find(have, tail, 0) >= 0 || str_find(wanted, table, 0) >= 0 ||
           str_find(table, tail, 0) >= 0;
}

static bool not_found(const Listing *listing, Str name, Arena *scratch, Err *err)
{
    Buf    similar = buf_new(scratch, 0);
    Buf    visible = buf_new(scratch, 0);
    size_t count   = 0;

    for (size_t i = 0; i < listing->count && count < 8; i++) {
        if (!is_similar(&listing->items[i], name, scratch)) continue;
        buf_printf(&similar, "%s%.*s", count++ ? ", " : "", STR_ARG(listing->items[i].name));
    }
    for (size_t i = 0; i < listing->count && i < 8; i++)
        buf_printf(&visible, "%s%.*s", i ? ", " : ": ", STR_ARG(listing->items[i].name));
    if (count == 0)
        return err_set(err, ERR_SOURCE_STATE,
                       "capture instance %.*s was not found: there is none of that name, or the "
                       "login lacks SELECT on its captured "
                       "columns or is not in its gating role (%zu others are visible%.*s%s)",
                       STR_ARG(name), listing->count, STR_ARG(buf_str(&visible)),
                       listing->count > 8 ? ", ..." : "");
    return err_set(err, ERR_SOURCE_STATE,
                   "capture instance %.*s was not found: there is none of that name, or the login "
                   "lacks SELECT on its captured "
                   "columns or is not in its gating role; similar ones: %.*s; if it was disabled, "
                   "set capture_instance to the newer one",
                   STR_ARG(name), STR_ARG(buf_str(&similar)));
}

/* --- the table's instances --- */

static int compare_instances(const void *left, const void *right)
{
    const CaptureInstance *a = left;
    const CaptureInstance *b = right;

    if (a->create_date_us != b->create_date_us)
        return a->create_date_us < b->create_date_us ? -1 : 1;
    return lsn_compare(a->start_lsn, b->start_lsn);
}

static void table_of(const Listing *listing, const Match *match, Arena *arena, CaptureTable *out)
{
    Str name = match->instance->name;

    *out           = (CaptureTable){.configured_is_gone = match->is_gone};
    out->instances = ARENA_ARRAY(arena, CaptureInstance, listing->count + 1);
    for (size_t i = 0; i < listing->count; i++)
        if (same_table(&listing->items[i], match->instance))
            out->instances[out->instance_count++] = listing->items[i];
    qsort(out->instances, out->instance_count, sizeof(CaptureInstance), compare_instances);
    out->configured = out->instance_count - 1; /* the newest, when the configured one is gone */
    for (size_t i = 0; i < out->instance_count; i++)
        if (!match->is_gone && str_equal(out->instances[i].name, name)) out->configured = i;
}

static void remember_table(Mssql *mssql, const CaptureInstance *instance)
{
    if (str_equal(mssql->last_schema, instance->source_schema) &&
        str_equal(mssql->last_table, instance->source_table))
        return;
    arena_reset(mssql->last_arena);
    mssql->last_schema = str_copy(mssql->last_arena, instance->source_schema);
    mssql->last_table  = str_copy(mssql->last_arena, instance->source_table);
}

typedef struct FindCall {
    Str           name;
    Arena        *arena;
    CaptureTable *out;
} FindCall;

/* Q19 of the table found last; Q18 when that has no such name. */
static bool find_match(Mssql *mssql, Str name, Arena *arena, Listing *listing, Match *match,
                       Err *err)
{
    *match = (Match){0};
    if (mssql->last_table.len > 0) {
        if (list_instances(mssql->meta, mssql->last_schema, mssql->last_table, arena, listing,
                           err)) {
            if (!match_name(listing, name, match, err)) return false;
        } else if (err->code == ERR_SOURCE || err->code == ERR_CANCELLED) {
            return false;
        } else {
            err_clear(err); /* renamed, or no longer visible: the full list tells */
        }
    }
    if (match->found) return true;
    if (!list_instances(mssql->meta, STR_EMPTY, STR_EMPTY, arena, listing, err)) return false;
    if (!match_name(listing, name, match, err)) return false;
    if (!match->found) match_default(listing, name, arena, match);
    return match->found || not_found(listing, name, arena, err);
}

static bool call_find(Mssql *mssql, void *arg, Err *err)
{
    FindCall *call = arg;
    Listing   listing;
    Match     match;

    if (!find_match(mssql, call->name, call->arena, &listing, &match, err)) return false;
    assert(match.instance);
    remember_table(mssql, match.instance);
    table_of(&listing, &match, call->arena, call->out);
    return mssql_load_columns(mssql, mssql->meta, call->arena, call->out, err);
}

bool mssql_find_table(Mssql *mssql, Str capture_instance, Arena *arena, CaptureTable *out, Err *err)
{
    FindCall call = {capture_instance, arena, out};

    return mssql_check_capture_instance(capture_instance, err) &&
           mssql_retry(mssql, "find_table", call_find, &call, err);
}

typedef struct TablesCall {
    const Str   *names;
    size_t       count;
    Arena       *arena;
    SourceTable *out;
} TablesCall;

static bool call_tables(Mssql *mssql, void *arg, Err *err)
{
    TablesCall *call = arg;
    Listing     listing;

    if (!list_instances(mssql->meta, STR_EMPTY, STR_EMPTY, call->arena, &listing, err))
        return false;
    for (size_t i = 0; i < call->count; i++) {
        Match match;
        if (!match_name(&listing, call->names[i], &match, err)) return false;
        if (!match.found) match_default(&listing, call->names[i], call->arena, &match);
        if (!match.found) return not_found(&listing, call->names[i], call->arena, err);
        call->out[i] = (SourceTable){match.instance->source_schema, match.instance->source_table};
    }
    return true;
}

bool mssql_find_source_tables(Mssql *mssql, const Str *capture_instances, size_t count,
                              Arena *arena, SourceTable *out, Err *err)
{
    TablesCall call = {capture_instances, count, arena, out};

    return mssql_retry(mssql, "find_source_tables", call_tables, &call, err);
}

#define CUT_NAME_CHARS 32 /* statistics hold no more of a text */

static bool may_be(const CaptureInstance *instance, Str name)
{
    return str_equal_ignoring_case(instance->name, name) ||
           (name.len >= CUT_NAME_CHARS && str_starts_with(instance->name, name));
}

/* The instance of another table that the name must mean; NULL when it may be one of this table's. */
static const CaptureInstance *find_other(const Listing *listing, const CaptureTable *table,
                                         Str name)
{
    const CaptureInstance *found = NULL;

    for (size_t i = 0; i < listing->count; i++) {
        if (!may_be(&listing->items[i], name)) continue;
        if (same_table(&listing->items[i], &table->instances[0])) return NULL;
        found = &listing->items[i];
    }
    return found;
}

typedef struct OtherCall {
    Arena  *arena;
    Listing listing;
} OtherCall;

static bool call_list(Mssql *mssql, void *arg, Err *err)
{
    OtherCall *call = arg;

    return list_instances(mssql->meta, STR_EMPTY, STR_EMPTY, call->arena, &call->listing, err);
}

bool mssql_find_other_table(Mssql *mssql, const CaptureTable *table, const Str *names, size_t count,
                            Arena *arena, Str *instance_out, SourceTable *out, Err *err)
{
    OtherCall call = {.arena = arena};

    *instance_out = STR_EMPTY;
    if (count == 0) return true;
    if (!mssql_retry(mssql, "find_other_table", call_list, &call, err)) return false;
    for (size_t i = 0; i < count; i++) {
        const CaptureInstance *other = find_other(&call.listing, table, names[i]);
        if (!other) continue;
        *instance_out = other->name;
        *out          = (SourceTable){other->source_schema, other->source_table};
        return true;
    }
    return true;
}

/* --- DDL (Q21) --- */

SqlQuery mssql_ddl_question(Arena *arena, Str capture_instance)
{
    return mssql_question(arena, STR("EXEC sys.sp_cdc_get_ddl_history @capture_instance = ?;"),
                          (SqlParam[]){param_str(capture_instance)}, 1);
}

typedef struct DdlCall {
    const CaptureInstance *instance;
    Lsn                    start, end;
    Arena                 *arena;
    LIST(DdlEvent) events;
} DdlCall;

static bool call_ddl(Mssql *mssql, void *arg, Err *err)
{
    DdlCall *call     = arg;
    Arena   *scratch  = arena_new();
    SqlQuery question = mssql_ddl_question(scratch, call->instance->name);
    Rows     rows     = {0};
    size_t   lsn_at = 0, command_at = 0;
    bool     ok = mssql_answer_on(mssql->meta, &question, ROWS_LIMIT, scratch, &rows, err) &&
              (rows.block.column_count == 0 || (rows_find(&rows, "ddl_lsn", &lsn_at, err) &&
                                                rows_find(&rows, "ddl_command", &command_at, err)));

    call->events.count = 0;
    for (size_t i = 0; ok && i < rows.block.row_count; i++) {
        Lsn  lsn;
        bool is_null;
        ok = rows_lsn(&rows, i, lsn_at, &lsn, &is_null, err);
        if (!ok || is_null || lsn_compare(lsn, call->start) <= 0 || lsn_compare(lsn, call->end) > 0)
            continue;
        *LIST_PUSH(call->arena, &call->events) = (DdlEvent){
            lsn, str_copy(call->arena, rows_str(&rows, i, command_at))};
    }
    if (!ok && err->native == 22981) mssql_explain_access_error(call->instance->name, err);
    arena_close(scratch);
    return ok;
}

static int compare_events(const void *left, const void *right)
{
    return lsn_compare(((const DdlEvent *)left)->lsn, ((const DdlEvent *)right)->lsn);
}

bool mssql_find_ddl(Mssql *mssql, const CaptureInstance *instance, Lsn start, Lsn end, Arena *arena,
                    DdlEvent **out, size_t *count_out, Err *err)
{
    DdlCall call = {.instance = instance, .start = start, .end = end, .arena = arena};

    *out       = NULL;
    *count_out = 0;
    if (!mssql_retry(mssql, "find_ddl", call_ddl, &call, err)) return false;
    if (call.events.count > 1)
        qsort(call.events.items, call.events.count, sizeof(DdlEvent), compare_events);
    *out       = call.events.items;
    *count_out = call.events.count;
    return true;
}
