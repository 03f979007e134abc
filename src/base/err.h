/* err.h - what went wrong, carried on the caller's stack.
 *
 * What can fail returns bool and takes `Err *err` last. Whoever meets the trouble sets code and
 * message, callers add context in front, the top prints it once. Reporting never allocates. */
#ifndef TIDELAKE_BASE_ERR_H
#define TIDELAKE_BASE_ERR_H

#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `retry` says that the same call may succeed a little later. Exit statuses are cli.md's
 * contract. */
/* clang-format off */
#define ERR_CODES(X) /* code            exit  retry  meaning */                                           \
    X(ERR_NONE,            0, false, "no error")                                                          \
    X(ERR_FAILED,          1, false, "the operation failed")                                              \
    X(ERR_USAGE,           2, false, "wrong option or argument")                                          \
    X(ERR_CONFIG,          2, false, "wrong configuration file")                                          \
    X(ERR_DATA_LOSS,       3, false, "changes the stream needs are gone from the source")                 \
    X(ERR_SCHEMA_CHANGED,  4, false, "the source changed in a way this run must not cross")               \
    X(ERR_PERMISSION,      5, false, "the login lacks a permission on the source")                        \
    X(ERR_NOT_YET,         6, false, "not there yet")                                                     \
    X(ERR_MISMATCH,        7, false, "silver and source differ")                                          \
    X(ERR_SOURCE,          1, true,  "SQL Server did not answer")                                         \
    X(ERR_LOGIN,           1, false, "SQL Server refused the login")                                      \
    X(ERR_QUERY,           1, false, "SQL Server refused a statement")                                    \
    X(ERR_LOCK_TIMEOUT,    1, false, "a lock was not released in time")                                   \
    X(ERR_SOURCE_STATE,    1, false, "the source is not in a state that can be read")                     \
    X(ERR_STATE,           1, false, "what is in the lake or the checkpoint needs a decision")            \
    X(ERR_NOT_FOUND,       1, false, "there is nothing at this path")                                     \
    X(ERR_CONFLICT,        1, true,  "another writer committed first")                                    \
    X(ERR_STORE,           1, true,  "the storage failed")                                                \
    X(ERR_DAMAGED,         1, false, "a file is damaged and not to be trusted")                           \
    X(ERR_UNSUPPORTED,     1, false, "something this version does not do")                                \
    X(ERR_LIMIT,           1, false, "a limit was exceeded")                                              \
    X(ERR_QUERY_ENGINE,    1, false, "libduckdb failed")                                                  \
    X(ERR_CANCELLED,     130, false, "stopped on request")                                                \
    X(ERR_INTERNAL,        1, false, "a mistake of this program")
/* clang-format on */

typedef enum ErrCode {
#define X(code, exit_status, retry, meaning) code,
    ERR_CODES(X)
#undef X
} ErrCode;

typedef struct Err {
    ErrCode code;
    int32_t native;        /* SQL Server error number, HTTP status or errno; 0 if none */
    char    sqlstate[6];   /* "" unless ODBC gave one */
    char    message[1200]; /* the first cause and the way out, never a secret or a key value */
    char    context[400];  /* what we were doing, outermost first: "dbo_orders: batch 4" */
} Err;

#define ERR_INIT ((Err){.code = ERR_NONE})

/* Sets the first cause; clears what was there. Always returns false, so `return err_set(...)`
 * works. */
bool err_set(Err *err, ErrCode code, const char *fmt, ...) PRINTF(3, 4);
/* The same with errno's number and text appended; `code` is usually ERR_STORE. */
bool err_set_errno(Err *err, ErrCode code, int errno_value, const char *fmt, ...) PRINTF(4, 5);
/* Puts what the caller was doing in front of the context, unless that begins with it already.
 * Always returns false. */
bool err_context(Err *err, const char *fmt, ...) PRINTF(2, 3);
/* Copies `from` over `err`; for an error met in another thread. Always returns false. */
bool err_copy(Err *err, const Err *from);
void err_clear(Err *err);

int         err_exit_status(ErrCode code);
bool        err_can_retry(const Err *err); /* by code alone; source/mssql_retry.h refines it */
const char *err_code_name(ErrCode code);   /* "ERR_DATA_LOSS" */
const char *err_code_meaning(ErrCode code);
/* "context: message (SQLSTATE x, error n)" into `buf`, always terminated. */
#define ERR_TEXT_BYTES 1800 /* room for any */
void err_format(const Err *err, char *buf, size_t size);

#endif
