/* rows.c - one row of a change table from one row of the source: bytes are copied where the
 * types are the same (sqlserver.md 2.14, 1.9). */
#include "sim/capture/cdc_internal.h"

/* --- types and positions --- */

SimType change_column_type(const SimColumn *column)
{
    if (column->type.kind == SIM_ROWVERSION) {
        SimType binary = sim_type(SIM_BINARY);
        binary.length  = 8;
        return binary;
    }
    if (!column->is_identity) return column->type;
    return sim_type(column->type.kind == SIM_BIGINT || column->type.kind == SIM_DECIMAL ? SIM_BIGINT
                                                                                        : SIM_INT);
}

static void map_columns(Instance *instance, const SimTableInfo *info)
{
    if (instance->map_info == info) return;
    for (size_t i = 0; i < instance->column_count; i++) {
        instance->map[i] = -1;
        for (size_t at = 0; at < info->column_count; at++)
            if (info->columns[at].column_id == instance->columns[i].column_id)
                instance->map[i] = (int32_t)at;
    }
    instance->map_info = info;
}

/* --- the update mask: the bit of the first column is the lowest of the last byte --- */

size_t change_mask_len(const Instance *instance)
{
    return (instance->column_count + 7) / 8;
}

static void set_bit(uint8_t *mask, size_t len, size_t bit)
{
    mask[len - 1 - bit / 8] |= (uint8_t)(1u << (bit % 8));
}

void change_mask_all(const Instance *instance, uint8_t *mask)
{
    size_t len = change_mask_len(instance);

    memset(mask, 0, len);
    for (size_t i = 0; i < instance->column_count; i++)
        set_bit(mask, len, i);
}

static bool wires_differ(const SimRow *before, const SimRow *after, int32_t ordinal)
{
    Bytes one = row_wire(before, (size_t)ordinal), two = row_wire(after, (size_t)ordinal);
    return one.len != two.len || memcmp(one.ptr, two.ptr, one.len) != 0;
}

bool change_mask_of(Instance *instance, const SimTableInfo *info, const SimRow *before,
                    const SimRow *after, uint8_t *mask)
{
    size_t len = change_mask_len(instance);
    bool   any = false;

    map_columns(instance, info);
    memset(mask, 0, len);
    for (size_t i = 0; i < instance->column_count; i++) {
        if (instance->map[i] < 0 || instance->columns[i].is_computed ||
            !wires_differ(before, after, instance->map[i]))
            continue;
        set_bit(mask, len, i);
        any = true;
    }
    return any;
}

/* --- values --- */

/* Where CDC gives NULL although the source has a value. */
static bool is_left_out(const SimCapturedColumn *column, const SimType *source,
                        const ChangeImage *image, int32_t ordinal)
{
    if (ordinal < 0 || column->is_computed) return true;
    if (!type_is_lob(source)) return false;
    bool is_old_text = source->kind == SIM_TEXT || source->kind == SIM_NTEXT ||
                       source->kind == SIM_IMAGE;
    if (is_old_text) return image->operation == 1 || image->operation == 3;
    return image->operation == 3 &&
           (image->other == NULL || !wires_differ(image->row, image->other, ordinal));
}

static bool same_on_the_wire(const SimType *to, const SimType *from)
{
    return sim_type_same(to, from) ||
           (from->kind == SIM_ROWVERSION && to->kind == SIM_BINARY && to->length == 8);
}

/* The bytes of one captured column; converted ones are made in `scratch`. */
static bool column_wire(const Instance *instance, const ChangeImage *image, size_t i,
                        Arena *scratch, Bytes *out, SimError *error)
{
    const SimCapturedColumn *column  = &instance->columns[i];
    int32_t                  ordinal = instance->map[i];
    const SimType           *source  = ordinal >= 0 ? &image->info->columns[ordinal].type : NULL;

    if (source == NULL || is_left_out(column, source, image, ordinal)) {
        *out = wire_null(&column->type);
        return true;
    }
    *out = row_wire(image->row, (size_t)ordinal);
    if (same_on_the_wire(&column->type, source)) return true;
    SimValue value, converted;
    wire_get(source, *out, &value);
    if (!sim_convert(&value, &column->type, 0, true, scratch, &converted, error)) return false;
    uint8_t *bytes = arena_alloc(scratch, wire_size(&column->type, &converted));
    wire_put(&column->type, &converted, bytes);
    *out = (Bytes){bytes, wire_size(&column->type, &converted)};
    return true;
}

/* --- the row --- */

/* Two LSNs, a NULL, two ints, the length of the mask. */
#define CT_HEAD_BYTES ((size_t)2 * (2 + LSN_BYTES) + 2 + (size_t)2 * 5 + 2)

static void put_binary(RowBuild *build, const uint8_t *bytes, size_t len)
{
    uint8_t *out = row_build_column(build, 2 + len);
    out[0]       = (uint8_t)len;
    out[1]       = (uint8_t)(len >> 8);
    memcpy(out + 2, bytes, len);
}

static void put_int(RowBuild *build, int32_t value)
{
    uint8_t *out = row_build_column(build, 5);
    out[0]       = 4;
    for (unsigned i = 0; i < 4; i++)
        out[1 + i] = (uint8_t)((uint32_t)value >> (8 * i));
}

bool change_row_build(Instance *instance, const ChangeImage *image, Arena *scratch, SimRow **out,
                      SimError *error)
{
    static const uint8_t null_binary[2] = {0xFF, 0xFF};
    Bytes               *wires          = ARENA_ARRAY(scratch, Bytes, instance->column_count);
    size_t               size           = CT_HEAD_BYTES + image->mask_len;

    map_columns(instance, image->info);
    for (size_t i = 0; i < instance->column_count; i++) {
        if (!column_wire(instance, image, i, scratch, &wires[i], error)) return false;
        size += wires[i].len;
    }
    bool numbers = sim_table_info(instance->change_table)->column_count >
                   CT_HEAD_COLUMNS + instance->column_count; /* has a __$command_id */
    RowBuild build = row_build_begin(instance->database->server->slab,
                                     CT_HEAD_COLUMNS + instance->column_count + numbers, size);
    put_binary(&build, image->start_lsn.bytes, LSN_BYTES);
    row_build_copy(&build, (Bytes){null_binary, sizeof null_binary}); /* __$end_lsn */
    put_binary(&build, image->seqval.bytes, LSN_BYTES);
    put_int(&build, image->operation);
    put_binary(&build, image->mask, image->mask_len);
    for (size_t i = 0; i < instance->column_count; i++)
        row_build_copy(&build, wires[i]);
    if (numbers) put_int(&build, image->command_id);
    *out = build.row;
    return true;
}
