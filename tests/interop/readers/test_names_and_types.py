"""Columns with names that Delta refuses without column mapping, types that grow, in-commit timestamps: ours are read and written on by
others, theirs by us.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import *  # noqa: E402,F403

import deltalake

from three import Duck, Spark, canonical_rows, query_builder_rows

WHOLE = bool(os.environ.get("INTEROP_ALL"))  # Spark takes seconds for every step
NAMES = ["Order Id", "a,b;c", "{x} (y)", "k=v", "na[me] \"q\" 'a' `b`", "dot.ted", "Größe 😀", "select"]


def bracket(name):
    return "[" + name.replace("]", "]]") + "]"


def tick(name):
    return "`" + name.replace("`", "``") + "`"


COLUMNS = ", ".join(f"{bracket(name)} int NOT NULL" if i == 0 else f"{bracket(name)} nvarchar(30) NULL" for i, name in enumerate(NAMES))
SETUP = f"""
CREATE TABLE dbo.odd ({COLUMNS}, CONSTRAINT pk_odd PRIMARY KEY ({bracket(NAMES[0])}));
INSERT INTO dbo.odd VALUES {", ".join("(" + str(row) + "".join(f", N'{row}·{i}'" for i in range(1, len(NAMES))) + ")" for row in range(1, 6))};
CREATE TABLE dbo.sums (id int NOT NULL PRIMARY KEY, small smallint NULL, whole int NULL, real_ real NULL, amount decimal(9,2) NULL, day date NULL);
INSERT INTO dbo.sums VALUES (1, 32767, 2147483647, 0.1, 1234567.89, '2026-01-02'), (2, NULL, NULL, NULL, NULL, NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'odd', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'sums', @role_name = NULL;
GO
"""


def own_rows(path):
    """tidelake's rows in the readers' form, values as text."""
    answer = json.loads(tidelake("table", "cat", str(path), "--json", check=True).stdout)
    return canonical_rows(answer["columns"], [tuple(row) for row in answer["rows"]])


def as_text(rows):
    """Numbers, names and NULLs, whatever type a reader gives them."""
    return sorted([[None if value is None else str(value) for value in row] for row in rows], key=repr)


def spark_text(spark, path, columns):
    """Rows as Spark's own casts to text have them."""
    frame = spark.session.read.format("delta").load(str(path))
    return as_text(tuple(row) for row in frame.selectExpr(*[f"CAST({tick(name)} AS STRING)" for name in columns]).collect())


def own_text(path, columns):
    text = ", ".join('CAST("' + name.replace('"', '""') + '" AS VARCHAR)' for name in columns)
    return as_text(json.loads(tidelake("table", "sql", str(path), f"SELECT {text} FROM t", "--json", check=True).stdout)["rows"])


def mapped_tables_go_back_and_forth(lake, server, spark, duck):
    lake.stream("dbo_odd", "odd", check=True)
    lake.apply("dbo_odd", "odd", check=True)
    for step in range(2):
        for table in ("bronze/odd", "silver/odd"):
            path = str(lake.folder / table)
            rows = spark.rows(path)
            equal(duck.rows(path), rows, f"{table} in DuckDB and Spark, step {step}")
            equal(query_builder_rows(path), rows, f"{table} in deltalake and Spark, step {step}")
            equal(own_text(path, NAMES), spark_text(spark, path, NAMES), f"{table} here and in Spark, step {step}")
        if step == 1:
            break
        # Spark appends and compacts; then we go on
        spark.session.sql(f"INSERT INTO delta.`{lake.folder}/bronze/odd` SELECT * FROM delta.`{lake.folder}/bronze/odd` WHERE _operation = 9")
        spark.session.sql(f"OPTIMIZE delta.`{lake.folder}/silver/odd`")
        server.sql(f"UPDATE dbo.odd SET {bracket(NAMES[1])} = N'new' WHERE {bracket(NAMES[0])} = 2; DELETE dbo.odd WHERE {bracket(NAMES[0])} = 3; "
                   f"INSERT INTO dbo.odd ({bracket(NAMES[0])}, {bracket(NAMES[6])}) VALUES (9, N'nine');")
        server.scan()
        lake.stream("dbo_odd", "odd", check=True)
        lake.apply("dbo_odd", "odd", check=True)
    equal(lake.compare("odd").returncode, 0, "silver and the source")


def their_mapped_tables_are_read(folder, spark):
    session = spark.session
    for mode in ("name", "id") if WHOLE else ("id",):
        path = folder / f"by_{mode}"
        session.sql(f"CREATE TABLE delta.`{path}` (id INT, `the text` STRING, gone INT, s STRUCT<`in ner`: INT, other: ARRAY<STRUCT<x: INT>>>, part DATE) USING delta "
                    f"PARTITIONED BY (part) TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')")
        session.sql(f"INSERT INTO delta.`{path}` VALUES (1, 'a', 7, named_struct('in ner', 5, 'other', array(named_struct('x', 1))), DATE'2026-01-02'), (2, 'b', 8, NULL, NULL)")
        session.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN `the text` TO `text, renamed`")
        session.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN s.`in ner` TO inner")
        session.sql(f"ALTER TABLE delta.`{path}` DROP COLUMN gone")
        session.sql(f"ALTER TABLE delta.`{path}` ADD COLUMN (gone STRING)")
        session.sql(f"INSERT INTO delta.`{path}` (id, `text, renamed`, s, part, gone) VALUES (3, 'c', named_struct('inner', 6, 'other', NULL), DATE'2026-01-03', 'new')")
        got = json.loads(tidelake("table", "sql", str(path), 'SELECT id, "text, renamed", s."inner", s.other[1].x, part::VARCHAR, gone FROM t ORDER BY id', "--json", check=True).stdout)["rows"]
        equal(got, [[1, "a", 5, 1, "2026-01-02", None], [2, "b", None, None, None, None], [3, "c", 6, None, "2026-01-03", "new"]], f"mode {mode}")


def types_grow_in_bronze(lake, server, spark, duck):
    """Spark's owner allows it, the stream widens, everybody reads; silver stays as it was."""
    columns = ["id", "small", "whole", "real_", "amount", "day"]
    lake.stream("dbo_sums", "sums", check=True)
    lake.apply("dbo_sums", "sums", check=True)
    path, wider = lake.folder / "bronze/sums", ("--columns", "id INT, small INT, whole BIGINT, real_ DOUBLE, amount DECIMAL(12,4), day TIMESTAMP_NTZ")
    server.sql("INSERT INTO dbo.sums VALUES (3, 1, 2, 0.5, 3.25, '0001-01-01');")
    server.scan()
    refused = lake.stream("dbo_sums", "sums", *wider)
    equal(refused.code, 4, refused.stderr[-1000:])
    statement = refused.last_error().split("the owner has to run: ")[1]
    spark.session.sql(statement.replace("delta.`", "delta.`" if statement.startswith("ALTER TABLE delta.`/") else f"delta.`{lake.folder}/"))
    lake.stream("dbo_sums", "sums", *wider, check=True)
    equal([t for n, t, _, _ in spark.schema(str(path)) if n in columns], ["int", "int", "bigint", "double", "decimal(12,4)", "timestamp_ntz"], "types in Spark")
    equal(duck.rows(str(path)), spark.rows(str(path)), "bronze in DuckDB and Spark")
    text = spark_text(spark, path, ["id", "small", "whole", "amount"])
    equal(own_text(path, ["id", "small", "whole", "amount"]), text, "bronze here and in Spark")
    equal(len(text), 3, "rows of bronze")
    # Spark writes on, and a checkpoint of either is good for both
    spark.session.sql(f"INSERT INTO delta.`{path}` SELECT * FROM delta.`{path}` WHERE id = 99")
    lake.apply("dbo_sums", "sums", check=True)
    equal([t for n, t, _, _ in spark.schema(str(lake.folder / "silver/sums")) if n in columns],
          ["int", "smallint", "int", "float", "decimal(9,2)", "date"], "silver's types stay")
    equal(len(spark.rows(str(lake.folder / "silver/sums"))), 3, "rows of silver")


def their_widened_types_are_read(folder, spark):
    """Every pair that Spark alters, rows before and after."""
    pairs = [("TINYINT", "SMALLINT", 127), ("TINYINT", "INT", -128), ("TINYINT", "BIGINT", 5), ("SMALLINT", "INT", 32767), ("SMALLINT", "BIGINT", -32768),
             ("INT", "BIGINT", 2147483647), ("FLOAT", "DOUBLE", 0.25), ("TINYINT", "DOUBLE", 3), ("SMALLINT", "DOUBLE", 4), ("INT", "DOUBLE", 2147483647),
             ("DECIMAL(5,2)", "DECIMAL(7,4)", 999.99), ("TINYINT", "DECIMAL(10,0)", 127), ("SMALLINT", "DECIMAL(12,2)", -5), ("INT", "DECIMAL(10,0)", 2147483647),
             ("BIGINT", "DECIMAL(20,0)", 9223372036854775807)]
    path = folder / "widened"
    session = spark.session
    session.sql(f"CREATE TABLE delta.`{path}` (id INT, {', '.join(f'c{i} {pair[0]}' for i, pair in enumerate(pairs))}, c_day DATE) USING delta "
                "TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported')")
    values = ", ".join(f"CAST({pair[2]} AS {pair[0]})" for pair in pairs)
    session.sql(f"INSERT INTO delta.`{path}` SELECT 1, {values}, DATE'2026-01-02'")
    session.sql(f"ALTER TABLE delta.`{path}` ALTER COLUMN {', '.join(f'c{i} TYPE {pair[1]}' for i, pair in enumerate(pairs))}, c_day TYPE TIMESTAMP_NTZ")
    session.sql(f"INSERT INTO delta.`{path}` SELECT 2, {', '.join('7' for _ in pairs)}, TIMESTAMP_NTZ'2026-01-02 03:04:05.678901'")
    numbers = ", ".join(f"c{i}" for i in range(len(pairs)))
    want = [[None if v is None else float(v) for v in row] for row in session.sql(f"SELECT {numbers} FROM delta.`{path}` ORDER BY id").collect()]
    got = json.loads(tidelake("table", "sql", str(path), f"SELECT {numbers} FROM t ORDER BY id", "--json", check=True).stdout)["rows"]
    equal([[float(v) for v in row] for row in got], want, "numbers of every pair")
    got = json.loads(tidelake("table", "sql", str(path), "SELECT c_day::VARCHAR FROM t ORDER BY id", "--json", check=True).stdout)["rows"]
    equal(got, [["2026-01-02 00:00:00"], ["2026-01-02 03:04:05.678901"]], "days that became times")


def in_commit_times_are_kept_by_both(lake, server, spark):
    path = lake.folder / "bronze/sums"
    spark.session.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')")
    enabled = max(version for version, _ in lake.log("bronze/sums"))
    for number in range(3):
        server.sql(f"INSERT INTO dbo.sums (id, whole) VALUES ({100 + number}, {number});")
        server.scan()
        lake.stream("dbo_sums", "sums", check=True)
        spark.session.sql(f"INSERT INTO delta.`{path}` SELECT * FROM delta.`{path}` WHERE id = {100 + number}")
    times = []
    for version, actions in lake.log("bronze/sums"):
        if version < enabled:
            continue
        equal("commitInfo" in actions[0], True, f"commitInfo is first in version {version}")
        times.append(actions[0]["commitInfo"]["inCommitTimestamp"])
    equal(times, sorted(set(times)), "in-commit timestamps grow")
    equal(len(times), 7, "commits from the enabling one on")
    equal(spark.session.sql(f"SELECT count(*) FROM delta.`{path}` WHERE id >= 100").collect()[0][0], 6, "rows of both writers")


@test
def names_and_types_mean_the_same_to_all(folder):
    spark, duck = Spark(), Duck()
    server = Server(folder, "--capture-interval", "manual")
    try:
        server.sql(SETUP)
        server.scan()
        lake = Lake(folder / "lake", server)
        mapped_tables_go_back_and_forth(lake, server, spark, duck)
        their_mapped_tables_are_read(folder, spark)
        types_grow_in_bronze(lake, server, spark, duck)
        their_widened_types_are_read(folder, spark)
        if WHOLE:
            in_commit_times_are_kept_by_both(lake, server, spark)
    finally:
        server.close()
        spark.session.stop()


if __name__ == "__main__":
    main()
