/* bronze_internal.h - shared by the log of changes and the waves in it (bronze.c, bronze_waves.c). */
#ifndef TIDELAKE_STATE_BRONZE_INTERNAL_H
#define TIDELAKE_STATE_BRONZE_INTERNAL_H

#include "state/bronze.h"

struct Bronze {
    DeltaContext *context;
    TableRef      ref;
    Arena        *arena;
    DeltaTable   *table;       /* NULL: not created yet */
    bool          is_migrated; /* once a run: a newer version is warned of once */
    Schema pending; /* the table's columns and those an append must add; column_count 0: nothing
                                  to add */
};

/* Is this the commit that is looked for? Keeps of it what it wants. */
typedef bool (*BronzeCommitTest)(void *arg, Str user_metadata);
/* Looks from the newest version back; the history holds a commit unless log clean-up took it. */
bool bronze_find_commit(Bronze *bronze, BronzeCommitTest test, void *arg, bool *found,
                        Err *err) MUST_CHECK;

/* What the next append brings; NULL: nothing new. */
const Schema *bronze_pending_schema(const Bronze *bronze);

/* Publishes the files and commits them, with the columns that bronze_prepare found missing. */
bool bronze_commit_rows(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                        const DeltaTxn *txn, Str user_metadata, DeltaOutcome *out,
                        Err *err) MUST_CHECK;

/* A query over the rows of files that may hold a snapshot's. */
typedef struct SnapshotQuery {
    bool         is_whole; /* no rows of chunks are asked for: files of nothing else are left out */
    Arena       *arena;
    DuckSession *session;
    RowStream   *rows;
} SnapshotQuery;
/* Rows of operation 0 above `above` as far as statistics tell; `is_empty`: there is no such file. */
bool bronze_open_query(Bronze *bronze, OptLsn above, const char *select, Str where,
                       const char *rest, SnapshotQuery *query, bool *is_empty, Err *err) MUST_CHECK;
void bronze_close_query(SnapshotQuery *query);

#endif
