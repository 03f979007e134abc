/* report.h - the table of differences between silver and its source, a run's rows in one commit
 * (state.md 13). */
#ifndef TIDELAKE_STATE_REPORT_H
#define TIDELAKE_STATE_REPORT_H

#include "state/table_ref.h"

/* Opens the table or creates it, with its seventeen columns. */
bool report_open(DeltaContext *context, const TableRef *ref, DeltaTable **out, Err *err) MUST_CHECK;

#endif
