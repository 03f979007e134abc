/* Encryption means the same with every driver, or is refused (sqlserver.md 1.1 rule 9). */
#include "support/test_support.h"

#include "sqlconn/sqlconn_internal.h"

static bool try_plan(Arena *arena, const char *text, DriverFamily family, ConnectionPlan *out,
                     Err *err)
{
    ConnectionString connection;

    return connection_parse(arena, str_from_c(text), &connection, err) &&
           connection_plan(arena, &connection, family, out, err);
}

typedef struct Translation {
    const char *from, *to;
} Translation;

static void freetds_gets_its_own_words(void **state)
{
    static const Translation table[] = {
        {"Driver=FreeTDS;Server=h,1433;Uid=u;Pwd=p",
         "Driver=FreeTDS;Server=h,1433;Uid=u;Pwd=p;TDS_Version=7.4"},
        {"Driver=FreeTDS;Server=h;TDS_Version=8.0", "Driver=FreeTDS;Server=h;TDS_Version=8.0"},
        {"Driver=FreeTDS;Server=tcp:h,5", "Driver=FreeTDS;Server=h,5;TDS_Version=7.4"},
        {"Driver=FreeTDS;Server=h;Encrypt=no",
         "Driver=FreeTDS;Server=h;TDS_Version=7.4;Encryption=request"},
        {"Driver=FreeTDS;Server=h;Encrypt=optional;TrustServerCertificate=no",
         "Driver=FreeTDS;Server=h;TDS_Version=7.4;Encryption=request"},
        {"Driver=FreeTDS;Server=h;Encrypt=Yes;TrustServerCertificate=YES",
         "Driver=FreeTDS;Server=h;TDS_Version=7.4;Encryption=require"},
        {"Driver=FreeTDS;Server=h;encrypt=mandatory;TrustServerCertificate=true",
         "Driver=FreeTDS;Server=h;TDS_Version=7.4;Encryption=require"},
        {"Driver=FreeTDS;Server=h;Pwd={a;b}", "Driver=FreeTDS;Server=h;Pwd={a;b};TDS_Version=7.4"},
        {"Driver=FreeTDS;Servername=mine;Encrypt=no",
         "Driver=FreeTDS;Servername=mine;Encryption=request"},
        {"DSN=mine;Encrypt=yes;TrustServerCertificate=yes", "DSN=mine;Encryption=require"},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        ConnectionPlan plan;
        Err            err = ERR_INIT;
        assert_ok(try_plan(arena, table[i].from, DRIVER_FREETDS, &plan, &err), &err);
        assert_str_is(plan.text, table[i].to);
        assert_false(plan.needs_section);
    }
    arena_close(arena);
}

static void freetds_verifies_through_a_section_of_its_own_file(void **state)
{
    Arena         *arena = arena_new();
    Err            err   = ERR_INIT;
    ConnectionPlan plan, other;

    (void)state;
    assert_ok(try_plan(arena,
                       "Driver=FreeTDS;Server=tcp:db.example,14330;Uid=u;Pwd=secret;Encrypt=yes",
                       DRIVER_FREETDS, &plan, &err),
              &err);
    assert_true(plan.needs_section);
    assert_str_is(
        plan.text,
        str_c(arena,
              str_printf(arena, "Driver=FreeTDS;Uid=u;Pwd=secret;Servername=%.*s;TDS_Version=7.4",
                         STR_ARG(plan.section_name))));
    assert_str_is(plan.section,
                  str_c(arena, str_printf(arena,
                                          "[%.*s]\n\thost = db.example\n\tport = 14330\n\ttds "
                                          "version = 7.4\n\tencryption = require\n"
                                          "\tca file = system\n",
                                          STR_ARG(plan.section_name))));
    assert_ok(try_plan(arena,
                       "Driver=FreeTDS;Server=db.example;Port=14330;Encrypt=yes;ServerCertificate=/"
                       "etc/ca.pem;HostNameInCertificate=DB.example",
                       DRIVER_FREETDS, &other, &err),
              &err);
    assert_true(str_find(other.section, STR("ca file = /etc/ca.pem"), 0) > 0);
    assert_true(str_find(other.section, STR("port = 14330"), 0) > 0);
    assert_true(str_find(other.text, STR("Port"), 0) < 0);
    assert_false(str_equal(plan.section_name, other.section_name));
    arena_close(arena);
}

typedef struct Refusal {
    const char  *text;
    DriverFamily family;
    const char  *keyword, *way_out;
} Refusal;

static void what_a_driver_cannot_give_is_refused(void **state)
{
    static const Refusal table[] = {
        {"Server=h;Encrypt=strict", DRIVER_FREETDS, "Encrypt=strict", "Encrypt=yes"},
        {"Server=h;Encrypt=yes;HostNameInCertificate=other", DRIVER_FREETDS,
         "HostNameInCertificate=other", "Microsoft's driver"},
        {"Servername=mine;Encrypt=yes", DRIVER_FREETDS, "Servername", "ca file"},
        {"DSN=mine;Encrypt=yes", DRIVER_FREETDS, "DSN", "encryption = require"},
        {"Server=h;ServerCertificate=/x", DRIVER_FREETDS, "ServerCertificate", "add Encrypt=yes"},
        {"Server=h;TrustServerCertificate=no", DRIVER_FREETDS, "TrustServerCertificate=no",
         "add Encrypt=yes"},
        {"Server=h;Encrypt=yes;TrustServerCertificate=yes;ServerCertificate=/x", DRIVER_FREETDS,
         "ServerCertificate", "leave one out"},
        {"Server=h\\instance;Encrypt=yes", DRIVER_FREETDS, "Server=h\\instance", "host,port"},
        {"Server=h;Encrypt=yes;ServerCertificate={/x\n[global]}", DRIVER_FREETDS,
         "control character", ""},
        {"Uid=u;Encrypt=yes", DRIVER_FREETDS, "Server", ""},
        {"Server=h;Encrypt=maybe", DRIVER_FREETDS, "Encrypt=maybe", "no, yes or strict"},
        {"Server=h;Encrypt=yes;TrustServerCertificate=perhaps", DRIVER_MICROSOFT,
         "TrustServerCertificate", "yes or no"},
        {"Server=h;Encrypt=yes;ServerCertificate=/x", DRIVER_MICROSOFT, "ServerCertificate",
         "SSL_CERT_FILE"},
        {"Server=h;ServerCertificate=/x", DRIVER_MICROSOFT, "ServerCertificate", "system's store"},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        ConnectionPlan plan;
        Err            err = ERR_INIT;
        assert_false(try_plan(arena, table[i].text, table[i].family, &plan, &err));
        assert_err(&err, ERR_CONFIG, table[i].keyword);
        assert_err(&err, ERR_CONFIG, table[i].way_out);
    }
    arena_close(arena);
}

static void the_port_is_known_where_the_string_tells_it(void **state)
{
    static const struct {
        const char  *text;
        DriverFamily family;
        uint16_t     port;
    } table[] = {
        {"Server=h", DRIVER_FREETDS, 1433},
        {"Server=h,14330", DRIVER_MICROSOFT, 14330},
        {"Server=tcp:h,14330", DRIVER_OTHER, 14330},
        {"Server=h;Port=7", DRIVER_FREETDS, 7},
        {"Server=h;Encrypt=yes;Port=7", DRIVER_FREETDS, 7},
        {"Address=h,9", DRIVER_MICROSOFT, 9},
        {"Server=h\\instance", DRIVER_MICROSOFT, 0},
        {"Server=h\\instance,9", DRIVER_MICROSOFT, 9},
        {"Server=h,70000", DRIVER_MICROSOFT, 0},
        {"Server=h,x", DRIVER_MICROSOFT, 0},
        {"Servername=mine", DRIVER_FREETDS, 0},
        {"DSN=mine", DRIVER_MICROSOFT, 0},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        ConnectionPlan plan;
        Err            err = ERR_INIT;
        assert_ok(try_plan(arena, table[i].text, table[i].family, &plan, &err), &err);
        if (plan.port != table[i].port) fail_msg("%s: port %d", table[i].text, plan.port);
    }
    arena_close(arena);
}

static void other_drivers_get_the_string_as_written(void **state)
{
    static const char *const texts[] = {
        "Driver={ODBC Driver 18 for SQL "
        "Server};Server=tcp:h,1;Encrypt=yes;TrustServerCertificate=no;HostNameInCertificate=x",
        "Driver=x;Server=h;Encrypt=strict;ServerCertificate=/x"};
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        for (int family = DRIVER_MICROSOFT; family <= DRIVER_OTHER; family++) {
            ConnectionPlan plan;
            Err            err = ERR_INIT;
            assert_ok(try_plan(arena, texts[i], (DriverFamily)family, &plan, &err), &err);
            assert_str_is(plan.text, texts[i]);
        }
    arena_close(arena);
}

static void drivers_are_known_by_name_or_path(void **state)
{
    (void)state;
    assert_int_equal(driver_family(STR("FreeTDS")), DRIVER_FREETDS);
    assert_int_equal(driver_family(STR("/usr/lib/x86_64-linux-gnu/odbc/libtdsodbc.so")),
                     DRIVER_FREETDS);
    assert_int_equal(driver_family(STR("ODBC Driver 18 for SQL Server")), DRIVER_MICROSOFT);
    assert_int_equal(driver_family(STR("/opt/lib/libmsodbcsql-18.6.so.2.1")), DRIVER_MICROSOFT);
    assert_int_equal(driver_family(STR("PostgreSQL")), DRIVER_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freetds_gets_its_own_words),
        cmocka_unit_test(freetds_verifies_through_a_section_of_its_own_file),
        cmocka_unit_test(what_a_driver_cannot_give_is_refused),
        cmocka_unit_test(the_port_is_known_where_the_string_tells_it),
        cmocka_unit_test(other_drivers_get_the_string_as_written),
        cmocka_unit_test(drivers_are_known_by_name_or_path),
    };
    return RUN_TESTS(tests);
}
