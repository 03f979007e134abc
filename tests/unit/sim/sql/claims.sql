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
--> !7119 16 1 line 1: Attempting to grow LOB beyond maximum allowed size of 2147483647 bytes.
WITH c0 AS (SELECT 1 AS a), c1 AS (SELECT x.a FROM c0 x, c0 y), c2 AS (SELECT x.a FROM c1 x, c1 y), c3 AS (SELECT x.a FROM c2 x, c2 y), c4 AS (SELECT x.a FROM c3 x, c3 y), c5 AS (SELECT x.a FROM c4 x, c4 y), c6 AS (SELECT x.a FROM c5 x, c5 y), c7 AS (SELECT x.a FROM c6 x, c6 y), c8 AS (SELECT x.a FROM c7 x, c7 y), c9 AS (SELECT x.a FROM c8 x, c8 y), c10 AS (SELECT x.a FROM c9 x, c9 y), c11 AS (SELECT x.a FROM c10 x, c10 y), c12 AS (SELECT x.a FROM c11 x, c11 y), c13 AS (SELECT x.a FROM c12 x, c12 y), c14 AS (SELECT x.a FROM c13 x, c13 y), c15 AS (SELECT x.a FROM c14 x, c14 y), c16 AS (SELECT x.a FROM c15 x, c15 y), c17 AS (SELECT x.a FROM c16 x, c16 y), c18 AS (SELECT x.a FROM c17 x, c17 y), c19 AS (SELECT x.a FROM c18 x, c18 y), c20 AS (SELECT x.a FROM c19 x, c19 y), c21 AS (SELECT x.a FROM c20 x, c20 y), c22 AS (SELECT x.a FROM c21 x, c21 y), c23 AS (SELECT x.a FROM c22 x, c22 y), c24 AS (SELECT x.a FROM c23 x, c23 y), c25 AS (SELECT x.a FROM c24 x, c24 y), c26 AS (SELECT x.a FROM c25 x, c25 y), c27 AS (SELECT x.a FROM c26 x, c26 y), c28 AS (SELECT x.a FROM c27 x, c27 y), c29 AS (SELECT x.a FROM c28 x, c28 y), c30 AS (SELECT x.a FROM c29 x, c29 y), c31 AS (SELECT x.a FROM c30 x, c30 y), c32 AS (SELECT x.a FROM c31 x, c31 y), c33 AS (SELECT x.a FROM c32 x, c32 y), c34 AS (SELECT x.a FROM c33 x, c33 y), c35 AS (SELECT x.a FROM c34 x, c34 y), c36 AS (SELECT x.a FROM c35 x, c35 y), c37 AS (SELECT x.a FROM c36 x, c36 y), c38 AS (SELECT x.a FROM c37 x, c37 y), c39 AS (SELECT x.a FROM c38 x, c38 y) SELECT * FROM c39;
--> !8623 16 1 line 1: The query processor ran out of internal resources and could not produce a query plan. This is a rare event and only expected for extremely complex queries or queries that reference a very large number of tables or partitions. Please simplify the query.
SET FMTONLY ON; INSERT INTO i1 (b) VALUES (3); SET FMTONLY OFF;
-->
