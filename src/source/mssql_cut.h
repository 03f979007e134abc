/* mssql_cut.h - what is asked of a table to cut it along its key (the extent, counted slices, the key n rows on),
 * and the rows of a part (Q24 to Q29; algorithms.md 3.2, 4.4 to 4.11).
 *
 * A cutter asks on a connection of its own, under the retry policy, with the isolation and the lock timeout of its
 * Mssql. One question at a time. */
#ifndef TIDELAKE_SOURCE_MSSQL_CUT_H
#define TIDELAKE_SOURCE_MSSQL_CUT_H

#include "source/mssql.h"
#include "types/optional.h"

__extension__ typedef __int128 WideKey; /* one past bigint's maximum, and what leads there */

typedef struct KeyColumn KeyColumn;
typedef struct Cutter    Cutter;

/* How a table is cut. */
typedef struct TableCut {
    const Str       *names; /* the cut columns as captured; count 0: none */
    size_t           column_count;
    const KeyColumn *columns;
    bool can_bound;   /* false: the table is one part (no key, or a type without a bound) */
    bool is_integer;  /* one column of tinyint to bigint: bounds are numbers */
    bool may_repeat;  /* the columns are not the unique index: a value may have many rows */
    Str  why_not;     /* can_bound false: the reason, for people */
    Str  why_refused; /* the chosen names must not be used: the reason; empty: they may */
} TableCut;

/* Along `names` when given (snapshot_keys), matched ignoring case, else along the unique index of the
 * configured instance. ERR_USAGE for a name that is not captured. The cut borrows `table`. */
bool mssql_cut_table(const CaptureTable *table, const Str *names, size_t name_count, Arena *arena,
                     TableCut *out, Err *err) MUST_CHECK;

/* What the i-th cut column was declared as. */
SqlTypeKind cut_column_type(const TableCut *cut, size_t index);

/* `mssql`, `table` and `cut` must outlive the cutter. Connects at its first question. */
Cutter *cutter_new(Arena *arena, Mssql *mssql, const CaptureTable *table, const TableCut *cut);
/* Of a whole snapshot's steps, which are planned under READ COMMITTED whatever its reads run under. */
void cutter_ignore_isolation(Cutter *cutter);
void cutter_close(Cutter *cutter); /* accepts NULL */

/* Keys from <= key < hi of an integer cut, each end when there is one. */
typedef struct KeyInterval {
    bool    has_from, has_hi;
    WideKey from, hi;
} KeyInterval;
typedef struct KeyExtent {
    bool    is_found; /* false: no row with a value */
    int64_t min, max;
} KeyExtent;
/* MIN and MAX of each interval (Q24). */
bool cutter_find_extents(Cutter *cutter, const KeyInterval *intervals, size_t count, KeyExtent *out,
                         Err *err) MUST_CHECK;

/* The rows of an interval by floor(key / width), NULL keys in none (Q26). */
typedef struct SliceGrid {
    KeyInterval interval;
    int64_t     width; /* at least 1 */
} SliceGrid;
typedef struct SliceCount {
    int64_t index; /* floor(key / width) */
    int64_t rows;
} SliceCount;
typedef struct SliceCounts {
    SliceCount *items; /* with rows, ascending by index */
    size_t      count;
} SliceCounts;
bool cutter_count_slices(Cutter *cutter, const SliceGrid *grids, size_t count, Arena *arena,
                         SliceCounts *out, Err *err) MUST_CHECK;

/* The server's guess of the table's rows; 0 when it tells nothing (Q25). */
bool cutter_estimate_rows(Cutter *cutter, int64_t *rows_out, Err *err) MUST_CHECK;
/* The last key; NULL: the table is empty (Q27). One part per column, in `arena`. */
bool cutter_find_last(Cutter *cutter, Arena *arena, const KeyPart **out, Err *err) MUST_CHECK;
/* The key of the (n+1)-th row of [lo, hi), NULL bounds open; NULL: the range holds n rows or fewer (Q28). */
bool cutter_seek(Cutter *cutter, const KeyPart *lo, const KeyPart *hi, int64_t n, Arena *arena,
                 const KeyPart **out, Err *err) MUST_CHECK;
/* --- rows --- */
/* A part whose rows come behind another one's, asked in the same request. */
typedef struct TablePart {
    const KeyPart *lo, *hi;
    OptI64         chunk;
} TablePart;

typedef struct TableRead {
    const CaptureTable *table;
    const TableCut     *cut;
    const KeyPart      *lo, *hi; /* [lo, hi), a part per cut column; NULL: open */
    const Schema       *columns;
    Str                 instance_name; /* for _capture_instance */
    Offset              stamp;         /* taken before the read */
    Lsn                 snapshot;      /* a whole snapshot's is its stamp */
    OptI64              chunk;         /* of a chunked one */
    const TablePart    *behind;        /* mssql_next_part */
    size_t              behind_count;
} TableRead;

#define TABLE_PARTS_MAX 32 /* of one request */

/* The rows of a part as bronze's snapshot form: operation 0, _start_lsn the stamp's, `columns`. `read` is not needed
 * afterwards but for its table; `*row_count_out` grows as rows are read. On a connection of its own.
 * Errors as mssql_read_changes, and ERR_LOCK_TIMEOUT; ERR_SOURCE_STATE with native 3952 when the
 * database does not allow SNAPSHOT. */
bool mssql_read_table(Mssql *mssql, const TableRead *read, int64_t *row_count_out, RowStream **out,
                      Err *err) MUST_CHECK;
/* Logs in for a later mssql_read_table, which takes that connection if it comes before long. By any thread. */
bool mssql_connect_ahead(Mssql *mssql, Err *err) MUST_CHECK;
/* Of the parts that were asked for, how many are behind the one that the stream is at: maybe fewer than `behind` named
 * (the connection asks one by one, or the request would be too long). */
size_t mssql_parts_behind(const RowStream *stream);
/* Behind the last row of a part, and with a part behind it: the stream goes on with that one. Each is a statement of
 * its own. Its rows are under `stamp`, which is no newer than the request; `*row_count_out` begins at 0 and grows with
 * them. */
bool mssql_next_part(RowStream *stream, const Offset *stamp, int64_t *row_count_out,
                     Err *err) MUST_CHECK;
/* The quickest that a request for rows was answered so far, in seconds: a round trip, and the server's way to its
 * first rows. 0: none was. By any thread. */
double mssql_round_trip(const Mssql *mssql);

#endif
