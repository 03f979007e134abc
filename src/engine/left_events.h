/* left_events.h - events that the peer library planned and did not get into the facts: the first
 * batch of a run that takes its checkpoint over writes them with its own (state.md 17.5). */
#ifndef TIDELAKE_ENGINE_LEFT_EVENTS_H
#define TIDELAKE_ENGINE_LEFT_EVENTS_H

#include "engine/stream_internal.h"

/* The rows to write with the batch: those of waiting files that neither the facts nor `own`, the
 * batch's own events, tell of. */
bool left_events_find(Stream *stream, const FactsRow *own, size_t own_count, Arena *arena,
                      FactsRow **out, size_t *count_out, Err *err) MUST_CHECK;
/* After the facts commit. Files whose event is in are removed, before the batch counts as done; the
 * commit of a batch that an earlier run wrote holds none of ours, so the others wait for the next
 * batch. */
void left_events_settle(Stream *stream, bool was_written);

#endif
