/* catalog_internal.h - what views and procedures of the catalogue share. */
#ifndef TIDESIM_CATALOG_INTERNAL_H
#define TIDESIM_CATALOG_INTERNAL_H

#include "sim/bind_internal.h"
#include "sim/front_internal.h"

typedef struct TypeFacts {
    SimTypeKind kind;
    int         type_id, tds_type, length, precision, scale, odbc_type;
} TypeFacts;
const TypeFacts *catalog_facts(SimTypeKind kind);

/* A new row of a view; NULL in every column. */
SimValue *view_row(VirtualRows *rows);
/* Values for columns, in order, with the column's type; conversion cannot fail for what we give. */
void view_set(VirtualRows *rows, SimValue *row, const char *column, SimValue value);

#define VIEW(schema_name, view_name, column_list, fill_function)          \
    {                                                                     \
        .schema = schema_name, .name = view_name, .columns = column_list, \
        .column_count = COUNT_OF(column_list), .fill = fill_function      \
    }

/* A view as text: its columns as "name type, name type", and a query of other views, bound in the view's database; NULL: never any rows. */
typedef struct ViewText {
    const char *schema, *name, *columns, *query;
} ViewText;
extern const ViewText catalog_schema_views[], catalog_information_views[], catalog_dynamic_views[]; /* ended by a NULL name */

/* What every database has on its own: views, procedures, functions. Ids are negative. */
typedef struct SystemObject {
    Str     schema, name;
    char    type[3]; /* V, P, X, FN, IF */
    int32_t object_id;
} SystemObject;
bool system_object_next(size_t *at, SystemObject *out);
bool system_object_find(Str schema, Str name, SystemObject *out); /* schema empty: sys */
bool system_object_find_id(int32_t object_id, SystemObject *out);
const char *system_type_desc(const char *type); /* VIEW, SQL_STORED_PROCEDURE, ... */

extern const VirtualTable catalog_object_views[], catalog_server_views[], catalog_cdc_views[],
    catalog_functions[];

#endif
