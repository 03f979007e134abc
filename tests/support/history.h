/* history.h - a table's life while it is bootstrapped in chunks: writer, capture, stream, backfill, apply and
 * compaction as tasks of one simulated world, cut and killed as a seed has it. Include test_support.h first.
 *
 * A history is a row of rounds. In a round some of the tasks run next to each other, each a process of its own that
 * may die or fail at a step of its store or at a statement; between rounds, when nobody runs, the tables are looked at,
 * logs are cleaned up and time passes. After the rounds everything runs once more without faults, and silver is the
 * source. */
#ifndef TIDELAKE_SUPPORT_HISTORY_H
#define TIDELAKE_SUPPORT_HISTORY_H

#include "support/backfill.h"
#include "support/history_source.h"

/* Where a process died, as the crash tables of algorithms.md 4.13 and state.md 16 have it. */
typedef enum HistoryPoint {
    /* 4.13, the seven rows */
    POINT_READING,       /* before the append */
    POINT_APPENDED,      /* bronze has the wave, plans and facts lack it */
    POINT_READ_AHEAD,    /* as before, and what was read ahead of it began at the wrong chunk */
    POINT_PLANNED_ROWS,  /* the plans have the chunks of a wave with rows */
    POINT_PLANNED_EMPTY, /* the plans have the chunks of a wave without rows */
    POINT_RECORDED,      /* the facts have the wave */
    POINT_LAST_RECORDED, /* the last wave, and no completion */
    /* state.md 16.4, 16.5 */
    POINT_OPEN_IN_PLANS, /* the facts lack the open */
    POINT_OPEN_IN_FACTS,
    POINT_PLAN_IN_PLANS, /* the facts lack the plan */
    POINT_PLAN_IN_FACTS,
    /* 16.6, when log cleanup came after POINT_APPENDED or POINT_PLANNED_ROWS: the rows tell */
    POINT_HISTORY_LOST,
    /* 16.10 */
    POINT_MERGED,     /* silver has the rows, the position lacks them */
    POINT_POSITIONED, /* the verdict lacks them */
    /* besides the others, in histories with large rows */
    POINT_AMONG_FILES, /* some files of a commit of bronze are in the table, which does not name them */
    HISTORY_POINTS,
} HistoryPoint;

typedef struct HistoryCounts {
    int64_t points[HISTORY_POINTS];
    int64_t large_rows,
        large_files; /* of bronze at the end: those with large values, and files that hold one alone */
    int64_t histories, rounds, calls, deaths, failures, waves, empty_waves, verdicts;
} HistoryCounts;

const char *history_point_name(HistoryPoint point);
void        history_print_counts(const HistoryCounts *counts);

typedef struct HistoryOptions {
    uint64_t source_seed; /* table, rows, transactions */
    uint64_t cut_seed;    /* everything else */
    bool     without_faults, with_large_rows;
    uint64_t
        die_at; /* without other faults: the step of all processes together that one dies at; 0: none */
    bool      dies_after;
    uint64_t *steps_out; /* how many there are; may be NULL */
} HistoryOptions;

/* Whether some rows of that source seed's history have data files of their own. */
bool history_has_large_rows(uint64_t seed);
/* Whether all rows go in the middle of that seed's history, which no other cuts repeat. */
bool history_is_swept(uint64_t seed);
/* One life, which must end well; silver as text in `arena`, when there is one. */
Str history_live(void **state, const HistoryOptions *options, Arena *arena, HistoryCounts *counts);

#endif
