/* session_function_internal.h - functions that ask the session, the server or the catalogue: what their files share. */
#ifndef TIDESIM_SESSION_FUNCTION_INTERNAL_H
#define TIDESIM_SESSION_FUNCTION_INTERNAL_H

#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

typedef struct Call {
    Exec           *exec;
    SimSession     *session;
    SimDatabase    *database; /* the function's, else the current one */
    const SimValue *args;
    size_t          count;
    Arena          *arena;
} Call;

typedef struct SessionFunction {
    const char *name;
    uint8_t     min_args, max_args;
    const char *type;
    bool (*run)(const Call *call, SimValue *out); /* *out is NULL of the type before */
} SessionFunction;

Str  call_text(const Call *call, size_t i);                         /* UTF-8; empty for NULL */
bool call_i64(const Call *call, size_t i, int64_t *out) MUST_CHECK; /* *out stays for NULL */
bool give_text(const Call *call, Str text, SimValue *out);          /* true */
bool give_int(int64_t value, SimValue *out);                        /* true */

bool give_database_property(const Call *call, Str name, SimValue *out); /* what never changes */
/* The table a name stands for in the function's database, if the session may see it. */
SimTable *call_table(const Call *call, size_t arg);

/* Ended by a NULL name. */
extern const SessionFunction catalog_functions_of_session[], principal_functions_of_session[],
    property_functions_of_session[];

#endif
