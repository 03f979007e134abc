"""The engines that read and write a Delta table in these tests, each by its own code: Spark, deltalake, DuckDB, tidelake."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "readers"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import BUILD, tidelake  # noqa: E402
from spark_session import open_session  # noqa: E402

import deltalake  # noqa: E402
import duckdb  # noqa: E402
import duckdb_extension_delta  # noqa: E402

STEPS = str(BUILD / "tests" / "unit" / "delta" / "delta_steps")


class Engines:
    """One Spark session and one DuckDB for all tests: they take seconds to start."""

    def __init__(self):
        self._spark = self._duckdb = None

    @property
    def spark(self):
        if self._spark is None:
            self._spark = open_session()
            for key, value in (("spark.databricks.delta.retentionDurationCheck.enabled", "false"),
                               ("spark.databricks.delta.snapshotPartitions", "1"), ("spark.sql.shuffle.partitions", "1"),
                               ("spark.sql.adaptive.enabled", "false"), ("spark.sql.codegen.wholeStage", "false"),
                               ("spark.sql.codegen.factoryMode", "NO_CODEGEN"),  # compiling takes longer than these rows do
                               ("spark.sql.sources.parallelPartitionDiscovery.parallelism", "2")):
                self._spark.conf.set(key, value)
        return self._spark

    @property
    def duckdb(self):
        if self._duckdb is None:
            self._duckdb = duckdb.connect()
            folder = os.path.dirname(duckdb_extension_delta.__file__)
            self._duckdb.execute(f"LOAD '{folder}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")
            self._duckdb.execute("SET timezone='UTC'")
        return self._duckdb

    def close(self):
        if self._spark is not None:
            self._spark.stop()


engines = Engines()


# --- rows, as a list of dictionaries in one form ---

def canonical(value):
    """Text as `--json` has it: plain decimals, ISO times with microseconds, hex; nested values as they are."""
    import datetime
    import decimal
    import math
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "0x" + bytes(value).hex()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "asDict"):
        return {name: canonical(item) for name, item in value.asDict().items()}
    if isinstance(value, dict):
        return {key if isinstance(key, str) else json.dumps(canonical(key)): canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    return value


def in_order(rows):
    return sorted(({name: canonical(value) for name, value in row.items()} for row in rows), key=lambda row: json.dumps(row, sort_keys=True))


def with_zone(value, kind):
    """collect() drops the zone of an instant, which is UTC in this process (TZ=UTC); it is put back."""
    import datetime
    name = kind.typeName()
    if value is None:
        return None
    if name == "timestamp":
        return value.replace(tzinfo=datetime.timezone.utc)
    if name == "array":
        return [with_zone(item, kind.elementType) for item in value]
    if name == "map":
        return {with_zone(key, kind.keyType): with_zone(item, kind.valueType) for key, item in value.items()}
    if name == "struct":
        return {field.name: with_zone(value[field.name], field.dataType) for field in kind.fields}
    return value


def spark_rows(path, version=None):
    reader = engines.spark.read.format("delta")
    frame = (reader if version is None else reader.option("versionAsOf", version)).load(path)
    return in_order([with_zone(row, frame.schema) for row in frame.collect()])


def deltalake_rows(path, version=None):
    """By the reader that takes deletion vectors and mapped columns too."""
    table = deltalake.DeltaTable(path, version=version)
    return in_order(__import__("pyarrow").table(deltalake.QueryBuilder().register("t", table).execute("SELECT * FROM t").read_all()).to_pylist())


def duckdb_rows(path, version=None):
    at = "" if version is None else f", version={version}"
    return in_order(engines.duckdb.execute(f"SELECT * FROM delta_scan('{path}'{at})").fetch_arrow_table().to_pylist())


def tidelake_rows(path, version=None):
    at = () if version is None else ("--version", str(version))
    answer = json.loads(tidelake("table", "cat", path, "--json", *at, check=True).stdout)
    return sorted((dict(zip(answer["columns"], row)) for row in answer["rows"]), key=lambda row: json.dumps(row, sort_keys=True))


def delta_steps(*arguments, check=True):
    done = subprocess.run([STEPS, *arguments], capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise AssertionError(f"delta_steps {' '.join(arguments[:2])} ended with {done.returncode}: {done.stderr}")
    return done


def tidelake_version(path):
    return json.loads(tidelake("table", "history", path, "--json", check=True).stdout)["rows"][0][0]
