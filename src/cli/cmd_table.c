/* cmd_table.c - `tidelake table`: look into a Delta table and maintain it without Spark. */
#include "cli/nearest.h"
#include "cli/table.h"

#define ACTION_FLAGS_MOST 4

typedef struct Action {
    const char *name;
    const char *argument; /* besides the action and the path; NULL: none */
    TableRun   *run;
    FlagId      flags[ACTION_FLAGS_MOST]; /* those it takes besides every command's */
    size_t      flag_count;
} Action;

/* Those that only look may look at any version; the others work on the newest. */
#define ANY_VERSION {FLAG_VERSION, FLAG_AS_OF}, 2

static const Action actions[] = {
    {"schema", NULL, table_schema, ANY_VERSION},
    {"history", NULL, table_history, ANY_VERSION},
    {"files", NULL, table_files, ANY_VERSION},
    {"cat", NULL, table_cat, ANY_VERSION},
    {"sql", "QUERY", table_sql, ANY_VERSION},
    {"optimize", NULL, table_optimize, {FLAG_TARGET_SIZE, FLAG_SORT}, 2},
    {"vacuum", NULL, table_vacuum, {FLAG_RETENTION, FLAG_DRY_RUN, FLAG_ALLOW_SHORT_RETENTION}, 3},
    {"checkpoint", NULL, table_checkpoint, {FLAG_HELP}, 0},
};

bool table_print(const TableCall *call, const Schema *schema, RowBuilder *builder, Err *err)
{
    RowBlock block = row_builder_block(builder);

    return output_rows(row_stream_of_block(call->invocation->arena, schema, &block),
                       call->invocation->json, err);
}

/* --- progress --- */

static void show_progress(void *arg, const char *what, const char *unit, int64_t done,
                          int64_t total)
{
    TableProgress *progress = arg;
    const Env     *env      = &progress->call->wire->env;

    progress->now.what  = what;
    progress->now.unit  = unit;
    progress->now.done  = done;
    progress->now.total = total;
    if (env->on_progress) env->on_progress(env->on_progress_arg, &progress->now);
}

DeltaProgress table_progress_begin(TableProgress *progress, const TableCall *call)
{
    *progress     = (TableProgress){.call = call};
    progress->now = (Progress){.name     = call->path,
                               .what     = "",
                               .unit     = "",
                               .began_ns = clock_monotonic_ns(call->wire->env.clock)};
    return (DeltaProgress){.show = show_progress, .arg = progress};
}

void table_progress_end(TableProgress *progress)
{
    const Env *env = &progress->call->wire->env;

    progress->now.is_over = true;
    if (env->on_progress) env->on_progress(env->on_progress_arg, &progress->now);
}

/* --- which action --- */

static bool takes(const Action *action, FlagId flag)
{
    for (size_t i = 0; i < action->flag_count; i++)
        if (action->flags[i] == flag) return true;
    return false;
}

static bool check_flags(const Action *action, const Invocation *invocation, Err *err)
{
    const Command *command = invocation->command;

    for (size_t i = 0; i < command->flag_count; i++)
        if (invocation_has(invocation, command->flags[i]) && !takes(action, command->flags[i]))
            return err_set(err, ERR_USAGE, "table %s has no option %s", action->name,
                           command_flag_name(command->flags[i]));
    return true;
}

static bool find_action(const Invocation *invocation, const Action **out, Err *err)
{
    Str     name    = invocation->arguments.count ? invocation->arguments.items[0] : STR_EMPTY;
    Nearest nearest = nearest_to(name);

    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        nearest_offer(&nearest, str_from_c(actions[i].name));
        if (!str_equal_c(name, actions[i].name)) continue;
        *out = &actions[i];
        if (invocation->arguments.count == (actions[i].argument ? 3 : 2))
            return check_flags(&actions[i], invocation, err);
        return err_set(err, ERR_USAGE, "usage: tidelake table %s PATH%s%s", actions[i].name,
                       actions[i].argument ? " " : "",
                       actions[i].argument ? actions[i].argument : "");
    }
    if (nearest.best.len && name.len)
        return err_set(err, ERR_USAGE, "unknown action %.*s; did you mean %.*s?", STR_ARG(name),
                       STR_ARG(nearest.best));
    return err_set(
        err, ERR_USAGE,
        "usage: tidelake table schema|history|files|cat|sql|optimize|vacuum|checkpoint PATH");
}

static bool open_table(TableCall *call, Err *err)
{
    DeltaContext *context = &call->wire->delta;
    Str           version = call->invocation->flags[FLAG_VERSION],
        as_of             = call->invocation->flags[FLAG_AS_OF];
    int64_t number;

    if (version.ptr && as_of.ptr)
        return err_set(err, ERR_USAGE, "--version and --as-of exclude each other");
    if (version.ptr) {
        if (!str_parse_i64(version, &number) || number < 0)
            return err_set(err, ERR_USAGE,
                           "--version is \"%.*s\"; allowed: a whole number from 0 on",
                           STR_ARG(version));
        return delta_table_open_version(context, call->path, number, &call->table, err);
    }
    if (as_of.ptr) {
        if (!time_parse(as_of, &number))
            return err_set(err, ERR_USAGE,
                           "--as-of is \"%.*s\"; allowed: a time such as 2026-09-28T13:55:00, UTC",
                           STR_ARG(as_of));
        return delta_table_open_as_of(context, call->path, number, &call->table, err);
    }
    return delta_table_open(context, call->path, &call->table, err);
}

bool cmd_table(Invocation *invocation, Err *err)
{
    const Action *action   = NULL;
    Settings      settings = config_stream(&invocation->config, SIZE_MAX, &invocation->options);
    Wire          wire;
    TableCall     call = {.wire = &wire, .invocation = invocation};
    bool          ok;

    if (!find_action(invocation, &action, err)) return false;
    call.path = invocation->arguments.items[1];
    ok        = wire_open(invocation, &settings, false, &wire, err) && open_table(&call, err) &&
         action->run(&call, err);
    delta_table_close(call.table);
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
