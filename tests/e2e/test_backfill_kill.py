#!/usr/bin/env python3
"""A chunked snapshot of a large table next to its stream, apply and a writer, all three killed with SIGKILL again and again; then left alone:
every row once, silver is the source. TIDELAKE_KILLS and TIDELAKE_ROWS make it longer; tests/soak/run does.
"""
from chunked import *

SHORT = bool(os.environ.get("TIDELAKE_E2E_SHORT"))
KILLS = int(os.environ.get("TIDELAKE_KILLS", 4 if SHORT else 10))
ROWS = int(os.environ.get("TIDELAKE_ROWS", 20000 if SHORT else 200000))
WAVES = 8 * KILLS              # about, of two chunks each
SPARSE = ROWS // 50            # keys far apart, far below the others
DENSE = 5_000_000_000_000      # the first of the cluster
LAST = 2**63 - 1
NEW = LAST - 10**9             # where new keys go: between the cluster and the sentinel

SETUP = f"""
CREATE TABLE dbo.readings (id bigint NOT NULL PRIMARY KEY, label varchar(40) NULL, n int NOT NULL, taken_at datetime2(3) NULL, price decimal(12,4) NULL);
GO
INSERT dbo.readings SELECT CASE WHEN value <= {SPARSE} THEN value * 1000003 ELSE {DENSE} + value END, CONCAT('first ', value), CAST(value % 1000 AS int),
       DATEADD(second, value, CAST('2026-01-01' AS datetime2(3))), CAST(value % 9973 AS decimal(12,4)) / 3
FROM GENERATE_SERIES(CAST(1 AS bigint), CAST({ROWS - 1} AS bigint));
INSERT dbo.readings VALUES ({LAST}, 'sentinel', 0, NULL, NULL);
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'readings', @role_name = NULL;
GO
"""


def some_key(rng):
    kind = rng.randrange(10)
    if kind == 0:
        return LAST
    if kind < 3:
        return rng.randrange(1, SPARSE + 1) * 1000003
    return DENSE + rng.randrange(SPARSE + 1, ROWS) if kind < 8 else NEW + rng.randrange(2000)


def change(rng):
    """A few statements; most meet a row."""
    statements = []
    for _ in range(rng.randrange(1, 4)):
        old, new, n = some_key(rng), some_key(rng), rng.randrange(10**6)
        statements.append(rng.choice([
            f"INSERT dbo.readings SELECT {new}, 'new {n}', {n}, SYSUTCDATETIME(), {n}.25 WHERE NOT EXISTS (SELECT 1 FROM dbo.readings WHERE id = {new});",
            f"UPDATE dbo.readings SET n = {n}, label = CONCAT('changed ', n) WHERE id = {old};",
            f"UPDATE dbo.readings SET price = price + 0.0001 WHERE id BETWEEN {old} - 20 AND {old};",
            f"DELETE FROM dbo.readings WHERE id = {old};",
            f"UPDATE dbo.readings SET id = {new}, n = {n} WHERE id = {old} AND NOT EXISTS (SELECT 1 FROM dbo.readings WHERE id = {new});"]))
    return " ".join(statements)


@test
def killed_snapshots_of_a_large_table_lose_nothing_and_double_nothing(folder):  # T4.47
    seed = int(os.environ.get("TIDELAKE_SEED", random.randrange(1 << 30)))
    print(f"# seed {seed}, {KILLS} kills, {ROWS} rows", flush=True)
    rng, began = random.Random(seed), time.monotonic()
    server = SimServer(folder, "--seed", str(seed))
    chunked = Chunked(Lake(folder / "lake", server), "readings", ROWS // (2 * WAVES))
    try:
        server.sql(SETUP)
        writer = Changes(server, change, seed)
        marks, streams, applies = kill_again_and_again(chunked, rng, KILLS, folder, WAVES, early=min(3, KILLS // 3))
        killed_s = time.monotonic() - began
        finish(chunked, folder)
        committed = writer.stop()
        server.scan()
        check_silver(chunked)
        print(f"# the writer committed {committed} transactions; {killed_s:.0f} s of kills, then {time.monotonic() - began - killed_s:.0f} s to the end", flush=True)
        for what, steps in (("backfill", name_steps(marks, chunked.marks())), ("stream", streams), ("apply", applies)):
            for step, times in sorted(steps.items()):
                print(f"# killed {what}: {times} x {step}", flush=True)
        chunks = check_snapshot(chunked, "id")
        equal(chunks > 50, True, f"chunks ({chunks})")
        check_changes(chunked, server)
        equal(any(mark["planned"] and not mark["complete"] for mark in marks), True, "a kill while the snapshot was read")
    finally:
        server.close()


if __name__ == "__main__":
    main()
