/* announced.h - the snapshots of a table as the facts announce them, whoever took them: what silver goes by
 * (algorithms.md 7.2). */
#ifndef TIDELAKE_ENGINE_ANNOUNCED_H
#define TIDELAKE_ENGINE_ANNOUNCED_H

#include "state/facts.h"

typedef struct Announced {
    OptLsn          completed; /* the newest completion */
    const FactsRow *opened;    /* the newest chunked open; NULL: none */
    const FactsRow *done;    /* the chunked open that was completed so; NULL: it is no such one's */
    OptTime         done_at; /* that completion was recorded then */
    OptLsn          completed_before; /* the newest completion below it */
} Announced;

/* `facts` NULL: nothing is announced. Rows live in `arena`. */
bool announced_read(Facts *facts, Str target, Arena *arena, Announced *out, Err *err) MUST_CHECK;
/* The newest chunked open is above every completion. */
bool announced_is_open(const Announced *announced);
/* As it was before the newest completion: its snapshot is open again, unless a newer one is. */
void announced_reopen(Announced *announced);

#endif
