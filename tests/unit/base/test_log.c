#define _XOPEN_SOURCE 700 /* posix_openpt */
#include "support/test_support.h"

#include "base/log.h"
#include "base/sched.h"

#include "support/terminal.h"

#define START_UTC_US INT64_C(1930385472345678) /* 2031-03-04T10:11:12.345678 */

typedef struct Lines {
    Sched *sched;
    Clock *clock;
    Arena *arena;
    char   text[4096];
    size_t len;
    int    line_count;
} Lines;

static int open_lines(void **state)
{
    Lines *lines = mem_alloc(sizeof *lines);

    lines->sched = sched_new_simulated(1, START_UTC_US, &lines->clock);
    lines->arena = arena_new();
    *state       = lines;
    return 0;
}

static int close_lines(void **state)
{
    Lines *lines = *state;

    sched_close(lines->sched);
    arena_close(lines->arena);
    mem_free(lines);
    return 0;
}

static void keep_line(void *arg, LogLevel level, Str line)
{
    Lines *lines = arg;

    (void)level;
    assert_int_equal(str_find_char(line, '\n', 0), -1);
    lines->len = MIN(line.len, sizeof lines->text);
    memcpy(lines->text, line.ptr, lines->len);
    lines->line_count++;
}

static Str last_line(const Lines *lines)
{
    return (Str){lines->text, lines->len};
}

static void a_text_line_has_time_level_module_message_and_fields(void **state)
{
    Lines *lines = *state;
    Log   *log   = log_new(lines->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_line, lines);

    log_info(log, "stream", "batch committed", LOG_I64("batch", 41),
             LOG_STR("end_lsn", STR("0x00")), LOG_I64("duration_ms", 913));
    assert_str_is(last_line(lines), "2031-03-04T10:11:12.345Z INFO stream batch committed batch=41 "
                                    "end_lsn=0x00 duration_ms=913");
    log_error(log, "store", "disk full", LOG_NONE);
    assert_str_is(last_line(lines), "2031-03-04T10:11:12.345Z ERROR store disk full");
    clock_sleep_ms(lines->clock, 1, NULL);
    log_warn(log, "a", "b", LOG_DOUBLE("ratio", 0.5), LOG_BOOL("ok", true), LOG_BOOL("bad", false),
             LOG_TEXT("none", NULL));
    assert_str_is(last_line(lines),
                  "2031-03-04T10:11:12.346Z WARN a b ratio=0.5 ok=true bad=false none=\"\"");
    log_close(log);
    log_close(NULL);
}

static void values_that_would_mislead_are_quoted(void **state)
{
    Lines *lines = *state;
    Log   *log   = log_new(lines->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_line, lines);

    log_info(log, "m", "x", LOG_TEXT("a", "two words"), LOG_TEXT("b", "k=v"),
             LOG_TEXT("c", "say \"hi\" \\"), LOG_TEXT("d", ""), LOG_TEXT("e", "line\nfeed\x1b[2J"),
             LOG_TEXT("f", "plain/path_1.parquet"), LOG_TEXT("g", "\xC3\xA4\xE2\x82\xAC"),
             LOG_TEXT("h", "it's"));
    assert_str_is(
        last_line(lines),
        "2031-03-04T10:11:12.345Z INFO m x a=\"two words\" b=\"k=v\" c=\"say \\\"hi\\\" \\\\\" "
        "d=\"\" "
        "e=\"line\\nfeed\\u001b[2J\" f=plain/path_1.parquet g=\xC3\xA4\xE2\x82\xAC h=\"it's\"");
    log_info(log, "m", "forged\n2031 ERROR", LOG_NONE);
    assert_str_is(last_line(lines), "2031-03-04T10:11:12.345Z INFO m forged\\n2031 ERROR");
    log_close(log);
}

static void a_json_line_is_one_object(void **state)
{
    Lines *lines = *state;
    Log   *log   = log_new(lines->clock, LOG_TRACE, LOG_FORMAT_JSON, keep_line, lines);

    log_trace(log, "stream", "batch \"1\" read", LOG_I64("rows", 3), LOG_DOUBLE("mb", 1.0),
              LOG_TEXT("who", "a\nb"), LOG_BOOL("last", true));
    assert_str_is(last_line(lines),
                  "{\"ts\":\"2031-03-04T10:11:12.345Z\",\"level\":\"trace\",\"module\":\"stream\","
                  "\"message\":\"batch \\\"1\\\" "
                  "read\",\"rows\":3,\"mb\":1.0,\"who\":\"a\\nb\",\"last\":true}");
    log_close(log);
}

static void a_line_too_long_is_cut_and_json_stays_whole(void **state)
{
    Lines *lines     = *state;
    Log   *text      = log_new(lines->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_line, lines);
    Log   *json      = log_new(lines->clock, LOG_INFO, LOG_FORMAT_JSON, keep_line, lines);
    char  *long_text = arena_alloc(lines->arena, 100000);

    memset(long_text, 'v', 100000);
    log_info(text, "m", "x", LOG_STR("value", ((Str){long_text, 100000})));
    assert_true(
        str_starts_with(last_line(lines), STR("2031-03-04T10:11:12.345Z INFO m x value=vvv")));
    log_info(json, "m", "x", LOG_STR("value", ((Str){long_text, 100000})));
    assert_str_is(last_line(lines),
                  "{\"ts\":\"2031-03-04T10:11:12.345Z\",\"level\":\"info\",\"module\":\"m\","
                  "\"message\":\"x\",\"truncated\":true}");
    log_close(text);
    log_close(json);
}

static void lines_below_the_level_are_not_made(void **state)
{
    Lines *lines = *state;
    Log   *log   = log_new(lines->clock, LOG_WARN, LOG_FORMAT_TEXT, keep_line, lines);

    assert_true(log_is_on(log, LOG_ERROR));
    assert_false(log_is_on(log, LOG_INFO));
    log_info(log, "m", "x", LOG_NONE);
    log_write(log, LOG_DEBUG, "m", "x", NULL);
    assert_int_equal(lines->line_count, 0);
    log_write(log, LOG_WARN, "m", "x", NULL);
    assert_int_equal(lines->line_count, 1);
    log_close(log);
}

static void levels_are_read_by_name(void **state)
{
    LogLevel level = LOG_INFO;

    (void)state;
    assert_true(log_level_parse(STR("error"), &level));
    assert_int_equal(level, LOG_ERROR);
    assert_true(log_level_parse(STR("TRACE"), &level));
    assert_int_equal(level, LOG_TRACE);
    assert_false(log_level_parse(STR("loud"), &level));
    assert_false(log_level_parse(STR(""), &level));
}

static Str read_available(int fd, char *text, size_t size)
{
    ssize_t got = read(fd, text, size);
    return (Str){text, got > 0 ? (size_t)got : 0};
}

static void outside_a_terminal_there_is_no_status_line(void **state)
{
    Lines *lines = *state;
    char   text[4096];
    int    fds[2];

    assert_int_equal(pipe(fds), 0);
    Log *log = log_new_fd(lines->clock, LOG_INFO, LOG_FORMAT_TEXT, fds[1]);
    log_set_status_line(log, STR("half done"));
    log_info(log, "m", "x", LOG_NONE);
    assert_str_is(read_available(fds[0], text, sizeof text), "2031-03-04T10:11:12.345Z INFO m x\n");
    log_close(log);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void a_terminal_keeps_the_status_line_below_the_log(void **state)
{
    Lines *lines = *state;
    int    control;
    char   text[4096];

    int terminal = terminal_open(&control);

    Log *log = log_new_fd(lines->clock, LOG_INFO, LOG_FORMAT_TEXT, terminal);
    log_set_status_line(log, STR("50 %"));
    assert_str_is(read_available(control, text, sizeof text), "\r\033[K50 %");
    log_info(log, "m", "x", LOG_NONE);
    assert_str_is(read_available(control, text, sizeof text),
                  "\r\033[K2031-03-04T10:11:12.345Z INFO m x\n50 %");
    log_set_status_line(log, STR("60 %\033[1m"));
    assert_str_is(read_available(control, text, sizeof text), "\r\033[K60 %\\u001b[1m");
    log_close(log); /* takes it away */
    assert_str_is(read_available(control, text, sizeof text), "\r\033[K");
    (void)close(terminal);
    (void)close(control);
}

static void write_many(void *arg)
{
    char value[200];

    memset(value, 'v', sizeof value);
    for (int i = 0; i < 500; i++)
        log_info(arg, "m", "line", LOG_STR("value", ((Str){value, sizeof value})));
}

static void lines_of_threads_never_mix(void **state)
{
    Clock *clock = clock_new_real();
    Sched *sched = sched_new_real();
    FILE  *file  = tmpfile();
    Task  *tasks[4];
    char   line[512];
    int    line_count = 0;

    (void)state;
    assert_non_null(file);
    Log *log = log_new_fd(clock, LOG_INFO, LOG_FORMAT_TEXT, fileno(file));
    for (size_t i = 0; i < COUNT_OF(tasks); i++)
        tasks[i] = sched_spawn(sched, "writer", write_many, log);
    for (size_t i = 0; i < COUNT_OF(tasks); i++)
        sched_join(sched, tasks[i]);
    rewind(file);
    for (; fgets(line, sizeof line, file) != NULL; line_count++)
        assert_int_equal(strlen(line), 24 + 19 + 200 + 1);
    assert_int_equal(line_count, 2000);
    log_close(log);
    (void)fclose(file);
    sched_close(sched);
    clock_close(clock);
}

#define with_lines(test) cmocka_unit_test_setup_teardown(test, open_lines, close_lines)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_lines(a_text_line_has_time_level_module_message_and_fields),
        with_lines(values_that_would_mislead_are_quoted),
        with_lines(a_json_line_is_one_object),
        with_lines(a_line_too_long_is_cut_and_json_stays_whole),
        with_lines(lines_below_the_level_are_not_made),
        with_lines(levels_are_read_by_name),
        with_lines(outside_a_terminal_there_is_no_status_line),
        with_lines(a_terminal_keeps_the_status_line_below_the_log),
        with_lines(lines_of_threads_never_mix),
    };
    return RUN_TESTS(tests);
}
