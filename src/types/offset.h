/* offset.h - the last LSN processed, with its commit time (state.md 1, 17.2). */
#ifndef TIDELAKE_TYPES_OFFSET_H
#define TIDELAKE_TYPES_OFFSET_H

#include "types/lsn.h"

/* A point in time that may be unknown. */
typedef struct OptTime {
    bool    is_set;
    int64_t utc_us;
} OptTime;

typedef struct Offset {
    Lsn     lsn;
    OptTime commit_ts; /* unset when the LSN is no commit's; "" in text */
} Offset;

/* {"lsn": "0x...", "commit_ts": "2026-09-28T13:55:00.000"}; commit_ts "" when unset. */
Str offset_format_json(Arena *arena, const Offset *offset);
/* Takes members by name, in any order; a missing commit_ts reads as unset. */
bool offset_parse_json(Str text, Offset *out, Err *err) MUST_CHECK;

#endif
