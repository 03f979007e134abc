#!/usr/bin/env python3
"""Debezium's SQL Server connector, in its embedded engine, follows a tidesim: snapshots of every isolation mode, changes in both query
modes, key updates, types, a second capture instance, incremental snapshots, a restart in the middle of a transaction, and a writer
next to it. What its events add up to is compared with the source.

Prints TAP. `run` says what it needs; test_debezium.py [TEST...] runs some of them.
"""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server, equal, holds, main, test  # noqa: E402

CLASSPATH = os.environ.get("TIDELAKE_DEBEZIUM", "")
EVERYTHING = os.environ.get("INTEROP_ALL") == "1"
ORDERS = """
CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, status nvarchar(20) NOT NULL, total decimal(10,2) NULL);
INSERT INTO dbo.orders VALUES (1, N'new', 9.90), (2, N'paid', 120.00);
GO
ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON;
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
GO
"""


class Machine:
    """One Java machine for all engines: most of what an engine costs is starting it."""

    one = None

    def __init__(self):
        command = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m", "-cp", CLASSPATH, "Engines"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.ended, self.changed = {}, threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "ended":
                name, _, message = rest.partition(" ")
                with self.changed:
                    self.ended[name] = message
                    self.changed.notify_all()

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_ended(self, name, timeout=60):
        with self.changed:
            if not self.changed.wait_for(lambda: name in self.ended, timeout):
                raise AssertionError(f"the engine {name} did not end")
            return self.ended[name]


class Engine:
    """A connector with its offsets and history in `folder`; a second one there goes on where the first stopped."""

    count = 0

    def __init__(self, folder, server, tables="dbo.orders", limit=0, **properties):
        Engine.count += 1
        Machine.one = Machine.one or Machine()
        self.name = f"e{Engine.count}"
        self.events_file = folder / f"{self.name}.events"
        host, port = server.address.rsplit(":", 1)
        settings = {
            "name": self.name, "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
            "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore", "offset.storage.file.filename": folder / "offsets",
            "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory", "schema.history.internal.file.filename": folder / "history",
            "database.hostname": host, "database.port": port, "database.user": "sa", "database.password": PASSWORD, "database.names": "shop",
            "database.encrypt": "false", "topic.prefix": "t", "table.include.list": tables, "include.schema.changes": "false",
            "key.converter.schemas.enable": "false", "value.converter.schemas.enable": "false", "poll.interval.ms": "50",
            "decimal.handling.mode": "string", "errors.max.retries": "0"}
        settings["name"] = "connector"  # offsets are stored under it
        settings.update({key.replace("__", "."): value for key, value in properties.items()})
        file = folder / f"{self.name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        Machine.one.say(f"start {self.name} {file} {self.events_file} {limit}")

    def events(self):
        if not self.events_file.exists():
            return []
        text = self.events_file.read_text()
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def wait(self, done, timeout=60):
        """The events, once `done` of them holds."""
        end = time.monotonic() + timeout
        while True:
            events = self.events()
            if done(events):
                return events
            if self.name in Machine.one.ended:
                raise AssertionError(f"the engine ended: {Machine.one.ended[self.name]}")
            if time.monotonic() > end:
                raise AssertionError(f"after {len(events)} events nothing more came; the last: {events[-3:]}")
            time.sleep(0.05)

    def wait_count(self, count):
        return self.wait(lambda events: len(events) >= count)

    def stop(self):
        Machine.one.say(f"stop {self.name}")
        equal(Machine.one.wait_ended(self.name), "well", "how the engine ended")
        return self.events()


def start(folder, script=ORDERS, *options):
    init = folder / "init.sql"
    init.write_text(script)
    return Server(folder, "--capture-interval", "100ms", "--seed", "7", *options, init=[init])


def short(event):
    """What an event did: operation, key, row before and after."""
    value = event["value"]
    if value is None:
        return ("tombstone", event["key"])
    return (value["op"], event["key"], value["before"], value["after"])


def shorts(events):
    return [short(event) for event in events]


def position(event):
    source = event["value"]["source"]
    return source["commit_lsn"], source["change_lsn"], source["event_serial_no"]


def replay(events, overlaps=False):
    """The rows that are left when each event has been applied to those of before, keyed by the event's key. Every row before an
    event must be the one that was there, unless the snapshot `overlaps` the changes: it may have seen commits that capture had not."""
    rows = {}
    for event in events:
        value, key = event["value"], json.dumps(event["key"], sort_keys=True)
        if value is None:
            assert key not in rows, f"a tombstone for a row that is there: {event}"
        elif value["op"] in ("r", "c"):
            assert overlaps or value["op"] == "r" or key not in rows, f"a second row came: {event}"
            rows[key] = value["after"]
        elif value["op"] == "u":
            equal(overlaps or value["before"] == rows.get(key), True, f"row before {event}")
            rows[key] = value["after"]
        else:
            equal(rows.pop(key, None) == value["before"] or overlaps, True, f"row before {event}")
    return sorted(rows.values(), key=lambda row: row["id"])


def source_rows(server, columns="id, status, total", table="dbo.orders"):
    done = subprocess.run([str(pathlib.Path(os.environ["TIDELAKE_BUILD"]) / "tidesim"), "exec", "--server", server.address, "--database", "shop", "--json", "-"],
                          input=f"SELECT {columns} FROM {table} ORDER BY id", capture_output=True, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])["results"][0]
    return [dict(zip(result["columns"], row)) for row in result["rows"]]


def snapshot_and_stream(folder, isolation, mode):
    server = start(folder)
    try:
        engine = Engine(folder, server, snapshot__isolation__mode=isolation, data__query__mode=mode)
        engine.wait_count(2)
        server.sql("INSERT dbo.orders VALUES (3, N'new', NULL); UPDATE dbo.orders SET status = N'sent', total = 10 WHERE id = 1;\n"
                   "DELETE dbo.orders WHERE id = 2; UPDATE dbo.orders SET id = 30 WHERE id = 3;")
        engine.wait_count(9)
        events = engine.stop()
        one, two = {"id": 1, "status": "new", "total": "9.90"}, {"id": 2, "status": "paid", "total": "120.00"}
        three = {"id": 3, "status": "new", "total": None}
        equal(shorts(events),
              [("r", {"id": 1}, None, one), ("r", {"id": 2}, None, two), ("c", {"id": 3}, None, three),
               ("u", {"id": 1}, one, {"id": 1, "status": "sent", "total": "10.00"}), ("d", {"id": 2}, two, None), ("tombstone", {"id": 2}),
               ("d", {"id": 3}, three, None), ("tombstone", {"id": 3}), ("c", {"id": 30}, None, dict(three, id=30))], "events")
        changes = [position(event) for event in events[2:] if event["value"]]
        equal(sorted(changes, key=lambda at: at[:2]), changes, "order of the log")
        equal([event["value"]["source"]["snapshot"] for event in events[:3]], ["first", "last", "false"], "which belong to the snapshot")
        equal(replay(events), source_rows(server), "rows")
    finally:
        server.close()


@test
def a_read_committed_snapshot_and_direct_queries(folder):
    snapshot_and_stream(folder, "read_committed", "direct")


@test
def a_snapshot_in_a_snapshot_and_queries_by_function(folder):
    snapshot_and_stream(folder, "snapshot", "function")


@test
def an_exclusive_snapshot(folder):
    snapshot_and_stream(folder, "exclusive", "direct")


@test
def a_repeatable_read_snapshot(folder):
    snapshot_and_stream(folder, "repeatable_read", "function")


@test
def a_read_uncommitted_snapshot(folder):
    snapshot_and_stream(folder, "read_uncommitted", "direct")


TYPES = [  # type, literal, value as Debezium has it
    ("bit", "1", True), ("tinyint", "255", 255), ("smallint", "-32768", -32768), ("int", "2147483647", 2147483647),
    ("bigint", "-9223372036854775808", -9223372036854775808), ("real", "1.5", 1.5), ("float", "1.7976931348623157e308", 1.7976931348623157e308),
    ("decimal(38,10)", "-9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999"), ("numeric(5,2)", "999.99", "999.99"),
    ("money", "-922337203685477.5808", "-922337203685477.5808"), ("smallmoney", "214748.3647", "214748.3647"),
    ("date", "'9999-12-31'", 2932896), ("time(7)", "'23:59:59.9999999'", 86399999999900), ("time(3)", "'23:59:59.999'", 86399999),
    ("datetime", "'9999-12-31T23:59:59.997'", 253402300799997), ("smalldatetime", "'2079-06-06T23:59:00'", 3453321540000),
    ("datetime2(7)", "'2024-02-29T10:11:12.1234567'", 1709201472123456700), ("datetime2(3)", "'9999-12-31T23:59:59.999'", 253402300799999),
    ("datetimeoffset(7)", "'2024-02-29T10:11:12.1234567+14:00'", "2024-02-29T10:11:12.1234567+14:00"),
    ("char(5)", "'abc'", "abc  "), ("varchar(20)", "'x y'", "x y"), ("nchar(4)", "N'\u00fc'", "\u00fc   "), ("nvarchar(20)", "N'\u65e5\u672c \U0001f600'", "\u65e5\u672c \U0001f600"),
    ("binary(4)", "0xDEADBEEF", "deadbeef"), ("varbinary(10)", "0x0102", "0102"), ("uniqueidentifier", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
    ("varchar(max)", "REPLICATE(CAST('v' AS varchar(max)), 9000)", "v" * 9000), ("nvarchar(max)", "REPLICATE(CAST(N'\u0436' AS nvarchar(max)), 9000)", "\u0436" * 9000),
    ("varbinary(max)", "CAST(REPLICATE(CAST('b' AS varchar(max)), 9000) AS varbinary(max))", "62" * 9000), ("xml", "N'<a>1</a>'", "<a>1</a>")]


@test
def every_type_comes_through_a_snapshot_and_as_a_change(folder):
    columns = ", ".join(f"c{i} {kind[0]} NULL" for i, kind in enumerate(TYPES))
    values = ", ".join(kind[1] for kind in TYPES)
    server = start(folder, ORDERS + f"CREATE TABLE dbo.kinds (id int NOT NULL PRIMARY KEY, {columns});\nINSERT dbo.kinds VALUES (1, {values});\nINSERT dbo.kinds (id) VALUES (2);\nGO\n"
                   "EXEC sys.sp_cdc_enable_table N'dbo', N'kinds', @role_name = NULL;\nGO\n")
    try:
        engine = Engine(folder, server, "dbo.kinds", binary__handling__mode="hex")
        engine.wait_count(2)
        server.sql(f"INSERT dbo.kinds VALUES (3, {values}); INSERT dbo.kinds (id) VALUES (4);")
        engine.wait_count(4)
        for event in engine.stop():
            row = event["value"]["after"]
            for i, (kind, _, want) in enumerate(TYPES):
                equal(row[f"c{i}"], want if row["id"] % 2 == 1 else None, f"{kind} of row {row['id']}")
    finally:
        server.close()


@test
def a_column_is_added_and_the_second_capture_instance_takes_over(folder):
    server = start(folder)
    try:
        engine = Engine(folder, server, data__query__mode="function")  # which survives that an instance goes
        engine.wait_count(2)
        server.sql("ALTER TABLE dbo.orders ADD note nvarchar(20) NULL;\nGO\nINSERT dbo.orders VALUES (3, N'new', 1, N'not seen yet');")
        engine.wait_count(3)
        server.sql("EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @capture_instance = N'dbo_orders_v2', @role_name = NULL;\nGO\n"
                   "INSERT dbo.orders VALUES (4, N'new', 2, N'seen');")
        engine.wait_count(4)
        server.sql("EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N'orders', @capture_instance = N'dbo_orders';\nGO\n"
                   "UPDATE dbo.orders SET note = N'now' WHERE id = 3;")
        engine.wait_count(5)
        events = engine.stop()
        equal(shorts(events)[2:],
              [("c", {"id": 3}, None, {"id": 3, "status": "new", "total": "1.00"}), ("c", {"id": 4}, None, {"id": 4, "status": "new", "total": "2.00", "note": "seen"}),
               ("u", {"id": 3}, {"id": 3, "status": "new", "total": "1.00", "note": "not seen yet"}, {"id": 3, "status": "new", "total": "1.00", "note": "now"})], "events")
    finally:
        server.close()


@test
def a_signal_starts_an_incremental_snapshot(folder):
    server = start(folder, ORDERS + """
CREATE TABLE dbo.signals (id varchar(42) NOT NULL PRIMARY KEY, type varchar(32) NOT NULL, data varchar(2048) NULL);
CREATE TABLE dbo.items (id int NOT NULL PRIMARY KEY, name varchar(20) NOT NULL);
INSERT dbo.items SELECT value, CONCAT('item ', value) FROM GENERATE_SERIES(1, 50);
GO
EXEC sys.sp_cdc_enable_table N'dbo', N'signals', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N'items', @role_name = NULL;
GO
""")
    try:
        engine = Engine(folder, server, "dbo.items,dbo.signals", snapshot__mode="no_data", signal__data__collection="shop.dbo.signals", incremental__snapshot__chunk__size=7)
        server.sql("WAITFOR DELAY '00:00:02'; UPDATE dbo.items SET name = 'first' WHERE id = 1;")
        engine.wait_count(1)
        server.sql("""INSERT dbo.signals VALUES ('s1', 'execute-snapshot', '{"data-collections": ["shop.dbo.items"], "type": "incremental"}');""")
        engine.wait(lambda events: sum(event["value"] is not None and event["value"]["op"] == "r" for event in events) >= 50)
        server.sql("UPDATE dbo.items SET name = 'last' WHERE id = 50;")
        engine.wait(lambda events: any(event["topic"].endswith("items") and event["value"]["op"] == "u" and event["key"] == {"id": 50} for event in events))
        events = [event for event in engine.stop() if event["topic"].endswith(".items")]
        read = [event["value"]["after"] for event in events if event["value"]["op"] == "r"]
        equal(read, [{"id": i, "name": "first" if i == 1 else f"item {i}"} for i in range(1, 51)], "what was read in pieces")
        equal({event["value"]["source"]["snapshot"] for event in events if event["value"]["op"] == "r"}, {"incremental"}, "what the events say they are")
        equal([event["value"]["after"]["name"] for event in events if event["value"]["op"] == "u"], ["first", "last"], "changes around it")
    finally:
        server.close()


@test
def a_restart_in_the_middle_of_a_transaction_goes_on_behind_the_last_event(folder):
    for mode in ("direct", "function") if EVERYTHING else ("direct",):
        place = folder / mode
        place.mkdir()
        server = start(place)
        try:
            first = Engine(place, server, limit=2 + 17, data__query__mode=mode, max__batch__size=8)
            first.wait_count(2)
            server.sql("BEGIN TRANSACTION; INSERT dbo.orders SELECT value, N'many', value FROM GENERATE_SERIES(100, 129);\nUPDATE dbo.orders SET status = N'twice' WHERE id >= 120; COMMIT;")
            holds(Machine.one.wait_ended(first.name), "limit reached")
            equal(len(first.events()), 19, "events until it broke off")
            second = Engine(place, server, data__query__mode=mode)
            second.wait_count(23)
            server.sql("INSERT dbo.orders VALUES (500, N'later', NULL);")
            second.wait(lambda events: events[-1]["key"] == {"id": 500})
            events = first.events() + second.stop()
            equal(len(events), 2 + 30 + 10 + 1, "each event came once")
            equal(replay(events), source_rows(server), "rows")
        finally:
            server.close()


@test
def next_to_a_writer_the_events_add_up_to_the_source(folder):
    for mode in ("direct", "function") if EVERYTHING else ("direct",):
        place = folder / mode
        place.mkdir()
        server = start(place, ORDERS + "INSERT dbo.orders SELECT value, N'old', value FROM GENERATE_SERIES(10, 300);\nGO\n")
        try:
            seconds, rounds, stopped = (20 if EVERYTHING else 5), [], threading.Event()

            def write():
                while not stopped.is_set():
                    n = len(rounds)
                    server.sql(f"""BEGIN TRANSACTION; INSERT dbo.orders SELECT value, N'round {n}', {n} FROM GENERATE_SERIES({1000 + 10 * n}, {1009 + 10 * n});
UPDATE dbo.orders SET total = ISNULL(total, 0) + 1, status = N'{n}' WHERE id % 7 = {n % 7}; DELETE dbo.orders WHERE id % 31 = {n % 31}; COMMIT;
UPDATE dbo.orders SET id = id + 100000 WHERE id = {1003 + 10 * n};
BEGIN TRANSACTION; DELETE dbo.orders; ROLLBACK; UPDATE dbo.orders SET id = id + 1000000 WHERE id BETWEEN {1004 + 10 * n} AND {1006 + 10 * n};""")
                    rounds.append(n)

            writer = threading.Thread(target=write)
            writer.start()
            engine = Engine(place, server, data__query__mode=mode, snapshot__isolation__mode="snapshot")
            engine.wait_count(100)
            time.sleep(seconds)
            stopped.set()
            writer.join()
            server.sql("INSERT dbo.orders VALUES (99999999, N'end', NULL);")
            engine.wait(lambda events: events and events[-1]["key"] == {"id": 99999999}, 120)
            events = engine.stop()
            assert len(rounds) >= 3, f"only {len(rounds)} rounds were written"
            equal(replay(events, overlaps=True), source_rows(server), f"rows after {len(rounds)} rounds, {len(events)} events")
        finally:
            server.close()


if __name__ == "__main__":
    main()
