/* catalog_constraint.c - views of constraints, and of the columns that compute themselves or count. */
#include "sim/catalog_internal.h"

#define TEXT(value) value_text(rows->arena, (value))
#define INT(value)  value_int((value))
#define BIT(value)  value_bit((value))

/* clang-format off */
#define OBJECT_COLUMNS                                                                      \
    {"name", "sysname"},           {"object_id", "int"},        {"principal_id", "int"},    \
    {"schema_id", "int"},          {"parent_object_id", "int"}, {"type", "char(2)"},        \
    {"type_desc", "nvarchar(60)"}, {"create_date", "datetime"}, {"modify_date", "datetime"},\
    {"is_ms_shipped", "bit"},      {"is_published", "bit"},     {"is_schema_published", "bit"}
#define COLUMN_COLUMNS                                                                      \
    {"object_id", "int"},          {"name", "sysname"},         {"column_id", "int"},       \
    {"system_type_id", "tinyint"}, {"user_type_id", "int"},     {"max_length", "smallint"}, \
    {"precision", "tinyint"},      {"scale", "tinyint"},        {"collation_name", "sysname"}, \
    {"is_nullable", "bit"},        {"is_ansi_padded", "bit"},   {"is_rowguidcol", "bit"},   \
    {"is_identity", "bit"},        {"is_computed", "bit"},      {"is_filestream", "bit"},   \
    {"is_replicated", "bit"},      {"is_sparse", "bit"},        {"is_column_set", "bit"}
/* clang-format on */

typedef void (*ConstraintRow)(VirtualRows *rows, SimValue *row, const ObjectFacts *facts);

static bool fill_constraints(VirtualRows *rows, Exec *exec, BoundSource *source, bool defaults,
                             ConstraintRow fill)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        size_t              next = 0;
        ObjectFacts         facts;
        while (view_next_constraint(info, &next, &facts))
            if ((facts.column != NULL) == defaults)
                fill(rows, view_object_row(rows, source->database, info, &facts), &facts);
    }
    return true;
}

static const VirtualColumn key_columns[] = {
    OBJECT_COLUMNS, {"unique_index_id", "int"}, {"is_system_named", "bit"}, {"is_enforced", "bit"}};

static void key_row(VirtualRows *rows, SimValue *row, const ObjectFacts *facts)
{
    view_set(rows, row, "unique_index_id", INT(facts->index->index_id));
    view_set(rows, row, "is_system_named", BIT(facts->is_system_named));
    view_set(rows, row, "is_enforced", BIT(true));
}

static bool fill_keys(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    return fill_constraints(rows, exec, source, false, key_row);
}

static const VirtualColumn default_columns[] = {OBJECT_COLUMNS,
                                                {"parent_column_id", "int"},
                                                {"definition", "nvarchar(max)"},
                                                {"is_system_named", "bit"}};

static void default_row(VirtualRows *rows, SimValue *row, const ObjectFacts *facts)
{
    view_set(rows, row, "parent_column_id", INT(facts->column->column_id));
    view_set(rows, row, "definition",
             TEXT(expr_definition(rows->arena, facts->column->default_value)));
    view_set(rows, row, "is_system_named", BIT(facts->is_system_named));
}

static bool fill_defaults(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    return fill_constraints(rows, exec, source, true, default_row);
}

/* --- columns with more to say --- */
static const VirtualColumn identity_columns[] = {COLUMN_COLUMNS,
                                                 {"seed_value", "sql_variant"},
                                                 {"increment_value", "sql_variant"},
                                                 {"last_value", "sql_variant"},
                                                 {"is_not_for_replication", "bit"},
                                                 {"is_hidden", "bit"}};

static SimValue of_type(VirtualRows *rows, const SimType *type, int64_t number)
{
    SimError ignored = SIM_ERROR_INIT;
    SimValue value = value_bigint(number), out = value;

    return sim_convert(&value, type, 0, false, rows->arena, &out, &ignored) ? out : value;
}

static bool fill_identities(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->column_count; i++) {
            const SimColumn *column = &info->columns[i];
            int64_t          last   = 0;
            if (!column->is_identity ||
                !view_column_is_visible(exec, source->database, table, column))
                continue;
            SimValue *row = view_column_row(rows, info, column);
            view_set(rows, row, "seed_value", of_type(rows, &column->type, column->identity_seed));
            view_set(rows, row, "increment_value",
                     of_type(rows, &column->type, column->identity_step));
            if (sim_table_identity_last(table, &last))
                view_set(rows, row, "last_value", of_type(rows, &column->type, last));
            view_set(rows, row, "is_not_for_replication", BIT(false));
            view_set(rows, row, "is_hidden", BIT(false));
        }
    }
    return true;
}

static const VirtualColumn computed_columns[] = {COLUMN_COLUMNS,
                                                 {"definition", "nvarchar(max)"},
                                                 {"uses_database_collation", "bit"},
                                                 {"is_persisted", "bit"},
                                                 {"is_hidden", "bit"}};

static bool fill_computed(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->column_count; i++) {
            const SimColumn *column = &info->columns[i];
            if (!column->is_computed ||
                !view_column_is_visible(exec, source->database, table, column))
                continue;
            SimValue *row = view_column_row(rows, info, column);
            if (column->computed)
                view_set(rows, row, "definition",
                         TEXT(expr_definition(rows->arena, column->computed)));
            view_set(rows, row, "uses_database_collation", BIT(true));
            view_set(rows, row, "is_persisted", BIT(column->is_persisted));
            view_set(rows, row, "is_hidden", BIT(false));
        }
    }
    return true;
}

const VirtualTable catalog_constraint_views[] = {
    VIEW("sys", "key_constraints", key_columns, fill_keys),
    VIEW("sys", "default_constraints", default_columns, fill_defaults),
    VIEW("sys", "identity_columns", identity_columns, fill_identities),
    VIEW("sys", "computed_columns", computed_columns, fill_computed),
    {.name = NULL},
};
