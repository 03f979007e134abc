#!/usr/bin/env python3
"""Several streams of one configuration file, side by side: what each writes, what a failure of one does to the others, and what the end tells."""
import contextlib

from lib import *

SETUP = """
CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, v varchar(20) NULL);
CREATE TABLE dbo.customers (id int NOT NULL PRIMARY KEY, v varchar(20) NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'customers', @role_name = NULL;
GO
INSERT INTO dbo.orders VALUES (1, 'one'), (2, 'two');
INSERT INTO dbo.customers VALUES (7, 'seven');
"""
DEFAULTS = """
  bronze: "bronze/{schema}/{table}"
  silver: "silver/{schema}/{table}"
  app_id: "{ci}-v1"
  checkpoint: "checkpoints/{ci}"
"""
STREAMS = """
  - capture_instance: dbo_orders
  - capture_instance: dbo_customers
"""


@contextlib.contextmanager
def lake_of(folder):
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(SETUP)
        server.scan()
        yield Lake(folder / "lake", server), server
    finally:
        server.close()


def config(lake, defaults=DEFAULTS, streams=STREAMS):
    path = lake.folder.parent / "tidelake.yaml"
    path.write_text(f'source:\n  connection: "{lake.server.connection()}"\nlake:\n  root: {lake.folder}\n  facts: ops/facts\n  control: ops/control\n'
                    f"defaults:{defaults}streams:{streams}")
    return ["--config", str(path)]


def stream(lake, *more, **given):
    return tidelake("stream", *config(lake, **given), "--json", *more, timeout=60)


def purge(server, instance):
    server.sql(f"DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N'{instance}', @low_water_mark = @to;")


@test
def each_stream_takes_its_names_from_the_defaults(folder):  # T10.1
    with lake_of(folder) as (lake, server):
        result = stream(lake, "--trigger", "available-now", "--bootstrap")
        equal(result.code, 0, result.stderr[-2000:])
        equal(result.json()["failed"], {})
        equal(sorted((name, value["batches"]) for name, value in result.json()["streams"].items()), [("dbo_customers", 1), ("dbo_orders", 1)])
        server.sql("UPDATE dbo.customers SET v = 'ate' WHERE id = 7;")
        server.scan()
        equal(stream(lake, "--trigger", "available-now", "--bootstrap").code, 0)
        equal(tidelake("apply", *config(lake)).code, 0)
        equal(lake.query("silver/dbo/customers", "SELECT id, v FROM t"), [[7, "ate"]])
        equal(lake.query("silver/dbo/orders", "SELECT id, v FROM t ORDER BY id"), [[1, "one"], [2, "two"]])
        equal(sorted(lake.query("ops/facts", "SELECT DISTINCT app_id, target FROM t")),
              [["dbo_customers-v1", "bronze/dbo/customers"], ["dbo_orders-v1", "bronze/dbo/orders"]])


@test
def a_backfill_takes_its_names_from_the_defaults_too(folder):
    with lake_of(folder) as (lake, server):
        chunked = DEFAULTS + "  snapshot: chunked\n  bootstrap: true\n"
        equal(stream(lake, "--trigger", "available-now", defaults=chunked).code, 0)
        result = tidelake("backfill", *config(lake, defaults=chunked), "--json", "--require-done", timeout=60)
        equal(result.code, 0, result.stderr[-2000:])
        equal(sorted((name, value["rows"]) for name, value in result.json()["streams"].items()), [("dbo_customers", 1), ("dbo_orders", 2)])
        equal(lake.query("bronze/dbo/orders", "SELECT id, v FROM t ORDER BY id"), [[1, "one"], [2, "two"]])


@test
def a_source_that_falls_silent_before_the_names_are_known_is_asked_again(folder):
    with lake_of(folder) as (lake, server):
        server.sql("EXEC tidesim.fault 'half_close', '%sp_cdc_help_change_data_capture%'")
        result = stream(lake, "--trigger", "available-now", "--bootstrap", "--silence-timeout", "1")
        equal((result.code, result.stderr.count("the source failed, trying again")), (0, 1), result.stderr[-2000:])
        holds(result.stderr, "all streams")
        equal(lake.query("bronze/dbo/orders", "SELECT id FROM t ORDER BY id"), [[1], [2]])


@test
def one_that_fails_later_stops_alone_and_the_end_names_it(folder):  # T10.2
    with lake_of(folder) as (lake, server):
        purge(server, "dbo_orders")
        log = folder / "log"
        streams = "\n  - {capture_instance: dbo_orders, starting_lsn: 0x01}\n  - capture_instance: dbo_customers\n"
        with open(log, "w") as err:
            running = subprocess.Popen([program("tidelake"), "stream", *config(lake, streams=streams), "--json", "--trigger", "continuous"],
                                       stdout=subprocess.PIPE, stderr=err, text=True)
        try:
            for _ in range(600):
                if "stream failed" in log.read_text() and list((lake.folder / "bronze/dbo/customers/_delta_log").glob("*1.json")):
                    break
                time.sleep(0.05)
            server.sql("INSERT INTO dbo.customers VALUES (8, 'eight');")
            server.scan()
            for _ in range(600):
                if lake.query("bronze/dbo/customers", "SELECT count(*) FROM t") == [[2]]:
                    break
                time.sleep(0.05)
            equal(running.poll(), None, "the other goes on")
            running.send_signal(signal.SIGTERM)
            out = json.loads(running.communicate(timeout=20)[0].splitlines()[-1])
        finally:
            running.kill()
        equal(running.returncode, 3, log.read_text()[-2000:])
        equal(list(out["failed"]), ["dbo_orders"])
        holds(out["failed"]["dbo_orders"], "dbo_orders", "are gone", "--bootstrap", "fail_on_data_loss")
        equal(out["streams"]["dbo_customers"]["rows"], 2)


@test
def streams_that_fail_with_different_codes_give_1(folder):
    with lake_of(folder) as (lake, server):
        server.sql("""
CREATE LOGIN reader WITH PASSWORD = 'Reader.Word.1';
CREATE USER reader FOR LOGIN reader;
GRANT SELECT ON dbo.orders TO reader;
GRANT SELECT ON dbo.customers TO reader;
GRANT SELECT ON cdc.dbo_orders_CT TO reader;
""")
        purge(server, "dbo_orders")
        result = stream(lake, "--trigger", "available-now", "--starting-lsn", "0x01", "--connection", server.connection("reader", "Reader.Word.1"))
        equal(result.code, 1, result.stderr[-2000:])
        holds(result.json()["failed"]["dbo_customers"], "GRANT SELECT ON cdc.[dbo_customers_CT] TO [reader]")
        holds(result.json()["failed"]["dbo_orders"], "are gone")
        holds(result.last_error(), "2 of 2 streams failed")


@test
def a_failed_start_stops_all(folder):  # T10.3
    with lake_of(folder) as (lake, server):
        result = stream(lake, "--trigger", "continuous", streams="\n  - capture_instance: dbo_orders\n  - {capture_instance: dbo_nowhere, bronze: b, silver: s}\n",
                        defaults=DEFAULTS.replace("{schema}/{table}", "{ci}"))
        equal(result.code, 1, result.stderr[-2000:])
        equal(list(result.json()["failed"]), ["dbo_nowhere"])
        holds(result.last_error(), "dbo_nowhere", "was not found")
        equal(list(result.json()["streams"]), ["dbo_orders", "dbo_nowhere"])


@test
def names_that_several_streams_would_share_are_refused_before_anything_starts(folder):  # T10.3
    with lake_of(folder) as (lake, server):
        for old, new, part in ((' "{ci}-v1"', " orders-v1", 'tidelake.yaml:10: app_id is "orders-v1" for 2 streams'), ("checkpoints/{ci}", "checkpoints", "checkpoint"),
                               ("bronze/{schema}/{table}", "bronze", "bronze"), ("silver/{schema}/{table}", "bronze/{schema}/{table}", "silver of stream dbo_orders is")):
            result = stream(lake, "--trigger", "available-now", defaults=DEFAULTS.replace(old, new))
            equal(result.code, 2, result.stderr[-2000:])
            holds(result.last_error(), part)
        own = "\n  - {capture_instance: dbo_orders, bronze: bronze/a}\n  - {capture_instance: dbo_customers, bronze: bronze/a}\n"
        result = stream(lake, "--trigger", "available-now", streams=own)
        equal(result.code, 2)
        holds(result.last_error(), "tidelake.yaml:14", "bronze/a is already that of another stream")
        arguments = config(lake)
        path = lake.folder.parent / "tidelake.yaml"
        path.write_text(path.read_text().replace(server.connection(), "${TIDELAKE_NOT_SET}"))
        result = tidelake("verdict", "show", *arguments)
        equal(result.code, 2)
        holds(result.last_error(), "{schema} and {table}", "`connection`", "under `source` in the configuration file", "set the variable", "dbo_orders out")
        result = tidelake("verdict", "show", *arguments, "--connection", server.connection())
        equal(result.code, 2)
        holds(result.last_error(), "--connection", "`tidelake verdict` does not take it; it may stand in the configuration file")
        result = tidelake("verdict", "show", *arguments, "--control", "a", "--control", "b")
        equal(result.code, 2)
        holds(result.last_error(), "--control is given twice")
        equal(lake.folder.exists(), False)


@test
def a_second_table_into_the_same_bronze_is_refused_at_once(folder):
    with lake_of(folder) as (lake, server):
        lake.stream("dbo_orders", "t", check=True)
        before = len(lake.history("bronze/t"))
        result = lake.stream("dbo_customers", "t", "--app-id", "customers-v1", "--checkpoint", "checkpoints/customers")
        equal(result.code, 1, result.stderr[-2000:])
        holds(result.last_error(), "dbo_orders, which is of table dbo.orders", "reads dbo.customers", "another path")
        equal(len(lake.history("bronze/t")), before)


ODD = "o'd ] [ \"x\" %s \U0001f30a"


@test
def odd_names_of_schema_table_and_instance_arrive(folder):
    with lake_of(folder) as (lake, server):
        bracketed, quoted = ODD.replace("]", "]]"), ODD.replace("'", "''")
        server.sql(f"CREATE SCHEMA [s {bracketed}];\nGO\nCREATE TABLE [s {bracketed}].[t {bracketed}] (id int NOT NULL PRIMARY KEY, v nvarchar(9) NULL);\n"
                   f"INSERT INTO [s {bracketed}].[t {bracketed}] VALUES (1, N'one');\nGO\n"
                   f"EXEC sys.sp_cdc_enable_table @source_schema = N's {quoted}', @source_name = N't {quoted}', @role_name = NULL, @capture_instance = N'c {quoted}';\n"
                   f"CREATE LOGIN reader WITH PASSWORD = 'Reader.Word.1'; CREATE USER [{bracketed}] FOR LOGIN reader;\nGRANT SELECT ON [s {bracketed}].[t {bracketed}] TO [{bracketed}];")
        server.scan()
        named = "\n  - capture_instance: " + json.dumps("c " + ODD, ensure_ascii=False) + "\n"
        reader = ["--connection", server.connection("reader", "Reader.Word.1")]
        refused = stream(lake, "--trigger", "available-now", "--bootstrap", *reader, streams=named)
        equal(refused.code, 5, refused.stderr[-2000:])
        server.sql(refused.last_error().split(": run ")[1].split(" (each")[0])  # the grant, as it stands
        for value in ("two", "three"):
            equal(stream(lake, "--trigger", "available-now", "--bootstrap", *reader, streams=named).code, 0)
            server.sql(f"UPDATE [s {bracketed}].[t {bracketed}] SET v = N'{value}';")
            server.scan()
        equal(stream(lake, "--trigger", "available-now", "--bootstrap", "--num-partitions", "4", *reader, streams=named).code, 0)
        equal(tidelake("apply", *config(lake, streams=named), *reader).code, 0)
        equal(lake.query(f"silver/s {ODD}/t {ODD}", "SELECT id, v FROM t"), [[1, "three"]])
        equal(lake.query(f"bronze/s {ODD}/t {ODD}", "SELECT DISTINCT _capture_instance FROM t"), [["c " + ODD]])


if __name__ == "__main__":
    main()
