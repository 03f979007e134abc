"""The statements of Debezium's SQL Server connector as its source has them, sent by the ODBC drivers: LSNs as varbinary(8000), names as
nvarchar, autocommit off, the database's name before every object, the same statement again and again.

    tests/interop/run queries
"""
import datetime
import decimal

from both import Server, Session, driver_strings, equal, main, test
from clocks import ZERO, stepped

OWN = "SELECT x.[__$start_lsn], x.[__$seqval], x.[__$operation], x.[__$update_mask], x.[id], x.[name], x.[amount]"
BEGIN = datetime.datetime(2026, 3, 1, 12)
world = {}


def open_world():
    if not world:
        server = Server("--clock", "virtual", "--time-zone", "Central European Standard Time")
        server.sql("EXEC tidesim.clock 'virtual', '2026-03-01T12:00:00';\nCREATE TABLE dbo.[order] (id int NOT NULL PRIMARY KEY, name nvarchar(20) NULL, amount decimal(10,2) NULL);\n"
                   "CREATE TABLE dbo.dezbz_signal (id varchar(42) PRIMARY KEY, type varchar(32) NOT NULL, data varchar(2048) NULL);\nEXEC sys.sp_cdc_enable_db;\nGO\n"
                   "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'order', @role_name = NULL;\nGO\n"
                   "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'dezbz_signal', @role_name = NULL;\nGO\n")
        steps = [("INSERT dbo.[order] VALUES (1, N'a', 1.5), (2, N'b', 2.5), (3, N'ç', NULL)", [(2, 1, "a", "1.50"), (2, 2, "b", "2.50"), (2, 3, "ç", None)]),
                 ("UPDATE dbo.[order] SET amount = 9 WHERE id = 2", [(3, 2, "b", "2.50"), (4, 2, "b", "9.00")]),
                 ("UPDATE dbo.[order] SET id = 30 WHERE id = 3", [(1, 3, "ç", None), (2, 30, "ç", None)]),
                 ("DELETE dbo.[order] WHERE id = 1", [(1, 1, "a", "1.50")]),
                 ("INSERT dbo.[order] SELECT value, N'many', value FROM GENERATE_SERIES(100, 139)", [(2, n, "many", f"{n}.00") for n in range(100, 140)])]
        world["changes"] = []
        for at, (sql, rows) in enumerate(steps):  # begun five seconds before they are committed
            server.sql(f"BEGIN TRAN; {sql}; EXEC tidesim.clock_advance 5000; COMMIT; EXEC tidesim.clock_advance 60000;")
            begun = BEGIN + datetime.timedelta(seconds=65 * at)
            world["changes"] += [(begun, (operation, key, name, amount and decimal.Decimal(amount))) for operation, key, name, amount in rows]
        server.sql("EXEC tidesim.scan_now;\nEXEC tidesim.idle_now;\nGO\n")
        world["server"] = server
        world["sessions"] = [Session(server, driver, autocommit=False) for driver in driver_strings(server)]
    return world


def everywhere(sql, values=(), times=4):
    """The rows through both drivers: by sp_executesql, then prepared, then executed again and again."""
    first = None
    for session in open_world()["sessions"]:
        for turn in range(times):
            got = session.rows(sql, values, way=("executesql", "prepexec", "execute", "execute")[turn])
            first = first if first is not None else got
            equal(got, first, f"{session.driver} {turn}: {sql}")
        session.connection.commit()
    return first


def mapping():
    return everywhere("SELECT start_lsn, tran_id FROM [shop].cdc.lsn_time_mapping ORDER BY start_lsn")


def commits():
    return [lsn for lsn, tran in mapping() if tran != b"\0"]


@test
def the_start_of_a_connector(_folder):  # B.4 validate, restart, snapshot's questions
    open_world()
    assert everywhere("SELECT @@VERSION")[0][0].startswith("Microsoft SQL Server 2022 ")
    equal(everywhere("SELECT name FROM sys.databases WHERE name = ?", ["shop"]), [("shop",)])
    equal(everywhere("SELECT name FROM sys.databases WHERE name = ?", ["SHOP"]), [("shop",)])
    equal(sorted(row[2] for row in everywhere("EXEC [shop].sys.sp_cdc_help_change_data_capture")), ["dbo_dezbz_signal", "dbo_order"])
    equal(everywhere("SELECT COUNT(*) FROM [shop].cdc.change_tables"), [(2,)])
    starts = everywhere("SELECT capture_instance, start_lsn FROM [shop].cdc.change_tables ORDER BY start_lsn")
    equal(everywhere("select min(start_lsn) from [shop].cdc.change_tables"), [(starts[0][1],)])
    lsns = [lsn for lsn, _ in mapping()]
    equal(everywhere("SELECT [shop].sys.fn_cdc_get_max_lsn()"), [(lsns[-1],)])
    for instance, lsn in starts:
        equal(everywhere("SELECT [shop].sys.fn_cdc_get_min_lsn(?)", [instance]), [(lsn,)])
    for lsn in lsns:
        equal(everywhere("SELECT [shop].sys.fn_cdc_increment_lsn(?)", [lsn]), [(stepped(lsn, 1),)])
    for text, kind, want in (("2024-02-29", "date", datetime.date(2024, 2, 29)), ("2024-02-29 03:04:05.678", "datetime", datetime.datetime(2024, 2, 29, 3, 4, 5, 677000)),
                             ("2024-02-29 03:04:05.678901", "datetime2", datetime.datetime(2024, 2, 29, 3, 4, 5, 678901)), ("03:04:05", "time", datetime.time(3, 4, 5)),
                             ("2024-02-29 03:04:31", "smalldatetime", datetime.datetime(2024, 2, 29, 3, 5))):
        equal(everywhere(f"SELECT PARSE(? AS {kind})", [text]), [(want,)], kind)
    assert everywhere("SELECT CASE WHEN s.[status]=4 THEN 1 ELSE 0 END AS isRunning FROM [shop].sys.dm_server_services s WHERE s.[servicename] LIKE N'SQL Server Agent (%';")[0][0] in (0, 1)
    assert len(everywhere("SELECT CONVERT(varchar(40), SYSDATETIMEOFFSET())")) == 1


@test
def instances_as_a_connector_finds_them(_folder):  # B.4 instances, new instances
    open_world()
    ids = dict(everywhere("SELECT capture_instance, object_id FROM [shop].cdc.change_tables"))
    columns = everywhere("SELECT object_id, column_name FROM [shop].cdc.captured_columns ORDER BY object_id, column_id")
    equal([name for at, name in columns if at == ids["dbo_order"]], ["id", "name", "amount"])
    query = ("WITH ordered_change_tables AS (SELECT ROW_NUMBER() OVER (PARTITION BY ct.source_object_id, ct.start_lsn ORDER BY ct.create_date DESC) AS ct_sequence, ct.* "
             "FROM [shop].cdc.change_tables AS ct WHERE ct.start_lsn <= ?) SELECT OBJECT_SCHEMA_NAME(source_object_id, DB_ID(?)), OBJECT_NAME(source_object_id, DB_ID(?)), "
             "capture_instance, object_id, start_lsn FROM ordered_change_tables WHERE ct_sequence = 1")
    lsns = [lsn for lsn, _ in mapping()]
    found = everywhere(query, [lsns[-1], "shop", "shop"])
    equal(sorted(row[:4] for row in found), [("dbo", "dezbz_signal", "dbo_dezbz_signal", ids["dbo_dezbz_signal"]), ("dbo", "order", "dbo_order", ids["dbo_order"])])
    first = min(row[4] for row in found)
    equal([row[4] for row in everywhere(query, [first, "shop", "shop"])], [first])
    equal(everywhere(query, [stepped(first, -1), "shop", "shop"]), [])
    rows = everywhere("SELECT * FROM [shop].cdc.change_tables WHERE start_lsn BETWEEN ? AND ?", [ZERO, lsns[-1]])
    equal(sorted((row[0], row[3]) for row in rows), sorted(ids.items(), key=lambda pair: pair[1]) and sorted((number, name) for name, number in ids.items()))
    equal([row[4] for row in sorted(rows, key=lambda row: row[4])], sorted(row[4] for row in found))
    equal(everywhere("SELECT * FROM [shop].cdc.change_tables WHERE start_lsn BETWEEN ? AND ?", [stepped(lsns[-1], 1), b"\xff" * 10]), [])


@test
def the_end_of_an_iteration(_folder):  # B.4
    lsns = commits()
    assert len(mapping()) > len(lsns), "no idle entry"
    equal(everywhere("SELECT MAX(start_lsn) FROM [shop].cdc.lsn_time_mapping WHERE tran_id <> 0x00"), [(lsns[-1],)])
    for n in (1, 3, 100):
        equal(everywhere("SELECT MAX(start_lsn) FROM (SELECT TOP (?) start_lsn FROM [shop].cdc.lsn_time_mapping WHERE tran_id <> 0x00 ORDER BY start_lsn) as next_lsns", [n]),
              [(lsns[:n][-1],)])
        for at in (0, 2, len(lsns) - 1):
            equal(everywhere("SELECT MAX(start_lsn) FROM (SELECT TOP (? + 1) start_lsn FROM [shop].cdc.lsn_time_mapping WHERE start_lsn >= ? AND tran_id <> 0x00 ORDER BY start_lsn) "
                             "as next_lsns", [n, lsns[at]]), [(lsns[at:at + n + 1][-1],)])
    jobs = everywhere("EXEC sys.sp_cdc_help_jobs")
    equal(sorted(row[1] for row in jobs), ["capture", "cleanup"])
    (scan,) = everywhere("SELECT TOP 1 start_lsn from sys.dm_cdc_log_scan_sessions ORDER BY session_id DESC")
    assert len(scan[0]) == 22 and scan[0].count(":") == 2, scan


CONDITION = ("((x.[__$start_lsn] = ? AND x.[__$seqval] = ? AND x.[__$operation] > ?) OR (x.[__$start_lsn] = ? AND x.[__$seqval] > ?) OR (x.[__$start_lsn] > ?)) "
             "AND x.[__$start_lsn] <= ?")
CHANGES = (OWN + ", TODATETIMEOFFSET(m.tran_begin_time, DATEPART(TZOFFSET, SYSDATETIMEOFFSET())) FROM [shop].cdc.[dbo_order_CT] AS x LEFT JOIN [shop].cdc.lsn_time_mapping m "
           f"ON x.[__$start_lsn] = m.[start_lsn] WHERE {CONDITION} ORDER BY x.[__$start_lsn], x.[__$command_id], x.[__$seqval], x.[__$operation]")
FUNCTION = (OWN + ", TODATETIMEOFFSET([shop].sys.fn_cdc_map_lsn_to_time(x.[__$start_lsn]), DATEPART(TZOFFSET, SYSDATETIMEOFFSET())) "
            f"FROM [shop].cdc.[fn_cdc_get_all_changes_dbo_order](?, ?, N'all update old') AS x WHERE {CONDITION} ORDER BY x.[__$start_lsn], x.[__$seqval], x.[__$operation]")


def position(lsn, seqval, operation, to):
    return [lsn, seqval, operation, lsn, seqval, lsn, to]


@test
def changes_are_read_on_from_any_position(_folder):  # B.4 changes, direct and by the function
    opened = open_world()
    lsns = commits()
    # Commits are the two enables' and then one for each step; rows come in the order they were written in.
    whole = everywhere(CHANGES, position(ZERO, ZERO, 0, lsns[-1]))
    equal([(row[7], (row[2], *row[4:7])) for row in whole], opened["changes"])
    masks = {row[2]: set() for row in whole}
    for row in whole:
        masks[row[2]].add(row[3])
    equal(masks, {1: {b"\x07"}, 2: {b"\x07"}, 3: {b"\x04"}, 4: {b"\x04"}})
    for at in range(0, len(whole), 3):
        lsn, seqval, operation = whole[at][:3]
        rest = [row for row in whole if (row[0] == lsn and row[1] == seqval and row[2] > operation) or (row[0] == lsn and row[1] > seqval) or row[0] > lsn]
        equal(everywhere(CHANGES, position(lsn, seqval, operation, lsns[-1]), times=3), rest)
        equal(everywhere(CHANGES.replace("SELECT ", "SELECT TOP 2 ", 1), position(lsn, seqval, operation, lsns[-1]), times=3), rest[:2])
    equal(everywhere(CHANGES.replace(" ORDER BY", " AND x.[__$operation] NOT IN (1, 3) ORDER BY"), position(ZERO, ZERO, 0, lsns[-1])), [row for row in whole if row[2] not in (1, 3)])
    # The function's time is the commit's, five seconds later.
    low = everywhere("SELECT [shop].sys.fn_cdc_get_min_lsn(?)", ["dbo_order"])[0][0]
    (begun, ended), = {(BEGIN, BEGIN + datetime.timedelta(seconds=5))}
    want = sorted((row[:7] + (row[7] + (ended - begun),) for row in whole), key=lambda row: row[:3])
    equal(everywhere(FUNCTION, [low, lsns[-1], *position(ZERO, ZERO, 0, lsns[-1])]), want)
    for session in opened["sessions"]:
        for name in ("fn_cdc_get_all_changes_dbo_none", "dbo_none_CT"):
            text = FUNCTION if name.startswith("fn") else CHANGES
            values = ([low, lsns[-1]] if name.startswith("fn") else []) + position(ZERO, ZERO, 0, lsns[-1])
            equal(session.fails(text.replace("fn_cdc_get_all_changes_dbo_order", name).replace("dbo_order_CT", name), values), 208)
            assert name in session.error, session.error
            session.connection.rollback()
        equal(session.fails(FUNCTION, [stepped(low, -1), lsns[-1], *position(ZERO, ZERO, 0, lsns[-1])]), 313)
        session.connection.rollback()


@test
def a_snapshot_under_locks_and_its_end(_folder):  # B.4 snapshot
    opened = open_world()
    server = opened["server"]
    other = Session(server, "FreeTDS")
    table = [(2, "b", decimal.Decimal("9.00")), (30, "ç", None)] + [(n, "many", decimal.Decimal(n)) for n in range(100, 140)]
    for session in opened["sessions"]:
        for level in ("REPEATABLE READ", "SERIALIZABLE"):
            session.rows(f"SET TRANSACTION ISOLATION LEVEL {level}")
            session.rows("SET LOCK_TIMEOUT 10000")
            session.rows("SAVE TRANSACTION debezium_schema_snapshot" if session.rows("SELECT @@TRANCOUNT")[0][0] else "BEGIN TRAN; SAVE TRANSACTION debezium_schema_snapshot")
            equal(session.rows("SELECT TOP(0) * FROM [shop].[dbo].[order] WITH (TABLOCKX)"), [])
            equal(session.names, ["id", "name", "amount"])
            equal(other.fails("SET LOCK_TIMEOUT 0; SELECT COUNT(*) FROM dbo.[order]"), 1222)
            if level == "REPEATABLE READ":
                session.rows("ROLLBACK TRANSACTION debezium_schema_snapshot")
            equal(session.rows("SELECT [id], [name], [amount] FROM [shop].[dbo].[order]"), table)
            session.connection.rollback()
            equal(other.rows("SET LOCK_TIMEOUT 0; SELECT COUNT(*) FROM dbo.[order]"), [(42,)])
        session.rows("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        session.rows("SET LOCK_TIMEOUT -1")
        session.connection.commit()
        equal(session.fails("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT [id] FROM [shop].[dbo].[order]"), 3952)
        session.connection.rollback()
        session.rows("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        session.connection.commit()
    for top, where, values, want in ((3, "", [], table[:3]), (5, "WHERE ([id] > ?) AND NOT ([id] > ?) ", [30, 103], table[2:6]), (5, "WHERE ([id] > ?) ", [139], [])):
        sql = f"SELECT TOP {top} [id], [name], [amount] FROM [shop].[dbo].[order] {where}ORDER BY [id]"
        equal(everywhere(sql, values), want)
        equal(everywhere(sql + " OPTION(RECOMPILE)", values), want)
    for at, session in enumerate(opened["sessions"]):
        for kind in ("snapshot-window-open", "snapshot-window-close"):
            session.rows("INSERT INTO [shop].[dbo].[dezbz_signal] VALUES (?, ?, ?)", [f"{at}-{kind}", kind, '{"openWindowTimestamp": 1}'])
        session.connection.commit()
    equal(everywhere("SELECT COUNT(*) FROM [shop].[dbo].[dezbz_signal]"), [(4,)])
    other.close()


if __name__ == "__main__":
    try:
        main()
    finally:
        if world:
            for opened_session in world["sessions"]:
                opened_session.close()
            world["server"].close()
