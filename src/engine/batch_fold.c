/* batch_fold.c - the measured columns of a batch's facts row. */
#include "engine/batch_fold.h"

#include "base/limits.h"

#include <math.h>

#define US_PER_HOUR 3600e6

double round_to(double value, int digits)
{
    double scale = 1;

    for (int i = 0; i < digits; i++)
        scale *= 10;
    return round(value * scale) / scale;
}

static void widen_lsns(BatchCounts *counts, const ChangeMetrics *range)
{
    if (!counts->min_lsn.is_set || lsn_compare(range->min_lsn, counts->min_lsn.lsn) < 0)
        counts->min_lsn = OPT_LSN(range->min_lsn);
    if (!counts->max_lsn.is_set || lsn_compare(range->max_lsn, counts->max_lsn.lsn) > 0)
        counts->max_lsn = OPT_LSN(range->max_lsn);
}

static void widen_times(BatchCounts *counts, const ChangeMetrics *range)
{
    OptTime low = range->min_commit_ts, high = range->max_commit_ts;

    if (low.is_set && (!counts->min_commit_ts.is_set || low.utc_us < counts->min_commit_ts.utc_us))
        counts->min_commit_ts = low;
    if (high.is_set &&
        (!counts->max_commit_ts.is_set || high.utc_us > counts->max_commit_ts.utc_us))
        counts->max_commit_ts = high;
}

BatchCounts batch_fold_counts(const ChangeMetrics *metrics, size_t count)
{
    BatchCounts counts = {0};

    for (size_t i = 0; i < count; i++) {
        if (metrics[i].rows == 0) continue;
        counts.rows += metrics[i].rows;
        counts.deletes += metrics[i].deletes;
        counts.inserts += metrics[i].inserts;
        counts.updates += metrics[i].updates;
        widen_lsns(&counts, &metrics[i]);
        widen_times(&counts, &metrics[i]);
    }
    return counts;
}

void batch_set_counts(const BatchCounts *counts, FactsRow *row)
{
    row->rows          = OPT_I64(counts->rows);
    row->deletes       = OPT_I64(counts->deletes);
    row->inserts       = OPT_I64(counts->inserts);
    row->updates       = OPT_I64(counts->updates);
    row->min_lsn       = counts->min_lsn;
    row->max_lsn       = counts->max_lsn;
    row->min_commit_ts = counts->min_commit_ts;
    row->max_commit_ts = counts->max_commit_ts;
}

/* Median of the probes that succeeded. */
static OptDouble median_rtt(const ChangeMetrics *metrics, size_t count)
{
    double sorted[LIMIT_PARTITIONS];
    size_t known = 0;

    for (size_t i = 0; i < count && known < LIMIT_PARTITIONS; i++) {
        size_t at = known;
        if (metrics[i].rtt_ms < 0) continue;
        for (; at > 0 && sorted[at - 1] > metrics[i].rtt_ms; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = metrics[i].rtt_ms;
        known++;
    }
    if (known == 0) return (OptDouble){0};
    if (known % 2) return OPT_DOUBLE(round_to(sorted[known / 2], 1));
    return OPT_DOUBLE(round_to((sorted[known / 2 - 1] + sorted[known / 2]) / 2, 1));
}

static void fold_position(const ChangeMetrics *last, const BatchCounts *counts, FactsRow *row)
{
    OptTime position = last->end_commit_ts.is_set ? last->end_commit_ts : counts->max_commit_ts;

    row->end_commit_ts          = last->end_commit_ts;
    row->retention_watermark_ts = last->retention_watermark_ts;
    row->source_max_commit_ts   = last->source_max_commit_ts;
    if (!isnan(last->capture_lag_seconds))
        row->capture_lag_seconds = OPT_DOUBLE(round_to(last->capture_lag_seconds, 3));
    if (position.is_set && last->retention_watermark_ts.is_set)
        row->retention_headroom_hours = OPT_DOUBLE(round_to(
            (double)(position.utc_us - last->retention_watermark_ts.utc_us) / US_PER_HOUR, 2));
    if (position.is_set && last->source_max_commit_ts.is_set)
        row->ingestion_lag_seconds = OPT_DOUBLE(
            round_to((double)(last->source_max_commit_ts.utc_us - position.utc_us) / 1e6, 3));
}

void batch_fold_metrics(const ChangeMetrics *metrics, size_t count, const BatchCounts *counts,
                        Lsn end_lsn, FactsRow *row)
{
    double  seconds = 0;
    int64_t bytes = 0, wait_ms = 0;
    bool    wait_is_known = true;

    if (count == 0) return;
    for (size_t i = 0; i < count; i++) {
        seconds += metrics[i].read_seconds;
        bytes += metrics[i].read_bytes;
        wait_ms += MAX(metrics[i].network_wait_ms, 0);
        if (metrics[i].network_wait_ms < 0) wait_is_known = false;
    }
    row->source_rtt_ms = median_rtt(metrics, count);
    row->read_seconds  = OPT_DOUBLE(round_to(seconds, 3));
    row->read_mb       = OPT_DOUBLE(round_to((double)bytes / 1e6, 6));
    if (wait_is_known) row->network_wait_ms = OPT_I64(wait_ms);
    row->end_lsn = OPT_LSN(end_lsn);
    fold_position(&metrics[count - 1], counts, row);
}
