/* hash.c - HASHBYTES (sqlserver.md 2.10). */
#include "sim/function/function_internal.h"

#include <openssl/evp.h>

/* MD2 and MD4 are still there on the server and out of use. */
static const struct {
    const char *name, *digest;
} algorithms[] = {
    {"MD5", "MD5"},           {"SHA", "SHA1"}, {"SHA1", "SHA1"}, {"SHA2_256", "SHA2-256"},
    {"SHA2_512", "SHA2-512"}, {"MD2", NULL},   {"MD4", NULL}};

static bool type_hash(const Typing *typing, SimType *out)
{
    SimTypeKind kind = typing->args[1].kind;

    if (!sim_type_is_text(typing->args[0].kind)) return refuse_argument(typing, 0);
    if (!sim_type_is_text(kind) && !sim_type_is_binary(kind)) return refuse_argument(typing, 1);
    *out = sim_type_sized(SIM_VARBINARY, 8000);
    return true;
}

static bool call_hash(const Call *call, SimValue *out)
{
    Text     name;
    uint8_t *bytes = arena_alloc(call->arena, EVP_MAX_MD_SIZE);
    unsigned len   = 0;

    if (!text_arg(call, 0, &name)) return false;
    Str wanted = str_trim(sim_text_to_utf8(call->arena, name.collation, name.wide, name.bytes));
    for (size_t i = 0; i < COUNT_OF(algorithms); i++) {
        if (!str_equal_ignoring_case(wanted, str_from_c(algorithms[i].name))) continue;
        if (!algorithms[i].digest)
            return sim_not_supported(call->error, "HASHBYTES with %s", algorithms[i].name);
        EVP_MD *digest = EVP_MD_fetch(NULL, algorithms[i].digest, NULL);
        bool    ok = digest != NULL && EVP_Digest(call->args[1].bytes.ptr, call->args[1].bytes.len,
                                                  bytes, &len, digest, NULL) == 1;
        EVP_MD_free(digest);
        if (!ok)
            return sim_not_supported(call->error, "HASHBYTES with %s on this machine",
                                     algorithms[i].name);
        out->bytes = (Bytes){bytes, len};
        return true;
    }
    *out = sim_null(*call->type);
    return true;
}

static const SimFunction hash_functions[] = {
    {"HASHBYTES", 2, 2, false, false, 0, type_hash, call_hash},
};

const SimFunction *function_find_hash(Str name)
{
    return function_find_among(hash_functions, COUNT_OF(hash_functions), name);
}
