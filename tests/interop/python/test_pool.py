"""Pools of Python's clients on a tidesim of their own: a connection that is closed and asked for again is the same session, reset.

Prints TAP. Arguments choose clients and cases:

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_pool.py [CLIENT...] [CASE...]
"""
import logging
import sys

from clients import ADMIN, Case, MssqlPython, MssqlPythonEncrypted, PythonTds, main, only


logging.getLogger("pytds").setLevel(logging.ERROR)  # it does not know the acknowledgement of a reset


class PythonTdsPool(PythonTds):
    name = "python-tds, pooled"

    def connect(self, login=ADMIN, autocommit=False, timeout=0):
        import pytds

        self.Error = pytds.Error
        return pytds.connect(dsn=self.host, port=self.port, user=login[0], password=login[1], database="shop", autocommit=autocommit, pooling=True)


POOLED = (MssqlPython, MssqlPythonEncrypted, PythonTdsPool)
ASKED = "SELECT @@SPID, CAST(connect_time AS varchar(30)), client_net_address, client_tcp_port FROM sys.dm_exec_connections WHERE session_id = @@SPID"
SCRIPT = """CREATE TABLE dbo.k (a int NOT NULL PRIMARY KEY);
CREATE DATABASE other;
GO
"""


def again(case, **options):
    """Closes the case's connection and takes one from the pool."""
    case.connection.close()
    case.connection = case.client.connect(**options)
    case.cursor = case.connection.cursor()


@only(*POOLED, autocommit=True)
def a_connection_taken_again_is_the_same_socket(case):
    first = case.rows(ASKED)
    for _ in range(5):
        again(case, autocommit=True)
        assert case.rows(ASKED) == first


@only(*POOLED, autocommit=True)
def what_a_session_had_is_gone(case):
    spid = case.value("SELECT @@SPID")
    options = "SELECT @@OPTIONS, @@LOCK_TIMEOUT, @@DATEFIRST, @@TEXTSIZE, DB_NAME(), @@TRANCOUNT"
    before = case.rows(options)
    case.run("CREATE TABLE #t (a int)")
    case.run("SET LOCK_TIMEOUT 1234")
    case.run("SET XACT_ABORT ON; SET NOCOUNT ON; SET ARITHABORT ON; SET DATEFIRST 1; SET TEXTSIZE 100; SET QUOTED_IDENTIFIER OFF")
    case.run("EXEC sp_set_session_context N'key', N'value'")
    case.run("USE other")
    changed = case.rows(options)
    assert changed[0][1:5] == (1234, 1, 100, "other") and changed[0][0] != before[0][0], changed
    again(case, autocommit=True)
    assert case.value("SELECT @@SPID") == spid
    assert case.rows(options) == before, (case.rows(options), before)
    assert case.value("SELECT OBJECT_ID('tempdb..#t')") is None
    assert case.value("SELECT SESSION_CONTEXT(N'key')") is None
    case.run("CREATE TABLE #t (b int)")


@only(*POOLED)
def a_transaction_left_open_is_rolled_back(case):
    spid = case.value("SELECT @@SPID")
    case.run("INSERT dbo.k VALUES (1)")
    again(case)
    assert case.value("SELECT @@SPID") == spid
    with Case(case.client, autocommit=True) as other:
        assert other.value("SELECT @@SPID") != spid
        other.run("SET LOCK_TIMEOUT 2000")
        assert other.value("SELECT COUNT(*) FROM dbo.k") == 0
        assert other.value(f"SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_session_id = {spid} AND resource_type = 'KEY'") == 0


@only(PythonTdsPool, autocommit=True)
def the_isolation_level_is_kept(case):
    """mssql-python sets it anew for that very reason, so that its next user starts from READ COMMITTED."""
    level = "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
    assert case.value(level) == 2
    case.run("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
    again(case, autocommit=True)
    assert case.value(level) == 4
    case.run("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")


@only(MssqlPython, MssqlPythonEncrypted, autocommit=True)
def the_next_user_starts_from_read_committed(case):
    level = "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
    for _ in range(4):  # whichever of the pool it is
        assert case.value(level) == 2
        case.run("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        assert case.value(level) == 4
        again(case, autocommit=True)


@only(MssqlPython, MssqlPythonEncrypted, autocommit=True)
def a_pool_gets_over_a_session_that_was_killed(case):
    spid = case.value("SELECT @@SPID")
    case.connection.close()
    case.client.server.sql(f"KILL {spid}")
    case.connection = case.client.connect(autocommit=True)
    case.cursor = case.connection.cursor()
    assert case.value("SELECT 1") == 1


@only(MssqlPython, autocommit=True)
def two_at_once_are_two_sessions(case):
    with Case(case.client, autocommit=True) as other:
        assert other.value("SELECT @@SPID") != case.value("SELECT @@SPID")


@only(MssqlPythonEncrypted, autocommit=True)
def what_is_pooled_stays_encrypted(case):
    for _ in range(3):
        assert case.value("SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID") == "TRUE"
        again(case, autocommit=True)


CASES = [a_connection_taken_again_is_the_same_socket, what_a_session_had_is_gone, a_transaction_left_open_is_rolled_back, the_isolation_level_is_kept,
         the_next_user_starts_from_read_committed, a_pool_gets_over_a_session_that_was_killed, two_at_once_are_two_sessions, what_is_pooled_stays_encrypted]

if __name__ == "__main__":
    sys.exit(main(CASES, POOLED, SCRIPT))
