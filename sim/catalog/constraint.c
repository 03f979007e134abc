/* constraint.c - views of constraints, and of the columns that compute themselves or count. */
#include "sim/catalog/catalog_internal.h"

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
typedef bool (*ConstraintTest)(const ObjectFacts *facts);

static bool is_key(const ObjectFacts *facts)
{
    return facts->index != NULL;
}
static bool is_default(const ObjectFacts *facts)
{
    return facts->column != NULL;
}
static bool is_check(const ObjectFacts *facts)
{
    return facts->constraint && facts->constraint->kind == SIM_CONSTRAINT_CHECK;
}
static bool is_foreign_key(const ObjectFacts *facts)
{
    return facts->constraint && facts->constraint->kind == SIM_CONSTRAINT_FOREIGN_KEY;
}

static bool fill_constraints(VirtualRows *rows, Exec *exec, BoundSource *source,
                             ConstraintTest test, ConstraintRow fill)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        size_t              next = 0;
        ObjectFacts         facts;
        while (view_next_constraint(info, &next, &facts))
            if (test(&facts))
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
    return fill_constraints(rows, exec, source, is_key, key_row);
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
    return fill_constraints(rows, exec, source, is_default, default_row);
}

static const VirtualColumn check_columns[] = {OBJECT_COLUMNS,
                                              {"is_disabled", "bit"},
                                              {"is_not_for_replication", "bit"},
                                              {"is_not_trusted", "bit"},
                                              {"parent_column_id", "int"},
                                              {"definition", "nvarchar(max)"},
                                              {"uses_database_collation", "bit"},
                                              {"is_system_named", "bit"}};

static void check_row(VirtualRows *rows, SimValue *row, const ObjectFacts *facts)
{
    const SimConstraint *check = facts->constraint;

    view_set(rows, row, "is_disabled", BIT(check->is_disabled));
    view_set(rows, row, "is_not_for_replication", BIT(false));
    view_set(rows, row, "is_not_trusted", BIT(check->is_not_trusted));
    view_set(rows, row, "parent_column_id", INT(check->column_id));
    view_set(rows, row, "definition", TEXT(expr_definition(rows->arena, check->check)));
    view_set(rows, row, "uses_database_collation", BIT(true));
    view_set(rows, row, "is_system_named", BIT(check->is_system_named));
}

static bool fill_checks(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    return fill_constraints(rows, exec, source, is_check, check_row);
}

/* --- foreign keys --- */
static const VirtualColumn foreign_columns[] = {OBJECT_COLUMNS,
                                                {"referenced_object_id", "int"},
                                                {"key_index_id", "int"},
                                                {"is_disabled", "bit"},
                                                {"is_not_for_replication", "bit"},
                                                {"is_not_trusted", "bit"},
                                                {"delete_referential_action", "tinyint"},
                                                {"delete_referential_action_desc", "nvarchar(60)"},
                                                {"update_referential_action", "tinyint"},
                                                {"update_referential_action_desc", "nvarchar(60)"},
                                                {"is_system_named", "bit"}};

static bool has_column(const SimConstraint *key, int32_t column_id)
{
    for (size_t i = 0; i < key->column_count; i++)
        if (key->referenced_column_ids[i] == column_id) return true;
    return false;
}

/* The unique index of the referenced table that has just these columns. */
static int32_t referenced_index(const SimTableInfo *info, const SimConstraint *key)
{
    for (size_t i = 0; i < info->index_count; i++) {
        const SimIndex *index = info->indexes[i];
        bool            fits  = index->is_unique && index->column_count == key->column_count;
        for (size_t c = 0; c < index->column_count && fits; c++)
            fits = has_column(key, index->columns[c].column_id);
        if (fits) return index->index_id;
    }
    return 0;
}

static void foreign_row(VirtualRows *rows, SimValue *row, const ObjectFacts *facts)
{
    const SimConstraint *key      = facts->constraint;
    SimDatabase         *database = rows->source->database;
    SimTable            *table = sim_database_find_table_by_id(database, key->referenced_table_id);

    view_set(rows, row, "referenced_object_id", INT(key->referenced_table_id));
    if (table)
        view_set(rows, row, "key_index_id", INT(referenced_index(sim_table_info(table), key)));
    view_set(rows, row, "is_disabled", BIT(key->is_disabled));
    view_set(rows, row, "is_not_for_replication", BIT(false));
    view_set(rows, row, "is_not_trusted", BIT(key->is_not_trusted));
    view_set(rows, row, "delete_referential_action", INT(0));
    view_set(rows, row, "delete_referential_action_desc", TEXT(STR("NO_ACTION")));
    view_set(rows, row, "update_referential_action", INT(0));
    view_set(rows, row, "update_referential_action_desc", TEXT(STR("NO_ACTION")));
    view_set(rows, row, "is_system_named", BIT(key->is_system_named));
}

static bool fill_foreign_keys(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    return fill_constraints(rows, exec, source, is_foreign_key, foreign_row);
}

static const VirtualColumn foreign_column_columns[] = {
    {"constraint_object_id", "int"}, {"constraint_column_id", "int"},
    {"parent_object_id", "int"},     {"parent_column_id", "int"},
    {"referenced_object_id", "int"}, {"referenced_column_id", "int"}};

static bool fill_foreign_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->constraint_count; i++) {
            const SimConstraint *key = &info->constraints[i];
            for (size_t c = 0; key->kind == SIM_CONSTRAINT_FOREIGN_KEY && c < key->column_count;
                 c++) {
                SimValue *row = view_row(rows);
                view_set(rows, row, "constraint_object_id", INT(key->object_id));
                view_set(rows, row, "constraint_column_id", INT((int64_t)c + 1));
                view_set(rows, row, "parent_object_id", INT(info->object_id));
                view_set(rows, row, "parent_column_id", INT(key->column_ids[c]));
                view_set(rows, row, "referenced_object_id", INT(key->referenced_table_id));
                view_set(rows, row, "referenced_column_id", INT(key->referenced_column_ids[c]));
            }
        }
    }
    return true;
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
    VIEW("sys", "check_constraints", check_columns, fill_checks),
    VIEW("sys", "foreign_keys", foreign_columns, fill_foreign_keys),
    VIEW("sys", "foreign_key_columns", foreign_column_columns, fill_foreign_columns),
    VIEW("sys", "identity_columns", identity_columns, fill_identities),
    VIEW("sys", "computed_columns", computed_columns, fill_computed),
    {.name = NULL},
};
