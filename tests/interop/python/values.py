"""Every type of SQL Server, with a value at each end."""
import datetime
import decimal
import uuid

D, DT, T, Dec = datetime.date, datetime.datetime, datetime.time, decimal.Decimal
UTC = datetime.timezone.utc
EAST, WEST = (datetime.timezone(datetime.timedelta(hours=hours)) for hours in (14, -14))
GUID = "6F9619FF-8B86-D011-B42D-00C04FC964FF"

# (column, type, literal and value of a row at one end, of a row at the other). Python's times end at microseconds.
KINDS = [
    ("c_bit", "bit", "1", True, "0", False),
    ("c_tiny", "tinyint", "255", 255, "0", 0),
    ("c_small", "smallint", "32767", 32767, "-32768", -32768),
    ("c_int", "int", "2147483647", 2**31 - 1, "-2147483648", -2**31),
    ("c_big", "bigint", "9223372036854775807", 2**63 - 1, "-9223372036854775808", -2**63),
    ("c_real", "real", "3.4028234663852886e38", 3.4028234663852886e38, "-1.401298464324817e-45", -1.401298464324817e-45),
    ("c_float", "float", "1.7976931348623157e308", 1.7976931348623157e308, "5e-324", 5e-324),
    ("c_zero", "float", "-0.0e0", -0.0, "0e0", 0.0),
    ("c_dec", "decimal(38,10)", "9999999999999999999999999999.9999999999", Dec("9999999999999999999999999999.9999999999"),
     "-9999999999999999999999999999.9999999999", Dec("-9999999999999999999999999999.9999999999")),
    ("c_whole", "decimal(38,0)", "9" * 38, Dec("9" * 38), "-" + "9" * 38, Dec("-" + "9" * 38)),
    ("c_part", "decimal(38,38)", "0." + "9" * 38, Dec("0." + "9" * 38), "-0." + "0" * 37 + "1", Dec("-1e-38")),
    ("c_num", "numeric(5,2)", "999.99", Dec("999.99"), "-0.01", Dec("-0.01")),
    ("c_money", "money", "922337203685477.5807", Dec("922337203685477.5807"), "-922337203685477.5808", Dec("-922337203685477.5808")),
    ("c_smoney", "smallmoney", "214748.3647", Dec("214748.3647"), "-214748.3648", Dec("-214748.3648")),
    ("c_date", "date", "'9999-12-31'", D(9999, 12, 31), "'0001-01-01'", D(1, 1, 1)),
    ("c_time", "time(6)", "'23:59:59.999999'", T(23, 59, 59, 999999), "'00:00:00'", T(0, 0)),
    ("c_time0", "time(0)", "'23:59:59'", T(23, 59, 59), "'00:00:01'", T(0, 0, 1)),
    ("c_dt", "datetime", "'9999-12-31T23:59:59.997'", DT(9999, 12, 31, 23, 59, 59, 997000), "'1753-01-01'", DT(1753, 1, 1)),
    ("c_sdt", "smalldatetime", "'2079-06-06T23:59:00'", DT(2079, 6, 6, 23, 59), "'1900-01-01'", DT(1900, 1, 1)),
    ("c_dt2", "datetime2(6)", "'9999-12-31T23:59:59.999999'", DT(9999, 12, 31, 23, 59, 59, 999999), "'0001-01-01'", DT(1, 1, 1)),
    ("c_dt0", "datetime2(0)", "'2024-02-29T12:00:00'", DT(2024, 2, 29, 12), "'0001-01-01'", DT(1, 1, 1)),
    ("c_dt3", "datetime2(3)", "'1969-12-31T23:59:59.999'", DT(1969, 12, 31, 23, 59, 59, 999000), "'1582-10-10'", DT(1582, 10, 10)),
    ("c_dto", "datetimeoffset(6)", "'9999-12-31T09:59:59.999999-14:00'", DT(9999, 12, 31, 9, 59, 59, 999999, WEST),
     "'0001-01-01T14:00:00+14:00'", DT(1, 1, 1, 14, 0, 0, 0, EAST)),
    ("c_dto2", "datetimeoffset(2)", "'2024-01-02T03:04:05.67+00:00'", DT(2024, 1, 2, 3, 4, 5, 670000, UTC),
     "'1969-12-31T23:59:59.99-14:00'", DT(1969, 12, 31, 23, 59, 59, 990000, WEST)),
    ("c_char", "char(5)", "'abcde'", "abcde", "''", "     "),
    ("c_varchar", "varchar(20)", "'x y z'", "x y z", "''", ""),
    ("c_nchar", "nchar(5)", "N'ünïcö'", "ünïcö", "N''", "     "),
    ("c_nvarchar", "nvarchar(20)", "N'日本語 😀'", "日本語 😀", "N''", ""),
    ("c_greek", "varchar(20) COLLATE Greek_CI_AS", "N'Ωμέγα'", "Ωμέγα", "''", ""),
    ("c_cyrillic", "varchar(20) COLLATE Cyrillic_General_CI_AS", "N'Ёжик'", "Ёжик", "''", ""),
    ("c_turkish", "varchar(20) COLLATE Turkish_CI_AS", "N'İıŞğ'", "İıŞğ", "''", ""),
    ("c_polish", "varchar(20) COLLATE Polish_CI_AS", "N'Łódź'", "Łódź", "''", ""),
    ("c_utf8", "varchar(30) COLLATE Latin1_General_100_CI_AS_SC_UTF8", "N'日本語 😀'", "日本語 😀", "''", ""),
    ("c_western", "varchar(20)", "N'€uro œ'", "€uro œ", "' '", " "),
    ("c_binary", "binary(4)", "0xDEADBEEF", b"\xde\xad\xbe\xef", "0x00", b"\0\0\0\0"),
    ("c_varbinary", "varbinary(10)", "0x0102", b"\x01\x02", "0x", b""),
    ("c_guid", "uniqueidentifier", f"'{GUID}'", uuid.UUID(GUID), "'00000000-0000-0000-0000-000000000000'", uuid.UUID(int=0)),
    ("c_vmax", "varchar(max)", "REPLICATE(CAST('v' AS varchar(max)), 9000)", "v" * 9000, "''", ""),
    ("c_nmax", "nvarchar(max)", "REPLICATE(CAST(N'ж' AS nvarchar(max)), 70000)", "ж" * 70000, "N''", ""),
    ("c_bmax", "varbinary(max)", "CAST(REPLICATE(CAST('b' AS varchar(max)), 70000) AS varbinary(max))", b"b" * 70000, "0x", b""),
    ("c_text", "text", "'text'", "text", "''", ""),
    ("c_ntext", "ntext", "N'текст 😀'", "текст 😀", "N''", ""),
    ("c_image", "image", "0x00FF", b"\x00\xff", "0x", b""),
    ("c_xml", "xml", "N'<a b=\"1\">日</a>'", '<a b="1">日</a>', "N''", ""),
]
NAMES = ", ".join(kind[0] for kind in KINDS)


def script():
    """`dbo.kinds` with a row at either end and one of NULLs; `dbo.taken`, the same without rows."""
    columns = ", ".join(f"{name} {kind} NULL" for name, kind, *_ in KINDS)
    rows = [", ".join(str(kind[at]) for kind in KINDS) for at in (2, 4)]
    return (f"CREATE TABLE dbo.kinds (id int NOT NULL PRIMARY KEY, {columns});\nGO\nCREATE TABLE dbo.taken (id int NOT NULL PRIMARY KEY, {columns});\nGO\n"
            f"INSERT dbo.kinds VALUES (1, {rows[0]});\nINSERT dbo.kinds VALUES (2, {rows[1]});\nINSERT dbo.kinds (id) VALUES (3);\nGO\n")
