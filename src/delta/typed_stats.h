/* typed_stats.h - statistics of a file as values of their columns' types, which a checkpoint holds
 * beside the JSON text, or instead of it (delta.md 2.13). */
#ifndef TIDELAKE_DELTA_TYPED_STATS_H
#define TIDELAKE_DELTA_TYPED_STATS_H

#include "base/buf.h"
#include "types/schema.h"

/* The member `parsed` of a checkpoint's line (duck_checkpoint.h), for columns as files name them:
 * every value is the text that stands in `stats`, so no digit is lost. Nothing when the text is no
 * statistics. */
void typed_stats_write(Buf *buf, Str stats, const Schema *stored, Arena *scratch);

#endif
