"""Silver whose rows go by deletion vector: Spark, deltalake and DuckDB read after every merge what the source holds, and merges of
Spark and of tidelake go on top of each other's vectors."""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import *  # noqa: E402,F403

import os

import deltalake
import pyarrow

from spark_session import open_session  # noqa: E402
from three import Duck  # noqa: E402

SETUP = """
CREATE TABLE dbo.items (id int NOT NULL PRIMARY KEY, name nvarchar(40) NULL, price decimal(9,2) NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'items', @role_name = NULL;
GO
INSERT INTO dbo.items SELECT value, CONCAT(N'item ', value), value / 4.0 FROM GENERATE_SERIES(1, 70000);
GO
"""
ROWS = 70000  # of the first file: more than one container of a bitmap
SUMS = "count(*), count(DISTINCT id), sum(CAST(id AS bigint)), count(name), sum(CAST(price * 100 AS bigint)), min(id), max(id)"


def digest(rows):
    """Of the truth (id -> (name, price)), what SUMS gives."""
    return [len(rows), len(rows), sum(rows), sum(name is not None for name, _ in rows.values()), sum(int(price * 100) for _, price in rows.values() if price is not None),
            min(rows), max(rows)]


class Silver:
    def __init__(self, lake, session):
        self.path, self.lake, self.session, self.duck = str(lake.folder / "silver/items"), lake, session, Duck().connection

    def actions(self):
        newest = sorted(pathlib.Path(self.path, "_delta_log").glob("*.json"))[-1]
        return [json.loads(line) for line in newest.read_text(encoding="utf-8").splitlines()]

    def check(self, truth, sample, what):
        """Sums over all rows, and some rows as they are, in four readers."""
        ids = ", ".join(map(str, sorted(sample)))
        want, some = digest(truth), sorted([key, *truth[key]] for key in sample if key in truth)
        query = f"SELECT {SUMS} FROM t"
        few = f"SELECT id, name, price FROM t WHERE id IN ({ids}) ORDER BY id"
        self.session.read.format("delta").load(self.path).createOrReplaceTempView("t")
        builder = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(self.path))

        def rs(sql):
            table = pyarrow.table(builder.execute(sql).read_all())
            return [list(row) for row in zip(*(column.to_pylist() for column in table.columns))]

        def by_duck(sql):
            return [list(row) for row in self.duck.execute(sql.replace(" t", f" delta_scan('{self.path}')", 1)).fetchall()]

        for name, read in (("Spark", lambda sql: [list(row) for row in self.session.sql(sql).collect()]), ("deltalake", rs), ("DuckDB", by_duck)):
            equal([int(value) for value in read(query)[0]], want, f"{what}: sums in {name}")
            equal([[row[0], row[1], None if row[2] is None else float(row[2])] for row in read(few)], [[key, name_, None if price is None else float(price)] for key, name_, price in some],
                  f"{what}: rows in {name}")
        equal([int(value) for value in self.lake.query("silver/items", query)[0]], want, f"{what}: sums in tidelake")

    def count_vectors(self):
        return sum(1 for action in self.actions() if action.get("add", {}).get("deletionVector"))


def change(server, truth, rng, step):
    """Updates, deletes and inserts, scattered and in a row. Returns keys worth a look."""
    updated = rng.sample(sorted(truth), 60)
    gone = rng.sample([key for key in sorted(truth) if key not in updated], 25)
    first = rng.randrange(1, ROWS - 500)
    values = ", ".join(map(str, updated))
    server.sql(f"UPDATE dbo.items SET name = N'step {step}', price = {step}.25 WHERE id IN ({values}); DELETE FROM dbo.items WHERE id IN ({', '.join(map(str, gone))});\n"
               f"DELETE FROM dbo.items WHERE id BETWEEN {first} AND {first + 99};\nINSERT INTO dbo.items VALUES ({200000 + step}, NULL, NULL);")
    for key in updated:
        truth[key] = (f"step {step}", step + 0.25)
    for key in [*gone, *range(first, first + 100)]:
        truth.pop(key, None)
    truth[200000 + step] = (None, None)
    return [*updated[:20], *gone[:10], first - 1, first, first + 99, first + 100, 200000 + step]


@test
def every_reader_sees_silver_as_it_is_after_every_merge(folder):
    session = open_session()
    server = Server(folder, "--capture-interval", "manual")
    rng = random.Random(20260101)
    try:
        server.sql(SETUP)
        server.scan()
        lake = Lake(folder / "lake", server)
        silver = Silver(lake, session)
        truth = {key: (f"item {key}", key / 4) for key in range(1, ROWS + 1)}

        def merge():
            server.scan()
            lake.stream("dbo_items", "items", check=True)
            lake.apply("dbo_items", "items", check=True)

        merge()
        silver.check(truth, [1, 2, ROWS], "the first fill")
        last = 11 if os.environ.get("INTEROP_ALL") else 3  # the long form goes past a checkpoint
        for step in range(1, last + 1):
            sample = change(server, truth, rng, step)
            merge()
            equal(silver.count_vectors() >= 1, True, f"step {step}: rows went by vector")
            if step in (1, 2, last):
                silver.check(truth, sample, f"step {step}")

        # Spark on top of our vectors, then we on top of Spark's
        table = f"delta.`{silver.path}`"
        for key in list(range(1000, 1100)) + [5, 65535, 65536, 65537]:
            truth.pop(key, None)
        session.sql(f"DELETE FROM {table} WHERE id BETWEEN 1000 AND 1099 OR id IN (5, 65535, 65536, 65537)")
        equal(silver.count_vectors() >= 1, True, "Spark deleted by vector")
        silver.check(truth, [999, 1000, 1099, 1100, 5, 65536], "Spark's DELETE on our vectors")
        session.sql(f"UPDATE {table} SET name = 'by Spark' WHERE id IN (6, 66000)")
        for key in (6, 66000):
            if key in truth:
                truth[key] = ("by Spark", truth[key][1])
        silver.check(truth, [6, 66000], "Spark's UPDATE on our vectors")
        for step in (13, 14) if last > 3 else (13,):
            sample = change(server, truth, rng, step)
            server.sql("UPDATE dbo.items SET name = N'back' WHERE id = 1050;")  # a row that Spark took out of silver
            truth[1050] = ("back", 1050 / 4)
            merge()
            equal(silver.count_vectors() >= 1, True, f"step {step}: on top of Spark's vectors")
            silver.check(truth, [*sample, 1050, 1051, 6], f"step {step}, on top of Spark's vectors")

        session.sql(f"REORG TABLE {table} APPLY (PURGE)")
        silver.check(truth, [6, 1050], "Spark purged the vectors")
        sample = change(server, truth, rng, 15)
        merge()
        silver.check(truth, sample, "step 15, after the purge")
        from delta.tables import DeltaTable
        equal([(row[0], row[1]) for row in DeltaTable.forPath(session, silver.path).history().select("version", "operation").collect()],
              [(row[0], row[2]) for row in lake.history("silver/items")], "history in Spark and tidelake")
    finally:
        server.close()
        session.stop()


@test
def silver_without_vectors_is_read_by_readers_that_know_none(folder):
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(SETUP.replace("70000", "500"))
        server.scan()
        lake = Lake(folder / "lake", server)
        for step in range(3):
            lake.stream("dbo_items", "items", check=True)
            lake.apply("dbo_items", "items", "--deletion-vectors=false", check=True)
            table = deltalake.DeltaTable(str(lake.folder / "silver/items")).to_pyarrow_table()
            equal(table.num_rows, 500, f"step {step}: rows")
            equal(sum(name == "new" for name in table["name"].to_pylist()), 3 * min(step, 1), f"step {step}: changed rows")
            server.sql("UPDATE dbo.items SET name = N'new' WHERE id < 4;")
            server.scan()
        protocol = next(action["protocol"] for action in map(json.loads, (lake.folder / f"silver/items/_delta_log/{0:020}.json").read_text().splitlines()) if "protocol" in action)
        equal("deletionVectors" in protocol["readerFeatures"], False, "the feature is not asked for")
    finally:
        server.close()


if __name__ == "__main__":
    main()
