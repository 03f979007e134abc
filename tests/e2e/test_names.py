#!/usr/bin/env python3
"""Columns with names that Delta refuses without column mapping, from the source to silver; and names that no table may have."""
import contextlib

from lib import *

# Key, payload and what else people call columns: each character that asks for mapping, quotes, brackets, dots, an emoji, a
# reserved word, a name of a virtual column of the query engine, one of 128 characters.
LONG = "n" * 127 + "é"
NAMES = ["Order Id", "a,b;c", "{x} (y)", "k=v", "back\\slash", "per % cent", "na[me] \"q\" 'a' `b`", "dot.ted", "Größe 😀", "select", "filename", LONG]


def bracket(name):
    return "[" + name.replace("]", "]]") + "]"


def double(name):
    return '"' + name.replace('"', '""') + '"'


COLUMNS = ", ".join(f"{bracket(name)} int NOT NULL" if i == 0 else f"{bracket(name)} nvarchar(30) NULL" for i, name in enumerate(NAMES))
ODD = f"""
CREATE TABLE dbo.odd ({COLUMNS}, CONSTRAINT pk PRIMARY KEY ({bracket(NAMES[0])}));
INSERT INTO dbo.odd VALUES {", ".join("(" + str(row) + "".join(f", N'{row}·{i}'" for i in range(1, len(NAMES))) + ")" for row in range(1, 6))};
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'odd', @role_name = NULL;
GO
"""


@contextlib.contextmanager
def lake_of(folder, setup, database="shop"):
    server = Server(folder, "--capture-interval", "manual", database=database)
    try:
        server.sql(setup)
        server.scan()
        yield Lake(folder / "lake", server), server
    finally:
        server.close()


# Of a folder; the path of a table holds the same, but no slash within a name.
TABLE = "odd [x] {y} 'q' \"d\", 😀 %20 #1 = ?"


def rows_of(lake, table, where="true"):
    columns = ", ".join(double(name) for name in NAMES)
    return lake.query(table, f"SELECT {columns} FROM t WHERE {where} ORDER BY 1, 2")


def row(number, **changed):
    return [number] + [changed.get(f"c{i}", f"{number}·{i}") for i in range(1, len(NAMES))]


@test
def odd_names_go_from_the_source_to_silver(folder):
    with lake_of(folder, ODD) as (lake, server):
        lake.stream("dbo_odd", TABLE, check=True)
        lake.apply("dbo_odd", TABLE, check=True)
        equal(rows_of(lake, f"silver/{TABLE}"), [row(number) for number in range(1, 6)], "silver after the snapshot")

        server.sql(f"""
UPDATE dbo.odd SET {bracket(NAMES[1])} = N'new', {bracket(NAMES[5])} = NULL WHERE {bracket(NAMES[0])} = 2;
UPDATE dbo.odd SET {bracket(NAMES[0])} = 33 WHERE {bracket(NAMES[0])} = 3;
DELETE dbo.odd WHERE {bracket(NAMES[0])} = 4;
INSERT INTO dbo.odd ({bracket(NAMES[0])}, {bracket(NAMES[8])}) VALUES (7, N'seven');
""")
        server.scan()
        lake.stream("dbo_odd", TABLE, check=True)
        lake.apply("dbo_odd", TABLE, check=True)
        seven = [7] + [None] * (len(NAMES) - 1)
        seven[8] = "seven"
        want = [row(1), row(2, c1="new", c5=None), row(5), seven, [33] + row(3)[1:]]
        equal(rows_of(lake, f"silver/{TABLE}"), want, "silver after changes")
        equal(lake.query(f"bronze/{TABLE}", f"SELECT _operation, count(*) FROM t GROUP BY 1 ORDER BY 1"), [[0, 5], [1, 2], [2, 2], [3, 1], [4, 1]], "bronze")
        
        # A file whose keys are far off was not rewritten: statistics are found under the stored names.
        for table in (f"bronze/{TABLE}", f"silver/{TABLE}"):
            actions = [action for _, commit in lake.log(table) for action in commit]
            metadata = [action["metaData"] for action in actions if "metaData" in action][0]
            equal(metadata["configuration"]["delta.columnMapping.mode"], "name", table)
            fields = json.loads(metadata["schemaString"])["fields"]
            equal(metadata["configuration"]["delta.columnMapping.maxColumnId"], str(len(fields)), table)
            physical = {field["metadata"]["delta.columnMapping.physicalName"] for field in fields}
            equal([field["name"] for field in fields if field["name"] in NAMES], NAMES, table)
            for action in actions:
                if "add" in action:
                    equal(set(json.loads(action["add"]["stats"])["nullCount"]) <= physical, True, "statistics have stored names")
        shown = tidelake("table", "schema", str(lake.folder / f"silver/{TABLE}"), "--json", check=True).json()["rows"]
        equal([column[0] for column in shown][:len(NAMES)], NAMES, "table schema")


KEYS = """
CREATE TABLE dbo.t ([a, b] int NOT NULL, [x]]y "z"] int NOT NULL, v nvarchar(9) NULL, CONSTRAINT pk PRIMARY KEY ([a, b], [x]]y "z"]));
INSERT INTO dbo.t VALUES (1, 1, N'a'), (1, 2, N'b'), (2, 1, N'c');
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL;
GO
"""


@test
def keys_with_commas_brackets_and_quotes_find_their_rows(folder):
    with lake_of(folder, KEYS) as (lake, server):
        lake.stream("dbo_t", "t", check=True)
        lake.apply("dbo_t", "t", check=True)
        server.sql("UPDATE dbo.t SET v = N'B' WHERE [x]]y \"z\"] = 2; DELETE dbo.t WHERE [a, b] = 2; INSERT INTO dbo.t VALUES (3, 3, N'd');")
        server.scan()
        lake.stream("dbo_t", "t", check=True)
        lake.apply("dbo_t", "t", check=True)
        want = [[1, 1, "a"], [1, 2, "B"], [3, 3, "d"]]
        equal(lake.query("silver/t", 'SELECT "a, b", "x]y ""z""", v FROM t ORDER BY 1, 2'), want, "silver")
        for table in ("bronze/t", "silver/t"):
            before = lake.query(table, "SELECT * FROM t ORDER BY ALL")
            tidelake("table", "optimize", str(lake.folder / table), check=True)
            tidelake("table", "checkpoint", str(lake.folder / table), check=True)
            equal(lake.query(table, "SELECT * FROM t ORDER BY ALL"), before, f"{table}, compacted")
        equal(len(lake.query("bronze/t", "SELECT DISTINCT 1 FROM t WHERE _operation IN (1, 4)")), 1, "changes of bronze")


TWO = """
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, [%s] int NULL, [%s] int NULL);
INSERT INTO dbo.t VALUES (1, 2, 3);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL;
GO
"""


def refused_untouched(lake, code, *parts):
    result = lake.stream("dbo_t", "t")
    equal(result.code, code, result.stderr[-2000:])
    holds(result.last_error(), *parts)
    left_over = [str(path) for path in lake.folder.rglob("*") if path.is_file()] if lake.folder.exists() else []
    equal(left_over, [], "files of the lake")


# These letters of Deseret have a case, which collations without supplementary characters do not know, and Delta does.
@test
def names_that_differ_in_case_alone_are_refused_before_anything_is_written(folder):
    with lake_of(folder, TWO % ("a \U00010400", "a \U00010428")) as (lake, _):
        refused_untouched(lake, 1, "the column name a \U00010428 occurs twice, ignoring case, which Delta forbids")
        lake.stream("dbo_t", "t", "--columns", "id INT, `a \U00010400` INT", check=True)
        equal(lake.query("bronze/t", 'SELECT id, "a \U00010400" FROM t'), [[1, 2]], "with one of them left out")


@test
def a_name_with_a_control_character_is_refused_before_anything_is_written(folder):
    with lake_of(folder, TWO % ("a", "tab\there")) as (lake, _):
        refused_untouched(lake, 1, "a column of dbo_t has a name that is not read, an identifier holds a control character: list the others in `columns`")
        lake.stream("dbo_t", "t", "--columns", "id INT, a INT", check=True)
        equal(lake.query("bronze/t", "SELECT id, a FROM t"), [[1, 2]], "with it left out")


if __name__ == "__main__":
    main()
