/* progress.h - what long work has done so far: a line redrawn in place on a terminal, else a log
 * line every ten seconds (cli.md). */
#ifndef TIDELAKE_CLI_PROGRESS_H
#define TIDELAKE_CLI_PROGRESS_H

#include "engine/env.h"

typedef struct Progressing Progressing;

Progressing *progress_new(Log *log, Clock *clock, bool is_terminal);
void         progress_close(Progressing *progress); /* accepts NULL; takes the line away */
/* Env's on_progress; any thread. */
void progress_show(void *arg, const Progress *now);

#endif
