#include "support/test_support.h"

#include "base/buf.h"
#include "base/list.h"
#include "support/key_rows.h"

typedef struct Case {
    Arena  *arena;
    KeyRows model;
    KeyWalk walk;
} Case;

/* "a b NULL": one column. MAX is the last of them. */
static Case case_open(const char *keys, int64_t chunk_rows, bool may_repeat)
{
    Case   test = {.arena = arena_new()};
    Str    left = str_from_c(keys);
    size_t at   = 0;

    test.model.rows         = ARENA_ARRAY(test.arena, KeyRow, left.len + 1);
    test.model.column_count = 1;
    while (at < left.len) {
        ptrdiff_t space                              = str_find_char(left, ' ', at);
        size_t    end                                = space < 0 ? left.len : (size_t)space;
        Str       word                               = str_slice(left, at, end);
        test.model.rows[test.model.count++].parts[0] = (KeyPart){
            .text = word, .is_null = str_equal_c(word, "NULL")};
        at = end + 1;
    }
    qsort(test.model.rows, test.model.count, sizeof *test.model.rows, compare_key_row);
    test.walk = (KeyWalk){.column_count = 1, .chunk_rows = chunk_rows, .may_repeat = may_repeat};
    if (test.model.count > 0) {
        KeyPart *max  = ARENA_NEW(test.arena, KeyPart);
        *max          = test.model.rows[test.model.count - 1].parts[0];
        test.walk.max = max;
    }
    return test;
}

static void add_row(Case *test, const char *key)
{
    test->model.rows[test->model.count++].parts[0] = (KeyPart){.text = str_from_c(key)};
    qsort(test->model.rows, test->model.count, sizeof *test->model.rows, compare_key_row);
}

static void append_chunk(Case *test, Buf *buf, const KeyPart *lo, const KeyPart *hi)
{
    (void)test;
    buf_printf(buf, "%s[%.*s,%.*s)", buf_str(buf).len ? " " : "", STR_ARG(lo ? lo->text : STR("-")),
               STR_ARG(hi ? hi->text : STR("-")));
}

static void assert_walk(Case *test, const char *want)
{
    Buf            got    = buf_new(test->arena, 0);
    CutSource      source = key_rows_source(&test->model);
    const KeyPart *lo = NULL, *hi = NULL;
    Err            err = {0};

    for (;;) {
        assert_true(plan_walk_next(&source, &test->walk, lo, test->arena, &hi, &err));
        if (!hi) break;
        append_chunk(test, &got, lo, hi);
        lo = hi;
    }
    assert_true(plan_walk_last(&source, &test->walk, test->arena, &hi, &err));
    append_chunk(test, &got, lo, hi);
    assert_str_is(buf_str(&got), want);
}

static void each_chunk_begins_where_the_one_before_ends(void **state)
{
    Case test = case_open("a b c d e f", 2, false);

    (void)state;
    assert_walk(&test, "[-,c) [c,e) [e,-)");
    assert_int_equal(test.model.seeks, 4); /* a seek a bound, and the one for the last end */
    add_row(&test, "h");
    add_row(&test, "g");
    assert_walk(&test, "[-,c) [c,e) [e,g)"); /* what came above MAX is the stream's */
    arena_close(test.arena);
}

static void a_value_that_repeats_is_never_cut(void **state) /* T4.14 */
{
    Case test = case_open("NULL NULL NULL a b n N n N n p q r s t u v V", 2, true);

    (void)state;
    test.walk.max = &(const KeyPart){.text = STR("v")};
    assert_walk(&test, "[-,b) [b,N) [N,s) [s,u) [u,-)");
    arena_close(test.arena);
}

static void a_key_that_reads_back_as_max_leaves_the_last_chunk_open(void **state) /* T4.12 */
{
    Case test = case_open("1.0000001 1.5000001 2.0000001 2.0000002", 1, false);

    (void)state;
    test.model.cut_len = strlen("1.000000");
    test.walk.max      = &(const KeyPart){.text = STR("2.000000")};
    assert_walk(&test, "[-,1.500000) [1.500000,-)");
    arena_close(test.arena);
}

/* Many keys that one bound cannot tell apart: the seek goes twice as far instead of standing still. */
static void keys_finer_than_a_bound_do_not_stop_the_walk(void **state)
{
    Case test = case_open("1.0001 1.0002 1.0003 1.0004 1.0005 1.5001 1.6001 1.7001 1.8001 2.0001",
                          2, false);

    (void)state;
    test.model.cut_len = strlen("1.000");
    test.walk.max      = &(const KeyPart){.text = STR("2.000")};
    assert_walk(&test, "[-,1.000) [1.000,1.800) [1.800,-)");
    arena_close(test.arena);
}

static void a_table_emptied_since_the_open_is_one_open_chunk(void **state)
{
    Case test = case_open("", 2, false);

    (void)state;
    test.walk.max = &(const KeyPart){.text = STR("m")};
    assert_walk(&test, "[-,-)");
    arena_close(test.arena);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(each_chunk_begins_where_the_one_before_ends),
        cmocka_unit_test(a_value_that_repeats_is_never_cut),
        cmocka_unit_test(a_key_that_reads_back_as_max_leaves_the_last_chunk_open),
        cmocka_unit_test(keys_finer_than_a_bound_do_not_stop_the_walk),
        cmocka_unit_test(a_table_emptied_since_the_open_is_one_open_chunk)};

    return RUN_TESTS(cases);
}
