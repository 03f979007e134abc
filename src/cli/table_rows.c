/* table_rows.c - `tidelake table cat` and `table sql`: the rows, and a query over them. */
#include "cli/table.h"

/* Runs `select` with the table visible as `t`. */
static bool show_query(TableCall *call, Str select, Err *err)
{
    Arena       *arena   = call->invocation->arena;
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    Str          scan;
    bool         ok = false;

    if (!duck_session_open(call->wire->env.duck, &session, err)) goto done;
    if (!delta_scan_sql(call->table, NULL, 0, NULL, false, arena, &scan, err)) goto done;
    if (!duck_execute(session, str_printf(arena, "CREATE TEMP VIEW t AS %.*s", STR_ARG(scan)), NULL,
                      err))
        goto done;
    if (!duck_query(session, select, arena, &rows, err)) goto done;
    ok = output_rows(rows, call->invocation->json, err);
done:
    row_stream_close(rows);
    duck_session_close(session);
    return ok;
}

bool table_cat(TableCall *call, Err *err)
{
    return show_query(call, STR("SELECT * FROM t"), err);
}

bool table_sql(TableCall *call, Err *err)
{
    return show_query(call, call->invocation->arguments.items[2], err);
}
