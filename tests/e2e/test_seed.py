#!/usr/bin/env python3
"""A copy in a snapshot's place: a Delta table, Parquet and CSV files are seeded, then followed, until silver is the source; killed at
random meanwhile; and copies that are none.
"""
import datetime
import gzip

from lib import *

SETUP = """
CREATE TABLE dbo.crate (id int NOT NULL PRIMARY KEY, label nvarchar(40) NULL, weight decimal(10,3) NULL, packed datetime2(6) NULL, day date NULL,
  moment time(7) NULL, mark uniqueidentifier NULL, raw varbinary(8) NULL, yes bit NULL, ratio float NULL, small smallint NULL, zoned datetimeoffset(3) NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'crate', @role_name = NULL;
GO
INSERT INTO dbo.crate SELECT value, CASE value % 5 WHEN 0 THEN NULL WHEN 1 THEN N'' WHEN 2 THEN N'a "quote", a comma' WHEN 3 THEN N'two
lines' ELSE N'Łódź 大阪' END, value * 1.125, DATEADD(second, value, CONVERT(datetime2(6), '2024-02-29T23:59:00.123456')), DATEADD(day, value % 900, '2020-01-01'),
  '13:50:01.1234500', CASE WHEN value % 7 = 0 THEN NULL ELSE NEWID() END, CONVERT(varbinary(8), value), value % 2, value / 7e0, value % 100 - 50,
  '2024-05-05T10:00:00.250+02:00' FROM GENERATE_SERIES(1, 2000);
GO
EXEC tidesim.scan_now 'shop';
GO
"""
CHANGES = """
UPDATE dbo.crate SET label = N'later', mark = NULL WHERE id % 50 = 0;
DELETE FROM dbo.crate WHERE id % 60 = 1;
UPDATE dbo.crate SET id = id + 10000 WHERE id % 70 = 3;
INSERT INTO dbo.crate (id, label) VALUES (5001, N'new'), (5002, NULL);
GO
EXEC tidesim.scan_now 'shop';
"""
NAMES = ["id", "label", "weight", "packed", "day", "moment", "mark", "raw", "yes", "ratio", "small", "zoned"]


def max_lsn(server):
    printed = server.sql("SELECT CONVERT(char(22), sys.fn_cdc_get_max_lsn(), 1) AS lsn;")
    return next(word for word in printed.split() if word.startswith("0x"))


def started(folder, setup=SETUP):
    server = Server(folder, "--capture-interval", "manual")
    server.sql(setup)
    return server, Lake(folder / "lake", server)


def table_options(lake, *more):
    options = lake.options("dbo_crate", "crate", *more)
    at = options.index("--control")
    return [*options[:at], *options[at + 2:]]


def seed(lake, source, as_of, *more, app_id="crate-v1", **kwargs):
    return tidelake("seed", *table_options(lake, "--app-id", app_id, "--from", str(source), "--as-of", as_of, "--json", *more), **kwargs)


def make_copy(folder, server, *options):
    """A Delta table, with deletion vectors unless options say no: another stream's silver, some of whose rows went. Returns it and its LSN."""
    other = Lake(folder / "other", server)
    other.stream("dbo_crate", "crate", check=True)
    other.apply("dbo_crate", "crate", *options, check=True)
    server.sql("DELETE FROM dbo.crate WHERE id % 100 = 9;\nGO\nEXEC tidesim.scan_now 'shop';")
    lsn = max_lsn(server)
    other.stream("dbo_crate", "crate", check=True)
    other.apply("dbo_crate", "crate", *options, check=True)
    return other, other.folder / "silver/crate", lsn


def follows(lake, server, rows):
    """Behind a seed: no snapshot is read, and silver comes to equal the source."""
    result = lake.stream("dbo_crate", "crate", "--json", check=True).json()
    lake.apply("dbo_crate", "crate", check=True)
    compared = lake.compare("crate")
    equal(compared.returncode, 0, compared.stdout + compared.stderr)
    equal(lake.query("bronze/crate", "SELECT count(*), count(DISTINCT id) FROM t WHERE _operation = 0"), [[rows, rows]], "seeded rows")
    events = lake.query("ops/facts", "SELECT event, app_id FROM t WHERE event IS NOT NULL ORDER BY written_at")
    equal(events, [["bootstrap", "crate-v1"]], "events")
    return result


@test
def a_delta_table_is_seeded_and_followed(folder):  # T3.7
    server, lake = started(folder)
    try:
        other, copy, lsn = make_copy(folder, server)
        holds(json.dumps(other.log("silver/crate")), "deletionVector")
        server.sql(CHANGES)
        first = seed(lake, copy, lsn, check=True).json()
        equal((first["lsn"], first["rows"]), (lsn, 1980), "the seed")
        again = seed(lake, copy, lsn, check=True).json()
        equal((again["lsn"], again["rows"], again["commit_ts"]), (lsn, None, first["commit_ts"]), "the rerun")
        equal(follows(lake, server, 1980)["snapshot"], lsn)
        tag = [action["commitInfo"].get("userMetadata") for _, actions in lake.log("bronze/crate") for action in actions if "commitInfo" in action][1]
        equal(json.loads(tag), {"seed": "dbo_crate", "lsn": lsn, "commit_ts": first["commit_ts"].rstrip("Z")})
    finally:
        server.close()


@test
def parquet_files_are_seeded_and_followed(folder):
    server, lake = started(folder)
    try:
        _, copy, lsn = make_copy(folder, server, "--deletion-vectors=false")
        (folder / "files").mkdir()
        for n, path in enumerate(live_files(copy)):
            shutil.copy(copy / path, folder / "files" / f"{n}.parquet")
        server.sql(CHANGES)
        time.sleep(1.1)  # the second of the changes is over
        moment = datetime.datetime.now(datetime.timezone.utc).astimezone(datetime.timezone(datetime.timedelta(hours=2)))
        refused = seed(lake, copy / "*.parquet", lsn)
        equal(refused.code, 1)
        holds(refused.last_error(), "Delta table", "name the table's folder")
        done = seed(lake, folder / "files" / "*.parquet", lsn, check=True).json()
        equal((done["lsn"], done["rows"]), (lsn, 1980))
        equal(seed(lake, folder / "files" / "*.parquet", moment.isoformat(timespec="seconds")).code, 1, "another time over it")
        follows(lake, server, 1980)
    finally:
        server.close()


def live_files(table):
    listed = json.loads(tidelake("table", "files", str(table), "--json", check=True).stdout)
    at = listed["columns"].index("path")
    return [row[at] for row in listed["rows"]]


@test
def csv_files_are_seeded_and_followed(folder):
    server, lake = started(folder)
    try:
        other, copy, lsn = make_copy(folder, server)
        rows = other.query("silver/crate", f"SELECT {', '.join(NAMES)}, 'extra' FROM t ORDER BY id")
        half = len(rows) // 2
        for name, part, delimiter, names in (("a.csv", rows[:half], ",", NAMES), ("b.csv.gz", rows[half:], ";", [name.upper() for name in NAMES])):
            with (gzip.open if name.endswith(".gz") else open)(folder / name, "wt", newline="", encoding="utf-8") as file:
                file.write(delimiter.join(names + ["extra"]) + "\r\n")
                for row in part:  # NULL is an empty field, an empty text is quoted
                    file.write(delimiter.join("" if value is None else '"' + str(value).replace('"', '""') + '"' for value in row) + "\r\n")
        server.sql(CHANGES)
        done = seed(lake, folder / "?.csv*", lsn, check=True).json()
        equal((done["lsn"], done["rows"]), (lsn, 1980))
        follows(lake, server, 1980)
        compared = other.query("silver/crate", "SELECT md5(string_agg(t::VARCHAR, chr(10) ORDER BY id)) FROM "
                               f"(SELECT {', '.join(NAMES)} FROM t) AS t WHERE id % 50 <> 0 AND id % 60 <> 1 AND id % 70 <> 3")
        equal(lake.query("bronze/crate", "SELECT md5(string_agg(t::VARCHAR, chr(10) ORDER BY id)) FROM "
                         f"(SELECT {', '.join(NAMES)} FROM t WHERE _operation = 0) AS t WHERE id % 50 <> 0 AND id % 60 <> 1 AND id % 70 <> 3"), compared)
    finally:
        server.close()


def write_csv(path, rows, names=("id", "label"), end="\n"):
    path.write_text(end.join([",".join(names)] + [",".join(f"{value}" for value in row) for row in rows]) + end, encoding="utf-8", newline="")


@test
def killed_seeds_lose_nothing_and_double_nothing(folder):
    number = int(os.environ.get("TIDELAKE_SEED", random.randrange(1 << 30)))
    print(f"# seed {number}", flush=True)
    rng = random.Random(number)
    server, lake = started(folder, SETUP.replace("GENERATE_SERIES(1, 2000)", "GENERATE_SERIES(1, 100)"))
    try:
        lsn = max_lsn(server)
        (folder / "copy").mkdir()
        for file in range(40):
            write_csv(folder / f"copy/{file}.csv", [(file * 1000 + n, f"label {n}") for n in range(1000)])
        arguments = ["seed", *table_options(lake, "--app-id", "crate-v1", "--from", str(folder / "copy/*.csv"), "--as-of", lsn, "--json",
                                            "--allow-missing-columns")]
        began = time.monotonic()
        tidelake(*arguments, check=True)
        took, steps = time.monotonic() - began, {}
        shutil.rmtree(lake.folder)
        with open(folder / "log", "w") as log:
            for _ in range(4 if os.environ.get("TIDELAKE_E2E_SHORT") else 12):
                process = start_tidelake(*arguments, stderr=log)
                time.sleep(rng.uniform(0.1, 1.1) * took)
                process.kill()
                process.wait()
                table = lake.folder / "bronze/crate"
                rows = lake.query("bronze/crate", "SELECT count(*) FROM t")[0][0] if (table / "_delta_log").exists() else None
                hit = "done" if (lake.folder / "ops/facts/_delta_log").exists() and lake.txn("ops/facts", "crate-v1#events") == 0 else \
                    {None: "no table yet", 0: "nothing in", 40000: "rows in, no event"}[rows]
                steps[hit] = steps.get(hit, 0) + 1
                if hit == "done":
                    shutil.rmtree(lake.folder)
        print(f"# kills: {steps}", flush=True)
        done = tidelake(*arguments, check=True).json()
        equal(done["lsn"], lsn)
        equal(lake.query("bronze/crate", "SELECT count(*), count(DISTINCT id), count(DISTINCT _snapshot) FROM t"), [[40000, 40000, 1]])
        equal(lake.query("ops/facts", "SELECT event FROM t"), [["bootstrap"]], "events")
        equal([path for path in lake.folder.rglob("_tidelake_staging/*/*/*")], [], "staged files left")
    finally:
        server.close()


@test
def what_is_no_copy_is_refused_and_named(folder):  # T3.8
    server, lake = started(folder, SETUP.replace("GENERATE_SERIES(1, 2000)", "GENERATE_SERIES(1, 100)"))
    try:
        lsn, secret = max_lsn(server), "hunter2"

        def refused(content, *parts, name="copy.csv", options=("--allow-missing-columns",), code=1):
            path = folder / name
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            result = seed(lake, path, lsn, *options)
            equal(result.code, code, result.stderr)
            holds(result.last_error(), *parts)
            equal(secret in result.stderr, False, "a value is told")
            exists = (lake.folder / "bronze/crate/_delta_log").exists()
            equal(lake.query("bronze/crate", "SELECT count(*) FROM t")[0][0] if exists else 0, 0, "rows in bronze")
            equal((lake.folder / "ops/facts").exists(), False, "facts of a refusal")
            path.unlink()

        refused("id,label\n1,a\n2,b,hunter2\n", "copy.csv", "line 3 has more or fewer fields than the header")
        refused('id,label\n1,a\n2,"hunter2\n', "copy.csv", "line 3 has a quote that does not end")
        refused(b"id,label\n1,hunter2\xff\n", "copy.csv", "line 2 is not UTF-8")
        refused("id,label\r\n1,a\n2,hunter2\r\n", "copy.csv", "RFC 4180")
        refused("", "copy.csv", "its first line must name the columns")
        refused("id;id\n1;2\n", "copy.csv", "a column id and a column id")
        refused("id,ID\n1,2\n", "copy.csv", "a column id and a column ID", "ignoring case")
        for column, value in {"id": "hunter2", "weight": "1.2345", "small": "40000", "day": "2026-01-01 13:00:00", "packed": "2026-01-01T00:00:00+02:00",
                              "mark": "hunter2", "moment": "25:00:00", "raw": "hunter2", "yes": "2", "ratio": "hunter2"}.items():
            line = f"1,{value}" if column != "id" else f"{value},"
            refused(f"id,{column if column != 'id' else 'label'}\n7,\n{line}\n", "copy.csv", f"a value of column {column} cannot be cast to")
        refused("id,label\n1,a\n", "lacks captured columns of dbo_crate", "weight, packed, day", "--allow-missing-columns they become NULL", options=())
        refused("label\na\n", "lacks columns of the key of dbo_crate: id;", "without its key no row can be told from another")
        refused("label\na\n", "id, weight", "those that are not of its key become NULL", options=())
        refused("PAR1 not really", "copy.parquet", name="copy.parquet")
        refused("", "copy.parquet", name="copy.parquet")
        refused("id\n", "must end in .parquet", name="copy.txt")
        unquoted = tidelake("seed", "dbo_crate", "--from", "one.csv", "two.csv", "--as-of", lsn)
        equal(unquoted.code, 2, unquoted.stderr)
        holds(unquoted.last_error(), "dbo_crate and two.csv are given", "in quotes: --from 'copy/*.parquet'")
        missing = seed(lake, folder / "nothing/*.parquet", lsn)
        equal(missing.code, 1)
        holds(missing.last_error(), "no file is called", "no Delta table is there")
        write_csv(folder / "good.csv", [(1, "a")])
        late = "0x" + "F" * 20
        for as_of, code, parts in ((late, 1, [late, "not recorded yet"]), ("2001-01-01T00:00:00", 3, ["2001-01-01T00:00:00.000", "older than"]),
                                   ("0x01", 3, ["0x00000000000000000001", "older than the retention", "newer copy"])):
            result = seed(lake, folder / "good.csv", as_of, "--allow-missing-columns")
            equal(result.code, code, result.stderr)
            holds(result.last_error(), *parts)
        for options, parts in ((["--as-of", lsn], ["--from is missing"]), (["--from", "x.csv"], ["--as-of is missing"]),
                               (["--from", "x.csv", "--as-of", "yesterday"], ["--as-of", "yesterday", "2026-09-28T13:55:00"]),
                               (["--from", str(folder / "good.csv"), "--as-of", "2999-01-01T00:00:00"], ["2999-01-01T00:00:00.000", "still to come", "offset"]),
                               (["--from", "x.csv", "--from", "y.csv", "--as-of", lsn], ["--from is given twice", "quoted"])):
            result = tidelake("seed", *table_options(lake, "--app-id", "crate-v1"), *options)
            equal(result.code, 2, result.stderr)
            holds(result.last_error(), *parts)
        result = tidelake("seed", *table_options(lake, "--from", str(folder / "good.csv"), "--as-of", lsn))
        equal(result.code, 2)
        holds(result.last_error(), "app_id is missing", "facts")
        (folder / "good.csv").rename(folder / "good[1].csv")  # a file of that name, not a pattern
        equal(seed(lake, folder / "good[1].csv", lsn, "--allow-missing-columns", check=True).json()["rows"], 1)
    finally:
        server.close()


@test
def a_snapshot_is_taken_once_by_itself(folder):
    server, lake = started(folder, SETUP.replace("GENERATE_SERIES(1, 2000)", "GENERATE_SERIES(1, 500)"))
    try:
        snapshot = ["snapshot", *table_options(lake, "--app-id", "crate-v1", "--json")]
        first = tidelake(*snapshot, check=True).json()
        equal((first["lsn"], first["rows"]), (max_lsn(server), 500))
        server.sql(CHANGES)
        again = tidelake(*snapshot, check=True).json()
        equal((again["lsn"], again["commit_ts"], again["rows"]), (first["lsn"], first["commit_ts"], None))
        tidelake("stream", *lake.options("dbo_crate", "crate", "--app-id", "crate-v1", "--checkpoint", "checkpoints/crate"), "--trigger", "available-now",
                 "--starting-lsn", first["lsn"], check=True)
        lake.apply("dbo_crate", "crate", check=True)
        equal(lake.compare("crate").returncode, 0)
        another = tidelake(*snapshot, "--resnapshot", check=True).json()
        equal((another["lsn"] > first["lsn"], another["rows"]), (True, 493))
        equal(lake.query("ops/facts", "SELECT count(*) FROM t WHERE event IS NOT NULL"), [[0]], "events")
        lake.apply("dbo_crate", "crate", check=True)
        equal(lake.compare("crate").returncode, 0)
        seeded = seed(lake, lake.folder / "silver/crate", another["lsn"])
        equal((seeded.code, seeded.json()["rows"]), (0, None), seeded.stderr)
    finally:
        server.close()


if __name__ == "__main__":
    main()
