/* output.c - rows as text and as JSON. A table for people is held in memory to be aligned: it is
 * for looking, not for exporting. */
#include "cli/output.h"

#include "base/list.h"

#include <errno.h>
#include <stdio.h>

#define WIDEST      80    /* characters a cell is cut at; a data file's name fits */
#define FLUSH_BYTES 65536 /* JSON is written in pieces */

static bool write_all(Str text, Err *err)
{
    if (fwrite(text.ptr, 1, text.len, stdout) == text.len) return true;
    return err_set_errno(err, ERR_STORE, errno, "stdout cannot be written");
}

bool output_line(Str line, Err *err)
{
    return write_all(line, err) && write_all(STR("\n"), err) &&
           (fflush(stdout) == 0 ||
            err_set_errno(err, ERR_STORE, errno, "stdout cannot be written"));
}

void json_member_lsn(JsonWriter *json, const char *key, OptLsn lsn)
{
    if (lsn.is_set)
        json_member_str(json, key, str_from_c(lsn_format(lsn.lsn).text));
    else
        json_member_null(json, key);
}

void json_member_time(JsonWriter *json, const char *key, OptTime time)
{
    Arena *scratch;

    if (!time.is_set) {
        json_member_null(json, key);
        return;
    }
    scratch = arena_new();
    json_member_str(json, key, time_format_ms(scratch, time.utc_us));
    arena_close(scratch);
}

static bool output_json(RowStream *rows, Err *err)
{
    Arena     *arena   = arena_new();
    Arena     *scratch = arena_new();
    Buf        buf     = buf_new(arena, 0);
    JsonWriter json    = json_writer(&buf, true, false);
    RowBlock   block;
    bool       ok = false;

    json_object_begin(&json);
    json_key(&json, STR("columns"));
    json_array_begin(&json);
    for (size_t i = 0; i < rows->schema.column_count; i++)
        json_str(&json, rows->schema.columns[i].name);
    json_array_end(&json);
    json_key(&json, STR("rows"));
    json_array_begin(&json);
    for (;;) {
        if (!row_stream_next(rows, &block, err)) goto done;
        if (block.row_count == 0) break;
        for (size_t r = 0; r < block.row_count; r++) {
            json_array_begin(&json);
            for (size_t c = 0; c < block.column_count; c++)
                column_write_json(&json, &block.columns[c], r, scratch);
            json_array_end(&json);
            arena_reset(scratch);
            if (buf.len < FLUSH_BYTES) continue;
            if (!write_all(buf_str(&buf), err)) goto done;
            buf_clear(&buf);
        }
    }
    json_array_end(&json);
    json_object_end(&json);
    ok = output_line(buf_str(&buf), err);
done:
    arena_close(scratch);
    arena_close(arena);
    return ok;
}

/* --- tables --- */

typedef struct Cell {
    Str    text;
    size_t width; /* characters */
    bool   right; /* numbers */
} Cell;

static size_t width_of(Str text)
{
    size_t width = 0;

    for (size_t at = 0; at < text.len; width++)
        (void)utf8_next(text, &at);
    return width;
}

/* One line, at most WIDEST characters: control characters become blanks. */
static Str tidy(Arena *arena, Str text)
{
    Buf    buf   = buf_new(arena, 0);
    size_t width = 0;

    for (size_t at = 0; at < text.len; width++) {
        char     utf8[4];
        uint32_t c = utf8_next(text, &at);
        if (width == WIDEST) {
            buf_append_c(&buf, "…");
            break;
        }
        buf_append(&buf, (Str){utf8, utf8_encode(c < 0x20 || c == 0x7f ? ' ' : c, utf8)});
    }
    return buf_str(&buf);
}

static Cell make_cell(Arena *arena, const ColumnVector *column, size_t row)
{
    Cell cell = {.text = column_is_null(column, row)
                             ? STR("NULL")
                             : tidy(arena, column_format(arena, column, row))};

    cell.width = width_of(cell.text);
    cell.right = !column_type_is_text(column->type) && column->type.kind != TYPE_BOOLEAN &&
                 column->type.kind < TYPE_DATE;
    return cell;
}

static void append_cell(Buf *buf, Cell cell, size_t width, bool is_last)
{
    size_t pad = width - cell.width;

    if (cell.right) buf_printf(buf, "%*s", (int)pad, "");
    buf_append(buf, cell.text);
    if (is_last) return;
    if (!cell.right) buf_printf(buf, "%*s", (int)pad, "");
    buf_append_c(buf, "  ");
}

static bool print_cells(const Cell *cells, size_t columns, size_t rows, const size_t *widths,
                        Arena *arena, Err *err)
{
    for (size_t r = 0; r < rows; r++) {
        Buf buf = buf_new(arena, 0);
        for (size_t c = 0; c < columns; c++)
            append_cell(&buf, cells[r * columns + c], widths[c], c + 1 == columns);
        if (!output_line(buf_str(&buf), err)) return false;
    }
    return true;
}

static bool output_text(RowStream *rows, Err *err)
{
    Arena *arena     = arena_new();
    LIST(Cell) cells = {0};
    size_t   columns = rows->schema.column_count;
    size_t  *widths  = ARENA_ARRAY(arena, size_t, columns + 1);
    RowBlock block;
    bool     ok = false;

    for (size_t c = 0; c < columns; c++) {
        Str name                  = tidy(arena, rows->schema.columns[c].name);
        *LIST_PUSH(arena, &cells) = (Cell){.text = name, .width = width_of(name)};
        widths[c]                 = width_of(name);
    }
    for (;;) {
        if (!row_stream_next(rows, &block, err)) goto done;
        if (block.row_count == 0) break;
        for (size_t r = 0; r < block.row_count; r++)
            for (size_t c = 0; c < columns; c++) {
                Cell cell                 = make_cell(arena, &block.columns[c], r);
                widths[c]                 = MAX(widths[c], cell.width);
                *LIST_PUSH(arena, &cells) = cell;
            }
    }
    ok = columns == 0 ||
         print_cells(cells.items, columns, cells.count / columns, widths, arena, err);
done:
    arena_close(arena);
    return ok;
}

bool output_rows(RowStream *rows, bool as_json, Err *err)
{
    return as_json ? output_json(rows, err) : output_text(rows, err);
}
