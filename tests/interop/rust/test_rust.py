#!/usr/bin/env python3
"""connectorx and rivet, which stand on tiberius, on a tidesim of their own. Prints TAP.

  tests/interop/rust/run [TEST...]
"""
import datetime
import decimal
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import uuid

import connectorx
import pyarrow
import pyarrow.parquet

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server, equal, holds, main, test  # noqa: E402

RIVET = str(pathlib.Path(sys.executable).parent / "rivet")
GUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
UTC = datetime.timezone.utc
LONG = 70000


def moment(*parts):
    return datetime.datetime(*parts)


# Type, two literals, what connectorx makes of them. It makes floats of money, gives
# decimals ten digits behind the point and has 28 in all, and reads neither xml nor sql_variant.
KINDS = [
    ("bit", ["1", "0"], [True, False]),
    ("tinyint", ["255", "0"], [255, 0]),
    ("smallint", ["32767", "-32768"], [32767, -32768]),
    ("int", ["2147483647", "-2147483648"], [2147483647, -2147483648]),
    ("bigint", ["9223372036854775807", "-9223372036854775808"], [9223372036854775807, -9223372036854775808]),
    ("real", ["1.25", "-3.4028234663852886E+38"], [1.25, -3.4028234663852886e38]),
    ("float", ["1.7976931348623157E+308", "-2.2250738585072014E-308"], [1.7976931348623157e308, -2.2250738585072014e-308]),
    ("decimal(18,4)", ["12345678901234.5678", "-0.0001"], [decimal.Decimal("12345678901234.5678"), decimal.Decimal("-0.0001")]),
    ("decimal(18,0)", ["999999999999999999", "-1"], [decimal.Decimal("999999999999999999"), decimal.Decimal(-1)]),
    ("numeric(5,2)", ["999.99", "-999.99"], [decimal.Decimal("999.99"), decimal.Decimal("-999.99")]),
    ("money", ["900719925474.0991", "-1.5"], [900719925474.0991, -1.5]),
    ("smallmoney", ["214748.3647", "-214748.3648"], [214748.3647, -214748.3648]),
    ("date", ["'9999-12-31'", "'0001-01-01'"], [datetime.date(9999, 12, 31), datetime.date(1, 1, 1)]),
    ("time(7)", ["'23:59:59.9999990'", "'00:00'"], [datetime.time(23, 59, 59, 999999), datetime.time()]),
    ("time(0)", ["'23:59:59'", "'00:00:01'"], [datetime.time(23, 59, 59), datetime.time(0, 0, 1)]),
    ("datetime", ["'9999-12-31T23:59:59.990'", "'1753-01-01T00:00:00'"], [moment(9999, 12, 31, 23, 59, 59, 990000), moment(1753, 1, 1)]),
    ("smalldatetime", ["'2079-06-06T23:59:00'", "'1900-01-01T00:00:00'"], [moment(2079, 6, 6, 23, 59), moment(1900, 1, 1)]),
    ("datetime2(7)", ["'9999-12-31T23:59:59.999999'", "'0001-01-01T00:00:00'"], [moment(9999, 12, 31, 23, 59, 59, 999999), moment(1, 1, 1)]),
    ("datetime2(0)", ["'2024-02-29T12:34:56'", "'1969-12-31T23:59:59'"], [moment(2024, 2, 29, 12, 34, 56), moment(1969, 12, 31, 23, 59, 59)]),
    ("char(5)", ["'abcde'", "''"], ["abcde", "     "]),
    ("varchar(8000)", ["REPLICATE('x', 8000)", "''"], ["x" * 8000, ""]),
    ("nchar(5)", ["N'ünïcö'", "N''"], ["ünïcö", "     "]),
    ("nvarchar(4000)", ["N'日本語 😀'", "N''"], ["日本語 😀", ""]),
    ("varchar(max)", ["REPLICATE(CAST('v' AS varchar(max)), 70000)", "''"], ["v" * LONG, ""]),
    ("nvarchar(max)", ["REPLICATE(CAST(N'ж' AS nvarchar(max)), 70000)", "N''"], ["ж" * LONG, ""]),
    ("binary(4)", ["0xDEADBEEF", "0x"], [b"\xde\xad\xbe\xef", bytes(4)]),
    ("varbinary(8000)", ["0x0102", "0x"], [b"\1\2", b""]),
    ("varbinary(max)", ["CAST(REPLICATE(CAST(CHAR(7) AS varchar(max)), 70000) AS varbinary(max))", "0x"], [b"\7" * LONG, b""]),
    ("uniqueidentifier", [f"'{GUID}'", "'00000000-0000-0000-0000-000000000000'"], [GUID, str(uuid.UUID(int=0))]),
    ("text", ["'some text'", "''"], ["some text", ""]),
    ("ntext", ["N'ж'", "N''"], ["ж", ""]),
    ("image", ["0x010203", "0x"], [b"\1\2\3", b""]),
]


def kinds_table(name):
    columns = ", ".join(f"c{i} {kind} NULL" for i, (kind, _, _) in enumerate(KINDS))
    rows = "".join(f"INSERT INTO {name} VALUES ({row}, {', '.join(literals[row] for _, literals, _ in KINDS)});\n" for row in (0, 1))
    return f"CREATE TABLE {name} (id int NOT NULL PRIMARY KEY, {columns});\n{rows}INSERT INTO {name} (id) VALUES (2);\n"


def url(server, scheme):
    return f"{scheme}://sa:{PASSWORD}@{server.address}/{server.database}"


def read(server, sql, **options):
    """The rows, as connectorx reads them."""
    source = url(server, "mssql") + "?encrypt=true&trust_server_certificate=true"
    return pyarrow.table(connectorx.read_sql(source, sql, return_type="arrow", **options))


def rivet(server, folder, *arguments, check=True):
    environment = dict(os.environ, DATABASE_URL=url(server, "sqlserver"), HOME=str(folder))
    done = subprocess.run([RIVET, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise AssertionError(f"rivet {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-3000:]}")
    return done


def follow(server, folder, checkpoint="place", *more):
    """One run of rivet from its checkpoint on: [(op, lsn, row)]."""
    output = rivet(server, folder, "cdc", "--source-env", "DATABASE_URL", "--capture-instance", "dbo_orders", "--checkpoint", checkpoint, *more).stdout
    return changes_of(output.splitlines())


def changes_of(lines):
    changes = [json.loads(line) for line in lines]
    return [(change["op"], change["pos"]["lsn"], tuple(change["before"] if change["op"] == "delete" else change["after"])) for change in changes]


ORDERS = """
CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, status nvarchar(20) NOT NULL, total decimal(10,2) NULL, at datetime2(3) NULL, amount bigint NULL,
  is_open bit NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
GO
"""


def change_rows(server):
    """What the change table holds, in the form of changes_of."""
    rows = read(server, "SELECT __$operation AS op, CONVERT(varchar(22), __$start_lsn, 2) AS lsn, id, status, CAST(total AS varchar(20)) AS total, "
                "CONVERT(varchar(23), at, 121) AS at, amount, is_open FROM cdc.dbo_orders_CT WHERE __$operation <> 3 "
                "ORDER BY __$start_lsn, __$seqval, __$operation").to_pylist()
    return [({1: "delete", 2: "insert", 4: "update"}[row["op"]], row["lsn"].lower(),
             (row["id"], row["status"], row["total"], row["at"], row["amount"], row["is_open"])) for row in rows]


class Writer(threading.Thread):
    """Changes dbo.orders until it is told to stop: some statements a transaction, some of them rolled back, keys changed too."""

    def __init__(self, server, seed):
        super().__init__(daemon=True)
        self.server, self.random, self.is_over, self.failure, self.next_id = server, random.Random(seed), threading.Event(), None, 1

    def statement(self):
        key, status = self.random.randrange(1, self.next_id + 1), self.random.choice(["new", "paid", "sent", "ж", ""])
        kind = self.random.randrange(6)
        if kind < 2:
            self.next_id += 1
            return (f"INSERT INTO orders VALUES ({self.next_id}, N'{status}', {self.random.choice(['NULL', '-1.50', '9999999.99'])}, "
                    f"{self.random.choice(['NULL', chr(39) + '2024-02-29T12:34:56.789' + chr(39)])}, {self.random.choice(['NULL', '-9223372036854775808'])}, 1)")
        if kind == 2:
            return f"DELETE FROM orders WHERE id = {key}"
        if kind == 3:
            self.next_id += 1
            return f"UPDATE orders SET id = {self.next_id} WHERE id = {key}"
        return f"UPDATE orders SET status = N'{status}', total = total + 0.01, is_open = 1 - is_open WHERE id % 7 = {key % 7}"

    def run(self):
        try:
            while not self.is_over.is_set():
                script = ""
                for _ in range(20):
                    end = "ROLLBACK" if self.random.randrange(5) == 0 else "COMMIT"
                    script += "BEGIN TRANSACTION; " + "; ".join(self.statement() for _ in range(self.random.randrange(1, 5))) + f"; {end};\n"
                self.server.sql(script + "UPDATE orders SET total = 0 WHERE total > 9000000;")
        except Exception as error:
            self.failure = error

    def stop(self):
        self.is_over.set()
        self.join(60)
        if self.failure:
            raise self.failure


@test
def connectorx_reads_every_type_that_it_knows(folder):
    (folder / "init.sql").write_text(kinds_table("dbo.kinds"))
    server = Server(folder, init=[folder / "init.sql"])
    try:
        table = read(server, "SELECT * FROM dbo.kinds ORDER BY id")
        equal(table.column_names, ["id"] + [f"c{i}" for i in range(len(KINDS))], "columns")
        for i, (kind, _, want) in enumerate(KINDS):
            equal(table.column(i + 1).to_pylist(), want + [None], kind)
        zoned = read(server, "SELECT CAST('2024-02-29T12:34:56.123456+05:30' AS datetimeoffset(7)) AS v").column(0).to_pylist()[0]
        # it adds the offset to a time that is UTC already
        equal(zoned.astimezone(UTC) in (datetime.datetime(2024, 2, 29, 7, 4, 56, 123456, UTC), datetime.datetime(2024, 2, 29, 1, 34, 56, 123456, UTC)), True, str(zoned))
    finally:
        server.close()


@test
def connectorx_reads_a_table_in_parts_at_once(folder):
    (folder / "init.sql").write_text("CREATE TABLE dbo.numbers (n int NOT NULL PRIMARY KEY, t nvarchar(40) NOT NULL);\n"
                                     "INSERT INTO dbo.numbers SELECT value, CONCAT(N'ж', value) FROM GENERATE_SERIES(1, 50000);\n")
    server = Server(folder, init=[folder / "init.sql"])
    try:
        table = read(server, "SELECT n, t FROM dbo.numbers", partition_on="n", partition_num=4)
        equal(sorted(table.column("n").to_pylist()), list(range(1, 50001)), "numbers")
        equal(all(t == f"ж{n}" for n, t in zip(table.column("n").to_pylist(), table.column("t").to_pylist())), True, "texts")
        equal(read(server, "SELECT n FROM dbo.numbers WHERE n < 0").num_rows, 0, "no rows")
        for sql, wanted in (("SELECT * FROM dbo.nowhere", "Invalid object name 'dbo.nowhere'"), ("SELECT n / 0 AS x FROM dbo.numbers", "Divide by zero")):
            try:
                read(server, sql)
            except Exception as error:
                holds(str(error), wanted)
            else:
                raise AssertionError(f"{sql} was not refused")
    finally:
        server.close()


@test
def rivet_follows_a_writer_to_the_rows_of_the_change_table(folder):
    (folder / "init.sql").write_text(ORDERS)
    server = Server(folder, "--capture-interval", "100ms", init=[folder / "init.sql"])
    try:
        writer, followed = Writer(server, int(os.environ.get("TIDELAKE_SEED", "17"))), []
        writer.start()
        deadline = time.monotonic() + 60
        while len(followed) < 1500 and time.monotonic() < deadline and not writer.failure:
            followed += follow(server, folder, "place", *([] if len(followed) % 2 else ["--max-events", "50"]))
        writer.stop()
        server.scan()
        followed += follow(server, folder)
        want = change_rows(server)
        equal(len(followed), len(want), "changes")
        equal([change for change in zip(followed, want) if change[0] != change[1]][:3], [], "changes that differ")
        equal(follow(server, folder), [], "news without a writer")
        equal(len(want) >= 500 and {op for op, _, _ in want} == {"insert", "update", "delete"}, True, f"{len(want)} changes")
    finally:
        server.close()


@test
def rivet_killed_amid_a_run_loses_nothing(folder):
    (folder / "init.sql").write_text(ORDERS)
    server = Server(folder, "--capture-interval", "manual", init=[folder / "init.sql"])
    try:
        server.sql("INSERT INTO orders SELECT value, N'new', value, NULL, value, 1 FROM GENERATE_SERIES(1, 3000);\n"
                   + "".join(f"UPDATE orders SET total = total + 1 WHERE id % 100 = {i};\n" for i in range(100)))
        server.scan()
        server.sql("EXEC tidesim.fault 'stall', '%SELECT * FROM cdc.fn_cdc_get_all_changes%', @at = 'row', @n = 2000, @ms = 60000")
        environment = dict(os.environ, DATABASE_URL=url(server, "sqlserver"))
        command = [RIVET, "cdc", "--source-env", "DATABASE_URL", "--capture-instance", "dbo_orders", "--checkpoint", "place"]
        with open(folder / "killed.out", "w") as output:
            killed = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.DEVNULL)
            time.sleep(2)
            equal(killed.poll(), None, "the run amid its rows")
            killed.send_signal(signal.SIGKILL)
            equal(killed.wait(), -signal.SIGKILL, "the run that was killed")
        want = change_rows(server)
        seen = changes_of(line for line in (folder / "killed.out").read_text().splitlines() if line.endswith("}"))
        again = follow(server, folder)
        equal(want[len(want) - len(again):], again, "the run after it")
        equal(len(seen) + len(again) >= len(want), True, f"{len(seen)} and {len(again)} of {len(want)} changes")
        equal(want[:len(seen)], seen, "the run that was killed")
    finally:
        server.close()


RIVET_TYPES = {"money": [decimal.Decimal("900719925474.0991"), decimal.Decimal("-1.5")], "smallmoney": [decimal.Decimal("214748.3647"), decimal.Decimal("-214748.3648")],
               "uniqueidentifier": [uuid.UUID(GUID), uuid.UUID(int=0)]}


def parquet_rows(folder):
    return [row for path in sorted(folder.rglob("*.parquet")) for row in pyarrow.parquet.read_table(path).to_pylist()]


def check_parquet(rows, names=None):
    equal([row["id"] for row in rows], [0, 1, 2], "keys")
    for i, (kind, _, want) in enumerate(KINDS):
        equal([row[f"c{i}"] for row in rows], RIVET_TYPES.get(kind, want) + [None], kind)


@test
def rivet_writes_changes_of_every_type_as_parquet(folder):
    script = kinds_table("dbo.kinds").split("\n", 1)
    (folder / "init.sql").write_text(f"{script[0]}\nGO\nEXEC sys.sp_configure 'max text repl size', -1; RECONFIGURE;\nGO\nEXEC sys.sp_cdc_enable_db;\nGO\n"
                                     "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'kinds', @role_name = NULL;\nGO\n" + script[1])
    server = Server(folder, "--capture-interval", "manual", init=[folder / "init.sql"])
    try:
        server.scan()
        rivet(server, folder, "cdc", "--source-env", "DATABASE_URL", "--capture-instance", "dbo_kinds", "--table", "dbo.kinds", "--output", "changes",
              "--checkpoint", "place")
        rows = parquet_rows(folder / "changes")
        equal([row["__op"] for row in rows], ["insert"] * 3, "operations")
        check_parquet(rows)
    finally:
        server.close()


EXPORT = """
source: {type: mssql, url_env: DATABASE_URL, tls: {mode: verify-full, ca_file: %s}}
exports:
  - name: %s
    table: dbo.%s
    format: parquet
    destination: {type: local, path: ./%s}
    %s
"""


def export(server, folder, name, table, *options):
    certificate = next(line.split()[-1] for line in (folder / "tidesim.err").read_text().splitlines() if "certificate" in line)
    (folder / f"{name}.yaml").write_text(EXPORT % (certificate, name, table, name, "\n    ".join(options)))
    done = rivet(server, folder, "run", "--config", f"{name}.yaml", "--json", *([] if "mode: cdc" in options else ["--validate", "--reconcile"]))
    return json.loads(done.stdout[done.stdout.index("{"):])


@test
def rivet_exports_a_table_whole_in_chunks_and_by_a_cursor(folder):
    (folder / "init.sql").write_text(kinds_table("dbo.kinds") + "CREATE TABLE dbo.many (id bigint NOT NULL PRIMARY KEY, t nvarchar(40) NOT NULL);\n"
                                     "INSERT INTO dbo.many SELECT value * 3, CONCAT(N'ж', value) FROM GENERATE_SERIES(1, 20000);\n")
    server = Server(folder, init=[folder / "init.sql"])
    try:
        equal(export(server, folder, "whole", "kinds", "mode: full")["total_rows"], 3, "rows")
        check_parquet(sorted(parquet_rows(folder / "whole"), key=lambda row: row["id"]))
        want = [(3 * n, f"ж{n}") for n in range(1, 20001)]
        for name, options in {"seeks": ["mode: chunked", "chunk_by_key: id", "chunk_size: 3000"],
                              "ranges": ["mode: chunked", "chunk_column: id", "chunk_size: 9000", "parallel: 2"]}.items():
            equal(export(server, folder, name, "many", *options)["total_rows"], 20000, name)
            equal(sorted((row["id"], row["t"]) for row in parquet_rows(folder / name)), want, name)
        for first, last in ((1, 20000), (20001, 20500), (None, None)):
            if first == 20001:
                server.sql("INSERT INTO dbo.many SELECT value * 3, CONCAT(N'ж', value) FROM GENERATE_SERIES(20001, 20500)")
            report = export(server, folder, "news", "many", "mode: incremental", "cursor_column: id")
            equal(report["total_rows"], last - first + 1 if first else 0, "news")
        equal(sorted(row["id"] for row in parquet_rows(folder / "news")), [3 * n for n in range(1, 20501)], "news")
    finally:
        server.close()


@test
def rivet_takes_a_baseline_and_then_the_changes(folder):
    (folder / "init.sql").write_text(ORDERS)
    server = Server(folder, "--capture-interval", "manual", init=[folder / "init.sql"])
    try:
        server.sql("INSERT INTO orders SELECT value, N'old', value, NULL, NULL, 1 FROM GENERATE_SERIES(1, 100)")
        server.scan()
        options = ["mode: cdc", "cdc: {checkpoint: ./place, until_current: true, initial: snapshot, capture_instance: dbo_orders}"]
        export(server, folder, "stream", "orders", *options)
        equal(sorted(row["id"] for row in parquet_rows(folder)), list(range(1, 101)), "the baseline")
        before = set(folder.rglob("*.parquet"))
        server.sql("UPDATE orders SET status = N'ж' WHERE id <= 3; DELETE FROM orders WHERE id = 100; INSERT INTO orders (id, status) VALUES (101, N'new')")
        server.scan()
        export(server, folder, "stream", "orders", *options)
        news = [row for path in sorted(set(folder.rglob("*.parquet")) - before) for row in pyarrow.parquet.read_table(path).to_pylist()]
        equal([(row["__op"], row["id"], row["status"]) for row in news],
              [("update", 1, "ж"), ("update", 2, "ж"), ("update", 3, "ж"), ("delete", 100, "old"), ("insert", 101, "new")], "the changes")
    finally:
        server.close()


if __name__ == "__main__":
    main()
