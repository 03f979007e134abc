/* cmd_stream.c - `tidelake stream`: one or many streams side by side, each in a task of its own. */
#include "cli/output.h"
#include "cli/stream_settings.h"
#include "cli/wire.h"

typedef struct Running {
    Env          *env;
    Str           name;
    bool          is_alone; /* main prints its error */
    StreamOptions options;
    StreamResult  result;
    bool          ok;
    Err           err;
    Task         *task;
} Running;

static void run(void *arg)
{
    Running *running = arg;
    char     text[1800];

    running->ok = stream_run(running->env, &running->options, &running->result, &running->err);
    if (running->ok || running->is_alone || running->err.code == ERR_CANCELLED) return;
    err_format(&running->err, text, sizeof text);
    log_error(running->env->log, "stream", "stream failed", LOG_STR("stream", running->name),
              LOG_TEXT("error", text));
}

static void write_result(JsonWriter *json, const StreamResult *result)
{
    json_object_begin(json);
    json_member_i64(json, "batches", result->batches);
    json_member_i64(json, "rows", result->rows);
    json_member_lsn(json, "start_lsn", result->start_lsn);
    json_member_lsn(json, "end_lsn", result->end_lsn);
    json_member_time(json, "end_commit_ts", result->end_commit_ts);
    json_member_i64(json, "generation", result->generation);
    json_member_lsn(json, "snapshot", result->snapshot);
    json_object_end(json);
}

static void write_many(JsonWriter *json, const Running *streams, size_t count)
{
    char text[1800];

    json_object_begin(json);
    json_key(json, STR("streams"));
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        json_key(json, streams[i].name);
        write_result(json, &streams[i].result);
    }
    json_object_end(json);
    json_key(json, STR("failed"));
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (streams[i].ok) continue;
        err_format(&streams[i].err, text, sizeof text);
        json_member_str(json, str_c(json->buf->arena, streams[i].name), str_from_c(text));
    }
    json_object_end(json);
    json_object_end(json);
}

static bool print_results(const Invocation *invocation, const Running *streams, size_t count,
                          Err *err)
{
    Buf        buf  = buf_new(invocation->arena, 0);
    JsonWriter json = json_writer(&buf, true, false);

    if (invocation->json) {
        if (count == 1 && streams[0].ok)
            write_result(&json, &streams[0].result);
        else
            write_many(&json, streams, count);
        return output_line(buf_str(&buf), err);
    }
    for (size_t i = 0; i < count; i++) {
        const StreamResult *result = &streams[i].result;
        Str position = result->end_lsn.is_set ? str_from_c(lsn_format(result->end_lsn.lsn).text)
                                              : STR("none");
        Str line = str_printf(invocation->arena, "%.*s: %lld batches, %lld rows, position %.*s%s",
                              STR_ARG(streams[i].name), (long long)result->batches,
                              (long long)result->rows, STR_ARG(position),
                              streams[i].ok ? "" : " (stopped)");
        if (!output_line(line, err)) return false;
    }
    return true;
}

/* The code they failed with when it is one, else 1; a stop on request comes last. */
static bool summarize(const Running *streams, size_t count, Err *err)
{
    const Err *first   = NULL;
    size_t     failed  = 0;
    bool       is_same = true;

    for (size_t i = 0; i < count; i++) {
        if (streams[i].ok) continue;
        if (streams[i].err.code == ERR_CANCELLED) {
            if (!first) first = &streams[i].err;
            continue;
        }
        if (first && first->code != ERR_CANCELLED &&
            err_exit_status(first->code) != err_exit_status(streams[i].err.code))
            is_same = false;
        if (!first || first->code == ERR_CANCELLED) first = &streams[i].err;
        failed++;
    }
    if (!first) return true;
    if (failed <= 1) return err_copy(err, first);
    if (is_same)
        return err_set(err, first->code, "%zu of %zu streams failed, first: %s", failed, count,
                       first->message);
    return err_set(err, ERR_FAILED, "%zu of %zu streams failed, first: %s", failed, count,
                   first->message);
}

static bool read_max_batches(const Invocation *invocation, int64_t *out, Err *err)
{
    Str text = invocation->flags[FLAG_MAX_BATCHES];

    *out = 0;
    if (!text.ptr) return true;
    return (str_parse_i64(text, out) && *out > 0) ||
           err_set(err, ERR_USAGE, "--max-batches is \"%.*s\"; allowed: a whole number from 1 on",
                   STR_ARG(text));
}

bool cmd_stream(Invocation *invocation, Err *err)
{
    ChosenStream *chosen;
    Running      *streams;
    size_t        count;
    int64_t       max_batches;
    Wire          wire;
    bool          ok;

    if (!choose_streams(invocation, &chosen, &count, err) ||
        !read_max_batches(invocation, &max_batches, err))
        return false;
    streams = ARENA_ARRAY(invocation->arena, Running, count);
    for (size_t i = 0; i < count; i++) {
        streams[i].name     = chosen[i].name;
        streams[i].is_alone = count == 1;
        if (!stream_options_from_settings(&chosen[i].settings, invocation->arena,
                                          &streams[i].options, err))
            return err_context(err, "%.*s", STR_ARG(chosen[i].name));
        streams[i].options.max_batches = max_batches;
    }
    ok = wire_open(invocation, &chosen[0].settings, true, &wire, err);
    if (ok) {
        for (size_t i = 0; i < count; i++) {
            streams[i].env  = &wire.env;
            streams[i].task = sched_spawn(wire.env.sched, "stream", run, &streams[i]);
        }
        for (size_t i = 0; i < count; i++)
            sched_join(wire.env.sched, streams[i].task);
        ok = print_results(invocation, streams, count, err) && summarize(streams, count, err);
    }
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
