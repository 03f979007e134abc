/* error.h - an error as SQL Server reports it: number, severity, state, line. Inside sim/ it takes
 * the place of base/err.h. */
#ifndef TIDESIM_ERROR_H
#define TIDESIM_ERROR_H

#include "base/macros.h"
#include "base/str.h"

#define SIM_MESSAGE_UNITS_MOST 2048 /* UTF-16 units of an error's text */

typedef struct SimError {
    int32_t number;   /* 0: no error */
    uint8_t severity; /* 11 and up are errors; 20 and up close the connection */
    uint8_t state;
    int32_t line;       /* 1-based line of the batch; 0: not known yet, the executor fills it */
    bool    ends_batch; /* the batch stops here (sqlserver.md 2.5) */
    bool
        ends_scope; /* of compiling: only the text it is in ends, and its own TRY does not see it */
    bool rolls_back; /* the transaction is doomed, as for 1205 */
    char procedure[130];
    char message[SIM_MESSAGE_UNITS_MOST * 3 + 1]; /* UTF-8 */
    const char
        *of_2025; /* what it does not know is something from version 2025 on: that, not supported */
    Str long_message; /* in place of it, borrowed: what PRINT says, for as long as it is being said */
} SimError;

#define SIM_ERROR_INIT ((SimError){.number = 0})
#define SIM_NOT_SUPPORTED \
    50001 /* a construct that is recognised and not supported yet names itself */

/* Always returns false. Severity, state and ends_batch come from the table of known numbers in
 * error.c; texts are SQL Server's own shape. */
bool sim_error(SimError *error, int32_t number, const char *fmt, ...) PRINTF(3, 4);
Str  sim_error_text(const SimError *error);
/* The statement could not be compiled: a name, a type, its syntax. */
bool sim_error_is_of_compiling(int32_t number);
/* 50001, "tidesim: <what> is not supported". */
bool sim_not_supported(SimError *error, const char *fmt, ...) PRINTF(2, 3);

#endif
