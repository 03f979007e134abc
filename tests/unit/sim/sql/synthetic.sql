-- Tables whose rows are computed, and grouping over integers, which goes a thousand rows at a time until a value does not fit.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
EXEC tidesim.synthetic 'dbo.big', 100000, 'narrow', 7;
-->
SELECT COUNT(*) AS n, MIN(id) AS low, MAX(id) AS high FROM dbo.big;
--> n|low|high
--> 100000|1|100000
--> (1)
SELECT TOP 2 * FROM dbo.big ORDER BY id DESC;
--> id|a|made|big|c|code
--> 100000|8628|2026-01-02 03:46:39.000|1076727360582|5099|code2801
--> 99999|6334|2026-01-02 03:46:38.000|953946240935|5481|code2090
--> (2)
SELECT id FROM dbo.big WHERE id > 500 AND id <= 503;
--> id
--> 501
--> 502
--> 503
--> (3)
SELECT COUNT(*) AS n, MIN(id) AS low, MAX(id) AS high FROM dbo.big WHERE id >= 10 AND id < 20;
--> n|low|high
--> 10|10|19
--> (1)
INSERT INTO dbo.big (id) VALUES (1);
--> !50001 16 1 line 1: tidesim: a change of the synthetic table 'big' is not supported
UPDATE dbo.big SET a = 1 WHERE id = 1;
--> !50001 16 1 line 1: tidesim: a change of the synthetic table 'big' is not supported
CREATE INDEX x ON dbo.big (a);
--> !50001 16 1 line 1: tidesim: a change of the synthetic table 'big' is not supported
TRUNCATE TABLE dbo.big;
--> !50001 16 1 line 1: tidesim: a change of the synthetic table 'big' is not supported
EXEC tidesim.synthetic 'dbo.skew', 1000, 'skewed';
-->
SELECT MIN(id) AS low, MAX(id) AS high, COUNT_BIG(*) AS n FROM dbo.skew;
--> low|high|n
--> -1|9223372036854775807|1000
--> (1)
SELECT id FROM dbo.skew ORDER BY id OFFSET 997 ROWS FETCH NEXT 2 ROWS ONLY;
--> id
--> 2000000997000000
--> 2000000998000000
--> (2)
EXEC tidesim.synthetic 'dbo.x', 0;
EXEC tidesim.synthetic 'dbo.x', 10, 'odd';
--> !50000 16 1 line 1: A synthetic table has from 1 to 1000000000 rows.
--> !50000 16 1 line 1: There is no profile 'odd' of a synthetic table.
SELECT COUNT(*) FROM dbo.skew WHERE a IS NOT NULL;
--> 
--> 1000
--> (1)
DROP TABLE dbo.skew;
-->
EXEC tidesim.synthetic 'ct', 1000, 'changes';
-->
EXEC tidesim.synthetic 'commits', 16, 'commits';
-->
SELECT COUNT(*) AS n, COUNT(DISTINCT m.start_lsn) AS commits FROM ct AS c INNER JOIN commits AS m ON m.start_lsn = c.[__$start_lsn] WHERE c.[__$seqval] < c.[__$start_lsn];
--> n|commits
--> 1000|16
--> (1)
SELECT TOP 6 [__$operation], id FROM ct ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation];
--> __$operation|id
--> 2|1
--> 3|1
--> 4|1
--> 1|1
--> 2|2
--> 3|2
--> (6)
SELECT COUNT(*) FROM ct WHERE [__$start_lsn] = 0x0000002A000000120041;
--> 
--> 64
--> (1)
CREATE TABLE dbo.n (k int NOT NULL, v int NULL, b bigint NOT NULL, t tinyint NOT NULL);
INSERT INTO dbo.n VALUES (-25, 1, 9223372036854775807, 255), (-21, NULL, 1, 0), (-20, 3, -5, 7), (0, 4, 0, 1), (9, 5, 2, 2), (10, 6, 3, 3);
--> (6)
SELECT q.b, COUNT(*) AS n, SUM(q.k) AS s, MIN(q.k) AS low, MAX(q.k) AS high FROM (SELECT k, k / 10 - IIF(k % 10 < 0, 1, 0) AS b FROM dbo.n) AS q GROUP BY q.b;
--> b|n|s|low|high
--> -3|2|-46|-25|-21
--> -2|1|-20|-20|-20
--> 0|2|9|0|9
--> 1|1|10|10|10
--> (4)
SELECT SUM(b) FROM dbo.n;
--> 
--> !8115 16 2 line 1: Arithmetic overflow error converting expression to data type bigint.
SELECT SUM(CAST(b AS decimal(38,0))) AS s, SUM(t) AS t, COUNT_BIG(t) AS n FROM dbo.n;
--> s|t|n
--> 9223372036854775808|268|6
--> (1)
SELECT SUM(b + 1) FROM dbo.n;
--> 
--> !8115 16 2 line 1: Arithmetic overflow error converting expression to data type bigint.
SELECT SUM(100 / k) FROM dbo.n;
--> 
--> !8134 16 1 line 1: Divide by zero error encountered.
SELECT SUM(CASE WHEN k = 0 THEN 0 ELSE 100 / k END) AS s FROM dbo.n;
--> s
--> 8
--> (1)
SELECT SUM(k) AS s, COUNT(*) AS n FROM dbo.n WHERE k > 100;
--> s|n
--> NULL|0
--> (1)
SELECT k % -1 AS r, COUNT(*) AS n FROM dbo.n GROUP BY k % -1;
--> r|n
--> 0|6
--> (1)
SELECT SUM(v) AS s FROM dbo.n;
--> s
--> 19
--> (1)
SELECT SUM(CAST(k AS tinyint)) FROM dbo.n;
--> 
--> !220 16 1 line 1: Arithmetic overflow error for data type tinyint, value = -25.
SELECT t.id, (SELECT COUNT(*) FROM dbo.big AS x WHERE x.id <= t.id) AS below FROM dbo.big AS t WHERE t.id IN (3, 7);
--> id|below
--> 3|3
--> 7|7
--> (2)
-- keys have a longest length
CREATE TABLE dbo.keys (a varchar(8000) NOT NULL CONSTRAINT pk_keys PRIMARY KEY, b nvarchar(4000) NULL);
CREATE INDEX ix_b ON dbo.keys (b);
INSERT INTO dbo.keys VALUES (REPLICATE('x', 900), REPLICATE(N'y', 850));
--> (1)
INSERT INTO dbo.keys VALUES (REPLICATE('x', 901), N'y');
--> !1946 16 3 line 1: Operation failed. The index entry of length 901 bytes for the index 'pk_keys' exceeds the maximum length of 900 bytes for clustered indexes.
--> # The statement has been terminated.
INSERT INTO dbo.keys VALUES ('x', REPLICATE(N'y', 851));
--> !1946 16 3 line 1: Operation failed. The index entry of length 1702 bytes for the index 'ix_b' exceeds the maximum length of 1700 bytes for nonclustered indexes.
--> # The statement has been terminated.
