CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int NULL);
-->
CREATE TABLE dbo.feed (id int NOT NULL, v int NULL);
-->
EXEC sys.sp_cdc_enable_db;
-->
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL;
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
INSERT dbo.t VALUES (1, 10), (2, 20), (3, 30);
--> (3)
INSERT dbo.feed VALUES (2, 21), (3, NULL), (4, 40);
--> (3)
EXEC tidesim.scan_now;
--> transactions|rows
--> 2|3
--> (1)
MERGE dbo.t AS t USING dbo.feed AS f ON f.id = t.id
WHEN MATCHED AND f.v IS NULL THEN DELETE
WHEN MATCHED THEN UPDATE SET v = f.v
WHEN NOT MATCHED THEN INSERT VALUES (f.id, f.v);
--> (3)
MERGE dbo.t AS t USING (VALUES (1, 9)) AS f (id, new_id) ON f.id = t.id
WHEN MATCHED THEN UPDATE SET id = f.new_id;
--> (1)
UPDATE dbo.t SET id = 8 WHERE id = 9;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 3|8
--> (1)
SELECT __$operation AS op, DENSE_RANK() OVER (ORDER BY __$start_lsn) AS tx, DENSE_RANK() OVER (ORDER BY __$seqval) AS seq, __$command_id AS command, id, v FROM cdc.dbo_t_CT WHERE __$operation <> 2 OR id > 3 ORDER BY __$start_lsn, __$command_id, __$seqval, __$operation;
--> op|tx|seq|command|id|v
--> 1|1|1|1|3|30
--> 3|1|2|2|2|20
--> 4|1|2|2|2|21
--> 2|1|3|3|4|40
--> 1|2|4|1|1|10
--> 2|2|5|2|9|10
--> 1|3|6|1|9|10
--> 2|3|6|2|8|10
--> (8)
CREATE PROCEDURE dbo.pair AS SELECT 1 AS a; UPDATE dbo.t SET v = 0; SET NOCOUNT ON; UPDATE dbo.t SET v = 1; SELECT 2 AS b; RETURN 3;
-->
EXEC dbo.pair;
--> a
--> 1
--> (1)
--> (3)
--> b
--> 2
--> (status 3)
DECLARE @rc int; EXEC @rc = dbo.pair; SELECT @rc AS rc;
--> a
--> 1
--> (1)
--> (3)
--> b
--> 2
--> (status 3)
--> rc
--> 3
--> (1)
CREATE TABLE dbo.child (id int PRIMARY KEY, t_id int CONSTRAINT fk_t REFERENCES dbo.t (id));
-->
--@ 2
USE shop;
--> # Changed database context to 'shop'.
BEGIN TRAN;
-->
DELETE dbo.t WHERE id = 4;
--> (1)
--@ 1
SET LOCK_TIMEOUT 0;
-->
INSERT dbo.child VALUES (1, 4);
--> !1222 16 45 line 1: Lock request time out period exceeded.
--> # The statement has been terminated.
INSERT dbo.child VALUES (2, 8);
--> (1)
--@ 2
DELETE dbo.t WHERE id = 8;
--> !547 16 0 line 1: The DELETE statement conflicted with the REFERENCE constraint "fk_t". The conflict occurred in database "shop", table "dbo.child", column 't_id'.
--> # The statement has been terminated.
ROLLBACK;
-->
--@ 1
INSERT dbo.child VALUES (1, 4);
--> (1)
