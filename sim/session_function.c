/* session_function.c - functions and @@globals that ask the session, the server or the catalogue (sqlserver.md 2.10, 2.15). */
#include "sim/bind_internal.h"
#include "sim/session_internal.h"

#include <string.h>

typedef struct Call {
    Exec           *exec;
    SimSession     *session;
    SimDatabase    *database; /* the function's, else the current one */
    const SimValue *args;
    size_t          count;
    Arena          *arena;
} Call;

typedef struct SessionFunction {
    const char *name;
    uint8_t     min_args, max_args;
    const char *type;
    bool (*run)(const Call *call, SimValue *out);
} SessionFunction;

/* --- arguments and results --- */
static Str text_arg(const Call *call, size_t i)
{
    return i < call->count && !call->args[i].is_null ? sim_value_text(call->arena, &call->args[i])
                                                     : STR_EMPTY;
}

static bool int_arg(const Call *call, size_t i, int64_t *out)
{
    SimType  type = sim_type(SIM_BIGINT);
    SimValue number;

    if (i >= call->count || call->args[i].is_null) return true;
    if (!sim_convert(&call->args[i], &type, 0, true, call->arena, &number, call->exec->error))
        return false;
    *out = number.i64;
    return true;
}

static bool give_text(const Call *call, Str text, SimValue *out)
{
    *out = value_text(call->arena, text);
    return true;
}

static bool give_int(int64_t value, SimValue *out)
{
    *out = value_int(value);
    return true;
}

/* --- names --- */
ObjectName name_split(Arena *arena, Str text)
{
    Str        parts[4];
    size_t     count = 0, at = 0;
    ObjectName out = {.database = STR_EMPTY, .schema = STR_EMPTY, .name = STR_EMPTY, .line = 1};

    text = str_trim(text);
    while (count < COUNT_OF(parts)) {
        Buf  part  = buf_new(arena, 0);
        char close = at < text.len && text.ptr[at] == '['   ? ']'
                     : at < text.len && text.ptr[at] == '"' ? '"'
                                                            : '\0';
        if (close) {
            for (at++; at < text.len; at++) {
                if (text.ptr[at] == close && at + 1 < text.len && text.ptr[at + 1] == close)
                    at++;
                else if (text.ptr[at] == close)
                    break;
                buf_append_char(&part, text.ptr[at]);
            }
            at++;
        } else {
            for (; at < text.len && text.ptr[at] != '.'; at++)
                buf_append_char(&part, text.ptr[at]);
        }
        parts[count++] = buf_str(&part);
        if (at >= text.len || text.ptr[at] != '.') break;
        at++;
    }
    if (count > 0) out.name = parts[count - 1];
    if (count > 1) out.schema = parts[count - 2];
    if (count > 2) out.database = parts[count - 3];
    return out;
}

SimTable *session_find_object(SimSession *session, Arena *arena, Str text,
                              SimDatabase **database_out)
{
    ObjectName   name     = name_split(arena, text);
    SimDatabase *database = session->database;

    if (!str_is_empty(name.database))
        database = sim_server_find_database(session->server, name.database);
    if (name.name.len > 0 && name.name.ptr[0] == '#') {
        for (size_t i = session->temp_tables.count; i-- > 0;)
            if (sim_name_equal(session->temp_tables.items[i].name, name.name) &&
                !sim_table_is_dropped(session->temp_tables.items[i].table)) {
                *database_out = sim_table_database(session->temp_tables.items[i].table);
                return session->temp_tables.items[i].table;
            }
        return NULL;
    }
    if (!database) return NULL;
    *database_out   = database;
    SimTable *table = sim_database_find_table(database, name.schema, name.name);
    return table && session_can_see(session, database, table) ? table : NULL;
}

static SimDatabase *database_by_id(const Call *call, size_t arg)
{
    int64_t      id       = 0;
    size_t       at       = 0;
    SimDatabase *database = NULL;

    if (arg >= call->count) return call->database;
    if (!int_arg(call, arg, &id)) return NULL;
    while (sim_server_next_database(call->session->server, &at, &database))
        if (sim_database_id(database) == id) return database;
    return NULL;
}

static bool fn_object_id(const Call *call, SimValue *out)
{
    SimDatabase *database = NULL;
    Str          type     = text_arg(call, 1);
    SimTable *table = session_find_object(call->session, call->arena, text_arg(call, 0), &database);

    if (table && type.len > 0 && !sim_name_equal(str_trim(type), STR("U"))) table = NULL;
    return table ? give_int(sim_table_info(table)->object_id, out) : true;
}

static SimTable *visible_table(const Call *call, size_t arg, size_t database_arg)
{
    int64_t      id       = 0;
    SimDatabase *database = database_by_id(call, database_arg);

    if (!database || call->args[arg].is_null || !int_arg(call, arg, &id)) return NULL;
    SimTable *table = sim_database_find_table_by_id(database, (int32_t)id);
    return table && session_can_see(call->session, database, table) ? table : NULL;
}

static bool fn_object_name(const Call *call, SimValue *out)
{
    SimTable *table = visible_table(call, 0, 1);
    return table ? give_text(call, sim_table_info(table)->name, out) : true;
}

static bool fn_object_schema_name(const Call *call, SimValue *out)
{
    SimTable *table = visible_table(call, 0, 1);
    return table ? give_text(call, sim_table_info(table)->schema, out) : true;
}

static bool fn_schema_id(const Call *call, SimValue *out)
{
    int32_t id = sim_database_schema_id(call->database,
                                        call->count > 0 ? text_arg(call, 0) : STR("dbo"));
    return id ? give_int(id, out) : true;
}

static bool fn_schema_name(const Call *call, SimValue *out)
{
    size_t  at     = 0;
    int64_t wanted = 1;
    Str     name;
    int32_t id = 0;

    if (!int_arg(call, 0, &wanted)) return false;
    if (wanted == 1) return give_text(call, STR("dbo"), out);
    if (wanted == 4) return give_text(call, STR("sys"), out);
    while (sim_database_next_schema(call->database, &at, call->arena, &name, &id))
        if (id == wanted) return give_text(call, name, out);
    return true;
}

static bool fn_db_id(const Call *call, SimValue *out)
{
    SimDatabase *database = call->count > 0
                                ? sim_server_find_database(call->session->server, text_arg(call, 0))
                                : call->session->database;
    if (!database) return true;
    *out = sim_int(sim_database_id(database), SIM_SMALLINT);
    return true;
}

static bool fn_db_name(const Call *call, SimValue *out)
{
    SimDatabase *database = call->count > 0 ? database_by_id(call, 0) : call->session->database;
    return database ? give_text(call, sim_database_name(database), out) : true;
}

static bool fn_col_name(const Call *call, SimValue *out)
{
    SimTable *table = visible_table(call, 0, 9);
    int64_t   id    = 0;

    if (!table || !int_arg(call, 1, &id)) return true;
    const SimTableInfo *info = sim_table_info(table);
    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].column_id == id) return give_text(call, info->columns[i].name, out);
    return true;
}

static bool fn_col_length(const Call *call, SimValue *out)
{
    SimDatabase *database = NULL;
    SimTable *table = session_find_object(call->session, call->arena, text_arg(call, 0), &database);
    ptrdiff_t at    = table ? sim_table_find_column(table, text_arg(call, 1)) : -1;

    if (at < 0) return true;
    *out = sim_int(catalog_max_length(&sim_table_info(table)->columns[at].type), SIM_SMALLINT);
    return true;
}

static bool fn_column_property(const Call *call, SimValue *out)
{
    SimTable *table    = visible_table(call, 0, 9);
    ptrdiff_t at       = table ? sim_table_find_column(table, text_arg(call, 1)) : -1;
    Str       property = text_arg(call, 2);

    if (at < 0) return true;
    const SimColumn *column = &sim_table_info(table)->columns[at];
    if (sim_name_equal(property, STR("IsIdentity"))) return give_int(column->is_identity, out);
    if (sim_name_equal(property, STR("IsComputed"))) return give_int(column->is_computed, out);
    if (sim_name_equal(property, STR("AllowsNull"))) return give_int(column->is_nullable, out);
    if (sim_name_equal(property, STR("ColumnId"))) return give_int(column->column_id, out);
    if (sim_name_equal(property, STR("Precision")))
        return give_int(catalog_precision(&column->type), out);
    if (sim_name_equal(property, STR("Scale"))) return give_int(catalog_scale(&column->type), out);
    return true;
}

static bool fn_object_property(const Call *call, SimValue *out)
{
    SimTable *table    = visible_table(call, 0, 9);
    Str       property = text_arg(call, 1);

    if (!table) return true;
    const SimTableInfo *info         = sim_table_info(table);
    bool                has_identity = false, has_key = false;
    for (size_t i = 0; i < info->column_count; i++)
        has_identity |= info->columns[i].is_identity;
    for (size_t i = 0; i < info->index_count; i++)
        has_key |= info->indexes[i]->is_primary_key;
    if (sim_name_equal(property, STR("TableHasIdentity"))) return give_int(has_identity, out);
    if (sim_name_equal(property, STR("TableHasPrimaryKey"))) return give_int(has_key, out);
    if (sim_name_equal(property, STR("IsUserTable")) || sim_name_equal(property, STR("IsTable")))
        return give_int(1, out);
    if (sim_name_equal(property, STR("IsMSShipped"))) return give_int(info->is_system, out);
    return true;
}

static bool fn_type_name(const Call *call, SimValue *out)
{
    int64_t id = 0;

    if (!int_arg(call, 0, &id)) return false;
    for (int kind = SIM_BIT; kind <= SIM_VARIANT; kind++)
        if (catalog_type_id((SimTypeKind)kind) == id)
            return give_text(call, str_from_c(sim_type_name((SimTypeKind)kind)), out);
    if (id == 256) return give_text(call, STR("sysname"), out);
    return true;
}

static bool fn_type_id(const Call *call, SimValue *out)
{
    SimType type;
    return sim_type_parse(text_arg(call, 0), &type) ? give_int(catalog_type_id(type.kind), out)
                                                    : true;
}

/* --- principals --- */
static bool fn_login_name(const Call *call, SimValue *out)
{
    return call->count > 0 ? true : give_text(call, call->session->login.name, out);
}

static bool fn_user_name(const Call *call, SimValue *out)
{
    int64_t id = -1;

    if (!int_arg(call, 0, &id)) return false;
    if (call->count > 0 && id == 1) return give_text(call, STR("dbo"), out);
    return give_text(call, call->session->user, out);
}

static bool fn_user_id(const Call *call, SimValue *out)
{
    Str name = call->count > 0 ? text_arg(call, 0) : call->session->user;
    return give_int(sim_name_equal(name, STR("dbo")) ? 1 : 5, out);
}

static bool fn_is_member(const Call *call, SimValue *out)
{
    Str role = text_arg(call, 0);

    if (sim_name_equal(role, STR("public"))) return give_int(1, out);
    return give_int(sim_is_member(call->session->database, call->session->user, role), out);
}

static bool fn_is_server_member(const Call *call, SimValue *out)
{
    Str role = text_arg(call, 0);
    return give_int(sim_name_equal(role, STR("public")) || call->session->login.is_sysadmin, out);
}

static bool fn_has_db_access(const Call *call, SimValue *out)
{
    SimDatabase *database = sim_server_find_database(call->session->server, text_arg(call, 0));
    Str          user;
    return database ? give_int(session_user_in(call->session, database, &user), out) : true;
}

static bool permission_of(Str name, SimPermission *out)
{
    static const struct {
        const char   *name;
        SimPermission permission;
    } names[] = {{"SELECT", SIM_PERM_SELECT},
                 {"INSERT", SIM_PERM_INSERT},
                 {"UPDATE", SIM_PERM_UPDATE},
                 {"DELETE", SIM_PERM_DELETE},
                 {"EXECUTE", SIM_PERM_EXECUTE},
                 {"CONTROL", SIM_PERM_CONTROL},
                 {"VIEW SERVER STATE", SIM_PERM_VIEW_SERVER_STATE},
                 {"VIEW DATABASE STATE", SIM_PERM_VIEW_DATABASE_STATE}};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (sim_name_equal(name, str_from_c(names[i].name))) {
            *out = names[i].permission;
            return true;
        }
    return false;
}

/* 1, 0 also for what one cannot see, NULL for a permission that does not exist. */
static bool fn_has_perms(const Call *call, SimValue *out)
{
    SimSession   *session = call->session;
    SimPermission permission;
    Str securable = text_arg(call, 0), class = text_arg(call, 1), column = text_arg(call, 3), user;

    if (!permission_of(text_arg(call, 2), &permission)) return true;
    if (call->args[0].is_null || sim_name_equal(class, STR("DATABASE")) ||
        sim_name_equal(class, STR("SERVER")))
        return give_int(session_is_owner(session), out);
    if (!sim_name_equal(class, STR("OBJECT")) && !sim_name_equal(class, STR("SCHEMA"))) return true;
    ObjectName   name     = name_split(call->arena, securable);
    SimDatabase *database = str_is_empty(name.database)
                                ? session->database
                                : sim_server_find_database(session->server, name.database);
    if (!database || !session_user_in(session, database, &user)) return give_int(0, out);
    if (sim_name_equal(class, STR("SCHEMA"))) return give_int(session_is_owner(session), out);
    SimTable *table = sim_database_find_table(database, name.schema, name.name);
    if (!table) {
        const VirtualTable *view = virtual_table_find(name.schema, name.name);
        return give_int(view && (!view->is_owner_only || sim_is_owner(database, user)) &&
                            permission == SIM_PERM_SELECT,
                        out);
    }
    if (sim_is_owner(database, user)) return give_int(1, out);
    if (permission == SIM_PERM_SELECT && table == sim_cdc_mapping_table(database))
        return give_int(1, out);
    return give_int(sim_has_permission(database, user, permission, table, &column,
                                       column.len > 0 ? 1 : 0, false),
                    out);
}

/* --- time --- */
static SimValue time_value(SimTypeKind kind, int64_t us, int scale, int offset_minutes)
{
    SimValue value = sim_null(sim_type_time(kind, scale));
    int64_t  days = us / 86400000000, rest = us % 86400000000;

    if (rest < 0) {
        rest += 86400000000;
        days--;
    }
    value.is_null             = false;
    value.time.days           = (int32_t)(days + 719162);
    value.time.ticks          = rest * 10;
    value.time.offset_minutes = (int16_t)offset_minutes;
    return value;
}

static bool fn_get_date(const Call *call, SimValue *out)
{
    *out = sim_datetime_from_us(session_local_us(call->session, call->exec->utc_us));
    return true;
}

static bool fn_get_utc_date(const Call *call, SimValue *out)
{
    *out = sim_datetime_from_us(call->exec->utc_us);
    return true;
}

static bool fn_sys_date_time(const Call *call, SimValue *out)
{
    *out = time_value(SIM_DATETIME2, session_local_us(call->session, call->exec->utc_us), 7, 0);
    return true;
}

static bool fn_sys_utc_date_time(const Call *call, SimValue *out)
{
    *out = time_value(SIM_DATETIME2, call->exec->utc_us, 7, 0);
    return true;
}

static bool fn_sys_date_time_offset(const Call *call, SimValue *out)
{
    *out = time_value(
        SIM_DATETIMEOFFSET, call->exec->utc_us, 7,
        sim_zone_offset_at_utc(sim_server_zone(call->session->server), call->exec->utc_us));
    return true;
}

static bool fn_time_zone(const Call *call, SimValue *out)
{
    return give_text(call, front_zone(call->session), out);
}

/* --- the session --- */
static bool fn_new_id(const Call *call, SimValue *out)
{
    uint8_t *bytes = arena_alloc(call->arena, 16);
    Rng     *rng   = sim_server_rng(call->session->server);

    for (int half = 0; half < 2; half++) {
        uint64_t bits = rng_u64(rng);
        memcpy(bytes + half * 8, &bits, 8);
    }
    bytes[7]     = (uint8_t)((bytes[7] & 0x0F) |
                         0x40); /* the third group is little-endian on the wire */
    bytes[8]     = (uint8_t)((bytes[8] & 0x3F) | 0x80);
    *out         = sim_null(sim_type(SIM_UNIQUEIDENTIFIER));
    out->is_null = false;
    out->bytes   = (Bytes){bytes, 16};
    return true;
}

static bool fn_scope_identity(const Call *call, SimValue *out)
{
    *out = call->session->scope_identity;
    return true;
}

static bool fn_ident_current(const Call *call, SimValue *out)
{
    SimDatabase *database = NULL;
    SimTable *table = session_find_object(call->session, call->arena, text_arg(call, 0), &database);

    if (!table) return true;
    *out = sim_decimal(int128_from_i64(sim_table_identity_current(table)), 38, 0);
    return true;
}

static bool fn_xact_state(const Call *call, SimValue *out)
{
    *out = sim_int(call->session->tran_count == 0 ? 0
                   : call->session->doomed        ? -1
                                                  : 1,
                   SIM_SMALLINT);
    return true;
}

static bool fn_error_number(const Call *call, SimValue *out)
{
    return call->session->has_caught ? give_int(call->session->caught.number, out) : true;
}
static bool fn_error_severity(const Call *call, SimValue *out)
{
    return call->session->has_caught ? give_int(call->session->caught.severity, out) : true;
}
static bool fn_error_state(const Call *call, SimValue *out)
{
    return call->session->has_caught ? give_int(call->session->caught.state, out) : true;
}
static bool fn_error_line(const Call *call, SimValue *out)
{
    return call->session->has_caught ? give_int(call->session->caught.line, out) : true;
}
static bool fn_error_message(const Call *call, SimValue *out)
{
    return call->session->has_caught
               ? give_text(call, str_from_c(call->session->caught.message), out)
               : true;
}
static bool fn_error_procedure(const Call *call, SimValue *out)
{
    return call->session->has_caught && call->session->caught.procedure[0]
               ? give_text(call, str_from_c(call->session->caught.procedure), out)
               : true;
}

static bool fn_app_name(const Call *call, SimValue *out)
{
    return give_text(call, call->session->app_name, out);
}

static bool fn_host_name(const Call *call, SimValue *out)
{
    return give_text(call, call->session->host_name, out);
}

static bool fn_session_context(const Call *call, SimValue *out)
{
    const SimValue *value = map_find(call->session->context, text_arg(call, 0));
    if (value) *out = *value;
    return true;
}

/* --- properties --- */
static bool fn_server_property(const Call *call, SimValue *out)
{
    Str name    = text_arg(call, 0);
    int version = front_version(call->session);
    Str product = server_product_version(call->arena, version);

    if (sim_name_equal(name, STR("ProductVersion"))) return give_text(call, product, out);
    if (sim_name_equal(name, STR("ProductMajorVersion")))
        return give_text(call, str_slice(product, 0, 2), out);
    if (sim_name_equal(name, STR("ProductMinorVersion"))) return give_text(call, STR("0"), out);
    if (sim_name_equal(name, STR("ProductBuild")))
        return give_text(call, str_slice(product, 5, 9), out);
    if (sim_name_equal(name, STR("ProductLevel"))) return give_text(call, STR("RTM"), out);
    if (sim_name_equal(name, STR("Edition")))
        return give_text(call, STR("Developer Edition (64-bit)"), out);
    if (sim_name_equal(name, STR("EngineEdition"))) return give_int(3, out);
    if (sim_name_equal(name, STR("ServerName")) || sim_name_equal(name, STR("MachineName")))
        return give_text(call, STR("tidesim"), out);
    if (sim_name_equal(name, STR("Collation")))
        return give_text(call, sim_collation_name(sim_collation_default()), out);
    if (sim_name_equal(name, STR("IsIntegratedSecurityOnly")) ||
        sim_name_equal(name, STR("IsHadrEnabled")) || sim_name_equal(name, STR("IsClustered")))
        return give_int(0, out);
    if (sim_name_equal(name, STR("IsSingleUser")) ||
        sim_name_equal(name, STR("IsFullTextInstalled")))
        return give_int(0, out);
    return true;
}

static bool fn_database_property(const Call *call, SimValue *out)
{
    SimDatabase *database = sim_server_find_database(call->session->server, text_arg(call, 0));
    Str          name     = text_arg(call, 1);

    if (!database) return true;
    if (sim_name_equal(name, STR("Updateability"))) return give_text(call, STR("READ_WRITE"), out);
    if (sim_name_equal(name, STR("Status"))) return give_text(call, STR("ONLINE"), out);
    if (sim_name_equal(name, STR("UserAccess"))) return give_text(call, STR("MULTI_USER"), out);
    if (sim_name_equal(name, STR("Recovery"))) return give_text(call, STR("FULL"), out);
    if (sim_name_equal(name, STR("Collation")))
        return give_text(call, sim_collation_name(sim_collation_default()), out);
    if (sim_name_equal(name, STR("Version"))) return give_int(957, out);
    return true;
}

static bool fn_collation_property(const Call *call, SimValue *out)
{
    const SimCollation *collation = sim_collation_find(text_arg(call, 0));
    Str                 name      = text_arg(call, 1);

    if (!collation) return true;
    if (sim_name_equal(name, STR("CodePage")))
        return give_int(sim_collation_code_page(collation), out);
    if (sim_name_equal(name, STR("LCID"))) return give_int(sim_collation_lcid(collation), out);
    return true;
}

static bool fn_connection_property(const Call *call, SimValue *out)
{
    Str name = text_arg(call, 0);

    if (sim_name_equal(name, STR("net_transport"))) return give_text(call, STR("TCP"), out);
    if (sim_name_equal(name, STR("protocol_type"))) return give_text(call, STR("TSQL"), out);
    if (sim_name_equal(name, STR("auth_scheme"))) return give_text(call, STR("SQL"), out);
    return true;
}

/* --- change data capture --- */
static bool need_cdc(const Call *call)
{
    return sim_cdc_is_enabled(call->database) ||
           sim_error(call->exec->error, 208, "Invalid object name 'cdc.lsn_time_mapping'.");
}

static bool fn_cdc_max_lsn(const Call *call, SimValue *out)
{
    Lsn lsn;

    if (!need_cdc(call)) return false;
    if (sim_cdc_max_lsn(call->database, &lsn)) *out = value_lsn(call->arena, lsn);
    return true;
}

static bool fn_cdc_min_lsn(const Call *call, SimValue *out)
{
    return need_cdc(call) &&
           cdc_min_lsn(call->session, call->database, text_arg(call, 0), call->arena, out);
}

static bool lsn_arg(const Call *call, size_t i, Lsn *out)
{
    SimType  type = sim_type_sized(SIM_BINARY, LSN_BYTES);
    SimValue value;

    if (call->args[i].is_null ||
        !sim_convert(&call->args[i], &type, 0, false, call->arena, &value, call->exec->error))
        return false;
    return lsn_from_bytes(value.bytes, out);
}

static bool fn_cdc_increment(const Call *call, SimValue *out)
{
    Lsn lsn;

    if (call->args[0].is_null) return true;
    if (!lsn_arg(call, 0, &lsn)) return call->exec->error->number == 0;
    *out = value_lsn(call->arena, lsn_increment(lsn));
    return true;
}

static bool fn_cdc_decrement(const Call *call, SimValue *out)
{
    Lsn lsn;

    if (call->args[0].is_null) return true;
    if (!lsn_arg(call, 0, &lsn)) return call->exec->error->number == 0;
    *out = value_lsn(call->arena, lsn_decrement(lsn));
    return true;
}

static bool fn_cdc_lsn_to_time(const Call *call, SimValue *out)
{
    Lsn     lsn;
    int64_t local_us = 0;

    if (!need_cdc(call)) return false;
    if (call->args[0].is_null) return true;
    if (!lsn_arg(call, 0, &lsn)) return call->exec->error->number == 0;
    if (sim_cdc_map_lsn_to_time(call->database, lsn, &local_us)) *out = value_datetime(local_us);
    return true;
}

static bool fn_cdc_time_to_lsn(const Call *call, SimValue *out)
{
    static const char *const names[] = {"largest less than", "largest less than or equal",
                                        "smallest greater than", "smallest greater than or equal"};
    SimType                  type    = sim_type(SIM_DATETIME);
    SimValue                 time;
    Lsn                      lsn;
    Str                      name = str_trim(text_arg(call, 0));

    if (!need_cdc(call)) return false;
    if (call->args[1].is_null) return true;
    if (!sim_convert(&call->args[1], &type, 0, true, call->arena, &time, call->exec->error))
        return false;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal_ignoring_case(name, str_from_c(names[i]))) {
            if (sim_cdc_map_time_to_lsn(call->database, (SimTimeToLsn)i, &time, &lsn))
                *out = value_lsn(call->arena, lsn);
            return true;
        }
    return true;
}

static bool fn_cdc_column_ordinal(const Call *call, SimValue *out)
{
    SimCaptureInstance instance;
    Str                column = text_arg(call, 1);

    if (!sim_cdc_find_instance(call->database, text_arg(call, 0), call->arena, &instance) ||
        !cdc_can_access(call->session, &instance))
        return true;
    for (size_t i = 0; i < instance.column_count; i++)
        if (sim_name_equal(instance.columns[i].name, column))
            return give_int(instance.columns[i].ordinal, out);
    return true;
}

static bool bit_set(Bytes mask, int64_t ordinal)
{
    int64_t bit = ordinal - 1;

    if (ordinal < 1 || (size_t)(bit / 8) >= mask.len) return false;
    return mask.ptr[mask.len - 1 - (size_t)(bit / 8)] >> (bit % 8) & 1;
}

static bool fn_cdc_is_bit_set(const Call *call, SimValue *out)
{
    int64_t ordinal = 0;

    if (call->args[0].is_null || call->args[1].is_null) return true;
    if (!int_arg(call, 0, &ordinal)) return false;
    *out = value_bit(bit_set(call->args[1].bytes, ordinal));
    return true;
}

static bool fn_cdc_has_changed(const Call *call, SimValue *out)
{
    SimCaptureInstance instance;
    Str                column = text_arg(call, 1);

    if (call->args[2].is_null ||
        !sim_cdc_find_instance(call->database, text_arg(call, 0), call->arena, &instance) ||
        !cdc_can_access(call->session, &instance))
        return true;
    for (size_t i = 0; i < instance.column_count; i++)
        if (sim_name_equal(instance.columns[i].name, column))
            *out = value_bit(bit_set(call->args[2].bytes, instance.columns[i].ordinal));
    return true;
}

static bool fn_hex(const Call *call, SimValue *out)
{
    if (call->args[0].is_null) return true;
    Str hex = hex_encode(call->arena, call->args[0].bytes, false);
    return give_text(call, str_printf(call->arena, "0x%.*s", STR_ARG(hex)), out);
}

static const SessionFunction functions[] = {
    {"OBJECT_ID", 1, 2, "int", fn_object_id},
    {"OBJECT_NAME", 1, 2, "sysname", fn_object_name},
    {"OBJECT_SCHEMA_NAME", 1, 2, "sysname", fn_object_schema_name},
    {"SCHEMA_ID", 0, 1, "int", fn_schema_id},
    {"SCHEMA_NAME", 0, 1, "sysname", fn_schema_name},
    {"DB_ID", 0, 1, "smallint", fn_db_id},
    {"DB_NAME", 0, 1, "nvarchar(128)", fn_db_name},
    {"COL_NAME", 2, 2, "sysname", fn_col_name},
    {"COL_LENGTH", 2, 2, "smallint", fn_col_length},
    {"COLUMNPROPERTY", 3, 3, "int", fn_column_property},
    {"OBJECTPROPERTY", 2, 2, "int", fn_object_property},
    {"TYPE_NAME", 1, 1, "sysname", fn_type_name},
    {"TYPE_ID", 1, 1, "int", fn_type_id},
    {"ORIGINAL_LOGIN", 0, 0, "sysname", fn_login_name},
    {"SUSER_NAME", 0, 1, "nvarchar(128)", fn_login_name},
    {"SUSER_SNAME", 0, 1, "nvarchar(128)", fn_login_name},
    {"SYSTEM_USER", 0, 0, "nvarchar(128)", fn_login_name},
    {"USER_NAME", 0, 1, "nvarchar(128)", fn_user_name},
    {"CURRENT_USER", 0, 0, "nvarchar(128)", fn_user_name},
    {"SESSION_USER", 0, 0, "nvarchar(128)", fn_user_name},
    {"USER", 0, 0, "nvarchar(128)", fn_user_name},
    {"USER_ID", 0, 1, "int", fn_user_id},
    {"DATABASE_PRINCIPAL_ID", 0, 1, "int", fn_user_id},
    {"IS_MEMBER", 1, 1, "int", fn_is_member},
    {"IS_ROLEMEMBER", 1, 2, "int", fn_is_member},
    {"IS_SRVROLEMEMBER", 1, 2, "int", fn_is_server_member},
    {"HAS_DBACCESS", 1, 1, "int", fn_has_db_access},
    {"HAS_PERMS_BY_NAME", 3, 5, "int", fn_has_perms},
    {"GETDATE", 0, 0, "datetime", fn_get_date},
    {"CURRENT_TIMESTAMP", 0, 0, "datetime", fn_get_date},
    {"GETUTCDATE", 0, 0, "datetime", fn_get_utc_date},
    {"SYSDATETIME", 0, 0, "datetime2(7)", fn_sys_date_time},
    {"SYSUTCDATETIME", 0, 0, "datetime2(7)", fn_sys_utc_date_time},
    {"SYSDATETIMEOFFSET", 0, 0, "datetimeoffset(7)", fn_sys_date_time_offset},
    {"CURRENT_TIMEZONE", 0, 0, "nvarchar(128)", fn_time_zone},
    {"CURRENT_TIMEZONE_ID", 0, 0, "nvarchar(128)", fn_time_zone},
    {"NEWID", 0, 0, "uniqueidentifier", fn_new_id},
    {"NEWSEQUENTIALID", 0, 0, "uniqueidentifier", fn_new_id},
    {"SCOPE_IDENTITY", 0, 0, "decimal(38,0)", fn_scope_identity},
    {"IDENT_CURRENT", 1, 1, "decimal(38,0)", fn_ident_current},
    {"XACT_STATE", 0, 0, "smallint", fn_xact_state},
    {"ERROR_NUMBER", 0, 0, "int", fn_error_number},
    {"ERROR_SEVERITY", 0, 0, "int", fn_error_severity},
    {"ERROR_STATE", 0, 0, "int", fn_error_state},
    {"ERROR_LINE", 0, 0, "int", fn_error_line},
    {"ERROR_MESSAGE", 0, 0, "nvarchar(4000)", fn_error_message},
    {"ERROR_PROCEDURE", 0, 0, "nvarchar(128)", fn_error_procedure},
    {"APP_NAME", 0, 0, "nvarchar(128)", fn_app_name},
    {"HOST_NAME", 0, 0, "nvarchar(128)", fn_host_name},
    {"SESSION_CONTEXT", 1, 1, "sql_variant", fn_session_context},
    {"SERVERPROPERTY", 1, 1, "sql_variant", fn_server_property},
    {"DATABASEPROPERTYEX", 2, 2, "sql_variant", fn_database_property},
    {"COLLATIONPROPERTY", 2, 2, "sql_variant", fn_collation_property},
    {"CONNECTIONPROPERTY", 1, 1, "sql_variant", fn_connection_property},
    {"sys.fn_cdc_get_max_lsn", 0, 0, "binary(10)", fn_cdc_max_lsn},
    {"sys.fn_cdc_get_min_lsn", 1, 1, "binary(10)", fn_cdc_min_lsn},
    {"sys.fn_cdc_increment_lsn", 1, 1, "binary(10)", fn_cdc_increment},
    {"sys.fn_cdc_decrement_lsn", 1, 1, "binary(10)", fn_cdc_decrement},
    {"sys.fn_cdc_map_lsn_to_time", 1, 1, "datetime", fn_cdc_lsn_to_time},
    {"sys.fn_cdc_map_time_to_lsn", 2, 2, "binary(10)", fn_cdc_time_to_lsn},
    {"sys.fn_cdc_get_column_ordinal", 2, 2, "int", fn_cdc_column_ordinal},
    {"sys.fn_cdc_is_bit_set", 2, 2, "bit", fn_cdc_is_bit_set},
    {"sys.fn_cdc_has_column_changed", 3, 3, "bit", fn_cdc_has_changed},
    {"sys.fn_varbintohexstr", 1, 1, "nvarchar(4000)", fn_hex},
};

static const SimValue *eval_session_function(Node *node, Exec *exec)
{
    SimValue               args[5];
    const SessionFunction *function = node->function;
    Call                   call     = {.exec     = exec,
                                       .session  = exec->session,
                                       .database = node->state,
                                       .args     = args,
                                       .count    = node->arg_count,
                                       .arena    = exec->scratch};

    for (size_t i = 0; i < node->arg_count; i++) {
        const SimValue *value = node_eval(node->args[i], exec);
        if (!value) return NULL;
        args[i] = *value;
    }
    node->value = sim_null(node->type);
    if (!call.database) call.database = exec->session->database;
    return function->run(&call, &node->value) ? &node->value : NULL;
}

static const SessionFunction *function_find(const Expr *expr)
{
    bool in_sys = sim_name_equal(expr->function.schema, STR("sys"));

    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        Str name = str_from_c(functions[i].name);
        if (in_sys
                ? str_starts_with(name, STR("sys.")) &&
                      sim_name_equal(str_slice(name, 4, name.len), expr->function.name)
                : str_is_empty(expr->function.schema) && sim_name_equal(name, expr->function.name))
            return &functions[i];
    }
    return NULL;
}

bool bind_session_function(Binder *binder, QueryScope *scope, const Expr *expr, Node **out,
                           bool *found)
{
    const SessionFunction *function = function_find(expr);
    SimType                type;
    int                    version = front_version(binder->session);

    *found = function != NULL;
    if (!function) return true;
    bool is_zone_id = str_equal_c(str_from_c(function->name), "CURRENT_TIMEZONE_ID");
    if ((is_zone_id && version < 2022) ||
        (str_equal_c(str_from_c(function->name), "CURRENT_TIMEZONE") && version < 2019))
        return binder_error(binder, expr->line, 195,
                            "'%s' is not a recognized built-in function name.", function->name);
    if (expr->args.count < function->min_args || expr->args.count > function->max_args) {
        if (!str_is_empty(expr->function.schema))
            return binder_error(binder, expr->line,
                                expr->args.count < function->min_args ? 313 : 8144,
                                expr->args.count < function->min_args
                                    ? "An insufficient number of arguments were supplied for the "
                                      "procedure or function %s."
                                    : "Procedure or function %s has too many arguments specified.",
                                function->name);
        return binder_error(binder, expr->line, 174, "The %s function requires %d argument(s).",
                            function->name, function->min_args);
    }
    if (!sim_type_parse(str_from_c(function->type), &type))
        return binder_not_supported(binder, expr->line, "the type %s", function->type);
    Node *node      = node_new(binder->arena, NODE_CALL, type, expr->line);
    node->eval      = eval_session_function;
    node->function  = function;
    node->args      = ARENA_ARRAY(binder->arena, Node *, expr->args.count + 1);
    node->arg_count = expr->args.count;
    if (!str_is_empty(expr->function.database)) {
        node->state = sim_server_find_database(binder->session->server, expr->function.database);
        if (!node->state)
            return binder_error(
                binder, expr->line, 911,
                "Database '%.*s' does not exist. Make sure that the name is entered correctly.",
                STR_ARG(expr->function.database));
    }
    node->is_volatile = function->run == fn_new_id;
    for (size_t i = 0; i < expr->args.count; i++)
        if (!bind_expr(binder, scope, expr->args.items[i], &node->args[i])) return false;
    *out = node;
    return true;
}

/* --- @@globals --- */
static bool global_value(Exec *exec, Str name, SimValue *out)
{
    SimSession *session = exec->session;
    Arena      *arena   = exec->scratch;

    if (sim_name_equal(name, STR("SPID")))
        *out = sim_int(session->id, SIM_SMALLINT);
    else if (sim_name_equal(name, STR("VERSION")))
        *out = value_text(arena, server_version_text(arena, front_version(session)));
    else if (sim_name_equal(name, STR("TRANCOUNT")))
        *out = value_int(session->tran_count);
    else if (sim_name_equal(name, STR("ROWCOUNT")))
        *out = value_int(session->row_count);
    else if (sim_name_equal(name, STR("ERROR")))
        *out = value_int(session->last_error);
    else if (sim_name_equal(name, STR("IDENTITY")))
        *out = session->identity;
    else if (sim_name_equal(name, STR("SERVERNAME")))
        *out = value_text(arena, STR("tidesim"));
    else if (sim_name_equal(name, STR("SERVICENAME")))
        *out = value_text(arena, STR("MSSQLSERVER"));
    else if (sim_name_equal(name, STR("LANGUAGE")))
        *out = value_text(arena, str_from_c(session->options.language));
    else if (sim_name_equal(name, STR("LANGID")))
        *out = sim_int(0, SIM_SMALLINT);
    else if (sim_name_equal(name, STR("DATEFIRST")))
        *out = sim_int(session->options.date_first, SIM_TINYINT);
    else if (sim_name_equal(name, STR("MAX_PRECISION")))
        *out = sim_int(38, SIM_TINYINT);
    else if (sim_name_equal(name, STR("LOCK_TIMEOUT")))
        *out = value_int(session->options.lock_timeout_ms);
    else if (sim_name_equal(name, STR("TEXTSIZE")))
        *out = value_int(session->options.text_size);
    else if (sim_name_equal(name, STR("NESTLEVEL")))
        *out = value_int(session->proc_depth);
    else if (sim_name_equal(name, STR("PROCID")))
        *out = value_int(0);
    else if (sim_name_equal(name, STR("FETCH_STATUS")))
        *out = value_int(-1);
    else if (sim_name_equal(name, STR("MICROSOFTVERSION")))
        *out = value_int((int64_t)(front_version(session) - 2022 + 16) << 24);
    else if (sim_name_equal(name, STR("OPTIONS")))
        *out = value_int((session->options.xact_abort ? 16384 : 0) |
                         (session->options.nocount ? 512 : 0) | 5432);
    else if (sim_name_equal(name, STR("DBTS"))) {
        *out         = sim_null(sim_type_sized(SIM_VARBINARY, 8));
        out->is_null = false;
        out->bytes   = (Bytes){arena_alloc(arena, 8), 8};
    } else
        return false;
    return true;
}

static const SimValue *eval_global(Node *node, Exec *exec)
{
    node->value = sim_null(node->type);
    (void)global_value(exec, node->text, &node->value);
    return &node->value;
}

bool bind_global(Binder *binder, const Expr *expr, Node **out)
{
    Exec     probe = {.session = binder->session, .scratch = binder->arena};
    SimValue value;

    if (!global_value(&probe, expr->text, &value))
        return binder_error(binder, expr->line, 137, "Must declare the scalar variable \"@@%.*s\".",
                            STR_ARG(expr->text));
    Node *node = node_new(binder->arena, NODE_CALL, value.type, expr->line);
    if (value.type.kind == SIM_NVARCHAR)
        node->type = sim_type_sized(SIM_NVARCHAR,
                                    sim_name_equal(expr->text, STR("VERSION")) ? 300 : 128);
    node->eval = eval_global;
    node->text = expr->text;
    *out       = node;
    return true;
}

/* --- server facts --- */
Str server_product_version(Arena *arena, int version)
{
    (void)arena;
    switch (version) {
    case 2016: return STR("13.0.6300.2");
    case 2017: return STR("14.0.3456.2");
    case 2019: return STR("15.0.4430.1");
    case 2025: return STR("17.0.1000.7");
    default: return STR("16.0.4135.4");
    }
}

Str server_version_text(Arena *arena, int version)
{
    return str_printf(arena,
                      "Microsoft SQL Server %d (RTM-CU15) - %.*s (X64) \n\tDeveloper Edition "
                      "(64-bit) on Linux\n\ttidesim, a simulated SQL Server",
                      version, STR_ARG(server_product_version(arena, version)));
}
