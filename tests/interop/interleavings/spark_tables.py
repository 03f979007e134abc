"""Tables with each feature that Spark writes: tidelake reads the rows Spark reads, older versions as DuckDB does, and appends and changes
rows, or refuses with the code that docs/errors.md has, and then nothing was written."""
import json
import os
import pathlib
import shutil

from engines import *  # noqa: F403
from lib import *  # noqa: F403

APPEND = "SELECT 900::INT AS id, 'came' AS name"
CHANGE = ("id = 2", "SELECT 901::INT AS id, 'came too' AS name")


def properties(**pairs):
    return "TBLPROPERTIES (" + ", ".join(f"'delta.{name}' = '{value}'" for name, value in pairs.items()) + ")"


class Case:
    """`steps` are statements, `{t}` the table; `settings` hold while they run. `append` and `change`: what tidelake writes then, or
    the code with which it refuses. `by_duckdb` is false where DuckDB's extension is wrong, or gives nested values otherwise;
    `warns` is what a warning of tidelake must say."""

    def __init__(self, *steps, append=APPEND, change=CHANGE, settings=(), features=(), by_duckdb=True, warns=("no warning",)):
        self.steps, self.append, self.change, self.settings, self.features = steps, append, change, dict(settings), set(features)
        self.by_duckdb, self.warns = by_duckdb, warns


def plain(create, *more, **options):
    """A table of ids and names: two commits, then `more`."""
    return Case(f"CREATE TABLE {{t}} (id INT, name STRING) USING delta {create}", "INSERT INTO {t} VALUES (1, 'one'), (2, 'two'), (3, NULL)",
                "INSERT INTO {t} SELECT CAST(id + 10 AS INT), concat('row ', id) FROM range(40)", *more, **options)


UPDATE, DELETE = "UPDATE {t} SET name = 'other' WHERE id % 7 = 1", "DELETE FROM {t} WHERE id % 5 = 0"
NESTED = """id INT, tags ARRAY<STRING>, place STRUCT<city: STRING, at: STRUCT<x: DOUBLE, seen: TIMESTAMP, paid: DECIMAL(20,4)>>, `by` MAP<STRING, ARRAY<INT>>,
    many ARRAY<STRUCT<d: DATE, b: BINARY>>, numbered MAP<INT, STRUCT<n: BIGINT>>"""
NESTED_ROWS = """INSERT INTO {t} SELECT 1, array('a', NULL, 'ö'), named_struct('city', 'Łódź', 'at', named_struct('x', 1.5D, 'seen', TIMESTAMP '2026-01-02 03:04:05.678901',
    'paid', CAST('1234567890123456.7890' AS DECIMAL(20,4)))), map('k', array(1, NULL), '', array()), array(named_struct('d', DATE '0001-01-01', 'b', X'00ff'), NULL),
    map(7, named_struct('n', 9223372036854775807))
    UNION ALL SELECT 2, NULL, NULL, NULL, NULL, NULL UNION ALL SELECT 3, array(), named_struct('city', NULL, 'at', NULL), map(), array(), map(1, NULL)"""

CASES = {
    "v2_checkpoints_in_parquet_with_sidecars": plain(
        properties(checkpointPolicy="v2", checkpointInterval="2", enableDeletionVectors="true"), DELETE, UPDATE, DELETE,
        settings={"spark.databricks.delta.checkpointV2.topLevelFileFormat": "parquet"}, features={"v2Checkpoint"}),
    "v2_checkpoints_in_json_with_sidecars": plain(
        properties(checkpointPolicy="v2", checkpointInterval="2"), UPDATE, DELETE, UPDATE,
        settings={"spark.databricks.delta.checkpointV2.topLevelFileFormat": "json"}, features={"v2Checkpoint"}),
    "classic_checkpoints_of_a_table_that_may_have_v2": plain(
        properties(checkpointInterval="2"), "ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.v2Checkpoint' = 'supported')", UPDATE, DELETE,
        features={"v2Checkpoint"}),
    "checkpoints_of_many_parts": plain(properties(checkpointInterval="2"), UPDATE, DELETE, UPDATE, settings={"spark.databricks.delta.checkpoint.partSize": "2"}),
    "statistics_as_columns_of_checkpoints_only": plain(
        properties(**{"checkpointInterval": "2", "checkpoint.writeStatsAsJson": "false", "checkpoint.writeStatsAsStruct": "true"}), UPDATE, DELETE,
        warns=("a checkpoint could not be written", "writeStatsAsStruct")),
    "deletion_vectors": plain(properties(enableDeletionVectors="true", checkpointInterval="3"), DELETE, UPDATE, "DELETE FROM {t} WHERE id = 1",
                              features={"deletionVectors"}),
    "columns_mapped_by_name": plain(
        properties(**{"columnMapping.mode": "name", "enableDeletionVectors": "true"}), "ALTER TABLE {t} ADD COLUMNS (`with blank, and more` INT)",
        "INSERT INTO {t} VALUES (70, 'seventy', 7)", "ALTER TABLE {t} RENAME COLUMN name TO label", "ALTER TABLE {t} DROP COLUMN `with blank, and more`",
        "ALTER TABLE {t} ADD COLUMNS (`with blank, and more` STRING)", "INSERT INTO {t} VALUES (71, 'seventy-one', 'again')", DELETE,
        append="SELECT 900::INT AS id, 'came' AS label, 'x' AS \"with blank, and more\"",
        change=("id = 2", "SELECT 901::INT AS id, 'came too' AS label, NULL::VARCHAR AS \"with blank, and more\""), features={"columnMapping"}),
    "columns_mapped_by_id": plain(properties(**{"columnMapping.mode": "id"}), UPDATE, append="DELTA-W07", change="DELTA-W07", features={"columnMapping"}),
    "widened_types": Case(
        "CREATE TABLE {t} (id INT, small SMALLINT, cost DECIMAL(6,2), ratio FLOAT, day DATE) USING delta " + properties(**{"enableTypeWidening": "true", "checkpointInterval": "3", "feature.timestampNtz": "supported"}),
        "INSERT INTO {t} VALUES (1, 32767, 1234.56, 0.1, DATE '2026-01-02'), (2, NULL, NULL, NULL, NULL), (3, -32768, -0.01, -1.5, DATE '1970-01-01')",
        "ALTER TABLE {t} ALTER COLUMN small TYPE INT", "ALTER TABLE {t} ALTER COLUMN cost TYPE DECIMAL(12,4)", "INSERT INTO {t} VALUES (4, 70000, 12345678.1234, 0.5, NULL)",
        "ALTER TABLE {t} ALTER COLUMN small TYPE BIGINT", "ALTER TABLE {t} ALTER COLUMN ratio TYPE DOUBLE", "ALTER TABLE {t} ALTER COLUMN day TYPE TIMESTAMP_NTZ",
        "INSERT INTO {t} VALUES (5, 5000000000, 1, 1e300, TIMESTAMP_NTZ '2026-01-02 03:04:05.678901')",
        append="SELECT 900::INT AS id, 7::BIGINT AS small", features={"typeWidening"},
        change=("id IN (1, 5)", "SELECT 901::INT AS id, -7::BIGINT AS small, 1.5::DECIMAL(12,4) AS cost, 0.1::DOUBLE AS ratio, TIMESTAMP '2026-01-02 03:04:05' AS day")),
    "in_commit_timestamps": plain(properties(enableInCommitTimestamps="true", checkpointInterval="2"), UPDATE, DELETE, features={"inCommitTimestamp"}),
    "in_commit_timestamps_switched_on_later": plain(
        "", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", UPDATE, features={"inCommitTimestamp"}),
    "row_tracking": plain(properties(enableRowTracking="true"), UPDATE, append="DELTA-W08", change="DELTA-W08", features={"rowTracking"}),
    "clustering": plain("CLUSTER BY (id)", "OPTIMIZE {t}", UPDATE, change="DELTA-P11", features={"clustering", "domainMetadata"}),
    "change_data_feed": plain(properties(enableChangeDataFeed="true"), UPDATE, DELETE, change="DELTA-W11", features={"changeDataFeed"}),
    "append_only": plain(properties(appendOnly="true"), change="DELTA-W01"),
    "check_constraints": plain("", "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0)", append="DELTA-W03", change="DELTA-W03", features={"checkConstraints"}),
    "generated_columns": Case(
        "CREATE TABLE {t} (id INT, twice BIGINT GENERATED ALWAYS AS (CAST(id AS BIGINT) * 2)) USING delta", "INSERT INTO {t} (id) VALUES (1), (2)",
        append="DELTA-W04", change="DELTA-W04", features={"generatedColumns"}),
    "identity_columns": Case(
        "CREATE TABLE {t} (number BIGINT GENERATED ALWAYS AS IDENTITY, id INT) USING delta", "INSERT INTO {t} (id) VALUES (1), (2)",
        append="DELTA-W05", change="DELTA-W05", features={"identityColumns"}),
    "column_defaults": Case(
        "CREATE TABLE {t} (id INT, name STRING DEFAULT 'none') USING delta " + properties(**{"feature.allowColumnDefaults": "supported"}),
        "INSERT INTO {t} (id) VALUES (1), (2)", append="DELTA-W06", change=CHANGE, features={"allowColumnDefaults"}),
    "partitions": Case(
        "CREATE TABLE {t} (id INT, s STRING, d DATE, at TIMESTAMP, n DECIMAL(10,2), b BOOLEAN) USING delta PARTITIONED BY (s, d, at, n, b)",
        "INSERT INTO {t} VALUES (1, 'a b/c=d%e:f', DATE '2026-01-02', TIMESTAMP '2026-01-02 03:04:05.678901', -1.50, true), (2, NULL, NULL, NULL, NULL, NULL), "
        "(3, 'Łódź 🚚 \\'quoted\\'', DATE '0001-01-01', TIMESTAMP '1969-12-31 23:59:59', 0, false), (4, '', DATE '9999-12-31', NULL, 99999999.99, true), (5, '#?&[*]', NULL, NULL, 1, NULL)",
        "DELETE FROM {t} WHERE id = 5", append="DELTA-W10", change="DELTA-W10"),
    "partitions_of_mapped_columns_with_deletion_vectors": Case(
        "CREATE TABLE {t} (id INT, `the part` INT, name STRING) USING delta PARTITIONED BY (`the part`) " + properties(**{"columnMapping.mode": "name", "enableDeletionVectors": "true"}),
        "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id % 3 AS INT), 'x' FROM range(20)", "ALTER TABLE {t} RENAME COLUMN `the part` TO part", "DELETE FROM {t} WHERE id % 4 = 1",
        "INSERT INTO {t} VALUES (100, NULL, NULL)", append="DELTA-W10", change="DELTA-W10", by_duckdb=False),
    "nested_values": Case(f"CREATE TABLE {{t}} ({NESTED}) USING delta", NESTED_ROWS, append="DELTA-S02", change="DELTA-S02", by_duckdb=False),
    "nested_values_of_mapped_columns": Case(
        f"CREATE TABLE {{t}} ({NESTED}) USING delta " + properties(**{"columnMapping.mode": "name"}), NESTED_ROWS,
        "ALTER TABLE {t} RENAME COLUMN place.city TO `the town`", "ALTER TABLE {t} RENAME COLUMN many.element.d TO `day, of it`", "ALTER TABLE {t} ADD COLUMNS (place.more INT)",
        "ALTER TABLE {t} RENAME COLUMN numbered.value.n TO m", append="DELTA-S02", change="DELTA-S02", by_duckdb=False),
    "nested_values_of_columns_mapped_by_id": Case(
        f"CREATE TABLE {{t}} ({NESTED}) USING delta " + properties(**{"columnMapping.mode": "id"}), NESTED_ROWS,
        "ALTER TABLE {t} RENAME COLUMN place.at.x TO y", append="DELTA-W07", change="DELTA-W07", by_duckdb=False),
    "times_in_the_old_form": Case(
        "CREATE TABLE {t} (id INT, at TIMESTAMP, local TIMESTAMP_NTZ) USING delta",
        "INSERT INTO {t} VALUES (1, TIMESTAMP '2026-01-02 03:04:05.678901', TIMESTAMP_NTZ '2026-01-02 03:04:05.678901'), (2, TIMESTAMP '1901-01-01 00:00:00.000001', NULL), "
        "(3, TIMESTAMP '2261-12-31 23:59:59.999999', TIMESTAMP_NTZ '9999-12-31 23:59:59.999999')",
        append="SELECT 900::INT AS id, TIMESTAMPTZ '2026-01-01 00:00:00.5+00' AS at", settings={"spark.sql.parquet.outputTimestampType": "INT96"},
        change=("id = 2", "SELECT 901::INT AS id, NULL::TIMESTAMPTZ AS at, TIMESTAMP '0001-01-01 00:00:00' AS local")),
    "texts_of_a_length": Case(
        "CREATE TABLE {t} (id INT, c CHAR(4), v VARCHAR(10)) USING delta", "INSERT INTO {t} VALUES (1, 'abcd', 'abc'), (2, NULL, NULL)",
        append="SELECT 900::INT AS id, 'came' AS c, 'x' AS v", change=("id = 2", "SELECT 901::INT AS id, 'cd  ' AS c, NULL::VARCHAR AS v")),  # Spark pads shorter ones
    "bytes_as_numbers": Case("CREATE TABLE {t} (id INT, b TINYINT) USING delta", "INSERT INTO {t} VALUES (1, 127), (2, -128), (3, NULL)", append="DELTA-S02", change="DELTA-S02"),
    "a_shallow_clone": Case(
        "CREATE TABLE {t}_source (id INT, name STRING) USING delta " + properties(enableDeletionVectors="true"), "INSERT INTO {t}_source VALUES (1, 'one'), (2, 'two'), (3, NULL)",
        "CREATE TABLE {t} SHALLOW CLONE {t}_source", "INSERT INTO {t} VALUES (4, 'four')", "DELETE FROM {t} WHERE id = 1", by_duckdb=False),
}


# Shown by other tests too, with other tables: only with INTEROP_ALL=1.
LONG = {"v2_checkpoints_in_json_with_sidecars", "classic_checkpoints_of_a_table_that_may_have_v2", "checkpoints_of_many_parts", "deletion_vectors", "columns_mapped_by_name",
        "columns_mapped_by_id", "widened_types", "in_commit_timestamps", "append_only", "check_constraints", "generated_columns", "identity_columns",
        "nested_values_of_columns_mapped_by_id", "texts_of_a_length", "bytes_as_numbers"}


def run_steps(path, case):
    spark = engines.spark
    kept = {key: spark.conf.get(key, None) for key in case.settings}
    try:
        for key, value in case.settings.items():
            spark.conf.set(key, value)
        for step in case.steps:
            text = step.replace("{t}_source", f"delta.`{path}_source`").replace("{t}", f"delta.`{path}`")
            spark.sql(text)
    finally:
        for key, value in kept.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)


def same_rows(path, what):
    want = spark_rows(path)
    equal(tidelake_rows(path), want, f"{what}: rows in tidelake and Spark")
    return want


def same_older_rows(path):
    for version in range(tidelake_version(path)):
        equal(tidelake_rows(path, version), duckdb_rows(path, version), f"version {version}: rows in tidelake and DuckDB")


def files_below(path):
    return sorted(str(file) for file in pathlib.Path(path).rglob("*") if not file.name.endswith(".crc"))


def write(path, case, what, arguments, wanted):
    """`wanted`: a code, or what tidelake is told to write."""
    before, there = tidelake_rows(path), files_below(path)
    done = delta_steps(what, path, *arguments, check=False)
    if isinstance(wanted, str) and wanted.startswith("DELTA-"):
        equal(done.returncode, 1, f"{what}: exit status {done.stderr}")
        holds(done.stderr, wanted)
        equal(files_below(path), there, f"{what} was refused: the files that are there")
        equal(tidelake_rows(path), before, f"{what} was refused: the rows")
        return
    equal(done.returncode, 0, f"{what}: {done.stderr}")
    for line in done.stderr.splitlines():
        holds(line, *case.warns)
    after = same_rows(path, f"after {what}")
    gone = 0 if what == "append" else sum(row["id"] in ((1, 5) if "IN" in arguments[0] else (2,)) for row in before)
    equal(len(after), len(before) + 1 - gone, f"rows after {what}")
    equal(sum(row["id"] == (900 if what == "append" else 901) for row in after), 1, f"the row that came by {what}")


def features_of(path):
    found = set()
    for commit in sorted(pathlib.Path(path, "_delta_log").glob("*.json")):
        for line in commit.read_text(encoding="utf-8").splitlines():
            found |= set(json.loads(line).get("protocol", {}).get("writerFeatures", ()))
    return found


def check_case(folder, case):
    path = str(folder / "t")
    run_steps(path, case)
    for feature in case.features - {"columnMapping", "checkConstraints", "generatedColumns", "changeDataFeed", "identityColumns"}:  # also by old versions
        equal(feature in features_of(path), True, f"the protocol has {feature}")
    same_rows(path, "as Spark left it")
    if case.by_duckdb:
        same_older_rows(path)
    append = case.append if not case.append.startswith("DELTA-") else APPEND
    change = case.change if isinstance(case.change, tuple) else ("id = 2", APPEND)
    if case.append.startswith("DELTA-") and case.append != "DELTA-W06":  # the columns do not matter: the table is refused first
        append = "SELECT 900::INT AS id"
        change = ("id = 2", append)
    if case.append == "DELTA-W06":
        append = "SELECT 900::INT AS id"
    write(path, case, "append", (append,), case.append)
    write(path, case, "change", change, case.change if isinstance(case.change, str) else change)
    if isinstance(case.change, tuple):
        engines.spark.sql(f"INSERT INTO delta.`{path}` (id) VALUES (902)")  # and Spark goes on
        equal(sum(row["id"] == 902 for row in same_rows(path, "after Spark went on")), 1, "the row that Spark brought")


def define(name, case):
    def spark_table(folder):
        check_case(folder, case)
    spark_table.__name__ = f"a_table_of_spark_with_{name}"
    test(spark_table)


equal(LONG - set(CASES), set(), "cases that are not there")
for each in CASES.items():
    if each[0] not in LONG or os.environ.get("INTEROP_ALL"):
        define(*each)


@test
def a_variant_is_refused(folder):
    path = str(folder / "t")
    engines.spark.sql(f"CREATE TABLE delta.`{path}` (id INT, v VARIANT) USING delta")
    for arguments in (("cat", path), ("sql", path, "SELECT id FROM t")):
        done = tidelake("table", *arguments)
        equal(done.code, 1, "exit status")
        holds(done.last_error(), "DELTA-P10", "variantType")


@test
def a_remove_by_the_uri_of_its_file_removes_it_as_in_spark(folder):
    path, log = folder / "t", folder / "t/_delta_log"
    engines.spark.range(0, 4, 1, 2).write.format("delta").save(str(path))
    commit = log / f"{0:020}.json"
    lines = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
    adds = [line["add"] for line in lines if "add" in line]
    equal(len(adds), 2, "files")
    for add in adds:
        shutil.move(path / add["path"], folder / add["path"])
        add["path"] = f"{folder}/{add['path']}"
    commit.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (log / f"{1:020}.json").write_text(json.dumps({"remove": {"path": "file://" + adds[0]["path"], "deletionTimestamp": 1, "dataChange": True}}) + "\n", encoding="utf-8")
    for other in log.glob(".*.crc"):
        other.unlink()
    for other in log.glob("*.crc"):
        other.unlink()
    engines.spark.catalog.clearCache()
    equal(len(same_rows(str(path), "a remove by a URI")), 2, "rows left")
