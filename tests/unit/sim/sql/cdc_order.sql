-- The order of change rows: LSNs, command ids, the shapes of key updates.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual';
-->
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, u int NULL, v int NULL); CREATE UNIQUE INDEX by_u ON t (u);
-->
CREATE TABLE dbo.h (a int NULL, b int NULL); CREATE CLUSTERED INDEX by_a ON h (a);
-->
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'v1'; EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'v2', @captured_column_list = N'id, v'; EXEC sys.sp_cdc_enable_table 'dbo', 'h', NULL;
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
-- two instances take turns in one transaction
BEGIN TRAN; INSERT INTO t VALUES (1, 1, 1); UPDATE t SET v = 2 WHERE id = 1; DELETE FROM t WHERE id = 1; COMMIT;
--> (1)
--> (1)
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 4|8
--> (1)
SELECT '1' AS i, __$command_id, __$operation, id, v FROM cdc.v1_CT UNION ALL SELECT '2', __$command_id, __$operation, id, v FROM cdc.v2_CT ORDER BY i, 2, 3;
--> i|__$command_id|__$operation|id|v
--> 1|1|2|1|1
--> 1|3|3|1|1
--> 1|3|4|1|2
--> 1|5|1|1|2
--> 2|2|2|1|1
--> 2|4|3|1|1
--> 2|4|4|1|2
--> 2|6|1|1|2
--> (8)
-- shapes: one row's key; several rows; a swap; a key that another row had; another unique column; the clustered key of a table without a unique index
INSERT INTO t VALUES (10, 10, 0), (11, 11, 0), (12, 12, 0);
--> (3)
UPDATE t SET id = 20 WHERE id = 10;
--> (1)
UPDATE t SET id = id + 1 WHERE id IN (11, 12);
--> (2)
UPDATE t SET id = 33 - id - 8 WHERE id IN (12, 13);
--> (2)
UPDATE t SET u = 99 WHERE id = 20;
--> (1)
UPDATE t SET u = 110 - u WHERE id IN (12, 13);
--> !2601 14 1 line 1: Cannot insert duplicate key row in object 'dbo.t' with unique index 'by_u'. The duplicate key value is (99).
--> # The statement has been terminated.
INSERT INTO h VALUES (1, 1), (1, 2), (2, 3);
--> (3)
UPDATE h SET a = 5 WHERE b = 3;
--> (1)
UPDATE h SET a = 6 WHERE a = 1;
--> (2)
UPDATE h SET b = 7 WHERE a = 6;
--> (2)
DBCC TRACEON (8207, -1);
-->
UPDATE t SET id = 21 WHERE id = 20;
--> (1)
UPDATE t SET id = id + 100 WHERE id IN (12, 13);
--> (2)
DBCC TRACEOFF (8207, -1);
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 11|47
--> (1)
SELECT DENSE_RANK() OVER (ORDER BY __$start_lsn) AS tran_no, __$command_id, DENSE_RANK() OVER (ORDER BY __$seqval) AS seq_no, __$operation, __$update_mask, id, u, v FROM cdc.v1_CT ORDER BY __$start_lsn, __$command_id, __$seqval, __$operation;
--> tran_no|__$command_id|seq_no|__$operation|__$update_mask|id|u|v
--> 1|1|1|2|0x07|1|1|1
--> 1|3|2|3|0x04|1|1|1
--> 1|3|2|4|0x04|1|1|2
--> 1|5|3|1|0x07|1|1|2
--> 2|1|4|2|0x07|10|10|0
--> 2|3|5|2|0x07|11|11|0
--> 2|5|6|2|0x07|12|12|0
--> 3|1|7|1|0x07|10|10|0
--> 3|2|7|2|0x07|20|10|0
--> 4|1|8|1|0x07|11|11|0
--> 4|3|9|3|0x02|12|12|0
--> 4|3|9|4|0x02|12|11|0
--> 4|4|10|2|0x07|13|12|0
--> 5|1|11|3|0x02|12|11|0
--> 5|1|11|4|0x02|12|12|0
--> 5|2|12|3|0x02|13|12|0
--> 5|2|12|4|0x02|13|11|0
--> 6|1|13|1|0x07|20|10|0
--> 6|2|13|2|0x07|20|99|0
--> 7|1|14|3|0x01|20|99|0
--> 7|1|14|4|0x01|21|99|0
--> 8|1|15|1|0x07|12|12|0
--> 8|3|16|1|0x07|13|11|0
--> 8|5|17|2|0x07|112|12|0
--> 8|7|18|2|0x07|113|11|0
--> (25)
SELECT DENSE_RANK() OVER (ORDER BY __$start_lsn) AS tran_no, __$command_id, DENSE_RANK() OVER (ORDER BY __$seqval) AS seq_no, __$operation, a, b FROM cdc.dbo_h_CT ORDER BY __$start_lsn, __$command_id, __$seqval, __$operation;
--> tran_no|__$command_id|seq_no|__$operation|a|b
--> 1|1|1|2|1|1
--> 1|2|2|2|1|2
--> 1|3|3|2|2|3
--> 2|1|4|1|2|3
--> 2|2|4|2|5|3
--> 3|1|5|1|1|1
--> 3|2|6|1|1|2
--> 3|3|7|2|6|1
--> 3|4|8|2|6|2
--> 4|1|9|3|6|1
--> 4|1|9|4|6|7
--> 4|2|10|3|6|2
--> 4|2|10|4|6|7
--> (13)
-- an update that changes nothing captured, or nothing at all, is no change
UPDATE t SET v = v; UPDATE t SET u = u + 1000 WHERE id = 21;
--> (3)
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|2
--> (1)
SELECT COUNT(*) AS rows_of_v2 FROM cdc.v2_CT WHERE __$start_lsn = sys.fn_cdc_get_max_lsn();
--> rows_of_v2
--> 0
--> (1)
-- seqvals are below their commit, commits are in order, a long transaction's seqvals lie below commits before its own
BEGIN TRAN; INSERT INTO t VALUES (500, 500, 0);
--> (1)
--@ 2
USE shop;
--> # Changed database context to 'shop'.
INSERT INTO t VALUES (600, 600, 0);
--> (1)
--@ 1
COMMIT;
-->
EXEC tidesim.scan_now;
--> transactions|rows
--> 2|4
--> (1)
SELECT a.id AS long_one, b.id AS short_one, CASE WHEN a.__$seqval < b.__$start_lsn AND b.__$start_lsn < a.__$start_lsn THEN 'ok' END AS interleaved FROM cdc.v1_CT AS a CROSS JOIN cdc.v1_CT AS b WHERE a.id = 500 AND b.id = 600;
--> long_one|short_one|interleaved
--> 500|600|ok
--> (1)
SELECT COUNT(*) AS not_below FROM cdc.v1_CT WHERE __$seqval >= __$start_lsn;
--> not_below
--> 0
--> (1)
-- rolled back, and back to a savepoint
BEGIN TRAN; INSERT INTO t VALUES (700, 700, 0); SAVE TRAN s; INSERT INTO t VALUES (701, 701, 0); ROLLBACK TRAN s; COMMIT;
--> (1)
--> (1)
BEGIN TRAN; INSERT INTO t VALUES (800, 800, 0); ROLLBACK;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 1|2
--> (1)
SELECT id, __$command_id FROM cdc.v1_CT WHERE id BETWEEN 700 AND 899;
--> id|__$command_id
--> 700|1
--> (1)
-- MERGE: updates on a table with a unique index are split, sorted, and put together again
--@ 1
CREATE TABLE dbo.m (id int NOT NULL PRIMARY KEY, v int NULL);
-->
EXEC sys.sp_cdc_enable_table 'dbo', 'm', NULL;
-->
INSERT INTO m VALUES (1, 1), (2, 2), (3, 3);
--> (3)
EXEC tidesim.scan_now;
--> transactions|rows
--> 2|3
--> (1)
MERGE m USING (VALUES (1, 10), (3, 30), (9, 90)) AS s (id, v) ON m.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE;
--> (4)
MERGE m USING (VALUES (1, 2), (3, 4)) AS s (id, new_id) ON m.id = s.id WHEN MATCHED THEN UPDATE SET id = s.new_id;
--> (2)
EXEC tidesim.scan_now;
--> transactions|rows
--> 2|10
--> (1)
SELECT DENSE_RANK() OVER (ORDER BY __$start_lsn) AS tran_no, DENSE_RANK() OVER (ORDER BY __$seqval) AS seq_no, __$operation, id, v FROM cdc.dbo_m_CT ORDER BY __$start_lsn, __$command_id, __$seqval, __$operation;
--> tran_no|seq_no|__$operation|id|v
--> 1|1|2|1|1
--> 1|2|2|2|2
--> 1|3|2|3|3
--> 2|4|1|2|2
--> 2|5|3|1|1
--> 2|5|4|1|10
--> 2|6|3|3|3
--> 2|6|4|3|30
--> 2|7|2|9|90
--> 3|8|1|1|10
--> 3|9|2|2|10
--> 3|10|1|3|30
--> 3|11|2|4|30
--> (13)
