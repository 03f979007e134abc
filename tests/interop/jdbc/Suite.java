import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * The cases of mssql-jdbc, on a tidesim whose database is made by test_jdbc.py: Suite PORT OTHER_PORT TRUST_STORE [CASE...].
 *
 * A case is a public static method of one of the classes below, whose name is a sentence about behaviour. Prints a line of TAP for each.
 */
public final class Suite {
    static final String PASSWORD = "Tide.Sim.1";
    private static final List<Class<?>> CASES =
        List.of(MetadataCases.class, TypeCases.class, StatementCases.class, TransactionCases.class, ErrorCases.class, EncryptionCases.class);

    static int port;
    static int otherPort; // a server with another certificate
    static String trustStore;

    private Suite() {}

    /** A connection that does not encrypt, with more properties, as in `selectMethod=cursor`. */
    static Connection connect(String... properties) throws SQLException {
        return DriverManager.getConnection(url("localhost", port, "encrypt=false", String.join(";", properties)));
    }

    static String url(String host, int port, String... properties) {
        return "jdbc:sqlserver://" + host + ":" + port + ";databaseName=shop;user=sa;password=" + PASSWORD + ";loginTimeout=20;" + String.join(";", properties);
    }

    static boolean isNewDriver() throws SQLException {
        return DriverManager.getDriver("jdbc:sqlserver://x").getMajorVersion() >= 13;
    }

    // --- what cases assert ---

    static void equal(Object got, Object want, String what) {
        boolean same = got instanceof byte[] && want instanceof byte[] ? Arrays.equals((byte[]) got, (byte[]) want) : Objects.equals(got, want);
        if (!same) {
            throw new AssertionError(what + ": got " + show(got) + ", want " + show(want));
        }
    }

    private static String show(Object value) {
        String text = value instanceof byte[] ? Arrays.toString((byte[]) value) : String.valueOf(value);
        return (text.length() > 2000 ? text.substring(0, 2000) + "..." : text) + (value == null ? "" : " (" + value.getClass().getSimpleName() + ")");
    }

    interface Action {
        void run() throws Exception;
    }

    /** The error that the action ends with. */
    static SQLException fails(Action action) throws Exception {
        try {
            action.run();
        } catch (SQLException error) {
            return error;
        }
        throw new AssertionError("no error came");
    }

    static void failsWith(int number, Action action) throws Exception {
        SQLException error = fails(action);
        if (error.getErrorCode() != number) {
            throw new AssertionError("got error " + error.getErrorCode() + " " + error.getMessage() + ", want " + number);
        }
    }

    /** The rows of a result, each as its values in brackets, of the named columns or of all. */
    static List<String> rows(ResultSet result, String... columns) throws SQLException {
        List<String> rows = new ArrayList<>();
        while (result.next()) {
            List<String> values = new ArrayList<>();
            for (int i = 0; i < (columns.length > 0 ? columns.length : result.getMetaData().getColumnCount()); i++) {
                values.add(columns.length > 0 ? result.getString(columns[i]) : result.getString(i + 1));
            }
            rows.add(values.toString());
        }
        result.close();
        return rows;
    }

    static List<String> query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return rows(statement.executeQuery(sql));
        }
    }

    static String value(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
            equal(result.next(), true, "a row of " + sql);
            return result.getString(1);
        }
    }

    static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static boolean runCase(Method method, String label) throws IllegalAccessException {
        String name = label + ": " + method.getName().replace('_', ' ');
        try {
            method.invoke(null);
            System.out.println("ok - " + name);
            return true;
        } catch (InvocationTargetException failure) {
            System.out.println("not ok - " + name);
            for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
                System.out.println("# " + String.valueOf(cause).replace("\n", "\n# "));
                for (StackTraceElement frame : cause.getStackTrace()) {
                    if (frame.getClassName().endsWith("Cases")) {
                        System.out.println("#   at " + frame);
                    }
                }
            }
            return false;
        }
    }

    public static void main(String[] arguments) throws Exception {
        port = Integer.parseInt(arguments[0]);
        otherPort = Integer.parseInt(arguments[1]);
        trustStore = arguments[2];
        List<String> wanted = Arrays.asList(arguments).subList(3, arguments.length);
        java.sql.Driver driver = DriverManager.getDriver("jdbc:sqlserver://x");
        String label = "mssql-jdbc " + driver.getMajorVersion() + "." + driver.getMinorVersion();
        boolean ok = true;
        for (Class<?> cases : CASES) {
            Method[] methods = cases.getDeclaredMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (Method method : methods) {
                boolean isCase = java.lang.reflect.Modifier.isPublic(method.getModifiers()) && method.getParameterCount() == 0;
                if (isCase && (wanted.isEmpty() || wanted.contains(method.getName()))) {
                    ok &= runCase(method, label);
                }
            }
        }
        System.exit(ok ? 0 : 1);
    }
}
