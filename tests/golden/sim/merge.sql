CREATE TABLE dbo.goal (id int PRIMARY KEY, v varchar(10) NOT NULL, n int NOT NULL DEFAULT 0);
INSERT dbo.goal (id, v) VALUES (1, 'one'), (2, 'two'), (3, 'three');
CREATE TABLE dbo.feed (id int, v varchar(10));
INSERT dbo.feed VALUES (2, 'TWO'), (3, NULL), (4, 'four'), (5, NULL);
GO
MERGE INTO dbo.goal AS g
USING dbo.feed AS f ON f.id = g.id
WHEN MATCHED AND f.v IS NULL THEN DELETE
WHEN MATCHED THEN UPDATE SET v = f.v, n = n + 1
WHEN NOT MATCHED AND f.v IS NOT NULL THEN INSERT (id, v) VALUES (f.id, f.v)
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = -1
OUTPUT $action AS done, deleted.id AS old_id, inserted.id AS new_id, inserted.n, f.v AS fed;
SELECT @@ROWCOUNT AS n;
SELECT * FROM dbo.goal ORDER BY id;
GO
MERGE dbo.goal AS g USING (VALUES (1, 'a'), (1, 'b')) AS f (id, v) ON f.id = g.id WHEN MATCHED THEN UPDATE SET v = f.v;
SELECT v FROM dbo.goal WHERE id = 1;
MERGE dbo.goal AS g USING (VALUES (9, NULL)) AS f (id, v) ON f.id = g.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (f.id, f.v);
SELECT COUNT(*) AS n FROM dbo.goal;
GO
MERGE dbo.goal AS g USING dbo.feed AS f ON f.id = g.id WHEN MATCHED THEN DELETE
GO
MERGE dbo.goal AS g USING dbo.feed AS f ON f.id = g.id WHEN NOT MATCHED THEN DELETE;
GO
DECLARE @log TABLE (what nvarchar(10), id int);
MERGE dbo.goal AS g USING dbo.feed AS f ON f.id = g.id
WHEN MATCHED THEN DELETE
OUTPUT $action, deleted.id INTO @log (what, id);
SELECT * FROM @log ORDER BY id;
GO
