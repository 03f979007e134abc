#!/usr/bin/env python3
"""Chunked snapshots that the Python library opened, planned and read in part, in every state a crash left them in: `tidelake backfill`
finishes each. No new snapshot, no row twice, the plan as it was, and silver is the source (tests/e2e/lakes.py says where the lakes are).
"""
from lakes import *

def add(name):
    def finish(folder):
        finished_by_backfill(LibraryLake(unpack(name, folder)))
    finish.__name__ = "backfill_finishes_" + name.replace("-", "_")
    test(finish)


for lake_name in CHUNKED:
    add(lake_name)

if __name__ == "__main__":
    main()
