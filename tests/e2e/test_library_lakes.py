#!/usr/bin/env python3
"""Lakes that the library left: every table of them reads as expected, and the streams go on where it stopped."""
from lakes import *


def reads_as_expected(folder, name):
    lake = LibraryLake(unpack(name, folder))
    before = lake.all_versions()
    for entry in lake.tables.values():
        for label in (entry["bronze"], entry["silver"], *([entry["bronze"] + "_snapshot_plans"] if entry.get("plans") else [])):
            if label and lake.versions(label) is not None:
                history = lake.command("table", "history", lake.path(label), "--json").json()["rows"]
                equal(len(history), len(lake.versions(label)), f"history of {label}")
        bronze_as_expected(lake, entry)
        made = lake.rebuild(entry)
        equal(made is None, entry.get("rebuilt_from_bronze") is None, "a complete snapshot")
        if made is not None:
            equal((len(made), hash_of(made, entry["key"])), (entry["rebuilt_from_bronze"]["rows"], entry["rebuilt_from_bronze"]["sha256"]), "rebuilt")
        if entry["silver"]:
            rows = lake.rows(entry["silver"])
            equal(hash_of([lake.captured(row, entry) for row in rows], entry["key"]), entry["silver_now"]["sha256"], "silver")
            equal({key_of(row, entry["key"]): row["_start_lsn"] for row in rows}, entry["silver_start_lsn"], "images of silver")
        if entry.get("plans"):
            plans = [{**row, "detail": json.loads(row["detail"])} for row in lake.rows(entry["bronze"] + "_snapshot_plans")]
            equal(sorted(map(as_text, plans)), sorted(map(as_text, entry["plans"])), "plans")
    want = lake.expected["facts"]
    equal(sorted(map(as_text, lake.facts())), sorted(map(as_text, want)), "facts")
    for label, rows in ((CONTROL, lake.expected["control"]), (REPORT, lake.expected.get("report"))):
        found = lake.rows(lake.label(label))
        if label == REPORT and found is not None:
            found = [{k: v for k, v in row.items() if v is not None} for row in found]
        equal(sorted(map(as_text, found or [])), sorted(map(as_text, rows or [])), label)
    equal(lake.all_versions(), before, "reading writes nothing")


def as_text(row):
    return json.dumps(row, sort_keys=True)


def bronze_as_expected(lake, entry):
    if lake.versions(entry["bronze"]) is None:
        equal(entry.get("bronze_rows"), None, "bronze")
        return
    rows = lake.rows(entry["bronze"])
    counted = {"bronze_by_operation": lambda row: row["_operation"], "bronze_by_lsn": lambda row: row["_start_lsn"], "chunk_rows": lambda row: row["_chunk"]}
    equal(len(rows), entry["bronze_rows"], "rows of bronze")
    for name, member in counted.items():
        counts = {}
        for row in rows:
            if member(row) is not None:
                counts[str(member(row))] = counts.get(str(member(row)), 0) + 1
        equal(counts, entry[name], name)


def reader(name):
    def run(folder):
        reads_as_expected(folder, name)
    run.__name__ = f"the_lake_{name.replace('-', '_')}_reads_as_expected"
    return run


for lake_name in all_names():
    test(reader(lake_name))


def continued(folder, name):
    lake = LibraryLake(unpack(name, folder))
    server = lake.serve()
    try:
        lake.configure(server)
        CONTINUED[name](lake, server)
        go_on(lake, server)
    finally:
        server.close()


@test
def a_stream_that_is_caught_up_reads_nothing_and_goes_on(folder):
    continued(folder, "stream")


@test
def tables_given_by_catalog_names_are_found_by_their_labels(folder):
    continued(folder, "stream-names")


@test
def an_applied_silver_has_nothing_to_apply_and_goes_on(folder):
    continued(folder, "silver")


@test
def streams_of_one_facts_table_and_mapped_names_go_on(folder):
    continued(folder, "fanout")


@test
def a_stream_whose_chunked_snapshot_is_complete_goes_on(folder):
    continued(folder, "chunked-done")


@test
def a_later_generation_goes_on_in_its_own_directory(folder):
    continued(folder, "recovery")


def finished(name):
    def run(folder):
        continued(folder, name)
    run.__name__ = f"the_chunked_snapshot_of_{name.replace('-', '_')}_is_finished_and_goes_on"
    return run


for lake_name, first in CONTINUED.items():
    if first is finish_chunked:
        test(finished(lake_name))


@test
def silver_of_an_open_snapshot_takes_changes_then_is_rebuilt(folder):
    continued(folder, "silver-open")


@test
def a_batch_that_died_before_its_facts_is_replayed_to_exactly_its_end(folder):
    continued(folder, "stream-crash")


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
