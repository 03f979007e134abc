-- What lasts how long in a session, and what two sessions see of each other.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE t (id int NOT NULL PRIMARY KEY, v int NULL); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
--> (3)
-- a SET inside sp_executesql ends with it, one in a batch stays
EXEC sp_executesql N'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SET LOCK_TIMEOUT 5; SELECT transaction_isolation_level AS i, @@LOCK_TIMEOUT AS l FROM sys.dm_exec_sessions WHERE session_id = @@SPID';
--> i|l
--> 4|5
--> (1)
SELECT transaction_isolation_level AS i, @@LOCK_TIMEOUT AS l FROM sys.dm_exec_sessions WHERE session_id = @@SPID;
--> i|l
--> 2|-1
--> (1)
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
-->
SELECT transaction_isolation_level AS i FROM sys.dm_exec_sessions WHERE session_id = @@SPID; SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
--> i
--> 4
--> (1)
DECLARE @a int = 3; EXEC sp_executesql N'SET @x = @x * 2; SELECT @x AS inside', N'@x int OUTPUT', @x = @a OUTPUT; SELECT @a AS outside;
--> inside
--> 6
--> (1)
--> outside
--> 6
--> (1)
EXEC sp_executesql N'SELECT @missing';
--> !137 15 2 line 1: Must declare the scalar variable "@missing".
--> (status 137)
EXEC sp_executesql N'SELECT @p', N'@p int';
--> !8178 16 1 line 1: The parameterized query '(@p int)' expects the parameter '@p', which was not supplied.
EXEC sp_executesql N'BEGIN TRAN'; SELECT @@TRANCOUNT AS n; ROLLBACK;
--> !266 16 2 line 1: Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = 0, current count = 1.
--> n
--> 1
--> (1)
DECLARE @h int; EXEC sp_prepare @h OUTPUT, N'@p int', N'SELECT v FROM t WHERE id = @p'; EXEC sp_execute @h, 2; EXEC sp_execute @h, 3; EXEC sp_unprepare @h; EXEC sp_execute @h, 1;
--> v
--> 2
--> (1)
--> v
--> 3
--> (1)
--> !8179 16 2 line 1: Could not find prepared statement with handle 1.
DECLARE @h int; EXEC sp_prepexec @h OUTPUT, N'@p int, @q varchar(3)', N'SELECT @p AS p, @q AS q', 5, 'abcdef'; SELECT @h AS h;
--> p|q
--> 5|abc
--> (1)
--> h
--> 2
--> (1)
CREATE TABLE #t (a int); INSERT INTO #t VALUES (1); EXEC ('SELECT a FROM #t; CREATE TABLE #inner (b int)'); SELECT * FROM #inner;
--> (1)
--> a
--> 1
--> (1)
--> !208 16 1 line 1: Invalid object name '#inner'.
SELECT a FROM #t; CREATE TABLE #t (a int);
--> a
--> 1
--> (1)
--> !2714 16 6 line 1: There is already an object named '#t' in the database.
BEGIN TRAN; DROP TABLE #t; ROLLBACK; SELECT a FROM #t; BEGIN TRAN; CREATE TABLE #u (a int); ROLLBACK; SELECT * FROM #u;
--> a
--> 1
--> (1)
--> !208 16 1 line 1: Invalid object name '#u'.
EXEC sp_describe_undeclared_parameters N'SELECT v FROM t WHERE id = @P1 AND v > CAST(@P2 AS decimal(5,1)) OR @P3 IS NULL';
--> parameter_ordinal|name|suggested_system_type_id|suggested_system_type_name|suggested_max_length|suggested_precision|suggested_scale|suggested_user_type_id|suggested_user_type_database|suggested_user_type_schema|suggested_user_type_name|suggested_assembly_qualified_type_name|suggested_xml_collection_id|suggested_xml_collection_database|suggested_xml_collection_schema|suggested_xml_collection_name|suggested_is_xml_document|suggested_is_case_sensitive|suggested_is_fixed_length_clr_type|suggested_is_input|suggested_is_output|formal_parameter_name|suggested_tds_type_id|suggested_tds_length
--> 1|@P1|56|int|4|10|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|1|0|NULL|38|4
--> 2|@P2|106|decimal(5,1)|5|5|1|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|1|0|NULL|106|5
--> 3|@P3|231|nvarchar(4000)|8000|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|1|0|NULL|231|8000
--> (3)
EXEC sp_describe_first_result_set N'SELECT id, CAST(v AS varchar(7)) AS w FROM t WHERE id = @p', N'@p int';
--> is_hidden|column_ordinal|name|is_nullable|system_type_id|system_type_name|max_length|precision|scale|collation_name|user_type_id|user_type_database|user_type_schema|user_type_name|assembly_qualified_type_name|xml_collection_id|xml_collection_database|xml_collection_schema|xml_collection_name|is_xml_document|is_case_sensitive|is_fixed_length_clr_type|source_server|source_database|source_schema|source_table|source_column|is_identity_column|is_part_of_unique_key|is_updateable|is_computed_column|is_sparse_column_set|ordinal_in_order_by_list|order_by_is_descending|order_by_list_length|tds_type_id|tds_length|tds_collation_id|tds_collation_sort_id
--> 0|1|id|0|56|int|4|10|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 0|2|w|1|167|varchar(7)|7|0|0|SQL_Latin1_General_CP1_CI_AS|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|0|NULL|NULL|NULL|NULL|NULL|0|NULL|1|0|0|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> (2)
EXEC sp_tables @table_name = N't', @table_owner = N'dbo';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|TABLE_TYPE|REMARKS
--> shop|dbo|t|TABLE|NULL
--> (1)
EXEC sp_columns_100 N't', N'dbo', NULL, NULL, 0, 3;
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|DATA_TYPE|TYPE_NAME|PRECISION|LENGTH|SCALE|RADIX|NULLABLE|REMARKS|COLUMN_DEF|SQL_DATA_TYPE|SQL_DATETIME_SUB|CHAR_OCTET_LENGTH|ORDINAL_POSITION|IS_NULLABLE|SS_IS_SPARSE|SS_IS_COLUMN_SET|SS_IS_COMPUTED|SS_IS_IDENTITY|SS_UDT_CATALOG_NAME|SS_UDT_SCHEMA_NAME|SS_UDT_ASSEMBLY_TYPE_NAME|SS_XML_SCHEMACOLLECTION_CATALOG_NAME|SS_XML_SCHEMACOLLECTION_SCHEMA_NAME|SS_XML_SCHEMACOLLECTION_NAME|SS_DATA_TYPE
--> shop|dbo|t|id|4|int|10|4|0|10|0|NULL|NULL|4|NULL|NULL|1|NO|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|56
--> shop|dbo|t|v|4|int|10|4|0|10|1|NULL|NULL|4|NULL|NULL|2|YES|0|0|0|0|NULL|NULL|NULL|NULL|NULL|NULL|38
--> (2)
EXEC sp_pkeys N't';
--> TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|KEY_SEQ|PK_NAME
--> shop|dbo|t|id|1|PK__t__DF6E1CE3B6218C49
--> (1)
EXEC sp_datatype_info_100 12, 3;
--> TYPE_NAME|DATA_TYPE|PRECISION|LITERAL_PREFIX|LITERAL_SUFFIX|CREATE_PARAMS|NULLABLE|CASE_SENSITIVE|SEARCHABLE|UNSIGNED_ATTRIBUTE|MONEY|AUTO_INCREMENT|LOCAL_TYPE_NAME|MINIMUM_SCALE|MAXIMUM_SCALE|SQL_DATA_TYPE|SQL_DATETIME_SUB|NUM_PREC_RADIX|INTERVAL_PRECISION|USERTYPE
--> varchar|12|8000|'|'|max length|1|0|3|NULL|0|NULL|varchar|NULL|NULL|12|NULL|NULL|NULL|2
--> (1)
-- locks between two sessions
BEGIN TRAN; UPDATE t SET v = 20 WHERE id = 2;
--> (1)
--@ 2
SET LOCK_TIMEOUT 0; SELECT v FROM t WHERE id = 1; SELECT v FROM t WHERE id = 2; SELECT 'goes on' AS x;
--> v
--> 1
--> (1)
--> v
--> !1222 16 45 line 1: Lock request time out period exceeded.
--> x
--> goes on
--> (1)
SELECT v FROM t WITH (NOLOCK) WHERE id = 2; SELECT COUNT(*) AS n FROM t WITH (READPAST);
--> v
--> 20
--> (1)
--> n
--> 2
--> (1)
UPDATE t SET v = 0 WHERE id = 2;
--> !1222 16 45 line 1: Lock request time out period exceeded.
--> # The statement has been terminated.
--@ 1
COMMIT;
-->
--@ 2
SELECT v FROM t WHERE id = 2; SET LOCK_TIMEOUT -1;
--> v
--> 20
--> (1)
BEGIN TRAN; SELECT COUNT(*) AS n FROM t WITH (TABLOCKX);
--> n
--> 3
--> (1)
--@ 1
SET LOCK_TIMEOUT 0; INSERT INTO t VALUES (9, 9);
--> !1222 16 45 line 1: Lock request time out period exceeded.
--> # The statement has been terminated.
--@ 2
COMMIT;
-->
-- TOP looks at no row behind the last it gives, which may be locked; nor does it where it asks for more of a row than its key
--@ 1
CREATE TABLE many (id int NOT NULL PRIMARY KEY, v int NULL); INSERT INTO many SELECT value, 0 FROM GENERATE_SERIES(1, 500);
--> (500)
BEGIN TRAN; UPDATE many SET v = 1 WHERE id = 101;
--> (1)
--@ 2
SET LOCK_TIMEOUT 0;
-->
SELECT MAX(x.id) AS last FROM (SELECT TOP (100) id FROM many ORDER BY id) AS x;
--stats
--> last
--> 100
--> (1)
--> stats seeks=0 scans=1 examined=100 returned=1
SELECT MAX(x.id) AS last FROM (SELECT TOP (50) id FROM many WHERE v = 0 AND id % 2 = 0 ORDER BY id) AS x;
--> last
--> 100
--> (1)
SELECT MAX(x.id) AS last FROM (SELECT TOP (101) id FROM many ORDER BY id) AS x;
--> last
--> !1222 16 45 line 1: Lock request time out period exceeded.
SET LOCK_TIMEOUT -1;
-->
--@ 1
ROLLBACK; DROP TABLE many;
-->
--@ 2
SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT v FROM t;
--> v
--> !3952 16 1 line 1: Snapshot isolation transaction failed accessing database 'shop' because snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow snapshot isolation.
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-->
SELECT name FROM sys.databases WHERE name = 'shop'; SELECT COUNT(*) AS n FROM cdc.change_tables;
--> name
--> shop
--> (1)
--> !208 16 1 line 1: Invalid object name 'cdc.change_tables'.
SET IMPLICIT_TRANSACTIONS ON; SELECT COUNT(*) AS n FROM t; SELECT @@TRANCOUNT AS open_now; ROLLBACK; SET IMPLICIT_TRANSACTIONS OFF;
--> n
--> 3
--> (1)
--> open_now
--> 1
--> (1)
-- faults
EXEC tidesim.fault 'error', 'SELECT v FROM t%', 50555, 16, 2, 'planned', @nth = 2;
-->
SELECT v FROM t WHERE id = 1; SELECT v FROM t WHERE id = 1; SELECT v FROM t WHERE id = 1;
--> v
--> 1
--> (1)
--> !50555 16 2 line 1: planned
--> v
--> 1
--> (1)
EXEC tidesim.on_read 'dbo.t', 'INSERT INTO dbo.t VALUES (50, 50)';
-->
SELECT COUNT(*) AS n FROM t; SELECT COUNT(*) AS n FROM t;
--> n
--> 4
--> (1)
--> n
--> 4
--> (1)
SELECT GETDATE() AS now; EXEC tidesim.clock_advance 90000; SELECT GETDATE() AS now; WAITFOR DELAY '00:00:00';
--> now
--> 2026-03-01 12:00:00.000
--> (1)
--> now
--> 2026-03-01 12:01:30.000
--> (1)
SELECT CURRENT_TIMEZONE_ID() AS z; EXEC tidesim.zone 'Eastern Standard Time'; SELECT CURRENT_TIMEZONE_ID() AS z, GETDATE() AS now;
--> z
--> UTC
--> (1)
--> z|now
--> Eastern Standard Time|2026-03-01 07:01:30.000
--> (1)
SELECT 1 AS a
SELECT nothing FROM t
--> !207 16 1 line 2: Invalid column name 'nothing'.
SELECT 'x' AS a WHERE 1 = 0; SELECT @@ROWCOUNT AS n;
--> a
--> (0)
--> n
--> 0
--> (1)
