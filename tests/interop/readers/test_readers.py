"""Three readers that share no code with tidelake read every table after every step: rows, schema, comments, history.

deltalake (delta-rs), DuckDB's Delta extension (delta-kernel-rs) and PySpark with delta-spark. The truth for silver is what the
source was told; for the other tables the three must agree with each other and with tidelake's own reader.
"""
import datetime
import decimal
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import *  # noqa: E402,F403

import deltalake

from three import Duck, Spark, canonical, deltalake_rows, deltalake_schema

SETUP = """
CREATE TABLE dbo.kinds (
  id int NOT NULL PRIMARY KEY, c_bit bit NULL, c_tiny tinyint NULL, c_small smallint NULL, c_int int NULL, c_big bigint NULL,
  c_dec4 decimal(4,2) NULL, c_dec9 decimal(9,0) NULL, c_dec18 decimal(18,6) NULL, c_dec38 decimal(38,10) NULL, c_real real NULL, c_float float NULL,
  c_char char(5) NULL, c_varchar varchar(60) NULL, c_nchar nchar(4) NULL, c_nvarchar nvarchar(60) NULL, c_binary binary(4) NULL, c_varbinary varbinary(20) NULL,
  c_date date NULL, c_dt2 datetime2(7) NULL, c_dt0 datetime2(0) NULL, c_guid uniqueidentifier NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'kinds', @role_name = NULL;
GO
INSERT INTO dbo.kinds VALUES
 (1, 1, 255, 32767, 2147483647, 9223372036854775807, 99.99, 999999999, 999999999999.999999, 9999999999999999999999999999.9999999999, 3.4028234e38, 1.7976931348623157e308,
  'abcde', 'zz', N'ÄÖÜß', N'Ångström ☕ 🌊', 0xFFFFFFFF, 0x00FF, '9999-12-31', '9999-12-31T23:59:59.9999999', '9999-12-31T23:59:59', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'),
 (2, 0, 0, -32768, -2147483648, -9223372036854775808, -99.99, -999999999, -999999999999.999999, -9999999999999999999999999999.9999999999, -3.4028234e38, -1.7976931348623157e308,
  '', '', N'', N'', 0x00000000, 0x, '0001-01-01', '0001-01-01T00:00:00.0000000', '0001-01-01T00:00:00', '00000000-0000-0000-0000-000000000000'),
 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (4, 1, 1, 1, 1, 1, 0.01, 1, 0.000001, 0.0000000001, 1.5, 0.1, 'a b', 'quote '' and "', N'ta	x', N'line
feed', 0x00010203, 0x61, '1582-10-14', '1899-12-31T23:59:59.1234567', '2026-02-28T12:00:00', '6F9619FF-8B86-D011-B42D-00C04FC964FF');
GO
"""

D = decimal.Decimal
TRUTH = {  # rows 1 to 4 as a lake must hold them
    1: (True, 255, 32767, 2147483647, 9223372036854775807, D("99.99"), D("999999999"), D("999999999999.999999"), D("9999999999999999999999999999.9999999999"),
        3.4028234663852886e38, 1.7976931348623157e308, "abcde", "zz", "ÄÖÜß", "Ångström ☕ 🌊", b"\xff\xff\xff\xff", b"\x00\xff", datetime.date(9999, 12, 31),
        datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), datetime.datetime(9999, 12, 31, 23, 59, 59), "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"),
    2: (False, 0, -32768, -2147483648, -9223372036854775808, D("-99.99"), D("-999999999"), D("-999999999999.999999"), D("-9999999999999999999999999999.9999999999"),
        -3.4028234663852886e38, -1.7976931348623157e308, "     ", "", "    ", "", b"\0\0\0\0", b"", datetime.date(1, 1, 1), datetime.datetime(1, 1, 1),
        datetime.datetime(1, 1, 1), "00000000-0000-0000-0000-000000000000"),
    3: (None,) * 21,
    4: (True, 1, 1, 1, 1, D("0.01"), D("1"), D("0.000001"), D("0.0000000001"), 1.5, 0.1, "a b  ", "quote ' and \"", "ta\tx", "line\nfeed",
        b"\0\1\2\3", b"a", datetime.date(1582, 10, 14), datetime.datetime(1899, 12, 31, 23, 59, 59, 123456), datetime.datetime(2026, 2, 28, 12), "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
}

TABLES = ("bronze/kinds", "silver/kinds", "ops/facts", "ops/control")


def own_history(lake, table):
    return [(row[0], row[2], row[5]) for row in lake.history(table)]


def check_table(lake, table, spark, duck):
    path = str(lake.folder / table)
    if not (lake.folder / table / "_delta_log").exists():
        return
    by_deltalake, by_duckdb, by_spark = deltalake_rows(path), duck.rows(path), spark.rows(path)
    equal(by_duckdb, by_deltalake, f"{table}: rows in DuckDB and deltalake")
    equal(by_spark, by_deltalake, f"{table}: rows in Spark and deltalake")
    equal(len(by_spark), lake.query(table, "SELECT count(*) FROM t")[0][0], f"{table}: rows counted by tidelake")
    equal(deltalake_schema(path), spark.schema(path), f"{table}: schema in deltalake and Spark")
    equal(all(nullable for _, _, nullable, _ in spark.schema(path)), True, f"{table}: every column nullable")
    history = own_history(lake, table)
    equal(spark.history(path), history, f"{table}: history in Spark and tidelake")
    by_rs = [(entry["version"], entry["operation"], entry.get("userMetadata")) for entry in deltalake.DeltaTable(path).history()]
    equal(sorted(by_rs, reverse=True), history, f"{table}: history in deltalake and tidelake")


def check_silver(lake, duck, truth):
    result = duck.connection.execute(f"SELECT * EXCLUDE (_start_lsn, _commit_ts) FROM delta_scan('{lake.folder}/silver/kinds') ORDER BY id")
    rows = {row[0]: tuple(canonical(value) for value in row[1:]) for row in result.fetchall()}
    equal(rows, {key: tuple(canonical(value) for value in row) for key, row in truth.items()}, "silver and what the source was told")


@test
def every_reader_agrees_after_every_step(folder):
    spark, duck = Spark(), Duck()
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(SETUP)
        server.scan()
        lake, truth = Lake(folder / "lake", server), dict(TRUTH)
        lake.stream("dbo_kinds", "kinds", check=True)
        for step in range(6):  # one after the other the versions of bronze and facts pass 9, 10 and 11
            for change in range(7 if step == 1 else 1 if step else 0):
                key = 100 + 10 * step + change
                server.sql(f"INSERT INTO dbo.kinds (id, c_int, c_nvarchar) VALUES ({key}, {step}, N'step {step}'); UPDATE dbo.kinds SET c_int = {key} WHERE id = 3;")
                truth[key] = (None,) * 3 + (step,) + (None,) * 10 + (f"step {step}",) + (None,) * 6
                truth[3] = (None,) * 3 + (key,) + (None,) * 17
                server.scan()
                lake.stream("dbo_kinds", "kinds", check=True)
            lake.apply("dbo_kinds", "kinds", check=True)
            for table in TABLES:
                check_table(lake, table, spark, duck)
            check_silver(lake, duck, truth)
            print(f"# step {step}: bronze is at version {deltalake.DeltaTable(str(lake.folder / 'bronze/kinds')).version()}", flush=True)
        equal((lake.folder / "bronze/kinds/_delta_log/_last_checkpoint").exists(), True, "a checkpoint was written")
    finally:
        server.close()
        spark.session.stop()


@test
def a_reader_without_the_older_commits_starts_from_our_checkpoint(folder):
    duck = Duck()
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(SETUP)
        server.scan()
        lake = Lake(folder / "lake", server)
        lake.stream("dbo_kinds", "kinds", check=True)
        for step in range(12):
            server.sql(f"UPDATE dbo.kinds SET c_int = {step} WHERE id = 1;")
            server.scan()
            lake.stream("dbo_kinds", "kinds", check=True)
        path = lake.folder / "bronze/kinds"
        before = deltalake_rows(str(path))
        for version in range(10):
            (path / f"_delta_log/{version:020}.json").unlink()
        equal(deltalake_rows(str(path)), before, "deltalake from the checkpoint")
        equal(duck.rows(str(path)), before, "DuckDB from the checkpoint")
        equal(lake.query("bronze/kinds", "SELECT count(*) FROM t")[0][0], len(before), "tidelake from the checkpoint")
        lake.stream("dbo_kinds", "kinds", check=True)
    finally:
        server.close()


if __name__ == "__main__":
    main()
