#!/usr/bin/env python3
"""stream and apply, killed again and again at a random moment while a writer works; then left alone: nothing lost, nothing doubled.

Which step of the write order a kill hit is told by what it left: the offset planned, bronze's txn, the facts' txn, the commit file.
"""
from lib import *

RUNS = 6 if os.environ.get("TIDELAKE_E2E_SHORT") else 20
TABLES = ("customers", "orders", "order_items")


def stream_arguments(lake, table):
    return lake.options(f"dbo_{table}", table, "--app-id", f"{table}-v1", "--checkpoint", f"checkpoints/{table}") + [
        "--bootstrap", "--trigger", "continuous", "--compact-bronze", "10", "--compact-facts", "10"]


def largest(folder):
    return max((int(path.name) for path in folder.glob("[0-9]*")), default=-1) if folder.exists() else -1


def step_hit(lake, table):
    """Where a killed stream stood (state.md 16.1, 16.2)."""
    checkpoint = lake.folder / "checkpoints" / table
    planned, committed = largest(checkpoint / "offsets"), largest(checkpoint / "commits")
    if planned < 0:
        events = [action for _, actions in (lake.log("ops/facts") if (lake.folder / "ops/facts/_delta_log").exists() else []) for action in actions if "add" in action]
        if not events:
            return "before anything"
        snapshot = any("snapshot" in (action.get("commitInfo", {}).get("userMetadata") or "") for _, actions in
                       (lake.log(f"bronze/{table}") if (lake.folder / f"bronze/{table}/_delta_log").exists() else []) for action in actions)
        if not snapshot:
            return "bootstrap: opened, not read"
        return "bootstrap: read, event or start missing"
    if planned == committed:
        return "between batches"
    if lake.txn("ops/facts", f"{table}-v1#facts") >= planned:
        return "facts in, commit missing"
    if (lake.folder / f"bronze/{table}/_delta_log").exists() and lake.txn(f"bronze/{table}", f"{table}-v1") >= planned:
        return "bronze in, facts missing"
    return "planned, bronze missing"


def silver_state(lake, table):
    """Silver's newest version, and the position that control holds of it."""
    log = lake.log(f"silver/{table}") if (lake.folder / f"silver/{table}/_delta_log").exists() else []
    known = (lake.folder / "ops/control/_delta_log").exists()
    position = lake.query("ops/control", f"SELECT applied_lsn, snapshot_lsn FROM t WHERE table_name = 'silver/{table}'") if known else []
    return (log[-1][0] if log else -1), position


def apply_step_hit(before, after):
    """Where a killed apply stood (state.md 16.10): the merge of silver comes first, its position in control after it."""
    if after[1] != before[1]:
        return "merged and recorded"
    return "before the merge" if after[0] == before[0] else "silver written, position missing"


def kill_soon(process, checkpoint, rng, longest):
    """At a random moment, or (every other time) within milliseconds of a batch's planning: most of a run is waiting."""
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0.05, longest))
    else:
        planned, end = largest(checkpoint / "offsets"), time.monotonic() + 5
        while process.poll() is None and largest(checkpoint / "offsets") == planned and time.monotonic() < end:
            time.sleep(0.0005)
        time.sleep(rng.uniform(0, 0.04))
    process.kill()
    process.wait()


@test
def killed_runs_lose_nothing_and_double_nothing(folder):
    seed = int(os.environ.get("TIDELAKE_SEED", random.randrange(1 << 30)))
    print(f"# seed {seed}", flush=True)
    rng = random.Random(seed)
    server = Server(folder, "--capture-interval", "200ms", "--seed", str(seed), init=[ROOT / "demo" / "shop.sql"])
    lake = Lake(folder / "lake", server)
    steps, applies = {}, {}
    try:
        writer = Writer(server, "--rate", "100", "--seed", str(seed))
        for run in range(RUNS):
            table = TABLES[run % 3]
            with open(folder / f"stream-{run}.log", "w") as log:
                process = start_tidelake("stream", *stream_arguments(lake, table), stderr=log)
                kill_soon(process, lake.folder / "checkpoints" / table, rng, 2.0 if run >= 3 else 0.6)
            hit = step_hit(lake, table)
            steps[hit] = steps.get(hit, 0) + 1
            if (lake.folder / f"bronze/{table}/_delta_log").exists():
                before = silver_state(lake, table)
                with open(folder / f"apply-{run}.log", "w") as log:
                    process = start_tidelake("apply", *lake.options(f"dbo_{table}", table, "--silver", f"silver/{table}"), stderr=log)
                    time.sleep(rng.uniform(0, 0.05) if run % 4 else rng.uniform(0.05, 0.8))  # most take no longer
                    was_running = process.poll() is None
                    process.kill()
                    process.wait()
                if was_running:
                    hit = apply_step_hit(before, silver_state(lake, table))
                    applies[hit] = applies.get(hit, 0) + 1
        committed = writer.stop()
        server.scan()
        compactions = sum(1 for name in ("ops/facts", *(f"bronze/{table}" for table in TABLES)) for _, actions in lake.log(name) for action in actions
                          if action.get("commitInfo", {}).get("operation") == "OPTIMIZE")
        print(f"# the writer committed {committed} transactions; kills of stream: {steps}; of apply: {applies}; {compactions} compactions", flush=True)
        equal(any(step not in ("before anything", "between batches") for step in steps), True, f"a kill in the middle of something ({steps})")
        equal(sum(applies.values()) > 0, True, "a kill of an apply that ran")
        for table in TABLES:
            lake.stream(f"dbo_{table}", table, check=True)
            lake.apply(f"dbo_{table}", table, check=True)
            compared = lake.compare(table)
            equal(compared.returncode, 0, compared.stdout + compared.stderr)
            equal(lake.query(f"bronze/{table}", "SELECT count(*) - count(DISTINCT (_start_lsn, _seqval, _operation)) FROM t WHERE _operation <> 0"), [[0]], "changes doubled")
            equal(lake.query(f"bronze/{table}", "SELECT count(DISTINCT _snapshot) FROM t WHERE _operation = 0"), [[1]], "snapshots")
            check_every_change_is_there(server, lake, table)
            batches = lake.query("ops/facts", f"SELECT batch_id, count(*) FROM t WHERE event IS NULL AND app_id = '{table}-v1' GROUP BY 1 HAVING count(*) > 1")
            equal(batches, [], "facts rows doubled")
            numbers = [row[0] for row in lake.query("ops/facts", f"SELECT batch_id FROM t WHERE event IS NULL AND app_id = '{table}-v1' ORDER BY 1")]
            equal(numbers, list(range(len(numbers))), "a facts row per batch")
            counted = lake.query("ops/facts", f"SELECT sum(\"rows\")::BIGINT FROM t WHERE event IS NULL AND app_id = '{table}-v1'")
            equal(counted, lake.query(f"bronze/{table}", "SELECT count(*) FROM t WHERE _operation <> 0"), "rows in facts and bronze")
    finally:
        server.close()


def check_every_change_is_there(server, lake, table):
    """Changes after the snapshot, as the change table has them."""
    start = lake.query(f"bronze/{table}", "SELECT max(_snapshot) FROM t WHERE _operation = 0")[0][0]
    source = server.sql(f"SET NOCOUNT ON; SELECT CONCAT('changes=', COUNT_BIG(*)) AS n FROM cdc.dbo_{table}_CT WHERE __$start_lsn > {start};")
    in_source = int(source.split("changes=")[1].split()[0])
    in_bronze = lake.query(f"bronze/{table}", "SELECT count(*) FROM t WHERE _operation <> 0")[0][0]
    equal(in_bronze, in_source, f"changes of {table}")


if __name__ == "__main__":
    main()
