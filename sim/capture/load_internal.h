/* load_internal.h - what the files of loading share: a folder's files as they were read, and the tables and instances they
 * make. */
#ifndef TIDESIM_LOAD_INTERNAL_H
#define TIDESIM_LOAD_INTERNAL_H

#include <jansson.h>

#include "sim/capture/cdc_internal.h"

typedef struct LoadColumn {
    Str         name;
    const char *key; /* the same for jansson */
    SimType     type;
    bool        is_key;
} LoadColumn;

typedef struct LoadTable {
    Str     id; /* as the files name it: schema_table */
    Str     schema, name;
    json_t *rows; /* tables/<id>.json; NULL: none */
    LIST(LoadColumn) columns;
    LIST(Str) keys;
    LIST(Str) dropped; /* columns that instances still have */
    SimTable *table;
} LoadTable;

typedef struct LoadInstance {
    Str        name;
    LoadTable *table;
    json_t    *columns; /* pairs of name and type */
    int64_t    create_us;
    bool       has_create_time;
    Lsn        start_lsn;
    json_t    *changes, *ddl; /* arrays */
} LoadInstance;

typedef struct LoadEntry { /* of the mapping */
    Lsn     lsn;
    int64_t end_us;
    bool    is_idle;
} LoadEntry;

typedef struct Load {
    SimDatabase *database;
    Arena       *arena;
    Str          folder;
    SimError    *error;
    LIST(json_t *) documents; /* to let go */
    LIST(LoadTable *) tables;
    LIST(LoadInstance) instances; /* oldest first */
    LIST(LoadEntry) entries;
    Lsn       last_lsn; /* of anything */
    SimWaiter waiter;
} Load;

/* --- load_json.c --- */
/* 50000 with the file's name. A file that need not be there: *out stays NULL. */
bool load_document(Load *load, Str file, bool is_needed, json_t **out) MUST_CHECK;
bool load_lines(Load *load, Str file, bool is_needed,
                json_t **out) MUST_CHECK; /* JSON Lines as an array */
bool load_refuse(Load *load, Str file, const char *fmt, ...) PRINTF(3, 4); /* false */
Str  load_text(const json_t *value); /* empty for another kind */
bool load_lsn(Load *load, Str file, const json_t *text, Lsn *out) MUST_CHECK;
bool load_time(Load *load, Str file, const json_t *text, int64_t *out) MUST_CHECK;
/* The SQL type for a type of the files: INT, STRING, DECIMAL(p,s), ... */
bool load_type(Load *load, Str file, Str name, SimType *out) MUST_CHECK;
bool load_value(Load *load, Str file, const json_t *value, const SimType *type,
                SimValue *out) MUST_CHECK;

/* --- load_table.c --- */
bool load_read(Load *load) MUST_CHECK;        /* all files */
bool load_make_tables(Load *load) MUST_CHECK; /* with their rows */

#endif
