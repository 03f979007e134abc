#!/usr/bin/env python3
"""A stream that is asked to stop is gone within a second, whatever it waits for, and the next run goes on."""
import socket

from lib import *

READ = "'%INNER JOIN cdc.lsn_time_mapping%'"

# What the stream waits for, the fault that makes it wait, and what tells that it does.
WAITS = [
    ("a server that is deaf", "EXEC tidesim.fault 'half_close', '%fn_cdc_get_max_lsn%', @times = -1"),
    ("the first row", f"EXEC tidesim.fault 'half_close', {READ}, @times = -1"),
    ("the middle of a row", f"EXEC tidesim.fault 'half_close', {READ}, @at = 'inside_row', @n = 700, @times = -1"),
    ("a stall that hears no attention", f"EXEC tidesim.fault 'stall', {READ}, @at = 'row', @n = 1500, @ms = 60000, @deaf = 1, @times = -1"),
    ("rows that come slowly into the file", f"EXEC tidesim.fault 'slow_rows', {READ}, @rate = 20, @times = -1"),
    ("a login that is not answered", "EXEC tidesim.fault 'half_close', @at = 'login', @app = 'tidelake', @times = -1"),
    ("the next attempt", "EXEC tidesim.fault 'error', '%fn_cdc_get_max_lsn%', 10928, @times = -1"),
]


def stop(process, number, what):
    """Sends the signal; the process must be gone within a second, with its exit status."""
    time.sleep(0.35)
    equal(process.poll(), None, f"{what}: still running")
    began = time.monotonic()
    process.send_signal(number)
    equal(process.wait(20), 128 + number, what)
    took = time.monotonic() - began
    if took >= 1:
        raise AssertionError(f"{what}: it took {took:.2f} s")
    return took


def stopping(folder, driver):
    with driven(folder, driver) as (lake, server):
        lake.stream("dbo_parcel", "parcel", check=True)
        want, late = 10, 0
        for round, (what, fault) in enumerate(WAITS):
            server.sql(f"INSERT INTO dbo.parcel SELECT value, 'more' FROM GENERATE_SERIES({1000 + round * 3000}, {2999 + round * 3000});")
            server.scan()
            want += 2000
            server.sql(fault)
            number = (signal.SIGTERM, signal.SIGINT)[round % 2]
            with open(folder / "log", "w") as log:
                took = stop(lake.start(log), number, what)
            late += "without waiting" in (folder / "log").read_text()
            print(f"# {what}: {took * 1000:.0f} ms", flush=True)
            server.sql("EXEC tidesim.fault 'none'")
            lake.stream("dbo_parcel", "parcel", check=True)
            equal(lake.query("bronze/parcel", "SELECT count(*), count(DISTINCT id) FROM t"), [[want, want]], "after " + what)
        equal(lake.query("ops/facts", "SELECT count(*), count(DISTINCT batch_id) FROM t WHERE event IS NULL")[0],
              [len(WAITS) + 1, len(WAITS) + 1], "a facts row per batch")
        if late > 1:  # one may be a machine that was busy elsewhere
            raise AssertionError(f"{late} of {len(WAITS)} calls did not come back and were ended by the limit")


@test
def a_stream_stops_within_a_second_whatever_it_waits_for(folder):
    stopping(folder, "FreeTDS")


@test
def so_it_does_through_microsofts_driver(folder):
    if not microsoft_driver():
        raise Skip("Microsoft's driver is not installed")
    stopping(folder, microsoft_driver())


@test
def a_port_where_nobody_says_anything_is_left_within_a_second(folder):
    with socket.create_server(("127.0.0.1", 0), backlog=8) as mute:  # the kernel takes the connection, nobody answers
        for driver in drivers():
            for number in (signal.SIGTERM, signal.SIGINT):
                with open(folder / "log", "w") as log:
                    process = start_tidelake("stream", "--connection", f"Driver={driver};Server=127.0.0.1,{mute.getsockname()[1]};Database=shop;UID=sa;PWD=x;Encrypt=no",
                                             "--capture-instance", "dbo_parcel", "--bronze", str(folder / "b"), "--app-id", "a", "--checkpoint", str(folder / "c"), stderr=log)
                    stop(process, number, driver)
        equal([path.name for path in folder.iterdir()], ["log"], "nothing was written")


@test
def a_second_signal_ends_it_at_once(folder):
    with socket.create_server(("127.0.0.1", 0)) as mute:
        with open(folder / "log", "w") as log:
            process = start_tidelake("stream", "--connection", f"Driver=FreeTDS;Server=127.0.0.1,{mute.getsockname()[1]};Database=shop;UID=sa;PWD=x",
                                     "--capture-instance", "dbo_parcel", "--bronze", str(folder / "b"), "--app-id", "a", "--checkpoint", str(folder / "c"), stderr=log)
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            if process.wait(20) not in (128 + signal.SIGINT, 128 + signal.SIGTERM):  # whichever of the two the kernel shows last
                raise AssertionError(f"exit status {process.returncode}")
            equal(time.monotonic() - began < 0.5, True, "at once")


if __name__ == "__main__":
    main()
