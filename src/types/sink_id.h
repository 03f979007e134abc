/* sink_id.h - the names of a stream's generations (state.md 3).
 *
 * Generation 0 writes under the app id itself, generation g > 0 under `<app_id>.g<g>`. All names
 * of one stream are its family, over which snapshots, completions and chunks are looked up. */
#ifndef TIDELAKE_TYPES_SINK_ID_H
#define TIDELAKE_TYPES_SINK_ID_H

#include "base/str.h"

Str sink_id_for_generation(Arena *arena, Str app_id, int64_t generation); /* generation >= 0 */
/* The literal app id, alone or followed by `.g` and digits, nothing else. */
bool sink_id_is_of_family(Str sink_id, Str app_id);

#endif
