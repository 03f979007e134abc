/* signal_watch.h - SIGINT and SIGTERM as a wish to stop.
 *
 * A thread of its own waits for them, so that no code runs inside a signal handler. The first one
 * requests the cancel; the second ends the process at once, which is as safe as any crash (cli.md).
 * So does a time limit: some calls of drivers and libraries come back only when a server that says
 * nothing speaks again. */
#ifndef TIDELAKE_BASE_SIGNAL_WATCH_H
#define TIDELAKE_BASE_SIGNAL_WATCH_H

#include "base/cancel.h"

typedef struct SignalWatch SignalWatch;

/* Call it in main before any other thread starts, since threads inherit what is blocked. `cancel`
 * must outlive the watch. A process that is still there `grace_ms` after the first signal ends with
 * 128 and the signal's number; 0: it may take as long as it likes. */
SignalWatch *signal_watch_new(Cancel *cancel, int64_t grace_ms);
void         signal_watch_close(SignalWatch *watch); /* accepts NULL */
/* The signal that came, SIGINT or SIGTERM; 0 so far. The exit status of a stopped run is 128 more. */
int signal_watch_get(const SignalWatch *watch);

#endif
