/* information.c - INFORMATION_SCHEMA, as queries of the views of schema sys. Its COLUMNS is in catalog/object.c, next to sys.columns. */
#include "sim/catalog/catalog_internal.h"

#define NAME " nvarchar(128)"
#define CONSTRAINT_NAME \
    "CONSTRAINT_CATALOG" NAME ", CONSTRAINT_SCHEMA" NAME ", CONSTRAINT_NAME" NAME
#define TABLE_NAME "TABLE_CATALOG" NAME ", TABLE_SCHEMA" NAME ", TABLE_NAME" NAME
#define KEYS                                                                            \
    "FROM sys.key_constraints k JOIN sys.tables t ON t.object_id = k.parent_object_id " \
    "JOIN sys.index_columns i ON i.object_id = k.parent_object_id AND i.index_id = "    \
    "k.unique_index_id "                                                                \
    "JOIN sys.columns c ON c.object_id = i.object_id AND c.column_id = i.column_id"
#define FOREIGN_KEYS                                                                 \
    "FROM sys.foreign_keys k JOIN sys.tables t ON t.object_id = k.parent_object_id " \
    "JOIN sys.foreign_key_columns i ON i.constraint_object_id = k.object_id "        \
    "JOIN sys.columns c ON c.object_id = i.parent_object_id AND c.column_id = i.parent_column_id"
#define KEY_NAMES                                                                               \
    "SELECT DB_NAME(), SCHEMA_NAME(k.schema_id), k.name, DB_NAME(), SCHEMA_NAME(t.schema_id), " \
    "t.name, "                                                                                  \
    "c.name"

const ViewText catalog_information_views[] = {
    {"INFORMATION_SCHEMA", "TABLES", TABLE_NAME ", TABLE_TYPE varchar(10)",
     "SELECT DB_NAME(), SCHEMA_NAME(schema_id), name, "
     "CASE type WHEN 'U' THEN 'BASE TABLE' ELSE 'VIEW' END FROM sys.objects WHERE type IN ('U', "
     "'V')"},
    {"INFORMATION_SCHEMA", "SCHEMATA",
     "CATALOG_NAME" NAME ", SCHEMA_NAME" NAME ", SCHEMA_OWNER" NAME
     ", DEFAULT_CHARACTER_SET_CATALOG varchar(6), DEFAULT_CHARACTER_SET_SCHEMA varchar(3), "
     "DEFAULT_CHARACTER_SET_NAME sysname",
     "SELECT DB_NAME(), s.name, p.name, NULL, NULL, 'iso_1' FROM sys.schemas s "
     "LEFT JOIN sys.database_principals p ON p.principal_id = s.principal_id"},
    {"INFORMATION_SCHEMA", "TABLE_CONSTRAINTS",
     CONSTRAINT_NAME ", " TABLE_NAME ", CONSTRAINT_TYPE varchar(11), IS_DEFERRABLE varchar(2), "
                     "INITIALLY_DEFERRED varchar(2)",
     "SELECT DB_NAME(), SCHEMA_NAME(k.schema_id), k.name, DB_NAME(), SCHEMA_NAME(t.schema_id), "
     "t.name, "
     "CASE k.type WHEN 'PK' THEN 'PRIMARY KEY' WHEN 'UQ' THEN 'UNIQUE' WHEN 'F' THEN 'FOREIGN KEY' "
     "ELSE 'CHECK' END, 'NO', 'NO' FROM sys.objects k JOIN sys.tables t ON t.object_id = "
     "k.parent_object_id "
     "WHERE k.type IN ('PK', 'UQ', 'F', 'C')"},
    {"INFORMATION_SCHEMA", "KEY_COLUMN_USAGE",
     CONSTRAINT_NAME ", " TABLE_NAME ", COLUMN_NAME" NAME ", ORDINAL_POSITION int",
     KEY_NAMES ", i.key_ordinal " KEYS " UNION ALL " KEY_NAMES
               ", i.constraint_column_id " FOREIGN_KEYS},
    {"INFORMATION_SCHEMA", "CONSTRAINT_COLUMN_USAGE",
     TABLE_NAME ", COLUMN_NAME" NAME ", " CONSTRAINT_NAME,
     "SELECT DB_NAME(), SCHEMA_NAME(t.schema_id), t.name, c.name, DB_NAME(), "
     "SCHEMA_NAME(k.schema_id), "
     "k.name " KEYS
     " UNION ALL SELECT DB_NAME(), SCHEMA_NAME(t.schema_id), t.name, c.name, DB_NAME(), "
     "SCHEMA_NAME(k.schema_id), k.name " FOREIGN_KEYS},
    {"INFORMATION_SCHEMA", "CONSTRAINT_TABLE_USAGE", TABLE_NAME ", " CONSTRAINT_NAME,
     "SELECT DB_NAME(), SCHEMA_NAME(t.schema_id), t.name, DB_NAME(), SCHEMA_NAME(k.schema_id), "
     "k.name "
     "FROM sys.objects k JOIN sys.tables t ON t.object_id = k.parent_object_id "
     "WHERE k.type IN ('PK', 'UQ', 'F', 'C')"},
    {"INFORMATION_SCHEMA", "REFERENTIAL_CONSTRAINTS",
     CONSTRAINT_NAME ", UNIQUE_CONSTRAINT_CATALOG" NAME ", UNIQUE_CONSTRAINT_SCHEMA" NAME
                     ", UNIQUE_CONSTRAINT_NAME" NAME ", MATCH_OPTION varchar(7), "
                     "UPDATE_RULE varchar(11), DELETE_RULE varchar(11)",
     "SELECT DB_NAME(), SCHEMA_NAME(k.schema_id), k.name, DB_NAME(), SCHEMA_NAME(t.schema_id), "
     "i.name, "
     "'SIMPLE', REPLACE(k.update_referential_action_desc, '_', ' '), "
     "REPLACE(k.delete_referential_action_desc, '_', ' ') FROM sys.foreign_keys k "
     "JOIN sys.tables t ON t.object_id = k.referenced_object_id "
     "JOIN sys.indexes i ON i.object_id = k.referenced_object_id AND i.index_id = k.key_index_id"},
    {"INFORMATION_SCHEMA", "CHECK_CONSTRAINTS", CONSTRAINT_NAME ", CHECK_CLAUSE nvarchar(4000)",
     "SELECT DB_NAME(), SCHEMA_NAME(schema_id), name, definition FROM sys.check_constraints"},
    {"INFORMATION_SCHEMA", "VIEWS",
     TABLE_NAME
     ", VIEW_DEFINITION nvarchar(4000), CHECK_OPTION varchar(7), IS_UPDATABLE varchar(2)",
     "SELECT DB_NAME(), SCHEMA_NAME(v.schema_id), v.name, m.definition, 'NONE', 'NO' FROM "
     "sys.views v "
     "LEFT JOIN sys.sql_modules m ON m.object_id = v.object_id"},
    {"INFORMATION_SCHEMA", "ROUTINES",
     "SPECIFIC_CATALOG" NAME ", SPECIFIC_SCHEMA" NAME ", SPECIFIC_NAME" NAME
     ", ROUTINE_CATALOG" NAME ", ROUTINE_SCHEMA" NAME ", ROUTINE_NAME" NAME
     ", ROUTINE_TYPE nvarchar(20), MODULE_CATALOG" NAME ", MODULE_SCHEMA" NAME ", MODULE_NAME" NAME
     ", UDT_CATALOG" NAME ", UDT_SCHEMA" NAME ", UDT_NAME" NAME ", DATA_TYPE" NAME
     ", CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH int, "
     "COLLATION_CATALOG" NAME ", COLLATION_SCHEMA" NAME ", COLLATION_NAME" NAME
     ", CHARACTER_SET_CATALOG" NAME ", CHARACTER_SET_SCHEMA" NAME ", CHARACTER_SET_NAME" NAME
     ", NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE smallint, "
     "DATETIME_PRECISION smallint, INTERVAL_TYPE nvarchar(30), INTERVAL_PRECISION smallint, "
     "TYPE_UDT_CATALOG" NAME ", TYPE_UDT_SCHEMA" NAME ", TYPE_UDT_NAME" NAME ", SCOPE_CATALOG" NAME
     ", SCOPE_SCHEMA" NAME ", SCOPE_NAME" NAME ", MAXIMUM_CARDINALITY bigint, DTD_IDENTIFIER" NAME
     ", ROUTINE_BODY nvarchar(30), ROUTINE_DEFINITION nvarchar(4000), EXTERNAL_NAME" NAME
     ", EXTERNAL_LANGUAGE nvarchar(30), PARAMETER_STYLE nvarchar(30), IS_DETERMINISTIC "
     "nvarchar(10), "
     "SQL_DATA_ACCESS nvarchar(30), IS_NULL_CALL nvarchar(10), SQL_PATH" NAME
     ", SCHEMA_LEVEL_ROUTINE nvarchar(10), MAX_DYNAMIC_RESULT_SETS smallint, "
     "IS_USER_DEFINED_CAST nvarchar(10), IS_IMPLICITLY_INVOCABLE nvarchar(10), CREATED datetime, "
     "LAST_ALTERED datetime",
     "SELECT DB_NAME(), SCHEMA_NAME(o.schema_id), o.name, DB_NAME(), SCHEMA_NAME(o.schema_id), "
     "o.name, "
     "CASE o.type WHEN 'P' THEN 'PROCEDURE' ELSE 'FUNCTION' END, NULL, NULL, NULL, NULL, NULL, "
     "NULL, "
     "CASE o.type WHEN 'P' THEN NULL WHEN 'FN' THEN NULL ELSE 'TABLE' END, NULL, NULL, NULL, NULL, "
     "NULL, "
     "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
     "NULL, NULL, "
     "'SQL', m.definition, NULL, NULL, NULL, 'NO', CASE o.type WHEN 'P' THEN 'MODIFIES' ELSE "
     "'READS' END, "
     "CASE o.type WHEN 'FN' THEN 'NO' END, NULL, 'YES', CASE o.type WHEN 'P' THEN -1 ELSE 0 END, "
     "'NO', 'NO', "
     "o.create_date, o.modify_date FROM sys.objects o LEFT JOIN sys.sql_modules m ON m.object_id = "
     "o.object_id "
     "WHERE o.type IN ('P', 'FN', 'IF', 'TF')"},
    {"INFORMATION_SCHEMA", "PARAMETERS",
     "SPECIFIC_CATALOG" NAME ", SPECIFIC_SCHEMA" NAME ", SPECIFIC_NAME" NAME
     ", ORDINAL_POSITION int, "
     "PARAMETER_MODE nvarchar(10), IS_RESULT nvarchar(10), AS_LOCATOR nvarchar(10), "
     "PARAMETER_NAME" NAME ", DATA_TYPE" NAME
     ", CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH int, "
     "NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE int, "
     "DATETIME_PRECISION smallint, USER_DEFINED_TYPE_CATALOG" NAME ", USER_DEFINED_TYPE_SCHEMA" NAME
     ", USER_DEFINED_TYPE_NAME" NAME,
     "SELECT DB_NAME(), SCHEMA_NAME(o.schema_id), o.name, p.parameter_id, "
     "CASE WHEN p.parameter_id = 0 THEN 'OUT' WHEN p.is_output = 1 THEN 'INOUT' ELSE 'IN' END, "
     "CASE WHEN p.parameter_id = 0 THEN 'YES' ELSE 'NO' END, 'NO', p.name, "
     "TYPE_NAME(p.user_type_id), "
     "NULL, NULL, p.[precision], NULL, p.scale, NULL, NULL, NULL, NULL "
     "FROM sys.parameters p JOIN sys.objects o ON o.object_id = p.object_id"},
    {"INFORMATION_SCHEMA", "TABLE_PRIVILEGES",
     "GRANTOR" NAME ", GRANTEE" NAME ", " TABLE_NAME
     ", PRIVILEGE_TYPE varchar(10), IS_GRANTABLE varchar(3)",
     "SELECT 'dbo', USER_NAME(p.grantee_principal_id), DB_NAME(), SCHEMA_NAME(o.schema_id), "
     "o.name, "
     "p.permission_name, 'NO' FROM sys.database_permissions p JOIN sys.objects o ON o.object_id = "
     "p.major_id "
     "WHERE p.class = 1 AND p.minor_id = 0 AND p.state = 'G' AND o.type IN ('U', 'V') "
     "AND p.permission_name IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'REFERENCES')"},
    {"INFORMATION_SCHEMA", "COLUMN_PRIVILEGES",
     "GRANTOR" NAME ", GRANTEE" NAME ", " TABLE_NAME ", COLUMN_NAME" NAME
     ", PRIVILEGE_TYPE varchar(10), IS_GRANTABLE varchar(3)",
     "SELECT 'dbo', USER_NAME(p.grantee_principal_id), DB_NAME(), SCHEMA_NAME(o.schema_id), "
     "o.name, c.name, "
     "p.permission_name, 'NO' FROM sys.database_permissions p JOIN sys.objects o ON o.object_id = "
     "p.major_id "
     "JOIN sys.columns c ON c.object_id = o.object_id AND (p.minor_id = 0 OR p.minor_id = "
     "c.column_id) "
     "WHERE p.class = 1 AND p.state = 'G' AND o.type IN ('U', 'V') "
     "AND p.permission_name IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')"},
    {"INFORMATION_SCHEMA", "DOMAINS",
     "DOMAIN_CATALOG" NAME ", DOMAIN_SCHEMA" NAME ", DOMAIN_NAME sysname, DATA_TYPE sysname, "
     "CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH int, COLLATION_CATALOG varchar(6), "
     "COLLATION_SCHEMA varchar(3), COLLATION_NAME" NAME ", CHARACTER_SET_CATALOG varchar(6), "
     "CHARACTER_SET_SCHEMA varchar(3), CHARACTER_SET_NAME sysname, NUMERIC_PRECISION tinyint, "
     "NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE tinyint, DATETIME_PRECISION smallint, "
     "DOMAIN_DEFAULT nvarchar(4000)",
     NULL},
    {"INFORMATION_SCHEMA", "SEQUENCES",
     "SEQUENCE_CATALOG" NAME ", SEQUENCE_SCHEMA" NAME ", SEQUENCE_NAME sysname, DATA_TYPE sysname, "
     "NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE int, "
     "START_VALUE sql_variant, MINIMUM_VALUE sql_variant, MAXIMUM_VALUE sql_variant, "
     "INCREMENT sql_variant, CYCLE_OPTION bit, DECLARED_DATA_TYPE sysname, "
     "DECLARED_NUMERIC_PRECISION tinyint, DECLARED_NUMERIC_SCALE int",
     NULL},
    {.name = NULL},
};
