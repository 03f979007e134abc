/* client.h - a small TDS client, for `tidesim exec --server`: batches in, results to a sink. */
#ifndef TIDESIM_CLI_CLIENT_H
#define TIDESIM_CLI_CLIENT_H

#include "base/cancel.h"
#include "sim/sim.h"

typedef struct SqlClient SqlClient;

/* Connects without encryption and logs in. ERR_SOURCE: nobody answers, or not as a SQL Server does; ERR_LOGIN: it
 * refuses. `database` may be empty. */
bool sql_client_open(Str address, Str user, Str password, Str database, SqlClient **out,
                     Err *err) MUST_CHECK;
void sql_client_close(SqlClient *client); /* accepts NULL */
/* Runs a batch; its errors go to the sink. ERR_SOURCE: the connection broke. */
bool sql_client_batch(SqlClient *client, Str sql, SimSink *sink, Err *err) MUST_CHECK;
/* Breaks the connection off, whatever it waits for; from any thread. */
void sql_client_break(void *client);

#endif
