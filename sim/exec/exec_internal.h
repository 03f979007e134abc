/* exec_internal.h - how a statement runs: nodes (compiled expressions), operators that are pulled row by row, and what they share.
 *
 * Every column a statement mentions has a slot in one array; a scan writes slots, an expression reads them, so a correlated subquery
 * sees its outer rows for nothing. An operator provides slots; those that keep rows (sort, hash, window) save and restore exactly
 * the slots below them. Memory: the plan and what it keeps live in the statement's arena, values made for one row in the scratch
 * arena of the operator that evaluates. */
#ifndef TIDESIM_EXEC_INTERNAL_H
#define TIDESIM_EXEC_INTERNAL_H

#include "base/buf.h"
#include "base/list.h"
#include "sim/parse/ast.h"
#include "sim/sim.h"

typedef struct Exec        Exec;
typedef struct Node        Node;
typedef struct Op          Op;
typedef struct SelectPlan  SelectPlan;
typedef struct BoundSource BoundSource;
typedef struct QueryScope  QueryScope;

/* What a scan puts into a slot: a column as it is stored. The value is made of it when somebody asks; who only copies it to
 * the client never does. `wire.ptr` NULL: the slot was written as a value. */
typedef struct SlotWire {
    const SimType *type;
    Bytes          wire;
    bool           is_pending; /* there is no value yet */
} SlotWire;

/* What a running statement shares. */
struct Exec {
    SimSession *session;
    Arena      *arena;   /* the statement's */
    Arena      *scratch; /* of whoever evaluates now */
    SimValue   *slots;   /* read through exec_slot */
    SlotWire   *wires;
    SimError   *error;
    int64_t     utc_us;     /* the statement's time */
    LIST(Arena *) arenas;   /* of operators, freed at the statement's end */
    LIST(SimScan **) scans; /* those still open are closed then */
};

static inline const SimValue *exec_slot(Exec *exec, int slot)
{
    SlotWire *wire = &exec->wires[slot];

    if (wire->is_pending) {
        sim_wire_value(wire->type, wire->wire, &exec->slots[slot]);
        wire->is_pending = false;
    }
    return &exec->slots[slot];
}

static inline void exec_set_slot(Exec *exec, int slot, const SimValue *value)
{
    exec->slots[slot]            = *value;
    exec->wires[slot].wire.ptr   = NULL;
    exec->wires[slot].is_pending = false;
}

/* NULL, of the type the slot has. What a scan left there may be gone, so it is not looked at. */
static inline void exec_null_slot(Exec *exec, int slot)
{
    const SlotWire *wire = &exec->wires[slot];
    SimValue        null = sim_null(wire->type ? *wire->type : exec->slots[slot].type);

    exec_set_slot(exec, slot, &null);
}

/* Closing an operator frees early what it can; exec_end frees the rest, so an error may leave operators open. */
void   exec_begin(Exec *exec, SimSession *session, Arena *arena, SimError *error);
Arena *exec_arena(Exec *exec);
void   exec_end(Exec *exec);

/* --- nodes --- */
typedef enum NodeKind {
    NODE_CONST,
    NODE_SLOT,
    NODE_VARIABLE,
    NODE_CALL,    /* any other value */
    NODE_COMPARE, /* predicates from here on */
    NODE_AND,
    NODE_OR,
    NODE_NOT,
    NODE_IS_NULL,
    NODE_PREDICATE,
} NodeKind;

typedef enum Truth { TRUTH_ERROR = -2, TRUTH_UNKNOWN = -1, TRUTH_FALSE = 0, TRUTH_TRUE = 1 } Truth;

struct Node {
    NodeKind kind;
    /* The value, good until the scratch arena is reset or the node evaluated again; NULL: exec->error is set. */
    const SimValue *(*eval)(Node *node, Exec *exec);
    Truth (*test)(Node *node, Exec *exec); /* predicates only */
    SimType      type;
    bool         is_nullable;
    bool         is_volatile;    /* a new value per row: NEWID() */
    uint8_t      collation_rank; /* 0 literal or variable, 1 column, 2 COLLATE */
    bool         negated;
    bool         is_try;
    bool         is_once_done; /* a constant part: evaluated at its first use */
    CompareOp    compare;
    char         op;
    int          style;
    int32_t      line;
    int          slot;
    SimValue     value;
    Node       **args;
    size_t       arg_count;
    BoundSource *source;      /* SLOT: what the name resolved to */
    SelectPlan  *query;       /* subqueries */
    QueryScope  *query_scope; /* what a subquery takes from outside */
    const void  *function;    /* scalar functions: their entry */
    Str          text;        /* variable, function or datepart name */
    void        *state;       /* kept between evaluations */
};

typedef LIST(Node *) NodeList;
typedef LIST(int) SlotList;

static inline const SimValue *node_eval(Node *node, Exec *exec)
{
    return node->eval(node, exec);
}

Node *node_new(Arena *arena, NodeKind kind, SimType type, int32_t line);
Node *node_const(Arena *arena, const SimValue *value, int32_t line);
Node *node_slot(Arena *arena, int slot, SimType type, bool is_nullable);
/* An implicit conversion to `type`, or the node itself when it has that type already. */
Node *node_convert(Arena *arena, Node *node, const SimType *type);
Node *node_compare(Arena *arena, CompareOp op, Node *left, Node *right);
Node *node_and(Arena *arena, Node *left, Node *right); /* either may be NULL */
bool  node_is_constant(const Node *node);              /* reads no slot, the same for every row */
/* Evaluates constant parts once per execution. Call on the root of an expression that is evaluated per row. */
Node *node_fold_constants(Arena *arena, Node *node);
bool  node_same(const Node *left, const Node *right); /* certainly the same value */

/* Evaluators that the binder installs. */
const SimValue *eval_const(Node *node, Exec *exec);
const SimValue *eval_slot(Node *node, Exec *exec);
const SimValue *eval_variable(Node *node, Exec *exec);
const SimValue *eval_convert(Node *node, Exec *exec);
const SimValue *eval_arithmetic(Node *node, Exec *exec);
const SimValue *eval_negate(Node *node, Exec *exec);
const SimValue *eval_complement(Node *node, Exec *exec);
const SimValue *eval_case(Node *node, Exec *exec); /* args: test, value, test, value ..., [else] */
const SimValue *eval_coalesce(Node *node, Exec *exec);
const SimValue *eval_null_if(Node *node, Exec *exec);
const SimValue *eval_collate(Node *node, Exec *exec);
const SimValue *eval_subquery(Node *node, Exec *exec);
Truth           test_compare(Node *node, Exec *exec);
Truth           test_and(Node *node, Exec *exec);
Truth           test_or(Node *node, Exec *exec);
Truth           test_not(Node *node, Exec *exec);
Truth           test_is_null(Node *node, Exec *exec);
Truth           test_in_list(Node *node, Exec *exec);
Truth           test_in_query(Node *node, Exec *exec);
Truth           test_exists(Node *node, Exec *exec);
Truth           test_quantified(Node *node, Exec *exec);
Truth           test_like(Node *node, Exec *exec);

/* Copies a value's bytes into `arena`. */
SimValue value_copy(Arena *arena, const SimValue *value);
Truth    value_compare_truth(CompareOp op, const SimValue *left, const SimValue *right,
                             SimError *error);
/* Converts for storage in a column or a variable; errors name the column (515, 8152/2628 ...). */
bool value_store(Exec *exec, const SimValue *value, const SimType *type, Arena *arena,
                 SimValue *out);

/* --- operators --- */
typedef struct OrderSlot {
    int  slot;
    bool descending;
} OrderSlot;
typedef LIST(OrderSlot) OrderSlots;

typedef enum Pull { PULL_ERROR = -1, PULL_END = 0, PULL_ROW = 1 } Pull;

struct Op {
    bool (*open)(Op   *op,
                 Exec *exec); /* may be called again after close: a nested loop's inner side */
    Pull (*next)(Op *op, Exec *exec);
    void (*close)(Op *op, Exec *exec); /* harmless when closed */
    /* May be NULL. Passes over up to `rows` rows without making them; how many, 0: only `next` can. */
    int64_t (*skip)(Op *op, Exec *exec, int64_t rows);
    SlotList   slots;           /* what it provides */
    OrderSlots order;           /* how its rows are sorted, as far as known */
    SlotList   constants;       /* slots with one value throughout */
    bool       order_is_unique; /* `order` fixes a row */
    bool       at_most_one;     /* at most one row */
};

static inline bool op_open(Op *op, Exec *exec)
{
    return op->open(op, exec);
}
static inline Pull op_next(Op *op, Exec *exec)
{
    return op->next(op, exec);
}
static inline void op_close(Op *op, Exec *exec)
{
    if (op) op->close(op, exec);
}
void op_add_slot(Arena *arena, Op *op, int slot);
void op_add_slots(Arena *arena, Op *op, const SlotList *slots);
void op_keep_order(Op *op, const Op *from); /* order, constants and uniqueness of its input */

typedef struct SortItem {
    Node *node;
    bool  descending;
} SortItem;
typedef LIST(SortItem) SortItems;
bool op_has_order(const Op *op, const SortItems *items);

/* One seek: equalities on a prefix of an index, then a range. Nodes are evaluated when the scan opens. */
typedef struct SeekBound {
    Node     *node; /* NULL: none */
    CompareOp compare;
} SeekBound;
typedef struct ScanSpec {
    BoundSource    *source;
    const SimIndex *index; /* NULL: the clustered order or the heap */
    Node          **equal; /* NULL entries: IS NULL */
    size_t          equal_count;
    SeekBound       low, high;
    bool            skip_nulls; /* a range leaves NULLs out when it has no lower bound */
    bool            backwards;
    Node           *filter;   /* what the seek does not say; NULL: nothing */
    bool            is_point; /* every column of a unique index */
} ScanSpec;

Op *op_scan(Arena *arena, const ScanSpec *spec);
/* A scan whose every row counts, for who reads the model's scan itself: opened, it is there unless the bounds say that there
 * is no row. */
bool op_scan_is_bare(const Op *op);
bool op_scan_ordinal(const Op *op, int slot, size_t *ordinal_out); /* false: not of its columns */
SimScan *op_scan_model(const Op *op);
void     op_scan_note(Op *op, Exec *exec); /* counts the rows looked at */
/* TABLOCK and TABLOCKX: opening it takes a lock, which TOP (0) wants too. */
bool op_scan_locks_table(const Op *op);
void op_scan_set_limit(Op *op, Node *limit); /* the reader wants about that many rows */
Op  *op_virtual(Arena *arena, BoundSource *source, Node *filter);
Op  *op_single_row(Arena *arena); /* SELECT without FROM */
Op  *op_filter(Arena *arena, Op *input, Node *predicate);
typedef struct Assign {
    int   slot;
    Node *node;
} Assign;
typedef LIST(Assign) AssignList;
/* Computes slots from its input; provides those and, when `keep_input`, the input's. */
/* What a slot is computed from by operators of this kind on top; NULL: it comes from below them. */
Node *op_computed(const Op *op, int slot);
Op   *op_below_computes(Op *op);
Op   *op_compute(Arena *arena, Op *input, const AssignList *assigns, bool keep_input);
Op   *op_nested_loop(Arena *arena, JoinKind kind, Op *left, Op *right,
                     Node *condition); /* INNER or LEFT; the right side is opened per left row */
/* INNER, LEFT or FULL; keys of equal types; `condition` what else must hold. */
Op     *op_hash_join(Arena *arena, JoinKind kind, Op *left, Op *right, const NodeList *left_keys,
                     const NodeList *right_keys, Node *condition);
Op     *op_spool(Arena *arena, Op *input); /* keeps its rows: opened again, it gives them again */
Op     *op_sort(Arena *arena, Op *input, const SortItems *items);
void    op_sort_set_limit(Op *op, Node *limit, Node *offset); /* only the first rows are needed */
int64_t op_sort_count(const Op *op);                          /* of its rows, once it is open */
typedef struct LimitSpec {
    Node     *top, *offset, *fetch;
    bool      percent, with_ties;
    SortItems ties;
} LimitSpec;
Op *op_limit(Arena *arena, Op *input, const LimitSpec *spec);
Op *op_distinct(Arena *arena, Op *input, const NodeList *keys);
typedef struct UnionBranch {
    Op        *op;
    AssignList assigns;
} UnionBranch;
typedef LIST(UnionBranch) UnionBranches;
Op *op_union_all(Arena *arena, const UnionBranches *branches, const SlotList *slots);
/* Anchors give the first rows; each row, in `row_slots`, leads to those of the members. 530. */
Op *op_recursive(Arena *arena, const UnionBranches *anchors, const UnionBranches *members,
                 const SlotList *slots, const SlotList *row_slots, int64_t limit);
Op *op_set_except(Arena *arena, Op *left, Op *right, const NodeList *left_keys,
                  const NodeList *right_keys, bool intersect);
typedef struct AggregateCall AggregateCall; /* bind_internal.h */
typedef struct WindowCall    WindowCall;
/* keys: grouping expressions, written to `key_slots`. */
Op *op_group(Arena *arena, Op *input, const NodeList *keys, const SlotList *key_slots,
             AggregateCall *const *calls, size_t call_count, bool is_scalar, bool is_ordered);
Op *op_window(Arena *arena, Op *input, const NodeList *partition, const SortItems *order,
              WindowCall *const *calls, size_t call_count);

/* --- rows that are kept --- */
/* Saves slots as an array of values; restores them. */
SimValue *tuple_save(Arena *arena, Exec *exec, const SlotList *slots);
void      tuple_restore(Exec *exec, const SlotList *slots, const SimValue *tuple);
/* The key of some values for hashing and sorting: equal values, equal bytes. */
bool key_is_whole(Exec      *exec,
                  const Buf *key) MUST_CHECK; /* else an error: what is cut compares wrong */
bool key_of_nodes(Exec *exec, Node *const *nodes, size_t count, Buf *out, bool *has_null_out);

typedef struct KeyEntry {
    Str      key;
    uint64_t hash;
    void    *data;
} KeyEntry;
typedef struct KeyTable {
    Arena    *arena;
    KeyEntry *entries; /* in order of arrival */
    size_t    count, capacity;
    uint32_t *buckets;
    size_t    bucket_count;
} KeyTable;
void      key_table_init(KeyTable *table, Arena *arena);
KeyEntry *key_table_find(const KeyTable *table, Str key);
KeyEntry *key_table_add(KeyTable *table, Str key, bool *is_new); /* copies the key */

/* --- a SELECT that is ready to run --- */
typedef struct OutColumn {
    Str   name;
    Node *node;
    bool  is_nullable, is_identity, is_computed;
    Str   assign_to; /* SELECT @v = ... */
} OutColumn;
struct SelectPlan {
    Op        *op;
    OutColumn *outs;
    size_t     out_count;
    bool       assigns; /* to variables; gives no rows */
};

/* Where rows of a SELECT go. False stops it; the error then is exec->error. */
typedef struct RowTarget RowTarget;
struct RowTarget {
    bool (*row)(RowTarget *target, Exec *exec, const SimValue *values, size_t count);
    /* May be NULL. A column that has `wires[i].ptr` is these bytes, as stored under the column's type, and no value. */
    bool (*wires)(RowTarget *target, Exec *exec, const Bytes *wires, const SimValue *values,
                  size_t count);
};
bool select_run(Exec *exec, SelectPlan *plan, RowTarget *target, int64_t *row_count_out);
/* True when the session may go on: no attention, no kill. Sets the error otherwise. */
bool exec_check(Exec *exec);

#endif
