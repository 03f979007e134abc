/* outcome.h - how each stream of a command went, and what that makes of the command: its result on
 * stdout, its error, its exit code (cli.md). */
#ifndef TIDELAKE_CLI_OUTCOME_H
#define TIDELAKE_CLI_OUTCOME_H

#include "base/json.h"
#include "base/log.h"

typedef struct Outcome {
    Str         name;
    bool        ok;
    Err         err;    /* why not */
    const void *result; /* as far as it came; NULL: there is none */
} Outcome;

/* How a command shows one result: as a JSON object, and as a line whose text lives in `arena`. */
typedef struct OutcomeForm {
    void (*write)(JsonWriter *json, const void *result);
    Str (*describe)(Arena *arena, const Outcome *outcome);
} OutcomeForm;

/* Logs the failure of one stream among several; main prints that of a single one. A stop on request
 * is no failure. */
void outcome_log_failure(const Outcome *outcome, size_t count, Log *log, const char *module);

/* Prints the object of a single stream that did not fail, else {"streams": {...}, "failed": {...}};
 * for people a line for each result. One stopped on request has not failed.
 * True when all went well. Else `err` has the code the streams failed with when their exit codes
 * agree, ERR_FAILED when not; ERR_CANCELLED when some were stopped and none failed; ERR_STORE when
 * stdout cannot be written and nothing worse happened. */
bool outcomes_finish(const Outcome *outcomes, size_t count, const OutcomeForm *form, bool as_json,
                     Err *err) MUST_CHECK;

#endif
