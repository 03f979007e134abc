/* bulk.c - a bulk load's message as the rows of an INSERT BULK. */
#include "sim/server/server_internal.h"

#include "tds/tds_bulk.h"

typedef struct BulkRows {
    SimBulkSource source; /* first */
    TdsBulk       bulk;
    Arena        *arena;
    Arena        *row_arena;
    SimType      *types;
    SimValue     *values;
    TdsBulkItem   ended_with;
} BulkRows;

static SimBulkPull fail(SimError *error, int32_t number, const char *what)
{
    (void)sim_error(error, number, "%s", what);
    return SIM_BULK_FAILED;
}

static SimBulkPull fail_column(SimError *error, int32_t number, const char *what, size_t column)
{
    (void)sim_error(error, number, "%s %zu.", what, column + 1);
    return SIM_BULK_FAILED;
}

static SimBulkPull end_with(BulkRows *rows, TdsBulkItem item, SimError *error)
{
    rows->ended_with = item;
    switch (item) {
    case TDS_BULK_END: return SIM_BULK_END;
    case TDS_BULK_CUT:
    case TDS_BULK_LOST: return SIM_BULK_STOPPED;
    case TDS_BULK_BAD_TYPE:
        return fail_column(error, 4816, "Invalid column type from bcp client for colid",
                           rows->bulk.bad_column);
    case TDS_BULK_BAD_LENGTH:
        return fail_column(error, 4815,
                           "Received an invalid column length from the bcp client for colid",
                           rows->bulk.bad_column);
    case TDS_BULK_COLUMNS:
    case TDS_BULK_ROW:
    case TDS_BULK_ENDS_EARLY:
    case TDS_BULK_BAD_TOKEN: break;
    }
    return fail(error, 4804,
                "While reading current row from host, a premature end-of-message was "
                "encountered--an incoming data stream was interrupted when the server expected to "
                "see more data. The host program may have terminated. Ensure that you are using a "
                "supported client application programming interface (API).");
}

static SimBulkPull pull_columns(SimBulkSource *base, const SimType **types_out, size_t *count_out,
                                SimError *error)
{
    BulkRows   *rows = (BulkRows *)base;
    TdsBulkItem item = tds_bulk_next(&rows->bulk, rows->row_arena);

    if (item != TDS_BULK_COLUMNS) return end_with(rows, item, error);
    rows->types  = ARENA_ARRAY(rows->arena, SimType, rows->bulk.column_count + 1);
    rows->values = ARENA_ARRAY(rows->arena, SimValue, rows->bulk.column_count + 1);
    for (size_t i = 0; i < rows->bulk.column_count; i++)
        rows->types[i] = sim_type_of_tds(&rows->bulk.columns[i].type);
    *types_out = rows->types;
    *count_out = rows->bulk.column_count;
    return SIM_BULK_ROW;
}

static SimBulkPull pull_row(SimBulkSource *base, const SimValue **values_out, SimError *error)
{
    BulkRows *rows = (BulkRows *)base;
    TdsBulk  *bulk = &rows->bulk;

    arena_reset(rows->row_arena);
    TdsBulkItem item = tds_bulk_next(bulk, rows->row_arena);
    if (item != TDS_BULK_ROW) return end_with(rows, item, error);
    for (size_t i = 0; i < bulk->column_count; i++)
        if (!sim_typed_value_of_tds(&bulk->columns[i].type, &rows->types[i], &bulk->values[i],
                                    rows->row_arena, &rows->values[i]))
            return fail_column(
                error, 4815, "Received an invalid column length from the bcp client for colid", i);
    *values_out = rows->values;
    return SIM_BULK_ROW;
}

bool connection_run_bulk(Connection *connection, const TdsMessage *first, bool *was_cut_out,
                         bool *by_attention_out)
{
    BulkRows rows    = {.source = {.columns = pull_columns, .row = pull_row},
                        .bulk   = tds_bulk_begin(connection->transport, connection->client.tds_version,
                                                 first, connection->arena),
                        .arena  = connection->arena,
                        .row_arena = arena_new()};
    bool     goes_on = sim_session_bulk(connection->session, &rows.source, &connection->sink.sink);

    goes_on           = tds_bulk_skip(&rows.bulk) && goes_on && rows.ended_with != TDS_BULK_LOST;
    *was_cut_out      = rows.bulk.is_cut;
    *by_attention_out = rows.bulk.by_attention;
    tds_bulk_end(&rows.bulk);
    arena_close(rows.row_arena);
    return goes_on;
}
