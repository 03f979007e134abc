/* connection_plan.c - encryption means the same with every driver (sqlserver.md 1.1 rule 9):
 * Microsoft's keywords are turned into what the driver at hand understands, and what it cannot give
 * is refused before anything is sent. */
#include "base/buf.h"
#include "sqlconn/sqlconn_internal.h"

typedef enum EncryptWish {
    ENCRYPT_UNSAID,
    ENCRYPT_OPTIONAL,
    ENCRYPT_MANDATORY,
    ENCRYPT_STRICT
} EncryptWish;

typedef struct Wishes {
    EncryptWish encrypt;
    bool        trust; /* TrustServerCertificate=yes */
    bool        trust_is_said;
    Str         certificate; /* ptr NULL: not said */
    Str         certificate_host;
} Wishes;

static bool contains(Arena *arena, Str text, const char *word)
{
    return str_find(str_lower_ascii(arena, text), str_from_c(word), 0) >= 0;
}

DriverFamily driver_family(Str name)
{
    DriverFamily family  = DRIVER_OTHER;
    Arena       *scratch = arena_new();

    if (contains(scratch, name, "freetds") || contains(scratch, name, "tdsodbc"))
        family = DRIVER_FREETDS;
    else if (contains(scratch, name, "msodbcsql") || contains(scratch, name, "for sql server"))
        family = DRIVER_MICROSOFT;
    arena_close(scratch);
    return family;
}

static bool is_one_of(Str value, const char *const *words)
{
    for (; *words; words++)
        if (str_equal_ignoring_case(value, str_from_c(*words))) return true;
    return false;
}

static bool parse_yes_no(const char *keyword, Str value, bool *out, Err *err)
{
    static const char *const yes[] = {"yes", "true", "1", NULL};
    static const char *const no[]  = {"no", "false", "0", NULL};

    *out = is_one_of(value, yes);
    if (*out || is_one_of(value, no)) return true;
    return err_set(err, ERR_CONFIG, "the connection string has %s=%.*s: yes or no", keyword,
                   STR_ARG(value));
}

static bool parse_wishes(const ConnectionString *connection, Wishes *out, Err *err)
{
    static const char *const optional[]  = {"no", "optional", "false", "0", NULL};
    static const char *const mandatory[] = {"yes", "mandatory", "true", "1", NULL};
    Str                      encrypt     = connection_find(connection, "Encrypt");
    Str                      trust       = connection_find(connection, "TrustServerCertificate");

    *out = (Wishes){.certificate      = connection_find(connection, "ServerCertificate"),
                    .certificate_host = connection_find(connection, "HostNameInCertificate"),
                    .trust_is_said    = trust.ptr != NULL};
    if (out->certificate.len == 0) out->certificate.ptr = NULL;
    if (out->certificate_host.len == 0) out->certificate_host.ptr = NULL;
    if (trust.ptr && !parse_yes_no("TrustServerCertificate", trust, &out->trust, err)) return false;
    if (!encrypt.ptr) return true;
    if (is_one_of(encrypt, optional))
        out->encrypt = ENCRYPT_OPTIONAL;
    else if (is_one_of(encrypt, mandatory))
        out->encrypt = ENCRYPT_MANDATORY;
    else if (str_equal_ignoring_case(encrypt, STR("strict")))
        out->encrypt = ENCRYPT_STRICT;
    else
        return err_set(err, ERR_CONFIG, "the connection string has Encrypt=%.*s: no, yes or strict",
                       STR_ARG(encrypt));
    return true;
}

static bool is_tls_keyword(Str keyword)
{
    static const char *const words[] = {"Encrypt", "TrustServerCertificate", "ServerCertificate",
                                        "HostNameInCertificate", NULL};

    return is_one_of(keyword, words);
}

static void append_part(Buf *buf, Str part)
{
    if (buf->len > 0) buf_append_char(buf, ';');
    buf_append(buf, part);
}

/* The host and port that Server= names: "tcp:" taken off, ",port" split. */
static void split_server(Str server, Str port_keyword, Str *host, Str *port)
{
    if (server.len >= 4 && str_equal_ignoring_case(str_slice(server, 0, 4), STR("tcp:")))
        server = str_slice(server, 4, server.len);
    ptrdiff_t comma = str_find_last_char(server, ',');
    *host           = str_trim(comma < 0 ? server : str_slice(server, 0, (size_t)comma));
    *port = comma < 0 ? port_keyword : str_trim(str_slice(server, (size_t)comma + 1, server.len));
    if (port->len == 0) *port = STR("1433");
}

/* --- FreeTDS --- */

static bool is_plain_line(Str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20) return false;
    return text.len > 0;
}

static bool freetds_refuse(const ConnectionString *connection, const Wishes *wishes,
                           bool is_verified, Err *err)
{
    bool has_section = connection_find(connection, "Servername").ptr ||
                       connection_find(connection, "DSN").ptr;

    if (wishes->encrypt == ENCRYPT_STRICT)
        return err_set(
            err, ERR_CONFIG,
            "Encrypt=strict: FreeTDS cannot give it; use Encrypt=yes, or Microsoft's driver "
            "(Driver={ODBC Driver 18 for SQL Server})");
    if (wishes->encrypt == ENCRYPT_UNSAID &&
        (wishes->certificate.ptr || wishes->certificate_host.ptr ||
         (wishes->trust_is_said && !wishes->trust)))
        return err_set(err, ERR_CONFIG,
                       "%s without Encrypt: FreeTDS verifies nothing then; add Encrypt=yes",
                       wishes->certificate.ptr        ? "ServerCertificate"
                       : wishes->certificate_host.ptr ? "HostNameInCertificate"
                                                      : "TrustServerCertificate=no");
    if (wishes->encrypt == ENCRYPT_MANDATORY && wishes->trust && wishes->certificate.ptr)
        return err_set(err, ERR_CONFIG,
                       "ServerCertificate and TrustServerCertificate=yes contradict each other: "
                       "nothing is verified with "
                       "the second; leave one out");
    if (is_verified && has_section)
        return err_set(err, ERR_CONFIG,
                       "Encrypt=yes with a verified certificate: FreeTDS takes it only from "
                       "freetds.conf, and this string names "
                       "its own section (Servername or DSN); write `encryption = require` and `ca "
                       "file = <PEM, or system>` "
                       "there and leave Encrypt and ServerCertificate out, or say "
                       "TrustServerCertificate=yes, or name Server=");
    return true;
}

static bool freetds_section(Arena *arena, const ConnectionString *connection, const Wishes *wishes,
                            ConnectionPlan *out, Err *err)
{
    Str server = connection_find(connection, "Server");
    Str host, port;

    if (server.len == 0) return err_set(err, ERR_CONFIG, "the connection string has no Server");
    split_server(server, connection_find(connection, "Port"), &host, &port);
    if (str_find_char(host, '\\', 0) >= 0)
        return err_set(err, ERR_CONFIG,
                       "Server=%.*s: a verified connection through FreeTDS needs host,port, not an "
                       "instance name",
                       STR_ARG(server));
    if (wishes->certificate_host.ptr && !str_equal_ignoring_case(wishes->certificate_host, host))
        return err_set(err, ERR_CONFIG,
                       "HostNameInCertificate=%.*s: FreeTDS always checks for the server's own "
                       "name, %.*s; name the server as its "
                       "certificate does, or use Microsoft's driver",
                       STR_ARG(wishes->certificate_host), STR_ARG(host));

    Str ca_file = wishes->certificate.ptr ? wishes->certificate : STR("system");
    if (!is_plain_line(host) || !is_plain_line(port) || !is_plain_line(ca_file))
        return err_set(
            err, ERR_CONFIG,
            "the connection string has a control character in Server, Port or ServerCertificate");
    out->needs_section = true;
    out->section_name  = str_printf(
         arena, "tidelake_%016llx",
         (unsigned long long)str_hash(
             str_printf(arena, "%.*s,%.*s,%.*s", STR_ARG(host), STR_ARG(port), STR_ARG(ca_file))));
    out->section = str_printf(arena,
                              "[%.*s]\n\thost = %.*s\n\tport = %.*s\n\ttds version = "
                              "7.4\n\tencryption = require\n\tca file = %.*s\n",
                              STR_ARG(out->section_name), STR_ARG(host), STR_ARG(port),
                              STR_ARG(ca_file));
    return true;
}

static Str freetds_text(Arena *arena, const ConnectionString *connection, const Wishes *wishes,
                        const ConnectionPlan *plan)
{
    Buf  buf         = buf_new(arena, 0);
    bool has_section = connection_find(connection, "Servername").ptr ||
                       connection_find(connection, "DSN").ptr;

    for (size_t i = 0; i < connection->part_count; i++) {
        const ConnectionPart *part      = &connection->parts[i];
        bool                  is_server = str_equal_ignoring_case(part->keyword, STR("Server"));

        if (is_tls_keyword(part->keyword)) continue;
        if (plan->needs_section &&
            (is_server || str_equal_ignoring_case(part->keyword, STR("Port"))))
            continue;
        if (is_server && part->value.len >= 4 &&
            str_equal_ignoring_case(str_slice(part->value, 0, 4), STR("tcp:")))
            append_part(&buf, str_printf(arena, "Server=%.*s",
                                         STR_ARG(str_slice(part->value, 4, part->value.len))));
        else
            append_part(&buf, part->text);
    }
    if (plan->needs_section)
        append_part(&buf, str_printf(arena, "Servername=%.*s", STR_ARG(plan->section_name)));
    if (!connection_find(connection, "TDS_Version").ptr && !has_section)
        append_part(&buf, STR("TDS_Version=7.4"));
    if (wishes->encrypt == ENCRYPT_OPTIONAL) append_part(&buf, STR("Encryption=request"));
    if (wishes->encrypt == ENCRYPT_MANDATORY && !plan->needs_section)
        append_part(&buf, STR("Encryption=require"));
    return buf_str(&buf);
}

static bool freetds_plan(Arena *arena, const ConnectionString *connection, const Wishes *wishes,
                         ConnectionPlan *out, Err *err)
{
    bool is_verified = wishes->encrypt == ENCRYPT_MANDATORY && !wishes->trust;

    if (!freetds_refuse(connection, wishes, is_verified, err)) return false;
    if (is_verified && !freetds_section(arena, connection, wishes, out, err)) return false;
    out->text = freetds_text(arena, connection, wishes, out);
    return true;
}

/* --- all --- */

static Str original_text(Arena *arena, const ConnectionString *connection)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < connection->part_count; i++)
        append_part(&buf, connection->parts[i].text);
    return buf_str(&buf);
}

/* The TCP port that the string leads to; 0 where only the driver knows it. */
static uint16_t server_port(const ConnectionString *connection)
{
    Str     server = connection_find(connection, "Server");
    Str     host, port;
    int64_t number;

    if (server.len == 0) server = connection_find(connection, "Address");
    if (server.len == 0 || connection_find(connection, "Servername").ptr) return 0;
    split_server(server, connection_find(connection, "Port"), &host, &port);
    if (str_find_char(host, '\\', 0) >= 0 && str_find_char(server, ',', 0) < 0) return 0;
    return str_parse_i64(port, &number) && number > 0 && number <= UINT16_MAX ? (uint16_t)number
                                                                              : 0;
}

bool connection_plan(Arena *arena, const ConnectionString *connection, DriverFamily family,
                     ConnectionPlan *out, Err *err)
{
    Wishes wishes;

    *out = (ConnectionPlan){.port = server_port(connection)};
    if (family == DRIVER_OTHER) {
        out->text = original_text(arena, connection);
        return true;
    }
    if (!parse_wishes(connection, &wishes, err)) return false;
    if (family == DRIVER_FREETDS) return freetds_plan(arena, connection, &wishes, out, err);

    /* Microsoft's reads ServerCertificate with strict alone; unsaid is mandatory there. */
    if (wishes.certificate.ptr &&
        (wishes.encrypt == ENCRYPT_MANDATORY || wishes.encrypt == ENCRYPT_UNSAID))
        return err_set(err, ERR_CONFIG,
                       "ServerCertificate: Microsoft's driver does not look at it with "
                       "Encrypt=yes; put the certificate into the "
                       "system's store, or name its file in the environment variable "
                       "SSL_CERT_FILE, and leave ServerCertificate out");
    out->text = original_text(arena, connection);
    return true;
}
