/* outcome.c - the results and failures of the streams of one command. */
#include "cli/outcome.h"

#include "cli/output.h"

static void write_many(JsonWriter *json, const Outcome *outcomes, size_t count,
                       const OutcomeForm *form)
{
    char text[ERR_TEXT_BYTES];

    json_object_begin(json);
    json_key(json, STR("streams"));
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (!outcomes[i].result) continue;
        json_key(json, outcomes[i].name);
        form->write(json, outcomes[i].result);
    }
    json_object_end(json);
    json_key(json, STR("failed"));
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (outcomes[i].ok || outcomes[i].err.code == ERR_CANCELLED) continue;
        err_format(&outcomes[i].err, text, sizeof text);
        json_key(json, outcomes[i].name);
        json_str(json, str_from_c(text));
    }
    json_object_end(json);
    json_object_end(json);
}

static bool print(const Outcome *outcomes, size_t count, const OutcomeForm *form, bool as_json,
                  Err *err)
{
    Arena     *arena = arena_new();
    Buf        buf   = buf_new(arena, 0);
    JsonWriter json  = json_writer(&buf, true, false);
    bool       ok    = true;

    if (as_json) {
        if (count == 1 && outcomes[0].result &&
            (outcomes[0].ok || outcomes[0].err.code == ERR_CANCELLED))
            form->write(&json, outcomes[0].result);
        else
            write_many(&json, outcomes, count, form);
        ok = output_line(buf_str(&buf), err);
    }
    for (size_t i = 0; ok && !as_json && i < count; i++)
        if (outcomes[i].result) ok = output_line(form->describe(arena, &outcomes[i]), err);
    arena_close(arena);
    return ok;
}

void outcome_log_failure(const Outcome *outcome, size_t count, Log *log, const char *module)
{
    char text[ERR_TEXT_BYTES];

    if (outcome->ok || count == 1 || outcome->err.code == ERR_CANCELLED) return;
    err_format(&outcome->err, text, sizeof text);
    log_error(log, module, "stream failed", LOG_STR("stream", outcome->name),
              LOG_TEXT("error", text));
}

static bool summarize(const Outcome *outcomes, size_t count, Err *err)
{
    const Err *first = NULL, *stopped = NULL;
    size_t     failed  = 0;
    bool       is_same = true;
    char       text[ERR_TEXT_BYTES];

    for (size_t i = 0; i < count; i++) {
        const Err *why = &outcomes[i].err;
        if (outcomes[i].ok) continue;
        if (why->code == ERR_CANCELLED) {
            stopped = why;
            continue;
        }
        if (!first) first = why;
        is_same = is_same && err_exit_status(first->code) == err_exit_status(why->code);
        failed++;
    }
    if (!first) return !stopped || err_copy(err, stopped);
    if (failed == 1) return err_copy(err, first);
    err_format(first, text, sizeof text);
    return err_set(err, is_same ? first->code : ERR_FAILED, "%zu of %zu streams failed, first: %s",
                   failed, count, text);
}

bool outcomes_finish(const Outcome *outcomes, size_t count, const OutcomeForm *form, bool as_json,
                     Err *err)
{
    Err  print_err  = ERR_INIT;
    bool is_printed = print(outcomes, count, form, as_json, &print_err);

    if (!summarize(outcomes, count, err)) return false;
    return is_printed || err_copy(err, &print_err);
}
