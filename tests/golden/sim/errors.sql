CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, v tinyint NULL);
GO
-- these end their statement alone
INSERT dbo.t VALUES (1, 1);
INSERT dbo.t VALUES (1, 2);
SELECT @@ERROR AS e, @@ROWCOUNT AS n;
INSERT dbo.t VALUES (NULL, 2);
INSERT dbo.t VALUES (2, 300);
SELECT 1 / 0 AS never;
RAISERROR ('%s has %d', 16, 4, 'it', 7);
SELECT COUNT(*) AS n FROM dbo.t;
GO
-- these end the batch
SELECT CAST('x' AS int) AS never;
SELECT 'not here' AS never;
GO
SELECT 1 AS first;
SELECT * FROM dbo.missing;
SELECT 'not here' AS never;
GO
-- names that do not bind: nothing of the batch runs
SELECT 'not here' AS never;
SELECT nothing FROM dbo.t;
GO
SELECT 'not here' AS never;
SELECT FROM dbo.t;
GO
THROW 50007, 'thrown', 3;
SELECT 'not here' AS never;
GO
-- the text of EXEC is a batch of its own
EXEC ('SELECT * FROM dbo.missing; SELECT 1 AS never');
SELECT 'goes on' AS answer;
EXEC ('SELECT CAST(''x'' AS int)');
SELECT 'not here' AS never;
GO
BEGIN TRY
    INSERT dbo.t VALUES (5, 5);
    INSERT dbo.t VALUES (5, 5);
    SELECT 'not here' AS never;
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, ERROR_SEVERITY() AS severity, ERROR_STATE() AS state, ERROR_LINE() AS line,
        ERROR_PROCEDURE() AS procedure_name, XACT_STATE() AS xact;
    BEGIN TRY
        SELECT 1 / 0 AS never;
    END TRY
    BEGIN CATCH
        SELECT ERROR_NUMBER() AS inner_number;
    END CATCH
    SELECT ERROR_NUMBER() AS outer_number;
    THROW;
END CATCH
SELECT 'not here' AS never;
GO
SELECT ERROR_NUMBER() AS number;
GO
SELECT 'not here' AS never;
THROW;
GO
BEGIN TRY
    SELECT * FROM dbo.missing;
END TRY
BEGIN CATCH
    SELECT 'the same text does not see it' AS never;
END CATCH
GO
BEGIN TRY
    EXEC ('SELECT * FROM dbo.missing');
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number, ERROR_MESSAGE() AS text;
END CATCH
GO
BEGIN TRAN;
BEGIN TRY
    SELECT CAST('x' AS int) AS never;
END TRY
BEGIN CATCH
    SELECT XACT_STATE() AS xact, @@TRANCOUNT AS depth;
    BEGIN TRY
        INSERT dbo.t VALUES (9, 9);
    END TRY
    BEGIN CATCH
        SELECT ERROR_NUMBER() AS number;
    END CATCH
    ROLLBACK;
END CATCH
SELECT @@TRANCOUNT AS depth;
GO
BEGIN TRAN;
INSERT dbo.t VALUES (6, 6);
SAVE TRAN here;
INSERT dbo.t VALUES (7, 7);
ROLLBACK TRAN here;
COMMIT;
SELECT id FROM dbo.t ORDER BY id;
COMMIT;
ROLLBACK;
GO
SET XACT_ABORT ON;
BEGIN TRAN;
INSERT dbo.t VALUES (8, 8);
INSERT dbo.t VALUES (8, 8);
SELECT 'not here' AS never;
GO
SELECT @@TRANCOUNT AS depth, COUNT(*) AS n FROM dbo.t WHERE id = 8;
SET XACT_ABORT OFF;
GO
DECLARE @i int = 0, @seen varchar(20) = '';
WHILE @i < 6
BEGIN
    SET @i += 1;
    IF @i = 2 CONTINUE;
    IF @i = 5 BREAK;
    SET @seen += CAST(@i AS varchar(5));
END
IF @seen = '134' PRINT 'as it should' ELSE PRINT @seen;
RETURN;
PRINT 'not here';
GO
BREAK;
GO
DECLARE @x int, @X int;
GO
RETURN 1;
GO
GOTO somewhere;
GO
SET IMPLICIT_TRANSACTIONS ON;
SELECT @@TRANCOUNT AS depth;
SELECT COUNT(*) AS n FROM dbo.t;
SELECT @@TRANCOUNT AS depth;
COMMIT;
SET IMPLICIT_TRANSACTIONS OFF;
GO
