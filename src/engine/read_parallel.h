/* read_parallel.h - reads the parts of a batch or snapshot side by side: a task, a connection and
 * staged files each. */
#ifndef TIDELAKE_ENGINE_READ_PARALLEL_H
#define TIDELAKE_ENGINE_READ_PARALLEL_H

#include "engine/env.h"
#include "source/mssql.h"

/* Opens the stream of part `index`; called again for another attempt. `arena` lives until the part
 * is done. */
typedef bool (*OpenPart)(void *arg, size_t index, Arena *arena, RowStream **out, Err *err);

typedef struct ReadParts {
    const char  *method; /* for retry warnings: "read changes" */
    size_t       count;
    int64_t      partitions; /* at most so many at once */
    OpenPart     open;
    void        *arg;
    DeltaWriter *writer; /* NULL: there must be no rows */
    /* For parts whose stream asks again by itself: of each part the attempt it is at, from 1; 0: no further one may be
     * made. NULL: counted here. */
    int *attempts;
    /* Told once of each part, by its task: its last row has come, or it failed for the last time. May be NULL. */
    void (*on_over)(void *arg, size_t index);
    /* for progress */
    const char          *what;      /* "snapshot", "batch" */
    Str                  name;      /* the stream */
    int64_t              row_total; /* of all parts; 0: unknown */
    const ChunkProgress *chunks;    /* NULL: it is no wave */
    bool                 is_hidden; /* another run is shown */
} ReadParts;

/* Reads every part; `adds_out` (in `arena`): the files they wrote, in the order of the parts, each
 * with rows. A transient error reads the part again from its start, its staged rows gone
 * (sqlserver.md 1.14). The first error stops the others. */
bool read_parts(Env *env, Mssql *mssql, const ReadParts *parts, Arena *arena, DeltaAdds *adds_out,
                Err *err) MUST_CHECK;
int64_t read_parts_rows(const DeltaAdds *adds);

/* The same in steps, for who has something to read while the files of these parts are finished. `parts` and `arena`
 * live until read_run_finish, which every run needs; each part has a task of its own then. */
typedef struct ReadRun ReadRun;
ReadRun               *read_run_start(Env *env, Mssql *mssql, const ReadParts *parts, Arena *arena);
/* Until the last row of `count` parts has come (those of earlier calls among them), their connections are given back, and
 * only their files are not closed yet; or false: a part failed, and read_run_finish tells how. */
bool read_run_wait(ReadRun *run, size_t count);
/* What is read is not wanted any more: the parts end with their next block. */
void read_run_stop(ReadRun *run);
/* A run is shown to who shows progress, but for one that is begun next to another (ReadParts.is_hidden), until this. */
void read_run_show(ReadRun *run);
bool read_run_finish(ReadRun *run, DeltaAdds *adds_out, Err *err) MUST_CHECK;

#endif
