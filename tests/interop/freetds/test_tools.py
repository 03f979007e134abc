"""FreeTDS's programs, unmodified, on a tidesim of their own: tsql, bsqldb, freebcp, and cursors of its ODBC driver.

Prints TAP.

  TIDELAKE_BUILD=build tests/interop/freetds/run
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server  # noqa: E402

# (column, type, a literal at an end, what bsqldb prints for it, in the width it gives the type, what freebcp writes for it).
KINDS = [
    ("c_bit", "bit", "1", "1", "1"),
    ("c_tiny", "tinyint", "255", "255", "255"),
    ("c_small", "smallint", "-32768", "-32768", "-32768"),
    ("c_int", "int", "-2147483648", "-2147483648", "-2147483648"),
    ("c_big", "bigint", "-9223372036854775808", "-9223372036854775808", "-9223372036854775808"),
    ("c_real", "real", "1.5", "1.5", "1.5"),
    ("c_float", "float", "-2.5e-30", "-2.49999999", "-2.4999999999999999e-30"),
    ("c_dec", "decimal(38,10)", "-12345678.0123456789", "-12345678.0123456789",
     "-12345678.0123456789"),  # bsqldb has no room for more
    ("c_num", "numeric(5,2)", "999.99", "999.99", "999.99"),
    ("c_money", "money", "-922337203685477.5808", "-92233720368", "-922337203685477.5808"),
    ("c_smoney", "smallmoney", "214748.3647", "214748.3647", "214748.3647"),
    ("c_date", "date", "'2024-02-29'", "2024-02-29", "2024-02-29 00:00:00.000"),
    ("c_time", "time(3)", "'23:59:59.999'", "23:59:59.999", "1900-01-01 23:59:59.999"),
    ("c_dt", "datetime", "'9999-12-31T23:59:59.997'", "Dec 31 9999 11:59:59:997PM", "9999-12-31 23:59:59.997"),
    ("c_sdt", "smalldatetime", "'2079-06-06T23:59:00'", "Jun  6 2079 11:59:00:000PM", "2079-06-06 23:59:00.000"),
    ("c_dt2", "datetime2(3)", "'2024-02-29T12:34:56.789'", "2024-02-29 12:34:56.789", "2024-02-29 12:34:56.789"),
    ("c_char", "char(5)", "'abc'", "abc", "abc  "),
    ("c_varchar", "varchar(20)", "'x y z'", "x y z", "x y z"),
    ("c_nchar", "nchar(5)", "N'ünïcö'", "ünïcö", "ünïcö"),
    ("c_nvarchar", "nvarchar(20)", "N'日本語'", "日本語", "日本語"),
    ("c_binary", "binary(4)", "0xDEADBEEF", "0xdeadbeef", "deadbeef"),
    ("c_varbinary", "varbinary(10)", "0x0102", "0x0102", "0102"),
    ("c_guid", "uniqueidentifier", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'", "6F9619FF-8B86-D011-B42D-00C04FC964FF",
     "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
    ("c_nmax", "nvarchar(max)", "REPLICATE(CAST(N'ж' AS nvarchar(max)), 5000)", "d0b6d0b6", "ж" * 5000),
    ("c_vmax", "varchar(max)", "'v'", "0x76", "v"),
    ("c_bmax", "varbinary(max)", "0x00FF", "0x00ff", "00ff"),
    ("c_text", "text", "'some text'", "some text", "some text"),
    ("c_ntext", "ntext", "N'ntext ж'", "ntext ж", "ntext ж"),
    ("c_image", "image", "0x010203", "0x010203", "010203"),
]
COLUMNS = ", ".join(name for name, *_ in KINDS)
NOT_FOR_BSQLDB = ("date", "time(3)", "datetime2(3)", "uniqueidentifier")  # "type 40 not supported, sorry": as text then
NOT_NATIVE = ("c_date", "c_nchar", "c_nvarchar", "c_nmax", "c_ntext")  # freebcp cannot read the dates it wrote, and sends national text as UTF-8


def setup_script():
    columns = ", ".join(f"{name} {kind}" for name, kind, *_ in KINDS)
    values = ", ".join(literal for _, _, literal, *_ in KINDS)
    nulls = ", ".join("NULL" for _ in KINDS)
    tables = "".join(f"CREATE TABLE dbo.{name} (id int NOT NULL PRIMARY KEY, {columns});\n" for name in ("kinds", "by_text"))
    return f"""{tables}
INSERT INTO dbo.kinds VALUES (1, {values}), (2, {nulls});
CREATE TABLE dbo.orders (id int IDENTITY(10, 5) PRIMARY KEY, amount int NOT NULL, twice AS amount * 2, note varchar(10) DEFAULT 'none',
  version rowversion);
CREATE TABLE dbo.strict (id int NOT NULL PRIMARY KEY, name varchar(5) NOT NULL);
CREATE TABLE dbo.tracked (id int NOT NULL PRIMARY KEY, name varchar(20) NULL);
CREATE TABLE dbo.numbers (n int NOT NULL PRIMARY KEY);
INSERT INTO dbo.numbers SELECT value FROM GENERATE_SERIES(1, 10);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table 'dbo', 'tracked', @role_name = NULL;
GO
"""


class Tools:
    def __init__(self, folder, server):
        self.folder, self.server = pathlib.Path(folder), server
        self.host, self.port = server.address.rsplit(":", 1)

    def start(self, command, text=""):
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=120)
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace").replace("\0", "")

    def tsql(self, text, version="7.4"):
        return self.start(["env", "TDSVER=" + version, "tsql", "-H", self.host, "-p", self.port, "-U", "sa", "-P", PASSWORD, "-D", "shop"], text)

    def bsqldb(self, text, *options):
        script = self.folder / "script.sql"
        script.write_text(text, encoding="utf-8")
        return self.start(["bsqldb", "-S", self.server.address, "-U", "sa", "-P", PASSWORD, "-D", "shop", "-i", str(script), *options])

    def freebcp(self, table, direction, path, *options):
        return self.start(["freebcp", f"shop.dbo.{table}", direction, str(path), "-S", self.server.address, "-U", "sa", "-P", PASSWORD, *options])

    def number(self, sql):
        code, out = self.bsqldb(f"SET NOCOUNT ON\n{sql}\ngo\n", "-q", "-h")
        assert code == 0, out
        return int(out.split()[-1])


def has(text, *wanted):
    for part in wanted:
        assert part in text, f"{part!r} is not in {text[-3000:]!r}"


# --- tsql ---

def tsql_runs_batches_until_exit(tools):
    for version in ("7.1", "7.2", "7.3", "7.4"):
        code, out = tools.tsql("select id, c_big, c_varchar, c_guid from kinds\ngo\nexit\nselect 'never'\ngo\n", version)
        assert code == 0, out
        has(out, "1\t-9223372036854775808\tx y z\t6F9619FF-8B86-D011-B42D-00C04FC964FF", "2\tNULL\tNULL\tNULL", "(2 rows affected)")
        assert "never" not in out.replace("select 'never'", ""), out


def tsql_shows_errors_with_all_they_have(tools):
    _, out = tools.tsql("select 1\n\nraiserror('boo', 12, 7)\ngo\nselect 1 / 0\ngo\nselct\ngo\nselect * from nowhere\ngo\nselect 'still here'\ngo\nexit\n")
    has(out, "Msg 50000 (severity 12, state 7) from TIDESIM Line 3:", "Msg 8134 (severity 16, state 1) from TIDESIM Line 1:",
        "Msg 208 (severity 16, state 1) from TIDESIM Line 1:", "Invalid object name 'nowhere'.", "still here")


def tsql_shows_several_results_and_uses_databases(tools):
    _, out = tools.tsql("select 11 as a select 22 as b, 33 as c\nuse master\nselect db_name()\ngo\nuse shop\ngo\nselect db_name()\ngo\nexit\n")
    has(out, "11\n(1 row affected)", "22\t33", "master", "shop")


# --- bsqldb ---

def bsqldb_prints_every_type(tools):
    for name, kind, _, printed, _ in KINDS:
        column = f"convert(varchar(60), {name}, 121) as {name}" if kind in NOT_FOR_BSQLDB else name
        code, out = tools.bsqldb(f"select {column} from kinds where id = 1\ngo\n")
        assert code == 0, (name, out)
        has(out, printed, "1 rows affected")


def bsqldb_counts_rows_and_fails_on_errors(tools):
    code, out = tools.bsqldb("create table #t (n int)\ngo\ninsert #t select n from numbers\ngo\ndelete #t where n > 4\ngo\nselect * from #t\ngo\n")
    assert code == 0, out
    has(out, "10 rows affected", "6 rows affected", "4 rows affected")
    code, out = tools.bsqldb("select * from nowhere\ngo\n")
    assert code != 0, out
    has(out, "Msg 208, Level 16, State 1")
    code, out = tools.bsqldb("print 'only a message'\nraiserror('note', 5, 1)\ngo\n")
    assert code == 0, out


# --- freebcp ---

SEPARATED = ["-c", "-t", "|~|"]


def same_rows(tools, copy, condition="1 = 1", but=()):
    plain = [name for name, kind, *_ in KINDS if kind not in ("text", "ntext", "image") and name not in but]
    long = {"c_text": "varchar(max)", "c_ntext": "nvarchar(max)", "c_image": "varbinary(max)"}
    columns = plain + [f"CAST({name} AS {kind}) AS {name}" for name, kind in long.items() if name not in but]
    rows = tools.number(f"SELECT COUNT(*) FROM kinds WHERE {condition}")
    assert tools.number(f"SELECT COUNT(*) FROM {copy}") == rows
    for column in columns:
        left = tools.number(f"SELECT COUNT(*) FROM (SELECT id, {column} FROM kinds WHERE {condition} EXCEPT SELECT id, {column} FROM {copy}) x")
        assert left == 0, f"{left} rows of {copy} are not those of kinds in {column}"


def freebcp_copies_text_out_and_in(tools):
    path = tools.folder / "kinds.txt"
    code, out = tools.freebcp("kinds", "out", path, "-T", "2147483647", *SEPARATED)
    assert code == 0, out
    has(out, "2 rows copied.")
    first, second = path.read_text(encoding="utf-8").splitlines()
    values = first.split("|~|")
    assert len(values) == 1 + len(KINDS), values
    for value, (name, _, _, _, written) in zip(values[1:], KINDS):
        assert value == written, (name, value)
    assert second == "|~|".join(["2"] + [""] * len(KINDS)), second
    code, out = tools.freebcp("by_text", "in", path, *SEPARATED)
    assert code == 0, out
    has(out, "2 rows copied.")
    same_rows(tools, "by_text")


def freebcp_copies_native_out_and_in(tools):
    """Without the row of NULLs: this FreeTDS cannot read the NULLs of fixed-length types that it wrote."""
    path = tools.folder / "kinds.bin"
    columns = ", ".join(["id"] + [name for name, *_ in KINDS if name not in NOT_NATIVE])
    tools.bsqldb(f"select {columns} into whole from kinds where id = 1\nselect * into by_bytes from whole where 1 = 0\ngo\n")
    code, out = tools.freebcp("whole", "out", path, "-n", "-T", "2147483647")
    assert code == 0, out
    has(out, "1 rows copied.")
    code, out = tools.freebcp("by_bytes", "in", path, "-n")
    assert code == 0, out
    has(out, "1 rows copied.")
    same_rows(tools, "by_bytes", "id = 1", NOT_NATIVE)


def freebcp_leaves_out_what_the_server_makes(tools):
    path = tools.folder / "orders.txt"
    path.write_text("0|7|0|first|\n0|8|0||\n")
    code, out = tools.freebcp("orders", "in", path, "-c", "-t", "|")
    assert code == 0, out
    assert tools.number("SELECT COUNT(*) FROM orders WHERE (id = 10 AND amount = 7 AND twice = 14 AND note = 'first') OR "
                        "(id = 15 AND amount = 8 AND twice = 16 AND note = 'none')") == 2
    path.write_text("100|9|0|kept|\n")
    code, out = tools.freebcp("orders", "in", path, "-c", "-t", "|", "-E")
    assert code == 0, out
    assert tools.number("SELECT amount FROM orders WHERE id = 100") == 9
    tools.bsqldb("insert orders (amount) values (10)\ngo\n")
    assert tools.number("SELECT id FROM orders WHERE amount = 10") == 105


def freebcp_takes_hints_and_batches(tools):
    path = tools.folder / "tracked.txt"
    path.write_text("".join(f"{n}|name {n}\n" for n in range(2500)))
    tools.bsqldb("create table batches (id int not null primary key, name varchar(20))\ngo\n")
    code, out = tools.freebcp("batches", "in", path, "-c", "-t", "|", "-b", "1000", "-h", "TABLOCK, ROWS_PER_BATCH=1000, ORDER(id ASC)")
    assert code == 0, out
    has(out, "2500 rows copied.")
    assert tools.number("SELECT COUNT(*) FROM batches WHERE name = 'name ' + CAST(id AS varchar(9))") == 2500
    code, out = tools.freebcp("batches", "in", path, "-c", "-t", "|", "-h", "FIRE_TRIGGERS")
    assert code != 0, out
    has(out, "50001", "FIRE_TRIGGERS")


def freebcp_shows_what_the_server_refuses(tools):
    path = tools.folder / "strict.txt"
    path.write_text("1|one\n1|two\n")
    _, out = tools.freebcp("strict", "in", path, "-c", "-t", "|")  # its exit status tells of rows it could not read, not of these
    has(out, "Msg 2627, Level 14, State 1", "Violation of PRIMARY KEY constraint", "The statement has been terminated.")
    path.write_text("1|one\n2|\n")
    _, out = tools.freebcp("strict", "in", path, "-c", "-t", "|")
    has(out, "Msg 515, Level 16")
    assert tools.number("SELECT COUNT(*) FROM strict") == 0
    code, out = tools.freebcp("nowhere", "in", path, "-c", "-t", "|")
    assert code != 0, out
    has(out, "208")


def rows_loaded_are_captured(tools):
    path = tools.folder / "captured.txt"
    path.write_text("".join(f"{n}|name {n}\n" for n in range(1000)))
    code, out = tools.freebcp("tracked", "in", path, "-c", "-t", "|")
    assert code == 0, out
    tools.server.scan()
    assert tools.number("SELECT COUNT(*) FROM cdc.dbo_tracked_CT WHERE __$operation = 2 AND name = 'name ' + CAST(id AS varchar(9))") == 1000
    assert tools.number("SELECT COUNT(DISTINCT __$start_lsn) FROM cdc.dbo_tracked_CT") == 1


# --- cursors of the ODBC driver ---

FORWARD, KEYSET, DYNAMIC, STATIC = 0, 1, 2, 3
NEXT, FIRST, LAST, PRIOR, ABSOLUTE, RELATIVE = 1, 2, 3, 4, 5, 6


class Odbc:
    """As much of ODBC as a cursor takes."""

    def __init__(self, server):
        self.odbc = ctypes.CDLL("libodbc.so.2")
        self.environment, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        self.odbc.SQLAllocHandle(1, None, ctypes.byref(self.environment))
        self.odbc.SQLSetEnvAttr(self.environment, 200, ctypes.c_void_p(3), 0)
        self.odbc.SQLAllocHandle(2, self.environment, ctypes.byref(self.connection))
        code = self.odbc.SQLDriverConnect(self.connection, None, server.connection().encode(), -3, None, 0, None, 0)
        assert code in (0, 1), "no connection"

    def statement(self, cursor):
        statement = ctypes.c_void_p()
        self.odbc.SQLAllocHandle(3, self.connection, ctypes.byref(statement))
        assert self.odbc.SQLSetStmtAttr(statement, 6, ctypes.c_void_p(cursor), 0) in (0, 1)
        return statement

    def execute(self, statement, sql):
        return self.odbc.SQLExecDirect(statement, sql.encode(), -3)

    def fetch(self, statement, way=NEXT, offset=0):
        """The first column; None at an end."""
        code = self.odbc.SQLFetchScroll(statement, ctypes.c_short(way), ctypes.c_ssize_t(offset))
        if code == 100:
            return None
        assert code in (0, 1), code
        text, length = ctypes.create_string_buffer(100), ctypes.c_ssize_t()
        assert self.odbc.SQLGetData(statement, 1, 1, text, 100, ctypes.byref(length)) in (0, 1)
        return int(text.value)

    def errors(self, statement):
        state, native, text, length, found = ctypes.create_string_buffer(6), ctypes.c_int(), ctypes.create_string_buffer(500), ctypes.c_short(), []
        while self.odbc.SQLGetDiagRec(3, statement, len(found) + 1, state, ctypes.byref(native), text, 500, ctypes.byref(length)) == 0:
            found.append(native.value)
        return found

    def close(self):
        self.odbc.SQLDisconnect(self.connection)
        self.odbc.SQLFreeHandle(2, self.connection)
        self.odbc.SQLFreeHandle(1, self.environment)


def odbc_cursors_scroll(tools):
    odbc = Odbc(tools.server)
    for kind in (STATIC, KEYSET, DYNAMIC):
        statement = odbc.statement(kind)
        assert odbc.execute(statement, "select n, n * n as square from numbers order by n") in (0, 1)
        columns = ctypes.c_short()
        odbc.odbc.SQLNumResultCols(statement, ctypes.byref(columns))
        assert columns.value == 2, columns.value
        assert [odbc.fetch(statement) for _ in range(11)] == list(range(1, 11)) + [None]
        assert [odbc.fetch(statement, *way) for way in ((LAST,), (PRIOR,), (FIRST,), (ABSOLUTE, 5), (RELATIVE, 3))] == [10, 9, 1, 5, 8]
        odbc.odbc.SQLFreeHandle(3, statement)
    odbc.close()


def odbc_cursors_say_what_is_wrong(tools):
    odbc = Odbc(tools.server)
    statement = odbc.statement(STATIC)
    assert odbc.execute(statement, "select * from nowhere") == -1
    assert odbc.errors(statement)[0] == 208
    assert odbc.execute(statement, "insert numbers values (11)") in (0, 1)  # no SELECT: it runs without a cursor
    assert tools.number("SELECT COUNT(*) FROM numbers") == 11
    assert odbc.execute(statement, "delete numbers where n = 11") in (0, 1)
    odbc.odbc.SQLFreeHandle(3, statement)
    odbc.close()


CASES = [tsql_runs_batches_until_exit, tsql_shows_errors_with_all_they_have, tsql_shows_several_results_and_uses_databases, bsqldb_prints_every_type,
         bsqldb_counts_rows_and_fails_on_errors, freebcp_copies_text_out_and_in, freebcp_copies_native_out_and_in, freebcp_leaves_out_what_the_server_makes,
         freebcp_takes_hints_and_batches, freebcp_shows_what_the_server_refuses, rows_loaded_are_captured, odbc_cursors_scroll,
         odbc_cursors_say_what_is_wrong]


def main():
    failed = False
    with tempfile.TemporaryDirectory(prefix="tidelake-freetds-") as folder:
        script = pathlib.Path(folder) / "setup.sql"
        script.write_text(setup_script(), encoding="utf-8")
        server = Server(folder, "--capture-interval", "manual", "--seed", "7", init=[script])
        try:
            tools = Tools(folder, server)
            for number, case in enumerate(CASES, 1):
                why = ""
                try:
                    case(tools)
                except Exception:
                    why, failed = traceback.format_exc(limit=-3), True
                for line in why.splitlines():
                    print(f"# {line}")
                print(f"{'not ok' if why else 'ok'} {number} - freetds: {case.__name__}", flush=True)
        finally:
            server.close()
    print(f"1..{len(CASES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
