/* PRELOGIN and LOGIN7: real clients' bytes are understood, ours come back, and damaged ones do no harm. */
#include "unit/tds/tds_test.h"

#include "tds/tds_login.h"
#include "unit/tds/samples.h"

#define SAMPLE(array) ((Bytes){(array), sizeof(array)})

static void prelogins_of_real_clients(void **state)
{
    TdsPrelogin prelogin;

    (void)state;
    assert_true(tds_parse_prelogin(SAMPLE(prelogin_of_freetds), &prelogin));
    assert_int_equal(prelogin.encryption, TDS_ENCRYPT_OFF);
    assert_false(prelogin.asked_fed_auth);
    assert_true(tds_parse_prelogin(SAMPLE(prelogin_of_python_tds), &prelogin));
    assert_int_equal(prelogin.encryption, TDS_ENCRYPT_NOT_SUP);
    assert_true(tds_parse_prelogin(SAMPLE(prelogin_of_microsoft), &prelogin));
    assert_int_equal(prelogin.encryption, TDS_ENCRYPT_OFF);
}

static void assert_login(Bytes body, uint32_t tds_version, bool odbc)
{
    Arena   *arena = arena_new();
    TdsLogin login;

    assert_true(tds_parse_login(body, arena, &login));
    assert_int_equal(login.tds_version, tds_version);
    assert_str_is(login.user, "sa");
    assert_str_is(login.password, "Tide.Sim.1");
    assert_int_equal(login.odbc, odbc);
    assert_false(login.integrated);
    assert_false(login.changes_password);
    assert_false(login.read_only_intent);
    arena_close(arena);
}

static void logins_of_real_clients(void **state)
{
    Arena   *arena = arena_new();
    TdsLogin login;

    (void)state;
    assert_login(SAMPLE(login_of_freetds), TDS_VERSION_74, true);
    assert_login(SAMPLE(login_of_python_tds), TDS_VERSION_74, true);
    assert_login(SAMPLE(login_of_microsoft), TDS_VERSION_74, true);
    assert_login(SAMPLE(login_of_freetds_71), TDS_VERSION_71, true);
    assert_true(tds_parse_login(SAMPLE(login_of_microsoft), arena, &login));
    assert_str_is(login.database, "shop");
    assert_true(login.asks_features);
    assert_true(login.asks_utf8);
    assert_int_equal(login.packet_bytes, 0); /* the server's default */
    assert_true(tds_parse_login(SAMPLE(login_of_python_tds), arena, &login));
    assert_false(login.asks_features);
    arena_close(arena);
}

/* Cut off or with any byte changed a login may be refused or read as something else, and that is all. */
static void damaged_messages_do_no_harm(void **state)
{
    static const Bytes samples[] = {
        {prelogin_of_microsoft, sizeof prelogin_of_microsoft},
        {prelogin_of_freetds, sizeof prelogin_of_freetds},
        {login_of_microsoft, sizeof login_of_microsoft},
        {login_of_freetds_71, sizeof login_of_freetds_71},
    };

    (void)state;
    for (size_t s = 0; s < COUNT_OF(samples); s++)
        for (size_t at = 0; at < samples[s].len; at++) {
            Arena      *arena = arena_new();
            uint8_t    *bytes = mem_alloc(samples[s].len); /* its own block, for the sanitizer */
            TdsPrelogin prelogin;
            TdsLogin    login;
            bool        ignored;

            memcpy(bytes, samples[s].ptr, at);
            ignored = tds_parse_prelogin((Bytes){bytes, at}, &prelogin);
            ignored = tds_parse_login((Bytes){bytes, at}, arena, &login);
            memcpy(bytes, samples[s].ptr, samples[s].len);
            for (int value = 0; value < 256; value += 51) {
                bytes[at] = (uint8_t)value;
                ignored   = tds_parse_prelogin((Bytes){bytes, samples[s].len}, &prelogin);
                ignored   = tds_parse_login((Bytes){bytes, samples[s].len}, arena, &login);
            }
            (void)ignored;
            mem_free(bytes);
            arena_close(arena);
        }
}

static void a_login_cut_off_is_refused(void **state)
{
    Arena   *arena = arena_new();
    TdsLogin login;

    (void)state;
    for (size_t len = 0; len < sizeof login_of_microsoft; len++)
        assert_false(tds_parse_login((Bytes){login_of_microsoft, len}, arena, &login));
    arena_close(arena);
}

static TdsLogin turned_around(Arena *arena, const TdsLogin *login)
{
    Pipe       pipe   = pipe_new(arena);
    TdsWriter *writer = tds_writer_new(&pipe.transport);
    TdsLogin   got;

    tds_writer_begin(writer, TDS_PACKET_LOGIN7, 0);
    tds_put_login(writer, login);
    assert_true(tds_parse_login(pipe_finish(&pipe, writer), arena, &got));
    tds_writer_close(writer);
    return got;
}

static void a_login_comes_back(void **state)
{
    static const uint32_t versions[] = {TDS_VERSION_74, TDS_VERSION_73B, TDS_VERSION_73A,
                                        TDS_VERSION_72, TDS_VERSION_71};
    Arena                *arena      = arena_new();
    TdsLogin              login      = {.packet_bytes     = 8000,
                                        .host             = STR("host"),
                                        .user             = STR("J\xC3\xBCrgen"),
                                        .password         = STR("p\xC3\xA4ss\xF0\x9F\x98\x80 word"),
                                        .app              = STR("app"),
                                        .server           = STR("srv"),
                                        .language         = STR("Deutsch"),
                                        .database         = STR("\xD0\xB1\xD0\xB0\xD0\xB7\xD0\xB0"),
                                        .odbc             = true,
                                        .read_only_intent = true};

    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(versions); i++) {
        TdsLogin got;
        login.tds_version   = versions[i / 2];
        login.asks_features = i % 2 == 1;
        got                 = turned_around(arena, &login);
        assert_int_equal(got.tds_version, login.tds_version);
        assert_int_equal(got.packet_bytes, 8000);
        assert_true(str_equal(got.host, login.host));
        assert_true(str_equal(got.user, login.user));
        assert_true(str_equal(got.password, login.password));
        assert_true(str_equal(got.app, login.app));
        assert_true(str_equal(got.server, login.server));
        assert_true(str_equal(got.language, login.language));
        assert_true(str_equal(got.database, login.database));
        assert_true(got.odbc);
        assert_true(got.read_only_intent);
        bool reads_features = login.asks_features && login.tds_version == TDS_VERSION_74;
        assert_int_equal(got.asks_features, reads_features);
        assert_int_equal(got.asks_utf8, reads_features);
    }
    arena_close(arena);
}

/* tedious sets the flag in logins of 7.1 to 7.3 too, without a pointer to what it tells of. */
static void old_logins_have_no_features_whatever_their_flag_says(void **state)
{
    Arena     *arena  = arena_new();
    Pipe       pipe   = pipe_new(arena);
    TdsWriter *writer = tds_writer_new(&pipe.transport);
    TdsLogin   login  = {.tds_version = TDS_VERSION_72, .user = STR("sa")};
    TdsLogin   got;

    (void)state;
    tds_writer_begin(writer, TDS_PACKET_LOGIN7, 0);
    tds_put_login(writer, &login);
    Bytes    body  = pipe_finish(&pipe, writer);
    uint8_t *bytes = arena_alloc(arena, body.len);
    memcpy(bytes, body.ptr, body.len);
    bytes[27] |= 0x10;
    assert_true(tds_parse_login((Bytes){bytes, body.len}, arena, &got));
    assert_str_is(got.user, "sa");
    assert_false(got.asks_features);
    bytes[4] = 4, bytes[5] = 0, bytes[6] = 0, bytes[7] = 0x74; /* 7.4 must have them */
    assert_false(tds_parse_login((Bytes){bytes, body.len}, arena, &got));
    tds_writer_close(writer);
    arena_close(arena);
}

static void versions_between_ours_come_down_to_the_next(void **state)
{
    static const struct {
        uint32_t asked, spoken;
    } cases[] = {
        {0x74000005, TDS_VERSION_74},  {0x74000004, TDS_VERSION_74},  {0x74000003, TDS_VERSION_73B},
        {0x730B0003, TDS_VERSION_73B}, {0x730A0003, TDS_VERSION_73A}, {0x72090002, TDS_VERSION_72},
        {0x71000001, TDS_VERSION_71},  {0x70000000, TDS_VERSION_71},  {0, TDS_VERSION_71}};
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TdsLogin login = {.tds_version = cases[i].asked, .user = STR("sa")};
        assert_int_equal(turned_around(arena, &login).tds_version, cases[i].spoken);
    }
    arena_close(arena);
}

static void an_answer_to_prelogin_has_mars_and_no_encryption(void **state)
{
    Arena      *arena  = arena_new();
    Pipe        pipe   = pipe_new(arena);
    TdsWriter  *writer = tds_writer_new(&pipe.transport);
    TdsPrelogin got;
    Bytes       body;

    (void)state;
    for (int fed_auth = 0; fed_auth < 2; fed_auth++) {
        bool has_mars = false;
        tds_writer_begin(writer, TDS_PACKET_RESPONSE, 0);
        tds_put_prelogin(writer, 16, 0, 4135, TDS_ENCRYPT_NOT_SUP, fed_auth);
        body = pipe_finish(&pipe, writer);
        assert_true(tds_parse_prelogin(body, &got));
        assert_int_equal(got.encryption, TDS_ENCRYPT_NOT_SUP);
        assert_int_equal(got.asked_fed_auth, fed_auth);
        for (size_t at = 0; body.ptr[at] != 0xFF; at += 5)
            if (body.ptr[at] == 4) has_mars = body.ptr[body.ptr[at + 2]] == 0;
        assert_true(has_mars);            /* without it FreeTDS falls back to TDS 7.1 */
        assert_int_equal(body.ptr[0], 0); /* the version comes first */
    }
    tds_writer_close(writer);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prelogins_of_real_clients),
        cmocka_unit_test(logins_of_real_clients),
        cmocka_unit_test(damaged_messages_do_no_harm),
        cmocka_unit_test(a_login_cut_off_is_refused),
        cmocka_unit_test(a_login_comes_back),
        cmocka_unit_test(old_logins_have_no_features_whatever_their_flag_says),
        cmocka_unit_test(versions_between_ours_come_down_to_the_next),
        cmocka_unit_test(an_answer_to_prelogin_has_mars_and_no_encryption),
    };

    return RUN_TESTS(tests);
}
