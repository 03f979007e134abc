"""The Python library mssql-cdc-pyspark 0.8.0 on a tidesim that a writer changes: bootstraps, streams, backfills, applies and
reconciles through Spark; its silver must hold what the source's table holds, value by value.

    tests/interop/run library
"""
import os
import sys

from library import Library, Table, Writer, equal, started  # the first import: it finds lib
from lib import main, test


def follow(library, writer_tables, snapshot):
    """Bootstrap next to a writer, some rounds of stream, backfill and apply; then a quiet source, and both sides alike."""
    server, table = library.table.server, library.table
    writer = Writer(server, writer_tables)
    try:
        library.stream(snapshot=snapshot)
        for _ in range(2):
            if snapshot == "chunked":
                library.backfill(chunk_rows=150, max_waves=2, target_wave_seconds=0)
            library.stream(snapshot=snapshot)
            library.apply()
    finally:
        writer.stop()
    if snapshot == "chunked":
        equal(library.backfill(chunk_rows=150, target_wave_seconds=0)["done"], True, "backfill is done")
    server.scan()
    library.stream(snapshot=snapshot)
    library.apply()
    library.equals_source()
    found = library.reconcile()
    equal((found["failures"], found["mismatch"], found["in_flight"], found["match"]), ({}, 0, 0, found["buckets"]), "reconcile")
    if writer.commits < 20 or len(table.rows()) < 100:
        raise AssertionError(f"{writer.commits} commits and {len(table.rows())} rows show nothing")


def replicate(folder, shape, rows, snapshot, *server_options, **options):
    server = started(folder, *server_options)
    try:
        table = Table(server, shape, rows)
        follow(Library(folder, table, **options), [table], snapshot)
    finally:
        server.close()


@test
def a_table_with_an_integer_key_is_bootstrapped_whole(folder):
    replicate(folder, "parcel", 600, "full")


@test
def a_table_with_an_integer_key_is_bootstrapped_in_chunks(folder):
    replicate(folder, "parcel", 1000, "chunked")


@test
def a_composite_key_is_bootstrapped_in_chunks_through_arrow_odbc_in_a_zone_with_summer_time(folder):
    replicate(folder, "stop", 500, "chunked", "--time-zone", "Central European Standard Time", backend="arrow-odbc")


if os.environ.get("INTEROP_ALL"):
    @test
    def a_varchar_key_is_bootstrapped_in_chunks(folder):
        replicate(folder, "crate", 600, "chunked")

    @test
    def a_uniqueidentifier_key_is_bootstrapped_whole_through_arrow_odbc(folder):
        replicate(folder, "token", 600, "full", backend="arrow-odbc")

    @test
    def a_datetime2_key_is_bootstrapped_in_chunks_from_an_older_server(folder):
        replicate(folder, "reading", 600, "chunked", "--server-version", "2019")

    @test
    def a_zone_with_summer_time_is_read_through_the_default_driver(folder):
        replicate(folder, "crate", 300, "full", "--time-zone", "GMT Standard Time")


if __name__ == "__main__":
    sys.exit(main())
