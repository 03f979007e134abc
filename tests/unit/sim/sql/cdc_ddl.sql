-- DDL on tables that are captured: what goes into history and rows, what is refused, what stops capture.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual';
-->
CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, code varchar(10) NOT NULL, v varchar(20) NULL, n int NULL, extra int NULL);
-->
CREATE UNIQUE INDEX by_code ON t (code);
-->
CREATE TABLE dbo.u (id int NOT NULL CONSTRAINT PK_t2 PRIMARY KEY);
-->
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @captured_column_list = N'id, code, v, n', @index_name = N'by_code';
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
INSERT INTO t (id, code, v, n) VALUES (1, 'one', 'first', 1);
--> (1)
-- ADD of a column: history, and its updates are no changes
ALTER TABLE t ADD late int NULL;
-->
UPDATE t SET late = 5 WHERE id = 1;
--> (1)
-- NULL and NOT NULL; longer; other type
ALTER TABLE t ALTER COLUMN n int NOT NULL;
-->
ALTER TABLE t ALTER COLUMN v varchar(40) NULL;
-->
ALTER TABLE t ALTER COLUMN n bigint NOT NULL;
-->
-- a column that goes: rows before keep it, rows after have NULL
DELETE FROM t WHERE id = 1;
--> (1)
INSERT INTO t (id, code, v, n) VALUES (2, 'two', 'second', 2);
--> (1)
ALTER TABLE t DROP COLUMN v;
-->
UPDATE t SET n = 22 WHERE id = 2;
--> (1)
-- and comes back as another
ALTER TABLE t ADD v varchar(20) NULL;
-->
UPDATE t SET v = 'back' WHERE id = 2;
--> (1)
DELETE FROM t WHERE id = 2;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 6|6
--> (1)
SELECT __$operation, __$update_mask, id, code, v, n, __$command_id FROM cdc.dbo_t_CT ORDER BY __$start_lsn, __$command_id, __$seqval, __$operation;
--> __$operation|__$update_mask|id|code|v|n|__$command_id
--> 2|0x0F|1|one|first|1|1
--> 1|0x0F|1|one|first|1|1
--> 2|0x0F|2|two|second|2|1
--> 3|0x08|2|two|NULL|2|1
--> 4|0x08|2|two|NULL|22|1
--> 1|0x0F|2|two|NULL|22|1
--> (6)
SELECT required_column_update, ddl_command, ddl_time FROM cdc.ddl_history ORDER BY ddl_lsn;
--> required_column_update|ddl_command|ddl_time
--> 0|ALTER TABLE t ADD late int NULL|2026-03-01 12:00:00.000
--> 0|ALTER TABLE t ALTER COLUMN n int NOT NULL|2026-03-01 12:00:00.000
--> 1|ALTER TABLE t ALTER COLUMN v varchar(40) NULL|2026-03-01 12:00:00.000
--> 1|ALTER TABLE t ALTER COLUMN n bigint NOT NULL|2026-03-01 12:00:00.000
--> 0|ALTER TABLE t DROP COLUMN v|2026-03-01 12:00:00.000
--> 0|ALTER TABLE t ADD v varchar(20) NULL|2026-03-01 12:00:00.000
--> (6)
SELECT column_name, column_id, column_type, column_ordinal FROM cdc.captured_columns ORDER BY column_ordinal;
--> column_name|column_id|column_type|column_ordinal
--> id|1|int|1
--> code|2|varchar|2
--> v|3|varchar|3
--> n|4|bigint|4
--> (4)
EXEC sys.sp_cdc_get_captured_columns 'dbo_t';
--> source_schema|source_table|capture_instance|column_name|column_id|column_ordinal|data_type|character_maximum_length|numeric_precision|numeric_precision_radix|numeric_scale|datetime_precision
--> dbo|t|dbo_t|id|1|1|int|NULL|10|10|0|NULL
--> dbo|t|dbo_t|code|2|2|varchar|10|NULL|NULL|NULL|NULL
--> dbo|t|dbo_t|v|3|3|varchar|40|NULL|NULL|NULL|NULL
--> dbo|t|dbo_t|n|4|4|bigint|NULL|19|10|0|NULL
--> (4)
SELECT COUNT(*) AS ddl, COUNT(sys.fn_cdc_map_lsn_to_time(ddl_lsn)) AS with_time, SUM(CASE WHEN ddl_lsn <= sys.fn_cdc_get_max_lsn() THEN 1 ELSE 0 END) AS below_max FROM cdc.ddl_history;
--> ddl|with_time|below_max
--> 6|0|6
--> (1)
-- a second instance begins without history, and has its own from then on
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'second';
-->
ALTER TABLE t ADD more int NULL;
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|0
--> (1)
EXEC sys.sp_cdc_get_ddl_history 'second';
--> source_schema|source_table|capture_instance|required_column_update|ddl_command|ddl_lsn|ddl_time
--> dbo|t|second|0|ALTER TABLE t ADD more int NULL|0x0000002A000003420002|2026-03-01 12:00:00.000
--> (1)
SELECT COUNT(*) AS of_the_first FROM cdc.ddl_history WHERE object_id = OBJECT_ID('cdc.dbo_t_CT');
--> of_the_first
--> 7
--> (1)
-- indexes leave no history
CREATE INDEX another ON t (extra); DROP INDEX another ON t;
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
SELECT COUNT(*) AS ddl FROM cdc.ddl_history;
--> ddl
--> 8
--> (1)
-- refusals
EXEC sp_rename 'dbo.t.n', 'm', 'COLUMN';
--> !4928 16 1 line 1: Cannot alter column 'n' because it is 'REPLICATED'.
TRUNCATE TABLE t;
--> !4711 16 1 line 1: Cannot truncate table 't' because it is published for replication or enabled for Change Data Capture.
ALTER TABLE t ALTER COLUMN id bigint NOT NULL;
--> !5074 16 1 line 1: The object 'PK_t' is dependent on column 'id'.
--> !4922 16 9 line 1: ALTER TABLE ALTER COLUMN id failed because one or more objects access this column.
ALTER TABLE t DROP COLUMN code;
--> !5074 16 1 line 1: The index 'by_code' is dependent on column 'code'.
--> !4922 16 9 line 1: ALTER TABLE DROP COLUMN code failed because one or more objects access this column.
BEGIN TRY ALTER TABLE t ALTER COLUMN id bigint NOT NULL; END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS number; END CATCH;
--> number
--> 4922
--> (1)
DROP INDEX by_code ON t;
--> !22983 16 1 line 1: The unique index 'by_code' on source table '[dbo].[t]' is used by Change Data Capture. To alter or drop the index, you must first disable Change Data Capture on the table.
ALTER TABLE t DROP CONSTRAINT PK_t;
--> !22979 16 1 line 1: The unique index 'PK_t' on table '[dbo].[t]' is used by Change Data Capture. The constraint using this index cannot be dropped or disabled.
ALTER TABLE t SWITCH TO u;
--> !22843 16 1 line 1: ALTER TABLE SWITCH statement failed because the partitioned source table is enabled for Change Data Capture and does not have @allow_partition_switch set to 1.
ALTER TABLE u SWITCH PARTITION 1 TO dbo.t PARTITION 2;
--> !22842 16 1 line 1: ALTER TABLE SWITCH statement failed because the partitioned destination table is enabled for Change Data Capture and does not have @allow_partition_switch set to 1.
ALTER TABLE u SWITCH TO none;
--> !4902 16 1 line 1: Cannot find the object "none" because it does not exist or you do not have permissions.
ALTER TABLE u SWITCH TO u;
--> !50001 16 1 line 1: tidesim: ALTER TABLE SWITCH is not supported
-- what may be renamed
EXEC sp_rename 'dbo.t.more', 'spare', 'COLUMN';
--> # Caution: Changing any part of an object name could break scripts and stored procedures.
EXEC sp_rename 'dbo.t', 'tt';
--> # Caution: Changing any part of an object name could break scripts and stored procedures.
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
SELECT COUNT(*) AS ddl FROM cdc.ddl_history;
--> ddl
--> 8
--> (1)
SELECT s.source_table, s.capture_instance FROM (SELECT OBJECT_NAME(source_object_id) AS source_table, capture_instance FROM cdc.change_tables) AS s ORDER BY 2;
--> source_table|capture_instance
--> tt|dbo_t
--> tt|second
--> (2)
-- a narrowing that stored changes do not fit stops capture of the database until it is undone
CREATE TABLE dbo.w (id int NOT NULL PRIMARY KEY, s varchar(20) NULL, q bigint NULL);
-->
EXEC sys.sp_cdc_enable_table 'dbo', 'w', NULL;
-->
INSERT INTO w VALUES (1, 'a long text of many', 1);
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 2|1
--> (1)
UPDATE w SET s = 'short' WHERE id = 1;
--> (1)
ALTER TABLE w ALTER COLUMN s varchar(10) NULL;
-->
INSERT INTO tt (id, code, n) VALUES (7, 'seven', 7);
--> (1)
EXEC tidesim.scan_now;
--> !2628 16 1 line 1: String or binary data would be truncated in table 'shop.cdc.dbo_w_CT', column 's'. Truncated value: 'a long tex'.
EXEC tidesim.scan_now;
--> !2628 16 1 line 1: String or binary data would be truncated in table 'shop.cdc.dbo_w_CT', column 's'. Truncated value: 'a long tex'.
SELECT phase_number, error_number, error_severity, error_message, sequence_value FROM sys.dm_cdc_errors ORDER BY entry_time, error_number;
--> phase_number|error_number|error_severity|error_message|sequence_value
--> 7|2628|16|String or binary data would be truncated in table 'shop.cdc.dbo_w_CT', column 's'. Truncated value: 'a long tex'.|00000000:00000000:0000
--> 7|22976|16|Could not alter column 's' of change table 'dbo_w_CT' in response to a data type change in the corresponding column of the source table '[dbo].[w]'. The Change Data Capture meta data for source table '[dbo].[w]' no longer accurately reflects the source table. Refer to previous errors in the current session to identify the cause and correct any associated problems.|00000000:00000000:0000
--> (2)
SELECT COUNT(*) AS captured FROM cdc.second_CT WHERE id = 7;
--> captured
--> 0
--> (1)
SELECT TOP (1) error_count, failed_sessions_count FROM sys.dm_cdc_log_scan_sessions ORDER BY session_id DESC;
--> error_count|failed_sessions_count
--> 1|1
--> (1)
EXEC sys.sp_cdc_disable_table 'dbo', 'w', 'all';
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|2
--> (1)
SELECT COUNT(*) AS captured FROM cdc.second_CT WHERE id = 7;
--> captured
--> 1
--> (1)
-- a number that does not fit
CREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY, q bigint NULL);
-->
EXEC sys.sp_cdc_enable_table 'dbo', 'b', NULL;
-->
INSERT INTO b VALUES (1, 5000000000); UPDATE b SET q = 5;
--> (1)
--> (1)
ALTER TABLE b ALTER COLUMN q int NULL;
-->
EXEC tidesim.scan_now;
--> !8115 16 2 line 1: Arithmetic overflow error converting expression to data type int.
SELECT error_number FROM sys.dm_cdc_errors WHERE error_number IN (8115, 22976) ORDER BY session_id, error_number;
--> error_number
--> 22976
--> 8115
--> 22976
--> (3)
DROP TABLE b;
-->
EXEC sys.sp_cdc_disable_db;
-->
