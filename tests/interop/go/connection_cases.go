package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

const setup = `
ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON;
CREATE TABLE dbo.plain (id int NOT NULL PRIMARY KEY, name nvarchar(20) NULL DEFAULT 'none');
CREATE TABLE dbo.numbers (n int NOT NULL PRIMARY KEY);
INSERT INTO dbo.numbers SELECT value FROM GENERATE_SERIES(1, 1000);
CREATE TABLE dbo.log (id int IDENTITY(5, 5) PRIMARY KEY, what varchar(10) NOT NULL, was int NULL, is_now int NULL);
GO
CREATE PROCEDURE dbo.divide @left int, @right int, @whole int OUTPUT, @rest int OUTPUT, @words nvarchar(40) OUTPUT AS
BEGIN
  SELECT n FROM dbo.numbers WHERE n <= @right ORDER BY n;
  SET @whole = @left / @right;
  SET @rest = @left % @right;
  SET @words = @words + N' ж';
  RETURN @left;
END
GO
CREATE PROCEDURE dbo.doomed AS
BEGIN
  SELECT 1 AS before;
  RAISERROR(N'doomed %s', 13, 9, N'ж');
  RETURN 3;
END
GO
CREATE LOGIN reader WITH PASSWORD = 'Read.3r!';
CREATE USER reader FOR LOGIN reader;
GO
`

var connectionCases = []testCase{
	{"encryption_is_as_asked_for", func(on *server) {
		const encrypted = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID"
		for _, one := range []struct {
			options []string
			want    string // "" for a client that gives up
		}{
			{[]string{"encrypt", "disable"}, "FALSE"},
			{[]string{"encrypt", "false", "TrustServerCertificate", "true"}, "FALSE"}, // the login alone
			{[]string{"encrypt", "true", "TrustServerCertificate", "true"}, "TRUE"},
			{[]string{"encrypt", "true", "certificate", on.certificate}, "TRUE"},
			{[]string{"encrypt", "true", "certificate", on.certificate, "hostNameInCertificate", "elsewhere"}, ""},
			{[]string{"encrypt", "true"}, ""}, // nobody vouches for the certificate
			{[]string{"encrypt", "strict", "certificate", on.certificate}, "TRUE"},
			{[]string{"encrypt", "strict"}, ""},
			{[]string{"encrypt", "true", "TrustServerCertificate", "true", "tlsmin", "1.2", "packet size", "32767"}, "TRUE"},
		} {
			db := on.open(one.options...)
			got := ""
			if err := db.QueryRow(encrypted).Scan(&got); (err != nil) != (one.want == "") {
				fail("%v: %v", one.options, err)
			}
			same(strings.Join(one.options, " "), got, one.want)
			db.Close()
		}
	}},
	{"options_of_the_connection_arrive", func(on *server) {
		s := on.session("app name", "suite", "workstation id", "here", "packet size", "512", "ApplicationIntent", "ReadOnly")
		defer s.close()
		same("session", s.rows("SELECT DB_NAME(), APP_NAME(), HOST_NAME(), SUSER_SNAME(), REPLICATE('x', 3000)"),
			[][]any{{"shop", "suite", "here", "sa", strings.Repeat("x", 3000)}})
		long := on.session("packet size", "32767")
		defer long.close()
		text := strings.Repeat("ж", 100000)
		same("a long text", long.scalar("SELECT @p1", text), text)
	}},
	{"a_wrong_login_or_database_is_refused", func(on *server) {
		for _, one := range []struct {
			options []string
			number  int32
		}{{[]string{"login", "sa:wrong"}, 18456}, {[]string{"login", "nobody:x"}, 18456}, {[]string{"database", "nowhere"}, 4060}} {
			db := on.open(one.options...)
			last := refused(db.Ping(), 18456)
			same("the first error", last.All[0].Number, one.number)
			db.Close()
		}
	}},
	{"a_pooled_connection_is_reset", func(on *server) {
		ctx := context.Background()
		db := on.open()
		defer db.Close()
		db.SetMaxOpenConns(1)
		first, err := db.Conn(ctx)
		must(err)
		var spid, again int
		must(first.QueryRowContext(ctx, "SELECT @@SPID").Scan(&spid))
		_, err = first.ExecContext(ctx, `CREATE TABLE #t (n int); SET LOCK_TIMEOUT 5; SET DATEFIRST 3; USE master;
			EXEC sp_set_session_context N'k', 1; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE`)
		must(err)
		must(first.Close())
		second, err := db.Conn(ctx)
		must(err)
		defer second.Close()
		var table, value sql.NullInt64
		var timeout, dateFirst, level int
		var database string
		must(second.QueryRowContext(ctx, `SELECT @@SPID, OBJECT_ID('tempdb..#t'), @@LOCK_TIMEOUT, @@DATEFIRST, DB_NAME(), CAST(SESSION_CONTEXT(N'k') AS int),
			(SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID)`).Scan(&again, &table, &timeout, &dateFirst, &database, &value, &level))
		same("one connection", again, spid)
		same("its state", []any{table.Valid, timeout, dateFirst, database, value.Valid}, []any{false, -1, 7, "shop", false})
		same("the isolation level", level, 4) // a reset leaves it
	}},
	{"a_killed_connection_is_replaced", func(on *server) {
		ctx := context.Background()
		db := on.open()
		defer db.Close()
		db.SetMaxOpenConns(1)
		var spid, again int
		must(db.QueryRowContext(ctx, "SELECT @@SPID").Scan(&spid))
		killer := on.session()
		defer killer.close()
		killer.exec("DECLARE @kill varchar(20) = CONCAT('KILL ', @p1); EXEC (@kill)", spid)
		for tries := 0; ; tries++ { // the pool learns of it by the first use
			err := db.QueryRowContext(ctx, "SELECT @@SPID").Scan(&again)
			if err == nil && again != spid {
				break
			}
			if tries == 100 {
				fail("still session %d: %v", again, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}},
	{"a_severe_error_ends_the_connection", func(on *server) {
		db := on.open()
		defer db.Close()
		db.SetMaxOpenConns(1)
		var spid int
		must(db.QueryRow("SELECT @@SPID").Scan(&spid))
		err := tryIt(db.Query("RAISERROR('severe', 20, 1) WITH LOG"))
		var severe mssql.ServerError
		if !errors.As(err, &severe) {
			fail("%T: %v", err, err)
		}
		other := on.session()
		defer other.close()
		same("sessions", other.scalar("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE session_id = @p1", spid), int64(0))
		must(db.QueryRow("SELECT @@SPID").Scan(&spid)) // by a new connection
	}},
}
