"""Reads what make_delta_tables wrote with deltalake and with DuckDB's Delta extension, and compares every value (TAP).

    ninja -C build tests/unit/delta/make_delta_tables
    build/tests/unit/delta/make_delta_tables FOLDER && check_delta_tables.py FOLDER
"""
import datetime as dt
import decimal
import glob
import json
import os
import sys
import traceback

import duckdb
import duckdb_extension_delta
from deltalake import DeltaTable

D = decimal.Decimal
UTC = dt.timezone.utc
EMPTY = dict.fromkeys(
    "c_bool c_short c_int c_long c_float c_double c_dec4 c_dec9 c_dec18 c_dec38 c_date c_ts c_ntz c_str c_bin".split())
LOW = dict(
    c_bool=False, c_short=-2**15, c_int=-2**31, c_long=-2**63, c_float=-3.4028234663852886e38,
    c_double=-1.7976931348623157e308, c_dec4=D("-999.9"), c_dec9=D("-0.999999999"), c_dec18=D("-9999999999999999.99"),
    c_dec38=D("-" + "9" * 38), c_date=dt.date.min, c_ts=dt.datetime.min.replace(tzinfo=UTC), c_ntz=dt.datetime.min,
    c_str="", c_bin=b"")
HIGH = dict(
    c_bool=True, c_short=2**15 - 1, c_int=2**31 - 1, c_long=2**63 - 1, c_float=1.401298464324817e-45, c_double=5e-324,
    c_dec4=D("999.9"), c_dec9=D("0.999999999"), c_dec18=D("9999999999999999.99"), c_dec38=D("9" * 38),
    c_date=dt.date.max, c_ts=dt.datetime.max.replace(tzinfo=UTC), c_ntz=dt.datetime.max,
    c_str="\U0010ffff\U0001f30a it's \"text\"\n\\ and more than thirty-two code points of it", c_bin=b"\0\xff\x80 binary")
PLAIN = dict(
    EMPTY, c_short=7, c_float=0.10000000149011612, c_double=0.0, c_dec18=D("-0.50"),
    c_ts=dt.datetime(1899, 12, 31, 23, 59, 59, 999001, UTC), c_ntz=dt.datetime(2026, 9, 28, 13, 55, 0, 123001), c_str="plain")
BASE = dt.datetime(2026, 1, 1, 0, 0, 0, 123456)


def type_rows(versions):
    return [dict(row, id=version * 4 + i)
            for version in range(1, versions + 1) for i, row in enumerate((LOW, HIGH, EMPTY, PLAIN))]


def plain_rows(ids):
    return [dict(id=i, name=f"name {i}", at=BASE + dt.timedelta(seconds=i)) for i in ids]


def expected(name):
    kind, _, number = name.partition("_")
    if kind == "types":
        return type_rows(int(number))
    if kind == "rewritten":
        ids = [i for i in range(10, int(number) * 10) if i % 2] + list(range(1000, 1005))
        return plain_rows(ids)
    return [dict(id=1, name="old", amount=None, at=None),
            dict(id=2, name="new", amount=D("12.50"), at=dt.datetime(2026, 1, 2, 3, 4, 5, 678901))]


def canonical(rows):
    def value(v):
        return v.astimezone(UTC) if isinstance(v, dt.datetime) and v.tzinfo else v
    return sorted(([(k, value(row[k])) for k in sorted(row)] for row in rows), key=lambda row: dict(row)["id"])


def compare(what, got, want):
    got, want = canonical(got), canonical(want)
    if got == want:
        return
    different = [f"got  {left}\nwant {right}" for left, right in zip(got, want) if left != right]
    raise AssertionError("\n".join([f"{what}: {len(got)} rows, {len(want)} wanted"] + different))


def connect():
    con = duckdb.connect()
    folder = os.path.dirname(duckdb_extension_delta.__file__)
    con.execute(f"LOAD '{folder}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")
    con.execute("SET TimeZone='UTC'")
    return con


def check_deltalake(path, name, want):
    table = DeltaTable(path)
    compare(f"{name} deltalake", table.to_pyarrow_table().to_pylist(), want)
    assert table.metadata().description.startswith("Every type, é"), table.metadata()
    assert table.metadata().configuration["mssql_cdc.schema_version"] == "1"
    comments = {f.name: f.metadata.get("comment") for f in table.schema().fields}
    if name.startswith("types"):
        assert comments["c_str"] == 'a "quoted" comment \U0001f30a' and comments["id"] == "row number", comments
        versions = int(name[-2:])
        assert table.version() == versions and table.transaction_version("orders-v1") == versions
        history = {h["version"]: h.get("userMetadata") for h in table.history()}
        assert all(history[v] == json.dumps({"batch_id": v}, separators=(",", ":")) for v in range(1, versions + 1)), history
    for version in range(table.version() + 1):
        assert DeltaTable(path, version=version).version() == version
    # a filter that statistics answer must not lose rows
    low = min(row["id"] for row in want)
    assert table.to_pyarrow_dataset().to_table(filter=__import__("pyarrow.compute").compute.field("id") == low).num_rows == 1
    return table


def check_duckdb(con, path, name, want):
    rel = con.execute(f"SELECT * FROM delta_scan('{path}')")
    columns = [d[0] for d in rel.description]
    compare(f"{name} duckdb", [dict(zip(columns, row)) for row in rel.fetchall()], want)
    for column in columns:
        values = [row[column] for row in want if row[column] is not None]
        if values and not isinstance(values[0], (bool, bytes)):
            got = con.execute(f"SELECT count(*) FROM delta_scan('{path}') WHERE \"{column}\" >= ?", [min(values)]).fetchone()[0]
            assert got == len(values), (name, column, got, len(values))


def main(folder):
    con, failed = connect(), 0
    paths = sorted(glob.glob(folder + "/*"))
    print(f"1..{len(paths)}")
    for number, path in enumerate(paths, 1):
        name = os.path.basename(path)
        try:
            want = expected(name)
            check_deltalake(path, name, want)
            check_duckdb(con, path, name, want)
            print(f"ok {number} - {name}: {len(want)} rows are the same in deltalake and DuckDB")
        except Exception:  # one table's trouble must not hide the others
            failed += 1
            print(f"not ok {number} - {name}")
            print("".join("# " + line for line in traceback.format_exc().splitlines(True)))
    sys.exit(1 if failed or not paths else 0)


main(sys.argv[1])
