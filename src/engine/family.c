/* family.c - the facts' snapshot events, sorted out. */
#include "engine/family.h"

#include "base/list.h"
#include "engine/plan_batch.h"
#include "state/payload.h"

static bool is_done_event(Str event)
{
    return str_equal_c(event, EVENT_BOOTSTRAP) || str_equal_c(event, EVENT_RESNAPSHOT);
}

/* An open that cannot be read counts as a chunked one: it holds what such a one holds. */
static SnapshotOpen read_open(const FactsRow *row, Arena *arena)
{
    SnapshotOpen open = {.sink_id    = row->app_id,
                         .at         = {.lsn = row->max_lsn.lsn, .commit_ts = row->max_commit_ts},
                         .written_at = row->written_at,
                         .detail     = row->detail};
    OpenDetail   detail;

    (void)payload_parse_open(row->detail, &detail);
    open.is_full    = detail.is_full;
    open.generation = detail.generation;
    if (!open.is_full) (void)payload_parse_chunked_open(row->detail, arena, &open.chunked);
    return open;
}

bool family_read(Facts *facts, Str target, Str app_id, Arena *arena, Family *out, Err *err)
{
    LIST(SnapshotOpen) opens = {0};
    LIST(SnapshotDone) dones = {0};
    FactsRow *rows;
    size_t    count;

    *out = (Family){0};
    if (!facts) return true;
    if (!facts_find_snapshots(facts, target, app_id, arena, &rows, &count, err)) return false;
    for (size_t i = 0; i < count; i++) {
        const FactsRow *row = &rows[i];

        if (!row->max_lsn.is_set) continue;
        if (is_done_event(row->event))
            *LIST_PUSH(arena, &dones) = (SnapshotDone){
                .sink_id      = row->app_id,
                .at           = {.lsn = row->max_lsn.lsn, .commit_ts = row->max_commit_ts},
                .is_bootstrap = str_equal_c(row->event, EVENT_BOOTSTRAP),
                .is_chunked   = row->detail.len > 0,
                .rows         = row->rows};
        else
            *LIST_PUSH(arena, &opens) = read_open(row, arena);
    }
    *out = (Family){opens.items, opens.count, dones.items, dones.count};
    return true;
}

bool family_is_done(const Family *family, Lsn snapshot)
{
    for (size_t i = 0; i < family->done_count; i++)
        if (lsn_compare(family->dones[i].at.lsn, snapshot) >= 0) return true;
    return false;
}

const SnapshotDone *family_find_done(const Family *family)
{
    const SnapshotDone *found = NULL;

    for (size_t i = 0; i < family->done_count; i++)
        if (!found || lsn_compare(family->dones[i].at.lsn, found->at.lsn) > 0)
            found = &family->dones[i];
    return found;
}

static const SnapshotOpen *find_newest(const Family *family, const Str *sink_id, bool is_full)
{
    const SnapshotOpen *found = NULL;

    for (size_t i = 0; i < family->open_count; i++) {
        const SnapshotOpen *open = &family->opens[i];

        if (open->is_full != is_full || (sink_id && !str_equal(open->sink_id, *sink_id))) continue;
        if (!found || lsn_compare(open->at.lsn, found->at.lsn) > 0) found = open;
    }
    return found;
}

const SnapshotOpen *family_find_chunked(const Family *family)
{
    return find_newest(family, NULL, false);
}

const SnapshotOpen *family_find_reusable(const Family *family, Str sink_id)
{
    const SnapshotOpen *chunked = find_newest(family, &sink_id, false);

    return chunked ? chunked : find_newest(family, &sink_id, true);
}

const SnapshotDone *family_find_empty(const Family *family, Str sink_id)
{
    for (size_t i = family->done_count; i-- > 0;) {
        const SnapshotDone *done = &family->dones[i];

        if (done->is_bootstrap && !done->is_chunked && str_equal(done->sink_id, sink_id) &&
            done->rows.is_set && done->rows.value == 0)
            return done;
    }
    return NULL;
}

/* --- the lock --- */

bool snapshot_is_purged(Mssql *mssql, const CaptureTable *table, Lsn snapshot, bool *out,
                        Lsn *low_out, Err *err)
{
    const CaptureInstance *next = &table->instances[0];
    Lsn                    from, low;
    bool                   is_set;

    if (!mssql_next_lsn(mssql, snapshot, &from, err)) return false;
    for (size_t i = 1; i < table->instance_count; i++)
        if (table->instances[i].has_start_lsn &&
            lsn_compare(table->instances[i].start_lsn, from) <= 0)
            next = &table->instances[i];
    if (!mssql_min_lsn(mssql, next->name, &low, &is_set, err)) return false;
    *out = plan_is_lost(from, low, is_set);
    if (low_out) *low_out = low;
    return true;
}

/* Does this open, of another mode, keep a run from its own? */
static bool holds(const Family *family, const SnapshotOpen *open, Mssql *mssql,
                  const CaptureTable *table, bool *out, Err *err)
{
    bool is_purged = false;

    *out = !family_is_done(family, open->at.lsn);
    if (!*out || !open->is_full) return true;
    if (find_newest(family, &open->sink_id, false)) {
        *out = false;
        return true;
    }
    if (!snapshot_is_purged(mssql, table, open->at.lsn, &is_purged, NULL, err)) return false;
    *out = !is_purged;
    return true;
}

static bool refuse(const SnapshotOpen *open, SnapshotMode mode, Str target, Err *err)
{
    static const char *const wants[] = {[SNAPSHOT_FULL]    = "a full one",
                                        [SNAPSHOT_CHUNKED] = "a chunked one",
                                        [SNAPSHOT_SEED]    = "a seed"};
    const char              *way_out = open->is_full
                                           ? "rerun the stream with snapshot: full until it is done, or wait "
                                             "until CDC's cleanup has passed that LSN"
                                           : "let tidelake backfill run until it is done, or rerun with its "
                                             "chunked mode";

    return err_set(
        err, ERR_STATE,
        "%.*s: a %s snapshot at LSN %s (generation %lld) has not completed, and %s must not be "
        "taken next to it: %s",
        STR_ARG(target), open->is_full ? "full" : "chunked", lsn_format(open->at.lsn).text,
        (long long)(open->generation.is_set ? open->generation.value : 0), wants[mode], way_out);
}

bool family_check_mode(const Family *family, SnapshotMode mode, Mssql *mssql,
                       const CaptureTable *table, Str target, Err *err)
{
    const SnapshotOpen *newest = NULL;

    for (size_t i = 0; i < family->open_count; i++) {
        const SnapshotOpen *open = &family->opens[i];
        bool                is_holding;

        if (mode != SNAPSHOT_SEED && open->is_full == (mode == SNAPSHOT_FULL)) continue;
        if (!holds(family, open, mssql, table, &is_holding, err)) return false;
        if (is_holding && (!newest || lsn_compare(open->at.lsn, newest->at.lsn) > 0)) newest = open;
    }
    return !newest || refuse(newest, mode, target, err);
}
