-- A small shop: three tables with CDC, some 300,000 rows.
USE shop;
GO
EXEC sys.sp_cdc_enable_db;
GO
CREATE TABLE dbo.customers (
    customer_id int NOT NULL PRIMARY KEY,
    name        nvarchar(80) NOT NULL,
    email       varchar(120) NULL,
    country     char(2) NOT NULL,
    credit      decimal(12, 2) NOT NULL,
    is_active   bit NOT NULL,
    since       date NOT NULL,
    ref         uniqueidentifier NOT NULL);
CREATE TABLE dbo.orders (
    order_id    bigint NOT NULL PRIMARY KEY,
    customer_id int NOT NULL,
    status      varchar(16) NOT NULL,
    placed_at   datetime2(3) NOT NULL,
    total       decimal(18, 2) NOT NULL,
    note        nvarchar(200) NULL);
CREATE TABLE dbo.order_items (
    order_id bigint NOT NULL,
    line_no  int NOT NULL,
    sku      varchar(24) NOT NULL,
    quantity smallint NOT NULL,
    price    decimal(10, 2) NOT NULL,
    weight   float NULL,
    CONSTRAINT pk_order_items PRIMARY KEY (order_id, line_no));
GO
INSERT INTO dbo.customers (customer_id, name, email, country, credit, is_active, since, ref)
SELECT CAST(value AS int), CONCAT(N'Kundin ', value, N' Ångström ☕'), CASE WHEN value % 7 = 0 THEN NULL ELSE CONCAT('c', value, '@example.org') END,
       CASE value % 3 WHEN 0 THEN 'DE' WHEN 1 THEN 'BR' ELSE 'JP' END, CAST(value % 100000 AS decimal(12, 2)) / 4, CASE WHEN value % 11 = 0 THEN 0 ELSE 1 END,
       DATEADD(day, value % 9000, CAST('2001-01-01' AS date)), NEWID()
FROM GENERATE_SERIES(1, 20000);
GO
INSERT INTO dbo.orders (order_id, customer_id, status, placed_at, total, note)
SELECT CAST(value AS bigint), CAST(1 + value % 20000 AS int), CASE value % 4 WHEN 0 THEN 'new' WHEN 1 THEN 'paid' WHEN 2 THEN 'shipped' ELSE 'done' END,
       DATEADD(second, value * 37, CAST('2026-01-01T00:00:00' AS datetime2(3))), CAST(value % 9973 AS decimal(18, 2)) / 3,
       CASE WHEN value % 5 = 0 THEN N'bitte läuten 🛎' END
FROM GENERATE_SERIES(1, 80000);
GO
INSERT INTO dbo.order_items (order_id, line_no, sku, quantity, price, weight)
SELECT CAST(1 + value / 3 AS bigint), CAST(1 + value % 3 AS int), CONCAT('SKU-', value % 4096), CAST(1 + value % 9 AS smallint),
       CAST(value % 1999 AS decimal(10, 2)) / 2, CASE WHEN value % 13 = 0 THEN NULL ELSE value / 7.0 END
FROM GENERATE_SERIES(0, 199999);
GO
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'customers', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = NULL;
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'order_items', @role_name = NULL;
GO
