/* plan_internal.h - between plan_access.c and plan_from.c. */
#ifndef TIDESIM_PLAN_INTERNAL_H
#define TIDESIM_PLAN_INTERNAL_H

#include "sim/plan/bind_internal.h"

typedef struct Conjunct { /* one of the AND-ed predicates */
    Node    *node;
    uint64_t bits; /* sources of the scope it reads */
    bool     is_used;
    bool     is_redundant; /* follows from others: helps an index, need not be tested */
} Conjunct;
typedef LIST(Conjunct *) Conjuncts;

typedef struct Sarg { /* a predicate an index can serve */
    Conjunct *conjunct;
    int       slot;
    CompareOp compare;
    Node     *value;
    bool      is_null, is_not_null, or_null;
    bool      uses_left; /* its value comes from a source joined before */
} Sarg;

typedef struct Access {
    Binder          *binder;
    BoundSource     *source;
    Conjuncts       *conjuncts;
    uint64_t         available; /* sources whose rows are there */
    const SortItems *wanted;
    Node            *limit;
    LIST(Sarg) sargs;
} Access;

typedef struct Candidate {
    ScanSpec  spec;
    int       score;
    Conjuncts used;
    bool      uses_left, has_null_equal, fits_order;
} Candidate;

Candidate access_choose(Access *access);

#endif
