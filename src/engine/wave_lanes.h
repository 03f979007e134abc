/* wave_lanes.h - a lane is what one connection reads, wave after wave. It begins the next wave's chunks as soon as it
 * is through with this wave's, also while other lanes are not, and may have asked for them in the same request
 * (algorithms.md 4.11). Here is who reads on it, what was asked ahead, and which stamp that allows. */
#ifndef TIDELAKE_ENGINE_WAVE_LANES_H
#define TIDELAKE_ENGINE_WAVE_LANES_H

#include "base/sched.h"
#include "source/mssql_cut.h"

#include <stdatomic.h>

/* All but `asked_under` is the turn's holder's. */
typedef struct WaveLane {
    Queue     *turn; /* holds an item while nobody reads on this lane */
    RowStream *rows; /* of a request; NULL: the next one has to be sent */
    /* Its chunks, in the order they come; the connection may have taken fewer. */
    int64_t asked[TABLE_PARTS_MAX];
    size_t  asked_count, asked_at;
    int64_t answered_ns;   /* its first row, or that of the chunk it is at */
    double  chunk_seconds; /* the last chunk that was read, from its first row on; 0: none was */
    /* The stamp under which chunks behind a wave were asked for; NULL: none are. */
    _Atomic(const Offset *) asked_under;
} WaveLane;

typedef struct WaveLanes WaveLanes;

/* `arena` outlives them. */
WaveLanes *wave_lanes_new(Sched *sched, size_t count, Arena *arena);
void       wave_lanes_close(WaveLanes *lanes); /* nobody reads; accepts NULL */
WaveLane  *wave_lane_at(WaveLanes *lanes, size_t index);

/* --- by who reads --- */
/* Waits until the reader of the wave before is through. */
void wave_lane_take(WaveLane *lane);
/* Through with its chunks of wave `number`: what was asked ahead stays when the next wave is about to begin. Else it is
 * given up: rows that nobody fetches would keep their locks. */
void wave_lane_give(WaveLanes *lanes, size_t index, int64_t number);
void wave_lane_drop(WaveLane *lane); /* the request */
/* To be told before a request is sent that reaches past its wave. */
void wave_lane_note_ahead(WaveLanes *lanes, WaveLane *lane);

/* --- by who begins the waves --- */
/* From now on until wave_lanes_let_go, a lane that is through with wave `number` keeps what it asked ahead. */
void wave_lanes_keep(WaveLanes *lanes, int64_t number);
/* The next wave does not begin at once, or is read on the lanes before `from` alone: the others keep nothing. */
void wave_lanes_let_go(WaveLanes *lanes, size_t from);
/* Around what the next wave waits for and nobody knows how long it takes: an answer of a store, or of the source. After
 * a second no lane keeps anything. */
void wave_lanes_begin_wait(WaveLanes *lanes);
void wave_lanes_end_wait(WaveLanes *lanes);
/* Just asked for: usually the newest, but a source that was set back may answer with an older one, which counts then. */
void wave_lanes_set_stamp(WaveLanes *lanes, const Offset *stamp);
/* The stamp of a wave that begins now: no newer than any request that reaches into it. False: none is known. */
bool wave_lanes_stamp(WaveLanes *lanes, Offset *out);

#endif
