/* silver.c - the shape of silver. */
#include "state/silver.h"

static const char *const metadata_columns[] = {
    "_capture_instance", "_start_lsn", "_seqval",   "_operation", "_command_id",
    "_commit_ts",        "_batch_id",  "_snapshot", "_chunk",
};

bool bronze_is_metadata_column(Str name)
{
    for (size_t i = 0; i < COUNT_OF(metadata_columns); i++)
        if (str_equal_ignoring_case(name, str_from_c(metadata_columns[i]))) return true;
    return false;
}

Schema silver_schema_of_bronze(Arena *arena, const Schema *bronze)
{
    Column *columns = ARENA_ARRAY(arena, Column, bronze->column_count + 2);
    size_t  count   = 0;

    for (size_t i = 0; i < bronze->column_count; i++)
        if (!bronze_is_metadata_column(bronze->columns[i].name))
            columns[count++] = bronze->columns[i];
    columns[count++] = (Column){.name    = STR("_start_lsn"),
                                .type    = COLUMN_TYPE(TYPE_STRING),
                                .comment = STR("Commit LSN of the row's current image")};
    columns[count++] = (Column){.name    = STR("_commit_ts"),
                                .type    = COLUMN_TYPE(TYPE_TIMESTAMP_NTZ),
                                .comment = STR("Its commit time, UTC")};
    return (Schema){.columns = columns, .column_count = count};
}

bool silver_open_or_create(DeltaContext *context, const TableRef *ref, const Schema *bronze,
                           bool deletion_vectors, DeltaTable **out, Err *err)
{
    Arena              *scratch = arena_new();
    Schema              schema  = silver_schema_of_bronze(scratch, bronze);
    const DeltaProperty vectors = {STR("delta.enableDeletionVectors"), STR("true")};
    bool                ok      = table_ref_open_or_make(context, ref, KIND_SILVER, &schema,
                                                         STR("Current rows of the source table, one per key"),
                                     deletion_vectors ? &vectors : NULL, out, err);

    arena_close(scratch);
    return ok;
}
