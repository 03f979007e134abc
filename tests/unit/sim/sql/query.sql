-- Joins, groups, windows, set operations, subqueries.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
CREATE TABLE c (id int PRIMARY KEY, name nvarchar(20) NOT NULL, city varchar(10) NULL);
CREATE TABLE o (id int IDENTITY(1,1) PRIMARY KEY, cid int NULL, amount decimal(10,2) NOT NULL, d date NULL);
INSERT INTO c VALUES (1, N'Ann', 'Oslo'), (2, N'Bob', NULL), (3, N'Cyd', 'Rome');
INSERT INTO o (cid, amount, d) VALUES (1, 10, '2026-01-01'), (1, 20, '2026-01-02'), (2, 5.5, '2026-01-02'), (NULL, 1, NULL);
--> (3)
--> (4)
SELECT c.name, o.amount FROM c JOIN o ON o.cid = c.id ORDER BY o.id;
--> name|amount
--> Ann|10.00
--> Ann|20.00
--> Bob|5.50
--> (3)
SELECT c.name, o.amount FROM c LEFT JOIN o ON o.cid = c.id AND o.amount > 6 ORDER BY c.id, o.id;
--> name|amount
--> Ann|10.00
--> Ann|20.00
--> Bob|NULL
--> Cyd|NULL
--> (4)
SELECT c.name, o.amount FROM c RIGHT JOIN o ON o.cid = c.id ORDER BY o.id;
--> name|amount
--> Ann|10.00
--> Ann|20.00
--> Bob|5.50
--> NULL|1.00
--> (4)
SELECT c.name, o.amount FROM c FULL JOIN o ON o.cid = c.id ORDER BY c.id, o.id;
--> name|amount
--> NULL|1.00
--> Ann|10.00
--> Ann|20.00
--> Bob|5.50
--> Cyd|NULL
--> (5)
SELECT c.name, x.n, x.s FROM c CROSS APPLY (SELECT COUNT(*) AS n, SUM(o.amount) AS s FROM o WHERE o.cid = c.id) x ORDER BY c.id;
--> name|n|s
--> Ann|2|30.00
--> Bob|1|5.50
--> Cyd|0|NULL
--> (3)
SELECT c.name, x.amount FROM c OUTER APPLY (SELECT TOP 1 o.amount FROM o WHERE o.cid = c.id ORDER BY o.amount DESC) x ORDER BY c.id;
--> name|amount
--> Ann|20.00
--> Bob|5.50
--> Cyd|NULL
--> (3)
SELECT name FROM c WHERE EXISTS (SELECT 1 FROM o WHERE o.cid = c.id) ORDER BY 1;
--> name
--> Ann
--> Bob
--> (2)
SELECT name FROM c WHERE id NOT IN (SELECT cid FROM o);
--> name
--> (0)
SELECT name FROM c WHERE id NOT IN (SELECT cid FROM o WHERE cid IS NOT NULL);
--> name
--> Cyd
--> (1)
SELECT name FROM c WHERE id IN (1, 3, 7) ORDER BY name DESC;
--> name
--> Cyd
--> Ann
--> (2)
SELECT name FROM c WHERE id >= ALL (SELECT id FROM c);
--> name
--> Cyd
--> (1)
SELECT name, (SELECT MAX(amount) FROM o WHERE o.cid = c.id) AS top_amount FROM c ORDER BY id;
--> name|top_amount
--> Ann|20.00
--> Bob|5.50
--> Cyd|NULL
--> (3)
SELECT city, COUNT(*) AS n FROM c GROUP BY city HAVING COUNT(*) > 0 ORDER BY city;
--> city|n
--> NULL|1
--> Oslo|1
--> Rome|1
--> (3)
SELECT d, SUM(amount) AS s, MIN(amount) AS lo, AVG(amount) AS mean, COUNT(DISTINCT cid) AS k FROM o GROUP BY d ORDER BY d;
--> d|s|lo|mean|k
--> NULL|1.00|1.00|1.000000|0
--> 2026-01-01|10.00|10.00|10.000000|1
--> 2026-01-02|25.50|5.50|12.750000|2
--> (3)
SELECT YEAR(d) AS y, COUNT(*) FROM o GROUP BY YEAR(d) ORDER BY YEAR(d);
--> y|
--> NULL|1
--> 2026|3
--> (2)
SELECT name, city FROM c GROUP BY city;
--> !8120 16 1 line 1: Column 'c.name' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.
SELECT id, ROW_NUMBER() OVER (PARTITION BY cid ORDER BY amount DESC) AS rn, SUM(amount) OVER (PARTITION BY cid) AS s, SUM(amount) OVER (ORDER BY id) AS run, RANK() OVER (ORDER BY d) AS rk,
  DENSE_RANK() OVER (ORDER BY d) AS dr, LAG(amount) OVER (ORDER BY id) AS prev, LEAD(amount, 1, 0) OVER (ORDER BY id) AS nxt, FIRST_VALUE(amount) OVER (ORDER BY id) AS f FROM o ORDER BY id;
--> id|rn|s|run|rk|dr|prev|nxt|f
--> 1|2|30.00|10.00|2|2|NULL|20.00|10.00
--> 2|1|30.00|30.00|3|3|10.00|5.50|10.00
--> 3|1|5.50|35.50|3|3|20.00|1.00|10.00
--> 4|1|1.00|36.50|1|1|5.50|0.00|10.00
--> (4)
SELECT DISTINCT d FROM o ORDER BY d DESC;
--> d
--> 2026-01-02
--> 2026-01-01
--> NULL
--> (3)
SELECT name FROM c UNION SELECT N'Ann' UNION ALL SELECT N'Ann' ORDER BY name;
--> name
--> Ann
--> Ann
--> Bob
--> Cyd
--> (4)
SELECT id FROM c EXCEPT SELECT cid FROM o ORDER BY id;
--> id
--> 3
--> (1)
SELECT id FROM c INTERSECT SELECT cid FROM o ORDER BY id;
--> id
--> 1
--> 2
--> (2)
SELECT TOP (2) WITH TIES d FROM o WHERE d IS NOT NULL ORDER BY d DESC;
--> d
--> 2026-01-02
--> 2026-01-02
--> (2)
SELECT id FROM o ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY;
--> id
--> 2
--> 3
--> (2)
WITH x AS (SELECT cid, SUM(amount) AS s FROM o GROUP BY cid), y (k, total) AS (SELECT cid, s FROM x WHERE s > 5) SELECT c.name, y.total FROM y JOIN c ON c.id = y.k ORDER BY y.total;
--> name|total
--> Bob|5.50
--> Ann|30.00
--> (2)
SELECT v.a, v.b FROM (VALUES (1, N'x'), (2, NULL)) AS v(a, b) ORDER BY v.a DESC;
--> a|b
--> 2|NULL
--> 1|x
--> (2)
SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY name DESC) AS names FROM c;
--> names
--> Cyd,Bob,Ann
--> (1)
SELECT value FROM GENERATE_SERIES(10, 1, -4);
--> value
--> 10
--> 6
--> 2
--> (3)
SELECT CASE WHEN city IS NULL THEN 'none' WHEN city LIKE 'R%' THEN 'R' ELSE city END AS t, IIF(id = 1, 'one', 'more') AS i, COALESCE(city, 'x') AS c, NULLIF(id, 2) AS n FROM c ORDER BY id;
--> t|i|c|n
--> Oslo|one|Oslo|1
--> none|more|x|NULL
--> R|more|Rome|3
--> (3)
-- three levels of correlation
SELECT c.name, (SELECT TOP 1 q.v FROM (SELECT (SELECT MAX(z.amount) FROM o z WHERE z.cid = c.id) AS v) q) AS v FROM c ORDER BY c.id;
--> name|v
--> Ann|20.00
--> Bob|5.50
--> Cyd|NULL
--> (3)
SELECT c.name FROM c, o WHERE c.id = o.cid AND o.amount = 20;
--> name
--> Ann
--> (1)
CREATE TABLE p (k int PRIMARY KEY, t varchar(10) NULL, n int NULL);
-->
CREATE TABLE q (id int PRIMARY KEY, k int NULL, b bigint NULL);
-->
INSERT INTO p VALUES (1, 'one', NULL), (2, NULL, 2);
--> (2)
INSERT INTO q VALUES (1, 1, 1), (2, 1, 1), (3, NULL, NULL), (4, 1, 1), (5, 2, 2), (6, 2, 2), (7, 3, 3), (8, 3, 3), (9, 2, 2);
--> (9)
SELECT q.id, p.t, p.n FROM q LEFT JOIN p ON p.k = q.k ORDER BY q.id;
--> id|t|n
--> 1|one|NULL
--> 2|one|NULL
--> 3|NULL|NULL
--> 4|one|NULL
--> 5|NULL|2
--> 6|NULL|2
--> 7|NULL|NULL
--> 8|NULL|NULL
--> 9|NULL|2
--> (9)
SELECT q.id, p.t, LEN(p.t) AS l, p.n + 1 AS m FROM q JOIN p ON p.k = q.b ORDER BY q.id;
--> id|t|l|m
--> 1|one|3|NULL
--> 2|one|3|NULL
--> 4|one|3|NULL
--> 5|NULL|NULL|3
--> 6|NULL|NULL|3
--> 9|NULL|NULL|3
--> (6)
SELECT q.id, p.t, p.k FROM q JOIN p ON p.k = q.k + 0 ORDER BY q.id;
--> id|t|k
--> 1|one|1
--> 2|one|1
--> 4|one|1
--> 5|NULL|2
--> 6|NULL|2
--> 9|NULL|2
--> (6)
SELECT nothing FROM c;
--> !207 16 1 line 1: Invalid column name 'nothing'.
SELECT c.nothing, x.id FROM c;
--> !207 16 1 line 1: Invalid column name 'nothing'.
SELECT id FROM c JOIN o ON c.id = o.cid;
--> !209 16 1 line 1: Ambiguous column name 'id'.
SELECT * FROM missing;
--> !208 16 1 line 1: Invalid object name 'missing'.
SELECT 1 / 0;
--> 
--> !8134 16 1 line 1: Divide by zero error encountered.
SELECT CAST('x' AS int);
--> 
--> !245 16 1 line 1: Conversion failed when converting the varchar value 'x' to data type int.
SELECT (SELECT id FROM c) AS many;
--> many
--> !512 16 1 line 1: Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.
SELECT name + 1 FROM c;
--> 
--> !245 16 1 line 1: Conversion failed when converting the nvarchar value 'Ann' to data type int.
SELECT id AS x FROM c WHERE x = 1;
--> !207 16 1 line 1: Invalid column name 'x'.
SELECT NOPE(1);
--> !195 15 10 line 1: 'NOPE' is not a recognized built-in function name.
SELECT id FROM c ORDER BY 5;
--> !108 15 1 line 1: The ORDER BY position number 5 is out of range of the number of items in the select list.
-- equal keys of an index come in the order of the clustered one, either way
CREATE TABLE m (b int NOT NULL, a int NOT NULL, at datetime NULL, w varchar(5) NULL, PRIMARY KEY (b DESC, a)); CREATE INDEX m_at ON m (at); CREATE INDEX m_w ON m (w, a);
INSERT m SELECT value / 10, value % 10, DATEADD(hour, value / 30, '2026-01-01'), IIF(value % 2 = 0, 'x', 'X') FROM GENERATE_SERIES(0, 99);
--> (100)
SELECT TOP (1) at, b, a FROM m WHERE at <= '2026-01-01T01:30:00' ORDER BY at DESC, b, a DESC;
--stats
--> at|b|a
--> 2026-01-01 01:00:00.000|3|9
--> (1)
--> stats seeks=1 scans=0 examined=1 returned=1
SELECT TOP (2) b, a FROM m WHERE at >= '2026-01-01T01:00:00' ORDER BY at, b DESC, a;
--stats
--> b|a
--> 5|0
--> 5|1
--> (2)
--> stats seeks=1 scans=0 examined=2 returned=2
SELECT TOP (2) b, a FROM m WHERE at >= '2026-01-01T01:00:00' ORDER BY at, b, a;
--stats
--> b|a
--> 3|0
--> 3|1
--> (2)
--> stats seeks=1 scans=0 examined=70 returned=2
SELECT TOP (2) w, b, a FROM m WHERE w = 'x' ORDER BY w, a, b DESC;
--stats
--> w|b|a
--> x|9|0
--> x|8|0
--> (2)
--> stats seeks=1 scans=0 examined=2 returned=2
SELECT TOP (2) w, b, a FROM m WHERE w = 'x' ORDER BY a DESC, b;
--stats
--> w|b|a
--> X|0|9
--> X|1|9
--> (2)
--> stats seeks=1 scans=0 examined=2 returned=2
-- Behind a UNION a column may be named as the first SELECT names it.
SELECT a.x, a.y AS z FROM (VALUES (2, 'b'), (1, 'a')) a (x, y) UNION SELECT b.x, b.y FROM (VALUES (3, 'a')) b (x, y) ORDER BY a.y DESC, a.x;
--> x|z
--> 2|b
--> 1|a
--> 3|a
--> (3)
SELECT a.x FROM (VALUES (2), (1)) a (x) UNION SELECT b.x FROM (VALUES (3)) b (x) ORDER BY b.x;
--> !104 16 1 line 1: ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.
-- TOP PERCENT: a row that has begun counts whole.
SELECT TOP 25 PERCENT x FROM (VALUES (5), (4), (3), (2), (1)) v (x) ORDER BY x;
SELECT TOP (40.1) PERCENT x FROM (VALUES (5), (4), (3), (2), (1)) v (x) ORDER BY x DESC;
SELECT TOP 10 PERCENT WITH TIES x FROM (VALUES (2), (1), (1)) v (x) ORDER BY x;
SELECT COUNT(*) AS n FROM (SELECT TOP 100 PERCENT x FROM (VALUES (5), (4)) v (x) ORDER BY x) s;
SELECT TOP 0 PERCENT x FROM (VALUES (5)) v (x);
SELECT TOP 1 PERCENT x FROM (VALUES (5), (6)) v (x);
DECLARE @p float = 50; SELECT TOP (@p) PERCENT x FROM (VALUES (5), (6), (7)) v (x);
--> x
--> 1
--> 2
--> (2)
--> x
--> 5
--> 4
--> 3
--> (3)
--> x
--> 1
--> 1
--> (2)
--> n
--> 2
--> (1)
--> x
--> (0)
--> x
--> 5
--> (1)
--> x
--> 5
--> 6
--> (2)
SELECT TOP (101) PERCENT x FROM (VALUES (5)) v (x);
--> x
--> !1031 15 1 line 1: Percent values must be between 0 and 100.
