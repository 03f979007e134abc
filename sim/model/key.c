/* key.c - the keys of a clustered index that are read from the rows.
 *
 * A place has its key beside it, in the order of bytes, so that finding a row touches the places alone. Where that would be long
 * the key stands in the row only, and is put into the order of bytes each time it is compared. Change tables have such keys: two
 * LSNs and two numbers are some 50 bytes a row. */
#include "sim/model/model_internal.h"

#define OWN_KEY_MOST 32 /* what a place may have beside it */

typedef struct KeyColumn {
    size_t  ordinal;
    SimType type;
    bool    descending;
} KeyColumn;

struct KeyReader {
    size_t    column_count;
    KeyColumn columns[];
};

/* 0: it has no bound. */
static size_t key_bytes_most(const SimTableInfo *info, const SimIndex *index)
{
    size_t most = 0;

    for (size_t i = 0; i < index->column_count; i++) {
        size_t ordinal = info_ordinal(info, index->columns[i].column_id);
        size_t column  = sim_sort_key_most(&info->columns[ordinal].type);
        if (column == 0) return 0;
        most += column;
    }
    return most;
}

KeyReader *key_reader_new(const SimTableInfo *info, const SimIndex *index)
{
    size_t most = key_bytes_most(info, index);

    if (!index->is_unique || most <= OWN_KEY_MOST || most > TREE_KEY_MOST) return NULL;
    KeyReader *reader    = mem_alloc(sizeof *reader + index->column_count * sizeof(KeyColumn));
    reader->column_count = index->column_count;
    for (size_t i = 0; i < index->column_count; i++) {
        size_t ordinal     = info_ordinal(info, index->columns[i].column_id);
        reader->columns[i] = (KeyColumn){.ordinal    = ordinal,
                                         .type       = info->columns[ordinal].type,
                                         .descending = index->columns[i].descending};
    }
    return reader;
}

Bytes key_reader_read_row(const KeyReader *reader, const SimRow *row, uint8_t *scratch)
{
    Buf key = {.ptr = (char *)scratch, .capacity = TREE_KEY_MOST, .limit = TREE_KEY_MOST};

    if (row->flags & ROW_TOMBSTONE) return row_wire(row, 0);
    for (size_t i = 0; i < reader->column_count; i++) {
        SimValue         value;
        const KeyColumn *column = &reader->columns[i];
        wire_get(&column->type, row_wire(row, column->ordinal), &value);
        sim_sort_key(&value, column->descending, &key);
    }
    assert(!key.overflow);
    return (Bytes){scratch, key.len};
}

Bytes key_reader_read(const void *reader, const Item *place, uint8_t *scratch)
{
    return key_reader_read_row(reader, place_head(place), scratch);
}
