"""Lakes that the library left, those of the cases and fresh ones of the script beside them: tidelake goes on as the lake's row says, then the library,
then tidelake again.

Registers its tests with test_continue.py, whose Spark they use.
"""
import collections
import shutil

from turns import *


def into_work(folder):
    """A lake's parts below WORK."""
    fresh("lake", "checkpoint", "source", "server")
    (WORK / "expected.json").unlink(missing_ok=True)
    for part in ("lake", "checkpoint", "source", "expected.json"):
        shutil.move(str(folder / part), str(WORK / part))
    return LibraryLake(WORK)


def register_names(lake):
    spark = Spark.get()
    labels = [entry[kind] for entry in lake.tables.values() for kind in ("bronze", "silver")] + [lake.label(FACTS), lake.label(CONTROL)]
    for label in labels:
        schema = label.split(".")[0]
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {schema} LOCATION '{os.path.abspath('lake/' + schema)}'")
        spark.sql(f"DROP TABLE IF EXISTS {label}")
        spark.sql(f"CREATE TABLE {label} USING DELTA LOCATION '{os.path.abspath(lake.path(label))}'")


def schema_versions(lake):
    """{table: the version of our schema that it is stamped with}, of the tables that are there."""
    labels = [lake.label(FACTS), lake.label(CONTROL)]
    for entry in lake.tables.values():
        labels += [entry["bronze"], entry["bronze"] + "_snapshot_plans", entry["silver"]]
    return {label: actions(WORK, lake.path(label), "metaData")[-1]["configuration"].get("mssql_cdc.schema_version")
            for label in labels if label and lake.versions(label)}


class HandedOver:
    """What the next engine must leave as it finds it: the schemas, each row of the facts, the snapshots and their rows."""

    def __init__(self, lake):
        self.lake = lake
        self.schemas, self.facts = schema_versions(lake), self.count_facts()

    def count_facts(self):
        return collections.Counter(map(row_text, self.lake.facts()))

    def check(self, engine):
        lake, facts = self.lake, self.count_facts()
        now = schema_versions(lake)
        equal({label: now[label] for label in self.schemas}, self.schemas, f"schema versions after {engine}")
        equal(dict(self.facts - facts), {}, f"facts rows that {engine} changed or took away")
        new = [json.loads(text) for text in (facts - self.facts).elements()]
        equal([row for row in new if "event" in row], [], f"snapshots and other events by {engine}")
        batches = collections.Counter((row["app_id"], row["batch_id"]) for row in lake.facts() if "event" not in row)
        equal([batch for batch, count in batches.items() if count > 1], [], f"batches that are there twice after {engine}")
        for name, entry in lake.tables.items():
            rows = lake.rows(entry["bronze"])
            changes = [key_of(row, ("_start_lsn", "_command_id", "_seqval", "_operation")) for row in rows if row["_operation"] != 0]
            equal(len(changes), len(set(changes)), f"changes of {name} that are there twice after {engine}")
            read = [key_of(row, ("_snapshot", "_chunk", *entry["key"])) for row in rows if row["_operation"] == 0]
            equal(len(read), len(set(read)), f"snapshot rows of {name} that are there twice after {engine}")


def passed_on(lake, first):
    """tidelake goes on, then the library, then tidelake again: no new snapshot, nothing twice, batch numbers in a row, silver always the source."""
    server = lake.serve()
    try:
        lake.configure(server)
        first(lake, server)
        go_on(lake, server)
        if lake.named:
            register_names(lake)
        state = HandedOver(lake)
        lake.change(server)
        for name, entry in lake.tables.items():
            peer = Peer(server, entry["capture_instance"], entry["bronze"], entry["silver"] or f"lake/silver/{name}", entry["app_id"],
                        "/".join(entry["position"]["directory"].split("/")[:2]), entry["key"], lake.label(FACTS), lake.label(CONTROL))
            done = lake.checkpoint_files(entry)["commits"][-1]
            peer.stream()
            equal(lake.checkpoint_files(entry)["commits"][-1], done + 1, "the library's batch")
            peer.apply()
        lake.silver_equals_source(server)
        state.check("the library")
        state = HandedOver(lake)
        go_on(lake, server)
        state.check("tidelake")
    finally:
        server.close()


def lake_test(name):
    def run(folder):
        passed_on(into_work(unpack(name, folder)), CONTINUED[name])
    run.__name__ = f"the_lake_{name.replace('-', '_')}_goes_from_the_library_to_tidelake_and_back"
    return run


for lake_name in CONTINUED if ALL else ["stream-crash"]:
    test(lake_test(lake_name))


# --- fresh ones ---

class Fresh:
    """The lakes that the script makes from one seed, all at once when the first is asked for."""

    SEED = int(os.environ.get("TIDELAKE_SEED") or random.SystemRandom().randrange(2, 10**6))
    NAMES = os.environ["TIDELAKE_SCENARIOS"].split(",") if os.environ.get("TIDELAKE_SCENARIOS") else list(CONTINUED)
    folder = None  # TIDELAKE_FRESH_LAKES: made before, from that seed

    @classmethod
    def make(cls):
        script = pathlib.Path(os.environ.get("TIDELAKE_CASES") or ROOT.parent / "shared" / "cases").parent / "tools" / "make-lake.py"
        if not script.is_file():
            raise Skip(f"there is no {script}, which makes lakes")
        made = subprocess.run([sys.executable, str(script), str(WORK / "made"), "--scenario", ",".join(cls.NAMES), "--seed", str(cls.SEED), "--rows", "30",
                               "--jars", os.environ["TIDELAKE_JARS"]], capture_output=True, text=True, timeout=3600)
        equal(made.returncode, 0, made.stdout[-2000:] + made.stderr[-2000:])
        return WORK / "made"

    @classmethod
    def copy(cls, name, folder, use):
        cls.folder = cls.folder or pathlib.Path(os.environ.get("TIDELAKE_FRESH_LAKES") or cls.make())
        to = folder / use
        shutil.copytree(cls.folder / name, to)
        return to


def fresh_lake_test(name):
    def run(folder):
        print(f"# seed {Fresh.SEED}", flush=True)
        lake = LibraryLake(Fresh.copy(name, folder, "alone"))
        reads_as_expected(lake)
        continued(lake)  # by tidelake alone
        if name in CHUNKED:
            finished_by_backfill(LibraryLake(Fresh.copy(name, folder, "backfill")))
        passed_on(into_work(Fresh.copy(name, folder, "turns")), CONTINUED[name])
    run.__name__ = f"the_lake_{name.replace('-', '_')}_of_a_fresh_seed_goes_on_by_tidelake_alone_and_in_turns"
    return run


if ALL:
    for lake_name in Fresh.NAMES:
        test(fresh_lake_test(lake_name))
