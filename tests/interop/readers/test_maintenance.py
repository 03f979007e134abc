"""tidelake maintains tables that Spark wrote: checkpoints, log cleanup, OPTIMIZE and VACUUM leave every row to every reader.

After each step Spark, DuckDB's Delta extension, deltalake (where it can read the table) and tidelake itself must see the rows that Spark saw
before, and Spark must be able to go on writing.
"""
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import *  # noqa: E402,F403

import duckdb  # noqa: E402
import duckdb_extension_delta  # noqa: E402
import deltalake  # noqa: E402

from spark_session import open_session  # noqa: E402

DAY = 86400


def rows_of(*arguments):
    """What a tidelake command prints, a list a row."""
    return json.loads(tidelake("table", *arguments, "--json", check=True).stdout)["rows"]


def by_tidelake(path):
    """As Spark writes them."""
    form = "'%Y-%m-%d %H:%M:%S.%f'"
    select = f'SELECT id, name, amount::VARCHAR, strftime("at", {form}), strftime("local", {form}) FROM t ORDER BY id'
    return [(key, name, amount, at.rstrip("0").rstrip("."), local.rstrip("0").rstrip(".")) for key, name, amount, at, local in rows_of("sql", path, select)]


def same(got, want, what):
    """As `equal`, without printing a table."""
    if got != want:
        missing, more = [row for row in want if row not in got], [row for row in got if row not in want]
        equal((len(got), more[:3], missing[:3]), (len(want), [], []), what)


class Readers:
    def __init__(self):
        self.spark = open_session()
        self.duck = duckdb.connect()
        folder = os.path.dirname(duckdb_extension_delta.__file__)
        self.duck.execute(f"LOAD '{folder}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")
        self.duck.execute("SET timezone='UTC'")

    def by_spark(self, path, version=None, where="true"):
        self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        reader = self.spark.read.format("delta")
        frame = (reader if version is None else reader.option("versionAsOf", version)).load(path).where(where)
        select = ["id", "name", "CAST(amount AS STRING)", "CAST(at AS STRING)", "CAST(local AS STRING)"]
        return sorted(tuple(row) for row in frame.selectExpr(*select).collect())

    def check(self, path, want, vectors, what, by_key=False):
        some = want[len(want) // 2][0]
        print(f"# {what}", flush=True)
        same(self.by_spark(path), want, f"{what}: Spark")
        if by_key:  # statistics choose the files
            same(self.by_spark(path, where=f"id = {some}"), [row for row in want if row[0] == some], f"{what}: Spark, one key")
        ids = [row[0] for row in want]
        same([row[0] for row in self.duck.execute(f"SELECT id FROM delta_scan('{path}') ORDER BY id").fetchall()], ids, f"{what}: DuckDB")
        same(self.duck.execute(f"SELECT name FROM delta_scan('{path}') WHERE id = {some}").fetchall(), [(row[1],) for row in want if row[0] == some],
              f"{what}: DuckDB, one key")
        if not vectors:
            table = deltalake.DeltaTable(path).to_pyarrow_table(columns=["id", "amount"]).to_pylist()
            same(sorted((row["id"], f"{row['amount']:f}") for row in table), [(row[0], row[2]) for row in want], f"{what}: deltalake")
        same(by_tidelake(path), want, f"{what}: tidelake")


def write(readers, path, first, count, files, vectors, struct_stats):
    frame = readers.spark.range(first, first + count, 1, files).selectExpr(
        "id", "concat('name ', id) AS name", "CAST(id AS DECIMAL(38,10)) / 7 AS amount",
        "timestamp_micros(1767225600123456 + id * 86400000001) AS at", "CAST(timestamp_micros(id * 1000001) AS TIMESTAMP_NTZ) AS local")
    frame = frame.withColumn("amount", frame.amount.cast("decimal(38,10)"))
    writer = frame.write.format("delta").mode("append").option("delta.enableDeletionVectors", str(vectors).lower())
    if struct_stats:
        writer = writer.option("delta.checkpoint.writeStatsAsStruct", "true").option("delta.checkpoint.writeStatsAsJson", "false")
    writer.save(path)


def age(path, days, pattern):
    """Makes files as old as that."""
    then = time.time() - days * DAY
    for file in pathlib.Path(path).glob(pattern):
        os.utime(file, (then, then))


def log_names(path):
    return sorted(file.name for file in pathlib.Path(path, "_delta_log").iterdir())


def live_files(path):
    return {row[0] for row in rows_of("files", path)}


def maintain(readers, path, vectors, struct_stats):
    for step in range(3):
        write(readers, path, step * 100, 100, 2, vectors, struct_stats)
    readers.spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 10 = 3")
    want = readers.by_spark(path)
    before = rows_of("history", path)[0][0]
    tidelake("table", "checkpoint", path, check=True)
    name = f"{before:020}.checkpoint.parquet"
    equal(name in log_names(path), True, "the checkpoint is there")
    equal(json.loads(pathlib.Path(path, "_delta_log/_last_checkpoint").read_text())["version"], before, "_last_checkpoint")
    readers.check(path, want, vectors, "after our checkpoint")

    # what Spark makes of its own log when ours is all there is of the past
    age(path, 40, "_delta_log/*")
    age(path, 40, "_delta_log/.*")
    write(readers, path, 600, 10, 1, vectors, False)
    want = by_tidelake(path)
    tidelake("table", "checkpoint", path, check=True)
    left = log_names(path)
    equal([name for name in left if name.endswith(".json")], [f"{version:020}.json" for version in (before, before + 1)], "commits that are left")
    equal([name for name in left if name.endswith("checkpoint.parquet")],
          [f"{version:020}.checkpoint.parquet" for version in (before, before + 1)], "checkpoints that are left")
    readers.check(path, want, vectors, "after our log cleanup", by_key=True)
    refused = tidelake("table", "cat", path, "--version", "0")
    equal(refused.code, 1, "a version that is gone")
    holds(refused.stderr, "DELTA-L03")

    old = live_files(path)
    result = rows_of("optimize", path)[0]
    equal((result[2], result[4]), (len(old), 1), "files before and after optimize")
    readers.check(path, want, vectors, "after our optimize", by_key=True)
    same(readers.by_spark(path, version=before + 1), want, "Spark, the version before")
    equal(rows_of("files", path)[0][2], len(want), "deleted rows are gone")

    equal(rows_of("vacuum", path, "--dry-run"), [], "nothing is old enough")
    age(path, 40, "*.parquet")
    age(path, 40, "*.bin")
    listed = rows_of("vacuum", path, "--retention", "0s", "--dry-run")
    refused = tidelake("table", "vacuum", path, "--retention", "0s")
    equal(refused.code, 1, "a retention of nothing")
    holds(refused.stderr, "--allow-short-retention")
    equal(old <= {row[0] for row in listed}, True, "the files before optimize are listed")
    removed = rows_of("vacuum", path, "--retention", "0s", "--allow-short-retention")[0]
    equal(removed[0], len(listed), "what was listed went")
    equal({file.name for file in pathlib.Path(path).iterdir() if file.suffix in (".parquet", ".bin") and not file.name.startswith(".")}, live_files(path),
          "files that are left")
    readers.check(path, want, vectors, "after our vacuum")
    refused = tidelake("table", "cat", path, "--version", str(before))
    equal(refused.code, 1, "a version whose files are gone")
    holds(refused.stderr, "DELTA-L08")

    # and Spark goes on
    write(readers, path, 700, 50, 1, vectors, False)
    readers.spark.sql(f"DELETE FROM delta.`{path}` WHERE id BETWEEN 700 AND 709 OR id = 5")
    want = by_tidelake(path)
    tidelake("table", "optimize", path, "--sort", "id", check=True)
    readers.spark.sql(f"OPTIMIZE delta.`{path}`")
    readers.spark.sql("SET spark.databricks.delta.retentionDurationCheck.enabled=false")
    readers.spark.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")
    readers.check(path, want, vectors, "after Spark's own optimize and vacuum")


@test
def maintained_tables_stay_equal_for_every_reader(folder):
    readers = Readers()
    try:
        maintain(readers, str(folder / "vectors"), True, False)
        maintain(readers, str(folder / "typed"), False, True)
    finally:
        readers.spark.stop()


if __name__ == "__main__":
    main()
