"""Python's clients of SQL Server, unmodified, on a tidesim of their own: every type at its ends, empty and NULL, read and sent.

Prints TAP. Arguments choose clients and cases:

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_types.py [CLIENT...] [CASE...]
"""
import datetime
import decimal
import math
import sys
import uuid

import values
from clients import EVERY, MssqlPython, Pymssql, Pyodbc, PyodbcFreetds, PyodbcMicrosoft, PythonTds, main, only
from values import KINDS, NAMES


def same(got, want):
    if isinstance(want, datetime.datetime) and want.tzinfo:
        return got == want and got.utcoffset() == want.utcoffset()
    if isinstance(want, float):
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    return got == want and isinstance(got, type(want))


def reads_every_type_at_its_ends_and_null(case):
    for row, at in ((1, 3), (2, 5)):
        for kind in KINDS:
            got, want = case.value(f"SELECT {kind[0]} FROM dbo.kinds WHERE id = {row}"), case.client.fix(kind[at])
            assert same(got, want), f"{kind[0]}: {got!r:.80}, wanted {want!r:.80}"
    assert case.rows(f"SELECT {NAMES} FROM dbo.kinds WHERE id = 3") == [(None,) * len(KINDS)]


# What a client cannot send as it is. pymssql writes -0.0 as a decimal, times to the millisecond and an empty binary as text; pyodbc ends
# times at the second and drops zones; FreeTDS's driver sends days long ago as the day before; mssql-python knows no day before 1753.
UNSENT = {Pymssql: {"c_zero", "c_varbinary", "c_bmax", "c_image", "c_time", "c_dt2", "c_dto"}, PyodbcFreetds: {"c_time", "c_dto", "c_dto2"},
          PyodbcMicrosoft: {"c_time", "c_dto", "c_dto2"}}
FIRST_YEAR = {PyodbcFreetds: 1900, MssqlPython: 1753}


def can_send(client, name, value):
    if name in UNSENT.get(type(client), ()):
        return False
    is_day = type(value) is datetime.date or isinstance(client, PyodbcFreetds) and isinstance(value, datetime.date)
    return not is_day or value.year >= FIRST_YEAR.get(type(client), 1)


def bytes_of(kind, column):
    if kind in ("text", "ntext", "xml"):
        column = f"CAST({column} AS {'varchar' if kind == 'text' else 'nvarchar'}(max))"
    return f"CAST({column} AS varbinary(max))"


def sends_every_type_at_its_ends_and_null(case):
    for row, at in ((1, 3), (2, 5)):
        case.run(f"DELETE dbo.taken; INSERT dbo.taken (id) VALUES ({row})")
        for one in KINDS:
            name, kind, value = one[0], one[1], one[at]
            if not can_send(case.client, name, value):
                continue
            try:
                case.run(f"UPDATE dbo.taken SET {name} = $", value)
            except case.client.Error as error:
                raise AssertionError(f"{name}, {value!r:.80}: {error!r}")
            got = case.value(f"SELECT {name} FROM dbo.taken")
            assert same(got, case.client.fix(value)), f"{name}: {got!r:.80}, sent {value!r:.80}"
            equal = f"{bytes_of(kind, 't.' + name)} = {bytes_of(kind, 'k.' + name)}"
            assert case.rows(f"SELECT 1 FROM dbo.taken t JOIN dbo.kinds k ON k.id = t.id WHERE {equal}"), f"{name}: other bytes than the literal's"
    for name, *_ in KINDS:
        case.run(f"UPDATE dbo.taken SET {name} = $", None)
    assert case.rows(f"SELECT {NAMES} FROM dbo.taken") == [(None,) * len(KINDS)]


def the_seventh_digit_of_a_time_arrives(case):
    for kind, text in (("datetime2(7)", "9999-12-31 23:59:59.9999999"), ("time(7)", "23:59:59.9999999"), ("datetimeoffset(7)", "0001-01-01 00:00:00.0000001 +00:00"),
                       ("datetime2(7)", "0001-01-01 00:00:00.0000001")):
        assert case.value(f"SELECT CONVERT(varchar(40), CAST($ AS {kind}))", text) == text
        got = case.value(f"SELECT CAST('{text}' AS {kind})")
        assert got.microsecond == (999999 if "9999" in text else 0), got


@only(PythonTds, PyodbcFreetds, PyodbcMicrosoft, MssqlPython)  # pymssql sends bytes as text
def pads_and_cuts_as_the_type_says(case):
    case.run("CREATE TABLE #p (b binary(4), c char(4), n nchar(4), v varchar(4), vb varbinary(4))")
    for given, stored in (((b"\x01", "a", "ä", "b ", b"\x02\x00"), (b"\x01\0\0\0", "a   ", "ä   ", "b ", b"\x02\x00")),
                          ((b"", "", "", "", b""), (b"\0\0\0\0", "    ", "    ", "", b""))):
        case.run("DELETE #p")
        case.run("INSERT #p VALUES ($, $, $, $, $)", *given)
        assert case.rows("SELECT * FROM #p") == [stored]
    case.run("SET ANSI_WARNINGS ON")
    for column, given in (("v", "abcde"), ("vb", b"12345"), ("n", "ééééé")):
        case.fails(f"UPDATE #p SET {column} = $", 2628, "42000 22001", "would be truncated", given)


def several_megabytes_go_out_and_in(case):
    for kind, value in (("varchar(max)", "0123456789" * 300_000), ("nvarchar(max)", "ж日😀" * 500_000), ("varbinary(max)", bytes(range(256)) * 12_000)):
        case.run(f"CREATE TABLE #m (v {kind})")
        case.run("INSERT #m VALUES ($)", value)
        assert case.value("SELECT v FROM #m") == value
        case.run("DROP TABLE #m")


def what_a_code_page_lacks_is_a_question_mark(case):
    for collation, given, stored in (("Greek_CI_AS", "Ω日", "Ω?"), ("SQL_Latin1_General_CP1_CI_AS", "é日", "é?"), ("Cyrillic_General_CI_AS", "Ж日", "Ж?"),
                                     ("Latin1_General_100_CI_AS_SC_UTF8", "é日", "é日")):
        case.run(f"CREATE TABLE #c (v varchar(20) COLLATE {collation})")
        case.run("INSERT #c VALUES (N'%s')" % given)
        assert case.rows("SELECT v FROM #c") == [(stored,)], collation
        case.run("DELETE #c")
        case.run("INSERT #c VALUES ($)", given)
        assert case.rows("SELECT v FROM #c") == [(stored,)], collation
        case.run("DROP TABLE #c")


@only(PyodbcFreetds, PyodbcMicrosoft)
def half_a_surrogate_pair_stays_what_it_is(case):
    import pyodbc

    case.connection.setdecoding(pyodbc.SQL_WCHAR, encoding="latin-1", ctype=pyodbc.SQL_WCHAR)  # the bytes as they are
    high = case.value("SELECT N'a' + NCHAR(0xD83D) + N'b'")
    assert high.encode("latin-1") == "a\ud83db".encode("utf-16-le", "surrogatepass"), ascii(high)
    case.connection.setencoding(encoding="latin-1", ctype=pyodbc.SQL_WCHAR)
    sent = "\ude00x".encode("utf-16-le", "surrogatepass")
    case.cursor.execute("SELECT CAST(CAST(? AS nvarchar(10)) AS varbinary(20))".encode("utf-16-le").decode("latin-1"), sent.decode("latin-1"))
    assert case.cursor.fetchone()[0] == sent


VARIANTS = [("int", "-7", -7), ("bigint", "9223372036854775807", 2**63 - 1), ("smallint", "-32768", -32768), ("tinyint", "255", 255), ("bit", "1", True),
            ("float", "1.25", 1.25), ("real", "-0.5", -0.5), ("decimal(38,20)", "1.25", decimal.Decimal("1.25")), ("money", "-922337203685477.5808",
             decimal.Decimal("-922337203685477.5808")), ("smallmoney", "1.5", decimal.Decimal("1.5")), ("date", "'9999-12-31'", datetime.date(9999, 12, 31)),
            ("datetime", "'2024-01-02T03:04:05.997'", datetime.datetime(2024, 1, 2, 3, 4, 5, 997000)),
            ("smalldatetime", "'2024-01-02T03:04:00'", datetime.datetime(2024, 1, 2, 3, 4)),
            ("datetime2(7)", "'2024-01-02T03:04:05.1234567'", datetime.datetime(2024, 1, 2, 3, 4, 5, 123456)),
            ("varchar(20)", "'abc'", "abc"), ("nvarchar(20)", "N'日😀'", "日😀"), ("char(5)", "'ab'", "ab   "), ("nchar(3)", "N'é'", "é  "),
            ("varbinary(8)", "0x00FF", b"\x00\xff"), ("binary(3)", "0x01", b"\x01\0\0"), ("uniqueidentifier", f"'{values.GUID}'", uuid.UUID(values.GUID))]


@only(PythonTds, PyodbcMicrosoft, MssqlPython)
def a_variant_is_what_it_holds(case):
    case.run("CREATE TABLE #v (id int, v sql_variant)")
    for number, (kind, literal, _) in enumerate(VARIANTS):
        case.run(f"INSERT #v VALUES ({number}, CAST({literal} AS {kind}))")
    case.run("INSERT #v VALUES (-1, NULL)")
    for number, (kind, _, value) in enumerate(VARIANTS):
        if kind.endswith("int") and isinstance(case.client, Pyodbc):
            continue  # whose own limit it is
        got = case.value(f"SELECT v FROM #v WHERE id = {number}")
        assert same(got, case.client.fix(value)), f"{kind}: {got!r}"
        assert case.value(f"SELECT SQL_VARIANT_PROPERTY(v, 'BaseType') FROM #v WHERE id = {number}") == kind.split("(")[0]
    if not isinstance(case.client, Pyodbc):  # pyodbc knows no column of NULL alone
        assert case.value("SELECT v FROM #v WHERE id = -1") is None


def a_rowversion_grows_with_every_write(case):
    case.run("CREATE TABLE #r (id int, v rowversion)")
    case.run("INSERT #r (id) VALUES (1)")
    first = case.value("SELECT v FROM #r")
    case.run("UPDATE #r SET id = 2")
    second = case.value("SELECT v FROM #r")
    assert len(first) == len(second) == 8 and first < second, (first, second)
    if not case.client.values_as_text:
        assert case.value("SELECT id FROM #r WHERE v = $", second) == 2


def xml_is_written_and_read(case):
    case.run("CREATE TABLE #x (v xml)")
    case.run("INSERT #x VALUES ($)", "<a><b>ж 😀</b></a>")
    assert case.value("SELECT v FROM #x") == "<a><b>ж 😀</b></a>"
    case.run("UPDATE #x SET v = $", "<a ><b>\n</b>  <c d='&quot;'>1</c></a>")
    assert case.value("SELECT v FROM #x") == '<a><b/><c d="&quot;">1</c></a>'
    case.fails("UPDATE #x SET v = $", 9436, "42000", "XML parsing: line 1, character 10, end tag does not match start tag", "<a><b></a>")


CASES = [reads_every_type_at_its_ends_and_null, sends_every_type_at_its_ends_and_null, the_seventh_digit_of_a_time_arrives, pads_and_cuts_as_the_type_says,
         several_megabytes_go_out_and_in, what_a_code_page_lacks_is_a_question_mark, half_a_surrogate_pair_stays_what_it_is, a_variant_is_what_it_holds,
         a_rowversion_grows_with_every_write, xml_is_written_and_read]

if __name__ == "__main__":
    sys.exit(main(CASES, EVERY, values.script()))
