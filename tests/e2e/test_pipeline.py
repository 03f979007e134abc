#!/usr/bin/env python3
"""A table arrives, follows its source, and stays as it is when nothing happens."""
from lib import *

SETUP = """
CREATE TABLE dbo.parcel (id int NOT NULL PRIMARY KEY, kg decimal(6,2) NULL, label nvarchar(40) NULL, code AS (id * 2));
INSERT INTO dbo.parcel (id, kg, label) VALUES (1, 1.50, N'a'), (2, NULL, N'Ångström ☕'), (3, -0.01, NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'parcel', @role_name = NULL;
GO
"""


def server_with_parcel(folder):
    server = Server(folder, "--capture-interval", "manual")
    server.sql(SETUP)
    server.scan()
    return server


@test
def the_second_run_reads_nothing_and_writes_nothing_to_bronze(folder):
    server = server_with_parcel(folder)
    try:
        lake = Lake(folder / "lake", server)
        first = lake.stream("dbo_parcel", "parcel", "--json", check=True).json()
        equal(first["generation"], 0)
        equal(lake.query("bronze/parcel", "SELECT count(*), count(DISTINCT _snapshot) FROM t WHERE _operation = 0"), [[3, 1]])
        before = len(lake.history("bronze/parcel"))
        second = lake.stream("dbo_parcel", "parcel", "--json", check=True).json()
        equal((second["batches"], second["rows"]), (0, 0), "second run")
        equal(len(lake.history("bronze/parcel")), before, "versions of bronze")
        equal(second["snapshot"], first["snapshot"], "the snapshot is found again")
    finally:
        server.close()


@test
def changes_follow_and_silver_equals_the_source(folder):
    server = server_with_parcel(folder)
    try:
        lake = Lake(folder / "lake", server)
        lake.stream("dbo_parcel", "parcel", check=True)
        server.sql("""
            INSERT INTO dbo.parcel (id, kg, label) VALUES (10, 9.99, N'new');
            UPDATE dbo.parcel SET kg = 2.50 WHERE id = 1;
            DELETE FROM dbo.parcel WHERE id = 2;
            UPDATE dbo.parcel SET id = 30 WHERE id = 3;
            BEGIN TRAN; INSERT INTO dbo.parcel (id) VALUES (99); ROLLBACK;""")
        server.scan()
        done = lake.stream("dbo_parcel", "parcel", "--json", check=True)
        holds(done.stderr, "computed columns are left out", "code")
        applied = lake.apply("dbo_parcel", "parcel", "--json", check=True).json()
        equal(applied["rebuilt"], True)
        equal(lake.query("silver/parcel", "SELECT id, kg, label FROM t ORDER BY id"), [[1, "2.50", "a"], [10, "9.99", "new"], [30, "-0.01", None]])
        compared = lake.compare("parcel")
        equal(compared.returncode, 0, compared.stdout + compared.stderr)
        again = lake.apply("dbo_parcel", "parcel", "--json", check=True).json()
        equal((again["rebuilt"], again["rows_written"], again["rows_deleted"]), (False, 0, 0))
        equal(lake.query("ops/facts", "SELECT event, \"rows\", inserts, updates, deletes FROM t WHERE event IS NULL AND batch_id > 0 ORDER BY batch_id"),
              [[None, 6, 2, 1, 2]])
    finally:
        server.close()


@test
def a_planted_difference_is_found(folder):
    server = server_with_parcel(folder)
    try:
        lake = Lake(folder / "lake", server)
        lake.stream("dbo_parcel", "parcel", check=True)
        lake.apply("dbo_parcel", "parcel", check=True)
        equal(lake.compare("parcel").returncode, 0)
        server.sql("UPDATE dbo.parcel SET label = N'other' WHERE id = 1;")  # not captured yet: the two differ
        compared = lake.compare("parcel")
        equal(compared.returncode, 1)
        holds(compared.stdout, "DIFFERENT", "other")
    finally:
        server.close()


@test
def every_table_command_shows_what_is_there(folder):
    server = server_with_parcel(folder)
    try:
        lake = Lake(folder / "lake", server)
        lake.stream("dbo_parcel", "parcel", check=True)
        path = str(folder / "lake" / "bronze" / "parcel")
        schema = tidelake("table", "schema", path, check=True).stdout
        holds(schema, "_start_lsn", "DECIMAL(6,2)", "TIMESTAMP_NTZ")
        holds(tidelake("table", "history", path, check=True).stdout, "CREATE TABLE", "WRITE", '"snapshot": "dbo_parcel"')
        equal(len(json.loads(tidelake("table", "files", path, "--json", check=True).stdout)["rows"]) >= 1, True)
        equal(len(json.loads(tidelake("table", "cat", path, "--json", check=True).stdout)["rows"]), 3)
        equal(json.loads(tidelake("table", "cat", path, "--version", "0", "--json", check=True).stdout)["rows"], [])
        wrong = tidelake("table", "sql", path, "SELECT nothing FROM t")
        equal(wrong.code, 1)
        holds(wrong.last_error(), "nothing")
    finally:
        server.close()


@test
def many_streams_share_facts_and_control_without_racing(folder):
    server, count = Server(folder, "--capture-interval", "manual"), 30
    try:
        server.sql("EXEC sys.sp_cdc_enable_db;")
        for i in range(count):
            server.sql(f"CREATE TABLE dbo.m{i} (id int NOT NULL PRIMARY KEY, v int); INSERT INTO dbo.m{i} VALUES (1, {i});\nGO\n"
                       f"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'm{i}', @role_name = NULL;")
        server.scan()
        config = folder / "many.yaml"
        config.write_text(f'source: {{connection: "{server.connection()}"}}\nlake: {{root: {folder}/lake, facts: facts, control: control}}\n'
                          "defaults: {bootstrap: true, trigger: available-now}\nstreams:\n" + "".join(
                              f"  - {{capture_instance: dbo_m{i}, bronze: m{i}, app_id: m{i}, checkpoint: c{i}}}\n" for i in range(count)))
        done = tidelake("stream", "--config", str(config), check=True)
        equal(done.stderr.count("another writer committed first"), 0, "commits that kept losing")
        equal(Lake(folder / "lake", server).query("facts", "SELECT count(DISTINCT app_id) FROM t WHERE event IS NULL"), [[count]])
    finally:
        server.close()


@test
def a_stream_stops_between_batches_when_asked(folder):
    server = server_with_parcel(folder)
    try:
        lake = Lake(folder / "lake", server)
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            with open(folder / "log", "w") as log:
                process = start_tidelake("stream", *lake.options("dbo_parcel", "parcel", "--app-id", "parcel-v1", "--checkpoint", "checkpoints/parcel"),
                                         "--bootstrap", "--trigger", "continuous", stderr=log)
                for _ in range(200):
                    if (folder / "lake/checkpoints/parcel/commits/0").exists():
                        break
                    time.sleep(0.05)
                time.sleep(0.3)
                began = time.monotonic()
                process.send_signal(number)
                equal(process.wait(20), code)
                equal(time.monotonic() - began < 2, True, "stopped within two seconds")
    finally:
        server.close()


if __name__ == "__main__":
    main()
