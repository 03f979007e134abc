"""Python's clients of SQL Server, each behind the same few verbs, and how a file of tests runs over them.

A client that is not installed is skipped aloud. An environment for all of them has

  pymssql==2.4.6 python-tds==1.17.1 pyodbc==5.5.0 mssql-python==1.16.0 mssql-python-odbc==18.6.2.2 arrow-odbc==10.6.2 pyarrow==26.0.1
"""
import datetime
import glob
import pathlib
import re
import struct
import sys
import tempfile
import time
import traceback
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server  # noqa: E402

ADMIN = ("sa", PASSWORD)


def microsoft_library():
    import mssql_python_odbc

    return glob.glob(mssql_python_odbc.get_libs_dir() + "/linux/debian_ubuntu/x86_64/lib/libmsodbcsql-18*.so*")[0]


class Client:
    """What the tests need of a client; each says how it differs."""

    mark = "%s"
    values_as_text = False  # values are put into the statement: types of results may differ
    cancels = False  # a cursor has cancel()

    def __init__(self, server):
        self.server = server
        self.host, port = server.address.rsplit(":", 1)
        self.port = int(port)

    def connect(self, login=ADMIN, autocommit=False, timeout=0):
        """`timeout` is the seconds that a statement may take; 0: any."""
        raise NotImplementedError

    def fix(self, value):
        """The value as this client gives it."""
        return value

    def give(self, value):
        """The value as this client takes it."""
        return value

    def state(self, state):
        """How it says a SQLSTATE."""
        return state

    def is_error(self, error, number, state, text):
        """Whether an error is the one with this number, SQLSTATE and text, as far as the client tells."""
        raise NotImplementedError


class Pymssql(Client):
    name = "pymssql"
    values_as_text = True

    def connect(self, login=ADMIN, autocommit=False, timeout=0):
        import pymssql

        self.Error = pymssql.Error
        return pymssql.connect(server=self.host, port=self.port, user=login[0], password=login[1], database="shop", tds_version="7.4",
                               autocommit=autocommit, timeout=timeout)

    def is_error(self, error, number, state, text):
        return error.args[0] == number and text in str(error.args[1])


class PythonTds(Client):
    name = "python-tds"

    def connect(self, login=ADMIN, autocommit=False, timeout=0):
        import pytds

        self.Error = pytds.Error
        return pytds.connect(dsn=self.host, port=self.port, user=login[0], password=login[1], database="shop", autocommit=autocommit,
                             timeout=timeout or None)

    def give(self, value):
        import pytds

        return pytds.Binary(value) if isinstance(value, bytes) else value

    def is_error(self, error, number, state, text):
        return error.number == number and error.severity >= 11 and error.line >= 1 and text in str(error)


class Pyodbc(Client):
    mark = "?"
    cancels = True

    def connect(self, login=ADMIN, autocommit=False, timeout=0):
        import pyodbc

        pyodbc.pooling = False
        self.Error = pyodbc.Error
        connection = pyodbc.connect(f"{self.driver()};UID={login[0]};PWD={login[1]};Database=shop", timeout=20, autocommit=autocommit)
        connection.timeout = timeout
        connection.add_output_converter(-155, self._offset)
        return connection

    @staticmethod
    def _offset(raw):
        year, month, day, hour, minute, second, nano, off_hour, off_minute = struct.unpack("<6hI2h", raw)
        zone = datetime.timezone(datetime.timedelta(hours=off_hour, minutes=off_minute))
        return datetime.datetime(year, month, day, hour, minute, second, nano // 1000, zone)

    def is_error(self, error, number, state, text):
        numbers = re.findall(r"\((\d+)\)", error.args[1])
        return error.args[0] in state and str(number) in numbers and text in error.args[1]

    def fix(self, value):
        return str(value).upper() if isinstance(value, uuid.UUID) else value


class PyodbcFreetds(Pyodbc):
    name = "pyodbc, FreeTDS"

    def driver(self):
        return f"Driver=FreeTDS;TDS_Version=7.4;Server={self.host};Port={self.port}"


class PyodbcMicrosoft(Pyodbc):
    name = "pyodbc, Microsoft ODBC 18"

    def driver(self):
        return f"Driver={microsoft_library()};Server=tcp:{self.host},{self.port};Encrypt=no"


class PyodbcFreetdsEncrypted(PyodbcFreetds):
    name = "pyodbc, FreeTDS, encrypted"

    def driver(self):
        return super().driver() + ";Encryption=require"


class PyodbcMicrosoftEncrypted(PyodbcMicrosoft):
    name = "pyodbc, Microsoft ODBC 18, encrypted"

    def driver(self):
        return super().driver().replace("Encrypt=no", "Encrypt=yes;TrustServerCertificate=yes")


class MssqlPython(Client):
    name = "mssql-python"
    mark = "?"
    encryption = "no"

    # It keeps no number and says of the SQLSTATE what it stands for.
    STATES = {"40001": "Serialization failure", "42S02": "Base table or view not found", "42S22": "Column not found", "22012": "Division by zero",
              "23000": "Integrity constraint violation", "22018": "Invalid character value for cast specification",
              "42000": "Syntax error or access violation", "22001": "String data, right truncated", "22003": "Numeric value out of range",
              "42S01": "Base table or view already exists", "HYT00": "Timeout expired", "HY008": "Operation canceled",
              "08S01": "Communication link failure", "22007": "Invalid datetime format", "21S01": "Insert value list does not match column list",
              "37000": "Syntax error or access violation", "01000": "General warning", "HY000": "General error"}

    def connect(self, login=ADMIN, autocommit=False, timeout=0):
        import mssql_python

        self.Error = mssql_python.Error
        connection = mssql_python.connect(f"Server={self.host},{self.port};Database=shop;UID={login[0]};PWD={login[1]};Encrypt={self.encryption};"
                                          "TrustServerCertificate=yes", autocommit=autocommit)
        connection.timeout = timeout
        return connection

    def state(self, state):
        return self.STATES.get(state)

    def is_error(self, error, number, state, text):
        return error.driver_error in [self.state(one) for one in state] and text in error.ddbc_error


class MssqlPythonEncrypted(MssqlPython):
    name = "mssql-python, encrypted"
    encryption = "yes"


EVERY = (Pymssql, PythonTds, PyodbcFreetds, PyodbcMicrosoft, MssqlPython)
ENCRYPTED = (PyodbcFreetdsEncrypted, PyodbcMicrosoftEncrypted, MssqlPythonEncrypted)


class Case:
    """One connection, closed at the end."""

    def __init__(self, client, **options):
        self.client, self.connection = client, client.connect(**options)
        self.cursor = self.connection.cursor()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.connection.close()
        except Exception:  # it may be gone: that is some cases' point
            pass

    def run(self, sql, *values):
        if values:
            sql = sql.replace("$", self.client.mark)
            self.cursor.execute(sql, tuple(self.client.give(value) for value in values))
        else:
            self.cursor.execute(sql)

    def rows(self, sql, *values):
        self.run(sql, *values)
        return [tuple(row) for row in self.cursor.fetchall()]

    def value(self, sql, *values):
        (value,), = self.rows(sql, *values)
        return value

    def error(self, sql, *values):
        """The error that the statement gives."""
        try:
            self.run(sql, *values)
            if self.cursor.description:
                self.cursor.fetchall()
            while self.cursor.nextset():
                pass
        except self.client.Error as error:
            return error
        raise AssertionError(f"no error: {sql}")

    def fails(self, sql, number, state, text, *values):
        """The statement fails so; `state` lists the SQLSTATEs that drivers give it, with spaces between."""
        error = self.error(sql, *values)
        assert self.client.is_error(error, number, state.split(), text), f"{sql}: wanted {number} {state} {text!r}, got {error!r}"


def until(condition, what, seconds=15):
    """Waits for it."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def run_case(client, function, options):
    """'' when it went well, else why not."""
    try:
        with Case(client, **options) as case:
            function(case)
    except Exception:
        return traceback.format_exc(limit=-4)
    return ""


def only(*kinds, **options):
    """Marks a case for some clients, and says how its connection is opened."""
    def mark(function):
        function.kinds, function.options = kinds, options
        return function

    return mark


def main(cases, kinds=EVERY, script="", options=()):
    """Runs every case with every client it is for, on a tidesim of their own; prints TAP. Arguments choose clients and cases."""
    wanted, number, failed = sys.argv[1:], 0, False
    with tempfile.TemporaryDirectory(prefix="tidelake-clients-") as folder:
        path = pathlib.Path(folder) / "init.sql"
        path.write_text(script, encoding="utf-8")
        server = Server(folder, "--capture-interval", "manual", "--seed", "7", *options, init=[path] if script else [])
        try:
            for client in (kind(server) for kind in kinds):
                chosen = [function for function in cases if type(client) in (getattr(function, "kinds", None) or kinds)
                          and (not wanted or client.name in wanted or function.__name__ in wanted)]
                missing = ""
                try:
                    if chosen:
                        client.connect().close()
                except ImportError as error:
                    missing = f" # SKIP {error.name} is not installed"
                for function in chosen:
                    why = "" if missing else run_case(client, function, getattr(function, "options", {}))
                    number, failed = number + 1, failed or bool(why)
                    for line in why.splitlines():
                        print(f"# {line}")
                    print(f"{'not ok' if why else 'ok'} {number} - {client.name}: {function.__name__}{missing}", flush=True)
        finally:
            server.close()
    print(f"1..{number}")
    return 1 if failed or number == 0 else 0
