/* header_change.h - the metaData and protocol actions of a commit. */
#ifndef TIDELAKE_DELTA_HEADER_CHANGE_H
#define TIDELAKE_DELTA_HEADER_CHANGE_H

#include "delta/delta_internal.h"

typedef struct HeaderChange {
    Str    metadata; /* empty: as it was */
    Str    protocol;
    Schema schema; /* of the table afterwards */
} HeaderChange;

/* ERR_SCHEMA_CHANGED: a type that does not fit, a name that Delta refuses here. ERR_UNSUPPORTED:
 * a property that needs a feature. */
bool header_change_plan(const LogPlace *place, const Header *header, const DeltaCommit *commit,
                        Arena *arena, HeaderChange *out, Err *err) MUST_CHECK;

#endif
