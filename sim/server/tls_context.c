/* tls_context.c - what is offered to whom. */
#include "sim/server/tls_internal.h"

#include <string.h>

bool tls_fail(Err *err, ErrCode code, const char *what, const char *fallback)
{
    unsigned long number = ERR_get_error();
    const char   *reason = number ? ERR_reason_error_string(number) : NULL;

    ERR_clear_error();
    return err_set(err, code, "%s: %s", what, reason ? reason : fallback);
}

/* Of the protocols a client names with TLS_STRICT, ours must be one. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned int in_len, void *arg)
{
    static const char ours[] = "tds/8.0";

    (void)ssl;
    (void)arg;
    for (unsigned int at = 0; at < in_len; at += in[at] + 1u) {
        if (in[at] != sizeof ours - 1 || at + sizeof ours > in_len ||
            memcmp(in + at + 1, ours, sizeof ours - 1) != 0)
            continue;
        *out     = in + at + 1;
        *out_len = in[at];
        return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Without tickets and sessions: SQL Server has clients take up nothing, and some of them trip over what comes after a
 * handshake. */
static SSL_CTX *new_context(int newest_version)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    if (!context) return NULL;
    SSL_CTX_set_options(context,
                        SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_set_num_tickets(context, 0) == 1 &&
        SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
        SSL_CTX_set_max_proto_version(context, newest_version) == 1)
        return context;
    SSL_CTX_free(context);
    return NULL;
}

static bool open_tls(SimTls **out, Err *err)
{
    Arena  *arena = arena_new();
    SimTls *tls   = ARENA_NEW(arena, SimTls);

    tls->arena  = arena;
    tls->in_tds = new_context(TLS1_2_VERSION);
    tls->strict = new_context(TLS1_3_VERSION);
    tls->method = tls_transport_method();
    if (!tls->in_tds || !tls->strict || !tls->method) {
        sim_tls_close(tls);
        (void)tls_fail(err, ERR_FAILED, "TLS cannot be set up", "no memory");
        return false;
    }
    SSL_CTX_set_alpn_select_cb(tls->strict, choose_protocol, NULL);
    *out = tls;
    return true;
}

/* --- self-signed --- */

static bool write_pem(SimTls *tls, X509 *certificate)
{
    BIO  *bio  = BIO_new(BIO_s_mem());
    char *text = NULL;
    long  len;
    bool  ok = bio && PEM_write_bio_X509(bio, certificate) == 1;

    if (ok) {
        len              = BIO_get_mem_data(bio, &text);
        tls->certificate = str_copy(tls->arena, (Str){text, (size_t)len});
    }
    BIO_free(bio);
    return ok;
}

static bool use(SSL_CTX *context, X509 *certificate, EVP_PKEY *key)
{
    return SSL_CTX_use_certificate(context, certificate) == 1 &&
           SSL_CTX_use_PrivateKey(context, key) == 1;
}

bool sim_tls_open_self_signed(SimTls **out, Err *err)
{
    X509     *certificate = NULL;
    EVP_PKEY *key         = NULL;
    bool      ok;

    *out = NULL;
    if (!open_tls(out, err)) return false;
    ok = tls_make_certificate(&certificate, &key) && use((*out)->in_tds, certificate, key) &&
         use((*out)->strict, certificate, key) && write_pem(*out, certificate);
    X509_free(certificate);
    EVP_PKEY_free(key);
    if (ok) return true;
    sim_tls_close(*out);
    *out = NULL;
    return tls_fail(err, ERR_FAILED, "no certificate can be made", "OpenSSL does not say why");
}

/* --- from files --- */

static bool load(SSL_CTX *context, const char *certificate_path, const char *key_path, Err *err)
{
    char what[300];

    (void)snprintf(what, sizeof what, "--tls: the certificate %s cannot be used", certificate_path);
    if (SSL_CTX_use_certificate_chain_file(context, certificate_path) != 1)
        return tls_fail(err, ERR_USAGE, what, "it is no PEM file");
    (void)snprintf(what, sizeof what, "--tls: the key %s cannot be used", key_path);
    if (SSL_CTX_use_PrivateKey_file(context, key_path, SSL_FILETYPE_PEM) != 1)
        return tls_fail(err, ERR_USAGE, what, "it is no PEM file");
    return true;
}

bool sim_tls_open_files(Str certificate_path, Str key_path, SimTls **out, Err *err)
{
    const char *certificate, *key;

    *out = NULL;
    if (!open_tls(out, err)) return false;
    certificate = str_c((*out)->arena, certificate_path);
    key         = str_c((*out)->arena, key_path);
    if (load((*out)->in_tds, certificate, key, err) &&
        load((*out)->strict, certificate, key, err) &&
        write_pem(*out, SSL_CTX_get0_certificate((*out)->in_tds)))
        return true;
    sim_tls_close(*out);
    *out = NULL;
    return false;
}

void sim_tls_close(SimTls *tls)
{
    if (!tls) return;
    SSL_CTX_free(tls->in_tds);
    SSL_CTX_free(tls->strict);
    BIO_meth_free(tls->method);
    arena_close(tls->arena);
}

Str sim_tls_certificate(const SimTls *tls)
{
    return tls->certificate;
}
