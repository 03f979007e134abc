/* aggregate_internal.h - an aggregate of a query over one group: the accumulator, and what the executor adds: DISTINCT and WITHIN GROUP. */
#ifndef TIDESIM_AGGREGATE_INTERNAL_H
#define TIDESIM_AGGREGATE_INTERNAL_H

#include "sim/exec/exec_internal.h"
#include "sim/function/aggregate.h"

typedef struct
    AggregatePiece { /* a value of an ordered STRING_AGG, held until the group is complete */
    Str      key;
    size_t   number;
    SimValue value;
} AggregatePiece;

typedef struct AggregateState {
    SimAccumulator accumulator;
    bool           is_started;
    KeyTable      *seen; /* DISTINCT */
    LIST(AggregatePiece) pieces;
    SimValue separator;
} AggregateState;

bool aggregate_add(AggregateState *state, AggregateCall *call, Exec *exec, Arena *arena);
bool aggregate_result(AggregateState *state, const AggregateCall *call, Exec *exec, Arena *arena,
                      SimValue *out);

#endif
