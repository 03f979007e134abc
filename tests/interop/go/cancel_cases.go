package main

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

var cancelCases = []testCase{
	{"a_fetch_is_cancelled", func(on *server) {
		s := on.session("packet size", "512")
		defer s.close()
		for _, limit := range []int{1, 50, 5000} {
			ctx, cancel := context.WithCancel(background)
			rows, err := s.QueryContext(ctx, "SELECT a.n, b.n FROM dbo.numbers a CROSS JOIN dbo.numbers b CROSS JOIN dbo.numbers c WHERE a.n > @p1", 0)
			must(err)
			seen := 0
			for ; rows.Next(); seen++ {
				if seen == limit {
					cancel()
				}
			}
			cancel()
			if !errors.Is(rows.Err(), context.Canceled) {
				fail("after %d rows: %v", seen, rows.Err())
			}
			rows.Close()
			same("afterwards", s.scalar("SELECT 7"), int64(7))
		}
	}},
	{"a_wait_for_a_lock_is_cancelled", func(on *server) {
		holder, waiter := on.session(), on.session()
		defer holder.close()
		defer waiter.close()
		holder.exec("INSERT dbo.plain VALUES (1, 'x'); BEGIN TRANSACTION; UPDATE dbo.plain SET name = 'y'")
		ctx, cancel := context.WithCancel(background) // after a deadline the driver gives the connection up
		defer cancel()
		time.AfterFunc(300*time.Millisecond, cancel)
		began := time.Now()
		_, err := waiter.ExecContext(ctx, "UPDATE dbo.plain SET name = @p1", "z")
		if !errors.Is(err, context.Canceled) {
			fail("%v", err)
		}
		if took := time.Since(began); took < 250*time.Millisecond || took > 10*time.Second {
			fail("it took %v", took)
		}
		same("nobody waits", holder.scalar("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id <> 0"), int64(0))
		holder.exec("COMMIT")
		same("what was cancelled never happened", waiter.scalar("SELECT name FROM dbo.plain"), "y")
		waiter.exec("DELETE dbo.plain")
	}},
	{"a_wait_by_the_clock_is_cancelled", func(on *server) {
		s := on.session()
		defer s.close()
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		time.AfterFunc(200*time.Millisecond, cancel)
		began := time.Now()
		if err := tryIt(s.QueryContext(ctx, "WAITFOR DELAY '00:00:30'")); !errors.Is(err, context.Canceled) {
			fail("%v", err)
		}
		if took := time.Since(began); took > 10*time.Second {
			fail("it took %v", took)
		}
		same("afterwards", s.scalar("SELECT 8"), int64(8))
	}},
	{"cancelling_rolls_a_transaction_back", func(on *server) {
		db, other := on.open(), on.session()
		defer db.Close()
		defer other.close()
		ctx, cancel := context.WithCancel(background)
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
		must(err)
		_, err = tx.Exec("INSERT dbo.plain VALUES (1, 'x')")
		must(err)
		cancel()
		if err := tx.Commit(); err == nil {
			fail("it was committed")
		}
		other.exec("SET LOCK_TIMEOUT 10000") // until the roll-back, which database/sql sends from a goroutine
		same("rows", other.scalar("SELECT COUNT(*) FROM dbo.plain"), int64(0))
	}},
}
