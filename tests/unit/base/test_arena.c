#include "support/test_support.h"

static bool is_zero(const void *ptr, size_t size)
{
    const unsigned char *bytes = ptr;

    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    Arena *arena    = arena_new();
    char  *previous = NULL;

    (void)state;
    for (size_t size = 0; size < 3000; size += 7) {
        char *ptr = arena_alloc(arena, size);
        assert_true(ptr != previous);
        assert_int_equal((uintptr_t)ptr % _Alignof(max_align_t), 0);
        assert_true(is_zero(ptr, size));
        memset(ptr, 0xAB, size);
        previous = ptr;
    }
    arena_close(arena);
}

static void allocations_are_zeroed_again_after_a_reset(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    for (int round = 0; round < 5; round++) {
        assert_int_equal(arena_used(arena), 0);
        for (int i = 0; i < 200; i++) {
            char *ptr = arena_alloc(arena, 1000);
            assert_true(is_zero(ptr, 1000));
            memset(ptr, 0xFF, 1000);
        }
        assert_true(arena_used(arena) >= 200000);
        arena_reset(arena);
    }
    arena_close(arena);
}

static void memory_is_used_again_after_a_reset(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    char *first = arena_alloc(arena, 5000000);
    arena_reset(arena);
    char *small = arena_alloc(arena, 100);
    char *again = arena_alloc(
        arena, 5000000); /* the small one must not have taken the large chunk twice */
    assert_true(again == first || small == first);
    arena_close(arena);
}

static void large_and_small_allocations_mix(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    for (int i = 0; i < 50; i++) {
        char *small = arena_alloc(arena, 24);
        char *large = arena_alloc_uninit(arena, (size_t)i * 100000);
        memset(large, 1, (size_t)i * 100000);
        memset(small, 2, 24);
        if (i > 0) assert_int_equal(large[0], 1);
    }
    arena_close(arena);
}

static void only_the_newest_allocation_is_extended_in_place(void **state)
{
    Arena *arena = arena_new();
    char  *first = arena_alloc(arena, 100);

    (void)state;
    assert_true(arena_extend(arena, first, 100, 1000));
    memset(first, 1, 1000);
    char *second = arena_alloc(arena, 10);
    assert_true(second >= first + 1000);
    assert_false(arena_extend(arena, first, 1000, 1100));
    assert_true(arena_extend(arena, second, 10, 12));
    assert_false(arena_extend(arena, second, 12, 100000000));
    arena_close(arena);
}

typedef struct Ending {
    int *told;
    int  digit;
} Ending;

static void append_digit(void *arg)
{
    const Ending *ending = arg;
    *ending->told        = *ending->told * 10 + ending->digit;
}

static void ends_run_once_and_before_the_memory_goes(void **state)
{
    Arena *arena = arena_new();
    int    told  = 0;
    (void)state;

    for (int round = 0; round < 2; round++) {
        for (int i = 1; i <= 3; i++) {
            Ending *ending = ARENA_NEW(arena, Ending);
            *ending        = (Ending){&told, i};
            arena_at_end(arena, append_digit, ending);
        }
        assert_int_equal(told, 0);
        if (round == 0)
            arena_reset(arena);
        else
            arena_close(arena);
        assert_int_equal(told, 321); /* the newest first */
        told = 0;
    }
}

static void ask_for_too_many(void *arg)
{
    (void)arena_alloc_array(arg, SIZE_MAX / 2, 4);
}

static void ask_for_too_much(void *arg)
{
    (void)arena_alloc(arg, SIZE_MAX - 3);
}

static void running_out_ends_the_process_with_a_word(void **state)
{
    Arena *arena = arena_new();
    char   text[4096];

    (void)state;
    int status = test_run_in_child(ask_for_too_many, arena, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(text, "out of memory"));
    status = test_run_in_child(ask_for_too_much, arena, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    arena_close(arena);
}

static void memory_with_an_owner_is_zeroed_and_grows(void **state)
{
    char *ptr = mem_alloc(100);

    (void)state;
    assert_true(is_zero(ptr, 100));
    memset(ptr, 7, 100);
    ptr = mem_realloc(ptr, 100000);
    assert_int_equal(ptr[99], 7);
    mem_free(ptr);
    ptr = mem_alloc(0);
    assert_non_null(ptr);
    mem_free(ptr);
    mem_free(NULL);
    arena_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_aligned_and_apart),
        cmocka_unit_test(allocations_are_zeroed_again_after_a_reset),
        cmocka_unit_test(memory_is_used_again_after_a_reset),
        cmocka_unit_test(large_and_small_allocations_mix),
        cmocka_unit_test(only_the_newest_allocation_is_extended_in_place),
        cmocka_unit_test(ends_run_once_and_before_the_memory_goes),
        cmocka_unit_test(running_out_ends_the_process_with_a_word),
        cmocka_unit_test(memory_with_an_owner_is_zeroed_and_grows),
    };
    return RUN_TESTS(tests);
}
