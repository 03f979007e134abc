"""Python's clients of SQL Server, unmodified, on a tidesim of their own: pymssql and python-tds, and pyodbc through FreeTDS's and
Microsoft's ODBC drivers. Selects, every type at its extremes and NULL, parameters, errors, several result sets, transactions, cancel.

Prints TAP; a client that is not installed is skipped aloud. Run it with the Python of an environment that has

  pymssql==2.4.6 python-tds==1.17.1 pyodbc==5.5.0 mssql-python-odbc==18.6.2.2

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_clients.py [CLIENT...]
"""
import datetime
import decimal
import glob
import pathlib
import sys
import tempfile
import threading
import time
import traceback
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server  # noqa: E402

D, DT, T = datetime.date, datetime.datetime, datetime.time
ZONE = datetime.timezone(datetime.timedelta(hours=14))
GUID = "6F9619FF-8B86-D011-B42D-00C04FC964FF"

# (column, type, literal and value of a row at one end, of a row at the other). Python's times end at microseconds.
KINDS = [
    ("c_bit", "bit", "1", True, "0", False),
    ("c_tiny", "tinyint", "255", 255, "0", 0),
    ("c_small", "smallint", "32767", 32767, "-32768", -32768),
    ("c_int", "int", "2147483647", 2**31 - 1, "-2147483648", -2**31),
    ("c_big", "bigint", "9223372036854775807", 2**63 - 1, "-9223372036854775808", -2**63),
    ("c_real", "real", "1.5", 1.5, "-0.25", -0.25),
    ("c_float", "float", "1.7976931348623157e308", 1.7976931348623157e308, "2.2250738585072014e-308", 2.2250738585072014e-308),
    ("c_dec", "decimal(38,10)", "9999999999999999999999999999.9999999999", decimal.Decimal("9999999999999999999999999999.9999999999"),
     "-9999999999999999999999999999.9999999999", decimal.Decimal("-9999999999999999999999999999.9999999999")),
    ("c_num", "numeric(5,2)", "999.99", decimal.Decimal("999.99"), "-0.01", decimal.Decimal("-0.01")),
    ("c_money", "money", "922337203685477.5807", decimal.Decimal("922337203685477.5807"), "-922337203685477.5808",
     decimal.Decimal("-922337203685477.5808")),
    ("c_smoney", "smallmoney", "214748.3647", decimal.Decimal("214748.3647"), "-214748.3648", decimal.Decimal("-214748.3648")),
    ("c_date", "date", "'9999-12-31'", D(9999, 12, 31), "'0001-01-01'", D(1, 1, 1)),
    ("c_time", "time(6)", "'23:59:59.999999'", T(23, 59, 59, 999999), "'00:00:00'", T(0, 0)),
    ("c_dt", "datetime", "'9999-12-31T23:59:59.997'", DT(9999, 12, 31, 23, 59, 59, 997000), "'1753-01-01'", DT(1753, 1, 1)),
    ("c_sdt", "smalldatetime", "'2079-06-06T23:59:00'", DT(2079, 6, 6, 23, 59), "'1900-01-01'", DT(1900, 1, 1)),
    ("c_dt2", "datetime2(6)", "'9999-12-31T23:59:59.999999'", DT(9999, 12, 31, 23, 59, 59, 999999), "'0001-01-01'", DT(1, 1, 1)),
    ("c_dt0", "datetime2(0)", "'2024-02-29T12:00:00'", DT(2024, 2, 29, 12), "'0001-01-01'", DT(1, 1, 1)),
    ("c_dto", "datetimeoffset(6)", "'9999-12-30T23:59:59.999999+14:00'", DT(9999, 12, 30, 23, 59, 59, 999999, ZONE),
     "'2024-01-02T03:04:05+00:00'", DT(2024, 1, 2, 3, 4, 5, 0, datetime.timezone.utc)),
    ("c_char", "char(5)", "'abcde'", "abcde", "''", "     "),
    ("c_varchar", "varchar(20)", "'x y z'", "x y z", "''", ""),
    ("c_nchar", "nchar(5)", "N'ünïcö'", "ünïcö", "N''", "     "),
    ("c_nvarchar", "nvarchar(20)", "N'日本語 😀'", "日本語 😀", "N''", ""),
    ("c_binary", "binary(4)", "0xDEADBEEF", b"\xde\xad\xbe\xef", "0x00", b"\0\0\0\0"),
    ("c_varbinary", "varbinary(10)", "0x0102", b"\x01\x02", "0x", b""),
    ("c_guid", "uniqueidentifier", f"'{GUID}'", uuid.UUID(GUID), "'00000000-0000-0000-0000-000000000000'", uuid.UUID(int=0)),
    ("c_vmax", "varchar(max)", "REPLICATE(CAST('v' AS varchar(max)), 9000)", "v" * 9000, "''", ""),
    ("c_nmax", "nvarchar(max)", "REPLICATE(CAST(N'ж' AS nvarchar(max)), 70000)", "ж" * 70000, "N''", ""),
    ("c_bmax", "varbinary(max)", "CAST(REPLICATE(CAST('b' AS varchar(max)), 70000) AS varbinary(max))", b"b" * 70000, "0x", b""),
]


def setup_script():
    columns = ", ".join(f"{name} {kind}" for name, kind, *_ in KINDS)
    rows = [", ".join(str(kind[at]) for kind in KINDS) for at in (2, 4)]
    return (f"CREATE TABLE dbo.kinds (id int NOT NULL PRIMARY KEY, {columns});\nGO\n"
            f"INSERT dbo.kinds VALUES (1, {rows[0]});\nINSERT dbo.kinds VALUES (2, {rows[1]});\nINSERT dbo.kinds (id) VALUES (3);\nGO\n")


class Client:
    """What the tests need of a client; each says how it differs."""

    mark = "%s"
    values_as_text = False  # values are put into the statement: types of results may differ

    def __init__(self, server):
        self.host, port = server.address.rsplit(":", 1)
        self.port = int(port)

    def fix(self, value):
        """The value as this client gives it."""
        return value

    def give(self, value):
        """The value as this client takes it."""
        return value

    def can_cancel(self):
        return False


class Pymssql(Client):
    name = "pymssql"
    values_as_text = True

    def connect(self):
        import pymssql

        self.Error = pymssql.Error
        return pymssql.connect(server=self.host, port=self.port, user="sa", password=PASSWORD, database="shop", tds_version="7.4")

    def number(self, error):
        return error.args[0]


class PythonTds(Client):
    name = "python-tds"

    def connect(self):
        import pytds

        self.Error = pytds.Error
        return pytds.connect(dsn=self.host, port=self.port, user="sa", password=PASSWORD, database="shop")

    def give(self, value):
        import pytds

        return pytds.Binary(value) if isinstance(value, bytes) else value

    def number(self, error):
        assert error.severity >= 11 and error.state >= 1 and error.line >= 1, vars(error)
        return error.number


class Pyodbc(Client):
    mark = "?"

    def connect(self):
        import pyodbc

        pyodbc.pooling = False
        self.Error = pyodbc.Error
        connection = pyodbc.connect(f"{self.driver()};UID=sa;PWD={PASSWORD};Database=shop", timeout=20)
        connection.add_output_converter(-155, self._offset)
        return connection

    @staticmethod
    def _offset(raw):
        import struct

        year, month, day, hour, minute, second, nano, off_hour, off_minute = struct.unpack("<6hI2h", raw)
        zone = datetime.timezone(datetime.timedelta(hours=off_hour, minutes=off_minute))
        return DT(year, month, day, hour, minute, second, nano // 1000, zone)

    def number(self, error):
        text = error.args[1]
        return int(text.rsplit("(", 2)[1].split(")")[0])

    def fix(self, value):
        return str(value).upper() if isinstance(value, uuid.UUID) else value

    def can_cancel(self):
        return True


class PyodbcFreetds(Pyodbc):
    name = "pyodbc, FreeTDS"

    def driver(self):
        return f"Driver=FreeTDS;TDS_Version=7.4;Server={self.host};Port={self.port}"


class PyodbcMicrosoft(Pyodbc):
    name = "pyodbc, Microsoft ODBC 18"

    def driver(self):
        import mssql_python_odbc

        library = glob.glob(mssql_python_odbc.get_libs_dir() + "/linux/debian_ubuntu/x86_64/lib/libmsodbcsql-18*.so*")[0]
        return f"Driver={library};Server=tcp:{self.host},{self.port};Encrypt=no"


class PyodbcFreetdsEncrypted(PyodbcFreetds):
    name = "pyodbc, FreeTDS, encrypted"

    def driver(self):
        return super().driver() + ";Encryption=require"


class PyodbcMicrosoftEncrypted(PyodbcMicrosoft):
    name = "pyodbc, Microsoft ODBC 18, encrypted"

    def driver(self):
        return super().driver().replace("Encrypt=no", "Encrypt=yes;TrustServerCertificate=yes")


class Case:
    """One connection, closed at the end."""

    def __init__(self, client):
        self.client, self.connection = client, client.connect()
        self.cursor = self.connection.cursor()

    def run(self, sql, *values):
        sql = sql.replace("$", self.client.mark)
        if values:
            self.cursor.execute(sql, tuple(self.client.give(value) for value in values))
        else:
            self.cursor.execute(sql)

    def rows(self, sql, *values):
        self.run(sql, *values)
        return [tuple(row) for row in self.cursor.fetchall()]

    def fails(self, sql, *values):
        """The number of the error that the statement gives."""
        try:
            self.run(sql, *values)
            while self.cursor.nextset():
                pass
        except self.client.Error as error:
            return self.client.number(error)
        raise AssertionError(f"no error: {sql}")


def selects_rows_and_names(case):
    assert case.rows("SELECT 1 AS one, 'x' AS two UNION ALL SELECT 2, NULL ORDER BY one") == [(1, "x"), (2, None)]
    assert [column[0] for column in case.cursor.description] == ["one", "two"]
    assert case.rows("SELECT value FROM GENERATE_SERIES(1, 20000)") == [(n,) for n in range(1, 20001)]
    assert case.rows("SELECT 1 WHERE 1 = 0") == []


def reads_every_type_at_its_extremes_and_null(case):
    for row, at in ((1, 3), (2, 5)):
        for kind in KINDS:
            (got,), = case.rows(f"SELECT {kind[0]} FROM dbo.kinds WHERE id = {row}")
            want = case.client.fix(kind[at])
            assert got == want and isinstance(got, type(want)), f"{kind[0]}: {got!r:.80}, wanted {want!r:.80}"
    names = ", ".join(kind[0] for kind in KINDS)
    assert case.rows(f"SELECT {names} FROM dbo.kinds WHERE id = 3") == [(None,) * len(KINDS)]


def sends_parameters_of_every_type(case):
    values = [0, -1, 2**31 - 1, 2**62, 1.5, -1e-300, "", "abc", "日本語 😀", "it's", "x" * 3999, "x" * 9000, None, decimal.Decimal("12.34"),
              decimal.Decimal("-99999999999999999999.999999"), DT(2024, 2, 29, 3, 4, 5, 678000), D(1999, 12, 31), b"\x00\xff", b"b" * 9000, True]
    for value in values:
        (got,), = case.rows("SELECT $ AS v", value)
        if case.client.values_as_text:  # a literal: what the server makes of it
            got = type(value)(got) if isinstance(value, (int, float)) and got is not None else got
            if isinstance(value, (DT, D, bytes)):
                continue
        assert got == value, f"{value!r:.60} came back as {got!r:.60}"
    assert case.rows("SELECT id FROM dbo.kinds WHERE c_nvarchar = $ AND c_int > $", "日本語 😀", 5) == [(1,)]
    for turn in range(5):  # the same statement again: prepared once, by those who prepare
        assert case.rows("SELECT $ + 1 AS v", turn) == [(turn + 1,)]


def writes_what_it_reads(case):
    case.run("CREATE TABLE dbo.written (id int PRIMARY KEY, n nvarchar(50), d decimal(10,2), t datetime2(6), b varbinary(50), f float)")
    row = (1, "Ä 日本 😀", decimal.Decimal("-12345678.90"), DT(2024, 2, 29, 23, 59, 59, 999000), b"\x00\x01\xfe", 0.1)
    if case.client.values_as_text:
        row = row[:4] + (None, 0.1)
    case.run("INSERT dbo.written VALUES ($, $, $, $, $, $)", *row)
    case.cursor.executemany("INSERT dbo.written VALUES ($, $, $, $, $, $)".replace("$", case.client.mark), [(n, None, None, None, None, None) for n in range(2, 50)])
    assert case.rows("SELECT * FROM dbo.written WHERE id = 1") == [row]
    assert case.rows("SELECT COUNT(*), COUNT(n) FROM dbo.written") == [(49, 1)]
    case.run("UPDATE dbo.written SET n = 'x' WHERE id > $", 40)
    assert case.cursor.rowcount == 9, case.cursor.rowcount
    case.run("DROP TABLE dbo.written")
    case.connection.commit()


def shows_errors_with_their_numbers(case):
    assert case.fails("SELECT * FROM dbo.nowhere") == 208
    assert case.fails("SELECT nothing FROM dbo.kinds") == 207
    assert case.fails("SELEC 1") in (102, 2812)
    assert case.fails("SELECT 1/0") == 8134
    assert case.fails("INSERT dbo.kinds (id) VALUES (1)") == 2627
    assert case.fails("RAISERROR('boo', 16, 7)") == 50000
    assert case.fails("THROW 51000, 'thrown', 3") == 51000
    assert case.fails("SELECT CAST($ AS int)", "abc") == 245
    case.connection.rollback()
    assert case.rows("SELECT 1") == [(1,)]


def reads_several_results(case):
    case.run("SELECT 1 AS a; SELECT 'x' AS b, 2 AS c; PRINT 'hi'; SELECT 3 AS d WHERE 1 = 0; SELECT 4 AS e")
    results = [[tuple(row) for row in case.cursor.fetchall()]]
    while case.cursor.nextset():
        if case.cursor.description:
            results.append([tuple(row) for row in case.cursor.fetchall()])
    assert results == [[(1,)], [("x", 2)], [], [(4,)]], results


def commits_and_rolls_back(case):
    case.run("CREATE TABLE dbo.tried (a int PRIMARY KEY)")
    case.connection.commit()
    case.run("INSERT dbo.tried VALUES ($)", 1)
    assert case.rows("SELECT @@TRANCOUNT") == [(1,)]
    case.connection.rollback()
    assert case.rows("SELECT COUNT(*) FROM dbo.tried") == [(0,)]
    case.run("INSERT dbo.tried VALUES ($)", 2)
    case.connection.commit()
    case.connection.rollback()
    assert case.rows("SELECT a FROM dbo.tried") == [(2,)]
    case.run("DROP TABLE dbo.tried")
    case.connection.commit()


def cancels_what_runs(case):
    for sql in ("WAITFOR DELAY '00:00:20'", "SELECT 1; WAITFOR DELAY '00:00:20'"):
        began = time.monotonic()
        timer = threading.Timer(0.3, case.cursor.cancel)
        timer.start()
        try:
            case.run(sql)
            raise AssertionError("not cancelled")
        except case.client.Error as error:
            assert error.args[0] == "HY008", error
        timer.join()
        assert time.monotonic() - began < 10
        assert case.rows("SELECT 5") == [(5,)]


CASES = [selects_rows_and_names, reads_every_type_at_its_extremes_and_null, sends_parameters_of_every_type, writes_what_it_reads,
         shows_errors_with_their_numbers, reads_several_results, commits_and_rolls_back, cancels_what_runs]


def run_case(client, function):
    """'' when it went well, else why not."""
    try:
        case = Case(client)
        try:
            function(case)
        finally:
            case.connection.close()
    except Exception:
        return traceback.format_exc(limit=-4)
    return ""


def main():
    wanted, number, failed = sys.argv[1:], 0, False
    with tempfile.TemporaryDirectory(prefix="tidelake-clients-") as folder:
        script = pathlib.Path(folder) / "kinds.sql"
        script.write_text(setup_script(), encoding="utf-8")
        server = Server(folder, "--capture-interval", "manual", "--seed", "7", init=[script])
        try:
            for client in (kind(server) for kind in (Pymssql, PythonTds, PyodbcFreetds, PyodbcMicrosoft, PyodbcFreetdsEncrypted, PyodbcMicrosoftEncrypted)):
                if wanted and client.name not in wanted:
                    continue
                missing = ""
                try:
                    client.connect().close()
                except ImportError as error:
                    missing = f" # SKIP {error.name} is not installed"
                for function in CASES:
                    if function is cancels_what_runs and not client.can_cancel():
                        continue
                    why = "" if missing else run_case(client, function)
                    number, failed = number + 1, failed or bool(why)
                    for line in why.splitlines():
                        print(f"# {line}")
                    print(f"{'not ok' if why else 'ok'} {number} - {client.name}: {function.__name__}{missing}", flush=True)
        finally:
            server.close()
    print(f"1..{number}")
    return 1 if failed or number == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
