import com.microsoft.sqlserver.jdbc.SQLServerException;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Errors with all that belongs to them, cancelling, connections that end. */
final class ErrorCases {
    private ErrorCases() {}

    private static String told(SQLException error) {
        com.microsoft.sqlserver.jdbc.SQLServerError server = ((SQLServerException) error).getSQLServerError();
        String procedure = server.getProcedureName() == null || server.getProcedureName().isEmpty() ? "-" : server.getProcedureName().replaceFirst("^dbo[.]", "");
        return server.getErrorNumber() + " " + server.getErrorSeverity() + " " + server.getErrorState() + " " + server.getLineNumber() + " " + procedure + " " + server.getErrorMessage();
    }

    private static void check(Connection connection, String sql, String want) throws Exception {
        Suite.equal(told(Suite.fails(() -> Suite.run(connection, sql))), want, sql);
        Suite.equal(Suite.value(connection, "SELECT 1"), "1", "the connection lives on");
    }

    public static void an_error_brings_number_severity_state_line_and_procedure() throws Exception {
        try (Connection connection = Suite.connect()) {
            check(connection, "SELECT * FROM dbo.nowhere", "208 16 1 1 - Invalid object name 'dbo.nowhere'.");
            check(connection, "\n\nSELECT nothing FROM dbo.customers", "207 16 1 3 - Invalid column name 'nothing'.");
            check(connection, "SELEC 1", "2812 16 62 1 - Could not find stored procedure 'SELEC'.");
            check(connection, "SELECT 1 +", "102 15 1 1 - Incorrect syntax near '+'.");
            check(connection, "DECLARE @x int = 1 / 0", "8134 16 1 1 - Divide by zero error encountered.");
            check(connection, "RAISERROR(N'mine %d', 14, 5, 42)", "50000 14 5 1 - mine 42");
            check(connection, "THROW 51000, N'thrown', 3", "51000 16 3 1 - thrown");
            check(connection, "DECLARE @x int = 'x'", "245 16 1 1 - Conversion failed when converting the varchar value 'x' to data type int.");
            Suite.run(connection, "DROP PROCEDURE IF EXISTS dbo.fails");
            Suite.run(connection, "CREATE PROCEDURE dbo.fails AS\nRAISERROR(N'inside', 16, 2)");
            check(connection, "EXEC dbo.fails", "50000 16 2 2 fails inside");
        }
    }

    public static void what_constraints_refuse_has_its_class() throws Exception {
        try (Connection connection = Suite.connect()) {
            SQLException twice = Suite.fails(() -> Suite.run(connection, "SET IDENTITY_INSERT dbo.customers ON; INSERT dbo.customers (id, name, credit) VALUES (1, N'again', 0)"));
            Suite.equal(twice.getErrorCode() + " " + twice.getSQLState(), "2627 23000", "a key that is there");
            SQLException missing = Suite.fails(() -> Suite.run(connection, "INSERT sales.orders (customer, line) VALUES (99, 1)"));
            Suite.equal(missing.getErrorCode() + " " + missing.getSQLState(), "547 23000", "a reference to nothing");
            SQLException none = Suite.fails(() -> Suite.run(connection, "UPDATE dbo.customers SET name = NULL"));
            Suite.equal(none.getErrorCode() + " " + none.getSQLState(), "515 23000", "NULL");
        }
    }

    public static void an_error_after_rows_comes_after_them() throws Exception {
        try (Connection connection = Suite.connect(); Statement statement = connection.createStatement();
             ResultSet result = statement.executeQuery("SELECT 10 / (4 - value) FROM GENERATE_SERIES(1, 9)")) {
            for (int i = 1; i <= 3; i++) {
                Suite.equal(result.next(), true, "row");
            }
            Suite.failsWith(8134, result::next);
        }
    }

    public static void a_second_error_follows_the_first() throws Exception {
        try (Connection connection = Suite.connect(); Statement statement = connection.createStatement()) {
            SQLException first = Suite.fails(() -> statement.execute("RAISERROR(N'one', 16, 1); RAISERROR(N'two', 16, 1); SELECT 3"));
            Suite.equal(first.getMessage(), "one", "first");
            SQLException second = Suite.fails(statement::getMoreResults);
            Suite.equal(second.getMessage(), "two", "second");
            Suite.equal(statement.getMoreResults(), true, "a result behind them");
        }
    }

    public static void a_statement_is_cancelled_from_another_thread() throws Exception {
        try (Connection connection = Suite.connect(); Statement statement = connection.createStatement()) {
            for (String slow : new String[] {"WAITFOR DELAY '00:00:30'", "SELECT COUNT_BIG(*) FROM GENERATE_SERIES(1, 1000000) a CROSS JOIN GENERATE_SERIES(1, 1000000) b"}) {
                Thread canceller = new Thread(() -> {
                    try {
                        Thread.sleep(200);
                        statement.cancel();
                    } catch (Exception error) {
                        error.printStackTrace();
                    }
                });
                long started = System.nanoTime();
                canceller.start();
                SQLException error = Suite.fails(() -> statement.execute(slow));
                canceller.join();
                Suite.equal(error.getSQLState(), "HY008", "state of " + error.getMessage());
                Suite.equal((System.nanoTime() - started) / 1000000000L < 10, true, "soon");
                Suite.equal(Suite.value(connection, "SELECT 1"), "1", "the connection lives on");
            }
        }
    }

    public static void a_query_timeout_ends_the_statement_and_not_the_connection() throws Exception {
        try (Connection connection = Suite.connect(); Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            SQLException error = Suite.fails(() -> statement.execute("WAITFOR DELAY '00:00:30'"));
            Suite.equal(error.getClass().getSimpleName(), "SQLTimeoutException", error.getMessage());
            Suite.equal(Suite.value(connection, "SELECT 1"), "1", "the connection lives on");
        }
    }

    public static void closing_a_result_early_leaves_the_connection_usable() throws Exception {
        try (Connection connection = Suite.connect("responseBuffering=adaptive"); Statement statement = connection.createStatement()) {
            for (int i = 0; i < 3; i++) {
                try (ResultSet result = statement.executeQuery("SELECT value, REPLICATE('x', 200) FROM GENERATE_SERIES(1, 100000)")) {
                    Suite.equal(result.next(), true, "a row");
                }
            }
            Suite.equal(Suite.value(connection, "SELECT 1"), "1", "the connection lives on");
        }
    }

    public static void a_killed_session_is_not_valid_any_more() throws Exception {
        try (Connection victim = Suite.connect("connectRetryCount=0"); Connection killer = Suite.connect()) {
            String spid = Suite.value(victim, "SELECT @@SPID");
            Suite.equal(victim.isValid(5), true, "before");
            Suite.run(killer, "KILL " + spid);
            Suite.equal(victim.isValid(5), false, "after");
            Suite.fails(() -> Suite.run(victim, "SELECT 1"));
            Suite.equal(Suite.value(killer, "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE session_id = " + spid), "0", "sessions");
        }
    }

    public static void a_session_killed_in_its_statement_says_so() throws Exception {
        try (Connection victim = Suite.connect("connectRetryCount=0"); Connection killer = Suite.connect()) {
            String spid = Suite.value(victim, "SELECT @@SPID");
            Thread thread = new Thread(() -> {
                try {
                    Thread.sleep(200);
                    Suite.run(killer, "KILL " + spid);
                } catch (Exception error) {
                    error.printStackTrace();
                }
            });
            thread.start();
            SQLException error = Suite.fails(() -> Suite.run(victim, "WAITFOR DELAY '00:00:30'"));
            thread.join();
            Suite.equal(error.getErrorCode() == 596 || "08S01".equals(error.getSQLState()), true, error.getErrorCode() + " " + error.getSQLState() + " " + error.getMessage());
            Suite.equal(victim.isClosed(), true, "closed");
        }
    }

    public static void logins_that_fail_say_why() throws Exception {
        String base = "jdbc:sqlserver://localhost:" + Suite.port + ";encrypt=false;connectRetryCount=0;loginTimeout=5;";
        SQLException password = Suite.fails(() -> DriverManager.getConnection(base + "user=sa;password=wrong"));
        Suite.equal(password.getErrorCode() + " " + password.getMessage().split("\\.")[0], "18456 Login failed for user 'sa'", "a wrong password");
        SQLException database = Suite.fails(() -> DriverManager.getConnection(base + "user=sa;databaseName=nowhere;password=" + Suite.PASSWORD));
        Suite.equal(database.getErrorCode(), 4060, "a database that is not there: " + database.getMessage());
    }

    public static void valid_until_closed() throws Exception {
        Connection connection = Suite.connect();
        Suite.equal(connection.isValid(5), true, "open");
        connection.close();
        Suite.equal(connection.isValid(5), false, "closed");
    }

    public static void a_parameter_that_does_not_convert_is_an_error_of_the_server() throws Exception {
        try (Connection connection = Suite.connect(); PreparedStatement insert = connection.prepareStatement("INSERT sales.orders (customer, line) VALUES (?, ?)")) {
            for (int use = 1; use <= 3; use++) {
                insert.setString(1, "one");
                insert.setInt(2, 1);
                Suite.failsWith(245, insert::executeUpdate);
            }
        }
    }
}
