/* cancel.h - the wish to stop, and how to wake whoever waits.
 *
 * A Cancel is set once, by a signal (signal_watch.h) or another thread. Whoever blocks in a library
 * registers a waker for as long as it blocks: SQLCancel, duckdb_interrupt, closing a queue. */
#ifndef TIDELAKE_BASE_CANCEL_H
#define TIDELAKE_BASE_CANCEL_H

#include "base/err.h"

typedef struct Cancel Cancel;
typedef void (*CancelWake)(void *arg); /* may run on any thread; must not block or call cancel_* */

Cancel *cancel_new(void);
void    cancel_close(Cancel *cancel); /* accepts NULL */
/* Sets it and runs every waker once. Safe from any thread; not from a signal handler. */
void cancel_request(Cancel *cancel);
bool cancel_is_requested(const Cancel *cancel);
/* ERR_CANCELLED when requested, else true. The usual check at a safe point. */
bool cancel_check(const Cancel *cancel, Err *err) MUST_CHECK;
/* Registers a waker; runs it at once when the request is already in. Returns a handle for
 * cancel_unregister, which waits until a running call of that waker has returned. */
int  cancel_register(Cancel *cancel, CancelWake wake, void *arg);
void cancel_unregister(Cancel *cancel, int handle);

#endif
