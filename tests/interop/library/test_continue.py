"""Two engines, one state: the library and tidelake write the same for the same history, take turns on one lake, and go on with what the other
left, older tables too.

    tests/interop/run library
"""
import json
import os
import pathlib
import random
import shutil

from turns import *  # the first import: it finds lib
import chunks  # noqa: F401 - registers its tests
import left  # noqa: F401 - registers its tests


@test
def the_two_write_the_same_for_the_same_history(folder):
    fresh("lake", "checkpoint")
    server = Server(folder, "--capture-interval", "manual")
    try:
        table = Table(server, "parcel", 40, SEED)
        server.scan()
        ours, peer = Ours(server, table, folder / "ours"), peer_of(server, table)

        def both(*more, **options):
            peer.stream(**options)
            ours.stream(*more)
        both()  # a full snapshot, and batch 0 without a range
        host, port = server.address.rsplit(":", 1)
        import pymssql
        with pymssql.connect(host, "sa", PASSWORD, "shop", port=port, autocommit=True) as connection, connection.cursor() as cursor:
            for _ in range(7):
                table.change(cursor)
        server.scan()
        both("--max-commits-per-batch", "3", maxCommitsPerBatch="3")  # three batches
        server.sql("EXEC tidesim.idle_now 'shop';")
        both()  # a batch without rows
        server.sql("ALTER TABLE dbo.parcel ADD extra int NULL;\nGO\nUPDATE dbo.parcel SET extra = 1, note = N'x' WHERE id < 0;")
        server.scan()
        both()  # a schema_change
        peer.apply()
        ours.apply("--deletion-vectors=false")  # the library makes none
        bronze, silver = f"lake/bronze/{table.name}", f"lake/silver/{table.name}"
        for path in (bronze, FACTS, CONTROL, silver):
            same_shape(ours, path)
        same_rows(ours, bronze, "bronze")
        same_rows(ours, FACTS, "facts")
        same_rows(ours, CONTROL, "control")
        same_rows(ours, silver, "silver")
        for path in (bronze, FACTS, CONTROL, silver):
            same_commits(ours, path)
        same_checkpoint(ours, table.name)
        facts = rows(WORK, FACTS)
        equal(sorted(str(row["event"]) for row in facts if row["event"] or row["rows"] == 0), ["None", "None", "bootstrap", "schema_change", "snapshot_open"], "events met")
        equal([len(actions(WORK, bronze, "txn")), sum("userMetadata" in info for info in actions(WORK, bronze, "commitInfo"))], [4, 5], "batches met")
    finally:
        server.close()


if ALL:
    @test
    def the_two_take_turns_on_one_lake(folder):
        fresh("lake", "checkpoint")
        server = Server(folder, "--capture-interval", "manual")
        rng = random.Random(SEED)
        try:
            table = Table(server, "stop", 60, SEED)
            server.scan()
            ours, peer = Ours(server, table, WORK), peer_of(server, table)
            host, port = server.address.rsplit(":", 1)
            import pymssql
            turns = [rng.choice(["ours", "peer"]) for _ in range(12)] + ["peer", "ours"]
            for turn, name in enumerate([rng.choice(["ours", "peer"]), *turns]):
                with pymssql.connect(host, "sa", PASSWORD, "shop", port=port, autocommit=True) as connection, connection.cursor() as cursor:
                    for _ in range(4):
                        table.change(cursor)
                server.scan()
                engine, other = (ours, peer) if name == "ours" else (peer, ours)
                engine.stream()
                rng.choice([engine, other]).apply()
                print(f"# turn {turn}: {name}", flush=True)
            ours.apply()
            silver_is_source(server, table.name, WORK / f"lake/silver/{table.name}")
            changes_are_there_once(f"lake/bronze/{table.name}")
            equal(rows(WORK, FACTS, "SELECT count(*) AS n FROM t WHERE event = 'bootstrap'"), [{"n": 1}], "bootstraps")
        finally:
            server.close()


# --- tables of older releases ---

ADDED = {  # the version that added a column, by table
    FACTS: {1: ["source_rtt_ms", "read_seconds", "read_mb", "network_wait_ms"], 2: ["retention_watermark_ts", "retention_headroom_hours"],
            3: ["event", "lost_from_ts", "lost_to_ts"], 4: ["source_max_commit_ts", "capture_lag_seconds", "ingestion_lag_seconds"],
            5: ["end_lsn", "end_commit_ts"], 6: ["detail"]},
    CONTROL: {1: ["applied_lsn", "snapshot_lsn"], 2: ["open_snapshot_lsn", "snapshot_wave"]},
    "lake/bronze/parcel": {2: ["_snapshot", "_chunk"]},
}


def age(path, version, dies):
    """The table as a release of that version would have it, with the rows it has; `dies`: its last step's stamp is missing."""
    spark = Spark.get()
    frame = spark.read.format("delta").load(path)
    if path == FACTS and version < 3:
        frame = frame.where("event IS NULL")  # there were no events yet
    later = [name for step, names in ADDED[path].items() if step > version for name in names]
    frame.drop(*later).write.format("delta").save(path + "_old")
    shutil.rmtree(path)
    os.rename(path + "_old", path)
    fresh()
    stamp = version - dies
    if stamp > 0:
        spark.sql(f"ALTER TABLE delta.`{os.path.abspath(path)}` SET TBLPROPERTIES ('mssql_cdc.schema_version' = '{stamp}')")


def take_over_older(folder, versions, dies):
    fresh("lake", "checkpoint")
    server = Server(folder, "--capture-interval", "manual")
    try:
        table = Table(server, "parcel", 20, SEED)
        server.scan()
        ours, peer = Ours(server, table, WORK), peer_of(server, table)
        peer.stream()
        for path, version in versions.items():
            age(path, version, dies)
        before = {path: rows(WORK, path) for path in ADDED}
        server.sql("UPDATE dbo.parcel SET note = N'by tidelake' WHERE id < -400;")
        server.scan()
        equal(ours.stream()["batches"], 1, "batches of tidelake")
        ours.apply()
        stamps = {path: actions(WORK, path, "metaData")[-1]["configuration"].get("mssql_cdc.schema_version") for path in ADDED}
        equal(stamps, {FACTS: "14", CONTROL: "4", "lake/bronze/parcel": "2"}, "schema versions")
        for path in (FACTS, "lake/bronze/parcel"):
            found = [json.dumps({name: value for name, value in row.items() if value is not None}, sort_keys=True) for row in rows(WORK, path)]
            for row in before[path]:
                found.remove(json.dumps({name: value for name, value in row.items() if value is not None}, sort_keys=True))
        headers = {path: len(actions(WORK, path, "metaData")) for path in ADDED}
        server.sql("UPDATE dbo.parcel SET note = N'by the library' WHERE id > -460;")
        server.scan()
        fresh()
        peer.stream()
        peer.apply()
        equal({path: len(actions(WORK, path, "metaData")) for path in ADDED}, headers, "the library has nothing left to migrate")
        where = "WHERE batch_id IS NOT NULL ORDER BY batch_id"
        equal([(row["batch_id"], row["rows"] > 0) for row in rows(WORK, FACTS, f"SELECT * FROM t {where}")], [(0, False), (1, True), (2, True)], "batches")
        silver_is_source(server, "parcel", WORK / "lake/silver/parcel")
    finally:
        server.close()


if ALL:
    @test
    def tables_of_the_first_release_are_brought_up_to_date_and_the_library_goes_on(folder):
        take_over_older(folder, dict.fromkeys(ADDED, 0), False)


@test
def a_migration_that_the_library_left_half_done_is_finished(folder):
    rng = random.Random(SEED)
    take_over_older(folder, {FACTS: rng.randrange(1, 14), CONTROL: rng.randrange(1, 4), "lake/bronze/parcel": rng.randrange(1, 3)}, True)


if __name__ == "__main__":
    try:
        main()
    finally:
        os.chdir("/")
        shutil.rmtree(WORK, ignore_errors=True)
