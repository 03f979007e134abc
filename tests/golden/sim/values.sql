SELECT CASE WHEN 'a' = 'a  ' THEN 1 ELSE 0 END AS padded, CASE WHEN 'a' LIKE 'a ' THEN 1 ELSE 0 END AS liked, LEN('a  ') AS len, DATALENGTH('a  ') AS bytes, CASE WHEN 'ABC' = 'abc' THEN 1 ELSE 0 END AS folded, CASE WHEN 'ABC' = 'abc' COLLATE Latin1_General_BIN2 THEN 1 ELSE 0 END AS exact;
SELECT CASE WHEN 0x01 = 0x0100 THEN 1 ELSE 0 END AS zeros, CASE WHEN 0x02 > 0x0100 THEN 1 ELSE 0 END AS larger;
SELECT v FROM (VALUES ('k10'), ('k2'), ('k1'), ('K0')) t(v) ORDER BY v;
SELECT v FROM (VALUES (CAST('01000000-0000-0000-0000-000000000000' AS uniqueidentifier)), ('00010000-0000-0000-0000-000000000000'), ('00000000-0000-0000-0000-000000000001'), ('00000000-0000-0000-0100-000000000000')) t(v) ORDER BY v;
SELECT v FROM (VALUES (1), (NULL), (-1)) t(v) ORDER BY v DESC;
GO
SELECT CAST('2024-01-01 00:00:00.002' AS datetime) AS a, CAST('2024-01-01 00:00:00.005' AS datetime) AS b, CAST('2024-12-31 23:59:59.999' AS datetime) AS c;
SELECT CAST('2024-01-01 10:00:29.998' AS smalldatetime) AS a, CAST('2024-01-01 10:00:29.999' AS smalldatetime) AS b;
SELECT CAST(CAST('2024-01-01 10:00:00.12345' AS datetime2) AS datetime2(4)) AS a, CAST('23:59:59.99' AS time(1)) AS b;
SELECT CASE WHEN CAST('2024-01-01 10:00 +02:00' AS datetimeoffset) = '2024-01-01 08:00 +00:00' THEN 1 ELSE 0 END AS same_instant;
SELECT CAST('2024-01-01 10:00:00.1234' AS datetime) AS never;
GO
SELECT CAST(1 AS decimal(9, 2)) / CAST(3 AS decimal(9, 2)) AS a, CAST(2 AS decimal(9, 2)) * CAST(3 AS decimal(9, 3)) AS b, CAST(1 AS decimal(9, 2)) + CAST(1 AS decimal(9, 4)) AS c, 1.0 / 3 AS d, 10 % 3.5 AS e;
SELECT CAST(1 AS money) / 3 AS m, $1.2345 * 2 AS n, 7 / 2 AS i, -7 / 2 AS j, -7 % 3 AS k;
SELECT CAST(2.5 AS int) AS a, CAST(-2.5 AS int) AS b, CAST(2.5 AS decimal(3, 0)) AS c, ROUND(2.345, 2) AS d, CAST('true' AS bit) AS e, CAST(-3 AS bit) AS f;
SELECT 2147483647 + 1 AS never;
SELECT 2147483648 + 1 AS numeric_literal;
SELECT CAST(300 AS tinyint) AS never;
SELECT 5 / 0 AS never;
GO
SELECT 'x' + 1 AS never;
GO
SELECT 1 + '2' AS a, '1' + '2' AS b, CAST(123456 AS varchar(3)) AS stars, CAST('abcdef' AS varchar(3)) AS cut, 'a' + NULL AS n;
SELECT CAST(0x0102 AS int) AS a, CAST(258 AS varbinary(4)) AS b, CONVERT(varchar(10), 0x0aff, 1) AS c, CONVERT(varchar(10), 0x0aff, 2) AS d;
SELECT CONVERT(varbinary(4), '0x0g', 1) AS never;
GO
SELECT CONVERT(varchar(30), CAST('2024-02-03 04:05:06.007' AS datetime), 121) AS a, CONVERT(varchar(30), CAST('2024-02-03 04:05:06.007' AS datetime), 0) AS b, CONVERT(varchar(30), CAST('2024-02-03' AS date), 104) AS c;
GO
CREATE TABLE #c (a varchar(5) COLLATE Latin1_General_CS_AS, b varchar(5) COLLATE Latin1_General_CI_AS, t text, x xml, f bit);
GO
SELECT * FROM #c WHERE a = b;
GO
SELECT * FROM #c WHERE a = b COLLATE Latin1_General_CI_AS;
SELECT * FROM #c ORDER BY t;
GO
SELECT DISTINCT t FROM #c;
GO
SELECT * FROM #c WHERE x = x;
GO
SELECT MAX(f) FROM #c;
GO
