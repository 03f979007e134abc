"""What a login with few rights gets for each query, what versions of SQL Server lack, what reads wait for and see: through both drivers.

    tests/interop/run queries
"""
import threading
import time

from both import Both, Server, Session, equal, main, pyodbc, number, test
from clocks import ZERO, hexed

BIN = "CONVERT(binary(10), ?, 1)"
READER = {"user": "reader", "password": "Reader.Word.1"}


# --- least privilege ---

SETUP = """CREATE TABLE dbo.paid (id int NOT NULL PRIMARY KEY, name varchar(20) NULL, secret decimal(10,2) NULL, beside int NULL);
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'paid', @role_name = N'gate', @captured_column_list = N'id, name, secret', @supports_net_changes = 0;
INSERT dbo.paid VALUES (1, 'one', 1.5, 10), (2, 'two', 2.5, 20);
EXEC tidesim.scan_now;
GO
CREATE LOGIN reader WITH PASSWORD = 'Reader.Word.1';
CREATE USER reader FOR LOGIN reader;
GO
"""
GRANTS = {"table": ("GRANT SELECT ON dbo.paid TO reader", "REVOKE SELECT ON dbo.paid FROM reader"),
          "changes": ("GRANT SELECT ON cdc.dbo_paid_CT TO reader", "REVOKE SELECT ON cdc.dbo_paid_CT FROM reader"),
          "role": ("ALTER ROLE gate ADD MEMBER reader", "ALTER ROLE gate DROP MEMBER reader")}

FREE = {  # answered alike whatever is granted: (text, parameters, rows or None for anything that is no error)
    "Q01": ("SELECT d.is_cdc_enabled, ORIGINAL_LOGIN(), USER_NAME() FROM sys.databases AS d WHERE d.database_id = DB_ID()", (), [(True, "reader", "reader")]),
    "Q02": ("SELECT 1;", (), [(1,)]),
    "Q03": ("SELECT COALESCE(MAX(w.wait_time_ms), 0) AS ms FROM sys.dm_exec_session_wait_stats AS w WHERE w.session_id = @@SPID AND w.wait_type = N'ASYNC_NETWORK_IO'", (), None),
    "Q04": ("SELECT CAST(CURRENT_TIMEZONE_ID() AS nvarchar(128)) AS zone;", (), [("UTC",)]),
    "Q05": ("SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET())", (), [(0,)]),
    "Q06": ("SELECT CASE WHEN sys.fn_cdc_get_max_lsn() IS NULL THEN 0 ELSE 1 END", (), [(1,)]),
    "Q08": (f"SELECT CONVERT(char(22), sys.fn_cdc_increment_lsn({BIN}), 1)", (hexed(ZERO),), [("0x00000000000000000001",)]),
    "Q10": (f"SELECT COUNT(*) FROM (SELECT TOP (1) m.start_lsn, m.tran_end_time FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn <= {BIN} ORDER BY m.start_lsn DESC) AS x",
            ("0x" + "FF" * 10,), [(1,)]),
    "Q11": ("SELECT CONVERT(char(22), sys.fn_cdc_map_time_to_lsn(N'largest less than or equal', CONVERT(datetime2(0), ?, 126)), 1) AS lsn", ("1999-01-01T00:00:00",), [(None,)]),
    "Q12": (f"SELECT COUNT(*) FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn >= {BIN}", (hexed(ZERO),), [(2,)]),
    "Q32": ("SELECT s.transaction_isolation_level FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID;", (), [(2,)]),
    "gone": ("SELECT id FROM cdc.[dbo_none_CT]", (), 208), "functions only owners see": ("SELECT COUNT(*) FROM cdc.change_tables", (), 229)}

MINE = {
    "Q07": (f"SELECT CASE sys.fn_cdc_get_min_lsn(?) WHEN 0x00000000000000000000 THEN 'zero' ELSE 'set' END", ("dbo_paid",)),
    "Q15": ("WITH r AS (SELECT c.[__$start_lsn] AS l, NTILE(2) OVER (ORDER BY c.[__$start_lsn]) AS tile FROM cdc.[dbo_paid_CT] AS c) SELECT COUNT_BIG(*) FROM r", ()),
    "Q16": (f"SELECT c.id, c.name, c.secret FROM cdc.[dbo_paid_CT] AS c INNER JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] WHERE c.[__$start_lsn] >= {BIN} "
            "ORDER BY c.[__$start_lsn], c.[__$command_id]", (hexed(ZERO),)),
    "Q18": ("EXEC sys.sp_cdc_help_change_data_capture", ()),
    "Q19": ("EXEC sys.sp_cdc_help_change_data_capture @source_schema = ?, @source_name = ?", ("dbo", "paid")),
    "Q20": ("EXEC sys.sp_cdc_get_captured_columns @capture_instance = ?", ("dbo_paid",)),
    "Q21": ("EXEC sys.sp_cdc_get_ddl_history @capture_instance = ?", ("dbo_paid",)),
    "Q22": ("SELECT c.name FROM sys.columns AS c WHERE c.object_id = OBJECT_ID(QUOTENAME(?) + N'.' + QUOTENAME(?)) ORDER BY c.column_id", ("dbo", "paid")),
    "Q23": ("SELECT HAS_PERMS_BY_NAME(N'cdc.' + QUOTENAME(? + N'_CT'), N'OBJECT', N'SELECT') AS can_read, CASE sys.fn_cdc_get_min_lsn(?) WHEN 0x00000000000000000000 THEN 'zero' "
            "ELSE 'set' END", ("dbo_paid", "dbo_paid")),
    "L13": ("SELECT CASE WHEN sys.fn_cdc_get_min_lsn(?) > 0x00000000000000000000 THEN HAS_PERMS_BY_NAME(?, 'OBJECT', 'SELECT') END", ("dbo_paid", "cdc.[dbo_paid_CT]")),
    "Q24": ("SELECT (SELECT MIN(id) FROM dbo.paid) AS lo, (SELECT MAX(id) FROM dbo.paid) AS hi", ()),
    "Q25": ("EXEC sys.sp_spaceused @objname = ?", ("[dbo].[paid]",)),
    "Q26": ("SELECT x.b, COUNT_BIG(*) AS n FROM (SELECT CAST(t.id AS bigint) / 10 AS b FROM dbo.paid AS t) AS x GROUP BY x.b", ()),
    "Q27": ("SELECT TOP (1) t.[id] FROM dbo.paid AS t ORDER BY t.[id] DESC", ()),
    "Q28": ("SELECT u.id FROM (SELECT p.* FROM (SELECT TOP (2) t.id FROM dbo.paid AS t WHERE t.id >= CAST(? AS int) ORDER BY t.id) AS p) AS u ORDER BY u.id OFFSET 1 ROWS "
            "FETCH NEXT 1 ROWS ONLY", ("0",)),
    "Q29": ("SELECT t.id, t.name, t.secret FROM dbo.paid AS t WHERE t.id >= CAST(? AS int)", ("0",)),
    "Q30": ("WITH a AS (SELECT t.id, NTILE(2) OVER (ORDER BY t.id) AS [__$tile] FROM dbo.paid AS t) SELECT a.id FROM a WHERE a.[__$tile] > 1", ()),
    "Q31": ("SELECT COUNT_BIG(*) AS n FROM dbo.paid AS t", ())}

ALL = {"Q07": [("set",)], "Q15": [(2,)], "Q16": 2, "Q18": 1, "Q19": 1, "Q20": 3, "Q21": 0, "Q22": 4, "Q23": [(1, "set")], "L13": [(1,)], "Q24": [(1, 2)], "Q25": 1, "Q26": [(0, 2)],
       "Q27": [(2,)], "Q28": [(2,)], "Q29": 2, "Q30": [(2,)], "Q31": [(2,)]}
NO_CHANGES = {"Q15": 229, "Q16": 229, "Q23": [(0, "set")], "L13": [(0,)]}
UNSEEN = {"Q07": [("zero",)], "Q18": 0, "Q19": 22981, "Q20": 22981, "Q21": 22981, "Q23": [(1, "zero")], "L13": [(None,)]}
NO_TABLE = {**UNSEEN, "Q22": 0, "Q25": 15009, **{query: 229 for query in ("Q24", "Q26", "Q27", "Q28", "Q29", "Q30", "Q31")}}
NOTHING = {**NO_TABLE, **NO_CHANGES, "Q23": [(0, "zero")], "L13": [(None,)]}


def check_rights(reader, what, want):
    """`want`: rows, or a number: of rows below 200, else of the error."""
    for query, (sql, values, rows) in FREE.items():
        got = reader.fails(sql, values) if isinstance(rows, int) else reader.rows(sql, values)
        if rows is not None:
            equal(got, rows, f"{what}: {query}")
    for query, (sql, values) in MINE.items():
        expected = want[query]
        if isinstance(expected, int) and expected >= 200:
            equal(reader.fails(sql, values), expected, f"{what}: {query}")
            if expected == 229:
                name = "dbo_paid_CT" if query in ("Q15", "Q16") else "paid"
                assert all(f"'{name}'" in session.error for session in reader.sessions), [session.error for session in reader.sessions]
        else:
            got = reader.rows(sql, values)
            equal(len(got) if isinstance(expected, int) else got, expected, f"{what}: {query}")


@test
def each_query_needs_the_grants_it_says_and_no_other(_folder):  # 1.12
    server = Server()
    try:
        server.sql(SETUP)
        reader = Both(server, **READER)
        check_rights(reader, "no grant", {**ALL, **NOTHING})
        for grant, _ in GRANTS.values():
            server.sql(grant)
        check_rights(reader, "all grants", ALL)
        for name, want in (("table", {**ALL, **NO_TABLE}), ("changes", {**ALL, **NO_CHANGES}), ("role", {**ALL, **UNSEEN, "Q19": 0})):
            grant, revoke = GRANTS[name]
            server.sql(revoke)
            check_rights(reader, f"without {name}", want)
            server.sql(grant)
        # Columns alone: all that are captured are enough, fewer are not.
        server.sql(GRANTS["table"][1])
        server.sql("GRANT SELECT ON dbo.paid (id, name, secret) TO reader")
        check_rights(reader, "captured columns", {**ALL, "Q22": 3})
        equal(reader.fails("SELECT t.beside FROM dbo.paid AS t"), 230)
        server.sql("REVOKE SELECT ON dbo.paid (secret) FROM reader")
        check_rights(reader, "a captured column less", {**ALL, **UNSEEN, "Q19": 0, "Q22": 2, "Q29": 230})
        server.sql("GRANT SELECT ON dbo.paid TO reader; DENY SELECT ON dbo.paid (name) TO reader")
        check_rights(reader, "a column denied", {**ALL, **UNSEEN, "Q19": 0, "Q22": 3, "Q29": 230})
        server.sql("REVOKE SELECT ON dbo.paid (name) FROM reader")
        check_rights(reader, "all again", ALL)
        server.sql("DENY SELECT ON cdc.dbo_paid_CT TO reader")
        check_rights(reader, "changes denied", {**ALL, **NO_CHANGES})
        server.sql("REVOKE SELECT ON cdc.dbo_paid_CT FROM reader; ALTER LOGIN reader WITH DEFAULT_LANGUAGE = Portuguese")
        for session in reader.sessions:
            session.rows("SET LANGUAGE Portuguese")
            equal(session.fails(MINE["Q16"][0], MINE["Q16"][1]), 229)
            assert "negada" in session.error and "dbo_paid_CT" in session.error, session.error
        for table in ("captured_columns", "index_columns", "ddl_history", "change_tables"):
            equal(reader.fails(f"SELECT COUNT(*) FROM cdc.{table}"), 229, table)
        reader.close()
    finally:
        server.close()


@test
def an_instance_that_capture_has_not_reached_has_no_end(_folder):  # Q07: NULL or zero, as the server is
    for knob, want in (("null", None), ("zero", hexed(ZERO))):
        server = Server("--knob", f"min_lsn_before_capture={knob}")
        try:
            server.sql(SETUP.replace("EXEC tidesim.scan_now;", ""))
            for grant, _ in GRANTS.values():
                server.sql(grant)
            reader, sql = Both(server, **READER), "SELECT CONVERT(char(22), sys.fn_cdc_get_min_lsn(?), 1) AS min_lsn;"
            reader.check(sql, ["dbo_paid"], [(want,)])
            reader.check(sql, ["dbo_none"], [(hexed(ZERO),)])
            equal(len(reader.rows("EXEC sys.sp_cdc_help_change_data_capture")), 1)
            server.sql("EXEC tidesim.scan_now")
            (row,) = reader.table("EXEC sys.sp_cdc_help_change_data_capture")
            reader.check(sql, ["dbo_paid"], [(hexed(row["start_lsn"]),)])
            server.sql(GRANTS["role"][1])
            reader.check(sql, ["dbo_paid"], [(hexed(ZERO),)])
            reader.close()
        finally:
            server.close()


# --- versions ---

@test
def each_version_lacks_what_came_later(_folder):  # Q01, Q04, Q16; A19
    for year, major, level in ((2016, 13, 130), (2017, 14, 140), (2019, 15, 150), (2022, 16, 160), (2025, 17, 170)):
        server = Server("--server-version", str(year))
        try:
            both = Both(server)
            both.check("SELECT CAST(SERVERPROPERTY('ProductMajorVersion') AS int), d.compatibility_level FROM sys.databases AS d WHERE d.database_id = DB_ID()", [], [(major, level)])
            both.check("SELECT CASE WHEN CAST(SERVERPROPERTY('ProductMajorVersion') AS int) >= 16 OR CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 8) THEN 1 ELSE 0 END", [],
                       [(int(year >= 2022),)])
            assert str(both.value("SELECT @@VERSION")).startswith(f"Microsoft SQL Server {year} "), year
            for sql, since, error in (("SELECT CURRENT_TIMEZONE_ID()", 2022, 195), ("SELECT CASE WHEN 1 = 0 THEN CURRENT_TIMEZONE_ID() END", 2022, 195),
                                      ("SELECT CURRENT_TIMEZONE()", 2019, 195), ("SELECT COUNT(*) FROM GENERATE_SERIES(1, 3)", 2022, 208),
                                      ("SELECT STRING_AGG(name, ',') FROM sys.schemas", 2017, 195), ("SELECT CONCAT_WS(',', 'a', 'b')", 2017, 195),
                                      ("EXEC sp_columns_170 N'spt', NULL, NULL, NULL, 3", 2025, 2812)):
                equal(both.fails(sql), None if year >= since else error, f"{year}: {sql}")
            both.check("SELECT CONVERT(varchar(23), (CONVERT(datetime, ?, 126) AT TIME ZONE N'Central European Standard Time') AT TIME ZONE 'UTC', 126)", ["2026-10-25T02:30:00.007"],
                       [("2026-10-25T00:30:00.007",)])
            both.rows("SELECT COALESCE(MAX(w.wait_time_ms), 0) AS ms FROM sys.dm_exec_session_wait_stats AS w WHERE w.session_id = @@SPID AND w.wait_type = N'ASYNC_NETWORK_IO'")
            both.close()
        finally:
            server.close()


@test
def a_change_table_of_2016_may_lack_the_command_id(_folder):  # Q16, L12 without it
    for hidden in ("shown", "hidden"):
        server = Server("--server-version", "2016", "--knob", f"command_id_2016={hidden}")
        try:
            server.sql("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY);\nEXEC sys.sp_cdc_enable_db;\nGO\n"
                       "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL;\nINSERT dbo.t VALUES (1), (2);\nEXEC tidesim.scan_now;\nGO\n")
            both = Both(server)
            sql = ("SELECT c.[__$operation], c.id FROM cdc.[dbo_t_CT] AS c INNER JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] "
                   f"WHERE c.[__$start_lsn] >= {BIN} ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation]")
            if hidden == "hidden":
                equal(both.fails(sql, [hexed(ZERO)]), 207)
                sql = sql.replace("c.[__$command_id], ", "")
            both.check(sql, [hexed(ZERO)], [(2, 1), (2, 2)])
            both.close()
        finally:
            server.close()


# --- isolation and locks ---

CHUNK = "SELECT t.id, t.v FROM dbo.kept AS t WHERE t.id >= CAST(? AS int) AND t.id < CAST(? AS int)"
PLAIN = "SELECT t.id, t.v FROM dbo.kept AS t WHERE t.id >= 2 AND t.id < 5"
LEVEL = "SELECT s.transaction_isolation_level FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID"
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; "
RANGE = ["2", "5"]


class Later(threading.Thread):
    """A read in a thread of its own."""

    def __init__(self, session, sql, values):
        super().__init__(daemon=True)
        self.session, self.sql, self.values, self.got = session, sql, values, None
        self.start()

    def run(self):
        try:
            self.got = sorted(self.session.rows(self.sql, self.values))
        except pyodbc.Error as error:
            self.got = number(error)

    def result(self):
        self.join(20)
        assert not self.is_alive(), f"still waits: {self.sql}"
        return self.got


def waits_for(monitor, reader, writer):
    """Returns when the reader waits for the writer as sys.dm_exec_requests shows it."""
    seen = []
    for _ in range(200):
        seen = monitor.rows(f"SELECT r.status, r.wait_type, r.blocking_session_id FROM sys.dm_exec_requests AS r WHERE r.session_id = {reader.spid}")
        if seen == [("suspended", "LCK_M_S", writer.spid)]:
            return
        time.sleep(0.02)
    raise AssertionError(f"the reader does not wait: {seen}")


def locked_world():
    server = Server()
    server.sql("CREATE TABLE dbo.kept (id int NOT NULL PRIMARY KEY, v int NOT NULL);\nGO\nINSERT dbo.kept SELECT value, value * 10 FROM GENERATE_SERIES(1, 9);\nGO\n")
    return server, Both(server), Session(server, "FreeTDS")


@test
def a_chunk_waits_for_a_writer_and_reads_what_it_committed(_folder):  # 1.7
    server, both, writer = locked_world()
    try:
        rows = {2: 20, 3: 30, 4: 40}
        at = 0
        for session in both.sessions:
            for sql, values in ((CHUNK, RANGE), (PLAIN, ())):
                for end in ("COMMIT", "ROLLBACK"):
                    for change, after in ((f"UPDATE dbo.kept SET v = {at + 1} WHERE id = 3", {**rows, 3: at + 1}), ("DELETE dbo.kept WHERE id = 4", {2: rows[2], 3: rows[3]}),
                                          ("UPDATE dbo.kept SET id = 50 WHERE id = 2", {3: rows[3], 4: rows[4]})):
                        at += 1
                        writer.rows("BEGIN TRAN; " + change)
                        read = Later(session, sql, values)
                        waits_for(both.monitor, session, writer)
                        writer.rows(end)
                        want = after if end == "COMMIT" else rows
                        equal(read.result(), sorted(want.items()), f"{session.driver}: {change}, {end}")
                        writer.rows("DELETE dbo.kept WHERE id IN (2, 3, 4, 50); INSERT dbo.kept VALUES (2, 20), (3, 30), (4, 40)")
                    writer.rows("DELETE dbo.kept WHERE id = 4; BEGIN TRAN; INSERT dbo.kept VALUES (4, 44)")  # a row that is not there yet
                    read = Later(session, sql, values)
                    waits_for(both.monitor, session, writer)
                    writer.rows(end)
                    equal(read.result(), [(2, 20), (3, 30)] + ([(4, 44)] if end == "COMMIT" else []), f"{session.driver}: INSERT, {end}")
                    writer.rows("DELETE dbo.kept WHERE id = 4; INSERT dbo.kept VALUES (4, 40)")
            # A writer outside the range is nobody's business.
            writer.rows("BEGIN TRAN; UPDATE dbo.kept SET v = 0 WHERE id = 9")
            equal(sorted(session.rows(CHUNK, RANGE)), sorted(rows.items()))
            writer.rows("ROLLBACK")
    finally:
        writer.close()  # first: whoever waits for it goes on
        both.close()
        server.close()


@test
def a_lock_timeout_ends_the_read_alone_and_lasts_as_long_as_its_request(_folder):  # 1.2, 1.7
    server, both, writer = locked_world()
    try:
        writer.rows("BEGIN TRAN; UPDATE dbo.kept SET v = 0 WHERE id = 3")
        for session in both.sessions:
            for ms in (0, 150):
                for how in ({"kind": "varchar"}, {"way": "executesql"}, {}):
                    began = time.monotonic()
                    equal(session.fails(f"SET LOCK_TIMEOUT {ms}; " + CHUNK, RANGE, **how), 1222, session.driver)
                    took = (time.monotonic() - began) * 1000
                    assert ms <= took + 5 and took < ms + 5000, took
                    equal(session.rows("SELECT @@LOCK_TIMEOUT, @@TRANCOUNT"), [(-1, 0)], session.driver)
                equal(session.fails(f"SET LOCK_TIMEOUT {ms}; " + PLAIN), 1222, session.driver)
                equal(session.rows("SELECT @@LOCK_TIMEOUT"), [(ms,)], session.driver)
                equal(session.rows("SET LOCK_TIMEOUT -1; SELECT @@LOCK_TIMEOUT"), [(-1,)], session.driver)
            equal(session.rows(f"SET LOCK_TIMEOUT 0; {CHUNK}", ["5", "8"]), [(5, 50), (6, 60), (7, 70)])
        writer.rows("ROLLBACK")
    finally:
        writer.close()  # first: whoever waits for it goes on
        both.close()
        server.close()


@test
def snapshot_is_refused_until_allowed_then_reads_without_waiting(_folder):  # 1.7, Q32
    server, both, writer = locked_world()
    try:
        for session in both.sessions:
            for prefix in (SNAPSHOT, "SET LOCK_TIMEOUT 500; " + SNAPSHOT):
                for how in ({}, {"way": "executesql"}, {"kind": "varchar"}):
                    equal(session.fails(prefix + CHUNK, RANGE, **how), 3952, session.driver)
                    equal(session.rows(LEVEL), [(2,)], session.driver)
            equal(session.rows(SNAPSHOT + LEVEL), [(5,)])  # what touches no data is not refused
            equal(session.rows("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; " + LEVEL), [(2,)])
        server.sql("ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON")
        writer.rows("BEGIN TRAN; UPDATE dbo.kept SET v = 0 WHERE id = 3; DELETE dbo.kept WHERE id = 4")
        old = [(2, 20), (3, 30), (4, 40)]
        for session in both.sessions:
            for how in ({}, {"way": "executesql"}, {"kind": "varchar"}):
                equal(sorted(session.rows("SET LOCK_TIMEOUT 0; " + SNAPSHOT + CHUNK, RANGE, **how)), old, session.driver)
                equal(session.rows(SNAPSHOT + LEVEL + " AND 1 = CAST(? AS int)", ["1"], **how), [(5,)], session.driver)
                equal(session.rows(LEVEL), [(2,)], f"{session.driver}: the level of a request with parameters ends with it")
            equal(session.rows(SNAPSHOT + PLAIN), old, session.driver)
            equal(session.rows(LEVEL), [(5,)], f"{session.driver}: the level of a batch stays")
            equal(session.rows("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT 1"), [(1,)])
            equal(session.fails("SET LOCK_TIMEOUT 0; " + CHUNK, RANGE), 1222)
        writer.rows("COMMIT")
        for session in both.sessions:
            equal(session.rows(SNAPSHOT + CHUNK, RANGE), [(2, 20), (3, 0)])
        both.check("SELECT d.snapshot_isolation_state, d.is_read_committed_snapshot_on FROM sys.databases AS d WHERE d.database_id = DB_ID()", [], [(1, False)])
    finally:
        writer.close()  # first: whoever waits for it goes on
        both.close()
        server.close()


@test
def what_stands_before_a_select_is_no_result(_folder):  # 1.1, 1.2: the first result is the SELECT's, for a driver that looks at the first alone
    server, both, writer = locked_world()
    try:
        server.sql("ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON")
        for session in both.sessions:
            for sql, values in ((PLAIN, []), (CHUNK, RANGE)):
                for prefix in ("SET LOCK_TIMEOUT 500; ", SNAPSHOT, "SET LOCK_TIMEOUT 500; " + SNAPSHOT):
                    session.cursor.execute(prefix + sql, *values)
                    equal([tuple(row) for row in session.cursor.fetchall()], [(2, 20), (3, 30), (4, 40)], f"{session.driver}: {prefix}{sql}")
                    session.rows("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCK_TIMEOUT -1")
            session.rows("SET TEXTSIZE 2147483647 SET DEADLOCK_PRIORITY LOW")
            equal(session.rows("SELECT @@TEXTSIZE"), [(2147483647,)])
    finally:
        writer.close()
        both.close()
        server.close()


@test
def versions_under_read_committed_are_read_without_waiting(_folder):  # 1.7, RCSI
    server, both, writer = locked_world()
    try:
        server.sql("ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE", database="master")
        both.close()
        writer.close()
        both, writer = Both(server), Session(server, "FreeTDS")
        writer.rows("BEGIN TRAN; UPDATE dbo.kept SET v = 0 WHERE id = 3")
        for session in both.sessions:
            equal(sorted(session.rows("SET LOCK_TIMEOUT 0; " + CHUNK, RANGE)), [(2, 20), (3, 30), (4, 40)], session.driver)
            equal(session.rows(LEVEL), [(2,)])
        writer.rows("COMMIT")
        for session in both.sessions:
            equal(sorted(session.rows(CHUNK, RANGE)), [(2, 20), (3, 0), (4, 40)], session.driver)
    finally:
        writer.close()  # first: whoever waits for it goes on
        both.close()
        server.close()


if __name__ == "__main__":
    main()
