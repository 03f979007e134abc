#!/usr/bin/env python3
"""Lakes that the library left: every table of them reads as expected, and the streams go on where it stopped."""
from lakes import *


def reader(name):
    def run(folder):
        reads_as_expected(LibraryLake(unpack(name, folder)))
    run.__name__ = f"the_lake_{name.replace('-', '_')}_reads_as_expected"
    return run


for lake_name in all_names():
    test(reader(lake_name))


@test
def a_stream_that_is_caught_up_reads_nothing_and_goes_on(folder):
    continued(LibraryLake(unpack("stream", folder)))


@test
def tables_given_by_catalog_names_are_found_by_their_labels(folder):
    continued(LibraryLake(unpack("stream-names", folder)))


@test
def an_applied_silver_has_nothing_to_apply_and_goes_on(folder):
    continued(LibraryLake(unpack("silver", folder)))


@test
def streams_of_one_facts_table_and_mapped_names_go_on(folder):
    continued(LibraryLake(unpack("fanout", folder)))


@test
def a_stream_whose_chunked_snapshot_is_complete_goes_on(folder):
    continued(LibraryLake(unpack("chunked-done", folder)))


@test
def a_later_generation_goes_on_in_its_own_directory(folder):
    continued(LibraryLake(unpack("recovery", folder)))


def finished(name):
    def run(folder):
        continued(LibraryLake(unpack(name, folder)))
    run.__name__ = f"the_chunked_snapshot_of_{name.replace('-', '_')}_is_finished_and_goes_on"
    return run


for lake_name, first in CONTINUED.items():
    if first is finish_chunked:
        test(finished(lake_name))


@test
def silver_of_an_open_snapshot_takes_changes_then_is_rebuilt(folder):
    continued(LibraryLake(unpack("silver-open", folder)))


@test
def a_batch_that_died_before_its_facts_is_replayed_to_exactly_its_end(folder):
    continued(LibraryLake(unpack("stream-crash", folder)))


@test
def changes_that_cleanup_took_are_refused_and_nothing_is_written(folder):
    lake = LibraryLake(unpack("loss", folder))
    server = lake.serve()
    try:
        lake.configure(server)
        before = lake.all_versions()
        done = tidelake("stream", cwd=lake.folder)
        equal(done.code, 3)
        holds(done.last_error(), "dbo_shipment", lake.expected["server"]["min_lsn"]["dbo_shipment"], lake.tables["shipment"]["position"]["committed"]["lsn"][:-1] + "2")
        after = lake.all_versions()
        equal(after[lake.tables["shipment"]["bronze"]], before[lake.tables["shipment"]["bronze"]], "bronze")
        equal(after[FACTS], before[FACTS], "facts")
    finally:
        server.close()


def refused(name, *parts):
    """A full run next to an open chunked snapshot: nothing is read or written."""
    def run(folder):
        lake = LibraryLake(unpack(name, folder))
        server = lake.serve()
        try:
            lake.configure(server)
            before = {label: versions for label, versions in lake.all_versions().items() if label != CONTROL}
            done = tidelake("stream", cwd=lake.folder)
            equal(done.code, 1)
            holds(done.last_error(), *parts)
            equal({label: versions for label, versions in lake.all_versions().items() if label != CONTROL}, before, "tables")
        finally:
            server.close()
    run.__name__ = f"a_full_run_is_refused_while_the_chunked_snapshot_of_{name.replace('-', '_')}_is_open"
    return run


for lake_name in ("chunked-open", "chunked-mid-composite", "silver-open"):
    test(refused(lake_name, "chunked"))


if __name__ == "__main__":
    main()
