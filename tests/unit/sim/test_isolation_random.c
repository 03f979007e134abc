/* Random sessions at every isolation level, a few thousand interleavings of them: transfers keep a
 * sum, SERIALIZABLE readers meet no phantoms and book nothing twice, SNAPSHOT reads repeat,
 * statements under READ_COMMITTED_SNAPSHOT agree with themselves, and nobody but READ UNCOMMITTED
 * sees what is not committed. Once on the simulated scheduler, seed by seed, and once on threads,
 * where the thread sanitizer watches. */
#include "support/test_support.h"

#include "unit/sim/talk.h"

#define ACCOUNTS 6
#define SLOTS    4
#define WORKERS  4
#define TOTAL    600 /* 100 each */

typedef struct Town {
    Talks     *talks;
    bool       is_simulated, has_rcsi;
    int        rounds;
    atomic_int problems, commits, conflicts;
} Town;

typedef struct Worker {
    Town  *town;
    Talk  *talk;
    Rng   *rng;
    Arena *arena; /* of what it says */
    Task  *task;
} Worker;

static void problem(Worker *worker, const char *what, Str got)
{
    if (atomic_fetch_add(&worker->town->problems, 1) < 5)
        print_error("%s: %.*s\n", what, STR_ARG(got));
}

static int below(Worker *worker, int limit)
{
    return (int)rng_below(worker->rng, (uint64_t)limit);
}

static void pause_a_little(Worker *worker)
{
    if (worker->town->is_simulated)
        clock_sleep_ms(worker->town->talks->clock, below(worker, 3), NULL);
}

/* One statement; false when it ended the transaction (1205, 3960) or went wrong. */
static bool say(Worker *worker, Str sql, Str *out)
{
    pause_a_little(worker);
    *out = talk_run(worker->talk, sql);
    if (str_find_char(*out, '!', 0) < 0) return true;
    if (str_find(*out, STR("!1205"), 0) >= 0 || str_find(*out, STR("!3960"), 0) >= 0)
        atomic_fetch_add(&worker->town->conflicts, 1);
    else
        problem(worker, "error", *out);
    return false;
}

static bool do_say(Worker *worker, Str sql)
{
    Str ignored;
    return say(worker, sql, &ignored);
}

#define SAY(worker, ...) do_say((worker), str_printf((worker)->arena, __VA_ARGS__))

static void finish(Worker *worker, bool ok, bool commits)
{
    Str ignored;

    if (!ok) {
        (void)say(worker, STR("IF @@TRANCOUNT > 0 ROLLBACK"), &ignored);
        return;
    }
    if (commits && say(worker, STR("COMMIT"), &ignored))
        atomic_fetch_add(&worker->town->commits, 1);
    else
        (void)say(worker, STR("IF @@TRANCOUNT > 0 ROLLBACK"), &ignored);
}

static const char *const strict[] = {"SERIALIZABLE", "REPEATABLE READ", "SNAPSHOT"};

/* Reads two accounts and writes back what it makes of them: a lost update would show in the sum. */
static void transfer(Worker *worker)
{
    int  from = below(worker, ACCOUNTS) + 1, to = below(worker, ACCOUNTS) + 1;
    int  level = below(worker, 4);
    bool ok;

    if (from == to) return;
    ok               = SAY(worker, "SET TRANSACTION ISOLATION LEVEL %s; BEGIN TRAN",
             level < 3 ? strict[level] : "READ COMMITTED");
    const char *hint = level == 3 ? "WITH (UPDLOCK)" : "";
    ok               = ok && SAY(worker,
                                 "SET NOCOUNT ON; DECLARE @a int, @b int; SELECT @a = v FROM acc %s WHERE id = "
                                               "%d; SELECT @b = v FROM acc %s WHERE id = %d; EXEC sp_set_session_context "
                                               "N'a', @a; EXEC sp_set_session_context N'b', @b",
                                 hint, from, hint, to);
    /* what is not committed may be anything, and at the end it is in order again */
    ok = ok && SAY(worker, "UPDATE acc SET g = -1 WHERE id = %d", from);
    ok = ok && SAY(worker,
                   "UPDATE acc SET v = CAST(SESSION_CONTEXT(N'a') AS int) - 5, g = %d WHERE id = "
                   "%d",
                   below(worker, 3), from);
    ok = ok &&
         SAY(worker, "UPDATE acc SET v = CAST(SESSION_CONTEXT(N'b') AS int) + 5 WHERE id = %d", to);
    if (ok && below(worker, 5) == 0)
        finish(worker, false, false);
    else
        finish(worker, ok, true);
}

/* A row that comes and goes without ever being committed. */
static void waver(Worker *worker)
{
    int  id = 1000 + below(worker, 5);
    bool ok = SAY(worker, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRAN");

    ok = ok && SAY(worker,
                   "IF NOT EXISTS (SELECT 1 FROM acc WITH (UPDLOCK, HOLDLOCK) WHERE id = "
                   "%d) INSERT INTO acc VALUES (%d, 7, -1)",
                   id, id);
    finish(worker, false, ok);
}

/* Takes a slot that nobody has: twice only if a phantom slipped in between. */
static void book(Worker *worker)
{
    int  slot = below(worker, SLOTS);
    bool ok   = SAY(worker, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRAN");

    if (ok && below(worker, 3) == 0)
        ok = SAY(worker, "DELETE FROM booking WHERE slot = %d", slot);
    else
        ok = ok && SAY(worker,
                       "IF (SELECT COUNT(*) FROM booking WHERE slot = %d) = 0 INSERT INTO "
                       "booking (slot) VALUES (%d)",
                       slot, slot);
    finish(worker, ok, true);
}

/* The same question twice in a transaction, with time in between: the same answer. */
static void ask_twice(Worker *worker, const char *level, const char *question, bool has_sum)
{
    Str    first = STR_EMPTY, second = STR_EMPTY;
    Arena *arena = arena_new();
    bool   ok    = SAY(worker, "SET TRANSACTION ISOLATION LEVEL %s; BEGIN TRAN", level);

    ok = ok && say(worker, str_from_c(question), &first);
    if (ok) first = str_copy(arena, first);
    pause_a_little(worker);
    ok = ok && say(worker, str_from_c(question), &second);
    if (ok && !str_equal(first, second)) problem(worker, level, second);
    if (ok && has_sum && !str_equal_c(second, "600|6|0")) problem(worker, "sum", second);
    finish(worker, ok, true);
    arena_close(arena);
}

static void look(Worker *worker)
{
    Str got;

    switch (below(worker, 5)) {
    case 0:
        ask_twice(worker, "SNAPSHOT", "SELECT SUM(v), COUNT(*), SUM(IIF(g < 0, 1, 0)) FROM acc",
                  true);
        return;
    case 1:
        ask_twice(worker, "SERIALIZABLE", "SELECT SUM(v), COUNT(*), SUM(IIF(g < 0, 1, 0)) FROM acc",
                  true);
        return;
    case 2:
        ask_twice(worker, "SERIALIZABLE", "SELECT slot FROM booking WHERE slot BETWEEN 1 AND 2",
                  false);
        return;
    case 3:
        ask_twice(worker, "SNAPSHOT", "SELECT id, v FROM acc WHERE g = 1 ORDER BY id", false);
        return;
    default: break;
    }
    if (!SAY(worker, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")) return;
    if (say(worker, STR("SELECT COUNT(*) FROM acc WHERE g < 0 OR id >= 1000"), &got) &&
        !str_equal_c(got, "0"))
        problem(worker, "not committed", got);
    if (!worker->town->has_rcsi) return;
    if (say(worker,
            STR("SELECT (SELECT SUM(v) FROM acc), (SELECT COUNT(*) FROM acc WHERE g = 1) - (SELECT "
                "COUNT(*) FROM acc AS a WHERE a.g = 1), (SELECT SUM(v) FROM acc AS b)"),
            &got) &&
        !str_equal_c(got, "600|0|600"))
        problem(worker, "statement", got);
}

static void run_worker(void *arg)
{
    Worker *worker = arg;

    for (int round = 0; round < worker->town->rounds; round++) {
        int dice = below(worker, 10);
        if (dice < 4)
            transfer(worker);
        else if (dice < 6)
            book(worker);
        else if (dice < 7)
            waver(worker);
        else
            look(worker);
    }
}

static void run_town(Talks *talks, bool simulated, uint64_t seed, int rounds, int *commits_out,
                     int *conflicts_out)
{
    Town town = {
        .talks = talks, .is_simulated = simulated, .has_rcsi = seed % 2 == 0, .rounds = rounds};
    Worker workers[WORKERS];
    Talk  *first = talk_open(talks);

    do_run(first, "CREATE TABLE acc (id int NOT NULL PRIMARY KEY, v int, g int); CREATE INDEX by_g "
                  "ON acc (g); CREATE TABLE booking (id int IDENTITY NOT NULL, slot int); CREATE "
                  "INDEX by_slot ON booking (slot)");
    do_run(first, "INSERT INTO acc VALUES (1, 100, 0), (2, 100, 1), (3, 100, 2), (4, 100, 0), (5, "
                  "100, 1), (6, 100, 2)");
    do_run(first, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON");
    if (town.has_rcsi) do_run(first, "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON");
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i]      = (Worker){.town  = &town,
                                   .talk  = talk_open(talks),
                                   .rng   = rng_new(seed * WORKERS + i + 1),
                                   .arena = arena_new()};
        workers[i].task = sched_spawn(talks->sched, "worker", run_worker, &workers[i]);
    }
    for (size_t i = 0; i < WORKERS; i++)
        sched_join(talks->sched, workers[i].task);
    for (size_t i = 0; i < WORKERS; i++) {
        talk_close(workers[i].talk);
        rng_close(workers[i].rng);
        arena_close(workers[i].arena);
    }
    assert_says(first, "SELECT SUM(v), COUNT(*), SUM(IIF(g < 0, 1, 0)) FROM acc", "600|6|0");
    assert_says(first, "SELECT slot FROM booking GROUP BY slot HAVING COUNT(*) > 1", "");
    assert_int_equal(sim_database_kept_rows(sim_server_find_database(talks->server, STR("shop"))),
                     0);
    assert_says(first, "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type <> 'DATABASE'",
                "0");
    *commits_out += atomic_load(&town.commits);
    *conflicts_out += atomic_load(&town.conflicts);
    talk_close(first);
    if (atomic_load(&town.problems) > 0) fail_msg("seed %llu", (unsigned long long)seed);
}

static int count_from_environment(const char *name, int otherwise)
{
    const char *text  = getenv(name);
    int64_t     count = otherwise;

    if (text != NULL && !str_parse_i64(str_from_c(text), &count)) fail_msg("%s: %s", name, text);
    return (int)count;
}

static void every_interleaving_keeps_what_its_level_promises(void **state)
{
    int seeds = count_from_environment("ISOLATION_SEEDS", 2000), commits = 0, conflicts = 0;
    (void)state;

    for (int seed = count_from_environment("ISOLATION_FIRST", 1); seed <= seeds; seed++) {
        if (getenv("ISOLATION_TRACE")) print_message("# seed %d\n", seed);
        Talks *talks = talks_open_simulated((uint64_t)seed);
        run_town(talks, true, (uint64_t)seed, 8, &commits, &conflicts);
        talks_close(talks);
    }
    print_message("# %d interleavings: %d commits, %d deadlocks and conflicts\n", seeds, commits,
                  conflicts);
    assert_true(commits > 8 * seeds);
    assert_true(conflicts > seeds / 4); /* else the sessions did not meet */
}

static void threads_keep_it_too(void **state)
{
    int rounds = count_from_environment("ISOLATION_ROUNDS", 150), commits = 0, conflicts = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= 4; seed++) {
        Talks *talks = talks_open();
        run_town(talks, false, seed, rounds, &commits, &conflicts);
        talks_close(talks);
    }
    assert_true(commits > rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_interleaving_keeps_what_its_level_promises),
        cmocka_unit_test(threads_keep_it_too),
    };
    return RUN_TESTS(tests);
}
