#!/usr/bin/env python3
"""What may pass is waited for: a connection that a firewall forgot, a deadlock, a failover, each in the middle of a batch (case A16)."""
import threading

from lib import *

READ = "'%INNER JOIN cdc.lsn_time_mapping%'"
TABLE_READ = "'%FROM [[]dbo].[[]parcel]%'"
DOWN_MS = int(os.environ.get("TIDELAKE_DOWN_MS", "2500"))  # A16 says 10 s: three waits, 7 to 14 s in all, get over that more often than not

# What happens while the rows of a batch are read, and how many warnings it is worth.
BREAKS = [
    ("the socket stops answering", f"EXEC tidesim.fault 'half_close', {READ}, @at = 'inside_row', @n = 700", 1),
    ("it stops before the first row", f"EXEC tidesim.fault 'half_close', {READ}", 1),
    ("a deadlock", f"EXEC tidesim.fault 'error', {READ}, 1205, 13, @at = 'row', @n = 900", 1),
    ("a question that is not answered", "EXEC tidesim.fault 'half_close', '%fn_cdc_increment_lsn%'", 1),
    ("a login that is not answered", "EXEC tidesim.fault 'half_close', @at = 'login', @app = 'tidelake'", 1),
]


def warnings(stderr):
    return stderr.count("the source failed, trying again")


def insert(server, n):
    server.sql(f"INSERT INTO dbo.parcel SELECT value, 'more' FROM GENERATE_SERIES({n}, {n + 1999});")
    server.scan()


def check_whole(lake, want, what):
    equal(lake.query("bronze/parcel", "SELECT count(*), count(DISTINCT id) FROM t"), [[want, want]], "after " + what)


def failover(server, lake, folder, want):
    """Every connection is reset in the middle of the rows, and logins are refused for a while."""
    insert(server, 500_000)
    server.sql(f"EXEC tidesim.fault 'slow_rows', {READ}, @rate = 2000")
    with open(folder / "log", "w") as log:
        process = lake.start(log, "--silence-timeout", "2")
        time.sleep(0.6)
        server.sql(f"EXEC tidesim.restart {DOWN_MS}", check=False)
        code = process.wait(60)
    text = (folder / "log").read_text()
    if warnings(text) < 1:
        raise AssertionError("no warning: " + text)
    if code != 0:  # the waits were short ones, and the outage was not: the next run goes on
        equal((DOWN_MS > 7000, code, warnings(text)), (True, 1, 3), text)
        lake.stream("dbo_parcel", "parcel", check=True)
    check_whole(lake, want + 2000, "a failover")


def retried(folder, driver):
    with driven(folder, driver) as (lake, server):
        server.sql(f"EXEC tidesim.fault 'rst', {TABLE_READ}, @at = 'row', @n = 5")
        equal(warnings(lake.stream("dbo_parcel", "parcel", check=True).stderr), 1, "the snapshot's read")
        want = 10
        for number, (what, fault, most) in enumerate(BREAKS):
            insert(server, 1000 + number * 3000)
            want += 2000
            server.sql(fault)
            began = time.monotonic()
            done = lake.stream("dbo_parcel", "parcel", "--silence-timeout", "1", "--connect-timeout", "2", check=True)
            print(f"# {what}: {time.monotonic() - began:.1f} s", flush=True)
            equal(warnings(done.stderr), most, f"warnings of {what}: {done.stderr}")
            check_whole(lake, want, what)
        failover(server, lake, folder, want)
        facts = lake.query("ops/facts", "SELECT count(*), count(DISTINCT batch_id), sum(rows) FROM t WHERE event IS NULL")[0]
        equal((facts[0], facts[0], int(facts[2])), (facts[1], len(BREAKS) + 2, want + 2000 - 10), "facts")


def lock_is_waited_for(folder):
    """1222 is one failed attempt of a read of the table: it runs again."""
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(DRIVEN_SETUP)
        server.scan()
        lake = Lake(folder / "lake", server)
        server.sql(f"EXEC tidesim.fault 'error', {TABLE_READ}, 1222")
        done = lake.stream("dbo_parcel", "parcel", "--lock-timeout-ms", "200", "--num-partitions", "1", check=True)
        holds(done.stderr, "native=1222")
        check_whole(lake, 10, "a lock")
    finally:
        server.close()


def kept_connection_dies(folder, driver):
    """Between two batches, unseen: the next range gets another one, without a warning."""
    with driven(folder, driver) as (lake, server):
        lake.stream("dbo_parcel", "parcel", check=True)
        for n in range(3):
            insert(server, 1000 + n * 3000)
        server.sql("EXEC tidesim.fault 'rst', 'SELECT 1%', @nth = 2")
        done = lake.stream("dbo_parcel", "parcel", "--json", "--max-commits-per-batch", "1", "--log-level", "debug", check=True)
        equal((done.json()["batches"], warnings(done.stderr)), (3, 0), done.stderr)
        holds(done.stderr, "a kept connection had died")
        check_whole(lake, 6010, "a dead connection")


def fault_stays(folder):
    """It is raised after the third retry, and the next run goes on."""
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(DRIVEN_SETUP)
        server.scan()
        lake = Lake(folder / "lake", server)
        lake.stream("dbo_parcel", "parcel", check=True)
        insert(server, 1000)
        server.sql(f"EXEC tidesim.fault 'error', {READ}, 701, @times = -1")
        failed = lake.stream("dbo_parcel", "parcel")
        equal((failed.code, warnings(failed.stderr)), (1, 3), failed.stderr)
        holds(failed.last_error(), "batch 1")
        server.sql("EXEC tidesim.fault 'none'")
        lake.stream("dbo_parcel", "parcel", check=True)
        check_whole(lake, 2010, "the fault")
    finally:
        server.close()


@test
def a_silent_socket_a_deadlock_and_a_failover_in_a_batch_lose_nothing(folder):
    """All at once: most of the time is spent waiting."""
    errors = []

    def run(name, function, *arguments):
        (folder / name).mkdir()
        try:
            function(folder / name, *arguments)
        except Exception as error:  # told below, by its name
            errors.append(f"{name}: {error}")

    runs = [("freetds", retried, "FreeTDS"), ("lock", lock_is_waited_for), ("stays", fault_stays), ("kept", kept_connection_dies, "FreeTDS")]
    if microsoft_driver():
        runs += [("microsoft", retried, microsoft_driver()), ("microsoft kept", kept_connection_dies, microsoft_driver())]
    threads = [threading.Thread(target=run, args=arguments) for arguments in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(errors, [], "what failed")


if __name__ == "__main__":
    main()
