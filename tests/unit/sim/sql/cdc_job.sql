-- The jobs of change data capture, their parameters and refusals, and what scans leave behind.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int NULL);
-->
EXEC sys.sp_cdc_help_jobs;
--> !22901 16 1 line 1: The database 'shop' is not enabled for Change Data Capture. Ensure that the correct database context is set and retry the operation. To report on the databases enabled for Change Data Capture, query the is_cdc_enabled column in the sys.databases catalog view.
EXEC sys.sp_cdc_enable_db;
-->
EXEC sys.sp_cdc_help_jobs;
--> job_id|job_type|job_name|maxtrans|maxscans|continuous|pollinginterval|retention|threshold
--> (0)
EXEC sys.sp_cdc_start_job;
--> !22997 16 1 line 1: The Change Data Capture 'capture' job does not exist in the system table 'msdb.dbo.cdc_jobs'. Use the stored procedure 'sys.sp_cdc_add_job' to add the Change Data Capture job.
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL;
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
EXEC sys.sp_cdc_help_jobs;
--> job_id|job_type|job_name|maxtrans|maxscans|continuous|pollinginterval|retention|threshold
--> 00000000-0000-4000-9000-000000000050|capture|cdc.shop_capture|500|10|1|5|0|0
--> 00000000-0000-4000-9000-000000000051|cleanup|cdc.shop_cleanup|0|0|0|0|4320|5000
--> (2)
-- one row of empty scans, then one for each scan that finds something
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|0
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
INSERT INTO t VALUES (1, 1), (2, 2);
--> (2)
UPDATE t SET v = 3 WHERE id = 1;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 2|4
--> (1)
SELECT session_id, end_time, duration, scan_phase, error_count, start_lsn, tran_count, log_record_count, schema_change_count, command_count, latency, empty_scan_count, failed_sessions_count FROM sys.dm_cdc_log_scan_sessions ORDER BY session_id;
--> session_id|end_time|duration|scan_phase|error_count|start_lsn|tran_count|log_record_count|schema_change_count|command_count|latency|empty_scan_count|failed_sessions_count
--> 0|2026-03-01 12:00:00.000|0|Aggregate|0|0000002A:000000BF:0001|3|4|0|4|0|0|0
--> 1|2026-03-01 12:00:00.000|0|Done|0|0000002A:00000076:0001|1|1|0|0|0|0|0
--> 2|2026-03-01 12:00:00.000|0|Done|0|00000000:00000000:0000|0|0|0|0|0|2|0
--> 3|2026-03-01 12:00:00.000|0|Done|0|0000002A:000000BF:0001|2|3|0|4|0|0|0
--> (4)
SELECT CASE WHEN s.last_commit_cdc_lsn = SUBSTRING(h.t, 3, 8) + ':' + SUBSTRING(h.t, 11, 8) + ':' + SUBSTRING(h.t, 19, 4) THEN 'max' END AS last_lsn, s.last_commit_cdc_time, CASE WHEN s.first_begin_cdc_lsn < s.last_commit_cdc_lsn THEN 'before' END AS first_lsn
FROM sys.dm_cdc_log_scan_sessions AS s CROSS JOIN (SELECT CONVERT(varchar(22), sys.fn_cdc_get_max_lsn(), 1) AS t) AS h
WHERE s.session_id = (SELECT MAX(b.session_id) FROM sys.dm_cdc_log_scan_sessions AS b);
--> last_lsn|last_commit_cdc_time|first_lsn
--> max|2026-03-01 12:00:00.000|before
--> (1)
-- parameters of sp_cdc_scan: cycles of at most maxtrans, at most maxscans of them
INSERT INTO t VALUES (3, 3);
--> (1)
INSERT INTO t VALUES (4, 3);
--> (1)
INSERT INTO t VALUES (5, 3);
--> (1)
INSERT INTO t VALUES (6, 3);
--> (1)
EXEC sys.sp_cdc_scan @maxtrans = 1, @maxscans = 3;
-->
SELECT COUNT(*) AS n FROM cdc.dbo_t_CT WHERE id > 2;
--> n
--> 3
--> (1)
EXEC sys.sp_cdc_scan 500;
-->
SELECT COUNT(*) AS n FROM cdc.dbo_t_CT WHERE id > 2;
--> n
--> 4
--> (1)
EXEC sys.sp_cdc_scan @maxtrans = 0;
--> !22991 16 1 line 1: The value specified for the parameter @maxtrans must be greater than 0.
EXEC sys.sp_cdc_scan @maxscans = 0;
--> !22970 16 1 line 1: The value for parameter @maxscans specified for the Change Data Capture job must be greater than 0.
EXEC sys.sp_cdc_scan @continuous = 2;
--> !22998 16 1 line 1: The value specified for the parameter @continuous must be 0 or 1.
EXEC sys.sp_cdc_scan @pollinginterval = -1;
--> !22990 16 1 line 1: The value specified for the parameter @pollinginterval cannot exceed 24 hours or be less than 0. Specify a polling interval (in seconds) that is less than or equal to 24 hours (86,400 seconds).
EXEC sys.sp_cdc_scan @pollinginterval = 86401;
--> !22990 16 1 line 1: The value specified for the parameter @pollinginterval cannot exceed 24 hours or be less than 0. Specify a polling interval (in seconds) that is less than or equal to 24 hours (86,400 seconds).
EXEC sys.sp_cdc_scan @pollinginterval = 5;
--> !22999 16 1 line 1: The value specified for the parameter @pollinginterval must be null or 0 when the stored procedure 'sys.sp_cdc_scan' is not being run in continuous mode.
-- changing jobs
EXEC sys.sp_cdc_change_job @job_type = N'capture', @maxtrans = 100, @maxscans = 2, @pollinginterval = 60;
-->
EXEC sys.sp_cdc_change_job N'cleanup', @retention = 10, @threshold = 7;
-->
EXEC sys.sp_cdc_help_jobs;
--> job_id|job_type|job_name|maxtrans|maxscans|continuous|pollinginterval|retention|threshold
--> 00000000-0000-4000-9000-000000000050|capture|cdc.shop_capture|100|2|1|60|0|0
--> 00000000-0000-4000-9000-000000000051|cleanup|cdc.shop_cleanup|0|0|0|0|10|7
--> (2)
EXEC sys.sp_cdc_change_job @continuous = 0;
-->
EXEC sys.sp_cdc_help_jobs;
--> job_id|job_type|job_name|maxtrans|maxscans|continuous|pollinginterval|retention|threshold
--> 00000000-0000-4000-9000-000000000050|capture|cdc.shop_capture|100|2|0|0|0|0
--> 00000000-0000-4000-9000-000000000051|cleanup|cdc.shop_cleanup|0|0|0|0|10|7
--> (2)
EXEC sys.sp_cdc_change_job @continuous = 1, @pollinginterval = 1;
-->
EXEC sys.sp_cdc_change_job N'other', @maxtrans = 1;
--> !22992 16 1 line 1: The specified @job_type, other, is not supported. The value specified for the parameter @job_type must be N'capture' to indicate a capture job, or N'cleanup' to indicate a cleanup job.
EXEC sys.sp_cdc_change_job N'capture', @maxtrans = -1;
--> !22991 16 1 line 1: The value specified for the parameter @maxtrans must be greater than 0.
EXEC sys.sp_cdc_change_job N'capture', @maxscans = 0;
--> !22970 16 1 line 1: The value for parameter @maxscans specified for the Change Data Capture job must be greater than 0.
EXEC sys.sp_cdc_change_job N'capture', @pollinginterval = 86401;
--> !22990 16 1 line 1: The value specified for the parameter @pollinginterval cannot exceed 24 hours or be less than 0. Specify a polling interval (in seconds) that is less than or equal to 24 hours (86,400 seconds).
EXEC sys.sp_cdc_change_job N'capture', @retention = 5;
--> !22995 16 1 line 1: A value for the parameter @retention cannot be specified when the job type is 'capture'. Specify NULL for the parameter, or omit the parameter from the statement.
EXEC sys.sp_cdc_change_job N'cleanup', @maxtrans = 5;
--> !22996 16 1 line 1: When adding or modifying the CDC cleanup job, @pollinginterval, @maxtrans, @maxscans, and @continuous may not be assigned non-null values.
EXEC sys.sp_cdc_change_job N'cleanup', @retention = 0;
--> !22994 16 1 line 1: The retention value specified for the Change Data Capture cleanup process must be greater than 0 and less than or equal to 52594800. When creating or modifying the cleanup job, specify a retention value (in minutes) that is within that range. If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, reset the retention value associated with the job to a non-negative value less than 52594800 by using the sp_cdc_change_job stored procedure.
EXEC sys.sp_cdc_change_job N'cleanup', @retention = 52594801;
--> !22994 16 1 line 1: The retention value specified for the Change Data Capture cleanup process must be greater than 0 and less than or equal to 52594800. When creating or modifying the cleanup job, specify a retention value (in minutes) that is within that range. If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, reset the retention value associated with the job to a non-negative value less than 52594800 by using the sp_cdc_change_job stored procedure.
EXEC sys.sp_cdc_change_job N'cleanup', @threshold = 0;
--> !22850 16 1 line 1: The threshold value specified for the Change Data Capture cleanup process must be greater than 0. When creating or modifying the cleanup job, specify a positive threshold value. If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, reset the threshold value associated with the job to a non-negative value by using the sp_cdc_change_job stored procedure.
-- starting and stopping: capture by hand is a job that does not run
EXEC sys.sp_cdc_stop_job;
--> !22022 16 1 line 1: SQLServerAgent Error: Request to stop job cdc.shop_capture (from User sa) refused because the job is not currently running.
EXEC sys.sp_cdc_start_job;
--> # Job 'cdc.shop_capture' started successfully.
EXEC sys.sp_cdc_start_job N'capture';
--> !22022 16 1 line 1: SQLServerAgent Error: Request to run job cdc.shop_capture (from User sa) refused because the job is already running.
EXEC sys.sp_cdc_scan;
--> !22903 16 1 line 1: Another connection with session ID 40 is already running 'sp_replcmds' for Change Data Capture in the current database.
EXEC sys.sp_cdc_stop_job N'capture';
--> # Job 'cdc.shop_capture' stopped successfully.
EXEC sys.sp_cdc_scan;
-->
EXEC sys.sp_cdc_stop_job N'cleanup';
--> !22022 16 1 line 1: SQLServerAgent Error: Request to stop job cdc.shop_cleanup (from User sa) refused because the job is not currently running.
EXEC sys.sp_cdc_start_job N'nothing';
--> !22992 16 1 line 1: The specified @job_type, nothing, is not supported. The value specified for the parameter @job_type must be N'capture' to indicate a capture job, or N'cleanup' to indicate a cleanup job.
-- dropping and adding
EXEC sys.sp_cdc_drop_job N'capture';
-->
EXEC sys.sp_cdc_drop_job N'capture';
--> !22997 16 1 line 1: The Change Data Capture 'capture' job does not exist in the system table 'msdb.dbo.cdc_jobs'. Use the stored procedure 'sys.sp_cdc_add_job' to add the Change Data Capture job.
EXEC sys.sp_cdc_start_job;
--> !22997 16 1 line 1: The Change Data Capture 'capture' job does not exist in the system table 'msdb.dbo.cdc_jobs'. Use the stored procedure 'sys.sp_cdc_add_job' to add the Change Data Capture job.
EXEC sys.sp_cdc_change_job @maxtrans = 1;
--> !22997 16 1 line 1: The Change Data Capture 'capture' job does not exist in the system table 'msdb.dbo.cdc_jobs'. Use the stored procedure 'sys.sp_cdc_add_job' to add the Change Data Capture job.
EXEC sys.sp_cdc_help_jobs;
--> job_id|job_type|job_name|maxtrans|maxscans|continuous|pollinginterval|retention|threshold
--> 00000000-0000-4000-9000-000000000051|cleanup|cdc.shop_cleanup|0|0|0|0|10|7
--> (1)
EXEC sys.sp_cdc_add_job @job_type = N'capture', @start_job = 0, @maxtrans = 11, @pollinginterval = 30;
-->
EXEC sys.sp_cdc_add_job @job_type = N'capture';
--> !14261 16 1 line 1: The specified @name ('cdc.shop_capture') already exists.
EXEC sys.sp_cdc_add_job @job_type = N'cleanup';
--> !14261 16 1 line 1: The specified @name ('cdc.shop_cleanup') already exists.
EXEC sys.sp_cdc_drop_job N'cleanup';
-->
EXEC sys.sp_cdc_add_job @job_type = N'cleanup', @retention = 0;
--> !22994 16 1 line 1: The retention value specified for the Change Data Capture cleanup process must be greater than 0 and less than or equal to 52594800. When creating or modifying the cleanup job, specify a retention value (in minutes) that is within that range. If this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored procedure, reset the retention value associated with the job to a non-negative value less than 52594800 by using the sp_cdc_change_job stored procedure.
EXEC sys.sp_cdc_add_job @job_type = N'cleanup', @start_job = 0, @retention = 20;
-->
EXEC sys.sp_cdc_help_jobs;
--> job_id|job_type|job_name|maxtrans|maxscans|continuous|pollinginterval|retention|threshold
--> 00000000-0000-4000-9000-000000000050|capture|cdc.shop_capture|11|10|1|30|0|0
--> 00000000-0000-4000-9000-000000000051|cleanup|cdc.shop_cleanup|0|0|0|0|20|5000
--> (2)
-- who may look
CREATE LOGIN reader WITH PASSWORD = 'pw'; CREATE USER reader FOR LOGIN reader;
-->
--@ 2 reader pw
SELECT COUNT(*) AS n FROM sys.dm_cdc_log_scan_sessions;
--> !262 14 1 line 1: VIEW DATABASE STATE permission denied in database 'shop'.
SELECT COUNT(*) AS n FROM sys.dm_cdc_errors;
--> !262 14 1 line 1: VIEW DATABASE STATE permission denied in database 'shop'.
SELECT HAS_PERMS_BY_NAME('sys.dm_cdc_errors', 'OBJECT', 'SELECT') AS may;
--> may
--> 0
--> (1)
EXEC sys.sp_cdc_help_jobs;
--> !22904 16 1 line 1: Caller is not authorized to initiate the requested action. DBO privileges are required.
EXEC sys.sp_cdc_scan;
--> !22904 16 1 line 1: Caller is not authorized to initiate the requested action. DBO privileges are required.
EXEC sys.sp_cdc_stop_job;
--> !22904 16 1 line 1: Caller is not authorized to initiate the requested action. DBO privileges are required.
--@ 1
GRANT VIEW DATABASE STATE TO reader;
-->
--@ 2
SELECT CASE WHEN MAX(session_id) >= 4 THEN 'yes' END AS sees_them FROM sys.dm_cdc_log_scan_sessions;
--> sees_them
--> yes
--> (1)
SELECT HAS_PERMS_BY_NAME('sys.dm_cdc_errors', 'OBJECT', 'SELECT') AS may;
--> may
--> 1
--> (1)
