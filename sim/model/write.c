/* write.c - inserts, updates and deletes: who may write, what must be unique, and how it
 * stands in the log (sqlserver.md 2.12, 2.14). */
#include <stdlib.h>

#include "sim/model/model_internal.h"

/* --- before the first row --- */

bool update_conflict(const SimTable *table, SimError *error)
{
    const SimTableInfo *info = sim_table_info(table);
    return sim_error(
        error, 3960,
        "Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot "
        "isolation to access table '%.*s.%.*s' directly or indirectly in database '%.*s' to "
        "update, delete, or insert the row that has been modified or deleted by another "
        "transaction. Retry the transaction or change the isolation level for the update/delete "
        "statement.",
        STR_ARG(info->schema), STR_ARG(info->name), STR_ARG(table->database->name));
}

static bool refuse_secondary(const SimTable *table, SimError *error)
{
    return sim_error(error, 3906,
                     "Failed to update database \"%.*s\" because the database is read-only.",
                     STR_ARG(table->database->name));
}

bool write_begin(SimTxn *txn, SimTable *table, SimError *error)
{
    if (txn->is_lagging && !table->is_temporary) return refuse_secondary(table, error);
    if (txn_delta(txn, table) == NULL) { /* else it holds the lock since its first write */
        if (!lock_take(txn, &table->lock, LOCK_IX, error)) return false;
        txn_count_rows(txn, table, 0, 0);
    }
    if (atomic_load(&table->is_dropped)) {
        const SimTableInfo *info = sim_table_info(table);
        return sim_error(error, 208, "Invalid object name '%.*s.%.*s'.", STR_ARG(info->schema),
                         STR_ARG(info->name));
    }
    if (!synthetic_refuse_change(table, error)) return false;
    if (!txn->is_capture && !txn_access(txn, table, txn->isolation, error)) return false;
    if (!table->is_temporary && !txn->is_capture) txn_note_write(txn);
    return waiter_check(txn->waiter, error);
}

/* --- duplicates --- */

static void append_key_text(Buf *text, Arena *arena, const SimTableInfo *info,
                            const SimIndex *index, const SimRow *row)
{
    for (size_t i = 0; i < index->column_count; i++)
        for (size_t at = 0; at < info->column_count; at++) {
            SimValue value;
            if (info->columns[at].column_id != index->columns[i].column_id) continue;
            wire_get(&info->columns[at].type, row_wire(row, at), &value);
            if (i > 0) buf_append_c(text, ", ");
            if (value.is_null)
                buf_append_c(text, "<NULL>");
            else
                buf_append(text, sim_value_text(arena, &value));
        }
}

static bool duplicate_error(const SimTableInfo *info, const SimIndex *index, const SimRow *row,
                            SimError *error)
{
    Arena *arena = arena_new();
    Buf    text  = buf_new(arena, 0);

    append_key_text(&text, arena, info, index, row);
    if (index->is_primary_key || index->is_unique_constraint)
        (void)sim_error(error, 2627,
                        "Violation of %s constraint '%.*s'. Cannot insert duplicate key in object "
                        "'%.*s.%.*s'. The duplicate key value is (%.*s).",
                        index->is_primary_key ? "PRIMARY KEY" : "UNIQUE KEY", STR_ARG(index->name),
                        STR_ARG(info->schema), STR_ARG(info->name), STR_ARG(buf_str(&text)));
    else
        (void)sim_error(error, 2601,
                        "Cannot insert duplicate key row in object '%.*s.%.*s' with unique index "
                        "'%.*s'. The duplicate key value is (%.*s).",
                        STR_ARG(info->schema), STR_ARG(info->name), STR_ARG(index->name),
                        STR_ARG(buf_str(&text)));
    arena_close(arena);
    return false;
}

/* What stands in the way of a change, found under the latch, dealt with after it. */
typedef struct Obstacle {
    enum {
        WAY_IS_FREE,
        WAY_HAS_DUPLICATE,
        WAY_HAS_CONFLICT, /* 3960 */
        WAY_NEEDS_WAIT,
        WAY_GRANTED,
        WAY_FAILED
    } kind;
    const SimIndex *duplicate;
    LockMode        mode;
} Obstacle;

static Obstacle ask_row(SimTxn *txn, SimTable *table, Item *place, LockMode mode, SimTxn *writer,
                        SimError *error)
{
    switch (lock_ask_row(txn, table, place, mode, writer, error)) {
    case LOCK_GRANTED: return (Obstacle){.kind = WAY_GRANTED, .mode = mode};
    case LOCK_QUEUED: return (Obstacle){.kind = WAY_NEEDS_WAIT, .mode = mode};
    case LOCK_REFUSED: break;
    }
    return (Obstacle){.kind = WAY_FAILED};
}

/* Readers under SERIALIZABLE have the range that the row comes to. */
static Obstacle ask_ranges(SimTxn *txn, SimTable *table, Body *body, Str key, const SimRow *row,
                           const SimRow *before, SimError *error)
{
    switch (range_ask(txn, table, body, key, row, before, error)) {
    case LOCK_GRANTED: return (Obstacle){.kind = WAY_IS_FREE};
    case LOCK_QUEUED: return (Obstacle){.kind = WAY_NEEDS_WAIT, .mode = LOCK_RANGE_I};
    case LOCK_REFUSED: break;
    }
    return (Obstacle){.kind = WAY_FAILED};
}

/* A SNAPSHOT transaction that has not seen the newest version must not follow it. */
static bool is_conflict(const SimTxn *txn, const SimTable *table, const SimRow *head)
{
    uint64_t stamp = atomic_load_explicit(&head->stamp, memory_order_acquire);
    return txn->isolation == SIM_SNAPSHOT && txn->view.is_set && table_has_versions(table) &&
           (stamp & 1) == 0 && stamp > txn->view.bound;
}

/* After the latch: true to try again. Some locks were for the wait alone. */
static bool get_past(SimTxn *txn, Obstacle obstacle, SimError *error)
{
    if (obstacle.kind == WAY_FAILED) return false;
    if (obstacle.kind == WAY_NEEDS_WAIT && !lock_wait(txn, error)) return false;
    if (obstacle.mode == LOCK_S || obstacle.mode == LOCK_RANGE_I) lock_give_back_last(txn);
    return true;
}

static bool begins_with(const Item *item, Str prefix)
{
    return item->key_len >= prefix.len && memcmp(item->key, prefix.ptr, prefix.len) == 0;
}

/* Another live row with the same key in a unique index other than the clustered one, or one that a
 * foreign transaction has in hand. */
static Obstacle look_for_duplicate(SimTxn *txn, SimTable *table, Body *body, const SimIndex *index,
                                   const Item *self, const SimRow *row, SimError *error)
{
    const Tree *tree = body_tree(body, index);
    Buf        *key  = txn_key(txn);

    row_index_key(body->info, index, row, key);
    size_t prefix_len = key->len;
    for (TreeAt at = tree_seek(tree, str_bytes(buf_str(key)), false); tree_item(at) != NULL;
         at        = tree_next(at)) {
        Item *entry = tree_item(at);
        Item *place = entry->ref;
        if (!begins_with(entry, str_slice(buf_str(key), 0, prefix_len))) break;
        if (place == self) continue;
        const SimRow *head   = place_head(place);
        SimTxn       *writer = row_writer(head, txn);
        if (writer != NULL) return ask_row(txn, table, place, LOCK_S, writer, error);
        if (head->flags & ROW_TOMBSTONE) continue;
        bool is_same = true;
        if (atomic_load(&entry->flags) & ITEM_STALE) {
            key->len = prefix_len;
            row_index_key(body->info, index, head, key); /* behind the wanted key */
            Bytes got = {(const uint8_t *)key->ptr + prefix_len, key->len - prefix_len};
            is_same   = key_compare(got.ptr, got.len, (const uint8_t *)key->ptr, prefix_len) == 0;
            key->len  = prefix_len;
        }
        if (is_same) return (Obstacle){.kind = WAY_HAS_DUPLICATE, .duplicate = index};
    }
    return (Obstacle){.kind = WAY_IS_FREE};
}

static Obstacle look_for_duplicates(SimTxn *txn, SimTable *table, Body *body, const Item *self,
                                    const SimRow *row, SimError *error)
{
    for (size_t i = 0; i < body->info->index_count; i++) {
        const SimIndex *index = body->info->indexes[i];
        if (!index->is_unique || index == body->clustered) continue;
        Obstacle obstacle = look_for_duplicate(txn, table, body, index, self, row, error);
        if (obstacle.kind != WAY_IS_FREE) return obstacle;
    }
    return (Obstacle){.kind = WAY_IS_FREE};
}

/* --- putting versions --- */

static int64_t live(const SimRow *row)
{
    return row != NULL && !(row->flags & ROW_TOMBSTONE);
}

/* With the latch held. */
static void put_version(SimTxn *txn, SimTable *table, Body *body, Item *place, SimRow *row)
{
    SimRow *before = place->ref;

    row->previous = before;
    row->place    = place;
    atomic_store_explicit(&row->stamp, stamp_of_txn(txn), memory_order_release);
    if (body->tree_count > 1) body_add_entries(body, place, row, before, txn_key(txn));
    place->ref = row;
    if (atomic_load_explicit(&place->flags, memory_order_acquire) & ITEM_LOCKED)
        lock_note_writer(txn, place);
    txn_push_row(txn, table, row);
    txn_count_rows(txn, table, live(row) - live(before),
                   (live(row) ? (int64_t)row_size(row) : 0) -
                       (live(before) ? (int64_t)row_size(before) : 0));
}

/* The place where a new row goes, when it may. */
static Obstacle find_place(SimTxn *txn, SimTable *table, Body *body, Str key, const SimRow *row,
                           Item **place_out, SimError *error)
{
    Item *place = body_place_is_unique(body) ? tree_find(&body->trees[0], str_bytes(key)) : NULL;

    *place_out = place;
    if (place != NULL) {
        const SimRow *head   = place_head(place);
        SimTxn       *writer = row_writer(head, txn);
        if (writer != NULL) return ask_row(txn, table, place, LOCK_S, writer, error);
        if (!(head->flags & ROW_TOMBSTONE))
            return (Obstacle){.kind = WAY_HAS_DUPLICATE, .duplicate = body->clustered};
        if (is_conflict(txn, table, head)) return (Obstacle){.kind = WAY_HAS_CONFLICT};
        if (lock_row_is_in_way(txn, place, LOCK_X))
            return ask_row(txn, table, place, LOCK_X, NULL, error);
    }
    return look_for_duplicates(txn, table, body, place, row, error);
}

static Str place_key_of(SimTxn *txn, const Body *body, const SimRow *row, Arena *arena)
{
    Buf *key = txn_key(txn);

    body_place_key(body, row, key);
    return arena != NULL ? str_copy(arena, buf_str(key)) : buf_str(key);
}

/* Puts a row where no live row is. The row is the table's afterwards; on failure it is freed. */
static bool put_new_row(SimTxn *txn, SimTable *table, SimRow *row, SimError *error)
{
    Body    *body   = table_body(table);
    Arena   *arena  = NULL; /* a key that outlives the search for duplicates */
    Obstacle in_way = {.kind = WAY_FAILED};

    for (;;) {
        Item *place = NULL;
        if (body->info->index_count > 1 && arena == NULL) arena = arena_new();
        Str key = place_key_of(txn, body, row, arena);
        latch_exclusive(table);
        in_way = find_place(txn, table, body, key, row, &place, error);
        if (in_way.kind == WAY_IS_FREE && atomic_load(&table->range_count) > 0) {
            key    = place_key_of(txn, body, row, arena); /* the search may have used its buffer */
            in_way = ask_ranges(txn, table, body, key, row, NULL, error);
            if (arena == NULL) key = place_key_of(txn, body, row, arena);
        }
        if (in_way.kind == WAY_IS_FREE) {
            if (place == NULL) {
                place = body_add_place(body, str_bytes(key));
                assert(place != NULL);
            }
            put_version(txn, table, body, place, row);
        }
        latch_release(table);
        if (in_way.kind == WAY_IS_FREE || in_way.kind == WAY_HAS_DUPLICATE ||
            in_way.kind == WAY_HAS_CONFLICT)
            break;
        if (!get_past(txn, in_way, error)) break;
    }
    arena_close(arena);
    if (in_way.kind == WAY_IS_FREE) return true;
    if (in_way.kind == WAY_HAS_DUPLICATE)
        (void)duplicate_error(body->info, in_way.duplicate, row, error);
    if (in_way.kind == WAY_HAS_CONFLICT) (void)update_conflict(table, error);
    row_release(row);
    return false;
}

/* With the latch held: whether the version that was read may be followed by another. *done_out
 * false: this call has changed the row already. */
static Obstacle may_follow(SimTxn *txn, SimTable *table, const SimRow *before, const SimRow *row,
                           bool *done_out, SimError *error)
{
    Item    *place  = before->place;
    SimRow  *head   = place_head(place);
    SimTxn  *writer = row_writer(head, txn);
    Obstacle free   = {.kind = WAY_IS_FREE};

    *done_out = head == before;
    if (!*done_out) { /* read in a view, it may be anything by now */
        if (writer != NULL && txn->view.is_set)
            return ask_row(txn, table, place, LOCK_X, writer, error);
        return is_conflict(txn, table, head) ? (Obstacle){.kind = WAY_HAS_CONFLICT} : free;
    }
    if (writer != NULL || lock_row_is_in_way(txn, place, LOCK_X))
        return ask_row(txn, table, place, LOCK_X, writer, error);
    if (atomic_load(&table->range_count) == 0) return free;
    return ask_ranges(txn, table, table_body(table), STR_EMPTY, row, before, error);
}

/* Replaces the newest version of a row that is locked for update, or was read in a view. */
static bool replace_version(SimTxn *txn, SimTable *table, const SimRow *before, SimRow *row,
                            bool *done_out, SimError *error)
{
    for (;;) {
        latch_exclusive(table);
        Obstacle in_way = may_follow(txn, table, before, row, done_out, error);
        if (in_way.kind == WAY_IS_FREE && *done_out)
            put_version(txn, table, table_body(table), before->place, row);
        latch_release(table);
        if (in_way.kind == WAY_IS_FREE) break;
        if (in_way.kind == WAY_HAS_CONFLICT) (void)update_conflict(table, error);
        if (in_way.kind == WAY_HAS_CONFLICT || !get_past(txn, in_way, error)) {
            row_release(row);
            return false;
        }
    }
    if (!*done_out) row_release(row);
    return true;
}

static bool check_unique(SimTxn *txn, SimTable *table, const SimRow *row, SimError *error)
{
    for (;;) {
        Body *body = table_body(table);
        latch_exclusive(table);
        Obstacle in_way = look_for_duplicates(txn, table, body, row->place, row, error);
        latch_release(table);
        if (in_way.kind == WAY_IS_FREE) return true;
        if (in_way.kind == WAY_HAS_DUPLICATE)
            return duplicate_error(body->info, in_way.duplicate, row, error);
        if (!get_past(txn, in_way, error)) return false;
    }
}

/* --- the log --- */

static void log_row(SimTxn *txn, SimTable *table, LogKind kind, SimRow *before, SimRow *after)
{
    log_append(txn, (LogRecord){.kind   = kind,
                                .lsn    = log_next(&txn->database->log),
                                .table  = table,
                                .info   = table_body(table)->info,
                                .before = before,
                                .after  = after});
}

static bool is_logged(const SimTable *table)
{
    return atomic_load_explicit(&table->capture_count, memory_order_relaxed) > 0;
}

/* --- insert --- */

bool write_insert_row(SimTxn *txn, SimTable *table, SimRow *row, SimError *error)
{
    return put_new_row(txn, table, row, error);
}

bool sim_insert(SimTxn *txn, SimTable *table, const SimValue *values, SimError *error)
{
    SimRow *row = NULL;

    if (!write_begin(txn, table, error)) return false;
    if (!row_encode(table, table_body(table)->info, values, NULL, &row, error)) return false;
    if (is_logged(table) && !cdc_check_lob(table, table_body(table)->info, row, error)) {
        row_release(row);
        return false;
    }
    if (!put_new_row(txn, table, row, error)) return false;
    if (is_logged(table)) log_row(txn, table, LOG_ROW_INSERT, NULL, row);
    return true;
}

/* --- delete --- */

bool write_delete_row(SimTxn *txn, SimTable *table, const SimRow *row, SimError *error)
{
    bool done = false;
    return replace_version(txn, table, row, row_tombstone(table, row), &done, error);
}

bool sim_delete(SimTxn *txn, SimTable *table, const SimChange *changes, size_t count,
                SimError *error)
{
    uint64_t mark = sim_txn_mark(txn);

    if (!write_begin(txn, table, error)) return false;
    for (size_t i = 0; i < count; i++) {
        bool          done = false;
        const SimRow *row  = changes[i].row;
        if (!replace_version(txn, table, row, row_tombstone(table, row), &done, error)) {
            sim_txn_undo_to(txn, mark);
            return false;
        }
        if (done && is_logged(table))
            log_row(txn, table, LOG_ROW_DELETE, place_head(row->place)->previous, NULL);
    }
    return true;
}

/* --- update --- */

typedef struct Update {
    SimRow *before, *after;
    Str     key;         /* of `after` in the clustered order, when it moves */
    bool    moves;       /* to another place in the clustered order */
    bool    changes_key; /* a column of a unique index or of the clustered key */
    bool    is_done;     /* false: the row had been changed by this call already */
} Update;

static bool index_bytes_differ(const SimTableInfo *info, const SimIndex *index, const SimRow *left,
                               const SimRow *right)
{
    for (size_t i = 0; i < index->column_count; i++)
        for (size_t at = 0; at < info->column_count; at++) {
            if (info->columns[at].column_id != index->columns[i].column_id) continue;
            Bytes one = row_wire(left, at), two = row_wire(right, at);
            if (one.len != two.len || memcmp(one.ptr, two.ptr, one.len) != 0) return true;
        }
    return false;
}

static bool index_key_differs(SimTxn *txn, const SimTableInfo *info, const SimIndex *index,
                              const SimRow *left, const SimRow *right)
{
    if (!index_bytes_differ(info, index, left, right)) return false;
    Buf *key = txn_key(txn);
    row_index_key(info, index, left, key);
    size_t len = key->len;
    row_index_key(info, index, right, key);
    return key_compare((const uint8_t *)key->ptr, len, (const uint8_t *)key->ptr + len,
                       key->len - len) != 0;
}

static void classify(SimTxn *txn, const Body *body, Update *update, Arena *arena)
{
    for (size_t i = 0; i < body->info->index_count; i++) {
        const SimIndex *index = body->info->indexes[i];
        if (!index->is_unique && index != body->clustered) continue;
        if (!index_key_differs(txn, body->info, index, update->before, update->after)) continue;
        update->changes_key = true;
        if (index == body->clustered) update->moves = true;
    }
    if (update->moves) update->key = place_key_of(txn, body, update->after, arena);
}

static SimRow *mutable_row(const SimRow *row)
{
    union { /* the caller sees rows as constant; they are the table's */
        const SimRow *seen;
        SimRow       *owned;
    } cast = {.seen = row};
    return cast.owned;
}

static bool encode_updates(SimTxn *txn, SimTable *table, const SimChange *changes, size_t count,
                           Update *updates, Arena *arena, SimError *error)
{
    const Body *body = table_body(table);

    for (size_t i = 0; i < count; i++) {
        Update *update = &updates[i];
        update->before = mutable_row(changes[i].row);
        if (!row_encode(table, body->info, changes[i].values, update->before, &update->after,
                        error))
            return false;
        if (is_logged(table) && !cdc_check_lob(table, body->info, update->after, error))
            return false;
        classify(txn, body, update, arena);
    }
    return true;
}

/* First every old version goes, then moved rows come, then what must be unique is looked at: so
 * keys may trade places. On failure the caller undoes; rows that were not put are the caller's. */
static bool put_updates(SimTxn *txn, SimTable *table, Update *updates, size_t count,
                        SimError *error)
{
    for (size_t i = 0; i < count; i++) {
        Update *update = &updates[i];
        SimRow *row    = update->moves ? row_tombstone(table, update->before) : update->after;
        if (!update->moves) update->after = NULL; /* not ours to free from here on */
        if (!replace_version(txn, table, update->before, row, &update->is_done, error))
            return false;
        if (!update->moves && update->is_done) update->after = row;
    }
    for (size_t i = 0; i < count; i++) {
        Update *update = &updates[i];
        if (!update->moves || !update->is_done) continue;
        SimRow *row   = update->after;
        update->after = NULL;
        if (!put_new_row(txn, table, row, error)) return false;
        update->after = row;
    }
    for (size_t i = 0; i < count; i++)
        if (updates[i].is_done && updates[i].changes_key && !updates[i].moves &&
            !check_unique(txn, table, updates[i].after, error))
            return false;
    return true;
}

/* --- how updates stand in the log (2.14) --- */

typedef struct Half { /* a delete or an insert that an update was split into */
    Bytes   key;
    bool    is_insert;
    size_t  order;
    SimRow *row;
} Half;

static int compare_halves(const void *left, const void *right)
{
    const Half *one = left, *two = right;
    int         order = key_compare(one->key.ptr, one->key.len, two->key.ptr, two->key.len);

    if (order != 0) return order;
    if (one->is_insert != two->is_insert) return one->is_insert ? 1 : -1;
    return (one->order > two->order) - (one->order < two->order);
}

/* By the clustered key; in a heap by the first unique index. */
static Bytes split_key(SimTxn *txn, const Body *body, const SimRow *row, Arena *arena)
{
    const SimIndex *index = body->clustered;

    for (size_t i = 0; index == NULL && i < body->info->index_count; i++)
        if (body->info->indexes[i]->is_unique) index = body->info->indexes[i];
    Buf *key = txn_key(txn);
    if (index != NULL) row_index_key(body->info, index, row, key);
    return str_bytes(str_copy(arena, buf_str(key)));
}

static size_t key_run(const Half *halves, size_t from, size_t count, bool is_insert)
{
    size_t end = from;
    while (end < count && halves[end].is_insert == is_insert &&
           key_compare(halves[end].key.ptr, halves[end].key.len, halves[from].key.ptr,
                       halves[from].key.len) == 0)
        end++;
    return end;
}

/* Deletes and inserts sorted by key, a delete and an insert of one key put together again. */
static void log_split(SimTxn *txn, SimTable *table, const Update *updates, size_t count,
                      Arena *arena)
{
    Half  *halves     = ARENA_ARRAY(arena, Half, 2 * count);
    size_t half_count = 0;

    for (size_t i = 0; i < count; i++) {
        if (!updates[i].is_done) continue;
        halves[half_count++] = (Half){split_key(txn, table_body(table), updates[i].before, arena),
                                      false, i, updates[i].before};
        halves[half_count++] = (Half){split_key(txn, table_body(table), updates[i].after, arena),
                                      true, i, updates[i].after};
    }
    qsort(halves, half_count, sizeof *halves, compare_halves);
    for (size_t at = 0; at < half_count;) {
        size_t deletes = halves[at].is_insert ? at : key_run(halves, at, half_count, false);
        size_t inserts = deletes;
        if (deletes < half_count &&
            (deletes == at || key_compare(halves[at].key.ptr, halves[at].key.len,
                                          halves[deletes].key.ptr, halves[deletes].key.len) == 0))
            inserts = key_run(halves, deletes, half_count, true);
        size_t pairs = MIN(deletes - at, inserts - deletes);
        for (size_t i = 0; i < pairs; i++)
            log_row(txn, table, LOG_ROW_UPDATE, halves[at + i].row, halves[deletes + i].row);
        for (size_t i = at + pairs; i < deletes; i++)
            log_row(txn, table, LOG_ROW_DELETE, halves[i].row, NULL);
        for (size_t i = deletes + pairs; i < inserts; i++)
            log_row(txn, table, LOG_ROW_INSERT, NULL, halves[i].row);
        at = inserts;
    }
}

static void log_updates(SimTxn *txn, SimTable *table, const Update *updates, size_t count,
                        bool split, Arena *arena)
{
    bool any_key = false;

    for (size_t i = 0; i < count; i++)
        any_key |= updates[i].is_done && updates[i].changes_key;
    for (size_t i = 0; split && i < table_body(table)->info->index_count; i++)
        if (table_body(table)->info->indexes[i]->is_unique) {
            log_split(txn, table, updates, count, arena);
            return;
        }
    if (any_key && count > 1) {
        log_split(txn, table, updates, count, arena);
        return;
    }
    bool in_two = any_key && !atomic_load(&txn->database->server->keeps_key_updates);
    for (size_t i = 0; i < count; i++)
        if (updates[i].is_done)
            log_row(txn, table, in_two ? LOG_ROW_KEY_UPDATE : LOG_ROW_UPDATE, updates[i].before,
                    updates[i].after);
}

static bool update_rows(SimTxn *txn, SimTable *table, const SimChange *changes, size_t count,
                        bool split, SimError *error)
{
    uint64_t mark = sim_txn_mark(txn);

    if (count == 0) return true;
    if (!write_begin(txn, table, error)) return false;
    Arena  *arena   = arena_new();
    Update *updates = ARENA_ARRAY(arena, Update, count);
    bool    encoded = encode_updates(txn, table, changes, count, updates, arena, error);
    bool    ok      = encoded && put_updates(txn, table, updates, count, error);
    if (ok && is_logged(table)) log_updates(txn, table, updates, count, split, arena);
    if (!ok) {
        for (size_t i = 0; i < count; i++) /* rows that are in no chain */
            if (updates[i].after != NULL && (!encoded || updates[i].after->place == NULL))
                row_release(updates[i].after);
        sim_txn_undo_to(txn, mark);
    }
    for (size_t i = 0; ok && i < count; i++) /* moved rows of changes that were skipped */
        if (!updates[i].is_done && updates[i].moves) row_release(updates[i].after);
    arena_close(arena);
    return ok;
}

bool sim_update(SimTxn *txn, SimTable *table, const SimChange *changes, size_t count,
                SimError *error)
{
    return update_rows(txn, table, changes, count, false, error);
}

bool sim_update_split(SimTxn *txn, SimTable *table, const SimChange *changes, size_t count,
                      SimError *error)
{
    return update_rows(txn, table, changes, count, true, error);
}
