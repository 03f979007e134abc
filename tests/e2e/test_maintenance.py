#!/usr/bin/env python3
"""Tables that tidelake wrote are maintained by its commands and beside its streams, and keep every row."""
import json
import os
import time

from lib import *

DAY = 86400
SETUP = """
CREATE TABLE dbo.parcel (id int NOT NULL PRIMARY KEY, label nvarchar(40) NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'parcel', @role_name = NULL;
GO
INSERT INTO dbo.parcel SELECT value, 'first' FROM GENERATE_SERIES(1, 10);
GO
"""


def open_lake(folder):
    server = Server(folder, "--capture-interval", "manual")
    server.sql(SETUP)
    server.scan()
    return server, Lake(folder / "lake", server)


def one_batch(server, lake, step, *options):
    server.sql(f"INSERT INTO dbo.parcel VALUES ({1000 + step}, 'step {step}'); UPDATE dbo.parcel SET label = 'at {step}' WHERE id <= 3;")
    server.scan()
    lake.stream("dbo_parcel", "parcel", *options, check=True)


def table(*arguments):
    """The JSON of an action, and that it is what it promises: columns, and rows as wide."""
    result = json.loads(tidelake("table", *map(str, arguments), "--json", check=True).stdout)
    equal(sorted(result), ["columns", "rows"])
    equal({len(row) for row in result["rows"]} <= {len(result["columns"])}, True, "rows are as wide as the header")
    return [dict(zip(result["columns"], row)) for row in result["rows"]]


def rows(path, *at):
    return sorted(map(repr, (row for row in table("cat", path, *at))))


def refused(code, part, *arguments):
    done = tidelake("table", *map(str, arguments))
    equal(done.code, code, " ".join(map(str, arguments)))
    holds(done.last_error(), part)


def age(path, days):
    then = time.time() - days * DAY
    for file in path.rglob("*"):
        if file.is_file() and not file.is_symlink():
            os.utime(file, (then, then))


@test
def every_maintenance_command_leaves_every_row(folder):
    server, lake = open_lake(folder)
    try:
        for step in range(12):
            one_batch(server, lake, step, "--compact-bronze", "0", "--compact-facts", "0")
        path = lake.folder / "bronze/parcel"
        before, version = rows(path), table("history", path)[0]["version"]
        equal(len(table("files", path)) >= 12, True, "small files have piled up")

        equal(table("checkpoint", path), [{"version": version, "files": len(table("files", path)), "written": version % 10 != 0, "log_files_removed": 0}])
        equal(table("checkpoint", path)[0]["written"], False, "a second one")
        result = table("optimize", path)[0]
        equal((result["files_removed"] >= 12, result["files_added"], result["groups_dropped"]), (True, 1, 0))
        equal(rows(path), before, "after optimize")
        equal(table("optimize", path)[0]["commits"], 0, "a second optimize has nothing to do")
        equal([row["operation"] for row in table("history", path)][0], "OPTIMIZE")
        lake.stream("dbo_parcel", "parcel", check=True)  # nothing new, and nothing read again
        equal(rows(path), before, "after a run without news")

        equal(table("vacuum", path, "--dry-run"), [], "nothing is old")
        equal(rows(path, "--version", version), before, "the version before")
        age(path, 40)
        listed = table("vacuum", path, "--retention", "0s", "--dry-run")
        refused(1, "--allow-short-retention", "vacuum", path, "--retention", "1h")
        done = table("vacuum", path, "--retention", "0s", "--allow-short-retention")[0]
        equal((done["files"], done["size_bytes"]), (len(listed), sum(row["size_bytes"] for row in listed)), "what was listed went")
        equal(done["files"] >= 12, True, "the small files went")
        equal(rows(path), before, "after vacuum")
        refused(1, "DELTA-L08", "cat", path, "--version", version)

        for step in range(12, 24):  # a checkpoint comes by itself, and the old log goes with it
            one_batch(server, lake, step)
        left = sorted(file.name for file in (path / "_delta_log").glob("*.json"))
        equal(left[0], f"{version // 10 * 10:020}.json" if version % 10 == 0 else f"{version:020}.json", "the oldest commit that is left")
        refused(1, "DELTA-L03", "cat", path, "--version", "0")
        lake.apply("dbo_parcel", "parcel", check=True)
        equal(lake.compare("parcel").returncode, 0, "silver is the source")
    finally:
        server.close()


@test
def older_versions_are_seen_by_number_and_by_time(folder):
    server, lake = open_lake(folder)
    try:
        path = lake.folder / "bronze/parcel"
        seen = {}
        for step in range(3):
            one_batch(server, lake, step)
            version = table("history", path)[0]["version"]
            commit = path / f"_delta_log/{version:020}.json"
            os.utime(commit, (1767225600 + step * DAY, 1767225600 + step * DAY))  # 2026-01-01 and the days after
            seen[version] = rows(path)
        for name in sorted((path / "_delta_log").glob("*.json"))[:min(seen)]:
            os.utime(name, (1767000000, 1767000000))
        for day, (version, want) in enumerate(seen.items(), 1):
            equal(rows(path, "--version", version), want, f"version {version}")
            equal(rows(path, "--as-of", f"2026-01-0{day}T00:00:00"), want, f"as of day {day}")
            equal(rows(path, "--as-of", f"2026-01-0{day}T23:59:59Z"), want, f"as of the end of day {day}")
            equal(table("history", path, "--as-of", f"2026-01-0{day}T12:00:00")[0]["version"], version, "history ends there")
            equal(len(table("files", path, "--version", version)) < len(table("files", path)) or version == max(seen), True, "fewer files then")
            count = table("sql", path, "SELECT count(*) AS n FROM t", "--as-of", f"2026-01-0{day}T12:00:00")
            equal(count, [{"n": len(want)}])
        equal(rows(path, "--as-of", "2099-01-01T00:00:00"), seen[max(seen)], "later than the newest is the newest")
        equal(len(table("schema", path, "--version", "0")), len(table("schema", path)))
        refused(1, "DELTA-L03", "cat", path, "--as-of", "1999-01-01T00:00:00")
        refused(1, f"DELTA-L04 table {path}: version 999 does not exist yet; the newest is {max(seen)}", "cat", path, "--version", "999")
        refused(2, "exclude each other", "cat", path, "--version", "1", "--as-of", "2026-01-01T00:00:00")
        refused(2, "has no option --version", "vacuum", path, "--version", "1")
        refused(2, "has no option --retention", "cat", path, "--retention", "1d")
        refused(2, "allowed: a size", "optimize", path, "--target-size", "much")
        refused(2, "allowed: a time", "vacuum", path, "--retention", "soon")
        refused(2, "no column nobody", "optimize", path, "--sort", "id,nobody")
        refused(2, "did you mean vacuum", "vacum", path)
    finally:
        server.close()


@test
def a_stream_compacts_its_tables_beside_itself(folder):
    server, lake = open_lake(folder)
    try:
        for step in range(14):
            one_batch(server, lake, step, "--compact-bronze", "12", "--compact-facts", "12", "--log-level", "warn")
        for name in ("bronze/parcel", "ops/facts"):
            path = lake.folder / name
            history = table("history", path)
            equal(len([row for row in history if row["operation"] == "OPTIMIZE"]), 1, f"{name}: compactions")
            equal(len(table("files", path)) < 12, True, f"{name}: files")
            version = next(row["version"] for row in history if row["operation"] == "OPTIMIZE")
            equal(rows(path, "--version", version), rows(path, "--version", version - 1), f"{name}: rows")
        equal(lake.query("ops/facts", "SELECT count(*), count(DISTINCT batch_id) FROM t WHERE event IS NULL"), [[14, 14]], "a row a batch")
        lake.apply("dbo_parcel", "parcel", check=True)
        equal(lake.compare("parcel").returncode, 0, "silver is the source")
    finally:
        server.close()


if __name__ == "__main__":
    main()
