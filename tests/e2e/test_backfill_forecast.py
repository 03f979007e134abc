#!/usr/bin/env python3
"""What a backfill tells of its rest, over a link of 1 MB/s a connection: the forecast, its warning, and the progress line of a terminal."""
import datetime
import pty
import re

from lib import *

ROWS, CHUNK = 24000, 2000  # half a kilobyte each: 12 MB over two connections, six seconds
TABLE = f"""
CREATE TABLE dbo.big (id int NOT NULL PRIMARY KEY, pad varchar(600) NOT NULL);
INSERT INTO dbo.big SELECT value, REPLICATE('x', 500) FROM GENERATE_SERIES(1, {ROWS});
GO
EXEC sys.sp_cdc_enable_db;
EXEC sys.sp_cdc_enable_table @source_schema = 'dbo', @source_name = 'big', @role_name = NULL;
GO
"""


def backfill(lake, *more):
    return ["backfill", "--connection", lake.server.connection(), "--root", str(lake.folder), "--capture-instance", "dbo_big", "--bronze",
            "bronze/big", "--app-id", "big-v1", "--checkpoint", "checkpoints/big", "--facts", "ops/facts", "--num-partitions", "2",
            "--chunk-rows", str(CHUNK), "--target-wave-seconds", "0.5", *more]


def stream(lake):
    options = backfill(lake)[1:-6]
    return ["stream", *options, "--num-partitions", "2", "--bootstrap", "--snapshot", "chunked", "--trigger", "available-now"]


def on_a_terminal(arguments):
    """Runs it with a terminal as its standard error; what it drew there."""
    control, terminal = pty.openpty()
    process = start_tidelake(*arguments, stderr=terminal)
    os.close(terminal)
    drawn = b""
    while True:
        try:
            piece = os.read(control, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        drawn += piece
    os.close(control)
    return process.wait(), drawn.decode()


def moment(line):
    return datetime.datetime.fromisoformat(re.search(r"\d{4}-\d\d-\d\dT[\d:.]+", line)[0])


@test
def the_forecast_comes_true(folder):
    script = folder / "big.sql"
    script.write_text(TABLE)
    server = Server(folder, "--capture-interval", "manual", "--bandwidth", "1000000", init=[script])
    lake = Lake(folder / "lake", server)
    try:
        server.scan()
        tidelake(*stream(lake), check=True)
        first = tidelake(*backfill(lake, "--max-waves", "1"), check=True)
        equal("forecast" in first.stderr or "will not fit" in first.stderr, False, first.stderr)
        server.sql("INSERT INTO dbo.big VALUES (0, 'early')")
        server.scan()
        tidelake(*stream(lake), check=True)  # now the retention's distance is known: there is next to none
        code, drawn = on_a_terminal(backfill(lake, "--require-done"))
        equal(code, 0, drawn)
        lines = re.split(r"[\r\n]+", drawn)
        forecast, = (line for line in lines if "forecast: what is left of the snapshot" in line)  # told once
        told = {name: float(value) for name, value in re.findall(r"(\w+)=(-?[\d.]+)", forecast)}
        equal(abs(told["rows"] - (ROWS - 2 * CHUNK)) <= 10, True, forecast)  # chunks end at round keys
        last = [line for line in lines if "wave committed" in line][-1]
        took = (moment(last) - moment(forecast)).total_seconds()
        print(f"# forecast {told['seconds']} s at {told['mb_per_s']} MB/s, took {took:.1f} s", flush=True)
        equal(abs(told["seconds"] - took) <= 0.3 * took, True, f"{forecast}: took {took:.1f} s")
        warning = next(line for line in lines if "will not fit into the retention headroom" in line)
        holds(warning, "WARN", "headroom_hours=")
        shown = re.compile(r"dbo_big backfill: (\d+)/(\d+) chunks, wave \d+: \d+ rows, \d+ rows/s, [\d.]+ MB/s, ETA (\d+) s, headroom -?[\d.]+ h")
        steps = [tuple(map(int, match.groups())) for match in shown.finditer(drawn)]
        equal(len(steps) > 1, True, drawn)
        done, total = [step[0] for step in steps], int(re.search(r"chunks_total=(\d+)", last)[1])
        equal((done, {step[1] for step in steps}), (sorted(done), {total}), drawn)
        equal(done[-1] > total // 2, True, f"chunks that are done show: {done}")
        equal(max(step[2] for step in steps) <= 3 * told["seconds"] + 1, True, f"{forecast}: {steps}")
    finally:
        server.close()


if __name__ == "__main__":
    main()
