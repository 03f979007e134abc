/* payload.h - the JSON texts in commits and in facts `detail` (state.md 9, 14). Byte form is part
 * of the contract. */
#ifndef TIDELAKE_STATE_PAYLOAD_H
#define TIDELAKE_STATE_PAYLOAD_H

#include "types/optional.h"

/* A micro-batch's counts, as its bronze commit records them (14.1). */
typedef struct BatchCounts {
    int64_t rows, deletes, inserts, updates;
    OptLsn  min_lsn, max_lsn;
    OptTime min_commit_ts, max_commit_ts;
} BatchCounts;

Str payload_batch(Arena *arena, const BatchCounts *counts, int64_t batch_id, Str sink_id);
/* True when the text is this batch's and has its counts; where they are null (14.4) the batch has
 * to be read again. */
bool payload_parse_batch(Str text, Str sink_id, int64_t batch_id, BatchCounts *out);
/* A whole snapshot's and a seed's (14.3). */
Str payload_snapshot(Arena *arena, Str capture_instance, const Offset *at);
Str payload_seed(Arena *arena, Str capture_instance, const Offset *at);

/* 'snapshot_open' of a full snapshot (9.1). */
typedef struct OpenDetail {
    bool   is_full; /* anything but mode "full" reads as chunked */
    bool   is_resnapshot;
    OptI64 generation;
} OpenDetail;
Str  payload_full_open(Arena *arena, int64_t generation);
bool payload_parse_open(Str text, OpenDetail *out);

/* 'data_skipped' (9.5): `from` the first LSN not read, `to` where reading went on. With a reason it
 * is not certain that anything was. */
Str payload_skip(Arena *arena, Lsn from, Lsn to, Str reason);
/* Whether the detail of a chunked snapshot's facts row has any of the members that 0.7.0 moved to
 * the plans table: their presence counts, since a bound is rightly null (10.2). */
bool payload_has_key_values(Str event, Str detail);

/* {"warnings": [...]}; an empty Str without any. */
Str payload_warnings(Arena *arena, const Str *warnings, size_t count);

#endif
