import com.microsoft.sqlserver.jdbc.SQLServerBulkCopy;
import com.microsoft.sqlserver.jdbc.SQLServerBulkCopyOptions;

import java.math.BigDecimal;
import java.sql.BatchUpdateException;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.sql.Types;
import java.util.Arrays;
import java.util.List;

/** Prepared statements, cursors, batches, bulk copies, several results, procedures. */
final class StatementCases {
    private StatementCases() {}

    public static void a_prepared_statement_works_from_its_first_use_to_its_tenth() throws Exception {
        for (String more : new String[] {"", "enablePrepareOnFirstPreparedStatementCall=true", "prepareMethod=prepare", "disableStatementPooling=false;statementPoolingCacheSize=10"}) {
            try (Connection connection = Suite.connect(more); PreparedStatement select = connection.prepareStatement("SELECT ? + id, name FROM dbo.customers WHERE id = ? AND name LIKE ?")) {
                for (int i = 1; i <= 10; i++) {
                    select.setInt(1, 100 * i);
                    select.setInt(2, 1 + i % 2);
                    select.setString(3, "%");
                    Suite.equal(Suite.rows(select.executeQuery()).toString(), "[[" + (100 * i + 1 + i % 2) + ", " + (i % 2 == 0 ? "Ada" : "Grace") + "]]", "use " + i + " " + more);
                }
            }
        }
    }

    public static void a_prepared_statement_tells_its_parameters_and_columns_before_it_runs() throws Exception {
        try (Connection connection = Suite.connect(); PreparedStatement select = connection.prepareStatement("SELECT id, name FROM dbo.customers WHERE name = ? AND credit > ?")) {
            Suite.equal(select.getMetaData().getColumnTypeName(2), "nvarchar", "column");
            Suite.equal(select.getParameterMetaData().getParameterCount(), 2, "parameters");
            Suite.equal(select.getParameterMetaData().getParameterTypeName(1), "nvarchar", "first");
            Suite.equal(select.getParameterMetaData().getParameterTypeName(2), "decimal", "second");
            Suite.equal(select.getParameterMetaData().getPrecision(2), 12, "its precision");
        }
    }

    public static void rows_come_in_portions_of_the_fetch_size() throws Exception {
        for (String more : new String[] {"", "selectMethod=cursor", "responseBuffering=full"}) {
            try (Connection connection = Suite.connect(more); Statement statement = connection.createStatement()) {
                statement.setFetchSize(7);
                try (ResultSet result = statement.executeQuery("SELECT value, REPLICATE('x', value) FROM GENERATE_SERIES(1, 500)")) {
                    for (int i = 1; i <= 500; i++) {
                        Suite.equal(result.next(), true, "row " + i + " " + more);
                        Suite.equal(result.getInt(1), i, "value");
                        Suite.equal(result.getString(2).length(), i, "length");
                    }
                    Suite.equal(result.next(), false, "the end");
                }
            }
        }
    }

    public static void two_results_of_one_connection_are_read_in_turns() throws Exception {
        for (String more : new String[] {"", "selectMethod=cursor"}) {
            try (Connection connection = Suite.connect(more); Statement one = connection.createStatement(); Statement two = connection.createStatement()) {
                ResultSet odd = one.executeQuery("SELECT value FROM GENERATE_SERIES(1, 2000, 2)");
                ResultSet even = two.executeQuery("SELECT value FROM GENERATE_SERIES(2, 2000, 2)");
                for (int i = 1; i <= 2000; i++) {
                    ResultSet from = i % 2 == 1 ? odd : even;
                    Suite.equal(from.next(), true, "row");
                    Suite.equal(from.getInt(1), i, "value " + more);
                }
            }
        }
    }

    public static void a_scrolling_cursor_goes_wherever_it_is_sent() throws Exception {
        try (Connection connection = Suite.connect();
             Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
             ResultSet result = statement.executeQuery("SELECT id, name FROM dbo.customers ORDER BY id")) {
            result.last();
            Suite.equal(result.getRow(), 3, "rows");
            Suite.equal(result.getString(2), "Edsger", "last");
            result.absolute(1);
            Suite.equal(result.getString(2), "Ada", "first");
            result.relative(1);
            Suite.equal(result.getString(2), "Grace", "second");
            result.previous();
            Suite.equal(result.getString(2), "Ada", "back");
            result.afterLast();
            Suite.equal(result.previous() ? result.getInt(1) : 0, 3, "before the end");
            Suite.equal(result.isLast(), true, "isLast");
        }
    }

    public static void prepared_statements_read_through_server_cursors_too() throws Exception {
        try (Connection connection = Suite.connect("selectMethod=cursor"); PreparedStatement select = connection.prepareStatement("SELECT id FROM dbo.customers WHERE id >= ? ORDER BY id")) {
            select.setFetchSize(1);
            for (int i = 1; i <= 3; i++) {
                select.setInt(1, i);
                Suite.equal(Suite.rows(select.executeQuery()).size(), 4 - i, "rows of use " + i);
            }
        }
    }

    public static void a_batch_counts_what_each_of_its_statements_did() throws Exception {
        try (Connection connection = Suite.connect()) {
            Suite.run(connection, "DROP TABLE IF EXISTS dbo.batched; CREATE TABLE dbo.batched (id int NOT NULL PRIMARY KEY, name nvarchar(20) NULL)");
            try (Statement statement = connection.createStatement()) {
                statement.addBatch("INSERT dbo.batched VALUES (1, N'a'), (2, N'b')");
                statement.addBatch("UPDATE dbo.batched SET name = N'c'");
                statement.addBatch("DELETE dbo.batched WHERE id = 3");
                Suite.equal(Arrays.toString(statement.executeBatch()), "[2, 2, 0]", "counts");
            }
            try (PreparedStatement insert = connection.prepareStatement("INSERT dbo.batched VALUES (?, ?)")) {
                for (int i = 10; i < 510; i++) {
                    insert.setInt(1, i);
                    insert.setString(2, i % 3 == 0 ? null : "n" + i);
                    insert.addBatch();
                }
                Suite.equal(Arrays.stream(insert.executeBatch()).sum(), 500, "inserted");
                insert.setInt(1, 1000);
                insert.setString(2, "new");
                insert.addBatch();
                insert.setInt(1, 10);
                insert.setString(2, "there already");
                insert.addBatch();
                BatchUpdateException error = (BatchUpdateException) Suite.fails(insert::executeBatch);
                Suite.equal(error.getErrorCode(), 2627, "number");
                Suite.equal(Arrays.toString(error.getUpdateCounts()), "[1, -3]", "counts of the batch that failed");
            }
            Suite.equal(Suite.value(connection, "SELECT COUNT(*) FROM dbo.batched"), "503", "rows");
        }
    }

    private static final String BULK = "(id int NOT NULL PRIMARY KEY, name nvarchar(40) NULL, price decimal(10,2) NULL, at datetime2(3) NULL, raw varbinary(20) NULL, note nvarchar(max) NULL, code char(4) NULL, ratio float NULL, flag bit NULL, day date NULL)";

    public static void a_batch_sent_as_a_bulk_load_is_the_same_rows() throws Exception {
        try (Connection connection = Suite.connect("useBulkCopyForBatchInsert=true")) {
            Suite.run(connection, "DROP TABLE IF EXISTS dbo.bulk_rows; CREATE TABLE dbo.bulk_rows " + BULK);
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO dbo.bulk_rows (id, name, price, at, raw, note, code, ratio, flag, day) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
                for (int i = 1; i <= 1000; i++) {
                    insert.setInt(1, i);
                    insert.setString(2, i % 7 == 0 ? null : "name " + i);
                    insert.setBigDecimal(3, BigDecimal.valueOf(i, 2));
                    insert.setTimestamp(4, java.sql.Timestamp.valueOf("2024-02-29 10:11:12.345"));
                    insert.setBytes(5, new byte[] {(byte) i, 0});
                    insert.setString(6, "\u0436".repeat(i));
                    insert.setString(7, "ab");
                    insert.setDouble(8, i / 4.0);
                    insert.setBoolean(9, i % 2 == 0);
                    insert.setDate(10, java.sql.Date.valueOf("2024-02-29"));
                    insert.addBatch();
                }
                Suite.equal(insert.executeBatch().length, 1000, "counts");
            }
            Suite.equal(Suite.query(connection, "SELECT COUNT(*), SUM(id), SUM(price), MIN(at), COUNT(name), SUM(LEN(note)), MAX(code) + '|', SUM(ratio), SUM(CAST(flag AS int)), MAX(day), SUM(CAST(SUBSTRING(raw, 1, 1) AS int)) FROM dbo.bulk_rows").toString(),
                        "[[1000, 500500, 5005.00, 2024-02-29 10:11:12.345, 858, 500500, ab  |, 125125.0, 500, 2024-02-29, " + sumOfBytes() + "]]", "what arrived");
        }
    }

    private static int sumOfBytes() {
        int sum = 0;
        for (int i = 1; i <= 1000; i++) {
            sum += i & 255;
        }
        return sum;
    }

    public static void a_bulk_copy_takes_every_type_from_a_result() throws Exception {
        try (Connection from = Suite.connect(); Connection to = Suite.connect()) {
            TypeCases.literals_come_out_as_they_went_in();
            Suite.run(to, "DROP TABLE IF EXISTS dbo.kinds_copied; CREATE TABLE dbo.kinds_copied (" + TypeCases.columns() + ")");
            try (ResultSet source = from.createStatement().executeQuery("SELECT * FROM dbo.kinds"); SQLServerBulkCopy copy = new SQLServerBulkCopy(to)) {
                SQLServerBulkCopyOptions options = new SQLServerBulkCopyOptions();
                options.setTableLock(true);
                options.setBatchSize(2);
                copy.setBulkCopyOptions(options);
                copy.setDestinationTableName("dbo.kinds_copied");
                copy.writeToServer(source);
            }
            TypeCases.check(to, "dbo.kinds_copied");
        }
    }

    public static void a_bulk_copy_checks_and_keeps_what_it_is_told_to() throws Exception {
        try (Connection from = Suite.connect(); Connection to = Suite.connect()) {
            Suite.run(to, "DROP TABLE IF EXISTS dbo.bulk_checked; CREATE TABLE dbo.bulk_checked (id int IDENTITY(1,1) PRIMARY KEY, n int NULL CHECK (n > 0))");
            SQLServerBulkCopyOptions options = new SQLServerBulkCopyOptions();
            options.setKeepIdentity(true);
            options.setCheckConstraints(true);
            try (SQLServerBulkCopy copy = new SQLServerBulkCopy(to); ResultSet source = from.createStatement().executeQuery("SELECT 40 AS id, 1 AS n")) {
                copy.setBulkCopyOptions(options);
                copy.setDestinationTableName("dbo.bulk_checked");
                copy.writeToServer(source);
            }
            try (SQLServerBulkCopy copy = new SQLServerBulkCopy(to); ResultSet source = from.createStatement().executeQuery("SELECT 41 AS id, -1 AS n")) {
                copy.setBulkCopyOptions(options);
                copy.setDestinationTableName("dbo.bulk_checked");
                Suite.failsWith(547, () -> copy.writeToServer(source));
            }
            Suite.equal(Suite.query(to, "SELECT id, n FROM dbo.bulk_checked").toString(), "[[40, 1]]", "rows");
        }
    }

    public static void several_results_come_one_after_the_other() throws Exception {
        try (Connection connection = Suite.connect(); Statement statement = connection.createStatement()) {
            Suite.run(connection, "DROP TABLE IF EXISTS dbo.several; CREATE TABLE dbo.several (id int)");
            boolean isResult = statement.execute("SELECT 1 AS a; INSERT dbo.several VALUES (1), (2); PRINT 'said'; SELECT id FROM dbo.several; UPDATE dbo.several SET id = 3; SELECT 2");
            StringBuilder all = new StringBuilder();
            for (;;) {
                if (isResult) {
                    all.append(Suite.rows(statement.getResultSet()));
                } else if (statement.getUpdateCount() == -1) {
                    break;
                } else {
                    all.append(statement.getUpdateCount());
                }
                all.append(' ');
                isResult = statement.getMoreResults();
            }
            Suite.equal(all.toString(), "[[1]] 2 [[1], [2]] 2 [[2]] ", "results");
            Suite.equal(statement.getWarnings().getMessage(), "said", "what was printed");
        }
    }

    public static void generated_keys_come_back() throws Exception {
        try (Connection connection = Suite.connect()) {
            Suite.run(connection, "DROP TABLE IF EXISTS dbo.generated; CREATE TABLE dbo.generated (id bigint IDENTITY(100,10) PRIMARY KEY, n int)");
            try (PreparedStatement insert = connection.prepareStatement("INSERT dbo.generated (n) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                for (int i = 0; i < 4; i++) {
                    insert.setInt(1, i);
                    insert.executeUpdate();
                    Suite.equal(Suite.rows(insert.getGeneratedKeys()).toString(), "[[" + (100 + 10 * i) + "]]", "key");
                }
            }
        }
    }

    public static void a_procedure_gives_results_outputs_and_its_status() throws Exception {
        try (Connection connection = Suite.connect()) {
            Suite.run(connection, "DROP PROCEDURE IF EXISTS dbo.raise_credit");
            Suite.run(connection, "CREATE PROCEDURE dbo.raise_credit @id int, @by decimal(12,2) = 1, @name nvarchar(50) OUTPUT, @total decimal(12,2) OUTPUT AS BEGIN "
                      + "SELECT id FROM dbo.customers WHERE id <= @id ORDER BY id; SELECT @name = name + @name, @total = credit + @by FROM dbo.customers WHERE id = @id; RETURN 7; END");
            try (CallableStatement call = connection.prepareCall("{? = call dbo.raise_credit(?, ?, ?, ?)}")) {
                for (int use = 1; use <= 3; use++) {
                    call.registerOutParameter(1, Types.INTEGER);
                    call.setInt(2, 2);
                    call.setBigDecimal(3, new BigDecimal("2.50"));
                    call.setString(4, "!");
                    call.registerOutParameter(4, Types.NVARCHAR);
                    call.registerOutParameter(5, Types.DECIMAL, 2);
                    Suite.equal(Suite.rows(call.executeQuery()).toString(), "[[1], [2]]", "rows");
                    Suite.equal(call.getInt(1), 7, "status");
                    Suite.equal(call.getString(4), "Grace!", "name");
                    Suite.equal(call.getBigDecimal(5), new BigDecimal("252.50"), "total");
                }
            }
            try (CallableStatement call = connection.prepareCall("EXEC dbo.raise_credit @id = ?, @name = ?, @total = ?")) {
                call.setInt(1, 1);
                call.setNull(2, Types.NVARCHAR);
                call.registerOutParameter(2, Types.NVARCHAR);
                call.registerOutParameter(3, Types.DECIMAL, 2);
                Suite.equal(Suite.rows(call.executeQuery()).size(), 1, "rows");
                Suite.equal(call.getString(2), null, "a NULL out");
                Suite.equal(call.getBigDecimal(3), new BigDecimal("101.00"), "the default");
            }
            Suite.equal(Suite.rows(connection.prepareCall("{call sys.sp_cdc_help_jobs}").executeQuery(), "job_type").toString(), "[[capture], [cleanup]]", "a procedure of the system");
        }
    }

    public static void limits_of_a_statement_count() throws Exception {
        try (Connection connection = Suite.connect(); Statement statement = connection.createStatement()) {
            statement.setMaxRows(2);
            Suite.equal(Suite.rows(statement.executeQuery("SELECT id FROM dbo.customers ORDER BY id")), List.of("[1]", "[2]"), "rows");
            statement.setMaxRows(0);
            Suite.equal(Suite.rows(statement.executeQuery("SELECT id FROM dbo.customers")).size(), 3, "all rows again");
            statement.setMaxFieldSize(3);
            Suite.equal(Suite.rows(statement.executeQuery("SELECT CAST('abcdef' AS varchar(max))")).toString(), "[[abc]]", "a shortened value");
        }
    }
}
