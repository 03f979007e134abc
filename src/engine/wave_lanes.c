/* wave_lanes.c - the turn on each lane, and the stamps. No lock: a turn is an item of a queue, and of two that look at
 * each other's last store one sees it. */
#include "engine/wave_lanes.h"

/* Rows that nobody fetches may hold a lock: so long they may. */
#define WAIT_MS 1000

struct WaveLanes {
    Sched                  *sched;
    WaveLane               *items;
    size_t                  count;
    Arena                  *arena;
    _Atomic(const Offset *) latest;  /* stamp that was asked for; NULL: none was */
    atomic_int_fast64_t kept_behind; /* the wave behind which lanes keep what they asked ahead */
    atomic_size_t       kept_count;  /* those before it do; 0: none */
    Task               *waiting;     /* of wave_lanes_begin_wait; NULL: nobody waits */
    Queue              *waited;
};

static char the_turn;

WaveLanes *wave_lanes_new(Sched *sched, size_t count, Arena *arena)
{
    WaveLanes *lanes = ARENA_NEW(arena, WaveLanes);

    lanes->sched  = sched;
    lanes->items  = ARENA_ARRAY(arena, WaveLane, count);
    lanes->count  = count;
    lanes->arena  = arena;
    lanes->waited = queue_new(sched, 1);
    for (size_t i = 0; i < count; i++) {
        lanes->items[i].turn = queue_new(sched, 1);
        (void)queue_push(lanes->items[i].turn, &the_turn);
    }
    return lanes;
}

void wave_lanes_close(WaveLanes *lanes)
{
    for (size_t i = 0; lanes && i < lanes->count; i++) {
        wave_lane_drop(&lanes->items[i]);
        queue_free(lanes->items[i].turn);
    }
    if (lanes) queue_free(lanes->waited);
}

WaveLane *wave_lane_at(WaveLanes *lanes, size_t index)
{
    return &lanes->items[index];
}

void wave_lane_take(WaveLane *lane)
{
    void *item;

    (void)queue_pop(lane->turn, -1, &item);
}

void wave_lane_drop(WaveLane *lane)
{
    row_stream_close(lane->rows);
    lane->rows = NULL;
    atomic_store(&lane->asked_under, NULL);
}

/* If nobody has taken the turn meanwhile. */
static void drop_if_free(WaveLane *lane)
{
    void *item;

    if (!queue_try_pop(lane->turn, &item)) return;
    wave_lane_drop(lane);
    (void)queue_push(lane->turn, item);
}

void wave_lane_give(WaveLanes *lanes, size_t index, int64_t number)
{
    WaveLane *lane = &lanes->items[index];

    if (atomic_load(&lanes->kept_behind) != number || index >= atomic_load(&lanes->kept_count))
        wave_lane_drop(lane);
    (void)queue_push(lane->turn, &the_turn);
    /* wave_lanes_let_go may have found the turn not there yet */
    if (index >= atomic_load(&lanes->kept_count)) drop_if_free(lane);
}

void wave_lane_note_ahead(WaveLanes *lanes, WaveLane *lane)
{
    atomic_store(&lane->asked_under, atomic_load(&lanes->latest));
}

void wave_lanes_keep(WaveLanes *lanes, int64_t number)
{
    atomic_store(&lanes->kept_behind, number);
    atomic_store(&lanes->kept_count, lanes->count);
}

void wave_lanes_let_go(WaveLanes *lanes, size_t from)
{
    atomic_store(&lanes->kept_count, from);
    for (size_t i = from; i < lanes->count; i++)
        drop_if_free(&lanes->items[i]);
}

static void run_wait(void *arg)
{
    WaveLanes *lanes = arg;
    void      *item;

    if (!queue_pop(lanes->waited, WAIT_MS, &item)) {
        wave_lanes_let_go(lanes, 0);
        (void)queue_pop(lanes->waited, -1, &item);
    }
}

void wave_lanes_begin_wait(WaveLanes *lanes)
{
    lanes->waiting = sched_spawn(lanes->sched, "patience", run_wait, lanes);
}

void wave_lanes_end_wait(WaveLanes *lanes)
{
    (void)queue_push(lanes->waited, lanes);
    sched_join(lanes->sched, lanes->waiting);
    lanes->waiting = NULL;
}

void wave_lanes_set_stamp(WaveLanes *lanes, const Offset *stamp)
{
    Offset *kept = ARENA_NEW(lanes->arena, Offset);

    *kept = *stamp;
    atomic_store(&lanes->latest, kept);
}

/* A reader that takes the latest one after this looked sends its request after this, too: that is late enough. */
bool wave_lanes_stamp(WaveLanes *lanes, Offset *out)
{
    const Offset *oldest = atomic_load(&lanes->latest);

    if (!oldest) return false;
    for (size_t i = 0; i < lanes->count; i++) {
        const Offset *asked = atomic_load(&lanes->items[i].asked_under);

        if (asked && lsn_compare(asked->lsn, oldest->lsn) < 0) oldest = asked;
    }
    *out = *oldest;
    return true;
}
