CREATE TABLE dbo.parent (id int NOT NULL CONSTRAINT pk_parent PRIMARY KEY, code char(2) NOT NULL CONSTRAINT uq_code UNIQUE);
CREATE TABLE dbo.child (
    id int NOT NULL PRIMARY KEY,
    parent_id int NULL CONSTRAINT fk_parent REFERENCES dbo.parent (id),
    above int NULL CONSTRAINT fk_above REFERENCES dbo.child (id),
    amount decimal(6, 2) NOT NULL CONSTRAINT df_amount DEFAULT 1 CONSTRAINT ck_amount CHECK (amount > 0),
    low int NULL, high int NULL,
    CONSTRAINT ck_range CHECK (low <= high));
GO
INSERT dbo.parent VALUES (1, 'aa'), (2, 'bb');
INSERT dbo.child (id, parent_id, above) VALUES (1, 1, 2), (2, NULL, 1);
SELECT id, amount FROM dbo.child;
GO
INSERT dbo.child (id, parent_id) VALUES (3, 9);
INSERT dbo.child (id, above) VALUES (3, 9);
INSERT dbo.child (id, amount) VALUES (3, 0);
INSERT dbo.child (id, low, high) VALUES (3, 5, 4);
INSERT dbo.child (id, low, high) VALUES (3, NULL, 4);
UPDATE dbo.child SET amount = -1 WHERE id = 3;
UPDATE dbo.child SET parent_id = 7 WHERE id = 3;
DELETE dbo.parent WHERE id = 1;
DELETE dbo.parent WHERE id = 2;
UPDATE dbo.parent SET id = 5 WHERE id = 1;
UPDATE dbo.parent SET code = 'cc' WHERE id = 1;
DELETE dbo.child WHERE id = 1;
TRUNCATE TABLE dbo.parent;
DROP TABLE dbo.parent;
GO
ALTER TABLE dbo.parent DROP CONSTRAINT pk_parent;
GO
ALTER TABLE dbo.child DROP COLUMN amount;
GO
ALTER TABLE dbo.child DROP CONSTRAINT nobody;
GO
ALTER TABLE dbo.child DROP CONSTRAINT df_amount;
INSERT dbo.child (id) VALUES (4);
GO
ALTER TABLE dbo.child ADD CONSTRAINT df_amount DEFAULT 3 FOR amount;
INSERT dbo.child (id) VALUES (4);
SELECT amount FROM dbo.child WHERE id = 4;
ALTER TABLE dbo.child ADD CONSTRAINT df_again DEFAULT 3 FOR amount;
GO
ALTER TABLE dbo.child ADD CONSTRAINT ck_big CHECK (amount > 2);
GO
ALTER TABLE dbo.child WITH NOCHECK ADD CONSTRAINT ck_big CHECK (amount > 2);
UPDATE dbo.child SET amount = 1 WHERE id = 4;
ALTER TABLE dbo.child NOCHECK CONSTRAINT ck_big;
UPDATE dbo.child SET amount = 1 WHERE id = 4;
ALTER TABLE dbo.child CHECK CONSTRAINT ck_big;
UPDATE dbo.child SET low = 1 WHERE id = 4;
GO
CREATE TABLE dbo.other (id int CONSTRAINT fk_other REFERENCES dbo.nowhere (id));
GO
CREATE TABLE dbo.other (id bigint CONSTRAINT fk_other REFERENCES dbo.parent (id));
GO
CREATE TABLE dbo.other (id int CONSTRAINT fk_other REFERENCES dbo.child (low));
GO
BEGIN TRAN;
ALTER TABLE dbo.child DROP CONSTRAINT ck_range;
ROLLBACK;
UPDATE dbo.child SET low = 9, high = 1 WHERE id = 4;
GO
ALTER TABLE dbo.parent ADD note varchar(5) NULL CONSTRAINT df_note DEFAULT 'n', more varchar(5) NULL CONSTRAINT df_more DEFAULT 'm' WITH VALUES;
GO
SELECT id, note, more FROM dbo.parent;
GO
DECLARE @t TABLE (a int PRIMARY KEY, b int DEFAULT 7 CHECK (b < 10), UNIQUE (b));
INSERT @t (a) VALUES (1);
INSERT @t VALUES (2, NULL), (3, 9);
BEGIN TRY
    INSERT @t VALUES (4, 11);
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number;
END CATCH
BEGIN TRY
    INSERT @t (a) VALUES (4);
END TRY
BEGIN CATCH
    SELECT ERROR_NUMBER() AS number;
END CATCH
SELECT * FROM @t;
GO
