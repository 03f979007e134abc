#include "support/test_support.h"

#include <errno.h>

static void err_set_returns_false_and_clears_what_was_there(void **state)
{
    Err err = ERR_INIT;

    (void)state;
    err.native = 208;
    assert_false(err_context(&err, "old"));
    assert_false(err_set(&err, ERR_STORE, "disk %d is full", 3));
    assert_int_equal(err.native, 0);
    assert_string_equal(err.message, "disk 3 is full");
    assert_string_equal(err.context, "");
}

static void context_is_put_in_front_outermost_first(void **state)
{
    Err  err = ERR_INIT;
    char text[256];

    (void)state;
    (void)err_set(&err, ERR_QUERY, "no such table");
    assert_false(err_context(&err, "wave %d", 4));
    assert_false(err_context(&err, "dbo_orders"));
    assert_false(err_context(&err, "dbo_orders"));
    err_format(&err, text, sizeof text);
    assert_string_equal(text, "dbo_orders: wave 4: no such table");
}

static void a_message_may_be_made_of_the_error_itself(void **state)
{
    Err err = ERR_INIT;

    (void)state;
    (void)err_set(&err, ERR_STORE, "inner");
    (void)err_context(&err, "outer");
    (void)err_set(&err, ERR_DATA_LOSS, "%s after %s", err.context, err.message);
    assert_err(&err, ERR_DATA_LOSS, "outer after inner");
}

static void long_texts_are_cut_between_characters(void **state)
{
    Err  err = ERR_INIT;
    char wide[3000];

    (void)state;
    for (size_t i = 0; i + 3 < sizeof wide; i += 3)
        memcpy(wide + i, "\xE2\x82\xAC", 4); /* euro signs */
    (void)err_set(&err, ERR_LIMIT, "%s", wide);
    assert_true(strlen(err.message) >= sizeof err.message - 4);
    assert_true(utf8_is_valid(str_from_c(err.message)));
    for (int i = 0; i < 3; i++)
        (void)err_context(&err, "%d%.*s", i, 300, wide);
    assert_true(utf8_is_valid(str_from_c(err.context)));
    assert_true(strlen(err.context) < sizeof err.context);

    char small[50];
    err_format(&err, small, sizeof small);
    assert_true(utf8_is_valid(str_from_c(small)));
    assert_true(strlen(small) < sizeof small);
}

static void what_others_said_is_made_valid_text(void **state)
{
    Err err = ERR_INIT;

    (void)state;
    (void)err_set(&err, ERR_QUERY, "said %s", "\xFF\xC3\xA4\xE2\x82 \xEF\xBF\xBD");
    assert_string_equal(err.message, "said ?\xC3\xA4?? \xEF\xBF\xBD");
    (void)err_context(&err, "table %s", "\x80");
    assert_string_equal(err.context, "table ?");
}

static void errno_is_kept_as_number_and_text(void **state)
{
    Err  err = ERR_INIT;
    char text[256];

    (void)state;
    assert_false(err_set_errno(&err, ERR_STORE, ENOENT, "cannot open %s", "/lake"));
    assert_int_equal(err.native, ENOENT);
    err_format(&err, text, sizeof text);
    assert_string_equal(text, "cannot open /lake: No such file or directory (error 2)");
}

static void format_shows_sqlstate_and_native_number(void **state)
{
    Err  err = ERR_INIT;
    char text[256];

    (void)state;
    (void)err_set(&err, ERR_QUERY, "Invalid object name");
    memcpy(err.sqlstate, "42S02", 6);
    err_format(&err, text, sizeof text);
    assert_string_equal(text, "Invalid object name (SQLSTATE 42S02)");
    err.native = 208;
    err_format(&err, text, sizeof text);
    assert_string_equal(text, "Invalid object name (SQLSTATE 42S02, error 208)");
}

static void a_code_without_message_is_shown_by_its_meaning(void **state)
{
    Err  err = {.code = ERR_LOGIN};
    char text[64];

    (void)state;
    err_format(&err, text, sizeof text);
    assert_string_equal(text, "SQL Server refused the login");
}

static void codes_carry_exit_status_retry_and_names(void **state)
{
    (void)state;
    assert_int_equal(err_exit_status(ERR_NONE), 0);
    assert_int_equal(err_exit_status(ERR_DATA_LOSS), 3);
    assert_int_equal(err_exit_status(ERR_SCHEMA_CHANGED), 4);
    assert_int_equal(err_exit_status(ERR_CANCELLED), 130);
    assert_true(err_can_retry(&(Err){.code = ERR_SOURCE}));
    assert_true(err_can_retry(&(Err){.code = ERR_CONFLICT}));
    assert_false(err_can_retry(&(Err){.code = ERR_DATA_LOSS}));
    assert_false(err_can_retry(&ERR_INIT));
    for (int code = ERR_NONE; code <= ERR_INTERNAL; code++) {
        assert_int_equal(strncmp(err_code_name((ErrCode)code), "ERR_", 4), 0);
        assert_true(strlen(err_code_meaning((ErrCode)code)) > 0);
        assert_in_range(err_exit_status((ErrCode)code), 0, 143);
    }
}

static void copy_and_clear_take_the_whole_error(void **state)
{
    Err from = ERR_INIT;
    Err to   = ERR_INIT;

    (void)state;
    (void)err_set(&from, ERR_NOT_YET, "later");
    (void)err_context(&from, "here");
    assert_false(err_copy(&to, &from));
    assert_memory_equal(&to, &from, sizeof to);
    err_clear(&to);
    assert_int_equal(to.code, ERR_NONE);
    assert_string_equal(to.message, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(err_set_returns_false_and_clears_what_was_there),
        cmocka_unit_test(context_is_put_in_front_outermost_first),
        cmocka_unit_test(a_message_may_be_made_of_the_error_itself),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(what_others_said_is_made_valid_text),
        cmocka_unit_test(errno_is_kept_as_number_and_text),
        cmocka_unit_test(format_shows_sqlstate_and_native_number),
        cmocka_unit_test(a_code_without_message_is_shown_by_its_meaning),
        cmocka_unit_test(codes_carry_exit_status_retry_and_names),
        cmocka_unit_test(copy_and_clear_take_the_whole_error),
    };
    return RUN_TESTS(tests);
}
