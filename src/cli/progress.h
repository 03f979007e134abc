/* progress.h - shows what long work has done so far: on a terminal a line redrawn in place, else a
 * log line for every ten seconds that a step takes (cli.md). */
#ifndef TIDELAKE_CLI_PROGRESS_H
#define TIDELAKE_CLI_PROGRESS_H

#include "engine/env.h"

typedef struct ProgressLine ProgressLine;

/* `log` must be the one of the terminal when `is_terminal`; it and `clock` outlive the line. */
ProgressLine *progress_new(Log *log, Clock *clock, bool is_terminal);
void          progress_close(ProgressLine *line); /* accepts NULL; takes the line away */
/* Env's on_progress, with the ProgressLine as its `arg`; any thread. */
void progress_show(void *arg, const Progress *now);

#endif
