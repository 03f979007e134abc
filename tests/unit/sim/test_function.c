/* Scalar functions on text, numbers and dates (sqlserver.md 2.10). */
#include "support/sim_eval.h"

static void lengths_count_characters_or_bytes(void **state)
{
    (void)state;
    assert_typed("LEN('abc  ')", "3 int");
    assert_value("LEN(N'a\xC3\xA9 ')", "2");
    assert_value("LEN(N'\xF0\x9F\x98\x80')", "2");
    assert_value("LEN(12345)", "5");
    assert_value("DATALENGTH('abc  ')", "5");
    assert_value("DATALENGTH(N'abc')", "6");
    assert_value("DATALENGTH(CAST(1 AS bigint))", "8");
    assert_value("LEN(NULL)", "NULL");
    assert_typed("LEN(CAST('abc' AS varchar(max)))", "3 bigint");
}

static void parts_of_text(void **state)
{
    (void)state;
    assert_typed("LEFT('abcdef', 2)", "ab varchar(2)");
    assert_value("RIGHT(N'abcdef', 9)", "abcdef");
    assert_typed("SUBSTRING('abcdef', 2, 3)", "bcd varchar(3)");
    assert_value("SUBSTRING('abc', 0, 2)", "a");
    assert_value("SUBSTRING('abc', -5, 7)", "a");
    assert_value("SUBSTRING('abc', 5, 2)", "");
    assert_value("SUBSTRING('abc', 2, 9223372036854775807)", "bc");
    assert_value("SUBSTRING(0x010203, 2, 1)", "0x02");
    assert_fails("LEFT('abc', -1)", 536);
    assert_fails("SUBSTRING('abc', 1, -1)", 537);
    assert_value("STUFF('abcdef', 2, 3, 'XY')", "aXYef");
    assert_value("STUFF('abc', 4, 1, 'x')", "NULL");
    assert_value("REVERSE('abc')", "cba");
    assert_value("PARSENAME('d.[s.x].t', 2)", "s.x");
    assert_value("PARSENAME('t', 2)", "NULL");
    assert_value("PARSENAME('a..b', 2)", "NULL");
}

static void text_is_trimmed_repeated_and_joined(void **state)
{
    (void)state;
    assert_value("LTRIM('  a ') + '|'", "a |");
    assert_value("RTRIM('  a ') + '|'", "  a|");
    assert_value("TRIM('xy' FROM 'yxaxy')", "a");
    assert_value("REPLICATE('ab', 3)", "ababab");
    assert_value("REPLICATE('ab', -1)", "NULL");
    assert_value("LEN(REPLICATE('a', 9000))", "8000");
    assert_value("LEN(REPLICATE(CAST('a' AS varchar(max)), 9000))", "9000");
    assert_value("'[' + SPACE(3) + ']'", "[   ]");
    assert_typed("CONCAT('a', 1, NULL, N'b')", "a1b nvarchar(26)");
    assert_value("CONCAT_WS(', ', 'a', NULL, 2, 'c')", "a, 2, c");
    assert_fails("CONCAT('a')", 189);
    assert_value("UPPER('a1z')", "A1Z");
    assert_value("LOWER('A1Z')", "a1z");
}

static void names_are_quoted(void **state)
{
    (void)state;
    assert_typed("QUOTENAME('a]b')", "[a]]b] nvarchar(258)");
    assert_value("QUOTENAME(N'a''b', '''')", "'a''b'");
    assert_value("QUOTENAME('a', ')')", "(a)");
    assert_value("QUOTENAME('a', 'x')", "NULL");
    assert_value("QUOTENAME(REPLICATE('a', 129))", "NULL");
    assert_value("LEN(QUOTENAME(REPLICATE('a', 128)))", "130");
}

static void characters_and_codes(void **state)
{
    (void)state;
    assert_typed("CHAR(65)", "A char(1)");
    assert_value("CHAR(256)", "NULL");
    assert_value("NCHAR(937)", "\xCE\xA9");
    assert_value("ASCII('ABC')", "65");
    assert_value("UNICODE(N'\xCE\xA9')", "937");
    assert_value("ASCII('')", "NULL");
    assert_value("STR(123.456, 8, 2)", "  123.46");
    assert_value("STR(123456, 3)", "***");
    assert_value("FN_VARBINTOHEXSTR(0x0A1B)", "0x0a1b");
    assert_value("HASHBYTES('md5', 'a')", "0x0CC175B9C0F1B6A831C399E269772661");
    assert_value("HASHBYTES('SHA1', 'abc')", "0xA9993E364706816ABA3E25717850C26C9CD0D89D");
    assert_value("HASHBYTES('SHA2_256', N'a')",
                 "0xFFE9AAEAA2A2D5048174DF0B80599EF0197EC024C4B051BC9860CFF58EF7F9F3");
    assert_value("DATALENGTH(HASHBYTES('SHA2_512', 0x))", "64");
    assert_value("HASHBYTES('SHA3', 'a')", "NULL");
}

static void searches_follow_the_collation(void **state)
{
    (void)state;
    assert_value("CHARINDEX('B', 'abc')", "2");
    assert_value("CHARINDEX('B', 'abc' COLLATE Latin1_General_BIN2)", "0");
    assert_value("CHARINDEX('b', 'abcb', 3)", "4");
    assert_value("CHARINDEX('', 'abc')", "0");
    assert_value("CHARINDEX('x', 'abc', -4)", "0");
    assert_value("REPLACE('aBcabc', 'b', 'X')", "aXcaXc");
    assert_value("REPLACE('aaa', 'a', '')", "");
    assert_value("REPLACE('abc', '', 'x')", "abc");
    assert_value("TRANSLATE('2*[3+4]', '[]', '()')", "2*(3+4)");
    assert_value("PATINDEX('%b[0-9]%', 'ab1c')", "2");
    assert_value("PATINDEX('b%', 'abc')", "0");
    assert_value("PATINDEX('%c', 'abc')", "3");
    assert_value("PATINDEX('%[^a-z]%', 'abc9')", "4");
}

static void assert_like(const char *text, const char *pattern, const char *escape, bool want)
{
    Arena   *arena = arena_new();
    SimValue one, two, mark;
    SimError error;
    bool     got = !want;

    assert_true(sim_eval(text, arena, &one, &error));
    assert_true(sim_eval(pattern, arena, &two, &error));
    if (escape != NULL) assert_true(sim_eval(escape, arena, &mark, &error));
    assert_true(sim_like(&one, &two, escape != NULL ? &mark : NULL, NULL, arena, &got, &error));
    if (got != want) fail_msg("%s LIKE %s: %d", text, pattern, got);
    arena_close(arena);
}

static void like_knows_wildcards_sets_and_escapes(void **state)
{
    (void)state;
    assert_like("'abc'", "'a%'", NULL, true);
    assert_like("'abc'", "'A_C'", NULL, true);
    assert_like("'abc'", "'a_'", NULL, false);
    assert_like("'abc' COLLATE Latin1_General_BIN2", "'A%'", NULL, false);
    assert_like("'abcabd'", "'%ab_'", NULL, true);
    assert_like("''", "'%'", NULL, true);
    assert_like("'a5'", "'a[0-9]'", NULL, true);
    assert_like("'ax'", "'a[^0-9]'", NULL, true);
    assert_like("'a]'", "'a[]]'", NULL, false); /* [] is an empty set up to the next bracket */
    assert_like("'a-'", "'a[a-]'", NULL, true);
    assert_like("'a%'", "'a!%'", "'!'", true);
    assert_like("'ab'", "'a!%'", "'!'", false);
    assert_like("'a%b'", "'a[%]b'", NULL, true);
    assert_like("'a['", "'a['", NULL, false);
    assert_like("'abc  '", "'abc'", NULL, true);    /* blanks at the end of varchar do not count */
    assert_like("N'abc  '", "N'abc'", NULL, false); /* of nvarchar they do */
    assert_like("'abc'", "'abc '", NULL, false);
    assert_like("N'\xC5\x9F'", "N'[s-t]'", NULL, true);
    assert_like("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'", "'%a%a%a%a%a%a%a%a%a%a%c'", NULL, false);
    assert_like("12345", "'12%'", NULL, true);
}

static void numbers_are_rounded_and_raised(void **state)
{
    (void)state;
    assert_typed("ABS(-5)", "5 int");
    assert_typed("ABS(-1.5)", "1.5 numeric(2,1)");
    assert_fails("ABS(CAST(-2147483648 AS int))", 8115);
    assert_typed("CEILING(1.2)", "2 numeric(2,0)");
    assert_typed("FLOOR(-1.2)", "-2 numeric(2,0)");
    assert_typed("CEILING($1.2)", "2.00 money");
    assert_typed("ROUND(123.456, 2)", "123.460 numeric(6,3)");
    assert_value("ROUND(125, -1)", "130");
    assert_value("ROUND(-2.5, 0)", "-3.0");
    assert_value("ROUND(2.59, 1, 1)", "2.50");
    assert_fails("ROUND(9.99, 0)", 8115);
    assert_typed("POWER(2, 10)", "1024 int");
    assert_fails("POWER(2, 31)", 8115);
    assert_typed("POWER(2.5, 2)", "6.3 numeric(38,1)");
    assert_typed("SQRT(16)", "4 float");
    assert_fails("SQRT(-1)", 3623);
    assert_typed("SIGN(-3)", "-1 int");
    assert_value("LOG(8, 2)", "3");
    assert_value("SQUARE(3)", "9");
}

static void dates_are_added_to(void **state)
{
    (void)state;
    assert_typed("DATEADD(month, 1, CAST('2020-01-31' AS date))", "2020-02-29 date");
    assert_typed("DATEADD(day, 1, '2020-01-31')", "Feb  1 2020 12:00AM datetime");
    assert_value("DATEADD(yy, -1, CAST('2020-02-29' AS date))", "2019-02-28");
    assert_value("DATEADD(qq, 1, CAST('2020-11-30' AS date))", "2021-02-28");
    assert_value("DATEADD(ms, 2, CAST('2020-01-01T00:00:00' AS datetime)) - DATEADD(ms, 0, "
                 "CAST('2020-01-01T00:00:00' AS datetime))",
                 "Jan  1 1900 12:00AM");
    assert_value("DATEADD(ns, 149, CAST('2020-01-01' AS datetime2))",
                 "2020-01-01 00:00:00.0000001");
    assert_value("DATEADD(ns, -151, CAST('00:00:00.0000005' AS time))", "00:00:00.0000003");
    assert_value("DATEADD(hour, 25, CAST('01:00' AS time(0)))", "02:00:00");
    assert_value("DATEADD(month, 1, CAST('2020-01-31 23:00:00 -03:00' AS datetimeoffset(0)))",
                 "2020-02-29 23:00:00 -03:00");
    assert_fails("DATEADD(hour, 1, CAST('2020-01-01' AS date))", 9810);
    assert_fails("DATEADD(ns, 1, CAST('2020-01-01' AS datetime))", 9810);
    assert_fails("DATEADD(year, 8000, CAST('2020-01-01' AS date))", 517);
    assert_fails("DATEADD(day, -1, CAST('0001-01-01' AS date))", 517);
    assert_fails("DATEADD(frob, 1, '2020-01-01')", 155);
}

static void differences_count_boundaries(void **state)
{
    (void)state;
    assert_typed("DATEDIFF(day, '2019-12-31T23:59:59', '2020-01-01')", "1 int");
    assert_value("DATEDIFF(year, '2019-12-31', '2020-01-01')", "1");
    assert_value("DATEDIFF(month, '2020-03-31', '2020-01-01')", "-2");
    assert_value("DATEDIFF(week, '2020-01-04', '2020-01-05')", "1"); /* Saturday to Sunday */
    assert_value("DATEDIFF(week, '2020-01-05', '2020-01-11')", "0");
    assert_value("DATEDIFF(day, CAST('19700101' AS date), CAST('0001-01-01' AS date))", "-719162");
    assert_value("DATEDIFF(ms, '2020-01-01T00:00:00', CAST('2020-01-01T00:00:00.003' AS datetime))",
                 "3");
    assert_value("DATEDIFF(hour, CAST('2020-01-01T00:00:00 +02:00' AS datetimeoffset), "
                 "CAST('2020-01-01T00:00:00 +00:00' AS datetimeoffset))",
                 "2");
    assert_fails("DATEDIFF(ms, '2019-01-01', '2020-01-01')", 535);
    assert_typed("DATEDIFF_BIG(ns, '0001-01-01', '0001-01-02')", "86400000000000 bigint");
}

static void parts_of_dates(void **state)
{
    (void)state;
    assert_value("DATEPART(TZOFFSET, CAST('2020-01-01T00:00:00 -03:30' AS datetimeoffset))",
                 "-210");
    assert_value("DATEPART(dayofyear, '2020-12-31')", "366");
    assert_value("DATEPART(week, '2020-01-05')", "2");
    assert_value("DATEPART(weekday, '2020-01-05')", "1");
    assert_value("DATEPART(iso_week, '2021-01-03')", "53");
    assert_value("DATEPART(iso_week, '2020-12-31')", "53");
    assert_value("DATEPART(ns, CAST('00:00:00.1234567' AS time))", "123456700");
    assert_value("DATEPART(ms, CAST('2020-01-01T00:00:00.997' AS datetime))", "997");
    assert_value("DATENAME(month, '2020-05-06') + ' ' + DATENAME(dw, '2020-05-06')",
                 "May Wednesday");
    assert_fails("DATEPART(hour, CAST('2020-01-01' AS date))", 9810);
    assert_fails("DATEPART(year, CAST('10:00' AS time))", 9810);
    assert_fails("DATEPART(tz, CAST('2020-01-01' AS datetime))", 9810);
    assert_value("YEAR('2020-05-06') * 10000 + MONTH('2020-05-06') * 100 + DAY('2020-05-06')",
                 "20200506");
    assert_value("EOMONTH('2020-01-31', 1)", "2020-02-29");
    assert_value("ISDATE('2020-02-30') + ISDATE('20200228')", "1");
}

static void dates_are_made_of_parts_and_moved_between_offsets(void **state)
{
    (void)state;
    assert_typed("DATEFROMPARTS(2020, 2, 29)", "2020-02-29 date");
    assert_fails("DATEFROMPARTS(2021, 2, 29)", 289);
    assert_value("DATEFROMPARTS(NULL, 2, 29)", "NULL");
    assert_typed("DATETIME2FROMPARTS(2020, 1, 2, 3, 4, 5, 123, 3)",
                 "2020-01-02 03:04:05.123 datetime2(3)");
    assert_fails("DATETIME2FROMPARTS(2020, 1, 2, 3, 4, 5, 1000, 3)", 289);
    assert_typed("TIMEFROMPARTS(1, 2, 3, 4, 1)", "01:02:03.4 time(1)");
    assert_typed("DATETIMEOFFSETFROMPARTS(2020, 1, 2, 3, 4, 5, 0, 5, 30, 0)",
                 "2020-01-02 03:04:05 +05:30 datetimeoffset(0)");
    assert_typed("SWITCHOFFSET(CAST('2020-01-01T00:00:00Z' AS datetimeoffset(0)), '-03:00')",
                 "2019-12-31 21:00:00 -03:00 datetimeoffset(0)");
    assert_typed("TODATETIMEOFFSET(CAST('2020-01-01' AS datetime), 120)",
                 "2020-01-01 00:00:00.000 +02:00 datetimeoffset(3)");
    assert_fails("TODATETIMEOFFSET('2020-01-01', '+15:00')", 9812);
    assert_fails("SWITCHOFFSET('2020-01-01', 'x')", 9812);
}

static void functions_of_any_type(void **state)
{
    (void)state;
    assert_typed("ISNULL(CAST(NULL AS varchar(3)), 'abcdef')",
                 "abc varchar(3)"); /* the type of the first */
    assert_typed("CHOOSE(2, 1, 2.5)", "2.5 numeric(2,1)");
    assert_value("CHOOSE(9, 1, 2)", "NULL");
    assert_value("GREATEST(1, 2.5, NULL)", "2.5");
    assert_value("ISNUMERIC('1e5') + ISNUMERIC('x') + ISNUMERIC('')", "1");
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    assert_fails("LEN()", 174);
    assert_fails("LEN('a', 'b')", 174);
    assert_fails("SUBSTRING('a')", 174);
    assert_fails("ROUND(1)", 189);
    assert_fails("LEN(CAST('a' AS text))", 8116);
    assert_fails("YEAR(0x01)", 8116);
    assert_fails("HASHBYTES('MD5', 1)", 8116);
    assert_fails("HASHBYTES('MD4', 'x')", SIM_NOT_SUPPORTED);
    assert_fails("FORMAT(1, 'N')", SIM_NOT_SUPPORTED);
    assert_null(sim_function_find(STR("FROB")));
    assert_non_null(sim_function_find(STR("dateadd")));
    assert_true(sim_function_takes_datepart(sim_function_find(STR("DATEADD"))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_count_characters_or_bytes),
        cmocka_unit_test(parts_of_text),
        cmocka_unit_test(text_is_trimmed_repeated_and_joined),
        cmocka_unit_test(names_are_quoted),
        cmocka_unit_test(characters_and_codes),
        cmocka_unit_test(searches_follow_the_collation),
        cmocka_unit_test(like_knows_wildcards_sets_and_escapes),
        cmocka_unit_test(numbers_are_rounded_and_raised),
        cmocka_unit_test(dates_are_added_to),
        cmocka_unit_test(differences_count_boundaries),
        cmocka_unit_test(parts_of_dates),
        cmocka_unit_test(dates_are_made_of_parts_and_moved_between_offsets),
        cmocka_unit_test(functions_of_any_type),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return RUN_TESTS(tests);
}
