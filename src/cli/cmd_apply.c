/* cmd_apply.c - `tidelake apply`: silver of one or many streams, one after the other. */
#include "cli/output.h"
#include "cli/stream_settings.h"
#include "cli/wire.h"

typedef struct Applied {
    Str          name;
    ApplyOptions options;
    Settings    *settings;
    ApplyResult  result;
    bool         ok;
    Err          err;
} Applied;

static void write_result(JsonWriter *json, const ApplyResult *result)
{
    json_object_begin(json);
    json_member_bool(json, "rebuilt", result->rebuilt);
    json_member_lsn(json, "applied_lsn", result->applied_lsn);
    json_member_time(json, "finalized_until", result->finalized_until);
    json_member_i64(json, "rows_written", result->rows_written);
    json_member_i64(json, "rows_deleted", result->rows_deleted);
    json_member_i64(json, "waves_applied", result->waves_applied);
    json_member_bool(json, "bronze_found", result->bronze_found);
    json_object_end(json);
}

static void write_many(JsonWriter *json, const Applied *applied, size_t count)
{
    char text[1800];

    json_object_begin(json);
    json_key(json, STR("streams"));
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (!applied[i].ok) continue;
        json_key(json, applied[i].name);
        write_result(json, &applied[i].result);
    }
    json_object_end(json);
    json_key(json, STR("failed"));
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (applied[i].ok) continue;
        err_format(&applied[i].err, text, sizeof text);
        json_key(json, applied[i].name);
        json_str(json, str_from_c(text));
    }
    json_object_end(json);
    json_object_end(json);
}

static bool print_results(const Invocation *invocation, const Applied *applied, size_t count,
                          Err *err)
{
    Buf        buf  = buf_new(invocation->arena, 0);
    JsonWriter json = json_writer(&buf, true, false);

    if (invocation->json) {
        if (count == 1 && applied[0].ok)
            write_result(&json, &applied[0].result);
        else
            write_many(&json, applied, count);
        return output_line(buf_str(&buf), err);
    }
    for (size_t i = 0; i < count; i++) {
        const ApplyResult *result   = &applied[i].result;
        Str                position = result->applied_lsn.is_set
                                          ? str_from_c(lsn_format(result->applied_lsn.lsn).text)
                                          : STR("nothing");
        Str                line;

        if (!applied[i].ok) continue;
        line = !result->bronze_found
                   ? str_printf(invocation->arena, "%.*s: no bronze table yet",
                                STR_ARG(applied[i].name))
                   : str_printf(invocation->arena,
                                "%.*s: %lld rows written, %lld deleted, applied up to %.*s%s",
                                STR_ARG(applied[i].name), (long long)result->rows_written,
                                (long long)result->rows_deleted, STR_ARG(position),
                                result->rebuilt ? " (rebuilt)" : "");
        if (!output_line(line, err)) return false;
    }
    return true;
}

static bool apply_one(Env *env, Applied *applied, Arena *arena, Err *err)
{
    const SettingValue *keys   = &applied->settings->values[SET_KEYS];
    SourceOptions       source = source_options_from_settings(applied->settings);

    return apply_resolve(env, &source, applied->name, keys->items, keys->item_count, arena,
                         &applied->options, err) &&
           apply_run(env, &applied->options, &applied->result, err);
}

bool cmd_apply(Invocation *invocation, Err *err)
{
    ChosenStream *chosen;
    Applied      *applied;
    size_t        count;
    Wire          wire;
    bool          ok, all_ok = true;

    if (!choose_streams(invocation, &chosen, &count, err)) return false;
    applied = ARENA_ARRAY(invocation->arena, Applied, count);
    for (size_t i = 0; i < count; i++) {
        applied[i].name     = chosen[i].name;
        applied[i].settings = &chosen[i].settings;
        if (!apply_options_from_settings(&chosen[i].settings, invocation->arena,
                                         &applied[i].options, err))
            return err_context(err, "%.*s", STR_ARG(chosen[i].name));
    }
    ok = wire_open(invocation, &chosen[0].settings, true, &wire, err);
    for (size_t i = 0; ok && i < count; i++) {
        applied[i].ok = cancel_check(wire.env.cancel, &applied[i].err) &&
                        apply_one(&wire.env, &applied[i], invocation->arena, &applied[i].err);
        if (applied[i].ok) continue;
        if (all_ok) err_copy(err, &applied[i].err);
        all_ok = false;
        if (count > 1) {
            char text[1800];
            err_format(&applied[i].err, text, sizeof text);
            log_error(wire.env.log, "apply", "apply failed", LOG_STR("stream", applied[i].name),
                      LOG_TEXT("error", text));
        }
    }
    if (ok) {
        Err print_err = ERR_INIT;
        ok            = print_results(invocation, applied, count, &print_err);
        if (!ok && all_ok) err_copy(err, &print_err);
    }
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok && all_ok;
}
