"""Many rows into a tidesim of their own and out of it: executemany of Python's clients, fast_executemany of pyodbc, the bulk copies of python-tds,
mssql-python and arrow-odbc, fetches as Arrow tables.

Prints TAP. Arguments choose clients and cases:

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_bulk.py [CLIENT...] [CASE...]
"""
import datetime
import decimal
import os
import sys

import values
from clients import ADMIN, EVERY, MssqlPython, PyodbcFreetds, PyodbcMicrosoft, PythonTds, main, microsoft_library, only
from values import KINDS

DT, Dec = datetime.datetime, decimal.Decimal
TABLE = ("id int NOT NULL PRIMARY KEY, n nvarchar(20) NULL, d decimal(10,2) NULL, t datetime2(6) NULL, b varbinary(20) NULL, f float NULL, "
         "m nvarchar(max) NULL, v varchar(20) NULL, big bigint NULL, g date NULL")
SCRIPT = values.script() + f"""CREATE TABLE dbo.many ({TABLE});
GO
EXEC sys.sp_cdc_enable_db;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'many', @role_name = NULL;
EXEC tidesim.synthetic 'dbo.big', 10000000, 'narrow';
GO
"""
FETCHED = 10_000_000 if os.environ.get("INTEROP_ALL") else 1_000_000


def rows_to_write(count, start=0):
    rows = [(n, f"日{n} 😀", Dec(n) / 4, DT(2024, 1, 1, 0, 0, n % 60, n % 1000 * 1000), bytes([n % 256, 255]), n / 3, "m" * (n % 50), "é", n * 2**32,
             datetime.date(2000 + n % 50, 1, 31)) for n in range(start, start + count)]
    rows[count // 2] = (start + count // 2, "") + (None,) * 8
    return rows


def are_there(case, rows):
    got = case.rows("SELECT * FROM dbo.many ORDER BY id")
    differ = [(one, two) for one, two in zip(got, rows) if one != two]
    assert len(got) == len(rows) and not differ, (len(got), differ[:1])


def empty(case):
    case.run("DELETE dbo.many")
    case.connection.commit()


@only(PyodbcFreetds, PyodbcMicrosoft, MssqlPython)
def many_rows_go_in_by_executemany(case):
    empty(case)
    rows = rows_to_write(200)
    case.cursor.executemany("INSERT dbo.many VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    case.connection.commit()
    are_there(case, rows)


def an_error_in_the_middle_leaves_what_the_transaction_says(case):
    empty(case)
    rows = [(1, "a"), (2, "b"), (1, "c"), (3, "d")]
    try:
        case.cursor.executemany("INSERT dbo.many (id, n) VALUES ($, $)".replace("$", case.client.mark), rows)
    except case.client.Error as error:
        assert case.client.is_error(error, 2627, ["23000"], "Violation of PRIMARY KEY constraint"), error
    else:
        raise AssertionError("no error")
    case.connection.rollback()
    assert case.value("SELECT COUNT(*) FROM dbo.many") == 0


@only(PyodbcMicrosoft)
def fast_executemany_sends_rows_as_arrays(case):
    empty(case)
    rows = rows_to_write(5000)
    case.cursor.fast_executemany = True
    case.cursor.executemany("INSERT dbo.many VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    case.connection.commit()
    are_there(case, rows)


@only(PyodbcMicrosoft)
def fast_executemany_stops_at_the_row_that_is_wrong(case):
    empty(case)
    case.cursor.fast_executemany = True
    try:
        case.cursor.executemany("INSERT dbo.many (id, n) VALUES (?, ?)", [(1, "a"), (2, "b"), (1, "c"), (3, "d")])
    except case.client.Error as error:
        assert error.args[0] == "23000" and "(2627)" in error.args[1], error
    else:
        raise AssertionError("no error")
    case.connection.rollback()
    assert case.value("SELECT COUNT(*) FROM dbo.many") == 0


@only(PythonTds, autocommit=True)
def python_tds_copies_in_bulk(case):
    import pytds

    empty(case)
    rows = rows_to_write(3000)
    from pytds import tds_types as types

    kinds = [types.IntType(), types.NVarCharType(20), types.DecimalType(10, 2), types.DateTime2Type(6), types.VarBinaryType(20), types.FloatType(),
             types.NVarCharMaxType(), types.VarCharType(20), types.BigIntType(), types.DateType()]
    names = ["id", "n", "d", "t", "b", "f", "m", "v", "big", "g"]
    columns = [pytds.Column(name=name, type=kind, flags=pytds.Column.fNullable if name != "id" else 0) for name, kind in zip(names, kinds)]
    case.cursor.copy_to(data=rows, table_or_view="many", schema="dbo", columns=columns, rows_per_batch=1000)
    are_there(case, rows)


@only(MssqlPython, autocommit=True)
def mssql_python_copies_in_bulk_and_the_rows_are_captured(case):
    """By a TDS client of its own, not through ODBC."""
    empty(case)
    rows = rows_to_write(3000)
    told = case.cursor.bulkcopy("dbo.many", rows, batch_size=1000)
    assert told["rows_copied"] == 3000, told
    are_there(case, rows)
    case.run("EXEC tidesim.scan_now 'shop'")
    assert case.value("SELECT COUNT(*) FROM cdc.dbo_many_CT WHERE __$start_lsn = (SELECT MAX(__$start_lsn) FROM cdc.dbo_many_CT) AND __$operation = 2") == 1000


@only(MssqlPython, autocommit=True)
def mssql_python_copies_an_arrow_table(case):
    import pyarrow as pa

    empty(case)
    rows = rows_to_write(2000)
    types = [pa.int32(), pa.string(), pa.decimal128(10, 2), pa.timestamp("us"), pa.binary(), pa.float64(), pa.string(), pa.string(), pa.int64(), pa.date32()]
    names = ["id", "n", "d", "t", "b", "f", "m", "v", "big", "g"]
    table = pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(zip(names, types))})
    case.cursor.bulkcopy_arrow("dbo.many", table)
    are_there(case, rows)


@only(MssqlPython, autocommit=True)
def a_bulk_copy_that_breaks_a_key_says_so(case):
    empty(case)
    try:
        case.cursor.bulkcopy("dbo.many", [(1,) + (None,) * 9, (1,) + (None,) * 9])
    except Exception as error:  # RuntimeError, whatever it is
        assert "2627" in str(error) and "duplicate key value is (1)" in str(error), error
    else:
        raise AssertionError("no error")


# --- Arrow ---

def arrow_value(kind, value):
    """The same in UTC, as a timestamp with a zone has it."""
    import uuid

    if isinstance(value, DT) and value.tzinfo:
        return value.astimezone(datetime.timezone.utc)
    return str(value).upper() if isinstance(value, uuid.UUID) else value


@only(MssqlPython)
def mssql_python_fetches_every_type_as_arrow(case):
    import pyarrow as pa

    wanted = {"bit": pa.bool_(), "tinyint": pa.uint8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64(), "real": pa.float32(),
              "float": pa.float64(), "decimal(38,10)": pa.decimal128(38, 10), "money": pa.decimal128(19, 4), "date": pa.date32(),
              "datetime2(6)": pa.timestamp("us")}
    for name, kind, _, top, _, bottom in KINDS:
        case.run(f"SELECT {name} FROM dbo.kinds ORDER BY id")
        table = case.cursor.arrow()
        assert wanted.get(kind, table.schema.field(0).type) == table.schema.field(0).type, (kind, table.schema)
        assert table.column(0).to_pylist() == [arrow_value(kind, top), arrow_value(kind, bottom), None], (name, table.column(0))
    case.run("SELECT CAST('23:59:59.9999999' AS time(7)) AS t")
    assert case.cursor.arrow().column(0).cast(pa.int64()).to_pylist() == [86_399_999_999_900]
    case.run(f"SELECT {values.NAMES} FROM dbo.kinds WHERE 1 = 0")
    assert case.cursor.arrow().num_rows == 0


@only(MssqlPython)
def mssql_python_fetches_many_rows(case):
    case.run(f"SELECT TOP ({FETCHED}) * FROM dbo.big ORDER BY id")
    count, last, total = 0, 0, 0
    for batch in case.cursor.arrow_reader(batch_size=65536):
        ids = batch.column(0)
        assert ids[0].as_py() == last + 1
        count, last, total = count + batch.num_rows, ids[len(ids) - 1].as_py(), total + batch.nbytes
    assert (count, last) == (FETCHED, FETCHED) and total > FETCHED * 20, (count, last, total)


def odbc_text(client, driver):
    return {"Microsoft": f"Driver={microsoft_library()};Server={client.host},{client.port};Encrypt=no;",
            "FreeTDS": f"Driver=FreeTDS;TDS_Version=7.4;Server={client.host};Port={client.port};"}[driver] + "Database=shop;"


def read_blocks(client, driver, sql, **options):
    import arrow_odbc

    return arrow_odbc.read_arrow_batches_from_odbc(query=sql, connection_string=odbc_text(client, driver), user=ADMIN[0], password=ADMIN[1], **options)


@only(MssqlPython)
def arrow_odbc_reads_every_type_in_blocks(case):
    """Offsets are text there, as both drivers write them."""
    for driver in ("Microsoft", "FreeTDS"):
        for name, kind, literal, top, low, bottom in KINDS:
            if (driver, name) == ("FreeTDS", "c_part"):
                continue  # its driver needs a byte more than it says
            batches = list(read_blocks(case.client, driver, f"SELECT {name} FROM dbo.kinds ORDER BY id", max_text_size=200000, max_binary_size=200000))
            got = [value for batch in batches for value in batch.column(0).to_pylist()]
            if kind.startswith("datetimeoffset"):
                assert got[0].replace(" -", "-").replace(" +", "+").replace(" ", "T") == literal.strip("'") and got[2] is None, (driver, name, got)
            else:
                assert got == [arrow_value(kind, top), arrow_value(kind, bottom), None], (driver, name, got)


@only(MssqlPython)
def arrow_odbc_takes_parameters_and_many_rows(case):
    batch, = read_blocks(case.client, "Microsoft", "SELECT id FROM dbo.kinds WHERE c_int > CAST(? AS int) AND c_varchar = ?", parameters=["5", "x y z"])
    assert batch.column(0).to_pylist() == [1]
    count = 0
    for batch in read_blocks(case.client, "Microsoft", f"SELECT TOP ({FETCHED}) id, made, code FROM dbo.big ORDER BY id", batch_size=50000):
        assert batch.column(0)[0].as_py() == count + 1
        count += batch.num_rows
    assert count == FETCHED


@only(MssqlPython, autocommit=True)
def arrow_odbc_writes_a_table(case):
    import arrow_odbc
    import pyarrow as pa

    empty(case)
    table = pa.table({"id": pa.array(range(1500), pa.int32()), "n": [None if n == 3 else f"n{n}" for n in range(1500)], "f": [n / 3 for n in range(1500)],
                      "t": pa.array([DT(2024, 1, 1, 0, 0, 0, n) for n in range(1500)], pa.timestamp("us")), "b": pa.array([b"\0\xff"] * 1500, pa.binary())})
    arrow_odbc.from_table_to_db(table, "many", odbc_text(case.client, "Microsoft"), user=ADMIN[0], password=ADMIN[1], chunk_size=500)
    assert case.rows("SELECT id, n, f, t, b FROM dbo.many ORDER BY id") == [tuple(row.values()) for row in table.to_pylist()]


CASES = [many_rows_go_in_by_executemany, an_error_in_the_middle_leaves_what_the_transaction_says, fast_executemany_sends_rows_as_arrays,
         fast_executemany_stops_at_the_row_that_is_wrong, python_tds_copies_in_bulk, mssql_python_copies_in_bulk_and_the_rows_are_captured,
         mssql_python_copies_an_arrow_table, a_bulk_copy_that_breaks_a_key_says_so, mssql_python_fetches_every_type_as_arrow, mssql_python_fetches_many_rows,
         arrow_odbc_reads_every_type_in_blocks, arrow_odbc_takes_parameters_and_many_rows, arrow_odbc_writes_a_table]

if __name__ == "__main__":
    sys.exit(main(CASES, EVERY, SCRIPT))
