#!/usr/bin/env python3
"""What chunked snapshots ask of the source, and wait for: locks, isolation levels, grants, ends of keys, heaps. Each test runs against a tidesim
and, where TIDELAKE_SQLSERVER holds the connection string of a login that owns its database, against that server too.
"""
from chunked import *


def open_snapshot(chunked):
    tidelake(*chunked.stream("--trigger", "available-now"), check=True)


class Started:
    """A command that runs while the test looks; it ends well when the test lets it."""

    def __init__(self, folder, arguments):
        self.log_path = folder / f"{arguments[0]}-{random.randrange(1 << 30)}.log"
        self.log = open(self.log_path, "w")
        self.process = start_tidelake(*arguments, stderr=self.log)

    def __enter__(self):
        return self.process

    def __exit__(self, kind, *_error):
        if kind:
            self.process.kill()
        code = self.process.wait(60)
        self.log.close()
        equal(kind is None and code != 0, False, f"{self.log_path.name} ended with {code}: {self.log_path.read_text()[-1500:]}")


# --- locks ---

KINDS = {"by_number": ("id int NOT NULL PRIMARY KEY, v varchar(20) NULL", lambda n: f"{n}"),
         "by_text": ("id varchar(12) NOT NULL PRIMARY KEY, v varchar(20) NULL", lambda n: f"'k{n:05d}'")}


def lockable(folder, server, kind, *more):
    columns, key = KINDS[kind]
    table = make_table(server, kind, columns, [f"({key(n)}, 'first')" for n in range(1, 2001)])
    chunked = Chunked(Lake(folder / "lake", server), table, 200, *more)
    open_snapshot(chunked)
    return chunked, lambda n: f"UPDATE dbo.{table} SET v = 'held' WHERE id = {key(n)};"


def waits_for_writers(folder, server, kind):
    chunked, hold = lockable(folder, server, kind)
    with Holder(server, hold(1000)) as holder:
        with Started(folder, chunked.backfill("--max-waves", "1")) as backfill:
            wait_until_blocked(server, backfill)
            equal(chunked.marks()["plan in plans"], False, f"{kind}: a plan while one of its keys is locked")
            holder.let_go()
    equal([chunked.marks()[name] for name in ("planned", "facts")], [True, 0], f"{kind}: the plan and the first wave")
    with Holder(server, hold(700)) as holder:  # in the second wave
        began = time.monotonic()
        with Started(folder, chunked.backfill("--max-waves", "1")) as backfill:
            wait_until_blocked(server, backfill)
            equal(chunked.marks()["bronze"], 0, f"{kind}: waves in bronze while a row of the second is locked")
            held_ms = int(1000 * (time.monotonic() - began))
            time.sleep(0.5)
            holder.let_go()
    waited = chunked.lake.query("ops/facts", f"SELECT min(duration_ms) FROM t WHERE event = 'snapshot_chunk' AND app_id = '{chunked.app_id}' AND (detail->>'$.wave')::INT = 1")
    equal(waited[0][0] >= 500, True, f"{kind}: milliseconds of a wave that was held for {held_ms + 500}: {waited}")
    tidelake(*chunked.backfill("--require-done"), check=True)
    check_snapshot(chunked, "id")


def does_not_wait(folder, server, kind):
    chunked, hold = lockable(folder, server, kind, "--isolation", "snapshot")
    with Holder(server, " ".join(hold(n) for n in (300, 1000, 1999))):
        tidelake(*chunked.backfill("--require-done"), check=True, timeout=60)
    check_snapshot(chunked, "id")
    equal(chunked.lake.query(f"bronze/{chunked.table}", "SELECT count(*) FROM t WHERE v = 'held'"), [[0]], f"{kind}: rows that nobody committed")


@on_each_source
def plan_and_chunk_of_an_integer_key_wait_for_a_writers_locks(folder, server):  # T4.45
    waits_for_writers(folder, server, "by_number")


@on_each_source
def plan_and_chunk_of_any_other_key_wait_for_a_writers_locks(folder, server):  # T4.45
    waits_for_writers(folder, server, "by_text")


@on_each_source
def under_snapshot_neither_waits(folder, server):  # T4.45
    server.sql("ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON;")
    for kind in KINDS:
        does_not_wait(folder, server, kind)


@test
def a_seek_reads_one_row_more_than_it_leaves_a_piece(folder):  # T4.45
    server = SimServer(folder)
    try:
        rows = [f"('{letter}{letter}', {n}, 'first')" for letter in "abcde" for n in range(400)]
        table = make_table(server, "pairs", "a varchar(4) COLLATE Latin1_General_CI_AS NOT NULL, b int NOT NULL, v varchar(20) NULL, PRIMARY KEY (a, b)", rows)
        chunked = Chunked(Lake(folder / "lake", server), table, 150)
        open_snapshot(chunked)
        server.sql(f"EXEC tidesim.trace @file = '{folder / 'trace'}'")
        tidelake(*chunked.backfill("--max-waves", "1"), check=True)
        server.sql("EXEC tidesim.trace 'off'")
        seeks = [line for line in (folder / "trace").read_text().splitlines() if "ROWS FETCH NEXT 1 ROWS ONLY" in line]
        equal(len(seeks) >= 2000 // 150, True, f"seeks ({len(seeks)})")
        for line in seeks:
            pieces, n = line.count("SELECT p.* FROM (SELECT TOP ("), int(line.split(" OFFSET ")[1].split()[0])
            examined = int(line.rsplit(" examined", 1)[0].rsplit(" ", 1)[1]) if " examined" in line else 0
            equal(examined <= pieces * (n + 1), True, f"{examined} rows looked at in {pieces} pieces for the {n}th key on: {line}")
    finally:
        server.close()

@on_each_source
def a_range_that_is_held_delays_its_wave_alone(folder, server):  # T4.47
    table = make_table(server, "held", "id int NOT NULL PRIMARY KEY, v varchar(20) NULL", [f"({n}, 'first')" for n in range(1, 2001)])
    chunked = Chunked(Lake(folder / "lake", server), table, 100)
    stream = Running(chunked.stream("--trigger", "continuous"), folder)

    def change(rng):
        old, new = (rng.choice([rng.randrange(1, 890), rng.randrange(960, 2400)]) for _ in range(2))
        return (f"INSERT dbo.{table} SELECT {new}, 'new' WHERE NOT EXISTS (SELECT 1 FROM dbo.{table} WHERE id = {new}); UPDATE dbo.{table} SET v = 'changed' WHERE id = {old}; "
                f"DELETE FROM dbo.{table} WHERE id = {rng.randrange(960, 2400)}; UPDATE dbo.{table} SET id = {new + 5000} WHERE id = {new} AND NOT EXISTS (SELECT 1 FROM dbo.{table} WHERE id = {new + 5000});")

    open_snapshot(chunked)
    tidelake(*chunked.backfill("--max-waves", "1"), check=True)
    writer = Changes(server, change, 1, pause=0.1)
    try:
        stream.poll()
        with Holder(server, f"UPDATE dbo.{table} SET v = 'held' WHERE id BETWEEN 901 AND 950;") as holder:
            with Started(folder, chunked.backfill("--require-done")) as backfill:
                wait_until_blocked(server, backfill)
                began = time.monotonic()
                server.sql(f"INSERT dbo.{table} VALUES (99999, 'meanwhile');")
                wait_for("the change in bronze", lambda: chunked.has_bronze() and chunked.lake.query(f"bronze/{table}", "SELECT count(*) FROM t WHERE id = 99999") == [[1]], 60)
                tidelake(*chunked.apply(), check=True)
                equal(chunked.lake.query(f"silver/{table}", "SELECT count(*) FROM t WHERE id = 99999"), [[1]], "silver goes on")
                stream.poll()
                equal([backfill.poll(), chunked.marks()["complete"]], [None, False], "a backfill whose wave waits")
                waves = chunked.waves_recorded()
                time.sleep(1)
                held_ms = int(1000 * (time.monotonic() - began))
                holder.let_go()
        writer.stop()
        stream.end()
    finally:
        writer.must_stop.set()
        stream.close()
    server.scan()
    check_silver(chunked)
    check_snapshot(chunked, "id")
    check_changes(chunked, server)
    told = chunked.lake.query("ops/facts", "SELECT (detail->>'$.wave')::INT, max(duration_ms) FROM t WHERE event = 'snapshot_chunk' GROUP BY 1 ORDER BY 2 DESC LIMIT 1")
    equal([told[0][0], told[0][1] >= held_ms - 200], [waves, True], f"the wave that took longest, and the {held_ms} ms of the lock ({told})")


# --- a lock timeout, a deadlock ---

@on_each_source
def a_lock_timeout_in_a_chunk_says_which_and_the_next_call_goes_on(folder, server):
    chunked, hold = lockable(folder, server, "by_number")
    tidelake(*chunked.backfill("--max-waves", "1"), check=True)
    with Holder(server, hold(700)):  # in chunk 3
        failed = tidelake(*chunked.backfill("--lock-timeout-ms", "200"))
        equal(failed.code, 1, failed.stderr)
        holds(failed.last_error(), "chunk 3 of wave 1", f"[{chunked.table}]: another transaction held a lock for longer than lock_timeout_ms (200)", "isolation to snapshot")
        equal([failed.stderr.count("trying again"), chunked.waves_recorded()], [3, 1], "attempts before it gave up; waves that are in")
    done = tidelake(*chunked.backfill("--lock-timeout-ms", "200", "--require-done", "--json"), check=True).json()
    first = chunked.lake.query(f"bronze/{chunked.table}", "SELECT count(*) FROM t WHERE _operation = 0 AND _chunk < 2")[0][0]
    equal(done["rows"], 2000 - first, "rows of the call that went on")
    check_snapshot(chunked, "id")


@test
def a_deadlock_in_a_chunk_is_tried_again(folder):
    server = SimServer(folder)
    try:
        chunked, _ = lockable(folder, server, "by_number")
        server.sql("EXEC tidesim.fault @action = 'deadlock', @at = 'row', @n = 20, @pattern = '%t.[[]v] FROM [[]dbo].[[]by_number]%', @nth = 3;")
        done = tidelake(*chunked.backfill("--require-done"), check=True)
        equal([done.stderr.count("trying again"), done.stderr.count("native=1205")], [1, 1], done.stderr)
        check_snapshot(chunked, "id")
    finally:
        server.close()


# --- the open ---

@on_each_source
def an_open_waits_for_a_key_above_the_last_but_under_snapshot_it_does_not(folder, server):  # T4.51
    server.sql("ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON;")
    table = make_table(server, "opened", "id int NOT NULL PRIMARY KEY, v varchar(20) NULL", [f"({n}, 'first')" for n in range(1, 101)])
    lakes = {name: Chunked(Lake(folder / name, server), table, 20, *more) for name, more in {"waits": (), "goes_on": ("--isolation", "snapshot")}.items()}
    with Holder(server, f"INSERT dbo.{table} VALUES (1000, 'held');") as holder:
        tidelake(*lakes["goes_on"].stream("--trigger", "available-now"), check=True, timeout=60)
        with Started(folder, lakes["waits"].stream("--trigger", "available-now")) as stream:
            wait_until_blocked(server, stream)
            equal(lakes["waits"].marks()["open in plans"], False, "an open while the last key is not settled")
            holder.let_go()
    for name, chunked in lakes.items():
        tidelake(*chunked.backfill("--require-done"), check=True)
        equal(chunked.lake.query(f"bronze/{table}", "SELECT count(*), max(id) FROM t WHERE _operation = 0"), [[100, 100]], name)


@on_each_source
def a_full_snapshot_waits_for_a_writers_lock_but_under_snapshot_it_does_not(folder, server):  # T3.4b
    table = make_table(server, "whole", "id int NOT NULL PRIMARY KEY, v varchar(20) NULL", [f"({n}, 'first')" for n in range(1, 101)])
    lakes = {name: Chunked(Lake(folder / name, server), table, 20, "--isolation", level)
             for name, level in {"refused": "SNAPSHOT", "goes_on": "Snapshot", "waits": "READCOMMITTED", "dirty": "readUncommitted"}.items()}

    def full(name):
        return ["stream", *lakes[name].common(), "--bootstrap", "--snapshot", "full", "--trigger", "available-now"]

    dirty = tidelake(*full("dirty"))
    equal([dirty.code, (folder / "dirty").exists()], [2, False], "another isolation: exit code, a lake")
    holds(dirty.last_error(), "readUncommitted", "readCommitted|snapshot", "uncommitted rows are never read")
    if not server.is_real:  # there the database may allow it already
        refused = tidelake(*full("refused"))
        equal(refused.code, 1, refused.stderr)
        holds(refused.last_error(), f"dbo_{table}", "SET ALLOW_SNAPSHOT_ISOLATION ON", "isolation to readCommitted")
        equal(lakes["refused"].lake.query(f"bronze/{table}", "SELECT count(*) FROM t") if lakes["refused"].has_bronze() else [[0]], [[0]], "rows of what was refused")
    server.sql("ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON;")
    with Holder(server, f"UPDATE dbo.{table} SET v = 'held' WHERE id = 50; DELETE FROM dbo.{table} WHERE id = 60;") as holder:
        tidelake(*full("goes_on"), check=True, timeout=60)
        with Started(folder, full("waits")) as stream:
            wait_until_blocked(server, stream)
            equal(lakes["waits"].has_bronze() and lakes["waits"].lake.query(f"bronze/{table}", "SELECT count(*) FROM t"), lakes["waits"].has_bronze() and [[0]], "rows before the lock is gone")
            holder.let_go()
    for name in ("goes_on", "waits"):
        equal(lakes[name].lake.query(f"bronze/{table}", "SELECT count(*), count(*) FILTER (v = 'first') FROM t WHERE _operation = 0"), [[100, 100]], name)


# --- keys at the ends ---

@on_each_source
def a_bigint_key_to_its_last_value_is_counted_and_read_whole(folder, server):  # T4.49
    last = 2**63 - 1
    keys = [n * 10**12 for n in range(-20, 20)] + [5 * 10**15 + n for n in range(3000)] + [last]
    table = make_table(server, "to_the_end", "id bigint NOT NULL PRIMARY KEY, v varchar(20) NULL", [f"({n}, 'first')" for n in keys])
    chunked = Chunked(Lake(folder / "lake", server), table, 250)
    open_snapshot(chunked)
    finish(chunked, folder)
    check_snapshot(chunked, "id")
    equal(chunked.lake.query(f"bronze/{table}", "SELECT count(*), max(id)::VARCHAR FROM t WHERE _operation = 0"), [[len(keys), str(last)]], "rows, and the last key")
    plan = chunked.lake.query(f"bronze/{table}_snapshot_plans", "SELECT detail->>'$.kind', detail->>'$.chunks[#-1][1]', (detail->>'$.chunk_count')::INT FROM t WHERE event = 'snapshot_plan'")
    equal(plan[0][:2], ["int", str(2**63)], "the plan's kind, and where it ends")
    equal(12 <= plan[0][2] <= 40, True, f"chunks of a plan that is counted ({plan})")


@on_each_source
def keys_at_both_ends_of_bigint_are_planned(folder, server):  # T4.49
    first, last = -2**63, 2**63 - 1
    keys = [first, first + 1, first + 2, -1, 0, 1, 7, last - 2, last - 1, last]
    table = make_table(server, "both_ends", "id bigint NOT NULL PRIMARY KEY, v varchar(20) NULL", [f"({n}, 'first')" for n in keys])
    chunked = Chunked(Lake(folder / "lake", server), table, 2)
    open_snapshot(chunked)
    finish(chunked, folder)
    check_snapshot(chunked, "id")
    check_silver(chunked)


# --- grants ---

READER_PASSWORD = "Tide.Reader.1"


def least(folder, server, table, on_columns):
    """What the stream's own message says is granted, nothing else: SELECT on the table, or on its captured columns."""
    login = server.name("least")
    server.drops.insert(0, f"DROP USER {login};\nGO\nDROP LOGIN {login};")
    server.sql(f"CREATE LOGIN {login} WITH PASSWORD = '{READER_PASSWORD}';\nGO\nCREATE USER {login} FOR LOGIN {login};\nGO\n"
               f"GRANT SELECT ON dbo.{table}{' (id, code, v)' if on_columns else ''} TO {login};\n"
               f"GRANT SELECT ON cdc.[dbo_{table}_CT] TO {login}; GRANT SELECT ON cdc.lsn_time_mapping TO {login};")
    return login


class Limited:
    """The server for a login with few rights."""

    def __init__(self, server, login):
        self.server, self.login = server, login

    def connection(self):
        parts = [part for part in self.server.connection().split(";") if part.partition("=")[0].strip().upper() not in ("UID", "PWD")]
        return ";".join([*parts, f"UID={self.login}", f"PWD={READER_PASSWORD}"])


def runs_with(folder, server, on_columns):
    rows = [f"({n}, '{'Ab'[n % 2]}{n % 97}', 'first', {n})" for n in range(1, 1001)]
    table = make_table(server, "granted", "id int NOT NULL PRIMARY KEY, code varchar(10) COLLATE Latin1_General_CI_AS NOT NULL, v varchar(20) NULL, hidden int NULL", rows,
                       captured="id, code, v")
    limited = Limited(server, least(folder, server, table, on_columns))
    for name, more in {"counted": (), "sought": ("--snapshot-keys", "code")}.items():
        chunked = Chunked(Lake(folder / name, limited), table, 100, *more)
        open_snapshot(chunked)
        done = tidelake(*chunked.backfill("--require-done"))
        equal(done.code, 0, f"{name}: {done.stderr[-1500:]}")
        chunks = check_snapshot(chunked, "id")
        equal(chunks > 4, True, f"{name}: chunks ({chunks})")
        equal(chunked.lake.query(f"bronze/{table}", "SELECT count(*) FROM t WHERE _operation = 0"), [[1000]], name)


@on_each_source
def select_on_the_table_is_enough(folder, server):  # T4.50
    runs_with(folder, server, False)


@on_each_source
def select_on_the_captured_columns_is_enough(folder, server):  # T4.50
    runs_with(folder, server, True)


if __name__ == "__main__":
    main()
