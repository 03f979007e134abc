/* table_ref.c - opening and creating our tables. */
#include "state/table_ref.h"

bool table_ref_open_if_exists(DeltaContext *context, const TableRef *ref, DeltaTable **out,
                              Err *err)
{
    Err why = ERR_INIT;

    *out = NULL;
    if (delta_table_open(context, ref->path, out, &why)) return true;
    if (why.code == ERR_NOT_FOUND) return true;
    return err_copy(err, &why);
}

bool table_ref_open_or_create(DeltaContext *context, const TableRef *ref, TableKind kind,
                              const Schema *schema, Str description, DeltaTable **out, Err *err)
{
    return table_ref_open_or_make(context, ref, kind, schema, description, NULL, out, err);
}

bool table_ref_open_or_make(DeltaContext *context, const TableRef *ref, TableKind kind,
                            const Schema *schema, Str description, const DeltaProperty *property,
                            DeltaTable **out, Err *err)
{
    bool        ok      = false;
    DeltaTable *table   = NULL;
    Arena      *scratch = arena_new();

    if (!table_ref_open_if_exists(context, ref, &table, err)) goto done;
    if (!table) {
        DeltaProperty properties[2] = {table_kind_property(kind, scratch)};
        DeltaCreate   spec          = {.schema         = *schema,
                                       .description    = description,
                                       .properties     = properties,
                                       .property_count = property ? 2 : 1};
        if (property) properties[1] = *property;
        if (!delta_table_create(context, ref->path, &spec, &table, NULL, err)) goto done;
    }
    if (!table_migrate(context, table, kind, schema, err)) goto done;
    DeltaWriteKind write = kind == KIND_CONTROL || kind == KIND_SILVER ? DELTA_CHANGES
                                                                       : DELTA_APPENDS;
    ok                   = delta_table_check_writable(table, write, err);
done:
    arena_close(scratch);
    if (!ok) {
        delta_table_close(table);
        table = NULL;
    }
    *out = table;
    return ok || err_context(err, "%s table %.*s", table_kind_name(kind), STR_ARG(ref->label));
}
