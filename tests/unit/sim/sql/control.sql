-- The controls in one process (docs/tidesim-reference.md): reads that are interrupted, locks held for nobody, capture that fails, knobs.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE t (id int PRIMARY KEY, v int NULL);
-->
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50);
--> (5)
EXEC sys.sp_cdc_enable_db;
-->
EXEC tidesim.capture_mode 'shop', 'manual';
-->
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL;
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|0
--> (1)
-- on_read: before the read sees anything, and once
EXEC tidesim.on_read 'dbo.t', N'UPDATE t SET v = 11 WHERE id = 1';
-->
SELECT v FROM t WHERE id = 1;
--> v
--> 11
--> (1)
UPDATE t SET v = 10 WHERE id = 1;
--> (1)
SELECT v FROM t WHERE id = 1;
--> v
--> 10
--> (1)
-- after two rows: what was read stays, what comes is new
EXEC tidesim.on_read 't', N'UPDATE t SET v = v + 1', 'after_rows', 2;
-->
SELECT id, v FROM t ORDER BY id;
--> id|v
--> 1|10
--> 2|20
--> 3|31
--> 4|41
--> 5|51
--> (5)
SELECT id, v FROM t ORDER BY id;
--> id|v
--> 1|11
--> 2|21
--> 3|31
--> 4|41
--> 5|51
--> (5)
-- after two rows that qualify, in a read that wants no more than these
EXEC tidesim.on_read 't', N'UPDATE t SET v = 0', 'after_rows', 2;
-->
SELECT TOP 2 id, v FROM t WHERE id > 2 ORDER BY id;
--> id|v
--> 3|31
--> 4|41
--> (2)
SELECT id, v FROM t ORDER BY id;
--> id|v
--> 1|0
--> 2|0
--> 3|0
--> 4|0
--> 5|0
--> (5)
-- only when somebody reads
EXEC tidesim.on_read 't', N'DELETE FROM t', @login = 'somebody';
-->
SELECT COUNT(*) AS n FROM t;
--> n
--> 5
--> (1)
-- a text that fails ends the read
EXEC tidesim.on_read 't', N'SELECT * FROM nowhere', 'after_rows', 3;
-->
SELECT id FROM t ORDER BY id;
--> id
--> 1
--> 2
--> !208 16 1 line 1: Invalid object name 'nowhere'.
EXEC tidesim.on_read 't', N'SELECT 1', 'sometimes';
--> !50000 16 1 line 1: on_read runs its text before or after_rows.
EXEC tidesim.on_read 't';
--> !50000 16 1 line 1: on_read needs @object and @sql.
-- what wants the reader's own locks is a deadlock, and loses
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
-->
EXEC tidesim.on_read 't', N'UPDATE t SET v = 99 WHERE id = 1', 'after_rows', 1;
-->
SELECT id FROM t ORDER BY id;
--> id
--> !1205 13 51 line 1: Transaction (Process ID 56) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-->
SELECT COUNT(*) AS n FROM t WHERE v = 99;
--> n
--> 0
--> (1)
-- gate: as a writer, so NOLOCK passes
EXEC tidesim.gate 'dbo.t', 'hold';
-->
SET LOCK_TIMEOUT 0;
-->
SELECT id FROM t WHERE id = 1;
--> id
--> !1222 16 45 line 1: Lock request time out period exceeded.
SELECT id FROM t WITH (NOLOCK) WHERE id = 1;
--> id
--> 1
--> (1)
INSERT INTO t VALUES (6, 60);
--> (1)
ALTER TABLE t ADD c int NULL;
--> !1222 16 45 line 1: Lock request time out period exceeded.
EXEC tidesim.gate 't', 'hold';
--> !50000 16 1 line 1: t is held already.
EXEC tidesim.gate 't', 'release';
-->
SELECT id FROM t WHERE id = 1;
--> id
--> 1
--> (1)
EXEC tidesim.gate 't', 'release';
--> !50000 16 1 line 1: Nothing holds t.
EXEC tidesim.gate 'nowhere';
--> !208 16 1 line 1: Invalid object name 'nowhere'.
--@ 2
BEGIN TRAN; UPDATE t SET v = 1 WHERE id = 3;
--> (1)
--@ 1
EXEC tidesim.gate 't', 'hold';
--> !1222 16 45 line 1: Lock request time out period exceeded.
--@ 2
ROLLBACK;
-->
--@ 1
EXEC tidesim.scan_now;
--> transactions|rows
--> 5|25
--> (1)
SELECT __$operation, id, v FROM cdc.dbo_t_CT WHERE id = 6;
--> __$operation|id|v
--> 2|6|60
--> (1)
SET LOCK_TIMEOUT -1;
-->
-- a grant that goes between planning and reading
CREATE LOGIN reader WITH PASSWORD = 'secret';
-->
CREATE USER reader FOR LOGIN reader;
-->
GRANT SELECT ON dbo.t TO reader;
-->
--@ 3 reader secret
SELECT COUNT(*) AS n FROM t;
--> n
--> 6
--> (1)
--@ 1
EXEC tidesim.fault 'lose_grant', '%FROM t%', @text = N'REVOKE SELECT ON dbo.t FROM reader', @login = 'reader';
-->
--@ 3
SELECT COUNT(*) AS n FROM t;
--> !229 14 5 line 1: The SELECT permission was denied on the object 't', database 'shop', schema 'dbo'.
EXEC tidesim.reset;
--> !229 14 5 line 1: The EXECUTE permission was denied on the object 'reset', database 'master', schema 'tidesim'.
--@ 1
EXEC tidesim.fault 'lose_grant', @text = N'DROP TABLE t';
--> !50000 16 1 line 1: lose_grant needs @text, a REVOKE or DENY.
-- capture stops, and says why
EXEC tidesim.fault 'capture_stop', @at = 'scan', @text = N'The log is full.', @number = 9002;
-->
UPDATE t SET v = 7 WHERE id = 6;
--> (1)
EXEC tidesim.scan_now;
--> !22859 16 1 line 1: Log Scan process failed in processing log records. Refer to previous errors in the current session to identify the cause and correct any associated problems.
SELECT error_number, error_message FROM sys.dm_cdc_errors;
--> error_number|error_message
--> 9002|The log is full.
--> (1)
EXEC tidesim.scan_now;
--> !22859 16 1 line 1: Log Scan process failed in processing log records. Refer to previous errors in the current session to identify the cause and correct any associated problems.
EXEC tidesim.capture_mode 'shop', 'manual';
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|2
--> (1)
EXEC tidesim.fault 'error', @at = 'scan', @number = 8646, @text = N'Once.';
-->
EXEC tidesim.scan_now;
--> !8646 16 1 line 1: Once.
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
-- a scan of some of the log; latency
UPDATE t SET v = 8 WHERE id = 6;
--> (1)
UPDATE t SET v = 9 WHERE id = 6;
--> (1)
UPDATE t SET v = 10 WHERE id = 6;
--> (1)
EXEC tidesim.scan_now 'shop', 2;
--> transactions|rows
--> 2|4
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|2
--> (1)
EXEC tidesim.capture_latency 'shop', 1000, 1000;
-->
UPDATE t SET v = 11 WHERE id = 6;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
EXEC tidesim.clock_advance 999;
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
EXEC tidesim.clock_advance 1;
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|2
--> (1)
EXEC tidesim.capture_latency 'shop', 5, 1;
--> !50000 16 1 line 1: A latency is @min and @max milliseconds, @max not less.
EXEC tidesim.capture_latency 'shop', 0;
-->
-- waiting for what is there already
EXEC tidesim.wait_captured @commit_ts = '2026-03-01T12:00:00';
-->
EXEC tidesim.wait_captured @commit_ts = '2026-03-01T12:00:02', @timeout = 0;
--> !50000 16 1 line 1: Capture did not get there in time.
EXEC tidesim.wait_captured @lsn = 0xFFFFFFFFFFFFFFFFFFFF, @timeout = 0;
--> !50000 16 1 line 1: Capture did not get there in time.
-- knobs
EXEC tidesim.knob;
--> name|value|allowed
--> min_lsn_before_capture|null|null,zero
--> command_id_per|row|row,statement
--> unchanged_update|none|none,rows
--> command_id_2016|shown|shown,hidden
--> commit_visible|before_capture|before_capture,after_capture
--> scan_lsn_nul|off|off,on
--> maxtrans|500|1..1000000
--> session_recovery|off|off,on
--> (8)
EXEC tidesim.knob 'unchanged_update', 'rows';
-->
UPDATE t SET v = v WHERE id = 6;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|2
--> (1)
EXEC tidesim.knob 'unchanged_update', 'none';
-->
UPDATE t SET v = v WHERE id = 6;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
EXEC tidesim.knob 'command_id_per', 'statement';
-->
UPDATE t SET v = 77 WHERE id < 3;
--> (2)
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|4
--> (1)
SELECT DISTINCT __$command_id AS n FROM cdc.dbo_t_CT WHERE v = 77;
--> n
--> 1
--> (1)
CREATE TABLE u (id int PRIMARY KEY);
-->
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'u', @role_name = NULL;
-->
EXEC tidesim.knob 'min_lsn_before_capture', 'zero';
-->
SELECT CONVERT(char(22), sys.fn_cdc_get_min_lsn('dbo_u'), 1) AS lsn;
--> lsn
--> 0x00000000000000000000
--> (1)
EXEC tidesim.knob 'min_lsn_before_capture', 'null';
-->
SELECT CONVERT(char(22), sys.fn_cdc_get_min_lsn('dbo_u'), 1) AS lsn;
--> lsn
--> NULL
--> (1)
SELECT TOP 1 LEN(start_lsn) AS n FROM sys.dm_cdc_log_scan_sessions;
--> n
--> 22
--> (1)
EXEC tidesim.knob 'scan_lsn_nul', 'on';
-->
SELECT TOP 1 LEN(start_lsn) AS n FROM sys.dm_cdc_log_scan_sessions;
--> n
--> 23
--> (1)
EXEC tidesim.knob 'maxtrans', '7';
-->
EXEC tidesim.knob 'maxtrans', 'many';
--> !50000 16 1 line 1: The knob maxtrans takes 1..1000000.
EXEC tidesim.knob 'nothing', '1';
--> !50000 16 1 line 1: There is no knob nothing.
-- what capture has shown already, readers of versions see with the next cycle
EXEC tidesim.knob 'commit_visible', 'after_capture';
-->
ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON;
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|0
--> (1)
UPDATE t SET v = 100 WHERE id = 6;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|2
--> (1)
SELECT __$operation, v FROM cdc.dbo_t_CT WHERE v = 100;
--> __$operation|v
--> 4|100
--> (1)
SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
-->
SELECT v FROM t WHERE id = 6;
--> v
--> 11
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
SELECT v FROM t WHERE id = 6;
--> v
--> 100
--> (1)
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-->
EXEC tidesim.knob 'commit_visible', 'before_capture';
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 0|0
--> (1)
-- faults that make no sense
EXEC tidesim.fault;
--> !50000 16 1 line 1: fault needs @action, one of: error, deadlock, close, rst, half_close, stall, kill, login_error, slow_rows, capture_stop, lose_grant, none.
EXEC tidesim.fault 'stall';
--> !50000 16 1 line 1: stall needs @ms, in milliseconds.
EXEC tidesim.fault 'explode';
--> !50001 16 1 line 1: tidesim: the fault explode is not supported
EXEC tidesim.fault 'error', @at = 'byte';
--> !50001 16 1 line 1: tidesim: the fault error at byte is not supported
EXEC tidesim.fault 'error', @at = 'nowhere';
--> !50001 16 1 line 1: tidesim: a fault at nowhere is not supported
EXEC tidesim.fault 'slow_rows';
--> !50000 16 1 line 1: slow_rows needs @rate, in rows a second.
EXEC tidesim.fault 'error', @probability = 2;
--> !50000 16 1 line 1: A probability lies between 0 and 1.
-- the trace
EXEC tidesim.trace 'on';
-->
SELECT id FROM t WHERE id < 3;
--> id
--> 1
--> 2
--> (2)
SELECT * FROM nowhere;
--> !208 16 1 line 1: Invalid object name 'nowhere'.
EXEC tidesim.trace 'off';
-->
EXEC tidesim.trace;
--> line
--> 51: SELECT id FROM t WHERE id < 3;\n -> 2 rows, 2 examined
--> 51: SELECT * FROM nowhere;\n -> 0 rows, error 208
--> 51: EXEC tidesim.trace 'off';\n -> 0 rows
--> (3)
EXEC tidesim.trace @file = '/nowhere/at/all';
--> !50000 16 1 line 1: The trace /nowhere/at/all cannot be written: No such file or directory.
-- a clock goes or stands
EXEC tidesim.clock 'sideways';
--> !50000 16 1 line 1: A clock is real or virtual.
-- others in this process are in the way
EXEC tidesim.reset;
--> !50000 16 1 line 1: reset wants the other sessions of this process closed.
