/* history_source.h - the table a history is about, its writer, and a model that knows every commit.
 * Include test_support.h first.
 *
 * Each row has a number n that its key stands for, and a v that no other image of any row has. So two
 * integers say which image of which row silver or bronze shows, whatever the key's type. The writer's
 * choices come from a generator of its own: the same source seed writes the same transactions, however
 * they are cut. */
#ifndef TIDELAKE_SUPPORT_HISTORY_SOURCE_H
#define TIDELAKE_SUPPORT_HISTORY_SOURCE_H

#include "base/list.h"
#include "support/world.h"

typedef enum HistoryKey {
    KEY_DENSE,    /* int, side by side */
    KEY_SPARSE,   /* bigint: a cluster, wide gaps, a sentinel at the end of the type */
    KEY_PAIR,     /* int and varchar */
    KEY_VARCHAR,  /* ignoring case; the case of a key changes now and then */
    KEY_TIME,     /* datetime2(7), a microsecond apart */
    KEY_DECIMAL,  /* of either sign */
    KEY_GUID,     /* sorted as no text sorts */
    KEY_REPEATED, /* int, and the chunks are cut on another column that repeats and may be NULL */
    HISTORY_KEYS,
} HistoryKey;

/* One row of one commit: v before and after it, 0 where there is no row. */
typedef struct HistoryChange {
    int     n;
    int64_t before, after;
} HistoryChange;

typedef struct HistoryCommit {
    int64_t        done_us; /* not before its commit time; INT64_MAX: on its way */
    HistoryChange *changes;
    size_t         change_count;
} HistoryCommit;

typedef struct HistorySource {
    World     *world;
    Arena     *arena;
    Rng       *rng;
    HistoryKey kind;
    bool       has_large_rows; /* column t is long where HISTORY_LARGE_EVERY divides v, else NULL */
    int        universe;       /* n is below it */
    int64_t   *now;            /* v by n */
    int64_t   *draft;          /* with the transaction that is being made */
    bool      *flipped;        /* the key's other case */
    int64_t    next_v;
    LIST(HistoryCommit) commits;
} HistorySource;

/* In a history with large rows: one of so many images has a t, which is v and a comma so many times. The rows'
 * other texts are well below HISTORY_LARGE_BYTES. */
#define HISTORY_LARGE_EVERY 7
#define HISTORY_LARGE_TIMES 600
#define HISTORY_LARGE_BYTES 1000

/* dbo.orders with CDC on it and `rows` rows. */
HistorySource *history_source_new(World *world, uint64_t seed, HistoryKey kind, int rows,
                                  bool has_large_rows);
void           history_source_close(HistorySource *source);

/* Columns of the key as silver has them, and of the cut where it is another (count 0: the key). */
const Str  *history_key_columns(HistoryKey kind, size_t *count_out);
const Str  *history_cut_columns(HistoryKey kind, size_t *count_out);
const char *history_columns(const HistorySource *source); /* all of them, for a SELECT */

/* One transaction of up to four statements. It may stay open for a while before its COMMIT when
 * `hold_ms` is not 0. */
void history_source_write(HistorySource *source, int64_t hold_ms);
void history_source_delete_all(HistorySource *source);

/* Whether an image (v, or 0 for no row) of row n was true at some moment from `from_us` on, up to now.
 * Commits done before from_us count as a whole. */
bool history_source_allows(const HistorySource *source, int n, int64_t v, int64_t from_us);

#endif
