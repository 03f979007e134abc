-- Shapes that other readers of change tables send (sqlserver.md annex B).
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
EXEC tidesim.zone 'Eastern Standard Time'; EXEC tidesim.clock_set '2026-11-01T04:00:00';
-->
CREATE TABLE t (id int PRIMARY KEY, v varchar(10) NULL); EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual'; EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL;
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
-- commits at 00:30, 01:30, then 01:10 again after the clock went back, 02:30
EXEC tidesim.clock_set '2026-11-01T04:30:00'; INSERT INTO t VALUES (1, 'a'); EXEC tidesim.clock_set '2026-11-01T05:30:00'; INSERT INTO t VALUES (2, 'b');
EXEC tidesim.clock_set '2026-11-01T06:10:00'; INSERT INTO t VALUES (3, 'c'); EXEC tidesim.clock_set '2026-11-01T07:30:00'; INSERT INTO t VALUES (4, 'd'); EXEC tidesim.scan_now 'shop';
--> (1)
--> (1)
--> (1)
--> (1)
--> transactions|rows
--> 5|4
--> (1)
SELECT tran_end_time FROM cdc.lsn_time_mapping ORDER BY start_lsn;
--> tran_end_time
--> 2026-11-01 00:00:00.000
--> 2026-11-01 00:30:00.000
--> 2026-11-01 01:30:00.000
--> 2026-11-01 01:10:00.000
--> 2026-11-01 02:30:00.000
--> (5)
-- L06, the UTC time of a commit in a named zone
SELECT TOP (1) c.id, CONVERT(varchar(23),
 CASE WHEN EXISTS (SELECT 1 FROM (
   SELECT d.start_lsn, d.t FROM (SELECT CASE WHEN (DATEPART(TZOFFSET, DATEADD(hour, 3, m.tran_end_time) AT TIME ZONE N'Eastern Standard Time') < DATEPART(TZOFFSET, m.tran_end_time AT TIME ZONE N'Eastern Standard Time')
      AND DATEPART(TZOFFSET, DATEADD(minute, DATEPART(TZOFFSET, m.tran_end_time AT TIME ZONE N'Eastern Standard Time') - DATEPART(TZOFFSET, DATEADD(hour, 3, m.tran_end_time) AT TIME ZONE N'Eastern Standard Time'), m.tran_end_time) AT TIME ZONE N'Eastern Standard Time') = DATEPART(TZOFFSET, DATEADD(hour, 3, m.tran_end_time) AT TIME ZONE N'Eastern Standard Time'))
      THEN COALESCE((SELECT TOP (1) start_lsn FROM cdc.lsn_time_mapping WHERE tran_end_time <= DATEADD(hour, -3, m.tran_end_time) ORDER BY tran_end_time DESC), 0x00000000000000000000) ELSE m.start_lsn END AS lo) b
   CROSS APPLY (SELECT start_lsn, tran_end_time AS t, LAG(tran_end_time) OVER (ORDER BY start_lsn) AS prev FROM cdc.lsn_time_mapping WHERE start_lsn > b.lo AND start_lsn <= m.start_lsn) d
   WHERE d.t < DATEADD(minute, -1, d.prev) AND (DATEPART(TZOFFSET, DATEADD(hour, 3, d.t) AT TIME ZONE N'Eastern Standard Time') < DATEPART(TZOFFSET, d.t AT TIME ZONE N'Eastern Standard Time'))
   ) x WHERE x.start_lsn <= m.start_lsn AND x.t > DATEADD(hour, -3, m.tran_end_time))
 THEN CAST(DATEADD(minute, -DATEPART(TZOFFSET, DATEADD(hour, 3, m.tran_end_time) AT TIME ZONE N'Eastern Standard Time'), m.tran_end_time) AS datetime2(3))
 ELSE CAST((m.tran_end_time AT TIME ZONE N'Eastern Standard Time') AT TIME ZONE 'UTC' AS datetime2(3)) END, 126) AS utc
FROM cdc.lsn_time_mapping m JOIN cdc.dbo_t_CT c ON c.[__$start_lsn] = m.start_lsn WHERE c.id = 3 ORDER BY m.start_lsn DESC;
--> id|utc
--> 3|2026-11-01T06:10:00
--> (1)
-- L07 with VALUES inside a function's argument
SELECT CASE WHEN sys.fn_cdc_map_time_to_lsn(N'largest less than or equal', (SELECT MIN(v) FROM (VALUES (CONVERT(datetime2(0), (CONVERT(datetime2(0), N'2026-11-01T05:45:00', 126) AT TIME ZONE 'UTC') AT TIME ZONE N'Eastern Standard Time')),
  (DATEADD(hour, -1, CONVERT(datetime2(0), (DATEADD(hour, 1, CONVERT(datetime2(0), N'2026-11-01T05:45:00', 126)) AT TIME ZONE 'UTC') AT TIME ZONE N'Eastern Standard Time')))) x(v))) IS NOT NULL THEN 1 END AS lsn;
--> lsn
--> 1
--> (1)
-- L08
SELECT CASE WHEN DATEDIFF(day, MIN(tran_end_time), MAX(tran_end_time)) < 7 AND DATEPART(TZOFFSET, DATEADD(hour, -3, MIN(tran_end_time)) AT TIME ZONE N'Eastern Standard Time') = DATEPART(TZOFFSET, DATEADD(hour, 3, MAX(tran_end_time)) AT TIME ZONE N'Eastern Standard Time')
 THEN DATEPART(TZOFFSET, DATEADD(hour, 3, MAX(tran_end_time)) AT TIME ZONE N'Eastern Standard Time') END FROM cdc.lsn_time_mapping WHERE start_lsn BETWEEN 0x00000000000000000001 AND 0xFFFFFFFFFFFFFFFFFFFF;
--> 
--> NULL
--> (1)
-- L09: HAVING without GROUP BY, then CROSS APPLY
SELECT CONVERT(varchar(23), x.t, 126) AS t FROM (SELECT MIN(tran_end_time) AS t0 FROM cdc.lsn_time_mapping WHERE start_lsn BETWEEN 0x00000000000000000001 AND 0xFFFFFFFFFFFFFFFFFFFF HAVING MIN(tran_end_time) IS NOT NULL) r
 CROSS APPLY (SELECT d.start_lsn, d.t FROM (SELECT COALESCE((SELECT TOP (1) start_lsn FROM cdc.lsn_time_mapping WHERE tran_end_time <= DATEADD(hour, -3, r.t0) ORDER BY tran_end_time DESC), 0x00000000000000000000) AS lo) b
   CROSS APPLY (SELECT start_lsn, tran_end_time AS t, LAG(tran_end_time) OVER (ORDER BY start_lsn) AS prev FROM cdc.lsn_time_mapping WHERE start_lsn > b.lo AND start_lsn <= 0xFFFFFFFFFFFFFFFFFFFF) d WHERE d.t < DATEADD(minute, -1, d.prev)) x;
--> t
--> 2026-11-01T01:10:00
--> (1)
-- L11
SELECT CASE WHEN CONVERT(varchar(22), MAX(__$start_lsn), 1) > '' THEN 1 END AS b, COUNT_BIG(*) AS r FROM (SELECT __$start_lsn, NTILE(2) OVER (ORDER BY __$start_lsn) AS g FROM cdc.[dbo_t_CT] WHERE __$start_lsn BETWEEN CONVERT(binary(10), '0x00000000000000000001', 1) AND CONVERT(binary(10), '0xFFFFFFFFFFFFFFFFFFFF', 1)) x GROUP BY g ORDER BY b;
--> b|r
--> 1|2
--> 1|2
--> (2)
-- L13, L20, L21, L25
SELECT CASE WHEN sys.fn_cdc_get_min_lsn('dbo_t') > 0x00000000000000000000 THEN HAS_PERMS_BY_NAME('cdc.[dbo_t_CT]', 'OBJECT', 'SELECT') END;
--> 
--> 1
--> (1)
SELECT (SELECT MIN(id) FROM dbo.t WHERE id >= 2 AND id < 4) AS lo, (SELECT MAX(id) FROM dbo.t WHERE id >= 2 AND id < 4) AS hi;
--> lo|hi
--> 2|3
--> (1)
SELECT [__$b] AS b, COUNT_BIG(*) AS n, SUM(CAST([__$o] AS decimal(38,0))) AS s FROM (SELECT CAST(id AS bigint) AS [__$o], CASE WHEN CAST(id AS bigint) >= 0 THEN CAST(id AS bigint) / 2 ELSE (CAST(id AS bigint) + 1) / 2 - 1 END AS [__$b] FROM dbo.t WHERE id IS NOT NULL AND id >= 1 AND id < 4) x GROUP BY [__$b];
--> b|n|s
--> 0|1|1
--> 1|2|5
--> (2)
-- Debezium
SELECT name FROM sys.databases WHERE name = N'shop';
--> name
--> shop
--> (1)
SELECT COUNT(*) FROM [shop].cdc.change_tables;
--> 
--> 1
--> (1)
WITH ordered_change_tables AS (SELECT ROW_NUMBER() OVER (PARTITION BY ct.source_object_id, ct.start_lsn ORDER BY ct.create_date DESC) AS ct_sequence, ct.* FROM [shop].cdc.change_tables AS ct WHERE ct.start_lsn <= 0xFFFFFFFFFFFFFFFFFFFF)
SELECT OBJECT_SCHEMA_NAME(source_object_id, DB_ID(N'shop')) AS s, OBJECT_NAME(source_object_id, DB_ID(N'shop')) AS n, capture_instance FROM ordered_change_tables WHERE ct_sequence = 1;
--> s|n|capture_instance
--> dbo|t|dbo_t
--> (1)
SELECT column_name FROM [shop].cdc.captured_columns ORDER BY object_id, column_id;
--> column_name
--> id
--> v
--> (2)
SELECT CASE WHEN MAX(start_lsn) = [shop].sys.fn_cdc_get_max_lsn() THEN 1 END FROM [shop].cdc.lsn_time_mapping WHERE tran_id <> 0x00;
--> 
--> 1
--> (1)
SELECT CASE WHEN MAX(start_lsn) > 0x00 THEN 1 END FROM (SELECT TOP (2 + 1) start_lsn FROM [shop].cdc.lsn_time_mapping WHERE start_lsn >= 0x00000000000000000000 AND tran_id <> 0x00 ORDER BY start_lsn) as s;
--> 
--> 1
--> (1)
SELECT x.[__$operation], x.id, TODATETIMEOFFSET(m.tran_begin_time, DATEPART(TZOFFSET, SYSDATETIMEOFFSET())) AS t FROM [shop].cdc.[dbo_t_CT] AS x LEFT JOIN [shop].cdc.lsn_time_mapping m ON m.start_lsn = x.[__$start_lsn]
 WHERE ((x.[__$start_lsn] = 0x00000000000000000000 AND x.[__$seqval] = 0x00000000000000000000 AND x.[__$operation] > 0) OR (x.[__$start_lsn] = 0x00000000000000000000 AND x.[__$seqval] > 0x00000000000000000000) OR (x.[__$start_lsn] > 0x00000000000000000000)) AND x.[__$start_lsn] <= 0xFFFFFFFFFFFFFFFFFFFF
 ORDER BY x.[__$start_lsn], x.[__$command_id], x.[__$seqval], x.[__$operation];
--stats
--> __$operation|id|t
--> 2|1|2026-11-01 00:30:00.000 -05:00
--> 2|2|2026-11-01 01:30:00.000 -05:00
--> 2|3|2026-11-01 01:10:00.000 -05:00
--> 2|4|2026-11-01 02:30:00.000 -05:00
--> (4)
--> stats seeks=5 scans=0 examined=8 returned=4
SELECT id, TODATETIMEOFFSET([shop].sys.fn_cdc_map_lsn_to_time([__$start_lsn]), DATEPART(TZOFFSET, SYSDATETIMEOFFSET())) AS t FROM [shop].cdc.[fn_cdc_get_all_changes_dbo_t]([shop].sys.fn_cdc_get_min_lsn(N'dbo_t'), [shop].sys.fn_cdc_get_max_lsn(), N'all update old') order by [__$start_lsn] ASC, [__$seqval] ASC, [__$operation] ASC;
--> id|t
--> 1|2026-11-01 00:30:00.000 -05:00
--> 2|2026-11-01 01:30:00.000 -05:00
--> 3|2026-11-01 01:10:00.000 -05:00
--> 4|2026-11-01 02:30:00.000 -05:00
--> (4)
SELECT * FROM cdc.fn_cdc_get_all_changes_nothing(0x00, 0x01, N'all');
--> !208 16 1 line 1: Invalid object name 'cdc.fn_cdc_get_all_changes_nothing'.
SELECT * FROM [shop].cdc.[fn_cdc_get_all_changes_nothing](0x00, 0x01, N'all');
--> !208 16 1 line 1: Invalid object name 'shop.cdc.fn_cdc_get_all_changes_nothing'.
SELECT CASE WHEN s.[status]=4 THEN 1 ELSE 0 END AS isRunning FROM [shop].sys.dm_server_services s WHERE s.[servicename] LIKE N'SQL Server Agent (%';
--> isRunning
--> 1
--> (1)
SELECT @@VERSION;
--> 
--> Microsoft SQL Server 2022 (RTM-CU15) - 16.0.4135.4 (X64) 
--> 	Developer Edition (64-bit) on Linux <X64>
--> 	tidesim, a simulated SQL Server
--> (1)
-- table variables filled by procedures, as JDBC does for columns
DECLARE @mssqljdbc_temp TABLE (TABLE_QUALIFIER SYSNAME, TABLE_OWNER SYSNAME, TABLE_NAME SYSNAME, TABLE_TYPE varchar(32), REMARKS varchar(254)); INSERT INTO @mssqljdbc_temp EXEC sp_tables N't', N'dbo', N'shop', '''TABLE'''; SELECT TABLE_NAME, CASE WHEN REMARKS IS NULL THEN 1 END AS r FROM @mssqljdbc_temp ORDER BY TABLE_NAME;
--> (1)
--> TABLE_NAME|r
--> t|1
--> (1)
SELECT CONVERT(varchar(36), family_guid), CONVERT(varchar(36), recovery_fork_guid) FROM sys.database_recovery_status WHERE database_id = DB_ID();
--> |
--> 00000000-0000-4000-8000-000000000005|00000000-0000-4000-8000-000000000005
--> (1)
SELECT i.name, STRING_AGG(c.name, ',') WITHIN GROUP (ORDER BY ic.key_ordinal) AS cols FROM sys.indexes i JOIN sys.index_columns ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id JOIN sys.columns c ON c.object_id = ic.object_id AND c.column_id = ic.column_id WHERE i.object_id = OBJECT_ID('dbo.t') AND i.is_primary_key = 1 GROUP BY i.name;
--> name|cols
--> PK__t__DF6E1CE3B6218C49|id
--> (1)
-- ticks of a datetime are rounded to the offset's own digits
SELECT CAST('2026-10-25T02:30:00.007' AS datetime) AT TIME ZONE 'UTC' AS a, CAST('2026-10-25T02:30:00.003' AS datetime) AT TIME ZONE N'Central European Standard Time' AT TIME ZONE 'UTC' AS b;
--> a|b
--> 2026-10-25 02:30:00.007 +00:00|2026-10-25 00:30:00.003 +00:00
--> (1)
