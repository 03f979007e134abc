#!/usr/bin/env python3
"""The pipeline against a real SQL Server: TIDELAKE_SQLSERVER holds an ODBC connection string of a login that is db_owner of the
database it names (and sysadmin where CDC is not enabled there yet). Makes one table of its own and drops it.

With the connection string of a tidesim the test tests itself."""
from lib import *

CONNECTION = os.environ.get("TIDELAKE_SQLSERVER", "")
TABLE = f"tidelake_e2e_{random.randrange(1 << 30)}"


def sql(script, check=True):
    done = subprocess.run([program("demo-sql"), "--connection", CONNECTION], input=script, capture_output=True, text=True, timeout=300)
    if check and done.returncode != 0:
        raise RuntimeError(f"{done.stderr}\n{script}")
    return done.returncode


class RealServer:
    def connection(self):
        return CONNECTION


def stream_until(lake, wanted, deadline=360):
    """Capture takes its time: streams until bronze holds that many changes."""
    until = time.monotonic() + deadline
    while True:
        lake.stream(f"dbo_{TABLE}", TABLE, check=True)
        changes = lake.query(f"bronze/{TABLE}", "SELECT count(*) FROM t WHERE _operation <> 0")[0][0]
        if changes >= wanted or time.monotonic() > until:
            return changes
        time.sleep(2)


@test
def a_real_server_is_followed_exactly(folder):
    if not CONNECTION:
        raise Skip("TIDELAKE_SQLSERVER is not set: nothing was tested against a real SQL Server")
    lake = Lake(folder / "lake", RealServer())
    sql(f"""
IF NOT EXISTS (SELECT 1 FROM sys.databases WHERE database_id = DB_ID() AND is_cdc_enabled = 1) EXEC sys.sp_cdc_enable_db;
GO
CREATE TABLE dbo.{TABLE} (id int NOT NULL PRIMARY KEY, v nvarchar(40) NULL, d decimal(18,4) NULL, t datetime2(7) NULL, g uniqueidentifier NULL, b varbinary(20) NULL);
INSERT INTO dbo.{TABLE} VALUES (1, N'eins ☕', 1.5, '2026-01-01T00:00:00.1234567', NEWID(), 0x00FF), (2, NULL, NULL, NULL, NULL, NULL), (3, N'', -0.0001, '0001-01-01', NEWID(), 0x);
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'{TABLE}', @role_name = NULL;
""")
    try:
        lake.stream(f"dbo_{TABLE}", TABLE, check=True)
        equal(lake.query(f"bronze/{TABLE}", "SELECT count(*) FROM t WHERE _operation = 0"), [[3]])
        sql(f"INSERT INTO dbo.{TABLE} (id, v) VALUES (10, N'neu'); UPDATE dbo.{TABLE} SET d = d + 1 WHERE id <= 2; UPDATE dbo.{TABLE} SET id = 30 WHERE id = 3; DELETE FROM dbo.{TABLE} WHERE id = 2;")
        # one insert; an update of two rows, one of which stays as it was (NULL + 1); a key update as delete and insert, or as before and after; a delete
        equal(stream_until(lake, 6) >= 6, True, "changes arrived")
        lake.apply(f"dbo_{TABLE}", TABLE, check=True)
        compared = lake.compare(TABLE)
        equal(compared.returncode, 0, compared.stdout + compared.stderr)
    finally:
        sql(f"EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N'{TABLE}', @capture_instance = N'all';\nGO\nDROP TABLE dbo.{TABLE};", check=False)


if __name__ == "__main__":
    main()
