/* prepared.h - text with parameters, run now or kept under a handle: what prepared statements and cursors share. */
#ifndef TIDESIM_SESSION_PREPARED_H
#define TIDESIM_SESSION_PREPARED_H

#include "sim/session/session_internal.h"

/* 214 when argument `index` is not given. */
bool      prepared_text(ProcCall *call, size_t index, const char *what, Str *out) MUST_CHECK;
bool      prepared_parse(ProcCall *call, Str text, Arena *arena, StmtList *out) MUST_CHECK;
Prepared *prepared_make(ProcCall *call, Str definitions, Str text); /* NULL: an error */
/* 8179. The handle is argument `index`. */
Prepared *prepared_find(ProcCall *call, size_t index);
void      prepared_drop(ProcCall *call, const Prepared *prepared);
/* Drops what argument `index` holds, if it holds one. */
bool prepared_replace(ProcCall *call, size_t index) MUST_CHECK;
/* Runs statements in a frame of their own; the values of `definitions` are the arguments from `first` on. False: nothing ran. */
bool prepared_run(ProcCall *call, const StmtList *stmts, Str definitions, size_t first) MUST_CHECK;

#endif
