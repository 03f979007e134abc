#!/usr/bin/env python3
"""Values of many megabytes arrive whole, and memory stays within the buffers and a few times the largest value."""
import hashlib

from lib import *

SHORT = bool(os.environ.get("TIDELAKE_E2E_SHORT"))
MIB = 16 if SHORT else 32
LARGEST_MIB = 32 if SHORT else 180  # with what libduckdb makes of it, more than its share of memory_limit
FETCH_MIB = 8
SLACK_MIB = 6  # libduckdb's own, for whatever value
TIMES = 2  # our own and the row group's, then that and the page's
KINDS = {"varchar(max)": "c", "nvarchar(max)": "n", "varbinary(max)": "b"}


def peak_of(*arguments):
    """Exit code and peak memory of a run, in MiB."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(program("tidelake"), ["tidelake", *arguments])
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024


class Value:
    """A value of a kind and as many MiB of text or bytes; `noise`: bytes that do not compress."""

    def __init__(self, kind, mib, noise=False):
        self.kind, self.mib, self.noise = kind, mib, noise
        self.end = "0123456789abcde\u00e9" if kind == "nvarchar(max)" else "0123456789abcdef"
        self.stored_mib = mib * len(self.end.encode()) // 16
        self.sent_mib = mib * (2 if kind == "nvarchar(max)" else 1)

    def sql(self):
        if self.noise:
            return "0x" + random.Random(self.mib).randbytes(self.mib << 20).hex()
        if self.kind == "nvarchar(max)":
            return f"REPLICATE(CAST(N'{self.end}' AS nvarchar(max)), {self.mib << 16})"
        text = f"REPLICATE(CAST('{self.end}' AS varchar(max)), {self.mib << 16})"
        return f"CAST({text} AS varbinary(max))" if self.kind == "varbinary(max)" else text

    def digest(self):
        whole = random.Random(self.mib).randbytes(self.mib << 20) if self.noise else self.end.encode() * (self.mib << 16)
        return hashlib.sha256(whole).hexdigest()


def check_values(bronze, rows):
    digests = ", ".join(f"coalesce(sha256({column}), '')" for column in KINDS.values())
    found = json.loads(tidelake("table", "sql", bronze, f"SELECT id, {digests}, last FROM t WHERE id > 0 ORDER BY id",
                                "--memory-limit", "4GB", "--json", check=True).stdout)["rows"]
    wanted = [{value.kind: value.digest() for value in row} for row in rows]
    equal(found, [[number, *(row.get(kind, "") for kind in KINDS), 7] for number, row in enumerate(wanted, 1)])


def through(folder, name, driver, rows):
    """`rows`: the values of each; every row is a change, and memory is that of the largest."""
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(SETUP)
        server.scan()
        lake = Lake(folder / "lake", server)
        connection = server.connection().replace("Driver=FreeTDS", f"Driver={driver}") + (";Encrypt=no" if name == "Microsoft" else "")
        stream = ["stream", *lake.options("dbo_docs", "docs", "--app-id", "docs-v1", "--checkpoint", "checkpoints/docs", "--connection", connection),
                  "--trigger", "available-now", "--log-level", "error"]
        server.sql("INSERT INTO dbo.docs VALUES (0, 'small', NULL, NULL, 7);")
        server.scan()
        code, base = peak_of(*stream)
        equal(code, 0)
        for number, row in enumerate(rows, 1):
            insert(server, number, row)
        server.scan()
        code, peak = peak_of(*stream)
        equal(code, 0)
        largest = max(sum(value.stored_mib for value in row) for row in rows)
        held = 0
        if name == "FreeTDS":  # the last value of each column, as it came
            held = sum(max((value.sent_mib for row in rows for value in row if value.kind == kind), default=0) for kind in KINDS)
        allowed = base + FETCH_MIB + SLACK_MIB + TIMES * largest + held
        print(f"# {name}: {base:.0f} MiB without, {peak:.0f} MiB with {largest:.0f} MiB in a row, {(peak - base) / largest:.1f} times as much; allowed: {allowed:.0f}", flush=True)
        if "san" not in os.environ.get("TIDELAKE_BUILD", ""):
            equal(peak <= allowed, True, f"{peak:.0f} MiB where {allowed:.0f} are allowed")
        check_values(str(lake.folder / "bronze/docs"), rows)
    finally:
        server.close()


SETUP = """
EXEC sp_configure 'max text repl size', -1;
GO
RECONFIGURE;
GO
CREATE TABLE dbo.docs (id int NOT NULL PRIMARY KEY, c varchar(max) NULL, n nvarchar(max) NULL, b varbinary(max) NULL, last int NOT NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'docs', @role_name = NULL;
"""


def insert(server, number, row):
    columns, values = "".join(KINDS[value.kind] + ", " for value in row), "".join(value.sql() + ", " for value in row)
    server.sql(f"INSERT INTO dbo.docs (id, {columns}last) VALUES ({number}, {values}7);")


ONE_OF_EACH = [[Value(kind, MIB)] for kind in KINDS]
ALL_AT_ONCE = [[Value(kind, 16) for kind in KINDS]]


@test
def large_values_take_bounded_memory_through_freetds(folder):
    through(folder, "FreeTDS", "FreeTDS", ONE_OF_EACH)


@test
def large_values_take_bounded_memory_through_microsofts_driver(folder):
    if not microsoft_driver():
        raise Skip("it is not installed")
    through(folder, "Microsoft", microsoft_driver(), ONE_OF_EACH + ALL_AT_ONCE)


@test
def large_values_of_one_row_take_bounded_memory(folder):
    through(folder, "FreeTDS", "FreeTDS", ALL_AT_ONCE)


@test
def values_that_do_not_compress_take_no_more(folder):
    through(folder, "FreeTDS", "FreeTDS", [[Value("varbinary(max)", mib, noise=True)] for mib in (16, MIB, MIB - 8)])


@test
def large_rows_of_a_snapshot_and_of_chunks_have_files_of_their_own(folder):
    rows = [[], [Value("varbinary(max)", 17)], [], [], [Value("varchar(max)", 18), Value("varbinary(max)", 1)], [Value("nvarchar(max)", 16)], []]
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(SETUP)
        for number, row in enumerate(rows, 1):
            insert(server, number, row)
        server.scan()
        for name, more in (("full", []), ("chunked", ["--snapshot", "chunked"])):
            lake = Lake(folder / name, server)
            lake.stream("dbo_docs", "docs", "--num-partitions", "1", *more, check=True)
            if more:
                options = lake.options("dbo_docs", "docs", "--app-id", "docs-v1", "--checkpoint", "checkpoints/docs", "--num-partitions", "1")
                at = options.index("--control")  # backfill has no use for it
                tidelake("backfill", *options[:at], *options[at + 2:], check=True)
            check_values(str(lake.folder / "bronze/docs"), rows)
            adds = [json.loads(action["add"]["stats"])["numRecords"] for _, actions in lake.log("bronze/docs") for action in actions if "add" in action]
            equal(adds, [1, 1, 2, 1, 1, 1])
    finally:
        server.close()


@test
def a_value_larger_than_libduckdbs_share_is_written(folder):
    through(folder, "FreeTDS", "FreeTDS", [[Value("varbinary(max)", LARGEST_MIB)]])


if __name__ == "__main__":
    main()
