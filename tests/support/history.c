/* history.c - see history.h. */
#include "support/test_support.h"

#include "support/history_internal.h"

#include "base/buf.h"
#include "delta/maintain.h"

#define ROUNDS_MOST 4

static bool happens(History *history, uint64_t one_in)
{
    return rng_below(history->cut, one_in) == 0;
}

/* --- what befalls a process --- */

static LakeTable table_of_path(Str path)
{
    static const struct {
        const char *log;
        LakeTable   table;
    } logs[] = {{BRONZE "/_delta_log/", TABLE_BRONZE},
                {SILVER "/_delta_log/", TABLE_SILVER},
                {FACTS "/_delta_log/", TABLE_FACTS},
                {CONTROL "/_delta_log/", TABLE_CONTROL},
                {PLANS "/_delta_log/", TABLE_PLANS}};

    for (size_t i = 0; i < COUNT_OF(logs); i++)
        if (str_starts_with(path, str_from_c(logs[i].log)) && str_ends_with(path, STR(".json")))
            return logs[i].table;
    return TABLE_NONE;
}

/* A machine that dies takes all its processes along. */
static bool has_to_die(const Actor *actor)
{
    if (!actor->dies_with_others) return false;
    for (size_t i = 0; i < actor->other_count; i++)
        if (actor->others[i].process && actor->others[i].process->plan.has_crashed) return true;
    return false;
}

static void on_step(void *arg, uint64_t step, const char *operation, Str path)
{
    Actor    *actor = arg;
    LakeTable table = str_equal_c(STR("put_new"), operation) ? table_of_path(path) : TABLE_NONE;

    if (has_to_die(actor)) actor->process->plan.has_crashed = true; /* this step still lands */
    if (str_equal_c(STR("staging_publish"), operation) && str_starts_with(path, STR(BRONZE "/")))
        actor->moved++;
    if (++actor->history->steps == actor->history->die_at) actor->process->plan.fail_at_step = step;
    if (table == TABLE_NONE) return;
    actor->landed       = actor->landing;
    actor->landing      = table;
    actor->landing_step = step;
    if (table != TABLE_BRONZE) return;
    actor->reads_chunks = false;
    actor->moved        = 0;
}

/* A backfill of many short waves, far away: rows take long, so that a writer finds those that were asked for and are on
 * their way yet. */
static bool has_narrow_link(const History *history)
{
    return history->seed % 4 == 1;
}

/* Reading the table takes its time, so that others act meanwhile and waves have a pace. */
static void on_query(void *arg, Str sql)
{
    Actor   *actor   = arg;
    History *history = actor->history;

    actor->statements++;
    if (actor->statements == actor->die_at_statement || has_to_die(actor))
        actor->process->plan.has_crashed = true;
    if (str_find(sql, STR("[orders]"), 0) < 0) return;
    if (str_find(sql, STR("[v]"), 0) >= 0) actor->reads_chunks = true;
    if (happens(history, 3))
        clock_sleep_ms(world_clock(history->world), rng_between(history->cut, 1, 30000), NULL);
}

static void choose_sql_fault(History *history, Actor *actor)
{
    static const char *const trouble[] = {"fn_cdc_get_max_lsn", "[orders]", "AS [__$commit_time]",
                                          SIM_SQL_CONNECT};

    sim_sql_driver_add_fault(actor->process->sql,
                             &(SimSqlFault){.expect   = trouble[rng_below(history->cut, 4)],
                                            .skip     = (int)rng_below(history->cut, 4),
                                            .times    = 1 + (int)rng_below(history->cut, 5),
                                            .sqlstate = "08S01",
                                            .kills    = happens(history, 2)});
    actor->may_fail = true;
}

static void choose_fault(History *history, Actor *actor)
{
    static const char *const aims[] = {
        BRONZE "/_delta_log/",  PLANS "/_delta_log/", FACTS "/_delta_log/",
        CONTROL "/_delta_log/", SILVER "/",           CHECKPOINT "/"};
    FaultPlan *plan = &actor->process->plan;

    plan->on_step     = on_step;
    plan->on_step_arg = actor;
    sim_sql_driver_set_hook(actor->process->sql, on_query, actor);
    plan->crash        = true;
    plan->after_effect = history->dies_after;
    if (history->without_faults) return;
    plan->crash        = !happens(history, 4);
    plan->after_effect = happens(history, 2);
    if (actor->kind == ACTOR_BACKFILL && history->must_aim) {
        history->must_aim          = false;
        plan->crash                = true;
        plan->after_effect         = true;
        plan->fail_at_step         = 1;
        plan->only_path_containing = STR(PLANS "/_delta_log/");
    } else if (happens(history, 4)) {
        plan->fail_at_step = 1 + rng_below(history->cut, 25);
    } else if (happens(history, 2)) {
        size_t aim = rng_below(history->cut, actor->kind == ACTOR_BACKFILL ? 3 : COUNT_OF(aims));

        if (actor->kind == ACTOR_APPLY) aim = 3 + rng_below(history->cut, 2);
        plan->fail_at_step         = 1 + rng_below(history->cut, 4);
        plan->only_path_containing = str_from_c(aims[aim]);
        if (history->source->has_large_rows && actor->kind <= ACTOR_BACKFILL && happens(history, 2))
            plan->only_path_containing = STR(BRONZE "/part-"); /* one of several, as a rule */
    } else if (happens(history, 8)) {
        actor->die_at_statement = 1 + rng_below(history->cut, 60);
    }
    actor->may_fail = plan->fail_at_step || actor->die_at_statement || actor->dies_with_others;
    if (happens(history, 8)) choose_sql_fault(history, actor);
}

/* --- the tasks --- */

static StreamOptions stream_options(History *history)
{
    StreamOptions options = shop_chunked();

    options.granularity   = history->granularity;
    options.snapshot_keys = history_cut_columns(history->source->kind, &options.snapshot_key_count);
    return options;
}

static void run_stream(Actor *actor)
{
    History      *history = actor->history;
    StreamOptions options = stream_options(history);

    options.max_commits_per_batch = (int64_t)rng_below(history->cut, 4);
    options.max_batches           = (int64_t)rng_below(history->cut, 3);
    (void)process_stream(actor->process, &options);
}

static void run_backfill(Actor *actor)
{
    (void)process_backfill(actor->process, &actor->backfill, &actor->result);
}

static void choose_backfill(History *history, Actor *actor)
{
    static const double targets[] = {0, 20, 60, 300};
    BackfillOptions    *options   = &actor->backfill;

    *options = (BackfillOptions){
        .stream              = stream_options(history),
        .chunk_rows          = happens(history, 5) ? 7 : history->chunk_rows,
        .target_wave_seconds = targets[rng_below(history->cut, has_narrow_link(history) ? 2 : 4)]};
    history->connections                      = happens(history, 3) ? history->connections + 1
                                                                    : 1 + (int64_t)rng_below(history->cut, 3);
    options->stream.source.num_partitions     = history->connections;
    options->stream.source.isolation_snapshot = false;
    if (!happens(history, 3) && !has_narrow_link(history))
        options->max_waves = OPT_I64((int64_t)rng_below(history->cut, 4));
    if (happens(history, 4) && !has_narrow_link(history))
        options->max_seconds = OPT_DOUBLE((double)rng_between(history->cut, 1, 60));
}

static void run_apply(Actor *actor)
{
    size_t       count;
    const Str   *keys    = history_key_columns(actor->history->source->kind, &count);
    ApplyOptions options = world_apply_options(keys, count);

    options.granularity      = actor->history->granularity;
    options.deletion_vectors = actor->history->seed % 3 != 0;
    (void)process_apply(actor->process, &options);
}

static void run_compact(Actor *actor)
{
    static const char *const paths[] = {BRONZE, FACTS, SILVER};
    Process                 *process = actor->process;
    const char              *path    = paths[rng_below(actor->history->cut, 3)];
    DeltaTable              *table   = NULL;
    DeltaOptimize            options = {.purpose = STR("compact")};
    DeltaOptimized           done;

    if (path == paths[0]) actor->history->has_compacted = true;
    process->ok = delta_table_open(&process->delta, str_from_c(path), &table, &process->err);
    if (!process->ok && process->err.code == ERR_NOT_FOUND) {
        process->ok = true;
        return;
    }
    process->ok = process->ok && delta_table_optimize(table, &options, &done, &process->err);
    delta_table_close(table);
}

/* Transactions and scans with time between them. */
static void run_writer(Actor *actor)
{
    History *history = actor->history;
    Clock   *clock   = world_clock(history->world);

    bool is_busy = has_narrow_link(history);

    for (uint64_t n = rng_below(history->cut, is_busy ? 20 : 5); n > 0; n--) {
        if (happens(history, 2))
            clock_sleep_ms(clock, rng_between(history->cut, 1, is_busy ? 10000 : 90000), NULL);
        else
            sched_point(world_sched(history->world), "writer");
        if (history->transactions_left > 0) {
            history->transactions_left--;
            history_source_write(history->source,
                                 happens(history, 4) ? rng_between(history->cut, 1, 5000) : 0);
        }
        if (happens(history, 2)) world_scan(history->world);
        if (happens(history, 6)) world_idle(history->world);
    }
}

static void run_actor(void *arg)
{
    static void (*const runs[ACTOR_KINDS])(Actor *) = {run_stream, run_backfill, run_apply,
                                                       run_compact, run_writer};
    Actor   *actor                                  = arg;
    History *history                                = actor->history;

    if (happens(history, 2))
        clock_sleep_ms(world_clock(history->world), rng_between(history->cut, 1, 40000), NULL);
    runs[actor->kind](actor);
}

/* --- a round --- */

static void open_actor(History *history, Actor *actor, ActorKind kind)
{
    static const char *const names[ACTOR_KINDS] = {"stream", "backfill", "apply", "compact",
                                                   "writer"};

    actor->history = history;
    actor->kind    = kind;
    if (kind == ACTOR_WRITER) return;
    actor->process     = process_open(history->world, names[kind]);
    actor->process->ok = true;
    if (kind == ACTOR_BACKFILL) {
        choose_backfill(history, actor);
        if (history->seed % 2 != 0) /* a long link: chunks are asked for together */
            sim_sql_driver_set_link(actor->process->sql, world_clock(history->world), 400,
                                    has_narrow_link(history) ? 1500 : 0);
    }
    choose_fault(history, actor);
}

static void close_actor(History *history, Actor *actor)
{
    Process       *process = actor->process;
    HistoryCounts *counts  = history->counts;
    ErrCode        code;

    if (!process) return;
    code = process->ok ? ERR_NONE : process->err.code;
    if (!process->ok && !process->plan.has_crashed &&
        (!actor->may_fail || (code != ERR_STORE && code != ERR_SOURCE))) {
        print_error("# seed %" PRIu64 ", round %" PRId64 "\n", history->seed, counts->rounds);
        assert_ok(false, &process->err);
    }
    counts->calls++;
    counts->deaths += process->plan.has_crashed;
    counts->failures += !process->ok && !process->plan.has_crashed;
    process_close(process);
    if (process->plan.has_crashed) history_classify(history, actor);
}

static void run_round(History *history)
{
    static const uint64_t one_in[ACTOR_KINDS] = {5, 5, 3, 0, 8}; /* stays away */
    Actor                 actors[ACTOR_KINDS] = {0};
    size_t                count               = 0;
    bool                  all_die             = !history->without_faults && happens(history, 4);

    for (ActorKind kind = 0; kind < ACTOR_KINDS; kind++) {
        bool joins = kind == ACTOR_COMPACT ? happens(history, 8) : !happens(history, one_in[kind]);
        if (!joins) continue;
        actors[count].dies_with_others = all_die;
        open_actor(history, &actors[count++], kind);
    }
    for (size_t i = 0; i < count; i++) {
        actors[i].others      = actors;
        actors[i].other_count = count;
    }
    for (size_t i = 0, first = rng_below(history->cut, count + 1); i < count; i++) {
        Actor *actor = &actors[(first + i) % count];
        actor->task  = sched_spawn(world_sched(history->world), "actor", run_actor, actor);
    }
    for (size_t i = 0; i < count; i++)
        sched_join(world_sched(history->world), actors[i].task);
    history->counts->rounds++;
    for (size_t i = 0; i < count; i++)
        close_actor(history, &actors[i]);
}

/* --- between rounds --- */

/* As if the log's retention had passed: a checkpoint, and no commit before it. */
static void clean_log(History *history, const char *path)
{
    World      *world = history->world;
    Str         log   = store_join(world_arena(world), str_from_c(path), STR("_delta_log"));
    DeltaTable *table = NULL;
    Err         err   = ERR_INIT;
    StoreList   list;

    if (!delta_table_open(world_delta(world), str_from_c(path), &table, &err)) return;
    assert_ok(delta_table_checkpoint(table, &err), &err);
    delta_table_close(table);
    assert_ok(store_list_after(world_store(world), log, STR_EMPTY, world_arena(world), &list, &err),
              &err);
    for (size_t i = 0; i < list.count; i++)
        if (str_ends_with(list.entries[i].name, STR(".json")))
            assert_ok(store_remove(world_store(world),
                                   store_join(world_arena(world), log, list.entries[i].name), &err),
                      &err);
}

static void clean_logs(History *history)
{
    static const char *const paths[] = {BRONZE, FACTS, SILVER, PLANS, CONTROL};

    if (history->has_orphan_wave ? happens(history, 3) : happens(history, 12)) {
        clean_log(history, BRONZE);
        history->counts->points[POINT_HISTORY_LOST] += history->has_orphan_wave;
    }
    if (happens(history, 12)) clean_log(history, paths[rng_below(history->cut, 5)]);
    history->has_orphan_wave = false;
}

/* Once there is a plan nothing is left of the table, and the wave that finds nothing dies. */
static void sweep(History *history)
{
    if (!history->wants_sweep ||
        !str_equal_c(world_rows(history->world,
                                "SELECT count(*) FILTER (event = 'snapshot_plan'), "
                                "count(*) FILTER (event = 'bootstrap') FROM {" FACTS "}"),
                     "1|0\n"))
        return;
    history_source_delete_all(history->source);
    world_scan(history->world);
    history->wants_sweep = false;
    history->must_aim    = true;
}

static void pass_time(History *history)
{
    if (happens(history, 2))
        clock_sleep_ms(world_clock(history->world), rng_between(history->cut, 1, 60000), NULL);
    else
        world_pass_minutes(history->world, rng_between(history->cut, 1, 70));
    if (happens(history, 3)) world_idle(history->world);
}

/* --- a history --- */

bool history_is_swept(uint64_t seed)
{
    return seed % 5 == 0;
}

bool history_has_large_rows(uint64_t seed)
{
    return seed % 6 == 5 || seed % 32 == 0;
}

static void history_open(History *history, void **state, const HistoryOptions *options)
{
    Rng       *rng      = rng_new(options->source_seed * 2654435761U + 11);
    HistoryKey kind     = (HistoryKey)rng_below(rng, HISTORY_KEYS + 3);
    int        rows     = (int)rng_below(rng, rng_below(rng, 3) == 0 ? 300 : 40);
    World     *world    = world_open(state, options->cut_seed);
    bool has_large_rows = options->with_large_rows || history_has_large_rows(options->source_seed);

    if (kind >= HISTORY_KEYS) kind = KEY_DENSE; /* more often: silver's ranges are looked at */

    *history = (History){.world             = world,
                         .cut               = rng_new(options->cut_seed * 40503 + 5),
                         .seed              = options->cut_seed,
                         .without_faults    = options->without_faults,
                         .die_at            = options->die_at,
                         .dies_after        = options->dies_after,
                         .connections       = 1,
                         .control_version   = -1,
                         .transactions_left = 6 + (int)rng_below(rng, 10)};
    if (rng_below(rng, 12) == 0) rows = 0;
    if (has_large_rows) world_set_large_rows(world, HISTORY_LARGE_BYTES);
    history->source = history_source_new(world, options->source_seed, kind, rows, has_large_rows);
    history->granularity = happens(history, 2) ? GRANULARITY_MINUTE : GRANULARITY_HOUR;
    history->chunk_rows  = 1 + rows / rng_between(history->cut, 2, 9);
    if (has_narrow_link(history)) {
        history->chunk_rows = 1 + rows / 24;
        history->transactions_left += 20;
    }
    history->wants_sweep = options->source_seed == options->cut_seed &&
                           history_is_swept(options->cut_seed);
    rng_close(rng);
}

/* What is left is written, and everything runs once more: without faults, all of it gets there. */
static void finish(History *history)
{
    World          *world    = history->world;
    StreamOptions   stream   = stream_options(history);
    BackfillOptions backfill = {
        .stream = stream, .chunk_rows = history->chunk_rows, .target_wave_seconds = 300};
    Actor apply = {.history = history, .kind = ACTOR_APPLY};

    for (; history->transactions_left > 0; history->transactions_left--)
        history_source_write(history->source, 0);
    world_scan(world);
    (void)world_stream(world, &stream);
    backfill.stream.source.num_partitions = history->connections;
    BackfillResult result                 = world_backfill(world, &backfill);
    assert_int_equal(result.state, BACKFILL_DONE);
    (void)world_stream(world, &stream);
    apply.process = process_open(world, "apply");
    run_apply(&apply);
    assert_ok(apply.process->ok, &apply.process->err);
    process_close(apply.process);
}

Str history_live(void **state, const HistoryOptions *options, Arena *arena, HistoryCounts *counts)
{
    History history;
    Str     silver = STR_EMPTY;

    history_open(&history, state, options);
    history.counts = counts;
    for (int left = 2 + (int)rng_below(history.cut, ROUNDS_MOST - 1); left > 0; left--) {
        run_round(&history);
        sweep(&history);
        history_check_verdicts(&history);
        clean_logs(&history);
        pass_time(&history);
    }
    finish(&history);
    history_check_verdicts(&history);
    history_check_end(&history);
    if (arena)
        silver = str_copy(arena, world_rows(history.world, "SELECT %s FROM {" SILVER "} ORDER BY n",
                                            history_columns(history.source)));
    counts->histories++;
    if (options->steps_out) *options->steps_out = history.steps;
    history_source_close(history.source);
    rng_close(history.cut);
    world_close(history.world);
    return silver;
}
