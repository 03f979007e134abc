/* select.c - the life of a statement's operators, and the loop that hands a SELECT's rows to whoever wants them. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <string.h>

void exec_begin(Exec *exec, SimSession *session, Arena *arena, SimError *error)
{
    *exec        = (Exec){.session = session, .arena = arena, .scratch = arena, .error = error};
    exec->utc_us = clock_utc_us(sim_server_clock(session->server));
}

Arena *exec_arena(Exec *exec)
{
    Arena *arena = arena_new();

    *LIST_PUSH(exec->arena, &exec->arenas) = arena;
    return arena;
}

void exec_end(Exec *exec)
{
    for (size_t i = 0; i < exec->scans.count; i++) {
        sim_scan_close(*exec->scans.items[i]);
        *exec->scans.items[i] = NULL;
    }
    for (size_t i = 0; i < exec->arenas.count; i++)
        arena_close(exec->arenas.items[i]);
    exec->arenas.count = exec->scans.count = 0;
}

bool exec_check(Exec *exec)
{
    return session_alive(exec->session, exec->error);
}

/* Plain columns are copied, everything else is evaluated. */
typedef struct Copy {
    int            slot; /* -1: evaluate `node` */
    Node          *node;
    const SimType *stored; /* a type under which the slot's bytes are what the column's would be */
} Copy;

/* The bytes of a column, where they need no change. */
static bool take_wire(const Exec *exec, Copy *copy, Bytes *out)
{
    const SlotWire *wire = &exec->wires[copy->slot];

    if (wire->wire.ptr == NULL) return false;
    if (copy->stored != wire->type) {
        if (!sim_type_same(wire->type, &copy->node->type)) return false;
        copy->stored = wire->type;
    }
    *out = wire->wire;
    return true;
}

/* `wires`: NULL when the target wants values. */
static bool fill_row(Exec *exec, Copy *copies, size_t count, Bytes *wires, SimValue *values)
{
    for (size_t i = 0; i < count; i++) {
        if (copies[i].slot >= 0) {
            if (wires != NULL && take_wire(exec, &copies[i], &wires[i])) continue;
            if (wires != NULL) wires[i].ptr = NULL;
            values[i] = *exec_slot(exec, copies[i].slot);
            continue;
        }
        const SimValue *value = node_eval(copies[i].node, exec);
        if (!value) return false;
        values[i] = *value;
    }
    return true;
}

bool select_run(Exec *exec, SelectPlan *plan, RowTarget *target, int64_t *row_count_out)
{
    Arena    *scratch = exec_arena(exec);
    SimValue *values  = ARENA_ARRAY(exec->arena, SimValue, plan->out_count + 1);
    Copy     *copies  = ARENA_ARRAY(exec->arena, Copy, plan->out_count + 1);
    Bytes    *wires   = target->wires ? ARENA_ARRAY(exec->arena, Bytes, plan->out_count + 1) : NULL;
    int64_t   count   = 0;
    Pull      pull;

    for (size_t i = 0; i < plan->out_count; i++) {
        Node *node = plan->assigns ? plan->outs[i].node
                                   : node_fold_constants(exec->arena, plan->outs[i].node);
        copies[i]  = (Copy){node->kind == NODE_SLOT ? node->slot : -1, node, NULL};
    }
    if (!op_open(plan->op, exec)) return false;
    while ((pull = op_next(plan->op, exec)) == PULL_ROW) {
        arena_reset(scratch); /* the target may use it, too */
        exec->scratch = scratch;
        if (!fill_row(exec, copies, plan->out_count, wires, values)) return false;
        if (wires != NULL ? !target->wires(target, exec, wires, values, plan->out_count)
                          : !target->row(target, exec, values, plan->out_count))
            return false;
        count++;
        if ((count & 255) == 0 && !exec_check(exec)) return false;
    }
    op_close(plan->op, exec);
    *row_count_out = count;
    return pull == PULL_END;
}
