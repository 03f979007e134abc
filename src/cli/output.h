/* output.h - results on stdout: aligned text for people, one JSON object for scripts. */
#ifndef TIDELAKE_CLI_OUTPUT_H
#define TIDELAKE_CLI_OUTPUT_H

#include "base/json.h"
#include "types/optional.h"
#include "types/row_block.h"

/* Prints a whole stream of rows: an aligned table without a footer, or {"columns": [...], "rows":
 * [[...]]}. Errors: the stream's; ERR_STORE when stdout cannot be written. */
bool output_rows(RowStream *rows, bool as_json, Err *err) MUST_CHECK;
/* One line on stdout, flushed. ERR_STORE. */
bool output_line(Str line, Err *err) MUST_CHECK;

void json_member_lsn(JsonWriter *json, const char *key, OptLsn lsn);
void json_member_time(JsonWriter *json, const char *key, OptTime time);

#endif
