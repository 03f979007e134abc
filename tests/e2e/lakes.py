"""Lakes that the Python library mssql-cdc-pyspark left behind: each a folder with the server's files (`source/`), the tables (`lake/`), the
checkpoints, and `expected.json`, which says what a reader must find.

They are no part of this repository. TIDELAKE_CASES names the folder that has them (`state/*.tar.gz` in it), else `../shared/cases` beside the
repository; without them the tests that need them are skipped, and say so.
"""
import hashlib
import os
import pathlib
import tarfile

from lib import *

FACTS, CONTROL, REPORT = "lake/ops/facts", "lake/ops/control", "lake/ops/reconcile_report"

# One transaction a line, as the tables of the lakes are: inserts, updates, deletes, keys that move. `n` is the round, from 1 to 3.
CHANGES = {
    "shipment": ["INSERT dbo.shipment SELECT shipment_id + {n} * 1000000, {rest} FROM dbo.shipment WHERE shipment_id < 1000 AND (shipment_id + {n}) % 4 = 1",
                 "UPDATE dbo.shipment SET lane = {n}, note = N'geändert' WHERE shipment_id % 3 = 0",
                 "UPDATE dbo.shipment SET shipment_id = shipment_id + {n} * 20000000 WHERE shipment_id < 1000 AND (shipment_id + {n}) % 5 = 2",
                 "DELETE dbo.shipment WHERE (shipment_id + {n}) % 7 = 1"],
    "route_stop": ["INSERT dbo.route_stop SELECT route_code + N'n{n}', stop_no, {rest} FROM dbo.route_stop WHERE stop_no = 1 AND LEN(route_code) < 7",
                   "UPDATE dbo.route_stop SET city = N'Łódź {n}' WHERE stop_no % 2 = 0",
                   "UPDATE dbo.route_stop SET stop_no = stop_no + {n} * 10 WHERE stop_no = 4 - {n}",
                   "DELETE dbo.route_stop WHERE stop_no = 3 + {n}"],
    "price_list": ["INSERT dbo.price_list SELECT sku + N'n{n}', {rest} FROM dbo.price_list WHERE LEN(sku) = 9 AND [select] % 2 = 0",
                   "UPDATE dbo.price_list SET [Unit Price] = [Unit Price] + 1 WHERE sku LIKE N'%2'",
                   "UPDATE dbo.price_list SET sku = sku + N'm{n}' WHERE LEN(sku) = 9 AND RIGHT(sku, 1) = CAST({n} + 2 AS nvarchar(1))",
                   "DELETE dbo.price_list WHERE LEN(sku) = 9 AND RIGHT(sku, 1) = CAST({n} + 5 AS nvarchar(1))"],
}


def cases_folder():
    folder = pathlib.Path(os.environ.get("TIDELAKE_CASES") or ROOT.parent / "shared" / "cases") / "state"
    if not folder.is_dir():
        raise Skip(f"there is no folder {folder} with lakes; TIDELAKE_CASES names another")
    return folder


def all_names():
    try:
        return sorted(path.name.removesuffix(".tar.gz") for path in cases_folder().glob("*.tar.gz"))
    except Skip:
        return []


def unpack(name, to):
    """The lake's folder, below `to`."""
    with tarfile.open(cases_folder() / f"{name}.tar.gz") as archive:
        archive.extractall(to, filter="data")
    return pathlib.Path(to) / name


def key_of(row, key):
    return json.dumps([row[name] for name in key], ensure_ascii=False)


def hash_of(rows, key):
    by_key = {key_of(row, key): row for row in rows}
    text = json.dumps([by_key[k] for k in sorted(by_key)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class LibraryLake:
    """One of them, read and continued by tidelake."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.expected = json.loads((self.folder / "expected.json").read_text())
        self.tables = self.expected["tables"]
        self.round = 0
        self.named = any("/" not in table["bronze"] for table in self.tables.values())

    def label(self, path):
        """The string by which the library was given a table."""
        return path.removeprefix("lake/").replace("/", ".") if self.named else path

    def path(self, label):
        return label if "/" in label else "lake/" + label.replace(".", "/")

    def command(self, *arguments):
        return tidelake(*arguments, cwd=self.folder, check=True)

    def rows(self, label, sql="SELECT * FROM t"):
        """Rows as dictionaries, their values as expected.json has them; None without a table."""
        path = self.path(label)
        if not (self.folder / path / "_delta_log").is_dir():
            return None
        table = self.command("table", "sql", path, sql, "--json").json()
        return [{name: value.removesuffix("+00:00") if isinstance(value, str) and name in ("handed_over_at", "checked_at") else value
                 for name, value in zip(table["columns"], row)} for row in table["rows"]]

    def versions(self, label):
        log = self.folder / self.path(label) / "_delta_log"
        return sorted(path.name for path in log.glob("*.json")) if log.is_dir() else None

    def all_versions(self):
        labels = [table[kind] for table in self.tables.values() for kind in ("bronze", "silver") if table[kind]]
        return {label: self.versions(label) for label in [*labels, self.label(FACTS), self.label(CONTROL)]}

    def facts(self):
        rows = self.rows(self.label(FACTS), "SELECT * FROM t ORDER BY written_at")
        return [{name: value for name, value in row.items() if value is not None} for row in rows]

    def rebuild(self, table):
        """The newest complete snapshot and the changes after it, the newest row of each key; None without a complete one."""
        done = [row["max_lsn"] for row in self.facts() if row.get("event") in ("bootstrap", "resnapshot") and row["target"] == table["bronze"]]
        return self.rebuild_from(table, max(done)) if done else None

    def rebuild_from(self, table, snapshot):
        """The same over what is there of one snapshot."""
        latest = {}
        for row in self.rows(table["bronze"]):
            is_snapshot = row["_operation"] == 0
            if ((row["_snapshot"] or row["_start_lsn"]) != snapshot) if is_snapshot else row["_start_lsn"] <= snapshot:
                continue
            rank = (row["_start_lsn"], row["_command_id"] or -1, row["_seqval"] or "", row["_operation"])
            key = key_of(row, table["key"])
            if key not in latest or rank > latest[key][0]:
                latest[key] = (rank, row)
        return [self.captured(row, table) for _, row in latest.values() if row["_operation"] not in (1, 3)]

    @staticmethod
    def captured(row, table):
        return {column["name"]: row.get(column["name"]) for column in table["columns"]}

    # --- going on ---

    def serve(self, *options):
        (self.folder / "server").mkdir(exist_ok=True)
        return Server(self.folder / "server", "--load", str(self.folder / "source"), "--capture-interval", "manual", *options)

    def configure(self, server):
        """A configuration with every stream of the lake, its tables under the library's names."""
        def table(label):
            return json.dumps({"path": self.path(label), "label": label})
        lines = [f'source: {{connection: "{server.connection()}"}}', f"lake: {{facts: {table(self.label(FACTS))}, control: {table(self.label(CONTROL))}}}",
                 "defaults: {bootstrap: true, trigger: available-now}", "streams:"]
        for name, entry in self.tables.items():
            silver = entry["silver"] or self.label(f"lake/silver/{name}")
            lines.append(f"  - {{capture_instance: {entry['capture_instance']}, bronze: {table(entry['bronze'])}, silver: {table(silver)}, "
                         f"app_id: {entry['app_id']}, checkpoint: {'/'.join(entry['position']['directory'].split('/')[:2])}}}")
        (self.folder / "tidelake.yaml").write_text("\n".join(lines) + "\n")

    def results(self, command, *arguments):
        """{table: what the command said of it}, for `stream` and `apply`."""
        said = self.command(command, "--json", *arguments).json()
        streams = said.get("streams")
        return {name: streams[entry["capture_instance"]] if streams else said for name, entry in self.tables.items()}

    def change(self, server):
        self.round += 1
        for name, entry in self.tables.items():
            rest = ", ".join(f"[{column['name']}]" for column in entry["columns"] if column["name"] not in entry["key"])
            for statement in CHANGES[name]:
                server.sql(statement.format(rest=rest, n=self.round) + ";")
        server.scan()

    def silver_equals_source(self, server):
        for name, entry in self.tables.items():
            silver_is_source(server, name, self.folder / self.path(entry["silver"] or self.label(f"lake/silver/{name}")))

    def checkpoint_files(self, entry):
        folder = self.folder / entry["position"]["directory"]
        return {kind: sorted(int(path.name) for path in (folder / kind).glob("[0-9]*")) for kind in ("offsets", "commits")}


# --- what tidelake does with one ---


def go_on(lake, server):
    """Changes at the server, then stream and apply: batch numbers go on, nothing is there twice, silver is the source."""
    bronze = {name: lake.rows(entry["bronze"]) for name, entry in lake.tables.items()}
    planned = {name: lake.checkpoint_files(entry)["commits"][-1] for name, entry in lake.tables.items()}
    lake.change(server)
    said = lake.results("stream")
    for name, entry in lake.tables.items():
        equal(said[name]["batches"], 1, f"batches of {name}")
        files, batch = lake.checkpoint_files(entry), planned[name] + 1
        equal((files["offsets"][-1], files["commits"][-1]), (batch, batch), "the next batch")
        before, after = ((lake.folder / entry["position"]["directory"] / "offsets" / str(n)).read_text().split("\n") for n in (batch - 1, batch))
        equal(json.loads(after[1])["conf"], json.loads(before[1])["conf"], "Spark's settings are carried on")
        sink = entry["app_id"] + (f".g{entry['position']['generation']}" if entry["position"]["generation"] else "")
        row = next(row for row in lake.facts() if row["app_id"] == sink and row.get("batch_id") == batch and "event" not in row)
        known = {key_of(row, ("_start_lsn", "_command_id", "_seqval", "_operation")) for row in bronze[name]}
        changes = [row for row in lake.rows(entry["bronze"]) if key_of(row, ("_start_lsn", "_command_id", "_seqval", "_operation")) not in known]
        equal({row["_batch_id"] for row in changes}, {batch}, "the batch's rows")
        equal((row["rows"], row["target"]), (len(changes), entry["bronze"]), "facts of the batch")
        equal(len(lake.rows(entry["bronze"])), len(bronze[name]) + len(changes), "rows from before are there once")
    lake.results("apply")
    lake.silver_equals_source(server)
    again = lake.all_versions()
    equal([said["batches"] for said in lake.results("stream").values()], [0] * len(lake.tables), "nothing more to read")
    equal([(said["rows_written"], said["rows_deleted"]) for said in lake.results("apply").values()], [(0, 0)] * len(lake.tables), "nothing more to apply")
    equal(lake.all_versions(), again, "nothing more is written")


def caught_up(lake):
    """stream and apply, which find nothing to read and nothing to apply."""
    for name, said in lake.results("stream").items():
        equal((said["batches"], said["rows"], said["end_lsn"]), (0, 0, lake.tables[name]["position"]["committed"]["lsn"]), f"{name} is caught up")
    if all(entry["silver"] for entry in lake.tables.values()):
        for name, said in lake.results("apply").items():
            equal((said["rebuilt"], said["rows_written"], said["rows_deleted"]), (False, 0, 0), f"silver {name} is applied")


def control_by_table(lake):
    return {row["table_name"]: row for row in lake.rows(lake.label(CONTROL)) or []}


def nothing_to_do(lake, server):
    """No data, no fact. Verdicts alone may move, where the library had left them behind; then not even those."""
    control, before, known = lake.label(CONTROL), lake.all_versions(), control_by_table(lake)
    caught_up(lake)
    after, now = lake.all_versions(), control_by_table(lake)
    equal({label: after[label] for label, versions in before.items() if versions and label != control},
          {label: versions for label, versions in before.items() if versions and label != control}, "nothing is written")
    for label, row in known.items():
        position = ("applied_lsn", "snapshot_lsn", "open_snapshot_lsn", "snapshot_wave")
        equal([now[label][name] for name in position], [row[name] for name in position], f"position of {label}")
        equal((now[label]["finalized_until"] or "") >= (row["finalized_until"] or ""), True, f"the verdict of {label} never goes back")
    if known and all(row["finalized_until"] for row in known.values()) and all(entry["bronze"] in known for entry in lake.tables.values()):
        equal(after[control], before[control], "verdicts that are there are left alone")
    caught_up(lake)
    equal(lake.all_versions(), after, "a second look writes nothing at all")


def replay(lake, server):
    entry = lake.tables["shipment"]
    before, bronze = lake.versions(entry["bronze"]), lake.rows(entry["bronze"])
    server.sql("UPDATE dbo.shipment SET parcels = 9;")  # above the planned end: not part of the replayed batch
    server.scan()
    said = lake.results("stream", "--max-batches", "1")["shipment"]
    equal((said["batches"], said["end_lsn"]), (1, entry["position"]["planned"]["lsn"]), "the planned batch alone")
    equal(lake.versions(entry["bronze"]), before, "versions of bronze")
    equal([row for row in lake.rows(entry["bronze"]) if row not in bronze], [], "rows of bronze")
    equal(lake.checkpoint_files(entry), {"offsets": [0, 1], "commits": [0, 1]}, "the batch is done")
    row = next(row for row in lake.facts() if row.get("batch_id") == 1)
    written = [row for row in bronze if row["_batch_id"] == 1]
    lsns, times = [row["_start_lsn"] for row in written], [row["_commit_ts"] for row in written]
    counts = {f"{what}s": sum(row["_operation"] == operation for row in written) for what, operation in (("delete", 1), ("insert", 2), ("update", 4))}
    want = {**counts, "rows": len(written), "min_lsn": min(lsns), "max_lsn": max(lsns), "min_commit_ts": min(times), "max_commit_ts": max(times),
            "end_lsn": entry["position"]["planned"]["lsn"], "app_id": entry["app_id"], "target": entry["bronze"]}
    equal({name: row.get(name) for name in want}, want, "the facts row")


def finish_chunked(lake, server):
    """An open chunked snapshot, whatever of a wave is in: the rest of it, each chunk once, by the plan that was made."""
    entry = next(iter(lake.tables.values()))
    keys = ["--snapshot-keys", "pickup_on"] if lake.expected["scenario"] == "chunked-keys" else []
    before = [row for row in lake.rows(entry["bronze"]) or [] if row["_operation"] == 0]
    known = [row for row in lake.facts() if row.get("event") == "snapshot_chunk"]
    plan = next(row["detail"] for row in entry["plans"] if row["event"] == "snapshot_plan")
    lake.results("stream", "--snapshot", "chunked")
    said = next(iter(lake.results("backfill", "--chunk-rows", "3", *keys).values()))
    count = len(plan["chunks"])
    equal((said["done"], said["chunks_done"], said["chunks_total"]), (True, count, count), "backfill")
    facts = lake.facts()
    chunks = [row for row in facts if row.get("event") == "snapshot_chunk"]
    equal(sorted(json.loads(row["detail"])["chunk"] for row in chunks), list(range(count)), "each chunk is recorded once")
    equal([row for row in known if row not in chunks], [], "what was recorded stays")
    equal([row["event"] for row in facts if row.get("event") in ("bootstrap", "resnapshot")], ["bootstrap"], "completions")
    rows = [row for row in lake.rows(entry["bronze"]) if row["_operation"] == 0]
    equal([row for row in before if row not in rows], [], "rows of the waves that were in")
    counts = {chunk: sum(row["_chunk"] == chunk for row in rows) for chunk in range(count)}
    equal({json.loads(row["detail"])["chunk"]: row["rows"] for row in chunks}, counts, "rows of each chunk")
    bounds = {}
    for row in lake.rows(entry["bronze"] + "_snapshot_plans"):
        detail = json.loads(row["detail"])
        if row["event"] == "snapshot_chunk":
            bounds[detail["chunk"]] = [detail["lo"], detail["hi"]]
    equal([bounds[chunk] for chunk in range(count - 1)], plan["chunks"][:-1], "bounds are the plan's")
    made = {key_of(row, entry["key"]): row for row in lake.rebuild(entry)}  # compared as values: tidelake writes no negative zero
    equal({key: row for key, row in made.items() if row != entry["source"]["by_key"].get(key)}, {}, "rows that differ from the source")
    equal(len(made), entry["source"]["rows"], "rebuilt rows")
    after = lake.all_versions()
    equal(next(iter(lake.results("backfill", *keys).values()))["waves"], 0, "a second call has nothing to do")
    equal(lake.all_versions(), after, "and writes nothing")


def apply_then_finish(lake, server):
    """Silver with an open snapshot: changes first, the verdict held; then the waves that are missing, and the rebuild."""
    entry, = lake.tables.values()

    def position():
        return next(row for row in lake.rows(CONTROL) if row["table_name"] == entry["silver"])
    before, snapshot = position(), position()["open_snapshot_lsn"]
    said = lake.results("apply")["shipment"]
    equal((said["rebuilt"], said["rows_written"] > 0), (False, True), "changes are applied")
    made = {key_of(row, entry["key"]): row for row in lake.rebuild_from(entry, snapshot)}  # as values: tidelake writes no negative zero
    equal({key_of(row, entry["key"]): lake.captured(row, entry) for row in lake.rows(entry["silver"])}, made, "silver")
    changed = max(row["_start_lsn"] for row in lake.rows(entry["bronze"]) if row["_operation"] != 0)
    equal(position(), {**before, "applied_lsn": changed}, "the position; waves, snapshot and verdict are as they were")
    finish_chunked(lake, server)
    said = lake.results("apply")["shipment"]
    after = position()
    equal((said["rebuilt"], after["snapshot_lsn"], after["open_snapshot_lsn"], after["snapshot_wave"]), (True, snapshot, None, None), "silver is rebuilt")
    equal(after["finalized_until"] > (before["finalized_until"] or ""), True, "the verdict moves")
    lake.silver_equals_source(server)


# The lakes that this version goes on with, and what comes first.
CONTINUED = {"stream": nothing_to_do, "stream-names": nothing_to_do, "stream-crash": replay, "silver": nothing_to_do, "fanout": nothing_to_do,
             "chunked-done": nothing_to_do, "recovery": nothing_to_do, "silver-open": apply_then_finish,
             **dict.fromkeys(["chunked-open", "chunked-mid", "chunked-mid-composite", "chunked-keys", "chunked-crash", "chunked-crash-plans",
                              "chunked-crash-done"], finish_chunked)}


def continued(lake):
    """What its row of CONTINUED says, then changes."""
    server = lake.serve()
    try:
        lake.configure(server)
        CONTINUED[lake.expected["scenario"]](lake, server)
        go_on(lake, server)
    finally:
        server.close()


# The lakes with a chunked snapshot of the stream that is configured, and the columns it was cut on where those are not the key.
CHUNKED = {"chunked-open": (), "chunked-mid": (), "chunked-mid-composite": (), "chunked-keys": ("pickup_on",), "chunked-crash": (),
           "chunked-crash-plans": (), "chunked-crash-done": (), "chunked-done": ()}


def chunk_rows(lake):
    rows = [(json.loads(row["detail"]), row) for row in lake.facts() if row.get("event") == "snapshot_chunk"]
    return sorted(rows, key=lambda pair: (pair[0]["wave"], pair[0]["chunk"]))


def plans_of(lake, entry):
    return lake.rows(entry["bronze"] + "_snapshot_plans") or []


def finished_by_backfill(lake):
    """The rest of a chunked snapshot by `backfill` alone, with other chunks and connections than the library had."""
    cut_on, server = CHUNKED[lake.expected["scenario"]], lake.serve()
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
        once = ["_chunk", *entry["key"]] if cut_on else entry["key"]  # a row that moves along another column may be read on both sides
        equal(len({key_of(row, once) for row in rows}), len(rows), "rows of the snapshot are there once")
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


# --- what it holds ---

def reads_as_expected(lake):
    """Every table of it holds what expected.json says, and looking writes nothing."""
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
            equal(sorted(map(row_text, plans)), sorted(map(row_text, entry["plans"])), "plans")
    want = lake.expected["facts"]
    equal(sorted(map(row_text, lake.facts())), sorted(map(row_text, want)), "facts")
    for label, rows in ((CONTROL, lake.expected["control"]), (REPORT, lake.expected.get("report"))):
        found = lake.rows(lake.label(label))
        if label == REPORT and found is not None:
            found = [{k: v for k, v in row.items() if v is not None} for row in found]
        equal(sorted(map(row_text, found or [])), sorted(map(row_text, rows or [])), label)
    equal(lake.all_versions(), before, "reading writes nothing")


def row_text(row):
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
