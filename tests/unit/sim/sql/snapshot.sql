-- The queries of a full snapshot (sqlserver.md 1.4, 1.5).
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name varchar(20) NULL, v int NULL);
-->
INSERT INTO t SELECT value, 'n' + CAST(value AS varchar(10)), value % 7 FROM GENERATE_SERIES(1, 1000);
--> (1000)
CREATE TABLE dbo.pair (a int NOT NULL, b nvarchar(10) NOT NULL, v int NULL, CONSTRAINT pk_pair PRIMARY KEY (a, b));
-->
INSERT INTO pair SELECT value / 10, N'k' + CAST(value % 10 AS nvarchar(10)), value FROM GENERATE_SERIES(0, 199);
--> (200)
CREATE TABLE dbo.empty_one (id bigint NOT NULL PRIMARY KEY);
-->
-- Q24
SELECT a.k AS key_min, z.k AS key_max
FROM (SELECT TOP (1) t.[id] AS k FROM [dbo].[t] AS t WHERE t.[id] IS NOT NULL ORDER BY t.[id]) AS a
CROSS JOIN
     (SELECT TOP (1) t.[id] AS k FROM [dbo].[t] AS t WHERE t.[id] IS NOT NULL ORDER BY t.[id] DESC) AS z;
--stats
--> key_min|key_max
--> 1|1000
--> (1)
--> stats seeks=0 scans=2 examined=2 returned=1
SELECT a.k AS key_min, z.k AS key_max
FROM (SELECT TOP (1) t.[id] AS k FROM [dbo].[t] AS t WHERE t.[id] IS NOT NULL AND t.[id] >= 10 AND t.[id] < 20 ORDER BY t.[id]) AS a
CROSS JOIN
     (SELECT TOP (1) t.[id] AS k FROM [dbo].[t] AS t WHERE t.[id] IS NOT NULL AND t.[id] >= 10 AND t.[id] < 20 ORDER BY t.[id] DESC) AS z;
--stats
--> key_min|key_max
--> 10|19
--> (1)
--> stats seeks=2 scans=0 examined=2 returned=1
SELECT a.k AS key_min, z.k AS key_max
FROM (SELECT TOP (1) t.[id] AS k FROM [dbo].[empty_one] AS t WHERE t.[id] IS NOT NULL ORDER BY t.[id]) AS a
CROSS JOIN
     (SELECT TOP (1) t.[id] AS k FROM [dbo].[empty_one] AS t WHERE t.[id] IS NOT NULL ORDER BY t.[id] DESC) AS z;
--> key_min|key_max
--> (0)
SELECT (SELECT MIN(id) FROM t WHERE id >= 100 AND id < 9223372036854775808) AS lo, (SELECT MAX(id) FROM t WHERE id >= 100 AND id < 200) AS hi;
--stats
--> lo|hi
--> 100|199
--> (1)
--> stats seeks=2 scans=0 examined=2 returned=1
-- Q25
EXEC sp_executesql N'EXEC sys.sp_spaceused @objname = @P1', N'@P1 nvarchar(20)', N'[dbo].[t]';
--> name|rows|reserved|data|index_size|unused
--> t|1000                |16 KB|16 KB|8 KB|0 KB
--> (1)
-- Q26
SELECT x.b, COUNT_BIG(*) AS n, SUM(CAST(x.o AS decimal(38,0))) AS key_sum
FROM (SELECT q.o, q.o / CAST(300 AS bigint) - IIF(q.o % CAST(300 AS bigint) < 0, 1, 0) AS b
      FROM (SELECT CAST(t.[id] AS bigint) AS o FROM [dbo].[t] AS t
            WHERE t.[id] IS NOT NULL AND t.[id] >= 100 AND t.[id] < 1001) AS q) AS x
GROUP BY x.b;
--stats
--> b|n|key_sum
--> 0|200|39900
--> 1|300|134850
--> 2|300|224850
--> 3|101|95950
--> (4)
--> stats seeks=1 scans=0 examined=901 returned=4
-- Q27
SELECT TOP (1) t.[a], t.[b] FROM [dbo].[pair] AS t ORDER BY t.[a] DESC, t.[b] DESC;
--stats
--> a|b
--> 19|k9
--> (1)
--> stats seeks=0 scans=1 examined=1 returned=1
-- Q28
SELECT u.[a], u.[b]
FROM (      SELECT p.* FROM (SELECT TOP (26) t.[a], t.[b] FROM [dbo].[pair] AS t
                             WHERE t.a = 3 AND t.b >= CAST(N'k5' AS nvarchar(10)) AND (t.a < 7 OR (t.a = 7 AND t.b < CAST(N'k2' AS nvarchar(10)))) ORDER BY t.[a], t.[b]) AS p
  UNION ALL SELECT p.* FROM (SELECT TOP (26) t.[a], t.[b] FROM [dbo].[pair] AS t WHERE t.a > 3 AND t.a < 7 ORDER BY t.[a], t.[b]) AS p
  UNION ALL SELECT p.* FROM (SELECT TOP (26) t.[a], t.[b] FROM [dbo].[pair] AS t WHERE t.a = 7 AND t.b < CAST(N'k2' AS nvarchar(10)) AND t.a > 3 ORDER BY t.[a], t.[b]) AS p ) AS u
ORDER BY u.[a], u.[b] OFFSET 25 ROWS FETCH NEXT 1 ROWS ONLY;
--stats
--> a|b
--> 6|k0
--> (1)
--> stats seeks=3 scans=0 examined=33 returned=1
-- Q29: pieces, disjoint and complete
SELECT t.[a], t.[b], t.v FROM [dbo].[pair] AS t WHERE t.a = 3 AND t.b >= CAST(N'k8' AS nvarchar(10)) AND (t.a < 5 OR (t.a = 5 AND (t.b < CAST(N'k1' AS nvarchar(10)) OR t.b IS NULL)))
UNION ALL SELECT t.[a], t.[b], t.v FROM [dbo].[pair] AS t WHERE t.a > 3 AND (t.a < 5 OR t.a IS NULL)
UNION ALL SELECT t.[a], t.[b], t.v FROM [dbo].[pair] AS t WHERE t.a = 5 AND (t.b < CAST(N'k1' AS nvarchar(10)) OR t.b IS NULL) AND t.a > 3;
--stats
--> a|b|v
--> 3|k8|38
--> 3|k9|39
--> 4|k0|40
--> 4|k1|41
--> 4|k2|42
--> 4|k3|43
--> 4|k4|44
--> 4|k5|45
--> 4|k6|46
--> 4|k7|47
--> 4|k8|48
--> 4|k9|49
--> 5|k0|50
--> (13)
--> stats seeks=3 scans=0 examined=13 returned=13
SET LOCK_TIMEOUT 1000; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT COUNT(*) FROM (SELECT [id], [name], [v] FROM [dbo].[t] AS t WHERE 1 = 1 AND id < 5 UNION ALL SELECT [id], [name], [v] FROM [dbo].[t] AS t WHERE 1 = 0) AS x;
--stats
--> 
--> 4
--> (1)
--> stats seeks=1 scans=0 examined=4 returned=1
SELECT [id] FROM [dbo].[t] AS t WHERE (t.id < CAST(N'4' AS int) OR t.id IS NULL);
--stats
--> id
--> 1
--> 2
--> 3
--> (3)
--> stats seeks=1 scans=0 examined=3 returned=3
SELECT [id] FROM [dbo].[t] AS t WHERE t.id > 998 AND t.id < 2147483648.5;
--stats
--> id
--> 999
--> 1000
--> (2)
--> stats seeks=1 scans=0 examined=2 returned=2
SELECT [id] FROM [dbo].[t] AS t WHERE t.id >= 997.5 AND t.id <= 999.9;
--stats
--> id
--> 998
--> 999
--> (2)
--> stats seeks=1 scans=0 examined=2 returned=2
-- Q30
WITH a AS (SELECT t.[a], t.[b], NTILE(4) OVER (ORDER BY t.[a], t.[b]) AS [__$tile] FROM [dbo].[pair] AS t),
     b AS (SELECT a.*, ROW_NUMBER() OVER (PARTITION BY a.[__$tile] ORDER BY a.[a], a.[b]) AS [__$pos] FROM a)
SELECT b.[a], b.[b] FROM b WHERE b.[__$tile] > 1 AND b.[__$pos] = 1 ORDER BY b.[__$tile];
--> a|b
--> 5|k0
--> 10|k0
--> 15|k0
--> (3)
SELECT a, b FROM (SELECT a, b, [__$tile], LAG([__$tile]) OVER (ORDER BY a, b) AS [__$prev] FROM (SELECT a, b, NTILE(4) OVER (ORDER BY a, b) AS [__$tile] FROM dbo.pair) a) b WHERE [__$tile] <> [__$prev] ORDER BY [__$tile];
--> a|b
--> 5|k0
--> 10|k0
--> 15|k0
--> (3)
-- Q31
SELECT COUNT_BIG(*) AS n FROM [dbo].[t] AS t;
--> n
--> 1000
--> (1)
SELECT CAST(0 AS bigint) AS b, COUNT_BIG(*) AS n, CAST(NULL AS decimal(38,0)) AS s FROM t;
--> b|n|s
--> 0|1000|NULL
--> (1)
-- MIN and MAX of an index's column are seeks
SELECT MAX(b) FROM pair WHERE a = 4;
--stats
--> 
--> k9
--> (1)
--> stats seeks=1 scans=0 examined=1 returned=1
