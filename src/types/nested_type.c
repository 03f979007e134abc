/* nested_type.c - arrays, maps and structs. Whoever makes one bounds its depth (LIMIT_NESTING). */
#include "types/nested_type.h"

#include "base/arena.h"
#include "base/buf.h"

bool nested_type_equal(const NestedType *left, const NestedType *right)
{
    if (left == right) return true;
    if (!left || !right || left->kind != right->kind || left->field_count != right->field_count)
        return false;
    for (size_t i = 0; i < left->field_count; i++)
        if (!str_equal(left->fields[i].name, right->fields[i].name) ||
            !column_type_equal(left->fields[i].type, right->fields[i].type))
            return false;
    return true;
}

/* --- names --- */

static bool is_plain_name(Str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c != '_' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
            !(c >= 'A' && c <= 'Z'))
            return false;
    }
    return name.len > 0;
}

static void append_name(Buf *buf, Str name)
{
    if (is_plain_name(name)) {
        buf_append(buf, name);
        return;
    }
    buf_append_char(buf, '`');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '`') buf_append_char(buf, '`');
        buf_append_char(buf, name.ptr[i]);
    }
    buf_append_char(buf, '`');
}

static void append_type(Buf *buf, ColumnType type, Arena *arena)
{
    static const char *const heads[] = {"ARRAY<", "MAP<", "STRUCT<"};
    const NestedType        *nested  = type.nested;

    if (type.kind != TYPE_NESTED) {
        buf_append(buf, column_type_sql_name(arena, type));
        return;
    }
    if (!nested || nested->kind == NESTED_VOID) {
        buf_append_c(buf, nested ? "VOID" : "NESTED");
        return;
    }
    buf_append_c(buf, heads[nested->kind]);
    for (size_t i = 0; i < nested->field_count; i++) {
        if (i > 0) buf_append_c(buf, ", ");
        if (nested->kind == NESTED_STRUCT) {
            append_name(buf, nested->fields[i].name);
            buf_append_c(buf, ": ");
        }
        append_type(buf, nested->fields[i].type, arena);
    }
    buf_append_char(buf, '>');
}

Str nested_type_sql_name(Arena *arena, const NestedType *type)
{
    Buf buf = buf_new(arena, 0);

    append_type(&buf, (ColumnType){.kind = TYPE_NESTED, .nested = type}, arena);
    return buf_str(&buf);
}

/* --- copies --- */

static ColumnType copy_type(Arena *arena, ColumnType type, bool by_physical_name)
{
    if (type.kind != TYPE_NESTED || !type.nested) return type;

    const NestedType *from   = type.nested;
    NestedType       *to     = ARENA_NEW(arena, NestedType);
    NestedField      *fields = ARENA_ARRAY(arena, NestedField, from->field_count + 1);
    for (size_t i = 0; i < from->field_count; i++) {
        const NestedField *field    = &from->fields[i];
        bool               physical = by_physical_name && field->physical_name.len > 0;
        fields[i]                   = (NestedField){
                              .name          = str_copy(arena, physical ? field->physical_name : field->name),
                              .physical_name = by_physical_name ? STR_EMPTY : str_copy(arena, field->physical_name),
                              .field_id      = field->field_id,
                              .type          = copy_type(arena, field->type, by_physical_name)};
    }
    *to = (NestedType){.kind = from->kind, .fields = fields, .field_count = from->field_count};
    return (ColumnType){.kind = TYPE_NESTED, .nested = to};
}

ColumnType column_type_copy(Arena *arena, ColumnType type)
{
    return copy_type(arena, type, false);
}

bool column_type_has_physical_names(ColumnType type)
{
    if (type.kind != TYPE_NESTED || !type.nested) return false;
    for (size_t i = 0; i < type.nested->field_count; i++) {
        const NestedField *field = &type.nested->fields[i];
        if (field->physical_name.len > 0 && !str_equal(field->physical_name, field->name))
            return true;
        if (column_type_has_physical_names(field->type)) return true;
    }
    return false;
}

ColumnType column_type_physical(Arena *arena, ColumnType type)
{
    return column_type_has_physical_names(type) ? copy_type(arena, type, true) : type;
}
