"""A chunked snapshot that the two engines take together: opened and planned by one and read by the other, read in turn, silver applied in turn,
waves that one died in. The source changes between all steps, and during some.

Registers its tests with test_continue.py, whose Spark they use.
"""
import contextlib

from library import Writer
from turns import *

CHUNK_ROWS = 8


class History:
    """One history twice: by the engine that each step names in WORK, by tidelake alone below `folder`."""

    def __init__(self, folder, server, shape):
        self.server, self.folder, self.rng = server, folder, random.Random(SEED)
        self.table = Table(server, shape, 60, SEED)
        self.bronze, self.silver = f"lake/bronze/{shape}", f"lake/silver/{shape}"
        self.plans = self.bronze + "_snapshot_plans"
        self.alone, self.ours, self.peer = Ours(server, self.table, folder / "alone"), Ours(server, self.table, WORK), peer_of(server, self.table)
        server.scan()

    def change(self, count=3, captured=True):
        """Transactions; those that are not captured yet show in what is read of the table alone."""
        import pymssql

        host, port = self.server.address.rsplit(":", 1)
        with pymssql.connect(host, "sa", PASSWORD, "shop", port=port, autocommit=True) as connection, connection.cursor() as cursor:
            for _ in range(count):
                self.table.change(cursor)
        if captured:
            self.server.scan()

    def stream(self, engine):
        if engine == "library":
            self.peer.stream("chunked")
        else:
            self.ours.stream("--snapshot", "chunked")
        self.alone.stream("--snapshot", "chunked")

    def backfill(self, engine, **how):
        """The next waves; what the call says of itself is alike."""
        said = (self.peer if engine == "library" else self.ours).backfill(chunk_rows=CHUNK_ROWS, **how)
        expected = self.alone.backfill(chunk_rows=CHUNK_ROWS, **how)
        names = ("snapshot", "chunks_done", "chunks_total", "done", "paused", "state")
        equal({name: said[name] for name in names}, {name: expected[name] for name in names}, f"what {engine} says")
        return said

    def apply(self, engine):
        if engine == "library":
            self.peer.apply()
        else:
            self.ours.apply("--deletion-vectors=false")  # the library makes none
        self.alone.apply("--deletion-vectors=false")
        same_rows(self.alone, self.silver, f"silver after {engine}")
        same_rows(self.alone, CONTROL, f"control after {engine}")

    # --- dying ---

    @staticmethod
    def versions(folder, path):
        """The name of its next commit, and how many there are."""
        count = len(list((folder / path / "_delta_log").glob("[0-9]*.json")))
        return f"{path}/_delta_log/{count:020}.json", count

    def plan(self, engine):
        """The open snapshot is planned, and no wave of it is in."""
        if engine == "library":
            self.peer.backfill_until("wave", chunk_rows=CHUNK_ROWS)
        self.server.sql("EXEC tidesim.link @who = 'sa', @rtt_ms = 100;")  # a wave takes longer than the kill
        for ours in [self.alone] if engine == "library" else [self.alone, self.ours]:
            ours.backfill_until(self.versions(ours.folder, FACTS)[0], chunk_rows=CHUNK_ROWS)
        self.server.sql("EXEC tidesim.link @who = 'sa', @rtt_ms = 0;")
        for folder in (self.alone.folder, WORK):
            found = rows(folder, FACTS, "SELECT event FROM t WHERE event LIKE 'snapshot%' ORDER BY written_at")
            equal([row["event"] for row in found], ["snapshot_open", "snapshot_plan"], "what is planned")
            equal(rows(folder, self.bronze, "SELECT count(*) AS n FROM t WHERE _operation = 0"), [{"n": 0}], "rows of waves")

    def die_in_wave(self, engine, before):
        """The engine dies when a wave's rows are in bronze, and the plans (before the facts) or not even these have them."""
        before_it = {path: self.versions(WORK, path)[1] for path in (self.bronze, self.plans, FACTS)}
        if engine == "library":
            self.peer.backfill_until(before, chunk_rows=CHUNK_ROWS, max_waves=1)
        else:
            self.ours.backfill_until(self.versions(WORK, self.bronze if before == "plans" else self.plans)[0], chunk_rows=CHUNK_ROWS, max_waves=1)
        grown = {path: self.versions(WORK, path)[1] - count for path, count in before_it.items()}
        return grown == {self.bronze: 1, self.plans: 1 if before == "facts" else 0, FACTS: 0}

    # --- what must hold ---

    def one_snapshot(self):
        """In the facts one open, one plan, every chunk, one completion; in bronze each row of it once, and no change twice."""
        chunk = "CAST(detail->>'$.chunk' AS INT)"
        events = rows(WORK, FACTS, "SELECT event, count(*) AS n FROM t WHERE event IN ('snapshot_open', 'snapshot_plan', 'bootstrap') GROUP BY event ORDER BY event")
        equal(events, [{"event": name, "n": 1} for name in ("bootstrap", "snapshot_open", "snapshot_plan")], "events of the snapshot")
        counted, = rows(WORK, FACTS, f"SELECT list(DISTINCT {chunk} ORDER BY {chunk}) AS chunks, count(*) AS n, CAST(sum(\"rows\") AS BIGINT) AS total FROM t "
                                     "WHERE event = 'snapshot_chunk'")
        equal((json.loads(counted["chunks"]) if isinstance(counted["chunks"], str) else counted["chunks"], counted["n"] > 5), (list(range(counted["n"])), True), "chunks")
        keys = ", ".join(f'"{key}"' for key in self.table.keys)
        snapshot, = rows(WORK, self.bronze, f"SELECT count(*) AS n, count(DISTINCT ({keys})) AS keys FROM t WHERE _operation = 0")
        equal((snapshot["n"], snapshot["keys"]), (counted["total"], counted["total"]), "rows of the snapshot")
        equal(rows(WORK, self.bronze, "SELECT count(*) - count(DISTINCT (_start_lsn, _command_id, _seqval, _operation)) AS twice FROM t WHERE _operation <> 0"),
              [{"twice": 0}], "changes twice")
        batches = [row["batch_id"] for row in rows(WORK, FACTS, "SELECT batch_id FROM t WHERE event IS NULL ORDER BY batch_id")]
        equal(batches, list(range(len(batches))), "batch numbers without a hole")

    def equals_source(self):
        compared = subprocess.run([program("demo-compare"), "--connection", self.server.connection(), "--table", f"dbo.{self.table.name}", "--silver",
                                   str(WORK / self.silver)], capture_output=True, text=True, timeout=300)
        equal(compared.returncode, 0, compared.stdout[-2000:] + compared.stderr[-2000:])

    def same_as_alone(self):
        """What the engines wrote together is what tidelake wrote alone: rows, headers, keys, payloads, positions."""
        for path in (self.bronze, self.plans, FACTS, CONTROL, self.silver):
            if path != self.silver:
                same_rows(self.alone, path, path)
            same_shape(self.alone, path)
            same_commits(self.alone, path)
        same_checkpoint(self.alone, self.table.name)

    def finish(self, engine):
        """The stream and silver once more after the completion."""
        self.change()
        self.stream(engine)
        self.apply(engine)
        self.one_snapshot()
        self.same_as_alone()
        self.equals_source()


@contextlib.contextmanager
def history(folder, shape):
    fresh("lake", "checkpoint")
    server = Server(folder, "--capture-interval", "manual")
    try:
        yield History(folder, server, shape)
    finally:
        server.close()


OTHER = {"library": "tidelake", "tidelake": "library"}


def hand_over(folder, shape, opener):
    """One opens and plans, the other reads: the first waves one by one, then all that are left, and the completion."""
    reader = OTHER[opener]
    with history(folder, shape) as it:
        it.stream(opener)
        it.change()
        it.stream(opener)
        it.plan(opener)
        it.change(captured=False)  # newer than the stamp of the first wave
        it.backfill(reader, max_waves=1)
        it.change()
        it.stream(reader)
        it.apply(reader)
        it.change(captured=False)
        said = it.backfill(reader)
        equal(said["done"], True, "the snapshot is complete")
        it.finish(reader)


@test
def the_library_opens_and_plans_a_snapshot_along_an_integer_and_tidelake_reads_it(folder):
    hand_over(folder, "parcel", "library")


@test
def tidelake_opens_and_plans_a_snapshot_along_an_integer_and_the_library_reads_it(folder):
    hand_over(folder, "parcel", "tidelake")


@test
def the_library_opens_and_plans_a_snapshot_along_two_columns_and_tidelake_reads_it(folder):
    hand_over(folder, "stop", "library")


@test
def tidelake_opens_and_plans_a_snapshot_along_two_columns_and_the_library_reads_it(folder):
    hand_over(folder, "stop", "tidelake")
