/* table.h - the actions of `tidelake table`: one file each. */
#ifndef TIDELAKE_CLI_TABLE_H
#define TIDELAKE_CLI_TABLE_H

#include "cli/output.h"
#include "cli/wire.h"
#include "delta/maintain.h"

/* A table that was opened for an action. */
typedef struct TableCall {
    Wire       *wire;
    Invocation *invocation;
    Str         path;
    DeltaTable *table;
} TableCall;

typedef bool TableRun(TableCall *call, Err *err);

TableRun table_schema, table_history, table_files, table_cat, table_sql;
TableRun table_optimize, table_vacuum, table_checkpoint;

/* Rows made here, as a table or as JSON. */
bool table_print(const TableCall *call, const Schema *schema, RowBuilder *builder,
                 Err *err) MUST_CHECK;
/* What the delta module tells of long work goes to the progress line, under the table's path. */
typedef struct TableProgress {
    const TableCall *call;
    int64_t          began_ns;
    Progress         now;
} TableProgress;
DeltaProgress table_progress_begin(TableProgress *progress, const TableCall *call);
void          table_progress_end(TableProgress *progress);

#endif
