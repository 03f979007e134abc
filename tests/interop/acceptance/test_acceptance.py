"""Tables that other Delta implementations are tested with, each given its rows or refused for the right reason.

Rows are compared with the Parquet files that come with a table, and with DuckDB's Delta extension at every version it opens; the
schema with the one in the log. What tidelake must refuse is listed below with the words of the refusal. The table in
docs/acceptance.md is made from the outcomes, so a case whose outcome changes fails until the page says so:

    TIDELAKE_GOLDEN=refresh tests/interop/run acceptance
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import *  # noqa: E402,F403

CASES = pathlib.Path(os.environ.get("TIDELAKE_CASES", ROOT.parent / "shared" / "cases")) / "acceptance"
PAGE = ROOT / "docs" / "acceptance.md"
BEGIN, END = "<!-- outcomes: begin -->\n", "<!-- outcomes: end -->\n"

REFUSED = {  # what is wrong with the table, in the words of the refusal
    "deltalog-commit-info": ("DELTA-L06", "metaData has no schemaString"),
    "deltalog-invalid-protocol-version": ("DELTA-P01", "needs reader version 99"),
    "deltalog-state-reconstruction-from-checkpoint-missing-protocol": ("DELTA-L06", "has no protocol action"),
    "deltalog-state-reconstruction-without-protocol": ("DELTA-L06", "has no protocol action"),
    "no-delta-log-folder": ("DELTA-L01", "not a Delta table"),
    "update-deleted-directory": ("DELTA-L06", "metaData has no schemaString"),
}
LOG_ONLY = {  # the data files do not exist: the paths that `table files` must show
    "canonicalized-paths-normal-b": [],  # a remove names the file by a URI
    "canonicalized-paths-special-b": [],
    "checkpoint": ["15"],
    "log-replay-special-characters-b": ["special p@#h"],
}
# DuckDB's extension reads these otherwise than the files that come with them say, or not at all.
NOT_BY_DUCKDB = {
    "data-reader-timestamp_ntz-id-mode",  # gives NULL for partition columns that are mapped
}

outcomes = {}  # case: what docs/acceptance.md says of it


# --- values in one form: that of `--json` ---

def key_text(value):
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, (bool, list, dict)) else repr(value) if isinstance(value, float) else str(value)


def canonical(value, kind):
    """A value of an Arrow type as tidelake prints it."""
    import pyarrow.types as types
    if value is None:
        return None
    if types.is_decimal(kind):
        return format(value, "f")
    if types.is_date(kind):
        return value.isoformat()
    if types.is_timestamp(kind):
        return value.isoformat(timespec="microseconds")
    if types.is_binary(kind) or types.is_large_binary(kind):
        return "0x" + value.hex()
    if types.is_floating(kind):
        return value if math.isfinite(value) else None
    if types.is_map(kind):
        return {key_text(canonical(key, kind.key_type)): canonical(item, kind.item_type) for key, item in value}
    if types.is_list(kind) or types.is_large_list(kind):
        return [canonical(item, kind.value_type) for item in value]
    if types.is_struct(kind):
        return {field.name: canonical(value[field.name], field.type) for field in kind}
    return value


def rows_of_arrow(table):
    names = sorted(table.column_names)
    columns = [[canonical(value, table.schema.field(name).type) for value in table.column(name).to_pylist()] for name in names]
    return names, sorted((list(row) for row in zip(*columns)), key=json.dumps)


def rows_of_tidelake(path, *at):
    answer = json.loads(tidelake("table", "cat", str(path), "--json", *at, check=True).stdout)
    order = sorted(range(len(answer["columns"])), key=lambda i: answer["columns"][i])
    return [answer["columns"][i] for i in order], sorted(([row[i] for i in order] for row in answer["rows"]), key=json.dumps)


# --- the schema as the log has it ---

NAMES = {"integer": "INT", "long": "BIGINT", "short": "SMALLINT", "byte": "SMALLINT"}  # a byte is read as a SMALLINT


def sql_name(kind):
    if isinstance(kind, str):
        return NAMES.get(kind, kind.upper().replace(" ", ""))
    if kind["type"] == "array":
        return f"ARRAY<{sql_name(kind['elementType'])}>"
    if kind["type"] == "map":
        return f"MAP<{sql_name(kind['keyType'])}, {sql_name(kind['valueType'])}>"
    return "STRUCT<" + ", ".join(f"{field['name']}: {sql_name(field['type'])}" for field in kind["fields"]) + ">"


def schema_in_log(path):
    """From the newest metaData of the commits, or of a classic checkpoint."""
    import pyarrow.parquet as parquet
    for commit in sorted((path / "_delta_log").glob("*.json"), reverse=True):
        if not re.fullmatch(r"\d{20}\.json", commit.name):
            continue
        for line in commit.read_text(encoding="utf-8").splitlines():
            metadata = json.loads(line).get("metaData") if line.strip() else None
            if metadata:
                return json.loads(metadata["schemaString"])
    for checkpoint in sorted((path / "_delta_log").glob("*.checkpoint*.parquet"), reverse=True):
        for row in parquet.read_table(checkpoint, columns=["metaData"]).column(0).to_pylist():
            if row:
                return json.loads(row["schemaString"])
    return None


def check_schema(path):
    schema = schema_in_log(path)
    if schema is None:
        return
    got = json.loads(tidelake("table", "schema", str(path), "--json", check=True).stdout)["rows"]
    equal([row[:2] for row in got], [[field["name"], sql_name(field["type"])] for field in schema["fields"]], "table schema")


# --- the other readers ---

class Others:
    """What the files beside a table say, and what DuckDB's extension reads."""

    def __init__(self):
        import duckdb
        import duckdb_extension_delta
        self.connection = duckdb.connect()
        folder = os.path.dirname(duckdb_extension_delta.__file__)
        self.connection.execute(f"LOAD '{folder}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")
        self.connection.execute("SET timezone='UTC'")

    def duckdb_rows(self, path, version=None):
        at = "" if version is None else f", version={version}"
        result = self.connection.execute(f"SELECT * FROM delta_scan('{path}'{at})")
        return rows_of_arrow(result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table())


def expected_rows(folder):
    import pyarrow
    import pyarrow.parquet as parquet
    files = sorted((folder / "expected").rglob("*.parquet"))
    if not files:
        return None
    return rows_of_arrow(pyarrow.concat_tables(parquet.ParquetFile(file).read() for file in files))


# --- one table ---

def unpack(name, folder):
    subprocess.run(["tar", "--zstd", "-xf", str(CASES / f"{name}.tar.zst"), "-C", str(folder)], check=True)
    inside = folder / name
    return inside, inside / "delta" if (inside / "delta").exists() else inside


def number(count, what):
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def versions_of(path):
    return sorted(int(commit.name[:20]) for commit in (path / "_delta_log").glob("*.json") if re.fullmatch(r"\d{20}\.json", commit.name))


def check_refusal(path, code, words):
    for action in (("sql", str(path), "SELECT 1 FROM t"), ("cat", str(path)), ("files", str(path)), ("schema", str(path)), ("checkpoint", str(path))):
        before = sorted(str(file) for file in path.rglob("*")) if path.exists() else []
        done = tidelake("table", *action)
        equal(done.code, 1, f"table {action[0]}: exit status")
        holds(done.last_error(), code, words)
        equal(sorted(str(file) for file in path.rglob("*")) if path.exists() else [], before, "nothing was written")
    return f"refused: `{code}`, {words}"


def check_log(path, want):
    files = json.loads(tidelake("table", "files", str(path), "--json", check=True).stdout)["rows"]
    equal([row[0] for row in files], want, "table files")
    done = tidelake("table", "cat", str(path))
    if not want:
        equal(done.code, 0, f"table cat: exit status ({done.stderr})")
        return "0 rows: the remove's path is the add's with a scheme"
    equal(done.code, 1, "table cat: exit status")
    holds(done.last_error(), "DELTA-L08", want[0])
    return f"{number(len(want), 'file')} in the log, " + ", ".join(f"`{name}`" for name in want) + "; reading it is refused: `DELTA-L08`, it does not exist"


def check_versions(others, path):
    """Every version that DuckDB opens has the same rows in tidelake, by number and by time. Returns how many there were."""
    compared = 0
    versions = versions_of(path)
    for hours, version in enumerate(versions):  # commit times apart from each other; they are modification times
        moment = 1_700_000_000 + 3600 * hours
        os.utime(path / "_delta_log" / f"{version:020}.json", (moment, moment))
    for hours, version in enumerate(versions[-12:], len(versions[:-12])):
        try:
            want = others.duckdb_rows(path, version)
        except Exception:  # cleaned up, or its data vacuumed
            continue
        equal(rows_of_tidelake(path, "--version", str(version)), want, f"rows of version {version} (DuckDB)")
        compared += 1
        if "inCommitTimestamp" not in (path / "_delta_log" / f"{version:020}.json").read_text(encoding="utf-8"):
            when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1_700_000_000 + 3600 * hours + 60))
            equal(rows_of_tidelake(path, "--as-of", when), want, f"rows as of {when}, version {version} (DuckDB)")
    return compared


def check_rows(others, name, folder, path):
    want = expected_rows(folder)
    by = ["expected"] if want else []
    if want:
        equal(rows_of_tidelake(path), want, "rows (expected)")
    if name not in NOT_BY_DUCKDB:
        want = others.duckdb_rows(path)
        equal(rows_of_tidelake(path), want, "rows (DuckDB)")
        by.append("DuckDB's")
    columns, rows = rows_of_tidelake(path)
    count = json.loads(tidelake("table", "sql", str(path), "SELECT count(*) FROM t", "--json", check=True).stdout)["rows"]
    equal(count, [[len(rows)]], "count(*)")
    lines = tidelake("table", "cat", str(path), check=True).stdout.splitlines()
    equal(len(lines), len(rows) + 1, "lines of table cat for people")
    check_schema(path)
    compared = 0 if name in NOT_BY_DUCKDB else check_versions(others, path)
    return f"{number(len(rows), 'row')}, as {' and '.join(by)}" + (f"; {number(compared, 'version')} as DuckDB's" if compared > 1 else "")


def define(name, others):
    def case(folder):
        inside, path = unpack(name, folder)
        if name in REFUSED:
            outcomes[name] = check_refusal(path, *REFUSED[name])
        elif name in LOG_ONLY:
            outcomes[name] = check_log(path, LOG_ONLY[name])
        else:
            outcomes[name] = check_rows(others[0], name, inside, path)
    case.__name__ = name.replace("-", "_")
    test(case)


def define_all():
    if not (CASES / "index.tsv").exists():
        @test
        def tables_of_other_implementations_are_read(folder):
            raise Skip(f"there is no {CASES}; TIDELAKE_CASES names the folder of the cases")
        return
    others = []
    for name in sorted(archive.name[:-len(".tar.zst")] for archive in CASES.glob("*.tar.zst")):
        define(name, others)
    if len(sys.argv) > 1:
        others.append(Others())
        return

    @test
    def the_index_lists_the_tables_and_their_rows(folder):
        for line in (CASES / "index.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            name, rows = line.split("\t")[:2]
            if rows != "-" and name in outcomes:
                equal(outcomes[name].split()[0], rows, name)

    @test
    def the_page_says_what_came_out(folder):
        made = "| table | outcome |\n|---|---|\n" + "".join(f"| `{name}` | {outcomes[name]} |\n" for name in sorted(outcomes))
        text = PAGE.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        if os.environ.get("TIDELAKE_GOLDEN") == "refresh":
            PAGE.write_text(head + BEGIN + made + END + rest.split(END)[1], encoding="utf-8")
            return
        equal(rest.split(END)[0], made, "docs/acceptance.md")
    others.append(Others())


if __name__ == "__main__":
    define_all()
    main()
