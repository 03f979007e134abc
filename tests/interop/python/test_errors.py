"""Python's clients of SQL Server, unmodified, on a tidesim of their own: errors with their number and SQLSTATE, locks, deadlocks, cancels,
query timeouts, sessions that are killed.

Prints TAP. Arguments choose clients and cases:

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_errors.py [CLIENT...] [CASE...]
"""
import sys
import threading
import time

from clients import EVERY, Case, MssqlPython, Pymssql, PyodbcFreetds, PyodbcMicrosoft, PythonTds, main, only, until

READER = ("reader", "Tide.Sim.2")
SCRIPT = f"""CREATE TABLE dbo.k (a int NOT NULL PRIMARY KEY, b int NOT NULL CHECK (b > 0), c varchar(5) NULL);
INSERT dbo.k VALUES (1, 1, 'one'), (2, 2, 'two');
CREATE TABLE dbo.hidden (a int);
EXEC ('CREATE PROCEDURE dbo.half AS SELECT 1 AS a; RAISERROR(''half way'', 16, 1); SELECT 2 AS a');
GO
CREATE LOGIN reader WITH PASSWORD = '{READER[1]}';
CREATE USER reader FOR LOGIN reader;
GRANT SELECT ON dbo.k TO reader;
GO
"""

# statement, number, SQLSTATEs (where the two drivers differ, FreeTDS's comes second), a part of the text
ERRORS = [
    ("SELECT * FROM dbo.nowhere", 208, "42S02", "Invalid object name 'dbo.nowhere'."),
    ("SELECT nothing FROM dbo.k", 207, "42S22", "Invalid column name 'nothing'."),
    ("SELECT 1 FROM WHERE", 156, "42000 37000", "Incorrect syntax near the keyword 'WHERE'."),
    ("EXEC dbo.nowhere", 2812, "42000", "Could not find stored procedure 'dbo.nowhere'."),
    ("SELECT 1 / 0", 8134, "22012", "Divide by zero error encountered."),
    ("INSERT dbo.k VALUES (1, 1, '')", 2627, "23000", "Cannot insert duplicate key in object 'dbo.k'. The duplicate key value is (1)."),
    ("INSERT dbo.k (a) VALUES (3)", 515, "23000", "Cannot insert the value NULL into column 'b'"),
    ("INSERT dbo.k VALUES (3, -1, '')", 547, "23000", "conflicted with the CHECK constraint"),
    ("UPDATE dbo.k SET c = 'abcdef' WHERE a = 1", 2628, "42000 22001", "Truncated value: 'abcde'."),
    ("SELECT CAST(1000 AS tinyint)", 220, "22003 HY019", "Arithmetic overflow error for data type tinyint, value = 1000."),
    ("SELECT CAST(1e10 AS int)", 232, "22003 HY019", "Arithmetic overflow error for type int"),
    ("SELECT CAST('2024-13-01' AS date)", 241, "22007", "Conversion failed when converting date and/or time from character string."),
    ("SELECT CAST('abc' AS int)", 245, "22018", "Conversion failed when converting the varchar value 'abc' to data type int."),
    ("CREATE TABLE dbo.k (a int)", 2714, "42S01", "There is already an object named 'k' in the database."),
    ("INSERT dbo.k VALUES (1)", 213, "21S01", "Column name or number of supplied values does not match table definition."),
    ("DROP TABLE dbo.nowhere", 3701, "42S02", "Cannot drop the table 'dbo.nowhere'"),
    ("RAISERROR('boo %d', 16, 7, 5)", 50000, "42000", "boo 5"),
    ("THROW 51000, 'thrown', 3", 51000, "42000", "thrown"),
    ("BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH THROW END CATCH", 8134, "22012", "Divide by zero"),
    ("EXEC dbo.half", 50000, "42000", "half way"),
]


def every_error_has_its_number_state_and_text(case):
    for sql, number, state, text in ERRORS:
        case.fails(sql, number, state, text)
        assert case.value("SELECT 1") == 1


def an_error_behind_rows_and_in_a_parameter(case):
    case.fails("SELECT a, 1 / (2 - a) FROM dbo.k ORDER BY a", 8134, "22012", "Divide by zero")
    case.fails("SELECT CAST($ AS int)", 245, "22018", "Conversion failed when converting the", "abc")
    assert case.value("SELECT COUNT(*) FROM dbo.k") == 2


@only(*EVERY, autocommit=True)
def the_first_error_of_a_batch_is_told(case):
    case.fails("RAISERROR('first', 16, 1); RAISERROR('second', 16, 1)", 50000, "42000", "first")
    assert case.value("SELECT 1") == 1


@only(*EVERY, login=READER)
def what_is_not_granted_is_229(case):
    assert case.value("SELECT COUNT(*) FROM dbo.k") == 2
    case.fails("DELETE dbo.k", 229, "42000", "The DELETE permission was denied on the object 'k', database 'shop', schema 'dbo'.")
    case.connection.rollback()
    case.fails("SELECT * FROM dbo.hidden", 229, "42000", "The SELECT permission was denied on the object 'hidden'")


@only(*EVERY, autocommit=True)
def snapshot_where_it_is_off_is_3952(case):
    case.run("SET TRANSACTION ISOLATION LEVEL SNAPSHOT")
    case.fails("SELECT * FROM dbo.k", 3952, "42000", "Snapshot isolation transaction failed accessing database 'shop'")
    case.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
    assert case.value("SELECT COUNT(*) FROM dbo.k") == 2


@only(*EVERY, autocommit=True)
def a_lock_timeout_is_1222(case):
    with Case(case.client) as writer:
        writer.run("UPDATE dbo.k SET b = 5 WHERE a = 1")
        case.run("SET LOCK_TIMEOUT 50")
        case.fails("SELECT b FROM dbo.k WHERE a = 1", 1222, "42000 HYT00", "Lock request time out period exceeded.")
        assert case.value("SELECT b FROM dbo.k WHERE a = 2") == 2
        writer.connection.rollback()
    assert case.value("SELECT b FROM dbo.k WHERE a = 1") == 1


def a_deadlock_is_1205_and_the_victim_is_rolled_back(case):
    with Case(case.client) as other:
        other.run("SET DEADLOCK_PRIORITY HIGH")
        case.run("UPDATE dbo.k SET b = 7 WHERE a = 1")
        other.run("UPDATE dbo.k SET b = 8 WHERE a = 2")
        thread = threading.Thread(target=other.run, args=("UPDATE dbo.k SET b = 8 WHERE a = 1",))
        thread.start()
        with Case(case.client) as watcher:
            until(lambda: watcher.value("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id <> 0"), "the other session waits")
        case.fails("UPDATE dbo.k SET b = 7 WHERE a = 2", 1205, "40001 42000", "was deadlocked on lock resources with another process")
        thread.join(20)
        assert not thread.is_alive()
        assert other.rows("SELECT b FROM dbo.k ORDER BY a") == [(8,), (8,)]
        other.connection.rollback()
    try:
        case.connection.rollback()
    except case.client.Error as error:  # FreeTDS's driver rolls back what is rolled back, and is told so
        assert isinstance(case.client, PyodbcFreetds) and "(3903)" in error.args[1], error
    assert case.rows("SELECT b FROM dbo.k ORDER BY a") == [(1,), (2,)]


def state_of(error):
    """The SQLSTATE, or how mssql-python says it."""
    return getattr(error, "driver_error", error.args[0])


def is_cancelled(case, run, cancel):
    """`run` fails as cancelled once `cancel`, which runs beside it, has done so."""
    began, thread = time.monotonic(), threading.Thread(target=cancel)
    thread.start()
    try:
        run()
        raise AssertionError("it was not cancelled")
    except case.client.Error as error:
        assert state_of(error) == case.client.state("HY008"), error
    finally:
        thread.join()
    assert time.monotonic() - began < 15


@only(PyodbcFreetds, PyodbcMicrosoft, autocommit=True)
def a_cancel_ends_a_lock_wait(case):
    spid = case.value("SELECT @@SPID")
    with Case(case.client) as writer, Case(case.client, autocommit=True) as watcher:
        writer.run("UPDATE dbo.k SET b = 5 WHERE a = 1")

        def stop():
            until(lambda: watcher.value(f"SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id = {spid} AND blocking_session_id <> 0"), "it waits")
            case.cursor.cancel()

        is_cancelled(case, lambda: case.run("SELECT b FROM dbo.k WHERE a = 1"), stop)
        assert case.value("SELECT 5") == 5
        assert watcher.value(f"SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_session_id = {spid} AND request_status = 'WAIT'") == 0
        writer.connection.rollback()


@only(PyodbcFreetds, PyodbcMicrosoft, autocommit=True)
def a_cancel_in_a_fetch_leaves_a_connection_that_works(case):
    case.run("SELECT value, REPLICATE('x', 500) FROM GENERATE_SERIES(1, 10000000)")
    assert case.cursor.fetchone()[0] == 1
    case.cursor.cancel()
    case.cursor = case.connection.cursor()
    assert case.value("SELECT 5") == 5


@only(*EVERY, autocommit=True)
def a_result_that_is_not_read_to_its_end_does_not_matter(case):
    case.run("SELECT value, REPLICATE('x', 500) FROM GENERATE_SERIES(1, 200000)")
    assert case.cursor.fetchone()[0] == 1
    case.cursor.close()
    case.cursor = case.connection.cursor()
    assert case.value("SELECT 5") == 5


@only(*EVERY, autocommit=True, timeout=1)
def a_query_timeout_ends_the_statement(case):
    began = time.monotonic()
    try:
        case.run("WAITFOR DELAY '00:00:30'")
        raise AssertionError("it did not time out")
    except case.client.Error as error:
        assert isinstance(case.client, Pymssql) or state_of(error) == case.client.state("HYT00"), error
    except TimeoutError:
        assert isinstance(case.client, PythonTds)  # its socket's own
    assert 0.9 < time.monotonic() - began < 15
    if not isinstance(case.client, (Pymssql, PythonTds)):  # which give the connection up
        assert case.value("SELECT 5") == 5
    else:
        case.connection.close()
    with Case(case.client) as other:
        until(lambda: other.value("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE command = 'WAITFOR'") == 0, "nothing of it runs on")


def ends_the_connection(case, sql, number, text):
    """Of an error that the server calls severe Microsoft's driver keeps only that."""
    if isinstance(case.client, (PyodbcMicrosoft, MssqlPython)):
        number, text = 0, "Unspecified error occurred on SQL Server. Connection may have been terminated by the server."
    case.fails(sql, number, "42000 HY000", text)


@only(*EVERY, autocommit=True)
def a_killed_session_is_a_broken_connection(case):
    spid = case.value("SELECT @@SPID")
    with Case(case.client, autocommit=True) as killer:
        def stop():
            until(lambda: killer.value(f"SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id = {spid} AND command = 'WAITFOR'"), "it runs")
            killer.run(f"KILL {spid}")

        thread = threading.Thread(target=stop)
        thread.start()
        ends_the_connection(case, "WAITFOR DELAY '00:00:30'", 596, "Cannot continue the execution because the session is in the kill state.")
        thread.join()
        until(lambda: killer.value(f"SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE session_id = {spid}") == 0, "the session goes")
    for _ in range(2):  # FreeTDS needs the first to find out
        try:
            case.run("SELECT 1")
        except (case.client.Error, BrokenPipeError) as problem:
            error = problem
        else:
            raise AssertionError("the connection works")
    assert isinstance(case.client, (Pymssql, PythonTds)) or state_of(error) == case.client.state("08S01"), error


@only(*EVERY, autocommit=True)
def an_error_from_severity_20_on_ends_the_connection(case):
    ends_the_connection(case, "RAISERROR('fatal', 20, 1) WITH LOG", 50000, "fatal")


def a_wrong_password_is_18456_and_a_wrong_database_4060(case):
    try:
        case.client.connect(login=("sa", "wrong")).close()
    except case.client.Error as error:
        assert "Login failed for user 'sa'." in str(error), error
    else:
        raise AssertionError("it got in")


CASES = [every_error_has_its_number_state_and_text, an_error_behind_rows_and_in_a_parameter, the_first_error_of_a_batch_is_told, what_is_not_granted_is_229,
         snapshot_where_it_is_off_is_3952, a_lock_timeout_is_1222, a_deadlock_is_1205_and_the_victim_is_rolled_back, a_cancel_ends_a_lock_wait,
         a_cancel_in_a_fetch_leaves_a_connection_that_works, a_result_that_is_not_read_to_its_end_does_not_matter, a_query_timeout_ends_the_statement,
         a_killed_session_is_a_broken_connection, an_error_from_severity_20_on_ends_the_connection, a_wrong_password_is_18456_and_a_wrong_database_4060]

if __name__ == "__main__":
    sys.exit(main(CASES, EVERY, SCRIPT))
