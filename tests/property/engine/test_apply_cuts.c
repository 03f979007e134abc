/* Silver is the same wherever batches are cut and however often apply runs between them: an oracle
 * in plain C says what it must be (support/change_order.h). */
#include "support/test_support.h"

#include "base/buf.h"
#include "base/list.h"
#include "support/apply_lake.h"

/* A lake holds many small tables side by side, each a block of keys with a history of its own. Each is a case. */
#define BLOCKS     20
#define LAKES      30 /* 600 cases */
#define BLOCK_KEYS 6
#define KEYS       (BLOCKS * BLOCK_KEYS)
#define ROWS_MAX   (BLOCKS * 40)

/* A log that a server could have written: commits in order, every change consistent with the rows. */
typedef struct ChangeLog {
    BronzeRow rows[ROWS_MAX * 2];
    size_t    count;
    int       snapshot_key_count; /* rows 0 .. of operation 0 at LSN 1 */
} ChangeLog;

static const char *const values[] = {"a", "b", "c", NULL};

static void add_row(ChangeLog *log, unsigned lsn, int cmd, unsigned seq, int op, int key,
                    const char *v)
{
    log->rows[log->count++] = (BronzeRow){lsn, cmd, seq, op, key, v};
}

/* One statement on a key that is there or not, or a key update. */
static void add_statement(ChangeLog *log, Rng *rng, bool *is_there, const char **held, unsigned lsn,
                          int cmd)
{
    int first = (int)rng_below(rng, BLOCKS) * BLOCK_KEYS;
    int key = first + (int)rng_below(rng, BLOCK_KEYS), to = first + (int)rng_below(rng, BLOCK_KEYS);
    const char *v   = values[rng_below(rng, COUNT_OF(values))];
    unsigned    seq = (unsigned)rng_below(rng, 3) + (unsigned)cmd * 3;

    if (!is_there[key]) {
        add_row(log, lsn, cmd, seq, 2, key, v);
        is_there[key] = true;
        held[key]     = v;
    } else if (rng_below(rng, 3) == 0) {
        add_row(log, lsn, cmd, seq, 1, key, held[key]);
        is_there[key] = false;
    } else if (rng_below(rng, 3) == 0 && !is_there[to]) {
        add_row(log, lsn, cmd, seq, 3, key, held[key]);
        add_row(log, lsn, cmd, seq, 4, to, v);
        is_there[key] = false;
        is_there[to]  = true;
        held[to]      = v;
    } else {
        add_row(log, lsn, cmd, seq, 3, key, held[key]);
        add_row(log, lsn, cmd, seq, 4, key, v);
        held[key] = v;
    }
}

static void generate(ChangeLog *log, Rng *rng)
{
    bool        is_there[KEYS] = {false};
    const char *held[KEYS]     = {NULL};
    unsigned    lsn            = 1;

    log->count = 0;
    for (int key = 0; key < KEYS; key++) {
        if (rng_below(rng, 4) == 0) key += BLOCK_KEYS - key % BLOCK_KEYS; /* that block's last */
        if (key >= KEYS) break;
        add_row(log, 1, 0, 0, 0, key, "s");
        is_there[key] = true;
        held[key]     = "s";
    }
    log->snapshot_key_count = (int)log->count;
    while (log->count < ROWS_MAX) {
        int statements = 1 + (int)rng_below(rng, 4);
        lsn += 1 + (unsigned)rng_below(rng, 2);
        for (int cmd = 1; cmd <= statements; cmd++)
            add_statement(log, rng, is_there, held, lsn, cmd);
    }
}

static ChangeOrder order_of(const BronzeRow *row)
{
    return (ChangeOrder){.start_lsn      = lsn_number(row->lsn),
                         .has_command_id = row->op != 0,
                         .command_id     = row->cmd,
                         .has_seqval     = row->op != 0,
                         .seqval         = lsn_number(row->seq),
                         .operation      = row->op};
}

/* What silver must hold, as silver_text prints it. */
static Str oracle(const ChangeLog *log, bool with_command_id, Arena *arena)
{
    Buf out = buf_new(arena, 0);

    for (int key = 0; key < KEYS; key++) {
        const BronzeRow *latest = NULL;
        for (size_t i = 0; i < log->count; i++) {
            const BronzeRow *row = &log->rows[i];
            if (row->key != key) continue;
            ChangeOrder mine = order_of(row);
            ChangeOrder best = latest ? order_of(latest) : mine;
            if (!latest || change_order_compare(&mine, &best, with_command_id) > 0) latest = row;
        }
        if (!latest) continue;
        ChangeOrder order = order_of(latest);
        if (change_order_is_absent(&order)) continue;
        buf_printf(&out, "%s%d=%s", out.len ? " " : "", key, latest->v ? latest->v : "-");
    }
    return buf_str(&out);
}

/* Rows of a batch in any order: nothing may rest on how they are stored. */
static void shuffle(BronzeRow *rows, size_t count, Rng *rng)
{
    for (size_t i = count; i > 1; i--) {
        size_t    with = (size_t)rng_below(rng, i);
        BronzeRow row  = rows[i - 1];
        rows[i - 1]    = rows[with];
        rows[with]     = row;
    }
}

/* Cuts lie between commits, as batches do. */
static size_t next_cut(const ChangeLog *log, size_t from, Rng *rng)
{
    size_t to = from + 1 + (size_t)rng_below(rng, 20 * BLOCKS);

    to = MIN(to, log->count);
    while (to < log->count && log->rows[to].lsn == log->rows[to - 1].lsn)
        to++;
    return to;
}

static void silver_does_not_depend_on_where_batches_are_cut(void **state) /* T1.1, 7.4 */
{
    FOR_EACH_SEED (seed, LAKES) {
        Rng       *rng  = rng_new(seed);
        ApplyLake  lake = apply_lake_open(*state);
        ChangeLog *log  = ARENA_NEW(lake.lake->arena, ChangeLog);

        lake.without_vectors    = seed % 3 == 0;
        lake.without_command_id = seed % 4 == 0;
        generate(log, rng);
        Str want = oracle(log, !lake.without_command_id, lake.lake->arena);
        for (size_t from = 0; from < log->count;) {
            size_t to = next_cut(log, from, rng);
            shuffle(&log->rows[from], to - from, rng);
            put_rows(&lake, &log->rows[from], to - from);
            from = to;
            if (rng_below(rng, 2) == 0) (void)apply_now(&lake);
        }
        (void)apply_now(&lake);
        assert_str_is(str_trim(silver_text(&lake)), str_c(lake.lake->arena, want));
        apply_lake_close(&lake);
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(silver_does_not_depend_on_where_batches_are_cut),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
