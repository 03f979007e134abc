/* plan_access.c - how a table is reached: which predicates become equalities and a range of an index, and which index (sqlserver.md 1.5, 2.12). */
#include "sim/plan/bind_internal.h"
#include "sim/plan/plan_internal.h"

void split_and(Arena *arena, Node *node, NodeList *out)
{
    if (node->kind != NODE_AND) {
        *LIST_PUSH(arena, out) = node;
        return;
    }
    split_and(arena, node->args[0], out);
    split_and(arena, node->args[1], out);
}

uint64_t node_sources(const Node *node, const QueryScope *scope)
{
    uint64_t bits = 0;

    if (node->kind == NODE_SLOT && node->source && node->source->scope == scope)
        bits |= (uint64_t)1 << node->source->index;
    for (size_t i = 0; i < node->arg_count; i++)
        if (node->args[i]) bits |= node_sources(node->args[i], scope);
    if (node->query_scope)
        for (size_t i = 0; i < node->query_scope->outer_refs.count; i++)
            if (node->query_scope->outer_refs.items[i]->scope == scope)
                bits |= (uint64_t)1 << node->query_scope->outer_refs.items[i]->index;
    return bits;
}

/* --- predicates an index can serve --- */
static bool is_exact_number(SimTypeKind kind)
{
    return kind <= SIM_BIGINT || kind == SIM_DECIMAL || kind == SIM_MONEY || kind == SIM_SMALLMONEY;
}

static bool is_datetime(SimTypeKind kind)
{
    return kind == SIM_DATE || kind == SIM_DATETIME || kind == SIM_SMALLDATETIME ||
           kind == SIM_DATETIME2;
}

/* Whether a comparison with a value of `value` orders as the column itself does. REAL and FLOAT count as approximate. */
static bool is_seekable(const SimType *column, const SimType *value)
{
    bool column_float = column->kind == SIM_REAL || column->kind == SIM_FLOAT,
         value_float  = value->kind == SIM_REAL || value->kind == SIM_FLOAT;

    if (column_float)
        return value_float || (is_exact_number(value->kind) && value->kind != SIM_REAL);
    if (value_float) return false;
    if (is_exact_number(column->kind)) return is_exact_number(value->kind);
    if (sim_type_is_text(column->kind))
        return sim_type_is_text(value->kind) &&
               (sim_type_is_unicode(column->kind) || !sim_type_is_unicode(value->kind));
    if (sim_type_is_binary(column->kind))
        return sim_type_is_binary(value->kind) && value->kind != SIM_IMAGE &&
               column->kind != SIM_IMAGE;
    if (is_datetime(column->kind)) return is_datetime(value->kind);
    return column->kind == value->kind && !sim_type_is_lob(column->kind) &&
           column->kind != SIM_XML && column->kind != SIM_VARIANT;
}

static CompareOp flip(CompareOp op)
{
    switch (op) {
    case CMP_LT: return CMP_GT;
    case CMP_LE: return CMP_GE;
    case CMP_GT: return CMP_LT;
    case CMP_GE: return CMP_LE;
    case CMP_EQ:
    case CMP_NE: break;
    }
    return op;
}

static bool is_column_of(const Node *node, const BoundSource *source)
{
    return node->kind == NODE_SLOT && node->source == source;
}

static bool sarg_of_compare(const Access *access, Conjunct *conjunct, Node *node, Sarg *out)
{
    for (int side = 0; side < 2; side++) {
        Node *column = node->args[side], *value = node->args[1 - side];
        if (!is_column_of(column, access->source)) continue;
        uint64_t bits = node_sources(value, access->source->scope);
        if ((bits & ~access->available) != 0 || node->compare == CMP_NE || value->is_volatile)
            continue;
        if (!is_seekable(&column->type, &value->type)) continue;
        *out = (Sarg){.conjunct  = conjunct,
                      .slot      = column->slot,
                      .compare   = side == 0 ? node->compare : flip(node->compare),
                      .value     = value,
                      .uses_left = bits != 0};
        return true;
    }
    return false;
}

static bool sarg_of(const Access *access, Conjunct *conjunct, Sarg *out)
{
    Node *node = conjunct->node;

    if (node->kind == NODE_COMPARE) return sarg_of_compare(access, conjunct, node, out);
    if (node->kind == NODE_IS_NULL && is_column_of(node->args[0], access->source)) {
        *out = (Sarg){.conjunct    = conjunct,
                      .slot        = node->args[0]->slot,
                      .compare     = CMP_EQ,
                      .is_null     = !node->negated,
                      .is_not_null = node->negated};
        return true;
    }
    if (node->kind == NODE_OR) { /* k < v OR k IS NULL: everything below v */
        for (int side = 0; side < 2; side++) {
            Node *compare = node->args[side], *null = node->args[1 - side];
            if (compare->kind != NODE_COMPARE || null->kind != NODE_IS_NULL || null->negated)
                continue;
            if (!sarg_of_compare(access, conjunct, compare, out) ||
                !is_column_of(null->args[0], access->source))
                continue;
            if (null->args[0]->slot != out->slot ||
                (out->compare != CMP_LT && out->compare != CMP_LE))
                continue;
            out->or_null = true;
            return true;
        }
    }
    return false;
}

/* --- one index against the predicates --- */
static int column_slot(const BoundSource *source, int32_t column_id, bool *nullable)
{
    for (size_t i = 0; i < source->column_count; i++)
        if (source->info->columns[source->columns[i].ordinal].column_id == column_id) {
            *nullable = source->info->columns[source->columns[i].ordinal].is_nullable;
            return source->columns[i].slot;
        }
    return -1;
}

static Sarg *find_sarg(Access *access, int slot, bool equality, bool high)
{
    for (size_t i = 0; i < access->sargs.count && slot >= 0; i++) {
        Sarg *sarg = &access->sargs.items[i];
        if (sarg->slot != slot || sarg->is_not_null) continue;
        if (equality ? sarg->compare == CMP_EQ
            : high   ? sarg->compare == CMP_LT || sarg->compare == CMP_LE
                     : sarg->compare == CMP_GT || sarg->compare == CMP_GE)
            return sarg;
    }
    return NULL;
}

static void use(Arena *arena, Candidate *candidate, Sarg *sarg)
{
    if (!sarg) return;
    *LIST_PUSH(arena, &candidate->used) = sarg->conjunct;
    candidate->uses_left |= sarg->uses_left;
}

static void match_range(Access *access, Candidate *candidate, int slot, bool nullable)
{
    Arena *arena = access->binder->arena;
    Sarg *low = find_sarg(access, slot, false, false), *high = find_sarg(access, slot, false, true);

    if (low) candidate->spec.low = (SeekBound){low->value, low->compare};
    if (high) candidate->spec.high = (SeekBound){high->value, high->compare};
    use(arena, candidate, low);
    use(arena, candidate, high);
    candidate->spec.skip_nulls = nullable && high && !low && !high->or_null;
    if (low && high && high->or_null) candidate->spec.skip_nulls = false;
    candidate->score += low && high ? 60 : low || high ? 40 : 0;
    for (size_t i = 0; i < access->sargs.count && slot >= 0; i++)
        if (access->sargs.items[i].slot == slot && access->sargs.items[i].is_not_null &&
            !(high && high->or_null)) {
            use(arena, candidate, &access->sargs.items[i]);
            if (!low) candidate->spec.skip_nulls = nullable;
            candidate->score += 1;
        }
}

static Candidate match_index(Access *access, const SimIndex *index)
{
    Arena    *arena     = access->binder->arena;
    Candidate candidate = {.spec = {.source = access->source, .index = index}};
    size_t    count     = index ? index->column_count : 0;
    bool      nullable  = false;

    candidate.spec.equal = ARENA_ARRAY(arena, Node *, count + 1);
    for (size_t i = 0; i < count; i++) {
        int   slot  = column_slot(access->source, index->columns[i].column_id, &nullable);
        Sarg *equal = find_sarg(access, slot, true, false);
        if (!equal) {
            match_range(access, &candidate, slot, nullable);
            break;
        }
        candidate.spec.equal[candidate.spec.equal_count++] = equal->is_null ? NULL : equal->value;
        candidate.has_null_equal |= equal->is_null;
        use(arena, &candidate, equal);
        candidate.score += 100;
    }
    if (index && index->is_unique && candidate.spec.equal_count == count &&
        !candidate.has_null_equal) {
        candidate.spec.is_point = true;
        candidate.score += 10000;
    }
    if (index && index->is_clustered) candidate.spec.index = NULL; /* the table itself */
    return candidate;
}

static bool fits_order(Access *access, const Candidate *candidate)
{
    Op *op = op_scan(access->binder->arena, &candidate->spec);

    return op_has_order(op, access->wanted);
}

Candidate access_choose(Access *access)
{
    const SimTableInfo *info = access->source->info;
    Candidate           best = {.score = -1};

    access->sargs.count = 0;
    for (size_t i = 0; i < access->conjuncts->count; i++) {
        Conjunct *conjunct = access->conjuncts->items[i];
        Sarg      sarg;
        if (conjunct->is_used ||
            (conjunct->bits & ~(access->available | (uint64_t)1 << access->source->index)) != 0)
            continue;
        if (sarg_of(access, conjunct, &sarg))
            *LIST_PUSH(access->binder->arena, &access->sargs) = sarg;
    }
    bool has_clustered = info->index_count > 0 && info->indexes[0]->is_clustered;
    for (size_t i = 0; i < info->index_count + !has_clustered; i++) {
        const SimIndex *index     = i < info->index_count ? info->indexes[i] : NULL;
        Candidate       candidate = match_index(access, index);
        if (access->wanted && access->wanted->count > 0 && !candidate.spec.is_point) {
            bool fits = fits_order(access, &candidate);
            if (!fits && index) {
                candidate.spec.backwards = true;
                fits                     = fits_order(access, &candidate);
                candidate.spec.backwards = fits;
            }
            if (fits) candidate.score += access->limit ? 50 : 15;
            candidate.fits_order = fits;
        }
        if (!index || index->is_clustered) candidate.score += 1;
        if (candidate.score > best.score) best = candidate;
    }
    return best;
}
