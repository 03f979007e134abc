"""adbcbridge, which puts Arrow's database interface on ODBC drivers, on a tidesim of its own, through FreeTDS's and Microsoft's. Runs with
INTEROP_ALL=1; the environment has adbcbridge==0.1.3 and adbc-driver-manager==1.13.0 besides.

Prints TAP. Arguments choose clients and cases:

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_adbc.py [CLIENT...] [CASE...]
"""
import datetime
import sys

import values
from clients import ADMIN, Case, Client, main, microsoft_library
from test_bulk import arrow_value
from values import KINDS

SCRIPT = values.script() + """CREATE TABLE dbo.many (id int NOT NULL PRIMARY KEY, n nvarchar(20), f float, t datetime2(6));
EXEC tidesim.synthetic 'dbo.big', 1000000, 'narrow';
GO
"""


class Adbc(Client):
    mark = "?"

    def connect(self, login=ADMIN, autocommit=False, timeout=0):
        import adbcbridge
        from adbc_driver_manager import dbapi

        self.Error = dbapi.Error
        return adbcbridge.connect(f"{self.driver()}UID={login[0]};PWD={login[1]};Database=shop", autocommit=autocommit)

    def is_error(self, error, number, state, text):
        return error.vendor_code == number and error.sqlstate in state and text in str(error)


class AdbcFreetds(Adbc):
    name = "adbcbridge, FreeTDS"

    def driver(self):
        return f"Driver=FreeTDS;TDS_Version=7.4;Server={self.host};Port={self.port};"


class AdbcMicrosoft(Adbc):
    name = "adbcbridge, Microsoft ODBC 18"

    def driver(self):
        return f"Driver={microsoft_library()};Server={self.host},{self.port};Encrypt=no;"


def reads_every_type_as_arrow(case):
    for name, _, _, top, _, bottom in KINDS:
        case.run(f"SELECT {name} FROM dbo.kinds ORDER BY id")
        assert case.cursor.fetch_arrow_table().column(0).to_pylist() == [arrow_value(name, top), arrow_value(name, bottom), None], name


def takes_parameters_and_tables(case):
    import pyarrow as pa

    moment = datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)
    case.run("INSERT dbo.many VALUES ($, $, $, $)", 1, "日本 😀", 0.1, moment)
    assert case.rows("SELECT * FROM dbo.many WHERE n = $ AND id < $", "日本 😀", 5) == [(1, "日本 😀", 0.1, moment)]
    table = pa.table({"id": pa.array(range(10, 1010), pa.int32()), "n": [None if n == 7 else f"ж{n}" for n in range(1000)], "f": [n / 3 for n in range(1000)],
                      "t": pa.array([moment] * 1000, pa.timestamp("us"))})
    assert case.cursor.adbc_ingest("many", table, mode="append") == 1000
    case.run("SELECT * FROM dbo.many WHERE id >= 10 ORDER BY id")
    assert case.cursor.fetch_arrow_table().to_pylist() == table.to_pylist()
    with Case(case.client, autocommit=True) as other:
        other.run("SET LOCK_TIMEOUT 50")
        other.fails("SELECT COUNT(*) FROM dbo.many WHERE id = 10", 1222, "42000", "Lock request time out period exceeded.")
    case.connection.rollback()
    assert case.rows("SELECT COUNT(*) FROM dbo.many") == [(0,)]


def tells_tables_and_schemas(case):
    import pyarrow as pa

    schema = case.connection.adbc_get_table_schema("many", db_schema_filter="dbo")
    assert [(field.name, field.type) for field in schema] == [("id", pa.int32()), ("n", pa.string()), ("f", pa.float64()), ("t", pa.timestamp("us"))], schema
    found = case.connection.adbc_get_objects(depth="tables", catalog_filter="shop", db_schema_filter="dbo", table_name_filter="many").read_all().to_pylist()
    assert [table["table_name"] for one in found for part in one["catalog_db_schemas"] for table in part["db_schema_tables"]] == ["many"], found


def errors_have_their_numbers(case):
    case.fails("SELECT * FROM dbo.nowhere", 208, "42S02", "Invalid object name 'dbo.nowhere'.")
    case.fails("SELECT 1 / 0", 8134, "22012", "Divide by zero")
    assert case.rows("SELECT 1") == [(1,)]


def reads_many_rows(case):
    count = 0
    case.run("SELECT id, made, code FROM dbo.big ORDER BY id")
    for batch in case.cursor.fetch_record_batch():
        assert batch.num_rows == 0 or batch.column(0)[0].as_py() == count + 1
        count += batch.num_rows
    assert count == 1_000_000, count


CASES = [reads_every_type_as_arrow, takes_parameters_and_tables, tells_tables_and_schemas, errors_have_their_numbers, reads_many_rows]

if __name__ == "__main__":
    sys.exit(main(CASES, (AdbcFreetds, AdbcMicrosoft), SCRIPT))
