#!/usr/bin/env python3
"""A backfill over a long link: the chunks of a connection go in one request, through either driver, and what becomes of such a request when one of them
waits for a lock, fails, or is not wanted any more.
"""
import signal

from chunked import *

RTT_MS = 80
CHUNKS, CHUNK_ROWS = 22, 112  # 16 slices of 7 keys each, so that every chunk begins at a multiple of its rows
ROWS = CHUNKS * CHUNK_ROWS


class Far:
    """22 chunks of a table that is far away, their plan and the first wave (chunks 0 and 1) in; `driver` reads them."""

    def __init__(self, folder, driver, *more, long=False, wide=False):
        self.server = SimServer(folder)
        self.table = make_table(self.server, "far", f"id int NOT NULL PRIMARY KEY, v varchar({'max' if long else 20}) NULL, n decimal(9,2) NOT NULL" + wide * ", w varchar(8000) NOT NULL, x varchar(8000) NOT NULL, y varchar(8000) NOT NULL",
                                [f"({n}, {'NULL' if n % 5 == 0 else repr(f'first {n}')}, {n}.25{wide * (3 * ', REPLICATE(0x77, 8000)')})" for n in range(ROWS)])
        self.chunked = Chunked(Driven(folder / "lake", self.server, driver), self.table, CHUNK_ROWS, *more)
        tidelake(*self.chunked.stream("--trigger", "available-now"), check=True)
        tidelake(*self.chunked.backfill("--max-waves", "1"), check=True)
        equal(self.chunked.waves_recorded(), 1, "waves")
        self.server.sql(f"EXEC tidesim.link @who = 'tidelake', @rtt_ms = {RTT_MS};")

    def backfill(self, *more):
        """Waves as wide as they come: a round, then all that is left."""
        options = self.chunked.backfill(*more)
        options[options.index("--target-wave-seconds") + 1] = "300"
        return options

    def check(self):
        check_snapshot(self.chunked, "id")
        rows = self.chunked.lake.query(f"bronze/{self.table}", "SELECT count(*), sum(id), sum(n), count(v), min(v) FROM t WHERE _operation = 0")
        equal(rows, self.server_rows(), "rows of the snapshot")

    def server_rows(self):
        total = ROWS * (ROWS - 1) // 2
        return [[ROWS, str(total), f"{total + ROWS / 4:.2f}", sum(n % 5 != 0 for n in range(ROWS)), "first 1"]]


def many_in_one(folder, far):
    trace = folder / "trace"
    far.server.sql(f"EXEC tidesim.trace @file = '{trace}';")
    done = tidelake(*far.backfill("--require-done", "--json"), check=True)
    far.server.sql("EXEC tidesim.trace 'off';")
    asked = requests_for_chunks(trace)
    equal(sum(asked), CHUNKS - 2, "chunks that were asked for, each once")
    if len(asked) > 2 * done.json()["waves"] + 2:
        raise AssertionError(f"in {done.json()['waves']} waves {len(asked)} requests, for {asked} chunks")
    equal(max(asked) > 4, True, f"chunks of a request: {asked}")
    far.check()


def requests_for_chunks(path):
    """[how many chunks each asks for], of every request that reads rows of the table."""
    counts = [line.count("FROM [dbo].[far] AS t") for line in path.read_text().splitlines() if "t.[v]" in line]
    return [count for count in counts if count > 0]


def on_each_driver(function):
    def through_freetds(folder):
        function(folder, "FreeTDS")

    def through_microsofts(folder):
        if not microsoft_driver():
            raise Skip("Microsoft's driver is not installed")
        function(folder, microsoft_driver())

    for run, name in ((through_freetds, function.__name__), (through_microsofts, function.__name__ + "_through_microsofts_driver")):
        run.__name__ = name
        test(run)
    return function


@on_each_driver
def chunks_go_together_and_arrive_whole(folder, driver):
    """Blocks of bound columns, and rows one by one where there are long values."""
    for long in (False, True):
        own = folder / str(long)
        own.mkdir()
        far = Far(own, driver, long=long)
        try:
            many_in_one(own, far)
        finally:
            far.server.close()


@on_each_driver
def a_lock_timeout_in_a_request_keeps_what_was_read_ahead_of_it(folder, driver):
    """Chunk 10 is locked from its first row on until it was asked for by itself, which fails too."""
    far, trace = Far(folder, driver, "--lock-timeout-ms", "0"), folder / "trace"
    try:
        far.server.sql(f"EXEC tidesim.trace @file = '{trace}';")
        with Holder(far.server, f"UPDATE dbo.far SET v = 'held' WHERE id = {10 * CHUNK_ROWS};") as holder:
            log = folder / "log"
            with open(log, "w") as out:
                process = start_tidelake(*far.backfill("--require-done"), stderr=out)
            wait_for("a second attempt that failed", lambda: log.read_text().count("trying again") == 2)
            holder.let_go()
            equal(process.wait(60), 0, log.read_text())
        far.server.sql("EXEC tidesim.trace 'off';")
        lines = [line for line in trace.read_text().splitlines() if "t.[v]" in line]
        def times(chunk):  # noqa: E306
            return sum(f"t.[id] >= {chunk * CHUNK_ROWS} AND t.[id] < {(chunk + 1) * CHUNK_ROWS}" in line for line in lines)
        equal([times(4), times(8)], [1, 1], "requests for chunks ahead of it on its connection")
        equal([times(10), times(12)], [3, 2], "requests for it, and for the one behind it")
        far.check()
    finally:
        far.server.close()


@on_each_driver
def an_error_behind_some_rows_of_a_chunk_is_no_end_of_it(folder, driver):
    """The server goes on with the next chunk's rows behind it, and the driver has both in one answer."""
    for held in (50, CHUNK_ROWS - 1):
        own = folder / str(held)
        own.mkdir()
        far = Far(own, driver, "--lock-timeout-ms", "0")
        try:
            with Holder(far.server, f"UPDATE dbo.far SET v = 'held' WHERE id = {10 * CHUNK_ROWS + held};") as holder:
                log = own / "log"
                with open(log, "w") as out:
                    process = start_tidelake(*far.backfill("--require-done"), stderr=out)
                wait_for("an attempt that failed", lambda: "trying again" in log.read_text())
                holder.let_go()
                equal(process.wait(60), 0, log.read_text())
            far.check()
        finally:
            far.server.close()


@on_each_driver
def a_chunk_that_waits_in_a_request_is_read_when_it_may(folder, driver):
    far = Far(folder, driver)
    try:
        with Holder(far.server, "UPDATE dbo.far SET v = 'held' WHERE id = 1050;") as holder:
            log = folder / "log"
            with open(log, "w") as out:
                process = start_tidelake(*far.backfill("--require-done"), stderr=out)
            wait_until_blocked(far.server, process)
            time.sleep(0.3)
            equal(far.chunked.waves_recorded(), 1, "waves that are in while a chunk of the second waits")
            holder.let_go()
            equal(process.wait(60), 0, log.read_text())
        equal("trying again" in log.read_text(), False, log.read_text())
        far.check()
    finally:
        far.server.close()


@on_each_driver
def a_connection_with_rows_that_nobody_fetches_keeps_no_lock(folder, driver):
    """Every round is a wave. While chunk 9 waits, the other connection reads a wave further, and gives up what it had asked for behind that."""
    far = Far(folder, driver, wide=True)
    far.server.sql(f"EXEC tidesim.link @who = 'tidelake', @rtt_ms = {RTT_MS}, @bytes_per_s = 6000000;")  # a wave takes longer than its commit
    try:
        with Holder(far.server, f"UPDATE dbo.far SET n = 0 WHERE id = {9 * CHUNK_ROWS + 1};") as holder:
            with open(folder / "log", "w") as out:
                process = start_tidelake(*far.chunked.backfill("--require-done"), stderr=out)
            wait_until_blocked(far.server, process)
            wait_for("four waves", lambda: far.chunked.waves_recorded() == 4)
            time.sleep(1.5)  # the next wave is read on the connection that is through, and what is behind it fills the link
            wait_for("requests but the one that waits to be given up", lambda: does_hold(
                far.server, "(SELECT count(*) FROM sys.dm_exec_requests AS r JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id WHERE s.program_name = 'tidelake') = 1"))
            far.server.sql(f"SET LOCK_TIMEOUT 0; UPDATE dbo.far SET n = n WHERE id < {9 * CHUNK_ROWS}; UPDATE dbo.far SET n = n WHERE id >= {10 * CHUNK_ROWS};")
            holder.let_go()
            equal(process.wait(60), 0, (folder / "log").read_text())
        equal("trying again" in (folder / "log").read_text(), False, (folder / "log").read_text())
        far.check()
    finally:
        far.server.close()


@on_each_driver
def a_backfill_that_waits_within_a_request_stops_within_a_second(folder, driver):
    far = Far(folder, driver)
    try:
        with Holder(far.server, "UPDATE dbo.far SET v = 'held' WHERE id = 1050;") as holder:
            with open(folder / "log", "w") as out:
                process = start_tidelake(*far.backfill("--require-done"), stderr=out)
            wait_until_blocked(far.server, process)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            equal(process.wait(20), 143, (folder / "log").read_text())
            took = time.monotonic() - began
            equal(took < 1.5, True, f"it took {took:.2f} s")
            holder.let_go()
        far.server.sql("EXEC tidesim.link @who = 'tidelake', @rtt_ms = 0;")
        tidelake(*far.backfill("--require-done"), check=True)
        far.check()
    finally:
        far.server.close()


if __name__ == "__main__":
    main()
