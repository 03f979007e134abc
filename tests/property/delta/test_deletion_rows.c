/* Sets of deleted rows against plain sorted lists: what goes in comes out, through the bytes of a
 * deletion vector too, and a union has the rows of both. */
#include "support/test_support.h"

#include "base/list.h"
#include "base/rng.h"
#include "delta/deletion_vector.h"

typedef struct Rows {
    Arena *arena;
    LIST(uint64_t) list;
} Rows;

/* Rows in growing order, dense here and sparse there, around the places where forms change: ends of
 * words, of chunks, 2^31, 2^32 and beyond. */
static Rows any_rows(Rng *rng, Arena *arena)
{
    static const uint64_t places[] = {0,
                                      60,
                                      65530,
                                      65536 * 3,
                                      (UINT64_C(1) << 31) - 100,
                                      (UINT64_C(1) << 32) - 100,
                                      (UINT64_C(1) << 32) + 65536 * 7,
                                      UINT64_C(1) << 40,
                                      (UINT64_C(1) << 62) + 12345};
    Rows                  rows     = {.arena = arena};
    uint64_t              next     = 0;

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        if (rng_below(rng, 3) == 0) continue;
        uint64_t at    = places[i] > next ? places[i] : next;
        uint64_t step  = UINT64_C(1) << rng_below(rng, 9);
        uint64_t count = rng_below(rng, 3) == 0 ? rng_below(rng, 70000) : rng_below(rng, 300);
        for (; count > 0; count--) {
            *LIST_PUSH(arena, &rows.list) = at;
            at += 1 + (step > 1 ? rng_below(rng, step) : 0);
        }
        next = at;
    }
    return rows;
}

/* Neighbours go in together or one by one. */
static RowSet set_of(Rng *rng, const Rows *rows, Arena *arena)
{
    RowSet set = row_set_begin(arena);

    for (size_t i = 0, end; i < rows->list.count; i = end) {
        for (end = i + 1; end < rows->list.count &&
                          rows->list.items[end] == rows->list.items[end - 1] + 1 &&
                          rng_below(rng, 5) > 0;)
            end++;
        row_set_add(&set, rows->list.items[i], rows->list.items[end - 1]);
    }
    row_set_end(&set);
    return set;
}

static void assert_set_is(const RowSet *set, const Rows *rows)
{
    RowSetPlace place = {0};
    uint64_t    first, last;
    size_t      at = 0;

    assert_int_equal(set->row_count, rows->list.count);
    while (row_set_next(set, &place, &first, &last))
        for (; first <= last; first++) {
            assert_true(at < rows->list.count);
            assert_int_equal(first, rows->list.items[at]);
            at++;
        }
    assert_int_equal(at, rows->list.count);
}

static bool has_row(const Rows *rows, uint64_t row)
{
    size_t low = 0, high = rows->list.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows->list.items[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->list.count && rows->list.items[low] == row;
}

static void rows_survive_their_bytes(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 40) {
        Arena       *arena = arena_new();
        Rng         *rng   = rng_new(seed);
        Rows         rows  = any_rows(rng, arena);
        RowSet       set   = set_of(rng, &rows, arena), again;
        VectorDamage damage;
        assert_set_is(&set, &rows);
        Bytes bytes = deletion_rows_write(&set, arena);
        assert_true(deletion_rows_read(bytes, INT64_MAX, arena, &again, &damage));
        assert_set_is(&again, &rows);
        if (set.next > 0)
            assert_false(deletion_rows_read(bytes, set.next - 1, arena, &again, &damage));
        rng_close(rng);
        arena_close(arena);
    }
}

static void a_union_has_the_rows_of_both(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 40) {
        Arena *arena = arena_new();
        Rng   *rng   = rng_new(seed);
        Rows   left = any_rows(rng, arena), right = any_rows(rng, arena), both = {.arena = arena};
        size_t i = 0, j = 0;
        while (i < left.list.count || j < right.list.count) {
            bool from_left = j == right.list.count ||
                             (i < left.list.count && left.list.items[i] <= right.list.items[j]);
            uint64_t row = from_left ? left.list.items[i++] : right.list.items[j++];
            if (both.list.count == 0 || both.list.items[both.list.count - 1] != row)
                *LIST_PUSH(arena, &both.list) = row;
        }
        RowSet left_set = set_of(rng, &left, arena), right_set = set_of(rng, &right, arena);
        RowSet sum = row_set_union(&left_set, &right_set, arena);
        assert_set_is(&sum, &both);
        sum = row_set_union(&sum, &left_set, arena);
        assert_set_is(&sum, &both);
        rng_close(rng);
        arena_close(arena);
    }
}

/* The window that a scan asks about, wherever it lies. */
static void the_flags_of_a_window_are_those_of_its_rows(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 40) {
        Arena *arena = arena_new();
        Rng   *rng   = rng_new(seed);
        Rows   rows  = any_rows(rng, arena);
        RowSet set   = set_of(rng, &rows, arena);
        bool   flags[3000];
        for (int window = 0; window < 30 && rows.list.count > 0; window++) {
            uint64_t first = rows.list.items[rng_below(rng, rows.list.count)];
            uint64_t back  = rng_below(rng, 2000);
            size_t   count = (size_t)rng_below(rng, COUNT_OF(flags) + 1);
            first          = first > back ? first - back : 0;
            memset(flags, true, sizeof flags);
            row_set_clear_flags(&set, first, count, flags);
            for (size_t i = 0; i < COUNT_OF(flags); i++)
                assert_int_equal(flags[i], i >= count || !has_row(&rows, first + i));
            assert_int_equal(row_set_has(&set, first), has_row(&rows, first));
        }
        rng_close(rng);
        arena_close(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_survive_their_bytes),
        cmocka_unit_test(a_union_has_the_rows_of_both),
        cmocka_unit_test(the_flags_of_a_window_are_those_of_its_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
