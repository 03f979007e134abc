/* load.h - a database from files: instances.json (capture instances, their tables, columns, creation), keys.json, min_lsn.json,
 * lsn_time_mapping.jsonl, tables/<table>.json (rows now), changes/<instance>.jsonl, ddl/<instance>.jsonl, dropped.json,
 * history.jsonl. Types are those of Spark SQL, values JSON: docs/tidesim-reference.md. */
#ifndef TIDESIM_LOAD_H
#define TIDESIM_LOAD_H

#include "sim/capture/cdc.h"

/* Into a database without change data capture. LSNs, commit times, change rows, low endpoints, instances, keys and rows are
 * the files'; what is committed later gets LSNs above them. Errors: 50000 naming the file, and the model's. */
bool sim_load_folder(SimDatabase *database, Str folder, SimError *error) MUST_CHECK;

#endif
