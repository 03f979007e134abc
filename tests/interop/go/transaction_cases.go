package main

import (
	"database/sql"
	"fmt"

	mssql "github.com/microsoft/go-mssqldb"
)

var transactionCases = []testCase{
	{"transactions_commit_and_roll_back_at_every_level", func(on *server) {
		db, other := on.open(), on.session()
		defer db.Close()
		defer other.close()
		other.exec("SET LOCK_TIMEOUT 0")
		for level, number := range map[sql.IsolationLevel]int64{sql.LevelDefault: 2, sql.LevelReadUncommitted: 1, sql.LevelReadCommitted: 2,
			sql.LevelRepeatableRead: 3, sql.LevelSerializable: 4, sql.LevelSnapshot: 5} {
			for _, commits := range []bool{false, true} {
				tx, err := db.BeginTx(background, &sql.TxOptions{Isolation: level})
				must(err)
				var count, got int64
				must(tx.QueryRow("SELECT @@TRANCOUNT, transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID").Scan(&count, &got))
				if level != sql.LevelDefault { // which takes what the connection had
					same(level.String(), []any{count, got}, []any{int64(1), number})
				}
				_, err = tx.Exec("INSERT dbo.plain VALUES (@p1, 'one')", 1)
				must(err)
				refused(other.try("SELECT * FROM dbo.plain WHERE id = 1"), 1222)
				want := int64(0)
				if commits {
					must(tx.Commit())
					want = 1
				} else {
					must(tx.Rollback())
				}
				same(level.String(), other.scalar("SELECT COUNT(*) FROM dbo.plain"), want)
				other.exec("DELETE dbo.plain")
			}
		}
	}},
	{"snapshots_do_not_see_later_commits", func(on *server) {
		db, other := on.open(), on.session()
		defer db.Close()
		defer other.close()
		other.exec("INSERT dbo.plain VALUES (1, 'old'), (2, 'old')")
		tx, err := db.BeginTx(background, &sql.TxOptions{Isolation: sql.LevelSnapshot})
		must(err)
		var name string
		read := "SELECT name FROM dbo.plain WHERE id = @p1"
		must(tx.QueryRow(read, 1).Scan(&name))
		other.exec("UPDATE dbo.plain SET name = 'new'")
		must(tx.QueryRow(read, 2).Scan(&name))
		same("in the snapshot", name, "old")
		_, err = tx.Exec("UPDATE dbo.plain SET name = 'mine' WHERE id = 2")
		refused(err, 3960)
		if err := tx.Rollback(); err != nil { // the server has rolled back by itself
			refused(err, 3903)
		}
		same("afterwards", other.scalar(read, 2), "new")
		other.exec("DELETE dbo.plain")
	}},
	{"a_deadlock_has_a_victim", func(on *server) {
		db := on.open()
		defer db.Close()
		_, err := db.Exec("INSERT dbo.plain VALUES (1, 'a'), (2, 'b')")
		must(err)
		var txs [2]*sql.Tx
		for i := range txs {
			txs[i], err = db.BeginTx(background, nil)
			must(err)
			_, err = txs[i].Exec("UPDATE dbo.plain SET name = @p1 WHERE id = @p2", fmt.Sprint(i), i+1)
			must(err)
		}
		results := make(chan error, 2)
		for i := range txs {
			go func() {
				_, err := txs[i].Exec("UPDATE dbo.plain SET name = @p1 WHERE id = @p2", fmt.Sprint(i), 2-i)
				if err == nil {
					err = txs[i].Commit()
				} else {
					txs[i].Rollback()
				}
				results <- err
			}()
		}
		left, right := <-results, <-results
		if left == nil {
			left, right = right, left
		}
		must(right)
		same("class", refused(left, 1205).Class, uint8(13))
		_, err = db.Exec("DELETE dbo.plain")
		must(err)
	}},
	{"savepoints_and_doomed_transactions", func(on *server) {
		db := on.open()
		defer db.Close()
		tx, err := db.BeginTx(background, nil)
		must(err)
		for _, text := range []string{"INSERT dbo.plain VALUES (2, 'two')", "SAVE TRANSACTION point", "INSERT dbo.plain VALUES (3, 'three')", "ROLLBACK TRANSACTION point"} {
			_, err = tx.Exec(text)
			must(err)
		}
		must(tx.Commit())
		var ids int
		must(db.QueryRow("SELECT SUM(id) FROM dbo.plain").Scan(&ids))
		same("ids", ids, 2)
		tx, err = db.BeginTx(background, nil)
		must(err)
		_, err = tx.Exec("SET XACT_ABORT ON; INSERT dbo.plain VALUES (2, 'again')")
		refused(err, 2627)
		if err = tx.Commit(); err == nil {
			fail("a transaction that is gone was committed")
		}
		_, err = db.Exec("DELETE dbo.plain")
		must(err)
	}},
}

var bulkCases = []testCase{
	{"rows_of_every_type_are_copied", func(on *server) {
		s := on.session()
		defer s.close()
		createKinds(s, "dbo.copied")
		names, skipped := []string{"id"}, []int{}
		for i, one := range kinds {
			if one.declared == "xml" { // the driver has no writer for it
				skipped = append(skipped, i)
				continue
			}
			names = append(names, one.column)
		}
		rows := [][]any{}
		for which := range 3 {
			row := []any{which}
			for i, one := range kinds {
				if len(skipped) > 0 && i == skipped[0] {
					continue
				}
				if which == 2 {
					row = append(row, nil)
				} else {
					row = append(row, copied(one, which))
				}
			}
			rows = append(rows, row)
		}
		same("count", copyIn(s, "dbo.copied", mssql.BulkOptions{}, names, rows), int64(3))
		for which := range 3 {
			row := s.rows(fmt.Sprintf("SELECT %s FROM dbo.copied WHERE id = @p1", columnNames()), which)[0]
			for _, i := range skipped {
				if which < 2 {
					row[i] = kinds[i].ends[which].got
				}
			}
			checkRow("copied", row, which)
		}
	}},
	{"a_copy_takes_hints_and_a_transaction", func(on *server) {
		s := on.session()
		defer s.close()
		many := [][]any{}
		for id := range 20000 {
			name := any(nil)
			if id%2 == 0 {
				name = fmt.Sprint("name ", id)
			}
			many = append(many, []any{id, name})
		}
		tx, err := s.BeginTx(background, nil)
		must(err)
		options := mssql.BulkOptions{Tablock: true, CheckConstraints: true, Order: []string{"id ASC"}, RowsPerBatch: 20000}
		same("count", copyIn(tx, "dbo.plain", options, []string{"id", "name"}, many), int64(20000))
		var count, defaults int
		must(tx.QueryRow("SELECT COUNT(*), SUM(CASE WHEN name = 'none' THEN 1 ELSE 0 END) FROM dbo.plain").Scan(&count, &defaults))
		same("in the transaction", []any{count, defaults}, []any{20000, 10000})
		must(tx.Rollback())
		same("rolled back", s.scalar("SELECT COUNT(*) FROM dbo.plain"), int64(0))
		same("count", copyIn(s, "dbo.plain", mssql.BulkOptions{KeepNulls: true}, []string{"name", "id"}, [][]any{{nil, 1}}), int64(1))
		same("kept", s.rows("SELECT id, name FROM dbo.plain"), [][]any{{int64(1), nil}})
		_, err = tryCopy(s, "dbo.plain", mssql.BulkOptions{}, []string{"id"}, [][]any{{2}, {1}})
		refused(err, 2627)
		_, err = tryCopy(s, "dbo.nowhere", mssql.BulkOptions{}, []string{"id"}, [][]any{{2}})
		refused(err, 208)
		_, err = tryCopy(s, "dbo.plain", mssql.BulkOptions{FireTriggers: true}, []string{"id"}, [][]any{{2}})
		refused(err, 50001)
		same("left", s.scalar("SELECT COUNT(*) FROM dbo.plain"), int64(1))
		s.exec("DELETE dbo.plain")
	}},
}

// copied is what the driver's bulk copy takes for a value.
func copied(one kind, which int) any {
	switch value := one.ends[which]; one.declared {
	case "date", "datetime", "smalldatetime", "datetime2(7)", "datetime2(3)", "datetimeoffset(7)", "time(7)", "time(0)":
		return value.got
	case "uniqueidentifier":
		return value.got
	case "real":
		return value.sent
	case "float":
		return value.got
	case "tinyint", "smallint", "int", "bigint":
		return value.got
	case "decimal(38,0)", "numeric(20,19)":
		return value.sent
	default:
		switch text := value.sent.(type) {
		case mssql.VarChar:
			return string(text)
		case mssql.NChar:
			return string(text)
		case mssql.VarCharMax:
			return string(text)
		case mssql.NVarCharMax:
			return string(text)
		}
		return value.sent
	}
}

type preparer interface {
	Prepare(string) (*sql.Stmt, error)
}

func (s *session) Prepare(text string) (*sql.Stmt, error) { return s.PrepareContext(background, text) }

func copyIn(into preparer, table string, options mssql.BulkOptions, columns []string, rows [][]any) int64 {
	count, err := tryCopy(into, table, options, columns, rows)
	must(err)
	return count
}

func tryCopy(into preparer, table string, options mssql.BulkOptions, columns []string, rows [][]any) (int64, error) {
	statement, err := into.Prepare(mssql.CopyIn(table, options, columns...))
	if err != nil {
		return 0, err
	}
	defer statement.Close()
	for _, row := range rows {
		if _, err := statement.Exec(row...); err != nil {
			return 0, err
		}
	}
	result, err := statement.Exec()
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
