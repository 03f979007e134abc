/* stream_internal.h - the state of one run: stream.c has the run, batch.c one batch. */
#ifndef TIDELAKE_ENGINE_STREAM_INTERNAL_H
#define TIDELAKE_ENGINE_STREAM_INTERNAL_H

#include "base/buf.h"
#include "base/list.h"
#include "engine/stream.h"
#include "engine/verdict.h"
#include "source/mssql.h"
#include "state/bronze.h"
#include "state/checkpoint.h"
#include "state/event_files.h"
#include "state/facts.h"
#include "state/silver.h"

typedef struct Stream {
    Env                 *env;
    const StreamOptions *options;
    StreamResult        *result;
    Arena               *arena; /* of the run */
    Mssql               *mssql;
    CaptureTable         table;    /* as the run found it, and as DDL it passed left it */
    Schema               captured; /* what the query reads */
    const ColumnType    *held;     /* per column of `captured`: what its captured type must fit */
    bool                 configured_is_gone; /* the configured instance no longer exists */
    Checkpoint          *checkpoint;
    Bronze              *bronze;
    Facts               *facts;   /* NULL: none */
    VerdictTracker      *verdict; /* NULL: none */
    int64_t              generation;
    Str                  sink_id;
    Offset               bootstrap_start;
    Offset               position; /* end of the last finished batch */
    int64_t              next_batch;
    bool                 has_target; /* available-now */
    Lsn                  target;
    LIST(Str) warnings; /* for the next facts row; each once */
    bool       has_read_events;
    EventFile *events; /* left by the peer library, not in the facts yet */
    size_t     event_count;
} Stream;

/* Logs a warning and keeps it for the next batch's facts row, once. `text` lives as long as the
 * run. */
void stream_warn(Stream *stream, Str text);
/* Finds the table of the configured instance, and what is read of it. */
bool stream_find_table(Stream *stream, Err *err) MUST_CHECK;
/* Sets what the query reads, from the instance's columns or the `columns` option (6.5, 12.4). */
bool stream_choose_columns(Stream *stream, Err *err) MUST_CHECK;
/* The captured types after DDL: ERR_SCHEMA_CHANGED when one no longer fits what is read (6.2). */
bool stream_check_ddl(Stream *stream, const DdlEvent *ddl, size_t count, Err *err) MUST_CHECK;
/* ERR_SCHEMA_CHANGED when the table has an instance that this version cannot follow. */
bool stream_check_instances(const CaptureTable *table, Err *err) MUST_CHECK;
/* Bronze as it is open must hold no other source table, which nobody's silver could tell apart any more, and take
 * what is read (bronze_check). */
bool stream_check_bronze(Stream *stream, Err *err) MUST_CHECK;
/* Reads the server's clock and zone; what is odd about them becomes a warning. */
bool stream_refresh_clock(Stream *stream, Err *err) MUST_CHECK;
/* What the planning of batch `next_batch` up to `end` asks, in one request. */
bool stream_ask_ahead(Stream *stream, Lsn end, bool with_end_time, Err *err) MUST_CHECK;
/* Runs batch `next_batch`, (position, end]: rows, facts, commit, verdict. `is_replay`: an earlier
 * run planned it and may have done any part of it. */
bool stream_run_batch(Stream *stream, const Offset *end, bool is_replay, Err *err) MUST_CHECK;

#endif
