/* Fifty connections that get in each other's way over real sockets: transfers, inserts, deletes, key updates, bulk loads, DDL,
 * readers of tables, change tables and catalogue under every isolation, cursors, attentions, kills and clients that vanish, while
 * capture and cleanup run. What must hold at any moment is asked all the time, what must hold at the end then. A few seconds;
 * TIDESIM_STRESS_SECONDS in the environment makes it longer. */
#include "unit/sim/server_world.h"

#include <pthread.h>
#include <stdatomic.h>

#define ACCOUNTS      20
#define ACCOUNT_START 100
#define KEYS          60
#define VICTIMS       4
#define PROBLEMS_MOST 20

typedef struct Crowd {
    World       world;
    atomic_bool is_over;
    atomic_int  problems;
    atomic_int  done[16]; /* turns of each kind */
    atomic_int  victims[VICTIMS];
    atomic_int  refused; /* deadlocks and their kin, as it should be */
} Crowd;

typedef struct Member {
    Crowd    *crowd;
    Rng      *rng;
    Client   *client;
    int       number; /* among its kind */
    int       kind;
    pthread_t thread;
} Member;

static void problem(Member *member, const char *what, int64_t number)
{
    if (atomic_fetch_add(&member->crowd->problems, 1) < PROBLEMS_MOST)
        (void)fprintf(stderr, "# kind %d, member %d: %s (%lld)\n", member->kind, member->number,
                      what, (long long)number);
}

static int below(Member *member, int limit)
{
    return (int)rng_below(member->rng, (uint64_t)limit);
}

/* --- talking --- */

/* What others cause: deadlock, lock timeout, snapshot conflicts, a key that is there, a table that is not; and what a deadlock
 * left of a table and its capture instance. */
static bool is_expected(int32_t number)
{
    static const int32_t expected[] = {0,    208,  1205, 1222, 2627,  2601,  3701,  3903, 3960,
                                       3961, 3902, 3930, 2714, 16915, 16916, 22926, 22985};

    for (size_t i = 0; i < COUNT_OF(expected); i++)
        if (number == expected[i]) return true;
    return false;
}

/* Reads all of an answer, since what a transaction became of may stand at its end. Its first error, 0: none. */
static int32_t read_answer(Member *member, int64_t *value_out)
{
    TdsItem item;
    int32_t error = 0;

    *value_out = -1;
    while (client_next(member->client, &item)) {
        if (item.kind == TDS_ITEM_ROW) *value_out = member->client->response.values[0].i64;
        if (item.kind == TDS_ITEM_MESSAGE && item.message.is_error && error == 0)
            error = item.message.text.number;
    }
    return error;
}

/* The answer's first error, or 0, and the first value of its last row. Whatever was left open is rolled back after one. */
static int32_t say_and_read(Member *member, const char *sql, int64_t *value_out)
{
    int64_t ignored;
    int32_t number;

    *value_out = -1;
    if (!client_batch(member->client, sql)) {
        problem(member, sql, -1);
        return -1;
    }
    number = read_answer(member, value_out);
    if (number == 0) return 0;
    atomic_fetch_add(&member->crowd->refused, 1);
    if (!is_expected(number)) problem(member, sql, number);
    if (!client_batch(member->client, "IF @@TRANCOUNT > 0 ROLLBACK") ||
        read_answer(member, &ignored) != 0)
        problem(member, "ROLLBACK", number);
    return number;
}

static int32_t say(Member *member, const char *sql)
{
    int64_t ignored;

    return say_and_read(member, sql, &ignored);
}

/* -1: an error came. */
static int64_t ask(Member *member, const char *sql)
{
    int64_t value;

    return say_and_read(member, sql, &value) == 0 ? value : -1;
}

static int32_t say_formatted(Member *member, const char *format, ...) PRINTF(2, 3);
static int32_t say_formatted(Member *member, const char *format, ...)
{
    char    sql[1000];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    return say(member, sql);
}

static bool join_in(Member *member, const char *database)
{
    char sql[120];

    client_close(member->client);
    member->client = client_connect(member->crowd->world.port);
    if (!member->client) {
        problem(member, "no connection", 0);
        return false;
    }
    (void)snprintf(sql, sizeof sql, "USE %s; SET LOCK_TIMEOUT 5000", database);
    return say(member, sql) == 0;
}

/* --- writers --- */

static const char *database_of(const Member *member)
{
    return member->number % 2
               ? "vault"
               : "shop"; /* where READ COMMITTED reads versions, and where it locks */
}

static void transfer(Member *member)
{
    int from = below(member, ACCOUNTS), to = below(member, ACCOUNTS), amount = below(member, 50);

    (void)say_formatted(member,
                        "SET XACT_ABORT ON; BEGIN TRAN; UPDATE purse SET balance -= %d WHERE id = "
                        "%d; UPDATE purse SET "
                        "balance += %d WHERE id = %d; %s",
                        amount, from, amount, to, below(member, 8) ? "COMMIT" : "ROLLBACK");
}

static void change_items(Member *member)
{
    int id = below(member, KEYS);

    switch (below(member, 6)) {
    case 0:
    case 1:
        (void)say_formatted(member, "INSERT items VALUES (%d, %d, N'item %d')", id,
                            below(member, 9), id);
        break;
    case 2: (void)say_formatted(member, "DELETE items WHERE id = %d", id); break;
    case 3:
        (void)say_formatted(
            member, "UPDATE items SET v += 1, s = N'more' WHERE id BETWEEN %d AND %d", id, id + 3);
        break;
    case 4:
        (void)say_formatted(member, "UPDATE items SET id = %d WHERE id = %d", below(member, KEYS),
                            id);
        break;
    default:
        (void)say_formatted(member,
                            "BEGIN TRAN; SAVE TRAN s; UPDATE items SET v = 0 WHERE id = %d; "
                            "ROLLBACK TRAN s; MERGE items "
                            "USING (VALUES (%d, 5)) n(id, v) ON items.id = n.id WHEN MATCHED THEN "
                            "UPDATE SET v = n.v WHEN NOT "
                            "MATCHED THEN INSERT VALUES (n.id, n.v, N'merged'); %s",
                            id, id, below(member, 4) ? "COMMIT" : "ROLLBACK");
    }
}

static void load_noise(Member *member)
{
    TdsColumn columns[2] = {{.name = STR("a"), .type = {.token = TDS_TYPE_INTN, .length = 4}},
                            {.name = STR("b"), .type = {.token = TDS_TYPE_INTN, .length = 4}}};
    Client   *client     = member->client;
    Err       err        = ERR_INIT;
    int       count      = 1 + below(member, 300);
    int64_t   ignored;

    if (say(member, "INSERT BULK noise (a int, b int)") != 0) return;
    tds_writer_begin(client->writer, TDS_PACKET_BULK, 0);
    tds_put_columns(client->writer, client->tds_version, columns, 2);
    for (int i = 0; i < count; i++)
        tds_put_row(client->writer, client->tds_version, columns,
                    (TdsValue[]){{.i64 = i}, {.i64 = member->number}}, 2);
    tds_put_done(client->writer, client->tds_version, TDS_TOKEN_DONE, 0, 0, 0);
    if (!tds_writer_end(client->writer, &err) || !client_read(client))
        problem(member, "bulk load", 0);
    else if (!is_expected(read_answer(member, &ignored)))
        problem(member, "bulk load refused", 0);
    if (below(member, 4) == 0) (void)say(member, "DELETE TOP (500) noise");
}

static void change_schema(Member *member)
{
    int n = member->number;

    (void)say_formatted(member, "CREATE TABLE made%d (id int PRIMARY KEY, a int)", n);
    (void)say_formatted(member, "INSERT made%d VALUES (1, 1), (2, 2)", n);
    (void)say_formatted(member, "EXEC sys.sp_cdc_enable_table N'dbo', N'made%d', NULL", n);
    (void)say_formatted(member, "ALTER TABLE made%d ADD b nvarchar(10) NULL", n);
    (void)say_formatted(member,
                        "BEGIN TRAN; CREATE INDEX i ON made%d (a); UPDATE made%d SET b = N'x'; %s",
                        n, n, below(member, 2) ? "COMMIT" : "ROLLBACK");
    (void)say_formatted(member, "EXEC sys.sp_cdc_disable_table N'dbo', N'made%d', N'dbo_made%d'", n,
                        n);
    (void)say_formatted(member, "DROP TABLE made%d", n);
}

/* --- readers --- */

static void sum_up(Member *member)
{
    static const char *const levels[] = {"SNAPSHOT", "READ COMMITTED", "SERIALIZABLE",
                                         "REPEATABLE READ"};
    int                      level    = below(member, 4);
    char                     sql[300];
    int64_t                  sum;

    /* Where it locks, READ COMMITTED may count one account before a transfer and the other behind it. */
    if (level == 1 && member->number % 2 == 0) level = 0;
    (void)snprintf(
        sql, sizeof sql,
        "SET TRANSACTION ISOLATION LEVEL %s; SELECT SUM(balance) FROM purse; SET TRANSACTION "
        "ISOLATION LEVEL READ COMMITTED",
        levels[level]);
    sum = ask(member, sql);
    if (sum >= 0 && sum != ACCOUNTS * ACCOUNT_START) problem(member, levels[level], sum);
}

static void walk_cursor(Member *member)
{
    static const char *const kinds[] = {"STATIC", "FAST_FORWARD"};

    (void)say_formatted(member,
                        "DECLARE c CURSOR LOCAL %s FOR SELECT id FROM items; DECLARE @id int, @n "
                        "int = 0; OPEN c; FETCH c INTO "
                        "@id; WHILE @@FETCH_STATUS <> -1 AND @n < 1000 BEGIN SET @n += 1; FETCH c "
                        "INTO @id END; CLOSE c; "
                        "DEALLOCATE c",
                        kinds[below(member, 2)]);
}

/* What lies at or below an LSN that was returned stays as it is. */
static void probe_changes(Member *member)
{
    int64_t same = ask(member, "DECLARE @m binary(10) = sys.fn_cdc_get_max_lsn(), @a int, @b int; "
                               "SELECT @a = COUNT(*) FROM cdc.dbo_items_CT "
                               "WHERE __$start_lsn <= @m; WAITFOR DELAY '00:00:00.005'; SELECT @b "
                               "= COUNT(*) FROM cdc.dbo_items_CT WHERE "
                               "__$start_lsn <= @m; SELECT CASE WHEN @a = @b AND "
                               "sys.fn_cdc_get_max_lsn() >= @m THEN 1 ELSE 0 END");

    if (same == 0) problem(member, "a change at or below max_lsn appeared", same);
    (void)ask(member, "DECLARE @f binary(10) = sys.fn_cdc_get_min_lsn('dbo_items'), @t binary(10) "
                      "= sys.fn_cdc_get_max_lsn();"
                      "SELECT COUNT(*) FROM cdc.fn_cdc_get_all_changes_dbo_items(@f, @t, N'all')");
}

static void read_catalogue(Member *member)
{
    static const char *const queries[] = {
        "SELECT COUNT(*) FROM sys.tables t JOIN sys.columns c ON c.object_id = t.object_id",
        "SELECT COUNT(*) FROM sys.dm_exec_sessions",
        "SELECT COUNT(*) FROM sys.indexes i JOIN sys.index_columns c ON c.object_id = i.object_id",
        "SELECT COUNT(*) FROM cdc.change_tables",
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS",
        "EXEC sys.sp_cdc_help_change_data_capture",
        "SELECT COUNT(*) FROM sys.dm_tran_locks"};

    (void)say(member, queries[below(member, (int)COUNT_OF(queries))]);
}

/* --- those who do not wait for the end --- */

static void stop_it(Member *member)
{
    int acknowledged;

    if (!client_send_batch(
            member->client,
            below(member, 2)
                ? "SELECT a.object_id FROM sys.all_columns a CROSS JOIN sys.all_columns b"
                : "BEGIN TRAN; UPDATE items SET v += 1; WAITFOR DELAY '00:00:20'",
            0))
        problem(member, "cannot send", 0);
    (void)client_is_quiet(member->client, below(member, 10));
    if (!client_send_attention(member->client) || !client_read(member->client)) {
        problem(member, "an attention was not answered", 0);
        return;
    }
    acknowledged = client_acknowledgements(member->client);
    if (acknowledged != 1) problem(member, "acknowledgements", acknowledged);
    (void)say(member, "IF @@TRANCOUNT > 0 ROLLBACK");
}

static void vanish(Member *member)
{
    uint8_t some[100];

    (void)say(member, "BEGIN TRAN; UPDATE TOP (1) purse SET balance += 1000");
    (void)client_send_batch(member->client,
                            "SELECT a.name FROM sys.all_columns a CROSS JOIN sys.all_columns b", 0);
    if (below(member, 2)) (void)recv(member->client->fd, some, sizeof some, 0);
    (void)join_in(member, "shop");
}

/* Shows who it is and waits to be killed. */
static void be_killed(Member *member)
{
    atomic_int *seat = &member->crowd->victims[member->number];
    int64_t     id   = ask(
              member, "BEGIN TRAN; UPDATE TOP (1) purse SET balance += 1000; SELECT CAST(@@SPID AS int)");

    if (id > 0) {
        atomic_store(seat, (int)id);
        if (below(member, 2))
            (void)client_send_batch(member->client, "WAITFOR DELAY '00:00:20'", 0);
        while (atomic_load(seat) != 0 && !atomic_load(&member->crowd->is_over))
            clock_sleep_ms(member->crowd->world.clock, 2, NULL);
        if (atomic_exchange(seat, 0) == 0)
            while (!client_is_closed(member->client))
                continue;
    }
    (void)join_in(member, "shop");
}

static void kill_somebody(Member *member)
{
    atomic_int *seat = &member->crowd->victims[below(member, VICTIMS)];
    int         id   = atomic_load(seat);

    if (id == 0) {
        clock_sleep_ms(member->crowd->world.clock, 5, NULL);
        return;
    }
    (void)say_formatted(member, "KILL %d", id);
    atomic_store(seat, 0);
}

static void clean_up(Member *member)
{
    (void)say(member, "DECLARE @m binary(10) = sys.fn_cdc_get_max_lsn(); EXEC "
                      "sys.sp_cdc_cleanup_change_table N'dbo_noise', @m, "
                      "4999");
    clock_sleep_ms(member->crowd->world.clock, 20, NULL);
}

/* --- the crowd --- */

static const struct {
    void (*turn)(Member *member);
    int  count;
    bool by_database; /* every other one in vault */
} kinds[] = {{transfer, 8, true},       {change_items, 7, false},    {load_noise, 3, false},
             {change_schema, 2, false}, {sum_up, 7, true},           {walk_cursor, 4, false},
             {probe_changes, 4, false}, {read_catalogue, 3, false},  {stop_it, 3, false},
             {vanish, 3, false},        {be_killed, VICTIMS, false}, {kill_somebody, 1, false},
             {clean_up, 1, false}};

#define MEMBERS 50

static void *live(void *arg)
{
    Member *member = arg;
    Crowd  *crowd  = member->crowd;

    if (join_in(member, kinds[member->kind].by_database ? database_of(member) : "shop"))
        while (!atomic_load(&crowd->is_over) && member->client &&
               atomic_load(&crowd->problems) < PROBLEMS_MOST) {
            kinds[member->kind].turn(member);
            atomic_fetch_add(&crowd->done[member->kind], 1);
        }
    client_close(member->client);
    return NULL;
}

static void open_crowd(Crowd *crowd)
{
    World     *world   = &crowd->world;
    SimOptions options = {
        .seed = 7, .capture_interval_ms = 20, .login = STR("sa"), .password = STR("Tide.Sim.1")};
    SimError error = SIM_ERROR_INIT;

    options.clock = world->clock = clock_new_real();
    options.sched = world->sched = sched_new_real();
    options.rng = world->rng = rng_new(7);
    if (!sim_server_open(&options, &world->server, &error) ||
        !sim_create_database(world->server, STR("shop"), &error) ||
        !sim_create_database(world->server, STR("vault"), &error))
        fail_msg("%s", error.message);
    open_listener(world);
}

/* All that was committed has been captured, this row too, and every instance has changes to ask for. */
static void catch_up(Member *member, int id)
{
    int64_t until = now_ms(&member->crowd->world) + 60000;
    char    sql[120];

    assert_int_equal(say_formatted(member, "INSERT items VALUES (%d, 0, N'here')", id), 0);
    (void)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM cdc.dbo_items_CT WHERE id = %d", id);
    while (
        ask(member, sql) != 1 ||
        ask(member,
            "SELECT COUNT(*) FROM cdc.change_tables WHERE start_lsn > sys.fn_cdc_get_max_lsn()") !=
            0) {
        if (now_ms(&member->crowd->world) > until) fail_msg("the capture job does not get there");
        clock_sleep_ms(member->crowd->world.clock, 20, NULL);
    }
}

static void prepare(Member *member)
{
    static const char *const statements[] = {
        "ALTER DATABASE vault SET ALLOW_SNAPSHOT_ISOLATION ON",
        "ALTER DATABASE vault SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE",
        "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON",
        "USE vault; CREATE TABLE purse (id int PRIMARY KEY, balance int NOT NULL)",
        "USE shop; CREATE TABLE purse (id int PRIMARY KEY, balance int NOT NULL)",
        "CREATE TABLE items (id int PRIMARY KEY, v int, s nvarchar(50))",
        "CREATE INDEX v ON items (v)",
        "CREATE TABLE noise (a int, b int)",
        "EXEC sys.sp_cdc_enable_db",
        "EXEC sys.sp_cdc_enable_table N'dbo', N'items', NULL",
        "EXEC sys.sp_cdc_enable_table N'dbo', N'noise', NULL"};

    for (size_t i = 0; i < COUNT_OF(statements); i++)
        if (say(member, statements[i]) != 0) fail_msg("%s", statements[i]);
    for (int i = 0; i < ACCOUNTS; i++)
        assert_int_equal(
            say_formatted(
                member,
                "INSERT shop.dbo.purse VALUES (%d, %d); INSERT vault.dbo.purse VALUES (%d, %d)", i,
                ACCOUNT_START, i, ACCOUNT_START),
            0);
}

static void let_them_live(Crowd *crowd, Member *members)
{
    const char *seconds = getenv("TIDESIM_STRESS_SECONDS");
    int64_t     limit_s = 3;
    int         count   = 0;

    if (seconds) assert_true(str_parse_i64(str_from_c(seconds), &limit_s));
    for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
        for (int number = 0; number < kinds[kind].count; number++) {
            Member *member = &members[count++];
            *member        = (Member){.crowd  = crowd,
                                      .rng    = rng_new((uint64_t)count),
                                      .number = number,
                                      .kind   = (int)kind};
            assert_int_equal(pthread_create(&member->thread, NULL, live, member), 0);
        }
    assert_int_equal(count, MEMBERS);
    clock_sleep_ms(crowd->world.clock, limit_s * 1000, NULL);
    atomic_store(&crowd->is_over, true);
    for (int i = 0; i < count; i++) {
        (void)pthread_join(members[i].thread, NULL);
        rng_close(members[i].rng);
    }
}

/* The last change of every key, and nothing else, is what the table has. */
static void assert_changes_give_the_table(Member *member)
{
    static const char last[] = "SELECT id, v, s FROM (SELECT id, v, s, __$operation AS op, "
                               "ROW_NUMBER() OVER (PARTITION BY id ORDER BY __$start_lsn "
                               "DESC, __$command_id DESC, __$seqval DESC, __$operation DESC) AS n "
                               "FROM cdc.dbo_items_CT WHERE __$operation <> 3) x "
                               "WHERE n = 1 AND op <> 1";
    char              sql[1000];

    (void)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM (%s EXCEPT SELECT id, v, s FROM items) d",
                   last);
    assert_int_equal(ask(member, sql), 0);
    (void)snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM (SELECT id, v, s FROM items EXCEPT %s) d",
                   last);
    assert_int_equal(ask(member, sql), 0);
}

static void report(Crowd *crowd)
{
    (void)fprintf(stderr, "# turns:");
    for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
        (void)fprintf(stderr, " %d", atomic_load(&crowd->done[kind]));
    (void)fprintf(stderr, "; %d refused as they should be\n", atomic_load(&crowd->refused));
}

static void fifty_who_are_in_each_others_way(void **state)
{
    Crowd *crowd = mem_alloc(sizeof *crowd);
    Member members[MEMBERS], first = {.crowd = crowd, .kind = -1};

    (void)state;
    open_crowd(crowd);
    first.client = connected(&crowd->world);
    prepare(&first);
    catch_up(&first, -2);
    let_them_live(crowd, members);
    report(crowd);
    assert_int_equal(atomic_load(&crowd->problems), 0);
    for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
        if (atomic_load(&crowd->done[kind]) == 0) fail_msg("kind %zu had no turn", kind);
    assert_true(others_go_away(&crowd->world, first.client));
    assert_int_equal(ask(&first, "SELECT SUM(balance) FROM shop.dbo.purse"),
                     ACCOUNTS * ACCOUNT_START);
    assert_int_equal(ask(&first, "SELECT SUM(balance) FROM vault.dbo.purse"),
                     ACCOUNTS * ACCOUNT_START);
    catch_up(&first, -1);
    assert_changes_give_the_table(&first);
    client_close(first.client);
    sim_listener_close(crowd->world.listener);
    sim_server_close(crowd->world.server);
    rng_close(crowd->world.rng);
    sched_close(crowd->world.sched);
    clock_close(crowd->world.clock);
    mem_free(crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fifty_who_are_in_each_others_way)};

    return cmocka_run_group_tests_name("stress", tests, NULL, NULL);
}
