/* catalog_view.c - finding a view by name, and filling its rows. */
#include "sim/catalog_internal.h"

SimValue *view_row(VirtualRows *rows)
{
    SimValue *row = ARENA_ARRAY(rows->arena, SimValue, rows->column_count + 1);

    for (size_t i = 0; i < rows->column_count; i++)
        row[i] = sim_null(rows->source->columns[i].type);
    *LIST_PUSH(rows->arena, &rows->rows) = row;
    return row;
}

void view_set(VirtualRows *rows, SimValue *row, const char *column, SimValue value)
{
    SimError error = SIM_ERROR_INIT;
    Str      name  = str_from_c(column);

    if (value.is_null) return;
    for (size_t i = 0; i < rows->column_count; i++) {
        const BoundColumn *bound = &rows->source->columns[i];
        if (!str_equal(str_from_c(rows->source->virtual_table->columns[i].name), name)) continue;
        if (!sim_convert(&value, &bound->type, 0, false, rows->arena, &row[i], &error))
            row[i] = sim_null(bound->type);
        return;
    }
}

static const VirtualTable *find_in(const VirtualTable *tables, Str schema, Str name)
{
    for (; tables->name; tables++)
        if (sim_name_equal(str_from_c(tables->name), name) &&
            sim_name_equal(str_from_c(tables->schema), schema))
            return tables;
    return NULL;
}

const VirtualTable *virtual_table_find(Str schema, Str name)
{
    const VirtualTable *lists[] = {catalog_object_views, catalog_server_views, catalog_cdc_views,
                                   catalog_functions};

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const VirtualTable *found = find_in(lists[i], schema, name);
        if (found) return found;
    }
    return NULL;
}

/* --- functions in FROM --- */
static const VirtualColumn series_columns[] = {{"value", "bigint"}};

static bool series_step(Exec *exec, BoundSource *source, const SimValue *start,
                        const SimValue *stop, SimValue *out)
{
    int order = 0;

    if (source->arg_count == 3) {
        const SimValue *step = node_eval(source->args[2], exec);
        if (!step) return false;
        *out = *step;
        return true;
    }
    if (!sim_compare(start, stop, &order, exec->error)) return false;
    SimValue one = sim_int(order > 0 ? -1 : 1, SIM_INT);
    return sim_convert(&one, &source->args[0]->type, 0, true, exec->scratch, out, exec->error);
}

static bool fill_series(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimValue       bounds[2], step, at;
    int            direction = 0, order = 0;
    SimValue       zero = sim_int(0, SIM_INT);
    const SimType *type = &source->args[0]->type;

    for (size_t i = 0; i < 2; i++) {
        const SimValue *value = node_eval(source->args[i], exec);
        if (!value) return false;
        if (value->is_null) return true;
        bounds[i] = *value;
    }
    if (!series_step(exec, source, &bounds[0], &bounds[1], &step)) return false;
    if (step.is_null) return true;
    if (!sim_compare(&step, &zero, &direction, exec->error)) return false;
    if (direction == 0)
        return sim_error(exec->error, 4199,
                         "Argument value 0 is invalid for argument 3 of generate_series function.");
    for (at = bounds[0];;) {
        if (!sim_compare(&at, &bounds[1], &order, exec->error)) return false;
        if (direction > 0 ? order > 0 : order < 0) return true;
        SimValue *row = view_row(rows), next;
        row[0]        = at;
        if (sim_type_is_integer(type->kind)) { /* past the end of the type there is nothing */
            if (__builtin_add_overflow(at.i64, step.i64, &at.i64)) return true;
            continue;
        }
        if (!sim_arithmetic('+', &at, &step, rows->arena, &next, exec->error)) return false;
        if (!sim_convert(&next, type, 0, true, rows->arena, &at, exec->error)) return false;
    }
}

static const VirtualColumn split_columns[] = {{"value", "nvarchar(4000)"}};

static bool fill_split(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    Str parts[2], rest, part;

    for (size_t i = 0; i < 2; i++) {
        const SimValue *value = i < source->arg_count ? node_eval(source->args[i], exec) : NULL;
        if (i < source->arg_count && !value) return false;
        if (!value || value->is_null) return true;
        parts[i] = sim_value_text(rows->arena, value);
    }
    if (parts[1].len != 1)
        return sim_error(exec->error, 214,
                         "Procedure expects parameter 'separator' of type 'nchar(1)/nvarchar(1)'.");
    rest = parts[0];
    while (str_split_next(&rest, parts[1].ptr[0], &part))
        view_set(rows, view_row(rows), "value", value_text(rows->arena, part));
    return true;
}

const VirtualTable catalog_functions[] = {
    {.schema       = "",
     .name         = "GENERATE_SERIES",
     .columns      = series_columns,
     .column_count = 1,
     .fill         = fill_series,
     .is_function  = true},
    {.schema       = "",
     .name         = "STRING_SPLIT",
     .columns      = split_columns,
     .column_count = 1,
     .fill         = fill_split,
     .is_function  = true},
    {.name = NULL},
};
