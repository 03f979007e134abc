-- INSERT, UPDATE, DELETE, OUTPUT, errors of each and what they end (sqlserver.md 2.5).
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE t (id int IDENTITY(10, 5) PRIMARY KEY, name varchar(5) NOT NULL, qty int NOT NULL DEFAULT (7), twice AS qty * 2, stamp rowversion, CONSTRAINT uq UNIQUE (name));
-->
INSERT INTO t (name) OUTPUT inserted.id, inserted.qty, inserted.twice VALUES ('a'), ('b');
--> id|qty|twice
--> 10|7|14
--> 15|7|14
--> (2)
SELECT SCOPE_IDENTITY() AS id, @@IDENTITY AS last, @@ROWCOUNT AS n;
--> id|last|n
--> 15|15|2
--> (1)
INSERT INTO t (name, qty) VALUES ('c', 1), ('a', 2);
SELECT COUNT(*) AS n, @@ERROR AS e FROM t;
--> !2627 14 1 line 1: Violation of UNIQUE KEY constraint 'uq'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (a).
--> # The statement has been terminated.
--> n|e
--> 2|2627
--> (1)
INSERT INTO t (name) VALUES (NULL);
--> !515 16 2 line 1: Cannot insert the value NULL into column 'name', table 'shop.dbo.t'; column does not allow nulls. INSERT fails.
--> # The statement has been terminated.
INSERT INTO t (name) VALUES ('too long');
--> !2628 16 1 line 1: String or binary data would be truncated in table 'shop.dbo.t', column 'name'. Truncated value: 'too l'.
--> # The statement has been terminated.
INSERT INTO t (id, name) VALUES (1, 'x');
--> !544 16 1 line 1: Cannot insert explicit value for identity column in table 't' when IDENTITY_INSERT is set to OFF.
SET IDENTITY_INSERT t ON; INSERT INTO t (id, name) VALUES (1, 'x'); SET IDENTITY_INSERT t OFF; INSERT INTO t (name) VALUES ('y'); SELECT id FROM t ORDER BY id;
--> (1)
--> (1)
--> id
--> 1
--> 10
--> 15
--> 35
--> (4)
INSERT INTO t (name) VALUES ('p', 'q');
--> !110 15 1 line 1: There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.
UPDATE t SET qty = qty + 1, name = name + '!' OUTPUT deleted.name, inserted.name, inserted.twice WHERE id > 5;
--> name|name|twice
--> a|a!|16
--> b|b!|16
--> y|y!|16
--> (3)
UPDATE t SET id = 5;
--> !8102 16 1 line 1: Cannot update identity column 'id'.
UPDATE t SET qty = x.n FROM t JOIN (VALUES ('x', 100)) AS x(k, n) ON x.k = t.name; SELECT qty FROM t WHERE name = 'x';
--> (1)
--> qty
--> 100
--> (1)
DECLARE @v int; UPDATE t SET @v = qty = qty + 1 WHERE id = 1; SELECT @v;
--> (1)
--> 
--> 101
--> (1)
DELETE FROM t OUTPUT deleted.id WHERE id = 1;
--> id
--> 1
--> (1)
DELETE TOP (1) FROM t; SELECT @@ROWCOUNT AS n;
--> (1)
--> n
--> 1
--> (1)
DELETE x FROM t AS x WHERE x.name = 'b!'; SELECT id, name FROM t;
--> (1)
--> id|name
--> 35|y!
--> (1)
INSERT INTO t (name) SELECT name + '2' FROM t; SELECT name FROM t ORDER BY name;
--> (1)
--> name
--> y!
--> y!2
--> (2)
INSERT INTO t DEFAULT VALUES;
--> !515 16 2 line 1: Cannot insert the value NULL into column 'name', table 'shop.dbo.t'; column does not allow nulls. INSERT fails.
--> # The statement has been terminated.
CREATE TABLE #log (id int, old int NULL);
UPDATE t SET qty = 0 OUTPUT inserted.id, deleted.qty INTO #log; SELECT old FROM #log ORDER BY id; DROP TABLE #log;
--> (2)
--> old
--> 8
--> 7
--> (2)
SELECT id, name INTO copy FROM t; SELECT COUNT(*) AS n FROM copy;
--> (2)
--> n
--> 2
--> (1)
TRUNCATE TABLE copy; SELECT COUNT(*) AS n FROM copy; DROP TABLE copy; SELECT OBJECT_ID('copy') AS id;
--> n
--> 0
--> (1)
--> id
--> NULL
--> (1)
BEGIN TRAN; INSERT INTO t (name) VALUES ('tx'); ROLLBACK; SELECT COUNT(*) AS n FROM t WHERE name = 'tx';
--> (1)
--> n
--> 0
--> (1)
SET XACT_ABORT ON; BEGIN TRAN; INSERT INTO t (name) VALUES ('tx'); INSERT INTO t (name) VALUES ('tx'); SELECT 'not reached';
--> (1)
--> !2627 14 1 line 1: Violation of UNIQUE KEY constraint 'uq'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (tx).
SELECT @@TRANCOUNT AS n; SET XACT_ABORT OFF;
--> n
--> 0
--> (1)
BEGIN TRY INSERT INTO t (name) VALUES (NULL) END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS n, ERROR_SEVERITY() AS s, ERROR_LINE() AS l, XACT_STATE() AS x END CATCH;
--> n|s|l|x
--> 515|16|1|0
--> (1)
BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); THROW; END CATCH; SELECT 'not reached';
--> 
--> # Divide by zero error encountered.
--> !8134 16 1 line 1: Divide by zero error encountered.
THROW 50010, N'mine', 3;
--> !50010 16 3 line 1: mine
RAISERROR('number %d of %s', 16, 2, 5, 'x'); PRINT 'goes on';
--> !50000 16 2 line 1: number 5 of x
--> # goes on
BEGIN TRAN a; SAVE TRAN s; INSERT INTO t (name) VALUES ('s1'); ROLLBACK TRAN s; SELECT @@TRANCOUNT AS n; COMMIT; SELECT COUNT(*) AS n FROM t WHERE name = 's1';
--> (1)
--> n
--> 1
--> (1)
--> n
--> 0
--> (1)
COMMIT;
--> !3902 16 1 line 1: The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.
ROLLBACK;
--> !3903 16 1 line 1: The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.
DECLARE @i int = 0; WHILE @i < 5 BEGIN SET @i += 1; IF @i = 2 CONTINUE; IF @i = 4 BREAK; PRINT @i; END
--> # 1
--> # 3
DECLARE @x TABLE (a int PRIMARY KEY, b varchar(3)); INSERT INTO @x VALUES (1, 'q'); BEGIN TRAN; INSERT INTO @x VALUES (2, 'r'); ROLLBACK; SELECT * FROM @x;
--> (1)
--> (1)
--> a|b
--> 1|q
--> 2|r
--> (2)
SELECT 1;
SELEC 2;
--> !102 15 1 line 2: Incorrect syntax near 'SELEC'.
EXEC ('SELECT 3 AS three');
--> three
--> 3
--> (1)
EXEC nothing_here;
--> !2812 16 62 line 1: Could not find stored procedure 'nothing_here'.
IF @@TRANCOUNT = 0 BEGIN BEGIN TRAN IF @@TRANCOUNT = 2 COMMIT TRAN END SAVE TRAN x; IF @@TRANCOUNT > 0 COMMIT TRAN; SELECT @@TRANCOUNT AS n;
--> n
--> 0
--> (1)
-- A key makes a column NOT NULL that says nothing, but not one that says NULL.
CREATE TABLE keyed (a int PRIMARY KEY);
CREATE TABLE bad (a int NULL PRIMARY KEY);
CREATE TABLE bad (a int NOT NULL, b int NULL, CONSTRAINT pk_bad PRIMARY KEY (a, b));
SELECT is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('keyed');
--> !8111 16 1 line 3: Cannot define PRIMARY KEY constraint on nullable column in table 'bad'.
--> !1750 16 0 line 3: Could not create constraint or index. See previous errors.
--> !8111 16 1 line 4: Cannot define PRIMARY KEY constraint on nullable column in table 'bad'.
--> !1750 16 0 line 4: Could not create constraint or index. See previous errors.
--> is_nullable
--> 0
--> (1)
CREATE TABLE long_key (a binary(10) NOT NULL, b binary(10) NOT NULL, c int NOT NULL, v int NULL, CONSTRAINT PK_long_key PRIMARY KEY (a, b, c DESC));
-->
CREATE UNIQUE INDEX by_v ON long_key (v);
-->
INSERT INTO long_key VALUES (0x0001, 0x00FF00, 1, 10), (0x0001, 0x00FF00, 2, 20), (0x0001, 0x00FF01, 1, 30), (0x0002, 0x, 1, 40), (0xFF, 0xFF, -1, 50);
--> (5)
SELECT c, v FROM long_key ORDER BY a, b, c DESC;
--> c|v
--> 2|20
--> 1|10
--> 1|30
--> 1|40
--> -1|50
--> (5)
SELECT c, v FROM long_key WHERE a = 0x00010000000000000000 AND b > 0x00FF0000000000000000;
--> c|v
--> 1|30
--> (1)
SELECT v FROM long_key WHERE a >= 0x00010000000000000000 AND a < 0x00FF0000000000000000 ORDER BY a DESC, b DESC, c;
--> v
--> 40
--> 30
--> 10
--> 20
--> (4)
INSERT INTO long_key VALUES (0x0001, 0x00FF00, 2, 60);
--> !2627 14 1 line 1: Violation of PRIMARY KEY constraint 'PK_long_key'. Cannot insert duplicate key in object 'dbo.long_key'. The duplicate key value is (0x00010000000000000000, 0x00FF0000000000000000, 2).
--> # The statement has been terminated.
INSERT INTO long_key VALUES (0x0001, 0x00FF00, 3, 20);
--> !2601 14 1 line 1: Cannot insert duplicate key row in object 'dbo.long_key' with unique index 'by_v'. The duplicate key value is (20).
--> # The statement has been terminated.
BEGIN TRAN;
-->
DELETE FROM long_key WHERE v = 20;
--> (1)
INSERT INTO long_key VALUES (0x0001, 0x00FF00, 2, 21);
--> (1)
UPDATE long_key SET b = 0xEE WHERE v = 30;
--> (1)
UPDATE long_key SET c = 7 - c, v = v + 1 WHERE a = 0x00020000000000000000;
--> (1)
DELETE FROM long_key WHERE a = 0xFF000000000000000000;
--> (1)
SELECT b, c, v FROM long_key ORDER BY a, b, c DESC;
--> b|c|v
--> 0x00FF0000000000000000|2|21
--> 0x00FF0000000000000000|1|10
--> 0xEE000000000000000000|1|30
--> 0x00000000000000000000|6|41
--> (4)
SELECT v, c FROM long_key WHERE v BETWEEN 20 AND 45 ORDER BY v;
--> v|c
--> 21|2
--> 30|1
--> 41|6
--> (3)
ROLLBACK;
-->
SELECT v, c FROM long_key WHERE v > 0 ORDER BY v;
--> v|c
--> 10|1
--> 20|2
--> 30|1
--> 40|1
--> 50|-1
--> (5)
UPDATE long_key SET c = c + 1;
--> (5)
DELETE FROM long_key WHERE v = 20;
--> (1)
DELETE FROM long_key WHERE v = 50;
--> (1)
INSERT INTO long_key VALUES (0xFF, 0xFF, 0, 51), (0xFF, 0xFF, 1, 52);
--> (2)
EXEC sp_rename 'long_key.c', 'd', 'COLUMN';
--> # Caution: Changing any part of an object name could break scripts and stored procedures.
ALTER TABLE long_key ADD e int NULL;
-->
INSERT INTO long_key VALUES (0xFE, 0xFF, 0, 53, 9);
--> (1)
SELECT d, v, e FROM long_key ORDER BY a, b, d DESC;
--> d|v|e
--> 2|10|NULL
--> 2|30|NULL
--> 2|40|NULL
--> 0|53|9
--> 1|52|NULL
--> 0|51|NULL
--> (6)
TRUNCATE TABLE long_key;
-->
INSERT INTO long_key VALUES (0xFE, 0xFF, 0, 53, 9), (0xFD, 0xFF, 0, 54, 9);
--> (2)
SELECT v FROM long_key WHERE a > 0x01 ORDER BY a, b, d DESC;
--> v
--> 54
--> 53
--> (2)
-- INCLUDE: the catalogue tells of it, and the column stays.
CREATE TABLE inc (id int NOT NULL PRIMARY KEY, a int NULL, b varchar(max) NULL, c ntext NULL);
CREATE INDEX ix ON inc (a) INCLUDE (b, id);
SELECT index_id, index_column_id, column_id, key_ordinal, is_included_column FROM sys.index_columns WHERE object_id = OBJECT_ID('inc') ORDER BY 1, 2;
ALTER TABLE inc DROP COLUMN b;
--> index_id|index_column_id|column_id|key_ordinal|is_included_column
--> 1|1|1|1|0
--> 2|1|2|1|0
--> 2|2|3|0|1
--> 2|3|1|0|1
--> (4)
--> !5074 16 1 line 5: The index 'ix' is dependent on column 'b'.
--> !4922 16 9 line 5: ALTER TABLE DROP COLUMN b failed because one or more objects access this column.
CREATE INDEX bad ON inc (a) INCLUDE (nothing);
--> !1911 16 1 line 1: Column name 'nothing' does not exist in the target table or view.
CREATE INDEX bad ON inc (a) INCLUDE (b, a);
--> !1909 16 1 line 1: Cannot use duplicate column names in index. Column name 'a' listed more than once.
CREATE INDEX bad ON inc (a) INCLUDE (c);
--> !1999 16 1 line 1: Column 'c' in table 'inc' is of a type that is invalid for use as included column in an index.
CREATE TABLE heap (a int, b int);
CREATE CLUSTERED INDEX bad ON heap (a) INCLUDE (b);
SELECT COUNT(*) AS n FROM sys.indexes WHERE name = 'bad';
--> !10601 16 1 line 2: Cannot specify included columns for a clustered index.
--> n
--> 0
--> (1)
-- several rows of VALUES have one type a column
CREATE TABLE #several (v varchar(20));
INSERT #several VALUES ('a'), (1);
--> !245 16 1 line 3: Conversion failed when converting the varchar value 'a' to data type int.
INSERT #several VALUES ('5'), (1), (NULL), (2.50);
SELECT v FROM #several;
--> (4)
--> v
--> 5.00
--> 1.00
--> NULL
--> 2.50
--> (4)
INSERT #several VALUES ('x'), (N'y'), (DEFAULT);
--> (3)
