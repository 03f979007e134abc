#!/usr/bin/env python3
"""One transaction larger than any buffer: a million rows of 1 KB, killed on the way, in bronze whole or not at all (case A7)."""
import resource

from lib import *

ROWS = 100_000 if os.environ.get("TIDELAKE_E2E_SHORT") else 1_000_000
PEAK_MB = 300  # two connections: their buffers, a row group each, and libduckdb itself


@test
def a_commit_of_a_million_rows_is_there_once_whatever_is_killed(folder):  # case A7
    seed = int(os.environ.get("TIDELAKE_SEED", random.randrange(1 << 30)))
    print(f"# seed {seed}", flush=True)
    rng = random.Random(seed)
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql("CREATE TABLE dbo.big (id int NOT NULL PRIMARY KEY, v char(1000) NOT NULL);\nGO\nEXEC sys.sp_cdc_enable_db;\nGO\n"
                   "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'big', @role_name = NULL;")
        server.scan()
        server.sql(f"INSERT INTO dbo.big SELECT CAST(value AS int), CONCAT('row ', value) FROM GENERATE_SERIES(1, {ROWS});")
        server.scan()
        lake = Lake(folder / "lake", server)
        arguments = ["stream", *lake.options("dbo_big", "big", "--app-id", "big-v1", "--checkpoint", "checkpoints/big"), "--trigger", "available-now"]
        seconds = ROWS / 100_000
        for run in range(5):
            with open(folder / f"run-{run}.log", "w") as log:
                process = start_tidelake(*arguments, stderr=log)
                time.sleep(rng.uniform(0.1, seconds))
                process.kill()
                process.wait()
            if (lake.folder / "bronze/big/_delta_log").exists():
                rows = lake.query("bronze/big", "SELECT count(*) FROM t")[0][0]
                equal(rows in (0, ROWS), True, f"{rows} rows after a kill: all or none")
        tidelake(*arguments, check=True)
        equal(lake.query("bronze/big", "SELECT count(*), count(DISTINCT id), min(length(v)) FROM t"), [[ROWS, ROWS, 1000]])
        equal(lake.query("ops/facts", "SELECT sum(\"rows\")::BIGINT FROM t WHERE event IS NULL"), [[ROWS]])
        equal(list((lake.folder / "bronze/big/_tidelake_staging").rglob("*.parquet")), [], "staged files left")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"# peak memory of the largest process: {peak:.0f} MB", flush=True)
        if "san" not in os.environ["TIDELAKE_BUILD"]:
            equal(peak < PEAK_MB, True, f"memory: {peak:.0f} MB")
    finally:
        server.close()


if __name__ == "__main__":
    main()
