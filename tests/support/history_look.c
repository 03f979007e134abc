/* history_look.c - what the tables show between rounds and at the end. */
#include "support/test_support.h"

#include "support/history_internal.h"

/* Commit times are a datetime: up to 2 ms off, and a period's end may lie between. */
#define ROUNDING_US 4000

static const char *const point_names[HISTORY_POINTS] = {
    [POINT_READING]       = "4.13 reading, before the append",
    [POINT_APPENDED]      = "4.13 appended, not in plans and facts",
    [POINT_READ_AHEAD]    = "4.13 appended, and the read ahead is dropped",
    [POINT_PLANNED_ROWS]  = "4.13 plans rows of a wave with rows",
    [POINT_PLANNED_EMPTY] = "4.13 plans rows of an empty wave",
    [POINT_RECORDED]      = "4.13 facts rows",
    [POINT_LAST_RECORDED] = "4.13 last facts rows, no completion",
    [POINT_OPEN_IN_PLANS] = "16.4 open in plans",
    [POINT_OPEN_IN_FACTS] = "16.4 open in facts",
    [POINT_PLAN_IN_PLANS] = "16.5 plan in plans",
    [POINT_PLAN_IN_FACTS] = "16.5 plan in facts",
    [POINT_HISTORY_LOST]  = "16.6 appended, and the log is cleaned up",
    [POINT_MERGED]        = "16.10 merged, no position",
    [POINT_POSITIONED]    = "16.10 position, no verdict",
    [POINT_AMONG_FILES]   = "a commit's files partly moved, large rows among them",
};

const char *history_point_name(HistoryPoint point)
{
    return point_names[point];
}

void history_print_counts(const HistoryCounts *counts)
{
    print_message("# %" PRId64 " histories, %" PRId64 " rounds, %" PRId64 " calls, %" PRId64
                  " deaths, %" PRId64 " failures, %" PRId64 " waves, %" PRId64
                  " of them empty, %" PRId64 " verdicts looked at, %" PRId64 " large rows, %" PRId64
                  " files with one\n",
                  counts->histories, counts->rounds, counts->calls, counts->deaths,
                  counts->failures, counts->waves, counts->empty_waves, counts->verdicts,
                  counts->large_rows, counts->large_files);
    for (int i = 0; i < HISTORY_POINTS; i++)
        print_message("# %6" PRId64 "  %s\n", counts->points[i], point_names[i]);
}

/* The next number of "1|2|-\n"; -1 for NULL. */
static int64_t next_number(Str *rest)
{
    size_t  end    = 0;
    int64_t number = -1;

    while (end < rest->len && rest->ptr[end] != '|' && rest->ptr[end] != '\n')
        end++;
    if (!str_parse_i64(str_slice(*rest, 0, end), &number)) number = -1;
    *rest = str_slice(*rest, MIN(end + 1, rest->len), rest->len);
    return number;
}

/* --- where a process died --- */

typedef struct State {
    int64_t opens, plans, wave, last, completions, batches; /* of the facts */
    int64_t planned_opens, planned_plans, planned_wave;     /* of the plans */
    int64_t appended_wave;                                  /* of bronze */
} State;

static int64_t appended_wave(History *history, Str snapshot)
{
    World      *world = history->world;
    DeltaTable *table = NULL;
    Err         err   = ERR_INIT;
    int64_t     wave  = -1;

    if (!delta_table_open(world_delta(world), STR(BRONZE), &table, &err)) return -1;
    if (!delta_table_find_txn(
            table, str_printf(world_arena(world), APP_ID "#snap.%.*s", STR_ARG(snapshot)), &wave))
        wave = -1;
    delta_table_close(table);
    return wave;
}

static State read_state(History *history)
{
    World *world = history->world;
    State  state = {.wave = -1, .planned_wave = -1, .appended_wave = -1};
    Str    facts = world_rows(
           world, "SELECT count(*) FILTER (event = 'snapshot_open'), count(*) FILTER (event = "
                     "'snapshot_plan'), max(json_extract(detail, '$.wave')::INT) FILTER (event = "
                     "'snapshot_chunk'), count(*) FILTER (event = 'snapshot_chunk' AND "
                     "json_extract(detail, '$.last')::BOOL), count(*) FILTER (event = 'bootstrap'), "
                     "count(*) FILTER (event IS NULL), max(max_lsn) FILTER (event = 'snapshot_open') "
                     "FROM {" FACTS "}");
    Str plans = world_rows(
        world, "SELECT count(*) FILTER (event = 'snapshot_open'), count(*) FILTER (event = "
               "'snapshot_plan'), max(json_extract(detail, '$.wave')::INT) FILTER (event = "
               "'snapshot_chunk') FROM {" PLANS "}");

    if (!str_equal_c(plans, "no table\n")) {
        state.planned_opens = next_number(&plans);
        state.planned_plans = next_number(&plans);
        state.planned_wave  = next_number(&plans);
    }
    if (str_equal_c(facts, "no table\n")) return state;
    state.opens       = next_number(&facts);
    state.plans       = next_number(&facts);
    state.wave        = next_number(&facts);
    state.last        = next_number(&facts);
    state.completions = next_number(&facts);
    state.batches     = next_number(&facts);
    if (state.opens) state.appended_wave = appended_wave(history, str_trim(facts));
    return state;
}

static LakeTable last_landed(const Actor *actor)
{
    const FaultPlan *plan = &actor->process->plan;

    return plan->fail_at_step == actor->landing_step && !plan->after_effect ? actor->landed
                                                                            : actor->landing;
}

/* With its last breath the process committed to that table. */
static bool died_with(const Actor *actor, LakeTable table)
{
    const FaultPlan *plan = &actor->process->plan;

    return actor->landing == table && plan->fail_at_step == actor->landing_step &&
           plan->after_effect;
}

/* HISTORY_POINTS: none of the table's. */
static HistoryPoint point_of_backfill(const Actor *actor, const State *state)
{
    if (state->opens == 0 || state->completions > 0) return HISTORY_POINTS;
    if (state->plans == 0) return state->planned_plans ? POINT_PLAN_IN_PLANS : HISTORY_POINTS;
    if (state->appended_wave > state->wave)
        return state->planned_wave > state->wave ? POINT_PLANNED_ROWS : POINT_APPENDED;
    if (state->planned_wave > state->wave) return POINT_PLANNED_EMPTY;
    if (state->last) return POINT_LAST_RECORDED;
    if (died_with(actor, TABLE_FACTS))
        return state->wave >= 0 ? POINT_RECORDED : POINT_PLAN_IN_FACTS;
    return actor->reads_chunks ? POINT_READING : HISTORY_POINTS;
}

static HistoryPoint point_of_stream(const Actor *actor, const State *state)
{
    if (state->planned_opens > state->opens && state->opens == 0) return POINT_OPEN_IN_PLANS;
    return state->opens == 1 && state->batches == 0 && died_with(actor, TABLE_FACTS)
               ? POINT_OPEN_IN_FACTS
               : HISTORY_POINTS;
}

static HistoryPoint point_of_apply(const Actor *actor)
{
    LakeTable landed = last_landed(actor);

    return landed == TABLE_SILVER    ? POINT_MERGED
           : landed == TABLE_CONTROL ? POINT_POSITIONED
                                     : HISTORY_POINTS;
}

void history_classify(History *history, const Actor *actor)
{
    State        state;
    HistoryPoint point = HISTORY_POINTS;

    if (actor->kind == ACTOR_APPLY) {
        point = point_of_apply(actor);
    } else {
        state = read_state(history);
        point = actor->kind == ACTOR_BACKFILL ? point_of_backfill(actor, &state)
                                              : point_of_stream(actor, &state);
    }
    if (point < HISTORY_POINTS) history->counts->points[point]++;
    if (history->source->has_large_rows && actor->moved > 1)
        history->counts->points[POINT_AMONG_FILES]++;
    if (point == POINT_APPENDED || point == POINT_PLANNED_ROWS) history->has_orphan_wave = true;
}

/* --- verdicts --- */

static void fail_history(const History *history, const char *what, int64_t n, int64_t v)
{
    fail_msg("seed %" PRIu64 ": %s, row %" PRId64 ", image %" PRId64, history->seed, what, n, v);
}

/* What control says of silver. */
typedef struct Position {
    int64_t bronze_us, silver_us; /* verdicts, 0: none */
    bool    is_open;
    int64_t wave; /* -1: none */
    int64_t applied_us;
} Position;

/* Whether an absent row of silver tells anything: all do once the snapshot is applied, before that those in the ranges of
 * waves that are. Ranges are looked at for keys that are n. */
static bool *find_settled(History *history, const Position *position)
{
    HistorySource *source  = history->source;
    World         *world   = history->world;
    bool          *settled = ARENA_ARRAY(world_arena(world), bool, (size_t)source->universe);
    Str            ranges;

    for (int n = 0; n < source->universe; n++)
        settled[n] = !position->is_open;
    if (!position->is_open || position->wave < 0 || source->kind != KEY_DENSE) return settled;
    ranges = world_rows(
        world,
        "SELECT coalesce(json_extract_string(p.detail, '$.lo')::INT, 0), "
        "json_extract_string(p.detail, '$.hi')::INT FROM {" FACTS "} AS f JOIN {" PLANS
        "} AS p ON p.event = f.event AND "
        "json_extract(p.detail, '$.chunk') = json_extract(f.detail, '$.chunk') AND "
        "json_extract(p.detail, '$.wave') = json_extract(f.detail, '$.wave') WHERE "
        "f.event = 'snapshot_chunk' AND json_extract(f.detail, '$.wave')::INT <= %lld",
        (long long)position->wave);
    while (ranges.len > 0) {
        int64_t lo = next_number(&ranges), hi = next_number(&ranges);

        for (int64_t n = MAX(lo, 0); n < hi && n < source->universe; n++)
            settled[n] = true;
    }
    return settled;
}

/* Every row is an image the source had when the changes applied ended, or later; so is every row that is not there, once
 * it has been looked at. */
static void check_silver(History *history, const Position *position)
{
    HistorySource *source = history->source;
    World         *world  = history->world;
    Str            rows   = world_rows(world, "SELECT n, v FROM {" SILVER "}");
    int64_t        from   = MAX(position->silver_us, position->applied_us) - ROUNDING_US;
    /* A key whose case changed is another one to silver: what a chunk has of it may stand beside what earlier changes
     * brought until the change itself comes. */
    bool     may_be_twice = source->kind == KEY_VARCHAR;
    int64_t *shown;
    bool    *settled;

    if (str_equal_c(rows, "no table\n")) return;
    shown   = ARENA_ARRAY(world_arena(world), int64_t, (size_t)source->universe);
    settled = find_settled(history, position);
    while (rows.len > 0) {
        int64_t n = next_number(&rows), v = next_number(&rows);

        if (n < 0 || n >= source->universe || (shown[n] && !may_be_twice))
            fail_history(history, "silver has a row twice", n, v);
        shown[n] = v;
        if (!history_source_allows(source, (int)n, v, from))
            fail_history(history, "silver has an image that was over", n, v);
    }
    for (int n = 0; from > 0 && n < source->universe; n++)
        if (settled[n] && !shown[n] && !history_source_allows(source, n, 0, from))
            fail_history(history, "silver lacks a row", n, 0);
}

/* Every change of a commit after the snapshot and before the verdict is in bronze. */
static void check_bronze(History *history, int64_t verdict_us)
{
    HistorySource *source = history->source;
    World         *world  = history->world;
    Arena         *arena  = world_arena(world);
    Str rows = world_rows(world, "SELECT n, v, _operation FROM {" BRONZE "} WHERE _operation <> 0");
    Str start    = world_rows(world, "SELECT max(epoch_us(max_commit_ts)) FROM {" FACTS
                                     "} WHERE event = 'snapshot_open'");
    bool   *came = ARENA_ARRAY(arena, bool, (size_t)source->next_v);
    bool   *went = ARENA_ARRAY(arena, bool, (size_t)source->next_v);
    int64_t start_us;

    if (str_equal_c(rows, "no table\n")) rows = STR_EMPTY;
    start_us = next_number(&start);
    while (rows.len > 0) {
        int64_t n = next_number(&rows), v = next_number(&rows), operation = next_number(&rows);

        if (v < 0 || v >= source->next_v) fail_history(history, "bronze is wrong", n, v);
        if (operation == 2 || operation == 4)
            came[v] = true;
        else
            went[v] = true;
    }
    for (size_t i = 0; i < source->commits.count; i++) {
        const HistoryCommit *commit = &source->commits.items[i];

        if (commit->done_us <= start_us + ROUNDING_US || commit->done_us >= verdict_us) continue;
        for (size_t c = 0; c < commit->change_count; c++) {
            const HistoryChange *change = &commit->changes[c];
            if (change->after ? !came[change->after] : !went[change->before])
                fail_history(history, "bronze lacks what its verdict says", change->n,
                             change->after);
        }
    }
}

static bool is_complete(World *world)
{
    return str_equal_c(
        world_rows(world, "SELECT count(*) FROM {" FACTS "} WHERE event = 'bootstrap'"), "1\n");
}

static Position read_position(World *world)
{
    Str text = world_rows(
        world,
        "WITH c AS (SELECT * FROM {" CONTROL "}), s AS (SELECT * FROM c WHERE table_name = '" SILVER
        "') SELECT coalesce((SELECT max(epoch_us(finalized_until)) FROM c WHERE table_name = "
        "'" BRONZE "'), 0), coalesce((SELECT max(epoch_us(finalized_until)) FROM s), 0), (SELECT "
        "count(open_snapshot_lsn) FROM s), (SELECT max(snapshot_wave) FROM s), (SELECT "
        "max(applied_lsn) FROM s)");
    Position position = {.wave = -1};

    position.bronze_us = next_number(&text);
    position.silver_us = next_number(&text);
    position.is_open   = next_number(&text) != 0;
    position.wave      = next_number(&text);
    text               = str_trim(text);
    if (str_equal_c(text, "-")) return position;
    text                = world_rows(world,
                                     "SELECT coalesce(max(epoch_us(_commit_ts)), 0) FROM {" BRONZE
                                     "} WHERE _operation <> 0 AND _start_lsn <= '%.*s'",
                                     STR_ARG(text));
    position.applied_us = next_number(&text);
    return position;
}

void history_check_verdicts(History *history)
{
    World   *world   = history->world;
    int64_t  version = world_version(world, CONTROL);
    Position position;

    if (version < 0 || version == history->control_version) return; /* nothing moved */
    history->control_version = version;
    position                 = read_position(world);
    check_silver(history, &position);
    if (position.silver_us && !history->has_silver_verdict && !is_complete(world))
        fail_history(history, "silver has a verdict while its snapshot is open", -1, 0);
    history->has_silver_verdict = position.silver_us != 0;
    if (position.bronze_us != history->bronze_verdict)
        check_bronze(history, position.bronze_us - ROUNDING_US);
    history->bronze_verdict = position.bronze_us;
    history->counts->verdicts += (position.bronze_us != 0) + (position.silver_us != 0);
}

/* --- the end --- */

static void check_model(History *history)
{
    HistorySource *source = history->source;
    Str            rows   = world_source_rows(history->world, "SELECT n, v FROM dbo.orders");
    int64_t        count  = 0;

    while (rows.len > 0) {
        int64_t n = next_number(&rows), v = next_number(&rows);

        if (source->now[n] != v) fail_history(history, "the model is wrong", n, v);
        count++;
    }
    for (int n = 0; n < source->universe; n++)
        count -= source->now[n] != 0;
    if (count) fail_history(history, "the model has other rows", -1, count);
}

/* One open, one plan, one completion; chunks that tile, each in one wave, with the rows the facts say. */
static void check_snapshot(History *history)
{
    World *world = history->world;

    assert_rows(
        world, "1|1|1|0|true|0\n",
        "WITH f AS (SELECT *, json_extract(detail, '$.chunk')::INT AS c FROM {" FACTS
        "}), r AS (SELECT _chunk, _operation, _batch_id FROM {" BRONZE
        "}), b AS (SELECT _chunk AS c, count(*) AS n FROM r WHERE _operation = 0 GROUP BY "
        "1), m AS (SELECT _batch_id AS id, count(*) AS n FROM r WHERE _operation <> 0 GROUP "
        "BY 1) SELECT count(*) FILTER (event = "
        "'snapshot_open'), count(*) FILTER (event = 'snapshot_plan'), count(*) FILTER "
        "(event = 'bootstrap'), count(*) FILTER (event = 'snapshot_chunk' AND \"rows\" <> "
        "coalesce(n, 0)), sum(\"rows\") FILTER (event = 'snapshot_chunk') = max(\"rows\") "
        "FILTER (event = 'bootstrap') AND (SELECT coalesce(sum(n), 0) FROM b) = "
        "max(\"rows\") FILTER (event = 'bootstrap'), (SELECT count(*) FROM (SELECT batch_id AS "
        "id, count(*) AS times, max(\"rows\") AS n FROM f WHERE event IS NULL GROUP BY 1) "
        "AS t FULL JOIN m USING (id) WHERE times IS DISTINCT FROM 1 OR t.n IS DISTINCT FROM "
        "coalesce(m.n, 0)) FROM f LEFT JOIN b USING (c)");
    assert_rows(
        world, "true|1|0|0|0\n",
        "WITH f AS (SELECT event, json_extract(detail, '$.chunk')::INT AS c, json_extract(detail, "
        "'$.wave')::INT AS w, json_extract(detail, '$.last')::BOOL AS last, json_extract(detail, "
        "'$.chunk_count')::INT AS n FROM {" FACTS
        "}), p AS (SELECT json_extract(detail, '$.chunk')::INT AS c, json_extract(detail, "
        "'$.wave')::INT AS w, json_extract_string(detail, '$.lo') AS lo, "
        "json_extract_string(detail, '$.hi') AS hi FROM {" PLANS
        "} WHERE event = 'snapshot_chunk'), r AS (SELECT f.c, f.w, lo, hi, lead(lo) OVER (ORDER BY "
        "f.c) AS next, lead(f.w) OVER (ORDER BY f.c) AS next_w, lead(f.c) OVER (ORDER BY f.c) AS "
        "next_c FROM f JOIN p ON f.c = p.c AND f.w = p.w WHERE event = 'snapshot_chunk') SELECT "
        "(SELECT count(*) FROM r) = max(n) AND count(DISTINCT c) = max(n) AND count(*) FILTER "
        "(event = 'snapshot_chunk') = max(n), count(*) FILTER (last), (SELECT count(*) FROM r "
        "WHERE next_c IS NOT NULL AND (hi IS DISTINCT FROM next OR hi IS NULL)), (SELECT count(*) "
        "FROM r WHERE next_w < w OR next_c <> c + 1), (SELECT count(*) FROM r WHERE (c = 0) <> (lo "
        "IS NULL)) FROM f");
    assert_rows(world, "0\n",
                "SELECT count(*) FROM (SELECT n FROM {" BRONZE
                "} WHERE _operation = 0 GROUP BY %s HAVING count(*) > 1)",
                history->source->kind == KEY_REPEATED ? "_chunk, n" : "n");
}

/* What was read is older than nothing that its stamp covers: each row of a chunk is an image the source had at its stamp,
 * or later. And the facts tell of a chunk the stamp that its rows have. */
static void check_stamps(History *history)
{
    World *world = history->world;
    Str    rows  = world_rows(world, "SELECT n, v, epoch_us(_commit_ts) FROM {" BRONZE
                                     "} WHERE _operation = 0");

    if (str_equal_c(rows, "no table\n")) return;
    while (rows.len > 0) {
        int64_t n = next_number(&rows), v = next_number(&rows), stamp_us = next_number(&rows);

        if (!history_source_allows(history->source, (int)n, v, stamp_us - ROUNDING_US))
            fail_history(history, "a chunk has an image that was over at its stamp", n, v);
    }
    assert_rows(world, "0\n",
                "SELECT count(*) FROM (SELECT _chunk AS c, min(_start_lsn) AS least, "
                "max(_start_lsn) AS most FROM {" BRONZE
                "} WHERE _operation = 0 GROUP BY 1) AS b JOIN {" FACTS
                "} AS f ON json_extract(f.detail, '$.chunk')::INT = b.c WHERE f.event = "
                "'snapshot_chunk' AND (f.min_lsn <> b.least OR f.min_lsn <> b.most)");
}

/* Waves of the facts, and how many of them without a row. */
static void count_waves(History *history)
{
    Str text = world_rows(history->world,
                          "SELECT count(*), count(*) FILTER (n = 0) FROM (SELECT sum(\"rows\") AS "
                          "n FROM {" FACTS "} WHERE event = 'snapshot_chunk' GROUP BY "
                          "json_extract(detail, '$.wave')::INT)");

    history->counts->waves += next_number(&text);
    history->counts->empty_waves += next_number(&text);
}

/* Files of bronze that hold one row, and that a large one. */
static int64_t count_large_files(World *world)
{
    DeltaTable      *table = NULL;
    Err              err   = ERR_INIT;
    const DeltaFile *file;
    DeltaBounds      bounds;
    int64_t          count = 0;

    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        count += file->row_count == 1 &&
                 delta_file_find_bounds(table, file, STR("t"), world_arena(world), &bounds) &&
                 bounds.null_count == 0;
    delta_table_close(table);
    return count;
}

/* A long text is that of its row. Each has a file of its own until compaction has been there. */
static void check_large_rows(History *history)
{
    World  *world = history->world;
    Str     rows;
    int64_t count, files;

    if (!history->source->has_large_rows) return;
    for (int i = 0; i < 2; i++)
        assert_rows(world, "0\n",
                    "SELECT count(*) FROM {%s} WHERE t IS DISTINCT FROM CASE WHEN v %% %d = 0 THEN "
                    "repeat(v || ',', %d) END",
                    i ? SILVER : BRONZE, HISTORY_LARGE_EVERY, HISTORY_LARGE_TIMES);
    rows  = world_rows(world, "SELECT count(t) FROM {" BRONZE "}");
    count = next_number(&rows);
    files = count_large_files(world);
    if (!history->has_compacted) assert_int_equal(files, count);
    history->counts->large_rows += count;
    history->counts->large_files += files;
}

void history_check_end(History *history)
{
    World *world = history->world;
    Str    text  = world_rows(world,
                              "SELECT max(max_lsn) FROM {" FACTS "} WHERE event = 'snapshot_open'");
    Lsn    start = LSN_ZERO;

    check_model(history);
    assert_silver_is_source(world, "orders", history_columns(history->source));
    check_snapshot(history);
    check_stamps(history);
    check_large_rows(history);
    assert_true(lsn_parse(str_trim(text), &start));
    assert_bronze_is_complete(world, "orders", start);
    count_waves(history);
    history->counts->points[POINT_READ_AHEAD] += (int64_t)world_line_count(
        world, "a wave read ahead is dropped");
}
