/* history_internal.h - what history.c, which runs, and history_look.c, which looks, share. */
#ifndef TIDELAKE_SUPPORT_HISTORY_INTERNAL_H
#define TIDELAKE_SUPPORT_HISTORY_INTERNAL_H

#include "support/history.h"

typedef enum ActorKind {
    ACTOR_STREAM,
    ACTOR_BACKFILL,
    ACTOR_APPLY,
    ACTOR_COMPACT,
    ACTOR_WRITER,
    ACTOR_KINDS
} ActorKind;

/* Whose log a commit goes to. */
typedef enum LakeTable {
    TABLE_NONE,
    TABLE_BRONZE,
    TABLE_SILVER,
    TABLE_FACTS,
    TABLE_CONTROL,
    TABLE_PLANS
} LakeTable;

typedef struct History {
    World         *world;
    HistorySource *source;
    Rng           *cut; /* every choice but the writer's */
    HistoryCounts *counts;
    uint64_t       seed;
    bool           without_faults;
    Granularity    granularity;
    int            transactions_left;
    int64_t        chunk_rows;
    int64_t        connections; /* of the last call of backfill */
    bool           wants_sweep; /* all rows go once there is a plan, and the wave then dies */
    bool           must_aim;    /* at an empty wave's plans rows */
    bool           has_orphan_wave;
    uint64_t       steps, die_at; /* of all processes */
    bool           dies_after;
    int64_t        control_version, bronze_verdict; /* looked at so far */
    bool           has_silver_verdict;
    bool           has_compacted; /* bronze, or tried to */
} History;

/* One process of a round. */
typedef struct Actor {
    History        *history;
    ActorKind       kind;
    Process        *process;
    Task           *task;
    struct Actor   *others; /* of the round */
    size_t          other_count;
    bool            dies_with_others;
    uint64_t        die_at_statement, statements;
    bool            may_fail;
    bool            reads_chunks;    /* since bronze's last commit */
    LakeTable       landing, landed; /* its last commits; the newest may not have made it */
    uint64_t        landing_step;
    uint64_t        moved; /* files into bronze since its last commit */
    BackfillOptions backfill;
    BackfillResult  result;
} Actor;

/* Where the dead process left things. */
void history_classify(History *history, const Actor *actor);
/* Verdicts are kept, and what silver shows was true once. Nobody runs. */
void history_check_verdicts(History *history);
/* The end of a history. */
void history_check_end(History *history);

#endif
