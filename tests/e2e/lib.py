"""What the end-to-end tests share: the built programs, a tidesim of their own, a lake in a folder of its own, TAP.

Only Python's standard library, and nothing of tidelake but its two programs: what is asserted is what a user would see.
"""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TIDELAKE_BUILD", ROOT / "build"))
PASSWORD = "Tide.Sim.1"


def program(name):
    path = BUILD / name
    return str(next((place for place in (path, BUILD / "demo" / name, BUILD / "bench" / name) if place.exists()), path))


def microsoft_driver():
    """The path of Microsoft's ODBC driver, None where it is not installed."""
    patterns = ("build*/py/lib/python3*/site-packages/mssql_python_odbc/libs/linux/debian_ubuntu/x86_64/lib/libmsodbcsql-*.so*",
                "opt/microsoft/msodbcsql18/lib64/libmsodbcsql-*.so*")
    named = os.environ.get("TIDELAKE_MICROSOFT_ODBC")
    found = [path for root, pattern in zip((ROOT, pathlib.Path("/")), patterns) for path in sorted(root.glob(pattern))]
    return named or (str(found[0]) if found else None)


class Server:
    """A tidesim on a free port, with a database `shop`."""

    def __init__(self, folder, *options, init=(), database="shop"):
        self.folder, self.database = pathlib.Path(folder), database
        self.out = open(self.folder / "tidesim.out", "w")
        self.err = open(self.folder / "tidesim.err", "w")
        command = [program("tidesim"), "serve", "--listen", "127.0.0.1:0", "--database", database, "--login", "sa:" + PASSWORD]
        for script in init:
            command += ["--init", str(script)]
        self.process = subprocess.Popen(command + list(options), stdout=self.out, stderr=self.err)
        self.address = self._wait_ready()

    def _wait_ready(self):
        for _ in range(1200):
            for line in (self.folder / "tidesim.out").read_text().splitlines():
                if line.startswith("tidesim ready "):
                    return line.split()[2]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError("tidesim did not start: " + (self.folder / "tidesim.err").read_text())

    def connection(self, user="sa", password=PASSWORD, database=None):
        host, port = self.address.rsplit(":", 1)
        return f"Driver=FreeTDS;Server={host},{port};Database={database or self.database};UID={user};PWD={password}"

    def sql(self, text, database=None, check=True):
        """Runs a GO-separated script; returns what it printed."""
        done = subprocess.run([program("tidesim"), "exec", "--server", self.address, "--login", "sa:" + PASSWORD, "--database", database or self.database, "-"],
                              input=text, capture_output=True, text=True, timeout=300)
        if check and done.returncode != 0:
            raise RuntimeError(f"SQL failed ({done.returncode}): {done.stdout}\n{done.stderr}\n{text}")
        return done.stdout

    def scan(self):
        self.sql(f"EXEC tidesim.scan_now '{self.database}';")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.out.close()
        self.err.close()
        return self.process.returncode


def overriding(options, more):
    """`options`, pairs of a name and its value, without those that `more` gives as well; then `more`: no option may be given twice."""
    names = {word.split("=")[0] for word in more}
    kept = [word for i in range(0, len(options), 2) if options[i] not in names for word in options[i:i + 2]]
    return kept + list(more)


def compare(server, name, silver):
    """demo-compare of a table and its silver; code 0: they are equal."""
    return subprocess.run([program("demo-compare"), "--connection", server.connection(), "--table", f"dbo.{name}", "--silver", str(silver)],
                          capture_output=True, text=True, timeout=300)


def silver_is_source(server, name, silver):
    compared = compare(server, name, silver)
    equal(compared.returncode, 0, f"{name} against its source: {compared.stdout[-2000:]}{compared.stderr[-2000:]}")


class Lake:
    """A folder with a lake, and tidelake commands on it."""

    def __init__(self, folder, server):
        self.folder, self.server = pathlib.Path(folder), server

    def options(self, instance, table, *more):
        return overriding(["--connection", self.server.connection(), "--capture-instance", instance, "--root", str(self.folder), "--bronze", f"bronze/{table}",
                           "--facts", "ops/facts", "--control", "ops/control"], more)

    def stream(self, instance, table, *more, **kwargs):
        own = ["--app-id", f"{table}-v1", "--checkpoint", f"checkpoints/{table}", "--trigger", "available-now"]
        return tidelake("stream", "--bootstrap", *self.options(instance, table, *overriding(own, more)), **kwargs)

    def apply(self, instance, table, *more, **kwargs):
        return tidelake("apply", *self.options(instance, table, *overriding(["--silver", f"silver/{table}"], more)), **kwargs)

    def query(self, table, sql):
        return json.loads(tidelake("table", "sql", str(self.folder / table), sql, "--json", check=True).stdout)["rows"]

    def history(self, table):
        return json.loads(tidelake("table", "history", str(self.folder / table), "--json", check=True).stdout)["rows"]

    def compare(self, table):
        return compare(self.server, table, self.folder / "silver" / table)

    def log(self, table):
        """The actions of a Delta table's commits, oldest first, read without tidelake: [(version, [action, ...])]."""
        folder = self.folder / table / "_delta_log"
        return [(int(path.stem), [json.loads(line) for line in path.read_text().splitlines() if line])
                for path in sorted(folder.glob("*.json")) if path.stem.isdigit()]

    def txn(self, table, app_id):
        """The newest version of a txn appId, -1 for none."""
        newest = -1
        for _, actions in self.log(table):
            for action in actions:
                if action.get("txn", {}).get("appId") == app_id:
                    newest = max(newest, action["txn"]["version"])
        return newest


# The table of a Driven lake.
DRIVEN_SETUP = """
CREATE TABLE dbo.parcel (id int NOT NULL PRIMARY KEY, label varchar(40) NULL);
INSERT INTO dbo.parcel SELECT value, 'first' FROM GENERATE_SERIES(1, 10);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'parcel', @role_name = NULL;
GO
"""


class Driven(Lake):
    """A lake whose source is reached through a driver of its own, under a name that faults can tell."""

    def __init__(self, folder, server, driver):
        super().__init__(folder, server)
        self.driver = driver

    def options(self, instance, table, *more):
        options = super().options(instance, table, *more)
        options[1] = options[1].replace("Driver=FreeTDS", "Driver=" + self.driver) + ";APP=tidelake;Encrypt=no"
        return options

    def start(self, log, *more):
        own = ["--app-id", "parcel-v1", "--checkpoint", "checkpoints/parcel", "--trigger", "available-now", "--num-partitions", "1"]
        return start_tidelake("stream", *self.options("dbo_parcel", "parcel", *overriding(own, more)), stderr=log)


@contextlib.contextmanager
def driven(folder, driver, *server_options, setup=DRIVEN_SETUP):
    """A server with the table, captured, and a lake that reaches it through the driver."""
    server = Server(folder, "--capture-interval", "manual", *server_options)
    try:
        server.sql(setup)
        server.scan()
        yield Driven(folder / "lake", server, driver), server
    finally:
        server.close()


def drivers():
    return [driver for driver in ("FreeTDS", microsoft_driver()) if driver]


class Result:
    def __init__(self, done):
        self.code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr

    def json(self):
        return json.loads(self.stdout.splitlines()[-1])

    def last_error(self):
        lines = [line for line in self.stderr.splitlines() if line.startswith("tidelake: ")]
        return lines[-1] if lines else self.stderr[-2000:]


def tidelake(*arguments, check=False, timeout=300, cwd=None, env=None):
    done = subprocess.run([program("tidelake"), *arguments], capture_output=True, text=True, timeout=timeout, cwd=cwd, env=env)
    if check and done.returncode != 0:
        raise AssertionError(f"tidelake {' '.join(arguments[:2])} ended with {done.returncode}: {done.stderr[-3000:]}")
    return Result(done)


def start_tidelake(*arguments, stderr):
    return subprocess.Popen([program("tidelake"), *arguments], stdout=subprocess.DEVNULL, stderr=stderr)


class Writer:
    """demo-writer in the background."""

    def __init__(self, server, *options):
        self.process = subprocess.Popen([program("demo-writer"), "--connection", server.connection(), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        if self.process.returncode != 0:
            raise RuntimeError("the writer failed: " + err)
        return int(out.split()[0])


# --- TAP ---

_tests = []


def test(function):
    """Marks a test; its name is a sentence about behaviour."""
    _tests.append(function)
    return function


class Skip(Exception):
    pass


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def holds(text, *parts):
    for part in parts:
        if part not in text:
            raise AssertionError(f"{part!r} is not in {text!r}")


def main():
    """Runs the file's tests, each with a folder of its own as `folder`; prints TAP."""
    wanted = sys.argv[1:]
    chosen = [function for function in _tests if not wanted or function.__name__ in wanted]
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    for number, function in enumerate(chosen, 1):
        folder = tempfile.mkdtemp(prefix="tidelake-e2e-")
        name = function.__name__.replace("_", " ")
        try:
            function(pathlib.Path(folder))
            print(f"ok {number} - {name}", flush=True)
        except Skip as why:
            print(f"ok {number} - {name} # SKIP {why}", flush=True)
        except Exception as error:  # every failure is a line, whatever it is
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            for line in f"{type(error).__name__}: {error}".splitlines():
                print("# " + line, flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)
