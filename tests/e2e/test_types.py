#!/usr/bin/env python3
"""Every type of docs/types.md at its ends, empty and NULL, from the server through stream and apply, through both ODBC drivers.

One table of literals and of what the lake must hold drives it: each column of `dbo.kinds` is a type, each row its next value.
"""
import struct

from lib import *

NULL = ("NULL", None)


def text(value, kind=""):
    return (kind + "'" + value.replace("'", "''") + "'", value)


def repeated(piece, times, kind):
    """A text that is longer than a literal may be, as SQL and as it is."""
    prefix = "N" if kind.startswith("n") else ""
    return (f"REPLICATE(CAST({prefix}'{piece}' AS {kind}), {times})", piece * times)


def of_bytes(data):
    return ("0x" + data.hex(), data.hex().upper())


def of_many_bytes(byte, times):
    return (f"CAST(REPLICATE(CAST('{chr(byte)}' AS varchar(max)), {times}) AS varbinary(max))", bytes([byte]).hex().upper() * times)


MAX38 = "9" * 38
# A type, and literals with what a query of the lake gives for each.
TYPES = [
    ("bit", [("0", False), ("1", True)]),
    ("tinyint", [("0", 0), ("255", 255)]),
    ("smallint", [("-32768", -32768), ("32767", 32767)]),
    ("int", [("-2147483648", -2147483648), ("2147483647", 2147483647)]),
    ("bigint", [("-9223372036854775808", -9223372036854775808), ("9223372036854775807", 9223372036854775807), ("0", 0)]),
    ("real", [("CAST(3.40282346E+38 AS real)", 3.4028234663852886e38), ("CAST(-3.40282346E+38 AS real)", -3.4028234663852886e38),
              ("CAST(1.17549435E-38 AS real)", 1.1754943508222875e-38), ("CAST(0.1 AS real)", 0.1), ("0", 0.0)]),
    ("float", [("1.7976931348623157E+308", 1.7976931348623157e308), ("-1.7976931348623157E+308", -1.7976931348623157e308),
               ("2.2250738585072014E-308", 2.2250738585072014e-308), ("0.1", 0.1), ("1E0/3", 1 / 3)]),
    ("float(24)", [("0.25", 0.25)]),
    ("decimal(38,0)", [(MAX38, MAX38), ("-" + MAX38, "-" + MAX38), ("0", "0")]),
    ("decimal(38,38)", [("0." + MAX38, "0." + MAX38), ("-0." + MAX38, "-0." + MAX38), ("0", "0." + "0" * 38)]),
    ("decimal(1,0)", [("9", "9"), ("-9", "-9")]),
    ("decimal(9,9)", [("0.000000001", "0.000000001")]),
    ("decimal(18,4)", [("99999999999999.9999", "99999999999999.9999"), ("-0.0001", "-0.0001")]),
    ("numeric(19,2)", [("99999999999999999.99", "99999999999999999.99")]),
    ("numeric(28,10)", [("-123456789012345678.0123456789", "-123456789012345678.0123456789")]),
    ("money", [("922337203685477.5807", "922337203685477.5807"), ("-922337203685477.5808", "-922337203685477.5808"), ("0.0001", "0.0001")]),
    ("smallmoney", [("214748.3647", "214748.3647"), ("-214748.3648", "-214748.3648")]),
    ("date", [("'0001-01-01'", "0001-01-01"), ("'9999-12-31'", "9999-12-31"), ("'1582-10-10'", "1582-10-10")]),
    ("datetime", [("'1753-01-01T00:00:00'", "1753-01-01T00:00:00.000000"), ("'9999-12-31T23:59:59.997'", "9999-12-31T23:59:59.997000"),
                  ("'2020-02-29T00:00:00.003'", "2020-02-29T00:00:00.003000"), ("'1969-12-31T23:59:59.993'", "1969-12-31T23:59:59.993000")]),
    ("smalldatetime", [("'1900-01-01T00:00:00'", "1900-01-01T00:00:00.000000"), ("'2079-06-06T23:59:00'", "2079-06-06T23:59:00.000000")]),
    ("datetime2(0)", [("'0001-01-01T00:00:00'", "0001-01-01T00:00:00.000000"), ("'9999-12-31T23:59:59'", "9999-12-31T23:59:59.000000")]),
    ("datetime2(3)", [("'1969-12-31T23:59:59.999'", "1969-12-31T23:59:59.999000")]),
    ("datetime2(7)", [("'9999-12-31T23:59:59.9999999'", "9999-12-31T23:59:59.999999"), ("'0001-01-01T00:00:00.0000009'", "0001-01-01T00:00:00.000000"),
                      ("'1969-12-31T23:59:59.9999999'", "1969-12-31T23:59:59.999999")]),
    ("datetimeoffset(0)", [("'2020-01-01T00:00:00+14:00'", "2019-12-31T10:00:00.000000+00:00")]),
    ("datetimeoffset(7)", [("'0001-01-01T00:00:00.0000000+00:00'", "0001-01-01T00:00:00.000000+00:00"),
                           ("'9999-12-31T23:59:59.9999999+00:00'", "9999-12-31T23:59:59.999999+00:00"), ("'1970-01-01T00:00:00.0000001-14:00'", "1970-01-01T14:00:00.000000+00:00"),
                           ("'1969-12-31T23:59:59.9999999+00:00'", "1969-12-31T23:59:59.999999+00:00")]),
    ("time(0)", [("'23:59:59'", "23:59:59.000000000"), ("'00:00:00'", "00:00:00.000000000")]),
    ("time(7)", [("'23:59:59.9999999'", "23:59:59.999999900"), ("'00:00:00.0000001'", "00:00:00.000000100")]),
    ("char(3)", [("''", "   "), ("'a'", "a  "), ("'abc'", "abc")]),
    ("varchar(1)", [("''", ""), ("'\u20ac'", "\u20ac"), ("'\u00ff'", "\u00ff")]),
    ("varchar(8000)", [repeated("x", 8000, "varchar(8000)"), ("'  '", "  "), ("'tab\tnew\nline'", "tab\tnew\nline")]),
    ("varchar(20) COLLATE Greek_CI_AS", [text("\u03b1\u03b2\u03b3 \u03a9", "N")]),
    ("varchar(20) COLLATE Cyrillic_General_CI_AS", [text("\u0416\u0443\u043a", "N")]),
    ("char(4) COLLATE Turkish_CI_AS", [("N'\u011f\u0131\u015f'", "\u011f\u0131\u015f ")]),
    ("varchar(20) COLLATE Latin1_General_BIN2", [text("\u00e9\u20ac")]),
    ("varchar(20) COLLATE Latin1_General_100_CI_AS_SC_UTF8", [text("\u00e9\u20ac\U0001f30a\u03b1", "N")]),
    ("nchar(3)", [("N''", "   "), ("N'\U0001f30a'", "\U0001f30a ")]),
    ("nvarchar(9)", [("N''", ""), ("NCHAR(55356)", "\ufffd"), ("N'a' + NCHAR(57098) + N'b'", "a\ufffdb"), ("N'a' + NCHAR(0) + N'b'", "a\0b"),
                     ("NCHAR(57098) + NCHAR(55356)", "\ufffd\ufffd"), ("NCHAR(65535) + NCHAR(65279)", "\uffff\ufeff")]),
    ("nvarchar(4000)", [repeated("\U0001f30a", 2000, "nvarchar(4000)")]),
    ("sysname", [("N'name'", "name"), ("N''", "")]),
    ("varchar(max)", [("''", ""), repeated("0123456789", 20001, "varchar(max)"), repeated("\u00e9", 70001, "varchar(max)")]),
    ("nvarchar(max)", [("N''", ""), repeated("a\U0001f30a\u00e9", 30001, "nvarchar(max)"), ("NCHAR(55356)", "\ufffd")]),
    ("varchar(max) COLLATE Greek_CI_AS", [("REPLICATE(CAST(N'\u03b1' AS nvarchar(max)), 50001)", "\u03b1" * 50001)]),
    ("text", [("''", ""), repeated("t", 9001, "varchar(max)"), ("'\u20ac'", "\u20ac")]),
    ("ntext", [("N''", ""), repeated("n\U0001f30a", 5001, "nvarchar(max)")]),
    ("xml", [("N'<a x=\"\u00e9\">\U0001f30a</a>'", "<a x=\"\u00e9\">\U0001f30a</a>"), ("N''", "")]),
    ("uniqueidentifier", [("'00000000-0000-0000-0000-000000000000'", "00000000-0000-0000-0000-000000000000"),
                          ("'ffffffff-ffff-ffff-ffff-ffffffffffff'", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"),
                          ("'01234567-89ab-cdef-0123-456789abcdef'", "01234567-89AB-CDEF-0123-456789ABCDEF")]),
    ("binary(1)", [of_bytes(b"\0"), of_bytes(b"\xff")]),
    ("binary(5000)", [("0x01", "01" + "00" * 4999)]),
    ("varbinary(1)", [("0x", ""), of_bytes(b"\0")]),
    ("varbinary(8000)", [of_bytes(bytes(range(256)) * 4)]),
    ("varbinary(max)", [("0x", ""), of_many_bytes(90, 300001), of_bytes(bytes(range(256)))]),
    ("image", [("0x", ""), of_bytes(b"\0\xff"), of_many_bytes(88, 9001)]),
    ("bigint IDENTITY(9223372036854775700,1)", [(None, 9223372036854775700)]),
]
ROWS = max(len(values) for _, values in TYPES) + 1  # and one of NULLs
NO_BEFORE = ("text", "ntext", "image")  # CDC gives no image of them before a change
NO_UNCHANGED = ("varchar(max)", "nvarchar(max)", "varbinary(max)", "xml")  # none of what an update did not change


def is_binary(kind):
    return kind.startswith(("binary", "varbinary", "image"))


def value_at(number, row):
    """The literal of column `number` in a row, and what it must become; None for a value that the server makes."""
    kind, values = TYPES[number]
    if "IDENTITY" in kind:
        return None, 9223372036854775700 + row
    if "sysname" in kind and row >= len(values):
        return values[0]  # it is NOT NULL
    return values[row] if row < len(values) else NULL


def same(got, want, kind):
    if kind.startswith(("real", "float(24)")) and want is not None:
        return got is not None and struct.pack("<f", got) == struct.pack("<f", want)
    if isinstance(want, float):
        return isinstance(got, (int, float)) and struct.pack("<d", float(got)) == struct.pack("<d", want)
    return got == want and type(got) is type(want)


def setup(server):
    columns = ", ".join(f"c{number} {kind}{'' if 'IDENTITY' in kind or kind == 'sysname' else ' NULL'}" for number, (kind, _) in enumerate(TYPES))
    server.sql("EXEC sp_configure 'max text repl size', -1;\nGO\nRECONFIGURE;")
    server.sql(f"CREATE TABLE dbo.kinds (id int NOT NULL PRIMARY KEY, hits int NOT NULL, {columns}, rv rowversion);\nGO\nEXEC sys.sp_cdc_enable_db;\nGO\n"
               "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'kinds', @role_name = NULL;")
    insert(server, 0)
    server.scan()


def insert(server, first_id):
    given = [number for number, (kind, _) in enumerate(TYPES) if "IDENTITY" not in kind]
    for row in range(ROWS):
        literals = ", ".join(value_at(number, row)[0] for number in given)
        server.sql(f"INSERT INTO dbo.kinds (id, hits, {', '.join(f'c{number}' for number in given)}) VALUES ({first_id + row}, 0, {literals});")


def check_rows(lake, table, where, row_of, wanted, what):
    """Rows of a table against the literals; `wanted` gives what a column must hold where CDC leaves it out."""
    select = ", ".join(f"hex(c{number})" if is_binary(kind) else f"c{number}" for number, (kind, _) in enumerate(TYPES))
    rows = lake.query(table, f"SELECT id, {select} FROM t WHERE {where} ORDER BY id")
    equal(len(rows), ROWS, f"rows of {table} where {where}")
    for found in rows:
        row = row_of(found[0])
        for number, (kind, _) in enumerate(TYPES):
            want = wanted(kind, value_at(number, row)[1])
            if "IDENTITY" in kind and found[0] >= 100:
                continue  # it went on counting
            got = found[1 + number]
            if not same(got, want, kind):
                raise AssertionError(f"{what}, {kind}, row {row}: got {str(got)[:60]!r}, want {str(want)[:60]!r}")


def through(folder, driver):
    server = Server(folder, "--capture-interval", "manual")
    try:
        setup(server)
        lake = Lake(folder / "lake", server)
        more = ["--connection", server.connection().replace("Driver=FreeTDS", f"Driver={driver}") + (";Encrypt=no" if driver != "FreeTDS" else "")]
        lake.stream("dbo_kinds", "kinds", *more, check=True)
        check_rows(lake, "bronze/kinds", "_operation = 0", lambda key: key, lambda kind, value: value, "snapshot")

        insert(server, 100)
        server.sql("UPDATE dbo.kinds SET hits = 1 WHERE id >= 100;")
        server.sql("DELETE dbo.kinds WHERE id >= 100;")
        server.scan()
        lake.stream("dbo_kinds", "kinds", *more, check=True)
        for operation, wanted in ((2, lambda kind, value: value), (4, lambda kind, value: value),
                                  (3, lambda kind, value: None if kind.split(" ")[0] in NO_BEFORE + NO_UNCHANGED else value),
                                  (1, lambda kind, value: None if kind in NO_BEFORE else value)):
            check_rows(lake, "bronze/kinds", f"_operation = {operation}", lambda key: key - 100, wanted, f"operation {operation}")

        server.sql("UPDATE dbo.kinds SET hits = 2;")
        server.scan()
        lake.stream("dbo_kinds", "kinds", *more, check=True)
        lake.apply("dbo_kinds", "kinds", *more, check=True)
        check_rows(lake, "silver/kinds", "hits = 2", lambda key: key, lambda kind, value: value, "silver")
        versions = [line.split()[0] for line in server.sql("SELECT CONVERT(varchar(18), CAST(rv AS binary(8)), 1) AS v FROM dbo.kinds ORDER BY id;").splitlines() if line.startswith("0x")]
        equal(["0x" + row[0] for row in lake.query("silver/kinds", "SELECT hex(rv) FROM t ORDER BY id")], versions, "rowversion")
    finally:
        server.close()


@test
def every_type_arrives_through_freetds(folder):
    through(folder, "FreeTDS")


@test
def every_type_arrives_through_microsofts_driver(folder):
    if not microsoft_driver():
        raise Skip("it is not installed")
    through(folder, microsoft_driver())


if __name__ == "__main__":
    main()
