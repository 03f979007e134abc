/* mssql_cut.c - the columns a table is cut along, and whether it can be (algorithms.md 3.2, 4.7). */
#include "source/mssql_cut_internal.h"

const CaptureInstance *table_newest(const CaptureTable *table)
{
    return &table->instances[table->instance_count - 1];
}

void append_read_prefix(const Mssql *mssql, bool with_isolation, Buf *buf)
{
    if (mssql->options.lock_timeout_ms >= 0)
        buf_printf(buf, "SET LOCK_TIMEOUT %lld; ", (long long)mssql->options.lock_timeout_ms);
    if (with_isolation && mssql->options.isolation_snapshot)
        buf_append_c(buf, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; ");
}

bool table_name(const CaptureTable *table, Arena *arena, Str *out, Err *err)
{
    const CaptureInstance *instance = table_newest(table);

    if (!mssql_check_identifier(instance->source_schema, err) ||
        !mssql_check_identifier(instance->source_table, err))
        return false;
    *out = str_printf(arena, "%.*s.%.*s", STR_ARG(mssql_quote(arena, instance->source_schema)),
                      STR_ARG(mssql_quote(arena, instance->source_table)));
    return true;
}

static void note(Arena *arena, Str *reason, const CapturedColumn *column, const char *text)
{
    if (reason->len == 0)
        *reason = str_printf(arena, "%.*s (%.*s) %s", STR_ARG(column->name),
                             STR_ARG(column->sql_type_name), text);
}

/* Why a column cannot be cut along, whoever chose it. */
static void check_bound(const CapturedColumn *column, bool can, Arena *arena, TableCut *cut)
{
    if (!column->is_in_source)
        note(arena, &cut->why_not, column, "is no longer a column of the table");
    else if (column->is_computed)
        note(arena, &cut->why_not, column, "is computed");
    else if (!can && (column->sql_type == SQL_TYPE_CHAR || column->sql_type == SQL_TYPE_VARCHAR))
        note(arena, &cut->why_not, column, "has a collation that the login cannot see");
    else if (!can)
        note(arena, &cut->why_not, column,
             "has a type whose values cannot be told to the server exactly");
    else
        return;
    cut->can_bound = false;
}

/* Why a column that a unique index may have is no choice of one's own. */
static void check_choice(const CapturedColumn *column, Arena *arena, TableCut *cut)
{
    if (column->sql_type == SQL_TYPE_BIT)
        note(arena, &cut->why_refused, column, "cannot be cut along: it has no order to speak of");
    if (column->sql_type == SQL_TYPE_ROWVERSION)
        note(arena, &cut->why_refused, column,
             "cannot be cut along: every update moves its row past the end");
}

static bool same_names(const Str *left, size_t left_count, const Str *right, size_t right_count)
{
    if (left_count != right_count) return false;
    for (size_t i = 0; i < left_count; i++)
        if (!str_equal(left[i], right[i])) return false;
    return true;
}

/* The range between two keys of n columns takes about n^3 / 2 parameters, of which a statement may have 2,100: 15 columns
 * take 1,934. */
#define CUT_COLUMNS_MAX 15

static void check_count(size_t count, Arena *arena, TableCut *cut)
{
    if (count <= CUT_COLUMNS_MAX) return;
    cut->can_bound = false;
    cut->why_not   = str_printf(arena,
                                "a key of %zu columns is more than a statement has parameters "
                                  "for, which is %d columns",
                                count, CUT_COLUMNS_MAX);
}

bool mssql_cut_table(const CaptureTable *table, const Str *names, size_t name_count, Arena *arena,
                     TableCut *out, Err *err)
{
    const CaptureInstance *configured = &table->instances[table->configured];
    bool                   is_choice  = name_count > 0;
    const Str             *wanted     = is_choice ? names : configured->key_columns;
    size_t                 count      = is_choice ? name_count : configured->key_column_count;
    KeyColumn             *columns    = ARENA_ARRAY(arena, KeyColumn, count + 1);
    Str                   *kept       = ARENA_ARRAY(arena, Str, count + 1);

    *out = (TableCut){.names = kept, .columns = columns, .column_count = count, .can_bound = true};
    for (size_t i = 0; i < count; i++) {
        const CapturedColumn *column = capture_find_newest(table->instances, table->instance_count,
                                                           wanted[i]);
        bool                  can;

        if (!column)
            return err_set(err, ERR_USAGE,
                           "snapshot_keys names %.*s, which capture instance %.*s does not capture",
                           STR_ARG(wanted[i]), STR_ARG(table_newest(table)->name));
        if (!key_column_plan(column, i + 1 == count, count == 1, arena, &columns[i], &can, err))
            return false;
        kept[i] = column->name;
        for (size_t earlier = 0; earlier < i; earlier++)
            if (str_equal(kept[earlier], kept[i]))
                return err_set(err, ERR_USAGE, "snapshot_keys names %.*s twice", STR_ARG(kept[i]));
        check_bound(column, can, arena, out);
        if (is_choice) check_choice(column, arena, out);
    }
    check_count(count, arena, out);
    if (count == 0) {
        out->can_bound = false;
        out->why_not   = STR("the table has no unique index that CDC knows");
    }
    if (is_choice && out->why_refused.len == 0) out->why_refused = out->why_not;
    out->is_integer = out->can_bound && columns[0].is_inlined;
    out->may_repeat = is_choice && !same_names(kept, count, configured->key_columns,
                                               configured->key_column_count);
    return true;
}

SqlTypeKind cut_column_type(const TableCut *cut, size_t index)
{
    return cut->columns[index].sql_type;
}
