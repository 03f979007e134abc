-- A database with change data capture, and every query of a stream (sqlserver.md 1.4).
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
EXEC sys.sp_cdc_help_change_data_capture;
--> !22901 16 1 line 1: The database 'shop' is not enabled for Change Data Capture. Ensure that the correct database context is set and retry the operation. To report on the databases enabled for Change Data Capture, query the is_cdc_enabled column in the sys.databases catalog view.
EXEC sys.sp_cdc_enable_db;
-->
EXEC tidesim.capture_mode 'shop', 'manual';
-->
-- Q06 before capture has written anything
SELECT CONVERT(char(22), sys.fn_cdc_get_max_lsn(), 1) AS max_lsn;
--> max_lsn
--> NULL
--> (1)
CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, customer varchar(20) NULL, amount decimal(10,2) NOT NULL DEFAULT 0, placed datetime2(3) NULL);
-->
INSERT INTO orders (id, customer, amount) VALUES (1, 'early', 1);
--> (1)
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
SELECT CONVERT(char(22), sys.fn_cdc_get_min_lsn(N'dbo_orders'), 1) AS min_lsn;
--> min_lsn
--> NULL
--> (1)
BEGIN TRAN; INSERT INTO orders (id, customer) VALUES (2, 'ann'); UPDATE orders SET amount = 5 WHERE id = 2; COMMIT;
--> (1)
--> (1)
UPDATE orders SET id = 20 WHERE id = 2;
--> (1)
DELETE FROM orders WHERE id = 1;
--> (1)
INSERT INTO orders (id, customer, amount) SELECT value, 'bulk', value FROM GENERATE_SERIES(100, 104);
--> (5)
EXEC tidesim.scan_now 'shop';
--> transactions|rows
--> 5|11
--> (1)
-- Q01
SELECT CAST(SERVERPROPERTY('ProductMajorVersion') AS int)      AS major_version,
       CAST(SERVERPROPERTY('EngineEdition') AS int)            AS engine_edition,
       CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) AS product_version,
       d.name, d.collation_name, d.compatibility_level, d.is_cdc_enabled,
       d.snapshot_isolation_state, d.is_read_committed_snapshot_on, d.is_read_only,
       CAST(DATABASEPROPERTYEX(d.name, 'Updateability') AS nvarchar(20)) AS updateability,
       ORIGINAL_LOGIN() AS login_name, USER_NAME() AS user_name, @@SPID AS spid
FROM sys.databases AS d
WHERE d.database_id = DB_ID();
--> major_version|engine_edition|product_version|name|collation_name|compatibility_level|is_cdc_enabled|snapshot_isolation_state|is_read_committed_snapshot_on|is_read_only|updateability|login_name|user_name|spid
--> 16|3|16.0.4135.4|shop|SQL_Latin1_General_CP1_CI_AS|160|1|0|0|0|READ_WRITE|sa|dbo|51
--> (1)
-- Q02
SELECT 1;
--> 
--> 1
--> (1)
-- Q03
SELECT COALESCE(MAX(w.wait_time_ms), 0) AS ms
FROM sys.dm_exec_session_wait_stats AS w
WHERE w.session_id = @@SPID AND w.wait_type = N'ASYNC_NETWORK_IO';
--> ms
--> 0
--> (1)
-- Q04
SELECT CAST(CURRENT_TIMEZONE_ID() AS nvarchar(128)) AS zone;
--> zone
--> UTC
--> (1)
-- Q05
SELECT DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) AS minutes_east;
--> minutes_east
--> 0
--> (1)
-- Q06
SELECT CASE WHEN CONVERT(char(22), sys.fn_cdc_get_max_lsn(), 1) LIKE '0x0000002A%' THEN 'ok' END AS max_lsn;
--> max_lsn
--> ok
--> (1)
-- Q07
EXEC sp_executesql N'SELECT CASE WHEN sys.fn_cdc_get_min_lsn(@P1) > 0x00000000000000000000 THEN 1 ELSE 0 END AS min_lsn', N'@P1 nvarchar(10)', N'dbo_orders';
--> min_lsn
--> 1
--> (1)
SELECT CONVERT(char(22), sys.fn_cdc_get_min_lsn(N'nothing'), 1) AS min_lsn;
--> min_lsn
--> 0x00000000000000000000
--> (1)
-- Q08, Q09
EXEC sp_executesql N'SELECT CONVERT(char(22), sys.fn_cdc_increment_lsn(CONVERT(binary(10), @P1, 1)), 1) AS lsn', N'@P1 nvarchar(22)', N'0x0000002A000001F0FFFF';
--> lsn
--> 0x0000002A000001F10000
--> (1)
EXEC sp_executesql N'SELECT CONVERT(char(22), sys.fn_cdc_decrement_lsn(CONVERT(binary(10), @P1, 1)), 1) AS lsn', N'@P1 nvarchar(22)', N'0x0000002A000001F00000';
--> lsn
--> 0x0000002A000001EFFFFF
--> (1)
SELECT CONVERT(binary(10), N'0x00G0', 1);
--> 
--> !8114 16 5 line 1: Error converting data type nvarchar to binary.
-- Q10
DECLARE @at nvarchar(22) = CONVERT(nvarchar(22), sys.fn_cdc_get_max_lsn(), 1);
SELECT TOP (1) CASE WHEN m.start_lsn = sys.fn_cdc_get_max_lsn() THEN 1 END AS is_max, m.tran_end_time
FROM cdc.lsn_time_mapping AS m
WHERE m.start_lsn <= CONVERT(binary(10), @at, 1)
ORDER BY m.start_lsn DESC;
--stats
--> is_max|tran_end_time
--> 1|2026-03-01 12:00:00.000
--> (1)
--> stats seeks=1 scans=0 examined=1 returned=1
-- Q11
DECLARE @utc  datetime2(0) = CONVERT(datetime2(0), N'2026-03-01T12:00:01', 126);
DECLARE @here datetime2(0) = CONVERT(datetime2(0),
          @utc AT TIME ZONE N'UTC' AT TIME ZONE N'Eastern Standard Time');
DECLARE @next datetime2(0) = DATEADD(hour, -1, CONVERT(datetime2(0),
          DATEADD(hour, 1, @utc) AT TIME ZONE N'UTC' AT TIME ZONE N'Eastern Standard Time'));
SELECT @here, @next, CONVERT(char(22), sys.fn_cdc_map_time_to_lsn(N'largest less than or equal',
          IIF(@next < @here, @next, @here)), 1) AS lsn;
--> ||lsn
--> 2026-03-01 07:00:01|2026-03-01 07:00:01|NULL
--> (1)
SELECT CASE WHEN sys.fn_cdc_map_time_to_lsn(N'largest less than or equal', CONVERT(datetime2(0), N'2026-03-01T12:00:01', 126)) = sys.fn_cdc_get_max_lsn() THEN 1 END AS lsn;
--> lsn
--> 1
--> (1)
-- Q12
SELECT r.first_end, r.last_end, DATEDIFF(day, r.first_end, r.last_end) AS days,
       DATEPART(TZOFFSET, DATEADD(hour, -3, r.first_end) AT TIME ZONE N'Eastern Standard Time') AS off_first,
       DATEPART(TZOFFSET, DATEADD(hour,  3, r.last_end)  AT TIME ZONE N'Eastern Standard Time') AS off_last
FROM (SELECT MIN(m.tran_end_time) AS first_end, MAX(m.tran_end_time) AS last_end
      FROM cdc.lsn_time_mapping AS m
      WHERE m.start_lsn >= CONVERT(binary(10), N'0x00000000000000000001', 1)
        AND m.start_lsn <= CONVERT(binary(10), N'0xFFFFFFFFFFFFFFFFFFFF', 1)) AS r;
--> first_end|last_end|days|off_first|off_last
--> 2026-03-01 12:00:00.000|2026-03-01 12:00:00.000|0|-300|-300
--> (1)
-- Q13
WITH w AS (
  SELECT m.start_lsn, m.tran_end_time AS t,
         LAG(m.tran_end_time) OVER (ORDER BY m.start_lsn) AS prev_t,
         DATEPART(TZOFFSET, m.tran_end_time AT TIME ZONE N'Eastern Standard Time') AS off0,
         DATEPART(TZOFFSET, DATEADD(hour, 3, m.tran_end_time) AT TIME ZONE N'Eastern Standard Time') AS off3
  FROM cdc.lsn_time_mapping AS m
  WHERE m.start_lsn > CONVERT(binary(10), N'0x00000000000000000000', 1) AND m.start_lsn <= CONVERT(binary(10), N'0xFFFFFFFFFFFFFFFFFFFF', 1))
SELECT t, prev_t, off0, off3,
       DATEPART(TZOFFSET, DATEADD(minute, off0 - off3, t) AT TIME ZONE N'Eastern Standard Time') AS off_moved
FROM w ORDER BY start_lsn;
--> t|prev_t|off0|off3|off_moved
--> 2026-03-01 12:00:00.000|NULL|-300|-300|-300
--> 2026-03-01 12:00:00.000|2026-03-01 12:00:00.000|-300|-300|-300
--> 2026-03-01 12:00:00.000|2026-03-01 12:00:00.000|-300|-300|-300
--> 2026-03-01 12:00:00.000|2026-03-01 12:00:00.000|-300|-300|-300
--> 2026-03-01 12:00:00.000|2026-03-01 12:00:00.000|-300|-300|-300
--> (5)
SELECT CONVERT(char(22), COALESCE((SELECT TOP (1) m.start_lsn FROM cdc.lsn_time_mapping AS m
         WHERE m.tran_end_time <= DATEADD(hour, -3, CONVERT(datetime, N'2026-03-01T12:00:00.000', 126))
         ORDER BY m.tran_end_time DESC, m.start_lsn DESC),
       0x00000000000000000000), 1) AS below;
--> below
--> 0x00000000000000000000
--> (1)
-- Q14
SELECT CASE WHEN CONVERT(char(22), MAX(c.start_lsn), 1) > '0x0000002A' THEN 1 END AS end_lsn, COUNT(*) AS commits
FROM (SELECT TOP (3) m.start_lsn FROM cdc.lsn_time_mapping AS m
      WHERE m.start_lsn > CONVERT(binary(10), N'0x00000000000000000000', 1) ORDER BY m.start_lsn) AS c;
--stats
--> end_lsn|commits
--> 1|3
--> (1)
--> stats seeks=1 scans=0 examined=3 returned=1
-- Q15
WITH r AS (SELECT c.[__$start_lsn] AS l, NTILE(2) OVER (ORDER BY c.[__$start_lsn]) AS tile
           FROM cdc.[dbo_orders_CT] AS c
           WHERE c.[__$start_lsn] >= CONVERT(binary(10), N'0x00000000000000000001', 1)
             AND c.[__$start_lsn] <= CONVERT(binary(10), N'0xFFFFFFFFFFFFFFFFFFFF', 1))
SELECT CASE WHEN sys.fn_cdc_increment_lsn(MAX(r.l)) > MAX(r.l) THEN 1 END AS ok,
       COUNT_BIG(*) AS row_count
FROM r GROUP BY r.tile ORDER BY MAX(r.l);
--stats
--> ok|row_count
--> 1|6
--> 1|5
--> (2)
--> stats seeks=1 scans=0 examined=11 returned=2
-- Q16
SELECT c.[__$operation], c.[__$command_id], m.tran_end_time, c.[id], c.[customer], c.[amount], c.placed
FROM cdc.[dbo_orders_CT] AS c
INNER JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]
WHERE c.[__$start_lsn] >= CONVERT(binary(10), N'0x00000000000000000001', 1)
  AND c.[__$start_lsn] <= CONVERT(binary(10), N'0xFFFFFFFFFFFFFFFFFFFF', 1)
ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation];
--stats
--> __$operation|__$command_id|tran_end_time|id|customer|amount|placed
--> 2|1|2026-03-01 12:00:00.000|2|ann|0.00|NULL
--> 3|2|2026-03-01 12:00:00.000|2|ann|0.00|NULL
--> 4|2|2026-03-01 12:00:00.000|2|ann|5.00|NULL
--> 1|1|2026-03-01 12:00:00.000|2|ann|5.00|NULL
--> 2|2|2026-03-01 12:00:00.000|20|ann|5.00|NULL
--> 1|1|2026-03-01 12:00:00.000|1|early|1.00|NULL
--> 2|1|2026-03-01 12:00:00.000|100|bulk|100.00|NULL
--> 2|2|2026-03-01 12:00:00.000|101|bulk|101.00|NULL
--> 2|3|2026-03-01 12:00:00.000|102|bulk|102.00|NULL
--> 2|4|2026-03-01 12:00:00.000|103|bulk|103.00|NULL
--> 2|5|2026-03-01 12:00:00.000|104|bulk|104.00|NULL
--> (11)
--> stats seeks=5 scans=0 examined=15 returned=11
-- the same with other names, other order, other blanks
select x.[__$operation] as op,x.[__$command_id],y.tran_end_time,x.ID,x.CUSTOMER,x.amount,x.placed from cdc.lsn_time_mapping y join cdc.dbo_orders_CT
  x on x.__$start_lsn=y.start_lsn where convert(binary(10),N'0xFFFFFFFFFFFFFFFFFFFF',1)>=x.__$start_lsn and x.__$start_lsn between 0x00000000000000000001
 and 0xFFFFFFFFFFFFFFFFFFFF order by x.__$start_lsn,x.__$command_id,x.__$seqval,x.__$operation
--stats
--> op|__$command_id|tran_end_time|ID|CUSTOMER|amount|placed
--> 2|1|2026-03-01 12:00:00.000|2|ann|0.00|NULL
--> 3|2|2026-03-01 12:00:00.000|2|ann|0.00|NULL
--> 4|2|2026-03-01 12:00:00.000|2|ann|5.00|NULL
--> 1|1|2026-03-01 12:00:00.000|2|ann|5.00|NULL
--> 2|2|2026-03-01 12:00:00.000|20|ann|5.00|NULL
--> 1|1|2026-03-01 12:00:00.000|1|early|1.00|NULL
--> 2|1|2026-03-01 12:00:00.000|100|bulk|100.00|NULL
--> 2|2|2026-03-01 12:00:00.000|101|bulk|101.00|NULL
--> 2|3|2026-03-01 12:00:00.000|102|bulk|102.00|NULL
--> 2|4|2026-03-01 12:00:00.000|103|bulk|103.00|NULL
--> 2|5|2026-03-01 12:00:00.000|104|bulk|104.00|NULL
--> (11)
--> stats seeks=5 scans=0 examined=15 returned=11
-- Q18, Q19, Q20, Q21
DECLARE @h TABLE (source_schema sysname, source_table sysname, capture_instance sysname, object_id int, source_object_id int, start_lsn binary(10), end_lsn binary(10) NULL,
  supports_net_changes bit, has_drop_pending bit NULL, role_name sysname NULL, index_name sysname NULL, filegroup_name sysname NULL, create_date datetime,
  index_column_list nvarchar(max) NULL, captured_column_list nvarchar(max) NULL);
INSERT INTO @h EXEC sys.sp_cdc_help_change_data_capture @source_schema = N'dbo', @source_name = N'orders';
SELECT source_schema, source_table, capture_instance, supports_net_changes, role_name, create_date, index_column_list, captured_column_list FROM @h;
--> (1)
--> source_schema|source_table|capture_instance|supports_net_changes|role_name|create_date|index_column_list|captured_column_list
--> dbo|orders|dbo_orders|1|NULL|2026-03-01 12:00:00.000|[id]|[id], [customer], [amount], [placed]
--> (1)
EXEC sys.sp_cdc_get_captured_columns @capture_instance = N'dbo_orders';
--> source_schema|source_table|capture_instance|column_name|column_id|column_ordinal|data_type|character_maximum_length|numeric_precision|numeric_precision_radix|numeric_scale|datetime_precision
--> dbo|orders|dbo_orders|id|1|1|int|NULL|10|10|0|NULL
--> dbo|orders|dbo_orders|customer|2|2|varchar|20|NULL|NULL|NULL|NULL
--> dbo|orders|dbo_orders|amount|3|3|decimal|NULL|10|10|2|NULL
--> dbo|orders|dbo_orders|placed|4|4|datetime2|NULL|NULL|NULL|NULL|3
--> (4)
EXEC sys.sp_cdc_get_ddl_history @capture_instance = N'dbo_orders';
--> source_schema|source_table|capture_instance|required_column_update|ddl_command|ddl_lsn|ddl_time
--> (0)
-- Q22
SELECT c.name, c.column_id, c.is_computed, c.is_nullable, c.collation_name
FROM sys.columns AS c
WHERE c.object_id = OBJECT_ID(QUOTENAME(N'dbo') + N'.' + QUOTENAME(N'orders'))
ORDER BY c.column_id;
--> name|column_id|is_computed|is_nullable|collation_name
--> id|1|0|0|NULL
--> customer|2|0|1|SQL_Latin1_General_CP1_CI_AS
--> amount|3|0|0|NULL
--> placed|4|0|1|NULL
--> (4)
-- Q23
SELECT HAS_PERMS_BY_NAME(N'cdc.' + QUOTENAME(N'dbo_orders' + N'_CT'), N'OBJECT', N'SELECT') AS can_read,
       CASE WHEN CONVERT(char(22), sys.fn_cdc_get_min_lsn(N'dbo_orders'), 1) > '0x' THEN 1 END AS min_lsn;
--> can_read|min_lsn
--> 1|1
--> (1)
SELECT HAS_PERMS_BY_NAME(N'cdc.nothing_CT', N'OBJECT', N'SELECT') AS can_read, HAS_PERMS_BY_NAME(N'dbo.orders', N'OBJECT', N'NONSENSE') AS bad;
--> can_read|bad
--> 0|NULL
--> (1)
EXEC sys.sp_spaceused @objname = N'[dbo].[orders]';
--> name|rows|reserved|data|index_size|unused
--> orders|6                   |8 KB|8 KB|8 KB|0 KB
--> (1)
EXEC sys.sp_spaceused @objname = N'[dbo].[nothing]';
--> !15009 16 1 line 1: The object '[dbo].[nothing]' does not exist in database 'shop' or is invalid for this operation.
-- the function form
SELECT [__$operation], id FROM cdc.fn_cdc_get_all_changes_dbo_orders(sys.fn_cdc_get_min_lsn('dbo_orders'), sys.fn_cdc_get_max_lsn(), N'all') ORDER BY [__$start_lsn], [__$seqval];
--> __$operation|id
--> 2|2
--> 4|2
--> 1|2
--> 2|20
--> 1|1
--> 2|100
--> 2|101
--> 2|102
--> 2|103
--> 2|104
--> (10)
SELECT [__$operation], id FROM cdc.fn_cdc_get_all_changes_dbo_orders(0x00000000000000000001, sys.fn_cdc_get_max_lsn(), N'all');
--> __$operation|id
--> !313 16 3 line 1: An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_all_changes_ ... .
SELECT s.transaction_isolation_level FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID;
--> transaction_isolation_level
--> 2
--> (1)
