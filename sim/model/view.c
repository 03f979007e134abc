/* view.c - what readers of versions see, and the versions that are kept for them
 * (sqlserver.md 2.12).
 *
 * A view is the number of the last commit it sees. Numbers are given and views opened inside the
 * log's mutex, so a commit that is settled knows every view that is older. A version that some view
 * may need stays in its row's chain and the row in the version store, which is emptied from its old
 * end as views close; while nobody looks, nothing is kept and nothing is paid. */
#include "sim/model/model_internal.h"

#define NO_VIEW UINT64_MAX

/* --- the list of views, inside the log's mutex --- */

static void note_ends(VersionStore *store)
{
    atomic_store(&store->horizon, store->oldest != NULL ? store->oldest->bound : NO_VIEW);
    atomic_store(&store->newest_bound, store->newest != NULL ? store->newest->bound : 0);
}

/* Nearly always at the new end; a lagging view is somewhere before it. */
static void link_view(VersionStore *store, View *view)
{
    View *before = store->newest;

    while (before != NULL && before->bound > view->bound)
        before = before->previous;
    view->previous = before;
    view->next     = before != NULL ? before->next : store->oldest;
    if (before != NULL)
        before->next = view;
    else
        store->oldest = view;
    if (view->next != NULL)
        view->next->previous = view;
    else
        store->newest = view;
    view->is_set = true;
    note_ends(store);
}

static void unlink_view(VersionStore *store, View *view)
{
    if (view->previous != NULL)
        view->previous->next = view->next;
    else
        store->oldest = view->next;
    if (view->next != NULL)
        view->next->previous = view->previous;
    else
        store->newest = view->previous;
    view->is_set = false;
    note_ends(store);
}

static uint64_t newest_state(const SimLog *log)
{
    return (log->commit_count + 1) << 1;
}

/* --- the secondary's position --- */

/* Moves on to the last commit that is old enough. */
static void advance_lagging(SimDatabase *database)
{
    VersionStore *store  = &database->versions;
    int64_t       lag_us = atomic_load(&store->lag_us);
    int64_t       now_us = clock_utc_us(database->server->options.clock);
    uint64_t      bound  = store->lagging.bound;

    while (store->time_count > 0 && store->times[store->time_first].utc_us <= now_us - lag_us) {
        bound             = store->times[store->time_first].state;
        store->time_first = (store->time_first + 1) % store->time_capacity;
        store->time_count--;
    }
    if (bound == store->lagging.bound) return;
    unlink_view(store, &store->lagging);
    store->lagging.bound = bound;
    link_view(store, &store->lagging);
}

static void push_time(VersionStore *store, CommitTime time)
{
    if (store->time_count == store->time_capacity) {
        size_t      capacity = store->time_capacity ? 2 * store->time_capacity : 64;
        CommitTime *times    = mem_alloc(capacity * sizeof *times);
        for (size_t i = 0; i < store->time_count; i++)
            times[i] = store->times[(store->time_first + i) % store->time_capacity];
        mem_free(store->times);
        store->times         = times;
        store->time_capacity = capacity;
        store->time_first    = 0;
    }
    store->times[(store->time_first + store->time_count++) % store->time_capacity] = time;
}

void versions_note_commit(SimDatabase *database, uint64_t state)
{
    VersionStore *store = &database->versions;

    if (atomic_load_explicit(&store->lag_us, memory_order_relaxed) < 0) return;
    push_time(store, (CommitTime){state, clock_utc_us(database->server->options.clock)});
    advance_lagging(database);
}

void sim_database_set_secondary(SimDatabase *database, int64_t lag_ms)
{
    VersionStore *store = &database->versions;

    (void)pthread_mutex_lock(&database->log.mutex);
    if (store->lagging.is_set) unlink_view(store, &store->lagging);
    store->time_count = 0;
    atomic_store(&store->lag_us, lag_ms < 0 ? -1 : lag_ms * 1000);
    if (lag_ms >= 0) {
        store->lagging.bound = newest_state(&database->log);
        link_view(store, &store->lagging);
    }
    (void)pthread_mutex_unlock(&database->log.mutex);
    versions_collect(database);
}

int64_t sim_database_secondary_lag_ms(const SimDatabase *database)
{
    int64_t lag_us = atomic_load(&database->versions.lag_us);
    return lag_us < 0 ? -1 : lag_us / 1000;
}

/* --- views --- */

void view_open(SimDatabase *database, View *view, bool is_lagging)
{
    VersionStore *store = &database->versions;

    assert(!view->is_set);
    (void)pthread_mutex_lock(&database->log.mutex);
    view->bound = newest_state(&database->log);
    if (is_lagging && store->lagging.is_set) {
        advance_lagging(database);
        view->bound = store->lagging.bound;
    }
    if (store->late[0].is_set) view->bound = MIN(view->bound, store->late[0].bound);
    link_view(store, view);
    (void)pthread_mutex_unlock(&database->log.mutex);
}

void versions_note_cycle(SimDatabase *database)
{
    VersionStore *store = &database->versions;
    bool          is_on = sim_server_knob(database->server, SIM_KNOB_COMMIT_VISIBLE) != 0;
    View          next;

    (void)pthread_mutex_lock(&database->log.mutex);
    bool was_on = store->late[1].is_set;
    next        = store->late[1];
    for (size_t i = 0; i < COUNT_OF(store->late); i++)
        if (store->late[i].is_set) unlink_view(store, &store->late[i]);
    if (is_on && was_on) {
        store->late[0].bound = next.bound;
        link_view(store, &store->late[0]);
    }
    if (is_on) {
        store->late[1].bound = newest_state(&database->log);
        link_view(store, &store->late[1]);
    }
    (void)pthread_mutex_unlock(&database->log.mutex);
    if (was_on) versions_collect(database);
}

void view_close(SimDatabase *database, View *view)
{
    if (!view->is_set) return;
    (void)pthread_mutex_lock(&database->log.mutex);
    unlink_view(&database->versions, view);
    (void)pthread_mutex_unlock(&database->log.mutex);
}

/* --- what is kept --- */

void versions_open(SimDatabase *database)
{
    VersionStore *store = &database->versions;

    atomic_store(&store->horizon, NO_VIEW);
    atomic_store(&store->lag_us, -1);
    int failed = pthread_mutex_init(&store->mutex, NULL);
    assert(failed == 0);
}

void versions_close(SimDatabase *database)
{
    VersionStore *store = &database->versions;

    mem_free(store->kept);
    mem_free(store->times);
    (void)pthread_mutex_destroy(&store->mutex);
}

static void keep(VersionStore *store, Kept kept)
{
    (void)pthread_mutex_lock(&store->mutex);
    if (store->kept_count == store->kept_capacity) {
        size_t capacity = store->kept_capacity ? 2 * store->kept_capacity : 64;
        Kept  *ring     = mem_alloc(capacity * sizeof *ring);
        for (size_t i = 0; i < store->kept_count; i++)
            ring[i] = store->kept[(store->kept_first + i) % store->kept_capacity];
        mem_free(store->kept);
        store->kept          = ring;
        store->kept_capacity = capacity;
        store->kept_first    = 0;
    }
    store->kept[(store->kept_first + store->kept_count++) % store->kept_capacity] = kept;
    (void)pthread_mutex_unlock(&store->mutex);
}

static uint64_t horizon_of(const SimTable *table)
{
    const VersionStore *store = &table->database->versions;

    if (table->is_temporary) return NO_VIEW;
    if (table->is_system && atomic_load_explicit(&store->lag_us, memory_order_relaxed) < 0)
        return NO_VIEW; /* nobody reads versions of it */
    return atomic_load_explicit(&store->horizon, memory_order_acquire);
}

static uint64_t commit_of(const SimRow *row)
{
    uint64_t stamp = atomic_load_explicit(&row->stamp, memory_order_acquire);
    if (stamp & 1)
        stamp = atomic_load_explicit(&((SimTxn *)(uintptr_t)(stamp - 1))->state,
                                     memory_order_acquire);
    return stamp;
}

void versions_trim(SimTable *table, Body *body, Item *place, Buf *scratch)
{
    VersionStore *store   = &table->database->versions;
    uint64_t      horizon = horizon_of(table);
    uint64_t      newest  = horizon == NO_VIEW ? 0 : atomic_load(&store->newest_bound);
    SimRow       *head    = place_head(place);
    uint64_t      upper   = commit_of(head);

    for (SimRow *kept = head, *row; (row = kept->previous) != NULL;) {
        uint64_t state = commit_of(row);
        /* Some view begins at or after this version and before the next one. */
        if (state < upper && horizon < upper && newest >= state) {
            kept = row;
        } else {
            kept->previous = row->previous;
            if (body->tree_count > 1) body_drop_entries(body, place, row, scratch);
            row_retire(table, row);
        }
        upper = state;
    }
    if (head->previous == NULL) {
        body_settle_alone(table, body, place, scratch);
    } else if (!(atomic_load(&place->flags) & ITEM_KEPT)) {
        atomic_fetch_or(&place->flags, ITEM_KEPT);
        keep(store, (Kept){table, body, place, commit_of(head)});
    }
}

/* The oldest entry, when no view is older than its row's newest version. */
static bool peek_kept(VersionStore *store, Kept *out)
{
    (void)pthread_mutex_lock(&store->mutex);
    bool due = store->kept_count > 0 &&
               store->kept[store->kept_first].state <= atomic_load(&store->horizon);
    if (due) *out = store->kept[store->kept_first];
    (void)pthread_mutex_unlock(&store->mutex);
    return due;
}

/* Takes it out, unless somebody else was faster. With the table's latch held. */
static bool take_kept(VersionStore *store, const Kept *wanted)
{
    (void)pthread_mutex_lock(&store->mutex);
    const Kept *first = &store->kept[store->kept_first];
    bool        found = store->kept_count > 0 && first->place == wanted->place &&
                 first->body == wanted->body;
    if (found) {
        store->kept_first = (store->kept_first + 1) % store->kept_capacity;
        store->kept_count--;
    }
    (void)pthread_mutex_unlock(&store->mutex);
    return found;
}

void versions_collect(SimDatabase *database)
{
    VersionStore *store = &database->versions;
    Arena        *arena = NULL;
    Buf           key;
    Kept          kept;

    while (peek_kept(store, &kept)) {
        if (arena == NULL) {
            arena = arena_new();
            key   = buf_new(arena, 0);
        }
        latch_exclusive(kept.table);
        if (take_kept(store, &kept)) {
            atomic_fetch_and(&kept.place->flags, ~ITEM_KEPT);
            /* Under an uncommitted version the chain waits for its end, which looks again. */
            if ((atomic_load(&place_head(kept.place)->stamp) & 1) == 0)
                versions_trim(kept.table, kept.body, kept.place, &key);
        }
        latch_release(kept.table);
    }
    arena_close(arena);
}

void versions_forget(SimTable *table, const Body *body)
{
    VersionStore *store = &table->database->versions;
    size_t        left  = 0;

    latch_exclusive(table);
    (void)pthread_mutex_lock(&store->mutex);
    for (size_t i = 0; i < store->kept_count; i++) {
        Kept kept = store->kept[(store->kept_first + i) % store->kept_capacity];
        if (kept.body == body) continue;
        store->kept[(store->kept_first + left++) % store->kept_capacity] = kept;
    }
    store->kept_count = left;
    (void)pthread_mutex_unlock(&store->mutex);
    latch_release(table);
}

void versions_move(SimTable *table, const Body *from, Body *to)
{
    VersionStore *store = &table->database->versions;

    latch_exclusive(table);
    (void)pthread_mutex_lock(&store->mutex);
    for (size_t i = 0; i < store->kept_count; i++) {
        Kept *kept = &store->kept[(store->kept_first + i) % store->kept_capacity];
        if (kept->body == from) kept->body = to;
    }
    (void)pthread_mutex_unlock(&store->mutex);
    latch_release(table);
}

size_t sim_database_kept_rows(SimDatabase *database)
{
    VersionStore *store = &database->versions;

    (void)pthread_mutex_lock(&store->mutex);
    size_t count = store->kept_count;
    (void)pthread_mutex_unlock(&store->mutex);
    return count;
}
