-- A million visits of the shop: the table that is too large to wait for.
USE shop;
GO
CREATE TABLE dbo.visits (
    visit_id    bigint NOT NULL PRIMARY KEY,
    customer_id int NULL,
    page        varchar(40) NOT NULL,
    referrer    nvarchar(60) NULL,
    began_at    datetime2(3) NOT NULL,
    seconds     int NOT NULL,
    basket      decimal(12, 2) NOT NULL);
GO
INSERT INTO dbo.visits (visit_id, customer_id, page, referrer, began_at, seconds, basket)
SELECT CAST(value AS bigint), CASE WHEN value % 3 = 0 THEN NULL ELSE CAST(1 + value % 20000 AS int) END, CONCAT('/shop/', value % 4096),
       CASE WHEN value % 4 = 0 THEN CONCAT(N'https://example.org/größe?q=', value % 977) END,
       DATEADD(second, value * 3, CAST('2026-01-01T00:00:00' AS datetime2(3))), CAST(value % 1800 AS int), CAST(value % 9973 AS decimal(12, 2)) / 4
FROM GENERATE_SERIES(1, 1000000);
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'visits', @role_name = NULL;
GO
