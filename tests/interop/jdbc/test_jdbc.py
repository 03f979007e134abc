#!/usr/bin/env python3
"""Runs the cases of Suite.java with one driver: test_jdbc.py CLASSPATH [CASE...], against a tidesim of its own, and a second one that
only shows another certificate. Prints TAP."""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from lib import Server  # noqa: E402

SCRIPT = """
ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON;
GO
CREATE DATABASE other;
GO
USE other;
CREATE TABLE dbo.elsewhere (a int NOT NULL PRIMARY KEY, b nvarchar(10) NULL);
GO
USE shop;
GO
CREATE SCHEMA sales;
GO
CREATE TABLE dbo.customers (id int IDENTITY(1,1) NOT NULL CONSTRAINT pk_customers PRIMARY KEY, name nvarchar(50) NOT NULL,
  email varchar(100) NULL CONSTRAINT uq_customers_email UNIQUE, credit decimal(12,2) NOT NULL CONSTRAINT df_customers_credit DEFAULT (0),
  made datetime2(3) NOT NULL CONSTRAINT df_customers_made DEFAULT (sysutcdatetime()), doubled AS (credit * 2), version rowversion NOT NULL);
CREATE TABLE sales.orders (customer int NOT NULL CONSTRAINT fk_orders_customers REFERENCES dbo.customers (id), line smallint NOT NULL,
  status nvarchar(20) NULL, CONSTRAINT pk_orders PRIMARY KEY (customer, line));
CREATE INDEX ix_orders_status ON sales.orders (status, line);
INSERT dbo.customers (name, email, credit) VALUES (N'Ada', 'ada@example.org', 100), (N'Grace', 'grace@example.org', 250), (N'Edsger', 'edsger@example.org', 0);
GO
CREATE VIEW sales.open_orders AS SELECT customer, line FROM sales.orders WHERE status = N'open';
GO
CREATE PROCEDURE dbo.add_customer @name nvarchar(50), @credit decimal(12,2) = 0, @id int OUTPUT AS
BEGIN
  INSERT dbo.customers (name, credit) VALUES (@name, @credit);
  SET @id = SCOPE_IDENTITY();
END;
GO
CREATE USER clerk WITHOUT LOGIN;
GRANT SELECT ON dbo.customers TO clerk;
GO
EXEC sys.sp_cdc_enable_db;
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'sales', @source_name = N'orders', @role_name = NULL;
GO
"""


def certificate(folder):
    lines = (folder / "tidesim.err").read_text().splitlines()
    return next(line.split("certificate ", 1)[1] for line in lines if line.startswith("tidesim: certificate "))


def main():
    classpath, cases = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="tidelake-jdbc-") as name:
        folder = pathlib.Path(name)
        script = folder / "init.sql"
        script.write_text(SCRIPT)
        (folder / "server").mkdir()
        (folder / "other").mkdir()
        server, other = None, None
        try:
            server = Server(folder / "server", "--capture-interval", "manual", "--seed", "7", init=[script])
            other = Server(folder / "other", "--capture-interval", "manual")
            store = folder / "trust.p12"
            subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "tidesim", "-file", certificate(folder / "server"), "-keystore", str(store),
                            "-storetype", "PKCS12", "-storepass", "changeit"], check=True, capture_output=True)
            ports = [each.address.rsplit(":", 1)[1] for each in (server, other)]
            return subprocess.run(["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-cp", classpath, "Suite", *ports, str(store), *cases]).returncode
        finally:
            for each in (server, other):
                if each:
                    if each.process.poll() is not None: print("# tidesim ended with", each.process.returncode, (each.folder / "tidesim.err").read_text()[-1500:])
                    each.close()


if __name__ == "__main__":
    sys.exit(main())
