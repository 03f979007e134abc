#!/usr/bin/env python3
"""How many requests a stream sends: one for a look at a quiet source, at most three to plan a batch, on connections that are kept."""
from lib import *


class Trace:
    """What was asked while it was on: {session: [statement, ...]}, in order."""

    def __init__(self, server, path):
        self.server, self.path = server, path

    def __enter__(self):
        self.path.unlink(missing_ok=True)
        self.server.sql(f"EXEC tidesim.trace @file = '{self.path}'")
        return self

    def __exit__(self, *error):
        self.server.sql("EXEC tidesim.trace 'off'")
        self.sessions = {}
        for line in self.path.read_text().splitlines():
            session, _, text = line.partition(": ")
            if session.isdigit() and "tidesim." not in text:
                self.sessions.setdefault(int(session), []).append(text)


def is_poll(text):
    return text.startswith("SELECT CONVERT(char(22), sys.fn_cdc_get_max_lsn()")


def is_login(text):
    return text.startswith("SET TEXTSIZE")


def is_read(text):
    return "INNER JOIN cdc.lsn_time_mapping" in text


def more_rows(server, scan=True):
    server.sql("INSERT INTO dbo.parcel SELECT value, 'more' FROM GENERATE_SERIES((SELECT MAX(id) + 1 FROM dbo.parcel), (SELECT MAX(id) + 20 FROM dbo.parcel));")
    if scan:
        server.scan()


def split_by(texts, is_mark):
    """Lists of what came behind each mark, up to the next."""
    parts = []
    for text in texts:
        if is_mark(text):
            parts.append([])
        elif parts:
            parts[-1].append(text)
    return parts


def batches_committed(log):
    return log.read_text().count("batch committed")


def wait_for(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"{what}: it did not come to that")


def follow(server, lake, folder, *trigger, batches=4):
    """Batches of a running stream, one after the other, traced from the second on; the trace and the log."""
    log = folder / "log"
    with open(log, "w") as out:
        process = start_tidelake("stream", *lake.options("dbo_parcel", "parcel", "--app-id", "parcel-v1", "--checkpoint", "checkpoints/parcel"),
                                 "--num-partitions", "2", *trigger, stderr=out)
    try:
        more_rows(server)
        wait_for("the first batch", lambda: batches_committed(log) >= 1)
        with Trace(server, folder / "trace") as trace:
            for n in range(batches):
                before = batches_committed(log)
                more_rows(server)
                wait_for("a batch", lambda: batches_committed(log) > before)
            time.sleep(0.5)  # quiet looks
    finally:
        process.terminate()
        process.wait(20)
    return trace, log


def check_requests(trace, plan_most, batches):
    """One session asks, others read; none logs in. A look is one request, a plan is `plan_most` more at most."""
    logins = sum(is_login(text) for texts in trace.sessions.values() for text in texts)
    equal(logins, 0, "connections are kept between batches")
    readers = [texts for texts in trace.sessions.values() if any(map(is_read, texts))]
    askers = [texts for texts in trace.sessions.values() if any(map(is_poll, texts))]
    equal((len(askers), len(readers)), (1, 1), "sessions that ask and that read")
    looks = split_by(askers[0], is_poll)
    plans = [look for look in looks if look]
    equal(len(plans), batches, "looks that found something")
    if len(looks) < batches + 2:
        raise AssertionError(f"of {len(looks)} looks none was quiet")
    for plan in plans:
        if len(plan) > plan_most:
            raise AssertionError("planning took more requests: " + "\n".join(plan))
    reads = split_by(readers[0], lambda text: text.startswith("SELECT 1;"))
    equal([len(read) for read in reads], [4] * batches, "requests around a read: what is measured before, the rows, and two after")


def round_trips(folder, driver):
    with driven(folder, driver, "--time-zone", "Eastern Standard Time") as (lake, server):
        lake.stream("dbo_parcel", "parcel", check=True)
        for trigger, plan_most in ((("--trigger", "continuous"), 1),
                                   (("--trigger", "interval", "--interval", "150ms"), 1),
                                   (("--trigger", "continuous", "--max-commits-per-batch", "100"), 2)):
            trace, log = follow(server, lake, folder, *trigger)
            check_requests(trace, plan_most, 4)
            equal(" WARN " in log.read_text(), False, log.read_text())
        available_now(server, lake, folder)
        server.sql("DELETE dbo.parcel;")
        server.scan()
        lake.stream("dbo_parcel", "parcel", check=True)
        lake.apply("dbo_parcel", "parcel", check=True)
        equal(lake.query("silver/parcel", "SELECT count(*) FROM t"), [[0]], "what arrived is whole")


def available_now(server, lake, folder):
    """The target is one request, each batch up to it two at most; nothing is asked once it is reached."""
    for _ in range(6):
        more_rows(server)
    with Trace(server, folder / "trace") as trace:
        done = lake.stream("dbo_parcel", "parcel", "--json", "--max-commits-per-batch", "2", check=True).json()
    equal(done["batches"], 3, "batches")
    asker = next(texts for texts in trace.sessions.values() if any(map(is_poll, texts)))
    looks = split_by(asker, is_poll)
    equal([len(look) for look in looks], [2 * 3], "one look, and two requests a batch")
    equal(sum(is_login(text) for texts in trace.sessions.values() for text in texts), 2, "connections")


@test
def a_quiet_look_is_one_request_and_a_plan_at_most_three(folder):
    round_trips(folder, "FreeTDS")


@test
def so_it_is_through_microsofts_driver(folder):
    if not microsoft_driver():
        raise Skip("Microsoft's driver is not installed")
    round_trips(folder, microsoft_driver())


@test
def a_server_that_does_not_tell_its_zone_takes_no_more(folder):
    """Its offset is read before each batch's end is dated: together with the n-th commit where both are asked."""
    with driven(folder, "FreeTDS", "--server-version", "2019",
                setup=DRIVEN_SETUP.replace("SELECT value, 'first' FROM GENERATE_SERIES(1, 10)", "VALUES (1, 'first')")) as (lake, server):
        lake.stream("dbo_parcel", "parcel", check=True)
        for n in range(3):
            server.sql(f"INSERT INTO dbo.parcel VALUES ({10 + n}, 'x');")
            server.scan()
        with Trace(server, folder / "trace") as trace:
            done = lake.stream("dbo_parcel", "parcel", "--json", "--max-commits-per-batch", "1", check=True)
        equal(done.json()["batches"], 3, "batches")
        asker = next(texts for texts in trace.sessions.values() if any(map(is_poll, texts)))
        equal([len(look) for look in split_by(asker, is_poll)], [2 * 3], "one look, and two requests a batch")


if __name__ == "__main__":
    main()
