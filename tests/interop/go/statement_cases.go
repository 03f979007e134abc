package main

import (
	"database/sql"
	"fmt"

	mssql "github.com/microsoft/go-mssqldb"
)

var statementCases = []testCase{
	{"parameters_are_named_numbered_and_typed", func(on *server) {
		s := on.session()
		defer s.close()
		same("named", s.rows("SELECT @b, @a, @a", sql.Named("a", 1), sql.Named("b", "ж")), [][]any{{"ж", int64(1), int64(1)}})
		same("numbered", s.rows("SELECT @p2 + @p1", 1, 2), [][]any{{int64(3)}})
		var sum int64
		text := "abc"
		s.exec("SET @sum = @a + @b; SET @text = REVERSE(@text)", sql.Named("a", 6), sql.Named("b", 7), sql.Named("sum", sql.Out{Dest: &sum}),
			sql.Named("text", sql.Out{Dest: &text, In: true}))
		same("outputs", []any{sum, text}, []any{int64(13), "cba"})
		refused(s.try("SELECT @missing", 1), 137)
		refused(s.try("SELECT CAST(@p1 AS int)", "x"), 245)
		refused(s.try("SELECT CAST(@p1 AS tinyint)", int32(256)), 220)
		refused(s.try("SELECT CAST(@p1 AS tinyint)", int64(256)), 8115)
	}},
	{"a_statement_is_prepared_once_and_run_often", func(on *server) {
		s := on.session()
		defer s.close()
		prepared, err := s.PrepareContext(background, "SELECT n FROM dbo.numbers WHERE n BETWEEN @p1 AND @p2 ORDER BY n")
		must(err)
		for _, one := range []struct{ from, to, count int }{{1, 3, 3}, {5, 5, 1}, {9, 8, 0}, {998, 2000, 3}} {
			rows, err := prepared.QueryContext(background, one.from, one.to)
			must(err)
			found := readRows(rows)
			same(fmt.Sprint(one), len(found), one.count)
			for i, row := range found {
				same(fmt.Sprint(one), row[0], int64(one.from+i))
			}
			must(rows.Close())
		}
		must(prepared.Close())
		insert, err := s.PrepareContext(background, "INSERT dbo.plain VALUES (@p1, @p2)")
		must(err)
		defer insert.Close()
		for id := range 5 {
			_, err = insert.ExecContext(background, id, sql.NullString{String: "x", Valid: id%2 == 0})
			must(err)
		}
		_, err = insert.ExecContext(background, 3, "again")
		refused(err, 2627)
		same("rows", s.rows("SELECT COUNT(*), COUNT(name) FROM dbo.plain"), [][]any{{int64(5), int64(3)}})
		s.exec("DELETE dbo.plain")
	}},
	{"several_results_come_in_order", func(on *server) {
		s := on.session()
		defer s.close()
		rows, err := s.QueryContext(background, `SELECT 1; PRINT 'between'; SELECT 2, N'ж' WHERE 1 = 0; UPDATE dbo.plain SET name = name;
			SELECT n, n * n FROM dbo.numbers WHERE n < 3; DECLARE @none int = 1; SELECT @none, 1, 1`)
		must(err)
		defer rows.Close()
		got := []any{}
		for more := true; more; more = rows.NextResultSet() {
			columns, err := rows.Columns()
			must(err)
			if len(columns) > 0 {
				got = append(got, len(columns), readRows(rows))
			}
		}
		must(rows.Err())
		same("results", got, []any{1, [][]any{{int64(1)}}, 2, [][]any{}, 2, [][]any{{int64(1), int64(1)}, {int64(2), int64(4)}}, 3, [][]any{{int64(1), int64(1), int64(1)}}})
	}},
	{"changes_are_counted_and_shown", func(on *server) {
		s := on.session()
		defer s.close()
		same("inserted", s.exec("INSERT dbo.plain (id) SELECT n FROM dbo.numbers WHERE n <= 7"), int64(7))
		same("updated", s.exec("UPDATE dbo.plain SET name = @p1 WHERE id > @p2", "new", 4), int64(3))
		var id int64
		must(s.QueryRowContext(background, "INSERT dbo.log (what) OUTPUT inserted.id VALUES (@p1)", "first").Scan(&id))
		same("identity", []any{id, s.scalar("INSERT dbo.log (what) VALUES (@p1); SELECT CAST(SCOPE_IDENTITY() AS bigint)", "second")}, []any{int64(5), int64(10)})
		same("deleted", s.rows("DELETE TOP (1) dbo.log OUTPUT deleted.id, deleted.what WHERE what = @p1", "first"), [][]any{{int64(5), "first"}})
		merged := s.rows(`MERGE dbo.plain AS t USING (SELECT n, CONCAT('m', n) FROM dbo.numbers WHERE n BETWEEN @p1 AND @p2) AS s (n, name) ON t.id = s.n
			WHEN MATCHED AND s.n = 6 THEN DELETE WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT VALUES (s.n, s.name)
			OUTPUT $action, deleted.id, deleted.name, inserted.id, inserted.name;`, 6, 8)
		byKind := map[any][]any{}
		for _, row := range merged {
			byKind[row[0]] = row[1:]
		}
		same("merged", byKind, map[any][]any{"DELETE": {int64(6), "new", nil, nil}, "UPDATE": {int64(7), "new", int64(7), "m7"}, "INSERT": {nil, nil, int64(8), "m8"}})
		same("a MERGE without OUTPUT", s.exec(`MERGE dbo.plain AS t USING dbo.numbers AS s ON t.id = s.n
			WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN MATCHED THEN UPDATE SET name = NULL;`), int64(7))
		same("left", s.rows("SELECT COUNT(*), COUNT(name) FROM dbo.plain"), [][]any{{int64(7), int64(0)}})
		s.exec("DELETE dbo.plain; DELETE dbo.log")
	}},
	{"errors_carry_all_they_have", func(on *server) {
		s := on.session()
		defer s.close()
		raised := refused(s.try("SELECT 1\n\nRAISERROR(N'boo %d ж', 12, 7, 5)"), 50000)
		same("raised", []any{raised.Message, raised.Class, raised.State, raised.LineNo, raised.ServerName, raised.ProcName},
			[]any{"boo 5 ж", uint8(12), uint8(7), int32(3), "TIDESIM", ""})
		thrown := refused(s.try("\n\nTHROW 51234, N'away', 4"), 51234)
		same("thrown", []any{thrown.Class, thrown.State, thrown.LineNo}, []any{uint8(16), uint8(4), int32(3)})
		doomed := refused(s.try("dbo.doomed"), 50000)
		same("in a procedure", []any{doomed.Message, doomed.Class, doomed.State, doomed.LineNo, doomed.ProcName}, []any{"doomed ж", uint8(13), uint8(9), int32(4), "doomed"})
		for text, number := range map[string]int32{"SELECT * FROM nowhere": 208, "SELECT nothing FROM dbo.plain": 207, "SELECT 1 / 0": 8134,
			"SELECT CAST('x' AS int)": 245, "COMMIT": 3902, "EXEC nowhere": 2812, "SELECT 'a' + 1 +": 102, "INSERT dbo.plain VALUES (NULL, NULL)": 515,
			"INSERT dbo.plain VALUES (1, REPLICATE('x', 21))": 2628, "CREATE TABLE dbo.plain (n int)": 2714, "DROP TABLE nowhere": 3701} {
			refused(s.try(text), number)
		}
		several := refused(s.try("CREATE TABLE dbo.bad (a int NULL PRIMARY KEY)"), 1750)
		if len(several.All) != 2 || several.All[0].Number != 8111 {
			fail("all: %v", several.All)
		}
		same("the connection lives", s.scalar("SELECT 5"), int64(5))
	}},
	{"an_error_amid_rows_keeps_the_rows", func(on *server) {
		s := on.session()
		defer s.close()
		rows, err := s.QueryContext(background, "SELECT 100 / (5 - n) FROM dbo.numbers WHERE n < @p1 ORDER BY n", 8)
		must(err)
		defer rows.Close()
		same("rows", readRows(rows), [][]any{{int64(25)}, {int64(33)}, {int64(50)}, {int64(100)}})
		refused(rows.Err(), 8134)
	}},
	{"messages_arrive_between_results", func(on *server) {
		s := on.session()
		defer s.close()
		same("events", s.events("PRINT 'one'; SELECT 100; PRINT 'two'; UPDATE dbo.numbers SET n = n WHERE n < 4; RAISERROR('mild', 5, 1)"),
			[]string{"notice one", "next", "row 100", "count 1", "next", "notice two", "next", "count 3", "next", "notice mild", "next"})
	}},
}

var procedureCases = []testCase{
	{"procedures_have_rows_outputs_and_a_status", func(on *server) {
		s := on.session()
		defer s.close()
		var status mssql.ReturnStatus
		var whole, rest int32
		words := "in"
		rows, err := s.QueryContext(background, "dbo.divide", sql.Named("left", 17), sql.Named("right", 5), sql.Named("whole", sql.Out{Dest: &whole}),
			sql.Named("rest", sql.Out{Dest: &rest}), sql.Named("words", sql.Out{Dest: &words, In: true}), &status)
		must(err)
		same("rows", len(readRows(rows)), 5)
		must(rows.Close())
		same("outputs", []any{whole, rest, words, int(status)}, []any{int32(3), int32(2), "in ж", 17})
		var wide int64 // the type of the client's parameter comes back
		var none sql.NullString
		var exact float64
		s.exec("dbo.divide", sql.Named("left", -9), sql.Named("right", 2), sql.Named("whole", sql.Out{Dest: &wide}), sql.Named("rest", sql.Out{Dest: &exact}),
			sql.Named("words", sql.Out{Dest: &none}), &status)
		same("other types", []any{wide, exact, none.Valid, int(status)}, []any{int64(-4), float64(-1), false, -9})
		refused(s.try("dbo.divide", sql.Named("left", 1)), 201)
		refused(s.try("dbo.divide", sql.Named("nothing", 1)), 8145)
		refused(s.try("dbo.nowhere"), 2812)
		_, err = s.ExecContext(background, "dbo.divide", sql.Named("left", 1), sql.Named("right", 0), sql.Named("whole", sql.Out{Dest: &whole}),
			sql.Named("rest", sql.Out{Dest: &rest}), sql.Named("words", sql.Out{Dest: &words}), &status)
		refused(err, 8134)
	}},
	{"the_catalogue_is_read_by_procedures", func(on *server) {
		s := on.session()
		defer s.close()
		columns := s.rows("sp_columns", sql.Named("table_name", "plain"))
		same("columns", []any{columns[0][3], columns[1][3], len(columns)}, []any{"id", "name", 2})
	}},
	{"a_parameter_that_is_a_table_is_refused", func(on *server) {
		s := on.session()
		defer s.close()
		type item struct {
			ID   int64
			Name string
		}
		table := mssql.TVP{TypeName: "dbo.items", Value: []item{{1, "one"}, {2, "two"}}}
		found := refused(s.try("SELECT * FROM @p1", table), 50001)
		same("what", found.Message, "tidesim: a table-valued parameter is not supported")
		same("the connection lives", s.scalar("SELECT 5"), int64(5))
	}},
}
