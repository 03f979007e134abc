"""A statement through FreeTDS's and Microsoft's ODBC drivers, its parameters as varchar and as nvarchar, by sp_prepexec and by
sp_executesql: every way must give the same rows with the same types.
"""
import collections
import datetime
import glob
import pathlib
import re
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server as PlainServer, equal, main, test  # noqa: E402,F401

import mssql_python_odbc  # noqa: E402
import pyodbc  # noqa: E402

pyodbc.pooling = False


class Server(PlainServer):
    """A tidesim with a folder of its own, gone when it is closed. Only scripts and `scan_now` move its capture."""

    def __init__(self, *options):
        super().__init__(tempfile.mkdtemp(prefix="tidelake-queries-"), "--capture-interval", "manual", *options)

    def close(self):
        code = super().close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return code


Stats = collections.namedtuple("Stats", "examined returned seeks scans")


def driver_strings(server):
    host, port = server.address.rsplit(":", 1)
    library = glob.glob(mssql_python_odbc.get_libs_dir() + "/linux/debian_ubuntu/x86_64/lib/libmsodbcsql-18*.so*")[0]
    return {"FreeTDS": f"Driver=FreeTDS;TDS_Version=7.4;Server={host};Port={port}",
            "Microsoft": f"Driver={library};Server=tcp:{host},{port};Encrypt=no"}


def number(error):
    """The server's number of an ODBC error; 0 for an error of the client's own."""
    found = re.search(r"\((\d+)\) \(SQL", str(error.args[-1]))
    return int(found.group(1)) if found else 0


def utc_of(raw):
    """A datetimeoffset, as both drivers give it, as its moment in UTC."""
    year, month, day, hour, minute, second, nano, hours, minutes = struct.unpack("<6hI2h", raw)
    return datetime.datetime(year, month, day, hour, minute, second, nano // 1000) - datetime.timedelta(hours=hours, minutes=minutes)


def named(sql):
    """Marks become @P1, @P2, ..., as sp_executesql takes them."""
    parts = sql.split("?")
    return parts[0] + "".join(f"@P{at}{part}" for at, part in enumerate(parts[1:], 1))


def types(cursor):
    return [column[1].__name__ for column in cursor.description]


def names(cursor):
    return [column[0] for column in cursor.description]


def units(text):
    """Of UTF-16, at least one."""
    return max(len(text.encode("utf-16-le")) // 2, 1)


def size_of(value, kind):
    """What a parameter is bound as, and declared as."""
    if isinstance(value, bytes):  # as JDBC's driver sends it
        return (pyodbc.SQL_VARBINARY, 8000, 0), "varbinary(8000)"
    if isinstance(value, int):
        return (pyodbc.SQL_INTEGER, 0, 0), "int"
    size = units(value)
    return (pyodbc.SQL_VARCHAR if kind == "varchar" else pyodbc.SQL_WVARCHAR, size, 0), f"{kind}({size})"


class Session:
    """One connection."""

    def __init__(self, server, driver, user="sa", password=PASSWORD, database="shop", autocommit=True):
        self.connection = pyodbc.connect(f"{driver_strings(server)[driver]};UID={user};PWD={password};Database={database}", autocommit=autocommit, timeout=20)
        self.connection.add_output_converter(-155, utc_of)
        self.connection.maxwrite = 2**20  # else long texts go in pieces, which FreeTDS's driver refuses
        self.cursor, self.driver = self.connection.cursor(), driver
        self.handles = {}
        self.spid = self.cursor.execute("SELECT @@SPID").fetchval()

    def run(self, sql, values=(), kind="nvarchar", way="prepexec"):
        """Leaves the cursor at the first result that has columns."""
        sizes = [size_of(value, kind)[0] for value in values]
        if not values:
            self.cursor.execute(sql)
        elif way == "execute":  # prepared by its first use, then only executed
            declared = ", ".join(f"@P{at} {size_of(value, kind)[1]}" for at, value in enumerate(values, 1))
            if (sql, declared) not in self.handles:
                text = named(sql).replace("'", "''")
                self.cursor.execute(f"DECLARE @h int; EXEC sp_prepare @h OUTPUT, N'{declared}', N'{text}'; SELECT @h")
                while self.cursor.description is None or self.cursor.description[0][0] != "":
                    self.cursor.nextset()
                self.handles[sql, declared] = self.cursor.fetchval()
            self.cursor.setinputsizes([(pyodbc.SQL_INTEGER, 0, 0)] + sizes)
            self.cursor.execute("{CALL sp_execute(" + ", ".join("?" * (len(values) + 1)) + ")}", self.handles[sql, declared], *values)
        elif way == "prepexec":
            self.cursor.setinputsizes(sizes)
            self.cursor.execute(sql, *values)
        else:
            text, declared = named(sql), ", ".join(f"@P{at} {size_of(value, kind)[1]}" for at, value in enumerate(values, 1))
            self.cursor.setinputsizes([(pyodbc.SQL_WVARCHAR if units(text) <= 4000 else pyodbc.SQL_WLONGVARCHAR, units(text), 0), (pyodbc.SQL_WVARCHAR, units(declared), 0)] + sizes)
            self.cursor.execute("{CALL sp_executesql(" + ", ".join("?" * (len(values) + 2)) + ")}", text, declared, *values)
        while self.cursor.description is None and self.cursor.nextset():
            pass

    def rows(self, sql, values=(), **how):
        self.run(sql, values, **how)
        rows = [tuple(row) for row in self.cursor.fetchall()] if self.cursor.description else []
        self.types, self.names = (types(self.cursor), names(self.cursor)) if self.cursor.description else ([], [])
        while self.cursor.nextset():
            pass
        return rows

    def fails(self, sql, values=(), **how):
        """The number of the error; None when there is none. Its text stays in `error`."""
        try:
            self.rows(sql, values, **how)
        except pyodbc.Error as error:
            self.error = error.args[1]
            return number(error)
        return None

    def close(self):
        self.connection.close()


def ways(values):
    """Each kind of parameter and each way to send them; varchar only takes what is ASCII, as the clients do it."""
    if not values:
        return [{}]
    texts = [value for value in values if isinstance(value, str)]
    kinds = ["nvarchar"] + (["varchar"] if texts and all(text.isascii() for text in texts) else [])
    return [{"kind": kind, "way": way} for kind in kinds for way in ("prepexec", "executesql")]


class Both:
    """A session through each driver, and one that asks for counters."""

    def __init__(self, server, **login):
        self.server = server
        self.sessions = [Session(server, driver, **login) for driver in driver_strings(server)]
        self.monitor = Session(server, "FreeTDS", database=login.get("database", "shop"))
        self.sent, self.rng = 0, None

    def stats(self, session):
        """Of the session's last statement."""
        row = self.monitor.rows(f"EXEC tidesim.stats @spid = {session.spid}")[0]
        return Stats(*row[1:5])

    def check(self, sql, values, want, ordered=True, want_types=None, names=None, rng=None):
        """Every way, or one that `rng` chooses (or the pair's own), gives the rows `want`; returns the counters of each."""
        counters, first, rng = [], None, rng or self.rng
        for session in [rng.choice(self.sessions)] if rng else self.sessions:
            for how in [rng.choice(ways(values))] if rng else ways(values):
                what = f"{session.driver} {how} {sql} {values}"
                try:
                    got = session.rows(sql, values, **how)
                except pyodbc.Error as error:
                    raise AssertionError(f"{what}: {error}")
                self.sent += 1
                if not ordered:
                    equal(collections.Counter(got), collections.Counter(want), what)
                elif got != want:
                    at = next((n for n, pair in enumerate(zip(got, want)) if pair[0] != pair[1]), min(len(got), len(want)))
                    raise AssertionError(f"{what}: {len(got)} rows, wanted {len(want)}; row {at}: got {got[at:at + 1]}, want {want[at:at + 1]}")
                for row in got:
                    for value, wanted in zip(row, want[0]):
                        if value is not None and wanted is not None and type(value) is not type(wanted):
                            raise AssertionError(f"{what}: {value!r} is no {type(wanted).__name__}")
                first = first or (session.types, session.names)
                equal((session.types, session.names), first, what + ": types and names")
                counters.append(self.stats(session))
        if want_types is not None:
            equal(first[0], want_types, sql + ": types")
        if names is not None:
            equal(first[1], names, sql + ": names")
        return counters

    def value(self, sql, values=()):
        """One value, the same every way; for what the test only knows by asking."""
        got = {session.rows(sql, values, **how)[0][0] for session in self.sessions for how in ways(values)}
        equal(len(got), 1, f"{sql} {values}: {got}")
        return got.pop()

    def rows(self, sql, values=()):
        """The rows, the same every way."""
        first = None
        for session in self.sessions:
            for how in ways(values):
                got = (session.rows(sql, values, **how), session.types, session.names)
                first = first or got
                equal(got, first, f"{session.driver} {how} {sql} {values}")
        return first[0]

    def table(self, sql, values=()):
        """Rows as dictionaries, the same every way."""
        rows = self.rows(sql, values)
        return [dict(zip(self.sessions[-1].names, row)) for row in rows]

    def fails(self, sql, values=()):
        """The number of the error that every way gives."""
        got = {session.fails(sql, values, **how) for session in self.sessions for how in ways(values)}
        equal(len(got), 1, f"{sql} {values}: {got}")
        return got.pop()

    def close(self):
        for session in [*self.sessions, self.monitor]:
            session.close()


TOKENS = re.compile(r"N?'(?:[^']|'')*'|\[(?:[^\]]|\]\])*\]|\"(?:[^\"]|\"\")*\"|0x[0-9A-Fa-f]*|[@A-Za-z_][\w$@]*|\d[\w.]*|<=|>=|<>|\s+|.", re.S)
NAMES = re.compile(r"[A-Za-z_][\w$]*\Z")


def rewritten(sql):
    """The same statement in other words: case, white space, comments, quotes, aliases."""
    tokens = TOKENS.findall(sql)

    def each(change):
        return "".join(change(token) for token in tokens)

    def is_name(token):
        return (NAMES.match(token.lstrip("@")) and not token.startswith("0x")) and token != "N"

    aliases = "tpuqxabzcmrdwon"
    return {
        "upper case": each(lambda token: token.upper() if is_name(token) else token),
        "lower case": each(lambda token: token.lower() if is_name(token) else token),
        "white space": each(lambda token: "\n\t  " if token.isspace() else token),
        "comments": each(lambda token: " /*/* ; */*/--x\n" if token.isspace() else token),
        "quotes": each(lambda token: '"' + token[1:-1] + '"' if token.startswith("[") else token),
        "aliases": each(lambda token: f"[an {token}]" if token in aliases else token),
    }
