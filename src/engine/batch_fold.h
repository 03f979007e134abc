/* batch_fold.h - folds what the ranges of a batch measured into its counts and its facts row: pure
 * functions (algorithms.md 11). */
#ifndef TIDELAKE_ENGINE_BATCH_FOLD_H
#define TIDELAKE_ENGINE_BATCH_FOLD_H

#include "source/mssql.h"
#include "state/facts.h"
#include "state/payload.h"

/* Counts and LSN and time ranges over all ranges. */
BatchCounts batch_fold_counts(const ChangeMetrics *metrics, size_t count);
/* The measured columns of the batch's row; nothing without ranges. */
void batch_fold_metrics(const ChangeMetrics *metrics, size_t count, const BatchCounts *counts,
                        Lsn end_lsn, FactsRow *row);
void batch_set_counts(const BatchCounts *counts, FactsRow *row);
/* Half away from zero, to `digits` fraction digits. */
double round_to(double value, int digits);

#endif
