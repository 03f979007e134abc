/* event_files.h - events that the peer library left in a checkpoint directory for its next batch to
 * write to the facts (state.md 17.5). Whoever takes the directory over writes them, then removes
 * them, or they are lost. */
#ifndef TIDELAKE_STATE_EVENT_FILES_H
#define TIDELAKE_STATE_EVENT_FILES_H

#include "base/log.h"
#include "state/facts.h"
#include "store/store.h"

typedef struct EventFile {
    Str      path;
    FactsRow row;        /* app_id, batch_id and target are the batch's that writes it */
    bool     is_written; /* for the reader's use: the facts have it */
} EventFile;

/* Those in `folder`, by name; a folder that is not there has none. A file that does not hold one of
 * the three events is left where it is, with a warning. */
bool event_files_read(Store *store, Str folder, Log *log, Arena *arena, EventFile **out,
                      size_t *count_out, Err *err) MUST_CHECK;
/* The content of one as a row; false when it is none of the three events. */
bool event_file_parse(Str text, Arena *arena, FactsRow *row);
/* Two rows that tell of the same event: of one kind at one LSN; a skip is known by the first LSN it
 * left out, since cleanup may go on before it is planned again. */
bool event_is_same(const FactsRow *left, const FactsRow *right);

#endif
