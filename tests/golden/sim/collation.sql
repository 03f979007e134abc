CREATE DATABASE hellas COLLATE Greek_CI_AS;
CREATE DATABASE strict COLLATE Latin1_General_CS_AS;
CREATE DATABASE wrong COLLATE No_Such_CI_AS;
GO
USE hellas;
GO
CREATE TABLE dbo.t (name varchar(10), plain varchar(10) COLLATE Latin1_General_CI_AS, wide nvarchar(10));
INSERT dbo.t VALUES ('Ωμέγα', 'omega', N'Ωμέγα'), ('άλφα', 'alpha', N'άλφα');
SELECT name, wide FROM dbo.t ORDER BY name;
SELECT CAST(name AS varbinary(10)) AS bytes FROM dbo.t WHERE name = 'ωμέγα';
DECLARE @v varchar(10) = 'Ω';
SELECT @v AS v, ASCII(@v) AS code, CAST(N'Ω' AS varchar(1)) AS cast_too;
SELECT DATABASEPROPERTYEX('hellas', 'Collation') AS collation;
GO
SELECT 1 AS never FROM dbo.t WHERE name = plain;
GO
SELECT plain FROM dbo.t WHERE name = plain COLLATE DATABASE_DEFAULT;
CREATE TABLE #t (a varchar(5), b varchar(5) COLLATE DATABASE_DEFAULT);
SELECT COUNT(*) AS n FROM #t x JOIN dbo.t y ON x.b = y.name;
SELECT COUNT(*) AS never FROM #t x JOIN dbo.t y ON x.a = y.name;
GO
USE strict;
GO
SELECT CASE WHEN 'a' = 'A' THEN 'same' ELSE 'different' END AS a_and_a;
CREATE TABLE dbo.t (v varchar(5) PRIMARY KEY);
INSERT dbo.t VALUES ('a'), ('A');
SELECT COUNT(*) AS n FROM dbo.t WHERE v = 'a';
GO
