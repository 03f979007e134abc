/* plan_from.c - joins: inner ones in an order of our choice, led by the table with the best seek; each next table by index lookup, hash or nested loops. */
#include "sim/plan/plan_internal.h"
#include "sim/session/session_internal.h"

typedef struct Planner {
    Binder     *binder;
    QueryScope *scope;
} Planner;

typedef LIST(JoinTree *) TreeList;

static Op *plan_tree(Planner *planner, JoinTree *tree, Conjuncts *pool, const SortItems *wanted,
                     Node *limit);

static void add_conjunct(Planner *planner, Conjuncts *pool, Node *node, bool redundant)
{
    Conjunct *conjunct = ARENA_NEW(planner->binder->arena, Conjunct);

    *conjunct = (Conjunct){
        .node = node, .bits = node_sources(node, planner->scope), .is_redundant = redundant};
    *LIST_PUSH(planner->binder->arena, pool) = conjunct;
}

static void add_predicate(Planner *planner, Conjuncts *pool, Node *node)
{
    NodeList nodes = {0};

    if (!node) return;
    split_and(planner->binder->arena, node, &nodes);
    for (size_t i = 0; i < nodes.count; i++)
        add_conjunct(planner, pool, nodes.items[i], false);
}

/* a = b and a < 5: b < 5 as well. */
static void add_implied(Planner *planner, Conjuncts *pool)
{
    size_t count = pool->count;

    for (size_t i = 0; i < count; i++) {
        Node *equal = pool->items[i]->node;
        if (equal->kind != NODE_COMPARE || equal->compare != CMP_EQ ||
            equal->args[0]->kind != NODE_SLOT || equal->args[1]->kind != NODE_SLOT)
            continue;
        if (equal->args[0]->type.kind != equal->args[1]->type.kind) continue;
        for (size_t k = 0; k < count; k++) {
            Node *other = pool->items[k]->node;
            if (k == i || other->kind != NODE_COMPARE || other->compare == CMP_NE) continue;
            for (int side = 0; side < 2; side++) {
                Node *from = equal->args[side], *to = equal->args[1 - side];
                int at = other->args[0]->kind == NODE_SLOT && other->args[0]->slot == from->slot ? 0
                         : other->args[1]->kind == NODE_SLOT && other->args[1]->slot == from->slot
                             ? 1
                             : -1;
                if (at < 0 || node_sources(other->args[1 - at], planner->scope) != 0 ||
                    other->args[1 - at]->is_volatile)
                    continue;
                Node *implied = node_compare(planner->binder->arena, other->compare,
                                             at == 0 ? to : other->args[0],
                                             at == 0 ? other->args[1] : to);
                add_conjunct(planner, pool, implied, true);
            }
        }
    }
}

/* Every predicate that only needs `bits` and is not used yet, as one. */
static Node *take(Planner *planner, Conjuncts *pool, uint64_t bits, bool constants)
{
    Node *all = NULL;

    for (size_t i = 0; i < pool->count; i++) {
        Conjunct *conjunct = pool->items[i];
        if (conjunct->is_used || (conjunct->bits & ~bits) != 0) continue;
        if (!constants && conjunct->bits == 0) continue;
        conjunct->is_used = true;
        if (!conjunct->is_redundant) all = node_and(planner->binder->arena, all, conjunct->node);
    }
    return all;
}

static void mark_used(const Candidate *candidate)
{
    for (size_t i = 0; i < candidate->used.count; i++)
        candidate->used.items[i]->is_used = true;
}

static bool is_correlated(const BoundSource *source, const QueryScope *scope)
{
    if (!source->query_scope) return false;
    for (size_t i = 0; i < source->query_scope->outer_refs.count; i++)
        if (source->query_scope->outer_refs.items[i]->scope == scope) return true;
    return false;
}

static Access access_of(Planner *planner, BoundSource *source, Conjuncts *pool, uint64_t available,
                        const SortItems *wanted, Node *limit)
{
    return (Access){.binder    = planner->binder,
                    .source    = source,
                    .conjuncts = pool,
                    .available = available,
                    .wanted    = wanted,
                    .limit     = limit};
}

static Op *plan_leaf(Planner *planner, JoinTree *tree, Conjuncts *pool, const SortItems *wanted,
                     Node *limit)
{
    Arena       *arena  = planner->binder->arena;
    BoundSource *source = tree->source;

    if (source->kind == BOUND_TABLE) {
        Access    access = access_of(planner, source, pool, 0, wanted, limit);
        Candidate best   = access_choose(&access);
        mark_used(&best);
        best.spec.filter = take(planner, pool, tree->bits, false);
        Op *op           = op_scan(arena, &best.spec);
        if (limit && (!wanted || wanted->count == 0 || op_has_order(op, wanted)))
            op_scan_set_limit(op, limit);
        return op;
    }
    Node *filter = take(planner, pool, tree->bits, false);
    if (source->kind == BOUND_VIRTUAL) return op_virtual(arena, source, filter);
    return filter ? op_filter(arena, source->query->op, filter) : source->query->op;
}

/* --- a join's right side --- */
static void split_keys(Planner *planner, Conjuncts *pool, uint64_t left, uint64_t right,
                       NodeList *left_keys, NodeList *right_keys)
{
    Arena *arena = planner->binder->arena;

    for (size_t i = 0; i < pool->count; i++) {
        Conjunct *conjunct = pool->items[i];
        Node     *node     = conjunct->node;
        if (conjunct->is_used || node->kind != NODE_COMPARE || node->compare != CMP_EQ ||
            (conjunct->bits & ~(left | right)) != 0)
            continue;
        uint64_t first  = node_sources(node->args[0], planner->scope),
                 second = node_sources(node->args[1], planner->scope);
        Node *sides[2]  = {node->args[0], node->args[1]};
        if (first == 0 || second == 0) continue;
        if ((first & ~right) == 0 && (second & ~left) == 0) {
            sides[0] = node->args[1];
            sides[1] = node->args[0];
        } else if ((first & ~left) != 0 || (second & ~right) != 0) {
            continue;
        }
        if (!bind_unify(planner->binder, sides, 2, node->line)) {
            *planner->binder->error = SIM_ERROR_INIT; /* the comparison itself will say so */
            continue;
        }
        conjunct->is_used             = true;
        *LIST_PUSH(arena, left_keys)  = sides[0];
        *LIST_PUSH(arena, right_keys) = sides[1];
    }
}

static Op *join_lookup(Planner *planner, JoinKind kind, Op *left, uint64_t left_bits,
                       JoinTree *right, Conjuncts *pool)
{
    Access    access = access_of(planner, right->source, pool, left_bits, NULL, NULL);
    Candidate best   = access_choose(&access);

    if (!best.uses_left || (best.spec.equal_count == 0 && best.score < 40)) return NULL;
    mark_used(&best);
    Op *scan = op_scan(planner->binder->arena, &best.spec);
    return op_nested_loop(planner->binder->arena, kind, left, scan,
                          take(planner, pool, left_bits | right->bits, false));
}

static Op *join_pair(Planner *planner, JoinKind kind, Op *left, uint64_t left_bits, JoinTree *right,
                     Conjuncts *pool)
{
    Arena   *arena     = planner->binder->arena;
    NodeList left_keys = {0}, right_keys = {0};
    bool     is_leaf = right->source != NULL;

    if (is_leaf && right->source->kind == BOUND_TABLE && kind != JOIN_FULL) {
        Op *lookup = join_lookup(planner, kind, left, left_bits, right, pool);
        if (lookup) return lookup;
    }
    Op *inner = plan_tree(planner, right, pool, NULL, NULL);
    if (!inner) return NULL;
    bool correlated = is_leaf && is_correlated(right->source, planner->scope);
    if (!correlated) split_keys(planner, pool, left_bits, right->bits, &left_keys, &right_keys);
    Node *condition = take(planner, pool, left_bits | right->bits, false);
    if (left_keys.count > 0)
        return op_hash_join(arena, kind, left, inner, &left_keys, &right_keys, condition);
    if (kind == JOIN_FULL) {
        binder_not_supported(planner->binder, 0, "FULL JOIN without an equality between its sides");
        return NULL;
    }
    if (!correlated && !left->at_most_one) inner = op_spool(arena, inner);
    return op_nested_loop(arena, kind, left, inner, condition);
}

/* --- inner joins --- */
static void flatten(Planner *planner, JoinTree *tree, Conjuncts *pool, TreeList *leaves)
{
    if (tree->source || (tree->join != JOIN_INNER && tree->join != JOIN_CROSS)) {
        *LIST_PUSH(planner->binder->arena, leaves) = tree;
        return;
    }
    flatten(planner, tree->left, pool, leaves);
    flatten(planner, tree->right, pool, leaves);
    add_predicate(planner, pool, tree->on);
}

static size_t choose_first(Planner *planner, const TreeList *leaves, Conjuncts *pool,
                           const SortItems *wanted, Node *limit)
{
    size_t best       = 0;
    int    best_score = -1;

    for (size_t i = 0; i < leaves->count; i++) {
        BoundSource *source = leaves->items[i]->source;
        int          score  = 0;
        if (source && is_correlated(source, planner->scope)) continue;
        if (source && source->kind == BOUND_TABLE) {
            Access access = access_of(planner, source, pool, 0, wanted, limit);
            score         = access_choose(&access).score + 1;
        } else if (source && source->kind == BOUND_DERIVED && source->query->op->at_most_one) {
            score = 20000;
        }
        if (score > best_score) {
            best       = i;
            best_score = score;
        }
    }
    return best;
}

static bool is_connected(Planner *planner, const Conjuncts *pool, uint64_t bits, uint64_t next)
{
    (void)planner;
    for (size_t i = 0; i < pool->count; i++)
        if (!pool->items[i]->is_used && (pool->items[i]->bits & next) &&
            (pool->items[i]->bits & bits) && !(pool->items[i]->bits & ~(bits | next)))
            return true;
    return false;
}

/* The next table: one that an index finds from the rows so far, else one that is connected, else the first. */
static size_t choose_next(Planner *planner, const TreeList *leaves, const bool *done,
                          Conjuncts *pool, uint64_t bits)
{
    size_t connected = leaves->count, first = leaves->count;

    for (size_t i = 0; i < leaves->count; i++) {
        BoundSource *source = leaves->items[i]->source;
        if (done[i]) continue;
        if (first == leaves->count) first = i;
        if (source && source->kind == BOUND_TABLE) {
            Access    access    = access_of(planner, source, pool, bits, NULL, NULL);
            Candidate candidate = access_choose(&access);
            if (candidate.uses_left && candidate.spec.equal_count > 0) return i;
        }
        if (connected == leaves->count && is_connected(planner, pool, bits, leaves->items[i]->bits))
            connected = i;
    }
    return connected < leaves->count ? connected : first;
}

static Op *plan_inner(Planner *planner, JoinTree *tree, Conjuncts *pool, const SortItems *wanted,
                      Node *limit)
{
    Arena   *arena  = planner->binder->arena;
    TreeList leaves = {0};

    flatten(planner, tree, pool, &leaves);
    add_implied(planner, pool);
    bool  *done = ARENA_ARRAY(arena, bool, leaves.count);
    size_t at   = choose_first(planner, &leaves, pool, wanted, limit);
    Op *op = plan_tree(planner, leaves.items[at], pool, wanted, leaves.count == 1 ? limit : NULL);
    uint64_t bits = leaves.items[at]->bits;

    done[at] = true;
    for (size_t i = 1; op && i < leaves.count; i++) {
        at       = choose_next(planner, &leaves, done, pool, bits);
        done[at] = true;
        op       = join_pair(planner, JOIN_INNER, op, bits, leaves.items[at], pool);
        bits |= leaves.items[at]->bits;
    }
    return op;
}

/* --- outer joins and APPLY --- */
static Op *plan_outer(Planner *planner, JoinTree *tree, Conjuncts *pool, const SortItems *wanted)
{
    bool      is_right  = tree->join == JOIN_RIGHT;
    JoinTree *left      = is_right ? tree->right : tree->left,
             *right     = is_right ? tree->left : tree->right;
    Conjuncts left_pool = {0}, on = {0};
    JoinKind  kind = tree->join == JOIN_FULL ? JOIN_FULL : JOIN_LEFT;

    for (size_t i = 0; kind == JOIN_LEFT && i < pool->count;
         i++) /* WHERE on the kept side filters before the join */
        if (!pool->items[i]->is_used && pool->items[i]->bits != 0 &&
            (pool->items[i]->bits & ~left->bits) == 0)
            *LIST_PUSH(planner->binder->arena, &left_pool) = pool->items[i];
    Op *op = plan_tree(planner, left, &left_pool, kind == JOIN_LEFT ? wanted : NULL, NULL);
    if (!op) return NULL;
    Node *rest = take(planner, &left_pool, left->bits, false);
    if (rest) op = op_filter(planner->binder->arena, op, rest);
    add_predicate(planner, &on, tree->on);
    Conjuncts seeks = on;
    if (kind == JOIN_FULL) { /* nothing of ON may filter a side before the join */
        NodeList  left_keys = {0}, right_keys = {0};
        Conjuncts none  = {0};
        Op       *inner = plan_tree(planner, right, &none, NULL, NULL);
        if (!inner) return NULL;
        split_keys(planner, &on, left->bits, right->bits, &left_keys, &right_keys);
        if (left_keys.count == 0) {
            binder_not_supported(planner->binder, 0,
                                 "FULL JOIN without an equality between its sides");
            return NULL;
        }
        return op_hash_join(planner->binder->arena, JOIN_FULL, op, inner, &left_keys, &right_keys,
                            take(planner, &on, ~(uint64_t)0, true));
    }
    /* A part of ON that only reads the kept side decides whether the other side joins; it never removes a row. */
    Conjuncts left_only = {0}, both = {0};
    for (size_t i = 0; i < seeks.count; i++) {
        Conjuncts *part = (seeks.items[i]->bits & right->bits) ? &both : &left_only;
        *LIST_PUSH(planner->binder->arena, part) = seeks.items[i];
    }
    Node *gate = take(planner, &left_only, ~(uint64_t)0, true);
    if (!gate) return join_pair(planner, JOIN_LEFT, op, left->bits, right, &both);
    Op *inner = plan_tree(planner, right, &both, NULL, NULL);
    if (!inner) return NULL;
    Node *condition = node_and(planner->binder->arena, take(planner, &both, ~(uint64_t)0, true),
                               gate);
    return op_nested_loop(planner->binder->arena, JOIN_LEFT, op,
                          op_spool(planner->binder->arena, inner), condition);
}

static Op *plan_apply(Planner *planner, JoinTree *tree, Conjuncts *pool, const SortItems *wanted)
{
    Conjuncts left_pool = {0}, none = {0};
    Arena    *arena = planner->binder->arena;

    for (size_t i = 0; i < pool->count; i++)
        if (!pool->items[i]->is_used && pool->items[i]->bits != 0 &&
            (pool->items[i]->bits & ~tree->left->bits) == 0)
            *LIST_PUSH(arena, &left_pool) = pool->items[i];
    Op *op = plan_tree(planner, tree->left, &left_pool, wanted, NULL);
    if (!op) return NULL;
    Node *rest = take(planner, &left_pool, tree->left->bits, false);
    if (rest) op = op_filter(arena, op, rest);
    Op *inner = plan_tree(planner, tree->right, &none, NULL, NULL);
    if (!inner) return NULL;
    return op_nested_loop(arena, tree->join == JOIN_CROSS_APPLY ? JOIN_INNER : JOIN_LEFT, op, inner,
                          NULL);
}

static Op *plan_tree(Planner *planner, JoinTree *tree, Conjuncts *pool, const SortItems *wanted,
                     Node *limit)
{
    if (tree->source) return plan_leaf(planner, tree, pool, wanted, limit);
    switch (tree->join) {
    case JOIN_INNER:
    case JOIN_CROSS: return plan_inner(planner, tree, pool, wanted, limit);
    case JOIN_LEFT:
    case JOIN_RIGHT:
    case JOIN_FULL: return plan_outer(planner, tree, pool, wanted);
    case JOIN_CROSS_APPLY:
    case JOIN_OUTER_APPLY: return plan_apply(planner, tree, pool, wanted);
    }
    return NULL;
}

bool plan_from(Binder *binder, FromPlan *from, Op **out)
{
    Planner   planner   = {binder, from->scope};
    Conjuncts pool      = {0};
    Node     *constants = NULL;

    for (size_t i = 0; i < from->where.count; i++) {
        Node *node = from->where.items[i];
        if (node_is_constant(node))
            constants = node_and(binder->arena, constants, node);
        else
            add_conjunct(&planner, &pool, node, false);
    }
    *out = from->tree ? plan_tree(&planner, from->tree, &pool, &from->wanted, from->limit)
                      : op_single_row(binder->arena);
    if (!*out) return false;
    Node *rest = take(&planner, &pool, ~(uint64_t)0, true);
    if (rest) *out = op_filter(binder->arena, *out, rest);
    if (constants) *out = op_filter(binder->arena, *out, constants);
    return true;
}
