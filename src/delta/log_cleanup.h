/* log_cleanup.h - log files past their retention go, once a day, after a checkpoint. */
#ifndef TIDELAKE_DELTA_LOG_CLEANUP_H
#define TIDELAKE_DELTA_LOG_CLEANUP_H

#include "delta/delta_internal.h"

/* delta_table_clean_log at most once per day and opened table; a failure is only logged. */
void log_clean_when_due(DeltaTable *table);

#endif
