/* synthetic.c - tidesim.synthetic: a table whose rows are computed (sqlserver.md 2.17). */
#include "sim/catalog/catalog_internal.h"

bool control_synthetic(ProcCall *call)
{
    SimSession *session = call->session;
    Str         text, profile;
    int64_t     rows = 1000000, seed = 1;
    SimTable   *table;

    if (!session->login.is_sysadmin)
        return sim_error(call->error, 229,
                         "The EXECUTE permission was denied on the object 'synthetic', database "
                         "'master', schema 'tidesim'.");
    if (!proc_text(call, 0, &text))
        return sim_error(call->error, 201,
                         "Procedure or function 'synthetic' expects parameter '@name', which was "
                         "not supplied.");
    if (!proc_i64(call, 1, &rows) || !proc_i64(call, 3, &seed)) return false;
    if (!proc_text(call, 2, &profile)) profile = STR("narrow");
    ObjectName name = name_split(call->arena, text);
    if (str_is_empty(name.schema)) name.schema = STR("dbo");
    session_statement_begin(session);
    bool ok = sim_create_synthetic(session_txn(session, session->database), name.schema, name.name,
                                   rows, profile, (uint64_t)seed, &table, call->error);
    return session_statement_end(session, ok, call->error) && ok;
}
