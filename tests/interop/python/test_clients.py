"""Python's clients of SQL Server, unmodified, on a tidesim of their own, encrypted and not: pymssql and python-tds, pyodbc through FreeTDS's
and Microsoft's ODBC drivers, mssql-python. Selects, parameters, several result sets, transactions, autocommit, cancel.

Prints TAP. Arguments choose clients and cases:

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_clients.py [CLIENT...] [CASE...]
"""
import datetime
import decimal
import sys
import threading
import time

import values
from clients import ENCRYPTED, EVERY, Case, MssqlPython, PyodbcFreetds, PyodbcFreetdsEncrypted, PyodbcMicrosoft, PyodbcMicrosoftEncrypted, main, only

D, DT = datetime.date, datetime.datetime


def selects_rows_and_names(case):
    assert case.rows("SELECT 1 AS one, 'x' AS two UNION ALL SELECT 2, NULL ORDER BY one") == [(1, "x"), (2, None)]
    assert [column[0] for column in case.cursor.description] == ["one", "two"]
    assert case.rows("SELECT value FROM GENERATE_SERIES(1, 20000)") == [(n,) for n in range(1, 20001)]
    assert case.rows("SELECT 1 WHERE 1 = 0") == []


def sends_parameters_of_every_type(case):
    values = [0, -1, 2**31 - 1, 2**62, 1.5, -1e-300, "", "abc", "日本語 😀", "it's", "x" * 3999, "x" * 9000, None, decimal.Decimal("12.34"),
              decimal.Decimal("-99999999999999999999.999999"), DT(2024, 2, 29, 3, 4, 5, 678000), D(1999, 12, 31), b"\x00\xff", b"b" * 9000, True]
    for value in values:
        (got,), = case.rows("SELECT $ AS v", value)
        if case.client.values_as_text:  # a literal: what the server makes of it
            got = type(value)(got) if isinstance(value, (int, float)) and got is not None else got
            if isinstance(value, (DT, D, bytes)):
                continue
        assert got == value, f"{value!r:.60} came back as {got!r:.60}"
    assert case.rows("SELECT id FROM dbo.kinds WHERE c_nvarchar = $ AND c_int > $", "日本語 😀", 5) == [(1,)]
    for turn in range(5):  # the same statement again: prepared once, by those who prepare
        assert case.rows("SELECT $ + 1 AS v", turn) == [(turn + 1,)]


def a_parameter_may_change_its_type(case):
    """Of a statement that was prepared with another; so may a column of the result."""
    case.run("CREATE TABLE #c (a int); INSERT #c VALUES (1)")
    for value in (1, 2, 2**40, "text", 1.5, None, decimal.Decimal("3.25"), 3):
        assert case.rows("SELECT a, $ AS v FROM #c", value) == [(1, value)], value
    case.run("ALTER TABLE #c ALTER COLUMN a bigint")
    assert case.rows("SELECT a, $ AS v FROM #c", 3) == [(1, 3)]


def writes_what_it_reads(case):
    case.run("CREATE TABLE dbo.written (id int PRIMARY KEY, n nvarchar(50), d decimal(10,2), t datetime2(6), b varbinary(50), f float)")
    row = (1, "Ä 日本 😀", decimal.Decimal("-12345678.90"), DT(2024, 2, 29, 23, 59, 59, 999000), b"\x00\x01\xfe", 0.1)
    if case.client.values_as_text:
        row = row[:4] + (None, 0.1)
    case.run("INSERT dbo.written VALUES ($, $, $, $, $, $)", *row)
    case.cursor.executemany("INSERT dbo.written VALUES ($, $, $, $, $, $)".replace("$", case.client.mark), [(n, None, None, None, None, None) for n in range(2, 50)])
    assert case.rows("SELECT * FROM dbo.written WHERE id = 1") == [row]
    assert case.rows("SELECT COUNT(*), COUNT(n) FROM dbo.written") == [(49, 1)]
    case.run("UPDATE dbo.written SET n = 'x' WHERE id > $", 40)
    assert case.cursor.rowcount == 9, case.cursor.rowcount
    case.run("DROP TABLE dbo.written")
    case.connection.commit()


def reads_several_results(case):
    case.run("SELECT 1 AS a; SELECT 'x' AS b, 2 AS c; PRINT 'hi'; SELECT 3 AS d WHERE 1 = 0; SELECT 4 AS e")
    results = [[tuple(row) for row in case.cursor.fetchall()]]
    while case.cursor.nextset():
        if case.cursor.description:
            results.append([tuple(row) for row in case.cursor.fetchall()])
    assert results == [[(1,)], [("x", 2)], [], [(4,)]], results


def commits_and_rolls_back(case):
    case.run("CREATE TABLE dbo.tried (a int PRIMARY KEY)")
    case.connection.commit()
    case.run("INSERT dbo.tried VALUES ($)", 1)
    assert case.rows("SELECT @@TRANCOUNT") == [(1,)]
    case.connection.rollback()
    assert case.rows("SELECT COUNT(*) FROM dbo.tried") == [(0,)]
    case.run("INSERT dbo.tried VALUES ($)", 2)
    case.connection.commit()
    case.connection.rollback()
    assert case.rows("SELECT a FROM dbo.tried") == [(2,)]
    case.run("DROP TABLE dbo.tried")
    case.connection.commit()


def autocommit_writes_at_once(case):
    case.connection.commit()
    with Case(case.client, autocommit=True) as other:
        assert other.value("SELECT @@TRANCOUNT") == 0
        other.run("CREATE TABLE dbo.at_once (a int PRIMARY KEY)")
        other.run("INSERT dbo.at_once VALUES (1)")
        assert case.value("SELECT COUNT(*) FROM dbo.at_once") == 1
        case.connection.commit()
        other.run("BEGIN TRAN; INSERT dbo.at_once VALUES (2); SAVE TRAN s; INSERT dbo.at_once VALUES (3); ROLLBACK TRAN s; COMMIT")
        assert case.rows("SELECT a FROM dbo.at_once ORDER BY a") == [(1,), (2,)]
        case.connection.commit()
        other.run("DROP TABLE dbo.at_once")


def a_row_count_is_that_of_the_statement(case):
    case.run("CREATE TABLE #n (a int)")
    case.run("INSERT #n SELECT value FROM GENERATE_SERIES(1, 1000)")
    assert case.cursor.rowcount == 1000, case.cursor.rowcount
    case.run("DELETE #n WHERE a > 990")
    assert case.cursor.rowcount == 10, case.cursor.rowcount
    case.run("UPDATE #n SET a = a WHERE 1 = 0")
    assert case.cursor.rowcount == 0, case.cursor.rowcount


@only(PyodbcFreetds, PyodbcMicrosoft, PyodbcFreetdsEncrypted, PyodbcMicrosoftEncrypted)
def cancels_what_runs(case):
    for sql in ("WAITFOR DELAY '00:00:20'", "SELECT 1; WAITFOR DELAY '00:00:20'"):
        began = time.monotonic()
        timer = threading.Timer(0.3, case.cursor.cancel)
        timer.start()
        try:
            case.run(sql)
            raise AssertionError("not cancelled")
        except case.client.Error as error:
            assert error.args[0] == "HY008", error
        timer.join()
        assert time.monotonic() - began < 10
        assert case.rows("SELECT 5") == [(5,)]


def a_procedure_gives_outputs_and_a_status(case):
    if case.client.name == "pymssql":
        import pymssql

        given = case.cursor.callproc("dbo.made", (5, pymssql.output(str, "x"), pymssql.output(float)))
        assert given[:3] == (5, "éx", 5.0) and case.cursor.returnvalue == 7, (given, case.cursor.returnvalue)
    elif case.client.name == "python-tds":
        import pytds

        given = case.cursor.callproc("dbo.made", (5, pytds.output(value="x", param_type="nvarchar(20)"), pytds.output(param_type="decimal(9,3)")))
        assert list(given) == [5, "éx", decimal.Decimal(5)] and case.cursor.get_proc_return_status() == 7, given
    else:
        case.run("SET NOCOUNT ON; DECLARE @b nvarchar(20) = $, @c decimal(9,3), @r int; EXEC @r = dbo.made $, @b OUTPUT, @c OUTPUT; SELECT @r, @b, @c", "x", 5)
        assert [tuple(row) for row in case.cursor.fetchall()] == [(7, "éx", decimal.Decimal("5.000"))]


CASES = [selects_rows_and_names, sends_parameters_of_every_type, a_parameter_may_change_its_type, writes_what_it_reads, reads_several_results,
         commits_and_rolls_back, autocommit_writes_at_once, a_row_count_is_that_of_the_statement,
         a_procedure_gives_outputs_and_a_status, cancels_what_runs]

SCRIPT = values.script() + """EXEC ('CREATE PROCEDURE dbo.made @a int, @b nvarchar(20) OUTPUT, @c decimal(9,3) OUTPUT AS
  SET @b = N''é'' + @b; SET @c = @a; RETURN 7');
GO
"""

if __name__ == "__main__":
    sys.exit(main(CASES, EVERY + ENCRYPTED, SCRIPT))
