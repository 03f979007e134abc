/* model_internal.h - what the files of the model share: rows, bodies, locks, transactions, the log.
 *
 * Latches, from the outside in; whoever holds one may take those below it, and nobody calls a
 * Queue, a Clock's sleep or a sink while holding any:
 *   catalog lock (names, principals) > table latch (trees) > pins (memory of old versions) > lock
 *   manager > log > CDC's mutex.
 * A row's versions form a chain from its Item; a version is immutable but for its stamp, so whoever
 * may point to it reads it without a latch. A version taken out of a chain is freed when no batch
 * of a scan can point to it any more (table pins) and the log is done with it (its count). An
 * uncommitted version is an exclusive lock on its row; it becomes an entry of the lock manager when
 * somebody has to wait for it. */
#ifndef TIDESIM_MODEL_INTERNAL_H
#define TIDESIM_MODEL_INTERNAL_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/slab.h"
#include "sim/capture/cdc.h"
#include "sim/model/model.h"
#include "sim/model/tree.h"

typedef struct Body         Body;
typedef struct Hold         Hold;
typedef struct LockResource LockResource;
typedef struct LockRequest  LockRequest;
typedef struct LockManager  LockManager;
typedef struct CommitNode   CommitNode;
typedef struct Instance     Instance;
typedef struct SimCdc       SimCdc;
typedef struct Synthetic    Synthetic;
typedef struct RangeLock    RangeLock;

/* --- rows (model/row.c) --- */
#define ROW_TOMBSTONE 1 /* the row is deleted in this version; no columns */
#define ROW_WIDE      2 /* offsets of 4 bytes */
#define ROW_TINY      4 /* offsets of one byte; else of two */

struct SimRow {
    SimRow          *previous; /* the version before; NULL: none is needed */
    Item            *place;
    _Atomic uint64_t stamp; /* twice the commit's number, or the SimTxn + 1 while it runs */
    _Atomic uint16_t refs;  /* the chain, and records of the log */
    uint16_t         column_count;
    uint8_t          flags;
    uint8_t          bytes[]; /* where each column ends, then the columns */
};

static inline size_t row_offset_width(uint8_t flags)
{
    return flags & ROW_TINY ? 1 : flags & ROW_WIDE ? 4 : 2;
}

static inline size_t row_offsets_size(const SimRow *row)
{
    return row->column_count * row_offset_width(row->flags);
}

/* Where column `ordinal` begins and the one before it ends. */
static inline uint32_t row_offset(const SimRow *row, size_t ordinal)
{
    uint32_t wide;
    uint16_t narrow;

    if (ordinal == 0) return 0;
    if (row->flags & ROW_TINY) return row->bytes[ordinal - 1];
    if (row->flags & ROW_WIDE) {
        memcpy(&wide, row->bytes + 4 * (ordinal - 1), 4);
        return wide;
    }
    memcpy(&narrow, row->bytes + 2 * (ordinal - 1), 2);
    return narrow;
}

/* Bytes of the columns. */
static inline uint32_t row_size(const SimRow *row)
{
    return row_offset(row, row->column_count);
}

static inline Bytes row_wire(const SimRow *row, size_t ordinal)
{
    uint32_t from = row_offset(row, ordinal);
    return (Bytes){row->bytes + row_offsets_size(row) + from, row_offset(row, ordinal + 1) - from};
}

/* A row being written column by column; `size` is the sum of all columns' bytes. */
typedef struct RowBuild {
    SimRow  *row;
    uint8_t *at;
    size_t   ordinal, size;
} RowBuild;
RowBuild row_build_begin(Slab *slab, size_t column_count, size_t size);
/* One that lives in an arena, committed for ever, and is never released. */
RowBuild row_build_in(Arena *arena, size_t column_count, size_t size);
uint8_t *row_build_column(RowBuild *build, size_t len); /* where the next column goes */
void     row_build_copy(RowBuild *build, Bytes wire);

/* `before`: the version it follows, or NULL. A rowversion that is NULL or as before takes the next
 * number. 515. */
bool    row_encode(const SimTable *table, const SimTableInfo *info, const SimValue *values,
                   const SimRow *before, SimRow **out, SimError *error) MUST_CHECK;
SimRow *row_tombstone(const SimTable *table, const SimRow *before);
/* 1946: an index key is too long. */
bool   row_check_keys(const SimTableInfo *info, const SimRow *row, SimError *error) MUST_CHECK;
void   row_hold(SimRow *row);
void   row_release(SimRow *row); /* accepts NULL */
size_t wire_size(const SimType *type, const SimValue *value);
void   wire_put(const SimType *type, const SimValue *value, uint8_t *out);
void   wire_get(const SimType *type, Bytes wire, SimValue *out);
Bytes  wire_null(const SimType *type);   /* static bytes */
bool   type_is_lob(const SimType *type); /* (max), xml, text, ntext, image */
size_t info_ordinal(const SimTableInfo *info, int32_t column_id); /* of a column that it has */
/* The order of a row in an index: the sort keys of its columns. */
void row_index_key(const SimTableInfo *info, const SimIndex *index, const SimRow *row, Buf *out);

#define STAMP_SYSTEM 2u /* always committed */
static inline uint64_t stamp_of_txn(const SimTxn *txn)
{
    return (uint64_t)(uintptr_t)txn + 1;
}

/* --- items: places of rows and entries of indexes --- */
#define ITEM_LOCKED 1u /* the lock manager knows it */
#define ITEM_DEAD   2u /* not in its tree any more: the lock manager frees it */
#define ITEM_STALE  4u /* an entry whose row's newest version may have another key */
#define ITEM_KEPT   8u /* older versions wait in the version store; it alone takes the place out */

Item *item_new(Slab *slab, void *ref, Bytes key, Bytes suffix);
void  item_free(Item *item);

static inline SimRow *place_head(const Item *place)
{
    return place->ref;
}

/* --- keys that stand in the rows alone (model/key.c) --- */
typedef struct KeyReader KeyReader;
/* NULL: places of this index have keys of their own. */
KeyReader *key_reader_new(const SimTableInfo *info, const SimIndex *index);
/* The key of a place, from its newest version; a TreeReadKey. */
Bytes key_reader_read(const void *reader, const Item *place, uint8_t *scratch);
/* The key of a version, which may be a tombstone. */
Bytes key_reader_read_row(const KeyReader *reader, const SimRow *row, uint8_t *scratch);

/* --- a table's rows under one description (model/body.c) --- */
struct Body {
    const SimTableInfo *info; /* the table's arena */
    Slab               *slab;
    const SimIndex     *clustered; /* NULL: a heap */
    KeyReader          *reader;    /* of the rows' keys; NULL: their places have them */
    Tree               *trees;     /* [0] the rows, then an index each */
    size_t              tree_count;
    uint64_t            next_row_id; /* heaps, and clustered indexes that are not unique */
};

typedef struct Pin { /* a batch of rows that somebody looks at */
    struct Pin *previous, *next;
    uint64_t    epoch;
    bool        is_set;
} Pin;

typedef struct Limbo {
    SimRow  *row;
    uint64_t epoch;
} Limbo;

struct LockResource {
    Item         *place; /* NULL: a table's, or CDC's */
    LockResource *next;  /* in its bucket */
    Hold         *holds;
    LockRequest  *first, *last; /* who waits, in the order of service */
    uint32_t      users;        /* sessions in lock_wait, the queue or no more */
    SimTable     *table;        /* it is, or is in; NULL: CDC's */
    RangeLock    *range;        /* of a range; it goes when nobody is left */
    bool          is_over;      /* the range's transaction has ended */
};

/* Sessions to wake as soon as no latch is held. */
typedef struct Wakes {
    SimWaiter *first, *last;
} Wakes;
/* Under a mutex, and without it. In between the session must not go: await_promised_wake. */
void wakes_add(Wakes *wakes, SimWaiter *waiter);
void wakes_send(Wakes *wakes);
void await_promised_wake(SimWaiter *waiter);

struct SimTable {
    SimDatabase                  *database;
    _Atomic(Body *)               body; /* for whoever has a lock on the table */
    _Atomic(const SimTableInfo *) info; /* the same description, for everyone */
    int32_t                       object_id;
    bool                          is_system, is_temporary;
    const Synthetic              *synthetic; /* its rows are computed; NULL: they are stored */
    atomic_bool                   is_dropped;
    pthread_mutex_t               turnstile; /* lets writers in between many readers */
    pthread_rwlock_t              latch;
    LockResource                  lock;
    pthread_mutex_t               pin_lock;
    Pin                          *oldest_pin, *newest_pin;
    uint64_t                      epoch;
    Limbo                        *limbo; /* a ring */
    size_t                        limbo_first, limbo_count, limbo_capacity;
    _Atomic int64_t               row_count, size_bytes;
    _Atomic int64_t               identity; /* the last one given out */
    atomic_bool                   identity_is_used;
    Arena                        *arena; /* descriptions; changed under Sch-M only */
    LIST(Arena *) adopted;
    int32_t     next_column_id;
    Str         name_key;    /* in the catalogue; the arena's */
    Instance   *captures[2]; /* oldest first; under CDC's mutex, and changed under Sch-M only */
    atomic_uint capture_count;
    _Atomic uint64_t altered_state; /* of the commit that changed the description last */
    RangeLock       *ranges;        /* under the latch, changed exclusively */
    atomic_uint      range_count;
};

static inline Body *table_body(const SimTable *table)
{
    return atomic_load_explicit(&table->body, memory_order_acquire);
}

void table_set_body(SimTable *table, Body *body);

void latch_shared(SimTable *table);
void latch_exclusive(SimTable *table);
void latch_release(SimTable *table);

Body *body_new(const SimTableInfo *info, Slab *slab);
void  body_free_rows(Body *body, SimServer *server); /* keeps the description */
void  body_free(Body *body, SimServer *server);      /* accepts NULL */
Tree *body_tree(const Body     *body,
                const SimIndex *index); /* NULL index: the rows; NULL: not an index of this body */
/* The row's key in the clustered order, without what makes it unique. */
void body_place_key(const Body *body, const SimRow *row, Buf *out);
bool body_place_is_unique(const Body *body);
/* A place without a row in the tree; where the key is not unique, a row id is added. NULL: there is
 * one of this key. */
Item *body_add_place(Body *body, Bytes key);

/* The key of a version's entry in another index: its columns, then the place's key. */
void body_entry_key(const Body *body, const SimIndex *index, const SimRow *row, const Item *place,
                    Buf *out);
/* Adds the entries of a new head to the other indexes, marks those of the version before that it
 * leaves behind. */
void body_add_entries(Body *body, Item *place, SimRow *row, const SimRow *before, Buf *scratch);
void body_remove_entries(Body *body, Item *place, SimRow *row, const SimRow *before,
                         Buf *scratch);          /* the reverse */
void place_free(SimServer *server, Item *place); /* out of its tree already */

/* Removes the entries of a version that has left its chain, unless another version needs them. */
void body_drop_entries(Body *body, Item *place, const SimRow *gone, Buf *scratch);
/* The place has one version: its entries are no longer in doubt, a deleted row goes. */
void body_settle_alone(SimTable *table, Body *body, Item *place, Buf *scratch);

/* --- views and the versions kept for them (model/view.c) --- */
/* What a reader of versions sees: everything committed up to `bound`, and its own changes. */
typedef struct View {
    struct View *previous, *next; /* of the database, oldest first */
    uint64_t     bound;           /* as SimTxn.state */
    bool         is_set;
} View;

typedef struct Kept { /* a row with versions that somebody may still look at */
    SimTable *table;
    Body     *body;
    Item     *place;
    uint64_t  state; /* of its newest version: once every view is as new, the others go */
} Kept;

typedef struct CommitTime {
    uint64_t state;
    int64_t  utc_us;
} CommitTime;

typedef struct VersionStore {
    /* Views: under the log's mutex. The bounds of the oldest and the newest may be read without;
     * UINT64_MAX and 0 when there is none. */
    View            *oldest, *newest;
    _Atomic uint64_t horizon, newest_bound;
    View             lagging; /* what a secondary keeps alive */
    View late[2]; /* with commit_visible after_capture: what views see, and what they will */
    _Atomic int64_t lag_us; /* of the secondary; -1: there is none */
    CommitTime     *times;  /* a ring: commits the secondary has not reached */
    size_t          time_first, time_count, time_capacity;
    pthread_mutex_t mutex; /* of what follows; after a table's latch */
    Kept           *kept;  /* a ring */
    size_t          kept_first, kept_count, kept_capacity;
} VersionStore;

void versions_open(SimDatabase *database);
void versions_close(SimDatabase *database);
/* Opens a view of everything committed so far, or of what the secondary has reached. */
void view_open(SimDatabase *database, View *view, bool is_lagging);
void view_close(SimDatabase *database, View *view); /* harmless when it is not set */
/* Frees what no view needs any more. With no latch held. */
void versions_collect(SimDatabase *database);
/* A cycle of capture begins. With the knob commit_visible, what it captures is seen when the next one does. */
void versions_note_cycle(SimDatabase *database);
/* Inside the log's mutex: a commit has happened. */
void versions_note_commit(SimDatabase *database, uint64_t state);
/* With the latch held exclusively, after the newest version was settled or taken back. */
void versions_trim(SimTable *table, Body *body, Item *place, Buf *scratch);
/* Nobody looks at rows of this body any more. */
void versions_forget(SimTable *table, const Body *body);
/* The rows of a body go on under another description. */
void versions_move(SimTable *table, const Body *from, Body *to);

/* Memory of old versions. With the table's latch held (pin: shared will do). */
void pin_set(SimTable *table, Pin *pin);
void pin_clear(SimTable *table, Pin *pin);
void row_retire(SimTable *table, SimRow *row);

/* --- locks (model/lock.c) --- */
typedef enum LockMode {
    LOCK_SCH_S,
    LOCK_SCH_M,
    LOCK_IS,
    LOCK_IX,
    LOCK_S,
    LOCK_U,
    LOCK_X,
    LOCK_RANGE_S, /* a range that was read: nothing may come into it */
    LOCK_RANGE_U, /* the same, read in order to write */
    LOCK_RANGE_I, /* what comes into a range asks for */
    LOCK_MODE_COUNT
} LockMode;
typedef enum LockAnswer { LOCK_GRANTED, LOCK_QUEUED, LOCK_REFUSED } LockAnswer;

struct LockRequest { /* one per transaction: a session waits for one thing at a time */
    LockRequest  *previous, *next; /* in the resource's queue */
    SimTxn       *txn;
    LockResource *resource;
    LockMode      mode;
    bool          is_conversion;
    enum { REQUEST_NONE, REQUEST_WAITS, REQUEST_GRANTED, REQUEST_IS_VICTIM } state;
};

struct Hold {
    Hold         *previous, *next; /* of the resource */
    Hold         *txn_previous, *txn_next;
    SimTxn       *txn;
    LockResource *resource;
    uint32_t      counts[LOCK_MODE_COUNT];
};

struct LockManager {
    pthread_mutex_t mutex;
    LockResource  **buckets;
    size_t          bucket_count, resource_count;
    LockResource   *free_resources;
    Hold           *free_holds;
};

void lock_manager_open(LockManager *manager);
void lock_manager_close(LockManager *manager);
/* Asks for a lock. QUEUED: release the latch, then lock_wait. REFUSED: the error is set (1222 at
 * once, 1205). */
LockAnswer lock_ask(SimTxn *txn, LockResource *resource, LockMode mode, SimError *error);
/* The same for a row; `holder` is the transaction of its uncommitted version, or NULL. With the
 * table's latch held. */
LockAnswer lock_ask_row(SimTxn *txn, SimTable *table, Item *place, LockMode mode, SimTxn *holder,
                        SimError *error);
bool       lock_wait(SimTxn *txn, SimError *error) MUST_CHECK;
bool       lock_take(SimTxn *txn, LockResource *resource, LockMode mode,
                     SimError *error) MUST_CHECK;                              /* ask and wait */
void       lock_give_back(SimTxn *txn, LockResource *resource, LockMode mode); /* one of them */
void       lock_give_back_row(SimTxn *txn, Item *place, LockMode mode);
void       lock_give_back_last(SimTxn *txn); /* what lock_wait has waited for */
void       lock_release_all(SimTxn *txn);
/* Somebody else has a lock on the row that stands in the way of writing it. With the latch held. */
bool lock_row_is_in_way(SimTxn *txn, const Item *place, LockMode mode);
/* The transaction has put a version on a row that the lock manager knows: those who wait there
 * already must not be served before it ends. With the latch held. */
void lock_note_writer(SimTxn *txn, const Item *place);
bool waiter_check(SimWaiter *waiter, SimError *error) MUST_CHECK; /* attention, kill */
/* The range of a lock resource is over; it goes with the last one that waits for it. */
void lock_end_range(LockManager *manager, LockResource *resource);

/* --- ranges of SERIALIZABLE readers (model/range.c) --- */
/* Bounds as in a scan: keys at or above `low` and below `high`; ptr NULL: open. */
bool range_take(SimTxn *txn, SimTable *table, const Tree *tree, Str low, Str high, bool for_update,
                SimError *error) MUST_CHECK;
/* A row is about to come to new keys (`before`: the version it replaces in its place, or NULL). With
 * the latch held; GRANTED: nothing is in the way, QUEUED: wait for a lock to be given back. */
LockAnswer range_ask(SimTxn *txn, SimTable *table, Body *body, Str place_key, const SimRow *row,
                     const SimRow *before, SimError *error);
void       ranges_release(SimTxn *txn);
/* The ranges of a table, one after the other, from NULL to NULL. With its latch held. */
const LockResource *range_next(const SimTable *table, const LockResource *after);

/* --- transactions (model/txn.c) --- */
/* Something that ends with the transaction. `commit` (may be NULL) runs inside the log's mutex,
 * where commits have their order; `rollback` in the order of undo; `done` in any case, after all
 * locks are gone; it frees the event. */
typedef struct TxnEvent TxnEvent;
struct TxnEvent {
    TxnEvent *next; /* of those rolled back */
    bool      is_rolled_back;
    void (*commit)(TxnEvent *event, SimTxn *txn, Lsn lsn);
    void (*rollback)(TxnEvent *event, SimTxn *txn);
    void (*done)(TxnEvent *event);
};

typedef enum UndoKind { UNDO_ROW, UNDO_BODY, UNDO_EVENT } UndoKind;
typedef struct Undo {
    UndoKind  kind;
    SimTable *table;
    union {
        SimRow   *row; /* the version that was put in front */
        Body     *before;
        TxnEvent *event;
    };
    Body *after;
} Undo;

typedef struct TableDelta {
    SimTable *table;
    int64_t   rows, bytes;
} TableDelta;

typedef struct StatementLock {
    LockResource *resource;
    LockMode      mode;
} StatementLock;

struct SimTxn {
    _Atomic uint64_t state; /* 0 while it runs, then twice the commit's number; 1: rolled back */
    SimDatabase     *database;
    SimWaiter       *waiter;
    SimIsolation     isolation;
    uint64_t         id;
    bool        is_capture; /* of the capture job or the cleanup: rows are not logged one by one */
    Undo       *undo;
    size_t      undo_count, undo_capacity;
    CommitNode *node; /* what capture will read; NULL: nothing so far */
    Lsn         first_lsn;
    int64_t     begin_us; /* local, of the first write */
    uint32_t    statement;
    Hold       *holds;
    LockRequest request;
    Wakes       wakes;     /* victims of deadlocks that this one found */
    bool        has_ended; /* under the lock manager's mutex */
    int64_t     written;
    size_t      event_count, body_count; /* undo entries of these kinds */
    TxnEvent   *rolled_back;             /* events that wait for their end */
    TableDelta *deltas;
    size_t      delta_count, delta_capacity;
    StatementLock *statement_locks;
    size_t         statement_lock_count, statement_lock_capacity;
    /* The level of its first access to rows; SNAPSHOT has a view of its own from there on. */
    enum { TXN_NO_ACCESS, TXN_SNAPSHOT, TXN_OTHER } access;
    View       view, statement_view; /* the second: READ_COMMITTED_SNAPSHOT */
    bool       is_lagging;           /* on the secondary */
    RangeLock *ranges;
    SimTxn    *previous_open, *next_open; /* in the database's list */
    Arena     *scratch;                   /* keys */
    Buf        key;
};

void        txn_push_row(SimTxn *txn, SimTable *table, SimRow *row);
void        txn_push_body(SimTxn *txn, SimTable *table, Body *before, Body *after);
void        txn_push_event(SimTxn *txn, TxnEvent *event);
void        txn_count_rows(SimTxn *txn, SimTable *table, int64_t rows, int64_t bytes);
TableDelta *txn_delta(const SimTxn   *txn,
                      const SimTable *table); /* NULL: it has not written the table */
void        txn_note_write(SimTxn *txn);
Buf        *txn_key(SimTxn *txn); /* an empty buffer for a key */

/* What a transaction sees of a version; the latch is held. */
typedef enum Sight { SIGHT_COMMITTED, SIGHT_OWN, SIGHT_FOREIGN } Sight;
static inline Sight row_sight(const SimRow *row, const SimTxn *txn, SimTxn **holder_out)
{
    uint64_t stamp = atomic_load_explicit(&row->stamp, memory_order_acquire);
    *holder_out    = NULL;
    if ((stamp & 1) == 0) return SIGHT_COMMITTED;
    SimTxn *writer = (SimTxn *)(uintptr_t)(stamp - 1);
    if (writer == txn || writer->waiter == txn->waiter) return SIGHT_OWN;
    uint64_t state = atomic_load_explicit(&writer->state, memory_order_acquire);
    if (state != 0 && (state & 1) == 0) return SIGHT_COMMITTED;
    *holder_out = writer;
    return SIGHT_FOREIGN;
}

/* Who has to end before the version may be followed by another: a writer that still runs, or has
 * committed and not let go yet. NULL: nobody. */
static inline SimTxn *row_writer(const SimRow *row, const SimTxn *txn)
{
    uint64_t stamp = atomic_load_explicit(&row->stamp, memory_order_acquire);
    if ((stamp & 1) == 0) return NULL;
    SimTxn *writer = (SimTxn *)(uintptr_t)(stamp - 1);
    return writer == txn || writer->waiter == txn->waiter ? NULL : writer;
}

/* The newest committed version, without waiting; NULL: none, or the row is deleted. */
static inline const SimRow *row_committed(const SimRow *row)
{
    for (; row != NULL; row = row->previous) {
        uint64_t stamp = atomic_load_explicit(&row->stamp, memory_order_acquire);
        if (stamp & 1) {
            stamp = atomic_load_explicit(&((SimTxn *)(uintptr_t)(stamp - 1))->state,
                                         memory_order_acquire);
            if (stamp == 0 || stamp & 1) continue;
        }
        return row->flags & ROW_TOMBSTONE ? NULL : row;
    }
    return NULL;
}

/* The version a view shows; NULL: none. With the latch held. */
static inline const SimRow *row_in_view(const SimRow *row, const SimTxn *txn, uint64_t bound)
{
    for (; row != NULL; row = row->previous) {
        uint64_t stamp = atomic_load_explicit(&row->stamp, memory_order_acquire);
        if (stamp & 1) {
            SimTxn *writer = (SimTxn *)(uintptr_t)(stamp - 1);
            if (writer == txn || writer->waiter == txn->waiter) return row;
            stamp = atomic_load_explicit(&writer->state, memory_order_acquire);
            if (stamp == 0 || stamp & 1) continue;
        }
        if (stamp <= bound) return row;
    }
    return NULL;
}

/* A table whose rows SNAPSHOT and READ_COMMITTED_SNAPSHOT read in versions. */
static inline bool table_has_versions(const SimTable *table)
{
    return !table->is_system && !table->is_temporary;
}

/* The transaction touches rows: fixes the view of a SNAPSHOT one. 3951, 3952, 3954, 3956. */
bool txn_access(SimTxn *txn, const SimTable *table, SimIsolation isolation,
                SimError *error) MUST_CHECK;
bool update_conflict(const SimTable *table, SimError *error); /* 3960 */

/* --- the log (model/log.c) --- */
typedef enum LogKind {
    LOG_ROW_INSERT,
    LOG_ROW_DELETE,
    LOG_ROW_UPDATE,     /* 3 and 4 */
    LOG_ROW_KEY_UPDATE, /* 1 and 2 under one seqval */
    LOG_DDL,
    LOG_TABLE_DROP,
    LOG_ENABLE,
} LogKind;

typedef enum DdlKind {
    DDL_ADD_COLUMN,
    DDL_DROP_COLUMN,
    DDL_ALTER_TYPE,
    DDL_ALTER_NULLABILITY
} DdlKind;
typedef struct DdlNote {
    DdlKind kind;
    int32_t column_id;
    SimType type; /* ALTER_TYPE: the new one */
    int64_t time_us;
    Str     text; /* behind the note */
} DdlNote;

typedef struct LogRecord {
    LogKind             kind;
    uint32_t            statement;
    Lsn                 lsn;
    size_t              undo_at; /* rolled back with the undo entries from here on */
    SimTable           *table;
    const SimTableInfo *info; /* of the rows */
    SimRow             *before, *after;
    DdlNote            *ddl;
    Instance           *instance; /* ENABLE */
} LogRecord;

struct CommitNode {
    CommitNode *next;
    Lsn         begin_lsn, commit_lsn;
    int64_t     begin_us, commit_us; /* local */
    int64_t     visible_ns;          /* to capture, by the monotonic clock; 0: at once */
    uint64_t    txn_id;
    LogRecord  *records;
    size_t      record_count, record_capacity;
};

typedef struct SimLog {
    pthread_mutex_t mutex;
    uint32_t        vlf, block;
    uint16_t        slot;
    uint64_t        random;
    uint64_t        commit_count;
    bool            is_kept; /* CDC is on: committed nodes wait for capture */
    int64_t         latency_min_ms, latency_max_ms; /* before capture may see a commit */
    CommitNode     *first, *last;
} SimLog;

void log_open(SimLog *log, uint64_t seed);
void log_clear(SimLog *log);
Lsn  log_next(SimLog *log);
void log_continue_after(SimLog *log, Lsn lsn);  /* what comes next is above it */
void log_append(SimTxn *txn, LogRecord record); /* after its undo entry; holds the rows */
void log_undo_to(SimTxn *txn, size_t undo_at);
/* The commit record: order, visibility and what capture reads, in one step. */
Lsn         log_commit(SimTxn *txn);
CommitNode *log_first(SimLog      *log,
                      CommitNode **end_out); /* the oldest that waits, and the newest now */
CommitNode *log_node_next(SimLog *log, CommitNode *node);
/* The newest that waits; zero: none. */
Lsn  log_newest(SimLog *log);
bool log_waits(SimLog *log, Lsn lsn); /* one at or before `lsn` does */
/* Takes the nodes up to `last` out, for the caller to free. Inside the log's mutex: of a commit
 * event. */
CommitNode *log_cut(SimLog *log, CommitNode *last);
/* An LSN for an idle entry, unless something waits to be captured. */
bool log_idle_lsn(SimLog *log, Lsn *out);
void commit_node_free(CommitNode *node); /* accepts NULL */

/* --- databases and the server --- */
typedef struct Principal Principal; /* model/security.c */
typedef struct Grant {
    Str      principal;
    int32_t  object_id;
    Str      schema, column;
    uint32_t granted, denied;
} Grant;

typedef struct SchemaName {
    Str     name, key;
    int32_t id;
    bool    is_dropped;
} SchemaName;

typedef struct ModuleEntry {
    SimModule module; /* first */
    Str       key;    /* of its name */
    Arena    *arena;
    bool      is_listed; /* its name finds it; under the catalog lock */
} ModuleEntry;

struct SimDatabase {
    SimServer                    *server;
    SimDatabase                  *next;
    Str                           name;
    int32_t                       id;
    bool                          is_system, is_dropped;
    int64_t                       created_us;
    _Atomic(const SimCollation *) collation; /* NULL: the server's */
    atomic_bool                   has_foreign_keys;
    Arena                        *arena; /* names; under the catalog lock */
    pthread_rwlock_t              catalog;
    Map                          *tables_by_name;
    Map                          *tables_by_id;
    SimTable                    **tables; /* in order of creation, dropped ones too */
    size_t                        table_count, table_capacity;
    LIST(SchemaName) schemas;
    LIST(Principal *) principals;
    LIST(Grant) grants;
    LIST(ModuleEntry *) modules; /* dropped ones too */
    int32_t          next_schema_id, next_object_id;
    _Atomic uint64_t rowversion;
    SimLog           log;
    SimCdc          *cdc;
    VersionStore     versions;
    atomic_int       snapshot_state; /* SimSnapshotState */
    atomic_bool      reads_versions; /* READ_COMMITTED_SNAPSHOT */
    atomic_int       single_user;    /* the session that has it for itself; 0: anyone, -1: one */
    pthread_mutex_t  open_mutex;     /* of the list of open transactions */
    SimTxn          *open_txns;
};

typedef struct LoginEntry {
    Str  name, password, language;
    bool is_sysadmin, is_disabled, is_dropped;
} LoginEntry;

struct SimServer {
    SimModelOptions          options;
    _Atomic(const SimZone *) zone;
    _Atomic(Rng *)           rng; /* the one in use */
    _Atomic int64_t          knobs[SIM_KNOB_COUNT];
    void                    *owner;
    pthread_rwlock_t         lock; /* the list of databases, logins, trace flags */
    Arena                   *arena;
    SimDatabase             *databases;
    int32_t                  next_database_id;
    LIST(Rng *) seeded; /* all that sim_server_seed made */
    LIST(LoginEntry) logins;
    atomic_bool      keeps_key_updates; /* trace flag 8207 */
    SimScanHook      scan_hook;         /* set before anything scans */
    void            *scan_hook_arg;
    _Atomic int64_t  text_repl_bytes, text_repl_set; /* max text repl size: as it runs, as set */
    _Atomic uint64_t next_txn_id;
    LockManager      locks;
    Slab            *slab; /* rows and items */
    Turns           *turns;
};

Slab *table_slab(const SimTable *table);

/* A key that is the same for names that are the same to the server (2.11). */
Str     name_key(Arena *arena, Str schema, Str name);
bool    database_add_table(SimDatabase *database, SimTable *table); /* false: the name is taken */
void    database_remove_table(SimDatabase *database, SimTable *table); /* the names only */
int32_t database_next_object_id(SimDatabase *database);
/* Gives a renamed table its name; false: it is taken. */
bool      database_rename_table(SimDatabase *database, SimTable *table, Str key);
SimTable *table_new(SimDatabase *database, const SimTableSpec *spec,
                    int32_t object_id); /* in no list yet */
void      table_free(SimTable *table);
/* Takes a dropped temporary table off the list. */
void database_forget_table(SimDatabase *database, SimTable *table);
/* A description to be changed and given to body_new: the table's arena, with room for one more
 * column and index. */
SimTableInfo *info_clone(SimTable *table, const SimTableInfo *info, SimColumn **columns_out,
                         SimIndex ***indexes_out);
/* Copies of a description for the table; constraints get their object ids, and names where they have none. */
SimIndex *index_copy(SimTable *table, Str table_name, const SimIndex *spec);
SimColumn column_copy(SimTable *table, Str table_name, const SimColumn *column);
bool      database_has_module_key(SimDatabase *database, Str key); /* with the catalog lock */
void      database_free_modules(SimDatabase *database);
bool      database_add_schema(SimDatabase *database, Str schema); /* false: it is there */
bool      database_drop_schema(SimDatabase *database, Str schema);
void      security_open(SimDatabase *database);
bool      security_has_principal(SimDatabase *database, Str name);
void      security_drop_object(SimDatabase *database, int32_t object_id);

/* --- tables whose rows are computed (model/synthetic.c) --- */
int64_t synthetic_rows(const Synthetic *synthetic);
/* The first position whose key is at or above these bytes of the clustered order. */
int64_t synthetic_find(const Synthetic *synthetic, const SimTableInfo *info, Bytes key);
SimRow *synthetic_row(const Synthetic *synthetic, const SimTableInfo *info, int64_t position,
                      Arena *arena);
/* An integer column of `count` positions, `step` (1 or -1) apart. */
void synthetic_ints(const Synthetic *synthetic, const SimColumn *column, int64_t from, int64_t step,
                    size_t count, int64_t *out);
bool synthetic_refuse_change(const SimTable *table,
                             SimError       *error); /* true: it is no such table */

/* --- writing without statements around it (model/write.c) --- */
bool write_begin(SimTxn *txn, SimTable *table,
                 SimError *error) MUST_CHECK; /* locks the table for writing; 208 */
bool write_insert_row(SimTxn *txn, SimTable *table, SimRow *row,
                      SimError *error) MUST_CHECK; /* takes the row, also when it fails */
bool write_delete_row(SimTxn *txn, SimTable *table, const SimRow *row, SimError *error) MUST_CHECK;

/* --- DDL that CDC shares (model/ddl.c) --- */
/* Without checks for captured tables, and without a note for capture. */
bool ddl_alter_column(SimTxn *txn, SimTable *table, size_t ordinal, const SimType *type,
                      bool is_nullable, SimError *error) MUST_CHECK;

/* --- CDC's hooks into the model (cdc_*.c) --- */
SimCdc *cdc_new(SimDatabase *database);
void    cdc_close(SimCdc *cdc); /* stops the job */
bool    cdc_uses_index(const SimTable *table, Str index_name);
bool    cdc_captures_column(const SimTable *table, int32_t column_id);
/* 7139: a captured LOB value is too long to be logged. */
bool cdc_check_lob(const SimTable *table, const SimTableInfo *info, const SimRow *row,
                   SimError *error) MUST_CHECK;
void cdc_record_free(LogRecord *record);

/* The identity behind `last`, NULL: the first. 8115. */
bool identity_after(const SimColumn *column, const int64_t *last, int64_t *out,
                    SimError *error) MUST_CHECK;

#endif
