#include "support/test_support.h"

#include "engine/apply_internal.h"

static OptLsn at(unsigned n)
{
    Lsn lsn = LSN_ZERO;

    lsn.bytes[9] = (uint8_t)n;
    return n ? OPT_LSN(lsn) : (OptLsn){.is_set = false};
}

static unsigned number(OptLsn lsn)
{
    return lsn.is_set ? lsn.lsn.bytes[9] : 0;
}

static void what_to_apply_follows_from_position_and_snapshots(void **state) /* 7.2, T7.3 */
{
    /* 0 stands for none */
    static const struct {
        unsigned    completed, whole, applied, rebuilt_from, open_from;
        bool        rebuild, with_rows;
        unsigned    snapshot, after;
        const char *why;
    } cases[] = {
        {0, 0, 0, 0, 0, true, false, 0, 0, "first call, changes alone"},
        {0, 10, 0, 0, 0, true, true, 10, 10, "first call, a whole snapshot"},
        {10, 0, 0, 0, 0, true, true, 10, 10, "first call, an event alone: an empty table's"},
        {10, 10, 20, 10, 0, false, false, 10, 20, "later calls"},
        {0, 0, 20, 0, 0, false, false, 0, 20, "later calls, no snapshot ever"},
        {0, 2, 2, 0, 0, true, true, 2, 2, "bootstrap stamped with the LSN applied already"},
        {0, 2, 2, 2, 0, false, false, 2, 2, "and not again"},
        {0, 30, 60, 50, 0, false, false, 50, 60, "an older whole snapshot"},
        {60, 30, 55, 50, 0, true, true, 60, 60, "a re-snapshot's event"},
        {50, 70, 55, 50, 0, true, true, 70, 70, "a whole snapshot without event"},
        {0, 0, 0, 0, 100, false, false, 0, 0, "open_from alone: every change, no rebuild"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ControlRow row  = {.applied_lsn       = at(cases[i].applied),
                           .snapshot_lsn      = at(cases[i].rebuilt_from),
                           .open_snapshot_lsn = at(cases[i].open_from)};
        ApplyPlan  plan = plan_apply(at(cases[i].completed), at(cases[i].whole), &row);

        if (plan.rebuild != cases[i].rebuild || plan.with_snapshot_rows != cases[i].with_rows ||
            number(plan.snapshot) != cases[i].snapshot || number(plan.after) != cases[i].after)
            fail_msg("%s: rebuild %d, with rows %d, snapshot %u, after %u", cases[i].why,
                     plan.rebuild, plan.with_snapshot_rows, number(plan.snapshot),
                     number(plan.after));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_to_apply_follows_from_position_and_snapshots),
    };
    return RUN_TESTS(tests);
}
