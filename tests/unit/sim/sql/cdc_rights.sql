-- Who sees what of change data capture (sqlserver.md 2.15, 1.12), and messages in the login's language.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NULL, secret int NULL);
-->
EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual';
-->
EXEC sys.sp_cdc_enable_table 'dbo', 't', N'gate', @capture_instance = N'gated', @captured_column_list = N'id, a';
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'whole';
-->
INSERT INTO t VALUES (1, 1, 1);
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 3|2
--> (1)
CREATE LOGIN reader WITH PASSWORD = 'pw', DEFAULT_LANGUAGE = Portuguese, CHECK_POLICY = OFF; CREATE USER reader FOR LOGIN reader;
-->
CREATE LOGIN owner WITH PASSWORD = 'pw'; CREATE USER owner FOR LOGIN owner; ALTER ROLE db_owner ADD MEMBER owner;
-->
-- nothing granted: the mapping and the functions of sys, no instance
--@ 2 reader pw
SELECT @@LANGUAGE AS language;
--> language
--> Português
--> (1)
SELECT COUNT(*) AS entries FROM cdc.lsn_time_mapping;
--> entries
--> 3
--> (1)
SELECT CASE WHEN sys.fn_cdc_get_max_lsn() = (SELECT MAX(start_lsn) FROM cdc.lsn_time_mapping) THEN 'max' END AS max_lsn, CASE WHEN sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_get_max_lsn()) IS NOT NULL THEN 'time' END AS time;
--> max_lsn|time
--> max|time
--> (1)
EXEC sys.sp_cdc_help_change_data_capture;
--> source_schema|source_table|capture_instance|object_id|source_object_id|start_lsn|end_lsn|supports_net_changes|has_drop_pending|role_name|index_name|filegroup_name|create_date|index_column_list|captured_column_list
--> (0)
SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('gated'), 1) AS gated, CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('whole'), 1) AS whole;
--> gated|whole
--> 0x00000000000000000000|0x00000000000000000000
--> (1)
EXEC sys.sp_cdc_get_captured_columns 'whole';
--> !22981 16 1 line 1: Object does not exist or access is denied.
EXEC sys.sp_cdc_get_ddl_history 'whole';
--> !22981 16 1 line 1: Object does not exist or access is denied.
SELECT * FROM cdc.whole_CT;
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 'whole_CT', banco de dados 'shop', esquema 'cdc'.
SELECT * FROM cdc.change_tables;
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 'change_tables', banco de dados 'shop', esquema 'cdc'.
SELECT * FROM cdc.captured_columns;
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 'captured_columns', banco de dados 'shop', esquema 'cdc'.
SELECT * FROM cdc.index_columns;
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 'index_columns', banco de dados 'shop', esquema 'cdc'.
SELECT * FROM cdc.ddl_history;
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 'ddl_history', banco de dados 'shop', esquema 'cdc'.
SELECT id FROM dbo.t;
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 't', banco de dados 'shop', esquema 'dbo'.
SELECT * FROM dbo.nothing;
--> !208 16 1 line 1: Nome de objeto 'dbo.nothing' inválido.
EXEC sys.sp_cdc_disable_table 'dbo', 't', 'all';
--> !22904 16 1 line 1: Caller is not authorized to initiate the requested action. DBO privileges are required.
EXEC sys.sp_cdc_enable_db;
--> !22902 16 1 line 1: Caller is not authorized to initiate the requested action. Sysadmin privileges are required.
EXEC sys.sp_cdc_cleanup_change_table 'whole', NULL;
--> !22904 16 1 line 1: Caller is not authorized to initiate the requested action. DBO privileges are required.
-- some columns: enough for the instance that captures no more, once it is in the gating role
--@ 1
GRANT SELECT ON dbo.t (id, a) TO reader;
-->
--@ 2
EXEC sys.sp_cdc_help_change_data_capture N'dbo', N't';
--> source_schema|source_table|capture_instance|object_id|source_object_id|start_lsn|end_lsn|supports_net_changes|has_drop_pending|role_name|index_name|filegroup_name|create_date|index_column_list|captured_column_list
--> (0)
SELECT secret FROM dbo.t;
--> !230 14 1 line 1: The SELECT permission was denied on the column 'secret' of the object 't', database 'shop', schema 'dbo'.
--@ 1
ALTER ROLE gate ADD MEMBER reader;
-->
--@ 2
SELECT CASE WHEN sys.fn_cdc_get_min_lsn('gated') > 0x00 THEN 'seen' END AS gated, CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('whole'), 1) AS whole;
--> gated|whole
--> seen|0x00000000000000000000
--> (1)
SELECT COUNT(*) AS n FROM cdc.fn_cdc_get_all_changes_gated(sys.fn_cdc_get_min_lsn('gated'), sys.fn_cdc_get_max_lsn(), N'all');
--> n
--> 1
--> (1)
SELECT * FROM cdc.gated_CT;
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 'gated_CT', banco de dados 'shop', esquema 'cdc'.
SELECT HAS_PERMS_BY_NAME('cdc.gated_CT', 'OBJECT', 'SELECT') AS may, HAS_PERMS_BY_NAME('cdc.nothing_CT', 'OBJECT', 'SELECT') AS none, HAS_PERMS_BY_NAME('cdc.gated_CT', 'OBJECT', 'JUMP') AS odd;
--> may|none|odd
--> 0|0|NULL
--> (1)
-- the whole table, but not the change table
--@ 1
REVOKE SELECT ON dbo.t (id, a) FROM reader; GRANT SELECT ON dbo.t TO reader; ALTER ROLE gate DROP MEMBER reader;
-->
--@ 2
SELECT CONVERT(varchar(22), sys.fn_cdc_get_min_lsn('gated'), 1) AS gated, CASE WHEN sys.fn_cdc_get_min_lsn('whole') > 0x00 THEN 'seen' END AS whole;
--> gated|whole
--> 0x00000000000000000000|seen
--> (1)
SELECT * FROM cdc.whole_CT;
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 'whole_CT', banco de dados 'shop', esquema 'cdc'.
--@ 1
GRANT SELECT ON cdc.whole_CT TO reader;
-->
--@ 2
SELECT id, a, secret FROM cdc.whole_CT;
--> id|a|secret
--> 1|1|1
--> (1)
SELECT HAS_PERMS_BY_NAME('cdc.whole_CT', 'OBJECT', 'SELECT') AS may;
--> may
--> 1
--> (1)
-- an owner sees everything
--@ 3 owner pw
USE shop;
--> # Changed database context to 'shop'.
SELECT capture_instance FROM cdc.change_tables ORDER BY 1;
--> capture_instance
--> gated
--> whole
--> (2)
SELECT COUNT(*) AS n FROM cdc.gated_CT;
--> n
--> 1
--> (1)
EXEC sys.sp_cdc_enable_db;
--> !22902 16 1 line 1: Caller is not authorized to initiate the requested action. Sysadmin privileges are required.
-- other messages in Portuguese: 1222, 1205; English again
--@ 1
BEGIN TRAN; UPDATE t SET a = 2;
--> (1)
--@ 2
SET LOCK_TIMEOUT 0; SELECT a FROM dbo.t;
--> a
--> !1222 16 45 line 1: Tempo limite da solicitação de bloqueio excedido.
--@ 1
ROLLBACK;
-->
EXEC tidesim.fault @action = 'deadlock', @pattern = '%FROM dbo.t WITH%', @nth = 1;
-->
--@ 2
SELECT a FROM dbo.t WITH (HOLDLOCK);
--> !1205 13 51 line 1: A transação (ID do processo 52) entrou em deadlock em recursos lock com outro processo e foi escolhida como a vítima do deadlock. Execute a transação novamente.
BEGIN TRY EXEC (N'SELECT * FROM dbo.nothing'); END TRY BEGIN CATCH SELECT ERROR_MESSAGE() AS message; END CATCH;
--> message
--> Nome de objeto 'dbo.nothing' inválido.
--> (1)
SET LANGUAGE us_english; SELECT @@LANGUAGE AS language;
--> # Changed language setting to us_english.
--> language
--> us_english
--> (1)
SELECT * FROM dbo.nothing;
--> !208 16 1 line 1: Invalid object name 'dbo.nothing'.
SET LANGUAGE Brazilian; SELECT * FROM cdc.change_tables;
--> # Changed language setting to Português (Brasil).
--> !229 14 5 line 1: A permissão SELECT foi negada no objeto 'change_tables', banco de dados 'shop', esquema 'cdc'.
