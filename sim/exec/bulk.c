/* bulk.c - INSERT BULK. The statement announces which columns will come; the rows come with the client's next message
 * and go in as one INSERT does: defaults, identity, computed columns, constraints, the log (sqlserver.md 2.9). */
#include "sim/exec/change_internal.h"

typedef struct BulkLoad {
    Insert           insert; /* first */
    const Stmt      *stmt;
    bool             keeps_nulls, locks_table;
    const SimType   *types; /* as the client sends them */
    size_t           count;
    const SimValue **given;
} BulkLoad;

static bool has_hint(const Stmt *stmt, const char *hint)
{
    for (size_t i = 0; i < stmt->words.count; i++)
        if (str_equal_c(stmt->words.items[i], hint)) return true;
    return false;
}

/* The statement as an INSERT sees it: a list of columns. An identity column in it keeps what the client sends. */
static bool begin(BulkLoad *load, SimSession *session, const Stmt *stmt, Arena *arena,
                  SimError *error)
{
    SimTable *identity_insert = session->identity_insert;
    Stmt     *columns         = ARENA_NEW(arena, Stmt);

    *columns         = *stmt;
    columns->columns = (NameList){0};
    for (size_t i = 0; i < stmt->column_defs.count; i++)
        *LIST_PUSH(arena, &columns->columns) = stmt->column_defs.items[i].name;
    load->stmt               = stmt;
    load->keeps_nulls        = has_hint(stmt, "KEEP_NULLS");
    load->locks_table        = has_hint(stmt, "TABLOCK");
    bool ok                  = insert_begin(&load->insert, session, columns, true, arena, error);
    session->identity_insert = identity_insert;
    if (!has_hint(stmt, "CHECK_CONSTRAINTS")) { /* a bulk load passes them by */
        load->insert.change.target.checks   = NULL;
        load->insert.change.target.has_keys = false;
    }
    return ok && binder_check_permissions(load->insert.change.binder);
}

/* --- what comes, against what was announced --- */

typedef enum Family { FAMILY_OWN, FAMILY_TEXT, FAMILY_UNICODE, FAMILY_BINARY } Family;

/* Types whose values look alike on the wire. XML comes as nvarchar. */
static Family family_of(SimTypeKind kind)
{
    switch (kind) {
    case SIM_CHAR:
    case SIM_VARCHAR:
    case SIM_TEXT: return FAMILY_TEXT;
    case SIM_NCHAR:
    case SIM_NVARCHAR:
    case SIM_NTEXT:
    case SIM_XML: return FAMILY_UNICODE;
    case SIM_BINARY:
    case SIM_VARBINARY:
    case SIM_IMAGE:
    case SIM_ROWVERSION: return FAMILY_BINARY;
    case SIM_BIT:
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT:
    case SIM_REAL:
    case SIM_FLOAT:
    case SIM_DECIMAL:
    case SIM_MONEY:
    case SIM_SMALLMONEY:
    case SIM_DATE:
    case SIM_TIME:
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET:
    case SIM_UNIQUEIDENTIFIER:
    case SIM_VARIANT: break;
    }
    return FAMILY_OWN;
}

static bool is_as_announced(const SimType *sent, const SimType *announced)
{
    Family family = family_of(announced->kind);

    return family == FAMILY_OWN ? sent->kind == announced->kind : family_of(sent->kind) == family;
}

static bool check_types(BulkLoad *load, SimError *error)
{
    const ColumnDefList *defs = &load->stmt->column_defs;

    if (load->count < defs->count)
        return sim_error(error, 4804,
                         "While reading current row from host, a premature end-of-message was "
                         "encountered--an incoming data stream was interrupted when the server "
                         "expected to see more data. The host program may have terminated. Ensure "
                         "that you are using a supported client application programming interface "
                         "(API).");
    for (size_t i = 0; i < load->count; i++)
        if (i >= defs->count || !is_as_announced(&load->types[i], &defs->items[i].type))
            return sim_error(error, 4816, "Invalid column type from bcp client for colid %zu.",
                             i + 1);
    return true;
}

static bool check_lengths(const BulkLoad *load, const SimValue *values, SimError *error)
{
    for (size_t i = 0; i < load->count; i++) {
        const SimType *announced = &load->stmt->column_defs.items[i].type;
        if (values[i].is_null || family_of(announced->kind) == FAMILY_OWN) continue;
        if (announced->length > 0 && values[i].bytes.len > (size_t)announced->length)
            return sim_error(error, 4815,
                             "Received an invalid column length from the bcp client for colid %zu.",
                             i + 1);
    }
    return true;
}

/* --- rows --- */

/* Unless told to keep it, a NULL gives way to the column's default. */
static bool load_row(BulkLoad *load, const SimValue *values)
{
    const Insert *insert   = &load->insert;
    Node *const  *defaults = insert->change.target.defaults;

    for (size_t i = 0; i < load->count; i++) {
        bool yields = values[i].is_null && !load->keeps_nulls &&
                      defaults[insert->columns.ordinals[i]];
        load->given[i] = yields ? NULL : &values[i];
    }
    return insert_row(&load->insert, load->given);
}

static bool stopped(SimError *error)
{
    error->ends_batch = true;
    return sim_error(error, SIM_ATTENTION, "Operation cancelled by user.");
}

static bool load_rows(BulkLoad *load, SimBulkSource *source, Arena *arena, SimError *error)
{
    Change         *change = &load->insert.change;
    const SimValue *values = NULL;
    SimBulkPull     pull   = source->columns(source, &load->types, &load->count, error);

    if (pull == SIM_BULK_ROW) {
        if (!check_types(load, error)) return false;
        load->given = ARENA_ARRAY(arena, const SimValue *, load->count + 1);
        if (load->locks_table &&
            !sim_lock_table(change_txn(change, &change->target), change->target.table,
                            SIM_LOCK_EXCLUSIVE, true, error))
            return false;
        binder_start(change->binder, &change->exec);
    }
    while (pull == SIM_BULK_ROW) {
        pull = source->row(source, &values, error);
        if (pull != SIM_BULK_ROW) break;
        if (!check_lengths(load, values, error) || !load_row(load, values) ||
            !session_alive(change->session, error))
            return false;
    }
    if (pull == SIM_BULK_END) return change_check_references(change, &change->target);
    return pull == SIM_BULK_STOPPED && stopped(error);
}

bool run_insert_bulk(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                     SimError *error)
{
    BulkLoad *load = ARENA_NEW(arena, BulkLoad);
    bool      ok   = false;

    if (has_hint(stmt, "FIRE_TRIGGERS"))
        return sim_not_supported(error, "FIRE_TRIGGERS in a bulk load");
    if (!begin(load, session, stmt, arena, error)) goto done;
    if (session->bulk_source) {
        ok                = load_rows(load, session->bulk_source, arena, error);
        result->has_count = true;
        result->count     = load->insert.count;
    } else {
        ok = session_announce_bulk(session, stmt, error);
    }
done:
    exec_end(&load->insert.change.exec);
    return ok;
}
