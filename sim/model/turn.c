#include "sim/model/turn.h"

#include "base/arena.h"

#include <pthread.h>

struct Turns {
    pthread_mutex_t mutex;
    pthread_cond_t  moved;
    uint64_t        next, serving; /* tickets */
};

Turns *turns_new(void)
{
    Turns *turns = mem_alloc(sizeof *turns);

    turns->next = turns->serving = 0;
    (void)pthread_mutex_init(&turns->mutex, NULL);
    (void)pthread_cond_init(&turns->moved, NULL);
    return turns;
}

void turns_free(Turns *turns)
{
    if (!turns) return;
    (void)pthread_cond_destroy(&turns->moved);
    (void)pthread_mutex_destroy(&turns->mutex);
    mem_free(turns);
}

void turn_take(Turns *turns, Turn *turn)
{
    if (!turns) return;
    (void)pthread_mutex_lock(&turns->mutex);
    if (!turn->is_promised) turn->ticket = turns->next++;
    turn->is_resting = turn->is_promised = false;
    while (turns->serving != turn->ticket)
        (void)pthread_cond_wait(&turns->moved, &turns->mutex);
    turn->is_held = true;
    (void)pthread_mutex_unlock(&turns->mutex);
}

static bool give(Turns *turns, Turn *turn, bool rests)
{
    bool held;

    if (!turns) return false;
    (void)pthread_mutex_lock(&turns->mutex);
    held = turn->is_held;
    if (held) {
        turn->is_held    = false;
        turn->is_resting = rests;
        turns->serving++;
        (void)pthread_cond_broadcast(&turns->moved);
    }
    (void)pthread_mutex_unlock(&turns->mutex);
    return held;
}

void turn_give(Turns *turns, Turn *turn)
{
    (void)give(turns, turn, false);
}

bool turn_rest(Turns *turns, Turn *turn)
{
    return give(turns, turn, true);
}

void turn_promise(Turns *turns, Turn *turn)
{
    if (!turns) return;
    (void)pthread_mutex_lock(&turns->mutex);
    if (turn->is_resting && !turn->is_promised) {
        turn->ticket      = turns->next++;
        turn->is_promised = true;
    }
    (void)pthread_mutex_unlock(&turns->mutex);
}
