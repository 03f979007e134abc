/* scan.c - rows of tables: seeks and scans through the model, and the virtual tables of the catalogue.
 *
 * A scan puts the columns that have slots there as they are stored; who wants a value makes it. Reopened with the same key on a unique index (the inner side of a join) it remembers the row. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <string.h>

typedef struct ScanColumn {
    size_t         ordinal;
    int            slot;
    const SimType *type;
} ScanColumn;

typedef struct Scan {
    Op                   op;
    ScanSpec             spec;
    SimScan             *scan;
    ScanColumn          *columns;
    size_t               column_count;
    SimType             *types; /* of the seek columns */
    Arena               *arena, *scratch, *key_arena;
    Node                *limit;
    const SimRow *const *rows;
    size_t               row_count, at;
    int64_t              examined; /* already counted */
    bool                 is_empty; /* the bounds say so */
    SimValue            *equal;
    /* The last point that was looked up, and its row. */
    bool      has_point, point_found, point_served;
    SimValue *point_key;
    SlotWire *point_asked; /* the same as the outer row has it; no bytes: it was computed */
    Bytes    *point_row;   /* of each column */
    bool      is_watched;  /* on_read waits for rows of it */
    int64_t   rows_found;
} Scan;

/* --- bounds --- */
typedef struct Bound {
    bool     is_set, is_always, is_never;
    bool     is_inclusive;
    SimValue value;
} Bound;

/* Converts down to the column's type, and says on which side of it the value lies: -1 the bound lies above the result, 1 below, 0 exact. */
static bool seek_convert(const SimValue *value, const SimType *type, Arena *arena, SimValue *out,
                         int *side, SimError *error)
{
    *side = 0;
    if (value->type.kind == type->kind && value->type.scale == type->scale &&
        (type->kind != SIM_DECIMAL || value->type.precision == type->precision) &&
        type->kind < SIM_CHAR) { /* how wide a decimal's key is depends on its precision */
        *out = *value;
        return true;
    }
    if (type->kind >= SIM_CHAR &&
        type->kind <= SIM_NVARCHAR) { /* lengths do not matter to an order that pads */
        SimType open = *type;
        open.kind    = sim_type_is_unicode(type->kind) ? SIM_NVARCHAR : SIM_VARCHAR;
        open.length  = -1;
        if (!sim_convert(value, &open, 0, true, arena, out, error)) return false;
        out->type = *type;
        return true;
    }
    if (type->kind == SIM_BINARY || type->kind == SIM_VARBINARY || type->kind == SIM_ROWVERSION) {
        *out      = *value;
        out->type = *type;
        if (type->kind != SIM_VARBINARY && type->length > 0 &&
            value->bytes.len < (size_t)type->length) {
            uint8_t *padded = arena_alloc(arena, (size_t)type->length);
            if (value->bytes.len) memcpy(padded, value->bytes.ptr, value->bytes.len);
            out->bytes = (Bytes){padded, (size_t)type->length};
        }
        return true;
    }
    SimError ignored =
        SIM_ERROR_INIT; /* not before: it is large, and this runs for each row of a join */
    if (!sim_convert(value, type, 0, true, arena, out, &ignored)) {
        SimValue zero  = sim_int(0, SIM_BIGINT);
        int      order = 0;
        if (!sim_compare(value, &zero, &order, error)) return false;
        *side = order > 0 ? -2 : 2; /* beyond the type's range */
        return true;
    }
    int order = 0;
    if (!sim_compare(value, out, &order, error)) return false;
    *side = -order;
    return true;
}

/* One comparison of the column with a value, as a bound of the index. */
static bool seek_bound(Scan *scan, Exec *exec, const SeekBound *spec, const SimType *type,
                       Bound *out)
{
    const SimValue *value = node_eval(spec->node, exec);
    int             side  = 0;

    *out = (Bound){0};
    if (!value) return false;
    if (value->is_null) {
        out->is_never = true;
        return true;
    }
    if (!seek_convert(value, type, scan->arena, &out->value, &side, exec->error)) return false;
    bool is_high = spec->compare == CMP_LT || spec->compare == CMP_LE;
    if (side == 2 ||
        side == -2) { /* the value is above (-2) or below (2) every value of the type */
        bool above     = side == -2;
        out->is_always = is_high == above;
        out->is_never  = !out->is_always;
        return true;
    }
    out->is_set       = true;
    out->value        = value_copy(scan->arena, &out->value);
    out->is_inclusive = spec->compare == CMP_LE || spec->compare == CMP_GE;
    /* side -1: the value is above what it became, so "< value" includes the bound; 1: below it. */
    if (side == -1) out->is_inclusive = is_high;
    if (side == 1) out->is_inclusive = !is_high;
    return true;
}

static bool seek_equal(Scan *scan, Exec *exec, size_t i, SimValue *out)
{
    Node *node = scan->spec.equal[i];
    int   side = 0;

    if (!node) {
        *out = sim_null(scan->types[i]);
        return true;
    }
    const SimValue *value = node_eval(node, exec);
    if (!value) return false;
    if (value->is_null) {
        scan->is_empty = true;
        return true;
    }
    if (!seek_convert(value, &scan->types[i], scan->arena, out, &side, exec->error)) return false;
    if (side != 0) {
        scan->is_empty = true;
        return true;
    }
    *out = value_copy(scan->arena, out);
    return true;
}

static bool scan_range(Scan *scan, Exec *exec, SimRange *range)
{
    const ScanSpec *spec = &scan->spec;
    Bound           low = {0}, high = {0};

    *range         = (SimRange){.index       = spec->index,
                                .equal       = scan->equal,
                                .equal_count = spec->equal_count,
                                .backwards   = spec->backwards};
    scan->is_empty = false;
    for (size_t i = 0; i < spec->equal_count; i++)
        if (!seek_equal(scan, exec, i, &scan->equal[i])) return false;
    if (spec->low.node &&
        !seek_bound(scan, exec, &spec->low, &scan->types[spec->equal_count], &low))
        return false;
    if (spec->high.node &&
        !seek_bound(scan, exec, &spec->high, &scan->types[spec->equal_count], &high))
        return false;
    scan->is_empty |= low.is_never || high.is_never;
    if (low.is_set)
        range->low = (SimBound){
            .is_set = true, .is_inclusive = low.is_inclusive, .value = low.value};
    if (high.is_set)
        range->high = (SimBound){
            .is_set = true, .is_inclusive = high.is_inclusive, .value = high.value};
    if (!low.is_set && spec->skip_nulls)
        range->low = (SimBound){.is_set       = true,
                                .is_inclusive = false,
                                .value        = sim_null(scan->types[spec->equal_count])};
    return true;
}

/* --- the operator --- */
static void scan_count(Scan *scan, Exec *exec)
{
    if (!scan->scan) return;
    int64_t examined = sim_scan_rows_examined(scan->scan);
    stat_add(&exec->session->stats.rows_examined, examined - scan->examined);
    stat_add(&exec->session->statement_stats.rows_examined, examined - scan->examined);
    scan->examined = examined;
}

static void scan_release(Scan *scan, Exec *exec)
{
    scan_count(scan, exec);
    sim_scan_close(scan->scan);
    scan->scan      = NULL;
    scan->rows      = NULL;
    scan->row_count = scan->at = 0;
}

static bool same_point(const Scan *scan)
{
    for (size_t i = 0; i < scan->spec.equal_count; i++)
        if (sim_compare_same(&scan->point_key[i], &scan->equal[i]) != 0) return false;
    return true;
}

/* The key comes from an outer row's columns, and these are stored as they were the last time. */
static bool asks_again(const Scan *scan, const Exec *exec)
{
    for (size_t i = 0; i < scan->spec.equal_count; i++) {
        const SlotWire *asked = &scan->point_asked[i];
        if (asked->wire.ptr == NULL) return false;
        const SlotWire *now = &exec->wires[scan->spec.equal[i]->slot];
        if (now->wire.ptr == NULL || now->type != asked->type || now->wire.len != asked->wire.len ||
            memcmp(now->wire.ptr, asked->wire.ptr, asked->wire.len) != 0)
            return false;
    }
    return true;
}

/* TABLOCK and TABLOCKX: to the end of the transaction where row locks would be held so long. */
static bool scan_lock_table(const BoundSource *source, SimTxn *txn, SimIsolation isolation,
                            SimError *error)
{
    bool exclusive = source->table_lock == 2;
    bool to_end    = exclusive || isolation == SIM_REPEATABLE_READ || isolation == SIM_SERIALIZABLE;

    if (source->table_lock == 0 || sim_txn_is_secondary(txn)) return true;
    return sim_lock_table(txn, source->table, exclusive ? SIM_LOCK_EXCLUSIVE : SIM_LOCK_SHARED,
                          to_end, error);
}

static bool scan_open_model(Scan *scan, Exec *exec, const SimRange *range)
{
    BoundSource   *source  = scan->spec.source;
    SimSession    *session = exec->session;
    SimTxn        *txn;
    SimScanOptions options = {.isolation  = source->has_isolation ? source->isolation
                                                                  : session->options.isolation,
                              .for_update = source->for_update,
                              .read_past  = source->read_past,
                              .locks_rows = source->locks_rows,
                              .exclusive  = source->exclusive,
                              .no_wait    = source->no_wait,
                              .is_target  = source->row_slot >= 0};

    if (source->is_table_variable && !session->variable_txn) {
        session->variable_txn = sim_txn_begin(source->database, &session->waiter,
                                              SIM_READ_COMMITTED);
        sim_txn_statement_begin(session->variable_txn);
    }
    txn = source->is_table_variable ? session->variable_txn
                                    : session_txn(session, source->database);
    if (!scan_lock_table(source, txn, options.isolation, exec->error)) return false;
    if (source->info->is_system || source->is_table_variable)
        options.isolation = SIM_READ_COMMITTED;
    if (scan->spec.is_point) options.limit_hint = 1;
    if (scan->limit) {
        const SimValue *limit  = node_eval(scan->limit, exec);
        SimType         bigint = sim_type(SIM_BIGINT);
        SimValue        number;
        SimError        ignored = SIM_ERROR_INIT;
        if (!limit) return false;
        if (!limit->is_null &&
            sim_convert(limit, &bigint, 0, true, exec->scratch, &number, &ignored) &&
            number.i64 > 0)
            options.limit_hint = number.i64;
    }
    if (!control_reading(session, source->table, 0, exec->error)) return false;
    scan->is_watched = control_read_is_watched(session, source->table);
    scan->rows_found = 0;
    if (scan->is_watched) options.limit_hint = 1; /* what is changed in between is seen */
    if (!sim_scan_open(txn, source->table, range, &options, &scan->scan, exec->error)) return false;
    scan->examined = 0;
    bool was_seek  = sim_scan_was_seek(scan->scan);
    stat_add(&session->stats.seeks, was_seek);
    stat_add(&session->statement_stats.seeks, was_seek);
    stat_add(&session->stats.scans, !was_seek);
    stat_add(&session->statement_stats.scans, !was_seek);
    return true;
}

static bool scan_open(Op *op, Exec *exec)
{
    Scan    *scan = (Scan *)op;
    SimRange range;

    if (!scan->arena) {
        scan->arena                           = exec_arena(exec);
        scan->scratch                         = exec_arena(exec);
        scan->key_arena                       = exec_arena(exec);
        *LIST_PUSH(exec->arena, &exec->scans) = &scan->scan;
    }
    scan_release(scan, exec);
    scan->point_served = false;
    if (scan->has_point && asks_again(scan, exec)) {
        scan->is_empty = false;
        return true;
    }
    arena_reset(scan->arena);
    exec->scratch = scan->scratch;
    arena_reset(scan->scratch);
    if (!scan_range(scan, exec, &range)) return false;
    if (scan->is_empty) return true;
    if (scan->has_point && same_point(scan)) return true;
    scan->has_point = false;
    return scan_open_model(scan, exec, &range);
}

static inline void scan_decode(const Scan *scan, Exec *exec, const SimRow *row)
{
    const SimTable *table = scan->spec.source->table;

    for (size_t i = 0; i < scan->column_count; i++)
        exec->wires[scan->columns[i].slot] = (SlotWire){
            scan->columns[i].type, sim_row_wire(table, row, scan->columns[i].ordinal), true};
    if (scan->spec.source->row_slot >= 0) {
        SimValue pointer                         = sim_int(0, SIM_BIGINT);
        pointer.i64                              = (int64_t)(intptr_t)row;
        exec->slots[scan->spec.source->row_slot] = pointer;
    }
}

static Pull find_row(Scan *scan, Exec *exec)
{
    for (;;) {
        if (scan->at == scan->row_count) {
            if (!scan->scan || !exec_check(exec)) return scan->scan ? PULL_ERROR : PULL_END;
            if (!sim_scan_next(scan->scan, &scan->rows, &scan->row_count, exec->error))
                return PULL_ERROR;
            scan->at = 0;
            scan_count(scan, exec);
            if (scan->row_count == 0) return PULL_END;
        }
        scan_decode(scan, exec, scan->rows[scan->at++]);
        if (!scan->spec.filter) return PULL_ROW;
        arena_reset(scan->scratch);
        exec->scratch = scan->scratch;
        Truth truth   = scan->spec.filter->test(scan->spec.filter, exec);
        if (truth == TRUTH_ERROR) return PULL_ERROR;
        if (truth == TRUTH_TRUE) return PULL_ROW;
        if (scan->limit && !scan->is_watched) sim_scan_drop(scan->scan);
        if (scan->spec.source->for_update) sim_scan_skip(scan->scan, scan->at - 1);
    }
}

static Pull scan_next_row(Scan *scan, Exec *exec)
{
    Pull pull = find_row(scan, exec);

    if (pull == PULL_ROW && scan->is_watched &&
        !control_reading(exec->session, scan->spec.source->table, ++scan->rows_found, exec->error))
        return PULL_ERROR;
    return pull;
}

static Bytes wire_copy(Scan *scan, Bytes wire)
{
    uint8_t *copy = arena_alloc_uninit(scan->key_arena, wire.len + 1);

    memcpy(copy, wire.ptr, wire.len);
    return (Bytes){copy, wire.len};
}

static void restore_point(const Scan *scan, Exec *exec)
{
    for (size_t i = 0; i < scan->column_count; i++)
        exec->wires[scan->columns[i].slot] = (SlotWire){scan->columns[i].type, scan->point_row[i],
                                                        true};
}

static void remember_point(Scan *scan, Exec *exec)
{
    arena_reset(scan->key_arena);
    for (size_t i = 0; i < scan->spec.equal_count; i++) {
        const Node *node     = scan->spec.equal[i];
        scan->point_key[i]   = value_copy(scan->key_arena, &scan->equal[i]);
        scan->point_asked[i] = (SlotWire){0};
        if (node == NULL || node->kind != NODE_SLOT || exec->wires[node->slot].wire.ptr == NULL)
            continue;
        scan->point_asked[i]      = exec->wires[node->slot];
        scan->point_asked[i].wire = wire_copy(scan, scan->point_asked[i].wire);
    }
    for (size_t i = 0; scan->point_found && i < scan->column_count; i++)
        scan->point_row[i] = wire_copy(scan, exec->wires[scan->columns[i].slot].wire);
}

/* Remembers the row of this point for the next opening: joins of change rows with their commits ask
 * for the same one again and again. */
static Pull scan_next_point(Scan *scan, Exec *exec)
{
    if (scan->point_served) return PULL_END;
    scan->point_served = true;
    if (scan->has_point) {
        if (!scan->point_found) return PULL_END;
        restore_point(scan, exec);
        return PULL_ROW;
    }
    Pull pull = scan_next_row(scan, exec);
    if (pull == PULL_ERROR) return pull;
    scan->point_found = pull == PULL_ROW;
    remember_point(scan, exec);
    if (scan->point_found) restore_point(scan, exec);
    scan->has_point = true;
    scan_release(scan, exec);
    return pull;
}

static Pull scan_next(Op *op, Exec *exec)
{
    Scan *scan = (Scan *)op;

    if (scan->is_empty) return PULL_END;
    /* A filter may read outer rows, so what it let through cannot be remembered. */
    if (scan->spec.is_point && !scan->spec.filter && scan->spec.source->row_slot < 0)
        return scan_next_point(scan, exec);
    return scan_next_row(scan, exec);
}

static void scan_close(Op *op, Exec *exec)
{
    scan_release((Scan *)op, exec);
}

bool op_scan_is_bare(const Op *op)
{
    const ScanSpec *spec = &((const Scan *)op)->spec;

    return op->open == scan_open && !spec->filter && !spec->is_point && spec->source->row_slot < 0;
}

bool op_scan_ordinal(const Op *op, int slot, size_t *ordinal_out)
{
    const Scan *scan = (const Scan *)op;

    for (size_t i = 0; i < scan->column_count; i++)
        if (scan->columns[i].slot == slot) {
            *ordinal_out = scan->columns[i].ordinal;
            return true;
        }
    return false;
}

SimScan *op_scan_model(const Op *op)
{
    return ((const Scan *)op)->scan;
}

void op_scan_note(Op *op, Exec *exec)
{
    scan_count((Scan *)op, exec);
}

static int64_t scan_skip(Op *op, Exec *exec, int64_t rows)
{
    Scan *scan = (Scan *)op;

    (void)exec;
    if (!op_scan_is_bare(op) || !scan->scan || scan->at < scan->row_count) return 0;
    int64_t passed = MIN(rows, sim_scan_rows_left(scan->scan));
    if (passed <= 0) return 0;
    sim_scan_pass(scan->scan, passed);
    return passed;
}

static int slot_of_column(const BoundSource *source, int32_t column_id)
{
    for (size_t c = 0; c < source->column_count; c++)
        if (source->info->columns[source->columns[c].ordinal].column_id == column_id)
            return source->columns[c].slot;
    return -1;
}

static bool has_column(const SimIndex *index, int32_t column_id)
{
    for (size_t i = 0; i < index->column_count; i++)
        if (index->columns[i].column_id == column_id) return true;
    return false;
}

/* Rows of equal keys come in the order of the clustered index, whose key ends each entry of the others. */
static void scan_order_clustered(Arena *arena, Scan *scan, const SimIndex *index)
{
    const SimTableInfo *info = scan->spec.source->info;

    if (index == info->indexes[0] || !info->indexes[0]->is_clustered) return;
    for (size_t i = 0; i < info->indexes[0]->column_count; i++) {
        const SimIndexColumn *column = &info->indexes[0]->columns[i];
        if (has_column(index, column->column_id)) continue;
        int slot = slot_of_column(scan->spec.source, column->column_id);
        if (slot < 0) return;
        *LIST_PUSH(arena,
                   &scan->op.order) = (OrderSlot){slot, column->descending != scan->spec.backwards};
    }
}

static void scan_order(Arena *arena, Scan *scan)
{
    const BoundSource  *source = scan->spec.source;
    const SimTableInfo *info   = source->info;
    const SimIndex     *index  = scan->spec.index;
    bool                all    = true;

    if (!index && info->index_count > 0 && info->indexes[0]->is_clustered) index = info->indexes[0];
    if (!index) return;
    for (size_t i = 0; i < index->column_count; i++) {
        int slot = slot_of_column(source, index->columns[i].column_id);
        if (i < scan->spec.equal_count) {
            if (slot >= 0) *LIST_PUSH(arena, &scan->op.constants) = slot;
            continue;
        }
        if (slot < 0) {
            all = false;
            break;
        }
        *LIST_PUSH(arena, &scan->op.order) = (OrderSlot){slot, index->columns[i].descending !=
                                                                   scan->spec.backwards};
    }
    if (all) scan_order_clustered(arena, scan, index);
    scan->op.order_is_unique = all && index->is_unique;
    scan->op.at_most_one     = scan->spec.is_point;
}

Op *op_scan(Arena *arena, const ScanSpec *spec)
{
    Scan              *scan   = ARENA_NEW(arena, Scan);
    const BoundSource *source = spec->source;
    const SimIndex    *index  = spec->index;

    if (!index && source->info->index_count > 0 && source->info->indexes[0]->is_clustered)
        index = source->info->indexes[0];
    scan->op   = (Op){.open = scan_open, .next = scan_next, .close = scan_close, .skip = scan_skip};
    scan->spec = *spec;
    scan->columns     = ARENA_ARRAY(arena, ScanColumn, source->column_count + 1);
    scan->equal       = ARENA_ARRAY(arena, SimValue, spec->equal_count + 1);
    scan->point_key   = ARENA_ARRAY(arena, SimValue, spec->equal_count + 1);
    scan->point_asked = ARENA_ARRAY(arena, SlotWire, spec->equal_count + 1);
    scan->point_row   = ARENA_ARRAY(arena, Bytes, source->column_count + 1);
    scan->types       = ARENA_ARRAY(arena, SimType, (index ? index->column_count : 0) + 1);
    for (size_t i = 0; index && i < index->column_count; i++)
        for (size_t c = 0; c < source->info->column_count; c++)
            if (source->info->columns[c].column_id == index->columns[i].column_id)
                scan->types[i] = source->info->columns[c].type;
    for (size_t c = 0; c < source->column_count; c++) {
        if (source->columns[c].slot < 0) continue;
        size_t ordinal                      = source->columns[c].ordinal;
        scan->columns[scan->column_count++] = (ScanColumn){ordinal, source->columns[c].slot,
                                                           &source->info->columns[ordinal].type};
        op_add_slot(arena, &scan->op, source->columns[c].slot);
    }
    if (source->row_slot >= 0) op_add_slot(arena, &scan->op, source->row_slot);
    if (spec->filter) scan->spec.filter = node_fold_constants(arena, spec->filter);
    if (spec->low.node) scan->spec.low.node = node_fold_constants(arena, spec->low.node);
    scan_order(arena, scan);
    return &scan->op;
}

void op_scan_set_limit(Op *op, Node *limit)
{
    if (op->open == scan_open) ((Scan *)op)->limit = limit;
}

bool op_scan_locks_table(const Op *op)
{
    return op->open == scan_open && ((const Scan *)op)->spec.source->table_lock > 0;
}

/* --- virtual tables --- */
typedef struct Virtual {
    Op           op;
    BoundSource *source;
    Node        *filter;
    ScanColumn  *columns;
    size_t       column_count;
    Arena       *arena, *scratch, *keep;
    VirtualRows  rows;
    size_t       at;
    bool         is_kept; /* what it was filled with serves for the whole statement */
} Virtual;

static bool virtual_fill(Virtual *scan, Exec *exec)
{
    arena_reset(scan->arena);
    scan->at              = 0;
    scan->rows.has_more   = false;
    scan->rows.rows.items = NULL;
    scan->rows.rows.count = scan->rows.rows.capacity = 0;
    exec->scratch                                    = scan->arena;
    return exec_check(exec) && scan->source->virtual_table->fill(&scan->rows, exec, scan->source);
}

static bool virtual_open(Op *op, Exec *exec)
{
    Virtual *scan = (Virtual *)op;

    if (scan->is_kept) { /* opened again: the inner side of a join, a subquery */
        scan->at = 0;
        return exec_check(exec);
    }
    if (!scan->arena) {
        scan->arena   = exec_arena(exec);
        scan->scratch = exec_arena(exec);
        scan->keep    = exec_arena(exec);
    }
    arena_reset(scan->keep);
    scan->rows = (VirtualRows){.arena        = scan->arena,
                               .column_count = scan->source->column_count,
                               .source       = scan->source,
                               .keep         = scan->keep};
    if (!virtual_fill(scan, exec)) return false;
    scan->is_kept = !scan->source->virtual_table->is_function && !scan->rows.has_more;
    return true;
}

static Pull virtual_next(Op *op, Exec *exec)
{
    Virtual *scan = (Virtual *)op;

    for (;;) {
        if (scan->at == scan->rows.rows.count) {
            if (!scan->rows.has_more) return PULL_END;
            if (!virtual_fill(scan, exec)) return PULL_ERROR;
            if (scan->rows.rows.count == 0) return PULL_END;
        }
        const SimValue *row = scan->rows.rows.items[scan->at++];
        for (size_t i = 0; i < scan->column_count; i++)
            exec->slots[scan->columns[i].slot] = row[scan->columns[i].ordinal];
        if (!scan->filter) return PULL_ROW;
        arena_reset(scan->scratch);
        exec->scratch = scan->scratch;
        Truth truth   = scan->filter->test(scan->filter, exec);
        if (truth == TRUTH_ERROR) return PULL_ERROR;
        if (truth == TRUTH_TRUE) return PULL_ROW;
    }
}

static void virtual_close(Op *op, Exec *exec)
{
    (void)op;
    (void)exec;
}

Op *op_virtual(Arena *arena, BoundSource *source, Node *filter)
{
    Virtual *scan = ARENA_NEW(arena, Virtual);

    scan->op      = (Op){.open = virtual_open, .next = virtual_next, .close = virtual_close};
    scan->source  = source;
    scan->filter  = filter ? node_fold_constants(arena, filter) : NULL;
    scan->columns = ARENA_ARRAY(arena, ScanColumn, source->column_count + 1);
    for (size_t c = 0; c < source->column_count; c++) {
        if (source->columns[c].slot < 0) continue;
        scan->columns[scan->column_count++] = (ScanColumn){c, source->columns[c].slot, NULL};
        op_add_slot(arena, &scan->op, source->columns[c].slot);
    }
    return &scan->op;
}
