"""A copy in a snapshot's place, by either engine: for one copy both write the same, each finds what the other seeded and writes nothing
again, and each goes on from it. The same of a full snapshot by itself.

    tests/interop/run library
"""
import json
import os
import sys

from library import Library, Spark, Table, equal, started  # the first import: it finds lib
from lib import holds, main, test, tidelake

CLOCK = {"written_at", "started_at", "duration_ms", "target"}  # the lakes' own


class Ours:
    """tidelake on the same table and the same lake as a Library."""

    def __init__(self, library):
        self.library, self.folder = library, library.folder
        self.common = ["--connection", library.table.server.connection(), "--capture-instance", library.table.instance, "--bronze", library.bronze,
                       "--facts", library.facts, "--app-id", library.app_id]

    def run(self, command, *more, check=True):
        return tidelake(command, *self.common, *more, check=check)

    def seed(self, source, as_of, *more, check=True):
        return self.run("seed", "--from", str(source), "--as-of", as_of, "--json", *more, check=check)

    def follow(self):
        self.run("stream", "--control", self.library.control, "--checkpoint", str(self.folder / "checkpoint" / self.library.table.name), "--bootstrap",
                 "--trigger", "available-now")
        options = [option for option in self.common if option not in ("--app-id", self.library.app_id)]
        tidelake("apply", *options, "--control", self.library.control, "--silver", self.library.silver, check=True)


def theirs(library):
    from mssql_cdc import stream

    Spark.get().sparkContext._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    return stream(Spark.get(), library.options)


def rows(path, leave=()):
    frame = Spark.get().read.format("delta").load(path)
    names = [name for name in frame.columns if name not in leave]
    return sorted(str([row[name] for name in names]) for row in frame.select(*names).collect())


def schema(path):
    return [(field.name, field.dataType.simpleString()) for field in Spark.get().read.format("delta").load(path).schema]


def commits(path):
    """(operation, userMetadata, number of rows) of each version but the first, oldest first."""
    frame = Spark.get().sql(f"DESCRIBE HISTORY delta.`{path}`").orderBy("version")
    return [(row["operation"], row["userMetadata"]) for row in frame.collect()]


def tags(path):
    return [json.loads(text) for _, text in commits(path) if text and ("seed" in text or "snapshot" in text)]


def copied(folder, rows_count):
    """A table, a Delta copy and a Parquet copy of it, and their LSN."""
    server = started(folder)
    table = Table(server, "parcel", rows_count)
    server.scan()
    source = Library(folder / "source", table)
    source.stream()
    source.apply()
    frame = Spark.get().read.format("delta").load(source.silver)
    frame.repartition(3).write.parquet(str(folder / "copy"))
    printed = server.sql("SELECT CONVERT(char(22), sys.fn_cdc_get_max_lsn(), 1) AS lsn;")
    return server, table, source.silver, next(word for word in printed.split() if word.startswith("0x"))


def change(table):
    import pymssql
    from lib import PASSWORD

    host, port = table.server.address.rsplit(":", 1)
    with pymssql.connect(host, "sa", PASSWORD, "shop", port=port, autocommit=True) as connection, connection.cursor() as cursor:
        for _ in range(20):
            table.change(cursor)
    table.server.scan()


@test
def both_write_the_same_for_one_copy_and_go_on_from_each_others(folder):
    server, table, silver, lsn = copied(folder, 300)
    try:
        mine, other = Library(folder / "ours", table), Library(folder / "theirs", table)
        done = Ours(mine).seed(folder / "copy" / "*.parquet", lsn).json()
        frame = Spark.get().read.parquet(str(folder / "copy"))
        offset = theirs(other).seed(other.bronze, frame, lsn, app_id=other.app_id, facts_table=other.facts)
        equal((done["lsn"], (done["commit_ts"] or "").rstrip("Z"), done["rows"]), (offset["lsn"], offset["commit_ts"], 300), "what is returned")
        equal(schema(mine.bronze), schema(other.bronze), "bronze's columns")
        equal(rows(mine.bronze), rows(other.bronze), "bronze's rows")
        equal(tags(mine.bronze), tags(other.bronze), "the commits")
        equal(rows(mine.facts, CLOCK), rows(other.facts, CLOCK), "facts")
        before = [commits(path) for path in (mine.bronze, mine.facts, other.bronze, other.facts)]
        again = theirs(mine).seed(mine.bronze, frame, lsn, app_id=mine.app_id, facts_table=mine.facts)
        equal(again["lsn"], lsn, "theirs on ours")
        equal(Ours(other).seed(silver, lsn).json(), {**done, "rows": None}, "ours on theirs")
        later = lsn[:-1] + ("0" if lsn[-1] != "0" else "1")
        try:
            theirs(mine).seed(mine.bronze, frame, later)
            raise AssertionError("the library took another seed")
        except ValueError as error:
            holds(str(error), lsn)
        refused = Ours(other).seed(silver, later, check=False)
        equal(refused.code, 1)
        holds(refused.last_error(), lsn, later)
        equal([commits(path) for path in (mine.bronze, mine.facts, other.bronze, other.facts)], before, "nothing was written again")
        change(table)
        Ours(other).follow()
        mine.stream()
        mine.apply()
        mine.equals_source()
        theirs(other)
        other.equals_source()
        for lake in (mine, other):
            equal(Spark.get().read.format("delta").load(lake.facts).where("event is not null").count(), 1, "events")
    finally:
        server.close()


if os.environ.get("INTEROP_ALL"):
    @test
    def a_snapshot_by_itself_is_the_same_and_found_by_the_other(folder):
        server, table, _, lsn = copied(folder, 200)
        try:
            mine, other = Library(folder / "ours", table), Library(folder / "theirs", table)
            done = Ours(mine).run("snapshot", "--json").json()
            offset = theirs(other).snapshot(other.bronze)
            equal((done["lsn"], (done["commit_ts"] or "").rstrip("Z"), done["rows"]), (offset["lsn"], offset["commit_ts"], 200), "what is returned")
            equal((schema(mine.bronze), rows(mine.bronze), tags(mine.bronze)), (schema(other.bronze), rows(other.bronze), tags(other.bronze)))
            change(table)
            equal(theirs(mine).snapshot(mine.bronze), offset, "theirs on ours")
            equal(Ours(other).run("snapshot", "--json").json(), {**done, "rows": None}, "ours on theirs")
            newer = Ours(other).run("snapshot", "--resnapshot", "--json").json()
            equal(theirs(mine).snapshot(mine.bronze, resnapshot=True)["lsn"], newer["lsn"])
            equal(rows(mine.bronze), rows(other.bronze), "after both took another")
            equal(lsn < newer["lsn"], True)
        finally:
            server.close()


if __name__ == "__main__":
    sys.stdout.flush()
    main()
