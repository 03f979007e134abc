/* print.c - tables and messages. A result's first rows are kept until its columns' widths are known. */
#include "sim/cli/print.h"

#include "base/json.h"
#include "base/list.h"

#include <math.h>
#include <string.h>

#define ROWS_KEPT   1000 /* before widths are fixed */
#define JSON_BYTES  ((size_t)1 << 30)
#define GAP         "  "
#define STYLE_TEXT  0
#define STYLE_MONEY 2   /* four digits behind the point */
#define STYLE_TIME  121 /* yyyy-mm-dd hh:mm:ss.fff */

typedef struct PrintColumn {
    Str     name;
    SimType type;
    size_t  width; /* characters */
} PrintColumn;

struct Printer {
    SimSink      sink; /* first */
    FILE        *out;
    FILE        *err;
    Arena       *arena;      /* of the result set */
    Arena       *cell_arena; /* of a row that is not kept */
    PrintColumn *columns;
    size_t       column_count;
    LIST(Str *) rows; /* kept, as texts of cells */
    bool        in_table;
    bool        has_widths;
    Str         file;
    int32_t     first_line;
    SimError    error;
    bool        has_failed;
    PrinterMode mode;
    /* JSON */
    Arena     *json_arena;
    Buf        results, messages;
    JsonWriter results_json, messages_json;
};

static bool is_json(const Printer *printer)
{
    return printer->mode == PRINTER_JSON;
}

/* --- values as text --- */

static Str float_text(Arena *arena, double value, bool is_real)
{
    char   text[40] = "";
    size_t len      = double_format_shortest(value, text);

    if (!is_real) return str_copy(arena, (Str){text, len});
    for (int digits = 7; digits <= 9; digits++) {
        double back;
        len = (size_t)snprintf(text, sizeof text, "%.*g", digits, value);
        if (str_parse_double((Str){text, len}, &back) && (float)back == (float)value) break;
    }
    return str_copy(arena, (Str){text, len});
}

static Str converted(Arena *arena, const SimValue *value, int style)
{
    SimType  wide  = sim_type_sized(SIM_NVARCHAR, -1);
    SimValue text  = {0};
    SimError error = SIM_ERROR_INIT;

    if (!sim_convert(value, &wide, style, false, arena, &text, &error)) return STR("?");
    return sim_text_to_utf8(arena, NULL, true, text.bytes);
}

static Str value_text(Arena *arena, const SimValue *value)
{
    SimTypeKind kind = value->type.kind;

    if (value->is_null) return STR("NULL");
    if (kind == SIM_FLOAT || kind == SIM_REAL)
        return float_text(arena, value->f64, kind == SIM_REAL);
    if (kind == SIM_MONEY || kind == SIM_SMALLMONEY) return converted(arena, value, STYLE_MONEY);
    if (sim_type_is_time(kind)) return converted(arena, value, STYLE_TIME);
    return sim_value_text(arena, value);
}

/* The column knows better than the value, unless each value has its own type. */
static SimValue as_column(const SimValue *value, const PrintColumn *column)
{
    SimValue typed = *value;

    if (column->type.kind != SIM_VARIANT) typed.type = column->type;
    return typed;
}

static bool needs_escape(char c)
{
    return c == '\n' || c == '\r' || c == '\t' || c == '\0';
}

/* A line stays a line. */
static Str one_line(Arena *arena, Str text)
{
    size_t count = 0;
    char  *out;

    for (size_t i = 0; i < text.len; i++)
        count += needs_escape(text.ptr[i]);
    if (count == 0) return text;
    out = arena_alloc_uninit(arena, text.len + count);
    for (size_t i = 0, at = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (needs_escape(c)) {
            out[at++] = '\\';
            c         = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : '0';
        }
        out[at++] = c;
    }
    return (Str){out, text.len + count};
}

static size_t character_count(Str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((uint8_t)text.ptr[i] & 0xC0) != 0x80;
    return count;
}

/* --- tables --- */

static void pad(FILE *out, char c, size_t count)
{
    while (count-- > 0)
        (void)fputc(c, out);
}

static void print_cell(Printer *printer, size_t index, Str text, bool to_the_right)
{
    size_t len = character_count(text), width = printer->columns[index].width;
    bool   is_last = index + 1 == printer->column_count;

    if (to_the_right && len < width) pad(printer->out, ' ', width - len);
    (void)fwrite(text.ptr, 1, text.len, printer->out);
    if (is_last) {
        (void)fputc('\n', printer->out);
        return;
    }
    if (!to_the_right && len < width) pad(printer->out, ' ', width - len);
    (void)fputs(GAP, printer->out);
}

static bool is_number_column(const PrintColumn *column)
{
    return sim_type_is_number(column->type.kind) || column->type.kind == SIM_BIT;
}

static void print_row(Printer *printer, const Str *cells)
{
    for (size_t i = 0; i < printer->column_count; i++)
        print_cell(printer, i, cells[i], is_number_column(&printer->columns[i]));
}

static void print_head(Printer *printer)
{
    for (size_t i = 0; i < printer->column_count; i++)
        print_cell(printer, i, printer->columns[i].name, is_number_column(&printer->columns[i]));
    for (size_t i = 0; i < printer->column_count; i++) {
        pad(printer->out, '-', printer->columns[i].width);
        (void)fputs(i + 1 == printer->column_count ? "\n" : GAP, printer->out);
    }
}

static void print_kept_rows(Printer *printer)
{
    if (printer->has_widths) return;
    printer->has_widths = true;
    for (size_t row = 0; row < printer->rows.count; row++)
        for (size_t i = 0; i < printer->column_count; i++)
            printer->columns[i].width = MAX(printer->columns[i].width,
                                            character_count(printer->rows.items[row][i]));
    print_head(printer);
    for (size_t row = 0; row < printer->rows.count; row++)
        print_row(printer, printer->rows.items[row]);
    printer->rows.count = 0;
}

static void end_table(Printer *printer)
{
    if (!printer->in_table) return;
    printer->in_table = false;
    if (is_json(printer)) {
        json_array_end(&printer->results_json);
        json_object_end(&printer->results_json);
    } else {
        print_kept_rows(printer);
        (void)fputc('\n', printer->out);
    }
}

/* --- JSON --- */

static void begin_json_table(Printer *printer)
{
    JsonWriter *json = &printer->results_json;

    json_object_begin(json);
    json_key(json, STR("columns"));
    json_array_begin(json);
    for (size_t i = 0; i < printer->column_count; i++)
        json_str(json, printer->columns[i].name);
    json_array_end(json);
    json_key(json, STR("rows"));
    json_array_begin(json);
}

/* Numbers that a double holds exactly or is, as numbers; the rest as text. */
static void json_value(JsonWriter *json, Arena *arena, const SimValue *value)
{
    SimTypeKind kind = value->type.kind;

    if (value->is_null)
        json_null_value(json);
    else if (sim_type_is_integer(kind) || kind == SIM_BIT)
        json_i64(json, value->i64);
    else if (kind == SIM_FLOAT)
        json_double(json, value->f64);
    else
        json_str(json, value_text(arena, value));
}

static void json_row(Printer *printer, const SimValue *values, size_t count)
{
    json_array_begin(&printer->results_json);
    for (size_t i = 0; i < count; i++) {
        SimValue value = as_column(&values[i], &printer->columns[i]);
        json_value(&printer->results_json, printer->cell_arena, &value);
    }
    json_array_end(&printer->results_json);
}

static void json_message(Printer *printer, const SimError *message)
{
    JsonWriter *json = &printer->messages_json;

    json_object_begin(json);
    json_member_i64(json, "number", message->number);
    json_member_i64(json, "severity", message->severity);
    json_member_i64(json, "state", message->state);
    json_member_i64(json, "line", message->line);
    json_member_str(json, "procedure", str_from_c(message->procedure));
    json_member_str(json, "file", printer->file);
    json_member_i64(json, "file_line", printer->first_line + MAX(message->line, 1) - 1);
    json_member_str(json, "text", sim_error_text(message));
    json_object_end(json);
}

void printer_finish_json(Printer *printer, bool has_failed)
{
    Buf        text;
    JsonWriter json;

    if (!is_json(printer)) return;
    end_table(printer);
    json_array_end(&printer->results_json);
    json_array_end(&printer->messages_json);
    text = buf_new(printer->json_arena, 2 * JSON_BYTES);
    json = json_writer(&text, true, false);
    json_object_begin(&json);
    json_key(&json, STR("results"));
    json_raw(&json, buf_str(&printer->results));
    json_key(&json, STR("messages"));
    json_raw(&json, buf_str(&printer->messages));
    json_member_bool(&json, "failed", has_failed || printer->has_failed);
    json_object_end(&json);
    (void)fwrite(text.ptr, 1, text.len, printer->out);
    (void)fputc('\n', printer->out);
}

/* --- the sink --- */

static Printer *of(SimSink *sink)
{
    return (Printer *)sink;
}

static bool is_fine(const Printer *printer)
{
    return !ferror(printer->out) && !printer->results.overflow;
}

static bool on_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    Printer *printer = of(sink);

    end_table(printer);
    if (printer->mode == PRINTER_QUIET) return is_fine(printer);
    arena_reset(printer->arena);
    memset(&printer->rows, 0, sizeof printer->rows);
    printer->columns      = ARENA_ARRAY(printer->arena, PrintColumn, count + 1);
    printer->column_count = count;
    printer->in_table     = true;
    printer->has_widths   = false;
    for (size_t i = 0; i < count; i++) {
        Str name            = str_copy(printer->arena, columns[i].name);
        printer->columns[i] = (PrintColumn){
            .name = name, .type = columns[i].type, .width = MAX(character_count(name), (size_t)1)};
    }
    if (is_json(printer)) begin_json_table(printer);
    return is_fine(printer);
}

static bool on_row(SimSink *sink, const SimValue *values, size_t count)
{
    Printer *printer = of(sink);
    Arena   *arena = printer->has_widths || is_json(printer) ? printer->cell_arena : printer->arena;
    Str     *cells;

    if (printer->mode == PRINTER_QUIET) return is_fine(printer);
    count = MIN(count, printer->column_count);
    if (arena == printer->cell_arena) arena_reset(arena);
    if (is_json(printer)) {
        json_row(printer, values, count);
        return is_fine(printer);
    }
    cells = ARENA_ARRAY(arena, Str, count + 1);
    for (size_t i = 0; i < count; i++) {
        SimValue value = as_column(&values[i], &printer->columns[i]);
        Str      text  = one_line(arena, value_text(arena, &value));
        cells[i] = printer->has_widths ? text : str_copy(arena, text); /* values do not last */
    }
    if (printer->has_widths) {
        print_row(printer, cells);
        return is_fine(printer);
    }
    *LIST_PUSH(printer->arena, &printer->rows) = cells;
    if (printer->rows.count >= ROWS_KEPT) print_kept_rows(printer);
    return is_fine(printer);
}

static void print_message(Printer *printer, const SimError *message)
{
    bool is_chatter = message->number == 5701 || message->number == 5703; /* USE, SET LANGUAGE */

    if (message->severity <= 10) {
        if (printer->mode == PRINTER_TEXT || !is_chatter)
            (void)fprintf(printer->out, "%.*s\n", STR_ARG(sim_error_text(message)));
        return;
    }
    (void)fflush(printer->out);
    (void)fprintf(printer->err, "Msg %d, Level %d, State %d, ", message->number, message->severity,
                  message->state);
    if (message->procedure[0]) (void)fprintf(printer->err, "Procedure %s, ", message->procedure);
    (void)fprintf(printer->err, "Line %d\n%s\n", message->line, message->message);
}

static bool on_message(SimSink *sink, const SimError *message)
{
    Printer *printer = of(sink);

    end_table(printer);
    if (message->severity > 10) {
        if (printer->error.number == 0) printer->error = *message;
        printer->has_failed = true;
    }
    if (is_json(printer))
        json_message(printer, message);
    else
        print_message(printer, message);
    return is_fine(printer);
}

static bool on_done(SimSink *sink, const SimDone *done)
{
    Printer *printer = of(sink);

    end_table(printer);
    if (done->has_count && printer->mode == PRINTER_TEXT)
        (void)fprintf(printer->out, "(%lld %s affected)\n\n", (long long)done->row_count,
                      done->row_count == 1 ? "row" : "rows");
    return is_fine(printer);
}

static bool on_env_change(SimSink *sink, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    (void)kind, (void)new_value, (void)old_value;
    return is_fine(of(sink));
}

static bool on_return_status(SimSink *sink, int32_t status)
{
    (void)status;
    return is_fine(of(sink));
}

static bool on_return_value(SimSink *sink, Str name, const SimValue *value)
{
    (void)name, (void)value;
    return is_fine(of(sink));
}

/* --- the printer --- */

Printer *printer_new(FILE *out, FILE *err, PrinterMode mode)
{
    Printer *printer = mem_alloc(sizeof *printer);

    printer->sink       = (SimSink){.columns       = on_columns,
                                    .row           = on_row,
                                    .message       = on_message,
                                    .done          = on_done,
                                    .env_change    = on_env_change,
                                    .return_status = on_return_status,
                                    .return_value  = on_return_value};
    printer->out        = out;
    printer->err        = err;
    printer->mode       = mode;
    printer->arena      = arena_new();
    printer->cell_arena = arena_new();
    printer->json_arena = arena_new();
    if (mode == PRINTER_JSON) {
        printer->results       = buf_new(printer->json_arena, JSON_BYTES);
        printer->messages      = buf_new(printer->json_arena, JSON_BYTES);
        printer->results_json  = json_writer(&printer->results, true, false);
        printer->messages_json = json_writer(&printer->messages, true, false);
        json_array_begin(&printer->results_json);
        json_array_begin(&printer->messages_json);
    }
    return printer;
}

void printer_close(Printer *printer)
{
    if (!printer) return;
    (void)fflush(printer->out);
    arena_close(printer->arena);
    arena_close(printer->cell_arena);
    arena_close(printer->json_arena);
    mem_free(printer);
}

SimSink *printer_sink(Printer *printer)
{
    return &printer->sink;
}

void printer_begin_batch(Printer *printer, Str file, int32_t first_line)
{
    printer->file       = file;
    printer->first_line = first_line;
    printer->error      = SIM_ERROR_INIT;
}

void printer_end_batch(Printer *printer)
{
    end_table(printer);
    (void)fflush(printer->out);
}

const SimError *printer_error(const Printer *printer)
{
    return &printer->error;
}
