-- Values in change rows: types, NULLs that CDC gives, masks, long values.
CREATE DATABASE shop;
-->
USE shop;
--> # Changed database context to 'shop'.
EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual';
-->
CREATE TABLE dbo.big (id bigint IDENTITY(1,1) NOT NULL PRIMARY KEY, rv rowversion, a int NULL, c AS (a * 2), t text NULL, nt ntext NULL, im image NULL, x xml NULL, vm varchar(max) NULL, nm nvarchar(max) NULL, bm varbinary(max) NULL);
-->
CREATE TABLE dbo.small (id smallint IDENTITY(1,1) NOT NULL PRIMARY KEY, a int NULL);
-->
EXEC sys.sp_cdc_enable_table 'dbo', 'big', NULL; EXEC sys.sp_cdc_enable_table 'dbo', 'small', NULL;
--> # Job 'cdc.shop_capture' started successfully.
--> # Job 'cdc.shop_cleanup' started successfully.
SELECT c.name, t.name AS type, c.max_length, c.is_nullable, c.is_identity, c.is_computed FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('cdc.dbo_big_CT') ORDER BY c.column_id;
--> name|type|max_length|is_nullable|is_identity|is_computed
--> __$start_lsn|binary|10|0|0|0
--> __$end_lsn|binary|10|1|0|0
--> __$seqval|binary|10|0|0|0
--> __$operation|int|4|0|0|0
--> __$update_mask|varbinary|128|1|0|0
--> id|bigint|8|1|0|0
--> rv|binary|8|1|0|0
--> a|int|4|1|0|0
--> c|int|4|1|0|0
--> t|text|16|1|0|0
--> nt|ntext|16|1|0|0
--> im|image|16|1|0|0
--> x|xml|-1|1|0|0
--> vm|varchar|-1|1|0|0
--> nm|nvarchar|-1|1|0|0
--> bm|varbinary|-1|1|0|0
--> __$command_id|int|4|1|0|0
--> (17)
SELECT c.name, t.name AS type FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('cdc.dbo_small_CT') AND c.name = 'id';
--> name|type
--> id|int
--> (1)
INSERT INTO big (a, t, nt, im, x, vm, nm, bm) VALUES (1, 't', N'nt', 0x01, '<a/>', 'vm', N'nm', 0x02);
--> (1)
UPDATE big SET a = 2;
--> (1)
UPDATE big SET vm = 'other', x = '<b/>';
--> (1)
DELETE FROM big;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 6|6
--> (1)
SELECT __$operation, __$update_mask, id, a, c, t, nt, im, x, vm, nm, bm FROM cdc.dbo_big_CT ORDER BY __$start_lsn, __$operation;
--> __$operation|__$update_mask|id|a|c|t|nt|im|x|vm|nm|bm
--> 2|0x07FF|1|1|NULL|t|nt|0x01|<a/>|vm|nm|0x02
--> 3|0x0006|1|1|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL
--> 4|0x0006|1|2|NULL|t|nt|0x01|<a/>|vm|nm|0x02
--> 3|0x0182|1|2|NULL|NULL|NULL|NULL|<a/>|vm|NULL|NULL
--> 4|0x0182|1|2|NULL|t|nt|0x01|<b/>|other|nm|0x02
--> 1|0x07FF|1|2|NULL|NULL|NULL|NULL|<b/>|other|nm|0x02
--> (6)
SELECT __$operation, DATALENGTH(rv) AS bytes FROM cdc.dbo_big_CT ORDER BY __$start_lsn, __$operation;
--> __$operation|bytes
--> 2|8
--> 3|8
--> 4|8
--> 3|8
--> 4|8
--> 1|8
--> (6)
EXEC sys.sp_cdc_get_captured_columns 'dbo_big';
--> source_schema|source_table|capture_instance|column_name|column_id|column_ordinal|data_type|character_maximum_length|numeric_precision|numeric_precision_radix|numeric_scale|datetime_precision
--> dbo|big|dbo_big|id|1|1|bigint|NULL|19|10|0|NULL
--> dbo|big|dbo_big|rv|2|2|timestamp|NULL|NULL|NULL|NULL|NULL
--> dbo|big|dbo_big|a|3|3|int|NULL|10|10|0|NULL
--> dbo|big|dbo_big|c|4|4|int|NULL|10|10|0|NULL
--> dbo|big|dbo_big|t|5|5|text|NULL|NULL|NULL|NULL|NULL
--> dbo|big|dbo_big|nt|6|6|ntext|NULL|NULL|NULL|NULL|NULL
--> dbo|big|dbo_big|im|7|7|image|NULL|NULL|NULL|NULL|NULL
--> dbo|big|dbo_big|x|8|8|xml|NULL|NULL|NULL|NULL|NULL
--> dbo|big|dbo_big|vm|9|9|varchar|-1|NULL|NULL|NULL|NULL
--> dbo|big|dbo_big|nm|10|10|nvarchar|-1|NULL|NULL|NULL|NULL
--> dbo|big|dbo_big|bm|11|11|varbinary|-1|NULL|NULL|NULL|NULL
--> (11)
-- values longer than max text repl size
INSERT INTO big (vm) VALUES (REPLICATE(CAST('x' AS varchar(max)), 65537));
--> !7139 16 1 line 2: Length of LOB data (65537) to be replicated exceeds configured maximum 65536. Use the stored procedure sp_configure to increase the configured maximum value for max text repl size option, which defaults to 65536. A configured value of -1 indicates no limit, other that the limit imposed by the data type.
--> # The statement has been terminated.
INSERT INTO big (vm) VALUES (REPLICATE(CAST('x' AS varchar(max)), 65536));
--> (1)
UPDATE big SET bm = CAST(REPLICATE(CAST('x' AS varchar(max)), 70000) AS varbinary(max));
--> !7139 16 1 line 1: Length of LOB data (70000) to be replicated exceeds configured maximum 65536. Use the stored procedure sp_configure to increase the configured maximum value for max text repl size option, which defaults to 65536. A configured value of -1 indicates no limit, other that the limit imposed by the data type.
--> # The statement has been terminated.
EXEC sp_configure;
--> name|minimum|maximum|config_value|run_value
--> max text repl size (B)|-1|2147483647|65536|65536
--> (1)
EXEC sp_configure 'max text repl size', 70000;
--> # Configuration option 'max text repl size (B)' changed from 65536 to 70000. Run the RECONFIGURE statement to install.
UPDATE big SET bm = CAST(REPLICATE(CAST('x' AS varchar(max)), 70000) AS varbinary(max));
--> !7139 16 1 line 1: Length of LOB data (70000) to be replicated exceeds configured maximum 65536. Use the stored procedure sp_configure to increase the configured maximum value for max text repl size option, which defaults to 65536. A configured value of -1 indicates no limit, other that the limit imposed by the data type.
--> # The statement has been terminated.
RECONFIGURE;
-->
UPDATE big SET bm = CAST(REPLICATE(CAST('x' AS varchar(max)), 70000) AS varbinary(max));
--> (1)
EXEC sp_configure 'max text repl size (B)', -1; RECONFIGURE WITH OVERRIDE;
--> # Configuration option 'max text repl size (B)' changed from 70000 to -1. Run the RECONFIGURE statement to install.
EXEC sp_configure 'max text repl size (B)';
--> name|minimum|maximum|config_value|run_value
--> max text repl size (B)|-1|2147483647|-1|-1
--> (1)
INSERT INTO big (vm) VALUES (REPLICATE(CAST('x' AS varchar(max)), 200000));
--> (1)
EXEC sp_configure 'max text repl size (B)', -2;
--> !15129 16 1 line 1: '-2' is not a valid value for configuration option 'max text repl size (B)'.
EXEC sp_configure 'no such option', 1;
--> !15123 16 1 line 1: The configuration option 'no such option' does not exist, or it may be an advanced option.
-- a table without CDC has no limit; another column has none either
CREATE TABLE dbo.free (id int NOT NULL PRIMARY KEY, v varchar(max) NULL);
-->
EXEC sp_configure 'max text repl size', 10; RECONFIGURE;
--> # Configuration option 'max text repl size (B)' changed from -1 to 10. Run the RECONFIGURE statement to install.
INSERT INTO free VALUES (1, REPLICATE('y', 100));
--> (1)
EXEC sys.sp_cdc_enable_table 'dbo', 'free', NULL, @captured_column_list = N'id';
-->
INSERT INTO free VALUES (2, REPLICATE('y', 100));
--> (1)
-- masks of more than eight columns: the first column is the lowest bit of the last byte
CREATE TABLE dbo.many (id int NOT NULL PRIMARY KEY, c2 int NULL, c3 int NULL, c4 int NULL, c5 int NULL, c6 int NULL, c7 int NULL, c8 int NULL, c9 int NULL, c10 int NULL, c11 int NULL, c12 int NULL, c13 int NULL, c14 int NULL, c15 int NULL, c16 int NULL, c17 int NULL);
-->
EXEC sys.sp_cdc_enable_table 'dbo', 'many', NULL;
-->
INSERT INTO many (id) VALUES (1);
--> (1)
UPDATE many SET c9 = 1;
--> (1)
UPDATE many SET c17 = 1, c2 = 1;
--> (1)
UPDATE many SET c8 = 1, c16 = 2;
--> (1)
DELETE FROM many;
--> (1)
EXEC tidesim.scan_now;
--> transactions|rows
--> 11|13
--> (1)
SELECT __$operation, __$update_mask, sys.fn_cdc_is_bit_set(sys.fn_cdc_get_column_ordinal('dbo_many', 'c9'), __$update_mask) AS c9, sys.fn_cdc_has_column_changed('dbo_many', 'c17', __$update_mask) AS c17 FROM cdc.dbo_many_CT ORDER BY __$start_lsn, __$operation;
--> __$operation|__$update_mask|c9|c17
--> 2|0x01FFFF|1|1
--> 3|0x000100|1|0
--> 4|0x000100|1|0
--> 3|0x010002|0|1
--> 4|0x010002|0|1
--> 3|0x008080|0|0
--> 4|0x008080|0|0
--> 1|0x01FFFF|1|1
--> (8)
