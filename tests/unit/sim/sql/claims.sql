-- What statements claim: numbers too large, names too long, and texts that RAISERROR makes of its arguments.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
RAISERROR('[%5d|%-5d|%05d|%+d|%.3d|%x|%X|%#x|%o|%u|%5s|%-5s|%.2s|%%]', 16, 1, 42, 42, 42, 42, 7, 255, 255, 255, 8, -1, 'ab', 'ab', 'abcd');
--> !50000 16 1 line 1: [   42|42   |00042|+42|007|ff|FF|0xff|10|4294967295|   ab|ab   |ab|%]
RAISERROR('%*d|%-*s|%.*s|', 16, 1, 4, 7, 4, 'x', 2, 'abc');
--> !50000 16 1 line 1:    7|x   |ab|
DECLARE @b bigint = 5000000000; RAISERROR('%I64d %I64x', 16, 1, @b, @b);
--> !50000 16 1 line 1: 5000000000 12a05f200
DECLARE @b bigint = 5; RAISERROR('%d', 16, 1, @b);
--> !2786 16 1 line 1: The data type of substitution parameter 1 does not match the expected type of the format specification.
RAISERROR('%d', 16, 1, 'x');
--> !2786 16 1 line 1: The data type of substitution parameter 1 does not match the expected type of the format specification.
RAISERROR('%s', 16, 1, 1);
--> !2786 16 1 line 1: The data type of substitution parameter 1 does not match the expected type of the format specification.
RAISERROR('%q', 16, 1, 1);
--> !2787 16 1 line 1: Invalid format specification: '%q'.
RAISERROR('a%', 16, 1);
--> !2787 16 1 line 1: Invalid format specification: '%'.
RAISERROR('%d and %s', 16, 1, NULL);
--> !50000 16 1 line 1: (null) and (null)
RAISERROR(N'%s', -1, -1, N'not an error');
--> # not an error
RAISERROR(N'%s', 19, 1, N'x');
--> !2754 16 1 line 1: Error severity levels greater than 18 can only be specified by members of the sysadmin role, using the WITH LOG option.
RAISERROR('state', 16, 300);
--> !50000 16 255 line 1: state
RAISERROR(60000, 16, 1);
--> !18054 16 1 line 1: Error 60000, severity 16, state 1 was raised, but no message with that error number was found in sys.messages. If error is larger than 50000, make sure the user-defined message is added using sp_addmessage.
RAISERROR(50000, 16, 1);
--> !2732 16 1 line 1: Error number 50000 is invalid. The number must be from 13000 through 2147483647 and it cannot be 50000.
DECLARE @d varchar(9) = 'wrong'; RAISERROR('x', @d, 1);
--> !245 16 1 line 1: Conversion failed when converting the varchar value 'wrong' to data type int.
RAISERROR('many', 16, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21);
--> !2747 16 1 line 1: Too many substitution parameters for RAISERROR. Cannot exceed 20 substitution parameters.
THROW 400, N'x', 1;
--> !35100 16 10 line 1: Error number 400 in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647.
THROW 50001, N'x', 300;
--> !50001 16 255 line 1: x
SELECT LAG(a, 9223372036854775807) OVER (ORDER BY a) AS a, LEAD(a, 9223372036854775807, -1) OVER (ORDER BY a) AS b FROM (VALUES (1), (2)) v(a);
--> a|b
--> NULL|-1
--> NULL|-1
--> (2)
SELECT LAG(a, -1) OVER (ORDER BY a) AS a FROM (VALUES (1), (2)) v(a);
--> a
--> !8730 16 1 line 1: Offset parameter for Lag and Lead functions cannot be a negative value.
CREATE TABLE i1 (a int IDENTITY(2147483647, 1), b int);
-->
INSERT INTO i1 (b) VALUES (1);
--> (1)
INSERT INTO i1 (b) VALUES (2);
--> !8115 16 1 line 1: Arithmetic overflow error converting IDENTITY to data type int.
--> # The statement has been terminated.
CREATE TABLE i2 (a bigint IDENTITY(9223372036854775807, 9223372036854775807), b int);
-->
INSERT INTO i2 (b) VALUES (1), (2);
--> !8115 16 1 line 1: Arithmetic overflow error converting IDENTITY to data type bigint.
--> # The statement has been terminated.
SELECT COUNT(*) AS n FROM i2;
--> n
--> 0
--> (1)
CREATE TABLE i3 (a int IDENTITY(1, 0));
--> !2753 16 1 line 1: Identity column 'a' contains invalid INCREMENT.
CREATE TABLE i4 (b int); INSERT INTO i4 VALUES (1), (2); ALTER TABLE i4 ADD a tinyint IDENTITY(255, 1);
--> (2)
--> !8115 16 1 line 1: Arithmetic overflow error converting IDENTITY to data type tinyint.
BEGIN TRAN aaaaaaaaaabbbbbbbbbbccccccccccdd1;
--> !103 15 4 line 1: The identifier that starts with 'aaaaaaaaaabbbbbbbbbbccccccccccdd' is too long. Maximum length is 32.
BEGIN TRAN aaaaaaaaaabbbbbbbbbbccccccccccdd; COMMIT; SELECT @@TRANCOUNT AS n;
--> n
--> 0
--> (1)
DECLARE @a varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 40000); SELECT DATALENGTH(REPLACE(@a, 'x', @a)) AS n;
--> n
--> !50001 16 1 line 1: tidesim: a value that grows past 268435456 bytes is not supported
WITH c0 AS (SELECT 1 AS a), c1 AS (SELECT x.a FROM c0 x, c0 y), c2 AS (SELECT x.a FROM c1 x, c1 y), c3 AS (SELECT x.a FROM c2 x, c2 y), c4 AS (SELECT x.a FROM c3 x, c3 y), c5 AS (SELECT x.a FROM c4 x, c4 y), c6 AS (SELECT x.a FROM c5 x, c5 y), c7 AS (SELECT x.a FROM c6 x, c6 y), c8 AS (SELECT x.a FROM c7 x, c7 y), c9 AS (SELECT x.a FROM c8 x, c8 y), c10 AS (SELECT x.a FROM c9 x, c9 y), c11 AS (SELECT x.a FROM c10 x, c10 y), c12 AS (SELECT x.a FROM c11 x, c11 y), c13 AS (SELECT x.a FROM c12 x, c12 y), c14 AS (SELECT x.a FROM c13 x, c13 y), c15 AS (SELECT x.a FROM c14 x, c14 y), c16 AS (SELECT x.a FROM c15 x, c15 y), c17 AS (SELECT x.a FROM c16 x, c16 y), c18 AS (SELECT x.a FROM c17 x, c17 y), c19 AS (SELECT x.a FROM c18 x, c18 y), c20 AS (SELECT x.a FROM c19 x, c19 y), c21 AS (SELECT x.a FROM c20 x, c20 y), c22 AS (SELECT x.a FROM c21 x, c21 y), c23 AS (SELECT x.a FROM c22 x, c22 y), c24 AS (SELECT x.a FROM c23 x, c23 y), c25 AS (SELECT x.a FROM c24 x, c24 y), c26 AS (SELECT x.a FROM c25 x, c25 y), c27 AS (SELECT x.a FROM c26 x, c26 y), c28 AS (SELECT x.a FROM c27 x, c27 y), c29 AS (SELECT x.a FROM c28 x, c28 y), c30 AS (SELECT x.a FROM c29 x, c29 y), c31 AS (SELECT x.a FROM c30 x, c30 y), c32 AS (SELECT x.a FROM c31 x, c31 y), c33 AS (SELECT x.a FROM c32 x, c32 y), c34 AS (SELECT x.a FROM c33 x, c33 y), c35 AS (SELECT x.a FROM c34 x, c34 y), c36 AS (SELECT x.a FROM c35 x, c35 y), c37 AS (SELECT x.a FROM c36 x, c36 y), c38 AS (SELECT x.a FROM c37 x, c37 y), c39 AS (SELECT x.a FROM c38 x, c38 y) SELECT * FROM c39;
--> !8623 16 1 line 1: The query processor ran out of internal resources and could not produce a query plan. This is a rare event and only expected for extremely complex queries or queries that reference a very large number of tables or partitions. Please simplify the query.
SET FMTONLY ON; INSERT INTO i1 (b) VALUES (3); SET FMTONLY OFF;
-->
CREATE TABLE ord (id int PRIMARY KEY, v int);
-->
SELECT * FROM ord ORDER BY -1;
--> !108 15 1 line 1: The ORDER BY position number -1 is out of range of the number of items in the select list.
SELECT * FROM ord ORDER BY 99999999999;
--> !408 16 1 line 1: A constant expression was encountered in the ORDER BY list, position 1.
SELECT * FROM ord ORDER BY v, 1 + 1;
--> !408 16 1 line 1: A constant expression was encountered in the ORDER BY list, position 2.
SELECT id AS x FROM ord UNION SELECT 1 ORDER BY 'a';
--> !408 16 1 line 1: A constant expression was encountered in the ORDER BY list, position 1.
SET ROWCOUNT -1;
--> !1080 15 1 line 1: The integer value -1 is out of range.
SET ROWCOUNT 3000000000;
--> !1080 15 1 line 1: The integer value 3000000000 is out of range.
SET LOCK_TIMEOUT -2;
--> !1080 15 1 line 1: The integer value -2 is out of range.
SET TEXTSIZE 2147483648;
--> !1080 15 1 line 1: The integer value 2147483648 is out of range.
DECLARE @b bigint = 3000000000; SET LOCK_TIMEOUT @b;
--> !8115 16 2 line 1: Arithmetic overflow error converting expression to data type int.
SET TEXTSIZE -1; SET LOCK_TIMEOUT -1; SET ROWCOUNT 0; SELECT @@TEXTSIZE AS size, @@LOCK_TIMEOUT AS wait;
--> size|wait
--> 2147483647|-1
--> (1)
CREATE TABLE wide (a char(8000), b char(54));
--> !1701 16 1 line 1: Creating or altering table 'wide' failed because the minimum row size would be 8061, including 7 bytes of internal overhead. This exceeds the maximum allowable table row size of 8060 bytes.
CREATE TABLE wide (a char(8000), b char(53), c varchar(8000), d nvarchar(max));
-->
ALTER TABLE wide ADD e bit;
--> !1701 16 1 line 1: Creating or altering table 'wide' failed because the minimum row size would be 8061, including 7 bytes of internal overhead. This exceeds the maximum allowable table row size of 8060 bytes.
ALTER TABLE wide ALTER COLUMN b char(10);
--> !1701 16 1 line 1: Creating or altering table 'wide' failed because the minimum row size would be 8070, including 7 bytes of internal overhead. This exceeds the maximum allowable table row size of 8060 bytes.
ALTER TABLE wide ALTER COLUMN b char(53) NOT NULL; DROP TABLE wide;
-->
CREATE TABLE ix (a int INDEX ia, b int, c int, INDEX bc UNIQUE CLUSTERED (b, c DESC), CONSTRAINT pk_ix PRIMARY KEY (a), INDEX cc (c));
-->
SELECT name, type_desc, is_unique, is_unique_constraint FROM sys.indexes WHERE object_id = OBJECT_ID('ix') ORDER BY name;
--> name|type_desc|is_unique|is_unique_constraint
--> bc|CLUSTERED|1|0
--> cc|NONCLUSTERED|0|0
--> ia|NONCLUSTERED|0|0
--> pk_ix|NONCLUSTERED|1|0
--> (4)
INSERT ix VALUES (1, 1, 1), (2, 1, 1);
--> !2601 14 1 line 1: Cannot insert duplicate key row in object 'dbo.ix' with unique index 'bc'. The duplicate key value is (1, 1).
--> # The statement has been terminated.
CREATE TABLE ix2 (a int, INDEX i (a), INDEX i (a));
--> !1913 16 1 line 1: The operation failed because an index or statistics with name 'i' already exists on table 'dbo.ix2'.
CREATE TABLE ix2 (a int, INDEX i (nope));
--> !1911 16 1 line 1: Column name 'nope' does not exist in the target table or view.
CREATE TABLE ix2 (a int, INDEX i (a) WHERE a > 1);
--> !50001 16 1 line 1: tidesim: an INDEX inside a table definition with INCLUDE or WHERE is not supported
SELECT OBJECT_ID('ix2') AS id;
--> id
--> NULL
--> (1)
EXEC tidesim.on_read 'dbo.nowhere', 'SELECT 1';
--> !208 16 1 line 1: Invalid object name 'dbo.nowhere'.
DECLARE @s varchar(max) = REPLICATE(CAST('a' AS varchar(max)), 1000); SELECT LEN(REPLICATE(@s, 268436)) AS n;
--> n
--> !50001 16 1 line 1: tidesim: a value that grows past 268435456 bytes is not supported
DECLARE @s varchar(max) = REPLICATE(CAST(REPLICATE('a', 8000) AS varchar(max)), 17000); SELECT LEN(@s + @s) AS n;
--> n
--> !50001 16 1 line 1: tidesim: a value that grows past 268435456 bytes is not supported
DECLARE @s varchar(max) = REPLICATE(CAST(REPLICATE('a', 8000) AS varchar(max)), 17000); SELECT LEN(CONCAT(@s, 'a')) AS n;
--> n
--> !50001 16 1 line 1: tidesim: a value that grows past 268435456 bytes is not supported
DECLARE @s varchar(max) = REPLICATE(CAST(REPLICATE('a', 8000) AS varchar(max)), 17000); SELECT LEN(STUFF(@s, 1, 0, @s)) AS n;
--> n
--> !50001 16 1 line 1: tidesim: a value that grows past 268435456 bytes is not supported
DECLARE @m nvarchar(max) = REPLICATE(N'é', 2500); BEGIN TRY THROW 50000, @m, 1 END TRY BEGIN CATCH SELECT LEN(ERROR_MESSAGE()) AS n END CATCH;
--> n
--> 2048
--> (1)
DECLARE @m nvarchar(max) = REPLICATE(N'é', 2500); BEGIN TRY RAISERROR(@m, 16, 1) END TRY BEGIN CATCH SELECT LEN(ERROR_MESSAGE()) AS n, RIGHT(ERROR_MESSAGE(), 4) AS t END CATCH;
--> n|t
--> 2047|é...
--> (1)
