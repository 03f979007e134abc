/* catalog_internal.h - what views and procedures of the catalogue share. */
#ifndef TIDESIM_CATALOG_INTERNAL_H
#define TIDESIM_CATALOG_INTERNAL_H

#include "sim/plan/bind_internal.h"
#include "sim/session/front_internal.h"

typedef struct TypeFacts {
    SimTypeKind kind;
    int         type_id, tds_type, length, precision, scale, odbc_type;
} TypeFacts;
const TypeFacts *catalog_facts(const SimType *type);

/* A new row of a view; NULL in every column. */
SimValue *view_row(VirtualRows *rows);
/* Values for columns, in order, with the column's type; conversion cannot fail for what we give. */
void view_set(VirtualRows *rows, SimValue *row, const char *column, SimValue value);

/* The next table of the database the session may see. */
bool view_next_table(Exec *exec, SimDatabase *database, size_t *at, SimTable **out);
typedef struct ObjectFacts {
    Str                  name;
    const char          *type; /* U, PK, UQ, D, C, F, P, V */
    int32_t              object_id, parent_id;
    bool                 is_system_named;
    const SimIndex      *index;      /* PK, UQ */
    const SimColumn     *column;     /* D */
    const SimConstraint *constraint; /* C, F */
} ObjectFacts;
bool      view_next_constraint(const SimTableInfo *info, size_t *at, ObjectFacts *out);
SimValue *view_object_row(VirtualRows *rows, SimDatabase *database, const SimTableInfo *info,
                          const ObjectFacts *facts);

/* Procedures and views the session may see. */
bool view_next_module(Exec *exec, SimDatabase *database, size_t *at, const SimModule **out);
bool module_is_visible(SimSession *session, SimDatabase *database, const SimModule *module);
/* The columns of a view that was made with CREATE VIEW; none when its query does not bind any more. */
const SimColumn *module_columns(SimSession *session, SimDatabase *database, const SimModule *module,
                                Arena *arena, size_t *count_out);
/* A column is visible with a permission on the table or on the column itself. */
bool      view_column_is_visible(Exec *exec, SimDatabase *database, const SimTable *table,
                                 const SimColumn *column);
SimValue *view_column_row(VirtualRows *rows, const SimTableInfo *info, const SimColumn *column);

/* A principal's number as a SID; 0x01 is sa's and dbo's. */
SimValue catalog_sid(Arena *arena, uint32_t number);

/* By a name of one to three parts; one that the session may see. */
bool catalog_has_object(SimSession *session, Arena *arena, Str name);

/* How ODBC sees a type (version 2 or 3). */
int  catalog_odbc_type(const SimType *type, bool version3);
int  catalog_odbc_precision(const SimType *type);
int  catalog_odbc_length(const SimType *type, bool version3);
Str  catalog_odbc_type_name(Arena *arena, const SimColumn *column); /* "int identity" */
bool sp_datatype_info(ProcCall *call);

#define VIEW(schema_name, view_name, column_list, fill_function)          \
    {                                                                     \
        .schema = schema_name, .name = view_name, .columns = column_list, \
        .column_count = COUNT_OF(column_list), .fill = fill_function      \
    }

/* A view as text: its columns as "name type, name type", and a query of other views, bound in the view's database; NULL: never any rows. */
typedef struct ViewText {
    const char *schema, *name, *columns, *query;
} ViewText;
extern const ViewText catalog_schema_views[], catalog_information_views[],
    catalog_dynamic_views[]; /* ended by a NULL name */

/* What every database has on its own: views, procedures, functions. Ids are negative. */
typedef struct SystemObject { /* all zero before the first call of system_object_next */
    Str     schema, name;
    char    type[3]; /* V, P, X, FN, IF */
    int32_t object_id;
    size_t  list, at, second; /* where system_object_next is */
} SystemObject;
bool system_object_next(Arena *arena, SystemObject *object);
bool system_object_find(Arena *arena, Str schema, Str name,
                        SystemObject *out); /* schema empty: sys */
bool system_object_find_id(Arena *arena, int32_t object_id, SystemObject *out);
/* A name of SQL Server's that stands for nothing here: 50001 rather than 208 and 2812. */
bool system_name_is_known(Arena *arena, Str name);
/* Names that are put together: every one of `first` with every one of `second`, both separated by spaces; "-" is nothing. */
typedef struct SystemNames {
    const char *type, *prefix, *first, *second;
} SystemNames;
extern const SystemNames system_names[];                     /* ended by a NULL type */
const char              *system_type_desc(const char *type); /* VIEW, SQL_STORED_PROCEDURE, ... */

extern const VirtualTable catalog_object_views[], catalog_server_views[], catalog_security_views[],
    catalog_activity_views[], catalog_constraint_views[], catalog_module_views[],
    catalog_cdc_views[], catalog_functions[];

#endif
