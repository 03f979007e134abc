#define _XOPEN_SOURCE 700 /* posix_openpt */

#include "support/test_support.h"

#include "cli/progress.h"

#include "support/terminal.h"

typedef struct Fixture {
    Clock   clock; /* first, so that a Clock * is a Fixture * */
    int64_t now_ns;
    Arena  *arena;
    Str     last; /* line of the log */
    size_t  line_count;
} Fixture;

static int64_t fixture_utc_us(Clock *clock)
{
    return ((Fixture *)clock)->now_ns / 1000;
}

static int64_t fixture_monotonic_ns(Clock *clock)
{
    return ((Fixture *)clock)->now_ns;
}

static void keep_line(void *arg, LogLevel level, Str line)
{
    Fixture *fixture = arg;

    (void)level;
    fixture->last = str_from_c(str_c(fixture->arena, line));
    fixture->line_count++;
}

static int set_up(void **state)
{
    Fixture *fixture = test_calloc(1, sizeof *fixture);

    fixture->clock = (Clock){.utc_us = fixture_utc_us, .monotonic_ns = fixture_monotonic_ns};
    fixture->arena = arena_new();
    *state         = fixture;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *fixture = *state;

    arena_close(fixture->arena);
    test_free(fixture);
    return 0;
}

static void show_at(Fixture *fixture, ProgressLine *line, double seconds, Progress progress)
{
    fixture->now_ns = (int64_t)(seconds * 1e9);
    progress_show(line, &progress);
}

static Progress step(const char *name, int64_t began_s, int64_t done)
{
    return (Progress){.name     = str_from_c(name),
                      .what     = "snapshot",
                      .unit     = "rows",
                      .done     = done,
                      .total    = 4000,
                      .bytes    = done * 10000,
                      .began_ns = began_s * 1000000000};
}

static void a_step_has_a_log_line_for_every_ten_seconds_it_takes(void **state)
{
    Fixture      *fixture = *state;
    Log          *log     = log_new(&fixture->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_line, fixture);
    ProgressLine *line    = progress_new(log, &fixture->clock, false);
    Progress      over    = step("a", 0, 3000);

    show_at(fixture, line, 0, step("a", 0, 0));
    show_at(fixture, line, 9.9, step("a", 0, 900));
    assert_int_equal(fixture->line_count, 0);
    show_at(fixture, line, 10, step("a", 0, 1000));
    assert_int_equal(fixture->line_count, 1);
    assert_non_null(strstr(fixture->last.ptr, "INFO progress still at work progress=\"a snapshot: "
                                              "1000/4000 rows, 100 rows/s, 1.0 MB/s, ETA 30 s\""));
    show_at(fixture, line, 12, step("a", 0, 1200));
    show_at(fixture, line, 19, step("b", 5, 1400)); /* another stream has its own ten seconds */
    assert_int_equal(fixture->line_count, 2);
    show_at(fixture, line, 20, step("a", 0, 2000));
    assert_int_equal(fixture->line_count, 3);
    over.is_over = true;
    show_at(fixture, line, 31, over);
    show_at(fixture, line, 32, step("a", 31, 10)); /* the next step begins anew */
    assert_int_equal(fixture->line_count, 3);
    show_at(fixture, line, 41, step("a", 31, 500));
    assert_int_equal(fixture->line_count, 4);
    assert_non_null(strstr(fixture->last.ptr, "500/4000 rows, 50 rows/s"));
    progress_close(line);
    log_close(log);
}

/* Waves are short and follow each other for hours: the ten seconds are the call's. */
static void a_snapshot_in_waves_tells_where_it_is(void **state)
{
    Fixture      *fixture = *state;
    Log          *log     = log_new(&fixture->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_line, fixture);
    ProgressLine *line    = progress_new(log, &fixture->clock, false);
    ChunkProgress chunks  = {.done = 12, .total = 40, .wave = 3, .rows_left = 5000};
    Progress      wave    = {.name     = STR("a"),
                             .what     = "backfill",
                             .unit     = "rows",
                             .done     = 1000,
                             .bytes    = 10000000,
                             .began_ns = 8000000000,
                             .chunks   = &chunks};

    show_at(fixture, line, 9.9, wave);
    assert_int_equal(fixture->line_count, 0);
    show_at(fixture, line, 10, wave);
    assert_non_null(strstr(fixture->last.ptr,
                           "progress=\"a backfill: 12/40 chunks, wave 3: 1000 rows, 500 rows/s, "
                           "5.0 MB/s, ETA 8 s\""));
    wave.began_ns         = 19000000000; /* another wave of the same call */
    chunks.headroom_hours = OPT_DOUBLE(70.25);
    show_at(fixture, line, 20, wave);
    assert_int_equal(fixture->line_count, 2);
    assert_non_null(strstr(fixture->last.ptr, ", ETA 4 s, headroom 70.2 h\""));
    wave.done = wave.bytes = 0;
    show_at(fixture, line, 30, wave); /* nothing has come yet */
    assert_non_null(strstr(fixture->last.ptr, "wave 3: 0 rows, headroom 70.2 h\""));
    progress_close(line);
    log_close(log);
}

static const char *read_drawn(int control, char *text, size_t size)
{
    ssize_t length = read(control, text, size - 1);

    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void a_terminal_has_one_line_redrawn_five_times_a_second(void **state)
{
    Fixture *fixture = *state;
    int      control;
    Progress over = step("a", 0, 20);
    char     text[1000];

    int terminal = terminal_open(&control);
    assert_int_equal(fcntl(control, F_SETFL, O_NONBLOCK), 0);

    Log          *log  = log_new_fd(&fixture->clock, LOG_INFO, LOG_FORMAT_TEXT, terminal);
    ProgressLine *line = progress_new(log, &fixture->clock, true);
    over.is_over       = true;
    show_at(fixture, line, 0, (Progress){.name = STR("a"), .what = "apply: reading changes"});
    assert_string_equal(read_drawn(control, text, sizeof text), "\r\033[Ka apply: reading changes");
    show_at(fixture, line, 0.1, step("a", 0, 5));
    assert_string_equal(read_drawn(control, text, sizeof text), "");
    show_at(fixture, line, 0.2, step("a", 0, 10));
    assert_string_equal(read_drawn(control, text, sizeof text),
                        "\r\033[Ka snapshot: 10/4000 rows, 50 rows/s, 0.5 MB/s, ETA 80 s");
    show_at(fixture, line, 0.3, (Progress){.name = STR("b"), .is_over = true});
    assert_string_equal(read_drawn(control, text, sizeof text), "");
    show_at(fixture, line, 0.4, over); /* nothing stale stays while the stream waits */
    assert_string_equal(read_drawn(control, text, sizeof text), "\r\033[K");
    progress_close(line);
    log_close(log);
    (void)close(terminal);
    (void)close(control);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_step_has_a_log_line_for_every_ten_seconds_it_takes),
        CASE(a_snapshot_in_waves_tells_where_it_is),
        CASE(a_terminal_has_one_line_redrawn_five_times_a_second),
    };

    return RUN_TESTS(tests);
}
