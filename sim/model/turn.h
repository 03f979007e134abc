/* turn.h - requests one at a time, in the order in which they came, so that the same requests give the same bytes also
 * when sessions overlap. A request has the turn from its beginning to its end, but while it waits: for a lock, for the
 * clock, for its client. Whom another wakes goes on in the order of waking. */
#ifndef TIDESIM_TURN_H
#define TIDESIM_TURN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Turns Turns;
/* A session's place in it; zeroed. Calls of one Turn but turn_promise come from one thread. */
typedef struct Turn {
    uint64_t ticket;
    bool     is_held, is_resting, is_promised; /* internal */
} Turn;

Turns *turns_new(void);
void   turns_free(Turns *turns); /* accepts NULL; nobody may wait */
/* With `turns` NULL everyone goes when he wants, and these do nothing. */
void turn_take(Turns *turns, Turn *turn); /* waits for it */
void turn_give(Turns *turns, Turn *turn);
/* In the middle of a request: gives the turn while it waits for something; true if it had it. Then turn_take ends the rest. */
bool turn_rest(Turns *turns, Turn *turn);
/* Whoever rests comes next after those that wait already. From any thread. */
void turn_promise(Turns *turns, Turn *turn);

#endif
