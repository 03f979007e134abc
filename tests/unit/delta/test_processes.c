/* Several processes on one table on disk, killed at any moment (test 6 of delta.md 7): as many
 * versions as commits, no gap, every txn once. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#include <dirent.h>
#include <time.h>

#define CHILDREN_MAX 8

typedef struct Job {
    int64_t commit_count;
    bool    is_rewriter;
    int64_t deadline_ms; /* monotonic; 0: none */
} Job;

static bool is_over(const Job *job)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return job->deadline_ms > 0 && now.tv_sec * 1000 + now.tv_nsec / 1000000 >= job->deadline_ms;
}

/* A world on the given folder with the real clock. */
static World *process_world(const char *folder, Duck *duck)
{
    World *world = world_of(duck, 1);
    rng_close(world->context.rng);
    world->context.rng   = rng_new_from_entropy();
    world->context.clock = clock_new_real();
    world->store         = store_local_new(str_from_c(folder));
    world->context.store = world->store;
    return world;
}

static void process_world_close(World *world)
{
    clock_close(world->context.clock);
    world_close(world);
}

/* Appends what its txn says is still missing. */
static bool append_all(World *world, DeltaTable *table, int child, const Job *job)
{
    Str     app  = str_printf(world->arena, "child-%d", child);
    int64_t done = 0;
    (void)delta_table_find_txn(table, app, &done);
    for (int64_t batch = done + 1; batch <= job->commit_count && !is_over(job);) {
        DeltaTxn     txn = {app, batch};
        DeltaOutcome outcome;
        if (try_append(world, table, child * INT64_C(100000000) + batch, 1, &txn, &outcome))
            batch++;
        else if (world->err.code != ERR_CONFLICT) /* lost so many races that it gave up */
            return false;
        err_clear(&world->err);
    }
    return true;
}

/* Two files become one with the same rows; a lost race is computed again. */
static bool rewrite_once(World *world, DeltaTable *table, DuckSession *session, DeltaWriter *writer)
{
    const DeltaFile *files[2];
    size_t           count = 0;
    Str              scan;
    DeltaAdd         add;
    DeltaOutcome     outcome;

    for (size_t at = 0; count < 2 && delta_table_next_file(table, &at, &files[count]);)
        count++;
    if (count < 2) return delta_table_refresh(table, &world->err);
    if (!delta_scan_sql(table, files, 2, NULL, false, world->arena, &scan, &world->err))
        return false;
    if (!delta_writer_write_query(writer, session, scan, world->arena, &add, &world->err))
        return false;
    if (!delta_writer_publish(writer, &add, 1, &world->err)) return false;
    DeltaCommit commit = {.operation     = STR("MERGE"),
                          .adds          = &add,
                          .add_count     = 1,
                          .removes       = files,
                          .remove_count  = 2,
                          .user_metadata = STR_EMPTY};
    if (delta_table_commit(table, &commit, &outcome, NULL, &world->err)) return true;
    return world->err.code == ERR_CONFLICT;
}

static bool rewrite_all(World *world, DeltaTable *table, const Job *job)
{
    DuckSession *session = NULL;
    DeltaWriter *writer  = NULL;
    bool         ok      = duck_session_open(world->context.duck, &session, &world->err) &&
              delta_writer_open(table, STR("apply"), NULL, &writer, &world->err);
    for (int64_t i = 0; ok && i < job->commit_count && !is_over(job); i++) {
        ok = rewrite_once(world, table, session, writer);
        if (ok) err_clear(&world->err);
    }
    delta_writer_close(writer);
    duck_session_close(session);
    return ok;
}

static int run_child(const char *folder, int child, const Job *job)
{
    void       *duck  = NULL;
    DeltaTable *table = NULL;
    char        text[1600];

    if (duck_setup(&duck) != 0) return 3;
    World *world = process_world(folder, duck);
    bool   ok    = delta_table_open(&world->context, STR("t"), &table, &world->err) &&
              (job->is_rewriter ? rewrite_all(world, table, job)
                                : append_all(world, table, child, job));
    if (!ok) {
        err_format(&world->err, text, sizeof text);
        (void)fprintf(stderr, "# child %d: %s: %s\n", child, err_code_name(world->err.code), text);
    }
    return ok ? 0 : 4; /* the process ends here: nothing is closed */
}

static pid_t start_child(const char *folder, int child, const Job *job)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(run_child(folder, child, job));
    return pid;
}

static void sleep_ms(int64_t ms)
{
    const struct timespec duration = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&duration, NULL);
}

/* Runs the jobs to their end, each killed and started again now and then. */
static void run_jobs(const char *folder, const Job *jobs, int job_count, int kill_count, Rng *rng)
{
    pid_t pids[CHILDREN_MAX];
    int   killed = 0;

    for (int i = 0; i < job_count; i++)
        pids[i] = start_child(folder, i, &jobs[i]);
    for (int i = 0; i < kill_count; i++) {
        int status = 0;
        int victim = (int)rng_below(rng, (uint64_t)job_count);
        sleep_ms(rng_between(rng, 10, 250));
        (void)kill(pids[victim], SIGKILL);
        assert_int_equal(waitpid(pids[victim], &status, 0), pids[victim]);
        killed += WIFSIGNALED(status);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        pids[victim] = start_child(folder, victim, &jobs[victim]);
    }
    for (int i = 0; i < job_count; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    if (kill_count > 0 && killed == 0) print_message("# no kill hit a running child\n");
}

static int64_t count_entries(const char *path)
{
    DIR    *folder = opendir(path);
    int64_t count  = 0;
    if (!folder) return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* In a child of its own, so that this process stays without libduckdb's threads. */
static int check_table(const char *folder, int64_t row_count, int64_t version_count)
{
    void *duck = NULL;
    if (duck_setup(&duck) != 0) return 3;
    World      *world = process_world(folder, duck);
    DeltaTable *table = open_table(world, "t");
    bool        ok    = version_count < 0 || delta_table_get_version(table) == version_count;
    ok                = ok && count_rows(world, table) == row_count &&
         query_table(world, table, "SELECT count(DISTINCT id) FROM %s") == row_count;
    /* whoever died left staged files; the next call of the same purpose removes them, and no
     * other has any */
    append_rows(world, table, 1, 1);
    int64_t newest = delta_table_get_version(table);
    for (int64_t version = 0; version <= newest; version++) {
        DeltaTable *old = NULL;
        assert_ok(delta_table_open_version(&world->context, STR("t"), version, &old, &world->err),
                  &world->err);
        delta_table_close(old);
    }
    delta_table_close(table);
    int64_t staged = count_entries(
        str_printf(world->arena, "%s/t/_tidelake_staging/test", folder).ptr);
    if (!ok || staged > 0)
        (void)fprintf(stderr, "# version %lld, want %lld; %lld staged runs\n",
                      (long long)newest - 1, (long long)version_count, (long long)staged);
    process_world_close(world);
    (void)duck_teardown(&duck);
    return ok && staged == 0 ? 0 : 4;
}

static void assert_table(const char *folder, int64_t row_count, int64_t version_count)
{
    int   status = 0;
    pid_t pid    = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(check_table(folder, row_count, version_count));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void every_commit_of_several_processes_is_there_once(void **state)
{
    const Job jobs[] = {{30, false, 0}, {30, false, 0}, {30, false, 0}, {30, false, 0}};
    World    *world  = world_new_local(state);
    Rng      *rng    = rng_new(11);
    delta_table_close(create_table(world, "t"));
    run_jobs(world->folder, jobs, COUNT_OF(jobs), 0, rng);
    assert_table(world->folder, 120, 120);
    rng_close(rng);
    world_close(world);
}

/* --- for a time, killed all the time --- */

#define TIMED_SECONDS 15 /* a case; TIDELAKE_PROCESS_SECONDS replaces it (make soak) */

static int64_t timed_seconds(void)
{
    const char *text = getenv("TIDELAKE_PROCESS_SECONDS");
    int64_t     seconds;
    return text && str_parse_i64(str_from_c(text), &seconds) ? seconds : TIMED_SECONDS;
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The txns of the log, each seen once and in the order of its app; every version has its commit. */
static bool check_txns(World *world, DeltaTable *table, int64_t *total_out)
{
    int64_t newest             = delta_table_get_version(table);
    int64_t last[CHILDREN_MAX] = {0};

    for (int64_t version = 0; version <= newest; version++) {
        Arena       *arena  = arena_new();
        const char  *path   = commit_path(world, "t", version);
        ActionReader reader = action_reader(read_text(world, path), str_from_c(path), arena);
        Action       action;
        bool         found = true;
        while (found) {
            assert_ok(action_next(&reader, &found, &action, &world->err), &world->err);
            if (!found || action.kind != ACTION_TXN) continue;
            int64_t child;
            Str     app = action.txn.app_id;
            if (!str_starts_with(app, STR("child-")) ||
                !str_parse_i64(str_slice(app, sizeof "child-" - 1, app.len), &child) || child < 0 ||
                child >= CHILDREN_MAX || action.txn.version != ++last[child]) {
                (void)fprintf(stderr, "# version %lld has txn %.*s %lld\n", (long long)version,
                              STR_ARG(app), (long long)action.txn.version);
                arena_close(arena);
                return false;
            }
        }
        arena_close(arena);
    }
    for (int i = 0; i < CHILDREN_MAX; i++)
        *total_out += last[i];
    return true;
}

/* As many rows as txns, each once; asked in a child, as assert_table does. */
static int check_timed(const char *folder)
{
    void *duck = NULL;
    if (duck_setup(&duck) != 0) return 3;
    World      *world = process_world(folder, duck);
    DeltaTable *table = open_table(world, "t");
    int64_t     total = 0;
    bool        ok    = check_txns(world, table, &total) && count_rows(world, table) == total &&
              query_table(world, table, "SELECT count(DISTINCT id) FROM %s") == total;
    int64_t newest = delta_table_get_version(table);
    for (int64_t version = newest; ok && version >= 0; version -= newest / 200 + 1) {
        DeltaTable *old = NULL;
        assert_ok(delta_table_open_version(&world->context, STR("t"), version, &old, &world->err),
                  &world->err);
        delta_table_close(old);
    }
    print_message("# %lld versions, %lld rows\n", (long long)newest, (long long)total);
    delta_table_close(table);
    process_world_close(world);
    (void)duck_teardown(&duck);
    return ok ? 0 : 4;
}

static int run_apart(const char *folder, int (*run)(const char *))
{
    int   status = 0;
    pid_t pid    = fork();
    assert_true(pid >= 0);
    if (pid == 0) _exit(run(folder));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void kill_and_start_again(const char *folder, pid_t *pids, const Job *jobs, int count,
                                 Rng *rng, int *killed)
{
    int status = 0, victim = (int)rng_below(rng, (uint64_t)count);

    sleep_ms(rng_between(rng, 10, 400));
    (void)kill(pids[victim], SIGKILL);
    assert_int_equal(waitpid(pids[victim], &status, 0), pids[victim]);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    *killed += WIFSIGNALED(status);
    pids[victim] = start_child(folder, victim, &jobs[victim]);
}

/* Each fourth process rewrites, and one of two does. */
static void run_timed(void **state, int count)
{
    World  *world    = world_new_local(state);
    Rng    *rng      = rng_new_from_entropy();
    int64_t deadline = now_ms() + timed_seconds() * 1000;
    Job     jobs[CHILDREN_MAX];
    pid_t   pids[CHILDREN_MAX];
    int     killed = 0;

    delta_table_close(create_table(world, "t"));
    for (int i = 0; i < count; i++) {
        jobs[i] = (Job){
            .commit_count = INT64_MAX, .is_rewriter = i % 4 == 1, .deadline_ms = deadline};
        pids[i] = start_child(world->folder, i, &jobs[i]);
    }
    while (now_ms() < deadline)
        kill_and_start_again(world->folder, pids, jobs, count, rng, &killed);
    for (int i = 0; i < count; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_true(killed > 0);
    assert_int_equal(run_apart(world->folder, check_timed), 0);
    rng_close(rng);
    world_close(world);
}

static void two_processes_killed_all_the_time_lose_nothing(void **state)
{
    run_timed(state, 2);
}

static void four_processes_killed_all_the_time_lose_nothing(void **state)
{
    run_timed(state, 4);
}

static void eight_processes_killed_all_the_time_lose_nothing(void **state)
{
    run_timed(state, 8);
}

/* Where names change their length in other writers, and where a checkpoint is due: several
 * writers at once. */
static void races_into_a_checkpoint_are_harmless(void **state)
{
    const int64_t starts[] = {8, 98};
    const Job     jobs[]   = {{3, false, 0}, {3, false, 0}};
    for (int round = 0; round < 6; round++) {
        World      *world = world_new_local(state);
        Rng        *rng   = rng_new(3);
        int64_t     start = starts[round % 2];
        DeltaTable *table = create_table(world, "t");
        for (int64_t i = 1; i <= start; i++)
            put_commit(world, "t", i, "{\"commitInfo\":{}}\n");
        delta_table_close(table);
        run_jobs(world->folder, jobs, COUNT_OF(jobs), 0, rng);
        assert_true(file_exists(
            world, log_path(world, "t", log_name_checkpoint(world->arena, start + 2).ptr)));
        assert_table(world->folder, 6, start + 6);
        rng_close(rng);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_commit_of_several_processes_is_there_once),
        cmocka_unit_test(two_processes_killed_all_the_time_lose_nothing),
        cmocka_unit_test(four_processes_killed_all_the_time_lose_nothing),
        cmocka_unit_test(eight_processes_killed_all_the_time_lose_nothing),
        cmocka_unit_test(races_into_a_checkpoint_are_harmless),
    };
    return RUN_DELTA_TESTS(tests); /* the parent's libduckdb stays closed: it opens at first use */
}
