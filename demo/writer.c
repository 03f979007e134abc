/* writer.c - keeps changing the shop: orders come, move on, are corrected and cancelled, in
 * transactions of a few statements.
 *
 * writer --connection STRING [--seconds N] [--rate TRANSACTIONS_A_SECOND] [--transactions N]
 * [--seed N] [--first-order ID] [--first-visit ID]
 *
 * With --first-visit there are visits too (visits.sql); ID is the first that is free.
 *
 * Stops after N seconds or transactions, or on SIGTERM between two transactions; prints how many
 * it committed. */
#include "program.h"

#include <stdio.h>

typedef struct Shop {
    Program *program;
    Rng     *rng;
    Buf      sql;
    int64_t  next_order;
    int64_t  next_visit; /* 0: no table of visits */
} Shop;

static const char *const statuses[] = {"new", "paid", "packed", "shipped", "done", "returned"};

static long long below(Shop *shop, uint64_t bound)
{
    return (long long)rng_below(shop->rng, bound);
}

/* An order that exists more often than not: deleted ones change nothing. */
static long long some_order(Shop *shop)
{
    return 1 + below(shop, (uint64_t)shop->next_order - 1);
}

static void new_order(Shop *shop)
{
    long long order = (long long)shop->next_order++;
    long long lines = 1 + below(shop, 5);

    buf_printf(&shop->sql,
               "INSERT INTO dbo.orders (order_id, customer_id, status, placed_at, total, note) "
               "VALUES (%lld, %lld, 'new', SYSUTCDATETIME(), %lld.%02lld, %s);",
               order, 1 + below(shop, 20000), below(shop, 5000), below(shop, 100),
               below(shop, 3) ? "NULL" : "N'Grüße 🌊'");
    for (long long line = 1; line <= lines; line++)
        buf_printf(&shop->sql,
                   "INSERT INTO dbo.order_items (order_id, line_no, sku, quantity, price, weight) "
                   "VALUES (%lld, %lld, 'SKU-%lld', %lld, %lld.%02lld, %s);",
                   order, line, below(shop, 4096), 1 + below(shop, 9), below(shop, 900),
                   below(shop, 100), below(shop, 4) ? "0.25e0" : "NULL");
}

static void move_order(Shop *shop)
{
    buf_printf(
        &shop->sql,
        "UPDATE dbo.orders SET status = '%s', total = total + %lld.%02lld WHERE order_id = %lld;",
        statuses[below(shop, COUNT_OF(statuses))], below(shop, 10), below(shop, 100),
        some_order(shop));
}

static void correct_items(Shop *shop)
{
    long long order = some_order(shop);

    buf_printf(
        &shop->sql,
        "UPDATE dbo.order_items SET quantity = %lld, price = price + 0.05 WHERE order_id = %lld;",
        1 + below(shop, 20), order);
}

/* A change of the key: one row as a pair of delete and insert, several rows split by the server. */
static void renumber_items(Shop *shop)
{
    long long order = some_order(shop);

    if (below(shop, 2))
        buf_printf(&shop->sql,
                   "UPDATE dbo.order_items SET line_no = line_no + 100 WHERE order_id = %lld AND "
                   "line_no = 1;",
                   order);
    else
        buf_printf(&shop->sql,
                   "UPDATE dbo.order_items SET line_no = line_no + 1 WHERE order_id = %lld;",
                   order);
}

static void cancel_order(Shop *shop)
{
    long long order = some_order(shop);

    buf_printf(&shop->sql,
               "DELETE FROM dbo.order_items WHERE order_id = %lld; DELETE FROM dbo.orders WHERE "
               "order_id = %lld;",
               order, order);
}

static void change_customer(Shop *shop)
{
    buf_printf(&shop->sql,
               "UPDATE dbo.customers SET credit = credit + %lld.%02lld, email = %s, is_active = "
               "%lld WHERE customer_id = %lld;",
               below(shop, 100), below(shop, 100), below(shop, 3) ? "'new@example.org'" : "NULL",
               below(shop, 2), 1 + below(shop, 20000));
}

/* A visit begins, lasts longer, is moved to another number, or is forgotten. */
static void change_visits(Shop *shop)
{
    long long visit = 1 + below(shop, (uint64_t)shop->next_visit - 1);

    switch (below(shop, 5)) {
    case 0:
    case 1:
        buf_printf(
            &shop->sql,
            "INSERT INTO dbo.visits (visit_id, customer_id, page, referrer, began_at, "
            "seconds, basket) VALUES (%lld, %lld, '/shop/%lld', %s, SYSUTCDATETIME(), 0, 0);",
            (long long)shop->next_visit++, 1 + below(shop, 20000), below(shop, 4096),
            below(shop, 3) ? "NULL" : "N'https://example.org/größe'");
        break;
    case 2:
        buf_printf(&shop->sql,
                   "UPDATE dbo.visits SET seconds = seconds + %lld, basket = basket + 0.25 WHERE "
                   "visit_id = %lld;",
                   1 + below(shop, 60), visit);
        break;
    case 3:
        buf_printf(&shop->sql, "UPDATE dbo.visits SET visit_id = %lld WHERE visit_id = %lld;",
                   (long long)shop->next_visit++, visit);
        break;
    default: buf_printf(&shop->sql, "DELETE FROM dbo.visits WHERE visit_id = %lld;", visit);
    }
}

static void add_statements(Shop *shop)
{
    static void (*const kinds[])(Shop *) = {new_order,      new_order,    move_order,
                                            move_order,     move_order,   correct_items,
                                            renumber_items, cancel_order, change_customer};
    long long count                      = 1 + below(shop, 3);

    for (long long i = 0; i < count; i++)
        kinds[below(shop, COUNT_OF(kinds))](shop);
    if (shop->next_visit > 0) change_visits(shop);
}

/* Now and then a transaction is rolled back: nothing of it may arrive. */
static bool run_transaction(Shop *shop, Err *err)
{
    buf_clear(&shop->sql);
    buf_append_c(&shop->sql, "SET NOCOUNT ON; BEGIN TRANSACTION;");
    add_statements(shop);
    buf_append_c(&shop->sql, below(shop, 50) ? "COMMIT;" : "ROLLBACK;");
    return sqlconn_execute(shop->program->conn, buf_str(&shop->sql), err);
}

/* A key that is taken, or a deadlock with another writer: the next transaction tries something
 * else. */
static bool may_go_on(SqlConn *conn, const Err *err)
{
    Err ignored = ERR_INIT;

    if (err->native != 2627 && err->native != 1205) return false;
    return sqlconn_execute(conn, STR("IF @@TRANCOUNT > 0 ROLLBACK;"), &ignored);
}

static bool write_shop(Shop *shop, int64_t seconds, int64_t rate, int64_t transactions,
                       int64_t *done, Err *err)
{
    Clock  *clock    = shop->program->clock;
    int64_t began_ns = clock_monotonic_ns(clock), end_ns = began_ns + seconds * INT64_C(1000000000);

    for (*done = 0; *done < transactions && clock_monotonic_ns(clock) < end_ns; (*done)++) {
        if (cancel_is_requested(shop->program->cancel)) return true;
        if (!run_transaction(shop, err) && !may_go_on(shop->program->conn, err))
            return err->code == ERR_CANCELLED;
        if (rate > 0)
            clock->sleep_until(clock, began_ns + (*done + 1) * INT64_C(1000000000) / rate,
                               shop->program->cancel);
    }
    return true;
}

int main(int argc, char **argv)
{
    Program program;
    Err     err          = ERR_INIT;
    int64_t done         = 0;
    int64_t seconds      = program_number(argc, argv, "--seconds", "1000000"),
            rate         = program_number(argc, argv, "--rate", "200");
    int64_t transactions = program_number(argc, argv, "--transactions", "1000000000");
    bool    ok = program_open(&program, "writer", program_option(argc, argv, "--connection", NULL),
                              &err);
    Shop    shop = {.program    = &program,
                    .next_order = program_number(argc, argv, "--first-order", "80001"),
                    .next_visit = program_number(argc, argv, "--first-visit", "0")};

    shop.rng = rng_new((uint64_t)program_number(argc, argv, "--seed", "1"));
    shop.sql = buf_new(program.arena, 0);
    ok       = ok && write_shop(&shop, seconds, rate, transactions, &done, &err);
    if (ok)
        printf("%lld transactions\n", (long long)done);
    else
        (void)program_fail(&program, &err);
    rng_close(shop.rng);
    program_close(&program);
    return ok ? 0 : 1;
}
