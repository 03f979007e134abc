"""The Python library mssql-cdc-pyspark 0.8.0 on a tidesim: tables of every usual type, a writer, one Spark for all tests of a program."""
import datetime
import decimal
import glob
import logging
import os
import pathlib
import random
import sys
import tempfile
import threading
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server, equal  # noqa: E402,F401

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else Spark's workers run the system's Python
import pymssql  # noqa: E402

logging.getLogger("mssql_cdc").setLevel(logging.ERROR)

# Columns beside the key that every table of these tests has: the usual types, by name.
COLUMNS = """note nvarchar(40) NULL, code varchar(20) NULL, amount decimal(18,4) NULL, price money NULL, ratio float NULL, part real NULL,
    big bigint NULL, small smallint NULL, tiny tinyint NULL, yes bit NULL, day date NULL, moment time(7) NULL, at datetime2(6) NULL,
    old datetime NULL, zoned datetimeoffset(3) NULL, mark uniqueidentifier NULL, raw varbinary(30) NULL, body nvarchar(max) NULL, seen rowversion"""

SHAPES = {  # table: key columns with their types, a maker of the n-th key as T-SQL literals
    "parcel": ("id bigint NOT NULL", ["id"], lambda n: [str(n * 3 - 500)]),
    "stop": ("route varchar(12) COLLATE Latin1_General_CI_AS NOT NULL, seq int NOT NULL", ["route", "seq"],
             lambda n: [f"'{'abXY'[n % 4]}-{n // 40:03}'", str(n)]),
    "token": ("code uniqueidentifier NOT NULL", ["code"], lambda n: [f"'{uuid.UUID(int=n * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 2**128)}'"]),
    "crate": ("label varchar(16) COLLATE SQL_Latin1_General_CP1_CI_AS NOT NULL", ["label"], lambda n: [f"'{'a-' if n % 2 else 'aB'}{n * 7919 % 100003}'"]),
    "reading": ("at2 datetime2(3) NOT NULL", ["at2"],
                lambda n: [f"'{(datetime.datetime(2024, 1, 1) + datetime.timedelta(milliseconds=n * 86_399_001)).isoformat(timespec='milliseconds')}'"]),
}


def values(rng):
    """A row's values beside its key, as T-SQL literals, some of them NULL."""
    def maybe(text):
        return "NULL" if rng.random() < 0.1 else text
    day = datetime.date(2020, 1, 1) + datetime.timedelta(days=rng.randrange(3000))
    clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
    return [maybe(rng.choice(["N'plain'", "N'Łódź 大阪'", "N'🚚'", "N''", "N'o''neill'"])), maybe(rng.choice(["'x'", "''", "'trail  '"])),
            maybe(f"{decimal.Decimal(rng.randrange(-10**14, 10**14)) / 10000:.4f}"), maybe(f"{decimal.Decimal(rng.randrange(-10**9, 10**9)) / 10000:.4f}"),
            maybe(rng.choice(["0.1", "1e-300", "1.7976931348623157e308", "-12345.678901234567"])), maybe(rng.choice(["0.5", "-3.25", "0.1"])),
            maybe(str(rng.choice([2**63 - 1, -2**63, 7]))), maybe(str(rng.randrange(-2**15, 2**15))), maybe(str(rng.randrange(256))), maybe(rng.choice("01")),
            maybe(f"'{day}'"), maybe(f"'{clock}.{rng.randrange(10**7):07}'"), maybe(f"'{day}T{clock}.{rng.randrange(10**6):06}'"),
            maybe(f"'{day}T{clock}.{rng.randrange(1000):03}'"), maybe(f"'{day}T{clock}.{rng.randrange(1000):03}{rng.choice(['+00:00', '-03:00', '+05:45'])}'"),
            maybe(f"'{uuid.UUID(int=rng.getrandbits(128))}'"), maybe("0x" + rng.randbytes(rng.randrange(8)).hex()),
            maybe(rng.choice(["N'short'", "REPLICATE(CAST(N'ж' AS nvarchar(max)), 5000)"]))]


NAMES = [column.strip().split()[0] for column in COLUMNS.replace("18,4", "18.4").split(",")][:-1]


class Table:
    """A table of the database shop with a capture instance."""

    def __init__(self, server, name, rows, seed=1):
        self.server, self.name, self.instance, self.rng = server, name, f"dbo_{name}", random.Random(seed)
        key, self.keys, self.key = SHAPES[name]
        server.sql(f"CREATE TABLE dbo.{name} ({key}, {COLUMNS}, CONSTRAINT pk_{name} PRIMARY KEY ({', '.join(self.keys)}));\nGO\n"
                   f"IF (SELECT is_cdc_enabled FROM sys.databases WHERE name = DB_NAME()) = 0 EXEC sys.sp_cdc_enable_db;\nGO\n"
                   f"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'{name}', @role_name = NULL;\nGO\n")
        for first in range(0, rows, 100):
            server.sql(f"INSERT dbo.{name} ({', '.join(self.keys + NAMES)}) VALUES " +
                       ",\n".join(self.row(n) for n in range(first, min(rows, first + 100))) + ";")
        self.next = rows

    def row(self, n):
        return f"({', '.join(self.key(n) + values(self.rng))})"

    def where(self, n):
        return " AND ".join(f"{name} = {value}" for name, value in zip(self.keys, self.key(n)))

    def change(self, cursor):
        """One transaction: inserts, updates, deletes, a key that moves."""
        cursor.execute("BEGIN TRAN")
        for _ in range(self.rng.randrange(1, 5)):
            kind, n = self.rng.randrange(5), self.rng.randrange(self.next)
            if kind <= 1:
                cursor.execute(f"INSERT dbo.{self.name} ({', '.join(self.keys + NAMES)}) VALUES {self.row(self.next)}")
                self.next += 1
            elif kind == 2:
                name, value = self.rng.choice(list(zip(NAMES, values(self.rng))))
                cursor.execute(f"UPDATE dbo.{self.name} SET {name} = {value} WHERE {self.where(n)}")
            elif kind == 3:
                cursor.execute(f"DELETE dbo.{self.name} WHERE {self.where(n)}")
            else:
                moved = ", ".join(f"{name} = {value}" for name, value in zip(self.keys, self.key(self.next)))
                cursor.execute(f"UPDATE dbo.{self.name} SET {moved} WHERE {self.where(n)}")
                self.next += 1
        cursor.execute("COMMIT")

    def rows(self):
        """{key: row} as the source has it, in the types that Spark gives for what the library stores."""
        host, port = self.server.address.rsplit(":", 1)
        with pymssql.connect(host, "sa", PASSWORD, "shop", port=port) as connection, connection.cursor() as cursor:
            names = self.keys + NAMES + ["seen"]
            stored = {"zoned": "CAST(SWITCHOFFSET(zoned, 0) AS datetime2(3))", "moment": "CONVERT(varchar(16), moment) + '00'"}  # as the library stores them
            asked = [stored.get(name, name) for name in names]
            cursor.execute(f"SELECT {', '.join(asked)} FROM dbo.{self.name}")
            found = {}
            for row in cursor.fetchall():
                row = dict(zip(names, map(as_text, row)))
                found[tuple(row[key] for key in self.keys)] = row
            return found


def as_text(value):
    """Values as both sides can be compared: an instant in UTC, a decimal with its scale, bytes in hex."""
    if isinstance(value, (bytes, bytearray)):
        return "0x" + bytes(value).hex()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, uuid.UUID):
        return str(value).upper()
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, decimal.Decimal):
        return f"{value:.4f}"
    return value


class Writer(threading.Thread):
    """Changes tables until told to stop, and lets capture follow."""

    def __init__(self, server, tables, pause=0.1):
        super().__init__()
        self.server, self.tables, self.pause, self.error, self.commits = server, tables, pause, None, 0
        self.ends = threading.Event()
        self.start()

    def run(self):
        host, port = self.server.address.rsplit(":", 1)
        try:
            with pymssql.connect(host, "sa", PASSWORD, "shop", port=port, autocommit=True) as connection, connection.cursor() as cursor:
                while not self.ends.wait(self.pause):
                    for table in self.tables:
                        table.change(cursor)
                        self.commits += 1
        except Exception as error:  # told by stop()
            self.error = error

    def stop(self):
        self.ends.set()
        self.join()
        if self.error:
            raise self.error


class Spark:
    """One session for all tests."""

    session = None

    @classmethod
    def get(cls):
        if cls.session is None:
            from pyspark.sql import SparkSession

            settings = {
                "spark.driver.extraClassPath": ":".join(sorted(glob.glob(os.path.join(os.environ["TIDELAKE_JARS"], "*.jar")))),
                "spark.driver.memory": "1g", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                "spark.sql.codegen.wholeStage": "false", "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
                "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog", "spark.sql.session.timeZone": "UTC",
                "spark.sql.shuffle.partitions": "1", "spark.databricks.delta.snapshotPartitions": "1", "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false", "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="tidelake-spark-"),
            }
            builder = SparkSession.builder.master("local[2]").appName("tidelake interop")
            for key, value in settings.items():
                builder = builder.config(key, value)
            cls.session = builder.getOrCreate()
            cls.session.sparkContext.setLogLevel("OFF")
        return cls.session


class Library:
    """The library's operations on one table, in a lake below a folder."""

    def __init__(self, folder, table, **options):
        host, port = table.server.address.rsplit(":", 1)
        self.table, self.folder = table, folder
        self.bronze, self.silver, self.facts, self.control, self.report = (
            str(folder / name) for name in (f"bronze/{table.name}", f"silver/{table.name}", "ops/facts", "ops/control", "ops/report"))
        self.app_id = f"{table.name}-v1"
        self.options = {"connectionString": f"Server=tcp:{host},{port};Database=shop;UID=sa;PWD={PASSWORD};Encrypt=no;", "captureInstance": table.instance,
                        "numPartitions": "2", "metricsPath": str(folder / "metrics"), **options}

    def stream(self, **how):
        from mssql_cdc import stream

        query = stream(Spark.get(), self.options).to_delta(self.bronze, self.app_id, str(self.folder / "checkpoint" / self.table.name), facts_table=self.facts,
                                                           trigger={"availableNow": True}, bootstrap=True, **how)
        query.awaitTermination()
        return query.lastProgress

    def backfill(self, **how):
        from mssql_cdc import stream

        return stream(Spark.get(), self.options).backfill(self.bronze, app_id=self.app_id, facts_table=self.facts, **how)

    def apply(self):
        from mssql_cdc import apply_changes

        return apply_changes(Spark.get(), self.bronze, self.silver, capture_instance=self.table.instance, control_table=self.control, facts_table=self.facts,
                             options=self.options)

    def reconcile(self):
        from mssql_cdc import reconcile

        return reconcile(Spark.get(), self.options, self.silver, bronze=self.bronze, control_table=self.control, facts_table=self.facts,
                         report_table=self.report, bucket_rows=100, sample=1.0, seed=1)

    def rows(self):
        frame = Spark.get().read.format("delta").load(self.silver).select(*self.table.keys, *NAMES, "seen")
        found = {}
        for row in frame.collect():
            row = {name: as_text(value) for name, value in row.asDict().items()}
            found[tuple(row[key] for key in self.table.keys)] = row
        return found

    def equals_source(self):
        got, want = self.rows(), self.table.rows()
        equal(sorted(map(str, got)), sorted(map(str, want)), f"keys of {self.table.name}")
        for key, row in want.items():
            equal(got[key], row, f"{self.table.name} {key}")


def started(folder, *options):
    return Server(folder, "--capture-interval", "100ms", *options)
