/* delta_internal.h - what the files of delta/ share.
 *
 * From the bytes up: names and paths, actions of one commit, protocol and metadata (the header
 * of a table), the state that replaying actions gives, the segment of the log that a version
 * needs. */
#ifndef TIDELAKE_DELTA_DELTA_INTERNAL_H
#define TIDELAKE_DELTA_DELTA_INTERNAL_H

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/map.h"
#include "delta/delta.h"
#include "delta/json_text.h"
#include "delta/stats_pack.h"
#include "duck/duck_checkpoint.h"

/* --- names inside _delta_log (delta.md 1.1), names.c --- */
#define LOG_VERSION_DIGITS 20
#define NO_VERSION         ((int64_t)-1)

typedef enum LogFileKind {
    LOG_FILE_OTHER, /* not ours to interpret */
    LOG_FILE_COMMIT,
    LOG_FILE_CHECKPOINT,      /* classic: one file */
    LOG_FILE_CHECKPOINT_PART, /* of a multi-part checkpoint */
    LOG_FILE_CHECKPOINT_UUID, /* V2, Parquet or JSON */
} LogFileKind;

typedef struct LogName {
    LogFileKind kind;
    int64_t     version;
    int64_t     part, part_count; /* LOG_FILE_CHECKPOINT_PART: from 1 */
    bool        is_json;          /* LOG_FILE_CHECKPOINT_UUID */
} LogName;

LogName log_name_parse(Str name);
Str     log_name_version(Arena *arena, int64_t version); /* the twenty digits */
Str     log_name_commit(Arena *arena, int64_t version);
Str     log_name_checkpoint(Arena *arena, int64_t version);

/* --- paths of data files (2.3), path.c --- */
/* Percent-encodes a relative path for an add action, once. */
Str delta_path_encode(Arena *arena, Str path);
/* Decodes once; a '%' without two hex digits behind it stands for itself. */
Str delta_path_decode(Arena *arena, Str path);
/* One form for the spellings of a path: decoded, and an absolute one without the scheme `file`. */
Str delta_path_canonical(Arena *arena, Str path);
/* Where the file of an add action is. DELTA-L07: a scheme that no store of ours has, or a path
 * that leaves the table. */
bool delta_path_resolve(Str table_path, Str add_path, Arena *arena, Str *out, Err *err) MUST_CHECK;

/* --- intervals (1.8), interval.c --- */
/* "interval 1 week 2 days" in microseconds; months and years are no intervals. */
bool delta_interval_parse(Str text, int64_t *us_out) MUST_CHECK;

/* --- actions (1.5), action.c --- */
typedef enum ActionKind {
    ACTION_ADD,
    ACTION_REMOVE,
    ACTION_METADATA,
    ACTION_PROTOCOL,
    ACTION_TXN,
    ACTION_DOMAIN,
    ACTION_COMMIT_INFO,
    ACTION_CDC,
    ACTION_CHECKPOINT_METADATA,
    ACTION_SIDECAR,
    ACTION_ADAPTIVE, /* `checkpoint` inside a commit: adaptive metadata */
} ActionKind;

typedef struct AddAction {
    Str     path;
    Str     dv_id; /* empty: no deletion vector */
    int64_t size_bytes;
    int64_t modified_ms;
    bool    data_change;
    Str     stats;
    int64_t row_count;
    Str     extra; /* DeltaFile.extra_members */
} AddAction;

typedef struct RemoveAction {
    Str     path;
    Str     dv_id;
    int64_t deletion_ms; /* 0 when missing */
    bool    data_change;
    Str     members; /* what a checkpoint keeps besides: "partitionValues":{"p":"1"},"size":1 */
} RemoveAction;

typedef struct TxnAction {
    Str     app_id;
    int64_t version;
    int64_t last_updated_ms; /* -1: none */
} TxnAction;

typedef struct DomainAction {
    Str  domain;
    Str  configuration;
    bool is_removed;
} DomainAction;

typedef struct CommitInfo {
    int64_t timestamp_ms; /* -1: none */
    int64_t in_commit_ms; /* -1: none */
    Str     operation, user_metadata, engine_info, txn_id;
    Str     parameters, metrics; /* JSON */
    bool    is_blind_append;
} CommitInfo;

typedef struct Action {
    ActionKind kind;
    union {
        AddAction    add;
        RemoveAction remove;
        TxnAction    txn;
        DomainAction domain;
        CommitInfo   commit_info;
        JsonText     body; /* METADATA, PROTOCOL and the rest: the object */
    };
} Action;

/* Reads actions one after another from newline-delimited JSON. Strings are slices of the text or
 * live in `arena`. */
typedef struct ActionReader {
    Str      rest;
    Str      file; /* for errors */
    Arena   *arena;
    size_t   line, offset;
    JsonText object;
    size_t   at;
    bool     has_object;
} ActionReader;

ActionReader action_reader(Str text, Str file, Arena *arena);
/* True and *found_out false at the end. ERR_DAMAGED (DELTA-L09) names file, line and offset. */
bool action_next(ActionReader *reader, bool *found_out, Action *out, Err *err) MUST_CHECK;
/* storageType, pathOrInlineDv and the offset of an action's deletion vector (1.7); empty: none. */
Str action_dv_id(JsonText body, Arena *arena);
/* numRecords of a stats text, -1 if it does not say. */
int64_t stats_row_count(Str stats);

/* --- protocol and metadata: the header of a table (1.8, 1.9, 2.9); protocol.c, schema_string.c,
 * metadata.c --- */
typedef struct StrList {
    Str   *items;
    size_t count;
    bool   is_present;
} StrList;

bool str_list_has(const StrList *list, Str text);

typedef struct Protocol {
    int64_t min_reader, min_writer;
    StrList reader_features, writer_features;
} Protocol;

typedef struct Field {
    Column   column;
    bool     is_foreign; /* a type that we read but never write: byte, nested ones */
    bool     was_float;  /* bounds of old files are rounded otherwise than the double it is now */
    JsonText metadata;
} Field;

/* How columns stand in data files and statistics (1.10). */
typedef enum MappingMode { MAPPING_NONE, MAPPING_NAME, MAPPING_ID } MappingMode;

typedef struct ColumnMapping {
    MappingMode mode;
    Schema      stored; /* the same columns under the names that they have there */
    int32_t    *ids;    /* Parquet field ids, a column each; NULL without mapping */
    int64_t     max_id; /* the highest ever given */
} ColumnMapping;

typedef struct Metadata {
    JsonText       raw;
    Str            id, name, description, provider, schema_string;
    StrList        partition_columns;
    DeltaProperty *properties;
    size_t         property_count;
    Field         *fields;
    Schema         schema; /* of the same columns */
    ColumnMapping  mapping;
} Metadata;

/* Immutable; owns its memory. */
typedef struct Header {
    Arena   *arena;
    Str      protocol_raw; /* the JSON objects */
    Str      metadata_raw;
    Protocol protocol;
    Metadata metadata;
} Header;

/* What errors name. */
typedef struct LogPlace {
    DeltaContext *context;
    Str           path;     /* the table */
    Str           log_path; /* its _delta_log */
} LogPlace;

bool    header_new(const LogPlace *place, int64_t version, Str protocol_raw, Str metadata_raw,
                   Header **out, Err *err) MUST_CHECK;
void    header_close(Header *header); /* accepts NULL */
bool    header_find_property(const Header *header, Str key, Str *value_out);
bool    header_property_is_true(const Header *header, const char *key);
int64_t header_property_i64(const Header *header, const char *key, int64_t fallback);
bool    header_has_change_feed(const Header *header);
int64_t header_property_interval_us(const Header *header, const char *key, int64_t fallback);

bool protocol_parse(JsonText body, Arena *arena, Protocol *out);
bool protocol_check_read(const LogPlace *place, int64_t version, const Protocol *protocol,
                         Err *err) MUST_CHECK;
/* Everything of 1.8 that decides whether the table can be read at all. */
bool header_check_read(const LogPlace *place, int64_t version, const Header *header,
                       Err *err) MUST_CHECK;
bool header_check_write(const LogPlace *place, int64_t version, const Header *header,
                        DeltaWriteKind kind, Err *err) MUST_CHECK;
/* The table features that columns and properties ask for. */
#define FEATURE_NEEDS_MAX 8
typedef struct FeatureNeeds {
    const char *names[FEATURE_NEEDS_MAX];
    size_t      count;
} FeatureNeeds;

void feature_needs_add(FeatureNeeds *needs, const char *name);
void feature_needs_add_columns(FeatureNeeds *needs, const Schema *schema);
/* Nothing when the property needs none. ERR_UNSUPPORTED: one that tidelake does not set. */
bool feature_needs_add_property(FeatureNeeds *needs, const DeltaProperty *property,
                                Err *err) MUST_CHECK;
/* Listed, or implied by a legacy version. */
/* A feature that `before` had, by name or version, is missing, or a version is smaller. */
bool protocol_is_lower(const Protocol *before, const Protocol *now);
bool protocol_has_feature(const Protocol *protocol, const char *name);
/* The weakest protocol for a new table; and what an old one becomes, false: it has all that. */
Str  protocol_for_create(Arena *arena, const FeatureNeeds *needs);
bool protocol_upgrade(Arena *arena, const Protocol *protocol, const FeatureNeeds *needs,
                      Str *json_out);
/* The pairs of 1.12; `from` and `to` are Delta's names of types. */
bool type_can_widen(Str from, Str to);

/* ERR_UNSUPPORTED or ERR_DAMAGED, without the table's name (the caller has it). */
bool schema_string_parse(Str text, Arena *arena, Field **fields_out, Schema *out,
                         Err *err) MUST_CHECK;
/* ERR_UNSUPPORTED (DELTA-P14): the metadata of a field records a change of type that is no widening
 * (1.12). Also of fields within nested types. */
bool schema_check_type_changes(JsonText metadata, Str column, Arena *arena, Err *err) MUST_CHECK;
/* `mapping` gives the fields their names in files and their ids, unless its mode is none. */
Str schema_string_format(Arena *arena, const Schema *schema, const ColumnMapping *mapping);

/* What becomes of the columns that a table has, and which come. */
typedef struct ColumnChange {
    bool       is_widened;
    ColumnType type;    /* the new one */
    Str        comment; /* ptr NULL: as it was, empty: none */
} ColumnChange;

typedef struct SchemaChange {
    const ColumnChange  *columns; /* a column of the table each; NULL: they stay as they are */
    Schema               added;
    const ColumnMapping *mapping; /* of the columns afterwards, added ones at the end */
} SchemaChange;
/* Every byte that says something else stays. */
Str schema_string_change(Arena *arena, Str text, const SchemaChange *change);
/* The first byte of a name that Delta refuses without column mapping, or 0. */
char schema_forbidden_char(Str name);
/* ERR_UNSUPPORTED: two names equal ignoring case, an empty name. */
bool schema_check_names(const Schema *schema, Err *err) MUST_CHECK;
bool schema_fail_twice(Str name, Err *err);

/* The metaData object of a new table; and an old one with other columns, properties and
 * description (ptr NULL: as it was), all else as it stands. */
Str metadata_format(Arena *arena, const DeltaCreate *spec, const ColumnMapping *mapping, Str id,
                    int64_t created_ms);
Str metadata_change(Arena *arena, const Metadata *metadata, const SchemaChange *change,
                    const DeltaProperty *properties, size_t property_count, Str description);

#define MAPPING_MODE     "delta.columnMapping.mode"
#define MAPPING_MAX_ID   "delta.columnMapping.maxColumnId"
#define MAPPING_ID_KEY   "delta.columnMapping.id"
#define MAPPING_NAME_KEY "delta.columnMapping.physicalName"

/* ERR_DAMAGED (DELTA-L06): a column without name or id, or with another one's. ERR_UNSUPPORTED
 * (DELTA-P10): an unknown mode. */
bool mapping_parse(Header *header, Err *err) MUST_CHECK;
/* `schema` begins with the columns of `base`; those behind them get new names and ids, or the ones
 * that `wrote` (may be NULL) was written with. */
ColumnMapping  mapping_extend(Arena *arena, Rng *rng, const ColumnMapping *base,
                              const Schema *schema, const DeltaAdd *wrote);
ColumnMapping *mapping_copy(Arena *arena, const ColumnMapping *mapping);
bool mapping_same_column(const ColumnMapping *left, size_t left_index, const ColumnMapping *right,
                         size_t right_index);

/* --- state of a version (1.7), replay.c --- */
typedef struct LiveFile {
    DeltaFile file;       /* first: its address is what callers hold */
    uint32_t  key_len;    /* from the path on, with the deletion vector's id behind a NUL byte */
    uint32_t  bytes : 31; /* of its memory */
    uint32_t  has_dv : 1;
} LiveFile;

Str live_file_key(const LiveFile *live);

/* The live files by key; owns them. file_set.c */
typedef struct FileSet FileSet;

FileSet *file_set_new(void);
void     file_set_close(FileSet *set); /* accepts NULL */
/* Memory of files, in the set or about to be; several threads may ask at once. Not zeroed but for
 * `bytes`. */
LiveFile *file_set_alloc(FileSet *set, size_t bytes);
void      file_set_free(LiveFile *live); /* accepts NULL */
size_t    file_set_count(const FileSet *set);
void      file_set_reserve(FileSet *set, size_t count);
/* That key will be looked for soon: a hint to the processor. */
void      file_set_expect(const FileSet *set, Str key);
LiveFile *file_set_find(const FileSet *set, Str key); /* NULL if absent */
/* Another live file of the same path, with another vector or none: the log is damaged. */
bool file_set_has_twin(const FileSet *set, const LiveFile *live);
/* Both give the file that was there, which is the caller's to free now, or NULL. */
LiveFile *file_set_put(FileSet *set, LiveFile *live);
LiveFile *file_set_remove(FileSet *set, Str key);
/* for (size_t at = 0; (live = file_set_next(set, &at));) */
LiveFile *file_set_next(const FileSet *set, size_t *at);

typedef struct Tombstone {
    Str     key, path;
    int64_t deletion_ms;
    Str     members;
} Tombstone;

typedef struct TxnEntry {
    Str     app_id;
    int64_t version;
    int64_t last_updated_ms;
} TxnEntry;

typedef struct DomainEntry {
    Str domain, configuration;
} DomainEntry;

/* Every entry is a block of its own, freed when the log moves past it: a table that is refreshed
 * for weeks holds what is live. */
typedef struct LogState {
    int64_t     version;
    int64_t     in_commit_ms; /* of the newest commit seen, -1 */
    Str         protocol_raw; /* newest seen; blocks of their own */
    Str         metadata_raw;
    Header     *header; /* of these, when parsed */
    FileSet    *files;
    StatsForms *forms; /* of the statistics of these */
    Arena      *scratch;
    StatsPacker packer;     /* in scratch */
    Map        *tombstones; /* key -> Tombstone */
    Map        *txns;       /* app id -> TxnEntry */
    Map        *domains;    /* domain -> DomainEntry */
    bool        has_dv;
    size_t      sweep_at; /* tombstones that make it worth while to look for expired ones */
} LogState;

/* What the winners of a lost race did (2.11). */
typedef struct LogChanges {
    Arena  *arena; /* of the names; NULL: nobody wants them */
    int64_t commit_count;
    bool    has_data_adds; /* dataChange */
    bool    has_data_removes;
    bool    has_rearranged; /* removes without dataChange */
    bool    has_metadata;
    bool    has_protocol;
    bool    has_lowered_protocol;
    bool    may_have_any_domain; /* they could not be read */
    LIST(Str) domains;           /* set or removed */
} LogChanges;

/* The key of a file in the maps: its path, with the deletion vector's id behind a NUL byte. */
Str       log_state_key(Arena *arena, Str path, Str dv_id);
LogState *log_state_new(void);
void      log_state_close(LogState *state); /* accepts NULL */
void      log_state_apply(LogState *state, const LogPlace *place, const Action *action);
void      log_state_add(LogState *state, const AddAction *add);
/* The same in two steps. Several threads may make files at once, one a packer. */
LiveFile *log_state_make_file(LogState *state, StatsPacker *packer, const AddAction *add);
void      log_state_put_file(LogState *state, LiveFile *live);
/* All the actions of one commit, or none when one of them is damaged or the header they give
 * cannot be read. New deletion vectors are looked at last: the state holds the commit when one of them is
 * refused, and every scan of its file says so again. `changes` may be NULL. */
bool log_state_apply_commit(LogState *state, const LogPlace *place, int64_t version, Str text,
                            Str file, bool check, LogChanges *changes, Err *err) MUST_CHECK;
/* What cannot be parsed may be written for readers of a later protocol, and that is the better
 * message. */
void log_prefer_protocol_error(const LogPlace *place, int64_t version, Str protocol_raw, Err *err);
/* DELTA-L05, L06, then the header's checks. */
bool log_state_finish(LogState *state, const LogPlace *place, Err *err) MUST_CHECK;
/* Forgets tombstones that no checkpoint would keep. */
void log_state_drop_expired(LogState *state, int64_t now_ms);

/* --- log segment (1.2, 1.3), segment.c, last_checkpoint.c --- */
typedef struct LastCheckpoint {
    int64_t version;
    int64_t add_count; /* -1: it does not say */
} LastCheckpoint;

/* False: no hint, or none to be trusted. ERR_UNSUPPORTED in `err` when it announces adaptive
 * metadata. */
bool last_checkpoint_read(const LogPlace *place, Arena *arena, LastCheckpoint *out, Err *err);
/* The canonical form of 1.3, whose MD5 the hint may carry. */
Str last_checkpoint_canonical(JsonText object, Arena *arena);

typedef struct LogSegment {
    int64_t version;            /* it leads to */
    int64_t checkpoint_version; /* NO_VERSION: replay from 0 */
    Str    *checkpoint_names;   /* the parts in order */
    size_t  checkpoint_count;
    bool    checkpoint_is_json;
    int64_t hinted_adds; /* numOfAddFiles of the hint, -1: none that is about this checkpoint */
} LogSegment;

/* `target` NO_VERSION: the newest. Checkpoints at or above `checkpoint_below` are not used (they
 * turned out damaged). */
bool segment_find(const LogPlace *place, int64_t target, int64_t checkpoint_below, Arena *arena,
                  LogSegment *out, Err *err) MUST_CHECK;

/* The state of the segment's checkpoint; nothing when it has none. load_checkpoint.c */
bool checkpoint_load(LogState *state, const LogPlace *place, const LogSegment *segment,
                     Err *err) MUST_CHECK;

/* --- table.c --- */
/* A staging without files, for the next writer of its purpose: to make and remove its folder each time costs as much
 * as a small file's own writes. */
typedef struct KeptStaging {
    StoreStaging *staging; /* NULL: none */
    Arena        *arena;   /* of the purpose; NULL: none was kept yet */
    Str           purpose;
} KeptStaging;

struct DeltaTable {
    DeltaContext *context;
    Arena        *arena; /* the paths */
    LogPlace      place;
    LogState     *state;
    int64_t       checkpoint_version; /* newest known, NO_VERSION */
    int64_t       listed_ns;          /* monotonic time of the last listing */
    int64_t       cleaned_day;        /* UTC day of the last log cleanup, 0 */
    bool          has_warned;         /* of txn entries that may be dropped too early */
    KeptStaging   kept;
};

bool          table_refresh(DeltaTable *table, LogChanges *changes, Err *err) MUST_CHECK;
const Header *table_header(const DeltaTable *table);
/* Closes the staging that is kept, if there is one. */
void table_drop_staging(DeltaTable *table);

/* --- history.c --- */
/* A commit that the log still holds, and its time (1.14). */
typedef struct CommitFile {
    int64_t version;
    int64_t modified_ms;
} CommitFile;

/* The newest commit at or before a time, with its time; NO_VERSION: none that the log holds.
 * `newest` stands at the newest version. */
bool log_find_as_of(const DeltaTable *newest, int64_t at_ms, CommitFile *out,
                    CommitFile *oldest_out, Err *err) MUST_CHECK;
/* inCommitTimestamp of a commit; ERR_DAMAGED when it has none. */
bool log_read_in_commit_ms(const LogPlace *place, int64_t version, int64_t *out,
                           Err *err) MUST_CHECK;

/* --- writing --- */
/* The in-commit timestamp of the next commit (2.6), in_commit.c. */
#define IN_COMMIT_ENABLED           "delta.enableInCommitTimestamps"
#define IN_COMMIT_ENABLED_VERSION   "delta.inCommitTimestampEnablementVersion"
#define IN_COMMIT_ENABLED_TIMESTAMP "delta.inCommitTimestampEnablementTimestamp"

typedef struct InCommit {
    int64_t ms;       /* -1: the table has none */
    bool    is_first; /* this commit switches them on */
} InCommit;
bool in_commit_plan(DeltaTable *table, const DeltaCommit *commit, int64_t now_ms, InCommit *out,
                    Err *err) MUST_CHECK;
/* Stats text of a file just written (2.4), stats.c. */
typedef struct StatsPlan {
    bool  *is_indexed; /* per column */
    size_t string_prefix_chars;
    bool   says_tight; /* the table supports deletion vectors: bounds may be wide elsewhere */
} StatsPlan;

StatsPlan stats_plan_new(const Header *header, const Schema *schema, bool has_clustering,
                         Arena *arena);
Str stats_format(const Schema *schema, const StatsPlan *plan, const DuckFile *file, Arena *arena);
/* One bound as it stands in the JSON; false: leave it out. */
bool stats_format_bound(ColumnType type, Str text, bool is_max, size_t prefix_chars, Arena *arena,
                        Str *out);
/* Bounds of strings cut by code points; false: no upper bound fits. */
Str  stats_string_min(Str text, size_t prefix_chars);
bool stats_string_max(Str text, size_t prefix_chars, Arena *arena, Str *out);

/* One commit file, put where there is none. PUT_TAKEN: another writer has that version. A lost
 * answer is settled by reading it back. */
typedef enum PutOutcome { PUT_DONE, PUT_TAKEN } PutOutcome;
bool log_put_commit(const LogPlace *place, int64_t version, Str text, Str txn_id, PutOutcome *out,
                    Err *err) MUST_CHECK;
/* Full jitter: 50 ms doubling to 5 s. `attempt` from 1. */
bool log_back_off(DeltaContext *context, int attempt, Err *err) MUST_CHECK;
/* Removes the file of an add that was published under a name nobody else has and is known to be in
 * no commit. */
void table_remove_unused(DeltaTable *table, const DeltaAdd *add);
#define COMMIT_ATTEMPTS       20
#define COMMIT_QUIET_ATTEMPTS 2 /* lost races before one is worth a warning */
/* ERR_CANCELLED when somebody wants us to stop. */
bool log_check_cancel(const DeltaContext *context, Err *err) MUST_CHECK;

/* Text of a commit (2.5), commit_text.c. */
typedef struct CommitHead {
    int64_t          version; /* it will get */
    int64_t          now_ms;
    int64_t          in_commit_ms; /* -1: not active */
    Str              operation;
    const DeltaPair *parameters;
    size_t           parameter_count;
    const DeltaPair *metrics;
    size_t           metric_count;
    Str              user_metadata;
    Str              txn_id;
    bool             is_blind_append;
} CommitHead;

void commit_write_info(Buf *buf, const DeltaContext *context, const CommitHead *head);
void commit_write_raw(Buf *buf, const char *action, Str body); /* a line {"action":body} */
void commit_write_txn(Buf *buf, const DeltaTxn *txn, int64_t now_ms);
void commit_write_domain(Buf *buf, const DeltaDomain *domain);
void commit_write_add(Buf *buf, const DeltaAdd *add, bool data_change);
void commit_write_vector(Buf *buf, const DeltaFile *file, const DeltaDeletion *deletion);
void commit_write_remove(Buf *buf, const DeltaFile *file, int64_t now_ms, bool data_change);

/* --- checkpoint.c --- */
/* After an own commit: every delta.checkpointInterval versions, when others left theirs out, and
 * when forced. Failures are logged. */
void checkpoint_when_due(DeltaTable *table, bool is_forced);

/* The block allocations of long-lived strings. */
Str  block_str(Str text);
void block_free(Str text);

#endif
