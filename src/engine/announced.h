/* announced.h - the snapshots of a table as the facts announce them, whoever took them: what silver goes by
 * (algorithms.md 7.2). */
#ifndef TIDELAKE_ENGINE_ANNOUNCED_H
#define TIDELAKE_ENGINE_ANNOUNCED_H

#include "state/facts.h"

typedef struct Announced {
    OptLsn          completed;        /* the newest completion */
    const FactsRow *opened;           /* the newest chunked open; NULL: none */
    OptTime         done_at;          /* its own completion was recorded then; unset: it has none */
    OptLsn          completed_before; /* the newest completion below it */
} Announced;

/* `facts` NULL: nothing is announced. Rows live in `arena`. */
bool announced_read(Facts *facts, Str target, Arena *arena, Announced *out, Err *err) MUST_CHECK;
/* The newest chunked open is above every completion. */
bool announced_is_open(const Announced *announced);
/* The newest chunked open is the newest completion. */
bool announced_is_done(const Announced *announced);
/* As it was before the newest chunked open was completed. */
void announced_reopen(Announced *announced);

#endif
