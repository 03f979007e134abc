#include "support/test_support.h"

#include "base/list.h"

typedef struct Point {
    int    x;
    double y;
} Point;

static void pushed_items_are_zeroed_and_keep_their_place(void **state)
{
    Arena *arena       = arena_new();
    LIST(Point) points = {0};

    (void)state;
    for (int i = 0; i < 5000; i++) {
        Point *point = LIST_PUSH(arena, &points);
        assert_int_equal(point->x, 0);
        assert_true(point->y == 0);
        *point = (Point){.x = i, .y = i / 2.0};
        if (i % 100 == 0) memset(arena_alloc(arena, 30), 0xFF, 30);
    }
    assert_int_equal(points.count, 5000);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(points.items[i].x, i);
    arena_close(arena);
}

static void a_list_of_pointers_grows_too(void **state)
{
    Arena *arena             = arena_new();
    LIST(const char *) names = {0};

    (void)state;
    for (int i = 0; i < 100; i++)
        *LIST_PUSH(arena, &names) = str_printf(arena, "%d", i).ptr;
    assert_string_equal(names.items[0], "0");
    assert_string_equal(names.items[99], "99");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_items_are_zeroed_and_keep_their_place),
        cmocka_unit_test(a_list_of_pointers_grows_too),
    };
    return RUN_TESTS(tests);
}
