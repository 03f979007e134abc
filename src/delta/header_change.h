/* header_change.h - the metaData and protocol actions of a commit (delta.md 2.9). */
#ifndef TIDELAKE_DELTA_HEADER_CHANGE_H
#define TIDELAKE_DELTA_HEADER_CHANGE_H

#include "delta/delta_internal.h"

typedef struct HeaderChange {
    Str           metadata; /* empty: as it was */
    Str           protocol;
    Schema        schema; /* of the table afterwards */
    ColumnMapping mapping;
} HeaderChange;

/* Against the header as it stands, which `version` follows with the time of `in_commit`.
 * ERR_SCHEMA_CHANGED: a type that does not fit, a name that Delta refuses here. ERR_UNSUPPORTED: a
 * property that tidelake does not set. */
bool header_change_plan(const LogPlace *place, const Header *header, const DeltaCommit *commit,
                        int64_t version, const InCommit *in_commit, Arena *arena, HeaderChange *out,
                        Err *err) MUST_CHECK;

#endif
