/* function.h - scalar functions that need neither a session nor a table (sqlserver.md 2.10), and
 * LIKE.
 *
 * Found by name without a schema. Those that evaluate their arguments lazily (COALESCE, NULLIF,
 * IIF, CASE) are the executor's, and so is what asks the server: GETDATE, DB_NAME, OBJECT_ID,
 * NEWID, ... */
#ifndef TIDESIM_FUNCTION_H
#define TIDESIM_FUNCTION_H

#include "sim/value/value.h"

typedef struct SimFunction SimFunction;

/* NULL: none of this name. */
const SimFunction *sim_function_find(Str name);
/* One of SQL Server's of that version, which is not here. */
bool sim_function_is_missing(Str name, int version);
/* DATEADD, DATEPART, ...: the first argument is a bare word (EXPR_DATEPART_NAME), handed over as an
 * nvarchar value. */
bool sim_function_takes_datepart(const SimFunction *function);
/* The type of a call. 174, 189 for a wrong number of arguments, 8116 and others for wrong types,
 * 155 for an unknown datepart. `constants` (may be NULL) has the value of each argument that is a
 * literal, NULL for the others: some result types depend on them. */
bool sim_function_type(const SimFunction *function, const SimType *args,
                       const SimValue *const *constants, size_t count, SimType *out,
                       SimError *error) MUST_CHECK;
/* Calls it with values as they are: each function converts its arguments itself. `type` is what
 * sim_function_type said; the result has that type. It may borrow from its arguments. */
bool sim_function_call(const SimFunction *function, const SimType *type, const SimValue *args,
                       size_t count, Arena *arena, SimValue *out, SimError *error) MUST_CHECK;

/* text LIKE pattern [ESCAPE escape]; `escape` may be NULL. No value may be NULL. Other types are
 * converted to text. 506 for an escape longer than one character. `collation` NULL: that of the
 * operands. */
bool sim_like(const SimValue *text, const SimValue *pattern, const SimValue *escape,
              const SimCollation *collation, Arena *scratch, bool *out, SimError *error) MUST_CHECK;

/* Adds to a date or time (DATEADD); the executor's own clock functions use it too. */
bool sim_date_add(Str datepart, int64_t number, const SimValue *date, SimValue *out,
                  SimError *error) MUST_CHECK;

#endif
