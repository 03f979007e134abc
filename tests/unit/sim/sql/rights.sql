-- Least privilege (sqlserver.md 1.12): what a login needs, and what it meets without.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, customer varchar(20) NULL, secret int NULL);
CREATE TABLE dbo.other (id int NOT NULL PRIMARY KEY);
INSERT INTO orders VALUES (1, 'ann', 7);
--> (1)
EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual';
EXEC sys.sp_cdc_enable_table N'dbo', N'orders', @role_name = N'gate', @captured_column_list = N'id, customer';
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
CREATE LOGIN reader WITH PASSWORD = 'pw'; CREATE USER reader FOR LOGIN reader;
CREATE LOGIN nobody WITH PASSWORD = 'pw'; CREATE USER nobody FOR LOGIN nobody;
INSERT INTO orders VALUES (2, 'bob', 8);
EXEC tidesim.scan_now 'shop';
--> (1)
--> transactions|rows
--> 2|1
--> (1)
--@ 2 reader pw
SELECT ORIGINAL_LOGIN() AS login, USER_NAME() AS usr, IS_MEMBER('db_owner') AS owner, DB_NAME() AS db;
--> login|usr|owner|db
--> reader|reader|0|shop
--> (1)
SELECT id FROM orders;
--> !229 14 5 line 1: The SELECT permission was denied on the object 'orders', database 'shop', schema 'dbo'.
SELECT COUNT(*) FROM orders;
--> !229 14 5 line 1: The SELECT permission was denied on the object 'orders', database 'shop', schema 'dbo'.
SELECT OBJECT_ID('dbo.orders') AS id, (SELECT COUNT(*) FROM sys.tables) AS n, (SELECT COUNT(*) FROM sys.columns) AS c;
--> id|n|c
--> NULL|1|5
--> (1)
EXEC sys.sp_cdc_help_change_data_capture;
--> source_schema|source_table|capture_instance|object_id|source_object_id|start_lsn|end_lsn|supports_net_changes|has_drop_pending|role_name|index_name|filegroup_name|create_date|index_column_list|captured_column_list
--> (0)
SELECT CONVERT(char(22), sys.fn_cdc_get_min_lsn('dbo_orders'), 1) AS min_lsn;
--> min_lsn
--> 0x00000000000000000000
--> (1)
EXEC sys.sp_cdc_get_captured_columns 'dbo_orders';
--> !22981 16 1 line 1: Object does not exist or access is denied.
SELECT COUNT(*) AS n FROM cdc.lsn_time_mapping;
--> n
--> 2
--> (1)
SELECT COUNT(*) FROM cdc.dbo_orders_CT;
--> !229 14 5 line 1: The SELECT permission was denied on the object 'dbo_orders_CT', database 'shop', schema 'cdc'.
SELECT * FROM cdc.change_tables;
--> !229 14 5 line 1: The SELECT permission was denied on the object 'change_tables', database 'shop', schema 'cdc'.
SELECT HAS_PERMS_BY_NAME(N'cdc.[dbo_orders_CT]', N'OBJECT', N'SELECT') AS can_read;
--> can_read
--> 0
--> (1)
INSERT INTO orders VALUES (3, 'x', 1);
--> !229 14 5 line 1: The INSERT permission was denied on the object 'orders', database 'shop', schema 'dbo'.
--> # The statement has been terminated.
EXEC sys.sp_cdc_enable_table 'dbo', 'other', NULL;
--> !22904 16 1 line 1: Caller is not authorized to initiate the requested action. DBO privileges are required.
CREATE TABLE mine (id int);
--> !262 14 1 line 1: CREATE TABLE permission denied in database 'shop'.
--@ 1
GRANT SELECT ON dbo.orders (id, customer) TO reader;
-->
--@ 2
SELECT id, customer FROM orders;
--> id|customer
--> 1|ann
--> 2|bob
--> (2)
SELECT COUNT(*) AS n FROM orders;
--> n
--> 2
--> (1)
SELECT secret FROM orders;
--> !230 14 1 line 1: The SELECT permission was denied on the column 'secret' of the object 'orders', database 'shop', schema 'dbo'.
SELECT * FROM orders WHERE id = 1;
--> !230 14 1 line 1: The SELECT permission was denied on the column 'secret' of the object 'orders', database 'shop', schema 'dbo'.
SELECT id FROM orders WHERE secret = 7;
--> !230 14 1 line 1: The SELECT permission was denied on the column 'secret' of the object 'orders', database 'shop', schema 'dbo'.
SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('orders') ORDER BY column_id;
--> name
--> id
--> customer
--> (2)
-- the gating role is missing still
EXEC sys.sp_cdc_get_captured_columns 'dbo_orders';
--> !22981 16 1 line 1: Object does not exist or access is denied.
--@ 1
ALTER ROLE gate ADD MEMBER reader;
-->
--@ 2
SELECT CASE WHEN sys.fn_cdc_get_min_lsn('dbo_orders') > 0x00000000000000000000 THEN 'ok' END AS min_lsn;
--> min_lsn
--> ok
--> (1)
DECLARE @n TABLE (a sysname, b sysname, c sysname, d sysname, e int, f int, g sysname, h int NULL, i int NULL, j int NULL, k int NULL, l int NULL);
INSERT INTO @n EXEC sys.sp_cdc_get_captured_columns 'dbo_orders'; SELECT d, f FROM @n ORDER BY f;
--> (2)
--> d|f
--> id|1
--> customer|2
--> (2)
SELECT [__$operation], id FROM cdc.fn_cdc_get_all_changes_dbo_orders(sys.fn_cdc_get_min_lsn('dbo_orders'), sys.fn_cdc_get_max_lsn(), N'all');
--> __$operation|id
--> 2|2
--> (1)
SELECT id FROM cdc.dbo_orders_CT;
--> !229 14 5 line 1: The SELECT permission was denied on the object 'dbo_orders_CT', database 'shop', schema 'cdc'.
--@ 1
GRANT SELECT ON cdc.dbo_orders_CT TO reader;
-->
--@ 2
SELECT id FROM cdc.dbo_orders_CT;
--> id
--> 2
--> (1)
SELECT HAS_PERMS_BY_NAME(N'cdc.[dbo_orders_CT]', N'OBJECT', N'SELECT') AS can_read;
--> can_read
--> 1
--> (1)
EXEC sp_spaceused 'dbo.orders';
--> name|rows|reserved|data|index_size|unused
--> orders|2                   |8 KB|8 KB|8 KB|0 KB
--> (1)
KILL 51;
--> !6102 14 1 line 1: User does not have permission to use the KILL statement.
EXEC tidesim.idle_now 'shop';
--> !229 14 5 line 1: The EXECUTE permission was denied on the object 'idle_now', database 'master', schema 'tidesim'.
SELECT session_id, login_name FROM sys.dm_exec_sessions;
--> session_id|login_name
--> 52|reader
--> (1)
USE master; SELECT DB_NAME() AS db;
--> # Changed database context to 'master'.
--> db
--> master
--> (1)
--@ 3 nobody pw
USE shop; SELECT id FROM orders;
--> # Changed database context to 'shop'.
--> !229 14 5 line 1: The SELECT permission was denied on the object 'orders', database 'shop', schema 'dbo'.
SELECT name FROM [shop].sys.tables;
--> name
--> lsn_time_mapping
--> (1)
--@ 1
DENY SELECT ON dbo.orders TO reader;
-->
--@ 2
SELECT id FROM [shop].dbo.orders;
--> !229 14 5 line 1: The SELECT permission was denied on the object 'orders', database 'shop', schema 'dbo'.
--@ 1
REVOKE SELECT ON dbo.orders TO reader; EXEC sp_addrolemember 'db_datareader', 'reader';
-->
--@ 2
SELECT secret FROM shop.dbo.orders ORDER BY id;
--> secret
--> 7
--> 8
--> (2)
