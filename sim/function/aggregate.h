/* aggregate.h - COUNT, COUNT_BIG, SUM, AVG, MIN, MAX, STRING_AGG and the statistical ones: types
 * and accumulators. */
#ifndef TIDESIM_AGGREGATE_H
#define TIDESIM_AGGREGATE_H

#include "sim/value/value.h"

typedef enum SimAggregateKind {
    SIM_COUNT,
    SIM_COUNT_BIG,
    SIM_SUM,
    SIM_AVG,
    SIM_MIN,
    SIM_MAX,
    SIM_STRING_AGG,
    SIM_STDEV,
    SIM_STDEVP,
    SIM_VAR,
    SIM_VARP,
    SIM_BYTES_OR, /* of our own queries: update masks of one length, put together */
} SimAggregateKind;

typedef struct SimAggregate {
    const char      *name; /* upper case */
    SimAggregateKind kind;
    uint8_t          args; /* 2 for STRING_AGG: the separator */
} SimAggregate;

const SimAggregate *sim_aggregate_find(Str name); /* NULL: none of this name */
/* The type of its result; `arg` NULL for COUNT(*). 8117 where SQL Server refuses the operand (MIN
 * of bit, SUM of text, ...). */
bool sim_aggregate_type(const SimAggregate *aggregate, const SimType *arg, SimType *out,
                        SimError *error) MUST_CHECK;

/* The state of one aggregate over one group; embed it, start it with sim_accumulator_init. What it
 * keeps is in `arena`. */
typedef struct SimAccumulator {
    const SimAggregate *aggregate;
    SimType             type; /* of the result */
    Arena              *arena;
    int64_t             count;
    int64_t             sum_i64;
    Int128              sum_dec;
    double              sum_f64, sum_squares;
    bool                has_value;
    SimValue            best;  /* MIN, MAX: a copy */
    uint8_t            *bytes; /* STRING_AGG's text, or best's */
    size_t              bytes_len, bytes_capacity;
    bool                skipped_null;
} SimAccumulator;

void sim_accumulator_init(SimAccumulator *accumulator, const SimAggregate *aggregate,
                          const SimType *type, Arena *arena);
/* `value` NULL for COUNT(*); a NULL value is skipped. `separator` only for STRING_AGG. DISTINCT is
 * the caller's business. Errors: 8115. */
bool sim_accumulator_add(SimAccumulator *accumulator, const SimValue *value,
                         const SimValue *separator, SimError *error) MUST_CHECK;
/* May be asked again after more values (running totals). Borrows from the accumulator. */
bool sim_accumulator_result(const SimAccumulator *accumulator, SimValue *out,
                            SimError *error) MUST_CHECK;
bool sim_accumulator_skipped_null(const SimAccumulator *accumulator); /* warning 8153 */

#endif
