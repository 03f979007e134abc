import java.sql.Connection;
import java.sql.DriverManager;

/** What a connection string says of encryption, and what comes of it. */
final class EncryptionCases {
    private EncryptionCases() {}

    private static void connects(String host, int port, String encrypted, String... properties) throws Exception {
        try (Connection connection = DriverManager.getConnection(Suite.url(host, port, properties))) {
            Suite.equal(Suite.value(connection, "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID"), encrypted, String.join(";", properties));
            Suite.equal(Suite.query(connection, "SELECT value, REPLICATE('x', 200) FROM GENERATE_SERIES(1, 5000)").size(), 5000, "rows");
        }
    }

    private static void refuses(String host, int port, String... properties) throws Exception {
        Suite.fails(() -> DriverManager.getConnection(Suite.url(host, port, "connectRetryCount=0", "loginTimeout=10", String.join(";", properties))));
    }

    private static String trust() {
        return "trustStore=" + Suite.trustStore + ";trustStorePassword=changeit";
    }

    public static void encryption_is_as_asked_for() throws Exception {
        connects("localhost", Suite.port, "FALSE", "encrypt=false");
        connects("localhost", Suite.port, "TRUE", "encrypt=true", "trustServerCertificate=true");
        connects("127.0.0.1", Suite.port, "TRUE", "trustServerCertificate=true");
    }

    public static void the_certificate_is_verified_unless_told_not_to() throws Exception {
        refuses("localhost", Suite.port, "encrypt=true");
        connects("localhost", Suite.port, "TRUE", "encrypt=true", trust());
        connects("127.0.0.1", Suite.port, "TRUE", "encrypt=true", trust());
        refuses("localhost", Suite.otherPort, "encrypt=true", trust());
    }

    public static void the_name_in_the_certificate_counts() throws Exception {
        connects("127.0.0.1", Suite.port, "TRUE", "encrypt=true", trust(), "hostNameInCertificate=localhost");
        refuses("127.0.0.1", Suite.port, "encrypt=true", trust(), "hostNameInCertificate=elsewhere.example");
    }

    public static void encryption_from_the_first_byte_works_too() throws Exception {
        connects("localhost", Suite.port, "TRUE", "encrypt=strict", trust());
        refuses("localhost", Suite.otherPort, "encrypt=strict", trust());
    }
}
