"""What tests of chunked snapshots share: a table and the commands of its stream, somebody who changes it all the while, processes that are
killed, what each kill left (by the tables' logs alone), and what must be true in the end.
"""
import threading

from lib import *


class Log:
    """The log of a Delta table as it grows; each commit is read once."""

    def __init__(self, folder):
        self.folder, self.version = pathlib.Path(folder), -1
        self.txns, self.files, self.writes = {}, set(), []  # writes: (version, time in ms), without the commit that made the table

    def path(self, version):
        return self.folder / "_delta_log" / f"{version:020d}.json"

    def read(self):
        while self.path(self.version + 1).exists():
            self.version += 1
            for line in self.path(self.version).read_text().splitlines():
                self.take(json.loads(line))
        return self

    def take(self, action):
        if "txn" in action:
            self.txns[action["txn"]["appId"]] = max(self.txns.get(action["txn"]["appId"], -1), action["txn"]["version"])
        elif "add" in action:
            self.files.add(action["add"]["path"])
        elif action.get("commitInfo", {}).get("operation") not in (None, "CREATE TABLE"):
            self.writes.append((self.version, action["commitInfo"]["timestamp"]))

    def txn(self, app_id):
        return self.txns.get(app_id, -1)

    def lsn_of(self, prefix):
        """The newest LSN that a txn of this name ends with."""
        return max((app_id[len(prefix):] for app_id in self.txns if app_id.startswith(prefix)), default=None)


class Chunked:
    """A table, its stream `TABLE-v1` with a chunked snapshot, and where each command stands."""

    def __init__(self, lake, table, chunk_rows, *more):
        self.lake, self.table, self.chunk_rows, self.more = lake, table, chunk_rows, more
        self.app_id = f"{table}-v1"
        self.logs = {name: Log(lake.folder / path) for name, path in {
            "bronze": f"bronze/{table}", "plans": f"bronze/{table}_snapshot_plans", "facts": "ops/facts", "silver": f"silver/{table}",
            "control": "ops/control"}.items()}
        self.checkpoint = lake.folder / "checkpoints" / table

    # --- commands ---

    def common(self):
        own = ["--app-id", self.app_id, "--checkpoint", f"checkpoints/{self.table}", "--num-partitions", "2"]
        return self.lake.options(f"dbo_{self.table}", self.table, *overriding(own, self.more))

    def stream(self, *more):
        return ["stream", *self.common(), "--bootstrap", "--snapshot", "chunked", *more]

    def backfill(self, *more):
        options = self.common()
        at = options.index("--control")  # it keeps no verdict
        return ["backfill", *options[:at], *options[at + 2:], "--chunk-rows", str(self.chunk_rows), "--target-wave-seconds", "0", *more]

    def apply(self, *more):
        return ["apply", *self.lake.options(f"dbo_{self.table}", self.table, "--silver", f"silver/{self.table}", *more)]

    def has_bronze(self):
        return self.logs["bronze"].path(0).exists()

    # --- where each stands ---

    def marks(self):
        """What the logs say of the snapshot: its waves in bronze, plans and facts, and whether it is complete."""
        bronze, plans, facts = (self.logs[name].read() for name in ("bronze", "plans", "facts"))
        planned = facts.lsn_of(f"{self.app_id}#snapplan.")
        start = planned or plans.lsn_of(f"{self.app_id}#snapplan.")
        chunks = f"{self.app_id}#snapchunks.{start}"
        return {"opened": facts.txn(f"{self.app_id}#snapshots") >= 0, "open in plans": bool(plans.lsn_of(f"{self.app_id}#snapopen.")),
                "plan in plans": bool(start), "planned": bool(planned), "bronze": bronze.txn(f"{self.app_id}#snap.{start}"),
                "plans": plans.txn(chunks), "facts": facts.txn(chunks), "complete": facts.txn(f"{self.app_id}#events") >= 0,
                "staged": self.has_left_overs()}

    def waves_recorded(self):
        facts = self.logs["facts"].read()
        return facts.txn(f"{self.app_id}#snapchunks.{facts.lsn_of(f'{self.app_id}#snapplan.')}") + 1

    def has_left_overs(self):
        """Whether rows of a wave were staged, or moved next to the table's files, and never committed."""
        folder, known = self.lake.folder / "bronze" / self.table, self.logs["bronze"].files
        staged = (path for path in folder.glob("_tidelake_staging/backfill*/**/*.parquet"))
        return any(staged) or any(path.name not in known for path in folder.glob("*.parquet"))

    def stream_step(self):
        """By state.md 16.1 and 16.4: offset planned, rows, facts, commit file."""
        numbers = {name: max((int(path.name) for path in self.checkpoint.glob(f"{name}/[0-9]*") if path.name.isdigit()), default=-1)
                   for name in ("offsets", "commits")}
        marks, planned = self.marks(), numbers["offsets"]
        if planned < 0:
            return "opened" if marks["opened"] else "open in plans alone" if marks["open in plans"] else "nothing written"
        if planned == numbers["commits"]:
            return "between batches"
        if self.logs["facts"].txn(f"{self.app_id}#facts") >= planned:
            return "facts in, commit missing"
        return "rows in, facts missing" if self.logs["bronze"].txn(self.app_id) >= planned else "planned, rows missing"

    def position(self, version):
        """Silver's in control."""
        rows = json.loads(tidelake("table", "sql", str(self.lake.folder / "ops/control"), "SELECT applied_lsn, snapshot_lsn, open_snapshot_lsn, snapshot_wave FROM t "
                                   f"WHERE table_name = 'silver/{self.table}'", "--version", str(version), "--json", check=True).stdout)
        return rows["rows"]

    def apply_step(self, finished):
        """By state.md 16.10: the merge of silver, then its position. `finished`: silver's version when a call last ended by itself."""
        silver, control = self.logs["silver"].read(), self.logs["control"].read()
        if not silver.writes or silver.writes[-1][0] <= finished:
            return "before the merge"
        earlier = [version for version, written_ms in control.writes if written_ms < silver.writes[-1][1]]
        return "position in" if not earlier or self.position(control.version) != self.position(earlier[-1]) else "silver written, position missing"


def backfill_step(marks, last_wave):
    """By state.md 16.4 to 16.7, once it is known which wave was the last."""
    if not marks["opened"]:
        return "16.4 open: in plans, not in facts" if marks["open in plans"] else "16.4 open: nothing written"
    if not marks["plan in plans"]:
        return "16.4 open: written, no plan yet"
    if not marks["planned"]:
        return "16.5 plan: in plans, not in facts"
    bronze, plans, facts = (marks[name] for name in ("bronze", "plans", "facts"))
    if marks["complete"]:
        return "16.7 complete"
    if facts == last_wave:
        return "16.6 step 7 of the last wave: completion missing"
    if plans > facts:
        return "16.6 step 6: rows and plans in, facts missing" if bronze >= plans else "16.6 step 6, empty wave: plans in, facts missing"
    if bronze > plans:
        return "16.6 step 4: rows in, plans and facts missing"
    return "16.6 step 3: reading, rows staged" if marks["staged"] else "16.6 steps 1, 2 or 7: between two waves"


class Changes(threading.Thread):
    """Changes the source in short transactions until it is stopped. `make(rng)` gives the statements of one."""

    def __init__(self, server, make, seed, a_round=4, pause=0.02):
        super().__init__(daemon=True)
        self.server, self.make, self.rng, self.a_round, self.pause = server, make, random.Random(seed), a_round, pause
        self.committed, self.failure, self.must_stop = 0, None, threading.Event()
        self.start()

    def run(self):
        try:
            while not self.must_stop.is_set():
                transactions = [f"BEGIN TRANSACTION; {self.make(self.rng)} {'COMMIT' if self.rng.randrange(20) else 'ROLLBACK'};" for _ in range(self.a_round)]
                self.server.sql("SET NOCOUNT ON; SET XACT_ABORT ON;\n" + "\n".join(transactions))
                self.committed += self.a_round
                self.must_stop.wait(self.pause)
        except Exception as failure:  # whoever stops it hears of it
            self.failure = failure

    def stop(self):
        self.must_stop.set()
        self.join(120)
        if self.failure:
            raise AssertionError(f"the writer failed: {self.failure}")
        return self.committed


class Running:
    """A command that is started again when it ends by itself, until it is killed. It must not end badly."""

    def __init__(self, arguments, folder, may_start=lambda: True, at_end=lambda: None):
        self.arguments, self.may_start, self.at_end, self.process = arguments, may_start, at_end, None
        self.log_path = folder / f"{arguments[0]}.log"
        self.log = open(self.log_path, "a")

    def poll(self):
        if self.process and self.process.poll() is not None:
            if self.process.returncode != 0:
                raise AssertionError(f"{' '.join(self.arguments[:1])} ended with {self.process.returncode}: {self.log_path.read_text()[-2000:]}")
            self.process = None
            self.at_end()
        if not self.process and self.may_start():
            self.process = start_tidelake(*self.arguments, stderr=self.log)

    def was_running(self):
        return bool(self.process) and self.process.poll() is None

    def kill(self, wait=True):
        if self.process:
            self.process.kill()
        if self.process and wait:
            self.process.wait()
            self.process = None

    def end(self):
        """SIGTERM, and a good end: between two batches."""
        if self.process:
            self.process.terminate()
            if self.process.wait(60) not in (0, 143):
                raise AssertionError(f"{self.arguments[0]} ended with {self.process.returncode}: {self.log_path.read_text()[-2000:]}")
            self.process = None

    def close(self):
        self.kill()
        self.log.close()


def wait_for_a_write(chunked, rng, patience=0.4):
    """So that short steps are hit too: the next commit of one of the tables, and up to 4 ms more."""
    log = chunked.logs[rng.choice(list(chunked.logs))].read()
    until = time.monotonic() + patience
    while time.monotonic() < until and not log.path(log.version + 1).exists():
        time.sleep(0.0005)
    time.sleep(rng.uniform(0, 0.004))


def count(counts, step):
    counts[step] = counts.get(step, 0) + 1


def kill_again_and_again(chunked, rng, kills, folder, waves, early=3, with_silver=True, patience=60):
    """Stream, backfill and apply side by side, all killed, `kills` times: the first `early` ones while the snapshot is opened and planned, the
    others spread over its `waves`, each at some moment of its share. Returns what was hit: marks of each kill, steps of the stream and of apply."""
    marks, streams, applies, finished = [], {}, {}, [-1]
    processes = [Running(chunked.stream("--trigger", "continuous"), folder), Running(chunked.backfill(), folder),
                 Running(chunked.apply(), folder, lambda: with_silver and chunked.has_bronze(), lambda: finished.__setitem__(0, chunked.logs["silver"].read().version))]
    apply = processes[2]
    try:
        for kill in range(kills):
            length = rng.uniform(0.02, 0.3) if kill < early else patience
            due = rng.uniform(kill - early, kill - early + 1) * waves / (kills - early) if kill >= early else waves
            until = time.monotonic() + length
            while time.monotonic() < until and chunked.waves_recorded() < due:
                for process in processes:
                    process.poll()
                time.sleep(0.002)
            if rng.randrange(3):
                wait_for_a_write(chunked, rng)
            apply_ran = apply.was_running()
            rng.shuffle(processes)
            for process in processes:
                process.kill(wait=False)
            for process in processes:
                process.kill()
            count(streams, chunked.stream_step())
            marks.append(chunked.marks())
            if apply_ran:
                count(applies, chunked.apply_step(finished[0]))
    finally:
        for process in processes:
            process.close()
    return marks, streams, applies


def name_steps(marks, final):
    """How often a kill left the snapshot at each step."""
    steps = {}
    for mark in marks:
        count(steps, backfill_step(mark, final["facts"]))
    return dict(sorted(steps.items()))


def finish(chunked, folder):
    """Backfill to its end next to a stream, as a user would."""
    running = Running(chunked.stream("--trigger", "continuous"), folder)
    try:
        running.poll()
        done = tidelake(*chunked.backfill("--require-done", "--json"), check=True, timeout=600).json()
        equal(done["done"], True, f"backfill of {chunked.table}")
        running.end()
    finally:
        running.close()


def check_snapshot(chunked, key):
    """No row of a chunk twice; one open, plan and completion; a facts row a chunk, and its rows are those in bronze."""
    lake, table = chunked.lake, chunked.table
    mine = f"app_id = '{chunked.app_id}' AND event ="
    if key:
        equal(lake.query(f"bronze/{table}", f"SELECT count(*) - count(DISTINCT ({key})) FROM t WHERE _operation = 0"), [[0]], f"{table}: snapshot rows doubled")
    counts = lake.query("ops/facts", f"""SELECT count(*) FILTER ({mine} 'snapshot_open'), count(*) FILTER ({mine} 'snapshot_plan'),
        count(*) FILTER ({mine} 'bootstrap'), count(*) FILTER ({mine} 'snapshot_chunk') - max((detail->>'$.chunk_count')::INT) FILTER ({mine} 'snapshot_plan'),
        count(*) FILTER ({mine} 'snapshot_chunk') - count(DISTINCT detail->>'$.chunk') FILTER ({mine} 'snapshot_chunk') FROM t""")
    equal(counts, [[1, 1, 1, 0, 0]], f"{table}: opens, plans, completions; chunks beyond the plan, chunks twice")
    told = lake.query("ops/facts", f"SELECT (detail->>'$.chunk')::INT, \"rows\" FROM t WHERE {mine} 'snapshot_chunk' AND \"rows\" > 0 ORDER BY 1")
    equal(lake.query(f"bronze/{table}", "SELECT _chunk, count(*) FROM t WHERE _operation = 0 GROUP BY 1 ORDER BY 1"), told, f"{table}: rows of each chunk, in bronze and by the facts")
    return len(told)


def must_hold(server, condition, what):
    server.sql(f"IF NOT ({condition}) THROW 50000, N'{what}: it is not so', 1;")


def does_hold(server, condition):
    try:
        must_hold(server, condition, "")
    except RuntimeError:
        return False
    return True


def check_changes(chunked, server):
    """Every change after the snapshot is in bronze once."""
    table = chunked.table
    equal(chunked.lake.query(f"bronze/{table}", "SELECT count(*) - count(DISTINCT (_start_lsn, _seqval, _operation)) FROM t WHERE _operation <> 0"), [[0]], f"{table}: changes doubled")
    start = chunked.logs["facts"].read().lsn_of(f"{chunked.app_id}#snapplan.")
    changes = chunked.lake.query(f"bronze/{table}", "SELECT count(*) FROM t WHERE _operation <> 0")[0][0]
    must_hold(server, f"(SELECT COUNT_BIG(*) FROM cdc.[dbo_{table}_CT] WHERE __$start_lsn > {start}) = {changes}", f"{changes} changes of {table} in the source too")


def check_silver(chunked):
    tidelake(*chunked.stream("--trigger", "available-now"), check=True, timeout=600)
    tidelake(*chunked.apply(), check=True, timeout=600)
    silver_is_source(chunked.lake.server, chunked.table, chunked.lake.folder / "silver" / chunked.table)


# --- a real server as well ---

CONNECTION = os.environ.get("TIDELAKE_SQLSERVER", "")


class RealServer:
    """The server that TIDELAKE_SQLSERVER names; its login owns the database. `drops` lists what a test leaves."""

    def __init__(self):
        self.drops, self.is_real, self.mark = [], True, random.randrange(1 << 30)
        self.sql("IF NOT EXISTS (SELECT 1 FROM sys.databases WHERE database_id = DB_ID() AND is_cdc_enabled = 1) EXEC sys.sp_cdc_enable_db;")

    def connection(self):
        return CONNECTION

    def name(self, table):
        return f"tidelake_{table}_{self.mark}"

    def sql(self, script, check=True):
        done = subprocess.run([program("demo-sql"), "--connection", CONNECTION], input=script, capture_output=True, text=True, timeout=600)
        if check and done.returncode != 0:
            raise RuntimeError(f"{done.stderr}\n{script[:2000]}")

    def scan(self):
        time.sleep(15)  # its capture job looks every five seconds

    def close(self):
        for drop in self.drops:
            self.sql(drop, check=False)


class SimServer(Server):
    """A tidesim, for tests that a real server takes too."""

    def __init__(self, folder, *options):
        super().__init__(folder, "--capture-interval", "200ms", *options)
        self.drops, self.is_real = [], False
        self.sql("EXEC sys.sp_cdc_enable_db;")

    def name(self, table):
        return table


def on_each_source(function):
    """The test against a tidesim, and against a real server where there is one."""
    def against_a_tidesim(folder):
        server = SimServer(folder)
        try:
            function(folder, server)
        finally:
            server.close()

    def against_a_real_server(folder):
        if not CONNECTION:
            raise Skip("TIDELAKE_SQLSERVER is not set: nothing was tested against a real SQL Server")
        server = RealServer()
        try:
            function(folder, server)
        finally:
            server.close()

    for run, name in ((against_a_tidesim, function.__name__), (against_a_real_server, function.__name__ + "_on_a_real_server")):
        run.__name__ = name
        test(run)
    return function


def make_table(server, table, columns, rows, captured=None):
    """A table with rows of literals, captured. Its name on this server is returned."""
    name = server.name(table)
    server.drops.append(f"EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N'{name}', @capture_instance = N'all';\nGO\nDROP TABLE dbo.{name};")
    inserts = "\n".join(f"INSERT dbo.{name} VALUES {', '.join(rows[at:at + 500])};" for at in range(0, len(rows), 500))
    listed = f", @captured_column_list = N'{captured}'" if captured else ""
    server.sql(f"CREATE TABLE dbo.{name} ({columns});\nGO\n{inserts}\nGO\n"
               f"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'{name}', @role_name = NULL{listed};")
    if not server.is_real:
        server.scan()
    return name


class Holder:
    """A transaction that has run `statements` and holds what they locked, until it is let go; then it is rolled back."""

    def __init__(self, server, statements):
        self.server, self.failure = server, None
        self.signal, self.release = server.name("holder_signal"), server.name("holder_release")
        self.drop = f"DROP TABLE IF EXISTS dbo.{self.signal}; DROP TABLE IF EXISTS dbo.{self.release};"
        server.sql(f"{self.drop}\nGO\nCREATE TABLE dbo.{self.signal} (x int); CREATE TABLE dbo.{self.release} (x int);")
        self.thread = threading.Thread(target=self.run, args=(statements,), daemon=True)

    def run(self, statements):
        try:
            self.server.sql(f"SET XACT_ABORT ON; SET NOCOUNT ON; BEGIN TRANSACTION; {statements} INSERT dbo.{self.signal} VALUES (1);\n"
                            f"WHILE NOT EXISTS (SELECT 1 FROM dbo.{self.release}) WAITFOR DELAY '00:00:00.020';\nROLLBACK;")
        except Exception as failure:
            self.failure = failure

    def __enter__(self):
        self.thread.start()
        wait_for("a transaction that holds its locks", lambda: self.failure or does_hold(self.server, f"EXISTS (SELECT 1 FROM dbo.{self.signal} WITH (NOLOCK))"))
        return self

    def let_go(self):
        if self.thread.is_alive():
            self.server.sql(f"INSERT dbo.{self.release} VALUES (1);")
            self.thread.join(60)

    def __exit__(self, *error):
        self.let_go()
        self.server.sql(self.drop)
        if self.failure:
            raise AssertionError(f"the transaction that holds locks failed: {self.failure}")


def wait_for(what, condition, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"{what}: it did not come to that")
        time.sleep(0.02)


def wait_until_blocked(server, process):
    """Somebody waits for a lock; on a real server, whose views the login may not see, time has to do."""
    if server.is_real:
        time.sleep(3)
    else:
        wait_for("a statement that waits for a lock", lambda: does_hold(server, "EXISTS (SELECT 1 FROM sys.dm_exec_requests WHERE blocking_session_id <> 0)"))
    equal(process.poll(), None, "the exit code of a command that waits for a lock")
