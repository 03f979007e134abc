/* mssql_select.c - SELECT lists of captured columns, the columns of bronze's rows, and columns that
 * hold one value throughout. */
#include "source/mssql_internal.h"

#include "base/list.h"

const CapturedColumn *capture_find_newest(const CaptureInstance *instances, size_t count, Str name)
{
    for (size_t i = count; i-- > 0;) {
        const CapturedColumn *column = capture_find_column(&instances[i], name);
        if (column) return column;
    }
    return NULL;
}

const CapturedColumn *capture_find_column(const CaptureInstance *instance, Str name)
{
    const CapturedColumn *found = NULL;

    for (size_t i = 0; i < instance->column_count; i++) {
        const CapturedColumn *column = &instance->columns[i];
        if (str_equal(column->name, name)) return column;
        if (!found && str_equal_ignoring_case(column->name, name)) found = column;
    }
    return found;
}

/* Types of more than 8,000 bytes: read one by one, after all others (1.2). */
static bool is_long(const CapturedColumn *column)
{
    switch (column->sql_type) {
    case SQL_TYPE_TEXT:
    case SQL_TYPE_NTEXT:
    case SQL_TYPE_XML:
    case SQL_TYPE_IMAGE: return true;
    default: return str_ends_with(column->sql_type_name, STR("(max)"));
    }
}

static bool check_readable(const CaptureInstance *instance, const CapturedColumn *column, Err *err)
{
    if (!mssql_check_identifier(column->name, err)) return false;
    return column->has_type ||
           err_set(err, ERR_UNSUPPORTED,
                   "capture instance %.*s: column %.*s has type %.*s, which has no type in the "
                   "lake; leave it out with the "
                   "columns option",
                   STR_ARG(instance->name), STR_ARG(column->name), STR_ARG(column->sql_type_name));
}

bool mssql_select_list(const CaptureInstance *instances, size_t instance_count,
                       const Schema *wanted, bool from_source, const char *alias, Arena *arena,
                       SelectList *out, Err *err)
{
    Buf        buf       = buf_new(arena, 0);
    ptrdiff_t *positions = ARENA_ARRAY(arena, ptrdiff_t, wanted->column_count + 1);
    size_t     count     = 0;

    for (size_t i = 0; i < wanted->column_count; i++)
        positions[i] = -1;
    for (int pass_long = 0; pass_long <= 1; pass_long++)
        for (size_t i = 0; i < wanted->column_count; i++) {
            const CapturedColumn *column = capture_find_newest(instances, instance_count,
                                                               wanted->columns[i].name);

            if (!column || column->is_computed || (from_source && !column->is_in_source))
                continue; /* NULL */
            if (is_long(column) != (pass_long == 1)) continue;
            if (!check_readable(&instances[instance_count - 1], column, err)) return false;
            if (count > 0) buf_append_c(&buf, ", ");
            buf_printf(&buf, "%s.", alias);
            buf_append_identifier(&buf, column->name);
            positions[i] = (ptrdiff_t)count++;
        }
    *out = (SelectList){buf_str(&buf), positions, count};
    return true;
}

/* --- columns of one value --- */

ColumnVector null_column(Arena *arena, ColumnType type, size_t row_count)
{
    return (ColumnVector){type, arena_alloc_array(arena, row_count + 1, column_type_width(type)),
                          ARENA_ARRAY(arena, uint64_t, row_count / 64 + 1)};
}

ColumnVector str_column(Arena *arena, Str value, size_t row_count)
{
    Str *data = ARENA_ARRAY(arena, Str, row_count + 1);

    for (size_t i = 0; i < row_count; i++)
        data[i] = value;
    return (ColumnVector){COLUMN_TYPE(TYPE_STRING), data, NULL};
}

ColumnVector i32_column(Arena *arena, int32_t value, size_t row_count)
{
    int32_t *data = ARENA_ARRAY(arena, int32_t, row_count + 1);

    for (size_t i = 0; i < row_count; i++)
        data[i] = value;
    return (ColumnVector){COLUMN_TYPE(TYPE_INTEGER), data, NULL};
}

ColumnVector time_column(Arena *arena, OptTime value, size_t row_count)
{
    if (!value.is_set) return null_column(arena, COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), row_count);

    int64_t *data = ARENA_ARRAY(arena, int64_t, row_count + 1);
    for (size_t i = 0; i < row_count; i++)
        data[i] = value.utc_us;
    return (ColumnVector){COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), data, NULL};
}

/* --- bronze's rows --- */

static void add_column(Column *columns, size_t *count, const char *name, TypeKind kind,
                       const char *comment)
{
    columns[(*count)++] = (Column){str_from_c(name), COLUMN_TYPE(kind), str_from_c(comment)};
}

Schema bronze_row_schema(Arena *arena, const Schema *captured, bool include_command_id)
{
    Column *columns = ARENA_ARRAY(arena, Column, captured->column_count + 9);
    size_t  count   = 0;

    add_column(columns, &count, "_capture_instance", TYPE_STRING,
               "capture instance the row was read from");
    add_column(
        columns, &count, "_start_lsn", TYPE_STRING,
        "commit LSN of the transaction; of a snapshot row, the LSN recorded before it was read");
    add_column(columns, &count, "_seqval", TYPE_STRING,
               "log position of the change inside the transaction; NULL in snapshot rows");
    add_column(columns, &count, "_operation", TYPE_INTEGER,
               "1 delete, 2 insert, 3 update before, 4 update after, 0 snapshot");
    if (include_command_id)
        add_column(columns, &count, "_command_id", TYPE_INTEGER,
                   "order of the statement inside the transaction, per capture instance");
    add_column(columns, &count, "_commit_ts", TYPE_TIMESTAMP_NTZ, "commit time, UTC");
    for (size_t i = 0; i < captured->column_count; i++)
        columns[count++] = captured->columns[i];
    add_column(columns, &count, "_batch_id", TYPE_INTEGER,
               "micro-batch that wrote the row; NULL in snapshot rows");
    add_column(columns, &count, "_snapshot", TYPE_STRING,
               "LSN of the snapshot the row belongs to; NULL in change rows");
    add_column(columns, &count, "_chunk", TYPE_INTEGER,
               "chunk of the snapshot's plan, from 0; NULL otherwise");
    return (Schema){columns, count};
}
