"""What ODBC's catalogue functions say of a tidesim of their own, through pyodbc with both drivers and through mssql-python; what they ask about
parameters; results that describe themselves.

Prints TAP. Arguments choose clients and cases:

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_metadata.py [CLIENT...] [CASE...]
"""
import decimal
import sys

import values
from clients import EVERY, MssqlPython, PyodbcFreetds, PyodbcMicrosoft, main, only

SCRIPT = values.script() + """CREATE TABLE dbo.parents (a int NOT NULL, b nvarchar(10) NOT NULL, CONSTRAINT pk_parents PRIMARY KEY (a, b));
CREATE TABLE dbo.children (id bigint IDENTITY(10, 5) NOT NULL CONSTRAINT pk_children PRIMARY KEY NONCLUSTERED, a int NULL, b nvarchar(10) NULL, price money
  NOT NULL CONSTRAINT df_price DEFAULT (9.5), twice AS price * 2, version rowversion, CONSTRAINT fk_parents FOREIGN KEY (a, b) REFERENCES dbo.parents (a, b));
CREATE UNIQUE INDEX ux_children ON dbo.children (price DESC, id);
CREATE TABLE dbo.[odd name%_] ([a ' b] int);
EXEC ('CREATE VIEW dbo.seen AS SELECT id, price FROM dbo.children');
EXEC ('CREATE PROCEDURE dbo.made @a int, @b nvarchar(20) = NULL, @c decimal(9,3) OUTPUT AS SET @c = @a; SELECT @a AS a, @b AS b; RETURN 7');
GO
"""
CATALOGUE = (PyodbcFreetds, PyodbcMicrosoft, MssqlPython)


def listed(case, function, **arguments):
    """The rows of a catalogue function, which pyodbc leaves in the cursor."""
    cursor = case.connection.cursor()
    rows = getattr(cursor, function)(**arguments)
    return [tuple(row) for row in (rows if isinstance(rows, list) else rows.fetchall())]


@only(*CATALOGUE)
def tables_are_listed_by_name_schema_and_type(case):
    assert ("shop", "dbo", "children", "TABLE", None) in listed(case, "tables")
    assert listed(case, "tables", table="seen") == [("shop", "dbo", "seen", "VIEW", None)]
    assert [row[2] for row in listed(case, "tables", table="%r%n%", schema="dbo", tableType="TABLE")] == ["children", "parents"]
    assert [row[2] for row in listed(case, "tables", schema="dbo", tableType="VIEW")] == ["seen"]
    assert listed(case, "tables", table="nothing") == []
    assert "TABLE" in {row[3] for row in listed(case, "tables", table="odd%")}


@only(*CATALOGUE)
def columns_have_type_size_default_and_place(case):
    rows = listed(case, "columns", table="children")
    assert [row[3] for row in rows] == ["id", "a", "b", "price", "twice", "version"]
    assert [row[5] for row in rows] == ["bigint identity", "int", "nvarchar", "money", "money", "timestamp"], rows
    assert [row[10] for row in rows][:4] == [0, 1, 1, 0]  # may be NULL
    assert rows[3][12] == "((9.5))" and rows[2][6:8] == (10, 20), rows
    assert [row[16] for row in rows] == [1, 2, 3, 4, 5, 6]
    kinds = {row[3]: row for row in listed(case, "columns", table="kinds")}
    assert len(kinds) == len(values.KINDS) + 1
    for name, kind, *_ in values.KINDS:
        want = {"float": "float", "decimal(38,10)": "decimal"}.get(kind, kind.split("(")[0].split(" ")[0])
        assert kinds[name][5] == want, (name, kinds[name])
    assert kinds["c_dec"][6:9] == (38, 40, 10) and kinds["c_dt2"][6:9] == (26, 16, 6) and kinds["c_vmax"][6] == 0, kinds["c_dec"]


@only(*CATALOGUE)
def keys_and_indexes_are_listed_in_order(case):
    assert [row[3:6] for row in listed(case, "primaryKeys", table="parents")] == [("a", 1, "pk_parents"), ("b", 2, "pk_parents")]
    found = listed(case, "foreignKeys", **{"table" if type(case.client) is MssqlPython else "foreignTable": "children"})  # it swaps the two
    assert [(row[2], row[3], row[6], row[7], row[8]) for row in found] == [("parents", "a", "children", "a", 1), ("parents", "b", "children", "b", 2)], found
    found = [row for row in listed(case, "statistics", table="children") if row[6] != 0]
    assert [(row[3], row[5], row[7], row[8], row[9]) for row in found] == [
        (0, "pk_children", 1, "id", "A"), (0, "ux_children", 1, "price", "D"), (0, "ux_children", 2, "id", "A")], found
    assert [row[1] for row in listed(case, "rowVerColumns", table="children")] == ["version"]


@only(PyodbcFreetds, MssqlPython)  # with Microsoft's driver pyodbc asks for a table of another name
def the_columns_that_make_a_row_unique_are_told(case):
    assert [row[1] for row in listed(case, "rowIdColumns", table="parents")] == ["a", "b"]


@only(*CATALOGUE)
def every_type_is_listed_with_what_it_takes(case):
    types = {row[0]: row for row in listed(case, "getTypeInfo")}
    assert {"bigint", "binary", "bit", "char", "date", "datetime", "datetime2", "datetimeoffset", "decimal", "float", "image", "int", "money", "nchar", "ntext",
            "numeric", "nvarchar", "real", "smalldatetime", "smallint", "smallmoney", "sql_variant", "text", "time", "timestamp", "tinyint",
            "uniqueidentifier", "varbinary", "varchar", "xml"} <= set(types)
    assert types["nvarchar"][1:5] == (-9, 4000, "N'", "'"), types["nvarchar"]
    assert types["decimal"][5] == "precision,scale" and types["int identity"][11] == 1


@only(*CATALOGUE)
def procedures_are_listed_and_called(case):
    assert [row[2].split(";")[0] for row in listed(case, "procedures", procedure="made")] == ["made"]
    assert case.rows("{CALL dbo.made ($, $, NULL)}", 5, "x") == [(5, "x")]


def a_result_describes_its_columns(case):
    case.run("SELECT id, price, b FROM dbo.children WHERE 1 = 0")
    assert [column[0] for column in case.cursor.description] == ["id", "price", "b"]
    assert len(case.cursor.fetchall()) == 0


@only(PyodbcFreetds, PyodbcMicrosoft, MssqlPython)
def a_null_takes_the_type_that_the_statement_wants(case):
    """Drivers ask what a parameter is (SQLDescribeParam) before they send a NULL: text is no binary."""
    case.run("CREATE TABLE dbo.wants (b varbinary(10), i int, x xml, g uniqueidentifier, d datetime2(3), m varbinary(max))")
    case.run("INSERT dbo.wants VALUES ($, $, $, $, $, $)", None, None, None, None, None, None)
    assert case.rows("SELECT * FROM dbo.wants WHERE i IS NULL AND (i = $ OR b IS NULL)", None) == [(None,) * 6]
    case.run("DROP TABLE dbo.wants")


@only(PyodbcFreetds, PyodbcMicrosoft, MssqlPython)
def sizes_may_be_told_beforehand(case):
    import pyodbc

    sizes = [(pyodbc.SQL_INTEGER, 0, 0), (pyodbc.SQL_WVARCHAR, 20, 0), (pyodbc.SQL_DECIMAL, 18, 4)]
    case.cursor.setinputsizes(sizes)
    row, = case.rows("SELECT $, $, $", 5, "日本", decimal.Decimal("1.5"))
    assert row == (5, "日本", decimal.Decimal("1.5000")), row


CASES = [tables_are_listed_by_name_schema_and_type, columns_have_type_size_default_and_place, keys_and_indexes_are_listed_in_order,
         the_columns_that_make_a_row_unique_are_told, every_type_is_listed_with_what_it_takes, procedures_are_listed_and_called,
         a_result_describes_its_columns, a_null_takes_the_type_that_the_statement_wants, sizes_may_be_told_beforehand]

if __name__ == "__main__":
    sys.exit(main(CASES, EVERY, SCRIPT))
