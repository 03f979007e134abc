/* wire.c - the real world: system clock, threads, local disks, unixODBC, libduckdb. */
#include "cli/wire.h"

#include "base/environment.h"
#include "cli/progress.h"
#include "cli/version.h"

#include <unistd.h>

static Str temp_root(void)
{
    Str text;

    return environment_find("TMPDIR", &text) && text.len ? text : STR("/tmp");
}

/* Memory is shared out between writers and queries by duck itself. */
static bool open_duck(const Settings *settings, Wire *wire, Err *err)
{
    DuckOptions options = {
        .memory_limit_bytes = settings_size_bytes(settings, SET_MEMORY_LIMIT),
        .threads            = environment_core_count(),
        .temp_directory     = store_join(wire->arena, wire->scratch.path, STR("spill")),
        .cancel             = wire->env.cancel};

    return duck_open(&options, &wire->env.duck, err);
}

/* A run that was asked to stop is over within a second, whatever it waits for. */
#define STOP_MS 900
/* How long a connection waits for its next use: shorter than a firewall remembers a quiet one. */
#define KEEP_IDLE_MS 60000

static DuckCompression compression(const Settings *settings)
{
    Str text = settings_text(settings, SET_COMPRESSION);

    if (str_equal_ignoring_case(text, STR("snappy"))) return DUCK_SNAPPY;
    return str_equal_ignoring_case(text, STR("none")) ? DUCK_UNCOMPRESSED : DUCK_ZSTD;
}

bool wire_open(Invocation *invocation, const Settings *settings, bool with_source, Wire *out,
               Err *err)
{
    Env *env         = &out->env;
    bool is_terminal = isatty(STDERR_FILENO) == 1;

    *out         = (Wire){.arena = arena_new(), .scratch = {.lock_fd = -1}};
    env->cancel  = cancel_new();
    out->signals = signal_watch_new(env->cancel, STOP_MS); /* before any thread starts */
    env->clock   = clock_new_real();
    env->rng     = rng_new_from_entropy();
    env->sched   = sched_new_real();
    env->log     = log_new_stderr(env->clock, invocation->log_level, invocation->log_format);
    env->store   = store_local_new(STR_EMPTY);
    out->scratch = run_folder_open(temp_root(), out->arena, env->rng);
    if (!open_duck(settings, out, err)) return false;
    if (with_source &&
        !sqldriver_odbc_open(env->log, env->cancel, out->scratch.path, &env->sql, err))
        return false;
    if (env->sql) sqldriver_keep_connections(env->sql, env->clock, KEEP_IDLE_MS);
    out->delta = (DeltaContext){
        .store            = env->store,
        .clock            = env->clock,
        .rng              = env->rng,
        .duck             = env->duck,
        .log              = env->log,
        .cancel           = env->cancel,
        .engine_info      = STR("tidelake/" TIDELAKE_VERSION),
        .compression      = compression(settings),
        .log_retention_us = settings_duration_ms(settings, SET_LOG_RETENTION) * 1000,
        .turn             = queue_new(env->sched, 1)};
    env->delta = &out->delta;
    (void)queue_push(out->delta.turn, env);
    if (!invocation_has(invocation, FLAG_NO_PROGRESS)) {
        out->progress        = progress_new(env->log, env->clock, is_terminal);
        env->on_progress     = progress_show;
        env->on_progress_arg = out->progress;
    }
    return true;
}

void wire_close(Wire *wire)
{
    Env *env = &wire->env;

    if (!wire->arena) return;
    progress_close(wire->progress);
    sqldriver_close(env->sql);
    duck_close(env->duck);
    run_folder_close(&wire->scratch);
    store_close(env->store);
    queue_free(wire->delta.turn);
    sched_close(env->sched);
    signal_watch_close(wire->signals);
    log_close(env->log);
    rng_close(env->rng);
    clock_close(env->clock);
    cancel_close(env->cancel);
    arena_close(wire->arena);
}

int wire_exit_status(const Wire *wire, const Err *err)
{
    int signal_number = wire->signals ? signal_watch_get(wire->signals) : 0;

    if (err->code == ERR_CANCELLED && signal_number) return 128 + signal_number;
    return err_exit_status(err->code);
}

Str wire_lake_path(Arena *arena, const Settings *settings, Str path)
{
    Str root = settings_text(settings, SET_ROOT);

    if (path.len == 0 || path.ptr[0] == '/' || root.len == 0) return path;
    return store_join(arena, root, path);
}
