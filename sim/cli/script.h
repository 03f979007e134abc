/* script.h - T-SQL scripts: files of batches with GO between them. */
#ifndef TIDESIM_CLI_SCRIPT_H
#define TIDESIM_CLI_SCRIPT_H

#include "base/err.h"
#include "base/list.h"
#include "base/str.h"

typedef struct ScriptBatch {
    Str     text;
    int32_t first_line; /* in the file, from 1 */
    int64_t repeat;     /* GO 5 */
} ScriptBatch;

typedef struct Script {
    Str name; /* for messages */
    LIST(ScriptBatch) batches;
} Script;

/* Splits at lines that hold GO alone, or GO and a count, outside of comments and quotes. Batches of blanks are
 * left out. `text` must outlive the script. */
void script_split(Str name, Str text, Arena *arena, Script *out);
/* The same of a file; "-" is the standard input. UTF-8, or UTF-16LE behind a byte order mark. ERR_FAILED. */
bool script_read(Str path, Arena *arena, Script *out, Err *err) MUST_CHECK;

#endif
