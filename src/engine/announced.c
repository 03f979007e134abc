/* announced.c - the newest open and the newest completion among a table's facts. */
#include "engine/announced.h"

#include "state/payload.h"

static void raise_to(OptLsn *newest, OptLsn lsn)
{
    if (lsn.is_set && (!newest->is_set || lsn_compare(lsn.lsn, newest->lsn) > 0)) *newest = lsn;
}

static bool is_chunked(const FactsRow *open)
{
    OpenDetail detail;

    (void)payload_parse_open(open->detail, &detail);
    return !detail.is_full;
}

/* What is told of the newest completion, once that is known: whose it is, since when, and what was complete before. */
static void look_at_completion(Announced *announced, const FactsRow *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_open = str_equal_c(rows[i].event, EVENT_SNAPSHOT_OPEN);
        int  order   = rows[i].max_lsn.is_set
                           ? lsn_compare(rows[i].max_lsn.lsn, announced->completed.lsn)
                           : 1;

        if (is_open && order == 0 && is_chunked(&rows[i])) announced->done = &rows[i];
        if (!is_open && order < 0) raise_to(&announced->completed_before, rows[i].max_lsn);
        if (!is_open && order == 0 && !announced->done_at.is_set)
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
        if (!str_equal_c(rows[i].event, EVENT_SNAPSHOT_OPEN)) {
            raise_to(&out->completed, rows[i].max_lsn);
            continue;
        }
        if (!is_chunked(&rows[i]) || !rows[i].max_lsn.is_set) continue;
        if (!out->opened || lsn_compare(rows[i].max_lsn.lsn, out->opened->max_lsn.lsn) > 0)
            out->opened = &rows[i];
    }
    if (out->completed.is_set) look_at_completion(out, rows, count);
    return true;
}

bool announced_is_open(const Announced *announced)
{
    return announced->opened &&
           (!announced->completed.is_set ||
            lsn_compare(announced->opened->max_lsn.lsn, announced->completed.lsn) > 0);
}

void announced_reopen(Announced *announced)
{
    announced->completed = announced->completed_before;
}
