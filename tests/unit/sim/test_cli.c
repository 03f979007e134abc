/* The command line of tidesim: options, scripts with GO, results as text and as JSON. */
#include "support/test_support.h"

#include "sim/cli/options.h"
#include "sim/cli/print.h"
#include "sim/cli/script.h"

/* --- options --- */

#define PARSE(command, arena, out, err, ...)                                     \
    cli_options_parse((command), (int)COUNT_OF(((const char *[]){__VA_ARGS__})), \
                      (char **)(uintptr_t)(const char *[]){__VA_ARGS__}, (arena), (out), (err))

static void options_have_the_defaults_of_the_reference(void **state)
{
    Arena     *arena = arena_new();
    CliOptions options;
    Err        err = ERR_INIT;

    (void)state;
    assert_ok(cli_options_parse(CLI_SERVE, 0, NULL, arena, &options, &err), &err);
    assert_str_is(options.listen, "127.0.0.1:14330");
    assert_str_is(options.login, "sa");
    assert_str_is(options.password, "Tide.Sim.1");
    assert_null(options.database.ptr);
    assert_int_equal(options.capture_interval_ms, 5000);
    assert_int_equal(options.idle_entry_ms, 305000);
    assert_int_equal(options.retention_minutes, 4320);
    assert_str_is(options.time_zone, "UTC");
    assert_int_equal(options.server_version, 2022);
    assert_false(options.has_seed);
    assert_false(options.has_virtual_clock);
    assert_int_equal(options.latency_ms, 0);
    assert_int_equal(options.bandwidth, 0);
    assert_ok(PARSE(CLI_EXEC, arena, &options, &err, "x.sql"), &err);
    assert_int_equal(options.capture_interval_ms, -1); /* by hand */
    arena_close(arena);
}

static void options_take_values_either_way(void **state)
{
    Arena     *arena = arena_new();
    CliOptions options;
    Err        err = ERR_INIT;

    (void)state;
    assert_ok(PARSE(CLI_SERVE, arena, &options, &err, "--listen", "[::1]:0", "--login=u:p:w",
                    "--init", "a.sql", "--init=b.sql", "--capture-interval", "250ms",
                    "--idle-entry", "2m", "--retention", "3d", "--time-zone",
                    "W. Europe Standard Time", "--server-version", "2019", "--seed", "7", "--clock",
                    "virtual", "--latency", "40ms", "--bandwidth", "1800000", "--database", "shop",
                    "--load", "folder", "--jitter", "5ms", "--trace", "t.txt", "--knob",
                    "command_id_per=statement", "--knob=maxtrans=7"),
              &err);
    assert_str_is(options.listen, "[::1]:0");
    assert_str_is(options.login, "u");
    assert_str_is(options.password, "p:w");
    assert_int_equal(options.init.count, 2);
    assert_str_is(options.init.items[1], "b.sql");
    assert_str_is(options.load, "folder");
    assert_int_equal(options.capture_interval_ms, 250);
    assert_int_equal(options.idle_entry_ms, 120000);
    assert_int_equal(options.retention_minutes, 4320);
    assert_int_equal(options.server_version, 2019);
    assert_true(options.has_seed);
    assert_int_equal(options.seed, 7);
    assert_true(options.has_virtual_clock);
    assert_int_equal(options.latency_ms, 40);
    assert_int_equal(options.jitter_ms, 5);
    assert_int_equal(options.bandwidth, 1800000);
    assert_str_is(options.trace, "t.txt");
    assert_int_equal(options.knobs.count, 2);
    assert_int_equal(options.knobs.items[0].knob, SIM_KNOB_COMMAND_ID_PER);
    assert_int_equal(options.knobs.items[0].value, 1);
    assert_int_equal(options.knobs.items[1].value, 7);
    assert_ok(PARSE(CLI_SERVE, arena, &options, &err, "--capture-interval", "manual"), &err);
    assert_int_equal(options.capture_interval_ms, -1);
    assert_ok(PARSE(CLI_EXEC, arena, &options, &err, "a.sql", "-", "--json", "--", "--x"), &err);
    assert_int_equal(options.files.count, 3);
    assert_str_is(options.files.items[2], "--x");
    assert_true(options.json);
    arena_close(arena);
}

static void wrong_options_say_what_is_allowed(void **state)
{
    static const struct {
        CliCommand  command;
        const char *words[2];
        const char *message;
    } cases[] = {
        {CLI_SERVE, {"--lsiten"}, "unknown option --lsiten; did you mean --listen?"},
        {CLI_SERVE, {"--server=a:1"}, "did you mean --server-version?"},
        {CLI_SERVE, {"--zzzzzzzzzzzzzzzzzzzzzzz"}, "`tidesim serve --help` lists them"},
        {CLI_SERVE, {"--listen"}, "--listen needs a value: HOST:PORT"},
        {CLI_SERVE, {"--clock=real", "--clock=virtual"}, "--clock is given twice: give it once"},
        {CLI_SERVE, {"--listen", "here"}, "--listen is \"here\"; allowed: HOST:PORT"},
        {CLI_SERVE, {"--listen", "h:70000"}, "HOST:PORT"},
        {CLI_SERVE, {"--login", "sa"}, "USER:PASSWORD"},
        {CLI_SERVE, {"--clock", "fast"}, "allowed: real, virtual"},
        {CLI_SERVE, {"--server-version", "2020"}, "2016, 2017, 2019, 2022, 2025"},
        {CLI_SERVE, {"--capture-interval", "5"}, "a number with its unit"},
        {CLI_SERVE, {"--capture-interval", "0s"}, "a number with its unit"},
        {CLI_SERVE, {"--latency", "fast"}, "a number with its unit"},
        {CLI_SERVE, {"--retention", "90s"}, "whole minutes"},
        {CLI_SERVE, {"--bandwidth", "-1"}, "a whole number"},
        {CLI_SERVE, {"--seed", "x"}, "a whole number"},
        {CLI_SERVE, {"--knob", "command_id=row"}, "did you mean \"command_id_per\"?"},
        {CLI_SERVE, {"--knob", "command_id_per"}, "row,statement"},
        {CLI_SERVE, {"--knob", "maxtrans=0"}, "1..1000000"},
        {CLI_SERVE, {"--time-zone", "W. Europe"}, "did you mean \"W. Europe Standard Time\"?"},
        {CLI_SERVE, {"--tls", "a.pem"}, "CERT,KEY (two PEM files), self-signed, none"},
        {CLI_SERVE, {"--tls", "a.pem,"}, "CERT,KEY (two PEM files), self-signed, none"},
        {CLI_SERVE, {"--tls=none", "--require-encryption"}, "nobody could connect"},
        {CLI_EXEC, {"--require-encryption", "x"}, "unknown option --require-encryption"},
        {CLI_SERVE, {"--log-level", "loud"}, "error, warn, info, debug, trace"},
        {CLI_SERVE, {"--load", "folder"}, "--load needs --database"},
        {CLI_EXEC, {"--load", "folder"}, "unknown option --load"},
        {CLI_SERVE, {"shop.sql"}, "--init FILE.sql"},
        {CLI_EXEC, {"--json"}, "exec needs a file"},
        {CLI_EXEC, {"--json=yes", "x"}, "--json takes no value"},
        {CLI_EXEC, {"--listen", "x"}, "unknown option --listen"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Arena     *arena = arena_new();
        CliOptions options;
        Err        err   = ERR_INIT;
        char     **words = (char **)(uintptr_t)cases[i].words;
        assert_false(cli_options_parse(cases[i].command, cases[i].words[1] ? 2 : 1, words, arena,
                                       &options, &err));
        assert_err(&err, ERR_USAGE, cases[i].message);
        assert_int_equal(err_exit_status(err.code), 2);
        arena_close(arena);
    }
}

/* --- scripts --- */

static void assert_split(const char *text, size_t count, const char *const *texts,
                         const int32_t *lines, const int64_t *repeats)
{
    Arena *arena = arena_new();
    Script script;

    script_split(STR("x.sql"), str_from_c(text), arena, &script);
    assert_int_equal(script.batches.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_str_is(script.batches.items[i].text, texts[i]);
        assert_int_equal(script.batches.items[i].first_line, lines[i]);
        assert_int_equal(script.batches.items[i].repeat, repeats[i]);
    }
    arena_close(arena);
}

#define ASSERT_SPLIT(text, count, texts, lines, repeats)                              \
    assert_split((text), (count), (const char *const[])texts, (const int32_t[])lines, \
                 (const int64_t[])repeats)
#define LIST_OF(...) \
    {                \
        __VA_ARGS__  \
    }

static void go_on_its_own_line_ends_a_batch(void **state)
{
    (void)state;
    ASSERT_SPLIT("a\nGO\nb\n", 2, LIST_OF("a\n", "b\n"), LIST_OF(1, 3), LIST_OF(1, 1));
    ASSERT_SPLIT("a\r\n  go \t\r\nb", 2, LIST_OF("a\r\n", "b"), LIST_OF(1, 3), LIST_OF(1, 1));
    ASSERT_SPLIT("a\nGo 12 -- twelve\n\nb\ngO 0", 2, LIST_OF("a\n", "\nb\n"), LIST_OF(1, 3),
                 LIST_OF(12, 0));
    ASSERT_SPLIT("\n\nGO\n  \nGO\nGO 5\n", 0, LIST_OF(""), LIST_OF(0), LIST_OF(0));
    ASSERT_SPLIT("", 0, LIST_OF(""), LIST_OF(0), LIST_OF(0));
}

static void go_elsewhere_is_text(void **state)
{
    static const char *const texts[] = {
        "SELECT 'x\nGO\n'",
        "SELECT 'it''s\nGO\n'",
        "SELECT [a\nGO\n]",
        "SELECT \"a\nGO\n\"",
        "/* a\nGO\n*/",
        "/* a /* b */\nGO\n*/",
        "GOTO x",
        "GO x",
        "a GO",
        "GO;",
        "GO -1",
        "GO 5 6",
        "GO5",
        "GO 99999999999999999999",
        "GO 2000000000",
        "-- it's\n[a]]\nGO\n]",
        "SELECT '/*\nGO\n'",
        "[']\n'\nGO\n'",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_split(texts[i], 1, &texts[i], (const int32_t[]){1}, (const int64_t[]){1});
    ASSERT_SPLIT("-- it's\nGO\n", 1, LIST_OF("-- it's\n"), LIST_OF(1), LIST_OF(1));
    ASSERT_SPLIT("SELECT '/*'\nGO\n", 1, LIST_OF("SELECT '/*'\n"), LIST_OF(1), LIST_OF(1));
    ASSERT_SPLIT("SELECT 1 -- /*\nGO\nb", 2, LIST_OF("SELECT 1 -- /*\n", "b"), LIST_OF(1, 3),
                 LIST_OF(1, 1));
}

static void write_file(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void files_may_have_a_byte_order_mark(void **state)
{
    Arena      *arena = arena_new();
    const char *dir   = test_dir_new(arena);
    const char *path  = str_c(arena, str_printf(arena, "%s/a.sql", dir));
    Script      script;
    Err         err = ERR_INIT;

    (void)state;
    write_file(path, "\xEF\xBB\xBFSELECT 1", 11);
    assert_ok(script_read(str_from_c(path), arena, &script, &err), &err);
    assert_str_is(script.batches.items[0].text, "SELECT 1");
    write_file(path, "\xFF\xFE\xFC\0\n\0G\0O\0", 10);
    assert_ok(script_read(str_from_c(path), arena, &script, &err), &err);
    assert_int_equal(script.batches.count, 1);
    assert_str_is(script.batches.items[0].text, "\xC3\xBC\n");
    assert_false(script_read(STR("/nowhere/x.sql"), arena, &script, &err));
    assert_err(&err, ERR_FAILED, "cannot read /nowhere/x.sql");
    test_dir_remove(dir);
    arena_close(arena);
}

static void bytes_that_are_no_text_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *bytes;
        size_t      len;
        const char *says;
    } cases[] = {
        {"SELECT '\xC3\xBC\xFC'", 12, "a.sql is not UTF-8: byte 0xFC at offset 10"},
        {"\xEF\xBB\xBFgo\x80", 6, "a.sql is not UTF-8: byte 0x80 at offset 5"},
        {"\xED\xA0\x80", 3, "a.sql is not UTF-8: byte 0xED at offset 0"},
        {"\xFF\xFEG\0O", 5, "a.sql is not UTF-16: half a character at offset 4"},
        {"\xFF\xFEG\0\x00\xD8O\0", 8, "a.sql is not UTF-16: half a character at offset 4"},
        {"\xFF\xFEG\0\x00\xDC", 6, "a.sql is not UTF-16: half a character at offset 4"},
    };
    Arena      *arena = arena_new();
    const char *dir   = test_dir_new(arena);
    const char *path  = str_c(arena, str_printf(arena, "%s/a.sql", dir));
    Script      script;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Err err = ERR_INIT;
        write_file(path, cases[i].bytes, cases[i].len);
        assert_false(script_read(str_from_c(path), arena, &script, &err));
        assert_err(&err, ERR_FAILED, cases[i].says);
    }
    test_dir_remove(dir);
    arena_close(arena);
}

/* --- results --- */

typedef struct Out { /* a printer and what it wrote */
    char    *out_text, *err_text;
    size_t   out_len, err_len;
    FILE    *out, *err;
    Printer *printer;
    SimSink *sink;
} Out;

static void out_open(Out *out, PrinterMode mode)
{
    *out         = (Out){.out_text = NULL};
    out->out     = open_memstream(&out->out_text, &out->out_len);
    out->err     = open_memstream(&out->err_text, &out->err_len);
    out->printer = printer_new(out->out, out->err, mode);
    out->sink    = printer_sink(out->printer);
    printer_begin_batch(out->printer, STR("x.sql"), 10);
}

static void out_close(Out *out, const char *want_out, const char *want_err)
{
    printer_end_batch(out->printer);
    printer_finish_json(out->printer, false);
    printer_close(out->printer);
    (void)fclose(out->out);
    (void)fclose(out->err);
    assert_string_equal(out->out_text, want_out);
    assert_string_equal(out->err_text, want_err);
    free(out->out_text);
    free(out->err_text);
}

static void send_rows(SimSink *sink, Arena *arena)
{
    SimResultColumn columns[] = {{.name = STR("id"), .type = sim_type(SIM_INT)},
                                 {.name = STR("name"), .type = sim_type_sized(SIM_NVARCHAR, 20)},
                                 {.name = STR("f"), .type = sim_type(SIM_FLOAT)},
                                 {.name = STR(""), .type = sim_type_sized(SIM_VARBINARY, 4)}};
    SimValue        first[]   = {sim_int(7, SIM_INT), sim_nvarchar(arena, STR("J\xC3\xBCrgen\n")),
                                 sim_float(0.1), sim_varbinary((Bytes){(const uint8_t *)"\xAB\x01", 2})};
    SimValue second[] = {sim_int(-12345, SIM_INT), sim_null(sim_type_sized(SIM_NVARCHAR, 20)),
                         sim_float(1e300), sim_null(sim_type_sized(SIM_VARBINARY, 4))};

    assert_true(sink->columns(sink, columns, 4));
    assert_true(sink->row(sink, first, 4));
    assert_true(sink->row(sink, second, 4));
    assert_true(sink->done(sink, &(SimDone){.has_count = true, .row_count = 2}));
}

static const SimError boo = {
    .number = 208, .severity = 16, .state = 1, .line = 3, .procedure = "p", .message = "Boo."};
static const SimError hello = {.severity = 0, .message = "hello"};

static void results_are_aligned_and_messages_look_like_sqlcmds(void **state)
{
    Arena *arena = arena_new();
    Out    out;

    (void)state;
    out_open(&out, PRINTER_TEXT);
    send_rows(out.sink, arena);
    assert_true(out.sink->message(out.sink, &hello));
    assert_true(out.sink->done(out.sink, &(SimDone){.has_count = true, .row_count = 1}));
    assert_true(out.sink->message(out.sink, &boo));
    assert_int_equal(printer_error(out.printer)->number, 208);
    out_close(&out,
              "    id  name           f  \n"
              "------  --------  ------  ------\n"
              "     7  J\xC3\xBCrgen\\n     0.1  0xAB01\n"
              "-12345  NULL      1e+300  NULL\n"
              "\n(2 rows affected)\n\n"
              "hello\n"
              "(1 row affected)\n\n",
              "Msg 208, Level 16, State 1, Procedure p, Line 3\nBoo.\n");
    arena_close(arena);
}

static void json_holds_results_and_messages(void **state)
{
    Arena *arena = arena_new();
    Out    out;

    (void)state;
    out_open(&out, PRINTER_JSON);
    send_rows(out.sink, arena);
    assert_true(out.sink->message(out.sink, &boo));
    out_close(&out,
              "{\"results\": [{\"columns\": [\"id\", \"name\", \"f\", \"\"], \"rows\": [[7, "
              "\"J\xC3\xBCrgen\\n\", 0.1, \"0xAB01\"], [-12345, null, 1e+300, null]]}], "
              "\"messages\": [{\"number\": 208, \"severity\": 16, \"state\": 1, \"line\": 3, "
              "\"procedure\": \"p\", \"file\": \"x.sql\", \"file_line\": 12, \"text\": \"Boo.\"}], "
              "\"failed\": true}\n",
              "");
    arena_close(arena);
}

static void a_quiet_printer_shows_messages_alone(void **state)
{
    const SimError use   = {.number = 5701, .message = "Changed database context to 'shop'."};
    Arena         *arena = arena_new();
    Out            out;

    (void)state;
    out_open(&out, PRINTER_QUIET);
    send_rows(out.sink, arena);
    assert_true(out.sink->message(out.sink, &use));
    assert_true(out.sink->message(out.sink, &hello));
    assert_true(out.sink->message(out.sink, &boo));
    out_close(&out, "hello\n", "Msg 208, Level 16, State 1, Procedure p, Line 3\nBoo.\n");
    arena_close(arena);
}

static void a_result_of_any_length_is_printed(void **state)
{
    SimResultColumn column = {.name = STR("n"), .type = sim_type(SIM_INT)};
    Out             out;
    size_t          lines = 0;

    (void)state;
    out_open(&out, PRINTER_TEXT);
    assert_true(out.sink->columns(out.sink, &column, 1));
    for (int64_t i = 0; i < 2500; i++) {
        SimValue value = sim_int(i, SIM_INT);
        assert_true(out.sink->row(out.sink, &value, 1));
    }
    printer_end_batch(out.printer);
    (void)fflush(out.out);
    for (size_t i = 0; i < out.out_len; i++)
        lines += out.out_text[i] == '\n';
    assert_int_equal(lines, 2 + 2500 + 1);
    printer_close(out.printer);
    (void)fclose(out.out);
    (void)fclose(out.err);
    free(out.out_text);
    free(out.err_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_the_defaults_of_the_reference),
        cmocka_unit_test(options_take_values_either_way),
        cmocka_unit_test(wrong_options_say_what_is_allowed),
        cmocka_unit_test(go_on_its_own_line_ends_a_batch),
        cmocka_unit_test(go_elsewhere_is_text),
        cmocka_unit_test(files_may_have_a_byte_order_mark),
        cmocka_unit_test(bytes_that_are_no_text_are_refused_with_their_place),
        cmocka_unit_test(results_are_aligned_and_messages_look_like_sqlcmds),
        cmocka_unit_test(json_holds_results_and_messages),
        cmocka_unit_test(a_quiet_printer_shows_messages_alone),
        cmocka_unit_test(a_result_of_any_length_is_printed),
    };

    return RUN_TESTS(tests);
}
