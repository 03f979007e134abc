import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.List;

/** Every type at both its ends and NULL, out of the server and into it. */
final class TypeCases {
    private TypeCases() {}

    /** A column: its type, and two values as literals of T-SQL and as Java has them. */
    private static final class Kind {
        final String type;
        final String lowLiteral;
        final Object low;
        final String highLiteral;
        final Object high;

        Kind(String type, String lowLiteral, Object low, String highLiteral, Object high) {
            this.type = type;
            this.lowLiteral = lowLiteral;
            this.low = low;
            this.highLiteral = highLiteral;
            this.high = high;
        }
    }

    private static byte[] bytes(int... values) {
        byte[] all = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            all[i] = (byte) values[i];
        }
        return all;
    }

    private static final String GUID = "6F9619FF-8B86-D011-B42D-00C04FC964FF";
    private static final List<Kind> KINDS = List.of(
        new Kind("bit", "0", false, "1", true),
        new Kind("tinyint", "0", (short) 0, "255", (short) 255),
        new Kind("smallint", "-32768", Short.MIN_VALUE, "32767", Short.MAX_VALUE),
        new Kind("int", "-2147483648", Integer.MIN_VALUE, "2147483647", Integer.MAX_VALUE),
        new Kind("bigint", "-9223372036854775808", Long.MIN_VALUE, "9223372036854775807", Long.MAX_VALUE),
        new Kind("real", "-3.4028234663852886e38", -Float.MAX_VALUE, "1.1754944e-38", Float.MIN_NORMAL),
        new Kind("float", "-1.7976931348623157e308", -Double.MAX_VALUE, "2.2250738585072014e-308", Double.MIN_NORMAL),
        new Kind("decimal(38,10)", "-9999999999999999999999999999.9999999999", new BigDecimal("-9999999999999999999999999999.9999999999"),
                 "9999999999999999999999999999.9999999999", new BigDecimal("9999999999999999999999999999.9999999999")),
        new Kind("decimal(38,0)", "-99999999999999999999999999999999999999", new BigDecimal("-99999999999999999999999999999999999999"),
                 "99999999999999999999999999999999999999", new BigDecimal("99999999999999999999999999999999999999")),
        new Kind("numeric(5,2)", "-999.99", new BigDecimal("-999.99"), "0.01", new BigDecimal("0.01")),
        new Kind("money", "-922337203685477.5808", new BigDecimal("-922337203685477.5808"), "922337203685477.5807", new BigDecimal("922337203685477.5807")),
        new Kind("smallmoney", "-214748.3648", new BigDecimal("-214748.3648"), "214748.3647", new BigDecimal("214748.3647")),
        new Kind("date", "'0001-01-01'", LocalDate.of(1, 1, 1), "'9999-12-31'", LocalDate.of(9999, 12, 31)),
        new Kind("time(7)", "'00:00:00'", LocalTime.of(0, 0), "'23:59:59.9999999'", LocalTime.of(23, 59, 59, 999999900)),
        new Kind("time(0)", "'00:00:00'", LocalTime.of(0, 0), "'23:59:59'", LocalTime.of(23, 59, 59)),
        new Kind("datetime", "'1753-01-01'", LocalDateTime.of(1753, 1, 1, 0, 0), "'9999-12-31T23:59:59.997'", LocalDateTime.of(9999, 12, 31, 23, 59, 59, 997000000)),
        new Kind("smalldatetime", "'1900-01-01'", LocalDateTime.of(1900, 1, 1, 0, 0), "'2079-06-06T23:59:00'", LocalDateTime.of(2079, 6, 6, 23, 59)),
        new Kind("datetime2(7)", "'0001-01-01'", LocalDateTime.of(1, 1, 1, 0, 0), "'9999-12-31T23:59:59.9999999'", LocalDateTime.of(9999, 12, 31, 23, 59, 59, 999999900)),
        new Kind("datetime2(0)", "'1582-10-15'", LocalDateTime.of(1582, 10, 15, 0, 0), "'2024-02-29T12:00:00'", LocalDateTime.of(2024, 2, 29, 12, 0)),
        new Kind("datetimeoffset(7)", "'1753-01-01T14:00:00+14:00'", OffsetDateTime.parse("1753-01-01T14:00:00+14:00"),
                 "'9999-12-31T09:59:59.9999999-14:00'", OffsetDateTime.parse("9999-12-31T09:59:59.9999999-14:00")),
        new Kind("char(5)", "''", "     ", "'abcde'", "abcde"),
        new Kind("varchar(20)", "''", "", "'x y z'", "x y z"),
        new Kind("varchar(8000)", "'a'", "a", "REPLICATE('z', 8000)", "z".repeat(8000)),
        new Kind("nchar(5)", "N''", "     ", "N'\u00fcn\u00efc\u00f6'", "\u00fcn\u00efc\u00f6"),
        new Kind("nvarchar(20)", "N''", "", "N'\u65e5\u672c \ud83d\ude00'", "\u65e5\u672c \ud83d\ude00"),
        new Kind("nvarchar(4000)", "N'b'", "b", "REPLICATE(N'\u0436', 4000)", "\u0436".repeat(4000)),
        new Kind("binary(4)", "0x00", bytes(0, 0, 0, 0), "0xDEADBEEF", bytes(0xde, 0xad, 0xbe, 0xef)),
        new Kind("varbinary(10)", "0x", bytes(), "0x0102", bytes(1, 2)),
        new Kind("uniqueidentifier", "'00000000-0000-0000-0000-000000000000'", "00000000-0000-0000-0000-000000000000", "'" + GUID + "'", GUID),
        new Kind("varchar(max)", "''", "", "REPLICATE(CAST('v' AS varchar(max)), 9000)", "v".repeat(9000)),
        new Kind("nvarchar(max)", "N''", "", "REPLICATE(CAST(N'\u0436' AS nvarchar(max)), 70000)", "\u0436".repeat(70000)),
        new Kind("varbinary(max)", "0x", bytes(), "CAST(REPLICATE(CAST('b' AS varchar(max)), 70000) AS varbinary(max))", "b".repeat(70000).getBytes()),
        new Kind("text", "''", "", "'some text'", "some text"),
        new Kind("ntext", "N''", "", "N'\u0436 text'", "\u0436 text"),
        new Kind("image", "0x", bytes(), "0x00FF", bytes(0, 255)));

    static String columns() {
        StringBuilder all = new StringBuilder("id int NOT NULL PRIMARY KEY");
        for (int i = 0; i < KINDS.size(); i++) {
            all.append(", c").append(i).append(' ').append(KINDS.get(i).type).append(" NULL");
        }
        return all.toString();
    }

    private static Object get(ResultSet result, int column, Object like) throws Exception {
        boolean isTime = like instanceof LocalDate || like instanceof LocalTime || like instanceof LocalDateTime || like instanceof OffsetDateTime;
        return isTime ? result.getObject(column, like.getClass()) : result.getObject(column);
    }

    static void check(Connection connection, String table) throws Exception {
        try (ResultSet result = connection.createStatement().executeQuery("SELECT * FROM " + table + " ORDER BY id")) {
            for (int row = 1; row <= 3; row++) {
                equal(result.next(), true, "row " + row);
                for (int i = 0; i < KINDS.size(); i++) {
                    Kind kind = KINDS.get(i);
                    Object want = row == 1 ? kind.low : row == 2 ? kind.high : null;
                    Suite.equal(get(result, i + 2, kind.low), want, table + " row " + row + ", " + kind.type);
                    Suite.equal(result.wasNull(), want == null, kind.type + " wasNull");
                }
            }
            Suite.equal(result.next(), false, "a fourth row");
        }
    }

    private static void equal(Object got, Object want, String what) {
        Suite.equal(got, want, what);
    }

    public static void literals_come_out_as_they_went_in() throws Exception {
        try (Connection connection = Suite.connect()) {
            StringBuilder low = new StringBuilder("1");
            StringBuilder high = new StringBuilder("2");
            for (Kind kind : KINDS) {
                low.append(", ").append(kind.lowLiteral);
                high.append(", ").append(kind.highLiteral);
            }
            Suite.run(connection, "DROP TABLE IF EXISTS dbo.kinds; CREATE TABLE dbo.kinds (" + columns() + ")");
            Suite.run(connection, "INSERT dbo.kinds VALUES (" + low + "), (" + high + "); INSERT dbo.kinds (id) VALUES (3)");
            check(connection, "dbo.kinds");
        }
    }

    /** Binds the rows of low values, high values and NULLs. */
    private static void bind(PreparedStatement insert, int row, int[] sqlTypes) throws Exception {
        insert.setInt(1, row);
        for (int i = 0; i < KINDS.size(); i++) {
            Object value = row == 1 ? KINDS.get(i).low : KINDS.get(i).high;
            if (row == 3) {
                insert.setNull(i + 2, sqlTypes[i]);
            } else if (value instanceof String || value instanceof byte[]) {
                insert.setObject(i + 2, value, sqlTypes[i]);
            } else {
                insert.setObject(i + 2, value);
            }
        }
    }

    private static int[] sqlTypes(Connection connection, String table) throws Exception {
        try (ResultSet result = connection.createStatement().executeQuery("SELECT * FROM " + table)) {
            int[] types = new int[KINDS.size()];
            for (int i = 0; i < types.length; i++) {
                types[i] = result.getMetaData().getColumnType(i + 2);
            }
            return types;
        }
    }

    private static void goesIn(String table, boolean batch, String... properties) throws Exception {
        try (Connection connection = Suite.connect(properties)) {
            Suite.run(connection, "DROP TABLE IF EXISTS " + table + "; CREATE TABLE " + table + " (" + columns() + ")");
            int[] types = sqlTypes(connection, table);
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO " + table + " VALUES (?" + ", ?".repeat(KINDS.size()) + ")")) {
                for (int row = 1; row <= 3; row++) {
                    bind(insert, row, types);
                    if (batch) {
                        insert.addBatch();
                    } else {
                        equal(insert.executeUpdate(), 1, "rows inserted");
                    }
                }
                if (batch) {
                    Suite.equal(java.util.Arrays.toString(insert.executeBatch()), "[1, 1, 1]", "rows of the batch");
                }
            }
            check(connection, table);
        }
    }

    public static void parameters_go_in_and_come_out_the_same() throws Exception {
        goesIn("dbo.kinds_in", false, "sendTimeAsDatetime=false");
    }

    public static void parameters_of_a_batch_go_in_and_come_out_the_same() throws Exception {
        goesIn("dbo.kinds_batch", true, "sendTimeAsDatetime=false");
    }

    public static void results_say_their_types() throws Exception {
        try (Connection connection = Suite.connect();
             ResultSet result = connection.createStatement().executeQuery(
                 "SELECT CAST('a' AS nvarchar(7)) AS n, CAST(1 AS tinyint) AS t, CAST(1 AS money) AS m,"
                 + " CAST('x' AS varchar(max)) AS v, CAST(1 AS float) AS f, SYSDATETIMEOFFSET() AS o, NEWID() AS g, CAST(N'<a/>' AS xml) AS x,"
                 + " CAST(SYSDATETIME() AS datetime2(3)) AS d2, SERVERPROPERTY('ProductVersion') AS p,"
                 + " CAST(1 AS decimal(9,2)) AS dec, CAST(1 AS numeric(9,2)) AS num, 1.5 AS lit, CAST(1 AS decimal(9,2)) + 1.5 AS mix, SUM(CAST(1 AS decimal(9,2))) AS total")) {
            StringBuilder all = new StringBuilder();
            for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                all.append(result.getMetaData().getColumnLabel(i)).append(' ').append(result.getMetaData().getColumnTypeName(i)).append(' ')
                    .append(result.getMetaData().getColumnType(i)).append(' ').append(result.getMetaData().getPrecision(i)).append(' ')
                    .append(result.getMetaData().getScale(i)).append("; ");
            }
            equal(all.toString(), "n nvarchar -9 7 0; t tinyint -6 3 0; m money 3 19 4; v varchar 12 2147483647 0; f float 8 15 0; "
                  + "o datetimeoffset -155 34 7; g uniqueidentifier 1 36 0; x xml -16 1073741823 0; d2 datetime2 93 23 3; p sql_variant -156 0 0; "
                  + "dec decimal 3 9 2; num numeric 2 9 2; lit numeric 2 2 1; mix numeric 2 10 2; total decimal 3 38 2; ", "types");
        }
    }

    public static void values_convert_as_the_driver_does() throws Exception {
        try (Connection connection = Suite.connect(); ResultSet result = connection.createStatement().executeQuery(
                 "SELECT CAST(1 AS int), CAST('2024-02-29T10:11:12.997' AS datetime), CAST('2024-02-29' AS date), N'42', CAST(2.5 AS sql_variant),"
                 + " CAST(N'<a>1</a>' AS xml), CAST(0x01 AS varbinary(4))")) {
            result.next();
            equal(result.getLong(1), 1L, "int as long");
            equal(result.getTimestamp(2), Timestamp.valueOf("2024-02-29 10:11:12.997"), "datetime");
            equal(result.getDate(3), Date.valueOf("2024-02-29"), "date");
            equal(result.getInt(4), 42, "text as int");
            equal(result.getObject(5), new BigDecimal("2.5"), "sql_variant");
            equal(result.getSQLXML(6).getString(), "<a>1</a>", "xml");
            equal(result.getBytes(7), bytes(1), "bytes");
        }
    }

    public static void streams_go_in_and_come_out() throws Exception {
        try (Connection connection = Suite.connect("responseBuffering=adaptive")) {
            Suite.run(connection, "DROP TABLE IF EXISTS dbo.streams; CREATE TABLE dbo.streams (id int PRIMARY KEY, t nvarchar(max), b varbinary(max))");
            byte[] many = new byte[300000];
            for (int i = 0; i < many.length; i++) {
                many[i] = (byte) (i * 31);
            }
            try (PreparedStatement insert = connection.prepareStatement("INSERT dbo.streams VALUES (1, ?, ?)")) {
                insert.setCharacterStream(1, new java.io.StringReader("\u0436".repeat(100000)));
                insert.setBinaryStream(2, new java.io.ByteArrayInputStream(many));
                insert.execute();
            }
            try (ResultSet result = connection.createStatement().executeQuery("SELECT t, b FROM dbo.streams")) {
                result.next();
                Suite.equal(result.getString(1), "\u0436".repeat(100000), "text");
                Suite.equal(result.getBinaryStream(2).readAllBytes(), many, "bytes");
            }
        }
    }
}
