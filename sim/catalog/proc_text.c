/* proc_text.c - catalogue procedures that are queries of the catalogue's views (sqlserver.md 2.6). They see what their caller sees. */
#include "sim/catalog/catalog_internal.h"

#define TABLE_PARAMETERS "table_name,table_owner,table_qualifier"
#define QUALIFIER        "CAST(DB_NAME() AS sysname)"
#define TYPE_FROM_LIST   "(@table_type IS NULL OR CHARINDEX('''' + k.type + '''', @table_type) > 0)"

#define PRIVILEGE_SELECT(extra)                                                               \
    "SELECT " QUALIFIER                                                                       \
    " AS TABLE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS TABLE_OWNER, "         \
    "o.name AS TABLE_NAME, " extra "CAST('dbo' AS sysname) AS GRANTOR, "                      \
    "CAST(u.grantee AS sysname) AS GRANTEE, CAST(u.permission AS varchar(32)) AS PRIVILEGE, " \
    "CAST(u.grantable AS varchar(3)) AS IS_GRANTABLE FROM sys.objects o "

/* Bulk copies of drivers ask it which code page each column takes. */
#define TABLE_COLLATIONS                                                             \
    "SELECT c.column_id AS colid, c.name, CAST(COLLATIONPROPERTY(c.collation_name, " \
    "'tdscollation') AS binary(5)) AS tds_collation, c.collation_name AS collation " \
    "FROM sys.all_columns c WHERE c.object_id = OBJECT_ID(@object) ORDER BY 1"

/* By the procedures' names. */
static const struct {
    const char *name, *text;
} texts[] = {
    {"sp_tables",
     "IF @table_qualifier = '%' AND @table_owner = '' AND @table_name = '' "
     "SELECT CAST(name AS sysname) AS TABLE_QUALIFIER, CAST(NULL AS sysname) AS TABLE_OWNER, "
     "CAST(NULL AS sysname) AS TABLE_NAME, CAST(NULL AS varchar(32)) AS TABLE_TYPE, "
     "CAST(NULL AS varchar(254)) AS REMARKS FROM sys.databases WHERE HAS_DBACCESS(name) = 1 ORDER "
     "BY 1 "
     "ELSE IF @table_owner = '%' AND @table_qualifier = '' AND @table_name = '' "
     "SELECT CAST(NULL AS sysname) AS TABLE_QUALIFIER, name AS TABLE_OWNER, CAST(NULL AS sysname) "
     "AS TABLE_NAME, "
     "CAST(NULL AS varchar(32)) AS TABLE_TYPE, CAST(NULL AS varchar(254)) AS REMARKS FROM "
     "sys.schemas ORDER BY 2 "
     "ELSE IF @table_type = '%' AND @table_owner = '' AND @table_qualifier = '' AND @table_name = "
     "'' "
     "SELECT CAST(NULL AS sysname) AS TABLE_QUALIFIER, CAST(NULL AS sysname) AS TABLE_OWNER, "
     "CAST(NULL AS sysname) AS TABLE_NAME, CAST(t.name AS varchar(32)) AS TABLE_TYPE, "
     "CAST(NULL AS varchar(254)) AS REMARKS FROM (VALUES ('SYSTEM TABLE'), ('TABLE'), ('VIEW')) "
     "t(name) ORDER BY 4 "
     "ELSE SELECT " QUALIFIER
     " AS TABLE_QUALIFIER, CAST(SCHEMA_NAME(k.schema_id) AS sysname) AS TABLE_OWNER, "
     "k.name AS TABLE_NAME, CAST(k.type AS varchar(32)) AS TABLE_TYPE, CAST(NULL AS varchar(254)) "
     "AS REMARKS "
     "FROM (SELECT name, schema_id, CASE type WHEN 'U' THEN 'TABLE' ELSE 'VIEW' END AS type "
     "FROM sys.all_objects WHERE type IN ('U', 'V')) k "
     "WHERE " TYPE_FROM_LIST " AND (@table_name IS NULL OR @table_name = '' OR "
     "(ISNULL(@fUsePattern, 1) = 1 AND k.name LIKE @table_name) OR k.name = @table_name) "
     "AND (@table_owner IS NULL OR @table_owner = '' OR "
     "(ISNULL(@fUsePattern, 1) = 1 AND SCHEMA_NAME(k.schema_id) LIKE @table_owner) OR "
     "SCHEMA_NAME(k.schema_id) = @table_owner) "
     "ORDER BY 4, 1, 2, 3"},
    {"sp_fkeys",
     "SELECT " QUALIFIER
     " AS PKTABLE_QUALIFIER, CAST(SCHEMA_NAME(r.schema_id) AS sysname) AS PKTABLE_OWNER, "
     "r.name AS PKTABLE_NAME, CAST(COL_NAME(c.referenced_object_id, c.referenced_column_id) AS "
     "sysname) AS PKCOLUMN_NAME, " QUALIFIER
     " AS FKTABLE_QUALIFIER, CAST(SCHEMA_NAME(t.schema_id) AS sysname) AS FKTABLE_OWNER, "
     "t.name AS FKTABLE_NAME, CAST(COL_NAME(c.parent_object_id, c.parent_column_id) AS sysname) AS "
     "FKCOLUMN_NAME, "
     "CAST(c.constraint_column_id AS smallint) AS KEY_SEQ, "
     "CAST(CASE k.update_referential_action WHEN 0 THEN 1 WHEN 1 THEN 0 ELSE "
     "k.update_referential_action END AS smallint) AS UPDATE_RULE, "
     "CAST(CASE k.delete_referential_action WHEN 0 THEN 1 WHEN 1 THEN 0 ELSE "
     "k.delete_referential_action END AS smallint) AS DELETE_RULE, "
     "k.name AS FK_NAME, i.name AS PK_NAME, CAST(7 AS smallint) AS DEFERRABILITY "
     "FROM sys.foreign_keys k JOIN sys.foreign_key_columns c ON c.constraint_object_id = "
     "k.object_id "
     "JOIN sys.tables r ON r.object_id = k.referenced_object_id JOIN sys.tables t ON t.object_id = "
     "k.parent_object_id "
     "LEFT JOIN sys.indexes i ON i.object_id = k.referenced_object_id AND i.index_id = "
     "k.key_index_id "
     "WHERE (@pktable_name IS NULL OR r.name = @pktable_name) AND (@pktable_owner IS NULL OR "
     "SCHEMA_NAME(r.schema_id) = @pktable_owner) "
     "AND (@fktable_name IS NULL OR t.name = @fktable_name) AND (@fktable_owner IS NULL OR "
     "SCHEMA_NAME(t.schema_id) = @fktable_owner) "
     "ORDER BY 5, 6, 7, 9"},
    {"sp_stored_procedures",
     "SELECT " QUALIFIER
     " AS PROCEDURE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS PROCEDURE_OWNER, "
     "CAST(o.name + CASE WHEN o.type IN ('FN', 'IF', 'TF') THEN ';0' ELSE ';1' END AS "
     "nvarchar(134)) AS PROCEDURE_NAME, "
     "CAST(-1 AS int) AS NUM_INPUT_PARAMS, CAST(-1 AS int) AS NUM_OUTPUT_PARAMS, CAST(-1 AS int) "
     "AS NUM_RESULT_SETS, "
     "CAST(NULL AS varchar(254)) AS REMARKS, CAST(2 AS smallint) AS PROCEDURE_TYPE FROM "
     "sys.all_objects o "
     "WHERE o.type IN ('P', 'X', 'FN', 'IF', 'TF') AND (@sp_name IS NULL OR @sp_name = '' OR "
     "(ISNULL(@fUsePattern, 1) = 1 AND o.name LIKE @sp_name) OR o.name = @sp_name) "
     "AND (@sp_owner IS NULL OR @sp_owner = '' OR (ISNULL(@fUsePattern, 1) = 1 AND "
     "SCHEMA_NAME(o.schema_id) LIKE @sp_owner) "
     "OR SCHEMA_NAME(o.schema_id) = @sp_owner) ORDER BY 1, 2, 3"},
    {"sp_table_privileges",
     PRIVILEGE_SELECT(
         "") "CROSS APPLY (SELECT 'dbo' AS grantee, v.name AS permission, 'YES' AS grantable FROM "
             "(VALUES ('DELETE'), ('INSERT'), "
             "('REFERENCES'), ('SELECT'), ('UPDATE')) v(name) UNION ALL SELECT "
             "USER_NAME(p.grantee_principal_id), p.permission_name, 'NO' "
             "FROM sys.database_permissions p WHERE p.class = 1 AND p.major_id = o.object_id AND "
             "p.minor_id = 0 AND p.state = 'G' "
             "AND p.permission_name IN ('DELETE', 'INSERT', 'REFERENCES', 'SELECT', 'UPDATE')) u "
             "WHERE o.type IN ('U', 'V') AND (@table_name IS NULL OR o.name LIKE @table_name) "
             "AND (@table_owner IS NULL OR SCHEMA_NAME(o.schema_id) LIKE @table_owner) ORDER BY 1, "
             "2, 3, 6, 5"},
    {"sp_column_privileges",
     PRIVILEGE_SELECT(
         "c.name AS COLUMN_NAME, ") "JOIN sys.columns c ON c.object_id = o.object_id CROSS APPLY "
                                    "(SELECT 'dbo' AS grantee, v.name AS permission, 'YES' AS "
                                    "grantable "
                                    "FROM (VALUES ('INSERT'), ('REFERENCES'), ('SELECT'), "
                                    "('UPDATE')) v(name) UNION ALL "
                                    "SELECT USER_NAME(p.grantee_principal_id), p.permission_name, "
                                    "'NO' FROM sys.database_permissions p "
                                    "WHERE p.class = 1 AND p.major_id = o.object_id AND p.minor_id "
                                    "IN (0, c.column_id) AND p.state = 'G' "
                                    "AND p.permission_name IN ('INSERT', 'REFERENCES', 'SELECT', "
                                    "'UPDATE')) u "
                                    "WHERE o.type IN ('U', 'V') AND o.name = @table_name AND "
                                    "(@table_owner IS NULL OR SCHEMA_NAME(o.schema_id) = "
                                    "@table_owner) "
                                    "AND (@column_name IS NULL OR c.name LIKE @column_name) ORDER "
                                    "BY 1, 2, 3, 4, 7, 6"},
    {"sp_helpindex", "IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = "
                     "OBJECT_ID(@objname) AND index_id > 0) "
                     "BEGIN PRINT 'The object ''' + @objname + ''' does not have any indexes, or "
                     "you do not have permissions.'; RETURN END; "
                     "SELECT i.name AS index_name, CAST(LOWER(i.type_desc) + CASE WHEN i.is_unique "
                     "= 1 THEN ', unique' ELSE '' END "
                     "+ CASE WHEN i.is_primary_key = 1 THEN ', primary key' ELSE '' END "
                     "+ CASE WHEN i.is_unique_constraint = 1 THEN ', unique key' ELSE '' END + ' "
                     "located on PRIMARY' AS varchar(210)) AS index_description, "
                     "CAST((SELECT STRING_AGG(COL_NAME(c.object_id, c.column_id) + CASE WHEN "
                     "c.is_descending_key = 1 THEN '(-)' ELSE '' END, ', ') "
                     "WITHIN GROUP (ORDER BY c.key_ordinal) FROM sys.index_columns c WHERE "
                     "c.object_id = i.object_id AND c.index_id = i.index_id) "
                     "AS nvarchar(2078)) AS index_keys FROM sys.indexes i WHERE i.object_id = "
                     "OBJECT_ID(@objname) AND i.index_id > 0 ORDER BY i.name"},
    {"sp_help",
     "IF @objname IS NULL BEGIN "
     "SELECT name AS Name, CAST(SCHEMA_NAME(schema_id) AS sysname) AS Owner, "
     "CAST(REPLACE(LOWER(REPLACE(type_desc, 'SQL_', '')), '_', ' ') AS nvarchar(31)) AS "
     "Object_type "
     "FROM sys.objects ORDER BY Object_type DESC, Name; RETURN END; "
     "SELECT o.name AS Name, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS Owner, "
     "CAST(REPLACE(LOWER(REPLACE(o.type_desc, 'SQL_', '')), '_', ' ') AS nvarchar(31)) AS Type, "
     "o.create_date AS Created_datetime "
     "FROM sys.all_objects o WHERE o.object_id = OBJECT_ID(@objname); "
     "IF NOT EXISTS (SELECT 1 FROM sys.all_columns WHERE object_id = OBJECT_ID(@objname)) RETURN"
     "; "
     "SELECT c.name AS Column_name, CAST(TYPE_NAME(c.user_type_id) AS nvarchar(128)) AS Type, "
     "CAST(CASE c.is_computed WHEN 1 THEN 'yes' ELSE 'no' END AS varchar(35)) AS Computed, "
     "CAST(c.max_length AS int) AS Length, "
     "CAST(CASE WHEN c.system_type_id IN (106, 108, 48, 52, 56, 127, 60, 122, 59, 62) THEN "
     "CAST(c.[precision] AS char(5)) ELSE '     ' END AS char(5)) AS Prec, "
     "CAST(CASE WHEN c.system_type_id IN (106, 108, 48, 52, 56, 127, 60, 122) THEN CAST(c.scale AS "
     "char(5)) ELSE '     ' END AS char(5)) AS Scale, "
     "CAST(CASE c.is_nullable WHEN 1 THEN 'yes' ELSE 'no' END AS varchar(35)) AS Nullable, "
     "CAST(CASE WHEN c.system_type_id NOT IN (165, 167, 173, 175) THEN '(n/a)' WHEN "
     "c.is_ansi_padded = 1 THEN 'no' ELSE 'yes' END AS varchar(35)) AS TrimTrailingBlanks, "
     "CAST(CASE WHEN c.system_type_id NOT IN (165, 167, 173, 175) THEN '(n/a)' WHEN c.is_nullable "
     "= 1 THEN 'yes' ELSE 'no' END AS varchar(35)) AS FixedLenNullInSource, "
     "c.collation_name AS Collation FROM sys.all_columns c WHERE c.object_id = OBJECT_ID(@objname) "
     "ORDER BY c.column_id; "
     "SELECT CAST(ISNULL(c.name, 'No identity column defined.') AS nvarchar(128)) AS [Identity], "
     "CAST(IDENT_SEED(@objname) AS numeric(38,0)) AS Seed, "
     "CAST(IDENT_INCR(@objname) AS numeric(38,0)) AS Increment, CAST(CASE WHEN c.name IS NULL THEN "
     "NULL ELSE 0 END AS int) AS [Not For Replication] "
     "FROM (SELECT 1 AS one) x LEFT JOIN sys.identity_columns c ON c.object_id = "
     "OBJECT_ID(@objname); "
     "SELECT CAST('No rowguidcol column defined.' AS nvarchar(128)) AS [RowGuidCol]; "
     "IF OBJECTPROPERTY(OBJECT_ID(@objname), 'IsUserTable') = 1 BEGIN "
     "SELECT CAST('PRIMARY' AS nvarchar(128)) AS Data_located_on_filegroup; EXEC sp_helpindex "
     "@objname END"},
    {"sp_helptext",
     "SET NOCOUNT ON; DECLARE @text nvarchar(max); "
     "IF @columnname IS NOT NULL SELECT @text = definition FROM sys.computed_columns WHERE "
     "object_id = OBJECT_ID(@objname) AND name = @columnname "
     "ELSE SELECT @text = d.definition FROM (SELECT object_id, definition FROM sys.sql_modules "
     "UNION ALL SELECT object_id, definition "
     "FROM sys.check_constraints UNION ALL SELECT object_id, definition FROM "
     "sys.default_constraints) d WHERE d.object_id = OBJECT_ID(@objname); "
     "DECLARE @status int = CASE WHEN @text IS NULL THEN 2 ELSE 0 END; IF @text IS NULL RETURN; "
     "DECLARE @lines TABLE (n int IDENTITY(1, 1), Text nvarchar(255)); DECLARE @at int, @line "
     "nvarchar(max); "
     "WHILE LEN(@text + 'x') > 1 BEGIN SET @at = CHARINDEX(CHAR(10), @text); "
     "SET @line = CASE WHEN @at = 0 THEN @text ELSE LEFT(@text, @at) END; "
     "IF LEN(@line + 'x') > 256 SET @line = LEFT(@line, 255); INSERT INTO @lines (Text) SELECT "
     "@line; "
     "SET @text = SUBSTRING(@text, LEN(@line + 'x'), 2147483647) END; "
     "SELECT Text FROM @lines ORDER BY n"},
    {"sp_databases", "SELECT name AS DATABASE_NAME, CAST(16384 AS int) AS DATABASE_SIZE, CAST(NULL "
                     "AS varchar(254)) AS REMARKS "
                     "FROM sys.databases WHERE HAS_DBACCESS(name) = 1 ORDER BY 1"},
    {"sp_tablecollations", TABLE_COLLATIONS},
    {"sp_tablecollations_90", TABLE_COLLATIONS},
    {"sp_tablecollations_100", TABLE_COLLATIONS},
    {"sp_who",
     "SELECT s.session_id AS spid, CAST(0 AS smallint) AS ecid, CAST(s.status AS nchar(30)) AS "
     "status, "
     "CAST(s.login_name AS nvarchar(128)) AS loginame, CAST(s.host_name AS nchar(128)) AS "
     "hostname, "
     "CAST(CAST(ISNULL(r.blocking_session_id, 0) AS varchar(5)) AS char(5)) AS blk, "
     "CAST(DB_NAME(s.database_id) AS nvarchar(128)) AS dbname, "
     "CAST(ISNULL(r.command, 'AWAITING COMMAND') AS nchar(26)) AS cmd, CAST(0 AS int) AS "
     "request_id "
     "FROM sys.dm_exec_sessions s LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id "
     "WHERE @loginame IS NULL OR s.login_name = @loginame OR (@loginame = 'active' AND "
     "r.session_id IS NOT NULL) "
     "OR CAST(s.session_id AS varchar(10)) = @loginame ORDER BY 1"},
    {"sp_helpdb", "SELECT name, CAST('16.00 MB' AS nvarchar(13)) AS db_size, CAST('sa' AS sysname) "
                  "AS owner, CAST(database_id AS smallint) AS dbid, "
                  "CAST(CONVERT(varchar(11), create_date, 100) AS nvarchar(11)) AS created, "
                  "CAST('Status=ONLINE, Updateability=READ_WRITE, UserAccess=' + user_access_desc "
                  "+ ', Recovery=' + recovery_model_desc AS nvarchar(600)) AS status, "
                  "compatibility_level FROM sys.databases WHERE @dbname IS NULL OR name = @dbname "
                  "ORDER BY name"},
};

Str proc_text_of(const ProcEntry *entry)
{
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (str_equal_c(str_from_c(texts[i].name), entry->name)) return str_from_c(texts[i].text);
    return STR_EMPTY;
}

/* --- what is checked before the text runs --- */
static bool sp_checked(ProcCall *call)
{
    Str  rest    = str_from_c(call->entry->parameters), part, value;
    bool is_list = proc_text(call, 0, &value) &&
                   str_is_empty(value); /* of databases, schemas, types */

    for (size_t i = 0; str_split_next(&rest, ',', &part); i++)
        if (str_find(part, STR("qualifier"), 0) >= 0 && proc_text(call, i, &value) && !is_list &&
            !str_is_empty(value) &&
            !sim_name_equal(value, sim_database_name(call->session->database))) {
            call->status = 1;
            return sim_error(call->error, 15250,
                             "The database name component of the object qualifier must be the name "
                             "of the current database.");
        }
    return proc_text_run(call);
}

static bool sp_fkeys(ProcCall *call)
{
    Str name;

    if (proc_text(call, 0, &name) || proc_text(call, 3, &name)) return sp_checked(call);
    call->status = 1;
    return sim_error(call->error, 15252, "The primary or foreign key table name must be given.");
}

static bool sp_of_object(ProcCall *call)
{
    Str name;

    if (!proc_text(call, 0, &name) || catalog_has_object(call->session, call->arena, name))
        return proc_text_run(call);
    call->status = 1;
    return sim_error(
        call->error, 15009,
        "The object '%.*s' does not exist in database '%.*s' or is invalid for this operation.",
        STR_ARG(name), STR_ARG(sim_database_name(call->session->database)));
}

static bool sp_helptext(ProcCall *call)
{
    Str name;

    if (!sp_of_object(call)) return false;
    (void)proc_text(call, 0, &name);
    if (call->status != 2) return true;
    call->status = 1;
    return sim_error(call->error, 15197, "There is no text for object '%.*s'.", STR_ARG(name));
}

const ProcEntry text_procs[] = {
    {"sp_tables", sp_checked, "table_name,table_owner,table_qualifier,table_type,fUsePattern bit"},
    {"sp_fkeys", sp_fkeys,
     "pktable_name,pktable_owner,pktable_qualifier,fktable_name,fktable_owner,fktable_qualifier"},
    {"sp_stored_procedures", sp_checked, "sp_name,sp_owner,sp_qualifier,fUsePattern bit"},
    {"sp_table_privileges", sp_checked, TABLE_PARAMETERS ",fUsePattern bit"},
    {"sp_column_privileges", sp_checked, TABLE_PARAMETERS ",column_name"},
    {"sp_helpindex", sp_of_object, "objname"},
    {"sp_help", sp_of_object, "objname"},
    {"sp_helptext", sp_helptext, "objname,columnname"},
    {"sp_databases", proc_text_run, ""},
    {"sp_tablecollations", proc_text_run, "object"},
    {"sp_tablecollations_90", proc_text_run, "object"},
    {"sp_tablecollations_100", proc_text_run, "object"},
    {"sp_who", proc_text_run, "loginame"},
    {"sp_helpdb", proc_text_run, "dbname"},
    {NULL, NULL, NULL},
};
