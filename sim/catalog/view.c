/* view.c - finding a view by name, and filling its rows. */
#include "sim/catalog/catalog_internal.h"

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
    SimError             error   = SIM_ERROR_INIT;
    const VirtualColumn *columns = rows->source->virtual_table->columns;
    Str                  name    = str_from_c(column);

    for (size_t i = 0; i < rows->column_count; i++) {
        size_t             at    = (rows->cursor + i) % rows->column_count;
        const BoundColumn *bound = &rows->source->columns[at];
        if (!str_equal(str_from_c(columns[at].name), name)) continue;
        rows->cursor = at + 1;
        if (value.is_null || bound->slot < 0) return; /* nobody asked */
        if (!sim_convert(&value, &bound->type, 0, false, rows->arena, &row[at], &error))
            row[at] = sim_null(bound->type);
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

static bool fill_nothing(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    (void)rows;
    (void)exec;
    (void)source;
    return true;
}

/* "name type, name type": types have no space in them. */
static const VirtualColumn *columns_of_text(Arena *arena, const char *text, size_t *count_out)
{
    LIST(VirtualColumn) columns = {0};
    Str rest                    = str_from_c(text);

    while (rest.len > 0) {
        ptrdiff_t end               = str_find(rest, STR(", "), 0);
        Str       one               = end < 0 ? rest : str_slice(rest, 0, (size_t)end);
        ptrdiff_t mid               = str_find_char(one, ' ', 0);
        Str       name              = str_slice(one, 0, (size_t)mid);
        *LIST_PUSH(arena, &columns) = (VirtualColumn){
            str_c(arena, name), str_c(arena, str_slice(one, (size_t)mid + 1, one.len))};
        rest = end < 0 ? STR_EMPTY : str_slice(rest, (size_t)end + 2, rest.len);
    }
    *count_out = columns.count;
    return columns.items;
}

static const VirtualTable *view_of_text(Arena *arena, const ViewText *text)
{
    VirtualTable *table = ARENA_NEW(arena, VirtualTable);

    *table = (VirtualTable){
        .schema = text->schema, .name = text->name, .fill = fill_nothing, .query = text->query};
    table->columns = columns_of_text(arena, text->columns, &table->column_count);
    return table;
}

const VirtualTable *virtual_table_find(Arena *arena, Str schema, Str name)
{
    const VirtualTable *lists[] = {catalog_object_views,     catalog_server_views,
                                   catalog_security_views,   catalog_activity_views,
                                   catalog_constraint_views, catalog_module_views,
                                   catalog_cdc_views,        catalog_functions};
    const ViewText     *texts[] = {catalog_schema_views, catalog_information_views,
                                   catalog_dynamic_views};

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const VirtualTable *found = find_in(lists[i], schema, name);
        if (found) return found;
    }
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        for (const ViewText *text = texts[i]; text->name; text++)
            if (sim_name_equal(str_from_c(text->name), name) &&
                sim_name_equal(str_from_c(text->schema), schema))
                return view_of_text(arena, text);
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

typedef struct Series {
    SimValue at, stop, step;
    int      direction;
    bool     is_done;
} Series;

static bool series_begin(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    Series  *series = ARENA_NEW(rows->keep, Series);
    SimValue bounds[2], step, zero = sim_int(0, SIM_INT);

    rows->state = series;
    for (size_t i = 0; i < 2; i++) {
        const SimValue *value = node_eval(source->args[i], exec);
        if (!value) return false;
        bounds[i] = *value;
    }
    series->is_done = bounds[0].is_null || bounds[1].is_null;
    if (series->is_done) return true;
    if (!series_step(exec, source, &bounds[0], &bounds[1], &step)) return false;
    series->is_done = step.is_null;
    if (step.is_null) return true;
    if (!sim_compare(&step, &zero, &series->direction, exec->error)) return false;
    if (series->direction == 0)
        return sim_error(exec->error, 4199,
                         "Argument value 0 is invalid for argument 3 of generate_series function.");
    series->at   = bounds[0];
    series->stop = bounds[1];
    series->step = step;
    return true;
}

/* A thousand at a time, so that a long series needs no memory. */
static bool fill_series(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    const SimType *type  = &source->args[0]->type;
    int            order = 0;

    if (!rows->state && !series_begin(rows, exec, source)) return false;
    Series *series = rows->state;
    while (!series->is_done && rows->rows.count < 1000) {
        if (!sim_compare(&series->at, &series->stop, &order, exec->error)) return false;
        series->is_done = series->direction > 0 ? order > 0 : order < 0;
        if (series->is_done) break;
        SimValue *row = view_row(rows), next;
        row[0]        = series->at;
        if (sim_type_is_integer(type->kind)) { /* past the end of the type there is nothing */
            series->is_done = __builtin_add_overflow(series->at.i64, series->step.i64,
                                                     &series->at.i64);
            continue;
        }
        if (!sim_arithmetic('+', &series->at, &series->step, rows->arena, &next, exec->error))
            return false;
        if (!sim_convert(&next, type, 0, true, rows->arena, &series->at, exec->error)) return false;
    }
    rows->has_more = !series->is_done;
    return true;
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
