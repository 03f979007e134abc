/* script.h - SQL in, rows out: runs a file of statements against a server in this process and compares what comes back with what the file says.
 *
 *   SELECT 1 AS a;   any number of lines
 *   --> a            the answer, line by line: the names of a result's columns,
 *   --> 1            its rows, values separated by |,
 *   --> (1)          the count at the end of a statement,
 *   --> !2627 ...    errors: number, severity, state, line, text; "# text" for what PRINT and its kin say
 *
 *   -->              and nothing more: no answer
 *   --@ 2            go on in session 2, opened on its first use; `--@ 3 reader secret` as that login
 *   --stats          what the last statement did is part of the answer
 *
 * With SCRIPT_UPDATE in the environment the answers are written anew, for a person to read the difference. */
#ifndef TIDESIM_TESTS_SCRIPT_H
#define TIDESIM_TESTS_SCRIPT_H

#include "sim/sim.h"

typedef struct Script Script;

Script *script_open(void); /* a server on a virtual clock, capture by hand, a fixed seed */
void    script_close(Script *script);
/* Answers as one text, sessions are numbered from 1. */
Str script_run(Script *script, int session, Str sql);
/* The same for a remote procedure call: by number, or by name when it is 0. */
Str      script_rpc(Script *script, int session, uint16_t proc_id, const char *name,
                    const SimParameter *params, size_t count);
SimSink *script_sink(Script *script); /* appends to what script_answer returns and clears */
Str      script_answer(Script *script);
/* Runs a file of tests/unit/sim/sql and fails the test at the first difference. */
void        script_check_file(const char *name);
SimSession *script_session(Script *script, int session);
SimServer  *script_server(Script *script);
void        script_login(Script *script, int session, Str user, Str password);

#endif
