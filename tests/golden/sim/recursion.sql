WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r;
WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 101) SELECT COUNT(*) AS n FROM r;
WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) AS n FROM r;
GO
WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r OPTION (MAXRECURSION 3);
GO
WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5000) SELECT COUNT(*) AS n, MAX(n) AS top_n FROM r OPTION (MAXRECURSION 0);
GO
CREATE TABLE #tree (id int, up int, name varchar(10));
INSERT #tree VALUES (1, NULL, 'root'), (2, 1, 'left'), (3, 1, 'right'), (4, 2, 'leaf'), (5, 3, 'twig');
WITH t (id, name, depth, path) AS (
    SELECT id, name, 0, CAST(name AS varchar(100)) FROM #tree WHERE up IS NULL
    UNION ALL
    SELECT c.id, c.name, t.depth + 1, CAST(t.path + '/' + c.name AS varchar(100)) FROM #tree c JOIN t ON t.id = c.up)
SELECT depth, path FROM t ORDER BY path;
WITH up AS (SELECT id, up FROM #tree WHERE id = 5 UNION ALL SELECT p.id, p.up FROM #tree p JOIN up ON up.up = p.id) SELECT id FROM up;
GO
WITH t AS (SELECT 1 AS n, CAST('a' AS varchar(10)) AS s UNION ALL SELECT n + 1, s + 'b' FROM t WHERE n < 3) SELECT * FROM t;
GO
WITH t AS (SELECT 1 AS n UNION ALL SELECT COUNT(*) FROM t) SELECT * FROM t;
GO
WITH t AS (SELECT n + 1 AS n FROM t UNION ALL SELECT n FROM t) SELECT * FROM t;
GO
