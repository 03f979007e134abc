/* signal_watch.h - SIGINT and SIGTERM as a wish to stop.
 *
 * A thread of its own waits for them, so that no code runs inside a signal handler. The first one
 * requests the cancel; the second ends the process at once, which is as safe as any crash (cli.md). */
#ifndef TIDELAKE_BASE_SIGNAL_WATCH_H
#define TIDELAKE_BASE_SIGNAL_WATCH_H

#include "base/cancel.h"

typedef struct SignalWatch SignalWatch;

/* Call it in main before any other thread starts, since threads inherit what is blocked. `cancel`
 * must outlive the watch. */
SignalWatch *signal_watch_new(Cancel *cancel);
void         signal_watch_close(SignalWatch *watch); /* accepts NULL */
/* The signal that came, SIGINT or SIGTERM; 0 so far. The exit status of a stopped run is 128 more. */
int signal_watch_get(const SignalWatch *watch);

#endif
