#include "support/test_support.h"

#include "base/buf.h"

static void appended_parts_stand_in_order(void **state)
{
    Arena *arena = arena_new();
    Buf    buf   = buf_new(arena, 0);

    (void)state;
    assert_str_is(buf_str(&buf), "");
    buf_append(&buf, STR("one "));
    buf_append_c(&buf, "two ");
    buf_append_char(&buf, '3');
    buf_append_bytes(&buf, " four", 5);
    buf_printf(&buf, " %d", 5);
    buf_append(&buf, (Str){NULL, 0});
    assert_str_is(buf_str(&buf), "one two 3 four 5");
    buf_clear(&buf);
    assert_str_is(buf_str(&buf), "");
    arena_close(arena);
}

static void near_the_limit_it_does_not_grow_by_single_steps(void **state)
{
    Arena *arena = arena_new();
    Buf    buf   = buf_new(arena, 1000);
    size_t grown = 0;

    (void)state;
    for (size_t i = 0, before = 0; i < 1000; i++, before = buf.capacity) {
        buf_append_char(&buf, 'x');
        grown += buf.capacity != before;
    }
    assert_int_equal(buf.len, 1000);
    assert_true(grown < 10);
    arena_close(arena);
}

static void a_buffer_grows_whatever_is_allocated_in_between(void **state)
{
    Arena *arena = arena_new();
    Buf    buf   = buf_new(arena, 0);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        buf_printf(&buf, "%d,", i);
        if (i % 1000 == 0) (void)arena_alloc(arena, 10);
    }
    Str rest = buf_str(&buf);
    for (int i = 0; i < 100000; i++) {
        Str     part  = STR_EMPTY;
        int64_t value = -1;
        assert_true(str_split_next(&rest, ',', &part));
        assert_true(str_parse_i64(part, &value));
        assert_int_equal(value, i);
    }
    assert_false(buf.overflow);
    arena_close(arena);
}

static void past_the_limit_the_rest_is_dropped_and_told(void **state)
{
    Arena *arena = arena_new();
    Buf    buf   = buf_new(arena, 10);

    (void)state;
    buf_append_c(&buf, "12345678");
    assert_false(buf.overflow);
    buf_append_c(&buf, "90abc");
    assert_true(buf.overflow);
    buf_append_c(&buf, "x");
    buf_append_char(&buf, 'y');
    buf_printf(&buf, "%d", 1);
    assert_str_is(buf_str(&buf), "1234567890");

    Buf printed = buf_new(arena, 10);
    buf_printf(&printed, "%s", "0123456789abcdef");
    assert_true(printed.overflow);
    assert_str_is(buf_str(&printed), "0123456789");

    Buf exact = buf_new(arena, 100);
    for (int i = 0; i < 100; i++)
        buf_append_char(&exact, 'x');
    assert_false(exact.overflow);
    buf_append_char(&exact, 'x');
    assert_true(exact.overflow);
    assert_int_equal(exact.len, 100);
    arena_close(arena);
}

static void reserved_room_is_counted_by_advance(void **state)
{
    Arena *arena = arena_new();
    Buf    buf   = buf_new(arena, 100);

    (void)state;
    buf_append_c(&buf, "ab");
    char *room = buf_reserve(&buf, 50);
    assert_non_null(room);
    memcpy(room, "cd", 2);
    buf_advance(&buf, 2);
    assert_str_is(buf_str(&buf), "abcd");
    assert_null(buf_reserve(&buf, 97));
    assert_true(buf.overflow);
    assert_null(buf_reserve(&buf, 1));
    buf_clear(&buf);
    assert_non_null(buf_reserve(&buf, 100));
    arena_close(arena);
}

static void a_buffer_may_be_appended_to_itself(void **state)
{
    Arena *arena = arena_new();
    Buf    buf   = buf_new(arena, 0);

    (void)state;
    buf_append_c(&buf, "ab");
    for (int i = 0; i < 12; i++)
        buf_append(&buf, buf_str(&buf));
    assert_int_equal(buf.len, 8192);
    for (size_t i = 0; i < buf.len; i++)
        assert_int_equal(buf.ptr[i], i % 2 ? 'b' : 'a');
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_parts_stand_in_order),
        cmocka_unit_test(near_the_limit_it_does_not_grow_by_single_steps),
        cmocka_unit_test(a_buffer_grows_whatever_is_allocated_in_between),
        cmocka_unit_test(past_the_limit_the_rest_is_dropped_and_told),
        cmocka_unit_test(reserved_room_is_counted_by_advance),
        cmocka_unit_test(a_buffer_may_be_appended_to_itself),
    };
    return RUN_TESTS(tests);
}
