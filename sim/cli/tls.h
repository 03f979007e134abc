/* tls.h - what tidesim serve offers to clients that ask for encryption. */
#ifndef TIDESIM_CLI_TLS_H
#define TIDESIM_CLI_TLS_H

#include "sim/cli/options.h"
#include "sim/server/tls.h"

typedef struct CliTls {
    SimTls *tls; /* NULL: nothing is offered */
    const char *
        path; /* of the file that holds a certificate of our making, as long as it is open; may be NULL */
} CliTls;

/* By --tls. A certificate of our making is written to a file, so that clients can be told to trust it; stderr says
 * where. cli_tls_close, after failures too. */
bool cli_tls_open(CliTls *tls, const CliOptions *options, Err *err) MUST_CHECK;
void cli_tls_close(CliTls *tls);

#endif
