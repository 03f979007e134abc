#!/usr/bin/env python3
"""What can be wrong gets a clear message and the right exit code, leaves nothing half-done, and the next run works."""
from lib import *

TABLE = """
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v varchar(20) NULL);
INSERT INTO dbo.t VALUES (1, 'one'), (2, 'two');
"""
CDC = """
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL;
GO
"""


def with_server(setup):
    def decorate(function):
        def run(folder):
            server = Server(folder, "--capture-interval", "manual")
            try:
                server.sql(setup)
                if "enable_table" in setup:
                    server.scan()
                function(Lake(folder / "lake", server), server)
            finally:
                server.close()
        run.__name__ = function.__name__
        return test(run)
    return decorate


def refused(result, code, *parts):
    equal(result.code, code, result.stderr[-2000:])
    holds(result.last_error(), *parts)
    if PASSWORD in result.stderr + result.stdout:
        raise AssertionError("the password is in the output")


def untouched(lake):
    if lake.folder.exists() and any(path.is_file() for path in lake.folder.rglob("*")):
        raise AssertionError(f"files were left: {[str(p) for p in lake.folder.rglob('*') if p.is_file()]}")


@with_server(TABLE + "GO\n" + CDC)
def a_wrong_password_is_refused_at_once(lake, server):
    began = time.monotonic()
    result = lake.stream("dbo_t", "t", "--connection", server.connection(password="Wrong.Word.9"))
    refused(result, 1, "Login failed", "sa", "check user, password and database")
    equal(time.monotonic() - began < 5, True, "no retries")
    if "Wrong.Word.9" in result.stderr:
        raise AssertionError("the password is in the output")
    untouched(lake)
    lake.stream("dbo_t", "t", check=True)


@with_server(TABLE + "GO\n" + CDC)
def a_host_that_is_down_is_retried_then_named(lake, server):
    result = lake.stream("dbo_t", "t", "--connection", "Driver=FreeTDS;Server=127.0.0.1,1;Database=shop;UID=sa;PWD=" + PASSWORD)
    refused(result, 1, "127.0.0.1")
    equal(result.stderr.count("WARN"), 3, "retries")
    verified = "Driver=FreeTDS;Server=127.0.0.1,1;Database=shop;Encrypt=yes;UID=sa;PWD=" + PASSWORD
    refused(lake.stream("dbo_t", "t", "--connection", verified), 1, "cannot connect to 127.0.0.1")
    untouched(lake)


@with_server(TABLE)
def a_database_without_cdc_says_so(lake, server):
    refused(lake.stream("dbo_t", "t"), 1, "CDC is not enabled", "shop")
    untouched(lake)
    server.sql(CDC)
    server.scan()
    lake.stream("dbo_t", "t", check=True)


@with_server(TABLE + "GO\n" + CDC)
def an_unknown_instance_names_what_is_there(lake, server):
    refused(lake.stream("dbo_tt", "t"), 1, "dbo_tt", "dbo_t")
    untouched(lake)


@with_server(TABLE + "GO\n" + CDC + """
CREATE LOGIN cdc_reader WITH PASSWORD = 'Reader.Word.1';
CREATE USER cdc_reader FOR LOGIN cdc_reader;
GRANT SELECT ON dbo.t TO cdc_reader;
""")
def a_missing_grant_is_spelled_out_and_running_it_is_enough(lake, server):
    reader = server.connection("cdc_reader", "Reader.Word.1")
    result = lake.stream("dbo_t", "t", "--connection", reader)
    refused(result, 5, "GRANT SELECT ON", "dbo_t_CT", "cdc_reader")
    server.sql("GRANT SELECT ON cdc.dbo_t_CT TO cdc_reader;")
    lake.stream("dbo_t", "t", "--connection", reader, check=True)
    lake.apply("dbo_t", "t", "--connection", reader, check=True)
    equal(lake.compare("t").returncode, 0)


@with_server(TABLE + "GO\n" + CDC)
def wrong_options_and_keys_touch_nothing(lake, server):
    refused(lake.stream("dbo_t", "t", "--bootstrapp"), 2, "did you mean --bootstrap")
    refused(lake.stream("dbo_t", "t", "--on-data-loss", "resnapshot", "--fail-on-data-loss=no"), 2, "the next run would not see the gap")
    refused(lake.stream("dbo_t", "t", "--starting-lsn", "latest"), 2, "starting_lsn")
    path = lake.folder.parent / "bad.yaml"
    path.write_text("lake:\n  rooot: x\n")
    refused(lake.stream("dbo_t", "t", "--config", str(path)), 2, "bad.yaml:2", "root")
    untouched(lake)


@with_server(TABLE + "GO\n" + CDC)
def a_bronze_path_that_holds_something_else_is_left_alone(lake, server):
    other = lake.folder / "bronze" / "t"
    other.mkdir(parents=True)
    (other / "precious.txt").write_text("do not touch")
    refused(lake.stream("dbo_t", "t"), 1, "no Delta table", "another path")
    equal(sorted(p.name for p in other.iterdir()), ["precious.txt"])
    (other / "precious.txt").unlink()
    lake.stream("dbo_t", "t", check=True)


@with_server(TABLE + "GO\n" + CDC)
def a_purge_before_the_read_is_data_loss_and_changes_nothing(lake, server):
    lake.stream("dbo_t", "t", check=True)
    before = len(lake.history("bronze/t"))
    for value in range(5):
        server.sql(f"UPDATE dbo.t SET v = 'v{value}' WHERE id = 1;")
        server.scan()
    server.sql("DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_t', @low_water_mark = @to;")
    result = lake.stream("dbo_t", "t")
    refused(result, 3, "dbo_t", "0x", "retention", "--bootstrap", "checkpoint", "fail_on_data_loss: false")
    equal(len(lake.history("bronze/t")), before)
    skipping = lake.stream("dbo_t", "t", "--fail-on-data-loss=no", "--log-level", "warn")  # goes on with what is left
    equal(skipping.code, 0, skipping.stderr[-2000:])
    holds(skipping.stderr, "WARN stream changes are skipped")
    equal(lake.query("bronze/t", "SELECT v FROM t WHERE _operation = 4"), [["v4"]])
    equal(lake.query("ops/facts", "SELECT count(*), bool_and(detail LIKE '%\"certain\": true%') FROM t WHERE event = 'data_skipped'"), [[1, True]])


@with_server(TABLE + "GO\n" + CDC)
def a_captured_column_that_changes_stops_the_stream_and_a_restart_goes_on(lake, server):
    lake.stream("dbo_t", "t", check=True)
    server.sql("EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL, @capture_instance = N'dbo_t_v2';")
    server.scan()
    refused(lake.stream("dbo_t", "t"), 4, "dbo_t_v2", "second capture instance")
    server.sql("EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N't', @capture_instance = N'dbo_t_v2';")
    lake.stream("dbo_t", "t", check=True)


@with_server(TABLE + "GO\n" + CDC)
def a_full_disk_leaves_a_readable_table_and_the_next_run_works(lake, server):
    if os.geteuid() != 0:
        raise Skip("mounting a small disk needs root")
    lake.folder.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(lake.folder)], capture_output=True).returncode != 0:
        raise Skip("a small disk cannot be mounted here")
    try:
        server.sql("INSERT INTO dbo.t SELECT CAST(value AS int) + 10, LEFT(CONVERT(varchar(36), NEWID()), 20) FROM GENERATE_SERIES(1, 60000);")
        server.scan()
        result = lake.stream("dbo_t", "t")
        equal(result.code, 1, result.stderr[-2000:])
        holds(result.last_error().lower(), "no space")
        subprocess.run(["mount", "-o", "remount,size=64m", str(lake.folder)], check=True)
        lake.stream("dbo_t", "t", check=True)
        lake.apply("dbo_t", "t", check=True)
        equal(lake.compare("t").returncode, 0)
    finally:
        subprocess.run(["umount", str(lake.folder)], capture_output=True)


@with_server(TABLE + "GO\n" + CDC)
def a_read_only_disk_is_named(lake, server):
    if os.geteuid() != 0:
        raise Skip("mounting a read-only disk needs root")
    lake.stream("dbo_t", "t", check=True)
    server.sql("UPDATE dbo.t SET v = 'x' WHERE id = 1;")
    server.scan()
    if subprocess.run(["mount", "--bind", "-o", "ro", str(lake.folder), str(lake.folder)], capture_output=True).returncode != 0:
        raise Skip("a read-only mount cannot be made here")
    subprocess.run(["mount", "-o", "remount,bind,ro", str(lake.folder)], capture_output=True)
    try:
        result = lake.stream("dbo_t", "t")
        equal(result.code, 1)
        holds(result.last_error().lower(), "read-only")
    finally:
        subprocess.run(["umount", str(lake.folder)], capture_output=True)
    lake.stream("dbo_t", "t", check=True)
    lake.apply("dbo_t", "t", check=True)
    equal(lake.compare("t").returncode, 0)


@with_server("""
CREATE TABLE dbo.[odd ]] []] "name" 🌊] (id int NOT NULL PRIMARY KEY, v varchar(20) NULL);
INSERT INTO dbo.[odd ]] []] "name" 🌊] VALUES (1, 'one');
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'odd ] [] "name" 🌊', @role_name = NULL, @capture_instance = N'odd ] one';
GO
""")
def a_table_with_brackets_quotes_and_emoji_in_its_name_arrives(lake, server):
    lake.stream("odd ] one", "odd", check=True)
    lake.apply("odd ] one", "odd", check=True)
    equal(lake.query("silver/odd", "SELECT id, v FROM t"), [[1, "one"]])


if __name__ == "__main__":
    main()
