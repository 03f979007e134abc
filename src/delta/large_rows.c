/* large_rows.c - a stream in pieces: either rows of usual size, or one large row. */
#include "delta/large_rows.h"

struct LargeRows {
    RowStream     file;
    RowStream    *inner;
    size_t        least_bytes; /* of a large row */
    RowBlock      block;       /* at hand; row_count 0: none */
    size_t        at;          /* its next row */
    bool          ends_large;
    bool          is_large; /* the file's rows: one */
    bool          is_given; /* that row was handed out */
    bool          at_end;
    ColumnVector *columns; /* of that row */
    uint64_t     *validity;
};

static bool is_large_row(const LargeRows *large, size_t row)
{
    const RowBlock *block = &large->block;
    size_t          bytes = 0;

    for (size_t i = 0; i < block->column_count; i++)
        if (column_type_is_text(block->columns[i].type) && !column_is_null(&block->columns[i], row))
            bytes += column_str(&block->columns[i], row).len;
    return bytes >= large->least_bytes;
}

/* Makes sure that there is a block with rows to give, or none at all. */
static bool pull(LargeRows *large, Err *err)
{
    if (large->at < large->block.row_count) return true;
    large->at         = 0;
    large->ends_large = false;
    large->block      = (RowBlock){.row_count = 0};
    if (large->at_end) return true;
    if (!row_stream_next(large->inner, &large->block, err)) return false;
    large->at_end = large->block.row_count == 0;
    if (!large->at_end) large->ends_large = is_large_row(large, large->block.row_count - 1);
    return true;
}

/* The last row of the block, as one of its own. */
static RowBlock last_row(LargeRows *large)
{
    size_t row = large->block.row_count - 1;

    for (size_t i = 0; i < large->block.column_count; i++) {
        const ColumnVector *from = &large->block.columns[i];
        large->validity[i]       = !column_is_null(from, row);
        large->columns[i]        = (ColumnVector){.type = from->type,
                                                  .data = (const char *)from->data +
                                                          row * column_type_width(from->type),
                                                  .validity = &large->validity[i]};
    }
    return (RowBlock){large->columns, large->block.column_count, 1};
}

static bool next_of_large(LargeRows *large, RowBlock *out)
{
    if (large->is_given) { /* it was copied: the block may go */
        large->block = (RowBlock){.row_count = 0};
        large->at    = 0;
        row_stream_release(large->inner);
        return true;
    }
    large->is_given = true;
    *out            = last_row(large);
    return true;
}

static bool file_next(RowStream *stream, RowBlock *out, Err *err)
{
    LargeRows *large = (LargeRows *)stream;
    size_t     end;

    *out = (RowBlock){.column_count = stream->schema.column_count};
    if (large->is_large) return large->block.row_count == 0 || next_of_large(large, out);
    if (!pull(large, err)) return false;
    end = large->block.row_count - large->ends_large;
    if (large->block.row_count == 0 || large->at == end) return true;
    *out           = large->block;
    out->row_count = end; /* all of it is ahead: a block is given at once */
    large->at      = end;
    return true;
}

LargeRows *large_rows_new(RowStream *rows, size_t least_bytes, Arena *arena)
{
    LargeRows *large = ARENA_NEW(arena, LargeRows);

    *large = (LargeRows){.file        = {.schema = rows->schema, .next = file_next},
                         .inner       = rows,
                         .least_bytes = least_bytes > 0 ? least_bytes : LARGE_ROW_BYTES,
                         .columns     = ARENA_ARRAY(arena, ColumnVector, rows->schema.column_count),
                         .validity    = ARENA_ARRAY(arena, uint64_t, rows->schema.column_count)};
    return large;
}

bool large_rows_find_file(LargeRows *large, bool *has_rows_out, bool *is_large_out, Err *err)
{
    if (!pull(large, err)) return false;
    large->is_large = large->ends_large && large->at + 1 == large->block.row_count;
    large->is_given = false;
    *has_rows_out   = large->block.row_count > 0;
    *is_large_out   = large->is_large;
    return true;
}

RowStream *large_rows_of_file(LargeRows *large)
{
    return &large->file;
}
