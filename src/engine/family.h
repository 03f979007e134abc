/* family.h - the snapshots of a stream as the facts know them: what was opened, what is complete, and which
 * mode that leaves to a run (algorithms.md 4.14 to 4.16). */
#ifndef TIDELAKE_ENGINE_FAMILY_H
#define TIDELAKE_ENGINE_FAMILY_H

#include "source/mssql.h"
#include "state/facts.h"
#include "state/payload_chunks.h"

typedef enum SnapshotMode { SNAPSHOT_FULL, SNAPSHOT_CHUNKED, SNAPSHOT_SEED } SnapshotMode;

/* A 'snapshot_open' row. */
typedef struct SnapshotOpen {
    Str         sink_id; /* of the generation that opened it */
    Offset      at;      /* S */
    OptTime     written_at;
    bool        is_full;
    OptI64      generation;
    ChunkedOpen chunked; /* when not full; has_bounds: opened before the plans table was there */
    Str         detail;
} SnapshotOpen;

/* A 'bootstrap' or 'resnapshot' row. */
typedef struct SnapshotDone {
    Str    sink_id;
    Offset at;
    bool   is_bootstrap, is_chunked;
    OptI64 rows;
} SnapshotDone;

typedef struct Family {
    const SnapshotOpen *opens;
    size_t              open_count;
    const SnapshotDone *dones;
    size_t              done_count;
} Family;

/* Reads the rows of the stream's family for this target. `facts` NULL: none. */
bool family_read(Facts *facts, Str target, Str app_id, Arena *arena, Family *out,
                 Err *err) MUST_CHECK;

/* A snapshot at or after S is complete. */
bool family_is_done(const Family *family, Lsn snapshot);
/* The newest that is complete; NULL: none. */
const SnapshotDone *family_find_done(const Family *family);
/* The newest chunked open by S, whatever its generation; NULL: none. */
const SnapshotOpen *family_find_chunked(const Family *family);
/* What a run of this sink id starts from: its chunked open with the largest S, else its full one; NULL: none. */
const SnapshotOpen *family_find_reusable(const Family *family, Str sink_id);
/* The sink id's completion of an empty table's full snapshot; NULL: none. */
const SnapshotDone *family_find_empty(const Family *family, Str sink_id);

/* Refuses `mode` while a snapshot that is open holds another one: ERR_STATE with its S, its generation and the way
 * out. A full one whose changes cleanup has taken can never complete and holds nothing. */
bool family_check_mode(const Family *family, SnapshotMode mode, Mssql *mssql,
                       const CaptureTable *table, Str target, Err *err) MUST_CHECK;
/* Has cleanup taken changes right after this LSN (5.2)? `low_out` (may be NULL): the oldest that is left. */
bool snapshot_is_purged(Mssql *mssql, const CaptureTable *table, Lsn snapshot, bool *out,
                        Lsn *low_out, Err *err) MUST_CHECK;

#endif
