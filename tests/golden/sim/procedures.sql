CREATE PROCEDURE dbo.add_up @x int, @y int = 5, @sum int = NULL OUTPUT
AS
BEGIN
    SET NOCOUNT ON;
    SET @sum = @x + @y;
    SELECT @x AS x, @y AS y;
    RETURN @sum * 10;
END
GO
DECLARE @rc int, @s int;
EXEC @rc = dbo.add_up 1, @sum = @s OUTPUT;
SELECT @rc AS rc, @s AS s;
EXEC @rc = add_up @y = 2, @x = 3;
SELECT @rc AS rc;
EXEC dbo.add_up 1, DEFAULT;
EXEC dbo.add_up;
EXEC dbo.add_up 1, 2, 3, 4;
EXEC dbo.add_up 1, @z = 2;
DECLARE @name nvarchar(50) = N'dbo.add_up';
EXEC @name 7, 8;
EXEC dbo.add_up 'one';
SELECT 'not here' AS never;
GO
CREATE PROCEDURE dbo.add_up AS SELECT 1;
GO
SELECT 1 AS one;
CREATE PROCEDURE dbo.late AS SELECT 1;
GO
ALTER PROCEDURE dbo.nowhere AS SELECT 1;
GO
CREATE OR ALTER PROCEDURE dbo.fails
AS
SELECT 'before' AS step;
SELECT 1 / 0 AS never;
SELECT 'after' AS step;
GO
DECLARE @rc int;
EXEC @rc = dbo.fails;
SELECT @rc AS rc;
BEGIN TRY
    EXEC dbo.fails;
END TRY
BEGIN CATCH
    SELECT ERROR_PROCEDURE() AS name, ERROR_LINE() AS line, ERROR_NUMBER() AS number;
END CATCH
GO
CREATE PROCEDURE dbo.reads_missing AS
SELECT 1 AS one;
SELECT * FROM dbo.missing;
SELECT 2 AS never;
GO
EXEC dbo.reads_missing;
SELECT 'the caller goes on' AS answer;
GO
CREATE PROCEDURE dbo.names_missing AS SELECT nothing FROM sys.objects;
GO
CREATE PROCEDURE dbo.down @n int AS
IF @n > 0
BEGIN
    SET @n -= 1;
    EXEC dbo.down @n;
END
ELSE
    SELECT @@NESTLEVEL AS depth;
GO
EXEC dbo.down 31;
EXEC dbo.down 32;
GO
CREATE PROCEDURE dbo.opens AS BEGIN TRAN;
GO
EXEC dbo.opens;
SELECT @@TRANCOUNT AS depth;
ROLLBACK;
GO
CREATE PROCEDURE dbo.makes AS
CREATE TABLE #made (a int);
INSERT #made VALUES (1), (2);
EXEC dbo.sees;
GO
CREATE PROCEDURE dbo.sees AS SELECT SUM(a) AS total FROM #made;
GO
EXEC dbo.makes;
SELECT * FROM #made;
GO
CREATE TABLE #kept (x int, y int);
INSERT #kept EXEC dbo.add_up 5;
SELECT * FROM #kept;
GO
BEGIN TRAN;
DROP PROCEDURE dbo.add_up;
ROLLBACK;
EXEC dbo.add_up 1;
DROP PROCEDURE dbo.add_up;
DROP PROCEDURE IF EXISTS dbo.add_up;
DROP PROCEDURE dbo.add_up;
EXEC dbo.add_up 1;
GO
CREATE VIEW dbo.v (number, name) AS SELECT 1, 'one' UNION ALL SELECT 2, 'two';
GO
SELECT name FROM dbo.v WHERE number > 1;
DROP VIEW dbo.v;
SELECT * FROM dbo.v;
GO
