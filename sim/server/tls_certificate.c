/* tls_certificate.c - a certificate that signs itself. An elliptic key takes a fraction of a millisecond, one of RSA a hundred times as long;
 * every client knows both. */
#include "sim/server/tls_internal.h"

#define DAY_S  86400L
#define DAYS   3650
#define CURVE  "P-256"
#define DOMAIN "localhost"

static bool set_serial(X509 *certificate)
{
    uint64_t serial = 0;

    if (RAND_bytes((unsigned char *)&serial, sizeof serial) != 1) return false;
    return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1;
}

static bool set_names(X509 *certificate)
{
    X509_NAME *name = X509_get_subject_name(certificate);

    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)DOMAIN, -1,
                                      -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1;
}

static bool add_extension(X509 *certificate, int nid, const char *value)
{
    X509V3_CTX      context;
    X509_EXTENSION *extension;
    bool            ok;

    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    ok        = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

/* It began a day ago, for clients whose clock is behind. */
static bool fill(X509 *certificate, EVP_PKEY *key)
{
    return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), -DAY_S) &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), DAYS * DAY_S) &&
           set_names(certificate) && X509_set_pubkey(certificate, key) == 1 &&
           add_extension(certificate, NID_subject_alt_name,
                         "DNS:" DOMAIN ",IP:127.0.0.1,DNS:127.0.0.1") &&
           add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
           add_extension(certificate, NID_subject_key_identifier, "hash") &&
           X509_sign(certificate, key, EVP_sha256()) > 0;
}

bool tls_make_certificate(X509 **certificate_out, EVP_PKEY **key_out)
{
    X509     *certificate = X509_new();
    EVP_PKEY *key         = EVP_EC_gen(CURVE);

    if (certificate && key && fill(certificate, key)) {
        *certificate_out = certificate;
        *key_out         = key;
        return true;
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    return false;
}
