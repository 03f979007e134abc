#!/usr/bin/env python3
"""Chunked snapshots next to a running stream and a writer; stream, backfill and apply killed again and again at a random moment; then left
alone: nothing lost, nothing doubled. An integer key, and one of two columns.
"""
from lib import *

KILLS = 4 if os.environ.get("TIDELAKE_E2E_SHORT") else 10
TABLES = {"orders": 8000, "order_items": 25000}


def common(lake, table):
    return lake.options(f"dbo_{table}", table, "--app-id", f"{table}-v1", "--checkpoint", f"checkpoints/{table}", "--num-partitions", "2")


def stream(lake, table):
    return ["stream", *common(lake, table), "--bootstrap", "--snapshot", "chunked"]


def backfill(lake, table, *more):
    options = common(lake, table)
    at = options.index("--control")  # it keeps no verdict
    return ["backfill", *options[:at], *options[at + 2:], "--chunk-rows", str(TABLES[table]), "--target-wave-seconds", "0", *more]


def step_hit(lake, table):
    """How far a killed backfill had come: chunks in bronze, in the plans and in the facts."""
    name = f"{table}-v1#snap"
    if lake.txn("ops/facts", f"{table}-v1#snapshots") < 0:
        return "nothing was open"
    start = lake.query("ops/facts", f"SELECT max(max_lsn) FROM t WHERE event = 'snapshot_open' AND app_id = '{table}-v1'")[0][0]
    has_bronze = (lake.folder / f"bronze/{table}/_delta_log").exists()
    rows = lake.txn(f"bronze/{table}", f"{name}.{start}") if has_bronze else -1
    plans = lake.txn(f"bronze/{table}_snapshot_plans", f"{table}-v1#snapchunks.{start}")
    facts = lake.txn("ops/facts", f"{table}-v1#snapchunks.{start}")
    if rows > plans:
        return "rows in, plans missing"
    if plans > facts:
        return "plans in, facts missing"
    return "between waves" if facts >= 0 else "no wave yet"


def run_for(seconds, arguments, log):
    process = start_tidelake(*arguments, stderr=log)
    time.sleep(seconds)
    process.kill()
    process.wait()


@test
def killed_backfills_lose_nothing_and_double_nothing(folder):
    seed = int(os.environ.get("TIDELAKE_SEED", random.randrange(1 << 30)))
    print(f"# seed {seed}", flush=True)
    rng = random.Random(seed)
    server = Server(folder, "--capture-interval", "200ms", "--seed", str(seed), init=[ROOT / "demo" / "shop.sql"])
    lake = Lake(folder / "lake", server)
    steps = {}
    log = open(folder / "log", "w")
    try:
        for table in TABLES:
            tidelake(*stream(lake, table), "--trigger", "available-now", check=True)
            equal((lake.folder / f"bronze/{table}").exists(), False, "rows before the backfill")
        writer = Writer(server, "--rate", "100", "--seed", str(seed))
        for kill in range(KILLS):
            table = list(TABLES)[kill % 2]
            running = start_tidelake(*stream(lake, table), "--trigger", "continuous", stderr=log)
            run_for(rng.uniform(0.2, 1.2), backfill(lake, table), log)
            running.kill()
            running.wait()
            hit = step_hit(lake, table)
            steps[hit] = steps.get(hit, 0) + 1
            if (lake.folder / f"bronze/{table}/_delta_log").exists():
                run_for(rng.uniform(0.1, 1.0), ["apply", *lake.options(f"dbo_{table}", table, "--silver", f"silver/{table}")], log)
        for table in TABLES:
            running = start_tidelake(*stream(lake, table), "--trigger", "continuous", stderr=log)
            done = tidelake(*backfill(lake, table), "--require-done", "--json", check=True).json()
            equal(done["done"], True, f"backfill of {table}")
            running.terminate()
            running.wait()
        committed = writer.stop()
        server.scan()
        print(f"# the writer committed {committed} transactions; kills of backfill: {steps}", flush=True)
        for table in TABLES:
            check(lake, table)
    finally:
        log.close()
        server.close()


def check(lake, table):
    tidelake(*stream(lake, table), "--trigger", "available-now", check=True)
    lake.apply(f"dbo_{table}", table, check=True)
    compared = lake.compare(table)
    equal(compared.returncode, 0, compared.stdout + compared.stderr)
    key = {"orders": "order_id", "order_items": "(order_id, line_no)"}[table]
    equal(lake.query(f"bronze/{table}", f"SELECT count(*) - count(DISTINCT {key}) FROM t WHERE _operation = 0"), [[0]], "snapshot rows doubled")
    events = f"app_id = '{table}-v1' AND event ="
    counts = lake.query("ops/facts", f"SELECT count(*) FILTER ({events} 'snapshot_open'), count(*) FILTER ({events} 'snapshot_plan'), "
                                     f"count(*) FILTER ({events} 'bootstrap') FROM t")
    equal(counts, [[1, 1, 1]], "opens, plans and completions")
    chunks = lake.query("ops/facts", f"SELECT count(*), count(DISTINCT detail->>'$.chunk'), sum(\"rows\")::BIGINT FROM t WHERE {events} 'snapshot_chunk'")
    planned = lake.query("ops/facts", f"SELECT (detail->>'$.chunk_count')::INT FROM t WHERE {events} 'snapshot_plan'")[0][0]
    rows = lake.query(f"bronze/{table}", "SELECT count(*) FROM t WHERE _operation = 0")[0][0]
    equal(chunks, [[planned, planned, rows]], "chunks in the facts, and their rows")
    equal(planned > 5, True, f"chunks ({planned})")


@test
def a_backfill_says_where_it_is(folder):
    server = Server(folder, "--capture-interval", "manual", init=[ROOT / "demo" / "shop.sql"])
    lake = Lake(folder / "lake", server)
    try:
        server.scan()
        nothing = tidelake(*backfill(lake, "orders"), "--json", "--require-done")
        equal(nothing.code, 6, nothing.stderr)
        equal(nothing.json()["state"], "no_snapshot")
        holds(tidelake(*backfill(lake, "orders"), check=True).stdout, "dbo_orders: no_snapshot: no chunked snapshot of")
        equal((lake.folder / "ops/facts").exists(), False, "a table of a name that may be misspelt")
        holds(nothing.last_error(), "dbo_orders is not complete: no chunked snapshot of", "--bootstrap --snapshot chunked")
        tidelake(*stream(lake, "orders"), "--trigger", "available-now", check=True)
        one = tidelake(*backfill(lake, "orders"), "--max-waves", "1", "--json", check=True).json()
        equal({key: one[key] for key in ("chunks_done", "done", "paused", "state", "waves")},
              {"chunks_done": 2, "done": False, "paused": False, "state": "running", "waves": 1})
        pause = lake.folder / "checkpoints/orders/_tidelake/pause"
        pause.parent.mkdir(exist_ok=True)
        pause.touch()
        paused = tidelake(*backfill(lake, "orders"), check=True)
        holds(paused.stdout, "paused", "_tidelake/pause is there: remove it to go on")
        pause.unlink()
        full = tidelake("stream", *common(lake, "orders"), "--bootstrap", "--trigger", "available-now")
        equal(full.code, 1)
        holds(full.last_error(), "a chunked snapshot at LSN 0x", "let tidelake backfill run until it is done")
        done = tidelake(*backfill(lake, "orders"), "--require-done", check=True)
        holds(done.stdout, "dbo_orders: done, 11 of 11 chunks")
    finally:
        server.close()


def temporary(folder):
    return sorted(path.name for path in folder.glob("tidelake-*"))


@test
def what_a_killed_run_left_in_the_temporary_folder_goes_with_the_next(folder):
    server = Server(folder, "--capture-interval", "manual", init=[ROOT / "demo" / "shop.sql"])
    lake, own = Lake(folder / "lake", server), folder / "tmp"
    own.mkdir()
    env = {**os.environ, "TMPDIR": str(own)}

    def follow(table):
        before = temporary(own)
        process = subprocess.Popen([program("tidelake"), *stream(lake, table), "--trigger", "continuous"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        for _ in range(600):
            if len(temporary(own)) > len(before) or process.poll() is not None:
                break
            time.sleep(0.05)
        return process

    running = []
    try:
        server.scan()
        for table in TABLES:
            running.append(follow(table))
        killed, living = running
        equal(len(temporary(own)), 2, f"folders of two runs ({temporary(own)})")
        killed.kill()
        killed.wait()
        left = [name for name in temporary(own) if f"-{killed.pid}-" in name]
        equal(len(left), 1, "folders of the killed run")
        (own / left[0] / "spill").mkdir(exist_ok=True)
        (own / left[0] / "spill" / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(bytes(1000))
        tidelake("verdict", "show", "bronze/orders", "--control", str(lake.folder / "ops/control"), check=True, env=env)
        equal([name for name in temporary(own) if f"-{living.pid}-" not in name], [], "left behind")
        equal(len(temporary(own)), 1, "folders of the run that goes on")
        living.terminate()
        equal([living.wait(60), temporary(own)], [143, []], "a run that ends well: exit code, folders")
    finally:
        for process in running:
            process.kill()
            process.wait()
        server.close()


if __name__ == "__main__":
    main()
