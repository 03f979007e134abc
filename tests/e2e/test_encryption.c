/* tidelake's connections, encrypted and not, through FreeTDS and Microsoft's driver: what the connection string asks for is what a tidesim
 * sees, and a server that is not who it should be is not talked to. */
#include "support/test_support.h"

#include "sqlconn/sqlconn.h"

#include "e2e/queries_world.h"

#define LOGIN "Database=master;UID=sa;PWD={Tide.Sim.1}"

typedef struct Server {
    pid_t process;
    char  port[16];
    char  certificate[300]; /* empty: it has none of its own making */
} Server;

typedef struct Servers {
    Arena      *arena;
    Clock      *clock;
    Log        *log;
    Server      optional, required, none, other; /* as to encryption; another certificate */
    SqlDriver  *sql;
    char        folder[300];
    const char *microsoft; /* NULL: not installed */
} Servers;

/* --- servers --- */

static bool read_line(int fd, char *line, size_t size)
{
    size_t len = 0;

    while (len + 1 < size && read(fd, line + len, 1) == 1 && line[len] != '\n')
        len++;
    line[len] = 0;
    return len > 0;
}

static const char *behind(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0 ? line + strlen(word) : NULL;
}

static void run_server(const char *program, const char *option, const char *value, int fd)
{
    (void)dup2(fd, STDOUT_FILENO);
    (void)dup2(fd, STDERR_FILENO);
    (void)execl(program, program, "serve", "--listen", "0.0.0.0:0", "--seed", "7", "--log-level",
                "error", option, value, (char *)NULL);
    _exit(127);
}

static void start_server(Servers *servers, Server *server, const char *option, const char *value)
{
    const char *root    = getenv("TIDELAKE_BUILD_ROOT");
    const char *program = str_c(servers->arena,
                                str_printf(servers->arena, "%s/tidesim", root ? root : "build"));
    const char *found   = NULL;
    char        line[300];
    int         fds[2];

    if (pipe(fds) != 0) fail_msg("no pipe");
    server->process = fork();
    if (server->process == 0) run_server(program, option, value, fds[1]);
    (void)close(fds[1]);
    while (!found && read_line(fds[0], line, sizeof line)) {
        const char *path = behind(line, "tidesim: certificate ");
        if (path) (void)snprintf(server->certificate, sizeof server->certificate, "%s", path);
        found = behind(line, "tidesim ready 0.0.0.0:");
    }
    if (!found) fail_msg("tidesim said: %s", line);
    (void)snprintf(server->port, sizeof server->port, "%.5s", found);
    (void)close(fds[0]);
}

static void stop_server(Server *server)
{
    (void)kill(server->process, SIGTERM);
    (void)waitpid(server->process, NULL, 0);
}

static void drop_line(void *arg, LogLevel level, Str line)
{
    (void)arg;
    (void)level;
    (void)line;
}

static int open_servers(void **state)
{
    Servers *servers = mem_alloc(sizeof *servers);
    Err      err     = ERR_INIT;

    (void)unsetenv("SSL_CERT_FILE");
    (void)unsetenv("FREETDSCONF");
    servers->clock     = clock_new_real();
    servers->log       = log_new(servers->clock, LOG_ERROR, LOG_FORMAT_TEXT, drop_line, NULL);
    servers->arena     = arena_new();
    servers->microsoft = world_microsoft_driver(servers->arena);
    (void)snprintf(servers->folder, sizeof servers->folder, "%s", test_dir_new(servers->arena));
    start_server(servers, &servers->optional, "--tls", "self-signed");
    start_server(servers, &servers->required, "--require-encryption", NULL);
    start_server(servers, &servers->none, "--tls", "none");
    start_server(servers, &servers->other, "--tls", "self-signed");
    assert_ok(
        sqldriver_odbc_open(servers->log, NULL, str_from_c(servers->folder), &servers->sql, &err),
        &err);
    *state = servers;
    return 0;
}

static int close_servers(void **state)
{
    Servers *servers = *state;

    sqldriver_close(servers->sql);
    stop_server(&servers->optional);
    stop_server(&servers->required);
    stop_server(&servers->none);
    stop_server(&servers->other);
    log_close(servers->log);
    clock_close(servers->clock);
    test_dir_remove(servers->folder);
    arena_close(servers->arena);
    mem_free(servers);
    return 0;
}

/* --- connecting --- */

static bool try_to_connect(Servers *servers, const char *driver, const char *host,
                           const Server *server, const char *more, SqlConn **out, Err *err)
{
    Str text = str_printf(servers->arena, "Driver=%s;Server=%s,%s;" LOGIN ";%s", driver, host,
                          server->port, more);

    return sqldriver_connect(servers->sql, text, 10, out, err);
}

static void assert_encrypted(SqlConn *conn, bool is_encrypted)
{
    SqlQuery query = {.text = STR("SELECT encrypt_option FROM sys.dm_exec_connections WHERE "
                                  "session_id = @@SPID")};
    Arena   *arena = arena_new();
    Err      err   = ERR_INIT;
    Schema   schema;
    RowBlock block;

    assert_ok(sqlconn_fetch_all(conn, &query, 1, arena, &schema, &block, &err), &err);
    assert_str_is(column_str(&block.columns[0], 0), is_encrypted ? "TRUE" : "FALSE");
    arena_close(arena);
}

/* Rows come through. */
static void assert_works(SqlConn *conn)
{
    SqlQuery query = {
        .text = STR("SELECT value, REPLICATE('x', 900) FROM GENERATE_SERIES(1, 500)")};
    Arena   *arena = arena_new();
    Err      err   = ERR_INIT;
    Schema   schema;
    RowBlock block;

    assert_ok(sqlconn_fetch_all(conn, &query, 1000, arena, &schema, &block, &err), &err);
    assert_int_equal(block.row_count, 500);
    assert_int_equal(column_str(&block.columns[1], 499).len, 900);
    arena_close(arena);
}

static void assert_connects(Servers *servers, const char *driver, const char *host,
                            const Server *server, const char *more, bool is_encrypted)
{
    SqlConn *conn = NULL;
    Err      err  = ERR_INIT;

    if (!try_to_connect(servers, driver, host, server, more, &conn, &err))
        fail_msg("%s, %s: %s", host, more, err.message);
    assert_encrypted(conn, is_encrypted);
    assert_works(conn);
    sqlconn_close(conn);
}

static void assert_refused(Servers *servers, const char *driver, const char *host,
                           const Server *server, const char *more, ErrCode code, const char *text)
{
    SqlConn *conn = NULL;
    Err      err  = ERR_INIT;

    if (try_to_connect(servers, driver, host, server, more, &conn, &err))
        fail_msg("connected: %s, %s", host, more);
    assert_err(&err, code, text);
    if (code != ERR_CONFIG) assert_string_equal(err.sqlstate, "08001");
}

/* "Encrypt=yes;ServerCertificate=PATH" and the like. */
static const char *naming(Servers *servers, const char *more, const Server *server)
{
    return str_c(servers->arena,
                 str_printf(servers->arena, "%s;ServerCertificate=%s", more, server->certificate));
}

/* --- FreeTDS --- */

#define FREETDS "FreeTDS"

static void freetds_encrypts_no_more_than_the_server_wants(void **state)
{
    Servers *servers = *state;

    for (int said = 0; said <= 1; said++) {
        const char *more = said ? "Encrypt=no" : "";
        assert_connects(servers, FREETDS, "127.0.0.1", &servers->optional, more, false);
        assert_connects(servers, FREETDS, "tcp:127.0.0.1", &servers->required, more, true);
        assert_connects(servers, FREETDS, "127.0.0.1", &servers->none, more, false);
    }
}

static void freetds_encrypts_without_verifying(void **state)
{
    static const char more[]  = "Encrypt=yes;TrustServerCertificate=yes";
    Servers          *servers = *state;

    assert_connects(servers, FREETDS, "tcp:127.0.0.1", &servers->optional, more, true);
    assert_connects(servers, FREETDS, "127.0.0.2", &servers->required, more, true);
    assert_refused(servers, FREETDS, "127.0.0.1", &servers->none, more, ERR_SOURCE,
                   "cannot connect to 127.0.0.1");
}

static void freetds_verifies_certificate_and_name(void **state)
{
    Servers    *servers = *state;
    const char *right   = naming(servers, "Encrypt=yes", &servers->optional);
    const char *wrong   = naming(servers, "Encrypt=yes", &servers->other);

    assert_connects(servers, FREETDS, "localhost", &servers->optional, right, true);
    assert_connects(servers, FREETDS, "tcp:127.0.0.1", &servers->optional, right, true);
    assert_connects(
        servers, FREETDS, "localhost", &servers->required,
        naming(servers, "Encrypt=mandatory;TrustServerCertificate=no", &servers->required), true);
    assert_refused(servers, FREETDS, "localhost", &servers->optional, wrong, ERR_SOURCE, "");
    assert_refused(servers, FREETDS, "127.0.0.2", &servers->optional, right, ERR_SOURCE, "");
    assert_refused(servers, FREETDS, "localhost", &servers->none, right, ERR_SOURCE, "");
    assert_refused(servers, FREETDS, "localhost", &servers->optional, "Encrypt=yes", ERR_SOURCE,
                   ""); /* by the system's authorities, who do not know it */
    assert_connects(servers, FREETDS, "localhost", &servers->optional, right, true); /* and still */
}

static void freetds_is_told_through_a_private_file_without_secrets(void **state)
{
    Servers    *servers = *state;
    const char *path    = str_c(servers->arena, str_printf(servers->arena, "%s/freetds-%ld.conf",
                                                           servers->folder, (long)getpid()));
    char        text[4096];
    struct stat info;
    Err         err = ERR_INIT;

    assert_connects(servers, FREETDS, "localhost", &servers->optional,
                    naming(servers, "Encrypt=yes", &servers->optional), true);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    int     fd  = open(path, O_RDONLY);
    ssize_t len = read(fd, text, sizeof text - 1);
    (void)close(fd);
    assert_true(len > 0);
    text[len] = 0;
    assert_non_null(strstr(text, "encryption = require"));
    assert_non_null(strstr(text, servers->optional.certificate));
    assert_null(strstr(text, "Tide.Sim.1"));
    assert_null(strstr(text, "sa\n"));
    sqldriver_close(servers->sql);
    servers->sql = NULL;
    assert_int_equal(stat(path, &info), -1);
    assert_ok(
        sqldriver_odbc_open(servers->log, NULL, str_from_c(servers->folder), &servers->sql, &err),
        &err);
}

static void what_freetds_cannot_give_is_refused_before_connecting(void **state)
{
    Servers *servers = *state;

    assert_refused(servers, FREETDS, "localhost", &servers->optional, "Encrypt=strict", ERR_CONFIG,
                   "Encrypt=strict: FreeTDS cannot give it; use Encrypt=yes, or Microsoft's");
    assert_refused(servers, FREETDS, "localhost", &servers->optional,
                   "Encrypt=yes;HostNameInCertificate=example.org", ERR_CONFIG,
                   "HostNameInCertificate=example.org: FreeTDS always checks");
    assert_refused(servers, FREETDS, "localhost", &servers->optional,
                   naming(servers, "App=x", &servers->optional), ERR_CONFIG,
                   "ServerCertificate without Encrypt: FreeTDS verifies nothing");
}

/* --- Microsoft's --- */

static void microsoft_encrypts_the_login_alone_or_what_the_server_wants(void **state)
{
    Servers *servers = *state;

    assert_connects(servers, servers->microsoft, "tcp:127.0.0.1", &servers->optional, "Encrypt=no",
                    false);
    assert_connects(servers, servers->microsoft, "127.0.0.1", &servers->none, "Encrypt=no", false);
    assert_connects(servers, servers->microsoft, "127.0.0.1", &servers->required,
                    "Encrypt=no;TrustServerCertificate=yes", true);
    assert_refused(servers, servers->microsoft, "127.0.0.1", &servers->required, "Encrypt=no",
                   ERR_SOURCE, "self-signed certificate");
}

static void microsoft_encrypts_without_verifying(void **state)
{
    static const char more[]  = "Encrypt=yes;TrustServerCertificate=yes";
    Servers          *servers = *state;

    assert_connects(servers, servers->microsoft, "tcp:127.0.0.1", &servers->optional, more, true);
    assert_connects(servers, servers->microsoft, "127.0.0.2", &servers->required, more, true);
    assert_refused(servers, servers->microsoft, "127.0.0.1", &servers->none, more, ERR_SOURCE,
                   "Encryption not supported");
}

static void microsoft_verifies_certificate_and_name(void **state)
{
    Servers *servers = *state;

    for (int said = 0; said <= 1; said++) { /* it is its default too */
        const char *more  = said ? "Encrypt=yes" : "App=x";
        const char *named = said ? "Encrypt=yes;HostNameInCertificate=localhost"
                                 : "HostNameInCertificate=localhost";
        (void)unsetenv("SSL_CERT_FILE");
        assert_refused(servers, servers->microsoft, "localhost", &servers->optional, more,
                       ERR_SOURCE, "self-signed certificate");
        (void)setenv("SSL_CERT_FILE", servers->optional.certificate, 1);
        assert_connects(servers, servers->microsoft, "localhost", &servers->optional, more, true);
        assert_connects(servers, servers->microsoft, "tcp:127.0.0.1", &servers->optional, more,
                        true);
        assert_refused(servers, servers->microsoft, "127.0.0.2", &servers->optional, more,
                       ERR_SOURCE, "does not match host name");
        assert_connects(servers, servers->microsoft, "127.0.0.2", &servers->optional, named, true);
        assert_refused(servers, servers->microsoft, "localhost", &servers->required, more,
                       ERR_SOURCE, "self-signed certificate");
        assert_refused(servers, servers->microsoft, "localhost", &servers->none, more, ERR_SOURCE,
                       "");
    }
    (void)unsetenv("SSL_CERT_FILE");
}

static void microsoft_speaks_tds_8(void **state)
{
    Servers *servers = *state;

    assert_connects(servers, servers->microsoft, "localhost", &servers->optional,
                    naming(servers, "Encrypt=strict", &servers->optional), true);
    assert_connects(servers, servers->microsoft, "localhost", &servers->required,
                    naming(servers, "Encrypt=strict", &servers->required), true);
    assert_refused(servers, servers->microsoft, "localhost", &servers->optional,
                   naming(servers, "Encrypt=strict", &servers->other), ERR_SOURCE, "");
    assert_refused(servers, servers->microsoft, "localhost", &servers->optional, "Encrypt=strict",
                   ERR_SOURCE, "self-signed certificate");
    (void)setenv("SSL_CERT_FILE", servers->optional.certificate, 1);
    assert_connects(servers, servers->microsoft, "localhost", &servers->optional, "Encrypt=strict",
                    true);
    (void)unsetenv("SSL_CERT_FILE");
    assert_refused(servers, servers->microsoft, "localhost", &servers->none,
                   naming(servers, "Encrypt=strict", &servers->optional), ERR_SOURCE, "");
}

static void what_microsoft_does_not_look_at_is_refused_before_connecting(void **state)
{
    Servers *servers = *state;

    assert_refused(servers, servers->microsoft, "localhost", &servers->optional,
                   naming(servers, "Encrypt=yes", &servers->optional), ERR_CONFIG, "SSL_CERT_FILE");
    assert_refused(servers, servers->microsoft, "localhost", &servers->optional,
                   naming(servers, "App=x", &servers->optional), ERR_CONFIG, "SSL_CERT_FILE");
}

static const struct CMUnitTest freetds_cases[] = {
    cmocka_unit_test(freetds_encrypts_no_more_than_the_server_wants),
    cmocka_unit_test(freetds_encrypts_without_verifying),
    cmocka_unit_test(freetds_verifies_certificate_and_name),
    cmocka_unit_test(freetds_is_told_through_a_private_file_without_secrets),
    cmocka_unit_test(what_freetds_cannot_give_is_refused_before_connecting),
};

static const struct CMUnitTest all_cases[] = {
    cmocka_unit_test(freetds_encrypts_no_more_than_the_server_wants),
    cmocka_unit_test(freetds_encrypts_without_verifying),
    cmocka_unit_test(freetds_verifies_certificate_and_name),
    cmocka_unit_test(freetds_is_told_through_a_private_file_without_secrets),
    cmocka_unit_test(what_freetds_cannot_give_is_refused_before_connecting),
    cmocka_unit_test(microsoft_encrypts_the_login_alone_or_what_the_server_wants),
    cmocka_unit_test(microsoft_encrypts_without_verifying),
    cmocka_unit_test(microsoft_verifies_certificate_and_name),
    cmocka_unit_test(microsoft_speaks_tds_8),
    cmocka_unit_test(what_microsoft_does_not_look_at_is_refused_before_connecting),
};

int main(void)
{
    Arena *arena         = arena_new();
    bool   has_microsoft = world_microsoft_driver(arena) != NULL;

    if (!has_microsoft) /* test_encryption.sh makes a skipped case of this line */
        (void)printf(
            "# Microsoft: its driver is not installed (TIDELAKE_MICROSOFT_ODBC names it)\n");
    arena_close(arena);
    return has_microsoft ? cmocka_run_group_tests(all_cases, open_servers, close_servers)
                         : cmocka_run_group_tests(freetds_cases, open_servers, close_servers);
}
