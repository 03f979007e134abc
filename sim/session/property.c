/* property.c - SERVERPROPERTY and its kin, and functions with a state of their own in the session: RAND, NEWSEQUENTIALID,
 * SESSION_CONTEXT (sqlserver.md 2.10). */
#include "sim/session/front_internal.h"
#include "sim/session/session_function_internal.h"

typedef struct Property {
    const char *name;
    const char *text; /* NULL: the number */
    int         number;
} Property;

static bool give_property(const Call *call, const Property *list, size_t count, Str name,
                          SimValue *out)
{
    for (size_t i = 0; i < count; i++)
        if (sim_name_equal(name, str_from_c(list[i].name)))
            return list[i].text ? give_text(call, str_from_c(list[i].text), out)
                                : give_int(list[i].number, out);
    return true;
}

/* --- the server --- */
static const Property server_properties[] = {
    {"ProductMinorVersion", "0", 0},
    {"Edition", "Developer Edition (64-bit)", 0},
    {"EditionID", NULL, -2117995310},
    {"EngineEdition", NULL, 3},
    {"MachineName", "tidesim", 0},
    {"ServerName", "tidesim", 0},
    {"ComputerNamePhysicalNetBIOS", "tidesim", 0},
    {"InstanceDefaultDataPath", "/var/opt/mssql/data/", 0},
    {"InstanceDefaultLogPath", "/var/opt/mssql/data/", 0},
    {"InstanceDefaultBackupPath", "/var/opt/mssql/data/", 0},
    {"LicenseType", "DISABLED", 0},
    {"BuildClrVersion", "v4.0.30319", 0},
    {"ResourceVersion", "16.00.4135", 0},
    {"FilestreamShareName", "MSSQLSERVER", 0},
    {"FilestreamConfiguredLevel", NULL, 0},
    {"FilestreamEffectiveLevel", NULL, 0},
    {"HadrManagerStatus", NULL, 2},
    {"IsAdvancedAnalyticsInstalled", NULL, 0},
    {"IsBigDataCluster", NULL, 0},
    {"IsClustered", NULL, 0},
    {"IsExternalAuthenticationOnly", NULL, 0},
    {"IsFullTextInstalled", NULL, 0},
    {"IsHadrEnabled", NULL, 0},
    {"IsIntegratedSecurityOnly", NULL, 0},
    {"IsLocalDB", NULL, 0},
    {"IsPolyBaseInstalled", NULL, 0},
    {"IsSingleUser", NULL, 0},
    {"IsTempDbMetadataMemoryOptimized", NULL, 0},
    {"IsXTPSupported", NULL, 1},
    {"SqlCharSet", NULL, 1},
    {"SqlCharSetName", "iso_1", 0},
    {"SqlSortOrder", NULL, 52},
    {"SqlSortOrderName", "nocase_iso", 0},
};

static bool fn_server_property(const Call *call, SimValue *out)
{
    Str name    = call_text(call, 0);
    Str product = server_product_version(call->arena, front_version(call->session));
    Str rest = product, part = STR_EMPTY;

    if (sim_name_equal(name, STR("ProductVersion"))) return give_text(call, product, out);
    if (sim_name_equal(name, STR("ProductMajorVersion")))
        return give_text(call, str_slice(product, 0, 2), out);
    if (sim_name_equal(name, STR("ProductBuild"))) {
        for (int i = 0; i < 3; i++)
            (void)str_split_next(&rest, '.', &part);
        return give_text(call, part, out);
    }
    if (sim_name_equal(name, STR("ProductLevel")))
        return give_text(call, server_product_level(front_version(call->session)), out);
    if (sim_name_equal(name, STR("ProductUpdateLevel"))) {
        Str update = server_update_level(front_version(call->session));
        return str_is_empty(update) || give_text(call, update, out);
    }
    if (sim_name_equal(name, STR("Collation")))
        return give_text(call, sim_collation_name(sim_collation_default()), out);
    if (sim_name_equal(name, STR("CollationID"))) return give_int(872468488, out);
    if (sim_name_equal(name, STR("ComparisonStyle"))) return give_int(196609, out);
    if (sim_name_equal(name, STR("LCID"))) return give_int(1033, out);
    if (sim_name_equal(name, STR("ProcessID"))) return give_int(1, out);
    return give_property(call, server_properties, COUNT_OF(server_properties), name, out);
}

/* --- databases --- */
static const Property database_properties[] = {
    {"Status", "ONLINE", 0},
    {"Recovery", "FULL", 0},
    {"SQLSortOrder", NULL, 52},
    {"LCID", NULL, 1033},
    {"ComparisonStyle", NULL, 196609},
    {"Version", NULL, 957},
    {"IsAnsiNullDefault", NULL, 0},
    {"IsAnsiNullsEnabled", NULL, 0},
    {"IsAnsiPaddingEnabled", NULL, 0},
    {"IsAnsiWarningsEnabled", NULL, 0},
    {"IsArithmeticAbortEnabled", NULL, 0},
    {"IsAutoClose", NULL, 0},
    {"IsAutoCreateStatistics", NULL, 1},
    {"IsAutoCreateStatisticsIncremental", NULL, 0},
    {"IsAutoShrink", NULL, 0},
    {"IsAutoUpdateStatistics", NULL, 1},
    {"IsClone", NULL, 0},
    {"IsCloseCursorsOnCommitEnabled", NULL, 0},
    {"IsFulltextEnabled", NULL, 0},
    {"IsInStandBy", NULL, 0},
    {"IsLocalCursorsDefault", NULL, 0},
    {"IsMergePublished", NULL, 0},
    {"IsNullConcat", NULL, 0},
    {"IsNumericRoundAbortEnabled", NULL, 0},
    {"IsParameterizationForced", NULL, 0},
    {"IsPublished", NULL, 0},
    {"IsQuotedIdentifiersEnabled", NULL, 0},
    {"IsRecursiveTriggersEnabled", NULL, 0},
    {"IsSubscribed", NULL, 0},
    {"IsSyncWithBackup", NULL, 0},
    {"IsTornPageDetectionEnabled", NULL, 0},
    {"IsXTPSupported", NULL, 1},
    {"IsMemoryOptimizedElevateToSnapshotEnabled", NULL, 0},
};

bool give_database_property(const Call *call, Str name, SimValue *out)
{
    return give_property(call, database_properties, COUNT_OF(database_properties), name, out);
}

/* --- collations and the connection --- */
static bool fn_collation_property(const Call *call, SimValue *out)
{
    const SimCollation *collation = sim_collation_find(call_text(call, 0));
    Str                 name      = call_text(call, 1);

    if (!collation) return true;
    if (sim_name_equal(name, STR("CodePage")))
        return give_int(sim_collation_code_page(collation), out);
    if (sim_name_equal(name, STR("LCID"))) return give_int(sim_collation_lcid(collation), out);
    if (sim_name_equal(name, STR("Name")))
        return give_text(call, sim_collation_name(collation), out);
    if (sim_name_equal(name, STR("ComparisonStyle"))) {
        Str full   = sim_collation_name(collation);
        int ignore = 0;
        if (str_find(full, STR("_BIN"), 0) < 0) {
            ignore = 0x30000; /* kana type and width */
            if (str_find(full, STR("_CI"), 0) >= 0) ignore |= 1;
            if (str_find(full, STR("_AI"), 0) >= 0) ignore |= 2;
            if (str_find(full, STR("_KS"), 0) >= 0) ignore &= ~0x10000;
            if (str_find(full, STR("_WS"), 0) >= 0) ignore &= ~0x20000;
        }
        return give_int(ignore, out);
    }
    if (sim_name_equal(name, STR("tdscollation"))) {
        uint8_t *wire = arena_alloc(call->arena, 5);

        sim_collation_wire(collation, wire);
        *out = (SimValue){.type = sim_type(SIM_VARBINARY), .bytes = {wire, 5}};
        return true;
    }
    if (sim_name_equal(name, STR("Version")))
        return give_int(str_find(sim_collation_name(collation), STR("_100"), 0) >= 0 ? 2 : 0, out);
    return true;
}

/* What a sql_variant keeps of a value beside its bytes: a byte each for the type and its version, then lengths, scale or collation. */
static int variant_overhead(const SimType *type)
{
    if (sim_type_is_text(type->kind)) return 8;
    if (type->kind == SIM_DECIMAL || type->kind == SIM_BINARY || type->kind == SIM_VARBINARY)
        return 4;
    if (type->kind == SIM_TIME || type->kind == SIM_DATETIME2 || type->kind == SIM_DATETIMEOFFSET)
        return 3;
    return 2;
}

static bool has_bytes(const SimType *type)
{
    return sim_type_is_text(type->kind) || type->kind == SIM_BINARY || type->kind == SIM_VARBINARY;
}

static bool fn_variant_property(const Call *call, SimValue *out)
{
    const SimValue *value  = &call->args[0];
    const SimType  *type   = &value->type;
    Str             name   = call_text(call, 1);
    bool            is_max = has_bytes(type) && type->length < 0;
    int             bytes;

    if (is_max || sim_type_is_lob(type->kind))
        return sim_error(call->exec->error, 206,
                         "Operand type clash: %s%s is incompatible with sql_variant",
                         sim_type_word(type), is_max ? "(max)" : "");
    if (value->is_null) return true;
    if (sim_name_equal(name, STR("BaseType")))
        return give_text(call, str_from_c(sim_type_word(type)), out);
    if (sim_name_equal(name, STR("Precision"))) return give_int(catalog_precision(type), out);
    if (sim_name_equal(name, STR("Scale"))) return give_int(catalog_scale(type), out);
    if (sim_name_equal(name, STR("MaxLength"))) return give_int(catalog_max_length(type), out);
    if (sim_name_equal(name, STR("Collation")) && sim_type_is_text(type->kind))
        return give_text(call, sim_collation_name(type->collation), out);
    bytes = has_bytes(type) ? (int)value->bytes.len : catalog_max_length(type);
    if (sim_name_equal(name, STR("TotalBytes")))
        return give_int(bytes + variant_overhead(type), out);
    return true;
}

static bool fn_connection_property(const Call *call, SimValue *out)
{
    static const Property properties[] = {{"net_transport", "TCP", 0},
                                          {"protocol_type", "TSQL", 0},
                                          {"auth_scheme", "SQL", 0},
                                          {"physical_net_transport", "TCP", 0}};

    return give_property(call, properties, COUNT_OF(properties), call_text(call, 0), out);
}

static bool fn_session_context(const Call *call, SimValue *out)
{
    const ContextValue *entry = map_find(call->session->context, call_text(call, 0));

    if (call->args[0].is_null)
        return sim_error(call->exec->error, 8116,
                         "Argument data type NULL is invalid for argument 1 of session_context "
                         "function.");
    if (entry) *out = entry->value;
    return true;
}

/* --- RAND: two congruential generators, one of them seeded; a session goes on where it was --- */
static bool fn_rand(const Call *call, SimValue *out)
{
    static const int64_t modulus[] = {2147483563, 2147483399}, factor[] = {40014, 40692};
    int64_t             *state = call->session->rand_state;
    int64_t              seed  = 0;

    if (call->count > 0) {
        if (call->args[0].is_null) return true;
        if (!call_i64(call, 0, &seed)) return false;
        seed     = seed < 0 ? -seed : seed;
        state[0] = seed % modulus[0] ? seed % modulus[0] : 12345;
        state[1] = 67890;
    } else if (state[0] == 0) {
        uint64_t bits = rng_u64(sim_server_rng(call->session->server));
        state[0]      = 1 + (int64_t)(bits % (uint64_t)(modulus[0] - 1));
        state[1]      = 67890;
    }
    for (int i = 0; i < 2; i++)
        state[i] = state[i] * factor[i] % modulus[i];
    int64_t difference = state[0] - state[1];
    if (difference < 1) difference += modulus[0] - 1;
    *out         = sim_null(sim_type(SIM_FLOAT));
    out->is_null = false;
    out->f64     = (double)difference * 4.656613e-10;
    return true;
}

/* Each one sorts after the last: the bytes that count least come first. */
static bool fn_sequential_id(const Call *call, SimValue *out)
{
    Front   *front = call->session->front;
    uint8_t *bytes = arena_alloc(call->arena, 16);

    front_lock(front);
    if (front->sequential == 0) {
        Rng *rng                   = sim_server_rng(call->session->server);
        front->sequential_place[0] = rng_u64(rng);
        front->sequential_place[1] = rng_u64(rng);
        front->sequential          = (uint32_t)(rng_u64(rng) >> 34);
    }
    uint32_t number = ++front->sequential;
    for (int i = 0; i < 12; i++)
        bytes[4 + i] = (uint8_t)(front->sequential_place[i / 8] >> (8 * (i % 8)));
    front_unlock(front);
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(number >> (24 - 8 * i));
    *out         = sim_null(sim_type(SIM_UNIQUEIDENTIFIER));
    out->is_null = false;
    out->bytes   = (Bytes){bytes, 16};
    return true;
}

const SessionFunction property_functions_of_session[] = {
    {"SERVERPROPERTY", 1, 1, "sql_variant", fn_server_property},
    {"COLLATIONPROPERTY", 2, 2, "sql_variant", fn_collation_property},
    {"SQL_VARIANT_PROPERTY", 2, 2, "sql_variant", fn_variant_property},
    {"CONNECTIONPROPERTY", 1, 1, "sql_variant", fn_connection_property},
    {"SESSION_CONTEXT", 1, 1, "sql_variant", fn_session_context},
    {"RAND", 0, 1, "float", fn_rand},
    {"NEWSEQUENTIALID", 0, 0, "uniqueidentifier", fn_sequential_id},
    {.name = NULL},
};
