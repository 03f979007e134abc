"""A chunked snapshot that the two engines take together: opened and planned by one and read by the other, read in turn, silver applied in turn,
waves that one died in. The source changes between all steps, and during some.

Registers its tests with test_continue.py, whose Spark they use.
"""
import contextlib

from library import Writer as LiveWriter
from turns import *

class SharedLake:
    """What must hold of the lake in WORK, whoever wrote it."""

    def __init__(self, server, table):
        self.server, self.table, self.bronze, self.silver = server, table, f"lake/bronze/{table.name}", f"lake/silver/{table.name}"
        self.plans = self.bronze + "_snapshot_plans"

    def one_snapshot(self):
        """In the facts one open, one plan, every chunk, one completion; in bronze each row of it once, and no change twice."""
        chunk = "CAST(detail->>'$.chunk' AS INT)"  # from 0 without a hole
        events = rows(WORK, FACTS, "SELECT event, count(*) AS n FROM t WHERE event IN ('snapshot_open', 'snapshot_plan', 'bootstrap') "
                                   "GROUP BY event ORDER BY event")
        equal(events, [{"event": name, "n": 1} for name in ("bootstrap", "snapshot_open", "snapshot_plan")], "events of the snapshot")
        counted, = rows(WORK, FACTS, f"SELECT count(*) AS n, count(DISTINCT {chunk}) AS chunks, max({chunk}) AS last, CAST(sum(\"rows\") AS BIGINT) AS total "
                                     "FROM t WHERE event = 'snapshot_chunk'")
        equal((counted["chunks"], counted["last"], counted["n"] > 3), (counted["n"], counted["n"] - 1, True), "chunks")
        keys = ", ".join(f'"{key}"' for key in self.table.keys)
        snapshot, = rows(WORK, self.bronze, f"SELECT count(*) AS n, count(DISTINCT ({keys})) AS keys FROM t WHERE _operation = 0")
        equal((snapshot["n"], snapshot["keys"]), (counted["total"], counted["total"]), "rows of the snapshot")
        changes_are_there_once(self.bronze)

    def equals_source(self):
        silver_is_source(self.server, self.table.name, WORK / self.silver)


class History(SharedLake):
    """One history twice: by the engine that each step names in WORK, by tidelake alone below `folder`."""

    def __init__(self, folder, server, shape, chunk_rows):
        super().__init__(server, Table(server, shape, 60, SEED))
        self.folder, self.chunk_rows, self.rng = folder, chunk_rows, random.Random(SEED)
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
        said = (self.peer if engine == "library" else self.ours).backfill(chunk_rows=self.chunk_rows, **how)
        expected = self.alone.backfill(chunk_rows=self.chunk_rows, **how)
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
            self.peer.backfill_until("wave", chunk_rows=self.chunk_rows)
        self.server.sql("EXEC tidesim.link @who = 'sa', @rtt_ms = 100;")  # a wave takes longer than the kill
        for ours in [self.alone] if engine == "library" else [self.alone, self.ours]:
            ours.backfill_until(self.versions(ours.folder, FACTS)[0], chunk_rows=self.chunk_rows)
        self.server.sql("EXEC tidesim.link @who = 'sa', @rtt_ms = 0;")
        for folder in (self.alone.folder, WORK):
            found = rows(folder, FACTS, "SELECT event FROM t WHERE event LIKE 'snapshot%' ORDER BY written_at")
            equal([row["event"] for row in found], ["snapshot_open", "snapshot_plan"], "what is planned")
            equal(rows(folder, self.bronze, "SELECT count(*) AS n FROM t WHERE _operation = 0"), [{"n": 0}], "rows of waves")

    def die_in_wave(self, engine, before, partitions=2):
        """The engine dies when a wave's rows are in bronze, and the plans (before the facts) or not even these have them."""
        before_it = {path: self.versions(WORK, path)[1] for path in (self.bronze, self.plans, FACTS)}
        if engine == "library":
            self.peer.backfill_until(before, chunk_rows=self.chunk_rows, max_waves=1, partitions=partitions)
        else:
            self.ours.backfill_until(self.versions(WORK, self.bronze if before == "plans" else self.plans)[0], chunk_rows=self.chunk_rows, max_waves=1)
        grown = {path: self.versions(WORK, path)[1] - count for path, count in before_it.items()}
        return grown == {self.bronze: 1, self.plans: 1 if before == "facts" else 0, FACTS: 0}

    # --- the end ---

    def same_as_alone(self, order):
        """What the engines wrote together is what tidelake wrote alone: rows, headers, keys, payloads, positions."""
        for path in (self.bronze, self.plans, FACTS, CONTROL, self.silver):
            if path != self.silver:
                same_rows(self.alone, path, path)
            same_shape(self.alone, path)
            same_commits(self.alone, path, order)
        same_checkpoint(self.alone, self.table.name)

    def finish(self, streamer, applier, order=list):
        """The stream and silver once more after the completion."""
        self.change()
        self.stream(streamer)
        self.apply(applier)
        self.one_snapshot()
        self.same_as_alone(order)
        self.equals_source()


@contextlib.contextmanager
def history(folder, shape, chunk_rows=8):
    fresh("lake", "checkpoint")
    server = Server(folder, "--capture-interval", "manual")
    try:
        yield History(folder, server, shape, chunk_rows)
    finally:
        server.close()


OTHER = {"library": "tidelake", "tidelake": "library"}


def hand_over(folder, shape, opener):
    """One opens and plans, the other reads: a wave, then all that are left, and the completion. With INTEROP_ALL=1 it streams too."""
    reader = OTHER[opener]
    follower = reader if ALL else "tidelake"
    with history(folder, shape, 8 if ALL else 12) as it:
        it.stream(opener)
        it.change()
        it.stream(opener if ALL else "tidelake")
        it.plan(opener)
        it.change(captured=False)  # newer than the stamp of the first wave
        it.backfill(reader, max_waves=1)
        it.change()
        it.stream(follower)
        it.apply(follower)
        it.change(captured=False)
        equal(it.backfill(reader)["done"], True, "the snapshot is complete")
        it.finish(follower, reader)


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


# --- in turn ---

def in_turn(folder, shape, completer, silver_too):
    """Waves by one and the other, opened and planned by whom the seed says, the last wave and the completion by `completer`. The stream by either;
    silver too, after every wave."""
    with history(folder, shape) as it:
        opener = it.rng.choice(list(OTHER))
        it.stream(opener)
        it.change()
        it.stream("tidelake")
        it.plan(it.rng.choice(list(OTHER)))
        engine, said = it.rng.choice(list(OTHER)), {"done": False, "chunks_total": 4, "chunks_done": 0}
        turns = []
        while not said["done"]:
            it.change(captured=it.rng.random() < 0.5)
            engine = completer if said["chunks_total"] - said["chunks_done"] <= 2 else OTHER[engine]
            said = it.backfill(engine, max_waves=1)
            turns.append(engine)
            it.change(captured=it.rng.random() < 0.7)
            if silver_too:
                it.stream("tidelake")
                it.apply(OTHER[engine] if it.rng.random() < 0.7 else engine)
            elif len(turns) == 2:
                it.stream(OTHER[opener])
        print(f"# opened by {opener}, waves by {', '.join(turns)}", flush=True)
        equal(set(turns), set(OTHER), "who read waves")
        it.finish(it.rng.choice(list(OTHER)), OTHER[completer])


def dies(folder, shape, engine, before):
    """The other finishes a wave that is in bronze alone, or in bronze and the plans, with more connections than it was read with."""
    with history(folder, shape) as it:
        it.stream("tidelake")
        it.change()
        it.stream("tidelake")
        it.plan("tidelake")
        for _ in range(3):  # a kill may come late
            it.change(captured=False)
            is_hit = it.die_in_wave(engine, before)
            it.alone.backfill(chunk_rows=it.chunk_rows, max_waves=1)
            it.change()
            if is_hit:
                break
        else:
            raise AssertionError(f"no wave of {engine} was met before its {before}")
        it.stream("tidelake")
        equal(it.backfill(OTHER[engine], partitions=3)["done"], True, "the snapshot is complete")
        it.finish("tidelake", OTHER[engine], sorted)  # a batch came before what tells of the wave


def read_by_both(folder, library):
    """tidelake read a wave and died before it could commit; the library writes a wave of that number, with other chunks."""
    with history(folder, "parcel") as it:
        it.stream("tidelake")
        it.change()
        it.stream("tidelake")
        it.plan("tidelake")
        seals = f"{it.bronze}/_tidelake_staging/*/*/sealed.json"
        for _ in range(3):  # a kill may come late
            it.change(captured=False)
            before = it.versions(WORK, it.bronze)
            it.ours.backfill_until(seals, chunk_rows=it.chunk_rows, max_waves=1)
            if any(WORK.glob(seals)) and it.versions(WORK, it.bronze) == before:
                break
        else:
            raise AssertionError("no wave was met between its read and its commit")
        it.change()
        library(it)
        it.change(captured=False)
        equal(it.ours.backfill(chunk_rows=it.chunk_rows)["done"], True, "the snapshot is complete")
        equal(list(WORK.glob(f"{it.bronze}/_tidelake_staging/*/*")), [], "staged files")
        it.ours.stream("--snapshot", "chunked")
        it.ours.apply()
        it.one_snapshot()
        it.change()
        it.ours.stream("--snapshot", "chunked")
        it.ours.apply()
        it.equals_source()


@test
def a_wave_that_tidelake_died_in_is_finished_by_the_library(folder):
    dies(folder, "parcel", "tidelake", "plans")


if ALL:
    @test
    def waves_by_one_and_the_other_are_completed_by_tidelake(folder):
        in_turn(folder, "parcel", "tidelake", False)

    @test
    def waves_by_one_and_the_other_are_completed_by_the_library(folder):
        in_turn(folder, "crate", "library", False)

    @test
    def silver_is_applied_by_one_and_the_other_along_an_integer(folder):
        in_turn(folder, "parcel", "library", True)

    @test
    def silver_is_applied_by_one_and_the_other_along_two_columns(folder):
        in_turn(folder, "stop", "tidelake", True)

    @test
    def a_wave_that_tidelake_died_in_before_its_facts_is_finished_by_the_library(folder):
        dies(folder, "stop", "tidelake", "facts")

    @test
    def a_wave_that_the_library_died_in_before_its_plans_is_finished_by_tidelake(folder):
        dies(folder, "stop", "library", "plans")

    @test
    def a_wave_that_the_library_died_in_before_its_facts_is_finished_by_tidelake(folder):
        dies(folder, "parcel", "library", "facts")

    @test
    def a_completion_that_tidelake_died_before_is_written_by_the_library(folder):
        for attempt in range(3):  # a kill may come late
            (folder / str(attempt)).mkdir()
            with history(folder / str(attempt), "parcel") as it:
                it.stream("tidelake")
                it.change()
                it.stream("tidelake")
                said = it.backfill("tidelake", max_waves=1)
                while said["chunks_total"] - said["chunks_done"] > 2:
                    it.change()
                    said = it.backfill("tidelake", max_waves=1)
                it.ours.backfill_until(it.versions(WORK, FACTS)[0], chunk_rows=it.chunk_rows)
                left = rows(WORK, FACTS, "SELECT count(*) FILTER (event = 'snapshot_chunk') AS chunks, count(*) FILTER (event = 'bootstrap') AS done FROM t")
                if left == [{"chunks": said["chunks_total"], "done": 0}]:
                    equal(it.backfill("library")["done"], True, "the snapshot is complete")
                    it.finish("tidelake", "library")
                    return
        raise AssertionError("no kill came between the last wave and the completion")

    @test
    def a_wave_that_tidelake_read_is_dropped_once_the_library_wrote_it(folder):
        read_by_both(folder, lambda it: it.peer.backfill(max_waves=1, partitions=3))

    @test
    def a_wave_that_tidelake_read_is_dropped_where_the_library_died_in_it(folder):
        read_by_both(folder, lambda it: equal(it.die_in_wave("library", "plans", 3), True, "rows are in, their plans are not"))

    @test
    def the_two_take_turns_next_to_a_writer_that_never_stops(folder):
        """Stream, backfill and apply by whom the seed says, on silver with deletion vectors; capture runs by itself."""
        fresh("lake", "checkpoint")
        server = Server(folder, "--capture-interval", "100ms")
        try:
            table = Table(server, "stop", 120, SEED)
            server.scan()
            ours, peer, rng = Ours(server, table, WORK), peer_of(server, table), random.Random(SEED)
            writer, done, turns = LiveWriter(server, [table], 0.1), False, []
            try:
                while not done:
                    turns.append([rng.random() < 0.5 for _ in range(3)])
                    peer.stream("chunked") if turns[-1][0] else ours.stream("--snapshot", "chunked")
                    chunk_rows = len(table.rows()) // 8 + 1  # however much came before the plan, which is made once
                    done = (peer if turns[-1][1] else ours).backfill(chunk_rows=chunk_rows, max_waves=1)["done"]
                    peer.apply() if turns[-1][2] else ours.apply()
            finally:
                writer.stop()
            server.scan()
            ours.stream("--snapshot", "chunked")
            ours.apply()
            print(f"# {writer.commits} commits; the library: {turns}", flush=True)
            lake = SharedLake(server, table)
            lake.one_snapshot()
            lake.equals_source()
            equal(writer.commits > 20, True, "commits")
        finally:
            server.close()

