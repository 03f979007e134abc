/* tds_login.h - PRELOGIN and LOGIN7 (sqlserver.md 2.3, 2.4). */
#ifndef TIDELAKE_TDS_TDS_LOGIN_H
#define TIDELAKE_TDS_TDS_LOGIN_H

#include "tds/tds_packet.h"

typedef enum TdsEncryption {
    TDS_ENCRYPT_OFF,
    TDS_ENCRYPT_ON,
    TDS_ENCRYPT_NOT_SUP,
    TDS_ENCRYPT_REQ
} TdsEncryption;

typedef struct TdsPrelogin {
    uint8_t encryption; /* low bits; 0x80 (client certificate) is dropped */
    bool    asked_fed_auth;
} TdsPrelogin;

/* Either side's message. */
bool tds_parse_prelogin(Bytes body, TdsPrelogin *out) MUST_CHECK;
/* The server's answer, or a client's question: version, encryption, no instance check, no MARS. */
void tds_put_prelogin(TdsWriter *writer, uint8_t major, uint8_t minor, uint16_t build,
                      TdsEncryption encryption, bool answer_fed_auth);

enum {
    TDS_FEATURE_SESSION_RECOVERY = 0x01,
    TDS_FEATURE_FED_AUTH         = 0x02,
    TDS_FEATURE_UTF8             = 0x0A,
    TDS_FEATURE_END              = 0xFF
};

typedef struct TdsLogin {
    uint32_t tds_version;  /* one of TDS_VERSION_..., brought down to what we speak */
    bool     asks_tds8;    /* `tds_version` is 7.4 then */
    uint32_t packet_bytes; /* as asked; 0: the default */
    Str      host, user, password, app, server, language, database;
    bool     odbc, read_only_intent, integrated, changes_password, asks_features, asks_utf8,
        asks_fed_auth;
    /* SESSIONRECOVERY: a client that may come back after its connection broke, and one that does. */
    bool asks_recovery;
    Str  recovered_database; /* empty: it does not come back */
    bool acks_recovery;      /* the server's decision, for tds_put_feature_ack */
} TdsLogin;

bool tds_parse_login(Bytes body, Arena *arena, TdsLogin *out) MUST_CHECK;
/* A client's LOGIN7; texts are cut to what it can hold (128 units). */
void tds_put_login(TdsWriter *writer, const TdsLogin *login);
/* FEATUREEXTACK: what we honour of what was asked. */
void tds_put_feature_ack(TdsWriter *writer, const TdsLogin *login);
/* SESSIONSTATE: whether a client that comes back finds everything as it was. */
void tds_put_session_state(TdsWriter *writer, uint32_t sequence, bool is_recoverable);

#endif
