"""The three readers, and one form for what they read."""
import datetime
import json
import os

import duckdb
import duckdb_extension_delta
import deltalake
import pyarrow

from spark_session import open_session


def canonical(value):
    """One form for a value whatever reader it came from."""
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, datetime.datetime):
        return ("time", value.replace(tzinfo=None).isoformat(timespec="microseconds"))
    return value


def canonical_rows(columns, rows):
    order = sorted(range(len(columns)), key=lambda i: columns[i])
    return sorted((tuple(canonical(row[i]) for i in order) for row in rows), key=repr)


class Spark:
    """One session for all checks; it takes seconds to start."""

    def __init__(self):
        self.session = open_session()

    def rows(self, path):
        frame = self.session.read.format("delta").load(path)
        return canonical_rows(frame.columns, [tuple(row) for row in frame.collect()])

    def schema(self, path):
        frame = self.session.read.format("delta").load(path)
        return [(field.name, field.dataType.simpleString(), field.nullable, field.metadata.get("comment", "")) for field in frame.schema.fields]

    def history(self, path):
        from delta.tables import DeltaTable
        frame = DeltaTable.forPath(self.session, path).history().select("version", "operation", "userMetadata")
        return [(row[0], row[1], row[2]) for row in frame.collect()]


def deltalake_rows(path):
    query = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(path))  # to_pyarrow_table knows no deletion vectors
    table = pyarrow.table(query.execute("SELECT * FROM t").read_all())
    return canonical_rows(table.column_names, [tuple(row[name] for name in table.column_names) for row in table.to_pylist()])


def deltalake_schema(path):
    fields = json.loads(deltalake.DeltaTable(path).schema().to_json())["fields"]
    names = {"integer": "int", "long": "bigint", "short": "smallint"}
    return [(f["name"], names.get(f["type"], f["type"]), f["nullable"], f["metadata"].get("comment", "")) for f in fields]


class Duck:
    def __init__(self):
        self.connection = duckdb.connect()
        folder = os.path.dirname(duckdb_extension_delta.__file__)
        self.connection.execute(f"LOAD '{folder}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")
        self.connection.execute("SET timezone='UTC'")

    def rows(self, path):
        result = self.connection.execute(f"SELECT * FROM delta_scan('{path}')")
        columns = [column[0] for column in result.description]
        return canonical_rows(columns, result.fetchall())


def query_builder_rows(path):
    """deltalake reads tables with column mapping through its query engine alone."""
    table = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(path)).execute("SELECT * FROM t").read_all()
    columns = table.schema.names
    return canonical_rows(columns, list(zip(*(table.column(i).to_pylist() for i in range(len(columns))))) if table.num_rows else [])
