package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/golang-sql/civil"
	mssql "github.com/microsoft/go-mssqldb"
)

// kind is a type of SQL Server with two values at its ends.
type kind struct {
	column   string
	declared string
	ends     [2]end
}

// end: how T-SQL writes the value, what Go sends, what Go gets.
type end struct {
	literal string
	sent    any
	got     any
}

func utc(year int, month time.Month, day, hour, minute, second, nanosecond int) time.Time {
	return time.Date(year, month, day, hour, minute, second, nanosecond, time.UTC)
}

func at(offset int, moment time.Time) time.Time { return moment.In(time.FixedZone("", offset*60)) }

const guidText = "6F9619FF-8B86-D011-B42D-00C04FC964FF"

var guid = func() mssql.UniqueIdentifier {
	var id mssql.UniqueIdentifier
	must(id.Scan(guidText))
	return id
}()

// On the wire its first three groups are swapped.
var guidBytes = []byte{0xff, 0x19, 0x96, 0x6f, 0x86, 0x8b, 0x11, 0xd0, 0xb4, 0x2d, 0x00, 0xc0, 0x4f, 0xc9, 0x64, 0xff}

var longText, longBytes = strings.Repeat("ж", 70000), []byte(strings.Repeat("\x07", 70000))

var kinds = []kind{
	{"c_bit", "bit", [2]end{{"1", true, true}, {"0", false, false}}},
	{"c_tiny", "tinyint", [2]end{{"255", byte(255), int64(255)}, {"0", byte(0), int64(0)}}},
	{"c_small", "smallint", [2]end{{"32767", int16(32767), int64(32767)}, {"-32768", int16(-32768), int64(-32768)}}},
	{"c_int", "int", [2]end{{"2147483647", int32(math.MaxInt32), int64(math.MaxInt32)}, {"-2147483648", int32(math.MinInt32), int64(math.MinInt32)}}},
	{"c_big", "bigint", [2]end{{"9223372036854775807", int64(math.MaxInt64), int64(math.MaxInt64)},
		{"-9223372036854775808", int64(math.MinInt64), int64(math.MinInt64)}}},
	{"c_real", "real", [2]end{{"3.4028234663852886E+38", float32(math.MaxFloat32), float64(math.MaxFloat32)}, {"-1.25", float32(-1.25), -1.25}}},
	{"c_float", "float", [2]end{{"1.7976931348623157E+308", math.MaxFloat64, math.MaxFloat64},
		{"-2.2250738585072014E-308", -2.2250738585072014e-308, -2.2250738585072014e-308}}},
	{"c_dec", "decimal(38,0)", [2]end{{strings.Repeat("9", 38), strings.Repeat("9", 38), []byte(strings.Repeat("9", 38))},
		{"-" + strings.Repeat("9", 38), "-" + strings.Repeat("9", 38), []byte("-" + strings.Repeat("9", 38))}}},
	{"c_num", "numeric(20,19)", [2]end{{"9.9999999999999999999", "9.9999999999999999999", []byte("9.9999999999999999999")},
		{"-0.0000000000000000001", "-0.0000000000000000001", []byte("-0.0000000000000000001")}}},
	{"c_money", "money", [2]end{{"922337203685477.5807", "922337203685477.5807", []byte("922337203685477.5807")},
		{"-922337203685477.5808", "-922337203685477.5808", []byte("-922337203685477.5808")}}},
	{"c_smoney", "smallmoney", [2]end{{"214748.3647", "214748.3647", []byte("214748.3647")}, {"-214748.3648", "-214748.3648", []byte("-214748.3648")}}},
	{"c_date", "date", [2]end{{"'9999-12-31'", civil.Date{Year: 9999, Month: 12, Day: 31}, utc(9999, 12, 31, 0, 0, 0, 0)},
		{"'0001-01-01'", civil.Date{Year: 1, Month: 1, Day: 1}, utc(1, 1, 1, 0, 0, 0, 0)}}},
	{"c_time", "time(7)", [2]end{{"'23:59:59.9999999'", civil.Time{Hour: 23, Minute: 59, Second: 59, Nanosecond: 999999900}, utc(1, 1, 1, 23, 59, 59, 999999900)},
		{"'00:00'", civil.Time{}, utc(1, 1, 1, 0, 0, 0, 0)}}},
	{"c_time0", "time(0)", [2]end{{"'23:59:59'", civil.Time{Hour: 23, Minute: 59, Second: 59}, utc(1, 1, 1, 23, 59, 59, 0)},
		{"'00:00:01'", civil.Time{Second: 1}, utc(1, 1, 1, 0, 0, 1, 0)}}},
	{"c_dt", "datetime", [2]end{{"'9999-12-31T23:59:59.997'", mssql.DateTime1(utc(9999, 12, 31, 23, 59, 59, 997000000)), utc(9999, 12, 31, 23, 59, 59, 997000000)},
		{"'1753-01-01T00:00:00'", mssql.DateTime1(utc(1753, 1, 1, 0, 0, 0, 0)), utc(1753, 1, 1, 0, 0, 0, 0)}}},
	{"c_sdt", "smalldatetime", [2]end{{"'2079-06-06T23:59:00'", mssql.DateTime1(utc(2079, 6, 6, 23, 59, 0, 0)), utc(2079, 6, 6, 23, 59, 0, 0)},
		{"'1900-01-01T00:00:00'", mssql.DateTime1(utc(1900, 1, 1, 0, 0, 0, 0)), utc(1900, 1, 1, 0, 0, 0, 0)}}},
	{"c_dt2", "datetime2(7)", [2]end{{"'9999-12-31T23:59:59.9999999'", civil.DateTimeOf(utc(9999, 12, 31, 23, 59, 59, 999999900)), utc(9999, 12, 31, 23, 59, 59, 999999900)},
		{"'0001-01-01T00:00:00'", civil.DateTimeOf(utc(1, 1, 1, 0, 0, 0, 0)), utc(1, 1, 1, 0, 0, 0, 0)}}},
	{"c_dt23", "datetime2(3)", [2]end{{"'2024-02-29T12:34:56.789'", civil.DateTimeOf(utc(2024, 2, 29, 12, 34, 56, 789000000)), utc(2024, 2, 29, 12, 34, 56, 789000000)},
		{"'1969-12-31T23:59:59.999'", civil.DateTimeOf(utc(1969, 12, 31, 23, 59, 59, 999000000)), utc(1969, 12, 31, 23, 59, 59, 999000000)}}},
	{"c_dto", "datetimeoffset(7)", [2]end{
		{"'9999-12-31T23:59:59.9999999+00:00'", mssql.DateTimeOffset(utc(9999, 12, 31, 23, 59, 59, 999999900)), at(0, utc(9999, 12, 31, 23, 59, 59, 999999900))},
		{"'2024-06-01T12:00:00-14:00'", mssql.DateTimeOffset(at(-840, utc(2024, 6, 2, 2, 0, 0, 0))), at(-840, utc(2024, 6, 2, 2, 0, 0, 0))}}},
	{"c_char", "char(5)", [2]end{{"'abcde'", mssql.VarChar("abcde"), "abcde"}, {"''", mssql.VarChar(""), "     "}}},
	{"c_varchar", "varchar(8000)", [2]end{{"REPLICATE('x', 8000)", strings.Repeat("x", 8000), strings.Repeat("x", 8000)}, {"''", "", ""}}},
	{"c_nchar", "nchar(5)", [2]end{{"N'ünïcö'", mssql.NChar("ünïcö"), "ünïcö"}, {"N''", "", "     "}}},
	{"c_nvarchar", "nvarchar(4000)", [2]end{{"N'日本語 😀'", "日本語 😀", "日本語 😀"}, {"N''", "", ""}}},
	{"c_binary", "binary(4)", [2]end{{"0xDEADBEEF", []byte{0xde, 0xad, 0xbe, 0xef}, []byte{0xde, 0xad, 0xbe, 0xef}}, {"0x", []byte{}, []byte{0, 0, 0, 0}}}},
	{"c_varbinary", "varbinary(8000)", [2]end{{"0x0102", []byte{1, 2}, []byte{1, 2}}, {"0x", []byte{}, []byte{}}}},
	{"c_guid", "uniqueidentifier", [2]end{{"'" + guidText + "'", guid, guidBytes}, {"'00000000-0000-0000-0000-000000000000'", mssql.UniqueIdentifier{}, make([]byte, 16)}}},
	{"c_vmax", "varchar(max)", [2]end{{"REPLICATE(CAST('v' AS varchar(max)), 9000)", mssql.VarCharMax(strings.Repeat("v", 9000)), strings.Repeat("v", 9000)}, {"''", mssql.VarCharMax(""), ""}}},
	{"c_nmax", "nvarchar(max)", [2]end{{"REPLICATE(CAST(N'ж' AS nvarchar(max)), 70000)", mssql.NVarCharMax(longText), longText}, {"N''", mssql.NVarCharMax(""), ""}}},
	{"c_bmax", "varbinary(max)", [2]end{{"CAST(REPLICATE(CAST(CHAR(7) AS varchar(max)), 70000) AS varbinary(max))", longBytes, longBytes}, {"0x", []byte{}, []byte{}}}},
	{"c_xml", "xml", [2]end{{"N'<a b=\"1\">ж</a>'", "<a b=\"1\">ж</a>", "<a b=\"1\">ж</a>"}, {"N''", "", ""}}},
	{"c_text", "text", [2]end{{"'some text'", "some text", "some text"}, {"''", "", ""}}},
	{"c_ntext", "ntext", [2]end{{"N'ntext ж'", "ntext ж", "ntext ж"}, {"N''", "", ""}}},
	{"c_image", "image", [2]end{{"0x010203", []byte{1, 2, 3}, []byte{1, 2, 3}}, {"0x", []byte{}, []byte{}}}},
}

// The nil of every Go type that knows its type on the wire, but mssql.NullUniqueIdentifier: behind a length of 0 the driver writes 16 bytes.
var typedNulls = []any{mssql.NullDate{}, mssql.NullDateTime{}, mssql.NullTime{}, nullInt16, nullInt32, nullInt64, nullByte, nullBool,
	nullFloat, nullString, nullTime, nil}

func columnNames() string {
	var names []string
	for _, one := range kinds {
		names = append(names, one.column)
	}
	return strings.Join(names, ", ")
}

func createKinds(s *session, table string) {
	var columns []string
	for _, one := range kinds {
		columns = append(columns, one.column+" "+one.declared+" NULL")
	}
	s.exec("DROP TABLE IF EXISTS " + table + "; CREATE TABLE " + table + " (id int NOT NULL PRIMARY KEY, " + strings.Join(columns, ", ") + ")")
}

func checkRow(what string, row []any, which int) {
	for i, one := range kinds {
		if which < 2 {
			same(fmt.Sprintf("%s, %s", what, one.column), row[i], one.ends[which].got)
		} else {
			same(fmt.Sprintf("%s, %s", what, one.column), row[i], nil)
		}
	}
}

var valueCases = []testCase{
	{"values_that_the_server_wrote_are_read", func(on *server) {
		s := on.session()
		defer s.close()
		createKinds(s, "dbo.written")
		for which := range 2 {
			var literals []string
			for _, one := range kinds {
				literals = append(literals, one.ends[which].literal)
			}
			s.exec(fmt.Sprintf("INSERT dbo.written VALUES (%d, %s)", which, strings.Join(literals, ", ")))
		}
		s.exec("INSERT dbo.written (id) VALUES (2)")
		for which := range 3 {
			checkRow("written", s.rows(fmt.Sprintf("SELECT %s FROM dbo.written WHERE id = %d", columnNames(), which))[0], which)
			checkRow("with a parameter", s.rows(fmt.Sprintf("SELECT %s FROM dbo.written WHERE id = @p1", columnNames()), which)[0], which)
		}
		same("all at once", len(s.rows("SELECT * FROM dbo.written")), 3)
	}},
	{"values_that_the_client_sends_are_kept", func(on *server) {
		s := on.session()
		defer s.close()
		createKinds(s, "dbo.sent")
		var places []string
		for i := range kinds {
			places = append(places, fmt.Sprintf("@p%d", i+2))
		}
		insert := fmt.Sprintf("INSERT dbo.sent (id, %s) VALUES (@p1, %s)", columnNames(), strings.Join(places, ", "))
		for which := range 2 {
			values := []any{which}
			for _, one := range kinds {
				values = append(values, one.ends[which].sent)
			}
			same("rows", s.exec(insert, values...), int64(1))
		}
		for which := range 2 {
			checkRow("sent", s.rows(fmt.Sprintf("SELECT %s FROM dbo.sent WHERE id = @p1", columnNames()), which)[0], which)
		}
		for _, one := range kinds { // as a condition, too
			if !slices.Contains([]string{"xml", "text", "ntext", "image"}, one.declared) {
				same(one.column, s.scalar("SELECT COUNT(*) FROM dbo.sent WHERE "+one.column+" = @p1", one.ends[0].sent), int64(1))
			}
		}
		for _, nothing := range typedNulls {
			same(fmt.Sprintf("%T", nothing), s.rows("SELECT @p1, CASE WHEN @p1 IS NULL THEN 1 END", nothing), [][]any{{nil, int64(1)}})
		}
	}},
	{"variants_keep_their_types", func(on *server) {
		s := on.session()
		defer s.close()
		for _, one := range []struct {
			literal string
			want    any
		}{
			{"CAST(12 AS int)", int64(12)}, {"CAST(9223372036854775807 AS bigint)", int64(math.MaxInt64)}, {"CAST(1 AS bit)", true}, {"CAST(3 AS tinyint)", int64(3)},
			{"CAST('v' AS varchar(9))", "v"}, {"CAST(N'ж' AS nvarchar(9))", "ж"}, {"CAST(1.50 AS decimal(5,2))", []byte("1.50")}, {"CAST(1.25 AS float)", 1.25},
			{"CAST(1.25 AS real)", 1.25}, {"CAST(2.5 AS money)", []byte("2.5000")}, {"CAST('2024-02-29' AS date)", utc(2024, 2, 29, 0, 0, 0, 0)},
			{"CAST('2024-02-29T12:34:56.78' AS datetime2(2))", utc(2024, 2, 29, 12, 34, 56, 780000000)}, {"CAST(0x01FF AS varbinary(9))", []byte{1, 0xff}},
			{"CAST('" + guidText + "' AS uniqueidentifier)", guidBytes}, {"CAST(NULL AS int)", nil},
			{"CAST('2024-06-01T12:00:00+02:00' AS datetimeoffset(0))", at(120, utc(2024, 6, 1, 10, 0, 0, 0))},
		} {
			same(one.literal, s.scalar("SELECT CAST("+one.literal+" AS sql_variant)"), one.want)
		}
	}},
	{"columns_are_described", func(on *server) {
		s := on.session()
		defer s.close()
		createKinds(s, "dbo.described")
		rows, err := s.QueryContext(background, "SELECT id, c_num, c_nvarchar, c_dt23, c_bmax, c_money, c_guid FROM dbo.described")
		must(err)
		defer rows.Close()
		types, err := rows.ColumnTypes()
		must(err)
		got := []any{}
		for _, one := range types {
			length, scale := "-", "-"
			if size, has := one.Length(); has {
				length = fmt.Sprint(size)
			}
			if precision, digits, has := one.DecimalSize(); has {
				scale = fmt.Sprintf("%d,%d", precision, digits)
			}
			nullable, _ := one.Nullable()
			got = append(got, fmt.Sprintf("%s %s %s %s %t", one.Name(), one.DatabaseTypeName(), length, scale, nullable))
		}
		same("columns", got, []any{"id INT - - false", "c_num DECIMAL - 20,19 true", "c_nvarchar NVARCHAR 4000 - true",
			"c_dt23 DATETIME2 - 0,3 true", "c_bmax VARBINARY 2147483645 - true", "c_money MONEY - - true", "c_guid UNIQUEIDENTIFIER - - true"})
	}},
}
