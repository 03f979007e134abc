/* The oracle of the ordering rule keeps the rule's laws (algorithms.md 1.2). */
#include "support/test_support.h"

#include "support/change_order.h"

#define ROW_COUNT_MAX 30

typedef struct Row {
    ChangeOrder order;
    uint64_t    image; /* rows of one ordering key are one row, read twice */
} Row;

static Lsn lsn_of(uint64_t number)
{
    Lsn lsn = LSN_ZERO;

    lsn.bytes[LSN_BYTES - 1] = (uint8_t)number;
    return lsn;
}

/* Few LSNs, command ids and seqvals, so that most rows differ in one part alone. */
static Row any_row(Rng *rng, bool with_command_id)
{
    Row row = {
        .order = {.start_lsn = lsn_of(rng_below(rng, 3)), .operation = (int32_t)rng_below(rng, 5)}};

    if (row.order.operation > 0) {
        row.order.has_command_id = with_command_id && rng_below(rng, 4) > 0;
        row.order.command_id     = row.order.has_command_id ? (int32_t)rng_below(rng, 3) : 0;
        row.order.has_seqval     = rng_below(rng, 8) > 0;
        row.order.seqval         = lsn_of(row.order.has_seqval ? rng_below(rng, 3) : 0);
    }
    row.image = str_hash((Str){(const char *)&row.order.start_lsn, LSN_BYTES}) ^
                str_hash((Str){(const char *)&row.order.seqval, LSN_BYTES}) * 3 ^
                (uint64_t)(row.order.command_id * 10 + row.order.operation) ^
                (uint64_t)row.order.has_command_id << 40 ^ (uint64_t)row.order.has_seqval << 41;
    return row;
}

static const Row *find_latest(const Row *rows, size_t count, bool with_command_id)
{
    const Row *latest = &rows[0];

    for (size_t i = 1; i < count; i++)
        if (change_order_compare(&rows[i].order, &latest->order, with_command_id) > 0)
            latest = &rows[i];
    return latest;
}

static void shuffle(Rng *rng, Row *rows, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j    = (size_t)rng_below(rng, i);
        Row    swap = rows[i - 1];
        rows[i - 1] = rows[j];
        rows[j]     = swap;
    }
}

static void the_latest_image_does_not_depend_on_the_order_of_rows(void **state) /* T1.1 */
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Rng   *rng             = rng_new(seed);
        bool   with_command_id = seed % 2;
        size_t count           = (size_t)rng_between(rng, 1, ROW_COUNT_MAX);
        Row    rows[ROW_COUNT_MAX];

        for (size_t i = 0; i < count; i++)
            rows[i] = any_row(rng, with_command_id);
        uint64_t image = find_latest(rows, count, with_command_id)->image;
        for (int i = 0; i < 10; i++) {
            shuffle(rng, rows, count);
            assert_true(find_latest(rows, count, with_command_id)->image == image);
        }
        rng_close(rng);
    }
}

static void rows_have_one_order(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Rng *rng             = rng_new(seed);
        bool with_command_id = seed % 2;
        Row  a               = any_row(rng, with_command_id);
        Row  b               = any_row(rng, with_command_id);
        Row  c               = any_row(rng, with_command_id);
        int  ab              = change_order_compare(&a.order, &b.order, with_command_id);
        int  bc              = change_order_compare(&b.order, &c.order, with_command_id);
        int  ac              = change_order_compare(&a.order, &c.order, with_command_id);

        assert_int_equal(change_order_compare(&b.order, &a.order, with_command_id), -ab);
        if (ab <= 0 && bc <= 0) assert_true(ac <= 0);
        if (ab == 0) assert_true(a.image == b.image);
        rng_close(rng);
    }
}

static void a_change_outranks_the_snapshot_row_of_its_lsn(void **state) /* T1.2 */
{
    const ChangeOrder snapshot = {.start_lsn = lsn_of(100)};
    const ChangeOrder before   = {lsn_of(100), true, 1, true, lsn_of(7), 3};
    const ChangeOrder after    = {lsn_of(100), true, 1, true, lsn_of(7), 4};

    (void)state;
    for (int with_command_id = 0; with_command_id <= 1; with_command_id++) {
        assert_int_equal(change_order_compare(&after, &snapshot, with_command_id), 1);
        assert_int_equal(change_order_compare(&after, &before, with_command_id), 1); /* 4 over 3 */
    }
    assert_true(change_order_is_absent(&before));
    assert_false(change_order_is_absent(&after));
    assert_false(change_order_is_absent(&snapshot));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(the_latest_image_does_not_depend_on_the_order_of_rows),
        property_test(rows_have_one_order),
        cmocka_unit_test(a_change_outranks_the_snapshot_row_of_its_lsn),
    };
    return RUN_TESTS(tests);
}
