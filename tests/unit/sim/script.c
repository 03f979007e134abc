#include "unit/sim/script.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SESSIONS 8

struct Script {
    SimSink     sink; /* first: callbacks find the script by it */
    Arena      *arena;
    Clock      *clock;
    Sched      *sched;
    Rng        *rng;
    SimServer  *server;
    SimSession *sessions[SESSIONS];
    Str         users[SESSIONS], passwords[SESSIONS];
    Buf         out;
};

/* --- what comes back, as text --- */
static bool on_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    Script *script = (Script *)sink;

    for (size_t i = 0; i < count; i++)
        buf_printf(&script->out, "%s%.*s", i ? "|" : "", STR_ARG(columns[i].name));
    buf_append_char(&script->out, '\n');
    return true;
}

static void append_value(Script *script, const SimValue *value)
{
    SimType  text_type = sim_type_sized(SIM_NVARCHAR, -1);
    SimValue text;
    SimError error  = SIM_ERROR_INIT;
    bool     binary = sim_type_is_binary(value->type.kind);

    if (value->is_null) {
        buf_append_c(&script->out, "NULL");
        return;
    }
    if (binary) {
        Str hex = hex_encode(script->arena, value->bytes, true);
        buf_printf(&script->out, "0x%.*s", STR_ARG(hex));
        return;
    }
    int style = sim_type_is_time(value->type.kind) ? 121 : 0;
    assert_true(sim_convert(value, &text_type, style, false, script->arena, &text, &error));
    buf_append(&script->out, sim_value_text(script->arena, &text));
}

static bool on_row(SimSink *sink, const SimValue *values, size_t count)
{
    Script *script = (Script *)sink;

    for (size_t i = 0; i < count; i++) {
        if (i) buf_append_char(&script->out, '|');
        append_value(script, &values[i]);
    }
    buf_append_char(&script->out, '\n');
    return true;
}

static bool on_message(SimSink *sink, const SimError *message)
{
    Script *script = (Script *)sink;

    if (message->severity <= 10)
        buf_printf(&script->out, "# %s\n", message->message);
    else
        buf_printf(&script->out, "!%d %d %d line %d: %s\n", message->number, message->severity,
                   message->state, message->line, message->message);
    return true;
}

static bool on_done(SimSink *sink, const SimDone *done)
{
    Script *script = (Script *)sink;

    if (done->has_count) buf_printf(&script->out, "(%lld)\n", (long long)done->row_count);
    if (done->is_attention) buf_append_c(&script->out, "(stopped)\n");
    return true;
}

static bool on_env_change(SimSink *sink, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    (void)sink;
    (void)kind;
    (void)new_value;
    (void)old_value;
    return true;
}

static bool on_status(SimSink *sink, int32_t status)
{
    if (status != 0) buf_printf(&((Script *)sink)->out, "(status %d)\n", status);
    return true;
}

static bool on_value(SimSink *sink, Str name, const SimValue *value)
{
    Script *script = (Script *)sink;

    buf_printf(&script->out, "%.*s = ", STR_ARG(name));
    append_value(script, value);
    buf_append_char(&script->out, '\n');
    return true;
}

Script *script_open(void)
{
    Script  *script = mem_alloc(sizeof *script);
    SimError error  = SIM_ERROR_INIT;

    script->sink       = (SimSink){.columns       = on_columns,
                                   .row           = on_row,
                                   .message       = on_message,
                                   .done          = on_done,
                                   .env_change    = on_env_change,
                                   .return_status = on_status,
                                   .return_value  = on_value};
    script->arena      = arena_new();
    script->out        = buf_new(script->arena, 0);
    script->clock      = clock_new_real();
    script->sched      = sched_new_real();
    script->rng        = rng_new(7);
    SimOptions options = {.clock               = script->clock,
                          .sched               = script->sched,
                          .rng                 = script->rng,
                          .capture_interval_ms = -1,
                          .login               = STR("sa"),
                          .password            = STR("secret")};
    if (!sim_server_open(&options, &script->server, &error))
        fail_msg("no server: %s", error.message);
    for (int i = 0; i < SESSIONS; i++)
        script_login(script, i, STR("sa"), STR("secret"));
    (void)script_run(script, 1, STR("EXEC tidesim.clock 'virtual', '2026-03-01T12:00:00'"));
    return script;
}

void script_close(Script *script)
{
    for (int i = 0; i < SESSIONS; i++)
        sim_session_close(script->sessions[i]);
    sim_server_close(script->server);
    rng_close(script->rng);
    clock_close(script->clock);
    sched_close(script->sched);
    arena_close(script->arena);
    mem_free(script);
}

void script_login(Script *script, int session, Str user, Str password)
{
    script->users[session]     = str_copy(script->arena, user);
    script->passwords[session] = str_copy(script->arena, password);
}

SimServer *script_server(Script *script)
{
    return script->server;
}

SimSession *script_session(Script *script, int session)
{
    SimError error = SIM_ERROR_INIT;

    if (script->sessions[session]) return script->sessions[session];
    SimLoginRequest login = {.user      = script->users[session],
                             .password  = script->passwords[session],
                             .database  = STR_EMPTY,
                             .app_name  = STR("script"),
                             .host_name = STR("test"),
                             .odbc      = true};
    if (sim_server_find_database(script->server, STR("shop"))) login.database = STR("shop");
    if (!sim_session_open(script->server, &login, &script->sessions[session], &error))
        fail_msg("no session: %s", error.message);
    return script->sessions[session];
}

Str script_run(Script *script, int session, Str sql)
{
    script->out = buf_new(script->arena, 0);
    if (!sim_session_batch(script_session(script, session), sql, &script->sink))
        buf_append_c(&script->out, "(closed)\n");
    return buf_str(&script->out);
}

Str script_rpc(Script *script, int session, uint16_t proc_id, const char *name,
               const SimParameter *params, size_t count)
{
    script->out = buf_new(script->arena, 0);
    if (!sim_session_rpc(script_session(script, session), proc_id, str_from_c(name), params, count,
                         &script->sink))
        buf_append_c(&script->out, "(closed)\n");
    return buf_str(&script->out);
}

SimSink *script_sink(Script *script)
{
    return &script->sink;
}

Str script_answer(Script *script)
{
    Str answer  = buf_str(&script->out);
    script->out = buf_new(script->arena, 0);
    return answer;
}

/* --- files --- */
static Str read_file(Arena *arena, const char *path)
{
    FILE  *file = fopen(path, "rb");
    Buf    buf  = buf_new(arena, 0);
    char   chunk[4096];
    size_t got;

    if (!file) fail_msg("cannot read %s", path);
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        buf_append_bytes(&buf, chunk, got);
    (void)fclose(file);
    return buf_str(&buf);
}

static void write_file(const char *path, Str text)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(text.ptr, 1, text.len, file) != text.len || fclose(file) != 0)
        fail_msg("cannot write %s", path);
}

static void append_answer(Buf *out, Str answer)
{
    Str line;

    if (answer.len == 0) {
        buf_append_c(out, "-->\n");
        return;
    }
    if (str_ends_with(answer, STR("\n"))) answer.len--;
    while (str_split_next(&answer, '\n', &line))
        buf_printf(out, "--> %.*s\n", STR_ARG(line));
}

typedef struct Reader {
    Script     *script;
    int         session;
    bool        stats;
    Buf         sql, want, copy;
    int         line, sql_line;
    bool        in_answer;
    const char *path;
    int         failures;
} Reader;

static void finish_block(Reader *reader)
{
    Script *script = reader->script;
    Buf     got = buf_new(script->arena, 0), answer = buf_new(script->arena, 0);

    if (!reader->in_answer) return;
    buf_append(&got, script_run(script, reader->session, buf_str(&reader->sql)));
    if (reader->stats) {
        SimStats stats = sim_session_stats(script_session(script, reader->session), true);
        buf_printf(&got, "stats seeks=%lld scans=%lld examined=%lld returned=%lld\n",
                   (long long)stats.seeks, (long long)stats.scans, (long long)stats.rows_examined,
                   (long long)stats.rows_returned);
    }
    append_answer(&answer, buf_str(&got));
    buf_append(&reader->copy, buf_str(&answer));
    if (!str_equal(buf_str(&answer), buf_str(&reader->want)) && !getenv("SCRIPT_UPDATE")) {
        Str sql = str_trim(buf_str(&reader->sql)), want = buf_str(&reader->want),
            is = buf_str(&answer);
        fprintf(stderr, "%s:%d: %.*s\nwant:\n%.*sgot:\n%.*s", reader->path, reader->sql_line,
                STR_ARG(sql), STR_ARG(want), STR_ARG(is));
        reader->failures++;
    }
    buf_clear(&reader->sql);
    buf_clear(&reader->want);
    reader->in_answer = reader->stats = false;
}

static void directive(Reader *reader, Str line)
{
    Script *script = reader->script;
    Str     rest   = str_trim(str_slice(line, 3, line.len)), word;
    int64_t number = 1;

    if (!str_split_next(&rest, ' ', &word) || !str_parse_i64(word, &number) || number < 1 ||
        number >= SESSIONS)
        fail_msg("%s:%d: which session?", reader->path, reader->line);
    reader->session = (int)number;
    Str user, password;
    if (rest.ptr && str_split_next(&rest, ' ', &user) && str_split_next(&rest, ' ', &password))
        script_login(script, (int)number, user, password);
}

static void read_line(Reader *reader, Str line)
{
    bool is_answer = str_starts_with(line, STR("-->"));

    if (!is_answer) finish_block(reader);
    if (is_answer) {
        reader->in_answer = true;
        buf_printf(&reader->want, "%.*s\n", STR_ARG(line));
        return;
    }
    buf_printf(&reader->copy, "%.*s\n", STR_ARG(line));
    if (str_starts_with(line, STR("--@"))) {
        directive(reader, line);
    } else if (str_starts_with(line, STR("--stats"))) {
        reader->stats = true;
    } else {
        if (str_trim(buf_str(&reader->sql)).len == 0) {
            buf_clear(&reader->sql);
            reader->sql_line = reader->line;
            if (str_trim(line).len == 0) return;
        }
        buf_printf(&reader->sql, "%.*s\n", STR_ARG(line));
    }
}

void script_check_file(const char *name)
{
    const char *root = getenv("TIDELAKE_SOURCE_ROOT");
    char        path[400];
    Script     *script = script_open();
    Reader      reader = {.script  = script,
                          .session = 1,
                          .sql     = buf_new(script->arena, 0),
                          .want    = buf_new(script->arena, 0),
                          .copy    = buf_new(script->arena, 0),
                          .path    = name};
    Str         line;

    (void)snprintf(path, sizeof path, "%s/tests/unit/sim/sql/%s.sql", root ? root : ".", name);
    Str rest = read_file(script->arena, path);
    if (str_ends_with(rest, STR("\n"))) rest.len--;
    while (str_split_next(&rest, '\n', &line)) {
        reader.line++;
        read_line(&reader, line);
    }
    finish_block(&reader);
    if (getenv("SCRIPT_UPDATE")) write_file(path, buf_str(&reader.copy));
    int failures = reader.failures;
    script_close(script);
    if (failures > 0) fail_msg("%s: %d answers differ", name, failures);
}
