/* announced.c - the newest open and the newest completion among a table's facts. */
#include "engine/announced.h"

#include "state/payload.h"

static void raise_to(OptLsn *newest, OptLsn lsn)
{
    if (lsn.is_set && (!newest->is_set || lsn_compare(lsn.lsn, newest->lsn) > 0)) *newest = lsn;
}

/* What is told of the newest chunked open, once that is known. */
static void look_at_completions(Announced *announced, const FactsRow *rows, size_t count)
{
    Lsn snapshot = announced->opened->max_lsn.lsn;

    for (size_t i = 0; i < count; i++) {
        if (str_equal_c(rows[i].event, EVENT_SNAPSHOT_OPEN) || !rows[i].max_lsn.is_set) continue;
        if (lsn_compare(rows[i].max_lsn.lsn, snapshot) < 0)
            raise_to(&announced->completed_before, rows[i].max_lsn);
        else if (lsn_equal(rows[i].max_lsn.lsn, snapshot) && !announced->done_at.is_set)
            announced->done_at = rows[i].written_at; /* the oldest comes first */
    }
}

bool announced_read(Facts *facts, Str target, Arena *arena, Announced *out, Err *err)
{
    FactsRow *rows;
    size_t    count;

    *out = (Announced){.opened = NULL};
    if (!facts) return true;
    if (!facts_find_snapshots(facts, target, STR_EMPTY, arena, &rows, &count, err)) return false;
    for (size_t i = 0; i < count; i++) {
        OpenDetail detail;

        if (!str_equal_c(rows[i].event, EVENT_SNAPSHOT_OPEN)) {
            raise_to(&out->completed, rows[i].max_lsn);
            continue;
        }
        (void)payload_parse_open(rows[i].detail, &detail);
        if (detail.is_full || !rows[i].max_lsn.is_set) continue;
        if (!out->opened || lsn_compare(rows[i].max_lsn.lsn, out->opened->max_lsn.lsn) > 0)
            out->opened = &rows[i];
    }
    if (out->opened) look_at_completions(out, rows, count);
    return true;
}

bool announced_is_open(const Announced *announced)
{
    return announced->opened &&
           (!announced->completed.is_set ||
            lsn_compare(announced->opened->max_lsn.lsn, announced->completed.lsn) > 0);
}

bool announced_is_done(const Announced *announced)
{
    return announced->opened && announced->completed.is_set &&
           lsn_equal(announced->opened->max_lsn.lsn, announced->completed.lsn);
}

void announced_reopen(Announced *announced)
{
    announced->completed = announced->completed_before;
}
