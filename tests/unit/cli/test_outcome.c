#include "support/test_support.h"

#include "cli/outcome.h"

static void write_number(JsonWriter *json, const void *result)
{
    json_i64(json, *(const int *)result);
}

static Str describe_number(Arena *arena, const Outcome *outcome)
{
    return str_printf(arena, "%.*s: %d", STR_ARG(outcome->name), *(const int *)outcome->result);
}

static const OutcomeForm form = {.write = write_number, .describe = describe_number};

/* outcomes_finish, with what it printed. */
static bool finish(Arena *arena, const Outcome *outcomes, size_t count, bool as_json, Str *printed,
                   Err *err)
{
    FILE *file  = tmpfile();
    int   saved = dup(STDOUT_FILENO);
    char *text  = ARENA_ARRAY(arena, char, 1000);
    bool  ok;

    assert_non_null(file);
    assert_int_equal(fflush(stdout), 0);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    err_clear(err);
    ok = outcomes_finish(outcomes, count, &form, as_json, err);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    (void)close(saved);
    rewind(file);
    *printed = (Str){text, fread(text, 1, 999, file)};
    (void)fclose(file);
    return ok;
}

static Outcome failed(const char *name, ErrCode code)
{
    Outcome outcome = {.name = str_from_c(name)};

    err_set(&outcome.err, code, "no %s", name);
    return outcome;
}

static void one_result_stands_alone_and_several_have_their_names(void **state)
{
    Arena  *arena      = arena_new();
    int     numbers[]  = {1, 2};
    Outcome outcomes[] = {{.name = STR("a"), .ok = true, .result = &numbers[0]},
                          {.name = STR("b"), .ok = true, .result = &numbers[1]}};
    Err     err        = ERR_INIT;
    Str     printed;

    (void)state;
    assert_ok(finish(arena, outcomes, 1, true, &printed, &err), &err);
    assert_str_is(printed, "1\n");
    assert_ok(finish(arena, outcomes, 2, true, &printed, &err), &err);
    assert_str_is(printed, "{\"streams\": {\"a\": 1, \"b\": 2}, \"failed\": {}}\n");
    assert_ok(finish(arena, outcomes, 2, false, &printed, &err), &err);
    assert_str_is(printed, "a: 1\nb: 2\n");
    arena_close(arena);
}

static void streams_that_fail_alike_keep_their_code_and_others_give_1(void **state)
{
    Arena  *arena    = arena_new();
    int     number   = 7;
    Outcome alike[]  = {failed("a", ERR_DATA_LOSS), failed("b", ERR_DATA_LOSS)};
    Outcome mixed[]  = {failed("a", ERR_DATA_LOSS), failed("b", ERR_CANCELLED),
                        failed("c", ERR_PERMISSION)};
    Outcome single[] = {failed("a", ERR_CANCELLED), failed("b", ERR_PERMISSION)};
    Err     err      = ERR_INIT;
    Str     printed;

    (void)state;
    assert_false(finish(arena, alike, 2, true, &printed, &err));
    assert_err(&err, ERR_DATA_LOSS, "2 of 2 streams failed, first: no a");
    assert_str_is(printed, "{\"streams\": {}, \"failed\": {\"a\": \"no a\", \"b\": \"no b\"}}\n");
    assert_false(finish(arena, mixed, 3, true, &printed, &err));
    assert_err(&err, ERR_FAILED, "2 of 3 streams failed");
    mixed[0].result = &number;
    assert_false(finish(arena, mixed, 3, false, &printed, &err));
    assert_str_is(printed, "a: 7\n");
    assert_false(finish(arena, single, 2, true, &printed, &err));
    assert_err(&err, ERR_PERMISSION, "no b");
    assert_false(finish(arena, single, 1, true, &printed, &err));
    assert_err(&err, ERR_CANCELLED, "no a");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_result_stands_alone_and_several_have_their_names),
        cmocka_unit_test(streams_that_fail_alike_keep_their_code_and_others_give_1),
    };

    return RUN_TESTS(tests);
}
