/* tds_login.c - the two messages every connection begins with. */
#include "tds/tds_login.h"

#include <string.h>

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
#define OFFSET_EXTENSION  5 /* index of the extension among the offset/length pairs */

static uint32_t spoken_version(uint32_t asked)
{
    static const uint32_t known[] = {TDS_VERSION_74, TDS_VERSION_73B, TDS_VERSION_73A,
                                     TDS_VERSION_72};

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (asked >= known[i]) return known[i];
    return TDS_VERSION_71;
}

/* The text an offset/length pair points at. */
static Str pair_text(Bytes body, size_t index, Arena *arena)
{
    TdsCursor pairs = tds_cursor(body), text = tds_cursor(body);
    uint16_t  offset, units;

    (void)tds_get_bytes(&pairs, LOGIN_FIXED_BYTES + index * 4);
    offset = tds_get_u16(&pairs);
    units  = tds_get_u16(&pairs);
    if (pairs.failed || units == 0) return STR_EMPTY;
    (void)tds_get_bytes(&text, offset);
    return tds_get_text(&text, units, arena);
}

/* The password's bytes: nibbles swapped, then XOR 0xA5. */
static Str pair_password(Bytes body, size_t index, Arena *arena)
{
    TdsCursor pairs = tds_cursor(body), text = tds_cursor(body);
    uint16_t  offset, units;
    Bytes     hidden;
    uint8_t  *plain;

    (void)tds_get_bytes(&pairs, LOGIN_FIXED_BYTES + index * 4);
    offset = tds_get_u16(&pairs);
    units  = tds_get_u16(&pairs);
    (void)tds_get_bytes(&text, offset);
    hidden = tds_get_bytes(&text, (size_t)units * 2);
    if (pairs.failed || text.failed || hidden.len == 0) return STR_EMPTY;
    plain = arena_alloc(arena, hidden.len);
    for (size_t i = 0; i < hidden.len; i++) {
        uint8_t byte = hidden.ptr[i] ^ 0xA5;
        plain[i]     = (uint8_t)(byte << 4 | byte >> 4);
    }
    text = tds_cursor((Bytes){plain, hidden.len});
    return tds_get_text(&text, units, arena);
}

/* The extension's pair points at four bytes that point at the features. */
static bool parse_features(Bytes body, TdsLogin *out)
{
    TdsCursor pairs = tds_cursor(body), at = tds_cursor(body), features = tds_cursor(body);

    (void)tds_get_bytes(&pairs, LOGIN_FIXED_BYTES + OFFSET_EXTENSION * 4);
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
        (void)tds_get_bytes(&features, tds_get_u32(&features));
    }
    return false;
}

bool tds_parse_login(Bytes body, Arena *arena, TdsLogin *out)
{
    TdsCursor cursor = tds_cursor(body);
    uint8_t   flags2, flags3, type_flags;

    *out = (TdsLogin){.packet_bytes = 0};
    if (tds_get_u32(&cursor) > body.len) return false;
    out->tds_version  = spoken_version(tds_get_u32(&cursor));
    out->packet_bytes = tds_get_u32(&cursor);
    (void)tds_get_bytes(&cursor, 12); /* client version, process, connection */
    (void)tds_get_u8(&cursor);        /* OptionFlags1 */
    flags2     = tds_get_u8(&cursor);
    type_flags = tds_get_u8(&cursor);
    flags3     = tds_get_u8(&cursor);
    (void)tds_get_bytes(&cursor, 8); /* zone, LCID */
    if (cursor.failed) return false;
    out->odbc             = (flags2 & 0x02) != 0;
    out->integrated       = (flags2 & 0x80) != 0;
    out->changes_password = (flags3 & 0x01) != 0;
    out->read_only_intent = (type_flags & 0x20) != 0;
    out->host             = pair_text(body, 0, arena);
    out->user             = pair_text(body, 1, arena);
    out->password         = pair_password(body, 2, arena);
    out->app              = pair_text(body, 3, arena);
    out->server           = pair_text(body, 4, arena);
    out->language         = pair_text(body, 7, arena);
    out->database         = pair_text(body, 8, arena);
    return !(flags3 & 0x10) || parse_features(body, out);
}

void tds_put_feature_ack(TdsWriter *writer, const TdsLogin *login)
{
    tds_put_u8(writer, 0xAE);
    if (login->asks_utf8) {
        tds_put_u8(writer, TDS_FEATURE_UTF8);
        tds_put_u32(writer, 1);
        tds_put_u8(writer, 1);
    }
    tds_put_u8(writer, TDS_FEATURE_END);
}
