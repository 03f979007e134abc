CREATE LOGIN reader WITH PASSWORD = 'secret';
CREATE USER reader;
CREATE TABLE dbo.t (id int, hidden int);
INSERT dbo.t VALUES (1, 2);
GO
CREATE PROCEDURE dbo.shows AS SELECT * FROM dbo.t;
GO
CREATE VIEW dbo.part AS SELECT id FROM dbo.t;
GO
GRANT EXECUTE ON dbo.shows TO reader;
GRANT SELECT ON dbo.part TO reader;
GO
EXECUTE AS USER = 'reader';
SELECT USER_NAME() AS who;
SELECT * FROM dbo.t;
EXEC dbo.shows;
SELECT * FROM dbo.part;
REVERT;
SELECT USER_NAME() AS who;
GO
DENY EXECUTE ON dbo.shows TO reader;
EXECUTE AS LOGIN = 'reader';
SELECT SUSER_NAME() AS login;
EXEC dbo.shows;
REVERT;
REVERT;
GO
EXEC ('EXECUTE AS USER = ''reader''; SELECT USER_NAME() AS inside');
SELECT USER_NAME() AS outside;
EXECUTE AS USER = 'nobody';
GO
ALTER LOGIN reader DISABLE;
DROP LOGIN reader;
DROP LOGIN reader;
GO
