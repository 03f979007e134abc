#!/usr/bin/env python3
"""Values of many megabytes arrive whole, and memory stays within the buffers and a few times the largest value."""
from lib import *

SHORT = bool(os.environ.get("TIDELAKE_E2E_SHORT"))
MIB = 16 if SHORT else 32
LARGEST_MIB = 32 if SHORT else 180  # with what libduckdb makes of it, more than its share of memory_limit
FETCH_MIB = 8
SLACK_MIB = 12  # libduckdb's own, for whatever value
TIMES = 3  # our own, the row group's and the page's


def peak_of(*arguments):
    """Exit code and peak memory of a run, in MiB."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(program("tidelake"), ["tidelake", *arguments])
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024


def repeat(kind, mib):
    text = f"REPLICATE(CAST('0123456789abcdef' AS varchar(max)), {mib * 65536})"
    return {"varchar(max)": text, "varbinary(max)": f"CAST({text} AS varbinary(max))", "nvarchar(max)": f"REPLICATE(CAST(N'0123456789abcde\u00e9' AS nvarchar(max)), {mib * 65536})"}[kind]


def through(folder, name, driver, values):
    """`values`: kind and MiB of each row; every row is a change, and memory is that of the largest."""
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql("EXEC sp_configure 'max text repl size', -1;\nGO\nRECONFIGURE;")
        server.sql("CREATE TABLE dbo.docs (id int NOT NULL PRIMARY KEY, c varchar(max) NULL, n nvarchar(max) NULL, b varbinary(max) NULL, last int NOT NULL);\nGO\n"
                   "EXEC sys.sp_cdc_enable_db;\nGO\nEXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'docs', @role_name = NULL;")
        server.scan()
        lake = Lake(folder / "lake", server)
        connection = server.connection().replace("Driver=FreeTDS", f"Driver={driver}") + (";Encrypt=no" if name == "Microsoft" else "")
        stream = ["stream", *lake.options("dbo_docs", "docs", "--app-id", "docs-v1", "--checkpoint", "checkpoints/docs", "--connection", connection),
                  "--trigger", "available-now", "--log-level", "error"]
        server.sql("INSERT INTO dbo.docs VALUES (0, 'small', NULL, NULL, 7);")
        server.scan()
        code, base = peak_of(*stream)
        equal(code, 0)
        for number, (kind, mib) in enumerate(values, 1):
            column = {"varchar(max)": "c", "nvarchar(max)": "n", "varbinary(max)": "b"}[kind]
            server.sql(f"INSERT INTO dbo.docs (id, {column}, last) VALUES ({number}, {repeat(kind, mib)}, 7);")
        server.scan()
        code, peak = peak_of(*stream)
        equal(code, 0)
        largest = max(mib * (17 / 16 if kind == "nvarchar(max)" else 1) for kind, mib in values)
        held = sum(mib * (2 if kind == "nvarchar(max)" else 1) for kind, mib in values) if name == "FreeTDS" else 0  # the last value of each column, as it came
        allowed = base + FETCH_MIB + SLACK_MIB + TIMES * largest + held
        print(f"# {name}: {base:.0f} MiB without, {peak:.0f} MiB with a value of {largest:.0f} MiB, {(peak - base) / largest:.1f} times as much; allowed: {allowed:.0f}", flush=True)
        if "san" not in os.environ.get("TIDELAKE_BUILD", ""):
            equal(peak <= allowed, True, f"{peak:.0f} MiB where {allowed:.0f} are allowed")
        lengths = json.loads(tidelake("table", "sql", str(lake.folder / "bronze/docs"), "SELECT id, coalesce(strlen(c), strlen(n), octet_length(b)), last FROM t ORDER BY id",
                                      "--memory-limit", "4GB", "--json", check=True).stdout)["rows"]
        equal(lengths[1:], [[number, mib * (17 << 16 if kind == "nvarchar(max)" else 1 << 20), 7] for number, (kind, mib) in enumerate(values, 1)])
        ends = json.loads(tidelake("table", "sql", str(lake.folder / "bronze/docs"), "SELECT id, right(coalesce(c, n, decode(b)), 16) FROM t WHERE id > 0 ORDER BY id",
                                   "--memory-limit", "4GB", "--json", check=True).stdout)["rows"]
        equal(ends, [[number, "0123456789abcde\u00e9" if kind == "nvarchar(max)" else "0123456789abcdef"] for number, (kind, _) in enumerate(values, 1)])
    finally:
        server.close()


ONE_OF_EACH = (("varchar(max)", MIB), ("nvarchar(max)", MIB), ("varbinary(max)", MIB))


@test
def large_values_take_bounded_memory_through_freetds(folder):
    through(folder, "FreeTDS", "FreeTDS", ONE_OF_EACH)


@test
def large_values_take_bounded_memory_through_microsofts_driver(folder):
    if not microsoft_driver():
        raise Skip("it is not installed")
    through(folder, "Microsoft", microsoft_driver(), ONE_OF_EACH)


@test
def a_value_larger_than_libduckdbs_share_is_written(folder):
    through(folder, "FreeTDS", "FreeTDS", (("varbinary(max)", LARGEST_MIB),))


if __name__ == "__main__":
    main()
