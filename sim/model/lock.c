/* lock.c - who holds what, who waits for whom (sqlserver.md 2.12).
 *
 * Each thing that can be locked has its holders and a queue; a request waits for what it cannot
 * stand beside, held or asked for before. A session that has to wait looks for a cycle first, so a
 * deadlock ends at once. Whoever ends a wait changes the request's state under the mutex and wakes
 * the session afterwards, because a push may hand the processor over. */
#include "sim/model/model_internal.h"

#include "sim/model/virtual_clock.h"

#define BUCKETS_MIN 64
#define CYCLE_MAX   256 /* sessions looked at in one search */
#define NS_PER_MS   INT64_C(1000000)

/* clang-format off */
#define ALL_MODES ((1u << LOCK_MODE_COUNT) - 1)

/* Modes that cannot be held by two sessions at once. */
static const uint16_t conflicts[LOCK_MODE_COUNT] = {
    [LOCK_SCH_S]   = 1u << LOCK_SCH_M,
    [LOCK_SCH_M]   = ALL_MODES,
    [LOCK_IS]      = 1u << LOCK_SCH_M | 1u << LOCK_X,
    [LOCK_IX]      = 1u << LOCK_SCH_M | 1u << LOCK_S | 1u << LOCK_U | 1u << LOCK_X,
    [LOCK_S]       = 1u << LOCK_SCH_M | 1u << LOCK_IX | 1u << LOCK_X,
    [LOCK_U]       = 1u << LOCK_SCH_M | 1u << LOCK_IX | 1u << LOCK_U | 1u << LOCK_X,
    [LOCK_X]       = ALL_MODES - (1u << LOCK_SCH_S),
    [LOCK_RANGE_S] = 1u << LOCK_RANGE_I,
    [LOCK_RANGE_U] = 1u << LOCK_RANGE_U | 1u << LOCK_RANGE_I,
    [LOCK_RANGE_I] = 1u << LOCK_RANGE_S | 1u << LOCK_RANGE_U,
};

static const char *const wait_types[LOCK_MODE_COUNT] = {
    [LOCK_SCH_S]   = "LCK_M_SCH_S",
    [LOCK_SCH_M]   = "LCK_M_SCH_M",
    [LOCK_IS]      = "LCK_M_IS",
    [LOCK_IX]      = "LCK_M_IX",
    [LOCK_S]       = "LCK_M_S",
    [LOCK_U]       = "LCK_M_U",
    [LOCK_X]       = "LCK_M_X",
    [LOCK_RANGE_S] = "LCK_M_RS_S",
    [LOCK_RANGE_U] = "LCK_M_RS_U",
    [LOCK_RANGE_I] = "LCK_M_RIn_NL",
};

/* As sys.dm_tran_locks names them. */
static const char *const mode_names[LOCK_MODE_COUNT] = {
    [LOCK_SCH_S]   = "Sch-S",
    [LOCK_SCH_M]   = "Sch-M",
    [LOCK_IS]      = "IS",
    [LOCK_IX]      = "IX",
    [LOCK_S]       = "S",
    [LOCK_U]       = "U",
    [LOCK_X]       = "X",
    [LOCK_RANGE_S] = "RangeS-S",
    [LOCK_RANGE_U] = "RangeS-U",
    [LOCK_RANGE_I] = "RangeI-N",
};

/* Holding one of these makes asking for the mode unnecessary. */
static const uint16_t covers[LOCK_MODE_COUNT] = {
    [LOCK_SCH_S]   = ALL_MODES,
    [LOCK_SCH_M]   = 1u << LOCK_SCH_M,
    [LOCK_IS]      = ALL_MODES - (1u << LOCK_SCH_S),
    [LOCK_IX]      = 1u << LOCK_IX | 1u << LOCK_X | 1u << LOCK_SCH_M,
    [LOCK_S]       = 1u << LOCK_S | 1u << LOCK_U | 1u << LOCK_X | 1u << LOCK_SCH_M,
    [LOCK_U]       = 1u << LOCK_U | 1u << LOCK_X | 1u << LOCK_SCH_M,
    [LOCK_X]       = 1u << LOCK_X | 1u << LOCK_SCH_M,
    [LOCK_RANGE_S] = 1u << LOCK_RANGE_S | 1u << LOCK_RANGE_U,
    [LOCK_RANGE_U] = 1u << LOCK_RANGE_U,
    [LOCK_RANGE_I] = 1u << LOCK_RANGE_I,
};
/* clang-format on */

static LockManager *manager_of(const SimTxn *txn)
{
    return &txn->database->server->locks;
}

void lock_manager_open(LockManager *manager)
{
    *manager         = (LockManager){.bucket_count = BUCKETS_MIN};
    manager->buckets = mem_alloc(BUCKETS_MIN * sizeof(void *));
    int failed       = pthread_mutex_init(&manager->mutex, NULL);
    assert(failed == 0);
}

void lock_manager_close(LockManager *manager)
{
    for (LockResource *resource = manager->free_resources, *next; resource != NULL;
         resource               = next) {
        next = resource->next;
        mem_free(resource);
    }
    for (Hold *hold = manager->free_holds, *next; hold != NULL; hold = next) {
        next = hold->next;
        mem_free(hold);
    }
    mem_free(manager->buckets);
    (void)pthread_mutex_destroy(&manager->mutex);
}

/* --- waking --- */

void sim_waiter_wake(SimWaiter *waiter)
{
    turn_promise(waiter->turns, waiter->turn);
    if (!atomic_exchange(&waiter->wake_is_pending, true)) (void)queue_push(waiter->wake, waiter);
}

void sim_waiter_set_inner(SimServer *server, SimWaiter *waiter, SimWaiter *inner)
{
    (void)pthread_mutex_lock(&server->locks.mutex);
    waiter->inner = inner;
    if (inner) {
        inner->turns = waiter->turns;
        inner->turn  = waiter->turn;
    }
    (void)pthread_mutex_unlock(&server->locks.mutex);
}

bool sim_waiter_wait(SimWaiter *waiter, int64_t timeout_ms)
{
    void *item;
    bool  rests = turn_rest(waiter->turns, waiter->turn);
    bool  woken = queue_pop(waiter->wake, timeout_ms, &item);

    if (woken) atomic_store(&waiter->wake_is_pending, false);
    if (!rests) return woken;
    turn_take(waiter->turns, waiter->turn);
    /* Whatever else woke it meanwhile it looks at now; kept, it would end its next wait at once, or not, by chance. */
    if (queue_try_pop(waiter->wake, &item)) atomic_store(&waiter->wake_is_pending, false);
    return woken;
}

static void wake_sleeper(void *arg)
{
    sim_waiter_wake(arg);
}

bool sim_waiter_wait_until(SimWaiter *waiter, Clock *clock, int64_t due_ns)
{
    Alarm   alarm = {.due_ns = due_ns, .ring = wake_sleeper, .arg = waiter};
    int64_t left_ns;
    bool    woken;

    if (due_ns == INT64_MAX) return sim_waiter_wait(waiter, -1);
    alarm_set(clock, &alarm);
    left_ns = due_ns - clock_monotonic_ns(clock);
    if (left_ns <= 0)
        woken = false;
    else if (virtual_clock_is_stopped(clock)) /* the alarm ends it */
        woken = sim_waiter_wait(waiter, -1) && clock_monotonic_ns(clock) < due_ns;
    else
        woken = sim_waiter_wait(waiter, (left_ns + NS_PER_MS - 1) / NS_PER_MS);
    alarm_clear(clock, &alarm);
    return woken;
}

/* Decides under the mutex who pushes, so that the session can tell whether a push is still to
 * come. */
void wakes_add(Wakes *wakes, SimWaiter *waiter)
{
    if (atomic_exchange(&waiter->wake_is_pending, true)) return;
    waiter->next_wake = NULL;
    if (wakes->last != NULL)
        wakes->last->next_wake = waiter;
    else
        wakes->first = waiter;
    wakes->last = waiter;
}

void wakes_send(Wakes *wakes)
{
    for (SimWaiter *waiter = wakes->first, *next; waiter != NULL; waiter = next) {
        next = waiter->next_wake; /* not ours any more once it is pushed */
        turn_promise(waiter->turns, waiter->turn);
        (void)queue_push(waiter->wake, waiter);
    }
    *wakes = (Wakes){NULL, NULL};
}

/* --- resources of rows --- */

static size_t bucket_of(const LockManager *manager, const Item *place)
{
    uint64_t hash = (uint64_t)(uintptr_t)place * 0x9E3779B97F4A7C15u;
    return (size_t)(hash >> 32) & (manager->bucket_count - 1);
}

static void grow_buckets(LockManager *manager)
{
    LockResource **before = manager->buckets;
    size_t         count  = manager->bucket_count;

    manager->bucket_count *= 2;
    manager->buckets = mem_alloc(manager->bucket_count * sizeof(void *));
    for (size_t i = 0; i < count; i++)
        for (LockResource *resource = before[i], *next; resource != NULL; resource = next) {
            next                     = resource->next;
            size_t bucket            = bucket_of(manager, resource->place);
            resource->next           = manager->buckets[bucket];
            manager->buckets[bucket] = resource;
        }
    mem_free(before);
}

static LockResource *find_resource(const LockManager *manager, const Item *place)
{
    LockResource *resource = manager->buckets[bucket_of(manager, place)];
    while (resource != NULL && resource->place != place)
        resource = resource->next;
    return resource;
}

static LockResource *resource_of_row(LockManager *manager, SimTable *table, Item *place)
{
    LockResource *resource = find_resource(manager, place);

    if (resource != NULL) return resource;
    if (manager->resource_count >= 2 * manager->bucket_count) grow_buckets(manager);
    resource = manager->free_resources;
    if (resource != NULL)
        manager->free_resources = resource->next;
    else
        resource = mem_alloc(sizeof *resource);
    size_t bucket = bucket_of(manager, place);
    *resource = (LockResource){.place = place, .next = manager->buckets[bucket], .table = table};
    manager->buckets[bucket] = resource;
    manager->resource_count++;
    atomic_fetch_or(&place->flags, ITEM_LOCKED);
    return resource;
}

/* A row's resource goes when nobody holds it or waits for it; a row that left its tree meanwhile
 * goes with it. */
static void drop_resource_if_idle(LockManager *manager, LockResource *resource)
{
    if (resource->holds != NULL || resource->first != NULL || resource->users > 0) return;
    if (resource->is_over) {
        mem_free(resource->range);
        return;
    }
    if (resource->place == NULL) return;
    LockResource **at = &manager->buckets[bucket_of(manager, resource->place)];
    while (*at != resource)
        at = &(*at)->next;
    *at           = resource->next;
    unsigned flag = atomic_fetch_and(&resource->place->flags, (uint8_t)~ITEM_LOCKED);
    if (flag & ITEM_DEAD) item_free(resource->place);
    resource->next          = manager->free_resources;
    manager->free_resources = resource;
    manager->resource_count--;
}

void place_free(SimServer *server, Item *place)
{
    LockManager *manager = &server->locks;

    if (atomic_load(&place->flags) & ITEM_LOCKED) {
        (void)pthread_mutex_lock(&manager->mutex);
        bool locked = find_resource(manager, place) != NULL;
        if (locked) atomic_fetch_or(&place->flags, ITEM_DEAD);
        (void)pthread_mutex_unlock(&manager->mutex);
        if (locked) return;
    }
    item_free(place);
}

/* --- holds --- */

static Hold *find_hold(const LockResource *resource, const SimTxn *txn)
{
    Hold *hold = resource->holds;
    while (hold != NULL && hold->txn != txn)
        hold = hold->next;
    return hold;
}

static unsigned hold_modes(const Hold *hold)
{
    unsigned modes = 0;
    for (unsigned mode = 0; mode < LOCK_MODE_COUNT; mode++)
        if (hold->counts[mode] > 0) modes |= 1u << mode;
    return modes;
}

static Hold *hold_of(LockManager *manager, LockResource *resource, SimTxn *txn)
{
    Hold *hold = find_hold(resource, txn);

    if (hold != NULL) return hold;
    hold = manager->free_holds;
    if (hold != NULL)
        manager->free_holds = hold->next;
    else
        hold = mem_alloc(sizeof *hold);
    *hold = (Hold){
        .txn = txn, .resource = resource, .next = resource->holds, .txn_next = txn->holds};
    if (hold->next != NULL) hold->next->previous = hold;
    if (hold->txn_next != NULL) hold->txn_next->txn_previous = hold;
    resource->holds = hold;
    txn->holds      = hold;
    return hold;
}

static void drop_hold(LockManager *manager, Hold *hold)
{
    if (hold->previous != NULL)
        hold->previous->next = hold->next;
    else
        hold->resource->holds = hold->next;
    if (hold->next != NULL) hold->next->previous = hold->previous;
    if (hold->txn_previous != NULL)
        hold->txn_previous->txn_next = hold->txn_next;
    else
        hold->txn->holds = hold->txn_next;
    if (hold->txn_next != NULL) hold->txn_next->txn_previous = hold->txn_previous;
    hold->next          = manager->free_holds;
    manager->free_holds = hold;
}

static bool same_session(const SimTxn *left, const SimTxn *right)
{
    return left == right || left->waiter == right->waiter;
}

static bool holders_allow(const LockResource *resource, const SimTxn *txn, LockMode mode)
{
    for (const Hold *hold = resource->holds; hold != NULL; hold = hold->next)
        if (!same_session(hold->txn, txn) && (hold_modes(hold) & conflicts[mode])) return false;
    return true;
}

/* --- the queue --- */

static void enqueue(LockResource *resource, LockRequest *request)
{
    LockRequest *before = NULL; /* conversions come first, in their order */

    if (request->is_conversion) {
        before = resource->first;
        while (before != NULL && before->is_conversion)
            before = before->next;
    }
    resource->users++;
    request->next     = before;
    request->previous = before != NULL ? before->previous : resource->last;
    if (request->previous != NULL)
        request->previous->next = request;
    else
        resource->first = request;
    if (before != NULL)
        before->previous = request;
    else
        resource->last = request;
}

static void dequeue(LockRequest *request)
{
    LockResource *resource = request->resource;

    if (request->previous != NULL)
        request->previous->next = request->next;
    else
        resource->first = request->next;
    if (request->next != NULL)
        request->next->previous = request->previous;
    else
        resource->last = request->previous;
    request->previous = request->next = NULL;
}

/* Grants whatever neither a holder nor an earlier waiter stands against. */
static void serve_queue(LockManager *manager, LockResource *resource, Wakes *wakes)
{
    unsigned ahead = 0; /* modes that wait before the one looked at */

    for (LockRequest *request = resource->first, *next; request != NULL; request = next) {
        next = request->next;
        if ((ahead & conflicts[request->mode]) ||
            !holders_allow(resource, request->txn, request->mode)) {
            ahead |= 1u << request->mode;
            continue;
        }
        dequeue(request);
        hold_of(manager, resource, request->txn)->counts[request->mode]++;
        request->state = REQUEST_GRANTED;
        wakes_add(wakes, request->txn->waiter);
    }
    drop_resource_if_idle(manager, resource);
}

/* --- deadlocks --- */

typedef struct Search {
    SimTxn          *path[CYCLE_MAX + 1]; /* transactions whose sessions wait, each for the next */
    size_t           path_len;
    SimWaiter       *seen[CYCLE_MAX];
    size_t           seen_count;
    const SimWaiter *wanted;
} Search;

static bool search_from(Search *search, const LockRequest *request);

static bool search_through(Search *search, const SimTxn *blocker)
{
    SimWaiter *waiter = blocker->waiter;

    while (waiter->inner != NULL)
        waiter = waiter->inner;
    const LockRequest *request = waiter->request;
    if (waiter == search->wanted) return true;
    if (request == NULL || request->state != REQUEST_WAITS) return false;
    for (size_t i = 0; i < search->seen_count; i++)
        if (search->seen[i] == waiter) return false;
    if (search->seen_count == CYCLE_MAX) return false;
    search->seen[search->seen_count++] = waiter;
    return search_from(search, request);
}

/* Follows whoever the request waits for: holders, and requests before it, that it cannot stand
 * beside. */
static bool search_from(Search *search, const LockRequest *request)
{
    const LockResource *resource = request->resource;
    const uint16_t      against  = conflicts[request->mode];

    search->path[search->path_len++] = request->txn;
    for (const Hold *hold = resource->holds; hold != NULL; hold = hold->next)
        if (!same_session(hold->txn, request->txn) && (hold_modes(hold) & against) &&
            search_through(search, hold->txn))
            return true;
    for (const LockRequest *other = request->previous; other != NULL; other = other->previous)
        if (!same_session(other->txn, request->txn) && (1u << other->mode & against) &&
            search_through(search, other->txn))
            return true;
    search->path_len--;
    return false;
}

static bool is_better_victim(const SimTxn *left, const SimTxn *right)
{
    if (left->waiter->deadlock_priority != right->waiter->deadlock_priority)
        return left->waiter->deadlock_priority < right->waiter->deadlock_priority;
    return left->written < right->written;
}

/* Lowest priority, then least written; among equals the seed decides. */
static SimTxn *choose_victim(const Search *search)
{
    SimTxn  *victim = search->path[0];
    uint64_t equals = 1;

    for (size_t i = 1; i < search->path_len; i++) {
        SimTxn *txn = search->path[i];
        if (is_better_victim(txn, victim)) {
            victim = txn;
            equals = 1;
        } else if (!is_better_victim(victim, txn)) {
            equals++;
            if (rng_below(sim_server_rng(txn->database->server), equals) == 0) victim = txn;
        }
    }
    return victim;
}

static bool deadlock_error(const SimTxn *txn, SimError *error)
{
    return sim_error(error, 1205,
                     "Transaction (Process ID %d) was deadlocked on lock resources with another "
                     "process and has been chosen as the deadlock victim. "
                     "Rerun the transaction.",
                     txn->waiter->session_id);
}

/* Breaks every cycle through the request, which is in its queue. False: its own transaction is the
 * victim. */
static bool break_deadlocks(LockRequest *request, Wakes *wakes)
{
    for (;;) {
        Search search = {.wanted = request->txn->waiter};
        if (!search_from(&search, request)) return true;
        SimTxn *victim = choose_victim(&search);
        if (victim == request->txn) return false;
        LockRequest *other = victim->waiter->request;
        dequeue(other);
        other->state = REQUEST_IS_VICTIM;
        wakes_add(wakes, victim->waiter);
    }
}

/* --- asking --- */

static bool lock_timeout_error(SimError *error)
{
    return sim_error(error, 1222, "Lock request time out period exceeded.");
}

static void note_blocker(SimTxn *txn, const LockResource *resource, LockMode mode)
{
    for (const Hold *hold = resource->holds; hold != NULL; hold = hold->next)
        if (!same_session(hold->txn, txn) && (hold_modes(hold) & conflicts[mode])) {
            atomic_store(&txn->waiter->blocking_session_id, hold->txn->waiter->session_id);
            break;
        }
    atomic_store(&txn->waiter->wait_start_ns,
                 clock_monotonic_ns(sim_server_clock(txn->database->server)));
    atomic_store(&txn->waiter->wait_type, wait_types[mode]);
    atomic_fetch_add(&txn->waiter->lock_waits, 1);
}

static bool waiters_allow(const LockResource *resource, LockMode mode)
{
    for (const LockRequest *request = resource->first; request != NULL; request = request->next)
        if (1u << request->mode & conflicts[mode]) return false;
    return true;
}

/* Who has a lock already is asked for no place in the queue. */
static bool may_grant(const LockResource *resource, const SimTxn *txn, const Hold *hold,
                      LockMode mode)
{
    if (hold != NULL && (hold_modes(hold) & covers[mode])) return true;
    return holders_allow(resource, txn, mode) && (hold != NULL || waiters_allow(resource, mode));
}

/* With the mutex held, and perhaps a latch: victims are woken later. */
static LockAnswer ask_locked(LockManager *manager, SimTxn *txn, LockResource *resource,
                             LockMode mode, SimError *error)
{
    Hold        *hold    = find_hold(resource, txn);
    LockRequest *request = &txn->request;

    *request = (LockRequest){
        .txn = txn, .resource = resource, .mode = mode, .is_conversion = hold != NULL};
    if (may_grant(resource, txn, hold, mode)) {
        hold_of(manager, resource, txn)->counts[mode]++;
        request->state = REQUEST_GRANTED;
        return LOCK_GRANTED;
    }
    if (txn->waiter->lock_timeout_ms == 0) {
        drop_resource_if_idle(manager, resource);
        (void)lock_timeout_error(error);
        return LOCK_REFUSED;
    }
    enqueue(resource, request);
    request->state       = REQUEST_WAITS;
    txn->waiter->request = request;
    note_blocker(txn, resource, mode);
    if (break_deadlocks(request, &txn->wakes)) return LOCK_QUEUED;
    dequeue(request);
    resource->users--;
    request->state       = REQUEST_NONE;
    txn->waiter->request = NULL;
    atomic_store(&txn->waiter->wait_type, NULL);
    drop_resource_if_idle(manager, resource);
    (void)deadlock_error(txn, error);
    return LOCK_REFUSED;
}

LockAnswer lock_ask(SimTxn *txn, LockResource *resource, LockMode mode, SimError *error)
{
    LockManager *manager = manager_of(txn);
    (void)pthread_mutex_lock(&manager->mutex);
    LockAnswer answer = ask_locked(manager, txn, resource, mode, error);
    (void)pthread_mutex_unlock(&manager->mutex);
    return answer;
}

LockAnswer lock_ask_row(SimTxn *txn, SimTable *table, Item *place, LockMode mode, SimTxn *holder,
                        SimError *error)
{
    LockManager *manager = manager_of(txn);

    (void)pthread_mutex_lock(&manager->mutex);
    if (holder != NULL && holder->has_ended)
        holder = NULL; /* it let go just now: its waiters have been served */
    LockResource *resource = resource_of_row(manager, table, place);
    if (holder != NULL) {
        Hold *hold = hold_of(manager, resource, holder);
        if (hold->counts[LOCK_X] == 0) hold->counts[LOCK_X] = 1;
    }
    LockAnswer answer = ask_locked(manager, txn, resource, mode, error);
    (void)pthread_mutex_unlock(&manager->mutex);
    return answer;
}

bool waiter_check(SimWaiter *waiter, SimError *error)
{
    if (atomic_load_explicit(&waiter->killed, memory_order_relaxed))
        return sim_error(error, 596,
                         "Cannot continue the execution because the session is in the kill state.");
    if (atomic_load_explicit(&waiter->attention, memory_order_relaxed))
        return sim_error(error, SIM_ATTENTION, "The statement was stopped by an attention.");
    return true;
}

/* Ends a wait, under the mutex: true when it is over. */
static bool wait_is_over(LockRequest *request, bool timed_out, bool *granted_out, SimError *error)
{
    SimWaiter *waiter = request->txn->waiter;

    *granted_out = request->state == REQUEST_GRANTED;
    if (*granted_out) return true;
    if (request->state == REQUEST_IS_VICTIM) {
        (void)deadlock_error(request->txn, error);
        return true;
    }
    if (waiter_check(waiter, error) && !timed_out) return false;
    if (timed_out && error->number == 0) (void)lock_timeout_error(error);
    dequeue(request);
    return true;
}

/* A push that was promised is still to come; afterwards nobody has this session in mind. */
void await_promised_wake(SimWaiter *waiter)
{
    while (atomic_load(&waiter->wake_is_pending))
        (void)sim_waiter_wait(waiter, -1);
}

bool lock_wait(SimTxn *txn, SimError *error)
{
    LockManager *manager = manager_of(txn);
    LockRequest *request = &txn->request;
    SimWaiter   *waiter  = txn->waiter;
    Clock       *clock   = sim_server_clock(txn->database->server);
    bool         granted = false;
    Wakes        wakes   = {NULL, NULL};
    int64_t      due_ns  = waiter->lock_timeout_ms < 0
                               ? INT64_MAX
                               : clock_monotonic_ns(clock) + waiter->lock_timeout_ms * NS_PER_MS;

    *error = SIM_ERROR_INIT;
    wakes_send(&txn->wakes);
    for (bool timed_out = false;;) {
        (void)pthread_mutex_lock(&manager->mutex);
        if (wait_is_over(request, timed_out, &granted, error)) break;
        (void)pthread_mutex_unlock(&manager->mutex);
        timed_out = !sim_waiter_wait_until(waiter, clock, due_ns);
    }
    waiter->request = NULL;
    request->state  = REQUEST_NONE;
    request->resource->users--;
    atomic_store(&waiter->wait_type, NULL);
    atomic_store(&waiter->blocking_session_id, 0);
    if (!granted) serve_queue(manager, request->resource, &wakes); /* who stood behind may go on */
    (void)pthread_mutex_unlock(&manager->mutex);
    wakes_send(&wakes);
    await_promised_wake(waiter);
    return granted;
}

bool lock_take(SimTxn *txn, LockResource *resource, LockMode mode, SimError *error)
{
    switch (lock_ask(txn, resource, mode, error)) {
    case LOCK_GRANTED: return true;
    case LOCK_QUEUED: return lock_wait(txn, error);
    case LOCK_REFUSED: return false;
    }
    return false;
}

bool lock_row_is_in_way(SimTxn *txn, const Item *place, LockMode mode)
{
    LockManager *manager = manager_of(txn);

    if (!(atomic_load_explicit(&place->flags, memory_order_acquire) & ITEM_LOCKED)) return false;
    (void)pthread_mutex_lock(&manager->mutex);
    const LockResource *resource = find_resource(manager, place);
    bool                in_way   = resource != NULL && !holders_allow(resource, txn, mode);
    (void)pthread_mutex_unlock(&manager->mutex);
    return in_way;
}

void lock_note_writer(SimTxn *txn, const Item *place)
{
    LockManager *manager = manager_of(txn);

    (void)pthread_mutex_lock(&manager->mutex);
    LockResource *resource = find_resource(manager, place);
    Hold         *hold     = resource != NULL ? hold_of(manager, resource, txn) : NULL;
    if (hold != NULL && hold->counts[LOCK_X] == 0) hold->counts[LOCK_X] = 1;
    (void)pthread_mutex_unlock(&manager->mutex);
}

/* --- giving back --- */

static void give_back_and_unlock(LockManager *manager, SimTxn *txn, LockResource *resource,
                                 LockMode mode)
{
    Hold *hold  = resource != NULL ? find_hold(resource, txn) : NULL;
    Wakes wakes = {NULL, NULL};

    if (hold != NULL && hold->counts[mode] > 0) {
        hold->counts[mode]--;
        if (hold_modes(hold) == 0) drop_hold(manager, hold);
        serve_queue(manager, resource, &wakes);
    }
    (void)pthread_mutex_unlock(&manager->mutex);
    wakes_send(&wakes);
}

void lock_give_back(SimTxn *txn, LockResource *resource, LockMode mode)
{
    LockManager *manager = manager_of(txn);
    (void)pthread_mutex_lock(&manager->mutex);
    give_back_and_unlock(manager, txn, resource, mode);
}

void lock_give_back_row(SimTxn *txn, Item *place, LockMode mode)
{
    LockManager *manager = manager_of(txn);
    (void)pthread_mutex_lock(&manager->mutex);
    give_back_and_unlock(manager, txn, find_resource(manager, place), mode);
}

void lock_give_back_last(SimTxn *txn)
{
    lock_give_back(txn, txn->request.resource, txn->request.mode);
}

void lock_release_all(SimTxn *txn)
{
    LockManager *manager = manager_of(txn);
    Wakes        wakes   = {NULL, NULL};

    wakes_send(&txn->wakes);
    (void)pthread_mutex_lock(&manager->mutex);
    txn->has_ended = true;
    while (txn->holds != NULL) {
        LockResource *resource = txn->holds->resource;
        drop_hold(manager, txn->holds);
        serve_queue(manager, resource, &wakes);
    }
    (void)pthread_mutex_unlock(&manager->mutex);
    wakes_send(&wakes);
}

void lock_end_range(LockManager *manager, LockResource *resource)
{
    (void)pthread_mutex_lock(&manager->mutex);
    resource->is_over = true;
    drop_resource_if_idle(manager, resource);
    (void)pthread_mutex_unlock(&manager->mutex);
}

/* --- for the catalog views --- */

typedef struct LockList {
    Arena *arena;
    LIST(SimLockInfo) items;
} LockList;

static void list_resource(LockList *list, const LockResource *resource, int32_t object_id)
{
    bool is_key = resource->place != NULL || resource->range != NULL;

    for (const Hold *hold = resource->holds; hold != NULL; hold = hold->next)
        for (unsigned mode = 0; mode < LOCK_MODE_COUNT; mode++)
            if (hold->counts[mode] > 0)
                *LIST_PUSH(list->arena, &list->items) = (SimLockInfo){
                    .database_id = hold->txn->database->id,
                    .session_id  = hold->txn->waiter->session_id,
                    .object_id   = object_id,
                    .is_key      = is_key,
                    .mode        = mode_names[mode],
                    .txn_id      = hold->txn->id};
    for (const LockRequest *request = resource->first; request != NULL; request = request->next)
        *LIST_PUSH(list->arena,
                   &list->items) = (SimLockInfo){.database_id   = request->txn->database->id,
                                                 .session_id    = request->txn->waiter->session_id,
                                                 .object_id     = object_id,
                                                 .is_key        = is_key,
                                                 .mode          = mode_names[request->mode],
                                                 .is_waiting    = true,
                                                 .is_conversion = request->is_conversion,
                                                 .txn_id        = request->txn->id};
}

static void list_table(LockList *list, LockManager *manager, SimTable *table)
{
    latch_shared(table); /* for its ranges */
    (void)pthread_mutex_lock(&manager->mutex);
    list_resource(list, &table->lock, table->object_id);
    for (const LockResource *range = range_next(table, NULL); range != NULL;
         range                     = range_next(table, range))
        list_resource(list, range, table->object_id);
    (void)pthread_mutex_unlock(&manager->mutex);
    latch_release(table);
}

size_t sim_server_locks(SimServer *server, Arena *arena, SimLockInfo **out)
{
    LockManager *manager  = &server->locks;
    LockList     list     = {.arena = arena};
    SimDatabase *database = NULL;
    size_t       at       = 0;

    while (sim_server_next_database(server, &at, &database)) {
        (void)pthread_rwlock_rdlock(&database->catalog);
        for (size_t i = 0; i < database->table_count; i++)
            list_table(&list, manager, database->tables[i]);
        (void)pthread_rwlock_unlock(&database->catalog);
    }
    (void)pthread_mutex_lock(&manager->mutex);
    for (size_t i = 0; i < manager->bucket_count; i++)
        for (const LockResource *row = manager->buckets[i]; row != NULL; row = row->next)
            list_resource(&list, row, row->table->object_id);
    (void)pthread_mutex_unlock(&manager->mutex);
    *out = list.items.items;
    return list.items.count;
}
