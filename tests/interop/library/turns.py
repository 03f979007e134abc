"""One lake that the Python library and tidelake write: the library through Spark, tidelake by its command line, and what must be alike of two
lakes with one history.
"""
import ctypes
import fnmatch
import json
import os
import pathlib
import random
import re
import select
import shutil
import struct
import sys
import tempfile

from library import PASSWORD, Spark, Table, equal  # the first import: it finds lib
from lakes import *
from lib import Server, main, test, tidelake  # noqa: F401

WORK = pathlib.Path(tempfile.mkdtemp(prefix="tidelake-lakes-"))
os.chdir(WORK)  # before Spark starts: the library's tables are at relative paths below it, and their strings hold no more
SEED = int(os.environ.get("TIDELAKE_SEED", "1"))
ALL = bool(os.environ.get("INTEROP_ALL"))


def fresh(*parts):
    """Empty folders of the lake, and no configuration of the one before; Spark forgets what it knew of tables at these paths."""
    for part in parts:
        shutil.rmtree(WORK / part, ignore_errors=True)
    if parts:
        (WORK / "tidelake.yaml").unlink(missing_ok=True)
    spark = Spark.get()
    spark.sparkContext._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    return spark


def relative_paths():
    """Spark's SQL takes no relative path in delta.`...`, which the library uses to pin a version: that text alone gets the absolute one."""
    import mssql_cdc.migrations.base as base
    from mssql_cdc import reconcile as _  # noqa: F401 - the package's name is the function

    for module in (sys.modules["mssql_cdc.silver"], sys.modules["mssql_cdc.reconcile"], base):
        module.table_ref = lambda name: f"delta.`{os.path.abspath(name)}`" if "/" in name else name


class Died(Exception):
    """A death that a test plants in the library."""


class Peer:
    """The library on one stream of a lake below WORK."""

    def __init__(self, server, instance, bronze, silver, app_id, checkpoint, keys, facts=FACTS, control=CONTROL):
        host, port = server.address.rsplit(":", 1)
        self.bronze, self.silver, self.app_id, self.checkpoint, self.keys, self.facts, self.control = bronze, silver, app_id, checkpoint, keys, facts, control
        self.instance = instance
        self.metrics = str(pathlib.Path(checkpoint).parent / f"metrics-{app_id}")
        self.options = {"connectionString": f"Server=tcp:{host},{port};Database=shop;UID=sa;PWD={PASSWORD};Encrypt=no;", "captureInstance": instance,
                        "numPartitions": "2"}
        relative_paths()

    def stream(self, snapshot="full", **options):
        from mssql_cdc import finalization, stream

        query = stream(Spark.get(), {**self.options, **options}).to_delta(self.bronze, self.app_id, self.checkpoint, facts_table=self.facts,
                                                                          trigger={"availableNow": True}, bootstrap=True, snapshot=snapshot)
        query.awaitTermination()
        if query.lastProgress:
            finalization.advance(Spark.get(), self.control, self.bronze, finalization.end_offset_from_progress(query.lastProgress))

    def backfill(self, chunk_rows=None, max_waves=None, partitions=2):
        """With what a read took, which the library measures through files."""
        from mssql_cdc import stream

        options = {**self.options, "numPartitions": str(partitions), "metricsPath": self.metrics}
        return stream(Spark.get(), options).backfill(self.bronze, app_id=self.app_id, facts_table=self.facts, chunk_rows=chunk_rows, max_waves=max_waves,
                                                     target_wave_seconds=0)

    def backfill_until(self, dies_before, **how):
        """A call that dies: before it reads a wave, before the rows of a wave are in the plans, or before they are in the facts."""
        from mssql_cdc import events, sink
        from mssql_cdc.pipeline import CdcStream

        owner, name, event = {"wave": (CdcStream, "_read_wave", None), "plans": (events, "write_plans", "snapshot_chunk"),
                              "facts": (sink, "write_facts", None)}[dies_before]
        real = getattr(owner, name)

        def die(*arguments, **named):
            if event and event not in arguments and event not in named.values():
                return real(*arguments, **named)
            raise Died(dies_before)
        setattr(owner, name, die)
        try:
            self.backfill(**how)
        except Exception as error:  # whatever the library makes of it
            if "Died" not in f"{type(error).__name__} {error!r} {error.__cause__!r}":
                raise
        else:
            raise AssertionError(f"the library did not come to its {dies_before}")
        finally:
            setattr(owner, name, real)

    def apply(self):
        from mssql_cdc import apply_changes

        return apply_changes(Spark.get(), self.bronze, self.silver, capture_instance=self.instance, keys=self.keys, control_table=self.control,
                             facts_table=self.facts, options=self.options)


class Births:
    """The files that come into being below a folder, told by the kernel: whoever waits for it is woken at once, on a busy machine too."""

    CREATED, MOVED_TO, IS_FOLDER = 0x100, 0x80, 0x40000000

    def __init__(self, folder):
        self.folder, self.folders = folder, {}
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        self.handle = self.libc.inotify_init1(os.O_CLOEXEC)
        for path in [self.folder, *(path for path in self.folder.rglob("*") if path.is_dir())]:
            self.watch(path)
        return self

    def __exit__(self, *_):
        os.close(self.handle)

    def watch(self, path):
        self.folders[self.libc.inotify_add_watch(self.handle, os.fsencode(path), self.CREATED | self.MOVED_TO)] = path

    def wait(self, seconds):
        """Paths below the folder; none when the time is over."""
        if not select.select([self.handle], [], [], seconds)[0]:
            return []
        data, found = os.read(self.handle, 1 << 16), []
        while data:
            folder, mask, _, length = struct.unpack_from("iIII", data)
            path = self.folders[folder] / os.fsdecode(data[16:16 + length].rstrip(b"\0"))
            data = data[16 + length:]
            if mask & self.IS_FOLDER:
                self.watch(path)
                for inner in path.rglob("*"):  # what came before the watch
                    if inner.is_dir():
                        self.watch(inner)
                    found.append(str(inner.relative_to(self.folder)))
            found.append(str(path.relative_to(self.folder)))
        return found


# --- the same history, two lakes ---

class Ours:
    """tidelake on the same stream, below a folder."""

    def __init__(self, server, table, folder):
        self.folder, self.table = folder, table
        self.options = ["--connection", server.connection(), "--capture-instance", table.instance, "--bronze", f"lake/bronze/{table.name}",
                        "--facts", FACTS, "--control", CONTROL]

    def run(self, command, *more):
        self.folder.mkdir(parents=True, exist_ok=True)
        return tidelake(command, *self.options, *more, "--json", cwd=self.folder, check=True).json()

    def stream(self, *more):
        return self.run("stream", "--app-id", f"{self.table.name}-v1", "--checkpoint", f"checkpoint/{self.table.name}", "--bootstrap", "--trigger", "available-now",
                        *more)

    def backfill_options(self, chunk_rows=None, max_waves=None, partitions=2):
        at = self.options.index("--control")  # it keeps no verdict
        options = [*self.options[:at], *self.options[at + 2:], "--app-id", f"{self.table.name}-v1", "--checkpoint", f"checkpoint/{self.table.name}",
                   "--num-partitions", str(partitions), "--target-wave-seconds", "0"]
        for name, value in (("--chunk-rows", chunk_rows), ("--max-waves", max_waves)):
            options += [name, str(value)] if value is not None else []
        return options

    def backfill(self, **how):
        return tidelake("backfill", *self.backfill_options(**how), "--json", cwd=self.folder, check=True).json()

    def backfill_until(self, written, **how):
        """A call that is killed as soon as such a file is in the lake, or has come to its end before."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with Births(self.folder) as births, open(self.folder / "killed.log", "w") as log:
            process = subprocess.Popen([program("tidelake"), "backfill", *self.backfill_options(**how)], cwd=self.folder, stdout=log, stderr=log)
            while process.poll() is None and not any(fnmatch.fnmatch(path, written) for path in births.wait(0.1)):
                pass
            process.kill()
            process.wait()

    def apply(self, *more):
        return self.run("apply", "--silver", f"lake/silver/{self.table.name}", "--keys", ",".join(self.table.keys), *more)


def peer_of(server, table):
    return Peer(server, table.instance, f"lake/bronze/{table.name}", f"lake/silver/{table.name}", f"{table.name}-v1", f"checkpoint/{table.name}", table.keys)


def commits(folder, path):
    log = folder / path / "_delta_log"
    return [[json.loads(line) for line in file.read_text().splitlines() if line] for file in sorted(log.glob("[0-9]*.json"))]


def actions(folder, path, name):
    return [action[name] for commit in commits(folder, path) for action in commit if name in action]


def rows(folder, path, sql="SELECT * FROM t"):
    table = tidelake("table", "sql", path, sql, "--json", cwd=folder, check=True).json()
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def changes_are_there_once(bronze):
    """In bronze no change twice, in the facts batch numbers without a hole."""
    equal(rows(WORK, bronze, "SELECT count(*) - count(DISTINCT (_start_lsn, _command_id, _seqval, _operation)) AS twice FROM t WHERE _operation <> 0"),
          [{"twice": 0}], "changes twice")
    batches = [row["batch_id"] for row in rows(WORK, FACTS, "SELECT batch_id FROM t WHERE event IS NULL ORDER BY batch_id")]
    equal(batches, list(range(len(batches))), "batch numbers without a hole")


# What two runs cannot have alike: clocks and measurements. Whether they are NULL is alike.
MEASURED = {"started_at", "duration_ms", "source_rtt_ms", "read_seconds", "read_mb", "network_wait_ms", "capture_lag_seconds", "written_at", "updated_at"}


def alike(row, loose=()):
    seen = {name: "set" if name in MEASURED and value is not None else value for name, value in row.items() if name not in loose}
    if seen.get("detail") and seen["detail"].startswith("{"):
        seen["detail"] = json.loads(seen["detail"])
    return json.dumps(seen, sort_keys=True)


def same_rows(ours, path, what, loose=()):
    got, want = (sorted(alike(row, loose) for row in rows(folder, path)) for folder in (ours.folder, WORK))
    for left, right in zip(got, want):
        equal(left, right, what)
    equal(len(got), len(want), f"rows of {what}")


def same_shape(ours, path):
    """Columns with their types and order, the version of our schema, the protocol."""
    def shape(folder):
        metadata, protocol = actions(folder, path, "metaData")[-1], actions(folder, path, "protocol")[-1]
        fields = [(field["name"], field["type"], field["nullable"], "comment" in field["metadata"]) for field in json.loads(metadata["schemaString"])["fields"]]
        return {"fields": fields, "partitions": metadata["partitionColumns"], "properties": metadata["configuration"], "described": bool(metadata.get("description")),
                "readers": (protocol["minReaderVersion"], protocol.get("readerFeatures"))}
    equal(shape(ours.folder), shape(WORK), f"shape of {path}")


def same_commits(ours, path, order=list):
    """Idempotency keys in their order, and the userMetadata of every commit to the byte."""
    keys = [order((txn["appId"], txn["version"]) for txn in actions(folder, path, "txn")) for folder in (ours.folder, WORK)]
    equal(keys[0], keys[1], f"keys of {path}")
    measured = re.compile(r'("attempt": )"[0-9a-f]{32}"|("read_seconds": |"read_mb": )[0-9][-+.e0-9]*')
    texts = [order(measured.sub(r"\1\2set", info["userMetadata"]) for info in actions(folder, path, "commitInfo") if "userMetadata" in info)
             for folder in (ours.folder, WORK)]
    equal(texts[0], texts[1], f"userMetadata of {path}")


def same_checkpoint(ours, name):
    def files(folder):
        found = {}
        for path in (folder / "checkpoint" / name).rglob("*"):
            relative = str(path.relative_to(folder / "checkpoint" / name))
            if path.is_dir() or path.name.startswith(".") or relative.startswith(("_mssql_cdc_metrics", "_tidelake")):
                continue
            text = path.read_text()
            if relative == "metadata":
                text = {member: len(value) for member, value in json.loads(text).items()}
            elif relative.startswith("offsets/"):
                version, batch, offset = text.split("\n")
                text = (version, sorted(json.loads(batch)), json.loads(batch)["batchWatermarkMs"], offset)
            found[relative] = text
        return found
    equal(files(ours.folder), files(WORK), "checkpoint files")
