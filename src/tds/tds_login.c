/* tds_login.c - the two messages every connection begins with. */
#include "tds/tds_login.h"

enum {
    OPTION_VERSION,
    OPTION_ENCRYPTION,
    OPTION_INSTANCE,
    OPTION_THREAD,
    OPTION_MARS,
    OPTION_TRACE,
    OPTION_FED_AUTH,
    OPTION_END = 0xFF
};

bool tds_parse_prelogin(Bytes body, TdsPrelogin *out)
{
    TdsCursor cursor = tds_cursor(body);

    *out = (TdsPrelogin){.encryption = TDS_ENCRYPT_NOT_SUP};
    for (int options = 0; options < 32; options++) {
        uint8_t   option = tds_get_u8(&cursor);
        uint16_t  offset, len;
        TdsCursor at;

        if (option == OPTION_END || cursor.failed) return !cursor.failed;
        offset = tds_get_u16_be(&cursor);
        len    = tds_get_u16_be(&cursor);
        if (cursor.failed || (size_t)offset + len > body.len) return false;
        at = tds_cursor((Bytes){body.ptr + offset, len});
        if (option == OPTION_ENCRYPTION && len >= 1) out->encryption = tds_get_u8(&at) & 0x7F;
        if (option == OPTION_FED_AUTH) out->asked_fed_auth = true;
    }
    return false;
}

void tds_put_prelogin(TdsWriter *writer, uint8_t major, uint8_t minor, uint16_t build,
                      TdsEncryption encryption, bool answer_fed_auth)
{
    static const uint8_t options[]  = {OPTION_VERSION, OPTION_ENCRYPTION, OPTION_INSTANCE,
                                       OPTION_THREAD,  OPTION_MARS,       OPTION_FED_AUTH};
    static const uint8_t lengths[]  = {6, 1, 1, 0, 1, 1};
    size_t               count      = answer_fed_auth ? 6 : 5;
    uint16_t             offset     = (uint16_t)(count * 5 + 1);
    uint8_t              version[6] = {major, minor, (uint8_t)(build >> 8), (uint8_t)build, 0, 0};

    for (size_t i = 0; i < count; i++) {
        uint8_t entry[5] = {options[i], (uint8_t)(offset >> 8), (uint8_t)offset, 0, lengths[i]};
        tds_put_bytes(writer, entry, sizeof entry);
        offset = (uint16_t)(offset + lengths[i]);
    }
    tds_put_u8(writer, OPTION_END);
    tds_put_bytes(writer, version, sizeof version);
    tds_put_u8(writer, (uint8_t)encryption);
    tds_put_u8(writer, 0); /* instance: not checked */
    tds_put_u8(writer, 0); /* MARS: declined; without the option FreeTDS falls back to TDS 7.1 */
    if (answer_fed_auth) tds_put_u8(writer, 0);
}

/* --- LOGIN7 --- */

#define LOGIN_FIXED_BYTES 36
#define LOGIN_TEXT_UNITS  128 /* the longest text, by the protocol */

enum { /* places of the pairs of offset and length */
       PAIR_HOST,
       PAIR_USER,
       PAIR_PASSWORD,
       PAIR_APP,
       PAIR_SERVER,
       PAIR_EXTENSION,
       PAIR_LIBRARY,
       PAIR_LANGUAGE,
       PAIR_DATABASE,
       PAIR_COUNT
};

enum { /* bits of the option bytes */
       FLAG2_ODBC            = 0x02,
       FLAG2_INTEGRATED      = 0x80,
       FLAG3_CHANGE_PASSWORD = 0x01,
       FLAG3_EXTENSION       = 0x10,
       TYPE_READ_ONLY_INTENT = 0x20,
};

static uint32_t spoken_version(uint32_t asked)
{
    static const uint32_t known[] = {TDS_VERSION_74, TDS_VERSION_73B, TDS_VERSION_73A,
                                     TDS_VERSION_72};

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (asked >= known[i]) return known[i];
    return TDS_VERSION_71;
}

/* The units a pair of offset and length points at; nothing where it points outside. */
static Bytes pair_bytes(Bytes body, size_t index)
{
    TdsCursor pairs = tds_cursor(body), text = tds_cursor(body);
    uint16_t  offset, units;

    (void)tds_get_bytes(&pairs, LOGIN_FIXED_BYTES + index * 4);
    offset = tds_get_u16(&pairs);
    units  = tds_get_u16(&pairs);
    if (pairs.failed) return (Bytes){NULL, 0};
    (void)tds_get_bytes(&text, offset);
    return tds_get_bytes(&text, (size_t)units * 2);
}

static Str pair_text(Bytes body, size_t index, Arena *arena)
{
    TdsCursor text = tds_cursor(pair_bytes(body, index));

    return tds_get_text(&text, tds_left(&text) / 2, arena);
}

/* A password's bytes: nibbles swapped, then XOR 0xA5. */
static Str pair_password(Bytes body, size_t index, Arena *arena)
{
    Bytes     hidden = pair_bytes(body, index);
    uint8_t  *plain  = arena_alloc(arena, hidden.len + 1);
    TdsCursor text;

    for (size_t i = 0; i < hidden.len; i++) {
        uint8_t byte = hidden.ptr[i] ^ 0xA5;
        plain[i]     = (uint8_t)(byte << 4 | byte >> 4);
    }
    text = tds_cursor((Bytes){plain, hidden.len});
    return tds_get_text(&text, hidden.len / 2, arena);
}

/* The extension's pair points at four bytes that point at the features. */
static Str recovery_text(TdsCursor *cursor, Arena *arena)
{
    return tds_get_text(cursor, tds_get_u8(cursor), arena);
}

/* The session as it began, then as it was when the connection broke: length, database, collation,
 * language, states. What is empty in the second is as in the first. */
static void parse_recovery(Bytes data, Arena *arena, TdsLogin *out)
{
    TdsCursor cursor = tds_cursor(data);
    Bytes     first  = tds_get_bytes(&cursor, tds_get_u32(&cursor));
    Bytes     last   = tds_get_bytes(&cursor, tds_get_u32(&cursor));
    TdsCursor begun = tds_cursor(first), broke = tds_cursor(last);
    Str       one = recovery_text(&begun, arena), two = recovery_text(&broke, arena);

    if (cursor.failed || begun.failed || broke.failed) return;
    out->recovered_database = two.len > 0 ? two : one;
}

static bool parse_features(Bytes body, Arena *arena, TdsLogin *out)
{
    TdsCursor pairs = tds_cursor(body), at = tds_cursor(body), features = tds_cursor(body);

    (void)tds_get_bytes(&pairs, LOGIN_FIXED_BYTES + PAIR_EXTENSION * 4);
    (void)tds_get_bytes(&at, tds_get_u16(&pairs));
    (void)tds_get_bytes(&features, tds_get_u32(&at));
    if (pairs.failed || at.failed) return false;
    out->asks_features = true;
    for (int count = 0; count < 64; count++) {
        uint8_t id = tds_get_u8(&features);
        if (features.failed) return false;
        if (id == TDS_FEATURE_END) return true;
        if (id == TDS_FEATURE_UTF8) out->asks_utf8 = true;
        if (id == TDS_FEATURE_FED_AUTH) out->asks_fed_auth = true;
        Bytes data = tds_get_bytes(&features, tds_get_u32(&features));
        if (id != TDS_FEATURE_SESSION_RECOVERY) continue;
        out->asks_recovery = true;
        if (data.len > 0) parse_recovery(data, arena, out);
    }
    return false;
}

bool tds_parse_login(Bytes body, Arena *arena, TdsLogin *out)
{
    TdsCursor cursor = tds_cursor(body);
    uint8_t   flags2, flags3, type_flags;
    uint32_t  asked;

    *out = (TdsLogin){.packet_bytes = 0};
    if (tds_get_u32(&cursor) > body.len) return false;
    asked             = tds_get_u32(&cursor);
    out->asks_tds8    = asked == TDS_VERSION_80;
    out->tds_version  = out->asks_tds8 ? TDS_VERSION_74 : spoken_version(asked);
    out->packet_bytes = tds_get_u32(&cursor);
    (void)tds_get_bytes(&cursor, 12); /* client version, process, connection */
    (void)tds_get_u8(&cursor);        /* OptionFlags1 */
    flags2     = tds_get_u8(&cursor);
    type_flags = tds_get_u8(&cursor);
    flags3     = tds_get_u8(&cursor);
    (void)tds_get_bytes(&cursor, 8); /* zone, LCID */
    if (cursor.failed) return false;
    out->odbc             = (flags2 & FLAG2_ODBC) != 0;
    out->integrated       = (flags2 & FLAG2_INTEGRATED) != 0;
    out->changes_password = (flags3 & FLAG3_CHANGE_PASSWORD) != 0;
    out->read_only_intent = (type_flags & TYPE_READ_ONLY_INTENT) != 0;
    out->host             = pair_text(body, PAIR_HOST, arena);
    out->user             = pair_text(body, PAIR_USER, arena);
    out->password         = pair_password(body, PAIR_PASSWORD, arena);
    out->app              = pair_text(body, PAIR_APP, arena);
    out->server           = pair_text(body, PAIR_SERVER, arena);
    out->language         = pair_text(body, PAIR_LANGUAGE, arena);
    out->database         = pair_text(body, PAIR_DATABASE, arena);
    /* tedious sets the flag for older versions too, and sends nothing with it. */
    if (!(flags3 & FLAG3_EXTENSION) || out->tds_version < TDS_VERSION_74) return true;
    return parse_features(body, arena, out);
}

static void put_hidden_text(TdsWriter *writer, Str text)
{
    uint8_t utf16[LOGIN_TEXT_UNITS * 6];
    size_t  len = 2 * utf8_to_utf16le(text, utf16);

    for (size_t i = 0; i < len; i++)
        tds_put_u8(writer, (uint8_t)((utf16[i] << 4 | utf16[i] >> 4) ^ 0xA5));
}

static void put_login_flags(TdsWriter *writer, const TdsLogin *login)
{
    tds_put_u8(writer, 0xE0); /* messages about database and language wanted */
    tds_put_u8(writer, (uint8_t)((login->odbc ? FLAG2_ODBC : 0) |
                                 (login->integrated ? FLAG2_INTEGRATED : 0)));
    tds_put_u8(writer, login->read_only_intent ? TYPE_READ_ONLY_INTENT : 0);
    tds_put_u8(writer, (uint8_t)((login->asks_features ? FLAG3_EXTENSION : 0) |
                                 (login->changes_password ? FLAG3_CHANGE_PASSWORD : 0)));
}

/* Of each of its two parts: three empty texts, but for the database of the second. */
#define RECOVERY_BYTES (4 + 3)

static size_t recovery_data_bytes(const TdsLogin *login)
{
    if (login->recovered_database.len == 0) return 0;
    return (size_t)2 * RECOVERY_BYTES + 2 * tds_text_units(login->recovered_database);
}

static size_t recovery_bytes(const TdsLogin *login)
{
    return login->asks_recovery ? 5 + recovery_data_bytes(login) : 0;
}

static void put_recovery_part(TdsWriter *writer, Str database)
{
    tds_put_u32(writer, (uint32_t)(3 + 2 * tds_text_units(database)));
    tds_put_b_varchar(writer, database);
    tds_put_u8(writer, 0); /* collation */
    tds_put_b_varchar(writer, STR_EMPTY);
}

static void put_recovery(TdsWriter *writer, const TdsLogin *login)
{
    tds_put_u8(writer, TDS_FEATURE_SESSION_RECOVERY);
    tds_put_u32(writer, (uint32_t)recovery_data_bytes(login));
    if (login->recovered_database.len == 0) return;
    put_recovery_part(writer, STR_EMPTY);
    put_recovery_part(writer, login->recovered_database);
}

void tds_put_login(TdsWriter *writer, const TdsLogin *login)
{
    const Str texts[PAIR_COUNT] = {
        [PAIR_HOST] = login->host,         [PAIR_USER] = login->user,
        [PAIR_PASSWORD] = login->password, [PAIR_APP] = login->app,
        [PAIR_SERVER] = login->server,     [PAIR_LIBRARY] = STR_INIT("tidesim"),
        [PAIR_LANGUAGE] = login->language, [PAIR_DATABASE] = login->database};
    Str    cut[PAIR_COUNT];
    size_t fixed  = LOGIN_FIXED_BYTES + PAIR_COUNT * 4 + 22; /* client id, three pairs, a long */
    size_t offset = fixed, units = 0,
           extension = login->asks_features ? 4 + recovery_bytes(login) + 6 + 1 : 0;

    for (size_t i = 0; i < PAIR_COUNT; i++) {
        cut[i] = tds_text_cut(texts[i], LOGIN_TEXT_UNITS);
        units += tds_text_units(cut[i]);
    }
    tds_put_u32(writer, (uint32_t)(fixed + extension + units * 2));
    tds_put_u32(writer, login->tds_version);
    tds_put_u32(writer, login->packet_bytes);
    for (int i = 0; i < 3; i++)
        tds_put_u32(writer, 0); /* program version, process, connection */
    put_login_flags(writer, login);
    tds_put_u64(writer, 0); /* zone, LCID */
    offset += extension;
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        bool is_extension = i == PAIR_EXTENSION && extension > 0;
        tds_put_u16(writer, (uint16_t)(is_extension ? fixed : offset));
        tds_put_u16(writer, (uint16_t)(is_extension ? 4 : tds_text_units(cut[i])));
        offset += 2 * tds_text_units(cut[i]);
    }
    for (int i = 0; i < 11; i++)
        tds_put_u16(writer, 0); /* client id; SSPI, file, new password: empty */
    if (extension) {
        tds_put_u32(writer, (uint32_t)fixed + 4);
        if (login->asks_recovery) put_recovery(writer, login);
        tds_put_u8(writer, TDS_FEATURE_UTF8);
        tds_put_u32(writer, 1);
        tds_put_u8(writer, 1);
        tds_put_u8(writer, TDS_FEATURE_END);
    }
    for (size_t i = 0; i < PAIR_COUNT; i++) {
        if (i == PAIR_PASSWORD)
            put_hidden_text(writer, cut[i]);
        else
            tds_put_text(writer, cut[i]);
    }
}

void tds_put_feature_ack(TdsWriter *writer, const TdsLogin *login)
{
    tds_put_u8(writer, TDS_TOKEN_FEATUREEXTACK);
    if (login->acks_recovery) {
        tds_put_u8(writer, TDS_FEATURE_SESSION_RECOVERY);
        tds_put_u32(writer, 2);
        tds_put_u16(writer, 0); /* state 0, without a value */
    }
    if (login->asks_utf8) {
        tds_put_u8(writer, TDS_FEATURE_UTF8);
        tds_put_u32(writer, 1);
        tds_put_u8(writer, 1);
    }
    tds_put_u8(writer, TDS_FEATURE_END);
}

void tds_put_session_state(TdsWriter *writer, uint32_t sequence, bool is_recoverable)
{
    tds_put_u8(writer, TDS_TOKEN_SESSIONSTATE);
    tds_put_u32(writer, 4 + 1 + 2);
    tds_put_u32(writer, sequence);
    tds_put_u8(writer, is_recoverable);
    tds_put_u16(writer, 0); /* state 0, without a value */
}
