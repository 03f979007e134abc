/* scan.c - reading an index from one end of a range to the other, a batch at a time
 * (sqlserver.md 2.12).
 *
 * A batch is gathered under the table's latch and pinned before the latch is let go. Between
 * batches the scan remembers a leaf, which is good while the tree has not changed, and the last key
 * it passed, which is always good. It never waits with rows in hand that the caller has not seen,
 * if it can help it. */
#include "sim/model/model_internal.h"

#define BATCH_FIRST 64
#define BATCH_MAX   SIM_SCAN_ROWS

typedef struct ScanBound {
    Buf  key;
    bool is_set;
} ScanBound;

struct SimScan {
    SimTxn         *txn;
    SimTable       *table;
    Body           *body;
    const SimIndex *index;
    Tree           *tree;
    bool            is_secondary, was_seek, backwards, for_update, read_past;
    SimIsolation    isolation;
    uint64_t        bound; /* of the view it reads; 0: it reads what is committed, and waits */
    bool            is_target, no_wait;
    LockMode        table_mode, row_mode;
    bool            has_table_lock, keeps_table_lock;
    Arena          *arena;
    ScanBound       low, high; /* keys at or above low and below high */
    Buf             position;  /* the last key passed */
    bool            has_position, is_at_end;
    TreeAt          at; /* the next item, while the tree is as it was */
    uint64_t        changes;
    bool            at_is_set;
    Item           *granted; /* a row whose lock came at the end of a wait */
    const SimRow   *found;   /* the version that was looked at */
    Pin             pin;
    Arena          *row_arena; /* of rows that are computed */
    const SimRow  **rows;
    bool           *is_locked; /* by this scan */
    size_t          row_count, capacity, batch;
    int64_t         limit_hint, examined;
    int64_t         given, unwanted; /* rows so far, and those of them that the caller dropped */
    int64_t         next, left; /* of a synthetic table: the next position, how many are left */
};

/* --- the range in bytes --- */

/* Turns a key into the smallest one above every key that begins with it; unset when there is
 * none. */
static void bound_advance(ScanBound *bound)
{
    while (bound->key.len > 0 && (uint8_t)bound->key.ptr[bound->key.len - 1] == 0xFF)
        bound->key.len--;
    bound->is_set = bound->key.len > 0;
    if (bound->is_set)
        bound->key.ptr[bound->key.len - 1] = (char)((uint8_t)bound->key.ptr[bound->key.len - 1] +
                                                    1);
}

/* Cuts one end after the equalities: `past` leaves every key of the value itself outside (low) or
 * inside (high). */
static void bound_set(SimScan *scan, ScanBound *bound, Str prefix, const SimBound *at,
                      bool descending, bool past)
{
    bound->key = buf_new(scan->arena, 0);
    buf_append(&bound->key, prefix);
    bound->is_set = true;
    sim_sort_key(&at->value, descending, &bound->key);
    if (past) bound_advance(bound);
}

static void set_bounds(SimScan *scan, const SimRange *range)
{
    const SimIndexColumn *columns = scan->index != NULL ? scan->index->columns : NULL;
    Buf                   prefix  = buf_new(scan->arena, 0);

    if (columns == NULL || (range->equal_count == 0 && !range->low.is_set && !range->high.is_set))
        return;
    for (size_t i = 0; i < range->equal_count; i++)
        sim_sort_key(&range->equal[i], columns[i].descending, &prefix);
    if (prefix.len > 0) {
        scan->low = scan->high = (ScanBound){.is_set = true};
        scan->low.key          = buf_new(scan->arena, 0);
        scan->high.key         = buf_new(scan->arena, 0);
        buf_append(&scan->low.key, buf_str(&prefix));
        buf_append(&scan->high.key, buf_str(&prefix));
        bound_advance(&scan->high);
    }
    if (!range->low.is_set && !range->high.is_set) return;
    bool            descending = columns[range->equal_count].descending;
    const SimBound *low        = descending ? &range->high : &range->low;
    const SimBound *high       = descending ? &range->low : &range->high;
    if (low->is_set)
        bound_set(scan, &scan->low, buf_str(&prefix), low, descending, !low->is_inclusive);
    if (high->is_set)
        bound_set(scan, &scan->high, buf_str(&prefix), high, descending, high->is_inclusive);
}

static Bytes bound_key(const ScanBound *bound)
{
    return str_bytes(buf_str(&bound->key));
}

/* --- positions of a synthetic table --- */

static void set_positions(SimScan *scan)
{
    const Synthetic *synthetic = scan->table->synthetic;
    int64_t          from = 0, to = synthetic_rows(synthetic);

    if (scan->low.is_set) from = synthetic_find(synthetic, scan->body->info, bound_key(&scan->low));
    if (scan->high.is_set) to = synthetic_find(synthetic, scan->body->info, bound_key(&scan->high));
    scan->left = MAX(to - from, 0);
    scan->next = scan->backwards ? to - 1 : from;
}

/* How many rows the next batch has. */
static size_t take_positions(SimScan *scan, int64_t *first_out)
{
    int64_t count = MIN((int64_t)scan->batch, scan->left);

    *first_out = scan->next;
    sim_scan_pass(scan, count);
    scan->examined += count;
    return (size_t)count;
}

static void make_rows(SimScan *scan)
{
    int64_t first, step = scan->backwards ? -1 : 1;

    if (scan->row_arena == NULL) scan->row_arena = arena_new();
    arena_reset(scan->row_arena);
    scan->row_count = take_positions(scan, &first);
    for (size_t i = 0; i < scan->row_count; i++) {
        scan->rows[i]      = synthetic_row(scan->table->synthetic, scan->body->info,
                                           first + (int64_t)i * step, scan->row_arena);
        scan->is_locked[i] = false;
    }
    scan->is_at_end = scan->left == 0;
}

int64_t sim_scan_rows_left(const SimScan *scan)
{
    return scan->table->synthetic != NULL ? scan->left : -1;
}

void sim_scan_pass(SimScan *scan, int64_t rows)
{
    rows = MIN(rows, scan->left);
    scan->left -= rows;
    scan->next += scan->backwards ? -rows : rows;
}

/* --- opening --- */

static bool choose_index(SimScan *scan, const SimRange *range, SimError *error)
{
    static const SimRange everything = {.index = NULL};

    scan->body = table_body(scan->table);
    if (range == NULL) range = &everything;
    scan->index = range->index != NULL ? range->index : scan->body->clustered;
    scan->tree  = body_tree(scan->body, scan->index);
    if (scan->tree == NULL)
        return sim_error(error, 16943,
                         "Could not complete cursor operation because the table schema changed "
                         "after the cursor was declared.");
    scan->is_secondary = scan->tree != &scan->body->trees[0];
    scan->backwards    = range->backwards;
    assert(scan->index != NULL ||
           (range->equal_count == 0 && !range->low.is_set && !range->high.is_set));
    set_bounds(scan, range);
    scan->was_seek = scan->low.is_set || scan->high.is_set;
    if (scan->table->synthetic != NULL) set_positions(scan);
    return true;
}

static LockMode scan_table_mode(const SimScan *scan)
{
    if (scan->for_update) return LOCK_IX;
    return scan->isolation == SIM_READ_UNCOMMITTED || scan->bound != 0 ? LOCK_SCH_S : LOCK_IS;
}

static bool refuse_dropped(const SimTable *table, SimError *error)
{
    const SimTableInfo *info = sim_table_info(table);
    return sim_error(error, 208, "Invalid object name '%.*s.%.*s'.", STR_ARG(info->schema),
                     STR_ARG(info->name));
}

static bool refuse_altered(const SimTable *table, SimError *error)
{
    return sim_error(
        error, 3961,
        "Snapshot isolation transaction failed in database '%.*s' because the object accessed by "
        "the statement has been modified by a DDL statement in another concurrent transaction "
        "since the start of this transaction.  It is disallowed because the metadata is not "
        "versioned. A concurrent update to metadata can lead to inconsistency if mixed with "
        "snapshot isolation.",
        STR_ARG(table->database->name));
}

/* The view the scan reads through, if it does. */
static bool choose_view(SimScan *scan, const SimScanOptions *options, SimError *error)
{
    SimTxn         *txn   = scan->txn;
    const SimTable *table = scan->table;

    scan->isolation = options->isolation == SIM_SNAPSHOT ? SIM_READ_COMMITTED : options->isolation;
    if (txn->is_lagging && !table->is_temporary) {
        if (!txn->view.is_set) view_open(txn->database, &txn->view, true);
        scan->isolation = SIM_READ_COMMITTED;
        scan->bound     = txn->view.bound;
        return true;
    }
    if (!txn_access(txn, table, options->isolation, error)) return false;
    if (!table_has_versions(table)) return true;
    if (options->isolation == SIM_SNAPSHOT) {
        scan->bound = txn->view.bound;
    } else if (options->isolation == SIM_READ_COMMITTED && !options->for_update &&
               !options->locks_rows && sim_database_reads_versions(txn->database)) {
        if (!txn->statement_view.is_set) view_open(txn->database, &txn->statement_view, false);
        scan->bound = txn->statement_view.bound;
    }
    return true;
}

static bool check_description(SimScan *scan, SimError *error)
{
    if (atomic_load(&scan->table->is_dropped)) return refuse_dropped(scan->table, error);
    if (scan->bound == 0 || atomic_load(&scan->table->altered_state) <= scan->bound) return true;
    if (scan->bound == scan->txn->view.bound) return refuse_altered(scan->table, error);
    scan->bound = 0; /* a statement may read what stands there now */
    return true;
}

static bool take_range(SimScan *scan, SimError *error)
{
    if (scan->isolation != SIM_SERIALIZABLE || scan->table->is_temporary) return true;
    Str low = {NULL, 0}, high = {NULL, 0};
    if (scan->low.is_set) low = buf_str(&scan->low.key);
    if (scan->high.is_set) high = buf_str(&scan->high.key);
    return range_take(scan->txn, scan->table, scan->tree, low, high, scan->for_update, error);
}

/* NOWAIT stands for a lock time-out of its own. */
static int64_t begin_no_wait(const SimScan *scan)
{
    int64_t timeout_ms = scan->txn->waiter->lock_timeout_ms;
    if (scan->no_wait) scan->txn->waiter->lock_timeout_ms = 0;
    return timeout_ms;
}

static bool open_scan(SimScan *scan, const SimRange *range, const SimScanOptions *options,
                      SimError *error)
{
    if (!choose_view(scan, options, error)) return false;
    scan->table_mode       = scan_table_mode(scan);
    scan->keeps_table_lock = scan->for_update || scan->isolation >= SIM_REPEATABLE_READ;
    if (!lock_take(scan->txn, &scan->table->lock, scan->table_mode, error)) return false;
    scan->has_table_lock = true;
    return check_description(scan, error) && choose_index(scan, range, error) &&
           take_range(scan, error);
}

bool sim_scan_open(SimTxn *txn, SimTable *table, const SimRange *range,
                   const SimScanOptions *options, SimScan **out, SimError *error)
{
    SimScan *scan    = mem_alloc(sizeof *scan);
    scan->txn        = txn;
    scan->table      = table;
    scan->for_update = options->for_update;
    scan->read_past  = options->read_past;
    scan->is_target  = options->is_target;
    scan->no_wait    = options->no_wait;
    scan->row_mode   = options->exclusive ? LOCK_X : LOCK_U;
    scan->limit_hint = options->limit_hint;
    scan->batch      = BATCH_FIRST;
    scan->arena      = arena_new();
    scan->position   = buf_new(scan->arena, 0);

    int64_t timeout_ms           = begin_no_wait(scan);
    bool    ok                   = open_scan(scan, range, options, error);
    txn->waiter->lock_timeout_ms = timeout_ms;
    if (!ok) {
        sim_scan_close(scan);
        scan = NULL;
    }
    *out = scan;
    return ok;
}

void sim_scan_close(SimScan *scan)
{
    if (scan == NULL) return;
    pin_clear(scan->table, &scan->pin);
    if (scan->has_table_lock && !scan->keeps_table_lock)
        lock_give_back(scan->txn, &scan->table->lock, scan->table_mode);
    arena_close(scan->arena);
    arena_close(scan->row_arena);
    mem_free(scan->rows);
    mem_free(scan->is_locked);
    mem_free(scan);
}

bool sim_scan_was_seek(const SimScan *scan)
{
    return scan->was_seek;
}

int64_t sim_scan_rows_examined(const SimScan *scan)
{
    return scan->examined;
}

/* --- moving --- */

static TreeAt find_start(const SimScan *scan)
{
    if (scan->backwards) {
        if (scan->has_position)
            return tree_seek_before(scan->tree, str_bytes(buf_str(&scan->position)));
        return scan->high.is_set ? tree_seek_before(scan->tree, bound_key(&scan->high))
                                 : tree_last(scan->tree);
    }
    if (scan->has_position) return tree_seek(scan->tree, str_bytes(buf_str(&scan->position)), true);
    return scan->low.is_set ? tree_seek(scan->tree, bound_key(&scan->low), false)
                            : tree_first(scan->tree);
}

static bool is_outside(const SimScan *scan, const Item *item)
{
    const ScanBound *bound = scan->backwards ? &scan->low : &scan->high;

    if (!bound->is_set) return false;
    uint8_t scratch[TREE_KEY_MOST];
    Bytes   key   = tree_key(scan->tree, item, scratch);
    int     order = key_compare(key.ptr, key.len, (const uint8_t *)bound->key.ptr, bound->key.len);
    return scan->backwards ? order < 0 : order >= 0;
}

/* So that not every item has to be compared with the end of the range. */
static bool leaf_is_inside(const SimScan *scan, TreeAt at)
{
    const ScanBound *bound = scan->backwards ? &scan->low : &scan->high;

    if (!bound->is_set) return true;
    return scan->backwards ? tree_leaf_is_from(scan->tree, at, bound_key(bound))
                           : tree_leaf_is_below(scan->tree, at, bound_key(bound));
}

static void remember(SimScan *scan, const Item *last)
{
    if (last == NULL) return;
    uint8_t scratch[TREE_KEY_MOST];
    Bytes   key = tree_key(scan->tree, last, scratch);
    buf_clear(&scan->position);
    buf_append_bytes(&scan->position, key.ptr, key.len);
    scan->has_position = true;
}

/* --- one row --- */

typedef enum Look {
    LOOK_TAKE,
    LOOK_PASS,
    LOOK_STOP,  /* a wait is needed, but there are rows to hand out first */
    LOOK_RETRY, /* a lock was given at once: let it go and look again */
    LOOK_WAIT,
    LOOK_FAIL,
} Look;

/* An entry is for one key; the row's version may have another. */
static bool is_of_version(SimScan *scan, const Item *entry, const Item *place, const SimRow *row)
{
    if (!scan->is_secondary ||
        (row == place_head(place) &&
         !(atomic_load_explicit(&entry->flags, memory_order_relaxed) & ITEM_STALE)))
        return true;
    Buf *key = txn_key(scan->txn);
    body_entry_key(scan->body, scan->index, row, place, key);
    return key_compare(entry->key, entry->key_len, (const uint8_t *)key->ptr, key->len) == 0;
}

static Look look_of_answer(LockAnswer answer, Look if_granted)
{
    switch (answer) {
    case LOCK_GRANTED: return if_granted;
    case LOCK_QUEUED: return LOOK_WAIT;
    case LOCK_REFUSED: return LOOK_FAIL;
    }
    return LOOK_FAIL;
}

/* A lock that is kept: update locks, and shared ones from REPEATABLE READ on. */
static Look lock_kept(SimScan *scan, Item *place, SimTxn *writer, LockMode mode, SimError *error)
{
    if (scan->granted == place) return LOOK_TAKE;
    bool in_way = writer != NULL || lock_row_is_in_way(scan->txn, place, mode);
    if (in_way && scan->read_past) return LOOK_PASS;
    if (in_way && scan->row_count > 0) return LOOK_STOP;
    return look_of_answer(lock_ask_row(scan->txn, scan->table, place, mode, writer, error),
                          LOOK_TAKE);
}

static Look look_at_foreign(SimScan *scan, Item *place, SimTxn *holder, SimError *error)
{
    if (scan->read_past) return LOOK_PASS;
    if (scan->row_count > 0) return LOOK_STOP;
    LockMode mode = scan->for_update ? scan->row_mode : LOCK_S;
    return look_of_answer(lock_ask_row(scan->txn, scan->table, place, mode, holder, error),
                          LOOK_RETRY);
}

/* UPDLOCK under SNAPSHOT: the row must be as the view shows it, and stay so. */
static Look look_for_conflict(SimScan *scan, Item *place, SimError *error)
{
    SimTxn *writer = row_writer(place_head(place), scan->txn);

    if (writer != NULL) return look_at_foreign(scan, place, writer, error);
    if (place_head(place) == scan->found)
        return lock_kept(scan, place, NULL, scan->row_mode, error);
    if (scan->row_count > 0) return LOOK_STOP;
    (void)update_conflict(scan->table, error);
    return LOOK_FAIL;
}

static Look look_in_view(SimScan *scan, const Item *item, Item *place, SimError *error)
{
    const SimRow *row = row_in_view(place_head(place), scan->txn, scan->bound);

    if (row == NULL || row->flags & ROW_TOMBSTONE || !is_of_version(scan, item, place, row))
        return LOOK_PASS;
    scan->found = row;
    if (!scan->for_update || scan->is_target) return LOOK_TAKE;
    return look_for_conflict(scan, place, error);
}

static Look look_at(SimScan *scan, const Item *item, Item *place, SimError *error)
{
    const SimRow *row    = place_head(place);
    SimTxn       *holder = NULL;
    Sight         sight  = SIGHT_COMMITTED;

    if (scan->bound != 0) return look_in_view(scan, item, place, error);
    scan->found = row;
    if (scan->isolation != SIM_READ_UNCOMMITTED || scan->for_update) {
        sight = row_sight(row, scan->txn, &holder);
        if (sight == SIGHT_FOREIGN) return look_at_foreign(scan, place, holder, error);
    }
    if (row->flags & ROW_TOMBSTONE || !is_of_version(scan, item, place, row)) return LOOK_PASS;
    if (sight == SIGHT_OWN) return LOOK_TAKE;
    if (scan->for_update)
        return lock_kept(scan, place, row_writer(row, scan->txn), scan->row_mode, error);
    if (scan->isolation >= SIM_REPEATABLE_READ) return lock_kept(scan, place, NULL, LOCK_S, error);
    return LOOK_TAKE;
}

/* --- a batch --- */

static void take_row(SimScan *scan)
{
    const SimRow *row  = scan->found;
    bool          lock = scan->for_update && !(scan->bound != 0 && scan->is_target);

    scan->rows[scan->row_count]      = row;
    scan->is_locked[scan->row_count] = lock && (atomic_load(&row->stamp) & 1) == 0;
    scan->row_count++;
    scan->granted = NULL;
}

/* Goes on from where the scan is until the batch is full or something stands in the way. With the
 * latch held. */
static Look gather(SimScan *scan, SimError *error)
{
    const Item     *last   = NULL;
    const TreeLeaf *leaf   = NULL;
    bool            inside = false;
    Look            look   = LOOK_STOP;
    TreeAt          at     = scan->at_is_set && scan->changes == scan->tree->changes ? scan->at
                                                                                     : find_start(scan);

    while (scan->row_count < scan->batch) {
        Item *item = tree_item(at);
        if (item != NULL && at.leaf != leaf) {
            leaf   = at.leaf;
            inside = leaf_is_inside(scan, at);
        }
        if (item == NULL || (!inside && is_outside(scan, item))) {
            scan->is_at_end = true;
            break;
        }
        Item *place = scan->is_secondary ? item->ref : item;
        look        = look_at(scan, item, place, error);
        if (look > LOOK_PASS) break;
        if (look == LOOK_TAKE) take_row(scan);
        scan->examined++;
        last = item;
        at   = scan->backwards ? tree_previous(at) : tree_next(at);
        look = LOOK_STOP;
    }
    remember(scan, last);
    scan->at        = at;
    scan->changes   = scan->tree->changes;
    scan->at_is_set = true;
    if (look == LOOK_WAIT || look == LOOK_RETRY) scan->granted = scan->txn->request.resource->place;
    pin_set(scan->table, &scan->pin);
    return look;
}

/* Waits where `gather` stopped; true to look again. */
static bool get_past(SimScan *scan, Look look, SimError *error)
{
    bool is_kept = scan->for_update || scan->isolation >= SIM_REPEATABLE_READ;

    if (look == LOOK_FAIL) return false;
    if (look == LOOK_WAIT && !lock_wait(scan->txn, error)) return false;
    if (is_kept) return true;
    lock_give_back_last(scan->txn);
    scan->granted = NULL;
    return true;
}

/* Up to the rows that are wanted none is read ahead: what lies behind them may be locked. Where most are dropped, the
 * batches grow with those. */
static void make_room(SimScan *scan)
{
    size_t  want = scan->batch;
    int64_t left = scan->limit_hint - (scan->given - scan->unwanted);

    if (scan->limit_hint > 0)
        want = (size_t)MIN(left > 0 ? MAX(left, scan->unwanted) : scan->limit_hint,
                           (int64_t)scan->batch);
    scan->batch = want;
    if (want <= scan->capacity) return;
    scan->rows      = mem_realloc(scan->rows, want * sizeof(void *));
    scan->is_locked = mem_realloc(scan->is_locked, want * sizeof *scan->is_locked);
    scan->capacity  = want;
}

static bool next_batch(SimScan *scan, SimError *error)
{
    while (!scan->is_at_end && scan->row_count == 0) {
        if (!waiter_check(scan->txn->waiter, error)) return false;
        if (scan->table->synthetic != NULL) {
            make_rows(scan);
            break;
        }
        latch_shared(scan->table);
        Look look = gather(scan, error);
        latch_release(scan->table);
        if (look != LOOK_STOP && !get_past(scan, look, error)) return false;
    }
    return true;
}

bool sim_scan_next(SimScan *scan, const SimRow *const **rows_out, size_t *count_out,
                   SimError *error)
{
    scan->row_count = 0;
    *count_out      = 0;
    make_room(scan);
    int64_t timeout_ms                 = begin_no_wait(scan);
    bool    ok                         = next_batch(scan, error);
    scan->txn->waiter->lock_timeout_ms = timeout_ms;
    if (!ok) return false;
    *rows_out  = scan->rows;
    *count_out = scan->row_count;
    scan->given += (int64_t)scan->row_count;
    if (scan->batch < BATCH_MAX) scan->batch *= 2;
    return true;
}

void sim_scan_drop(SimScan *scan)
{
    scan->unwanted++;
}

static void decode_ints(const SimRow *const *rows, size_t count, size_t ordinal, int64_t *out)
{
    for (size_t i = 0; i < count; i++) {
        Bytes    wire   = row_wire(rows[i], ordinal); /* its length, then the number */
        uint64_t number = 0;
        for (size_t at = 1; at < wire.len; at++)
            number |= (uint64_t)wire.ptr[at] << (8 * (at - 1));
        unsigned unused = (unsigned)(64 - 8 * (wire.len - 1));
        bool     signs  = wire.len > 2; /* tinyint and bit have no sign */
        out[i]          = signs ? (int64_t)(number << unused) >> unused : (int64_t)number;
    }
}

bool sim_scan_next_ints(SimScan *scan, const size_t *ordinals, size_t column_count,
                        int64_t *const *out, size_t *count_out, SimError *error)
{
    const SimRow *const *rows;
    int64_t              first;

    if (scan->table->synthetic == NULL) {
        if (!sim_scan_next(scan, &rows, count_out, error)) return false;
        for (size_t i = 0; i < column_count; i++)
            decode_ints(rows, *count_out, ordinals[i], out[i]);
        return true;
    }
    if (!waiter_check(scan->txn->waiter, error)) return false;
    scan->batch = SIM_SCAN_ROWS;
    *count_out  = take_positions(scan, &first);
    for (size_t i = 0; i < column_count; i++)
        synthetic_ints(scan->table->synthetic, &scan->body->info->columns[ordinals[i]], first,
                       scan->backwards ? -1 : 1, *count_out, out[i]);
    return true;
}

void sim_scan_skip(SimScan *scan, size_t index)
{
    assert(index < scan->row_count);
    if (!scan->is_locked[index]) return;
    scan->is_locked[index] = false;
    lock_give_back_row(scan->txn, scan->rows[index]->place, scan->row_mode);
}
