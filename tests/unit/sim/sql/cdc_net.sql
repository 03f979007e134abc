-- cdc.fn_cdc_get_net_changes_<instance>: what a range did to each key, with its three options.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE dbo.t (k varchar(4) NOT NULL, n int NOT NULL, a int NULL, b int NULL, c int NULL, d int NULL, e int NULL, f int NULL, g int NULL, h int NULL, CONSTRAINT PK_t PRIMARY KEY (k, n));
-->
CREATE TABLE dbo.heap (a int NULL);
-->
EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual';
-->
INSERT INTO t (k, n, a) VALUES ('upd', 1, 0), ('del', 1, 0), ('back', 1, 0), ('move', 1, 0), ('same', 1, 0);
--> (5)
EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = 'ci';
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
EXEC sys.sp_cdc_enable_table 'dbo', 'heap', NULL;
-->
INSERT INTO t (k, n, a) VALUES ('new', 1, 0), ('gone', 1, 0);
--> (2)
UPDATE t SET a = 1 WHERE k IN ('upd', 'del', 'new');
--> (3)
UPDATE t SET h = 2 WHERE k = 'upd';
--> (1)
DELETE FROM t WHERE k IN ('del', 'back', 'gone');
--> (3)
INSERT INTO t (k, n, a) VALUES ('back', 1, 7);
--> (1)
UPDATE t SET n = 2 WHERE k = 'move';
--> (1)
BEGIN TRAN; UPDATE t SET a = 3 WHERE k = 'same'; UPDATE t SET a = 0, b = 4 WHERE k = 'same'; COMMIT;
--> (1)
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 9|20
--> (1)
DECLARE @from binary(10) = sys.fn_cdc_get_min_lsn('ci'), @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT __$operation, __$update_mask, k, n, a, b, h FROM cdc.fn_cdc_get_net_changes_ci(@from, @to, N'all') ORDER BY k, n;
--> __$operation|__$update_mask|k|n|a|b|h
--> 4|NULL|back|1|7|NULL|NULL
--> 1|NULL|del|1|1|NULL|NULL
--> 1|NULL|move|1|0|NULL|NULL
--> 2|NULL|move|2|0|NULL|NULL
--> 2|NULL|new|1|1|NULL|NULL
--> 4|NULL|same|1|0|4|NULL
--> 4|NULL|upd|1|1|NULL|2
--> (7)
DECLARE @from binary(10) = sys.fn_cdc_get_min_lsn('ci'), @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT __$operation, __$update_mask, k, n FROM cdc.fn_cdc_get_net_changes_ci(@from, @to, N'all with mask') ORDER BY k, n;
--> __$operation|__$update_mask|k|n
--> 4|0x03FF|back|1
--> 1|0x03FF|del|1
--> 1|0x03FF|move|1
--> 2|0x03FF|move|2
--> 2|0x03FF|new|1
--> 4|0x000C|same|1
--> 4|0x0204|upd|1
--> (7)
DECLARE @from binary(10) = sys.fn_cdc_get_min_lsn('ci'), @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT __$operation, __$update_mask, k, n FROM cdc.fn_cdc_get_net_changes_ci(@from, @to, N'all with merge') ORDER BY k, n;
--> __$operation|__$update_mask|k|n
--> 5|NULL|back|1
--> 1|NULL|del|1
--> 1|NULL|move|1
--> 5|NULL|move|2
--> 5|NULL|new|1
--> 5|NULL|same|1
--> 5|NULL|upd|1
--> (7)
-- each row has the LSN of its last change; a range of one commit shows that commit
DECLARE @from binary(10) = sys.fn_cdc_get_min_lsn('ci'), @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT n.k, n.n FROM cdc.fn_cdc_get_net_changes_ci(@from, @to, N'all') AS n WHERE n.__$start_lsn <> (SELECT MAX(c.__$start_lsn) FROM cdc.ci_CT AS c WHERE c.k = n.k AND c.n = n.n);
--> k|n
--> (0)
DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT * FROM cdc.fn_cdc_get_net_changes_ci(@to, @to, N'all with mask') ORDER BY k;
--> __$start_lsn|__$operation|__$update_mask|k|n|a|b|c|d|e|f|g|h
--> 0x0000002A000002300004|4|0x000C|same|1|0|4|NULL|NULL|NULL|NULL|NULL|NULL
--> (1)
-- the names of its columns
DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT TOP (0) * FROM cdc.fn_cdc_get_net_changes_ci(@to, @to, N'all');
--> __$start_lsn|__$operation|__$update_mask|k|n|a|b|c|d|e|f|g|h
--> (0)
-- refusals
DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT * FROM cdc.fn_cdc_get_net_changes_ci(0x01, @to, N'all');
--> __$start_lsn|__$operation|__$update_mask|k|n|a|b|c|d|e|f|g|h
--> !313 16 3 line 2: An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_net_changes_ ... .
DECLARE @from binary(10) = sys.fn_cdc_get_min_lsn('ci'); SELECT * FROM cdc.fn_cdc_get_net_changes_ci(@from, 0xFFFFFFFFFFFFFFFFFFFF, N'all');
--> __$start_lsn|__$operation|__$update_mask|k|n|a|b|c|d|e|f|g|h
--> !313 16 3 line 1: An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_net_changes_ ... .
DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT * FROM cdc.fn_cdc_get_net_changes_ci(@to, @to, N'all update old');
--> __$start_lsn|__$operation|__$update_mask|k|n|a|b|c|d|e|f|g|h
--> !313 16 3 line 1: An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_net_changes_ ... .
DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT * FROM cdc.fn_cdc_get_net_changes_ci(@to, NULL, N'all');
--> __$start_lsn|__$operation|__$update_mask|k|n|a|b|c|d|e|f|g|h
--> !313 16 3 line 1: An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_net_changes_ ... .
DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT * FROM cdc.fn_cdc_get_all_changes_ci(@to, @to, N'all with mask');
--> __$start_lsn|__$seqval|__$operation|__$update_mask|k|n|a|b|c|d|e|f|g|h
--> !313 16 3 line 1: An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_all_changes_ ... .
SELECT * FROM cdc.fn_cdc_get_net_changes_dbo_heap(0x01, 0x02, N'all');
--> !208 16 1 line 1: Invalid object name 'cdc.fn_cdc_get_net_changes_dbo_heap'.
SELECT * FROM cdc.fn_cdc_get_net_changes_nothing(0x01, 0x02, N'all');
--> !208 16 1 line 1: Invalid object name 'cdc.fn_cdc_get_net_changes_nothing'.
SELECT [__$BYTES_OR](CAST(0x01 AS varbinary(2))) AS v;
--> !195 15 10 line 1: '__$BYTES_OR' is not a recognized built-in function name.
CREATE LOGIN reader WITH PASSWORD = 'pw'; CREATE USER reader FOR LOGIN reader;
-->
--@ 2 reader pw
SELECT * FROM cdc.fn_cdc_get_net_changes_ci(0x01, 0x02, N'all');
--> !229 14 5 line 1: The SELECT permission was denied on the object 'fn_cdc_get_net_changes_ci', database 'shop', schema 'cdc'.
--@ 1
GRANT SELECT ON dbo.t TO reader;
-->
--@ 2
DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); SELECT __$operation, k, n FROM cdc.fn_cdc_get_net_changes_ci(@to, @to, N'all');
--> __$operation|k|n
--> 4|same|1
--> (1)
