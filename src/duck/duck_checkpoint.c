/* duck_checkpoint.c - Delta checkpoints: the shape of the file and how it is written (delta.md
 * 2.13). */
#include "duck/duck_checkpoint.h"

#include "duck/duck_internal.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define ADD_MEMBERS                                                                                \
    "path VARCHAR, partitionValues " STRINGS ", size BIGINT, modificationTime BIGINT,"             \
    " dataChange BOOLEAN, tags " STRINGS ", deletionVector " DELETION_VECTOR ", baseRowId BIGINT," \
    " defaultRowCommitVersion BIGINT, clusteringProvider VARCHAR, stats VARCHAR"

const ActionColumn *duck_action_columns(size_t *count_out)
{
    static const ActionColumn columns[] = {
        {"txn", "STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)", NULL},
        {"add", "STRUCT(" ADD_MEMBERS ")",
            "STRUCT(" ADD_MEMBERS ", stats_parsed STRUCT(numRecords BIGINT))"},
        {"remove", "STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN,"
            " extendedFileMetadata BOOLEAN, partitionValues " STRINGS ", size BIGINT,"
            " deletionVector " DELETION_VECTOR ", baseRowId BIGINT, defaultRowCommitVersion BIGINT)", NULL},
        {"metaData", "STRUCT(id VARCHAR, name VARCHAR, description VARCHAR,"
            " format STRUCT(provider VARCHAR, options " STRINGS "), schemaString VARCHAR,"
            " partitionColumns VARCHAR[], configuration " STRINGS ", createdTime BIGINT)", NULL},
        {"protocol", "STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER,"
            " readerFeatures VARCHAR[], writerFeatures VARCHAR[])", NULL},
        {"domainMetadata", "STRUCT(domain VARCHAR, configuration VARCHAR, removed BOOLEAN)", NULL},
        {"checkpointMetadata", NULL, "STRUCT(version BIGINT, tags " STRINGS ")"},
        {"sidecar", NULL, "STRUCT(path VARCHAR, sizeInBytes BIGINT, modificationTime BIGINT, tags " STRINGS ")"},
    };
    *count_out = COUNT_OF(columns);
    return columns;
}
/* clang-format on */

/* --- writing --- */

static Str checkpoint_copy_sql(Arena *arena, Str ndjson_local, Str parquet_local,
                               const Schema *typed, size_t object_bytes)
{
    Buf                 sql   = buf_new(arena, 0);
    size_t              count = 0;
    const ActionColumn *all   = duck_action_columns(&count);
    const char         *comma = "";

    buf_append_c(&sql, "COPY (SELECT ");
    if (typed)
        duck_append_typed_select(&sql, typed);
    else
        buf_append_char(&sql, '*');
    buf_append_c(&sql, " FROM read_json(");
    duck_append_path_literal(&sql, ndjson_local);
    buf_printf(&sql, ", format = 'newline_delimited', maximum_object_size = %zu, columns = {",
               object_bytes);
    for (size_t i = 0; i < count; i++) {
        if (!all[i].written) continue;
        buf_printf(&sql, "%s'%s': '%s'", comma, all[i].name, all[i].written);
        comma = ", ";
    }
    if (typed) duck_append_typed_columns(&sql, typed);
    buf_append_c(&sql, "})) TO ");
    duck_append_literal(&sql, parquet_local);
    buf_append_c(&sql, " (FORMAT parquet, PARQUET_VERSION v1, COMPRESSION snappy, "
                       "WRITE_BLOOM_FILTER false, USE_TMP_FILE false, ROW_GROUP_SIZE 20480)");
    return buf_str(&sql);
}

#define OBJECT_BYTES_MIN ((size_t)1 << 20)
#define LINE_SCAN_BYTES  ((size_t)1 << 18)

/* libduckdb sets buffers aside for the longest line it is told to expect, so it is told the truth. A
 * file that cannot be read is libduckdb's to complain about. */
static size_t longest_line_bytes(Arena *scratch, Str ndjson_local)
{
    char  *buffer  = arena_alloc_uninit(scratch, LINE_SCAN_BYTES);
    FILE  *file    = fopen(str_c(scratch, ndjson_local), "rb");
    size_t longest = 0, current = 0, len = 0;

    while (file && (len = fread(buffer, 1, LINE_SCAN_BYTES, file)) > 0)
        for (size_t at = 0; at < len; at++) {
            const char *end  = memchr(buffer + at, '\n', len - at);
            size_t      part = end ? (size_t)(end - buffer) - at : len - at;
            current += part;
            longest = MAX(longest, current);
            if (end) current = 0;
            at += part;
        }
    if (file) (void)fclose(file);
    return longest;
}

bool duck_checkpoint_write(Duck *duck, Str ndjson_local, Str parquet_local, int64_t *row_count_out,
                           Err *err)
{
    return duck_checkpoint_write_typed(duck, ndjson_local, parquet_local, NULL, row_count_out, err);
}

bool duck_checkpoint_write_typed(Duck *duck, Str ndjson_local, Str parquet_local,
                                 const Schema *typed, int64_t *row_count_out, Err *err)
{
    DuckSession *session   = NULL;
    Arena       *scratch   = arena_new();
    int64_t      row_count = 0;
    size_t       longest   = longest_line_bytes(scratch, ndjson_local);
    Str          sql       = checkpoint_copy_sql(scratch, ndjson_local, parquet_local, typed,
                                                 MAX(longest + 1, OBJECT_BYTES_MIN));

    bool ok = duck_session_open(duck, &session, err);
    if (ok && !duck_execute(session, sql, &row_count, err)) {
        duck_discard_file(parquet_local);
        ok = false;
    }
    if (ok && row_count_out) *row_count_out = row_count;
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "writing a checkpoint");
}
