#!/usr/bin/env python3
"""SQLAlchemy, dlt, sling and ingestr on a tidesim of their own: what they read from the catalogue, write, and read back. Prints TAP.

  tests/interop/more/run [TEST...]
"""
import csv
import datetime
import decimal
import glob
import os
import pathlib
import sqlite3
import subprocess
import sys
import urllib.parse
import uuid

import dlt
import mssql_python_odbc
import pyarrow.parquet
import sling_linux_amd64
import sqlalchemy as sa
from dlt.sources.sql_database import sql_database

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server, equal, main, test  # noqa: E402

GUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
SETUP = f"""
CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, status nvarchar(20) NOT NULL CONSTRAINT df_status DEFAULT N'new', total decimal(10,2) NULL,
  at datetime2(3) NULL, big bigint NULL, is_open bit NULL, raw varbinary(20) NULL, g uniqueidentifier NULL, f float NULL, d date NULL,
  CONSTRAINT uq_status UNIQUE (status));
INSERT INTO dbo.orders (id, status, total) VALUES (1, N'old', 9.90), (2, N'paid', 120.00);
INSERT INTO dbo.orders VALUES (3, N'ж', -1.5, '2024-02-29T12:34:56.789', 9223372036854775807, 1, 0x0102, '{GUID}', 1.25, '2024-02-29');
CREATE TABLE dbo.lines (id int IDENTITY(5, 2) NOT NULL CONSTRAINT pk_lines PRIMARY KEY NONCLUSTERED, order_id int NOT NULL
  CONSTRAINT fk_order REFERENCES dbo.orders (id), qty int NOT NULL, twice AS qty * 2);
CREATE CLUSTERED INDEX ix_lines ON dbo.lines (order_id, qty DESC);
CREATE INDEX ix_qty ON dbo.lines (qty) INCLUDE (order_id);
INSERT INTO dbo.lines (order_id, qty) SELECT 1 + value % 3, value FROM GENERATE_SERIES(1, 5000);
GO
CREATE SCHEMA other;
GO
CREATE VIEW other.paid AS SELECT id, status FROM dbo.orders WHERE status = N'paid';
GO
"""
ORDERS = [
    (1, "old", decimal.Decimal("9.90"), None, None, None, None, None, None, None),
    (2, "paid", decimal.Decimal("120.00"), None, None, None, None, None, None, None),
    (3, "ж", decimal.Decimal("-1.50"), datetime.datetime(2024, 2, 29, 12, 34, 56, 789000), 2**63 - 1, True, b"\1\2", uuid.UUID(GUID), 1.25,
     datetime.date(2024, 2, 29)),
]


def start(folder):
    (folder / "init.sql").write_text(SETUP)
    return Server(folder, init=[folder / "init.sql"])


def engine(server, driver, **options):
    if driver == "pymssql":
        return sa.create_engine(f"mssql+pymssql://sa:{PASSWORD}@{server.address}/shop", **options)
    library = glob.glob(mssql_python_odbc.get_libs_dir() + "/linux/debian_ubuntu/x86_64/lib/libmsodbcsql-18*.so*")[0]
    string = {"FreeTDS": server.connection() + ";TDS_Version=7.4",
              "Microsoft": f"Driver={library};Server=tcp:{server.address.replace(':', ',')};UID=sa;PWD={PASSWORD};Database=shop;TrustServerCertificate=yes"}[driver]
    return sa.create_engine("mssql+pyodbc:///?odbc_connect=" + urllib.parse.quote(string), **options)


def each_engine(server):
    yield "pymssql", engine(server, "pymssql")
    yield "FreeTDS", engine(server, "FreeTDS", use_setinputsizes=False)  # its driver wants the lengths that pyodbc leaves out then
    yield "Microsoft", engine(server, "Microsoft")
    yield "Microsoft, arrays", engine(server, "Microsoft", fast_executemany=True)


@test
def sqlalchemy_reflects_tables_keys_and_indexes(folder):
    server = start(folder)
    try:
        for name, shop in each_engine(server):
            seen = sa.inspect(shop)
            equal((seen.get_table_names(), seen.get_view_names("other"), seen.has_table("nowhere"), seen.default_schema_name), (["lines", "orders"], ["paid"], False, "dbo"), name)
            columns = [(column["name"], str(column["type"].compile(shop.dialect)), column["nullable"], column["default"]) for column in seen.get_columns("orders")]
            equal(columns[:3], [("id", "INTEGER", False, None), ("status", "NVARCHAR(20) COLLATE SQL_Latin1_General_CP1_CI_AS", False, "(N'new')"),
                                ("total", "DECIMAL(10, 2)", True, None)], name)
            line = {column["name"]: column for column in seen.get_columns("lines")}
            equal((line["id"]["identity"], line["twice"]["computed"]["sqltext"]), ({"start": 5, "increment": 2}, "([qty]*(2))"), name)
            equal((seen.get_pk_constraint("lines")["name"], seen.get_pk_constraint("lines")["constrained_columns"]), ("pk_lines", ["id"]), name)
            equal([(key["name"], key["constrained_columns"], key["referred_table"], key["referred_columns"]) for key in seen.get_foreign_keys("lines")],
                  [("fk_order", ["order_id"], "orders", ["id"])], name)
            indexes = sorted((index["name"], index["column_names"], index["dialect_options"]["mssql_include"]) for index in seen.get_indexes("lines"))
            equal(indexes, [("ix_lines", ["order_id", "qty"], []), ("ix_qty", ["qty"], ["order_id"])], name)
            equal(seen.get_view_definition("paid", "other").startswith("CREATE VIEW other.paid"), True, name)
            shop.dispose()
    finally:
        server.close()


@test
def sqlalchemy_creates_writes_and_reads(folder):
    server = start(folder)
    try:
        for name, shop in each_engine(server):
            made = sa.MetaData()
            table = sa.Table("made", made, sa.Column("id", sa.Integer, primary_key=True), sa.Column("t", sa.Unicode(50)), sa.Column("n", sa.Numeric(20, 4)),
                             sa.Column("b", sa.Boolean), sa.Column("at", sa.DateTime), sa.Column("u", sa.Uuid), sa.Column("raw", sa.LargeBinary(100)),
                             sa.Column("long", sa.UnicodeText))
            made.create_all(shop)
            rows = [{"t": f"ж{k}", "n": decimal.Decimal(k) / 8, "b": k % 2 == 0, "at": datetime.datetime(2024, 2, 29, 12, 34, k % 60), "u": uuid.UUID(int=k),
                     "raw": bytes([k % 256]) * 90, "long": "ж" * 5000} for k in range(1, 301)]
            with shop.begin() as connection:
                equal(connection.execute(sa.insert(table).returning(table.c.id, sort_by_parameter_order=True), rows[:150]).scalars().all(), list(range(1, 151)), name)
                connection.execute(sa.insert(table), rows[150:299])
                equal(connection.execute(sa.insert(table), rows[299]).inserted_primary_key, (300,), name)
                got = connection.execute(sa.select(table).order_by(table.c.id)).mappings().all()
                equal([dict(row) for row in got], [{"id": k, **row} for k, row in enumerate(rows, 1)], name)
                equal(connection.execute(sa.select(table.c.id).order_by(table.c.id).offset(10).limit(2)).scalars().all(), [11, 12], name)
                equal(connection.execute(sa.update(table).where(table.c.id < 5).values(t="neu")).rowcount, 4, name)
                equal(connection.execute(sa.delete(table).where(table.c.id == 1).returning(table.c.t)).all(), [("neu",)], name)
                savepoint = connection.begin_nested()
                connection.execute(sa.delete(table))
                savepoint.rollback()
                equal(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar(), 299, name)
            for level in ("SERIALIZABLE", "READ UNCOMMITTED", "READ COMMITTED"):
                with shop.connect().execution_options(isolation_level=level) as connection:
                    equal(connection.get_isolation_level(), level, name)
            lines = sa.table("lines", sa.column("order_id"), sa.column("qty"))
            try:
                with shop.begin() as connection:
                    connection.execute(sa.insert(lines), {"order_id": 99, "qty": 1})
            except sa.exc.IntegrityError:
                pass
            else:
                raise AssertionError(f"{name}: an order that is not there")
            made.drop_all(shop)
            shop.dispose()
    finally:
        server.close()


@test
def dlt_loads_tables_whole_and_by_a_cursor(folder):
    server = start(folder)
    try:
        count = 5000
        for backend in ("sqlalchemy", "pyarrow"):
            lake = folder / backend
            pipeline = dlt.pipeline("shop_" + backend, destination=dlt.destinations.filesystem(bucket_url=lake.as_uri()), dataset_name="shop", pipelines_dir=str(folder / "pipelines"))

            def run():
                source = sql_database(f"mssql+pymssql://sa:{PASSWORD}@{server.address}/shop", table_names=["orders", "lines"], backend=backend, chunk_size=700)
                source.lines.apply_hints(incremental=dlt.sources.incremental("id"))
                source.orders.apply_hints(write_disposition="replace")
                pipeline.run(source, loader_file_format="parquet")

            def rows(table):
                return [row for path in sorted(lake.rglob(f"{table}/*.parquet")) for row in pyarrow.parquet.read_table(path).to_pylist()]

            run()
            equal([(row["id"], row["status"], row["total"], row["big"], row["f"], row["d"]) for row in rows("orders")],
                  [(row[0], row[1], row[2], row[4], row[8], row[9]) for row in ORDERS], backend)
            equal(sorted(row["id"] for row in rows("lines")), [5 + 2 * n for n in range(count)], backend)
            server.sql("INSERT INTO dbo.lines (order_id, qty) VALUES (1, 1), (2, 2)")
            run()
            count += 2
            equal(sorted(row["id"] for row in rows("lines")), [5 + 2 * n for n in range(count)], backend)
            equal(len(rows("orders")), 3, backend)
    finally:
        server.close()


@test
def sling_copies_tables_out_in_and_by_a_cursor(folder):
    server = start(folder)
    host, port = server.address.split(":")
    environment = dict(os.environ, HOME=str(folder), SHOP=f"{{type: sqlserver, host: {host}, port: {port}, user: sa, password: {PASSWORD}, database: shop, encrypt: disable}}")
    program = pathlib.Path(sling_linux_amd64.__file__).parent / "bin" / "sling-linux-amd64"
    program.chmod(0o755)

    def sling(*arguments):
        done = subprocess.run([str(program), "run", "--src-conn", "SHOP", *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"sling {' '.join(arguments)}: {done.stdout[-1500:]} {done.stderr[-1500:]}")

    try:
        sling("--src-stream", "dbo.orders", "--tgt-object", f"file://{folder}/orders.csv")
        with open(folder / "orders.csv", newline="") as file:
            got = list(csv.DictReader(file))
        equal([(row["id"], row["status"], row["total"], row["big"], row["g"], row["d"]) for row in got],
              [("1", "old", "9.90", "", "", ""), ("2", "paid", "120.00", "", "", ""), ("3", "ж", "-1.50", "9223372036854775807", GUID, "2024-02-29")], "csv")
        sling("--src-stream", "dbo.lines", "--tgt-conn", "SHOP", "--tgt-object", "other.lines", "--mode", "full-refresh")
        same = "SELECT id, order_id, qty, twice FROM dbo.lines EXCEPT SELECT id, order_id, qty, twice FROM other.lines"
        equal("(0 rows affected)" in server.sql(same), True, "a copy")
        server.sql("INSERT INTO dbo.lines (order_id, qty) VALUES (1, 10), (2, 20)")
        sling("--src-stream", "dbo.lines", "--tgt-conn", "SHOP", "--tgt-object", "other.lines", "--mode", "incremental", "--primary-key", "id", "--update-key", "id")
        equal("(0 rows affected)" in server.sql(same), True, "the news")
    finally:
        server.close()


@test
def ingestr_copies_tables(folder):
    server = start(folder)
    try:
        source = f"mssql://sa:{PASSWORD}@{server.address}/shop?encrypt=disable"
        for table in ("orders", "lines"):
            command = [str(pathlib.Path(sys.executable).parent / "ingestr"), "ingest", "--yes", "--source-uri", source, "--source-table", "dbo." + table,
                       "--dest-uri", f"sqlite:///{folder}/lake.db", "--dest-table", "main." + table]
            done = subprocess.run(command, cwd=folder, env=dict(os.environ, HOME=str(folder)), capture_output=True, text=True, timeout=120)
            equal(done.returncode, 0, done.stdout[-1500:] + done.stderr[-1500:])
        lake = sqlite3.connect(folder / "lake.db")
        equal(lake.execute("SELECT id, status, CAST(total AS real), big, f FROM orders ORDER BY id").fetchall(),
              [(row[0], row[1], float(row[2]), row[4], row[8]) for row in ORDERS], "orders")
        equal(lake.execute("SELECT COUNT(*), SUM(qty), SUM(twice), MIN(id) FROM lines").fetchall(), [(5000, 12502500, 25005000, 5)], "lines")
        lake.close()
    finally:
        server.close()


if __name__ == "__main__":
    main()
