-- the catalogue, and the functions that ask it
CREATE DATABASE shop;
USE shop;
CREATE TABLE dbo.items (id int IDENTITY(5, 2) NOT NULL CONSTRAINT pk_items PRIMARY KEY, name nvarchar(20) NOT NULL DEFAULT N'it''s', price decimal(10, 2) NULL CONSTRAINT df_price DEFAULT -1.5, twice AS price * 2, code char(3) NULL CONSTRAINT uq_code UNIQUE);
INSERT INTO dbo.items (code) VALUES ('abc');
SELECT name, type, type_desc, OBJECT_NAME(parent_object_id) AS parent FROM sys.objects WHERE name NOT LIKE 'DF[_][_]%' ORDER BY object_id;
SELECT COUNT(*) AS n FROM sys.default_constraints WHERE is_system_named = 1 AND name LIKE 'DF[_][_]items[_][_]name[_][_]%';
SELECT c.name, d.definition FROM sys.default_constraints d JOIN sys.columns c ON c.default_object_id = d.object_id ORDER BY c.column_id;
SELECT name, seed_value, increment_value, last_value FROM sys.identity_columns;
SELECT name, definition, is_persisted FROM sys.computed_columns;
SELECT name, unique_index_id, is_system_named FROM sys.key_constraints ORDER BY name;
SELECT name, stats_id FROM sys.stats ORDER BY stats_id;
SELECT TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS;
SELECT CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE ORDER BY 1;
SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS ORDER BY 1;
SELECT SCHEMA_NAME, SCHEMA_OWNER FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME NOT LIKE 'db[_]%';
SELECT CATALOG_NAME FROM master.INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = 'dbo';
-- enough rows for those who count with them, and no name twice
SELECT CASE WHEN COUNT(*) >= 2000 THEN 'enough' END AS objects FROM sys.all_objects;
SELECT CASE WHEN COUNT(*) >= 2000 THEN 'enough' END AS columns FROM sys.all_columns;
SELECT TOP (3) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n FROM sys.all_columns a CROSS JOIN sys.all_columns b;
SELECT schema_id, name FROM sys.all_objects GROUP BY schema_id, name HAVING COUNT(*) > 1;
SELECT COUNT(*) AS strays FROM sys.all_columns c WHERE NOT EXISTS (SELECT 1 FROM sys.all_objects o WHERE o.object_id = c.object_id);
SELECT * FROM sys.query_store_plan;
-- objects by name and by number
SELECT OBJECT_NAME(OBJECT_ID('dbo.items')) AS t, OBJECT_ID('dbo.items', 'V') AS v, OBJECT_NAME(OBJECT_ID('uq_code', 'UQ')) AS uq, OBJECT_SCHEMA_NAME(OBJECT_ID('sys.tables')) AS s, OBJECT_NAME(OBJECT_ID('sp_columns')) AS p, OBJECT_ID('tables') AS none;
SELECT OBJECTPROPERTY(OBJECT_ID('items'), 'TableHasPrimaryKey') AS pk, OBJECTPROPERTY(OBJECT_ID('pk_items'), 'CnstIsClustKey') AS c, OBJECTPROPERTY(OBJECT_ID('sys.tables'), 'IsView') AS v, OBJECTPROPERTYEX(OBJECT_ID('items'), 'BaseType') AS b, OBJECTPROPERTY(OBJECT_ID('items'), 'nonsense') AS n;
SELECT COLUMNPROPERTY(OBJECT_ID('items'), 'name', 'charmaxlen') AS len, COLUMNPROPERTY(OBJECT_ID('items'), 'price', 'Scale') AS scale, COLUMNPROPERTY(OBJECT_ID('items'), 'twice', 'IsComputed') AS computed, COL_LENGTH('dbo.items', 'name') AS bytes, COL_LENGTH('items', 'x') AS none;
SELECT INDEXPROPERTY(OBJECT_ID('items'), 'uq_code', 'IsUnique') AS u, INDEX_COL('items', 2, 1) AS col, INDEXKEY_PROPERTY(OBJECT_ID('items'), 2, 1, 'ColumnId') AS id;
SELECT TYPE_ID('sysname') AS s, TYPE_NAME(56) AS t, TYPEPROPERTY('datetime2', 'Scale') AS scale, TYPE_ID('nonsense') AS n;
SELECT IDENT_CURRENT('items') AS c, IDENT_SEED('dbo.items') AS s, IDENT_INCR('items') AS i, IDENT_CURRENT('x') AS n;
-- principals
SELECT SUSER_ID() AS me, SUSER_NAME(1) AS sa, SUSER_SNAME(SUSER_SID('sa')) AS back, USER_ID('db_owner') AS o, USER_NAME(0) AS p, USER_NAME(77) AS n;
SELECT IS_MEMBER('db_owner') AS o, IS_MEMBER('nothing') AS n, IS_SRVROLEMEMBER('sysadmin') AS s, IS_SRVROLEMEMBER('nothing') AS x, HAS_DBACCESS('nothing') AS d;
SELECT HAS_PERMS_BY_NAME('dbo', 'SCHEMA', 'SELECT') AS s, HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') AS v, HAS_PERMS_BY_NAME('items', 'OBJECT', 'SELECT', 'id', 'COLUMN') AS c, HAS_PERMS_BY_NAME('items', 'NONSENSE', 'SELECT') AS n, HAS_PERMS_BY_NAME('items', 'OBJECT', 'CREATE TABLE') AS w;
CREATE LOGIN reader WITH PASSWORD = 'secret';
CREATE USER reader FOR LOGIN reader;
CREATE ROLE readers;
ALTER ROLE readers ADD MEMBER reader;
GRANT SELECT ON dbo.items (id, name) TO readers;
CREATE TABLE dbo.hidden (id int);
SELECT name, principal_id, type FROM sys.database_principals WHERE is_fixed_role = 0 ORDER BY principal_id;
SELECT USER_NAME(role_principal_id) AS role, USER_NAME(member_principal_id) AS member FROM sys.database_role_members;
SELECT class_desc, OBJECT_NAME(major_id) AS object, minor_id, USER_NAME(grantee_principal_id) AS grantee, permission_name, state_desc FROM sys.database_permissions;
SELECT name, type_desc FROM sys.server_principals WHERE principal_id < 3 OR principal_id > 256;
--@ 2 reader secret
-- a login sees what it has some permission on
SELECT name FROM sys.objects WHERE type = 'U';
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('items');
SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES;
SELECT OBJECT_ID('hidden') AS hidden, HAS_PERMS_BY_NAME('items', 'OBJECT', 'SELECT') AS whole, HAS_PERMS_BY_NAME('items', 'OBJECT', 'SELECT', 'id', 'COLUMN') AS part, HAS_PERMS_BY_NAME('items', 'OBJECT', 'ANY') AS some, IS_MEMBER('readers') AS r;
SELECT * FROM sys.dm_exec_connections;
SELECT * FROM sys.dm_db_partition_stats;
--@ 1
SELECT row_count FROM sys.dm_db_partition_stats WHERE object_id = OBJECT_ID('items') AND index_id = 1;
BEGIN TRAN; UPDATE dbo.items SET price = 2;
SELECT resource_type, request_mode, request_status FROM sys.dm_tran_locks WHERE resource_type = 'OBJECT' AND resource_associated_entity_id = OBJECT_ID('items');
ROLLBACK;
-- the session
EXEC sp_set_session_context N'tenant', 7, 1;
SELECT SESSION_CONTEXT(N'tenant') AS tenant;
EXEC sp_set_session_context N'tenant', 8;
SELECT RAND(100) AS r;
SELECT RAND() AS r;
SELECT sys.fn_varbintohexstr(0x0AB0) AS a, master.dbo.fn_varbintohexstr(0xFF) AS b;
CREATE TABLE dbo.ids (id uniqueidentifier NOT NULL DEFAULT NEWSEQUENTIALID() PRIMARY KEY, n int);
INSERT INTO dbo.ids (n) VALUES (1), (2), (3);
SELECT n FROM dbo.ids ORDER BY id;
SELECT NEWSEQUENTIALID();
SET NOCOUNT ON;
SELECT @@OPTIONS & 512 AS nocount, @@OPTIONS & 16384 AS xact_abort;
SET NOCOUNT OFF;
SELECT SERVERPROPERTY('ProductVersion') AS v, SERVERPROPERTY('ProductUpdateLevel') AS u, SERVERPROPERTY('InstanceName') AS i, DATABASEPROPERTYEX('shop', 'LCID') AS lcid, COLLATIONPROPERTY('Latin1_General_CS_AS', 'ComparisonStyle') AS style;
