import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Savepoint;
import java.sql.Statement;

/** Transactions as JDBC has them: no autocommit, savepoints, isolation. */
final class TransactionCases {
    private static final int SNAPSHOT = 4096; // SQLServerConnection.TRANSACTION_SNAPSHOT

    private TransactionCases() {}

    private static void fresh(Connection connection) throws Exception {
        Suite.run(connection, "DROP TABLE IF EXISTS dbo.account; CREATE TABLE dbo.account (id int NOT NULL PRIMARY KEY, amount int NOT NULL); INSERT dbo.account VALUES (1, 10), (2, 20)");
    }

    private static String sum(Connection connection) throws Exception {
        return Suite.value(connection, "SELECT SUM(amount) FROM dbo.account");
    }

    public static void without_autocommit_a_statement_begins_a_transaction() throws Exception {
        try (Connection writer = Suite.connect(); Connection reader = Suite.connect()) {
            fresh(writer);
            writer.setAutoCommit(false);
            Suite.equal(Suite.value(writer, "SELECT @@TRANCOUNT"), "0", "before the first read of a table");
            Suite.equal(sum(writer), "30", "sum");
            Suite.equal(Suite.value(writer, "SELECT @@TRANCOUNT"), "1", "after it");
            Suite.run(writer, "UPDATE dbo.account SET amount = 0 WHERE id = 1");
            writer.rollback();
            Suite.equal(Suite.value(writer, "SELECT @@TRANCOUNT"), "0", "after the rollback");
            Suite.equal(sum(reader), "30", "what another sees after it");
            Suite.run(writer, "UPDATE dbo.account SET amount = 0 WHERE id = 1");
            writer.commit();
            Suite.equal(sum(reader), "20", "what another sees after the commit");
            writer.commit();
            Suite.run(writer, "UPDATE dbo.account SET amount = 1 WHERE id = 1");
            writer.setAutoCommit(true);
            Suite.equal(sum(reader), "21", "turning autocommit on commits");
            Suite.equal(Suite.value(writer, "SELECT @@TRANCOUNT"), "0", "in autocommit");
        }
    }

    public static void closing_a_connection_rolls_back() throws Exception {
        try (Connection reader = Suite.connect()) {
            fresh(reader);
            try (Connection writer = Suite.connect()) {
                writer.setAutoCommit(false);
                Suite.run(writer, "DELETE dbo.account");
            }
            Suite.equal(sum(reader), "30", "sum");
        }
    }

    public static void savepoints_undo_what_follows_them() throws Exception {
        try (Connection connection = Suite.connect()) {
            fresh(connection);
            connection.setAutoCommit(false);
            Savepoint first = connection.setSavepoint();
            Suite.run(connection, "UPDATE dbo.account SET amount = 11 WHERE id = 1");
            Savepoint second = connection.setSavepoint("second point");
            Suite.equal(second.getSavepointName(), "second point", "name");
            Suite.run(connection, "UPDATE dbo.account SET amount = 21 WHERE id = 2");
            Suite.equal(sum(connection), "32", "both");
            connection.rollback(second);
            Suite.equal(sum(connection), "31", "after one");
            connection.rollback(first);
            Suite.equal(sum(connection), "30", "after both");
            Suite.equal(Suite.value(connection, "SELECT @@TRANCOUNT"), "1", "the transaction goes on");
            Suite.run(connection, "UPDATE dbo.account SET amount = 12 WHERE id = 1");
            connection.commit();
            Suite.failsWith(3903, () -> Suite.run(connection, "ROLLBACK TRANSACTION"));
            Suite.equal(sum(connection), "32", "committed");
        }
    }

    public static void isolation_is_what_the_server_says_it_is() throws Exception {
        try (Connection connection = Suite.connect()) {
            Suite.equal(connection.getTransactionIsolation(), Connection.TRANSACTION_READ_COMMITTED, "at first");
            int[][] levels = {{Connection.TRANSACTION_READ_UNCOMMITTED, 1}, {Connection.TRANSACTION_READ_COMMITTED, 2}, {Connection.TRANSACTION_REPEATABLE_READ, 3},
                              {Connection.TRANSACTION_SERIALIZABLE, 4}, {SNAPSHOT, 5}};
            for (int[] level : levels) {
                connection.setTransactionIsolation(level[0]);
                Suite.equal(Suite.value(connection, "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"), String.valueOf(level[1]), "level");
            }
        }
    }

    public static void a_snapshot_sees_nothing_that_came_later_and_does_not_overwrite_it() throws Exception {
        try (Connection reader = Suite.connect(); Connection writer = Suite.connect()) {
            fresh(writer);
            reader.setTransactionIsolation(SNAPSHOT);
            reader.setAutoCommit(false);
            Suite.equal(sum(reader), "30", "at first");
            Suite.run(writer, "UPDATE dbo.account SET amount = 1000 WHERE id = 1");
            Suite.equal(sum(reader), "30", "still");
            Suite.failsWith(3960, () -> Suite.run(reader, "UPDATE dbo.account SET amount = amount + 1 WHERE id = 1"));
            reader.rollback();
            Suite.equal(sum(reader), "1020", "in the next transaction");
            reader.rollback();
        }
    }

    public static void a_repeatable_read_makes_writers_wait() throws Exception {
        try (Connection reader = Suite.connect(); Connection writer = Suite.connect("lockTimeout=100")) {
            fresh(reader);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            reader.setAutoCommit(false);
            Suite.equal(sum(reader), "30", "read");
            Suite.failsWith(1222, () -> Suite.run(writer, "UPDATE dbo.account SET amount = 0 WHERE id = 1"));
            Suite.run(writer, "INSERT dbo.account VALUES (3, 1)");
            Suite.equal(sum(reader), "31", "a phantom");
            reader.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            Suite.equal(sum(reader), "31", "again");
            Suite.failsWith(1222, () -> Suite.run(writer, "INSERT dbo.account VALUES (4, 1)"));
            reader.commit();
            Suite.run(writer, "INSERT dbo.account VALUES (4, 1)");
        }
    }

    public static void the_victim_of_a_deadlock_is_told_and_the_other_goes_on() throws Exception {
        try (Connection one = Suite.connect(); Connection two = Suite.connect()) {
            fresh(one);
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            Suite.run(one, "SET DEADLOCK_PRIORITY HIGH; UPDATE dbo.account SET amount = 1 WHERE id = 1");
            Suite.run(two, "UPDATE dbo.account SET amount = 2 WHERE id = 2");
            Thread other = new Thread(() -> {
                try {
                    Suite.run(one, "UPDATE dbo.account SET amount = 1 WHERE id = 2");
                } catch (Exception error) {
                    error.printStackTrace();
                }
            });
            other.start();
            java.sql.SQLException error = Suite.fails(() -> Suite.run(two, "UPDATE dbo.account SET amount = 2 WHERE id = 1"));
            Suite.equal(error.getErrorCode() + " " + error.getSQLState(), "1205 40001", "error");
            other.join();
            one.commit();
            two.rollback();
            Suite.equal(sum(two), "2", "sum");
            two.rollback();
        }
    }

    public static void a_prepared_statement_survives_the_end_of_its_transaction() throws Exception {
        try (Connection connection = Suite.connect()) {
            fresh(connection);
            connection.setAutoCommit(false);
            try (PreparedStatement update = connection.prepareStatement("UPDATE dbo.account SET amount = amount + ? WHERE id = ?"); Statement other = connection.createStatement()) {
                for (int i = 1; i <= 6; i++) {
                    update.setInt(1, 1);
                    update.setInt(2, 1);
                    Suite.equal(update.executeUpdate(), 1, "rows");
                    if (i % 2 == 0) {
                        connection.commit();
                    } else {
                        connection.rollback();
                    }
                }
                Suite.equal(Suite.rows(other.executeQuery("SELECT amount FROM dbo.account ORDER BY id")).toString(), "[[13], [20]]", "amounts");
            }
        }
    }
}
