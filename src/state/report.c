/* report.c - the report's columns as data. */
#include "state/report.h"

/* Creation order. */
/* clang-format off */
static const struct {
    const char *name;
    ColumnType  type;
    const char *comment;
} report_columns[] = {
    {"run_id", {.kind = TYPE_STRING}, "Run that found the row; a UUID"},
    {"run_at", {.kind = TYPE_TIMESTAMP_NTZ}, "When the run began, UTC"},
    {"silver", {.kind = TYPE_STRING}, "Silver table that was compared, as its stream names it"},
    {"silver_version", {.kind = TYPE_LONG}, "Delta version of silver that was compared"},
    {"silver_lsn", {.kind = TYPE_STRING}, "Newest change applied to silver, read before that version"},
    {"source_lsn", {.kind = TYPE_STRING}, "Newest LSN captured, read just before the source"},
    {"bucket_lo", {.kind = TYPE_STRING}, "First key of the bucket as JSON; NULL: open below"},
    {"bucket_hi", {.kind = TYPE_STRING}, "First key after the bucket as JSON; NULL: open above"},
    {"source_rows", {.kind = TYPE_LONG}, "Rows of the bucket in the source"},
    {"source_key_sum", {.kind = TYPE_DECIMAL, .precision = 38}, "Sum of their keys as numbers"},
    {"silver_rows", {.kind = TYPE_LONG}, "Rows of the bucket in silver"},
    {"silver_key_sum", {.kind = TYPE_DECIMAL, .precision = 38}, "Sum of their keys as numbers"},
    {"status", {.kind = TYPE_STRING}, "MATCH, IN_FLIGHT or MISMATCH"},
    {"hashed", {.kind = TYPE_BOOLEAN}, "Compared row by row too"},
    {"key", {.kind = TYPE_STRING}, "Key that differs, as a JSON object"},
    {"failure_type", {.kind = TYPE_STRING}, "MISSING_TARGET, MISSING_SOURCE, RECORD_DIFF, IN_FLIGHT, CHUNK_TILING, CHUNK_ROWS or CHUNK_STAMP"},
    {"detail", {.kind = TYPE_STRING}, "What differs, as JSON"},
};
/* clang-format on */

bool report_open(DeltaContext *context, const TableRef *ref, DeltaTable **out, Err *err)
{
    Column columns[COUNT_OF(report_columns)];
    Schema schema = {.columns = columns, .column_count = COUNT_OF(report_columns)};

    for (size_t i = 0; i < COUNT_OF(report_columns); i++)
        columns[i] = (Column){.name    = str_from_c(report_columns[i].name),
                              .type    = report_columns[i].type,
                              .comment = str_from_c(report_columns[i].comment)};
    return table_ref_open_or_create(context, ref, KIND_REPORT, &schema,
                                    STR("Differences found between silver and its source"), out,
                                    err);
}
