-- variables live as long as their batch, temporary tables as long as the session
DECLARE @a int = 2, @b varchar(5) = 'abcdefg', @c decimal(5, 2);
SET @c = 1.005;
SELECT @a += 3;
SELECT @a AS a, @b AS b, @c AS c;
GO
SELECT @a;
GO
CREATE TABLE #t (id int IDENTITY(10, 5) PRIMARY KEY, v varchar(10) DEFAULT 'none', twice AS id * 2);
GO
INSERT #t (v) VALUES ('x'), (DEFAULT), (NULL);
SELECT @@ROWCOUNT AS n, SCOPE_IDENTITY() AS last, @@ERROR AS e;
SELECT * FROM #t;
GO
PRINT 'three times';
GO 3
/* comments /* nest */ so this is one */
SELECT "v" FROM #t WHERE id = 10;
SET QUOTED_IDENTIFIER OFF;
GO
SELECT "v";
SET QUOTED_IDENTIFIER ON;
GO
SET NOCOUNT ON;
INSERT #t (v) VALUES ('y');
SELECT COUNT(*) AS n FROM #t;
SET NOCOUNT OFF;
UPDATE #t SET v = 'z' WHERE id > 10;
GO
SET ROWCOUNT 2;
UPDATE #t SET v = 'w';
SELECT id FROM #t ORDER BY id DESC;
SET ROWCOUNT 0;
GO
SET IDENTITY_INSERT #t ON;
INSERT #t (id, v) VALUES (100, 'given');
SET IDENTITY_INSERT #t OFF;
INSERT #t (v) VALUES ('next');
SELECT MAX(id) AS id FROM #t;
GO
CREATE TABLE dbo.t (id int IDENTITY, v varchar(10), twice AS id * 2);
GO
INSERT dbo.t VALUES (1, 'x');
GO
INSERT dbo.t (id, v) VALUES (1, 'x');
GO
INSERT dbo.t (twice) VALUES (1);
GO
UPDATE dbo.t SET id = 1;
GO
SET IDENTITY_INSERT dbo.t ON;
INSERT dbo.t (v) VALUES ('x');
SET IDENTITY_INSERT dbo.t OFF;
GO
DECLARE @kept TABLE (id int, was varchar(10), now varchar(10));
UPDATE #t SET v = 'n' + v OUTPUT deleted.id, deleted.v, inserted.v INTO @kept (id, was, now) WHERE id >= 100;
DELETE TOP (1) FROM #t OUTPUT deleted.id WHERE id = 10;
SELECT * FROM @kept ORDER BY id;
GO
SELECT id, v INTO #copy FROM #t WHERE id > 100;
SELECT * FROM #copy;
INSERT #copy (v) EXEC ('SELECT ''a'' UNION ALL SELECT ''b''');
SELECT v FROM #copy ORDER BY id;
GO
SET DATEFIRST 1;
SELECT @@DATEFIRST AS first_day, DATEPART(weekday, '20240107') AS sunday;
SELECT DATEPART(week, '20240107') AS first_week, DATEPART(week, '20240108') AS second_week;
SET DATEFIRST 7;
SELECT DATEPART(weekday, '20240107') AS sunday, DATEPART(week, '20240107') AS second_week;
SET DATEFORMAT dmy;
SELECT CAST('13/02/2024' AS date) AS d, CAST('2024-02-03' AS datetime) AS turned, CAST('2024-02-03' AS date) AS iso;
SELECT MONTH('03/02/2024') AS february, DATEADD(day, 1, '28/02/2023') AS march;
SET LANGUAGE us_english;
SELECT CAST('02/13/2024' AS date) AS d;
SELECT CAST('13/02/2024' AS date) AS d;
GO
