#!/usr/bin/env python3
"""Chunked snapshots that the Python library opened, planned and read in part, in every state a crash left them in: `tidelake backfill`
finishes each. No new snapshot, no row twice, the plan as it was, and silver is the source (tests/e2e/lakes.py says where the lakes are).
"""
from lakes import *

# What the lake's archive holds of waves and chunks, and the columns it was cut on.
LAKES = {"chunked-open": (), "chunked-mid": (), "chunked-mid-composite": (), "chunked-keys": ("pickup_on",), "chunked-crash": (),
         "chunked-crash-plans": (), "chunked-crash-done": (), "chunked-done": ()}


def chunk_rows(lake):
    rows = [(json.loads(row["detail"]), row) for row in lake.facts() if row.get("event") == "snapshot_chunk"]
    return sorted(rows, key=lambda pair: (pair[0]["wave"], pair[0]["chunk"]))


def plans_of(lake, entry):
    return lake.rows(entry["bronze"] + "_snapshot_plans") or []


def finished(folder, name, cut_on):
    lake = LibraryLake(unpack(name, folder))
    server = lake.serve()
    (table, entry), = lake.tables.items()
    keys = ["--snapshot-keys", ",".join(cut_on)] if cut_on else []
    try:
        lake.configure(server)
        before, plan = chunk_rows(lake), [row["detail"] for row in plans_of(lake, entry) if row["event"] == "snapshot_plan"]
        stream = ["stream", "--snapshot", "chunked", *keys]
        lake.command(*stream)
        if cut_on:
            refused = tidelake("backfill", cwd=lake.folder)
            equal(refused.code, 1)
            holds(refused.last_error(), "opened cut on " + ", ".join(cut_on))
        backfill = ["backfill", "--chunk-rows", "4", "--num-partitions", "2", "--require-done", "--json", *keys]
        said = lake.command(*backfill).json()
        equal((said["done"], said["state"]), (True, "done"))
        after = chunk_rows(lake)
        equal(after[:len(before)], before, "chunks recorded before stay as they are")
        numbers = [chunk["chunk"] for chunk, _ in after]
        equal(sorted(numbers), list(range(len(numbers))), "every chunk once")
        equal([chunk["last"] for chunk, _ in after], [False] * (len(numbers) - 1) + [True], "the last one is told so")
        equal([row["detail"] for row in plans_of(lake, entry) if row["event"] == "snapshot_plan"], plan, "the plan")
        rows = [row for row in lake.rows(entry["bronze"]) if row["_operation"] == 0]
        equal(len({key_of(row, entry["key"]) for row in rows}), len(rows), "rows of the snapshot are there once")
        equal(sum(row["rows"] for _, row in after), len(rows), "rows the facts tell of")
        done = [row for row in lake.facts() if row.get("event") == "bootstrap"]
        equal(len(done), 1, "completions")
        equal((done[0]["rows"], done[0]["max_lsn"]), (len(rows), said["snapshot"]), "the completion")
        lake.change(server)
        lake.command(*stream)
        lake.command("apply")
        lake.silver_equals_source(server)
        versions = lake.all_versions()
        again = lake.command(*backfill).json()
        equal((again["done"], again["rows"], again["waves"]), (True, 0, 0), "a call after the end")
        equal(lake.all_versions(), versions, "nothing more is written")
    finally:
        server.close()


def add(name, cut_on):
    def finish(folder):
        finished(folder, name, cut_on)
    finish.__name__ = "backfill_finishes_" + name.replace("-", "_")
    test(finish)


for lake_name, columns in LAKES.items():
    add(lake_name, columns)

if __name__ == "__main__":
    main()
