#!/usr/bin/env python3
"""Clients of SQL Server that we did not write, against a tidesim that offers encryption, one that requires it and one that has none: who
gets in, whether the connection is encrypted, and who finds out that a server is another. Many rows come through each.

Prints TAP; a client that is not installed is skipped aloud. For the whole of it the environment has

  pymssql==2.4.6 python-tds==1.17.1 pyOpenSSL==26.4.0 pyodbc==5.5.0 mssql-python==1.16.0 mssql-python-odbc==18.6.2.2
  connectorx==0.4.6 pyarrow==26.0.1 rivet-cli==0.32.2

  TIDELAKE_BUILD=build build/py/bin/python tests/interop/python/test_encryption.py [WORD...]
"""
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import PASSWORD, Server  # noqa: E402

ENCRYPTED = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID"
ROWS = "SELECT value, REPLICATE('x', 200) FROM GENERATE_SERIES(1, 20000)"
SCRIPT = """CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, status nvarchar(20) NOT NULL);
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
GO
INSERT INTO dbo.orders VALUES (1, N'new'), (2, N'paid');
UPDATE dbo.orders SET status = N'sent' WHERE id = 2;
GO
EXEC tidesim.scan_now;
GO
"""
NO, LOGIN, ALL = "gets in not at all", "FALSE", "TRUE"  # LOGIN: the login alone is encrypted, or nothing


class Missing(Exception):
    pass


def read(connection):
    """What a connection of Python's says of itself, once rows have come."""
    try:
        cursor = connection.cursor()
        cursor.execute(ROWS)
        rows = cursor.fetchall()
        assert len(rows) == 20000 and rows[-1][0] == 20000 and rows[-1][1] == "x" * 200, rows[-1:]
        cursor.execute(ENCRYPTED)
        return cursor.fetchone()[0]
    finally:
        connection.close()


def run(command, text="", **more):
    if not shutil.which(command[0]):
        raise Missing(command[0])
    environment = dict(os.environ, **more)
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, env=environment)
    if done.returncode != 0:
        raise RuntimeError((done.stdout + done.stderr)[-2000:])
    return done.stdout.replace("\0", "")


def said(output):
    """The one of TRUE and FALSE among the words."""
    found = [word for word in output.split() if word in (ALL, LOGIN)]
    assert len(found) == 1, output
    return found[0]


class World:
    def __init__(self, folder, *options):
        folder.mkdir()
        script = folder / "init.sql"
        script.write_text(SCRIPT)
        self.folder = folder
        self.server = Server(folder, "--capture-interval", "manual", "--seed", "7", *options, init=[script])
        self.port = int(self.server.address.rsplit(":", 1)[1])
        told = [line.split("certificate ", 1)[1] for line in (folder / "tidesim.err").read_text().splitlines() if line.startswith("tidesim: certificate ")]
        self.certificate = told[0] if told else WORLDS["offers"].certificate


# --- clients: each connects to a world as it is told, and gives what the server says of the connection ---

def tsql(world, _):
    return said(run(["tsql", "-H", "127.0.0.1", "-p", str(world.port), "-U", "sa", "-P", PASSWORD, "-D", "shop"], ENCRYPTED + "\ngo\nexit\n", TDSVER="7.4"))


def configured(world, encryption):
    """A freetds.conf with the server as `sim`, or none: what FreeTDS does by itself."""
    path = world.folder / f"freetds-{encryption or 'default'}.conf"
    path.write_text(f"[sim]\n\thost = 127.0.0.1\n\tport = {world.port}\n\ttds version = 7.4\n" + (f"\tencryption = {encryption}\n" if encryption else ""))
    return str(path)


def bsqldb(world, encryption):
    return said(run(["bsqldb", "-S", "sim", "-U", "sa", "-P", PASSWORD], ENCRYPTED + "\ngo\n", FREETDSCONF=configured(world, encryption)))


def freebcp(world, encryption):
    """Out and in again: a bulk load travels encrypted too."""
    name, out = f"dbo.copied_{encryption or 'default'}", world.folder / "copied.txt"
    command = ["-c", "-t", "|", "-S", "sim", "-U", "sa", "-P", PASSWORD]
    config = configured(world, encryption)
    run(["freebcp", ROWS, "queryout", str(out), *command], FREETDSCONF=config)
    ask = ["bsqldb", "-S", "sim", "-U", "sa", "-P", PASSWORD]
    run(ask, f"USE shop\ngo\nCREATE TABLE {name} (id int NOT NULL, body varchar(200) NOT NULL)\ngo\n", FREETDSCONF=config)
    run(["freebcp", "shop." + name, "in", str(out), *command], FREETDSCONF=config)
    counted = run(ask, f"SELECT COUNT(*), SUM(id), SUM(LEN(body)) FROM shop.{name}\ngo\n", FREETDSCONF=config)
    assert "20000" in counted and "200010000" in counted and "4000000" in counted, counted
    run(["freebcp", ENCRYPTED, "queryout", str(out), *command], FREETDSCONF=config)
    return said(out.read_text())


def pymssql(world, encryption):
    import pymssql as module

    more = {"encryption": encryption} if encryption else {}
    return read(module.connect(server="127.0.0.1", port=world.port, user="sa", password=PASSWORD, database="shop", tds_version="7.4", **more))


def python_tds(world, how):
    import pytds

    more = {}
    if how:
        import OpenSSL  # noqa: F401

        more = {"cafile": (how if isinstance(how, World) else world).certificate, "enc_login_only": how == "login"}
    return read(pytds.connect(dsn="localhost", port=world.port, user="sa", password=PASSWORD, database="shop", **more))


def pyodbc_freetds(world, encryption):
    import pyodbc

    pyodbc.pooling = False
    more = f";Encryption={encryption}" if encryption else ""
    return read(pyodbc.connect(f"Driver=FreeTDS;TDS_Version=7.4;Server=127.0.0.1;Port={world.port};UID=sa;PWD={PASSWORD};Database=shop" + more, timeout=20))


def trusting(world, how):
    """The string behind `|` in `how` tells whose certificate is trusted: this server's, another's, nobody's."""
    keywords, _, trust = how.partition("|")
    os.environ.pop("SSL_CERT_FILE", None)
    if trust:
        os.environ["SSL_CERT_FILE"] = (world if trust == "this" else WORLDS["other"]).certificate
    return keywords


def pyodbc_microsoft(world, how):
    import mssql_python_odbc
    import pyodbc

    pyodbc.pooling = False
    library = glob.glob(mssql_python_odbc.get_libs_dir() + "/linux/debian_ubuntu/x86_64/lib/libmsodbcsql-18*.so*")[0]
    return read(pyodbc.connect(f"Driver={library};Server=tcp:localhost,{world.port};UID=sa;PWD={PASSWORD};Database=shop;" + trusting(world, how), timeout=20))


def mssql_python(world, how):
    import mssql_python as module

    module.pooling(enabled=False)
    return read(module.connect(f"Server=localhost,{world.port};UID=sa;PWD={PASSWORD};Database=shop;" + trusting(world, how)))


def connectorx(world, how):
    import connectorx as module

    return module.read_sql(f"mssql://sa:{PASSWORD}@127.0.0.1:{world.port}/shop?{how}", ENCRYPTED, return_type="arrow").column(0).to_pylist()[0]


def rivet(world, _):
    """A reader of change data capture, in Rust. It insists on encryption."""
    place = pathlib.Path(sys.executable).parent / "rivet"
    output = run([str(place), "cdc", "--source", f"sqlserver://sa:{PASSWORD}@127.0.0.1:{world.port}/shop", "--capture-instance", "dbo_orders"])
    changes = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert [(change["op"], change["after"]) for change in changes] == [("insert", [1, "new"]), ("insert", [2, "paid"]), ("update", [2, "sent"])], output
    return ALL


# client, how, with a server that offers encryption, requires it, has none
MATRIX = [
    (tsql, None, LOGIN, ALL, LOGIN),
    (bsqldb, None, LOGIN, ALL, LOGIN),
    (bsqldb, "require", ALL, ALL, NO),
    (freebcp, None, LOGIN, ALL, LOGIN),
    (freebcp, "require", ALL, ALL, NO),
    (pymssql, None, LOGIN, ALL, LOGIN),
    (pymssql, "require", ALL, ALL, NO),
    (python_tds, None, LOGIN, NO, LOGIN),
    (python_tds, "all", ALL, ALL, NO),
    (python_tds, "login", LOGIN, ALL, LOGIN),
    (python_tds, "other", NO, NO, NO),
    (pyodbc_freetds, None, LOGIN, ALL, LOGIN),
    (pyodbc_freetds, "require", ALL, ALL, NO),
    (pyodbc_microsoft, "Encrypt=no", LOGIN, NO, LOGIN),
    (pyodbc_microsoft, "Encrypt=no|this", LOGIN, ALL, LOGIN),
    (pyodbc_microsoft, "Encrypt=yes;TrustServerCertificate=yes", ALL, ALL, NO),
    (pyodbc_microsoft, "", NO, NO, NO),
    (pyodbc_microsoft, "|this", ALL, ALL, NO),
    (pyodbc_microsoft, "|other", NO, NO, NO),
    (pyodbc_microsoft, "Encrypt=strict|this", ALL, ALL, NO),
    (pyodbc_microsoft, "Encrypt=strict|other", NO, NO, NO),
    (mssql_python, "Encrypt=no", LOGIN, NO, LOGIN),
    (mssql_python, "", NO, NO, NO),
    (mssql_python, "|this", ALL, ALL, NO),
    (mssql_python, "Encrypt=yes;TrustServerCertificate=yes", ALL, ALL, NO),
    (mssql_python, "Encrypt=strict|this", ALL, ALL, NO),
    (connectorx, "encrypt=true&trust_server_certificate=true", ALL, ALL, None),  # None: it tries for half a minute
    (rivet, None, ALL, ALL, NO),
]
WORLDS = {}


def try_case(client, how, world, want):
    """'' when it went as wanted, else why not; Missing."""
    how = WORLDS["other"] if (client, how) == (python_tds, "other") else how
    try:
        got = client(world, how)
    except ImportError as error:
        raise Missing(error.name) from error
    except (Missing, AssertionError):
        raise
    except Exception as error:
        return "" if want == NO else f"{type(error).__name__}: {error}"
    return "" if got == want else f"encrypt_option is {got}, wanted: {want}"


def main():
    wanted, number, failed = sys.argv[1:], 0, 0
    with tempfile.TemporaryDirectory(prefix="tidelake-encryption-") as name:
        folder = pathlib.Path(name)
        try:
            for kind, options in (("offers", []), ("requires", ["--require-encryption"]), ("lacks", ["--tls", "none"]), ("other", [])):
                WORLDS[kind] = World(folder / kind, *options)
            for client, how, *wants in MATRIX:
                title = f"{client.__name__} {how or ''}".strip()
                if wanted and not any(word in title for word in wanted):
                    continue
                why, skip = [], ""
                for kind, want in zip(("offers", "requires", "lacks"), wants):
                    try:
                        problem = try_case(client, how, WORLDS[kind], want) if want else ""
                    except Missing as error:
                        skip = f" # SKIP {error} is not installed"
                        break
                    except AssertionError as error:
                        problem = f"wrong: {error}"
                    why += [f"a server that {kind} encryption: {line}" for line in problem.splitlines()]
                number, failed = number + 1, failed + bool(why)
                for line in why:
                    print(f"# {line}")
                print(f"{'not ok' if why else 'ok'} {number} - encryption: {title}{skip}", flush=True)
        finally:
            for world in WORLDS.values():
                world.server.close()
    print(f"1..{number}")
    return 1 if failed or number == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
