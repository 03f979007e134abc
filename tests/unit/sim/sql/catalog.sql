-- the catalogue, and the functions that ask it
CREATE DATABASE shop;
USE shop;
CREATE TABLE dbo.items (id int IDENTITY(5, 2) NOT NULL CONSTRAINT pk_items PRIMARY KEY, name nvarchar(20) NOT NULL DEFAULT N'it''s', price decimal(10, 2) NULL CONSTRAINT df_price DEFAULT -1.5, twice AS price * 2, code char(3) NULL CONSTRAINT uq_code UNIQUE);
INSERT INTO dbo.items (code) VALUES ('abc');
SELECT name, type, type_desc, OBJECT_NAME(parent_object_id) AS parent FROM sys.objects WHERE name NOT LIKE 'DF[_][_]%' ORDER BY object_id;
--> # Changed database context to 'shop'.
--> (1)
--> name|type|type_desc|parent
--> items|U |USER_TABLE|NULL
--> df_price|D |DEFAULT_CONSTRAINT|items
--> pk_items|PK|PRIMARY_KEY_CONSTRAINT|items
--> uq_code|UQ|UNIQUE_CONSTRAINT|items
--> (4)
SELECT COUNT(*) AS n FROM sys.default_constraints WHERE is_system_named = 1 AND name LIKE 'DF[_][_]items[_][_]name[_][_]%';
--> n
--> 1
--> (1)
SELECT c.name, d.definition FROM sys.default_constraints d JOIN sys.columns c ON c.default_object_id = d.object_id ORDER BY c.column_id;
--> name|definition
--> name|(N'it''s')
--> price|((-1.5))
--> (2)
SELECT name, seed_value, increment_value, last_value FROM sys.identity_columns;
--> name|seed_value|increment_value|last_value
--> id|5|2|5
--> (1)
SELECT name, definition, is_persisted FROM sys.computed_columns;
--> name|definition|is_persisted
--> twice|([price]*(2))|0
--> (1)
SELECT name, unique_index_id, is_system_named FROM sys.key_constraints ORDER BY name;
--> name|unique_index_id|is_system_named
--> pk_items|1|0
--> uq_code|2|0
--> (2)
SELECT name, stats_id FROM sys.stats ORDER BY stats_id;
--> name|stats_id
--> pk_items|1
--> uq_code|2
--> (2)
SELECT TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, IS_NULLABLE, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS;
--> TABLE_NAME|COLUMN_NAME|COLUMN_DEFAULT|IS_NULLABLE|DATA_TYPE
--> items|id|NULL|NO|int
--> items|name|(N'it''s')|NO|nvarchar
--> items|price|((-1.5))|YES|decimal
--> items|twice|NULL|YES|decimal
--> items|code|NULL|YES|char
--> (5)
SELECT CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE ORDER BY 1;
--> CONSTRAINT_NAME|COLUMN_NAME|ORDINAL_POSITION
--> pk_items|id|1
--> uq_code|code|1
--> (2)
SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS ORDER BY 1;
--> CONSTRAINT_NAME|CONSTRAINT_TYPE
--> pk_items|PRIMARY KEY
--> uq_code|UNIQUE
--> (2)
SELECT SCHEMA_NAME, SCHEMA_OWNER FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME NOT LIKE 'db[_]%';
--> SCHEMA_NAME|SCHEMA_OWNER
--> dbo|dbo
--> guest|guest
--> INFORMATION_SCHEMA|INFORMATION_SCHEMA
--> sys|sys
--> (4)
SELECT CATALOG_NAME FROM master.INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = 'dbo';
--> CATALOG_NAME
--> master
--> (1)
-- enough rows for those who count with them, and no name twice
SELECT CASE WHEN COUNT(*) >= 2000 THEN 'enough' END AS objects FROM sys.all_objects;
--> objects
--> enough
--> (1)
SELECT CASE WHEN COUNT(*) >= 2000 THEN 'enough' END AS columns FROM sys.all_columns;
--> columns
--> enough
--> (1)
SELECT TOP (3) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n FROM sys.all_columns a CROSS JOIN sys.all_columns b;
--> n
--> 1
--> 2
--> 3
--> (3)
SELECT schema_id, name FROM sys.all_objects GROUP BY schema_id, name HAVING COUNT(*) > 1;
--> schema_id|name
--> (0)
SELECT COUNT(*) AS strays FROM sys.all_columns c LEFT JOIN sys.all_objects o ON o.object_id = c.object_id WHERE o.object_id IS NULL;
--> strays
--> 0
--> (1)
SELECT * FROM sys.query_store_plan;
--> !50001 16 1 line 1: tidesim: the view sys.query_store_plan is not supported
-- objects by name and by number
SELECT OBJECT_NAME(OBJECT_ID('dbo.items')) AS t, OBJECT_ID('dbo.items', 'V') AS v, OBJECT_NAME(OBJECT_ID('uq_code', 'UQ')) AS uq, OBJECT_SCHEMA_NAME(OBJECT_ID('sys.tables')) AS s, OBJECT_NAME(OBJECT_ID('sp_columns')) AS p, OBJECT_ID('tables') AS none;
--> t|v|uq|s|p|none
--> items|NULL|uq_code|sys|sp_columns|NULL
--> (1)
SELECT OBJECTPROPERTY(OBJECT_ID('items'), 'TableHasPrimaryKey') AS pk, OBJECTPROPERTY(OBJECT_ID('pk_items'), 'CnstIsClustKey') AS c, OBJECTPROPERTY(OBJECT_ID('sys.tables'), 'IsView') AS v, OBJECTPROPERTYEX(OBJECT_ID('items'), 'BaseType') AS b, OBJECTPROPERTY(OBJECT_ID('items'), 'nonsense') AS n;
--> pk|c|v|b|n
--> 1|1|1|U|NULL
--> (1)
SELECT COLUMNPROPERTY(OBJECT_ID('items'), 'name', 'charmaxlen') AS len, COLUMNPROPERTY(OBJECT_ID('items'), 'price', 'Scale') AS scale, COLUMNPROPERTY(OBJECT_ID('items'), 'twice', 'IsComputed') AS computed, COL_LENGTH('dbo.items', 'name') AS bytes, COL_LENGTH('items', 'x') AS none;
--> len|scale|computed|bytes|none
--> 20|2|1|40|NULL
--> (1)
SELECT INDEXPROPERTY(OBJECT_ID('items'), 'uq_code', 'IsUnique') AS u, INDEX_COL('items', 2, 1) AS col, INDEXKEY_PROPERTY(OBJECT_ID('items'), 2, 1, 'ColumnId') AS id;
--> u|col|id
--> 1|code|5
--> (1)
SELECT TYPE_ID('sysname') AS s, TYPE_NAME(56) AS t, TYPEPROPERTY('datetime2', 'Scale') AS scale, TYPE_ID('nonsense') AS n;
--> s|t|scale|n
--> 256|int|7|NULL
--> (1)
SELECT IDENT_CURRENT('items') AS c, IDENT_SEED('dbo.items') AS s, IDENT_INCR('items') AS i, IDENT_CURRENT('x') AS n;
--> c|s|i|n
--> 5|5|2|NULL
--> (1)
-- principals
SELECT SUSER_ID() AS me, SUSER_NAME(1) AS sa, SUSER_SNAME(SUSER_SID('sa')) AS back, USER_ID('db_owner') AS o, USER_NAME(0) AS p, USER_NAME(77) AS n;
--> me|sa|back|o|p|n
--> 1|sa|sa|16384|public|NULL
--> (1)
SELECT IS_MEMBER('db_owner') AS o, IS_MEMBER('nothing') AS n, IS_SRVROLEMEMBER('sysadmin') AS s, IS_SRVROLEMEMBER('nothing') AS x, HAS_DBACCESS('nothing') AS d;
--> o|n|s|x|d
--> 1|NULL|1|NULL|NULL
--> (1)
SELECT HAS_PERMS_BY_NAME('dbo', 'SCHEMA', 'SELECT') AS s, HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') AS v, HAS_PERMS_BY_NAME('items', 'OBJECT', 'SELECT', 'id', 'COLUMN') AS c, HAS_PERMS_BY_NAME('items', 'NONSENSE', 'SELECT') AS n, HAS_PERMS_BY_NAME('items', 'OBJECT', 'CREATE TABLE') AS w;
--> s|v|c|n|w
--> 1|1|1|NULL|NULL
--> (1)
CREATE LOGIN reader WITH PASSWORD = 'secret';
CREATE USER reader FOR LOGIN reader;
CREATE ROLE readers;
ALTER ROLE readers ADD MEMBER reader;
GRANT SELECT ON dbo.items (id, name) TO readers;
CREATE TABLE dbo.hidden (id int);
SELECT name, principal_id, type FROM sys.database_principals WHERE is_fixed_role = 0 ORDER BY principal_id;
--> name|principal_id|type
--> public|0|R
--> dbo|1|S
--> guest|2|S
--> INFORMATION_SCHEMA|3|S
--> sys|4|S
--> reader|5|S
--> readers|6|R
--> (7)
SELECT USER_NAME(role_principal_id) AS role, USER_NAME(member_principal_id) AS member FROM sys.database_role_members;
--> role|member
--> db_owner|dbo
--> readers|reader
--> (2)
SELECT class_desc, OBJECT_NAME(major_id) AS object, minor_id, USER_NAME(grantee_principal_id) AS grantee, permission_name, state_desc FROM sys.database_permissions;
--> class_desc|object|minor_id|grantee|permission_name|state_desc
--> DATABASE|NULL|0|dbo|CONNECT|GRANT
--> DATABASE|NULL|0|reader|CONNECT|GRANT
--> OBJECT_OR_COLUMN|items|1|readers|SELECT|GRANT
--> OBJECT_OR_COLUMN|items|2|readers|SELECT|GRANT
--> (4)
SELECT name, type_desc FROM sys.server_principals WHERE principal_id < 3 OR principal_id > 256;
--> name|type_desc
--> sa|SQL_LOGIN
--> reader|SQL_LOGIN
--> public|SERVER_ROLE
--> (3)
--@ 2 reader secret
-- a login sees what it has some permission on
SELECT name FROM sys.objects WHERE type = 'U';
--> name
--> items
--> (1)
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('items');
--> name
--> id
--> name
--> (2)
SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES;
--> TABLE_NAME
--> items
--> (1)
SELECT OBJECT_ID('hidden') AS hidden, HAS_PERMS_BY_NAME('items', 'OBJECT', 'SELECT') AS whole, HAS_PERMS_BY_NAME('items', 'OBJECT', 'SELECT', 'id', 'COLUMN') AS part, HAS_PERMS_BY_NAME('items', 'OBJECT', 'ANY') AS one_of_them, IS_MEMBER('readers') AS r;
--> hidden|whole|part|one_of_them|r
--> NULL|0|1|1|1
--> (1)
SELECT * FROM sys.dm_exec_connections;
--> !300 14 1 line 1: VIEW SERVER STATE permission was denied on object 'server', database 'master'.
SELECT * FROM sys.dm_db_partition_stats;
--> !262 14 1 line 1: VIEW DATABASE STATE permission denied in database 'shop'.
--@ 1
SELECT row_count FROM sys.dm_db_partition_stats WHERE object_id = OBJECT_ID('items') AND index_id = 1;
--> row_count
--> 1
--> (1)
BEGIN TRAN; UPDATE dbo.items SET price = 2;
--> (1)
SELECT resource_type, request_mode, request_status FROM sys.dm_tran_locks WHERE resource_type = 'OBJECT' AND resource_associated_entity_id = OBJECT_ID('items');
--> resource_type|request_mode|request_status
--> OBJECT|IX|GRANT
--> (1)
ROLLBACK;
-- the session
EXEC sp_set_session_context N'tenant', 7, 1;
-->
SELECT SESSION_CONTEXT(N'tenant') AS tenant;
--> tenant
--> 7
--> (1)
EXEC sp_set_session_context N'tenant', 8;
--> !15664 16 1 line 1: Cannot set key 'tenant' in the session context. The key has been set as read_only for this session.
SELECT RAND(100) AS r;
--> r
--> 0.715437
--> (1)
SELECT RAND() AS r;
--> r
--> 0.284634
--> (1)
SELECT sys.fn_varbintohexstr(0x0AB0) AS a, master.dbo.fn_varbintohexstr(0xFF) AS b;
--> a|b
--> 0x0ab0|0xff
--> (1)
CREATE TABLE dbo.ids (id uniqueidentifier NOT NULL DEFAULT NEWSEQUENTIALID() PRIMARY KEY, n int);
INSERT INTO dbo.ids (n) VALUES (1), (2), (3);
SELECT n FROM dbo.ids ORDER BY id;
--> (3)
--> n
--> 1
--> 2
--> 3
--> (3)
SELECT NEWSEQUENTIALID();
--> !302 16 1 line 1: The newsequentialid() built-in function can only be used in a DEFAULT expression for a column of type 'uniqueidentifier' in a CREATE TABLE or ALTER TABLE statement. It cannot be combined with other operators to form a complex scalar expression.
SET NOCOUNT ON;
SELECT @@OPTIONS & 512 AS nocount, @@OPTIONS & 16384 AS xact_abort;
--> nocount|xact_abort
--> 512|0
SET NOCOUNT OFF;
SELECT SERVERPROPERTY('ProductVersion') AS v, SERVERPROPERTY('ProductUpdateLevel') AS u, SERVERPROPERTY('InstanceName') AS i, DATABASEPROPERTYEX('shop', 'LCID') AS lcid, COLLATIONPROPERTY('Latin1_General_CS_AS', 'ComparisonStyle') AS style;
--> v|u|i|lcid|style
--> 16.0.4135.4|CU15|NULL|1033|196608
--> (1)
CREATE TABLE #v (id int, v sql_variant);
INSERT #v VALUES (1, CAST(CAST('ab' AS char(5)) AS sql_variant)), (2, NULL), (3, 0x01), (4, CAST(1.5 AS decimal(38,5))), (5, CAST('1:00' AS time(3))), (6, CAST(N'x' AS nvarchar(20)) COLLATE Greek_CI_AS);
SELECT SQL_VARIANT_PROPERTY(v, 'BaseType') AS b, SQL_VARIANT_PROPERTY(v, 'Precision') AS p, SQL_VARIANT_PROPERTY(v, 'Scale') AS s, SQL_VARIANT_PROPERTY(v, 'TotalBytes') AS t, SQL_VARIANT_PROPERTY(v, 'MaxLength') AS m, SQL_VARIANT_PROPERTY(v, 'Collation') AS c FROM #v ORDER BY id;
--> (6)
--> b|p|s|t|m|c
--> char|0|0|13|5|SQL_Latin1_General_CP1_CI_AS
--> NULL|NULL|NULL|NULL|NULL|NULL
--> varbinary|0|0|5|1|NULL
--> decimal|38|5|21|17|NULL
--> time|12|3|7|4|NULL
--> nvarchar|0|0|10|40|Greek_CI_AS
--> (6)
INSERT #v VALUES (7, CAST(N'Ωé' COLLATE Greek_CI_AS AS varchar(5)));
SELECT v, CAST(v AS nvarchar(5)) AS n, CAST(v AS varchar(5)) AS western FROM #v WHERE id = 7;
--> (1)
--> v|n|western
--> Ω?|Ω?|??
--> (1)
SELECT SQL_VARIANT_PROPERTY(1, 'Nothing') AS n, SQL_VARIANT_PROPERTY(GETDATE(), 'precision') AS p;
--> n|p
--> NULL|23
--> (1)
SELECT SQL_VARIANT_PROPERTY(CAST('x' AS varchar(max)), 'BaseType') AS b;
--> b
--> !206 16 2 line 1: Operand type clash: varchar(max) is incompatible with sql_variant
-- constraints, views and procedures
CREATE TABLE dbo.lines (item int NOT NULL CONSTRAINT fk_item REFERENCES dbo.items (id), n int NOT NULL CONSTRAINT ck_n CHECK (n > 0 AND n IN (1, 2)));
CREATE TABLE dbo.plain (a int DEFAULT (getdate()), b AS CASE WHEN a BETWEEN 1 AND 2 THEN 'x' ELSE CAST(a AS varchar(10)) END);
EXEC ('CREATE VIEW dbo.cheap AS SELECT id, price * 2 AS p FROM dbo.items');
EXEC ('CREATE PROCEDURE dbo.touch @id int, @n varchar(20) OUTPUT AS SELECT @id AS id');
SELECT name, OBJECT_NAME(referenced_object_id) AS target, key_index_id, delete_referential_action_desc AS action FROM sys.foreign_keys;
--> name|target|key_index_id|action
--> fk_item|items|1|NO_ACTION
--> (1)
SELECT COL_NAME(parent_object_id, parent_column_id) AS c, COL_NAME(referenced_object_id, referenced_column_id) AS r FROM sys.foreign_key_columns;
--> c|r
--> item|id
--> (1)
SELECT name, definition FROM sys.check_constraints;
--> name|definition
--> ck_n|([n]>(0) AND ([n]=(2) OR [n]=(1)))
--> (1)
SELECT definition FROM sys.computed_columns WHERE object_id = OBJECT_ID('plain');
--> definition
--> (case when [a]>=(1) AND [a]<=(2) then 'x' else CONVERT([varchar](10),[a]) end)
--> (1)
SELECT definition FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('plain');
--> definition
--> (getdate())
--> (1)
SELECT CONSTRAINT_NAME, UNIQUE_CONSTRAINT_NAME, UPDATE_RULE FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS;
--> CONSTRAINT_NAME|UNIQUE_CONSTRAINT_NAME|UPDATE_RULE
--> fk_item|pk_items|NO ACTION
--> (1)
SELECT CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS;
--> CHECK_CLAUSE
--> ([n]>(0) AND ([n]=(2) OR [n]=(1)))
--> (1)
SELECT CONSTRAINT_NAME, COLUMN_NAME FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE WHERE TABLE_NAME = 'lines';
--> CONSTRAINT_NAME|COLUMN_NAME
--> fk_item|item
--> (1)
SELECT TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES ORDER BY 1;
--> TABLE_NAME|TABLE_TYPE
--> cheap|VIEW
--> hidden|BASE TABLE
--> ids|BASE TABLE
--> items|BASE TABLE
--> lines|BASE TABLE
--> plain|BASE TABLE
--> (6)
SELECT name, TYPE_NAME(user_type_id) AS type FROM sys.columns WHERE object_id = OBJECT_ID('cheap');
--> name|type
--> id|int
--> p|decimal
--> (2)
SELECT ROUTINE_NAME, ROUTINE_TYPE FROM INFORMATION_SCHEMA.ROUTINES;
--> ROUTINE_NAME|ROUTINE_TYPE
--> touch|PROCEDURE
--> (1)
SELECT name, parameter_id, TYPE_NAME(user_type_id) AS type, is_output FROM sys.parameters;
--> name|parameter_id|type|is_output
--> @id|1|int|0
--> @n|2|varchar|1
--> (2)
SELECT name FROM sys.procedures UNION ALL SELECT name FROM sys.views;
--> name
--> touch
--> cheap
--> (2)
SELECT definition FROM sys.sql_modules WHERE object_id = OBJECT_ID('touch', 'P');
--> definition
--> CREATE PROCEDURE dbo.touch @id int, @n varchar(20) OUTPUT AS SELECT @id AS id
--> (1)
--@ 2
SELECT name FROM sys.views;
--> name
--> (0)
SELECT OBJECT_ID('touch') AS p, HAS_PERMS_BY_NAME('touch', 'OBJECT', 'EXECUTE') AS e;
--> p|e
--> NULL|0
--> (1)
--@ 1
GRANT EXECUTE ON dbo.touch TO readers;
-->
--@ 2
SELECT name FROM sys.procedures;
--> name
--> touch
--> (1)
SELECT HAS_PERMS_BY_NAME('touch', 'OBJECT', 'EXECUTE') AS e;
--> e
--> 1
--> (1)
-- PARSE reads numbers and dates
SELECT PARSE('2024-02-03' AS date) AS d, PARSE(N'1.5' AS decimal(5, 2) USING 'en-US') AS n, TRY_PARSE('x' AS int) AS x, PARSE('2024-02-03 04:05:06' AS datetime2(0)) AS t;
--> d|n|x|t
--> 2024-02-03|1.50|NULL|2024-02-03 04:05:06
--> (1)
SELECT PARSE('x' AS int) AS x;
--> x
--> !9819 16 1 line 1: Error converting string value 'x' into data type int using culture 'en-US'.
SELECT PARSE('1,5' AS decimal(5, 2) USING 'de-DE') AS x;
--> !50001 16 1 line 1: tidesim: PARSE with a culture other than 'en-US' is not supported
SELECT PARSE('a' AS varchar(5)) AS x;
--> !10761 16 1 line 1: Invalid data type varchar in function PARSE.
