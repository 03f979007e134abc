/* tls_internal.h - what the files that know OpenSSL share. */
#ifndef TIDESIM_TLS_INTERNAL_H
#define TIDESIM_TLS_INTERNAL_H

#include "sim/server/tls.h"

/* OpenSSL has a type that is called like one of our codes. */
#define ERR_STATE OPENSSL_ERR_STATE
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#undef ERR_STATE

struct SimTls {
    Arena      *arena;
    SSL_CTX    *in_tds;
    SSL_CTX    *strict;
    BIO_METHOD *method; /* of a transport's bytes (tls_transport.c) */
    Str         certificate;
};

/* The oldest error OpenSSL noted on this thread, as text; forgets them all. `fallback` when there is none. */
bool tls_fail(Err *err, ErrCode code, const char *what, const char *fallback);

/* A new key, and a certificate for it (tls_certificate.c). False: OpenSSL says why. */
bool tls_make_certificate(X509 **certificate_out, EVP_PKEY **key_out) MUST_CHECK;

BIO_METHOD *tls_transport_method(void); /* NULL: no memory */

#endif
